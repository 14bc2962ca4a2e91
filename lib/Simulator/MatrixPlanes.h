//===- MatrixPlanes.h - operands of matrix instructions ---------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Operands are brought into planes of exact significands and exponents, row k
// after row k, so that the loops over the columns of the result vectorise.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_LIB_SIMULATOR_MATRIXPLANES_H
#define NETRA_LIB_SIMULATOR_MATRIXPLANES_H

#include "FloatFormats.h"
#include "MatrixArithmetic.h"

namespace netra::sim {
namespace NETRA_SIM_VARIANT {

constexpr unsigned waveLanes = 64;
constexpr unsigned maxK = 128;
constexpr unsigned maxColumns = 32;
/// Exponent of a zero; the sum with any other stays below every real one.
constexpr int zeroExponent = -2000;
constexpr uint32_t canonicalNan = 0x7fc00000;

/// One operand of one block: element [k][index].
struct alignas(64) Plane {
  union {
    float value[maxK * maxColumns];
    int32_t integer[maxK * maxColumns];
  };
  /// Only where the model of the arithmetic asks for them. The halves of a word
  /// are equal, so that a word can be spread to vectors of halves.
  uint32_t exponentA[maxK * maxColumns];
  int16_t exponentB[maxK * maxColumns];
  bool special[maxColumns]; ///< the row or column holds infinity or NaN
  int maxExponent;          ///< over the nonzero finite elements
};

struct Problem {
  Problem(const MatrixShape &shape, const MatrixOperands &operands)
      : shape(shape), operands(operands) {}
  const MatrixShape &shape;
  const MatrixOperands &operands;
  Plane a, b;
  /// Sparse: for each row, which k each stored element stands for.
  uint8_t position[maxColumns][maxK];
  int scaleA[4][maxColumns], scaleB[4][maxColumns]; ///< unbiased exponents
  bool badScale[2][maxColumns];
  alignas(64) float c[maxColumns][maxColumns];
  alignas(64) float d[maxColumns][maxColumns];
};

/// Brings A and B, index pairs and scales of one block into \p p.
void loadProblem(Problem &p, unsigned block);

/// Whether the result is decided by infinities and NaNs alone.
bool specialResult(const Problem &p, unsigned i, unsigned j, float &result);

/// One element by the definition of each model.
float cdna3Element(const Problem &p, unsigned i, unsigned j);
float sequentialElement(const Problem &p, unsigned i, unsigned j);

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_MATRIXPLANES_H
