//===- ModuleApi.cpp - HIP: modules, functions, launches ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>

using namespace netra;
using namespace netra::hipsim;

namespace {

constexpr uint32_t ldsLimit = 163840;

int fromMessage(int code, llvm::Error error) {
  return finish(code, llvm::toString(std::move(error)));
}

/// The size of an ELF image in memory of which only the start is known, as HIP
/// passes it: where the last of headers, sections and segments ends.
size_t elfSize(const uint8_t *image) {
  namespace elf = llvm::ELF;
  elf::Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  uint64_t size = sizeof(header);
  auto extend = [&](uint64_t offset, uint64_t bytes) {
    if (bytes <= UINT64_MAX - offset)
      size = std::max(size, offset + bytes);
  };
  extend(header.e_shoff, uint64_t(header.e_shnum) * sizeof(elf::Elf64_Shdr));
  extend(header.e_phoff, uint64_t(header.e_phnum) * sizeof(elf::Elf64_Phdr));
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    elf::Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + i * sizeof(section),
                sizeof(section));
    if (section.sh_type != elf::SHT_NOBITS)
      extend(section.sh_offset, section.sh_size);
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    elf::Elf64_Phdr segment;
    std::memcpy(&segment, image + header.e_phoff + i * sizeof(segment),
                sizeof(segment));
    extend(segment.p_offset, segment.p_filesz);
  }
  return size;
}

constexpr llvm::StringRef bundleMagic = "__CLANG_OFFLOAD_BUNDLE__";

bool isElf(llvm::StringRef bytes) {
  return bytes.size() >= sizeof(llvm::ELF::Elf64_Ehdr) &&
         bytes.starts_with("\177ELF");
}

/// The gfx950 entry of a clang offload bundle, whose entries are
/// (offset, size, id length, id). `bytes` may be longer than the bundle.
int unbundle(llvm::StringRef bytes, llvm::StringRef &image) {
  auto number = [&](uint64_t at, uint64_t &value) {
    if (at > bytes.size() || bytes.size() - at < 8)
      return false;
    std::memcpy(&value, bytes.data() + at, 8);
    return true;
  };
  uint64_t count, at = bundleMagic.size() + 8;
  if (!number(bundleMagic.size(), count))
    return hip::ErrorInvalidImage;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t offset, size, idSize;
    if (!number(at, offset) || !number(at + 8, size) ||
        !number(at + 16, idSize))
      return hip::ErrorInvalidImage;
    at += 24;
    if (at > bytes.size() || idSize > bytes.size() - at)
      return hip::ErrorInvalidImage;
    llvm::StringRef id = bytes.substr(at, idSize);
    at += idSize;
    if (!id.contains("amdgcn-amd-amdhsa") || !id.contains("gfx950"))
      continue;
    if (offset > bytes.size() || size > bytes.size() - offset)
      return hip::ErrorInvalidImage;
    image = bytes.substr(offset, size);
    return 0;
  }
  return hip::ErrorNoBinaryForGpu;
}

int load(void **result, llvm::StringRef bytes, llvm::StringRef name) {
  namespace elf = llvm::ELF;
  Runtime &runtime = Runtime::get();
  if (bytes.starts_with(bundleMagic))
    if (int code = unbundle(bytes, bytes))
      return finish(
          code,
          ("the offload bundle " + name + " holds no code for gfx950").str());
  if (!isElf(bytes))
    return finish(
        hip::ErrorInvalidImage,
        (name + " is neither a code object nor an offload bundle").str());
  elf::Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.e_machine != elf::EM_AMDGPU ||
      (header.e_flags & elf::EF_AMDGPU_MACH) !=
          elf::EF_AMDGPU_MACH_AMDGCN_GFX950)
    return finish(hip::ErrorNoBinaryForGpu,
                  (name + " is not code for gfx950").str());
  llvm::Expected<std::shared_ptr<sim::CodeObject>> object =
      sim::CodeObject::load(
          {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()},
          name);
  if (!object)
    return fromMessage(hip::ErrorInvalidImage, object.takeError());
  auto module = std::make_unique<Module>();
  module->object = *object;
  std::lock_guard<std::mutex> guard(runtime.submission);
  for (const sim::Kernel &kernel : (*object)->kernels()) {
    auto function = std::make_unique<Function>(Function{*object, &kernel});
    runtime.functions[function.get()] = function.get();
    module->functions[kernel.name] = std::move(function);
  }
  *result = module.get();
  runtime.modules[module.get()] = std::move(module);
  return 0;
}

/// Fills a call's arguments from either of HIP's two forms.
int takeArguments(const Function &function, void **parameters, void **extra,
                  KernelCall &call) {
  if (parameters && extra)
    return finish(hip::ErrorInvalidValue,
                  "kernelParams and extra are both given");
  const sim::Kernel &kernel = *function.kernel;
  if (extra) {
    const void *buffer = nullptr;
    size_t bytes = 0;
    // At most two keys are known; a longer list is malformed.
    for (int i = 0; i < 8; i += 2) {
      auto key = reinterpret_cast<uintptr_t>(extra[i]);
      if (key == hip::LaunchParamEnd)
        break;
      if (key == hip::LaunchParamBufferPointer)
        buffer = extra[i + 1];
      else if (key == hip::LaunchParamBufferSize)
        bytes = extra[i + 1] ? *static_cast<size_t *>(extra[i + 1]) : 0;
      else
        return finish(hip::ErrorInvalidValue, "extra holds an unknown key");
    }
    if (bytes && !buffer)
      return finish(hip::ErrorInvalidValue, "extra gives a size, no buffer");
    if (bytes > kernel.kernargSize)
      return finish(hip::ErrorInvalidValue,
                    "extra gives " + std::to_string(bytes) +
                        " bytes of arguments, kernel " + kernel.name +
                        " takes " + std::to_string(kernel.kernargSize));
    const auto *first = static_cast<const uint8_t *>(buffer);
    call.kernarg.assign(first, first + bytes);
    return 0;
  }
  std::vector<sim::KernelArgument> arguments = kernel.explicitArguments();
  if (arguments.empty())
    return 0;
  if (!parameters)
    return finish(hip::ErrorInvalidValue,
                  "kernel " + kernel.name + " takes arguments, none are given");
  for (size_t i = 0; i < arguments.size(); ++i) {
    const sim::KernelArgument &argument = arguments[i];
    if (!parameters[i])
      return finish(hip::ErrorInvalidValue, "argument " + std::to_string(i) +
                                                " of kernel " + kernel.name +
                                                " is null");
    size_t end = argument.offset + argument.size;
    if (call.kernarg.size() < end)
      call.kernarg.resize(end);
    std::memcpy(call.kernarg.data() + argument.offset, parameters[i],
                argument.size);
  }
  return 0;
}

} // namespace

namespace netra::hipsim {
/// Checks a launch and copies its arguments. The grid is in blocks.
int makeCall(void *handle, std::array<uint32_t, 3> grid,
             std::array<uint32_t, 3> block, uint32_t dynamicLds,
             void **parameters, void **extra, KernelCall &call) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto found = runtime.functions.find(handle);
  if (found == runtime.functions.end())
    return finish(hip::ErrorInvalidHandle, "the function is not loaded");
  const Function &function = *found->second;
  const sim::Kernel &kernel = *function.kernel;
  uint64_t items = 1;
  for (int i = 0; i < 3; ++i) {
    if (!grid[i] || !block[i] || block[i] > 1024 ||
        uint64_t(grid[i]) * block[i] > UINT32_MAX)
      return finish(hip::ErrorInvalidConfiguration,
                    "a grid of " + std::to_string(grid[i]) + " blocks of " +
                        std::to_string(block[i]) +
                        " work-items in one dimension");
    items *= block[i];
  }
  if (items > 1024)
    return finish(hip::ErrorInvalidConfiguration,
                  "a block of " + std::to_string(items) +
                      " work-items, the device takes 1024");
  if (items > kernel.maxWorkgroup)
    return finish(hip::ErrorLaunchFailure,
                  "a block of " + std::to_string(items) + ", kernel " +
                      kernel.name + " takes " +
                      std::to_string(kernel.maxWorkgroup));
  if (uint64_t(dynamicLds) + kernel.groupSegment > ldsLimit)
    return finish(hip::ErrorInvalidValue,
                  std::to_string(kernel.groupSegment) + " static and " +
                      std::to_string(dynamicLds) +
                      " dynamic bytes of LDS, the device has " +
                      std::to_string(ldsLimit));
  call.object = function.object;
  call.kernel = function.kernel;
  call.grid = grid;
  call.block = block;
  call.dynamicLds = dynamicLds;
  return takeArguments(function, parameters, extra, call);
}
} // namespace netra::hipsim

NETRA_HIP_EXPORT int hipModuleLoadData(void **module, const void *image) {
  if (!module || !image)
    return finish(hip::ErrorInvalidValue);
  const char *bytes = static_cast<const char *>(image);
  size_t size = 0;
  if (std::memcmp(bytes, "\177ELF", 4) == 0) {
    size = elfSize(static_cast<const uint8_t *>(image));
  } else if (std::memcmp(bytes, bundleMagic.data(), bundleMagic.size()) == 0) {
    // The bundle does not say its size; its entries do.
    uint64_t count, at = bundleMagic.size() + 8;
    std::memcpy(&count, bytes + bundleMagic.size(), 8);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t fields[3];
      std::memcpy(fields, bytes + at, sizeof(fields));
      at += sizeof(fields) + fields[2];
      size = std::max<size_t>(size, fields[0] + fields[1]);
    }
    size = std::max<size_t>(size, at);
  } else {
    return finish(hip::ErrorInvalidImage,
                  "the image is neither a code object nor an offload bundle");
  }
  return load(module, {bytes, size}, "module image");
}

NETRA_HIP_EXPORT int hipModuleLoadDataEx(void **module, const void *image,
                                         unsigned, int *, void **) {
  return hipModuleLoadData(module, image);
}

NETRA_HIP_EXPORT int hipModuleLoad(void **module, const char *path) {
  if (!module || !path)
    return finish(hip::ErrorInvalidValue);
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return finish(hip::ErrorFileNotFound,
                  std::string(path) + ": " + file.getError().message());
  return load(module, (*file)->getBuffer(), path);
}

NETRA_HIP_EXPORT int hipModuleUnload(void *handle) {
  Runtime &runtime = Runtime::get();
  if (int code = runtime.forbidWhileCapturing())
    return finish(code);
  std::unique_ptr<Module> module;
  std::vector<Position> pending;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    auto found = runtime.modules.find(handle);
    if (found == runtime.modules.end())
      return finish(hip::ErrorInvalidHandle, "the module is not loaded");
    module = std::move(found->second);
    runtime.modules.erase(found);
    for (const auto &[name, function] : module->functions)
      runtime.functions.erase(function.get());
    pending.push_back(runtime.defaultStream->last());
    for (const auto &[key, stream] : runtime.streams)
      pending.push_back(stream->last());
  }
  for (const Position &position : pending)
    position.wait();
  runtime.getDevice().unloadData(*module->object);
  return 0;
}

NETRA_HIP_EXPORT int hipModuleGetFunction(void **function, void *handle,
                                          const char *name) {
  if (!function || !name)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto module = runtime.modules.find(handle);
  if (module == runtime.modules.end())
    return finish(hip::ErrorInvalidHandle, "the module is not loaded");
  auto found = module->second->functions.find(name);
  if (found == module->second->functions.end())
    return finish(hip::ErrorNotFound,
                  std::string("the module has no kernel ") + name);
  *function = found->second.get();
  return 0;
}

NETRA_HIP_EXPORT int hipModuleGetGlobal(void **pointer, size_t *bytes,
                                        void *handle, const char *name) {
  if (!name)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::shared_ptr<sim::CodeObject> object;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    auto module = runtime.modules.find(handle);
    if (module == runtime.modules.end())
      return finish(hip::ErrorInvalidHandle, "the module is not loaded");
    object = module->second->object;
  }
  for (const sim::CodeObject::Variable &variable : object->variables()) {
    if (variable.name != name)
      continue;
    llvm::Expected<uint64_t> bias = runtime.getDevice().loadData(object);
    if (!bias)
      return fromMessage(hip::ErrorOutOfMemory, bias.takeError());
    if (pointer)
      *pointer = reinterpret_cast<void *>(variable.address + *bias);
    if (bytes)
      *bytes = variable.size;
    return 0;
  }
  return finish(hip::ErrorNotFound,
                std::string("the module has no variable ") + name);
}

NETRA_HIP_EXPORT int hipModuleLaunchKernel(void *function, unsigned gridX,
                                           unsigned gridY, unsigned gridZ,
                                           unsigned blockX, unsigned blockY,
                                           unsigned blockZ, unsigned dynamicLds,
                                           void *stream, void **parameters,
                                           void **extra) {
  auto node = std::make_shared<GraphNode>();
  node->kind = GraphNode::Kind::Kernel;
  if (int code =
          makeCall(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                   dynamicLds, parameters, extra, node->kernel))
    return code;
  return finish(submitNode(stream, std::move(node)));
}

/// The grid counts work-items; the last blocks may be partial.
NETRA_HIP_EXPORT int
hipExtModuleLaunchKernel(void *function, uint32_t itemsX, uint32_t itemsY,
                         uint32_t itemsZ, uint32_t blockX, uint32_t blockY,
                         uint32_t blockZ, size_t dynamicLds, void *stream,
                         void **parameters, void **extra, void *startEvent,
                         void *stopEvent, uint32_t) {
  if (startEvent || stopEvent)
    return finish(hip::ErrorNotSupported,
                  "events around one launch are not supported; record them "
                  "with hipEventRecord");
  if (!blockX || !blockY || !blockZ || dynamicLds > UINT32_MAX)
    return finish(hip::ErrorInvalidConfiguration);
  auto groups = [](uint32_t items, uint32_t block) {
    return uint32_t((uint64_t(items) + block - 1) / block);
  };
  auto node = std::make_shared<GraphNode>();
  node->kind = GraphNode::Kind::Kernel;
  if (int code = makeCall(function,
                          {groups(itemsX, blockX), groups(itemsY, blockY),
                           groups(itemsZ, blockZ)},
                          {blockX, blockY, blockZ}, uint32_t(dynamicLds),
                          parameters, extra, node->kernel))
    return code;
  node->kernel.items = {itemsX, itemsY, itemsZ};
  return finish(submitNode(stream, std::move(node)));
}

NETRA_HIP_EXPORT int hipModuleLaunchCooperativeKernel(void *, unsigned,
                                                      unsigned, unsigned,
                                                      unsigned, unsigned,
                                                      unsigned, unsigned,
                                                      void *, void **) {
  return finish(hip::ErrorNotSupported,
                "cooperative launches are not supported by the simulator");
}

NETRA_HIP_EXPORT int hipFuncGetAttribute(int *value, int attribute,
                                         void *handle) {
  if (!value)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto found = runtime.functions.find(handle);
  if (found == runtime.functions.end())
    return finish(hip::ErrorInvalidDeviceFunction);
  const sim::Kernel &kernel = *found->second->kernel;
  switch (attribute) {
  case hip::FunctionMaxThreadsPerBlock:
    *value = int(kernel.maxWorkgroup);
    return 0;
  case hip::FunctionSharedSizeBytes:
    *value = int(kernel.groupSegment);
    return 0;
  case hip::FunctionConstSizeBytes:
  case hip::FunctionCacheModeCA:
  case hip::FunctionPreferredSharedMemoryCarveout:
    *value = 0;
    return 0;
  case hip::FunctionLocalSizeBytes:
    *value = int(kernel.privateSegment);
    return 0;
  case hip::FunctionNumRegs:
    *value = int(kernel.vgprs + kernel.agprs);
    return 0;
  case hip::FunctionPtxVersion:
  case hip::FunctionBinaryVersion:
    *value = 95;
    return 0;
  case hip::FunctionMaxDynamicSharedSizeBytes:
    *value = int(ldsLimit - kernel.groupSegment);
    return 0;
  default:
    return finish(hip::ErrorInvalidValue);
  }
}

NETRA_HIP_EXPORT int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, void *handle, int blockSize, size_t dynamicLds) {
  if (!blocks || blockSize <= 0 || blockSize > 1024)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto found = runtime.functions.find(handle);
  if (found == runtime.functions.end())
    return finish(hip::ErrorInvalidDeviceFunction);
  *blocks = int(sim::workgroupsPerComputeUnit(*found->second->kernel,
                                              unsigned(blockSize), dynamicLds));
  return 0;
}

NETRA_HIP_EXPORT int
hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, void *handle, int blockSize, size_t dynamicLds, unsigned) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, handle, blockSize, dynamicLds);
}

NETRA_HIP_EXPORT int hipModuleOccupancyMaxPotentialBlockSize(
    int *gridSize, int *blockSize, void *handle, size_t dynamicLds, int limit) {
  if (!gridSize || !blockSize)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto found = runtime.functions.find(handle);
  if (found == runtime.functions.end())
    return finish(hip::ErrorInvalidDeviceFunction);
  const sim::Kernel &kernel = *found->second->kernel;
  unsigned most = kernel.maxWorkgroup;
  if (limit > 0)
    most = std::min(most, unsigned(limit));
  unsigned best = 0, bestWaves = 0, bestGroups = 0;
  for (unsigned size = 64; size <= most; size += 64) {
    unsigned groups = sim::workgroupsPerComputeUnit(kernel, size, dynamicLds);
    if (groups * (size / 64) >= bestWaves) // the largest among equals
      best = size, bestWaves = groups * (size / 64), bestGroups = groups;
  }
  *blockSize = int(best);
  *gridSize = int(bestGroups * 256);
  return 0;
}
