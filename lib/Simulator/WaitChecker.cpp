//===- WaitChecker.cpp - Results used before they were waited for --------===//
// SPDX-License-Identifier: MIT

#include "WaitChecker.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstddef>
#include <cstring>

using namespace llvm;

namespace netra::sim {

WaitChecker::WaitChecker(Monitor &monitor) : monitor(monitor) {
  for (const InstructionInfo &info : monitor.state().program->info)
    keepsVectorLoads |= info.cls == InstructionClass::ScalarMemory &&
                        (info.isStore || info.isAtomic);
}

void WaitChecker::startGroup() {
  waves.assign(monitor.workgroup().waves.size(), WaveState());
  memory.resize(waves.size());
  for (WaveMemory &each : memory)
    each.clear();
  vectorUsers = scalarUsers = scalarWriters = 0;
  interval = 0;
  if (ldsUsed || lds.empty())
    lds.assign((monitor.state().ldsBytes + 3) / 4, 0);
  ldsUsed = false;
  ldsWrites.clear();
  firstLdsWrite = 1;
}

void WaitChecker::barrierReleased() {
  ++interval;
  for (WaveState &state : waves) {
    state.vectorBefore = state.vectorIssued;
    state.ldsBefore = state.ldsIssued;
  }
}

bool WaitChecker::isDone(const WaveState &state, Queue queue,
                         uint64_t sequence) const {
  switch (queue) {
  case Queue::None:
    return true;
  case Queue::Vector:
    return sequence <= state.vectorDone;
  case Queue::Lds:
    return sequence <= state.ldsDone;
  case Queue::Scalar:
  case Queue::ScalarData:
    return sequence <= state.scalarDone;
  case Queue::Flat:
    return false; // the caller looks at both counters
  }
  return true;
}

bool WaitChecker::isDone(const WaveState &state, const Event &p) const {
  if (p.queue != Queue::Flat)
    return isDone(state, p.queue, p.sequence);
  return (!p.needsVm || p.sequence <= state.flatVmDone) &&
         (!p.needsLgkm || p.sequence <= state.flatLgkmDone);
}

/// The greatest value of a counter's field stands for no wait in assemblers'
/// and compilers' eyes, so that it is not given as advice.
std::string WaitChecker::remedy(const WaveState &state, const Event &p,
                                bool beforeBarrier) const {
  const uint64_t vector =
                     beforeBarrier ? state.vectorBefore : state.vectorIssued,
                 lds = beforeBarrier ? state.ldsBefore : state.ldsIssued;
  switch (p.queue) {
  case Queue::Vector:
    return formatv("s_waitcnt vmcnt({0})",
                   std::min<uint64_t>(vector - p.sequence, 62));
  case Queue::Lds:
    return formatv("s_waitcnt lgkmcnt({0})",
                   std::min<uint64_t>(lds - p.sequence, 14));
  case Queue::Scalar:
  case Queue::ScalarData:
    return "s_waitcnt lgkmcnt(0)";
  default:
    return std::string("s_waitcnt") + (p.needsVm ? " vmcnt(0)" : "") +
           (p.needsLgkm ? " lgkmcnt(0)" : "");
  }
}

std::string WaitChecker::advice(unsigned owner, unsigned self, const Event &p,
                                uint32_t issuedIn) const {
  if (owner == self)
    return remedy(waves[owner], p) + " before this instruction would suffice";
  if (issuedIn != interval)
    return remedy(waves[owner], p, true) +
           " in that wave before the barrier would suffice";
  return remedy(waves[owner], p) +
         " in that wave and a barrier behind it would suffice; there is no "
         "barrier between the two";
}

void WaitChecker::use(const Instruction &inst, const InstructionInfo &info,
                      Wave &w, WaveState &state, const RegisterRange &range,
                      bool isWrite) {
  const bool isVector = range.file == RegisterFile::Vector;
  if (range.file == RegisterFile::Scc)
    return;
  const unsigned limit =
      isVector ? NumVectorRows : unsigned(NumScalarRegisters);
  for (unsigned k = 0; k < range.count && range.first + k < limit; ++k) {
    if (!state.isOutstanding(range.file, range.first + k))
      continue;
    const Event p = isVector ? state.rows[range.first + k].event
                             : state.scalars[range.first + k];
    if (isDone(state, p)) {
      state.drop(range.file, range.first + k);
      continue;
    }
    if (p.queue == Queue::ScalarData && !isWrite)
      continue;
    if (isVector) {
      // Lanes that the load does not deliver are not affected by it.
      const uint64_t lanes = info.readsAllLanes ? w.allLanes() : w.activeMask();
      if (!(lanes & state.rows[range.first + k].lanes))
        continue;
      // Loads of one in-order queue may follow each other into a register.
      if ((isWrite || range.isTied) && p.queue != Queue::Flat &&
          ((p.queue == Queue::Vector &&
            info.cls == InstructionClass::VectorMemory) ||
           (p.queue == Queue::Lds && info.cls == InstructionClass::Lds)))
        continue;
    }
    const InstructionInfo &load = monitor.state().program->info[p.instruction];
    const uint64_t hit =
        isVector ? w.activeMask() & state.rows[range.first + k].lanes : 0;
    monitor.report(
        CheckWait, inst, w, hit ? int(__builtin_ctzll(hit)) : -1,
        isWrite ? "write" : "read",
        formatv("{0} is {1} while `{2}` (at {3:x}) that {4} it is "
                "outstanding; {5} before this instruction would suffice",
                registerName(range.file, range.first + k),
                isWrite ? "overwritten" : "read", load.text, load.pc,
                p.queue == Queue::ScalarData ? "stores" : "delivers",
                remedy(state, p))
            .str());
    // One report per load and register.
    state.drop(range.file, range.first + k);
  }
}

bool WaitChecker::isOutstanding(const WaveState &state,
                                const RegisterRange &range) {
  if (range.file == RegisterFile::Scc)
    return false;
  const unsigned limit = range.file == RegisterFile::Vector
                             ? NumVectorRows
                             : unsigned(NumScalarRegisters);
  const unsigned end = std::min(range.first + range.count + 0u, limit);
  for (unsigned index = range.first; index < end; ++index)
    if (state.isOutstanding(range.file, index))
      return true;
  return false;
}

void WaitChecker::check(const Instruction &inst, Wave &w, WaveState &state) {
  const InstructionInfo &info = monitor.state().program->info[inst.index];
  for (const RegisterRange &range : info.reads)
    if (isOutstanding(state, range))
      use(inst, info, w, state, range, false);
  for (const RegisterRange &range : info.writes)
    if (isOutstanding(state, range))
      use(inst, info, w, state, range, true);
}

void WaitChecker::dropDone(WaveState &state) {
  state.hasOutstanding = false;
  // Most waits are for all that is outstanding.
  if (state.isIdle()) {
    std::fill(std::begin(state.outstanding), std::end(state.outstanding), 0);
    return;
  }
  for (unsigned word = 0; word < std::size(state.outstanding); ++word)
    for (uint64_t rest = state.outstanding[word]; rest; rest &= rest - 1) {
      const unsigned at = 64 * word + unsigned(__builtin_ctzll(rest));
      const bool isVector = at < NumVectorRows;
      const unsigned index = isVector ? at : at - NumVectorRows;
      if (isDone(state,
                 isVector ? state.rows[index].event : state.scalars[index]))
        state.drop(isVector ? RegisterFile::Vector : RegisterFile::Scalar,
                   index);
      else
        state.hasOutstanding = true;
    }
}

void WaitChecker::flatTouches(Wave &w, bool isLds) {
  WaveState &state = waves[w.context->index];
  (isLds ? state.flatLds : state.flatMemory) = true;
}

void WaitChecker::waited(const Instruction &inst, WaveState &state) {
  const unsigned raw = unsigned(inst.imm) & 0xffff;
  const unsigned vm = (raw & 0xf) | (raw >> 14 & 3) << 4, lgkm = raw >> 8 & 0xf;
  // The counters hold no more than their fields' greatest values, which are
  // waits for what came before that many.
  if (state.vectorIssued > vm)
    state.vectorDone = std::max(state.vectorDone, state.vectorIssued - vm);
  if (vm == 0)
    state.flatVmDone = state.flatIssued;
  if (state.ldsIssued > lgkm)
    state.ldsDone = std::max(state.ldsDone, state.ldsIssued - lgkm);
  if (lgkm == 0) {
    state.scalarDone = state.scalarIssued;
    state.flatLgkmDone = state.flatIssued;
  }
  if (state.hasOutstanding)
    dropDone(state);
}

void WaitChecker::put(const Instruction &inst, const Footprint &footprint,
                      const Event &event, uint64_t lanes,
                      WaveState &state) const {
  state.hasOutstanding = true;
  if (footprint.isWide) {
    const InstructionInfo &info = monitor.state().program->info[inst.index];
    for (const RegisterRange &range : info.writes)
      for (unsigned k = 0; range.file == RegisterFile::Vector &&
                           k < range.count && range.first + k < NumVectorRows;
           ++k)
        state.putRow(range.first + k, {event, lanes});
  } else {
    for (unsigned k = 0; k < footprint.numWrites; ++k)
      state.putRow(footprint.writes[k], {event, lanes});
  }
  // Put together without a detour over memory, which would have to wait for
  // each of the fields; on a little-endian host.
  typedef uint64_t Words __attribute__((vector_size(sizeof(Event))));
  static_assert(
      offsetof(Event, sequence) == 0 && offsetof(Event, instruction) == 8 &&
      offsetof(Event, queue) == 12 && offsetof(Event, needsVm) == 14 &&
      offsetof(Event, needsLgkm) == 15);
  const Words words = {event.sequence, event.instruction |
                                           uint64_t(event.queue) << 32 |
                                           uint64_t(event.needsVm) << 48 |
                                           uint64_t(event.needsLgkm) << 56};
  for (unsigned half = 0; half < 2; ++half) {
    const uint64_t written = footprint.scalarWrites[half];
    state.outstanding[NumVectorRows / 64 + half] |= written;
    // Most loads write registers that follow each other.
    for (uint64_t rest = written; rest;) {
      const unsigned first = unsigned(llvm::countr_zero(rest)),
                     count = unsigned(llvm::countr_one(rest >> first));
      for (unsigned k = 0; k < count; ++k)
        std::memcpy(static_cast<void *>(&state.scalars[64 * half + first + k]),
                    &words, sizeof(words));
      rest &= rest + (uint64_t(1) << first);
    }
  }
}

void WaitChecker::putData(const Instruction &inst, Event event,
                          WaveState &state) {
  const Operand &data = inst.ops[0];
  event.queue = Queue::ScalarData;
  state.hasOutstanding = true;
  for (unsigned k = 0; k < data.words; ++k) {
    const unsigned at = WaveState::bitOf(RegisterFile::Scalar, data.index + k);
    state.scalars[data.index + k] = event;
    state.outstanding[at / 64] |= uint64_t(1) << at % 64;
  }
}

void WaitChecker::issued(const Instruction &inst, const Footprint &footprint,
                         Wave &w) {
  WaveState &state = waves[w.context->index];
  Event p;
  p.instruction = inst.index;
  switch (footprint.cls) {
  case InstructionClass::VectorMemory:
    p.queue = Queue::Vector;
    p.sequence = ++state.vectorIssued;
    break;
  case InstructionClass::Lds:
    p.queue = Queue::Lds;
    p.sequence = ++state.ldsIssued;
    break;
  case InstructionClass::ScalarMemory:
    p.queue = Queue::Scalar;
    p.sequence = ++state.scalarIssued;
    break;
  default:
    p.queue = Queue::Flat;
    p.sequence = ++state.flatIssued;
    p.needsVm = state.flatMemory || !state.flatLds;
    p.needsLgkm = state.flatLds;
    break;
  }
  if (footprint.scalarWrites[0] | footprint.scalarWrites[1] |
      footprint.numWrites)
    put(inst, footprint, p, w.activeMask(), state);
  else if (footprint.isScalarAccess && footprint.writesMemory)
    putData(inst, p, state);
}

bool WaitChecker::isLdsPending(unsigned self, AccessKind kind) const {
  for (unsigned i = 0; i < waves.size(); ++i)
    if (waves[i].ldsLoaded > waves[i].vectorDone ||
        (kind != AccessKind::Store && i != self &&
         waves[i].ldsWritten > waves[i].ldsDone))
      return true;
  return false;
}

uint32_t WaitChecker::noteLdsWrite(const LdsWrite &write) {
  // Those that are over are forgotten now and then.
  constexpr size_t many = 4096;
  if (ldsWrites.size() >= many) {
    size_t over = 0;
    while (over < ldsWrites.size() &&
           isDone(waves[ldsWrites[over].wave], ldsWrites[over].queue(),
                  ldsWrites[over].sequence))
      ++over;
    ldsWrites.erase(ldsWrites.begin(), ldsWrites.begin() + ptrdiff_t(over));
    firstLdsWrite += uint32_t(over);
  }
  ldsUsed = true;
  ldsWrites.push_back(write);
  return firstLdsWrite + uint32_t(ldsWrites.size()) - 1;
}

/// Marks the words of lanes that lie apart and begin at words.
template <unsigned Words>
static void markApart(uint32_t *words, const LdsRuns &runs, uint32_t number) {
  uint32_t marks[Words];
  std::fill(std::begin(marks), std::end(marks), number);
  auto *const place = reinterpret_cast<uint8_t *>(words);
  const uint32_t *const begins = runs.begins();
  for (unsigned i = 0, end = runs.size(); i < end; ++i)
    std::memcpy(place + begins[i], marks, sizeof(marks));
}

void WaitChecker::markLds(const LdsRuns &runs, uint32_t number) {
  switch (runs.areAligned(4) ? runs.bytes() : 0) {
  case 4:
    return markApart<1>(lds.data(), runs, number);
  case 8:
    return markApart<2>(lds.data(), runs, number);
  case 12:
    return markApart<3>(lds.data(), runs, number);
  case 16:
    return markApart<4>(lds.data(), runs, number);
  default:
    break;
  }
  for (unsigned i = 0; i < runs.size(); ++i)
    std::fill(&lds[runs.start(i) / 4], &lds[(runs[i].end() - 1) / 4] + 1,
              number);
}

void WaitChecker::checkLds(const Instruction &inst, Wave &w,
                           const LdsRuns &runs, AccessKind kind,
                           bool isDirect) {
  const unsigned self = w.context->index;
  const bool hasFlags = monitor.state().program->polls().any();
  for (unsigned i = 0; i < runs.size(); ++i) {
    const AccessRun run = runs[i];
    const uint64_t last = (run.end() - 1) / 4;
    for (uint64_t word = run.begin / 4; word <= last; ++word) {
      if (lds[word] < firstLdsWrite)
        continue;
      const LdsWrite &entry = ldsWrites[lds[word] - firstLdsWrite];
      // LDS serves the writes of all waves in their order, and in which one it
      // serves atomics is no matter. So compilers do not wait before they set a
      // flag in LDS, and whether one orders two accesses is for the race
      // checker to say. Loads straight to LDS arrive whenever they do, those of
      // a wave in order.
      if ((kind == AccessKind::Store && entry.queue() != Queue::Vector) ||
          (kind == AccessKind::Atomic && entry.isAtomic) ||
          (hasFlags && entry.queue() == Queue::Lds &&
           entry.interval == interval) ||
          (isDirect && entry.wave == self) ||
          (entry.wave == self && entry.queue() == Queue::Lds) ||
          isDone(waves[entry.wave], entry.queue(), entry.sequence))
        continue;
      const InstructionInfo &writer =
          monitor.state().program->info[entry.instruction];
      Event p;
      p.queue = entry.queue();
      p.sequence = entry.sequence;
      monitor.report(
          CheckWait, inst, w, int(run.laneOf(word)), "lds",
          formatv("LDS bytes {0} to {1} are {2} while `{3}` (at {4:x}) of "
                  "wave {5} that writes them is outstanding; {6}",
                  word * 4, word * 4 + 3,
                  kind == AccessKind::Store ? "written" : "read", writer.text,
                  writer.pc, entry.wave,
                  advice(entry.wave, self, p, entry.interval))
              .str(),
          word * 4);
      lds[word] = 0;
      return;
    }
  }
}

void WaitChecker::ldsAccess(const Instruction &inst, Wave &w,
                            const LdsRuns &runs, AccessKind kind) {
  const bool isFlat =
      monitor.state().program->info[inst.index].cls == InstructionClass::Flat;
  if (isFlat)
    flatTouches(w, true);
  const unsigned self = w.context->index;
  if (isLdsPending(self, kind))
    checkLds(inst, w, runs, kind, false);
  if (kind == AccessKind::Load || runs.empty())
    return;
  // Flat stores are in no order that a reader could rely on.
  uint32_t number = 0;
  if (!isFlat) {
    const uint64_t sequence = waves[self].ldsWritten =
        waves[self].ldsIssued + 1;
    number = noteLdsWrite({sequence, self, kind == AccessKind::Atomic, false,
                           inst.index, interval});
  }
  markLds(runs, number);
}

void WaitChecker::ldsDirect(const Instruction &inst, Wave &w,
                            const LdsRuns &runs) {
  if (runs.empty())
    return;
  const unsigned self = w.context->index;
  if (isLdsPending(self, AccessKind::Store))
    checkLds(inst, w, runs, AccessKind::Store, true);
  const uint64_t sequence = waves[self].ldsLoaded =
      waves[self].vectorIssued + 1;
  const uint32_t number =
      noteLdsWrite({sequence, self, false, true, inst.index, interval});
  markLds(runs, number);
}

} // namespace netra::sim
