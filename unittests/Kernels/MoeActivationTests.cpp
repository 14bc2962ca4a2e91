//===- MoeActivationTests.cpp - gfx950.moe_activation and its form --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MoeCases.h"

using namespace kernels;

namespace {

const char *const tactic = "gfx950.moe_activation";

struct ActivationCase {
  int64_t m, s, n;
  std::string activation = "silu";
  bool groupMajor = false;

  std::string name() const {
    return std::string(tactic) + (groupMajor ? "_group_major" : "");
  }
  netra::Problem problem() const {
    return moeActivationProblem(m, s, n, activation, groupMajor);
  }
  std::vector<float> random(uint64_t seed) const {
    Random random(seed);
    std::vector<float> x(m * s * 2 * n);
    for (float &value : x)
      value = float(3 * random.normal());
    return x;
  }
  std::string check(const std::vector<float> &x, const Outcome &run) const {
    std::vector<double> h;
    for (int64_t row = 0; row < m * s; ++row)
      for (int64_t i = 0; i < n; ++i) {
        double gate = x[row * 2 * n + i], up = x[row * 2 * n + n + i];
        double value =
            oracle::apply(activation == "silu" ? oracle::Function::Silu
                          : activation == "gelu_erf"
                              ? oracle::Function::GeluErf
                              : oracle::Function::GeluTanh,
                          gate) *
            up;
        h.push_back(oracle::decodeBf16(oracle::encodeBf16(value)));
      }
    const Bytes &scales = run.outputs.at("result_scale");
    return checkQuantized(run.outputs.at("result"),
                          groupMajor ? slotMajorScales(scales, m, s) : scales,
                          h);
  }
};

std::ostream &operator<<(std::ostream &os, const ActivationCase &c) {
  return os << c.m << "x" << c.s << "x" << c.n << " " << c.activation
            << (c.groupMajor ? " group major" : "");
}

class MoeActivation : public testing::TestWithParam<ActivationCase> {};

TEST_P(MoeActivation, MatchesOracle) {
  const ActivationCase &c = GetParam();
  std::vector<float> x = c.random(c.m + c.n);
  Outcome run = runEverywhere(c.name(), c.problem(), {{"x", toBytes(x)}});
  EXPECT_EQ(c.check(x, run), "");
  // Each input and output byte moves once, in one round trip per row.
  EXPECT_LE(run.counters.maxRoundTrips, // the arguments, then rows
            c.n <= 2048 ? 2u : 4u);
  EXPECT_EQ(run.counters.globalLoadBytes,
            4 * x.size() + run.counters.waves * 28);
  EXPECT_EQ(run.counters.globalStoreBytes,
            uint64_t(c.m * c.s * (c.n + c.n / 32)));
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, MoeActivation,
    testing::Values(ActivationCase{1, 9, 512},
                    ActivationCase{1, 9, 512, "gelu_tanh"},
                    ActivationCase{32, 9, 512}, ActivationCase{1, 3, 128},
                    ActivationCase{2, 2, 384}, ActivationCase{1, 2, 640},
                    ActivationCase{1, 1, 2304, "gelu_tanh"},
                    ActivationCase{3, 9, 512, "gelu_erf"},
                    ActivationCase{1, 1, 2304, "gelu_erf"},
                    ActivationCase{2, 1, 5120}));

INSTANTIATE_TEST_SUITE_P(
    GroupMajor, MoeActivation,
    testing::Values(ActivationCase{1, 9, 512, "silu", true},
                    ActivationCase{32, 9, 512, "gelu_tanh", true},
                    ActivationCase{5, 3, 128, "silu", true},
                    ActivationCase{3, 1, 384, "silu", true},
                    ActivationCase{2, 7, 640, "silu", true},
                    ActivationCase{3, 2, 640, "gelu_erf", true},
                    ActivationCase{2, 2, 5120, "gelu_tanh", true}));

TEST(MoeActivation, IsSelectedForAllActivationsAndOrders) {
  for (const char *activation : {"silu", "gelu_erf", "gelu_tanh"})
    for (int64_t m : {1, 8, 32})
      for (bool groupMajor : {false, true}) {
        ActivationCase c{m, 9, 512, activation, groupMajor};
        netra::Selection selection = catalog().select(c.problem());
        ASSERT_TRUE(selection.winner.has_value()) << c << selection.reason;
        EXPECT_EQ(selection.winner->tactic->name, c.name()) << c;
      }
}

/// The order of the scales changes no bit of codes or scales.
TEST(MoeActivation, OrdersDifferInWhereScalesAre) {
  ActivationCase rows{5, 4, 640}, groups = rows;
  groups.groupMajor = true;
  std::vector<float> x = rows.random(8);
  Outcome one = runEverywhere(rows.name(), rows.problem(), {{"x", toBytes(x)}});
  Outcome other =
      runEverywhere(groups.name(), groups.problem(), {{"x", toBytes(x)}});
  EXPECT_EQ(one.outputs["result"], other.outputs["result"]);
  EXPECT_NE(one.outputs["result_scale"], other.outputs["result_scale"]);
  EXPECT_EQ(one.outputs["result_scale"],
            slotMajorScales(other.outputs["result_scale"], rows.m, rows.s));
}

TEST(MoeActivation, ContractOfTheDeployedKernel) {
  llvm::Expected<netra::Instance> instance =
      instantiate(tactic, moeActivationProblem(1, 9, 512, "silu"));
  ASSERT_TRUE(static_cast<bool>(instance));
  const netra::Contract &contract = instance->contract;
  EXPECT_EQ(contract.kernargBytes, 32u);
  ASSERT_EQ(contract.arguments.size(), 4u);
  EXPECT_EQ(contract.arguments[3].name, "rows");
  EXPECT_EQ(contract.arguments[3].offset, 24u);
  EXPECT_EQ(contract.arguments[3].bits, 9u);
  EXPECT_EQ(contract.grid[0], 9u);
  EXPECT_EQ(contract.block[0], 64u);
}

TEST(MoeActivation, WorkgroupsPastTheRowsDoNothing) {
  ActivationCase c{2, 4, 256};
  std::vector<float> x = c.random(3);
  llvm::Expected<Kernel> kernel = build(tactic, c.problem());
  ASSERT_TRUE(static_cast<bool>(kernel)) << llvm::toString(kernel.takeError());
  llvm::Expected<Outcome> all = run(*kernel, {{"x", toBytes(x)}});
  kernel->instance.contract.arguments[3].bits = 5;
  llvm::Expected<Outcome> some = run(*kernel, {{"x", toBytes(x)}});
  ASSERT_TRUE(all && some);
  EXPECT_TRUE(some->findings.empty()) << some->findingsText();
  for (const char *role : {"result", "result_scale"}) {
    Bytes expected = all->outputs[role];
    std::fill(expected.begin() + expected.size() / 8 * 5, expected.end(), 0xff);
    EXPECT_EQ(some->outputs[role] == expected, true) << role;
  }
}

TEST(MoeActivationEdge, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char *activation : {"silu", "gelu_erf", "gelu_tanh"}) {
    ActivationCase c{1, 2, 512, activation};
    for (float special : {0.0f, -0.0f, 120.0f, -120.0f, 1e-40f, -3e-39f, 1e30f,
                          -1e30f, infinity, nan}) {
      // In the gate, in the up half, and everywhere.
      for (int place = 0; place < 3; ++place) {
        std::vector<float> x = c.random(5);
        if (place == 2)
          x.assign(x.size(), std::fabs(special) > 1e15f ? 1e15f : special);
        else
          x[place * c.n + 200] = special;
        for (bool groupMajor : {false, true}) {
          c.groupMajor = groupMajor;
          Outcome run =
              runEverywhere(c.name(), c.problem(), {{"x", toBytes(x)}});
          EXPECT_EQ(c.check(x, run), "") << c << " " << special << " " << place;
        }
      }
    }
  }
}

TEST(MoeActivationEdge, SmallMaximaAreClamped) {
  ActivationCase c{1, 1, 256};
  std::vector<float> x(512, 1e-8f);
  Outcome run = runEverywhere(tactic, c.problem(), {{"x", toBytes(x)}});
  EXPECT_EQ(c.check(x, run), "");
  EXPECT_EQ(fromBytes<float>(run.outputs["result_scale"])[0],
            1e-10f * float(1.0 / 448));
}

TEST(MoeActivationNegative, WrongKernelsAreNoticed) {
  ActivationCase c{2, 2, 640};
  std::vector<float> x = c.random(6);
  auto check = [&](const Outcome &run) { return c.check(x, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(tactic, c.problem(), {{"x", toBytes(x)}}, {},
                   {{file, from, to, occurrence}}, check);
  };
  const char *const act = "moe/activation.s", *const moe = "include/moe.inc";
  EXPECT_EQ(wrong(act, "// Scalars", "// Scalars, unchanged"), "");
  EXPECT_NE(wrong(act,
                  "netra_wait_memory (4 * (act_issued - 1 - act_round) + "
                  "2 * act_round)",
                  "netra_wait_memory 63")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(act, "netra_pointer_add_const S_UP, S_X, 4 * NETRA_N",
                  "netra_pointer_add_const S_UP, S_X, 2 * NETRA_N"),
            "");
  EXPECT_NE(wrong(act, "NETRA_N - 512 * (\\round)) / 8",
                  "NETRA_N - 512 * (\\round)) / 4"),
            "");
  EXPECT_NE(
      wrong(act, "v_add_u32 v[V_COLUMN], 512", "v_add_u32 v[V_COLUMN], 0"), "");
  EXPECT_NE(wrong(act, "netra_bf16_round_run V_H, 8", "s_nop 0"), "");
  EXPECT_NE(wrong(moe, "0xbfb8aa3b", "0xbf800000"), "");
  EXPECT_NE(wrong(moe, "v_mul_f32 v[\\v_h], v[\\v_h], v[\\v_up]", "s_nop 0"),
            "");
  c.activation = "gelu_erf";
  EXPECT_EQ(wrong(act, "// Scalars", "// Scalars, unchanged"), "");
  EXPECT_NE(wrong(moe, "netra_gelu_erf \\v_h", "netra_gelu_tanh \\v_h"), "");
  EXPECT_NE(wrong("include/activation.inc", "0xbf38aa3b", "0xbf3a0000"), "");
}

TEST(MoeActivationNegative, WrongGroupMajorKernelsAreNoticed) {
  ActivationCase c{3, 2, 640, "silu", true};
  std::vector<float> x = c.random(6);
  auto wrong = [&](const char *from, const char *to) {
    return noticed(c.name(), c.problem(), {{"x", toBytes(x)}}, {},
                   {{"moe/activation.s", from, to}},
                   [&](const Outcome &run) { return c.check(x, run); });
  };
  EXPECT_EQ(wrong("// Scalars", "// Scalars, unchanged"), "");
  // The slot, the token, the distance between groups.
  EXPECT_NE(wrong("netra_row_pointer S_SCALE, 2, 4, S_TMP", "s_nop 0"), "");
  EXPECT_NE(wrong("(NETRA_N / 128 - 1)", "(NETRA_N / 128)"), "");
  EXPECT_NE(wrong("netra_moe_divide S_SLOTS, 2, NETRA_S",
                  "netra_moe_divide S_SLOTS, 2, 1"),
            "");
  EXPECT_NE(wrong("s_mov_b32 s[S_SLOTS], NETRA_S", "s_mov_b32 s[S_SLOTS], 1"),
            "");
}

} // namespace
