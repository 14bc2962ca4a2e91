//===- VectorHalf.cpp - half-precision instructions -----------------------===//
// SPDX-License-Identifier: MIT
#include "HalfOps.h"
#include "LaneAlu.h"
#include "VectorAlu.h"

#include <cmath>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;

/// \p KeepHigh: instructions that leave the other half of the destination.
/// \p Tied: the destination is the last source.
template <typename Op, bool KeepHigh = false, bool Tied = false>
void add(SemanticsTable &t, const char *name,
         Fidelity fidelity = Fidelity::Exact, const char *note = "") {
  t.add(name, halfLanes<true, Op::sources, KeepHigh, Tied>, AllEncodings,
        fidelity, note)
      .kernel = halfKernel<Op>;
}

template <bool WantMax> struct Extremum3 {
  static constexpr unsigned sources = 3;
  static U run(const FloatEnv &env, U a, U b, U c) {
    return WantMax ? Half::max(env.ieee, Half::max(env.ieee, a, b), c)
                   : Half::min(env.ieee, Half::min(env.ieee, a, b), c);
  }
};
struct Median3 {
  static constexpr unsigned sources = 3;
  static U run(const FloatEnv &env, U a, U b, U c) {
    return Half::median(env.ieee, a, b, c);
  }
};

/// Rounding to integers and the like; exact in double.
template <typename F> struct Unary {
  static constexpr unsigned sources = 1;
  static U run(const FloatEnv &env, U a, U, U) {
    return settleNan16<1>(roundToF16(env, F{}(doubleFromF16(a))), a, 0, 0);
  }
};
template <typename F> void addUnary(SemanticsTable &t, const char *name, F) {
  add<Unary<F>>(t, name);
}

double fract(double x) {
  if (std::isinf(x))
    return NAN;
  const double r = x - std::floor(x);
  return r > 0x1.ffcp-1 ? 0x1.ffcp-1 : r;
}

struct DivFixup {
  static constexpr unsigned sources = 3;
  static U run(const FloatEnv &, U quotient, U d, U n) {
    const U sign = (d ^ n) & 0x8000, absD = d & 0x7fff, absN = n & 0x7fff;
    if (isNan16(n))
      return n | 0x0200;
    if (isNan16(d))
      return d | 0x0200;
    if ((absD == 0 && absN == 0) || (absD == 0x7c00 && absN == 0x7c00))
      return 0xfe00;
    if (absD == 0 || absN == 0x7c00)
      return sign | 0x7c00;
    if (absD == 0x7c00 || absN == 0)
      return sign;
    return sign | (quotient & 0x7fff);
  }
};

void ldexpF16(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const FloatEnv env = floatEnv(w, false);
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F16, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::Int16, t1);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const U x = env.flushInputs ? flush16(a[l]) : a[l];
    int by = int16_t(b[l]);
    by = by > 100 ? 100 : by < -100 ? -100 : by;
    U r = U(convertFloatScaled(formatF16, formatF16, x, by, env.rounding,
                               env.fp16Overflow ? OverflowRule::Saturate
                                                : OverflowRule::Ieee));
    result.lane[l] = finishF16(env.flushResults ? flush16(r) : r, I, env);
  }
  storeResult16(I, w, result.lane, writeMask(I, w), false);
}

template <bool Mantissa> void frexpF16(const Instruction &I, Wave &w) {
  LaneVector t, result;
  const FloatEnv env = floatEnv(w, false);
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F16, t);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const U x = env.flushInputs ? flush16(a[l]) : a[l];
    const U magnitude = x & 0x7fff;
    int exponent = 0;
    U mantissa = isNan16(x) ? x | 0x0200 : x;
    if (magnitude && magnitude < 0x7c00) {
      const double m = std::frexp(doubleFromF16(x), &exponent);
      mantissa = f16FromF64(m);
    }
    result.lane[l] =
        Mantissa ? finishF16(mantissa, I, env) : U(exponent) & 0xffff;
  }
  storeResult16(I, w, result.lane, writeMask(I, w), false);
}

} // namespace

void registerVectorHalf(SemanticsTable &t) {
  add<HalfAdd>(t, "v_add_f16");
  add<HalfSub>(t, "v_sub_f16");
  add<HalfSubrev>(t, "v_subrev_f16");
  add<HalfMul>(t, "v_mul_f16");
  add<HalfMin>(t, "v_min_f16");
  add<HalfMax>(t, "v_max_f16");
  add<Extremum3<false>>(t, "v_min3_f16");
  add<Extremum3<true>>(t, "v_max3_f16");
  add<Median3>(t, "v_med3_f16");
  add<HalfFma, true>(t, "v_fma_f16");
  add<HalfFma>(t, "v_fma_legacy_f16");
  add<DivFixup, true>(t, "v_div_fixup_f16");
  add<DivFixup>(t, "v_div_fixup_legacy_f16");
  const char *unfused = "product and sum rounded apart";
  add<HalfMad, true>(t, "v_mad_f16", Fidelity::Bounded, unfused);
  for (const char *name : {"v_mad_legacy_f16", "v_madak_f16", "v_madmk_f16"})
    add<HalfMad>(t, name, Fidelity::Bounded, unfused);
  add<HalfMad, false, true>(t, "v_mac_f16", Fidelity::Bounded, unfused);
  addUnary(t, "v_trunc_f16", [](double x) { return std::trunc(x); });
  addUnary(t, "v_ceil_f16", [](double x) { return std::ceil(x); });
  addUnary(t, "v_floor_f16", [](double x) { return std::floor(x); });
  addUnary(t, "v_rndne_f16", [](double x) { return roundEven(x); });
  addUnary(t, "v_fract_f16", [](double x) { return fract(x); });
  t.add("v_ldexp_f16", ldexpF16, AllEncodings);
  t.add("v_frexp_mant_f16", frexpF16<true>, AllEncodings);
  t.add("v_frexp_exp_i16_f16", frexpF16<false>, AllEncodings);
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
