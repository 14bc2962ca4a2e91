//===- Coverage.cpp - All instructions of the target ---------------------===//
// SPDX-License-Identifier: MIT

#include "Netra/Simulator/Coverage.h"
#include "Program.h"
#include "TargetTools.h"
#include "llvm/MC/MCInst.h"
#include <set>

using namespace llvm;

namespace netra::sim {

Expected<std::vector<CodeObject::Coverage>> knownCoverage() {
  Expected<std::unique_ptr<TargetTools>> tools = TargetTools::create("gfx950");
  if (!tools)
    return tools.takeError();
  const SemanticsTable &table = semanticsTable(MatrixArithmetic::Cdna3);
  std::set<std::string> names;
  for (unsigned op = 0; op < (*tools)->instructions->getNumOpcodes(); ++op) {
    // LLVM has one table for all of AMD's GPUs; these are the encodings of the
    // family, and the rest does not decode.
    const StringRef opcode = (*tools)->instructions->getName(op);
    if (!opcode.contains("_vi") && !opcode.contains("_gfx9"))
      continue;
    MCInst inst;
    inst.setOpcode(op);
    const auto [text, bits] = (*tools)->printer->getMnemonic(inst);
    if (!text || !bits)
      continue;
    StringRef name = StringRef(text).split(' ').first;
    for (const char *encoding : {"_e32", "_e64", "_dpp", "_sdwa"})
      name.consume_back(encoding);
    // A branch and what LLVM puts behind it on other targets is no instruction.
    if (!name.ends_with("_pad_s_nop") && (table.find(name) || refusalOf(name)))
      names.insert(name.str());
  }
  std::vector<CodeObject::Coverage> all;
  for (const std::string &name : names)
    all.push_back(*mnemonicCoverage(name));
  return all;
}

} // namespace netra::sim
