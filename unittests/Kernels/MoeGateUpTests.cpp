//===- MoeGateUpTests.cpp - gfx950.moe_gate_up and its forms --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MoeCases.h"

using namespace kernels;
using netra::sim::Counters;

namespace {

std::string tacticOf(const MoeShape &c) {
  return c.activation == "none" ? "gfx950.moe_gate_up"
                                : "gfx950.moe_gate_up_activated";
}

class MoeGateUp : public testing::TestWithParam<MoeShape> {};

TEST_P(MoeGateUp, MatchesOracle) {
  const MoeShape &c = GetParam();
  GateUpInputs inputs(c, c.m + c.n + c.k);
  Outcome run = runEverywhere(tacticOf(c), gateUpProblem(c), inputs.buffers());
  EXPECT_EQ(inputs.check(c, run), "");
}

INSTANTIATE_TEST_SUITE_P(
    Small, MoeGateUp,
    testing::Values(MoeShape{1, 3, 2, 128, 128}, MoeShape{2, 8, 3, 256, 256},
                    MoeShape{1, 4, 3, 256, 384, "silu"},
                    MoeShape{3, 5, 3, 256, 640, "gelu_tanh"},
                    MoeShape{32, 9, 2, 128, 512},
                    MoeShape{5, 6, 4, 256, 128, "silu"},
                    MoeShape{2, 3, 2, 128, 2176}, MoeShape{1, 3, 2, 128, 4096},
                    MoeShape{1, 3, 2, 256, 2688, "silu"}));

/// The real sizes once with all experts there are, of which nine have weights
/// that are numbers.
TEST(MoeGateUp, RealSizes) {
  MoeShape c{1, 257, 9, 1024, 2048};
  GateUpInputs inputs(c, 11);
  llvm::Expected<Kernel> kernel = build(tacticOf(c), gateUpProblem(c));
  ASSERT_TRUE(static_cast<bool>(kernel)) << llvm::toString(kernel.takeError());
  llvm::Expected<Outcome> once = run(*kernel, inputs.buffers());
  ASSERT_TRUE(static_cast<bool>(once)) << llvm::toString(once.takeError());
  EXPECT_TRUE(once->findings.empty()) << once->findingsText();
  EXPECT_EQ(inputs.check(c, *once), "");
}

/// What the replaced kernels expect: arguments, geometry, block.
TEST(MoeGateUp, ContractOfTheDeployedKernel) {
  llvm::Expected<netra::Instance> instance =
      instantiate("gfx950.moe_gate_up", gateUpProblem({1, 257, 9, 1024, 2048}));
  ASSERT_TRUE(static_cast<bool>(instance));
  const netra::Contract &contract = instance->contract;
  EXPECT_EQ(contract.kernargBytes, 48u);
  std::vector<std::string> names;
  for (const netra::Argument &argument : contract.arguments) {
    EXPECT_EQ(argument.offset, 8 * names.size());
    names.push_back(argument.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"x", "x_scale", "weight", "weight_scale",
                                      "expert_ids", "result"}));
  EXPECT_EQ(contract.grid[0], 576u);
  EXPECT_EQ(contract.block[0], 64u);
  EXPECT_EQ(contract.staticLds, 0u);
}

TEST(MoeGateUpEdge, ZeroMaximumAndDenormalCodes) {
  for (const char *activation : {"none", "silu"}) {
    MoeShape c{2, 3, 2, 256, 256, activation};
    for (uint8_t code : {0x00, 0x80, 0x01, 0x7e, 0xfe}) {
      GateUpInputs inputs(c, 2);
      inputs.x.assign(inputs.x.size(), code);
      Outcome run =
          runEverywhere(tacticOf(c), gateUpProblem(c), inputs.buffers());
      EXPECT_EQ(inputs.check(c, run), "") << activation << int(code);
    }
    GateUpInputs inputs(c, 3);
    inputs.x.assign(inputs.x.size(), 0x7e);
    inputs.xScale[1] = activation == std::string("none") ? 1e20f : 1e4f;
    Outcome run =
        runEverywhere(tacticOf(c), gateUpProblem(c), inputs.buffers());
    EXPECT_EQ(inputs.check(c, run), "") << activation;
  }
}

/// Both schedules, whose edges are the same.
void expectBoth(const MoeShape &c, const GateUpInputs &inputs) {
  for (const char *form : {"", "_grouped"}) {
    std::string tactic = std::string("gfx950.moe_gate_up") + form +
                         (c.activation == "none" ? "" : "_activated") +
                         (c.groupMajor ? "_group_major" : "");
    Outcome run =
        runEverywhere(tactic, gateUpProblem(c), inputs.buffers(c.groupMajor));
    EXPECT_EQ(inputs.check(c, run), "") << tactic << " " << c;
  }
}

/// Codes have no infinity, scales do: of a block of one token, and of a block
/// of 128 rows of one expert. Where gate and up are both, products may be NaN.
TEST(MoeGateUpEdge, InfiniteScales) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::string activation : {"none", "silu", "gelu_tanh"}) {
    MoeShape c{
        3, 4, 2, 512, 384, activation, false, false, activation == "silu"};
    GateUpInputs inputs(c, 4, {0, 3, 1, 3, 2, 0});
    inputs.xScale[1 * c.blocks() + 2] = -infinity;
    // Expert 0: the second half of the gate, block 1; the first half of the up.
    inputs.weight.scale[1 * c.blocks() + 1] = infinity;
    inputs.weight.scale[2 * c.blocks()] = -infinity;
    expectBoth(c, inputs);
    // Infinity times zero.
    std::fill_n(inputs.x.begin() + 1 * c.k + 2 * 128, 128, 0x80);
    expectBoth(c, inputs);
  }
}

/// Gates that are exactly this far from zero, where exponentials of sigmoids
/// overflow and vanish; with neighbours of the largest that does neither.
TEST(MoeGateUpEdge, SaturatedGates) {
  for (const char *activation : {"silu", "gelu_tanh"}) {
    MoeShape c{3, 3, 2, 256, 256, activation};
    GateUpInputs inputs(c, 5, {0, 1, 2, 0, 1, 2});
    std::fill(inputs.x.begin(), inputs.x.end(), 0);
    for (int64_t token = 0; token < c.m; ++token)
      inputs.x[token * c.k + 7 + token] =
          oracle::encodeFp8(token == 2 ? -1 : 1);
    std::fill(inputs.xScale.begin(), inputs.xScale.end(), 1.0f);
    std::fill(inputs.weight.scale.begin(), inputs.weight.scale.end(), 1.0f);
    const double gates[] = {120, -120, 88, -88, 104, -104, 448, -448, 16, -16};
    for (auto &[id, rows] : inputs.weight.rows)
      for (int64_t row = 0; row < c.n; ++row)
        for (int64_t column = 0; column < c.k; ++column)
          rows[row * c.k + column] = oracle::encodeFp8(
              row < c.n / 2 ? gates[(row + id + column) % std::size(gates)]
                            : double(row % 5) - 2);
    expectBoth(c, inputs);
  }
}

TEST(MoeGateUpEdge, NotANumberStaysInItsRowAndColumn) {
  MoeShape c{2, 4, 2, 128, 256};
  GateUpInputs inputs(c, 4, {0, 3, 1, 3});
  inputs.x[1 * c.k + 200] = 0x7f;             // token 1
  inputs.weight.rows[3][7 * c.k + 30] = 0xff; // expert 3, row 7
  Outcome run = runEverywhere(tacticOf(c), gateUpProblem(c), inputs.buffers());
  std::vector<float> y = fromBytes<float>(run.outputs["result"]);
  for (int64_t row = 0; row < c.m * c.s; ++row)
    for (int64_t n = 0; n < c.n; ++n)
      EXPECT_EQ(std::isnan(y[row * c.n + n]), row >= 2 || (row == 1 && n == 7))
          << row << " " << n;
}

TEST(MoeGateUpEdge, SmallIntegersAreExactInBothModels) {
  MoeShape c{1, 2, 2, 128, 640};
  GateUpInputs inputs(c, 5, {1, 0});
  for (size_t i = 0; i != inputs.x.size(); ++i)
    inputs.x[i] = oracle::encodeFp8(double(i % 3) - 1);
  for (auto &[id, rows] : inputs.weight.rows)
    for (size_t i = 0; i != rows.size(); ++i)
      rows[i] = oracle::encodeFp8(double((i * 7 + i / c.k + id) % 5) - 2);
  inputs.xScale.assign(inputs.xScale.size(), 0.5f);
  inputs.weight.scale.assign(inputs.weight.scale.size(), 2);
  llvm::Expected<Kernel> kernel = build(tacticOf(c), gateUpProblem(c));
  ASSERT_TRUE(static_cast<bool>(kernel));
  std::vector<oracle::Value> expected = inputs.sums(c);
  for (auto model :
       {netra::sim::MfmaModel::Cdna3, netra::sim::MfmaModel::Sequential}) {
    RunOptions options;
    options.mfma = model;
    llvm::Expected<Outcome> once = run(*kernel, inputs.buffers(), options);
    ASSERT_TRUE(static_cast<bool>(once));
    std::vector<float> y = fromBytes<float>(once->outputs["result"]);
    for (size_t i = 0; i != y.size(); ++i)
      EXPECT_EQ(y[i], expected[i].value) << i;
  }
}

TEST(MoeGateUpAdversarial, IdsEqualOutOfRangeOrUnused) {
  for (const char *activation : {"none", "silu"}) {
    MoeShape c{3, 5, 3, 256, 256, activation};
    for (const std::vector<int32_t> &ids :
         {std::vector<int32_t>(9, 2), // every token to one expert
          std::vector<int32_t>{-1, 0, 5, 4, 4, 4, INT32_MIN, INT32_MAX, 1},
          std::vector<int32_t>(9, -1), std::vector<int32_t>(9, 4)}) {
      GateUpInputs inputs(c, 6, ids);
      Outcome run =
          runEverywhere(tacticOf(c), gateUpProblem(c), inputs.buffers());
      EXPECT_EQ(inputs.check(c, run), "") << activation << ids[0];
    }
  }
}

TEST(MoeGateUp, AgreesWithThePlainLoopToTheBit) {
  MoeShape c{3, 5, 3, 256, 896};
  GateUpInputs inputs(c, 7, {0, 1, 4, -1, 2, 4, 3, 5, 4});
  Outcome plain = runEverywhere("gfx950.moe_gate_up_plain", gateUpProblem(c),
                                inputs.buffers());
  EXPECT_EQ(inputs.check(c, plain), "");
  Outcome ours =
      runEverywhere("gfx950.moe_gate_up", gateUpProblem(c), inputs.buffers());
  EXPECT_EQ(plain.outputs == ours.outputs, true);
}

/// Scales block after block give the bits of scales row after row, and are not
/// taken for those.
TEST(MoeGateUp, ScalesMayBeGroupMajor) {
  for (const char *form : {"", "_grouped"})
    for (const MoeShape &rowMajor :
         {MoeShape{3, 5, 3, 256, 640}, MoeShape{5, 4, 3, 256, 384, "silu"},
          MoeShape{32, 9, 2, 128, 2048}}) {
      MoeShape c = rowMajor;
      c.groupMajor = true;
      GateUpInputs inputs(c, 12);
      inputs.ids[1] = -1;
      inputs.ids[4] = int32_t(c.e);
      std::string tactic = std::string("gfx950.moe_gate_up") + form +
                           (c.activation == "none" ? "" : "_activated");
      Outcome run = runEverywhere(tactic + "_group_major", gateUpProblem(c),
                                  inputs.buffers(true));
      EXPECT_EQ(inputs.check(c, run), "") << c << form;
      RunOptions options;
      options.checks = 0;
      Outcome other =
          runOnce(tactic, gateUpProblem(rowMajor), inputs.buffers(), options);
      EXPECT_EQ(run.outputs == other.outputs, true) << c << form;
      other = runOnce(tactic + "_group_major", gateUpProblem(c),
                      inputs.buffers(), options);
      EXPECT_NE(inputs.check(c, other), "") << c << form;
    }
}

TEST(MoeGateUpCounters, WeightsAreReadOnceWithManyLoadsInFlight) {
  for (const char *activation : {"none", "silu"}) {
    MoeShape c{1, 3, 2, 256, 2048, activation};
    GateUpInputs inputs(c, 8);
    Counters counters =
        countersOf(tacticOf(c), gateUpProblem(c), inputs.buffers());
    uint64_t weights = c.s * c.n * c.k;
    // A wave reads x and its scales, the scales of its tile, one id and six
    // pointers.
    uint64_t perWave = c.k + 4 * c.blocks() + 4 * c.blocks() + 4 + 48;
    EXPECT_EQ(counters.globalLoadBytes, weights + counters.waves * perWave);
    EXPECT_EQ(counters.globalDistinctReadBytes,
              weights + c.k + 4 * c.blocks() +
                  4 * c.s * (c.n / 128) * c.blocks() + 4 * c.s + 48);
    EXPECT_GE(counters.firstWaitBytesPerCu, 64u * 1024) << counters.text();
    EXPECT_LE(counters.maxRoundTrips, 4u); // arguments, id, then two
    EXPECT_EQ(counters.ldsConflictCycles, 0u);
  }
}

TEST(MoeGateUpCounters, SixTenthsOfThePlainLoopsVectorInstructions) {
  MoeShape c{1, 3, 2, 256, 2048};
  GateUpInputs inputs(c, 8);
  uint64_t plain = vectorInstructions(countersOf(
      "gfx950.moe_gate_up_plain", gateUpProblem(c), inputs.buffers()));
  EXPECT_GT(plain, 0u);
  for (const char *activation : {"none", "silu"}) {
    c.activation = activation;
    uint64_t ours = vectorInstructions(
        countersOf(tacticOf(c), gateUpProblem(c), inputs.buffers()));
    EXPECT_LE(10 * ours, 6 * plain) << ours << " against " << plain;
  }
}

TEST(MoeGateUpNegative, WrongKernelsAreNoticed) {
  MoeShape c{2, 4, 3, 256, 1408, "silu"};
  GateUpInputs inputs(c, 9, {0, 2, 3, 1, -1, 3});
  auto check = [&](const Outcome &run) { return inputs.check(c, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(tacticOf(c), gateUpProblem(c), inputs.buffers(),
                   {{"DEPTH", 4}}, {{file, from, to, occurrence}}, check);
  };
  const char *const gate = "moe/gate_up.s", *const moe = "include/moe.inc";
  EXPECT_EQ(wrong(gate, "// The id first", "// The id first, still"), "");
  // Waits removed: of the weights, of the weight scales, of the up tile.
  EXPECT_NE(wrong(gate, "netra_wait_memory (2 *", "netra_wait_memory 63 //")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(gate, "netra_wait_scalar                              // w",
                  "s_nop 0 // w")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(gate, "netra_wait_lds", "s_nop 0").find("wait"),
            std::string::npos);
  // Layout indices: half a weight block, the row of a block, the group.
  EXPECT_NE(wrong(moe, "offset:2048*((\\block)%2)+1024 nt",
                  "offset:2048*((\\block)%2)+512 nt"),
            "");
  EXPECT_NE(wrong(moe, "v_bfe_u32 v[\\v_tmp], v[\\v_lane], 3, 1",
                  "v_bfe_u32 v[\\v_tmp], v[\\v_lane], 2, 1"),
            "");
  EXPECT_NE(
      wrong(moe, ".set \\name, \\name ^ (\\name >> 1)", ".set \\name, \\name"),
      "");
  EXPECT_NE(wrong(gate, "V_D + 5 * gu_i", "V_D + 4 * gu_i"), "");
  // Scales: swapped with the neighbour, dropped, of another expert.
  EXPECT_NE(wrong(gate, "S_SW+(\\b)+gu_i", "S_SW+(\\b)+(gu_i^1)"), "");
  EXPECT_NE(wrong(moe, "v_mul_f32 v[\\v], s[\\s_x_scale], v[\\v]", "s_nop 0"),
            "");
  EXPECT_NE(wrong(moe, "s_mul_i32 s[\\s_dst], s[\\s_expert], (\\rows) / 128",
                  "s_mov_b32 s[\\s_dst], 0"),
            "");
  // The last block dropped; the mask dropped.
  EXPECT_NE(wrong(gate, "gu_batch gu_b, GU_KB-gu_b", "s_nop 0"), "");
  EXPECT_NE(wrong(gate, "s_cmp_ge_u32 s[S_EXPERT], NETRA_E",
                  "s_cmp_ge_i32 s[S_EXPERT], NETRA_E"),
            "");
  // A row that does not exist is read.
  EXPECT_NE(
      wrong(moe, "v_min_u32 v[\\v], (\\count) - 1", "v_min_u32 v[\\v], 15")
          .find("memory"),
      std::string::npos);
}

} // namespace
