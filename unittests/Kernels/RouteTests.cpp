//===- RouteTests.cpp - gfx950.route_logits -------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "RouteTesting.h"

using namespace kernels;

namespace {

const char *const tactic = "gfx950.route_logits";

class Route : public testing::TestWithParam<RouteSpec> {};

TEST_P(Route, MatchesOracle) {
  const RouteSpec &spec = GetParam();
  Buffers inputs = randomRoute(spec, spec.m + spec.experts);
  Outcome run = runEverywhere(tactic, spec.problem(), inputs);
  EXPECT_EQ(checkRoutes(spec, inputs, run), "");
}

INSTANTIATE_TEST_SUITE_P(
    Softmax, Route,
    testing::Values(
        RouteSpec{.m = 64}, RouteSpec{.m = 1, .k = 2048, .shared = "sigmoid"},
        RouteSpec{.m = 16, .k = 2048, .shared = "sigmoid"},
        RouteSpec{.m = 5, .experts = 64, .topK = 16, .normalize = false},
        RouteSpec{.m = 5, .experts = 128, .topK = 1, .shared = "one"},
        RouteSpec{.m = 5, .experts = 192, .normalize = false, .scale = 2.5},
        RouteSpec{.m = 5,
                  .experts = 448,
                  .topK = 10,
                  .k = 8192,
                  .shared = "sigmoid",
                  .scale = 0.5},
        RouteSpec{.m = 5, .experts = 512, .topK = 16, .shared = "one"}));

// Numbers of experts that do not fill the last register.
INSTANTIATE_TEST_SUITE_P(
    Ragged, Route,
    testing::Values(
        RouteSpec{.m = 5, .experts = 2, .topK = 1},
        RouteSpec{.m = 5, .experts = 8, .topK = 8, .normalize = false},
        RouteSpec{.m = 5, .experts = 16, .topK = 2, .shared = "one"},
        RouteSpec{.m = 5,
                  .experts = 60,
                  .topK = 4,
                  .k = 2048,
                  .normalize = false,
                  .shared = "sigmoid"},
        RouteSpec{.m = 5, .experts = 63, .topK = 16, .sigmoid = true},
        RouteSpec{.m = 5, .experts = 65, .normalize = false},
        RouteSpec{
            .m = 5, .experts = 160, .topK = 6, .sigmoid = true, .bias = true},
        RouteSpec{.m = 3, .experts = 1000, .topK = 16, .normalize = false},
        RouteSpec{.m = 3,
                  .experts = 1024,
                  .k = 8192,
                  .sigmoid = true,
                  .bias = true,
                  .shared = "sigmoid"}));

// Groups that are not 16, 32 or 64 lanes of a register.
INSTANTIATE_TEST_SUITE_P(AnyGroups, Route,
                         testing::Values(RouteSpec{.m = 5,
                                                   .experts = 160,
                                                   .topK = 6,
                                                   .groups = 8,
                                                   .topGroups = 3,
                                                   .sigmoid = true},
                                         RouteSpec{.m = 5,
                                                   .groups = 2,
                                                   .topGroups = 1,
                                                   .sigmoid = true,
                                                   .bias = true},
                                         RouteSpec{.m = 5,
                                                   .experts = 60,
                                                   .topK = 4,
                                                   .k = 512,
                                                   .groups = 4,
                                                   .topGroups = 2,
                                                   .sigmoid = true,
                                                   .bias = true,
                                                   .shared = "sigmoid"},
                                         RouteSpec{.m = 5,
                                                   .experts = 96,
                                                   .topK = 3,
                                                   .groups = 3,
                                                   .topGroups = 2,
                                                   .sigmoid = true},
                                         RouteSpec{.m = 5,
                                                   .experts = 8,
                                                   .topK = 2,
                                                   .groups = 4,
                                                   .topGroups = 1,
                                                   .sigmoid = true},
                                         RouteSpec{.m = 5,
                                                   .experts = 128,
                                                   .topK = 7,
                                                   .groups = 64,
                                                   .topGroups = 4,
                                                   .sigmoid = true,
                                                   .bias = true},
                                         RouteSpec{.m = 3,
                                                   .experts = 1000,
                                                   .topK = 16,
                                                   .groups = 5,
                                                   .topGroups = 2,
                                                   .sigmoid = true,
                                                   .bias = true,
                                                   .shared = "one"},
                                         RouteSpec{.m = 3,
                                                   .experts = 1024,
                                                   .groups = 64,
                                                   .topGroups = 8,
                                                   .sigmoid = true}));

// Groups by sums of exponentials: as many lanes as a butterfly takes, and any.
INSTANTIATE_TEST_SUITE_P(
    SoftmaxGroups, Route,
    testing::Values(RouteSpec{.m = 16, .groups = 8, .topGroups = 4},
                    RouteSpec{.m = 8,
                              .topK = 6,
                              .k = 512,
                              .groups = 4,
                              .topGroups = 1,
                              .normalize = false,
                              .shared = "sigmoid",
                              .scale = 2.5},
                    RouteSpec{.m = 5,
                              .experts = 160,
                              .topK = 6,
                              .groups = 8,
                              .topGroups = 3,
                              .normalize = false},
                    RouteSpec{.m = 5,
                              .experts = 60,
                              .topK = 4,
                              .groups = 4,
                              .topGroups = 2,
                              .shared = "one"}));

INSTANTIATE_TEST_SUITE_P(
    Sigmoid, Route,
    testing::Values(
        RouteSpec{.m = 8, .sigmoid = true},
        RouteSpec{.m = 8, .topK = 4, .sigmoid = true, .normalize = false},
        RouteSpec{.m = 8,
                  .experts = 384,
                  .sigmoid = true,
                  .bias = true,
                  .shared = "one",
                  .scale = 2.446},
        RouteSpec{.m = 16,
                  .groups = 8,
                  .topGroups = 4,
                  .sigmoid = true,
                  .bias = true,
                  .scale = 2.5},
        RouteSpec{.m = 8, .groups = 16, .topGroups = 3, .sigmoid = true},
        RouteSpec{.m = 8,
                  .experts = 192,
                  .topK = 6,
                  .k = 512,
                  .groups = 3,
                  .topGroups = 1,
                  .sigmoid = true,
                  .bias = true,
                  .shared = "sigmoid"},
        RouteSpec{.m = 4,
                  .experts = 64,
                  .topK = 3,
                  .groups = 2,
                  .topGroups = 2,
                  .sigmoid = true,
                  .bias = true}));

using Rows = std::vector<std::vector<double>>;

/// Routes the rows in one launch and checks what comes out.
Outcome routeRows(RouteSpec spec, const Rows &rows,
                  const std::vector<float> &bias = {}) {
  spec.m = int64_t(rows.size());
  std::vector<uint16_t> codes;
  for (const std::vector<double> &row : rows)
    for (double logit : row)
      codes.push_back(oracle::encodeBf16(logit));
  Buffers inputs{{"logits", toBytes(codes)}};
  if (!bias.empty())
    inputs["correction_bias"] = toBytes(bias);
  Outcome run = runEverywhere(tactic, spec.problem(), inputs);
  EXPECT_EQ(checkRoutes(spec, inputs, run), "");
  return run;
}
Outcome routeLogits(const RouteSpec &spec, const std::vector<double> &logits,
                    const std::vector<float> &bias = {}) {
  return routeRows(spec, {logits}, bias);
}

TEST(RouteEdge, TiesGoToTheLowerIndex) {
  RouteSpec spec;
  auto idsOf = [](const Outcome &run) {
    return fromBytes<int32_t>(run.outputs.at("expert_ids"));
  };
  std::vector<double> logits(256, 0.5);
  EXPECT_EQ(idsOf(routeLogits(spec, logits)),
            (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  // Equal values in other registers and in lower lanes; -0 equals 0.
  std::fill(logits.begin(), logits.end(), -1.0);
  for (int e : {255, 64, 129, 63, 200})
    logits[e] = 3;
  logits[190] = -0.0;
  logits[191] = 0.0;
  EXPECT_EQ(idsOf(routeLogits(spec, logits)),
            (std::vector<int32_t>{63, 64, 129, 200, 255, 190, 191, 0}));
  std::swap(logits[190], logits[191]);
  EXPECT_EQ(idsOf(routeLogits(spec, logits)),
            (std::vector<int32_t>{63, 64, 129, 200, 255, 190, 191, 0}));
  // Equal groups: the first four of eight.
  RouteSpec grouped{.groups = 8, .topGroups = 2, .sigmoid = true};
  EXPECT_EQ(idsOf(routeLogits(grouped, std::vector<double>(256, 1.0))),
            (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  std::fill(logits.begin(), logits.end(), -2.0);
  for (int e : {70, 71, 200, 201})
    logits[e] = 2;
  EXPECT_EQ(idsOf(routeLogits(grouped, logits)),
            (std::vector<int32_t>{70, 71, 200, 201, 64, 65, 66, 67}));
}

/// Logits whose sigmoids are one f32: 1, 0, or neighbours close to 1. They are
/// ranked as what they are, in all experts, in all groups, and in those that
/// stay.
TEST(RouteEdge, SigmoidRanksByTheLogit) {
  auto idsOf = [](const Outcome &run) {
    return fromBytes<int32_t>(run.outputs.at("expert_ids"));
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (bool normalize : {false, true})
    for (RouteSpec spec : {RouteSpec{}, RouteSpec{.groups = 8, .topGroups = 8},
                           RouteSpec{.groups = 8, .topGroups = 4},
                           RouteSpec{.groups = 2, .topGroups = 1},
                           RouteSpec{.experts = 200, .groups = 1}}) {
      spec.sigmoid = true;
      spec.normalize = normalize;
      Rows rows(6, std::vector<double>(spec.experts, -120.0));
      // Eight larger and larger ones, from the front and across registers; what
      // is 1 in f32 begins at 17.
      for (int i = 0; i != 8; ++i) {
        rows[0][3 * i] = 17 + i;
        rows[1][13 * i] = i == 7 ? 3e38 : 120 + i;
        rows[2][9 * i] = -112 + i;          // sigmoids below 2^-149 are 0
        rows[3][5 * i] = 9 + i * 0.0625;    // a few f32 below 1
        rows[4][11 * i] = i % 2 ? 120 : 24; // ties, and not
        rows[5][2 * i] = i == 7 ? infinity : -3e38 * (8 - i) / 8;
      }
      std::vector<int32_t> ids = idsOf(routeRows(spec, rows));
      auto row = [&](int m) {
        return std::vector<int32_t>(ids.begin() + 8 * m,
                                    ids.begin() + 8 * m + 8);
      };
      EXPECT_EQ(row(0), (std::vector<int32_t>{21, 18, 15, 12, 9, 6, 3, 0}));
      EXPECT_EQ(row(4), (std::vector<int32_t>{11, 33, 55, 77, 0, 22, 44, 66}))
          << "of equal logits the lower index";
      if (spec.topGroups < spec.groups)
        continue; // the others' experts are in groups that may be equal
      EXPECT_EQ(row(1), (std::vector<int32_t>{91, 78, 65, 52, 39, 26, 13, 0}));
      EXPECT_EQ(row(2), (std::vector<int32_t>{63, 54, 45, 36, 27, 18, 9, 0}));
      EXPECT_EQ(row(3), (std::vector<int32_t>{35, 30, 25, 20, 15, 10, 5, 0}));
      EXPECT_EQ(row(5)[0], 14);
    }
}

/// The bound of weights where scores are smaller than f32 resolves: alone, with
/// others of that size, and beside large ones.
TEST(RouteEdge, WeightsOfScoresBelowTheSmallestFloat) {
  for (bool normalize : {false, true})
    for (double scale : {1.0, 2.5, 1e-30}) {
      RouteSpec spec{
          .topK = 4, .sigmoid = true, .normalize = normalize, .scale = scale};
      Rows rows;
      for (double value : {-120.0, -104.0, -103.0, -101.5, -100.0, -96.0, -88.0,
                           -87.0, -60.0, -47.0, -40.0})
        for (double other :
             {value, value - 2, -120.0, -92.0, -45.0, 0.0, 30.0}) {
          rows.push_back(std::vector<double>(256, -200.0));
          rows.back()[17] = value;
          rows.back()[130] = rows.back()[131] = other;
          rows.back()[250] = value + 0.5;
        }
      std::vector<float> weights =
          fromBytes<float>(routeRows(spec, rows).outputs["expert_weights"]);
      // All scores are 0 at -120; at -103.5 they are the smallest number there
      // is or twice that, and no relative bound would hold.
      EXPECT_EQ(weights[0], 0);
      if (scale != 1)
        continue;
      double sum = 1e-20, exact = oracle::sigmoid(-103.0);
      if (normalize)
        exact /= sum;
      float found = weights[4 * 14 + 1];
      EXPECT_GT(found, 0);
      EXPECT_GT(std::fabs(found - exact), 0.1 * exact) << found;
    }
  // A gate's weight, as small.
  for (double value : {-120.0, -103.0, -95.0}) {
    RouteSpec spec{.k = 512, .shared = "sigmoid"};
    Buffers inputs = randomRoute(spec, 3);
    std::vector<uint16_t> x(512, 0), gate(512, 0);
    x[300] = oracle::encodeBf16(value);
    gate[300] = oracle::encodeBf16(1);
    inputs["x"] = toBytes(x);
    inputs["shared_gate"] = toBytes(gate);
    Outcome run = runEverywhere(tactic, spec.problem(), inputs);
    EXPECT_EQ(checkRoutes(spec, inputs, run), "") << value;
  }
}

TEST(RouteEdge, AGroupIsJudgedByItsTwoBest) {
  RouteSpec spec{.topK = 2, .groups = 8, .topGroups = 1, .sigmoid = true};
  std::vector<double> logits(256, -8.0);
  logits[5] = 6;                 // the best expert, alone in group 0
  logits[100] = logits[101] = 1; // the best pair
  logits[200] = logits[231] = 2; // 200 is in group 6, 231 in group 7
  Outcome run = routeLogits(spec, logits);
  EXPECT_EQ(fromBytes<int32_t>(run.outputs["expert_ids"]),
            (std::vector<int32_t>{100, 101}));
}

/// Two logits say less than their exponentials: 6 and -8 are more than 4 and 4,
/// less than 5.5 and 5.5. Rows without a largest logit keep the first groups.
TEST(RouteEdge, SoftmaxJudgesGroupsByProbability) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (bool normalize : {false, true})
    for (int64_t experts : {256, 200}) { // groups of 32 lanes, of 25
      RouteSpec spec{.experts = experts,
                     .topK = 2,
                     .groups = 8,
                     .topGroups = 1,
                     .normalize = normalize};
      int last = int(experts) - 1;
      Rows rows(2, std::vector<double>(experts, -8.0));
      rows[0][5] = rows[1][5] = 6;
      rows[0][last] = rows[0][last - 1] = 4;
      rows[1][last] = rows[1][last - 1] = 5.5;
      // Far apart and equal; no logit above -inf; one above all; a NaN
      // elsewhere.
      for (double value : {120.0, -120.0, -3e38})
        rows.push_back(std::vector<double>(experts, value));
      rows.back()[last] = rows.back()[last - 1] = 3e38;
      rows.push_back(std::vector<double>(experts, -infinity));
      rows.push_back(rows[0]);
      rows.back()[last - 3] = infinity;
      rows.push_back(rows[0]);
      rows.back()[last - 3] = std::nan("");
      Outcome run = routeRows(spec, rows);
      std::vector<int32_t> ids =
          fromBytes<int32_t>(run.outputs.at("expert_ids"));
      EXPECT_EQ(ids[0], 5);
      EXPECT_EQ(ids[1], 0);
      EXPECT_EQ(ids[2], last - 1);
      EXPECT_EQ(ids[3], last);
    }
}

TEST(RouteEdge, TheBiasSelectsAndDoesNotWeigh) {
  RouteSpec spec{.topK = 2, .sigmoid = true, .normalize = false, .bias = true};
  std::vector<double> logits(256, 0.0);
  std::vector<float> bias(256, 0.0f);
  bias[77] = 1;
  bias[200] = -1;
  logits[200] = 4;
  logits[9] = 1;
  Outcome run = routeLogits(spec, logits, bias);
  EXPECT_EQ(fromBytes<int32_t>(run.outputs["expert_ids"]),
            (std::vector<int32_t>{77, 9}));
  EXPECT_NEAR(fromBytes<float>(run.outputs["expert_weights"])[0], 0.5, 1e-6);
}

TEST(RouteEdge, SaturatedAndTinyScores) {
  for (bool sigmoid : {false, true})
    for (bool normalize : {false, true}) {
      RouteSpec spec{.sigmoid = sigmoid, .normalize = normalize};
      Rows rows;
      for (double value : {120.0, -120.0, 0.0, 3e38, -3e38, 1e-40}) {
        rows.push_back(std::vector<double>(256, value));
        rows.push_back(rows.back());
        rows.back()[130] = -value;
      }
      rows.push_back(std::vector<double>(256));
      for (int e = 0; e != 256; ++e)
        rows.back()[e] = (e % 2 ? 1 : -1) * e * 0.5;
      routeRows(spec, rows);
    }
  for (double value : {120.0, -120.0}) {
    RouteSpec spec{.k = 512, .shared = "sigmoid"};
    Buffers inputs = randomRoute(spec, 3);
    std::vector<uint16_t> x(512, 0), gate(512, 0);
    x[300] = oracle::encodeBf16(value);
    gate[300] = oracle::encodeBf16(1);
    inputs["x"] = toBytes(x);
    inputs["shared_gate"] = toBytes(gate);
    Outcome run = runEverywhere(tactic, spec.problem(), inputs);
    EXPECT_EQ(checkRoutes(spec, inputs, run), "") << value;
  }
}

TEST(RouteEdge, NotANumberIsTheLargestAndShows) {
  for (bool sigmoid : {false, true}) {
    RouteSpec spec{.sigmoid = sigmoid};
    std::vector<double> logits(256, 1.0);
    logits[150] = logits[20] = std::nan("");
    Outcome run = routeLogits(spec, logits);
    EXPECT_EQ(fromBytes<int32_t>(run.outputs["expert_ids"]),
              (std::vector<int32_t>{20, 150, 0, 1, 2, 3, 4, 5}));
    for (float weight : fromBytes<float>(run.outputs["expert_weights"]))
      EXPECT_TRUE(std::isnan(weight));
    routeLogits(spec, std::vector<double>(256, std::nan("")));
  }
  RouteSpec apart{.sigmoid = true, .normalize = false};
  std::vector<double> logits(256, 1.0);
  logits[9] = std::nan("");
  std::vector<float> weights =
      fromBytes<float>(routeLogits(apart, logits).outputs["expert_weights"]);
  EXPECT_TRUE(std::isnan(weights[0]));
  EXPECT_FALSE(std::isnan(weights[1]));
  RouteSpec grouped{.groups = 8, .topGroups = 1, .sigmoid = true};
  logits[9] = 1;
  logits[70] = std::nan("");
  EXPECT_EQ(
      fromBytes<int32_t>(routeLogits(grouped, logits).outputs["expert_ids"])[0],
      70);
}

TEST(RouteEdge, Infinities) {
  double infinity = std::numeric_limits<double>::infinity();
  for (bool normalize : {false, true}) {
    RouteSpec spec{.normalize = normalize};
    Rows rows(2, std::vector<double>(256, 1.0));
    rows[0][4] = rows[1][4] = -infinity;
    rows[1][200] = infinity;
    rows.push_back(std::vector<double>(256, -infinity));
    routeRows(spec, rows);
    spec.sigmoid = true;
    routeRows(spec, rows);
  }
}

TEST(RouteEdge, LanesWithoutAnExpertAreNeverChosen) {
  double infinity = std::numeric_limits<double>::infinity();
  for (bool sigmoid : {false, true})
    for (int64_t experts : {8, 60, 100}) {
      RouteSpec spec{.experts = experts,
                     .topK = 8,
                     .sigmoid = sigmoid,
                     .normalize = false,
                     .bias = sigmoid};
      // The last expert is the best, alone and among equals; nothing is above
      // the least score there is; scores below zero.
      Rows rows(4, std::vector<double>(experts, -1.0));
      rows[0].back() = 5;
      rows[2].assign(experts, -infinity);
      rows[3].assign(experts, std::nan(""));
      for (float bias : {0.0f, -2.0f})
        routeRows(spec, rows,
                  sigmoid ? std::vector<float>(experts, bias)
                          : std::vector<float>());
    }
  // All the better groups are at the end, and the last is one of them.
  RouteSpec grouped{.experts = 60,
                    .topK = 3,
                    .groups = 4,
                    .topGroups = 1,
                    .sigmoid = true,
                    .bias = true};
  Rows rows(2, std::vector<double>(60, -3.0));
  rows[0][58] = rows[0][59] = 2;
  routeRows(grouped, rows, std::vector<float>(60, -1.0f));
}

TEST(RouteCounters, EachByteMovesOnce) {
  RouteSpec spec{.m = 16, .k = 2048, .shared = "sigmoid"};
  Outcome run = runEverywhere(tactic, spec.problem(), randomRoute(spec, 4));
  uint64_t row = 2 * 256 + 2 * 2048;
  EXPECT_EQ(run.counters.waves, 16u);
  EXPECT_EQ(run.counters.globalLoadBytes, 16 * (row + 2 * 2048 + 40));
  EXPECT_EQ(run.counters.globalDistinctReadBytes, 16 * row + 2 * 2048 + 40);
  EXPECT_EQ(run.counters.globalStoreBytes, 16u * 9 * 8);
  EXPECT_EQ(run.counters.globalDistinctWrittenBytes, 16u * 9 * 8);
  EXPECT_LE(run.counters.maxRoundTrips, 2u);
}

TEST(Route, RefusesWhatItDoesNotCompute) {
  auto refused = [](const RouteSpec &spec) {
    return !catalog().select(spec.problem()).winner;
  };
  EXPECT_FALSE(refused(RouteSpec{}));
  EXPECT_TRUE(refused(RouteSpec{.topK = 17}));
  EXPECT_TRUE(refused(RouteSpec{.experts = 1, .topK = 1}));
  EXPECT_TRUE(refused(RouteSpec{.experts = 7}));
  EXPECT_FALSE(refused(RouteSpec{.experts = 1024}));
  EXPECT_TRUE(refused(RouteSpec{.experts = 1025}));
  EXPECT_FALSE(refused(RouteSpec{.groups = 8, .topGroups = 4}));
  EXPECT_TRUE(refused(RouteSpec{.bias = true})); // softmax
  EXPECT_NE(catalog()
                .select(RouteSpec{.bias = true}.problem())
                .reason.find("HAS_BIAS == 0 || SCORING == 1"),
            std::string::npos);
  EXPECT_TRUE(refused(RouteSpec{.experts = 16,
                                .topK = 1,
                                .groups = 16,
                                .topGroups = 2,
                                .sigmoid = true})); // of 1
  EXPECT_TRUE(refused(
      RouteSpec{.groups = 3, .topGroups = 1, .sigmoid = true})); // 256 / 3
  EXPECT_TRUE(refused(RouteSpec{
      .topK = 16, .groups = 32, .topGroups = 1, .sigmoid = true})); // of 8
}

TEST(RouteNegative, WrongKernelsAreNoticed) {
  RouteSpec spec{.m = 3,
                 .k = 512,
                 .groups = 8,
                 .topGroups = 4,
                 .sigmoid = true,
                 .bias = true,
                 .shared = "sigmoid",
                 .scale = 2.5};
  Buffers inputs = randomRoute(spec, 8);
  auto wrongOf = [&](const RouteSpec &spec, const Buffers &inputs,
                     const char *file, const char *from, const char *to,
                     unsigned occurrence = 1) {
    return noticed(
        tactic, spec.problem(), inputs, {}, {{file, from, to, occurrence}},
        [&](const Outcome &run) { return checkRoutes(spec, inputs, run); });
  };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return wrongOf(spec, inputs, file, from, to, occurrence);
  };
  const char *const route = "include/route.inc", *const file = "router/route.s";
  EXPECT_EQ(wrong(route, "// Netra", "// The Netra"), "");
  EXPECT_NE(wrong(file, "netra_wait_memory (2 *", "netra_wait_memory 63 // (")
                .find("wait"),
            std::string::npos);
  // Layout: the row of the logits, the register of an expert, the slot.
  EXPECT_NE(
      wrong(file, "S_LOGITS, S_ROW, 2*NETRA_E", "S_LOGITS, S_ROW, NETRA_E"),
      "");
  EXPECT_NE(wrong(route, "s_or_b32 s[\\s_t], s[\\s_t], 64*",
                  "s_or_b32 s[\\s_t], s[\\s_t], 32*"),
            "");
  EXPECT_NE(wrong(route, "S_WEIGHTS, \\s_row, 4*NETRA_S",
                  "S_WEIGHTS, \\s_row, 4*NETRA_TOPK"),
            "");
  // A dropped last expert, a group judged by its best alone, a bias that
  // weighs, a missing scale, a missing normalisation, a shared gate unsquashed.
  EXPECT_NE(wrong(route, ".rept NETRA_TOPK\n", ".rept NETRA_TOPK-1\n"), "");
  EXPECT_NE(wrong(route, "v_add_f32 v[V_T0], v[V_T0], v[route_other]",
                  "v_add_f32 v[V_T0], 0, v[V_T0]"),
            "");
  EXPECT_NE(wrong(route, "v_mul_f32 v[V_WEIGHT], NETRA_ROUTED_SCALE",
                  "v_mul_f32 v[V_WEIGHT], 1.0"),
            "");
  EXPECT_NE(wrong(route, "netra_row16_reduce v_add_f32, V_T0", "s_nop 1"), "");
  EXPECT_NE(wrong(route, "netra_sigmoid V_T2, V_DOT, V_T0, V_T1",
                  "v_mov_b32 v[V_T2], v[V_DOT]"),
            "");
  // Any number of experts in any groups: lanes past the end that take part, in
  // the choice and in the sum, or read past it; a group's experts, its lane.
  RouteSpec ragged{.m = 3, .experts = 100, .normalize = false};
  Buffers last = randomRoute(ragged, 9);
  std::vector<uint16_t> logits = fromBytes<uint16_t>(last["logits"]);
  for (int m = 0; m != 3; ++m)
    logits[m * 100 + 99] = oracle::encodeBf16(4);
  last["logits"] = toBytes(logits);
  EXPECT_EQ(wrongOf(ragged, last, route, "// Netra", "// The Netra"), "");
  EXPECT_NE(wrongOf(ragged, last, route,
                    "v_cndmask_b32_e64 v[V_KEY+ROUTE_REGS-1], 0,",
                    "s_nop 0 //"),
            "");
  EXPECT_NE(wrongOf(ragged, last, route, "v_mov_b32 v[V_T0], 0xff800000",
                    "v_mov_b32 v[V_T0], 1.0"),
            "");
  EXPECT_NE(wrongOf(ragged, last, route, "(ROUTE_LAST - 1) << (\\shift)", "256")
                .find("memory"),
            std::string::npos);
  RouteSpec groups{.m = 3,
                   .experts = 160,
                   .topK = 6,
                   .groups = 8,
                   .topGroups = 3,
                   .sigmoid = true,
                   .bias = true};
  Buffers grouped = randomRoute(groups, 10);
  EXPECT_EQ(wrongOf(groups, grouped, route, "// Netra", "// The Netra"), "");
  EXPECT_NE(wrongOf(groups, grouped, route, "- 64 * (\\j)", "- 63 * (\\j)"),
            "");
  EXPECT_NE(wrongOf(groups, grouped, route, "s_bfm_b64 exec, 1, route_g",
                    "s_bfm_b64 exec, 1, route_g/2"),
            "");
  EXPECT_NE(wrongOf(groups, grouped, route, "s_bitcmp1_b64", "s_bitcmp0_b64"),
            "");
  // The two best of a group in one lane of two registers.
  RouteSpec halves{.topK = 2, .groups = 2, .topGroups = 1, .sigmoid = true};
  std::vector<uint16_t> pairs(256, oracle::encodeBf16(-8));
  pairs[5] = pairs[69] = oracle::encodeBf16(2);
  pairs[200] = pairs[201] = oracle::encodeBf16(1.5);
  Buffers inPairs{{"logits", toBytes(pairs)}};
  EXPECT_EQ(wrongOf(halves, inPairs, route, "// Netra", "// The Netra"), "");
  EXPECT_NE(wrongOf(halves, inPairs, route,
                    "v_max_u32 v[V_ID], v[V_ID], v[V_T2]", "s_nop 0"),
            "");
  // Softmax: groups by logits, or without their largest.
  RouteSpec softmax{.m = 3, .topK = 4, .groups = 8, .topGroups = 2};
  Buffers apart = randomRoute(softmax, 11);
  std::vector<uint16_t> high = fromBytes<uint16_t>(apart["logits"]);
  high[40] = high[256 + 40] = oracle::encodeBf16(6);
  high[70] = high[71] = high[230] = high[231] = oracle::encodeBf16(4.5);
  high[256 + 70] = high[256 + 71] = oracle::encodeBf16(4);
  high[256 + 230] = oracle::encodeBf16(4.25);
  apart["logits"] = toBytes(high);
  EXPECT_EQ(wrongOf(softmax, apart, route, "// Netra", "// The Netra"), "");
  for (const char *best : {"V_T0", "V_ID"})
    EXPECT_NE(
        wrongOf(softmax, apart, route,
                (std::string("route_exp ") + best + ", NETRA_S_ACT").c_str(),
                "s_nop 0 //"),
        "");
  EXPECT_NE(wrongOf(softmax, apart, route, "    route_largest_logit\n",
                    "    s_mov_b32 s[NETRA_S_ACT], 0x43480000\n"),
            "");
  // Sigmoid: experts by f32 scores, groups by logits.
  RouteSpec saturated{.topK = 2, .sigmoid = true};
  std::vector<uint16_t> large(256, oracle::encodeBf16(-3));
  large[9] = oracle::encodeBf16(20);
  large[80] = oracle::encodeBf16(30);
  Buffers inLarge{{"logits", toBytes(large)}};
  EXPECT_EQ(wrongOf(saturated, inLarge, route, "// Netra", "// The Netra"), "");
  EXPECT_NE(wrongOf(saturated, inLarge, route,
                    "      v_add_f32 v[V_KEY+.Lnetra_rr_j], 0, "
                    "v[V_LOGIT+.Lnetra_rr_j]",
                    "      netra_sigmoid V_KEY+.Lnetra_rr_j, "
                    "V_LOGIT+.Lnetra_rr_j, V_T0, V_T1"),
            "");
  RouteSpec pair{.topK = 2, .groups = 8, .topGroups = 1, .sigmoid = true};
  large[40] = large[41] = oracle::encodeBf16(2);
  inLarge["logits"] = toBytes(large);
  EXPECT_EQ(wrongOf(pair, inLarge, route, "// Netra", "// The Netra"), "");
  EXPECT_NE(
      wrongOf(pair, inLarge, route, ".elseif !NETRA_HAS_BIAS", ".elseif 0"),
      "");
  // Ties the other way round.
  RouteSpec plain{.m = 2};
  Buffers equal{{"logits", toBytes(std::vector<uint16_t>(512, 0x3f80))}};
  EXPECT_EQ(wrongOf(plain, equal, route, "// Netra", "// The Netra"), "");
  EXPECT_NE(wrongOf(plain, equal, route, "s_min_u32", "s_max_i32"), "");
}

} // namespace
