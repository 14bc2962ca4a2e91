//===- Verification.h - What verifiers of operations share ------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_IR_VERIFICATION_H
#define NETRA_LIB_IR_VERIFICATION_H

#include "TensorType.h"

#include "Netra/IR/NetraAttributes.h"

#include "mlir/IR/Operation.h"

namespace netra {

/// A dynamic extent may turn out to be any other one.
bool agree(int64_t lhs, int64_t rhs);
bool agree(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

/// An extent divided exactly; a dynamic one stays dynamic.
inline int64_t divided(int64_t extent, int64_t by) {
  return mlir::ShapedType::isDynamic(extent) ? extent : extent / by;
}

/// "[?, 2048]"
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Checks that operand or result `name` has this shape.
mlir::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef constraint,
                                llvm::StringRef name, mlir::Value value,
                                llvm::ArrayRef<int64_t> shape);

/// Checks that `scales` are the scales of a matrix of `shape`.
mlir::LogicalResult
verifyScales(mlir::Operation *op, llvm::StringRef constraint,
             llvm::StringRef name, mlir::RankedTensorType scales,
             BlockScaleAttr meaning, llvm::ArrayRef<int64_t> shape);

/// Checks a block of a row-wise quantization of `columns` columns.
mlir::LogicalResult verifyRowBlock(mlir::Operation *op,
                                   llvm::StringRef constraint,
                                   BlockScaleAttr meaning, int64_t columns);

/// Checks the parts of an operation that may give its result quantized.
mlir::LogicalResult
verifyQuantizedResult(mlir::Operation *op, llvm::StringRef presence,
                      llvm::StringRef shape, mlir::Value result,
                      mlir::Value resultScale, BlockScaleAttr quantize);

/// Checks the numbers of a norm.
mlir::LogicalResult verifyNormNumbers(mlir::Operation *op,
                                      llvm::StringRef constraint,
                                      mlir::FloatAttr epsilon,
                                      mlir::FloatAttr weightOffset);

/// Checks C3 of norms of rows: what comes in and goes out beside x.
mlir::LogicalResult verifyResidual(mlir::Operation *op, mlir::Value x,
                                   mlir::Value residual, mlir::Value sum);

/// Checks the value that is stored beside its quantized form.
mlir::LogicalResult verifyRounded(mlir::Operation *op,
                                  llvm::StringRef constraint,
                                  mlir::Value rounded, mlir::Type expected,
                                  BlockScaleAttr quantize,
                                  bool lacksSum = false);

/// Checks what norms of rows have in common, C1 to C7.
template <typename OpT> mlir::LogicalResult verifyRowNorm(OpT op) {
  mlir::RankedTensorType x = tensorType(op.getX()),
                         weight = tensorType(op.getWeight());
  if (x.getRank() != 2 || !isRowMajor(weight) ||
      !agree(weight.getShape(), x.getShape().drop_front()))
    return op.emitOpError(
               "C1: 'x' must be [M, N] and 'weight' [N] and row-major, "
               "found ")
           << x << " and " << weight;
  if (mlir::failed(verifyNormNumbers(op, "C2", op.getEpsilonAttr(),
                                     op.getWeightOffsetAttr())) ||
      mlir::failed(
          verifyResidual(op, op.getX(), op.getResidual(), op.getSum())) ||
      mlir::failed(
          verifyShape(op, "C4", "result", op.getResult(), x.getShape())) ||
      mlir::failed(verifyQuantizedResult(op, "C5", "C6", op.getResult(),
                                         op.getResultScale(),
                                         op.getQuantizeAttr())))
    return mlir::failure();
  return verifyRounded(op, "C7", op.getRounded(), x, op.getQuantizeAttr(),
                       op.getResidual() && !op.getSum());
}

} // namespace netra

#endif // NETRA_LIB_IR_VERIFICATION_H
