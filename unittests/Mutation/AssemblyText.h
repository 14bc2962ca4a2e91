//===- AssemblyText.h - Mutants of an assembly text -------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Finds the instructions of a text with one kernel and makes mutants of it,
// each with one line changed. Nothing here knows the simulator.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_MUTATION_ASSEMBLYTEXT_H
#define NETRA_UNITTESTS_MUTATION_ASSEMBLYTEXT_H

#include <cstdint>
#include <string>
#include <vector>

namespace netra::mutation {

/// The parts of one instruction as the assembler writes it.
struct InstructionText {
  std::string mnemonic;
  std::vector<std::string> operands; ///< the last one with all modifiers

  static InstructionText parse(const std::string &line);
  std::string str() const;
  bool startsWith(const char *prefix) const;
};

/// Registers in one numbering: v0 to v255, a0 to a255, then scalar ones.
constexpr unsigned FirstAgpr = 256, FirstSgpr = 512, NumRegisters = 1024;
/// Adds the registers that an operand names.
void registersOf(const std::string &operand, std::vector<unsigned> &registers);

/// Values of s_waitcnt; -1: not waited for.
struct WaitCounters {
  int vm = -1, lgkm = -1;
  static WaitCounters parse(const std::string &line);
};

enum class MutantKind {
  WaitDelete,    ///< one counter of an s_waitcnt is not waited for
  WaitWeaken,    ///< it may be one higher
  NopDelete,     ///< an s_nop vanishes
  NopShorten,    ///< it waits one state less
  BarrierDelete, ///< an s_barrier becomes an s_nop
  AddressFar,    ///< the offset of an access is as large as can be
  AddressNext,   ///< it is larger by the size of the access
  AccessWider,   ///< the access covers more bytes
  InitDrop       ///< a move or a load that defines a register vanishes
};
constexpr unsigned NumMutantKinds = 9;
const char *mutantKindName(MutantKind kind);

struct Mutant {
  MutantKind kind;
  size_t line; ///< in AssemblyText::lines
  std::string replacement;
  /// Waits: the counters that remain.
  WaitCounters counters;
  /// Addresses in LDS or scratch: the offset alone leaves the memory.
  bool surelyOutside = false;
};

class AssemblyText {
public:
  explicit AssemblyText(const std::string &text);

  std::vector<std::string> lines;
  std::vector<size_t> instructions; ///< the lines that are some, in order
  /// From the kernel's descriptor.
  unsigned vgprs = 0, agprs = 0, sgprs = 0, initialSgprs = 0;
  unsigned ldsBytes = 0, scratchBytes = 0;

  /// The text with one line replaced.
  std::string with(size_t line, const std::string &replacement) const;
  /// The text of a kernel at whose start every register that the launch does
  /// not set holds `pattern`.
  AssemblyText withPattern(uint32_t pattern) const;
  /// Where a line of this text is in one withPattern.
  size_t lineWithPattern(size_t line) const {
    return line > kernelLabel ? line + startLines(0).size() : line;
  }
  /// All mutants of what the kernel can reach: clang leaves a copy of an OpenCL
  /// kernel in the text that nobody calls. `ldsBytes` of a launch include
  /// dynamic LDS.
  std::vector<Mutant> mutants(unsigned launchLdsBytes) const;

private:
  std::vector<std::string> startLines(uint32_t pattern) const;
  void addWaits(size_t line, std::vector<Mutant> &all) const;
  void addAddresses(size_t line, const InstructionText &inst, unsigned lds,
                    std::vector<Mutant> &all) const;
  void findReachable(const std::string &kernel);
  std::vector<bool> isReachable; ///< by line
  size_t kernelLabel = 0;
};

} // namespace netra::mutation

#endif // NETRA_UNITTESTS_MUTATION_ASSEMBLYTEXT_H
