//===- LdsRaces.cpp - Unordered accesses to LDS --------------------------===//
// SPDX-License-Identifier: MIT

#include "LdsRaces.h"
#include "LdsHandshakes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

const char *verbOf(AccessKind kind) {
  return kind == AccessKind::Load    ? "reads"
         : kind == AccessKind::Store ? "writes"
                                     : "updates";
}

LdsRaces::LdsRaces(Monitor &monitor) : monitor(monitor) {
  const Polls &polls = monitor.state().program->polls();
  if (polls.any())
    handshakes = std::make_unique<LdsHandshakes>(monitor, polls);
}
LdsRaces::~LdsRaces() = default;

void LdsRaces::barrierReleased() {
  ++interval;
  if (handshakes)
    handshakes->barrierReleased();
}

void LdsRaces::startGroup() {
  if (handshakes)
    return handshakes->startGroup();
  ++interval;
  const size_t lines =
      (size_t(monitor.state().ldsBytes) + LineBytes - 1) / LineBytes;
  if (intervals.size() == lines)
    return;
  keys.assign(lines * WordsPerLine, 0);
  instructions.assign(lines * WordsPerLine, 0);
  updaters.assign(lines * WordsPerLine, 0);
  intervals.assign(lines, 0);
}

namespace {

/// The fields of a key; 0 is a word that nobody has accessed.
///
///   3:0    bytes that were read          7:4    bytes that were written
///   13:8   writer                        31:16  waves that have read
namespace key {
constexpr unsigned WriteShift = 4, WriterShift = 8, ReaderShift = 16;
constexpr uint32_t Bytes = 0xf;
/// Writers: none, or a wave + 1, with Atomic if all have written so; or several
/// that raced already.
constexpr uint32_t NoWriter = 0, Several = 31, Atomic = 32, Writers = 63;
} // namespace key

/// Lanes that are looked at together.
constexpr unsigned BlockRuns = 16;

/// A value in each 32 bits.
template <typename Unit> constexpr Unit spread(uint32_t value) {
  return sizeof(Unit) == 8 ? Unit(value) * Unit(0x100000001u) : Unit(value);
}

} // namespace

/// Most words are touched by one wave between two barriers, or read by all and
/// written by none: then bits of the key say so, and what the access does to
/// the key is the same everywhere.
struct LdsRaces::Step {
  /// No bit of `deciding` is set in a key, or those of `ours`.
  uint32_t deciding, ours;
  uint32_t added;       ///< to the key, besides the bytes
  unsigned shift;       ///< of the bytes
  uint32_t instruction; ///< that makes the access
  bool isStore;

  Step(const Instruction &inst, unsigned self, AccessKind kind)
      : instruction(inst.index), isStore(kind == AccessKind::Store) {
    const uint32_t me = 1u << (key::ReaderShift + self);
    ours = (self + 1) << key::WriterShift;
    deciding = key::Writers << key::WriterShift |
               (isStore ? (0xffffu << key::ReaderShift) & ~me : 0u);
    added = isStore ? ours : me;
    shift = isStore ? key::WriteShift : 0;
  }

  /// Whether it may be made for words of which some have the bits \p any and
  /// each has the bits \p all; what it does to them is then the same.
  NETRA_SIM_INLINE bool isAlike(uint32_t any, uint32_t all) const {
    return !(any & deciding) ||
           ((any & deciding) == ours && (all & deciding) == ours);
  }
  /// Whether it is the last access of such words.
  template <bool IsStore> NETRA_SIM_INLINE bool isLast(uint32_t any) const {
    return IsStore || !(any & deciding);
  }
  /// What it sets in the key of a word.
  NETRA_SIM_INLINE uint32_t bits(uint32_t covered) const {
    return added | covered << shift;
  }

  /// Makes it for words in a row; false if more must be looked at.
  template <bool IsStore, typename Unit, unsigned Count>
  NETRA_SIM_INLINE bool take(uint32_t covered, uint32_t *keys,
                             uint32_t *instructions) const {
    const Unit decides = spread<Unit>(deciding), own = spread<Unit>(ours),
               bits = spread<Unit>(added | covered << shift);
    Unit known[Count], some = 0, others = 0;
    std::memcpy(known, keys, sizeof(known));
    for (unsigned k = 0; k < Count; ++k) {
      const Unit decided = known[k] & decides;
      some |= decided;
      others |= decided ^ own;
      known[k] |= bits;
    }
    if (some && others)
      return false;
    std::memcpy(keys, known, sizeof(known));
    if (IsStore || !some) {
      for (unsigned k = 0; k < Count; ++k)
        known[k] = spread<Unit>(instruction);
      std::memcpy(instructions, known, sizeof(known));
    }
    return true;
  }
  template <typename Unit, unsigned Count>
  NETRA_SIM_INLINE bool take(uint32_t covered, uint32_t *keys,
                             uint32_t *instructions) const {
    return isStore ? take<true, Unit, Count>(covered, keys, instructions)
                   : take<false, Unit, Count>(covered, keys, instructions);
  }
};

__attribute__((noinline)) void LdsRaces::freshen(uint64_t line) {
  intervals[line] = interval;
  std::fill_n(&keys[line * WordsPerLine], WordsPerLine, 0u);
}

/// Lanes that begin at words. Most often all find what nobody has accessed, or
/// what their wave has: one look at all of them says so.
template <bool IsStore, typename Unit, unsigned Count>
NETRA_SIM_INLINE bool LdsRaces::stepBlock(const Step &step, const LdsRuns &runs,
                                          unsigned first) {
  constexpr unsigned words = sizeof(Unit) * Count / 4;
  uint8_t *const allKeys = reinterpret_cast<uint8_t *>(keys.data());
  const uint32_t *const known = intervals.data(), now = interval;
  const uint32_t *const begins = runs.begins() + first;
  Unit any = 0, all = ~Unit(0);
  for (unsigned k = 0; k < BlockRuns; ++k) {
    const uint64_t at = begins[k], line = at / LineBytes,
                   last = (at + 4 * words - 1) / LineBytes;
    if (known[line] != now)
      freshen(line);
    if (words == 3 && known[last] != now) // others end in the same line
      freshen(last);
    Unit found[Count];
    std::memcpy(found, allKeys + at, sizeof(found));
    for (Unit key : found) {
      any |= key;
      all &= key;
    }
  }
  const uint32_t some = uint32_t(any) | uint32_t(uint64_t(any) >> 32),
                 each = sizeof(Unit) == 4
                            ? uint32_t(all)
                            : uint32_t(all) & uint32_t(uint64_t(all) >> 32);
  if (!step.isAlike(some, each))
    return false;
  const uint32_t bits = step.bits(key::Bytes);
  if ((each & bits) != bits)
    for (unsigned k = 0; k < BlockRuns; ++k) {
      Unit found[Count];
      std::memcpy(found, allKeys + begins[k], sizeof(found));
      for (Unit &key : found)
        key |= spread<Unit>(bits);
      std::memcpy(allKeys + begins[k], found, sizeof(found));
    }
  if (step.isLast<IsStore>(some)) {
    Unit marks[Count];
    std::fill(std::begin(marks), std::end(marks),
              spread<Unit>(step.instruction));
    uint8_t *const last = reinterpret_cast<uint8_t *>(instructions.data());
    for (unsigned k = 0; k < BlockRuns; ++k)
      std::memcpy(last + begins[k], marks, sizeof(marks));
  }
  return true;
}

template <bool IsStore, typename Unit, unsigned Count>
unsigned LdsRaces::stepApart(const Step &step, const LdsRuns &runs,
                             unsigned first) {
  constexpr unsigned words = sizeof(Unit) * Count / 4;
  const unsigned number = runs.size(), inWord = std::min(runs.bytes(), 4u);
  const uint32_t part = (1u << inWord) - 1, now = interval;
  const bool areWords =
      inWord == 4 && runs.areAligned(words == 3 ? 4 : 4 * words);
  uint32_t *const allKeys = keys.data(), *const all = instructions.data();
  const uint32_t *const known = intervals.data();
  for (unsigned i = first, end; i < number; i = end) {
    end = std::min(number, i + BlockRuns);
    if (areWords && end - i == BlockRuns &&
        stepBlock<IsStore, Unit, Count>(step, runs, i))
      continue;
    for (; i < end; ++i) {
      const uint64_t at = runs.start(i), word = at / 4,
                     line = word / WordsPerLine,
                     last = (word + words - 1) / WordsPerLine;
      const unsigned place = unsigned(at % 4);
      if (place + inWord > 4)
        return i;
      if (known[line] != now)
        freshen(line);
      if (known[last] != now)
        freshen(last);
      if (!step.template take<IsStore, Unit, Count>(part << place,
                                                    allKeys + word, all + word))
        return i;
    }
  }
  return number;
}

template <bool IsStore>
unsigned LdsRaces::stepApart(const Step &step, const LdsRuns &runs,
                             unsigned first) {
  switch (runs.bytes()) {
  case 1:
  case 2:
  case 4:
    return stepApart<IsStore, uint32_t, 1>(step, runs, first);
  case 8:
    return stepApart<IsStore, uint64_t, 1>(step, runs, first);
  case 12:
    return stepApart<IsStore, uint32_t, 3>(step, runs, first);
  case 16:
    return stepApart<IsStore, uint64_t, 2>(step, runs, first);
  default:
    return first;
  }
}

template <bool IsStore>
bool LdsRaces::stepLines(const Step &step, uint64_t line, unsigned number) {
  typedef uint32_t Words4 __attribute__((vector_size(16)));
  constexpr unsigned parts = WordsPerLine / 4;
  uint32_t *const known = &keys[line * WordsPerLine];
  Words4 any[parts] = {}, all[parts];
  for (Words4 &part : all)
    part = Words4{} + ~0u;
  for (unsigned i = 0; i < number; ++i) {
    if (intervals[line + i] != interval)
      freshen(line + i);
    Words4 words[parts];
    std::memcpy(words, known + i * WordsPerLine, sizeof(words));
    for (unsigned k = 0; k < parts; ++k) {
      any[k] |= words[k];
      all[k] &= words[k];
    }
  }
  const Words4 anyOf4 = (any[0] | any[1]) | (any[2] | any[3]),
               allOf4 = (all[0] & all[1]) & (all[2] & all[3]);
  const uint32_t some = (anyOf4[0] | anyOf4[1]) | (anyOf4[2] | anyOf4[3]),
                 each = (allOf4[0] & allOf4[1]) & (allOf4[2] & allOf4[3]);
  if (!step.isAlike(some, each))
    return false;
  const uint32_t bits = step.bits(key::Bytes);
  if ((each & bits) != bits)
    for (unsigned k = 0; k < number * WordsPerLine; ++k)
      known[k] |= bits;
  if (step.isLast<IsStore>(some))
    std::fill_n(&instructions[line * WordsPerLine], number * WordsPerLine,
                step.instruction);
  return true;
}

void LdsAccess::report(Monitor &monitor, unsigned lane, uint64_t word,
                       unsigned wave, AccessKind its,
                       uint32_t instruction) const {
  if (isReported)
    return;
  isReported = true;
  const InstructionInfo &other = monitor.state().program->info[instruction];
  monitor.report(
      CheckRace, inst, w, int(lane), "lds",
      formatv("wave {0} {1} LDS bytes {2} to {3}, which wave {4} {5} in "
              "the same barrier interval by `{6}` (at {7:x})",
              w.context->index, verbOf(kind), word * 4, word * 4 + 3, wave,
              its == AccessKind::Load ? "reads" : "writes", other.text,
              other.pc)
          .str(),
      word * 4);
}

void LdsRaces::report(const Access &access, unsigned lane, uint64_t word,
                      bool withWriter) {
  const unsigned self = access.w.context->index;
  const uint32_t others = ~(1u << self),
                 writer = keys[word] >> key::WriterShift & (key::Atomic - 1);
  const unsigned otherWave =
      !withWriter
          ? unsigned(__builtin_ctz(keys[word] >> key::ReaderShift & others))
      : writer != self + 1 ? writer - 1
                           : unsigned(__builtin_ctz(updaters[word] & others));
  access.report(monitor, lane, word, otherWave,
                withWriter ? AccessKind::Store : AccessKind::Load,
                instructions[word]);
}

void LdsRaces::touchWord(Access &access, unsigned lane, uint64_t word,
                         uint32_t covered) {
  uint32_t &known = keys[word];
  const unsigned self = access.w.context->index;
  const uint32_t me = 1u << self, others = ~me, own = self + 1,
                 writers = known >> key::WriterShift & key::Writers,
                 writer = writers & ~key::Atomic;
  const bool isAtomic = access.kind == AccessKind::Atomic,
             wasAtomic = writers & key::Atomic;
  // An update by another wave may be followed by one of this wave's.
  const bool withWriter =
      (known >> key::WriteShift & covered) &&
      (writer == own ? !isAtomic && wasAtomic && (updaters[word] & others)
                     : writer != key::NoWriter && writer != key::Several &&
                           !(isAtomic && wasAtomic));
  const bool withReader = access.kind != AccessKind::Load &&
                          (known >> key::ReaderShift & others) &&
                          (known & covered);
  if (withWriter || withReader)
    report(access, lane, word, withWriter);
  if (access.kind == AccessKind::Load) {
    known |= me << key::ReaderShift | covered;
    if (writers == key::NoWriter)
      instructions[word] = access.inst.index;
    return;
  }
  const bool isFirst = writers == key::NoWriter;
  if (isFirst)
    updaters[word] = 0;
  if (isAtomic)
    updaters[word] |= uint16_t(me);
  uint32_t next = key::Several;
  if (isAtomic && (isFirst || wasAtomic))
    next = own | key::Atomic;
  else if (isFirst || (writer == own && !withWriter))
    next = own;
  known = (known & ~(key::Writers << key::WriterShift)) |
          next << key::WriterShift | covered << key::WriteShift;
  instructions[word] = access.inst.index;
}

void LdsRaces::touchRun(Access &access, const Step &byStep,
                        const AccessRun &run) {
  constexpr unsigned quad = 16;
  const bool isPlain = access.kind != AccessKind::Atomic;
  const uint64_t end = run.end();
  for (uint64_t at = run.begin, next; at < end; at = next) {
    if (isPlain && at % LineBytes == 0 && end - at >= LineBytes) {
      // All at once, or one by one.
      auto step = [&](unsigned lines) {
        next = at + lines * LineBytes;
        return byStep.isStore ? stepLines<true>(byStep, at / LineBytes, lines)
                              : stepLines<false>(byStep, at / LineBytes, lines);
      };
      if (step(unsigned((end - at) / LineBytes)) || step(1))
        continue;
    }
    const uint64_t line = at / LineBytes, word = at / 4;
    next = std::min(end, (line + 1) * LineBytes);
    if (intervals[line] != interval)
      freshen(line);
    if (isPlain && at % quad == 0 && next - at >= quad) {
      next = at + quad;
      if (byStep.take<uint64_t, quad / 8>(key::Bytes, &keys[word],
                                          &instructions[word]))
        continue;
    }
    forEachWord(at, next, [&](uint64_t each, uint32_t covered) {
      if (isPlain &&
          byStep.take<uint32_t, 1>(covered, &keys[each], &instructions[each]))
        return;
      forEachPart(run, each, [&](unsigned lane, uint32_t part) {
        touchWord(access, lane, each, part);
      });
    });
  }
}

void LdsRaces::updateApart(Access &access, const LdsRuns &runs) {
  for (unsigned i = 0; i < runs.size(); ++i) {
    const AccessRun run = runs[i];
    const uint64_t word = run.begin / 4;
    if (intervals[word / WordsPerLine] != interval)
      freshen(word / WordsPerLine);
    touchWord(access, run.lane, word, key::Bytes);
  }
}

bool LdsRaces::access(const Instruction &inst, Wave &w, const LdsRuns &runs,
                      AccessKind kind) {
  if (handshakes)
    return handshakes->access(inst, w, runs, kind);
  Access access{inst, w, kind};
  if (kind == AccessKind::Atomic && runs.bytes() == 4 && runs.areAligned(4)) {
    updateApart(access, runs);
    return false;
  }
  const Step step(inst, w.context->index, kind);
  for (unsigned i = 0; i < runs.size(); ++i) {
    if (runs.areApart() && kind != AccessKind::Atomic) {
      i = step.isStore ? stepApart<true>(step, runs, i)
                       : stepApart<false>(step, runs, i);
      if (i == runs.size())
        return false;
    }
    touchRun(access, step, runs[i]);
  }
  return false;
}

} // namespace netra::sim
