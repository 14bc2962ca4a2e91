//===- Disassembler.cpp - Machine code as text ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Equivalence.h"

#include "MachineTarget.h"

#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace netra {

Expected<std::vector<DisassembledInstruction>>
disassemble(ArrayRef<uint8_t> code, StringRef isa) {
  // "amdgcn-amd-amdhsa--gfx950:xnack-"
  StringRef cpu = isa.rsplit("--").second.split(':').first;
  Expected<std::unique_ptr<MachineTarget>> made = MachineTarget::create(cpu);
  if (!made)
    return createStringError("disassembly of \"" + isa +
                             "\": " + toString(made.takeError()));
  const MachineTarget &machine = **made;
  MCContext context(machine.triple, machine.asmInfo.get(),
                    machine.registers.get(), machine.subtarget.get());
  std::unique_ptr<MCDisassembler> disassembler(
      machine.target->createMCDisassembler(*machine.subtarget, context));
  std::unique_ptr<MCInstPrinter> printer(machine.target->createMCInstPrinter(
      machine.triple, /*SyntaxVariant=*/0, *machine.asmInfo,
      *machine.instructions, *machine.registers));
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
      printer->printInst(&instruction, at, /*Annot=*/"", *machine.subtarget,
                         stream);
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
