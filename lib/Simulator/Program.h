//===- Program.h - A decoded code object ------------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// All instructions of a code object's text in the simulator's own form, with
// the map from addresses to instructions. Immutable once built.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_PROGRAM_H
#define NETRA_LIB_SIMULATOR_PROGRAM_H

#include "Instruction.h"
#include "Polls.h"
#include "Semantics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace netra::sim {

/// High halves of the addresses at which flat instructions see LDS and the
/// private segment of a lane.
constexpr uint32_t SharedApertureHigh = 0x00010000;
constexpr uint32_t PrivateApertureHigh = 0x00020000;

/// A run of bytes with instructions at an address of the code object.
struct TextRange {
  uint64_t address = 0;
  llvm::ArrayRef<uint8_t> bytes;
};

class Program {
public:
  /// Decodes all ranges. `starts` are addresses where decoding begins afresh
  /// (functions); `cpu` names the target. Undecodable words become
  /// instructions that cannot be run, not errors.
  static llvm::Expected<std::shared_ptr<const Program>>
  decode(llvm::ArrayRef<TextRange> text, llvm::ArrayRef<uint64_t> starts,
         llvm::StringRef cpu, MatrixArithmetic arithmetic);

  std::vector<Instruction> code; ///< the last one stands for the end of text
  std::vector<InstructionInfo> info;
  std::vector<std::string> mnemonics;       ///< without encoding suffix
  std::vector<const Semantics *> semantics; ///< by mnemonic, may be null

  static constexpr uint32_t NoIndex = ~0u;
  /// Index of the instruction that starts at this address of the code object,
  /// or NoIndex.
  uint32_t indexAt(uint64_t address) const {
    const uint64_t word = (address - base) / 4;
    if (address < base || address % 4 || word >= indices.size())
      return NoIndex;
    return indices[word];
  }

  /// Found when somebody asks first.
  const Polls &polls() const {
    std::call_once(pollsOnce,
                   [&] { knownPolls = std::make_unique<Polls>(*this); });
    return *knownPolls;
  }

  /// What a branch has for a target where no instruction starts: its address,
  /// with the highest bit set, which no index has. Taking it is a fault.
  static int64_t immediateOf(uint64_t address) {
    return int64_t(address | NoIndexBit);
  }
  static bool isNoIndex(int64_t immediate) { return immediate < 0; }
  static uint64_t addressIn(int64_t immediate) {
    return uint64_t(immediate) & ~NoIndexBit;
  }

private:
  static constexpr uint64_t NoIndexBit = uint64_t(1) << 63;
  friend class Decoder;
  uint64_t base = 0;
  std::vector<uint32_t> indices; ///< by word of text
  struct Splat {
    alignas(64) uint32_t lane[2 * 64];
  };
  std::vector<std::unique_ptr<Splat>> splats;
  mutable std::once_flag pollsOnce;
  mutable std::unique_ptr<const Polls> knownPolls;
};

/// The handlers of everything the simulator models, for the given arithmetic
/// of matrix instructions. Built once.
const SemanticsTable &semanticsTable(MatrixArithmetic arithmetic);

/// Why a mnemonic is refused for good; nullptr when no reason is known.
const char *refusalOf(llvm::StringRef mnemonic);

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_PROGRAM_H
