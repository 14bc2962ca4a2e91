//===- MsgPack.h - A bounded MessagePack reader -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_RUNTIME_MSGPACK_H
#define NETRA_RUNTIME_MSGPACK_H

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace netra::rt {

/// A parsed value. Strings point into the bytes it was parsed from. Extension
/// types, which AMDGPU metadata does not use, are not accepted.
struct MsgPack {
  enum class Kind : uint8_t {
    Nil,
    Boolean,
    Unsigned,
    Signed, // negative only
    Float,
    String,
    Binary,
    Array,
    Map
  };
  Kind kind = Kind::Nil;
  uint64_t number = 0; // Boolean, Unsigned; Signed as two's complement
  std::string_view text;
  std::vector<MsgPack> elements; // Array; Map: key, value, key, value, …

  /// The value of a string key of a map.
  const MsgPack *find(std::string_view key) const;
  std::optional<uint64_t> getUnsigned(std::string_view key) const;
  std::optional<std::string_view> getString(std::string_view key) const;

  /// Parses one value that fills `bytes` but for trailing zero padding. Nothing
  /// for malformed input or nesting deeper than 32.
  static std::optional<MsgPack> parse(std::span<const uint8_t> bytes);
};

} // namespace netra::rt

#endif // NETRA_RUNTIME_MSGPACK_H
