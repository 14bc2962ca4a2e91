//===- EngineDecisions.h - The decision table of an engine ------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_ENGINEDECISIONS_H
#define NETRA_IR_ENGINEDECISIONS_H

#include "Netra/Catalog/Decision.h"
#include "Netra/IR/NetraOps.h"

namespace netra {

/// The guards that a profile states.
GuardBox getGuards(ProfileOp profile);

/// The boxes of the attribute `domain` of an engine, which may be null.
llvm::Expected<std::vector<GuardBox>> domainFromAttr(mlir::ArrayAttr attribute);
mlir::ArrayAttr domainToAttr(mlir::MLIRContext *context,
                             llvm::ArrayRef<GuardBox> domain);

/// The table that follows from the profiles of the plans, which stand beside
/// the engine, and from its domain.
llvm::Expected<DecisionTable> compileDecisions(EngineOp engine);

/// Adds the decisions of `table` at the end of the engine.
void addDecisions(mlir::OpBuilder &builder, EngineOp engine,
                  const DecisionTable &table);

} // namespace netra

#endif // NETRA_IR_ENGINEDECISIONS_H
