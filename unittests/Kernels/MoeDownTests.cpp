//===- MoeDownTests.cpp - gfx950.moe_down_reduce and its forms ------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MoeCases.h"

using namespace kernels;
using netra::sim::Counters;

namespace {

std::string tacticOf(const MoeShape &c) {
  return c.bf16 ? "gfx950.moe_down_reduce_bf16" : "gfx950.moe_down_reduce";
}

MoeShape down(int64_t m, int64_t e, int64_t s, int64_t n, int64_t k,
              bool bf16 = false, bool residual = false) {
  return {m, e, s, n, k, "none", bf16, residual};
}

class MoeDown : public testing::TestWithParam<MoeShape> {};

TEST_P(MoeDown, MatchesOracle) {
  const MoeShape &c = GetParam();
  DownInputs inputs(c, c.m + c.n + c.k);
  Outcome run =
      runEverywhere(tacticOf(c), downReduceProblem(c), inputs.buffers(c));
  EXPECT_EQ(inputs.check(c, run), "");
}

INSTANTIATE_TEST_SUITE_P(
    Small, MoeDown,
    testing::Values(down(1, 3, 2, 128, 128), down(2, 8, 3, 128, 128),
                    down(2, 8, 3, 128, 128, true),
                    down(1, 4, 4, 128, 256, false, true),
                    down(3, 10, 9, 128, 512, false, true),
                    down(2, 10, 9, 128, 512, true), down(32, 5, 3, 128, 256),
                    down(2, 4, 3, 128, 384, true, true),
                    down(1, 9, 8, 128, 768), down(1, 6, 5, 128, 640, true),
                    down(1, 3, 2, 128, 1408)));

TEST(MoeDown, ContractOfTheDeployedKernel) {
  llvm::Expected<netra::Instance> instance = instantiate(
      "gfx950.moe_down_reduce", downReduceProblem(down(1, 257, 9, 2048, 512)));
  ASSERT_TRUE(static_cast<bool>(instance));
  const netra::Contract &contract = instance->contract;
  EXPECT_EQ(contract.kernargBytes, 56u);
  std::vector<std::string> names;
  for (const netra::Argument &argument : contract.arguments) {
    EXPECT_EQ(argument.offset, 8 * names.size());
    names.push_back(argument.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"x", "x_scale", "weight",
                                             "weight_scale", "expert_weights",
                                             "expert_ids", "result"}));
  EXPECT_EQ(contract.grid[0], 128u);
  EXPECT_EQ(contract.block[0], 128u);
  EXPECT_EQ(contract.staticLds, 1024u);
}

TEST(MoeDownEdge, ZeroMaximumAndDenormalCodes) {
  MoeShape c = down(2, 4, 3, 128, 256);
  for (uint8_t code : {0x00, 0x80, 0x01, 0x7e, 0xfe}) {
    DownInputs inputs(c, 2);
    inputs.x.assign(inputs.x.size(), code);
    Outcome run =
        runEverywhere(tacticOf(c), downReduceProblem(c), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << int(code);
  }
  DownInputs inputs(c, 3);
  inputs.x.assign(inputs.x.size(), 0x7e);
  inputs.xScale[1] = 1e20f;
  inputs.route[2] = 0;
  inputs.route[4] = -1e3f;
  Outcome run =
      runEverywhere(tacticOf(c), downReduceProblem(c), inputs.buffers(c));
  EXPECT_EQ(inputs.check(c, run), "");
}

/// An infinite scale of a block of x, and of a weight's.
TEST(MoeDownEdge, InfiniteScales) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const char *form : {"", "_grouped"})
    for (bool groupMajor : {false, true}) {
      MoeShape c = down(4, 5, 3, 256, 384);
      c.groupMajor = groupMajor;
      DownInputs inputs(c, 5, {0, 1, 4, 0, 2, 4, 3, 1, 4, 2, 1, 4});
      inputs.xScale[(0 * 3 + 1) * c.blocks() + 2] = infinity;
      inputs.weight.scale[(3 * 2 + 1) * c.blocks()] = -infinity; // token 2
      Outcome run = runEverywhere(std::string("gfx950.moe_down_reduce") + form +
                                      (groupMajor ? "_group_major" : ""),
                                  downReduceProblem(c), inputs.buffers(c));
      EXPECT_EQ(inputs.check(c, run), "") << c << form;
    }
}

TEST(MoeDownEdge, QuantizesSpecialBf16Values) {
  MoeShape c = down(2, 4, 3, 128, 256, true);
  for (double special : {0.0, -0.0, 1e-39, 1e30, HUGE_VAL, double(NAN)}) {
    DownInputs inputs(c, 4);
    std::vector<uint16_t> x = inputs.xBf16;
    x[300] = oracle::encodeBf16(special); // token 0, slot 1
    if (std::fabs(special) < 1)
      std::fill(x.begin() + 256, x.begin() + 384, oracle::encodeBf16(special));
    inputs.setBf16(x);
    Outcome run =
        runEverywhere(tacticOf(c), downReduceProblem(c), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << special;
  }
}

TEST(MoeDownEdge, NotANumberStaysInItsTokenAndColumn) {
  MoeShape c = down(3, 5, 3, 128, 256);
  DownInputs inputs(c, 4, {0, 1, 4, 0, 2, 4, 3, 1, 4});
  inputs.x[(1 * 3 + 2) * c.k + 200] = 0x7f;      // token 1
  inputs.weight.rows[3][7 * c.k + 30] = 0xff;    // token 2's first, row 7
  inputs.weight.rows[0][100 * c.k + 130] = 0x7f; // tokens 0 and 1, row 100
  Outcome run =
      runEverywhere(tacticOf(c), downReduceProblem(c), inputs.buffers(c));
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  for (int64_t m = 0; m < c.m; ++m)
    for (int64_t n = 0; n < c.n; ++n)
      EXPECT_EQ(oracle::isNanBf16(y[m * c.n + n]),
                m == 1 || (m == 2 && n == 7) || (m == 0 && n == 100))
          << m << " " << n;
}

TEST(MoeDownAdversarial, IdsEqualOutOfRangeOrUnused) {
  for (bool bf16 : {false, true}) {
    MoeShape c = down(3, 5, 3, 128, 256, bf16, true);
    for (const std::vector<int32_t> &ids :
         {std::vector<int32_t>(9, 2), // every token to one expert
          std::vector<int32_t>{-1, 0, 5, 4, 4, 4, INT32_MIN, INT32_MAX, 1},
          std::vector<int32_t>{0, -1, 1, -1, -1, 3, 2, 2, -7},
          std::vector<int32_t>(9, -1)}) {
      DownInputs inputs(c, 6, ids);
      // What a slot without an expert has is never looked at.
      for (size_t row = 0; row != ids.size(); ++row)
        if (!inputs.weight.rows.count(ids[row])) {
          inputs.route[row] = std::numeric_limits<float>::quiet_NaN();
          if (!bf16)
            std::fill_n(inputs.x.begin() + row * c.k, c.k, 0x7f);
        }
      Outcome run =
          runEverywhere(tacticOf(c), downReduceProblem(c), inputs.buffers(c));
      EXPECT_EQ(inputs.check(c, run), "") << bf16 << ids[0];
    }
  }
}

/// A slot without an expert asks for expert 0's weights, which exist whatever E
/// is, and makes nothing of them: here they are no numbers.
TEST(MoeDownAdversarial, ASlotWithoutAnExpertUsesNothingOfExpertZero) {
  for (bool bf16 : {false, true}) {
    MoeShape c = down(1, 3, 3, 128, 256, bf16);
    DownInputs inputs(c, 6, {-1, 2, 3});
    ASSERT_FALSE(inputs.weight.rows.count(0));
    Outcome run =
        runEverywhere(tacticOf(c), downReduceProblem(c), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << bf16;
    // Both are read: expert 0 in place of the missing ones, and expert 2.
    EXPECT_GE(run.counters.globalDistinctReadBytes, uint64_t(2 * c.n * c.k));
    MoeShape only = down(1, 1, 2, 128, 256, bf16);
    DownInputs nothing(only, 6, {7, -1});
    run = runEverywhere(tacticOf(only), downReduceProblem(only),
                        nothing.buffers(only));
    EXPECT_EQ(nothing.check(only, run), "") << bf16;
  }
}

TEST(MoeDown, AgreesWithThePlainLoopToTheBit) {
  for (bool bf16 : {false, true}) {
    MoeShape c = down(2, 6, 5, 128, 384, bf16);
    DownInputs inputs(c, 7, {0, 1, -1, 2, 5, 3, 9, 4, 4, 5});
    Outcome plain = runEverywhere(tacticOf(c) + "_plain", downReduceProblem(c),
                                  inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, plain), "") << bf16;
    Outcome ours =
        runEverywhere(tacticOf(c), downReduceProblem(c), inputs.buffers(c));
    EXPECT_EQ(plain.outputs == ours.outputs, true) << bf16;
  }
}

/// Scales block after block give the bits of scales row after row, are not
/// taken for those, and have tactics of their own.
TEST(MoeDown, ScalesMayBeGroupMajor) {
  for (const char *form : {"", "_grouped"})
    for (const MoeShape &rowMajor :
         {down(3, 6, 3, 128, 640, false, true), down(2, 4, 2, 128, 128),
          down(5, 12, 9, 128, 512), down(17, 9, 2, 128, 896)}) {
      MoeShape c = rowMajor;
      c.groupMajor = true;
      DownInputs inputs(c, 12);
      inputs.ids[1] = -1;
      inputs.ids[2] = int32_t(c.e);
      std::string tactic = std::string("gfx950.moe_down_reduce") + form;
      Outcome run = runEverywhere(tactic + "_group_major", downReduceProblem(c),
                                  inputs.buffers(c));
      EXPECT_EQ(inputs.check(c, run), "") << c << form;
      RunOptions options;
      options.checks = 0;
      Outcome other = runOnce(tactic, downReduceProblem(rowMajor),
                              inputs.buffers(rowMajor), options);
      EXPECT_EQ(run.outputs == other.outputs, true) << c << form;
      other = runOnce(tactic + "_group_major", downReduceProblem(c),
                      inputs.buffers(rowMajor), options);
      EXPECT_EQ(inputs.check(c, other) == "", c.blocks() == 1) << c << form;
    }
  for (int64_t m : {1, 2, 32}) {
    MoeShape c = down(m, 257, 9, 2048, 512);
    c.groupMajor = true;
    netra::Selection selection = catalog().select(downReduceProblem(c));
    ASSERT_TRUE(selection.winner.has_value()) << selection.reason;
    EXPECT_EQ(selection.winner->tactic->name,
              m == 1 ? "gfx950.moe_down_reduce_group_major"
                     : "gfx950.moe_down_reduce_grouped_group_major");
  }
}

TEST(MoeDownNegative, WrongGroupMajorKernelsAreNoticed) {
  MoeShape c = down(3, 6, 5, 128, 384);
  c.groupMajor = true;
  DownInputs inputs(c, 9);
  auto wrong = [&](const char *form, const char *from, const char *to) {
    std::string name = std::string("down_reduce") + form;
    return noticed("gfx950.moe_" + name + "_group_major", downReduceProblem(c),
                   inputs.buffers(c), {}, {{"moe/" + name + ".s", from, to}},
                   [&](const Outcome &run) { return inputs.check(c, run); });
  };
  for (const char *form : {"", "_grouped"})
    EXPECT_EQ(wrong(form, "// Arithmetic.", "// The arithmetic."), "");
  // Blocks as far apart as slots, tokens as far as rows, the slot left out.
  EXPECT_NE(wrong("", "NETRA_S*(dn_i%DN_KB)", "2*(dn_i%DN_KB)"), "");
  EXPECT_NE(wrong("", "s3, NETRA_S * (DN_KB - 1)", "s3, DN_KB - 1"), "");
  EXPECT_NE(wrong("", "+dn_i/DN_KB)", ")"), "");
  EXPECT_NE(wrong("_grouped", "offset:4*NETRA_S*dg_i", "offset:4*dg_i"), "");
  EXPECT_NE(wrong("_grouped", "4 * NETRA_S * (DG_KB - 1)", "4 * (DG_KB - 1)"),
            "");
  EXPECT_NE(wrong("_grouped", "v_add_u32 v[V_T0], v[V_T0], v[V_T1]\n    .set",
                  "v_mov_b32 v[V_T0], v[V_T1]\n    .set"),
            "");
}

TEST(MoeDown, TheResultMayTakeTheResidualsPlace) {
  MoeShape c = down(2, 4, 3, 128, 256, false, true);
  expectSameInPlace(tacticOf(c), downReduceProblem(c),
                    DownInputs(c, 9).buffers(c), "result", "residual");
}

/// Three launches, with scales in either order, against two: the same bits.
void expectSameChain(int64_t m, int64_t e, int64_t s, int64_t hidden,
                     int64_t inter, const std::string &activation,
                     const std::vector<int32_t> &ids = {}) {
  MoeShape up{m, e, s, 2 * inter, hidden, "none"};
  GateUpInputs gate(up, 21, ids);
  MoeShape last = down(m, e, s, hidden, inter);
  DownInputs after(last, 22, gate.ids);
  auto launch = [](const std::string &tactic, const netra::Problem &problem,
                   const Buffers &inputs) -> Buffers {
    llvm::Expected<Kernel> kernel = build(tactic, problem);
    if (!kernel) {
      ADD_FAILURE() << llvm::toString(kernel.takeError());
      return {};
    }
    llvm::Expected<Outcome> once = run(*kernel, inputs);
    if (!once) {
      ADD_FAILURE() << llvm::toString(once.takeError());
      return {};
    }
    EXPECT_TRUE(once->findings.empty()) << once->findingsText();
    return once->outputs;
  };
  Buffers inputs = after.buffers(last);
  Buffers sums =
      launch("gfx950.moe_gate_up", gateUpProblem(up), gate.buffers());
  Buffers three, other;
  for (const std::string order : {"", "_group_major"}) {
    last.groupMajor = !order.empty();
    Buffers codes =
        launch("gfx950.moe_activation" + order,
               moeActivationProblem(m, s, inter, activation, last.groupMajor),
               {{"x", sums["result"]}});
    inputs["x"] = codes["result"];
    inputs["x_scale"] = codes["result_scale"];
    (last.groupMajor ? other : three) = launch("gfx950.moe_down_reduce" + order,
                                               downReduceProblem(last), inputs);
  }
  EXPECT_EQ(three["result"] == other["result"], true);

  last.groupMajor = false;
  up.activation = activation;
  last.bf16 = true;
  Buffers h =
      launch("gfx950.moe_gate_up_activated", gateUpProblem(up), gate.buffers());
  inputs["x"] = h["result"];
  inputs.erase("x_scale");
  Buffers two =
      launch("gfx950.moe_down_reduce_bf16", downReduceProblem(last), inputs);
  EXPECT_EQ(three["result"] == two["result"], true);

  // And the chain against the oracle: h is what the second launch was given.
  after.setBf16(fromBytes<uint16_t>(h["result"]));
  Outcome outcome;
  outcome.outputs = two;
  EXPECT_EQ(after.check(last, outcome), "");
}

TEST(MoeChain, TwoLaunchesGiveTheBitsOfThree) {
  expectSameChain(2, 5, 3, 256, 128, "silu", {0, 4, -1, 2, 2, 5});
  expectSameChain(3, 9, 4, 384, 256, "gelu_tanh");
}

/// The sizes of the 35B model, one expert more than the token has.
TEST(MoeChain, RealSizes) { expectSameChain(1, 10, 9, 2048, 512, "silu"); }

TEST(MoeDownCounters, WeightsAreReadOnceWithManyLoadsInFlight) {
  for (bool bf16 : {false, true}) {
    MoeShape c = down(1, 10, 9, 256, 512, bf16);
    DownInputs inputs(c, 8);
    Counters counters =
        countersOf(tacticOf(c), downReduceProblem(c), inputs.buffers(c));
    uint64_t weights = c.s * c.n * c.k, slotScales = 4 * c.s * c.blocks();
    uint64_t x = c.s * c.k * (bf16 ? 2 : 1) + (bf16 ? 0 : slotScales);
    uint64_t pointers = bf16 ? 48 : 56;
    // Per work-group: the activations, ids and weights of the slots, and the
    // scales of the tile; the rows of the first wave's second set that do not
    // exist are loaded in place of the last one.
    uint64_t repeated = 12 * 128 * (bf16 ? 2 : 1);
    EXPECT_EQ(counters.globalLoadBytes,
              weights +
                  counters.workgroups * (x + repeated + slotScales + 8 * c.s) +
                  counters.waves * pointers);
    EXPECT_EQ(counters.globalDistinctReadBytes,
              weights + x + slotScales * (c.n / 128) + 8 * c.s + pointers);
    EXPECT_GE(counters.firstWaitBytesPerCu, 64u * 1024) << counters.text();
    EXPECT_LE(counters.maxRoundTrips, 4u); // arguments, ids, then two
    EXPECT_LE(counters.ldsConflictCycles * 50, counters.ldsAccesses);
  }
}

TEST(MoeDownCounters, HalfOfThePlainLoopsVectorInstructions) {
  for (bool bf16 : {false, true}) {
    MoeShape c = down(1, 10, 9, 256, 512, bf16);
    DownInputs inputs(c, 8);
    uint64_t ours = vectorInstructions(
        countersOf(tacticOf(c), downReduceProblem(c), inputs.buffers(c)));
    uint64_t plain = vectorInstructions(countersOf(
        tacticOf(c) + "_plain", downReduceProblem(c), inputs.buffers(c)));
    EXPECT_GT(plain, 0u);
    EXPECT_LE(2 * ours, plain) << ours << " against " << plain;
  }
}

TEST(MoeDownNegative, WrongKernelsAreNoticed) {
  MoeShape c = down(2, 6, 7, 128, 384, false, true);
  DownInputs inputs(c, 9, {0, 2, 3, 1, -1, 3, 5, 1, 1, 9, 4, 2, 0, 5});
  auto check = [&](const Outcome &run) { return inputs.check(c, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(tacticOf(c), downReduceProblem(c), inputs.buffers(c), {},
                   {{file, from, to, occurrence}}, check);
  };
  const char *const file = "moe/down_reduce.s", *const moe = "include/moe.inc";
  EXPECT_EQ(wrong(file, "// Result and residual", "// The result"), "");
  // Waits and barriers removed.
  EXPECT_NE(wrong(file, "netra_wait_memory (2 * ((\\c) - 1 - dn_i))",
                  "netra_wait_memory 63")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(file, "netra_wait_lds", "s_nop 0").find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(file, "netra_barrier", "s_nop 0", 0).find("race"),
            std::string::npos);
  EXPECT_NE(wrong(file, "netra_mfma_settle_8_passes dn_passed", "s_nop 0 //")
                .find("hazard"),
            std::string::npos);
  // Layout and order.
  EXPECT_NE(wrong(moe, "offset:2048*(\\set)+64", "offset:2048*(\\set)+32"), "");
  EXPECT_NE(wrong(file, "V_D + 5 * (dn_j", "V_D + 4 * (dn_j"), "");
  EXPECT_NE(wrong(moe, "s_lshr_b32 s[\\s_dst+1], s[\\s_index], 3",
                  "s_lshr_b32 s[\\s_dst+1], s[\\s_index], 2"),
            "");
  // Scales and weights of the slots.
  EXPECT_NE(wrong(file, "S_SX+dn_j", "S_SX+(dn_j^1)"), "");
  EXPECT_NE(wrong(file, "s[S_ROUTE+dn_j/DN_KB], v[dn_d]", "1.0, v[dn_d]"), "");
  EXPECT_NE(wrong(file, "s_mul_i32 s[S_TMP], s[S_WAVE], DN_SLOTS",
                  "s_mov_b32 s[S_TMP], 0"),
            "");
  // A masked slot, the second wave's last product, the residual.
  EXPECT_NE(wrong(file, "s_cbranch_scc1 .Ldn_masked\\@", "s_nop 0"), "");
  EXPECT_NE(wrong(file, ".rept DN_C1\n", ".rept DN_C1 - 1\n"), "");
  EXPECT_NE(
      wrong(file, "v_add_f32 v[V_ACC], v[V_ACC], v[V_RESIDUAL]", "s_nop 0"),
      "");
}

} // namespace
