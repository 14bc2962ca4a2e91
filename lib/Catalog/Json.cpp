//===- Json.cpp - Strict reading of JSON documents ------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace netra::json {

void Diagnostics::report(StringRef pointer, const Twine &expected,
                         const Twine &found) {
  lines.push_back((Twine(file) + ": " + (pointer.empty() ? "/" : pointer) +
                   ": expected " + expected + ", found " + found)
                      .str());
}

Error Diagnostics::takeError() {
  if (lines.empty())
    return Error::success();
  std::string text = join(lines, "\n");
  lines.clear();
  return createStringError(text);
}

std::string childPointer(StringRef pointer, StringRef key) {
  std::string result = pointer.str() + "/";
  for (char c : key) {
    if (c == '~')
      result += "~0";
    else if (c == '/')
      result += "~1";
    else
      result += c;
  }
  return result;
}

template <typename Document>
static Expected<Document> parseAs(StringRef text, StringRef path) {
  using Event = typename Document::parse_event_t;
  constexpr size_t maxDepth = 64;
  std::vector<std::set<std::string>> keys;
  std::string fault;
  size_t depth = 0;
  auto callback = [&](int, Event event, Document &parsed) {
    switch (event) {
    case Event::object_start:
      keys.emplace_back();
      [[fallthrough]];
    case Event::array_start:
      if (++depth > maxDepth && fault.empty())
        fault = "expected at most " + utostr(maxDepth) + " nested levels";
      // What lies deeper is dropped, so that destroying the document needs no
      // more stack than reading it.
      return depth <= maxDepth;
    case Event::object_end:
      if (!keys.empty())
        keys.pop_back();
      [[fallthrough]];
    case Event::array_end:
      if (depth > 0)
        --depth;
      return true;
    case Event::key: {
      std::string key = parsed.template get<std::string>();
      if (!keys.empty() && !keys.back().insert(key).second && fault.empty())
        fault = "expected each key once, found \"" + key + "\" twice";
      return true;
    }
    default:
      return true;
    }
  };
  try {
    Document value = Document::parse(text.begin(), text.end(), callback);
    if (!fault.empty())
      return createStringError(path + ": " + fault);
    return value;
  } catch (const nlohmann::json::exception &exception) {
    // "[json.exception.parse_error.101] parse error at line …": the bracket
    // says nothing to a user.
    StringRef message = exception.what();
    message = message.split("] ").second;
    return createStringError(path + ": expected JSON, found " + message);
  }
}

Expected<Value> parse(StringRef text, StringRef path) {
  return parseAs<Value>(text, path);
}

Expected<nlohmann::json> parseSorted(StringRef text, StringRef path) {
  return parseAs<nlohmann::json>(text, path);
}

std::string print(const nlohmann::json &value, int indent) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false,
                    nlohmann::json::error_handler_t::replace);
}

std::string describe(const Value &value) {
  switch (value.type()) {
  case Value::value_t::null:
    return "null";
  case Value::value_t::boolean:
    return value.get<bool>() ? "true" : "false";
  case Value::value_t::string: {
    std::string text = value.get<std::string>();
    if (text.size() > 60)
      text = text.substr(0, 57) + "...";
    return "the string " +
           nlohmann::json(text).dump(-1, ' ', false,
                                     nlohmann::json::error_handler_t::replace);
  }
  case Value::value_t::object:
    return "an object of " + utostr(value.size());
  case Value::value_t::array:
    return "an array of " + utostr(value.size());
  default:
    return "the number " + value.dump();
  }
}

void Reader::fail(const Twine &expected) const {
  diagnostics->report(pointer, expected, describe(*value));
}

void Reader::fail(const Twine &expected, const Twine &found) const {
  diagnostics->report(pointer, expected, found);
}

std::optional<bool> Reader::boolean() const {
  if (value->is_boolean())
    return value->get<bool>();
  fail("true or false");
  return std::nullopt;
}

std::optional<std::string> Reader::string() const {
  if (value->is_string())
    return value->get<std::string>();
  fail("a string");
  return std::nullopt;
}

std::optional<std::string> Reader::choice(ArrayRef<StringRef> choices) const {
  if (value->is_string()) {
    std::string text = value->get<std::string>();
    if (is_contained(choices, text))
      return text;
  }
  fail("one of \"" + join(choices, "\", \"") + "\"");
  return std::nullopt;
}

std::optional<int64_t> Reader::integer(int64_t min, int64_t max) const {
  bool fits = value->is_number_integer();
  if (value->is_number_unsigned() &&
      value->get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()))
    fits = false;
  if (fits) {
    int64_t number = value->get<int64_t>();
    if (number >= min && number <= max)
      return number;
  }
  if (min == std::numeric_limits<int64_t>::min())
    fail("an integer");
  else if (max == std::numeric_limits<int64_t>::max())
    fail("an integer of at least " + Twine(min));
  else
    fail("an integer from " + Twine(min) + " to " + Twine(max));
  return std::nullopt;
}

std::optional<uint64_t> Reader::unsignedInteger(uint64_t min,
                                                uint64_t max) const {
  if (value->is_number_unsigned()) {
    uint64_t number = value->get<uint64_t>();
    if (number >= min && number <= max)
      return number;
  }
  if (max == std::numeric_limits<uint64_t>::max())
    fail("an integer of at least " + Twine(min));
  else
    fail("an integer from " + Twine(min) + " to " + Twine(max));
  return std::nullopt;
}

std::optional<double> Reader::number() const {
  if (value->is_number())
    return value->get<double>();
  fail("a number");
  return std::nullopt;
}

std::optional<std::vector<Reader>> Reader::array(size_t min, size_t max) const {
  if (!value->is_array() || value->size() < min || value->size() > max) {
    if (min == max)
      fail("an array of " + Twine(min));
    else if (max != std::numeric_limits<size_t>::max())
      fail("an array of " + Twine(min) + " to " + Twine(max));
    else if (min != 0)
      fail("an array of at least " + Twine(min));
    else
      fail("an array");
    return std::nullopt;
  }
  std::vector<Reader> elements;
  for (size_t i = 0; i != value->size(); ++i)
    elements.emplace_back((*value)[i], childPointer(pointer, utostr(i)),
                          *diagnostics);
  return elements;
}

ObjectReader::ObjectReader(const Reader &reader)
    : reader(reader), valid(reader.get().is_object()) {
  if (!valid)
    reader.fail("an object");
}

std::optional<Reader> ObjectReader::find(StringRef key) {
  if (!valid)
    return std::nullopt;
  known.insert(key.str());
  auto found = reader.get().find(key.str());
  if (found == reader.get().end())
    return std::nullopt;
  return Reader(*found, childPointer(reader.getPointer(), key),
                reader.getDiagnostics());
}

std::optional<Reader> ObjectReader::required(StringRef key) {
  std::optional<Reader> member = find(key);
  if (valid && !member)
    reader.fail("the key \"" + key + "\"", "none");
  return member;
}

std::optional<Reader> ObjectReader::optional(StringRef key) {
  return find(key);
}

std::vector<std::pair<std::string, Reader>> ObjectReader::members() {
  std::vector<std::pair<std::string, Reader>> result;
  if (!valid)
    return result;
  for (const auto &[key, value] : reader.get().items()) {
    known.insert(key);
    result.emplace_back(key,
                        Reader(value, childPointer(reader.getPointer(), key),
                               reader.getDiagnostics()));
  }
  return result;
}

void ObjectReader::finish() {
  if (!valid)
    return;
  for (const auto &[key, value] : reader.get().items())
    if (!known.count(key))
      reader.getDiagnostics().report(childPointer(reader.getPointer(), key),
                                     "only the keys \"" +
                                         join(known, "\", \"") + "\"",
                                     "the unknown key \"" + key + "\"");
}

} // namespace netra::json
