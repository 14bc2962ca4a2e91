//===- Assembler.h - From tactic instances to code objects ------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// instance → source → object (LLVM MC) → code object (lld) → verified, all
// inside the process. The bytes depend on the instance and the templates only.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_ASSEMBLER_H
#define NETRA_TARGET_ASSEMBLER_H

#include "Netra/Target/CodeObject.h"

#include <memory>
#include <string>
#include <vector>

namespace netra {

class AssemblyCache;

/// A file that took part in an assembly. `path` is relative to
/// kernels/<target>/, with forward slashes.
struct SourceFile {
  std::string path;
  std::string text;
  std::string sha256;
};

/// The outcome of assembling one instance.
struct AssembledKernel {
  /// The generated source, as assembled.
  std::string source;
  /// Template and everything it includes, in order of first inclusion.
  std::vector<SourceFile> closure;
  /// Hash over the closure's paths and contents.
  std::string closureSha256;
  CodeObject object;
};

/// The source-integrity hash of files: over their paths and contents.
std::string hashClosure(llvm::ArrayRef<SourceFile> closure);

/// Assembles the templates below `libraryRoot`/kernels/`target`. Const members
/// may be called from several threads; linking is serialised inside.
class Assembler {
public:
  /// Fails when the target is unknown or the kernel folder is not there.
  /// Instances and groups that `cache` has are taken from it, and others put
  /// there; the outcome is the same.
  static llvm::Expected<Assembler>
  create(llvm::StringRef libraryRoot, llvm::StringRef target,
         std::shared_ptr<AssemblyCache> cache = nullptr);

  /// Takes includes from `folder` itself, such as the sources of a bundle.
  static llvm::Expected<Assembler> forFolder(llvm::StringRef folder,
                                             llvm::StringRef target);

  /// The source of one instance: constants, `.include` of the template, the
  /// macro call and the metadata block. Deterministic.
  std::string instanceSource(const Instance &instance) const;

  /// Generates, assembles, links, reads back and compares. Errors carry the
  /// assembler's diagnostics (file:line of the template, `.error` texts) or
  /// each difference between contract and code object.
  llvm::Expected<AssembledKernel> assemble(const Instance &instance) const;

  /// The machine code of the instance's kernel, neither linked nor held against
  /// the contract: for those who only look at it. Unlike a link, which makes
  /// lld forget the command line of the program, this leaves nothing behind.
  llvm::Expected<std::vector<uint8_t>>
  assembleCode(const Instance &instance) const;

  /// Several instances in one code object, in their order. Each is assembled on
  /// its own, so that templates do not see one another; all share one note.
  llvm::Expected<AssembledKernel>
  assembleGroup(llvm::ArrayRef<Instance> instances) const;

  /// The source-integrity hash of a template before it is assembled: that of
  /// the file and of everything it includes, comments and all. The same as the
  /// `closureSha256` of an instance.
  llvm::Expected<std::string> hashSources(llvm::StringRef templatePath) const;

  /// Assembles and links any source text whose includes lie below the kernel
  /// folder, without comparing with an instance. `name` is used in diagnostics
  /// only.
  llvm::Expected<AssembledKernel> assembleSource(llvm::StringRef source,
                                                 llvm::StringRef name) const;

  llvm::StringRef getTarget() const { return target; }

private:
  Assembler() = default;
  std::string codeSource(const Instance &instance) const;
  std::string kernelRoot;
  std::string target;
  std::shared_ptr<AssemblyCache> cache;
};

} // namespace netra

#endif // NETRA_TARGET_ASSEMBLER_H
