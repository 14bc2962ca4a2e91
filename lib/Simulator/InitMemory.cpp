//===- InitMemory.cpp - Undefined bytes in memory, LDS and scratch -------===//
// SPDX-License-Identifier: MIT

#include "InitChecker.h"

using namespace llvm;

namespace netra::sim {

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
                          const uint32_t *definedBits, unsigned lane,
                          unsigned byte) {
  return rows >> lane & 1 ||
         (partial >> lane & 1 && !(~definedBits[lane] >> (8 * byte) & 0xff));
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
                              &state.definedBits[size_t(row) * MaxLanes], lane,
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
    uint64_t partial = state.partial[row] & ~state.computed[row];
    // A register that was never written has no padding, but the last element
    // of a vector may be absent.
    const Origin::Kind kind = state.rowOrigin[row].kind;
    if (kind == Origin::Vector || kind == Origin::Scalar)
      for (uint64_t rest = partial; rest; rest &= rest - 1) {
        const unsigned l = unsigned(__builtin_ctzll(rest));
        const uint32_t undefined =
            ~state.definedBits[size_t(row) * MaxLanes + l];
        if (undefined != ~0u << __builtin_ctz(undefined))
          partial &= ~(uint64_t(1) << l);
      }
    some |= state.rows[row] | partial;
    all &= state.rows[row] | partial | state.padding[row];
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
          &state.definedBits[size_t(range.first) * MaxLanes], l, from + i);
    lanes |= uint64_t(isDefined) << l;
  }
  return lanes;
}

void InitChecker::keepBits(WaveState &state, unsigned row, unsigned word,
                           bool isLoad, uint64_t undefined, uint64_t written) {
  undefined &= written;
  if (!undefined) // the rest does not count for defined words
    return;
  uint64_t partial = 0, padding = 0, computed = 0;
  uint32_t *bits = &state.definedBits[size_t(row) * MaxLanes];
  if (isLoad) {
    const uint8_t *bytes = state.loadedBytes[std::min(word, 15u)];
    for (uint64_t rest = undefined; rest; rest &= rest - 1)
      if (const unsigned l = unsigned(__builtin_ctzll(rest)); bytes[l]) {
        partial |= uint64_t(1) << l;
        bits[l] = spreadBytes(bytes[l]);
      }
    if (state.loadedOrigin.kind == Origin::Scratch)
      padding = undefined & ~partial;
  } else if (state.isFollowed) {
    const auto &result = state.results[std::min(word, 1u)];
    partial = result.partial & undefined;
    padding = result.padding & undefined;
    computed = result.computed & undefined;
    for (uint64_t rest = partial; rest; rest &= rest - 1) {
      const unsigned l = unsigned(__builtin_ctzll(rest));
      bits[l] = result.definedBits[l];
    }
  } else
    computed = undefined;
  state.partial[row] = (state.partial[row] & ~written) | partial;
  state.padding[row] = (state.padding[row] & ~written) | padding;
  state.computed[row] = (state.computed[row] & ~written) | computed;
}

/// Whether all of `bytes` shadow bytes are set.
static bool allSet(const uint8_t *shadow, unsigned bytes) {
  constexpr uint64_t set = 0x0101010101010101u;
  typedef uint64_t Pair __attribute__((vector_size(16)));
  Pair pair = {set, set};
  // Several vectors that do not wait for each other.
  constexpr unsigned number = 4;
  if (bytes >= number * sizeof(Pair)) {
    Pair both[number];
    for (Pair &one : both)
      one = pair;
    for (; bytes >= sizeof(both);
         bytes -= sizeof(both), shadow += sizeof(both)) {
      Pair found[number];
      std::memcpy(found, shadow, sizeof(found));
      for (unsigned k = 0; k < number; ++k)
        both[k] &= found[k];
    }
    pair = (both[0] & both[1]) & (both[2] & both[3]);
  }
  for (; bytes >= sizeof(Pair); bytes -= sizeof(Pair), shadow += sizeof(Pair)) {
    Pair found;
    std::memcpy(&found, shadow, sizeof(found));
    pair &= found;
  }
  uint64_t all = pair[0] & pair[1];
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
