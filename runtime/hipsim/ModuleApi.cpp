//===- ModuleApi.cpp - HIP: modules, functions, launches ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "TargetFlags.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <sys/uio.h>
#include <unistd.h>

using namespace netra;
using namespace netra::hipsim;

namespace {

int fromMessage(int code, llvm::Error error) {
  return finish(code, llvm::toString(std::move(error)));
}

constexpr llvm::StringRef bundleMagic = "__CLANG_OFFLOAD_BUNDLE__";

/// An image in memory of which only the start is known, as HIP passes it. What
/// its headers speak of need not be there.
class MemoryImage {
public:
  explicit MemoryImage(const void *start)
      : start(static_cast<const char *>(start)) {}

  /// False when there is no such memory.
  bool copy(uint64_t offset, void *to, size_t bytes) const {
    if (offset > UINTPTR_MAX - reinterpret_cast<uintptr_t>(start))
      return false;
    iovec local = {to, bytes};
    iovec remote = {const_cast<char *>(start + offset), bytes};
    ssize_t copied = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
    if (copied < 0 && (errno == ENOSYS || errno == EPERM)) {
      // Where the kernel does not help, the image must be sound.
      std::memcpy(to, start + offset, bytes);
      return true;
    }
    return copied == ssize_t(bytes);
  }

  template <typename T> bool read(uint64_t offset, T &value) const {
    return copy(offset, &value, sizeof(value));
  }

  /// All of the image; nothing when its end cannot be found.
  std::optional<std::string> read() const {
    char magic[bundleMagic.size()] = {};
    std::optional<uint64_t> size;
    if (copy(0, magic, 4) && llvm::StringRef(magic, 4) == "\177ELF")
      size = measureElf();
    else if (copy(0, magic, sizeof(magic)) &&
             llvm::StringRef(magic, sizeof(magic)) == bundleMagic)
      size = measureBundle();
    if (!size)
      return std::nullopt;
    // In pieces: a size that is wrong ends where memory does.
    std::string bytes;
    constexpr uint64_t piece = 1 << 20;
    while (bytes.size() < *size) {
      uint64_t at = bytes.size(), next = std::min(piece, *size - at);
      bytes.resize(at + next);
      if (!copy(at, bytes.data() + at, next))
        return std::nullopt;
    }
    return bytes;
  }

private:
  static bool extend(uint64_t &size, uint64_t offset, uint64_t bytes) {
    if (bytes > UINT64_MAX - offset)
      return false;
    size = std::max(size, offset + bytes);
    return true;
  }

  /// Where the last of headers, sections and segments ends.
  std::optional<uint64_t> measureElf() const {
    namespace elf = llvm::ELF;
    elf::Elf64_Ehdr header;
    if (!read(0, header))
      return std::nullopt;
    uint64_t size = sizeof(header);
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      elf::Elf64_Shdr section;
      uint64_t at = header.e_shoff + uint64_t(i) * sizeof(section);
      if (!read(at, section) || !extend(size, at, sizeof(section)))
        return std::nullopt;
      if (section.sh_type != elf::SHT_NOBITS &&
          !extend(size, section.sh_offset, section.sh_size))
        return std::nullopt;
    }
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      elf::Elf64_Phdr segment;
      uint64_t at = header.e_phoff + uint64_t(i) * sizeof(segment);
      if (!read(at, segment) || !extend(size, at, sizeof(segment)) ||
          !extend(size, segment.p_offset, segment.p_filesz))
        return std::nullopt;
    }
    return size;
  }

  /// The bundle does not say its size; its entries do.
  std::optional<uint64_t> measureBundle() const {
    uint64_t count, size = 0, at = bundleMagic.size() + 8;
    if (!read(bundleMagic.size(), count))
      return std::nullopt;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t fields[3]; // offset, size, length of the id
      if (!read(at, fields) || !extend(size, fields[0], fields[1]) ||
          !extend(size, at + sizeof(fields), fields[2]))
        return std::nullopt;
      at += sizeof(fields) + fields[2];
    }
    extend(size, 0, at);
    return size;
  }

  const char *start;
};

bool isElf(llvm::StringRef bytes) {
  return bytes.size() >= sizeof(llvm::ELF::Elf64_Ehdr) &&
         bytes.starts_with("\177ELF");
}

/// The entry of a clang offload bundle that is for gfx950, else the one for
/// gfx9-4-generic. Entries are (offset, size, id length, id). `bytes` may be
/// longer than the bundle.
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
  int code = hip::ErrorNoBinaryForGpu;
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
    bool isExact = id.contains("gfx950");
    if (!id.contains("amdgcn-amd-amdhsa") || id.contains("xnack+") ||
        id.contains("sramecc-") || !(isExact || id.contains("gfx9-4-generic")))
      continue;
    if (offset > bytes.size() || size > bytes.size() - offset)
      return hip::ErrorInvalidImage;
    image = bytes.substr(offset, size);
    code = 0;
    if (isExact)
      break;
  }
  return code;
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
  if (header.e_machine != elf::EM_AMDGPU)
    return finish(hip::ErrorNoBinaryForGpu,
                  (name + " is not code for gfx950").str());
  if (std::string why = hsa::TargetFlags(header.e_flags).whyNotForDevice();
      !why.empty())
    return finish(hip::ErrorNoBinaryForGpu,
                  (name + " is not code for gfx950: " + why).str());
  llvm::Expected<std::shared_ptr<sim::CodeObject>> object =
      sim::CodeObject::load(
          {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()},
          name);
  if (!object)
    return fromMessage(hip::ErrorInvalidImage, object.takeError());
  for (const std::string &warning : (*object)->warnings())
    runtime.warn(warning);
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

} // namespace

NETRA_HIP_EXPORT int hipModuleLoadData(void **module, const void *image) {
  if (int code = checkGiven(module, "place for the module"))
    return code;
  if (int code = checkGiven(image, "image"))
    return code;
  std::optional<std::string> bytes = MemoryImage(image).read();
  if (!bytes)
    return finish(hip::ErrorInvalidImage,
                  "the image is neither a code object nor an offload bundle, "
                  "or its headers speak of bytes that are not there");
  return load(module, *bytes, "module image");
}

NETRA_HIP_EXPORT int hipModuleLoadDataEx(void **module, const void *image,
                                         unsigned, int *, void **) {
  return hipModuleLoadData(module, image);
}

NETRA_HIP_EXPORT int hipModuleLoad(void **module, const char *path) {
  if (int code = checkGiven(module, "place for the module"))
    return code;
  if (int code = checkGiven(path, "file name"))
    return code;
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return finish(hip::ErrorFileNotFound,
                  std::string(path) + ": " + file.getError().message());
  return load(module, (*file)->getBuffer(), path);
}

NETRA_HIP_EXPORT int hipModuleUnload(void *handle) {
  Runtime &runtime = Runtime::get();
  if (int code = checkMayWait())
    return code;
  std::unique_ptr<Module> module;
  std::vector<Position> pending;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    auto found = runtime.modules.find(handle);
    if (found == runtime.modules.end())
      return finish(hip::ErrorInvalidHandle,
                    llvm::formatv("the module {0} is not loaded", handle));
    module = std::move(found->second);
    runtime.modules.erase(found);
    for (const auto &[name, function] : module->functions)
      runtime.functions.erase(function.get());
    pending = runtime.everything();
  }
  for (const Position &position : pending)
    position.wait();
  runtime.getDevice().unloadData(*module->object);
  return 0;
}

NETRA_HIP_EXPORT int hipModuleGetFunction(void **function, void *handle,
                                          const char *name) {
  if (int code = checkGiven(function, "place for the function"))
    return code;
  if (int code = checkGiven(name, "name"))
    return code;
  if (!*name)
    return finish(hip::ErrorInvalidValue, "the name is empty");
  if (!handle)
    return finish(hip::ErrorInvalidHandle, "the module is null");
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto module = runtime.modules.find(handle);
  if (module == runtime.modules.end())
    return finish(hip::ErrorNotFound,
                  llvm::formatv("the module {0} is not loaded", handle));
  const sim::Kernel *kernel = module->second->object->findKernel(name);
  auto found = kernel ? module->second->functions.find(kernel->name)
                      : module->second->functions.end();
  if (found == module->second->functions.end())
    return finish(hip::ErrorNotFound,
                  std::string("the module has no kernel ") + name);
  *function = found->second.get();
  return 0;
}

NETRA_HIP_EXPORT int hipModuleGetGlobal(void **pointer, size_t *bytes,
                                        void *handle, const char *name) {
  if (int code = checkGiven(name, "name"))
    return code;
  if (!handle)
    return finish(hip::ErrorInvalidHandle, "the module is null");
  Runtime &runtime = Runtime::get();
  std::shared_ptr<sim::CodeObject> object;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    auto module = runtime.modules.find(handle);
    if (module == runtime.modules.end())
      return finish(hip::ErrorNotFound,
                    llvm::formatv("the module {0} is not loaded", handle));
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

NETRA_HIP_EXPORT int hipFuncGetAttribute(int *value, int attribute,
                                         void *handle) {
  if (int code = checkGiven(value, "place for the value"))
    return code;
  if (int code = checkGiven(handle, "function"))
    return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  const Function *function;
  if (int code =
          findFunction(handle, function, hip::ErrorInvalidDeviceFunction))
    return code;
  const sim::Kernel &kernel = *function->kernel;
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
    *value = int(LdsLimit - kernel.groupSegment);
    return 0;
  default:
    return finish(hip::ErrorInvalidValue,
                  llvm::formatv("function attribute {0} is not known to the "
                                "simulator",
                                attribute));
  }
}

NETRA_HIP_EXPORT int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, void *handle, int blockSize, size_t dynamicLds) {
  if (int code = checkGiven(blocks, "place for the number of blocks"))
    return code;
  if (blockSize <= 0 || blockSize > int(MaxBlockItems))
    return finish(hip::ErrorInvalidValue,
                  llvm::formatv("expected a block of 1 to {0} work-items, "
                                "found {1}",
                                MaxBlockItems, blockSize));
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  const Function *function;
  if (int code =
          findFunction(handle, function, hip::ErrorInvalidDeviceFunction))
    return code;
  *blocks = int(sim::workgroupsPerComputeUnit(*function->kernel,
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
  if (int code = checkGiven(gridSize, "place for the size of the grid"))
    return code;
  if (int code = checkGiven(blockSize, "place for the size of the block"))
    return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  const Function *function;
  if (int code =
          findFunction(handle, function, hip::ErrorInvalidDeviceFunction))
    return code;
  const sim::Kernel &kernel = *function->kernel;
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

NETRA_HIP_EXPORT int hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    int *gridSize, int *blockSize, void *handle, size_t dynamicLds, int limit,
    unsigned) {
  return hipModuleOccupancyMaxPotentialBlockSize(gridSize, blockSize, handle,
                                                 dynamicLds, limit);
}
