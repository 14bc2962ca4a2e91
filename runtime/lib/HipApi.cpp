//===- HipApi.cpp - HIP's functions, found at run time --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "HipApi.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

using namespace netra::rt;

static_assert(offsetof(netra::hip::DeviceProp6, gcnArchName) == 1160 &&
                  sizeof(netra::hip::DeviceProp6) == 1472,
              "the layout that HIP 6 fixed for hipDeviceProp_tR0600");

/// The directory this library was loaded from, with a trailing slash.
static std::string ownDirectory() {
  Dl_info info = {};
  if (!dladdr(reinterpret_cast<const void *>(&ownDirectory), &info) ||
      !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

static std::vector<std::string> candidates(const std::string &choice) {
  if (choice.empty())
    return {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
            "libamdhip64.so"};
  if (choice == "sim") {
    std::vector<std::string> list;
    // A program that links the runtime statically sits in bin/, beside lib/.
    if (std::string own = ownDirectory(); !own.empty())
      for (const char *folder : {"", "../lib/"})
        list.push_back(own + folder + "libnetra_hipsim.so");
    list.push_back("libnetra_hipsim.so");
    return list;
  }
  return {choice};
}

Status HipApi::load(const std::string &choice) {
  std::string tried;
  for (const std::string &name : candidates(choice)) {
    library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library)
      return resolve();
    const char *why = dlerror();
    tried += cat("\n  ", name, ": ", why ? why : "unknown reason");
  }
  return {NETRA_HIP,
          cat("cannot open a HIP library",
              choice.empty() ? "" : cat(" for \"", choice, '"'),
              "; install ROCm, or choose the simulator with hip_library = "
              "\"sim\" or NETRA_HIP_LIBRARY=sim; tried:",
              tried)};
}

Status HipApi::resolve() {
  std::string missing;
  auto find = [&](const char *name) {
    void *symbol = dlsym(library, name);
    if (!symbol)
      missing += cat(missing.empty() ? "" : ", ", name);
    return symbol;
  };
#define NETRA_HIP_RESOLVE(name, parameters)                                    \
  name = reinterpret_cast<decltype(name)>(find("hip" #name));
  NETRA_HIP_FUNCTIONS(NETRA_HIP_RESOLVE)
#undef NETRA_HIP_RESOLVE
  GetErrorName =
      reinterpret_cast<decltype(GetErrorName)>(find("hipGetErrorName"));
  GetErrorString =
      reinterpret_cast<decltype(GetErrorString)>(find("hipGetErrorString"));

  // HIP 6 changed the structure and gave the function a new symbol; the old
  // symbol still fills the old structure there.
  getProperties6 = reinterpret_cast<decltype(getProperties6)>(
      dlsym(library, "hipGetDevicePropertiesR0600"));
  if (!getProperties6)
    getProperties5 = reinterpret_cast<decltype(getProperties5)>(
        find("hipGetDeviceProperties"));

  Dl_info info = {};
  if (GetErrorName &&
      dladdr(reinterpret_cast<const void *>(GetErrorName), &info) &&
      info.dli_fname)
    path = info.dli_fname;
  if (!missing.empty())
    return {NETRA_HIP,
            cat("the HIP library ", path.empty() ? "opened" : path, " lacks ",
                missing, "; expected the HIP API of version 5, 6 or 7")};
  return Status::ok();
}

Status HipApi::open(const char *choice, const HipApi *&api) {
  std::string name = choice ? choice : "";
  if (name.empty())
    if (const char *environment = std::getenv("NETRA_HIP_LIBRARY"))
      name = environment;

  // Leaked on purpose: engines may outlive static destruction, and a HIP
  // library is never unloaded.
  static std::mutex *mutex = new std::mutex;
  static auto *loaded = new std::map<std::string, std::unique_ptr<HipApi>>;
  std::lock_guard<std::mutex> guard(*mutex);
  std::unique_ptr<HipApi> &slot = (*loaded)[name];
  if (!slot) {
    auto fresh = std::make_unique<HipApi>();
    if (Status status = fresh->load(name); status.failed()) {
      loaded->erase(name);
      return status;
    }
    slot = std::move(fresh);
  }
  api = slot.get();
  return Status::ok();
}

Status HipApi::error(int code, const char *call) const {
  const char *name = GetErrorName(code);
  const char *text = GetErrorString(code);
  // HIP 5 describes an error by its name.
  const bool isDescribed = text && (!name || std::strcmp(name, text));
  return {NETRA_HIP, cat(call, " failed: ", name ? name : "unknown error", " (",
                         code, ")", isDescribed ? cat(", ", text) : "")};
}

Status HipApi::describeDevice(int device, DeviceFacts &facts) const {
  int count = 0;
  int counted = GetDeviceCount(&count);
  if (counted == hip::ErrorNoDevice || (!counted && count == 0))
    return {NETRA_HIP,
            cat(path,
                " finds no device (hipErrorNoDevice); expected an AMD GPU "
                "with its driver, or the simulator: hip_library = "
                "\"sim\" or NETRA_HIP_LIBRARY=sim")};
  if (counted)
    return error(counted, "hipGetDeviceCount");
  if (device < 0 || device >= count)
    return {NETRA_INVALID_ARGUMENT,
            cat("device ", device, " does not exist; ", path, " has ", count,
                count == 1 ? " device" : " devices")};
  const char *name = nullptr, *architecture = nullptr;
  size_t nameSize = 0, architectureSize = 0;
  hip::DeviceProp6 properties6 = {};
  hip::DeviceProp5 properties5 = {};
  auto take = [&](auto &properties) {
    name = properties.name;
    nameSize = strnlen(properties.name, sizeof(properties.name));
    architecture = properties.gcnArchName;
    architectureSize =
        strnlen(properties.gcnArchName, sizeof(properties.gcnArchName));
    facts.waveSize = properties.warpSize;
  };
  int code;
  if (getProperties6) {
    code = getProperties6(&properties6, device);
    take(properties6);
  } else {
    code = getProperties5(&properties5, device);
    take(properties5);
  }
  if (code)
    return error(code, "hipGetDeviceProperties");
  facts.name.assign(name, nameSize);
  facts.architecture.assign(architecture, architectureSize);
  if (size_t colon = facts.architecture.find(':'); colon != std::string::npos)
    facts.architecture.resize(colon);
  return Status::ok();
}
