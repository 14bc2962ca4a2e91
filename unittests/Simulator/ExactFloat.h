//===- ExactFloat.h - floating point from its definition --------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// The reference for arithmetic tests: numbers as 128-bit integers times powers
// of two, rounded once. Shares nothing with the simulator and never uses the
// host's floating-point unit.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_UNITTESTS_SIMULATOR_EXACTFLOAT_H
#define NETRA_UNITTESTS_SIMULATOR_EXACTFLOAT_H

#include <algorithm>
#include <bit>
#include <cstdint>

namespace netra::sim::test {

struct Format {
  unsigned exponentBits, mantissaBits;
  unsigned width() const { return 1 + exponentBits + mantissaBits; }
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint64_t sign() const { return 1ull << (width() - 1); }
  uint64_t infinity() const {
    return ((1ull << exponentBits) - 1) << mantissaBits;
  }
  uint64_t quiet() const { return 1ull << (mantissaBits - 1); }
  uint64_t nan() const { return infinity() | quiet(); }
  bool isNan(uint64_t b) const { return (b & ~sign()) > infinity(); }
  bool isInfinite(uint64_t b) const { return (b & ~sign()) == infinity(); }
  bool isZero(uint64_t b) const { return (b & ~sign()) == 0; }
  bool isDenormal(uint64_t b) const {
    return (b & infinity()) == 0 && !isZero(b);
  }
  uint64_t flush(uint64_t b) const { return isDenormal(b) ? b & sign() : b; }
};
inline constexpr Format f16{5, 10}, f32{8, 23}, f64{11, 52};

/// (-1)^negative * significand * 2^exponent, exact; sticky marks a further,
/// smaller, nonzero part of the same sign.
struct Exact {
  bool negative = false;
  unsigned __int128 significand = 0;
  int exponent = 0;
  bool sticky = false;
};

inline Exact exactOf(const Format &f, uint64_t bits) {
  uint64_t mantissa = bits & ((1ull << f.mantissaBits) - 1);
  int e = int(bits >> f.mantissaBits & ((1u << f.exponentBits) - 1));
  Exact x;
  x.negative = bits & f.sign();
  x.significand = mantissa | (e ? 1ull << f.mantissaBits : 0);
  x.exponent = (e ? e : 1) - f.bias() - int(f.mantissaBits);
  return x;
}

/// Rounding modes by MODE's numbers.
inline uint64_t roundTo(const Format &f, const Exact &x, unsigned mode = 0) {
  uint64_t sign = x.negative ? f.sign() : 0;
  if (x.significand == 0 && !x.sticky)
    return sign;
  int length = 0;
  while (length < 128 && x.significand >> length)
    ++length;
  int last = std::max(x.exponent + length - 1 - int(f.mantissaBits),
                      1 - f.bias() - int(f.mantissaBits));
  int drop = last - x.exponent;
  unsigned __int128 kept = x.significand;
  int above = 0; // the dropped part against half a unit: -1, 0, 1
  bool inexact = x.sticky;
  if (drop > 0) {
    unsigned __int128 rest;
    kept = drop >= 128 ? 0 : x.significand >> drop;
    rest = drop >= 128 ? x.significand : x.significand - (kept << drop);
    unsigned __int128 half =
        drop > 128 ? 0 : (unsigned __int128)1 << (drop - 1);
    if (drop > 128)
      above = -1;
    else
      above = rest > half ? 1 : rest == half ? (x.sticky ? 1 : 0) : -1;
    inexact |= rest != 0;
  } else {
    kept <<= -drop;
    above = -1;
  }
  bool up = mode == 0   ? above > 0 || (above == 0 && (kept & 1))
            : mode == 1 ? inexact && !x.negative
            : mode == 2 ? inexact && x.negative
                        : false;
  uint64_t k = uint64_t(kept) + up;
  if (k >> (f.mantissaBits + 1)) {
    k >>= 1;
    ++last;
  }
  if (!(k >> f.mantissaBits))
    return sign | k;
  int e = last + int(f.mantissaBits) + f.bias();
  if (e >= (1 << f.exponentBits) - 1) {
    bool toInfinity =
        mode == 0 || (mode == 1 && !x.negative) || (mode == 2 && x.negative);
    return sign | (toInfinity ? f.infinity() : f.infinity() - 1);
  }
  return sign | uint64_t(e) << f.mantissaBits |
         (k & ((1ull << f.mantissaBits) - 1));
}

inline Exact multiply(const Exact &a, const Exact &b) {
  Exact r;
  r.negative = a.negative != b.negative;
  r.significand = a.significand * b.significand;
  r.exponent = a.exponent + b.exponent;
  return r;
}

/// The exact sum; a zero sum of opposite signs takes \p mode's sign.
inline Exact add(Exact a, Exact b, unsigned mode = 0) {
  if (a.significand == 0 && b.significand == 0) {
    Exact r;
    r.negative = a.negative == b.negative ? a.negative : mode == 2;
    return r;
  }
  if (a.significand == 0)
    return b;
  if (b.significand == 0)
    return a;
  if (a.exponent < b.exponent)
    std::swap(a, b);
  // Bring a down to b's exponent; if that needs too many bits, b is only a
  // sticky part beyond a widened a.
  auto length = [](unsigned __int128 v) {
    int n = 0;
    while (n < 128 && v >> n)
      ++n;
    return n;
  };
  int shift = a.exponent - b.exponent;
  int room = 126 - length(a.significand);
  Exact r;
  if (shift <= room) {
    a.significand <<= shift;
    a.exponent = b.exponent;
    if (a.negative == b.negative) {
      r = a;
      r.significand += b.significand;
    } else if (a.significand == b.significand) {
      r.negative = mode == 2;
    } else if (a.significand > b.significand) {
      r = a;
      r.significand -= b.significand;
    } else {
      r = b;
      r.significand -= a.significand;
    }
    r.exponent = b.exponent;
    return r;
  }
  a.significand <<= room;
  a.exponent -= room;
  shift -= room;
  // b lies below: keep what overlaps, and a sticky bit.
  unsigned __int128 kept = shift >= 128 ? 0 : b.significand >> shift;
  bool rest = shift >= 128 || (kept << shift) != b.significand;
  r = a;
  if (a.negative == b.negative) {
    r.significand += kept;
    r.sticky = rest;
  } else {
    r.significand -= kept + (rest ? 1 : 0);
    r.sticky = rest;
  }
  return r;
}

/// IEEE operations on bits, with the simulator's documented NaN rule: the first
/// NaN source, quiet, else the positive default NaN.
inline uint64_t firstNan(const Format &f, uint64_t a, uint64_t b,
                         uint64_t c = 0) {
  if (f.isNan(a))
    return a | f.quiet();
  if (f.isNan(b))
    return b | f.quiet();
  if (f.isNan(c))
    return c | f.quiet();
  return f.nan();
}
inline uint64_t exactFma(const Format &f, uint64_t a, uint64_t b, uint64_t c,
                         unsigned mode = 0) {
  bool invalid =
      (f.isInfinite(a) && f.isZero(b)) || (f.isZero(a) && f.isInfinite(b));
  if (f.isNan(a) || f.isNan(b) || f.isNan(c) || invalid)
    return firstNan(f, a, b, c);
  uint64_t sign = (a ^ b) & f.sign();
  if (f.isInfinite(a) || f.isInfinite(b)) {
    if (f.isInfinite(c) && (c & f.sign()) != sign)
      return f.nan();
    return sign | f.infinity();
  }
  if (f.isInfinite(c))
    return c;
  return roundTo(
      f, add(multiply(exactOf(f, a), exactOf(f, b)), exactOf(f, c), mode),
      mode);
}
inline uint64_t exactAdd(const Format &f, uint64_t a, uint64_t b,
                         unsigned mode = 0) {
  if (f.isNan(a) || f.isNan(b))
    return firstNan(f, a, b);
  if (f.isInfinite(a))
    return f.isInfinite(b) && a != b ? f.nan() : a;
  if (f.isInfinite(b))
    return b;
  return roundTo(f, add(exactOf(f, a), exactOf(f, b), mode), mode);
}
inline uint64_t exactMul(const Format &f, uint64_t a, uint64_t b,
                         unsigned mode = 0) {
  if (f.isNan(a) || f.isNan(b))
    return firstNan(f, a, b);
  uint64_t sign = (a ^ b) & f.sign();
  if (f.isInfinite(a) || f.isInfinite(b))
    return f.isZero(a) || f.isZero(b) ? f.nan() : sign | f.infinity();
  return roundTo(f, multiply(exactOf(f, a), exactOf(f, b)), mode);
}

inline double value32(uint64_t bits) {
  return std::bit_cast<float>(uint32_t(bits));
}
inline uint64_t negate32(uint64_t v) { return v ^ 0x80000000; }
/// -0 orders below +0; NaNs are dealt with before.
inline int64_t order(const Format &f, uint64_t b) {
  return b & f.sign() ? -int64_t(b & ~f.sign()) - 1 : int64_t(b);
}

} // namespace netra::sim::test

#endif // NETRA_UNITTESTS_SIMULATOR_EXACTFLOAT_H
