//===- MachineTarget.h - LLVM's description of a processor ------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_MACHINETARGET_H
#define NETRA_LIB_TARGET_MACHINETARGET_H

#include "llvm/MC/MCAsmInfo.h"
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

} // namespace netra

#endif // NETRA_LIB_TARGET_MACHINETARGET_H
