//===- FusionTest.cpp - Operations taking over their neighbours -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "IRTest.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace netra;

namespace {

class FusionTest : public netra::IRTest {
protected:
  /// Asks all operations about all neighbours until nothing changes, from the
  /// first operation or from the last.
  unsigned fuse(ModuleOp module, bool forward = true) {
    unsigned fusions = 0;
    while (fuseOnce(module, forward))
      ++fusions;
    EXPECT_TRUE(succeeded(verify(module))) << messages;
    return fusions;
  }

  bool fuseOnce(ModuleOp module, bool forward) {
    SmallVector<FusionOpInterface> ops;
    module.walk([&](FusionOpInterface op) { ops.push_back(op); });
    if (!forward)
      std::reverse(ops.begin(), ops.end());
    for (FusionOpInterface op : ops) {
      SmallVector<Operation *> neighbours(op->getUsers());
      for (Value operand : op->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          neighbours.push_back(definition);
      for (Operation *neighbour : neighbours) {
        if (failed(op.canAbsorb(neighbour, nullptr)))
          continue;
        IRRewriter rewriter(&context);
        FailureOr<Operation *> fused = op.absorb(rewriter, neighbour);
        EXPECT_TRUE(succeeded(fused));
        return succeeded(fused);
      }
    }
    return false;
  }

  /// Why the first operation of `op` in the module does not take over the first
  /// `neighbour`; "(it does)" when it would.
  std::string refusal(StringRef text, StringRef op, StringRef neighbour) {
    auto module = parse(text);
    if (!module)
      return "(does not parse)";
    FusionOpInterface first;
    Operation *second = nullptr;
    module->walk([&](Operation *candidate) {
      if (!first && candidate->getName().getStringRef() == op)
        first = dyn_cast<FusionOpInterface>(candidate);
      if (!second && candidate->getName().getStringRef() == neighbour &&
          candidate != first.getOperation())
        second = candidate;
    });
    std::string reason;
    if (!first || !second)
      return "(not found)";
    std::string before = print(*module);
    if (succeeded(first.canAbsorb(second, &reason)))
      return "(it does)";
    EXPECT_EQ(print(*module), before) << "asking must not change anything";
    IRRewriter rewriter(&context);
    EXPECT_TRUE(failed(first.absorb(rewriter, second)));
    EXPECT_EQ(print(*module), before) << "refusing must not change anything";
    return reason;
  }
};

//===----------------------------------------------------------------------===//
// DenseOp
//===----------------------------------------------------------------------===//

TEST_F(FusionTest, DenseTakesBiasActivationAndResidualInOrder) {
  for (bool forward : {true, false}) {
    auto module = parse(R"mlir(
func.func @f(%x: tensor<1x64xbf16>, %w: tensor<16x64xbf16>, %b: tensor<16xbf16>, %r: tensor<1x16xbf16>) -> tensor<1x16xbf16> {
  %0 = netra.dense %x, %w {test.kept} : (tensor<1x64xbf16>, tensor<16x64xbf16>) -> tensor<1x16xbf16>
  %1 = netra.add %0, %b : tensor<1x16xbf16>, tensor<16xbf16>
  %2 = netra.activation %1 {activation = #netra.activation<gelu_tanh>} : tensor<1x16xbf16>
  %3 = netra.add %r, %2 : tensor<1x16xbf16>
  return %3 : tensor<1x16xbf16>
})mlir");
    EXPECT_EQ(fuse(*module, forward), 3u);
    auto dense = only<DenseOp>(*module);
    auto func = only<func::FuncOp>(*module);
    EXPECT_EQ(dense.getBias(), func.getArgument(2));
    EXPECT_EQ(dense.getResidual(), func.getArgument(3));
    EXPECT_EQ(dense.getEpilogueOrNone().getSpelling(), "gelu_tanh");
    EXPECT_TRUE(dense->hasAttr("test.kept"));
    EXPECT_EQ(count<AddOp>(*module) + count<ActivationOp>(*module), 0u);
    EXPECT_TRUE(isa<FusedLoc>(dense.getLoc()));
  }
}

TEST_F(FusionTest, DenseLosesTacticAndPlaceOfTheUnfusedOperation) {
  auto module = parse(R"mlir(
func.func @f(%x: tensor<1x64xbf16>, %w: tensor<16x64xbf16>) -> tensor<1x16xbf16> {
  %0 = netra.dense %x, %w {netra.tactic = #netra.tactic<"t", contract = "nk_0123456789abcdef01234567">, netra.place = [#netra.place<arena, 0, 32>]} : (tensor<1x64xbf16>, tensor<16x64xbf16>) -> tensor<1x16xbf16>
  %1 = netra.activation %0 {activation = #netra.activation<silu>} : tensor<1x16xbf16>
  return %1 : tensor<1x16xbf16>
})mlir");
  EXPECT_EQ(fuse(*module), 1u);
  EXPECT_TRUE(only<DenseOp>(*module)->getDiscardableAttrDictionary().empty());
}

const char *const gatedPair = R"mlir(
netra.parameter @gate : tensor<128x64xbf16> checkpoint("gate")
netra.parameter @up : tensor<128x64xbf16> checkpoint("up")
func.func @f(%x: tensor<1x64xbf16>) -> tensor<1x128xbf16> {
  %wu = netra.get @up : tensor<128x64xbf16>
  %u = netra.dense %x, %wu : (tensor<1x64xbf16>, tensor<128x64xbf16>) -> tensor<1x128xbf16>
  %wg = netra.get @gate : tensor<128x64xbf16>
  %g = netra.dense %x, %wg : (tensor<1x64xbf16>, tensor<128x64xbf16>) -> tensor<1x128xbf16>
  %h = netra.gated %g, %u {activation = #netra.activation<silu>} : (tensor<1x128xbf16>, tensor<1x128xbf16>) -> tensor<1x128xbf16>
  return %h : tensor<1x128xbf16>
})mlir";

TEST_F(FusionTest, DensesBecomeOneGatedDense) {
  for (bool forward : {true, false}) {
    auto module = parse(gatedPair);
    EXPECT_EQ(fuse(*module, forward), 1u);
    auto dense = only<DenseOp>(*module);
    EXPECT_EQ(dense.getEpilogueOrNone().getSpelling(), "gated_silu");
    auto get = dense.getWeight().getDefiningOp<GetOp>();
    ASSERT_TRUE(get);
    // The gate's rows come first, though its product is the second.
    EXPECT_EQ(get.getParameter(), "gate_up");
    auto packed = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
        get, get.getParameterAttr());
    ASSERT_TRUE(packed);
    EXPECT_EQ(print(packed), "netra.parameter @gate_up : tensor<256x64xbf16> "
                             "pack(concat 0 [@gate, @up])");
    EXPECT_TRUE(isa<ParameterOp>(packed->getPrevNode()));
  }
}

TEST_F(FusionTest, ThePackedParameterIsNamedForWhatDiffers) {
  struct Case {
    const char *gate, *up, *packed;
  };
  for (const Case &c :
       {Case{"layers.0.mlp.gate_proj.weight", "layers.0.mlp.up_proj.weight",
             "layers.0.mlp.gate_up_proj.weight"},
        Case{"w1", "w3", "w1_w3"}, Case{"mlp.w", "mlp.w.w", "mlp.w_w.w"},
        Case{"a.b", "c.d", "a.b_c.d"}, Case{"mlp.a", "mlp.b", "mlp.a_b"}}) {
    std::string text = gatedPair;
    auto rename = [&](llvm::StringRef from, llvm::StringRef to) {
      for (size_t at; (at = text.find(from.str() + " :")) != text.npos;)
        text.replace(at, from.size(), to.str());
    };
    rename("@gate", ("@" + llvm::Twine(c.gate)).str());
    rename("@up", ("@" + llvm::Twine(c.up)).str());
    auto module = parse(text);
    EXPECT_EQ(fuse(*module), 1u);
    EXPECT_TRUE(module->lookupSymbol<ParameterOp>(c.packed)) << c.packed;
  }
}

TEST_F(FusionTest, ThePackedParameterIsShared) {
  auto module = parse(gatedPair);
  auto second = module->lookupSymbol<func::FuncOp>("f").clone();
  second.setName("g");
  module->push_back(second);
  EXPECT_EQ(fuse(*module), 2u);
  EXPECT_EQ(count<ParameterOp>(*module), 3u);
}

TEST_F(FusionTest, ThePackedParameterGetsAFreeName) {
  auto module =
      parse((llvm::Twine(gatedPair) + "\nfunc.func private @gate_up()"
                                      "\nfunc.func private @gate_up_1()")
                .str());
  EXPECT_EQ(fuse(*module), 1u);
  EXPECT_TRUE(module->lookupSymbol<ParameterOp>("gate_up_2"));
}

TEST_F(FusionTest, GatedScalesAndBiasesAreConcatenated) {
  auto module = parse(R"mlir(
netra.parameter @gate : tensor<128x128xf8E4M3FN> checkpoint("gate")
netra.parameter @gate_scale : tensor<1x1xf32> checkpoint("gate_scale")
netra.parameter @gate_bias : tensor<128xbf16> checkpoint("gate_bias")
netra.parameter @up : tensor<128x128xf8E4M3FN> checkpoint("up")
netra.parameter @up_scale : tensor<1x1xf32> checkpoint("up_scale")
netra.parameter @up_bias : tensor<128xbf16> checkpoint("up_bias")
func.func @f(%x: tensor<1x128xf8E4M3FN>, %s: tensor<1x1xf32>) -> tensor<1x128xbf16> {
  %wg = netra.get @gate : tensor<128x128xf8E4M3FN>
  %sg = netra.get @gate_scale : tensor<1x1xf32>
  %bg = netra.get @gate_bias : tensor<128xbf16>
  %wu = netra.get @up : tensor<128x128xf8E4M3FN>
  %su = netra.get @up_scale : tensor<1x1xf32>
  %bu = netra.get @up_bias : tensor<128xbf16>
  %g = netra.dense %x, %wg scales(%s, %sg) bias(%bg) : (tensor<1x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<128xbf16>) -> tensor<1x128xbf16>
  %u = netra.dense %x, %wu scales(%s, %su) bias(%bu) : (tensor<1x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<128xbf16>) -> tensor<1x128xbf16>
  %h = netra.gated %g, %u {activation = #netra.activation<silu>} : (tensor<1x128xbf16>, tensor<1x128xbf16>) -> tensor<1x128xbf16>
  return %h : tensor<1x128xbf16>
})mlir");
  EXPECT_EQ(fuse(*module), 1u);
  auto dense = only<DenseOp>(*module);
  auto name = [](Value value) {
    return value.getDefiningOp<GetOp>().getParameter().str();
  };
  EXPECT_EQ(name(dense.getWeight()), "gate_up");
  EXPECT_EQ(name(dense.getWeightScale()), "gate_up_scale");
  EXPECT_EQ(name(dense.getBias()), "gate_up_bias");
}

TEST_F(FusionTest, APackedGatedActivationNeedsNoConcatenation) {
  auto module = parse(R"mlir(
func.func @f(%x: tensor<?x64xbf16>, %w: tensor<32x64xbf16>) -> tensor<?x16xbf16> {
  %0 = netra.dense %x, %w : (tensor<?x64xbf16>, tensor<32x64xbf16>) -> tensor<?x32xbf16>
  %1 = netra.gated %0 packed {activation = #netra.activation<silu>} : (tensor<?x32xbf16>) -> tensor<?x16xbf16>
  return %1 : tensor<?x16xbf16>
})mlir");
  EXPECT_EQ(fuse(*module), 1u);
  EXPECT_EQ(only<DenseOp>(*module).getEpilogueOrNone().getSpelling(),
            "gated_silu");
  EXPECT_EQ(count<ParameterOp>(*module), 0u);
}

/// silu and mul, dense products and quantization: the same whichever operation
/// is asked first.
TEST_F(FusionTest, TiesAreDecidedTheSameInEveryOrder) {
  std::string results[2];
  for (bool forward : {true, false}) {
    auto module = parse(R"mlir(
netra.parameter @gate : tensor<128x64xbf16> checkpoint("gate")
netra.parameter @up : tensor<128x64xbf16> checkpoint("up")
func.func @f(%x: tensor<1x64xbf16>) -> (tensor<1x128xf8E4M3FN>, tensor<1x1xf32>) {
  %wg = netra.get @gate : tensor<128x64xbf16>
  %wu = netra.get @up : tensor<128x64xbf16>
  %g = netra.dense %x, %wg : (tensor<1x64xbf16>, tensor<128x64xbf16>) -> tensor<1x128xbf16>
  %u = netra.dense %x, %wu : (tensor<1x64xbf16>, tensor<128x64xbf16>) -> tensor<1x128xbf16>
  %a = netra.activation %g {activation = #netra.activation<silu>} : tensor<1x128xbf16>
  %h = netra.mul %u, %a : tensor<1x128xbf16>
  %q, %s = netra.quantize_blocks %h {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<1x128xbf16> -> tensor<1x128xf8E4M3FN>, tensor<1x1xf32>
  return %q, %s : tensor<1x128xf8E4M3FN>, tensor<1x1xf32>
})mlir");
    EXPECT_EQ(fuse(*module, forward), 2u);
    EXPECT_EQ(count<DenseOp>(*module), 1u);
    EXPECT_EQ(count<QuantizeBlocksOp>(*module), 1u);
    EXPECT_EQ(count<GatedOp>(*module), 0u);
    results[forward] = print(*module);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(FusionTest, DenseRefusals) {
  const char *const head =
      "func.func @f(%x: tensor<1x64xbf16>, %w: tensor<16x64xbf16>, %b: "
      "tensor<16xbf16>, %r: tensor<1x16xbf16>, %s: tensor<bf16>) {\n";
  auto with = [&](StringRef clauses, StringRef types, StringRef rest) {
    return (Twine(head) + "%0 = netra.dense %x, %w " + clauses +
            " : (tensor<1x64xbf16>, tensor<16x64xbf16>" + types +
            ") -> tensor<1x16xbf16>\n" + rest + "\nreturn\n}")
        .str();
  };
  const char *const silu = "%1 = netra.activation %0 {activation = "
                           "#netra.activation<silu>} : tensor<1x16xbf16>";
  const char *const residual = "%1 = netra.add %0, %r : tensor<1x16xbf16>";
  const char *const bias =
      "%1 = netra.add %0, %b : tensor<1x16xbf16>, tensor<16xbf16>";

  EXPECT_EQ(refusal(with("epilogue(silu)", "", silu), "netra.dense",
                    "netra.activation"),
            "the product already has an activation or a residual");
  EXPECT_EQ(refusal(with("residual(%r)", ", tensor<1x16xbf16>", silu),
                    "netra.dense", "netra.activation"),
            "the product already has an activation or a residual");
  EXPECT_EQ(refusal(with("residual(%r)", ", tensor<1x16xbf16>", residual),
                    "netra.dense", "netra.add"),
            "the product already has a residual");
  for (auto [clause, types] : {std::pair("bias(%b)", ", tensor<16xbf16>"),
                               {"epilogue(silu)", ""},
                               {"residual(%r)", ", tensor<1x16xbf16>"}})
    EXPECT_EQ(refusal(with(clause, types, bias), "netra.dense", "netra.add"),
              "a bias must come first, but the product already has a bias, an "
              "activation or a residual");
  EXPECT_EQ(refusal(with("", "",
                         "%1 = netra.add %0, %s : tensor<1x16xbf16>, "
                         "tensor<bf16>"),
                    "netra.dense", "netra.add"),
            "the addend is not one row-major value per column");
  EXPECT_EQ(refusal(with("", "",
                         (Twine(silu) + "\n%2 = netra.add %0, %r : "
                                        "tensor<1x16xbf16>")
                             .str()),
                    "netra.dense", "netra.activation"),
            "the unfused result has other users");
  // x + x is no residual addition; a product of values is no epilogue.
  EXPECT_EQ(refusal(with("", "", "%1 = netra.add %0, %0 : tensor<1x16xbf16>"),
                    "netra.dense", "netra.add"),
            "");
  EXPECT_EQ(refusal(with("", "", "%1 = netra.mul %0, %r : tensor<1x16xbf16>"),
                    "netra.dense", "netra.mul"),
            "");
  EXPECT_EQ(refusal(with("", "",
                         (Twine(silu) + "\n%2 = netra.mul %1, %r : "
                                        "tensor<1x16xbf16>")
                             .str()),
                    "netra.dense", "netra.activation"),
            "the activation gates another value");
}

TEST_F(FusionTest, GatedRefusals) {
  std::string text = gatedPair;
  auto replaced = [&](StringRef from, StringRef to) {
    std::string changed = text;
    size_t at = changed.find(from.str());
    EXPECT_NE(at, std::string::npos) << from.str();
    return changed.replace(at, from.size(), to.str());
  };
  // The first product in the text is that of up.
  EXPECT_EQ(refusal(text, "netra.dense", "netra.gated"), "");
  std::string swapped = replaced("netra.gated %g, %u", "netra.gated %u, %g");
  EXPECT_EQ(refusal(swapped, "netra.dense", "netra.gated"), "(it does)");
  text = swapped;
  EXPECT_EQ(refusal(replaced("netra.gated %u, %g", "netra.gated %u, %u"),
                    "netra.dense", "netra.gated"),
            "");
  EXPECT_EQ(refusal(replaced("%h = ", "%extra = netra.activation %g "
                                      "{activation = #netra.activation<silu>} "
                                      ": tensor<1x128xbf16>\n%h = "),
                    "netra.dense", "netra.gated"),
            "the other product has other users");
  EXPECT_EQ(refusal(replaced("%g = netra.dense %x, %wg",
                             "%g = netra.dense %x, %wg epilogue(silu)"),
                    "netra.dense", "netra.gated"),
            "the other product already has an epilogue");
  EXPECT_EQ(refusal(replaced("%u = netra.dense %x, %wu",
                             "%u = netra.dense %x, %wu epilogue(silu)"),
                    "netra.dense", "netra.gated"),
            "the gate's product already has an epilogue");
  EXPECT_EQ(refusal(replaced("%g = netra.dense",
                             "%y = netra.cast %x : tensor<1x64xbf16> to "
                             "tensor<1x64xbf16>\n%g = netra.dense"),
                    "netra.dense", "netra.gated"),
            "(it does)");
  EXPECT_EQ(refusal(replaced("%g = netra.dense %x,",
                             "%y = netra.add %x, %x : tensor<1x64xbf16>\n%g = "
                             "netra.dense %y,"),
                    "netra.dense", "netra.gated"),
            "the two products do not have the same x");
  EXPECT_EQ(refusal(replaced("%wg = netra.get @gate : tensor<128x64xbf16>",
                             "%wg = netra.constant dense<1.0> : "
                             "tensor<128x64xbf16>"),
                    "netra.dense", "netra.gated"),
            "the weight of a product is not a parameter");
}

TEST_F(FusionTest, BlocksAcrossTheBorderAreRefused) {
  EXPECT_EQ(refusal(R"mlir(
netra.parameter @gate : tensor<64x128xf8E4M3FN> checkpoint("gate")
netra.parameter @up : tensor<64x128xf8E4M3FN> checkpoint("up")
func.func @f(%x: tensor<1x128xf8E4M3FN>, %s: tensor<1x1xf32>) -> tensor<1x64xbf16> {
  %wg = netra.get @gate : tensor<64x128xf8E4M3FN>
  %wu = netra.get @up : tensor<64x128xf8E4M3FN>
  %g = netra.dense %x, %wg scales(%s, %s) : (tensor<1x128xf8E4M3FN>, tensor<64x128xf8E4M3FN>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x64xbf16>
  %u = netra.dense %x, %wu scales(%s, %s) : (tensor<1x128xf8E4M3FN>, tensor<64x128xf8E4M3FN>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x64xbf16>
  %h = netra.gated %g, %u {activation = #netra.activation<silu>} : (tensor<1x64xbf16>, tensor<1x64xbf16>) -> tensor<1x64xbf16>
  return %h : tensor<1x64xbf16>
})mlir",
                    "netra.dense", "netra.gated"),
            "blocks of 128 rows would lie across the border between the 64 "
            "gate rows and the up rows");
}

//===----------------------------------------------------------------------===//
// RMSNormOp, GatedOp, ActivationOp
//===----------------------------------------------------------------------===//

TEST_F(FusionTest, NormTakesTheSumBeforeAndTheQuantizationBehind) {
  for (bool forward : {true, false}) {
    // The sum is used between the two, and the weight is read after the sum.
    auto module = parse(R"mlir(
netra.parameter @norm : tensor<128xbf16> checkpoint("norm")
func.func @f(%x: tensor<?x128xbf16>, %r: tensor<?x128xbf16>) -> (tensor<?x128xf8E4M3FN>, tensor<?x1xf32>, tensor<?x128xbf16>) {
  %sum = netra.add %x, %r : tensor<?x128xbf16>
  %early = netra.activation %sum {activation = #netra.activation<silu>} : tensor<?x128xbf16>
  %w = netra.get @norm : tensor<128xbf16>
  %n = netra.rms_norm %sum, %w {epsilon = 1.0e-6 : f32, weight_offset = 1.0 : f32} : (tensor<?x128xbf16>, tensor<128xbf16>) -> tensor<?x128xbf16>
  %q, %s = netra.quantize_blocks %n {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<?x128xbf16> -> tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
  return %q, %s, %early : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>, tensor<?x128xbf16>
})mlir");
    EXPECT_EQ(fuse(*module, forward), 2u);
    auto norm = only<RMSNormOp>(*module);
    auto func = only<func::FuncOp>(*module);
    EXPECT_EQ(norm.getX(), func.getArgument(0));
    EXPECT_EQ(norm.getResidual(), func.getArgument(1));
    EXPECT_EQ(norm.getQuantizeAttr(), BlockScaleAttr::get1x128(&context));
    EXPECT_EQ(norm.getEpsilon().convertToFloat(), 1.0e-6f);
    EXPECT_EQ(norm.getWeightOffset().convertToFloat(), 1.0f);
    EXPECT_EQ(only<ActivationOp>(*module).getX(), norm.getSum());
    EXPECT_EQ(count<AddOp>(*module) + count<QuantizeBlocksOp>(*module), 0u);
  }
}

TEST_F(FusionTest, ASumThatNothingElseUsesIsNotStored) {
  auto module = parse(R"mlir(
func.func @f(%x: tensor<1x128xbf16>, %r: tensor<1x128xbf16>, %w: tensor<128xbf16>) -> tensor<1x128xbf16> {
  %sum = netra.add %x, %r : tensor<1x128xbf16>
  %n = netra.rms_norm %sum, %w {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> tensor<1x128xbf16>
  return %n : tensor<1x128xbf16>
})mlir");
  EXPECT_EQ(fuse(*module), 1u);
  EXPECT_FALSE(only<RMSNormOp>(*module).getSum());
  EXPECT_TRUE(only<RMSNormOp>(*module).getResidual());
}

TEST_F(FusionTest, OtherReadersOfANormGetTheRoundedValue) {
  for (bool forward : {true, false}) {
    auto module = parse(R"mlir(
func.func @f(%x: tensor<1x128xbf16>, %r: tensor<1x128xbf16>, %w: tensor<128xbf16>) -> (tensor<1x128xf8E4M3FN>, tensor<1x1xf32>, tensor<1x128xbf16>) {
  %sum = netra.add %x, %r : tensor<1x128xbf16>
  %n = netra.rms_norm %sum, %w {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>) -> tensor<1x128xbf16>
  %a = netra.activation %n {activation = #netra.activation<silu>} : tensor<1x128xbf16>
  %q, %s = netra.quantize_blocks %n {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<1x128xbf16> -> tensor<1x128xf8E4M3FN>, tensor<1x1xf32>
  return %q, %s, %a : tensor<1x128xf8E4M3FN>, tensor<1x1xf32>, tensor<1x128xbf16>
})mlir");
    EXPECT_EQ(fuse(*module, forward), 2u);
    auto norm = only<RMSNormOp>(*module);
    EXPECT_TRUE(norm.getResidual());
    // Nothing reads it, but it says which result is which.
    EXPECT_TRUE(norm.getSum());
    EXPECT_EQ(only<ActivationOp>(*module).getX(), norm.getRounded());
  }
}

TEST_F(FusionTest, OtherNormsFuseAsTheRMSNorm) {
  auto module = parse(R"mlir(
func.func @f(%x: tensor<1x128xbf16>, %r: tensor<1x128xbf16>, %w: tensor<128xbf16>) -> (tensor<1x128xf8E4M3FN>, tensor<1x1xf32>) {
  %sum = netra.add %x, %r : tensor<1x128xbf16>
  %n = netra.layer_norm %sum, %w bias(%w) {epsilon = 1.0e-6 : f32} : (tensor<1x128xbf16>, tensor<128xbf16>, tensor<128xbf16>) -> tensor<1x128xbf16>
  %q, %s = netra.quantize_blocks %n {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<1x128xbf16> -> tensor<1x128xf8E4M3FN>, tensor<1x1xf32>
  return %q, %s : tensor<1x128xf8E4M3FN>, tensor<1x1xf32>
})mlir");
  EXPECT_EQ(fuse(*module), 2u);
  auto norm = only<LayerNormOp>(*module);
  EXPECT_TRUE(norm.getResidual() && norm.getBias() && norm.getQuantizeAttr());
  EXPECT_FALSE(norm.getSum() || norm.getRounded());

  module = parse(R"mlir(
func.func @f(%x: tensor<1x256xbf16>, %z: tensor<1x256xbf16>, %w: tensor<128xbf16>) -> (tensor<1x256xf8E4M3FN>, tensor<1x2xf32>, tensor<1x256xbf16>) {
  %n = netra.gated_rms_norm %x, %z, %w {activation = #netra.activation<silu>, epsilon = 1.0e-6 : f32, test.kept} : (tensor<1x256xbf16>, tensor<1x256xbf16>, tensor<128xbf16>) -> tensor<1x256xbf16>
  %q, %s = netra.quantize_blocks %n {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<1x256xbf16> -> tensor<1x256xf8E4M3FN>, tensor<1x2xf32>
  return %q, %s, %n : tensor<1x256xf8E4M3FN>, tensor<1x2xf32>, tensor<1x256xbf16>
})mlir");
  EXPECT_EQ(fuse(*module), 1u);
  auto gated = only<GatedRMSNormOp>(*module);
  EXPECT_TRUE(gated.getRounded() && gated.getResultScale());
  EXPECT_TRUE(gated->hasAttr("test.kept"));
}

TEST_F(FusionTest, NormRefusals) {
  auto with = [](StringRef before, StringRef norm, StringRef after) {
    return (Twine("func.func @f(%x: tensor<1x128xbf16>, %r: "
                  "tensor<1x128xbf16>, %w: tensor<128xbf16>) {\n") +
            before + "\n" + norm + "\n" + after + "\nreturn\n}")
        .str();
  };
  const char *const add = "%s = netra.add %x, %r : tensor<1x128xbf16>";
  const char *const quantize =
      "%q, %qs = netra.quantize_blocks %n {scale = #netra.block_scale<block = "
      "[1, 128], scale = f32>} : tensor<1x128xbf16> -> "
      "tensor<1x128xf8E4M3FN>, tensor<1x1xf32>";
  const char *const norm =
      "%n = netra.rms_norm %x, %w {epsilon = 1.0e-6 : f32} : "
      "(tensor<1x128xbf16>, tensor<128xbf16>) -> tensor<1x128xbf16>";

  EXPECT_EQ(refusal(with(add,
                         "%n = netra.rms_norm %s, %w residual(%r) {epsilon = "
                         "1.0e-6 : f32} : (tensor<1x128xbf16>, "
                         "tensor<128xbf16>, tensor<1x128xbf16>) -> "
                         "tensor<1x128xbf16>",
                         ""),
                    "netra.rms_norm", "netra.add"),
            "the normalisation already has a residual");
  EXPECT_EQ(refusal(with(add,
                         "%v = netra.mul %w, %w : tensor<128xbf16>\n%n = "
                         "netra.rms_norm %s, %v {epsilon = 1.0e-6 : f32} : "
                         "(tensor<1x128xbf16>, tensor<128xbf16>) -> "
                         "tensor<1x128xbf16>",
                         ""),
                    "netra.rms_norm", "netra.add"),
            "the weight is computed after the addition");
  // A repeated addend is no residual.
  EXPECT_EQ(refusal(with("%s = netra.add %x, %w : tensor<1x128xbf16>, "
                         "tensor<128xbf16>",
                         "%n = netra.rms_norm %s, %w {epsilon = 1.0e-6 : f32} "
                         ": (tensor<1x128xbf16>, tensor<128xbf16>) -> "
                         "tensor<1x128xbf16>",
                         ""),
                    "netra.rms_norm", "netra.add"),
            "");
  // With other readers, what is in front comes first.
  EXPECT_EQ(refusal(with(add,
                         "%n = netra.rms_norm %s, %w {epsilon = 1.0e-6 : f32} "
                         ": (tensor<1x128xbf16>, tensor<128xbf16>) -> "
                         "tensor<1x128xbf16>",
                         (Twine(quantize) +
                          "\n%t = netra.add %n, %r : tensor<1x128xbf16>")
                             .str()),
                    "netra.rms_norm", "netra.quantize_blocks"),
            "the addition in front is taken over first");
  EXPECT_EQ(refusal(with("", norm,
                         "%t = netra.activation %n {activation = "
                         "#netra.activation<silu>} : tensor<1x128xbf16>"),
                    "netra.rms_norm", "netra.activation"),
            "");
  EXPECT_EQ(refusal(with(add, norm, ""), "netra.rms_norm", "netra.add"), "");
}

TEST_F(FusionTest, GatedTakesTheQuantization) {
  auto module = parse(R"mlir(
func.func @f(%g: tensor<1x128xbf16>, %u: tensor<1x128xbf16>) -> (tensor<1x128xf8E4M3FN>, tensor<1x1xf32>) {
  %a = netra.activation %g {activation = #netra.activation<silu>} : tensor<1x128xbf16>
  %h = netra.mul %u, %a : tensor<1x128xbf16>
  %q, %s = netra.quantize_blocks %h {scale = #netra.block_scale<block = [1, 128], scale = f32>} : tensor<1x128xbf16> -> tensor<1x128xf8E4M3FN>, tensor<1x1xf32>
  return %q, %s : tensor<1x128xf8E4M3FN>, tensor<1x1xf32>
})mlir");
  EXPECT_EQ(fuse(*module), 2u);
  auto gated = only<GatedOp>(*module);
  auto func = only<func::FuncOp>(*module);
  EXPECT_EQ(gated.getGate(), func.getArgument(0));
  EXPECT_EQ(gated.getUp(), func.getArgument(1));
  EXPECT_EQ(gated.getActivation(), Activation::SiLU);
  EXPECT_TRUE(gated.getResultScale());
}

TEST_F(FusionTest, OtherRefusals) {
  EXPECT_EQ(refusal(R"mlir(
func.func @f(%x: tensor<4x1x128xbf16>, %u: tensor<4x1x128xbf16>) {
  %a = netra.activation %x {activation = #netra.activation<silu>} : tensor<4x1x128xbf16>
  %h = netra.mul %a, %u : tensor<4x1x128xbf16>
  return
})mlir",
                    "netra.activation", "netra.mul"),
            "the activation is not of a matrix");
  // silu(x) * silu(x) has no other factor.
  EXPECT_EQ(refusal(R"mlir(
func.func @f(%x: tensor<1x128xbf16>) {
  %a = netra.activation %x {activation = #netra.activation<silu>} : tensor<1x128xbf16>
  %h = netra.mul %a, %a : tensor<1x128xbf16>
  return
})mlir",
                    "netra.activation", "netra.mul"),
            "");
  EXPECT_EQ(refusal(std::string(gatedPair).replace(
                        std::string(gatedPair).find("  return"), 8,
                        "  %q, %s = netra.quantize_blocks %h {scale = "
                        "#netra.block_scale<block = [1, 128], scale = f32>} : "
                        "tensor<1x128xbf16> -> tensor<1x128xf8E4M3FN>, "
                        "tensor<1x1xf32>\n  return"),
                    "netra.gated", "netra.quantize_blocks"),
            "the unfused result has other users");
}

//===----------------------------------------------------------------------===//
// RouteOp, MoeGateUpOp, MoeDownReduceOp
//===----------------------------------------------------------------------===//

TEST_F(FusionTest, ARoundedActivationIsNoEpilogue) {
  EXPECT_EQ(refusal(R"mlir(
func.func @f(%x: tensor<1x64xbf16>, %w: tensor<128x64xbf16>) {
  %g = netra.dense %x, %w : (tensor<1x64xbf16>, tensor<128x64xbf16>) -> tensor<1x128xbf16>
  %h = netra.gated %g packed {activation = #netra.activation<silu>, round_activation} : (tensor<1x128xbf16>) -> tensor<1x64xbf16>
  return
})mlir",
                    "netra.dense", "netra.gated"),
            "");
}

/// A router behind `product`, with the gate of a shared expert that reads
/// `gateX`, and `after`.
std::string router(StringRef product, StringRef gateX = "%x",
                   StringRef after = "") {
  return ("func.func @f(%x: tensor<2x64xbf16>, %y: tensor<2x64xbf16>, %w: "
          "tensor<8x64xbf16>, %b: tensor<8xbf16>, %g: tensor<1x64xbf16>) {\n" +
          product + "\n%ids, %ws = netra.route %l x(" + gateX +
          ") shared_gate(%g) {top_k = 2 : i64, shared_expert = "
          "#netra.shared_expert<sigmoid>, netra.tactic = #netra.tactic<\"t\", "
          "contract = \"nk_0123456789abcdef01234567\">, test.kept} : "
          "(tensor<2x8xbf16>, tensor<2x64xbf16>, tensor<1x64xbf16>) -> "
          "(tensor<2x3xi32>, tensor<2x3xf32>)\n" +
          after + "\nreturn\n}")
      .str();
}

const char *const plainProduct =
    "%l = netra.dense %x, %w : (tensor<2x64xbf16>, tensor<8x64xbf16>) -> "
    "tensor<2x8xbf16>";

TEST_F(FusionTest, RouteTakesItsProduct) {
  auto module = parse(router(plainProduct));
  auto before = only<RouteOp>(*module);
  auto problems = cast<FusionOpInterface>(before.getOperation())
                      .getFusedProblems(only<DenseOp>(*module));
  EXPECT_EQ(fuse(*module), 1u);
  auto route = only<RouteOp>(*module);
  auto func = only<func::FuncOp>(*module);
  EXPECT_FALSE(route.getLogits());
  EXPECT_EQ(route.getX(), func.getArgument(0));
  EXPECT_EQ(route.getWeight(), func.getArgument(2));
  EXPECT_TRUE(route.getSharedGate());
  EXPECT_TRUE(route->hasAttr("test.kept"));
  EXPECT_FALSE(route->hasAttr("netra.tactic"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].toJson(), route.getProblem().toJson());
}

TEST_F(FusionTest, RouteRefusals) {
  EXPECT_EQ(refusal(router(plainProduct, "%y"), "netra.route", "netra.dense"),
            "the gate of the shared expert reads another x");
  EXPECT_EQ(refusal(router("%l = netra.dense %x, %w bias(%b) : "
                           "(tensor<2x64xbf16>, tensor<8x64xbf16>, "
                           "tensor<8xbf16>) -> tensor<2x8xbf16>"),
                    "netra.route", "netra.dense"),
            "the product has a bias or an epilogue");
  EXPECT_EQ(refusal(router(plainProduct, "%x",
                           "%a = netra.add %l, %l : tensor<2x8xbf16>"),
                    "netra.route", "netra.dense"),
            "the logits have other users");
}

/// The two products of experts, with `between` from %y to the x of the second.
std::string experts(StringRef between, StringRef after = "") {
  return ("func.func @f(%x: tensor<2x128xf8E4M3FN>, %sx: tensor<2x1xf32>, %w1: "
          "tensor<4x256x128xf8E4M3FN>, %s1: tensor<4x2x1xf32>, %w2: "
          "tensor<4x128x128xf8E4M3FN>, %s2: tensor<4x1x1xf32>, %ids: "
          "tensor<2x3xi32>, %ws: tensor<2x3xf32>, %r: tensor<2x128xbf16>) {\n"
          "%y = netra.moe_gate_up %x, %w1 scales(%sx, %s1) experts(%ids) : "
          "(tensor<2x128xf8E4M3FN>, tensor<4x256x128xf8E4M3FN>, "
          "tensor<2x1xf32>, tensor<4x2x1xf32>, tensor<2x3xi32>) -> "
          "tensor<2x3x256xf32>\n%h, %s = netra.moe_activation %y {activation = "
          "#netra.activation<silu>} : tensor<2x3x256xf32> -> "
          "tensor<2x3x128xf8E4M3FN>, tensor<2x3x1xf32>\n" +
          between +
          "\n%o = netra.moe_down_reduce %h, %w2 scales(%s, %s2) experts(%ids "
          "by "
          "%ws) : (tensor<2x3x128xf8E4M3FN>, tensor<4x128x128xf8E4M3FN>, "
          "tensor<2x3x1xf32>, tensor<4x1x1xf32>, tensor<2x3xi32>, "
          "tensor<2x3xf32>) -> tensor<2x128xbf16>\n" +
          after + "\nreturn\n}")
      .str();
}

const char *const expertResidual = "%t = netra.add %r, %o : tensor<2x128xbf16>";

TEST_F(FusionTest, ExpertsBecomeTwoOperations) {
  for (bool forward : {true, false}) {
    auto module = parse(experts("", expertResidual));
    auto problems =
        cast<FusionOpInterface>(only<MoeGateUpOp>(*module).getOperation())
            .getFusedProblems(only<MoeActivationOp>(*module));
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(fuse(*module, forward), 2u);
    auto gateUp = only<MoeGateUpOp>(*module);
    auto down = only<MoeDownReduceOp>(*module);
    auto func = only<func::FuncOp>(*module);
    EXPECT_EQ(gateUp.getActivation(), Activation::SiLU);
    EXPECT_EQ(down.getX(), gateUp.getResult());
    EXPECT_FALSE(down.getXScale());
    EXPECT_EQ(down.getResidual(), func.getArgument(8));
    EXPECT_EQ(count<MoeActivationOp>(*module) + count<AddOp>(*module), 0u);
    EXPECT_EQ(problems[0].toJson(), gateUp.getProblem().toJson());
    EXPECT_FALSE(problems[1].find("x_scale"));
  }
}

TEST_F(FusionTest, ExpertRefusals) {
  EXPECT_EQ(refusal(experts("%z = netra.cast %h : tensor<2x3x128xf8E4M3FN> to "
                            "tensor<2x3x128xbf16>"),
                    "netra.moe_gate_up", "netra.moe_activation"),
            "the activated value is not the x of one netra.moe_down_reduce "
            "and nothing else");
  EXPECT_EQ(refusal(experts("%z = netra.cast %y : tensor<2x3x256xf32> to "
                            "tensor<2x3x256xbf16>"),
                    "netra.moe_gate_up", "netra.moe_activation"),
            "the unfused result has other users");
  EXPECT_EQ(refusal(experts("", std::string(expertResidual) +
                                    "\n%u = netra.add %o, %t : "
                                    "tensor<2x128xbf16>"),
                    "netra.moe_down_reduce", "netra.add"),
            "the unfused result has other users");
}

} // namespace
