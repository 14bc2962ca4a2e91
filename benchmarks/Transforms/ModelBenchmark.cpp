//===- ModelBenchmark.cpp - From a model manifest to an engine ------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Everything but assembling and writing: the manifest is read, the graph built
// and compiled for every profile that the manifest names, and the engine
// described. MLIR's own threads are off.
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Model.h"
#include "Netra/Conversion/ModelToNetra.h"
#include "Netra/Target/EngineTranslation.h"
#include "Netra/Transforms/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"

#include <benchmark/benchmark.h>

using namespace netra;

namespace {

void compileModel(benchmark::State &state, const char *name) {
  std::string root = Catalog::findLibraryRoot();
  std::string path = root + "/manifests/gfx950/models/" + name + ".json";
  std::string text =
      llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path)))
          ->getBuffer()
          .str();
  size_t steps = 0;
  for (auto _ : state) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.printOpOnDiagnostic(false); // as the tools do
    mlir::ScopedDiagnosticHandler quiet(
        &context, [](mlir::Diagnostic &) { return mlir::success(); });
    ModelDescription model = llvm::cantFail(parseModel(text, path));
    mlir::OwningOpRef<mlir::ModuleOp> module = importModel(&context, model);
    EnginePipelineOptions options;
    options.countInstructions = false; // it assembles
    for (const std::string &profile : model.profiles)
      options.profiles.push_back(profile);
    if (mlir::failed(compileToEngine(*module, options))) {
      state.SkipWithError("the model does not compile");
      return;
    }
    mlir::FailureOr<Engine> engine = describeEngine(*module);
    if (mlir::failed(engine)) {
      state.SkipWithError("the engine cannot be described");
      return;
    }
    steps = 0;
    for (const EnginePlan &plan : engine->plans)
      steps += plan.steps.size();
  }
  state.counters["steps"] = double(steps);
}
BENCHMARK_CAPTURE(compileModel, tiny_llama, "tiny_llama")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compileModel, qwen3_6_35b_a3b_fp8, "qwen3_6_35b_a3b_fp8")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compileModel, qwen3_6_27b_fp8, "qwen3_6_27b_fp8")
    ->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
