//===- HalfOps.h - half-precision arithmetic --------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Operands are f16 bits. Sums and products of f16 are exact in double, fused
// ones are brought to double with a sticky last bit, so one rounding to f16
// follows in every mode.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_LIB_SIMULATOR_HALFOPS_H
#define NETRA_LIB_SIMULATOR_HALFOPS_H

#include "FloatOps.h"

namespace netra::sim {
namespace NETRA_SIM_VARIANT {

NETRA_SIM_INLINE double doubleFromF16(uint32_t bits) {
  return double(asFloat(f32FromF16(bits)));
}

/// Nearest even; NaN becomes the default NaN.
NETRA_SIM_INLINE uint32_t f16FromF64(double value) {
  const uint64_t bits = asBits(value);
  const uint32_t sign = uint32_t(bits >> 48) & 0x8000;
  const uint64_t magnitude = bits & 0x7fffffffffffffff;
  const uint64_t normal = (magnitude - (uint64_t(1023 - 15) << 52) +
                           0x1ffffffffff + (magnitude >> 42 & 1)) >>
                          42;
  const uint64_t denormal =
      asBits(asDouble(magnitude) + 0x1p28) - asBits(0x1p28);
  const uint64_t r = magnitude < 0x3f10000000000000    ? denormal
                     : magnitude < 0x40effe0000000000  ? normal
                     : magnitude <= 0x7ff0000000000000 ? 0x7c00
                                                       : 0x7e00;
  return sign | uint32_t(r);
}

/// Rounds an exact (or sticky) value by MODE.
NETRA_SIM_INLINE uint32_t roundToF16(const FloatEnv &env, double value) {
  uint32_t r;
  if (__builtin_expect(
          env.rounding == RoundingMode::NearestEven && !env.fp16Overflow, 1)) {
    r = f16FromF64(value);
  } else {
    // An infinite operand stays infinite; only overflow saturates.
    r = uint32_t(convertFloat(formatF64, formatF16, asBits(value), env.rounding,
                              env.fp16Overflow ? OverflowRule::Saturate
                                               : OverflowRule::Ieee));
  }
  return env.flushResults ? flush16(r) : r;
}

template <unsigned N>
NETRA_SIM_INLINE uint32_t settleNan16(uint32_t r, uint32_t a, uint32_t b,
                                      uint32_t c) {
  if (!isNan16(r))
    return r;
  if (isNan16(a))
    return a | 0x0200;
  if (N > 1 && isNan16(b))
    return b | 0x0200;
  if (N > 2 && isNan16(c))
    return c | 0x0200;
  return 0x7e00;
}

/// \p sum, the exact result of adding \p x and \p y; a zero that comes from
/// opposite signs is negative when MODE rounds down.
NETRA_SIM_INLINE double signedZero(const FloatEnv &env, double sum, double x,
                                   double y) {
  const bool opposite = (asBits(x) ^ asBits(y)) >> 63;
  return sum == 0 && opposite && env.rounding == RoundingMode::TowardNegative
             ? -0.0
             : sum;
}

struct HalfAdd {
  static constexpr unsigned sources = 2;
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t) {
    const double x = doubleFromF16(a), y = doubleFromF16(b);
    return settleNan16<2>(roundToF16(env, signedZero(env, x + y, x, y)), a, b,
                          0);
  }
};
struct HalfSub {
  static constexpr unsigned sources = 2;
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t) {
    const double x = doubleFromF16(a), y = -doubleFromF16(b);
    return settleNan16<2>(roundToF16(env, signedZero(env, x + y, x, y)), a, b,
                          0);
  }
};
struct HalfSubrev {
  static constexpr unsigned sources = 2;
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t) {
    const double x = doubleFromF16(b), y = -doubleFromF16(a);
    return settleNan16<2>(roundToF16(env, signedZero(env, x + y, x, y)), a, b,
                          0);
  }
};
struct HalfMul {
  static constexpr unsigned sources = 2;
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t) {
    return settleNan16<2>(roundToF16(env, doubleFromF16(a) * doubleFromF16(b)),
                          a, b, 0);
  }
};
struct HalfFma {
  static constexpr unsigned sources = 3;
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t c) {
    const double x = doubleFromF16(a), y = doubleFromF16(b),
                 z = doubleFromF16(c);
    const double sum = signedZero(env, stickyFma(x, y, z), x * y, z);
    return settleNan16<3>(roundToF16(env, sum), a, b, c);
  }
};
/// A product rounded to f16, then a sum rounded again.
struct HalfMad {
  static constexpr unsigned sources = 3;
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t c) {
    return HalfAdd::run(env, HalfMul::run(env, a, b, 0), c, 0);
  }
};
struct HalfMin {
  static constexpr unsigned sources = 2;
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t) {
    return Half::min(env.ieee, a, b);
  }
};
struct HalfMax {
  static constexpr unsigned sources = 2;
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t) {
    return Half::max(env.ieee, a, b);
  }
};
/// NaN as soon as one source is NaN.
template <bool WantMax> struct HalfPropagate3 {
  static constexpr unsigned sources = 3;
  static uint32_t run(const FloatEnv &, uint32_t a, uint32_t b, uint32_t c) {
    return Half::propagate(WantMax, Half::propagate(WantMax, a, b), c);
  }
};

/// The kernel of \p Op, which takes MODE and three halves.
template <typename Op>
void halfKernel(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                uint32_t *out, unsigned n, uint32_t mode) {
  const FloatEnv env = floatEnv(mode, false);
  eachLane(n, [&](unsigned l) { out[l] = Op::run(env, a[l], b[l], c[l]); });
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_HALFOPS_H
