//===- BundleReports.cpp - What follows from engine.json ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Reports for people and tools; the runtime reads none of them. Nothing is in
// them that engine.json and the contracts do not say, so that a bundle can be
// held against what it should say.
//
//===----------------------------------------------------------------------===//

#include "BundleReports.h"

#include "PackJson.h"

#include "Netra/Catalog/AttributeJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using llvm::StringRef;
using llvm::Twine;
using Json = nlohmann::json;

namespace netra {

std::string printReport(const Json &value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json describeSteps(const Engine &engine) {
  Json plans = Json::array();
  for (const EnginePlan &plan : engine.plans) {
    Json steps = Json::array();
    for (const EngineStep &step : plan.steps) {
      Json entry = {{"name", step.name}, {"operation", step.operation}};
      if (step.kind == EngineStep::Kind::Fallback) {
        entry["fallback"] = step.reason;
      } else {
        entry["kernel"] =
            engine.codeObjects[step.codeObject].kernels[step.kernel].symbol;
        entry["contract"] = step.contract;
        entry["tactic"] = step.tactic;
      }
      steps.push_back(entry);
    }
    plans.push_back({{"name", plan.name}, {"steps", steps}});
  }
  return plans;
}

std::optional<LineDifference> findDifference(StringRef expected,
                                             StringRef found) {
  LineDifference at;
  while (!(expected.empty() && found.empty())) {
    ++at.line;
    std::tie(at.expected, expected) = expected.split('\n');
    std::tie(at.found, found) = found.split('\n');
    if (at.expected != at.found)
      return at;
  }
  return std::nullopt;
}

std::string describeDifference(StringRef expected, StringRef found) {
  if (std::optional<LineDifference> at = findDifference(expected, found))
    return ("line " + Twine(at->line) + ": expected '" + at->expected.trim() +
            "' as engine.json gives, found '" + at->found.trim() + "'")
        .str();
  return expected == found ? "" : "expected a newline at the end";
}

//===----------------------------------------------------------------------===//
// memory_plan.json
//===----------------------------------------------------------------------===//

namespace {

/// One value in the arena, found again from what the steps touch.
struct ArenaValue {
  uint64_t offset, bytes;
  size_t firstStep, lastStep;
};

} // namespace

/// Calls `visit(slot, writes, reads)` for every arena slot of a step.
template <typename Visitor>
static void forEachArenaSlot(const Engine &engine, const EngineStep &step,
                             Visitor visit) {
  auto isArena = [](const EngineSlot &slot) {
    return slot.kind == EngineSlot::Kind::Arena;
  };
  if (step.kind == EngineStep::Kind::Fallback) {
    for (const EngineOperand &input : step.inputs)
      if (isArena(input.slot))
        visit(input.slot, false, true);
    // In place, the value of the input goes on.
    for (const EngineOperand &output : step.outputs)
      if (isArena(output.slot) && !output.updates)
        visit(output.slot, true, false);
    return;
  }
  // Of an engine that nobody has verified, a step may name no kernel.
  if (step.codeObject >= engine.codeObjects.size() ||
      step.kernel >= engine.codeObjects[step.codeObject].kernels.size())
    return;
  const auto &arguments =
      engine.codeObjects[step.codeObject].kernels[step.kernel].arguments;
  for (auto [slot, argument] : llvm::zip(step.arguments, arguments))
    if (isArena(slot))
      visit(slot, argument.access != Access::Read,
            argument.access != Access::Write);
}

/// Values of the arena in the order in which they are written. Reads come
/// before writes within a step, since both belong to one kernel.
static std::vector<ArenaValue> findArenaValues(const Engine &engine,
                                               const EnginePlan &plan) {
  std::vector<ArenaValue> values;
  auto touch = [&](const EngineSlot &slot, size_t step) {
    for (size_t i = values.size(); i-- > 0;)
      if (values[i].offset <= slot.offset &&
          slot.offset + slot.bytes <= values[i].offset + values[i].bytes) {
        values[i].lastStep = step;
        return true;
      }
    return false;
  };
  for (auto [index, step] : llvm::enumerate(plan.steps)) {
    forEachArenaSlot(engine, step,
                     [&](const EngineSlot &slot, bool writes, bool reads) {
                       if (reads)
                         touch(slot, index);
                     });
    forEachArenaSlot(
        engine, step, [&](const EngineSlot &slot, bool writes, bool reads) {
          if (writes && !(reads && touch(slot, index)))
            values.push_back({slot.offset, slot.bytes, index, index});
        });
  }
  return values;
}

uint64_t getArenaLowerBound(const Engine &engine, const EnginePlan &plan) {
  const std::vector<ArenaValue> values = findArenaValues(engine, plan);
  uint64_t bound = 0;
  for (size_t step = 0; step < plan.steps.size(); ++step) {
    uint64_t live = 0;
    for (const ArenaValue &value : values)
      if (value.firstStep <= step && step <= value.lastStep)
        live += llvm::alignTo(value.bytes, plan.arenaAlignment);
    bound = std::max(bound, live);
  }
  return bound;
}

static std::string writeMemoryPlan(const Engine &engine) {
  Json plans = Json::array();
  for (const EnginePlan &plan : engine.plans) {
    Json buffers = Json::array();
    std::vector<ArenaValue> values = findArenaValues(engine, plan);
    for (const ArenaValue &value : values)
      buffers.push_back({{"offset", value.offset},
                         {"bytes", value.bytes},
                         {"first_step", value.firstStep},
                         {"last_step", value.lastStep},
                         {"written_by", plan.steps[value.firstStep].name}});
    const uint64_t bound = getArenaLowerBound(engine, plan);
    plans.push_back(
        {{"name", plan.name},
         {"arena_bytes", plan.arenaBytes},
         {"alignment", plan.arenaAlignment},
         {"lower_bound", bound},
         {"ratio",
          bound ? std::round(1000.0 * double(plan.arenaBytes) / double(bound)) /
                      1000
                : 1.0},
         {"buffers", buffers}});
  }
  return printReport({{"format", "netra.memory_plan/1"},
                      {"weights_bytes", engine.weights.bytes},
                      {"plans", plans}});
}

//===----------------------------------------------------------------------===//
// layout_plan.json, graph_recipe.json
//===----------------------------------------------------------------------===//

static std::string writeLayoutPlan(const Engine &engine) {
  Json weights = Json::array();
  for (const EngineWeight &weight : engine.weights.entries) {
    Json entry = toJson(weight.pack);
    entry.update({{"name", weight.name},
                  {"type", elementTypeName(weight.type).str()},
                  {"shape", weight.shape},
                  {"layout", weight.layout}});
    weights.push_back(std::move(entry));
  }
  Json bindings = Json::array();
  for (const EngineBinding &binding : engine.bindings)
    bindings.push_back({{"name", binding.name}, {"layout", binding.layout}});
  return printReport({{"format", "netra.layout_plan/1"},
                      {"weights", weights},
                      {"bindings", bindings}});
}

static std::string
writeGraphRecipe(const Engine &engine,
                 const std::set<std::string> &notCapturable) {
  Json plans = Json::array();
  for (const EnginePlan &plan : engine.plans) {
    bool capturable = true;
    Json nodes = Json::array();
    for (auto [index, step] : llvm::enumerate(plan.steps)) {
      Json node = {
          {"index", index}, {"name", step.name}, {"after", step.after}};
      if (step.kind == EngineStep::Kind::Fallback) {
        capturable = false;
        node["kind"] = "fallback";
      } else {
        capturable &= notCapturable.count(step.contract) == 0;
        node["kind"] = "launch";
        node["kernel"] =
            engine.codeObjects[step.codeObject].kernels[step.kernel].symbol;
        node["grid"] = affineToJson(step.grid);
        node["block"] = step.block;
        node["dynamic_lds"] = step.dynamicLds;
      }
      nodes.push_back(node);
    }
    plans.push_back(
        {{"name", plan.name}, {"capturable", capturable}, {"nodes", nodes}});
  }
  return printReport({{"format", "netra.graph_recipe/1"}, {"plans", plans}});
}

BundleFiles deriveReports(const Engine &engine,
                          const std::set<std::string> &notCapturable) {
  return {{"memory_plan.json", writeMemoryPlan(engine)},
          {"layout_plan.json", writeLayoutPlan(engine)},
          {"graph_recipe.json", writeGraphRecipe(engine, notCapturable)}};
}

} // namespace netra
