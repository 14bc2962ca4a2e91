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

/// Hashes the sources of all tactics, and assembles each instance that the
/// evidence of a tactic or a deployment of the target names; with a cache,
/// what that does not have.
llvm::Expected<TacticHashes> hashTactics(const Catalog &catalog,
                                         unsigned threads,
                                         std::shared_ptr<AssemblyCache> cache);

/// One line per tactic, or one JSON document, with hashes if there are any.
void listTactics(const Catalog &catalog, bool json, const TacticHashes &hashes,
                 llvm::raw_ostream &out);

/// One line per profile.
void listProfiles(const Catalog &catalog, llvm::raw_ostream &out);

} // namespace netra

#endif // NETRA_TOOLS_TRANSLATE_LISTING_H
