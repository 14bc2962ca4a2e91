//===- LaneVectors.h - a few lanes as one vector of the host ----*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Loops over lanes whose results stay in the host's registers until it is known
// that none of them needs a second look (a NaN, a denormal).
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_LIB_SIMULATOR_LANEVECTORS_H
#define NETRA_LIB_SIMULATOR_LANEVECTORS_H

#include "Semantics.h"
#include "Wave.h"

#include <utility>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace netra::sim {
namespace NETRA_SIM_VARIANT {

#if defined(__AVX2__)
constexpr unsigned VectorBytes = 32;
#else
constexpr unsigned VectorBytes = 16;
#endif
constexpr unsigned VectorLanes = VectorBytes / 4;

typedef float Floats __attribute__((vector_size(VectorBytes)));
typedef uint32_t Words __attribute__((vector_size(VectorBytes)));
typedef int32_t Ints __attribute__((vector_size(VectorBytes)));

/// Every wave is a whole number of these.
constexpr unsigned BlockLanes = 32;
constexpr unsigned BlockVectors = BlockLanes / VectorLanes;

template <typename V> NETRA_SIM_INLINE V load(const uint32_t *from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename V> NETRA_SIM_INLINE void store(uint32_t *to, const V &v) {
  std::memcpy(to, &v, sizeof v);
}

/// Whether any lane of a comparison's result is set.
NETRA_SIM_INLINE bool anySet(const Ints &mask) {
#if defined(__AVX2__)
  return _mm256_movemask_epi8((__m256i)mask) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_epi8((__m128i)mask) != 0;
#else
  uint64_t part[VectorBytes / 8];
  std::memcpy(part, &mask, sizeof part);
  uint64_t any = 0;
  for (uint64_t p : part)
    any |= p;
  return any != 0;
#endif
}

/// Whether one of two numbers is NaN.
NETRA_SIM_INLINE Ints unordered(const Floats &x, const Floats &y) {
#if defined(__AVX2__)
  return (Ints)_mm256_cmp_ps((__m256)x, (__m256)y, _CMP_UNORD_Q);
#else
  return (x != x) | (y != y);
#endif
}

/// Clears the bits of \p mask in denormals: with 0x7fffffff it flushes them.
NETRA_SIM_INLINE void clearDenormals(Words &v, const Words &mask) {
  v &= ~((Words)((v & 0x7f800000) == 0) & mask);
}

/// The sign bits of the lanes, lane 0 lowest.
NETRA_SIM_INLINE uint64_t signBits(const Ints &mask) {
#if defined(__AVX2__)
  return unsigned(_mm256_movemask_ps((__m256)mask));
#elif defined(__SSE2__)
  return unsigned(_mm_movemask_ps((__m128)mask));
#else
  uint64_t bits = 0;
  for (unsigned l = 0; l < VectorLanes; ++l)
    bits |= uint64_t(uint32_t(mask[l]) >> 31) << l;
  return bits;
#endif
}

#if defined(__AVX2__) && defined(__F16C__)
#define NETRA_SIM_HALF_VECTORS 1
/// Zero-extended halves to f32 and back, nearest even; NaNs are quieted.
NETRA_SIM_INLINE Floats widenHalves(const uint32_t *from) {
  const __m128i low = _mm_loadu_si128((const __m128i *)from),
                high = _mm_loadu_si128((const __m128i *)(from + 4));
  return (Floats)_mm256_cvtph_ps(_mm_packus_epi32(low, high));
}
NETRA_SIM_INLINE Words narrowToHalves(const Floats &v) {
  return (Words)_mm256_cvtepu16_epi32(
      _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
}
#endif

/// Calls \p body with 0, 1, ..., BlockVectors - 1 as constants, so that arrays
/// of vectors which it indexes live in registers.
template <typename Body, unsigned... P>
NETRA_SIM_INLINE void eachVector(Body body,
                                 std::integer_sequence<unsigned, P...>) {
  (body(P), ...);
}
template <typename Body> NETRA_SIM_INLINE void eachVector(Body body) {
  eachVector(body, std::make_integer_sequence<unsigned, BlockVectors>());
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_LANEVECTORS_H
