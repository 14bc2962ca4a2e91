//===- SemanticsFloatTests.cpp - floating-point instructions --------------===//
// SPDX-License-Identifier: MIT
//
// The models compute in exact integers (ExactFloat.h), never with the host's
// floating-point unit, except where a result is compared within a bound.
//
//===----------------------------------------------------------------------===//
#include "ExactFloat.h"
#include "LaneTable.h"
#include "llvm/ADT/APInt.h"

#include <bit>
#include <cmath>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

using U = uint64_t;

double value64(U bits) { return std::bit_cast<double>(bits); }
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

/// Of three numbers; -0 is below +0.
U middle(U a, U b, U c) {
  U v[3] = {a, b, c};
  std::sort(v, v + 3, [](U x, U y) { return order(f32, x) < order(f32, y); });
  return v[1];
}

TEST(SemanticsFloat, MedianOfLanesWithoutNansWithAndWithoutZeros) {
  for (bool hasZeros : {true, false}) {
    SCOPED_TRACE(hasZeros);
    runTable({{"v_med3_f32 v0, v1, v2, v3", 3,
               [](U a, U b, U c, U) { return middle(a, b, c); }}},
             edgesWhere(floatEdges(),
                        [=](U v) {
                          return !f32.isNan(v) && (hasZeros || v & 0x7fffffff);
                        }),
             {1, 1, 1}, 0);
  }
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
          return f32.isNan(a) || f32.isNan(b) || f32.isNan(c) ? mn(mn(a, b), c)
                                                              : middle(a, b, c);
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

/// Blocks of lanes without a NaN take another path than those with one.
TEST(SemanticsFloat, WithoutNans) {
  std::vector<uint64_t> edges;
  for (uint64_t v : floatEdges())
    if (!f32.isNan(v))
      edges.push_back(v);
  auto mn = [](U a, U b) { return extremum(f32, a, b, false); };
  auto mx = [](U a, U b) { return extremum(f32, a, b, true); };
  std::vector<Row> rows;
  for (uint32_t mode : {PlainMode, PlainMode & ~uint32_t(ModeIeee)}) {
    auto add = [&](const char *text, unsigned sources, auto model) {
      rows.push_back({text, sources, model, 1, mode});
    };
    add("v_min_f32 v0, v1, v2", 2, [=](U a, U b, U, U) { return mn(a, b); });
    add("v_max_f32 v0, v1, v2", 2, [=](U a, U b, U, U) { return mx(a, b); });
    for (const char *name : {"v_min3_f32", "v_minimum3_f32"})
      rows.push_back({std::string(name) + " v0, v1, v2, v3", 3,
                      [=](U a, U b, U c, U) { return mn(mn(a, b), c); }, 1,
                      mode});
    for (const char *name : {"v_max3_f32", "v_maximum3_f32"})
      rows.push_back({std::string(name) + " v0, v1, v2, v3", 3,
                      [=](U a, U b, U c, U) { return mx(mx(a, b), c); }, 1,
                      mode});
    add("v_med3_f32 v0, v1, v2, v3", 3,
        [=](U a, U b, U c, U) { return mx(mn(a, b), mn(mx(a, b), c)); });
  }
  rows.push_back(
      {"v_cndmask_b32 v0, v1, v2, vcc", 2, [](U a, U, U, U) { return a; }});
  runTable(rows, edges, {1, 1, 1}, 0);
  // No infinities either, so that no sum or product is NaN.
  std::erase_if(edges, [](uint64_t v) { return f32.isInfinite(v); });
  runTable({{"v_add_f32 v0, v1, v2", 2,
             [](U a, U b, U, U) { return exactAdd(f32, a, b); }},
            {"v_subrev_f32 v0, v1, v2", 2,
             [](U a, U b, U, U) { return exactAdd(f32, negate32(a), b); }},
            {"v_mul_f32 v0, v1, v2", 2,
             [](U a, U b, U, U) { return exactMul(f32, a, b); }}},
           edges, {1, 1, 1}, 0);
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

//===----------------------------------------------------------------------===//
// Arguments of sine and cosine, faces of cubes
//===----------------------------------------------------------------------===//

/// The first 1,201 bits of 2 / pi behind the binary point, by Machin's formula.
llvm::APInt twoOverPi() {
  constexpr unsigned width = 4096, precision = 1500, bits = 1201;
  const llvm::APInt one = llvm::APInt(width, 1) << precision;
  auto arctangent = [&](uint64_t inverse) {
    llvm::APInt term = one.udiv(inverse), sum = term;
    for (uint64_t n = 3; term != 0; n += 2) {
      term = term.udiv(inverse * inverse);
      sum = n % 4 == 3 ? sum - term.udiv(n) : sum + term.udiv(n);
    }
    return sum;
  };
  const llvm::APInt pi =
      (arctangent(5) * llvm::APInt(width, 4) - arctangent(239)) *
      llvm::APInt(width, 4);
  return (one << (1 + bits)).udiv(pi);
}

TEST(SemanticsFloat, SegmentsOfTwoOverPi) {
  const llvm::APInt digits = twoOverPi();
  ASSERT_EQ(digits.getActiveBits(), 1201u);
  std::vector<uint64_t> edges = doubleEdges();
  for (uint64_t exponent : {1077, 1078, 1079, 1967, 1968, 2046, 2047})
    edges.push_back(exponent << 52 | 0x123456789abcd);
  for (uint64_t segment = 0; segment < 32; ++segment)
    edges.push_back(segment);
  runTable({{"v_trig_preop_f64 v[0:1], v[2:3], v4", 2,
             [&](U a, U b, U, U) {
               const int e = int(a >> 52 & 0x7ff);
               const int shift = int(b % 32) * 53 + std::max(e - 1077, 0);
               double value = 0;
               for (int k = 0; k < 53; ++k) {
                 const int place = 1200 - shift - k;
                 value = value * 2 + (place >= 0 && digits[unsigned(place)]);
               }
               return std::bit_cast<U>(
                   std::ldexp(value, -53 - shift + (e >= 1968 ? 128 : 0)));
             },
             2}},
           edges, {2, 1, 1});
}

TEST(SemanticsFloat, FacesOfCubes) {
  struct Face {
    double id, s, t, major;
  };
  auto faceOf = [](U a, U b, U c) {
    const double x = value32(a), y = value32(b), z = value32(c);
    if (std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y))
      return Face{z < 0 ? 5. : 4., z < 0 ? -x : x, -y, 2 * z};
    if (std::fabs(y) >= std::fabs(x))
      return Face{y < 0 ? 3. : 2., x, y < 0 ? -z : z, 2 * y};
    return Face{x < 0 ? 1. : 0., x < 0 ? z : -z, -y, 2 * x};
  };
  auto single = [](double v) { return U(std::bit_cast<uint32_t>(float(v))); };
  // NaNs only choose the face; their bits are not compared.
  std::vector<uint64_t> numbers;
  for (uint64_t edge : floatEdges())
    if (!f32.isNan(edge))
      numbers.push_back(edge);
  const std::vector<Row> rows = {
      {"v_cubeid_f32 v0, v1, v2, v3", 3,
       [&](U a, U b, U c, U) { return single(faceOf(a, b, c).id); }},
      {"v_cubesc_f32 v0, v1, v2, v3", 3,
       [&](U a, U b, U c, U) { return single(faceOf(a, b, c).s); }},
      {"v_cubetc_f32 v0, v1, v2, v3", 3,
       [&](U a, U b, U c, U) { return single(faceOf(a, b, c).t); }},
      {"v_cubema_f32 v0, v1, v2, v3", 3,
       [&](U a, U b, U c, U) { return single(faceOf(a, b, c).major); }},
      {"v_cubema_f32 v0, -v1, |v2|, v3 clamp", 3,
       [&](U a, U b, U c, U) {
         const double v = faceOf(negate32(a), b & 0x7fffffff, c).major;
         return single(v > 0 ? std::min(v, 1.0) : 0.0);
       }},
  };
  runTable(rows, numbers, {1, 1, 1}, 0);
}

} // namespace
