//===- TacticVerifier.cpp - Kernels of a bundle and their tactics ---------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/TacticVerifier.h"

#include "BundleContents.h"
#include "BundleReports.h"
#include "Explanation.h"

#include "Netra/Catalog/Catalog.h"
#include "Netra/Catalog/ContractJson.h"
#include "Netra/Target/InstructionCount.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace llvm;
using Json = nlohmann::json;

namespace netra {

namespace {
/// A kernel as it is launched.
struct CheckedKernel {
  std::string contract, symbol, tactic;
  size_t object;
};

class TacticVerifier {
public:
  TacticVerifier(StringRef directory, const Engine &engine,
                 const Catalog &catalog, const KernelBuilder &builder,
                 bool hasGoldens)
      : directory(directory), engine(engine), catalog(catalog),
        assembler(builder.getAssembler()), counter(builder),
        hasGoldens(hasGoldens) {}

  Error run() {
    for (auto [name, to] : {std::pair("contracts.json", &contracts),
                            std::pair("explain.json", &explanation),
                            std::pair("validation.json", &validation)}) {
      Expected<std::string> text = read(name);
      if (!text)
        return text.takeError();
      Expected<Json> document = json::parseSorted(*text, name);
      if (!document)
        return document.takeError();
      *to = std::move(*document);
    }
    // `verifyBundle` has looked at its form.
    const Json &selection = explanation.at("selection");
    SelectOptions options;
    options.target = catalog.getTarget().str();
    options.allowExperimental = selection.at("allow_experimental").get<bool>();
    options.allowGolden = selection.at("allow_golden").get<bool>();
    if (selection.at("count_instructions").get<bool>())
      options.counter = &counter;
    explainer.emplace(catalog, assembler, options);
    for (const auto &[key, launched] : findLaunchedKernels(engine))
      for (const std::string &tactic : launched.tactics)
        if (Error error =
                checkKernel({key.first, key.second, tactic, launched.object}))
          return error;
    checkPermissions();
    return checkSources();
  }

  TacticFindings result;

private:
  void report(const Twine &where, const Twine &message) {
    result.findings.push_back({where.str(), message.str()});
  }

  Expected<std::string> read(const Twine &name) {
    SmallString<256> path(directory);
    sys::path::append(path, name);
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
    if (!buffer)
      return createStringError(name + ": " + buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }

  Error checkKernel(const CheckedKernel &kernel) {
    Expected<Contract> contract = Contract::fromJson(
        contracts.at("contracts").at(kernel.contract).dump());
    if (!contract)
      return contract.takeError();
    checkSchemes(kernel, contract->numerics);
    const Tactic *tactic = catalog.findTactic(kernel.tactic);
    if (!isComparable(kernel, tactic))
      return Error::success();
    const std::string competition =
        competitionOf(contract->problem.family, contract->problem.operation);
    const Json &stated =
        explanation.at("kernels").at(kernel.contract).at(kernel.symbol);
    const bool isSameTactic = isSameAsThen(competition, kernel.tactic);
    if (isSameTactic)
      checkTactic(kernel, *tactic, stated);
    else
      skip("what is said of tactic " + kernel.tactic +
           ", which has another manifest in the catalogue");
    Expected<Instance> instance =
        instantiate(*tactic, contract->problem, findOptions(kernel));
    if (!instance) {
      report("contracts.json",
             kernel.contract + ": " + llvm::toString(instance.takeError()));
      return Error::success();
    }
    // Both are canonical, so that equal contracts are equal here.
    Json found = Json::parse(contract->toJson());
    Json expected = Json::parse(instance->contract.toJson());
    for (const Json &difference : Json::diff(found, expected))
      reportDifference(kernel, difference.at("path"), expected, found);
    if (instance->symbol != kernel.symbol)
      report("engine.json", kernel.contract + ": expected the symbol " +
                                instance->symbol + " of tactic " +
                                kernel.tactic + ", found " + kernel.symbol);
    if (isSameTactic && found == expected)
      checkSelection(kernel, *instance, competition, stated);
    if (found == expected && instance->symbol == kernel.symbol &&
        !tactic->golden)
      bySymbol[kernel.symbol].push_back(
          {std::move(*instance), &engine.codeObjects[kernel.object]});
    return Error::success();
  }

  void checkSchemes(const CheckedKernel &kernel, const Numerics &numerics) {
    using Kind = SchemeDefinition::Kind;
    for (auto [kind, spelling] :
         {std::pair(Kind::ReductionOrder, &numerics.reductionOrder),
          std::pair(Kind::Rounding, &numerics.rounding)})
      if (std::string expected =
              catalog.schemes().expectedFor(kind, StringRef(*spelling));
          !expected.empty())
        report("contracts.json",
               kernel.contract + ": /numerics/" + schemeKindName(kind) +
                   ": expected " + expected + ", found \"" + *spelling + "\"");
  }

  //===--------------------------------------------------------------------===//
  // What explain.json and validation.json say
  //===--------------------------------------------------------------------===//

  /// The tactics of a competition as they are now.
  const Json &tacticsNow(const std::string &competition) {
    auto [known, isNew] = tacticsOf.try_emplace(competition);
    if (isNew)
      known->second = explainer->describeTactics(competition);
    return known->second;
  }
  const Json &tacticsThen(const std::string &competition) const {
    return explanation.at("selection").at("tactics").at(competition);
  }
  bool isSameAsThen(const std::string &competition, const std::string &tactic) {
    // It may compute something else now.
    const Json &now = tacticsNow(competition);
    return now.contains(tactic) &&
           now.at(tactic) == tacticsThen(competition).at(tactic);
  }

  void compareStated(const char *file, const CheckedKernel &kernel,
                     const char *key, const Json &expected,
                     const Json &stated) {
    Json found = stated.contains(key) ? stated.at(key) : Json();
    if (found == expected)
      return;
    // Of long lists, the first difference.
    Json::json_pointer place;
    if (expected.is_structured() && found.type() == expected.type()) {
      place = Json::json_pointer(
          Json::diff(found, expected).at(0).at("path").get<std::string>());
      // The end of a list, where it has too few.
      if (!place.empty() && place.back() == "-") {
        place.pop_back();
        place /= found.at(place).size();
      }
    }
    auto spell = [&](const Json &value) {
      return value.contains(place) ? value.at(place).dump() : "nothing";
    };
    report(file, kernel.symbol + ": " + key + place.to_string() +
                     ": expected " + spell(expected) +
                     " as the catalogue gives for tactic " + kernel.tactic +
                     ", found " + spell(found));
  }

  /// What is copied from the manifest.
  void checkTactic(const CheckedKernel &kernel, const Tactic &tactic,
                   const Json &stated) {
    auto compare = [&](const char *key, const Json &expected) {
      compareStated("explain.json", kernel, key, expected, stated);
    };
    compare("summary", tactic.summary);
    compare("maturity", maturityName(tactic.maturity).str());
    compare("rank", tactic.rank);
    compare("code", tactic.golden ? "golden" : "template");
    compare("error_bound", tactic.errorBound);
    for (const Json &entry : validation.at("kernels"))
      if (entry.at("symbol") == kernel.symbol &&
          entry.at("contract") == kernel.contract)
        compareStated("validation.json", kernel, "evidence",
                      describeEvidence(tactic), entry);
  }

  /// The selection made again, where it chooses from the same.
  void checkSelection(const CheckedKernel &kernel, const Instance &instance,
                      const std::string &competition, const Json &stated) {
    if (tacticsNow(competition) != tacticsThen(competition)) {
      skip("the selection for " + competition +
           ", which has other tactics in the catalogue");
      return;
    }
    const Json &selection = explanation.at("selection");
    const bool needsGoldens =
        selection.at("allow_golden") == Json(true) &&
        selection.at("count_instructions") == Json(true) &&
        any_of(catalog.tacticsFor(instance.contract.problem.family,
                                  instance.contract.problem.operation),
               [](const Tactic *tactic) { return tactic->golden.has_value(); });
    if (needsGoldens && !hasGoldens) {
      skip("the selection for " + competition +
           ", which may count instructions of golden code: name its folder "
           "with --golden-root");
      return;
    }
    const Json expected = explainer->explain(instance);
    for (const char *key : {"options", "chosen_by", "cost", "also_matches",
                            "nearest_misses", "reason"})
      compareStated("explain.json", kernel, key, expected.at(key), stated);
  }

  /// Where selection chose from the same tactics, whether there was golden code
  /// to allow. That other tactics are there has been noted.
  void checkPermissions() {
    const Json &selection = explanation.at("selection");
    if (!selection.at("allow_golden").get<bool>())
      return;
    for (const auto &[competition, then] : selection.at("tactics").items())
      if (tacticsNow(competition) != then || explainer->hasGolden(competition))
        return;
    report("explain.json",
           "selection: allow_golden: expected false, as none of "
           "the tactics is golden code, found true");
  }

  /// Notes once what cannot be told with this catalogue.
  void skip(const Twine &what) {
    std::string line = what.str();
    if (skipped.insert(line).second)
      result.notCompared.push_back(line);
  }

  /// Whether the catalogue has the tactic that the kernel was made of.
  bool isComparable(const CheckedKernel &kernel, const Tactic *tactic) {
    auto skip = [&](const Twine &why) {
      this->skip("tactic " + kernel.tactic + ", " + why + " in the catalogue");
      return false;
    };
    if (!tactic)
      return skip("which is not");
    if (tactic->golden)
      return tactic->golden->sha256 ==
                 engine.codeObjects[kernel.object].sha256 ||
             skip("which is other code");
    // `verifyBundle` has held the statement against the files.
    for (const Json &entry : validation.at("kernels"))
      if (entry.at("symbol") == kernel.symbol &&
          entry.at("contract") == kernel.contract &&
          entry.contains("source_closure_sha256")) {
        Expected<std::string> sources =
            assembler.hashSources(tactic->templatePath);
        if (!sources)
          return skip("whose template cannot be read (" +
                      llvm::toString(sources.takeError()) + ")");
        if (*sources == entry.at("source_closure_sha256"))
          return true;
      }
    return skip("which is another template");
  }

  std::map<std::string, int64_t>
  findOptions(const CheckedKernel &kernel) const {
    std::map<std::string, int64_t> options;
    Json::json_pointer place;
    place /= "kernels";
    place /= kernel.contract;
    place /= kernel.symbol;
    place /= "options";
    if (explanation.contains(place) && explanation.at(place).is_object())
      for (const auto &[name, value] : explanation.at(place).items())
        if (value.is_number_integer())
          options[name] = value.get<int64_t>();
    return options;
  }

  void reportDifference(const CheckedKernel &kernel, const std::string &path,
                        const Json &expected, const Json &found) {
    Json::json_pointer place(path);
    auto spell = [&](const Json &document) {
      return document.contains(place) ? document.at(place).dump() : "nothing";
    };
    report("contracts.json",
           kernel.contract + ": " + path + ": expected " + spell(expected) +
               " as tactic " + kernel.tactic + " says, found " + spell(found));
  }

  /// Kernels of several contracts may be one machine code. The source is then
  /// that of one of them, and the others give the same code.
  Error checkSources() {
    for (const auto &[symbol, instances] : bySymbol) {
      std::string name = "source/" + symbol + ".s";
      Expected<std::string> source = read(name);
      if (!source)
        return source.takeError();
      std::vector<const Made *> others;
      for (const Made &made : instances)
        if (assembler.instanceSource(made.instance) != *source)
          others.push_back(&made);
      if (others.size() == instances.size()) {
        reportSource(name, *others.front(), *source);
        continue;
      }
      for (const Made *made : others) {
        Expected<AssembledKernel> code = assembler.assemble(made->instance);
        if (code && code->object.textSha256 == made->object->textSha256)
          continue;
        consumeError(code.takeError());
        reportSource(name, *made, *source);
      }
    }
    return Error::success();
  }

  struct Made {
    Instance instance;
    const EngineCodeObject *object;
  };

  void reportSource(const std::string &name, const Made &made,
                    StringRef source) {
    std::string generated = assembler.instanceSource(made.instance);
    if (std::optional<LineDifference> at = findDifference(generated, source))
      report(name, "line " + Twine(at->line) + ": expected '" + at->expected +
                       "' as contract " + made.instance.contract.id() +
                       " of tactic " + made.instance.tactic->name +
                       " gives, found '" + at->found + "'");
  }

  StringRef directory;
  const Engine &engine;
  const Catalog &catalog;
  const Assembler &assembler;
  AssembledInstructions counter;
  bool hasGoldens;
  std::optional<Explainer> explainer;
  std::map<std::string, Json> tacticsOf; // competitions, as they are now
  Json contracts, explanation, validation;
  std::map<std::string, std::vector<Made>> bySymbol;
  std::set<std::string> skipped;
};
} // namespace

Expected<TacticFindings> verifyTactics(StringRef directory,
                                       StringRef libraryRoot,
                                       StringRef goldenRoot) {
  Expected<Engine> engine = readBundle(directory);
  if (!engine)
    return engine.takeError();
  SmallString<256> manifests(libraryRoot);
  sys::path::append(manifests, "manifests", engine->architecture);
  TacticFindings none;
  none.notCompared = {"any tactic, since there is no catalogue of " +
                      engine->architecture + " in " + libraryRoot.str()};
  if (!sys::fs::is_directory(manifests))
    return none;
  Expected<Catalog> catalog = Catalog::load(libraryRoot, engine->architecture);
  if (!catalog)
    return catalog.takeError();
  Expected<KernelBuilder> builder =
      KernelBuilder::create(libraryRoot, engine->architecture, goldenRoot);
  if (!builder)
    return builder.takeError();
  TacticVerifier verifier(directory, *engine, *catalog, *builder,
                          !goldenRoot.empty());
  if (Error error = verifier.run())
    return error;
  return std::move(verifier.result);
}

} // namespace netra
