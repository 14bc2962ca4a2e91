//===- ContractConversion.cpp - Contracts as attributes -------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/ContractConversion.h"

#include "ContractTable.h"
#include "Netra/Catalog/ContractJson.h"
#include "Netra/IR/NetraDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

#include <limits>

using namespace mlir;

namespace netra {

namespace {
/// Builds the dictionary of a contract.
class AttributeBuilder : public ContractSink {
public:
  explicit AttributeBuilder(MLIRContext *context) : builder(context) {}

  void beginObject() override { open.emplace_back(); }
  void endObject() override {
    SmallVector<NamedAttribute> fields = std::move(open.back().fields);
    open.pop_back();
    add(builder.getDictionaryAttr(fields));
  }
  void beginArray() override { open.emplace_back(); }
  void endArray() override {
    SmallVector<Attribute> elements = std::move(open.back().elements);
    open.pop_back();
    add(builder.getArrayAttr(elements));
  }
  void key(llvm::StringRef name) override {
    open.back().key = builder.getStringAttr(name);
  }
  void text(llvm::StringRef value) override {
    add(builder.getStringAttr(value));
  }
  void flag(bool value) override { add(builder.getBoolAttr(value)); }
  void integer(int64_t value) override {
    add(builder.getI64IntegerAttr(value));
  }
  void count(uint64_t value) override {
    if (value > uint64_t(std::numeric_limits<int64_t>::max()))
      add(builder.getIntegerAttr(builder.getIntegerType(64, false),
                                 APInt(64, value)));
    else
      integer(int64_t(value));
  }

  Attribute result;

private:
  /// An object or an array that has not ended.
  struct Level {
    SmallVector<NamedAttribute> fields;
    SmallVector<Attribute> elements;
    StringAttr key;
  };

  void add(Attribute attribute) {
    if (open.empty())
      result = attribute;
    else if (open.back().key)
      open.back().fields.emplace_back(open.back().key, attribute);
    else
      open.back().elements.push_back(attribute);
  }

  Builder builder;
  std::vector<Level> open;
};
} // namespace

/// What in `attribute`, which lies at `pointer`, no contract is made of; empty
/// when there is nothing.
static std::string findForeign(Attribute attribute, const Twine &pointer) {
  std::string where = pointer.str();
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    for (NamedAttribute field : dictionary)
      if (std::string fault = findForeign(field.getValue(),
                                          where + "/" + field.getName().str());
          !fault.empty())
        return fault;
    return "";
  }
  if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    for (auto [index, element] : llvm::enumerate(array))
      if (std::string fault = findForeign(element, where + "/" + Twine(index));
          !fault.empty())
        return fault;
    return "";
  }
  auto integer = dyn_cast<IntegerAttr>(attribute);
  if (isa<BoolAttr, StringAttr>(attribute) ||
      (integer && (integer.getType().isSignlessInteger(64) ||
                   integer.getType().isUnsignedInteger(64))))
    return "";
  std::string found;
  llvm::raw_string_ostream(found) << attribute;
  return "contract: " + where +
         (integer ? ": expected a 64-bit integer"
                  : ": expected text, a 64-bit integer, true or false, or a "
                    "list or dictionary of them") +
         ", found " + found;
}

/// Null JSON, which no contract has, for an attribute that stands for nothing.
static json::Value toJson(Attribute attribute) {
  return llvm::TypeSwitch<Attribute, json::Value>(attribute)
      .Case([](DictionaryAttr dictionary) {
        json::Value object = json::Value::object();
        // The names of a dictionary differ, so that none has to be looked for.
        auto &members = object.get_ref<json::Value::object_t &>();
        members.reserve(dictionary.size());
        for (NamedAttribute field : dictionary)
          members.emplace_back(field.getName().str(), toJson(field.getValue()));
        return object;
      })
      .Case([](ArrayAttr array) {
        json::Value elements = json::Value::array();
        for (Attribute element : array)
          elements.push_back(toJson(element));
        return elements;
      })
      .Case([](BoolAttr boolean) { return boolean.getValue(); })
      .Case([](IntegerAttr integer) -> json::Value {
        if (integer.getType().isUnsignedInteger(64))
          return integer.getValue().getZExtValue();
        if (!integer.getType().isSignlessInteger(64))
          return nullptr;
        // As a parser reads it: what is not negative is unsigned.
        int64_t number = integer.getInt();
        return number < 0 ? json::Value(number) : json::Value(uint64_t(number));
      })
      .Case([](StringAttr text) {
        // Text that is not UTF-8 cannot be JSON.
        return llvm::json::fixUTF8(text.getValue());
      })
      .Default([](Attribute) { return nullptr; });
}

static ContractTable &getTable(MLIRContext *context) {
  return *context->getOrLoadDialect<NetraDialect>()
              ->getRegisteredInterface<ContractTable>();
}

DictionaryAttr contractToAttr(MLIRContext *context, const Contract &contract) {
  AttributeBuilder builder(context);
  visitContract(contract, builder);
  auto attribute = cast<DictionaryAttr>(builder.result);
  getTable(context).insert(attribute, contract);
  return attribute;
}

llvm::Expected<Contract> contractFromAttr(DictionaryAttr attribute) {
  if (std::string fault = findForeign(attribute, ""); !fault.empty())
    return llvm::createStringError(fault);
  return contractFromJson(toJson(attribute));
}

llvm::Expected<const KnownContract &> lookupContract(DictionaryAttr attribute) {
  ContractTable &table = getTable(attribute.getContext());
  if (const KnownContract *known = table.find(attribute))
    return *known;
  llvm::Expected<Contract> contract = contractFromAttr(attribute);
  if (!contract)
    return contract.takeError();
  return table.insert(attribute, *contract);
}

} // namespace netra
