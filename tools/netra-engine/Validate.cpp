//===- Validate.cpp - netra-engine validate -------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "Netra/Target/Bundle.h"

#include <netra/engine.h>

#include <cstdio>

using namespace netra;
using namespace netra::tool;

int netra::tool::validateMain(int argc, char **argv) {
  Arguments arguments(
      "validate",
      "Checks an engine: every file against its size and hash, engine.json, "
      "each "
      "code object's metadata against the launches, contracts, memory; then "
      "whether the runtime accepts and loads it.",
      "ENGINE");
  arguments.value("engine", "DIR", "the engine, instead of ENGINE");
  arguments.value("hip", "sim|PATH", "load it with this HIP library (sim)");
  arguments.flag("no-load", "do not load it on a device");
  if (std::optional<int> code = arguments.parse(argc, argv))
    return *code;
  std::string directory = arguments.get("engine");
  if (directory.empty() && arguments.rest().size() == 1)
    directory = arguments.rest().front();
  else if (directory.empty() || !arguments.rest().empty())
    return fail("validate: expected one engine directory", ExitUsage);

  llvm::Expected<std::vector<BundleFinding>> findings = verifyBundle(directory);
  if (!findings)
    return fail(llvm::toString(findings.takeError()));
  for (const BundleFinding &finding : *findings)
    std::printf("%s\n", finding.str().c_str());
  size_t faults = findings->size();

  // The runtime's own verifier would say again what has been said.
  char error[1024] = "";
  if (faults == 0) {
    netra_status status =
        netra_engine_verify(directory.c_str(), error, sizeof(error));
    const char *stage = "runtime";
    if (!status && !arguments.has("no-load")) {
      std::string hip = arguments.get("hip", "sim");
      netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
      options.hip_library = hip.c_str();
      netra_engine *engine = nullptr;
      stage = "loading";
      status = netra_engine_create(directory.c_str(), &options, &engine, error,
                                   sizeof(error));
      netra_engine_destroy(engine);
    }
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
  if (fallbacks)
    std::printf("%zu of %zu steps have no kernel and are left to the "
                "framework; netra-engine explain says why\n",
                fallbacks, steps);
  return ExitSuccess;
}
