//===- MsgPack.cpp - A bounds-checked MessagePack reader ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MsgPack.h"

#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace netra::msgpack {

const Value *Value::find(StringRef key) const {
  if (kind != Kind::Map)
    return nullptr;
  for (size_t i = 0; i != elements.size(); ++i)
    if (elements[i].kind == Kind::String && elements[i].text == key)
      return &members[i];
  return nullptr;
}

std::optional<uint64_t> Value::asUnsigned() const {
  if (kind == Kind::Unsigned || (kind == Kind::Signed && int64_t(bits) >= 0))
    return bits;
  return std::nullopt;
}

namespace {
class Parser {
public:
  explicit Parser(StringRef bytes) : rest(bytes), size(bytes.size()) {}

  Expected<Value> parse() {
    Value value;
    if (!readValue(value, 0))
      return createStringError("MessagePack: " + Twine(fault) + " at byte " +
                               Twine(size - rest.size()));
    if (!rest.empty())
      return createStringError("MessagePack: expected the end at byte " +
                               Twine(size - rest.size()) + ", found " +
                               Twine(rest.size()) + " bytes more");
    return value;
  }

private:
  static constexpr unsigned maxDepth = 32;

  bool fail(const char *message) {
    fault = message;
    return false;
  }

  bool readBig(unsigned bytes, uint64_t &value) {
    if (rest.size() < bytes)
      return fail("unexpected end");
    value = 0;
    for (unsigned i = 0; i != bytes; ++i)
      value = value << 8 | uint8_t(rest[i]);
    rest = rest.drop_front(bytes);
    return true;
  }

  bool readBytes(Value &value, Value::Kind kind, uint64_t length) {
    if (rest.size() < length)
      return fail("unexpected end of a string");
    value.kind = kind;
    value.text = rest.take_front(length);
    rest = rest.drop_front(length);
    return true;
  }

  bool readSized(Value &value, Value::Kind kind, unsigned sizeBytes) {
    uint64_t length;
    return readBig(sizeBytes, length) && readBytes(value, kind, length);
  }

  bool readArray(Value &value, uint64_t count, unsigned depth) {
    // Each element takes a byte at least, so a false count cannot make the
    // vectors larger than the input.
    if (count > rest.size())
      return fail("array longer than the input");
    value.kind = Value::Kind::Array;
    value.elements.reserve(count);
    for (uint64_t i = 0; i != count; ++i) {
      value.elements.emplace_back();
      if (!readValue(value.elements.back(), depth + 1))
        return false;
    }
    return true;
  }

  bool readMap(Value &value, uint64_t count, unsigned depth) {
    if (count > rest.size() / 2)
      return fail("map longer than the input");
    value.kind = Value::Kind::Map;
    value.elements.reserve(count);
    value.members.reserve(count);
    for (uint64_t i = 0; i != count; ++i) {
      value.elements.emplace_back();
      value.members.emplace_back();
      if (!readValue(value.elements.back(), depth + 1) ||
          !readValue(value.members.back(), depth + 1))
        return false;
    }
    return true;
  }

  bool readInteger(Value &value, Value::Kind kind, unsigned bytes) {
    value.kind = kind;
    if (!readBig(bytes, value.bits))
      return false;
    if (kind == Value::Kind::Signed && bytes < 8 &&
        (value.bits >> (8 * bytes - 1)) != 0)
      value.bits |= ~uint64_t(0) << (8 * bytes);
    return true;
  }

  bool readValue(Value &value, unsigned depth) {
    if (depth > maxDepth)
      return fail("too many nested levels");
    uint64_t tag;
    if (!readBig(1, tag))
      return false;
    if (tag <= 0x7f || tag >= 0xe0) {
      value.kind = tag <= 0x7f ? Value::Kind::Unsigned : Value::Kind::Signed;
      value.bits = tag <= 0x7f ? tag : tag | ~uint64_t(0xff);
      return true;
    }
    if (tag <= 0x8f)
      return readMap(value, tag & 0x0f, depth);
    if (tag <= 0x9f)
      return readArray(value, tag & 0x0f, depth);
    if (tag <= 0xbf)
      return readBytes(value, Value::Kind::String, tag & 0x1f);
    uint64_t count;
    switch (tag) {
    case 0xc0:
      return true;
    case 0xc2:
    case 0xc3:
      value.kind = Value::Kind::Boolean;
      value.bits = tag == 0xc3;
      return true;
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return readSized(value, Value::Kind::Binary, 1u << (tag - 0xc4));
    case 0xca:
    case 0xcb:
      return readInteger(value, Value::Kind::Float, tag == 0xca ? 4 : 8);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return readInteger(value, Value::Kind::Unsigned, 1u << (tag - 0xcc));
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
      return readInteger(value, Value::Kind::Signed, 1u << (tag - 0xd0));
    case 0xd9:
    case 0xda:
    case 0xdb:
      return readSized(value, Value::Kind::String, 1u << (tag - 0xd9));
    case 0xdc:
    case 0xdd:
      return readBig(tag == 0xdc ? 2 : 4, count) &&
             readArray(value, count, depth);
    case 0xde:
    case 0xdf:
      return readBig(tag == 0xde ? 2 : 4, count) &&
             readMap(value, count, depth);
    default:
      return fail("unsupported type");
    }
  }

  StringRef rest;
  size_t size;
  const char *fault = "";
};
} // namespace

Expected<Value> read(StringRef bytes) { return Parser(bytes).parse(); }

} // namespace netra::msgpack
