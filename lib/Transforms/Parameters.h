//===- Parameters.h - Weights and their packing recipes ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TRANSFORMS_PARAMETERS_H
#define NETRA_LIB_TRANSFORMS_PARAMETERS_H

#include "Netra/IR/NetraOps.h"

#include "mlir/IR/BuiltinOps.h"

namespace netra {

/// The parameter that holds `parameter` in the layout of `type`: one that
/// exists with this recipe, or a new one next to it. Only the layout of `type`
/// may differ from that of `parameter`.
ParameterOp getOrCreateInLayout(mlir::SymbolTable &symbols,
                                ParameterOp parameter,
                                mlir::RankedTensorType type);

/// Merges parameters with equal type and recipe, and erases parameters that
/// nothing uses.
void cleanParameters(mlir::ModuleOp module);

/// Erases operations without effects whose results are not used.
void eraseDeadOps(mlir::ModuleOp module);

} // namespace netra

#endif // NETRA_LIB_TRANSFORMS_PARAMETERS_H
