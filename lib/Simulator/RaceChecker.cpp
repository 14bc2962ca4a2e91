//===- RaceChecker.cpp - Unordered accesses to one location --------------===//
// SPDX-License-Identifier: MIT

#include "RaceChecker.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

RaceChecker::RaceChecker(Monitor &monitor) : monitor(monitor), lds(monitor) {
  for (StringRef name : monitor.state().program->mnemonics)
    isCacheControl.push_back(name.starts_with("buffer_inv") ||
                             name.starts_with("s_dcache_inv"));
}

void RaceChecker::startGroup() {
  // Intervals go on counting over work-groups, which makes old entries stale.
  ++interval;
  lastSync = 0;
  issued.assign(monitor.workgroup().waves.size(), {});
  over = {issued, 0};
  isPublished = true;
  hasPendingWrites = false;
  lds.startGroup();
}

void GlobalRaces::publish(uint32_t group, uint32_t tick,
                          const Published &published) {
  std::lock_guard<std::mutex> lock(releaseMutex);
  releases[group].push_back({tick, published});
}

void GlobalRaces::Quad::split() {
  words = std::make_unique<std::array<Entry, 4>>();
  const Entry whole = all;
  // What nobody's access is like.
  all = Entry();
  all.read.group = all.write.group = Side::Nobody;
  for (unsigned k = 0; k < 4; ++k) {
    Entry &word = (*words)[k];
    if (const uint16_t bytes = whole.read.bytes >> (4 * k) & 0xf) {
      word.read = whole.read;
      word.read.bytes = bytes;
      word.readInstruction = whole.readInstruction;
      word.otherReadTick = whole.otherReadTick;
      word.manyReadGroups = whole.manyReadGroups;
    }
    if (const uint16_t bytes = whole.write.bytes >> (4 * k) & 0xf) {
      word.write = whole.write;
      word.write.bytes = bytes;
      word.writeInstruction = whole.writeInstruction;
      word.writeSequence = whole.writeSequence;
    }
  }
}

void GlobalRaces::Quad::join() {
  const Entry &first = words->front();
  auto isAllOrNone = [](uint16_t bytes) { return !bytes || bytes == 0xf; };
  if (!isAllOrNone(first.read.bytes) || !isAllOrNone(first.write.bytes) ||
      std::count(words->begin(), words->end(), first) != 4)
    return;
  all = first;
  all.read.bytes *= 0x1111;
  all.write.bytes *= 0x1111;
  words.reset();
}

bool GlobalRaces::isOver(const Entry &entry, uint32_t tick) {
  std::lock_guard<std::mutex> lock(releaseMutex);
  const std::vector<Release> &all = releases[entry.write.group];
  // Each publishes what those before it did.
  auto next =
      std::partition_point(all.begin(), all.end(), [&](const Release &release) {
        return release.tick < tick;
      });
  if (next == all.begin())
    return false;
  const Published &known = std::prev(next)->published;
  const bool isScalar = entry.write.flags & Side::Scalar;
  return known.done[entry.write.wave][isScalar] >= entry.writeSequence ||
         (!isScalar && known.interval > entry.write.interval);
}

void RaceChecker::waited(const Instruction &inst, unsigned wave) {
  const unsigned raw = unsigned(inst.imm) & 0xffff,
                 vm = (raw & 0xf) | (raw >> 14 & 3) << 4, lgkm = raw >> 8 & 0xf;
  auto raise = [&](uint32_t &known, uint32_t value) {
    isPublished &= known >= value;
    known = std::max(known, value);
  };
  if (issued[wave][0] > vm) {
    raise(over.done[wave][0], issued[wave][0] - vm);
    if (vm == 0)
      raise(over.interval, interval);
  }
  if (lgkm == 0)
    raise(over.done[wave][1], issued[wave][1]);
}

void RaceChecker::before(const Instruction &inst, const InstructionInfo &info,
                         Wave &w) {
  if (info.cls == InstructionClass::Message) {
    if (hasPendingWrites && StringRef(info.text).starts_with("s_waitcnt"))
      waited(inst, w.context->index);
    return;
  }
  const bool isMemory = info.cls == InstructionClass::VectorMemory ||
                        info.cls == InstructionClass::Flat,
             isScalar = info.cls == InstructionClass::ScalarMemory;
  if ((isMemory || isScalar) &&
      (info.isLoad || info.isStore || info.isAtomic)) {
    ++issued[w.context->index][isScalar];
    hasPendingWrites |= info.isStore || info.isAtomic;
  }
  const bool bypasses = isMemory && (inst.sc0 || inst.sc1);
  if (!((isMemory || isScalar) && info.isAtomic) && !bypasses &&
      !isCacheControl[info.mnemonicId])
    return;
  lastSync = monitor.state().races->tick.fetch_add(1) + 1;
  if (!isPublished && (info.isAtomic || (bypasses && info.isStore))) {
    isPublished = true;
    monitor.state().races->publish(uint32_t(monitor.workgroup().linear) + 1,
                                   lastSync, over);
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

struct RaceChecker::Access {
  const Instruction &inst;
  Wave &w;
  AccessKind kind;
  Side own = {};         ///< what entries get
  uint32_t sequence = 0; ///< of the access in its wave
  bool isAtomic = false; ///< or synchronises otherwise
  bool isScalar = false;
  bool isReported = false; ///< once is enough
};

/// The chunks that an access has come to; their stripes are locked. It waits
/// for one only while it holds no other, so that accesses cannot wait for each
/// other.
class RaceChecker::Chunks {
public:
  explicit Chunks(RaceChecker &checker) : checker(checker) {}
  ~Chunks() { release(); }
  Chunks(const Chunks &) = delete;

  GlobalRaces::Chunk *at(uint64_t number) {
    const Known &known = recent[number % NumRecent];
    return known.number == number ? known.chunk : find(number);
  }

private:
  // Kept out of the loops over lanes, which then have registers enough.
  __attribute__((noinline)) GlobalRaces::Chunk *find(uint64_t number);
  void acquire(uint8_t stripe);
  void release();

  static constexpr unsigned NumRecent = 8;
  RaceChecker &checker;
  /// Of locked stripes.
  Known recent[NumRecent];
  uint64_t held[GlobalRaces::NumStripes / 64] = {};
  uint8_t order[16];
  unsigned count = 0;
};

void RaceChecker::Chunks::acquire(uint8_t stripe) {
  uint64_t &bits = held[stripe / 64];
  const uint64_t bit = uint64_t(1) << stripe % 64;
  if (bits & bit)
    return;
  std::mutex &mutex = checker.monitor.state().races->stripes[stripe].mutex;
  if (count == std::size(order) || !mutex.try_lock()) {
    release();
    mutex.lock();
  }
  bits |= bit;
  order[count++] = stripe;
}

void RaceChecker::Chunks::release() {
  if (!count)
    return;
  std::fill(std::begin(recent), std::end(recent), Known());
  std::fill(std::begin(held), std::end(held), 0);
  while (count)
    checker.monitor.state().races->stripes[order[--count]].mutex.unlock();
}

GlobalRaces::Chunk *RaceChecker::Chunks::find(uint64_t number) {
  const uint8_t stripe = uint8_t(number % GlobalRaces::NumStripes);
  acquire(stripe);
  Known &found = checker.foundChunks[number % checker.foundChunks.size()];
  if (found.number != number) {
    auto &slot = checker.monitor.state().races->stripes[stripe].chunks[number];
    if (!slot)
      slot = std::make_unique<GlobalRaces::Chunk>();
    found = {number, slot.get()};
  }
  recent[number % NumRecent] = found;
  return found.chunk;
}

/// Whether an access is ordered behind an earlier one.
inline bool RaceChecker::isBehind(const Access &access,
                                  const Side &other) const {
  return lastSync > other.tick ||
         (other.group == access.own.group &&
          (other.wave == access.own.wave || other.interval != interval));
}

/// A write of another work-group must have been over before this one last
/// synchronised.
inline bool RaceChecker::conflictsWithWrite(const Access &access,
                                            const Entry &entry,
                                            uint16_t covered) const {
  const Side &write = entry.write;
  if (!(write.bytes & covered))
    return false;
  const bool wasAtomic = write.flags & Side::Atomic;
  if (access.isAtomic && wasAtomic)
    return false;
  return !isBehind(access, write) ||
         (write.group != access.own.group && !wasAtomic &&
          !monitor.state().races->isOver(entry, lastSync));
}

inline bool RaceChecker::conflictsWithRead(const Access &access,
                                           const Entry &entry,
                                           uint16_t covered) const {
  return (entry.read.bytes & covered) && !access.isAtomic &&
         (!isBehind(access, entry.read) ||
          (entry.manyReadGroups && lastSync <= entry.otherReadTick));
}

/// Notes an access, which then is the last one of all bytes of the entry that
/// were accessed so.
template <bool IsStore>
inline void RaceChecker::note(const Access &access, Entry &entry,
                              uint16_t covered) {
  const Side &own = access.own;
  if (IsStore) {
    const uint16_t before =
        entry.write.group == own.group ? entry.write.bytes : uint16_t(0);
    entry.write = own;
    entry.write.bytes = before | covered;
    entry.writeInstruction = access.inst.index;
    entry.writeSequence = access.sequence;
    return;
  }
  if (access.isAtomic)
    return; // synchronising reads race with nothing
  Side &read = entry.read;
  if (read.isLike(own)) { // the first of them stays
    read.bytes |= covered;
    return;
  }
  const uint16_t before = read.bytes;
  bool isShared = false;
  if (read.group == own.group)
    isShared = read.interval == own.interval && read.wave != own.wave;
  else if (read.group) {
    entry.manyReadGroups = true;
    entry.otherReadTick = read.tick;
  }
  read = own;
  read.bytes = before | covered;
  if (isShared)
    read.wave = Side::Several;
  entry.readInstruction = access.inst.index;
}

/// Whether what a quad says of the last access then holds for all of its bytes
/// that were accessed so.
template <bool IsStore>
inline bool RaceChecker::staysOne(const Access &access, const Entry &quad,
                                  uint16_t covered) {
  if (IsStore) {
    const Side &write = quad.write;
    return !(write.bytes & ~covered) ||
           (quad.writeSequence == access.sequence && write.isLike(access.own));
  }
  const Side &read = quad.read;
  return access.isAtomic || !read.bytes ||
         (read.isLike(access.own) ? quad.readInstruction == access.inst.index ||
                                        !(covered & ~read.bytes)
                                  : read.bytes == covered);
}

template <bool IsStore>
inline bool RaceChecker::isFree(const Access &access, const Entry &entry,
                                uint16_t covered) const {
  return !conflictsWithWrite(access, entry, covered) &&
         !(IsStore && conflictsWithRead(access, entry, covered));
}

/// The same access by the same wave as before, or the first one, of what nobody
/// accesses otherwise: most are. It stands by itself so that a loop over lanes
/// keeps it in registers.
template <bool IsStore> struct RaceChecker::Plain {
  uint64_t own[2] = {}; ///< the access's Side, without bytes
  uint32_t instruction, sequence;

  explicit Plain(const Access &access)
      : instruction(access.inst.index), sequence(access.sequence) {
    std::memcpy(own, &access.own, sizeof(own));
  }

  /// Notes it; false if more must be looked at.
  NETRA_SIM_INLINE bool take(Entry &entry, uint32_t covered) const {
    constexpr unsigned bytesShift = 48; // the last field
    Side &side = IsStore ? entry.write : entry.read;
    const Side &other = IsStore ? entry.read : entry.write;
    if (other.bytes & covered)
      return false;
    uint64_t known[2];
    std::memcpy(known, &side, sizeof(known));
    const uint32_t bytes = uint32_t(known[1] >> bytesShift);
    const bool isRepeated =
        known[0] == own[0] && !((known[1] ^ own[1]) << (64 - bytesShift));
    const uint32_t added = covered & ~bytes;
    if (!isRepeated && known[0])
      return false;
    if (IsStore) {
      if (bytes & ~covered)
        return false;
      entry.writeInstruction = instruction;
      entry.writeSequence = sequence;
    } else if (added) {
      if (isRepeated && entry.readInstruction != instruction)
        return false;
      entry.readInstruction = instruction;
    }
    if (!added)
      return true;
    known[0] = own[0];
    known[1] = own[1] | uint64_t(bytes | covered) << bytesShift;
    std::memcpy(&side, known, sizeof(known));
    return true;
  }
};

template <bool IsStore>
__attribute__((noinline)) bool
RaceChecker::touchOne(const Access &access, GlobalRaces::Quad &quad,
                      uint64_t at, unsigned bytes) const {
  const uint64_t place = at % 16;
  const uint32_t whole = (1u << bytes) - 1;
  if (!quad.words) {
    const uint16_t covered = uint16_t(whole << place);
    if (!staysOne<IsStore>(access, quad.all, covered) ||
        !isFree<IsStore>(access, quad.all, covered))
      return false;
    note<IsStore>(access, quad.all, covered);
    return true;
  }
  Entry &entry = (*quad.words)[place / 4];
  const uint16_t covered = uint16_t(whole << place % 4);
  if (place % 4 + bytes > 4 || !isFree<IsStore>(access, entry, covered))
    return false;
  note<IsStore>(access, entry, covered);
  return true;
}

template <bool IsStore>
unsigned RaceChecker::touchApart(const Access &access, const AccessRuns &runs,
                                 unsigned first, Chunks &chunks) {
  const unsigned number = runs.size(), bytes = runs.bytes();
  if (bytes > 16)
    return first;
  const Plain<IsStore> plain(access);
  const bool isPlain = IsStore || !access.isAtomic;
  const uint32_t whole = (1u << bytes) - 1;
  for (unsigned i = first; i < number; ++i) {
    const uint64_t at = runs.start(i), place = at % 16;
    if (place + bytes > 16)
      return i;
    GlobalRaces::Quad &quad =
        chunks.at(at / GlobalRaces::ChunkBytes)->quadAt(at);
    if (!(isPlain && plain.take(quad.all, whole << place)) &&
        !touchOne<IsStore>(access, quad, at, bytes))
      return i;
  }
  return number;
}

template <bool IsStore>
void RaceChecker::touchRun(Access &access, const AccessRun &run,
                           Chunks &chunks) {
  const Plain<IsStore> plain(access);
  const bool isPlain = IsStore || !access.isAtomic;
  const uint64_t end = run.end();
  for (uint64_t at = run.begin, next; at < end; at = next) {
    GlobalRaces::Chunk *chunk = chunks.at(at / GlobalRaces::ChunkBytes);
    GlobalRaces::Quad *quad = &chunk->quadAt(at);
    if (isPlain && at % 16 == 0) {
      const uint64_t stop =
          std::min(end, (at | (GlobalRaces::ChunkBytes - 1)) + 1);
      next = at;
      while (next + 16 <= stop && plain.take(quad->all, 0xffff)) {
        next += 16;
        ++quad;
      }
      if (next != at)
        continue;
    }
    next = std::min(end, (at | 15) + 1);
    if (touchOne<IsStore>(access, *quad, at, unsigned(next - at)))
      continue;
    if (!quad->words)
      quad->split();
    forEachWord(at, next, [&](uint64_t word, uint16_t part) {
      Entry &entry = (*quad->words)[word % 4];
      if (isFree<IsStore>(access, entry, part)) {
        note<IsStore>(access, entry, part);
        return;
      }
      forEachPart(run, word, [&](unsigned lane, uint16_t bytes) {
        const bool withWrite = conflictsWithWrite(access, entry, bytes);
        if (withWrite || (IsStore && conflictsWithRead(access, entry, bytes)))
          report(access, lane, entry, word, withWrite);
        note<IsStore>(access, entry, bytes);
      });
    });
    if (next - at == 16)
      quad->join();
  }
}

template <bool IsStore>
void RaceChecker::touchRuns(Access &access, const AccessRuns &runs) {
  Chunks chunks(*this);
  for (unsigned i = 0; i < runs.size(); ++i) {
    if (runs.areApart()) {
      i = touchApart<IsStore>(access, runs, i, chunks);
      if (i == runs.size())
        return;
    }
    touchRun<IsStore>(access, runs[i], chunks);
  }
}

void RaceChecker::report(Access &access, unsigned lane, const Entry &entry,
                         uint64_t word, bool withWrite) {
  if (access.isReported)
    return;
  access.isReported = true;
  const InstructionInfo &other =
      monitor.state().program->info[withWrite ? entry.writeInstruction
                                              : entry.readInstruction];
  const Side &side = withWrite ? entry.write : entry.read;
  monitor.report(
      CheckRace, access.inst, access.w, access.isScalar ? -1 : int(lane),
      "global",
      formatv("{0} the 4 bytes at {1:x} ({2}), which {3} {4} by `{5}` (at "
              "{6:x}) with nothing to order the two",
              verbOf(access.kind), word * 4,
              monitor.state().memory->describe(word * 4, 4),
              side.group == access.own.group
                  ? "another wave"
                  : formatv("work-group {0}", side.group - 1).str(),
              withWrite ? "writes" : "reads", other.text, other.pc)
          .str(),
      word * 4);
}

void RaceChecker::globalAccess(const Instruction &inst, Wave &w,
                               const AccessRuns &runs, AccessKind kind) {
  const bool isScalar = monitor.state().program->info[inst.index].cls ==
                        InstructionClass::ScalarMemory;
  Access access{inst, w, kind};
  Side &own = access.own;
  own.group = uint32_t(monitor.workgroup().linear) + 1;
  own.tick = monitor.state().races->tick.load(std::memory_order_relaxed);
  own.interval = interval;
  own.wave = uint8_t(w.context->index);
  access.sequence = issued[own.wave][isScalar];
  // glc on a scalar access does not make it one that others synchronise with.
  access.isAtomic = kind == AccessKind::Atomic ||
                    (!isScalar && (inst.sc1 || (inst.sc0 && !inst.nt)));
  access.isScalar = isScalar;
  if (kind == AccessKind::Load) {
    touchRuns<false>(access, runs);
    return;
  }
  own.flags = uint8_t((access.isAtomic ? Side::Atomic : 0) |
                      (isScalar ? Side::Scalar : 0));
  touchRuns<true>(access, runs);
}

void RaceChecker::scalarAccess(const Instruction &inst, Wave &w,
                               uint64_t address, unsigned bytes,
                               AccessKind kind) {
  globalAccess(inst, w, AccessRuns(&address, 1, bytes), kind);
}

} // namespace netra::sim
