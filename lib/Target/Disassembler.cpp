//===- Disassembler.cpp - Machine code as text ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Equivalence.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace llvm;

namespace netra {

static void initializeTargets() {
  static std::once_flag flag;
  std::call_once(flag, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
}

Expected<std::vector<DisassembledInstruction>>
disassemble(ArrayRef<uint8_t> code, StringRef isa) {
  initializeTargets();
  // "amdgcn-amd-amdhsa--gfx950:xnack-"
  StringRef cpu = isa.rsplit("--").second.split(':').first;
  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError("LLVM has no AMDGPU target: " + message);
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> asmInfo(
      target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
  // Asked before a subtarget is made for it, which would print a warning.
  std::unique_ptr<MCSubtargetInfo> known(
      target->createMCSubtargetInfo(triple, "", ""));
  if (!known || cpu.empty() || !known->isCPUStringValid(cpu))
    return createStringError("disassembly: expected a processor that LLVM "
                             "knows, found \"" +
                             isa + "\"");
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, cpu, ""));
  MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get());
  std::unique_ptr<MCDisassembler> disassembler(
      target->createMCDisassembler(*subtarget, context));
  std::unique_ptr<MCInstPrinter> printer(target->createMCInstPrinter(
      triple, /*SyntaxVariant=*/0, *asmInfo, *instructions, *registers));
  if (!disassembler || !printer)
    return createStringError("LLVM has no disassembler for " + isa);

  std::vector<DisassembledInstruction> result;
  for (uint64_t at = 0; at < code.size();) {
    MCInst instruction;
    uint64_t size = 0;
    std::string text;
    raw_string_ostream stream(text);
    ArrayRef<uint8_t> rest = code.drop_front(at);
    if (disassembler->getInstruction(instruction, size, rest, at, nulls()) ==
            MCDisassembler::Success &&
        size != 0 && size <= rest.size()) {
      printer->printInst(&instruction, at, /*Annot=*/"", *subtarget, stream);
    } else {
      size = std::min<uint64_t>(4, rest.size());
      uint32_t word = 0;
      for (uint64_t i = size; i-- > 0;)
        word = word << 8 | rest[i];
      stream << ".long " << format_hex(word, 10);
    }
    std::string line;
    for (char c : StringRef(text).trim())
      line += c == '\t' ? ' ' : c;
    result.push_back({at, std::move(line)});
    at += size;
  }
  return result;
}

} // namespace netra
