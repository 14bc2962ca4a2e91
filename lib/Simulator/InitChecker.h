//===- InitChecker.h - Use of what was never written ------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Each register has, for each lane, whether its value is defined. Copying and
// computing with an undefined value makes the result undefined and is no fault
// by itself: compilers move registers they never use. It is a fault when the
// value matters: as an address, in a branch, in EXEC, or stored to memory that
// others see. The report names the register or memory from which the value
// came and the instruction that first read it.
//
// Registers are followed by bits where the rules of InitFlow.h tell on which of
// its sources a result depends, memory by bytes. A word that was loaded with
// some of its bytes undefined may be stored, since structures with padding are
// copied so; not one whose undefined bits were computed, or shifted there.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_INITCHECKER_H
#define NETRA_LIB_SIMULATOR_INITCHECKER_H

#include "AccessRuns.h"
#include "InitFlow.h"
#include "Monitor.h"

namespace netra::sim {

class InitChecker {
public:
  explicit InitChecker(Monitor &monitor);

  void startGroup();
  void before(const Instruction &inst, const Footprint &footprint, Wave &w) {
    WaveState &state = waves[w.context->index];
    state.exec = w.activeMask();
    state.undefined = 0;
    state.second = 0;
    state.hasLoaded = state.hasUndefinedLoad = false;
    state.isFollowed = false;
    state.stores = 0;
    if (isIndexed(inst, w) ||
        readsUndefined(state, footprint,
                       footprint.readsAllLanes ? w.allLanes() : state.exec))
      check(inst, w, state);
  }
  void after(const Instruction &inst, const Footprint &footprint, Wave &w) {
    WaveState &state = waves[w.context->index];
    if (uint64_t(isIndexed(inst, w)) | state.undefined |
        uint64_t(state.hasUndefinedLoad) | uint64_t(footprint.isWide) |
        uint64_t(!followsExec[inst.index])) {
      define(inst, w, state);
      return;
    }
    // Nearly always: what is written is defined.
    for (unsigned k = 0; k < footprint.numWrites; ++k)
      state.rows[footprint.writes[k]] |= state.exec;
    if ((footprint.scalarWrites[0] & state.undefinedScalars[0]) |
        (footprint.scalarWrites[1] & state.undefinedScalars[1]))
      for (unsigned s = 0; s < NumScalarRegisters; ++s)
        if (footprint.scalarWrites[s / 64] >> s % 64 & 1)
          state.setScalar(s, ~0u);
    state.scc |= footprint.writesScc;
  }
  /// \p record is the allocation that all lanes access, or nullptr.
  void globalAccess(const Instruction &inst, Wave &w, const GlobalRuns &runs,
                    AccessKind kind, const AllocationRecord *record);
  void ldsAccess(const Instruction &inst, Wave &w, const LdsRuns &runs,
                 AccessKind kind);
  void scratchAccess(const Instruction &inst, Wave &w, const uint32_t *offset,
                     uint64_t mask, unsigned bytes, AccessKind kind);
  void scalarAccess(const Instruction &inst, Wave &w, uint64_t address,
                    unsigned bytes, AccessKind kind,
                    const AllocationRecord &record);
  void ldsDirect(Wave &w, const LdsRuns &runs);

private:
  /// Where an undefined value came from.
  struct Origin {
    uint32_t instruction = ~0u;
    enum Kind : uint8_t { None, Vector, Scalar, Scc, Lds, Scratch, Memory };
    Kind kind = None;
    uint64_t place = 0; ///< register, or address
  };
  struct WaveState {
    uint64_t rows[NumVectorRows] = {};         ///< lanes with a defined value
    uint32_t scalars[NumScalarRegisters] = {}; ///< defined bits
    uint64_t undefinedScalars[2] = {~uint64_t(0), ~uint64_t(0)}; ///< in part
    bool scc = false;
    Origin rowOrigin[NumVectorRows];
    Origin scalarOrigin[NumScalarRegisters];
    Origin sccOrigin;
    /// Of the undefined lanes: those whose word is undefined only in part, with
    /// the bits that are defined; those whose word came out of private memory
    /// as it is; and those in which an instruction computed undefined bits.
    uint64_t partial[NumVectorRows] = {}, padding[NumVectorRows] = {},
             computed[NumVectorRows] = {};
    std::vector<uint32_t> definedBits; ///< [row][lane], where partial
    uint64_t computedScalars[2] = {};  ///< of the undefined ones
    /// Of the instruction in execution: lanes whose loaded word is undefined,
    /// by word, with the bytes that are defined, and where from.
    uint64_t loaded[16] = {};
    uint8_t loadedBytes[16][MaxLanes];
    Origin loadedOrigin;
    bool hasLoaded = false;
    bool hasUndefinedLoad = false; ///< some of `loaded` is set
    /// Result of the sources of the instruction in execution.
    uint64_t undefined = 0;
    uint64_t exec = 0;
    Origin origin;
    uint64_t second = 0; ///< undefined lanes of a second destination (swaps)
    unsigned stores = 0; ///< accesses of its stores so far
    /// Whether its result was followed by bits, and the words of that.
    bool isFollowed = false;
    struct Result {
      uint64_t undefined, partial, padding, computed;
      uint32_t definedBits[MaxLanes];
    } results[2];
    Bits scalarResult;
    bool isSccKnown = false;
    std::vector<uint8_t> scratch;

    void setScalar(unsigned index, uint32_t defined, bool isComputed = false) {
      scalars[index] = defined;
      const uint64_t bit = uint64_t(1) << index % 64;
      uint64_t &word = undefinedScalars[index / 64];
      word = defined == ~0u ? word & ~bit : word | bit;
      uint64_t &made = computedScalars[index / 64];
      made = isComputed ? made | bit : made & ~bit;
    }
    /// A word of a lane.
    Bits bitsOf(unsigned row, unsigned lane, uint32_t value) const;
    Bits bitsOfScalar(unsigned index, uint32_t value) const;
  };
  /// Bytes as the bits of a word.
  static uint32_t spreadBytes(unsigned bytes) {
    return ((bytes & 1) | (bytes & 2) << 7 | (bytes & 4) << 14 |
            (bytes & 8) << 21) *
           0xff;
  }
  static bool readsUndefined(const WaveState &state, const Footprint &footprint,
                             uint64_t lanes) {
    uint64_t undefined =
        (footprint.scalarReads[0] & state.undefinedScalars[0]) |
        (footprint.scalarReads[1] & state.undefinedScalars[1]) |
        uint64_t(footprint.readsScc && !state.scc) | uint64_t(footprint.isWide);
    for (unsigned k = 0; k < footprint.numReads; ++k)
      undefined |= lanes & ~state.rows[footprint.reads[k]];
    for (unsigned k = 0; footprint.keepsLanes && k < footprint.numWrites; ++k)
      undefined |= lanes & ~state.rows[footprint.writes[k]];
    return undefined;
  }
  /// Whether M0 may select other registers than the instruction names.
  bool isIndexed(const Instruction &inst, const Wave &w) const {
    return uint64_t(w.mode & ModeGprIndex) | uint64_t(relative[inst.index]);
  }
  /// The registers that are read or written where an instruction names these.
  RegisterRange selected(const Instruction &inst, const InstructionInfo &info,
                         const Wave &w, RegisterRange range,
                         bool isWrite) const;
  void check(const Instruction &inst, Wave &w, WaveState &state);
  void define(const Instruction &inst, Wave &w, WaveState &state);

  Origin originOf(const Instruction &inst, const WaveState &state,
                  const RegisterRange &range, unsigned k) const;
  std::string describe(const Origin &origin) const;
  uint64_t undefinedLanes(const WaveState &state, const RegisterRange &range,
                          uint64_t lanes, unsigned &which) const;
  uint64_t crossLane(const Instruction &inst, const InstructionInfo &info,
                     const Wave &w, WaveState &state);
  void noteLoaded(WaveState &state, const Instruction &inst, unsigned lane,
                  const uint8_t *shadow, unsigned bytes, Origin::Kind kind,
                  uint64_t place, unsigned firstWord = 0);
  /// An access of a run of lanes, whose bytes have this shadow.
  void access(const Instruction &inst, const Wave &w, WaveState &state,
              const AccessRun &run, uint8_t *shadow, AccessKind kind,
              Origin::Kind place, unsigned firstWord, unsigned store);
  void accessUndefined(const Instruction &inst, const Wave &w, WaveState &state,
                       const AccessRun &run, uint8_t *shadow, AccessKind kind,
                       Origin::Kind place, unsigned firstWord, unsigned store);
  void noteStored(const WaveState &state, const Instruction &inst,
                  unsigned store, unsigned lane, uint8_t *shadow,
                  unsigned bytes) const;
  /// Where the lanes of source 0 come from.
  struct LaneMap {
    bool isMoved = false; ///< else every lane from itself
    uint64_t reads = 0;   ///< lanes that read another one; the rest reads zero
    uint8_t from[MaxLanes];
  };
  LaneMap moveLanes(const Instruction &inst, const Wave &w,
                    WaveState &state) const;
  /// What an instruction reads of its source \p k.
  Bits sourceOf(const Instruction &inst, const Wave &w, const WaveState &state,
                unsigned k, Part part, const LaneMap &map, unsigned lane) const;
  Bits resultOf(const Instruction &inst, const FlowRule &rule, const Wave &w,
                const WaveState &state, const LaneMap &map,
                unsigned lane) const;
  /// Follows the bits of the sources into the result, where there is a rule.
  bool follow(const Instruction &inst, const InstructionInfo &info,
              const Wave &w, const LaneMap &map, WaveState &state);
  /// What is known of a register's new word besides that it is undefined.
  void keepBits(WaveState &state, unsigned row, unsigned word, bool isLoad,
                uint64_t undefined, uint64_t written);
  /// Lanes of a store whose data may be undefined as far as they are.
  uint64_t storable(const WaveState &state, const Instruction &inst,
                    const RegisterRange &range) const;
  void fault(const Instruction &inst, const Wave &w, int lane,
             const std::string &use, const Origin &origin);

  Monitor &monitor;
  std::vector<WaveState> waves;
  std::vector<uint8_t> lds; ///< by byte: written
  enum class Shape : uint8_t {
    Plain,
    ReadLane,
    ReadFirstLane,
    WriteLane,
    Mfma,
    Swap16,
    Swap32,
    Swap,
    Permute
  };
  /// By instruction: with defined sources it defines the lanes of EXEC in what
  /// it writes, and nothing else.
  std::vector<uint8_t> followsExec;
  /// By instruction: which of its scalar registers M0 moves.
  enum Relative : uint8_t { MovesNone, MovesDestination, MovesSource };
  std::vector<uint8_t> relative;
  std::vector<FlowRule> rules;    ///< by mnemonic
  uint16_t bitop3 = 0xffff;       ///< its mnemonic
  std::vector<Shape> shapes;      ///< by mnemonic
  std::vector<uint8_t> keepsTied; ///< by mnemonic: a tied source is a source
  std::vector<uint8_t> cancels;   ///< by mnemonic: of a value and itself, known
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_INITCHECKER_H
