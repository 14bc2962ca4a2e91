//===- WaitChecker.h - Results used before they were waited for -*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Memory results arrive after the instruction that asks for them; only
// s_waitcnt says when they are there. The simulator writes them at once, so
// this checker keeps, for each register, the event that will deliver it, and
// reports a use before the event is known to be over:
//
//  - vector memory (loads, stores, atomics) counts in vmcnt and completes in
//    order: after `vmcnt(N)` all but the last N are over;
//  - LDS counts in lgkmcnt and completes in order among LDS;
//  - scalar memory counts in lgkmcnt and completes in any order: only
//    `lgkmcnt(0)` proves anything, also that the data were read;
//  - flat counts in both and in no order: each needs the counter at 0 that
//    delivers its lanes.
//
// Loads straight to LDS and LDS writes leave their event with the bytes they
// write; reading those bytes from another wave, or (for loads) reading or
// writing them from any wave, needs the writer to have waited. A write over
// bytes that another wave's ds_read is still to deliver needs nothing: LDS
// executes the operations of all waves in one order, that of their issue.
//
// Vector and scalar memory know no common order, and scalar memory none of its
// own. Each wave keeps its outstanding stores, and its outstanding scalar
// accesses: of two that touch the same bytes, one in scalar memory, the first
// must have been waited for unless both read or both are atomic.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_WAITCHECKER_H
#define NETRA_LIB_SIMULATOR_WAITCHECKER_H

#include "AccessRuns.h"
#include "Monitor.h"
#include <algorithm>

namespace netra::sim {

class WaitChecker {
public:
  explicit WaitChecker(Monitor &monitor);

  void startGroup();
  void barrierReleased();
  void before(const Instruction &inst, const Footprint &footprint, Wave &w) {
    WaveState &state = waves[w.context->index];
    if (footprint.isFlat)
      state.flatLds = state.flatMemory = false;
    if (state.hasOutstanding && touches(state, footprint))
      check(inst, w, state);
  }
  void after(const Instruction &inst, const Footprint &footprint, Wave &w) {
    if (footprint.isWait)
      waited(inst, waves[w.context->index]);
    else if (footprint.isCounted)
      issued(inst, footprint, w);
  }
  void ldsAccess(const Instruction &inst, Wave &w, const LdsRuns &runs,
                 AccessKind kind);
  void ldsDirect(const Instruction &inst, Wave &w, const LdsRuns &runs);
  /// Whether globalAccess has something to do.
  bool looksAt(AccessKind kind) const {
    return kind != AccessKind::Load || scalarWriters || keepsVectorLoads;
  }
  void globalAccess(const Instruction &inst, Wave &w, const GlobalRuns &runs,
                    AccessKind kind);
  void scalarAccess(const Instruction &inst, Wave &w, uint64_t address,
                    unsigned bytes, AccessKind kind);
  /// The flat instruction in flight touches LDS, or memory.
  void flatTouches(Wave &w, bool lds);

private:
  /// ScalarData is of a scalar access that is still to read a register.
  enum class Queue : uint16_t { None, Vector, Lds, Scalar, ScalarData, Flat };
  /// Without gaps: copies are whole words, which need not wait for parts of it.
  struct Event {
    uint64_t sequence = 0;
    uint32_t instruction = 0;
    Queue queue = Queue::None;
    bool needsVm = false, needsLgkm = false; ///< flat
  };
  static_assert(std::has_unique_object_representations_v<Event>);
  struct Pending {
    Event event;
    uint64_t lanes = 0;
  };
  struct WaveState {
    // Issued and known-complete events of each queue; sequences start at 1.
    uint64_t vectorIssued = 0, vectorDone = 0;
    uint64_t ldsIssued = 0, ldsDone = 0;
    uint64_t scalarIssued = 0, scalarDone = 0;
    uint64_t flatIssued = 0, flatVmDone = 0, flatLgkmDone = 0;
    /// Issued before the work-group's last barrier.
    uint64_t vectorBefore = 0, ldsBefore = 0;
    bool flatLds = false, flatMemory = false; ///< the one being executed
    Pending rows[NumVectorRows];
    Event scalars[NumScalarRegisters];
    /// A bit for each row and then each scalar that a load is to deliver.
    uint64_t outstanding[(NumVectorRows + NumScalarRegisters) / 64] = {};
    bool hasOutstanding = false; ///< or had since a wait was last looked at
    /// The wave's last write of LDS, and its last load straight to LDS.
    uint64_t ldsWritten = 0, ldsLoaded = 0;

    /// Whether all that was issued is over.
    bool isIdle() const {
      return vectorDone == vectorIssued && ldsDone == ldsIssued &&
             scalarDone == scalarIssued && flatVmDone == flatIssued &&
             flatLgkmDone == flatIssued;
    }
    void putRow(unsigned row, const Pending &p) {
      rows[row] = p;
      outstanding[row / 64] |= uint64_t(1) << row % 64;
    }
    void drop(RegisterFile file, unsigned index) {
      const unsigned at = bitOf(file, index);
      outstanding[at / 64] &= ~(uint64_t(1) << at % 64);
    }
    bool isOutstanding(RegisterFile file, unsigned index) const {
      const unsigned at = bitOf(file, index);
      return outstanding[at / 64] >> at % 64 & 1;
    }
    static unsigned bitOf(RegisterFile file, unsigned index) {
      return file == RegisterFile::Vector ? index : NumVectorRows + index;
    }
  };
  /// An instruction that writes LDS.
  struct LdsWrite {
    uint64_t sequence : 54, wave : 8;
    bool isAtomic : 1, isVector : 1;
    uint32_t instruction, interval;

    Queue queue() const { return isVector ? Queue::Vector : Queue::Lds; }
  };
  struct Bounds {
    uint64_t begin = 0, end = 0;
    bool meet(const Bounds &other) const {
      return begin < other.end && other.begin < end;
    }
    void include(const Bounds &other) {
      begin = std::min(begin, other.begin);
      end = std::max(end, other.end);
    }
  };
  /// An access of global memory that may be outstanding.
  struct MemoryAccess {
    Bounds around; ///< the bytes of all lanes; found when needed
    uint64_t sequence = 0;
    uint32_t instruction = 0, interval = 0;
    /// Several runs: those of lanes that lie apart begin at the places from
    /// firstPlace on and have this width, others begin and end there.
    uint32_t firstPlace = 0, numRuns = 0, width = 0;
    Queue queue = Queue::None;
    AccessKind kind = AccessKind::Load;
  };
  struct ScalarAccess {
    uint64_t address = 0, sequence = 0;
    uint32_t instruction = 0, interval = 0;
    uint32_t bytes = 0;
    AccessKind kind = AccessKind::Load;
  };
  /// Those of a wave, in the order of their issue.
  struct WaveMemory {
    std::vector<MemoryAccess> vector;
    std::vector<uint64_t> places; ///< of vector accesses
    std::vector<ScalarAccess> scalar;
    uint64_t lastVector = 0, lastFlat = 0;
    size_t room = 0; ///< vector accesses that need not be looked through yet

    void clear();
  };

  bool isDone(const WaveState &state, const Event &event) const;
  bool isDone(const WaveState &state, Queue queue, uint64_t sequence) const;
  std::string remedy(const WaveState &state, const Event &event,
                     bool beforeBarrier = false) const;
  /// What wave \p owner should have done about something it issued in an
  /// interval between barriers, for an access by wave \p self now.
  std::string advice(unsigned owner, unsigned self, const Event &event,
                     uint32_t issuedIn) const;
  static bool isOutstanding(const WaveState &state, const RegisterRange &range);
  static bool touches(const WaveState &state, const Footprint &footprint) {
    const uint64_t *scalars = state.outstanding + NumVectorRows / 64;
    uint64_t hit =
        (scalars[0] & (footprint.scalarReads[0] | footprint.scalarWrites[0])) |
        (scalars[1] & (footprint.scalarReads[1] | footprint.scalarWrites[1])) |
        uint64_t(footprint.isWide);
    for (unsigned k = 0; k < footprint.numReads; ++k)
      hit |= state.isOutstanding(RegisterFile::Vector, footprint.reads[k]);
    for (unsigned k = 0; k < footprint.numWrites; ++k)
      hit |= state.isOutstanding(RegisterFile::Vector, footprint.writes[k]);
    return hit;
  }
  void check(const Instruction &inst, Wave &w, WaveState &state);
  void waited(const Instruction &inst, WaveState &state);
  void issued(const Instruction &inst, const Footprint &footprint, Wave &w);
  /// The event will deliver what the instruction writes.
  void put(const Instruction &inst, const Footprint &footprint,
           const Event &event, uint64_t lanes, WaveState &state) const;
  /// The event is still to read the data that a scalar access writes.
  static void putData(const Instruction &inst, Event event, WaveState &state);
  /// Forgets the registers whose loads are over.
  void dropDone(WaveState &state);
  /// Whether some write of LDS that an access by this wave would have to wait
  /// for is outstanding.
  bool isLdsPending(unsigned self, AccessKind kind) const;
  uint32_t noteLdsWrite(const LdsWrite &write);
  /// Write \p number is the last one of what the lanes access.
  void markLds(const LdsRuns &runs, uint32_t number);
  /// Reports an access to what an outstanding write of LDS would still change;
  /// \p isDirect is that of a load straight to LDS.
  void checkLds(const Instruction &inst, Wave &w, const LdsRuns &runs,
                AccessKind kind, bool isDirect);
  void use(const Instruction &inst, const InstructionInfo &info, Wave &w,
           WaveState &state, const RegisterRange &range, bool isWrite);

  bool isOver(const WaveState &state, const MemoryAccess &access) const;
  /// Forgets a wave's accesses if all are over; else returns true.
  bool hasVectorPending(unsigned wave);
  bool hasScalarPending(unsigned wave);
  void keepVector(unsigned wave, MemoryAccess access, const GlobalRuns &runs);
  static Bounds boundsOf(const GlobalRuns &runs);
  static Bounds runOf(const WaveMemory &own, const MemoryAccess &access,
                      unsigned run);
  /// Reports an access to what some wave has outstanding.
  void checkGlobal(const Instruction &inst, Wave &w, const GlobalRuns &runs,
                   AccessKind kind, bool isScalar);
  bool checkAgainst(const Instruction &inst, Wave &w, const GlobalRuns &runs,
                    const Bounds &around, AccessKind kind, bool isScalar,
                    unsigned owner, MemoryAccess &access);

  Monitor &monitor;
  std::vector<WaveState> waves;
  std::vector<WaveMemory> memory;
  /// A bit for each wave that may have outstanding vector accesses, scalar
  /// accesses, and scalar accesses that write.
  uint64_t vectorUsers = 0, scalarUsers = 0, scalarWriters = 0;
  bool keepsVectorLoads = false; ///< scalar memory is written
  uint32_t interval = 0;         ///< between barriers
  /// By 4 bytes: the number of the instruction that wrote them last. The list
  /// holds those from firstLdsWrite on; the ones before are over.
  std::vector<uint32_t> lds;
  std::vector<LdsWrite> ldsWrites;
  uint32_t firstLdsWrite = 1;
  bool ldsUsed = false;
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_WAITCHECKER_H
