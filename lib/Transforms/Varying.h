//===- Varying.h - What follows a bounded profile ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TRANSFORMS_VARYING_H
#define NETRA_LIB_TRANSFORMS_VARYING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace netra {

/// Gives each operation whose problem follows the serving point its
/// 'netra.varying'. `func` is specialised; what its profile leaves open stands
/// in 'netra.dims' of its arguments. Without such there is nothing to do.
mlir::LogicalResult annotateVarying(mlir::func::FuncOp func);

} // namespace netra

#endif // NETRA_LIB_TRANSFORMS_VARYING_H
