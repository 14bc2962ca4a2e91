//===- Contract.cpp - Problems and exact kernel contracts -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Contract.h"

#include "Names.h"
#include "Netra/Catalog/AttributeJson.h"
#include "Netra/Catalog/ContractJson.h"
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

/// No dimension of a model is as large, and twice it is far from 2^63.
static constexpr int64_t maxExtent = int64_t(1) << 48;

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
    else if (value > maxExtent)
      fault("dimension " + Twine(name) + ": expected at most " +
            Twine(maxExtent) + ", found " + Twine(value));
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
  std::set<std::string> followed;
  for (const auto &[name, affine] : varying) {
    auto extent = dimensions.find(name);
    std::optional<uint64_t> greatest = affine.greatestOver(guards);
    if (affine.isConstant() || extent == dimensions.end() || !greatest ||
        *greatest != uint64_t(extent->second))
      fault("varying " + Twine(name) +
            ": expected what follows a guard up to the extent of a dimension, "
            "found " +
            affine.str());
    for (const auto &[guard, factor] : affine.terms)
      followed.insert(guard);
  }
  for (const auto &[name, range] : guards)
    if (range.min >= range.max || !followed.count(name))
      fault("guard " + Twine(name) +
            ": expected a range of several values that a dimension follows, "
            "found " +
            Twine(range.min) + " to " + Twine(range.max));
  if (faults.empty())
    return Error::success();
  return createStringError(join(faults, "\n"));
}

/// Bits rather than digits, so that no decimal spelling enters a hash.
static std::string spellBits(double number) {
  return "0x" + utohexstr(bit_cast<uint64_t>(number), /*LowerCase=*/true,
                          /*Width=*/16);
}

Json attributeToJson(const AttributeValue &value) {
  if (const double *number = std::get_if<double>(&value))
    return {{"f64", spellBits(*number)}};
  return std::visit([](const auto &plain) { return Json(plain); }, value);
}

namespace {
/// Canonical JSON without a document on the way: contracts are written for
/// every hash.
class CanonicalWriter : public ContractSink {
public:
  void beginObject() override { open('{'); }
  void endObject() override { close('}'); }
  void beginArray() override { open('['); }
  void endArray() override { close(']'); }
  void key(StringRef name) override {
    text(name);
    result += ':';
    isFirst = true;
  }
  void text(StringRef string) override {
    separate();
    bool isPlain = all_of(
        string, [](char c) { return isPrint(c) && c != '"' && c != '\\'; });
    if (isPlain)
      result.append("\"").append(string).append("\"");
    else
      result += json::print(Json(string.str()), -1);
  }
  void flag(bool value) override {
    separate();
    result += value ? "true" : "false";
  }
  void integer(int64_t value) override {
    separate();
    result += std::to_string(value);
  }
  void count(uint64_t value) override {
    separate();
    result += std::to_string(value);
  }

  std::string result;

private:
  void separate() {
    if (!isFirst)
      result += ',';
    isFirst = false;
  }
  void open(char bracket) {
    separate();
    result += bracket;
    isFirst = true;
  }
  void close(char bracket) {
    result += bracket;
    isFirst = false;
  }

  bool isFirst = true;
};
} // namespace

static void visit(const AttributeValue &value, ContractSink &sink) {
  if (const bool *flag = std::get_if<bool>(&value))
    return sink.flag(*flag);
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return sink.integer(*integer);
  if (const std::string *text = std::get_if<std::string>(&value))
    return sink.text(*text);
  sink.beginObject();
  sink.key("f64");
  sink.text(spellBits(std::get<double>(value)));
  sink.endObject();
}

/// The operands in the order of their roles.
static std::vector<const OperandSpec *> sortedOperands(const Problem &problem) {
  std::vector<const OperandSpec *> sorted;
  for (const OperandSpec &operand : problem.operands)
    sorted.push_back(&operand);
  llvm::sort(sorted, [](const OperandSpec *lhs, const OperandSpec *rhs) {
    return lhs->role < rhs->role;
  });
  return sorted;
}

static void visit(const Affine &affine, ContractSink &sink) {
  if (affine.isConstant())
    return sink.count(affine.constant);
  sink.beginObject();
  // Sorted like all keys; a dimension may come before "constant".
  bool isDone = false;
  auto constant = [&] {
    sink.key("constant");
    sink.count(affine.constant);
    isDone = true;
  };
  for (const auto &[name, factor] : affine.terms) {
    if (!isDone && name > "constant")
      constant();
    sink.key(name);
    sink.count(factor);
  }
  if (!isDone)
    constant();
  sink.endObject();
}

static void visit(const Problem &problem, ContractSink &sink) {
  auto text = [&](StringRef key, StringRef value) {
    sink.key(key);
    sink.text(value);
  };
  sink.beginObject();
  sink.key("attributes");
  sink.beginObject();
  for (const auto &[name, value] : problem.attributes) {
    sink.key(name);
    visit(value, sink);
  }
  sink.endObject();
  sink.key("dimensions");
  sink.beginObject();
  for (const auto &[name, value] : problem.dimensions) {
    sink.key(name);
    sink.integer(value);
  }
  sink.endObject();
  text("family", problem.family);
  if (!problem.guards.empty()) {
    sink.key("guards");
    sink.beginObject();
    for (const auto &[name, range] : problem.guards) {
      sink.key(name);
      sink.beginArray();
      sink.count(range.min);
      sink.count(range.max);
      sink.endArray();
    }
    sink.endObject();
  }
  sink.key("operands");
  sink.beginArray();
  for (const OperandSpec *operand : sortedOperands(problem)) {
    sink.beginObject();
    text("layout", operand->layout);
    text("role", operand->role);
    sink.key("shape");
    sink.beginArray();
    for (int64_t extent : operand->shape)
      sink.integer(extent);
    sink.endArray();
    text("type", elementTypeName(operand->type));
    sink.endObject();
  }
  sink.endArray();
  text("operation", problem.operation);
  if (!problem.varying.empty()) {
    sink.key("varying");
    sink.beginObject();
    for (const auto &[name, affine] : problem.varying) {
      sink.key(name);
      visit(affine, sink);
    }
    sink.endObject();
  }
  sink.endObject();
}

std::string Problem::toJson() const {
  CanonicalWriter writer;
  visit(*this, writer);
  return std::move(writer.result);
}

bool Problem::operator==(const Problem &other) const {
  auto equal = [](const auto &lhs, const auto &rhs, auto isSame) {
    return std::equal(lhs.begin(), lhs.end(), rhs.begin(), rhs.end(), isSame);
  };
  return family == other.family && operation == other.operation &&
         dimensions == other.dimensions && varying == other.varying &&
         guards == other.guards &&
         equal(attributes, other.attributes,
               [](const auto &lhs, const auto &rhs) {
                 return lhs.first == rhs.first &&
                        isIdentical(lhs.second, rhs.second);
               }) &&
         (operands == other.operands ||
          equal(sortedOperands(*this), sortedOperands(other),
                [](const OperandSpec *lhs, const OperandSpec *rhs) {
                  return *lhs == *rhs;
                }));
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
  if (std::optional<Reader> member = object.optional("varying"))
    for (auto &[name, value] : ObjectReader(*member).members())
      if (std::optional<Affine> affine =
              readAffine(value, 0, std::numeric_limits<int64_t>::max()))
        problem.varying[name] = std::move(*affine);
  if (std::optional<Reader> member = object.optional("guards"))
    problem.guards = readGuardBox(*member);
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

void visitContract(const Contract &contract, ContractSink &sink) {
  auto text = [&](StringRef key, StringRef value) {
    sink.key(key);
    sink.text(value);
  };
  auto count = [&](StringRef key, uint64_t value) {
    sink.key(key);
    sink.count(value);
  };
  auto flag = [&](StringRef key, bool value) {
    sink.key(key);
    sink.flag(value);
  };
  sink.beginObject();
  sink.key("arguments");
  sink.beginArray();
  for (const Argument &argument : contract.arguments) {
    sink.beginObject();
    text("access", accessName(argument.access));
    count("bits", argument.bits);
    count("bytes", argument.bytes);
    if (argument.follows) {
      sink.key("follows");
      visit(*argument.follows, sink);
    }
    text("kind", argumentKindName(argument.kind));
    text("name", argument.name);
    count("offset", argument.offset);
    count("operand_offset", argument.operandOffset);
    text("role", argument.role);
    text("type", elementTypeName(argument.type));
    sink.endObject();
  }
  sink.endArray();
  sink.key("block");
  sink.beginArray();
  for (uint32_t extent : contract.block)
    sink.count(extent);
  sink.endArray();
  flag("deterministic", contract.deterministic);
  count("dynamic_lds", contract.dynamicLds);
  text("format", contractFormat);
  flag("graph_capture", contract.graphCapture);
  sink.key("grid");
  sink.beginArray();
  for (const Affine &extent : contract.grid)
    visit(extent, sink);
  sink.endArray();
  count("kernarg_bytes", contract.kernargBytes);
  sink.key("numerics");
  sink.beginObject();
  text("accumulation", contract.numerics.accumulation);
  text("reduction_order", contract.numerics.reductionOrder);
  text("rounding", contract.numerics.rounding);
  sink.endObject();
  sink.key("problem");
  visit(contract.problem, sink);
  count("static_lds", contract.staticLds);
  text("target", contract.target);
  count("wave_size", contract.waveSize);
  sink.key("workspace");
  sink.beginObject();
  count("alignment", contract.workspaceAlignment);
  count("bytes", contract.workspaceBytes);
  sink.endObject();
  sink.endObject();
}

std::string Contract::toJson() const {
  CanonicalWriter writer;
  visitContract(*this, writer);
  return std::move(writer.result);
}

std::array<uint32_t, 3> Contract::greatestGrid() const {
  std::array<uint32_t, 3> result;
  for (size_t i = 0; i != 3; ++i)
    result[i] = static_cast<uint32_t>(*grid[i].greatestOver(problem.guards));
  return result;
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

/// Calls `read` for each of three extents and its reader.
template <typename T>
static void readExtents(ObjectReader &object, StringRef key,
                        std::array<T, 3> &to,
                        function_ref<void(const Reader &, T &)> read) {
  std::optional<Reader> member = object.required(key);
  if (!member)
    return;
  if (std::optional<std::vector<Reader>> elements = member->array(3, 3))
    for (size_t i = 0; i != 3; ++i)
      read((*elements)[i], to[i]);
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
  if (std::optional<Reader> member = object.optional("follows"))
    argument.follows = readAffine(*member, 1, 0);
  object.finish();
  return argument;
}

Expected<Contract> Contract::fromJson(StringRef text) {
  Expected<json::Value> document = json::parse(text, "contract");
  if (!document)
    return document.takeError();
  return contractFromJson(*document);
}

/// What follows the serving point, against the guards.
static Error verifyFollowing(const Contract &contract) {
  const GuardBox &guards = contract.problem.guards;
  std::string fault = findUnlaunchable(contract.grid, {1, 1, 1}, guards,
                                       std::numeric_limits<uint32_t>::max());
  if (!fault.empty())
    return createStringError("contract: grid: " + fault);
  for (const Argument &argument : contract.arguments) {
    if (!argument.follows)
      continue;
    std::optional<uint64_t> greatest = argument.follows->greatestOver(guards);
    if (argument.kind != ArgumentKind::Value || greatest != argument.bits)
      return createStringError(
          "contract: argument " + argument.name +
          ": expected a value whose bits are the greatest of " +
          argument.follows->str() + " over the guards, found " +
          argumentKindName(argument.kind) + " " + Twine(argument.bits));
  }
  return Error::success();
}

Expected<Contract> contractFromJson(const json::Value &document) {
  json::Diagnostics diagnostics("contract");
  Contract contract;
  ObjectReader object(Reader(document, "", diagnostics));
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
  constexpr uint64_t limit = std::numeric_limits<uint32_t>::max();
  readExtents<Affine>(object, "grid", contract.grid,
                      [](const Reader &extent, Affine &to) {
                        assign(to, readAffine(extent, 1, limit));
                      });
  readExtents<uint32_t>(object, "block", contract.block,
                        [](const Reader &extent, uint32_t &to) {
                          if (auto value = extent.unsignedInteger(1, limit))
                            to = static_cast<uint32_t>(*value);
                        });
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
  if (Error error = verifyFollowing(contract))
    return error;
  return contract;
}

} // namespace netra
