//===- InitChecker.cpp - Use of what was never written -------------------===//
// SPDX-License-Identifier: MIT

#include "InitChecker.h"
#include "VectorAccess.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

InitChecker::InitChecker(Monitor &monitor) : monitor(monitor) {
  for (const std::string &name : monitor.state().program->mnemonics) {
    StringRef m = name;
    Shape shape = Shape::Plain;
    if (m == "v_readlane_b32")
      shape = Shape::ReadLane;
    else if (m == "v_readfirstlane_b32")
      shape = Shape::ReadFirstLane;
    else if (m == "v_writelane_b32")
      shape = Shape::WriteLane;
    else if (m.starts_with("v_mfma") || m.starts_with("v_smfmac"))
      shape = Shape::Mfma;
    else if (m == "v_permlane16_swap_b32")
      shape = Shape::Swap16;
    else if (m == "v_permlane32_swap_b32")
      shape = Shape::Swap32;
    else if (m == "v_swap_b32")
      shape = Shape::Swap;
    else if (m == "ds_permute_b32" || m == "ds_bpermute_b32" ||
             m == "ds_swizzle_b32")
      shape = Shape::Permute;
    shapes.push_back(shape);
    isBitop3.push_back(m.starts_with("v_bitop3_"));
    Element element;
    element.isSigned = m.contains("_sbyte") || m.contains("_sshort") ||
                       m.contains("_i8") || m.contains("_i16");
    element.isHalf = m.contains("_d16");
    element.high = m.contains("_d16_hi") ? 16 : 0;
    element.isFormat = m.contains("_format_");
    element.isSwap = m.ends_with("_atomic_swap") ||
                     m.ends_with("_atomic_swap_x2") ||
                     m.starts_with("ds_wrxchg_");
    element.isPair = m.starts_with("ds_write2");
    element.isBuffer = m.contains("buffer_");
    elements.push_back(element);
    rules.push_back(FlowRule::of(m));
    cancels.push_back(StringSwitch<bool>(m)
                          .Cases({"v_xor_b32", "v_xnor_b32"}, true)
                          .Cases({"s_xor_b32", "s_xor_b64"}, true)
                          .Cases({"s_xnor_b32", "s_xnor_b64"}, true)
                          .Cases({"s_sub_u32", "s_sub_i32"}, true)
                          .Cases({"v_sub_u32", "v_subrev_u32"}, true)
                          .Cases({"v_sub_co_u32", "v_subrev_co_u32"}, true)
                          .Cases({"v_sub_u16", "v_subrev_u16"}, true)
                          .Cases({"v_sub_i32", "v_sub_i16"}, true)
                          .Cases({"v_pk_sub_u16", "v_pk_sub_i16"}, true)
                          .Default(false));
    keepsTied.push_back(m.contains("fmac") || m.starts_with("v_mac") ||
                        m.starts_with("v_dot") || m.contains("smfmac") ||
                        m.contains("pkaccum") || m.contains("_swap_") ||
                        m.starts_with("s_bitset") || m.starts_with("s_addk_") ||
                        m.starts_with("s_mulk_"));
  }
  for (const InstructionInfo &info : monitor.state().program->info) {
    const Shape shape = shapes[info.mnemonicId];
    const StringRef mnemonic =
        monitor.state().program->mnemonics[info.mnemonicId];
    relative.push_back(mnemonic.starts_with("s_movreld_")   ? MovesDestination
                       : mnemonic.starts_with("s_movrels_") ? MovesSource
                                                            : MovesNone);
    followsExec.push_back(shape == Shape::Plain || shape == Shape::ReadLane ||
                          shape == Shape::ReadFirstLane ||
                          shape == Shape::Permute);
  }
}

void InitChecker::startGroup() {
  Workgroup &group = monitor.workgroup();
  const LaunchState &launch = monitor.state();
  const uint8_t *d = launch.kernel->descriptor.data();
  const unsigned properties = support::endian::read16le(d + 56);
  const uint32_t rsrc2 = support::endian::read32le(d + 52);
  const unsigned preload = support::endian::read16le(d + 58) & 0x7f;
  unsigned user = 0;
  static constexpr unsigned sizes[] = {4, 2, 2, 2, 2, 2, 1};
  for (unsigned bit = 0; bit < 7; ++bit)
    if (properties >> bit & 1)
      user += sizes[bit];
  user += preload;
  const unsigned firstSystem = std::max(user, rsrc2 >> 1 & 0x1fu);
  unsigned system = 0;
  for (unsigned bit = 7; bit <= 10; ++bit)
    system += rsrc2 >> bit & 1;

  waves.resize(group.waves.size());
  for (size_t i = 0; i < waves.size(); ++i) {
    WaveState &state = waves[i];
    std::vector<uint8_t> scratch = std::move(state.scratch);
    std::vector<WordBits> words = std::move(state.words);
    state = WaveState();
    state.scratch = std::move(scratch);
    state.words = std::move(words);
    // Whole words may be looked at.
    state.scratch.assign(
        size_t(launch.scratchBytes) * launch.kernel->waveSize + 4, 0);
    for (unsigned s = 0; s < NumScalarRegisters; ++s)
      state.setScalar(s, {0});
    state.rows[0] = group.waves[i].exec();
    for (unsigned s = 0; s < user && s < 102; ++s)
      state.setScalar(s, {});
    for (unsigned s = firstSystem; s < firstSystem + system && s < 102; ++s)
      state.setScalar(s, {});
    for (unsigned s : {ExecLo, ExecHi, Null, FlatScratchLo, FlatScratchHi,
                       XnackMaskLo, XnackMaskHi})
      state.setScalar(s, {});
    for (unsigned s = Ttmp0; s < M0; ++s)
      state.setScalar(s, {});
  }
  lds.assign(launch.ldsBytes + 4, 0); // whole words may be looked at
  ldsComputed.clear();
}

std::string InitChecker::describe(const Origin &origin) const {
  std::string what;
  switch (origin.kind) {
  case Origin::Vector:
    what = registerName(RegisterFile::Vector, unsigned(origin.place)) +
           ", which was never written";
    break;
  case Origin::Scalar:
    what = registerName(RegisterFile::Scalar, unsigned(origin.place)) +
           ", which was never written";
    break;
  case Origin::Scc:
    what = "scc, which was never written";
    break;
  case Origin::Lds:
    what = formatv("LDS byte {0}, which was never written", origin.place).str();
    break;
  case Origin::Scratch:
    what = formatv("private byte {0}, which was never written", origin.place)
               .str();
    break;
  case Origin::Memory:
    what =
        formatv("memory at {0:x}, which was never written ({1})", origin.place,
                monitor.state().memory->describe(origin.place, 1))
            .str();
    break;
  case Origin::None:
    what = "an unknown place";
    break;
  }
  if (origin.instruction != ~0u) {
    const InstructionInfo &info =
        monitor.state().program->info[origin.instruction];
    what += formatv("; first read by `{0}` at {1:x}", info.text, info.pc).str();
  }
  return what;
}

void InitChecker::fault(const Instruction &inst, const Wave &w, int lane,
                        const std::string &use, const Origin &origin) {
  monitor.report(CheckInit, inst, w, lane, use,
                 use + " depends on " + describe(origin));
}

Origin InitChecker::originOf(const WaveState &state, const RegisterRange &range,
                             unsigned lane) const {
  if (range.file == RegisterFile::Scc)
    return state.scc ? Origin()
           : state.sccOrigin.kind == Origin::None
               ? Origin{Origin::Scc, false, state.instruction, 0}
               : state.sccOrigin;
  for (unsigned k = 0; k < range.count; ++k) {
    const Bits bits = range.file == RegisterFile::Vector
                          ? state.bitsOf(range.first + k, lane, 0)
                          : state.bitsOfScalar(range.first + k, 0);
    if (!bits.isKnown())
      return bits.origin;
  }
  return {};
}

/// Lanes of `lanes` in which some register of the range is undefined.
uint64_t InitChecker::undefinedLanes(const WaveState &state,
                                     const RegisterRange &range,
                                     uint64_t lanes) const {
  uint64_t undefined = 0;
  if (range.file == RegisterFile::Vector) {
    for (unsigned k = 0; k < range.count && range.first + k < NumVectorRows;
         ++k)
      undefined |= lanes & ~state.rows[range.first + k];
  } else if (range.file == RegisterFile::Scalar) {
    for (unsigned k = 0;
         k < range.count && range.first + k < NumScalarRegisters; ++k)
      if (state.scalars[range.first + k].defined != ~0u)
        undefined = ~uint64_t(0);
  } else if (!state.scc)
    undefined = ~uint64_t(0);
  return undefined;
}

static unsigned dppSource(const Instruction &inst, unsigned l, unsigned lanes,
                          bool &inRange) {
  const unsigned control = inst.dppControl, row = l & ~15u, at = l & 15;
  inRange = true;
  if (control < 0x100)
    return (l & ~3u) | (control >> (2 * (l & 3)) & 3);
  const unsigned n = control & 15;
  switch (control & 0x1f0) {
  case DppRowShl:
    inRange = at + n < 16;
    return row + (at + n) % 16;
  case DppRowShr:
    inRange = at >= n;
    return row + (at - n) % 16;
  case DppRowRor:
    return row + (at - n) % 16;
  case DppRowNewBcast:
    return row + n;
  default:
    break;
  }
  switch (control) {
  case DppWaveShl:
    inRange = l + 1 < lanes;
    return (l + 1) % lanes;
  case DppWaveRol:
    return (l + 1) % lanes;
  case DppWaveShr:
    inRange = l > 0;
    return (l - 1) % lanes;
  case DppWaveRor:
    return (l - 1) % lanes;
  case DppRowMirror:
    return row + 15 - at;
  case DppRowHalfMirror:
    return (l & ~7u) + 7 - (l & 7);
  case DppRowBcast15:
    inRange = l >= 16;
    return row ? row - 1 : 0;
  case DppRowBcast31:
    inRange = l >= 32;
    return 31;
  default:
    return l;
  }
}

/// Undefined lanes of the result where lanes see each other's sources.
uint64_t InitChecker::crossLane(const Instruction &inst,
                                const InstructionInfo &info, const Wave &w,
                                WaveState &state) {
  const uint64_t exec = w.activeMask();
  auto rows = [&](const Operand &op) {
    uint64_t undefined = 0;
    if (op.isVector())
      for (unsigned k = 0; k < op.words; ++k)
        undefined |= ~state.rows[op.index + k];
    else if (op.isScalar() && op.index < NumScalarRegisters &&
             state.scalars[op.index].defined != ~0u)
      undefined = ~uint64_t(0);
    return undefined;
  };
  // Moves a lane of a source to one of a destination.
  auto move = [&](unsigned n, unsigned to, const Operand &source,
                  unsigned from) {
    state.noteResult(
        n, to, state.bitsOf(source.index, from, w.row(source.index)[from]));
  };
  switch (shapes[info.mnemonicId]) {
  case Shape::ReadLane:
  case Shape::ReadFirstLane: {
    unsigned lane = exec ? unsigned(__builtin_ctzll(exec)) : 0;
    if (inst.numSrc() > 1) {
      lane = w.scalar32(inst.src(1)) % w.laneCount;
      if (inst.src(1).isScalar() && rows(inst.src(1)))
        return ~uint64_t(0);
    }
    const Operand &data = inst.src(0);
    if (!(rows(data) >> lane & 1))
      return 0;
    if (data.isVector()) {
      state.isFollowed = true;
      state.scalarResult =
          state.bitsOf(data.index, lane, w.row(data.index)[lane]);
    }
    return ~uint64_t(0);
  }
  case Shape::WriteLane:
    if (inst.src(1).isScalar() && rows(inst.src(1)))
      return ~uint64_t(0);
    state.undefined = 0;
    startResults(state);
    if (const Operand &data = inst.src(0); data.isScalar())
      state.noteResult(0, w.scalar32(inst.src(1)) % w.laneCount,
                       state.bitsOfScalar(data.index, w.scalar32(data, 0)));
    return state.undefined;
  case Shape::Swap:
  case Shape::Swap32:
  case Shape::Swap16: {
    // The lanes of the first destination that get one of the second, and by how
    // many lanes that lies below.
    const unsigned by = shapes[info.mnemonicId] == Shape::Swap     ? 0
                        : shapes[info.mnemonicId] == Shape::Swap32 ? 32
                                                                   : 16;
    state.undefined = 0;
    startResults(state);
    for (unsigned l = 0; l < w.laneCount; ++l)
      if (!by) {
        move(0, l, inst.ops[1], l);
        move(1, l, inst.ops[0], l);
      } else if (l & by) {
        move(0, l, inst.ops[1], l - by);
        move(1, l, inst.ops[1], l);
      } else {
        move(0, l, inst.ops[0], l);
        move(1, l, inst.ops[0], l + by);
      }
    return state.undefined;
  }
  case Shape::Permute: {
    const Operand &data = inst.ops[inst.numOps - 1];
    StringRef name = monitor.state().program->mnemonics[info.mnemonicId];
    state.undefined = 0;
    startResults(state);
    for (unsigned l = 0; l < w.laneCount; ++l) {
      if (!(exec >> l & 1))
        continue;
      unsigned from = l, to = l;
      if (name == "ds_swizzle_b32")
        from = swizzleSource(uint32_t(inst.imm) & 0xffff, l);
      else
        (name == "ds_bpermute_b32" ? from : to) =
            (w.row(inst.ops[1].index)[l] + uint32_t(inst.imm)) / 4 %
            w.laneCount;
      if (!(exec >> from & 1))
        continue;
      // The last lane that sends to a place wins.
      state.results[0].undefined &= ~(uint64_t(1) << to);
      move(0, to, data, from);
    }
    return state.undefined = state.results[0].undefined;
  }
  case Shape::Mfma: {
    // A lane of B reaches one column, a lane of A one row; a row is spread
    // over registers, so an undefined A makes all of D undefined unless the
    // instruction has the common 16x16 or 32x32 result shape.
    StringRef name = monitor.state().program->mnemonics[info.mnemonicId];
    const uint64_t a = rows(inst.ops[1]), b = rows(inst.ops[2]);
    uint64_t c =
        inst.numOps > 3 && inst.ops[3].isVector() ? rows(inst.ops[3]) : 0;
    if (inst.numOps > 4)
      c |= (rows(inst.ops[4]) || (inst.numOps > 5 && rows(inst.ops[5])))
               ? ~uint64_t(0)
               : 0;
    uint64_t result = c;
    const unsigned m = name.contains("32x32") ? 32 : 16;
    if (name.contains("4x4x"))
      return a | b ? ~uint64_t(0) : c;
    uint64_t columns = 0;
    for (unsigned l = 0; l < 64; ++l)
      if (b >> l & 1)
        columns |= uint64_t(1) << (l % m);
    for (unsigned l = 0; l < 64; ++l)
      if (columns >> (l % m) & 1)
        result |= uint64_t(1) << l;
    uint64_t rowsOfA = 0;
    for (unsigned l = 0; l < 64; ++l)
      if (a >> l & 1)
        rowsOfA |= uint64_t(1) << (l % m);
    state.second = rowsOfA; // used by after(): which rows of D are undefined
    return result;
  }
  case Shape::Plain:
    break;
  }
  return 0;
}

RegisterRange InitChecker::selected(const Instruction &inst,
                                    const InstructionInfo &info, const Wave &w,
                                    RegisterRange range, bool isWrite) const {
  if (const uint8_t moved = relative[inst.index];
      moved && range.file == RegisterFile::Scalar && range.first < M0 &&
      moved == (isWrite ? MovesDestination : MovesSource))
    range.first = uint16_t(
        std::min(range.first + uint64_t(w.m0()), uint64_t(NumScalarRegisters)));
  if (!(w.mode & ModeGprIndex) || range.file != RegisterFile::Vector ||
      (info.cls != InstructionClass::Valu &&
       info.cls != InstructionClass::Transcendental))
    return range;
  const unsigned index = w.m0() & 0xff, enable = w.m0() >> 12 & 0xf;
  bool isMoved = isWrite && (enable & 8);
  for (unsigned k = 0; !isWrite && k < 3 && k < inst.numSrc(); ++k)
    isMoved |= (enable >> k & 1) && inst.src(k).isVector() &&
               inst.src(k).index == range.first;
  if (isMoved)
    range.first += index;
  return range;
}

/// Whether both sources are the same part of the same register, read as it is.
static bool hasEqualSources(const Instruction &inst) {
  if (inst.numSrc() != 2 || inst.encoding == Encoding::Dpp)
    return false;
  const Operand &a = inst.src(0), &b = inst.src(1);
  return a.kind == b.kind && (a.isVector() || a.isScalar()) &&
         a.index == b.index && a.words == b.words && a.sel == b.sel &&
         a.modifiers == b.modifiers;
}

void InitChecker::check(const Instruction &inst, Wave &w, WaveState &state) {
  const InstructionInfo &info = monitor.state().program->info[inst.index];
  const uint64_t exec = state.exec;
  const Shape shape = shapes[info.mnemonicId];
  state.instruction = inst.index;
  const bool isMemory = info.cls == InstructionClass::VectorMemory ||
                        info.cls == InstructionClass::Flat ||
                        info.cls == InstructionClass::Lds ||
                        info.cls == InstructionClass::ScalarMemory;
  const uint64_t lanes = info.readsAllLanes || inst.encoding == Encoding::Dpp
                             ? w.allLanes()
                             : exec;
  uint64_t undefined = 0;
  for (const RegisterRange &named : info.reads) {
    if (named.isTied && !keepsTied[info.mnemonicId])
      continue;
    const RegisterRange range = selected(inst, info, w, named, false);
    const uint64_t missing = undefinedLanes(state, range, lanes),
                   hit = missing & exec;
    if (!missing)
      continue;
    undefined |= missing;
    state.origin =
        originOf(state, range, unsigned(__builtin_ctzll(hit ? hit : missing)));
    if (!isMemory)
      continue;
    // Data may be undefined on its way to LDS or scratch; all else is an
    // address.
    bool isData = false;
    if (info.isStore || info.isAtomic || shape == Shape::Permute)
      for (unsigned k = 0; k < inst.numOps; ++k) {
        const Operand &op = inst.ops[k];
        const bool same =
            op.isVector() == (range.file == RegisterFile::Vector) &&
            op.index == range.first;
        const bool isDataPlace = info.cls == InstructionClass::Lds
                                     ? k > inst.numDst || inst.numOps == 1
                                 : info.cls == InstructionClass::ScalarMemory ||
                                         elements[info.mnemonicId].isBuffer
                                     ? k == 0
                                     : k == unsigned(inst.numDst) + 1;
        isData |= same && isDataPlace;
      }
    if (shape == Shape::Permute && !isData)
      isData = inst.ops[inst.numOps - 1].index == range.first;
    if (isData) {
      // What is stored counts where it arrives.
      if (info.isAtomic && !elements[info.mnemonicId].isSwap &&
          (hit || range.file != RegisterFile::Vector))
        fault(inst, w, hit ? int(__builtin_ctzll(hit)) : -1,
              "the value of an atomic operation", state.origin);
      continue;
    }
    if (range.file == RegisterFile::Scalar && range.first == M0 && !inst.lds &&
        info.cls != InstructionClass::Lds &&
        !StringRef(info.text).contains("_lds"))
      continue;
    if (hit || range.file != RegisterFile::Vector)
      fault(inst, w,
            hit && range.file == RegisterFile::Vector
                ? int(__builtin_ctzll(hit))
                : -1,
            "an address", state.origin);
  }
  // x ^ x and x - x are what they are, whatever x is.
  if (undefined && cancels[info.mnemonicId] && hasEqualSources(inst))
    undefined = 0;
  state.undefined = undefined;
  // Lanes that DPP leaves alone stay undefined where they were.
  const bool mayKeep = inst.encoding == Encoding::Dpp && inst.numDst &&
                       inst.ops[0].isVector() &&
                       (exec & ~state.rows[inst.ops[0].index]);
  if (!undefined && !mayKeep)
    return;
  if (info.cls == InstructionClass::Branch) {
    // vccz and vccnz are decided by any bit that is surely set.
    const uint64_t known = uint64_t(state.scalars[VccLo].defined) |
                           uint64_t(state.scalars[VccHi].defined) << 32;
    if (!(StringRef(info.text).contains("vcc") && (w.vcc() & known)))
      fault(inst, w, -1, "a branch", state.origin);
    return;
  }
  LaneMap map;
  if (shape != Shape::Plain)
    state.undefined = crossLane(inst, info, w, state);
  else {
    map = moveLanes(inst, w, state);
    if (!follow(inst, info, w, map, state) && map.isMoved) {
      uint64_t source = 0, moved = 0, others = 0;
      const Operand &first = inst.src(0);
      if (first.isVector())
        source = ~state.rows[first.index];
      for (unsigned k = 1; k < inst.numSrc(); ++k)
        if (inst.src(k).isVector())
          others |= ~state.rows[inst.src(k).index];
        else if (inst.src(k).isScalar() &&
                 state.scalars[inst.src(k).index].defined != ~0u)
          others = ~uint64_t(0);
      for (unsigned l = 0; l < w.laneCount; ++l)
        if (map.reads >> l & 1 && source >> map.from[l] & 1)
          moved |= uint64_t(1) << l;
      state.undefined = moved | others;
    }
  }
  if (!state.isFollowed)
    noteOrigins(inst, info, w, map, state);
  if (info.writesExec && state.undefined)
    fault(inst, w, -1, "EXEC", state.origin);
}

InitChecker::LaneMap InitChecker::moveLanes(const Instruction &inst,
                                            const Wave &w,
                                            WaveState &state) const {
  LaneMap map;
  if (inst.encoding != Encoding::Dpp)
    return map;
  map.isMoved = true;
  const uint64_t exec = state.exec;
  for (unsigned l = 0; l < w.laneCount; ++l) {
    bool inRange;
    map.from[l] = uint8_t(dppSource(inst, l, w.laneCount, inRange));
    const bool isOn = (inst.dppRowMask >> (l / 16) & 1) &&
                      (inst.dppBankMask >> (l / 4 % 4) & 1);
    const bool reads = inRange && (exec >> map.from[l] & 1);
    map.reads |= uint64_t(reads) << l;
    if (!isOn || (!reads && !inst.dppBoundControl))
      state.exec &= ~(uint64_t(1) << l); // keeps the old value
  }
  return map;
}

void InitChecker::define(const Instruction &inst, Wave &w, WaveState &state) {
  const InstructionInfo &info = monitor.state().program->info[inst.index];
  const Shape shape = shapes[info.mnemonicId];
  uint64_t written = state.exec;
  if (shape == Shape::Mfma)
    written = w.allLanes();
  else if (shape == Shape::WriteLane)
    written = uint64_t(1) << (w.scalar32(inst.src(1)) % w.laneCount);
  else if (shape == Shape::Swap16 || shape == Shape::Swap32)
    written = w.allLanes();
  const bool isLoad = info.isLoad && state.hasUndefinedLoad;
  // A word in which these bits were computed from undefined ones.
  auto none = [&](uint32_t undefined) {
    return WordBits{~undefined, undefined, state.origin};
  };
  const bool isSwap =
      shape == Shape::Swap || shape == Shape::Swap16 || shape == Shape::Swap32;
  unsigned destination = 0;
  for (const RegisterRange &named : info.writes) {
    const RegisterRange range = selected(inst, info, w, named, true);
    if (range.file == RegisterFile::Vector) {
      for (unsigned k = 0; k < range.count && range.first + k < NumVectorRows;
           ++k) {
        uint64_t undefined = state.undefined;
        const WordBits *words = nullptr;
        if (info.isLoad && shape != Shape::Permute) {
          const unsigned word = std::min(k, 15u);
          undefined = isLoad ? state.loaded[word] : 0;
          words = loadedWords[word];
        } else if (state.isFollowed) {
          const auto &result =
              state.results[destination && isSwap ? 1 : std::min(k, 1u)];
          undefined = result.undefined;
          words = result.words;
        } else if (shape == Shape::Mfma && state.second) {
          // Rows of D whose row of A is undefined.
          StringRef name = monitor.state().program->mnemonics[info.mnemonicId];
          const bool wide = name.contains("32x32");
          for (unsigned l = 0; l < 64; ++l) {
            const unsigned row = wide ? 8 * (k % 16 / 4) + 4 * (l / 32) + k % 4
                                      : 4 * (l / 16) + k % 4;
            if (state.second >> row & 1)
              undefined |= uint64_t(1) << l;
          }
        }
        uint64_t &row = state.rows[range.first + k];
        row = (row & ~written) | (written & ~undefined);
        keepBits(state, range.first + k, words, undefined, written);
      }
    } else if (range.file == RegisterFile::Scalar) {
      for (unsigned k = 0;
           k < range.count && range.first + k < NumScalarRegisters; ++k) {
        WordBits bits = none(state.undefined ? ~0u : 0);
        if (state.isFollowed &&
            (info.cls == InstructionClass::Salu || shape == Shape::ReadLane ||
             shape == Shape::ReadFirstLane)) {
          const Bits word = state.scalarResult.field(32 * (k & 1), 32);
          bits = {uint32_t(word.defined), uint32_t(word.computed), word.origin};
          if (rules[info.mnemonicId].parts[1] == Part::Exec)
            bits = {}; // the old EXEC
        } else if (shape != Shape::ReadLane && shape != Shape::ReadFirstLane &&
                   (info.cls == InstructionClass::Valu ||
                    info.cls == InstructionClass::Transcendental))
          // A comparison gives a bit per active lane and zeros elsewhere.
          bits =
              none(uint32_t((state.undefined & state.exec) >> (32 * (k & 1))));
        if (info.cls == InstructionClass::ScalarMemory) {
          const unsigned word = std::min(k, 15u);
          bits =
              isLoad && state.loaded[word] ? loadedWords[word][0] : WordBits();
        }
        if (range.first + k == ExecLo || range.first + k == ExecHi)
          bits = {}; // reported when it was set
        state.setScalar(range.first + k, bits);
      }
    } else {
      state.scc = state.isFollowed ? state.isSccKnown : !state.undefined;
      if (!state.scc)
        state.sccOrigin = state.origin;
    }
    ++destination;
  }
}

} // namespace netra::sim
