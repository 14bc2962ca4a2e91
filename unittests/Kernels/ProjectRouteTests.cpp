//===- ProjectRouteTests.cpp - gfx950.route_projected ---------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "RouteTesting.h"

using namespace kernels;

namespace {

const char *const tactic = "gfx950.route_projected";

/// One run without checkers and counters.
Buffers outputsOf(const char *name, const netra::Problem &problem,
                  const Buffers &inputs) {
  RunOptions options;
  options.checks = 0;
  return runOnce(name, problem, inputs, options).outputs;
}

Buffers without(Buffers inputs, const char *role) {
  inputs.erase(role);
  return inputs;
}

/// The logits that the projection alone makes.
Bytes logitsOf(const RouteSpec &spec, const Buffers &inputs) {
  return outputsOf("gfx950.router_projection",
                   denseBf16Problem(spec.m, spec.experts, spec.k),
                   {{"x", inputs.at("x")}, {"weight", inputs.at("weight")}})
      .at("result");
}

class ProjectRoute : public testing::TestWithParam<RouteSpec> {};

TEST_P(ProjectRoute, MatchesOracleAndTheTwoLaunches) {
  const RouteSpec &spec = GetParam();
  Buffers inputs = randomRoute(spec, spec.m + spec.experts);
  Outcome run = runEverywhere(tactic, spec.problem(), inputs);
  Bytes logits = logitsOf(spec, inputs);
  EXPECT_EQ(checkRoutes(spec, inputs, run, logits), "");
  RouteSpec apart = spec;
  apart.projected = false;
  Buffers given = without(inputs, "weight");
  if (spec.shared != "sigmoid")
    given.erase("x");
  given["logits"] = logits;
  EXPECT_TRUE(outputsOf("gfx950.route_logits", apart.problem(), given) ==
              run.outputs);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ProjectRoute,
                         testing::Values(RouteSpec{.m = 2,
                                                   .k = 2048,
                                                   .shared = "sigmoid",
                                                   .projected = true},
                                         RouteSpec{.m = 2,
                                                   .experts = 64,
                                                   .k = 512,
                                                   .normalize = false,
                                                   .projected = true},
                                         RouteSpec{.m = 1,
                                                   .experts = 128,
                                                   .k = 1024,
                                                   .shared = "sigmoid",
                                                   .projected = true},
                                         RouteSpec{.m = 1,
                                                   .experts = 192,
                                                   .k = 1536,
                                                   .shared = "sigmoid",
                                                   .projected = true},
                                         RouteSpec{.m = 1,
                                                   .experts = 128,
                                                   .k = 2560,
                                                   .shared = "sigmoid",
                                                   .projected = true},
                                         RouteSpec{.m = 1,
                                                   .experts = 64,
                                                   .k = 8192,
                                                   .groups = 4,
                                                   .topGroups = 2,
                                                   .sigmoid = true,
                                                   .bias = true,
                                                   .shared = "sigmoid",
                                                   .scale = 2.5,
                                                   .projected = true},
                                         RouteSpec{.m = 1,
                                                   .experts = 512,
                                                   .k = 1024,
                                                   .groups = 16,
                                                   .topGroups = 8,
                                                   .sigmoid = true,
                                                   .bias = true,
                                                   .shared = "one",
                                                   .projected = true}));

INSTANTIATE_TEST_SUITE_P(
    Ragged, ProjectRoute,
    testing::Values(
        RouteSpec{.m = 2, .experts = 8, .topK = 2, .k = 512, .projected = true},
        RouteSpec{.m = 2,
                  .experts = 160,
                  .topK = 6,
                  .k = 512,
                  .groups = 8,
                  .topGroups = 3,
                  .shared = "sigmoid",
                  .projected = true},
        RouteSpec{.m = 2,
                  .experts = 60,
                  .topK = 4,
                  .k = 1024,
                  .normalize = false,
                  .shared = "sigmoid",
                  .projected = true},
        RouteSpec{.m = 2,
                  .experts = 160,
                  .topK = 6,
                  .k = 512,
                  .groups = 8,
                  .topGroups = 3,
                  .sigmoid = true,
                  .bias = true,
                  .projected = true},
        RouteSpec{.m = 1,
                  .experts = 130,
                  .k = 1536,
                  .shared = "sigmoid",
                  .projected = true},
        RouteSpec{.m = 1,
                  .experts = 1000,
                  .k = 512,
                  .sigmoid = true,
                  .bias = true,
                  .projected = true},
        RouteSpec{.m = 1, .experts = 1024, .k = 512, .projected = true}));

TEST(ProjectRouteEdge, EqualLogitsZerosAndNotANumber) {
  RouteSpec spec{.m = 4, .k = 512, .shared = "sigmoid", .projected = true};
  Buffers inputs = randomRoute(spec, 1);
  std::vector<uint16_t> x = fromBytes<uint16_t>(inputs["x"]);
  std::fill_n(x.begin(), 512, 0x0000);
  std::fill_n(x.begin() + 512, 512, 0x8000);
  std::fill_n(x.begin() + 1024, 512, 0x0001);
  x[1536 + 100] = 0x7fc0;
  inputs["x"] = toBytes(x);
  Outcome run = runEverywhere(tactic, spec.problem(), inputs);
  EXPECT_EQ(checkRoutes(spec, inputs, run, logitsOf(spec, inputs)), "");
  std::vector<int32_t> ids = fromBytes<int32_t>(run.outputs["expert_ids"]);
  for (int row : {0, 1, 3})
    for (int slot = 0; slot != 8; ++slot)
      EXPECT_EQ(ids[row * 9 + slot], slot);
}

/// x picks one column of the weight, so that logits are what stands there:
/// large ones, whose sigmoids are all 1, and far negative ones.
TEST(ProjectRouteEdge, SigmoidRanksByTheLogit) {
  RouteSpec spec{.m = 2, .k = 512, .sigmoid = true, .projected = true};
  std::vector<uint16_t> x(1024, 0), weight(256 * 512, 0);
  x[77] = oracle::encodeBf16(1);
  x[512 + 77] = oracle::encodeBf16(-1);
  for (int e = 0; e != 256; ++e)
    weight[e * 512 + 77] = oracle::encodeBf16(e < 128 ? 20 + e / 2.0 : 0);
  Buffers inputs{{"x", toBytes(x)}, {"weight", toBytes(weight)}};
  Outcome run = runEverywhere(tactic, spec.problem(), inputs);
  EXPECT_EQ(checkRoutes(spec, inputs, run, logitsOf(spec, inputs)), "");
  std::vector<int32_t> ids = fromBytes<int32_t>(run.outputs["expert_ids"]);
  for (int slot = 0; slot != 8; ++slot) {
    EXPECT_EQ(ids[slot], 127 - slot);
    EXPECT_EQ(ids[8 + slot], 128 + slot);
  }
}

TEST(ProjectRouteCounters, WeightsAreReadOnceWithManyLoadsInFlight) {
  RouteSpec spec{.m = 1, .k = 2048, .shared = "sigmoid", .projected = true};
  Outcome run = runEverywhere(tactic, spec.problem(), randomRoute(spec, 4));
  uint64_t weights = 2 * spec.experts * spec.k, x = 2 * spec.k;
  // Every wave reads x and the pointers, the first one the gate.
  EXPECT_EQ(run.counters.globalLoadBytes, weights + 16 * (x + 40) + x);
  EXPECT_EQ(run.counters.globalDistinctReadBytes, weights + 2 * x + 40);
  EXPECT_EQ(run.counters.globalStoreBytes, 9u * 8);
  EXPECT_GE(run.counters.firstWaitBytesPerCu, 64u * 1024)
      << run.counters.text();
  EXPECT_LE(run.counters.vgprs, 128u);
  EXPECT_LE(run.counters.ldsConflictCycles * 50, run.counters.ldsAccesses);
}

TEST(ProjectRouteNegative, WrongKernelsAreNoticed) {
  RouteSpec spec{
      .m = 2, .experts = 128, .k = 512, .shared = "sigmoid", .projected = true};
  Buffers inputs = randomRoute(spec, 8);
  Bytes logits = logitsOf(spec, inputs);
  auto wrong = [&](const char *file, const char *from, const char *to) {
    return noticed(tactic, spec.problem(), inputs, {}, {{file, from, to}},
                   [&](const Outcome &run) {
                     return checkRoutes(spec, inputs, run, logits);
                   });
  };
  const char *const file = "router/project_route.s";
  EXPECT_EQ(wrong(file, "// Scalars", "// The scalars"), "");
  EXPECT_NE(wrong(file, "netra_wait_memory (PR_DEPTH - 1)",
                  "netra_wait_memory (PR_DEPTH + 1)")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(file, "  netra_barrier\n", ""), "");
  // The next four rows, a row of four, the logit's place, the gate's lanes, the
  // order of the sums in the lanes.
  EXPECT_NE(wrong(file, "pr_row, 128*NETRA_K", "pr_row, 126*NETRA_K"), "");
  EXPECT_NE(wrong(file, "s[S_TMP], s[S_TMP], pr_r", "s[S_TMP], s[S_TMP], 1"),
            "");
  EXPECT_NE(wrong(file, "v_add_u32 v[V_LOGIT_ADDRESS], 256",
                  "v_add_u32 v[V_LOGIT_ADDRESS], 128"),
            "");
  EXPECT_NE(wrong(file, "netra_wave_reduce v_add_f32, V_DOT, V_T", "s_nop 0"),
            "");
  EXPECT_NE(wrong("include/reduce.inc", "row_shr:4 row_mask:0xf bank_mask:0xa",
                  "row_shl:4 row_mask:0xf bank_mask:0xa"),
            "");
}

TEST(ProjectRouteNegative, RowsPastTheWeightAreNoticed) {
  for (int64_t experts : {60, 130}) {
    RouteSpec spec{
        .m = 1, .experts = experts, .topK = 4, .k = 512, .projected = true};
    Buffers inputs = randomRoute(spec, 8);
    Bytes logits = logitsOf(spec, inputs);
    auto wrong = [&](const char *from, const char *to) {
      return noticed(tactic, spec.problem(), inputs, {},
                     {{"router/project_route.s", from, to}},
                     [&](const Outcome &run) {
                       return checkRoutes(spec, inputs, run, logits);
                     });
    };
    EXPECT_EQ(wrong("// Scalars", "// The scalars"), "");
    EXPECT_NE(experts < 64
                  ? wrong("s_min_u32 s[S_TMP], s[S_TMP], NETRA_E - 1",
                          "s_min_u32 s[S_TMP], s[S_TMP], NETRA_E")
                        .find("memory")
                  : wrong("s_cselect_b32 s[pr_row], s[S_LAST], s[pr_row]",
                          "s_cselect_b32 s[pr_row], s[pr_row], s[pr_row]")
                        .find("memory"),
              std::string::npos);
  }
}

} // namespace
