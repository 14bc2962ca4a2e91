//===- SemanticsConversionTests.cpp - conversions between formats ---------===//
// SPDX-License-Identifier: MIT
#include "ExactFloat.h"
#include "LaneTable.h"

#include <bit>
#include <cmath>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

using U = uint64_t;

TEST(SemanticsFloat, Conversions) {
  auto integer = [](double low, double high) {
    return [=](U a, U, U, U) -> U {
      double x = value32(a);
      if (std::isnan(x))
        return 0;
      x = std::trunc(x);
      return x <= low ? U(int64_t(low)) : x >= high ? U(high) : U(int64_t(x));
    };
  };
  auto narrow = [](const Format &to, unsigned mode) {
    return [=](U a) -> U {
      if (f32.isNan(a))
        return (a >> 16 & 0x8000) | to.infinity() | to.quiet() |
               ((a & 0x7fffff) >> (23 - to.mantissaBits));
      if (f32.isInfinite(a))
        return (a >> 16 & 0x8000) | to.infinity();
      return roundTo(to, exactOf(f32, a), mode);
    };
  };
  const Format bf16{8, 7};
  auto toBf16 = narrow(bf16, 0), toF16 = narrow(f16, 0),
       toF16Zero = narrow(f16, 3), toF16Up = narrow(f16, 1);
  const Row packsBf16 = {
      "v_cvt_pk_bf16_f32 v0, v1, v2", 2,
      [=](U a, U b, U, U) { return toBf16(a) | toBf16(b) << 16; }};
  std::vector<uint64_t> edges = floatEdges();
  for (float v : {2147483520.0f, 2147483648.0f, -2147483648.0f, 4294967040.0f,
                  4294967296.0f, -1.0f,         -0.9f,          255.0f,
                  256.0f,        65504.0f,      65519.99f,      65520.0f,
                  1e-8f,         5.9604645e-8f, 2.9802322e-8f,  2.98023224e-8f,
                  6.1e-5f,       300.5f,        1.00390625f,    1.01171875f})
    edges.push_back(std::bit_cast<uint32_t>(v));
  runTable(
      {{"v_cvt_i32_f32 v0, v1", 1, integer(-2147483648.0, 2147483647.0)},
       {"v_cvt_u32_f32 v0, v1", 1, integer(0, 4294967295.0)},
       {"v_cvt_flr_i32_f32 v0, v1", 1,
        [](U a, U, U, U) -> U {
          double x = std::floor(value32(a));
          if (std::isnan(x))
            return 0;
          return U(int64_t(std::clamp(x, -2147483648.0, 2147483647.0)));
        }},
       {"v_cvt_f32_i32 v0, v1", 1,
        [](U a, U, U, U) {
          int64_t v = int32_t(a);
          Exact x{v < 0, (unsigned __int128)(v < 0 ? -v : v), 0};
          return v ? roundTo(f32, x) : U(0);
        }},
       {"v_cvt_f32_u32 v0, v1", 1,
        [](U a, U, U, U) { return roundTo(f32, Exact{false, a, 0}); }},
       {"v_cvt_f32_u32 v0, v1", 1,
        [](U a, U, U, U) { return roundTo(f32, Exact{false, a, 0}, 1); }, 1,
        PlainMode | 1},
       {"v_cvt_f32_ubyte2 v0, v1", 1,
        [](U a, U, U, U) {
          return roundTo(f32, Exact{false, a >> 16 & 255, 0});
        }},
       {"v_cvt_f16_f32 v0, v1", 1, [=](U a, U, U, U) { return toF16(a); }},
       {"v_cvt_f16_f32 v0, v1", 1, [=](U a, U, U, U) { return toF16Up(a); }, 1,
        PlainMode | 1 << ModeRound64Shift},
       {"v_cvt_f16_f32 v0, v1", 1,
        [=](U a, U, U, U) -> U {
          U r = toF16(a);
          return f16.isInfinite(r) && !f32.isInfinite(a) ? (r & 0x8000) | 0x7bff
                                                         : r;
        },
        1, PlainMode | ModeFp16Overflow},
       {"v_cvt_f32_f16 v0, v1", 1,
        [](U a, U, U, U) -> U {
          U h = a & 0xffff;
          if (f16.isNan(h) || f16.isInfinite(h))
            return (h & 0x8000) << 16 | 0x7f800000 | (h & 0x3ff) << 13 |
                   (f16.isNan(h) ? 0x400000 : 0);
          return roundTo(f32, exactOf(f16, h));
        }},
       {"v_cvt_f32_bf16 v0, v1", 1,
        [](U a, U, U, U) { return (a & 0xffff) << 16; }},
       packsBf16,
       {"v_cvt_pk_f16_f32 v0, v1, v2", 2,
        [=](U a, U b, U, U) { return toF16(a) | toF16(b) << 16; }},
       {"v_cvt_pkrtz_f16_f32 v0, v1, v2", 2,
        [=](U a, U b, U, U) { return toF16Zero(a) | toF16Zero(b) << 16; }}},
      edges);
  runTable({packsBf16}, edgesWhere(edges, [](U v) { return !f32.isNan(v); }),
           {1, 1, 1}, 0);
}

/// Nearest code of an 8-bit format, by comparing with all of them.
U nearest8(bool bf8, double x, bool saturate) {
  const double maximum = bf8 ? 57344 : 448;
  const unsigned mantissa = bf8 ? 2 : 3;
  U sign = std::signbit(x) ? 0x80 : 0;
  if (std::isnan(x))
    return 0x7f | sign;
  double m = std::fabs(x);
  auto value = [&](unsigned c) {
    unsigned e = c >> mantissa, f = c & ((1 << mantissa) - 1);
    int bias = bf8 ? 15 : 7;
    return e ? std::ldexp(1.0 + f / double(1 << mantissa), int(e) - bias)
             : std::ldexp(double(f), 1 - bias - int(mantissa));
  };
  unsigned last = bf8 ? 0x7b : 0x7e;
  double step = value(last) - value(last - 1);
  if (m > maximum) {
    bool over =
        m >= maximum + step / 2 && !(m == maximum + step / 2 && !(last & 1));
    if (over && !saturate)
      return sign | (bf8 ? 0x7c : 0x7f);
    return sign | last;
  }
  unsigned best = 0;
  for (unsigned c = 1; c <= last; ++c) {
    double d = std::fabs(value(c) - m), e = std::fabs(value(best) - m);
    if (d < e || (d == e && !(c & 1)))
      best = c;
  }
  return sign | best;
}

TEST(SemanticsFloat, BytesOfWords) {
  std::vector<uint64_t> edges = floatEdges();
  for (float v : {0.5f, 1.5f, 2.5f, 254.5f, 255.0f, 255.5f, 256.0f, 100.0f,
                  -100.0f, 1.99f, 7.25f, 0x1.fffffep-2f})
    edges.push_back(std::bit_cast<uint32_t>(v));
  // Clamped to 0 ... 255 and rounded as MODE says; the other bytes are
  // source 2's, or stay.
  for (uint32_t mode = 0; mode < 4; ++mode) {
    auto byteOf = [=](U a) {
      const double v = value32(a);
      const double x = v > 0 ? std::min(v, 255.0) : 0, low = std::floor(x);
      const bool odd = std::fmod(low, 2) == 1;
      const bool up = mode == 0 ? x - low > 0.5 || (x - low == 0.5 && odd)
                                : mode == 1 && x > low;
      return U(low) + up;
    };
    auto placed = [=](U a, U b, U rest) {
      const unsigned shift = unsigned(b % 4) * 8;
      return (rest & ~(U(255) << shift)) | byteOf(a) << shift;
    };
    std::vector<Row> rows = {
        {"v_cvt_pk_u8_f32 v0, v1, v2, v3", 3,
         [=](U a, U b, U c, U) { return placed(a, b, c); }},
        {"v_cvt_pk_u8_f32 v0, -v1, 2, v3", 3,
         [=](U a, U, U c, U) { return placed(negate32(a), 2, c); }},
        {"v_cvt_pkaccum_u8_f32 v0, v1, v2", 2,
         [=](U a, U b, U, U old) { return placed(a, b, old); }}};
    for (Row &row : rows)
      row.mode = PlainMode | mode << ModeRound32Shift;
    SCOPED_TRACE(mode);
    runTable(rows, edges);
  }
}

TEST(SemanticsFloat, EightBitFloats) {
  std::vector<uint64_t> edges = floatEdges();
  for (float v : {448.0f, 464.0f, 464.1f, 480.0f, 57344.0f, 61440.0f, 61439.0f,
                  0.0009765625f, 0.00146f, 0.0117f, 0.0155f, 0.017f, 4.6e-5f,
                  6.09e-5f, 17.0f, 19.0f, 1.0625f, 100.0f})
    edges.push_back(std::bit_cast<uint32_t>(v));
  auto pair = [](bool bf8, bool saturate, U a, U b) {
    return nearest8(bf8, value32(a), saturate) |
           nearest8(bf8, value32(b), saturate) << 8;
  };
  const std::vector<Row> rows = {
      {"v_cvt_pk_fp8_f32 v0, v1, v2", 2,
       [=](U a, U b, U, U old) {
         return (old & 0xffff0000) | pair(false, false, a, b);
       }},
      {"v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]", 2,
       [=](U a, U b, U, U old) {
         return (old & 0xffff) | pair(false, true, a, b) << 16;
       },
       1, PlainMode | ModeFp16Overflow},
      {"v_cvt_pk_bf8_f32 v0, -v1, v2", 2, [=](U a, U b, U, U old) {
         return (old & 0xffff0000) | pair(true, false, negate32(a), b);
       }}};
  runTable(rows, edges);
  // All lanes within the format, also those of the other operands.
  for (double greatest : {448.0, 57344.0}) {
    SCOPED_TRACE(greatest);
    runTable(rows,
             edgesWhere(edges,
                        [=](U v) { return std::fabs(value32(v)) <= greatest; }),
             {1, 1, 1}, 0);
  }
  Machine m;
  m.v(1, 0) = 0x7ff8c03a;
  m.run("v_cvt_f32_fp8_sdwa v0, v1 src0_sel:BYTE_1");
  EXPECT_EQ(value32(m.v(0, 0)), -2.0);
  m.run("v_cvt_pk_f32_fp8 v[2:3], v1");
  EXPECT_EQ(value32(m.v(2, 0)), 1.25);
  EXPECT_EQ(value32(m.v(3, 0)), -2.0);
  m.run("v_cvt_pk_f32_fp8_sdwa v[2:3], v1 src0_sel:WORD_1");
  EXPECT_EQ(value32(m.v(2, 0)), -256.0);
  EXPECT_TRUE(std::isnan(value32(m.v(3, 0))));
  m.run("v_cvt_f32_bf8 v0, v1");
  EXPECT_EQ(value32(m.v(0, 0)), 0.75);
}

/// What a code of eight bits stands for; NaN for those that are no numbers.
double valueOf8(bool bf8, unsigned code) {
  const unsigned mantissa = bf8 ? 2 : 3,
                 fraction = code & ((1u << mantissa) - 1);
  const int exponent = int(code >> mantissa & (bf8 ? 31 : 15)),
            bias = bf8 ? 15 : 7;
  const double sign = code & 0x80 ? -1 : 1;
  if (bf8 && exponent == 31)
    return fraction ? NAN : sign * INFINITY;
  if (!bf8 && (code & 0x7f) == 0x7f)
    return NAN;
  const unsigned significand = fraction | (exponent ? 1u << mantissa : 0);
  return sign *
         std::ldexp(significand, std::max(exponent, 1) - bias - int(mantissa));
}

TEST(SemanticsFloat, PairsOfEightBitFloatsWithAndWithoutSpecialLanes) {
  Machine m;
  for (bool bf8 : {false, true})
    for (bool upper : {false, true})
      // Finite numbers in all lanes first, then every code.
      for (unsigned last : {bf8 ? 0x7bu : 0x7eu, 0x7fu})
        for (unsigned first = 0; first < 512; first += 128) {
          auto code = [&](unsigned at) {
            const unsigned magnitude = std::min(at & 0x7f, last);
            return magnitude | (at & 0x80);
          };
          for (unsigned l = 0; l < 64; ++l) {
            const unsigned at = first + 2 * l;
            m.v(1, l) = (code(at) | code(at * 5 + 1) << 8) << (upper ? 16 : 0);
          }
          const std::string name =
              bf8 ? "v_cvt_pk_f32_bf8" : "v_cvt_pk_f32_fp8";
          m.run(upper ? name + "_sdwa v[2:3], v1 src0_sel:WORD_1"
                      : name + " v[2:3], v1");
          for (unsigned l = 0; l < 64; ++l)
            for (unsigned half = 0; half < 2; ++half) {
              const unsigned at = first + 2 * l;
              const unsigned from = code(half ? at * 5 + 1 : at);
              const double want = valueOf8(bf8, from),
                           got = value32(m.v(2 + half, l));
              EXPECT_EQ(std::isnan(got), std::isnan(want)) << name << from;
              if (!std::isnan(want)) {
                EXPECT_EQ(got, want) << name << " " << from;
                EXPECT_EQ(std::signbit(got), std::signbit(want)) << from;
              }
            }
        }
}

TEST(SemanticsFloat, ScaledConversions) {
  Machine m;
  // Scale 2^3: narrowing divides, widening multiplies.
  m.v(3, 0) = std::bit_cast<uint32_t>(8.0f);
  m.v(1, 0) = std::bit_cast<uint32_t>(24.0f);
  m.v(2, 0) = std::bit_cast<uint32_t>(-12.0f);
  m.v(0, 0) = 0x12345678;
  m.run("v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3");
  EXPECT_EQ(m.v(0, 0), 0x1234bc44u); // -1.5 and 3
  m.run("v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3 op_sel:[0,0,0,1]");
  EXPECT_EQ(m.v(0, 0), 0xbc44bc44u);
  m.run("v_cvt_scalef32_pk_f32_fp8 v[4:5], v0, v3");
  EXPECT_EQ(value32(m.v(4, 0)), 24.0);
  EXPECT_EQ(value32(m.v(5, 0)), -12.0);
  m.run("v_cvt_scalef32_pk_bf16_fp8 v4, v0, v3");
  EXPECT_EQ(m.v(4, 0), 0xc14041c0u);
  m.v(0, 0) = 0x11111111;
  m.run("v_cvt_scalef32_pk_fp4_f32 v0, v1, v2, v3 op_sel:[0,0,1,0]");
  EXPECT_EQ(m.v(0, 0), 0x1111b511u); // codes of 3 and -1.5
  m.run("v_cvt_scalef32_pk_bf16_fp4 v4, v0, v3 op_sel:[1,0,0]");
  EXPECT_EQ(m.v(4, 0), 0xc14041c0u);
  m.v(1, 0) = 0x41c0c140; // bf16 -12, 24
  m.run("v_cvt_scalef32_pk_fp8_bf16 v0, v1, v3");
  EXPECT_EQ(m.v(0, 0) & 0xffff, 0x44bcu);
  // 32 elements of FP6 there and back.
  for (unsigned k = 0; k < 16; ++k) {
    m.v(32 + k, 0) = std::bit_cast<uint32_t>(float(k) * 0.25f * 8);
    m.v(48 + k, 0) = std::bit_cast<uint32_t>(-float(k) * 0.25f * 8);
  }
  m.run("v_cvt_scalef32_2xpk16_fp6_f32 v[10:15], v[32:47], v[48:63], v3");
  m.run("v_cvt_scalef32_pk32_f32_fp6 v[64:95], v[10:15], v3");
  for (unsigned k = 0; k < 16; ++k) {
    EXPECT_EQ(value32(m.v(64 + 2 * k, 0)), k * 2.0);
    EXPECT_EQ(value32(m.v(65 + 2 * k, 0)), -(k * 2.0));
  }
}

} // namespace
