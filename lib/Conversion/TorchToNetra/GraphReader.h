//===- GraphReader.h - Reading a torch graph -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
// Questions that matching asks of torch values and operations. Nothing here
// changes the graph.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CONVERSION_TORCHTONETRA_GRAPHREADER_H
#define NETRA_LIB_CONVERSION_TORCHTONETRA_GRAPHREADER_H

#include "Netra/Conversion/Torch/Torch.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>

namespace netra::importer {

/// The parts one after the other, as a raw_ostream prints them.
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (stream << ... << parts);
  return text;
}

/// Name of an operation as a user knows it: for `torch.operator "name"` the
/// quoted name is part of it.
std::string describe(mlir::Operation *op);

/// Name of the operation that defines a value, or empty for arguments.
llvm::StringRef definingName(mlir::Value value);

/// The builtin tensor type of a torch or builtin tensor value; null when rank
/// or element type is unknown.
mlir::RankedTensorType tensorTypeOf(mlir::Value value);

/// True for tensor types that a netra operation can carry.
bool isNetraTensor(mlir::RankedTensorType type);

/// bf16, f16 or f32: the types that netra computes in.
bool isComputeType(mlir::Type element);

/// True when every value of `from` is a value of `to`.
bool isWidening(mlir::Type from, mlir::Type to);

/// Spelling of a type in a diagnostic; "an unknown type" for null.
std::string spell(mlir::Type type);

/// Spelling of a shape: [1,?,2048].
std::string spell(llvm::ArrayRef<int64_t> shape);

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::optional<int64_t> constantInt(mlir::Value value);
/// The value of a constant int or float.
std::optional<double> constantNumber(mlir::Value value);
std::optional<bool> constantBool(mlir::Value value);
std::optional<llvm::StringRef> constantStr(mlir::Value value);
bool isConstantNone(mlir::Value value);
/// The elements of a list of constant integers.
std::optional<llvm::SmallVector<int64_t>> constantIntList(mlir::Value value);
/// The one number that every element of a literal has.
std::optional<double> splatLiteral(mlir::Value value);

/// True when `value` is a constant number or a literal equal to `expected`.
bool isNumber(mlir::Value value, double expected);

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// `dimension` counted from 0 for a tensor of this rank; nothing when it is out
/// of range.
std::optional<int64_t> normalizeDimension(int64_t dimension, int64_t rank);

unsigned countDynamic(llvm::ArrayRef<int64_t> shape);

/// The rank-2 form [product of the leading sizes, last size]; nothing for rank
/// 0 or when more than one size would be unknown in a collapse.
std::optional<llvm::SmallVector<int64_t>>
rowsShape(mlir::RankedTensorType type);

/// The sizes without leading ones.
llvm::ArrayRef<int64_t> dropLeadingOnes(llvm::ArrayRef<int64_t> shape);

//===----------------------------------------------------------------------===//
// Walking back through the graph
//===----------------------------------------------------------------------===//

/// An operation that gives its first operand unchanged (detach, clone,
/// contiguous, ...), or null.
bool isIdentity(mlir::Operation *op);

/// A conversion of element type alone (prims.convert_element_type, to.dtype,
/// to.dtype_layout).
bool isConversion(mlir::Operation *op);

/// The value behind identities and behind conversions to the same type.
mlir::Value skipIdentities(mlir::Value value);

/// The value behind identities and widening conversions between compute types.
mlir::Value skipWidening(mlir::Value value);

/// The value behind identities and any conversion between compute types.
mlir::Value skipConversions(mlir::Value value);

/// The operation of this name that defines `value`, or null.
mlir::Operation *definedBy(mlir::Value value, llvm::StringRef name);

/// The number of uses, without statements about the value's shape.
unsigned countUses(mlir::Value value);

} // namespace netra::importer

#endif // NETRA_LIB_CONVERSION_TORCHTONETRA_GRAPHREADER_H
