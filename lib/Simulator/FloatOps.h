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

/// A signed integer that orders like the number, with -0 below +0.
NETRA_SIM_INLINE int32_t orderKey32(uint32_t bits) {
  return int32_t(bits ^ (uint32_t(int32_t(bits) >> 31) & 0x7fffffff));
}
NETRA_SIM_INLINE int64_t orderKey64(uint64_t bits) {
  return int64_t(bits ^ (uint64_t(int64_t(bits) >> 63) & 0x7fffffffffffffff));
}

/// A quiet NaN gives way to the other operand. With the IEEE bit a signalling
/// NaN wins, quieted, the first one first.
NETRA_SIM_INLINE uint32_t settleMinMax32(const FloatEnv &env, uint32_t picked,
                                         uint32_t a, uint32_t b) {
  uint32_t r = isNan32(b) ? a : picked;
  r = isNan32(a) ? b : r;
  if (env.ieee) {
    r = isSignalling32(b) ? b | 0x00400000 : r;
    r = isSignalling32(a) ? a | 0x00400000 : r;
  }
  return r;
}
NETRA_SIM_INLINE uint32_t min32(const FloatEnv &env, uint32_t a, uint32_t b) {
  return settleMinMax32(env, orderKey32(a) < orderKey32(b) ? a : b, a, b);
}
NETRA_SIM_INLINE uint32_t max32(const FloatEnv &env, uint32_t a, uint32_t b) {
  return settleMinMax32(env, orderKey32(a) > orderKey32(b) ? a : b, a, b);
}
NETRA_SIM_INLINE uint32_t med32(const FloatEnv &env, uint32_t a, uint32_t b,
                                uint32_t c) {
  if (isNan32(a) || isNan32(b) || isNan32(c))
    return min32(env, min32(env, a, b), c);
  uint32_t low = min32(env, a, b), high = max32(env, a, b);
  return max32(env, low, min32(env, high, c));
}

NETRA_SIM_INLINE bool isNan64(uint64_t bits) {
  return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
}
NETRA_SIM_INLINE bool isSignalling64(uint64_t bits) {
  return isNan64(bits) && !(bits & 0x0008000000000000);
}
NETRA_SIM_INLINE uint64_t settleMinMax64(const FloatEnv &env, uint64_t picked,
                                         uint64_t a, uint64_t b) {
  constexpr uint64_t quiet = 0x0008000000000000;
  uint64_t r = isNan64(b) ? a : picked;
  r = isNan64(a) ? b : r;
  if (env.ieee) {
    r = isSignalling64(b) ? b | quiet : r;
    r = isSignalling64(a) ? a | quiet : r;
  }
  return r;
}
NETRA_SIM_INLINE uint64_t min64(const FloatEnv &env, uint64_t a, uint64_t b) {
  return settleMinMax64(env, orderKey64(a) < orderKey64(b) ? a : b, a, b);
}
NETRA_SIM_INLINE uint64_t max64(const FloatEnv &env, uint64_t a, uint64_t b) {
  return settleMinMax64(env, orderKey64(a) > orderKey64(b) ? a : b, a, b);
}

NETRA_SIM_INLINE bool isNan16(uint32_t bits) {
  return (bits & 0x7fff) > 0x7c00;
}
NETRA_SIM_INLINE bool isSignalling16(uint32_t bits) {
  return isNan16(bits) && !(bits & 0x0200);
}
NETRA_SIM_INLINE int32_t orderKey16(uint32_t bits) {
  int32_t v = int16_t(bits);
  return v ^ ((v >> 31) & 0x7fff);
}
NETRA_SIM_INLINE uint32_t settleMinMax16(const FloatEnv &env, uint32_t picked,
                                         uint32_t a, uint32_t b) {
  uint32_t r = isNan16(b) ? a : picked;
  r = isNan16(a) ? b : r;
  if (env.ieee) {
    r = isSignalling16(b) ? b | 0x0200 : r;
    r = isSignalling16(a) ? a | 0x0200 : r;
  }
  return r;
}
NETRA_SIM_INLINE uint32_t min16(const FloatEnv &env, uint32_t a, uint32_t b) {
  return settleMinMax16(env, orderKey16(a) < orderKey16(b) ? a : b, a, b);
}
NETRA_SIM_INLINE uint32_t max16(const FloatEnv &env, uint32_t a, uint32_t b) {
  return settleMinMax16(env, orderKey16(a) > orderKey16(b) ? a : b, a, b);
}
NETRA_SIM_INLINE uint32_t med16(const FloatEnv &env, uint32_t a, uint32_t b,
                                uint32_t c) {
  if (isNan16(a) || isNan16(b) || isNan16(c))
    return min16(env, min16(env, a, b), c);
  uint32_t low = min16(env, a, b), high = max16(env, a, b);
  return max16(env, low, min16(env, high, c));
}

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
