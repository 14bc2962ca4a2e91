//===- KernelBuilder.h - The machine code of instances ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A kernel's code is assembled from a template, or is a golden code object that
// is taken as it is. Whoever needs code asks here and does not mind which.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_KERNELBUILDER_H
#define NETRA_TARGET_KERNELBUILDER_H

#include "Netra/Target/Assembler.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace netra {

/// Called when a kernel is done: how many of how many are. May be called from
/// several threads, one at a time.
using AssemblyProgress =
    std::function<void(size_t done, size_t total, llvm::StringRef symbol)>;

/// Calls `work` with each index below `count`, on `threads` threads at a time;
/// 0: one on each core. Returns when all are done.
void forEachInParallel(size_t count, unsigned threads,
                       llvm::function_ref<void(size_t)> work);

/// Makes the code of instances. Const members may be called from several
/// threads.
class KernelBuilder {
public:
  /// `goldenRoot` is the folder of golden code objects, empty when there is
  /// none. `cache` is for code that is assembled. Fails as Assembler::create
  /// does.
  static llvm::Expected<KernelBuilder>
  create(llvm::StringRef libraryRoot, llvm::StringRef target,
         llvm::StringRef goldenRoot = "",
         std::shared_ptr<AssemblyCache> cache = nullptr);

  const Assembler &getAssembler() const { return assembler; }

  /// A golden's closure is empty, and so is its source. Bytes that are not
  /// those of the record, or that disagree with it in anything, are refused
  /// with both sides.
  llvm::Expected<AssembledKernel> build(const Instance &instance) const;

  /// The outcome for one of several instances.
  struct Result {
    std::optional<AssembledKernel> kernel;
    std::string error; // without kernel
  };
  /// In the order of the instances, whatever order they were built in.
  std::vector<Result> buildAll(llvm::ArrayRef<const Instance *> instances,
                               unsigned threads = 0,
                               const AssemblyProgress &progress = {}) const;

private:
  KernelBuilder(Assembler assembler, llvm::StringRef goldenRoot)
      : assembler(std::move(assembler)), goldenRoot(goldenRoot) {}
  llvm::Expected<AssembledKernel> takeGolden(const Instance &instance) const;

  Assembler assembler;
  std::string goldenRoot;
};

/// A record of one kernel of a code object, as JSON, for a person to complete:
/// what bytes do not say is null. `name` is that of the tactic without target,
/// `file` where the bytes will lie below the golden root.
std::string writeGoldenRecord(const CodeObject &object,
                              const KernelMetadata &kernel,
                              llvm::StringRef name, llvm::StringRef file);

} // namespace netra

#endif // NETRA_TARGET_KERNELBUILDER_H
