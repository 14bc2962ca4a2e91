//===- StreamApi.cpp - HIP: streams, events, capture ----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "State.h"

using namespace netra;
using namespace netra::hipsim;

namespace {

std::vector<size_t> merge(std::vector<size_t> a, const std::vector<size_t> &b) {
  for (size_t item : b)
    if (std::find(a.begin(), a.end(), item) == a.end())
      a.push_back(item);
  return a;
}

/// Ends the part that every stream plays in a capture. Holds `submission`.
void leaveCapture(Runtime &runtime, const std::shared_ptr<Capture> &capture) {
  auto leave = [&](Stream &stream) {
    if (stream.capture == capture) {
      stream.capture = nullptr;
      stream.captureLeaves.clear();
    }
  };
  for (const auto &[handle, stream] : runtime.streams)
    leave(*stream);
}

/// Whether every node leads to one of `leaves`.
bool isJoined(const Graph &graph, const std::vector<size_t> &leaves) {
  std::vector<bool> reached(graph.nodes.size(), false);
  for (size_t leaf : leaves)
    reached[leaf] = true;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (!reached[i])
      return false;
    for (size_t before : graph.nodes[i]->after)
      reached[before] = true;
  }
  return true;
}

int createStream(void **stream, unsigned flags, int priority) {
  if (!stream || (flags & ~hip::StreamNonBlocking))
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  auto created = std::make_shared<Stream>(flags, priority);
  *stream = created.get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  runtime.streams[created.get()] = std::move(created);
  return 0;
}

} // namespace

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

NETRA_HIP_EXPORT int hipStreamCreate(void **stream) {
  return createStream(stream, hip::StreamDefault, 0);
}
NETRA_HIP_EXPORT int hipStreamCreateWithFlags(void **stream, unsigned flags) {
  return createStream(stream, flags, 0);
}
NETRA_HIP_EXPORT int hipStreamCreateWithPriority(void **stream, unsigned flags,
                                                 int priority) {
  return createStream(stream, flags, priority);
}

NETRA_HIP_EXPORT int hipDeviceGetStreamPriorityRange(int *least,
                                                     int *greatest) {
  if (least)
    *least = 1;
  if (greatest)
    *greatest = -1;
  return 0;
}

NETRA_HIP_EXPORT int hipStreamDestroy(void *handle) {
  Runtime &runtime = Runtime::get();
  std::shared_ptr<Stream> stream;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    auto found = runtime.streams.find(handle);
    if (found == runtime.streams.end())
      return finish(hip::ErrorInvalidHandle, "the stream does not exist");
    stream = std::move(found->second);
    runtime.streams.erase(found);
    if (stream->capture)
      stream->capture->invalidated = true;
  }
  // Its queue is finished by the destructor; an error has no one to go to.
  return 0;
}

NETRA_HIP_EXPORT int hipStreamSynchronize(void *handle) {
  Runtime &runtime = Runtime::get();
  std::vector<std::shared_ptr<Stream>> waitFor;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    std::shared_ptr<Stream> stream = runtime.findStream(handle);
    if (!stream)
      return finish(hip::ErrorInvalidHandle, "the stream does not exist");
    if (stream->capture) {
      stream->capture->invalidated = true;
      return finish(hip::ErrorStreamCaptureUnsupported);
    }
    waitFor.push_back(stream);
    // The default stream orders itself after all blocking ones.
    if (stream == runtime.defaultStream)
      for (const auto &[key, other] : runtime.streams)
        if (!(other->flags & hip::StreamNonBlocking))
          waitFor.push_back(other);
  }
  for (const std::shared_ptr<Stream> &stream : waitFor)
    stream->last().wait();
  int first = 0;
  for (const std::shared_ptr<Stream> &stream : waitFor)
    if (int code = stream->takeError(); code && !first)
      first = code;
  return finish(first);
}

NETRA_HIP_EXPORT int hipStreamQuery(void *handle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream = runtime.findStream(handle);
  if (!stream)
    return finish(hip::ErrorInvalidHandle, "the stream does not exist");
  if (stream->capture) {
    stream->capture->invalidated = true;
    return finish(hip::ErrorStreamCaptureUnsupported);
  }
  if (!stream->last().reached())
    return finish(hip::ErrorNotReady);
  return finish(stream->takeError());
}

NETRA_HIP_EXPORT int hipStreamGetFlags(void *handle, unsigned *flags) {
  if (!flags)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream = runtime.findStream(handle);
  if (!stream)
    return finish(hip::ErrorInvalidHandle);
  *flags = stream->flags;
  return 0;
}

NETRA_HIP_EXPORT int hipStreamGetPriority(void *handle, int *priority) {
  if (!priority)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream = runtime.findStream(handle);
  if (!stream)
    return finish(hip::ErrorInvalidHandle);
  *priority = stream->priority;
  return 0;
}

NETRA_HIP_EXPORT int hipLaunchHostFunc(void *stream, void (*function)(void *),
                                       void *user) {
  if (!function)
    return finish(hip::ErrorInvalidValue);
  auto node = std::make_shared<GraphNode>();
  node->kind = GraphNode::Kind::Host;
  node->host = {function, user};
  return finish(submitNode(stream, std::move(node)));
}

NETRA_HIP_EXPORT int hipStreamAddCallback(void *handle,
                                          void (*callback)(void *, int, void *),
                                          void *user, unsigned flags) {
  if (!callback || flags)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream = runtime.findStream(handle);
  if (!stream)
    return finish(hip::ErrorInvalidHandle);
  if (stream->capture)
    return finish(hip::ErrorStreamCaptureUnsupported);
  runtime.enqueue(*stream, [=](bool faulted) {
    callback(handle, faulted ? int(hip::ErrorLaunchFailure) : 0, user);
    return 0;
  });
  return 0;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

NETRA_HIP_EXPORT int hipEventCreateWithFlags(void **event, unsigned flags) {
  if (!event)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  auto created = std::make_shared<Event>();
  created->flags = flags;
  *event = created.get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  runtime.events[created.get()] = std::move(created);
  return 0;
}
NETRA_HIP_EXPORT int hipEventCreate(void **event) {
  return hipEventCreateWithFlags(event, hip::EventDefault);
}

NETRA_HIP_EXPORT int hipEventDestroy(void *handle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  if (!runtime.events.erase(handle))
    return finish(hip::ErrorInvalidHandle, "the event does not exist");
  return 0;
}

NETRA_HIP_EXPORT int hipEventRecord(void *handle, void *streamHandle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto found = runtime.events.find(handle);
  std::shared_ptr<Stream> stream = runtime.findStream(streamHandle);
  if (found == runtime.events.end() || !stream)
    return finish(hip::ErrorInvalidHandle,
                  "the event or stream does not exist");
  Event &event = *found->second;
  if (stream->capture) {
    event.capture = stream->capture;
    event.captureLeaves = stream->captureLeaves;
    event.recording = nullptr;
    return 0;
  }
  auto recording = std::make_shared<Recording>();
  recording->position = runtime.enqueue(*stream, [recording](bool) {
    recording->time = std::chrono::steady_clock::now();
    recording->done = true;
    return 0;
  });
  event.recording = std::move(recording);
  event.capture = nullptr;
  event.captureLeaves.clear();
  return 0;
}

/// The current recording of an event, or why there is none to look at.
static int recordingOf(void *handle, std::shared_ptr<Recording> &recording) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto found = runtime.events.find(handle);
  if (found == runtime.events.end())
    return finish(hip::ErrorInvalidHandle, "the event does not exist");
  if (found->second->capture)
    return finish(hip::ErrorCapturedEvent);
  recording = found->second->recording;
  return 0;
}

NETRA_HIP_EXPORT int hipEventSynchronize(void *handle) {
  std::shared_ptr<Recording> recording;
  if (int code = recordingOf(handle, recording))
    return code;
  if (recording)
    recording->position.wait();
  return 0;
}

NETRA_HIP_EXPORT int hipEventQuery(void *handle) {
  std::shared_ptr<Recording> recording;
  if (int code = recordingOf(handle, recording))
    return code;
  if (recording && !recording->position.reached())
    return finish(hip::ErrorNotReady);
  return 0;
}

NETRA_HIP_EXPORT int hipEventElapsedTime(float *milliseconds, void *start,
                                         void *stop) {
  if (!milliseconds)
    return finish(hip::ErrorInvalidValue);
  std::shared_ptr<Recording> from, to;
  if (int code = recordingOf(start, from))
    return code;
  if (int code = recordingOf(stop, to))
    return code;
  if (!from || !to)
    return finish(hip::ErrorInvalidHandle, "an event was not recorded");
  {
    Runtime &runtime = Runtime::get();
    std::lock_guard<std::mutex> guard(runtime.submission);
    for (void *handle : {start, stop})
      if (auto found = runtime.events.find(handle);
          found != runtime.events.end() &&
          (found->second->flags & hip::EventDisableTiming))
        return finish(hip::ErrorInvalidHandle,
                      "an event was created without timing");
  }
  if (!from->done || !to->done)
    return finish(hip::ErrorNotReady);
  *milliseconds =
      std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return 0;
}

NETRA_HIP_EXPORT int hipStreamWaitEvent(void *streamHandle, void *eventHandle,
                                        unsigned flags) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  auto found = runtime.events.find(eventHandle);
  std::shared_ptr<Stream> stream = runtime.findStream(streamHandle);
  if (found == runtime.events.end() || !stream)
    return finish(hip::ErrorInvalidHandle,
                  "the event or stream does not exist");
  if (flags)
    return finish(hip::ErrorInvalidValue);
  Event &event = *found->second;
  if (event.capture) {
    if (stream->capture && stream->capture != event.capture) {
      stream->capture->invalidated = event.capture->invalidated = true;
      return finish(hip::ErrorStreamCaptureMerge);
    }
    if (stream == runtime.defaultStream) {
      event.capture->invalidated = true;
      return finish(hip::ErrorStreamCaptureImplicit);
    }
    // The event draws the stream into its capture.
    stream->capture = event.capture;
    stream->captureLeaves = merge(stream->captureLeaves, event.captureLeaves);
    return 0;
  }
  if (stream->capture) {
    if (!event.recording)
      return 0;
    stream->capture->invalidated = true;
    return finish(hip::ErrorStreamCaptureIsolation);
  }
  if (event.recording)
    runtime.enqueue(*stream, [](bool) { return 0; },
                    {event.recording->position});
  return 0;
}

//===----------------------------------------------------------------------===//
// Capture
//===----------------------------------------------------------------------===//

NETRA_HIP_EXPORT int hipStreamBeginCapture(void *handle, int mode) {
  if (mode < hip::StreamCaptureModeGlobal ||
      mode > hip::StreamCaptureModeRelaxed)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream = runtime.findStream(handle);
  if (!stream)
    return finish(hip::ErrorInvalidHandle, "the stream does not exist");
  if (stream == runtime.defaultStream)
    return finish(hip::ErrorStreamCaptureUnsupported,
                  "the default stream cannot be captured");
  if (stream->capture)
    return finish(hip::ErrorIllegalState, "the stream is capturing already");
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream.get();
  stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  stream->captureLeaves.clear();
  runtime.captures.push_back(stream->capture);
  return 0;
}

NETRA_HIP_EXPORT int hipStreamEndCapture(void *handle, void **graph) {
  if (!graph)
    return finish(hip::ErrorInvalidValue);
  *graph = nullptr;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream = runtime.findStream(handle);
  if (!stream)
    return finish(hip::ErrorInvalidHandle, "the stream does not exist");
  std::shared_ptr<Capture> capture = stream->capture;
  if (!capture)
    return finish(hip::ErrorIllegalState, "the stream is not capturing");
  if (capture->origin != stream.get())
    return finish(hip::ErrorStreamCaptureUnmatched);
  if (capture->mode != hip::StreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id())
    return finish(hip::ErrorStreamCaptureWrongThread);
  std::vector<size_t> leaves = stream->captureLeaves;
  leaveCapture(runtime, capture);
  std::erase_if(runtime.captures,
                [&](auto &weak) { return weak.lock() == capture; });
  if (capture->invalidated)
    return finish(hip::ErrorStreamCaptureInvalidated);
  if (!isJoined(*capture->graph, leaves))
    return finish(hip::ErrorStreamCaptureUnjoined);
  *graph = capture->graph.get();
  runtime.graphs[capture->graph.get()] = std::move(capture->graph);
  return 0;
}

NETRA_HIP_EXPORT int hipStreamIsCapturing(void *handle, int *status) {
  if (!status)
    return finish(hip::ErrorInvalidValue);
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream = runtime.findStream(handle);
  if (!stream)
    return finish(hip::ErrorInvalidHandle);
  *status = !stream->capture               ? hip::StreamCaptureStatusNone
            : stream->capture->invalidated ? hip::StreamCaptureStatusInvalidated
                                           : hip::StreamCaptureStatusActive;
  return 0;
}

NETRA_HIP_EXPORT int hipStreamGetCaptureInfo(void *handle, int *status,
                                             unsigned long long *id) {
  if (int code = hipStreamIsCapturing(handle, status))
    return code;
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream = runtime.findStream(handle);
  if (id && stream && stream->capture)
    *id = reinterpret_cast<uintptr_t>(stream->capture.get());
  return 0;
}
