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
  std::string rounding = "none";
  bool groupMajor = false, rounded = false;

  std::string tactic() const {
    return std::string("gfx950.gated_bf16") + (packed ? "_packed" : "") +
           (quantized ? "_quantized" : "") + (groupMajor ? "_group_major" : "");
  }
  netra::Problem problem() const {
    return gatedProblem(m, n, activation, packed, quantized, rounding,
                        groupMajor, rounded);
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
      return oracle::gated(function, both.data(), both.data() + n, m, n, 2 * n,
                           rounding == "bf16");
    }
    std::vector<uint16_t> gate = fromBytes<uint16_t>(inputs.at("gate"));
    std::vector<uint16_t> up = fromBytes<uint16_t>(inputs.at("up"));
    return oracle::gated(function, gate.data(), up.data(), m, n, n,
                         rounding == "bf16");
  }
  std::string check(const Buffers &inputs, const Outcome &run) const {
    if (run.outputs.empty())
      return "no result";
    if (quantized) {
      Bytes scales = run.outputs.at("result_scale");
      if (groupMajor)
        scales = rowMajorScales(scales, m);
      if (!rounded)
        return checkQuantizedWithin(run.outputs.at("result"), scales,
                                    expected(inputs));
      // What was quantized is known exactly.
      std::string difference =
          checkBf16(run.outputs.at("rounded"), expected(inputs));
      std::vector<double> values;
      for (uint16_t value : fromBytes<uint16_t>(run.outputs.at("rounded")))
        values.push_back(oracle::decodeBf16(value));
      return difference +
             checkQuantized(run.outputs.at("result"), scales, values);
    }
    return checkBf16(run.outputs.at("result"), expected(inputs));
  }
};

std::ostream &operator<<(std::ostream &os, const GatedCase &c) {
  return os << c.m << "x" << c.n << " " << c.activation
            << (c.packed ? " packed" : "") << (c.quantized ? " quantized" : "")
            << (c.rounding == "bf16" ? " activation in bf16" : "")
            << (c.groupMajor ? " group-major" : "")
            << (c.rounded ? " rounded" : "");
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
    testing::Values(
        GatedCase{1, 5632}, GatedCase{1, 5632, "silu", true},
        GatedCase{1, 5632, "silu", false, true},
        GatedCase{16, 5632, "silu", true, true}, GatedCase{3, 128},
        GatedCase{3, 128, "gelu_erf", true, true},
        GatedCase{3, 640, "gelu_erf"}, GatedCase{3, 4096, "sigmoid"},
        GatedCase{3, 640, "sigmoid", true, true},
        GatedCase{3, 640, "gelu_tanh", true},
        GatedCase{3, 640, "gelu_tanh", false, true},
        GatedCase{9, 512, "silu", true},
        GatedCase{2, 17408, "silu", true, true},
        GatedCase{2, 2176, "silu", false, true, {{"WAVES", 4}}},
        GatedCase{2, 4096, "gelu_erf", true, false, {{"WAVES", 4}}},
        GatedCase{3, 640, "silu", false, false, {}, "bf16"},
        GatedCase{3, 640, "gelu_tanh", true, false, {}, "bf16"},
        GatedCase{3, 640, "silu", true, true, {}, "bf16", false, true},
        GatedCase{5, 1280, "silu", true, true, {}, "none", true},
        GatedCase{7, 640, "gelu_erf", false, true, {}, "none", true, true},
        GatedCase{
            2, 2176, "silu", false, true, {{"WAVES", 4}}, "bf16", true, true}));

// Multiples of 128 by steps of one, then those of the models; all activations
// and forms by turns, few rows and many.
TEST(Gated, EveryWidth) {
  const char *const activations[] = {"silu", "gelu_erf", "gelu_tanh",
                                     "sigmoid"};
  std::vector<int64_t> widths{2048, 5120, 5632, 17408};
  for (int64_t n = 128; n <= 1920; n += 128)
    widths.push_back(n);
  unsigned turn = 0;
  for (int64_t n : widths)
    for (bool quantized : {false, true}) {
      GatedCase c{n > 2048 ? 2 : 1 + 32 * (turn % 3), n,
                  activations[turn / 2 % 4], turn % 3 == 1, quantized};
      c.groupMajor = quantized && turn % 4 < 2;
      c.rounded = quantized && turn % 5 < 2;
      c.rounding = turn % 7 < 2 ? "bf16" : "none";
      ++turn;
      Buffers inputs = c.random(turn);
      Outcome run = runOnce(c.tactic(), c.problem(), inputs, {});
      EXPECT_EQ(run.findingsText(), "") << c;
      EXPECT_EQ(c.check(inputs, run), "") << c;
      EXPECT_TRUE(catalog().select(c.problem()).winner.has_value()) << c;
    }
}

TEST(Gated, OneCodeObjectForAnyRows) {
  for (bool quantized : {false, true})
    for (bool packed : {false, true}) {
      GatedCase few{1, 640, "silu", packed, quantized};
      GatedCase many{70000, 640, "silu", packed, quantized};
      expectOneCodeObject(few.tactic(), few.problem(), many.problem());
      few.groupMajor = many.groupMajor = quantized;
      expectOneCodeObject(few.tactic(), few.problem(), many.problem());
    }
}

TEST(Gated, SizesThatNoTacticComputesAreRefusedByName) {
  netra::Problem odd = gatedProblem(2, 576, "silu", false, false);
  EXPECT_FALSE(catalog().select(odd).winner.has_value());
  // Scales further apart than a 32-bit offset reaches.
  llvm::Expected<netra::Instance> large = instantiate(
      "gfx950.gated_bf16_quantized_group_major",
      gatedProblem(1 << 24, 17408, "silu", false, true, "none", true));
  ASSERT_FALSE(bool(large));
  EXPECT_NE(llvm::toString(large.takeError()).find("M * (N / 128)"),
            std::string::npos);
}

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

TEST(Gated, ContractOfSiluMulGroupQuant) {
  // Offset and size of every argument, and the launch, as the contract fixes
  // them: in, out, out_fp8, scale, width, rows, 1 / 448, two null pointers.
  const uint64_t layout[][2] = {{0, 8},  {8, 8},  {16, 8}, {24, 8}, {32, 4},
                                {36, 4}, {40, 4}, {48, 8}, {56, 8}};
  for (bool store : {true, false}) {
    const std::string tactic =
        std::string("gfx950.silu_mul_group_quant_n17408_") +
        (store ? "store_bf16" : "prequant_only");
    for (int64_t m : {1, 3}) {
      GatedCase c{m, 17408, "silu", true, true, {}, "bf16", true, store};
      Buffers inputs = c.random(m);
      if (m == 3) // one row of zeros
        std::fill_n(inputs["packed"].begin(), 4 * c.n, 0);
      llvm::Expected<netra::Instance> instance =
          instantiate(tactic, c.problem());
      ASSERT_TRUE(bool(instance)) << llvm::toString(instance.takeError());
      const netra::Contract &contract = instance->contract;
      ASSERT_EQ(contract.arguments.size(), std::size(layout));
      for (size_t i = 0; i != std::size(layout); ++i) {
        EXPECT_EQ(contract.arguments[i].offset, layout[i][0]) << i;
        EXPECT_EQ(contract.arguments[i].bytes, layout[i][1]) << i;
      }
      EXPECT_EQ(contract.kernargBytes, 64u);
      EXPECT_EQ(contract.arguments[1].kind == netra::ArgumentKind::Pointer,
                store);
      EXPECT_EQ(contract.arguments[1].bits, 0u);
      EXPECT_EQ(contract.arguments[4].bits, 17408u);
      EXPECT_EQ(contract.arguments[5].bits, uint64_t(m));
      EXPECT_EQ(contract.arguments[6].bits, 0x3b124925u);
      EXPECT_EQ(contract.arguments[7].bits | contract.arguments[8].bits, 0u);
      EXPECT_EQ(contract.grid[0], uint32_t(m));
      EXPECT_EQ(contract.grid[1], 34u);
      EXPECT_EQ(contract.grid[2], 1u);
      EXPECT_EQ(contract.block[0], 64u);
      netra::Selection selection = catalog().select(c.problem());
      ASSERT_TRUE(selection.winner.has_value());
      EXPECT_EQ(selection.winner->tactic->name, tactic);
      Outcome run = runEverywhere(tactic, c.problem(), inputs);
      EXPECT_EQ(c.check(inputs, run), "");
      // Whatever the launch, the same bits.
      llvm::Expected<Kernel> general = build(c.tactic(), c.problem());
      ASSERT_TRUE(bool(general)) << llvm::toString(general.takeError());
      llvm::Expected<Outcome> other = kernels::run(*general, inputs);
      ASSERT_TRUE(bool(other)) << llvm::toString(other.takeError());
      EXPECT_TRUE(run.outputs == other->outputs);
    }
    GatedCase c{1, 17408, "silu", true, true, {}, "bf16", true, store};
    netra::Problem one = c.problem();
    c.m = 1536;
    expectOneCodeObject(tactic, one, c.problem());
  }
}

/// Width and 1 / 448 are arguments: other values mean what they say. Of a
/// narrower row the rest of the grid does nothing, and rows are as far apart as
/// they are wide.
TEST(Gated, ContractOfSiluMulGroupQuantWithOtherArguments) {
  for (bool store : {true, false})
    for (auto [width, factor] : {std::pair(17408, 1 / 240.0f),
                                 {5120, float(1.0 / 448)},
                                 {640, 1 / 416.0f},
                                 {128, 1.0f}}) {
      const std::string tactic =
          std::string("gfx950.silu_mul_group_quant_n17408_") +
          (store ? "store_bf16" : "prequant_only");
      GatedCase full{3, 17408, "silu", true, true, {}, "bf16", true, store};
      GatedCase c = full;
      c.n = width;
      c.rounded = true;
      Buffers inputs = c.random(width);
      // What is quantized, from a kernel without such arguments.
      Outcome exact = runOnce(c.tactic(), c.problem(), inputs, {});
      ASSERT_EQ(c.check(inputs, exact), "");
      std::vector<double> values;
      for (uint16_t code : fromBytes<uint16_t>(exact.outputs["rounded"]))
        values.push_back(oracle::decodeBf16(code));
      auto runWith = [&](const std::vector<Mutation> &mutations) {
        llvm::Expected<Kernel> kernel =
            build(tactic, full.problem(), {}, mutations);
        if (!kernel)
          return llvm::toString(kernel.takeError());
        uint32_t bits;
        std::memcpy(&bits, &factor, sizeof(bits));
        setArgument(*kernel, "width", width);
        setArgument(*kernel, "inv448", bits);
        setShape(*kernel, "packed", {c.m, 2 * width});
        setShape(*kernel, "result", {c.m, width});
        setShape(*kernel, "result_scale", {c.m, width / 128});
        if (store)
          setShape(*kernel, "rounded", {c.m, width});
        llvm::Expected<Outcome> once = kernels::run(*kernel, inputs);
        if (!once)
          return llvm::toString(once.takeError());
        std::string text = once->findingsText();
        if (store && once->outputs["rounded"] != exact.outputs["rounded"])
          text += "the bf16 values differ\n";
        return text + checkQuantized(
                          once->outputs["result"],
                          rowMajorScales(once->outputs["result_scale"], c.m),
                          values, factor);
      };
      EXPECT_EQ(runWith({}), "") << width << " " << factor;
      const char *const gated = "activation/gated.s";
      if (width != 17408) {
        EXPECT_NE(runWith({{gated, "s[S_BYTES], s[S_WIDTH], \\bytes",
                            "s[S_BYTES], 17408, \\bytes"}}),
                  "");
        EXPECT_NE(runWith({{gated, "S_COLUMNS, S_WIDTH", "S_COLUMNS"}}), "");
        EXPECT_NE(runWith({{gated, "s_lshl_b32 s[S_BYTES], s[S_WIDTH], 1",
                            "s_mov_b32 s[S_BYTES], 2*NETRA_N"}}),
                  "");
      }
      if (factor != float(1.0 / 448)) {
        EXPECT_NE(runWith({{gated, "S_ROWS, s[S_INV_448]", "S_ROWS"}}), "");
      }
    }
}

// The captured kernel divides where ours multiplies by a reciprocal that is
// good to 1 ulp of f32. Against silu in doubles, rounded where the contract
// rounds: what it may cost is stated in the manifest and is far from reached.
TEST(Gated, ContractOfSiluMulGroupQuantAgainstADivision) {
  auto value = [](uint16_t code) { return oracle::decodeBf16(code); };
  auto code = [](double value) { return oracle::encodeBf16(value); };
  for (bool everyGate : {true, false}) {
    GatedCase c{4, 17408, "silu", true, true, {}, "bf16", true, true};
    Buffers inputs = c.random(12);
    std::vector<uint16_t> packed = fromBytes<uint16_t>(inputs["packed"]);
    if (everyGate) { // all finite ones, with up = 1
      uint16_t next = 0;
      for (int64_t row = 0; row != c.m; ++row)
        for (int64_t i = 0; i != c.n; ++i) {
          packed[row * 2 * c.n + i] = (next & 0x7f80) == 0x7f80 ? 0 : next;
          packed[row * 2 * c.n + c.n + i] = code(1);
          ++next;
        }
      inputs["packed"] = toBytes(packed);
    }
    std::vector<double> expected;
    for (int64_t row = 0; row != c.m; ++row)
      for (int64_t i = 0; i != c.n; ++i) {
        double gate = value(packed[row * 2 * c.n + i]);
        double silu = value(code(gate / (1 + std::exp(-gate))));
        expected.push_back(
            value(code(silu * value(packed[row * 2 * c.n + c.n + i]))));
      }
    llvm::Expected<Kernel> kernel =
        build("gfx950.silu_mul_group_quant_n17408_store_bf16", c.problem());
    ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
    llvm::Expected<Outcome> run = kernels::run(*kernel, inputs);
    ASSERT_TRUE(bool(run)) << llvm::toString(run.takeError());
    std::vector<uint16_t> found = fromBytes<uint16_t>(run->outputs["rounded"]);
    ASSERT_EQ(found.size(), expected.size());
    size_t different = 0;
    for (size_t i = 0; i != found.size(); ++i) {
      int distance = std::abs(oracle::ordinalBf16(found[i]) -
                              oracle::ordinalBf16(code(expected[i])));
      ASSERT_LE(distance, 1)
          << i << ": expected " << expected[i] << ", found " << value(found[i]);
      different += distance;
    }
    EXPECT_LE(different * 1000, found.size()) << different;
    EXPECT_EQ(checkQuantized(run->outputs["result"],
                             rowMajorScales(run->outputs["result_scale"], c.m),
                             expected),
              "");
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

TEST(GatedEdge, Infinities) {
  // act(inf) is inf; x sigmoid(x) is NaN at -inf, as 0 times infinity is.
  GatedCase c{1, 256};
  Buffers inputs = c.random(7);
  std::vector<uint16_t> gate = fromBytes<uint16_t>(inputs["gate"]);
  std::vector<uint16_t> up = fromBytes<uint16_t>(inputs["up"]);
  gate[1] = 0x7f80;
  up[1] = oracle::encodeBf16(-2);
  gate[2] = 0xff80;
  gate[3] = oracle::encodeBf16(3);
  up[3] = 0xff80;
  gate[4] = 0;
  up[4] = 0x7f80;
  inputs["gate"] = toBytes(gate);
  inputs["up"] = toBytes(up);
  Outcome run = runEverywhere(c.tactic(), c.problem(), inputs);
  std::vector<uint16_t> y = fromBytes<uint16_t>(run.outputs["result"]);
  ASSERT_EQ(y.size(), size_t(c.n));
  EXPECT_EQ(y[1], 0xff80);
  EXPECT_EQ(y[3], 0xff80);
  for (int64_t i = 0; i < c.n; ++i)
    EXPECT_EQ(oracle::isNanBf16(y[i]), i == 2 || i == 4) << i;
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
  c = {3, 640, "silu", true, true, {}, "bf16", true, true};
  EXPECT_EQ(wrong(gated, "// Arithmetic.", "// The arithmetic."), "");
  EXPECT_NE(
      wrong(gated, "v_and_b32 v[V_Y], 0xffff0000", "v_lshlrev_b32 v[V_Y], 15"),
      "");
  EXPECT_NE(wrong(gated, "netra_row_pointer S_SCALE, S_ROW, 4, S_TMP",
                  "netra_row_pointer S_SCALE, S_ROW, NETRA_N/32, S_TMP"),
            "");
  EXPECT_NE(wrong(gated, "V_T1, V_T2, S_ROWS\n", "V_T1, V_T2\n"), "");
  EXPECT_NE(wrong(gated,
                  "    global_store_dwordx4 v[V_OFFSET], v[V_G:V_G+3], "
                  "s[S_ROUNDED:S_ROUNDED+1]\n",
                  ""),
            "");
  EXPECT_NE(wrong(gated, "netra_bf16_unpack_run V_GATE, V_G, 4", "s_nop 0", 2),
            "");
  c = {3, 640, "silu", true, true};
  EXPECT_NE(wrong("include/activation.inc", "0xbfb8aa3b", "0xbf800000"), "");
  EXPECT_NE(wrong("include/convert.inc",
                  "v_cvt_pk_fp8_f32 v[\\v_src], v[\\v_src+2], v[\\v_src+3]",
                  "v_cvt_pk_fp8_f32 v[\\v_src], v[\\v_src+3], v[\\v_src+2]"),
            "");
}

} // namespace
