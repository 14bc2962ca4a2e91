//===- Fallback.h - What fallbacks and their steps share --------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Each check is a constraint; `constraint` is its number and comes first in the
// message.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_IR_FALLBACK_H
#define NETRA_LIB_IR_FALLBACK_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace netra {

/// Distinct names, as many as `expected`, or none at all.
llvm::LogicalResult verifyFallbackNames(mlir::Operation *op,
                                        llvm::StringRef constraint,
                                        llvm::StringRef attribute,
                                        mlir::ArrayAttr names, size_t expected);

/// For each output the number of an input of its type, or -1.
llvm::LogicalResult verifyFallbackUpdates(mlir::Operation *op,
                                          llvm::StringRef constraint,
                                          mlir::DenseI64ArrayAttr updates,
                                          llvm::ArrayRef<mlir::Type> inputs,
                                          llvm::ArrayRef<mlir::Type> outputs);

/// Booleans, 64-bit integers, f64 and strings.
llvm::LogicalResult verifyFallbackSettings(mlir::Operation *op,
                                           llvm::StringRef constraint,
                                           mlir::DictionaryAttr settings);

} // namespace netra

#endif // NETRA_LIB_IR_FALLBACK_H
