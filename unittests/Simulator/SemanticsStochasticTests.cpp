//===- SemanticsStochasticTests.cpp - v_cvt_scalef32_sr_* -----------------===//
// SPDX-License-Identifier: MIT
//
// Stochastic rounding from its definition, in integers: of the two neighbours
// the larger magnitude is taken when the discarded part, as a fraction of their
// distance, plus the random word as a fraction of 2^32 reaches 1.
//
//===----------------------------------------------------------------------===//
#include "ExactFloat.h"
#include "InstructionHarness.h"

#include <vector>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

constexpr Format bf16{8, 7};

struct Target {
  Format format;
  uint32_t largest, overflow; ///< codes; overflow without saturation
  bool isEight() const { return format.width() == 8; }
};
constexpr Target fp8{{4, 3}, 0x7e, 0x7f}, bf8{{5, 2}, 0x7b, 0x7c},
    fp6{{2, 3}, 0x1f, 0x1f}, bf6{{3, 2}, 0x1f, 0x1f}, fp4{{2, 1}, 0x7, 0x7};

/// A number between two neighbours of the target: the code of the smaller one,
/// and the discarded part as rest / 2^drop of their distance.
struct Between {
  unsigned __int128 kept = 0, rest = 0;
  int drop = 0, last = 0;
};

Between between(const Format &from, const Format &to, uint32_t bits,
                uint32_t scale) {
  const Exact x = exactOf(from, bits);
  const int exponent = x.exponent - (int(scale >> 23 & 0xff) - 127);
  int length = 0;
  while (x.significand >> length)
    ++length;
  const int mantissa = int(to.mantissaBits);
  Between b;
  b.last = std::max(exponent + length - 1 - mantissa, 1 - to.bias() - mantissa);
  b.drop = b.last - exponent;
  if (b.drop <= 0) {
    b.kept = x.significand << -b.drop;
    b.drop = 0;
  } else {
    b.kept = b.drop > 64 ? 0 : x.significand >> b.drop;
    b.rest = b.drop > 64 ? x.significand : x.significand - (b.kept << b.drop);
  }
  return b;
}

uint32_t stochastic(const Format &from, const Target &to, uint32_t bits,
                    uint32_t scale, uint32_t random, bool saturate) {
  const Format &f = to.format;
  const uint32_t sign = bits & from.sign() ? uint32_t(f.sign()) : 0;
  if (from.isNan(bits))
    return sign | (to.isEight() ? 0x7f : to.largest);
  if (from.isInfinite(bits))
    return sign | (saturate ? to.largest : to.overflow);
  if (from.isZero(bits))
    return sign;
  Between b = between(from, f, bits, scale);
  // Less than 2^-32 of the distance is lost whatever the random word.
  const unsigned __int128 one = 1;
  if (b.drop && b.drop <= 90 &&
      b.rest << 32 >= ((one << 32) - random) << b.drop)
    ++b.kept;
  if (b.kept >> (f.mantissaBits + 1)) {
    b.kept >>= 1;
    ++b.last;
  }
  const bool isNormal = b.kept >> f.mantissaBits & 1;
  const int64_t field =
      isNormal ? b.last + int(f.mantissaBits) + f.bias() : int64_t(0);
  const int64_t code = (field << f.mantissaBits) |
                       int64_t(uint64_t(b.kept) & ((1u << f.mantissaBits) - 1));
  if (code > int64_t(to.largest))
    return sign | (saturate ? to.largest : to.overflow);
  return sign | uint32_t(code);
}

/// The random word at which rounding turns, or 0 where it never does.
uint32_t turningPoint(const Format &from, const Target &to, uint32_t bits,
                      uint32_t scale) {
  if (from.isNan(bits) || from.isInfinite(bits) || from.isZero(bits))
    return 0;
  const Between b = between(from, to.format, bits, scale);
  if (!b.rest || b.drop > 90)
    return 0;
  const unsigned __int128 part = (b.rest << 32) >> b.drop;
  return uint32_t((uint64_t(1) << 32) - uint64_t(part));
}

uint32_t nextRandom(uint32_t x) {
  return x << 1 ^ (x >> 31 ? 0xc5u : 0u); // v_prng_b32
}

/// Sources of every class: zero, denormal, one ulp around powers of two and
/// around the target's limits, ties, infinity, NaN; of both signs.
std::vector<uint32_t> sourcesOf(const Format &from, const Target &to) {
  std::vector<uint32_t> list = {0,
                                1,
                                3,
                                uint32_t(from.infinity()),
                                uint32_t(from.infinity()) | 1,
                                uint32_t(from.nan()),
                                uint32_t(from.infinity()) - 1};
  const int mantissa = int(from.mantissaBits);
  const int lowest = 1 - to.format.bias() - int(to.format.mantissaBits) - 34,
            highest = (1 << to.format.exponentBits) - to.format.bias();
  for (int e = lowest; e <= highest + 1; e += e < -30 ? 5 : 1) {
    const int field = e + from.bias();
    if (field < 1 || field >= (1 << from.exponentBits) - 1)
      continue;
    const uint32_t power = uint32_t(field) << mantissa;
    const uint32_t fraction = (1u << mantissa) - 1;
    for (uint32_t m : {0u, 1u, fraction, fraction / 2, fraction / 2 + 1,
                       0x5a5a5a5au & fraction, (fraction >> 3) * 7})
      list.push_back(power | m);
  }
  const size_t positive = list.size();
  for (size_t k = 0; k < positive; ++k)
    list.push_back(list[k] | uint32_t(from.sign()));
  return list;
}

struct Conversion {
  std::string text;
  Format from;
  Target to;
  unsigned elements; ///< 1, 2 or 32
  unsigned byte = 0; ///< of the result, for one and two
};

/// Source, random word and scale in v[16:47], v8 and v9; the result in v[0:5].
void runConversion(const Conversion &c, const Instruction &instruction,
                   bool saturates) {
  Machine m;
  m.wave.mode = PlainMode | (saturates ? uint32_t(ModeFp16Overflow) : 0u);
  const bool saturate = saturates || !c.to.isEight();
  const std::vector<uint32_t> sources = sourcesOf(c.from, c.to);
  struct Case {
    size_t first;
    uint32_t random, scale;
  };
  std::vector<Case> cases;
  for (size_t k = 0; k < sources.size(); ++k)
    for (uint32_t scale : {0x3f800000u, 0x40ffffffu, 0x3c000000u}) {
      const uint32_t turn = turningPoint(c.from, c.to, sources[k], scale);
      for (uint32_t random :
           {0u, 1u, 0x7fffffffu, 0x80000000u, 0x80000001u, 0xffffffffu,
            0x55555555u, 0xaaaaaaaau, turn, turn - 1, turn + 1})
        cases.push_back({k, random, scale});
    }
  auto source = [&](const Case &at, unsigned k) {
    return sources[(at.first + k * 5) % sources.size()];
  };
  const bool isSingle = c.from.width() == 32;
  const unsigned width = c.to.format.width();
  for (size_t base = 0; base < cases.size(); base += 64) {
    for (unsigned l = 0; l < 64; ++l) {
      const Case &at = cases[(base + l) % cases.size()];
      for (unsigned k = 0; k < c.elements; ++k)
        if (isSingle)
          m.v(16 + k, l) = source(at, k);
        else if (k % 2 == 0)
          m.v(16 + k / 2, l) =
              source(at, k) | (c.elements > 1 ? source(at, k + 1) : 0x1234u)
                                  << 16;
      m.v(8, l) = at.random;
      m.v(9, l) = at.scale;
      for (unsigned r = 0; r < 6; ++r)
        m.v(r, l) = 0xa5a5a5a5;
    }
    m.run(instruction);
    for (unsigned l = 0; l < 64; ++l) {
      const Case &at = cases[(base + l) % cases.size()];
      uint32_t expected[6];
      std::fill(expected, expected + 6, c.elements == 32 ? 0u : 0xa5a5a5a5u);
      if (c.elements < 32)
        expected[0] &= ~(0xffu << (8 * c.byte));
      uint32_t random = at.random;
      for (unsigned k = 0; k < c.elements; ++k, random = nextRandom(random)) {
        const uint64_t code =
            stochastic(c.from, c.to, source(at, k), at.scale, random, saturate);
        const unsigned bit = k * width + 8 * c.byte;
        expected[bit / 32] |= uint32_t(code << bit % 32);
        if (bit % 32 + width > 32)
          expected[bit / 32 + 1] |= uint32_t(code >> (32 - bit % 32));
      }
      for (unsigned r = 0; r < (c.elements == 32 ? 6u : 1u); ++r)
        ASSERT_EQ(m.v(r, l), expected[r])
            << c.text << " source " << source(at, 0) << " random " << at.random
            << " scale " << at.scale << " register " << r;
    }
  }
}

TEST(SemanticsStochastic, ScaledConversions) {
  struct Source {
    const char *name;
    Format format;
  };
  std::vector<Conversion> list;
  for (const Source &from :
       {Source{"f32", f32}, Source{"f16", f16}, Source{"bf16", bf16}}) {
    const std::string name = from.name;
    const bool isSingle = from.format.width() == 32;
    const char *bytes[] = {"", " op_sel:[0,0,1,0]", " op_sel:[0,0,0,1]",
                           " op_sel:[0,0,1,1]"};
    for (unsigned byte = 0; byte < 4; ++byte) {
      for (auto [to, target] : {std::pair("fp8", fp8), std::pair("bf8", bf8)})
        list.push_back({"v_cvt_scalef32_sr_" + std::string(to) + "_" + name +
                            " v0, v16, v8, v9" + bytes[byte],
                        from.format, target, 1, byte});
      list.push_back({"v_cvt_scalef32_sr_pk_fp4_" + name +
                          (isSingle ? " v0, v[16:17]" : " v0, v16") +
                          ", v8, v9" + bytes[byte],
                      from.format, fp4, 2, byte});
    }
    for (auto [to, target] : {std::pair("fp6", fp6), std::pair("bf6", bf6)})
      list.push_back(
          {"v_cvt_scalef32_sr_pk32_" + std::string(to) + "_" + name +
               (isSingle ? " v[0:5], v[16:47]" : " v[0:5], v[16:31]") +
               ", v8, v9",
           from.format, target, 32});
  }
  std::vector<std::string> lines;
  for (const Conversion &c : list)
    lines.push_back(c.text);
  Sequence sequence(lines);
  ASSERT_EQ(sequence.size(), list.size());
  for (size_t k = 0; k < list.size(); ++k) {
    ASSERT_EQ(sequence.problem(k), "") << list[k].text;
    for (bool saturates : {false, true})
      runConversion(list[k], sequence[k], saturates);
  }
}

// The model itself, on numbers worked out by hand.
TEST(SemanticsStochastic, ModelTurnsWhereTheSumReachesOne) {
  // 1 + 2^-5 lies a quarter of the way from 1 to 1.125, the next of fp8.
  const uint32_t value = 0x3f840000, one = 0x3f800000;
  EXPECT_EQ(turningPoint(f32, fp8, value, one), 0xc0000000u);
  EXPECT_EQ(stochastic(f32, fp8, value, one, 0xbfffffff, false), 0x38u);
  EXPECT_EQ(stochastic(f32, fp8, value, one, 0xc0000000, false), 0x39u);
  // 460 lies between 448 and what would be 480.
  EXPECT_EQ(stochastic(f32, fp8, 0x43e60000, one, 0, false), 0x7eu);
  EXPECT_EQ(stochastic(f32, fp8, 0x43e60000, one, ~0u, false), 0x7fu);
  EXPECT_EQ(stochastic(f32, fp8, 0x43e60000, one, ~0u, true), 0x7eu);
  // 0.25 of FP4's smallest step, 0.5; divided by a scale of 2 an eighth.
  EXPECT_EQ(turningPoint(f32, fp4, 0x3e000000, one), 0xc0000000u);
  EXPECT_EQ(turningPoint(f32, fp4, 0x3e000000, 0x40000000), 0xe0000000u);
}

} // namespace
