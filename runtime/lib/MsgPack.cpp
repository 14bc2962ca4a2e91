//===- MsgPack.cpp - A bounded MessagePack reader -------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MsgPack.h"

using namespace netra::rt;

namespace {

class Reader {
public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes(bytes) {}

  bool value(MsgPack &out, unsigned depth) {
    if (depth > 32)
      return false;
    std::optional<uint64_t> tag = bigEndian(1);
    if (!tag)
      return false;
    uint8_t t = uint8_t(*tag);
    if (t < 0x80)
      return number(out, MsgPack::Kind::Unsigned, t);
    if (t < 0x90)
      return items(out, MsgPack::Kind::Map, uint64_t(t & 15) * 2, depth);
    if (t < 0xa0)
      return items(out, MsgPack::Kind::Array, t & 15, depth);
    if (t < 0xc0)
      return string(out, MsgPack::Kind::String, t & 31);
    if (t >= 0xe0)
      return number(out, MsgPack::Kind::Signed, uint64_t(int64_t(int8_t(t))));
    switch (t) {
    case 0xc0:
      return true;
    case 0xc2:
    case 0xc3:
      return number(out, MsgPack::Kind::Boolean, t & 1);
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return sized(out, MsgPack::Kind::Binary, 1u << (t - 0xc4), depth);
    case 0xca:
    case 0xcb: {
      std::optional<uint64_t> bits = bigEndian(t == 0xca ? 4 : 8);
      return bits && number(out, MsgPack::Kind::Float, *bits);
    }
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: {
      std::optional<uint64_t> bits = bigEndian(1u << (t - 0xcc));
      return bits && number(out, MsgPack::Kind::Unsigned, *bits);
    }
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: {
      unsigned width = 1u << (t - 0xd0);
      std::optional<uint64_t> bits = bigEndian(width);
      if (!bits)
        return false;
      unsigned shift = 64 - 8 * width;
      int64_t extended = int64_t(*bits << shift) >> shift;
      return number(
          out, extended < 0 ? MsgPack::Kind::Signed : MsgPack::Kind::Unsigned,
          uint64_t(extended));
    }
    case 0xd9:
    case 0xda:
    case 0xdb:
      return sized(out, MsgPack::Kind::String, 1u << (t - 0xd9), depth);
    case 0xdc:
    case 0xdd:
      return sized(out, MsgPack::Kind::Array, t == 0xdc ? 2 : 4, depth);
    case 0xde:
    case 0xdf:
      return sized(out, MsgPack::Kind::Map, t == 0xde ? 2 : 4, depth);
    default:
      return false;
    }
  }

  bool atEnd() const {
    for (uint8_t byte : bytes)
      if (byte)
        return false;
    return true;
  }

private:
  std::optional<uint64_t> bigEndian(unsigned width) {
    if (bytes.size() < width)
      return std::nullopt;
    uint64_t result = 0;
    for (unsigned i = 0; i < width; ++i)
      result = result << 8 | bytes[i];
    bytes = bytes.subspan(width);
    return result;
  }

  bool number(MsgPack &out, MsgPack::Kind kind, uint64_t bits) {
    out.kind = kind;
    out.number = bits;
    return true;
  }

  bool string(MsgPack &out, MsgPack::Kind kind, uint64_t length) {
    if (bytes.size() < length)
      return false;
    out.kind = kind;
    out.text = {reinterpret_cast<const char *>(bytes.data()), size_t(length)};
    bytes = bytes.subspan(length);
    return true;
  }

  bool items(MsgPack &out, MsgPack::Kind kind, uint64_t count, unsigned depth) {
    // Each element takes a byte at least, which bounds what is allocated.
    if (count > bytes.size())
      return false;
    out.kind = kind;
    out.elements.resize(count);
    for (MsgPack &element : out.elements)
      if (!value(element, depth + 1))
        return false;
    return true;
  }

  bool sized(MsgPack &out, MsgPack::Kind kind, unsigned width, unsigned depth) {
    std::optional<uint64_t> count = bigEndian(width);
    if (!count)
      return false;
    if (kind == MsgPack::Kind::Array || kind == MsgPack::Kind::Map)
      return items(out, kind, kind == MsgPack::Kind::Map ? *count * 2 : *count,
                   depth);
    return string(out, kind, *count);
  }

  std::span<const uint8_t> bytes;
};

} // namespace

const MsgPack *MsgPack::find(std::string_view key) const {
  if (kind != Kind::Map)
    return nullptr;
  for (size_t i = 0; i + 1 < elements.size(); i += 2)
    if (elements[i].kind == Kind::String && elements[i].text == key)
      return &elements[i + 1];
  return nullptr;
}

std::optional<uint64_t> MsgPack::getUnsigned(std::string_view key) const {
  const MsgPack *value = find(key);
  if (!value || value->kind != Kind::Unsigned)
    return std::nullopt;
  return value->number;
}

std::optional<std::string_view> MsgPack::getString(std::string_view key) const {
  const MsgPack *value = find(key);
  if (!value || value->kind != Kind::String)
    return std::nullopt;
  return value->text;
}

std::optional<MsgPack> MsgPack::parse(std::span<const uint8_t> bytes) {
  Reader reader(bytes);
  MsgPack result;
  if (!reader.value(result, 0) || !reader.atEnd())
    return std::nullopt;
  return result;
}
