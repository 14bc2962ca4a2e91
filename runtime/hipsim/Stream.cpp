//===- Stream.cpp - Streams as queues with a thread each ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Stream.h"
#include "HipAbi.h"

#include <cstdlib>
#include <new>

using namespace netra;
using namespace netra::hipsim;

void Progress::advance(uint64_t to) {
  {
    std::lock_guard<std::mutex> guard(mutex);
    completed = to;
  }
  changed.notify_all();
}

void Progress::wait(uint64_t ticket) {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return completed >= ticket; });
}

bool Progress::reached(uint64_t ticket) {
  std::lock_guard<std::mutex> guard(mutex);
  return completed >= ticket;
}

Stream::Stream(unsigned flags, int priority)
    : flags(flags), priority(priority), worker([this] { run(); }) {}

Stream::~Stream() {
  {
    std::lock_guard<std::mutex> guard(mutex);
    stopping = true;
  }
  queued.notify_all();
  worker.join();
}

Position Stream::submit(std::vector<Position> after, Work work) {
  Position position;
  {
    std::lock_guard<std::mutex> guard(mutex);
    tasks.push_back({std::move(after), std::move(work)});
    position = {progress, ++submitted};
  }
  queued.notify_one();
  return position;
}

Position Stream::last() {
  std::lock_guard<std::mutex> guard(mutex);
  return {progress, submitted};
}

int Stream::takeError() {
  std::lock_guard<std::mutex> guard(mutex);
  int taken = error;
  error = 0;
  faulted = false;
  return taken;
}

void Stream::run() {
  uint64_t done = 0;
  while (true) {
    Task task;
    bool stopped;
    {
      std::unique_lock<std::mutex> lock(mutex);
      queued.wait(lock, [&] { return stopping || !tasks.empty(); });
      if (tasks.empty())
        return;
      task = std::move(tasks.front());
      tasks.pop_front();
      stopped = faulted;
    }
    for (const Position &position : task.after)
      position.wait();
    int code;
    try {
      code = task.work(stopped);
    } catch (const std::bad_alloc &) {
      code = -hip::ErrorOutOfMemory;
    }
    // What the task holds is released before anyone learns that it is done.
    task = Task();
    if (code) {
      std::lock_guard<std::mutex> guard(mutex);
      faulted |= code < 0;
      if (!error)
        error = std::abs(code);
    }
    progress->advance(++done);
  }
}
