//===- DeploymentReader.cpp - Deployment manifests ------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ManifestReader.h"

#include "Names.h"

#include <set>

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;

namespace netra {

static std::string readTacticName(ObjectReader &object) {
  std::optional<Reader> member = object.required("tactic");
  std::optional<std::string> name =
      member ? member->string() : std::optional<std::string>();
  if (!name)
    return "";
  auto [target, rest] = StringRef(*name).split('.');
  if (!isLowerName(target) || !isLowerName(rest))
    member->fail("a name <target>.<lower-case name>");
  return *name;
}

static DeploymentMember readMember(const Reader &reader) {
  DeploymentMember result;
  ObjectReader object(reader);
  result.tactic = readTacticName(object);
  if (std::optional<Reader> member = object.optional("symbol"))
    if (std::optional<std::string> symbol = member->string()) {
      if (!isSymbolName(*symbol))
        member->fail("a symbol of letters, digits and '_'");
      result.symbol = *symbol;
    }
  result.instance = readInstanceSpec(object);
  result.definitions = readIntegers(object, "definitions");
  object.finish();
  return result;
}

static DeploymentArtifact readArtifact(const Reader &reader,
                                       std::set<std::string> &names) {
  DeploymentArtifact artifact;
  ObjectReader object(reader);
  if (std::optional<Reader> member = object.required("name"))
    if (std::optional<std::string> name = member->string()) {
      if (!isLowerName(*name))
        member->fail("a name of lower-case letters, digits and '_'");
      else if (!names.insert(*name).second)
        member->fail("each artifact name once");
      artifact.name = *name;
    }
  if (std::optional<Reader> member = object.required("members"))
    for (const Reader &element : readElements(*member, 1))
      artifact.members.push_back(readMember(element));
  // Null says that nothing is locked yet; forgetting the key does not.
  std::optional<Reader> lock = object.optional("text_sha256");
  if (!lock || !lock->get().is_null())
    artifact.textSha256 = readSha256(object, "text_sha256");
  object.finish();
  return artifact;
}

Deployment readDeployment(const Reader &reader, StringRef path) {
  Deployment deployment;
  deployment.manifestPath = path.str();
  ObjectReader object(reader);
  if (std::optional<Reader> member = object.required("format"))
    (void)member->choice({"netra.deployment/1"});
  if (std::optional<Reader> member = object.required("name"))
    if (std::optional<std::string> name = member->string()) {
      if (!isLowerName(*name))
        member->fail("a name of lower-case letters, digits and '_'");
      deployment.name = *name;
    }
  deployment.target = readTarget(object);
  deployment.summary = readText(object, "summary").value_or("");
  std::set<std::string> names;
  if (std::optional<Reader> member = object.required("artifacts"))
    for (const Reader &element : readElements(*member, 1))
      deployment.artifacts.push_back(readArtifact(element, names));
  object.finish();
  return deployment;
}

EvidenceDocument readEvidenceDocument(const Reader &reader, StringRef) {
  EvidenceDocument document;
  ObjectReader object(reader);
  if (std::optional<Reader> member = object.required("format"))
    (void)member->choice({"netra.evidence/1"});
  document.tactic = readTacticName(object);
  if (std::optional<Reader> member = object.required("evidence"))
    document.evidence = readEvidence(*member);
  object.finish();
  return document;
}

} // namespace netra
