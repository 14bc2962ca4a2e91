//===- ElementType.h - Element types of tensors and arguments ---*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_ELEMENTTYPE_H
#define NETRA_CATALOG_ELEMENTTYPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace netra {

/// The element types of tensors and of by-value kernel arguments. The spelling
/// of `elementTypeName` is the one of MLIR's builtin types (unsigned integers
/// are `u8`, `u32`, …) and the one used in every manifest and bundle.
enum class ElementType : uint8_t {
  BF16,
  F16,
  F32,
  F64,
  F8E4M3FN,
  F8E5M2,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64
};

/// Every element type, in the order of the enumeration.
llvm::ArrayRef<ElementType> allElementTypes();

/// "bf16", "f8E4M3FN", "i32", …
llvm::StringRef elementTypeName(ElementType type);

/// The inverse of `elementTypeName`; nothing for an unknown spelling.
std::optional<ElementType> parseElementType(llvm::StringRef name);

/// Size of one element, in bits.
unsigned elementBits(ElementType type);

/// Size of one element, in bytes.
inline unsigned elementBytes(ElementType type) { return elementBits(type) / 8; }

bool isFloat(ElementType type);

/// Number of elements of a tensor. Fails when an extent is negative or the
/// product does not fit 63 bits.
llvm::Expected<uint64_t> elementCount(llvm::ArrayRef<int64_t> shape);

/// Number of bytes of a densely stored tensor. Fails as `elementCount` does.
llvm::Expected<uint64_t> tensorBytes(ElementType type,
                                     llvm::ArrayRef<int64_t> shape);

/// "1x2048xbf16", for messages.
std::string tensorName(ElementType type, llvm::ArrayRef<int64_t> shape);

} // namespace netra

#endif // NETRA_CATALOG_ELEMENTTYPE_H
