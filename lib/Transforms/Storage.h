//===- Storage.h - Where the values of a function live ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TRANSFORMS_STORAGE_H
#define NETRA_LIB_TRANSFORMS_STORAGE_H

#include "Netra/IR/NetraOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace netra {

/// Offsets in the arena, in bindings and in the buffer of weights are multiples
/// of this; it is the unit of a memory transaction of the targets, doubled.
constexpr int64_t kBufferAlignment = 256;

/// Discardable attribute with the `#netra.place` of an operation's workspace.
constexpr llvm::StringLiteral kWorkspaceAttrName("workspace");

/// The value whose bytes `value` shows: looks through views.
mlir::Value getStorage(mlir::Value value);

/// Name of the binding for an argument or result: its `netra.state`, else its
/// `netra.name`, else "arg<i>" or "result<i>".
std::string getArgumentName(mlir::func::FuncOp func, unsigned index);
std::string getResultName(mlir::func::FuncOp func, unsigned index);

/// The state an argument or result belongs to; empty when it belongs to none.
llvm::StringRef getArgumentState(mlir::func::FuncOp func, unsigned index);
llvm::StringRef getResultState(mlir::func::FuncOp func, unsigned index);

/// The terminator of the only block.
mlir::func::ReturnOp getReturn(mlir::func::FuncOp func);

} // namespace netra

#endif // NETRA_LIB_TRANSFORMS_STORAGE_H
