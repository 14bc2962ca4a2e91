//===- Equivalence.h - Is it the same machine code? -------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What makes two kernels the same: their machine code, the data and functions
// of their code object, and their metadata without names. Symbols, argument
// names, file names, comments, addresses in the file and the order of notes do
// not enter.
//
// Functions here may be called from several threads.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_EQUIVALENCE_H
#define NETRA_TARGET_EQUIVALENCE_H

#include "Netra/Target/CodeObject.h"

#include <string>
#include <utility>
#include <vector>

namespace netra {

/// Metadata and kernel descriptor as (field, value), names left out, in an
/// order that depends on nothing but the kernel.
std::vector<std::pair<std::string, std::string>>
normalizedMetadata(const CodeObject &object, const KernelMetadata &kernel);

/// The computational identity: SHA-256 over machine code and normalised
/// metadata. `kernel` belongs to `object`.
std::string computationalIdentity(const CodeObject &object,
                                  const KernelMetadata &kernel);

/// One instruction; `address` counts from the kernel's entry.
struct DisassembledInstruction {
  uint64_t address = 0;
  std::string text;
  bool operator==(const DisassembledInstruction &) const = default;
};

/// Instructions of `code`. What does not decode becomes ".long 0x…". Fails when
/// LLVM does not know the processor of `isa` ("amdgcn-amd-amdhsa--gfx950").
llvm::Expected<std::vector<DisassembledInstruction>>
disassemble(llvm::ArrayRef<uint8_t> code, llvm::StringRef isa);

struct FieldDifference {
  std::string field, left, right;
};

/// Instructions of one side that stand where the other side has others or none.
struct InstructionDifference {
  std::vector<DisassembledInstruction> left, right;
};

/// Two kernels held against each other.
struct KernelComparison {
  std::string leftSymbol, rightSymbol;
  std::string leftCodeSha256, rightCodeSha256;
  size_t leftInstructions = 0, rightInstructions = 0;
  std::vector<FieldDifference> metadata;
  std::vector<InstructionDifference> instructions;

  bool sameCode() const { return leftCodeSha256 == rightCodeSha256; }
  bool isEqual() const { return sameCode() && metadata.empty(); }
};

struct Equivalence {
  std::vector<KernelComparison> kernels;
  std::vector<std::string> onlyLeft, onlyRight; // symbols

  bool isEqual() const;
};

/// Compares the kernels of two sets of code objects. With symbols, just these
/// two. Otherwise one kernel is held against one, and of several those with
/// equal symbols, then those with equal identity; the rest has no partner.
/// Fails when a symbol is not there.
llvm::Expected<Equivalence> compareCode(llvm::ArrayRef<CodeObject> left,
                                        llvm::ArrayRef<CodeObject> right,
                                        llvm::StringRef leftSymbol = "",
                                        llvm::StringRef rightSymbol = "");

/// The code objects of `path`: an engine, or a file. Those of an engine must
/// have the hashes that it states; what it only locks lies below `goldenRoot`.
llvm::Expected<std::vector<CodeObject>>
loadCode(llvm::StringRef path, llvm::StringRef goldenRoot = "");

/// The bytes of a code object as a file. Fails when it cannot be read.
llvm::Expected<CodeObject> readCodeObjectFile(llvm::StringRef path);

} // namespace netra

#endif // NETRA_TARGET_EQUIVALENCE_H
