//===- SampleTests.cpp - gfx950.sample ------------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The oracle does not repeat the kernel's weights. It has the exact
// distribution in doubles, a bound on how far the kernel's may stray from it,
// and its own random numbers; a draw is right when it agrees with both.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "VocabularyProblems.h"
#include "gmock/gmock.h"

#include <array>
#include <numeric>

using namespace kernels;

namespace {

const char *const tactic = "gfx950.sample";
const char *const source = "vocabulary/sample.s";

/// Philox4x32-10 as published (Salmon et al., 2011).
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key) {
  for (int round = 0; round != 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * counter[0];
    uint64_t b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b),
               uint32_t(a >> 32) ^ counter[3] ^ key[1], uint32_t(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

struct Row {
  float temperature = 1;
  int32_t topK = 0;
  float topP = 1;
  int64_t seed = 0, offset = 0;
};

uint64_t randomBits(const Row &row, size_t index) {
  auto word = [](int64_t value, int shift) {
    return static_cast<uint32_t>(static_cast<uint64_t>(value) >> shift);
  };
  std::array<uint32_t, 4> x = philox({word(row.offset, 0), word(row.offset, 32),
                                      static_cast<uint32_t>(index), 0},
                                     {word(row.seed, 0), word(row.seed, 32)});
  return uint64_t(x[1]) << 32 | x[0];
}

struct Draws {
  int64_t v;
  bool f32;
  std::vector<Row> rows;
  std::vector<double> logits; // [rows, v], representable in the type

  Draws(int64_t v, bool f32, std::vector<Row> rows)
      : v(v), f32(f32), rows(std::move(rows)), logits(this->rows.size() * v) {}

  double round(double value) const {
    return f32 ? static_cast<float>(value)
               : oracle::decodeBf16(oracle::encodeBf16(value));
  }
  /// Normally distributed logits, rounded to multiples of `step` when given.
  void randomize(uint64_t seed, double deviation, double step = 0) {
    Random random(seed);
    for (double &logit : logits) {
      logit = random.normal() * deviation;
      if (step != 0)
        logit = std::nearbyint(logit / step) * step;
      logit = round(logit);
    }
  }
  netra::Problem problem() const { return sampleProblem(rows.size(), v, f32); }
  Buffers inputs() const {
    std::vector<float> single(logits.begin(), logits.end()), temperature, topP;
    std::vector<uint16_t> half;
    std::vector<int32_t> topK;
    std::vector<int64_t> seed, offset;
    for (double logit : logits)
      half.push_back(oracle::encodeBf16(logit));
    for (const Row &row : rows) {
      temperature.push_back(row.temperature);
      topK.push_back(row.topK);
      topP.push_back(row.topP);
      seed.push_back(row.seed);
      offset.push_back(row.offset);
    }
    return {{"logits", f32 ? toBytes(single) : toBytes(half)},
            {"temperature", toBytes(temperature)},
            {"top_k", toBytes(topK)},
            {"top_p", toBytes(topP)},
            {"seed", toBytes(seed)},
            {"offset", toBytes(offset)}};
  }

  std::string check(const Outcome &run) const {
    if (run.outputs.empty())
      return "no result";
    std::vector<int32_t> result = fromBytes<int32_t>(run.outputs.at("result"));
    for (size_t i = 0; i != rows.size(); ++i) {
      std::string difference = checkRow(i, result[i]);
      if (!difference.empty())
        return "row " + std::to_string(i) + ": " + difference;
    }
    return "";
  }

private:
  std::string checkRow(size_t index, int64_t found) const {
    const double *x = &logits[index * v];
    const Row &row = rows[index];
    if (found < 0 || found >= v)
      return std::to_string(found) + " is no index";
    int64_t best = std::find_if(x, x + v, [](double y) { return y != y; }) - x;
    bool greedy = best != v || !(row.temperature > 0);
    if (best == v)
      best = std::max_element(x, x + v) - x;
    if (greedy || std::isinf(x[best]))
      return found == best ? ""
                           : "expected the argmax " + std::to_string(best) +
                                 ", found " + std::to_string(found);

    std::vector<int32_t> order(v);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return x[a] > x[b] || (x[a] == x[b] && a < b);
    });
    int64_t k = row.topK <= 0 || row.topK >= v ? v : row.topK;
    // Weights relative to the largest, and the sum of their errors.
    std::vector<double> weight(v), sums(k + 1);
    double error = 0;
    for (int64_t n = 0; n != k; ++n) {
      double y = std::isinf(x[order[n]])
                     ? -INFINITY
                     : (x[order[n]] - x[best]) / row.temperature;
      weight[order[n]] = std::exp(y);
      sums[n + 1] = sums[n] + weight[order[n]];
      if (weight[order[n]] > 0)
        error += weight[order[n]] * (0x1p-22 - y * 0x1p-21) + 0x1p-32;
    }
    error += 0x1p-31;
    // How many top-p keeps: all numbers that some weights within the errors
    // give.
    int64_t least = k, most = k;
    if (row.topP < 1) {
      double share = std::floor(std::max(row.topP, 0.f) * 0x1p32) * 0x1p-32;
      double need = share * sums[k];
      least = most = 1;
      while (least < k && sums[least] < need - 2 * error)
        ++least;
      while (most < k && sums[most] < need + 2 * error)
        ++most;
    }
    std::vector<int64_t> rank(v, v);
    for (int64_t n = 0; n != most; ++n)
      rank[order[n]] = n;
    if (rank[found] == v)
      return std::to_string(found) + " is not among the " +
             std::to_string(most) + " that are kept";
    // The walk up to what was found, with the most and the least that is kept.
    const int64_t chunk = f32 ? 4 : 8, chunks = v / chunk;
    double before = 0, after = 0;
    for (int64_t item = 0, done = 0; item != 1024 && !done; ++item)
      for (int64_t c = item; c < chunks && !done; c += 1024)
        for (int64_t i = c * chunk; i != (c + 1) * chunk && !done; ++i) {
          done = i == found;
          if (rank[i] < least && !done)
            before += weight[i];
          if (rank[i] < most)
            after += weight[i];
        }
    double u = static_cast<double>(randomBits(row, index)) * 0x1p-64;
    if (u * sums[most] + 2 * error >= before &&
        u * sums[least] - 2 * error <= after)
      return "";
    return "u = " + std::to_string(u) + " of " + std::to_string(sums[most]) +
           " does not fall on " + std::to_string(found) + ", which has " +
           std::to_string(before) + " to " + std::to_string(after);
  }
};

Outcome runOnce(const Draws &draws, unsigned checks) {
  llvm::Expected<Kernel> kernel = build(tactic, draws.problem());
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    return {};
  }
  RunOptions options;
  options.checks = checks;
  llvm::Expected<Outcome> once = run(*kernel, draws.inputs(), options);
  if (!once) {
    ADD_FAILURE() << llvm::toString(once.takeError());
    return {};
  }
  EXPECT_TRUE(once->findings.empty()) << once->findingsText();
  return std::move(*once);
}

/// Rows that differ in seed and offset.
std::vector<Row> seeds(size_t count, Row row, uint64_t seed) {
  Random random(seed);
  std::vector<Row> rows(count, row);
  for (Row &one : rows) {
    one.seed = static_cast<int64_t>(random.bits());
    one.offset = static_cast<int64_t>(random.bits());
  }
  return rows;
}

TEST(SampleOracle, PhiloxHasThePublishedValues) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Sample, EqualLogitsShowTheRandomNumber) {
  // 2^16 equal weights: the place in the walk is the upper 16 bits of U.
  for (bool f32 : {false, true}) {
    Draws draws(65536, f32, seeds(4, {}, 1));
    draws.rows[0] = {};
    draws.rows[2] = {0.5f, 0, 1, -1, -1};
    Outcome run = runOnce(draws, 0);
    ASSERT_FALSE(run.outputs.empty());
    std::vector<int32_t> result = fromBytes<int32_t>(run.outputs["result"]);
    const uint64_t chunk = f32 ? 4 : 8, perItem = 65536 / 1024;
    for (size_t i = 0; i != draws.rows.size(); ++i) {
      uint64_t place = randomBits(draws.rows[i], i) >> 48;
      uint64_t item = place / perItem, within = place % perItem;
      EXPECT_EQ(uint64_t(result[i]),
                (item + within / chunk * 1024) * chunk + within % chunk)
          << i;
    }
    EXPECT_EQ(draws.check(run), "");
  }
}

TEST(Sample, MatchesOracle) {
  const Row settings[] = {{1, 0, 1},     {0.7f, 50, 1},    {1.5f, 0, 0.9f},
                          {1, 40, 0.8f}, {2, 1, 0.5f},     {0.1f, 3, 0.3f},
                          {5, 0, 0},     {1, 1 << 30, 2},  {1, 100, 0.999f},
                          {1, -5, 0.5f}, {100, 500, 0.6f}, {1, 2, 1e-9f}};
  for (bool f32 : {false, true}) {
    std::vector<Row> rows = seeds(std::size(settings), {}, 2);
    for (size_t i = 0; i != rows.size(); ++i) {
      rows[i].temperature = settings[i].temperature;
      rows[i].topK = settings[i].topK;
      rows[i].topP = settings[i].topP;
    }
    Draws draws(f32 ? 2056 : 8712, f32, rows);
    draws.randomize(f32 + 3, 2);
    EXPECT_EQ(draws.check(runOnce(draws, netra::sim::CheckAll)), "") << f32;
    // Logits in steps: many of equal weight where top-k and top-p cut.
    draws.randomize(f32 + 5, 2, 1);
    EXPECT_EQ(draws.check(runOnce(draws, 0)), "") << f32;
  }
}

TEST(Sample, RunsAgree) {
  for (bool f32 : {false, true}) {
    Draws draws(1032, f32, seeds(2, {1, 30, 0.9f}, 4));
    draws.randomize(7, 1, 0.5);
    Outcome run = runEverywhere(tactic, draws.problem(), draws.inputs());
    EXPECT_EQ(draws.check(run), "");
    EXPECT_EQ(run.counters.ldsConflictCycles, 0u);
    EXPECT_EQ(run.counters.globalStoreBytes, 8u);
  }
}

TEST(Sample, SmallRows) {
  for (bool f32 : {false, true}) {
    Draws draws(8, f32, seeds(12, {1, 3, 0.9f}, 5));
    for (size_t i = 0; i != draws.rows.size(); ++i) {
      draws.rows[i].topK = i % 10;
      draws.rows[i].topP = 0.1f * (1 + i);
    }
    draws.randomize(8, 1);
    EXPECT_EQ(draws.check(runOnce(draws, netra::sim::CheckAll)), "");
  }
}

TEST(Sample, TiesKeepTheLowestIndices) {
  // All equal: top-k keeps 0 .. k - 1, top-p the same by weight.
  Draws draws(4104, true, seeds(6, {1, 5, 1}, 6));
  draws.rows[3].topK = draws.rows[4].topK = draws.rows[5].topK = 0;
  draws.rows[3].topP = 5.f / 4104;
  draws.rows[4].topP = 0;
  draws.rows[5].topP = 0.5f;
  Outcome run = runOnce(draws, 0);
  ASSERT_FALSE(run.outputs.empty());
  EXPECT_EQ(draws.check(run), "");
  std::vector<int32_t> result = fromBytes<int32_t>(run.outputs["result"]);
  for (int i = 0; i != 4; ++i)
    EXPECT_LE(result[i], 5);
  EXPECT_EQ(result[4], 0);
  EXPECT_LE(result[5], 2052);
}

TEST(Sample, TheArgmaxWithoutATemperatureOrAFiniteMaximum) {
  const float nan = std::nanf(""), inf = INFINITY;
  Draws draws(4104, false, seeds(10, {}, 7));
  draws.randomize(9, 2);
  for (auto [row, temperature] :
       {std::pair(0, 0.f), {1, -0.f}, {2, -1.f}, {3, nan}, {4, -inf}})
    draws.rows[row].temperature = temperature;
  draws.logits[5 * 4104 + 77] = inf;
  draws.logits[6 * 4104 + 4000] = draws.logits[6 * 4104 + 4001] = nan;
  std::fill_n(draws.logits.begin() + 7 * 4104, 4104, -inf);
  // Masked logits are never drawn; a tiny temperature leaves the maximum.
  for (int i = 0; i != 4104; ++i)
    if (i % 7)
      draws.logits[8 * 4104 + i] = -inf;
  draws.rows[8].temperature = inf;
  draws.rows[9].temperature = 1e-40f;
  EXPECT_EQ(draws.check(runOnce(draws, netra::sim::CheckAll)), "");
}

TEST(Sample, RowsOfModelSize) {
  for (bool f32 : {false, true}) {
    Draws draws(248320, f32, seeds(2, {0.8f, 50, 0.95f}, 8));
    draws.rows[1] = {1.2f, 0, 0.9f, 5, 6};
    draws.randomize(10, 2);
    EXPECT_EQ(draws.check(runOnce(draws, 0)), "") << f32;
  }
}

TEST(Sample, OneCodeObjectForAnyRows) {
  expectOneCodeObject(tactic, sampleProblem(1, 32000, true),
                      sampleProblem(5000, 32000, true));
  EXPECT_FALSE(catalog().select(sampleProblem(1, 50257, true)).winner);
}

TEST(SampleNegative, WrongKernelsAreNoticed) {
  Draws draws(1032, false, seeds(8, {1, 40, 0.8f}, 9));
  draws.randomize(11, 1, 0.25);
  auto wrong = [&](const char *from, const char *to, unsigned occurrence = 1) {
    return noticed(
        tactic, draws.problem(), draws.inputs(), {},
        {{source, from, to, occurrence}},
        [&](const Outcome &run) { return draws.check(run); }, 0);
  };
  EXPECT_EQ(wrong("// Schedule.", "// The schedule."), "");
  // The generator.
  EXPECT_NE(wrong("  .rept 10\n", "  .rept 9\n"), "");
  EXPECT_NE(wrong("0x9e3779b9", "0x9e3779b1"), "");
  EXPECT_NE(wrong("s_mul_i32 s[S_P1+1], s[S_COUNTER+2], 0xcd9e8d57",
                  "s_mul_i32 s[S_P1+1], s[S_COUNTER+2], 0xd2511f53"),
            "");
  EXPECT_NE(wrong("s_mov_b32 s[S_COUNTER+2], s[S_ROW]",
                  "s_mov_b32 s[S_COUNTER+2], 0"),
            "");
  // The distribution: temperature, which ties are kept, a digit left out.
  EXPECT_NE(wrong("0x3fb8aa3b", "0x3f800000"), "");
  EXPECT_NE(wrong("  s_mov_b32 s[S_NEED], s[S_TOP_K]\n",
                  "  s_lshr_b32 s[S_NEED], s[S_TOP_K], 1\n"),
            "");
  EXPECT_NE(wrong("s_or_b32 s[S_KEPT], s[S_KEPT], 0xfff00000",
                  "s_branch .Lsample_selected_\\name"),
            "");
  EXPECT_NE(wrong("v_ldexp_f32 v[V_T0], v[V_T0], 32",
                  "v_ldexp_f32 v[V_T0], v[V_T0], 31"),
            "");
  // A digit that is looked at for ever.
  EXPECT_THAT(wrong("s_sub_u32 s[S_SHIFT], s[S_SHIFT], 4",
                    "s_sub_u32 s[S_SHIFT], s[S_SHIFT], 0"),
              testing::HasSubstr("wave instructions is exceeded"));
  // The walk.
  EXPECT_NE(wrong("v_addc_co_u32 v[V_T1], vcc, 0, v[V_T1], vcc", "s_nop 0"),
            "");
  EXPECT_NE(wrong("  sample_scan64_step \\v, row_bcast:31 row_mask:0xc "
                  "bank_mask:0xf\n",
                  ""),
            "");
}

TEST(SampleNegative, MissingSynchronisationIsNoticed) {
  Draws draws(1032, false, seeds(1, {1, 40, 0.8f}, 9));
  draws.randomize(11, 1, 0.25);
  auto wrong = [&](const char *from, const char *to) {
    return noticed(tactic, draws.problem(), draws.inputs(), {},
                   {{source, from, to}},
                   [&](const Outcome &) { return std::string(); });
  };
  EXPECT_NE(wrong("  sample_walk sample_bin_step, select_\\name\n"
                  "  netra_barrier\n",
                  "  sample_walk sample_bin_step, select_\\name\n"
                  "  netra_wait_lds\n")
                .find("race"),
            std::string::npos);
  EXPECT_NE(wrong("  netra_wait_memory 0\n", "").find("wait"),
            std::string::npos);
  EXPECT_NE(wrong("  v_exp_f32 v[\\w], v[\\w]\n  s_nop 0 ",
                  "  v_exp_f32 v[\\w], v[\\w]\n")
                .find("hazard"),
            std::string::npos);
}

} // namespace
