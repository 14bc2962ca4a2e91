//===- RaceChecker.cpp - Unordered accesses to one location --------------===//
// SPDX-License-Identifier: MIT

#include "RaceChecker.h"
#include "llvm/Support/FormatVariadic.h"
#include <bit>
#include <cstddef>

using namespace llvm;

namespace netra::sim {

RaceChecker::RaceChecker(Monitor &monitor)
    : monitor(monitor), lds(monitor), isAlone(monitor.state().threads == 1) {}

void RaceChecker::startGroup() {
  // Intervals go on counting over work-groups, which makes old entries stale.
  ++interval;
  lastSync = syncBefore = learnt = 0;
  isLearning = false;
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

GlobalRaces::Chunk *GlobalRaces::chunk(uint64_t number) {
  std::lock_guard<std::mutex> lock(chunkMutex);
  std::unique_ptr<Chunk> &known = chunks[number];
  if (!known)
    known = std::make_unique<Chunk>();
  return known.get();
}

GlobalRaces::More *GlobalRaces::newMore() {
  std::lock_guard<std::mutex> lock(moreMutex);
  if (unusedMores.empty())
    return &mores.emplace_back();
  More *more = unusedMores.back();
  unusedMores.pop_back();
  return more;
}

GlobalRaces::Entry GlobalRaces::Quad::entry() const {
  if (more)
    return more->all;
  Entry all;
  (one.flags & Side::Store ? all.write : all.read) = one;
  return all;
}

/// What nobody's access is like.
static GlobalRaces::Last nobodys() {
  GlobalRaces::Last last;
  last.group = GlobalRaces::Side::Nobody;
  return last;
}

void GlobalRaces::set(Quad &quad, const Entry &all) {
  if ((all.read.group && all.write.group) || all.plain.group) {
    if (!quad.more)
      quad.more = newMore();
    quad.more->all = all;
    quad.one = nobodys();
    return;
  }
  quad.one = all.write.group ? all.write : all.read;
  if (!quad.more)
    return;
  std::lock_guard<std::mutex> lock(moreMutex);
  unusedMores.push_back(quad.more);
  quad.more = nullptr;
}

void GlobalRaces::split(Quad &quad) {
  const Entry whole = quad.entry();
  if (!quad.more)
    quad.more = newMore();
  quad.one = nobodys();
  quad.more->words = std::make_unique<std::array<Entry, 4>>();
  for (unsigned k = 0; k < 4; ++k) {
    Entry &word = (*quad.more->words)[k];
    auto take = [k](Last &last, const Last &from) {
      if (const uint16_t bytes = from.bytes >> (4 * k) & 0xf) {
        last = from;
        last.bytes = bytes;
      }
    };
    take(word.read, whole.read);
    take(word.write, whole.write);
    take(word.plain, whole.plain);
  }
}

void GlobalRaces::join(Quad &quad) {
  const std::array<Entry, 4> &each = *quad.more->words;
  Entry all = each.front();
  auto isAllOrNone = [](uint16_t bytes) { return !bytes || bytes == 0xf; };
  if (!isAllOrNone(all.read.bytes) || !isAllOrNone(all.write.bytes) ||
      !isAllOrNone(all.plain.bytes) ||
      std::count(each.begin(), each.end(), all) != 4)
    return;
  all.read.bytes *= 0x1111;
  all.write.bytes *= 0x1111;
  all.plain.bytes *= 0x1111;
  quad.more->words.reset();
  set(quad, all);
}

bool GlobalRaces::isOver(const Last &write, uint32_t tick) {
  std::lock_guard<std::mutex> lock(releaseMutex);
  const std::vector<Release> &all = releases[write.group];
  // Each publishes what those before it did.
  auto next =
      std::partition_point(all.begin(), all.end(), [&](const Release &release) {
        return release.tick < tick;
      });
  if (next == all.begin())
    return false;
  const Published &known = std::prev(next)->published;
  const bool isScalar = write.flags & Side::Scalar;
  return known.done[write.wave][isScalar] >= write.number ||
         (!isScalar && known.interval > write.interval);
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

void RaceChecker::synchronise(const Instruction &inst) {
  const InstructionInfo &info = monitor.state().program->info[inst.index];
  GlobalRaces &races = *monitor.state().races;
  syncBefore = learnt;
  learnt = lastSync = races.tick.fetch_add(1) + 1;
  isLearning = !isAlone && info.isLoad;
  if (!info.isAtomic && !info.isStore)
    return;
  const uint32_t group = uint32_t(monitor.workgroup().linear) + 1;
  races.lastRelease(group).store(lastSync, std::memory_order_release);
  if (isPublished)
    return;
  isPublished = true;
  races.publish(group, lastSync, over);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

struct RaceChecker::Access {
  Access(const RaceChecker &checker, const Instruction &inst, Wave &w,
         AccessKind kind, bool isScalar);

  const Instruction &inst;
  Wave &w;
  AccessKind kind;
  /// What entries get, in the order of its fields on a little-endian host. As
  /// one vector it can be loaded at once while it is still on its way to
  /// memory.
  Pair side;
  uint32_t sequence; ///< of the access in its wave
  bool isAtomic;     ///< or synchronises otherwise
  bool isScalar;
  bool isReported = false; ///< once is enough

  Side own() const { return std::bit_cast<Side>(side); }
};

/// The quads that an access comes to. Where other threads may come to them,
/// too, their stripes are locked; it waits for one only while it holds no
/// other, so that accesses cannot wait for each other.
class RaceChecker::Quads {
public:
  explicit Quads(RaceChecker &checker) : checker(checker) {}
  ~Quads() { release(); }
  Quads(const Quads &) = delete;

  /// The quad, and those behind it of the same stripe.
  GlobalRaces::Quad *at(uint64_t address) {
    lock(address);
    return &chunkOf(address)->quadAt(address);
  }
  GlobalRaces::Chunk *chunkOf(uint64_t address) {
    const uint64_t number = address / GlobalRaces::ChunkBytes;
    const Known &known = checker.known[number % NumKnown];
    return known.number == number ? known.chunk : checker.find(number);
  }
  void lock(uint64_t address) {
    if (checker.isAlone)
      return;
    const unsigned stripe =
        address / GlobalRaces::StripeBytes % GlobalRaces::NumStripes;
    if (!(held[stripe / 64] >> stripe % 64 & 1))
      acquire(stripe);
  }

  /// How often stripes were unlocked since the first access.
  unsigned numReleases() const { return releases; }

private:
  // Kept out of the loops over lanes, which then have registers enough.
  __attribute__((noinline)) void acquire(unsigned stripe);
  void release();

  RaceChecker &checker;
  uint64_t held[GlobalRaces::NumStripes / 64] = {};
  uint8_t order[16];
  unsigned count = 0, releases = 0;
};

void RaceChecker::Quads::acquire(unsigned stripe) {
  std::mutex &mutex = checker.monitor.state().races->stripes[stripe];
  if (count == std::size(order) || !mutex.try_lock()) {
    release();
    mutex.lock();
  }
  held[stripe / 64] |= uint64_t(1) << stripe % 64;
  order[count++] = uint8_t(stripe);
}

void RaceChecker::Quads::release() {
  if (!count)
    return;
  ++releases;
  std::fill(std::begin(held), std::end(held), 0);
  while (count)
    checker.monitor.state().races->stripes[order[--count]].unlock();
}

GlobalRaces::Chunk *RaceChecker::find(uint64_t number) {
  Known &found = known[number % NumKnown];
  found = {number, monitor.state().races->chunk(number)};
  return found.chunk;
}

/// Whether an access is ordered behind an earlier one.
inline bool RaceChecker::isBehind(const Access &access,
                                  const Side &other) const {
  if (other.group != access.own().group)
    return learnt > other.tick;
  return lastSync > other.tick || other.wave == access.own().wave ||
         other.interval != interval;
}

/// A write of another work-group must have been over before this one last
/// synchronised, by an access before this one.
inline bool RaceChecker::conflictsWithWrite(const Access &access,
                                            const Last &write,
                                            uint16_t covered) const {
  if (!(write.bytes & covered))
    return false;
  const bool wasAtomic = write.flags & Side::Atomic;
  if (access.isAtomic && wasAtomic)
    return false;
  if (write.group == access.own().group)
    return !isBehind(access, write);
  const bool updates = access.isAtomic && access.kind != AccessKind::Load;
  const uint32_t known = updates ? syncBefore : learnt;
  return known <= write.tick ||
         (!wasAtomic && !monitor.state().races->isOver(write, known));
}

__attribute__((noinline)) bool
RaceChecker::updatesBehindPlain(const Access &access, const Entry &entry,
                                uint16_t covered) const {
  return (entry.plain.bytes & covered) &&
         conflictsWithWrite(access, entry.plain, covered);
}

inline bool RaceChecker::conflictsWithRead(const Access &access,
                                           const Entry &entry,
                                           uint16_t covered) const {
  if (!(entry.read.bytes & covered))
    return false;
  if (access.isAtomic)
    return updatesBehindRead(access, entry, covered);
  return !isBehind(access, entry.read) ||
         (entry.read.number && learnt <= entry.read.number);
}

/// Whether an atomic operation comes behind the last plain read with nothing to
/// order it: the operation itself is no reason why the reader should be done.
__attribute__((noinline)) bool
RaceChecker::updatesBehindRead(const Access &access, const Entry &entry,
                               uint16_t covered) const {
  const Side &read = entry.read, &write = entry.write;
  // Updates behind the read were looked at then.
  if ((write.flags & Side::Atomic) && write.tick > read.tick &&
      !(read.bytes & covered & ~write.bytes))
    return false;
  if (syncBefore <= read.tick)
    return read.group != access.own().group ||
           (read.wave != access.own().wave && read.interval == interval);
  return read.group != access.own().group &&
         monitor.state()
                 .races->lastRelease(read.group)
                 .load(std::memory_order_acquire) <= read.tick;
}

/// Notes an access, which then is the last one of all bytes that were accessed
/// so.
template <bool IsStore>
inline void RaceChecker::note(const Access &access, Last &last,
                              uint16_t covered) {
  const Side own = access.own();
  if (IsStore) {
    const uint16_t before = last.group == own.group ? last.bytes : uint16_t(0);
    static_cast<Side &>(last) = own;
    last.bytes = before | covered;
    last.instruction = access.inst.index;
    last.number = access.sequence;
    return;
  }
  if (access.isAtomic)
    return;               // synchronising reads race with nothing
  if (last.isLike(own)) { // the first of them stays
    last.bytes |= covered;
    return;
  }
  const uint16_t before = last.bytes;
  bool isShared = false;
  if (last.group == own.group)
    isShared = last.interval == own.interval && last.wave != own.wave;
  else if (last.group)
    last.number = last.tick;
  static_cast<Side &>(last) = own;
  last.bytes = before | covered;
  if (isShared)
    last.wave = Side::Several;
  last.instruction = access.inst.index;
}

template <bool IsStore>
inline void RaceChecker::note(const Access &access, Entry &entry,
                              uint16_t covered) {
  if (IsStore && !access.isAtomic) {
    entry.plain.bytes &= uint16_t(~covered);
    if (!entry.plain.bytes)
      entry.plain = Last();
  } else if (IsStore && entry.write.bytes &&
             !(entry.write.flags & Side::Atomic)) {
    entry.plain = entry.write;
  }
  note<IsStore>(access, lastOf<IsStore>(entry), covered);
}

/// Whether what a quad says of the last access then holds for all of its bytes
/// that were accessed so.
template <bool IsStore>
inline bool RaceChecker::staysOne(const Access &access, const Last &last,
                                  uint16_t covered) {
  if (IsStore)
    return !(last.bytes & ~covered) ||
           (last.number == access.sequence && last.isLike(access.own()));
  return access.isAtomic || !last.bytes ||
         (last.isLike(access.own()) ? last.instruction == access.inst.index ||
                                          !(covered & ~last.bytes)
                                    : last.bytes == covered);
}

template <bool IsStore>
inline bool RaceChecker::isFree(const Access &access, const Entry &entry,
                                uint16_t covered) const {
  return !conflictsWithWrite(access, entry.write, covered) &&
         !(IsStore && conflictsWithRead(access, entry, covered)) &&
         !(IsStore && access.isAtomic && entry.plain.group &&
           updatesBehindPlain(access, entry, covered));
}

/// The same access by the same wave as before, or the first one, of what nobody
/// accesses otherwise: most are. It stands by itself so that a loop over lanes
/// keeps it in registers.
template <bool IsStore> struct RaceChecker::Plain {
  using Quad = GlobalRaces::Quad;
  static constexpr unsigned BytesShift = 48; ///< in a side's second half
  Pair own;                                  ///< the access's side
  uint32_t instruction, sequence;

  explicit Plain(const Access &access)
      : Plain(access.side, access.inst.index, access.sequence) {}
  Plain(Pair own, uint32_t instruction, uint32_t sequence)
      : own(own), instruction(instruction), sequence(sequence) {}

  /// Makes a quad's writes those of this access, where they are as it would
  /// leave them but for that.
  NETRA_SIM_INLINE void renew(Quad &quad) const {
    quad.one.instruction = instruction;
    quad.one.number = sequence;
  }

  /// Notes it; false if more must be looked at.
  NETRA_SIM_INLINE bool take(Quad &quad, uint32_t covered) const {
    Side &side = quad.one;
    uint64_t known[2];
    std::memcpy(known, &side, sizeof(known));
    const uint32_t bytes = uint32_t(known[1] >> BytesShift);
    const bool isRepeated =
        known[0] == own[0] && !((known[1] ^ own[1]) << (64 - BytesShift));
    const uint32_t added = covered & ~bytes;
    if (!isRepeated && known[0])
      return false;
    if (IsStore) {
      if (bytes & ~covered)
        return false;
      renew(quad);
    } else if (added) {
      if (isRepeated && quad.one.instruction != instruction)
        return false;
      quad.one.instruction = instruction;
    }
    if (!added)
      return true;
    known[0] = own[0];
    known[1] = own[1] | uint64_t(bytes | covered) << BytesShift;
    std::memcpy(&side, known, sizeof(known));
    return true;
  }

  /// The same for whole quads in a row, for which it then has nothing to add.
  NETRA_SIM_INLINE bool takeAgain(Quad *quad, unsigned number) const {
    const Pair same = own | Pair{0, uint64_t(0xffff) << BytesShift};
    Pair differs = {};
    for (unsigned k = 0; k < number; ++k) {
      Pair known;
      std::memcpy(&known, &quad[k].one, sizeof(known));
      differs |= known ^ same;
      if (k == 0 && (differs[0] | differs[1])) // like the others, then
        return false;
    }
    if (differs[0] | differs[1])
      return false;
    for (unsigned k = 0; IsStore && k < number; ++k)
      renew(quad[k]);
    return true;
  }
};

/// The accesses of some lanes, which lie apart, where their wave has made them
/// before; false if they are others.
template <bool IsStore>
inline bool RaceChecker::touchAgain(const Plain<IsStore> &plain,
                                    const GlobalRuns &runs, unsigned first,
                                    Quads &quads) {
  const uint32_t whole = (1u << runs.bytes()) - 1;
  const uint64_t *const begins = runs.begins() + first, start = *begins;
  GlobalRaces::Chunk *const chunk = quads.chunkOf(start);
  const Pair own = plain.own;
  const unsigned releases = quads.numReleases();
  Pair differs = {};
  uint64_t elsewhere = 0;
  uint32_t others = 0;
  for (unsigned k = 0; k < RunsAtOnce; ++k) {
    const uint64_t at = begins[k];
    elsewhere |= at ^ start;
    quads.lock(at);
    const Last &last = chunk->quadAt(at).one;
    Pair known;
    std::memcpy(&known, &last, sizeof(known));
    differs |= known ^ own;
    const uint32_t covered = whole << at % 16;
    others |= IsStore ? covered ^ last.bytes : covered & ~uint32_t(last.bytes);
    if (k == 0 && (differs[0] | others))
      return false;
  }
  if (differs[0] | differs[1] << (64 - Plain<IsStore>::BytesShift) | others |
      elsewhere / GlobalRaces::ChunkBytes)
    return false;
  if (!IsStore)
    return true;
  if (quads.numReleases() != releases) // what was seen may have changed
    return false;
  for (unsigned k = 0; k < RunsAtOnce; ++k)
    plain.renew(chunk->quadAt(begins[k]));
  return true;
}

template <bool IsStore>
inline bool RaceChecker::touchAll(const Access &access, Entry &quad,
                                  uint16_t covered) const {
  if (!staysOne<IsStore>(access, lastOf<IsStore>(quad), covered) ||
      !isFree<IsStore>(access, quad, covered))
    return false;
  note<IsStore>(access, quad, covered);
  return true;
}

template <bool IsStore>
__attribute__((noinline)) bool
RaceChecker::touchOne(const Access &access, GlobalRaces::Quad &quad,
                      uint64_t at, unsigned bytes) const {
  const uint64_t place = at % 16;
  const uint32_t whole = (1u << bytes) - 1;
  const auto covered = uint16_t(whole << place);
  if (!quad.more) {
    Last &one = quad.one;
    const bool isWritten = one.flags & Side::Store;
    const bool isUpdated =
        IsStore && access.isAtomic && isWritten && !(one.flags & Side::Atomic);
    if (one.group && (isWritten != IsStore || isUpdated)) { // both then
      Entry all = quad.entry();
      if (!touchAll<IsStore>(access, all, covered))
        return false;
      monitor.state().races->set(quad, all);
      return true;
    }
    if (!staysOne<IsStore>(access, one, covered) ||
        (IsStore && conflictsWithWrite(access, one, covered)))
      return false;
    note<IsStore>(access, one, covered);
    return true;
  }
  if (!quad.more->words)
    return touchAll<IsStore>(access, quad.more->all, covered);
  Entry &entry = (*quad.more->words)[place / 4];
  const auto part = uint16_t(whole << place % 4);
  if (place % 4 + bytes > 4 || !isFree<IsStore>(access, entry, part))
    return false;
  note<IsStore>(access, entry, part);
  return true;
}

template <bool IsStore>
unsigned RaceChecker::touchApart(const Access &access, const GlobalRuns &runs,
                                 unsigned first, Quads &quads) {
  const unsigned number = runs.size(), bytes = runs.bytes();
  if (bytes > 16)
    return first;
  const Plain<IsStore> plain(access);
  const bool isPlain = IsStore || !access.isAtomic;
  const uint32_t whole = (1u << bytes) - 1;
  for (unsigned i = first, end; i < number; i = end) {
    end = std::min(number, i + RunsAtOnce);
    if (isPlain && end - i == RunsAtOnce && touchAgain(plain, runs, i, quads))
      continue;
    for (; i < end; ++i) {
      const uint64_t at = runs.start(i), place = at % 16;
      if (place + bytes > 16)
        return i;
      GlobalRaces::Quad &quad = *quads.at(at);
      if (!(isPlain && plain.take(quad, whole << place)) &&
          !touchOne<IsStore>(access, quad, at, bytes))
        return i;
    }
  }
  return number;
}

template <bool IsStore>
void RaceChecker::touchRun(Access &access, const AccessRun &run, Quads &quads) {
  constexpr unsigned several = 8;
  GlobalRaces &races = *monitor.state().races;
  const Plain<IsStore> plain(access);
  const bool isPlain = IsStore || !access.isAtomic;
  const uint64_t end = run.end();
  for (uint64_t at = run.begin, next; at < end; at = next) {
    GlobalRaces::Quad *quad = quads.at(at);
    if (isPlain && at % 16 == 0) {
      const uint64_t stop =
          std::min(end, (at | (GlobalRaces::StripeBytes - 1)) + 1);
      next = at;
      while (next + 16 <= stop) {
        const bool isLong = next + 16 * several <= stop;
        if (isLong && plain.takeAgain(quad, several)) {
          next += 16 * several;
          quad += several;
          continue;
        }
        const uint64_t until = isLong ? next + 16 * several : stop;
        while (next + 16 <= until && plain.take(*quad, 0xffff)) {
          next += 16;
          ++quad;
        }
        if (next + 16 <= until)
          break;
      }
      if (next != at)
        continue;
    }
    next = std::min(end, (at | 15) + 1);
    if (touchOne<IsStore>(access, *quad, at, unsigned(next - at)))
      continue;
    if (!quad->more || !quad->more->words)
      races.split(*quad);
    forEachWord(at, next, [&](uint64_t word, uint16_t part) {
      Entry &entry = (*quad->more->words)[word % 4];
      if (isFree<IsStore>(access, entry, part)) {
        note<IsStore>(access, entry, part);
        return;
      }
      forEachPart(run, word, [&](unsigned lane, uint16_t bytes) {
        if (conflictsWithWrite(access, entry.write, bytes))
          report(access, lane, entry.write, word);
        else if (IsStore && conflictsWithRead(access, entry, bytes))
          report(access, lane, entry.read, word);
        else if (IsStore && access.isAtomic &&
                 updatesBehindPlain(access, entry, bytes))
          report(access, lane, entry.plain, word);
        note<IsStore>(access, entry, bytes);
      });
    });
    if (next - at == 16)
      races.join(*quad);
  }
}

template <bool IsStore>
void RaceChecker::touchRuns(Access &access, const GlobalRuns &runs) {
  Quads quads(*this);
  for (unsigned i = 0; i < runs.size(); ++i) {
    if (runs.areApart()) {
      i = touchApart<IsStore>(access, runs, i, quads);
      if (i == runs.size())
        return;
    }
    touchRun<IsStore>(access, runs[i], quads);
  }
}

void RaceChecker::report(Access &access, unsigned lane, const Last &other,
                         uint64_t word) {
  if (access.isReported)
    return;
  access.isReported = true;
  const InstructionInfo &info =
      monitor.state().program->info[other.instruction];
  monitor.report(
      CheckRace, access.inst, access.w, access.isScalar ? -1 : int(lane),
      "global",
      formatv("{0} the 4 bytes at {1:x} ({2}), which {3} {4} by `{5}` (at "
              "{6:x}) with nothing to order the two",
              verbOf(access.kind), word * 4,
              monitor.state().memory->describe(word * 4, 4),
              other.group == access.own().group
                  ? "another wave"
                  : formatv("work-group {0}", other.group - 1).str(),
              other.flags & Side::Store ? "writes" : "reads", info.text,
              info.pc)
          .str(),
      word * 4);
}

inline RaceChecker::Pair RaceChecker::sideOf(unsigned wave,
                                             unsigned flags) const {
  // Put together without a detour over memory, which would have to wait for
  // each of the fields.
  static_assert(offsetof(Side, tick) == 4 && offsetof(Side, interval) == 8 &&
                offsetof(Side, wave) == 12 && offsetof(Side, flags) == 13 &&
                offsetof(Side, bytes) == 14);
  const uint32_t group = uint32_t(monitor.workgroup().linear) + 1,
                 tick = monitor.state().races->tick.load(
                     std::memory_order_relaxed);
  return Pair{group | uint64_t(tick) << 32,
              interval | uint64_t(wave) << 32 | uint64_t(flags) << 40};
}

inline RaceChecker::Access::Access(const RaceChecker &checker,
                                   const Instruction &inst, Wave &w,
                                   AccessKind kind, bool isScalar)
    : inst(inst), w(w), kind(kind), isScalar(isScalar) {
  const unsigned wave = w.context->index;
  sequence = checker.issued[wave][isScalar];
  // glc on a scalar access does not make it one that others synchronise with.
  isAtomic = kind == AccessKind::Atomic ||
             (!isScalar && (inst.sc1 || (inst.sc0 && !inst.nt)));
  unsigned flags = 0;
  if (kind != AccessKind::Load)
    flags = Side::Store | unsigned(isAtomic) * Side::Atomic |
            unsigned(isScalar) * Side::Scalar;
  side = checker.sideOf(wave, flags);
}

void RaceChecker::globalAccess(const Instruction &inst, Wave &w,
                               const GlobalRuns &runs, AccessKind kind) {
  Access access(*this, inst, w, kind, false);
  if (kind == AccessKind::Load)
    touchRuns<false>(access, runs);
  else
    touchRuns<true>(access, runs);
}

void RaceChecker::scalarAccess(const Instruction &inst, Wave &w,
                               uint64_t address, unsigned bytes,
                               AccessKind kind) {
  // Most read what their wave has read before.
  const bool isWhole =
      (address | bytes) % 16 == 0 &&
      address % GlobalRaces::StripeBytes + bytes <= GlobalRaces::StripeBytes;
  if (isAlone && isWhole && kind == AccessKind::Load) {
    const uint64_t number = address / GlobalRaces::ChunkBytes;
    const Known &at = known[number % NumKnown];
    if (at.number == number &&
        Plain<false>(sideOf(w.context->index, 0), inst.index, 0)
            .takeAgain(&at.chunk->quadAt(address), bytes / 16))
      return;
  }
  Access access(*this, inst, w, kind, true);
  const AccessRun run = {address, 0, 1, bytes};
  Quads quads(*this);
  if (kind == AccessKind::Load)
    touchRun<false>(access, run, quads);
  else
    touchRun<true>(access, run, quads);
}

} // namespace netra::sim
