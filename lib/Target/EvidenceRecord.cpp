//===- EvidenceRecord.cpp - Writing down what was shown -------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Promotion.h"

#include "ManifestText.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace netra {

json::Value describeKernel(const Instance &instance, StringRef identitySha256) {
  const Tactic &tactic = *instance.tactic;
  const Problem &problem = instance.contract.problem;
  json::Value kernel = json::Value::object();
  for (const auto &[name, match] : tactic.dimensions) {
    bool isOpen = match.values.size() != 1 &&
                  !(match.min && match.max && *match.min == *match.max);
    if (isOpen)
      kernel["dimensions"][name] = problem.dimensions.at(name);
  }
  for (const auto &[name, match] : tactic.attributes)
    if (match.values.size() != 1)
      std::visit([&, key = name](
                     const auto &value) { kernel["attributes"][key] = value; },
                 problem.attributes.at(name));
  for (const auto &[role, match] : tactic.operands) {
    const OperandSpec *operand = problem.find(role);
    if (!operand)
      continue;
    json::Value open = json::Value::object();
    if (match.types.size() > 1)
      open["type"] = elementTypeName(operand->type).str();
    if (match.layouts.size() > 1)
      open["layout"] = operand->layout;
    if (!match.shape)
      open["shape"] = operand->shape;
    if (match.optional || !open.empty())
      kernel["operands"][role] = std::move(open);
  }
  for (const auto &[name, value] : instance.options)
    kernel["options"][name] = value;
  kernel["identity_sha256"] = identitySha256.str();
  return kernel;
}

/// On one line, with a space behind commas and colons.
static std::string printLine(const json::Value &value) {
  if (!value.is_structured())
    return value.dump();
  std::string text;
  for (const auto &[key, member] : value.items())
    text += (text.empty() ? "" : ", ") +
            (value.is_object() ? json::Value(key).dump() + ": " : "") +
            printLine(member);
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

/// As an element of the array of a manifest, one line for each kernel.
static std::string printRecord(const json::Value &record) {
  std::string text = "    {";
  for (const auto &[key, member] : record.items()) {
    text += (text.size() == 5 ? "\n      " : ",\n      ") +
            json::Value(key).dump() + ": ";
    if (key != "kernels") {
      text += printLine(member);
      continue;
    }
    std::vector<std::string> lines;
    for (const json::Value &kernel : member)
      lines.push_back("        " + printLine(kernel));
    text += "[\n" + join(lines, ",\n") + "\n      ]";
  }
  return text + "\n    }";
}

Expected<std::string> replaceEvidence(const NamedText &manifest,
                                      const json::Value &record) {
  Expected<Tactic> tactic = parseManifest(manifest);
  if (!tactic)
    return tactic.takeError();
  Expected<json::Value> document = json::parse(manifest.text, manifest.name);
  if (!document)
    return document.takeError();
  std::vector<std::string> records;
  bool isNew = true;
  for (const json::Value &element : document->at("evidence")) {
    if (element.value("kind", "") != record.value("kind", "")) {
      records.push_back(printRecord(element));
    } else if (isNew) {
      records.push_back(printRecord(record));
      isNew = false;
    }
  }
  if (isNew)
    records.push_back(printRecord(record));
  std::string text = manifest.text;
  std::optional<std::pair<size_t, size_t>> at = locateMember(text, "evidence");
  if (!at)
    return createStringError(manifest.name +
                             ": expected keys without escapes, found no "
                             "\"evidence\"");
  text.replace(at->first, at->second - at->first,
               "[\n" + join(records, ",\n") + "\n  ]");
  Expected<Tactic> again = parseManifest({text, manifest.name});
  if (!again)
    return again.takeError();
  return text;
}

} // namespace netra
