//===- Numerics.cpp - Named schemes of arithmetic -------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Numerics.h"

#include "ManifestReader.h"
#include "Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;

namespace netra {

std::string SchemeDefinition::id() const {
  return version ? name + ".v" + std::to_string(version) : name;
}

static std::string spell(StringRef id, ArrayRef<std::string> parameters) {
  return parameters.empty() ? id.str()
                            : (id + "(" + join(parameters, ", ") + ")").str();
}

std::string SchemeDefinition::spelling() const {
  return spell(id(), parameters);
}

StringRef schemeKindName(SchemeDefinition::Kind kind) {
  return kind == SchemeDefinition::Kind::Rounding ? "rounding"
                                                  : "reduction_order";
}

const SchemeDefinition *SchemeTable::find(SchemeDefinition::Kind kind,
                                          StringRef id) const {
  auto found = find_if(schemes, [&](const SchemeDefinition &scheme) {
    return scheme.kind == kind && scheme.id() == id;
  });
  return found == schemes.end() ? nullptr : &*found;
}

std::string SchemeTable::expectedFor(SchemeDefinition::Kind kind,
                                     const NumericScheme &scheme) const {
  if (const SchemeDefinition *known = find(kind, scheme.id))
    return known->parameters == scheme.parameters ? "" : known->spelling();
  std::vector<std::string> all;
  for (const SchemeDefinition &known : schemes)
    if (known.kind == kind)
      all.push_back(known.spelling());
  return "one of the schemes of numerics.json (" + join(all, ", ") + ")";
}

std::string SchemeTable::expectedFor(SchemeDefinition::Kind kind,
                                     StringRef spelling) const {
  NumericScheme scheme;
  if (std::optional<SchemeInstance> instance = parseSchemeInstance(spelling)) {
    scheme.id = instance->id;
    for (const auto &[name, value] : instance->values)
      scheme.parameters.push_back(name);
  }
  return expectedFor(kind, scheme);
}

static bool isSchemeId(StringRef id) {
  SmallVector<StringRef> parts;
  id.split(parts, '.');
  return all_of(parts, isLowerName);
}

std::optional<SchemeInstance> parseSchemeInstance(StringRef spelling) {
  auto [id, rest] = spelling.split('(');
  SchemeInstance instance;
  instance.id = id.str();
  if (!isSchemeId(id))
    return std::nullopt;
  if (id.size() == spelling.size())
    return instance;
  if (!rest.consume_back(")"))
    return std::nullopt;
  SmallVector<StringRef> parts;
  rest.split(parts, ", ");
  for (StringRef part : parts) {
    auto [name, text] = part.split('=');
    int64_t value;
    // One number has one spelling.
    if (!isUpperName(name) || text.getAsInteger(10, value) ||
        text != std::to_string(value))
      return std::nullopt;
    instance.values.emplace_back(name.str(), value);
  }
  return instance;
}

bool isAccumulation(StringRef name) {
  return name == "none" || parseElementType(name);
}

static SchemeDefinition readScheme(const Reader &reader) {
  SchemeDefinition scheme;
  ObjectReader object(reader);
  if (std::optional<Reader> member = object.required("kind"))
    if (member->choice({"reduction_order", "rounding"}) == "rounding")
      scheme.kind = SchemeDefinition::Kind::Rounding;
  if (std::optional<Reader> member = object.required("name"))
    if (std::optional<std::string> name = member->string()) {
      if (!isSchemeId(*name))
        member->fail("names of lower-case letters, digits and '_' between "
                     "dots");
      scheme.name = *name;
    }
  if (std::optional<Reader> member = object.optional("version"))
    scheme.version = member->unsignedInteger(1, 1000000).value_or(0);
  if (std::optional<Reader> member = object.required("parameters"))
    for (const Reader &element : readElements(*member)) {
      std::optional<std::string> name = element.string();
      if (!name)
        continue;
      if (!isUpperName(*name))
        element.fail("a name of upper-case letters, digits and '_'");
      else if (is_contained(scheme.parameters, *name))
        element.fail("each name once", "\"" + *name + "\" twice");
      scheme.parameters.push_back(*name);
    }
  scheme.text = readText(object, "text").value_or("");
  object.finish();
  return scheme;
}

SchemeTable readSchemes(const Reader &reader, StringRef path) {
  SchemeTable table;
  ObjectReader object(reader);
  if (std::optional<Reader> member = object.required("format"))
    (void)member->choice({"netra.numerics/1"});
  std::set<std::pair<SchemeDefinition::Kind, std::string>> known;
  if (std::optional<Reader> member = object.required("schemes"))
    for (const Reader &element : readElements(*member)) {
      SchemeDefinition scheme = readScheme(element);
      if (!known.insert({scheme.kind, scheme.id()}).second)
        element.fail("each scheme once", "\"" + scheme.id() + "\" twice");
      table.schemes.push_back(std::move(scheme));
    }
  object.finish();
  return table;
}

void checkSchemes(const SchemeTable &table, const Tactic &tactic,
                  json::Diagnostics &diagnostics) {
  for (auto [kind, scheme] :
       {std::pair(SchemeDefinition::Kind::ReductionOrder,
                  &tactic.reductionOrder),
        std::pair(SchemeDefinition::Kind::Rounding, &tactic.rounding)})
    if (std::string expected = table.expectedFor(kind, *scheme);
        !expected.empty())
      diagnostics.report(("/numerics/" + schemeKindName(kind)).str(), expected,
                         "\"" + spell(scheme->id, scheme->parameters) + "\"");
}

void checkAccumulation(const Reader &reader, const Tactic &tactic) {
  if (tactic.accumulation.empty())
    return; // reported already
  std::string pointer = json::childPointer(reader.getPointer(), "accumulation");
  json::Diagnostics &diagnostics = reader.getDiagnostics();
  std::string found = "\"" + tactic.accumulation + "\"";
  if (!isAccumulation(tactic.accumulation)) {
    diagnostics.report(pointer, "an element type, or \"none\" without sums",
                       found);
    return;
  }
  auto match = tactic.attributes.find("accumulation");
  if (match == tactic.attributes.end() || match->second.any)
    return;
  for (const AttributeValue &value : match->second.values)
    if (toString(value) != tactic.accumulation)
      diagnostics.report(pointer,
                         "the accumulation that \"match\" takes, \"" +
                             toString(value) + "\"",
                         found);
}

} // namespace netra
