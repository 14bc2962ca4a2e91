//===- InitMemory.cpp - Undefined bytes in memory and registers ----------===//
// SPDX-License-Identifier: MIT

#include "InitChecker.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace netra::sim {

//===----------------------------------------------------------------------===//
// Moves, masks and shifts
//===----------------------------------------------------------------------===//

InitChecker::BitOp InitChecker::bitOpOf(StringRef mnemonic) {
  return StringSwitch<BitOp>(mnemonic)
      .Cases({"v_mov_b32", "v_not_b32", "v_accvgpr_read_b32"}, BitOp::Move)
      .Cases({"v_accvgpr_write_b32", "v_accvgpr_mov_b32"}, BitOp::Move)
      .Case("v_and_b32", BitOp::And)
      .Case("v_or_b32", BitOp::Or)
      .Case("v_xor_b32", BitOp::Xor)
      .Case("v_lshlrev_b32", BitOp::ShiftLeft)
      .Case("v_lshrrev_b32", BitOp::ShiftRight)
      .Case("v_ashrrev_i32", BitOp::ShiftRightSigned)
      .Case("v_bfe_u32", BitOp::Field)
      .Case("v_bfe_i32", BitOp::FieldSigned)
      .Case("v_lshl_or_b32", BitOp::ShiftLeftOr)
      .Case("v_and_or_b32", BitOp::AndOr)
      .Case("v_or3_b32", BitOp::Or3)
      .Case("v_cvt_f32_ubyte0", BitOp::Byte0)
      .Case("v_cvt_f32_ubyte1", BitOp::Byte1)
      .Case("v_cvt_f32_ubyte2", BitOp::Byte2)
      .Case("v_cvt_f32_ubyte3", BitOp::Byte3)
      .Default(BitOp::None);
}

namespace {

/// A word and which of its bits are defined.
struct Bits {
  uint32_t value = 0, defined = ~0u;

  bool isKnown() const { return defined == ~0u; }
  /// What an operation that is not followed makes of it.
  Bits spoilt() const { return {0, isKnown() ? ~0u : 0u}; }
};
Bits both(Bits a, Bits b) {
  return {a.value & b.value, (a.defined & b.defined) | (a.defined & ~a.value) |
                                 (b.defined & ~b.value)};
}
Bits either(Bits a, Bits b) {
  return {a.value | b.value, (a.defined & b.defined) | (a.defined & a.value) |
                                 (b.defined & b.value)};
}
Bits shiftedLeft(Bits a, unsigned by) {
  return {a.value << by, a.defined << by | ((1u << by) - 1)};
}
Bits shiftedRight(Bits a, unsigned by) {
  return {a.value >> by, ~(~a.defined >> by)};
}
Bits field(Bits a, unsigned at, unsigned width, bool isSigned) {
  const uint32_t mask = width >= 32 ? ~0u : (1u << width) - 1;
  Bits r = shiftedRight(a, at);
  r = {r.value & mask, r.defined | ~mask};
  if (isSigned && width && !(r.defined >> (width - 1) & 1))
    r.defined &= mask; // copies of an unknown sign
  return r;
}

} // namespace

void InitChecker::followBytes(const Instruction &inst,
                              const InstructionInfo &info, const Wave &w,
                              WaveState &state) {
  const BitOp op = bitOps[info.mnemonicId];
  const bool isSdwa = inst.encoding == Encoding::Sdwa;
  if ((info.cls != InstructionClass::Valu) || (op == BitOp::None && !isSdwa) ||
      (isSdwa && inst.sdwaDst != SdwaSel::Dword) || !inst.numDst ||
      !inst.dst().isVector())
    return;
  auto source = [&](unsigned k, unsigned l) {
    const Operand &from = inst.src(k);
    Bits bits;
    if (from.isVector()) {
      bits.value = w.row(from.index)[l];
      if (!(state.rows[from.index] >> l & 1)) {
        bits.defined = 0;
        if (state.partial[from.index] >> l & 1)
          for (unsigned byte = 0; byte < 4; ++byte)
            if (state.definedBytes[size_t(from.index) * MaxLanes + l] >> byte &
                1)
              bits.defined |= 0xffu << (8 * byte);
      }
    } else {
      bits.value = w.scalar32(from);
      if (from.isScalar())
        bits.defined = state.scalars[from.index];
    }
    if (isSdwa && from.sel != SdwaSel::Dword) {
      const bool isWord = from.sel >= SdwaSel::Word0;
      const unsigned at =
          isWord ? 16 * (from.sel == SdwaSel::Word1) : 8 * unsigned(from.sel);
      bits = field(bits, at, isWord ? 16 : 8, from.modifiers & ModSext);
    }
    return bits;
  };
  // A shift by an unknown amount is not followed.
  auto amount = [&](unsigned k, unsigned l, bool &isKnown) {
    const Bits bits = source(k, l);
    isKnown &= (bits.defined & 31) == 31;
    return bits.value & 31;
  };
  for (uint64_t rest = state.undefined & state.exec; rest; rest &= rest - 1) {
    const unsigned l = unsigned(__builtin_ctzll(rest));
    bool isKnown = true;
    Bits r = inst.numSrc() ? source(0, l) : Bits();
    switch (op) {
    case BitOp::Move:
      break;
    case BitOp::And:
      r = both(r, source(1, l));
      break;
    case BitOp::Or:
      r = either(r, source(1, l));
      break;
    case BitOp::Xor:
      r.defined &= source(1, l).defined;
      break;
    case BitOp::ShiftLeft:
      r = shiftedLeft(source(1, l), amount(0, l, isKnown));
      break;
    case BitOp::ShiftRight:
      r = shiftedRight(source(1, l), amount(0, l, isKnown));
      break;
    case BitOp::ShiftRightSigned: {
      const unsigned by = amount(0, l, isKnown);
      r = field(source(1, l), by, 32 - by, true);
      break;
    }
    case BitOp::Field:
    case BitOp::FieldSigned: {
      const unsigned at = amount(1, l, isKnown), width = amount(2, l, isKnown);
      r = field(r, at, width, op == BitOp::FieldSigned);
      break;
    }
    case BitOp::ShiftLeftOr:
      r = either(shiftedLeft(r, amount(1, l, isKnown)), source(2, l));
      break;
    case BitOp::AndOr:
      r = either(both(r, source(1, l)), source(2, l));
      break;
    case BitOp::Or3:
      r = either(either(r, source(1, l)), source(2, l));
      break;
    case BitOp::Byte0:
    case BitOp::Byte1:
    case BitOp::Byte2:
    case BitOp::Byte3:
      r = field(r, 8 * (unsigned(op) - unsigned(BitOp::Byte0)), 8, false)
              .spoilt();
      break;
    case BitOp::None: // SDWA: the parts that are read must be defined
      for (unsigned k = 1; k < inst.numSrc(); ++k)
        r.defined &= source(k, l).defined;
      r = r.spoilt();
      break;
    }
    if (!isKnown)
      r.defined = 0;
    const uint64_t lane = uint64_t(1) << l;
    if (r.isKnown()) {
      state.undefined &= ~lane;
      continue;
    }
    uint8_t bytes = 0;
    for (unsigned byte = 0; byte < 4; ++byte)
      if ((r.defined >> (8 * byte) & 0xff) == 0xff)
        bytes |= uint8_t(1u << byte);
    state.resultBytes[l] = bytes;
    if (bytes)
      state.resultPartial |= lane;
    else if (op == BitOp::Move && inst.src(0).isVector())
      state.resultPadding |= state.padding[inst.src(0).index] & lane;
  }
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// Sets bit i where byte i of a word of the shadow is 1.
static uint8_t definedBits(uint32_t shadow) {
  return uint8_t((shadow * 0x01020408u) >> 24 & 0xf);
}

void InitChecker::noteLoaded(WaveState &state, const Instruction &inst,
                             unsigned lane, const uint8_t *shadow,
                             unsigned bytes, Origin::Kind kind, uint64_t place,
                             unsigned firstWord) {
  if (!state.hasUndefinedLoad)
    std::memset(state.loaded, 0, sizeof(state.loaded));
  state.hasUndefinedLoad = true;
  const uint64_t bit = uint64_t(1) << lane;
  for (unsigned at = 0; at < bytes; at += 4) {
    uint32_t part = 0x01010101u; // smaller loads are extended
    std::memcpy(&part, shadow + at, std::min(bytes - at, 4u));
    if (part == 0x01010101u)
      continue;
    const unsigned word = std::min(firstWord + at / 4, 15u);
    const uint8_t defined = definedBits(part);
    uint8_t &known = state.loadedBytes[word][lane];
    if (!(state.loaded[word] & bit))
      known = bytes < 4 ? 0 : 0xf;
    known &= defined;
    state.loaded[word] |= bit;
    // The last byte that is undefined.
    state.loadedOrigin.kind = kind;
    state.loadedOrigin.place =
        place + at + 31u - unsigned(__builtin_clz(uint8_t(~defined & 0xf)));
    state.loadedOrigin.instruction = inst.index;
  }
}

/// Whether a byte of a lane's word is defined.
static bool isByteDefined(uint64_t rows, uint64_t partial,
                          const uint8_t *definedBytes, unsigned lane,
                          unsigned byte) {
  return rows >> lane & 1 ||
         (partial >> lane & 1 && definedBytes[lane] >> byte & 1);
}

void InitChecker::noteStored(const WaveState &state, const Instruction &inst,
                             unsigned store, unsigned lane, uint8_t *shadow,
                             unsigned bytes) const {
  if (!(state.undefined >> lane & 1)) {
    std::memset(shadow, 1, bytes);
    return;
  }
  const InstructionInfo &info = monitor.state().program->info[inst.index];
  StringRef text = info.text;
  const unsigned first = text.contains("buffer_") || inst.numOps == 1 ? 0 : 1;
  const unsigned place = first + (text.starts_with("ds_write2") ? store : 0);
  const Operand &data = inst.ops[std::min<unsigned>(place, inst.numOps - 1u)];
  if (!data.isVector() || text.contains("_format_")) {
    std::memset(shadow, 0, bytes);
    return;
  }
  const unsigned from = text.contains("d16_hi") ? 2 : 0;
  for (unsigned i = 0; i < bytes; ++i) {
    const unsigned row = data.index + (from + i) / 4;
    shadow[i] = isByteDefined(state.rows[row], state.partial[row],
                              &state.definedBytes[size_t(row) * MaxLanes], lane,
                              (from + i) % 4);
  }
}

uint64_t InitChecker::storable(const WaveState &state, const Instruction &inst,
                               const RegisterRange &range) const {
  const InstructionInfo &info = monitor.state().program->info[inst.index];
  StringRef text = info.text;
  if (text.contains("_format_"))
    return 0;
  const bool isByte = text.contains("_byte"), isShort = text.contains("_short");
  uint64_t some = 0, all = ~uint64_t(0);
  for (unsigned k = 0; k < range.count && range.first + k < NumVectorRows;
       ++k) {
    const unsigned row = range.first + k;
    some |= state.rows[row] | state.partial[row];
    all &= state.rows[row] | state.partial[row] | state.padding[row];
  }
  if (!isByte && !isShort)
    return some & all;
  // Of a word the bytes that are stored must be defined.
  const unsigned from = text.contains("d16_hi") ? 2 : 0;
  uint64_t lanes = 0;
  for (unsigned l = 0; l < MaxLanes; ++l) {
    bool isDefined = true;
    for (unsigned i = 0; i < (isByte ? 1u : 2u); ++i)
      isDefined &= isByteDefined(
          state.rows[range.first], state.partial[range.first],
          &state.definedBytes[size_t(range.first) * MaxLanes], l, from + i);
    lanes |= uint64_t(isDefined) << l;
  }
  return lanes;
}

void InitChecker::keepBytes(WaveState &state, unsigned row, unsigned word,
                            bool isLoad, uint64_t undefined, uint64_t written) {
  undefined &= written;
  if (!((state.partial[row] | state.padding[row]) & written) && !undefined)
    return;
  uint64_t partial = state.resultPartial & undefined,
           padding = state.resultPadding & undefined;
  const uint8_t *bytes = state.resultBytes;
  if (isLoad) {
    bytes = state.loadedBytes[std::min(word, 15u)];
    partial = 0;
    for (uint64_t rest = undefined; rest; rest &= rest - 1)
      if (const unsigned l = unsigned(__builtin_ctzll(rest)); bytes[l])
        partial |= uint64_t(1) << l;
    padding =
        state.loadedOrigin.kind == Origin::Scratch ? undefined & ~partial : 0;
  }
  state.partial[row] = (state.partial[row] & ~written) | partial;
  state.padding[row] = (state.padding[row] & ~written) | padding;
  for (; partial; partial &= partial - 1) {
    const unsigned l = unsigned(__builtin_ctzll(partial));
    state.definedBytes[size_t(row) * MaxLanes + l] = bytes[l];
  }
}

/// Whether all of `bytes` shadow bytes are set.
static bool allSet(const uint8_t *shadow, unsigned bytes) {
  constexpr uint64_t set = 0x0101010101010101u;
  uint64_t all = set;
  // In vectors, of which several do not wait for each other.
  constexpr unsigned number = 4;
  typedef uint64_t Pair __attribute__((vector_size(16)));
  if (bytes >= sizeof(Pair)) {
    Pair both[number];
    for (Pair &pair : both)
      pair = Pair{set, set};
    for (; bytes >= sizeof(both);
         bytes -= sizeof(both), shadow += sizeof(both)) {
      Pair found[number];
      std::memcpy(found, shadow, sizeof(found));
      for (unsigned k = 0; k < number; ++k)
        both[k] &= found[k];
    }
    for (; bytes >= sizeof(Pair);
         bytes -= sizeof(Pair), shadow += sizeof(Pair)) {
      Pair found;
      std::memcpy(&found, shadow, sizeof(found));
      both[0] &= found;
    }
    const Pair pair = (both[0] & both[1]) & (both[2] & both[3]);
    all = pair[0] & pair[1];
  }
  for (; bytes >= 8; bytes -= 8, shadow += 8) {
    uint64_t word;
    std::memcpy(&word, shadow, 8);
    all &= word;
  }
  if (bytes >= 4) {
    uint32_t word;
    std::memcpy(&word, shadow, 4);
    all &= word | set << 32;
    bytes -= 4;
    shadow += 4;
  }
  for (; bytes; --bytes, ++shadow)
    all &= *shadow | (set & ~uint64_t(0xff));
  return all == set;
}

static void setAll(uint8_t *shadow, unsigned bytes) {
  // Lanes that are not in a row have little each.
  switch (bytes) {
  case 4:
    std::memset(shadow, 1, 4);
    return;
  case 8:
    std::memset(shadow, 1, 8);
    return;
  case 16:
    std::memset(shadow, 1, 16);
    return;
  default:
    std::memset(shadow, 1, bytes);
  }
}

inline void InitChecker::access(const Instruction &inst, const Wave &w,
                                WaveState &state, const AccessRun &run,
                                uint8_t *shadow, AccessKind kind,
                                Origin::Kind place, unsigned firstWord,
                                unsigned store) {
  if (kind == AccessKind::Store && !state.undefined)
    setAll(shadow, run.length());
  else if (kind == AccessKind::Store || !allSet(shadow, run.length()))
    accessUndefined(inst, w, state, run, shadow, kind, place, firstWord, store);
}

void InitChecker::accessUndefined(const Instruction &inst, const Wave &w,
                                  WaveState &state, const AccessRun &run,
                                  uint8_t *shadow, AccessKind kind,
                                  Origin::Kind place, unsigned firstWord,
                                  unsigned store) {
  for (unsigned k = 0; k < run.lanes; ++k, shadow += run.bytes) {
    const unsigned l = run.lane + k;
    if (kind == AccessKind::Store) {
      noteStored(state, inst, store, l, shadow, run.bytes);
      continue;
    }
    if (allSet(shadow, run.bytes))
      continue;
    noteLoaded(state, inst, l, shadow, run.bytes, place,
               run.begin + uint64_t(k) * run.bytes, firstWord);
    if (kind == AccessKind::Atomic) {
      fault(inst, w, int(l), "the value of an atomic operation",
            state.loadedOrigin);
      std::memset(shadow, 1, run.bytes);
    }
  }
}

/// Whether nothing more is to do for a load or an update of defined bytes, or
/// for a store of defined ones. Lanes lie apart; \p shadow is that of
/// \p origin.
template <unsigned Bytes, typename Runs>
static bool isDefinedApart(uint8_t *shadow, uint64_t origin, const Runs &runs,
                           bool isStore) {
  uint8_t ones[Bytes];
  std::memset(ones, 1, Bytes);
  const unsigned number = runs.size();
  const auto *const begins = runs.begins();
  const uint64_t distance = reinterpret_cast<uint64_t>(shadow) - origin;
  auto at = [&](unsigned i) {
    return reinterpret_cast<uint8_t *>(distance + begins[i]);
  };
  if (isStore) {
    for (unsigned i = 0; i < number; ++i)
      std::memcpy(at(i), ones, Bytes);
    return true;
  }
  // In whole words where there are some.
  using Unit = std::conditional_t<
      Bytes % 8 == 0, uint64_t,
      std::conditional_t<Bytes % 4 == 0, uint32_t,
                         std::conditional_t<Bytes == 2, uint16_t, uint8_t>>>;
  Unit wanted, all;
  std::memcpy(&wanted, ones, sizeof(Unit));
  all = wanted;
  for (unsigned i = 0; i < number; ++i) {
    Unit found[Bytes / sizeof(Unit)];
    std::memcpy(found, at(i), Bytes);
    for (Unit part : found)
      all &= part;
  }
  return all == wanted;
}
template <typename Runs>
static bool isDefinedApart(uint8_t *shadow, uint64_t origin, const Runs &runs,
                           bool isStore) {
  if (!runs.areApart())
    return false;
  switch (runs.bytes()) {
  case 1:
    return isDefinedApart<1>(shadow, origin, runs, isStore);
  case 2:
    return isDefinedApart<2>(shadow, origin, runs, isStore);
  case 4:
    return isDefinedApart<4>(shadow, origin, runs, isStore);
  case 8:
    return isDefinedApart<8>(shadow, origin, runs, isStore);
  case 12:
    return isDefinedApart<12>(shadow, origin, runs, isStore);
  case 16:
    return isDefinedApart<16>(shadow, origin, runs, isStore);
  default:
    return false;
  }
}

void InitChecker::globalAccess(const Instruction &inst, Wave &w,
                               const GlobalRuns &runs, AccessKind kind,
                               const AllocationRecord *record) {
  WaveState &state = waves[w.context->index];
  DeviceMemory &memory = *monitor.state().memory;
  const bool isStore = kind == AccessKind::Store;
  state.hasLoaded |= !isStore;
  if (record && record->isTracked && !(isStore && state.undefined) &&
      isDefinedApart(memory.shadow(record->begin), record->begin, runs,
                     isStore))
    return;
  for (unsigned i = 0; i < runs.size(); ++i) {
    const AccessRun run = runs[i];
    if (!record || run.begin < record->begin || run.begin >= record->end)
      record = memory.lookup(run.begin);
    if (record && record->isTracked)
      access(inst, w, state, run, memory.shadow(run.begin), kind,
             Origin::Memory, 0, 0);
  }
}

void InitChecker::scalarAccess(const Instruction &inst, Wave &w,
                               uint64_t address, unsigned bytes,
                               AccessKind kind,
                               const AllocationRecord &record) {
  if (!record.isTracked)
    return;
  WaveState &state = waves[w.context->index];
  uint8_t *shadow = monitor.state().memory->shadow(address);
  if (kind != AccessKind::Store) {
    state.hasLoaded = true;
    if (!allSet(shadow, bytes))
      noteLoaded(state, inst, 0, shadow, bytes, Origin::Memory, address);
  }
  if (kind != AccessKind::Load)
    std::memset(shadow, 1, bytes);
}

void InitChecker::ldsAccess(const Instruction &inst, Wave &w,
                            const LdsRuns &runs, AccessKind kind) {
  WaveState &state = waves[w.context->index];
  // read2 and write2 come in two halves: the second has the later registers.
  const unsigned firstWord = state.hasLoaded ? runs.bytes() / 4 : 0;
  const unsigned store = state.stores;
  if (kind != AccessKind::Store)
    state.hasLoaded = true;
  else
    ++state.stores;
  if (!(kind == AccessKind::Store && state.undefined) &&
      isDefinedApart(lds.data(), 0, runs, kind == AccessKind::Store))
    return;
  for (unsigned i = 0; i < runs.size(); ++i)
    access(inst, w, state, runs[i], lds.data() + runs.start(i), kind,
           Origin::Lds, firstWord, store);
}

void InitChecker::scratchAccess(const Instruction &inst, Wave &w,
                                const uint32_t *offset, uint64_t mask,
                                unsigned bytes, AccessKind kind) {
  WaveState &state = waves[w.context->index];
  state.hasLoaded |= kind != AccessKind::Store;
  for (; mask; mask &= mask - 1) {
    const unsigned l = unsigned(__builtin_ctzll(mask));
    uint8_t *shadow =
        state.scratch.data() + size_t(l) * w.context->scratchBytes + offset[l];
    if (kind != AccessKind::Store && !allSet(shadow, bytes))
      noteLoaded(state, inst, l, shadow, bytes, Origin::Scratch, offset[l]);
    if (kind == AccessKind::Store)
      noteStored(state, inst, 0, l, shadow, bytes);
    else if (kind == AccessKind::Atomic)
      std::memset(shadow, 1, bytes);
  }
}

void InitChecker::ldsDirect(Wave &w, const LdsRuns &runs) {
  const WaveState &state = waves[w.context->index];
  for (unsigned i = 0; i < runs.size(); ++i) {
    const AccessRun run = runs[i];
    uint8_t *shadow = &lds[run.begin];
    if (!state.hasUndefinedLoad) {
      setAll(shadow, run.length());
      continue;
    }
    for (unsigned l = run.lane; l < run.lane + run.lanes; ++l)
      for (unsigned at = 0; at < run.bytes; ++at)
        *shadow++ = !(state.loaded[at / 4] >> l & 1) ||
                    (state.loadedBytes[at / 4][l] >> at % 4 & 1);
  }
}

} // namespace netra::sim
