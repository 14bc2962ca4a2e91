//===- Pipeline.cpp - From a model to an engine ---------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Transforms/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace netra;

void netra::buildEnginePipeline(OpPassManager &manager,
                                const EnginePipelineOptions &options) {
  NetraApplyProfileOptions apply;
  for (const std::string &name : options.profiles)
    apply.profiles.push_back(name);
  if (!options.profile.empty())
    apply.profiles.push_back(options.profile);
  apply.target = options.target;
  apply.libraryRoot = options.libraryRoot;
  manager.addPass(createNetraApplyProfile(apply));

  NetraFuseOptions fuse;
  fuse.target = options.target;
  fuse.libraryRoot = options.libraryRoot;
  fuse.goldenRoot = options.goldenRoot;
  fuse.allowExperimental = options.allowExperimental;
  manager.addPass(createNetraFuse(fuse));

  NetraAssignLayoutsOptions layouts;
  layouts.target = options.target;
  layouts.libraryRoot = options.libraryRoot;
  layouts.goldenRoot = options.goldenRoot;
  layouts.allowExperimental = options.allowExperimental;
  manager.addPass(createNetraAssignLayouts(layouts));

  NetraSelectTacticsOptions select;
  select.target = options.target;
  select.libraryRoot = options.libraryRoot;
  select.goldenRoot = options.goldenRoot;
  select.allowExperimental = options.allowExperimental;
  select.countInstructions = options.countInstructions;
  select.explain = options.explain;
  select.explainAll = options.explainAll;
  manager.addPass(createNetraSelectTactics(select));

  NetraPlanMemoryOptions plan;
  plan.target = options.target;
  plan.libraryRoot = options.libraryRoot;
  manager.addPass(createNetraPlanMemory(plan));

  NetraLowerToEngineOptions lower;
  lower.target = options.target;
  lower.libraryRoot = options.libraryRoot;
  lower.engineName = options.name;
  for (const std::string &box : options.domain)
    lower.domain.push_back(box);
  manager.addPass(createNetraLowerToEngine(lower));
}

LogicalResult netra::compileToEngine(ModuleOp module,
                                     const EnginePipelineOptions &options) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  buildEnginePipeline(manager, options);
  return failure(failed(manager.run(module)) || failed(verify(module)));
}

void netra::registerTransforms() {
  registerNetraTransformsPasses();
  PassPipelineRegistration<EnginePipelineOptions>(
      "netra-engine-pipeline",
      "Compile a model for serving profiles: apply-profile, fuse, "
      "assign-layouts, select-tactics, plan-memory, lower-to-engine",
      buildEnginePipeline);
}
