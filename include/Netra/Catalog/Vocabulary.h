//===- Vocabulary.h - Attributes of problems --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Which attributes a problem may have and which values they take, so that a
// tactic which waits for something that no operation asks for is an error of
// its manifest and not a fallback that nobody expected. The same stands in
// manifests/schemas/tactic.schema.json; tests hold this, the schema and the
// operations of the dialect against each other.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_VOCABULARY_H
#define NETRA_CATALOG_VOCABULARY_H

#include "Netra/Catalog/Contract.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace netra {

struct AttributeDefinition {
  enum class Kind : uint8_t {
    Choice,      ///< one of `choices`
    Number,      ///< from `min` to `max`
    BlockScale,  ///< "ROWSxCOLUMNS:TYPE", TYPE f32 or bf16
    Permutation, ///< "1,0": dimensions, each once
  };
  llvm::StringRef name;
  Kind kind;
  llvm::ArrayRef<llvm::StringRef> choices = {};
  double min = 0, max = 0;

  bool accepts(const AttributeValue &value) const;
  /// "one of f32", "a number from 0 to 1", …
  std::string describe() const;
};

/// All of them, by name.
llvm::ArrayRef<AttributeDefinition> allAttributes();
/// Nothing when no operation has an attribute of this name.
const AttributeDefinition *findAttribute(llvm::StringRef name);

} // namespace netra

#endif // NETRA_CATALOG_VOCABULARY_H
