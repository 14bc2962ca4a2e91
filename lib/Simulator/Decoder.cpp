//===- Decoder.cpp - Machine code to the simulator's form ----------------===//
// SPDX-License-Identifier: MIT
//
// LLVM's disassembler gives an MCInst and, through its printer, the assembly
// text. The text has the operands in one canonical order for every encoding and
// names the modifiers; the MCInst has constants with their exact bits and the
// source modifiers. Both are read here, once per instruction.
//
//===----------------------------------------------------------------------===//

#include "AssemblyText.h"
#include "Execution.h"
#include "Program.h"
#include "TargetTools.h"
#include "Wave.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrDesc.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <array>
#include <map>
#include <mutex>

using namespace llvm;

namespace netra::sim {

static InstructionClass classify(StringRef mnemonic, const MCInstrDesc &desc) {
  using C = InstructionClass;
  if (mnemonic.starts_with("s_")) {
    if (mnemonic.starts_with("s_load") || mnemonic.starts_with("s_buffer_") ||
        mnemonic.starts_with("s_store") || mnemonic.starts_with("s_atomic") ||
        mnemonic.starts_with("s_scratch") || mnemonic.starts_with("s_dcache") ||
        mnemonic.starts_with("s_atc_probe") ||
        mnemonic.starts_with("s_memtime") ||
        mnemonic.starts_with("s_memrealtime"))
      return C::ScalarMemory;
    if (mnemonic.starts_with("s_branch") || mnemonic.starts_with("s_cbranch") ||
        mnemonic.starts_with("s_call") || mnemonic.starts_with("s_setpc") ||
        mnemonic.starts_with("s_swappc"))
      return C::Branch;
    for (StringRef name :
         {"s_waitcnt", "s_nop", "s_barrier", "s_endpgm", "s_sleep", "s_setprio",
          "s_sethalt", "s_setkill", "s_sendmsg", "s_icache_inv", "s_trap",
          "s_incperflevel", "s_decperflevel", "s_ttracedata", "s_wakeup",
          "s_set_gpr_idx_off", "s_set_gpr_idx_mode"})
      if (mnemonic.starts_with(name))
        return C::Message;
    return C::Salu;
  }
  if (mnemonic.starts_with("v_mfma") || mnemonic.starts_with("v_smfmac"))
    return C::Mfma;
  if (mnemonic.starts_with("v_")) {
    for (StringRef name :
         {"v_rcp", "v_rsq", "v_sqrt", "v_exp_", "v_log_", "v_sin", "v_cos"})
      if (mnemonic.starts_with(name))
        return C::Transcendental;
    return C::Valu;
  }
  if (mnemonic.starts_with("ds_"))
    return C::Lds;
  if (mnemonic.starts_with("flat_"))
    return C::Flat;
  return C::VectorMemory;
}

/// Turns text ranges into a Program.
class Decoder {
public:
  Decoder(TargetTools &tools, const SemanticsTable &table)
      : tools(tools), table(table), program(std::make_shared<Program>()) {}

  Expected<std::shared_ptr<const Program>> run(ArrayRef<TextRange> text,
                                               ArrayRef<uint64_t> starts);

private:
  void decodeOne(uint64_t address, ArrayRef<uint8_t> bytes, uint64_t &size);
  void fill(Instruction &inst, InstructionInfo &info, const MCInst &mc);
  void parseModifiers(Instruction &inst, InstructionInfo &info,
                      ArrayRef<StringRef> tokens, const MCInst &mc);
  void collectRegisters(InstructionInfo &info, const MCInst &mc,
                        const MCInstrDesc &desc);
  void bind(Instruction &inst, InstructionInfo &info, StringRef mnemonic);
  void attachSplat(Operand &op);
  uint16_t mnemonicId(StringRef mnemonic);

  TargetTools &tools;
  const SemanticsTable &table;
  std::shared_ptr<Program> program;
  std::map<uint64_t, const uint32_t *> splatOf;
  StringMap<uint16_t> mnemonicIds;
};

uint16_t Decoder::mnemonicId(StringRef mnemonic) {
  auto [it, inserted] =
      mnemonicIds.try_emplace(mnemonic, uint16_t(program->mnemonics.size()));
  if (inserted) {
    program->mnemonics.push_back(mnemonic.str());
    program->semantics.push_back(table.find(mnemonic));
  }
  return it->second;
}

void Decoder::attachSplat(Operand &op) {
  const uint32_t *&splat = splatOf[op.value];
  if (!splat) {
    auto made = std::make_unique<Program::Splat>();
    for (unsigned l = 0; l < 64; ++l) {
      made->lane[l] = uint32_t(op.value);
      made->lane[64 + l] = uint32_t(op.value >> 32);
    }
    splat = made->lane;
    program->splats.push_back(std::move(made));
  }
  op.splat = splat;
}

static void unsupported(const Instruction &, Wave &w) {
  w.fail(""); // the run loop knows the reason from InstructionInfo::problem
}

static void endOfCode(const Instruction &, Wave &w) {
  raise(w, FaultKind::Memory, "execution ran past the end of the code");
}

void Decoder::collectRegisters(InstructionInfo &info, const MCInst &mc,
                               const MCInstrDesc &desc) {
  auto range = [&](MCRegister reg) {
    RegisterRange r;
    const RegisterPlace &place = tools.places[reg.id()];
    r.count = 0;
    if (place.kind == RegisterPlace::Other)
      return r;
    r.file = place.kind == RegisterPlace::Vector   ? RegisterFile::Vector
             : place.kind == RegisterPlace::Scalar ? RegisterFile::Scalar
                                                   : RegisterFile::Scc;
    r.first = place.first;
    r.count = place.count;
    return r;
  };
  for (unsigned i = 0; i < mc.getNumOperands(); ++i) {
    const MCOperand &operand = mc.getOperand(i);
    if (!operand.isReg() || !operand.getReg())
      continue;
    RegisterRange r = range(operand.getReg());
    if (!r.count)
      continue;
    if (i < desc.getNumDefs()) {
      info.writes.push_back(r);
      continue;
    }
    r.isTied = i < desc.getNumOperands() &&
               desc.getOperandConstraint(i, MCOI::TIED_TO) >= 0;
    info.reads.push_back(r);
  }
  // LLVM gives the destination of a d16 read of LDS again as a source, which it
  // does not call tied.
  if (info.cls == InstructionClass::Lds && info.isLoad &&
      StringRef(info.text).contains("_d16") && info.reads.size() > 1 &&
      info.reads.back().first == info.writes.front().first)
    info.reads.back().isTied = true;
  // Nor that of s_bitset, of which one bit changes.
  if (StringRef(info.text).starts_with("s_bitset") && !info.writes.empty()) {
    RegisterRange old = info.writes.front();
    old.isTied = true;
    info.reads.push_back(old);
  }
  // Nor does it call the destination of s_movreld, which M0 moves, one.
  if (StringRef(info.text).starts_with("s_movreld") && info.writes.empty() &&
      !info.reads.empty()) {
    info.writes.push_back(info.reads.front());
    info.reads.erase(info.reads.begin());
  }
  for (MCPhysReg reg : desc.implicit_uses()) {
    RegisterRange r = range(reg);
    if (!r.count)
      continue;
    if (r.file == RegisterFile::Scalar && r.first == ExecLo) {
      info.readsExec = true;
      continue;
    }
    // Few LDS instructions read M0 on this target, and the flat scratch base is
    // not in registers a program can see.
    if (r.file == RegisterFile::Scalar &&
        (r.first == FlatScratchLo ||
         (r.first == M0 && info.cls == InstructionClass::Lds &&
          !addressesByM0(info.text))))
      continue;
    info.reads.push_back(r);
  }
  for (MCPhysReg reg : desc.implicit_defs()) {
    RegisterRange r = range(reg);
    if (r.count)
      info.writes.push_back(r);
  }
  for (const RegisterRange &r : info.writes)
    if (r.file == RegisterFile::Scalar) {
      info.writesExec |= r.first <= ExecHi && r.first + r.count > ExecLo;
      info.writesVcc |= r.first <= VccHi && r.first + r.count > VccLo;
    }
}

void Decoder::parseModifiers(Instruction &inst, InstructionInfo &info,
                             ArrayRef<StringRef> tokens, const MCInst &mc) {
  for (StringRef token : tokens) {
    auto [key, value] = token.split(':');
    auto number = parseInteger(value);
    auto dpp = [&](unsigned control) {
      inst.encoding = Encoding::Dpp;
      inst.dppControl = control;
    };
    if (token == "clamp")
      inst.clamp = true;
    else if (token == "mul:2")
      inst.omod = 1;
    else if (token == "mul:4")
      inst.omod = 2;
    else if (token == "div:2")
      inst.omod = 3;
    else if (key == "op_sel" || key == "op_sel_hi" || key == "neg_lo" ||
             key == "neg_hi")
      ; // read from the MCInst, where defaults are explicit
    else if (key == "format")
      ; // read from the encoding
    else if (key == "neg")
      inst.blgp = parseMask(value);
    else if (key == "quad_perm") {
      unsigned control = 0, shift = 0;
      for (char c : value)
        if (c >= '0' && c <= '3') {
          control |= unsigned(c - '0') << shift;
          shift += 2;
        }
      dpp(control);
    } else if (key == "row_shl" && number)
      dpp(DppRowShl + *number);
    else if (key == "row_shr" && number)
      dpp(DppRowShr + *number);
    else if (key == "row_ror" && number)
      dpp(DppRowRor + *number);
    else if (key == "wave_shl")
      dpp(0x130);
    else if (key == "wave_rol")
      dpp(0x134);
    else if (key == "wave_shr")
      dpp(0x138);
    else if (key == "wave_ror")
      dpp(0x13c);
    else if (key == "row_mirror")
      dpp(DppRowMirror);
    else if (key == "row_half_mirror")
      dpp(DppRowHalfMirror);
    else if (key == "row_bcast" && number)
      dpp(*number == 15 ? DppRowBcast15 : DppRowBcast31);
    else if (key == "row_newbcast" && number)
      dpp(DppRowNewBcast + *number);
    else if (key == "row_mask" && number)
      inst.dppRowMask = *number;
    else if (key == "bank_mask" && number)
      inst.dppBankMask = *number;
    else if (key == "bound_ctrl")
      inst.dppBoundControl = true;
    else if (key == "dst_sel" && parseSel(value)) {
      inst.encoding = Encoding::Sdwa;
      inst.sdwaDst = *parseSel(value);
    } else if (key == "dst_unused") {
      inst.sdwaUnused = value == "UNUSED_SEXT"       ? SdwaUnused::Sext
                        : value == "UNUSED_PRESERVE" ? SdwaUnused::Preserve
                                                     : SdwaUnused::Pad;
    } else if ((key == "src0_sel" || key == "src1_sel") && parseSel(value)) {
      inst.encoding = Encoding::Sdwa;
      unsigned k = inst.numDst + (key == "src1_sel");
      if (k < MaxOperands)
        inst.ops[k].sel = *parseSel(value);
    } else if (key == "cbsz" && number)
      inst.cbsz = *number;
    else if (key == "abid" && number)
      inst.abid = *number;
    else if (key == "blgp" && number)
      inst.blgp = *number;
    else if (key == "bitop3" && number)
      inst.bitop3 = *number;
    else if (key == "offset" && number)
      inst.imm = *number;
    else if (key == "offset") {
      // ds_swizzle's pattern in words; the number is in the MCInst.
      for (unsigned i = 0; i < mc.getNumOperands(); ++i)
        if (mc.getOperand(i).isImm()) {
          inst.imm = mc.getOperand(i).getImm();
          break;
        }
    } else if (key == "offset0" && number)
      inst.offset0 = *number;
    else if (key == "offset1" && number)
      inst.offset1 = *number;
    else if (token == "offen")
      inst.offen = true;
    else if (token == "idxen")
      inst.idxen = true;
    else if (token == "lds")
      inst.lds = true;
    else if (token == "sc0" || token == "glc")
      inst.sc0 = true;
    else if (token == "sc1")
      inst.sc1 = true;
    else if (token == "nt" || token == "slc")
      inst.nt = true;
    else if (info.problem.empty())
      info.problem = ("modifier '" + token + "' is not modelled").str();
  }
}

void Decoder::fill(Instruction &inst, InstructionInfo &info, const MCInst &mc) {
  const MCInstrDesc &desc = tools.instructions->get(mc.getOpcode());
  StringRef text = info.text;
  auto [mnemonicText, rest] = text.split(' ');
  StringRef mnemonic = mnemonicText;
  if (mnemonic.consume_back("_dpp"))
    inst.encoding = Encoding::Dpp;
  else if (mnemonic.consume_back("_sdwa"))
    inst.encoding = Encoding::Sdwa;
  else if (!mnemonic.consume_back("_e32"))
    mnemonic.consume_back("_e64");
  info.mnemonicId = mnemonicId(mnemonic);
  info.cls = classify(mnemonic, desc);
  info.isLoad = desc.mayLoad();
  info.isStore = desc.mayStore();
  info.isAtomic =
      mnemonic.contains("atomic") ||
      (info.cls == InstructionClass::Lds && desc.mayLoad() && desc.mayStore());
  inst.isReturning = desc.getNumDefs() > 0;
  info.readsAllLanes = info.cls == InstructionClass::Mfma;

  // Immediates that the text spells in words.
  const bool symbolic =
      mnemonic == "s_waitcnt" || mnemonic.starts_with("s_sendmsg") ||
      mnemonic.starts_with("s_setreg") || mnemonic == "s_getreg_b32" ||
      mnemonic.starts_with("s_set_gpr_idx");
  std::optional<int64_t> firstImmediate;
  SmallVector<int64_t, 4> valueImmediates;
  for (unsigned i = 0; i < mc.getNumOperands(); ++i) {
    const MCOperand &operand = mc.getOperand(i);
    if (!operand.isImm() || i >= desc.getNumOperands())
      continue;
    const unsigned type = desc.operands()[i].OperandType;
    const bool isValue =
        type >= MCOI::OPERAND_FIRST_TARGET && type != tools.inputModifierType;
    if (isValue)
      valueImmediates.push_back(operand.getImm());
    else if (type != tools.inputModifierType && !firstImmediate)
      firstImmediate = operand.getImm();
  }
  if (symbolic || info.cls == InstructionClass::Message ||
      info.cls == InstructionClass::Branch)
    inst.imm = firstImmediate.value_or(0);
  if (mnemonic == "s_setreg_imm32_b32") {
    // Two plain immediates: the value, then the register field.
    SmallVector<int64_t, 2> plain;
    for (const MCOperand &operand : mc)
      if (operand.isImm())
        plain.push_back(operand.getImm());
    if (plain.size() == 2) {
      inst.ops[0].kind = OperandKind::Constant;
      inst.ops[0].value = uint32_t(plain[0]);
      attachSplat(inst.ops[0]);
      inst.numOps = 1;
      inst.imm = plain[1];
    } else
      info.problem = "cannot read the operands of this s_setreg";
    collectRegisters(info, mc, desc);
    bind(inst, info, mnemonic);
    return;
  }

  SmallVector<StringRef, 8> parts, tokens;
  splitOperands(rest, parts);
  SmallVector<StringRef, 8> operandTexts;
  if (info.cls == InstructionClass::Message) {
    parts.clear(); // only immediates, already taken
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i + 1 < parts.size()) {
      operandTexts.push_back(parts[i]);
      continue;
    }
    splitTokens(parts[i], tokens);
    if (!tokens.empty()) {
      // The last part starts with an operand unless it is a modifier already
      // (buffer_inv sc1).
      StringRef first = tokens.front();
      bool isModifier =
          first == "sc0" || first == "sc1" || first == "nt" || first == "glc" ||
          first == "slc" ||
          (parts.size() == 1 && first.contains(':') && !first.contains('['));
      if (!isModifier) {
        operandTexts.push_back(first);
        tokens.erase(tokens.begin());
      }
    }
  }

  unsigned nextImmediate = 0;
  for (StringRef operandText : operandTexts) {
    if (operandText.starts_with("hwreg(") ||
        operandText.starts_with("gpr_idx("))
      continue;
    if (inst.numOps == MaxOperands) {
      info.problem = "too many operands";
      break;
    }
    Operand op;
    StringRef t = operandText;
    uint8_t textModifiers = 0;
    if (t.consume_front("sext(")) {
      t.consume_back(")");
      textModifiers |= ModSext;
    }
    // A literal where an inline constant would do.
    if (t.consume_front("lit(") || t.consume_front("lit64("))
      t.consume_back(")");
    if (t.consume_front("neg(")) {
      t.consume_back(")");
      textModifiers |= ModNeg;
    }
    if (t.size() > 1 && t[0] == '-' && !isDigit(t[1])) {
      t = t.drop_front();
      textModifiers |= ModNeg;
    }
    if (t.consume_front("|")) {
      t.consume_back("|");
      textModifiers |= ModAbs;
    }
    if (t.consume_front("abs(")) {
      t.consume_back(")");
      textModifiers |= ModAbs;
    }
    if (!parseRegister(t, op)) {
      auto integer = parseInteger(t);
      double real = 0;
      if (!integer && t.getAsDouble(real)) {
        info.problem = ("operand '" + operandText + "' is not modelled").str();
        break;
      }
      op.kind = OperandKind::Constant;
      if (nextImmediate < valueImmediates.size())
        op.value = uint64_t(valueImmediates[nextImmediate++]);
      else if (integer)
        op.value = uint64_t(*integer);
      else
        info.problem = ("constant '" + operandText + "' is not modelled").str();
      if (mnemonic.starts_with("s_") && mnemonic.contains("k_") &&
          info.cls == InstructionClass::Salu && !mnemonic.ends_with("_u32"))
        op.value = uint64_t(int64_t(int16_t(op.value)));
      attachSplat(op);
    } else if (op.kind == OperandKind::Constant)
      attachSplat(op);
    op.modifiers = textModifiers;
    inst.ops[inst.numOps++] = op;
  }

  // Destinations: the explicit ones, and vcc where the text shows it.
  inst.numDst = std::min<unsigned>(desc.getNumDefs(), inst.numOps);
  if (mnemonic.starts_with("v_")) {
    bool definesVcc = false;
    for (MCPhysReg reg : desc.implicit_defs())
      definesVcc |= tools.places[reg].kind == RegisterPlace::Scalar &&
                    tools.places[reg].first == VccLo;
    if (definesVcc && inst.numDst < inst.numOps &&
        inst.ops[inst.numDst].isScalar() &&
        inst.ops[inst.numDst].index == VccLo)
      ++inst.numDst;
  }

  // Source modifiers, in the order of the sources.
  SmallVector<unsigned, 4> modifiers;
  for (unsigned i = 0; i < mc.getNumOperands() && i < desc.getNumOperands();
       ++i)
    if (desc.operands()[i].OperandType == tools.inputModifierType &&
        mc.getOperand(i).isImm())
      modifiers.push_back(unsigned(mc.getOperand(i).getImm()));
  if (mnemonic.starts_with("v_mfma_scale")) {
    // The modifiers of the two scales come last and are untyped.
    modifiers.clear();
    unsigned n = mc.getNumOperands();
    if (n >= 2 && mc.getOperand(n - 1).isImm() && mc.getOperand(n - 2).isImm())
      modifiers = {unsigned(mc.getOperand(n - 2).getImm()),
                   unsigned(mc.getOperand(n - 1).getImm())};
    for (unsigned k = 0; k < modifiers.size(); ++k) {
      inst.opSel |= (modifiers[k] >> 2 & 1) << k;
      inst.opSelHi |= (modifiers[k] >> 3 & 1) << k;
    }
  } else
    for (unsigned k = 0; k < modifiers.size() && k < 4; ++k) {
      const unsigned m = modifiers[k];
      const bool packed = desc.TSFlags & (uint64_t(1) << 12); // VOP3P
      unsigned place = inst.numDst + k;
      if (inst.encoding == Encoding::Sdwa) {
        // Integer sources use the negate bit for sext(), which the text tells.
      } else if (place < inst.numOps)
        inst.ops[place].modifiers |= m & 0xf;
      inst.negLo |= (m & 1) << k;
      inst.negHi |= (m >> 1 & 1) << k;
      inst.opSel |= (m >> 2 & 1) << k;
      inst.opSelHi |= (m >> 3 & 1) << k;
      if (!packed && k == 0 && (m & 8))
        inst.opSel |= 8; // op_sel of the destination
    }
  parseModifiers(inst, info, tokens, mc);

  if (info.cls == InstructionClass::Mfma ||
      mnemonic.starts_with("v_permlane") || mnemonic.starts_with("v_readlane"))
    info.readsAllLanes = true;
  collectRegisters(info, mc, desc);
  bind(inst, info, mnemonic);
}

void Decoder::bind(Instruction &inst, InstructionInfo &info,
                   StringRef mnemonic) {
  inst.handler = unsupported;
  if (!info.problem.empty())
    return;
  const Semantics *semantics = table.find(mnemonic);
  if (!semantics) {
    info.problem = ("instruction " + mnemonic + " is not modelled").str();
    if (const char *why = refusalOf(mnemonic))
      info.problem += std::string(": ") + why;
    return;
  }
  if (!(semantics->encodings & unsigned(inst.encoding))) {
    info.problem = ("instruction " + mnemonic + " is not modelled with " +
                    (inst.encoding == Encoding::Dpp    ? "DPP"
                     : inst.encoding == Encoding::Sdwa ? "SDWA"
                                                       : "this encoding"))
                       .str();
    return;
  }
  inst.kernel = inst.clamp && semantics->clampKernel ? semantics->clampKernel
                                                     : semantics->kernel;
  inst.shape = semantics->shape;
  Handler handler = semantics->handler;
  if (semantics->binder) {
    const char *why = nullptr;
    handler = semantics->binder(inst, why);
    if (!handler) {
      info.problem = std::string(why ? why : "this form is not modelled");
      return;
    }
  }
  inst.handler = handler;
}

void Decoder::decodeOne(uint64_t address, ArrayRef<uint8_t> bytes,
                        uint64_t &size) {
  Instruction inst;
  InstructionInfo info;
  info.pc = address;
  inst.index = uint32_t(program->code.size());
  MCInst mc;
  size = 0;
  // LLVM crashes on a literal that the end cuts off: give it zeros behind. What
  // then takes more bytes than there are is no instruction.
  std::array<uint8_t, 32> padded = {};
  ArrayRef<uint8_t> window = bytes;
  if (bytes.size() < padded.size()) {
    llvm::copy(bytes, padded.begin());
    window = padded;
  }
  auto status =
      tools.disassembler->getInstruction(mc, size, window, address, nulls());
  if (status != MCDisassembler::Success || size == 0 || size > bytes.size() ||
      size % 4) {
    uint32_t word = 0;
    std::memcpy(&word, bytes.data(), std::min<size_t>(4, bytes.size()));
    size = 4;
    info.text = ".long 0x" + utohexstr(word, true, 8);
    info.problem = "these bytes are not an instruction of this target";
    info.mnemonicId = mnemonicId(".long");
    inst.handler = unsupported;
  } else {
    raw_string_ostream os(info.text);
    tools.printer->printInst(&mc, address, "", *tools.subtarget, os);
    info.text = StringRef(info.text).trim().str();
    std::replace(info.text.begin(), info.text.end(), '\t', ' ');
    if (StringRef(info.text).starts_with("tbuffer_")) // dfmt, nfmt
      inst.format = support::endian::read32le(bytes.data()) >> 19 & 0x7f;
    fill(inst, info, mc);
  }
  info.bytes = uint32_t(size);
  program->indices[(address - program->base) / 4] = inst.index;
  program->code.push_back(inst);
  program->info.push_back(std::move(info));
}

Expected<std::shared_ptr<const Program>>
Decoder::run(ArrayRef<TextRange> text, ArrayRef<uint64_t> starts) {
  uint64_t begin = ~uint64_t(0), end = 0;
  for (const TextRange &range : text) {
    begin = std::min(begin, range.address);
    end = std::max(end, range.address + range.bytes.size());
  }
  if (text.empty() || begin >= end)
    return createStringError("the code object has no executable code");
  if (begin % 4)
    return createStringError("the executable sections are misaligned");
  // A table has a word for each of text, gaps included.
  uint64_t bytes = 0;
  for (const TextRange &range : text)
    bytes += range.bytes.size();
  constexpr uint64_t mostGaps = 64 << 20, mostText = 1 << 30;
  if (end - begin > bytes + mostGaps || end - begin > mostText)
    return createStringError(
        formatv("{0} bytes of executable sections span {1} bytes; at most {2} "
                "in all and {3} between them",
                bytes, end - begin, mostText, mostGaps)
            .str());
  program->base = begin;
  program->indices.assign((end - begin + 3) / 4, Program::NoIndex);

  SmallVector<uint64_t> sorted(starts);
  llvm::sort(sorted);
  for (const TextRange &range : text) {
    uint64_t offset = 0;
    while (offset + 4 <= range.bytes.size()) {
      uint64_t address = range.address + offset;
      // Never decode across the start of a function.
      uint64_t limit = range.bytes.size();
      auto next = std::upper_bound(sorted.begin(), sorted.end(), address);
      if (next != sorted.end())
        limit = std::min<uint64_t>(limit, *next - range.address);
      uint64_t size = 0;
      decodeOne(address, range.bytes.slice(offset, limit - offset), size);
      offset += size;
    }
  }

  // Branch targets become indices; the end of text stops a runaway wave.
  Instruction last;
  InstructionInfo lastInfo;
  last.index = uint32_t(program->code.size());
  last.handler = endOfCode;
  lastInfo.pc = end;
  lastInfo.text = "(end of code)";
  lastInfo.mnemonicId = mnemonicId("(end)");
  program->code.push_back(last);
  program->info.push_back(lastInfo);
  for (Instruction &inst : program->code) {
    InstructionInfo &info = program->info[inst.index];
    if (info.cls != InstructionClass::Branch)
      continue;
    StringRef mnemonic = program->mnemonics[info.mnemonicId];
    if (mnemonic.starts_with("s_setpc") || mnemonic.starts_with("s_swappc") ||
        mnemonic == "s_cbranch_g_fork" || mnemonic == "s_cbranch_join")
      continue;
    uint64_t target =
        info.pc + info.bytes + uint64_t(int64_t(int16_t(inst.imm)) * 4);
    const uint32_t index = program->indexAt(target);
    inst.imm = index != Program::NoIndex ? int64_t(index)
                                         : Program::immediateOf(target);
  }
  return std::shared_ptr<const Program>(program);
}

Expected<std::shared_ptr<const Program>>
Program::decode(ArrayRef<TextRange> text, ArrayRef<uint64_t> starts,
                StringRef cpu, MatrixArithmetic arithmetic) {
  // Setting LLVM up costs more than decoding a kernel.
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<TargetTools>> cache;
  const SemanticsTable &table = semanticsTable(arithmetic);
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<TargetTools> &tools = cache[cpu.str()];
  if (!tools) {
    auto made = TargetTools::create(cpu);
    if (!made)
      return made.takeError();
    tools = std::move(*made);
  }
  return Decoder(*tools, table).run(text, starts);
}

} // namespace netra::sim
