//===- TacticInterfaceTest.cpp - Problems, roles, in-place results --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "IRTest.h"

#include "Netra/Catalog/Operations.h"
#include "Netra/Catalog/Vocabulary.h"

#include "gmock/gmock.h"

#include <set>

using namespace mlir;
using namespace netra;

namespace {

using InPlace = SmallVector<std::pair<unsigned, unsigned>>;

class TacticInterfaceTest : public netra::IRTest {
protected:
  /// The problem of the only operation with a tactic in a function of these
  /// arguments and this body.
  Problem problemOf(StringRef arguments, StringRef operation) {
    module = parse(
        ("func.func @f(" + arguments + ") {\n" + operation + "\nreturn\n}")
            .str());
    if (!module)
      return {};
    op = only<TacticOpInterface>(*module);
    Problem problem = op.getProblem();
    // What an operation asks for, a manifest may wait for.
    for (const auto &[name, value] : problem.attributes) {
      const AttributeDefinition *definition = findAttribute(name);
      EXPECT_TRUE(definition && definition->accepts(value)) << name;
    }
    // And what it asks for, a contract may promise.
    const OperationDefinition *definition =
        findOperation(problem.family, problem.operation);
    EXPECT_TRUE(definition) << problem.family << "." << problem.operation;
    if (definition) {
      EXPECT_EQ(definition->name, op->getName().getStringRef().str());
    }
    if (llvm::Error error = problem.verify())
      llvm::consumeError(std::move(error)); // a dimension is open
    else
      EXPECT_THAT(verifyOperation(problem), testing::IsEmpty());
    return problem;
  }

  OwningOpRef<ModuleOp> module;
  TacticOpInterface op;
};

TEST_F(TacticInterfaceTest, EveryOperationIsDefinedForContracts) {
  std::set<std::string> asking, defined;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasInterface<TacticOpInterface>())
      asking.insert(name.getStringRef().str());
  for (const OperationDefinition &definition : allOperations())
    EXPECT_TRUE(defined.insert(definition.name).second) << definition.name;
  EXPECT_EQ(asking, defined);
}

TEST_F(TacticInterfaceTest, Dense) {
  Problem problem = problemOf(
      "%x: tensor<1x256xf8E4M3FN>, %w: tensor<512x256xf8E4M3FN, "
      "#netra.layout<n16k16>>, %sx: tensor<1x2xf32>, %sw: tensor<4x2xf32>, "
      "%b: tensor<512xbf16>, %r: tensor<1x256xbf16>",
      "%0 = netra.dense %x, %w scales(%sx, %sw) bias(%b) residual(%r) "
      "epilogue(gated silu) : (tensor<1x256xf8E4M3FN>, "
      "tensor<512x256xf8E4M3FN, #netra.layout<n16k16>>, tensor<1x2xf32>, "
      "tensor<4x2xf32>, tensor<512xbf16>, tensor<1x256xbf16>) -> "
      "tensor<1x256xbf16>");
  Problem expected;
  expected.family = "dense";
  expected.operation = "dense";
  expected.dimensions = {{"M", 1}, {"N", 512}, {"K", 256}};
  expected.operands = {{"x", ElementType::F8E4M3FN, {1, 256}, "row_major"},
                       {"weight", ElementType::F8E4M3FN, {512, 256}, "n16k16"},
                       {"x_scale", ElementType::F32, {1, 2}, "row_major"},
                       {"weight_scale", ElementType::F32, {4, 2}, "row_major"},
                       {"bias", ElementType::BF16, {512}, "row_major"},
                       {"residual", ElementType::BF16, {1, 256}, "row_major"},
                       {"result", ElementType::BF16, {1, 256}, "row_major"}};
  expected.attributes = {{"epilogue", std::string("gated_silu")},
                         {"accumulation", std::string("f32")},
                         {"x_block_scale", std::string("1x128:f32")},
                         {"weight_block_scale", std::string("128x128:f32")}};
  EXPECT_EQ(problem.toJson(), expected.toJson());
  EXPECT_FALSE(static_cast<bool>(problem.verify()));
  // Operand 5 is the residual.
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{0, 5}}));
}

TEST_F(TacticInterfaceTest, PlainDenseHasNoScales) {
  Problem problem = problemOf(
      "%x: tensor<?x64xbf16>, %w: tensor<16x64xbf16>",
      "%0 = netra.dense %x, %w : (tensor<?x64xbf16>, tensor<16x64xbf16>) -> "
      "tensor<?x16xbf16>");
  EXPECT_EQ(problem.dimensions.at("M"), ShapedType::kDynamic);
  EXPECT_EQ(problem.operands.size(), 3u);
  EXPECT_EQ(std::get<std::string>(problem.attributes.at("epilogue")), "none");
  EXPECT_FALSE(problem.attributes.count("x_block_scale"));
  EXPECT_TRUE(op.getInPlaceCandidates().empty());
}

TEST_F(TacticInterfaceTest, ResidualInAnotherLayoutIsNotOverwritten) {
  problemOf("%x: tensor<16x64xbf16>, %w: tensor<16x64xbf16>, %r: "
            "tensor<16x16xbf16, #netra.layout<n16k16>>",
            "%0 = netra.dense %x, %w residual(%r) : (tensor<16x64xbf16>, "
            "tensor<16x64xbf16>, tensor<16x16xbf16, #netra.layout<n16k16>>) "
            "-> tensor<16x16xbf16>");
  EXPECT_TRUE(op.getInPlaceCandidates().empty());
}

TEST_F(TacticInterfaceTest, RMSNorm) {
  Problem problem = problemOf(
      "%x: tensor<2x256xbf16>, %w: tensor<256xbf16>, %r: tensor<2x256xbf16>",
      "%0, %1, %2 = netra.rms_norm %x, %w residual(%r) quantize(<block = [1, "
      "128], scale = f32>) {epsilon = 1.0e-6 : f32, weight_offset = 1.0 : f32} "
      ": (tensor<2x256xbf16>, tensor<256xbf16>, tensor<2x256xbf16>) -> "
      "(tensor<2x256xf8E4M3FN>, tensor<2x2xf32>, tensor<2x256xbf16>)");
  Problem expected;
  expected.family = "norm";
  expected.operation = "rms_norm";
  expected.dimensions = {{"M", 2}, {"N", 256}};
  expected.operands = {{"x", ElementType::BF16, {2, 256}, "row_major"},
                       {"weight", ElementType::BF16, {256}, "row_major"},
                       {"residual", ElementType::BF16, {2, 256}, "row_major"},
                       {"result", ElementType::F8E4M3FN, {2, 256}, "row_major"},
                       {"result_scale", ElementType::F32, {2, 2}, "row_major"},
                       {"sum", ElementType::BF16, {2, 256}, "row_major"}};
  expected.attributes = {{"epsilon", static_cast<double>(1.0e-6f)},
                         {"weight_offset", 1.0},
                         {"accumulation", std::string("f32")},
                         {"result_block_scale", std::string("1x128:f32")}};
  EXPECT_EQ(problem.toJson(), expected.toJson());
  // Result 2 is the sum; the normalised row needs all of x.
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{2, 2}, {2, 0}}));
}

TEST_F(TacticInterfaceTest, LayerNorm) {
  Problem problem = problemOf(
      "%x: tensor<2x256xbf16>, %w: tensor<256xf32>, %b: tensor<256xf32>",
      "%0, %1, %2, %3 = netra.layer_norm %x, %w bias(%b) residual(%x) "
      "quantize(<block = [1, 128], scale = f32>) {epsilon = 1.0e-5 : f32} : "
      "(tensor<2x256xbf16>, tensor<256xf32>, tensor<256xf32>, "
      "tensor<2x256xbf16>) -> (tensor<2x256xf8E4M3FN>, tensor<2x2xf32>, "
      "tensor<2x256xbf16>, tensor<2x256xbf16>)");
  Problem expected;
  expected.family = "norm";
  expected.operation = "layer_norm";
  expected.dimensions = {{"M", 2}, {"N", 256}};
  expected.operands = {{"x", ElementType::BF16, {2, 256}, "row_major"},
                       {"weight", ElementType::F32, {256}, "row_major"},
                       {"bias", ElementType::F32, {256}, "row_major"},
                       {"residual", ElementType::BF16, {2, 256}, "row_major"},
                       {"result", ElementType::F8E4M3FN, {2, 256}, "row_major"},
                       {"result_scale", ElementType::F32, {2, 2}, "row_major"},
                       {"sum", ElementType::BF16, {2, 256}, "row_major"},
                       {"rounded", ElementType::BF16, {2, 256}, "row_major"}};
  expected.attributes = {{"epsilon", static_cast<double>(1.0e-5f)},
                         {"weight_offset", 0.0},
                         {"accumulation", std::string("f32")},
                         {"result_block_scale", std::string("1x128:f32")}};
  EXPECT_EQ(problem.toJson(), expected.toJson());
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{2, 3}, {2, 0}}));
}

TEST_F(TacticInterfaceTest, GatedRMSNorm) {
  Problem problem = problemOf(
      "%x: tensor<2x512xbf16>, %z: tensor<2x512xbf16>, %w: tensor<128xbf16>",
      "%0 = netra.gated_rms_norm %x, %z, %w {activation = "
      "#netra.activation<silu>, epsilon = 1.0e-6 : f32} : (tensor<2x512xbf16>, "
      "tensor<2x512xbf16>, tensor<128xbf16>) -> tensor<2x512xbf16>");
  Problem expected;
  expected.family = "norm";
  expected.operation = "gated_rms_norm";
  expected.dimensions = {{"M", 2}, {"H", 4}, {"N", 128}};
  expected.operands = {{"x", ElementType::BF16, {2, 512}, "row_major"},
                       {"gate", ElementType::BF16, {2, 512}, "row_major"},
                       {"weight", ElementType::BF16, {128}, "row_major"},
                       {"result", ElementType::BF16, {2, 512}, "row_major"}};
  expected.attributes = {{"epsilon", static_cast<double>(1.0e-6f)},
                         {"weight_offset", 0.0},
                         {"activation", std::string("silu")},
                         {"accumulation", std::string("f32")}};
  EXPECT_EQ(problem.toJson(), expected.toJson());
  // An element needs its whole head of x.
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{0, 1}}));
}

TEST_F(TacticInterfaceTest, Route) {
  Problem problem = problemOf(
      "%l: tensor<2x256xbf16>, %x: tensor<2x64xbf16>, %g: tensor<1x64xbf16>",
      "%0, %1 = netra.route %l x(%x) shared_gate(%g) {normalize, "
      "shared_expert = #netra.shared_expert<sigmoid>, top_k = 8 : i64} : "
      "(tensor<2x256xbf16>, tensor<2x64xbf16>, tensor<1x64xbf16>) -> "
      "(tensor<2x9xi32>, tensor<2x9xf32>)");
  Problem expected;
  expected.family = "router";
  expected.operation = "route";
  expected.dimensions = {{"M", 2},      {"E", 256},       {"S", 9}, {"TOPK", 8},
                         {"GROUPS", 1}, {"TOPGROUPS", 1}, {"K", 64}};
  expected.operands = {
      {"logits", ElementType::BF16, {2, 256}, "row_major"},
      {"x", ElementType::BF16, {2, 64}, "row_major"},
      {"shared_gate", ElementType::BF16, {1, 64}, "row_major"},
      {"expert_ids", ElementType::I32, {2, 9}, "row_major"},
      {"expert_weights", ElementType::F32, {2, 9}, "row_major"}};
  expected.attributes = {{"scoring", std::string("softmax")},
                         {"normalize", std::string("sum")},
                         {"shared_expert", std::string("sigmoid")},
                         {"routed_scale", 1.0},
                         {"accumulation", std::string("f32")}};
  EXPECT_EQ(problem.toJson(), expected.toJson());

  problem = problemOf(
      "%l: tensor<2x256xbf16>, %b: tensor<256xf32>",
      "%0, %1 = netra.route %l correction_bias(%b) {groups = 8 : i64, "
      "top_groups = 4 : i64, top_k = 8 : i64, scoring = "
      "#netra.scoring<sigmoid>, routed_scale = 2.5 : f32} : "
      "(tensor<2x256xbf16>, tensor<256xf32>) -> (tensor<2x8xi32>, "
      "tensor<2x8xf32>)");
  EXPECT_EQ(problem.dimensions,
            (std::map<std::string, int64_t>{{"M", 2},
                                            {"E", 256},
                                            {"S", 8},
                                            {"TOPK", 8},
                                            {"GROUPS", 8},
                                            {"TOPGROUPS", 4},
                                            {"K", 0}}));
  EXPECT_TRUE(problem.find("correction_bias"));
  EXPECT_EQ(std::get<double>(problem.attributes.at("routed_scale")), 2.5);
}

TEST_F(TacticInterfaceTest, MoeGateUp) {
  Problem problem = problemOf(
      "%x: tensor<2x256xf8E4M3FN>, %w: tensor<9x512x256xf8E4M3FN, "
      "#netra.layout<n16k16>>, %sx: tensor<2x2xf32>, %sw: tensor<9x4x2xf32>, "
      "%i: tensor<2x3xi32>",
      "%0 = netra.moe_gate_up %x, %w scales(%sx, %sw) experts(%i) {activation "
      "= #netra.activation<silu>} : (tensor<2x256xf8E4M3FN>, "
      "tensor<9x512x256xf8E4M3FN, #netra.layout<n16k16>>, tensor<2x2xf32>, "
      "tensor<9x4x2xf32>, tensor<2x3xi32>) -> tensor<2x3x256xbf16>");
  Problem expected;
  expected.family = "moe";
  expected.operation = "gate_up";
  expected.dimensions = {{"M", 2}, {"E", 9}, {"S", 3}, {"N", 512}, {"K", 256}};
  expected.operands = {
      {"x", ElementType::F8E4M3FN, {2, 256}, "row_major"},
      {"x_scale", ElementType::F32, {2, 2}, "row_major"},
      {"weight", ElementType::F8E4M3FN, {9, 512, 256}, "n16k16"},
      {"weight_scale", ElementType::F32, {9, 4, 2}, "row_major"},
      {"expert_ids", ElementType::I32, {2, 3}, "row_major"},
      {"result", ElementType::BF16, {2, 3, 256}, "row_major"}};
  expected.attributes = {{"activation", std::string("silu")},
                         {"accumulation", std::string("f32")},
                         {"x_block_scale", std::string("1x128:f32")},
                         {"weight_block_scale", std::string("128x128:f32")}};
  EXPECT_EQ(problem.toJson(), expected.toJson());
  EXPECT_TRUE(op.getInPlaceCandidates().empty());
}

TEST_F(TacticInterfaceTest, MoeActivation) {
  Problem problem =
      problemOf("%x: tensor<2x3x512xf32>",
                "%0, %1 = netra.moe_activation %x {activation = "
                "#netra.activation<gelu_tanh>} : tensor<2x3x512xf32> -> "
                "tensor<2x3x256xf8E4M3FN>, tensor<2x3x2xf32>");
  EXPECT_EQ(problem.family, "moe");
  EXPECT_EQ(problem.operation, "activation");
  EXPECT_EQ(problem.dimensions,
            (std::map<std::string, int64_t>{{"M", 2}, {"S", 3}, {"N", 256}}));
  EXPECT_EQ(problem.attributes,
            (std::map<std::string, AttributeValue>{
                {"activation", std::string("gelu_tanh")},
                {"result_block_scale", std::string("1x128:f32")}}));
}

TEST_F(TacticInterfaceTest, MoeDownReduce) {
  Problem problem = problemOf(
      "%x: tensor<2x3x256xbf16>, %w: tensor<9x512x256xf8E4M3FN>, %sw: "
      "tensor<9x4x2xf32>, %i: tensor<2x3xi32>, %e: tensor<2x3xf32>, %r: "
      "tensor<2x512xbf16>",
      "%0 = netra.moe_down_reduce %x, %w scales(%sw) experts(%i by %e) "
      "residual(%r) : (tensor<2x3x256xbf16>, tensor<9x512x256xf8E4M3FN>, "
      "tensor<9x4x2xf32>, tensor<2x3xi32>, tensor<2x3xf32>, "
      "tensor<2x512xbf16>) -> tensor<2x512xbf16>");
  Problem expected;
  expected.family = "moe";
  expected.operation = "down_reduce";
  expected.dimensions = {{"M", 2}, {"E", 9}, {"S", 3}, {"N", 512}, {"K", 256}};
  expected.operands = {
      {"x", ElementType::BF16, {2, 3, 256}, "row_major"},
      {"weight", ElementType::F8E4M3FN, {9, 512, 256}, "row_major"},
      {"weight_scale", ElementType::F32, {9, 4, 2}, "row_major"},
      {"expert_weights", ElementType::F32, {2, 3}, "row_major"},
      {"expert_ids", ElementType::I32, {2, 3}, "row_major"},
      {"residual", ElementType::BF16, {2, 512}, "row_major"},
      {"result", ElementType::BF16, {2, 512}, "row_major"}};
  expected.attributes = {{"accumulation", std::string("f32")},
                         {"x_block_scale", std::string("1x128:f32")},
                         {"weight_block_scale", std::string("128x128:f32")}};
  EXPECT_EQ(problem.toJson(), expected.toJson());
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{0, 5}}));
}

TEST_F(TacticInterfaceTest, Vocabulary) {
  Problem problem = problemOf(
      "%i: tensor<2xi32>, %t: tensor<1024x256xbf16>",
      "%0 = netra.embedding %i, %t {scale = 16.0 : f32} : (tensor<2xi32>, "
      "tensor<1024x256xbf16>) -> tensor<2x256xbf16>");
  Problem expected;
  expected.family = "vocabulary";
  expected.operation = "embedding";
  expected.dimensions = {{"M", 2}, {"V", 1024}, {"N", 256}};
  expected.operands = {{"ids", ElementType::I32, {2}, "row_major"},
                       {"table", ElementType::BF16, {1024, 256}, "row_major"},
                       {"result", ElementType::BF16, {2, 256}, "row_major"}};
  expected.attributes = {{"scale", 16.0}};
  EXPECT_EQ(problem.toJson(), expected.toJson());

  problem = problemOf("%l: tensor<2x1024xf32>",
                      "%0, %1 = netra.argmax %l : tensor<2x1024xf32> -> "
                      "tensor<2xi32>, tensor<2xf32>");
  EXPECT_EQ(problem.operation, "argmax");
  EXPECT_EQ(problem.dimensions,
            (std::map<std::string, int64_t>{{"M", 2}, {"V", 1024}}));
  EXPECT_TRUE(problem.find("logits") && problem.find("result") &&
              problem.find("value"));
  EXPECT_TRUE(problem.attributes.empty());

  problem = problemOf(
      "%l: tensor<2x1024xbf16>, %t: tensor<2xf32>, %k: tensor<2xi32>, %s: "
      "tensor<2xi64>",
      "%0 = netra.sample %l temperature(%t) top_k(%k) top_p(%t) seed(%s) "
      "offset(%s) : (tensor<2x1024xbf16>, tensor<2xf32>, tensor<2xi32>, "
      "tensor<2xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi32>");
  EXPECT_EQ(problem.operation, "sample");
  EXPECT_EQ(problem.operands.size(), 7u);
  EXPECT_EQ(problem.find("seed")->type, ElementType::I64);
  EXPECT_TRUE(op.getInPlaceCandidates().empty());
}

TEST_F(TacticInterfaceTest, Gated) {
  Problem problem = problemOf(
      "%g: tensor<2x256xbf16>, %u: tensor<2x256xbf16>",
      "%0 = netra.gated %g, %u {activation = #netra.activation<silu>} : "
      "(tensor<2x256xbf16>, tensor<2x256xbf16>) -> tensor<2x256xbf16>");
  EXPECT_EQ(problem.family, "activation");
  EXPECT_EQ(problem.operation, "gated");
  EXPECT_EQ(problem.dimensions,
            (std::map<std::string, int64_t>{{"M", 2}, {"N", 256}}));
  EXPECT_TRUE(problem.find("gate") && problem.find("up") &&
              problem.find("result"));
  EXPECT_EQ(std::get<std::string>(problem.attributes.at("activation")), "silu");
  EXPECT_EQ(std::get<std::string>(problem.attributes.at("activation_rounding")),
            "none");
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{0, 0}, {0, 1}}));
}

TEST_F(TacticInterfaceTest, GatedMayStoreWhatItQuantizes) {
  Problem problem = problemOf(
      "%g: tensor<2x256xbf16>, %u: tensor<2x256xbf16>",
      "%0, %1, %2 = netra.gated %g, %u quantize(<block = [1, 128], scale = "
      "f32>) {activation = #netra.activation<silu>, round_activation} : "
      "(tensor<2x256xbf16>, tensor<2x256xbf16>) -> (tensor<2x256xf8E4M3FN>, "
      "tensor<2x2xf32, #netra.layout<group_major>>, tensor<2x256xbf16>)");
  ASSERT_TRUE(problem.find("rounded") && problem.find("result_scale"));
  EXPECT_EQ(problem.find("result_scale")->layout, "group_major");
  EXPECT_EQ(std::get<std::string>(problem.attributes.at("activation_rounding")),
            "bf16");
  // Result 2 is the rounded value; a code needs its whole block.
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{2, 0}, {2, 1}}));
}

TEST_F(TacticInterfaceTest, PackedGatedCountsOutputColumns) {
  Problem problem = problemOf(
      "%g: tensor<2x512xbf16>",
      "%0, %1 = netra.gated %g packed quantize(<block = [1, 128], scale = "
      "f32>) {activation = #netra.activation<silu>} : (tensor<2x512xbf16>) -> "
      "(tensor<2x256xf8E4M3FN>, tensor<2x2xf32>)");
  EXPECT_EQ(problem.dimensions.at("N"), 256);
  EXPECT_TRUE(problem.find("packed"));
  EXPECT_FALSE(problem.find("gate"));
  EXPECT_TRUE(problem.find("result_scale"));
  EXPECT_TRUE(op.getInPlaceCandidates().empty());
}

TEST_F(TacticInterfaceTest, QuantizeBlocks) {
  Problem problem = problemOf(
      "%x: tensor<2x256xbf16>",
      "%0, %1 = netra.quantize_blocks %x {scale = #netra.block_scale<block = "
      "[1, 128], scale = f32>} : tensor<2x256xbf16> -> "
      "tensor<2x256xf8E4M3FN>, tensor<2x2xf32>");
  EXPECT_EQ(problem.family, "quantize");
  EXPECT_EQ(problem.operation, "quantize_blocks");
  EXPECT_EQ(problem.dimensions,
            (std::map<std::string, int64_t>{{"M", 2}, {"K", 256}}));
  EXPECT_TRUE(op.getInPlaceCandidates().empty());
}

TEST_F(TacticInterfaceTest, ElementwiseSeesRowsOfAnyRank) {
  Problem problem =
      problemOf("%x: tensor<2x3x8xbf16>, %y: tensor<8xbf16>",
                "%0 = netra.add %x, %y : tensor<2x3x8xbf16>, tensor<8xbf16>");
  EXPECT_EQ(problem.family, "elementwise");
  EXPECT_EQ(problem.operation, "add");
  EXPECT_EQ(problem.dimensions,
            (std::map<std::string, int64_t>{{"M", 6}, {"N", 8}}));
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{0, 0}}));

  problem =
      problemOf("%x: tensor<bf16>", "%0 = netra.mul %x, %x : tensor<bf16>");
  EXPECT_EQ(problem.operation, "mul");
  EXPECT_EQ(problem.dimensions,
            (std::map<std::string, int64_t>{{"M", 1}, {"N", 1}}));
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{0, 0}, {0, 1}}));

  problem = problemOf("%x: tensor<4xbf16>",
                      "%0 = netra.activation %x {activation = "
                      "#netra.activation<sigmoid>} : tensor<4xbf16>");
  EXPECT_EQ(problem.operation, "activation");
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{0, 0}}));
}

TEST_F(TacticInterfaceTest, CastInPlaceOnlyAtTheSameWidth) {
  Problem problem =
      problemOf("%x: tensor<4xbf16>",
                "%0 = netra.cast %x : tensor<4xbf16> to tensor<4xf32>");
  EXPECT_EQ(problem.operation, "cast");
  EXPECT_TRUE(op.getInPlaceCandidates().empty());
  problemOf("%x: tensor<4xbf16>",
            "%0 = netra.cast %x : tensor<4xbf16> to tensor<4xf16>");
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{0, 0}}));
}

TEST_F(TacticInterfaceTest, LayoutFamily) {
  Problem problem =
      problemOf("%x: tensor<16x32xbf16>",
                "%0 = netra.layout_convert %x : tensor<16x32xbf16> to "
                "tensor<16x32xbf16, #netra.layout<n16k16>>");
  EXPECT_EQ(problem.family, "layout");
  EXPECT_EQ(problem.operation, "layout_convert");
  EXPECT_EQ(problem.find("result")->layout, "n16k16");
  using Dimensions = std::map<std::string, int64_t>;
  EXPECT_EQ(problem.dimensions, (Dimensions{{"B", 1}, {"M", 16}, {"N", 32}}));
  problem = problemOf("%x: tensor<4x3x16x32xf32>",
                      "%0 = netra.layout_convert %x : tensor<4x3x16x32xf32> to "
                      "tensor<4x3x16x32xf32, #netra.layout<v_major>>");
  EXPECT_EQ(problem.dimensions, (Dimensions{{"B", 12}, {"M", 16}, {"N", 32}}));
  problem = problemOf("%x: tensor<16x32xbf16>",
                      "%0 = netra.transpose %x [1, 0] : tensor<16x32xbf16> to "
                      "tensor<32x16xbf16>");
  EXPECT_EQ(problem.operation, "transpose");
  EXPECT_EQ(std::get<std::string>(problem.attributes.at("permutation")), "1,0");
  EXPECT_TRUE(op.getInPlaceCandidates().empty());
}

/// Roles and values of an interface agree with the operands of its problem.
TEST_F(TacticInterfaceTest, RolesNameTheOperandsOfTheProblem) {
  Problem problem = problemOf(
      "%x: tensor<1x64xbf16>, %w: tensor<16x64xbf16>, %r: tensor<1x16xbf16>",
      "%0 = netra.dense %x, %w residual(%r) : (tensor<1x64xbf16>, "
      "tensor<16x64xbf16>, tensor<1x16xbf16>) -> tensor<1x16xbf16>");
  SmallVector<std::pair<StringRef, Value>> inputs, results;
  op.getRoles(inputs, results);
  ASSERT_EQ(inputs.size() + results.size(), problem.operands.size());
  for (auto [role, value] : inputs) {
    ASSERT_TRUE(problem.find(role)) << role.str();
    EXPECT_EQ(ArrayRef<int64_t>(problem.find(role)->shape),
              cast<RankedTensorType>(value.getType()).getShape());
    EXPECT_TRUE(isa<BlockArgument>(value));
  }
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].first, "result");
  EXPECT_EQ(results[0].second, op->getResult(0));
}

} // namespace
