//===- MatrixFormats.h - Element formats by definition ----------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// The formats of matrix operands from their definition, for the tests of the
// instructions: nothing here is taken from the simulator but its names.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_UNITTESTS_SIMULATOR_MATRIXFORMATS_H
#define NETRA_UNITTESTS_SIMULATOR_MATRIXFORMATS_H

#include "../../lib/Simulator/MatrixArithmetic.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>

namespace netra::sim::test {

/// A floating-point format; no bits for the formats that are none.
struct FormatLayout {
  unsigned exponentBits, mantissaBits;
  int bias;
};

inline FormatLayout layoutOf(MatrixElement e) {
  switch (e) {
  case MatrixElement::F32:
    return {8, 23, 127};
  case MatrixElement::F16:
    return {5, 10, 15};
  case MatrixElement::Bf16:
    return {8, 7, 127};
  case MatrixElement::Fp8:
    return {4, 3, 7};
  case MatrixElement::Bf8:
    return {5, 2, 15};
  case MatrixElement::Fp6:
    return {2, 3, 1};
  case MatrixElement::Bf6:
    return {3, 2, 3};
  case MatrixElement::Fp4:
    return {2, 1, 1};
  default:
    return {0, 0, 0};
  }
}

/// significand * 2^exponent, denormals with the least normal exponent.
struct Number {
  int64_t significand;
  int exponent; ///< of the leading place, as if the significand were 1.x
  unsigned mantissaBits;
  double value() const {
    return std::ldexp(double(significand), exponent - int(mantissaBits));
  }
};

inline Number numberOf(MatrixElement e, uint64_t code) {
  if (e == MatrixElement::I8)
    return {int8_t(code), 0, 0};
  FormatLayout f = layoutOf(e);
  int64_t mantissa = int64_t(code & ((1ull << f.mantissaBits) - 1));
  int exponent = int(code >> f.mantissaBits & ((1u << f.exponentBits) - 1));
  bool negative = code >> (f.exponentBits + f.mantissaBits) & 1;
  int64_t s = mantissa + (exponent ? int64_t(1) << f.mantissaBits : 0);
  return {negative ? -s : s, (exponent ? exponent : 1) - f.bias,
          f.mantissaBits};
}

/// The code of a small integer.
inline uint64_t codeOf(MatrixElement e, int value) {
  if (e == MatrixElement::F64)
    return std::bit_cast<uint64_t>(double(value));
  if (e == MatrixElement::F32)
    return std::bit_cast<uint32_t>(float(value));
  if (e == MatrixElement::Bf16)
    return std::bit_cast<uint32_t>(float(value)) >> 16;
  if (e == MatrixElement::I8)
    return uint8_t(value);
  for (uint64_t code = 0; code < 1ull << bitWidth(e); ++code)
    if (numberOf(e, code).value() == value)
      return code;
  ADD_FAILURE() << "no code for " << value;
  return 0;
}

} // namespace netra::sim::test

#endif // NETRA_UNITTESTS_SIMULATOR_MATRIXFORMATS_H
