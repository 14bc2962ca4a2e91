//===- TacticInterfaceTest.cpp - Problems, roles, in-place results --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "IRTest.h"

#include "Netra/Catalog/Vocabulary.h"

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
    return problem;
  }

  OwningOpRef<ModuleOp> module;
  TacticOpInterface op;
};

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
  EXPECT_EQ(op.getInPlaceCandidates(), (InPlace{{0, 0}, {0, 1}}));
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
