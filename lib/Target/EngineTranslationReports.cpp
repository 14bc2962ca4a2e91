//===- EngineTranslationReports.cpp - What a bundle says of itself --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The JSON files of a bundle that say what engine.json does not. They are for
// people and tools; the runtime reads none of them.
//
//===----------------------------------------------------------------------===//

#include "BundleReports.h"
#include "EngineTranslationImpl.h"

#include "Netra/Target/Equivalence.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace netra;
using nlohmann::json;

static json parseCanonical(const std::string &text) {
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

static json describeCost(const Cost &cost) {
  json described = {{"bytes", cost.bytes},
                    {"flop", cost.flop},
                    {"picoseconds", cost.picoseconds}};
  if (cost.instructions)
    described["instructions"] = *cost.instructions;
  return described;
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
  return printReport(
      {{"format", "netra.contracts/1"}, {"contracts", contracts}});
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
    choices[kernel.instance.contract.id()][kernel.instance.symbol] =
        explainKernel(kernel, catalog);
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
        entry["contract"] = step.contract;
        entry["tactic"] = step.tactic;
      }
      steps.push_back(entry);
    }
    plans.push_back({{"name", plan.name}, {"steps", steps}});
  }
  return printReport({{"format", "netra.explanation/1"},
                      {"kernels", choices},
                      {"plans", plans}});
}

//===----------------------------------------------------------------------===//
// validation.json
//===----------------------------------------------------------------------===//

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
  return printReport({{"format", "netra.validation/1"},
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
  files["validation.json"] = writeValidation(kernels);
  std::set<std::string> notCapturable;
  for (const TranslatedKernel &kernel : kernels)
    if (!kernel.instance.contract.graphCapture)
      notCapturable.insert(kernel.instance.contract.id());
  files.merge(deriveReports(engine, notCapturable));
}
