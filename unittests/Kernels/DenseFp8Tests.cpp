//===- DenseFp8Tests.cpp - gfx950.dense_fp8_block128_m16 ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

using namespace kernels;
using netra::sim::Counters;

namespace {

const char *const tactic = "gfx950.dense_fp8_block128_m16";

struct Fp8Case {
  int64_t m, n, k;
  std::string epilogue = "none";
  bool bias = false, residual = false;
  Options options = {};

  netra::Problem problem() const {
    return denseFp8Problem(m, n, k, epilogue, bias, residual);
  }
  int64_t width() const { return epilogue == "gated_silu" ? n / 2 : n; }
};

/// Inputs with the weights row-major, as the oracle wants them.
struct Fp8Inputs {
  std::vector<uint8_t> x, w;
  std::vector<float> xScale, wScale;
  std::vector<uint16_t> bias, residual;

  Fp8Inputs(const Fp8Case &c, uint64_t seed) {
    Random random(seed);
    x = random.fp8(c.m * c.k, 60);
    w = random.fp8(c.n * c.k, 60);
    // Scales that differ from block to block, so that a wrong one shows.
    xScale = random.positive(c.m * (c.k / 128), 0.005, 0.03);
    wScale = random.positive((c.n + 127) / 128 * (c.k / 128), 0.0002, 0.001);
    bias = random.bf16(c.n);
    residual = random.bf16(c.m * c.width());
  }
  Buffers buffers(const Fp8Case &c) const {
    Buffers inputs;
    inputs["x"] = x;
    inputs["weight"] = oracle::packN16K16(w, c.n, c.k);
    inputs["x_scale"] = toBytes(xScale);
    inputs["weight_scale"] = toBytes(wScale);
    if (c.bias)
      inputs["bias"] = toBytes(bias);
    if (c.residual)
      inputs["residual"] = toBytes(residual);
    return inputs;
  }
  std::string check(const Fp8Case &c, const Outcome &run) const {
    oracle::Epilogue finish;
    finish.gated = c.epilogue == "gated_silu";
    finish.function = c.epilogue == "silu" || finish.gated
                          ? oracle::Function::Silu
                      : c.epilogue == "gelu_erf"  ? oracle::Function::GeluErf
                      : c.epilogue == "gelu_tanh" ? oracle::Function::GeluTanh
                                                  : oracle::Function::None;
    finish.bias = c.bias ? bias.data() : nullptr;
    finish.residual = c.residual ? residual.data() : nullptr;
    auto output = run.outputs.find("result");
    if (output == run.outputs.end())
      return "no result";
    return checkBf16(
        output->second,
        oracle::finish(oracle::denseFp8(x.data(), w.data(), xScale.data(),
                                        wScale.data(), c.m, c.n, c.k),
                       c.m, c.n, finish));
  }
};

std::ostream &operator<<(std::ostream &os, const Fp8Case &c) {
  os << c.m << "x" << c.n << "x" << c.k << " " << c.epilogue
     << (c.bias ? " bias" : "") << (c.residual ? " residual" : "");
  for (const auto &[name, value] : c.options)
    os << " " << name << "=" << value;
  return os;
}

class DenseFp8 : public testing::TestWithParam<Fp8Case> {};

TEST_P(DenseFp8, MatchesOracle) {
  const Fp8Case &c = GetParam();
  Fp8Inputs inputs(c, c.m + c.n + c.k);
  Outcome run =
      runEverywhere(tactic, c.problem(), inputs.buffers(c), c.options);
  EXPECT_EQ(inputs.check(c, run), "");
}

INSTANTIATE_TEST_SUITE_P(
    Small, DenseFp8,
    testing::Values(
        Fp8Case{1, 64, 128}, Fp8Case{16, 64, 1024},
        Fp8Case{2, 64, 1024, "silu", true},
        Fp8Case{4, 272, 512, "gelu_erf", true, true},
        Fp8Case{8, 64, 1024, "gelu_tanh", false, true},
        Fp8Case{12, 320, 1024, "gated_silu", true, true},
        Fp8Case{15, 64, 1408, "none", true, true},
        Fp8Case{3, 64, 1152, "gated_silu", false, false, {{"WAVES", 3}}},
        Fp8Case{5, 288, 2048, "silu", true, true, {{"TILES", 2}}},
        Fp8Case{7, 64, 2048, "none", true, true, {{"TILES", 2}, {"WAVES", 16}}},
        Fp8Case{9, 32, 2048, "none", true, true, {{"WAVES", 1}, {"DEPTH", 3}}},
        Fp8Case{
            1, 32, 1152, "none", false, false, {{"WAVES", 1}, {"DEPTH", 2}}},
        Fp8Case{16, 32, 17408, "gated_silu"}));

INSTANTIATE_TEST_SUITE_P(DecoderMlp, DenseFp8,
                         testing::Values(Fp8Case{1, 11264, 2048, "gated_silu"},
                                         Fp8Case{1, 2048, 5632, "none", false,
                                                 true}));
INSTANTIATE_TEST_SUITE_P(DecoderMlp16, DenseFp8,
                         testing::Values(Fp8Case{16, 11264, 2048, "gated_silu"},
                                         Fp8Case{16, 2048, 5632, "none", false,
                                                 true}));

TEST(DenseFp8Model, EveryMatrixModelMeetsTheBound) {
  Fp8Case c{6, 64, 2048};
  Fp8Inputs inputs(c, 1);
  llvm::Expected<Kernel> kernel = build(tactic, c.problem());
  ASSERT_TRUE(static_cast<bool>(kernel)) << llvm::toString(kernel.takeError());
  RunOptions options;
  options.mfma = netra::sim::MfmaModel::Sequential;
  llvm::Expected<Outcome> once = run(*kernel, inputs.buffers(c), options);
  ASSERT_TRUE(static_cast<bool>(once)) << llvm::toString(once.takeError());
  EXPECT_EQ(inputs.check(c, *once), "");
}

TEST(DenseFp8Edge, ZeroMaximumAndDenormalCodes) {
  Fp8Case c{3, 64, 512};
  for (uint8_t code : {0x00, 0x80, 0x01, 0x7e, 0xfe}) {
    Fp8Inputs inputs(c, 2);
    inputs.x.assign(inputs.x.size(), code);
    Outcome run = runEverywhere(tactic, c.problem(), inputs.buffers(c));
    EXPECT_EQ(inputs.check(c, run), "") << int(code);
  }
  // Everything at the largest code, and one huge scale.
  Fp8Inputs inputs(c, 3);
  inputs.x.assign(inputs.x.size(), 0x7e);
  inputs.w.assign(inputs.w.size(), 0x7e);
  inputs.xScale[1] = 1e20f;
  Outcome run = runEverywhere(tactic, c.problem(), inputs.buffers(c));
  EXPECT_EQ(inputs.check(c, run), "");
}

TEST(DenseFp8Edge, NotANumberStaysInItsRowAndColumn) {
  Fp8Case c{4, 32, 256};
  Fp8Inputs inputs(c, 4);
  inputs.x[2 * c.k + 100] = 0x7f;
  inputs.w[7 * c.k + 30] = 0xff;
  Outcome run = runEverywhere(tactic, c.problem(), inputs.buffers(c));
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  for (int64_t m = 0; m < c.m; ++m)
    for (int64_t n = 0; n < c.n; ++n)
      EXPECT_EQ(oracle::isNanBf16(y[m * c.n + n]), m == 2 || n == 7)
          << m << " " << n;
}

TEST(DenseFp8Edge, SmallIntegersAreExact) {
  // Products and sums are small integers and scales powers of two: every model
  // of the matrix core gives the same bits, and every element is distinct.
  Fp8Case c{5, 64, 256};
  Fp8Inputs inputs(c, 5);
  for (int64_t i = 0; i < c.m * c.k; ++i)
    inputs.x[i] = oracle::encodeFp8(i % 3 - 1);
  for (int64_t i = 0; i < c.n * c.k; ++i)
    inputs.w[i] = oracle::encodeFp8((i * 7 + i / c.k) % 5 - 2);
  inputs.xScale.assign(inputs.xScale.size(), 1);
  inputs.wScale.assign(inputs.wScale.size(), 1);
  Outcome run = runEverywhere(tactic, c.problem(), inputs.buffers(c));
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
  for (const Fp8Case &c : {Fp8Case{5, 64, 1024, "none", false, true},
                           Fp8Case{16, 64, 1024, "gated_silu", false, true}})
    expectSameInPlace(tactic, c.problem(), Fp8Inputs(c, 9).buffers(c), "result",
                      "residual");
}

TEST(DenseFp8, AgreesWithThePlainLoop) {
  Fp8Case c{5, 96, 1536};
  Fp8Inputs inputs(c, 6);
  Outcome run = runEverywhere("gfx950.dense_fp8_block128_plain", c.problem(),
                              inputs.buffers(c));
  EXPECT_EQ(inputs.check(c, run), "");
}

Counters countersOf(const std::string &name, const Fp8Case &c) {
  RunOptions options;
  options.checks = 0;
  options.counters = true;
  llvm::Expected<Kernel> kernel = build(name, c.problem(), c.options);
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    return {};
  }
  llvm::Expected<Outcome> once =
      run(*kernel, Fp8Inputs(c, 7).buffers(c), options);
  if (!once) {
    ADD_FAILURE() << llvm::toString(once.takeError());
    return {};
  }
  return once->counters;
}

TEST(DenseFp8Counters, WeightsAreReadOnceWithManyLoadsInFlight) {
  for (const Fp8Case &c : {Fp8Case{16, 11264, 2048, "gated_silu"},
                           Fp8Case{16, 2048, 5632, "none", false, true}}) {
    Counters counters = countersOf(tactic, c);
    uint64_t weights = c.n * c.k, x = 16 * c.k;
    // Four lanes of a column read its scales; a wave reads its arguments and
    // the weight scales of its blocks and tiles.
    uint64_t xScales = 16 * (c.k / 128) * 4;
    uint64_t wScales = c.n / 128 * (c.k / 128) * 4;
    uint64_t residual = c.residual ? 2 * c.m * c.width() : 0;
    uint64_t pointers = 8 * (c.residual ? 6 : 5);
    uint64_t tiles = c.epilogue == "gated_silu" ? 2 : 1;
    EXPECT_EQ(counters.globalLoadBytes,
              weights +
                  counters.workgroups *
                      (x + 4 * xScales + tiles * (c.k / 128) * 4) +
                  residual + counters.waves * pointers);
    EXPECT_EQ(counters.globalDistinctReadBytes,
              weights + x + xScales + wScales + residual + pointers);
    EXPECT_EQ(counters.globalStoreBytes, 2u * c.m * c.width());
    EXPECT_GE(counters.firstWaitBytesPerCu, 64u * 1024) << counters.text();
    EXPECT_LE(counters.maxRoundTrips, 2u);
    EXPECT_LE(counters.ldsConflictCycles * 50, counters.ldsAccesses);
  }
}

TEST(DenseFp8Negative, WrongKernelsAreNoticed) {
  Fp8Case c{5, 256, 1024, "none", true, true};
  Fp8Inputs inputs(c, 8);
  auto check = [&](const Outcome &run) { return inputs.check(c, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(tactic, c.problem(), inputs.buffers(c), {{"WAVES", 4}},
                   {{file, from, to, occurrence}}, check);
  };
  const char *const dense = "dense/fp8_block128.s";
  EXPECT_EQ(wrong(dense, "// The stream.", "// The stream, unchanged."), "");
  // Waits removed: of the weights, of the scalar scales, of the partial sums.
  EXPECT_NE(wrong(dense, "netra_wait_memory (2 *", "netra_wait_memory 63 //")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(dense, "netra_wait_scalar                              // w",
                  "s_nop 0 // w")
                .find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(dense, "s_waitcnt lgkmcnt(blk_left)", "s_nop 0").find("wait"),
            std::string::npos);
  // One layout index changed: the second half of a weight block, of an
  // activation block, the row of the result.
  EXPECT_NE(wrong(dense, "offset:2048*((\\c)%2)+1024 nt",
                  "offset:2048*((\\c)%2)+512 nt"),
            "");
  EXPECT_NE(wrong(dense, "offset:128*(\\c)+64", "offset:128*(\\c)+32"), "");
  EXPECT_NE(wrong(dense, "v_lshl_add_u32 v[V_OUT], v[V_T0], 3",
                  "v_lshl_add_u32 v[V_OUT], v[V_T0], 2"),
            "");
  // One scale dropped, one swapped with its neighbour.
  EXPECT_NE(wrong("include/mfma.inc",
                  "v[.Lnetra_cs:.Lnetra_cs+1] op_sel:[0,1] op_sel_hi:[1,1]",
                  "1.0"),
            "");
  EXPECT_NE(wrong(dense, "S_SW+BLK_C4*blk_t+(\\c), S_TMP",
                  "S_SW+BLK_C4*blk_t+(\\c)/2, S_TMP"),
            "");
  EXPECT_NE(wrong(dense, "s_lshr_b32 s[S_TMP], s[S_TMP], 3",
                  "s_lshr_b32 s[S_TMP], s[S_TMP], 4"),
            "");
  // The last wave's blocks dropped; a row that does not exist read.
  EXPECT_NE(wrong(dense, ".rept NETRA_WAVES - 1", ".rept NETRA_WAVES - 2", 0),
            "");
  EXPECT_NE(
      wrong(dense, "v_min_u32 v[V_T1], NETRA_M - 1", "v_min_u32 v[V_T1], 15")
          .find("memory"),
      std::string::npos);
}

} // namespace
