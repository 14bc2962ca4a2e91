//===- StreamApi.cpp - HIP: streams and events ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

using namespace netra;
using namespace netra::hipsim;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static int createStream(void **stream, unsigned flags, int priority) {
  if (int code = checkGiven(stream, "place for the stream"))
    return code;
  if (flags != hip::StreamDefault && flags != hip::StreamNonBlocking)
    return finish(hip::ErrorInvalidValue,
                  "expected hipStreamDefault or hipStreamNonBlocking, found " +
                      std::to_string(flags));
  Runtime &runtime = Runtime::get();
  std::shared_ptr<Stream> created;
  try {
    created = std::make_shared<Stream>(flags, priority);
  } catch (const std::exception &error) { // no thread, or no memory for it
    return finish(hip::ErrorOutOfMemory,
                  std::string("cannot start a stream's thread: ") +
                      error.what());
  }
  *stream = created.get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  runtime.streams[created.get()] = std::move(created);
  return 0;
}

NETRA_HIP_EXPORT int hipStreamCreate(void **stream) {
  return createStream(stream, hip::StreamDefault, 0);
}
NETRA_HIP_EXPORT int hipStreamCreateWithFlags(void **stream, unsigned flags) {
  return createStream(stream, flags, 0);
}
NETRA_HIP_EXPORT int hipStreamCreateWithPriority(void **stream, unsigned flags,
                                                 int priority) {
  return createStream(stream, flags, std::clamp(priority, -1, 1));
}

NETRA_HIP_EXPORT int hipDeviceGetStreamPriorityRange(int *least,
                                                     int *greatest) {
  if (least)
    *least = 1;
  if (greatest)
    *greatest = -1;
  return 0;
}

static const char streamFailed[] =
    "work of the stream failed; the report on stderr says what it was";

NETRA_HIP_EXPORT int hipStreamDestroy(void *handle) {
  Runtime &runtime = Runtime::get();
  std::shared_ptr<Stream> stream;
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    // Legacy and per-thread streams are small numbers.
    if (reinterpret_cast<uintptr_t>(handle) <= 2)
      return finish(hip::ErrorInvalidHandle,
                    "the default and the per-thread stream are not destroyed");
    if (int code = findStream(handle, stream))
      return code;
    if (stream->isCurrent())
      return finish(hip::ErrorNotSupported,
                    "a stream cannot be destroyed by its own host function");
    runtime.streams.erase(handle);
    if (stream->capture)
      stream->capture->invalidated = true;
  }
  // Nobody else can ask for the errors of what is still queued.
  stream->last().wait();
  return finish(stream->takeError(), streamFailed);
}

NETRA_HIP_EXPORT int hipStreamSynchronize(void *handle) {
  Runtime &runtime = Runtime::get();
  std::vector<std::shared_ptr<Stream>> waitFor(1);
  {
    std::lock_guard<std::mutex> guard(runtime.submission);
    if (int code = findStream(handle, waitFor[0]))
      return code;
    if (int code = checkMayWaitFor(*waitFor[0]))
      return code;
    // The default stream orders itself after all blocking ones.
    if (waitFor[0] == runtime.defaultStream)
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
  return finish(first, streamFailed);
}

NETRA_HIP_EXPORT int hipStreamQuery(void *handle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream;
  if (int code = findStream(handle, stream))
    return code;
  if (int code = checkMayWaitFor(*stream))
    return code;
  if (!stream->last().reached())
    return finish(hip::ErrorNotReady);
  return finish(stream->takeError());
}

NETRA_HIP_EXPORT int hipStreamGetFlags(void *handle, unsigned *flags) {
  return readStream(handle, flags, "place for the flags",
                    [&](Stream &stream) { *flags = stream.flags; });
}

NETRA_HIP_EXPORT int hipStreamGetPriority(void *handle, int *priority) {
  return readStream(handle, priority, "place for the priority",
                    [&](Stream &stream) { *priority = stream.priority; });
}

NETRA_HIP_EXPORT int hipLaunchHostFunc(void *stream, void (*function)(void *),
                                       void *user) {
  if (int code =
          checkGiven(reinterpret_cast<const void *>(function), "function"))
    return code;
  auto node = std::make_shared<GraphNode>();
  node->kind = hip::GraphNodeTypeHost;
  node->host = {function, user};
  return submitNode(stream, std::move(node));
}

NETRA_HIP_EXPORT int hipStreamAddCallback(void *handle,
                                          void (*callback)(void *, int, void *),
                                          void *user, unsigned flags) {
  if (int code =
          checkGiven(reinterpret_cast<const void *>(callback), "callback"))
    return code;
  if (flags)
    return finish(hip::ErrorInvalidValue,
                  "expected 0 for the flags, found " + std::to_string(flags));
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Stream> stream;
  if (int code = findStream(handle, stream))
    return code;
  if (stream->capture) {
    stream->capture->invalidated = true;
    return finish(hip::ErrorStreamCaptureUnsupported,
                  "hipStreamAddCallback cannot be captured; "
                  "hipLaunchHostFunc can. The capture is invalid now");
  }
  runtime.enqueue(*stream, [=](bool faulted) {
    HostFunctionScope scope;
    callback(handle, faulted ? int(hip::ErrorLaunchFailure) : 0, user);
    return 0;
  });
  return 0;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

NETRA_HIP_EXPORT int hipEventCreateWithFlags(void **event, unsigned flags) {
  if (int code = checkGiven(event, "place for the event"))
    return code;
  constexpr unsigned release =
      hip::EventReleaseToDevice | hip::EventReleaseToSystem;
  constexpr unsigned known = hip::EventBlockingSync | hip::EventDisableTiming |
                             hip::EventDisableSystemFence | release;
  if (flags & hip::EventInterprocess)
    return finish(hip::ErrorNotSupported,
                  "events between processes (hipEventInterprocess) are not "
                  "supported by the simulator");
  if ((flags & ~known) || (flags & release) == release)
    return finish(hip::ErrorInvalidValue,
                  "the event's flags " + std::to_string(flags) +
                      " are unknown or exclude each other");
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
  std::shared_ptr<Event> event;
  if (int code = findEvent(handle, event))
    return code;
  runtime.events.erase(handle);
  return 0;
}

NETRA_HIP_EXPORT int hipEventRecord(void *handle, void *streamHandle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Event> event;
  if (int code = findEvent(handle, event))
    return code;
  std::shared_ptr<Stream> stream;
  if (int code = findStream(streamHandle, stream))
    return code;
  if (stream->capture) {
    event->capture = stream->capture;
    event->captureLeaves = stream->captureLeaves;
    event->recording = nullptr;
    return 0;
  }
  auto recording = std::make_shared<Recording>();
  recording->stream = stream;
  recording->position = runtime.enqueue(*stream, [recording](bool) {
    recording->time = std::chrono::steady_clock::now();
    recording->done = true;
    return 0;
  });
  event->recording = std::move(recording);
  event->capture = nullptr;
  event->captureLeaves.clear();
  return 0;
}

/// The current recording of an event, if there is one to look at. Holds
/// `submission`.
static int findRecording(void *handle, std::shared_ptr<Event> &event,
                         std::shared_ptr<Recording> &recording) {
  if (int code = findEvent(handle, event))
    return code;
  if (event->capture)
    return finish(hip::ErrorCapturedEvent,
                  "the event was last recorded in a captured stream, so that "
                  "no execution belongs to it");
  recording = event->recording;
  return 0;
}

/// The errors of the stream that has reached a recording.
static int errorsOf(const Recording *recording) {
  std::shared_ptr<Stream> stream;
  if (recording)
    stream = recording->stream.lock();
  return stream ? finish(stream->takeError(), streamFailed) : 0;
}

static int findRecording(void *handle, std::shared_ptr<Recording> &recording) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Event> event;
  return findRecording(handle, event, recording);
}

NETRA_HIP_EXPORT int hipEventSynchronize(void *handle) {
  std::shared_ptr<Recording> recording;
  if (int code = findRecording(handle, recording))
    return code;
  if (recording && !recording->position.reached()) {
    if (int code = checkNotInHostFunction())
      return code;
    recording->position.wait();
  }
  return errorsOf(recording.get());
}

NETRA_HIP_EXPORT int hipEventQuery(void *handle) {
  std::shared_ptr<Recording> recording;
  if (int code = findRecording(handle, recording))
    return code;
  if (recording && !recording->position.reached())
    return finish(hip::ErrorNotReady);
  return errorsOf(recording.get());
}

NETRA_HIP_EXPORT int hipEventElapsedTime(float *milliseconds, void *start,
                                         void *stop) {
  if (int code = checkGiven(milliseconds, "place for the time"))
    return code;
  std::shared_ptr<Recording> from, to;
  {
    Runtime &runtime = Runtime::get();
    std::lock_guard<std::mutex> guard(runtime.submission);
    std::shared_ptr<Event> first, last;
    if (int code = findRecording(start, first, from))
      return code;
    if (int code = findRecording(stop, last, to))
      return code;
    if ((first->flags | last->flags) & hip::EventDisableTiming)
      return finish(hip::ErrorInvalidHandle,
                    "an event was created without timing");
  }
  if (!from || !to)
    return finish(hip::ErrorInvalidHandle, "an event was never recorded");
  if (!from->done || !to->done)
    return finish(hip::ErrorNotReady);
  *milliseconds =
      std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return 0;
}

static std::vector<GraphNode *> merge(std::vector<GraphNode *> a,
                                      const std::vector<GraphNode *> &b) {
  for (GraphNode *item : b)
    if (std::find(a.begin(), a.end(), item) == a.end())
      a.push_back(item);
  return a;
}

NETRA_HIP_EXPORT int hipStreamWaitEvent(void *streamHandle, void *eventHandle,
                                        unsigned flags) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::mutex> guard(runtime.submission);
  std::shared_ptr<Event> event;
  if (int code = findEvent(eventHandle, event))
    return code;
  if (flags)
    return finish(hip::ErrorInvalidValue,
                  "expected 0 for the flags, found " + std::to_string(flags));
  std::shared_ptr<Stream> stream;
  if (int code = findStream(streamHandle, stream))
    return code;
  if (event->capture) {
    if (event->capture->isEnded)
      return finish(hip::ErrorCapturedEvent,
                    "the event was last recorded in a capture that has ended");
    if (stream->capture && stream->capture != event->capture) {
      stream->capture->invalidated = event->capture->invalidated = true;
      return finish(hip::ErrorStreamCaptureMerge,
                    "the stream and the event belong to different captures; "
                    "both are invalid now");
    }
    if (stream == runtime.defaultStream) {
      event->capture->invalidated = true;
      return finish(hip::ErrorStreamCaptureImplicit,
                    "the default stream cannot be drawn into a capture, which "
                    "is invalid now");
    }
    // The event draws the stream into its capture.
    stream->capture = event->capture;
    stream->captureLeaves = merge(stream->captureLeaves, event->captureLeaves);
    return 0;
  }
  if (stream->capture) {
    if (!event->recording)
      return 0;
    stream->capture->invalidated = true;
    return finish(hip::ErrorStreamCaptureIsolation,
                  "a captured stream cannot wait for an event recorded outside "
                  "its capture, which is invalid now");
  }
  if (event->recording)
    runtime.enqueue(*stream, [](bool) { return 0; },
                    {event->recording->position});
  return 0;
}
