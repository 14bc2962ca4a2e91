//===- WaitModel.h - Can a weaker wait change a result? ---------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Replays the instructions that a wave executed, as text, and answers whether
// the program with one weaker s_waitcnt depends on timing. A wait changes no
// value on the simulator, so that one recorded execution serves all mutants.
// The rule, which does not ask the simulator's checkers:
//
//  - memory operations of a wave are outstanding from their issue until an
//    s_waitcnt that suffices: vector memory operations and LDS operations come
//    back in order, each kind by itself; scalar loads only with lgkmcnt(0);
//    flat ones only with vmcnt(0) and lgkmcnt(0);
//  - the mutant can change a result when an instruction names a register that
//    an outstanding load delivers to one of the lanes the instruction runs on
//    (a load of the same in-order kind may overwrite it); or when an LDS store
//    is outstanding as the wave comes to a barrier that other waves come to;
//    or a load to LDS is outstanding as the wave reads LDS or comes to a
//    barrier; or a store to memory is outstanding as the wave executes an
//    atomic or a store at device or system scope that other work-groups can
//    see;
//  - and only when the unchanged program does not do the same there.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_MUTATION_WAITMODEL_H
#define NETRA_UNITTESTS_MUTATION_WAITMODEL_H

#include "NopModel.h"
#include <map>
#include <set>

namespace netra::mutation {

/// What one executed wave did.
struct WaveHistory {
  struct Step {
    unsigned instruction; ///< in WaitModel's table
    uint64_t exec;
  };
  std::vector<Step> steps;
};

class WaitModel {
public:
  WaitModel(bool hasManyWaves, bool hasManyGroups)
      : hasManyWaves(hasManyWaves), hasManyGroups(hasManyGroups) {}

  /// Adds a wave by its trace; `exec` at its start. Returns how many
  /// instructions it executed.
  size_t addTrace(const std::string &trace, uint64_t exec);

  /// "" when the unchanged program depends on timing nowhere by loads; the
  /// first dependence otherwise, which is a fault of this model or of the
  /// program.
  std::string unchangedFault();

  /// Why the program with the wait at `pc` replaced can change a result; ""
  /// when it cannot.
  std::string canChange(uint64_t pc, WaitCounters counters);

  bool executes(uint64_t pc) const { return byPc.count(pc); }

  /// Why the program with the s_nop at `pc` waiting `states` states can change
  /// a result, by NopModel; "" when it cannot.
  std::string nopCanChange(uint64_t pc, unsigned states,
                           Rules rules = Rules::Isa) const;

private:
  enum class Class { Other, Wait, Vector, Lds, Scalar, Flat, Barrier };
  struct Operation {
    uint64_t pc = 0;
    std::string text;
    Class cls = Class::Other;
    std::vector<unsigned> named, defined;
    bool runsOnAllLanes = false;
    bool writesLds = false, readsLds = false, loadsToLds = false;
    bool storesMemory = false, publishes = false;
    WaitCounters counters;
  };
  struct Dependence {
    const char *what = nullptr; ///< between the texts of the two
    bool isLoad = false;
  };
  /// Dependences by two indices into `operations`: what depends, and on what.
  using Dependences = std::map<std::pair<unsigned, unsigned>, Dependence>;

  unsigned operationAt(uint64_t pc, const std::string &text);
  void replay(const WaveHistory &wave, uint64_t changedPc,
              WaitCounters counters, Dependences &found) const;
  const Dependences &unchanged();
  std::string describe(const Dependences::value_type &dependence) const;

  bool hasManyWaves, hasManyGroups;
  std::vector<Operation> operations;
  std::map<uint64_t, unsigned> byPc;
  std::vector<WaveHistory> waves;
  Dependences base;
  bool hasBase = false;
};

} // namespace netra::mutation

#endif // NETRA_UNITTESTS_MUTATION_WAITMODEL_H
