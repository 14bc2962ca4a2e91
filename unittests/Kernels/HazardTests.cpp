//===- HazardTests.cpp - Missing wait states are reported -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A missing s_nop changes no value on the simulator, so that only its hazard
// checker can notice. Where that checker does not report the plainest case, the
// others are not asked of it.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

using namespace kernels;

namespace {

class Hazards : public testing::Test {
protected:
  static std::string fp8(const char *file, const char *from, const char *to,
                         unsigned occurrence = 1) {
    netra::Problem problem = denseFp8Problem(3, 32, 512, "silu");
    Random random(1);
    Buffers inputs{{"x", random.fp8(3 * 512)},
                   {"weight", random.fp8(32 * 512)},
                   {"x_scale", toBytes(random.positive(3 * 4, 1, 2))},
                   {"weight_scale", toBytes(random.positive(4, 1, 2))}};
    return noticed(
        "gfx950.dense_fp8_block128_m16", problem, inputs, {},
        {{file, from, to, occurrence}},
        [](const Outcome &) { return std::string(); }, netra::sim::CheckHazard);
  }
  static std::string bf16(const char *file, const char *from, const char *to,
                          unsigned occurrence = 1) {
    netra::Problem problem = denseBf16Problem(1, 64, 512, "gated_silu");
    Random random(1);
    Buffers inputs{{"x", toBytes(random.bf16(512))},
                   {"weight", toBytes(random.bf16(64 * 512))}};
    return noticed(
        "gfx950.dense_bf16_m1", problem, inputs, {},
        {{file, from, to, occurrence}},
        [](const Outcome &) { return std::string(); }, netra::sim::CheckHazard);
  }
  static std::string quantize(const char *file, const char *from,
                              const char *to) {
    return noticed(
        "gfx950.quantize_blocks_bf16", quantizeProblem(1, 512),
        {{"x", toBytes(Random(1).bf16(512))}}, {}, {{file, from, to}},
        [](const Outcome &) { return std::string(); }, netra::sim::CheckHazard);
  }
  void SetUp() override {
    if (fp8("include/mfma.inc", "  s_nop 11 - (", "  s_nop 1 // (").empty())
      GTEST_SKIP() << "the simulator does not check hazards";
  }
};

TEST_F(Hazards, UnchangedKernelsAreSilent) {
  EXPECT_EQ(fp8("include/mfma.inc", "// Netra", "// The Netra"), "");
  EXPECT_EQ(bf16("include/reduce.inc", "// Netra", "// The Netra"), "");
  EXPECT_EQ(quantize("include/reduce.inc", "// Netra", "// The Netra"), "");
}

TEST_F(Hazards, TooFewWaitStatesAfterAMatrixInstruction) {
  EXPECT_NE(fp8("include/mfma.inc", "  s_nop 11 - (", "  s_nop 3 - ("), "");
  // The kernel waits for its second tile between the two products.
  EXPECT_NE(fp8("include/mfma.inc", "  s_nop 11 - (", "  s_nop 9 - ("), "");
  EXPECT_EQ(fp8("include/mfma.inc", "  s_nop 11 - (", "  s_nop 10 - ("), "");
}

TEST_F(Hazards, NoWaitStatesBeforeLaneCrossing) {
  EXPECT_NE(
      bf16("include/reduce.inc", "  s_nop 1\n  \\op\\()_dpp", "  \\op\\()_dpp"),
      "");
  EXPECT_NE(bf16("include/reduce.inc", "  s_nop 1\n  .set .Lnetra_fold_j, 0",
                 "  .set .Lnetra_fold_j, 0", 3),
            "");
  EXPECT_NE(quantize("include/reduce.inc", "  s_nop 1\n  \\op\\()_dpp",
                     "  \\op\\()_dpp"),
            "");
}

TEST_F(Hazards, NoWaitStateAfterATranscendental) {
  EXPECT_NE(fp8("include/activation.inc",
                "  v_rcp_f32 v[\\v_y], v[\\v_y]\n  s_nop 0\n",
                "  v_rcp_f32 v[\\v_y], v[\\v_y]\n"),
            "");
  EXPECT_NE(quantize("include/convert.inc",
                     "  v_rcp_f32 v[\\v_inv], v[\\v_scale]\n  s_nop 0\n",
                     "  v_rcp_f32 v[\\v_inv], v[\\v_scale]\n"),
            "");
}

TEST_F(Hazards, NoWaitStateAfterAHalfRegisterConversion) {
  EXPECT_NE(quantize("include/convert.inc", "op_sel:[0,0,1]\n  s_nop 0\n",
                     "op_sel:[0,0,1]\n"),
            "");
}

} // namespace
