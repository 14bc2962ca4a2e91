//===- FloatLanes.h - single-precision arithmetic on lanes ------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Kernels of the host's IEEE arithmetic; the frame sets the rounding mode of
// MODE and flushes denormals. NaN results do not depend on the host: the first
// NaN among the sources, quiet, or 0x7fc00000 when an operation without NaN
// sources is invalid.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_LIB_SIMULATOR_FLOATLANES_H
#define NETRA_LIB_SIMULATOR_FLOATLANES_H

#include "LaneAlu.h"
#include "LaneVectors.h"

namespace netra::sim {
namespace NETRA_SIM_VARIANT {

/// Puts the NaNs of a block of results right, in place. \p a, \p b and \p c are
/// the sources, of which the first \p sources count.
void settleNans(uint32_t *result, const uint32_t *a, const uint32_t *b,
                const uint32_t *c, unsigned sources);

/// \p F takes and gives vectors of floats.
template <typename F, unsigned N>
void floatKernel(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                 uint32_t *out, unsigned n, uint32_t) {
  for (unsigned base = 0; base < n; base += BlockLanes) {
    Floats r[BlockVectors];
    Ints nan = {};
    eachVector([&](unsigned p) {
      const unsigned l = base + p * VectorLanes;
      if constexpr (N == 1)
        r[p] = F{}(load<Floats>(a + l));
      else if constexpr (N == 2)
        r[p] = F{}(load<Floats>(a + l), load<Floats>(b + l));
      else
        r[p] =
            F{}(load<Floats>(a + l), load<Floats>(b + l), load<Floats>(c + l));
      nan |= r[p] != r[p];
    });
    if (__builtin_expect(anySet(nan), 0)) {
      uint32_t block[BlockLanes];
      std::memcpy(block, r, sizeof block);
      settleNans(block, a + base, b + base, c + base, N);
      std::memcpy(out + base, block, sizeof block);
      continue;
    }
    eachVector([&](unsigned p) { store(out + base + p * VectorLanes, r[p]); });
  }
}

/// \p F takes and gives one float.
template <typename F>
void scalarFloatKernel(const uint32_t *a, const uint32_t *, const uint32_t *,
                       uint32_t *out, unsigned n, uint32_t) {
  for (unsigned base = 0; base < n; base += BlockLanes) {
    uint32_t block[BlockLanes];
    uint32_t nan = 0;
    NETRA_LANE_LOOP
    for (unsigned l = 0; l < BlockLanes; ++l) {
      block[l] = asBits(F{}(asFloat(a[base + l])));
      nan |= isNan32(block[l]) ? 1u : 0u;
    }
    if (__builtin_expect(nan, 0))
      settleNans(block, a + base, a + base, a + base, 1);
    std::memcpy(out + base, block, sizeof block);
  }
}

struct Add {
  Floats operator()(const Floats &a, const Floats &b) const { return a + b; }
};
struct Multiply {
  Floats operator()(const Floats &a, const Floats &b) const { return a * b; }
};
struct FusedMultiplyAdd {
  NETRA_SIM_INLINE Floats operator()(const Floats &a, const Floats &b,
                                     const Floats &c) const {
#if defined(__AVX2__) && defined(__FMA__)
    return (Floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    Floats r;
    for (unsigned l = 0; l < VectorLanes; ++l)
      r[l] = __builtin_fmaf(a[l], b[l], c[l]);
    return r;
#endif
  }
};

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_FLOATLANES_H
