//===- Verification.cpp - What verifiers of operations share --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;

namespace netra {

bool agree(int64_t lhs, int64_t rhs) {
  return lhs == rhs || ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs);
}

bool agree(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  return lhs.size() == rhs.size() &&
         llvm::all_of_zip(lhs, rhs,
                          [](int64_t l, int64_t r) { return agree(l, r); });
}

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [index, extent] : llvm::enumerate(shape)) {
    text += index ? ", " : "";
    text += ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
  }
  return text + "]";
}

LogicalResult verifyScales(Operation *op, StringRef constraint, StringRef name,
                           RankedTensorType scales, BlockScaleAttr meaning,
                           ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 2> expected = meaning.getScaleShape(shape);
  if (!agree(scales.getShape(), expected) ||
      scales.getElementType() != meaning.getScale())
    return op->emitOpError()
           << constraint << ": '" << name << "' must have shape "
           << shapeText(expected) << " and element type " << meaning.getScale()
           << ", found " << scales;
  return success();
}

LogicalResult verifyRowBlock(Operation *op, StringRef constraint,
                             BlockScaleAttr meaning, int64_t columns) {
  ArrayRef<int64_t> block = meaning.getBlock();
  if (block[0] != 1)
    return op->emitOpError()
           << constraint << ": a block must have one row, found " << block[0];
  if (!ShapedType::isDynamic(columns) && columns % block[1] != 0)
    return op->emitOpError() << constraint << ": a block of " << block[1]
                             << " columns does not divide " << columns;
  return success();
}

LogicalResult verifyQuantizedResult(Operation *op, StringRef presence,
                                    StringRef shape, Value result,
                                    Value resultScale,
                                    BlockScaleAttr quantize) {
  RankedTensorType type = tensorType(result);
  bool isFp8 = isa<Float8E4M3FNType>(type.getElementType());
  bool quantized = static_cast<bool>(quantize);
  if (isFp8 != quantized || static_cast<bool>(resultScale) != quantized)
    return op->emitOpError()
           << presence
           << ": 'result_scale' must be present and 'result' be f8E4M3FN "
              "exactly when 'quantize' is present, found 'result' of type "
           << type << (resultScale ? " with" : " without")
           << " 'result_scale' and" << (quantized ? " with" : " without")
           << " 'quantize'";
  if (!quantized)
    return success();
  if (failed(verifyRowBlock(op, shape, quantize, type.getShape().back())))
    return failure();
  return verifyScales(op, shape, "result_scale", tensorType(resultScale),
                      quantize, type.getShape());
}

LogicalResult verifyShape(Operation *op, StringRef constraint, StringRef name,
                          Value value, ArrayRef<int64_t> shape) {
  if (!agree(tensorType(value).getShape(), shape))
    return op->emitOpError()
           << constraint << ": '" << name << "' must have shape "
           << shapeText(shape) << ", found " << value.getType();
  return success();
}

LogicalResult verifyNormNumbers(Operation *op, StringRef constraint,
                                FloatAttr epsilon, FloatAttr weightOffset) {
  if (!epsilon.getValue().isFinite() || epsilon.getValue().isNegative() ||
      !weightOffset.getValue().isFinite())
    return op->emitOpError()
           << constraint
           << ": 'epsilon' must be finite and not negative and "
              "'weight_offset' finite, found "
           << epsilon << " and " << weightOffset;
  return success();
}

LogicalResult verifyResidual(Operation *op, Value x, Value residual,
                             Value sum) {
  if (residual && residual.getType() != x.getType())
    return op->emitOpError("C3: 'residual' must have the type of 'x', ")
           << x.getType() << ", found " << residual.getType();
  if (sum && (!residual || sum.getType() != x.getType()))
    return op->emitOpError("C3: 'sum' needs 'residual' and must have the type "
                           "of 'x', ")
           << x.getType() << ", found " << sum.getType()
           << (residual ? "" : " without 'residual'");
  return success();
}

LogicalResult verifyRounded(Operation *op, StringRef constraint, Value rounded,
                            Type expected, BlockScaleAttr quantize,
                            bool lacksSum) {
  if (!rounded)
    return success();
  auto found = tensorType(rounded), type = cast<RankedTensorType>(expected);
  if (!quantize || lacksSum || !agree(found.getShape(), type.getShape()) ||
      found.getElementType() != type.getElementType())
    return op->emitOpError()
           << constraint << ": 'rounded' needs 'quantize'"
           << (lacksSum ? ", and 'sum' beside a 'residual'," : "")
           << " and must be " << type << ", found " << found
           << (quantize ? "" : " without 'quantize'")
           << (lacksSum ? " without 'sum'" : "");
  return success();
}

} // namespace netra
