//===- NetraAttributes.h - Attributes of the netra dialect ------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The attributes of NetraAttributes.td, and what passes ask of tensor types.
// Attributes are immutable, owned by their context, and as thread-safe as it.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRAATTRIBUTES_H
#define NETRA_IR_NETRAATTRIBUTES_H

#include "Netra/Catalog/ElementType.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"

#include <optional>
#include <string>

namespace netra {
class PlaceAttr;
} // namespace netra

#include "Netra/IR/NetraEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Netra/IR/NetraAttributes.h.inc"

namespace netra {

/// The catalogue's element type of `type`; nothing when it has none. Signless
/// integers count as signed.
std::optional<ElementType> getElementType(mlir::Type type);

/// The builtin type of `type`; unsigned integers are `ui8`, `ui32`, ….
mlir::Type getBuiltinType(mlir::MLIRContext *context, ElementType type);

/// The layout of `type`; `row_major` when it has no encoding. Null when its
/// encoding is not a layout.
LayoutAttr getLayout(mlir::RankedTensorType type);

/// Canonical spelling of the layout of `type`: "row_major", "n16k16".
std::string getLayoutSpelling(mlir::RankedTensorType type);

/// True when `type` has no encoding or the layout `row_major`.
bool isRowMajor(mlir::RankedTensorType type);

/// `type` stored in `layout`; `row_major` (or null) is spelled as no encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  LayoutAttr layout);

/// Bytes of a tensor of `type`; nothing when it is dynamic, its elements cannot
/// be stored, or the size does not fit 63 bits. An `i1` takes a byte.
std::optional<int64_t> getTensorBytes(mlir::RankedTensorType type);

/// True for `nk_` and 24 lower-case hexadecimal digits.
bool isContractId(llvm::StringRef text);

} // namespace netra

#endif // NETRA_IR_NETRAATTRIBUTES_H
