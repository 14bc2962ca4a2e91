//===- Numbers.h - Numbers as text ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_SIMULATOR_NUMBERS_H
#define NETRA_SIMULATOR_NUMBERS_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace netra::sim {

/// The number that `text` spells, decimal or behind 0x, 0o or 0b; nothing when
/// it spells none or one above `most`. A sign is none, nor is a zero in front:
/// it would make the number octal, which nobody means. Thread-safe.
inline std::optional<uint64_t> parseNumber(llvm::StringRef text,
                                           uint64_t most = UINT64_MAX) {
  uint64_t value;
  bool looksOctal = text.size() > 1 && text[0] == '0' && llvm::isDigit(text[1]);
  if (looksOctal || text.getAsInteger(0, value) || value > most)
    return std::nullopt;
  return value;
}

} // namespace netra::sim

#endif // NETRA_SIMULATOR_NUMBERS_H
