//===- Json.h - Strict reading of JSON documents ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Readers that turn a JSON document into typed values and collect every fault
// with file, JSON pointer, what was expected and what was found. Exceptions of
// nlohmann-json do not leave this file's implementation.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_JSON_H
#define NETRA_CATALOG_JSON_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace netra::json {

/// A document as read: object members keep their order.
using Value = nlohmann::ordered_json;

/// The faults of one document, in the order they were found.
class Diagnostics {
public:
  explicit Diagnostics(llvm::StringRef file) : file(file) {}

  void report(llvm::StringRef pointer, const llvm::Twine &expected,
              const llvm::Twine &found);
  bool empty() const { return lines.empty(); }
  const std::vector<std::string> &getLines() const { return lines; }
  /// Success, or one error with a line for each fault.
  llvm::Error takeError();

private:
  std::string file;
  std::vector<std::string> lines;
};

/// Parses strict JSON: no comments, no duplicate keys, at most 64 levels, valid
/// UTF-8. The error names file, line and column.
llvm::Expected<Value> parse(llvm::StringRef text, llvm::StringRef path);

/// The same with the members of objects sorted, for documents of many thousand
/// members: those of a `Value` are searched from the first on.
llvm::Expected<nlohmann::json> parseSorted(llvm::StringRef text,
                                           llvm::StringRef path);

/// Text of a value with sorted keys; `indent` < 0 for one line without spaces.
/// Strings that are not UTF-8 are written with replacement characters.
std::string print(const nlohmann::json &value, int indent);

/// "the string \"abc\"", "an array of 3", …
std::string describe(const Value &value);

/// One value of a document. The getters report a fault and give nothing when
/// the value is not what they want. Document and diagnostics must outlive it.
class Reader {
public:
  Reader(const Value &value, std::string pointer, Diagnostics &diagnostics)
      : value(&value), pointer(std::move(pointer)), diagnostics(&diagnostics) {}

  const Value &get() const { return *value; }
  llvm::StringRef getPointer() const { return pointer; }
  Diagnostics &getDiagnostics() const { return *diagnostics; }

  std::optional<bool> boolean() const;
  std::optional<std::string> string() const;
  /// One of `choices`.
  std::optional<std::string>
  choice(llvm::ArrayRef<llvm::StringRef> choices) const;
  std::optional<int64_t>
  integer(int64_t min = std::numeric_limits<int64_t>::min(),
          int64_t max = std::numeric_limits<int64_t>::max()) const;
  std::optional<uint64_t>
  unsignedInteger(uint64_t min = 0,
                  uint64_t max = std::numeric_limits<uint64_t>::max()) const;
  /// Any number, integers included.
  std::optional<double> number() const;
  std::optional<std::vector<Reader>>
  array(size_t min = 0, size_t max = std::numeric_limits<size_t>::max()) const;

  void fail(const llvm::Twine &expected) const;
  void fail(const llvm::Twine &expected, const llvm::Twine &found) const;

private:
  const Value *value;
  std::string pointer;
  Diagnostics *diagnostics;
};

/// An object whose keys are known. `finish` reports those that were not asked
/// for.
class ObjectReader {
public:
  /// Reports a fault when the value is not an object; every other member then
  /// does nothing.
  explicit ObjectReader(const Reader &reader);

  bool isValid() const { return valid; }
  /// Reports a missing key.
  std::optional<Reader> required(llvm::StringRef key);
  std::optional<Reader> optional(llvm::StringRef key);
  /// All members, in document order; they count as known.
  std::vector<std::pair<std::string, Reader>> members();
  void finish();

private:
  std::optional<Reader> find(llvm::StringRef key);

  Reader reader;
  bool valid;
  std::vector<std::string> known;
};

/// Appends a key or an index to a JSON pointer.
std::string childPointer(llvm::StringRef pointer, llvm::StringRef key);

} // namespace netra::json

#endif // NETRA_CATALOG_JSON_H
