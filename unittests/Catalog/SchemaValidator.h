//===- SchemaValidator.h - A small JSON Schema validator --------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// As much of JSON Schema draft 2020-12 as manifests/schemas uses, so that a
// test can hold schemas and readers against each other. A keyword it does not
// know fails the test rather than being ignored.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_CATALOG_SCHEMAVALIDATOR_H
#define NETRA_UNITTESTS_CATALOG_SCHEMAVALIDATOR_H

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace netra::test {

using Json = nlohmann::json;

class SchemaValidator {
public:
  explicit SchemaValidator(Json schema) : root(std::move(schema)) {}

  bool accepts(const Json &document) {
    failed.clear();
    bool ok = check(root, document);
    if (!ok)
      refused.insert(failed.begin(), failed.end());
    return ok;
  }
  /// Where the schema describes a member of which no refused document had a
  /// wrong value.
  std::vector<std::string> fieldsNeverRefused() const {
    std::vector<std::string> fields;
    collectFields(root, Json::json_pointer(), fields);
    return fields;
  }
  /// Another schema that this one refers to by its file's name.
  void addSchema(const std::string &name, Json schema) {
    others.emplace(name, SchemaValidator(std::move(schema)));
  }
  /// Keywords that were met and are not known.
  std::vector<std::string> unknownKeywords;

private:
  static bool hasType(const std::string &name, const Json &value) {
    return (name == "object" && value.is_object()) ||
           (name == "array" && value.is_array()) ||
           (name == "string" && value.is_string()) ||
           (name == "integer" && value.is_number_integer()) ||
           (name == "number" && value.is_number()) ||
           (name == "boolean" && value.is_boolean()) ||
           (name == "null" && value.is_null());
  }

  bool matches(const std::string &pattern, const std::string &text) {
    auto [found, isNew] = patterns.try_emplace(pattern);
    if (isNew)
      found->second = std::regex(pattern, std::regex::ECMAScript);
    return std::regex_search(text, found->second);
  }

  bool check(const Json &schema, const Json &value) {
    bool ok = true;
    for (const auto &[keyword, argument] : schema.items())
      ok = checkKeyword(schema, keyword, argument, value) && ok;
    return ok;
  }

  bool checkKeyword(const Json &schema, const std::string &keyword,
                    const Json &argument, const Json &value) {
    if (keyword == "$schema" || keyword == "$id" || keyword == "$defs" ||
        keyword == "title" || keyword == "description")
      return true;
    if (keyword == "$ref") {
      std::string reference = argument;
      size_t hash = reference.find('#');
      Json::json_pointer pointer(reference.substr(hash + 1));
      if (hash == 0)
        return check(root.at(pointer), value);
      SchemaValidator &other = others.at(reference.substr(0, hash));
      bool ok = other.check(other.root.at(pointer), value);
      unknownKeywords.insert(unknownKeywords.end(),
                             other.unknownKeywords.begin(),
                             other.unknownKeywords.end());
      return ok;
    }
    if (keyword == "type") {
      if (argument.is_string())
        return hasType(argument, value);
      for (const Json &name : argument)
        if (hasType(name, value))
          return true;
      return false;
    }
    if (keyword == "const")
      return value == argument;
    if (keyword == "enum")
      return std::find(argument.begin(), argument.end(), value) !=
             argument.end();
    if (keyword == "not")
      return !check(argument, value);
    if (keyword == "anyOf") {
      for (const Json &choice : argument)
        if (check(choice, value))
          return true;
      return false;
    }
    if (keyword == "pattern")
      return !value.is_string() || matches(argument, value);
    if (keyword == "minLength")
      return !value.is_string() ||
             value.get<std::string>().size() >= argument.get<size_t>();
    if (keyword == "minimum")
      return !value.is_number() || value >= argument;
    if (keyword == "maximum")
      return !value.is_number() || value <= argument;
    return checkArray(keyword, argument, value) &&
           checkObject(schema, keyword, argument, value);
  }

  bool checkArray(const std::string &keyword, const Json &argument,
                  const Json &value) {
    if (!value.is_array())
      return true;
    if (keyword == "items") {
      for (const Json &element : value)
        if (!check(argument, element))
          return false;
    } else if (keyword == "minItems") {
      return value.size() >= argument.get<size_t>();
    } else if (keyword == "maxItems") {
      return value.size() <= argument.get<size_t>();
    } else if (keyword == "uniqueItems") {
      for (size_t i = 0; i < value.size(); ++i)
        for (size_t j = i + 1; j < value.size(); ++j)
          if (value[i] == value[j])
            return false;
    }
    return true;
  }

  bool checkObject(const Json &schema, const std::string &keyword,
                   const Json &argument, const Json &value) {
    static const char *const known[] = {
        "items",      "minItems", "maxItems",      "uniqueItems",
        "properties", "required", "propertyNames", "additionalProperties"};
    if (std::find(std::begin(known), std::end(known), keyword) ==
        std::end(known)) {
      unknownKeywords.push_back(keyword);
      return false;
    }
    if (!value.is_object())
      return true;
    if (keyword == "required") {
      for (const Json &key : argument)
        if (!value.contains(key.get<std::string>()))
          return false;
    } else if (keyword == "properties") {
      for (const auto &[key, subschema] : argument.items())
        if (value.contains(key) && !check(subschema, value.at(key))) {
          failed.insert(&subschema);
          return false;
        }
    } else if (keyword == "propertyNames") {
      for (const auto &[key, member] : value.items())
        if (!check(argument, key))
          return false;
    } else if (keyword == "additionalProperties") {
      for (const auto &[key, member] : value.items()) {
        if (schema.contains("properties") &&
            schema.at("properties").contains(key))
          continue;
        if (argument.is_boolean() ? !argument.get<bool>()
                                  : !check(argument, member))
          return false;
      }
    }
    return true;
  }

  void collectFields(const Json &schema, const Json::json_pointer &at,
                     std::vector<std::string> &fields) const {
    if (!schema.is_structured())
      return;
    for (const auto &[key, member] : schema.items()) {
      Json::json_pointer inside =
          schema.is_array() ? at / std::stoul(key) : at / key;
      if (key == "properties" && member.is_object())
        for (const auto &[name, field] : member.items())
          if (!refused.count(&field))
            fields.push_back((inside / name).to_string());
      collectFields(member, inside, fields);
    }
  }

  Json root;
  /// Schemas of members that did not fit: of this document, of all refused.
  std::set<const Json *> failed, refused;
  std::map<std::string, std::regex> patterns;
  std::map<std::string, SchemaValidator> others;
};

/// Calls `visit` with every document that differs from `document` in one place:
/// a member or element removed, a value replaced by one of several others, a
/// key added.
inline void forEachMutation(
    const Json &document,
    const std::function<void(const Json &, const std::string &)> &visit) {
  static const std::vector<Json> replacements = {nullptr,
                                                 true,
                                                 false,
                                                 0,
                                                 1,
                                                 12345,
                                                 -1,
                                                 1.5,
                                                 "",
                                                 "zz~",
                                                 "Q q",
                                                 "name",
                                                 "NAME",
                                                 Json::array(),
                                                 Json::object(),
                                                 Json::array({"x"}),
                                                 Json::array({1, 1}),
                                                 Json::object({{"zz", 1}})};
  std::function<void(const Json::json_pointer &)> walk =
      [&](const Json::json_pointer &at) {
        const Json &value = document.at(at);
        auto emit = [&](Json mutated, const std::string &what) {
          visit(mutated, at.to_string() + ": " + what);
        };
        for (const Json &replacement : replacements) {
          if (replacement == value)
            continue;
          Json mutated = document;
          mutated[at] = replacement;
          emit(std::move(mutated), "replaced by " + replacement.dump());
        }
        if (value.is_object()) {
          Json mutated = document;
          mutated[at]["unknown_key"] = 1;
          emit(std::move(mutated), "unknown key added");
          for (const auto &[key, member] : value.items()) {
            Json without = document;
            without[at].erase(key);
            emit(std::move(without), "removed " + key);
            walk(at / key);
          }
        } else if (value.is_array()) {
          for (size_t i = 0; i < value.size(); ++i) {
            Json without = document;
            without[at].erase(i);
            emit(std::move(without), "removed element " + std::to_string(i));
            walk(at / i);
          }
        }
      };
  walk(Json::json_pointer());
}

} // namespace netra::test

#endif // NETRA_UNITTESTS_CATALOG_SCHEMAVALIDATOR_H
