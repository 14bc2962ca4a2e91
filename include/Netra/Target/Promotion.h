//===- Promotion.h - Moving a tactic's maturity -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_PROMOTION_H
#define NETRA_TARGET_PROMOTION_H

#include "Netra/Catalog/Json.h"
#include "Netra/Target/KernelBuilder.h"

namespace netra {

/// A file of the user: its text, and its name for messages.
struct NamedText {
  std::string text, name;
};

/// Why `evidence` does not count for a maturity of `level` (Verified or
/// Accepted) with the code that `tactic` and the templates give now; empty when
/// it does.
std::string whyEvidenceDoesNotCount(const Evidence &evidence,
                                    const Tactic &tactic, Maturity level,
                                    const KernelBuilder &builder);

/// The text of a tactic's or golden's manifest with the maturity `level`
/// (Verified or Accepted), and with the record of the document `evidence` if
/// there is one; nothing else of it changes.
///
/// Fails unless a record of the kind that the level requires (simulated or
/// device, or device) counts: no test failed, and each kernel it was gathered
/// on has the same computational identity as the code that the manifest and
/// the templates give now. Each record that does not count is named with the
/// reason.
llvm::Expected<std::string> promote(const NamedText &manifest, Maturity level,
                                    const std::optional<NamedText> &evidence,
                                    const KernelBuilder &builder);

/// An element of "kernels" of a record of evidence: what the tactic leaves open
/// of `instance`, and the identity of its code.
json::Value describeKernel(const Instance &instance,
                           llvm::StringRef identitySha256);

/// The text of a manifest with `record` in the place of its evidence of the
/// same kind. Nothing of it changes but "evidence".
llvm::Expected<std::string> replaceEvidence(const NamedText &manifest,
                                            const json::Value &record);

} // namespace netra

#endif // NETRA_TARGET_PROMOTION_H
