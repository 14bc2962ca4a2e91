//===- CounterCollector.h - Counting what a launch does ---------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// docs/simulator.md defines every counter.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_COUNTERCOLLECTOR_H
#define NETRA_LIB_SIMULATOR_COUNTERCOLLECTOR_H

#include "Monitor.h"

namespace netra::sim {

/// Sums over all work-groups of a launch.
struct CounterStore {
  std::mutex mutex;
  Counters total;
  std::vector<uint64_t> byMnemonic; ///< by Program::mnemonics
  std::vector<uint64_t> byClass;
  uint64_t sumBytesInFlight = 0; ///< of the waves' maxima
  uint64_t sumFirstWait = 0, wavesThatWait = 0;
  uint64_t sumRoundTrips = 0;
};

/// Fills the derived counters once all work-groups are done.
void finishCounters(CounterStore &store, const LaunchState &launch);

class CounterCollector {
public:
  explicit CounterCollector(Monitor &monitor);
  /// Adds what was counted to the launch's store.
  ~CounterCollector();

  void startGroup();
  void endGroup();
  void before(const Instruction &inst, const InstructionInfo &info, Wave &w);
  void after(const Instruction &inst, const InstructionInfo &info, Wave &w);
  void globalAccess(const uint64_t *address, Wave &w, uint64_t mask,
                    unsigned bytes, AccessKind kind);
  void ldsAccess(const uint32_t *address, uint64_t mask, unsigned bytes,
                 unsigned lanes);
  void scalarAccess(uint64_t address, unsigned bytes, AccessKind kind);

private:
  struct Event {
    uint32_t bytes = 0; ///< loaded; 0 for stores
    uint32_t depth = 0; ///< round trips needed to have the result
  };
  struct WaveState {
    std::vector<Event> vector; ///< outstanding, oldest first
    uint32_t scalarDepth = 0;  ///< of the deepest outstanding scalar load
    uint32_t depth = 0;        ///< round trips so far
    uint64_t bytesInFlight = 0, maxBytesInFlight = 0, firstWait = 0;
    bool hasWaited = false;
    uint64_t loadedNow = 0; ///< bytes of the instruction in execution
  };

  Monitor &monitor;
  std::vector<WaveState> waves;
  CounterStore local;
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_COUNTERCOLLECTOR_H
