//===- BundleContents.cpp - Files of a bundle against each other ----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BundleContents.h"

#include "BundleFiles.h"
#include "BundleReports.h"
#include "InstanceSource.h"
#include "KernelFileSystem.h"
#include "Netra/Catalog/Json.h"
#include "Netra/Target/KernelBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <optional>
#include <set>

using namespace llvm;

namespace netra {

std::map<KernelKey, LaunchedKernel> findLaunchedKernels(const Engine &engine) {
  std::map<KernelKey, LaunchedKernel> launched;
  for (const EnginePlan &plan : engine.plans)
    for (const EngineStep &step : plan.steps)
      if (step.kind == EngineStep::Kind::Launch) {
        const std::string &symbol =
            engine.codeObjects[step.codeObject].kernels[step.kernel].symbol;
        LaunchedKernel &kernel = launched[{step.contract, symbol}];
        kernel.object = step.codeObject;
        kernel.tactics.insert(step.tactic);
      }
  return launched;
}

/// Reports what keeps a file from being read, without the name of the file.
void reportUnread(StringRef file, Error error, ReportFinding report) {
  std::string message = llvm::toString(std::move(error));
  StringRef text = message;
  text.consume_front(file);
  text.consume_front(": ");
  report(file, text);
}

//===----------------------------------------------------------------------===//
// validation.json
//===----------------------------------------------------------------------===//

static bool isEvidence(const json::Value &item) {
  if (!item.is_object() || item.size() != 2 || !getText(item, "what"))
    return false;
  std::optional<std::string> kind = getText(item, "kind");
  return kind && is_contained({"simulated", "assembled", "device"}, *kind);
}

namespace {
/// One entry of validation.json against what the engine and other files say.
class ValidatedKernel {
public:
  ValidatedKernel(const json::Value &entry, const std::string &symbol,
                  ReportFinding report)
      : entry(entry), symbol(symbol), report(report) {}

  void expect(const char *key, const std::string &expected) {
    known.insert(key);
    std::string found = getText(entry, key).value_or("none");
    if (found != expected)
      report(file, symbol + ": " + key + ": expected " + expected + ", found " +
                       found);
  }
  void expectHash(const char *key) {
    known.insert(key);
    std::string found = getText(entry, key).value_or("none");
    if (found.size() != 64 ||
        found.find_first_not_of("0123456789abcdef") != std::string::npos)
      report(file,
             symbol + ": " + key + ": expected a SHA-256, found " + found);
  }
  /// A value that is held against files.
  std::string take(const char *key) {
    known.insert(key);
    return getText(entry, key).value_or("none");
  }
  /// `maturity` is that of the tactic, where it is known.
  void expectEvidence(std::optional<Maturity> maturity) {
    known.insert("evidence");
    auto evidence = entry.find("evidence");
    if (evidence == entry.end() || !evidence->is_array() ||
        !all_of(*evidence, isEvidence)) {
      report(file, symbol + ": evidence: expected a list of kind (simulated, "
                            "assembled or device) and what, found something "
                            "else");
      return;
    }
    // As manifests: kinds of evidence do not convert into one another.
    auto has = [&](StringRef kind) {
      return any_of(*evidence, [&](const json::Value &item) {
        return getText(item, "kind") == kind;
      });
    };
    if (maturity == Maturity::Verified && !has("simulated") && !has("device"))
      report(file, symbol + ": evidence: expected a record of kind simulated "
                            "or device for a verified tactic, found none");
    if (maturity == Maturity::Accepted && !has("device"))
      report(file, symbol + ": evidence: expected a record of kind device for "
                            "an accepted tactic, found none");
  }
  void finish(bool isGolden) {
    for (const auto &[key, value] : entry.items())
      if (!known.count(key))
        report(file, symbol + ": " + key +
                         ": expected only what is checked of " +
                         (isGolden ? "golden code" : "a template") +
                         ", found this key");
  }

  static constexpr StringRef file = "validation.json";

private:
  const json::Value &entry;
  const std::string &symbol;
  ReportFinding report;
  std::set<std::string> known;
};
} // namespace

std::optional<StatedSourcesBySymbol> checkValidation(
    StringRef text, const Engine &engine, const Explanation &explanation,
    const std::map<std::pair<size_t, std::string>, std::string> &identities,
    ReportFinding report) {
  static constexpr StringRef file = ValidatedKernel::file;
  StatedSourcesBySymbol sources;
  Expected<json::Value> document = json::parse(text, file);
  if (!document) {
    reportUnread(file, document.takeError(), report);
    return std::nullopt;
  }
  json::Diagnostics diagnostics(file);
  json::ObjectReader object(json::Reader(*document, "", diagnostics));
  if (std::optional<json::Reader> member = object.required("format"))
    (void)member->choice({"netra.validation/1"});
  if (std::optional<json::Reader> member =
          object.required("engine_is_consistent"))
    (void)member->choice({"passed"});
  // Making an engine runs nothing.
  for (const char *key : {"simulated", "device"})
    if (std::optional<json::Reader> member = object.required(key))
      (void)member->choice({"not_run"});
  // Where an entry cannot be told, what follows from all of them cannot either.
  bool isReadable = false;
  std::vector<const json::Value *> entries;
  if (std::optional<json::Reader> member = object.required("kernels");
      std::optional<std::vector<json::Reader>> elements =
          member ? member->array() : std::nullopt) {
    isReadable = true;
    for (const json::Reader &element : *elements) {
      json::ObjectReader fields(element);
      bool isNamed = true;
      for (const char *key : {"contract", "symbol"}) {
        std::optional<json::Reader> name = fields.required(key);
        isNamed &= name && name->string();
      }
      isReadable &= isNamed;
      if (isNamed)
        entries.push_back(&element.get());
    }
  }
  object.finish();
  for (const std::string &line : diagnostics.getLines())
    report(file, StringRef(line).split(": ").second);
  if (!isReadable)
    return std::nullopt;

  std::map<std::string, const json::Value *> evidenceOf; // by tactic
  const std::map<KernelKey, LaunchedKernel> launched =
      findLaunchedKernels(engine);
  std::set<KernelKey> seen;
  using Place = std::pair<size_t, size_t>; // of code object and kernel
  std::optional<std::pair<Place, std::string>> before;
  for (const json::Value *entry : entries) {
    KernelKey key = {*getText(*entry, "contract"), *getText(*entry, "symbol")};
    const auto &[contract, symbol] = key;
    auto kernel = launched.find(key);
    if (kernel == launched.end()) {
      report(file,
             "expected kernels of the engine with their contracts, found " +
                 symbol + " with " + contract);
      continue;
    }
    if (!seen.insert(key).second) {
      report(file, "expected one entry for each kernel, found two of " +
                       symbol + " with " + contract);
      continue;
    }
    const EngineCodeObject &code = engine.codeObjects[kernel->second.object];
    auto described = find_if(code.kernels, [&](const EngineKernel &candidate) {
      return candidate.symbol == symbol;
    });
    Place place(kernel->second.object, described - code.kernels.begin());
    if (before && place < before->first)
      report(file, "expected kernels in the order of engine.json, found " +
                       symbol + " after " + before->second);
    before = {place, symbol};
    ValidatedKernel validated(*entry, symbol, report);
    validated.expect("contract", contract);
    validated.expect("symbol", symbol);
    for (const std::string &tactic : kernel->second.tactics)
      validated.expect("tactic", tactic);
    validated.expect("text_sha256", code.textSha256);
    // Without the bytes of locked code, its identity is not known.
    if (auto identity = identities.find({kernel->second.object, symbol});
        identity != identities.end())
      validated.expect("identity_sha256", identity->second);
    else if (!code.isLocked())
      validated.expect("identity_sha256", "that of readable code");
    else
      validated.expectHash("identity_sha256");
    validated.expect("metadata_matches_contract", "passed");
    auto explained = explanation.find(key);
    validated.expectEvidence(explained != explanation.end()
                                 ? parseMaturity(explained->second.maturity)
                                 : std::nullopt);
    if (auto evidence = entry->find("evidence"); evidence != entry->end())
      for (const std::string &tactic : kernel->second.tactics)
        if (const json::Value *first =
                evidenceOf.try_emplace(tactic, &*evidence).first->second;
            *first != *evidence)
          report(file, symbol +
                           ": evidence: expected that which is stated of "
                           "other kernels of tactic " +
                           tactic + ", found other");
    bool isGolden = explained != explanation.end()
                        ? explained->second.isGolden
                        : entry->contains("golden_sha256");
    if (explained != explanation.end())
      validated.expect("maturity", explained->second.maturity);
    else
      (void)validated.take("maturity");
    if (isGolden) {
      validated.expect("golden_sha256", code.sha256);
      if (code.isLocked())
        validated.expect("golden_file", code.path);
      else
        (void)validated.take("golden_file");
      validated.expect("matches_golden_record", "passed");
    } else {
      if (code.isLocked())
        report(file, symbol + ": expected golden code, since engine.json only "
                              "locks it, found a template");
      validated.expect("assembled", "passed");
      sources[symbol].push_back({validated.take("source_sha256"),
                                 validated.take("source_closure_sha256")});
    }
    validated.finish(isGolden);
  }
  for (const auto &[key, kernel] : launched)
    if (!seen.count(key))
      report(file, "expected an entry of kernel " + key.second + " with " +
                       key.first + ", found none");
  return sources;
}

//===----------------------------------------------------------------------===//
// source/
//===----------------------------------------------------------------------===//

void checkSources(StringRef directory, const Engine &engine,
                  const StatedSourcesBySymbol &stated, ReportFinding report) {
  SmallString<256> root(directory);
  sys::path::append(root, "source");
  std::set<std::string> listed, expected;
  for (const EngineFile &file : engine.files)
    if (StringRef(file.path).starts_with("source/"))
      listed.insert(file.path);
  KernelFileSystem files(root);
  for (const auto &[symbol, statements] : stated) {
    std::string source = "source/" + symbol + ".s";
    expected.insert(source);
    if (!listed.count(source)) {
      report(source, "expected the source of kernel " + symbol +
                         " among the files of engine.json, found none");
      continue;
    }
    SmallString<256> path(directory);
    sys::path::append(path, source);
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
        path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      continue; // reported with the files
    std::vector<SourceFile> closure;
    files.findIncludes((*buffer)->getBuffer(), closure);
    for (const std::string &refusal : files.refusals)
      report(source, refusal);
    files.refusals.clear();
    for (const SourceFile &file : closure)
      expected.insert("source/" + file.path);
    auto compare = [&, name = symbol](const char *key, StringRef hash,
                                      StringRef found) {
      if (hash != found)
        report("validation.json",
               name + ": " + key + ": expected " + hash +
                   " as the files below source/ give, found " + found);
    };
    for (const StatedSources &said : statements) {
      compare("source_sha256", sha256Hex((*buffer)->getBuffer()), said.source);
      compare("source_closure_sha256", hashClosure(closure), said.closure);
    }
  }
  for (const std::string &file : listed)
    if (!expected.count(file))
      report(file, "expected sources that a kernel is made of, found this one "
                   "besides");
  for (const std::string &file : expected)
    if (!listed.count(file) && StringRef(file).count('/') > 1)
      report(file, "expected it among the files of engine.json, since a kernel "
                   "is made of it, found it left out");
}

void checkDefinitions(StringRef directory, const Engine &engine,
                      const std::map<std::string, Contract> &contracts,
                      ReportFinding report) {
  std::map<std::string, std::vector<const Contract *>> bySymbol;
  for (const auto &[key, kernel] : findLaunchedKernels(engine))
    if (auto contract = contracts.find(key.first); contract != contracts.end())
      bySymbol[key.second].push_back(&contract->second);
  for (const auto &[symbol, candidates] : bySymbol) {
    std::string source = "source/" + symbol + ".s";
    // Golden code has none; of a template, that it is missing has been said.
    if (none_of(engine.files,
                [&](const EngineFile &file) { return file.path == source; }))
      continue;
    SmallString<256> path(directory);
    sys::path::append(path, source);
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
    if (!buffer)
      continue; // reported with the files
    std::optional<std::vector<std::string>> least;
    const Contract *nearest = nullptr;
    for (const Contract *contract : candidates) {
      std::vector<std::string> differences =
          compareDefinitions((*buffer)->getBuffer(), *contract);
      if (least && least->size() <= differences.size())
        continue;
      least = std::move(differences);
      nearest = contract;
    }
    for (const std::string &difference : *least)
      report(source, difference + ", for contract " + nearest->id());
  }
}

std::vector<BundleFinding> reassembleBundle(StringRef directory) {
  std::vector<BundleFinding> findings;
  Expected<Engine> engine = readBundle(directory);
  if (!engine)
    return {{engineFileName.str(), llvm::toString(engine.takeError())}};
  SmallString<256> root(directory);
  sys::path::append(root, "source");
  struct Kernel {
    std::string symbol, textSha256, fault;
  };
  std::vector<Kernel> kernels;
  std::set<std::string> known;
  for (const EngineCodeObject &object : engine->codeObjects)
    for (const EngineKernel &kernel : object.kernels) {
      // Golden code has no source.
      bool hasSource = any_of(engine->files, [&](const EngineFile &file) {
        return file.path == "source/" + kernel.symbol + ".s";
      });
      if (hasSource && known.insert(kernel.symbol).second)
        kernels.push_back({kernel.symbol, object.textSha256, ""});
    }
  if (kernels.empty())
    return findings;
  Expected<Assembler> assembler =
      Assembler::forFolder(root, engine->architecture);
  if (!assembler)
    return {{"source", llvm::toString(assembler.takeError())}};
  forEachInParallel(kernels.size(), 0, [&](size_t i) {
    Kernel &kernel = kernels[i];
    SmallString<256> path(root);
    sys::path::append(path, kernel.symbol + ".s");
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
    if (!buffer) {
      kernel.fault =
          "expected a readable file, found: " + buffer.getError().message();
      return;
    }
    Expected<AssembledKernel> made =
        assembler->assembleSource((*buffer)->getBuffer(), kernel.symbol + ".s");
    if (!made)
      kernel.fault = "expected the source of the kernel, found: " +
                     llvm::toString(made.takeError());
    else if (made->object.textSha256 != kernel.textSha256)
      kernel.fault = "expected it to give the code with the SHA-256 " +
                     kernel.textSha256 + ", found that it gives " +
                     made->object.textSha256;
  });
  for (const Kernel &kernel : kernels)
    if (!kernel.fault.empty())
      findings.push_back({"source/" + kernel.symbol + ".s", kernel.fault});
  return findings;
}

} // namespace netra
