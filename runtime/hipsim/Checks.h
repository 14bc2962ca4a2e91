//===- Checks.h - Checks of arguments, shared by the whole API --*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Each check gives 0, or HIP's code for what is wrong, which finish() then
// knows of with a sentence: the caller returns the code as it is. Where the
// versions of HIP disagree, the code is that of HIP 7.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_HIPSIM_CHECKS_H
#define NETRA_HIPSIM_CHECKS_H

#include "State.h"

namespace netra::hipsim {

/// hipErrorInvalidValue when an argument that must be given is null.
int checkGiven(const void *pointer, const char *what);

int checkDevice(int device);

// The object behind a handle. All hold Runtime::submission.
int findStream(void *handle, std::shared_ptr<Stream> &stream);
int findEvent(void *handle, std::shared_ptr<Event> &event);
int findGraph(void *handle, std::shared_ptr<Graph> &graph);
int findNode(void *handle, GraphNode *&node);
int findNode(void *handle, hip::GraphNodeType kind, GraphNode *&node);
int findExecutable(void *handle, Executable *&executable);
/// `unknown` is the code when there is no such function.
int findFunction(void *handle, const Function *&function, int unknown);

/// What `read` has to say of a stream, for a caller who gives a `place` for it.
template <typename Read>
int readStream(void *handle, const void *place, const char *what, Read read) {
  if (int code = checkGiven(place, what))
    return code;
  std::lock_guard<std::mutex> guard(Runtime::get().submission);
  std::shared_ptr<Stream> stream;
  if (int code = findStream(handle, stream))
    return code;
  read(*stream);
  return 0;
}

/// The same of a node of one type.
template <typename Read>
int readNode(void *handle, hip::GraphNodeType kind, const void *place,
             const char *what, Read read) {
  if (int code = checkGiven(place, what))
    return code;
  std::lock_guard<std::mutex> guard(Runtime::get().submission);
  GraphNode *node;
  if (int code = findNode(handle, kind, node))
    return code;
  read(*node);
  return 0;
}

/// Not inside a host function of a stream, which would wait for itself.
int checkNotInHostFunction();

/// Whether this thread may make a call that waits or changes memory: not inside
/// a host function, and not while a capture forbids it, which the attempt
/// invalidates.
int checkMayWait(int whileCapturing = hip::ErrorStreamCaptureUnsupported);

/// The same for one stream: waiting for it while it is captured.
int checkMayWaitFor(Stream &stream);

/// Whether work on the default stream would have to wait for a stream that is
/// being captured, which makes the capture invalid. Holds `submission`.
int checkImplicitOrder();

/// How the captures of other threads bind this one; hip::StreamCaptureMode.
int &threadCaptureMode();

/// While it lives, the thread runs a host function of a stream.
class HostFunctionScope {
public:
  HostFunctionScope();
  ~HostFunctionScope();
};

} // namespace netra::hipsim

#endif // NETRA_HIPSIM_CHECKS_H
