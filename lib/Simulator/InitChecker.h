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
// Registers and memory are followed by bits, registers where the rules of
// InitFlow.h tell on which of its sources a result depends. Structures are
// copied with their padding, so an undefined bit may be stored that was loaded
// from memory and has only been moved by whole bytes since. Three are no
// padding: what was computed, a register that nothing wrote, and a value of
// which nothing is defined among values that lanes load or store side by side.
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
          state.setScalar(s, {});
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
  /// What is known of a word that is not wholly defined; see Bits.
  struct WordBits {
    uint32_t defined = ~0u, computed = 0;
    Origin origin = {};
  };
  struct WaveState {
    uint64_t rows[NumVectorRows] = {}; ///< lanes with a defined value
    WordBits scalars[NumScalarRegisters];
    uint64_t undefinedScalars[2] = {}; ///< in part
    bool scc = false;
    Origin sccOrigin;
    /// Of the undefined lanes, those of whose word more is known than that
    /// nothing wrote it.
    uint64_t followed[NumVectorRows] = {};
    /// [row][lane], where followed; empty until something is.
    std::vector<WordBits> words;
    /// Of the instruction in execution: lanes whose loaded word is undefined,
    /// by word.
    uint64_t loaded[16] = {};
    bool hasLoaded = false;
    bool hasUndefinedLoad = false; ///< some of `loaded` is set
    /// Result of the sources of the instruction in execution.
    uint64_t undefined = 0;
    uint64_t exec = 0;
    uint32_t instruction = 0; ///< itself, if it reads something undefined
    Origin origin;            ///< of one of its undefined sources
    /// Of the result's undefined lanes, unless it was followed by bits.
    Origin laneOrigins[MaxLanes];
    uint64_t second = 0; ///< rows of a matrix that are undefined
    unsigned stores = 0; ///< accesses of its stores so far
    /// Whether its result was followed by bits, and the words of that, or the
    /// two destinations.
    bool isFollowed = false;
    struct Result {
      uint64_t undefined;
      WordBits words[MaxLanes];
    } results[2];
    Bits scalarResult;
    bool isSccKnown = false;
    std::vector<uint8_t> scratch;
    std::vector<uint8_t> scratchComputed; ///< empty until there is a bit

    void setScalar(unsigned index, const WordBits &bits) {
      scalars[index] = bits;
      const uint64_t bit = uint64_t(1) << index % 64;
      uint64_t &word = undefinedScalars[index / 64];
      word = bits.defined == ~0u ? word & ~bit : word | bit;
    }
    void noteResult(unsigned n, unsigned lane, const Bits &bits);
    /// A word of a lane.
    Bits bitsOf(unsigned row, unsigned lane, uint32_t value) const;
    Bits bitsOfScalar(unsigned index, uint32_t value) const;
  };
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

  std::string describe(const Origin &origin) const;
  uint64_t undefinedLanes(const WaveState &state, const RegisterRange &range,
                          uint64_t lanes) const;
  /// Of the first of the registers that is undefined in this lane.
  Origin originOf(const WaveState &state, const RegisterRange &range,
                  unsigned lane) const;
  uint64_t crossLane(const Instruction &inst, const InstructionInfo &info,
                     const Wave &w, WaveState &state);
  /// Shadows of memory: a byte for each byte, whose bits tell which of its bits
  /// are defined; and which of the others are no padding, since they were
  /// computed or copied from elsewhere. The second is there for LDS and private
  /// memory only.
  struct Shadow {
    uint8_t *defined;
    std::vector<uint8_t> *computed; ///< empty until there is a bit
    size_t at;                      ///< of the first byte, in it
    Origin::Kind kind;
  };
  /// An access of one lane, \p isElement if its neighbours access what lies
  /// beside it.
  /// Returns the origin of the first that is undefined.
  Origin noteLoaded(WaveState &state, const Instruction &inst, unsigned lane,
                    const Shadow &shadow, unsigned bytes, uint64_t address,
                    unsigned firstWord, bool isElement);
  void noteStored(const Instruction &inst, const Wave &w, WaveState &state,
                  unsigned store, unsigned lane, const Shadow &shadow,
                  unsigned bytes, uint64_t address, bool isElement);
  /// An access of a run of lanes, whose bytes have this shadow.
  void access(const Instruction &inst, const Wave &w, WaveState &state,
              const AccessRun &run, const Shadow &shadow, AccessKind kind,
              unsigned firstWord, unsigned store);
  void accessUndefined(const Instruction &inst, const Wave &w, WaveState &state,
                       const AccessRun &run, Shadow shadow, AccessKind kind,
                       unsigned firstWord, unsigned store);
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
  Bits oldOf(const Instruction &inst, const Wave &w, const WaveState &state,
             unsigned lane, unsigned n) const;
  unsigned movedBy(const Instruction &inst, const Wave &w, const Operand &named,
                   unsigned enable) const;
  Bits resultOf(const Instruction &inst, const FlowRule &rule, const Wave &w,
                const WaveState &state, const LaneMap &map,
                unsigned lane) const;
  /// Follows the bits of the sources into the result, where there is a rule.
  bool follow(const Instruction &inst, const InstructionInfo &info,
              const Wave &w, const LaneMap &map, WaveState &state);
  static void startResults(WaveState &state);
  /// What is known of a register's new word besides that it is undefined.
  void keepBits(WaveState &state, unsigned row, const WordBits *words,
                uint64_t undefined, uint64_t written);
  /// Puts the origins of lanes where they belong for a result that is not
  /// followed.
  void noteOrigins(const Instruction &inst, const InstructionInfo &info,
                   const Wave &w, const LaneMap &map, WaveState &state);
  void fault(const Instruction &inst, const Wave &w, int lane,
             const std::string &use, const Origin &origin);

  Monitor &monitor;
  std::vector<WaveState> waves;
  std::vector<uint8_t> lds, ldsComputed; ///< see Shadow
  WordBits loadedWords[16][MaxLanes];    ///< of the load in execution
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
  /// How loads extend what they load, and what stores and swaps store. By
  /// mnemonic.
  struct Element {
    bool isSigned = false, isHalf = false; ///< extended to a half
    uint8_t high = 0;                      ///< 16 for the high half
    bool isFormat = false;                 ///< converted
    bool isSwap = false;                   ///< an atomic that stores its data
    bool isPair = false;                   ///< two accesses, each its data
    bool isBuffer = false;
  };
  std::vector<Element> elements;
  std::vector<FlowRule> rules;    ///< by mnemonic
  std::vector<uint8_t> isBitop3;  ///< by mnemonic: has its own truth table
  std::vector<Shape> shapes;      ///< by mnemonic
  std::vector<uint8_t> keepsTied; ///< by mnemonic: a tied source is a source
  std::vector<uint8_t> cancels;   ///< by mnemonic: of a value and itself, known
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_INITCHECKER_H
