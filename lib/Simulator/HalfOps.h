//===- HalfOps.h - half-precision arithmetic --------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Operands are f16 bits. Sums and products of f16 are exact in double, fused
// ones are brought to double with a sticky last bit, so one rounding to f16
// follows in every mode. To nearest, single precision serves as well: products
// are exact in it, and its 24 bits are enough for the sum of two numbers of 11
// to survive a second rounding.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_LIB_SIMULATOR_HALFOPS_H
#define NETRA_LIB_SIMULATOR_HALFOPS_H

#include "FloatOps.h"
#include "LaneVectors.h"

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
  static NETRA_SIM_INLINE void single(Floats &x, const Floats &y,
                                      const Floats &) {
    x += y;
  }
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t) {
    const double x = doubleFromF16(a), y = doubleFromF16(b);
    return settleNan16<2>(roundToF16(env, signedZero(env, x + y, x, y)), a, b,
                          0);
  }
};
struct HalfSub {
  static constexpr unsigned sources = 2;
  static NETRA_SIM_INLINE void single(Floats &x, const Floats &y,
                                      const Floats &) {
    x -= y;
  }
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t) {
    const double x = doubleFromF16(a), y = -doubleFromF16(b);
    return settleNan16<2>(roundToF16(env, signedZero(env, x + y, x, y)), a, b,
                          0);
  }
};
struct HalfSubrev {
  static constexpr unsigned sources = 2;
  static NETRA_SIM_INLINE void single(Floats &x, const Floats &y,
                                      const Floats &) {
    x = y - x;
  }
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t) {
    const double x = doubleFromF16(b), y = -doubleFromF16(a);
    return settleNan16<2>(roundToF16(env, signedZero(env, x + y, x, y)), a, b,
                          0);
  }
};
struct HalfMul {
  static constexpr unsigned sources = 2;
  static NETRA_SIM_INLINE void single(Floats &x, const Floats &y,
                                      const Floats &) {
    x *= y;
  }
  static uint32_t run(const FloatEnv &env, uint32_t a, uint32_t b, uint32_t) {
    return settleNan16<2>(roundToF16(env, doubleFromF16(a) * doubleFromF16(b)),
                          a, b, 0);
  }
};
struct HalfFma {
  static constexpr unsigned sources = 3;
  static NETRA_SIM_INLINE void single(Floats &x, const Floats &y,
                                      const Floats &z) {
    // As stickyFma.
    const Floats product = x * y, sum = product + z, back = sum - product;
    const Floats error = (product - (sum - back)) + (z - back);
    const Ints even =
        (Ints)(((Words)sum & 1) == 0) & ((error < 0.0f) | (error > 0.0f));
    const Ints away = (error > 0.0f) == (sum > 0.0f);
    x = (Floats)((Words)sum + (Words)(even & ((away & 2) - 1)));
  }
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

template <typename Op>
concept HasSingle = requires(Floats &x) { Op::single(x, x, x); };

/// The kernel of \p Op, which takes MODE and three halves.
template <typename Op>
void halfKernel(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                uint32_t *out, unsigned n, uint32_t mode) {
  const FloatEnv env = floatEnv(mode, false);
  auto one = [&](unsigned l) { return Op::run(env, a[l], b[l], c[l]); };
#if NETRA_SIM_HALF_VECTORS
  if constexpr (HasSingle<Op>)
    if (env.rounding == RoundingMode::NearestEven && !env.fp16Overflow) {
      const Words flushed = Words{} + (env.flushResults ? 0x7fffu : 0u);
      for (unsigned base = 0; base < n; base += VectorLanes) {
        Floats x = widenHalves(a + base);
        const Floats y = widenHalves(b + base),
                     z = Op::sources > 2 ? widenHalves(c + base) : y;
        Op::single(x, y, z);
        if (__builtin_expect(anySet(unordered(x, x)), 0)) {
          for (unsigned l = base; l < base + VectorLanes; ++l)
            out[l] = one(l);
          continue;
        }
        Words r = narrowToHalves(x);
        r &= ~((Words)((r & 0x7c00) == 0) & flushed);
        store(out + base, r);
      }
      return;
    }
#endif
  eachLane(n, [&](unsigned l) { out[l] = one(l); });
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_HALFOPS_H
