//===- VectorDouble.cpp - double-precision instructions -------------------===//
// SPDX-License-Identifier: MIT
#include "FloatOps.h"
#include "LaneAlu.h"
#include "VectorAlu.h"

#include <cmath>
#include <iterator>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;
using UL = uint64_t;

struct Lanes64 {
  LaneVector low, high;
  const uint32_t *l, *h;
  UL operator[](unsigned lane) const { return l[lane] | UL(h[lane]) << 32; }
  void set(unsigned lane, UL value) {
    low.lane[lane] = U(value);
    high.lane[lane] = U(value >> 32);
  }
};

void fetch64(const Instruction &I, Wave &w, unsigned k, Lanes64 &out) {
  out.l = fetch(I, w, k, 0, SourceType::Int, out.low);
  out.h = fetch(I, w, k, 1, SourceType::F64High, out.high);
}
void store64(const Instruction &I, Wave &w, const Lanes64 &value) {
  const UL mask = writeMask(I, w);
  storeWord(w, I.dst(), 0, value.low.lane, mask);
  storeWord(w, I.dst(), 1, value.high.lane, mask);
}

template <unsigned N> UL settleNan(UL r, UL a, UL b, UL c) {
  constexpr UL quiet = 0x0008000000000000;
  if (!isNan64(r))
    return r;
  if (isNan64(a))
    return a | quiet;
  if (N > 1 && isNan64(b))
    return b | quiet;
  if (N > 2 && isNan64(c))
    return c | quiet;
  return DefaultNan64;
}

/// \p F takes and gives double, or with \p Bits takes MODE and bits.
template <typename F, unsigned N, bool Bits, bool Tied>
__attribute__((noinline)) void compute(const Instruction &I, Wave &w) {
  Lanes64 s[3], result;
  const FloatEnv env = floatEnv(w, false);
  for (unsigned k = 0; k < N; ++k) {
    if (Tied && k == N - 1) {
      s[k].l = w.row(I.dst().index);
      s[k].h = w.row(I.dst().index + 1);
    } else {
      fetch64(I, w, k, s[k]);
    }
  }
  auto one = [&](unsigned lane) {
    UL x[3] = {};
    for (unsigned k = 0; k < N; ++k)
      x[k] = env.flushInputs ? flush64(s[k][lane]) : s[k][lane];
    UL r;
    if constexpr (Bits) {
      if constexpr (N == 1)
        r = F{}(env, x[0]);
      else if constexpr (N == 2)
        r = F{}(env, x[0], x[1]);
      else
        r = F{}(env, x[0], x[1], x[2]);
    } else {
      if constexpr (N == 1)
        r = asBits(F{}(asDouble(x[0])));
      else if constexpr (N == 2)
        r = asBits(F{}(asDouble(x[0]), asDouble(x[1])));
      else
        r = asBits(F{}(asDouble(x[0]), asDouble(x[1]), asDouble(x[2])));
      r = settleNan<N>(r, x[0], x[1], x[2]);
    }
    result.set(lane, env.flushResults ? flush64(r) : r);
  };
  if (env.rounding == RoundingMode::NearestEven || Bits) {
    eachLane(w.laneCount, one);
  } else {
    HostRounding rounding(env.rounding);
    for (unsigned l = 0; l < w.laneCount; ++l)
      one(l);
  }
  result.l = result.low.lane;
  result.h = result.high.lane;
  for (unsigned l = 0; (I.clamp || I.omod) && l < w.laneCount; ++l)
    result.set(l, finishF64(result[l], I, env));
  store64(I, w, result);
}

constexpr unsigned Encodings =
    unsigned(Encoding::Plain) | unsigned(Encoding::Dpp);

template <unsigned N, typename F>
void add(SemanticsTable &t, const char *name, F) {
  t.add(name, compute<F, N, false, false>, Encodings);
}
template <unsigned N, typename F>
void addBits(SemanticsTable &t, const char *name, F) {
  t.add(name, compute<F, N, true, false>, Encodings);
}

struct FusedMultiplyAdd {
  double operator()(double a, double b, double c) const {
    return __builtin_fma(a, b, c);
  }
};

UL scale(UL bits, int by, RoundingMode mode = RoundingMode::NearestEven) {
  return convertFloatScaled(formatF64, formatF64, bits, by, mode);
}
int exponentOf(UL bits) { return int(bits >> 52 & 0x7ff); }
bool isDenormal(UL bits) { return exponentOf(bits) == 0 && (bits << 12) != 0; }

void ldexpF64(const Instruction &I, Wave &w) {
  Lanes64 s, result;
  LaneVector t;
  const FloatEnv env = floatEnv(w, false);
  fetch64(I, w, 0, s);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::Int, t);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    UL x = env.flushInputs ? flush64(s[l]) : s[l];
    int by = int32_t(b[l]);
    by = by > 5000 ? 5000 : by < -5000 ? -5000 : by;
    UL r = scale(x, by, env.rounding);
    result.set(l, finishF64(env.flushResults ? flush64(r) : r, I, env));
  }
  store64(I, w, result);
}

/// Exponents of the quotient n / d, and of 1 / d, below the normal range.
/// Quotients at the border are decided by exact comparison of significands.
bool quotientDenormal(UL n, UL d) {
  const UnpackedFloat x = unpackFloat(formatF64, n & ~(1ull << 63));
  const UnpackedFloat y = unpackFloat(formatF64, d & ~(1ull << 63));
  if (x.kind != UnpackedFloat::Finite || y.kind != UnpackedFloat::Finite)
    return false;
  // n / d < 2^-1022 iff x * 2^e < y, where e = ex - ey + 1022.
  const int e = x.exponent - y.exponent + 1022;
  if (e > 64)
    return false;
  if (e < -64)
    return true;
  const unsigned __int128 left =
      e >= 0 ? (unsigned __int128)x.significand << e : x.significand;
  const unsigned __int128 right = e >= 0
                                      ? (unsigned __int128)y.significand
                                      : (unsigned __int128)y.significand << -e;
  return left < right;
}

void divScaleF64(const Instruction &I, Wave &w) {
  Lanes64 s[3], result;
  LaneVector flag;
  for (unsigned k = 0; k < 3; ++k)
    fetch64(I, w, k, s[k]);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const UL a = s[0][l], d = s[1][l], n = s[2][l];
    UL r = a;
    bool scaled = false;
    const bool smallQuotient = quotientDenormal(n, d);
    const bool smallReciprocal = quotientDenormal(0x3ff0000000000000, d);
    if ((n << 1) == 0 || (d << 1) == 0) {
      r = DefaultNan64;
    } else if (exponentOf(n) - exponentOf(d) >= 768) {
      scaled = true;
      if (a == d)
        r = scale(a, 128);
    } else if (isDenormal(d)) {
      r = scale(a, 128);
    } else if (smallReciprocal && smallQuotient) {
      scaled = true;
      if (a == d)
        r = scale(a, -128);
    } else if (smallReciprocal) {
      r = scale(a, -128);
    } else if (smallQuotient) {
      scaled = true;
      if (a == n)
        r = scale(a, 128);
    } else if (exponentOf(n) <= 53) {
      r = scale(a, 128);
    }
    result.set(l, r);
    flag.lane[l] = scaled;
  }
  store64(I, w, result);
  storeCondition(w, I.dst(1), flag.lane, w.activeMask());
}

/// fma; where VCC says so it undoes the scaling of v_div_scale by 2^128 or
/// 2^-128, with one rounding for both.
void divFmasF64(const Instruction &I, Wave &w) {
  Lanes64 s[3], result;
  const FloatEnv env = floatEnv(w, false);
  for (unsigned k = 0; k < 3; ++k)
    fetch64(I, w, k, s[k]);
  const UL vcc = w.vcc();
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const UL x = s[0][l], y = s[1][l], z = s[2][l];
    const double a = asDouble(x), b = asDouble(y), c = asDouble(z);
    UL r;
    if ((vcc >> l & 1) && std::isfinite(a) && std::isfinite(b) &&
        std::isfinite(c)) {
      // What the rounded sum lacks: the error of the product, and that of the
      // addition.
      const double sum = __builtin_fma(a, b, c);
      const double product = a * b, tail = __builtin_fma(a, b, -product);
      const double plain = c + product, back = plain - c;
      const double lost = (c - (plain - back)) + (product - back);
      const double error = (plain - sum) + (lost + tail);
      // Two bits below the sum's last place say which side of it the exact
      // result lies on.
      const UnpackedFloat u = unpackFloat(formatF64, asBits(sum));
      UL significand = u.significand << 2;
      if (error != 0)
        significand += (error > 0) == (sum > 0) ? 1 : -1;
      r = packFloat(formatF64, u.negative, significand,
                    u.exponent - 2 + (exponentOf(z) > 1023 ? 128 : -128),
                    env.rounding);
    } else {
      HostRounding rounding(env.rounding);
      r = settleNan<3>(asBits(__builtin_fma(a, b, c)), x, y, z);
    }
    result.set(l, finishF64(env.flushResults ? flush64(r) : r, I, env));
  }
  store64(I, w, result);
}

UL divFixup(UL quotient, UL d, UL n) {
  constexpr UL infinity = 0x7ff0000000000000, quiet = 0x0008000000000000;
  const UL sign = (d ^ n) & (1ull << 63);
  const UL absD = d & ~(1ull << 63), absN = n & ~(1ull << 63);
  if (isNan64(n))
    return n | quiet;
  if (isNan64(d))
    return d | quiet;
  if ((absD == 0 && absN == 0) || (absD == infinity && absN == infinity))
    return 0xfff8000000000000;
  if (absD == 0 || absN == infinity)
    return sign | infinity;
  if (absD == infinity || absN == 0)
    return sign;
  if (exponentOf(n) - exponentOf(d) < -1075)
    return sign;
  // Finite operands: an iteration that ended in NaN has overflowed.
  return sign | (isNan64(quotient) ? infinity : quotient & ~(1ull << 63));
}

/// 53 bits of 2 / pi from the \p shift-th behind the binary point. The hardware
/// knows 1,201 of them; zeros follow.
UL twoOverPi(unsigned shift) {
  static constexpr UL bits[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
      0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
      0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
      0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
      0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
      0x56033046fc7b0000};
  constexpr unsigned words = std::size(bits);
  auto word = [](unsigned k) { return k < words ? bits[k] : 0; };
  const unsigned first = shift / 64, by = shift % 64;
  const UL window =
      by ? word(first) << by | word(first + 1) >> (64 - by) : word(first);
  return window >> 11;
}

/// The segment of 2 / pi that reducing an argument of this size needs.
void trigPreop(const Instruction &I, Wave &w) {
  Lanes64 s, result;
  LaneVector t;
  const FloatEnv env = floatEnv(w, false);
  fetch64(I, w, 0, s);
  const uint32_t *segment = fetch(I, w, 1, 0, SourceType::Int, t);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const int e = exponentOf(s[l]);
    const unsigned shift = (segment[l] & 31) * 53 + (e > 1077 ? e - 1077 : 0);
    const UL r =
        packFloat(formatF64, false, twoOverPi(shift),
                  -53 - int(shift) + (e >= 1968 ? 128 : 0), env.rounding);
    result.set(l, finishF64(env.flushResults ? flush64(r) : r, I, env));
  }
  store64(I, w, result);
}

double fract(double x) {
  if (std::isinf(x))
    return NAN;
  const double r = x - std::floor(x);
  return r >= 1.0 ? 0x1.fffffffffffffp-1 : r;
}

void frexpExpF64(const Instruction &I, Wave &w) {
  Lanes64 s;
  LaneVector result;
  const bool flush = floatEnv(w, false).flushInputs;
  fetch64(I, w, 0, s);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const UL x = flush ? flush64(s[l]) : s[l];
    int e = 0;
    if (exponentOf(x) != 0x7ff)
      std::frexp(asDouble(x), &e);
    result.lane[l] = U(e);
  }
  storeWord(w, I.dst(), 0, result.lane, writeMask(I, w));
}

} // namespace

void registerVectorDouble(SemanticsTable &t) {
  add<2>(t, "v_add_f64", [](double a, double b) { return a + b; });
  add<2>(t, "v_mul_f64", [](double a, double b) { return a * b; });
  add<3>(t, "v_fma_f64", FusedMultiplyAdd{});
  t.add("v_fmac_f64", compute<FusedMultiplyAdd, 3, false, true>, Encodings);
  addBits<2>(t, "v_min_f64", [](const FloatEnv &env, UL a, UL b) {
    return Double::min(env.ieee, a, b);
  });
  addBits<2>(t, "v_max_f64", [](const FloatEnv &env, UL a, UL b) {
    return Double::max(env.ieee, a, b);
  });
  add<1>(t, "v_trunc_f64", [](double x) { return std::trunc(x); });
  add<1>(t, "v_ceil_f64", [](double x) { return std::ceil(x); });
  add<1>(t, "v_floor_f64", [](double x) { return std::floor(x); });
  add<1>(t, "v_rndne_f64", [](double x) { return roundEven(x); });
  add<1>(t, "v_fract_f64", [](double x) { return fract(x); });
  addBits<1>(t, "v_frexp_mant_f64", [](const FloatEnv &, UL x) {
    if (exponentOf(x) == 0x7ff)
      return isNan64(x) ? x | 0x0008000000000000 : x;
    int e;
    return asBits(std::frexp(asDouble(x), &e));
  });
  t.add("v_frexp_exp_i32_f64", frexpExpF64, Encodings);
  t.add("v_ldexp_f64", ldexpF64);
  t.add("v_div_scale_f64", divScaleF64, unsigned(Encoding::Plain),
        Fidelity::Bounded,
        "where the ISA's pseudo-code contradicts itself, scaled so that the "
        "division sequence gives the correctly rounded quotient");
  t.add("v_div_fmas_f64", divFmasF64);
  t.add("v_trig_preop_f64", trigPreop);
  addBits<3>(t, "v_div_fixup_f64", [](const FloatEnv &, UL q, UL d, UL n) {
    return divFixup(q, d, n);
  });
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
