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
  progress.assign(monitor.workgroup().waves.size(), Progress());
  hasPendingWrites = false;
  const size_t words = (monitor.state().ldsBytes + 3) / 4;
  if (lds.size() != words)
    lds.assign(words, LdsEntry());
}

static const char *verb(AccessKind kind) {
  return kind == AccessKind::Load    ? "reads"
         : kind == AccessKind::Store ? "writes"
                                     : "updates";
}

void GlobalRaces::complete(uint32_t group, const Completion &completion) {
  std::lock_guard<std::mutex> lock(completionMutex);
  completions[group].push_back(completion);
}

bool GlobalRaces::isOver(const Entry &entry, uint32_t tick) {
  std::lock_guard<std::mutex> lock(completionMutex);
  for (const Completion &c : completions[entry.writeGroup]) {
    if (c.tick >= tick)
      return false;
    if (c.wave == entry.writeWave
            ? c.sequence >= entry.writeSequence
            : c.isOfAll && c.interval > entry.writeInterval)
      return true;
  }
  return false;
}

void RaceChecker::before(const Instruction &inst, const InstructionInfo &info,
                         Wave &w) {
  if (info.cls == InstructionClass::Message) {
    if (!hasPendingWrites || !StringRef(info.text).starts_with("s_waitcnt"))
      return;
    const unsigned raw = unsigned(inst.imm) & 0xffff,
                   vm = (raw & 0xf) | (raw >> 14 & 3) << 4;
    Progress &own = progress[w.context->index];
    if (vm == 63 || own.issued <= vm ||
        (own.done == own.issued - vm && own.doneInterval == interval))
      return;
    own.done = own.issued - vm;
    own.doneInterval = interval;
    monitor.state().races->complete(uint32_t(monitor.workgroup().linear) + 1,
                                    {own.done, interval,
                                     monitor.state().races->tick.load(),
                                     uint8_t(w.context->index), vm == 0});
    return;
  }
  const bool isMemory = info.cls == InstructionClass::VectorMemory ||
                        info.cls == InstructionClass::Flat;
  if (isMemory && (info.isLoad || info.isStore || info.isAtomic)) {
    ++progress[w.context->index].issued;
    hasPendingWrites |= info.isStore || info.isAtomic;
  }
  if ((isMemory && (info.isAtomic || inst.sc0 || inst.sc1)) ||
      isCacheControl[info.mnemonicId])
    lastSync = monitor.state().races->tick.fetch_add(1) + 1;
}

/// Which of the 4 bytes of a word an access covers.
/// Which of the four bytes of a word an access touches.
static uint8_t bytesOfWord(uint64_t address, unsigned bytes, uint64_t word) {
  if (address % 4 == 0 && bytes % 4 == 0)
    return 0xf;
  const uint64_t begin = std::max(address, word * 4),
                 end = std::min(address + bytes, word * 4 + 4);
  return uint8_t(((1u << (end - begin)) - 1) << (begin - word * 4));
}

void RaceChecker::ldsAccess(const Instruction &inst, Wave &w,
                            const uint32_t *address, uint64_t mask,
                            unsigned bytes, AccessKind kind) {
  const uint8_t self = uint8_t(w.context->index);
  const uint16_t others = uint16_t(~(1u << self));
  const bool isAtomic = kind == AccessKind::Atomic;
  bool isReported = false;
  for (; mask; mask &= mask - 1) {
    const unsigned l = unsigned(__builtin_ctzll(mask));
    const uint32_t first = address[l] / 4, last = (address[l] + bytes - 1) / 4;
    for (uint32_t word = first; word <= last && word < lds.size(); ++word) {
      const uint8_t covered = bytesOfWord(address[l], bytes, word) & 0xf;
      LdsEntry &entry = lds[word];
      if (entry.interval != interval) {
        entry = LdsEntry();
        entry.interval = interval;
      }
      // Most words are touched by one wave between two barriers.
      const bool isAlone =
          !isAtomic && !(entry.readers & others) &&
          (entry.writer == None || (entry.writer == self && !entry.isAtomic));
      const bool writerConflict =
          entry.writer < Several && entry.writer != self &&
          (entry.writeBytes & covered) && !(isAtomic && entry.isAtomic);
      const bool readerConflict = kind != AccessKind::Load &&
                                  (entry.readers & ~(1u << self)) &&
                                  (entry.readBytes & covered);
      if (!isAlone && (writerConflict || readerConflict) && !isReported) {
        isReported = true;
        const InstructionInfo &other =
            monitor.state().program->info[entry.instruction];
        const unsigned otherWave =
            writerConflict
                ? entry.writer
                : unsigned(__builtin_ctz(entry.readers & ~(1u << self)));
        monitor.report(
            CheckRace, inst, w, int(l), "lds",
            formatv("wave {0} {1} LDS bytes {2} to {3}, which wave {4} {5} in "
                    "the same barrier interval by `{6}` (at {7:x})",
                    self, verb(kind), word * 4, word * 4 + 3, otherWave,
                    writerConflict ? "writes" : "reads", other.text, other.pc)
                .str(),
            word * 4);
      }
      if (kind == AccessKind::Load) {
        entry.readers |= uint16_t(1u << self);
        entry.readBytes |= covered;
        if (entry.writer == None)
          entry.instruction = inst.index;
      } else {
        entry.isAtomic = isAtomic && (entry.writer == None || entry.isAtomic);
        entry.writer = entry.writer == None || entry.writer == self ||
                               (isAtomic && entry.isAtomic)
                           ? self
                           : Several;
        entry.writeBytes |= covered;
        entry.instruction = inst.index;
      }
    }
  }
}

void RaceChecker::globalWord(const Instruction &inst, Wave &w, unsigned lane,
                             GlobalRaces::Entry &entry, uint64_t word,
                             uint8_t bytes, AccessKind kind, bool &isReported) {
  const uint32_t group = uint32_t(monitor.workgroup().linear) + 1;
  const uint8_t self = uint8_t(w.context->index);
  const bool isAtomic =
      kind == AccessKind::Atomic || inst.sc1 || (inst.sc0 && !inst.nt);
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
        CheckRace, inst, w, int(lane), "global",
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
        uint8_t(entry.writeGroup == group ? entry.writeBytes | bytes : bytes);
    entry.writeGroup = group;
    entry.writeTick = now;
    entry.writeInterval = interval;
    entry.writeInstruction = inst.index;
    entry.writeWave = self;
    entry.writeSequence = progress[self].issued;
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
  const bool isPlainLoad = kind == AccessKind::Load && !inst.sc0 && !inst.sc1;
  const bool isPlainStore = kind == AccessKind::Store && !inst.sc0 && !inst.sc1;
  bool isReported = false;
  std::unique_lock<std::mutex> lock;
  uint64_t chunkNumber = ~uint64_t(0);
  GlobalRaces::Chunk *chunk = nullptr;
  for (; mask; mask &= mask - 1) {
    const unsigned l = unsigned(__builtin_ctzll(mask));
    const uint64_t first = address[l] / 4, last = (address[l] + bytes - 1) / 4;
    for (uint64_t word = first; word <= last; ++word) {
      const uint64_t number = word * 4 / GlobalRaces::ChunkBytes;
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
      GlobalRaces::Entry &entry =
          chunk->entries[word % (GlobalRaces::ChunkBytes / 4)];
      const uint8_t covered = bytesOfWord(address[l], bytes, word) & 0xf;
      // Most accesses are loads of what nobody writes in this launch.
      if (isPlainLoad && !entry.writeGroup && entry.readGroup == group &&
          entry.readInterval == interval && entry.readWave == self &&
          entry.readTick == now) {
        entry.readBytes |= covered;
        continue;
      }
      // Or stores to what only this wave has touched since the last barrier.
      if (isPlainStore && entry.writeGroup == group &&
          entry.writeWave == self && entry.writeInterval == interval &&
          entry.writeTick == now && !entry.isAtomicWrite && !entry.readGroup) {
        entry.writeBytes |= covered;
        entry.writeInstruction = inst.index;
        continue;
      }
      globalWord(inst, w, l, entry, word, covered, kind, isReported);
    }
  }
}

} // namespace netra::sim
