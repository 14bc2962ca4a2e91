//===- BuildDeployment.h - netra-translate --build-deployment ---*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_TRANSLATE_BUILDDEPLOYMENT_H
#define NETRA_TOOLS_TRANSLATE_BUILDDEPLOYMENT_H

#include "Progress.h"

#include "llvm/Support/Error.h"

#include <string>

namespace netra {

struct DeploymentSettings {
  std::string manifest, output, target, libraryRoot, goldenRoot, cacheDir;
  unsigned jobs = 0;
  bool verbose = false;
};

/// Builds a deployment and writes it; names on stderr what is not locked.
llvm::Error buildDeployment(const DeploymentSettings &settings,
                            Progress &progress);

} // namespace netra

#endif // NETRA_TOOLS_TRANSLATE_BUILDDEPLOYMENT_H
