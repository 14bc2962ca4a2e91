//===- QuantizeTests.cpp - gfx950.quantize_blocks_bf16 --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

using namespace kernels;

namespace {

const char *const tactic = "gfx950.quantize_blocks_bf16";

std::string checkAgainst(const std::vector<uint16_t> &x, const Outcome &run) {
  if (run.outputs.empty())
    return "no result";
  std::vector<double> values(x.size());
  for (size_t i = 0; i != x.size(); ++i)
    values[i] = oracle::decodeBf16(x[i]);
  return checkQuantized(run.outputs.at("result"),
                        run.outputs.at("result_scale"), values);
}

TEST(QuantizeBlocks, MatchesOracle) {
  struct {
    int64_t m, k;
    Options options;
  } cases[] = {{1, 2048, {}},
               {1, 5632, {}},
               {3, 128, {}},
               {16, 640, {}},
               {2, 17408, {}},
               {2, 2176, {{"WAVES", 4}}},
               {5, 4096, {{"WAVES", 4}}}};
  for (const auto &c : cases) {
    std::vector<uint16_t> x = Random(c.m + c.k).bf16(c.m * c.k, 3);
    Outcome run = runEverywhere(tactic, quantizeProblem(c.m, c.k),
                                {{"x", toBytes(x)}}, c.options);
    EXPECT_EQ(checkAgainst(x, run), "") << c.m << "x" << c.k;
  }
}

TEST(QuantizeBlocks, ScalesGroupByGroup) {
  const std::string grouped = std::string(tactic) + "_group_major";
  for (auto [m, k] : {std::pair<int64_t, int64_t>(1, 2048), {5, 640}}) {
    std::vector<uint16_t> x = Random(m + k).bf16(m * k, 3);
    Outcome run = runEverywhere(grouped, quantizeProblem(m, k, true),
                                {{"x", toBytes(x)}});
    ASSERT_FALSE(run.outputs.empty());
    run.outputs["result_scale"] =
        rowMajorScales(run.outputs["result_scale"], m);
    EXPECT_EQ(checkAgainst(x, run), "") << m << "x" << k;
  }
}

TEST(QuantizeBlocks, OneCodeObjectForAnyRows) {
  expectOneCodeObject(tactic, quantizeProblem(1, 640),
                      quantizeProblem(70000, 640));
  expectOneCodeObject(std::string(tactic) + "_group_major",
                      quantizeProblem(1, 640, true),
                      quantizeProblem(70000, 640, true));
}

TEST(QuantizeBlocks, EveryMagnitude) {
  // Each group at another power of two, from denormals to the largest.
  const int64_t k = 128 * 250;
  Random random(1);
  std::vector<uint16_t> x(k);
  for (int64_t i = 0; i < k; ++i)
    x[i] = oracle::encodeBf16(
        std::ldexp(random.uniform() * 2 - 1, static_cast<int>(i / 128) - 125));
  Outcome run =
      runEverywhere(tactic, quantizeProblem(1, k), {{"x", toBytes(x)}});
  EXPECT_EQ(checkAgainst(x, run), "");
}

TEST(QuantizeBlocks, Edges) {
  const int64_t k = 128 * 6;
  std::vector<uint16_t> x(k, 0);
  // Group 0 all zero; 1 all negative zero; 2 one huge value; 3 denormals;
  // 4 one NaN; 5 one infinity.
  std::fill(x.begin() + 128, x.begin() + 256, 0x8000);
  x[256 + 9] = 0x7f7f;
  std::fill(x.begin() + 384, x.begin() + 512, 0x0003);
  for (int i = 0; i < 128; ++i)
    x[512 + i] = x[640 + i] = oracle::encodeBf16(i);
  x[512 + 77] = 0xffc1;
  x[640 + 99] = 0x7f80;
  Outcome run =
      runEverywhere(tactic, quantizeProblem(1, k), {{"x", toBytes(x)}});
  EXPECT_EQ(checkAgainst(x, run), "");
  const Bytes &codes = run.outputs["result"];
  ASSERT_EQ(codes.size(), size_t(k));
  EXPECT_EQ(codes[0], 0x00);
  EXPECT_EQ(codes[128], 0x80);
  EXPECT_EQ(codes[256 + 9], 0x7e);
  EXPECT_TRUE(oracle::isNanFp8(codes[512 + 77]));
  EXPECT_EQ(codes[512 + 127], 0x7e);
  EXPECT_TRUE(oracle::isNanFp8(codes[640 + 99]));
}

TEST(QuantizeBlocksNegative, WrongKernelsAreNoticed) {
  const int64_t m = 2, k = 640;
  std::vector<uint16_t> x = Random(2).bf16(m * k);
  auto wrong = [&](const char *file, const char *from, const char *to) {
    return noticed(tactic, quantizeProblem(m, k), {{"x", toBytes(x)}}, {},
                   {{file, from, to}},
                   [&](const Outcome &run) { return checkAgainst(x, run); });
  };
  const char *const quantize = "quantize/quantize_blocks.s";
  EXPECT_EQ(wrong(quantize, "// Schedule.", "// The schedule."), "");
  EXPECT_NE(wrong(quantize, "  netra_wait_memory 0\n", "").find("wait"),
            std::string::npos);
  EXPECT_NE(wrong("include/rows.inc",
                  "  netra_row16_reduce v_max_f32, \\v_dst\n", ""),
            "");
  EXPECT_NE(wrong("include/rows.inc", "v_lshrrev_b32 v[\\v_t2], 7",
                  "v_lshrrev_b32 v[\\v_t2], 8"),
            "");
  EXPECT_NE(wrong(quantize, "S_SCALE, S_ROW, NETRA_K/32",
                  "S_SCALE, S_ROW, NETRA_K/64"),
            "");
  EXPECT_NE(wrong("include/reduce.inc", "\\op, \\v, row_ror:1\n",
                  "\\op, \\v, row_ror:2\n"),
            "");
}

} // namespace
