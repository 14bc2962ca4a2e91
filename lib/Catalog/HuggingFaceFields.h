//===- HuggingFaceFields.h - Fields of a config.json ------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// How fields of a configuration are read: null is "not set", what is left out
// has the default of its class, and two fields may say the same thing but not
// contradict each other.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CATALOG_HUGGINGFACEFIELDS_H
#define NETRA_LIB_CATALOG_HUGGINGFACEFIELDS_H

#include "ModelNumbers.h"

#include "Netra/Catalog/Json.h"

#include <utility>

namespace netra::config {

using json::ObjectReader;
using json::Reader;

inline void skip(ObjectReader &object, llvm::ArrayRef<llvm::StringRef> keys) {
  for (llvm::StringRef key : keys)
    (void)object.optional(key);
}

/// A member that is there and is not null, as configurations spell "not set".
inline std::optional<Reader> set(ObjectReader &object, llvm::StringRef key) {
  std::optional<Reader> member = object.optional(key);
  if (member && member->get().is_null())
    return std::nullopt;
  return member;
}

inline int64_t sizeOr(ObjectReader &object, llvm::StringRef key,
                      int64_t fallback, int64_t most = maxExtent) {
  if (std::optional<Reader> member = set(object, key))
    return member->integer(1, most).value_or(fallback);
  return fallback;
}

inline double numberOr(ObjectReader &object, llvm::StringRef key,
                       double fallback, const NumberRange &range) {
  if (std::optional<Reader> member = set(object, key))
    return readNumber(*member, range).value_or(fallback);
  return fallback;
}

inline bool flagOr(ObjectReader &object, llvm::StringRef key, bool fallback) {
  if (std::optional<Reader> member = set(object, key))
    return member->boolean().value_or(fallback);
  return fallback;
}

/// A field that may only have the value `allowed`.
inline void onlyFlag(ObjectReader &object, llvm::StringRef key, bool allowed) {
  if (std::optional<Reader> member = set(object, key))
    if (std::optional<bool> value = member->boolean();
        value && *value != allowed)
      member->fail(allowed ? "true; false is not supported"
                           : "false; true is not supported");
}

inline void onlyZero(ObjectReader &object, llvm::StringRef key) {
  if (std::optional<Reader> member = set(object, key))
    if (std::optional<double> value = member->number(); value && *value != 0)
      member->fail("0; other values are not supported");
}

/// One thing that several fields may say.
template <typename T> class Agreed {
public:
  explicit Agreed(T byDefault) : value(std::move(byDefault)) {}

  const T &get() const { return value; }
  /// Of the field that says it; empty for the default.
  llvm::StringRef getPointer() const { return pointer; }

  /// Takes what `member` says, and reports it when an earlier field says
  /// otherwise. `text` is its value in messages.
  void say(const Reader &member, const std::optional<T> &said,
           const std::string &text) {
    if (!said)
      return;
    if (pointer.empty()) {
      value = *said;
      pointer = member.getPointer().str();
      sayText = text;
    } else if (*said != value) {
      member.fail(sayText + ", as " + pointer + " says", text);
    }
  }
  void say(const Reader &member, const std::optional<T> &said) {
    say(member, said, json::describe(member.get()));
  }

  void sayNumber(ObjectReader &object, llvm::StringRef key,
                 const NumberRange &range) {
    if (std::optional<Reader> member = set(object, key))
      say(*member, readNumber(*member, range));
  }
  void saySize(ObjectReader &object, llvm::StringRef key) {
    if (std::optional<Reader> member = set(object, key))
      say(*member, member->integer(1, maxExtent));
  }
  void sayFlag(ObjectReader &object, llvm::StringRef key) {
    if (std::optional<Reader> member = set(object, key))
      say(*member, member->boolean());
  }

private:
  T value;
  std::string pointer, sayText;
};

/// Reports what `second` says otherwise than `first`, member by member.
void expectSame(const Reader &first, const Reader &second);

} // namespace netra::config

#endif // NETRA_LIB_CATALOG_HUGGINGFACEFIELDS_H
