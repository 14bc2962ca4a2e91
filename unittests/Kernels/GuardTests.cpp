//===- GuardTests.cpp - Templates refuse what they were not made for ------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "DenseCases.h"
#include "LayoutProblems.h"
#include "MoeCases.h"
#include "NormProblems.h"
#include "RouterProblems.h"
#include "VocabularyProblems.h"

#include "llvm/ADT/StringExtras.h"

using namespace kernels;

namespace {

/// The diagnostics of assembling the instance with one constant changed.
std::string refusal(const std::string &tactic, const netra::Problem &problem,
                    const std::string &constant, int64_t value) {
  llvm::Expected<netra::Instance> instance = instantiate(tactic, problem);
  if (!instance)
    return "no instance: " + llvm::toString(instance.takeError());
  std::string source = assembler().instanceSource(*instance);
  std::string line = ".set NETRA_" + constant + ", ";
  size_t at = source.find(line);
  if (at == std::string::npos)
    return "no constant " + constant;
  at += line.size();
  source.replace(at, source.find('\n', at) - at, std::to_string(value));
  llvm::Expected<netra::AssembledKernel> assembled =
      assembler().assembleSource(source, "guard.s");
  return assembled ? "" : llvm::toString(assembled.takeError());
}

struct GuardCase {
  const char *constant;
  int64_t value;
  const char *sentence;
};

void expectRefusals(const std::string &tactic, const netra::Problem &problem,
                    llvm::ArrayRef<GuardCase> cases) {
  for (const GuardCase &c : cases)
    EXPECT_NE(refusal(tactic, problem, c.constant, c.value).find(c.sentence),
              std::string::npos)
        << tactic << " " << c.constant << " = " << c.value << ": "
        << refusal(tactic, problem, c.constant, c.value);
}

TEST(Guards, DenseBf16) {
  expectRefusals(
      "gfx950.dense_bf16_m1", denseBf16Problem(1, 64, 2048),
      {{"M", 2, "NETRA_M must be 1"},
       {"N", 66, "NETRA_N must be a multiple of NETRA_ROWS"},
       {"K", 2047, "NETRA_K must be a multiple of 512"},
       {"K", 2560, "NETRA_WAVES must leave a 512-element chunk"},
       {"ROWS", 12, "NETRA_ROWS must be 4, 8 or 16"},
       {"WAVES", 17, "NETRA_WAVES must be 1..16"},
       {"DEPTH", 2, "NETRA_DEPTH must be between 1"},
       {"ACTIVATION", 6, "NETRA_ACTIVATION must be"},
       {"GATED", 2, "NETRA_GATED must be 0 or 1"},
       {"RESULT_F32", 2, "NETRA_RESULT_F32 must be 0 (bf16) or 1"},
       {"BIAS_F32", 1, "or 1 (f32) with a bias"},
       {"RESIDUAL_F32", 1, "the residual must have the type of the result"},
       {"BLOCK_X", 128, "the work-group must be"},
       {"GRID_X", 7, "the grid must be"},
       {"STATIC_LDS", 0, "NETRA_STATIC_LDS must be"},
       {"VGPRS", 40, "uses more VGPRs than NETRA_VGPRS declares"},
       {"VGPRS", 64, "declares more VGPRs than"},
       {"SGPRS", 20, "uses more SGPRs than NETRA_SGPRS declares"}});
}

TEST(Guards, DenseFp8) {
  expectRefusals(
      "gfx950.dense_fp8_block128_m16", denseFp8Problem(4, 48, 2048),
      {{"M", 33, "NETRA_M must be 1..32"},
       {"M", 0, "NETRA_M must be 1..32"},
       {"N", 72, "NETRA_N must be a multiple of 16 * NETRA_TILES"},
       {"K", 2000, "NETRA_K must be a multiple of NETRA_WAVES blocks"},
       {"TILES", 3, "NETRA_TILES must be 1, 2 or 4"},
       {"GATED", 1, "a gated epilogue needs NETRA_TILES = 2 or 4"},
       {"GATED", 2, "NETRA_GATED must be 0 or 1"},
       {"ACTIVATION", 6, "NETRA_ACTIVATION must be"},
       {"DEPTH", 9, "NETRA_DEPTH must be between 1"},
       {"GRID_X", 5, "the grid must be"},
       {"STATIC_LDS", 64, "NETRA_STATIC_LDS must be"}});
}

TEST(Guards, DenseMfma) {
  expectRefusals(
      "gfx950.dense_bf16_m32", denseBf16Problem(4, 8192, 2048),
      {{"M", 33, "NETRA_M must be 1..32"},
       {"N", 8208, "NETRA_N must be a multiple of 16 * NETRA_TILES"},
       {"K", 2000, "NETRA_K must be a multiple of NETRA_WAVES blocks"},
       {"ROWS", 4, "NETRA_ROWS must be 16 or 8"},
       {"ROWS", 8, "tiles of 8 rows need NETRA_TILES = 1 and at most 16 rows"},
       {"GRID_X", 255, "the grid must be"}});
  expectRefusals("gfx950.dense_bf16_m32", denseBf16Problem(16, 64, 17408),
                 {{"M", 17, "tiles of 8 rows need NETRA_TILES = 1"},
                  {"DEPTH", 19, "NETRA_DEPTH blocks in flight must be at most"},
                  {"GRID_X", 4, "the grid must be"}});
  // An offset of 32 bits must reach from gate rows to up rows.
  expectRefusals(
      "gfx950.dense_bf16_m32", denseBf16Problem(4, 64, 65536, "gated_silu"),
      {{"N", 65536, "half of a gated weight, and 16 rows more, must be"}});
}

TEST(Guards, RoutedExperts) {
  const MoeShape up{2, 5, 3, 256, 512}, last{2, 5, 3, 128, 256};
  expectRefusals("gfx950.moe_gate_up", gateUpProblem(up),
                 {{"M", 0, "NETRA_M must be 1..65535"},
                  {"N", 200, "NETRA_N must be a multiple of 128"},
                  {"K", 4224, "NETRA_K must be a multiple of 128 up to 4096"},
                  {"DEPTH", 5, "NETRA_DEPTH must be between 1"},
                  {"ACTIVATION", 2, "NETRA_ACTIVATION must be 0"},
                  {"SCALE_GROUP_MAJOR", 2, "must be 0 or 1"},
                  {"BLOCK_X", 128, "the work-group must be"},
                  {"GRID_X", 47, "the grid must be"},
                  {"STATIC_LDS", 64, "NETRA_STATIC_LDS must be 0"}});
  expectRefusals("gfx950.moe_gate_up_grouped", gateUpProblem(up),
                 {{"M", 200, "NETRA_M * NETRA_S must be 1..512"},
                  {"K", 4224, "NETRA_K must be a multiple of 128 up to 4096"},
                  {"DEPTH", 9, "NETRA_DEPTH must be between 1"},
                  {"K", 3072, "NETRA_DEPTH must be at least K / 512"},
                  {"GRID_Y", 5, "the grid must be"},
                  {"STATIC_LDS", 64, "NETRA_STATIC_LDS must be"}});
  expectRefusals("gfx950.moe_down_reduce", downReduceProblem(last),
                 {{"S", 1, "NETRA_S must be 2..32"},
                  {"K", 1664, "at most 24"},
                  {"N", 200, "NETRA_N must be a multiple of 128"},
                  {"SCALE_GROUP_MAJOR", 2, "NETRA_SCALE_GROUP_MAJOR must be 0"},
                  {"GRID_X", 7, "the grid must be"},
                  {"STATIC_LDS", 0, "NETRA_STATIC_LDS must be"}});
  expectRefusals("gfx950.moe_down_reduce_bf16",
                 downReduceProblem({2, 5, 3, 128, 256, "none", true}),
                 {{"SCALE_GROUP_MAJOR", 1, "or 1 where x has scales"}});
  expectRefusals("gfx950.moe_down_reduce_grouped_bf16",
                 downReduceProblem({2, 5, 3, 128, 384, "none", true}),
                 {{"SCALE_GROUP_MAJOR", 1, "or 1 where x has scales"},
                  {"COLUMNS", 16, "NETRA_COLUMNS must be 8"}});
  expectRefusals("gfx950.moe_down_reduce_grouped", downReduceProblem(last),
                 {{"M", 33, "NETRA_M must be 1..32"},
                  {"K", 4224, "NETRA_K must be a multiple of 128 up to 4096"},
                  {"K", 384, "NETRA_K must be a multiple of 128 * NETRA_CHUNK"},
                  {"E", 65536, "NETRA_E must be 1..65535"},
                  {"CHUNK", 3, "NETRA_CHUNK must be 1, 2 or 4"},
                  {"TOKENS", 3, "NETRA_TOKENS must be a power of two"},
                  {"TOKENS", 1, "NETRA_TOKENS must be a power of two"},
                  {"COLUMNS", 4, "NETRA_COLUMNS must be 8 or 16"},
                  {"WAVES", 2, "NETRA_WAVES must be 4 or 8"},
                  {"EXPERTS", 26, "NETRA_EXPERTS must be 1..27"},
                  {"UNIT", 17, "NETRA_UNIT must be at most"},
                  {"SWEEPS", 2, "NETRA_SWEEPS must be"},
                  {"PASSES", 3, "NETRA_PASSES * NETRA_COLUMNS must be 1..32"},
                  {"BLOCK_X", 64, "the work-group must be 64 * NETRA_WAVES"},
                  {"GRID_X", 16, "the grid must be NETRA_N / NETRA_COLUMNS"},
                  {"STATIC_LDS", 0, "NETRA_STATIC_LDS must be"}});
  expectRefusals("gfx950.moe_activation",
                 moeActivationProblem(1, 2, 256, "silu"),
                 {{"N", 200, "NETRA_N must be a multiple of 128"},
                  {"ACTIVATION", 5, "NETRA_ACTIVATION must be 1"},
                  {"SCALE_GROUP_MAJOR", 2, "NETRA_SCALE_GROUP_MAJOR must be 0"},
                  {"GRID_X", 3, "the grid must be"}});
}

TEST(Guards, DenseTypes) {
  for (const char *tactic : {"gfx950.dense_bf16_m1", "gfx950.dense_bf16_m32"}) {
    DenseCase c{llvm::StringRef(tactic).ends_with("m1") ? 1 : 2,
                64,
                512,
                "none",
                true,
                true};
    c.resultF32 = true;
    expectRefusals(tactic, c.bf16Problem(),
                   {{"BIAS_F32", 0, "the bias must be f32"},
                    {"RESIDUAL_F32", 0, "the residual must have the type"},
                    {"RESULT_F32", 0, "the residual must have the type"}});
  }
}

TEST(Guards, DenseFp8Plain) {
  expectRefusals("gfx950.dense_fp8_block128_plain",
                 denseFp8Problem(4, 64, 256, "gated_silu"),
                 {{"M", 17, "NETRA_M must be 1..16"},
                  {"N", 80, "NETRA_N must be a multiple of 16, gated of 32"},
                  {"ACTIVATION", 0, "NETRA_GATED must be 0"},
                  {"GATED", 0, "NETRA_GATED must be 0"},
                  {"GRID_X", 4, "the grid must be"}});
}

TEST(Guards, DenseBf16Mfma) {
  expectRefusals("gfx950.dense_bf16_m32", denseBf16Problem(4, 64, 2048),
                 {{"M", 33, "NETRA_M must be 1..32"},
                  {"K", 2016, "NETRA_K must be a multiple of NETRA_WAVES"},
                  {"WAVES", 17, "NETRA_WAVES must be 1..16"},
                  {"TILES", 8, "NETRA_TILES must be 1, 2 or 4"},
                  {"DEPTH", 9, "NETRA_DEPTH must be between 1"},
                  {"RESULT_F32", 2, "NETRA_RESULT_F32 must be 0 (bf16) or 1"},
                  {"BIAS_F32", 1, "or 1 (f32) with a bias"},
                  {"RESIDUAL_F32", 1, "the type of the result"},
                  {"GRID_X", 5, "the grid must be"},
                  {"VGPRS", 64, "uses more VGPRs than NETRA_VGPRS declares"},
                  {"STATIC_LDS", 64, "NETRA_STATIC_LDS must be"}});
}

TEST(Guards, RmsNorm) {
  expectRefusals("gfx950.rms_norm_bf16", rmsNormProblem(2, 2048, false, false),
                 {{"N", 33024, "at most 32768"},
                  {"N", 2000, "NETRA_N must be 128 or a multiple of 256"},
                  {"VEC", 16, "NETRA_VEC must be 2, 4 or 8"},
                  {"HAS_ROUNDED", 1, "1 with a quantized result"},
                  {"SCALE_GROUP_MAJOR", 1, "1 with a quantized result"},
                  {"WAVES", 3, "NETRA_WAVES must be 1, 2, 4, 8 or 16"},
                  {"QUANTIZE", 2, "NETRA_QUANTIZE must be 0 or 1"},
                  {"GRID_X", 3, "the grid must be"}});
}

TEST(Guards, OtherNorms) {
  const NormForm form{.quantized = true, .groupMajor = true};
  netra::Problem layer = withForm(rmsNormProblem(2, 2048, false, true), form);
  layer.operation = "layer_norm";
  expectRefusals("gfx950.layer_norm_bf16_quantized_group_major", layer,
                 {{"HAS_BIAS", 2, "NETRA_HAS_BIAS must be 0 or 1"},
                  {"HAS_SUM", 1, "1 with a residual"},
                  {"WEIGHT_F32", 2, "NETRA_WEIGHT_F32 must be 0 or 1"},
                  {"STATIC_LDS", 16, "NETRA_STATIC_LDS must be 8"}});
  expectRefusals("gfx950.gated_rms_norm_bf16_quantized_group_major",
                 gatedRmsNormProblem(2, 3, 128, form),
                 {{"N", 192, "NETRA_N must be 64, 128, 256 or 512"},
                  {"N", 512, "NETRA_N * NETRA_ROWS_PER_WAVE must be"},
                  {"H", 0, "NETRA_H must be at least 1"},
                  {"ROWS_PER_WAVE", 3, "NETRA_ROWS_PER_WAVE must be 1, 2 or 4"},
                  {"ACTIVATION", 2, "NETRA_ACTIVATION must be 1 (silu)"},
                  {"M", 1 << 29, "NETRA_M * NETRA_H * NETRA_H must be below"},
                  {"GRID_X", 1, "the grid must be"}});
  expectRefusals("gfx950.gated_rms_norm_rows_bf16_quantized_group_major",
                 gatedRmsNormProblem(2, 3, 1024, form),
                 {{"N", 1152, "NETRA_N must be 128 or a multiple of 256"},
                  {"H", 0, "NETRA_H must be at least 1"},
                  {"HAS_RESIDUAL", 1, "NETRA_HAS_RESIDUAL must be 0"},
                  {"ACTIVATION", 2, "NETRA_ACTIVATION must be 1 (silu)"},
                  {"M", 1 << 29, "NETRA_M * NETRA_H * NETRA_H must be below"},
                  {"GRID_X", 2, "the grid must be"},
                  {"STATIC_LDS", 32, "NETRA_STATIC_LDS must be"}});
}

TEST(Guards, Router) {
  expectRefusals("gfx950.router_projection", denseBf16Problem(2, 256, 2048),
                 {{"M", 65, "NETRA_M must be 1..64"},
                  {"N", 1025, "NETRA_N must be 1..1024"},
                  {"K", 8704, "NETRA_K must be a multiple of 512, at most"},
                  {"GRID_Y", 1, "the grid must be"}});
  const GuardCase routing[] = {
      {"E", 1025, "NETRA_E must be 2..1024"},
      {"TOPK", 17, "NETRA_TOPK must be 1..16"},
      {"S", 8, "NETRA_S must be NETRA_TOPK, + 1"},
      {"HAS_BIAS", 1, "1 with sigmoid scores"},
      {"GROUPS", 3, "NETRA_GROUPS must divide NETRA_E"},
      {"GROUPS", 128, "groups must be at most 64 and have at least two"},
      {"TOPGROUPS", 2, "NETRA_TOPGROUPS must be"},
      {"SCORING", 2, "NETRA_SCORING must be 0"},
      {"SHARED", 3, "NETRA_SHARED must be 0"},
      {"K", 100, "NETRA_K must be a multiple of 512"}};
  RouteSpec spec{.k = 512, .shared = "sigmoid"};
  expectRefusals("gfx950.route_logits", spec.problem(), routing);
  spec.projected = true;
  expectRefusals("gfx950.route_projected", spec.problem(), routing);
}

TEST(Guards, GatedAndQuantize) {
  expectRefusals("gfx950.gated_bf16",
                 gatedProblem(2, 640, "silu", false, false),
                 {{"N", 576, "NETRA_N must be a multiple of 128"},
                  {"ACTIVATION", 0, "NETRA_ACTIVATION must be 1"},
                  {"WAVES", 2, "NETRA_WAVES must be 1 or 4"},
                  {"ROUNDED", 1, "NETRA_ROUNDED must be 0"},
                  {"RUNTIME", 1, "NETRA_RUNTIME must be 0, or 1 with a packed"},
                  {"SCALE_GROUP_MAJOR", 1, "NETRA_SCALE_GROUP_MAJOR must be 0"},
                  {"GRID_Y", 3, "the grid must be"}});
  expectRefusals("gfx950.quantize_blocks_bf16", quantizeProblem(2, 640),
                 {{"K", 576, "NETRA_K must be a multiple of 128"},
                  {"M", 0, "NETRA_M must be at least 1"},
                  {"GRID_X", 5, "the grid must be"}});
}

TEST(Guards, Vocabulary) {
  expectRefusals("gfx950.embedding_bf16", embeddingProblem(2, 100, 640),
                 {{"N", 644, "NETRA_N must be a multiple of 8"},
                  {"V", 0, "NETRA_V must be 1..2147483647"},
                  {"WAVES", 2, "NETRA_WAVES must be 1 or 4"},
                  {"GRID_Y", 3, "the grid must be"}});
  expectRefusals("gfx950.argmax", argmaxProblem(2, 4104, true),
                 {{"V", 4100, "NETRA_V must be a multiple of 8"},
                  {"LOGITS_F32", 2, "NETRA_LOGITS_F32 must be 0 (bf16)"},
                  {"HAS_VALUE", 2, "NETRA_HAS_VALUE must be 0 or 1"},
                  {"DEPTH", 6, "NETRA_DEPTH must be 4 or 8"},
                  {"BLOCK_X", 512, "the work-group must be 1024"},
                  {"STATIC_LDS", 128, "NETRA_STATIC_LDS must be 256"}});
  expectRefusals("gfx950.sample", sampleProblem(2, 4104, false),
                 {{"V", 262152, "NETRA_V must be at most 262144"},
                  {"GRID_X", 3, "the grid must be"},
                  {"STATIC_LDS", 1024, "NETRA_STATIC_LDS must be 132096"}});
}

TEST(Catalogue, PlainLoopsAreNeverChosenUnasked) {
  netra::Selection selection = catalog().select(denseBf16Problem(1, 1024, 512));
  ASSERT_TRUE(selection.winner.has_value());
  EXPECT_EQ(selection.winner->tactic->name, "gfx950.dense_bf16_m1");
  selection = catalog().select(denseFp8Problem(16, 2048, 5632));
  ASSERT_TRUE(selection.winner.has_value());
  EXPECT_EQ(selection.winner->tactic->name, "gfx950.dense_fp8_block128_m16");
  for (auto [m, gateUp, downReduce] :
       {std::tuple(1, "gfx950.moe_gate_up", "gfx950.moe_down_reduce"),
        std::tuple(16, "gfx950.moe_gate_up_grouped",
                   "gfx950.moe_down_reduce_grouped")}) {
    selection = catalog().select(gateUpProblem({m, 257, 9, 1024, 2048}));
    ASSERT_TRUE(selection.winner.has_value());
    EXPECT_EQ(selection.winner->tactic->name, gateUp);
    selection = catalog().select(downReduceProblem({m, 257, 9, 2048, 512}));
    ASSERT_TRUE(selection.winner.has_value());
    EXPECT_EQ(selection.winner->tactic->name, downReduce);
  }
}

TEST(Guards, LayoutConvert) {
  expectRefusals("gfx950.layout_convert_f32_transpose",
                 convertProblem({2, 70, 40}, "row_major", "group_major"),
                 {{"B", 0, "NETRA_B must be 1..65535"},
                  {"M", 0, "NETRA_M * NETRA_N must be"},
                  {"N", 5000000, "NETRA_N must be at most 4194240"},
                  {"TO_ROWS", 2, "NETRA_TO_ROWS must be 0 or 1"},
                  {"BLOCK_X", 128, "the work-group must be"},
                  {"GRID_Y", 2, "the grid must be"},
                  {"STATIC_LDS", 16384, "NETRA_STATIC_LDS must be"}});
}

} // namespace
