//===- EngineTranslation.h - Engine IR to bundle and back -------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A module with one netra.engine, and the profiles its plans name, is turned
// into the description and the files of a bundle, and read back from one. The
// result depends on the module, the templates and the catalogue only: no path,
// time, user or locale enters it.
//
// Functions here may be called from several threads for modules of different
// contexts.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_ENGINETRANSLATION_H
#define NETRA_TARGET_ENGINETRANSLATION_H

#include "Netra/Catalog/Catalog.h"
#include "Netra/Target/Bundle.h"
#include "Netra/Target/KernelBuilder.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace netra {

struct TranslationOptions {
  /// Folder with kernels/ and manifests/, as Catalog::findLibraryRoot gives it.
  std::string libraryRoot;
  /// Folder of golden code objects; empty: there are none.
  std::string goldenRoot;
  /// Whether the bundle has only the hashes of golden code, and not its bytes.
  bool lockGoldens = false;
  /// Whether selection could take experiments; reports explain it.
  bool allowExperimental = false;
  /// Where assembled code is kept between runs, if anywhere.
  std::shared_ptr<AssemblyCache> cache;
  /// Kernels assembled at the same time; 0: one on each core.
  unsigned threads = 0;
  AssemblyProgress progress;
};

/// Source of one kernel, generated from its tactic and contract.
struct KernelSource {
  std::string symbol;
  std::string text;
};

/// The sources of all kernels of the engine of `module`, in its order, each
/// symbol once. Two machine codes of one symbol are an error. Errors are
/// emitted at the operation they belong to.
mlir::FailureOr<std::vector<KernelSource>>
translateToAssembly(mlir::ModuleOp module, const TranslationOptions &options);

/// A bundle before it is written.
struct EngineBundle {
  Engine engine; // not finalized
  BundleFiles files;
};

/// Assembles every kernel of the engine of `module`, records the hashes of
/// their code in it (code objects with equal bytes become one), and describes
/// it as a bundle. Errors are emitted at the operation they belong to.
mlir::FailureOr<EngineBundle>
translateToBundle(mlir::ModuleOp module, const TranslationOptions &options);

/// The description of the engine of `module` as far as the module determines
/// it: no files, and of code objects only names and text hashes.
mlir::FailureOr<Engine> describeEngine(mlir::ModuleOp module);

/// Reads a bundle back into the module it was written from. Fails when a file
/// of the bundle is damaged or when module and engine.json disagree; errors go
/// to the diagnostics of `context`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
translateFromBundle(mlir::MLIRContext *context, llvm::StringRef directory);

} // namespace netra

#endif // NETRA_TARGET_ENGINETRANSLATION_H
