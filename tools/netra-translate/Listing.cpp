//===- Listing.cpp - What the catalogue offers ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Listing.h"

#include "Netra/Catalog/Deployment.h"
#include "Netra/Target/Equivalence.h"
#include "Netra/Target/KernelBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

using namespace netra;
using nlohmann::json;

/// What a condition of --filter is held against; a tactic has several records
/// of evidence.
static std::optional<std::vector<std::string>> valuesOf(llvm::StringRef key,
                                                        const Tactic &tactic) {
  if (key == "name")
    return {{tactic.name}};
  if (key == "family")
    return {{tactic.family}};
  if (key == "operation")
    return {{tactic.operation}};
  if (key == "maturity")
    return {{maturityName(tactic.maturity).str()}};
  if (key != "evidence")
    return std::nullopt;
  std::vector<std::string> kinds;
  for (const Evidence &evidence : tactic.evidence)
    kinds.push_back(evidence.kind);
  return kinds;
}

/// Every value that a key can have, if that is laid down.
static llvm::ArrayRef<llvm::StringRef> allValuesOf(llvm::StringRef key) {
  static const llvm::StringRef maturities[] = {
      maturityName(Maturity::Rejected), maturityName(Maturity::Experiment),
      maturityName(Maturity::Verified), maturityName(Maturity::Accepted)};
  static const llvm::StringRef evidence[] = {"simulated", "assembled",
                                             "device"};
  if (key == "maturity")
    return maturities;
  if (key == "evidence")
    return evidence;
  return {};
}

/// As in manifests.
static json describeDimension(const DimensionMatch &match) {
  json entry = json::object();
  if (!match.values.empty())
    entry["values"] = match.values;
  for (auto [key, value] :
       {std::pair("min", match.min), std::pair("max", match.max),
        std::pair("multiple_of", match.multipleOf)})
    if (value)
      entry[key] = *value;
  return entry;
}

static json describeAttribute(const AttributeMatch &match) {
  if (match.any)
    return {{"any", true}};
  json entry = json::array();
  for (const AttributeValue &value : match.values)
    std::visit([&](const auto &v) { entry.push_back(v); }, value);
  if (match.min || match.max) {
    entry = json::object();
    if (match.min)
      entry["min"] = *match.min;
    if (match.max)
      entry["max"] = *match.max;
  }
  return entry;
}

llvm::Expected<std::vector<const Tactic *>>
netra::filterTactics(const Catalog &catalog,
                     llvm::ArrayRef<std::string> conditions) {
  std::vector<const Tactic *> tactics;
  for (const Tactic &tactic : catalog.tactics())
    tactics.push_back(&tactic);
  for (llvm::StringRef condition : conditions) {
    auto [key, text] = condition.split('=');
    if (!valuesOf(key, Tactic()) || !condition.contains('='))
      return llvm::createStringError(
          "--filter: expected name=, family=, operation=, maturity= or "
          "evidence= and a pattern, found '" +
          condition + "'");
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return llvm::createStringError(
          "--filter: expected a pattern, found '" + text +
          "': " + llvm::toString(pattern.takeError()));
    auto fits = [&](llvm::StringRef value) { return pattern->match(value); };
    // Where all values are known, a pattern that fits none is a mistake.
    if (llvm::ArrayRef<llvm::StringRef> known = allValuesOf(key);
        !known.empty() && llvm::none_of(known, fits))
      return llvm::createStringError(
          "--filter: " + key + ": expected " + llvm::join(known, ", ") +
          " or a pattern of them, found '" + text + "'");
    llvm::erase_if(tactics, [&, key = key](const Tactic *tactic) {
      return llvm::none_of(*valuesOf(key, *tactic), fits);
    });
  }
  return tactics;
}

static void listTacticsAsText(llvm::ArrayRef<const Tactic *> tactics,
                              llvm::raw_ostream &out) {
  size_t nameWidth = 4, operationWidth = 9;
  for (const Tactic *tactic : tactics) {
    nameWidth = std::max(nameWidth, tactic->name.size());
    operationWidth = std::max(operationWidth, tactic->operation.size());
  }
  auto line = [&](llvm::StringRef name, llvm::StringRef operation,
                  llvm::StringRef maturity, llvm::StringRef rank,
                  llvm::StringRef summary) {
    out << llvm::left_justify(name, nameWidth) << "  "
        << llvm::left_justify(operation, operationWidth) << "  "
        << llvm::left_justify(maturity, 10) << "  "
        << llvm::right_justify(rank, 4) << "  " << summary << "\n";
  };
  line("name", "operation", "maturity", "rank", "summary");
  for (const Tactic *tactic : tactics)
    line(tactic->name, tactic->operation, maturityName(tactic->maturity),
         std::to_string(tactic->rank), tactic->summary);
}

static json describeEvidence(const Evidence &evidence) {
  json entry = {{"kind", evidence.kind}, {"what", evidence.what}};
  for (const Evidence::Tests &tests : evidence.tests)
    entry["tests"].push_back({{"name", tests.name},
                              {"cases", tests.cases},
                              {"failed", tests.failed}});
  for (const Evidence::Kernel &kernel : evidence.kernels)
    entry["identity_sha256"].push_back(kernel.identitySha256);
  return entry;
}

static void listTacticsAsJson(const Catalog &catalog,
                              llvm::ArrayRef<const Tactic *> tactics,
                              const TacticHashes &hashes,
                              llvm::raw_ostream &out) {
  json entries = json::array();
  for (const Tactic *listed : tactics) {
    const Tactic &tactic = *listed;
    json options = json::object(), dimensions = json::object(),
         operands = json::object(), attributes = json::object(),
         evidence = json::array();
    for (const auto &[name, values] : tactic.options)
      options[name] = values;
    for (const auto &[name, match] : tactic.dimensions)
      dimensions[name] = describeDimension(match);
    for (const auto &[role, match] : tactic.operands) {
      json types = json::array();
      for (ElementType type : match.types)
        types.push_back(elementTypeName(type).str());
      operands[role] = {{"types", types},
                        {"layouts", match.layouts},
                        {"optional", match.optional}};
    }
    for (const auto &[name, match] : tactic.attributes)
      attributes[name] = describeAttribute(match);
    for (const Evidence &item : tactic.evidence)
      evidence.push_back(describeEvidence(item));
    json entry = {{"name", tactic.name},
                  {"family", tactic.family},
                  {"operation", tactic.operation},
                  {"maturity", maturityName(tactic.maturity).str()},
                  {"rank", tactic.rank},
                  {"summary", tactic.summary},
                  {"dimensions", dimensions},
                  {"operands", operands},
                  {"attributes", attributes},
                  {"options", options},
                  {"locks", tactic.locks.size()},
                  {"evidence", evidence}};
    if (tactic.golden)
      entry["golden"] = {{"file", tactic.golden->file},
                         {"sha256", tactic.golden->sha256},
                         {"text_sha256", tactic.golden->textSha256},
                         {"identity_sha256", tactic.golden->identitySha256},
                         {"symbol", tactic.symbol}};
    else
      entry["template"] = tactic.templatePath;
    if (auto found = hashes.sources.find(tactic.name);
        found != hashes.sources.end())
      entry["source_closure_sha256"] = found->second;
    if (auto found = hashes.instances.find(tactic.name);
        found != hashes.instances.end())
      for (const TacticHashes::Code &code : found->second)
        entry["instances"].push_back(
            {{"symbol", code.symbol},
             {"contract", code.contract},
             {"text_sha256", code.textSha256},
             {"identity_sha256", code.identitySha256}});
    entries.push_back(std::move(entry));
  }
  json document = {{"format", "netra.tactics/1"},
                   {"target", catalog.getTarget().str()},
                   {"tactics", entries}};
  out << document.dump(2, ' ', false, json::error_handler_t::replace) << "\n";
}

/// The instances of each tactic that evidence and deployments name, once each.
static llvm::Expected<std::vector<Instance>>
findNamedInstances(const Catalog &catalog,
                   llvm::ArrayRef<const Tactic *> tactics) {
  std::vector<Instance> instances;
  std::set<std::pair<std::string, std::string>> known;
  auto add = [&](const Tactic &tactic,
                 const InstanceSpec &spec) -> llvm::Error {
    if (tactic.golden || !llvm::is_contained(tactics, &tactic))
      return llvm::Error::success(); // a golden's record has the hashes
    llvm::Expected<Instance> instance = instantiate(tactic, spec);
    if (!instance)
      return instance.takeError();
    if (known.insert({instance->contract.id(), instance->symbol}).second)
      instances.push_back(std::move(*instance));
    return llvm::Error::success();
  };
  for (const Tactic *tactic : tactics)
    for (const Evidence &evidence : tactic->evidence)
      for (const Evidence::Kernel &kernel : evidence.kernels)
        if (llvm::Error error = add(*tactic, kernel.instance))
          return error;
  llvm::Expected<std::vector<Deployment>> deployments =
      loadDeployments(catalog.getLibraryRoot(), catalog.getTarget());
  if (!deployments)
    return deployments.takeError();
  for (const Deployment &deployment : *deployments)
    for (const DeploymentArtifact &artifact : deployment.artifacts)
      for (const DeploymentMember &member : artifact.members) {
        const Tactic *tactic = catalog.findTactic(member.tactic);
        if (!tactic)
          return llvm::createStringError(
              deployment.manifestPath + ": artifact " + artifact.name +
              ": expected a tactic of the catalogue, found \"" + member.tactic +
              "\"");
        if (llvm::Error error = add(*tactic, member.instance))
          return error;
      }
  return instances;
}

llvm::Expected<TacticHashes>
netra::hashTactics(const Catalog &catalog,
                   llvm::ArrayRef<const Tactic *> tactics, unsigned threads,
                   std::shared_ptr<AssemblyCache> cache) {
  llvm::Expected<KernelBuilder> builder =
      KernelBuilder::create(catalog.getLibraryRoot(), catalog.getTarget(),
                            /*goldenRoot=*/"", std::move(cache));
  if (!builder)
    return builder.takeError();
  TacticHashes hashes;
  for (const Tactic *tactic : tactics) {
    if (tactic->golden)
      continue;
    llvm::Expected<std::string> hash =
        builder->getAssembler().hashSources(tactic->templatePath);
    if (!hash)
      return hash.takeError();
    hashes.sources[tactic->name] = *hash;
  }
  llvm::Expected<std::vector<Instance>> instances =
      findNamedInstances(catalog, tactics);
  if (!instances)
    return instances.takeError();
  std::vector<const Instance *> pointers;
  for (const Instance &instance : *instances)
    pointers.push_back(&instance);
  std::vector<KernelBuilder::Result> results =
      builder->buildAll(pointers, threads);
  for (size_t i = 0; i != results.size(); ++i) {
    const Instance &instance = (*instances)[i];
    if (!results[i].kernel)
      return llvm::createStringError(results[i].error);
    const CodeObject &object = results[i].kernel->object;
    hashes.instances[instance.tactic->name].push_back(
        {instance.symbol, instance.contract.id(), object.textSha256,
         computationalIdentity(object, *object.find(instance.symbol))});
  }
  return hashes;
}

void netra::listTactics(const Catalog &catalog,
                        llvm::ArrayRef<const Tactic *> tactics, bool json,
                        const TacticHashes &hashes, llvm::raw_ostream &out) {
  if (json)
    listTacticsAsJson(catalog, tactics, hashes, out);
  else
    listTacticsAsText(tactics, out);
}

void netra::listProfiles(const Catalog &catalog, llvm::raw_ostream &out) {
  size_t width = 4;
  for (const ServingProfile &profile : catalog.profiles())
    width = std::max(width, profile.name.size());
  for (const ServingProfile &profile : catalog.profiles()) {
    out << llvm::left_justify(profile.name, width);
    for (const auto &[name, guard] : profile.guards) {
      out << "  " << name << "=" << guard.min;
      if (!guard.isExact())
        out << ".." << guard.max;
    }
    out << "  priority=" << profile.priority << "\n";
  }
}
