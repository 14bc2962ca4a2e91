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

NETRA_SIM_INLINE FloatEnv floatEnv(uint32_t mode, bool isF32) {
  const unsigned denorm =
      mode >> (isF32 ? ModeDenorm32Shift : ModeDenorm64Shift);
  const unsigned round = mode >> (isF32 ? ModeRound32Shift : ModeRound64Shift);
  return {(denorm & 1) == 0,           (denorm & 2) == 0,
          RoundingMode(round & 3),     (mode & ModeIeee) != 0,
          (mode & ModeDx10Clamp) != 0, (mode & ModeFp16Overflow) != 0};
}
NETRA_SIM_INLINE FloatEnv floatEnv(const Wave &w, bool isF32) {
  return floatEnv(w.mode, isF32);
}

/// Runs \p body for every lane. Waves have 32 or 64 of them; a constant count
/// in the inner loop, at bases that the compiler sees not to wrap around, lets
/// it become vector code without a remainder.
template <typename Body> NETRA_SIM_INLINE void eachLane(unsigned n, Body body) {
  for (unsigned part = 0; part < n / 32; ++part) {
    const unsigned base = part ? 32 : 0;
    NETRA_LANE_LOOP
    for (unsigned l = 0; l < 32; ++l)
      body(base + l);
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

/// \p from with denormals flushed, in \p scratch (which may hold \p from).
const uint32_t *flushLanes(unsigned n, const uint32_t *from,
                           LaneVector &scratch);

/// Applies omod and clamp to \p n f32 results.
void finishLanes(const Instruction &I, unsigned n, const FloatEnv &env,
                 LaneVector &result);

//===----------------------------------------------------------------------===//
// Frames: everything of an instruction but its arithmetic
//===----------------------------------------------------------------------===//

/// What a kernel computes on, and what MODE and modifiers do around it.
enum class Domain : uint8_t {
  Integer,    ///< 32-bit integers
  Single,     ///< f32: rounding and denormals by MODE, omod, clamp
  FromSingle, ///< f32 to integers: denormal sources by MODE
  ToSingle    ///< integers to f32: rounding by MODE, omod, clamp
};

/// The frame for a kernel of \p N sources; \p Tied: the destination is the last
/// of them. Without modifiers and in the usual MODE the kernel works on the
/// registers themselves. Instances are in LaneAlu.cpp.
template <Domain D, unsigned N, bool Tied = false>
Handler bindLanes(const Instruction &I, const char *&why);

/// The frame of 16-bit operands: floats (denormals by the MODE of f16, omod,
/// clamp) or integers. \p Tied as above; \p KeepHigh: the result leaves the
/// other half of the destination alone. The kernel gets zero-extended halves.
template <bool Float, unsigned N, bool KeepHigh, bool Tied = false>
void halfLanes(const Instruction &I, Wave &w);

/// Runs the kernel of an f32 instruction, which flushes denormals by itself, on
/// \p n rows in the rounding mode of MODE.
void runSingle(LaneKernel kernel, Wave &w, unsigned n,
               const uint32_t *const *source, uint32_t *out);

/// \p F, a stateless function object, takes N words and gives one.
template <typename F, unsigned N>
void wordKernel(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                uint32_t *out, unsigned n, uint32_t mode) {
  eachLane(n, [&](unsigned l) {
    if constexpr (N == 1)
      out[l] = F{}(a[l]);
    else if constexpr (N == 2)
      out[l] = F{}(a[l], b[l]);
    else
      out[l] = F{}(a[l], b[l], c[l]);
  });
}

/// Registers \p F; \p Saturating is what the clamp bit makes of it.
template <unsigned N, typename F>
Semantics &addInt(SemanticsTable &table, const char *name, F) {
  Semantics &added = table.addBinder(name, bindLanes<Domain::Integer, N>);
  added.kernel = wordKernel<F, N>;
  return added;
}
template <unsigned N, typename F, typename Saturating>
void addInt(SemanticsTable &table, const char *name, F f, Saturating) {
  addInt<N>(table, name, f).clampKernel = wordKernel<Saturating, N>;
}

/// 16-bit integers: \p F gets zero-extended halves, its low half is taken.
template <unsigned N, bool KeepHigh = false, typename F>
Semantics &addInt16(SemanticsTable &table, const char *name, F) {
  Semantics &added =
      table.add(name, halfLanes<false, N, KeepHigh>, AllEncodings);
  added.kernel = wordKernel<F, N>;
  return added;
}
template <unsigned N, bool KeepHigh = false, typename F, typename Saturating>
void addInt16(SemanticsTable &table, const char *name, F f, Saturating) {
  addInt16<N, KeepHigh>(table, name, f).clampKernel = wordKernel<Saturating, N>;
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_LANEALU_H
