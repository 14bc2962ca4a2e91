//===- TacticVerifier.h - Kernels of a bundle and their tactics -*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_TACTICVERIFIER_H
#define NETRA_TARGET_TACTICVERIFIER_H

#include "Netra/Target/Bundle.h"

namespace netra {

struct TacticFindings {
  std::vector<BundleFinding> findings;
  /// What could not be compared, a sentence each without a full stop.
  std::vector<std::string> notCompared;
};

/// Holds the kernels of a bundle in which `verifyBundle` finds nothing against
/// the catalogue in `libraryRoot`: the contract and the source of a kernel are
/// those that its tactic gives for the contract's problem, the schemes of
/// arithmetic are known, what is said of the tactic is what its manifest says,
/// and selection made again says what explain.json says. An engine may be older
/// or newer than the catalogue: a tactic that the catalogue lacks, or has with
/// another template or other golden code, is not compared, nor what is said of
/// one with another manifest, or of a selection between other tactics. Golden
/// code, whose instructions may have decided, is below `goldenRoot`. Fails when
/// the catalogue cannot be loaded.
llvm::Expected<TacticFindings> verifyTactics(llvm::StringRef directory,
                                             llvm::StringRef libraryRoot,
                                             llvm::StringRef goldenRoot = "");

} // namespace netra

#endif // NETRA_TARGET_TACTICVERIFIER_H
