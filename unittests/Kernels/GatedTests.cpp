//===- GatedTests.cpp - gfx950.gated_bf16, packed and quantized -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

using namespace kernels;

namespace {

struct GatedCase {
  int64_t m, n;
  std::string activation = "silu";
  bool packed = false, quantized = false;
  Options options = {};

  std::string tactic() const {
    return std::string("gfx950.gated_bf16") + (packed ? "_packed" : "") +
           (quantized ? "_quantized" : "");
  }
  netra::Problem problem() const {
    return gatedProblem(m, n, activation, packed, quantized);
  }
  Buffers random(uint64_t seed, double deviation = 2) const {
    Random random(seed);
    Buffers inputs;
    if (packed) {
      inputs["packed"] = toBytes(random.bf16(2 * m * n, deviation));
    } else {
      inputs["gate"] = toBytes(random.bf16(m * n, deviation));
      inputs["up"] = toBytes(random.bf16(m * n, deviation));
    }
    return inputs;
  }
  std::vector<oracle::Value> expected(const Buffers &inputs) const {
    oracle::Function function =
        activation == "silu"       ? oracle::Function::Silu
        : activation == "sigmoid"  ? oracle::Function::Sigmoid
        : activation == "gelu_erf" ? oracle::Function::GeluErf
                                   : oracle::Function::GeluTanh;
    if (packed) {
      std::vector<uint16_t> both = fromBytes<uint16_t>(inputs.at("packed"));
      return oracle::gated(function, both.data(), both.data() + n, m, n, 2 * n);
    }
    std::vector<uint16_t> gate = fromBytes<uint16_t>(inputs.at("gate"));
    std::vector<uint16_t> up = fromBytes<uint16_t>(inputs.at("up"));
    return oracle::gated(function, gate.data(), up.data(), m, n, n);
  }
  std::string check(const Buffers &inputs, const Outcome &run) const {
    if (run.outputs.empty())
      return "no result";
    if (quantized)
      return checkQuantizedWithin(run.outputs.at("result"),
                                  run.outputs.at("result_scale"),
                                  expected(inputs));
    return checkBf16(run.outputs.at("result"), expected(inputs));
  }
};

std::ostream &operator<<(std::ostream &os, const GatedCase &c) {
  return os << c.m << "x" << c.n << " " << c.activation
            << (c.packed ? " packed" : "") << (c.quantized ? " quantized" : "");
}

class Gated : public testing::TestWithParam<GatedCase> {};

TEST_P(Gated, MatchesOracle) {
  const GatedCase &c = GetParam();
  Buffers inputs = c.random(c.m + c.n);
  Outcome run = runEverywhere(c.tactic(), c.problem(), inputs, c.options);
  EXPECT_EQ(c.check(inputs, run), "");
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Gated,
    testing::Values(GatedCase{1, 5632}, GatedCase{1, 5632, "silu", true},
                    GatedCase{1, 5632, "silu", false, true},
                    GatedCase{16, 5632, "silu", true, true}, GatedCase{3, 128},
                    GatedCase{3, 128, "gelu_erf", true, true},
                    GatedCase{3, 640, "gelu_erf"},
                    GatedCase{3, 4096, "sigmoid"},
                    GatedCase{3, 640, "sigmoid", true, true},
                    GatedCase{3, 640, "gelu_tanh", true},
                    GatedCase{3, 640, "gelu_tanh", false, true},
                    GatedCase{9, 512, "silu", true},
                    GatedCase{2, 17408, "silu", true, true},
                    GatedCase{2, 2176, "silu", false, true, {{"WAVES", 4}}},
                    GatedCase{
                        2, 4096, "gelu_erf", true, false, {{"WAVES", 4}}}));

TEST(GatedQuantized, EqualsTheActivationFollowedByTheQuantization) {
  GatedCase plain{3, 1280}, fused{3, 1280, "silu", false, true};
  Buffers inputs = plain.random(1);
  Outcome first = runEverywhere(plain.tactic(), plain.problem(), inputs);
  Outcome second =
      runEverywhere("gfx950.quantize_blocks_bf16", quantizeProblem(3, 1280),
                    {{"x", first.outputs["result"]}});
  Outcome both = runEverywhere(fused.tactic(), fused.problem(), inputs);
  EXPECT_EQ(both.outputs["result"], second.outputs["result"]);
  EXPECT_EQ(both.outputs["result_scale"], second.outputs["result_scale"]);
}

TEST(Gated, TheResultMayTakeTheInputsPlace) {
  for (const char *input : {"gate", "up"}) {
    GatedCase c{3, 640};
    expectSameInPlace(c.tactic(), c.problem(), c.random(6), "result", input);
  }
}

TEST(GatedEdge, EveryFiniteGate) {
  // All 65,280 finite bf16 codes as the gate, with up = 1: the whole range of
  // the activations, their denormal results included.
  for (const char *activation : {"silu", "sigmoid", "gelu_erf", "gelu_tanh"}) {
    GatedCase c{1, 65280, activation};
    std::vector<uint16_t> gate, up(c.n, oracle::encodeBf16(1));
    for (unsigned code = 0; code < 0x10000; ++code)
      if ((code & 0x7f80) != 0x7f80)
        gate.push_back(code);
    Buffers inputs{{"gate", toBytes(gate)}, {"up", toBytes(up)}};
    Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
    EXPECT_EQ(c.check(inputs, run), "") << activation;
  }
}

TEST(GatedEdge, ZeroHugeAndNotANumber) {
  GatedCase c{1, 256, "silu", false, true};
  Buffers inputs = c.random(2);
  inputs["gate"].assign(inputs["gate"].size(), 0);
  Outcome zero = runEverywhere(c.tactic(), c.problem(), inputs);
  EXPECT_EQ(c.check(inputs, zero), "");
  // One huge value; the rest of its group quantizes to 0.
  inputs = c.random(3);
  std::vector<uint16_t> up = fromBytes<uint16_t>(inputs["up"]);
  up[5] = oracle::encodeBf16(1e30);
  inputs["up"] = toBytes(up);
  Outcome huge = runEverywhere(c.tactic(), c.problem(), inputs);
  EXPECT_EQ(c.check(inputs, huge), "");
  // NaN: its own code only.
  up[5] = 0x7fc0;
  inputs["up"] = toBytes(up);
  Outcome nan = runEverywhere(c.tactic(), c.problem(), inputs);
  ASSERT_EQ(nan.outputs["result"].size(), size_t(c.n));
  for (int64_t i = 0; i < c.n; ++i)
    EXPECT_EQ(oracle::isNanFp8(nan.outputs["result"][i]), i == 5) << i;
}

TEST(GatedCounters, EachByteMovesOnce) {
  GatedCase c{4, 5632};
  Outcome run = runEverywhere(c.tactic(), c.problem(), c.random(4));
  uint64_t bytes = 2 * c.m * c.n;
  // Gate and up; three pointers of each wave.
  EXPECT_EQ(run.counters.globalLoadBytes, 2 * bytes + run.counters.waves * 24);
  EXPECT_EQ(run.counters.globalDistinctReadBytes, 2 * bytes + 24);
  EXPECT_EQ(run.counters.globalStoreBytes, bytes);
  EXPECT_LE(run.counters.maxRoundTrips, 2u); // arguments, then data
}

TEST(GatedNegative, WrongKernelsAreNoticed) {
  GatedCase c{3, 640, "silu", true, true};
  Buffers inputs = c.random(5);
  auto check = [&](const Outcome &run) { return c.check(inputs, run); };
  auto wrong = [&](const char *file, const char *from, const char *to,
                   unsigned occurrence = 1) {
    return noticed(c.tactic(), c.problem(), inputs, {},
                   {{file, from, to, occurrence}}, check);
  };
  const char *const gated = "activation/gated.s";
  EXPECT_EQ(wrong(gated, "// Arithmetic.", "// The arithmetic."), "");
  EXPECT_NE(wrong(gated, "  netra_wait_memory 1\n", "").find("wait"),
            std::string::npos);
  EXPECT_NE(wrong(gated, "S_UP, S_GATE, 2*NETRA_N", "S_UP, S_GATE, NETRA_N"),
            "");
  EXPECT_NE(wrong("include/rows.inc", "v_cmp_gt_u32 vcc, \\columns",
                  "v_cmp_gt_u32 vcc, 512"),
            "");
  EXPECT_NE(wrong("include/rows.inc", "v_cmp_gt_u32 vcc, \\columns",
                  "v_cmp_gt_u32 vcc, 1024")
                .find("memory"),
            std::string::npos);
  EXPECT_NE(wrong("include/convert.inc", "0x3b124925", "0x3b000000"), "");
  EXPECT_NE(wrong("include/activation.inc", "0x3fb8aa3b", "0x3f800000"), "");
  EXPECT_NE(wrong("include/convert.inc",
                  "v_cvt_pk_fp8_f32 v[\\v_src], v[\\v_src+2], v[\\v_src+3]",
                  "v_cvt_pk_fp8_f32 v[\\v_src], v[\\v_src+3], v[\\v_src+2]"),
            "");
}

} // namespace
