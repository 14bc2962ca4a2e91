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
#include "Explanation.h"

#include "Netra/Target/Equivalence.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace netra;
using nlohmann::json;

static json parseCanonical(const std::string &text) {
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string
netra::printContracts(const std::map<std::string, Contract> &contracts) {
  json byId = json::object();
  for (const auto &[id, contract] : contracts)
    byId[id] = parseCanonical(contract.toJson());
  return printReport({{"format", "netra.contracts/1"}, {"contracts", byId}});
}

//===----------------------------------------------------------------------===//
// explain.json
//===----------------------------------------------------------------------===//

/// What selection could take: what it was allowed, and what it has taken, which
/// an engine tells by itself.
static SelectOptions findPermissions(llvm::ArrayRef<TranslatedKernel> kernels,
                                     const Catalog &catalog,
                                     const TranslationOptions &translation,
                                     const InstructionCounter *counter) {
  SelectOptions options;
  options.counter = counter;
  options.target = catalog.getTarget().str();
  options.allowExperimental = translation.allowExperimental;
  options.allowGolden = !translation.goldenRoot.empty();
  for (const TranslatedKernel &kernel : kernels) {
    const Tactic &tactic = *kernel.instance.tactic;
    options.allowExperimental |= tactic.maturity == Maturity::Experiment;
    options.allowGolden |= tactic.golden.has_value();
  }
  return options;
}

static std::string writeExplanation(const Engine &engine,
                                    llvm::ArrayRef<TranslatedKernel> kernels,
                                    const Catalog &catalog,
                                    const Assembler &assembler,
                                    const SelectOptions &options) {
  Explainer explainer(catalog, assembler, options);
  json choices = json::object();
  std::vector<const Problem *> problems;
  for (const TranslatedKernel &kernel : kernels) {
    choices[kernel.instance.contract.id()][kernel.instance.symbol] =
        explainer.explain(kernel.instance);
    problems.push_back(&kernel.instance.contract.problem);
  }
  return printReport({{"format", "netra.explanation/2"},
                      {"selection", explainer.describeSelection(problems)},
                      {"kernels", choices},
                      {"plans", describeSteps(engine)}});
}

//===----------------------------------------------------------------------===//
// validation.json
//===----------------------------------------------------------------------===//

/// What was checked when the engine was compiled, and what was not. The
/// evidence of a tactic is that of its manifest; nothing here turns one kind
/// into another.
static std::string writeValidation(llvm::ArrayRef<TranslatedKernel> kernels,
                                   const BundleFiles &files) {
  json entries = json::array();
  for (const TranslatedKernel &kernel : kernels) {
    const Tactic &tactic = *kernel.instance.tactic;
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
        {"evidence", describeEvidence(tactic)}};
    if (tactic.golden) {
      entry["golden_file"] = tactic.golden->file;
      entry["golden_sha256"] = tactic.golden->sha256;
      entry["matches_golden_record"] = "passed";
    } else {
      // Kernels of several contracts may share a symbol, and so a source.
      const std::string &source =
          files.at("source/" + kernel.instance.symbol + ".s");
      entry["source_sha256"] = sha256Hex(llvm::StringRef(source));
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
                       const Catalog &catalog,
                       const TranslationOptions &options,
                       const Assembler &assembler,
                       const InstructionCounter *counter) {
  std::map<std::string, Contract> contracts;
  for (const TranslatedKernel &kernel : kernels)
    contracts.emplace(kernel.instance.contract.id(), kernel.instance.contract);
  files["contracts.json"] = printContracts(contracts);
  files["explain.json"] =
      writeExplanation(engine, kernels, catalog, assembler,
                       findPermissions(kernels, catalog, options, counter));
  files["validation.json"] = writeValidation(kernels, files);
  std::set<std::string> notCapturable;
  for (const TranslatedKernel &kernel : kernels)
    if (!kernel.instance.contract.graphCapture)
      notCapturable.insert(kernel.instance.contract.id());
  files.merge(deriveReports(engine, notCapturable));
}
