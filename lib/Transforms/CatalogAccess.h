//===- CatalogAccess.h - The catalogue as passes see it ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TRANSFORMS_CATALOGACCESS_H
#define NETRA_LIB_TRANSFORMS_CATALOGACCESS_H

#include "Netra/Catalog/Catalog.h"

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace netra {

/// Loads the catalogue of `target`. On failure the faults are an error at `op`.
mlir::FailureOr<Catalog> loadCatalog(mlir::Operation *op,
                                     llvm::StringRef libraryRoot,
                                     llvm::StringRef target);

/// Emits `error` at `op`; what follows its first line becomes notes.
mlir::LogicalResult emitErrors(mlir::Operation *op, llvm::Error error);

/// The kernel that the `netra.tactic` attribute of `op` names: tactic, options
/// and contract id must agree with what the catalogue makes of the operation
/// now. Emits an error at `op` otherwise.
mlir::FailureOr<Instance> getInstance(mlir::Operation *op,
                                      const Catalog &catalog);

/// True for an operation whose results need memory and whose work needs a
/// kernel or the framework: everything but parameters, views and terminators.
bool isStep(mlir::Operation *op);

/// Whether the verifier of `op` accepts it; it says nothing.
bool isValid(mlir::Operation *op);

} // namespace netra

#endif // NETRA_LIB_TRANSFORMS_CATALOGACCESS_H
