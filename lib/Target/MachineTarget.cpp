//===- MachineTarget.cpp - LLVM's description of a processor --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "MachineTarget.h"

#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

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

MachineDecoder::MachineDecoder(std::unique_ptr<MachineTarget> made)
    : machine(std::move(made)),
      context(machine->triple, machine->asmInfo.get(), machine->registers.get(),
              machine->subtarget.get()),
      disassembler(machine->target->createMCDisassembler(*machine->subtarget,
                                                         context)) {}

Expected<std::unique_ptr<MachineDecoder>>
MachineDecoder::create(StringRef isa) {
  StringRef cpu = isa.rsplit("--").second.split(':').first;
  Expected<std::unique_ptr<MachineTarget>> machine = MachineTarget::create(cpu);
  if (!machine)
    return createStringError("disassembly of \"" + isa +
                             "\": " + toString(machine.takeError()));
  std::unique_ptr<MachineDecoder> decoder(
      new MachineDecoder(std::move(*machine)));
  if (!decoder->disassembler)
    return createStringError("LLVM has no disassembler for " + isa);
  return decoder;
}

uint64_t MachineDecoder::decode(ArrayRef<uint8_t> code, uint64_t offset,
                                MCInst &instruction) const {
  if (offset >= code.size())
    return 0;
  uint64_t size = 0;
  ArrayRef<uint8_t> rest = code.drop_front(offset);
  bool isKnown =
      disassembler->getInstruction(instruction, size, rest, offset, nulls()) ==
      MCDisassembler::Success;
  return isKnown && size <= rest.size() ? size : 0;
}

} // namespace netra
