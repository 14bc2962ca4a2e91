//===- ModuleVerifier.h - engine.mlir against the engine --------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_MODULEVERIFIER_H
#define NETRA_TARGET_MODULEVERIFIER_H

#include "Netra/Target/Bundle.h"

namespace netra {

/// Derives engine.json and contracts.json from engine.mlir of a bundle in which
/// `verifyBundle` finds nothing, and reports where they are not what is there,
/// or where engine.mlir is not spelled as it is printed.
std::vector<BundleFinding> verifyModule(llvm::StringRef directory);

} // namespace netra

#endif // NETRA_TARGET_MODULEVERIFIER_H
