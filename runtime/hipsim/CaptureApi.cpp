//===- CaptureApi.cpp - HIP: capture of streams ---------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include <unordered_set>

using namespace netra;
using namespace netra::hipsim;

namespace {

/// Ends the part that every stream plays in a capture. Holds `submission`.
void leaveCapture(Runtime &runtime, const std::shared_ptr<Capture> &capture) {
  capture->isEnded = true;
  for (const auto &[handle, stream] : runtime.streams)
    if (stream->capture == capture) {
      stream->capture = nullptr;
      stream->captureLeaves.clear();
    }
}

/// Whether every node leads to one of `leaves`. In a capture, edges come from
/// earlier nodes only.
bool isJoined(const Graph &graph, const std::vector<GraphNode *> &leaves) {
  std::unordered_set<const GraphNode *> reached(leaves.begin(), leaves.end());
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const GraphNode &node = *graph.nodes[i];
    if (!reached.count(&node))
      return false;
    reached.insert(node.after.begin(), node.after.end());
  }
  return true;
}

int checkMode(int mode) {
  if (mode >= hip::StreamCaptureModeGlobal &&
      mode <= hip::StreamCaptureModeRelaxed)
    return 0;
  return finish(hip::ErrorInvalidValue,
                "expected a mode of capture from 0 to 2, found " +
                    std::to_string(mode));
}

} // namespace

NETRA_HIP_EXPORT int hipThreadExchangeStreamCaptureMode(int *mode) {
  if (int code = checkGiven(mode, "mode"))
    return code;
  if (int code = checkMode(*mode))
    return code;
  std::swap(*mode, threadCaptureMode());
  return 0;
}

NETRA_HIP_EXPORT int hipStreamBeginCapture(void *handle, int mode) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream;
  if (int code = findStream(handle, stream))
    return code;
  if (stream == runtime.defaultStream)
    return finish(hip::ErrorStreamCaptureUnsupported,
                  "the default stream cannot be captured");
  if (int code = checkMode(mode))
    return code;
  if (stream->capture)
    return finish(hip::ErrorIllegalState,
                  "the stream is being captured already");
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream.get();
  stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  stream->captureLeaves.clear();
  runtime.captures.push_back(stream->capture);
  return 0;
}

NETRA_HIP_EXPORT int hipStreamEndCapture(void *handle, void **graph) {
  if (int code = checkGiven(graph, "place for the graph"))
    return code;
  *graph = nullptr;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream;
  if (int code = findStream(handle, stream))
    return code;
  std::shared_ptr<Capture> capture = stream->capture;
  if (!capture)
    return finish(hip::ErrorIllegalState, "the stream is not being captured");
  if (capture->origin != stream.get())
    return finish(hip::ErrorStreamCaptureUnmatched,
                  "the capture began in another stream, and ends there");
  if (capture->mode != hip::StreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id())
    return finish(hip::ErrorStreamCaptureWrongThread);
  std::vector<GraphNode *> leaves = stream->captureLeaves;
  leaveCapture(runtime, capture);
  std::erase_if(runtime.captures,
                [&](auto &weak) { return weak.lock() == capture; });
  if (capture->invalidated)
    return finish(hip::ErrorStreamCaptureInvalidated);
  if (!isJoined(*capture->graph, leaves))
    return finish(hip::ErrorStreamCaptureUnjoined,
                  "work of a forked stream was not joined by an event to the "
                  "stream in which the capture began");
  *graph = capture->graph.get();
  runtime.addGraph(std::move(capture->graph));
  return 0;
}

NETRA_HIP_EXPORT int hipStreamGetCaptureInfo(void *handle, int *status,
                                             unsigned long long *id) {
  return readStream(
      handle, status, "place for the status", [&](Stream &stream) {
        const Capture *capture = stream.capture.get();
        *status = !capture               ? hip::StreamCaptureStatusNone
                  : capture->invalidated ? hip::StreamCaptureStatusInvalidated
                                         : hip::StreamCaptureStatusActive;
        if (id && capture)
          *id = reinterpret_cast<uintptr_t>(capture);
      });
}

NETRA_HIP_EXPORT int hipStreamIsCapturing(void *handle, int *status) {
  return hipStreamGetCaptureInfo(handle, status, nullptr);
}
