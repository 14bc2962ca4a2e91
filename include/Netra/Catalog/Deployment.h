//===- Deployment.h - Code objects that others load by name -----*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A deployment manifest lists code objects that something outside of Netra
// loads: which kernels each one holds, under which symbols, and which machine
// code it must be. docs/goldens.md describes the JSON.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_DEPLOYMENT_H
#define NETRA_CATALOG_DEPLOYMENT_H

#include "Netra/Catalog/Tactic.h"

namespace netra {

/// One kernel of an artifact.
struct DeploymentMember {
  std::string tactic;
  /// The symbol that is asked for; empty: that of the tactic.
  std::string symbol;
  InstanceSpec instance;
  /// Assembler constants that must come out so.
  std::map<std::string, int64_t> definitions;
};

/// One code object.
struct DeploymentArtifact {
  std::string name;
  std::vector<DeploymentMember> members;
  /// What .text must be; nothing while it is not locked.
  std::optional<std::string> textSha256;
};

struct Deployment {
  std::string name, target, summary;
  std::vector<DeploymentArtifact> artifacts;
  std::string manifestPath; // for messages
};

/// Parses and checks one manifest; `path` is used in messages only. Tactics are
/// not looked for.
llvm::Expected<Deployment> parseDeployment(llvm::StringRef text,
                                           llvm::StringRef path);

/// manifests/<target>/deployments/*.json below `libraryRoot`, by name; none
/// when there is no such folder. All faults are reported together.
llvm::Expected<std::vector<Deployment>>
loadDeployments(llvm::StringRef libraryRoot, llvm::StringRef target);

/// What a test run hands over: evidence for one tactic.
struct EvidenceDocument {
  std::string tactic;
  Evidence evidence;
};
llvm::Expected<EvidenceDocument> parseEvidence(llvm::StringRef text,
                                               llvm::StringRef path);

} // namespace netra

#endif // NETRA_CATALOG_DEPLOYMENT_H
