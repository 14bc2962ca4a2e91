//===- DenseBf16Tests.cpp - gfx950.dense_bf16_m1 --------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

using namespace kernels;
using netra::sim::Counters;

namespace {

const char *const tactic = "gfx950.dense_bf16_m1";

oracle::Function functionOf(const std::string &epilogue) {
  if (epilogue == "silu" || epilogue == "gated_silu")
    return oracle::Function::Silu;
  if (epilogue == "gelu_erf")
    return oracle::Function::GeluErf;
  if (epilogue == "gelu_tanh")
    return oracle::Function::GeluTanh;
  return oracle::Function::None;
}

struct DenseCase {
  int64_t n, k;
  std::string epilogue = "none";
  bool bias = false, residual = false;
  Options options = {};

  netra::Problem problem() const {
    return denseBf16Problem(1, n, k, epilogue, bias, residual);
  }
  int64_t width() const { return epilogue == "gated_silu" ? n / 2 : n; }
  Buffers random(uint64_t seed) const {
    Random random(seed);
    Buffers inputs;
    inputs["x"] = toBytes(random.bf16(k));
    inputs["weight"] = toBytes(random.bf16(n * k, 1 / std::sqrt(double(k))));
    if (bias)
      inputs["bias"] = toBytes(random.bf16(n));
    if (residual)
      inputs["residual"] = toBytes(random.bf16(width()));
    return inputs;
  }
  std::string check(const Buffers &inputs, const Outcome &run) const {
    std::vector<uint16_t> x = fromBytes<uint16_t>(inputs.at("x"));
    std::vector<uint16_t> w = fromBytes<uint16_t>(inputs.at("weight"));
    std::vector<uint16_t> b, r;
    oracle::Epilogue finish;
    finish.function = functionOf(epilogue);
    finish.gated = epilogue == "gated_silu";
    if (bias) {
      b = fromBytes<uint16_t>(inputs.at("bias"));
      finish.bias = b.data();
    }
    if (residual) {
      r = fromBytes<uint16_t>(inputs.at("residual"));
      finish.residual = r.data();
    }
    auto output = run.outputs.find("result");
    if (output == run.outputs.end())
      return "no result";
    return checkBf16(
        output->second,
        oracle::finish(oracle::denseBf16(x.data(), w.data(), 1, n, k), 1, n,
                       finish));
  }
};

std::ostream &operator<<(std::ostream &os, const DenseCase &c) {
  os << c.n << "x" << c.k << " " << c.epilogue << (c.bias ? " bias" : "")
     << (c.residual ? " residual" : "");
  for (const auto &[name, value] : c.options)
    os << " " << name << "=" << value;
  return os;
}

class DenseBf16 : public testing::TestWithParam<DenseCase> {};

TEST_P(DenseBf16, MatchesOracle) {
  const DenseCase &c = GetParam();
  Buffers inputs = c.random(c.n + c.k);
  Outcome run = runEverywhere(tactic, c.problem(), inputs, c.options);
  EXPECT_EQ(c.check(inputs, run), "");
}

INSTANTIATE_TEST_SUITE_P(
    Small, DenseBf16,
    testing::Values(
        DenseCase{64, 512}, DenseCase{64, 512, "silu"},
        DenseCase{64, 512, "gelu_erf", true},
        DenseCase{64, 512, "gelu_tanh", true, true},
        DenseCase{64, 512, "gated_silu", true, true},
        DenseCase{64, 512, "none", false, true},
        DenseCase{24, 1024, "silu", true, true},
        DenseCase{24, 1536, "gated_silu"},
        DenseCase{12, 2048, "none", true, true, {{"ROWS", 4}}},
        DenseCase{16, 2048, "gated_silu", true, true, {{"ROWS", 4}}},
        DenseCase{32, 2048, "none", true, true, {{"ROWS", 16}}},
        DenseCase{32, 2048, "gated_silu", true, true, {{"ROWS", 16}}},
        DenseCase{16, 2048, "none", true, true, {{"WAVES", 1}, {"DEPTH", 3}}},
        DenseCase{16, 4096, "none", true, true, {{"WAVES", 1}, {"DEPTH", 2}}},
        DenseCase{16, 4096, "silu", false, false, {{"WAVES", 2}, {"DEPTH", 4}}},
        DenseCase{16, 8192, "silu", false, false, {{"WAVES", 16}}},
        DenseCase{16, 17408, "gelu_erf", false, true}));

// The projections of a decoder block with hidden size 2048 and intermediate
// size 5632.
INSTANTIATE_TEST_SUITE_P(DecoderMlp, DenseBf16,
                         testing::Values(DenseCase{11264, 2048, "gated_silu"},
                                         DenseCase{2048, 5632, "none", false,
                                                   true}));

TEST(DenseBf16Edge, ZeroNegativeZeroAndDenormals) {
  DenseCase c{64, 1024};
  Buffers inputs = c.random(1);
  inputs["x"].assign(inputs["x"].size(), 0);
  Outcome run = runEverywhere(tactic, c.problem(), inputs);
  EXPECT_EQ(c.check(inputs, run), "");

  for (uint16_t code : {0x8000, 0x0001, 0x807f}) {
    inputs["x"] = toBytes(std::vector<uint16_t>(c.k, code));
    Outcome other = runEverywhere(tactic, c.problem(), inputs);
    EXPECT_EQ(c.check(inputs, other), "");
  }
}

TEST(DenseBf16Edge, OneHugeValue) {
  DenseCase c{64, 1024, "none", true, true};
  Buffers inputs = c.random(2);
  std::vector<uint16_t> x(c.k, 0);
  x[517] = oracle::encodeBf16(1e30);
  inputs["x"] = toBytes(x);
  Outcome run = runEverywhere(tactic, c.problem(), inputs);
  EXPECT_EQ(c.check(inputs, run), "");
}

TEST(DenseBf16Edge, ActivationsOverTheirWholeRange) {
  // Row n of the weight is a single value at k = 0 that walks from -100 to 100;
  // x picks it out, so that the pre-activation is exact.
  for (const char *epilogue : {"silu", "gelu_erf", "gelu_tanh"}) {
    DenseCase c{2048, 512, epilogue};
    std::vector<uint16_t> x(c.k, 0), w(c.n * c.k, 0);
    x[0] = oracle::encodeBf16(1);
    for (int64_t i = 0; i < c.n; ++i)
      w[i * c.k] = oracle::encodeBf16((i - 1024) * 100.0 / 1024);
    Buffers inputs{{"x", toBytes(x)}, {"weight", toBytes(w)}};
    Outcome run = runEverywhere(tactic, c.problem(), inputs);
    EXPECT_EQ(c.check(inputs, run), "") << epilogue;
  }
}

TEST(DenseBf16Edge, NotANumberAndInfinityPropagate) {
  DenseCase c{16, 512};
  Buffers inputs = c.random(3);
  std::vector<uint16_t> w = fromBytes<uint16_t>(inputs["weight"]);
  w[3 * c.k + 77] = 0x7fc0;
  w[5 * c.k + 78] = 0x7f80;
  inputs["weight"] = toBytes(w);
  Outcome run = runEverywhere(tactic, c.problem(), inputs);
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  for (int64_t i = 0; i < c.n; ++i)
    EXPECT_EQ(oracle::isNanBf16(y[i]), i == 3) << i;
  EXPECT_EQ(y[5] & 0x7fff, 0x7f80);
}

TEST(DenseBf16, TheResultMayTakeTheResidualsPlace) {
  for (const char *epilogue : {"none", "gated_silu"}) {
    DenseCase c{64, 1024, epilogue, false, true};
    expectSameInPlace(tactic, c.problem(), c.random(7), "result", "residual");
  }
}

TEST(DenseBf16, AgreesWithThePlainLoop) {
  DenseCase c{96, 1536};
  Buffers inputs = c.random(4);
  Outcome run =
      runEverywhere("gfx950.dense_bf16_m1_plain", c.problem(), inputs);
  EXPECT_EQ(c.check(inputs, run), "");
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

Counters countersOf(const std::string &name, const DenseCase &c) {
  RunOptions options;
  options.checks = 0;
  options.counters = true;
  llvm::Expected<Kernel> kernel = build(name, c.problem(), c.options);
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    return {};
  }
  llvm::Expected<Outcome> once = run(*kernel, c.random(5), options);
  if (!once) {
    ADD_FAILURE() << llvm::toString(once.takeError());
    return {};
  }
  return once->counters;
}

uint64_t vectorInstructions(const Counters &counters) {
  uint64_t sum = 0;
  for (const auto &[name, count] : counters.byMnemonic)
    if (llvm::StringRef(name).starts_with("v_") ||
        llvm::StringRef(name).starts_with("global_") ||
        llvm::StringRef(name).starts_with("ds_"))
      sum += count;
  return sum;
}

TEST(DenseBf16Counters, WeightsAreReadOnceWithManyLoadsInFlight) {
  for (const DenseCase &c : {DenseCase{11264, 2048, "gated_silu"},
                             DenseCase{2048, 5632, "none", false, true}}) {
    Counters counters = countersOf(tactic, c);
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
  DenseCase c{2048, 5632};
  uint64_t ours = vectorInstructions(countersOf(tactic, c));
  uint64_t plain =
      vectorInstructions(countersOf("gfx950.dense_bf16_m1_plain", c));
  EXPECT_GT(plain, 0u);
  EXPECT_LE(2 * ours, plain) << ours << " against " << plain;
}

//===----------------------------------------------------------------------===//
// Deliberately wrong kernels
//===----------------------------------------------------------------------===//

TEST(DenseBf16Negative, WrongKernelsAreNoticed) {
  DenseCase c{64, 1024, "gated_silu", true, true};
  Buffers inputs = c.random(6);
  auto check = [&](const Outcome &run) { return c.check(inputs, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(tactic, c.problem(), inputs, {{"WAVES", 2}},
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

} // namespace
