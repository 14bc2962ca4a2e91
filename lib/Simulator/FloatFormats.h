//===- FloatFormats.h - exact conversions between float formats -*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Conversions between the floating-point formats of gfx950, all of them in
// integer arithmetic: an operand is taken apart into sign, integer significand
// and exponent, and put together again with one rounding. Nothing here depends
// on the host's floating-point environment. All functions are pure and
// thread-safe; values travel as their bit patterns.
//
//===----------------------------------------------------------------------===//
#ifndef NETRA_SIMULATOR_FLOATFORMATS_H
#define NETRA_SIMULATOR_FLOATFORMATS_H

#include <bit>
#include <cstdint>

namespace netra::sim {

/// The rounding modes in the order of MODE.FP_ROUND.
enum class RoundingMode : uint8_t {
  NearestEven = 0,
  TowardPositive = 1,
  TowardNegative = 2,
  TowardZero = 3
};

/// What the largest exponent of a format stands for.
enum class SpecialValues : uint8_t {
  Ieee,      ///< infinity and NaN, as in IEEE 754
  NanOnly,   ///< all-ones is NaN, every other code is a number (E4M3FN)
  FiniteOnly ///< every code is a number (FP6, BF6, FP4)
};

/// A binary format of at most 64 bits: sign, exponent, mantissa.
struct FloatFormat {
  unsigned exponentBits;
  unsigned mantissaBits;
  int bias;
  SpecialValues specials;

  constexpr unsigned width() const { return 1 + exponentBits + mantissaBits; }
  constexpr uint64_t signBit() const { return 1ull << (width() - 1); }
  constexpr uint64_t mantissaMask() const { return (1ull << mantissaBits) - 1; }
  constexpr uint64_t exponentMask() const { return (1ull << exponentBits) - 1; }
  /// The pattern of the largest finite magnitude.
  constexpr uint64_t maxFinite() const {
    uint64_t all = (exponentMask() << mantissaBits) | mantissaMask();
    switch (specials) {
    case SpecialValues::Ieee:
      return all - mantissaMask() - 1;
    case SpecialValues::NanOnly:
      return all - 1;
    case SpecialValues::FiniteOnly:
      return all;
    }
    return all;
  }
  /// The pattern of +infinity; only meaningful for Ieee formats.
  constexpr uint64_t infinity() const { return exponentMask() << mantissaBits; }
  /// The quiet NaN that conversions make when there is no payload to keep.
  constexpr uint64_t quietNan() const {
    return specials == SpecialValues::Ieee
               ? infinity() | (1ull << (mantissaBits - 1))
               : (exponentMask() << mantissaBits) | mantissaMask();
  }
};

inline constexpr FloatFormat formatF64{11, 52, 1023, SpecialValues::Ieee};
inline constexpr FloatFormat formatF32{8, 23, 127, SpecialValues::Ieee};
inline constexpr FloatFormat formatF16{5, 10, 15, SpecialValues::Ieee};
inline constexpr FloatFormat formatBf16{8, 7, 127, SpecialValues::Ieee};
inline constexpr FloatFormat formatFp8{4, 3, 7, SpecialValues::NanOnly};
inline constexpr FloatFormat formatBf8{5, 2, 15, SpecialValues::Ieee};
inline constexpr FloatFormat formatFp6{2, 3, 1, SpecialValues::FiniteOnly};
inline constexpr FloatFormat formatBf6{3, 2, 3, SpecialValues::FiniteOnly};
inline constexpr FloatFormat formatFp4{2, 1, 1, SpecialValues::FiniteOnly};

/// A number taken apart: (-1)^negative * significand * 2^exponent.
struct UnpackedFloat {
  enum Kind : uint8_t { Finite, Infinity, Nan };
  Kind kind = Finite;
  bool negative = false;
  int exponent = 0;         ///< weight of the significand's lowest bit
  uint64_t significand = 0; ///< the NaN's mantissa field when kind is Nan
};

/// Takes \p bits of \p format apart; exact.
UnpackedFloat unpackFloat(const FloatFormat &format, uint64_t bits);

/// What becomes of a finite value beyond the largest finite magnitude.
enum class OverflowRule : uint8_t {
  Ieee,    ///< infinity or the largest finite value, as the rounding mode says;
           ///< NaN where the format has no infinity
  Saturate ///< the largest finite value; infinities stay what the caller gives
};

/// Rounds the finite value (-1)^negative * significand * 2^exponent once.
/// A caller that has dropped nonzero bits below the significand ORs one into
/// its lowest bit, which must lie below the result's rounding position.
uint64_t packFloat(const FloatFormat &format, bool negative,
                   uint64_t significand, int exponent,
                   RoundingMode mode = RoundingMode::NearestEven,
                   OverflowRule overflow = OverflowRule::Ieee);

/// Rounds a finite value to one of its two neighbours: the discarded part,
/// as a fraction of the result's last place, is added to the random fraction
/// \p random / 2^32 and the sum is truncated.
uint64_t packFloatStochastic(const FloatFormat &format, bool negative,
                             uint64_t significand, int exponent,
                             uint32_t random,
                             OverflowRule overflow = OverflowRule::Ieee);

/// Converts between formats with one rounding. NaNs stay NaN, quiet, with the
/// sign and as much of the payload as fits; \p overflow says what happens to
/// large values, and \p saturateInfinity whether infinities follow it too (the
/// rule of 8-bit results under FP16_OVFL). Formats without specials saturate.
uint64_t convertFloat(const FloatFormat &from, const FloatFormat &to,
                      uint64_t bits,
                      RoundingMode mode = RoundingMode::NearestEven,
                      OverflowRule overflow = OverflowRule::Ieee,
                      bool saturateInfinity = false);

/// The value of \p bits times 2^\p shift in format \p to, rounded once.
uint64_t convertFloatScaled(const FloatFormat &from, const FloatFormat &to,
                            uint64_t bits, int shift,
                            RoundingMode mode = RoundingMode::NearestEven,
                            OverflowRule overflow = OverflowRule::Ieee,
                            bool saturateInfinity = false);

/// Stochastic counterpart of convertFloatScaled.
uint64_t convertFloatStochastic(const FloatFormat &from, const FloatFormat &to,
                                uint64_t bits, int shift, uint32_t random,
                                OverflowRule overflow = OverflowRule::Ieee,
                                bool saturateInfinity = false);

//===----------------------------------------------------------------------===//
// The conversions that run once per lane, in forms a compiler vectorises.
//===----------------------------------------------------------------------===//

inline float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t asBits(float value) { return std::bit_cast<uint32_t>(value); }
inline double asDouble(uint64_t bits) { return std::bit_cast<double>(bits); }
inline uint64_t asBits(double value) { return std::bit_cast<uint64_t>(value); }

inline uint32_t f32FromBf16(uint32_t bits) { return bits << 16; }

/// f32 to bf16, nearest even; NaNs are quieted.
inline uint32_t bf16FromF32(uint32_t bits) {
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t quiet = (bits >> 16) | 0x40;
  return (bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded;
}

/// f16 to f32, exact; signalling NaNs are quieted.
inline uint32_t f32FromF16(uint32_t bits) {
  uint32_t sign = (bits & 0x8000) << 16;
  uint32_t magnitude = bits & 0x7fff;
  // An f16 denormal is an integer multiple of 2^-24, which f32 holds exactly.
  uint32_t denormal =
      asBits(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  uint32_t normal = (magnitude << 13) + 0x38000000;
  uint32_t special =
      (magnitude << 13) | 0x7f800000 | (magnitude > 0x7c00 ? 0x00400000u : 0u);
  uint32_t value = magnitude < 0x0400   ? denormal
                   : magnitude < 0x7c00 ? normal
                                        : special;
  return sign | value;
}

/// f32 to f16, nearest even; NaNs are quieted.
inline uint32_t f16FromF32(uint32_t bits) {
  uint32_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  // Normal range: drop 13 bits with a rounding carry into the exponent.
  uint32_t normal =
      (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Denormal range: an addition whose last place is 2^-24 does the rounding.
  uint32_t denormal = asBits(asFloat(magnitude) + 0.5f) - 0x3f000000;
  uint32_t nan = 0x7e00 | ((magnitude >> 13) & 0x1ff);
  uint32_t value = magnitude < 0x38800000    ? denormal
                   : magnitude < 0x477ff000  ? normal
                   : magnitude <= 0x7f800000 ? 0x7c00u
                                             : nan;
  return sign | value;
}

/// FP8 (E4M3FN) and BF8 (E5M2) to f32, exact, without tables.
uint32_t f32FromFp8(uint32_t code);
uint32_t f32FromBf8(uint32_t code);

/// The f32 value of every 8-bit code of \p format, for loops that gather.
const uint32_t *f32TableOf(const FloatFormat &format);

} // namespace netra::sim

#endif // NETRA_SIMULATOR_FLOATFORMATS_H
