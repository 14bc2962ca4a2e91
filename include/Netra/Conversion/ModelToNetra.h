//===- ModelToNetra.h - Graphs of operations from descriptions --*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CONVERSION_MODELTONETRA_H
#define NETRA_CONVERSION_MODELTONETRA_H

#include "Netra/Catalog/Model.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace netra {

/// The graph of one step of a decoder: `func.func @decoder` from token ids to
/// logits, one operation of the dialect for each that it has, `netra.fallback`
/// for the others, and a `netra.parameter` for each tensor of the checkpoint.
/// Rows (tokens) are the dynamic dimension "m"; KV caches and recurrent states
/// are states of the function. `model` must be free of faults (verifyModel).
/// docs/models.md describes functions, names and shapes.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext *context,
                                              const ModelDescription &model);

} // namespace netra

#endif // NETRA_CONVERSION_MODELTONETRA_H
