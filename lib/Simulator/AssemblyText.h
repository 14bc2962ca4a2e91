//===- AssemblyText.h - Pieces of a printed instruction ---------*- C++ -*-===//
// SPDX-License-Identifier: MIT

#ifndef NETRA_LIB_SIMULATOR_ASSEMBLYTEXT_H
#define NETRA_LIB_SIMULATOR_ASSEMBLYTEXT_H

#include "Instruction.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace netra::sim {

/// Splits at commas outside brackets and quotes.
void splitOperands(llvm::StringRef text,
                   llvm::SmallVectorImpl<llvm::StringRef> &parts);

/// Splits at blanks outside brackets.
void splitTokens(llvm::StringRef text,
                 llvm::SmallVectorImpl<llvm::StringRef> &tokens);

std::optional<int64_t> parseInteger(llvm::StringRef text);

/// "[1,0,1]" to a mask.
uint8_t parseMask(llvm::StringRef text);

std::optional<SdwaSel> parseSel(llvm::StringRef text);

/// Parses a register, special value or `off`. Returns false when the text is
/// not one (a number or a modifier).
bool parseRegister(llvm::StringRef text, Operand &op);

/// Whether the LDS instruction \p text takes its address from M0.
bool addressesByM0(llvm::StringRef text);

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_ASSEMBLYTEXT_H
