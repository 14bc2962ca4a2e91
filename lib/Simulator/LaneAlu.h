//===- LaneAlu.h - the frame of vector instructions -------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// What vector instructions have in common: reading sources through modifiers,
// DPP and SDWA, and writing results under EXEC, DPP masks and SDWA or op_sel
// destinations. The arithmetic itself comes in as a function of one lane.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_LIB_SIMULATOR_LANEALU_H
#define NETRA_LIB_SIMULATOR_LANEALU_H

#include "FloatFormats.h"
#include "Instruction.h"
#include "Semantics.h"
#include "Wave.h"

namespace netra::sim {
namespace NETRA_SIM_VARIANT {

/// How the bits of a source are to be understood.
enum class SourceType : uint8_t {
  Int,    ///< 32 bits; sext() of SDWA applies, neg and abs do not
  F32,    ///< neg and abs on bit 31
  F16,    ///< low half or op_sel's; neg and abs on bit 15
  Int16,  ///< low half or op_sel's
  F64High ///< the high word of an f64: neg and abs on bit 31
};

/// Bits of MODE that results depend on.
struct FloatEnv {
  bool flushInputs, flushResults;
  RoundingMode rounding;
  bool ieee, dx10Clamp, fp16Overflow;
};

NETRA_SIM_INLINE FloatEnv floatEnv(const Wave &w, bool isF32) {
  const uint32_t mode = w.mode;
  const unsigned denorm =
      mode >> (isF32 ? ModeDenorm32Shift : ModeDenorm64Shift);
  const unsigned round = mode >> (isF32 ? ModeRound32Shift : ModeRound64Shift);
  return {(denorm & 1) == 0,           (denorm & 2) == 0,
          RoundingMode(round & 3),     (mode & ModeIeee) != 0,
          (mode & ModeDx10Clamp) != 0, (mode & ModeFp16Overflow) != 0};
}

/// Runs \p body for every lane; the usual lane count is a constant, so that
/// the loop unrolls.
template <typename Body> NETRA_SIM_INLINE void eachLane(unsigned n, Body body) {
  if (__builtin_expect(n == 64, 1)) {
    NETRA_LANE_LOOP
    for (unsigned l = 0; l < 64; ++l)
      body(l);
  } else {
    NETRA_LANE_LOOP
    for (unsigned l = 0; l < n; ++l)
      body(l);
  }
}

/// Whether \p instruction needs nothing but its registers: no modifiers on
/// sources or result, no DPP, no SDWA.
bool isBare(const Instruction &instruction);

/// One word of source \p k with everything the encoding says applied. The
/// result is either the register row itself or \p scratch.
const uint32_t *fetch(const Instruction &I, Wave &w, unsigned k, unsigned word,
                      SourceType type, LaneVector &scratch);

/// The lanes an instruction may write: EXEC, less what DPP switches off.
uint64_t writeMask(const Instruction &I, const Wave &w);

/// Writes one word of a vector destination in the lanes of \p mask.
void storeWord(Wave &w, const Operand &op, unsigned word, const uint32_t *value,
               uint64_t mask);

/// Writes a 32-bit result through the SDWA destination selection.
void storeResult(const Instruction &I, Wave &w, const uint32_t *value,
                 uint64_t mask);

/// Writes a 16-bit result: SDWA, or op_sel's half with the other one kept, or
/// the low half. \p keepHigh: the low half leaves the high one alone instead of
/// clearing it.
void storeResult16(const Instruction &I, Wave &w, const uint32_t *value,
                   uint64_t mask, bool keepHigh);

/// Sets the bits of \p mask in a per-lane condition register from the lowest
/// bit of each lane of \p value; the other lanes' bits become 0.
void storeCondition(Wave &w, const Operand &op, const uint32_t *value,
                    uint64_t mask);

/// Sets the host's rounding mode for its lifetime.
class HostRounding {
public:
  explicit HostRounding(RoundingMode mode);
  ~HostRounding();

private:
  int saved;
};

//===----------------------------------------------------------------------===//
// Small pieces of f32 arithmetic on bits
//===----------------------------------------------------------------------===//

NETRA_SIM_INLINE bool isNan32(uint32_t bits) {
  return (bits & 0x7fffffff) > 0x7f800000;
}
NETRA_SIM_INLINE bool isSignalling32(uint32_t bits) {
  return isNan32(bits) && !(bits & 0x00400000);
}
NETRA_SIM_INLINE uint32_t flush32(uint32_t bits) {
  return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}
NETRA_SIM_INLINE uint64_t flush64(uint64_t bits) {
  return (bits & 0x7ff0000000000000) == 0 ? bits & 0x8000000000000000 : bits;
}
NETRA_SIM_INLINE uint32_t flush16(uint32_t bits) {
  return (bits & 0x7c00) == 0 ? bits & 0x8000 : bits;
}

constexpr uint32_t DefaultNan32 = 0x7fc00000;
constexpr uint64_t DefaultNan64 = 0x7ff8000000000000;

/// Output modifier and clamp of an f32 result.
NETRA_SIM_INLINE uint32_t finishF32(uint32_t bits, unsigned omod, bool clamp,
                                    const FloatEnv &env) {
  if (omod && env.flushResults && !env.ieee) {
    static constexpr float factor[] = {1.0f, 2.0f, 4.0f, 0.5f};
    float value = asFloat(bits) * factor[omod];
    bits = flush32(asBits(value));
    if ((bits & 0x7fffffff) == 0)
      bits = 0;
  }
  if (clamp) {
    if (isNan32(bits))
      return env.dx10Clamp ? 0 : bits;
    if (bits & 0x80000000)
      return 0;
    if (bits > 0x3f800000)
      return 0x3f800000;
  }
  return bits;
}

//===----------------------------------------------------------------------===//
// Integer instructions of one 32-bit result
//===----------------------------------------------------------------------===//

/// \p F, a stateless function object, takes N words and gives one.
template <typename F, unsigned N> void bareInt(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2;
  const uint32_t *a = w.lanes(I.src(0), 0, t0);
  const uint32_t *b = N > 1 ? w.lanes(I.src(1), 0, t1) : a;
  const uint32_t *c = N > 2 ? w.lanes(I.src(2), 0, t2) : a;
  uint32_t *d = w.row(I.dst().index);
  auto one = [&](unsigned l) -> uint32_t {
    if constexpr (N == 1)
      return F{}(a[l]);
    else if constexpr (N == 2)
      return F{}(a[l], b[l]);
    else
      return F{}(a[l], b[l], c[l]);
  };
  if (w.allActive()) {
    eachLane(w.laneCount, [&](unsigned l) { d[l] = one(l); });
    return;
  }
  const uint32_t *m = w.execLanes();
  eachLane(w.laneCount,
           [&](unsigned l) { d[l] = (one(l) & m[l]) | (d[l] & ~m[l]); });
}

template <typename F, unsigned N>
void generalInt(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int, t0);
  const uint32_t *b = N > 1 ? fetch(I, w, 1, 0, SourceType::Int, t1) : a;
  const uint32_t *c = N > 2 ? fetch(I, w, 2, 0, SourceType::Int, t2) : a;
  eachLane(w.laneCount, [&](unsigned l) {
    if constexpr (N == 1)
      result.lane[l] = F{}(a[l]);
    else if constexpr (N == 2)
      result.lane[l] = F{}(a[l], b[l]);
    else
      result.lane[l] = F{}(a[l], b[l], c[l]);
  });
  storeResult(I, w, result.lane, writeMask(I, w));
}

/// Binds \p F; \p Saturating is what the clamp bit makes of it, or F itself
/// where the ISA ignores the bit.
template <typename F, unsigned N, typename Saturating>
Handler bindInt(const Instruction &I, const char *&why) {
  if (I.clamp)
    return generalInt<Saturating, N>;
  return isBare(I) ? bareInt<F, N> : generalInt<F, N>;
}

template <unsigned N, typename F, typename Saturating = F>
void addInt(SemanticsTable &table, const char *name, F, Saturating = {}) {
  table.addBinder(name, bindInt<F, N, Saturating>);
}

/// 16-bit integers: \p F gets zero-extended halves, its low half is taken.
template <typename F, unsigned N, bool KeepHigh>
void int16(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int16, t0);
  const uint32_t *b = N > 1 ? fetch(I, w, 1, 0, SourceType::Int16, t1) : a;
  const uint32_t *c = N > 2 ? fetch(I, w, 2, 0, SourceType::Int16, t2) : a;
  eachLane(w.laneCount, [&](unsigned l) {
    if constexpr (N == 1)
      result.lane[l] = F{}(a[l]) & 0xffff;
    else if constexpr (N == 2)
      result.lane[l] = F{}(a[l], b[l]) & 0xffff;
    else
      result.lane[l] = F{}(a[l], b[l], c[l]) & 0xffff;
  });
  storeResult16(I, w, result.lane, writeMask(I, w), KeepHigh);
}

template <typename F, unsigned N, typename Saturating, bool KeepHigh>
Handler bindInt16(const Instruction &I, const char *&why) {
  return I.clamp ? int16<Saturating, N, KeepHigh> : int16<F, N, KeepHigh>;
}

template <unsigned N, bool KeepHigh = false, typename F,
          typename Saturating = F>
void addInt16(SemanticsTable &table, const char *name, F, Saturating = {}) {
  table.addBinder(name, bindInt16<F, N, Saturating, KeepHigh>);
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_LANEALU_H
