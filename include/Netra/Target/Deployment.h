//===- Deployment.h - Building deployments ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_DEPLOYMENT_H
#define NETRA_TARGET_DEPLOYMENT_H

#include "Netra/Catalog/Catalog.h"
#include "Netra/Catalog/Deployment.h"
#include "Netra/Target/Bundle.h"
#include "Netra/Target/KernelBuilder.h"

namespace netra {

/// A deployment before it is written.
struct BuiltDeployment {
  /// NAME.hsaco for each artifact, and deployment.json about all of them.
  BundleFiles files;
  /// Artifacts without a lock, and the hash of their .text.
  std::vector<std::pair<std::string, std::string>> unlocked;
};

/// Builds all artifacts, several at a time, and holds each against its lock.
/// All faults of all artifacts are reported together, one line or more each.
llvm::Expected<BuiltDeployment>
buildDeployment(const Deployment &deployment, const Catalog &catalog,
                const KernelBuilder &builder, unsigned threads = 0,
                const AssemblyProgress &progress = {});

/// Writes a deployment as `writeBundle` writes an engine: in one step, in the
/// place of nothing, an empty folder or another deployment.
llvm::Error writeDeployment(const BundleFiles &files,
                            llvm::StringRef directory);

} // namespace netra

#endif // NETRA_TARGET_DEPLOYMENT_H
