//===- Expression.h - Integer expressions of manifests ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
//   expression := or
//   or         := and ("||" and)*
//   and        := compare ("&&" compare)*
//   compare    := sum (("==" | "!=" | "<=" | ">=" | "<" | ">") sum)?
//   sum        := product (("+" | "-") product)*
//   product    := unary (("*" | "/" | "%") unary)*
//   unary      := ("-" | "!") unary | primary
//   primary    := integer | identifier | "(" expression ")"
//               | ("ceildiv" | "floordiv" | "min" | "max") "(" e "," e ")"
//
// Values are signed 64-bit integers; a comparison gives 1 or 0, and any value
// but 0 is true. "/" is exact: a remainder is an error. "%" and "floordiv"
// round towards negative infinity and need a positive divisor. "&&" and "||"
// do not evaluate what cannot matter. Overflow is an error.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_EXPRESSION_H
#define NETRA_CATALOG_EXPRESSION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace netra {

/// A parsed expression: an immutable value, cheap to copy, safe to share
/// between threads.
class Expression {
public:
  /// The constant 0.
  Expression();

  /// Messages give the column, counted from 1, and show the text.
  static llvm::Expected<Expression> parse(llvm::StringRef text);

  static Expression constant(int64_t value);

  /// Value with identifiers looked up in `variables`, or through `lookup`.
  llvm::Expected<int64_t>
  evaluate(const std::map<std::string, int64_t> &variables) const;
  llvm::Expected<int64_t> evaluate(
      llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup) const;
  /// The same where `values` are those of identifiers(), for who evaluates many
  /// times.
  llvm::Expected<int64_t>
  evaluate(llvm::ArrayRef<const int64_t *> values) const;

  /// A constant and multiples of names.
  struct Linear {
    int64_t constant = 0;
    std::map<std::string, int64_t> terms; // none is 0
  };
  /// The same where some identifiers stand for linear forms. What is not linear
  /// in them, such as a product of two, is an error that says so.
  llvm::Expected<Linear> evaluateLinear(
      llvm::function_ref<llvm::Expected<Linear>(llvm::StringRef)> lookup) const;

  /// Identifiers that occur, sorted, each once.
  const std::vector<std::string> &identifiers() const;

  /// The text it was parsed from.
  llvm::StringRef text() const;

  struct Node;

private:
  struct Storage;
  explicit Expression(std::shared_ptr<const Storage> storage)
      : storage(std::move(storage)) {}
  std::shared_ptr<const Storage> storage;
};

} // namespace netra

#endif // NETRA_CATALOG_EXPRESSION_H
