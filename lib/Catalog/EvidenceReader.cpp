//===- EvidenceReader.cpp - Maturity, evidence and parts of manifests -----===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ManifestReader.h"

#include "Names.h"

#include "Netra/Catalog/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;

namespace netra {

static constexpr StringRef maturityNames[] = {"rejected", "experiment",
                                              "verified", "accepted"};

StringRef maturityName(Maturity maturity) {
  return maturityNames[static_cast<size_t>(maturity)];
}

std::optional<Maturity> parseMaturity(StringRef name) {
  for (size_t i = 0; i != std::size(maturityNames); ++i)
    if (maturityNames[i] == name)
      return static_cast<Maturity>(i);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Parts that several manifests have
//===----------------------------------------------------------------------===//

std::vector<Reader> readElements(const Reader &reader, size_t min) {
  return reader.array(min).value_or(std::vector<Reader>());
}

std::optional<std::string> readText(ObjectReader &object, StringRef key) {
  std::optional<Reader> member = object.required(key);
  if (!member)
    return std::nullopt;
  std::optional<std::string> text = member->string();
  if (text && text->empty()) {
    member->fail("a string that is not empty");
    return std::nullopt;
  }
  return text;
}

std::optional<Maturity> readMaturity(const Reader &reader) {
  std::optional<std::string> name = reader.choice(maturityNames);
  return name ? parseMaturity(*name) : std::nullopt;
}

std::string readTarget(ObjectReader &object) {
  std::optional<Reader> member = object.required("target");
  std::optional<std::string> name =
      member ? member->string() : std::optional<std::string>();
  if (!name)
    return "";
  if (!findTarget(*name))
    member->fail("a known target (" + listTargets() + ")");
  return *name;
}

std::string readSha256(ObjectReader &object, StringRef key) {
  std::optional<Reader> member = object.required(key);
  std::optional<std::string> text =
      member ? member->string() : std::optional<std::string>();
  if (!text)
    return "";
  if (text->size() != 64 || !all_of(*text, [](char c) {
        return isDigit(c) || (c >= 'a' && c <= 'f');
      }))
    member->fail("a SHA-256 of 64 lower-case hexadecimal digits");
  return *text;
}

std::optional<ElementType> readElementType(const Reader &reader) {
  std::vector<StringRef> names;
  for (ElementType type : allElementTypes())
    names.push_back(elementTypeName(type));
  std::optional<std::string> name = reader.choice(names);
  if (!name)
    return std::nullopt;
  return parseElementType(*name);
}

std::optional<AttributeValue> readScalar(const Reader &reader) {
  const json::Value &value = reader.get();
  if (value.is_boolean())
    return AttributeValue(value.get<bool>());
  if (value.is_string())
    return AttributeValue(value.get<std::string>());
  if (value.is_number_float())
    return AttributeValue(value.get<double>());
  if (value.is_number_integer()) {
    if (std::optional<int64_t> integer = reader.integer())
      return AttributeValue(*integer);
    return std::nullopt;
  }
  reader.fail("a string, a number, true or false");
  return std::nullopt;
}

std::map<std::string, int64_t> readIntegers(ObjectReader &object,
                                            StringRef key) {
  std::map<std::string, int64_t> values;
  if (std::optional<Reader> member = object.optional(key))
    for (auto &[name, value] : ObjectReader(*member).members()) {
      if (!isUpperName(name))
        value.fail("a name of upper-case letters, digits and '_'",
                   "\"" + name + "\"");
      if (std::optional<int64_t> integer = value.integer())
        values[name] = *integer;
    }
  return values;
}

static InstanceSpec::Operand readOperand(const Reader &reader) {
  InstanceSpec::Operand operand;
  ObjectReader object(reader);
  if (std::optional<Reader> member = object.optional("type"))
    operand.type = readElementType(*member);
  if (std::optional<Reader> member = object.optional("layout"))
    if (std::optional<std::string> spelling = member->string()) {
      Expected<Layout> layout = Layout::parse(*spelling);
      if (layout)
        operand.layout = layout->str();
      else
        member->fail("a layout", llvm::toString(layout.takeError()));
    }
  if (std::optional<Reader> member = object.optional("shape")) {
    operand.shape.emplace();
    for (const Reader &element : readElements(*member))
      operand.shape->push_back(element.integer(0).value_or(0));
  }
  object.finish();
  return operand;
}

InstanceSpec readInstanceSpec(ObjectReader &object) {
  InstanceSpec spec;
  spec.dimensions = readIntegers(object, "dimensions");
  if (std::optional<Reader> member = object.optional("attributes"))
    for (auto &[name, value] : ObjectReader(*member).members()) {
      if (!isLowerName(name))
        value.fail("a name of lower-case letters, digits and '_'",
                   "\"" + name + "\"");
      if (std::optional<AttributeValue> scalar = readScalar(value))
        spec.attributes[name] = *scalar;
    }
  if (std::optional<Reader> member = object.optional("operands"))
    for (auto &[name, value] : ObjectReader(*member).members()) {
      if (!isLowerName(name))
        value.fail("a name of lower-case letters, digits and '_'",
                   "\"" + name + "\"");
      spec.operands[name] = readOperand(value);
    }
  if (object.optional("options"))
    spec.options = readIntegers(object, "options");
  return spec;
}

std::string whyRecordDoesNotCount(const Evidence &evidence,
                                  const Tactic &tactic, Maturity level) {
  // Evidence kinds do not convert: a run in the simulator never makes a tactic
  // accepted.
  bool fits = evidence.kind == "device" ||
              (level == Maturity::Verified && evidence.kind == "simulated");
  if (!fits)
    return (level == Maturity::Verified
                ? "expected kind simulated or device, found "
                : "expected kind device, found ") +
           evidence.kind;
  for (const Evidence::Tests &tests : evidence.tests)
    if (tests.failed != 0)
      return "expected no failed test, found " + utostr(tests.failed) + " of " +
             utostr(tests.cases) + " in " + tests.name;
  if (tactic.golden)
    for (const Evidence::Kernel &kernel : evidence.kernels)
      if (kernel.identitySha256 != tactic.golden->identitySha256)
        return "expected computational identity " +
               tactic.golden->identitySha256 + " of the code, found " +
               kernel.identitySha256;
  return "";
}

void checkMaturity(const Reader &reader, const Tactic &tactic) {
  if (tactic.maturity < Maturity::Verified)
    return;
  std::string reasons;
  for (const Evidence &record : tactic.evidence) {
    std::string reason = whyRecordDoesNotCount(record, tactic, tactic.maturity);
    if (reason.empty())
      return;
    reasons += "; of \"" + record.what + "\": " + reason;
  }
  reader.fail(tactic.maturity == Maturity::Verified
                  ? "evidence of kind \"simulated\" or \"device\" for a "
                    "verified tactic"
                  : "evidence of kind \"device\" for an accepted tactic",
              "none" + reasons);
}

Evidence readEvidence(const Reader &reader) {
  Evidence evidence;
  ObjectReader object(reader);
  if (std::optional<Reader> member = object.required("kind"))
    evidence.kind =
        member->choice({"simulated", "assembled", "device"}).value_or("");
  evidence.what = readText(object, "what").value_or("");
  if (std::optional<Reader> member = object.optional("tests"))
    for (const Reader &element : readElements(*member, 1)) {
      Evidence::Tests tests;
      ObjectReader fields(element);
      tests.name = readText(fields, "name").value_or("");
      if (std::optional<Reader> cases = fields.required("cases"))
        tests.cases = cases->unsignedInteger(1).value_or(1);
      if (std::optional<Reader> failed = fields.required("failed"))
        if ((tests.failed = failed->unsignedInteger().value_or(0)) >
            tests.cases)
          failed->fail("at most " + std::to_string(tests.cases) +
                           ", the number of cases",
                       std::to_string(tests.failed));
      fields.finish();
      evidence.tests.push_back(std::move(tests));
    }
  if (std::optional<Reader> member = object.optional("kernels"))
    for (const Reader &element : readElements(*member, 1)) {
      Evidence::Kernel kernel;
      ObjectReader fields(element);
      kernel.instance = readInstanceSpec(fields);
      kernel.identitySha256 = readSha256(fields, "identity_sha256");
      fields.finish();
      evidence.kernels.push_back(std::move(kernel));
    }
  object.finish();
  return evidence;
}

} // namespace netra
