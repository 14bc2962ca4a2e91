//===- HazardChecker.cpp - Wait states that nobody interlocks ------------===//
// SPDX-License-Identifier: MIT

#include "HazardChecker.h"
#include "AssemblyText.h"
#include "llvm/Support/FormatVariadic.h"
#include <mutex>

using namespace llvm;

namespace netra::sim {

using P = Producer;
using C = Consumer;

static constexpr HazardRule rules[] = {
    // Vector registers.
    {P::Valu, C::DppRead, {2}, "VALU writes a VGPR, DPP reads it"},
    {P::Valu, C::ReadLaneRead, {1}, "VALU writes a VGPR, v_readlane reads it"},
    {P::Valu, C::PermlaneRead, {2}, "VALU writes a VGPR, v_permlane reads it"},
    {P::Valu,
     C::MatrixRead,
     {2},
     "VALU writes a VGPR, a matrix instruction reads it"},
    {P::Transcendental,
     C::NonTransRead,
     {1},
     "a transcendental writes a VGPR, another VALU instruction reads it"},
    {P::MovedBits,
     C::ValuRead,
     {1},
     "SDWA or op_sel moves the result within a VGPR, VALU reads it"},
    {P::Dot,
     C::DotOther,
     {3},
     "v_dot writes a VGPR, a different one reads it, or as SrcA or SrcB"},
    {P::Dot, C::ValuRead, {3}, "v_dot writes a VGPR, VALU reads it"},
    {P::Dot, C::ValuWrite, {3}, "v_dot writes a VGPR, VALU overwrites it"},
    {P::Dot,
     C::MemoryRead,
     {3},
     "v_dot writes a VGPR, a memory instruction reads it"},
    // Matrix instructions, by passes 2, 4, 8, 16.
    {P::Xdl,
     C::MatrixCSame,
     {2, 0, 0, 0},
     "XDL writes a VGPR, the next reads the same as SrcC"},
    {P::Xdl,
     C::MatrixCXdl,
     {4, 6, 10, 18},
     "XDL writes a VGPR, SrcC of the next overlaps it"},
    {P::Xdl,
     C::MatrixCGemm,
     {3, 6, 10, 18},
     "XDL writes a VGPR, SrcC of an f32 or f64 MFMA overlaps it"},
    {P::Xdl,
     C::MatrixAB,
     {5, 8, 12, 20},
     "XDL writes a VGPR, a matrix instruction reads it as SrcA or SrcB"},
    {P::Xdl, C::ValuRead, {5, 8, 12, 20}, "XDL writes a VGPR, VALU reads it"},
    {P::Xdl,
     C::ValuWrite,
     {5, 8, 12, 20},
     "XDL writes a VGPR, VALU overwrites it"},
    {P::Xdl,
     C::MemoryRead,
     {5, 8, 12, 20},
     "XDL writes a VGPR, a memory instruction reads it"},
    {P::Sgemm,
     C::MatrixCSame,
     {2, 0, 0, 0},
     "f32 MFMA writes a VGPR, the next reads the same as SrcC"},
    {P::Sgemm,
     C::MatrixCGemm,
     {2, 4, 8, 16},
     "f32 MFMA writes a VGPR, SrcC of an f32 or f64 MFMA overlaps it"},
    {P::Sgemm,
     C::MatrixAB,
     {4, 6, 10, 18},
     "f32 MFMA writes a VGPR, a matrix instruction reads it as SrcA or SrcB"},
    {P::Sgemm,
     C::ValuRead,
     {4, 6, 10, 18},
     "f32 MFMA writes a VGPR, VALU reads it"},
    {P::Sgemm,
     C::ValuWrite,
     {4, 6, 10, 18},
     "f32 MFMA writes a VGPR, VALU overwrites it"},
    {P::Sgemm,
     C::MemoryRead,
     {4, 6, 10, 18},
     "f32 MFMA writes a VGPR, a memory instruction reads it"},
    {P::Dgemm16,
     C::MatrixCGemm,
     {17, 17, 17, 17},
     "f64 16x16x4 MFMA writes a VGPR, SrcC of an f32 or f64 MFMA overlaps it"},
    {P::Dgemm16,
     C::MatrixAB,
     {19, 19, 19, 19},
     "f64 16x16x4 MFMA writes a VGPR, a matrix instruction reads it as SrcA "
     "or SrcB"},
    {P::Dgemm16,
     C::ValuRead,
     {19, 19, 19, 19},
     "f64 16x16x4 MFMA writes a VGPR, VALU reads it"},
    {P::Dgemm16,
     C::ValuWrite,
     {19, 19, 19, 19},
     "f64 16x16x4 MFMA writes a VGPR, VALU overwrites it"},
    {P::Dgemm16,
     C::MemoryRead,
     {18, 18, 18, 18},
     "f64 16x16x4 MFMA writes a VGPR, a memory instruction reads it"},
    {P::Dgemm4,
     C::MatrixCSame,
     {4, 4, 4, 4},
     "f64 4x4x4 MFMA writes a VGPR, the next reads the same as SrcC"},
    {P::Dgemm4,
     C::MatrixCGemm,
     {4, 4, 4, 4},
     "f64 4x4x4 MFMA writes a VGPR, SrcC of an f32 or f64 MFMA overlaps it"},
    {P::Dgemm4,
     C::MatrixAB,
     {6, 6, 6, 6},
     "f64 4x4x4 MFMA writes a VGPR, a matrix instruction reads it as SrcA or "
     "SrcB"},
    {P::Dgemm4,
     C::ValuRead,
     {6, 6, 6, 6},
     "f64 4x4x4 MFMA writes a VGPR, VALU reads it"},
    {P::Dgemm4,
     C::ValuWrite,
     {6, 6, 6, 6},
     "f64 4x4x4 MFMA writes a VGPR, VALU overwrites it"},
    {P::Dgemm4,
     C::MemoryRead,
     {9, 9, 9, 9},
     "f64 4x4x4 MFMA writes a VGPR, a memory instruction reads it"},
    {P::MatrixC,
     C::ValuWrite,
     {1, 3, 7, 15},
     "XDL reads SrcC, VALU overwrites it"},
    // Stores.
    {P::WideStore,
     C::ValuWrite,
     {2},
     "a store of more than 64 bits reads a VGPR, VALU overwrites it"},
    // Scalar registers.
    {P::ValuSgpr,
     C::LaneSelect,
     {4},
     "VALU writes an SGPR, v_readlane or v_writelane selects a lane by it"},
    {P::ValuSgpr, C::DivFmas, {4}, "VALU writes VCC, v_div_fmas reads it"},
    {P::ValuSgpr,
     C::VmemScalar,
     {5},
     "VALU writes an SGPR, vector memory reads it"},
    {P::ValuSgpr,
     C::ConstantRead,
     {2},
     "VALU writes an SGPR, VALU reads it as a constant"},
    {P::ValuSgpr,
     C::ZeroFlagRead,
     {5},
     "VALU writes VCC, VALU reads VCCZ as data"},
    {P::ValuExec,
     C::ZeroFlagRead,
     {5},
     "VALU writes EXEC, VALU reads EXECZ as data"},
    {P::ValuExec, C::Dpp, {5}, "VALU writes EXEC, DPP follows"},
    {P::ValuExec,
     C::ExecConstant,
     {2},
     "v_cmpx writes EXEC, VALU reads EXEC as a constant"},
    {P::ValuExec,
     C::LaneOp,
     {4},
     "v_cmpx writes EXEC, v_readlane or v_writelane follows"},
    {P::ValuExec, C::Permlane, {4}, "v_cmpx writes EXEC, v_permlane follows"},
    {P::ValuExec,
     C::Matrix,
     {4},
     "v_cmpx writes EXEC, a matrix instruction follows"},
    {P::SaluM0,
     C::M0Use,
     {1},
     "SALU writes M0, an add-TID, load to LDS, s_sendmsg or s_movrel uses it"},
    {P::SetReg,
     C::RegisterAccess,
     {2},
     "s_setreg writes a hardware register, s_getreg or s_setreg accesses it"},
};

ArrayRef<HazardRule> hazardRules() { return rules; }

const HazardRule
    *HazardChecker::table[unsigned(Producer::None)][unsigned(Consumer::None)];

HazardChecker::HazardChecker(Monitor &monitor) : monitor(monitor) {
  static_assert(std::all_of(std::begin(rules), std::end(rules),
                            [](const HazardRule &rule) {
                              return rule.producer != P::ValuSgpr ||
                                     rule.states[0] <= MaxScalarStates;
                            }));
  static std::once_flag once;
  std::call_once(once, [] {
    for (const HazardRule &rule : rules)
      table[unsigned(rule.producer)][unsigned(rule.consumer)] = &rule;
  });
  facts.resize(monitor.state().program->code.size());
}

void HazardChecker::startGroup() {
  waves.assign(monitor.workgroup().waves.size(), WaveState());
}

static constexpr uint16_t bit(Producer p) {
  return uint16_t(1u << unsigned(p));
}

/// Passes of a matrix instruction, by its name and formats.
static unsigned passesOf(StringRef name, const Instruction &inst,
                         uint16_t &kind) {
  kind = bit(P::Xdl);
  const bool is32 = name.contains("_32x32"), is4 = name.contains("_4x4x");
  if (name.starts_with("v_mfma_f64")) {
    kind = bit(is4 ? P::Dgemm4 : P::Dgemm16);
    return is4 ? 4 : 16;
  }
  if (name.starts_with("v_smfmac"))
    return is32 ? 8 : 4;
  if (is4) {
    if (name.ends_with("_f32"))
      kind = bit(P::Sgemm);
    return 2;
  }
  if (name.contains("f8f6f4")) {
    const bool wide = inst.cbsz < 2 || inst.blgp < 2; // an 8-bit operand
    return (is32 ? 8 : 4) * (wide ? 2 : 1);
  }
  if (name.ends_with("_f32")) {
    kind = bit(P::Sgemm);
    return is32 ? 16 : 8;
  }
  if (name.contains("_2b_") || name.contains("_4b_"))
    return is32 ? 16 : 8;
  return is32 ? 8 : 4;
}

/// v_dot2c_f32_f16 and the like: the destination is the accumulator.
static bool isAccumulatingDot(StringRef name) {
  return name.consume_front("v_dot") && name.size() > 1 && name[1] == 'c';
}

/// Conversions whose op_sel[3:2] is the byte of the destination.
static bool selectsByte(StringRef name) {
  if (!name.consume_front("v_cvt_"))
    return false;
  const bool isScaled = name.consume_front("scalef32_");
  return name.starts_with("sr_fp8") || name.starts_with("sr_bf8") ||
         (isScaled &&
          (name.starts_with("pk_fp4") || name.starts_with("sr_pk_fp4")));
}

const HazardChecker::Fact &
HazardChecker::findFact(const Instruction &inst, const InstructionInfo &info) {
  Fact &f = facts[inst.index];
  f.isKnown = true;
  StringRef name = monitor.state().program->mnemonics[info.mnemonicId];
  f.isTrans = info.cls == InstructionClass::Transcendental;
  f.isMatrix = info.cls == InstructionClass::Mfma;
  f.isValu = f.isTrans || info.cls == InstructionClass::Valu;
  f.isDot = name.starts_with("v_dot");
  f.isPermlane = name.starts_with("v_permlane");
  f.isLaneRead =
      name.starts_with("v_readlane") || name.starts_with("v_readfirstlane");
  f.isWriteLane = name.starts_with("v_writelane");
  f.isDivFmas = name.starts_with("v_div_fmas");
  f.isCarry = name.starts_with("v_addc") || name.starts_with("v_subb") ||
              name.starts_with("v_cndmask");
  f.isVmem = info.cls == InstructionClass::VectorMemory ||
             info.cls == InstructionClass::Flat;
  f.isMemory = f.isVmem || info.cls == InstructionClass::Lds;
  f.usesM0 = addressesByM0(name) || name.contains("_lds_") || inst.lds ||
             name.starts_with("s_sendmsg") || name.starts_with("s_movrel");
  f.isSetReg = name.starts_with("s_setreg");
  f.isGetReg = name.starts_with("s_getreg");
  if (f.isMatrix) {
    const unsigned passes = passesOf(name, inst, f.kinds);
    f.passIndex = passes <= 2 ? 0 : passes <= 4 ? 1 : passes <= 8 ? 2 : 3;
    // Sparse forms accumulate into the destination.
    f.accumulator = name.starts_with("v_smfmac") ? 0 : 3;
  } else if (f.isDot) {
    f.kinds = bit(P::Dot);
    f.accumulator = isAccumulatingDot(name) ? 0 : uint8_t(inst.numOps - 1);
  } else if (f.isValu) {
    f.kinds = bit(P::Valu);
    if (f.isTrans)
      f.kinds |= bit(P::Transcendental);
    const bool hasPartOfSdwa = inst.encoding == Encoding::Sdwa &&
                               inst.sdwaDst != SdwaSel::Dword && inst.numDst &&
                               inst.ops[0].isVector();
    const bool isHigh = inst.opSel & (selectsByte(name) ? 12 : 8);
    if (hasPartOfSdwa || isHigh)
      f.kinds |= bit(P::MovedBits);
    f.keepsRest =
        isHigh || (hasPartOfSdwa && inst.sdwaUnused == SdwaUnused::Preserve);
  }
  // Known of hardware though in no manual: the low half's addend gets lost now
  // and then.
  f.losesAccumulator = name == "v_pk_fma_f32" && (inst.opSel & 7) == 2;
  auto producersFor = [](Consumer consumer) {
    unsigned kinds = 0;
    for (unsigned p = 0; p < unsigned(P::None); ++p)
      if (table[p][unsigned(consumer)])
        kinds |= 1u << p;
    return uint16_t(kinds);
  };
  if (f.isMemory) {
    f.readAfter = producersFor(C::MemoryRead);
  } else if (f.isValu) {
    f.readAfter = producersFor(C::ValuRead);
    f.writeAfter = producersFor(C::ValuWrite);
    if (!f.isTrans)
      f.readAfter |= producersFor(C::NonTransRead);
    if (f.isDot)
      f.readAfter |= producersFor(C::DotOther);
    if (f.isLaneRead)
      f.readAfter |= producersFor(C::ReadLaneRead);
    if (f.isPermlane)
      f.readAfter |= producersFor(C::PermlaneRead);
    if (inst.encoding == Encoding::Dpp)
      f.readAfter |= producersFor(C::DppRead);
  }
  // Of what vector registers hold, all but the plain results of the vector ALU.
  for (const HazardRule &rule : rules)
    if (f.kinds & ~bit(P::Valu) & bit(rule.producer))
      f.reach = std::max(f.reach, rule.states[f.passIndex]);
  const bool isWide = name.ends_with("x3") || name.ends_with("x4") ||
                      name.contains("_format_xyz");
  if (f.isVmem &&
      (name.contains("_store_") ? isWide : name.contains("cmpswap_x2"))) {
    const bool isBuffer = name.contains("buffer_");
    // Behind a result, and behind the address unless that is of a buffer.
    const unsigned k = isBuffer ? 0 : 1 + inst.numDst;
    const bool hasOffset =
        isBuffer && inst.numOps > 3 && inst.ops[3].isScalar();
    if (k < inst.numOps && inst.ops[k].isVector() && !hasOffset) {
      f.wideStoreData = 1u + inst.ops[k].index;
      f.wideStoreCount = inst.ops[k].words;
    }
  }
  if (name == "s_nop")
    f.states = uint8_t((inst.imm & 0xf) + 1);
  f.onlyPasses = info.cls == InstructionClass::Message && !f.usesM0;
  bool readsStatus = false, isOfExecOrM0 = false;
  for (unsigned k = 0; k < inst.numOps; ++k)
    readsStatus |= inst.ops[k].kind == OperandKind::Status;
  for (const auto *ranges : {&info.reads, &info.writes})
    for (const RegisterRange &range : *ranges) {
      // That memory instructions read M0 is asked for by itself.
      const bool isM0 = f.isMemory && f.usesM0 && ranges == &info.reads &&
                        range.first == M0 && range.count == 1;
      isOfExecOrM0 |= range.file == RegisterFile::Scalar && !isM0 &&
                      range.first <= ExecHi && range.first + range.count > M0;
    }
  f.isSimple = info.cls != InstructionClass::Message && !f.isMatrix &&
               !f.isDot && !f.isLaneRead && !f.isWriteLane && !f.isPermlane &&
               !f.isDivFmas && (!f.usesM0 || f.isMemory) && !f.isSetReg &&
               !f.isGetReg && !f.losesAccumulator && !f.wideStoreData &&
               !readsStatus && !isOfExecOrM0 && inst.encoding != Encoding::Dpp;
  return f;
}

void HazardChecker::require(const Instruction &inst, const Wave &w,
                            const WaveState &state, const Write &write,
                            Consumer consumer, RegisterFile file,
                            unsigned index) {
  const int64_t present = state.time - write.time - 1;
  if (present >= MaxStates)
    return;
  for (unsigned kinds = write.kinds; kinds; kinds &= kinds - 1) {
    const unsigned p = unsigned(__builtin_ctz(kinds));
    const HazardRule *rule = table[p][unsigned(consumer)];
    if (!rule)
      continue;
    const int needed = rule->states[write.passIndex];
    if (present >= needed)
      continue;
    const InstructionInfo &first =
        monitor.state().program->info[write.instruction];
    std::string subject = consumer == C::RegisterAccess
                              ? std::string("the register")
                              : registerName(file, index);
    monitor.report(CheckHazard, inst, w, -1,
                   std::string(rule->text) + std::to_string(write.instruction),
                   formatv("{0} after `{1}` (at {2:x}): {3} wait states "
                           "needed, {4} present ({5})",
                           subject, first.text, first.pc, needed, present,
                           rule->text)
                       .str());
  }
}

/// Whether a v_dot* that reads this row has it as SrcC and nothing else.
static bool readsOnlyAsC(const Instruction &inst, unsigned accumulator,
                         unsigned row) {
  for (unsigned k = inst.numDst; k < inst.numOps; ++k) {
    const Operand &op = inst.ops[k];
    if (k != accumulator && op.isVector() && row >= op.index &&
        row < unsigned(op.index) + op.words)
      return false;
  }
  return true;
}

void HazardChecker::check(const Instruction &inst, Wave &w, WaveState &state) {
  const InstructionInfo &info = monitor.state().program->info[inst.index];
  const Fact &f = fact(inst, info);
  ++state.time;
  if (info.cls == InstructionClass::Message) {
    state.time += f.states - 1;
    if (f.usesM0)
      require(inst, w, state, state.m0, C::M0Use, RegisterFile::Scalar, M0);
    return;
  }

  if (f.losesAccumulator)
    monitor.report(CheckHazard, inst, w, -1, "pk_fma",
                   "v_pk_fma_f32 with op_sel:[0,1,0] is known to lose the "
                   "addend of the low half now and then on hardware; exchange "
                   "the halves of source 1 by another instruction");

  auto sameRange = [](const Write &write, const Operand &op) {
    return op.index == write.first && op.words == write.count;
  };
  // --- Vector registers read ----------------------------------------------
  if (f.isMatrix) {
    const Consumer overlapping =
        f.kinds & bit(P::Xdl) ? C::MatrixCXdl : C::MatrixCGemm;
    for (unsigned k = 0; k < inst.numOps; ++k) {
      const Operand &op = inst.ops[k];
      const bool isC = k == f.accumulator;
      if (!op.isVector() || (k == 0 && !isC))
        continue;
      for (unsigned r = 0; r < op.words; ++r) {
        const Write &write = state.rows[op.index + r];
        if (state.time - write.time > MaxStates)
          continue;
        require(inst, w, state, write, C::MatrixRead, RegisterFile::Vector,
                op.index + r);
        require(inst, w, state, write,
                !isC                   ? C::MatrixAB
                : sameRange(write, op) ? C::MatrixCSame
                                       : overlapping,
                RegisterFile::Vector, op.index + r);
      }
    }
    if (state.time - state.exec.time <= MaxStates)
      require(inst, w, state, state.exec, C::Matrix, RegisterFile::Scalar,
              ExecLo);
  } else if (f.isValu || f.isMemory) {
    for (const RegisterRange &range : info.reads) {
      if (range.file == RegisterFile::Vector) {
        for (unsigned r = 0; r < range.count; ++r) {
          const unsigned row = range.first + r;
          const Write &write = state.rows[row % NumVectorRows];
          if (!(write.kinds & f.readAfter) ||
              state.time - write.time > MaxStates)
            continue;
          if (f.isMemory) {
            require(inst, w, state, write, C::MemoryRead, RegisterFile::Vector,
                    row);
            continue;
          }
          const InstructionInfo &first =
              monitor.state().program->info[write.instruction];
          if (f.isDot && (write.kinds & bit(P::Dot))) {
            if (first.mnemonicId != info.mnemonicId ||
                !readsOnlyAsC(inst, f.accumulator, row))
              require(inst, w, state, write, C::DotOther, RegisterFile::Vector,
                      row);
          } else
            require(inst, w, state, write, C::ValuRead, RegisterFile::Vector,
                    row);
          if (!f.isTrans)
            require(inst, w, state, write, C::NonTransRead,
                    RegisterFile::Vector, row);
          if (f.isLaneRead)
            require(inst, w, state, write, C::ReadLaneRead,
                    RegisterFile::Vector, row);
          if (f.isPermlane)
            require(inst, w, state, write, C::PermlaneRead,
                    RegisterFile::Vector, row);
          if (inst.encoding == Encoding::Dpp && inst.numSrc() &&
              inst.src(0).isVector() && row >= inst.src(0).index &&
              row < unsigned(inst.src(0).index) + inst.src(0).words)
            require(inst, w, state, write, C::DppRead, RegisterFile::Vector,
                    row);
        }
      } else if (range.file == RegisterFile::Scalar) {
        for (unsigned r = 0; r < range.count; ++r) {
          const unsigned index = (range.first + r) % NumScalarRegisters;
          const Write &write = state.scalars[index];
          if (state.time - write.time <= MaxStates &&
              (state.valuScalars[index / 64] >> index % 64 & 1)) {
            if (f.isVmem)
              require(inst, w, state, write, C::VmemScalar,
                      RegisterFile::Scalar, index);
            else if ((f.isLaneRead || f.isWriteLane) && inst.numSrc() > 1 &&
                     inst.src(1).isScalar() && inst.src(1).index == index)
              require(inst, w, state, write, C::LaneSelect,
                      RegisterFile::Scalar, index);
            else if (f.isDivFmas && index <= VccHi && index >= VccLo)
              require(inst, w, state, write, C::DivFmas, RegisterFile::Scalar,
                      index);
            else if (f.isValu) {
              // Masks and carries are forwarded; constants are not.
              const bool isMask =
                  f.isCarry && inst.numOps &&
                  ((inst.ops[inst.numOps - 1].isScalar() &&
                    (inst.ops[inst.numOps - 1].index & ~1u) == (index & ~1u)));
              if (!isMask && !f.isDivFmas)
                require(inst, w, state, write, C::ConstantRead,
                        RegisterFile::Scalar, index);
            }
          }
          if (f.isValu && (index == ExecLo || index == ExecHi))
            require(inst, w, state, state.exec, C::ExecConstant,
                    RegisterFile::Scalar, index);
        }
      }
    }
    if (f.isValu) {
      for (unsigned k = 0; k < inst.numOps; ++k)
        if (inst.ops[k].kind == OperandKind::Status) {
          if (inst.ops[k].index == StatusVccz &&
              (state.valuScalars[VccLo / 64] >> VccLo % 64 & 1))
            require(inst, w, state, state.scalars[VccLo], C::ZeroFlagRead,
                    RegisterFile::Scalar, VccLo);
          else if (inst.ops[k].index == StatusExecz)
            require(inst, w, state, state.exec, C::ZeroFlagRead,
                    RegisterFile::Scalar, ExecLo);
        }
      if (state.time - state.exec.time <= MaxStates) {
        if (inst.encoding == Encoding::Dpp)
          require(inst, w, state, state.exec, C::Dpp, RegisterFile::Scalar,
                  ExecLo);
        if (f.isLaneRead || f.isWriteLane)
          require(inst, w, state, state.exec, C::LaneOp, RegisterFile::Scalar,
                  ExecLo);
        if (f.isPermlane)
          require(inst, w, state, state.exec, C::Permlane, RegisterFile::Scalar,
                  ExecLo);
      }
    }
  }
  if (f.usesM0)
    require(inst, w, state, state.m0, C::M0Use, RegisterFile::Scalar, M0);
  if (f.isSetReg || f.isGetReg)
    require(inst, w, state, state.hardware[inst.imm & 0x3f], C::RegisterAccess,
            RegisterFile::Scalar, 0);

  // --- Registers written ----------------------------------------------------
  Write now;
  now.time = state.time;
  now.instruction = inst.index;
  now.passIndex = f.passIndex;
  for (const RegisterRange &range : info.writes) {
    if (range.file == RegisterFile::Vector) {
      now.kinds = f.kinds;
      state.specialUntil = std::max(state.specialUntil, state.time + f.reach);
      now.first = range.first;
      now.count = range.count;
      for (unsigned r = 0; r < range.count && range.first + r < NumVectorRows;
           ++r) {
        const unsigned row = range.first + r;
        Write &write = state.rows[row];
        if (write.kinds & f.writeAfter) {
          // A v_dot may follow one of the same opcode on its accumulator at
          // once, and then also overwrites its result.
          const bool sameDot =
              f.isDot && (write.kinds & bit(P::Dot)) &&
              monitor.state().program->info[write.instruction].mnemonicId ==
                  info.mnemonicId;
          if (state.time - write.time <= MaxStates && !sameDot)
            require(inst, w, state, write, C::ValuWrite, RegisterFile::Vector,
                    row);
        }
        // To keep the rest is to read it.
        if (f.keepsRest && (write.kinds & bit(P::MovedBits)))
          require(inst, w, state, write, C::ValuRead, RegisterFile::Vector,
                  row);
        if (f.isValu && state.time - state.matrixCTime <= MaxStates)
          require(inst, w, state, state.matrixC[row], C::ValuWrite,
                  RegisterFile::Vector, row);
        // What a load returns arrives long after a store has read its data.
        if ((f.isValu || f.isMatrix) &&
            state.time - state.wideStoreTime <= MaxStates)
          require(inst, w, state, state.wideStore[row], C::ValuWrite,
                  RegisterFile::Vector, row);
        write = now;
      }
    } else if (range.file == RegisterFile::Scalar) {
      now.first = range.first;
      now.count = range.count;
      for (unsigned r = 0;
           r < range.count && range.first + r < NumScalarRegisters; ++r) {
        const unsigned index = range.first + r;
        const uint64_t scalar = uint64_t(1) << index % 64;
        uint64_t &valuScalars = state.valuScalars[index / 64];
        if (f.isValu) {
          now.kinds = bit(P::ValuSgpr);
          state.scalars[index] = now;
          state.scalarUntil = state.time + MaxScalarStates;
          valuScalars |= scalar;
        } else
          valuScalars &= ~scalar;
        if (index == ExecLo || index == ExecHi) {
          now.kinds = f.isValu ? bit(P::ValuExec) : uint16_t(0);
          state.exec = now;
        }
        if (index == M0) {
          now.kinds =
              info.cls == InstructionClass::Salu ? bit(P::SaluM0) : uint16_t(0);
          state.m0 = now;
        }
      }
    }
  }
  // The accumulator of a sparse form is its result, which has rules of its own.
  if ((f.kinds & bit(P::Xdl)) && f.accumulator == 3 && inst.ops[3].isVector()) {
    now.kinds = bit(P::MatrixC);
    state.matrixCTime = state.time;
    for (unsigned r = 0; r < inst.ops[3].words; ++r)
      state.matrixC[inst.ops[3].index + r] = now;
  }
  if (f.wideStoreData) {
    now.kinds = bit(P::WideStore);
    state.wideStoreTime = state.time;
    for (unsigned r = 0; r < f.wideStoreCount; ++r)
      state.wideStore[(f.wideStoreData - 1 + r) % NumVectorRows] = now;
  }
  if (f.isSetReg) {
    now.kinds = bit(P::SetReg);
    state.hardware[inst.imm & 0x3f] = now;
  }
}

} // namespace netra::sim
