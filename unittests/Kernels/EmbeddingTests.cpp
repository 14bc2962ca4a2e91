//===- EmbeddingTests.cpp - gfx950.embedding_bf16 -------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "VocabularyProblems.h"

using namespace kernels;

namespace {

const char *const tactic = "gfx950.embedding_bf16";

/// The scaled product in doubles is exact; it is rounded to bf16 by way of f32.
uint16_t scaled(uint16_t code, float scale) {
  if (scale == 1)
    return code;
  double product = oracle::decodeBf16(code) * static_cast<double>(scale);
  return oracle::encodeBf16(static_cast<float>(product));
}

std::string check(const std::vector<int32_t> &ids,
                  const std::vector<uint16_t> &table, int64_t n, float scale,
                  const Outcome &run) {
  if (run.outputs.empty())
    return "no result";
  std::vector<uint16_t> result = fromBytes<uint16_t>(run.outputs.at("result"));
  int64_t v = table.size() / n;
  for (size_t i = 0; i != result.size(); ++i) {
    int64_t id = ids[i / n];
    uint16_t expected =
        id < 0 || id >= v ? 0 : scaled(table[id * n + i % n], scale);
    if (result[i] != expected &&
        !(oracle::isNanBf16(result[i]) && oracle::isNanBf16(expected)))
      return "element " + std::to_string(i) + ": expected " +
             std::to_string(expected) + ", found " + std::to_string(result[i]);
  }
  return "";
}

TEST(Embedding, MatchesOracle) {
  struct {
    int64_t m, v, n;
    double scale;
    Options options;
  } cases[] = {{1, 100, 2048, 1, {}},   {5, 37, 8, 1, {}},
               {3, 40, 504, 45.25, {}}, {7, 50, 5120, 1, {}},
               {4, 50, 2056, 0.1f, {}}, {2, 9, 1032, -3, {{"WAVES", 1}}},
               {3, 1, 640, 1, {}}};
  for (const auto &c : cases) {
    Random random(c.m + c.n);
    std::vector<uint16_t> table = random.bf16(c.v * c.n);
    std::vector<int32_t> ids(c.m);
    for (int32_t &id : ids)
      id = static_cast<int32_t>(random.bits() % c.v);
    Outcome run = runEverywhere(
        tactic, embeddingProblem(c.m, c.v, c.n, c.scale),
        {{"ids", toBytes(ids)}, {"table", toBytes(table)}}, c.options);
    EXPECT_EQ(check(ids, table, c.n, c.scale, run), "") << c.m << "x" << c.n;
  }
}

TEST(Embedding, IdsOutsideTheTableGiveZeros) {
  const int64_t v = 11, n = 520;
  std::vector<uint16_t> table = Random(1).bf16(v * n);
  std::vector<int32_t> ids = {0,  10, 11, -1, INT32_MAX, INT32_MIN,
                              10, 0,  5,  5,  12};
  for (double scale : {1.0, 8.0}) {
    Outcome run =
        runEverywhere(tactic, embeddingProblem(ids.size(), v, n, scale),
                      {{"ids", toBytes(ids)}, {"table", toBytes(table)}});
    EXPECT_EQ(check(ids, table, n, scale, run), "");
  }
}

TEST(Embedding, EveryCode) {
  // All bf16 codes; with scale 1 the bits of NaNs are copied, too.
  const int64_t v = 16, n = 4096;
  std::vector<uint16_t> table(v * n);
  for (size_t i = 0; i != table.size(); ++i)
    table[i] = static_cast<uint16_t>(i);
  std::vector<int32_t> ids(v);
  for (int64_t i = 0; i != v; ++i)
    ids[i] = static_cast<int32_t>(v - 1 - i);
  Buffers inputs{{"ids", toBytes(ids)}, {"table", toBytes(table)}};
  for (double scale : {1.0, 0x1p-100, 1e30}) {
    Outcome run =
        runEverywhere(tactic, embeddingProblem(v, v, n, scale), inputs);
    EXPECT_EQ(check(ids, table, n, scale, run), "") << scale;
    if (scale != 1)
      continue;
    std::vector<uint16_t> result = fromBytes<uint16_t>(run.outputs["result"]);
    for (int64_t i = 0; i != v * n; ++i)
      ASSERT_EQ(result[i], table[(v - 1 - i / n) * n + i % n]);
  }
}

TEST(Embedding, OneCodeObjectForAnyRows) {
  expectOneCodeObject(tactic, embeddingProblem(1, 100, 2048),
                      embeddingProblem(100000, 100, 2048));
}

TEST(Embedding, TablesOfModelSizes) {
  // 248,320 rows of 2048 and of 5120: the second takes 2.5 GB, of which only
  // the rows that are asked for ever get memory.
  const int64_t v = 248320;
  const std::vector<int32_t> ids = {0, v - 1, 123456, v, 209716, 209715};
  for (int64_t n : {2048, 5120}) {
    llvm::Expected<Kernel> kernel =
        build(tactic, embeddingProblem(ids.size(), v, n));
    ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
    std::vector<uint16_t> rows = Random(n).bf16(ids.size() * n),
                          expected = rows;
    RunOptions options;
    options.checks = 0; // which look at every byte of the table
    for (size_t i = 0; i != ids.size(); ++i) {
      if (ids[i] < v)
        options.pieces["table"][uint64_t(ids[i]) * 2 * n] =
            toBytes(std::vector<uint16_t>(rows.begin() + i * n,
                                          rows.begin() + (i + 1) * n));
      else
        std::fill_n(expected.begin() + i * n, n, 0);
    }
    llvm::Expected<Outcome> once =
        run(*kernel, {{"ids", toBytes(ids)}}, options);
    ASSERT_TRUE(bool(once)) << llvm::toString(once.takeError());
    EXPECT_TRUE(once->findings.empty()) << once->findingsText();
    EXPECT_TRUE(once->outputs["result"] == toBytes(expected)) << n;
  }
}

TEST(EmbeddingCounters, OnlyTheRowsThatAreAskedFor) {
  const int64_t m = 4, v = 500, n = 2048;
  std::vector<int32_t> ids = {3, 499, 500, 42};
  std::vector<uint16_t> table = Random(2).bf16(v * n);
  Outcome run =
      runEverywhere(tactic, embeddingProblem(m, v, n),
                    {{"ids", toBytes(ids)}, {"table", toBytes(table)}});
  // Three rows; three pointers and one id of each wave.
  EXPECT_EQ(run.counters.globalLoadBytes,
            uint64_t(3 * 2 * n) + run.counters.waves * 28);
  EXPECT_EQ(run.counters.globalDistinctReadBytes,
            uint64_t(3 * 2 * n + 24 + 16));
  EXPECT_EQ(run.counters.globalStoreBytes, uint64_t(m * 2 * n));
  EXPECT_EQ(run.counters.globalDistinctWrittenBytes, uint64_t(m * 2 * n));
  EXPECT_LE(run.counters.maxRoundTrips, 3u); // arguments, id, row
}

TEST(EmbeddingNegative, WrongKernelsAreNoticed) {
  const int64_t m = 5, v = 20, n = 648;
  std::vector<int32_t> ids = {3, 19, 20, -1, 7};
  std::vector<uint16_t> table = Random(3).bf16(v * n);
  Buffers inputs{{"ids", toBytes(ids)}, {"table", toBytes(table)}};
  auto wrong = [&](const char *from, const char *to) {
    return noticed(
        tactic, embeddingProblem(m, v, n, 3), inputs, {},
        {{"vocabulary/embedding.s", from, to}},
        [&](const Outcome &run) { return check(ids, table, n, 3, run); });
  };
  EXPECT_EQ(wrong("// Arithmetic.", "// The arithmetic."), "");
  EXPECT_NE(
      wrong("s_cmp_ge_u32 s[S_ID], NETRA_V", "s_cmp_gt_u32 s[S_ID], NETRA_V"),
      "");
  EXPECT_NE(
      wrong("s_cmp_ge_u32 s[S_ID], NETRA_V", "s_cmp_ge_i32 s[S_ID], NETRA_V"),
      "");
  EXPECT_NE(wrong("S_TABLE, S_ID, 2*NETRA_N", "S_TABLE, S_ID, 2*NETRA_N-2"),
            "");
  EXPECT_NE(wrong("netra_row_pointer S_IDS, S_ROW, 4",
                  "netra_row_pointer S_IDS, S_ROW, 8"),
            "");
  EXPECT_NE(wrong("s_mov_b32 s[S_TMP], NETRA_SCALE", "s_mov_b32 s[S_TMP], 1.0"),
            "");
  EXPECT_NE(wrong("  netra_wait_memory 0\n", "").find("wait"),
            std::string::npos);
}

} // namespace
