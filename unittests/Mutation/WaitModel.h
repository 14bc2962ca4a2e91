//===- WaitModel.h - Can a weaker wait change a result? ---------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Replays the instructions that the waves executed, and answers whether the
// program with one weaker s_waitcnt depends on timing. A wait changes no value
// on the simulator, so that one recorded execution serves all mutants. The
// rule, which does not ask the simulator's checkers:
//
//  - memory operations of a wave are outstanding from their issue until an
//    s_waitcnt that suffices: vector memory operations and LDS operations come
//    back in order, each kind by itself; scalar loads only with lgkmcnt(0);
//    flat ones with vmcnt(0) if a lane is in memory, and lgkmcnt(0) if a lane
//    is in LDS;
//  - the mutant can change a result when an instruction names a register that
//    an outstanding load delivers to one of the lanes the instruction runs on
//    (a load of the same in-order kind may overwrite it); or when an LDS write
//    is outstanding as the wave passes a barrier, and behind it, before the
//    wave waits for the write, another wave may access the same bytes; or a
//    load to LDS is outstanding as the wave reads LDS or comes to a barrier; or
//    a store to bytes in which work-groups conflict is outstanding as the wave
//    executes an atomic or a store at device or system scope; or a vector write
//    of memory is outstanding as the wave, or another one behind a barrier,
//    reads the same bytes by a scalar load; or the other way round;
//  - and only when the unchanged program does not do the same there.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_MUTATION_WAITMODEL_H
#define NETRA_UNITTESTS_MUTATION_WAITMODEL_H

#include "NopModel.h"
#include "SharingModel.h"
#include <set>

namespace netra::mutation {

class WaitModel {
public:
  WaitModel(const Recording &recording, const SharingModel &sharing);

  /// "" when the unchanged program depends on timing nowhere by loads; the
  /// first dependence otherwise, which is a fault of this model or of the
  /// program.
  std::string unchangedFault() const;

  /// Why the program with the wait at `pc` replaced can change a result; ""
  /// when it cannot.
  std::string canChange(uint64_t pc, WaitCounters counters) const;

  /// Why the program with the s_nop at `pc` waiting `states` states can change
  /// a result, by NopModel; "" when it cannot.
  std::string nopCanChange(uint64_t pc, unsigned states,
                           Rules rules = Rules::Isa) const;

private:
  struct Dependence {
    const char *what = nullptr; ///< between the texts of the two
    bool isLoad = false;
  };
  /// Dependences by two operations: what depends, and on what.
  using Dependences = std::map<std::pair<unsigned, unsigned>, Dependence>;

  /// Bytes that scalar loads of a group read and its vector accesses write.
  static std::vector<ByteRange> mixedBytes(const Recording &recording,
                                           const GroupHistory &group);
  bool isMixed(uint64_t group, const Access &access) const;
  size_t likeness(uint64_t group) const;
  void replay(uint64_t group, unsigned wave, uint64_t changedPc,
              WaitCounters counters, Dependences &found) const;
  std::string describe(const Dependences::value_type &dependence) const;

  const Recording &recording;
  const SharingModel &sharing;
  std::vector<std::vector<ByteRange>> mixed; ///< by group
  /// Work-groups of which no two did the same.
  std::vector<uint64_t> groups;
  Dependences base; ///< of the unchanged program
};

} // namespace netra::mutation

#endif // NETRA_UNITTESTS_MUTATION_WAITMODEL_H
