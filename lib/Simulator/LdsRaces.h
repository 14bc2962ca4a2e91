//===- LdsRaces.h - Unordered accesses to LDS -------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// What the waves of a work-group did with each dword of LDS since the last
// barrier. It is kept as numbers that compare many at a time: most dwords that
// an access touches were treated alike before, and are again. Programs whose
// waves wait for flags in LDS leave it to LdsHandshakes.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_LDSRACES_H
#define NETRA_LIB_SIMULATOR_LDSRACES_H

#include "AccessRuns.h"
#include "Monitor.h"

namespace netra::sim {

/// "reads", "writes" or "updates".
const char *verbOf(AccessKind kind);

/// Bits of the bytes from an address to another in the \p unit bytes, a power
/// of two, that hold them.
inline uint16_t bytesIn(unsigned unit, uint64_t from, uint64_t to) {
  return uint16_t(((1u << (to - from)) - 1) << (from & (unit - 1)));
}

/// Calls function(address / 4, which of its four bytes) for the words from an
/// address to another.
template <typename Function>
void forEachWord(uint64_t from, uint64_t to, Function &&function) {
  while (from < to) {
    const uint64_t word = from / 4, next = std::min(to, (word + 1) * 4);
    function(word, bytesIn(4, from, next));
    from = next;
  }
}

/// Calls function(lane, which of its four bytes) for the lanes of a run that
/// access a word.
template <typename Function>
void forEachPart(const AccessRun &run, uint64_t word, Function &&function) {
  const uint64_t from = word * 4, to = std::min(from + 4, run.end());
  unsigned lane = run.laneOf(word);
  uint64_t begin = run.begin + uint64_t(lane - run.lane) * run.bytes;
  for (; begin < to; begin += run.bytes, ++lane)
    function(lane, bytesIn(4, std::max(begin, from),
                           std::min(begin + run.bytes, to)));
}

/// An access of some lanes.
struct LdsAccess {
  const Instruction &inst;
  Wave &w;
  AccessKind kind;
  mutable bool isReported = false; ///< once is enough

  /// That it races with what another wave did with a word.
  void report(Monitor &monitor, unsigned lane, uint64_t word, unsigned wave,
              AccessKind its, uint32_t instruction) const;
};

class LdsHandshakes;

class LdsRaces {
public:
  explicit LdsRaces(Monitor &monitor);
  ~LdsRaces();

  void startGroup();
  void barrierReleased();
  /// Returns whether the wave has learnt of another one by it.
  bool access(const Instruction &inst, Wave &w, const LdsRuns &runs,
              AccessKind kind);

private:
  using Access = LdsAccess;
  struct Step;

  /// Makes a line of an older interval as if it were never accessed.
  void freshen(uint64_t line);
  template <bool IsStore, typename Unit, unsigned Count>
  unsigned stepApart(const Step &step, const LdsRuns &runs, unsigned first);
  template <bool IsStore, typename Unit, unsigned Count>
  bool stepBlock(const Step &step, const LdsRuns &runs, unsigned first);
  /// Makes the step for lanes that lie apart; returns the first run that more
  /// must be looked at.
  template <bool IsStore>
  unsigned stepApart(const Step &step, const LdsRuns &runs, unsigned first);
  /// The same for whole lines in a row; false if more must be looked at.
  template <bool IsStore>
  bool stepLines(const Step &step, uint64_t line, unsigned number);
  /// An update of a word by each lane.
  void updateApart(Access &access, const LdsRuns &runs);
  void touchRun(Access &access, const Step &step, const AccessRun &run);
  void touchWord(Access &access, unsigned lane, uint64_t word,
                 uint32_t covered);
  void report(const Access &access, unsigned lane, uint64_t word,
              bool withWriter);

  static constexpr unsigned WordsPerLine = 16, LineBytes = 4 * WordsPerLine;

  Monitor &monitor;
  std::unique_ptr<LdsHandshakes> handshakes; ///< if there may be some
  /// By 4 bytes: a key; the last write, else the last read; the waves that have
  /// updated it by atomic operations, if it has only been written so.
  std::vector<uint32_t> keys, instructions;
  std::vector<uint16_t> updaters;
  std::vector<uint32_t> intervals; ///< by line: what its keys are about
  /// Goes on counting over work-groups, which makes old keys stale.
  uint32_t interval = 1;
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_LDSRACES_H
