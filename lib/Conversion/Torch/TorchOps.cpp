//===- TorchOps.cpp - torch operations with their own spelling ------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Conversion/Torch/Torch.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace netra::torch;

//===----------------------------------------------------------------------===//
// Names of constants: %int1, %float1.000000e-02, %true, as torch-mlir has them
//===----------------------------------------------------------------------===//

void ConstantIntOp::getAsmResultNames(
    llvm::function_ref<void(Value, llvm::StringRef)> setNameFn) {
  SmallString<32> name;
  llvm::raw_svector_ostream(name) << "int" << getValueAttr().getInt();
  setNameFn(getResult(), name);
}

void ConstantFloatOp::getAsmResultNames(
    llvm::function_ref<void(Value, llvm::StringRef)> setNameFn) {
  SmallString<32> name("float");
  getValue().toString(name);
  // `+` cannot stand in the name of a value.
  llvm::erase(name, '+');
  setNameFn(getResult(), name);
}

void ConstantBoolOp::getAsmResultNames(
    llvm::function_ref<void(Value, llvm::StringRef)> setNameFn) {
  setNameFn(getResult(), getValue() ? "true" : "false");
}

void ConstantStrOp::getAsmResultNames(
    llvm::function_ref<void(Value, llvm::StringRef)> setNameFn) {
  setNameFn(getResult(), "str");
}

void ConstantDeviceOp::getAsmResultNames(
    llvm::function_ref<void(Value, llvm::StringRef)> setNameFn) {
  setNameFn(getResult(), getValue());
}

void ConstantNumberOp::getAsmResultNames(
    llvm::function_ref<void(Value, llvm::StringRef)> setNameFn) {
  setNameFn(getResult(), "number");
}

void ConstantNoneOp::getAsmResultNames(
    llvm::function_ref<void(Value, llvm::StringRef)> setNameFn) {
  setNameFn(getResult(), "none");
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

/// The literal must fill the result: same sizes where those are known, same
/// element type up to signedness.
static LogicalResult verifyLiteral(Operation *op, ElementsAttr value,
                                   Type resultType) {
  bool hasSizes;
  llvm::ArrayRef<int64_t> sizes;
  Type dtype;
  if (auto tensor = dyn_cast<VTensorType>(resultType)) {
    hasSizes = tensor.getHasSizes();
    sizes = tensor.getSizes();
    dtype = tensor.getDtype();
  } else {
    auto mutableTensor = cast<MutableTensorType>(resultType);
    hasSizes = mutableTensor.getHasSizes();
    sizes = mutableTensor.getSizes();
    dtype = mutableTensor.getDtype();
  }
  ShapedType valueType = value.getShapedType();
  if (hasSizes) {
    bool fits = valueType.hasRank() &&
                valueType.getRank() == static_cast<int64_t>(sizes.size());
    for (size_t i = 0; fits && i < sizes.size(); ++i)
      fits = sizes[i] == VTensorType::kUnknownSize ||
             sizes[i] == valueType.getDimSize(i);
    if (!fits)
      return op->emitOpError("expected a literal of the result's sizes ")
             << resultType << ", found " << valueType;
  }
  Type element = valueType.getElementType();
  bool sameElement = !dtype || dtype == element;
  if (!sameElement) {
    auto left = dyn_cast<IntegerType>(dtype);
    auto right = dyn_cast<IntegerType>(element);
    sameElement = left && right && left.getWidth() == right.getWidth();
  }
  if (!sameElement)
    return op->emitOpError("expected a literal of element type ")
           << dtype << ", found " << element;
  return success();
}

LogicalResult VTensorLiteralOp::verify() {
  return verifyLiteral(*this, getValue(), getResult().getType());
}

LogicalResult TensorLiteralOp::verify() {
  return verifyLiteral(*this, getValue(), getResult().getType());
}

//===----------------------------------------------------------------------===//
// Symbolic shapes
//===----------------------------------------------------------------------===//

/// A map is printed in place, never as an alias: each is used once, and the
/// text stays the one torch-mlir writes.
static void printInlineAffineMap(OpAsmPrinter &printer, Operation *,
                                 AffineMapAttr map) {
  printer << "affine_map<";
  map.getValue().print(printer.getStream());
  printer << ">";
}

static ParseResult parseInlineAffineMap(OpAsmParser &parser,
                                        AffineMapAttr &map) {
  return parser.parseAttribute(map);
}

LogicalResult BindSymbolicShapeOp::verify() {
  AffineMap map = getShapeExpressions();
  if (map.getNumDims() != 0)
    return emitOpError("expected a map without dimensions, found ")
           << map.getNumDims();
  if (map.getNumSymbols() != getShapeSymbols().size())
    return emitOpError("expected one symbol in the map for each of the ")
           << getShapeSymbols().size() << " symbolic integers, found "
           << map.getNumSymbols();
  if (auto tensor = dyn_cast<VTensorType>(getOperand().getType());
      tensor && tensor.getHasSizes() &&
      tensor.getSizes().size() != map.getNumResults())
    return emitOpError("expected one expression for each of the ")
           << tensor.getSizes().size() << " dimensions, found "
           << map.getNumResults();
  return success();
}

//===----------------------------------------------------------------------===//
// Borders
//===----------------------------------------------------------------------===//

/// Both sides of a border hold the same values: equal rank, sizes that do not
/// contradict each other, equal element types up to signedness.
static LogicalResult verifyBorder(Operation *op, VTensorType torchType,
                                  Type builtin) {
  auto builtinType = dyn_cast<RankedTensorType>(builtin);
  RankedTensorType expected = getBuiltinTensorType(torchType);
  // Whatever is not known on one side cannot contradict the other.
  if (!builtinType || !expected)
    return success();
  if (failed(
          verifyCompatibleShape(expected.getShape(), builtinType.getShape())))
    return op->emitOpError("expected sizes that agree, found ")
           << torchType << " and " << builtin;
  Type left = expected.getElementType();
  Type right = builtinType.getElementType();
  auto leftInt = dyn_cast<IntegerType>(left);
  auto rightInt = dyn_cast<IntegerType>(right);
  if (left != right &&
      !(leftInt && rightInt && leftInt.getWidth() == rightInt.getWidth()))
    return op->emitOpError("expected equal element types, found ")
           << torchType << " and " << builtin;
  return success();
}

LogicalResult FromBuiltinTensorOp::verify() {
  return verifyBorder(*this, cast<VTensorType>(getResult().getType()),
                      getOperand().getType());
}

LogicalResult ToBuiltinTensorOp::verify() {
  return verifyBorder(*this, cast<VTensorType>(getOperand().getType()),
                      getResult().getType());
}

#define GET_OP_CLASSES
#include "Netra/Conversion/Torch/TorchOps.cpp.inc"
