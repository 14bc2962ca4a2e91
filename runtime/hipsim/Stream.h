//===- Stream.h - Streams as queues with a thread each ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A stream executes its tasks in order on a thread of its own. A task may also
// wait for a position in other streams; since it can only name positions that
// were submitted before it, streams cannot wait for each other in a circle.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_HIPSIM_STREAM_H
#define NETRA_HIPSIM_STREAM_H

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace netra::hipsim {

struct Capture;
struct GraphNode;

/// How far a stream has come. Outlives the stream, for those who wait on it.
class Progress {
public:
  void advance(uint64_t to);
  void wait(uint64_t ticket);
  bool reached(uint64_t ticket);

private:
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t completed = 0;
};

/// A position in a stream: everything submitted up to `ticket`.
struct Position {
  std::shared_ptr<Progress> progress;
  uint64_t ticket = 0;

  void wait() const {
    if (progress)
      progress->wait(ticket);
  }
  bool reached() const { return !progress || progress->reached(ticket); }
};

/// Returns a HIP error code, negated when it stopped the device. `faulted` says
/// that an earlier task of the stream did so and nothing has synchronised
/// since.
using Work = std::function<int(bool faulted)>;

class Stream {
public:
  Stream(unsigned flags, int priority);
  /// Finishes what is queued.
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  Position submit(std::vector<Position> after, Work work);
  Position last();

  /// The first error since the last call; 0 if none.
  int takeError();

  /// Whether the caller runs inside a task of this stream.
  bool isCurrent() const {
    return worker.get_id() == std::this_thread::get_id();
  }

  const unsigned flags;
  const int priority;

  /// The capture this stream takes part in. Guarded by Runtime::submission.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode *> captureLeaves; // what the next node depends on

private:
  struct Task {
    std::vector<Position> after;
    Work work;
  };
  void run();

  std::shared_ptr<Progress> progress = std::make_shared<Progress>();
  std::mutex mutex;
  std::condition_variable queued;
  std::deque<Task> tasks;
  uint64_t submitted = 0;
  int error = 0;
  bool faulted = false;
  bool stopping = false;
  std::thread worker;
};

} // namespace netra::hipsim

#endif // NETRA_HIPSIM_STREAM_H
