//===- CodeObjectImpl.h - What a loaded code object holds -------*- C++ -*-===//
// SPDX-License-Identifier: MIT

#ifndef NETRA_LIB_SIMULATOR_CODEOBJECTIMPL_H
#define NETRA_LIB_SIMULATOR_CODEOBJECTIMPL_H

#include "Netra/Simulator/Simulator.h"
#include "Program.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

namespace netra::sim {

struct CodeObject::Impl {
  std::string name;
  std::vector<uint8_t> bytes;
  std::string cpu;
  std::vector<Kernel> kernels;
  llvm::StringMap<size_t> kernelIndex;
  std::vector<std::string> warnings;
  std::vector<Variable> variables;

  /// Loadable segments: contents from the file, zeros after them.
  struct Segment {
    uint64_t address = 0, memorySize = 0;
    llvm::ArrayRef<uint8_t> contents;
  };
  std::vector<Segment> segments;
  uint64_t imageBegin = 0, imageEnd = 0;
  std::vector<TextRange> text;
  std::vector<uint64_t> starts;

  /// A dynamic relocation, applied when the data are placed on a device.
  struct Relocation {
    uint64_t address = 0;
    unsigned type = 0;
    uint64_t symbolValue = 0;
    int64_t addend = 0;
  };
  std::vector<Relocation> relocations;

  /// The decoded program for an arithmetic of matrix instructions; made at
  /// first use.
  llvm::Expected<std::shared_ptr<const Program>>
  program(MatrixArithmetic arithmetic) const;

  /// The instructions that name a register which the kernel's descriptor does
  /// not allocate, or add M0 to its number; nullptr if there are none.
  std::shared_ptr<const llvm::BitVector>
  unallocated(const Kernel &kernel, const Program &program) const;

  /// "file:line" of an address from the debug information, or "".
  std::string sourceLine(uint64_t address) const;

  mutable std::mutex mutex;
  mutable std::shared_ptr<const Program> programs[2];
  /// By the numbers of registers.
  mutable std::map<std::array<unsigned, 3>,
                   std::shared_ptr<const llvm::BitVector>>
      beyond;
};

/// Which of the registers the kernel's descriptor does not allocate, and what
/// it does; "" if it has them all.
std::string missingRegister(const Kernel &kernel, RegisterFile file,
                            unsigned first, unsigned count);
std::string missingRegister(const Kernel &kernel, const InstructionInfo &info);

/// What the kernel's descriptor asks for that is not modelled, as the rest of a
/// sentence about it; nullptr if nothing.
const char *refusedMode(const Kernel &kernel);

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_CODEOBJECTIMPL_H
