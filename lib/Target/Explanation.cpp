//===- Explanation.cpp - Why a kernel was chosen, as JSON -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using llvm::StringRef;
using Json = nlohmann::json;

namespace netra {

std::string competitionOf(StringRef family, StringRef operation) {
  return (family + "." + operation).str();
}

Json describeCost(const Cost &cost, bool isOfContract) {
  Json described = {{"bytes", cost.bytes},
                    {"bytes_of", isOfContract ? "contract" : "tactic"},
                    {"flop", cost.flop},
                    {"picoseconds", cost.picoseconds},
                    {"bound", cost.isBoundByMemory ? "memory" : "arithmetic"}};
  if (cost.instructions)
    described["instructions"] = *cost.instructions;
  return described;
}

static Json describeCost(const Tactic &tactic, const Cost &cost) {
  return describeCost(cost, !tactic.costBytes);
}

Json describeEvidence(const Tactic &tactic) {
  Json evidence = Json::array();
  for (const Evidence &item : tactic.evidence)
    evidence.push_back({{"kind", item.kind}, {"what", item.what}});
  return evidence;
}

std::string explainChoice(const Standing &self, llvm::ArrayRef<Standing> others,
                          size_t total, bool isNamedByModule) {
  if (!isNamedByModule)
    return others.empty()
               ? "the only one of " + llvm::utostr(total) + " that matches"
               : self.whyBefore(others.front());
  const std::string named = "named by the module; ";
  if (!others.empty() && others.front().precedes(self))
    return named + "selection would take " + others.front().name + ": " +
           others.front().whyBefore(self);
  return named + "selection would try other options first";
}

Json Explainer::explain(const Instance &instance) const {
  const Tactic &tactic = *instance.tactic;
  const Problem &problem = instance.contract.problem;
  Selection selection = catalog.select(problem, options);
  Candidate self;
  self.tactic = &tactic;
  self.cost = estimateCost(instance);
  const bool isWinner = selection.winner &&
                        selection.winner->tactic == &tactic &&
                        selection.winner->instance.options == instance.options;
  std::vector<Candidate> others;
  if (selection.winner) {
    const Cost &best = selection.winner->cost;
    if (isWinner)
      self.cost = best;
    else if (best.instructions && options.counter &&
             selection.winner->tactic->maturity == tactic.maturity &&
             best.picoseconds == self.cost.picoseconds)
      self.cost.instructions = options.counter->count(instance);
    others.push_back(std::move(*selection.winner));
  }
  llvm::append_range(others, selection.runnersUp);
  llvm::append_range(others, selection.nearest);
  // Whatever options it would have had: it was taken.
  llvm::erase_if(
      others, [&](const Candidate &other) { return other.tactic == &tactic; });

  std::vector<Standing> matching;
  Json alsoMatches = Json::array(), misses = Json::array();
  for (const Candidate &other : others) {
    if (other.matches()) {
      matching.push_back(standingOf(other));
      alsoMatches.push_back(
          {{"tactic", other.tactic->name},
           {"maturity", maturityName(other.tactic->maturity).str()},
           {"rank", other.tactic->rank},
           {"cost", describeCost(*other.tactic, other.cost)}});
      continue;
    }
    Json fields = Json::array();
    for (const Mismatch &mismatch : other.mismatches)
      fields.push_back({{"field", mismatch.field},
                        {"expected", mismatch.expected},
                        {"found", mismatch.found}});
    misses.push_back({{"tactic", other.tactic->name}, {"differs", fields}});
  }
  return {{"tactic", tactic.name},
          {"summary", tactic.summary},
          {"maturity", maturityName(tactic.maturity).str()},
          {"rank", tactic.rank},
          {"code", tactic.golden ? "golden" : "template"},
          {"options", instance.options},
          {"contract", instance.contract.id()},
          {"symbol", instance.symbol},
          {"error_bound", tactic.errorBound},
          {"chosen_by", isWinner ? "selection" : "module"},
          {"cost", describeCost(tactic, self.cost)},
          {"reason",
           explainChoice(
               standingOf(self), matching,
               catalog.tacticsFor(problem.family, problem.operation).size(),
               !isWinner)},
          {"also_matches", std::move(alsoMatches)},
          {"nearest_misses", std::move(misses)}};
}

bool Explainer::hasGolden(StringRef competition) const {
  return llvm::any_of(catalog.tactics(), [&](const Tactic &tactic) {
    return tactic.golden &&
           competitionOf(tactic.family, tactic.operation) == competition;
  });
}

Json Explainer::describeTactics(StringRef competition) const {
  Json tactics = Json::object();
  for (const Tactic &tactic : catalog.tactics()) {
    if (competitionOf(tactic.family, tactic.operation) != competition)
      continue;
    std::string code;
    if (tactic.golden) {
      code = tactic.golden->sha256;
    } else {
      // What cannot be read as a whole is another template than one that can.
      llvm::Expected<std::string> sources =
          assembler.hashSources(tactic.templatePath);
      code = sources ? *sources : llvm::toString(sources.takeError());
    }
    tactics[tactic.name] =
        sha256Hex(StringRef(tactic.manifestSha256 + "\n" + code + "\n"));
  }
  return tactics;
}

Json Explainer::describeSelection(
    llvm::ArrayRef<const Problem *> problems) const {
  Json competitions = Json::object();
  // A permission that there was nothing to use for is none.
  bool hasGoldens = false;
  for (const Problem *problem : problems)
    if (std::string name = competitionOf(problem->family, problem->operation);
        !competitions.contains(name)) {
      competitions[name] = describeTactics(name);
      hasGoldens |= hasGolden(name);
    }
  return {{"allow_experimental", options.allowExperimental},
          {"allow_golden", options.allowGolden && hasGoldens},
          {"count_instructions", options.counter != nullptr},
          {"tactics", std::move(competitions)}};
}

} // namespace netra
