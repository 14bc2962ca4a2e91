//===- Fusion.h - What operations that fuse share ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_IR_FUSION_H
#define NETRA_LIB_IR_FUSION_H

#include "Netra/IR/NetraOps.h"

namespace netra {

/// Sets `reason`, if wanted, and fails.
mlir::LogicalResult refuse(std::string *reason, const llvm::Twine &why);

/// The step that `consumer` is for `value`, whoever else uses that.
std::optional<EpilogueStep> getStep(mlir::Value value,
                                    mlir::Operation *consumer);

/// The step that `consumer` is for `value`, when it is the only user.
std::optional<EpilogueStep>
getOnlyStep(mlir::Value value, mlir::Operation *consumer, std::string *reason);

/// Attributes that a fused operation must not take along: a tactic and places
/// are those of the operation they were chosen for.
void copyDiscardableAttributes(mlir::Operation *from, mlir::Operation *to);

mlir::Location fuseLocations(mlir::Operation *first, mlir::Operation *second);

/// What `op`, which stands in no block, asks of a tactic; erases it.
Problem takeProblem(TacticOpInterface op);

} // namespace netra

#endif // NETRA_LIB_IR_FUSION_H
