//===- Parallel.cpp - Work on all processors ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Parallel.h"

#include "Arguments.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace netra::tool;

llvm::Error
netra::tool::parallelFor(uint64_t count, unsigned threads,
                         llvm::function_ref<llvm::Error(uint64_t)> work) {
  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  uint64_t firstIndex = count;
  std::string firstError;
  auto run = [&] {
    for (uint64_t i; !failed.load() && (i = next++) < count;)
      if (llvm::Error error = work(i)) {
        failed = true;
        std::lock_guard<std::mutex> guard(mutex);
        std::string text = llvm::toString(std::move(error));
        if (i < firstIndex) {
          firstIndex = i;
          firstError = std::move(text);
        }
      }
  };
  std::vector<std::thread> pool;
  try {
    while (pool.size() + 1 < std::min<uint64_t>(threads, count))
      pool.emplace_back(run);
  } catch (const std::system_error &) {
    // Where no more threads are allowed, fewer do as well.
  }
  run();
  for (std::thread &thread : pool)
    thread.join();
  if (failed)
    return llvm::createStringError(firstError);
  return llvm::Error::success();
}

Progress::Progress(uint64_t total, uint64_t done, bool always)
    : total(total), before(done), done(done), terminal(isatty(STDERR_FILENO)),
      always(always), start(Clock::now()), shown(start) {}

Progress::~Progress() {
  if (terminal)
    std::fprintf(stderr, "\r\033[K");
}

std::string Progress::describe(uint64_t before, uint64_t now, uint64_t total,
                               double seconds) {
  char percent[16];
  std::snprintf(percent, sizeof(percent), "[%3u %%] ",
                total ? unsigned(double(now) / double(total) * 100) : 100);
  std::string text = percent + byteCount(now) + " of " + byteCount(total);
  double rate = seconds > 0 ? double(now - before) / seconds : 0;
  if (rate < 1)
    return text;
  uint64_t left = uint64_t(std::ceil(double(total - now) / rate));
  text += ", " + byteCount(uint64_t(rate)) + "/s, ";
  if (left >= 3600)
    text += std::to_string(left / 3600) + " h ";
  if (left >= 60)
    text += std::to_string(left / 60 % 60) + " min ";
  return text + std::to_string(left % 60) + " s left";
}

void Progress::advance(uint64_t bytes, const std::string &what) {
  std::lock_guard<std::mutex> guard(mutex);
  done += bytes;
  Clock::time_point now = Clock::now();
  bool due = now - shown >= std::chrono::milliseconds(100) || done == total;
  if (!due || !(terminal || always))
    return;
  shown = now;
  std::string line = describe(
      before, done, total, std::chrono::duration<double>(now - start).count());
  std::fprintf(stderr, terminal ? "\r\033[K%s  %s" : "%s  %s\n", line.c_str(),
               what.c_str());
}
