//===- Execution.h - Work-groups in execution -------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// The state of a launch, of a work-group and what the core attaches to each
// wave. One work-group runs on one host thread at a time.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_EXECUTION_H
#define NETRA_LIB_SIMULATOR_EXECUTION_H

#include "CodeObjectImpl.h"
#include "DeviceMemory.h"
#include "Program.h"
#include "Wave.h"
#include <atomic>
#include <chrono>
#include <random>

namespace netra::sim {

class Monitor;
class Workgroup;
struct FindingStore;
struct CounterStore;
class GlobalRaces;

/// What is the same for all work-groups of a launch.
struct LaunchState {
  const Kernel *kernel = nullptr;
  const CodeObject *object = nullptr;
  std::shared_ptr<const Program> program;
  /// Instructions that may use registers the kernel does not have; may be null.
  std::shared_ptr<const llvm::BitVector> unallocated;
  DeviceMemory *memory = nullptr;
  DeviceOptions options;
  LaunchParams params;
  uint64_t loadBias = 0;
  uint64_t kernargAddress = 0, dispatchAddress = 0, queueAddress = 0;
  uint64_t dispatchId = 0;
  uint32_t entry = 0; ///< index of the first instruction
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0; ///< per lane
  unsigned wavesPerWorkgroup = 1;
  unsigned threads = 1;                      ///< of the host, at most
  std::array<uint32_t, 3> items = {1, 1, 1}; ///< work-items of the grid

  std::atomic<uint64_t> executed{0}; ///< wave instructions
  std::atomic<bool> stop{false};
  bool hasDeadline = false;
  std::chrono::steady_clock::time_point deadline;
  std::chrono::steady_clock::time_point start;
  FindingStore *findings = nullptr;
  GlobalRaces *races = nullptr;
  CounterStore *counters = nullptr; ///< nullptr: not counted
};

enum class FaultKind : uint8_t { Unsupported, Memory, Trap, Limit, Deadlock };

struct WaveContext {
  Workgroup *group = nullptr;
  LaunchState *launch = nullptr;
  DeviceMemory *memory = nullptr;
  Monitor *monitor = nullptr; ///< nullptr: no checker and no counter is on
  uint8_t *lds = nullptr;
  uint32_t ldsBytes = 0;
  uint8_t *scratch = nullptr; ///< [lane][scratchBytes]
  uint32_t scratchBytes = 0;
  unsigned index = 0; ///< of the wave in its work-group
  FaultKind fault = FaultKind::Unsupported;
  bool isIndexing = false; ///< s_set_gpr_idx_on or s_setvskip is in force
  uint64_t executed = 0;
};

/// Fails the wave with a fault that is not about modelling.
inline void raise(Wave &w, FaultKind kind, std::string reason) {
  w.context->fault = kind;
  w.fail(std::move(reason));
}

class Workgroup {
public:
  Workgroup(LaunchState &launch);
  ~Workgroup();

  /// Whether the host had the memory for it; if not, it may not be started.
  bool isUsable() const;
  /// Bytes of host memory that registers and scratch may take.
  size_t hostBytes() const { return vectorFileBytes + scratchTotal; }
  /// What a work-group of the launch counts towards the memory limit: the
  /// vector registers of its waves, LDS and private memory.
  static uint64_t storageBytes(const LaunchState &launch);

  /// Makes the work-group with this linear index ready to run.
  void start(uint64_t linear);

  enum class Outcome { Done, Yielded, Failed };
  /// Runs for about `budget` wave instructions.
  Outcome run(uint64_t budget);

  uint64_t linear = 0;
  std::array<uint32_t, 3> id = {0, 0, 0};
  std::vector<Wave> waves;
  std::vector<WaveContext> contexts;
  Wave *failed = nullptr;
  LaunchState &launch;
  std::unique_ptr<Monitor> monitor;

  /// "work-group (x, y, z)".
  std::string describe() const;

private:
  template <bool Monitored> Outcome runImpl(uint64_t budget);
  /// Executes an instruction, which stands at w.pc; w.nextPc is the next.
  template <bool Monitored> void step(Wave &w, const Instruction &inst);
  /// Runs a wave until it stops or has run \p left instructions; gives those
  /// that are left.
  template <bool Monitored> uint64_t runWave(Wave &w, uint64_t left);
  void stepIndexed(Wave &w);
  /// Which register an instruction of `unallocated` lacks; "" if none.
  std::string missingNow(const Instruction &inst, const Wave &w) const;
  void trace(const Wave &w, const Instruction &inst);
  void observe(const Wave &w);
  void initWave(unsigned index);
  bool releaseBarrier();

  const llvm::BitVector *unallocated; ///< of the launch
  uint32_t *vectorFiles = nullptr;
  size_t vectorFileBytes = 0;
  std::vector<uint8_t> lds;
  uint8_t *scratch = nullptr;
  size_t scratchTotal = 0;
  unsigned running = 0; ///< waves neither ended nor failed
  std::mt19937_64 random;
  bool isTraced = false;
  bool isWatched = false; ///< traced, or observed
  std::unique_ptr<Wave> traceBefore;
  std::vector<uint32_t> traceRows;
};

/// Registration of the core's own semantics.
void registerControl(SemanticsTable &table);
void registerScalarMemory(SemanticsTable &table);
void registerGlobalMemory(SemanticsTable &table);
void registerBufferMemory(SemanticsTable &table);
void registerLds(SemanticsTable &table);

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_EXECUTION_H
