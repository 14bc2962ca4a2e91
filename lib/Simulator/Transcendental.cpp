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

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;
using UL = uint64_t;

template <typename F> void single(const Instruction &I, Wave &w) {
  LaneVector t, result;
  const bool plain = isBare(I);
  const uint32_t *a =
      plain ? w.lanes(I.src(0), 0, t) : fetch(I, w, 0, 0, SourceType::F32, t);
  eachLane(w.laneCount, [&](unsigned l) {
    const U x = flush32(a[l]);
    const U r = flush32(asBits(F{}(asFloat(x))));
    result.lane[l] =
        isNan32(r) ? (isNan32(x) ? x | 0x00400000 : DefaultNan32) : r;
  });
  if (plain) {
    w.writeLanes(I.dst(), 0, result.lane);
    return;
  }
  const FloatEnv env = floatEnv(w, true);
  if (I.clamp || I.omod)
    for (unsigned l = 0; l < w.laneCount; ++l)
      result.lane[l] = finishF32(result.lane[l], I.omod, I.clamp, env);
  storeResult(I, w, result.lane, writeMask(I, w));
}

template <typename F> void half(const Instruction &I, Wave &w) {
  LaneVector t, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F16, t);
  const FloatEnv env = floatEnv(w, false);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const U x = env.flushInputs ? flush16(a[l]) : a[l];
    const double value = F{}(double(asFloat(f32FromF16(x))));
    U r;
    if (std::isnan(value))
      r = isNan16(x) ? x | 0x0200 : 0x7e00;
    else
      r = U(convertFloat(formatF64, formatF16, asBits(value), env.rounding));
    result.lane[l] = finishF16(env.flushResults ? flush16(r) : r, I, env);
  }
  storeResult16(I, w, result.lane, writeMask(I, w), false);
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
  auto f32 = [&](const char *name, auto f) {
    t.add(name, single<decltype(f)>, AllEncodings, Fidelity::Bounded, ulp);
  };
  f32("v_exp_f32", [](float x) { return float(std::exp2(double(x))); });
  f32("v_log_f32", [](float x) { return float(std::log2(double(x))); });
  f32("v_rcp_f32", [](float x) { return 1.0f / x; });
  f32("v_rcp_iflag_f32", [](float x) { return 1.0f / x; });
  f32("v_rsq_f32",
      [](float x) { return float(1.0 / __builtin_sqrt(double(x))); });
  f32("v_sqrt_f32", [](float x) { return __builtin_sqrtf(x); });
  f32("v_sin_f32", [](float x) { return float(sinTurns(x)); });
  f32("v_cos_f32", [](float x) { return float(cosTurns(x)); });
  const char *ulp16 = "within 1 ulp; computed as the nearest value";
  auto f16 = [&](const char *name, auto f) {
    t.add(name, half<decltype(f)>, AllEncodings, Fidelity::Bounded, ulp16);
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
