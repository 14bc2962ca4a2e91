//===- InitFlow.h - Which bits of a result are defined ----------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// On which bits of its sources each bit of an instruction's result depends.
// Most instructions need all of them. The others stand in one table, by
// mnemonic: moves, logic, shifts and sums, the two words of 64-bit and packed
// instructions, the halves that 16-bit instructions read.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_INITFLOW_H
#define NETRA_LIB_SIMULATOR_INITFLOW_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace netra::sim {

/// Where an undefined value came from.
struct Origin {
  enum Kind : uint8_t { Lds, Scratch, Memory, None, Vector, Scalar, Scc };
  Kind kind = None;
  /// Lanes that follow each other in memory loaded a value each, and nothing of
  /// this one was defined.
  bool isElement = false;
  uint32_t instruction = ~0u; ///< that first read it
  uint64_t place = 0;         ///< register, or address

  /// Whether it was a register.
  bool isRegister() const { return kind > None; }
};

/// A value of up to 64 bits and which of them are defined. Bits above its width
/// are defined zeros.
struct Bits {
  uint64_t value = 0, defined = ~uint64_t(0);
  /// Undefined bits with which more was done than to move them by whole bytes.
  /// What else is undefined may be padding.
  uint64_t computed = 0;
  Origin origin = {}; ///< of one of the undefined bits

  bool isKnown() const { return defined == ~uint64_t(0); }
  Bits field(unsigned at, unsigned width, bool isSigned = false) const;
  Bits shiftedLeft(unsigned by, unsigned width) const;
  /// As part of a wider value, where it belongs.
  Bits placed(unsigned at) const;
  /// With \p other in the bits of the mask.
  Bits with(const Bits &other, uint64_t mask) const;
  /// What an operation that is not followed makes of it.
  Bits spoilt(unsigned width) const;
  /// The origin of the first that is undefined.
  static Origin originOf(const Bits *source, unsigned number);
};

/// How the result follows from sources a, b and c.
enum class Flow : uint8_t {
  None,  ///< all of it depends on all of the sources
  All,   ///< on all of the parts of the sources that the rule names
  Logic, ///< bit by bit, by the rule's truth table
  Reverse,
  ShiftLeft, ///< a by b
  ShiftRight,
  ShiftRightSigned,
  ShiftLeftBy, ///< b by a
  ShiftRightBy,
  ShiftRightSignedBy,
  ShiftLeftOr,  ///< (a << b) | c
  ShiftLeftAdd, ///< (a << b) + c
  AddShiftLeft, ///< (a + b) << c
  Add,          ///< sums: as far as carries reach
  Sum, ///< differences and products: on the bits at and below its own place
  Accumulate, ///< the last source plus what depends on all of the others
  Field,      ///< of a at b, c bits wide
  FieldSigned,
  FieldPacked, ///< of a at b, b >> 16 bits wide
  FieldPackedSigned,
  Extend8,
  Extend16,
  TestBit,      ///< bit b of a
  SetBit,       ///< bit a of b
  FirstLow,     ///< the place of the lowest bit that is set
  FirstHigh,    ///< of the highest
  AlignBits,    ///< a:b >> c
  AlignBytes,   ///< a:b >> 8 * c
  Permute,      ///< the bytes of a:b that c names
  Join,         ///< b << 16 | a
  Pack,         ///< a half that depends on a, and one that depends on b
  PackBytes,    ///< the same of bytes, with c in both
  NarrowHalves, ///< a byte each from the halves of a
  WidenBytes,   ///< a word each from the low bytes of a
  Bytes,        ///< each byte on those of the sources at its place
  InsertByte,   ///< byte b of c from a
  PairMove,     ///< a word each of a and b, which op_sel names
  Mixed,        ///< halves that op_sel names where op_sel_hi is set, else words
};

/// What of the destination a flow makes.
enum class Form : uint8_t {
  Whole,
  Half,   ///< the low half, or the one that op_sel names, beside which the
          ///< other stays; the high one is written, with zeros or not at all
  Merged, ///< a half, beside which the other one stays what it was
  High,   ///< the same, the high one
  Byte,   ///< the byte that op_sel names; the others stay
  Halves, ///< each half from the halves that op_sel and op_sel_hi name
  Pairs   ///< the same of words
};

/// What of a source is read.
enum class Part : char {
  None = 0,
  Word = 'w',
  Pair = 'd',
  Low = 'h',   ///< the low half, or the one that op_sel names
  High = 'H',  ///< the high half
  Low24 = 't', ///< the low 24 bits
  Low5 = '5',  ///< an amount
  Low6 = '6',
  Flag = 'f', ///< one bit: the lane's of a mask, or SCC
  Mask = 'm', ///< the same in all bits
  Exec = 'x',
  Old = 'o', ///< the destination
  OldPair = 'O',
  OldLow = 'k',
  ByteOf = 'b', ///< the byte that op_sel names
  Byte0 = '0',  // .. Byte3
  Byte3 = '3'
};

struct FlowRule {
  enum Scc : uint8_t {
    Kept,
    NonZero, ///< whether the result is not zero
    Carry    ///< depends on all of the sources
  };
  Flow flow = Flow::None;
  Part parts[3] = {};
  uint8_t words = 1; ///< of the result
  uint8_t table = 0; ///< bit 4 * a + 2 * b + c is the result
  Scc scc = Kept;
  Form form = Form::Whole;

  static FlowRule of(llvm::StringRef mnemonic);
  /// Bits of the result, or of each of its parts.
  unsigned width() const {
    return form == Form::Byte    ? 8
           : form == Form::Whole ? 32 * words
           : form == Form::Pairs ? 32
                                 : 16;
  }
};

/// The result of a flow, or a part of it, from three sources; what a rule does
/// not name is zero.
Bits combine(const FlowRule &rule, const Bits *source);

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_INITFLOW_H
