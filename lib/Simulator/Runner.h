//===- Runner.h - Hands out the work-groups of a launch ---------*- C++ -*-===//
// SPDX-License-Identifier: MIT

#ifndef NETRA_LIB_SIMULATOR_RUNNER_H
#define NETRA_LIB_SIMULATOR_RUNNER_H

#include "Execution.h"
#include <mutex>

namespace netra::sim {

/// Hands out work-groups and runs them on one thread each.
class Runner {
public:
  Runner(LaunchState &state, WorkgroupOrder order);

  uint64_t size() const { return total; }

  /// Runs work-groups until there are none left, or something stops them.
  void work();

  llvm::Error takeError();

private:
  using Workgroups = std::vector<std::unique_ptr<Workgroup>>;

  void workUntilDone();
  /// Adds a work-group that can be started, if the memory limit leaves room
  /// for one. False when the thread has nothing to do: it has none and gets
  /// none.
  bool addIdle(Workgroups &idle, size_t &held, bool hasOthers);
  uint64_t place(uint64_t position) const;
  /// Ends the launch; of several failures the first work-group's is kept.
  void fail(uint64_t group, llvm::Error reason);
  bool isLate() const;
  std::string lateness() const;
  bool checkLimits(Workgroup &group);

  LaunchState &state;
  WorkgroupOrder order = WorkgroupOrder::Forward;
  uint64_t total = 0;
  std::atomic<uint64_t> next{0};
  std::atomic<unsigned> holders{0}; ///< threads that have a work-group
  std::vector<uint32_t> permutation;
  std::mutex mutex;
  bool hasFailed = false;
  uint64_t failedGroup = 0;
  llvm::Error error = llvm::Error::success();
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_RUNNER_H
