//===- LdsHandshakes.cpp - LDS of waves that wait for flags --------------===//
// SPDX-License-Identifier: MIT

#include "LdsHandshakes.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace netra::sim {

void LdsHandshakes::startGroup() {
  words.resize((size_t(monitor.state().ldsBytes) + 3) / 4);
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

/// Notes an access as the last one of its kind.
void LdsHandshakes::keep(std::vector<Done> &done, const Done &own) {
  for (size_t i = 0; i < done.size(); ++i) {
    if (!done[i].isLike(own))
      continue;
    if (done[i].bytes == own.bytes) {
      done[i] = own;
      return;
    }
    done[i].bytes &= uint8_t(~own.bytes);
    if (!done[i].bytes) {
      done[i] = done.back();
      done.pop_back();
      --i;
    }
  }
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
    if (wave != self)
      own[wave] = std::max(own[wave], its[wave]);
}

void LdsHandshakes::learn(const Word &word, const Done &own) {
  const Done *last = nullptr; // write that is no atomic operation
  for (const Done &done : word.done)
    if ((done.bytes & own.bytes) && done.kind == AccessKind::Store &&
        (!last || last->number < done.number))
      last = &done;
  if (last)
    learn(own.wave, *last);
  for (const Done &done : word.done)
    if ((done.bytes & own.bytes) && done.kind == AccessKind::Atomic &&
        (!last || last->number < done.number))
      learn(own.wave, done);
}

void LdsHandshakes::touch(const LdsAccess &access, unsigned lane, uint64_t at,
                          Done own) {
  Word &word = words[at];
  if (word.interval != interval) {
    word.interval = interval;
    word.done.clear();
  }
  const Clock &clock = known[own.wave];
  for (const Done &done : word.done)
    if (done.wave != own.wave && (done.bytes & own.bytes) &&
        conflict(done, own) && done.number > clock[done.wave])
      access.report(monitor, lane, at, done.wave, done.kind, done.instruction);
  if (polls.learns(own.instruction) && own.kind != AccessKind::Store)
    learn(word, own);
  keep(word.done, own);
}

bool LdsHandshakes::access(const Instruction &inst, Wave &w,
                           const LdsRuns &runs, AccessKind kind) {
  LdsAccess access{inst, w, kind};
  Done own;
  own.number = ++number;
  own.instruction = inst.index;
  own.wave = uint8_t(w.context->index);
  own.kind = kind;
  own.waits = polls.waits(inst.index);
  hasLearnt = false;
  for (unsigned i = 0; i < runs.size(); ++i) {
    const AccessRun run = runs[i];
    forEachWord(run.begin, run.end(), [&](uint64_t word, uint16_t) {
      forEachPart(run, word, [&](unsigned lane, uint16_t bytes) {
        own.bytes = uint8_t(bytes);
        touch(access, lane, word, own);
      });
    });
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
