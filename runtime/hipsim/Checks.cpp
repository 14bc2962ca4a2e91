//===- Checks.cpp - Checks of arguments, shared by the whole API ----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "llvm/Support/FormatVariadic.h"

using namespace netra;
using namespace netra::hipsim;
using llvm::formatv;

int hipsim::checkGiven(const void *pointer, const char *what) {
  if (pointer)
    return 0;
  return finish(hip::ErrorInvalidValue, formatv("the {0} is null", what).str());
}

int hipsim::checkDevice(int device) {
  if (device == 0)
    return 0;
  return finish(
      hip::ErrorInvalidDevice,
      formatv("device {0} does not exist; the simulator has device 0", device)
          .str());
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

static int unknownHandle(int code, const char *what, const void *handle) {
  return finish(code, formatv("there is no {0} {1}: it was destroyed, or never "
                              "created",
                              what, handle)
                          .str());
}

namespace {
/// hipStreamLegacy and hipStreamPerThread.
constexpr uintptr_t legacyHandle = 1, perThreadHandle = 2;

/// The stream of a host thread; ends with the thread.
struct PerThreadStream {
  std::shared_ptr<Stream> stream;

  ~PerThreadStream() {
    if (!stream)
      return;
    Runtime &runtime = Runtime::get();
    std::lock_guard<std::mutex> guard(runtime.submission);
    runtime.streams.erase(stream.get());
    if (stream->capture)
      stream->capture->invalidated = true;
  }
};
} // namespace

int hipsim::findStream(void *handle, std::shared_ptr<Stream> &stream) {
  Runtime &runtime = Runtime::get();
  auto value = reinterpret_cast<uintptr_t>(handle);
  if (value == 0 || value == legacyHandle) {
    stream = runtime.defaultStream;
    return 0;
  }
  if (value == perThreadHandle) {
    static thread_local PerThreadStream own;
    if (!own.stream) {
      own.stream = std::make_shared<Stream>(hip::StreamDefault, 0);
      runtime.streams[own.stream.get()] = own.stream;
    }
    stream = own.stream;
    return 0;
  }
  auto found = runtime.streams.find(handle);
  if (found == runtime.streams.end())
    return unknownHandle(hip::ErrorContextIsDestroyed, "stream", handle);
  stream = found->second;
  return 0;
}

int hipsim::findEvent(void *handle, std::shared_ptr<Event> &event) {
  if (!handle)
    return finish(hip::ErrorInvalidHandle, "the event is null");
  Runtime &runtime = Runtime::get();
  auto found = runtime.events.find(handle);
  if (found == runtime.events.end())
    return unknownHandle(hip::ErrorContextIsDestroyed, "event", handle);
  event = found->second;
  return 0;
}

int hipsim::findGraph(void *handle, std::shared_ptr<Graph> &graph) {
  if (int code = checkGiven(handle, "graph"))
    return code;
  Runtime &runtime = Runtime::get();
  auto found = runtime.graphs.find(handle);
  if (found == runtime.graphs.end())
    return unknownHandle(hip::ErrorInvalidValue, "graph", handle);
  graph = found->second;
  return 0;
}

int hipsim::findNode(void *handle, GraphNode *&node) {
  if (int code = checkGiven(handle, "node"))
    return code;
  Runtime &runtime = Runtime::get();
  auto found = runtime.nodes.find(handle);
  if (found == runtime.nodes.end())
    return unknownHandle(hip::ErrorInvalidValue, "graph node", handle);
  node = found->second;
  return 0;
}

int hipsim::findNode(void *handle, hip::GraphNodeType kind, GraphNode *&node) {
  if (int code = findNode(handle, node))
    return code;
  if (node->kind != kind)
    return finish(
        hip::ErrorInvalidValue,
        formatv("the node has type {0}, this call is for nodes of type {1}",
                int(node->kind), int(kind))
            .str());
  return 0;
}

int hipsim::findExecutable(void *handle, Executable *&executable) {
  if (int code = checkGiven(handle, "executable graph"))
    return code;
  Runtime &runtime = Runtime::get();
  auto found = runtime.executables.find(handle);
  if (found == runtime.executables.end())
    return unknownHandle(hip::ErrorInvalidValue, "executable graph", handle);
  executable = found->second.get();
  return 0;
}

int hipsim::findFunction(void *handle, const Function *&function, int unknown) {
  Runtime &runtime = Runtime::get();
  auto found = runtime.functions.find(handle);
  if (found == runtime.functions.end())
    return finish(unknown, formatv("there is no function {0}: its module was "
                                   "unloaded, or never loaded",
                                   handle)
                               .str());
  function = found->second;
  return 0;
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

static thread_local unsigned hostFunctions = 0;

HostFunctionScope::HostFunctionScope() { ++hostFunctions; }
HostFunctionScope::~HostFunctionScope() { --hostFunctions; }

int &hipsim::threadCaptureMode() {
  static thread_local int mode = hip::StreamCaptureModeGlobal;
  return mode;
}

int hipsim::checkNotInHostFunction() {
  if (!hostFunctions)
    return 0;
  return finish(hip::ErrorNotSupported,
                "a host function of a stream may not make calls that wait for "
                "streams or change memory; it would wait for itself");
}

int hipsim::checkMayWait(int whileCapturing) {
  if (int code = checkNotInHostFunction())
    return code;
  if (threadCaptureMode() == hip::StreamCaptureModeRelaxed)
    return 0;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::erase_if(runtime.captures, [](auto &weak) { return weak.expired(); });
  for (const std::weak_ptr<Capture> &weak : runtime.captures) {
    std::shared_ptr<Capture> capture = weak.lock();
    if (!capture || capture->mode == hip::StreamCaptureModeRelaxed)
      continue;
    if (capture->thread != std::this_thread::get_id() &&
        (capture->mode == hip::StreamCaptureModeThreadLocal ||
         threadCaptureMode() == hip::StreamCaptureModeThreadLocal))
      continue;
    capture->invalidated = true;
    return finish(whileCapturing, "a stream is being captured, and this call "
                                  "is not allowed until hipStreamEndCapture; "
                                  "the capture is invalid now");
  }
  return 0;
}

int hipsim::checkMayWaitFor(Stream &stream) {
  if (int code = checkNotInHostFunction())
    return code;
  if (!stream.capture)
    return 0;
  stream.capture->invalidated = true;
  return finish(hip::ErrorStreamCaptureUnsupported,
                "the stream is being captured, so there is nothing to wait "
                "for; the capture is invalid now");
}

int hipsim::checkImplicitOrder() {
  Runtime &runtime = Runtime::get();
  for (const auto &[handle, stream] : runtime.streams) {
    if (!stream->capture || (stream->flags & hip::StreamNonBlocking))
      continue;
    stream->capture->invalidated = true;
    return finish(hip::ErrorStreamCaptureImplicit,
                  "work on the default stream comes after that of a blocking "
                  "stream which is being captured; the capture is invalid now");
  }
  return 0;
}
