//===- RmsNormTests.cpp - gfx950.rms_norm_bf16, also quantized ------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "NormTesting.h"

using namespace kernels;

namespace {

struct NormCase {
  int64_t m, n;
  bool residual = false, quantized = false;
  double weightOffset = 0;
  double epsilon = 1e-6;
  bool weightF32 = false, rounded = false, groupMajor = false;

  std::string tactic() const {
    if (groupMajor)
      return "gfx950.rms_norm_bf16_quantized_group_major";
    return quantized ? "gfx950.rms_norm_bf16_quantized"
                     : "gfx950.rms_norm_bf16";
  }
  NormForm form() const {
    return {.residual = residual,
            .quantized = quantized,
            .weightF32 = weightF32,
            .rounded = rounded,
            .groupMajor = groupMajor};
  }
  netra::Problem problem() const {
    return withForm(
        rmsNormProblem(m, n, residual, quantized, epsilon, weightOffset),
        form());
  }
  Buffers random(uint64_t seed) const {
    Random random(seed);
    Buffers inputs;
    inputs["x"] = toBytes(random.bf16(m * n));
    inputs["weight"] = randomWeight(random, n, weightF32);
    if (residual)
      inputs["residual"] = toBytes(random.bf16(m * n));
    return inputs;
  }
  std::string check(const Buffers &inputs, const Outcome &run) const {
    if (run.outputs.empty())
      return "no result";
    std::vector<uint16_t> x = fromBytes<uint16_t>(inputs.at("x"));
    std::vector<uint16_t> r;
    if (residual)
      r = fromBytes<uint16_t>(inputs.at("residual"));
    oracle::Norm norm =
        oracle::rmsNorm(x.data(), residual ? r.data() : nullptr,
                        weightValues(inputs.at("weight"), weightF32), m, n,
                        static_cast<float>(epsilon), weightOffset);
    std::string text;
    if (residual)
      text = checkBf16(run.outputs.at("sum"), norm.sum);
    return text + checkNormResult(form(), m, run, norm.result);
  }
};

std::ostream &operator<<(std::ostream &os, const NormCase &c) {
  return os << c.m << "x" << c.n << (c.residual ? " residual" : "")
            << (c.quantized ? " quantized" : "") << " +" << c.weightOffset
            << (c.weightF32 ? " f32" : "") << (c.rounded ? " rounded" : "")
            << (c.groupMajor ? " group major" : "");
}

class RmsNorm : public testing::TestWithParam<NormCase> {};

TEST_P(RmsNorm, MatchesOracle) {
  const NormCase &c = GetParam();
  Buffers inputs = c.random(c.m + c.n);
  Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
  EXPECT_EQ(c.check(inputs, run), "");
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, RmsNorm,
    testing::Values(NormCase{1, 2048}, NormCase{1, 2048, true},
                    NormCase{1, 2048, true, true}, NormCase{3, 256},
                    NormCase{3, 256, true, true, 1}, NormCase{2, 512},
                    NormCase{2, 768, true, false, 1}, NormCase{2, 1024, true},
                    NormCase{2, 1280, false, true},
                    NormCase{2, 5120, true, true, 1}, NormCase{2, 5632, true},
                    NormCase{2, 7936, true, true}, NormCase{2, 7936, true},
                    NormCase{16, 8192, true, true},
                    NormCase{5, 8192, false, false, 1, 1e-5},
                    NormCase{17, 4096, true}));

INSTANTIATE_TEST_SUITE_P(
    Forms, RmsNorm,
    testing::Values(
        NormCase{5, 128}, NormCase{5, 128, true, true, 1},
        NormCase{.m = 3, .n = 128, .weightF32 = true},
        NormCase{.m = 3,
                 .n = 128,
                 .residual = true,
                 .quantized = true,
                 .weightF32 = true,
                 .rounded = true,
                 .groupMajor = true},
        NormCase{.m = 3,
                 .n = 1280,
                 .residual = true,
                 .quantized = true,
                 .weightF32 = true,
                 .rounded = true},
        NormCase{.m = 3,
                 .n = 2048,
                 .residual = true,
                 .quantized = true,
                 .weightOffset = 1,
                 .rounded = true,
                 .groupMajor = true},
        NormCase{.m = 2, .n = 2048, .weightF32 = true},
        NormCase{.m = 2, .n = 3328, .quantized = true, .groupMajor = true},
        NormCase{.m = 2,
                 .n = 5120,
                 .residual = true,
                 .quantized = true,
                 .weightOffset = 1,
                 .weightF32 = true,
                 .groupMajor = true},
        NormCase{.m = 2,
                 .n = 17408,
                 .residual = true,
                 .quantized = true,
                 .rounded = true,
                 .groupMajor = true},
        NormCase{.m = 2, .n = 17408, .weightF32 = true},
        NormCase{.m = 1,
                 .n = 32768,
                 .residual = true,
                 .quantized = true,
                 .weightF32 = true,
                 .rounded = true}));

// Every width there must be, in all forms by turns: with and without residual,
// weights of both types, quantized or not, scales in both orders.
TEST(RmsNorm, EveryWidth) {
  unsigned turn = 0;
  for (int64_t n : normWidths())
    for (bool quantized : {false, true}) {
      NormCase c{.m = 2,
                 .n = n,
                 .residual = turn % 3 != 0,
                 .quantized = quantized,
                 .weightOffset = double(turn % 2),
                 .weightF32 = turn % 5 < 2};
      c.groupMajor = quantized && turn / 2 % 2;
      c.rounded = quantized && turn % 7 < 3;
      ++turn;
      Buffers inputs = c.random(turn);
      Outcome run = runOnce(c.tactic(), c.problem(), inputs, {});
      EXPECT_EQ(run.findingsText(), "") << c;
      EXPECT_EQ(c.check(inputs, run), "") << c;
      netra::Selection selection = catalog().select(c.problem());
      ASSERT_TRUE(selection.winner.has_value()) << c << selection.reason;
      EXPECT_EQ(selection.winner->tactic->name, c.tactic()) << c;
    }
}

TEST(RmsNorm, OneCodeObjectForAllNumbersOfRows) {
  for (bool groupMajor : {false, true}) {
    NormCase few{.m = 1,
                 .n = 2048,
                 .residual = true,
                 .quantized = true,
                 .groupMajor = groupMajor};
    NormCase many = few;
    many.m = 4711;
    expectOneCodeObject(few.tactic(), few.problem(), many.problem());
  }
}

TEST(RmsNormQuantized, EqualsTheNormFollowedByTheQuantization) {
  NormCase plain{4, 2048, true, false}, fused{4, 2048, true, true};
  Buffers inputs = plain.random(1);
  Outcome first = runEverywhere(plain.tactic(), plain.problem(), inputs);
  Outcome second =
      runEverywhere("gfx950.quantize_blocks_bf16", quantizeProblem(4, 2048),
                    {{"x", first.outputs["result"]}});
  Outcome both = runEverywhere(fused.tactic(), fused.problem(), inputs);
  EXPECT_EQ(both.outputs["result"], second.outputs["result"]);
  EXPECT_EQ(both.outputs["result_scale"], second.outputs["result_scale"]);
  EXPECT_EQ(both.outputs["sum"], first.outputs["sum"]);
}

TEST(RmsNorm, TheSumNeedNotBeStored) {
  for (bool quantized : {false, true}) {
    NormCase c{3, 7936, true, quantized};
    Buffers inputs = c.random(5);
    Outcome stored = runEverywhere(c.tactic(), c.problem(), inputs);
    EXPECT_EQ(c.check(inputs, stored), "");
    netra::Problem problem = c.problem();
    std::erase_if(problem.operands, [](const netra::OperandSpec &operand) {
      return operand.role == "sum";
    });
    Outcome run = runEverywhere(c.tactic(), problem, inputs);
    EXPECT_EQ(run.outputs.count("sum"), 0u);
    EXPECT_EQ(run.outputs["result"], stored.outputs["result"]);
    EXPECT_EQ(run.outputs["result_scale"], stored.outputs["result_scale"]);
  }
}

TEST(RmsNorm, TheSumMayTakeTheInputsPlace) {
  for (bool quantized : {false, true})
    for (const char *input : {"x", "residual"}) {
      NormCase c{3, 7936, true, quantized};
      expectSameInPlace(c.tactic(), c.problem(), c.random(6), "sum", input);
    }
}

TEST(RmsNormEdge, SpecialInputs) {
  for (bool quantized : {false, true}) {
    NormCase c{2, 512, true, quantized};
    Buffers inputs = c.random(2);
    // All zero, negative zero, denormals, large and small magnitudes.
    for (uint16_t code : {0x0000, 0x8000, 0x0001, 0x5c00, 0x2000}) {
      inputs["x"] = toBytes(std::vector<uint16_t>(c.m * c.n, code));
      inputs["residual"] = inputs["x"];
      Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
      EXPECT_EQ(c.check(inputs, run), "") << code;
    }
    // One huge value whose square is still finite.
    std::vector<uint16_t> x(c.m * c.n, 0);
    x[300] = oracle::encodeBf16(1e18);
    inputs["x"] = toBytes(x);
    Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
    EXPECT_EQ(c.check(inputs, run), "");
  }
}

TEST(RmsNormEdge, OverflowAndNotANumberAreWhatTheContractSays) {
  NormCase c{3, 256};
  Buffers inputs = c.random(3);
  std::vector<uint16_t> x = fromBytes<uint16_t>(inputs["x"]);
  x[10] =
      oracle::encodeBf16(1e30); // row 0: the square overflows, row becomes 0
  x[c.n + 20] = 0x7fc0;         // row 1: NaN
  inputs["x"] = toBytes(x);
  Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  ASSERT_EQ(y.size(), size_t(c.m * c.n));
  for (int64_t i = 0; i < c.n; ++i) {
    EXPECT_EQ(y[i] & 0x7fff, 0) << i;
    EXPECT_TRUE(oracle::isNanBf16(y[c.n + i])) << i;
    EXPECT_FALSE(oracle::isNanBf16(y[2 * c.n + i])) << i;
  }
}

/// An infinite element makes the row's others zeros and is no number itself;
/// NaN takes the row; an infinite weight makes its column infinite, and there,
/// of the quantized forms, its group. The oracle's arithmetic knows all that.
void expectInfinityAndNotANumber(const NormCase &row, const char *tactic) {
  NormCase c = row;
  c.m = 6;
  Buffers inputs = c.random(8);
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<uint16_t> x = fromBytes<uint16_t>(inputs["x"]);
  x[10] = oracle::encodeBf16(infinity);
  x[c.n + c.n - 1] = oracle::encodeBf16(-infinity);
  x[2 * c.n + 20] = 0x7fc0;
  x[3 * c.n + 30] = 0xffff;
  if (c.residual) { // their difference is NaN; an infinity of its own
    std::vector<uint16_t> residual = fromBytes<uint16_t>(inputs["residual"]);
    residual[10] = oracle::encodeBf16(-infinity);
    residual[4 * c.n + 50] = oracle::encodeBf16(-infinity);
    inputs["residual"] = toBytes(residual);
  }
  inputs["x"] = toBytes(x);
  Outcome run = runEverywhere(tactic, c.problem(), inputs);
  EXPECT_EQ(c.check(inputs, run), "") << c;
  for (double value : {infinity, -infinity, std::nan("")}) {
    if (c.weightF32) {
      std::vector<float> weight = fromBytes<float>(inputs["weight"]);
      weight[100] = float(value);
      inputs["weight"] = toBytes(weight);
    } else {
      std::vector<uint16_t> weight = fromBytes<uint16_t>(inputs["weight"]);
      weight[100] = oracle::encodeBf16(value);
      inputs["weight"] = toBytes(weight);
    }
    run = runEverywhere(tactic, c.problem(), inputs);
    EXPECT_EQ(c.check(inputs, run), "") << c << " weight " << value;
  }
}

TEST(RmsNormEdge, InfinityAndNotANumberInEveryForm) {
  for (bool residual : {false, true})
    for (bool weightF32 : {false, true}) {
      NormCase c{.m = 6,
                 .n = 512,
                 .residual = residual,
                 .weightOffset = double(residual == weightF32),
                 .weightF32 = weightF32};
      expectInfinityAndNotANumber(c, "gfx950.rms_norm_bf16");
      c.quantized = true;
      expectInfinityAndNotANumber(c, "gfx950.rms_norm_bf16_quantized");
      c.groupMajor = c.rounded = true;
      expectInfinityAndNotANumber(c,
                                  "gfx950.rms_norm_bf16_quantized_group_major");
    }
}

TEST(AddRmsNormContract, InfinityAndNotANumber) {
  expectInfinityAndNotANumber({.m = 6,
                               .n = 5120,
                               .residual = true,
                               .quantized = true,
                               .weightOffset = 1,
                               .rounded = true,
                               .groupMajor = true},
                              "gfx950.add_rms_norm_group_quant_n5120");
}

TEST(AddRmsNormContract, MatchesOracle) {
  for (bool weightF32 : {false, true}) {
    NormCase c{.m = 3,
               .n = 5120,
               .residual = true,
               .quantized = true,
               .weightOffset = 1,
               .weightF32 = weightF32,
               .rounded = true,
               .groupMajor = true};
    Buffers inputs = c.random(7);
    Outcome run = runEverywhere("gfx950.add_rms_norm_group_quant_n5120",
                                c.problem(), inputs);
    EXPECT_EQ(c.check(inputs, run), "");
  }
}

/// The strides that the contract's arguments are for: rows of input and
/// residual further apart than they are wide, by different distances. Nobody
/// wrote what lies between.
TEST(AddRmsNormContract, RowsMayBeApart) {
  const char *const name = "gfx950.add_rms_norm_group_quant_n5120";
  NormCase c{.m = 5,
             .n = 5120,
             .residual = true,
             .quantized = true,
             .weightOffset = 1,
             .rounded = true,
             .groupMajor = true};
  Buffers inputs = c.random(9);
  const int64_t in = 5128, residual = 10240;
  auto runApart = [&](const std::vector<Mutation> &mutations) {
    llvm::Expected<Kernel> kernel = build(name, c.problem(), {}, mutations);
    if (!kernel)
      return llvm::toString(kernel.takeError());
    setArgument(*kernel, "in_stride", in);
    setArgument(*kernel, "res_stride", residual);
    setShape(*kernel, "x", {(c.m - 1) * in + c.n});
    setShape(*kernel, "residual", {(c.m - 1) * residual + c.n});
    RunOptions options;
    options.pieces["x"] = apart(inputs["x"], 2 * c.n, 2 * in);
    options.pieces["residual"] =
        apart(inputs["residual"], 2 * c.n, 2 * residual);
    llvm::Expected<Outcome> once =
        run(*kernel, {{"weight", inputs["weight"]}}, options);
    if (!once)
      return llvm::toString(once.takeError());
    return once->findingsText() + c.check(inputs, *once);
  };
  EXPECT_EQ(runApart({}), "");
  const char *const file = "norm/add_rms_norm_group_quant.s";
  for (const char *to : {"norm_rows 2*NETRA_N, s[S_STRIDES+1]",
                         "norm_rows s[S_STRIDES], 2*NETRA_N",
                         "norm_rows s[S_STRIDES+1], s[S_STRIDES]"})
    EXPECT_NE(runApart({{file, "norm_rows s[S_STRIDES], s[S_STRIDES+1]", to}}),
              "")
        << to;
}

TEST(AddRmsNormContract, ArgumentsAndLaunch) {
  NormCase c{.m = 8,
             .n = 5120,
             .residual = true,
             .quantized = true,
             .weightOffset = 1,
             .rounded = true,
             .groupMajor = true};
  llvm::Expected<netra::Instance> instance =
      instantiate("gfx950.add_rms_norm_group_quant_n5120", c.problem());
  ASSERT_TRUE(bool(instance)) << llvm::toString(instance.takeError());
  const netra::Contract &contract = instance->contract;
  EXPECT_EQ(contract.kernargBytes, 96u);
  EXPECT_EQ(contract.grid[0], 8u);
  EXPECT_EQ(contract.block[0], 1024u);
  EXPECT_EQ(contract.staticLds, 0u);
  EXPECT_EQ(contract.dynamicLds, 256u);
  const std::pair<const char *, unsigned> expected[] = {
      {"input", 0},      {"residual", 8},      {"weight", 16},
      {"out", 24},       {"residual_out", 32}, {"out_fp8", 40},
      {"out_scale", 48}, {"rows", 56},         {"cols", 60},
      {"in_stride", 64}, {"res_stride", 68},   {"epsilon", 72},
      {"inv448", 76},    {"hidden0", 80},      {"hidden1", 88}};
  ASSERT_EQ(contract.arguments.size(), std::size(expected));
  for (size_t i = 0; i != std::size(expected); ++i) {
    EXPECT_EQ(contract.arguments[i].name, expected[i].first);
    EXPECT_EQ(contract.arguments[i].offset, expected[i].second);
  }
  EXPECT_EQ(contract.arguments[11].bits, 0x358637bdu);
  EXPECT_EQ(contract.arguments[12].bits, 0x3b124925u);
}

// The contract's form is there for code that brings the contract's arguments.
// For the same problem the compiler takes the tactic of its own, whose bits are
// the same: it has no strides to multiply by and less than half the arguments.
TEST(AddRmsNormContract, LosesToTheTacticWithFewerArguments) {
  const char *const name = "gfx950.add_rms_norm_group_quant_n5120";
  for (bool weightF32 : {false, true}) {
    NormCase c{.m = 3,
               .n = 5120,
               .residual = true,
               .quantized = true,
               .weightOffset = 1,
               .weightF32 = weightF32,
               .rounded = true,
               .groupMajor = true};
    expectContractLoses(name, c.tactic(), c.problem(), c.random(8));
  }
}

TEST(RmsNormCounters, EachByteMovesOnce) {
  NormCase c{4, 2048, true};
  Outcome run = runEverywhere(c.tactic(), c.problem(), c.random(4));
  uint64_t row = 2 * c.n;
  // x, residual and weight of each row; five pointers of each wave.
  EXPECT_EQ(run.counters.globalLoadBytes,
            c.m * 3 * row + run.counters.waves * 40);
  EXPECT_EQ(run.counters.globalDistinctReadBytes, c.m * 2 * row + row + 40);
  EXPECT_EQ(run.counters.globalStoreBytes, c.m * 2 * row);
  EXPECT_EQ(run.counters.globalDistinctWrittenBytes, c.m * 2 * row);
  EXPECT_LE(run.counters.maxRoundTrips, 2u);
}

TEST(RmsNormNegative, WrongKernelsAreNoticed) {
  NormCase c{3, 1280, true, true};
  Buffers inputs = c.random(5);
  auto check = [&](const Outcome &run) { return c.check(inputs, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(c.tactic(), c.problem(), inputs, {},
                   {{file, from, to, occurrence}}, check);
  };
  const char *const norm = "include/norm.inc";
  EXPECT_EQ(wrong(norm, "// Netra", "// The Netra"), "");
  EXPECT_NE(
      wrong(norm, "netra_wait_memory ((NORM_ITERS", "netra_wait_memory 63 //")
          .find("wait"),
      std::string::npos);
  EXPECT_NE(wrong("include/reduce.inc", "    netra_barrier\n", ""), "");
  // Layout: the scale's group, the row of x.
  EXPECT_NE(wrong(norm, "v_lshrrev_b32 v[V_T2], 8", "v_lshrrev_b32 v[V_T2], 9"),
            "");
  EXPECT_NE(wrong("norm/rms_norm.s", "norm_rows 2*NETRA_N, 2",
                  "norm_rows NETRA_N, 2"),
            "");
  // The scale dropped from the codes, the group maximum over half a group, the
  // mean over too few columns, a wave's share dropped.
  EXPECT_NE(wrong(norm, "netra_store_codes norm_v, NETRA_VEC, V_T1",
                  "netra_store_codes norm_v, NETRA_VEC, V_T0"),
            "");
  EXPECT_NE(
      wrong("include/rows.inc", "netra_row32_join v_max_f32", "s_nop 0 //"),
      "");
  EXPECT_NE(wrong(norm, "v_mov_b32 v[V_INV_N], NETRA_N",
                  "v_mov_b32 v[V_INV_N], NETRA_N-256"),
            "");
  EXPECT_NE(wrong(norm, "s_cmp_lt_u32 s[S_WAVE], NORM_RAGGED",
                  "s_cmp_lt_u32 s[S_WAVE], NORM_RAGGED-1"),
            "");
}

} // namespace
