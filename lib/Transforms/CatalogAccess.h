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

#include <map>
#include <memory>

namespace netra {

/// Loads the catalogue of `target`. On failure the faults are an error at `op`.
mlir::FailureOr<Catalog> loadCatalog(mlir::Operation *op,
                                     llvm::StringRef libraryRoot,
                                     llvm::StringRef target);

/// `problem` with the layouts that `tactic` asks for, where it does not take
/// those that are there; of operands with other roles than `role`, if given,
/// the layouts stay.
Problem inLayoutsOf(const Tactic &tactic, const Problem &problem,
                    llvm::StringRef role = "");

/// Emits `error` at `op`; what follows its first line becomes notes.
mlir::LogicalResult emitErrors(mlir::Operation *op, llvm::Error error);

/// The kernel that the `netra.tactic` attribute of `op` names: tactic, options
/// and contract id must agree with what the catalogue makes of the operation
/// now. Emits an error at `op` otherwise.
mlir::FailureOr<Instance> getInstance(mlir::Operation *op,
                                      const Catalog &catalog);

/// What decides which kernel an operation needs: its kind, its own attributes
/// and the types of its operands and results. Operations with equal keys pose
/// equal problems, which a model with many equal layers does all the time.
using OperationKey = llvm::SmallVector<const void *, 16>;
OperationKey getOperationKey(mlir::Operation *op);

/// getInstance for many operations; equal ones share the answer.
class InstanceMemo {
public:
  explicit InstanceMemo(const Catalog &catalog) : catalog(catalog) {}

  mlir::FailureOr<const Instance *> get(mlir::Operation *op);

private:
  const Catalog &catalog;
  std::map<OperationKey, std::unique_ptr<Instance>> known;
};

/// True for an operation whose results need memory and whose work needs a
/// kernel or the framework: everything but parameters, views and terminators.
bool isStep(mlir::Operation *op);

/// Whether the verifier of `op` accepts it; it says nothing.
bool isValid(mlir::Operation *op);

} // namespace netra

#endif // NETRA_LIB_TRANSFORMS_CATALOGACCESS_H
