//===- EngineTranslationImpl.h - Parts of the translation -------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_ENGINETRANSLATIONIMPL_H
#define NETRA_LIB_TARGET_ENGINETRANSLATIONIMPL_H

#include "Netra/IR/NetraOps.h"
#include "Netra/Target/EngineTranslation.h"

#include <map>
#include <optional>
#include <vector>

namespace netra {

/// One kernel of an engine: its operation, what it is made from and, once it is
/// assembled, what came of it.
struct TranslatedKernel {
  KernelOp op;
  Instance instance; // its tactic belongs to the catalogue
  std::optional<AssembledKernel> assembled;
};

/// The only engine of `module`; emits an error when there is not just one.
mlir::FailureOr<EngineOp> findEngine(mlir::ModuleOp module);

/// The contract that `kernel` is built for.
mlir::FailureOr<Contract> getContract(KernelOp kernel);

/// The reports of a bundle: contracts.json, explain.json, memory_plan.json,
/// layout_plan.json, graph_recipe.json and validation.json. `counter` tells the
/// instructions that decided between tactics; null when they did not.
void addReports(BundleFiles &files, const Engine &engine,
                llvm::ArrayRef<TranslatedKernel> kernels,
                const Catalog &catalog, const TranslationOptions &options,
                const Assembler &assembler, const InstructionCounter *counter);

/// contracts.json of an engine with these contracts, by id.
std::string printContracts(const std::map<std::string, Contract> &contracts);

/// The module as it stands in engine.mlir.
std::string printEngineModule(mlir::ModuleOp module);

} // namespace netra

#endif // NETRA_LIB_TARGET_ENGINETRANSLATIONIMPL_H
