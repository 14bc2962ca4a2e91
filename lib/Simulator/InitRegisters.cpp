//===- InitRegisters.cpp - Undefined bits in registers -------------------===//
// SPDX-License-Identifier: MIT

#include "InitChecker.h"

using namespace llvm;

namespace netra::sim {

static constexpr uint64_t Word = ~0u, Half = 0xffff;

Bits InitChecker::WaveState::bitsOf(unsigned row, unsigned lane,
                                    uint32_t value) const {
  Bits bits;
  bits.value = value;
  if (rows[row] >> lane & 1)
    return bits;
  const uint64_t undefined = partial[row] >> lane & 1
                                 ? ~definedBits[size_t(row) * MaxLanes + lane]
                                 : ~0u;
  bits.defined = ~undefined;
  bits.computed = computed[row] >> lane & 1 ? undefined : 0;
  return bits;
}

Bits InitChecker::WaveState::bitsOfScalar(unsigned index,
                                          uint32_t value) const {
  index %= NumScalarRegisters;
  const uint64_t undefined = uint32_t(~scalars[index]);
  return {value, ~undefined,
          computedScalars[index / 64] >> index % 64 & 1 ? undefined : 0};
}

Bits InitChecker::sourceOf(const Instruction &inst, const Wave &w,
                           const WaveState &state, unsigned k, Part part,
                           const LaneMap &map, unsigned lane) const {
  if (part == Part::None)
    return {};
  if (part == Part::Exec)
    return {w.exec()};
  if (part == Part::Flag || part == Part::Mask) {
    bool isSet = w.scc, isKnown = state.scc;
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
      isKnown =
          (isNamed && !inst.src(k).isScalar()) ||
          (state.scalars[(from + lane / 32) % NumScalarRegisters] >> lane % 32 &
           1);
    }
    const uint64_t mask = part == Part::Flag ? 1 : ~uint64_t(0);
    return {isSet ? mask : 0, isKnown ? ~uint64_t(0) : ~mask,
            isKnown ? 0 : mask};
  }
  const Operand &from = inst.src(k);
  if (map.isMoved && !k) {
    if (!(map.reads >> lane & 1))
      return {};
    lane = map.from[lane];
  }
  auto word = [&](unsigned n) -> Bits {
    if (from.isVector())
      return state.bitsOf(from.index + n, lane, w.row(from.index + n)[lane]);
    if (from.isScalar())
      return state.bitsOfScalar(from.index + n, w.scalar32(from, n));
    return {w.scalar32(from, n)};
  };
  Bits bits = word(0);
  if (part == Part::Pair)
    return bits.with(word(1).placed(32), ~Word);
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
  case Part::Word:
    return bits;
  default:
    return bits.field(8 * (unsigned(part) - unsigned(Part::Byte0)), 8);
  }
}

Bits InitChecker::resultOf(const Instruction &inst, const FlowRule &rule,
                           const Wave &w, const WaveState &state,
                           const LaneMap &map, unsigned lane) const {
  auto source = [&](unsigned k) {
    return sourceOf(inst, w, state, k, rule.parts[k], map, lane);
  };
  auto old = [&] {
    const unsigned row = inst.dst().index;
    return state.bitsOf(row, lane, w.row(row)[lane]);
  };
  // Part of a source, in a vector of which parts may be absent.
  auto element = [](const Bits &bits, unsigned at, unsigned width) {
    const uint64_t mask = (uint64_t(1) << width) - 1;
    return Bits{bits.value >> at & mask, ~(~bits.defined >> at & mask),
                bits.computed >> at & mask};
  };
  Bits r;
  switch (rule.flow) {
  case Flow::Pairs:
  case Flow::Halves: {
    const unsigned width = rule.flow == Flow::Pairs ? 32 : 16;
    const uint64_t mask = rule.flow == Flow::Pairs ? Word : Half;
    for (unsigned part = 0; part < 2; ++part) {
      const unsigned sel = part ? inst.opSelHi : inst.opSel;
      Bits all;
      for (unsigned k = 0; k < 3 && rule.parts[k] != Part::None; ++k) {
        const Bits one = element(source(k), width * (sel >> k & 1), width);
        all.defined &= one.defined;
        all.computed |= one.computed;
      }
      r = r.with(all.spared(width).placed(width * part),
                 mask << (width * part));
    }
    return r;
  }
  case Flow::PairMove:
    for (unsigned part = 0; part < 2; ++part)
      r = r.with(element(source(part), 32 * (inst.opSel >> part & 1), 32)
                     .placed(32 * part),
                 Word << (32 * part));
    return r;
  case Flow::PackBytes: {
    // The second byte may be there to fill the half.
    const unsigned at = inst.opSel >> 3 & 1 ? 16 : 0;
    r = source(0).spoilt(8).with(source(1).spared(8).placed(8),
                                 ~uint64_t(0xff));
    return old().with(r.placed(at), Half << at);
  }
  case Flow::Mixed:
  case Flow::MixedToLow:
  case Flow::MixedToHigh: {
    for (unsigned k = 0; k < 3; ++k) {
      Bits one = source(k);
      if (inst.opSelHi >> k & 1)
        one = element(one, 16 * (inst.opSel >> k & 1), 16);
      r.defined &= one.defined;
    }
    if (rule.flow == Flow::Mixed)
      return r.spoilt(32);
    const unsigned at = rule.flow == Flow::MixedToHigh ? 16 : 0;
    return old().with(r.spoilt(16).placed(at), Half << at);
  }
  default:
    break;
  }
  const Bits sources[] = {source(0), source(1), source(2)};
  r = combine(rule, sources);
  if (inst.encoding != Encoding::Sdwa || inst.sdwaDst == SdwaSel::Dword ||
      !inst.dst().isVector())
    return r;
  const bool isWord = inst.sdwaDst >= SdwaSel::Word0;
  const unsigned at = isWord ? 16 * (inst.sdwaDst == SdwaSel::Word1)
                             : 8 * unsigned(inst.sdwaDst),
                 width = isWord ? 16 : 8;
  if (inst.sdwaUnused == SdwaUnused::Preserve)
    return old().with(r.field(0, width).shiftedLeft(at, 32),
                      ((uint64_t(1) << width) - 1) << at);
  return r.field(0, width, inst.sdwaUnused == SdwaUnused::Sext)
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
  } else if (info.mnemonicId == bitop3)
    rule.table = inst.bitop3;
  else if (inst.clamp && rule.flow == Flow::Sum)
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
  for (auto &result : state.results)
    result.undefined = result.partial = result.padding = result.computed = 0;
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    const unsigned l = unsigned(__builtin_ctzll(rest));
    const uint64_t lane = uint64_t(1) << l;
    const Bits r = resultOf(inst, rule, w, state, map, l);
    if (r.isKnown())
      continue;
    state.undefined |= lane;
    for (unsigned n = 0; n < 2; ++n) {
      auto &result = state.results[n];
      const uint32_t defined = uint32_t(r.defined >> (32 * n));
      if (defined == ~0u)
        continue;
      result.undefined |= lane;
      result.definedBits[l] = defined;
      if (defined)
        result.partial |= lane;
      if (uint32_t(r.computed >> (32 * n)))
        result.computed |= lane;
      else if (!defined && rule.isMove() && inst.src(0).isVector())
        result.padding |= state.padding[inst.src(0).index + n] & lane;
    }
  }
  return true;
}

} // namespace netra::sim
