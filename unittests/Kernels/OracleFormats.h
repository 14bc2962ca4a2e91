//===- OracleFormats.h - bf16 and FP8 for the oracles -----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Conversions written for the oracles alone, by arithmetic on doubles: nothing
// here is shared with the kernels, the compiler or the simulator.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_ORACLEFORMATS_H
#define NETRA_UNITTESTS_KERNELS_ORACLEFORMATS_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace oracle {

/// Nearest multiple of 2^exponent, ties to even.
inline double roundToGrid(double value, int exponent) {
  return std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
}

inline double decodeBf16(uint16_t code) {
  int sign = code >> 15, exponent = (code >> 7) & 0xff, mantissa = code & 0x7f;
  double magnitude;
  if (exponent == 0xff)
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, -133);
  else
    magnitude = std::ldexp(128 + mantissa, exponent - 134);
  return sign ? -magnitude : magnitude;
}

/// Nearest bf16, ties to even, overflow to infinity.
inline uint16_t encodeBf16(double value) {
  if (std::isnan(value))
    return 0x7fc0;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  if (std::isinf(magnitude))
    return sign | 0x7f80;
  int exponent = std::max(std::ilogb(magnitude), -126);
  double rounded = roundToGrid(magnitude, exponent - 7);
  if (rounded >= std::ldexp(1.0, exponent + 1))
    ++exponent;
  if (exponent > 127)
    return sign | 0x7f80;
  int units = static_cast<int>(std::ldexp(rounded, 7 - exponent));
  // Normal numbers have units in [128, 256); below that only at exponent -126.
  return sign |
         static_cast<uint16_t>(
             units < 128 ? units : ((exponent + 127) << 7) + (units - 128));
}

/// Consecutive integers for consecutive bf16 values; -0 and +0 coincide.
inline int ordinalBf16(uint16_t code) {
  return code & 0x8000 ? -static_cast<int>(code & 0x7fff)
                       : static_cast<int>(code);
}

inline bool isNanBf16(uint16_t code) { return (code & 0x7fff) > 0x7f80; }

/// OCP E4M3: bias 7, no infinity, NaN 0x7f and 0xff, largest value 448.
inline double decodeFp8(uint8_t code) {
  int sign = code >> 7, exponent = (code >> 3) & 15, mantissa = code & 7;
  if (exponent == 15 && mantissa == 7)
    return std::numeric_limits<double>::quiet_NaN();
  double magnitude = exponent == 0 ? std::ldexp(mantissa, -9)
                                   : std::ldexp(8 + mantissa, exponent - 10);
  return sign ? -magnitude : magnitude;
}

/// Nearest E4M3, ties to even, saturating.
inline uint8_t encodeFp8(double value) {
  if (std::isnan(value))
    return 0x7f;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  double magnitude = std::min(std::fabs(value), 448.0);
  if (magnitude == 0)
    return sign;
  int exponent = std::max(std::ilogb(magnitude), -6);
  double rounded = roundToGrid(magnitude, exponent - 3);
  if (rounded >= std::ldexp(1.0, exponent + 1))
    ++exponent;
  int units = static_cast<int>(std::ldexp(rounded, 3 - exponent));
  return sign | static_cast<uint8_t>(
                    units < 8 ? units : ((exponent + 7) << 3) + (units - 8));
}

inline int ordinalFp8(uint8_t code) {
  return code & 0x80 ? -static_cast<int>(code & 0x7f) : static_cast<int>(code);
}
inline bool isNanFp8(uint8_t code) { return (code & 0x7f) == 0x7f; }

/// Consecutive integers for consecutive f32 values.
inline int64_t ordinalF32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits & 0x80000000u ? -static_cast<int64_t>(bits & 0x7fffffffu)
                            : static_cast<int64_t>(bits);
}

} // namespace oracle

#endif // NETRA_UNITTESTS_KERNELS_ORACLEFORMATS_H
