//===- Listing.h - What the catalogue offers --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_TRANSLATE_LISTING_H
#define NETRA_TOOLS_TRANSLATE_LISTING_H

#include "Netra/Catalog/Catalog.h"
#include "Netra/Target/AssemblyCache.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace netra {

/// What is known of the machine code of tactics.
struct TacticHashes {
  struct Code {
    std::string symbol, contract, textSha256, identitySha256;
  };
  /// By name: the source-integrity hash of the template, and the code of the
  /// instances that somebody has named.
  std::map<std::string, std::string> sources;
  std::map<std::string, std::vector<Code>> instances;
};

/// The tactics that fit all of `conditions`, KEY=PATTERN each, in the order of
/// the catalogue. A key is `name`, `family`, `operation`, `maturity` or
/// `evidence` (the kind of a record); a pattern may have `*`, `?` and `[…]`.
llvm::Expected<std::vector<const Tactic *>>
filterTactics(const Catalog &catalog, llvm::ArrayRef<std::string> conditions);

/// Hashes the sources of the tactics, and assembles each instance of them that
/// their evidence or a deployment of the target names; with a cache, what that
/// does not have.
llvm::Expected<TacticHashes> hashTactics(const Catalog &catalog,
                                         llvm::ArrayRef<const Tactic *> tactics,
                                         unsigned threads,
                                         std::shared_ptr<AssemblyCache> cache);

/// One line per tactic, or one JSON document, with hashes if there are any.
void listTactics(const Catalog &catalog, llvm::ArrayRef<const Tactic *> tactics,
                 bool json, const TacticHashes &hashes, llvm::raw_ostream &out);

/// One line per profile.
void listProfiles(const Catalog &catalog, llvm::raw_ostream &out);

} // namespace netra

#endif // NETRA_TOOLS_TRANSLATE_LISTING_H
