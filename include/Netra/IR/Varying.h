//===- Varying.h - Problems of bounded profiles -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Under a profile that bounds a dimension, tensors have the greatest extent,
// and 'netra.varying' says of an operation which dimensions of its problem
// follow the serving point:
//
//   netra.varying = {dimensions = {M = {constant = 0, m = 1}},
//                    guards = {m = #netra.guard<1..64>}}
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_VARYING_H
#define NETRA_IR_VARYING_H

#include "Netra/Catalog/Contract.h"
#include "Netra/IR/NetraOps.h"

namespace netra {

inline constexpr llvm::StringLiteral kVaryingAttrName = "netra.varying";

/// What varies of `problem`, as attribute.
mlir::DictionaryAttr varyingToAttr(mlir::MLIRContext *context,
                                   const Problem &problem);

/// Gives `problem` what the attribute says. Fails on anything else.
mlir::LogicalResult varyingFromAttr(mlir::Attribute attribute,
                                    Problem &problem);

/// The problem of `op`, with what its 'netra.varying' says.
Problem getProblem(TacticOpInterface op);

} // namespace netra

#endif // NETRA_IR_VARYING_H
