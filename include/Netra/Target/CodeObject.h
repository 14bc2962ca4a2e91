//===- CodeObject.h - What an AMDGPU code object says of itself -*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_CODEOBJECT_H
#define NETRA_TARGET_CODEOBJECT_H

#include "Netra/Catalog/Tactic.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace netra {

/// One argument of a kernel, from the code object's metadata.
struct KernelArgument {
  std::string name;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  ArgumentKind kind = ArgumentKind::Pointer;
  /// "read", "write", "readwrite" or "" when the metadata does not say.
  std::string access;
  /// True for arguments that the HIP runtime fills (hidden_*).
  bool hidden = false;
  /// As the metadata spells it: "global_buffer", "by_value", "hidden_…".
  std::string valueKind;
};

/// The name by which manifests and engines call argument `index`: that of the
/// metadata in lower case, or "argument<index>" when it has none.
std::string argumentName(const KernelArgument &argument, size_t index);

/// What the hardware is told about a kernel: the fields of its 64-byte kernel
/// descriptor that a contract constrains.
struct KernelDescriptor {
  uint64_t kernargBytes = 0; // 0 in some production objects
  uint64_t staticLds = 0;
  uint64_t privateBytes = 0;
  uint32_t waveSize = 0;
  bool dynamicStack = false;
  uint32_t allocatedVgprs = 0; // architectural and accumulation together
  uint32_t accumOffset = 0;    // first accumulation register
  uint32_t allocatedSgprs = 0;
  /// All of it. Words 4 and 5 say where the code lies.
  std::array<uint32_t, 16> words = {};
};

/// One kernel, from its metadata note and its kernel descriptor. `vgprs` counts
/// architectural registers, `agprs` accumulation registers.
struct KernelMetadata {
  std::string symbol; // without ".kd"
  uint64_t kernargBytes = 0;
  uint64_t kernargAlignment = 0;
  uint32_t waveSize = 0;
  uint64_t staticLds = 0;
  uint64_t privateBytes = 0;
  bool dynamicStack = false;
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;
  uint32_t maxWorkgroup = 0;
  /// The only work-group it may be launched with; zeros when any will do.
  std::array<uint32_t, 3> requiredWorkgroup = {};
  KernelDescriptor descriptor;
  std::vector<KernelArgument> arguments;
  /// Its machine code inside .text: from its entry for the size of its symbol,
  /// or else to the next kernel or the end.
  uint64_t codeOffset = 0, codeBytes = 0;
};

/// A linked code object. A plain value.
struct CodeObject {
  std::vector<uint8_t> bytes;
  std::string sha256;
  std::vector<uint8_t> text; // contents of .text
  std::string textSha256;
  std::string isa; // "amdgcn-amd-amdhsa--gfx950"
  uint32_t codeObjectVersion = 0;
  std::vector<KernelMetadata> kernels; // sorted by symbol
  /// What kernels may use besides their own code: .text outside of kernels
  /// without padding, and loaded data by section, without kernel descriptors.
  std::vector<uint8_t> otherText;
  std::map<std::string, std::vector<uint8_t>> data;

  /// The kernel of this symbol, or null.
  const KernelMetadata *find(llvm::StringRef symbol) const;
  llvm::ArrayRef<uint8_t> codeOf(const KernelMetadata &kernel) const {
    return llvm::ArrayRef(text).slice(kernel.codeOffset, kernel.codeBytes);
  }
};

/// Reads metadata note, kernel descriptors and .text of an ELF code object.
/// Fails with a sentence on anything malformed, and never crashes on any bytes.
llvm::Expected<CodeObject> readCodeObject(std::vector<uint8_t> bytes);

/// Every difference between a kernel and the instance it was made from, as
/// sentences that name both sides; empty when they agree. The code object holds
/// just `kernels` kernels; one with golden code may hold others and must agree
/// in what its metadata says. Locks of the tactic count too.
std::vector<std::string> compareWithInstance(const CodeObject &object,
                                             const Instance &instance,
                                             size_t kernels = 1);

} // namespace netra

#endif // NETRA_TARGET_CODEOBJECT_H
