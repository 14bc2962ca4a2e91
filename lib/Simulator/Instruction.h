//===- Instruction.h - The decoded instruction ------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// The compact form into which each machine instruction is brought once per code
// object. Handlers see nothing else: neither LLVM's opcode numbers nor the
// encoding they came from, so the same semantics serve every target whose
// decoder produces this form.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_INSTRUCTION_H
#define NETRA_LIB_SIMULATOR_INSTRUCTION_H

#include <cstdint>
#include <string>
#include <vector>

namespace netra::sim {

class Wave;
struct Instruction;
struct MatrixShape;

/// Executes one instruction for one wave. The run loop has already set the
/// wave's nextPc to the following instruction.
using Handler = void (*)(const Instruction &, Wave &);

/// The arithmetic of a vector instruction apart from its operands' modifiers
/// and EXEC: from words of up to three sources to words of the result, for
/// \p lanes lanes (32 or 64) under \p mode. \p out may be one of the sources.
using LaneKernel = void (*)(const uint32_t *a, const uint32_t *b,
                            const uint32_t *c, uint32_t *out, unsigned lanes,
                            uint32_t mode);

/// Scalar registers live in one file per wave. Special registers have fixed
/// places in it whatever their encoding on the target.
enum ScalarRegister : uint16_t {
  // 0..101 are s0..s101.
  FlatScratchLo = 102,
  FlatScratchHi = 103,
  XnackMaskLo = 104,
  XnackMaskHi = 105,
  VccLo = 106,
  VccHi = 107,
  Ttmp0 = 108, // ..123
  M0 = 124,
  Null = 125, // reads 0, writes vanish
  ExecLo = 126,
  ExecHi = 127,
  NumScalarRegisters = 128
};

/// The first row of the accumulation registers in the vector register file:
/// a[n] is row AccumulationBase + n.
constexpr unsigned AccumulationBase = 256;
constexpr unsigned NumVectorRows = 512;

enum class OperandKind : uint8_t {
  None,     ///< absent, or `off`
  Vector,   ///< rows index .. index + words - 1 of the vector register file
  Scalar,   ///< words index .. of the scalar file: s, vcc, exec, m0, ttmp, ...
  Constant, ///< inline constant or literal, in value
  Status    ///< a StatusSource computed when read
};

/// Values of Operand::index when kind is Status.
enum StatusSource : uint16_t { StatusScc, StatusVccz, StatusExecz };

/// Bits of Operand::modifiers. The names in brackets are those of packed
/// (VOP3P) instructions, which share the bits.
enum OperandModifier : uint8_t {
  ModNeg = 1,     ///< negate (neg_lo)
  ModAbs = 2,     ///< absolute value (neg_hi)
  ModOpSel = 4,   ///< op_sel of this source: take the high half
  ModOpSelHi = 8, ///< op_sel_hi of this source; on source 0 of an unpacked
                  ///< VOP3 instruction: op_sel of the destination
  ModSext = 16    ///< SDWA sext()
};

/// SDWA selections, with LLVM's and the hardware's numbers.
enum class SdwaSel : uint8_t {
  Byte0,
  Byte1,
  Byte2,
  Byte3,
  Word0,
  Word1,
  Dword
};
enum class SdwaUnused : uint8_t { Pad, Sext, Preserve };

struct Operand {
  /// Constants: the bits, already in the operand's own type (1.0 of an f16
  /// source is 0x3c00, of an f64 source 0x3ff0000000000000; a 32-bit literal
  /// of an f64 source sits in the high half). Integers are sign-extended
  /// inline constants or zero-extended literals.
  uint64_t value = 0;
  /// Constants: one lane vector holding the low word in every lane, followed
  /// by one holding the high word. Owned by the program.
  const uint32_t *splat = nullptr;
  OperandKind kind = OperandKind::None;
  uint8_t modifiers = 0; ///< OperandModifier bits
  uint8_t words = 0;     ///< registers covered; 0 for constants
  SdwaSel sel = SdwaSel::Dword;
  uint16_t index = 0;

  bool isVector() const { return kind == OperandKind::Vector; }
  bool isScalar() const { return kind == OperandKind::Scalar; }
  bool isConstant() const { return kind == OperandKind::Constant; }
  bool isAccumulation() const {
    return kind == OperandKind::Vector && index >= AccumulationBase;
  }
};

/// How the instruction was encoded, as far as its semantics depend on it. The
/// mnemonic's suffixes _e32, _e64, _dpp and _sdwa are removed before look-up.
enum class Encoding : uint8_t { Plain = 1, Dpp = 2, Sdwa = 4 };

/// The dpp_ctrl field, with the hardware's numbers.
enum DppControl : uint16_t {
  DppQuadPerm = 0x000,      // ..0x0ff
  DppRowShl = 0x100,        // + 1..15
  DppRowShr = 0x110,        // + 1..15
  DppRowRor = 0x120,        // + 1..15
  DppWaveShl = 0x130,       // by 1
  DppWaveRol = 0x134,       // by 1
  DppWaveShr = 0x138,       // by 1
  DppWaveRor = 0x13c,       // by 1
  DppRowMirror = 0x140,     //
  DppRowHalfMirror = 0x141, //
  DppRowBcast15 = 0x142,
  DppRowBcast31 = 0x143,
  DppRowNewBcast = 0x150 // + lane 0..15
};

constexpr unsigned MaxOperands = 6;

struct Instruction {
  Handler handler = nullptr;
  LaneKernel kernel = nullptr; ///< what the handler computes with, if it does
  const MatrixShape *shape = nullptr; ///< matrix instructions

  /// The operands in the order of the assembly text, destinations first, with
  /// implied ones that the text shows (vcc) present. `off` has kind None.
  Operand ops[MaxOperands];

  /// Immediate of branches (target, an index into the program, or see
  /// Program::immediateOf), s_waitcnt,
  /// s_nop, s_setreg and the like (the raw field); memory offset otherwise.
  int64_t imm = 0;

  uint16_t dppControl = 0;
  uint8_t numOps = 0;
  Encoding encoding = Encoding::Plain;
  uint8_t dppRowMask = 0xf, dppBankMask = 0xf;
  bool dppBoundControl = false; ///< bound_ctrl:1: lanes out of range read 0

  SdwaSel sdwaDst = SdwaSel::Dword;
  SdwaUnused sdwaUnused = SdwaUnused::Pad;

  bool clamp = false;
  uint8_t omod = 0; ///< 0 none, 1 ×2, 2 ×4, 3 ÷2

  /// op_sel / op_sel_hi / neg_lo / neg_hi of all sources as masks: bit k is
  /// source k. For unpacked VOP3, bit 3 of opSel is the destination's. For
  /// scaled MFMA, bit k of {opSelHi, opSel} selects the byte of scale k.
  uint8_t opSel = 0, opSelHi = 0, negLo = 0, negHi = 0;

  uint8_t cbsz = 0, abid = 0, blgp = 0; ///< matrix instructions
  uint8_t bitop3 = 0;                   ///< v_bitop3 truth table

  /// Memory instructions.
  uint8_t offset0 = 0, offset1 = 0; ///< ds_read2 and friends, in elements
  bool sc0 = false, sc1 = false, nt = false;
  bool offen = false, idxen = false, lds = false;
  bool isReturning = false; ///< atomics that give the old value back
  /// Typed buffer instructions: data format, and number format from bit 4.
  uint8_t format = 0;

  uint32_t index = 0; ///< position in the program

  /// Source k counted from the first operand that is not a destination.
  uint8_t numDst = 0;
  const Operand &dst(unsigned k = 0) const { return ops[k]; }
  const Operand &src(unsigned k) const { return ops[numDst + k]; }
  unsigned numSrc() const { return numOps - numDst; }
};

enum class RegisterFile : uint8_t { Vector, Scalar, Scc };

/// Registers read or written by an instruction, for checkers and traces.
struct RegisterRange {
  RegisterFile file = RegisterFile::Vector;
  uint8_t count = 0;
  uint16_t first = 0;
  bool isTied = false; ///< read only because the destination is kept in part
};

/// Broad classes, for counters and hazards.
enum class InstructionClass : uint8_t {
  Salu,
  Valu,
  Transcendental,
  Mfma,
  ScalarMemory,
  VectorMemory, ///< buffer, global, scratch
  Flat,
  Lds,
  Branch,
  Message, ///< s_waitcnt, s_nop, s_barrier, s_endpgm and the like
  NumClasses
};

/// What is known of an instruction besides what running it needs.
struct InstructionInfo {
  uint64_t pc = 0; ///< address in the code object's own numbering
  uint32_t bytes = 0;
  InstructionClass cls = InstructionClass::Message;
  uint16_t mnemonicId = 0; ///< index into Program::mnemonics
  bool isLoad = false, isStore = false, isAtomic = false;
  bool readsExec = false, writesExec = false, writesVcc = false;
  bool readsAllLanes = false; ///< sources are read whatever EXEC says
  std::string text;           ///< assembly, without leading blanks
  std::string problem;        ///< why it cannot be run; empty if it can
  std::vector<RegisterRange> reads, writes;
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_INSTRUCTION_H
