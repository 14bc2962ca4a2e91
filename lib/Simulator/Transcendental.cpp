//===- Transcendental.cpp - exp, log, rcp, rsq, sqrt, sin, cos ------------===//
// SPDX-License-Identifier: MIT
//
// The ISA does not define these to the bit. Results are computed in double
// precision and rounded once, so they are the number nearest to the true value
// but for rare ties; hardware may differ from them by one unit in the last
// place. Single-precision forms flush denormals whatever MODE says.
//
//===----------------------------------------------------------------------===//
#include "FloatOps.h"
#include "LaneAlu.h"
#include "VectorAlu.h"

#include <cmath>
#include <type_traits>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;
using UL = uint64_t;

/// The result of an f32 function of a flushed source.
NETRA_SIM_INLINE U settle(U x, float value) {
  const U r = flush32(asBits(value));
  return isNan32(r) ? (isNan32(x) ? x | 0x00400000 : DefaultNan32) : r;
}

/// \p Vector: the compiler can make vector code of \p F, which calls nothing.
template <typename F, bool Vector>
void singleKernel(const uint32_t *a, const uint32_t *, const uint32_t *,
                  uint32_t *out, unsigned n, uint32_t) {
  auto one = [&](unsigned l) {
    const U x = flush32(a[l]);
    out[l] = settle(x, F{}(asFloat(x)));
  };
  if constexpr (Vector)
    eachLane(n, one);
  else
    for (unsigned l = 0; l < n; ++l)
      one(l);
}

void single(const Instruction &I, Wave &w) {
  LaneVector t, result;
  const unsigned n = w.laneCount;
  if (isBare(I)) {
    I.kernel(w.lanes(I.src(0), 0, t), nullptr, nullptr, result.lane, n, w.mode);
    w.writeLanes(I.dst(), 0, result.lane);
    return;
  }
  I.kernel(fetch(I, w, 0, 0, SourceType::F32, t), nullptr, nullptr, result.lane,
           n, w.mode);
  if (I.clamp || I.omod)
    finishLanes(I, n, floatEnv(w, true), result);
  storeResult(I, w, result.lane, writeMask(I, w));
}

/// \p F takes and gives doubles.
template <typename F>
void halfFunction(const uint32_t *a, const uint32_t *, const uint32_t *,
                  uint32_t *out, unsigned n, uint32_t mode) {
  const FloatEnv env = floatEnv(mode, false);
  for (unsigned l = 0; l < n; ++l) {
    const double value = F{}(double(asFloat(f32FromF16(a[l]))));
    U r;
    if (std::isnan(value))
      r = isNan16(a[l]) ? a[l] | 0x0200 : 0x7e00;
    else
      r = U(convertFloat(formatF64, formatF16, asBits(value), env.rounding));
    out[l] = env.flushResults ? flush16(r) : r;
  }
}

template <typename F> void twofold(const Instruction &I, Wave &w) {
  LaneVector t0, t1, low, high;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int, t0);
  const uint32_t *b = fetch(I, w, 0, 1, SourceType::F64High, t1);
  const FloatEnv env = floatEnv(w, false);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    UL x = a[l] | UL(b[l]) << 32;
    if (env.flushInputs)
      x = flush64(x);
    UL r = asBits(F{}(asDouble(x)));
    if (isNan64(r))
      r = isNan64(x) ? x | 0x0008000000000000 : DefaultNan64;
    r = finishF64(env.flushResults ? flush64(r) : r, I, env);
    low.lane[l] = U(r);
    high.lane[l] = U(r >> 32);
  }
  const UL mask = writeMask(I, w);
  storeWord(w, I.dst(), 0, low.lane, mask);
  storeWord(w, I.dst(), 1, high.lane, mask);
}

/// 2^x, to an error far below that of rounding to single precision. Written out
/// because vector code of it is many times as fast as a call for each lane.
NETRA_SIM_INLINE float power2(float single) {
  // Beyond these all is zero or infinity in single precision.
  double x = single;
  x = x < -200 ? -200 : x > 200 ? 200 : x;
  // The sum ends in the nearest integer, the rest is at most a half.
  constexpr double shifter = 0x1.8p52;
  const double shifted = x + shifter;
  const double rest = (x - (shifted - shifter)) * 0.693147180559945309417;
  // The exponential series; what is left out is below 2^-52.
  double sum = 1.0 / 479001600;
  auto term = [&](double divisor) { sum = sum * rest + 1.0 / divisor; };
  term(39916800);
  term(3628800);
  term(362880);
  term(40320);
  term(5040);
  term(720);
  term(120);
  term(24);
  term(6);
  term(2);
  term(1);
  term(1);
  return float(sum * asDouble((asBits(shifted) + 1023) << 52));
}

/// sin or cos of x turns; the reduction to one turn is exact.
double sinTurns(double x) {
  if (std::isinf(x))
    return NAN;
  double f = x - roundEven(x);
  return f == 0 ? f : std::sin(f * 6.283185307179586476925);
}
double cosTurns(double x) {
  if (std::isinf(x))
    return NAN;
  double f = x - roundEven(x);
  if (std::fabs(f) == 0.25)
    return 0;
  return std::cos(f * 6.283185307179586476925);
}

} // namespace

void registerTranscendental(SemanticsTable &t) {
  const char *ulp = "within 1 ulp; computed as the nearest value, f32 "
                    "denormals flushed";
  auto f32 = [&](const char *name, auto f, auto vector) {
    t.add(name, single, AllEncodings, Fidelity::Bounded, ulp).kernel =
        singleKernel<decltype(f), vector.value>;
  };
  constexpr std::true_type vector;
  constexpr std::false_type scalar;
  f32("v_exp_f32", [](float x) { return power2(x); }, vector);
  f32("v_log_f32", [](float x) { return float(std::log2(double(x))); }, scalar);
  constexpr auto reciprocal = [](float x) { return 1.0f / x; };
  f32("v_rcp_f32", reciprocal, vector);
  f32("v_rcp_iflag_f32", reciprocal, vector);
  constexpr auto inverseRoot = [](float x) {
    return float(1.0 / __builtin_sqrt(double(x)));
  };
  f32("v_rsq_f32", inverseRoot, vector);
  f32("v_sqrt_f32", [](float x) { return __builtin_sqrtf(x); }, vector);
  f32("v_sin_f32", [](float x) { return float(sinTurns(x)); }, scalar);
  f32("v_cos_f32", [](float x) { return float(cosTurns(x)); }, scalar);
  const char *ulp16 = "within 1 ulp; computed as the nearest value";
  auto f16 = [&](const char *name, auto f) {
    t.add(name, halfLanes<true, 1, false>, AllEncodings, Fidelity::Bounded,
          ulp16)
        .kernel = halfFunction<decltype(f)>;
  };
  f16("v_exp_f16", [](double x) { return std::exp2(x); });
  f16("v_log_f16", [](double x) { return std::log2(x); });
  f16("v_rcp_f16", [](double x) { return 1.0 / x; });
  f16("v_rsq_f16", [](double x) { return 1.0 / std::sqrt(x); });
  f16("v_sqrt_f16", [](double x) { return std::sqrt(x); });
  f16("v_sin_f16", [](double x) { return sinTurns(x); });
  f16("v_cos_f16", [](double x) { return cosTurns(x); });
  const char *seed = "hardware gives an approximation good to about 2^-24 for "
                     "refinement; computed as the nearest value";
  auto f64 = [&](const char *name, auto f) {
    t.add(name, twofold<decltype(f)>,
          unsigned(Encoding::Plain) | unsigned(Encoding::Dpp),
          Fidelity::Bounded, seed);
  };
  f64("v_rcp_f64", [](double x) { return 1.0 / x; });
  f64("v_rsq_f64", [](double x) { return 1.0 / std::sqrt(x); });
  f64("v_sqrt_f64", [](double x) { return std::sqrt(x); });
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
