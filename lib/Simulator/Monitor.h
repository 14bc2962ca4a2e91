//===- Monitor.h - Checkers and counters of a work-group --------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// The run loop and the memory handlers report to a Monitor when a checker or
// the counters are on. Without one, a launch runs a loop that has no calls to
// it, and memory handlers test one pointer.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_MONITOR_H
#define NETRA_LIB_SIMULATOR_MONITOR_H

#include "Execution.h"
#include "Footprint.h"
#include <map>
#include <mutex>

namespace netra::sim {

/// Collects findings of all threads of a launch. The same instruction and kind
/// is one finding with a count, placed where it happened first.
struct FindingStore {
  std::mutex mutex;
  std::map<std::tuple<unsigned, uint64_t, std::string>, Finding> byPlace;

  void add(Finding finding, const std::string &kind);
};

/// "v3", "a0", "vcc_lo", ...
std::string registerName(RegisterFile file, unsigned index);

enum class AccessKind : uint8_t { Load, Store, Atomic };

class WaitChecker;
class InitChecker;
class HazardChecker;
class RaceChecker;
class CounterCollector;

class Monitor {
public:
  Monitor(Workgroup &group, LaunchState &launch);
  ~Monitor();

  // --- Run loop ----------------------------------------------------------
  void startGroup();
  void before(const Instruction &inst, Wave &w);
  void after(const Instruction &inst, Wave &w);
  void barrierReleased();
  void endGroup();

  // --- Memory handlers ---------------------------------------------------
  // Called for the lanes of `mask`, whose accesses are valid, before a load's
  // registers or the memory change.
  /// \p record is the allocation that all lanes access, nullptr if there are
  /// several.
  void globalAccess(const Instruction &inst, Wave &w, const uint64_t *address,
                    uint64_t mask, unsigned bytes, AccessKind kind,
                    const AllocationRecord *record);
  void ldsAccess(const Instruction &inst, Wave &w, const uint32_t *address,
                 uint64_t mask, unsigned bytes, AccessKind kind);
  void scratchAccess(const Instruction &inst, Wave &w, const uint32_t *offset,
                     uint64_t mask, unsigned bytes, AccessKind kind);
  /// \p record is the allocation that holds the address.
  void scalarAccess(const Instruction &inst, Wave &w, uint64_t address,
                    unsigned bytes, AccessKind kind,
                    const AllocationRecord &record);
  /// A load straight to LDS: `bytes` of each lane of `mask` arrive at
  /// ldsAddress[lane].
  void ldsDirect(const Instruction &inst, Wave &w, const uint32_t *ldsAddress,
                 uint64_t mask, unsigned bytes);
  /// An access outside every allocation, outside LDS or scratch. Returns true
  /// when it was taken as a finding and the run may go on.
  bool invalidAccess(const Instruction &inst, Wave &w, int lane,
                     uint64_t address, unsigned bytes, AccessKind kind,
                     const std::string &what);

  bool isOn(Check check) const { return launch.options.checks & check; }

  /// Records a finding about the instruction the wave is at.
  void report(Check check, const Instruction &inst, const Wave &w, int lane,
              const std::string &kind, std::string message,
              uint64_t address = 0);

  CounterCollector *counters() const { return collector.get(); }
  Workgroup &workgroup() const { return group; }
  LaunchState &state() const { return launch; }

private:
  const Footprint &footprint(const Instruction &inst) {
    const Footprint &known = footprints[inst.index];
    return known.isKnown ? known : findFootprint(inst);
  }
  const Footprint &findFootprint(const Instruction &inst);
  void beforeIdle(const Instruction &inst, const Footprint &footprint, Wave &w);

  Workgroup &group;
  LaunchState &launch;
  std::vector<Footprint> footprints; ///< by instruction, found when needed
  std::unique_ptr<InitChecker> init;
  std::unique_ptr<WaitChecker> wait;
  std::unique_ptr<HazardChecker> hazard;
  std::unique_ptr<RaceChecker> race;
  std::unique_ptr<CounterCollector> collector;
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_MONITOR_H
