//===- RaceChecker.cpp - Unordered accesses to one location --------------===//
// SPDX-License-Identifier: MIT

#include "RaceChecker.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

RaceChecker::RaceChecker(Monitor &monitor) : monitor(monitor) {
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
  const size_t quads = (size_t(monitor.state().ldsBytes) + 15) / 16;
  if (ldsQuads.size() != quads) {
    ldsQuads.assign(quads, LdsEntry());
    ldsWords.assign(4 * quads, LdsEntry());
  }
}

static const char *verb(AccessKind kind) {
  return kind == AccessKind::Load    ? "reads"
         : kind == AccessKind::Store ? "writes"
                                     : "updates";
}

void GlobalRaces::publish(uint32_t group, uint32_t tick,
                          const Published &published) {
  std::lock_guard<std::mutex> lock(releaseMutex);
  releases[group].push_back({tick, published});
}

void GlobalRaces::Quad::split() {
  words = std::make_unique<std::array<Entry, 4>>();
  for (unsigned k = 0; k < 4; ++k) {
    Entry &word = (*words)[k];
    word = all;
    word.readBytes = all.readBytes >> (4 * k) & 0xf;
    word.writeBytes = all.writeBytes >> (4 * k) & 0xf;
    if (!word.readBytes) {
      word.readGroup = 0;
      word.manyReadGroups = false;
    }
    if (!word.writeBytes) {
      word.writeGroup = 0;
      word.isAtomicWrite = false;
    }
  }
}

void GlobalRaces::Quad::join() {
  const Entry &first = words->front();
  auto isAllOrNone = [](uint16_t bytes) { return !bytes || bytes == 0xf; };
  if (!isAllOrNone(first.readBytes) || !isAllOrNone(first.writeBytes) ||
      std::count(words->begin(), words->end(), first) != 4)
    return;
  all = first;
  all.readBytes *= 0x1111;
  all.writeBytes *= 0x1111;
  words.reset();
}

bool GlobalRaces::isOver(const Entry &entry, uint32_t tick) {
  std::lock_guard<std::mutex> lock(releaseMutex);
  const std::vector<Release> &all = releases[entry.writeGroup];
  // Each publishes what those before it did.
  auto next =
      std::partition_point(all.begin(), all.end(), [&](const Release &release) {
        return release.tick < tick;
      });
  if (next == all.begin())
    return false;
  const Published &known = std::prev(next)->published;
  return known.done[entry.writeWave][entry.isScalarWrite] >=
             entry.writeSequence ||
         (!entry.isScalarWrite && known.interval > entry.writeInterval);
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

/// Bits of the bytes from an address to another in the \p unit bytes, a power
/// of two, that hold them.
static uint16_t bytesIn(unsigned unit, uint64_t from, uint64_t to) {
  return uint16_t(((1u << (to - from)) - 1) << (from & (unit - 1)));
}

/// Calls function(address / 4, which of its four bytes) for the words from an
/// address to another.
template <typename Function>
static void forEachWord(uint64_t from, uint64_t to, Function &&function) {
  while (from < to) {
    const uint64_t word = from / 4, next = std::min(to, (word + 1) * 4);
    function(word, bytesIn(4, from, next));
    from = next;
  }
}

/// Whether an access to these bytes of a quad leaves its words alike.
template <typename Entry>
static bool isWhole(const Entry &quad, uint16_t covered) {
  return covered == 0xffff && (!quad.readBytes || quad.readBytes == 0xffff) &&
         (!quad.writeBytes || quad.writeBytes == 0xffff);
}

void RaceChecker::splitQuad(LdsEntry &quad, LdsEntry *words) {
  for (unsigned k = 0; k < 4; ++k) {
    LdsEntry &word = words[k];
    word = quad;
    word.readBytes = quad.readBytes >> (4 * k) & 0xf;
    word.writeBytes = quad.writeBytes >> (4 * k) & 0xf;
    if (!word.readBytes)
      word.readers = 0;
    if (!word.writeBytes) {
      word.writer = None;
      word.isAtomic = false;
      word.updaters = 0;
    }
  }
  quad.isSplit = true;
}

void RaceChecker::ldsWord(const Instruction &inst, Wave &w,
                          const AccessRun &run, LdsEntry &entry, uint64_t word,
                          uint16_t covered, AccessKind kind, bool &isReported) {
  const uint8_t self = uint8_t(w.context->index);
  const uint16_t me = uint16_t(1u << self), others = uint16_t(~me);
  const bool isAtomic = kind == AccessKind::Atomic;
  // An update by another wave may be followed by one of this wave's.
  const bool writerConflict =
      (entry.writeBytes & covered) &&
      ((entry.writer < Several && entry.writer != self &&
        !(isAtomic && entry.isAtomic)) ||
       (entry.writer == self && !isAtomic && entry.isAtomic &&
        (entry.updaters & others)));
  const bool readerConflict = kind != AccessKind::Load &&
                              (entry.readers & others) &&
                              (entry.readBytes & covered);
  if ((writerConflict || readerConflict) && !isReported) {
    isReported = true;
    const InstructionInfo &other =
        monitor.state().program->info[entry.instruction];
    const unsigned otherWave =
        !writerConflict ? unsigned(__builtin_ctz(entry.readers & others))
        : entry.writer != self
            ? entry.writer
            : unsigned(__builtin_ctz(entry.updaters & others));
    monitor.report(
        CheckRace, inst, w, int(run.laneOf(word)), "lds",
        formatv("wave {0} {1} LDS bytes {2} to {3}, which wave {4} {5} in "
                "the same barrier interval by `{6}` (at {7:x})",
                self, verb(kind), word * 4, word * 4 + 3, otherWave,
                writerConflict ? "writes" : "reads", other.text, other.pc)
            .str(),
        word * 4);
  }
  if (kind == AccessKind::Load) {
    entry.readers |= me;
    entry.readBytes |= covered;
    if (entry.writer == None)
      entry.instruction = inst.index;
    return;
  }
  const bool isTogether = isAtomic && entry.isAtomic;
  entry.isAtomic = isAtomic && (entry.writer == None || entry.isAtomic);
  entry.writer = entry.writer == None || isTogether ||
                         (entry.writer == self && !writerConflict)
                     ? self
                     : Several;
  if (isAtomic)
    entry.updaters |= me;
  entry.writeBytes |= covered;
  entry.instruction = inst.index;
}

void RaceChecker::ldsAccess(const Instruction &inst, Wave &w,
                            const uint32_t *address, uint64_t mask,
                            unsigned bytes, AccessKind kind) {
  const uint8_t self = uint8_t(w.context->index);
  const uint16_t me = uint16_t(1u << self), others = uint16_t(~me);
  bool isReported = false;
  // Most bytes are touched by one wave between two barriers, or read by all and
  // written by none.
  auto isOwn = [&](const LdsEntry &entry) {
    return !(entry.readers & others) &&
           (entry.writer == None || (entry.writer == self && !entry.isAtomic));
  };
  auto isRepeated = [&](const LdsEntry &quad) {
    if (quad.interval != interval || quad.isSplit)
      return false;
    const bool isSelf = quad.writer == self && !quad.isAtomic;
    return kind == AccessKind::Load
               ? (quad.readers & me) && quad.readBytes == 0xffff &&
                     (isSelf ? quad.writeBytes == 0xffff : quad.writer == None)
               : isSelf && quad.writeBytes == 0xffff &&
                     !(quad.readers & others) &&
                     (!quad.readBytes || quad.readBytes == 0xffff);
  };
  auto touch = [&](const AccessRun &run, LdsEntry &entry, uint64_t word,
                   uint16_t covered) {
    if (kind == AccessKind::Load &&
        (entry.writer == None || (entry.writer == self && !entry.isAtomic))) {
      entry.readers |= me;
      entry.readBytes |= covered;
      if (entry.writer == None)
        entry.instruction = inst.index;
    } else if (kind == AccessKind::Store && isOwn(entry)) {
      entry.writer = self;
      entry.writeBytes |= covered;
      entry.instruction = inst.index;
    } else
      ldsWord(inst, w, run, entry, word, covered, kind, isReported);
  };
  forEachRun(address, mask, bytes, [&](const AccessRun &run) {
    const uint64_t end = run.end();
    for (uint64_t at = run.begin, next; at < end; at = next) {
      next = std::min(end, (at | 15) + 1);
      // What this wave has already accessed as it does now is the same again.
      if (next - at == 16 && kind != AccessKind::Atomic) {
        const uint64_t from = at;
        for (LdsEntry *entry = &ldsQuads[at / 16];
             at + 16 <= end && isRepeated(*entry); ++entry, at += 16)
          if (kind == AccessKind::Store || entry->writer == None)
            entry->instruction = inst.index;
        if (at != from) {
          next = at;
          continue;
        }
      }
      LdsEntry &quad = ldsQuads[at / 16];
      if (quad.interval != interval) {
        quad = LdsEntry();
        quad.interval = interval;
      }
      LdsEntry *words = &ldsWords[at / 16 * 4];
      if (!quad.isSplit) {
        const uint16_t covered = bytesIn(16, at, next);
        if (isWhole(quad, covered) ||
            (kind != AccessKind::Atomic && isOwn(quad) &&
             (quad.instruction == inst.index ||
              !((quad.readBytes | quad.writeBytes) & ~covered)))) {
          touch(run, quad, at / 4, covered);
          continue;
        }
        splitQuad(quad, words);
      }
      forEachWord(at, next, [&](uint64_t word, uint16_t covered) {
        touch(run, words[word % 4], word, covered);
      });
    }
  });
}

void RaceChecker::globalWord(const Instruction &inst, Wave &w,
                             const AccessRun &run, GlobalRaces::Entry &entry,
                             uint64_t word, uint16_t bytes, AccessKind kind,
                             bool &isReported) {
  const uint32_t group = uint32_t(monitor.workgroup().linear) + 1;
  const uint8_t self = uint8_t(w.context->index);
  const bool isScalar = monitor.state().program->info[inst.index].cls ==
                        InstructionClass::ScalarMemory;
  // glc on a scalar access does not make it one that others synchronise with.
  const bool isAtomic = kind == AccessKind::Atomic ||
                        (!isScalar && (inst.sc1 || (inst.sc0 && !inst.nt)));
  const uint32_t now =
      monitor.state().races->tick.load(std::memory_order_relaxed);
  // Ordered after the other access? A write of another work-group is when it
  // was over before this one last synchronised.
  auto conflicts = [&](uint32_t otherGroup, uint32_t tick,
                       uint32_t otherInterval, uint8_t wave) {
    if (!otherGroup)
      return false;
    if (otherGroup != group)
      return lastSync <= tick;
    return wave != self && otherInterval == interval && lastSync <= tick;
  };
  bool conflict = false, withWrite = false;
  if (entry.writeBytes & bytes && !(isAtomic && entry.isAtomicWrite) &&
      (conflicts(entry.writeGroup, entry.writeTick, entry.writeInterval,
                 entry.writeWave) ||
       (entry.writeGroup && entry.writeGroup != group && !entry.isAtomicWrite &&
        !monitor.state().races->isOver(entry, lastSync))))
    conflict = withWrite = true;
  else if (kind != AccessKind::Load && (entry.readBytes & bytes) && !isAtomic &&
           (conflicts(entry.readGroup, entry.readTick, entry.readInterval,
                      entry.readWave) ||
            (entry.manyReadGroups && lastSync <= entry.otherReadTick)))
    conflict = true;
  if (conflict && !isReported) {
    isReported = true;
    const InstructionInfo &other =
        monitor.state().program->info[withWrite ? entry.writeInstruction
                                                : entry.readInstruction];
    const uint32_t otherGroup =
        (withWrite ? entry.writeGroup : entry.readGroup) - 1;
    monitor.report(
        CheckRace, inst, w, isScalar ? -1 : int(run.laneOf(word)), "global",
        formatv("{0} the 4 bytes at {1:x} ({2}), which {3} {4} by `{5}` (at "
                "{6:x}) with nothing to order the two",
                verb(kind), word * 4,
                monitor.state().memory->describe(word * 4, 4),
                otherGroup + 1 == group
                    ? "another wave"
                    : formatv("work-group {0}", otherGroup).str(),
                withWrite ? "writes" : "reads", other.text, other.pc)
            .str(),
        word * 4);
  }
  if (kind == AccessKind::Load) {
    if (isAtomic)
      return; // synchronising reads race with nothing
    if (entry.readGroup && entry.readGroup != group) {
      entry.manyReadGroups = true;
      entry.otherReadTick = entry.readTick;
    }
    entry.readWave = entry.readGroup == group &&
                             entry.readInterval == interval &&
                             entry.readWave != self
                         ? 255
                         : self;
    entry.readGroup = group;
    entry.readTick = now;
    entry.readInterval = interval;
    entry.readInstruction = inst.index;
    entry.readBytes |= bytes;
  } else {
    entry.writeBytes =
        uint16_t(entry.writeGroup == group ? entry.writeBytes | bytes : bytes);
    entry.writeGroup = group;
    entry.writeTick = now;
    entry.writeInterval = interval;
    entry.writeInstruction = inst.index;
    entry.writeWave = self;
    entry.writeSequence = issued[self][isScalar];
    entry.isScalarWrite = isScalar;
    entry.isAtomicWrite = isAtomic;
  }
}

void RaceChecker::globalAccess(const Instruction &inst, Wave &w,
                               const uint64_t *address, uint64_t mask,
                               unsigned bytes, AccessKind kind) {
  GlobalRaces &races = *monitor.state().races;
  const uint32_t group = uint32_t(monitor.workgroup().linear) + 1;
  const uint8_t self = uint8_t(w.context->index);
  const uint32_t now = races.tick.load(std::memory_order_relaxed);
  const bool isScalar = monitor.state().program->info[inst.index].cls ==
                        InstructionClass::ScalarMemory;
  const uint32_t sequence = issued[self][isScalar];
  const bool isPlainLoad = kind == AccessKind::Load && !inst.sc0 && !inst.sc1;
  const bool isPlainStore = kind == AccessKind::Store && !inst.sc0 && !inst.sc1;
  bool isReported = false;
  std::unique_lock<std::mutex> lock;
  uint64_t chunkNumber = ~uint64_t(0);
  GlobalRaces::Chunk *chunk = nullptr;
  // Most accesses are loads of what nobody writes in this launch,
  auto isOwnLoad = [&](const GlobalRaces::Entry &entry) {
    return isPlainLoad && !entry.writeGroup && entry.readGroup == group &&
           entry.readInterval == interval && entry.readWave == self &&
           entry.readTick == now;
  };
  // or stores to what only this wave has touched since the last barrier.
  auto isOwnStore = [&](const GlobalRaces::Entry &entry) {
    return isPlainStore && entry.writeGroup == group &&
           entry.writeWave == self && entry.writeInterval == interval &&
           entry.writeTick == now && !entry.isAtomicWrite &&
           entry.isScalarWrite == isScalar && !entry.readGroup;
  };
  auto isRepeated = [&](const GlobalRaces::Entry &quad) {
    return isPlainLoad ? isOwnLoad(quad) && quad.readBytes == 0xffff
                       : isOwnStore(quad) && quad.writeBytes == 0xffff;
  };
  auto touch = [&](const AccessRun &run, GlobalRaces::Entry &entry,
                   uint64_t word, uint16_t covered) {
    if (isOwnLoad(entry)) {
      entry.readBytes |= covered;
    } else if (isOwnStore(entry)) {
      entry.writeBytes |= covered;
      entry.writeInstruction = inst.index;
    } else
      globalWord(inst, w, run, entry, word, covered, kind, isReported);
  };
  // What an entry says of the last access must hold for all of its bytes.
  auto staysOne = [&](const GlobalRaces::Entry &quad, uint16_t covered) {
    if (isWhole(quad, covered))
      return true;
    if (!quad.readGroup && !quad.writeGroup)
      return isPlainLoad || isPlainStore;
    if (isOwnLoad(quad))
      return quad.readInstruction == inst.index || !(covered & ~quad.readBytes);
    return isOwnStore(quad) && (quad.writeSequence == sequence ||
                                (!(covered & ~quad.writeBytes) &&
                                 (quad.writeInstruction == inst.index ||
                                  !(quad.writeBytes & ~covered))));
  };
  forEachRun(address, mask, bytes, [&](const AccessRun &run) {
    const uint64_t end = run.end();
    for (uint64_t at = run.begin, next; at < end; at = next) {
      next = std::min(end, (at | 15) + 1);
      const uint64_t number = at / GlobalRaces::ChunkBytes;
      if (number != chunkNumber) {
        if (lock)
          lock.unlock();
        GlobalRaces::Stripe &stripe = races.stripes[number % 256];
        lock = std::unique_lock<std::mutex>(stripe.mutex);
        auto &slot = stripe.chunks[number];
        if (!slot)
          slot = std::make_unique<GlobalRaces::Chunk>();
        chunk = slot.get();
        chunkNumber = number;
      }
      // What this wave has already accessed as it does now is the same again.
      if (next - at == 16 && (isPlainLoad || isPlainStore)) {
        const uint64_t from = at,
                       stop = std::min(end - 15,
                                       (number + 1) * GlobalRaces::ChunkBytes);
        for (GlobalRaces::Quad *repeated =
                 &chunk->quads[at % GlobalRaces::ChunkBytes / 16];
             at < stop && !repeated->words && isRepeated(repeated->all);
             ++repeated, at += 16)
          if (isPlainStore)
            repeated->all.writeInstruction = inst.index;
        if (at != from) {
          next = at;
          continue;
        }
      }
      GlobalRaces::Quad &quad = chunk->quads[at % GlobalRaces::ChunkBytes / 16];
      const uint16_t covered = bytesIn(16, at, next);
      if (!quad.words) {
        if (isOwnLoad(quad.all) && quad.all.readInstruction == inst.index) {
          quad.all.readBytes |= covered;
          continue;
        }
        if (staysOne(quad.all, covered)) {
          touch(run, quad.all, at / 4, covered);
          continue;
        }
        quad.split();
      }
      std::array<GlobalRaces::Entry, 4> &words = *quad.words;
      forEachWord(at, next, [&](uint64_t word, uint16_t part) {
        touch(run, words[word % 4], word, part);
      });
      if (covered == 0xffff)
        quad.join();
    }
  });
}

void RaceChecker::scalarAccess(const Instruction &inst, Wave &w,
                               uint64_t address, unsigned bytes,
                               AccessKind kind) {
  globalAccess(inst, w, &address, 1, bytes, kind);
}

} // namespace netra::sim
