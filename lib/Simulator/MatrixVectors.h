//===- MatrixVectors.h - vectors of the matrix loops ------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
#ifndef NETRA_LIB_SIMULATOR_MATRIXVECTORS_H
#define NETRA_LIB_SIMULATOR_MATRIXVECTORS_H

#include <cstdint>

// Eight columns of a result, whatever vectors the host has.
typedef float FloatLanes __attribute__((vector_size(32)));
typedef int32_t IntLanes __attribute__((vector_size(32)));
typedef uint32_t WordLanes __attribute__((vector_size(32)));
typedef int16_t ShortLanes __attribute__((vector_size(16)));
typedef uint8_t ByteLanes __attribute__((vector_size(8)));
typedef int8_t SignedByteLanes __attribute__((vector_size(8)));
// Sixteen columns, and two rows of them.
typedef int16_t ShortRow __attribute__((vector_size(32)));
typedef int8_t ByteHalf __attribute__((vector_size(16)));
typedef uint8_t UnsignedByteHalf __attribute__((vector_size(16)));
typedef uint8_t ByteRow __attribute__((vector_size(32)));
typedef int8_t SignedByteRow __attribute__((vector_size(32)));
typedef uint64_t QuadRow __attribute__((vector_size(32)));

// By reference: passing vectors by value has no stable ABI without AVX.
template <typename V> inline void raiseTo(V &value, const V &bound) {
  value = value > bound ? value : bound;
}
template <typename V> inline void lowerTo(V &value, const V &bound) {
  value = value < bound ? value : bound;
}

#endif // NETRA_LIB_SIMULATOR_MATRIXVECTORS_H
