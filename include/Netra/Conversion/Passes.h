//===- Passes.h - Import passes --------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CONVERSION_PASSES_H
#define NETRA_CONVERSION_PASSES_H

#include "Netra/Conversion/Torch/Torch.h"
#include "Netra/IR/NetraDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"

namespace netra {

#define GEN_PASS_DECL
#include "Netra/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Netra/Conversion/Passes.h.inc"

/// Registers every dialect that an exported torch graph may be written in:
/// torch, torch_c, util, stream, flow and hal as this library accepts them, and
/// MLIR's arith, func, linalg, math and tensor for helper functions.
void registerImportDialects(mlir::DialectRegistry &registry);

} // namespace netra

#endif // NETRA_CONVERSION_PASSES_H
