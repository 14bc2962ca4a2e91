//===- Listing.h - What the catalogue offers --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_TRANSLATE_LISTING_H
#define NETRA_TOOLS_TRANSLATE_LISTING_H

#include "Netra/Catalog/Catalog.h"

#include "llvm/Support/raw_ostream.h"

namespace netra {

/// One line per tactic, or one JSON document.
void listTactics(const Catalog &catalog, bool json, llvm::raw_ostream &out);

/// One line per profile.
void listProfiles(const Catalog &catalog, llvm::raw_ostream &out);

} // namespace netra

#endif // NETRA_TOOLS_TRANSLATE_LISTING_H
