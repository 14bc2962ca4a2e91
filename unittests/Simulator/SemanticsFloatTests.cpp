//===- SemanticsFloatTests.cpp - floating-point instructions --------------===//
// SPDX-License-Identifier: MIT
//
// The models compute in exact integers (ExactFloat.h), never with the host's
// floating-point unit, except where a result is compared within a bound.
//
//===----------------------------------------------------------------------===//
#include "ExactFloat.h"
#include "LaneTable.h"

#include <bit>
#include <cmath>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

using U = uint64_t;

double value32(U bits) { return std::bit_cast<float>(uint32_t(bits)); }
double value64(U bits) { return std::bit_cast<double>(bits); }
/// -0 orders below +0; NaNs are dealt with before.
int64_t order(const Format &f, U b) {
  return b & f.sign() ? -int64_t(b & ~f.sign()) - 1 : int64_t(b);
}
U extremum(const Format &f, U a, U b, bool maximum) {
  auto signalling = [&](U v) { return f.isNan(v) && !(v & f.quiet()); };
  if (signalling(a))
    return a | f.quiet();
  if (signalling(b))
    return b | f.quiet();
  if (f.isNan(a))
    return b;
  if (f.isNan(b))
    return a;
  return (order(f, a) < order(f, b)) == maximum ? b : a;
}
U negate32(U v) { return v ^ 0x80000000; }
U absolute32(U v) { return v & 0x7fffffff; }

TEST(SemanticsFloat, ArithmeticInEveryRoundingAndDenormalMode) {
  std::vector<Row> rows;
  for (unsigned round = 0; round < 4; ++round)
    for (unsigned denorm = 0; denorm < 4; ++denorm) {
      const uint32_t mode = (PlainMode & ~0x33u) | round | denorm << 4;
      auto in = [denorm](U v) { return denorm & 1 ? v : f32.flush(v); };
      auto out = [denorm](U v) { return denorm & 2 ? v : f32.flush(v); };
      rows.push_back({"v_add_f32 v0, v1, v2", 2,
                      [=](U a, U b, U, U) {
                        return out(exactAdd(f32, in(a), in(b), round));
                      },
                      1, mode});
      rows.push_back({"v_sub_f32 v0, v1, v2", 2,
                      [=](U a, U b, U, U) {
                        U y = in(b);
                        return out(exactAdd(
                            f32, in(a), f32.isNan(y) ? y : negate32(y), round));
                      },
                      1, mode});
      rows.push_back({"v_mul_f32 v0, v1, v2", 2,
                      [=](U a, U b, U, U) {
                        return out(exactMul(f32, in(a), in(b), round));
                      },
                      1, mode});
      rows.push_back({"v_fma_f32 v0, v1, v2, v3", 3,
                      [=](U a, U b, U c, U) {
                        return out(exactFma(f32, in(a), in(b), in(c), round));
                      },
                      1, mode});
      rows.push_back({"v_fmac_f32 v0, v1, v2", 2,
                      [=](U a, U b, U, U old) {
                        return out(exactFma(f32, in(a), in(b), in(old), round));
                      },
                      1, mode});
    }
  runTable(rows, floatEdges());
}

TEST(SemanticsFloat, ModifiersOfSourcesAndResults) {
  const uint32_t flushing = (PlainMode & ~0x30u & ~uint32_t(ModeIeee));
  auto clamp = [](U v) -> U {
    if (f32.isNan(v) || v & 0x80000000)
      return 0;
    return v > 0x3f800000 ? 0x3f800000 : v;
  };
  runTable({{"v_add_f32_e64 v0, -v1, |v2|", 2,
             [](U a, U b, U, U) {
               return exactAdd(f32, negate32(a), absolute32(b));
             }},
            {"v_fma_f32 v0, -|v1|, v2, -v3", 3,
             [](U a, U b, U c, U) {
               return exactFma(f32, negate32(absolute32(a)), b, negate32(c));
             }},
            {"v_mul_f32_e64 v0, v1, v2 clamp", 2,
             [=](U a, U b, U, U) { return clamp(exactMul(f32, a, b)); }},
            {"v_add_f32_e64 v0, v1, v2 mul:2", 2, // ignored: denormals kept
             [](U a, U b, U, U) { return exactAdd(f32, a, b); }},
            {"v_add_f32_e64 v0, v1, v2 div:2", 2,
             [](U a, U b, U, U) {
               U r = f32.flush(exactAdd(f32, f32.flush(a), f32.flush(b)));
               r = f32.flush(f32.isNan(r) ? r : exactMul(f32, r, 0x3f000000));
               return r == 0x80000000 ? U(0) : r;
             },
             1, flushing},
            {"v_cndmask_b32_e64 v0, -v1, |v2|, s[20:21]", 2,
             [](U a, U, U, U) { return negate32(a); }}},
           floatEdges());
}

TEST(SemanticsFloat, MinimumMaximumMedian) {
  auto mn = [](U a, U b) { return extremum(f32, a, b, false); };
  auto mx = [](U a, U b) { return extremum(f32, a, b, true); };
  runTable(
      {{"v_min_f32 v0, v1, v2", 2, [=](U a, U b, U, U) { return mn(a, b); }},
       {"v_max_f32 v0, v1, v2", 2, [=](U a, U b, U, U) { return mx(a, b); }},
       {"v_min3_f32 v0, v1, v2, v3", 3,
        [=](U a, U b, U c, U) { return mn(mn(a, b), c); }},
       {"v_max3_f32 v0, v1, v2, v3", 3,
        [=](U a, U b, U c, U) { return mx(mx(a, b), c); }},
       {"v_med3_f32 v0, v1, v2, v3", 3,
        [=](U a, U b, U c, U) {
          if (f32.isNan(a) || f32.isNan(b) || f32.isNan(c))
            return mn(mn(a, b), c);
          U v[3] = {a, b, c};
          std::sort(v, v + 3,
                    [](U x, U y) { return order(f32, x) < order(f32, y); });
          return v[1];
        }},
       {"v_maximum3_f32 v0, v1, v2, v3", 3,
        [=](U a, U b, U c, U) {
          if (f32.isNan(a) || f32.isNan(b) || f32.isNan(c))
            return firstNan(f32, a, b, c);
          return mx(mx(a, b), c);
        }},
       {"v_max_f32 v0, v1, v2", 2,
        [](U a, U b, U, U) {
          // Without the IEEE bit signalling NaNs are like quiet ones.
          if (f32.isNan(a))
            return b;
          if (f32.isNan(b))
            return a;
          return order(f32, a) < order(f32, b) ? b : a;
        },
        1, PlainMode & ~uint32_t(ModeIeee)}},
      floatEdges());
}

TEST(SemanticsFloat, RoundingToIntegersAndSplitting) {
  // Every f32 edge is an exact double, where these operations are exact.
  auto unary = [](double (*f)(double)) {
    return [f](U a, U, U, U) -> U {
      if (f32.isNan(a))
        return a | f32.quiet();
      return std::bit_cast<uint32_t>(float(f(value32(a))));
    };
  };
  std::vector<uint64_t> edges = floatEdges();
  for (float v : {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.49999997f,
                  8388608.5f, 8388607.5f, -8388607.5f, 3.99f, -3.99f, 1e9f})
    edges.push_back(std::bit_cast<uint32_t>(v));
  runTable(
      {{"v_trunc_f32 v0, v1", 1, unary([](double x) { return std::trunc(x); })},
       {"v_ceil_f32 v0, v1", 1, unary([](double x) { return std::ceil(x); })},
       {"v_floor_f32 v0, v1", 1, unary([](double x) { return std::floor(x); })},
       {"v_rndne_f32 v0, v1", 1,
        unary([](double x) { return std::nearbyint(x); })},
       {"v_fract_f32 v0, v1", 1,
        [](U a, U, U, U) -> U {
          if (f32.isNan(a))
            return a | f32.quiet();
          if (f32.isInfinite(a))
            return f32.nan();
          double r = value32(a) - std::floor(value32(a));
          float f = float(r);
          return std::bit_cast<uint32_t>(f >= 1 ? 0x1.fffffep-1f : f);
        }},
       {"v_frexp_mant_f32 v0, v1", 1,
        [](U a, U, U, U) -> U {
          if (f32.isNan(a))
            return a | f32.quiet();
          if (f32.isInfinite(a))
            return a;
          int e;
          return std::bit_cast<uint32_t>(float(std::frexp(value32(a), &e)));
        }},
       {"v_frexp_exp_i32_f32 v0, v1", 1,
        [](U a, U, U, U) -> U {
          if (f32.isNan(a) || f32.isInfinite(a))
            return 0;
          int e;
          std::frexp(value32(a), &e);
          return uint32_t(e);
        }},
       {"v_ldexp_f32 v0, v1, v2", 2,
        [](U a, U b, U, U) -> U {
          if (f32.isNan(a))
            return a | f32.quiet();
          if (f32.isInfinite(a))
            return a;
          Exact x = exactOf(f32, a);
          x.exponent += int(std::clamp<int64_t>(int32_t(b), -2000, 2000));
          return roundTo(f32, x);
        }}},
      edges);
}

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
       {"v_cvt_pk_bf16_f32 v0, v1, v2", 2,
        [=](U a, U b, U, U) { return toBf16(a) | toBf16(b) << 16; }},
       {"v_cvt_pk_f16_f32 v0, v1, v2", 2,
        [=](U a, U b, U, U) { return toF16(a) | toF16(b) << 16; }},
       {"v_cvt_pkrtz_f16_f32 v0, v1, v2", 2,
        [=](U a, U b, U, U) { return toF16Zero(a) | toF16Zero(b) << 16; }}},
      edges);
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

TEST(SemanticsFloat, EightBitFloats) {
  std::vector<uint64_t> edges = floatEdges();
  for (float v :
       {448.0f, 464.0f, 464.1f, 480.0f, 57344.0f, 61440.0f, 61439.0f,
        0.0009765625f, 0.00146f, 0.017f, 17.0f, 19.0f, 1.0625f, 100.0f})
    edges.push_back(std::bit_cast<uint32_t>(v));
  auto pair = [](bool bf8, bool saturate, U a, U b) {
    return nearest8(bf8, value32(a), saturate) |
           nearest8(bf8, value32(b), saturate) << 8;
  };
  runTable({{"v_cvt_pk_fp8_f32 v0, v1, v2", 2,
             [=](U a, U b, U, U old) {
               return (old & 0xffff0000) | pair(false, false, a, b);
             }},
            {"v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]", 2,
             [=](U a, U b, U, U old) {
               return (old & 0xffff) | pair(false, true, a, b) << 16;
             },
             1, PlainMode | ModeFp16Overflow},
            {"v_cvt_pk_bf8_f32 v0, -v1, v2", 2,
             [=](U a, U b, U, U old) {
               return (old & 0xffff0000) | pair(true, false, negate32(a), b);
             }}},
           edges);
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

TEST(SemanticsFloat, TranscendentalsWithinOneUlp) {
  struct Line {
    const char *text;
    double (*exact)(double);
  };
  const Line lines[] = {
      {"v_exp_f32 v0, v1", [](double x) { return std::exp2(x); }},
      {"v_log_f32 v0, v1", [](double x) { return std::log2(x); }},
      {"v_rcp_f32 v0, v1", [](double x) { return 1 / x; }},
      {"v_rcp_iflag_f32 v0, v1", [](double x) { return 1 / x; }},
      {"v_rsq_f32 v0, v1", [](double x) { return 1 / std::sqrt(x); }},
      {"v_sqrt_f32 v0, v1", [](double x) { return std::sqrt(x); }},
      {"v_sin_f32 v0, v1", [](double x) { return std::sin(x * 2 * M_PI); }},
      {"v_cos_f32 v0, v1", [](double x) { return std::cos(x * 2 * M_PI); }},
  };
  std::mt19937 random(3);
  for (const Line &line : lines) {
    SCOPED_TRACE(line.text);
    Sequence s({line.text});
    ASSERT_EQ(s.problem(0), "");
    Machine m;
    for (unsigned turn = 0; turn < 50; ++turn) {
      for (unsigned l = 0; l < 64; ++l) {
        uint32_t bits = uint32_t(floatEdges()[random() % floatEdges().size()]);
        if (turn > 5)
          bits = random();
        else if (turn > 3)
          bits =
              std::bit_cast<uint32_t>(float(int(random() % 4000) - 2000) / 64);
        m.v(1, l) = bits;
      }
      m.run(s[0]);
      for (unsigned l = 0; l < 64; ++l) {
        U x = f32.flush(m.v(1, l));
        double in = value32(x), got = value32(m.v(0, l));
        if (std::string(line.text).find("_sin_") != std::string::npos ||
            std::string(line.text).find("_cos_") != std::string::npos) {
          if (!(std::fabs(in) < 256))
            continue; // outside the ISA's domain
          EXPECT_NEAR(got, line.exact(in), 1e-6) << in;
          continue;
        }
        double want = line.exact(in);
        if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(got)) << in;
          continue;
        }
        float rounded = float(want);
        if (std::fabs(rounded) < 0x1p-126f)
          rounded = std::copysign(0.0f, rounded);
        float down = std::nextafter(rounded, -INFINITY),
              up = std::nextafter(rounded, INFINITY);
        EXPECT_TRUE(got == rounded || got == down || got == up)
            << in << " gave " << got << " for " << want;
      }
    }
  }
}

TEST(SemanticsFloat, DivisionSequenceGivesTheCorrectQuotient) {
  // The sequence compilers emit; the quotient must be the IEEE one.
  Sequence s({"v_div_scale_f32 v10, s[10:11], v2, v2, v1",
              "v_div_scale_f32 v11, vcc, v1, v2, v1", "v_rcp_f32 v12, v10",
              "v_fma_f32 v13, -v10, v12, 1.0", "v_fmac_f32 v12, v13, v12",
              "v_mul_f32 v14, v11, v12", "v_fma_f32 v13, -v10, v14, v11",
              "v_fmac_f32 v14, v13, v12", "v_fma_f32 v10, -v10, v14, v11",
              "v_div_fmas_f32 v10, v10, v12, v14",
              "v_div_fixup_f32 v0, v10, v2, v1"});
  std::mt19937 random(17);
  Machine m;
  for (unsigned turn = 0; turn < 400; ++turn) {
    for (unsigned l = 0; l < 64; ++l) {
      for (unsigned k : {1u, 2u}) {
        uint32_t bits = random();
        if (random() % 3 == 0)
          bits = uint32_t(floatEdges()[random() % floatEdges().size()]);
        m.v(k, l) = bits;
      }
    }
    for (size_t i = 0; i < s.size(); ++i)
      m.run(s[i]);
    for (unsigned l = 0; l < 64; ++l) {
      float a = float(value32(m.v(1, l))), b = float(value32(m.v(2, l)));
      float want = a / b, got = float(value32(m.v(0, l)));
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << a << " / " << b;
        continue;
      }
      ASSERT_EQ(m.v(0, l), std::bit_cast<uint32_t>(want)) << a << " / " << b;
    }
  }
}

TEST(SemanticsFloat, DoubleDivisionSequenceGivesTheCorrectQuotient) {
  Sequence s({"v_div_scale_f64 v[10:11], s[10:11], v[4:5], v[4:5], v[2:3]",
              "v_rcp_f64 v[12:13], v[10:11]",
              "v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0",
              "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]",
              "v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0",
              "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]",
              "v_div_scale_f64 v[14:15], vcc, v[2:3], v[4:5], v[2:3]",
              "v_mul_f64 v[16:17], v[14:15], v[12:13]",
              "v_fma_f64 v[10:11], -v[10:11], v[16:17], v[14:15]",
              "v_div_fmas_f64 v[10:11], v[10:11], v[12:13], v[16:17]",
              "v_div_fixup_f64 v[0:1], v[10:11], v[4:5], v[2:3]"});
  std::mt19937_64 random(19);
  Machine m;
  for (unsigned turn = 0; turn < 200; ++turn) {
    for (unsigned l = 0; l < 64; ++l)
      for (unsigned k : {2u, 4u}) {
        uint64_t bits = random();
        m.v(k, l) = uint32_t(bits);
        m.v(k + 1, l) = uint32_t(bits >> 32);
      }
    for (size_t i = 0; i < s.size(); ++i)
      m.run(s[i]);
    for (unsigned l = 0; l < 64; ++l) {
      auto read = [&](unsigned k) {
        return value64(m.v(k, l) | uint64_t(m.v(k + 1, l)) << 32);
      };
      double want = read(2) / read(4), got = read(0);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got));
        continue;
      }
      ASSERT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(want))
          << read(2) << " / " << read(4);
    }
  }
}

std::vector<uint64_t> doubleEdges() {
  return {0,
          0x8000000000000000,
          0x3ff0000000000000,
          0xbff8000000000000,
          0x0000000000000001,
          0x800fffffffffffff,
          0x0010000000000000,
          0x7fefffffffffffff,
          0x7ff0000000000000,
          0xfff0000000000000,
          0x7ff8000000000123,
          0xfff0000000000001,
          0x4340000000000001,
          0x3ca0000000000000,
          0x41dfffffffc00000,
          0xc1e0000000000000,
          0x41efffffffe00000,
          0x7fe0000000000000,
          0x1ff0000000000000,
          0x3fe0000000000000,
          0x4004000000000000,
          0xc004000000000000};
}

TEST(SemanticsFloat, Doubles) {
  std::vector<Row> rows;
  for (unsigned round = 0; round < 4; ++round)
    for (unsigned denorm : {3u, 0u}) {
      const uint32_t mode = (PlainMode & ~0xccu) | round << ModeRound64Shift |
                            denorm << ModeDenorm64Shift;
      auto in = [denorm](U v) { return denorm ? v : f64.flush(v); };
      rows.push_back({"v_add_f64 v[0:1], v[2:3], v[4:5]", 2,
                      [=](U a, U b, U, U) {
                        return in(exactAdd(f64, in(a), in(b), round));
                      },
                      2, mode});
      rows.push_back({"v_mul_f64 v[0:1], v[2:3], -v[4:5]", 2,
                      [=](U a, U b, U, U) {
                        return in(
                            exactMul(f64, in(a), in(b ^ f64.sign()), round));
                      },
                      2, mode});
      rows.push_back({"v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]", 3,
                      [=](U a, U b, U c, U) {
                        return in(exactFma(f64, in(a), in(b), in(c), round));
                      },
                      2, mode});
    }
  rows.push_back({"v_min_f64 v[0:1], v[2:3], v[4:5]", 2,
                  [](U a, U b, U, U) { return extremum(f64, a, b, false); },
                  2});
  rows.push_back({"v_max_f64 v[0:1], v[2:3], v[4:5]", 2,
                  [](U a, U b, U, U) { return extremum(f64, a, b, true); }, 2});
  rows.push_back({"v_rndne_f64 v[0:1], v[2:3]", 1,
                  [](U a, U, U, U) {
                    return f64.isNan(a) ? a | f64.quiet()
                                        : std::bit_cast<uint64_t>(
                                              std::nearbyint(value64(a)));
                  },
                  2});
  rows.push_back({"v_cvt_i32_f64 v0, v[2:3]", 1, [](U a, U, U, U) -> U {
                    double x = std::trunc(value64(a));
                    if (std::isnan(x))
                      return 0;
                    return U(
                        int64_t(std::clamp(x, -2147483648.0, 2147483647.0)));
                  }});
  rows.push_back({"v_cvt_f32_f64 v0, v[2:3]", 1, [](U a, U, U, U) -> U {
                    if (f64.isNan(a))
                      return (a >> 32 & 0x80000000) | f32.nan() |
                             (a >> 29 & 0x7fffff);
                    if (f64.isInfinite(a))
                      return (a >> 32 & 0x80000000) | f32.infinity();
                    return roundTo(f32, exactOf(f64, a));
                  }});
  runTable(rows, doubleEdges(), {2, 2, 2});
  runTable({{"v_cvt_f64_i32 v[0:1], v2", 1,
             [](U a, U, U, U) {
               return std::bit_cast<uint64_t>(double(int32_t(a)));
             },
             2},
            {"v_cvt_f64_f32 v[0:1], v2", 1,
             [](U a, U, U, U) -> U {
               a &= 0xffffffff;
               if (f32.isNan(a) || f32.isInfinite(a))
                 return (a & 0x80000000) << 32 | f64.infinity() |
                        (a & 0x7fffff) << 29 | (f32.isNan(a) ? f64.quiet() : 0);
               return roundTo(f64, exactOf(f32, a));
             },
             2}},
           floatEdges(), {1, 2, 2});
}

TEST(SemanticsFloat, Halves) {
  std::vector<uint64_t> edges = {
      0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x83ff, 0x0400, 0x7bff,
      0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfd01, 0x3555, 0x4248, 0xc900,
      0x1400, 0x6800, 0x3bff, 0x3c01, 0x7800, 0x0c00, 0x5640, 0xb266};
  auto low = [](U v) { return v & 0xffff; };
  std::vector<Row> rows;
  for (unsigned round = 0; round < 4; ++round)
    for (unsigned denorm : {3u, 0u}) {
      const uint32_t mode = (PlainMode & ~0xccu) | round << ModeRound64Shift |
                            denorm << ModeDenorm64Shift;
      auto fl = [denorm](U v) { return denorm ? v : f16.flush(v); };
      auto in = [=](U v) { return fl(low(v)); };
      rows.push_back({"v_add_f16 v0, v1, v2", 2,
                      [=](U a, U b, U, U) {
                        return fl(exactAdd(f16, in(a), in(b), round));
                      },
                      1, mode});
      rows.push_back({"v_mul_f16 v0, v1, v2", 2,
                      [=](U a, U b, U, U) {
                        return fl(exactMul(f16, in(a), in(b), round));
                      },
                      1, mode});
      rows.push_back({"v_fma_f16 v0, v1, v2, v3", 3,
                      [=](U a, U b, U c, U old) {
                        return fl(exactFma(f16, in(a), in(b), in(c), round)) |
                               (old & 0xffff0000);
                      },
                      1, mode});
      rows.push_back(
          {"v_pk_fma_f16 v0, v1, v2, v3 op_sel_hi:[1,0,1]", 3,
           [=](U a, U b, U c, U) {
             return fl(exactFma(f16, in(a), in(b), in(c), round)) |
                    fl(exactFma(f16, in(a >> 16), in(b), in(c >> 16), round))
                        << 16;
           },
           1, mode});
    }
  rows.push_back({"v_pk_add_f16 v0, v1, v2 neg_lo:[0,1] neg_hi:[1,0]", 2,
                  [=](U a, U b, U, U) {
                    return exactAdd(f16, low(a), low(b) ^ 0x8000) |
                           exactAdd(f16, low(a >> 16) ^ 0x8000, low(b >> 16))
                               << 16;
                  }});
  rows.push_back({"v_max_f16 v0, v1, v2", 2, [=](U a, U b, U, U) {
                    return extremum(f16, low(a), low(b), true);
                  }});
  rows.push_back({"v_pk_min_f16 v0, v1, v2", 2, [=](U a, U b, U, U) {
                    return extremum(f16, low(a), low(b), false) |
                           extremum(f16, low(a >> 16), low(b >> 16), false)
                               << 16;
                  }});
  std::vector<uint64_t> pairs;
  for (size_t i = 0; i < edges.size(); ++i)
    pairs.push_back(edges[i] | edges[(i * 5 + 3) % edges.size()] << 16);
  runTable(rows, pairs);
}

TEST(SemanticsFloat, PackedSingles) {
  auto lo = [](U v) { return v & 0xffffffff; };
  auto hi = [](U v) { return v >> 32; };
  auto pack = [](U l, U h) { return (l & 0xffffffff) | h << 32; };
  std::vector<uint64_t> pairs;
  for (size_t i = 0; i < floatEdges().size(); ++i)
    pairs.push_back(floatEdges()[i] |
                    floatEdges()[(i * 7 + 2) % floatEdges().size()] << 32);
  runTable({{"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", 3,
             [=](U a, U b, U c, U) {
               return pack(exactFma(f32, lo(a), lo(b), lo(c)),
                           exactFma(f32, hi(a), hi(b), hi(c)));
             },
             2},
            {"v_pk_mul_f32 v[0:1], v[2:3], v[4:5] op_sel_hi:[1,0]", 2,
             [=](U a, U b, U, U) {
               return pack(exactMul(f32, lo(a), lo(b)),
                           exactMul(f32, hi(a), lo(b)));
             },
             2},
            {"v_pk_add_f32 v[0:1], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,1] "
             "neg_lo:[1,0] neg_hi:[0,1]",
             2,
             [=](U a, U b, U, U) {
               return pack(exactAdd(f32, negate32(hi(a)), lo(b)),
                           exactAdd(f32, lo(a), negate32(hi(b))));
             },
             2},
            {"v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[1,0]", 2,
             [=](U a, U b, U, U) { return pack(hi(a), lo(b)); }, 2}},
           pairs, {2, 2, 2});
}

TEST(SemanticsFloat, PackedSinglesReadTheirSourcesFirst) {
  Machine m;
  for (unsigned l = 0; l < 64; ++l) {
    m.v(2, l) = std::bit_cast<uint32_t>(2.0f);
    m.v(3, l) = std::bit_cast<uint32_t>(3.0f);
  }
  m.run("v_pk_mul_f32 v[2:3], v[2:3], v[2:3] op_sel:[1,0] op_sel_hi:[0,0]");
  EXPECT_EQ(value32(m.v(2, 5)), 6.0);
  EXPECT_EQ(value32(m.v(3, 5)), 4.0);
}

TEST(SemanticsFloat, DotProductsAndMixedPrecision) {
  Machine m;
  m.v(1, 0) = 0x40003f80; // bf16 1, 2
  m.v(2, 0) = 0x40a04040; // bf16 3, 5
  m.v(3, 0) = std::bit_cast<uint32_t>(10.0f);
  m.run("v_dot2_f32_bf16 v0, v1, v2, v3");
  EXPECT_EQ(value32(m.v(0, 0)), 23.0);
  m.v(0, 0) = std::bit_cast<uint32_t>(1.0f);
  m.run("v_dot2c_f32_bf16 v0, v1, v2");
  EXPECT_EQ(value32(m.v(0, 0)), 14.0);
  m.v(1, 0) = 0x40003c00; // f16 1, 2
  m.v(2, 0) = 0x45004200; // f16 3, 5
  m.run("v_dot2_f32_f16 v0, v1, v2, v3 neg_lo:[1,0,0]");
  EXPECT_EQ(value32(m.v(0, 0)), 17.0);
  m.run("v_fma_mix_f32 v0, v1, v2, v3 op_sel:[1,0,0] op_sel_hi:[1,1,0]");
  EXPECT_EQ(value32(m.v(0, 0)), 16.0);
  m.v(0, 0) = 0xabcd1234;
  m.run("v_fma_mixhi_f16 v0, v1, v2, v3 op_sel_hi:[1,1,0]");
  EXPECT_EQ(m.v(0, 0), 0x4a801234u);
}

TEST(SemanticsFloat, Comparisons) {
  struct Condition {
    const char *name;
    bool less, equal, greater, unordered;
  };
  const Condition conditions[] = {
      {"f", 0, 0, 0, 0},   {"lt", 1, 0, 0, 0},  {"eq", 0, 1, 0, 0},
      {"le", 1, 1, 0, 0},  {"gt", 0, 0, 1, 0},  {"lg", 1, 0, 1, 0},
      {"ge", 0, 1, 1, 0},  {"o", 1, 1, 1, 0},   {"u", 0, 0, 0, 1},
      {"nge", 1, 0, 0, 1}, {"nlg", 0, 1, 0, 1}, {"ngt", 1, 1, 0, 1},
      {"nle", 0, 0, 1, 1}, {"neq", 1, 0, 1, 1}, {"nlt", 0, 1, 1, 1},
      {"tru", 1, 1, 1, 1}};
  for (const Condition &c : conditions)
    for (const char *type : {"f32", "f64", "f16"}) {
      const Format &f = type[1] == '3' ? f32 : type[1] == '6' ? f64 : f16;
      std::string name = std::string("v_cmp_") + c.name + "_" + type;
      bool wide = f.width() == 64;
      const char *regs = wide ? " v[2:3], v[4:5]" : " v2, v4";
      Sequence s({name + "_e64 s[10:11]," + regs,
                  "v_cmpx_" + name.substr(6) + " vcc," + regs});
      ASSERT_EQ(s.problem(0), "") << name;
      ASSERT_EQ(s.problem(1), "") << name;
      std::vector<uint64_t> edges =
          wide ? doubleEdges()
          : f.width() == 32
              ? floatEdges()
              : std::vector<uint64_t>{0,      0x8000, 0x3c00, 0xbc00, 1,
                                      0x7c00, 0xfc00, 0x7e00, 0x7bff, 0x8001};
      Machine m;
      const uint64_t exec = 0xfedcba9876543210;
      for (U a : edges) {
        m.wave.setExec(exec);
        uint64_t expected = 0;
        for (unsigned l = 0; l < 64; ++l) {
          U b = edges[l % edges.size()];
          for (unsigned word = 0; word < 2; ++word) {
            m.v(2 + word, l) = uint32_t(a >> 32 * word);
            m.v(4 + word, l) = uint32_t(b >> 32 * word);
          }
          bool r;
          if (f.isNan(a) || f.isNan(b))
            r = c.unordered;
          else if ((f.isZero(a) && f.isZero(b)) || a == b)
            r = c.equal;
          else
            r = order(f, a) < order(f, b) ? c.less : c.greater;
          expected |= U(r) << l;
        }
        m.run(s[0]);
        ASSERT_EQ(m.wave.pair(10), expected & exec) << name << std::hex << a;
        ASSERT_EQ(m.wave.exec(), exec);
        m.run(s[1]);
        ASSERT_EQ(m.wave.vcc(), expected & exec) << name;
        ASSERT_EQ(m.wave.exec(), expected & exec) << name;
      }
    }
}

TEST(SemanticsFloat, IntegerComparisonsAndClasses) {
  const struct {
    const char *name;
    bool less, equal, greater;
  } conditions[] = {{"lt", 1, 0, 0}, {"eq", 0, 1, 0}, {"le", 1, 1, 0},
                    {"gt", 0, 0, 1}, {"ne", 1, 0, 1}, {"ge", 0, 1, 1}};
  for (const auto &c : conditions)
    for (const char *type : {"i32", "u32", "i64", "u64", "i16", "u16"}) {
      const unsigned bits = type[1] == '3' ? 32 : type[1] == '6' ? 64 : 16;
      std::string regs = bits == 64 ? " v[2:3], v[4:5]" : " v2, v4";
      Sequence s(
          {std::string("v_cmp_") + c.name + "_" + type + "_e64 vcc," + regs});
      ASSERT_EQ(s.problem(0), "");
      std::vector<U> edges = {0,           1,
                              0x7fff,      0x8000,
                              0xffff,      0x7fffffff,
                              0x80000000,  0xffffffff,
                              0x100000000, 0x8000000000000000,
                              ~U(0),       0x7fffffffffffffff};
      Machine m;
      for (U a : edges) {
        uint64_t expected = 0;
        for (unsigned l = 0; l < 64; ++l) {
          U b = edges[l % edges.size()];
          for (unsigned word = 0; word < 2; ++word) {
            m.v(2 + word, l) = uint32_t(a >> 32 * word);
            m.v(4 + word, l) = uint32_t(b >> 32 * word);
          }
          U x = a << (64 - bits), y = b << (64 - bits);
          bool less = type[0] == 'i' ? int64_t(x) < int64_t(y) : x < y;
          bool r = x == y ? c.equal : less ? c.less : c.greater;
          expected |= U(r) << l;
        }
        m.run(s[0]);
        ASSERT_EQ(m.wave.vcc(), expected) << c.name << type << std::hex << a;
      }
    }
  Machine m;
  const uint32_t classes[] = {0x7f800001, 0x7fc00000, 0xff800000, 0xbf800000,
                              0x80000001, 0x80000000, 0x00000000, 0x00000001,
                              0x3f800000, 0x7f800000};
  for (unsigned l = 0; l < 64; ++l) {
    m.v(1, l) = classes[l % 10];
    m.v(2, l) = 1u << (l / 6);
  }
  m.run("v_cmp_class_f32 vcc, v1, v2");
  for (unsigned l = 0; l < 64; ++l)
    EXPECT_EQ(m.wave.vcc() >> l & 1, U(l % 10 == l / 6)) << l;
}

} // namespace
