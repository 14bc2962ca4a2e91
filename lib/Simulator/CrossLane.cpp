//===- CrossLane.cpp - instructions that move data between lanes ----------===//
// SPDX-License-Identifier: MIT
//
// Lane moves by DPP live in LaneAlu, those through LDS with the LDS
// instructions.
//
//===----------------------------------------------------------------------===//
#include "Semantics.h"
#include "Wave.h"

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

/// The lowest active lane, lane 0 when none is.
void readFirstLane(const Instruction &I, Wave &w) {
  const uint64_t mask = w.activeMask();
  const unsigned lane = mask ? unsigned(__builtin_ctzll(mask)) : 0;
  const Operand &from = I.src(0);
  w.setScalar32(I.dst(),
                from.isVector() ? w.row(from.index)[lane] : w.scalar32(from));
}

/// EXEC plays no part in either of these two.
void readLane(const Instruction &I, Wave &w) {
  const unsigned lane = w.scalar32(I.src(1)) % w.laneCount;
  const Operand &from = I.src(0);
  w.setScalar32(I.dst(),
                from.isVector() ? w.row(from.index)[lane] : w.scalar32(from));
}
void writeLane(const Instruction &I, Wave &w) {
  const unsigned lane = w.scalar32(I.src(1)) % w.laneCount;
  w.row(I.dst().index)[lane] = w.scalar32(I.src(0));
}

/// Exchanges the odd groups of \p Width lanes of the first register with the
/// even groups of the second. Lanes switched off keep their values.
template <unsigned Width> void swapGroups(const Instruction &I, Wave &w) {
  uint32_t *first = w.row(I.ops[0].index), *second = w.row(I.ops[1].index);
  const uint64_t exec = w.activeMask();
  for (unsigned base = 0; base + 2 * Width <= w.laneCount; base += 2 * Width)
    for (unsigned l = base; l < base + Width; ++l) {
      const uint32_t a = first[l + Width], b = second[l];
      if (exec >> (l + Width) & 1)
        first[l + Width] = b;
      if (exec >> l & 1)
        second[l] = a;
    }
}

} // namespace

void registerCrossLane(SemanticsTable &t) {
  t.add("v_readfirstlane_b32", readFirstLane);
  t.add("v_readlane_b32", readLane);
  t.add("v_writelane_b32", writeLane);
  t.add("v_permlane16_swap_b32", swapGroups<16>);
  t.add("v_permlane32_swap_b32", swapGroups<32>);
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
