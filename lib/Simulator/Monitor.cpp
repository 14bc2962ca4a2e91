//===- Monitor.cpp - Checkers and counters of a work-group ---------------===//
// SPDX-License-Identifier: MIT

#include "Monitor.h"
#include "CounterCollector.h"
#include "HazardChecker.h"
#include "InitChecker.h"
#include "RaceChecker.h"
#include "WaitChecker.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

void FindingStore::add(Finding finding, const std::string &kind) {
  std::lock_guard<std::mutex> lock(mutex);
  auto key = std::make_tuple(unsigned(finding.check), finding.pc, kind);
  auto [it, inserted] = byPlace.try_emplace(key, finding);
  if (inserted)
    return;
  Finding &first = it->second;
  const uint64_t count = first.count + 1;
  if (std::tie(finding.workgroup, finding.wave, finding.lane) <
      std::tie(first.workgroup, first.wave, first.lane))
    first = std::move(finding);
  first.count = count;
}

std::string registerName(RegisterFile file, unsigned index) {
  if (file == RegisterFile::Vector)
    return (llvm::Twine(index >= AccumulationBase ? "a" : "v") +
            llvm::Twine(index % AccumulationBase))
        .str();
  if (file == RegisterFile::Scc)
    return "scc";
  switch (index) {
  case FlatScratchLo:
  case FlatScratchHi:
    return "flat_scratch";
  case VccLo:
    return "vcc_lo";
  case VccHi:
    return "vcc_hi";
  case M0:
    return "m0";
  case ExecLo:
    return "exec_lo";
  case ExecHi:
    return "exec_hi";
  default:
    break;
  }
  if (index >= unsigned(Ttmp0) && index < unsigned(M0))
    return ("ttmp" + llvm::Twine(index - unsigned(Ttmp0))).str();
  return ("s" + llvm::Twine(index)).str();
}

Footprint::Footprint(const Instruction &inst, const InstructionInfo &info) {
  auto collect = [&](const std::vector<RegisterRange> &ranges, uint16_t *rows,
                     uint8_t &count, unsigned room, uint64_t *scalars) {
    bool hasScc = false;
    for (const RegisterRange &range : ranges)
      for (unsigned k = 0; k < range.count; ++k) {
        const unsigned index = range.first + k;
        if (range.file == RegisterFile::Scc)
          hasScc = true;
        else if (range.file == RegisterFile::Scalar) {
          if (index < NumScalarRegisters)
            scalars[index / 64] |= uint64_t(1) << index % 64;
        } else if (index < NumVectorRows) {
          if (count == room)
            isWide = true;
          else
            rows[count++] = uint16_t(index);
        }
      }
    return hasScc;
  };
  isKnown = true;
  readsScc = collect(info.reads, reads, numReads, MaxReads, scalarReads);
  writesScc = collect(info.writes, writes, numWrites, MaxWrites, scalarWrites);
  keepsLanes = inst.encoding == Encoding::Dpp;
  readsAllLanes = info.readsAllLanes || keepsLanes;
  cls = info.cls;
  const bool isAccess = info.isLoad || info.isStore || info.isAtomic,
             isVector = cls == InstructionClass::VectorMemory ||
                        cls == InstructionClass::Flat,
             isScalar = cls == InstructionClass::ScalarMemory;
  isVectorAccess = isVector && isAccess;
  isScalarAccess = isScalar && isAccess;
  writesMemory =
      (isVectorAccess || isScalarAccess) && (info.isStore || info.isAtomic);
  const bool invalidates = StringRef(info.text).starts_with("buffer_inv") ||
                           StringRef(info.text).starts_with("s_dcache_inv");
  isSync = ((isVectorAccess || isScalarAccess) && info.isAtomic) ||
           (isVector && (inst.sc0 || inst.sc1)) ||
           (!isVectorAccess && !isScalarAccess && invalidates);
  isCounted = (cls == InstructionClass::VectorMemory &&
               (info.isLoad || info.isStore)) ||
              cls == InstructionClass::Flat || cls == InstructionClass::Lds ||
              isScalar;
  switch (info.cls) {
  case InstructionClass::Salu:
  case InstructionClass::Valu:
  case InstructionClass::Transcendental:
  case InstructionClass::Mfma:
  case InstructionClass::Branch:
    isAlu = true;
    break;
  case InstructionClass::Flat:
    isFlat = true;
    break;
  case InstructionClass::Message:
    isIdle = info.reads.empty() && info.writes.empty();
    isWait = StringRef(info.text).starts_with("s_waitcnt");
    break;
  default:
    break;
  }
}

const Footprint &Monitor::findFootprint(const Instruction &inst) {
  return footprints[inst.index] =
             Footprint(inst, launch.program->info[inst.index]);
}

Monitor::Monitor(Workgroup &group, LaunchState &launch)
    : group(group), launch(launch), footprints(launch.program->code.size()) {
  if (isOn(CheckInit))
    init = std::make_unique<InitChecker>(*this);
  if (isOn(CheckWait))
    wait = std::make_unique<WaitChecker>(*this);
  if (isOn(CheckHazard))
    hazard = std::make_unique<HazardChecker>(*this);
  if (isOn(CheckRace))
    race = std::make_unique<RaceChecker>(*this);
  if (launch.counters)
    collector = std::make_unique<CounterCollector>(*this);
}
Monitor::~Monitor() = default;

void Monitor::report(Check check, const Instruction &inst, const Wave &w,
                     int lane, const std::string &kind, std::string message,
                     uint64_t address) {
  const InstructionInfo &info = launch.program->info[inst.index];
  Finding finding;
  finding.check = check;
  finding.kernel = launch.kernel->name;
  finding.instruction = info.text;
  finding.pc = info.pc;
  finding.pcOffset = info.pc - launch.kernel->entryAddress;
  finding.workgroup = group.linear;
  finding.workgroupId = group.id;
  finding.wave = w.context->index;
  finding.lane = lane;
  finding.address = address;
  finding.message = std::move(message);
  launch.findings->add(std::move(finding), kind);
  if (launch.options.stopAtFinding)
    launch.stop = true;
}

bool Monitor::invalidAccess(const Instruction &inst, Wave &w, int lane,
                            uint64_t address, unsigned bytes, AccessKind kind,
                            const std::string &what) {
  if (!isOn(CheckMemory))
    return false;
  const char *verb = kind == AccessKind::Load    ? "load"
                     : kind == AccessKind::Store ? "store"
                                                 : "atomic";
  report(CheckMemory, inst, w, lane, "access",
         formatv("{0} of {1} bytes at {2:x}: {3}", verb, bytes, address, what)
             .str(),
         address);
  return true;
}

void Monitor::startGroup() {
  if (init)
    init->startGroup();
  if (wait)
    wait->startGroup();
  if (hazard)
    hazard->startGroup();
  if (race)
    race->startGroup();
  if (collector)
    collector->startGroup();
}

void Monitor::beforeIdle(const Instruction &inst, const Footprint &footprint,
                         Wave &w) {
  if (hazard)
    hazard->pass(inst, w);
  if (race && footprint.isWait)
    race->waits(inst, w);
  if (collector)
    collector->before(inst, launch.program->info[inst.index], w);
}

void Monitor::before(const Instruction &inst, Wave &w) {
  const Footprint &footprint = this->footprint(inst);
  if (footprint.isIdle)
    return beforeIdle(inst, footprint, w);
  if (wait)
    wait->before(inst, footprint, w);
  if (init)
    init->before(inst, footprint, w);
  if (hazard)
    hazard->before(inst, footprint, w);
  if (race && !footprint.isAlu)
    race->before(inst, footprint, w);
  if (collector)
    collector->before(inst, launch.program->info[inst.index], w);
}

void Monitor::after(const Instruction &inst, Wave &w) {
  const Footprint &footprint = footprints[inst.index];
  if (wait && !footprint.isAlu)
    wait->after(inst, footprint, w);
  if (init && !footprint.isIdle)
    init->after(inst, footprint, w);
  if (footprint.isSync && race)
    race->after();
  if (collector)
    collector->after(inst, launch.program->info[inst.index], w);
}

void Monitor::barrierReleased() {
  if (wait)
    wait->barrierReleased();
  if (race)
    race->barrierReleased();
  if (!isOn(CheckBarrier))
    return;
  // Hardware lets waves pass when the others have ended; the program meant
  // all of them to come.
  const Wave *waiting = nullptr;
  unsigned ended = 0, endedWave = 0;
  for (const Wave &w : group.waves) {
    if (w.state == WaveStatus::Ended) {
      ++ended;
      endedWave = w.context->index;
    } else if (!waiting)
      waiting = &w;
  }
  if (!ended || !waiting)
    return;
  // The wave stands behind the barrier it was released from.
  const Instruction &inst =
      launch.program->code[waiting->pc ? waiting->pc - 1 : 0];
  report(CheckBarrier, inst, *waiting, -1, "ended",
         formatv("{0} of {1} waves (wave {2} among them) ended without coming "
                 "to this barrier",
                 ended, group.waves.size(), endedWave)
             .str());
}
void Monitor::endGroup() {
  if (collector)
    collector->endGroup();
}

void Monitor::globalAccess(const Instruction &inst, Wave &w,
                           const uint64_t *address, uint64_t mask,
                           unsigned bytes, AccessKind kind,
                           const AllocationRecord *record) {
  if (wait && mask)
    wait->flatTouches(w, false);
  const bool mustWait = wait && mask && wait->looksAt(kind);
  if (mustWait || init || race) {
    const GlobalRuns runs(address, mask, bytes);
    if (mustWait)
      wait->globalAccess(inst, w, runs, kind);
    if (init)
      init->globalAccess(inst, w, runs, kind, record);
    if (race)
      race->globalAccess(inst, w, runs, kind);
  }
  if (collector)
    collector->globalAccess(address, w, mask, bytes, kind);
}

void Monitor::ldsAccess(const Instruction &inst, Wave &w,
                        const uint32_t *address, uint64_t mask, unsigned bytes,
                        AccessKind kind) {
  if (wait || init || race) {
    const LdsRuns runs(address, mask, bytes);
    if (wait)
      wait->ldsAccess(inst, w, runs, kind);
    if (init)
      init->ldsAccess(inst, w, runs, kind);
    if (race)
      race->ldsAccess(inst, w, runs, kind);
  }
  if (collector)
    collector->ldsAccess(address, mask, bytes, w.laneCount);
}

void Monitor::scratchAccess(const Instruction &inst, Wave &w,
                            const uint32_t *offset, uint64_t mask,
                            unsigned bytes, AccessKind kind) {
  if (wait && mask)
    wait->flatTouches(w, false);
  if (init)
    init->scratchAccess(inst, w, offset, mask, bytes, kind);
}

void Monitor::scalarAccess(const Instruction &inst, Wave &w, uint64_t address,
                           unsigned bytes, AccessKind kind,
                           const AllocationRecord &record) {
  if (wait)
    wait->scalarAccess(inst, w, address, bytes, kind);
  if (init)
    init->scalarAccess(inst, w, address, bytes, kind, record);
  if (race)
    race->scalarAccess(inst, w, address, bytes, kind);
  if (collector)
    collector->scalarAccess(address, bytes, kind);
}

void Monitor::ldsDirect(const Instruction &inst, Wave &w,
                        const uint32_t *address, uint64_t mask,
                        unsigned bytes) {
  const LdsRuns runs(address, mask, bytes);
  if (wait)
    wait->ldsDirect(inst, w, runs);
  if (race)
    race->ldsAccess(inst, w, runs, AccessKind::Store);
  if (init)
    init->ldsDirect(w, runs);
}

} // namespace netra::sim
