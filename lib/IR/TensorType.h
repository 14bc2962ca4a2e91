//===- TensorType.h - The type of a tensor operand --------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_IR_TENSORTYPE_H
#define NETRA_LIB_IR_TENSORTYPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace netra {

/// Operands and results of netra operations are ranked tensors; the verifier
/// has seen to it.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace netra

#endif // NETRA_LIB_IR_TENSORTYPE_H
