//===- Passes.h - The passes from operations to launches --------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// docs/passes.md describes each pass; docs/pipeline.md the road through them.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TRANSFORMS_PASSES_H
#define NETRA_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

#include <memory>
#include <string>

namespace netra {

class NetraDialect;

#define GEN_PASS_DECL
#include "Netra/Transforms/Passes.h.inc"

/// Options of `netra-engine-pipeline`.
struct EnginePipelineOptions
    : public mlir::PassPipelineOptions<EnginePipelineOptions> {
  ListOption<std::string> profiles{
      *this, "profiles",
      llvm::cl::desc("Serving profiles to compile for, at least one")};
  Option<std::string> profile{*this, "profile",
                              llvm::cl::desc("The same, for a single profile")};
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("Target to compile for"),
                             llvm::cl::init("gfx950")};
  Option<std::string> libraryRoot{
      *this, "library-root",
      llvm::cl::desc("Folder with kernels/ and manifests/")};
  Option<std::string> goldenRoot{
      *this, "golden-root",
      llvm::cl::desc("Folder of golden code objects; without it none is "
                     "considered")};
  Option<bool> allowExperimental{
      *this, "allow-experimental",
      llvm::cl::desc("Consider tactics of maturity `experiment`"),
      llvm::cl::init(false)};
  Option<bool> countInstructions{
      *this, "count-instructions",
      llvm::cl::desc("Let the instructions of the machine code decide between "
                     "tactics of equal estimated time"),
      llvm::cl::init(true)};
  Option<bool> explain{*this, "explain",
                       llvm::cl::desc("Remark on every choice of a tactic"),
                       llvm::cl::init(false)};
  Option<bool> explainAll{
      *this, "explain-all",
      llvm::cl::desc("The same, with all tactics that do not match"),
      llvm::cl::init(false)};
  Option<std::string> name{*this, "name", llvm::cl::desc("Engine name")};
  ListOption<std::string> domain{
      *this, "domain",
      llvm::cl::desc("Boxes of serving points that must be served without a "
                     "gap, each like m=1..16:batch=1")};
};

/// Appends apply-profile, fuse, assign-layouts, select-tactics, plan-memory
/// and lower-to-engine to a pass manager over a module.
void buildEnginePipeline(mlir::OpPassManager &manager,
                         const EnginePipelineOptions &options);

/// Runs the engine pipeline on `module`, which must be valid, and verifies the
/// engine; verifying between the passes as well would take longer than they do.
mlir::LogicalResult compileToEngine(mlir::ModuleOp module,
                                    const EnginePipelineOptions &options);

/// Registers the passes and `netra-engine-pipeline`.
void registerTransforms();

#define GEN_PASS_REGISTRATION
#include "Netra/Transforms/Passes.h.inc"

} // namespace netra

#endif // NETRA_TRANSFORMS_PASSES_H
