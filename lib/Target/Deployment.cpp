//===- Deployment.cpp - Building deployments ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Deployment.h"

#include "BundleFiles.h"
#include "Netra/Catalog/AttributeJson.h"
#include "Netra/Catalog/Json.h"
#include "Netra/Target/Equivalence.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <mutex>
#include <set>

using namespace llvm;
using Json = nlohmann::json;

namespace netra {

static constexpr StringRef deploymentFile = "deployment.json";

namespace {
/// One artifact on its way.
struct Artifact {
  const DeploymentArtifact *manifest;
  std::vector<Instance> instances;
  std::optional<AssembledKernel> built;
  std::vector<std::string> faults;

  void fail(const Twine &what) {
    faults.push_back(("artifact " + manifest->name + ": " + what).str());
  }
};
} // namespace

/// The instance of one member under the symbol that is asked for.
static void addMember(Artifact &artifact, const DeploymentMember &member,
                      const Catalog &catalog) {
  const Tactic *tactic = catalog.findTactic(member.tactic);
  if (!tactic) {
    artifact.fail("expected a tactic of the catalogue of " +
                  catalog.getTarget() + ", found \"" + member.tactic + "\"");
    return;
  }
  Expected<Instance> instance = instantiate(*tactic, member.instance);
  if (!instance) {
    artifact.fail(llvm::toString(instance.takeError()));
    return;
  }
  for (const auto &[name, value] : member.definitions) {
    auto found = instance->constants.find(name);
    if (found == instance->constants.end() || found->second != value)
      artifact.fail("tactic " + tactic->name + ": expected " + name + " = " +
                    Twine(value) + " as the deployment defines, found " +
                    (found == instance->constants.end()
                         ? "no such constant"
                         : itostr(found->second)));
  }
  if (!member.symbol.empty()) {
    if (tactic->golden && member.symbol != instance->symbol)
      artifact.fail("tactic " + tactic->name + ": expected the symbol " +
                    instance->symbol +
                    " of the golden code object, found that " + member.symbol +
                    " is asked for");
    instance->symbol = member.symbol;
  }
  if (tactic->golden && artifact.manifest->members.size() != 1)
    artifact.fail("tactic " + tactic->name +
                  ": expected golden code to be the only member, found " +
                  Twine(artifact.manifest->members.size()) + " members");
  artifact.instances.push_back(std::move(*instance));
}

static void build(Artifact &artifact, const KernelBuilder &builder) {
  Expected<AssembledKernel> kernel =
      artifact.instances.size() == 1
          ? builder.build(artifact.instances.front())
          : builder.getAssembler().assembleGroup(artifact.instances);
  if (!kernel) {
    artifact.fail(llvm::toString(kernel.takeError()));
    return;
  }
  artifact.built = std::move(*kernel);
  const std::optional<std::string> &lock = artifact.manifest->textSha256;
  const std::string &found = artifact.built->object.textSha256;
  if (lock && *lock != found)
    artifact.fail("SHA-256 of .text: the lock says " + *lock +
                  ", the code object says " + found);
}

static Json describe(const Artifact &artifact, StringRef path) {
  const CodeObject &object = artifact.built->object;
  Json kernels = Json::array();
  for (const Instance &instance : artifact.instances) {
    const Contract &contract = instance.contract;
    const KernelMetadata &kernel = *object.find(instance.symbol);
    Json arguments = Json::array();
    for (const Argument &argument : contract.arguments)
      arguments.push_back({{"name", argument.name},
                           {"kind", argumentKindName(argument.kind).str()},
                           {"type", elementTypeName(argument.type).str()},
                           {"access", accessName(argument.access).str()},
                           {"offset", argument.offset},
                           {"bytes", argument.bytes}});
    kernels.push_back(
        {{"symbol", instance.symbol},
         {"tactic", instance.tactic->name},
         {"maturity", maturityName(instance.tactic->maturity).str()},
         {"options", instance.options},
         {"contract", contract.id()},
         {"identity_sha256", computationalIdentity(object, kernel)},
         {"grid", affineToJson(contract.grid)},
         {"block", contract.block},
         {"static_lds", contract.staticLds},
         {"dynamic_lds", contract.dynamicLds},
         {"workspace_bytes", contract.workspaceBytes},
         {"kernarg_bytes", contract.kernargBytes},
         {"arguments", std::move(arguments)}});
  }
  Json entry = {{"name", artifact.manifest->name},
                {"path", path.str()},
                {"bytes", object.bytes.size()},
                {"sha256", object.sha256},
                {"text_sha256", object.textSha256},
                {"locked", artifact.manifest->textSha256.has_value()},
                {"kernels", std::move(kernels)}};
  if (!artifact.built->closure.empty())
    entry["source_closure_sha256"] = artifact.built->closureSha256;
  return entry;
}

Expected<BuiltDeployment> buildDeployment(const Deployment &deployment,
                                          const Catalog &catalog,
                                          const KernelBuilder &builder,
                                          unsigned threads,
                                          const AssemblyProgress &progress) {
  if (deployment.target != catalog.getTarget())
    return createStringError(deployment.manifestPath + ": expected target " +
                             catalog.getTarget() + ", found " +
                             deployment.target);
  std::vector<Artifact> artifacts;
  for (const DeploymentArtifact &manifest : deployment.artifacts) {
    Artifact &artifact = artifacts.emplace_back();
    artifact.manifest = &manifest;
    for (const DeploymentMember &member : manifest.members)
      addMember(artifact, member, catalog);
    std::set<std::string> symbols;
    for (const Instance &instance : artifact.instances)
      if (!symbols.insert(instance.symbol).second)
        artifact.fail("expected each symbol once, found " + instance.symbol +
                      " twice");
  }
  std::mutex mutex;
  size_t done = 0;
  forEachInParallel(artifacts.size(), threads, [&](size_t i) {
    if (artifacts[i].faults.empty())
      build(artifacts[i], builder);
    if (progress) {
      std::lock_guard<std::mutex> lock(mutex);
      progress(++done, artifacts.size(), artifacts[i].manifest->name);
    }
  });

  BuiltDeployment result;
  std::vector<std::string> faults;
  Json entries = Json::array();
  for (const Artifact &artifact : artifacts) {
    llvm::append_range(faults, artifact.faults);
    if (!artifact.built)
      continue;
    const CodeObject &object = artifact.built->object;
    std::string path = artifact.manifest->name + ".hsaco";
    result.files[path] = std::string(object.bytes.begin(), object.bytes.end());
    entries.push_back(describe(artifact, path));
    if (!artifact.manifest->textSha256)
      result.unlocked.emplace_back(artifact.manifest->name, object.textSha256);
  }
  if (!faults.empty())
    return createStringError(join(map_range(faults,
                                            [&](const std::string &fault) {
                                              return deployment.manifestPath +
                                                     ": " + fault;
                                            }),
                                  "\n"));
  result.files[deploymentFile.str()] =
      json::print({{"format", "netra.deployed/1"},
                   {"name", deployment.name},
                   {"target", deployment.target},
                   {"artifacts", std::move(entries)}},
                  /*indent=*/2) +
      "\n";
  return result;
}

static Expected<std::vector<std::string>> listArtifacts(StringRef folder) {
  SmallString<256> file(folder);
  sys::path::append(file, deploymentFile);
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(file);
  if (!buffer)
    return createStringError(buffer.getError(), buffer.getError().message());
  Expected<json::Value> document =
      json::parse((*buffer)->getBuffer(), deploymentFile);
  if (!document)
    return document.takeError();
  std::vector<std::string> files;
  json::Diagnostics diagnostics(deploymentFile);
  json::ObjectReader object(json::Reader(*document, "", diagnostics));
  if (std::optional<json::Reader> artifacts = object.required("artifacts"))
    if (auto elements = artifacts->array())
      for (const json::Reader &element : *elements)
        if (auto path = json::ObjectReader(element).required("path"))
          files.push_back(path->string().value_or(""));
  if (Error error = diagnostics.takeError())
    return error;
  return files;
}

Error writeDeployment(const BundleFiles &files, StringRef directory) {
  return replaceFolder(
      files, directory,
      {"a deployment", "deployment", deploymentFile, listArtifacts});
}

} // namespace netra
