//===- ContractConversion.cpp - Contracts as attributes -------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/ContractConversion.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

#include <limits>

using namespace mlir;

namespace netra {

static Attribute fromJson(Builder &builder, const llvm::json::Value &value) {
  if (const llvm::json::Object *object = value.getAsObject()) {
    SmallVector<NamedAttribute> fields;
    for (const auto &[key, field] : *object)
      fields.push_back(
          builder.getNamedAttr(StringRef(key), fromJson(builder, field)));
    return builder.getDictionaryAttr(fields);
  }
  if (const llvm::json::Array *array = value.getAsArray()) {
    SmallVector<Attribute> elements;
    for (const llvm::json::Value &element : *array)
      elements.push_back(fromJson(builder, element));
    return builder.getArrayAttr(elements);
  }
  if (std::optional<bool> boolean = value.getAsBoolean())
    return builder.getBoolAttr(*boolean);
  if (std::optional<int64_t> integer = value.getAsInteger())
    return builder.getI64IntegerAttr(*integer);
  if (std::optional<uint64_t> integer = value.getAsUINT64())
    return builder.getIntegerAttr(builder.getIntegerType(64, false),
                                  APInt(64, *integer));
  if (std::optional<StringRef> text = value.getAsString())
    return builder.getStringAttr(*text);
  // The canonical form has no null and no fraction.
  return builder.getUnitAttr();
}

/// Null JSON, which no contract has, for an attribute that stands for nothing.
static llvm::json::Value toJson(Attribute attribute) {
  return llvm::TypeSwitch<Attribute, llvm::json::Value>(attribute)
      .Case([](DictionaryAttr dictionary) {
        llvm::json::Object object;
        for (NamedAttribute field : dictionary)
          object[field.getName().strref()] = toJson(field.getValue());
        return object;
      })
      .Case([](ArrayAttr array) {
        llvm::json::Array elements;
        for (Attribute element : array)
          elements.push_back(toJson(element));
        return elements;
      })
      .Case([](BoolAttr boolean) { return boolean.getValue(); })
      .Case([](IntegerAttr integer) -> llvm::json::Value {
        if (integer.getType().isUnsignedInteger(64))
          return integer.getValue().getZExtValue();
        if (integer.getType().isSignlessInteger(64))
          return integer.getInt();
        return nullptr;
      })
      .Case([](StringAttr text) {
        // Text that is not UTF-8 cannot be JSON.
        return llvm::json::fixUTF8(text.getValue());
      })
      .Default([](Attribute) { return nullptr; });
}

DictionaryAttr contractToAttr(MLIRContext *context, const Contract &contract) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(contract.toJson());
  Builder builder(context);
  // The canonical form of a contract is an object.
  return cast<DictionaryAttr>(
      fromJson(builder, llvm::cantFail(std::move(json))));
}

llvm::Expected<Contract> contractFromAttr(DictionaryAttr attribute) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << toJson(attribute);
  return Contract::fromJson(text);
}

} // namespace netra
