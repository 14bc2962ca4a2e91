//===- MemoryPlanner.h - Static placement of buffers in one arena ---------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Offsets for buffers with known sizes and lifetimes, so that two buffers that
// are alive at the same time never share a byte and the arena is as small as
// the search can make it. The planner knows nothing of MLIR; the pass
// `netra-plan-memory` turns IR into intervals and offsets into attributes.
//
// All sizes, offsets and alignments are bytes; alignments are powers of two;
// times are indices of the steps of a schedule, and a lifetime includes both
// of its ends. All functions are pure and deterministic: equal inputs give
// equal plans on every machine. They are safe to call from several threads.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TRANSFORMS_MEMORYPLANNER_H
#define NETRA_TRANSFORMS_MEMORYPLANNER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace netra {

/// One buffer that needs `bytes` bytes from step `firstUse` to step `lastUse`.
struct BufferInterval {
  uint64_t bytes = 0;
  /// Power of two, at least 1.
  uint64_t alignment = 1;
  uint32_t firstUse = 0;
  /// At least `firstUse`.
  uint32_t lastUse = 0;
};

struct MemoryPlannerOptions {
  /// The size of the arena is rounded up to this. Power of two.
  uint64_t alignment = 256;
  /// Work allowed to the improvement that follows the greedy orders, counted
  /// in buffers and sections visited, never in time, so that the plan does not
  /// depend on the speed of the machine. 0 leaves the best greedy plan.
  uint64_t stepLimit = 4'000'000;
};

struct MemoryPlan {
  /// One offset for each interval, in the order given.
  std::vector<uint64_t> offsets;
  /// Size of the arena, rounded up to the alignment asked for.
  uint64_t bytes = 0;
  /// No plan can be smaller: the largest sum of sizes alive at one step,
  /// rounded up in the same way.
  uint64_t lowerBound = 0;
  /// The strategy whose plan was kept, for explanations.
  std::string strategy;
};

/// Places `buffers`. Fails, naming the buffer by its index, on an alignment
/// that is no power of two, on a lifetime that ends before it begins, and when
/// the sizes alive together do not fit 63 bits.
llvm::Expected<MemoryPlan> planMemory(llvm::ArrayRef<BufferInterval> buffers,
                                      const MemoryPlannerOptions &options = {});

/// The largest sum of sizes alive at one step, rounded up to `alignment`.
/// Takes into account that every offset is a multiple of the smallest
/// alignment. `buffers` must be valid in the sense of planMemory.
uint64_t getMemoryLowerBound(llvm::ArrayRef<BufferInterval> buffers,
                             uint64_t alignment);

/// Checks `plan` against `buffers` from first principles, sharing no code with
/// the planner: every offset aligned, every buffer inside the arena, and no
/// two buffers that live at one step sharing a byte. The error names both
/// buffers, their ranges and their lifetimes.
llvm::Error verifyMemoryPlan(llvm::ArrayRef<BufferInterval> buffers,
                             const MemoryPlan &plan);

} // namespace netra

#endif // NETRA_TRANSFORMS_MEMORYPLANNER_H
