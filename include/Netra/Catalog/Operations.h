//===- Operations.h - What operations are made of ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The dimensions, operands and attributes that problems of each operation have,
// so that a contract which says something else is found without the operation
// itself being there. The operations of the dialect are verified in its own
// terms; tests hold what they ask of tactics against this.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_OPERATIONS_H
#define NETRA_CATALOG_OPERATIONS_H

#include "Netra/Catalog/Contract.h"
#include "Netra/Catalog/Expression.h"

namespace netra {

/// One operand or result.
struct OperandDefinition {
  std::string role;
  bool isResult = false, isOptional = false;
  /// Extents over dimensions. Of a rank below that, leading extents are 1.
  std::vector<Expression> shape;
  /// `shape` is followed by nothing, but its first extent may be the product of
  /// several.
  bool hasLeadingProduct = false;
  /// The operand is as large as it likes to be; `shape` is empty.
  bool hasAnyShape = false;
  /// Of a scale: the operand that it scales and the attribute that tells the
  /// block and the type; `shape` is empty.
  std::string scales, blockScale;
  /// How many of the first extent a launch can ask for at most, where that may
  /// be fewer than there are: rows of a table, experts.
  std::optional<Expression> touched;
};

/// What a problem of one operation is made of.
struct OperationDefinition {
  /// "netra.dense", as launches and modules name it.
  std::string name;
  std::string family, operation;
  std::vector<std::string> dimensions;
  std::vector<OperandDefinition> operands;
  std::vector<std::string> attributes;
  /// Block scales that are there exactly when the scale they describe is.
  std::vector<std::string> optionalAttributes;
  /// Names that expressions use beside dimensions: a number that an attribute
  /// decides.
  struct Derived {
    std::string name, attribute;
    /// `inside` for these values of the attribute, `outside` for others.
    std::vector<std::string> values;
    int64_t inside, outside;
  };
  std::vector<Derived> derived;
  /// Hold for dimensions, derived names and HAS_ROLE, which is 1 or 0.
  std::vector<Expression> requirements;
  /// Additions, multiplications, divisions and elementary functions, one each,
  /// over the names of `requirements`, COLUMNS_ROLE (the last extent),
  /// ELEMENTS_ROLE, and those that Cost.cpp makes of attributes.
  Expression flop;
  /// The operands that matrix units multiply. When one is absent, as when there
  /// are none, the arithmetic is that of vectors.
  std::vector<std::string> factors;

  /// Null when there is no operand of this role.
  const OperandDefinition *find(llvm::StringRef role) const;
};

/// All of them, by name.
llvm::ArrayRef<OperationDefinition> allOperations();
/// Nothing when there is no such operation.
const OperationDefinition *findOperation(llvm::StringRef family,
                                         llvm::StringRef operation);

/// What in `problem` is not what a problem of its operation has, a line each.
/// The problem has passed `Problem::verify`.
std::vector<std::string> verifyOperation(const Problem &problem);

} // namespace netra

#endif // NETRA_CATALOG_OPERATIONS_H
