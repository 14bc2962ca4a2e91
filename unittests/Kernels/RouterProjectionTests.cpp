//===- RouterProjectionTests.cpp - gfx950.router_projection ---------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

using namespace kernels;

namespace {

const char *const tactic = "gfx950.router_projection";

/// The order of arithmetic that the contract states, in f32, element by
/// element.
float pairChains(const uint16_t *x, const uint16_t *w, int64_t k) {
  auto f32 = [](uint16_t code) {
    return static_cast<float>(oracle::decodeBf16(code));
  };
  float lanes[64];
  for (int lane = 0; lane != 64; ++lane) {
    lanes[lane] = 0;
    for (int64_t group = 0; group != k / 512; ++group) {
      const uint16_t *a = x + 512 * group + 8 * lane;
      const uint16_t *b = w + 512 * group + 8 * lane;
      float chains[2];
      for (int odd = 0; odd != 2; ++odd) {
        chains[odd] = f32(a[odd]) * f32(b[odd]);
        for (int i = 2; i != 8; i += 2)
          chains[odd] =
              std::fmaf(f32(a[i + odd]), f32(b[i + odd]), chains[odd]);
      }
      lanes[lane] = (chains[0] + chains[1]) + lanes[lane];
    }
  }
  float rows[4];
  for (int row = 0; row != 4; ++row) {
    float *lane = lanes + 16 * row;
    for (int distance : {8, 4, 2, 1})
      for (int i = 15; i >= distance; --i)
        lane[i] += lane[i - distance];
    rows[row] = lane[15];
  }
  return (rows[3] + rows[2]) + (rows[1] + rows[0]);
}

struct ProjectionCase {
  int64_t m, n, k;

  netra::Problem problem() const { return denseBf16Problem(m, n, k); }
  Buffers random(uint64_t seed) const {
    Random random(seed);
    return {{"x", toBytes(random.bf16(m * k))},
            {"weight", toBytes(random.bf16(n * k, 1 / std::sqrt(double(k))))}};
  }
  /// Against the 64-bit oracle.
  std::string check(const Buffers &inputs, const Outcome &run) const {
    auto result = run.outputs.find("result");
    if (result == run.outputs.end())
      return "no result";
    std::vector<uint16_t> x = fromBytes<uint16_t>(inputs.at("x"));
    std::vector<uint16_t> w = fromBytes<uint16_t>(inputs.at("weight"));
    return checkBf16(result->second,
                     oracle::denseBf16(x.data(), w.data(), m, n, k));
  }
  /// Against the contract's order, bit for bit.
  std::string checkBits(const Buffers &inputs, const Outcome &run) const {
    std::vector<uint16_t> x = fromBytes<uint16_t>(inputs.at("x"));
    std::vector<uint16_t> w = fromBytes<uint16_t>(inputs.at("weight"));
    std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs.at("result"));
    for (int64_t row = 0; row != m; ++row)
      for (int64_t e = 0; e != n; ++e) {
        float sum = pairChains(x.data() + row * k, w.data() + e * k, k);
        if (y[row * n + e] != oracle::encodeBf16(sum))
          return "row " + std::to_string(row) + ", expert " +
                 std::to_string(e) + " has other bits";
      }
    return "";
  }
};

std::ostream &operator<<(std::ostream &os, const ProjectionCase &c) {
  return os << c.m << "x" << c.n << "x" << c.k;
}

class RouterProjection : public testing::TestWithParam<ProjectionCase> {};

TEST_P(RouterProjection, MatchesOracleAndTheContractsBits) {
  const ProjectionCase &c = GetParam();
  Buffers inputs = c.random(c.m + c.n + c.k);
  Outcome run = runEverywhere(tactic, c.problem(), inputs);
  EXPECT_EQ(c.check(inputs, run), "");
  EXPECT_EQ(c.checkBits(inputs, run), "");
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, RouterProjection,
    testing::Values(ProjectionCase{1, 256, 2048}, ProjectionCase{16, 256, 2048},
                    ProjectionCase{64, 24, 2048}, ProjectionCase{3, 64, 512},
                    ProjectionCase{2, 5, 2560}, ProjectionCase{2, 16, 8192},
                    ProjectionCase{1, 512, 1024},
                    ProjectionCase{2, 1024, 512}));

TEST(RouterProjectionEdge, SpecialInputs) {
  ProjectionCase c{2, 16, 1024};
  Buffers inputs = c.random(1);
  for (uint16_t code : {0x0000, 0x8000, 0x0001, 0x807f, 0x5c00}) {
    inputs["x"] = toBytes(std::vector<uint16_t>(c.m * c.k, code));
    Outcome run = runEverywhere(tactic, c.problem(), inputs);
    EXPECT_EQ(c.check(inputs, run), "") << code;
    EXPECT_EQ(c.checkBits(inputs, run), "") << code;
  }
  std::vector<uint16_t> x(c.m * c.k, 0);
  x[517] = oracle::encodeBf16(1e30);
  inputs["x"] = toBytes(x);
  Outcome run = runEverywhere(tactic, c.problem(), inputs);
  EXPECT_EQ(c.check(inputs, run), "");
}

TEST(RouterProjectionEdge, NotANumberAndInfinityPropagate) {
  ProjectionCase c{1, 16, 512};
  Buffers inputs = c.random(3);
  std::vector<uint16_t> w = fromBytes<uint16_t>(inputs["weight"]);
  w[3 * c.k + 77] = 0x7fc0;
  w[5 * c.k + 78] = 0x7f80;
  inputs["weight"] = toBytes(w);
  Outcome run = runEverywhere(tactic, c.problem(), inputs);
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  for (int64_t i = 0; i < c.n; ++i)
    EXPECT_EQ(oracle::isNanBf16(y[i]), i == 3) << i;
  EXPECT_EQ(y[5] & 0x7fff, 0x7f80);
}

TEST(RouterProjection, IsTheContract) {
  llvm::Expected<Kernel> kernel =
      build(tactic, denseBf16Problem(16, 256, 2048));
  ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
  const netra::Contract &contract = kernel->instance.contract;
  EXPECT_EQ(contract.kernargBytes, 24u);
  const char *const roles[] = {"result", "x", "weight"};
  ASSERT_EQ(contract.arguments.size(), 3u);
  for (unsigned i = 0; i != 3; ++i) {
    EXPECT_EQ(contract.arguments[i].role, roles[i]);
    EXPECT_EQ(contract.arguments[i].offset, 8 * i);
  }
  EXPECT_EQ(contract.grid[0], 256u);
  EXPECT_EQ(contract.grid[1], 16u);
  EXPECT_EQ(contract.block[0], 64u);
  EXPECT_EQ(contract.staticLds + contract.dynamicLds, 0u);
}

// It reads the weights again for every row; the tiles do not.
TEST(RouterProjection, IsChosenForMoreRowsThanTilesTake) {
  auto chosen = [](int64_t m, int64_t n, int64_t k) {
    netra::Selection selection = catalog().select(denseBf16Problem(m, n, k));
    return selection.winner ? selection.winner->tactic->name : "none";
  };
  EXPECT_EQ(chosen(1, 256, 2048), "gfx950.dense_bf16_m1");
  EXPECT_EQ(chosen(16, 256, 2048), "gfx950.dense_bf16_m32");
  EXPECT_EQ(chosen(33, 256, 2048), tactic);
  EXPECT_EQ(chosen(64, 512, 8192), tactic);
}

TEST(RouterProjectionCounters, WeightsAreReadOnceWithManyLoadsInFlight) {
  ProjectionCase c{1, 256, 2048};
  Outcome run = runEverywhere(tactic, c.problem(), c.random(4));
  uint64_t weights = 2 * c.n * c.k, x = 2 * c.k, pointers = 24;
  EXPECT_EQ(run.counters.globalLoadBytes,
            weights + run.counters.waves * (x + pointers));
  EXPECT_EQ(run.counters.globalDistinctReadBytes, weights + x + pointers);
  EXPECT_EQ(run.counters.globalStoreBytes, 2u * c.n);
  EXPECT_GE(run.counters.firstWaitBytesPerCu, 64u * 1024);
  EXPECT_LE(run.counters.maxRoundTrips, 2u);
}

// The contract has a wave for each element and two chains of sums: each wave
// turns sixteen bf16 values into f32, an instruction each, for eight products,
// whatever it does. The rest, four packed multiplications and two additions, is
// what its order asks for. The plain loop does the same but for the sum of each
// group, so that half of its instructions are out of reach; the tactics that
// are selected instead are not bound by the contract and have fewer than half.
TEST(RouterProjectionCounters, VectorInstructionsAreThoseOfTheOrder) {
  for (int64_t k : {2048, 8192}) {
    ProjectionCase c{2, 64, k};
    auto vector = [&](const std::string &name) {
      return vectorInstructions(countersOf(name, c.problem(), c.random(7)));
    };
    uint64_t groups = k / 512, waves = c.m * c.n;
    uint64_t ours = vector(tactic),
             plain = vector("gfx950.dense_bf16_m32_plain");
    // Two loads and 22 instructions for each group; an offset per four groups,
    // the reduction and the store.
    uint64_t expected = waves * (24 * groups + (groups + 3) / 4);
    EXPECT_GE(ours, expected);
    EXPECT_LE(ours, expected + waves * 16);
    // What no wave of the contract can do without: loads and conversions.
    EXPECT_GT(2 * waves * 18 * groups, plain);
  }
}

// A form for those who rely on its bits: where anything else computes a
// projection, that is selected, and has fewer than half of the plain loop's.
TEST(RouterProjectionCounters, WhatIsSelectedHasHalfOfThePlainLoop) {
  for (int64_t k : {2048, 5120, 8192})
    for (int64_t m : {1, 2, 4, 8, 12, 16, 32}) {
      ProjectionCase c{m, 64, k};
      netra::Selection selection = catalog().select(c.problem());
      ASSERT_TRUE(selection.winner.has_value()) << selection.reason;
      const std::string &name = selection.winner->tactic->name;
      EXPECT_NE(name, tactic) << c;
      Buffers inputs = c.random(7);
      EXPECT_LE(
          2 * vectorInstructions(countersOf(name, c.problem(), inputs)),
          vectorInstructions(countersOf(m == 1 ? "gfx950.dense_bf16_m1_plain"
                                               : "gfx950.dense_bf16_m32_plain",
                                        c.problem(), inputs)))
          << name << " " << c;
    }
}

TEST(RouterProjectionNegative, WrongKernelsAreNoticed) {
  ProjectionCase c{2, 16, 2560};
  Buffers inputs = c.random(6);
  auto check = [&](const Outcome &run) { return c.check(inputs, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(tactic, c.problem(), inputs, {},
                   {{file, from, to, occurrence}}, check);
  };
  const char *const file = "router/projection.s";
  const char *const dot = "include/pair_dot.inc";
  EXPECT_EQ(wrong(file, "// Scalars", "// The scalars"), "");
  EXPECT_NE(wrong(file, "netra_wait_memory (2 *", "netra_wait_memory 63 // (")
                .find("wait"),
            std::string::npos);
  // The row of x, the expert's column, the fifth group's address.
  EXPECT_NE(wrong(file, "s_mul_i32 s[S_TMP], s3, 2*NETRA_K",
                  "s_mul_i32 s[S_TMP], s3, NETRA_K"),
            "");
  EXPECT_NE(wrong(file, "s_mul_i32 s[S_TMP], s3, NETRA_N",
                  "s_mul_i32 s[S_TMP], s3, NETRA_N-1"),
            "");
  EXPECT_NE(wrong(dot, "v_add_u32 v[\\v_offset+.Lnetra_pd_i], 4096",
                  "v_add_u32 v[\\v_offset+.Lnetra_pd_i], 2048"),
            "");
  // A dropped tail, the odd elements dropped.
  EXPECT_NE(wrong(file, ".rept PROJECTION_GROUPS\n    netra_wait",
                  ".rept PROJECTION_GROUPS-1\n    netra_wait"),
            "");
  EXPECT_NE(wrong(dot, "v_add_f32 v[\\v_t+2], v[\\v_t+2], v[\\v_t+3]",
                  "v_add_f32 v[\\v_t+2], 0, v[\\v_t+2]"),
            "");
}

} // namespace
