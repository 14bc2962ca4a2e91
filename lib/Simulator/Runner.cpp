//===- Runner.cpp - Hands out the work-groups of a launch ----------------===//
// SPDX-License-Identifier: MIT

#include "Runner.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

/// The error that a failed wave stands for.
static Error failure(const LaunchState &state, const Workgroup &group) {
  const Wave &w = *group.failed;
  const InstructionInfo &info = state.program->info[w.pc];
  const std::string reason = !w.error.empty() ? w.error : info.problem;
  std::string place = formatv("{0}\n  in {1} at {2:x}: {3}\n  by {4}, wave {5}",
                              reason, state.kernel->name, info.pc, info.text,
                              group.describe(), w.context->index)
                          .str();
  switch (w.context->fault) {
  case FaultKind::Unsupported:
    return make_error<UnsupportedError>("unsupported: " + place);
  case FaultKind::Memory:
    return make_error<FaultError>(FaultError::Kind::Memory,
                                  "memory fault: " + place);
  case FaultKind::Trap:
    return make_error<FaultError>(FaultError::Kind::Trap, place);
  case FaultKind::Limit:
    return make_error<FaultError>(FaultError::Kind::Limit, place);
  case FaultKind::Deadlock:
    return make_error<FaultError>(FaultError::Kind::Deadlock, place);
  }
  return make_error<FaultError>(FaultError::Kind::Trap, place);
}

Runner::Runner(LaunchState &state, WorkgroupOrder order)
    : state(state), order(order) {
  total = uint64_t(state.params.grid[0]) * state.params.grid[1] *
          state.params.grid[2];
  if (order == WorkgroupOrder::Random && total <= (uint64_t(1) << 28)) {
    permutation.resize(total);
    for (uint64_t i = 0; i < total; ++i)
      permutation[i] = uint32_t(i);
    std::mt19937_64 random(state.options.orderSeed ^ 0x6a09e667f3bcc909ull);
    for (uint64_t i = total; i > 1; --i)
      std::swap(permutation[i - 1], permutation[random() % i]);
  }
}

void Runner::work() {
  try {
    workUntilDone();
  } catch (const std::bad_alloc &) {
    fail(total, createStringError("launch of " + state.kernel->name +
                                  ": the host's memory is used up"));
  }
}

Error Runner::takeError() {
  std::lock_guard<std::mutex> lock(mutex);
  return hasFailed ? std::move(error) : Error::success();
}

bool Runner::addIdle(Workgroups &idle, size_t &held, bool hasOthers) {
  const uint64_t bytes = Workgroup::storageBytes(state);
  if (!state.memory->claim(bytes)) {
    // Other threads, or later the work-groups of this one, do the work.
    if (!hasOthers && !holders.load() && next.load() < total)
      fail(total,
           createStringError(
               formatv("launch of {0}: the memory limit leaves no room for a "
                       "work-group: {1} bytes for its registers, LDS and "
                       "private memory, {2} in use, limit {3}",
                       state.kernel->name, bytes, state.memory->inUse(),
                       state.memory->limit())
                   .str()));
    return hasOthers;
  }
  if (!held++)
    ++holders;
  auto group = std::make_unique<Workgroup>(state);
  if (!group->isUsable()) {
    fail(total,
         createStringError(
             formatv("launch of {0}: the host cannot map {1} bytes of memory "
                     "for the registers and scratch of a work-group of {2} "
                     "waves; lower `threads`, or raise the process's memory "
                     "limit (ulimit -v)",
                     state.kernel->name, group->hostBytes(),
                     state.wavesPerWorkgroup)
                 .str()));
    return false;
  }
  idle.push_back(std::move(group));
  return true;
}

void Runner::workUntilDone() {
  size_t held = 0; // work-groups whose storage counts towards the limit
  scope_exit release([&] {
    if (!held)
      return;
    state.memory->release(held * Workgroup::storageBytes(state));
    --holders;
  });
  Workgroups active, idle;
  // A work-group that spins on another one's result must not keep that one
  // from starting: when nothing ended for a while, others come in beside it.
  // Many may be resident soon, very many only when it takes long.
  constexpr size_t maxResident = 512, fewResident = 64;
  const uint64_t patience = std::max<uint64_t>(state.options.patience, 4),
                 longPatience = 64 * patience;
  // Private memory may be 128 MiB for each of them.
  constexpr size_t maxResidentBytes = size_t(2) << 30;
  const uint64_t limit = state.options.instructionLimit;
  uint64_t sinceStart = 0;
  while (!state.stop.load(std::memory_order_relaxed)) {
    const bool mayStart =
        active.empty() ||
        (active.size() < maxResident &&
         (active.size() + 1) * active[0]->hostBytes() <= maxResidentBytes &&
         sinceStart >= (active.size() < fewResident ? patience : longPatience));
    if (mayStart) {
      if (idle.empty() && next.load() < total &&
          !addIdle(idle, held, !active.empty()))
        return;
      const uint64_t position = idle.empty() ? total : next.fetch_add(1);
      if (position < total) {
        active.push_back(std::move(idle.back()));
        idle.pop_back();
        active.back()->start(place(position));
        sinceStart = 0;
      } else if (active.empty())
        return;
    }
    for (size_t i = 0; i < active.size();) {
      uint64_t budget = active.size() > 1 ? patience / 4 : patience;
      if (limit)
        budget = std::min(budget - 1, limit) + 1; // which may be 2^64 - 1
      const auto outcome = active[i]->run(budget);
      sinceStart += budget;
      switch (outcome) {
      case Workgroup::Outcome::Done:
        if (isLate()) {
          fail(active[i]->linear,
               createStringError("launch of " + state.kernel->name + ": " +
                                 lateness()));
          return;
        }
        idle.push_back(std::move(active[i]));
        active.erase(active.begin() + long(i));
        sinceStart = 0;
        continue;
      case Workgroup::Outcome::Failed:
        fail(active[i]->linear, failure(state, *active[i]));
        return;
      case Workgroup::Outcome::Yielded:
        if (!checkLimits(*active[i]))
          return;
        ++i;
        break;
      }
    }
  }
}

uint64_t Runner::place(uint64_t position) const {
  if (!permutation.empty())
    return permutation[position];
  return order == WorkgroupOrder::Reverse ? total - 1 - position : position;
}

void Runner::fail(uint64_t group, Error reason) {
  std::lock_guard<std::mutex> lock(mutex);
  state.stop = true;
  if (hasFailed && group >= failedGroup) {
    consumeError(std::move(reason));
    return;
  }
  if (hasFailed)
    consumeError(std::move(error));
  hasFailed = true;
  failedGroup = group;
  error = std::move(reason);
}

bool Runner::isLate() const {
  return state.hasDeadline && std::chrono::steady_clock::now() > state.deadline;
}

std::string Runner::lateness() const {
  return formatv("the time limit of {0} s is exceeded; is the kernel waiting "
                 "for something that never comes?",
                 state.options.timeout)
      .str();
}

bool Runner::checkLimits(Workgroup &group) {
  std::string reason;
  if (state.options.instructionLimit &&
      state.executed.load() > state.options.instructionLimit)
    reason = formatv("the limit of {0} wave instructions is exceeded; is the "
                     "kernel waiting for something that never comes?",
                     state.options.instructionLimit)
                 .str();
  else if (isLate())
    reason = lateness();
  if (reason.empty())
    return true;
  for (Wave &w : group.waves)
    if (w.state == WaveStatus::Running || w.state == WaveStatus::AtBarrier) {
      raise(w, FaultKind::Limit, reason);
      group.failed = &w;
      fail(group.linear, failure(state, group));
      break;
    }
  return false;
}

} // namespace netra::sim
