//===- AttributeTest.cpp - Attributes built from C++ ----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the assembly cannot spell; the rest is in test/IR.
//
//===----------------------------------------------------------------------===//

#include "IRTest.h"

#include "Netra/Catalog/Vocabulary.h"

#include "mlir/IR/Builders.h"

#include <limits>

using namespace mlir;
using namespace netra;

namespace {

using AttributeTest = netra::IRTest;

/// What the dialect can say and what a manifest may wait for are the same.
TEST_F(AttributeTest, TheVocabularyOfTheCatalogueIsTheDialects) {
  std::vector<std::string> activations, epilogues;
  for (bool gated : {false, true})
    for (unsigned i = 0; i <= getMaxEnumValForActivation(); ++i) {
      Activation activation = *symbolizeActivation(i);
      if (!gated)
        activations.push_back(stringifyActivation(activation).str());
      if (auto epilogue = EpilogueAttr::getChecked([&] { return emitError(); },
                                                   &context, activation, gated))
        epilogues.push_back(epilogue.getSpelling());
    }
  EXPECT_EQ(findAttribute("activation")->choices.size(), activations.size());
  for (const std::string &name : activations)
    EXPECT_TRUE(findAttribute("activation")->accepts(name)) << name;
  EXPECT_EQ(findAttribute("epilogue")->choices.size(), epilogues.size());
  for (const std::string &name : epilogues)
    EXPECT_TRUE(findAttribute("epilogue")->accepts(name)) << name;
}

TEST_F(AttributeTest, TacticOptionsAreSixtyFourBitIntegers) {
  Builder builder(&context);
  auto name = builder.getStringAttr("t");
  auto contract = builder.getStringAttr("nk_0123456789abcdef01234567");
  for (Attribute value :
       {Attribute(builder.getI32IntegerAttr(4)),
        Attribute(builder.getStringAttr("4")), Attribute(builder.getUnitAttr()),
        Attribute(
            builder.getIntegerAttr(builder.getIntegerType(64, false), 4))}) {
    messages.clear();
    auto options =
        builder.getDictionaryAttr(builder.getNamedAttr("WAVES", value));
    EXPECT_FALSE(TacticAttr::getChecked([&] { return emitError(); }, &context,
                                        name, options, contract));
    EXPECT_NE(messages.find("tactic C2: option 'WAVES'"), std::string::npos)
        << messages;
  }
  auto options = builder.getDictionaryAttr(
      builder.getNamedAttr("WAVES", builder.getI64IntegerAttr(4)));
  EXPECT_TRUE(TacticAttr::getChecked([&] { return emitError(); }, &context,
                                     name, options, contract));
}

TEST_F(AttributeTest, PlacesHaveASymbolUnlessInTheArena) {
  auto symbol = FlatSymbolRefAttr::get(&context, "x");
  auto check = [&](PlaceKind kind, FlatSymbolRefAttr symbol) {
    return PlaceAttr::getChecked([&] { return emitError(); }, &context, kind,
                                 symbol, int64_t(0), int64_t(4), int64_t(-1));
  };
  EXPECT_TRUE(check(PlaceKind::Arena, {}));
  EXPECT_TRUE(check(PlaceKind::Binding, symbol));
  EXPECT_TRUE(check(PlaceKind::Weight, symbol));
  EXPECT_FALSE(check(PlaceKind::Arena, symbol));
  EXPECT_NE(messages.find("place C1: "), std::string::npos) << messages;
  EXPECT_FALSE(check(PlaceKind::Binding, {}));
  EXPECT_FALSE(check(PlaceKind::Weight, {}));
}

TEST_F(AttributeTest, ArgumentsAreConsistent) {
  Builder builder(&context);
  auto symbol = FlatSymbolRefAttr::get(&context, "x");
  auto check = [&](SlotKind kind, FlatSymbolRefAttr symbol, TypedAttr value) {
    messages.clear();
    return ArgAttr::getChecked([&] { return emitError(); }, &context, kind,
                               symbol, int64_t(0), int64_t(0), value);
  };
  TypedAttr one = builder.getI32IntegerAttr(1);
  EXPECT_TRUE(check(SlotKind::Null, {}, {}));
  EXPECT_TRUE(check(SlotKind::Value, {}, one));
  EXPECT_TRUE(check(SlotKind::Weight, symbol, {}));
  EXPECT_FALSE(check(SlotKind::Weight, {}, {}));
  EXPECT_NE(messages.find("arg C1: "), std::string::npos) << messages;
  EXPECT_FALSE(check(SlotKind::Null, symbol, {}));
  EXPECT_FALSE(check(SlotKind::Value, {}, {}));
  EXPECT_NE(messages.find("arg C3: "), std::string::npos) << messages;
  EXPECT_FALSE(check(SlotKind::Arena, {}, one));
}

TEST_F(AttributeTest, ArgumentBitsAreZeroExtended) {
  Builder builder(&context);
  EXPECT_EQ(ArgAttr::getValue(builder.getI32IntegerAttr(-1)).getBits(),
            0xffffffffu);
  EXPECT_EQ(ArgAttr::getValue(builder.getI64IntegerAttr(-1)).getBits(),
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(ArgAttr::getValue(builder.getF32FloatAttr(-2.0f)).getBits(),
            0xc0000000u);
  EXPECT_EQ(ArgAttr::getValue(builder.getF64FloatAttr(1.0)).getBits(),
            0x3ff0000000000000u);
  EXPECT_EQ(ArgAttr::getNull(&context).getBits(), 0u);
}

TEST_F(AttributeTest, ArgumentsFromPlaces) {
  auto symbol = FlatSymbolRefAttr::get(&context, "x");
  EXPECT_EQ(ArgAttr::fromPlace(
                PlaceAttr::get(&context, PlaceKind::Arena, {}, 256, 64)),
            ArgAttr::getArena(&context, 256, 64));
  EXPECT_EQ(ArgAttr::fromPlace(
                PlaceAttr::get(&context, PlaceKind::Binding, symbol, 0, 64)),
            ArgAttr::getBinding(&context, "x", 0, 64));
  EXPECT_EQ(ArgAttr::fromPlace(
                PlaceAttr::get(&context, PlaceKind::Weight, symbol, 0, 64)),
            ArgAttr::getWeight(&context, "x", 0, 64));
}

TEST_F(AttributeTest, ScaleShapes) {
  auto square = BlockScaleAttr::get128x128(&context);
  EXPECT_EQ(square.getScaleShape({144, 2048}),
            (SmallVector<int64_t, 2>{2, 16}));
  EXPECT_EQ(square.getScaleShape({ShapedType::kDynamic, 1}),
            (SmallVector<int64_t, 2>{ShapedType::kDynamic, 1}));
  EXPECT_EQ(square.getSpelling(), "128x128:f32");
  EXPECT_EQ(BlockScaleAttr::get1x128(&context).getSpelling(), "1x128:f32");
}

TEST_F(AttributeTest, Spellings) {
  EXPECT_EQ(EpilogueAttr::get(&context).getSpelling(), "none");
  EXPECT_EQ(EpilogueAttr::get(&context, Activation::SiLU, true).getSpelling(),
            "gated_silu");
  EXPECT_EQ(GuardAttr::get(&context, 1, 64).getSpelling(), "1..64");
  EXPECT_EQ(GuardAttr::get(&context, 7).getSpelling(), "7");
  EXPECT_EQ(LayoutAttr::get(&context, "n16k16").getSpelling(), "n16k16");
}

TEST_F(AttributeTest, ElementTypesAndBack) {
  for (ElementType type : allElementTypes())
    EXPECT_EQ(getElementType(getBuiltinType(&context, type)), type)
        << elementTypeName(type).str();
  EXPECT_FALSE(getElementType(IndexType::get(&context)));
  EXPECT_FALSE(getElementType(IntegerType::get(&context, 7)));
  // A truth value takes a byte.
  EXPECT_EQ(getElementType(IntegerType::get(&context, 1)), ElementType::U8);
}

TEST_F(AttributeTest, TensorTypes) {
  Type f32 = Float32Type::get(&context);
  auto plain = RankedTensorType::get({32, 16}, f32);
  auto layout = LayoutAttr::get(&context, "n16k16");
  auto packed = withLayout(plain, layout);
  EXPECT_EQ(packed.getEncoding(), layout);
  EXPECT_EQ(getLayout(packed), layout);
  EXPECT_FALSE(isRowMajor(packed));
  EXPECT_TRUE(isRowMajor(plain));
  EXPECT_EQ(withLayout(packed, LayoutAttr::get(&context, "row_major")), plain);
  EXPECT_EQ(withLayout(packed, {}), plain);
  EXPECT_EQ(getLayoutSpelling(packed), "n16k16");
  EXPECT_EQ(getLayoutSpelling(plain), "row_major");
  EXPECT_EQ(getTensorBytes(packed), 2048);
  EXPECT_FALSE(
      getTensorBytes(RankedTensorType::get({ShapedType::kDynamic, 16}, f32)));
  int64_t huge = int64_t(1) << 40;
  EXPECT_FALSE(getTensorBytes(RankedTensorType::get({huge, huge}, f32)));
  // An encoding that is not a layout is no row-major tensor either.
  auto foreign =
      RankedTensorType::get({4}, f32, StringAttr::get(&context, "csr"));
  EXPECT_FALSE(getLayout(foreign));
  EXPECT_FALSE(isRowMajor(foreign));
  EXPECT_EQ(getLayoutSpelling(foreign), "\"csr\"");
}

TEST_F(AttributeTest, PackGrowsByASecondStep) {
  auto symbol = FlatSymbolRefAttr::get(&context, "w");
  auto pack = PackAttr::get(&context, Attribute(symbol), 0, {});
  auto cast = pack.append(TypeAttr::get(Float32Type::get(&context)));
  auto both = cast.append(LayoutAttr::get(&context, "n16k16"));
  std::string text;
  llvm::raw_string_ostream(text) << both;
  EXPECT_EQ(text, "#netra.pack<@w then cast f32 then layout n16k16>");
  auto made = both.getResultType(
      RankedTensorType::get({32, 16}, BFloat16Type::get(&context)),
      [&] { return emitError(); });
  ASSERT_TRUE(succeeded(made));
  EXPECT_EQ(*made, withLayout(RankedTensorType::get({32, 16},
                                                    Float32Type::get(&context)),
                              LayoutAttr::get(&context, "n16k16")));
}

TEST_F(AttributeTest, BindingIndexIsNotNegative) {
  // In an engine, C2 of the engine reports it before.
  OpBuilder builder(&context);
  auto type = RankedTensorType::get({4}, builder.getF32Type());
  OwningOpRef<BindingOp> binding(
      BindingOp::create(builder, builder.getUnknownLoc(), "x",
                        BindingKind::Input, int64_t(-1), type));
  EXPECT_TRUE(failed(binding->verify()));
  EXPECT_NE(messages.find("C1: the type must be static and the index not "
                          "negative, found 'tensor<4xf32>' and -1"),
            std::string::npos)
      << messages;
}

TEST_F(AttributeTest, BuildersMakeValidOperations) {
  auto module = parse("netra.profile @p {m = #netra.guard<1>, batch = "
                      "#netra.guard<1>, sequence = #netra.guard<0>}");
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  Location loc = builder.getUnknownLoc();
  auto bf16 = builder.getBF16Type();
  auto parameter = ParameterOp::create(
      builder, loc, "w", RankedTensorType::get({16, 256}, bf16), "w");
  auto func = func::FuncOp::create(
      builder, loc, "f",
      builder.getFunctionType(RankedTensorType::get({1, 256}, bf16), {}));
  auto engine =
      EngineOp::create(builder, loc, "e", TargetAttr::get(&context, "gfx950"));
  builder.setInsertionPointToEnd(func.addEntryBlock());
  Value x = func.getArgument(0);
  Value w = GetOp::create(builder, loc, parameter);
  DenseOp::create(builder, loc, RankedTensorType::get({1, 16}, bf16), x, w);
  auto row = RankedTensorType::get({256}, bf16);
  Value scale = ConstantOp::create(
      builder, loc, row,
      DenseElementsAttr::get(row, builder.getFloatAttr(bf16, 1.0)));
  RMSNormOp::create(builder, loc, x, scale, x, builder.getF32FloatAttr(1e-6f));
  QuantizeBlocksOp::create(builder, loc, x, BlockScaleAttr::get1x128(&context));
  FallbackOp::create(builder, loc, x.getType(), "f", x, "r");
  func::ReturnOp::create(builder, loc);

  builder.setInsertionPointToEnd(&engine.getBody().front());
  auto type = RankedTensorType::get({4}, bf16);
  BindingOp::create(builder, loc, "x", BindingKind::Input, int64_t(0), type);
  auto weights = WeightsOp::create(builder, loc, int64_t(8));
  PlanOp::create(builder, loc, "p", "p", int64_t(0));
  builder.setInsertionPointToEnd(&weights.getBody().front());
  Attribute source =
      PackSourceAttr::get(&context, builder.getStringAttr("w"), type);
  WeightOp::create(builder, loc, "w", int64_t(0), int64_t(8), type,
                   PackAttr::get(&context, source, 0, {}));
  EXPECT_TRUE(succeeded(verify(*module))) << messages;
  EXPECT_EQ(engine.getWeights(), weights);
  EXPECT_FALSE(engine.lookupContract("x"));
}

} // namespace
