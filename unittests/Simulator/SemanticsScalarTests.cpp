//===- SemanticsScalarTests.cpp - scalar instructions ---------------------===//
// SPDX-License-Identifier: MIT
#include "LaneTable.h"

#include <bitset>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

using U = uint64_t;
using I = int64_t;

I s32(U v) { return int32_t(uint32_t(v)); }
I s16(U v) { return int16_t(uint16_t(v)); }
I s8(U v) { return int8_t(uint8_t(v)); }

struct Result {
  U value;
  int scc; ///< -1: unchanged
};
struct ScalarRow {
  std::string text;
  std::function<Result(U a, U b, bool scc)> model;
  unsigned words = 1, resultWords = 1, amountWords = 0;
};

TEST(SemanticsInteger, Scalar) {
  auto flag = [](U v) { return Result{v, v != 0}; };
  auto flag32 = [](U v) {
    return Result{v & 0xffffffff, (v & 0xffffffff) != 0};
  };
  const std::vector<ScalarRow> rows = {
      {"s_mov_b32 s0, s2", [](U a, U, bool) { return Result{a, -1}; }},
      {"s_mov_b64 s[0:1], s[2:3]", [](U a, U, bool) { return Result{a, -1}; },
       2, 2},
      {"s_not_b32 s0, s2", [=](U a, U, bool) { return flag32(~a); }},
      {"s_and_b32 s0, s2, s4", [=](U a, U b, bool) { return flag(a & b); }},
      {"s_and_b64 s[0:1], s[2:3], s[4:5]",
       [=](U a, U b, bool) { return flag(a & b); }, 2, 2},
      {"s_or_b32 s0, s2, s4", [=](U a, U b, bool) { return flag(a | b); }},
      {"s_andn2_b32 s0, s2, s4", [=](U a, U b, bool) { return flag(a & ~b); }},
      {"s_min_u32 s0, s2, s4",
       [](U a, U b, bool) { return Result{std::min(a, b), a < b}; }},
      {"s_max_i32 s0, s2, s4",
       [](U a, U b, bool) {
         return Result{s32(a) >= s32(b) ? a : b, s32(a) >= s32(b)};
       }},
      {"s_lshl2_add_u32 s0, s2, s4",
       [](U a, U b, bool) {
         return Result{(a * 4 + b) & 0xffffffff, (a * 4 + b) >> 32 != 0};
       }},
      {"s_bfm_b64 s[0:1], s2, s4",
       [](U a, U b, bool) {
         return Result{((U(1) << a % 64) - 1) << b % 64, -1};
       },
       1, 2},
      {"s_or_b64 s[0:1], s[2:3], s[4:5]",
       [=](U a, U b, bool) { return flag(a | b); }, 2, 2},
      {"s_xor_b32 s0, s2, s4", [=](U a, U b, bool) { return flag(a ^ b); }},
      {"s_andn2_b64 s[0:1], s[2:3], s[4:5]",
       [=](U a, U b, bool) { return flag(a & ~b); }, 2, 2},
      {"s_orn2_b32 s0, s2, s4", [=](U a, U b, bool) { return flag32(a | ~b); }},
      {"s_nand_b32 s0, s2, s4",
       [=](U a, U b, bool) { return flag32(~(a & b)); }},
      {"s_nor_b64 s[0:1], s[2:3], s[4:5]",
       [=](U a, U b, bool) { return flag(~(a | b)); }, 2, 2},
      {"s_xnor_b32 s0, s2, s4",
       [=](U a, U b, bool) { return flag32(~(a ^ b)); }},
      {"s_lshl_b32 s0, s2, s4",
       [=](U a, U b, bool) { return flag32(a << b % 32); }},
      {"s_lshl_b64 s[0:1], s[2:3], s4",
       [=](U a, U b, bool) { return flag(a << b % 64); }, 2, 2, 1},
      {"s_lshr_b32 s0, s2, s4",
       [=](U a, U b, bool) { return flag(a >> b % 32); }},
      {"s_ashr_i32 s0, s2, s4",
       [=](U a, U b, bool) { return flag32(U(s32(a) >> b % 32)); }},
      {"s_ashr_i64 s[0:1], s[2:3], s4",
       [=](U a, U b, bool) { return flag(U(I(a) >> b % 64)); }, 2, 2, 1},
      {"s_bfm_b32 s0, s2, s4",
       [](U a, U b, bool) {
         return Result{((1ull << a % 32) - 1) << b % 32 & 0xffffffff, -1};
       }},
      {"s_bfe_u32 s0, s2, s4",
       [=](U a, U b, bool) {
         U width = b >> 16 & 0x7f, v = a >> b % 32;
         return flag(width >= 32 ? v : v & ((1ull << width) - 1));
       }},
      {"s_bfe_i32 s0, s2, s4",
       [=](U a, U b, bool) {
         U width = b >> 16 & 0x7f;
         I v = s32(a) >> b % 32;
         if (width < 32)
           v = width ? I(U(v) << (64 - width)) >> (64 - width) : 0;
         return flag32(U(v));
       }},
      {"s_bfe_u64 s[0:1], s[2:3], s4",
       [=](U a, U b, bool) {
         U width = b >> 16 & 0x7f, v = a >> b % 64;
         return flag(width >= 64 ? v : v & ((1ull << width) - 1));
       },
       2, 2, 1},
      {"s_add_u32 s0, s2, s4",
       [](U a, U b, bool) {
         return Result{(a + b) & 0xffffffff, a + b > 0xffffffff};
       }},
      {"s_sub_u32 s0, s2, s4",
       [](U a, U b, bool) { return Result{(a - b) & 0xffffffff, b > a}; }},
      {"s_addc_u32 s0, s2, s4",
       [](U a, U b, bool c) {
         return Result{(a + b + c) & 0xffffffff, a + b + c > 0xffffffff};
       }},
      {"s_subb_u32 s0, s2, s4",
       [](U a, U b, bool c) {
         return Result{(a - b - c) & 0xffffffff, b + c > a};
       }},
      {"s_add_i32 s0, s2, s4",
       [](U a, U b, bool) {
         I sum = s32(a) + s32(b);
         return Result{U(sum) & 0xffffffff, sum != int32_t(sum)};
       }},
      {"s_sub_i32 s0, s2, s4",
       [](U a, U b, bool) {
         I sum = s32(a) - s32(b);
         return Result{U(sum) & 0xffffffff, sum != int32_t(sum)};
       }},
      {"s_min_i32 s0, s2, s4",
       [](U a, U b, bool) {
         return Result{s32(a) < s32(b) ? a : b, s32(a) < s32(b)};
       }},
      {"s_max_u32 s0, s2, s4",
       [](U a, U b, bool) { return Result{std::max(a, b), a >= b}; }},
      {"s_mul_i32 s0, s2, s4",
       [](U a, U b, bool) { return Result{a * b & 0xffffffff, -1}; }},
      {"s_mul_hi_u32 s0, s2, s4",
       [](U a, U b, bool) { return Result{a * b >> 32, -1}; }},
      {"s_mul_hi_i32 s0, s2, s4",
       [](U a, U b, bool) { return Result{U(s32(a) * s32(b)) >> 32, -1}; }},
      {"s_absdiff_i32 s0, s2, s4",
       [=](U a, U b, bool) {
         int32_t d = int32_t(uint32_t(a - b));
         return flag32(d < 0 ? U(0) - U(I(d)) : U(d));
       }},
      {"s_abs_i32 s0, s2",
       [=](U a, U, bool) { return flag32(U(s32(a) < 0 ? -s32(a) : s32(a))); }},
      {"s_lshl1_add_u32 s0, s2, s4",
       [](U a, U b, bool) {
         return Result{((a << 1) + b) & 0xffffffff, (a << 1) + b > 0xffffffff};
       }},
      {"s_lshl4_add_u32 s0, s2, s4",
       [](U a, U b, bool) {
         return Result{((a << 4) + b) & 0xffffffff, (a << 4) + b > 0xffffffff};
       }},
      {"s_cselect_b32 s0, s2, s4",
       [](U a, U b, bool c) { return Result{c ? a : b, -1}; }},
      {"s_cselect_b64 s[0:1], s[2:3], s[4:5]",
       [](U a, U b, bool c) { return Result{c ? a : b, -1}; }, 2, 2},
      {"s_pack_lh_b32_b16 s0, s2, s4",
       [](U a, U b, bool) {
         return Result{(a & 0xffff) | (b & 0xffff0000), -1};
       }},
      {"s_ff1_i32_b32 s0, s2",
       [](U a, U, bool) {
         for (U i = 0; i < 32; ++i)
           if (a >> i & 1)
             return Result{i, -1};
         return Result{0xffffffff, -1};
       }},
      {"s_ff1_i32_b64 s0, s[2:3]",
       [](U a, U, bool) {
         for (U i = 0; i < 64; ++i)
           if (a >> i & 1)
             return Result{i, -1};
         return Result{0xffffffff, -1};
       },
       2},
      {"s_ff0_i32_b32 s0, s2",
       [](U a, U, bool) {
         for (U i = 0; i < 32; ++i)
           if (!(a >> i & 1))
             return Result{i, -1};
         return Result{0xffffffff, -1};
       }},
      {"s_flbit_i32_b64 s0, s[2:3]",
       [](U a, U, bool) {
         for (U i = 0; i < 64; ++i)
           if (a >> (63 - i) & 1)
             return Result{i, -1};
         return Result{0xffffffff, -1};
       },
       2},
      {"s_flbit_i32 s0, s2",
       [](U a, U, bool) {
         for (U i = 1; i < 32; ++i)
           if ((a >> (31 - i) & 1) != (a >> 31 & 1))
             return Result{i, -1};
         return Result{0xffffffff, -1};
       }},
      {"s_bcnt1_i32_b64 s0, s[2:3]",
       [=](U a, U, bool) { return flag(std::bitset<64>(a).count()); }, 2},
      {"s_bcnt0_i32_b32 s0, s2",
       [=](U a, U, bool) { return flag(32 - std::bitset<32>(a).count()); }},
      {"s_brev_b64 s[0:1], s[2:3]",
       [](U a, U, bool) {
         U r = 0;
         for (int i = 0; i < 64; ++i)
           r |= (a >> i & 1) << (63 - i);
         return Result{r, -1};
       },
       2, 2},
      {"s_wqm_b64 s[0:1], s[2:3]",
       [=](U a, U, bool) {
         U r = 0;
         for (int i = 0; i < 64; i += 4)
           if (a >> i & 15)
             r |= 15ull << i;
         return flag(r);
       },
       2, 2},
      {"s_quadmask_b32 s0, s2",
       [=](U a, U, bool) {
         U r = 0;
         for (int i = 0; i < 32; i += 4)
           r |= U((a >> i & 15) != 0) << i / 4;
         return flag(r);
       }},
      {"s_sext_i32_i8 s0, s2",
       [](U a, U, bool) { return Result{U(s8(a)) & 0xffffffff, -1}; }},
      {"s_sext_i32_i16 s0, s2",
       [](U a, U, bool) { return Result{U(s16(a)) & 0xffffffff, -1}; }},
      {"s_movk_i32 s0, 0x8001",
       [](U, U, bool) { return Result{0xffff8001, -1}; }},
      {"s_bitreplicate_b64_b32 s[0:1], s2",
       [](U a, U, bool) {
         U r = 0;
         for (int i = 0; i < 64; ++i)
           r |= (a >> i / 2 & 1) << i;
         return Result{r, -1};
       },
       1, 2},
      {"s_cmp_eq_u32 s2, s4", [](U a, U b, bool) { return Result{0, a == b}; }},
      {"s_cmp_lg_i32 s2, s4", [](U a, U b, bool) { return Result{0, a != b}; }},
      {"s_cmp_gt_i32 s2, s4",
       [](U a, U b, bool) { return Result{0, s32(a) > s32(b)}; }},
      {"s_cmp_ge_u32 s2, s4", [](U a, U b, bool) { return Result{0, a >= b}; }},
      {"s_cmp_lt_i32 s2, s4",
       [](U a, U b, bool) { return Result{0, s32(a) < s32(b)}; }},
      {"s_cmp_le_u32 s2, s4", [](U a, U b, bool) { return Result{0, a <= b}; }},
      {"s_cmp_eq_u64 s[2:3], s[4:5]",
       [](U a, U b, bool) { return Result{0, a == b}; }, 2},
      {"s_cmpk_lt_i32 s2, 0x8000",
       [](U a, U, bool) { return Result{0, s32(a) < -32768}; }},
      {"s_cmpk_gt_u32 s2, 0x8000",
       [](U a, U, bool) { return Result{0, a > 0x8000}; }},
      {"s_bitcmp1_b32 s2, s4",
       [](U a, U b, bool) { return Result{0, int(a >> b % 32 & 1)}; }},
      {"s_bitcmp0_b64 s[2:3], s4",
       [](U a, U b, bool) { return Result{0, int(!(a >> b % 64 & 1))}; }, 2, 1,
       1},
  };
  std::vector<std::string> lines;
  for (const ScalarRow &row : rows)
    lines.push_back(row.text);
  Sequence sequence(lines);
  ASSERT_EQ(sequence.size(), rows.size());
  std::vector<U> edges = integerEdges();
  for (U v :
       {U(0x7fffffffffffffff), U(0x8000000000000000), ~U(0),
        U(0x123456789abcdef0), U(0x00050003), U(0x00200000), U(0x0040001f)})
    edges.push_back(v);
  for (size_t r = 0; r < rows.size(); ++r) {
    const ScalarRow &row = rows[r];
    SCOPED_TRACE(row.text);
    ASSERT_EQ(sequence.problem(r), "");
    const bool compares = row.text.find("cmp") != std::string::npos;
    Machine m;
    for (U a : edges)
      for (U b : edges)
        for (bool scc : {false, true}) {
          U mask = row.words == 2 ? ~U(0) : 0xffffffff;
          U bMask = row.amountWords == 1 ? 0xffffffff : mask;
          m.wave.setPair(0, 0);
          m.wave.setPair(2, a);
          m.wave.setPair(4, b);
          m.wave.scc = scc;
          m.run(sequence[r]);
          Result expected = row.model(a & mask, b & bMask, scc);
          if (!compares) {
            U got = row.resultWords == 2 ? m.wave.pair(0) : m.s(0);
            ASSERT_EQ(got, expected.value) << std::hex << a << " " << b;
          }
          ASSERT_EQ(m.wave.scc, expected.scc < 0 ? scc : expected.scc == 1)
              << std::hex << a << " " << b;
        }
  }
}

TEST(SemanticsInteger, ScalarComparisons) {
  struct Condition {
    const char *name;
    bool less, equal, greater;
  };
  const Condition conditions[] = {{"eq", 0, 1, 0}, {"lg", 1, 0, 1},
                                  {"gt", 0, 0, 1}, {"ge", 0, 1, 1},
                                  {"lt", 1, 0, 0}, {"le", 1, 1, 0}};
  const U edges[] = {0,          1,          5,          0x7fff,
                     0x8000,     0xffff,     0x7fffffff, 0x80000000,
                     0xffff8000, 0xffffffff, 0xdeadbeef, 0x100000000,
                     ~U(0)};
  for (const Condition &c : conditions)
    for (const char *type : {"i32", "u32", "u64"}) {
      const bool wide = type[1] == '6', isSigned = type[0] == 'i';
      if (wide && c.less != c.greater)
        continue; // 64 bits: equal or not
      Machine m;
      auto outcome = [&](U a, U b) {
        const bool less = isSigned ? s32(a) < s32(b) : a < b;
        return a == b ? c.equal : less ? c.less : c.greater;
      };
      const std::string name = std::string(c.name) + "_" + type;
      Sequence full({"s_cmp_" + name + (wide ? " s[2:3], s[4:5]" : " s2, s4")});
      ASSERT_EQ(full.problem(0), "") << name;
      const U mask = wide ? ~U(0) : 0xffffffff;
      for (U first : edges)
        for (U second : edges) {
          const U a = first & mask, b = second & mask;
          m.wave.setPair(2, a);
          m.wave.setPair(4, b);
          m.wave.scc = !outcome(a, b);
          m.run(full[0]);
          ASSERT_EQ(m.wave.scc, outcome(a, b)) << name << " " << a << " " << b;
        }
      if (wide)
        continue;
      // With a 16-bit constant, extended as the type says.
      for (U k : {0u, 5u, 0x7fffu, 0x8000u, 0xffffu}) {
        const U b = isSigned ? U(s16(k)) & mask : k;
        Sequence constant({"s_cmpk_" + name + " s2, " + std::to_string(k)});
        ASSERT_EQ(constant.problem(0), "") << name;
        for (U first : edges) {
          const U a = first & mask;
          m.s(2) = uint32_t(a);
          m.wave.scc = !outcome(a, b);
          m.run(constant[0]);
          ASSERT_EQ(m.wave.scc, outcome(a, b)) << name << " " << a << " " << k;
        }
      }
    }
}

TEST(SemanticsInteger, ScalarsThatReadTheirDestinationOrMove) {
  Machine m;
  m.s(0) = 0x7fffffff;
  m.run("s_addk_i32 s0, 1");
  EXPECT_EQ(m.s(0), 0x80000000u);
  EXPECT_TRUE(m.wave.scc);
  m.s(0) = 7;
  m.run("s_mulk_i32 s0, 0xfffe");
  EXPECT_EQ(m.s(0), uint32_t(-14));
  m.wave.scc = false;
  m.run("s_cmov_b32 s0, s1");
  EXPECT_EQ(m.s(0), uint32_t(-14));
  m.run("s_cmovk_i32 s0, 5");
  EXPECT_EQ(m.s(0), uint32_t(-14));
  m.wave.scc = true;
  m.run("s_cmovk_i32 s0, 5");
  EXPECT_EQ(m.s(0), 5u);
  m.run("s_bitset1_b32 s0, 31");
  EXPECT_EQ(m.s(0), 0x80000005u);
  m.run("s_bitset0_b32 s0, 32");
  EXPECT_EQ(m.s(0), 0x80000004u);
  m.s(M0) = 3;
  m.s(8) = 99;
  m.run("s_movrels_b32 s0, s5");
  EXPECT_EQ(m.s(0), 99u);
  m.run("s_movreld_b32 s10, s8");
  EXPECT_EQ(m.s(13), 99u);

  m.wave.setExec(0xff00ff00ff00ff00);
  m.wave.setPair(2, 0x0ff00ff00ff00ff0);
  m.run("s_and_saveexec_b64 s[0:1], s[2:3]");
  EXPECT_EQ(m.wave.pair(0), 0xff00ff00ff00ff00u);
  EXPECT_EQ(m.wave.exec(), 0x0f000f000f000f00u);
  EXPECT_TRUE(m.wave.scc);
  m.run("s_andn2_saveexec_b64 s[0:1], 0");
  EXPECT_EQ(m.wave.exec(), 0u);
  EXPECT_FALSE(m.wave.scc);
  m.wave.setExec(0xf0);
  m.wave.setPair(2, 0x3c);
  m.run("s_andn1_wrexec_b64 s[0:1], s[2:3]");
  EXPECT_EQ(m.wave.exec(), 0xc0u);
  EXPECT_EQ(m.wave.pair(0), 0xc0u);
}

} // namespace
