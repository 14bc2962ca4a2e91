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

/// What MODE flushes: masks for clearDenormals.
struct Flushes {
  explicit Flushes(uint32_t mode)
      : inputs(mode >> ModeDenorm32Shift & 1 ? 0 : 0x7fffffff),
        results(mode >> ModeDenorm32Shift & 2 ? 0 : 0x7fffffff) {}
  uint32_t inputs, results;
};
NETRA_SIM_INLINE uint32_t clearDenormal(uint32_t bits, uint32_t mask) {
  return bits & ~((bits & 0x7f800000) == 0 ? mask : 0);
}

template <bool Flush>
NETRA_SIM_INLINE Floats source(const uint32_t *from, const Words &inputs) {
  Words v = load<Words>(from);
  if constexpr (Flush)
    clearDenormals(v, inputs);
  return (Floats)v;
}

/// One block: its results, and whether there is a NaN among them.
template <typename F, unsigned N, bool Flush>
NETRA_SIM_INLINE bool floatBlock(const uint32_t *a, const uint32_t *b,
                                 const uint32_t *c, const Flushes &flushes,
                                 Floats (&r)[BlockVectors]) {
  const Words inputs = Words{} + flushes.inputs,
              results = Words{} + flushes.results;
  auto get = [&](const uint32_t *from) { return source<Flush>(from, inputs); };
  Ints nan = {};
  eachVector([&](unsigned p) {
    const unsigned l = p * VectorLanes;
    if constexpr (N == 1)
      r[p] = F{}(get(a + l));
    else if constexpr (N == 2)
      r[p] = F{}(get(a + l), get(b + l));
    else
      r[p] = F{}(get(a + l), get(b + l), get(c + l));
    nan |= r[p] != r[p];
    if constexpr (Flush) {
      Words bits = (Words)r[p];
      clearDenormals(bits, results);
      r[p] = (Floats)bits;
    }
  });
  return anySet(nan);
}

/// The blocks from the first one with a NaN on.
template <typename F, unsigned N>
__attribute__((noinline, cold)) void
floatRest(const uint32_t *a, const uint32_t *b, const uint32_t *c,
          uint32_t *out, unsigned n, uint32_t mode) {
  const Flushes flushes(mode);
  for (unsigned base = 0; base < n; base += BlockLanes) {
    Floats r[BlockVectors];
    const bool nan =
        floatBlock<F, N, true>(a + base, b + base, c + base, flushes, r);
    uint32_t block[BlockLanes];
    std::memcpy(block, r, sizeof block);
    if (nan)
      settleNans(block, a + base, b + base, c + base, N);
    std::memcpy(out + base, block, sizeof block);
  }
}

template <typename F, unsigned N, bool Flush>
NETRA_SIM_INLINE void floatLoop(const uint32_t *a, const uint32_t *b,
                                const uint32_t *c, uint32_t *out, unsigned n,
                                uint32_t mode) {
  const Flushes flushes(mode);
  for (; n; n -= BlockLanes) {
    Floats r[BlockVectors];
    if (__builtin_expect(floatBlock<F, N, Flush>(a, b, c, flushes, r), 0))
      return floatRest<F, N>(a, b, c, out, n, mode);
    eachVector([&](unsigned p) { store(out + p * VectorLanes, r[p]); });
    a += BlockLanes;
    b += BlockLanes;
    c += BlockLanes;
    out += BlockLanes;
  }
}

// Kernels of Domain::Single flush denormals by themselves.

/// \p F takes and gives vectors of floats.
template <typename F, unsigned N>
void floatKernel(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                 uint32_t *out, unsigned n, uint32_t mode) {
  constexpr uint32_t keep = 3u << ModeDenorm32Shift;
  if (__builtin_expect((mode & keep) != keep, 0))
    return floatLoop<F, N, true>(a, b, c, out, n, mode);
  floatLoop<F, N, false>(a, b, c, out, n, mode);
}

/// \p F takes and gives the bits of one float.
template <typename F, unsigned N>
void floatBitsKernel(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                     uint32_t *out, unsigned n, uint32_t mode) {
  const Flushes flushes(mode);
  auto in = [&](uint32_t bits) { return clearDenormal(bits, flushes.inputs); };
  eachLane(n, [&](unsigned l) {
    uint32_t r;
    if constexpr (N == 1)
      r = F{}(in(a[l]));
    else if constexpr (N == 2)
      r = F{}(in(a[l]), in(b[l]));
    else
      r = F{}(in(a[l]), in(b[l]), in(c[l]));
    out[l] = clearDenormal(r, flushes.results);
  });
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
