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
        MoeShape{32, 12, 9, 128, 256}, MoeShape{4, 3, 2, 128, 2048}})
    expectGateUp(c, GateUpInputs(c, c.m + c.k));
}

TEST(MoeGateUpGrouped, AdversarialIds) {
  for (const char *activation : {"none", "silu"}) {
    MoeShape c{12, 5, 3, 256, 256, activation};
    std::vector<int32_t> mixed = {-1, 0, 5, 4, 4, 4, INT32_MIN, INT32_MAX, 1};
    mixed.resize(36, -3);
    // All 36 rows to one expert: three passes, the last of four rows.
    for (const std::vector<int32_t> &ids :
         {std::vector<int32_t>(36, 2), mixed, std::vector<int32_t>(36, -1)})
      expectGateUp(c, GateUpInputs(c, 6, ids));
  }
}

TEST(MoeGateUpGrouped, WeightsOfEachExpertAreReadOnce) {
  for (const char *activation : {"none", "silu"}) {
    MoeShape c{16, 6, 3, 256, 2048, activation};
    GateUpInputs inputs(c, 7);
    Counters counters =
        countersOf(gateUp(c, true), gateUpProblem(c), inputs.buffers());
    uint64_t weights = inputs.weight.rows.size() * c.n * c.k;
    // Each wave: ids (64 lanes), pointers; each busy one: the scales of its
    // tile, x and its scales for sixteen columns, four lanes per scale.
    uint64_t rows = 0;
    std::map<int32_t, int> chosen;
    for (int32_t id : inputs.ids)
      ++chosen[id];
    for (auto [id, count] : chosen)
      rows += (count + 15) / 16 * 16;
    uint64_t tiles = c.n / 16;
    EXPECT_EQ(counters.globalLoadBytes,
              weights + counters.waves * (256 + 48) +
                  tiles * rows * (c.k + 4 * 4 * c.blocks()) +
                  tiles * chosen.size() * 4 * c.blocks());
    // The first wait is for the ids.
    EXPECT_GE(counters.bytesInFlightPerCu, 64u * 1024) << counters.text();
    EXPECT_LE(counters.maxRoundTrips, 5u); // arguments, ids, then passes
  }
}

TEST(MoeGateUpGrouped, WrongKernelsAreNoticed) {
  MoeShape c{7, 5, 6, 256, 384, "silu"};
  std::vector<int32_t> ids(42, 3);
  ids[4] = -1, ids[20] = 7, ids[30] = 0, ids[31] = 4;
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
  EXPECT_NE(wrong(file, "netra_wait_memory (2 *", "netra_wait_memory 63 //")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(file, "netra_barrier                                // read",
                  "s_nop 0"),
            "");
  EXPECT_NE(wrong(file, "v_min_u32 v[V_T0], s[S_TMP], v[V_T0]", "s_nop 0"), "");
  EXPECT_NE(wrong(file, "s_add_u32 s[S_BASE], s[S_BASE], 16",
                  "s_add_u32 s[S_BASE], s[S_BASE], 64"),
            "");
  EXPECT_NE(wrong(file, "gg_zeros gg_round", "s_nop 0"), "");
  EXPECT_NE(wrong(rows, "v_mul_hi_u32 v[\\v_token], v[\\v_row], s[\\s_tmp]",
                  "v_mov_b32 v[\\v_token], 0"),
            "");
  EXPECT_NE(wrong(rows, "v_mbcnt_hi_u32_b32 v[\\v_t0]",
                  "v_mbcnt_lo_u32_b32 v[\\v_t0]"),
            "");
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
    // All 36 rows to one expert: three passes, the last of four rows.
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

TEST(MoeDownGrouped, WeightsOfEachExpertAreReadOnce) {
  for (bool bf16 : {false, true}) {
    MoeShape c = down(16, 60, 9, 128, 512, false, bf16);
    DownInputs inputs(c, 7);
    Counters counters = countersOf(downReduce(c, true), downReduceProblem(c),
                                   inputs.buffers(c));
    uint64_t weights = inputs.weight.rows.size() * c.n * c.k, rows = 0;
    std::map<int32_t, int> chosen;
    for (int32_t id : inputs.ids)
      ++chosen[id];
    for (auto [id, count] : chosen)
      rows += (count + 15) / 16 * 16;
    // Each wave: three rounds of ids, pointers. Each work-group: the scales of
    // its tiles, and for sixteen columns x, and in each of four lanes the
    // scales and the weight of the slot.
    EXPECT_EQ(counters.globalLoadBytes,
              weights + counters.waves * (3 * 256 + (bf16 ? 48 : 56)) +
                  counters.workgroups *
                      (chosen.size() * 4 * c.blocks() +
                       rows * (bf16 ? 2 * c.k + 16
                                    : c.k + 4 * (4 * c.blocks() + 4))));
    EXPECT_GE(counters.bytesInFlightPerCu, 64u * 1024) << counters.text();
    // Conflicts are those of routed rows: two tokens with one expert whose
    // places agree modulo 16.
    EXPECT_LE(counters.ldsConflictCycles * 10, counters.ldsAccesses)
        << counters.text();
  }
}

TEST(MoeDownGrouped, WrongKernelsAreNoticed) {
  MoeShape c = down(14, 30, 6, 128, 384, true);
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
                    *const rows = "include/moe_rows.inc";
  EXPECT_EQ(wrong(file, "// Wave v, lane", "// In wave v, lane"), "");
  EXPECT_NE(wrong(file, "s_cmp_eq_u32 s[S_FOUND], DG_EXPERTS",
                  "s_cmp_lg_u32 s[S_FOUND], 99")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(file, "netra_barrier", "s_nop 0").find("race"),
            std::string::npos);
  EXPECT_NE(wrong(file, "dg_zeros dg_round", "s_nop 0"), "");
  EXPECT_NE(wrong(file, "s_sub_u32 s[S_EXPERT], s[S_WAVE], DG_WAVES",
                  "s_sub_u32 s[S_EXPERT], s[S_WAVE], 0"),
            "");
  EXPECT_NE(wrong(file, "offset:128*dg_b+64", "offset:128*dg_b+32"), "");
  EXPECT_NE(wrong(file, "v_add_u32 v[V_T0], 1, v[V_T0]", "s_nop 0"), "");
  EXPECT_NE(wrong(rows, "v_add_u32 v[\\v_t1], 64 * .Lnetra_mi_i",
                  "v_add_u32 v[\\v_t1], 0"),
            "");
}

} // namespace
