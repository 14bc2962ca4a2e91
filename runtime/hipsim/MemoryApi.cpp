//===- MemoryApi.cpp - HIP: memory ----------------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Device memory lies in the host's address space, so that managed and mapped
// memory need no migration; every copy is still checked against allocations.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>

using namespace netra;
using namespace netra::hipsim;

namespace {

uint64_t addressOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

int allocate(void **pointer, size_t bytes) {
  if (int code = checkGiven(pointer, "place for the pointer"))
    return code;
  if (int code = checkMayWait())
    return code;
  *pointer = nullptr;
  if (!bytes)
    return 0;
  llvm::Expected<uint64_t> address = Runtime::get().getDevice().allocate(bytes);
  if (!address)
    return finish(hip::ErrorOutOfMemory, llvm::toString(address.takeError()));
  *pointer = reinterpret_cast<void *>(*address);
  return 0;
}

int fromError(llvm::Error error) {
  if (!error)
    return 0;
  return finish(hip::ErrorInvalidValue, llvm::toString(std::move(error)));
}

int badPointer(const void *pointer, int code = hip::ErrorInvalidValue) {
  return finish(code, llvm::formatv("{0} is not inside memory that HIP "
                                    "allocated or registered",
                                    pointer)
                          .str());
}

/// Whether HIP does not know the memory. Asynchronous copies from such memory
/// are staged, as the hardware's driver does it, so that the caller may reuse
/// it when the call returns.
bool isPageable(const void *pointer) {
  return !Runtime::get().getDevice().find(addressOf(pointer));
}

std::shared_ptr<GraphNode> copyNode(const CopyCall &call) {
  auto node = std::make_shared<GraphNode>();
  node->kind = hip::GraphNodeTypeMemcpy;
  node->copy = call;
  return node;
}

/// The first error of the default stream: a blocking call is where many
/// programs first learn of a failed launch.
int takeDefaultError() {
  Runtime &runtime = Runtime::get();
  return finish(runtime.defaultStream->takeError(),
                "earlier work of the default stream failed; the report on "
                "stderr says what it was");
}

int copyNow(const CopyCall &call) {
  if (call.isEmpty())
    return 0;
  if (int code = checkMayWait(hip::ErrorStreamCaptureImplicit))
    return code;
  if (int code = checkCopy(call))
    return code;
  if (int code = submitNode(nullptr, copyNode(call), /*wait=*/true))
    return code;
  return takeDefaultError();
}

int copyLater(const CopyCall &call, void *stream) {
  if (call.isEmpty())
    return 0;
  if (int code = checkCopy(call))
    return code;
  Runtime &runtime = Runtime::get();
  bool isCapturing;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    std::shared_ptr<Stream> found;
    if (int code = findStream(stream, found))
      return code;
    isCapturing = found->capture != nullptr;
  }
  if (isCapturing)
    return submitNode(stream, copyNode(call));
  if (call.isPlain() && isPageable(call.source)) {
    // Taken now: the caller may change the memory right away.
    auto staged = std::make_shared<std::vector<char>>(call.bytes);
    std::memcpy(staged->data(), call.source, call.bytes);
    std::lock_guard<std::mutex> guard(runtime.submission);
    std::shared_ptr<Stream> found;
    if (int code = findStream(stream, found))
      return code;
    CopyCall copy = call;
    copy.source = staged->data();
    copy.kind = hip::MemcpyDefault;
    runtime.enqueue(*found, [copy, staged](bool) { return execute(copy); });
    return 0;
  }
  bool wait = isPageable(call.destination) || isPageable(call.source);
  if (wait)
    if (int code = checkNotInHostFunction())
      return code;
  return submitNode(stream, copyNode(call), wait);
}

int fillNode(const FillCall &call, void *stream, bool wait) {
  if (!call.count || !call.height)
    return 0;
  if (wait)
    if (int code = checkMayWait(hip::ErrorStreamCaptureImplicit))
      return code;
  if (int code = checkFill(call))
    return code;
  auto node = std::make_shared<GraphNode>();
  node->kind = hip::GraphNodeTypeMemset;
  node->fill = call;
  return submitNode(stream, std::move(node), wait);
}

/// Bytes from the first to the last of a block of rows and slices; nothing if
/// they are more than fit.
std::optional<size_t> span(size_t bytes, size_t height, size_t pitch,
                           size_t depth, size_t slice) {
  size_t rows, slices, sum, total;
  if (__builtin_mul_overflow(height - 1, pitch, &rows) ||
      __builtin_mul_overflow(depth - 1, slice, &slices) ||
      __builtin_add_overflow(rows, slices, &sum) ||
      __builtin_add_overflow(sum, bytes, &total))
    return std::nullopt;
  return total;
}

} // namespace

//===----------------------------------------------------------------------===//
// Copying and filling
//===----------------------------------------------------------------------===//

int hipsim::checkCopy(const CopyCall &call) {
  sim::Device &device = Runtime::get().getDevice();
  if (int code = checkGiven(call.destination, "destination of the copy"))
    return code;
  if (int code = checkGiven(call.source, "source of the copy"))
    return code;
  if (call.kind < hip::MemcpyHostToHost || call.kind > hip::MemcpyDefault)
    return finish(hip::ErrorInvalidMemcpyDirection,
                  "expected a kind of copy from 0 to 4, found " +
                      std::to_string(call.kind));
  if (!call.isPlain() &&
      (call.destinationPitch < call.bytes || call.sourcePitch < call.bytes))
    return finish(hip::ErrorInvalidPitchValue,
                  llvm::formatv("a row of {0} bytes does not fit the pitches "
                                "{1} (destination) and {2} (source)",
                                call.bytes, call.destinationPitch,
                                call.sourcePitch)
                      .str());
  auto check = [&](const void *pointer, bool mustBeDevice,
                   std::optional<size_t> bytes, const char *what) {
    uint64_t address = addressOf(pointer);
    if (bytes && device.contains(address, *bytes))
      return 0;
    std::optional<sim::Allocation> found = device.find(address);
    if (bytes && !found && !mustBeDevice)
      return 0;
    std::string text = llvm::formatv("the {0} of a copy of {1} bytes, {2}, ",
                                     what, bytes.value_or(SIZE_MAX), pointer);
    text += found ? llvm::formatv("reaches beyond its allocation of {0} bytes",
                                  found->bytes)
                        .str()
                  : "is not memory that HIP allocated or registered";
    return finish(hip::ErrorInvalidValue, text);
  };
  bool toDevice = call.kind == hip::MemcpyHostToDevice ||
                  call.kind == hip::MemcpyDeviceToDevice;
  bool fromDevice = call.kind == hip::MemcpyDeviceToHost ||
                    call.kind == hip::MemcpyDeviceToDevice;
  if (int code = check(call.destination, toDevice,
                       span(call.bytes, call.height, call.destinationPitch,
                            call.depth, call.destinationSlice),
                       "destination"))
    return code;
  return check(call.source, fromDevice,
               span(call.bytes, call.height, call.sourcePitch, call.depth,
                    call.sourceSlice),
               "source");
}

static int copyRow(sim::Device &device, char *destination, const char *source,
                   const CopyCall &call) {
  uint64_t to = addressOf(destination), from = addressOf(source);
  bool toDevice = device.find(to).has_value();
  bool fromDevice = device.find(from).has_value();
  if (toDevice && fromDevice)
    return fromError(device.copy(to, from, call.bytes));
  if (toDevice)
    return fromError(device.copyIn(to, source, call.bytes));
  if (fromDevice)
    return fromError(device.copyOut(destination, from, call.bytes));
  if (call.kind != hip::MemcpyHostToHost && call.kind != hip::MemcpyDefault)
    return hip::ErrorInvalidValue; // freed since it was enqueued
  std::memmove(destination, source, call.bytes);
  return 0;
}

int hipsim::execute(const CopyCall &call) {
  sim::Device &device = Runtime::get().getDevice();
  for (size_t z = 0; z < call.depth; ++z)
    for (size_t y = 0; y < call.height; ++y)
      if (int code =
              copyRow(device,
                      static_cast<char *>(call.destination) +
                          z * call.destinationSlice + y * call.destinationPitch,
                      static_cast<const char *>(call.source) +
                          z * call.sourceSlice + y * call.sourcePitch,
                      call))
        return code;
  return 0;
}

int hipsim::checkFill(const FillCall &call) {
  if (int code = checkGiven(call.destination, "destination of the memset"))
    return code;
  sim::Device &device = Runtime::get().getDevice();
  size_t bytes;
  std::optional<size_t> all;
  if (!__builtin_mul_overflow(call.count, call.width, &bytes)) {
    if (call.height > 1 && call.pitch < bytes)
      return finish(
          hip::ErrorInvalidPitchValue,
          llvm::formatv("a row of {0} bytes does not fit the pitch {1}", bytes,
                        call.pitch)
              .str());
    all = span(bytes, call.height, call.pitch, 1, 0);
  }
  if (!all || !device.contains(addressOf(call.destination), *all))
    return finish(hip::ErrorInvalidValue,
                  llvm::formatv("the {0} bytes of a memset at {1} are not "
                                "inside one allocation of the device",
                                all.value_or(SIZE_MAX), call.destination)
                      .str());
  return 0;
}

int hipsim::execute(const FillCall &call) {
  sim::Device &device = Runtime::get().getDevice();
  const size_t bytes = call.count * call.width;
  for (size_t y = 0; y < call.height; ++y) {
    uint64_t address = addressOf(call.destination) + y * call.pitch;
    if (call.width == 1) {
      if (int code =
              fromError(device.fill(address, uint8_t(call.value), bytes)))
        return code;
      continue;
    }
    auto *memory = static_cast<char *>(device.hostPointer(address, bytes));
    if (!memory)
      return hip::ErrorInvalidValue; // freed since it was enqueued
    for (size_t i = 0; i < call.count; ++i)
      std::memcpy(memory + i * call.width, &call.value, call.width);
    device.markInitialized(address, bytes);
  }
  return 0;
}

NETRA_HIP_EXPORT int hipMemcpy(void *destination, const void *source,
                               size_t bytes, int kind) {
  return copyNow({destination, source, bytes, kind});
}
NETRA_HIP_EXPORT int hipMemcpyHtoD(void *destination, const void *source,
                                   size_t bytes) {
  return copyNow({destination, source, bytes, hip::MemcpyHostToDevice});
}
NETRA_HIP_EXPORT int hipMemcpyDtoH(void *destination, const void *source,
                                   size_t bytes) {
  return copyNow({destination, source, bytes, hip::MemcpyDeviceToHost});
}
NETRA_HIP_EXPORT int hipMemcpyDtoD(void *destination, const void *source,
                                   size_t bytes) {
  return copyNow({destination, source, bytes, hip::MemcpyDeviceToDevice});
}
NETRA_HIP_EXPORT int hipMemcpyAsync(void *destination, const void *source,
                                    size_t bytes, int kind, void *stream) {
  return copyLater({destination, source, bytes, kind}, stream);
}
NETRA_HIP_EXPORT int hipMemcpyHtoDAsync(void *destination, const void *source,
                                        size_t bytes, void *stream) {
  return copyLater({destination, source, bytes, hip::MemcpyHostToDevice},
                   stream);
}
NETRA_HIP_EXPORT int hipMemcpyDtoHAsync(void *destination, const void *source,
                                        size_t bytes, void *stream) {
  return copyLater({destination, source, bytes, hip::MemcpyDeviceToHost},
                   stream);
}
NETRA_HIP_EXPORT int hipMemcpyDtoDAsync(void *destination, const void *source,
                                        size_t bytes, void *stream) {
  return copyLater({destination, source, bytes, hip::MemcpyDeviceToDevice},
                   stream);
}
NETRA_HIP_EXPORT int hipMemcpyWithStream(void *destination, const void *source,
                                         size_t bytes, int kind, void *stream) {
  if (int code = checkNotInHostFunction())
    return code;
  Runtime &runtime = Runtime::get();
  std::shared_ptr<Stream> found;
  bool isCapturing;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    if (int code = findStream(stream, found))
      return code;
    isCapturing = found->capture != nullptr;
  }
  if (int code = copyLater({destination, source, bytes, kind}, stream))
    return code;
  if (isCapturing)
    return 0;
  found->last().wait();
  return finish(found->takeError());
}

/// A block of rows, as hipMemcpy2D names it.
static CopyCall rows(void *destination, size_t destinationPitch,
                     const void *source, size_t sourcePitch, size_t width,
                     size_t height, int kind) {
  CopyCall call = {destination, source, width, kind};
  call.height = height;
  call.destinationPitch = destinationPitch;
  call.sourcePitch = sourcePitch;
  return call;
}
NETRA_HIP_EXPORT int hipMemcpy2D(void *destination, size_t destinationPitch,
                                 const void *source, size_t sourcePitch,
                                 size_t width, size_t height, int kind) {
  return copyNow(rows(destination, destinationPitch, source, sourcePitch, width,
                      height, kind));
}
NETRA_HIP_EXPORT int hipMemcpy2DAsync(void *destination,
                                      size_t destinationPitch,
                                      const void *source, size_t sourcePitch,
                                      size_t width, size_t height, int kind,
                                      void *stream) {
  return copyLater(rows(destination, destinationPitch, source, sourcePitch,
                        width, height, kind),
                   stream);
}

int hipsim::toCopy(const hip::Memcpy3DParms *parameters, CopyCall &call) {
  if (int code = checkGiven(parameters, "description of the copy"))
    return code;
  const hip::Memcpy3DParms &p = *parameters;
  if (p.srcArray || p.dstArray)
    return finish(hip::ErrorNotSupported,
                  "copies of arrays (textures) are not supported by the "
                  "simulator");
  auto start = [](const hip::PitchedPtr &pointer, const hip::Pos &at) {
    return static_cast<char *>(pointer.ptr) +
           (at.z * pointer.ysize + at.y) * pointer.pitch + at.x;
  };
  call = {};
  call.destination = p.dstPtr.ptr ? start(p.dstPtr, p.dstPos) : nullptr;
  call.source = p.srcPtr.ptr ? start(p.srcPtr, p.srcPos) : nullptr;
  call.bytes = p.extent.width;
  call.height = p.extent.height;
  call.depth = p.extent.depth;
  call.kind = p.kind;
  call.destinationPitch = p.dstPtr.pitch;
  call.sourcePitch = p.srcPtr.pitch;
  call.destinationSlice = p.dstPtr.pitch * p.dstPtr.ysize;
  call.sourceSlice = p.srcPtr.pitch * p.srcPtr.ysize;
  if (call.depth > 1 &&
      (p.dstPtr.ysize < call.height || p.srcPtr.ysize < call.height))
    return finish(hip::ErrorInvalidValue,
                  llvm::formatv("a slice of {0} rows does not fit slices of "
                                "{1} (destination) and {2} (source) rows",
                                call.height, p.dstPtr.ysize, p.srcPtr.ysize)
                      .str());
  return 0;
}
NETRA_HIP_EXPORT int hipMemcpy3D(const hip::Memcpy3DParms *parameters) {
  CopyCall call;
  if (int code = toCopy(parameters, call))
    return code;
  return copyNow(call);
}
NETRA_HIP_EXPORT int hipMemcpy3DAsync(const hip::Memcpy3DParms *parameters,
                                      void *stream) {
  CopyCall call;
  if (int code = toCopy(parameters, call))
    return code;
  return copyLater(call, stream);
}

NETRA_HIP_EXPORT int hipMemset(void *destination, int value, size_t bytes) {
  return fillNode({destination, uint32_t(value) & 0xff, 1, bytes}, nullptr,
                  true);
}
NETRA_HIP_EXPORT int hipMemsetAsync(void *destination, int value, size_t bytes,
                                    void *stream) {
  return fillNode({destination, uint32_t(value) & 0xff, 1, bytes}, stream,
                  false);
}
NETRA_HIP_EXPORT int hipMemsetD8(void *destination, unsigned char value,
                                 size_t count) {
  return fillNode({destination, value, 1, count}, nullptr, true);
}
NETRA_HIP_EXPORT int hipMemsetD16(void *destination, unsigned short value,
                                  size_t count) {
  return fillNode({destination, value, 2, count}, nullptr, true);
}
NETRA_HIP_EXPORT int hipMemsetD32(void *destination, int value, size_t count) {
  return fillNode({destination, uint32_t(value), 4, count}, nullptr, true);
}
NETRA_HIP_EXPORT int hipMemsetD8Async(void *destination, unsigned char value,
                                      size_t count, void *stream) {
  return fillNode({destination, value, 1, count}, stream, false);
}
NETRA_HIP_EXPORT int hipMemsetD16Async(void *destination, unsigned short value,
                                       size_t count, void *stream) {
  return fillNode({destination, value, 2, count}, stream, false);
}
NETRA_HIP_EXPORT int hipMemsetD32Async(void *destination, int value,
                                       size_t count, void *stream) {
  return fillNode({destination, uint32_t(value), 4, count}, stream, false);
}

NETRA_HIP_EXPORT int hipMemset2D(void *destination, size_t pitch, int value,
                                 size_t width, size_t height) {
  return fillNode(
      {destination, uint32_t(value) & 0xff, 1, width, height, pitch}, nullptr,
      true);
}
NETRA_HIP_EXPORT int hipMemset2DAsync(void *destination, size_t pitch,
                                      int value, size_t width, size_t height,
                                      void *stream) {
  return fillNode(
      {destination, uint32_t(value) & 0xff, 1, width, height, pitch}, stream,
      false);
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

NETRA_HIP_EXPORT int hipMalloc(void **pointer, size_t bytes) {
  return allocate(pointer, bytes);
}

NETRA_HIP_EXPORT int hipExtMallocWithFlags(void **pointer, size_t bytes,
                                           unsigned) {
  return allocate(pointer, bytes);
}

NETRA_HIP_EXPORT int hipMallocManaged(void **pointer, size_t bytes,
                                      unsigned flags) {
  constexpr unsigned attachGlobal = 1, attachHost = 2;
  if (flags != attachGlobal && flags != attachHost)
    return finish(hip::ErrorInvalidValue,
                  "expected hipMemAttachGlobal or hipMemAttachHost, found " +
                      std::to_string(flags));
  if (int code = allocate(pointer, bytes))
    return code;
  // The host may write it without HIP seeing that.
  Runtime::get().getDevice().markInitialized(addressOf(*pointer), bytes);
  return 0;
}

/// Kernels still queued may use memory that is to go. Their errors stay with
/// their streams.
static void waitForEverything() {
  Runtime &runtime = Runtime::get();
  std::vector<Position> pending;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    pending = runtime.everything();
  }
  for (const Position &position : pending)
    position.wait();
}

static int freeHost(void *pointer) {
  Runtime &runtime = Runtime::get();
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    if (!runtime.hostAllocations.erase(pointer))
      return badPointer(pointer);
  }
  waitForEverything();
  int code = fromError(runtime.getDevice().unregisterHost(pointer));
  std::free(pointer);
  return code;
}

/// As AMD's: takes what hipHostMalloc gave, too.
NETRA_HIP_EXPORT int hipFree(void *pointer) {
  if (!pointer)
    return 0;
  if (int code = checkMayWait())
    return code;
  Runtime &runtime = Runtime::get();
  bool isHost;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    isHost = runtime.hostAllocations.count(pointer);
  }
  if (isHost)
    return freeHost(pointer);
  waitForEverything();
  if (llvm::Error error = runtime.getDevice().free(addressOf(pointer)))
    return finish(hip::ErrorInvalidValue, llvm::toString(std::move(error)));
  return 0;
}

NETRA_HIP_EXPORT int hipMallocAsync(void **pointer, size_t bytes,
                                    void *stream) {
  {
    Runtime &runtime = Runtime::get();
    std::lock_guard<std::mutex> guard(runtime.submission);
    std::shared_ptr<Stream> found;
    if (int code = findStream(stream, found))
      return code;
  }
  return allocate(pointer, bytes);
}

NETRA_HIP_EXPORT int hipFreeAsync(void *pointer, void *stream) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> found;
  if (int code = findStream(stream, found))
    return code;
  if (found->capture) {
    found->capture->invalidated = true;
    return finish(hip::ErrorStreamCaptureUnsupported,
                  "graphs that own memory are not supported by the simulator; "
                  "the capture is invalid now");
  }
  if (int code = checkGiven(pointer, "pointer"))
    return code;
  std::optional<sim::Allocation> owner =
      runtime.getDevice().find(addressOf(pointer));
  if (!owner || owner->address != addressOf(pointer))
    return badPointer(pointer);
  // Between here and the stream's coming to it.
  static std::mutex mutex;
  static std::set<const void *> toBeFreed;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!toBeFreed.insert(pointer).second)
      return badPointer(pointer);
  }
  runtime.enqueue(*found, [pointer](bool) {
    const int code =
        fromError(Runtime::get().getDevice().free(addressOf(pointer)));
    std::lock_guard<std::mutex> lock(mutex);
    toBeFreed.erase(pointer);
    return code;
  });
  return 0;
}

NETRA_HIP_EXPORT int hipHostMalloc(void **pointer, size_t bytes,
                                   unsigned flags) {
  if (int code = checkGiven(pointer, "place for the pointer"))
    return code;
  *pointer = nullptr;
  constexpr unsigned coherence = 0x40000000u | 0x80000000u; // on, off
  if ((flags & coherence) == coherence)
    return finish(hip::ErrorInvalidValue,
                  "hipHostMallocCoherent and hipHostMallocNonCoherent exclude "
                  "each other");
  if (int code = checkMayWait())
    return code;
  if (!bytes)
    return 0;
  constexpr size_t page = 4096;
  Runtime &runtime = Runtime::get();
  // The limit is the device's; memory that nobody has is refused here.
  void *memory =
      bytes > SIZE_MAX - page
          ? nullptr
          : std::aligned_alloc(page, (bytes + page - 1) / page * page);
  if (!memory)
    return finish(
        hip::ErrorOutOfMemory,
        llvm::formatv("the host has no {0} bytes of memory", bytes).str());
  if (llvm::Error error = runtime.getDevice().registerHost(memory, bytes)) {
    std::free(memory);
    return finish(hip::ErrorOutOfMemory, llvm::toString(std::move(error)));
  }
  std::lock_guard<std::mutex> guard(runtime.submission);
  runtime.hostAllocations[memory] = bytes;
  *pointer = memory;
  return 0;
}
NETRA_HIP_EXPORT int hipMallocHost(void **pointer, size_t bytes) {
  return hipHostMalloc(pointer, bytes, 0);
}
NETRA_HIP_EXPORT int hipMemAllocHost(void **pointer, size_t bytes) {
  return hipHostMalloc(pointer, bytes, 0);
}
NETRA_HIP_EXPORT int hipHostAlloc(void **pointer, size_t bytes,
                                  unsigned flags) {
  return hipHostMalloc(pointer, bytes, flags);
}

NETRA_HIP_EXPORT int hipHostFree(void *pointer) {
  if (!pointer)
    return 0;
  if (int code = checkMayWait())
    return code;
  return freeHost(pointer);
}
NETRA_HIP_EXPORT int hipFreeHost(void *pointer) { return hipHostFree(pointer); }

/// Rows of a whole number of 256 bytes.
NETRA_HIP_EXPORT int hipMallocPitch(void **pointer, size_t *pitch, size_t width,
                                    size_t height) {
  if (int code = checkGiven(pitch, "place for the pitch"))
    return code;
  size_t padded, bytes;
  if (__builtin_add_overflow(width, 255, &padded) ||
      __builtin_mul_overflow(padded &= ~size_t(255), height, &bytes))
    return finish(hip::ErrorOutOfMemory);
  *pitch = padded;
  return allocate(pointer, bytes);
}

NETRA_HIP_EXPORT int hipHostRegister(void *pointer, size_t bytes, unsigned) {
  if (int code = checkGiven(pointer, "pointer"))
    return code;
  if (!bytes)
    return finish(hip::ErrorInvalidValue, "0 bytes cannot be registered");
  if (int code = checkMayWait())
    return code;
  if (!isPageable(pointer))
    return finish(hip::ErrorHostMemoryAlreadyRegistered);
  return fromError(Runtime::get().getDevice().registerHost(pointer, bytes));
}

NETRA_HIP_EXPORT int hipHostUnregister(void *pointer) {
  if (int code = checkGiven(pointer, "pointer"))
    return code;
  if (int code = checkMayWait())
    return code;
  waitForEverything();
  if (llvm::Error error = Runtime::get().getDevice().unregisterHost(pointer))
    return finish(hip::ErrorHostMemoryNotRegistered,
                  llvm::toString(std::move(error)));
  return 0;
}

NETRA_HIP_EXPORT int hipHostGetDevicePointer(void **device, void *host,
                                             unsigned) {
  if (int code = checkGiven(device, "place for the device pointer"))
    return code;
  if (int code = checkGiven(host, "host pointer"))
    return code;
  if (isPageable(host))
    return badPointer(host);
  *device = host;
  return 0;
}

NETRA_HIP_EXPORT int hipPointerGetAttributes(hip::PointerAttribute *attributes,
                                             const void *pointer) {
  if (int code = checkGiven(attributes, "place for the attributes"))
    return code;
  const bool isNew = hipMajor() >= 6;
  Runtime &runtime = Runtime::get();
  std::optional<sim::Allocation> found =
      runtime.getDevice().find(addressOf(pointer));
  if (!found) {
    if (!isNew)
      return badPointer(pointer);
    *attributes = {hip::MemoryType6Unregistered, 0, nullptr, nullptr, 0, 0};
    return 0;
  }
  bool host;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    host = runtime.hostAllocations.count(
        reinterpret_cast<const void *>(found->address));
  }
  auto *address = const_cast<void *>(pointer);
  int type = isNew  ? host ? int(hip::MemoryType6Host) : hip::MemoryType6Device
             : host ? int(hip::MemoryTypeHost)
                    : hip::MemoryTypeDevice;
  *attributes = {type, 0, address, host ? address : nullptr, 0, 0};
  return 0;
}

NETRA_HIP_EXPORT int hipMemGetAddressRange(void **base, size_t *bytes,
                                           void *pointer) {
  std::optional<sim::Allocation> found =
      Runtime::get().getDevice().find(addressOf(pointer));
  if (!found)
    return badPointer(pointer, hip::ErrorInvalidDevicePointer);
  if (base)
    *base = reinterpret_cast<void *>(found->address);
  if (bytes)
    *bytes = found->bytes;
  return 0;
}

NETRA_HIP_EXPORT int hipMemPtrGetInfo(void *pointer, size_t *bytes) {
  if (int code = checkGiven(bytes, "place for the size"))
    return code;
  std::optional<sim::Allocation> found =
      Runtime::get().getDevice().find(addressOf(pointer));
  if (!found)
    return badPointer(pointer);
  *bytes = found->bytes;
  return 0;
}
