//===- SemanticsLaneTests.cpp - DPP, SDWA and lane moves ------------------===//
// SPDX-License-Identifier: MIT
#include "InstructionHarness.h"

#include <bit>
#include <functional>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

using U = uint64_t;

/// Source lane by the ISA's words, -1 if there is none.
struct Pattern {
  const char *text;
  std::function<int(int lane)> source;
};
const std::vector<Pattern> &patterns() {
  static const std::vector<Pattern> list = {
      {"quad_perm:[1,0,3,2]", [](int l) { return l ^ 1; }},
      {"quad_perm:[3,3,0,1]",
       [](int l) { return l / 4 * 4 + std::array<int, 4>{3, 3, 0, 1}[l % 4]; }},
      {"row_shl:1", [](int l) { return l % 16 < 15 ? l + 1 : -1; }},
      {"row_shl:15", [](int l) { return l % 16 < 1 ? l + 15 : -1; }},
      {"row_shr:1", [](int l) { return l % 16 > 0 ? l - 1 : -1; }},
      {"row_shr:8", [](int l) { return l % 16 > 7 ? l - 8 : -1; }},
      {"row_ror:3", [](int l) { return l / 16 * 16 + (l + 13) % 16; }},
      {"wave_shl:1", [](int l) { return l < 63 ? l + 1 : -1; }},
      {"wave_rol:1", [](int l) { return (l + 1) % 64; }},
      {"wave_shr:1", [](int l) { return l > 0 ? l - 1 : -1; }},
      {"wave_ror:1", [](int l) { return (l + 63) % 64; }},
      {"row_mirror", [](int l) { return l / 16 * 16 + 15 - l % 16; }},
      {"row_half_mirror", [](int l) { return l / 8 * 8 + 7 - l % 8; }},
      {"row_bcast:15", [](int l) { return l >= 16 ? l / 16 * 16 - 1 : -1; }},
      {"row_bcast:31", [](int l) { return l >= 32 ? 31 : -1; }},
      {"row_newbcast:5", [](int l) { return l / 16 * 16 + 5; }},
  };
  return list;
}

TEST(SemanticsLane, DppPatternsMasksAndBounds) {
  struct Control {
    const char *text;
    unsigned rows, banks;
    bool zero;
  };
  const Control controls[] = {
      {" row_mask:0xf bank_mask:0xf", 15, 15, false},
      {" row_mask:0xf bank_mask:0xf bound_ctrl:1", 15, 15, true},
      {" row_mask:0xa bank_mask:0xf", 10, 15, false},
      {" row_mask:0xf bank_mask:0x6", 15, 6, false},
      {" row_mask:0x3 bank_mask:0x9 bound_ctrl:1", 3, 9, true},
  };
  std::vector<std::string> lines;
  for (const Pattern &p : patterns())
    for (const Control &c : controls)
      lines.push_back(std::string("v_add_u32_dpp v0, v1, v2 ") + p.text +
                      c.text);
  Sequence s(lines);
  ASSERT_EQ(s.size(), lines.size());
  size_t index = 0;
  for (const Pattern &p : patterns())
    for (const Control &c : controls) {
      SCOPED_TRACE(lines[index]);
      ASSERT_EQ(s.problem(index), "");
      for (U exec : {~U(0), U(0), U(0xfffffffffffffff0), U(0x5555aaaa5555aaaa),
                     U(1) << 31, U(0x8000000180000001)}) {
        Machine m;
        m.wave.setExec(exec);
        for (unsigned l = 0; l < 64; ++l) {
          m.v(0, l) = 7000 + l;
          m.v(1, l) = 1000 + l;
          m.v(2, l) = l * 100000;
        }
        m.run(s[index]);
        for (int l = 0; l < 64; ++l) {
          int from = p.source(l);
          bool valid = from >= 0 && (exec >> from & 1);
          bool enabled = (exec >> l & 1) && (c.rows >> l / 16 & 1) &&
                         (c.banks >> l % 16 / 4 & 1) && (valid || c.zero);
          uint32_t expected =
              !enabled ? 7000 + l
                       : (valid ? 1000 + from : 0) + uint32_t(l) * 100000;
          ASSERT_EQ(m.v(0, l), expected)
              << "lane " << l << " exec " << std::hex << exec;
        }
      }
      ++index;
    }
}

TEST(SemanticsLane, DppKeepsModifiersAndItsOwnSource) {
  Machine m;
  for (unsigned l = 0; l < 64; ++l)
    m.v(1, l) = std::bit_cast<uint32_t>(float(l));
  // A butterfly step in place: the source row is also the destination.
  m.run("v_add_f32_dpp v1, v1, v1 quad_perm:[1,0,3,2] row_mask:0xf "
        "bank_mask:0xf");
  for (unsigned l = 0; l < 64; ++l)
    EXPECT_EQ(std::bit_cast<float>(m.v(1, l)), float(l + (l ^ 1)));
  m.run("v_add_f32_dpp v0, -v1, |v1| row_mirror row_mask:0xf bank_mask:0xf");
  for (unsigned l = 0; l < 64; ++l) {
    unsigned mirror = l / 16 * 16 + 15 - l % 16;
    EXPECT_EQ(std::bit_cast<float>(m.v(0, l)),
              -float(mirror + (mirror ^ 1)) + float(l + (l ^ 1)));
  }
  m.run("v_mov_b32_dpp v3, v1 row_shr:1 row_mask:0xf bank_mask:0xf "
        "bound_ctrl:1");
  EXPECT_EQ(m.v(3, 16), 0u);
  EXPECT_EQ(m.v(3, 17), m.v(1, 16));
}

TEST(SemanticsLane, SdwaSelectionsOnBothSides) {
  const char *names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                         "WORD_0", "WORD_1", "DWORD"};
  const unsigned shift[] = {0, 8, 16, 24, 0, 16, 0};
  const unsigned bits[] = {8, 8, 8, 8, 16, 16, 32};
  const char *unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  std::vector<std::string> lines;
  for (unsigned d = 0; d < 7; ++d)
    for (unsigned u = 0; u < 3; ++u)
      for (unsigned a = 0; a < 7; ++a)
        for (bool sext : {false, true})
          lines.push_back(
              std::string("v_add_u32_sdwa v0, ") + (sext ? "sext(v1)" : "v1") +
              ", v2 dst_sel:" + names[d] + " dst_unused:" + unused[u] +
              " src0_sel:" + names[a] + " src1_sel:" + names[(a + 3) % 7]);
  Sequence s(lines);
  ASSERT_EQ(s.size(), lines.size());
  size_t index = 0;
  for (unsigned d = 0; d < 7; ++d)
    for (unsigned u = 0; u < 3; ++u)
      for (unsigned a = 0; a < 7; ++a)
        for (bool sext : {false, true}) {
          SCOPED_TRACE(lines[index]);
          ASSERT_EQ(s.problem(index), "");
          Machine m;
          for (unsigned l = 0; l < 64; ++l) {
            m.v(0, l) = 0xa1b2c3d4;
            m.v(1, l) = 0x89abcdef * (l + 1);
            m.v(2, l) = 0x01f37f80 * (l + 3);
          }
          m.run(s[index]);
          for (unsigned l = 0; l < 64; ++l) {
            auto take = [&](U v, unsigned sel, bool isSigned) -> U {
              U field = v >> shift[sel] & ((1ull << bits[sel]) - 1);
              if (isSigned && (field >> (bits[sel] - 1) & 1))
                field |= ~U(0) << bits[sel];
              return field & 0xffffffff;
            };
            U sum = take(0x89abcdefu * (l + 1), a, sext) +
                    take(0x01f37f80u * (l + 3), (a + 3) % 7, false);
            U mask = ((1ull << bits[d]) - 1) << shift[d];
            U placed = sum << shift[d] & mask;
            if (u == 1 && (placed >> (shift[d] + bits[d] - 1) & 1))
              placed |= ~U(0) << (shift[d] + bits[d]);
            if (u == 2)
              placed |= 0xa1b2c3d4 & ~mask;
            ASSERT_EQ(m.v(0, l), uint32_t(placed)) << "lane " << l;
          }
          ++index;
        }
}

TEST(SemanticsLane, ReadsAndWritesOfSingleLanes) {
  Machine m;
  for (unsigned l = 0; l < 64; ++l)
    m.v(1, l) = 500 + l;
  for (U exec : {~U(0), U(0), U(0xffffffff00000000), U(1) << 63, U(0x10)}) {
    m.wave.setExec(exec);
    m.run("v_nop");
    m.run("v_readfirstlane_b32 s0, v1");
    unsigned first = exec ? unsigned(std::countr_zero(exec)) : 0;
    EXPECT_EQ(m.s(0), 500 + first);
    for (unsigned lane : {0u, 31u, 32u, 63u, 64u, 100u}) {
      m.s(4) = lane;
      m.run("v_readlane_b32 s1, v1, s4");
      EXPECT_EQ(m.s(1), 500 + lane % 64);
    }
    for (unsigned lane : {0u, 31u, 32u, 63u, 77u}) {
      m.s(M0) = lane;
      m.run("v_readlane_b32 s1, v1, m0");
      EXPECT_EQ(m.s(1), 500 + lane % 64);
      m.s(6) = 7000 + lane;
      m.run("v_writelane_b32 v3, s6, m0");
      EXPECT_EQ(m.v(3, lane % 64), 7000 + lane) << "whatever EXEC says";
      m.run("v_writelane_b32 v3, m0, 17");
      EXPECT_EQ(m.v(3, 17), lane);
    }
    m.s(5) = 0xabc;
    m.run("v_writelane_b32 v2, s5, 63");
    EXPECT_EQ(m.v(2, 63), 0xabcu) << "whatever EXEC says";
    m.v(2, 63) = 0;
  }
  m.wave.setExec(~0ull);
  for (unsigned l = 0; l < 64; ++l)
    m.v(AccumulationBase + 3, l) = 900 + l;
  m.run("v_accvgpr_read_b32 v4, a3");
  EXPECT_EQ(m.v(4, 20), 920u);
  m.run("v_accvgpr_write_b32 a5, v1");
  EXPECT_EQ(m.v(AccumulationBase + 5, 62), 562u);
}

TEST(SemanticsLane, SwapsOfRowsAndHalves) {
  Machine m;
  auto fill = [&] {
    for (unsigned l = 0; l < 64; ++l) {
      m.v(1, l) = 100 + l;
      m.v(2, l) = 200 + l;
    }
  };
  fill();
  m.run("v_permlane32_swap_b32 v1, v2");
  for (unsigned l = 0; l < 32; ++l) {
    EXPECT_EQ(m.v(1, l), 100 + l);
    EXPECT_EQ(m.v(1, l + 32), 200 + l);
    EXPECT_EQ(m.v(2, l), 132 + l);
    EXPECT_EQ(m.v(2, l + 32), 232 + l);
  }
  fill();
  m.run("v_permlane16_swap_b32 v1, v2");
  for (unsigned l = 0; l < 64; ++l) {
    bool odd = l / 16 % 2;
    EXPECT_EQ(m.v(1, l), odd ? 200 + l - 16 : 100 + l);
    EXPECT_EQ(m.v(2, l), odd ? 200 + l : 100 + l + 16);
  }
  // Lanes that are off keep both their values.
  for (U exec : {U(0), U(0x00ff00ff00ff00ff), U(1) << 40, U(0xffff0000)}) {
    fill();
    m.wave.setExec(exec);
    m.run("v_permlane32_swap_b32 v1, v2");
    for (unsigned l = 0; l < 64; ++l) {
      const bool on = exec >> l & 1;
      EXPECT_EQ(m.v(1, l), on && l >= 32 ? 200 + l - 32 : 100 + l);
      EXPECT_EQ(m.v(2, l), on && l < 32 ? 100 + l + 32 : 200 + l);
    }
    fill();
    m.run("v_permlane16_swap_b32 v1, v2");
    for (unsigned l = 0; l < 64; ++l) {
      const bool on = exec >> l & 1, odd = l / 16 % 2;
      EXPECT_EQ(m.v(1, l), on && odd ? 200 + l - 16 : 100 + l);
      EXPECT_EQ(m.v(2, l), on && !odd ? 100 + l + 16 : 200 + l);
    }
  }
  fill();
  m.wave.setExec(0xff);
  m.run("v_swap_b32 v1, v2");
  EXPECT_EQ(m.v(1, 7), 207u);
  EXPECT_EQ(m.v(2, 7), 107u);
  EXPECT_EQ(m.v(1, 8), 108u);
}

TEST(SemanticsLane, ConditionalMovesTakeTheMaskFromAnyRegister) {
  Machine m;
  for (unsigned l = 0; l < 64; ++l) {
    m.v(1, l) = l;
    m.v(2, l) = 1000 + l;
  }
  const U condition = 0xf00ff00f12345678;
  m.wave.setVcc(condition);
  m.wave.setPair(20, ~condition);
  m.run("v_cndmask_b32 v0, v1, v2, vcc");
  for (unsigned l = 0; l < 64; ++l)
    EXPECT_EQ(m.v(0, l), condition >> l & 1 ? 1000 + l : l);
  m.run("v_cndmask_b32_e64 v0, v1, 7, s[20:21]");
  for (unsigned l = 0; l < 64; ++l)
    EXPECT_EQ(m.v(0, l), condition >> l & 1 ? l : 7);
}

TEST(SemanticsLane, ScalarAndConstantSources) {
  Machine m;
  m.s(6) = 0x11;
  m.s(M0) = 0x22;
  m.wave.scc = true;
  for (unsigned l = 0; l < 64; ++l)
    m.v(1, l) = l;
  m.run("v_add_u32 v0, s6, v1");
  EXPECT_EQ(m.v(0, 63), 0x11u + 63);
  m.run("v_add_u32 v0, 0x12345678, v1");
  EXPECT_EQ(m.v(0, 1), 0x12345679u);
  m.run("v_add_u32 v0, -16, v1");
  EXPECT_EQ(m.v(0, 0), uint32_t(-16));
  m.run("v_mul_f32 v0, 0.15915494, 1.0");
  EXPECT_EQ(m.v(0, 0), 0x3e22f983u);
  m.run("v_add_u32 v0, m0, v1");
  EXPECT_EQ(m.v(0, 2), 0x24u);
  m.run("v_mov_b32 v0, src_scc");
  EXPECT_EQ(m.v(0, 2), 1u);
  m.run("v_fmaak_f32 v0, 2.0, v2, 0x40400000");
  EXPECT_EQ(m.v(0, 2), 0x40400000u);
  m.run("v_fmamk_f32 v0, 2.0, 0x40400000, v2");
  EXPECT_EQ(m.v(0, 2), 0x40c00000u);
}

TEST(SemanticsLane, MatrixInstructionsIgnoreExec) {
  // D = A * B + C with ones: every element is k + C, through real encodings.
  struct Line {
    const char *text;
    uint32_t one;
    unsigned first, words;
    float expected;
  };
  const Line lines[] = {
      {"v_mfma_f32_16x16x32_bf16 a[0:3], v[0:3], v[4:7], a[4:7]", 0x3f803f80,
       AccumulationBase, 4, 34},
      {"v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[4:7], 2.0", 0x3f803f80, 32,
       16, 18},
      {"v_mfma_f32_16x16x128_f8f6f4 v[32:35], v[0:7], v[8:15], 0", 0x38383838,
       32, 4, 128},
      {"v_mfma_f32_16x16x128_f8f6f4 v[32:35], v[0:3], v[8:13], 0 cbsz:4 blgp:2",
       0x22222222, 32, 4, 0}, // fp4 ones times fp6 patterns: only runs
      {"v_mfma_scale_f32_16x16x128_f8f6f4 v[32:35], v[0:7], v[8:15], 0, v20, "
       "v21 op_sel:[0,0,0] op_sel_hi:[1,0,0]",
       0x38383838, 32, 4, 512},
  };
  for (const Line &line : lines) {
    SCOPED_TRACE(line.text);
    Machine m;
    m.wave.setExec(0);
    for (unsigned r = 0; r < 16; ++r)
      for (unsigned l = 0; l < 64; ++l)
        m.v(r, l) = line.one;
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned l = 0; l < 64; ++l)
        m.v(AccumulationBase + 4 + r, l) = std::bit_cast<uint32_t>(2.0f);
    for (unsigned l = 0; l < 64; ++l) {
      m.v(20, l) = 0x7f817f7f; // byte 2: times 4
      m.v(21, l) = 0x8080807f; // byte 0: times 1
    }
    m.run(line.text);
    for (unsigned r = 0; line.expected != 0 && r < line.words; ++r)
      for (unsigned l = 0; l < 64; ++l)
        ASSERT_EQ(std::bit_cast<float>(m.v(line.first + r, l)), line.expected)
            << r << " " << l;
  }
}

// The mnemonics that production code uses most, in the encodings it uses: all
// must decode to something that runs.
TEST(SemanticsLane, NothingCommonIsUnsupported) {
  const std::vector<std::string> lines = {
      "v_add_f32_e64 v0, v1, s2",
      "v_subrev_f32_dpp v0, v1, v2 row_ror:8",
      "v_max_f32_dpp v0, v1, v2 row_newbcast:1",
      "v_mul_f32_dpp v0, v1, v2 row_newbcast:1",
      "v_or_b32_dpp v0, v1, v2 row_newbcast:1",
      "v_max_i32_dpp v0, v1, v2 row_bcast:31",
      "v_mul_u32_u24_dpp v0, v1, v2 row_newbcast:1",
      "v_mul_i32_i24_dpp v0, v1, v2 row_newbcast:1",
      "v_add_u32_sdwa v0, v1, v2 src0_sel:BYTE_1",
      "v_cvt_pk_u8_f32 v0, v1, 1, v2",
      "v_cmp_class_f32_e64 s[0:1], v1, 3",
      "v_cvt_scalef32_pk_bf16_fp8 v0, v1, v2",
      "v_smfmac_f32_16x16x128_fp8_fp8 v[0:3], v[4:7], v[8:15], v16",
      "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15]",
      "v_mfma_i32_32x32x32_i8 v[0:15], v[16:19], v[20:23], v[0:15]",
      "v_cvt_scalef32_sr_pk32_bf6_bf16 v[0:5], v[16:31], v8, v9",
      "v_cvt_scalef32_pk32_f16_fp6 v[0:15], v[16:21], v9",
      "v_rcp_f64 v[0:1], v[2:3]",
      "v_div_fixup_f16 v0, v1, v2, v3",
      "v_cvt_norm_u16_f16 v0, v1",
      "v_mqsad_u32_u8 v[0:3], v[4:5], v6, v[8:11]",
      "v_qsad_pk_u16_u8 v[0:1], v[4:5], v6, v[8:9]",
      "v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,1,0]",
      "v_nop",
      "v_ldexp_f64 v[0:1], v[2:3], v4",
      "v_sin_f16 v0, v1",
      "v_bitop3_b16 v0, v1, v2, v3 bitop3:0x12",
      "v_mad_legacy_f16 v0, v1, v2, v3"};
  Sequence s(lines);
  ASSERT_EQ(s.size(), lines.size());
  for (size_t k = 0; k < lines.size(); ++k)
    EXPECT_EQ(s.problem(k), "") << lines[k];
}

} // namespace
