//===- Survivors.cpp - Mutants that no checker reports, and why ----------===//
// SPDX-License-Identifier: MIT

#include "Survivors.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace netra::mutation {

static const std::vector<Explanation> &explanations() {
  static const std::vector<Explanation> all = {}; // none at present
  return all;
}

const char *explanationOf(const std::string &subject, const Mutant &mutant,
                          const std::string &line) {
  for (const Explanation &e : explanations())
    if (subject == e.subject && mutant.kind == e.kind &&
        StringRef(line).trim().starts_with(e.instruction))
      return e.why;
  return nullptr;
}

} // namespace netra::mutation
