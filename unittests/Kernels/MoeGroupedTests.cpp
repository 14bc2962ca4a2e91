//===- MoeGroupedTests.cpp - Each expert's weights read once --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MoeCases.h"

using namespace kernels;
using netra::sim::Counters;

namespace {

//===----------------------------------------------------------------------===//
// Gate and up
//===----------------------------------------------------------------------===//

std::string gateUp(const MoeShape &c, bool grouped) {
  return std::string("gfx950.moe_gate_up") + (grouped ? "_grouped" : "") +
         (c.activation == "none" ? "" : "_activated");
}

/// The oracle's values, and the bits of the tactic that reads per token.
void expectGateUp(const MoeShape &c, const GateUpInputs &inputs) {
  Outcome ours =
      runEverywhere(gateUp(c, true), gateUpProblem(c), inputs.buffers());
  EXPECT_EQ(inputs.check(c, ours), "") << c;
  llvm::Expected<Kernel> kernel = build(gateUp(c, false), gateUpProblem(c));
  ASSERT_TRUE(static_cast<bool>(kernel)) << llvm::toString(kernel.takeError());
  RunOptions options;
  options.checks = 0;
  llvm::Expected<Outcome> single = run(*kernel, inputs.buffers(), options);
  ASSERT_TRUE(static_cast<bool>(single)) << llvm::toString(single.takeError());
  EXPECT_EQ(ours.outputs == single->outputs, true) << c;
}

TEST(MoeGateUpGrouped, MatchesOracleAndTheUngroupedBits) {
  for (const MoeShape &c :
       {MoeShape{2, 3, 2, 128, 128}, MoeShape{5, 7, 3, 128, 640},
        MoeShape{3, 5, 3, 256, 384, "silu"},
        MoeShape{17, 4, 4, 256, 128, "gelu_tanh"},
        MoeShape{32, 12, 9, 128, 256}, MoeShape{4, 3, 2, 128, 2048},
        MoeShape{3, 4, 2, 128, 2176}, MoeShape{20, 3, 2, 256, 4096, "silu"}})
    expectGateUp(c, GateUpInputs(c, c.m + c.k));
}

TEST(MoeGateUpGrouped, AdversarialIds) {
  for (const char *activation : {"none", "silu"}) {
    MoeShape c{12, 5, 3, 256, 256, activation};
    std::vector<int32_t> mixed = {-1, 0, 5, 4, 4, 4, INT32_MIN, INT32_MAX, 1};
    mixed.resize(36, -3);
    // All 36 rows to one expert: three work-groups, the last with four rows.
    for (const std::vector<int32_t> &ids :
         {std::vector<int32_t>(36, 2), mixed, std::vector<int32_t>(36, -1)})
      expectGateUp(c, GateUpInputs(c, 6, ids));
  }
}

/// Rows 64 and more, a unit of rows and more of an expert, and both: whoever
/// works for rows is found by counting those before it.
TEST(MoeGateUpGrouped, TheFirstRowOfEachUnitWorks) {
  for (const char *activation : {"none", "silu"})
    for (int64_t m : {16, 32}) {
      MoeShape c{m, 5, 192 / m, 256, 384, activation};
      std::vector<int32_t> ids(192);
      for (int32_t row = 0; row < 192; ++row)
        ids[row] = row % 6 == 5     ? 4
                   : row % 64 == 63 ? -1
                   : row < 60       ? row % 3
                   : row < 140      ? 3
                                    : row % 4;
      expectGateUp(c, GateUpInputs(c, 3, ids));
    }
}

/// Second turns of one row and of all, with one K block and with more than
/// registers take at a time, weights in accumulation registers too.
TEST(MoeGateUpGrouped, OneRoutingForAllTokens) {
  for (const MoeShape &c :
       {MoeShape{17, 5, 2, 256, 128}, MoeShape{32, 5, 2, 256, 640, "silu"},
        MoeShape{21, 5, 2, 128, 2048},
        MoeShape{30, 5, 2, 256, 2176, "gelu_tanh"}}) {
    std::vector<int32_t> ids;
    for (int64_t row = 0; row < c.m * c.s; ++row)
      ids.push_back(row % 2 ? 4 : 1);
    expectGateUp(c, GateUpInputs(c, 11, ids));
  }
}

TEST(MoeGateUpGrouped, WeightsAreReadOnceForAUnitOfRows) {
  for (const char *activation : {"none", "silu"}) {
    for (int64_t m : {16, 24}) {
      MoeShape c{m, 12, 3, 256, 2048, activation};
      GateUpInputs inputs(c, 7);
      Counters counters =
          countersOf(gateUp(c, true), gateUpProblem(c), inputs.buffers());
      // Each wave: ids, its row's once more, pointers; the first of a unit of
      // rows of an expert: its tile and the scales of it, x for four rows or,
      // each turn, sixteen, and in each of 64 lanes the scales of one.
      uint64_t rows = 0, groups = 0, few = 0, turns = 0;
      const int unit = m > 16 ? 32 : 16;
      std::map<int32_t, int> chosen;
      for (int32_t id : inputs.ids)
        ++chosen[id];
      for (auto [id, count] : chosen)
        for (int left = count; left > 0; left -= unit) {
          uint64_t sixteens = (std::min(left, unit) + 15) / 16;
          ++groups;
          few += left <= 4;
          turns += sixteens;
          rows += left <= 4 ? 4 : 16 * sixteens;
        }
      EXPECT_TRUE(few != 0 && few != groups);
      EXPECT_EQ(groups, chosen.size());
      EXPECT_EQ(turns, groups + (m == 24)); // the shared expert's rows
      uint64_t tiles = c.n / 16, ids = (m * c.s + 63) / 64 * 256;
      EXPECT_EQ(counters.globalLoadBytes,
                groups * c.n * c.k + counters.waves * (ids + 4 + 48) +
                    tiles * (rows * c.k + turns * 64 * 4 * c.blocks()) +
                    tiles * groups * 4 * c.blocks());
    }
  }
}

TEST(MoeGateUpGrouped, WrongKernelsAreNoticed) {
  // 42 rows of one expert: sixteen, sixteen, ten.
  MoeShape c{8, 5, 6, 256, 384, "silu"};
  std::vector<int32_t> ids(48, 3);
  ids[4] = -1, ids[20] = 7, ids[30] = 0, ids[31] = 4, ids[37] = 4, ids[47] = 0;
  GateUpInputs inputs(c, 9, ids);
  auto check = [&](const Outcome &run) { return inputs.check(c, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(gateUp(c, true), gateUpProblem(c), inputs.buffers(), {},
                   {{file, from, to, occurrence}}, check);
  };
  const char *const file = "moe/gate_up_grouped.s", *const rows =
                                                        "include/moe_rows.inc";
  EXPECT_EQ(wrong(file, "// The whole tile", "// All of the tile"), "");
  for (unsigned path : {1, 2})
    EXPECT_NE(
        wrong(file, "netra_wait_memory (2 *", "netra_wait_memory 63 //", path)
            .find("wait"),
        std::string::npos);
  EXPECT_NE(wrong(file, "netra_barrier                                // many",
                  "s_nop 0 // many"),
            "");
  EXPECT_NE(wrong(file, "v_min_u32 v[V_T0], s[S_TMP], v[V_T0]", "s_nop 0"), "");
  // Who works for which sixteen rows.
  EXPECT_NE(wrong(file, "s_and_b32 s[S_TMP], s[S_TMP], GG_UNIT - 1",
                  "s_and_b32 s[S_TMP], s[S_TMP], 31"),
            "");
  EXPECT_NE(wrong(file, "s_min_u32 s[S_COUNT], s[S_COUNT], GG_UNIT",
                  "s_min_u32 s[S_COUNT], s[S_COUNT], 15"),
            "");
  EXPECT_NE(wrong(rows, "s_lshl_b64 s[\\s_tmp:\\s_tmp+1], -1, s[\\s_row]",
                  "s_mov_b64 s[\\s_tmp:\\s_tmp+1], -1"),
            "");
  EXPECT_NE(wrong(file, "s_mov_b64 exec, (1 <<", "s_mov_b64 exec, 0 //"), "");
  // Few rows: the exchange, blocks, rows, lanes past the last block.
  EXPECT_NE(wrong(file, "netra_barrier                                // few",
                  "s_nop 0 // few"),
            "");
  EXPECT_NE(wrong(file, "v_lshl_or_b32 v[V_XLANE], v[V_T0], 7",
                  "v_lshl_or_b32 v[V_XLANE], v[V_T0], 6"),
            "");
  EXPECT_NE(wrong(file, "s[S_VALID:S_VALID+1], 16", "s[S_VALID:S_VALID+1], 8"),
            "");
  EXPECT_NE(wrong(file, "v_sub_u32 v[V_XOFF], v[V_XOFF], v[V_T0]", "s_nop 0"),
            "");
  EXPECT_NE(wrong(rows, "s_bitset0_b64", "// s_bitset0_b64"), "");
  EXPECT_NE(wrong(rows, "v_mul_hi_u32 v[\\v_token], v[\\v_row], s[\\s_tmp]",
                  "v_mov_b32 v[\\v_token], 0"),
            "");
  EXPECT_NE(wrong(rows, "v_mbcnt_hi_u32_b32 v[\\v_t0]",
                  "v_mbcnt_lo_u32_b32 v[\\v_t0]"),
            "");

  // Second turns, of four rows and of none: one less, other rows, no row,
  // sums that are not read yet.
  c.m = 20, c.s = 2;
  ids.assign(40, 3);
  for (int row = 1; row < 40; row += 2)
    ids[row] = row < 32 ? 0 : -1;
  inputs = GateUpInputs(c, 9, ids);
  EXPECT_EQ(wrong(file, "// The whole tile", "// All of the tile"), "");
  EXPECT_NE(
      wrong(file, "s_cmp_le_u32 s[S_COUNT], 16", "s_cmp_le_u32 s[S_COUNT], 20"),
      "");
  EXPECT_NE(
      wrong(file, "s_cmp_le_u32 s[S_COUNT], 16", "s_cmp_lt_u32 s[S_COUNT], 16"),
      "");
  EXPECT_NE(wrong(file, "v_add_u32 v[V_LIST], 64, v[V_LIST]", "s_nop 0"), "");
  EXPECT_NE(wrong(file,
                  "netra_barrier                              // the sums",
                  "s_nop 0 //")
                .find("race"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Down
//===----------------------------------------------------------------------===//

std::string downReduce(const MoeShape &c, bool grouped) {
  return std::string("gfx950.moe_down_reduce") + (grouped ? "_grouped" : "") +
         (c.bf16 ? "_bf16" : "");
}

MoeShape down(int64_t m, int64_t e, int64_t s, int64_t n, int64_t k,
              bool residual = false, bool bf16 = false) {
  return {m, e, s, n, k, "none", bf16, residual};
}

void expectDown(const MoeShape &c, const DownInputs &inputs) {
  Outcome ours = runEverywhere(downReduce(c, true), downReduceProblem(c),
                               inputs.buffers(c));
  EXPECT_EQ(inputs.check(c, ours), "") << c;
  if (c.s < 2)
    return;
  llvm::Expected<Kernel> kernel =
      build(downReduce(c, false), downReduceProblem(c));
  ASSERT_TRUE(static_cast<bool>(kernel)) << llvm::toString(kernel.takeError());
  RunOptions options;
  options.checks = 0;
  llvm::Expected<Outcome> single = run(*kernel, inputs.buffers(c), options);
  ASSERT_TRUE(static_cast<bool>(single)) << llvm::toString(single.takeError());
  EXPECT_EQ(ours.outputs == single->outputs, true) << c;
}

TEST(MoeDownGrouped, MatchesOracleAndTheUngroupedBits) {
  for (const MoeShape &c :
       {down(2, 3, 2, 128, 128), down(5, 40, 4, 128, 384, true),
        down(32, 20, 9, 128, 256), down(16, 60, 9, 128, 512),
        down(4, 40, 9, 128, 512, true), down(8, 60, 9, 128, 512),
        down(3, 5, 1, 128, 256, true), down(2, 3, 2, 128, 128, false, true),
        down(5, 40, 4, 128, 384, true, true),
        down(16, 30, 9, 128, 512, false, true)})
    expectDown(c, DownInputs(c, c.m + c.k));
}

TEST(MoeDownGrouped, AdversarialIds) {
  for (bool bf16 : {false, true}) {
    MoeShape c = down(12, 5, 3, 128, 256, true, bf16);
    std::vector<int32_t> mixed = {-1, 0, 5, 4, 4, 4, INT32_MIN, INT32_MAX, 1};
    mixed.resize(36, -3);
    // All 36 rows to one expert: three units.
    for (const std::vector<int32_t> &ids :
         {std::vector<int32_t>(36, 2), mixed, std::vector<int32_t>(36, -1)}) {
      DownInputs inputs(c, 6, ids);
      for (size_t row = 0; row != ids.size(); ++row)
        if (!inputs.weight.rows.count(ids[row]))
          inputs.route[row] = std::numeric_limits<float>::quiet_NaN();
      expectDown(c, inputs);
    }
  }
}

/// Units of as many rows as there are, in one chunk of K and in several.
TEST(MoeDownGrouped, OneRoutingForAllTokens) {
  for (bool bf16 : {false, true})
    for (const MoeShape &c : {down(16, 12, 9, 128, 512, false, bf16),
                              down(13, 5, 2, 128, 384, true, bf16),
                              down(15, 5, 3, 128, 1024, true, bf16),
                              down(25, 5, 2, 128, 256, false, bf16)}) {
      std::vector<int32_t> ids;
      for (int64_t row = 0; row < c.m * c.s; ++row)
        ids.push_back(int32_t(row % c.s * 5 % c.e));
      expectDown(c, DownInputs(c, 11, ids));
    }
}

/// Several rounds, chunks of each size, more rows than registers have passes.
TEST(MoeDownGrouped, ManyExpertsRowsAndBlocks) {
  for (bool bf16 : {false, true})
    for (const MoeShape &c :
         {down(17, 80, 5, 128, 512, false, bf16), // rounds
          down(18, 5, 9, 128, 256, true, bf16),   // units of most experts
          down(24, 60, 9, 128, 384, false, bf16), // a third chunk; all lanes
          down(5, 40, 4, 128, 1024, true, bf16),  // two chunks
          down(9, 9, 3, 128, 768, false, bf16),   // three
          down(3, 4, 2, 128, 2048, true, bf16),   // four; fewer experts
          down(20, 3, 2, 128, 640, true, bf16)})  // five; rows
      expectDown(c, DownInputs(c, c.m + c.k));
}

TEST(MoeDownGrouped, NotANumberStaysInItsTokenAndColumn) {
  for (bool bf16 : {false, true}) {
    MoeShape c = down(3, 5, 3, 128, 256, false, bf16);
    DownInputs inputs(c, 4, {0, 1, 4, 0, 2, 4, 3, 1, 4});
    if (bf16) {
      std::vector<uint16_t> x = inputs.xBf16;
      x[(1 * 3 + 2) * c.k + 200] = 0x7fc0; // token 1
      inputs.setBf16(x);
    } else {
      inputs.x[(1 * 3 + 2) * c.k + 200] = 0x7f;
    }
    inputs.weight.rows[3][7 * c.k + 30] = 0xff;    // token 2's first, row 7
    inputs.weight.rows[0][100 * c.k + 130] = 0x7f; // tokens 0 and 1, row 100
    Outcome run = runEverywhere(downReduce(c, true), downReduceProblem(c),
                                inputs.buffers(c));
    std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
    for (int64_t m = 0; m < c.m; ++m)
      for (int64_t n = 0; n < c.n; ++n)
        EXPECT_EQ(oracle::isNanBf16(y[m * c.n + n]),
                  m == 1 || (m == 2 && n == 7) || (m == 0 && n == 100))
            << bf16 << " " << m << " " << n;
  }
}

TEST(MoeDownGrouped, SpecialCodesScalesAndValues) {
  MoeShape c = down(3, 4, 3, 128, 256);
  for (uint8_t code : {0x00, 0x80, 0x01, 0x7e, 0xfe}) {
    DownInputs inputs(c, 2);
    inputs.x.assign(inputs.x.size(), code);
    inputs.xScale[1] = 1e20f;
    inputs.route[2] = 0;
    inputs.route[4] = -1e3f;
    expectDown(c, inputs);
  }
  c.bf16 = true;
  for (double special : {0.0, -0.0, 1e-39, 1e30, HUGE_VAL, double(NAN)}) {
    DownInputs inputs(c, 4);
    std::vector<uint16_t> x = inputs.xBf16;
    x[300] = oracle::encodeBf16(special); // token 0, slot 1
    if (std::fabs(special) < 1)
      std::fill(x.begin() + 256, x.begin() + 384, oracle::encodeBf16(special));
    inputs.setBf16(x);
    expectDown(c, inputs);
  }
}

TEST(MoeDownGrouped, TheResultMayTakeTheResidualsPlace) {
  MoeShape c = down(3, 4, 3, 128, 256, true);
  expectSameInPlace(downReduce(c, true), downReduceProblem(c),
                    DownInputs(c, 9).buffers(c), "result", "residual");
}

TEST(MoeDownGrouped, WrongKernelsAreNoticed) {
  MoeShape c = down(14, 30, 6, 256, 256, true);
  std::vector<int32_t> ids(84, 3);
  for (int i = 0; i < 12; ++i)
    ids[3 * i] = 5 * i % 31 - 1;
  DownInputs inputs(c, 9, ids);
  auto check = [&](const Outcome &run) { return inputs.check(c, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(downReduce(c, true), downReduceProblem(c), inputs.buffers(c),
                   {}, {{file, from, to, occurrence}}, check);
  };
  const char *const file = "moe/down_reduce_grouped.s",
                    *const deal = "include/moe_deal.inc";
  EXPECT_EQ(wrong(deal, "// Netra", "// The Netra"), "");
  // Waits and barriers removed.
  EXPECT_NE(
      wrong(file, "netra_wait_memory (2 * DG_STEPS", "netra_wait_memory 63 //")
          .find("wait"),
      std::string::npos);
  EXPECT_NE(wrong(file, "netra_wait_memory 0\n  .set", "s_nop 0\n  .set")
                .find("wait"),
            std::string::npos);
  for (const char *what : {"raw", "scaled"})
    EXPECT_NE(wrong(file,
                    (std::string(
                         "netra_barrier                                  // ") +
                     what)
                        .c_str(),
                    "s_nop 0 //")
                  .find("race"),
              std::string::npos);
  // Rows without an expert, rows that are the first of one, rows of a round.
  EXPECT_NE(wrong(file,
                  "s_mov_b64 exec, s[S_NONE+2*(\\j):S_NONE+2*(\\j)+1]\n"
                  "  s_cbranch_execz",
                  "s_mov_b64 exec, 0\n  s_cbranch_execz"),
            "");
  EXPECT_NE(wrong(deal, "s_cmp_eq_u32 s[S_TMP+1], s[S_TMP]",
                  "s_cmp_lg_u32 s[S_TMP+1], s[S_TMP]"),
            "");
  EXPECT_NE(wrong(deal, "s_min_u32 s[S_MORE], s[S_ROW], NETRA_UNIT",
                  "s_min_u32 s[S_MORE], s[S_ROW], NETRA_UNIT - 1"),
            "");
  EXPECT_NE(wrong(deal, "s_bitset1_b32 s[S_CHOSE], s[S_LIST]",
                  "s_bitset1_b32 s[S_CHOSE], 0"),
            "");
  EXPECT_NE(wrong(file, "0xfefefefe", "0xfffefffe"), "");
  // Layout: half of the tile, the odd block, the codes' second half.
  EXPECT_NE(wrong(file, "s_lshl_b32 s[S_TMP], s[S_TMP], 7",
                  "s_lshl_b32 s[S_TMP], s[S_TMP], 8"),
            "");
  EXPECT_NE(wrong(file, "v_lshl_or_b32 v[V_XC], v[V_T0], 7",
                  "v_lshl_or_b32 v[V_XC], v[V_T0], 6"),
            "");
  EXPECT_NE(wrong(file, "dg_i)+64\n", "dg_i)+32\n"), "");
  // Scales, their order in a pair, the last slot of a sum.
  EXPECT_NE(wrong(file, "netra_pointer_add S_WEIGHT_SCALE,", "s_nop 0 //"), "");
  EXPECT_NE(wrong(file, "op_sel:[0,1] op_sel_hi:[1,1]", "op_sel_hi:[1,0]"), "");
  EXPECT_NE(wrong(file, "V_SW+DG_KB2*(\\j)+dg_b+dg_i/2",
                  "V_SX+DG_KB2*(\\j)+dg_b+dg_i/2"),
            "");
  EXPECT_NE(wrong(file, "dg_i % 2 * 2 + dg_i % 4 / 2", "dg_i % 4"), "");
  EXPECT_NE(wrong(file, "dg_sum dg_s, dg_n\n", "dg_sum dg_s, dg_n - 1\n"), "");

  // One wave has a unit of eight rows and three of fourteen; two fit a round.
  std::vector<int32_t> crowded(84, -1);
  for (int32_t row = 0; row < 84; ++row)
    if (row % 8 == 0 ? row < 32 : row > 24)
      crowded[row] = row % 8 == 0 ? row / 8 : row % 4;
  inputs = DownInputs(c, 9, crowded);
  EXPECT_EQ(wrong(deal, "// Netra", "// The Netra"), "");
  EXPECT_NE(wrong(deal, "s_cmp_gt_u32 s[S_TMP], DG_LIMIT",
                  "s_cmp_gt_u32 s[S_TMP], DG_LIMIT + 4"),
            "");

  // Sixteen columns.
  c = down(7, 30, 6, 256, 256, true);
  ids.resize(42);
  inputs = DownInputs(c, 9, ids);
  EXPECT_EQ(wrong(deal, "// Netra", "// The Netra"), "");
  EXPECT_NE(wrong(file, "s_mov_b32 exec_hi, exec_lo", "s_mov_b32 exec_hi, 0"),
            "");
  EXPECT_NE(wrong(file, "v_mul_u32_u24 v[V_DC], DG_QUAD, v[V_DC]", "s_nop 0"),
            "");
  EXPECT_NE(
      wrong(file, "s_lshr_b32 s[S_TMP], s2, 3", "s_lshr_b32 s[S_TMP], s2, 4"),
      "");

  // Codes that are permuted by their place in a list.
  c.bf16 = true;
  inputs = DownInputs(c, 9, ids);
  EXPECT_EQ(wrong(deal, "// Netra", "// The Netra"), "");
  EXPECT_NE(wrong(deal, "s_add_u32 s[S_PLACED], s[S_PLACED], 1", "s_nop 0"),
            "");
  // Only the rows of the unit are numbered.
  EXPECT_NE(wrong(deal, "s_and_b64 exec, exec, vcc", "s_nop 0"), "");
  EXPECT_NE(wrong(file, "v_xor_b32 v[V_T0], v[V_T0], v[V_XW]",
                  "v_mov_b32 v[V_T0], v[V_XW]"),
            "");
  EXPECT_NE(wrong(deal, ".Ldg_placed\\@:\n  netra_barrier",
                  ".Ldg_placed\\@:\n  s_nop 0")
                .find("race"),
            std::string::npos);
}

/// Of 18 tokens, work-items have 24 rows of each slot and LDS 32.
TEST(MoeDownGrouped, WrongPlacesOfRowsAreNoticed) {
  MoeShape c = down(18, 40, 3, 128, 256);
  DownInputs inputs(c, 9);
  auto wrong = [&](const char *from, const char *to) {
    return noticed(downReduce(c, true), downReduceProblem(c), inputs.buffers(c),
                   {}, {{"moe/down_reduce_grouped.s", from, to}},
                   [&](const Outcome &run) { return inputs.check(c, run); });
  };
  EXPECT_EQ(wrong("// Arithmetic.", "// The arithmetic."), "");
  EXPECT_NE(wrong("v_sub_u32 v[V_T0], v[V_T0], v[V_ROW]", "s_nop 0"), "");
  EXPECT_NE(wrong("16 * (NETRA_TOKENS - DG_SWEPT)", "16 * NETRA_TOKENS"), "");
  EXPECT_NE(wrong(".if NETRA_M < DG_SWEPT", ".if 0"), "");
}

} // namespace
