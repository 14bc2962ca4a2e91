//===- MachineTarget.h - LLVM's description of a processor ------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_MACHINETARGET_H
#define NETRA_LIB_TARGET_MACHINETARGET_H

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>

namespace netra {

/// What assembler and disassembler share. Its parts refer to each other, so
/// that it stays where it is made.
struct MachineTarget {
  /// Fails with a message that names `cpu` when LLVM does not know it. May be
  /// called from several threads.
  static llvm::Expected<std::unique_ptr<MachineTarget>>
  create(llvm::StringRef cpu);

  llvm::Triple triple{"amdgcn-amd-amdhsa"};
  llvm::MCTargetOptions options;
  const llvm::Target *target = nullptr;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asmInfo;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
};

/// Decodes machine code of one target. For one thread at a time.
class MachineDecoder {
public:
  /// `isa` as in "amdgcn-amd-amdhsa--gfx950:xnack-". Fails with a message that
  /// names it when LLVM cannot decode it.
  static llvm::Expected<std::unique_ptr<MachineDecoder>>
  create(llvm::StringRef isa);

  const MachineTarget &getMachine() const { return *machine; }

  /// The bytes of the instruction that `code` has at `offset`; 0 when there is
  /// none that LLVM knows.
  uint64_t decode(llvm::ArrayRef<uint8_t> code, uint64_t offset,
                  llvm::MCInst &instruction) const;

private:
  explicit MachineDecoder(std::unique_ptr<MachineTarget> machine);

  std::unique_ptr<MachineTarget> machine;
  llvm::MCContext context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
};

} // namespace netra

#endif // NETRA_LIB_TARGET_MACHINETARGET_H
