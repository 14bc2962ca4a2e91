//===- MsgPack.h - A bounds-checked MessagePack reader ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Code objects come from outside, so their metadata is read with a reader of
// our own that takes any bytes: LLVM's document reader assumes that map keys
// are scalars.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_MSGPACK_H
#define NETRA_LIB_TARGET_MSGPACK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace netra::msgpack {

/// A value; strings point into the bytes it was read from.
struct Value {
  enum class Kind : uint8_t {
    Nil,
    Boolean,
    Signed,
    Unsigned,
    Float,
    String,
    Binary,
    Array,
    Map
  };
  Kind kind = Kind::Nil;
  uint64_t bits =
      0; // Boolean, Signed (two's complement), Unsigned, Float (f64)
  llvm::StringRef text;        // String, Binary
  std::vector<Value> elements; // Array; Map: keys
  std::vector<Value> members;  // Map: values

  /// The member of a string key, or null.
  const Value *find(llvm::StringRef key) const;
  std::optional<uint64_t> asUnsigned() const;
};

/// Reads exactly one value that fills `bytes`.
llvm::Expected<Value> read(llvm::StringRef bytes);

} // namespace netra::msgpack

#endif // NETRA_LIB_TARGET_MSGPACK_H
