//===- Parallel.h - Work on all processors ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_ENGINE_PARALLEL_H
#define NETRA_TOOLS_ENGINE_PARALLEL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace netra::tool {

/// Calls `work(i)` for every i < count on up to `threads` threads, in ascending
/// order as far as they allow. After an error no further call begins; gives the
/// error with the smallest i.
llvm::Error parallelFor(uint64_t count, unsigned threads,
                        llvm::function_ref<llvm::Error(uint64_t)> work);

/// What is done, at what rate, and how long the rest will take: a line on
/// stderr that is rewritten a few times a second, and removed at the end. Only
/// where stderr is a terminal, unless `always`: then a line each time.
class Progress {
public:
  Progress(uint64_t total, uint64_t done, bool always);
  ~Progress();

  /// Safe to call from several threads.
  void advance(uint64_t bytes, const std::string &what);

  /// "[ 42 %] 1.0 GiB of 2.4 GiB, 512.0 MiB/s, 3 s left". The rate is that of
  /// `now - before` bytes in `seconds`.
  static std::string describe(uint64_t before, uint64_t now, uint64_t total,
                              double seconds);

private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex;
  const uint64_t total, before;
  uint64_t done;
  const bool terminal, always;
  const Clock::time_point start;
  Clock::time_point shown;
};

} // namespace netra::tool

#endif // NETRA_TOOLS_ENGINE_PARALLEL_H
