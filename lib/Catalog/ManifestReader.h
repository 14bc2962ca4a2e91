//===- ManifestReader.h - Manifests to typed values -------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CATALOG_MANIFESTREADER_H
#define NETRA_LIB_CATALOG_MANIFESTREADER_H

#include "Netra/Catalog/Catalog.h"
#include "Netra/Catalog/Json.h"

namespace netra {

/// Reads a tactic, reporting every fault to the reader's diagnostics; the value
/// is meaningful only when there were none.
Tactic readTactic(const json::Reader &reader, llvm::StringRef path);
ServingProfile readProfile(const json::Reader &reader, llvm::StringRef path);

} // namespace netra

#endif // NETRA_LIB_CATALOG_MANIFESTREADER_H
