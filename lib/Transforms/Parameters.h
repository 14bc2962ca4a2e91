//===- Parameters.h - Weights and their packing recipes ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TRANSFORMS_PARAMETERS_H
#define NETRA_LIB_TRANSFORMS_PARAMETERS_H

#include "Netra/IR/NetraOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace netra {

/// The packed parameters of a module by what they hold.
class PackedParameters {
public:
  explicit PackedParameters(mlir::ModuleOp module);

  ParameterOp lookup(llvm::StringRef name) {
    return symbols.lookup<ParameterOp>(name);
  }

  /// The parameter that holds `parameter` in the layout of `type`: one that
  /// exists with this recipe, or a new one next to it. Only the layout of
  /// `type` may differ from that of `parameter`.
  ParameterOp getOrCreateInLayout(ParameterOp parameter,
                                  mlir::RankedTensorType type);

private:
  mlir::SymbolTable symbols;
  /// By recipe and type; the first one of several.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, ParameterOp> known;
};

/// Merges parameters with equal type and recipe, and erases parameters that
/// nothing uses.
void cleanParameters(mlir::ModuleOp module);

/// Erases operations without effects whose results are not used.
void eraseDeadOps(mlir::ModuleOp module);

} // namespace netra

#endif // NETRA_LIB_TRANSFORMS_PARAMETERS_H
