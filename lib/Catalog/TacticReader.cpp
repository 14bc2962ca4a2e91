//===- TacticReader.cpp - Tactic manifests --------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ManifestReader.h"

#include "Names.h"

#include "Netra/Catalog/Json.h"
#include "Netra/Catalog/Layout.h"
#include "Netra/Catalog/Operations.h"
#include "Netra/Catalog/Vocabulary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;

namespace netra {

namespace {

/// Symbols the generated source sets itself.
bool isReservedConstant(StringRef name) {
  return name.starts_with("ARG_") || name.starts_with("BLOCK_") ||
         name.starts_with("GRID_") || name.starts_with("INCLUDE_") ||
         is_contained({"KERNARG_BYTES", "STATIC_LDS", "DYNAMIC_LDS", "VGPRS",
                       "AGPRS", "SGPRS", "WORKSPACE_BYTES"},
                      name);
}

/// A symbol pattern: symbol characters and {NAME} references, not starting
/// with a digit.
bool splitSymbol(StringRef pattern, std::vector<std::string> &references) {
  if (pattern.empty() || isDigit(pattern.front()))
    return false;
  while (!pattern.empty()) {
    if (pattern.consume_front("{")) {
      StringRef name =
          pattern.take_while([](char c) { return isAlnum(c) || c == '_'; });
      if (name.empty() || isDigit(name.front()) || name.front() == '_')
        return false;
      pattern = pattern.drop_front(name.size());
      if (!pattern.consume_front("}"))
        return false;
      references.push_back(name.str());
      continue;
    }
    if (!isAlnum(pattern.front()) && pattern.front() != '_')
      return false;
    pattern = pattern.drop_front();
  }
  return true;
}

class TacticReader {
public:
  /// A golden record says the same of bytes that a tactic says of a template.
  TacticReader(const Reader &root, StringRef path, bool isGolden)
      : root(root), isGolden(isGolden) {
    tactic.manifestPath = path.str();
  }

  Tactic read() {
    ObjectReader object(root);
    if (!object.isValid())
      return std::move(tactic);
    if (std::optional<Reader> member = object.required("format"))
      (void)member->choice(
          {isGolden ? StringRef("netra.golden/1") : "netra.tactic/1"});
    readIdentity(object);
    readCode(object);
    // Names first: whatever the order of the keys, expressions and references
    // below are checked against them.
    if (std::optional<Reader> member = object.required("match"))
      readMatch(*member);
    std::optional<Reader> constants;
    if (!isGolden) {
      if (std::optional<Reader> member = object.optional("options"))
        readOptions(*member);
      constants = object.optional("constants");
    }
    if (constants)
      collectConstantNames(*constants);
    checkNameClashes();
    if (constants)
      readConstants(*constants);
    if (std::optional<Reader> member = object.optional("requires"))
      for (const Reader &element : readElements(*member))
        if (std::optional<Expression> expression = readExpression(element))
          tactic.requirements.push_back(*expression);
    if (!isGolden)
      readBounded(object);
    if (!isGolden)
      if (std::optional<Reader> member = object.required("symbol"))
        readSymbol(*member);
    if (std::optional<Reader> member = object.required("arguments"))
      readArguments(*member);
    if (std::optional<Reader> member = object.required("launch"))
      readLaunch(*member);
    if (std::optional<Reader> member = object.optional("workspace"))
      readWorkspace(*member);
    if (std::optional<Reader> member = object.required("registers")) {
      ObjectReader fields(*member);
      readCountMember(fields, "vgprs", tactic.vgprs);
      readCountMember(fields, "agprs", tactic.agprs);
      readCountMember(fields, "sgprs", tactic.sgprs);
      fields.finish();
    }
    if (std::optional<Reader> member = object.optional("cost")) {
      ObjectReader fields(*member);
      if (std::optional<Reader> bytes = fields.required("bytes"))
        tactic.costBytes = readCount(*bytes);
      fields.finish();
    }
    if (std::optional<Reader> member = object.required("numerics"))
      readNumerics(*member, tactic,
                   [&](StringRef name) { return isConstantName(name.str()); });
    if (std::optional<Reader> member = object.required("graph_capture"))
      tactic.graphCapture = member->boolean().value_or(true);
    if (std::optional<Reader> member = object.required("deterministic"))
      tactic.deterministic = member->boolean().value_or(true);
    if (std::optional<Reader> member = object.required("evidence"))
      readAllEvidence(*member);
    if (!isGolden)
      if (std::optional<Reader> member = object.optional("locks"))
        readLocks(*member);
    object.finish();
    return std::move(tactic);
  }

private:
  std::optional<std::string> readLower(const Reader &reader) {
    std::optional<std::string> name = reader.string();
    if (!name || isLowerName(*name))
      return name;
    reader.fail("a name of lower-case letters, digits and '_'");
    return std::nullopt;
  }

  /// A family that is known, and an operation that it has.
  void readOperation(ObjectReader &object) {
    std::vector<StringRef> families, operations;
    for (const OperationDefinition &definition : allOperations())
      families.push_back(definition.family);
    llvm::sort(families);
    families.erase(llvm::unique(families), families.end());
    if (std::optional<Reader> member = object.required("family"))
      tactic.family = member->choice(families).value_or("");
    for (const OperationDefinition &definition : allOperations())
      if (definition.family == tactic.family)
        operations.push_back(definition.operation);
    std::optional<Reader> member = object.required("operation");
    if (!member)
      return;
    if (tactic.family.empty()) // reported
      tactic.operation = member->string().value_or("");
    else
      tactic.operation = member->choice(operations).value_or("");
  }

  void readIdentity(ObjectReader &object) {
    tactic.target = readTarget(object);
    if (std::optional<Reader> member = object.required("name"))
      if (std::optional<std::string> name = member->string()) {
        auto [prefix, rest] = StringRef(*name).split('.');
        if (!isLowerName(prefix) || !isLowerName(rest))
          member->fail("a name <target>.<lower-case name>");
        else if (!tactic.target.empty() && prefix != tactic.target)
          member->fail("a name that starts with \"" + tactic.target + ".\"");
        tactic.name = *name;
      }
    readOperation(object);
    if (std::optional<Reader> member = object.required("maturity"))
      tactic.maturity = readMaturity(*member).value_or(tactic.maturity);
    if (std::optional<Reader> member = object.required("rank"))
      tactic.rank = member->integer(0, 1000000).value_or(0);
    tactic.summary = readText(object, "summary").value_or("");
  }

  /// Where the machine code comes from.
  void readCode(ObjectReader &object) {
    if (isGolden) {
      tactic.golden.emplace();
      if (std::optional<Reader> member = object.required("code"))
        *tactic.golden = readGoldenCode(*member, tactic.symbol);
      return;
    }
    if (std::optional<Reader> member = object.required("template"))
      if (std::optional<std::string> path = member->string()) {
        if (!isRelativePath(*path) || !StringRef(*path).ends_with(".s"))
          member->fail("a relative path of a .s file, without \"..\"");
        tactic.templatePath = *path;
      }
  }

  //===--------------------------------------------------------------------===//
  // Match
  //===--------------------------------------------------------------------===//

  void readMatch(const Reader &reader) {
    ObjectReader object(reader);
    if (std::optional<Reader> member = object.required("dimensions"))
      for (auto &[name, value] : ObjectReader(*member).members()) {
        checkUpper(name, value, "dimension");
        tactic.dimensions[name] = readDimension(value);
      }
    if (std::optional<Reader> member = object.required("operands"))
      for (auto &[name, value] : ObjectReader(*member).members()) {
        if (!isLowerName(name) || name == "workspace")
          value.fail("a role of lower-case letters, digits and '_' (and not "
                     "\"workspace\")",
                     "\"" + name + "\"");
        tactic.operands[name] = readOperand(value);
      }
    if (std::optional<Reader> member = object.required("attributes"))
      for (auto &[name, value] : ObjectReader(*member).members()) {
        tactic.attributes[name] = readAttribute(value, name);
      }
    object.finish();
  }

  void checkUpper(StringRef name, const Reader &value, StringRef what) {
    if (!isUpperName(name))
      value.fail("a " + what + " name of upper-case letters, digits and '_'",
                 "\"" + name + "\"");
    else if (isReservedConstant(name))
      value.fail("a " + what + " name that the generated source does not use",
                 "the reserved name \"" + name + "\"");
  }

  DimensionMatch readDimension(const Reader &reader) {
    DimensionMatch match;
    if (reader.get().is_object()) {
      ObjectReader object(reader);
      if (std::optional<Reader> member = object.optional("min"))
        match.min = member->integer(0);
      if (std::optional<Reader> member = object.optional("max"))
        match.max = member->integer(0);
      if (std::optional<Reader> member = object.optional("multiple_of"))
        match.multipleOf = member->integer(1);
      object.finish();
      if (match.min && match.max && *match.min > *match.max)
        reader.fail("\"min\" of at most \"max\"",
                    Twine(*match.min) + " and " + Twine(*match.max));
    } else if (reader.get().is_array()) {
      for (const Reader &element : readElements(reader, 1))
        match.values.push_back(element.integer(0).value_or(0));
    } else if (reader.get().is_number_integer()) {
      match.values.push_back(reader.integer(0).value_or(0));
    } else {
      reader.fail("an integer, an array of integers or an object with \"min\", "
                  "\"max\" and \"multiple_of\"");
    }
    return match;
  }

  /// A string, or an array of strings that is not empty.
  template <typename Parse>
  void readOneOrMany(const Reader &reader, Parse parse) {
    if (!reader.get().is_array()) {
      parse(reader);
      return;
    }
    for (const Reader &element : readElements(reader, 1))
      parse(element);
  }

  OperandMatch readOperand(const Reader &reader) {
    OperandMatch match;
    ObjectReader object(reader);
    if (std::optional<Reader> member = object.required("type"))
      readOneOrMany(*member, [&](const Reader &element) {
        if (std::optional<ElementType> type = readElementType(element))
          match.types.push_back(*type);
      });
    if (std::optional<Reader> member = object.optional("layout"))
      readOneOrMany(*member, [&](const Reader &element) {
        std::optional<std::string> spelling = element.string();
        if (!spelling)
          return;
        Expected<Layout> layout = Layout::parse(*spelling);
        if (layout)
          match.layouts.push_back(layout->str());
        else
          element.fail("a layout", llvm::toString(layout.takeError()));
      });
    else
      match.layouts.push_back("row_major");
    if (std::optional<Reader> member = object.optional("shape")) {
      match.shape.emplace();
      for (const Reader &element : readElements(*member))
        if (std::optional<Expression> expression =
                readExpression(element, /*dimensionsOnly=*/true))
          match.shape->push_back(*expression);
    }
    if (std::optional<Reader> member = object.optional("optional"))
      match.optional = member->boolean().value_or(false);
    object.finish();
    return match;
  }

  AttributeMatch readAttribute(const Reader &reader, StringRef name) {
    AttributeMatch match;
    const AttributeDefinition *definition = findAttribute(name);
    if (!definition) {
      std::vector<StringRef> names;
      for (const AttributeDefinition &known : allAttributes())
        names.push_back(known.name);
      reader.fail("an attribute that operations have (" + join(names, ", ") +
                      ")",
                  "\"" + name + "\"");
      return match;
    }
    if (reader.get().is_array()) {
      for (const Reader &element : readElements(reader, 1))
        if (std::optional<AttributeValue> value = readScalar(element)) {
          if (!definition->accepts(*value))
            element.fail(definition->describe());
          match.values.push_back(*value);
        }
      return match;
    }
    if (!reader.get().is_object()) {
      reader.fail("an array of values, {\"any\": true} or an object with "
                  "\"min\" and \"max\"");
      return match;
    }
    ObjectReader object(reader);
    if (std::optional<Reader> member = object.optional("any")) {
      match.any = member->boolean().value_or(false);
      if (member->get().is_boolean() && !match.any)
        member->fail("true");
      object.finish();
      return match;
    }
    for (auto [key, limit] : {std::pair(StringRef("min"), &match.min),
                              std::pair(StringRef("max"), &match.max)})
      if (std::optional<Reader> member = object.required(key)) {
        *limit = member->number();
        if (*limit && !definition->accepts(**limit))
          member->fail(definition->describe());
      }
    object.finish();
    if (match.min && match.max && *match.min > *match.max)
      reader.fail("\"min\" of at most \"max\"");
    return match;
  }

  //===--------------------------------------------------------------------===//
  // Options, constants, expressions
  //===--------------------------------------------------------------------===//

  void readOptions(const Reader &reader) {
    for (auto &[name, value] : ObjectReader(reader).members()) {
      checkUpper(name, value, "option");
      std::vector<int64_t> choices;
      for (const Reader &element : readElements(value, 1)) {
        std::optional<int64_t> choice = element.integer();
        if (!choice)
          continue;
        if (is_contained(choices, *choice))
          element.fail("each choice once");
        choices.push_back(*choice);
      }
      tactic.options.emplace_back(name, std::move(choices));
    }
  }

  void collectConstantNames(const Reader &reader) {
    for (auto &[name, value] : ObjectReader(reader).members()) {
      checkUpper(name, value, "constant");
      constantNames.insert(name);
    }
  }

  void checkNameClashes() {
    for (const auto &[name, choices] : tactic.options)
      if (tactic.dimensions.count(name))
        root.getDiagnostics().report(json::childPointer("/options", name),
                                     "a name that no dimension has",
                                     "\"" + name + "\"");
    for (const std::string &name : constantNames)
      if (tactic.dimensions.count(name) || isOption(name))
        root.getDiagnostics().report(json::childPointer("/constants", name),
                                     "a name that no dimension or option has",
                                     "\"" + name + "\"");
  }

  bool isOption(StringRef name) const {
    return any_of(tactic.options,
                  [&](const auto &option) { return option.first == name; });
  }

  /// Whether each instance has a number of that name.
  bool isConstantName(const std::string &name) const {
    return tactic.dimensions.count(name) || isOption(name) ||
           constantNames.count(name);
  }

  /// An expression; one without names must have a value, of at least `min`.
  std::optional<Expression>
  readExpression(const Reader &reader, bool dimensionsOnly = false,
                 int64_t min = std::numeric_limits<int64_t>::min()) {
    if (reader.get().is_number_integer()) {
      std::optional<int64_t> value = reader.integer(min);
      if (!value)
        return std::nullopt;
      return Expression::constant(*value);
    }
    if (!reader.get().is_string()) {
      reader.fail("an integer or an expression");
      return std::nullopt;
    }
    Expected<Expression> expression =
        Expression::parse(reader.get().get<std::string>());
    if (!expression) {
      reader.fail("an expression", llvm::toString(expression.takeError()));
      return std::nullopt;
    }
    for (const std::string &name : expression->identifiers()) {
      if (dimensionsOnly ? tactic.dimensions.count(name) != 0
                         : isConstantName(name))
        continue;
      reader.fail(dimensionsOnly ? "names of dimensions only"
                                 : "names of dimensions, options and constants",
                  "the unknown name \"" + name + "\"");
    }
    if (expression->identifiers().empty()) {
      Expected<int64_t> value =
          expression->evaluate(std::map<std::string, int64_t>());
      if (!value)
        reader.fail("an expression with a value",
                    llvm::toString(value.takeError()));
      else if (*value < min)
        reader.fail("a value of at least " + Twine(min), Twine(*value));
    }
    return *expression;
  }

  /// The dimensions of which a launch may have fewer than the code was made
  /// for.
  void readBounded(ObjectReader &object) {
    for (auto [key, to] : {std::pair(StringRef("follows"), &tactic.follows),
                           std::pair(StringRef("masks"), &tactic.masks)})
      if (std::optional<Reader> member = object.optional(key))
        for (const Reader &element : readElements(*member, 1)) {
          std::optional<std::string> name = element.string();
          if (!name)
            continue;
          if (!tactic.dimensions.count(*name))
            element.fail("a dimension of \"match\"", "\"" + *name + "\"");
          else if (tactic.follows.count(*name) || !to->insert(*name).second)
            element.fail("each dimension once, in \"follows\" or in \"masks\"",
                         "\"" + *name + "\" twice");
        }
  }

  std::optional<Expression> readCount(const Reader &reader, int64_t min = 0) {
    return readExpression(reader, /*dimensionsOnly=*/false, min);
  }

  void readCountMember(ObjectReader &object, StringRef key, Expression &to) {
    if (std::optional<Reader> member = object.required(key))
      if (std::optional<Expression> expression = readCount(*member))
        to = *expression;
  }

  const AttributeMatch *readAttributeName(const Reader &reader,
                                          std::string &name) {
    name = readLower(reader).value_or("");
    if (name.empty())
      return nullptr;
    auto found = tactic.attributes.find(name);
    if (found != tactic.attributes.end())
      return &found->second;
    reader.fail("an attribute of \"match\"");
    return nullptr;
  }

  const OperandMatch *readRole(const Reader &reader, std::string &name) {
    name = readLower(reader).value_or("");
    if (name.empty())
      return nullptr;
    auto found = tactic.operands.find(name);
    if (found != tactic.operands.end())
      return &found->second;
    reader.fail("a role of \"match\"");
    return nullptr;
  }

  std::map<std::string, int64_t> readValueMap(ObjectReader &object) {
    std::map<std::string, int64_t> result;
    if (std::optional<Reader> member = object.required("values"))
      for (auto &[name, value] : ObjectReader(*member).members())
        if (std::optional<int64_t> integer = value.integer())
          result[name] = *integer;
    return result;
  }

  std::optional<ConstantSource> readSource(const Reader &reader) {
    ConstantSource source;
    if (!reader.get().is_object()) {
      std::optional<Expression> expression = readExpression(reader);
      if (!expression)
        return std::nullopt;
      source.expression = *expression;
      return source;
    }
    ObjectReader object(reader);
    if (std::optional<Reader> member = object.optional("attribute")) {
      source.kind = ConstantSource::Kind::Attribute;
      const AttributeMatch *match = readAttributeName(*member, source.name);
      std::map<std::string, int64_t> values = readValueMap(object);
      if (match && match->values.empty())
        member->fail("an attribute whose values \"match\" lists");
      if (match)
        for (const AttributeValue &value : match->values) {
          auto found = values.find(toString(value));
          if (found == values.end()) {
            reader.fail("a value for " + source.name + " = \"" +
                            toString(value) + "\"",
                        "none");
            continue;
          }
          source.values.emplace_back(value, found->second);
          values.erase(found);
        }
      if (match)
        for (const auto &[name, value] : values)
          reader.fail("only values that \"match\" lists for " + source.name,
                      "\"" + name + "\"");
    } else if (std::optional<Reader> member = object.optional("type_of")) {
      source.kind = ConstantSource::Kind::ElementType;
      const OperandMatch *match = readRole(*member, source.name);
      std::map<std::string, int64_t> values = readValueMap(object);
      if (match)
        for (ElementType type : match->types) {
          std::string name = elementTypeName(type).str();
          auto found = values.find(name);
          if (found == values.end()) {
            reader.fail("a value for type " + name, "none");
            continue;
          }
          source.values.emplace_back(name, found->second);
          values.erase(found);
        }
      if (match)
        for (const auto &[name, value] : values)
          reader.fail("only types that \"match\" lists for " + source.name,
                      "\"" + name + "\"");
    } else if (std::optional<Reader> member = object.optional("present")) {
      source.kind = ConstantSource::Kind::Present;
      readRole(*member, source.name);
    } else if (std::optional<Reader> member = object.optional("f32")) {
      source.kind = ConstantSource::Kind::F32Bits;
      readAttributeName(*member, source.name);
    } else if (std::optional<Reader> member = object.optional("f64")) {
      source.kind = ConstantSource::Kind::F64Bits;
      readAttributeName(*member, source.name);
    } else {
      reader.fail("an expression or an object with one of \"attribute\", "
                  "\"type_of\", \"present\", \"f32\", \"f64\"");
      return std::nullopt;
    }
    object.finish();
    return source;
  }

  void readConstants(const Reader &reader) {
    for (auto &[name, value] : ObjectReader(reader).members())
      if (std::optional<ConstantSource> source = readSource(value))
        tactic.constants[name] = std::move(*source);
    // Constants may use each other, but not in a circle.
    std::map<std::string, int> state; // 1 being visited, 2 done
    for (auto &[name, value] : ObjectReader(reader).members())
      if (isCircular(name, state))
        value.fail("constants that do not depend on themselves",
                   "a circle through \"" + name + "\"");
  }

  bool isCircular(const std::string &name, std::map<std::string, int> &state) {
    int &mark = state[name];
    if (mark != 0)
      return mark == 1;
    mark = 1;
    bool circular = false;
    auto found = tactic.constants.find(name);
    if (found != tactic.constants.end() &&
        found->second.kind == ConstantSource::Kind::Expression)
      for (const std::string &used : found->second.expression.identifiers())
        if (tactic.constants.count(used) && isCircular(used, state))
          circular = true;
    state[name] = 2;
    return circular;
  }

  void readSymbol(const Reader &reader) {
    std::optional<std::string> pattern = reader.string();
    if (!pattern)
      return;
    std::vector<std::string> references;
    if (!splitSymbol(*pattern, references)) {
      reader.fail("a symbol of letters, digits, '_' and {NAME}");
      return;
    }
    for (const std::string &name : references)
      if (!tactic.dimensions.count(name) && !isOption(name) &&
          !constantNames.count(name) && !tactic.attributes.count(name))
        reader.fail("names of dimensions, options, constants and attributes",
                    "the unknown name \"" + name + "\"");
    tactic.symbol = *pattern;
  }

  //===--------------------------------------------------------------------===//
  // ABI, launch and the rest
  //===--------------------------------------------------------------------===//

  void readArguments(const Reader &reader) {
    std::set<std::string> names;
    uint64_t end = 0;
    for (const Reader &element : readElements(reader)) {
      ArgumentSpec argument;
      ObjectReader object(element);
      if (std::optional<Reader> member = object.required("name")) {
        argument.name = readLower(*member).value_or("");
        if (!argument.name.empty() && !names.insert(argument.name).second)
          member->fail("each argument name once");
      }
      std::optional<std::string> kind;
      if (std::optional<Reader> member = object.required("kind"))
        kind = member->choice({"pointer", "value"});
      if (kind == "pointer")
        readPointer(object, argument);
      else if (kind == "value")
        readValue(object, argument);
      if (kind && isGolden)
        readArgumentPlace(object, argument, tactic.golden->kernargBytes, end);
      if (kind == "pointer" && isGolden)
        checkGoldenArgument(element, argument, tactic);
      if (kind)
        object.finish();
      tactic.arguments.push_back(std::move(argument));
    }
  }

  void readPointer(ObjectReader &object, ArgumentSpec &argument) {
    if (std::optional<Reader> member = object.required("role")) {
      std::optional<std::string> role = member->string();
      if (role && *role == "workspace")
        argument.role = *role;
      else if (role) {
        const OperandMatch *match = readRole(*member, argument.role);
        // Its code reads the argument whether or not there is an operand.
        if (isGolden && match && match->optional)
          member->fail("a role of an operand that is not optional");
      }
    }
    if (std::optional<Reader> member = object.required("access"))
      if (auto access = member->choice({"read", "write", "readwrite"}))
        argument.access = *parseAccess(*access);
    if (std::optional<Reader> member = object.optional("operand_offset"))
      if (std::optional<Expression> expression = readCount(*member))
        argument.operandOffset = *expression;
  }

  void readValue(ObjectReader &object, ArgumentSpec &argument) {
    argument.kind = ArgumentKind::Value;
    argument.access = Access::Value;
    static constexpr StringRef types[] = {"i32", "u32", "i64",
                                          "u64", "f32", "f64"};
    if (std::optional<Reader> member = object.required("type"))
      if (auto name = member->choice(types))
        argument.type = parseElementType(*name);
    if (std::optional<Reader> member =
            isGolden ? std::nullopt : object.optional("follows"))
      argument.follows = member->boolean().value_or(false);
    std::optional<Reader> member = object.required("value");
    if (!member)
      return;
    argument.value = readSource(*member);
    if (argument.follows && argument.value &&
        argument.value->kind != ConstantSource::Kind::Expression)
      member->fail("an expression for an argument that follows");
    if (!argument.value || !argument.type)
      return;
    auto needs = [&](ElementType type, ConstantSource::Kind kind,
                     StringRef spelling) {
      bool isType = *argument.type == type,
           isKind = argument.value->kind == kind;
      if (isType != isKind)
        member->fail(
            isType ? "{\"" + spelling + "\": ATTRIBUTE} for type " + spelling
                   : "an integer for type " + elementTypeName(*argument.type));
    };
    needs(ElementType::F64, ConstantSource::Kind::F64Bits, "f64");
    // The bits of an f32 may also travel in a u32.
    if (*argument.type != ElementType::U32)
      needs(ElementType::F32, ConstantSource::Kind::F32Bits, "f32");
  }

  void readLaunch(const Reader &reader) {
    ObjectReader object(reader);
    for (auto [key, to] : {std::pair(StringRef("grid"), &tactic.grid),
                           std::pair(StringRef("block"), &tactic.block)})
      if (std::optional<Reader> member = object.required(key))
        if (std::optional<std::vector<Reader>> extents = member->array(3, 3))
          for (size_t i = 0; i != 3; ++i)
            if (std::optional<Expression> expression =
                    readCount((*extents)[i], 1))
              (*to)[i] = *expression;
    for (auto [key, to] :
         {std::pair(StringRef("static_lds"), &tactic.staticLds),
          std::pair(StringRef("dynamic_lds"), &tactic.dynamicLds)})
      if (std::optional<Reader> member = object.optional(key))
        if (std::optional<Expression> expression = readCount(*member))
          *to = *expression;
    object.finish();
  }

  void readWorkspace(const Reader &reader) {
    ObjectReader object(reader);
    readCountMember(object, "bytes", tactic.workspaceBytes);
    if (std::optional<Reader> member = object.optional("alignment"))
      if (std::optional<uint64_t> alignment =
              member->unsignedInteger(1, 1 << 20)) {
        tactic.workspaceAlignment = *alignment;
        if (!isPowerOf2_64(*alignment))
          member->fail("a power of two");
      }
    if (tactic.workspaceBytes.text() != "0" &&
        none_of(tactic.arguments, [](const ArgumentSpec &argument) {
          return argument.role == "workspace";
        }))
      reader.fail("an argument with the role \"workspace\"", "none");
    object.finish();
  }

  void readAllEvidence(const Reader &reader) {
    for (const Reader &element : readElements(reader))
      tactic.evidence.push_back(readEvidence(element));
    checkMaturity(reader, tactic);
  }

  /// A lock names every constant, so that it holds for one machine code.
  void readLocks(const Reader &reader) {
    std::set<std::map<std::string, int64_t>> seen;
    for (const Reader &element : readElements(reader)) {
      ObjectReader object(element);
      TextLock lock;
      auto read = [&](StringRef key, const std::set<std::string> &names) {
        std::map<std::string, int64_t> values = readIntegers(object, key);
        std::set<std::string> found;
        for (const auto &[name, value] : values)
          found.insert(name);
        if (found != names)
          element.fail("each of the tactic's " + key + " (" +
                           join(names, ", ") + ")",
                       join(found, ", "));
        lock.constants.insert(values.begin(), values.end());
      };
      std::set<std::string> dimensions, options;
      for (const auto &[name, match] : tactic.dimensions)
        dimensions.insert(name);
      for (const auto &[name, choices] : tactic.options)
        options.insert(name);
      read("dimensions", dimensions);
      read("options", options);
      read("constants", constantNames);
      lock.textSha256 = readSha256(object, "text_sha256");
      object.finish();
      if (!seen.insert(lock.constants).second)
        element.fail("each choice of constants once", "this one twice");
      tactic.locks.push_back(std::move(lock));
    }
  }

  Reader root;
  bool isGolden;
  Tactic tactic;
  std::set<std::string> constantNames;
};

} // namespace

Tactic readTactic(const Reader &reader, StringRef path) {
  return TacticReader(reader, path, /*isGolden=*/false).read();
}

Tactic readGolden(const Reader &reader, StringRef path) {
  // What nobody has filled in yet is named once; everything else would follow
  // from it.
  size_t before = reader.getDiagnostics().getLines().size();
  reportOpenFields(reader);
  if (reader.getDiagnostics().getLines().size() != before)
    return {};
  return TacticReader(reader, path, /*isGolden=*/true).read();
}

} // namespace netra
