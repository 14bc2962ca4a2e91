//===- DenseBf16Tests.cpp - gfx950.dense_bf16_m1 --------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "DenseCases.h"

using namespace kernels;
using netra::sim::Counters;

namespace {

const char *const tactic = "gfx950.dense_bf16_m1";

class DenseBf16 : public testing::TestWithParam<DenseCase> {};

TEST_P(DenseBf16, MatchesOracle) {
  const DenseCase &c = GetParam();
  DenseBf16Inputs inputs(c, c.n + c.k);
  Outcome run =
      runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c), c.options);
  EXPECT_EQ(inputs.check(c, run), "");
}

INSTANTIATE_TEST_SUITE_P(
    Small, DenseBf16,
    testing::Values(
        DenseCase{1, 64, 512}, DenseCase{1, 64, 512, "silu"},
        DenseCase{1, 64, 512, "gelu_erf", true},
        DenseCase{1, 64, 512, "gelu_tanh", true, true},
        DenseCase{1, 64, 512, "gated_silu", true, true},
        DenseCase{1, 64, 512, "none", false, true},
        DenseCase{1, 64, 512, "sigmoid", true, true},
        DenseCase{1, 64, 512, "gated_sigmoid", true, true},
        DenseCase{1, 64, 512, "gated_gelu_erf", true},
        DenseCase{1, 64, 512, "gated_gelu_tanh", false, true},
        DenseCase{1, 24, 1024, "silu", true, true},
        DenseCase{1, 24, 1536, "gated_silu"},
        DenseCase{1, 12, 2048, "none", true, true, {{"ROWS", 4}}},
        DenseCase{1, 16, 2048, "gated_silu", true, true, {{"ROWS", 4}}},
        DenseCase{1, 32, 2048, "none", true, true, {{"ROWS", 16}}},
        DenseCase{1, 32, 2048, "gated_silu", true, true, {{"ROWS", 16}}},
        DenseCase{
            1, 16, 2048, "none", true, true, {{"WAVES", 1}, {"DEPTH", 3}}},
        DenseCase{
            1, 16, 4096, "none", true, true, {{"WAVES", 1}, {"DEPTH", 2}}},
        DenseCase{
            1, 16, 4096, "silu", false, false, {{"WAVES", 2}, {"DEPTH", 4}}},
        DenseCase{1, 16, 8192, "silu", false, false, {{"WAVES", 16}}},
        DenseCase{1, 16, 8704, "none", true, true},
        DenseCase{1, 16, 17408, "gated_silu", true, true},
        DenseCase{1, 16, 17408, "gelu_erf", false, true}));

// A quarter of the projections of a decoder block with hidden size 2048 and
// intermediate size 5632, and columns of an LM head.
INSTANTIATE_TEST_SUITE_P(DecoderMlp, DenseBf16,
                         testing::Values(DenseCase{1, 2816, 2048, "gated_silu"},
                                         DenseCase{1, 512, 5632, "none", false,
                                                   true},
                                         DenseCase{1, 512, 5120}));

TEST(DenseBf16, EveryPlaceOfF32) {
  for (const DenseCase &c : f32Cases({1}, 32, 512)) {
    DenseBf16Inputs inputs(c, c.epilogue.size());
    Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << c;
  }
}

TEST(DenseBf16Edge, ZeroNegativeZeroAndDenormals) {
  DenseCase c{1, 64, 1024};
  DenseBf16Inputs inputs(c, 1);
  for (uint16_t code : {0x0000, 0x8000, 0x0001, 0x807f}) {
    inputs.x.assign(inputs.x.size(), code);
    Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << code;
  }
}

TEST(DenseBf16Edge, OneHugeValue) {
  DenseCase c{1, 64, 1024, "none", true, true};
  DenseBf16Inputs inputs(c, 2);
  inputs.x.assign(inputs.x.size(), 0);
  inputs.x[517] = oracle::encodeBf16(1e30);
  Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
  EXPECT_EQ(inputs.check(c, run), "");
}

TEST(DenseBf16Edge, ActivationsOverTheirWholeRange) {
  // Row n of the weight is a single value at k = 0 that walks from -120 to 120;
  // x picks it out, so that the pre-activation is exact.
  for (const char *epilogue : {"silu", "sigmoid", "gelu_erf", "gelu_tanh"}) {
    DenseCase c{1, 2048, 512, epilogue};
    DenseBf16Inputs inputs(c, 3);
    inputs.x.assign(inputs.x.size(), 0);
    inputs.x[0] = oracle::encodeBf16(1);
    for (int64_t i = 0; i < c.n; ++i)
      inputs.w[i * c.k] = oracle::encodeBf16((i - 1024) * 120.0 / 1024);
    Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << epilogue;
  }
}

TEST(DenseBf16Edge, NotANumberAndInfinityPropagate) {
  DenseCase c{1, 16, 512};
  DenseBf16Inputs inputs(c, 3);
  inputs.w[3 * c.k + 77] = 0x7fc0;
  inputs.w[5 * c.k + 78] = 0x7f80;
  Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  for (int64_t i = 0; i < c.n; ++i)
    EXPECT_EQ(oracle::isNanBf16(y[i]), i == 3) << i;
  EXPECT_EQ(y[5] & 0x7fff, 0x7f80);
}

TEST(DenseBf16Edge, F32SpecialValuesAndDenormals) {
  DenseCase c{.m = 1, .n = 16, .k = 512, .bias = true, .resultF32 = true};
  DenseBf16Inputs inputs(c, 8);
  inputs.w.assign(inputs.w.size(), 0);
  const double infinity = HUGE_VAL;
  inputs.bias = {0x1p-149, -0x1p-127,   3e38,  infinity, -infinity, NAN,
                 -0.0,     1 + 0x1p-23, -1e30, 0,        1,         2,
                 3,        16777215,    5,     6};
  Outcome run = runEverywhere(tactic, c.bf16Problem(), inputs.buffers(c));
  std::vector<float> y = fromBytes<float>(run.outputs["result"]);
  for (size_t i = 0; i != y.size(); ++i)
    EXPECT_TRUE(std::isnan(inputs.bias[i]) ? std::isnan(y[i])
                                           : y[i] == float(inputs.bias[i]))
        << i << ": " << y[i];
}

TEST(DenseBf16, TheResultMayTakeTheResidualsPlace) {
  for (const char *epilogue : {"none", "gated_silu"})
    for (bool f32 : {false, true}) {
      DenseCase c{1, 64, 1024, epilogue, false, true};
      c.resultF32 = f32;
      expectSameInPlace(tactic, c.bf16Problem(),
                        DenseBf16Inputs(c, 7).buffers(c), "result", "residual");
    }
}

TEST(DenseBf16, AgreesWithThePlainLoop) {
  DenseCase c{1, 96, 1536};
  DenseBf16Inputs inputs(c, 4);
  Outcome run = runEverywhere("gfx950.dense_bf16_m1_plain", c.bf16Problem(),
                              inputs.buffers(c));
  EXPECT_EQ(inputs.check(c, run), "");
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

TEST(DenseBf16Counters, WeightsAreReadOnceWithManyLoadsInFlight) {
  for (const DenseCase &c : {DenseCase{1, 11264, 2048, "gated_silu"},
                             DenseCase{1, 2048, 5632, "none", false, true}}) {
    Counters counters = denseCounters(tactic, c.bf16Problem());
    uint64_t weights = 2 * c.n * c.k, x = 2 * c.k;
    uint64_t residual = c.residual ? 2 * c.width() : 0;
    uint64_t pointers = 8 * (c.residual ? 4 : 3);
    // Every work-group reads x, every wave its arguments; everything else is
    // the weights, once.
    EXPECT_EQ(counters.globalLoadBytes, weights + counters.workgroups * x +
                                            residual +
                                            counters.waves * pointers);
    EXPECT_EQ(counters.globalDistinctReadBytes,
              weights + x + residual + pointers);
    EXPECT_EQ(counters.globalStoreBytes, 2u * c.width());
    EXPECT_GE(counters.firstWaitBytesPerCu, 64u * 1024) << counters.text();
    EXPECT_LE(counters.maxRoundTrips, 2u);
    EXPECT_EQ(counters.ldsConflictCycles, 0u);
  }
}

TEST(DenseBf16Counters, HalfTheVectorInstructionsOfThePlainLoop) {
  DenseCase c{1, 2048, 5632};
  uint64_t ours = vectorInstructions(denseCounters(tactic, c.bf16Problem()));
  uint64_t plain = vectorInstructions(
      denseCounters("gfx950.dense_bf16_m1_plain", c.bf16Problem()));
  EXPECT_GT(plain, 0u);
  EXPECT_LE(2 * ours, plain) << ours << " against " << plain;
}

//===----------------------------------------------------------------------===//
// Deliberately wrong kernels
//===----------------------------------------------------------------------===//

TEST(DenseBf16Negative, WrongKernelsAreNoticed) {
  DenseCase c{1, 64, 1024, "gated_silu", true, true};
  DenseBf16Inputs inputs(c, 6);
  auto check = [&](const Outcome &run) { return inputs.check(c, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(tactic, c.bf16Problem(), inputs.buffers(c), {{"WAVES", 2}},
                   {{file, from, to, occurrence}}, check);
  };
  const char *const gemv = "dense/bf16_gemv.s";
  // The unchanged kernel passes the same road.
  EXPECT_EQ(wrong(gemv, "// The stream.", "// The stream, unchanged."), "");
  // A wait removed: values of the simulator may be right, the checker speaks.
  EXPECT_NE(wrong(gemv, "netra_wait_memory (NETRA_ROWS - 2",
                  "netra_wait_memory 63 //")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(gemv, "  netra_barrier\n", ""), "");
  // One layout index changed: the second row's address, the chunk's, the order
  // of the sums in the lanes.
  EXPECT_NE(wrong(gemv, "S_ROW+2*gemv_g, S_ROW+2*gemv_g-2, GEMV_ROW_BYTES",
                  "S_ROW+2*gemv_g, S_ROW+2*gemv_g-2, GEMV_ROW_BYTES+16"),
            "");
  EXPECT_NE(wrong(gemv, "s[S_WAVE], 1024 * GEMV_CHUNKS", "s[S_WAVE], 512"), "");
  EXPECT_NE(wrong("include/reduce.inc", "(((\\g) & 1) << 2) | ((\\g) & 2)",
                  "(((\\g) & 1) << 1) | (((\\g) & 2) << 1)"),
            "");
  // A dropped tail, a dropped bias, gate and up confused, a missing residual.
  EXPECT_NE(wrong(gemv, ".rept NETRA_WAVES - 1", ".rept NETRA_WAVES - 2"), "");
  EXPECT_NE(
      wrong(gemv, "v_add_f32 v[V_PARTIAL], v[V_PARTIAL], v[V_BIAS]", "s_nop 0"),
      "");
  EXPECT_NE(wrong(gemv, "row_shl:GEMV_OUTPUTS", "row_shl:0+1"), "");
  EXPECT_NE(
      wrong(gemv, "v_add_f32 v[V_ACC], v[V_ACC], v[V_RESIDUAL]", "s_nop 0"),
      "");
}

TEST(DenseBf16Negative, WrongPlacesOfF32AreNoticed) {
  for (bool f32 : {false, true}) {
    DenseCase c{1, 64, 1024, "gated_silu", true, true};
    c.biasF32 = true;
    c.resultF32 = f32;
    DenseBf16Inputs inputs(c, 9);
    auto wrong = [&](const char *from, const char *to) {
      return noticed(tactic, c.bf16Problem(), inputs.buffers(c), {},
                     {{"dense/bf16_gemv.s", from, to}},
                     [&](const Outcome &run) { return inputs.check(c, run); });
    };
    EXPECT_EQ(wrong("// The stream.", "// The stream, unchanged."), "");
    // The bias taken for bf16, where a lane finds it; that of the up rows.
    EXPECT_NE(wrong("V_BIAS, gemv_offset, S_BIAS, NETRA_BIAS_F32",
                    "V_BIAS, gemv_offset, S_BIAS, 0"),
              "");
    EXPECT_NE(wrong("(NETRA_N / 2 - GEMV_OUTPUTS) << GEMV_SHIFT",
                    "(NETRA_N / 2 - GEMV_OUTPUTS) << 0"),
              "");
    if (!f32) {
      EXPECT_NE(wrong("v_lshlrev_b32 v[V_T0], 1, v[gemv_offset]",
                      "v_mov_b32 v[V_T0], v[gemv_offset]"),
                "");
      continue;
    }
    // The residual taken for bf16, the place of a result, and results that went
    // through bf16 on their way.
    EXPECT_NE(wrong("V_RESIDUAL, V_OUT, S_RESIDUAL, NETRA_RESULT_F32",
                    "V_RESIDUAL, V_OUT, S_RESIDUAL, 0"),
              "");
    EXPECT_NE(
        wrong(".set GEMV_SHIFT, 1 + NETRA_RESULT_F32", ".set GEMV_SHIFT, 1"),
        "");
    EXPECT_NE(wrong("    global_store_dword v[V_OUT], v[V_ACC]",
                    "    netra_bf16_pack V_ACC, V_ACC, V_ACC\n"
                    "    v_lshlrev_b32 v[V_ACC], 16, v[V_ACC]\n"
                    "    global_store_dword v[V_OUT], v[V_ACC]"),
              "");
  }
}

} // namespace
