//===- Survivors.h - Mutants that no checker reports, and why ---*- C++ -*-===//
// SPDX-License-Identifier: MIT

#ifndef NETRA_UNITTESTS_MUTATION_SURVIVORS_H
#define NETRA_UNITTESTS_MUTATION_SURVIVORS_H

#include "AssemblyText.h"

namespace netra::mutation {

/// A survivor that has been looked at. `instruction` is the start of the line.
struct Explanation {
  const char *subject;
  MutantKind kind;
  const char *instruction;
  const char *why;
};

/// nullptr when nobody has explained it.
const char *explanationOf(const std::string &subject, const Mutant &mutant,
                          const std::string &line);

} // namespace netra::mutation

#endif // NETRA_UNITTESTS_MUTATION_SURVIVORS_H
