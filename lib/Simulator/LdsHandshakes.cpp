//===- LdsHandshakes.cpp - LDS of waves that wait for flags --------------===//
// SPDX-License-Identifier: MIT

#include "LdsHandshakes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace netra::sim {

void LdsHandshakes::startGroup() {
  quads.resize(divideCeil(size_t(monitor.state().ldsBytes), QuadBytes));
  barrierReleased();
}

void LdsHandshakes::barrierReleased() {
  ++interval;
  number = 0;
  known = {};
  for (std::deque<Turn> &each : turns)
    each.clear();
}

/// A wave that waits takes whatever it finds, and is in nobody's way.
bool LdsHandshakes::conflict(const Done &a, const Done &b) {
  return !a.waits && !b.waits &&
         (a.kind != b.kind || a.kind == AccessKind::Store);
}

/// Most accesses are of what no other wave has accessed, and of the same bytes
/// as before: then there is nothing to report, and nothing to learn.
inline bool LdsHandshakes::repeats(Quad &quad, const Done &own) const {
  if (quad.interval != interval)
    return false;
  Done *same = nullptr;
  for (Done &each : quad.done) {
    if (each.wave != own.wave)
      return false;
    if (each.isLike(own) && each.bytes == own.bytes)
      same = &each;
  }
  if (same)
    *same = own;
  return same;
}

/// Notes an access. Those of its kind that it leaves no byte to are forgotten.
void LdsHandshakes::keep(SmallVectorImpl<Done> &done, const Done &own) {
  erase_if(done, [&](const Done &each) {
    return each.isLike(own) && !(each.bytes & ~own.bytes);
  });
  done.push_back(own);
}

void LdsHandshakes::learn(unsigned self, const Done &other) {
  Clock &own = known[self];
  if (other.wave == self || own[other.wave] >= other.number)
    return;
  hasLearnt = true;
  own[other.wave] = other.number;
  // What it knew then; where that is forgotten, what it knew next.
  const std::deque<Turn> &all = turns[other.wave];
  const auto next = partition_point(
      all, [&](const Turn &turn) { return turn.number <= other.number; });
  const bool isForgotten = all.size() == MostTurns && next == all.begin();
  if (next == all.begin() && !isForgotten)
    return;
  const Clock &its = (isForgotten ? next : std::prev(next))->known;
  for (unsigned wave = 0; wave < MaxWaves; ++wave)
    own[wave] = std::max(own[wave], its[wave]);
}

void LdsHandshakes::learn(const Quad &quad, const Done &own) {
  for (unsigned at = 0; at < QuadBytes; ++at) {
    if (!(own.bytes >> at & 1))
      continue;
    uint32_t last = 0; // write that is no atomic operation
    for (const Done &done : quad.done)
      if ((done.bytes >> at & 1) && done.kind == AccessKind::Store)
        last = std::max(last, done.number);
    for (const Done &done : quad.done)
      if ((done.bytes >> at & 1) && done.kind != AccessKind::Load &&
          done.number >= last)
        learn(own.wave, done);
  }
}

void LdsHandshakes::touch(const LdsAccess &access, const AccessRun &run,
                          uint64_t at, Done own) {
  Quad &quad = quads[at];
  if (quad.interval != interval) {
    quad.interval = interval;
    quad.done.clear();
  }
  const Clock &clock = known[own.wave];
  for (const Done &done : quad.done)
    if (const unsigned both = done.bytes & own.bytes;
        both && done.wave != own.wave && conflict(done, own) &&
        done.number > clock[done.wave]) {
      const uint64_t byte = at * QuadBytes + countr_zero(both);
      access.report(monitor, run.lane + unsigned(byte - run.begin) / run.bytes,
                    byte / 4, done.wave, done.kind, done.instruction);
    }
  if (polls.learns(own.instruction))
    learn(quad, own);
  keep(quad.done, own);
}

bool LdsHandshakes::access(const Instruction &inst, Wave &w,
                           const LdsRuns &runs, AccessKind kind) {
  const LdsAccess access{inst, w, kind};
  Done own;
  own.number = ++number;
  own.instruction = inst.index;
  own.wave = uint8_t(w.context->index);
  own.kind = kind;
  own.waits = polls.waits(inst.index);
  hasLearnt = false;
  AccessRun last;
  for (unsigned i = 0; i < runs.size(); ++i) {
    const AccessRun run = runs[i];
    if (run.begin == last.begin && run.length() <= last.length())
      continue; // lanes that wait read the same
    last = run;
    for (uint64_t at = run.begin, next; at < run.end(); at = next) {
      next = std::min(run.end(), (at | (QuadBytes - 1)) + 1);
      own.bytes = bytesIn(QuadBytes, at, next);
      if (Quad &quad = quads[at / QuadBytes]; !repeats(quad, own))
        touch(access, run, at / QuadBytes, own);
    }
  }
  if (hasLearnt) {
    std::deque<Turn> &all = turns[own.wave];
    if (all.size() == MostTurns)
      all.pop_front();
    all.push_back({own.number, known[own.wave]});
  }
  return hasLearnt;
}

} // namespace netra::sim
