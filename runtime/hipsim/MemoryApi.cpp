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

#include "State.h"

#include <cstdlib>
#include <cstring>

using namespace netra;
using namespace netra::hipsim;

namespace {

uint64_t addressOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

int allocate(void **pointer, size_t bytes) {
  if (!pointer)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  if (int code = runtime.forbidWhileCapturing())
    return finish(code);
  *pointer = nullptr;
  if (!bytes)
    return 0;
  llvm::Expected<uint64_t> address = runtime.getDevice().allocate(bytes);
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

/// Whether the host part of an asynchronous copy is memory that HIP does not
/// know. Such copies are staged, as the hardware's driver does it, so that the
/// caller may reuse the memory when the call returns.
bool isPageable(const void *pointer) {
  return !Runtime::get().getDevice().find(addressOf(pointer));
}

std::shared_ptr<GraphNode> copyNode(const CopyCall &call) {
  auto node = std::make_shared<GraphNode>();
  node->kind = GraphNode::Kind::Memcpy;
  node->copy = call;
  return node;
}

int copyNow(const CopyCall &call) {
  Runtime &runtime = Runtime::get();
  if (!call.bytes)
    return 0;
  if (int code = runtime.forbidWhileCapturing())
    return finish(code);
  if (int code = checkCopy(call))
    return finish(code);
  if (int code = submitNode(nullptr, copyNode(call), /*wait=*/true))
    return finish(code);
  // A blocking copy is where many programs first learn of a failed launch.
  std::shared_ptr<Stream> stream;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    stream = runtime.defaultStream;
  }
  return finish(stream->takeError());
}

int copyLater(const CopyCall &call, void *stream) {
  if (!call.bytes)
    return 0;
  if (int code = checkCopy(call))
    return finish(code);
  Runtime &runtime = Runtime::get();
  bool capturing = false;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    if (std::shared_ptr<Stream> found = runtime.findStream(stream))
      capturing = found->capture != nullptr;
  }
  if (!capturing && isPageable(call.source)) {
    // Taken now: the caller may change the memory right away.
    auto staged = std::make_shared<std::vector<char>>(call.bytes);
    std::memcpy(staged->data(), call.source, call.bytes);
    std::lock_guard<std::mutex> guard(runtime.submission);
    std::shared_ptr<Stream> found = runtime.findStream(stream);
    if (!found)
      return finish(hip::ErrorInvalidHandle);
    CopyCall copy = call;
    copy.source = staged->data();
    copy.kind = hip::MemcpyDefault;
    runtime.enqueue(*found, [copy, staged](bool) { return execute(copy); });
    return 0;
  }
  return finish(
      submitNode(stream, copyNode(call),
                 /*wait=*/!capturing && isPageable(call.destination)));
}

int fillLater(const FillCall &call, void *stream, bool wait) {
  if (!call.count)
    return 0;
  if (wait)
    if (int code = Runtime::get().forbidWhileCapturing())
      return finish(code);
  if (int code = checkFill(call))
    return finish(code);
  auto node = std::make_shared<GraphNode>();
  node->kind = GraphNode::Kind::Memset;
  node->fill = call;
  return finish(submitNode(stream, std::move(node), wait));
}

} // namespace

//===----------------------------------------------------------------------===//
// Copying and filling
//===----------------------------------------------------------------------===//

int hipsim::checkCopy(const CopyCall &call) {
  sim::Device &device = Runtime::get().getDevice();
  if (!call.destination || !call.source)
    return finish(hip::ErrorInvalidValue, "a pointer of the copy is null");
  if (call.kind < hip::MemcpyHostToHost || call.kind > hip::MemcpyDefault)
    return finish(hip::ErrorInvalidMemcpyDirection);
  auto check = [&](const void *pointer, bool mustBeDevice, const char *what) {
    uint64_t address = addressOf(pointer);
    if (device.contains(address, call.bytes))
      return 0;
    if (!device.find(address) && !mustBeDevice)
      return 0;
    return finish(hip::ErrorInvalidValue,
                  std::string("the ") + what + " of a copy of " +
                      std::to_string(call.bytes) +
                      " bytes is not inside one allocation of the device");
  };
  bool toDevice = call.kind == hip::MemcpyHostToDevice ||
                  call.kind == hip::MemcpyDeviceToDevice;
  bool fromDevice = call.kind == hip::MemcpyDeviceToHost ||
                    call.kind == hip::MemcpyDeviceToDevice;
  if (int code = check(call.destination, toDevice, "destination"))
    return code;
  return check(call.source, fromDevice, "source");
}

int hipsim::execute(const CopyCall &call) {
  sim::Device &device = Runtime::get().getDevice();
  uint64_t to = addressOf(call.destination), from = addressOf(call.source);
  bool toDevice = device.find(to).has_value();
  bool fromDevice = device.find(from).has_value();
  if (toDevice && fromDevice)
    return fromError(device.copy(to, from, call.bytes));
  if (toDevice)
    return fromError(device.copyIn(to, call.source, call.bytes));
  if (fromDevice)
    return fromError(device.copyOut(call.destination, from, call.bytes));
  if (call.kind != hip::MemcpyHostToHost && call.kind != hip::MemcpyDefault)
    return hip::ErrorInvalidValue; // freed since it was enqueued
  std::memmove(call.destination, call.source, call.bytes);
  return 0;
}

int hipsim::checkFill(const FillCall &call) {
  sim::Device &device = Runtime::get().getDevice();
  if (call.count > SIZE_MAX / call.width ||
      !device.contains(addressOf(call.destination), call.count * call.width))
    return finish(hip::ErrorInvalidValue,
                  "a memset is not inside one allocation of the device");
  return 0;
}

int hipsim::execute(const FillCall &call) {
  sim::Device &device = Runtime::get().getDevice();
  uint64_t address = addressOf(call.destination);
  size_t bytes = call.count * call.width;
  if (call.width == 1)
    return fromError(device.fill(address, uint8_t(call.value), bytes));
  auto *memory = static_cast<char *>(device.hostPointer(address, bytes));
  if (!memory)
    return hip::ErrorInvalidValue;
  for (size_t i = 0; i < call.count; ++i)
    std::memcpy(memory + i * call.width, &call.value, call.width);
  device.markInitialized(address, bytes);
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
  if (int code = hipMemcpyAsync(destination, source, bytes, kind, stream))
    return code;
  Runtime &runtime = Runtime::get();
  std::shared_ptr<Stream> found;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    found = runtime.findStream(stream);
  }
  found->last().wait();
  return finish(found->takeError());
}

NETRA_HIP_EXPORT int hipMemset(void *destination, int value, size_t bytes) {
  return fillLater({destination, uint32_t(value) & 0xff, 1, bytes}, nullptr,
                   true);
}
NETRA_HIP_EXPORT int hipMemsetAsync(void *destination, int value, size_t bytes,
                                    void *stream) {
  return fillLater({destination, uint32_t(value) & 0xff, 1, bytes}, stream,
                   false);
}
NETRA_HIP_EXPORT int hipMemsetD8(void *destination, unsigned char value,
                                 size_t count) {
  return fillLater({destination, value, 1, count}, nullptr, true);
}
NETRA_HIP_EXPORT int hipMemsetD16(void *destination, unsigned short value,
                                  size_t count) {
  return fillLater({destination, value, 2, count}, nullptr, true);
}
NETRA_HIP_EXPORT int hipMemsetD32(void *destination, int value, size_t count) {
  return fillLater({destination, uint32_t(value), 4, count}, nullptr, true);
}
NETRA_HIP_EXPORT int hipMemsetD8Async(void *destination, unsigned char value,
                                      size_t count, void *stream) {
  return fillLater({destination, value, 1, count}, stream, false);
}
NETRA_HIP_EXPORT int hipMemsetD16Async(void *destination, unsigned short value,
                                       size_t count, void *stream) {
  return fillLater({destination, value, 2, count}, stream, false);
}
NETRA_HIP_EXPORT int hipMemsetD32Async(void *destination, int value,
                                       size_t count, void *stream) {
  return fillLater({destination, uint32_t(value), 4, count}, stream, false);
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

NETRA_HIP_EXPORT int hipMallocManaged(void **pointer, size_t bytes, unsigned) {
  if (int code = allocate(pointer, bytes))
    return code;
  // The host may write it without HIP seeing that.
  Runtime::get().getDevice().markInitialized(addressOf(*pointer), bytes);
  return 0;
}

NETRA_HIP_EXPORT int hipFree(void *pointer) {
  if (!pointer)
    return 0;
  Runtime &runtime = Runtime::get();
  if (int code = runtime.forbidWhileCapturing())
    return finish(code);
  // Kernels still queued may use it. Their errors stay with their streams.
  std::vector<Position> pending;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    if (runtime.hostAllocations.count(pointer))
      return finish(hip::ErrorInvalidValue,
                    "host memory is freed with hipHostFree");
    pending.push_back(runtime.defaultStream->last());
    for (const auto &[handle, stream] : runtime.streams)
      pending.push_back(stream->last());
  }
  for (const Position &position : pending)
    position.wait();
  if (llvm::Error error = runtime.getDevice().free(addressOf(pointer)))
    return finish(hip::ErrorInvalidValue, llvm::toString(std::move(error)));
  return 0;
}

NETRA_HIP_EXPORT int hipMallocAsync(void **pointer, size_t bytes,
                                    void *stream) {
  {
    Runtime &runtime = Runtime::get();
    std::lock_guard<std::mutex> guard(runtime.submission);
    if (!runtime.findStream(stream))
      return finish(hip::ErrorInvalidHandle);
  }
  return allocate(pointer, bytes);
}

NETRA_HIP_EXPORT int hipFreeAsync(void *pointer, void *stream) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> found = runtime.findStream(stream);
  if (!found)
    return finish(hip::ErrorInvalidHandle);
  if (found->capture)
    return finish(hip::ErrorStreamCaptureUnsupported);
  if (!pointer)
    return finish(hip::ErrorInvalidValue);
  runtime.enqueue(*found, [pointer](bool) {
    return fromError(Runtime::get().getDevice().free(addressOf(pointer)));
  });
  return 0;
}

NETRA_HIP_EXPORT int hipHostMalloc(void **pointer, size_t bytes, unsigned) {
  if (!pointer)
    return finish(hip::ErrorInvalidValue);
  *pointer = nullptr;
  if (!bytes)
    return 0;
  constexpr size_t page = 4096;
  if (bytes > SIZE_MAX - page)
    return finish(hip::ErrorOutOfMemory);
  void *memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  if (!memory)
    return finish(hip::ErrorOutOfMemory);
  Runtime &runtime = Runtime::get();
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
NETRA_HIP_EXPORT int hipHostAlloc(void **pointer, size_t bytes,
                                  unsigned flags) {
  return hipHostMalloc(pointer, bytes, flags);
}

NETRA_HIP_EXPORT int hipHostFree(void *pointer) {
  if (!pointer)
    return 0;
  Runtime &runtime = Runtime::get();
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    if (!runtime.hostAllocations.erase(pointer))
      return finish(hip::ErrorInvalidValue,
                    "the pointer was not returned by hipHostMalloc");
  }
  runtime.synchronizeAll();
  int code = fromError(runtime.getDevice().unregisterHost(pointer));
  std::free(pointer);
  return code;
}
NETRA_HIP_EXPORT int hipFreeHost(void *pointer) { return hipHostFree(pointer); }

NETRA_HIP_EXPORT int hipHostRegister(void *pointer, size_t bytes, unsigned) {
  if (!pointer || !bytes)
    return finish(hip::ErrorInvalidValue);
  return fromError(Runtime::get().getDevice().registerHost(pointer, bytes));
}

NETRA_HIP_EXPORT int hipHostUnregister(void *pointer) {
  Runtime::get().synchronizeAll();
  return fromError(Runtime::get().getDevice().unregisterHost(pointer));
}

NETRA_HIP_EXPORT int hipHostGetDevicePointer(void **device, void *host,
                                             unsigned) {
  if (!device || !host)
    return finish(hip::ErrorInvalidValue);
  if (!Runtime::get().getDevice().find(addressOf(host)))
    return finish(hip::ErrorInvalidValue, "the host memory is not registered");
  *device = host;
  return 0;
}

NETRA_HIP_EXPORT int hipPointerGetAttributes(hip::PointerAttribute *attributes,
                                             const void *pointer) {
  if (!attributes)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::optional<sim::Allocation> found =
      runtime.getDevice().find(addressOf(pointer));
  if (!found)
    return finish(hip::ErrorInvalidValue, "the pointer is not known");
  bool host;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    host = runtime.hostAllocations.count(
        reinterpret_cast<const void *>(found->address));
  }
  auto *address = const_cast<void *>(pointer);
  *attributes = {host ? hip::MemoryTypeHost : hip::MemoryTypeDevice,
                 0,
                 address,
                 host ? address : nullptr,
                 0,
                 0};
  return 0;
}

NETRA_HIP_EXPORT int hipMemGetAddressRange(void **base, size_t *bytes,
                                           void *pointer) {
  std::optional<sim::Allocation> found =
      Runtime::get().getDevice().find(addressOf(pointer));
  if (!found)
    return finish(hip::ErrorInvalidValue, "the pointer is not known");
  if (base)
    *base = reinterpret_cast<void *>(found->address);
  if (bytes)
    *bytes = found->bytes;
  return 0;
}

NETRA_HIP_EXPORT int hipMemPtrGetInfo(void *pointer, size_t *bytes) {
  if (!bytes)
    return finish(hip::ErrorInvalidValue);
  return hipMemGetAddressRange(nullptr, bytes, pointer);
}
