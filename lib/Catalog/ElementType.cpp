//===- ElementType.cpp - Element types of tensors and arguments -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/ElementType.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace llvm;

namespace netra {

namespace {
struct TypeInfo {
  ElementType type;
  StringRef name;
  unsigned bits;
  bool isFloat;
};
} // namespace

// Indexed by the enumeration.
static constexpr TypeInfo typeTable[] = {
    {ElementType::BF16, "bf16", 16, true},
    {ElementType::F16, "f16", 16, true},
    {ElementType::F32, "f32", 32, true},
    {ElementType::F64, "f64", 64, true},
    {ElementType::F8E4M3FN, "f8E4M3FN", 8, true},
    {ElementType::F8E5M2, "f8E5M2", 8, true},
    {ElementType::I8, "i8", 8, false},
    {ElementType::U8, "u8", 8, false},
    {ElementType::I16, "i16", 16, false},
    {ElementType::U16, "u16", 16, false},
    {ElementType::I32, "i32", 32, false},
    {ElementType::U32, "u32", 32, false},
    {ElementType::I64, "i64", 64, false},
    {ElementType::U64, "u64", 64, false},
};

static const TypeInfo &lookUp(ElementType type) {
  return typeTable[static_cast<size_t>(type)];
}

ArrayRef<ElementType> allElementTypes() {
  static const std::vector<ElementType> types = [] {
    std::vector<ElementType> result;
    for (const TypeInfo &info : typeTable)
      result.push_back(info.type);
    return result;
  }();
  return types;
}

StringRef elementTypeName(ElementType type) { return lookUp(type).name; }

std::optional<ElementType> parseElementType(StringRef name) {
  for (const TypeInfo &info : typeTable)
    if (info.name == name)
      return info.type;
  return std::nullopt;
}

unsigned elementBits(ElementType type) { return lookUp(type).bits; }

bool isFloat(ElementType type) { return lookUp(type).isFloat; }

static std::string shapeName(ArrayRef<int64_t> shape) {
  return join(map_range(shape, [](int64_t extent) { return itostr(extent); }),
              "x");
}

Expected<uint64_t> elementCount(ArrayRef<int64_t> shape) {
  // An extent of 0 makes the product 0 whatever the others are, but the others
  // must still be legal.
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0)
      return createStringError("shape " + shapeName(shape) +
                               ": expected extents of at least 0, found " +
                               Twine(extent));
    if (__builtin_mul_overflow(count, extent, &count))
      return createStringError("shape " + shapeName(shape) +
                               ": expected fewer than 2^63 elements");
  }
  return static_cast<uint64_t>(count);
}

Expected<uint64_t> tensorBytes(ElementType type, ArrayRef<int64_t> shape) {
  Expected<uint64_t> count = elementCount(shape);
  if (!count)
    return count.takeError();
  uint64_t bytes;
  if (__builtin_mul_overflow(*count, uint64_t(elementBytes(type)), &bytes) ||
      bytes > uint64_t(std::numeric_limits<int64_t>::max()))
    return createStringError("tensor " + tensorName(type, shape) +
                             ": expected fewer than 2^63 bytes");
  return bytes;
}

std::string tensorName(ElementType type, ArrayRef<int64_t> shape) {
  std::string result = shapeName(shape);
  if (!result.empty())
    result += 'x';
  return result + elementTypeName(type).str();
}

} // namespace netra
