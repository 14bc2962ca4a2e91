//===- Recording.h - What the waves of a launch did -------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Looks on while a kernel runs and keeps, for every wave, the instructions it
// executed, the lanes they ran on, and the bytes of LDS and memory that they
// touched. Instructions are known by their text, addresses are added up here
// from the registers: nothing is asked of the simulator's checkers.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_MUTATION_RECORDING_H
#define NETRA_UNITTESTS_MUTATION_RECORDING_H

#include "AssemblyText.h"
#include "Netra/Simulator/Simulator.h"
#include <map>

namespace netra::mutation {

/// Bytes, in LDS or by their address in memory.
struct ByteRange {
  uint64_t begin = 0, end = 0;
  bool meets(const ByteRange &other) const {
    return begin < other.end && other.begin < end;
  }
};
/// Whether two sorted lists without overlaps have a byte in common.
bool meet(const std::vector<ByteRange> &a, const std::vector<ByteRange> &b);
/// Sorts, and joins what touches.
void normalize(std::vector<ByteRange> &ranges);

enum class Space : uint8_t { Memory, Lds, Private };
/// Synchronising accesses (atomic operations, and accesses at device or system
/// scope) are in no conflict with each other.
enum class Use : uint8_t { Read, Write, Sync };
/// Whether the order of two accesses to the same bytes matters.
inline bool conflict(Use a, Use b) {
  return (a == Use::Write || b == Use::Write || a != b) &&
         !(a == Use::Read && b == Use::Read);
}

/// One instruction, by its text.
struct Operation {
  enum class Class { Other, Wait, Vector, Lds, Scalar, Flat, Barrier };

  static Operation parse(uint64_t pc, const std::string &text);

  uint64_t pc = 0;
  std::string text;
  Class cls = Class::Other;
  std::vector<unsigned> named, defined;
  bool runsOnAllLanes = false;
  bool writesLds = false, readsLds = false, loadsToLds = false;
  bool storesMemory = false;
  bool publishes = false; ///< tells other work-groups something
  bool acquires = false;  ///< may learn something of them
  WaitCounters counters;

  // What is accessed, and how: nothing, bytes at an address from registers, or
  // bytes that this does not know.
  enum class Address { None, Lds, Memory, Flat, Scalar, Unknown };
  Address address = Address::None;
  Space space = Space::Memory;
  Use use = Use::Read;
  unsigned vector = 0;   ///< first register of the lanes' addresses
  bool isWide = false;   ///< they have 64 bits
  int scalar = -1;       ///< first register of a base
  int scalarOffset = -1; ///< register
  std::vector<int64_t> offsets;
  unsigned bytes = 0;

private:
  void parseAddress(const InstructionText &inst);
};

/// What one executed instruction touched in one space.
struct Access {
  unsigned step = 0;     ///< in WaveHistory::steps
  unsigned interval = 0; ///< barriers that the wave has passed
  unsigned operation = 0;
  Space space = Space::Memory;
  Use use = Use::Read;
  bool isUnknown = false; ///< it may be any bytes
  std::vector<ByteRange> ranges;
};

/// What one wave did.
struct WaveHistory {
  struct Step {
    unsigned operation; ///< in Recording::operations
    uint64_t exec;
  };
  std::vector<Step> steps;
  std::vector<Access> accesses;   ///< by step
  std::vector<unsigned> barriers; ///< the operations, in order
};

struct GroupHistory {
  std::vector<WaveHistory> waves;
};

class Recording : public sim::StepObserver {
public:
  void step(const sim::WaveStep &step) override;

  bool executes(uint64_t pc) const { return byPc.count(pc); }
  /// On one lane at least; scalar ones run on no lanes.
  bool executesOnLanes(uint64_t pc) const;

  /// Steps that are kept; what comes behind them is not looked at.
  uint64_t limit = ~uint64_t(0);
  std::vector<Operation> operations;
  std::vector<GroupHistory> groups; ///< by linear index

private:
  void addAccesses(const sim::WaveStep &step, WaveHistory &wave,
                   const Operation &op);

  std::map<uint64_t, unsigned> byPc;
  std::vector<bool> onLanes; ///< by operation
  uint64_t steps = 0;
};

} // namespace netra::mutation

#endif // NETRA_UNITTESTS_MUTATION_RECORDING_H
