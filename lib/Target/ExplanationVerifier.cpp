//===- ExplanationVerifier.cpp - explain.json against the engine ----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What can be told without a catalogue: costs follow from contracts, the order
// of what matches from what stands there, and the reason from both. The rest is
// that of the catalogue's tactics, against which TacticVerifier.cpp holds it.
//
//===----------------------------------------------------------------------===//

#include "BundleContents.h"

#include "BundleReports.h"
#include "Explanation.h"

#include "Netra/Catalog/Json.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace llvm;
using Json = nlohmann::json;

namespace netra {

static constexpr StringRef explanationFile = "explain.json";

namespace {
/// What an entry is called in messages and what its parts are read into.
struct Stated {
  Standing standing;
  bool isReadable = true;
};

class ExplanationChecker {
public:
  ExplanationChecker(const Engine &engine,
                     const std::map<std::string, Contract> &contracts,
                     ReportFinding report)
      : engine(engine), contracts(contracts), report(report) {}

  Explanation run(const Json &document, StringRef text) {
    selection = memberOf(document, "selection");
    checkSelection();
    // What follows from engine.json takes the place of what is there.
    Json expected = {{"format", "netra.explanation/2"},
                     {"selection", selection},
                     {"plans", describeSteps(engine)},
                     {"kernels", Json::object()}};
    Explanation explanation;
    for (const auto &[key, kernel] : findLaunchedKernels(engine)) {
      const auto &[contract, symbol] = key;
      // A pointer into a value of another kind finds nothing.
      Json::json_pointer place;
      place /= "kernels";
      place /= contract;
      place /= symbol;
      Json entry = Json::object();
      if (document.is_object() && document.contains(place) &&
          document.at(place).is_object())
        entry = document.at(place);
      entry["contract"] = contract;
      entry["symbol"] = symbol;
      entry["tactic"] = *kernel.tactics.begin();
      explanation[key] = checkEntry(entry, contract, symbol);
      expected["kernels"][contract][symbol] = std::move(entry);
    }
    if (std::string difference =
            describeDifference(printReport(expected), text);
        !difference.empty())
      report(explanationFile, difference);
    return explanation;
  }

private:
  static Json memberOf(const Json &object, const std::string &key) {
    auto found = object.is_object() ? object.find(key) : object.end();
    return found == object.end() ? Json() : *found;
  }
  static std::string spell(const Json &value) {
    return value.is_null()
               ? "none"
               : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void expect(const Twine &where, const Twine &expected, const Json &found) {
    report(explanationFile,
           where + ": expected " + expected + ", found " + spell(found));
  }
  void compare(const Twine &where, const Json &expected, const Json &found) {
    if (expected != found)
      expect(where, spell(expected), found);
  }

  //===--------------------------------------------------------------------===//
  // What selection was allowed
  //===--------------------------------------------------------------------===//

  void checkSelection() {
    static constexpr StringRef flags[] = {"allow_experimental", "allow_golden",
                                          "count_instructions"};
    if (!selection.is_object()) {
      expect("selection", "what it was allowed and from what it chose",
             selection);
      return;
    }
    for (StringRef flag : flags)
      if (Json value = memberOf(selection, flag.str()); !value.is_boolean())
        expect("selection: " + flag, "true or false", value);
    for (const auto &[key, value] : selection.items())
      if (!is_contained(flags, key) && key != "tactics")
        expect("selection", "what it was allowed and from what it chose", key);
    std::set<std::string> competitions;
    for (const auto &[key, kernel] : findLaunchedKernels(engine))
      if (auto found = contracts.find(key.first); found != contracts.end())
        competitions.insert(competitionOf(found->second.problem.family,
                                          found->second.problem.operation));
    Json tactics = memberOf(selection, "tactics");
    std::set<std::string> found;
    if (tactics.is_object())
      for (const auto &[competition, considered] : tactics.items()) {
        found.insert(competition);
        for (const auto &[name, hash] : considered.items())
          if (!hash.is_string() || hash.get<std::string>().size() != 64)
            expect("selection: " + name, "a SHA-256", hash);
      }
    if (found != competitions)
      expect("selection: tactics", spell(Json(competitions)),
             tactics.is_object() ? Json(found) : tactics);
  }

  bool isAllowed(const char *what) const {
    return memberOf(selection, what) == Json(true);
  }

  //===--------------------------------------------------------------------===//
  // A kernel
  //===--------------------------------------------------------------------===//

  ExplainedKernel checkEntry(const Json &entry, const std::string &id,
                             const std::string &symbol) {
    static constexpr StringRef keys[] = {
        "also_matches", "chosen_by", "code",           "contract", "cost",
        "error_bound",  "maturity",  "nearest_misses", "options",  "rank",
        "reason",       "summary",   "symbol",         "tactic"};
    for (const auto &[key, value] : entry.items())
      if (!is_contained(keys, key))
        report(explanationFile,
               symbol +
                   ": expected what selection says of a kernel, found "
                   "the key \"" +
                   key + "\"");
    for (const char *key : {"code", "maturity", "reason", "summary"})
      if (getText(entry, key).value_or("").empty())
        report(explanationFile,
               symbol + ": " + key + ": expected a text, found none");
    if (!getText(entry, "error_bound"))
      expect(symbol + ": error_bound", "a text",
             memberOf(entry, "error_bound"));
    if (Json options = memberOf(entry, "options"); !options.is_object())
      expect(symbol + ": options", "the options of the tactic", options);
    const std::string code = getText(entry, "code").value_or("");
    if (!code.empty() && code != "golden" && code != "template")
      expect(symbol + ": code", "golden or template", code);
    if (code == "golden" && !isAllowed("allow_golden"))
      expect(symbol + ": code",
             "a template, as selection was not allowed golden code", code);
    checkLikeOthers(entry, symbol);
    auto contract = contracts.find(id);
    if (contract != contracts.end())
      checkStandings(entry, contract->second.problem, symbol);
    return {getText(entry, "maturity").value_or(""), code == "golden"};
  }

  /// What is said of a tactic is said alike for all of its kernels.
  void checkLikeOthers(const Json &entry, const std::string &symbol) {
    const std::string tactic = entry.at("tactic").get<std::string>();
    const Json &first = firstOf.try_emplace(tactic, entry).first->second;
    for (const char *key :
         {"code", "error_bound", "maturity", "rank", "summary"})
      if (Json expected = memberOf(first, key);
          expected != memberOf(entry, key))
        expect(symbol + ": " + key,
               spell(expected) + ", as of another kernel of tactic " + tactic,
               memberOf(entry, key));
  }

  /// Maturity, rank and cost of `entry`, which says what `tactic` is.
  Stated checkStanding(const Json &entry, const std::string &tactic,
                       const Problem &problem, const std::string &where) {
    Stated stated;
    stated.standing.name = tactic;
    const Json maturity = memberOf(entry, "maturity");
    std::optional<Maturity> known =
        maturity.is_string() ? parseMaturity(maturity.get<std::string>())
                             : std::nullopt;
    if (!known || *known == Maturity::Rejected ||
        (*known == Maturity::Experiment && !isAllowed("allow_experimental"))) {
      expect(where + ": maturity",
             isAllowed("allow_experimental")
                 ? "experiment, verified or accepted"
                 : "verified or accepted",
             maturity);
      stated.isReadable = false;
    }
    stated.standing.maturity = known.value_or(Maturity::Experiment);
    const Json rank = memberOf(entry, "rank");
    if (rank.is_number_integer()) {
      stated.standing.rank = rank.get<int64_t>();
    } else {
      expect(where + ": rank", "an integer", rank);
      stated.isReadable = false;
    }
    stated.isReadable &= checkCost(memberOf(entry, "cost"), problem,
                                   where + ": cost", stated.standing.cost);
    return stated;
  }

  bool checkCost(const Json &stated, const Problem &problem,
                 const std::string &where, Cost &cost) {
    const TargetInfo *target = findTarget(engine.architecture);
    const Json bytes = memberOf(stated, "bytes");
    const Json bytesOf = memberOf(stated, "bytes_of");
    if (!target || !stated.is_object() || !bytes.is_number_unsigned()) {
      expect(where, "bytes, FLOP and time", stated);
      return false;
    }
    const bool isOfContract = bytesOf == "contract";
    if (!isOfContract && bytesOf != "tactic") {
      expect(where + "/bytes_of", "contract or tactic", bytesOf);
      return false;
    }
    // What a tactic says it moves only the catalogue knows.
    cost = estimateCost(problem, *target,
                        isOfContract ? std::nullopt
                                     : std::optional(bytes.get<uint64_t>()));
    if (Json count = memberOf(stated, "instructions"); !count.is_null()) {
      if (!count.is_number_unsigned() || !isAllowed("count_instructions")) {
        expect(where + "/instructions",
               isAllowed("count_instructions")
                   ? "a number"
                   : "none, as selection did not count them",
               count);
        return false;
      }
      cost.instructions = count.get<uint64_t>();
    }
    const Json expected = describeCost(cost, isOfContract);
    for (const auto &[key, value] : expected.items())
      compare(where + "/" + key, value, memberOf(stated, key));
    for (const auto &[key, value] : stated.items())
      if (!expected.contains(key))
        expect(where, "only what a cost has", key);
    return true;
  }

  void checkStandings(const Json &entry, const Problem &problem,
                      const std::string &symbol) {
    const std::string tactic = entry.at("tactic").get<std::string>();
    const std::string competition =
        competitionOf(problem.family, problem.operation);
    const Json considered =
        memberOf(memberOf(selection, "tactics"), competition);
    std::set<std::string> seen;
    auto isConsidered = [&](const Json &name, const std::string &where) {
      if (name.is_string() && considered.is_object() &&
          considered.contains(name.get<std::string>()) &&
          seen.insert(name.get<std::string>()).second)
        return true;
      expect(where,
             "a tactic of " + competition +
                 " that selection chose from, each once",
             name);
      return false;
    };
    bool isSound = isConsidered(tactic, symbol + ": tactic");
    const Stated self = checkStanding(entry, tactic, problem, symbol);
    isSound &= self.isReadable;

    const Json also = memberOf(entry, "also_matches");
    std::vector<Standing> others;
    if (!also.is_array())
      report(explanationFile,
             symbol + ": also_matches: expected a list, found none");
    isSound &= also.is_array();
    for (const auto &[index, other] :
         enumerate(also.is_array() ? also : Json::array())) {
      std::string where = (symbol + ": also_matches/" + Twine(index)).str();
      const Json name = memberOf(other, "tactic");
      if (!isConsidered(name, where + "/tactic")) {
        isSound = false;
        continue;
      }
      for (const auto &[key, value] : other.items())
        if (!is_contained({"cost", "maturity", "rank", "tactic"}, key))
          expect(where, "only where the tactic stands", key);
      Stated stated =
          checkStanding(other, name.get<std::string>(), problem, where);
      isSound &= stated.isReadable;
      others.push_back(stated.standing);
    }
    for (size_t i = 1; i < others.size() && isSound; ++i)
      if (!others[i - 1].precedes(others[i]))
        expect(symbol + ": also_matches/" + Twine(i),
               "the order of selection, " + others[i].name + " before " +
                   others[i - 1].name,
               others[i].name);
    isSound &=
        checkMisses(memberOf(entry, "nearest_misses"), symbol, isConsidered);

    const Json chosenBy = memberOf(entry, "chosen_by");
    const bool isNamed = chosenBy == "module";
    if (!isNamed && chosenBy != "selection") {
      expect(symbol + ": chosen_by", "selection or module", chosenBy);
      return;
    }
    if (!isSound)
      return; // what follows would follow from what has been reported
    if (!isNamed && !others.empty() && others.front().precedes(self.standing))
      expect(symbol + ": also_matches/0",
             "what comes after " + tactic + " in the order of selection",
             others.front().name);
    const size_t misses = considered.size() - 1 - others.size();
    const size_t kept = std::min<size_t>(misses, SelectOptions().nearestMisses);
    if (size_t found = entry.at("nearest_misses").size(); found != kept)
      expect(symbol + ": nearest_misses",
             Twine(kept) + " of the " + Twine(considered.size()) +
                 " tactics of " + competition,
             found);
    compare(symbol + ": reason",
            explainChoice(self.standing, others, considered.size(), isNamed),
            memberOf(entry, "reason"));
  }

  /// Fewest differences first, then by name.
  bool checkMisses(
      const Json &misses, const std::string &symbol,
      function_ref<bool(const Json &, const std::string &)> isConsidered) {
    if (!misses.is_array()) {
      report(explanationFile,
             symbol + ": nearest_misses: expected a list, found none");
      return false;
    }
    std::optional<std::pair<size_t, std::string>> before;
    for (const auto &[index, miss] : enumerate(misses)) {
      std::string where = (symbol + ": nearest_misses/" + Twine(index)).str();
      const Json name = memberOf(miss, "tactic");
      if (!isConsidered(name, where + "/tactic"))
        return false;
      const Json differs = memberOf(miss, "differs");
      bool isList = differs.is_array() && !differs.empty() && miss.size() == 2;
      for (const Json &field : differs)
        isList &= field.is_object() && field.size() == 3 &&
                  getText(field, "field") && getText(field, "expected") &&
                  getText(field, "found") &&
                  getText(field, "expected") != getText(field, "found");
      if (!isList) {
        expect(where + "/differs",
               "fields with what was expected and something else that was "
               "found",
               differs);
        return false;
      }
      std::pair<size_t, std::string> place(differs.size(),
                                           name.get<std::string>());
      if (before && *before > place)
        expect(where,
               "the nearest first, " + place.second + " before " +
                   before->second,
               place.second);
      before = place;
    }
    return true;
  }

  const Engine &engine;
  const std::map<std::string, Contract> &contracts;
  ReportFinding report;
  Json selection;
  std::map<std::string, Json> firstOf; // entries, by tactic
};
} // namespace

Explanation checkExplanation(StringRef text, const Engine &engine,
                             const std::map<std::string, Contract> &contracts,
                             ReportFinding report) {
  Expected<Json> document = json::parseSorted(text, explanationFile);
  if (!document) {
    reportUnread(explanationFile, document.takeError(), report);
    return {};
  }
  return ExplanationChecker(engine, contracts, report).run(*document, text);
}

} // namespace netra
