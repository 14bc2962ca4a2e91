//===- SymbolicDims.h - Names of dynamic dimensions ------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CONVERSION_TORCHTONETRA_SYMBOLICDIMS_H
#define NETRA_LIB_CONVERSION_TORCHTONETRA_SYMBOLICDIMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace netra::importer {

/// For each argument of `function` with an unknown size, one name or number per
/// dimension, from `torch.bind_symbolic_shape`: ["1", "s0", "2048"], or an
/// expression such as "s0 * 32". Arguments of which nothing is stated are
/// absent.
///
/// `renamed` gives new names. A symbol that is not in it and is the only one of
/// the function is called "m", the number of rows.
llvm::DenseMap<mlir::Value, llvm::SmallVector<std::string>>
readSymbolicDims(mlir::func::FuncOp function,
                 const llvm::StringMap<std::string> &renamed);

} // namespace netra::importer

#endif // NETRA_LIB_CONVERSION_TORCHTONETRA_SYMBOLICDIMS_H
