//===- Survivors.h - Mutants that no checker reports, and why ---*- C++ -*-===//
// SPDX-License-Identifier: MIT

#ifndef NETRA_UNITTESTS_MUTATION_SURVIVORS_H
#define NETRA_UNITTESTS_MUTATION_SURVIVORS_H

#include "Campaign.h"

namespace netra::mutation {

/// Survivors that have been looked at: those of a subject, of one kind, that
/// count for a reason (MutantResult::reason) with `because` in it.
struct Explanation {
  const char *subject;
  const char *kind; ///< start of mutantKindName
  const char *because;
  unsigned count; ///< of all mutants
  std::string why;
};

const std::vector<Explanation> &explanations();

/// nullptr when nobody has explained it.
const Explanation *explanationOf(const std::string &subject,
                                 const MutantResult &result);

} // namespace netra::mutation

#endif // NETRA_UNITTESTS_MUTATION_SURVIVORS_H
