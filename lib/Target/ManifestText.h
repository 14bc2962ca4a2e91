//===- ManifestText.h - Editing the text of a manifest ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_MANIFESTTEXT_H
#define NETRA_LIB_TARGET_MANIFESTTEXT_H

#include "Netra/Target/Promotion.h"

#include <optional>
#include <utility>

namespace netra {

/// Where the value of a member of the outermost object of JSON that has been
/// parsed begins and ends.
std::optional<std::pair<size_t, size_t>> locateMember(llvm::StringRef text,
                                                      llvm::StringRef key);

/// The manifest of a tactic or of a golden, by its format.
llvm::Expected<Tactic> parseManifest(const NamedText &manifest);

} // namespace netra

#endif // NETRA_LIB_TARGET_MANIFESTTEXT_H
