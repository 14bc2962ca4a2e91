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
// An atomic operation does not order itself behind a plain read of the word by
// others: their work-group must have released since, and the own one must have
// synchronised before, or the word was updated in between. Nor behind a plain
// write, whoever updated the word in between.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_RACECHECKER_H
#define NETRA_LIB_SIMULATOR_RACECHECKER_H

#include "LdsRaces.h"
#include <array>
#include <cstring>
#include <deque>
#include <unordered_map>

namespace netra::sim {

/// Global memory accesses of a launch, shared by its threads.
class GlobalRaces {
public:
  /// The last reads or the last writes, of one wave between two events that
  /// could order them.
  struct Side {
    enum Flag : uint8_t { Atomic = 1, Scalar = 2, Store = 4 };
    static constexpr uint8_t Several = 255;
    static constexpr uint32_t Nobody = ~0u;

    uint32_t group = 0; ///< linear index + 1
    uint32_t tick = 0, interval = 0;
    uint8_t wave = 0;   ///< of reads, or Several
    uint8_t flags = 0;  ///< of writes
    uint16_t bytes = 0; ///< which of them

    /// Whether all but the bytes is the same.
    bool isLike(const Side &other) const {
      uint64_t own[2], its[2];
      static_assert(sizeof(own) == sizeof(Side));
      std::memcpy(own, this, sizeof(own));
      std::memcpy(its, &other, sizeof(its));
      return !((own[0] ^ its[0]) | (own[1] ^ its[1]) << 16);
    }
    bool operator==(const Side &) const = default;
  };
  struct Last : Side {
    uint32_t instruction = 0;
    /// Of a write, among the vector memory accesses of a wave, or among its
    /// scalar ones. Of a read, the tick of the last one before that of another
    /// group; 0 if there was none.
    uint32_t number = 0;

    bool operator==(const Last &) const = default;
  };
  struct Entry { ///< for up to 16 bytes
    Last read, write;
    /// The last write that was not atomic, if atomic ones came behind it.
    Last plain;

    bool operator==(const Entry &) const = default;
  };
  /// Entries of 16 bytes that were both read and written, or of their words.
  struct More {
    Entry all;
    std::unique_ptr<std::array<Entry, 4>> words;
  };
  /// 16 bytes. Most are accessed as a whole, or by one wave: one entry is for
  /// all four words until these differ in more than which bytes were accessed.
  /// And most are either read or written, which is kept in half a cache line.
  struct alignas(32) Quad {
    /// Reads or writes; Nobody's if there is more to say.
    Last one;
    More *more = nullptr;

    /// The entry for all words.
    Entry entry() const;
  };
  static constexpr unsigned ChunkBytes = 16384;
  struct Chunk {
    Quad quads[ChunkBytes / 16];

    Quad &quadAt(uint64_t address) { return quads[address % ChunkBytes / 16]; }
  };
  /// The chunk with this number; it stays as long as the launch.
  Chunk *chunk(uint64_t number);

  void set(Quad &quad, const Entry &all);
  /// An entry for each word of a quad.
  void split(Quad &quad);
  /// Back to one entry if the words are alike.
  void join(Quad &quad);

  /// Locked while an entry of the stripe is used, but by threads that are
  /// alone.
  static constexpr unsigned StripeBytes = 4096, NumStripes = 256;
  std::mutex stripes[NumStripes];
  std::atomic<uint32_t> tick{1};
  /// Of a work-group, or of one that shares its place.
  std::atomic<uint32_t> &lastRelease(uint32_t group) {
    return lastReleases[group % lastReleases.size()];
  }

  /// What a work-group has waited for.
  struct Published {
    /// For each wave, which of its vector and of its scalar accesses: those up
    /// to a sequence number.
    std::vector<std::array<uint32_t, 2>> done;
    uint32_t interval = 0; ///< and all of those before it
  };
  void publish(uint32_t group, uint32_t tick, const Published &published);
  /// Whether this write was published before `tick`.
  bool isOver(const Last &write, uint32_t tick);

private:
  struct Release {
    uint32_t tick = 0;
    Published published;
  };
  More *newMore();

  std::array<std::atomic<uint32_t>, 4096> lastReleases = {};
  std::mutex releaseMutex;
  /// By group, those that published more than the ones before.
  std::unordered_map<uint32_t, std::vector<Release>> releases;
  std::mutex chunkMutex;
  std::unordered_map<uint64_t, std::unique_ptr<Chunk>> chunks;
  std::mutex moreMutex;
  std::deque<More> mores;
  std::vector<More *> unusedMores;
};

class RaceChecker {
public:
  explicit RaceChecker(Monitor &monitor);

  void startGroup();
  void barrierReleased() {
    ++interval;
    lds.barrierReleased();
  }
  /// An instruction that may access memory.
  void before(const Instruction &inst, const Footprint &footprint, Wave &w) {
    if (footprint.isVectorAccess || footprint.isScalarAccess) {
      ++issued[w.context->index][footprint.isScalarAccess];
      hasPendingWrites |= footprint.writesMemory;
    }
    if (footprint.isSync)
      synchronise(inst);
  }
  /// What a load has seen of others may have been published while it was on
  /// its way.
  void after() {
    if (!isLearning)
      return;
    isLearning = false;
    learnt = monitor.state().races->tick.fetch_add(1) + 1;
  }
  /// s_waitcnt.
  void waits(const Instruction &inst, Wave &w) {
    if (hasPendingWrites)
      waited(inst, w.context->index);
  }
  void globalAccess(const Instruction &inst, Wave &w, const GlobalRuns &runs,
                    AccessKind kind);
  void ldsAccess(const Instruction &inst, Wave &w, const LdsRuns &runs,
                 AccessKind kind) {
    // Waves that tell each other something by LDS may have left it in memory.
    if (lds.access(inst, w, runs, kind))
      lastSync = monitor.state().races->tick.fetch_add(1) + 1;
  }
  void scalarAccess(const Instruction &inst, Wave &w, uint64_t address,
                    unsigned bytes, AccessKind kind);

private:
  using Entry = GlobalRaces::Entry;
  using Side = GlobalRaces::Side;
  using Last = GlobalRaces::Last;
  /// A Side without names.
  typedef uint64_t Pair __attribute__((vector_size(16)));
  struct Access;
  class Quads;
  struct Known {
    uint64_t number = ~uint64_t(0);
    GlobalRaces::Chunk *chunk = nullptr;
  };
  template <bool IsStore> struct Plain;

  void synchronise(const Instruction &inst);
  void waited(const Instruction &inst, unsigned wave);
  __attribute__((noinline)) GlobalRaces::Chunk *find(uint64_t number);
  /// What entries get of an access now, but the bytes.
  Pair sideOf(unsigned wave, unsigned flags) const;
  bool isBehind(const Access &access, const Side &other) const;
  bool conflictsWithWrite(const Access &access, const Last &write,
                          uint16_t covered) const;
  bool conflictsWithRead(const Access &access, const Entry &entry,
                         uint16_t covered) const;
  bool updatesBehindRead(const Access &access, const Entry &entry,
                         uint16_t covered) const;
  template <bool IsStore>
  bool isFree(const Access &access, const Entry &entry, uint16_t covered) const;
  template <bool IsStore>
  static bool staysOne(const Access &access, const Last &last,
                       uint16_t covered);
  /// Of an atomic operation.
  bool updatesBehindPlain(const Access &access, const Entry &entry,
                          uint16_t covered) const;
  template <bool IsStore>
  static void note(const Access &access, Last &last, uint16_t covered);
  template <bool IsStore>
  static void note(const Access &access, Entry &entry, uint16_t covered);
  template <bool IsStore> static Last &lastOf(Entry &entry) {
    return IsStore ? entry.write : entry.read;
  }
  /// Notes an access that makes no race and leaves what a quad says true of all
  /// of its bytes; else does nothing and returns false.
  template <bool IsStore>
  bool touchAll(const Access &access, Entry &quad, uint16_t covered) const;
  /// Notes an access to a quad or to one word of it; false if more is to be
  /// said of it.
  template <bool IsStore>
  bool touchOne(const Access &access, GlobalRaces::Quad &quad, uint64_t at,
                unsigned bytes) const;
  static constexpr unsigned RunsAtOnce = 16;
  template <bool IsStore>
  static bool touchAgain(const Plain<IsStore> &plain, const GlobalRuns &runs,
                         unsigned first, Quads &quads);
  /// Notes accesses of lanes that lie apart; returns the first run of which
  /// more is to be said.
  template <bool IsStore>
  unsigned touchApart(const Access &access, const GlobalRuns &runs,
                      unsigned first, Quads &quads);
  template <bool IsStore>
  void touchRun(Access &access, const AccessRun &run, Quads &quads);
  template <bool IsStore>
  void touchRuns(Access &access, const GlobalRuns &runs);
  void report(Access &access, unsigned lane, const Last &other, uint64_t word);

  Monitor &monitor;
  LdsRaces lds;
  const bool isAlone; ///< no other thread runs work-groups of the launch
  /// For each wave, its vector [0] and scalar [1] memory accesses so far.
  std::vector<std::array<uint32_t, 2>> issued;
  GlobalRaces::Published over; ///< what a release would publish now
  bool isPublished = true;     ///< and did
  bool hasPendingWrites = false;
  /// Where chunks of global memory were found.
  static constexpr unsigned NumKnown = 256;
  std::array<Known, NumKnown> known;
  uint32_t interval = 1; ///< between barriers, over all work-groups
  /// Ticks of the work-group's last synchronisation and the one before.
  uint32_t lastSync = 0, syncBefore = 0;
  /// What others published before this tick is known to the work-group.
  uint32_t learnt = 0;
  bool isLearning = false; ///< by the instruction that is being executed
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_RACECHECKER_H
