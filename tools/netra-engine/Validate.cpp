//===- Validate.cpp - netra-engine validate -------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "PackedWeights.h"

#include "Netra/Catalog/Catalog.h"
#include "Netra/Target/ModuleVerifier.h"
#include "Netra/Target/TacticVerifier.h"

#include <netra/engine.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace netra;
using namespace netra::tool;

/// What is wrong with a packed file, a line each.
static std::vector<std::string> checkWeights(const std::string &directory,
                                             const std::string &path) {
  llvm::Expected<Engine> engine = readBundle(directory);
  if (!engine)
    return {llvm::toString(engine.takeError())};
  PackedFile packed;
  if (llvm::Error error = packed.open(path, engine->weights))
    return {llvm::toString(std::move(error))};
  PackOptions options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  return packed.checkBlocks(engine->weights, options);
}

/// A line for each code object whose bytes the engine does not hold.
static std::vector<std::string> describeLocked(const std::string &directory) {
  std::vector<std::string> lines;
  llvm::Expected<Engine> engine = readBundle(directory);
  if (!engine)
    return {llvm::toString(engine.takeError())};
  for (const EngineCodeObject &object : engine->codeObjects)
    if (object.isLocked())
      lines.push_back("locked only: code object " + object.name + ", " +
                      object.path + ", SHA-256 " + object.sha256);
  return lines;
}

int netra::tool::validateMain(int argc, char **argv) {
  Arguments arguments(
      "validate",
      "Checks an engine: every file against its size and hash, engine.json, "
      "each code object against the launches, contracts, memory, reports, "
      "sources (which are assembled again), engine.mlir against it and the "
      "kernels against the tactics of the catalogue; then whether the runtime "
      "accepts and loads it.",
      "ENGINE");
  arguments.engine();
  arguments.value("hip", "sim|PATH", "load it with this HIP library (sim)");
  arguments.goldenRoot(
      "the folder of the code that the engine only locks, which "
      "is checked, too (NETRA_GOLDEN_ROOT)");
  arguments.value("library-root", "DIR",
                  "the folder with kernels/ and manifests/ of the catalogue "
                  "(NETRA_LIBRARY_ROOT, or what is installed)");
  arguments.flag("no-catalog", "do not look into the catalogue");
  arguments.value("weights", "FILE", "also check FILE, packed for the engine");
  arguments.flag("no-load", "do not load it on a device");
  std::string directory;
  if (std::optional<int> code = arguments.parseEngine(argc, argv, directory))
    return *code;

  const char *variable = std::getenv("NETRA_GOLDEN_ROOT");
  const std::string goldenRoot =
      arguments.get("golden-root", variable ? variable : "");
  llvm::Expected<std::vector<BundleFinding>> findings =
      verifyBundle(directory, goldenRoot);
  if (!findings)
    return fail(llvm::toString(findings.takeError()));
  for (const BundleFinding &finding : *findings)
    std::printf("%s\n", finding.str().c_str());
  size_t faults = findings->size();
  // What these find in an engine with other faults would follow from them.
  for (auto check : {verifyModule, reassembleBundle})
    if (faults == 0)
      for (const BundleFinding &finding : check(directory)) {
        std::printf("%s\n", finding.str().c_str());
        ++faults;
      }
  std::vector<std::string> notCompared;
  if (faults == 0 && !arguments.has("no-catalog")) {
    llvm::Expected<TacticFindings> tactics = verifyTactics(
        directory, Catalog::findLibraryRoot(arguments.get("library-root")),
        goldenRoot);
    if (!tactics)
      return fail(llvm::toString(tactics.takeError()));
    for (const BundleFinding &finding : tactics->findings)
      std::printf("%s\n", finding.str().c_str());
    faults += tactics->findings.size();
    notCompared = std::move(tactics->notCompared);
  }
  std::string weights = arguments.get("weights");
  if (faults == 0 && arguments.has("weights"))
    for (const std::string &line : checkWeights(directory, weights)) {
      std::printf("%s\n", line.c_str());
      ++faults;
    }

  std::vector<std::string> locked =
      faults == 0 ? describeLocked(directory) : std::vector<std::string>();
  const bool isWhole = locked.empty() || !goldenRoot.empty();
  // The runtime's own verifier would say again what has been said.
  char error[1024] = "";
  if (faults == 0) {
    netra_status status =
        netra_engine_verify(directory.c_str(), error, sizeof(error));
    const char *stage = "runtime";
    if (!status && !arguments.has("no-load") && isWhole) {
      std::string hip = arguments.get("hip", "sim");
      netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
      options.hip_library = hip.c_str();
      options.golden_root = goldenRoot.c_str();
      netra_engine *engine = nullptr;
      stage = "loading";
      status = netra_engine_create(directory.c_str(), &options, &engine, error,
                                   sizeof(error));
      if (!status && arguments.has("weights")) {
        stage = "loading the weights";
        status = netra_engine_load_weights(engine, weights.c_str());
        if (status)
          std::snprintf(error, sizeof(error), "%s",
                        netra_engine_last_error(engine));
      }
      netra_engine_destroy(engine);
    }
    // What the machine lacks is no fault of the engine.
    if (status == NETRA_HIP || status == NETRA_OUT_OF_MEMORY)
      return fail(
          directory +
          ": no fault found, but this machine could not load it: " + error);
    if (status) {
      std::printf("%s: %s: %s\n", stage, netra_status_name(status), error);
      ++faults;
    }
  }
  if (faults)
    return fail(directory + ": " + std::to_string(faults) +
                (faults == 1 ? " fault" : " faults"));
  llvm::Expected<Engine> engine = readBundle(directory);
  if (!engine)
    return fail(llvm::toString(engine.takeError()));
  size_t steps = 0, fallbacks = 0;
  for (const EnginePlan &plan : engine->plans)
    for (const EngineStep &step : plan.steps) {
      ++steps;
      fallbacks += step.kind == EngineStep::Kind::Fallback;
    }
  std::printf("%s: valid\n", directory.c_str());
  for (const std::string &line : locked)
    std::printf("%s, %s\n", line.c_str(),
                isWhole ? "found in the golden root"
                        : "not looked at: name its folder with --golden-root");
  for (const std::string &line : notCompared)
    std::printf("not held against %s\n", line.c_str());
  if (fallbacks)
    std::printf("%zu of %zu steps have no kernel and are left to the "
                "framework; netra-engine explain says why\n",
                fallbacks, steps);
  return ExitSuccess;
}
