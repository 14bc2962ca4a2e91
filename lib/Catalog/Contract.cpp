//===- Contract.cpp - Problems and exact kernel contracts -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Contract.h"

#include "Names.h"
#include "Netra/Catalog/AttributeJson.h"
#include "Netra/Catalog/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <set>

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;
using Json = nlohmann::json;

namespace netra {

std::string sha256Hex(ArrayRef<uint8_t> bytes) {
  return toHex(SHA256::hash(bytes), /*LowerCase=*/true);
}

std::string sha256Hex(StringRef bytes) {
  return sha256Hex(arrayRefFromStringRef(bytes));
}

std::string toString(const AttributeValue &value) {
  if (const bool *boolean = std::get_if<bool>(&value))
    return *boolean ? "true" : "false";
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return itostr(*integer);
  if (const double *number = std::get_if<double>(&value))
    return Json(*number).dump(); // shortest spelling that reads back the same
  return std::get<std::string>(value);
}

bool isIdentical(const AttributeValue &lhs, const AttributeValue &rhs) {
  const double *left = std::get_if<double>(&lhs);
  const double *right = std::get_if<double>(&rhs);
  if (left && right)
    return bit_cast<uint64_t>(*left) == bit_cast<uint64_t>(*right);
  return lhs == rhs;
}

StringRef argumentKindName(ArgumentKind kind) {
  return kind == ArgumentKind::Pointer ? "pointer" : "value";
}

StringRef accessName(Access access) {
  switch (access) {
  case Access::Read:
    return "read";
  case Access::Write:
    return "write";
  case Access::ReadWrite:
    return "readwrite";
  case Access::Value:
    break;
  }
  return "value";
}

std::optional<ArgumentKind> parseArgumentKind(StringRef name) {
  for (ArgumentKind kind : {ArgumentKind::Pointer, ArgumentKind::Value})
    if (argumentKindName(kind) == name)
      return kind;
  return std::nullopt;
}

std::optional<Access> parseAccess(StringRef name) {
  for (Access access :
       {Access::Read, Access::Write, Access::ReadWrite, Access::Value})
    if (accessName(access) == name)
      return access;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Problem
//===----------------------------------------------------------------------===//

const OperandSpec *Problem::find(StringRef role) const {
  auto found = find_if(operands, [&](const OperandSpec &operand) {
    return operand.role == role;
  });
  return found == operands.end() ? nullptr : &*found;
}

Error Problem::verify() const {
  std::vector<std::string> faults;
  auto fault = [&](const Twine &text) { faults.push_back(text.str()); };
  if (!isLowerName(family))
    fault("family: expected a lower-case name, found \"" + Twine(family) +
          "\"");
  if (!isLowerName(operation))
    fault("operation: expected a lower-case name, found \"" + Twine(operation) +
          "\"");
  for (const auto &[name, value] : dimensions) {
    if (!isUpperName(name))
      fault("dimension \"" + Twine(name) + "\": expected an upper-case name");
    if (value < 0)
      fault("dimension " + Twine(name) + ": expected at least 0, found " +
            Twine(value));
  }
  std::set<std::string> roles;
  for (const OperandSpec &operand : operands) {
    if (!isLowerName(operand.role))
      fault("operand \"" + Twine(operand.role) +
            "\": expected a lower-case name");
    if (!roles.insert(operand.role).second)
      fault("operand " + Twine(operand.role) + ": expected each role once");
    if (Expected<uint64_t> bytes = tensorBytes(operand.type, operand.shape);
        !bytes) {
      fault("operand " + Twine(operand.role) + ": " +
            llvm::toString(bytes.takeError()));
      continue;
    }
    Expected<Layout> layout = Layout::parse(operand.layout);
    if (!layout) {
      fault("operand " + Twine(operand.role) + ": " +
            llvm::toString(layout.takeError()));
      continue;
    }
    if (layout->str() != operand.layout)
      fault("operand " + Twine(operand.role) + ": expected the layout \"" +
            layout->str() + "\", found \"" + operand.layout + "\"");
    if (Error error = layout->verify(operand.shape))
      fault("operand " + Twine(operand.role) + ": " +
            llvm::toString(std::move(error)));
  }
  for (const auto &[name, value] : attributes) {
    if (!isLowerName(name))
      fault("attribute \"" + Twine(name) + "\": expected a lower-case name");
    if (const std::string *text = std::get_if<std::string>(&value))
      if (!isUtf8(*text))
        fault("attribute " + Twine(name) + ": expected UTF-8");
  }
  if (faults.empty())
    return Error::success();
  return createStringError(join(faults, "\n"));
}

Json attributeToJson(const AttributeValue &value) {
  if (const double *number = std::get_if<double>(&value))
    return {{"f64", "0x" + utohexstr(bit_cast<uint64_t>(*number),
                                     /*LowerCase=*/true, /*Width=*/16)}};
  return std::visit([](const auto &plain) { return Json(plain); }, value);
}

static Json operandToJson(const OperandSpec &operand) {
  return {{"role", operand.role},
          {"type", elementTypeName(operand.type).str()},
          {"shape", operand.shape},
          {"layout", operand.layout}};
}

static Json problemToJson(const Problem &problem) {
  std::vector<const OperandSpec *> sorted;
  for (const OperandSpec &operand : problem.operands)
    sorted.push_back(&operand);
  llvm::sort(sorted, [](const OperandSpec *lhs, const OperandSpec *rhs) {
    return lhs->role < rhs->role;
  });
  Json operands = Json::array();
  for (const OperandSpec *operand : sorted)
    operands.push_back(operandToJson(*operand));
  Json attributes = Json::object();
  for (const auto &[name, value] : problem.attributes)
    attributes[name] = attributeToJson(value);
  Json dimensions = Json::object();
  for (const auto &[name, value] : problem.dimensions)
    dimensions[name] = value;
  return {{"family", problem.family},
          {"operation", problem.operation},
          {"dimensions", std::move(dimensions)},
          {"operands", std::move(operands)},
          {"attributes", std::move(attributes)}};
}

std::string Problem::toJson() const {
  return json::print(problemToJson(*this), -1);
}

bool Problem::operator==(const Problem &other) const {
  return toJson() == other.toJson();
}

template <typename T> static void assign(T &to, std::optional<T> value) {
  if (value)
    to = std::move(*value);
}

static void readString(ObjectReader &object, StringRef key, std::string &to) {
  if (std::optional<Reader> member = object.required(key))
    assign(to, member->string());
}

static void readType(ObjectReader &object, StringRef key, ElementType &to) {
  std::optional<Reader> member = object.required(key);
  if (!member)
    return;
  std::optional<std::string> name = member->string();
  if (!name)
    return;
  if (std::optional<ElementType> type = parseElementType(*name))
    to = *type;
  else
    member->fail("an element type");
}

std::optional<AttributeValue> readAttribute(const Reader &reader) {
  const json::Value &value = reader.get();
  if (value.is_boolean())
    return AttributeValue(value.get<bool>());
  if (value.is_string())
    return AttributeValue(value.get<std::string>());
  if (value.is_object()) {
    ObjectReader object(reader);
    std::string text;
    readString(object, "f64", text);
    object.finish();
    uint64_t bits;
    StringRef digits = text;
    if (digits.consume_front("0x") && digits.size() == 16 &&
        !digits.getAsInteger(16, bits))
      return AttributeValue(bit_cast<double>(bits));
    reader.fail("{\"f64\": \"0x<16 hexadecimal digits>\"}");
    return std::nullopt;
  }
  if (std::optional<int64_t> integer = reader.integer())
    return AttributeValue(*integer);
  return std::nullopt;
}

static Problem readProblem(const Reader &reader) {
  Problem problem;
  ObjectReader object(reader);
  readString(object, "family", problem.family);
  readString(object, "operation", problem.operation);
  if (std::optional<Reader> member = object.required("dimensions"))
    for (auto &[name, value] : ObjectReader(*member).members())
      if (std::optional<int64_t> extent = value.integer(0))
        problem.dimensions[name] = *extent;
  if (std::optional<Reader> member = object.required("operands"))
    for (const Reader &element :
         member->array().value_or(std::vector<Reader>())) {
      OperandSpec operand;
      ObjectReader fields(element);
      readString(fields, "role", operand.role);
      readType(fields, "type", operand.type);
      readString(fields, "layout", operand.layout);
      if (std::optional<Reader> shape = fields.required("shape"))
        for (const Reader &extent :
             shape->array().value_or(std::vector<Reader>()))
          operand.shape.push_back(extent.integer(0).value_or(0));
      fields.finish();
      problem.operands.push_back(std::move(operand));
    }
  if (std::optional<Reader> member = object.required("attributes"))
    for (auto &[name, value] : ObjectReader(*member).members())
      if (std::optional<AttributeValue> attribute = readAttribute(value))
        problem.attributes[name] = std::move(*attribute);
  object.finish();
  return problem;
}

Expected<Problem> Problem::fromJson(StringRef text) {
  Expected<json::Value> document = json::parse(text, "problem");
  if (!document)
    return document.takeError();
  json::Diagnostics diagnostics("problem");
  Problem problem = readProblem(Reader(*document, "", diagnostics));
  if (Error error = diagnostics.takeError())
    return error;
  if (Error error = problem.verify())
    return error;
  return problem;
}

//===----------------------------------------------------------------------===//
// Contract
//===----------------------------------------------------------------------===//

static constexpr const char *contractFormat = "netra.contract/1";

std::string Contract::toJson() const {
  Json list = Json::array();
  for (const Argument &argument : arguments)
    list.push_back({{"name", argument.name},
                    {"kind", argumentKindName(argument.kind).str()},
                    {"type", elementTypeName(argument.type).str()},
                    {"access", accessName(argument.access).str()},
                    {"role", argument.role},
                    {"offset", argument.offset},
                    {"bytes", argument.bytes},
                    {"operand_offset", argument.operandOffset},
                    {"bits", argument.bits}});
  Json document = {
      {"format", contractFormat},
      {"target", target},
      {"wave_size", waveSize},
      {"problem", problemToJson(problem)},
      {"arguments", std::move(list)},
      {"kernarg_bytes", kernargBytes},
      {"grid", grid},
      {"block", block},
      {"static_lds", staticLds},
      {"dynamic_lds", dynamicLds},
      {"workspace",
       {{"bytes", workspaceBytes}, {"alignment", workspaceAlignment}}},
      {"numerics",
       {{"accumulation", numerics.accumulation},
        {"rounding", numerics.rounding},
        {"reduction_order", numerics.reductionOrder}}},
      {"graph_capture", graphCapture},
      {"deterministic", deterministic}};
  return json::print(document, -1);
}

std::string Contract::id() const {
  return "nk_" + sha256Hex(StringRef(toJson())).substr(0, 24);
}

template <typename T>
static void readUnsigned(ObjectReader &object, StringRef key, T &to) {
  if (std::optional<Reader> member = object.required(key))
    if (std::optional<uint64_t> value =
            member->unsignedInteger(0, std::numeric_limits<T>::max()))
      to = static_cast<T>(*value);
}

static void readBoolean(ObjectReader &object, StringRef key, bool &to) {
  if (std::optional<Reader> member = object.required(key))
    assign(to, member->boolean());
}

static void readExtents(ObjectReader &object, StringRef key,
                        std::array<uint32_t, 3> &to) {
  std::optional<Reader> member = object.required(key);
  if (!member)
    return;
  std::optional<std::vector<Reader>> elements = member->array(3, 3);
  if (!elements)
    return;
  for (size_t i = 0; i != 3; ++i)
    if (std::optional<uint64_t> value = (*elements)[i].unsignedInteger(
            1, std::numeric_limits<uint32_t>::max()))
      to[i] = static_cast<uint32_t>(*value);
}

static Argument readArgument(const Reader &reader) {
  Argument argument;
  ObjectReader object(reader);
  readString(object, "name", argument.name);
  readString(object, "role", argument.role);
  readType(object, "type", argument.type);
  if (std::optional<Reader> member = object.required("kind"))
    if (auto name = member->choice({"pointer", "value"}))
      argument.kind = *parseArgumentKind(*name);
  if (std::optional<Reader> member = object.required("access"))
    if (auto name = member->choice({"read", "write", "readwrite", "value"}))
      argument.access = *parseAccess(*name);
  readUnsigned(object, "offset", argument.offset);
  readUnsigned(object, "bytes", argument.bytes);
  readUnsigned(object, "operand_offset", argument.operandOffset);
  readUnsigned(object, "bits", argument.bits);
  object.finish();
  return argument;
}

Expected<Contract> Contract::fromJson(StringRef text) {
  Expected<json::Value> document = json::parse(text, "contract");
  if (!document)
    return document.takeError();
  json::Diagnostics diagnostics("contract");
  Contract contract;
  ObjectReader object(Reader(*document, "", diagnostics));
  if (std::optional<Reader> member = object.required("format"))
    (void)member->choice({contractFormat});
  readString(object, "target", contract.target);
  readUnsigned(object, "wave_size", contract.waveSize);
  if (std::optional<Reader> member = object.required("problem"))
    contract.problem = readProblem(*member);
  if (std::optional<Reader> member = object.required("arguments"))
    for (const Reader &element :
         member->array().value_or(std::vector<Reader>()))
      contract.arguments.push_back(readArgument(element));
  readUnsigned(object, "kernarg_bytes", contract.kernargBytes);
  readExtents(object, "grid", contract.grid);
  readExtents(object, "block", contract.block);
  readUnsigned(object, "static_lds", contract.staticLds);
  readUnsigned(object, "dynamic_lds", contract.dynamicLds);
  if (std::optional<Reader> member = object.required("workspace")) {
    ObjectReader fields(*member);
    readUnsigned(fields, "bytes", contract.workspaceBytes);
    readUnsigned(fields, "alignment", contract.workspaceAlignment);
    fields.finish();
  }
  if (std::optional<Reader> member = object.required("numerics")) {
    ObjectReader fields(*member);
    readString(fields, "accumulation", contract.numerics.accumulation);
    readString(fields, "rounding", contract.numerics.rounding);
    readString(fields, "reduction_order", contract.numerics.reductionOrder);
    fields.finish();
  }
  readBoolean(object, "graph_capture", contract.graphCapture);
  readBoolean(object, "deterministic", contract.deterministic);
  object.finish();
  if (Error error = diagnostics.takeError())
    return error;
  if (Error error = contract.problem.verify())
    return createStringError("contract: problem: " +
                             llvm::toString(std::move(error)));
  return contract;
}

} // namespace netra
