//===- FloatOps.h - selections among floats on their bits -------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Minimum, maximum, median and rounding to integers, as the ISA orders zeros
// and treats NaNs, for the three IEEE formats of the VALU.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_LIB_SIMULATOR_FLOATOPS_H
#define NETRA_LIB_SIMULATOR_FLOATOPS_H

#include "LaneAlu.h"

namespace netra::sim {
namespace NETRA_SIM_VARIANT {

NETRA_SIM_INLINE bool isNan64(uint64_t bits) {
  return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
}
NETRA_SIM_INLINE bool isNan16(uint32_t bits) {
  return (bits & 0x7fff) > 0x7c00;
}

/// An IEEE format of \p Width bits, held in a \p Bits, and the operations that
/// choose among its numbers. -0 orders below +0.
template <typename Bits, unsigned Width, unsigned MantissaBits> struct Ieee {
  static constexpr Bits Sign = Bits(1) << (Width - 1), Magnitude = Sign - 1;
  static constexpr Bits Quiet = Bits(1) << (MantissaBits - 1);
  static constexpr Bits Infinity = Magnitude & ~((Bits(1) << MantissaBits) - 1);

  static NETRA_SIM_INLINE bool isNan(Bits v) {
    return (v & Magnitude) > Infinity;
  }
  static NETRA_SIM_INLINE bool isSignalling(Bits v) {
    return isNan(v) && !(v & Quiet);
  }
  static NETRA_SIM_INLINE bool isLess(Bits a, Bits b) {
    // Among negative numbers the larger magnitude is the lesser; equal bits
    // may go either way. As unsigned, the negative ones come last.
    auto key = [](Bits v) { return v & Sign ? Magnitude & ~v : v | Sign; };
    return key(a) < key(b);
  }

  /// A quiet NaN gives way to the other operand. With the IEEE bit a
  /// signalling NaN wins, quieted, the first one first.
  static NETRA_SIM_INLINE Bits settle(bool ieee, Bits picked, Bits a, Bits b) {
    Bits r = isNan(b) ? a : picked;
    r = isNan(a) ? b : r;
    if (ieee) {
      r = isSignalling(b) ? b | Quiet : r;
      r = isSignalling(a) ? a | Quiet : r;
    }
    return r;
  }
  static NETRA_SIM_INLINE Bits min(bool ieee, Bits a, Bits b) {
    return settle(ieee, isLess(a, b) ? a : b, a, b);
  }
  static NETRA_SIM_INLINE Bits max(bool ieee, Bits a, Bits b) {
    return settle(ieee, isLess(b, a) ? a : b, a, b);
  }
  static NETRA_SIM_INLINE Bits median(bool ieee, Bits a, Bits b, Bits c) {
    if (isNan(a) || isNan(b) || isNan(c))
      return min(ieee, min(ieee, a, b), c);
    const Bits low = min(ieee, a, b), high = max(ieee, a, b);
    return max(ieee, low, min(ieee, high, c));
  }
  /// minimum3 and maximum3: NaN as soon as one source is NaN.
  static NETRA_SIM_INLINE Bits propagate(bool wantMax, Bits a, Bits b) {
    if (isNan(a))
      return a | Quiet;
    if (isNan(b))
      return b | Quiet;
    return isLess(b, a) == wantMax ? a : b;
  }
};
using Half = Ieee<uint32_t, 16, 10>;
using Single = Ieee<uint32_t, 32, 23>;
using Double = Ieee<uint64_t, 64, 52>;

/// Round to an integer, ties to even, whatever the host's rounding mode.
NETRA_SIM_INLINE float roundEven(float x) {
  float whole = __builtin_floorf(x);
  float rest = x - whole;
  bool up = rest > 0.5f ||
            (rest == 0.5f && __builtin_floorf(whole * 0.5f) * 2.0f != whole);
  float r = up ? whole + 1.0f : whole;
  return __builtin_copysignf(r, x);
}
NETRA_SIM_INLINE double roundEven(double x) {
  double whole = __builtin_floor(x);
  double rest = x - whole;
  bool up = rest > 0.5 ||
            (rest == 0.5 && __builtin_floor(whole * 0.5) * 2.0 != whole);
  double r = up ? whole + 1.0 : whole;
  return __builtin_copysign(r, x);
}

/// \p value with its last bit set if \p error, what it lacks of the exact
/// result, is not zero; a later rounding to fewer bits is then correct.
NETRA_SIM_INLINE double markInexact(double value, double error) {
  uint64_t bits = asBits(value);
  if (error != 0 && error == error && !(bits & 1))
    bits += (error > 0) == (value > 0) ? 1 : -1;
  return asDouble(bits);
}

/// a * b + c for factors of at most 26 bits, with every bit of the exact result
/// accounted for in the last one.
NETRA_SIM_INLINE double stickyFma(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  const double back = sum - product;
  return markInexact(sum, (product - (sum - back)) + (c - back));
}

/// Output modifier and clamp of f16 and f64 results.
NETRA_SIM_INLINE uint32_t finishF16(uint32_t bits, const Instruction &I,
                                    const FloatEnv &env) {
  if (I.omod && env.flushResults && !env.ieee && !isNan16(bits)) {
    static constexpr int shift[] = {0, 1, 2, -1};
    bits = flush16(uint32_t(convertFloatScaled(formatF16, formatF16, bits,
                                               shift[I.omod], env.rounding)));
    bits = (bits & 0x7fff) ? bits : 0;
  }
  if (I.clamp) {
    if (isNan16(bits))
      return env.dx10Clamp ? 0 : bits;
    if (bits & 0x8000)
      return 0;
    return bits > 0x3c00 ? 0x3c00 : bits;
  }
  return bits;
}
NETRA_SIM_INLINE uint64_t finishF64(uint64_t bits, const Instruction &I,
                                    const FloatEnv &env) {
  if (I.omod && env.flushResults && !env.ieee && !isNan64(bits)) {
    static constexpr double factor[] = {1, 2, 4, 0.5};
    bits = flush64(asBits(asDouble(bits) * factor[I.omod]));
    bits = bits << 1 ? bits : 0;
  }
  if (I.clamp) {
    if (isNan64(bits))
      return env.dx10Clamp ? 0 : bits;
    if (bits >> 63)
      return 0;
    return bits > 0x3ff0000000000000 ? 0x3ff0000000000000 : bits;
  }
  return bits;
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_FLOATOPS_H
