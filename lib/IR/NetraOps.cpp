//===- NetraOps.cpp - Model-level operations: assembly and verifiers ------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A verifier reports a broken constraint by its number in the operation's
// description.
//
//===----------------------------------------------------------------------===//

#include "AsmDirectives.h"
#include "Verification.h"

#include "Netra/IR/NetraOps.h"

#include "Netra/Catalog/PackRecipe.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace netra;

//===----------------------------------------------------------------------===//
// Assembly directives
//===----------------------------------------------------------------------===//

static ParseResult parseVisibleSymbol(OpAsmParser &parser,
                                      StringAttr &visibility,
                                      StringAttr &name) {
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword,
                                            {"public", "private", "nested"})))
    visibility = parser.getBuilder().getStringAttr(keyword);
  return parser.parseSymbolName(name);
}

static void printVisibleSymbol(OpAsmPrinter &printer, Operation *,
                               StringAttr visibility, StringAttr name) {
  if (visibility)
    printer << visibility.getValue() << " ";
  printer.printSymbolName(name);
}

/// `%scale [by <block = ..., scale = ...>]`, with a meaning to assume.
static ParseResult
parseScale(OpAsmParser &parser,
           std::optional<OpAsmParser::UnresolvedOperand> &scale,
           BlockScaleAttr &meaning, BlockScaleAttr assumed) {
  if (parser.parseOperand(scale.emplace()))
    return failure();
  meaning = assumed;
  if (succeeded(parser.parseOptionalKeyword("by")))
    return parser.parseCustomAttributeWithFallback(meaning);
  return success();
}

static void printScale(OpAsmPrinter &printer, Value scale,
                       BlockScaleAttr meaning, BlockScaleAttr assumed) {
  printer << scale;
  if (meaning == assumed)
    return;
  printer << " by ";
  printer.printStrippedAttrOrType(meaning);
}

static ParseResult
parseRowScale(OpAsmParser &parser,
              std::optional<OpAsmParser::UnresolvedOperand> &scale,
              BlockScaleAttr &meaning) {
  return parseScale(parser, scale, meaning,
                    BlockScaleAttr::get1x128(parser.getContext()));
}

static void printRowScale(OpAsmPrinter &printer, Operation *op, Value scale,
                          BlockScaleAttr meaning) {
  printScale(printer, scale, meaning,
             BlockScaleAttr::get1x128(op->getContext()));
}

static ParseResult
parseSquareScale(OpAsmParser &parser,
                 std::optional<OpAsmParser::UnresolvedOperand> &scale,
                 BlockScaleAttr &meaning) {
  return parseScale(parser, scale, meaning,
                    BlockScaleAttr::get128x128(parser.getContext()));
}

static void printSquareScale(OpAsmPrinter &printer, Operation *op, Value scale,
                             BlockScaleAttr meaning) {
  printScale(printer, scale, meaning,
             BlockScaleAttr::get128x128(op->getContext()));
}

static ParseResult parseEpilogueBody(OpAsmParser &parser,
                                     EpilogueAttr &epilogue) {
  // As an attribute, this word would be a type.
  if (succeeded(parser.parseOptionalKeyword("none"))) {
    epilogue = EpilogueAttr::get(parser.getContext());
    return success();
  }
  // The full spelling of the attribute, or an alias, is accepted as well.
  Attribute attribute;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult full = parser.parseOptionalAttribute(attribute);
  if (full.has_value()) {
    if (failed(*full))
      return failure();
    epilogue = dyn_cast<EpilogueAttr>(attribute);
    if (!epilogue)
      return parser.emitError(loc)
             << "expected an epilogue, found " << attribute;
    return success();
  }
  epilogue = EpilogueAttr::parseBody(parser);
  return success(static_cast<bool>(epilogue));
}

static void printEpilogueBody(OpAsmPrinter &printer, Operation *,
                              EpilogueAttr epilogue) {
  epilogue.printBody(printer);
}

static ParseResult
parseRMSNormTypes(OpAsmParser &parser,
                  std::optional<OpAsmParser::UnresolvedOperand> &residual,
                  BlockScaleAttr quantize, Type &x, Type &weight,
                  Type &residualType, Type &result, Type &resultScale,
                  Type &sum, Type &rounded) {
  SmallVector<Type *> operands = {&x, &weight};
  if (residual)
    operands.push_back(&residualType);
  return parseNormTypes(parser, operands, residual.has_value(),
                        static_cast<bool>(quantize), result, resultScale, sum,
                        rounded);
}

static void printRMSNormTypes(OpAsmPrinter &printer, Operation *op, Value,
                              BlockScaleAttr, Type, Type, Type, Type, Type,
                              Type, Type) {
  printer.printFunctionalType(op);
}

static ParseResult
parseGatedTypes(OpAsmParser &parser,
                std::optional<OpAsmParser::UnresolvedOperand> &up,
                BlockScaleAttr quantize, Type &gate, Type &upType, Type &result,
                Type &resultScale, Type &rounded) {
  SmallVector<Type *> operands = {&gate}, results = {&result};
  if (up)
    operands.push_back(&upType);
  if (quantize)
    results.append({&resultScale, &rounded});
  return parseFunctionTypes(parser, operands, results, quantize ? 2 : 1);
}

static void printGatedTypes(OpAsmPrinter &printer, Operation *op, Value,
                            BlockScaleAttr, Type, Type, Type, Type, Type) {
  printer.printFunctionalType(op);
}

static ParseResult parseBinaryTypes(OpAsmParser &parser, Type &lhs, Type &rhs) {
  if (parser.parseType(lhs))
    return failure();
  rhs = lhs;
  if (succeeded(parser.parseOptionalComma()))
    return parser.parseType(rhs);
  return success();
}

static void printBinaryTypes(OpAsmPrinter &printer, Operation *, Type lhs,
                             Type rhs) {
  printer << lhs;
  if (rhs != lhs)
    printer << ", " << rhs;
}

#define GET_OP_CLASSES
#include "Netra/IR/NetraOps.cpp.inc"

//===----------------------------------------------------------------------===//
// ParameterOp and GetOp
//===----------------------------------------------------------------------===//

void ParameterOp::build(OpBuilder &builder, OperationState &state,
                        StringRef name, RankedTensorType type,
                        StringRef checkpoint) {
  build(builder, state, builder.getStringAttr(name), TypeAttr::get(type),
        builder.getStringAttr(checkpoint), PackAttr(), StringAttr());
}

void ParameterOp::build(OpBuilder &builder, OperationState &state,
                        StringRef name, RankedTensorType type, PackAttr pack) {
  build(builder, state, builder.getStringAttr(name), TypeAttr::get(type),
        StringAttr(), pack, StringAttr());
}

LogicalResult ParameterOp::verify() {
  RankedTensorType type = getTensorType();
  if (!type.hasStaticShape())
    return emitOpError("C1: the type must be static, found ") << type;
  if (getCheckpointAttr() && getPackAttr())
    return emitOpError("C2: expected 'checkpoint' or 'pack', found both");
  if (!getCheckpointAttr() && !getPackAttr())
    return emitOpError("C2: expected 'checkpoint' or 'pack', found neither");
  if (getCheckpointAttr() && (!isRowMajor(type) || getCheckpointAttr().empty()))
    return emitOpError("C3: a checkpoint tensor must be row-major and have a "
                       "name that is not empty, found ")
           << getCheckpointAttr() << " of type " << type;
  if (getCheckpointAttr())
    if (std::string why =
            PackSource::whyNotNamed(*getCheckpoint(), type.getShape());
        !why.empty())
      return emitOpError("C3: ") << why;
  if (getPackAttr() && !getPackAttr().isSymbolic())
    return emitOpError("C4: the sources of 'pack' must be symbols, found ")
           << getPackAttr();
  return success();
}

LogicalResult
ParameterOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (!getPackAttr())
    return success();

  SmallVector<RankedTensorType> types;
  for (Attribute source : getPackAttr().getSources()) {
    auto parameter = symbolTable.lookupNearestSymbolFrom<ParameterOp>(
        *this, cast<FlatSymbolRefAttr>(source));
    if (!parameter)
      return emitOpError("C4: ") << source << " is not a parameter";
    types.push_back(parameter.getTensorType());
  }

  // A parameter made from itself could never be packed.
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<ParameterOp> worklist = {*this};
  while (!worklist.empty()) {
    ParameterOp current = worklist.pop_back_val();
    if (!current.getPackAttr())
      continue;
    for (Attribute source : current.getPackAttr().getSources()) {
      auto symbol = dyn_cast<FlatSymbolRefAttr>(source);
      auto next =
          symbol
              ? symbolTable.lookupNearestSymbolFrom<ParameterOp>(*this, symbol)
              : ParameterOp();
      if (!next)
        continue;
      if (next == *this)
        return emitOpError("C4: the parameter is made from itself");
      if (seen.insert(next).second)
        worklist.push_back(next);
    }
  }

  FailureOr<RankedTensorType> made =
      getPackAttr().getResultType(types, [&] { return emitOpError("C5: "); });
  if (failed(made))
    return failure();
  if (*made != getTensorType())
    return emitOpError("C5: 'pack' gives ")
           << *made << ", but the parameter is " << getTensorType();
  return success();
}

void GetOp::build(OpBuilder &builder, OperationState &state,
                  ParameterOp parameter) {
  build(builder, state, parameter.getTensorType(),
        FlatSymbolRefAttr::get(parameter.getSymNameAttr()));
}

LogicalResult GetOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto parameter = symbolTable.lookupNearestSymbolFrom<ParameterOp>(
      *this, getParameterAttr());
  if (!parameter)
    return emitOpError("C1: ") << getParameterAttr() << " is not a parameter";
  if (parameter.getTensorType() != getResult().getType())
    return emitOpError("C2: ")
           << getParameterAttr() << " is " << parameter.getTensorType()
           << ", but the result is " << getResult().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  RankedTensorType type = tensorType(getResult());
  if (!type.hasStaticShape() || !isRowMajor(type))
    return emitOpError("C1: the type must be static and row-major, found ")
           << type;
  return success();
}

//===----------------------------------------------------------------------===//
// DenseOp
//===----------------------------------------------------------------------===//

void DenseOp::build(OpBuilder &builder, OperationState &state, Type result,
                    Value x, Value weight) {
  build(builder, state, result, x, weight, Value(), Value(), Value(), Value(),
        BlockScaleAttr(), BlockScaleAttr(), EpilogueAttr());
}

EpilogueAttr DenseOp::getEpilogueOrNone() {
  if (EpilogueAttr epilogue = getEpilogueAttr())
    return epilogue;
  return EpilogueAttr::get(getContext());
}

/// C3 and C4: scales.
static LogicalResult verifyDenseScales(DenseOp op, RankedTensorType x,
                                       RankedTensorType weight) {
  bool isFp8 = isa<Float8E4M3FNType>(x.getElementType());
  unsigned present =
      static_cast<unsigned>(op.getXScale() != nullptr) +
      static_cast<unsigned>(op.getWeightScale() != nullptr) +
      static_cast<unsigned>(op.getXBlockScaleAttr() != nullptr) +
      static_cast<unsigned>(op.getWeightBlockScaleAttr() != nullptr);
  if (present != (isFp8 ? 4 : 0))
    return op.emitOpError("C3: operands of type ")
           << x.getElementType() << " must have "
           << (isFp8 ? "both scales with their block scales"
                     : "neither scales nor block scales");
  if (!isFp8)
    return success();

  BlockScaleAttr xMeaning = op.getXBlockScaleAttr();
  BlockScaleAttr weightMeaning = op.getWeightBlockScaleAttr();
  if (xMeaning.getBlock()[0] != 1 ||
      xMeaning.getBlock()[1] != weightMeaning.getBlock()[1])
    return op.emitOpError("C4: a block of 'x' must have one row, and blocks of "
                          "'x' and 'weight' the same extent along K, found ")
           << xMeaning << " and " << weightMeaning;
  if (failed(verifyScales(op, "C4", "x_scale", tensorType(op.getXScale()),
                          xMeaning, x.getShape())))
    return failure();
  return verifyScales(op, "C4", "weight_scale", tensorType(op.getWeightScale()),
                      weightMeaning, weight.getShape());
}

LogicalResult DenseOp::verify() {
  RankedTensorType x = tensorType(getX()), weight = tensorType(getWeight());
  RankedTensorType result = tensorType(getResult());
  if (x.getRank() != 2 || weight.getRank() != 2 ||
      !agree(x.getDimSize(1), weight.getDimSize(1)))
    return emitOpError("C1: 'x' must be [M, K] and 'weight' [N, K], found ")
           << x << " and " << weight;
  if (x.getElementType() != weight.getElementType())
    return emitOpError("C2: 'x' and 'weight' must have the same element type, "
                       "found ")
           << x.getElementType() << " and " << weight.getElementType();
  if (failed(verifyDenseScales(*this, x, weight)))
    return failure();

  int64_t n = weight.getDimSize(0);
  bool gated = getEpilogueOrNone().getGated();
  if (gated && !ShapedType::isDynamic(n)) {
    if (n % 2 != 0)
      return emitOpError("C5: a gated epilogue needs an even number of weight "
                         "rows, found ")
             << n;
    n /= 2;
  }
  int64_t expected[] = {x.getDimSize(0), n};
  if (!agree(result.getShape(), expected))
    return emitOpError("C5: 'result' must have shape ")
           << shapeText(expected) << ", found " << result;

  if (getBias()) {
    RankedTensorType bias = tensorType(getBias());
    if (!isRowMajor(bias) || !agree(bias.getShape(), weight.getDimSize(0)) ||
        (bias.getElementType() != result.getElementType() &&
         !bias.getElementType().isF32()))
      return emitOpError("C6: 'bias' must be row-major with shape ")
             << shapeText(weight.getDimSize(0)) << " and element type "
             << result.getElementType() << " or f32, found " << bias;
  }
  if (getResidual()) {
    RankedTensorType residual = tensorType(getResidual());
    if (!agree(residual.getShape(), result.getShape()) ||
        residual.getElementType() != result.getElementType())
      return emitOpError("C7: 'residual' must have the shape and element type "
                         "of 'result', ")
             << result << ", found " << residual;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// RMSNormOp
//===----------------------------------------------------------------------===//

void RMSNormOp::build(OpBuilder &builder, OperationState &state, Value x,
                      Value weight, Value residual, FloatAttr epsilon,
                      FloatAttr weightOffset) {
  build(builder, state, x.getType(), Type(), residual ? x.getType() : Type(),
        Type(), x, weight, residual, epsilon,
        weightOffset ? weightOffset : builder.getF32FloatAttr(0.0f),
        BlockScaleAttr());
}

LogicalResult RMSNormOp::verify() { return verifyRowNorm(*this); }

//===----------------------------------------------------------------------===//
// GatedOp and QuantizeBlocksOp
//===----------------------------------------------------------------------===//

void GatedOp::build(OpBuilder &builder, OperationState &state, Type result,
                    Value gate, Value up, Activation activation) {
  build(builder, state, result, Type(), Type(), gate, up, activation,
        BlockScaleAttr(), /*round_activation=*/false);
}

LogicalResult GatedOp::verify() {
  RankedTensorType gate = tensorType(getGate());
  if (gate.getRank() != 2)
    return emitOpError("C1: 'gate' must have rank 2, found ") << gate;
  if (getUp() && getUp().getType() != gate)
    return emitOpError("C1: 'up' must have the type of 'gate', ")
           << gate << ", found " << getUp().getType();
  int64_t columns = gate.getDimSize(1);
  if (isPacked() && !ShapedType::isDynamic(columns)) {
    if (columns % 2 != 0)
      return emitOpError("C1: a packed operand must have an even number of "
                         "columns, found ")
             << columns;
    columns /= 2;
  }
  if (getActivation() == Activation::None)
    return emitOpError("C2: the activation must not be none");
  int64_t expected[] = {gate.getDimSize(0), columns};
  RankedTensorType result = tensorType(getResult());
  if (!agree(result.getShape(), expected) ||
      (!getQuantizeAttr() && !isa<Float8E4M3FNType>(result.getElementType()) &&
       result.getElementType() != gate.getElementType()))
    return emitOpError("C3: 'result' must have shape ")
           << shapeText(expected) << " and element type "
           << gate.getElementType() << ", found " << result;
  if (failed(verifyQuantizedResult(*this, "C4", "C5", getResult(),
                                   getResultScale(), getQuantizeAttr())) ||
      failed(
          verifyRounded(*this, "C6", getRounded(),
                        RankedTensorType::get(expected, gate.getElementType()),
                        getQuantizeAttr())))
    return failure();
  if (getRoundActivation() && !gate.getElementType().isBF16())
    return emitOpError("C7: 'round_activation' needs a 'gate' of bf16, found ")
           << gate;
  return success();
}

void QuantizeBlocksOp::build(OpBuilder &builder, OperationState &state, Value x,
                             BlockScaleAttr scale) {
  RankedTensorType type = tensorType(x);
  build(builder, state,
        RankedTensorType::get(type.getShape(),
                              Float8E4M3FNType::get(builder.getContext())),
        RankedTensorType::get(scale.getScaleShape(type.getShape()),
                              scale.getScale()),
        x, scale);
}

LogicalResult QuantizeBlocksOp::verify() {
  RankedTensorType x = tensorType(getX());
  if (x.getRank() != 2)
    return emitOpError("C1: 'x' must have rank 2, found ") << x;
  if (failed(verifyRowBlock(*this, "C2", getScale(), x.getDimSize(1))))
    return failure();
  if (failed(verifyShape(*this, "C3", "result", getResult(), x.getShape())))
    return failure();
  return verifyScales(*this, "C4", "result_scale", tensorType(getResultScale()),
                      getScale(), x.getShape());
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

LogicalResult ActivationOp::verify() {
  if (getActivation() == Activation::None)
    return emitOpError("C1: the activation must not be none");
  return success();
}

static LogicalResult verifyBinary(Operation *op) {
  RankedTensorType lhs = tensorType(op->getOperand(0));
  RankedTensorType rhs = tensorType(op->getOperand(1));
  if (lhs.getElementType() != rhs.getElementType())
    return op->emitOpError("C1: 'lhs' and 'rhs' must have the same element "
                           "type, found ")
           << lhs << " and " << rhs;
  if (rhs.getRank() > lhs.getRank() ||
      !agree(rhs.getShape(), lhs.getShape().take_back(rhs.getRank())))
    return op->emitOpError(
               "C2: 'rhs' must have the shape of 'lhs' without some "
               "leading dimensions, found ")
           << rhs << " for " << lhs;
  bool sameRank = lhs.getRank() == rhs.getRank();
  if (sameRank ? getLayout(lhs) != getLayout(rhs) : !isRowMajor(rhs))
    return op->emitOpError("C3: 'rhs' must ")
           << (sameRank ? "have the layout of 'lhs'" : "be row-major")
           << ", found " << rhs << " for " << lhs;
  return success();
}

LogicalResult AddOp::verify() { return verifyBinary(*this); }
LogicalResult MulOp::verify() { return verifyBinary(*this); }

LogicalResult CastOp::verify() {
  RankedTensorType x = tensorType(getX()), result = tensorType(getResult());
  if (x.getShape() != result.getShape() || getLayout(x) != getLayout(result))
    return emitOpError("C1: 'x' and 'result' must have the same shape and "
                       "layout, found ")
           << x << " and " << result;
  return success();
}

//===----------------------------------------------------------------------===//
// Shape and storage
//===----------------------------------------------------------------------===//

Value ReshapeOp::getViewSource() { return getX(); }

LogicalResult ReshapeOp::verify() {
  RankedTensorType x = tensorType(getX()), result = tensorType(getResult());
  if (x.getElementType() != result.getElementType())
    return emitOpError("C1: 'x' and 'result' must have the same element type, "
                       "found ")
           << x << " and " << result;
  if (!isRowMajor(x) || !isRowMajor(result))
    return emitOpError("C2: 'x' and 'result' must be row-major, found ")
           << x << " and " << result;
  if (x.hasStaticShape() != result.hasStaticShape() ||
      x.getNumDynamicDims() > 1 || result.getNumDynamicDims() > 1)
    return emitOpError("C3: 'x' and 'result' must both be static, or both have "
                       "one dynamic extent, found ")
           << x << " and " << result;
  if (x.hasStaticShape() && x.getNumElements() != result.getNumElements())
    return emitOpError("C3: 'x' and 'result' must have the same number of "
                       "elements, found ")
           << x << " and " << result;
  return success();
}

LogicalResult TransposeOp::verify() {
  RankedTensorType x = tensorType(getX()), result = tensorType(getResult());
  SmallVector<int64_t> sorted(getPermutation());
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, x.getRank())))
    return emitOpError("C1: 'permutation' must be a permutation of the ")
           << x.getRank() << " dimensions of 'x', found "
           << shapeText(getPermutation());
  SmallVector<int64_t> expected;
  for (int64_t dim : getPermutation())
    expected.push_back(x.getDimSize(dim));
  if (!agree(result.getShape(), expected) ||
      result.getElementType() != x.getElementType())
    return emitOpError("C2: 'result' must have shape ")
           << shapeText(expected) << " and element type " << x.getElementType()
           << ", found " << result;
  if (!isRowMajor(x) || !isRowMajor(result))
    return emitOpError("C3: 'x' and 'result' must be row-major, found ")
           << x << " and " << result;
  return success();
}

LogicalResult LayoutConvertOp::verify() {
  RankedTensorType x = tensorType(getX()), result = tensorType(getResult());
  if (x.getShape() != result.getShape() ||
      x.getElementType() != result.getElementType())
    return emitOpError("C1: 'x' and 'result' must have the same shape and "
                       "element type, found ")
           << x << " and " << result;
  return success();
}
