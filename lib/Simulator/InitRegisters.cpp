//===- InitRegisters.cpp - Undefined bits in registers -------------------===//
// SPDX-License-Identifier: MIT

#include "InitChecker.h"

using namespace llvm;

namespace netra::sim {

static constexpr uint64_t Word = ~0u, Half = 0xffff;

Bits InitChecker::WaveState::bitsOf(unsigned row, unsigned lane,
                                    uint32_t value) const {
  row %= NumVectorRows;
  if (rows[row] >> lane & 1)
    return {value};
  if (!(followed[row] >> lane & 1))
    return {value, ~Word, 0, {Origin::Vector, false, instruction, row}};
  const WordBits &bits = words[size_t(row) * MaxLanes + lane];
  return {value, bits.defined | ~Word, bits.computed, bits.origin};
}

Bits InitChecker::WaveState::bitsOfScalar(unsigned index,
                                          uint32_t value) const {
  index %= NumScalarRegisters;
  const WordBits &bits = scalars[index];
  return {value, bits.defined | ~Word, bits.computed,
          bits.origin.kind == Origin::None
              ? Origin{Origin::Scalar, false, instruction, index}
              : bits.origin};
}

/// By how much M0 moves the registers of source \p k, or of the destination.
unsigned InitChecker::movedBy(const Instruction &inst, const Wave &w,
                              const Operand &named, unsigned enable) const {
  if (named.isScalar())
    return relative[inst.index] == MovesSource && named.index < M0 ? w.m0() : 0;
  return (w.mode & ModeGprIndex) && w.m0() >> (12 + enable) & 1 ? w.m0() & 0xff
                                                                : 0;
}

Bits InitChecker::sourceOf(const Instruction &inst, const Wave &w,
                           const WaveState &state, unsigned k, Part part,
                           const LaneMap &map, unsigned lane) const {
  if (part == Part::None)
    return {};
  if (part == Part::Exec)
    return {w.exec()};
  if (part == Part::Old || part == Part::OldPair || part == Part::OldLow) {
    const Bits old = oldOf(inst, w, state, lane, 0);
    if (part == Part::OldLow)
      return old.field(inst.opSel & 8 ? 16 : 0, 16);
    return part == Part::Old
               ? old
               : old.with(oldOf(inst, w, state, lane, 1).placed(32), ~Word);
  }
  if (part == Part::Flag || part == Part::Mask) {
    bool isSet = w.scc, isKnown = state.scc;
    Origin origin = state.sccOrigin;
    if (monitor.state().program->info[inst.index].cls !=
        InstructionClass::Salu) {
      const bool isNamed = k < inst.numSrc() && !inst.src(k).isVector();
      uint64_t mask = w.vcc();
      unsigned from = VccLo;
      if (isNamed) {
        mask = w.scalar64(inst.src(k));
        from = inst.src(k).index;
      }
      isSet = mask >> lane & 1;
      const Bits word = state.bitsOfScalar(from + lane / 32, 0);
      isKnown = (isNamed && !inst.src(k).isScalar()) ||
                (word.defined >> lane % 32 & 1);
      origin = word.origin;
    }
    const uint64_t mask = part == Part::Flag ? 1 : ~uint64_t(0);
    return {isSet ? mask : 0, isKnown ? ~uint64_t(0) : ~mask,
            isKnown ? 0 : mask, origin};
  }
  const Operand &from = inst.src(k);
  if (map.isMoved && !k) {
    if (!(map.reads >> lane & 1))
      return {};
    lane = map.from[lane];
  }
  const unsigned first = from.index + movedBy(inst, w, from, k);
  auto word = [&](unsigned n) -> Bits {
    if (from.isVector())
      return state.bitsOf(first + n, lane,
                          w.row((first + n) % NumVectorRows)[lane]);
    if (from.isScalar())
      return state.bitsOfScalar(first + n, w.scalar32(from, n));
    return {w.scalar32(from, n)};
  };
  Bits bits = word(0);
  if (part == Part::Pair || part == Part::Low6) {
    bits = bits.with(word(1).placed(32), ~Word);
    return part == Part::Pair ? bits : bits.field(0, 6);
  }
  // What is negated is not what it was.
  if (from.modifiers & (ModNeg | ModAbs))
    bits.computed = ~bits.defined;
  const bool isSdwa = inst.encoding == Encoding::Sdwa;
  if (isSdwa && from.sel != SdwaSel::Dword) {
    const bool isWord = from.sel >= SdwaSel::Word0;
    const unsigned at =
        isWord ? 16 * (from.sel == SdwaSel::Word1) : 8 * unsigned(from.sel);
    bits = bits.field(at, isWord ? 16 : 8, from.modifiers & ModSext);
    bits = Bits().with(bits, Word);
  }
  switch (part) {
  case Part::Low:
    return bits.field(!isSdwa && (from.modifiers & ModOpSel) ? 16 : 0, 16);
  case Part::High:
    return bits.field(16, 16);
  case Part::Low24:
    return bits.field(0, 24);
  case Part::Low5:
    return bits.field(0, 5);
  case Part::ByteOf:
    return bits.field(isSdwa ? 0 : 8 * (inst.opSel & 3), 8);
  case Part::Word:
    return bits;
  default:
    return bits.field(8 * (unsigned(part) - unsigned(Part::Byte0)), 8);
  }
}

/// Word \p n of the destination as it was.
Bits InitChecker::oldOf(const Instruction &inst, const Wave &w,
                        const WaveState &state, unsigned lane,
                        unsigned n) const {
  const Operand &to = inst.dst();
  if (to.isScalar())
    return state.bitsOfScalar(to.index + n, w.scalar32(to, n));
  const unsigned row = (to.index + movedBy(inst, w, to, 3) + n) % NumVectorRows;
  return state.bitsOf(row, lane, w.row(row)[lane]);
}

Bits InitChecker::resultOf(const Instruction &inst, const FlowRule &rule,
                           const Wave &w, const WaveState &state,
                           const LaneMap &map, unsigned lane) const {
  auto source = [&](unsigned k) {
    return sourceOf(inst, w, state, k, rule.parts[k], map, lane);
  };
  auto old = [&] { return oldOf(inst, w, state, lane, 0); };
  const bool isPlain = inst.encoding == Encoding::Plain;
  Bits sources[] = {source(0), source(1), source(2)}, r;
  if (rule.flow == Flow::PairMove) {
    for (unsigned part = 0; part < 2; ++part)
      r = r.with(sources[part]
                     .field(32 * (inst.opSel >> part & 1), 32)
                     .placed(32 * part),
                 Word << (32 * part));
    return r;
  }
  if (rule.flow == Flow::Mixed)
    for (unsigned k = 0; k < 3; ++k)
      if (inst.opSelHi >> k & 1)
        sources[k] = sources[k].field(16 * (inst.opSel >> k & 1), 16);
  const unsigned width = rule.width();
  switch (rule.form) {
  case Form::Halves:
  case Form::Pairs:
    for (unsigned part = 0; part < 2; ++part) {
      const unsigned sel = part ? inst.opSelHi : inst.opSel;
      Bits chosen[3];
      for (unsigned k = 0; k < 3; ++k) {
        // The destination is no operand, and nothing selects of it.
        const bool isHigh = rule.parts[k] == Part::Old ? part : sel >> k & 1;
        chosen[k] = sources[k].field(isHigh ? width : 0, width);
      }
      const unsigned at = width * part;
      r = r.with(combine(rule, chosen).placed(at), ((uint64_t(1) << width) - 1)
                                                       << at);
    }
    return r;
  case Form::Byte: {
    const unsigned at = 8 * (inst.opSel >> 2 & 3);
    return old().with(combine(rule, sources).placed(at), uint64_t(0xff) << at);
  }
  case Form::High:
    return old().with(combine(rule, sources).placed(16), Half << 16);
  case Form::Half:
  case Form::Merged:
    r = combine(rule, sources);
    if (isPlain && inst.opSel & 8 && rule.flow != Flow::Mixed)
      return old().with(r.placed(16), Half << 16);
    if (isPlain && rule.form == Form::Merged)
      return old().with(r, Half);
    break;
  case Form::Whole:
    r = combine(rule, sources);
    break;
  }
  if (inst.encoding != Encoding::Sdwa || inst.sdwaDst == SdwaSel::Dword ||
      !inst.dst().isVector())
    return r;
  const bool isWord = inst.sdwaDst >= SdwaSel::Word0;
  const unsigned at = isWord ? 16 * (inst.sdwaDst == SdwaSel::Word1)
                             : 8 * unsigned(inst.sdwaDst),
                 bits = isWord ? 16 : 8;
  if (inst.sdwaUnused == SdwaUnused::Preserve)
    return old().with(r.field(0, bits).shiftedLeft(at, 32),
                      ((uint64_t(1) << bits) - 1) << at);
  return r.field(0, bits, inst.sdwaUnused == SdwaUnused::Sext)
      .shiftedLeft(at, 32);
}

bool InitChecker::follow(const Instruction &inst, const InstructionInfo &info,
                         const Wave &w, const LaneMap &map, WaveState &state) {
  FlowRule rule = rules[info.mnemonicId];
  const bool isScalar = info.cls == InstructionClass::Salu;
  if (rule.flow == Flow::None) {
    // Of SDWA, only parts of the sources are read.
    if (inst.encoding != Encoding::Sdwa || keepsTied[info.mnemonicId])
      return false;
    rule.flow = Flow::All;
    for (unsigned k = 0; k < inst.numSrc() && k < 3; ++k)
      rule.parts[k] = Part::Word;
  } else if (isBitop3[info.mnemonicId])
    rule.table = inst.bitop3;
  else if (inst.clamp && (rule.flow == Flow::Sum || rule.flow == Flow::Add ||
                          rule.flow == Flow::Accumulate))
    rule.flow = Flow::All; // saturates
  state.isFollowed = true;
  if (isScalar) {
    const Bits r = resultOf(inst, rule, w, state, map, 0);
    state.scalarResult = r;
    state.isSccKnown =
        r.isKnown() || (rule.scc == FlowRule::NonZero && (r.value & r.defined));
    if (rule.scc == FlowRule::Carry)
      for (unsigned k = 0; k < 3; ++k)
        state.isSccKnown &=
            sourceOf(inst, w, state, k, rule.parts[k], map, 0).isKnown();
    state.undefined = r.isKnown() && state.isSccKnown ? 0 : ~uint64_t(0);
    return true;
  }
  const uint64_t lanes =
      map.isMoved ? state.exec : state.undefined & state.exec;
  state.undefined = 0;
  startResults(state);
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const unsigned l = unsigned(__builtin_ctzll(rest));
    const Bits r = resultOf(inst, rule, w, state, map, l);
    for (unsigned n = 0; n < 2; ++n)
      state.noteResult(n, l, r.field(32 * n, 32));
  }
  return true;
}

void InitChecker::noteOrigins(const Instruction &inst,
                              const InstructionInfo &info, const Wave &w,
                              const LaneMap &map, WaveState &state) {
  for (uint64_t rest = state.undefined; rest; rest &= rest - 1) {
    const unsigned l = unsigned(__builtin_ctzll(rest));
    Origin &origin = state.laneOrigins[l];
    origin = {};
    for (const RegisterRange &named : info.reads) {
      if (named.isTied && !keepsTied[info.mnemonicId])
        continue;
      const RegisterRange range = selected(inst, info, w, named, false);
      const bool isMoved = map.isMoved && inst.src(0).isVector() &&
                           range.file == RegisterFile::Vector &&
                           range.first == inst.src(0).index;
      origin = originOf(state, range, isMoved ? map.from[l] : l);
      if (origin.kind != Origin::None)
        break;
    }
    if (origin.kind == Origin::None) // it came over from another lane
      origin = state.origin;
  }
}

void InitChecker::startResults(WaveState &state) {
  state.isFollowed = true;
  for (auto &result : state.results)
    result.undefined = 0;
}

void InitChecker::WaveState::noteResult(unsigned n, unsigned lane,
                                        const Bits &bits) {
  if (bits.isKnown())
    return;
  undefined |= uint64_t(1) << lane;
  results[n].undefined |= uint64_t(1) << lane;
  results[n].words[lane] = {uint32_t(bits.defined), uint32_t(bits.computed),
                            bits.origin};
}

} // namespace netra::sim
