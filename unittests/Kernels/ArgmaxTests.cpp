//===- ArgmaxTests.cpp - gfx950.argmax ------------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "VocabularyProblems.h"

using namespace kernels;

namespace {

const char *const tactic = "gfx950.argmax";

/// Logits as the kernel reads them.
Bytes encode(const std::vector<float> &logits, bool f32) {
  if (f32)
    return toBytes(logits);
  std::vector<uint16_t> codes;
  for (float logit : logits)
    codes.push_back(oracle::encodeBf16(logit));
  return toBytes(codes);
}

std::vector<double> decode(const Bytes &bytes, bool f32) {
  std::vector<double> values;
  if (f32)
    for (float value : fromBytes<float>(bytes))
      values.push_back(value);
  else
    for (uint16_t value : fromBytes<uint16_t>(bytes))
      values.push_back(oracle::decodeBf16(value));
  return values;
}

int64_t argmax(const double *row, int64_t v) {
  for (int64_t i = 0; i < v; ++i)
    if (std::isnan(row[i]))
      return i;
  return std::max_element(row, row + v) - row;
}

std::string check(const Bytes &logits, bool f32, int64_t v,
                  const Outcome &run) {
  if (run.outputs.empty())
    return "no result";
  std::vector<double> values = decode(logits, f32);
  std::vector<int32_t> result = fromBytes<int32_t>(run.outputs.at("result"));
  for (size_t row = 0; row != result.size(); ++row) {
    int64_t expected = argmax(&values[row * v], v);
    if (result[row] != expected)
      return "row " + std::to_string(row) + ": expected " +
             std::to_string(expected) + ", found " +
             std::to_string(result[row]);
    auto output = run.outputs.find("value");
    if (output == run.outputs.end())
      continue;
    float found = fromBytes<float>(output->second)[row];
    double wanted = values[row * v + expected];
    if (std::isnan(wanted) ? !std::isnan(found) : found != wanted)
      return "row " + std::to_string(row) + ": expected value " +
             std::to_string(wanted) + ", found " + std::to_string(found);
  }
  return "";
}

std::vector<float> randomLogits(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> logits(count);
  for (float &logit : logits)
    logit = static_cast<float>(8 * random.uniform() - 4);
  return logits;
}

TEST(Argmax, MatchesOracle) {
  struct {
    int64_t m, v;
    bool f32;
    Options options;
  } cases[] = {{1, 8, false, {}},     {3, 8, true, {}},
               {2, 4096, true, {}},   {2, 8192, false, {}},
               {3, 8200, false, {}},  {2, 4104, true, {}},
               {2, 32000, true, {}},  {1, 151936, false, {}},
               {1, 40960, true, {}},  {1, 81920, false, {{"DEPTH", 4}}},
               {1, 65544, false, {}}, {1, 50264, true, {{"DEPTH", 4}}}};
  for (const auto &c : cases) {
    Bytes logits = encode(randomLogits(c.v, c.m * c.v), c.f32);
    Outcome run = runEverywhere(tactic, argmaxProblem(c.m, c.v, c.f32),
                                {{"logits", logits}}, c.options);
    EXPECT_EQ(check(logits, c.f32, c.v, run), "") << c.m << "x" << c.v;
    EXPECT_EQ(run.counters.ldsConflictCycles, 0u);
  }
}

/// Rows that differ from `base` at a few places, in one launch.
struct Edge {
  float base;
  std::vector<std::pair<int64_t, float>> at;
};

void expectEdges(const std::vector<Edge> &edges, int64_t v) {
  for (bool f32 : {false, true}) {
    std::vector<float> logits;
    for (const Edge &edge : edges) {
      size_t begin = logits.size();
      logits.resize(begin + v, edge.base);
      for (auto [index, value] : edge.at)
        logits[begin + index] = value;
    }
    Bytes bytes = encode(logits, f32);
    Outcome run = runEverywhere(tactic, argmaxProblem(edges.size(), v, f32),
                                {{"logits", bytes}});
    EXPECT_EQ(check(bytes, f32, v, run), "");
  }
}

TEST(Argmax, TiesNotANumberAndInfinities) {
  const float nan = std::nanf(""), inf = INFINITY, tiny = 0x1p-133f;
  const int64_t v = 10248;
  expectEdges({{0, {}},
               {-0.f, {{9000, 0.f}}},            // equal: the first zero
               {-1, {{8191, 5.f}, {8192, 5.f}}}, // across rounds
               {-1, {{10247, 5.f}, {7, 5.f}}},   // the last and an early one
               {-1, {{10247, 5.f}}},             // in the ragged round
               {-1, {{12, 2.f}, {13, 2.f}, {20, 2.f}}},
               {-inf, {}}, // nothing larger than the start
               {-inf, {{10240, -3e38f}}},
               {0, {{5000, inf}, {6000, inf}}},
               {0, {{5000, nan}, {4, inf}}}, // NaN beats infinity
               {nan, {}},                    // all NaN: the first
               {-1, {{9000, nan}, {300, -nan}, {301, nan}}},
               {-1, {{10247, -nan}}},
               {-tiny, {{77, tiny}, {78, 2 * tiny}, {79, 2 * tiny}}},
               {-3, {{0, -2.f}}}},
              v);
}

TEST(Argmax, SignallingNaNsAreNaNs) {
  std::vector<float> logits(16, 1);
  uint32_t signalling = 0x7f800001, negative = 0xff810000;
  std::memcpy(&logits[6], &negative, 4);
  std::memcpy(&logits[13], &signalling, 4);
  Bytes bytes = toBytes(logits);
  Outcome run =
      runEverywhere(tactic, argmaxProblem(1, 16, true), {{"logits", bytes}});
  EXPECT_EQ(check(bytes, true, 16, run), "");
}

TEST(Argmax, WithoutTheValue) {
  Bytes logits = encode(randomLogits(3, 2 * 4104), true);
  Outcome run = runEverywhere(tactic, argmaxProblem(2, 4104, true, false),
                              {{"logits", logits}});
  EXPECT_EQ(check(logits, true, 4104, run), "");
}

TEST(Argmax, OneCodeObjectForAnyRows) {
  for (bool f32 : {false, true})
    expectOneCodeObject(tactic, argmaxProblem(1, 32000, f32),
                        argmaxProblem(5000, 32000, f32));
}

TEST(Argmax, WidthsThatAreNoMultipleOfEightAreRefused) {
  EXPECT_FALSE(catalog().select(argmaxProblem(1, 50257, true)).winner);
}

TEST(ArgmaxCounters, EachLogitOnce) {
  for (bool f32 : {false, true}) {
    const int64_t v = 248320, bytes = (f32 ? 4 : 2) * v;
    Bytes logits = encode(randomLogits(9, v), f32);
    Outcome run =
        runEverywhere(tactic, argmaxProblem(1, v, f32), {{"logits", logits}});
    EXPECT_EQ(check(logits, f32, v, run), "");
    // The row, the winning chunk again, three pointers of each wave.
    EXPECT_EQ(run.counters.globalLoadBytes, uint64_t(bytes + 16 + 16 * 24));
    EXPECT_EQ(run.counters.globalDistinctReadBytes, uint64_t(bytes + 24));
    EXPECT_EQ(run.counters.globalStoreBytes, 8u);
    EXPECT_GE(run.counters.firstWaitBytesPerCu, uint64_t(64 << 10));
    EXPECT_EQ(run.counters.ldsConflictCycles, 0u);
    EXPECT_EQ(run.counters.wavesPerWorkgroup, 16u);
  }
}

TEST(ArgmaxNegative, WrongKernelsAreNoticed) {
  // Ten full rounds and a ragged one.
  const int64_t v = 8192 * 10 + 264;
  std::vector<float> logits(6 * v, -1);
  logits[100] = logits[9000] = 3; // a tie
  logits[v + v - 1] = 3;          // in the ragged round
  logits[2 * v + 40000] = std::nanf("");
  logits[2 * v + 41000] = INFINITY;
  logits[3 * v + 75000] = 2;                       // in a round left over
  logits[4 * v + 1026] = logits[4 * v + 1029] = 2; // within a chunk
  std::fill(logits.begin() + 5 * v, logits.end(), -INFINITY);
  Bytes bytes = encode(logits, false);
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    // Two laps of four rounds, two left over.
    return noticed(
        tactic, argmaxProblem(6, v, false), {{"logits", bytes}}, {{"DEPTH", 4}},
        {{file, from, to, occurrence}},
        [&](const Outcome &run) { return check(bytes, false, v, run); });
  };
  const char *const row = "include/vocabulary.inc";
  EXPECT_EQ(wrong(row, "// Netra", "// The Netra"), "");
  EXPECT_NE(wrong(row, "v_cmp_gt_f32 vcc, v[V_T0], v[V_BEST]",
                  "v_cmp_ge_f32 vcc, v[V_T0], v[V_BEST]"),
            "");
  EXPECT_NE(
      wrong(row, "v_add_u32 v[V_NUMBER], 1024", "v_add_u32 v[V_NUMBER], 1023"),
      "");
  EXPECT_NE(wrong(row, "s_cselect_b32 s[S_HIT], 0, s[S_HIT]",
                  "s_cselect_b32 s[S_HIT], 1, s[S_HIT]"),
            "");
  EXPECT_NE(wrong(row, "v_min_u32 v[V_NAN]", "v_max_u32 v[V_NAN]"), "");
  EXPECT_NE(wrong(row, "netra_row16_reduce v_min_u32, V_CHUNK",
                  "netra_row16_reduce v_max_u32, V_CHUNK"),
            "");
  EXPECT_NE(wrong(row, "s_ff1_i32_b64 s[\\s_index], vcc",
                  "s_flbit_i32_b64 s[\\s_index], vcc"),
            "");
  // The ragged round dropped; one wave of the sixteen dropped.
  EXPECT_NE(wrong(row, "    \\process \\v_tail\n", ""), "");
  EXPECT_NE(wrong(row, "v_and_b32 v[V_T0], 15, v[V_LANE]",
                  "v_and_b32 v[V_T0], 7, v[V_LANE]"),
            "");
  // Waits that are one too lax.
  EXPECT_NE(wrong(row, "netra_wait_memory .Lvoc_depth-1",
                  "netra_wait_memory .Lvoc_depth")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(row, "netra_wait_memory .Lvoc_younger",
                  "netra_wait_memory .Lvoc_younger+1")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(row, "  netra_barrier\n", "").find("race"),
            std::string::npos);
}

} // namespace
