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

/// A value of up to 64 bits and which of them are defined. Bits above its width
/// are defined zeros.
struct Bits {
  uint64_t value = 0, defined = ~uint64_t(0);
  /// Undefined bits that an instruction computed or moved to another place: no
  /// padding of a structure that is copied.
  uint64_t computed = 0;

  bool isKnown() const { return defined == ~uint64_t(0); }
  Bits field(unsigned at, unsigned width, bool isSigned = false) const;
  Bits shiftedLeft(unsigned by, unsigned width) const;
  /// As part of a wider value, where it belongs.
  Bits placed(unsigned at) const;
  /// With \p other in the bits of the mask.
  Bits with(const Bits &other, uint64_t mask) const;
  /// What an operation that is not followed makes of it.
  Bits spoilt(unsigned width) const;
  /// The same of an element of a vector: one that was never there stays so.
  Bits spared(unsigned width) const;
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
  Sum,          ///< sums and products: on the bits at and below its own place
  Field,        ///< of a at b, c bits wide
  FieldSigned,
  FieldPacked, ///< of a at b, b >> 16 bits wide
  FieldPackedSigned,
  Extend8,
  Extend16,
  TestBit,     ///< bit b of a
  AlignBits,   ///< a:b >> c
  AlignBytes,  ///< a:b >> 8 * c
  Permute,     ///< the bytes of a:b that c names
  Pack,        ///< a half each of a and b
  PackBytes,   ///< a byte each, into the half that op_sel names
  Pairs,       ///< words, which op_sel and op_sel_hi name
  PairMove,    ///< a word each of a and b, which op_sel names
  Halves,      ///< halves, which op_sel and op_sel_hi name
  Mixed,       ///< halves that op_sel names where op_sel_hi is set, else words
  MixedToLow,  ///< the same; the result is a half
  MixedToHigh, //
};

/// What of a source is read.
enum class Part : char {
  None = 0,
  Word = 'w',
  Pair = 'd',
  Low = 'h',   ///< the low half, or the one that op_sel names
  High = 'H',  ///< the high half
  Low24 = 't', ///< the low 24 bits
  Flag = 'f',  ///< one bit: the lane's of a mask, or SCC
  Mask = 'm',  ///< the same in all bits
  Exec = 'x',
  Byte0 = '0', // .. Byte3
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

  static FlowRule of(llvm::StringRef mnemonic);
  bool isMove() const { return flow == Flow::Logic && table == 0xf0; }
};

/// The result of a flow whose sources need no modifiers, from three sources;
/// what a rule does not name is zero.
Bits combine(const FlowRule &rule, const Bits *source);

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_INITFLOW_H
