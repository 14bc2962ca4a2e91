//===- TargetTools.h - What decoding needs of LLVM --------------*- C++ -*-===//
// SPDX-License-Identifier: MIT

#ifndef NETRA_LIB_SIMULATOR_TARGETTOOLS_H
#define NETRA_LIB_SIMULATOR_TARGETTOOLS_H

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"
#include <memory>
#include <vector>

namespace netra::sim {

/// Where an LLVM register lies in the simulator's files.
struct RegisterPlace {
  enum Kind : uint8_t { Other, Vector, Scalar, Scc } kind = Other;
  uint16_t first = 0;
  uint8_t count = 0;
};

/// The parts of LLVM that decoding needs, for one CPU. Not thread-safe.
struct TargetTools {
  llvm::Triple triple{"amdgcn-amd-amdhsa"};
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asmInfo;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  std::vector<RegisterPlace> places; ///< by register number
  unsigned inputModifierType = 0;    ///< OperandType of source modifiers

  static llvm::Expected<std::unique_ptr<TargetTools>>
  create(llvm::StringRef cpu);
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_TARGETTOOLS_H
