//===- FloatFormatsTests.cpp - conversions against their definition -------===//
// SPDX-License-Identifier: MIT
//
// The reference is the definition of a format: (-1)^s * (m or 1.m) * 2^e, in
// double precision, which holds every value of the formats tested and every
// midpoint between them exactly.
//
//===----------------------------------------------------------------------===//
#include "../../lib/Simulator/FloatFormats.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace netra::sim;

namespace {

struct Named {
  const char *name;
  const FloatFormat *format;
  unsigned exponentBits, mantissaBits;
  int bias;
  double maximum;
  bool hasInfinity, hasNan;
};

const Named formats[] = {
    {"f16", &formatF16, 5, 10, 15, 65504, true, true},
    {"bf16", &formatBf16, 8, 7, 127, 0x1.fep127, true, true},
    {"fp8", &formatFp8, 4, 3, 7, 448, false, true},
    {"bf8", &formatBf8, 5, 2, 15, 57344, true, true},
    {"fp6", &formatFp6, 2, 3, 1, 7.5, false, false},
    {"bf6", &formatBf6, 3, 2, 3, 28, false, false},
    {"fp4", &formatFp4, 2, 1, 1, 6, false, false},
};

/// The value of a code, by the definition.
double valueOf(const Named &f, unsigned code) {
  unsigned mantissa = code & ((1u << f.mantissaBits) - 1);
  unsigned exponent = (code >> f.mantissaBits) & ((1u << f.exponentBits) - 1);
  bool negative = code >> (f.exponentBits + f.mantissaBits) & 1;
  unsigned all = (1u << f.exponentBits) - 1;
  double magnitude;
  if (exponent == all && f.hasInfinity)
    magnitude = mantissa ? NAN : INFINITY;
  else if (exponent == all && f.hasNan &&
           mantissa == (1u << f.mantissaBits) - 1)
    magnitude = NAN;
  else if (exponent == 0)
    magnitude = std::ldexp(double(mantissa), 1 - f.bias - int(f.mantissaBits));
  else
    magnitude = std::ldexp(double(mantissa + (1u << f.mantissaBits)),
                           int(exponent) - f.bias - int(f.mantissaBits));
  return negative ? -magnitude : magnitude;
}

unsigned width(const Named &f) { return 1 + f.exponentBits + f.mantissaBits; }

uint64_t bitsOf(double value) { return std::bit_cast<uint64_t>(value); }

TEST(FloatFormats, WideningIsExactForEveryCode) {
  for (const Named &f : formats)
    for (unsigned code = 0; code < 1u << width(f); ++code) {
      double expected = valueOf(f, code);
      double wide = asDouble(convertFloat(*f.format, formatF64, code));
      float single =
          asFloat(uint32_t(convertFloat(*f.format, formatF32, code)));
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(wide) && std::isnan(single))
            << f.name << " " << code;
        continue;
      }
      ASSERT_EQ(bitsOf(expected), bitsOf(wide)) << f.name << " " << code;
      ASSERT_EQ(bitsOf(expected), bitsOf(double(single)))
          << f.name << " " << code;
    }
}

TEST(FloatFormats, InlineHalfConversionsAgreeWithTheDefinition) {
  for (unsigned code = 0; code < 0x10000; ++code) {
    double expected = valueOf(formats[0], code);
    float wide = asFloat(f32FromF16(code));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide)) << code;
      // Quiet, sign and payload kept.
      ASSERT_EQ(f16FromF32(f32FromF16(code)), code | 0x200);
      continue;
    }
    ASSERT_EQ(bitsOf(double(wide)), bitsOf(expected)) << code;
    ASSERT_EQ(f16FromF32(f32FromF16(code)), code);
    ASSERT_EQ(bf16FromF32(f32FromBf16(code)),
              (code & 0x7fff) > 0x7f80 ? code | 0x40 : code);
  }
}

/// The code a value rounds to, found by comparing with its two neighbours.
unsigned roundByDefinition(const Named &f, double value, RoundingMode mode,
                           bool saturate) {
  bool negative = std::signbit(value);
  double magnitude = std::fabs(value);
  unsigned sign = negative ? 1u << (width(f) - 1) : 0;
  // Largest code whose value is not above the magnitude.
  unsigned low = 0, high = (1u << (width(f) - 1)) - 1;
  auto reaches = [&](unsigned code) {
    double v = valueOf(f, code);
    return v <= magnitude; // false for NaN
  };
  while (low < high) {
    unsigned middle = (low + high + 1) / 2;
    if (reaches(middle))
      low = middle;
    else
      high = middle - 1;
  }
  double below = valueOf(f, low);
  // The neighbour above, as if the exponent range had no end.
  double above = below == f.maximum
                     ? f.maximum + std::ldexp(1.0, std::ilogb(f.maximum) -
                                                       int(f.mantissaBits))
                     : valueOf(f, low + 1);
  if (std::isinf(below))
    below = f.maximum, --low, above = INFINITY;
  bool up = false;
  if (magnitude > below) {
    double toLow = magnitude - below, toHigh = above - magnitude;
    switch (mode) {
    case RoundingMode::NearestEven:
      up = toHigh < toLow || (toHigh == toLow && (low & 1));
      // Beyond the last code but one step only infinity is near.
      if (magnitude >= above)
        up = true;
      break;
    case RoundingMode::TowardPositive:
      up = !negative;
      break;
    case RoundingMode::TowardNegative:
      up = negative;
      break;
    case RoundingMode::TowardZero:
      break;
    }
  }
  if (!up)
    return sign | low;
  if (below < f.maximum)
    return sign | (low + 1);
  if (saturate || !f.hasNan)
    return sign | low;
  return sign | (low + 1); // infinity, or the NaN of fp8
}

std::vector<double> probesBetween(double a, double b) {
  double middle = a + (b - a) / 2;
  return {a,
          std::nextafter(a, INFINITY),
          std::nextafter(middle, 0),
          middle,
          std::nextafter(middle, INFINITY),
          std::nextafter(b, 0),
          a + (b - a) / 4};
}

TEST(FloatFormats, NarrowingRoundsAtEveryBoundaryInEveryMode) {
  for (const Named &f : formats) {
    unsigned codes = 1u << (width(f) - 1);
    unsigned step = width(f) == 16 ? 7 : 1; // every boundary of small formats
    for (unsigned code = 0; code + 1 < codes; code += step) {
      double a = valueOf(f, code), b = valueOf(f, code + 1);
      if (!std::isfinite(a))
        continue;
      if (!std::isfinite(b))
        b = 2 * a - valueOf(f, code - 1);
      for (double probe : probesBetween(a, b))
        for (int sign : {1, -1})
          for (unsigned mode = 0; mode < 4; ++mode)
            for (bool saturate : {false, true}) {
              double value = sign * probe;
              unsigned expected =
                  roundByDefinition(f, value, RoundingMode(mode), saturate);
              uint64_t got = convertFloat(
                  formatF64, *f.format, bitsOf(value), RoundingMode(mode),
                  saturate ? OverflowRule::Saturate : OverflowRule::Ieee);
              ASSERT_EQ(got, expected)
                  << f.name << " value " << value << " mode " << mode
                  << " saturate " << saturate;
            }
    }
  }
}

TEST(FloatFormats, FastNarrowingEqualsTheGeneralOne) {
  std::mt19937 random(7);
  for (unsigned i = 0; i < 2000000; ++i) {
    uint32_t bits = random();
    if (i % 4 == 0) // around the denormal range of f16
      bits = (bits & 0x80ffffff) | (0x33000000 + (random() % 8 << 23));
    ASSERT_EQ(f16FromF32(bits), convertFloat(formatF32, formatF16, bits))
        << std::hex << bits;
    ASSERT_EQ(bf16FromF32(bits), convertFloat(formatF32, formatBf16, bits))
        << std::hex << bits;
  }
}

TEST(FloatFormats, OverflowOfEightBitFormatsFollowsTheFlag) {
  struct Row {
    float value;
    unsigned fp8, fp8Saturated, bf8, bf8Saturated;
  };
  const Row rows[] = {
      {INFINITY, 0x7f, 0x7e, 0x7c, 0x7b},
      {-INFINITY, 0xff, 0xfe, 0xfc, 0xfb},
      {448, 0x7e, 0x7e, 0x5f, 0x5f},
      {464, 0x7e, 0x7e, 0x5f, 0x5f}, // tie with 480, to even
      {464.1f, 0x7f, 0x7e, 0x5f, 0x5f},
      {1e9f, 0x7f, 0x7e, 0x7c, 0x7b},
      {-1e9f, 0xff, 0xfe, 0xfc, 0xfb},
      {61440, 0x7f, 0x7e, 0x7c, 0x7b}, // tie beyond 57344
      {61439, 0x7f, 0x7e, 0x7b, 0x7b},
      {NAN, 0x7f, 0x7f, 0x7f, 0x7f},
      {-0.0f, 0x80, 0x80, 0x80, 0x80},
      {0x1p-9f, 0x01, 0x01, 0x18, 0x18},
      {0x1p-10f, 0x00, 0x00, 0x14, 0x14}, // half the least fp8, to even
      {0x1.8p-10f, 0x01, 0x01, 0x16, 0x16},
      {0x1p-16f, 0x00, 0x00, 0x01, 0x01},
  };
  for (const Row &row : rows) {
    auto convert = [&](const FloatFormat &to, bool saturate) {
      return convertFloat(
          formatF32, to, asBits(row.value), RoundingMode::NearestEven,
          saturate ? OverflowRule::Saturate : OverflowRule::Ieee, saturate);
    };
    EXPECT_EQ(convert(formatFp8, false), row.fp8) << row.value;
    EXPECT_EQ(convert(formatFp8, true), row.fp8Saturated) << row.value;
    EXPECT_EQ(convert(formatBf8, false), row.bf8) << row.value;
    EXPECT_EQ(convert(formatBf8, true), row.bf8Saturated) << row.value;
  }
}

TEST(FloatFormats, ScalingShiftsTheExponentBeforeTheOneRounding) {
  std::mt19937 random(11);
  for (const Named &f : formats)
    for (int shift = -20; shift <= 20; ++shift)
      for (unsigned i = 0; i < 200; ++i) {
        float value = std::ldexp(float(int32_t(random())) * 0x1p-31f,
                                 int(random() % 12) - 6);
        double scaled = std::ldexp(double(value), shift);
        ASSERT_EQ(convertFloatScaled(formatF32, *f.format, asBits(value), shift,
                                     RoundingMode::NearestEven,
                                     OverflowRule::Saturate),
                  roundByDefinition(f, scaled, RoundingMode::NearestEven, true))
            << f.name << " " << value << " << " << shift;
      }
}

TEST(FloatFormats, StochasticRoundingAddsTheRandomFractionAndTruncates) {
  std::mt19937 random(13);
  for (const Named &f : {formats[0], formats[2], formats[3], formats[6]})
    for (unsigned i = 0; i < 20000; ++i) {
      float value =
          std::ldexp(float(random() >> 8) * 0x1p-24f, int(random() % 10) - 8);
      uint32_t noise = random();
      unsigned low =
          roundByDefinition(f, value, RoundingMode::TowardZero, true);
      double below = valueOf(f, low);
      if (below == f.maximum)
        continue;
      double above = valueOf(f, low + 1);
      double fraction = (value - below) / (above - below);
      unsigned expected = low + (fraction + noise * 0x1p-32 >= 1.0);
      ASSERT_EQ(convertFloatStochastic(formatF32, *f.format, asBits(value), 0,
                                       noise, OverflowRule::Saturate),
                expected)
          << f.name << " " << value << " noise " << noise;
    }
}

TEST(FloatFormats, TablesHoldTheDefinition) {
  for (const Named &f : formats) {
    if (width(f) == 16)
      continue;
    const uint32_t *table = f32TableOf(*f.format);
    for (unsigned code = 0; code < 1u << width(f); ++code) {
      double expected = valueOf(f, code);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(asFloat(table[code])));
      else
        EXPECT_EQ(double(asFloat(table[code])), expected) << f.name << code;
    }
  }
}

// The comparison above must be able to fail: a format with the wrong bias is
// told apart.
TEST(FloatFormats, NegativeControl) {
  FloatFormat wrong = formatFp8;
  wrong.bias = 8; // the FNUZ bias of an older target
  unsigned differences = 0;
  for (unsigned code = 1; code < 0x7f; ++code)
    differences += asDouble(convertFloat(wrong, formatF64, code)) !=
                   valueOf(formats[2], code);
  EXPECT_EQ(differences, 0x7eu);
}

} // namespace
