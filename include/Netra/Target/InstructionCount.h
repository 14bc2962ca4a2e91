//===- InstructionCount.h - What a launch issues ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_INSTRUCTIONCOUNT_H
#define NETRA_TARGET_INSTRUCTIONCOUNT_H

#include "Netra/Catalog/Catalog.h"
#include "Netra/Target/KernelBuilder.h"

#include <optional>

namespace netra {

/// The instructions that one wave issues from the start of `code` to the end of
/// the program. Numbers in scalar registers are followed, so that a loop with a
/// constant count counts as often as it runs. A branch that depends on anything
/// else (arguments, data, lanes, the place in the grid) is not taken: a loop of
/// unknown length counts once, and what only some waves skip counts. Nothing
/// when code does not decode, jumps to an address in a register, leaves `code`
/// or goes on for more than 2^24 instructions. May be called from several
/// threads.
std::optional<uint64_t> countInstructions(llvm::ArrayRef<uint8_t> code,
                                          llvm::StringRef isa);

/// Counts what `builder`, which must outlive it, makes of an instance, times
/// the waves of its greatest launch. Nothing for what cannot be built.
class AssembledInstructions : public InstructionCounter {
public:
  explicit AssembledInstructions(const KernelBuilder &builder)
      : builder(builder) {}
  std::optional<uint64_t> count(const Instance &instance) const override;

private:
  const KernelBuilder &builder;
};

} // namespace netra

#endif // NETRA_TARGET_INSTRUCTIONCOUNT_H
