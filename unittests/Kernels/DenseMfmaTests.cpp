//===- DenseMfmaTests.cpp - gfx950.dense_bf16_m32 -------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "DenseCases.h"

using namespace kernels;

namespace {

const char *const tactic = "gfx950.dense_bf16_m32";

class DenseMfma : public testing::TestWithParam<DenseCase> {};

TEST_P(DenseMfma, MatchesOracle) {
  const DenseCase &c = GetParam();
  DenseBf16Inputs inputs(c, c.m + c.n + c.k);
  Outcome run =
      runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c), c.options);
  EXPECT_EQ(inputs.check(c, run), "");
}

INSTANTIATE_TEST_SUITE_P(
    Small, DenseMfma,
    testing::Values(DenseCase{2, 16, 64}, DenseCase{16, 64, 512},
                    DenseCase{5, 8192, 128, "silu", true, true, {{"TILES", 2}}},
                    DenseCase{
                        20, 8192, 64, "gelu_tanh", true, true, {{"TILES", 2}}},
                    DenseCase{7, 32, 8192, "none", true, true, {{"WAVES", 16}}},
                    DenseCase{9, 32, 1024, "none", true, true, {{"DEPTH", 3}}},
                    DenseCase{31, 48, 1344, "none", true, true, {{"WAVES", 3}}},
                    DenseCase{6, 32, 2304, "none", true, true, {{"WAVES", 1}}},
                    DenseCase{14, 32, 17408, "silu", true, true},
                    DenseCase{32, 32, 5120, "gated_gelu_erf", true, true}));

// Tiles of eight rows, half of the wave: a K of more than 192 blocks or, gated,
// 144; of all waves, one, and an uneven last turn.
INSTANTIATE_TEST_SUITE_P(
    EightRows, DenseMfma,
    testing::Values(
        DenseCase{2, 16, 12352}, DenseCase{16, 16, 17408},
        DenseCase{16, 48, 12800, "gelu_erf", true, true},
        DenseCase{3, 32, 13312, "none", true, false, {{"DEPTH", 5}}},
        DenseCase{8, 32, 16384, "silu", false, true, {{"WAVES", 16}}},
        DenseCase{16, 32, 17408, "gated_silu"},
        DenseCase{5, 48, 9280, "gated_gelu_tanh", true, true, {{"WAVES", 5}}},
        DenseCase{11, 16, 17408, "gated_sigmoid", true, true},
        DenseCase{.m = 16,
                  .n = 16,
                  .k = 17408,
                  .bias = true,
                  .residual = true,
                  .resultF32 = true},
        DenseCase{.m = 7,
                  .n = 32,
                  .k = 17408,
                  .epilogue = "gated_gelu_erf",
                  .bias = true,
                  .residual = true,
                  .biasF32 = true},
        DenseCase{.m = 9,
                  .n = 32,
                  .k = 9280,
                  .epilogue = "gated_silu",
                  .bias = true,
                  .residual = true,
                  .resultF32 = true}));

// The router, the gates of the recurrent layers, the experts' down projection,
// and the first columns of the LM head.
INSTANTIATE_TEST_SUITE_P(Models, DenseMfma,
                         testing::Values(DenseCase{16, 256, 2048},
                                         DenseCase{12, 96, 5120},
                                         DenseCase{32, 64, 2048},
                                         DenseCase{12, 8192, 512}));

TEST(DenseMfma, EveryRowCount) {
  for (int64_t m = 2; m <= 32; ++m) {
    DenseCase c{m, 32, 512, denseEpilogues[m % 9], m % 2 == 0, m % 3 == 0};
    DenseBf16Inputs inputs(c, m);
    Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << c;
  }
}

TEST(DenseMfma, EveryEpilogue) {
  const int64_t rows[] = {2, 12, 27};
  unsigned turn = 0;
  for (const char *epilogue : denseEpilogues)
    for (unsigned with = 0; with != 4; ++with) {
      DenseCase c{rows[turn++ % 3], 64, 192, epilogue, (with & 1) != 0,
                  (with & 2) != 0};
      DenseBf16Inputs inputs(c, turn);
      Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
      EXPECT_EQ(inputs.check(c, run), "") << c;
    }
}

TEST(DenseMfma, EveryPlaceOfF32) {
  for (const DenseCase &c : f32Cases({2, 12, 27}, 64, 192)) {
    DenseBf16Inputs inputs(c, c.m + c.epilogue.size());
    Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << c;
  }
  // Two tiles of outputs for two of rows, and waves to add.
  DenseCase c{20, 8192, 64, "gelu_tanh", true, true, {{"TILES", 2}}};
  c.resultF32 = true;
  for (const DenseCase &c : {c, DenseCase{.m = 31,
                                          .n = 48,
                                          .k = 1344,
                                          .bias = true,
                                          .residual = true,
                                          .options = {{"WAVES", 3}},
                                          .resultF32 = true}}) {
    DenseBf16Inputs inputs(c, 3);
    Outcome run =
        runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c), c.options);
    EXPECT_EQ(inputs.check(c, run), "") << c;
  }
}

TEST(DenseMfma, EveryMatrixModelMeetsTheBound) {
  for (bool f32 : {false, true}) {
    DenseCase c{6, 64, 2048};
    c.resultF32 = f32;
    DenseBf16Inputs inputs(c, 1);
    RunOptions options;
    options.mfma = netra::sim::MfmaModel::Sequential;
    Outcome once = runOnce(tactic, c.bf16Problem(), inputs.buffers(c), options);
    EXPECT_EQ(inputs.check(c, once), "") << c;
  }
}

TEST(DenseMfmaEdge, ZeroNegativeZeroDenormalsAndOneHugeValue) {
  DenseCase c{3, 64, 512};
  DenseBf16Inputs inputs(c, 2);
  for (uint16_t code : {0x0000, 0x8000, 0x0001, 0x807f}) {
    inputs.x.assign(inputs.x.size(), code);
    Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << code;
  }
  inputs.x.assign(inputs.x.size(), 0);
  inputs.x[c.k + 317] = oracle::encodeBf16(1e30);
  Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
  EXPECT_EQ(inputs.check(c, run), "");
}

TEST(DenseMfmaEdge, ActivationsOverTheirWholeRange) {
  // x picks the first element of row n, which walks from -120 to 120.
  for (const char *epilogue : {"silu", "sigmoid", "gelu_erf", "gelu_tanh"}) {
    DenseCase c{2, 1024, 64, epilogue};
    DenseBf16Inputs inputs(c, 3);
    inputs.x.assign(inputs.x.size(), 0);
    inputs.x[0] = oracle::encodeBf16(1);
    inputs.x[c.k] = oracle::encodeBf16(-1);
    for (int64_t n = 0; n < c.n; ++n)
      inputs.w[n * c.k] = oracle::encodeBf16((n - 512) * 120.0 / 512);
    Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << epilogue;
  }
}

TEST(DenseMfmaEdge, NotANumberAndInfinityStayInTheirRowAndColumn) {
  for (const DenseCase &c :
       {DenseCase{20, 32, 256}, DenseCase{14, 32, 12800}}) {
    const int64_t row = c.m - 2;
    DenseBf16Inputs inputs(c, 4);
    inputs.x[row * c.k + 100] = 0x7fc0;
    inputs.w[7 * c.k + 30] = 0xffc0;
    inputs.w[9 * c.k + 31] = 0x7f80;
    Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
    std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
    for (int64_t m = 0; m < c.m; ++m)
      for (int64_t n = 0; n < c.n; ++n) {
        uint16_t value = y[m * c.n + n];
        EXPECT_EQ(oracle::isNanBf16(value), m == row || n == 7)
            << m << " " << n;
        if (m != row && n == 9) {
          EXPECT_EQ(value & 0x7fff, 0x7f80) << m;
        }
      }
  }
}

TEST(DenseMfmaEdge, SmallIntegersAreExact) {
  // Every model of the matrix core gives the same bits, and rows and columns
  // differ from one another.
  for (DenseCase c : {DenseCase{21, 64, 256}, DenseCase{13, 32, 12800}}) {
    DenseCase f32 = c;
    f32.resultF32 = true;
    DenseBf16Inputs inputs(c, 5);
    auto x = [&](int64_t m, int64_t k) { return (m * 5 + k) % 3 - 1.0; };
    auto w = [&](int64_t n, int64_t k) { return (n * 3 + k * 7) % 5 - 2.0; };
    for (int64_t k = 0; k < c.k; ++k) {
      for (int64_t m = 0; m < c.m; ++m)
        inputs.x[m * c.k + k] = oracle::encodeBf16(x(m, k));
      for (int64_t n = 0; n < c.n; ++n)
        inputs.w[n * c.k + k] = oracle::encodeBf16(w(n, k));
    }
    Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
    std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
    run = runEverywhere(tactic, f32.bf16Problem(), inputs.buffers(c));
    std::vector<float> wide = fromBytes<float>(run.outputs["result"]);
    ASSERT_EQ(wide.size(), y.size());
    for (int64_t m = 0; m < c.m; ++m)
      for (int64_t n = 0; n < c.n; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < c.k; ++k)
          sum += x(m, k) * w(n, k);
        EXPECT_EQ(y[m * c.n + n], oracle::encodeBf16(sum));
        EXPECT_EQ(wide[m * c.n + n], sum);
      }
  }
}

TEST(DenseMfma, TheResultMayTakeTheResidualsPlace) {
  for (DenseCase c : {DenseCase{5, 64, 1024, "none", false, true},
                      DenseCase{22, 64, 1024, "gated_silu", false, true},
                      DenseCase{5, 32, 12800, "none", false, true},
                      DenseCase{16, 32, 12800, "gated_silu", false, true}})
    for (bool f32 : {false, true}) {
      c.resultF32 = f32;
      expectSameInPlace(tactic, c.bf16Problem(),
                        DenseBf16Inputs(c, 9).buffers(c), "result", "residual");
    }
}

TEST(DenseMfma, AgreesWithThePlainLoop) {
  DenseCase c{5, 48, 1536};
  DenseBf16Inputs inputs(c, 6);
  Outcome run = runEverywhere("gfx950.dense_bf16_m32_plain", c.bf16Problem(),
                              inputs.buffers(c));
  EXPECT_EQ(inputs.check(c, run), "");
}

TEST(DenseMfmaNegative, WrongKernelsAreNoticed) {
  const char *const dense = "dense/bf16_mfma.s";
  const char *const tiles = "include/dense_tiles.inc";
  DenseCase c{19, 64, 1024, "gated_gelu_tanh", true, true};
  DenseBf16Inputs inputs(c, 8);
  Buffers buffers = inputs.buffers(c);
  auto check = [&](const Outcome &run) { return inputs.check(c, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(tactic, c.bf16Problem(), buffers, {{"WAVES", 2}},
                   {{dense, "// The stream.", "// The stream, changed."},
                    {file, from, to, occurrence}},
                   check);
  };
  EXPECT_EQ(wrong(tiles, "// Scalars", "// The scalars"), "");
  // The settling of the last product, where only one tile follows it.
  DenseCase one{3, 16, 1024};
  EXPECT_NE(noticed(tactic, one.bf16Problem(),
                    DenseBf16Inputs(one, 10).buffers(one), {{"WAVES", 2}},
                    {{dense, "netra_mfma_settle_4_passes", "s_nop 0"}},
                    [](const Outcome &) { return std::string(); })
                .find("hazard"),
            std::string::npos);
  // The wait for a tile, a half twice.
  EXPECT_NE(
      wrong(dense, "dt_wait_tile \\c, bmm_t, \\issued", "s_nop 0").find("wait"),
      std::string::npos);
  EXPECT_NE(wrong(dense, "+4*bmm_h, ((\\c)==0", "+0, ((\\c)==0"), "");
  // Rows of a tile a row too far apart, the lower eight rows twice, the halves
  // of a row confused, sums of the other half's products; activation tiles
  // confused, gate and up confused, one wave's part of K taken twice, no
  // barrier.
  EXPECT_NE(wrong(dense, "v_mul_u32_u24 v[V_WOFF], NETRA_K",
                  "v_mul_u32_u24 v[V_WOFF], NETRA_K / 2"),
            "");
  EXPECT_NE(wrong(dense, "v_add_u32 v[V_WOFF2], DT_TILE_BYTES / 2",
                  "v_add_u32 v[V_WOFF2], 0"),
            "");
  EXPECT_NE(wrong(dense, "v_lshl_add_u32 v[V_WOFF], v[V_T0], 6", "s_nop 0 //"),
            "");
  EXPECT_NE(wrong(dense, "v[bmm_s+12:bmm_s+13]", "v[bmm_s+4:bmm_s+5]"), "");
  EXPECT_NE(wrong(dense, "  bmm_swap 0\n", ""), "");
  EXPECT_NE(
      wrong(dense, "V_B+8*(DT_MT*bmm_slot+bmm_m)", "V_B+8*(DT_MT*bmm_slot)"),
      "");
  EXPECT_NE(wrong(tiles, "exec_lo, 0xaaaaaaaa", "exec_lo, 0x55555555"), "");
  EXPECT_NE(wrong(tiles, "netra_pointer_add S_TILE, S_TILE, S_TMP", "s_nop 0"),
            "");
  EXPECT_NE(wrong(tiles, "    netra_barrier\n    s_endpgm", "    s_endpgm"),
            "");
  // The up half's bias, the mask of the last rows.
  EXPECT_NE(wrong(tiles, "v_add_u32 v[V_T1], NETRA_N << NETRA_BIAS_F32",
                  "s_nop 0 //"),
            "");
  EXPECT_NE(wrong(tiles, "v_cmp_gt_u32 vcc, NETRA_M % 16",
                  "v_cmp_gt_u32 vcc, NETRA_M % 16 - 1"),
            "");
}

TEST(DenseMfmaNegative, WrongTilesOfEightRowsAreNoticed) {
  const char *const dense = "dense/bf16_mfma.s";
  const char *const tiles = "include/dense_tiles.inc";
  for (const char *epilogue : {"silu", "gated_silu"}) {
    DenseCase c{11, 32, 12800, epilogue, true, true};
    DenseBf16Inputs inputs(c, 12);
    auto wrong = [&](const char *file, const char *from, const char *to,
                     unsigned occurrence = 1) {
      return noticed(tactic, c.bf16Problem(), inputs.buffers(c), {},
                     {{dense, "// The stream.", "// The stream, changed."},
                      {file, from, to, occurrence}},
                     [&](const Outcome &run) { return inputs.check(c, run); });
    };
    EXPECT_EQ(wrong(tiles, "// Scalars", "// The scalars"), "");
    // The second halves' sums of the wrong rows, a wait for a load too few,
    // the store of lanes without sums, bias and residual of columns that the
    // tile has not.
    EXPECT_NE(wrong(dense, "    v_permlane32_swap_b32 v[V_ACC+4+bmm_i]",
                    "    s_nop 0 // v[V_ACC+4+bmm_i]"),
              "");
    EXPECT_NE(wrong(tiles, "netra_wait_memory (DT_TILE_LOADS *",
                    "netra_wait_memory (1 + DT_TILE_LOADS *")
                  .find("wait"),
              std::string::npos);
    EXPECT_NE(wrong(tiles, "s_mov_b32 s[S_TMP+1], 0", "s_nop 0"), "");
    EXPECT_NE(wrong(tiles, "4 * DT_ROWS - 16, v[V_ITEM]", "48, v[V_ITEM]"), "");
  }
}

TEST(DenseMfmaNegative, WrongPlacesOfF32AreNoticed) {
  for (bool f32 : {false, true}) {
    DenseCase c{19, 64, 1024, "gated_silu", true, true};
    c.biasF32 = true;
    c.resultF32 = f32;
    DenseBf16Inputs inputs(c, 9);
    auto wrong = [&](const char *from, const char *to,
                     unsigned occurrence = 1) {
      return noticed(
          tactic, c.bf16Problem(), inputs.buffers(c), {},
          {{"dense/bf16_mfma.s", "// The stream.", "// The stream, changed."},
           {"include/dense_tiles.inc", from, to, occurrence}},
          [&](const Outcome &run) { return inputs.check(c, run); });
    };
    EXPECT_EQ(wrong("// Scalars", "// The scalars"), "");
    // The bias: taken for bf16, of another group of columns, of a lane's
    // neighbours, the up half's.
    EXPECT_NE(wrong("DT_COLUMNS*(dt_t%NETRA_TILES), NETRA_BIAS_F32",
                    "DT_COLUMNS*(dt_t%NETRA_TILES), 0"),
              "");
    EXPECT_NE(wrong("(2 << NETRA_BIAS_F32) * DT_COLUMNS", "2 * DT_COLUMNS"),
              "");
    EXPECT_NE(wrong("dt_lane_columns NETRA_BIAS_F32", "dt_lane_columns 0"), "");
    EXPECT_NE(wrong("NETRA_N << NETRA_BIAS_F32", "NETRA_N << 0"), "");
    if (!f32)
      continue;
    // The residual and the result: the group, the lane, the row, the type.
    const char *const group = "(2 << NETRA_RESULT_F32) * DT_COLUMNS\n";
    EXPECT_NE(wrong(group, "2 * DT_COLUMNS\n", 1), "");
    EXPECT_NE(wrong(group, "2 * DT_COLUMNS\n", 2), "");
    EXPECT_NE(wrong("dt_lane_columns NETRA_RESULT_F32", "dt_lane_columns 0"),
              "");
    EXPECT_NE(wrong("(2 << NETRA_RESULT_F32) * DT_WIDTH", "2 * DT_WIDTH"), "");
    EXPECT_NE(wrong("V_RESIDUAL+DT_RESIDUAL*dt_u, dt_free, NETRA_RESULT_F32",
                    "V_RESIDUAL+DT_RESIDUAL*dt_u, dt_free, 0"),
              "");
    // Rounded on the way.
    EXPECT_NE(wrong("    netra_store_vector dt_y",
                    "    netra_bf16_round_run dt_y, 2\n"
                    "    netra_store_vector dt_y"),
              "");
  }
  // Data of a store overwritten at once.
  DenseCase c{19, 64, 1024, "silu"};
  c.resultF32 = true;
  DenseBf16Inputs inputs(c, 9);
  EXPECT_NE(noticed(tactic, c.bf16Problem(), inputs.buffers(c), {},
                    {{"dense/bf16_mfma.s", "// The stream.", "// Changed."},
                     {"include/dense_tiles.inc", "      netra_wait_states 2  ",
                      "      s_nop 0 //  "}},
                    [&](const Outcome &run) { return inputs.check(c, run); })
                .find("hazard"),
            std::string::npos);
}

} // namespace
