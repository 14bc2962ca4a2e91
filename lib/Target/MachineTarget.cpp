//===- MachineTarget.cpp - LLVM's description of a processor --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MachineTarget.h"

#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace llvm;

namespace netra {

static void initializeTargets() {
  static std::once_flag flag;
  std::call_once(flag, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeAMDGPUDisassembler();
  });
}

Expected<std::unique_ptr<MachineTarget>> MachineTarget::create(StringRef cpu) {
  initializeTargets();
  auto machine = std::make_unique<MachineTarget>();
  const Triple &triple = machine->triple;
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError("LLVM has no AMDGPU target: " + message);
  machine->target = target;
  machine->registers.reset(target->createMCRegInfo(triple));
  machine->asmInfo.reset(
      target->createMCAsmInfo(*machine->registers, triple, machine->options));
  machine->instructions.reset(target->createMCInstrInfo());
  // Asked before a subtarget is made for it, which would print a warning.
  std::unique_ptr<MCSubtargetInfo> known(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!known || cpu.empty() || !known->isCPUStringValid(cpu))
    return createStringError("expected a processor that LLVM knows, found \"" +
                             cpu + "\"");
  machine->subtarget.reset(
      target->createMCSubtargetInfo(triple, cpu, /*Features=*/""));
  return machine;
}

} // namespace netra
