//===- WaitMemory.cpp - Vector and scalar memory wait for each other -----===//
// SPDX-License-Identifier: MIT
//
// What WaitChecker knows of global memory. Most kernels read arguments and
// constants by scalar loads and nothing else: a mask of waves says at once that
// nobody has anything outstanding, a pair of bounds that it lies elsewhere.
//
//===----------------------------------------------------------------------===//

#include "LdsRaces.h"
#include "WaitChecker.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

namespace {

constexpr unsigned mostInVmcnt = 63;
constexpr size_t someAccesses = 64, manyScalarAccesses = 1024;

/// Whether the order of two accesses to the same bytes matters.
bool clash(AccessKind a, AccessKind b) {
  return a == b ? a == AccessKind::Store : true;
}

} // namespace

void WaitChecker::WaveMemory::clear() {
  vector.clear();
  scalar.clear();
  spans.clear();
  lastVector = lastFlat = 0;
  room = someAccesses;
}

bool WaitChecker::isOver(const WaveState &state,
                         const MemoryAccess &access) const {
  if (access.queue == Queue::Scalar)
    return access.sequence <= state.scalarDone;
  // The counter holds no more than 63: what was issued before is over.
  const bool isFlat = access.queue == Queue::Flat;
  const uint64_t issued = isFlat ? state.flatIssued : state.vectorIssued,
                 done = isFlat ? state.flatVmDone : state.vectorDone;
  return access.sequence <= done || issued - access.sequence >= mostInVmcnt;
}

bool WaitChecker::hasVectorPending(unsigned wave) {
  const WaveState &state = waves[wave];
  WaveMemory &own = memory[wave];
  if (own.lastVector > state.vectorDone || own.lastFlat > state.flatVmDone)
    return true;
  own.vector.clear();
  own.spans.clear();
  vectorUsers &= ~(uint64_t(1) << wave);
  return false;
}

bool WaitChecker::hasScalarPending(unsigned wave) {
  std::vector<MemoryAccess> &own = memory[wave].scalar;
  // Only a wait for all of them proves anything.
  if (!own.empty() && own.back().sequence > waves[wave].scalarDone)
    return true;
  own.clear();
  scalarUsers &= ~(uint64_t(1) << wave);
  scalarWriters &= ~(uint64_t(1) << wave);
  return false;
}

void WaitChecker::keepVector(unsigned wave, MemoryAccess access,
                             const GlobalRuns &runs) {
  const WaveState &state = waves[wave];
  WaveMemory &own = memory[wave];
  if (vectorUsers >> wave & 1)
    hasVectorPending(wave);
  if (own.vector.size() >= own.room) {
    std::vector<MemoryAccess> kept;
    std::vector<Span> spans;
    for (MemoryAccess old : own.vector) {
      if (isOver(state, old))
        continue;
      const auto first = own.spans.begin() + old.firstSpan;
      old.firstSpan = uint32_t(spans.size());
      spans.insert(spans.end(), first, first + old.numSpans);
      kept.push_back(old);
    }
    own.vector = std::move(kept);
    own.spans = std::move(spans);
    own.room = std::max(someAccesses, 2 * own.vector.size());
  }
  (access.queue == Queue::Flat ? own.lastFlat : own.lastVector) =
      access.sequence;
  vectorUsers |= uint64_t(1) << wave;
  if (runs.size() > 1) {
    access.firstSpan = uint32_t(own.spans.size());
    access.numSpans = runs.size();
    own.spans.resize(access.firstSpan + access.numSpans);
    Span *spans = own.spans.data() + access.firstSpan;
    for (unsigned i = 0; i < access.numSpans; ++i) {
      const AccessRun run = runs[i];
      spans[i] = {run.begin, run.length()};
    }
  }
  own.vector.push_back(access);
}

WaitChecker::Bounds WaitChecker::boundsOf(const GlobalRuns &runs) {
  Bounds around = {runs.start(0), runs[0].end()};
  for (unsigned i = 1; i < runs.size(); ++i) {
    around.begin = std::min(around.begin, runs.start(i));
    around.end = std::max(around.end, runs[i].end());
  }
  return around;
}

void WaitChecker::globalAccess(const Instruction &inst, Wave &w,
                               const GlobalRuns &runs, AccessKind kind) {
  if (runs.empty())
    return;
  if (kind == AccessKind::Load ? scalarWriters : scalarUsers)
    checkGlobal(inst, w, runs, kind, false);
  if (kind == AccessKind::Load && !keepsVectorLoads)
    return;
  const unsigned self = w.context->index;
  MemoryAccess access;
  access.around = boundsOf(runs);
  const bool isFlat =
      monitor.state().program->info[inst.index].cls == InstructionClass::Flat;
  access.queue = isFlat ? Queue::Flat : Queue::Vector;
  access.sequence =
      1 + (isFlat ? waves[self].flatIssued : waves[self].vectorIssued);
  access.instruction = inst.index;
  access.interval = interval;
  access.kind = kind;
  keepVector(self, access, runs);
}

void WaitChecker::scalarAccess(const Instruction &inst, Wave &w,
                               uint64_t address, unsigned bytes,
                               AccessKind kind) {
  if (vectorUsers | (kind == AccessKind::Load ? scalarWriters : scalarUsers))
    checkGlobal(inst, w, GlobalRuns(&address, 1, bytes), kind, true);
  const unsigned self = w.context->index;
  std::vector<MemoryAccess> &own = memory[self].scalar;
  if (scalarUsers >> self & 1)
    hasScalarPending(self);
  if (own.size() >= manyScalarAccesses)
    own.erase(own.begin(), own.begin() + manyScalarAccesses / 2);
  MemoryAccess access;
  access.around = {address, address + bytes};
  access.sequence = waves[self].scalarIssued + 1;
  access.instruction = inst.index;
  access.interval = interval;
  access.queue = Queue::Scalar;
  access.kind = kind;
  own.push_back(access);
  const uint64_t bit = uint64_t(1) << self;
  scalarUsers |= bit;
  if (kind != AccessKind::Load)
    scalarWriters |= bit;
}

void WaitChecker::checkGlobal(const Instruction &inst, Wave &w,
                              const GlobalRuns &runs, AccessKind kind,
                              bool isScalar) {
  const Bounds around = boundsOf(runs);
  auto checkAll = [&](unsigned owner, std::vector<MemoryAccess> &accesses) {
    for (MemoryAccess &access : accesses)
      if (checkAgainst(inst, w, runs, around, kind, isScalar, owner, access))
        return true; // once is enough
    return false;
  };
  const uint64_t others =
      kind == AccessKind::Load ? scalarWriters : scalarUsers;
  for (uint64_t rest = others; rest; rest &= rest - 1) {
    const unsigned owner = unsigned(__builtin_ctzll(rest));
    if (hasScalarPending(owner) && checkAll(owner, memory[owner].scalar))
      return;
  }
  // Among each other, vector accesses are in order.
  for (uint64_t rest = isScalar ? vectorUsers : 0; rest; rest &= rest - 1) {
    const unsigned owner = unsigned(__builtin_ctzll(rest));
    if (hasVectorPending(owner) && checkAll(owner, memory[owner].vector))
      return;
  }
}

bool WaitChecker::checkAgainst(const Instruction &inst, Wave &w,
                               const GlobalRuns &runs, const Bounds &around,
                               AccessKind kind, bool isScalar, unsigned owner,
                               MemoryAccess &access) {
  if (!around.meet(access.around) || !clash(kind, access.kind) ||
      isOver(waves[owner], access))
    return false;
  const WaveMemory &own = memory[owner];
  const Span whole = {access.around.begin,
                      access.around.end - access.around.begin};
  const Span *spans =
      access.numSpans ? own.spans.data() + access.firstSpan : &whole;
  const unsigned numSpans = std::max(access.numSpans, 1u);
  for (unsigned i = 0; i < runs.size(); ++i) {
    const AccessRun run = runs[i];
    const Span *hit =
        std::find_if(spans, spans + numSpans, [&](const Span &span) {
          return Bounds{run.begin, run.end()}.meet(
              {span.begin, span.begin + span.length});
        });
    if (hit == spans + numSpans)
      continue;
    const unsigned self = w.context->index;
    const uint64_t word = std::max<uint64_t>(run.begin, hit->begin) / 4;
    const InstructionInfo &other =
        monitor.state().program->info[access.instruction];
    Event p;
    p.queue = access.queue;
    p.sequence = access.sequence;
    p.needsVm = access.queue == Queue::Flat;
    static constexpr const char *done[] = {"read", "written", "updated"};
    monitor.report(
        CheckWait, inst, w, isScalar ? -1 : int(run.laneOf(word)), "global",
        formatv("the 4 bytes at {0:x} ({1}) are {2} while `{3}` (at {4:x}){5} "
                "that {6} them is outstanding; {7}",
                word * 4, monitor.state().memory->describe(word * 4, 4),
                done[unsigned(kind)], other.text, other.pc,
                owner == self ? "" : formatv(" of wave {0}", owner).str(),
                verbOf(access.kind), advice(owner, self, p, access.interval))
            .str(),
        word * 4);
    access.around = {}; // one report for it
    return true;
  }
  return false;
}

} // namespace netra::sim
