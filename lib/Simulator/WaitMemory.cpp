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
  places.clear();
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
  own.places.clear();
  vectorUsers &= ~(uint64_t(1) << wave);
  return false;
}

bool WaitChecker::hasScalarPending(unsigned wave) {
  std::vector<ScalarAccess> &own = memory[wave].scalar;
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
    std::vector<uint64_t> places;
    for (MemoryAccess old : own.vector) {
      if (isOver(state, old))
        continue;
      const auto first = own.places.begin() + old.firstPlace;
      old.firstPlace = uint32_t(places.size());
      places.insert(places.end(), first,
                    first + old.numRuns * (old.width ? 1 : 2));
      kept.push_back(old);
    }
    own.vector = std::move(kept);
    own.places = std::move(places);
    own.room = std::max(someAccesses, 2 * own.vector.size());
  }
  (access.queue == Queue::Flat ? own.lastFlat : own.lastVector) =
      access.sequence;
  vectorUsers |= uint64_t(1) << wave;
  if (runs.size() == 1) {
    access.around = {runs.start(0), runs[0].end()};
  } else {
    std::vector<uint64_t> &places = own.places;
    access.firstPlace = uint32_t(places.size());
    access.numRuns = runs.size();
    if (runs.areApart()) {
      access.width = runs.bytes();
      places.insert(places.end(), runs.begins(), runs.begins() + runs.size());
    } else {
      for (unsigned i = 0; i < runs.size(); ++i)
        places.insert(places.end(), {runs.start(i), runs[i].end()});
    }
  }
  own.vector.push_back(access);
}

WaitChecker::Bounds WaitChecker::runOf(const WaveMemory &own,
                                       const MemoryAccess &access,
                                       unsigned run) {
  if (!access.numRuns)
    return access.around;
  const uint64_t *places = own.places.data() + access.firstPlace;
  if (access.width)
    return {places[run], places[run] + access.width};
  return {places[2 * run], places[2 * run + 1]};
}

WaitChecker::Bounds WaitChecker::boundsOf(const GlobalRuns &runs) {
  Bounds around = {runs.start(0), runs[0].end()};
  for (unsigned i = 1; i < runs.size(); ++i)
    around.include({runs.start(i), runs[i].end()});
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
  std::vector<ScalarAccess> &own = memory[self].scalar;
  if (!own.empty() && own.back().sequence <= waves[self].scalarDone)
    hasScalarPending(self);
  if (own.size() >= manyScalarAccesses)
    own.erase(own.begin(), own.begin() + manyScalarAccesses / 2);
  own.push_back({address, waves[self].scalarIssued + 1, inst.index, interval,
                 bytes, kind});
  const uint64_t bit = uint64_t(1) << self;
  scalarUsers |= bit;
  if (kind != AccessKind::Load)
    scalarWriters |= bit;
}

void WaitChecker::checkGlobal(const Instruction &inst, Wave &w,
                              const GlobalRuns &runs, AccessKind kind,
                              bool isScalar) {
  const Bounds around = boundsOf(runs);
  const uint64_t others =
      kind == AccessKind::Load ? scalarWriters : scalarUsers;
  for (uint64_t rest = others; rest; rest &= rest - 1) {
    const unsigned owner = unsigned(__builtin_ctzll(rest));
    if (!hasScalarPending(owner))
      continue;
    for (ScalarAccess &scalar : memory[owner].scalar) {
      MemoryAccess access;
      access.around = {scalar.address, scalar.address + scalar.bytes};
      access.sequence = scalar.sequence;
      access.instruction = scalar.instruction;
      access.interval = scalar.interval;
      access.queue = Queue::Scalar;
      access.kind = scalar.kind;
      if (checkAgainst(inst, w, runs, around, kind, isScalar, owner, access)) {
        scalar.bytes = 0; // one report for it
        return;
      }
    }
  }
  // Among each other, vector accesses are in order.
  for (uint64_t rest = isScalar ? vectorUsers : 0; rest; rest &= rest - 1) {
    const unsigned owner = unsigned(__builtin_ctzll(rest));
    if (!hasVectorPending(owner))
      continue;
    for (MemoryAccess &access : memory[owner].vector)
      if (checkAgainst(inst, w, runs, around, kind, isScalar, owner, access)) {
        access.around = {}; // one report for it
        access.numRuns = 0;
        return;
      }
  }
}

bool WaitChecker::checkAgainst(const Instruction &inst, Wave &w,
                               const GlobalRuns &runs, const Bounds &around,
                               AccessKind kind, bool isScalar, unsigned owner,
                               MemoryAccess &access) {
  if (!clash(kind, access.kind) || isOver(waves[owner], access))
    return false;
  const WaveMemory &own = memory[owner];
  if (access.numRuns && !access.around.end) {
    access.around = runOf(own, access, 0);
    for (unsigned i = 1; i < access.numRuns; ++i)
      access.around.include(runOf(own, access, i));
  }
  if (!around.meet(access.around))
    return false;
  const unsigned numRuns = std::max(access.numRuns, 1u);
  for (unsigned i = 0; i < runs.size(); ++i) {
    const AccessRun run = runs[i];
    unsigned hit = 0;
    while (hit < numRuns &&
           !runOf(own, access, hit).meet({run.begin, run.end()}))
      ++hit;
    if (hit == numRuns)
      continue;
    const unsigned self = w.context->index;
    const uint64_t word =
        std::max(run.begin, runOf(own, access, hit).begin) / 4;
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
    return true;
  }
  return false;
}

} // namespace netra::sim
