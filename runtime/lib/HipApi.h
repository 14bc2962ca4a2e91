//===- HipApi.h - HIP's functions, found at run time ------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A table of function pointers into whichever library speaks HIP: AMD's, or the
// simulator's. Nothing in the runtime calls HIP in another way.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_RUNTIME_HIPAPI_H
#define NETRA_RUNTIME_HIPAPI_H

#include "HipAbi.h"
#include "Status.h"

#include <cstdint>
#include <string>

namespace netra::rt {

// One line per function: name without "hip", result and parameters. Handles
// are void *, as in HIP's ABI.
#define NETRA_HIP_FUNCTIONS(X)                                                 \
  X(GetDeviceCount, (int *))                                                   \
  X(GetDevice, (int *))                                                        \
  X(SetDevice, (int))                                                          \
  X(RuntimeGetVersion, (int *))                                                \
  X(ModuleLoadData, (void **, const void *))                                   \
  X(ModuleUnload, (void *))                                                    \
  X(ModuleGetFunction, (void **, void *, const char *))                        \
  X(ModuleLaunchKernel,                                                        \
    (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
     unsigned, void *, void **, void **))                                      \
  X(Malloc, (void **, size_t))                                                 \
  X(Free, (void *))                                                            \
  X(Memcpy, (void *, const void *, size_t, int))                               \
  X(Memset, (void *, int, size_t))                                             \
  X(StreamCreateWithFlags, (void **, unsigned))                                \
  X(StreamDestroy, (void *))                                                   \
  X(StreamSynchronize, (void *))                                               \
  X(StreamWaitEvent, (void *, void *, unsigned))                               \
  X(DeviceSynchronize, ())                                                     \
  X(EventCreateWithFlags, (void **, unsigned))                                 \
  X(EventRecord, (void *, void *))                                             \
  X(EventDestroy, (void *))                                                    \
  X(StreamBeginCapture, (void *, int))                                         \
  X(StreamEndCapture, (void *, void **))                                       \
  X(GraphInstantiate, (void **, void *, void **, char *, size_t))              \
  X(GraphLaunch, (void *, void *))                                             \
  X(GraphExecDestroy, (void *))                                                \
  X(GraphDestroy, (void *))

struct DeviceFacts {
  std::string name;
  std::string architecture; // up to the first ':' of gcnArchName
  int waveSize = 0;
};

class HipApi {
public:
  /// Opens the library that `choice` names (see netra_engine_options), or the
  /// environment does, and finds every function. Opened once per choice and
  /// kept for the life of the process, as HIP libraries do not survive
  /// unloading. Thread-safe.
  static Status open(const char *choice, const HipApi *&api);

  /// What was opened: the path the dynamic linker reports.
  const std::string &getPath() const { return path; }

  Status describeDevice(int device, DeviceFacts &facts) const;

  /// A failed call as a status that names the call, HIP's error name and its
  /// text.
  Status error(int code, const char *call) const;

#define NETRA_HIP_POINTER(name, parameters) int(*name) parameters = nullptr;
  NETRA_HIP_FUNCTIONS(NETRA_HIP_POINTER)
#undef NETRA_HIP_POINTER
  const char *(*GetErrorName)(int) = nullptr;
  const char *(*GetErrorString)(int) = nullptr;

private:
  Status load(const std::string &choice);
  Status resolve();

  void *library = nullptr;
  std::string path;
  int (*getProperties5)(hip::DeviceProp5 *, int) = nullptr;
  int (*getProperties6)(hip::DeviceProp6 *, int) = nullptr;
};

} // namespace netra::rt

#endif // NETRA_RUNTIME_HIPAPI_H
