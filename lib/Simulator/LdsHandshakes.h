//===- LdsHandshakes.h - LDS of waves that wait for flags -------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// What the waves of a work-group did with LDS since the last barrier, for
// programs with instructions by which waves wait for each other (Polls.h). LDS
// executes the operations of all waves in one order, and those of a wave in its
// own. So a wave that has read, by such an instruction, what another wave wrote
// knows all that one did before, and all that one knew when it wrote. After
// that it may access what the other one left to it.
//
// Accesses of the work-group are numbered. For each 16 bytes the last ones of
// every wave and kind are kept, with the bytes that each touched; for each
// wave, up to which access of every other one it knows.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_LDSHANDSHAKES_H
#define NETRA_LIB_SIMULATOR_LDSHANDSHAKES_H

#include "LdsRaces.h"
#include "Polls.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <deque>

namespace netra::sim {

class LdsHandshakes {
public:
  LdsHandshakes(Monitor &monitor, const Polls &polls)
      : monitor(monitor), polls(polls) {}

  void startGroup();
  void barrierReleased();
  /// Returns whether the wave has learnt of another one.
  bool access(const Instruction &inst, Wave &w, const LdsRuns &runs,
              AccessKind kind);

private:
  static constexpr unsigned MaxWaves = 16;
  static constexpr size_t MostTurns = 4096;
  /// By wave, the last access that is known.
  using Clock = std::array<uint32_t, MaxWaves>;

  struct Done {
    uint32_t number = 0; ///< among the accesses of the work-group
    uint32_t instruction = 0;
    uint16_t bytes = 0; ///< of the quad
    uint8_t wave = 0;
    AccessKind kind = AccessKind::Load;
    bool waits = false;

    bool isLike(const Done &other) const {
      return wave == other.wave && kind == other.kind && waits == other.waits;
    }
  };
  static constexpr unsigned QuadBytes = 16;
  struct Quad {
    uint32_t interval = 0; ///< that the rest is about
    llvm::SmallVector<Done, 2> done;
  };
  /// What a wave knew from one of its accesses on.
  struct Turn {
    uint32_t number = 0;
    Clock known = {};
  };

  static bool conflict(const Done &a, const Done &b);
  /// Notes an access that its wave has made before, where no other one has made
  /// any; false if it is another one.
  bool repeats(Quad &quad, const Done &own) const;
  /// Notes what \p own does to its bytes of a quad, a part of \p run.
  void touch(const LdsAccess &access, const AccessRun &run, uint64_t quad,
             Done own);
  /// Takes in what the last write of a byte tells, and those before it from
  /// which atomic operations lead to it.
  void learn(const Quad &quad, const Done &own);
  void learn(unsigned self, const Done &other);
  static void keep(llvm::SmallVectorImpl<Done> &done, const Done &own);

  Monitor &monitor;
  const Polls &polls;
  std::vector<Quad> quads;
  std::array<std::deque<Turn>, MaxWaves> turns; ///< in their order
  std::array<Clock, MaxWaves> known = {};
  uint32_t interval = 0, number = 0;
  bool hasLearnt = false; ///< by this access
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_LDSHANDSHAKES_H
