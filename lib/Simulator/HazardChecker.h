//===- HazardChecker.h - Wait states that nobody interlocks -----*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// The rules are data: a producer, a consumer, the wait states needed between
// them, and a sentence. Every issued instruction counts as one wait state and
// s_nop N as N + 1, as the instruction set manual counts.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_HAZARDCHECKER_H
#define NETRA_LIB_SIMULATOR_HAZARDCHECKER_H

#include "Monitor.h"
#include <algorithm>

namespace netra::sim {

enum class Producer : uint8_t {
  Valu,           ///< vector ALU writes a VGPR
  Transcendental, ///< transcendental writes a VGPR
  MovedBits,      ///< SDWA or op_sel places the result in part of a VGPR
  Dot,            ///< v_dot* writes a VGPR; not a Valu in these rules
  Xdl,            ///< matrix instruction on the XDL writes a VGPR
  Sgemm,          ///< f32 matrix instruction writes a VGPR
  Dgemm16,        ///< f64 16x16x4 matrix instruction writes a VGPR
  Dgemm4,         ///< f64 4x4x4 matrix instruction writes a VGPR
  MatrixC,        ///< matrix instruction on the XDL reads a VGPR as SrcC
  WideStore,      ///< more than 64 bits of data to store are read from VGPRs
  ValuSgpr,       ///< vector ALU writes an SGPR or VCC
  ValuExec,       ///< vector ALU (v_cmpx) writes EXEC
  SaluM0,         ///< scalar ALU writes M0
  SetReg,         ///< s_setreg
  None
};

enum class Consumer : uint8_t {
  ValuRead,       ///< vector ALU reads a VGPR
  NonTransRead,   ///< vector ALU other than transcendental reads a VGPR
  ValuWrite,      ///< vector ALU writes a VGPR
  DppRead,        ///< source 0 with DPP
  ReadLaneRead,   ///< v_readlane, v_readfirstlane read a VGPR
  PermlaneRead,   ///< v_permlane* reads a VGPR
  MatrixRead,     ///< matrix instruction reads a VGPR
  MatrixCSame,    ///< as SrcC, exactly the registers of the producer's result
  MatrixCXdl,     ///< as SrcC on the XDL, other registers that overlap it
  MatrixCGemm,    ///< the same by an f32 or f64 matrix instruction
  MatrixAB,       ///< as SrcA or SrcB
  MemoryRead,     ///< memory or LDS instruction reads a VGPR
  DotOther,       ///< a v_dot* of another opcode, or as SrcA or SrcB
  LaneSelect,     ///< SGPR that selects the lane of v_readlane, v_writelane
  DivFmas,        ///< v_div_fmas reads VCC
  VmemScalar,     ///< vector memory reads an SGPR
  ConstantRead,   ///< vector ALU reads an SGPR as a constant
  ZeroFlagRead,   ///< vector ALU reads VCCZ or EXECZ
  Dpp,            ///< any DPP instruction
  ExecConstant,   ///< vector ALU reads EXEC as a constant
  LaneOp,         ///< v_readlane, v_readfirstlane, v_writelane
  Permlane,       ///< v_permlane*
  Matrix,         ///< any matrix instruction
  M0Use,          ///< LDS add-TID, load to LDS, s_sendmsg, s_movrel
  RegisterAccess, ///< s_getreg or s_setreg of the same register
  None
};

struct HazardRule {
  Producer producer;
  Consumer consumer;
  /// Wait states needed; by the producer's passes 2, 4, 8, 16 for matrix
  /// instructions, else the first.
  uint8_t states[4];
  const char *text;
};

/// All rules, for documentation and tests.
llvm::ArrayRef<HazardRule> hazardRules();

class HazardChecker {
public:
  explicit HazardChecker(Monitor &monitor);
  void startGroup();
  void before(const Instruction &inst, const Footprint &footprint, Wave &w) {
    WaveState &state = waves[w.context->index];
    const Fact &f = facts[inst.index];
    if (!f.isSimple || footprint.isWide || needsCheck(state, footprint, f))
      check(inst, w, state);
    else
      advance(inst, footprint, f, state);
  }
  /// An instruction that touches neither registers nor memory.
  void pass(const Instruction &inst, Wave &w) {
    WaveState &state = waves[w.context->index];
    const Fact &f = facts[inst.index];
    if (f.onlyPasses)
      state.time += f.states;
    else
      check(inst, w, state);
  }

private:
  struct Write {
    int64_t time = -1000;
    uint32_t instruction = 0;
    uint16_t first = 0; ///< of the result's registers
    uint8_t count = 0, passIndex = 0;
    uint16_t kinds = 0; ///< bits of Producer
  };
  struct WaveState {
    int64_t time = 0;
    /// As long as a rule may apply whose producer wrote a vector register and
    /// is no plain vector ALU instruction, or wrote a scalar register.
    int64_t specialUntil = -1, scalarUntil = -1;
    /// Scalar registers whose last writer is a vector ALU instruction.
    uint64_t valuScalars[2] = {};
    /// When one of the next two tables was last written.
    int64_t matrixCTime = -1000, wideStoreTime = -1000;
    Write rows[NumVectorRows];
    Write matrixC[NumVectorRows];
    Write wideStore[NumVectorRows];
    Write scalars[NumScalarRegisters];
    Write exec, m0;
    Write hardware[64];
  };
  static constexpr uint8_t NoOperand = 0xff;
  struct Fact {         ///< of an instruction, found once
    uint16_t kinds = 0; ///< what its vector result is
    /// Producers that some rule sets before reading or writing a vector
    /// register: all others need no look at the rules.
    uint16_t readAfter = 0, writeAfter = 0;
    uint8_t reach = 0; ///< states after which no rule has it as the producer
    /// With no such producer around, no rule can apply.
    bool isSimple = false;
    bool onlyPasses = false; ///< nothing happens but that states pass
    uint8_t states = 1;      ///< that it takes
    uint8_t passIndex = 0;   ///< of HazardRule::states
    bool isTrans = false, isMatrix = false, isDot = false, isPermlane = false,
         isLaneRead = false, isWriteLane = false, isDivFmas = false,
         isCarry = false, isMemory = false, isVmem = false, usesM0 = false,
         isValu = false, isSetReg = false, isGetReg = false, isKnown = false,
         losesAccumulator = false;
    bool keepsRest = false; ///< writes a part of a VGPR and keeps the rest
    /// Which operand is SrcC of a matrix instruction or of v_dot*; else none.
    uint8_t accumulator = NoOperand;
    uint32_t wideStoreData = 0; ///< 1 + first row
    uint8_t wideStoreCount = 0;
  };
  const Fact &fact(const Instruction &inst, const InstructionInfo &info) {
    const Fact &known = facts[inst.index];
    return known.isKnown ? known : findFact(inst, info);
  }
  static bool needsCheck(const WaveState &state, const Footprint &footprint,
                         const Fact &f) {
    const int64_t now = state.time + 1;
    if (!f.isValu && !f.isMemory)
      return false;
    if (now <= state.specialUntil)
      return true;
    if (now <= state.scalarUntil &&
        ((footprint.scalarReads[0] & state.valuScalars[0]) |
         (footprint.scalarReads[1] & state.valuScalars[1])))
      return true;
    const int64_t last = f.isValu
                             ? std::max(state.matrixCTime, state.wideStoreTime)
                             : state.m0.time;
    return (f.isValu || f.usesM0) && now - last <= MaxStates;
  }
  /// What is left to do for an instruction that no rule is about.
  static void advance(const Instruction &inst, const Footprint &footprint,
                      const Fact &f, WaveState &state) {
    Write now;
    now.time = ++state.time;
    now.instruction = inst.index;
    now.first = footprint.writes[0];
    now.count = footprint.numWrites;
    now.kinds = f.kinds;
    for (unsigned k = 0; k < footprint.numWrites; ++k)
      state.rows[footprint.writes[k]] = now;
    if (f.reach)
      state.specialUntil = std::max(state.specialUntil, now.time + f.reach);
    for (unsigned half = 0; half < 2; ++half) {
      uint64_t written = footprint.scalarWrites[half];
      if (!f.isValu) {
        state.valuScalars[half] &= ~written;
        continue;
      }
      state.valuScalars[half] |= written;
      now.kinds = 1u << unsigned(Producer::ValuSgpr);
      for (; written; written &= written - 1) {
        state.scalars[64 * half + unsigned(__builtin_ctzll(written))] = now;
        state.scalarUntil = now.time + MaxScalarStates;
      }
    }
  }
  static constexpr int MaxStates = 20;      ///< that a rule asks for
  static constexpr int MaxScalarStates = 5; ///< of rules on scalar registers
  void check(const Instruction &inst, Wave &w, WaveState &state);
  const Fact &findFact(const Instruction &inst, const InstructionInfo &info);
  void require(const Instruction &inst, const Wave &w, const WaveState &state,
               const Write &write, Consumer consumer, RegisterFile file,
               unsigned index);

  Monitor &monitor;
  std::vector<WaveState> waves;
  std::vector<Fact> facts;
  static const HazardRule
      *table[unsigned(Producer::None)][unsigned(Consumer::None)];
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_HAZARDCHECKER_H
