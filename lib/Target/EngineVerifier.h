//===- EngineVerifier.h - Shared parts of the engine verifier ---*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_ENGINEVERIFIER_H
#define NETRA_LIB_TARGET_ENGINEVERIFIER_H

#include "Netra/Catalog/TargetInfo.h"
#include "Netra/Target/Bundle.h"

namespace netra {

/// [offset, offset + bytes) inside `limit`, without overflow.
inline bool isInside(uint64_t offset, uint64_t bytes, uint64_t limit) {
  return offset <= limit && bytes <= limit - offset;
}

/// What looks at a part of an engine and adds its findings to those of others.
class EngineChecker {
protected:
  EngineChecker(const Engine &engine, std::vector<BundleFinding> &findings)
      : engine(engine), target(findTarget(engine.architecture)),
        findings(findings) {}

  void report(const llvm::Twine &where, const llvm::Twine &message) {
    findings.push_back({where.str(), message.str()});
  }

  /// `stated` is the size at the key `bytesKey`.
  void checkTensor(ElementType type, const std::vector<int64_t> &shape,
                   llvm::StringRef layout, uint64_t stated,
                   llvm::StringRef bytesKey, const std::string &where);

  const Engine &engine;
  const TargetInfo *target; // null when it is not known
  std::vector<BundleFinding> &findings;
};

/// Finds what is wrong with the plan at the JSON pointer `where`. What it
/// refers to may be wrong as well, its indices too.
void verifyPlan(const Engine &engine, const EnginePlan &plan,
                const std::string &where, std::vector<BundleFinding> &findings);

} // namespace netra

#endif // NETRA_LIB_TARGET_ENGINEVERIFIER_H
