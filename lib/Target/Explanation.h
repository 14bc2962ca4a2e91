//===- Explanation.h - Why a kernel was chosen, as JSON ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// explain.json is written when an engine is made, and made again by whoever
// holds it against a catalogue. docs/engine-format.md has its keys.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_EXPLANATION_H
#define NETRA_LIB_TARGET_EXPLANATION_H

#include "Netra/Catalog/Catalog.h"
#include "Netra/Target/Assembler.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace netra {

/// "dense.dense": what tactics compete for.
std::string competitionOf(llvm::StringRef family, llvm::StringRef operation);

/// `cost` with the key that says whether its bytes are those of the contract.
nlohmann::json describeCost(const Cost &cost, bool isOfContract);

/// Why `self` was taken, of `total` tactics, when `others` match as well, in
/// the order of selection. Whatever is said follows from what stands there.
std::string explainChoice(const Standing &self, llvm::ArrayRef<Standing> others,
                          size_t total, bool isNamedByModule);

/// The evidence of a tactic as validation.json states it.
nlohmann::json describeEvidence(const Tactic &tactic);

/// Explains kernels of one engine.
class Explainer {
public:
  /// `catalog` and `assembler` outlive it. `options` are those of the
  /// selection.
  Explainer(const Catalog &catalog, const Assembler &assembler,
            SelectOptions options)
      : catalog(catalog), assembler(assembler), options(std::move(options)) {}

  /// The selection of a kernel, made again.
  nlohmann::json explain(const Instance &instance) const;

  /// What selection was allowed, and the tactics of each competition that
  /// `problems` are of.
  nlohmann::json
  describeSelection(llvm::ArrayRef<const Problem *> problems) const;

  /// The tactics of `competition` with a hash of all that they are: the
  /// manifest and the template with what it includes, or the golden code.
  nlohmann::json describeTactics(llvm::StringRef competition) const;

  /// Whether one of the tactics of `competition` is golden code.
  bool hasGolden(llvm::StringRef competition) const;

private:
  const Catalog &catalog;
  const Assembler &assembler;
  SelectOptions options;
};

} // namespace netra

#endif // NETRA_LIB_TARGET_EXPLANATION_H
