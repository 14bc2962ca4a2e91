//===- Disassembler.cpp - Machine code as text ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Equivalence.h"

#include "MachineTarget.h"

#include "llvm/MC/MCInstPrinter.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace netra {

Expected<std::vector<DisassembledInstruction>>
disassemble(ArrayRef<uint8_t> code, StringRef isa) {
  Expected<std::unique_ptr<MachineDecoder>> decoder =
      MachineDecoder::create(isa);
  if (!decoder)
    return decoder.takeError();
  const MachineTarget &machine = (*decoder)->getMachine();
  std::unique_ptr<MCInstPrinter> printer(machine.target->createMCInstPrinter(
      machine.triple, /*SyntaxVariant=*/0, *machine.asmInfo,
      *machine.instructions, *machine.registers));
  if (!printer)
    return createStringError("LLVM has no instruction printer for " + isa);

  std::vector<DisassembledInstruction> result;
  for (uint64_t at = 0; at < code.size();) {
    MCInst instruction;
    uint64_t size = (*decoder)->decode(code, at, instruction);
    std::string text;
    raw_string_ostream stream(text);
    if (size != 0) {
      printer->printInst(&instruction, at, /*Annot=*/"", *machine.subtarget,
                         stream);
    } else {
      ArrayRef<uint8_t> rest = code.drop_front(at);
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
