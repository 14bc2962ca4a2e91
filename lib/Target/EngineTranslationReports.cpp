//===- EngineTranslationReports.cpp - What a bundle says of itself --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The JSON files of a bundle besides engine.json. They are for people and
// tools; the runtime reads none of them.
//
//===----------------------------------------------------------------------===//

#include "EngineTranslationImpl.h"
#include "PackJson.h"

#include "Netra/Target/Equivalence.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

using namespace netra;
using nlohmann::json;

/// Keys sorted, two-space indented. Text that is no UTF-8 is replaced rather
/// than thrown about.
static std::string write(const json &value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

static json parseCanonical(const std::string &text) {
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

static json describeCost(const Cost &cost) {
  return {{"bytes", cost.bytes},
          {"flop", cost.flop},
          {"picoseconds", cost.picoseconds}};
}

static json describeMiss(const Candidate &miss) {
  json fields = json::array();
  for (const Mismatch &mismatch : miss.mismatches)
    fields.push_back({{"field", mismatch.field},
                      {"expected", mismatch.expected},
                      {"found", mismatch.found}});
  return {{"tactic", miss.tactic->name}, {"differs", fields}};
}

static std::string writeContracts(llvm::ArrayRef<TranslatedKernel> kernels) {
  json contracts = json::object();
  for (const TranslatedKernel &kernel : kernels)
    contracts[kernel.instance.contract.id()] =
        parseCanonical(kernel.instance.contract.toJson());
  return write({{"format", "netra.contracts/1"}, {"contracts", contracts}});
}

//===----------------------------------------------------------------------===//
// explain.json
//===----------------------------------------------------------------------===//

/// The selection of one kernel, made again. An engine does not record whether
/// experiments or goldens were allowed; it tells by having chosen one.
static json explainKernel(const TranslatedKernel &kernel,
                          const Catalog &catalog) {
  const Tactic &tactic = *kernel.instance.tactic;
  SelectOptions options;
  options.target = catalog.getTarget().str();
  options.allowExperimental = tactic.maturity == Maturity::Experiment;
  options.allowGolden = tactic.golden.has_value();
  Selection selection =
      catalog.select(kernel.instance.contract.problem, options);
  json entry = {{"tactic", tactic.name},
                {"summary", tactic.summary},
                {"maturity", maturityName(tactic.maturity).str()},
                {"code", tactic.golden ? "golden" : "template"},
                {"options", kernel.instance.options},
                {"contract", kernel.instance.contract.id()},
                {"symbol", kernel.instance.symbol},
                {"error_bound", tactic.errorBound},
                {"also_matches", json::array()},
                {"nearest_misses", json::array()}};
  bool isWinner = selection.winner && selection.winner->tactic == &tactic &&
                  selection.winner->instance.options == kernel.instance.options;
  if (isWinner) {
    entry["reason"] = selection.reason;
    entry["cost"] = describeCost(selection.winner->cost);
  } else {
    entry["reason"] = "named by the module; selection would choose " +
                      (selection.winner ? selection.winner->tactic->name
                                        : std::string("nothing"));
  }
  for (const Candidate &other : selection.runnersUp)
    entry["also_matches"].push_back(
        {{"tactic", other.tactic->name}, {"cost", describeCost(other.cost)}});
  for (const Candidate &miss : selection.nearest)
    entry["nearest_misses"].push_back(describeMiss(miss));
  return entry;
}

static std::string writeExplanation(const Engine &engine,
                                    llvm::ArrayRef<TranslatedKernel> kernels,
                                    const Catalog &catalog) {
  json choices = json::object();
  for (const TranslatedKernel &kernel : kernels)
    choices[kernel.instance.symbol] = explainKernel(kernel, catalog);
  json plans = json::array();
  for (const EnginePlan &plan : engine.plans) {
    json steps = json::array();
    for (const EngineStep &step : plan.steps) {
      json entry = {{"name", step.name}, {"operation", step.operation}};
      if (step.kind == EngineStep::Kind::Fallback) {
        entry["fallback"] = step.reason;
      } else {
        entry["kernel"] =
            engine.codeObjects[step.codeObject].kernels[step.kernel].symbol;
        entry["tactic"] = step.tactic;
      }
      steps.push_back(entry);
    }
    plans.push_back({{"name", plan.name}, {"steps", steps}});
  }
  return write({{"format", "netra.explanation/1"},
                {"kernels", choices},
                {"plans", plans}});
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
    for (const EngineSlot &slot : step.inputs)
      if (isArena(slot))
        visit(slot, false, true);
    for (const EngineSlot &slot : step.outputs)
      if (isArena(slot))
        visit(slot, true, false);
    return;
  }
  const auto &arguments =
      engine.codeObjects[step.codeObject].kernels[step.kernel].arguments;
  for (auto [slot, argument] : llvm::zip_equal(step.arguments, arguments))
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

static std::string writeMemoryPlan(const Engine &engine) {
  json plans = json::array();
  for (const EnginePlan &plan : engine.plans) {
    json buffers = json::array();
    std::vector<ArenaValue> values = findArenaValues(engine, plan);
    for (const ArenaValue &value : values)
      buffers.push_back({{"offset", value.offset},
                         {"bytes", value.bytes},
                         {"first_step", value.firstStep},
                         {"last_step", value.lastStep},
                         {"written_by", plan.steps[value.firstStep].name}});
    // The least arena that these lifetimes allow.
    uint64_t bound = 0;
    for (size_t step = 0; step < plan.steps.size(); ++step) {
      uint64_t live = 0;
      for (const ArenaValue &value : values)
        if (value.firstStep <= step && step <= value.lastStep)
          live += llvm::alignTo(value.bytes, plan.arenaAlignment);
      bound = std::max(bound, live);
    }
    plans.push_back({{"name", plan.name},
                     {"arena_bytes", plan.arenaBytes},
                     {"alignment", plan.arenaAlignment},
                     {"lower_bound", bound},
                     {"buffers", buffers}});
  }
  return write({{"format", "netra.memory_plan/1"},
                {"weights_bytes", engine.weights.bytes},
                {"plans", plans}});
}

//===----------------------------------------------------------------------===//
// layout_plan.json, graph_recipe.json, validation.json
//===----------------------------------------------------------------------===//

static std::string writeLayoutPlan(const Engine &engine) {
  json weights = json::array();
  for (const EngineWeight &weight : engine.weights.entries) {
    json entry = toJson(weight.pack);
    entry.update({{"name", weight.name},
                  {"type", elementTypeName(weight.type).str()},
                  {"shape", weight.shape},
                  {"layout", weight.layout}});
    weights.push_back(std::move(entry));
  }
  json bindings = json::array();
  for (const EngineBinding &binding : engine.bindings)
    bindings.push_back({{"name", binding.name}, {"layout", binding.layout}});
  return write({{"format", "netra.layout_plan/1"},
                {"weights", weights},
                {"bindings", bindings}});
}

static std::string writeGraphRecipe(const Engine &engine,
                                    llvm::ArrayRef<TranslatedKernel> kernels) {
  std::set<std::string> notCapturable;
  for (const TranslatedKernel &kernel : kernels)
    if (!kernel.instance.contract.graphCapture)
      notCapturable.insert(kernel.instance.contract.id());
  json plans = json::array();
  for (const EnginePlan &plan : engine.plans) {
    bool capturable = true;
    json nodes = json::array();
    for (auto [index, step] : llvm::enumerate(plan.steps)) {
      json node = {
          {"index", index}, {"name", step.name}, {"after", step.after}};
      if (step.kind == EngineStep::Kind::Fallback) {
        capturable = false;
        node["kind"] = "fallback";
      } else {
        capturable &= notCapturable.count(step.contract) == 0;
        node["kind"] = "launch";
        node["kernel"] =
            engine.codeObjects[step.codeObject].kernels[step.kernel].symbol;
        node["grid"] = step.grid;
        node["block"] = step.block;
        node["dynamic_lds"] = step.dynamicLds;
      }
      nodes.push_back(node);
    }
    plans.push_back(
        {{"name", plan.name}, {"capturable", capturable}, {"nodes", nodes}});
  }
  return write({{"format", "netra.graph_recipe/1"}, {"plans", plans}});
}

/// What was checked when the engine was compiled, and what was not. The
/// evidence of a tactic is that of its manifest; nothing here turns one kind
/// into another.
static std::string writeValidation(llvm::ArrayRef<TranslatedKernel> kernels) {
  json entries = json::array();
  for (const TranslatedKernel &kernel : kernels) {
    const Tactic &tactic = *kernel.instance.tactic;
    json evidence = json::array();
    for (const Evidence &item : tactic.evidence)
      evidence.push_back({{"kind", item.kind}, {"what", item.what}});
    const CodeObject &object = kernel.assembled->object;
    json entry = {
        {"symbol", kernel.instance.symbol},
        {"tactic", tactic.name},
        {"contract", kernel.instance.contract.id()},
        {"maturity", maturityName(tactic.maturity).str()},
        {"text_sha256", object.textSha256},
        {"identity_sha256",
         computationalIdentity(object, *object.find(kernel.instance.symbol))},
        {"metadata_matches_contract", "passed"},
        {"evidence", evidence}};
    if (tactic.golden) {
      entry["golden_sha256"] = tactic.golden->sha256;
      entry["matches_golden_record"] = "passed";
    } else {
      entry["source_closure_sha256"] = kernel.assembled->closureSha256;
      entry["assembled"] = "passed";
    }
    entries.push_back(std::move(entry));
  }
  return write({{"format", "netra.validation/1"},
                {"engine_is_consistent", "passed"},
                {"kernels", entries},
                {"simulated", "not_run"},
                {"device", "not_run"}});
}

void netra::addReports(BundleFiles &files, const Engine &engine,
                       llvm::ArrayRef<TranslatedKernel> kernels,
                       const Catalog &catalog) {
  files["contracts.json"] = writeContracts(kernels);
  files["explain.json"] = writeExplanation(engine, kernels, catalog);
  files["memory_plan.json"] = writeMemoryPlan(engine);
  files["layout_plan.json"] = writeLayoutPlan(engine);
  files["graph_recipe.json"] = writeGraphRecipe(engine, kernels);
  files["validation.json"] = writeValidation(kernels);
}
