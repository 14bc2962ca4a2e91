//===- TargetTools.cpp - What decoding needs of LLVM ----------------------===//
// SPDX-License-Identifier: MIT

#include "TargetTools.h"
#include "Instruction.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/MCInstrDesc.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include <mutex>
#include <optional>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

using namespace llvm;

namespace netra::sim {

namespace {

/// One register named as LLVM's enumerators are ("VGPR3", "EXEC_LO").
RegisterPlace placeOfSingle(StringRef name) {
  auto numbered = [&](StringRef prefix, RegisterPlace::Kind kind,
                      unsigned base) -> std::optional<RegisterPlace> {
    StringRef rest = name;
    unsigned number = 0;
    if (!rest.consume_front(prefix) || rest.getAsInteger(10, number))
      return std::nullopt;
    return RegisterPlace{kind, uint16_t(base + number), 1};
  };
  if (auto p = numbered("VGPR", RegisterPlace::Vector, 0))
    return *p;
  if (auto p = numbered("AGPR", RegisterPlace::Vector, AccumulationBase))
    return *p;
  if (auto p = numbered("SGPR", RegisterPlace::Scalar, 0))
    return *p;
  if (auto p = numbered("TTMP", RegisterPlace::Scalar, Ttmp0))
    return *p;
  return {};
}

RegisterPlace placeOfRegister(StringRef name) {
  // Target suffixes (TTMP4_vi, FLAT_SCR_LO_gfx9plus, M0_gfx9) do not matter.
  for (StringRef suffix :
       {"_gfx9plus", "_vi", "_ci", "_gfxpre11", "_gfx11plus"})
    if (name.consume_back(suffix))
      break;
  auto scalar = [](unsigned first, unsigned count) {
    return RegisterPlace{RegisterPlace::Scalar, uint16_t(first),
                         uint8_t(count)};
  };
  if (name == "SCC" || name == "SRC_SCC")
    return {RegisterPlace::Scc, 0, 1};
  if (name == "VCC")
    return scalar(VccLo, 2);
  if (name == "VCC_LO")
    return scalar(VccLo, 1);
  if (name == "VCC_HI")
    return scalar(VccHi, 1);
  if (name == "EXEC")
    return scalar(ExecLo, 2);
  if (name == "EXEC_LO")
    return scalar(ExecLo, 1);
  if (name == "EXEC_HI")
    return scalar(ExecHi, 1);
  if (name == "M0")
    return scalar(M0, 1);
  if (name == "FLAT_SCR")
    return scalar(FlatScratchLo, 2);
  if (name == "FLAT_SCR_LO")
    return scalar(FlatScratchLo, 1);
  if (name == "FLAT_SCR_HI")
    return scalar(FlatScratchHi, 1);
  if (name == "XNACK_MASK")
    return scalar(XnackMaskLo, 2);
  if (name == "XNACK_MASK_LO")
    return scalar(XnackMaskLo, 1);
  if (name == "XNACK_MASK_HI")
    return scalar(XnackMaskHi, 1);

  SmallVector<StringRef, 32> parts;
  name.split(parts, '_');
  RegisterPlace place;
  for (StringRef part : parts) {
    for (StringRef suffix : {"gfx9plus", "vi"})
      if (part == suffix)
        return place;
    RegisterPlace single = placeOfSingle(part);
    if (single.kind == RegisterPlace::Other)
      return {};
    if (!place.count)
      place = single;
    else if (single.kind != place.kind ||
             single.first != place.first + place.count)
      return {};
    else
      ++place.count;
  }
  return place;
}

} // namespace

Expected<std::unique_ptr<TargetTools>> TargetTools::create(StringRef cpu) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  auto tools = std::make_unique<TargetTools>();
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(tools->triple, error);
  if (!target)
    return createStringError("LLVM has no AMDGPU target: " + error);
  MCTargetOptions options;
  tools->registers.reset(target->createMCRegInfo(tools->triple));
  tools->asmInfo.reset(
      target->createMCAsmInfo(*tools->registers, tools->triple, options));
  tools->instructions.reset(target->createMCInstrInfo());
  tools->subtarget.reset(target->createMCSubtargetInfo(tools->triple, cpu, ""));
  if (!tools->registers || !tools->asmInfo || !tools->instructions ||
      !tools->subtarget)
    return createStringError("LLVM cannot describe target " + cpu);
  tools->context = std::make_unique<MCContext>(
      tools->triple, tools->asmInfo.get(), tools->registers.get(),
      tools->subtarget.get());
  tools->disassembler.reset(
      target->createMCDisassembler(*tools->subtarget, *tools->context));
  tools->printer.reset(
      target->createMCInstPrinter(tools->triple, 0, *tools->asmInfo,
                                  *tools->instructions, *tools->registers));
  if (!tools->disassembler || !tools->printer)
    return createStringError("LLVM has no disassembler for " + cpu);

  tools->places.resize(tools->registers->getNumRegs());
  for (unsigned r = 1; r < tools->registers->getNumRegs(); ++r)
    tools->places[r] = placeOfRegister(tools->registers->getName(r));
  // The numbers of AMDGPU's operand types are not in LLVM's installed
  // headers; an instruction known to have source modifiers tells.
  for (unsigned op = 0; op < tools->instructions->getNumOpcodes(); ++op)
    if (tools->instructions->getName(op) == "V_ADD_F32_e64_vi")
      tools->inputModifierType =
          tools->instructions->get(op).operands()[1].OperandType;
  if (!tools->inputModifierType)
    return createStringError("this LLVM lacks the instructions of gfx950");
  return tools;
}

} // namespace netra::sim
