//===- InitMemory.cpp - Undefined bytes in memory, LDS and scratch -------===//
// SPDX-License-Identifier: MIT

#include "InitChecker.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace netra::sim {

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// The bits of up to four bytes; what lies above them is defined.
static uint32_t bitsAt(const uint8_t *shadow, unsigned bytes) {
  uint32_t bits = ~0u;
  std::memcpy(&bits, shadow, std::min(bytes, 4u)); // little-endian host
  return bits;
}

Origin InitChecker::noteLoaded(WaveState &state, const Instruction &inst,
                               unsigned lane, const Shadow &shadow,
                               unsigned bytes, uint64_t address,
                               unsigned firstWord, bool isElement) {
  if (!state.hasUndefinedLoad)
    std::memset(state.loaded, 0, sizeof(state.loaded));
  state.hasUndefinedLoad = true;
  const InstructionInfo &info = monitor.state().program->info[inst.index];
  const Element &element = elements[info.mnemonicId];
  const uint64_t bit = uint64_t(1) << lane;
  const uint8_t *known = shadow.defined;
  const bool isNothing =
      isElement &&
      std::all_of(known, known + bytes, [](uint8_t bits) { return !bits; });
  Origin first;
  for (unsigned at = 0; at < bytes; at += 4) {
    const unsigned width = 8 * std::min(bytes - at, 4u);
    const uint32_t defined = bitsAt(known + at, bytes - at);
    if (defined == ~0u)
      continue;
    const Origin origin{shadow.kind, isNothing, inst.index,
                        address + at + unsigned(__builtin_ctz(~defined)) / 8};
    if (first.kind == Origin::None)
      first = origin;
    if (element.isFormat) { // every channel
      for (unsigned word = 0; word < 16; ++word) {
        state.loaded[word] |= bit;
        loadedWords[word][lane] = {0, ~0u, origin};
      }
      return origin;
    }
    Bits bits{0, defined | ~uint64_t(~0u), 0, origin};
    if (shadow.computed && !shadow.computed->empty()) {
      uint32_t computed = 0;
      std::memcpy(&computed, shadow.computed->data() + shadow.at + at,
                  width / 8);
      bits.computed = computed & ~bits.defined;
    }
    // Smaller loads are extended.
    if (width < 32 && element.isSigned) {
      bits = bits.field(0, width, true);
      if (element.isHalf)
        bits = bits.field(0, 16);
    }
    bits = bits.shiftedLeft(element.high, 32);
    const unsigned word = std::min(firstWord + at / 4, 15u);
    state.loaded[word] |= bit;
    loadedWords[word][lane] = {uint32_t(bits.defined), uint32_t(bits.computed),
                               bits.origin};
  }
  return first;
}

/// Whether a byte belongs to the fourth half of aligned 8 bytes of which the
/// third half is defined: compilers store vectors of three halves as four, and
/// compute the fourth together with the third. \p defined are the bytes of the
/// access.
static bool isFourthHalf(const uint8_t *defined, uint64_t address,
                         unsigned at) {
  const unsigned below = unsigned((address + at) % 8), back = below - 4;
  return below >= 6 && at >= back && defined[at - back] == 0xff &&
         defined[at - back + 1] == 0xff;
}

void InitChecker::noteStored(const Instruction &inst, const Wave &w,
                             WaveState &state, unsigned store, unsigned lane,
                             const Shadow &shadow, unsigned bytes,
                             uint64_t address, bool isElement) {
  if (!(state.undefined >> lane & 1)) {
    std::memset(shadow.defined, 0xff, bytes);
    return;
  }
  const InstructionInfo &info = monitor.state().program->info[inst.index];
  const Element &element = elements[info.mnemonicId];
  const unsigned place = element.isBuffer || inst.numOps == 1
                             ? 0
                             : inst.numDst + 1u + (element.isPair ? store : 0);
  const Operand &data = inst.ops[std::min<unsigned>(place, inst.numOps - 1u)];
  uint8_t defined[64], bad[64];
  Origin origins[16]; // of words
  bool isNothing = isElement;
  const auto word = [&](unsigned n) {
    return data.isScalar() ? state.bitsOfScalar(data.index + n, 0)
                           : state.bitsOf(data.index + n, lane, 0);
  };
  for (unsigned at = 0; at < bytes; at += 4) {
    const unsigned number = std::min(bytes - at, 4u);
    Bits bits = word(at / 4);
    if (element.isFormat) {
      for (unsigned k = 1; k < data.words; ++k)
        bits = bits.isKnown() ? word(k) : bits;
      bits = bits.spoilt(32);
    }
    bits = bits.field(element.high, 8 * number);
    const Origin &origin = origins[at / 4] = bits.origin;
    // A field of a word that nobody wrote goes back with the rest of the word.
    const bool isBack = origin.kind == shadow.kind && origin.place >= address &&
                        origin.place < address + bytes;
    // Registers that nothing wrote are padding where a function's argument is
    // put into private memory.
    const bool isPadding = origin.isRegister() ? shadow.kind != Origin::Memory
                                               : !origin.isElement || isBack;
    const uint32_t parts[] = {
        uint32_t(bits.defined),
        uint32_t(isPadding ? bits.computed : ~bits.defined)};
    std::memcpy(defined + at, &parts[0], number); // little-endian host
    std::memcpy(bad + at, &parts[1], number);
    isNothing &= !(bits.defined & maskTrailingOnes<uint32_t>(8 * number));
  }
  // Where lanes store a value each there is no padding but in it.
  bool isFound = isNothing;
  unsigned first = 0; // that is found
  for (unsigned i = 0; i < bytes; ++i) {
    if (isFourthHalf(defined, address, i))
      bad[i] = 0;
    if (bad[i] && !isFound) {
      first = i;
      isFound = true;
    }
  }
  std::memcpy(shadow.defined, defined, bytes);
  if (shadow.kind == Origin::Memory) {
    if (isFound)
      fault(inst, w, data.isScalar() ? -1 : int(lane),
            "a value stored to memory", origins[first / 4]);
  } else if (isFound || !shadow.computed->empty()) {
    if (shadow.computed->empty())
      shadow.computed->resize(
          shadow.kind == Origin::Lds ? lds.size() : state.scratch.size());
    std::memcpy(shadow.computed->data() + shadow.at, bad, bytes);
  }
}

void InitChecker::keepBits(WaveState &state, unsigned row,
                           const WordBits *words, uint64_t undefined,
                           uint64_t written) {
  undefined &= written;
  if (!undefined) // the rest does not count for defined words
    return;
  state.followed[row] |= undefined;
  if (state.words.empty())
    state.words.resize(size_t(NumVectorRows) * MaxLanes);
  WordBits *const to = &state.words[size_t(row) * MaxLanes];
  for (uint64_t rest = undefined; rest; rest &= rest - 1) {
    const unsigned l = unsigned(__builtin_ctzll(rest));
    to[l] = words ? words[l]
                  : WordBits{0, ~0u,
                             state.undefined >> l & 1 ? state.laneOrigins[l]
                                                      : state.origin};
  }
}

/// Whether all of `bytes` shadow bytes are set.
static bool allSet(const uint8_t *shadow, unsigned bytes) {
  constexpr uint64_t set = ~uint64_t(0);
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
    std::memset(shadow, 0xff, 4);
    return;
  case 8:
    std::memset(shadow, 0xff, 8);
    return;
  case 16:
    std::memset(shadow, 0xff, 16);
    return;
  default:
    std::memset(shadow, 0xff, bytes);
  }
}

inline void InitChecker::access(const Instruction &inst, const Wave &w,
                                WaveState &state, const AccessRun &run,
                                const Shadow &shadow, AccessKind kind,
                                unsigned firstWord, unsigned store) {
  if (kind == AccessKind::Store && !state.undefined)
    setAll(shadow.defined, run.length());
  else if (kind == AccessKind::Store || state.undefined ||
           !allSet(shadow.defined, run.length()))
    accessUndefined(inst, w, state, run, shadow, kind, firstWord, store);
}

void InitChecker::accessUndefined(const Instruction &inst, const Wave &w,
                                  WaveState &state, const AccessRun &run,
                                  Shadow shadow, AccessKind kind,
                                  unsigned firstWord, unsigned store) {
  const InstructionInfo &info = monitor.state().program->info[inst.index];
  const bool isSwap =
      kind == AccessKind::Atomic && elements[info.mnemonicId].isSwap;
  uint64_t address = run.begin;
  for (unsigned l = run.lane; l < run.lane + run.lanes; ++l,
                shadow.defined += run.bytes, shadow.at += run.bytes,
                address += run.bytes) {
    if (kind != AccessKind::Store && !allSet(shadow.defined, run.bytes)) {
      const Origin origin = noteLoaded(state, inst, l, shadow, run.bytes,
                                       address, firstWord, run.lanes > 1);
      // A swap needs no old value.
      if (kind == AccessKind::Atomic && !isSwap) {
        fault(inst, w, int(l), "the value of an atomic operation", origin);
        std::memset(shadow.defined, 0xff, run.bytes);
      }
    }
    if (kind == AccessKind::Store || isSwap)
      noteStored(inst, w, state, store, l, shadow, run.bytes, address,
                 run.lanes > 1);
  }
}

/// Whether nothing more is to do for a load or an update of defined bytes, or
/// for a store of defined ones. Lanes lie apart; \p shadow is that of
/// \p origin.
template <unsigned Bytes, typename Runs>
static bool isDefinedApart(uint8_t *shadow, uint64_t origin, const Runs &runs,
                           bool isStore) {
  uint8_t ones[Bytes];
  std::memset(ones, 0xff, Bytes);
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
  state.hasLoaded |= kind != AccessKind::Store;
  if (record && record->isTracked &&
      !(kind != AccessKind::Load && state.undefined) &&
      isDefinedApart(memory.shadow(record->begin), record->begin, runs,
                     kind == AccessKind::Store))
    return;
  for (unsigned i = 0; i < runs.size(); ++i) {
    const AccessRun run = runs[i];
    if (!record || run.begin < record->begin || run.begin >= record->end)
      record = memory.lookup(run.begin);
    if (!record)
      continue;
    if (record->isTracked) {
      access(inst, w, state, run,
             {memory.shadow(run.begin), nullptr, 0, Origin::Memory}, kind, 0,
             0);
    } else if (kind != AccessKind::Load && state.undefined) {
      // All of it counts as defined, but what goes there is looked at.
      uint8_t all[MaxLanes * 16];
      setAll(all, run.length());
      access(inst, w, state, run, {all, nullptr, 0, Origin::Memory}, kind, 0,
             0);
    }
  }
}

void InitChecker::scalarAccess(const Instruction &inst, Wave &w,
                               uint64_t address, unsigned bytes,
                               AccessKind kind,
                               const AllocationRecord &record) {
  if (!record.isTracked && kind != AccessKind::Store)
    return;
  WaveState &state = waves[w.context->index];
  Shadow shadow{nullptr, nullptr, 0, Origin::Memory};
  uint8_t all[64];
  if (record.isTracked) {
    shadow.defined = monitor.state().memory->shadow(address);
  } else {
    setAll(all, bytes);
    shadow.defined = all;
  }
  if (kind != AccessKind::Store) {
    state.hasLoaded = true;
    if (!allSet(shadow.defined, bytes))
      noteLoaded(state, inst, 0, shadow, bytes, address, 0, false);
  }
  if (kind == AccessKind::Store)
    noteStored(inst, w, state, 0, 0, shadow, bytes, address, false);
  else if (kind == AccessKind::Atomic)
    setAll(shadow.defined, bytes);
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
  if (!(kind != AccessKind::Load && state.undefined) &&
      isDefinedApart(lds.data(), 0, runs, kind == AccessKind::Store))
    return;
  for (unsigned i = 0; i < runs.size(); ++i)
    access(inst, w, state, runs[i],
           {lds.data() + runs.start(i), &ldsComputed, size_t(runs.start(i)),
            Origin::Lds},
           kind, firstWord, store);
}

void InitChecker::scratchAccess(const Instruction &inst, Wave &w,
                                const uint32_t *offset, uint64_t mask,
                                unsigned bytes, AccessKind kind) {
  WaveState &state = waves[w.context->index];
  state.hasLoaded |= kind != AccessKind::Store;
  for (; mask; mask &= mask - 1) {
    const unsigned l = unsigned(__builtin_ctzll(mask));
    const size_t at = size_t(l) * w.context->scratchBytes + offset[l];
    access(inst, w, state, {offset[l], l, 1, bytes},
           {state.scratch.data() + at, &state.scratchComputed, at,
            Origin::Scratch},
           kind, 0, 0);
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
        *shadow++ = state.loaded[at / 4] >> l & 1
                        ? loadedWords[at / 4][l].defined >> (8 * (at % 4))
                        : 0xff;
  }
}

} // namespace netra::sim
