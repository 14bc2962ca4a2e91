//===- FloatFormats.cpp - exact conversions between float formats ---------===//
// SPDX-License-Identifier: MIT
#include "FloatFormats.h"

#include <algorithm>
#include <array>

namespace netra::sim {

UnpackedFloat unpackFloat(const FloatFormat &format, uint64_t bits) {
  UnpackedFloat result;
  result.negative = (bits & format.signBit()) != 0;
  uint64_t mantissa = bits & format.mantissaMask();
  uint64_t exponent = (bits >> format.mantissaBits) & format.exponentMask();
  if (exponent == format.exponentMask()) {
    bool special = format.specials == SpecialValues::Ieee ||
                   (format.specials == SpecialValues::NanOnly &&
                    mantissa == format.mantissaMask());
    if (special) {
      result.kind = format.specials == SpecialValues::Ieee && mantissa == 0
                        ? UnpackedFloat::Infinity
                        : UnpackedFloat::Nan;
      result.significand = mantissa;
      return result;
    }
  }
  // Denormals share the exponent of the smallest normal.
  int unbiased = static_cast<int>(exponent ? exponent : 1) - format.bias;
  result.exponent = unbiased - static_cast<int>(format.mantissaBits);
  result.significand =
      mantissa | (exponent ? 1ull << format.mantissaBits : 0ull);
  return result;
}

namespace {

uint64_t overflowed(const FloatFormat &format, uint64_t sign, bool toInfinity) {
  if (!toInfinity || format.specials == SpecialValues::FiniteOnly)
    return sign | format.maxFinite();
  return sign | (format.specials == SpecialValues::Ieee ? format.infinity()
                                                        : format.quietNan());
}

/// The significand of the result and what is left below its last place.
struct Aligned {
  uint64_t kept;     ///< bits at and above the last place
  uint64_t fraction; ///< 2^64 times the discarded fraction, low bit sticky
  int exponent;      ///< weight of the last place
};

Aligned align(const FloatFormat &format, uint64_t significand, int exponent) {
  int length = 64 - std::countl_zero(significand);
  // The last place of a normal result, but never below that of a denormal.
  int lastPlace =
      std::max(exponent + length - 1 - static_cast<int>(format.mantissaBits),
               1 - format.bias - static_cast<int>(format.mantissaBits));
  int drop = lastPlace - exponent;
  Aligned result{significand, 0, lastPlace};
  if (drop <= 0) {
    // Exact: normals have length - 1 <= mantissaBits here.
    result.kept = significand << -drop;
  } else if (drop < 64) {
    result.kept = significand >> drop;
    result.fraction = significand << (64 - drop);
  } else {
    result.kept = 0;
    // Everything lies below the last place; keep the leading bits and a
    // sticky one.
    int extra = drop - 64;
    if (extra == 0)
      result.fraction = significand;
    else if (extra < 64)
      result.fraction = (significand >> extra) |
                        ((significand << (64 - extra)) != 0 ? 1u : 0u);
    else
      result.fraction = significand != 0;
  }
  return result;
}

uint64_t assemble(const FloatFormat &format, uint64_t sign, uint64_t kept,
                  int lastPlace, bool overflowToInfinity) {
  uint64_t implicit = 1ull << format.mantissaBits;
  if (kept >= implicit * 2) { // the rounding carried out
    kept >>= 1;
    ++lastPlace;
  }
  int biased = lastPlace + static_cast<int>(format.mantissaBits) + format.bias;
  if (kept < implicit)
    return sign | kept; // zero or denormal
  uint64_t magnitude = 0;
  if (biased <= static_cast<int>(format.exponentMask()))
    magnitude = (static_cast<uint64_t>(biased) << format.mantissaBits) |
                (kept - implicit);
  if (biased > static_cast<int>(format.exponentMask()) ||
      magnitude > format.maxFinite())
    return overflowed(format, sign, overflowToInfinity);
  return sign | magnitude;
}

} // namespace

uint64_t packFloat(const FloatFormat &format, bool negative,
                   uint64_t significand, int exponent, RoundingMode mode,
                   OverflowRule overflow) {
  uint64_t sign = negative ? format.signBit() : 0;
  if (significand == 0)
    return sign;
  Aligned aligned = align(format, significand, exponent);
  constexpr uint64_t half = 1ull << 63;
  bool up = false;
  bool toInfinity = true;
  switch (mode) {
  case RoundingMode::NearestEven:
    up = aligned.fraction > half ||
         (aligned.fraction == half && (aligned.kept & 1));
    break;
  case RoundingMode::TowardPositive:
    up = aligned.fraction != 0 && !negative;
    toInfinity = !negative;
    break;
  case RoundingMode::TowardNegative:
    up = aligned.fraction != 0 && negative;
    toInfinity = negative;
    break;
  case RoundingMode::TowardZero:
    toInfinity = false;
    break;
  }
  if (overflow == OverflowRule::Saturate)
    toInfinity = false;
  return assemble(format, sign, aligned.kept + up, aligned.exponent,
                  toInfinity);
}

uint64_t packFloatStochastic(const FloatFormat &format, bool negative,
                             uint64_t significand, int exponent,
                             uint32_t random, OverflowRule overflow) {
  uint64_t sign = negative ? format.signBit() : 0;
  if (significand == 0)
    return sign;
  Aligned aligned = align(format, significand, exponent);
  uint64_t noise = static_cast<uint64_t>(random) << 32;
  bool carry = aligned.fraction + noise < noise;
  return assemble(format, sign, aligned.kept + carry, aligned.exponent,
                  overflow != OverflowRule::Saturate);
}

namespace {

/// The result when \p value is no finite number.
uint64_t convertSpecial(const FloatFormat &from, const FloatFormat &to,
                        const UnpackedFloat &value, bool saturateInfinity) {
  uint64_t sign = value.negative ? to.signBit() : 0;
  if (value.kind == UnpackedFloat::Infinity)
    return overflowed(to, sign, !saturateInfinity);
  if (to.specials == SpecialValues::FiniteOnly)
    return sign | to.maxFinite();
  if (to.specials == SpecialValues::NanOnly || to.mantissaBits <= 3)
    return sign | to.infinity() | to.mantissaMask();
  uint64_t payload =
      from.specials != SpecialValues::Ieee || from.mantissaBits <= 3 ? 0
      : to.mantissaBits >= from.mantissaBits
          ? value.significand << (to.mantissaBits - from.mantissaBits)
          : value.significand >> (from.mantissaBits - to.mantissaBits);
  return sign | to.quietNan() | payload;
}

} // namespace

uint64_t convertFloatScaled(const FloatFormat &from, const FloatFormat &to,
                            uint64_t bits, int shift, RoundingMode mode,
                            OverflowRule overflow, bool saturateInfinity) {
  UnpackedFloat value = unpackFloat(from, bits);
  if (value.kind != UnpackedFloat::Finite)
    return convertSpecial(from, to, value, saturateInfinity);
  return packFloat(to, value.negative, value.significand,
                   value.exponent + shift, mode, overflow);
}

uint64_t convertFloat(const FloatFormat &from, const FloatFormat &to,
                      uint64_t bits, RoundingMode mode, OverflowRule overflow,
                      bool saturateInfinity) {
  return convertFloatScaled(from, to, bits, 0, mode, overflow,
                            saturateInfinity);
}

uint64_t convertFloatStochastic(const FloatFormat &from, const FloatFormat &to,
                                uint64_t bits, int shift, uint32_t random,
                                OverflowRule overflow, bool saturateInfinity) {
  UnpackedFloat value = unpackFloat(from, bits);
  if (value.kind != UnpackedFloat::Finite)
    return convertSpecial(from, to, value, saturateInfinity);
  return packFloatStochastic(to, value.negative, value.significand,
                             value.exponent + shift, random, overflow);
}

namespace {

struct Tables {
  std::array<uint32_t, 256> fp8, bf8, fp6, bf6, fp4;
  Tables() {
    fill(fp8, formatFp8);
    fill(bf8, formatBf8);
    fill(fp6, formatFp6);
    fill(bf6, formatBf6);
    fill(fp4, formatFp4);
  }
  static void fill(std::array<uint32_t, 256> &table,
                   const FloatFormat &format) {
    uint32_t mask = (1u << format.width()) - 1;
    for (uint32_t code = 0; code < 256; ++code)
      table[code] =
          static_cast<uint32_t>(convertFloat(format, formatF32, code & mask));
  }
};

const Tables &tables() {
  static const Tables instance;
  return instance;
}

} // namespace

const uint32_t *f32TableOf(const FloatFormat &format) {
  switch (format.width()) {
  case 8:
    return format.exponentBits == 4 ? tables().fp8.data() : tables().bf8.data();
  case 6:
    return format.exponentBits == 2 ? tables().fp6.data() : tables().bf6.data();
  case 4:
    return tables().fp4.data();
  default:
    return nullptr;
  }
}

uint32_t f32FromFp8(uint32_t code) { return tables().fp8[code & 0xff]; }
uint32_t f32FromBf8(uint32_t code) { return tables().bf8[code & 0xff]; }

} // namespace netra::sim
