//===- WaitModel.cpp - Can a weaker wait change a result? ----------------===//
// SPDX-License-Identifier: MIT

#include "WaitModel.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace netra::mutation {

using Class = Operation::Class;

WaitModel::WaitModel(const Recording &recording, const SharingModel &sharing)
    : recording(recording), sharing(sharing) {
  std::set<size_t> seen;
  for (const GroupHistory &group : recording.groups)
    mixed.push_back(mixedBytes(recording, group));
  for (uint64_t group = 0; group < recording.groups.size(); ++group)
    if (seen.insert(likeness(group)).second)
      groups.push_back(group);
  for (uint64_t group : groups)
    for (unsigned w = 0; w < recording.groups[group].waves.size(); ++w)
      replay(group, w, ~uint64_t(0), {}, base);
}

std::vector<ByteRange> WaitModel::mixedBytes(const Recording &recording,
                                             const GroupHistory &group) {
  std::vector<ByteRange> read, written, both;
  for (const WaveHistory &wave : group.waves)
    for (const Access &access : wave.accesses) {
      if (access.space != Space::Memory || access.isUnknown)
        continue;
      if (recording.operations[access.operation].cls == Class::Scalar)
        append_range(read, access.ranges);
      else if (access.use != Use::Read)
        append_range(written, access.ranges);
    }
  normalize(read);
  normalize(written);
  for (size_t i = 0, j = 0; i < read.size() && j < written.size();) {
    if (read[i].meets(written[j]))
      both.push_back({std::max(read[i].begin, written[j].begin),
                      std::min(read[i].end, written[j].end)});
    ++(read[i].end <= written[j].end ? i : j);
  }
  return both;
}

bool WaitModel::isMixed(uint64_t group, const Access &access) const {
  return access.space == Space::Memory && !access.isUnknown &&
         meet(access.ranges, mixed[group]);
}

/// Equal for groups that the rule cannot tell apart.
size_t WaitModel::likeness(uint64_t number) const {
  const GroupHistory &group = recording.groups[number];
  hash_code code(group.waves.size());
  for (const WaveHistory &wave : group.waves) {
    code = hash_combine(code, wave.steps.size());
    for (const WaveHistory::Step &step : wave.steps)
      code = hash_combine(code, step.operation, step.exec);
    for (const Access &access : wave.accesses) {
      code = hash_combine(code, access.step, unsigned(access.space),
                          access.isUnknown, sharing.isSharedByGroups(access));
      if (access.space == Space::Lds || isMixed(number, access))
        for (const ByteRange &range : access.ranges)
          code = hash_combine(code, range.begin, range.end);
    }
  }
  return code;
}

namespace {
/// The counter holds no more vector operations: the ones before are over.
constexpr uint64_t inVmcnt = 63;

/// A memory operation that may not be over.
struct Outstanding {
  unsigned operation;
  const Operation *op;
  uint64_t vector, lds; ///< how many of its kind had been issued with it
  uint64_t lanes;
  bool inMemory = false, inLds = false; ///< of a flat one
  bool stored = false;                  ///< where work-groups conflict
  const Access *written = nullptr;      ///< in LDS
  const Access *mixed = nullptr;        ///< in memory
  unsigned passed = 0, barrier = 0;     ///< barriers at its issue; the next one
};
} // namespace

void WaitModel::replay(uint64_t group, unsigned number, uint64_t changedPc,
                       WaitCounters changed, Dependences &found) const {
  const WaveHistory &wave = recording.groups[group].waves[number];
  const bool hasManyWaves = recording.groups[group].waves.size() > 1;
  std::vector<Outstanding> loads, writes; // what delivers; what is accessed
  uint64_t vectorIssued = 0, ldsIssued = 0;
  unsigned barriers = 0;
  auto note = [&](unsigned later, const Outstanding &o, const char *what,
                  bool isLoad) {
    found.try_emplace({later, o.operation}, Dependence{what, isLoad});
  };
  // An LDS write that ends here, or not at all, may be late for those that
  // others do behind barriers that the wave has passed since.
  auto end = [&](const Outstanding &o, unsigned now) {
    auto isUsed = [&](const Access &access, bool byOtherKind) {
      return sharing.isUsedByOthers(
          group, number, access, o.passed + 1, now, [&](const Access &other) {
            return !byOtherKind ||
                   (o.op->cls == Class::Scalar) !=
                       (recording.operations[other.operation].cls ==
                        Class::Scalar);
          });
    };
    if (now > o.passed && ((o.written && isUsed(*o.written, false)) ||
                           (o.mixed && isUsed(*o.mixed, true))))
      note(o.barrier, o, "is passed while", false);
  };
  auto access = wave.accesses.begin();
  for (unsigned index = 0; index < wave.steps.size(); ++index) {
    const WaveHistory::Step &step = wave.steps[index];
    const Operation &op = recording.operations[step.operation];
    if (op.cls == Class::Wait) {
      const WaitCounters c = op.pc == changedPc ? changed : op.counters;
      auto isOver = [&](const Outstanding &o) {
        switch (o.op->cls) {
        case Class::Vector:
          return c.vm >= 0 && o.vector + uint64_t(c.vm) <= vectorIssued;
        case Class::Lds:
          return c.lgkm >= 0 && o.lds + uint64_t(c.lgkm) <= ldsIssued;
        case Class::Scalar:
          return c.lgkm == 0;
        default:
          return (!o.inMemory || c.vm == 0) && (!o.inLds || c.lgkm == 0);
        }
      };
      llvm::erase_if(loads, isOver);
      llvm::erase_if(writes, [&](const Outstanding &o) {
        if (!isOver(o))
          return false;
        end(o, barriers);
        return true;
      });
      continue;
    }
    for (const Outstanding &o : loads) {
      const bool isScalar = o.op->cls == Class::Scalar;
      if (isScalar || op.runsOnAllLanes || (step.exec & o.lanes)) {
        for (unsigned r : o.op->defined) {
          if (!is_contained(op.named, r))
            continue;
          // Overwritten by a later load of the same order?
          const bool follows =
              op.cls == o.op->cls &&
              (op.cls == Class::Vector || op.cls == Class::Lds) &&
              is_contained(op.defined, r) && count(op.named, r) == 1;
          if (!follows)
            note(step.operation, o, "uses a register while", true);
          break;
        }
      }
      if (op.cls == Class::Barrier && hasManyWaves && o.op->loadsToLds)
        note(step.operation, o, "is passed while", false);
      if (op.readsLds && o.op->loadsToLds)
        note(step.operation, o, "reads LDS while", false);
    }
    if (op.publishes || op.cls == Class::Barrier)
      for (Outstanding &o : writes) {
        if (op.publishes && o.stored)
          note(step.operation, o, "is seen while", false);
        if (op.cls == Class::Barrier && o.passed == barriers)
          o.barrier = step.operation;
      }
    barriers += op.cls == Class::Barrier;
    if (op.cls == Class::Vector)
      ++vectorIssued;
    if (op.cls == Class::Lds)
      ++ldsIssued;
    if (op.cls != Class::Vector && op.cls != Class::Lds &&
        op.cls != Class::Scalar && op.cls != Class::Flat)
      continue;
    Outstanding next{step.operation, &op, vectorIssued, ldsIssued, step.exec};
    next.passed = barriers;
    for (; access != wave.accesses.end() && access->step <= index; ++access) {
      if (access->step < index)
        continue;
      const bool isLds = access->space == Space::Lds;
      next.inLds |= isLds;
      next.inMemory |= !isLds;
      if (isLds && access->use != Use::Read && !op.loadsToLds)
        next.written = &*access;
      if (op.storesMemory && sharing.isSharedByGroups(*access))
        next.stored = true;
      if (!isMixed(group, *access))
        continue;
      for (const Outstanding &o : writes)
        if (o.mixed && o.op->cls != op.cls &&
            (o.op->cls == Class::Scalar ||
             (op.cls == Class::Scalar && vectorIssued - o.vector < inVmcnt)) &&
            conflict(o.mixed->use, access->use) &&
            meet(o.mixed->ranges, access->ranges))
          note(step.operation, o, "accesses memory while", false);
      if (op.cls == Class::Scalar || access->use != Use::Read)
        next.mixed = &*access;
    }
    if (!op.defined.empty() || op.loadsToLds) {
      // It is outstanding for at least as long as the same instruction issued
      // before: on the same lanes that one says nothing more.
      llvm::erase_if(loads, [&](const Outstanding &o) {
        return o.operation == step.operation && !(o.lanes & ~step.exec);
      });
      loads.push_back(next);
    }
    if (next.written || next.stored || next.mixed)
      writes.push_back(next);
  }
  for (const Outstanding &o : writes)
    end(o, ~0u);
}

std::string
WaitModel::describe(const Dependences::value_type &dependence) const {
  const auto [later, earlier] = dependence.first;
  return "`" + recording.operations[later].text + "` " +
         dependence.second.what + " `" + recording.operations[earlier].text +
         "` is outstanding";
}

std::string WaitModel::unchangedFault() const {
  for (const auto &dependence : base)
    if (dependence.second.isLoad)
      return describe(dependence);
  return "";
}

std::string WaitModel::canChange(uint64_t pc, WaitCounters counters) const {
  for (uint64_t group : groups)
    for (unsigned w = 0; w < recording.groups[group].waves.size(); ++w) {
      Dependences found;
      replay(group, w, pc, counters, found);
      for (const auto &dependence : found)
        if (!base.count(dependence.first))
          return describe(dependence);
    }
  return "";
}

std::string WaitModel::nopCanChange(uint64_t pc, unsigned states,
                                    Rules rules) const {
  for (uint64_t group : groups)
    for (const WaveHistory &wave : recording.groups[group].waves) {
      std::vector<const std::string *> texts;
      for (const WaveHistory::Step &step : wave.steps)
        texts.push_back(&recording.operations[step.operation].text);
      // Loops repeat what surrounds an instruction; few passes show all of it.
      unsigned seen = 0;
      for (size_t i = 0; i < wave.steps.size() && seen < 100; ++i) {
        if (recording.operations[wave.steps[i].operation].pc != pc)
          continue;
        ++seen;
        if (std::string why = tooClose(texts, i, states, rules); !why.empty())
          return why;
      }
    }
  return "";
}

} // namespace netra::mutation
