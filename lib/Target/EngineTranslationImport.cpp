//===- EngineTranslationImport.cpp - A bundle back to engine IR -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// engine.mlir of a bundle is the module the bundle was written from. It is read
// back only when every file has the hash that engine.json states, and when
// describing the module again gives engine.json and contracts.json, so that
// none can say anything else than the others.
//
//===----------------------------------------------------------------------===//

#include "BundleReports.h"
#include "EngineTranslationImpl.h"

#include "Netra/Target/ModuleVerifier.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace netra;

/// Clears what a module does not determine: files, ids, and what is known of
/// code objects only after they are assembled.
static Engine reduce(Engine engine) {
  engine.id.clear();
  engine.files.clear();
  engine.weights.id.clear();
  for (EngineCodeObject &object : engine.codeObjects) {
    object.path.clear();
    object.sha256.clear();
    object.lockedBytes.reset();
    for (EngineKernel &kernel : object.kernels)
      kernel.vgprs = kernel.agprs = kernel.sgprs = kernel.maxWorkgroup = 0;
  }
  return engine;
}

static llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readFile(StringRef directory, StringRef name) {
  SmallString<256> path(directory);
  llvm::sys::path::append(path, name);
  return llvm::MemoryBuffer::getFile(path, /*IsText=*/false);
}

/// Whether kernels have the options that explain.json says; reports others.
static bool
checkOptions(EngineOp engine, StringRef directory,
             llvm::function_ref<void(StringRef, const Twine &)> report) {
  constexpr StringRef explanation = "explain.json";
  auto file = readFile(directory, explanation);
  if (!file) {
    report(explanation, file.getError().message());
    return false;
  }
  bool isSound = true;
  StringRef text = (*file)->getBuffer();
  nlohmann::json document =
      nlohmann::json::parse(text.begin(), text.end(), nullptr,
                            /*allow_exceptions=*/false);
  for (auto object : engine.getBody().getOps<CodeObjectOp>())
    for (auto kernel : object.getBody().getOps<KernelOp>()) {
      TacticAttr tactic = kernel.getTactic();
      nlohmann::json options = nlohmann::json::object();
      for (NamedAttribute option : tactic.getOptions())
        if (auto value = dyn_cast<IntegerAttr>(option.getValue()))
          options[option.getName().str()] = value.getInt();
      nlohmann::json::json_pointer place;
      place /= "kernels";
      place /= tactic.getContract().getValue().str();
      place /= kernel.getSymName().str();
      place /= "options";
      nlohmann::json found;
      if (document.is_object() && document.contains(place))
        found = document.at(place);
      if (found == options)
        continue;
      report(explanation, kernel.getSymName() + ": options: expected " +
                              options.dump() + " as engine.mlir says, found " +
                              found.dump());
      isSound = false;
    }
  return isSound;
}

/// Reads engine.mlir of a sound bundle, holding it against the other files.
/// `report` is told what is wrong and where.
static OwningOpRef<ModuleOp>
readModule(MLIRContext *context, StringRef directory,
           llvm::function_ref<void(StringRef, const Twine &)> report) {
  constexpr StringRef moduleFile = "engine.mlir";
  llvm::Expected<Engine> engine = readBundle(directory);
  if (!engine) {
    report("engine.json", llvm::toString(engine.takeError()));
    return nullptr;
  }
  auto buffer = readFile(directory, moduleFile);
  if (!buffer) {
    report(moduleFile, buffer.getError().message());
    return nullptr;
  }
  StringRef text = (*buffer)->getBuffer();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(context), moduleFile);
  if (!module) {
    report(moduleFile, "expected a module of the netra dialect");
    return nullptr;
  }
  FailureOr<Engine> described = describeEngine(*module);
  if (failed(described)) {
    report(moduleFile, "expected a module that describes an engine");
    return nullptr;
  }
  Engine expected = reduce(std::move(*described));
  Engine found = reduce(std::move(*engine));
  if (!(expected == found)) {
    std::string stated = writeEngineJson(found);
    std::string derived = writeEngineJson(expected);
    LineDifference at = *findDifference(stated, derived);
    report(moduleFile, "expected '" + at.expected.trim() +
                           "' as engine.json says, found '" + at.found.trim() +
                           "'");
    return nullptr;
  }
  std::map<std::string, Contract> contracts;
  for (auto object : findEngine(*module)->getBody().getOps<CodeObjectOp>())
    for (auto kernel : object.getBody().getOps<KernelOp>())
      if (FailureOr<Contract> contract = getContract(kernel);
          succeeded(contract))
        contracts.emplace(contract->id(), std::move(*contract));
  auto stated = readFile(directory, "contracts.json");
  if (!stated || (*stated)->getBuffer() != printContracts(contracts)) {
    report("contracts.json",
           "expected the contracts of the kernels of engine.mlir in their "
           "canonical spelling, found other contracts or another spelling");
    return nullptr;
  }
  if (!checkOptions(*findEngine(*module), directory, report))
    return nullptr;
  if (printEngineModule(*module) != text) {
    report(moduleFile, "expected the spelling in which modules are printed, "
                       "found another one");
    return nullptr;
  }
  return module;
}

FailureOr<OwningOpRef<ModuleOp>>
netra::translateFromBundle(MLIRContext *context, StringRef directory) {
  Location location = UnknownLoc::get(context);
  auto fail = [&](const Twine &message) {
    return emitError(location) << directory << ": " << message;
  };
  llvm::Expected<std::vector<BundleFinding>> findings = verifyBundle(directory);
  if (!findings)
    return fail(llvm::toString(findings.takeError()));
  for (const BundleFinding &finding : *findings)
    (void)fail(finding.str());
  if (!findings->empty())
    return failure();
  OwningOpRef<ModuleOp> module = readModule(
      context, directory, [&](StringRef where, const Twine &message) {
        (void)fail(where + ": " + message);
      });
  if (!module)
    return failure();
  return module;
}

std::vector<BundleFinding> netra::verifyModule(StringRef directory) {
  std::vector<BundleFinding> findings;
  DialectRegistry registry;
  registry.insert<func::FuncDialect, NetraDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    findings.push_back({"engine.mlir", diagnostic.str()});
    return success();
  });
  readModule(&context, directory, [&](StringRef where, const Twine &message) {
    findings.push_back({where.str(), message.str()});
  });
  return findings;
}
