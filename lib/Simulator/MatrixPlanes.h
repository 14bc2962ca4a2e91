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
#include <algorithm>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {

constexpr unsigned waveLanes = 64;
constexpr unsigned maxK = 128;
constexpr unsigned maxColumns = 32;
/// Exponent of a zero; the sum with any other stays below every real one.
constexpr int zeroExponent = -2000;
constexpr uint32_t canonicalNan = 0x7fc00000;

/// Terms of one group that is summed in integers, and how many there may be.
constexpr unsigned pairedLength = 16, maxGroups = maxK / pairedLength;
/// What stands in Plane::nearExponent for zero, and the least of the others.
constexpr int nearZero = -64, nearLeast = -31;

/// One operand of one block: element [k][index]. Exponents are there only where
/// the model of the arithmetic asks for them, and what most products do without
/// only after fillValues and fillExponents.
struct alignas(64) Plane {
  union {
    float value[maxK * maxColumns];
    int32_t integer[maxK * maxColumns];
  };
  /// Formats of at most 8 bits: the codes.
  uint8_t code[maxK * maxColumns];
  int16_t exponent[maxK * maxColumns]; ///< zeroExponent for zero
  /// Relative to maxExponent, in a byte: those below nearLeast are raised to
  /// it. Dense instructions only.
  int8_t nearExponent[maxK * maxColumns];
  bool isRaised;            ///< some nearExponent was
  bool special[maxColumns]; ///< the row or column holds infinity or NaN
  int maxExponent;          ///< no nonzero finite element has a larger one
  int minExponent;          ///< of normal numbers, kept by denormal ones

  // Formats of at most 8 bits, dense, by groups of pairedLength: elements k and
  // k + 1 as 16-bit integers in units of the group's least exponent less the
  // format's fractional bits.
  uint32_t pair[maxK / 2 * maxColumns];
  int32_t least[maxGroups][maxColumns]; ///< relative to maxExponent
  /// The exponents spread over more than `pair` holds.
  bool isWide[maxGroups][maxColumns];

  bool hasValues, hasExponents; ///< are `value` and `exponent` filled?
  /// Of a nonzero finite element.
  int exponentOf(unsigned at) const {
    return std::max(int(asBits(value[at]) >> 23 & 0xff) - 127, minExponent);
  }
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
  float *d[maxColumns]; ///< the rows of the result
};

/// Bits behind the point of a significand in [1, 2).
unsigned fractionBits(MatrixElement element);

/// Brings A and B, index pairs and scales of one block into \p p.
void loadProblem(Problem &p, unsigned block);

/// Fill Plane::value and Plane::exponent of A and B where they are not.
void fillValues(Problem &p);
void fillExponents(Problem &p);

/// Whether the result is decided by infinities and NaNs alone.
bool specialResult(const Problem &p, unsigned i, unsigned j, float &result);

/// One element by the definition of each model.
float cdna3Element(const Problem &p, unsigned i, unsigned j);
float sequentialElement(const Problem &p, unsigned i, unsigned j);

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_MATRIXPLANES_H
