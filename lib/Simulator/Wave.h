//===- Wave.h - The state of one wave ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Registers of a wave and the accessors that handlers use. The vector register
// file is [row][lane], 32 bits each, so that a handler is a loop over
// consecutive lanes that the compiler turns into vector instructions of the
// host. The number of lanes is a property of the wave (64 on gfx950).
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_WAVE_H
#define NETRA_LIB_SIMULATOR_WAVE_H

#include "Instruction.h"
#include <cstring>
#include <string>

// These helpers are compiled once per host variant (baseline, AVX2, ...) into
// different object files; they must be inlined so that the linker never picks
// an AVX2 copy for a host without it.
#define NETRA_SIM_INLINE inline __attribute__((always_inline))

// Iterations of a lane loop are independent: a row is either the same row or a
// disjoint one, never shifted.
#if defined(__clang__)
#define NETRA_LANE_LOOP                                                        \
  _Pragma("clang loop vectorize(assume_safety) interleave(disable)")
#else
#define NETRA_LANE_LOOP _Pragma("GCC ivdep")
#endif

namespace netra::sim {

constexpr unsigned MaxLanes = 64;

/// Space for one 32-bit value per lane.
struct alignas(64) LaneVector {
  uint32_t lane[MaxLanes];
};

/// Bits of the MODE register.
enum ModeBits : uint32_t {
  ModeRound32Shift = 0,  // 2 bits: 0 even, 1 +inf, 2 -inf, 3 zero
  ModeRound64Shift = 2,  // f16 and f64
  ModeDenorm32Shift = 4, // bit 0: keep inputs, bit 1: keep results
  ModeDenorm64Shift = 6, // f16 and f64
  ModeDx10Clamp = 1u << 8,
  ModeIeee = 1u << 9,
  ModeFp16Overflow = 1u << 23,
  ModeGprIndex = 1u << 27,
  ModeVskip = 1u << 28,
  ModeStackShift = 29 // 3 bits: control stack pointer of s_cbranch_*_fork
};

enum class WaveStatus : uint8_t { Running, AtBarrier, Ended, Failed };

struct WaveContext; // what the core hangs on a wave: work-group, device, ...

class alignas(64) Wave {
public:
  // --- Registers ---------------------------------------------------------
  /// First row of the vector register file; row r starts at
  /// vectorFile + r * laneCount. Rows are 64-byte aligned.
  uint32_t *vectorFile = nullptr;
  unsigned laneCount = MaxLanes;
  alignas(64) uint32_t scalarFile[NumScalarRegisters + 8] = {};
  bool scc = false;
  uint32_t mode = 0;
  uint32_t priority = 0; ///< by s_setprio

  // --- Control -----------------------------------------------------------
  WaveStatus state = WaveStatus::Running;
  uint32_t pc = 0;     ///< index of the instruction being run
  uint32_t nextPc = 0; ///< handlers of branches overwrite it
  std::string error;   ///< set by fail()
  WaveContext *context = nullptr;

  /// Stops the run: the instruction cannot be executed for this reason.
  void fail(std::string reason) {
    state = WaveStatus::Failed;
    error = std::move(reason);
  }

  // --- Rows --------------------------------------------------------------
  NETRA_SIM_INLINE uint32_t *row(unsigned r) const {
    return static_cast<uint32_t *>(
        __builtin_assume_aligned(vectorFile + r * laneCount, 64));
  }

  /// One 32-bit word of a source in every lane. Vector operands give their row
  /// itself, constants the splat made at decode time, scalars are spread into
  /// `scratch`. Modifiers are not applied.
  NETRA_SIM_INLINE const uint32_t *lanes(const Operand &op, unsigned word,
                                         LaneVector &scratch) const {
    if (op.kind == OperandKind::Vector)
      return row(op.index + word);
    if (op.kind == OperandKind::Constant)
      return op.splat + word * MaxLanes;
    const uint32_t value = scalar32(op, word);
    for (unsigned l = 0; l < MaxLanes; ++l)
      scratch.lane[l] = value;
    return scratch.lane;
  }

  // --- Scalars -----------------------------------------------------------
  NETRA_SIM_INLINE uint32_t scalar32(const Operand &op,
                                     unsigned word = 0) const {
    if (op.kind == OperandKind::Scalar)
      return scalarFile[op.index + word];
    if (op.kind == OperandKind::Constant)
      return word ? uint32_t(op.value >> 32) : uint32_t(op.value);
    return word ? 0 : statusValue(op.index);
  }
  NETRA_SIM_INLINE uint64_t scalar64(const Operand &op) const {
    return scalar32(op, 0) | uint64_t(scalar32(op, 1)) << 32;
  }
  NETRA_SIM_INLINE void setScalar32(const Operand &op, uint32_t value,
                                    unsigned word = 0) {
    if (op.index + word != Null)
      scalarFile[op.index + word] = value;
  }
  NETRA_SIM_INLINE void setScalar64(const Operand &op, uint64_t value) {
    setScalar32(op, uint32_t(value), 0);
    setScalar32(op, uint32_t(value >> 32), 1);
  }

  NETRA_SIM_INLINE uint64_t pair(unsigned first) const {
    uint64_t value;
    std::memcpy(&value, scalarFile + first, 8);
    return value;
  }
  NETRA_SIM_INLINE void setPair(unsigned first, uint64_t value) {
    std::memcpy(scalarFile + first, &value, 8);
  }
  /// Execution mask; bits at and above laneCount are always zero for handlers
  /// that go through activeMask().
  NETRA_SIM_INLINE uint64_t exec() const { return pair(ExecLo); }
  NETRA_SIM_INLINE void setExec(uint64_t value) { setPair(ExecLo, value); }
  NETRA_SIM_INLINE uint64_t vcc() const { return pair(VccLo); }
  NETRA_SIM_INLINE void setVcc(uint64_t value) { setPair(VccLo, value); }
  NETRA_SIM_INLINE uint32_t m0() const { return scalarFile[M0]; }

  NETRA_SIM_INLINE uint64_t allLanes() const {
    return laneCount == 64 ? ~uint64_t(0) : (uint64_t(1) << laneCount) - 1;
  }
  NETRA_SIM_INLINE uint64_t activeMask() const { return exec() & allLanes(); }
  NETRA_SIM_INLINE bool allActive() const { return activeMask() == allLanes(); }

  /// The execution mask spread to one word per lane, 0 or ~0. Rebuilt when EXEC
  /// has changed since the last call.
  NETRA_SIM_INLINE const uint32_t *execLanes() {
    const uint64_t mask = exec();
    if (__builtin_expect(mask != cachedMask, 0)) {
      cachedMask = mask;
      spread(mask, maskLanes.lane);
    }
    return maskLanes.lane;
  }

  /// Spreads bit l of `mask` to lane l as 0 or ~0.
  static NETRA_SIM_INLINE void spread(uint64_t mask, uint32_t *lane) {
    for (unsigned l = 0; l < 32; ++l)
      lane[l] = 0u - (uint32_t(mask) >> l & 1u);
    for (unsigned l = 0; l < 32; ++l)
      lane[32 + l] = 0u - (uint32_t(mask >> 32) >> l & 1u);
  }

  /// Gathers the lowest bit of each lane into a mask (for comparisons).
  static NETRA_SIM_INLINE uint64_t gather(const uint32_t *lane,
                                          unsigned count) {
    uint64_t mask = 0;
    for (unsigned l = 0; l < count; ++l)
      mask |= uint64_t(lane[l] & 1u) << l;
    return mask;
  }

  /// Writes a lane vector to one word of a vector destination under EXEC.
  /// `value` may be the destination row itself.
  NETRA_SIM_INLINE void writeLanes(const Operand &op, unsigned word,
                                   const uint32_t *value) {
    uint32_t *out = row(op.index + word);
    const unsigned count = laneCount;
    if (allActive()) {
      NETRA_LANE_LOOP
      for (unsigned l = 0; l < count; ++l)
        out[l] = value[l];
      return;
    }
    const uint32_t *mask = execLanes();
    NETRA_LANE_LOOP
    for (unsigned l = 0; l < count; ++l)
      out[l] = (value[l] & mask[l]) | (out[l] & ~mask[l]);
  }

private:
  NETRA_SIM_INLINE uint32_t statusValue(unsigned source) const {
    switch (source) {
    case StatusVccz:
      return vcc() == 0;
    case StatusExecz:
      return exec() == 0;
    default:
      return scc;
    }
  }

  uint64_t cachedMask = 0;
  LaneVector maskLanes = {};
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_WAVE_H
