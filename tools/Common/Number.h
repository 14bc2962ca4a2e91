//===- Number.h - Numbers on command lines ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_COMMON_NUMBER_H
#define NETRA_TOOLS_COMMON_NUMBER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace netra::tool {

/// The number from \p least to \p most that \p text spells, decimal or behind
/// 0x, 0o or 0b. The error says what was expected and found; the caller says of
/// which option.
llvm::Expected<uint64_t> parseNumber(llvm::StringRef text, uint64_t least,
                                     uint64_t most);

} // namespace netra::tool

#endif // NETRA_TOOLS_COMMON_NUMBER_H
