//===- Tactics.h - Building problems of operations --------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What the implementations of `TacticOpInterface` share. Roles, dimensions and
// attributes are the vocabulary of the catalogue, documented in
// docs/dialect-rationale.md.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_IR_TACTICS_H
#define NETRA_LIB_IR_TACTICS_H

#include "TensorType.h"

#include "Netra/IR/NetraInterfaces.h"

namespace netra {

using Roles = llvm::SmallVectorImpl<std::pair<llvm::StringRef, mlir::Value>>;
using InPlace = llvm::SmallVector<std::pair<unsigned, unsigned>>;

/// Appends `value`, unless it is absent.
void addRole(Roles &roles, llvm::StringRef role, mlir::Value value);

/// Family, operation and operands; the caller adds dimensions and attributes.
Problem makeProblem(TacticOpInterface op, llvm::StringRef family,
                    llvm::StringRef operation);

/// The number as the problem has it. As f32 values: their shortest decimal
/// spelling as a double is not the one that a user has written, but the bits
/// are.
double problemNumber(const llvm::APFloat &number);

/// The attributes that all norms have.
void addNormAttributes(Problem &problem, const llvm::APFloat &epsilon,
                       const llvm::APFloat &weightOffset,
                       BlockScaleAttr quantize);

/// The pairs (result, operand) of a norm's sum: the normalised row needs all of
/// x, so that only the sum may take over.
InPlace getSumInPlace(mlir::Value sum, mlir::OpOperand &residual,
                      mlir::OpOperand &x);

} // namespace netra

#endif // NETRA_LIB_IR_TACTICS_H
