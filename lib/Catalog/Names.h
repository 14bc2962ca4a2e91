//===- Names.h - Spelling rules of names in manifests -----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The same rules stand as regular expressions in manifests/schemas; a test
// holds the two against each other.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CATALOG_NAMES_H
#define NETRA_LIB_CATALOG_NAMES_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ConvertUTF.h"

namespace netra {

/// [a-z][a-z0-9_]*: families, operations, roles, attributes, arguments.
inline bool isLowerName(llvm::StringRef name) {
  auto isLower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && isLower(name.front()) &&
         llvm::all_of(name, [&](char c) {
           return isLower(c) || llvm::isDigit(c) || c == '_';
         });
}

/// [A-Z][A-Z0-9_]*: dimensions, options, constants.
inline bool isUpperName(llvm::StringRef name) {
  auto isUpper = [](char c) { return c >= 'A' && c <= 'Z'; };
  return !name.empty() && isUpper(name.front()) &&
         llvm::all_of(name, [&](char c) {
           return isUpper(c) || llvm::isDigit(c) || c == '_';
         });
}

/// [A-Za-z_][A-Za-z0-9_]*: kernel symbols.
inline bool isSymbolName(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// A relative path with forward slashes, each part starting with a letter,
/// digit or '_' and made of these, '.' and '-'.
inline bool isRelativePath(llvm::StringRef path) {
  while (true) {
    auto [part, rest] = path.split('/');
    if (part.empty() || part.front() == '.' || part.front() == '-' ||
        !llvm::all_of(part, [](char c) {
          return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-';
        }))
      return false;
    if (part.size() == path.size())
      return true;
    path = rest;
  }
}

inline bool isUtf8(llvm::StringRef text) {
  const llvm::UTF8 *begin = text.bytes_begin();
  return llvm::isLegalUTF8String(&begin, text.bytes_end());
}

} // namespace netra

#endif // NETRA_LIB_CATALOG_NAMES_H
