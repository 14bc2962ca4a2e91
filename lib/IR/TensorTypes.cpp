//===- TensorTypes.cpp - Layout, element type and size of tensor types ----===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/NetraAttributes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace netra {

std::optional<ElementType> getElementType(Type type) {
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF16())
    return ElementType::F16;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  if (isa<Float8E4M3FNType>(type))
    return ElementType::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return ElementType::F8E5M2;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return ElementType::U8;
  case 8:
    return isUnsigned ? ElementType::U8 : ElementType::I8;
  case 16:
    return isUnsigned ? ElementType::U16 : ElementType::I16;
  case 32:
    return isUnsigned ? ElementType::U32 : ElementType::I32;
  case 64:
    return isUnsigned ? ElementType::U64 : ElementType::I64;
  default:
    return std::nullopt;
  }
}

Type getBuiltinType(MLIRContext *context, ElementType type) {
  auto integer = [&](unsigned width, bool isUnsigned = false) {
    return IntegerType::get(context, width,
                            isUnsigned ? IntegerType::Unsigned
                                       : IntegerType::Signless);
  };
  switch (type) {
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::F32:
    return Float32Type::get(context);
  case ElementType::F64:
    return Float64Type::get(context);
  case ElementType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case ElementType::F8E5M2:
    return Float8E5M2Type::get(context);
  case ElementType::I8:
    return integer(8);
  case ElementType::U8:
    return integer(8, true);
  case ElementType::I16:
    return integer(16);
  case ElementType::U16:
    return integer(16, true);
  case ElementType::I32:
    return integer(32);
  case ElementType::U32:
    return integer(32, true);
  case ElementType::I64:
    return integer(64);
  case ElementType::U64:
    return integer(64, true);
  }
  return {};
}

LayoutAttr getLayout(RankedTensorType type) {
  if (!type.getEncoding())
    return LayoutAttr::get(type.getContext(), "row_major");
  return dyn_cast<LayoutAttr>(type.getEncoding());
}

std::string getLayoutSpelling(RankedTensorType type) {
  if (!type.getEncoding())
    return "row_major";
  if (LayoutAttr layout = getLayout(type))
    return layout.getSpelling();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type.getEncoding();
  return text;
}

bool isRowMajor(RankedTensorType type) {
  if (!type.getEncoding())
    return true;
  LayoutAttr layout = getLayout(type);
  return layout && layout.isRowMajor();
}

RankedTensorType withLayout(RankedTensorType type, LayoutAttr layout) {
  Attribute encoding;
  if (layout && !layout.isRowMajor())
    encoding = layout;
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               encoding);
}

std::optional<int64_t> getTensorBytes(RankedTensorType type) {
  std::optional<ElementType> element = getElementType(type.getElementType());
  if (!element || !type.hasStaticShape())
    return std::nullopt;
  llvm::Expected<uint64_t> bytes = tensorBytes(*element, type.getShape());
  if (!bytes) {
    llvm::consumeError(bytes.takeError());
    return std::nullopt;
  }
  return static_cast<int64_t>(*bytes);
}

bool isContractId(StringRef text) {
  return text.consume_front("nk_") && text.size() == 24 &&
         llvm::all_of(text, [](char c) {
           return llvm::isHexDigit(c) && !llvm::isUpper(c);
         });
}

} // namespace netra
