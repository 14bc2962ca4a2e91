//===- GatedNormTests.cpp - gfx950.gated_rms_norm_bf16 and its forms ------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "NormTesting.h"

using namespace kernels;

namespace {

struct GatedNormCase {
  int64_t m, heads, n;
  NormForm form = {};
  double weightOffset = 0;
  std::string activation = "silu";
  Options options = {};
  bool contract = false;

  std::string tactic() const {
    if (contract)
      return "gfx950.gated_rms_norm_group_quant_d128";
    return std::string("gfx950.gated_rms_norm_") + (n > 512 ? "rows_" : "") +
           "bf16" + (form.quantized ? "_quantized" : "") +
           (form.groupMajor ? "_group_major" : "");
  }
  netra::Problem problem() const {
    return gatedRmsNormProblem(m, heads, n, form, weightOffset, activation);
  }
  Buffers random(uint64_t seed) const {
    Random random(seed);
    return {{"x", toBytes(random.bf16(m * heads * n))},
            {"gate", toBytes(random.bf16(m * heads * n, 3))},
            {"weight", randomWeight(random, n, form.weightF32)}};
  }
  std::string check(const Buffers &inputs, const Outcome &run) const {
    std::vector<uint16_t> x = fromBytes<uint16_t>(inputs.at("x"));
    std::vector<uint16_t> gate = fromBytes<uint16_t>(inputs.at("gate"));
    std::vector<double> weight =
        weightValues(inputs.at("weight"), form.weightF32);
    oracle::Norm norm = oracle::rmsNorm(x.data(), nullptr, weight, m * heads, n,
                                        1e-6f, weightOffset);
    oracle::Function function = activation == "silu"
                                    ? oracle::Function::Silu
                                    : oracle::Function::Sigmoid;
    for (size_t i = 0; i != norm.result.size(); ++i)
      norm.result[i] =
          norm.result[i] *
          apply(function, oracle::Value{oracle::decodeBf16(gate[i]), 0});
    return checkNormResult(form, m, run, norm.result);
  }
};

std::ostream &operator<<(std::ostream &os, const GatedNormCase &c) {
  return os << c.m << "x" << c.heads << "x" << c.n << " " << c.activation
            << (c.form.quantized ? " quantized" : "")
            << (c.form.groupMajor ? " group major" : "")
            << (c.form.rounded ? " rounded" : "")
            << (c.contract ? " contract" : "");
}

class GatedNorm : public testing::TestWithParam<GatedNormCase> {};

TEST_P(GatedNorm, MatchesOracle) {
  const GatedNormCase &c = GetParam();
  Buffers inputs = c.random(c.m + c.n);
  Outcome run = runEverywhere(c.tactic(), c.problem(), inputs, c.options);
  EXPECT_EQ(c.check(inputs, run), "");
}

const NormForm quantized{.quantized = true};
const NormForm everything{
    .quantized = true, .weightF32 = true, .rounded = true, .groupMajor = true};
const NormForm contractForm{
    .quantized = true, .rounded = true, .groupMajor = true};

INSTANTIATE_TEST_SUITE_P(
    Sizes, GatedNorm,
    testing::Values(GatedNormCase{1, 32, 128}, GatedNormCase{3, 5, 128},
                    GatedNormCase{2, 3, 64, {}, 1, "sigmoid"},
                    GatedNormCase{2, 3, 256, {.weightF32 = true}, 1},
                    GatedNormCase{2, 3, 512},
                    GatedNormCase{1, 32, 128, quantized},
                    GatedNormCase{3, 3, 256, quantized, 1, "sigmoid"},
                    GatedNormCase{3, 1, 128, everything},
                    GatedNormCase{5, 7, 128, everything, 1},
                    GatedNormCase{3, 3, 512, everything}));

// A work-group for each head: one round and several, waves of the last round
// without columns, all forms.
INSTANTIATE_TEST_SUITE_P(
    Wide, GatedNorm,
    testing::Values(GatedNormCase{3, 2, 768},
                    GatedNormCase{1, 5, 1024, {.weightF32 = true}, 1},
                    GatedNormCase{2, 3, 1280, {}, 0, "sigmoid"},
                    GatedNormCase{2, 3, 1280, everything, 1},
                    GatedNormCase{3, 1, 2048, everything, 1, "sigmoid"},
                    GatedNormCase{2, 2, 5120, quantized},
                    GatedNormCase{3, 5, 5120, everything},
                    GatedNormCase{2, 1, 8192, {}, 1},
                    GatedNormCase{1, 2, 17408, {.weightF32 = true}},
                    GatedNormCase{2, 2, 17408, everything, 1}));

INSTANTIATE_TEST_SUITE_P(
    Options, GatedNorm,
    testing::Values(
        GatedNormCase{3,
                      5,
                      128,
                      everything,
                      0,
                      "silu",
                      {{"ROWS_PER_WAVE", 1}, {"WAVES", 4}}},
        GatedNormCase{3,
                      5,
                      128,
                      quantized,
                      0,
                      "silu",
                      {{"ROWS_PER_WAVE", 2}, {"WAVES", 4}}},
        GatedNormCase{
            3, 5, 128, {}, 0, "silu", {{"ROWS_PER_WAVE", 4}, {"WAVES", 4}}},
        GatedNormCase{
            3, 5, 256, quantized, 0, "silu", {{"ROWS_PER_WAVE", 1}}}));

// 1, 2 and 4 rows per work-group, by the number of rows.
INSTANTIATE_TEST_SUITE_P(
    Contract, GatedNorm,
    testing::Values(
        GatedNormCase{1, 48, 128, contractForm, 0, "silu", {}, true},
        GatedNormCase{11, 48, 128, contractForm, 0, "silu", {}, true},
        GatedNormCase{22, 48, 128, contractForm, 0, "silu", {}, true}));

TEST(GatedNormContract, ArgumentsAndLaunch) {
  for (auto [m, rows] : {std::pair(8, 1), std::pair(12, 2), std::pair(32, 4)}) {
    GatedNormCase c{m, 48, 128, contractForm};
    c.contract = true;
    llvm::Expected<netra::Instance> instance =
        instantiate(c.tactic(), c.problem());
    ASSERT_TRUE(bool(instance)) << llvm::toString(instance.takeError());
    const netra::Contract &contract = instance->contract;
    EXPECT_EQ(contract.kernargBytes, 104u);
    EXPECT_EQ(contract.grid[0], m * 48u / rows);
    EXPECT_EQ(contract.block[0], 64u);
    EXPECT_EQ(contract.staticLds, 0u);
    EXPECT_EQ(contract.dynamicLds, rows == 4 ? 256u : 0u);
    const std::pair<const char *, unsigned> expected[] = {
        {"x", 0},
        {"out", 8},
        {"weight", 16},
        {"gate", 24},
        {"out_fp8", 32},
        {"out_scale", 40},
        {"in_stride", 48},
        {"out_stride", 52},
        {"gate_token_stride", 56},
        {"gate_head_stride", 60},
        {"rows", 64},
        {"heads", 68},
        {"tokens", 72},
        {"epsilon", 76},
        {"inv448", 80},
        {"hidden0", 88},
        {"hidden1", 96}};
    ASSERT_EQ(contract.arguments.size(), std::size(expected));
    for (size_t i = 0; i != std::size(expected); ++i) {
      EXPECT_EQ(contract.arguments[i].name, expected[i].first);
      EXPECT_EQ(contract.arguments[i].offset, expected[i].second);
    }
    EXPECT_EQ(contract.arguments[13].bits, 0x358637bdu);
    EXPECT_EQ(contract.arguments[14].bits, 0x3b124925u);
  }
}

// As with the contract of the norm of rows; here more columns per lane as well.
TEST(GatedNormContract, LosesToTheTacticWithFewerArguments) {
  for (auto [m, rowsPerWave] : {std::pair(1, 1), {11, 2}, {22, 4}}) {
    GatedNormCase c{m, 48, 128, contractForm};
    expectContractLoses("gfx950.gated_rms_norm_group_quant_d128", c.tactic(),
                        c.problem(), c.random(7),
                        {{"ROWS_PER_WAVE", rowsPerWave}});
  }
}

/// The strides that the contract's arguments are for: rows of x and of the bf16
/// result further apart than they are wide, gates of a head and of a token too.
/// Nobody wrote what lies between; what is there of the result stays.
TEST(GatedNormContract, RowsMayBeApart) {
  for (int64_t m : {1, 11, 22}) {
    GatedNormCase c{m, 48, 128, contractForm};
    c.contract = true;
    Buffers inputs = c.random(m);
    llvm::Expected<Kernel> kernel = build(c.tactic(), c.problem());
    ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
    const int64_t in = 136, out = 160, gateHead = 144,
                  gateToken = 48 * gateHead + 24;
    setArgument(*kernel, "in_stride", in);
    setArgument(*kernel, "out_stride", out);
    setArgument(*kernel, "gate_token_stride", gateToken);
    setArgument(*kernel, "gate_head_stride", gateHead);
    setShape(*kernel, "x", {(m * 48 - 1) * in + 128});
    setShape(*kernel, "rounded", {(m * 48 - 1) * out + 128});
    setShape(*kernel, "result", {(m * 48 - 1) * out + 128});
    setShape(*kernel, "gate", {(m - 1) * gateToken + 47 * gateHead + 128});
    RunOptions options;
    options.pieces["x"] = apart(inputs["x"], 256, 2 * in);
    for (int64_t token = 0; token != m; ++token)
      for (int64_t head = 0; head != 48; ++head) {
        auto from = inputs["gate"].begin() + (token * 48 + head) * 256;
        options.pieces["gate"][2 * (token * gateToken + head * gateHead)] =
            Bytes(from, from + 256);
      }
    llvm::Expected<Outcome> once =
        run(*kernel, {{"weight", inputs["weight"]}}, options);
    ASSERT_TRUE(bool(once)) << llvm::toString(once.takeError());
    EXPECT_EQ(once->findingsText(), "");
    once->outputs["rounded"] = together(once->outputs["rounded"], 256, 2 * out);
    once->outputs["result"] = together(once->outputs["result"], 128, out);
    EXPECT_EQ(c.check(inputs, *once), "") << m;
  }
}

TEST(GatedNormEdge, GatesAndValuesAtTheirLimits) {
  GatedNormCase c{4, 2, 128, {.quantized = true, .rounded = true}};
  Buffers inputs = c.random(1);
  std::vector<uint16_t> x = fromBytes<uint16_t>(inputs["x"]), gate(x.size());
  const double gates[] = {120, -120, 0, -0.0, 3e38, -3e38, 1e-40, -88};
  for (size_t i = 0; i != x.size(); ++i)
    gate[i] = oracle::encodeBf16(gates[i % 8]);
  for (int i = 0; i != 128; ++i) {
    x[i] = 0;                                            // row 0: zero
    x[128 + i] = 0x8000;                                 // row 1: -0
    x[256 + i] = 0x0001;                                 // row 2: denormals
    x[384 + i] = oracle::encodeBf16(i == 77 ? 1e18 : 0); // row 3: one huge
  }
  for (const char *activation : {"silu", "sigmoid"}) {
    c.activation = activation;
    inputs["x"] = toBytes(x);
    // Large gates only where they cannot overflow what they meet.
    inputs["gate"] = toBytes(gate);
    if (c.activation == "silu")
      for (size_t i = 0; i != gate.size(); ++i)
        if (std::fabs(gates[i % 8]) > 1e30)
          gate[i] = oracle::encodeBf16(30);
    inputs["gate"] = toBytes(gate);
    Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
    EXPECT_EQ(c.check(inputs, run), "") << activation;
  }
}

TEST(GatedNormEdge, NotANumberStaysInItsRowOrElement) {
  GatedNormCase c{1, 5, 128};
  Buffers inputs = c.random(2);
  std::vector<uint16_t> x = fromBytes<uint16_t>(inputs["x"]);
  std::vector<uint16_t> gate = fromBytes<uint16_t>(inputs["gate"]);
  x[128 + 3] = 0x7fc0;     // row 1: the norm is NaN
  gate[256 + 9] = 0x7fc0;  // row 2: one element
  gate[256 + 10] = 0xff80; // -inf: -inf * 0 is NaN
  inputs["x"] = toBytes(x);
  inputs["gate"] = toBytes(gate);
  Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  for (int i = 0; i != 5 * 128; ++i)
    EXPECT_EQ(oracle::isNanBf16(y[i]), i / 128 == 1 || i == 265 || i == 266)
        << i;
}

/// As in rows of rms_norm; an infinite gate of the other sign is 0 times it.
TEST(GatedNormEdge, Infinities) {
  for (const char *activation : {"silu", "sigmoid"})
    for (const NormForm &form : {NormForm{}, quantized, everything})
      for (int64_t n : {128, 1280}) {
        GatedNormCase c{2, 4, n, form, 1, activation};
        Buffers inputs = c.random(5);
        const uint16_t infinity = 0x7f80, minus = 0xff80;
        std::vector<uint16_t> x = fromBytes<uint16_t>(inputs["x"]),
                              gate = fromBytes<uint16_t>(inputs["gate"]);
        x[3] = infinity;            // head 0
        x[n + 4] = minus;           // head 1
        gate[2 * n + 5] = infinity; // head 2: one element
        gate[3 * n + 6] = minus;
        x[4 * n + 9] = 0x7fc0; // NaN: the head, of the gate the element
        gate[6 * n + 9] = 0x7fc0;
        x[5 * n + 7] = infinity; // both
        gate[5 * n + 7] = minus;
        inputs["x"] = toBytes(x);
        inputs["gate"] = toBytes(gate);
        Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
        EXPECT_EQ(c.check(inputs, run), "") << c;
      }
}

TEST(GatedNormEdge, WideHeadsOfZerosDenormalsAndOneHugeValue) {
  GatedNormCase c{4, 1, 1024, {.quantized = true, .rounded = true}};
  Buffers inputs = c.random(1);
  std::vector<uint16_t> x = fromBytes<uint16_t>(inputs["x"]), gate(x.size());
  const double gates[] = {120, -120, 0, -0.0, 30, -30, 1e-40, -88};
  for (size_t i = 0; i != x.size(); ++i)
    gate[i] = oracle::encodeBf16(gates[i % 8]);
  for (int i = 0; i != 1024; ++i) {
    x[i] = 0;
    x[1024 + i] = 0x8000;
    x[2048 + i] = 0x0001;
    x[3072 + i] = oracle::encodeBf16(i == 77 ? 1e18 : 0);
  }
  inputs["x"] = toBytes(x);
  inputs["gate"] = toBytes(gate);
  for (const char *activation : {"silu", "sigmoid"}) {
    c.activation = activation;
    Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
    EXPECT_EQ(c.check(inputs, run), "") << activation;
  }
}

TEST(GatedNorm, OneCodeObjectForAllNumbersOfRows) {
  for (int64_t n : {128, 1280}) {
    GatedNormCase few{1, 48, n, everything}, many{300, 48, n, everything};
    expectOneCodeObject(few.tactic(), few.problem(), many.problem());
  }
}

TEST(GatedNorm, TheResultMayTakeAnInputsPlace) {
  for (const char *input : {"x", "gate"})
    for (int64_t n : {128, 1280}) {
      GatedNormCase c{3, 2, n};
      expectSameInPlace(c.tactic(), c.problem(), c.random(6), "result", input);
    }
}

TEST(GatedNormCounters, EachByteOfWideHeadsMovesOnce) {
  GatedNormCase c{4, 2, 5120, {.quantized = true, .rounded = true}};
  Outcome run = runEverywhere(c.tactic(), c.problem(), c.random(4));
  uint64_t elements = c.m * c.heads * c.n, rows = c.m * c.heads;
  EXPECT_EQ(run.counters.workgroups, rows);
  // x and gate once; the weight of each row; six pointers of each wave.
  EXPECT_EQ(run.counters.globalLoadBytes,
            4 * elements + rows * 2 * c.n + run.counters.waves * 48);
  EXPECT_EQ(run.counters.globalDistinctReadBytes, 4 * elements + 2 * c.n + 48);
  EXPECT_EQ(run.counters.globalStoreBytes, 3 * elements + elements / 32);
  EXPECT_EQ(run.counters.globalDistinctWrittenBytes,
            3 * elements + elements / 32);
  EXPECT_LE(run.counters.maxRoundTrips, 2u);
}

TEST(GatedNormCounters, EachByteMovesOnce) {
  GatedNormCase c{4, 32, 128, {.quantized = true, .rounded = true}};
  Outcome run = runEverywhere(c.tactic(), c.problem(), c.random(4));
  uint64_t elements = c.m * c.heads * c.n, rows = c.m * c.heads;
  EXPECT_EQ(run.counters.waves, rows / 4);
  // x and gate once; the weight of each row of lanes; six pointers and a u32.
  EXPECT_EQ(run.counters.globalLoadBytes,
            4 * elements + rows * 256 + run.counters.waves * 52);
  EXPECT_EQ(run.counters.globalDistinctReadBytes, 4 * elements + 256 + 52);
  EXPECT_EQ(run.counters.globalStoreBytes, 3 * elements + 4 * rows);
  EXPECT_EQ(run.counters.globalDistinctWrittenBytes, 3 * elements + 4 * rows);
  EXPECT_LE(run.counters.maxRoundTrips, 2u);
}

TEST(GatedNormNegative, WrongKernelsAreNoticed) {
  GatedNormCase c{3, 5, 128, everything, 1};
  Buffers inputs = c.random(5);
  auto wrongOf = [&](const GatedNormCase &c, const Buffers &inputs,
                     const char *file, const char *from, const char *to) {
    return noticed(c.tactic(), c.problem(), inputs, {}, {{file, from, to}},
                   [&](const Outcome &run) { return c.check(inputs, run); });
  };
  auto wrong = [&](const char *from, const char *to) {
    return wrongOf(c, inputs, "include/gated_norm.inc", from, to);
  };
  EXPECT_EQ(wrong("// Netra", "// The Netra"), "");
  EXPECT_NE(wrong("  netra_wait_memory 0\n", "").find("wait"),
            std::string::npos);
  // The row, its column, the head of a scale, the token of a scale.
  EXPECT_NE(wrong("v_lshrrev_b32 v[V_ROW], 4", "v_lshrrev_b32 v[V_ROW], 5"),
            "");
  EXPECT_NE(wrong("v_mul_u32_u24 v[V_COLUMN], 2 * GATED_VEC",
                  "v_mul_u32_u24 v[V_COLUMN], GATED_VEC"),
            "");
  EXPECT_NE(wrong("v_add_u32 v[V_SCALE_OFFSET], v[V_HEAD], v[V_SCALE_OFFSET]",
                  "s_nop 0"),
            "");
  EXPECT_NE(wrong("0x100000000 / NETRA_H + 1", "0x80000000 / NETRA_H + 1"), "");
  // The rows past the end, the gate, the weight's offset, the mean.
  EXPECT_NE(wrong("v_min_u32 v[V_ROW], s[S_TMP], v[V_ROW]", "s_nop 0"), "");
  EXPECT_NE(
      wrong("v_mul_f32 v[V_S+gated_e], v[V_S+gated_e], v[V_Y]", "s_nop 0"), "");
  EXPECT_NE(wrong("v_add_f32 v[V_T2], s[S_TMP], v[V_T2]", "s_nop 0"), "");
  EXPECT_NE(wrong("v_mul_f32 v[V_STAT], 0x3c000000",
                  "v_mul_f32 v[V_STAT], 0x3c800000"),
            "");
  // Wide heads: the gate, its row, its wait; of a scale the head, the token and
  // the tokens of a group.
  GatedNormCase wide{3, 5, 1280, everything, 1};
  Buffers many = wide.random(5);
  auto wrongWide = [&](const char *from, const char *to) {
    return wrongOf(wide, many, "include/norm.inc", from, to);
  };
  EXPECT_EQ(wrongWide("// Netra", "// The Netra"), "");
  EXPECT_NE(wrongWide("v_mul_f32 v[\\v_hi], v[\\v_hi], v[V_T2]", "s_nop 0"),
            "");
  EXPECT_NE(wrongWide("netra_activate NETRA_ACTIVATION, V_T2, V_T1",
                      "netra_activate NETRA_ACTIVATION, V_T2, V_T0"),
            "");
  EXPECT_NE(wrongWide("netra_row_pointer S_GATE, S_ROW", "s_nop 0 //"), "");
  EXPECT_NE(wrongWide("(1 + NORM_BIAS) + NORM_GATED",
                      "(1 + NORM_BIAS) + 2 * NORM_GATED")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(
      wrongWide("s_mul_i32 s[S_HEAD], s[S_HEAD], NETRA_N / 128", "s_nop 0"),
      "");
  EXPECT_NE(wrongWide("s_add_u32 s[S_HEAD], s[S_HEAD], s[S_TMP]", "s_nop 0"),
            "");
  EXPECT_NE(wrongWide("s_mul_i32 s[S_HEAD], s[S_HEAD], s[S_ROWS]", "s_nop 0"),
            "");
  EXPECT_NE(wrongWide("0x100000000 / NETRA_H + 1", "0x80000000 / NETRA_H + 1"),
            "");
  // The contract's strides.
  GatedNormCase contract{1, 48, 128, contractForm};
  contract.contract = true;
  Buffers other = contract.random(6);
  const char *const file = "norm/gated_rms_norm_group_quant.s";
  EXPECT_EQ(wrongOf(contract, other, file, "// Netra", "// The Netra"), "");
  EXPECT_NE(wrongOf(contract, other, file, "v[V_HEAD], s[S_STRIDES+3]",
                    "v[V_HEAD], s[S_STRIDES+2]"),
            "");
}

} // namespace
