//===- DenseFp8Tests.cpp - gfx950.dense_fp8_block128_m16 and its forms ----===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "DenseCases.h"

using namespace kernels;

namespace {

const char *const tactic = "gfx950.dense_fp8_block128_m16";
const char *const tactic32 = "gfx950.dense_fp8_block128_m32";

std::string tacticOf(const DenseCase &c) {
  return std::string(c.m <= 16 ? tactic : tactic32) +
         (c.groupMajor ? "_group_major" : "");
}

class DenseFp8 : public testing::TestWithParam<DenseCase> {};

TEST_P(DenseFp8, MatchesOracle) {
  const DenseCase &c = GetParam();
  DenseFp8Inputs inputs(c, c.m + c.n + c.k);
  Outcome run =
      runEverywhere(tacticOf(c), c.fp8Problem(), inputs.buffers(c), c.options);
  EXPECT_EQ(inputs.check(c, run), "");
}

INSTANTIATE_TEST_SUITE_P(
    Small, DenseFp8,
    testing::Values(
        DenseCase{1, 64, 128}, DenseCase{16, 64, 1024},
        DenseCase{2, 64, 1024, "silu", true},
        DenseCase{4, 272, 512, "gelu_erf", true, true},
        DenseCase{8, 64, 1024, "gelu_tanh", false, true},
        DenseCase{12, 320, 1024, "gated_silu", true, true},
        DenseCase{15, 64, 1408, "none", true, true},
        DenseCase{3, 64, 1152, "gated_silu", false, false, {{"WAVES", 1}}},
        DenseCase{5, 8192, 256, "silu", true, true, {{"TILES", 2}}},
        DenseCase{20, 8192, 128, "gelu_tanh", true, true, {{"TILES", 2}}},
        DenseCase{7, 32, 16384, "none", true, true, {{"WAVES", 16}}},
        DenseCase{
            9, 32, 2048, "none", true, true, {{"WAVES", 1}, {"DEPTH", 3}}},
        DenseCase{1, 32, 1152, "none", false, false, {{"DEPTH", 2}}},
        DenseCase{31, 48, 1792, "none", true, true, {{"WAVES", 2}}},
        DenseCase{16, 32, 17408, "gated_silu"},
        DenseCase{11, 32, 17408, "silu", true, true},
        DenseCase{32, 32, 5120, "gated_gelu_erf", true, true},
        DenseCase{29, 32, 17408, "none", false, true}));

// The shared expert of the smaller model and parts of larger projections.
INSTANTIATE_TEST_SUITE_P(
    Models, DenseFp8,
    testing::Values(DenseCase{1, 1024, 2048},
                    DenseCase{12, 512, 4096, "none", false, true},
                    DenseCase{16, 1024, 2048, "gated_silu"},
                    DenseCase{12, 64, 17408, "none", false, true},
                    DenseCase{32, 2048, 512, "none", false, true}));

// Scales of x as the group-quant kernels store them: one block, an odd number
// of them, several waves, more than an immediate offset reaches.
INSTANTIATE_TEST_SUITE_P(
    GroupMajor, DenseFp8,
    testing::Values(
        DenseCase{1, 32, 128, "none", false, false, {}, true},
        DenseCase{12, 320, 1024, "gated_silu", true, true, {}, true},
        DenseCase{15, 64, 1408, "none", true, true, {{"WAVES", 1}}, true},
        DenseCase{29, 48, 1792, "none", true, true, {{"WAVES", 2}}, true},
        DenseCase{20, 8192, 128, "silu", true, true, {{"TILES", 2}}, true},
        DenseCase{32, 16, 4608, "none", false, false, {{"WAVES", 1}}, true},
        DenseCase{7, 32, 17408, "none", false, true, {}, true}));

TEST(DenseFp8, TheOrderOfTheScalesChangesNoBit) {
  for (int64_t m : {5, 21}) {
    DenseCase rows{m, 96, 2048, "gelu_tanh", true, true}, groups = rows;
    groups.groupMajor = true;
    DenseFp8Inputs inputs(rows, 11);
    RunOptions options;
    options.checks = 0;
    auto bits = [&](const DenseCase &c) {
      return runOnce(tacticOf(c), c.fp8Problem(), inputs.buffers(c), options)
          .outputs;
    };
    EXPECT_TRUE(bits(rows) == bits(groups)) << m;
    netra::Selection selection = catalog().select(groups.fp8Problem());
    ASSERT_TRUE(selection.winner.has_value()) << selection.reason;
    EXPECT_EQ(selection.winner->tactic->name, tacticOf(groups));
  }
}

TEST(DenseFp8, EveryRowCount) {
  for (int64_t m = 1; m <= 32; ++m) {
    DenseCase c{m, 32, 512, denseEpilogues[m % 9], m % 2 == 0, m % 3 == 0};
    c.groupMajor = m % 5 == 0;
    DenseFp8Inputs inputs(c, m);
    Outcome run = runEverywhere(tacticOf(c), c.fp8Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << c;
  }
}

TEST(DenseFp8, EveryEpilogue) {
  const int64_t rows[] = {1, 12, 27};
  unsigned turn = 0;
  for (const char *epilogue : denseEpilogues)
    for (unsigned with = 0; with != 4; ++with) {
      DenseCase c{rows[turn++ % 3], 64, 256, epilogue, (with & 1) != 0,
                  (with & 2) != 0};
      DenseFp8Inputs inputs(c, turn);
      Outcome run =
          runEverywhere(tacticOf(c), c.fp8Problem(), inputs.buffers(c));
      EXPECT_EQ(inputs.check(c, run), "") << c;
    }
}

TEST(DenseFp8, EveryPlaceOfF32) {
  for (const DenseCase &c : f32Cases({1, 12, 27}, 64, 256)) {
    DenseFp8Inputs inputs(c, c.m + c.epilogue.size());
    Outcome run = runEverywhere(tacticOf(c), c.fp8Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << c;
  }
  // The longest K, for which residual and bias leave the fewest registers.
  for (auto [m, epilogue] :
       {std::pair(16, "none"), {16, "gated_silu"}, {32, "gated_silu"}}) {
    DenseCase c{m, 64, 17408, epilogue, true, true};
    c.resultF32 = true;
    DenseFp8Inputs inputs(c, m);
    Outcome run = runEverywhere(tacticOf(c), c.fp8Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << c;
  }
}

TEST(DenseFp8Model, EveryMatrixModelMeetsTheBound) {
  for (bool f32 : {false, true}) {
    DenseCase c{6, 64, 2048};
    c.resultF32 = f32;
    DenseFp8Inputs inputs(c, 1);
    RunOptions options;
    options.mfma = netra::sim::MfmaModel::Sequential;
    Outcome once = runOnce(tactic, c.fp8Problem(), inputs.buffers(c), options);
    EXPECT_EQ(inputs.check(c, once), "") << c;
  }
}

TEST(DenseFp8Edge, ZeroMaximumAndDenormalCodes) {
  DenseCase c{3, 64, 512};
  for (uint8_t code : {0x00, 0x80, 0x01, 0x7e, 0xfe}) {
    DenseFp8Inputs inputs(c, 2);
    inputs.x.assign(inputs.x.size(), code);
    Outcome run = runEverywhere(tactic, c.fp8Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << int(code);
  }
  // Everything at the largest code, and one huge scale.
  DenseFp8Inputs inputs(c, 3);
  inputs.x.assign(inputs.x.size(), 0x7e);
  inputs.w.assign(inputs.w.size(), 0x7e);
  inputs.xScale[1] = 1e20f;
  Outcome run = runEverywhere(tactic, c.fp8Problem(), inputs.buffers(c));
  EXPECT_EQ(inputs.check(c, run), "");
}

TEST(DenseFp8Edge, ActivationsOverTheirWholeRange) {
  // x picks the first element of row n, scaled to walk from -120 to 120 in
  // steps of FP8; the bias moves it in between.
  for (const char *epilogue : {"silu", "sigmoid", "gelu_erf", "gelu_tanh"}) {
    DenseCase c{2, 512, 128, epilogue, true};
    DenseFp8Inputs inputs(c, 10);
    inputs.x.assign(inputs.x.size(), 0);
    inputs.x[0] = inputs.x[c.k] = oracle::encodeFp8(1);
    for (int64_t n = 0; n < c.n; ++n)
      inputs.w[n * c.k] = oracle::encodeFp8((n - 256) * 120.0 / 256);
    inputs.xScale = {1, -1};
    inputs.wScale.assign(inputs.wScale.size(), 1);
    Outcome run = runEverywhere(tactic, c.fp8Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << epilogue;
  }
}

TEST(DenseFp8Edge, NotANumberStaysInItsRowAndColumn) {
  DenseCase c{4, 32, 256};
  DenseFp8Inputs inputs(c, 4);
  inputs.x[2 * c.k + 100] = 0x7f;
  inputs.w[7 * c.k + 30] = 0xff;
  Outcome run = runEverywhere(tactic, c.fp8Problem(), inputs.buffers(c));
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  for (int64_t m = 0; m < c.m; ++m)
    for (int64_t n = 0; n < c.n; ++n)
      EXPECT_EQ(oracle::isNanBf16(y[m * c.n + n]), m == 2 || n == 7)
          << m << " " << n;
}

TEST(DenseFp8Edge, AnInfiniteScaleStaysInItsRow) {
  DenseCase c{4, 32, 256};
  DenseFp8Inputs inputs(c, 14);
  inputs.xScale[2 * 2 + 1] = HUGE_VALF;
  Outcome run = runEverywhere(tactic, c.fp8Problem(), inputs.buffers(c));
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  for (int64_t m = 0; m < c.m; ++m)
    for (int64_t n = 0; n < c.n; ++n)
      EXPECT_EQ((y[m * c.n + n] & 0x7f80) == 0x7f80, m == 2) << m << " " << n;
}

TEST(DenseFp8Edge, SmallIntegersAreExact) {
  // Products and sums are small integers and scales powers of two: every model
  // of the matrix core gives the same bits, and every element is distinct.
  DenseCase c{5, 64, 256};
  DenseFp8Inputs inputs(c, 5);
  for (int64_t i = 0; i < c.m * c.k; ++i)
    inputs.x[i] = oracle::encodeFp8(i % 3 - 1);
  for (int64_t i = 0; i < c.n * c.k; ++i)
    inputs.w[i] = oracle::encodeFp8((i * 7 + i / c.k) % 5 - 2);
  inputs.xScale.assign(inputs.xScale.size(), 1);
  inputs.wScale.assign(inputs.wScale.size(), 1);
  Outcome run = runEverywhere(tactic, c.fp8Problem(), inputs.buffers(c));
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  for (int64_t m = 0; m < c.m; ++m)
    for (int64_t n = 0; n < c.n; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < c.k; ++k)
        sum += ((m * c.k + k) % 3 - 1.0) * (((n * c.k + k) * 7 + n) % 5 - 2.0);
      EXPECT_EQ(y[m * c.n + n], oracle::encodeBf16(sum));
    }
}

TEST(DenseFp8, TheResultMayTakeTheResidualsPlace) {
  for (const DenseCase &c : {DenseCase{5, 64, 1024, "none", false, true},
                             DenseCase{22, 64, 1024, "none", false, true},
                             DenseCase{16, 64, 1024, "gated_silu", false, true},
                             DenseCase{.m = 16,
                                       .n = 64,
                                       .k = 1024,
                                       .epilogue = "gated_silu",
                                       .residual = true,
                                       .resultF32 = true}})
    expectSameInPlace(tacticOf(c), c.fp8Problem(),
                      DenseFp8Inputs(c, 9).buffers(c), "result", "residual");
}

TEST(DenseFp8, AgreesWithThePlainLoop) {
  for (const DenseCase &c :
       {DenseCase{5, 96, 1536}, DenseCase{16, 32, 256, "gated_silu"},
        DenseCase{3, 320, 384, "gated_gelu_erf"},
        DenseCase{1, 288, 128, "gated_sigmoid"}}) {
    DenseFp8Inputs inputs(c, 6);
    Outcome run = runEverywhere("gfx950.dense_fp8_block128_plain",
                                c.fp8Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << c;
  }
}

TEST(DenseFp8Negative, WrongKernelsAreNoticed) {
  const char *const dense = "dense/fp8_block128.s";
  const char *const tiles = "include/dense_tiles.inc";
  for (int64_t m : {5, 21}) {
    DenseCase c{m, 256, 1792, "none", true, true};
    DenseFp8Inputs inputs(c, 8);
    Buffers buffers = inputs.buffers(c);
    auto check = [&](const Outcome &run) { return inputs.check(c, run); };
    auto wrong = [&](const char *file, const char *from, const char *to,
                     unsigned occurrence = 1) {
      // The template comes along, because it sets what the tiles include needs.
      return noticed(tacticOf(c), c.fp8Problem(), buffers, {{"WAVES", 2}},
                     {{dense, "// The stream.", "// The stream, changed."},
                      {file, from, to, occurrence}},
                     check);
    };
    EXPECT_EQ(wrong(dense, "// Weight scales of", "// The weight scales of"),
              "");
    EXPECT_EQ(wrong(tiles, "// Scalars", "// The scalars"), "");
    // Waits removed: of the weights, of the scalar scales, of the partial sums.
    EXPECT_NE(wrong(tiles, "netra_wait_memory (DT_TILE_LOADS *",
                    "netra_wait_memory 63 //")
                  .find("wait"),
              std::string::npos);
    EXPECT_NE(wrong(dense,
                    "netra_wait_scalar                              // w",
                    "s_nop 0 // w")
                  .find("wait"),
              std::string::npos);
    EXPECT_NE(
        wrong(tiles, "s_waitcnt lgkmcnt(dt_left)", "s_nop 0").find("wait"),
        std::string::npos);
    // One layout index changed: the second half of a weight block, of an
    // activation block, the column of the result.
    EXPECT_NE(wrong(tiles, "+DT_HALF_STRIDE nt", "+DT_HALF_STRIDE/2 nt"), "");
    EXPECT_NE(
        wrong(tiles, "offset:128*((\\c)%32)+64", "offset:128*((\\c)%32)+32"),
        "");
    EXPECT_NE(wrong(tiles, "v[V_T1], NETRA_GATED + !(\\f32), v[V_T1]",
                    "v[V_T1], 1 + NETRA_GATED + !(\\f32), v[V_T1]"),
              "");
    // Scales: swapped with the neighbour's, the wrong 128 rows', the first
    // wave's for all waves.
    EXPECT_NE(wrong(dense, ".set blk_x, V_SX + DT_SX * blk_m + (\\c) % DT_SX",
                    ".set blk_x, V_SX + DT_SX * blk_m + ((\\c) ^ 1) % DT_C"),
              "");
    EXPECT_NE(wrong(dense, "s_lshr_b32 s[S_TMP], s[S_FIRST], 3",
                    "s_lshr_b32 s[S_TMP], s[S_FIRST], 4"),
              "");
    EXPECT_NE(wrong(dense, "netra_pointer_add S_X_SCALE, S_X_SCALE, S_TMP+1",
                    "s_nop 0"),
              "");
    // The last wave's blocks dropped, the bias of the neighbour tile, no
    // residual, a row that does not exist read.
    EXPECT_NE(wrong(tiles, ".rept NETRA_WAVES - 1", ".rept NETRA_WAVES - 2", 0),
              "");
    EXPECT_NE(wrong(tiles, "netra_pointer_add S_BIAS, S_BIAS, S_TMP",
                    "netra_pointer_add_const S_BIAS, S_BIAS, 32"),
              "");
    EXPECT_NE(wrong(tiles, "dt_add dt_y,", "s_nop 0 //"), "");
    EXPECT_NE(wrong(tiles,
                    m > 16 ? "v_min_u32 v[\\v], NETRA_M - 1, v[\\v]"
                           : "v_min_u32 v[\\v], NETRA_M - 1, v[V_COLUMN]",
                    m > 16 ? "v_min_u32 v[\\v], 31, v[\\v]"
                           : "v_min_u32 v[\\v], 15, v[V_COLUMN]")
                  .find("memory"),
              std::string::npos);
  }
}

TEST(DenseFp8Negative, WrongPairsOfGateAndUpAreNoticed) {
  const char *const dense = "dense/fp8_block128.s";
  const char *const tiles = "include/dense_tiles.inc";
  for (bool groupMajor : {false, true})
    for (int64_t m : {5, 21}) {
      // Of seven blocks in each wave the last has no other beside it; gate and
      // up rows are in blocks of 128 that have scales of their own.
      DenseCase c{m, 512, 1792, "gated_silu", true, true, {}, groupMajor};
      DenseFp8Inputs inputs(c, 15);
      auto wrong = [&](const char *file, const char *from, const char *to,
                       unsigned occurrence = 1) {
        return noticed(
            tacticOf(c), c.fp8Problem(), inputs.buffers(c), {{"WAVES", 2}},
            {{dense, "// The stream.", "// The stream, changed."},
             {file, from, to, occurrence}},
            [&](const Outcome &run) { return inputs.check(c, run); });
      };
      EXPECT_EQ(wrong(tiles, "// Scalars", "// The scalars"), "");
      // Up and gate rows change places, the upper eight rows of a tile missed,
      // one scale for both, another block's.
      EXPECT_NE(wrong(tiles, "exec_lo, 0xaaaaaaaa", "exec_lo, 0x55555555"), "");
      EXPECT_NE(
          wrong(dense, ".set DT_PAIR_STRIDE, 128", ".set DT_PAIR_STRIDE, 64"),
          "");
      EXPECT_NE(wrong(dense, "s_mov_b32 s[S_TMP+1], s[S_SW+DT_C4+",
                      "s_mov_b32 s[S_TMP+1], s[S_SW+"),
                "");
      EXPECT_NE(wrong(dense, "DT_WIDTH / DT_COLUMNS // the up rows", "0 //"),
                "");
      EXPECT_NE(wrong(dense, "op_sel:[0,1] op_sel_hi:[1,1]", "op_sel_hi:[1,0]"),
                "");
      // Bias: of up for gate. A gate value times another column's up.
      EXPECT_NE(wrong(tiles, "dt_more+dt_i/2+dt_i%2*2]", "dt_more+dt_i]"), "");
      EXPECT_NE(wrong(tiles, "v[dt_y+1], v[dt_a+3]", "v[dt_y+1], v[dt_a+1]"),
                "");
      // Scales of a pair of blocks that come one by one.
      if (groupMajor) {
        EXPECT_NE(wrong(dense, ".set DT_SCALE_EVERY, 1 + NETRA_GATED",
                        ".set DT_SCALE_EVERY, 1")
                      .find("wait"),
                  std::string::npos);
        EXPECT_NE(wrong(tiles, "dt_scales, dt_scales - DT_MT",
                        "dt_scales, "
                        "dt_scales")
                      .find("wait"),
                  std::string::npos);
      }
    }
}

TEST(DenseFp8Negative, WrongOrdersOfScalesAreNoticed) {
  for (int64_t m : {5, 21}) {
    DenseCase c{m, 64, 2048, "none", false, false, {{"WAVES", 2}}, true};
    DenseFp8Inputs inputs(c, 12);
    auto wrong = [&](const char *file, const char *from, const char *to) {
      return noticed(tacticOf(c), c.fp8Problem(), inputs.buffers(c), c.options,
                     {{"dense/fp8_block128.s", "// The stream.",
                       "// The stream, changed."},
                      {file, from, to}},
                     [&](const Outcome &run) { return inputs.check(c, run); });
    };
    const char *const dense = "dense/fp8_block128.s";
    EXPECT_EQ(wrong(dense, "// Weight scales of", "// The weight scales of"),
              "");
    // The next block's, the next wave's, the row's; the neighbour row's.
    EXPECT_NE(wrong(dense, ".set blk_o, 4 * NETRA_M * blk_i",
                    ".set blk_o, 4 * blk_i"),
              "");
    EXPECT_NE(wrong(dense, "4 * DT_C * NETRA_M", "4 * DT_C"), "");
    EXPECT_NE(wrong("include/dense_tiles.inc",
                    "v_lshlrev_b32 v[V_SOFF+dt_m], 2, v[dt_row_v]",
                    "v_lshlrev_b32 v[V_SOFF+dt_m], 3, v[dt_row_v]"),
              "");
    EXPECT_NE(wrong(dense, "S_X_SCALE, \\count, \\offset",
                    "S_X_SCALE, \\count, 4+\\offset"),
              "");
  }
}

TEST(DenseFp8Negative, TooFewRegistersForTheScalesOfBlocksInFlightAreNoticed) {
  for (bool groupMajor : {false, true}) {
    DenseCase c{6, 32, 2176, "none", false, false, {{"WAVES", 1}}, groupMajor};
    DenseFp8Inputs inputs(c, 13);
    auto wrong = [&](const char *from, const char *to) {
      return noticed(tacticOf(c), c.fp8Problem(), inputs.buffers(c), c.options,
                     {{"dense/fp8_block128.s", "// The stream.",
                       "// The stream, changed."},
                      {"include/dense_tiles.inc", from, to}},
                     [&](const Outcome &run) { return inputs.check(c, run); });
    };
    EXPECT_EQ(wrong("// Scalars", "// The scalars"), "");
    // Four fewer; what follows stays where it is.
    const char *const ring = ".set V_B, V_SX + DT_SX * DT_MT";
    EXPECT_NE(wrong(ring, ".set V_B, V_SX + DT_SX * DT_MT\n"
                          ".set DT_SX, DT_SX - 4"),
              "");
  }
}

} // namespace
