//===- FloatLanes.h - single-precision arithmetic on lanes ------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Arithmetic is the host's IEEE arithmetic in the rounding mode of MODE, with
// denormals flushed in bits where MODE says so. NaN results do not depend on
// the host: the first NaN among the sources, quiet, or 0x7fc00000 when an
// operation without NaN sources is invalid.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_LIB_SIMULATOR_FLOATLANES_H
#define NETRA_LIB_SIMULATOR_FLOATLANES_H

#include "LaneAlu.h"

namespace netra::sim {
namespace NETRA_SIM_VARIANT {

/// How a result relates to IEEE arithmetic.
enum class Rule : uint8_t {
  Arithmetic, ///< \p F takes and gives float; NaNs are settled by the frame
  Bits        ///< \p F takes bits and MODE; denormals are still flushed
};

template <typename F, unsigned N, Rule R>
NETRA_SIM_INLINE uint32_t one(const FloatEnv &env, uint32_t a, uint32_t b,
                              uint32_t c) {
  if constexpr (R == Rule::Bits) {
    if constexpr (N == 1)
      return F{}(env, a);
    else if constexpr (N == 2)
      return F{}(env, a, b);
    else
      return F{}(env, a, b, c);
  } else {
    if constexpr (N == 1)
      return asBits(F{}(asFloat(a)));
    else if constexpr (N == 2)
      return asBits(F{}(asFloat(a), asFloat(b)));
    else
      return asBits(F{}(asFloat(a), asFloat(b), asFloat(c)));
  }
}

template <unsigned N>
NETRA_SIM_INLINE uint32_t settleNan(uint32_t result, uint32_t a, uint32_t b,
                                    uint32_t c) {
  if (!isNan32(result))
    return result;
  if (isNan32(a))
    return a | 0x00400000;
  if (N > 1 && isNan32(b))
    return b | 0x00400000;
  if (N > 2 && isNan32(c))
    return c | 0x00400000;
  return DefaultNan32;
}

/// Computes all lanes into \p result.
template <typename F, unsigned N, Rule R, bool Flush>
NETRA_SIM_INLINE void compute(const FloatEnv &env, unsigned n,
                              const uint32_t *a, const uint32_t *b,
                              const uint32_t *c, uint32_t *result) {
  auto in = [](uint32_t v) { return Flush ? flush32(v) : v; };
  uint32_t nan = 0;
  eachLane(n, [&](unsigned l) {
    uint32_t r = one<F, N, R>(env, in(a[l]), in(b[l]), in(c[l]));
    if constexpr (Flush)
      r = flush32(r);
    if constexpr (R == Rule::Arithmetic)
      nan |= isNan32(r) ? 1u : 0u;
    result[l] = r;
  });
  if (R == Rule::Arithmetic && __builtin_expect(nan, 0))
    eachLane(n, [&](unsigned l) {
      result[l] = settleNan<N>(result[l], a[l], b[l], c[l]);
    });
}

/// Every MODE that the two instances of compute() do not cover.
template <typename F, unsigned N, Rule R>
__attribute__((noinline)) void
computeSlowly(const FloatEnv &env, unsigned n, const uint32_t *a,
              const uint32_t *b, const uint32_t *c, uint32_t *result) {
  HostRounding rounding(env.rounding);
  for (unsigned l = 0; l < n; ++l) {
    uint32_t x[3] = {a[l], b[l], c[l]};
    if (env.flushInputs)
      for (uint32_t &v : x)
        v = flush32(v);
    uint32_t r = one<F, N, R>(env, x[0], x[1], x[2]);
    if (env.flushResults)
      r = flush32(r);
    result[l] = R == Rule::Arithmetic ? settleNan<N>(r, x[0], x[1], x[2]) : r;
  }
}

template <typename F, unsigned N, Rule R>
NETRA_SIM_INLINE void run(const FloatEnv &env, unsigned n, const uint32_t *a,
                          const uint32_t *b, const uint32_t *c,
                          uint32_t *result) {
  const bool rounds =
      R == Rule::Arithmetic && env.rounding != RoundingMode::NearestEven;
  if (__builtin_expect(rounds || env.flushInputs != env.flushResults, 0))
    computeSlowly<F, N, R>(env, n, a, b, c, result);
  else if (env.flushInputs)
    compute<F, N, R, true>(env, n, a, b, c, result);
  else
    compute<F, N, R, false>(env, n, a, b, c, result);
}

struct FusedMultiplyAdd {
  float operator()(float a, float b, float c) const {
    return __builtin_fmaf(a, b, c);
  }
};

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_FLOATLANES_H
