//===- RaceChecker.h - Unordered accesses to one location -------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Two accesses race when different waves make them, one writes, not both are
// atomic, and nothing orders them. Within a work-group a barrier orders: the
// run is divided into intervals between barriers, and accesses in one interval
// are unordered whatever the schedule did. Between work-groups only
// synchronising accesses order (atomics, loads that bypass caches, cache
// invalidation): an access is taken as ordered after everything that was over
// before its work-group last synchronised, which errs on the side of silence.
// A write is over when its wave has waited for it, or another wave of its
// work-group has waited for all of its own behind a later barrier. What a
// work-group has written is there for others from its first release (an atomic
// or a store that bypasses caches) behind that on: a release publishes what
// was over when it was issued, and no later wait adds to it.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_RACECHECKER_H
#define NETRA_LIB_SIMULATOR_RACECHECKER_H

#include "AccessRuns.h"
#include "Monitor.h"
#include <array>
#include <unordered_map>

namespace netra::sim {

/// Global memory accesses of a launch, shared by its threads.
class GlobalRaces {
public:
  struct Entry {                            ///< for up to 16 bytes
    uint32_t writeGroup = 0, readGroup = 0; ///< linear index + 1
    uint32_t writeTick = 0, readTick = 0;
    uint32_t otherReadTick = 0; ///< last read before that of another group
    uint32_t writeInterval = 0, readInterval = 0;
    uint32_t writeInstruction = 0, readInstruction = 0;
    uint32_t writeSequence = 0; ///< among the vector memory accesses of a wave
    uint8_t writeWave = 0, readWave = 0;    ///< readWave 255: several
    uint16_t writeBytes = 0, readBytes = 0; ///< which of them
    bool isAtomicWrite = false, manyReadGroups = false;
    bool isScalarWrite = false; ///< writeSequence counts scalar accesses

    bool operator==(const Entry &) const = default;
  };
  /// 16 bytes. Most are accessed as a whole, or by one wave: one entry is for
  /// all four words until these differ in more than which bytes were accessed.
  struct Quad {
    Entry all;
    std::unique_ptr<std::array<Entry, 4>> words;

    void split();
    /// Back to one entry if the words are alike.
    void join();
  };
  static constexpr unsigned ChunkBytes = 4096;
  struct Chunk {
    Quad quads[ChunkBytes / 16];
  };
  /// Locked while an entry of the stripe is used.
  struct Stripe {
    std::mutex mutex;
    std::unordered_map<uint64_t, std::unique_ptr<Chunk>> chunks;
  };
  Stripe stripes[256];
  std::atomic<uint32_t> tick{1};

  /// What a work-group has waited for.
  struct Published {
    /// For each wave, which of its vector and of its scalar accesses: those up
    /// to a sequence number.
    std::vector<std::array<uint32_t, 2>> done;
    uint32_t interval = 0; ///< and all of those before it
  };
  void publish(uint32_t group, uint32_t tick, const Published &published);
  /// Whether the write that an entry holds was published before `tick`.
  bool isOver(const Entry &entry, uint32_t tick);

private:
  struct Release {
    uint32_t tick = 0;
    Published published;
  };
  std::mutex releaseMutex;
  /// By group, those that published more than the ones before.
  std::unordered_map<uint32_t, std::vector<Release>> releases;
};

class RaceChecker {
public:
  explicit RaceChecker(Monitor &monitor);

  void startGroup();
  void barrierReleased() { ++interval; }
  void before(const Instruction &inst, const InstructionInfo &info, Wave &w);
  void globalAccess(const Instruction &inst, Wave &w, const uint64_t *address,
                    uint64_t mask, unsigned bytes, AccessKind kind);
  void ldsAccess(const Instruction &inst, Wave &w, const uint32_t *address,
                 uint64_t mask, unsigned bytes, AccessKind kind);
  void scalarAccess(const Instruction &inst, Wave &w, uint64_t address,
                    unsigned bytes, AccessKind kind);

private:
  struct LdsEntry { ///< for up to 16 bytes
    uint32_t interval = 0;
    uint32_t instruction = 0; ///< last write, else last read
    uint16_t readers = 0;     ///< waves
    uint16_t updaters = 0;    ///< waves, by atomic operations
    uint16_t writeBytes = 0, readBytes = 0;
    uint8_t writer = None;
    bool isAtomic = false;
    bool isSplit = false; ///< of a quad: its words have entries of their own
  };
  static constexpr uint8_t None = 255, Several = 254;

  static void splitQuad(LdsEntry &quad, LdsEntry *words);
  void ldsWord(const Instruction &inst, Wave &w, const AccessRun &run,
               LdsEntry &entry, uint64_t word, uint16_t covered,
               AccessKind kind, bool &isReported);
  void globalWord(const Instruction &inst, Wave &w, const AccessRun &run,
                  GlobalRaces::Entry &entry, uint64_t word, uint16_t bytes,
                  AccessKind kind, bool &isReported);

  Monitor &monitor;
  std::vector<uint8_t> isCacheControl; ///< by mnemonic
  void waited(const Instruction &inst, unsigned wave);

  /// For each wave, its vector [0] and scalar [1] memory accesses so far.
  std::vector<std::array<uint32_t, 2>> issued;
  GlobalRaces::Published over; ///< what a release would publish now
  bool isPublished = true;     ///< and did
  bool hasPendingWrites = false;
  /// By 16 bytes, and by 4 bytes where those are split.
  std::vector<LdsEntry> ldsQuads, ldsWords;
  uint32_t interval = 1;
  uint32_t lastSync = 0; ///< tick of the work-group's last synchronisation
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_RACECHECKER_H
