//===- Inspect.cpp - netra-engine inspect ---------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "InputFile.h"
#include "MemoryMap.h"

#include "Netra/Target/Bundle.h"

#include <algorithm>
#include <cstdio>

using namespace netra;
using namespace netra::tool;

namespace {

std::string dimensions(const std::array<uint64_t, 3> &value) {
  return std::to_string(value[0]) + "x" + std::to_string(value[1]) + "x" +
         std::to_string(value[2]);
}

/// "(4 * m)x1x1"
std::string dimensions(const AffineExtents &value) {
  std::string text;
  for (const Affine &extent : value) {
    bool isSum = extent.str().find(' ') != std::string::npos;
    text += text.empty() ? "" : "x";
    text += isSum ? "(" + extent.str() + ")" : extent.str();
  }
  return text;
}

std::string guardText(const EngineProfile &profile) {
  std::string text;
  for (const auto &[name, range] : profile.guards) {
    text +=
        (text.empty() ? "" : ", ") + name + " = " + std::to_string(range.min);
    if (range.max != range.min)
      text += ".." + std::to_string(range.max);
  }
  return text.empty() ? "any shape" : text;
}

const char *roleName(BindingRole role) {
  return role == BindingRole::Input    ? "input"
         : role == BindingRole::Output ? "output"
                                       : "state";
}

void printPlan(const Engine &engine, const EnginePlan &plan) {
  std::printf("\nplan %s: profile %s, priority %lld, for %s\n",
              plan.name.c_str(), plan.profile.name.c_str(),
              (long long)plan.profile.priority,
              guardText(plan.profile).c_str());
  std::printf("  %4s  %-28s %-16s %-10s %-28s %s\n", "step", "name", "grid",
              "block", "tactic", "waits for");
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const EngineStep &step = plan.steps[i];
    std::string after;
    for (uint64_t before : step.after)
      after += (after.empty() ? "" : ",") + std::to_string(before);
    if (after.empty())
      after = "-";
    if (step.kind == EngineStep::Kind::Fallback)
      std::printf("  %4zu  %-28s falls back to %s: %s (after %s)\n", i,
                  step.name.c_str(), step.operation.c_str(),
                  step.reason.c_str(), after.c_str());
    else
      std::printf("  %4zu  %-28s %-16s %-10s %-28s %s\n", i, step.name.c_str(),
                  dimensions(step.grid).c_str(), dimensions(step.block).c_str(),
                  step.tactic.c_str(), after.c_str());
  }
  std::printf("\n%s", describeMemory(engine, plan).c_str());
}

/// Which plan a launch takes, decision by decision.
void printDecisions(const Engine &engine) {
  std::printf("\ndecisions\n");
  for (const GuardBox &box : engine.domain)
    std::printf("  without a gap for %s\n", toString(box).c_str());
  const std::vector<DecisionNode> &nodes = engine.decisions.nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::printf("  %zu by %s\n", i, guardNames[nodes[i].dimension].data());
    const std::vector<DecisionCase> &cases = nodes[i].cases;
    for (size_t j = 0; j < cases.size(); ++j) {
      std::string values = std::to_string(cases[j].from);
      if (j + 1 == cases.size())
        values += " and above";
      else if (uint64_t last = cases[j + 1].from - 1; last != cases[j].from)
        values += ".." + std::to_string(last);
      std::string outcome = cases[j].kind == DecisionCase::Kind::Plan
                                ? "plan " + engine.plans[cases[j].index].name
                            : cases[j].kind == DecisionCase::Kind::Node
                                ? "decision " + std::to_string(cases[j].index)
                                : "refused";
      std::printf("     %-20s %s\n", values.c_str(), outcome.c_str());
    }
  }
}

void printEngine(const Engine &engine) {
  uint64_t fileBytes = 0;
  for (const EngineFile &file : engine.files)
    fileBytes += file.bytes;
  std::printf("engine %s, id %s\n", engine.name.c_str(), engine.id.c_str());
  std::printf("  target        %s, wave %llu, code object version %llu\n",
              engine.architecture.c_str(), (unsigned long long)engine.waveSize,
              (unsigned long long)engine.codeObjectVersion);
  std::printf("  files         %zu, %s\n", engine.files.size() + 1,
              byteCount(fileBytes).c_str());
  std::printf(
      "  weights       %s in %zu tensors%s%s\n",
      byteCount(engine.weights.bytes).c_str(), engine.weights.entries.size(),
      engine.weights.id.empty() ? "" : ", id ", engine.weights.id.c_str());

  std::printf("\nbindings\n");
  for (const EngineBinding &binding : engine.bindings)
    std::printf("  %-6s %llu  %-20s %-24s %-12s %llu bytes\n",
                roleName(binding.role), (unsigned long long)binding.index,
                binding.name.c_str(),
                tensorName(binding.type, binding.shape).c_str(),
                binding.layout.c_str(), (unsigned long long)binding.bytes);

  if (!engine.weights.entries.empty()) {
    std::printf("\nweights\n");
    for (const EngineWeight &weight : engine.weights.entries) {
      std::string sources;
      for (const PackSource &source : weight.pack.sources)
        sources += (sources.empty() ? "" : " + ") + source.checkpoint;
      std::printf("  %12llu  %-20s %-24s %-12s from %s\n",
                  (unsigned long long)weight.offset, weight.name.c_str(),
                  tensorName(weight.type, weight.shape).c_str(),
                  weight.layout.c_str(), sources.c_str());
    }
  }

  std::printf("\ncode objects\n");
  for (const EngineCodeObject &object : engine.codeObjects) {
    for (const EngineKernel &kernel : object.kernels)
      std::printf("  %-6s %s\n         VGPRs %llu, AGPRs %llu, SGPRs %llu, LDS "
                  "%llu, arguments %zu in %llu bytes\n",
                  object.name.c_str(), kernel.symbol.c_str(),
                  (unsigned long long)kernel.vgprs,
                  (unsigned long long)kernel.agprs,
                  (unsigned long long)kernel.sgprs,
                  (unsigned long long)kernel.staticLds, kernel.arguments.size(),
                  (unsigned long long)kernel.kernargBytes);
    if (object.isLocked())
      std::printf("         locked: %s, %llu bytes, SHA-256 %s\n",
                  object.path.c_str(), (unsigned long long)*object.lockedBytes,
                  object.sha256.c_str());
  }

  printDecisions(engine);
  for (const EnginePlan &plan : engine.plans)
    printPlan(engine, plan);
}

int printMemory(const Engine &engine, const Arguments &arguments) {
  std::string kind = arguments.get("memory"), name = arguments.get("plan");
  if (kind != "text" && kind != "svg")
    return fail("inspect: --memory: expected text or svg, found \"" + kind +
                    '"',
                ExitUsage);
  std::string known;
  for (const EnginePlan &plan : engine.plans) {
    if (name.empty() || plan.name == name) {
      std::string text = kind == "svg" ? drawMemory(engine, plan)
                                       : describeMemory(engine, plan);
      std::fwrite(text.data(), 1, text.size(), stdout);
      return ExitSuccess;
    }
    known += (known.empty() ? "" : ", ") + plan.name;
  }
  return fail("inspect: --plan: expected one of " +
              (known.empty() ? "none (the engine has no plan)" : known) +
              ", found \"" + name + '"');
}

} // namespace

int netra::tool::inspectMain(int argc, char **argv) {
  Arguments arguments("inspect",
                      "Prints what an engine holds: bindings, weights, code "
                      "objects, the decisions that choose a plan, and for "
                      "each plan its launches and its memory.",
                      "ENGINE");
  arguments.engine();
  arguments.flag("json", "print engine.json instead");
  arguments.value("memory", "text|svg",
                  "print only the memory plan, as text or as a drawing (time "
                  "across, addresses up)");
  arguments.value("plan", "NAME",
                  "the plan that --memory is about (the first)");
  std::string directory;
  if (std::optional<int> code = arguments.parseEngine(argc, argv, directory))
    return *code;

  llvm::Expected<Engine> engine = readBundle(directory);
  if (!engine)
    return fail(llvm::toString(engine.takeError()));
  if (arguments.has("json")) {
    auto text = readInput(directory + "/engine.json");
    if (!text)
      return fail(llvm::toString(text.takeError()));
    std::fwrite((*text)->getBufferStart(), 1, (*text)->getBufferSize(), stdout);
    return ExitSuccess;
  }
  if (arguments.has("memory"))
    return printMemory(*engine, arguments);
  printEngine(*engine);
  return ExitSuccess;
}
