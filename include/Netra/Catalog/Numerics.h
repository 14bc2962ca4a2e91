//===- Numerics.h - Named schemes of arithmetic -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What manifests/<target>/numerics.json lists: the orders of sums and the
// roundings that tactics and contracts name. What a scheme means never changes;
// another meaning is another version. docs/numerics.md is about them.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_NUMERICS_H
#define NETRA_CATALOG_NUMERICS_H

#include "Netra/Catalog/Tactic.h"

namespace netra {

struct SchemeDefinition {
  enum class Kind : uint8_t { ReductionOrder, Rounding };

  Kind kind = Kind::ReductionOrder;
  /// "dense.gemv", and 1; 0 for one that will have no other version ("none").
  std::string name;
  uint64_t version = 0;
  /// Constants of a tactic that its bits depend on.
  std::vector<std::string> parameters;
  /// What is done in which order, or rounded where.
  std::string text;

  /// "dense.gemv.v1"
  std::string id() const;
  /// "dense.gemv.v1(ROWS, WAVES)", as a tactic names it.
  std::string spelling() const;
};

/// "reduction_order" or "rounding": the key of manifests and contracts.
llvm::StringRef schemeKindName(SchemeDefinition::Kind kind);

/// The schemes of a catalogue, in the order of the file.
struct SchemeTable {
  std::vector<SchemeDefinition> schemes;

  const SchemeDefinition *find(SchemeDefinition::Kind kind,
                               llvm::StringRef id) const;

  /// What should have been named instead of `scheme` with its parameters: the
  /// scheme of this id, or all there are. Empty when it is one of them.
  std::string expectedFor(SchemeDefinition::Kind kind,
                          const NumericScheme &scheme) const;
  /// The same of a contract's spelling, which has values.
  std::string expectedFor(SchemeDefinition::Kind kind,
                          llvm::StringRef spelling) const;
};

/// A scheme as a contract spells it: "dense.gemv.v1(ROWS=4, WAVES=8)".
struct SchemeInstance {
  std::string id;
  std::vector<std::pair<std::string, int64_t>> values;
};

/// Nothing when it is spelled otherwise.
std::optional<SchemeInstance> parseSchemeInstance(llvm::StringRef spelling);

/// Whether sums can be of this type: an element type, or "none" without sums.
bool isAccumulation(llvm::StringRef name);

/// Parses and checks the file; `path` is used in messages only.
llvm::Expected<SchemeTable> parseSchemes(llvm::StringRef text,
                                         llvm::StringRef path);

} // namespace netra

#endif // NETRA_CATALOG_NUMERICS_H
