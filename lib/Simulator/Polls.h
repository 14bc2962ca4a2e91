//===- Polls.h - Reads by which waves wait for each other -------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// The ISA has no atomic read of LDS that differs from ds_read, and compilers
// make one of the other. What tells a flag from data is what the program does
// with it, which is found in its code and does not depend on any schedule:
//
//  - a read, or an atomic operation that returns a value, is made again and
//    again at one address, in a loop that changes nothing that other waves can
//    see, until the value lets the wave leave it. An atomic operation is one
//    whose data stay the same and which does nothing when it is repeated, such
//    as taking a lock by compare-and-swap. One that computes what it writes of
//    what it read, or adds to it, is an update;
//  - the same read in front of such a loop, when its value decides whether the
//    loop is entered (compilers take the first turn out of a loop);
//  - a read whose value a compare-and-swap at the same address compares: if the
//    word has changed since, the swap fails. The wave learns nothing by it;
//  - an atomic operation that returns a value decides a branch behind it (the
//    last wave to arrive goes on).
//
// Values are followed by what computes them: two are the same when the same
// operations made them of the same values.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_POLLS_H
#define NETRA_LIB_SIMULATOR_POLLS_H

#include "llvm/ADT/BitVector.h"

namespace netra::sim {

class Program;

class Polls {
public:
  explicit Polls(const Program &program);

  bool any() const { return !learning.empty(); }
  /// Whether the wave waits by this instruction, or has its value checked
  /// later.
  bool waits(uint32_t index) const { return any() && waiting[index]; }
  /// Whether it does, or decides something by what others have done.
  bool learns(uint32_t index) const { return any() && learning[index]; }

private:
  llvm::BitVector waiting, learning; ///< by instruction; empty if none does
};

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_POLLS_H
