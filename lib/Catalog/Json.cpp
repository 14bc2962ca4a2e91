//===- Json.cpp - Strict reading of JSON documents ------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Json.h"

#include "Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>

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
  std::string result;
  result.reserve(pointer.size() + 1 + key.size());
  result += pointer;
  result += '/';
  if (key.find_first_of("~/") == StringRef::npos) {
    result += key;
    return result;
  }
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

/// Bytes of files that may be anything, as terminals show them.
static std::string escape(StringRef bytes) {
  std::string text;
  for (char c : bytes)
    text += isPrint(c) ? std::string(1, c)
                       : "\\x" + toHex(StringRef(&c, 1), /*LowerCase=*/true);
  return text;
}

namespace {
// Destroying a document needs no more stack than this.
constexpr size_t maxDepth = 64;

/// Reads what manifests are made of, several times as fast as the parser below.
/// It leaves to it whatever has an escape, a long number or a fault, which that
/// one finds and names.
template <typename Document> class PlainReader {
public:
  explicit PlainReader(StringRef text) : at(text.begin()), end(text.end()) {}

  bool read(Document &document) {
    if (!readValue(document, 0))
      return false;
    skipSpace();
    return at == end;
  }

private:
  void skipSpace() {
    while (at != end &&
           (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
      ++at;
  }
  /// Whether `c` comes next, which is consumed then.
  bool consume(char c) {
    skipSpace();
    if (at == end || *at != c)
      return false;
    ++at;
    return true;
  }
  bool consumeWord(StringRef word) {
    if (!StringRef(at, end - at).starts_with(word))
      return false;
    at += word.size();
    return true;
  }

  bool readValue(Document &value, size_t depth) {
    skipSpace();
    if (at == end)
      return false;
    switch (*at) {
    case '{':
      return depth != maxDepth && readObject(value, depth + 1);
    case '[':
      return depth != maxDepth && readArray(value, depth + 1);
    case '"': {
      StringRef text;
      if (!readString(text))
        return false;
      value = text.str();
      return true;
    }
    case 't':
      value = true;
      return consumeWord("true");
    case 'f':
      value = false;
      return consumeWord("false");
    case 'n':
      value = nullptr;
      return consumeWord("null");
    default:
      return readNumber(value);
    }
  }

  bool readObject(Document &value, size_t depth) {
    ++at;
    value = Document::object();
    auto &members = value.template get_ref<typename Document::object_t &>();
    if (consume('}'))
      return true;
    if constexpr (std::is_same_v<Document, Value>)
      members.reserve(8);
    do {
      StringRef key;
      skipSpace();
      if (!readString(key) || !consume(':'))
        return false;
      auto [member, isNew] = members.emplace(key.str(), nullptr);
      if (!isNew || !readValue(member->second, depth))
        return false;
    } while (consume(','));
    return consume('}');
  }

  bool readArray(Document &value, size_t depth) {
    ++at;
    value = Document::array();
    auto &elements = value.template get_ref<typename Document::array_t &>();
    if (consume(']'))
      return true;
    do {
      if (!readValue(elements.emplace_back(), depth))
        return false;
    } while (consume(','));
    return consume(']');
  }

  bool readString(StringRef &text) {
    if (at == end || *at != '"')
      return false;
    const char *begin = ++at;
    bool isAscii = true;
    for (; at != end && *at != '"'; ++at) {
      auto byte = static_cast<unsigned char>(*at);
      if (byte == '\\' || byte < 0x20)
        return false;
      isAscii &= byte < 0x80;
    }
    if (at == end)
      return false;
    text = StringRef(begin, at++ - begin);
    return isAscii || isUtf8(text);
  }

  /// A negative integer is signed, any other unsigned, as below.
  bool readNumber(Document &value) {
    const char *begin = at;
    bool isNegative = *at == '-';
    at += isNegative;
    uint64_t magnitude = 0;
    const char *first = at;
    for (; at != end && isDigit(*at); ++at)
      magnitude = magnitude * 10 + uint64_t(*at - '0');
    size_t digits = at - first;
    if (digits == 0 || digits > 18 || (*first == '0' && digits != 1))
      return false;
    bool isFraction = at != end && *at == '.';
    if (isFraction && (++at, !skipDigits()))
      return false;
    bool hasExponent = at != end && (*at == 'e' || *at == 'E');
    if (hasExponent) {
      ++at;
      if (at != end && (*at == '+' || *at == '-'))
        ++at;
      if (!skipDigits())
        return false;
    }
    if (isFraction || hasExponent) {
      double number;
      if (std::from_chars(begin, at, number).ec != std::errc())
        return false;
      value = number;
    } else if (isNegative) {
      value = -int64_t(magnitude);
    } else {
      value = magnitude;
    }
    return true;
  }
  bool skipDigits() {
    const char *first = at;
    while (at != end && isDigit(*at))
      ++at;
    return at != first;
  }

  const char *at, *end;
};

/// Builds a document while it is read, and stops where a text is not strict.
template <typename Document> class Builder : public Document::json_sax_t {
public:
  using Base = typename Document::json_sax_t;
  using String = typename Base::string_t;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(typename Base::number_integer_t value) override {
    return add(value);
  }
  bool number_unsigned(typename Base::number_unsigned_t value) override {
    return add(value);
  }
  bool number_float(typename Base::number_float_t value,
                    const String &) override {
    return add(value);
  }
  bool string(String &value) override { return add(std::move(value)); }
  bool binary(typename Base::binary_t &) override { return false; }

  bool start_object(size_t) override { return open(Document::object()); }
  bool start_array(size_t) override { return open(Document::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(String &name) override {
    auto [member, isNew] =
        around.back()
            ->template get_ref<typename Document::object_t &>()
            .emplace(name, nullptr);
    if (!isNew && fault.empty())
      fault = "expected each key once, found \"" + escape(name) + "\" twice";
    next = &member->second;
    return true;
  }

  bool parse_error(size_t, const std::string &,
                   const nlohmann::detail::exception &exception) override {
    // "[json.exception.parse_error.101] parse error at line …": the bracket
    // says nothing to a user.
    StringRef message = StringRef(exception.what()).split("] ").second;
    // It repeats what was read last, which may be a number of a megabyte.
    constexpr size_t longest = 300;
    fault = "expected JSON, found " + escape(message.take_front(longest)) +
            (message.size() > longest ? "..." : "");
    return false;
  }

  Document document;
  std::string fault;

private:
  /// Puts a value where the next one belongs.
  template <typename T> Document *put(T &&value) {
    if (next)
      *next = std::forward<T>(value);
    else
      around.back()->push_back(std::forward<T>(value));
    Document *place = next ? next : &around.back()->back();
    next = nullptr;
    return place;
  }
  template <typename T> bool add(T &&value) {
    put(Document(std::forward<T>(value)));
    return true;
  }
  bool open(Document container) {
    if (around.size() == maxDepth) {
      fault = "expected at most " + utostr(maxDepth) + " nested levels";
      return false;
    }
    around.push_back(put(std::move(container)));
    if constexpr (std::is_same_v<Document, Value>)
      if (around.back()->is_object())
        around.back()
            ->template get_ref<typename Document::object_t &>()
            .reserve(8);
    return true;
  }
  bool close() {
    around.pop_back();
    next = nullptr;
    return true;
  }

  /// Objects and arrays that are open. The last one alone grows, so that the
  /// pointers stay good.
  std::vector<Document *> around;
  /// Where the value of the last key goes.
  Document *next = &document;
};
} // namespace

template <typename Document>
static Expected<Document> parseAs(StringRef text, StringRef path) {
  if (Document document; PlainReader<Document>(text).read(document))
    return document;
  Builder<Document> builder;
  Document::sax_parse(text.begin(), text.end(), &builder);
  if (!builder.fault.empty())
    return createStringError(path + ": " + builder.fault);
  return std::move(builder.document);
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
  if (valid)
    known.reserve(16); // more than most objects have
  else
    reader.fail("an object");
}

std::optional<Reader> ObjectReader::find(StringRef key) {
  if (!valid)
    return std::nullopt;
  known.push_back(key.str());
  auto found = reader.get().find(known.back());
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
    known.push_back(key);
    result.emplace_back(key,
                        Reader(value, childPointer(reader.getPointer(), key),
                               reader.getDiagnostics()));
  }
  return result;
}

void ObjectReader::finish() {
  if (!valid)
    return;
  for (const auto &[key, value] : reader.get().items()) {
    if (is_contained(known, key))
      continue;
    llvm::sort(known);
    known.erase(llvm::unique(known), known.end());
    reader.getDiagnostics().report(childPointer(reader.getPointer(), key),
                                   "only the keys \"" + join(known, "\", \"") +
                                       "\"",
                                   "the unknown key \"" + key + "\"");
  }
}

} // namespace netra::json
