//===- RegisterImportDialects.cpp - Dialects of exported graphs -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Conversion/IREE/IREE.h"
#include "Netra/Conversion/Passes.h"
#include "Netra/Conversion/Torch/Torch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

void netra::registerImportDialects(mlir::DialectRegistry &registry) {
  registry.insert<torch::TorchDialect, torch::TorchConversionDialect,
                  iree::UtilDialect, iree::StreamDialect, iree::FlowDialect,
                  iree::HALDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::tensor::TensorDialect>();
}
