//===- Torch.h - The thin torch dialect ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
// Types and operations of torch-mlir's textual form, as far as an exported
// graph needs them. See docs/import.md.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CONVERSION_TORCH_TORCH_H
#define NETRA_CONVERSION_TORCH_TORCH_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Netra/Conversion/Torch/TorchConversionDialect.h.inc"
#include "Netra/Conversion/Torch/TorchDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Netra/Conversion/Torch/TorchTypes.h.inc"

namespace netra::torch {

/// `!torch.<kind>`, e.g. isSimpleType(type, "int").
bool isSimpleType(mlir::Type type, llvm::StringRef kind);

/// `!torch.<kind><...>`, e.g. isContainerType(type, "list").
bool isContainerType(mlir::Type type, llvm::StringRef kind);

/// `!torch.tensor` with the sizes and element type of a `!torch.vtensor`, and
/// the other way round. Any other type is returned unchanged.
mlir::Type getMutableForm(mlir::Type type);
mlir::Type getValueForm(mlir::Type type);

/// The ranked builtin tensor that holds the same values: unknown sizes become
/// dynamic, signed integers become signless ones (`si64` to `i64`), as
/// torch-mlir's own border casts have it. Null when rank or element type is
/// unknown or the element type cannot stand in a builtin tensor.
mlir::RankedTensorType getBuiltinTensorType(mlir::Type torchType);

} // namespace netra::torch

#define GET_OP_CLASSES
#include "Netra/Conversion/Torch/TorchOps.h.inc"

#endif // NETRA_CONVERSION_TORCH_TORCH_H
