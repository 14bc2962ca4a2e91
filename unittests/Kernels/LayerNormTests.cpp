//===- LayerNormTests.cpp - gfx950.layer_norm_bf16, also quantized --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "NormTesting.h"

using namespace kernels;

namespace {

struct LayerNormCase {
  int64_t m, n;
  NormForm form = {};
  double weightOffset = 0;

  std::string tactic() const {
    if (form.groupMajor)
      return "gfx950.layer_norm_bf16_quantized_group_major";
    return form.quantized ? "gfx950.layer_norm_bf16_quantized"
                          : "gfx950.layer_norm_bf16";
  }
  netra::Problem problem() const {
    netra::Problem problem = withForm(
        rmsNormProblem(m, n, form.residual, form.quantized, 1e-5, weightOffset),
        form);
    problem.operation = "layer_norm";
    return problem;
  }
  Buffers random(uint64_t seed) const {
    Random random(seed);
    Buffers inputs{{"x", toBytes(random.bf16(m * n))},
                   {"weight", randomWeight(random, n, form.weightF32)}};
    if (form.bias)
      inputs["bias"] = randomWeight(random, n, form.weightF32);
    if (form.residual)
      inputs["residual"] = toBytes(random.bf16(m * n));
    return inputs;
  }
  std::string check(const Buffers &inputs, const Outcome &run) const {
    auto decoded = [&](const char *role) {
      std::vector<double> values;
      for (uint16_t code : fromBytes<uint16_t>(inputs.at(role)))
        values.push_back(oracle::decodeBf16(code));
      return values;
    };
    std::vector<double> s = decoded("x"), residual, bias(n, 0.0);
    std::vector<double> weight =
        weightValues(inputs.at("weight"), form.weightF32);
    if (form.bias)
      bias = weightValues(inputs.at("bias"), form.weightF32);
    std::vector<oracle::Value> sum, expected;
    if (form.residual) {
      residual = decoded("residual");
      for (size_t i = 0; i != s.size(); ++i) {
        s[i] += residual[i];
        sum.push_back(oracle::rounded(s[i], 0));
        s[i] = static_cast<float>(s[i]);
      }
    }
    for (int64_t row = 0; row != m; ++row) {
      const double *values = &s[row * n];
      double mean = 0, variance = 0, largest = 0;
      for (int64_t i = 0; i != n; ++i) {
        mean += values[i] / n;
        largest = std::max(largest, std::fabs(values[i]));
      }
      for (int64_t i = 0; i != n; ++i)
        variance += (values[i] - mean) * (values[i] - mean) / n;
      double scale = 1 / std::sqrt(variance + static_cast<double>(1e-5f));
      for (int64_t i = 0; i != n; ++i) {
        double factor = weight[i] + weightOffset;
        double y = (values[i] - mean) * scale * factor + bias[i];
        expected.push_back(
            {y, 0x1p-18 * (1 + std::fabs(factor)) * largest * scale +
                    std::fabs(bias[i]) * 0x1p-23 + 0x1p-126});
      }
    }
    std::string text;
    if (form.residual)
      text = checkBf16(run.outputs.at("sum"), sum);
    return text + checkNormResult(form, m, run, expected);
  }
};

std::ostream &operator<<(std::ostream &os, const LayerNormCase &c) {
  return os << c.m << "x" << c.n << (c.form.bias ? " bias" : "")
            << (c.form.residual ? " residual" : "")
            << (c.form.quantized ? " quantized" : "")
            << (c.form.weightF32 ? " f32" : "");
}

class LayerNorm : public testing::TestWithParam<LayerNormCase> {};

TEST_P(LayerNorm, MatchesOracle) {
  const LayerNormCase &c = GetParam();
  Buffers inputs = c.random(c.m + c.n);
  Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
  EXPECT_EQ(c.check(inputs, run), "");
}

const NormForm everything{.residual = true,
                          .quantized = true,
                          .weightF32 = true,
                          .rounded = true,
                          .groupMajor = true,
                          .bias = true};

INSTANTIATE_TEST_SUITE_P(
    Sizes, LayerNorm,
    testing::Values(
        LayerNormCase{3, 128}, LayerNormCase{3, 128, everything},
        LayerNormCase{2, 1024, {.bias = true}},
        LayerNormCase{3, 1280, everything, 1},
        LayerNormCase{2, 2048, {.residual = true, .bias = true}},
        LayerNormCase{2, 2048, {.quantized = true}},
        LayerNormCase{2,
                      5120,
                      {.residual = true, .quantized = true, .groupMajor = true},
                      1},
        LayerNormCase{1, 7936, {.weightF32 = true, .bias = true}},
        LayerNormCase{1, 17408, everything}));

TEST(LayerNorm, EveryWidth) {
  unsigned turn = 0;
  for (int64_t n : normWidths())
    for (bool quantized : {false, true}) {
      LayerNormCase c{2,
                      n,
                      {.residual = turn % 3 == 0,
                       .quantized = quantized,
                       .weightF32 = turn % 5 < 2,
                       .rounded = quantized && turn % 7 < 3,
                       .groupMajor = quantized && turn / 2 % 2,
                       .bias = turn % 4 < 2},
                      double(turn % 2)};
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

TEST(LayerNormEdge, SpecialInputs) {
  LayerNormCase c{6, 1280, {.bias = true}};
  Buffers inputs = c.random(2);
  std::vector<uint16_t> x = fromBytes<uint16_t>(inputs["x"]);
  const uint16_t codes[] = {0x0000, 0x8000, 0x0001, 0x4480};
  for (int64_t row = 0; row != 4; ++row) // constant rows
    std::fill_n(x.begin() + row * c.n, c.n, codes[row]);
  std::fill_n(x.begin() + 4 * c.n, c.n, 0); // one huge value
  x[4 * c.n + 300] = oracle::encodeBf16(1e17);
  for (int64_t i = 0; i != c.n; ++i) // a mean much larger than the deviation
    x[5 * c.n + i] = oracle::encodeBf16(1024 + 8 * (i % 3));
  inputs["x"] = toBytes(x);
  Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
  EXPECT_EQ(c.check(inputs, run), "");
}

TEST(LayerNormEdge, NotANumberStaysInItsRow) {
  LayerNormCase c{3, 256};
  Buffers inputs = c.random(3);
  std::vector<uint16_t> x = fromBytes<uint16_t>(inputs["x"]);
  x[c.n + 20] = 0x7fc0;
  x[2 * c.n + 20] = 0x7f80;
  inputs["x"] = toBytes(x);
  Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  for (int64_t i = 0; i != 3 * c.n; ++i)
    EXPECT_EQ(oracle::isNanBf16(y[i]), i >= c.n) << i;
}

TEST(LayerNormCounters, EachByteMovesOnce) {
  LayerNormCase c{4, 2048, {.residual = true, .bias = true}};
  Outcome run = runEverywhere(c.tactic(), c.problem(), c.random(4));
  uint64_t row = 2 * c.n;
  EXPECT_EQ(run.counters.globalLoadBytes,
            c.m * 4 * row + run.counters.waves * 48);
  EXPECT_EQ(run.counters.globalDistinctReadBytes, c.m * 2 * row + 2 * row + 48);
  EXPECT_EQ(run.counters.globalStoreBytes, c.m * 2 * row);
  EXPECT_LE(run.counters.maxRoundTrips, 2u);
}

TEST(LayerNormNegative, WrongKernelsAreNoticed) {
  LayerNormCase c{3, 1280, everything};
  Buffers inputs = c.random(5);
  auto wrong = [&](const char *file, const char *from, const char *to) {
    return noticed(c.tactic(), c.problem(), inputs, {}, {{file, from, to}},
                   [&](const Outcome &run) { return c.check(inputs, run); });
  };
  const char *const layer = "norm/layer_norm.s";
  EXPECT_EQ(wrong(layer, "// Netra", "// The Netra"), "");
  // Idle waves join in, the mean is not taken off, one barrier for two sums, a
  // dropped bias, a scale in the wrong place.
  EXPECT_NE(wrong(layer, "norm_round_begin norm_i", "s_nop 0"), "");
  EXPECT_NE(wrong(layer, "v_sub_f32", "v_max_f32"), "");
  EXPECT_NE(wrong(layer, "norm_reduce 4*NETRA_WAVES", "norm_reduce 0"), "");
  EXPECT_NE(wrong("include/norm.inc", "norm_unpack_weight V_T0, V_T1, V_BIAS+",
                  "norm_unpack_weight V_T0, V_T1, V_W+"),
            "");
  EXPECT_NE(wrong("include/norm.inc",
                  "v_mul_lo_u32 v[V_T2], v[V_T2], s[S_ROWS]",
                  "v_lshlrev_b32 v[V_T2], 2, v[V_T2]"),
            "");
}

} // namespace
