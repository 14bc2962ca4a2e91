//===- Survivors.cpp - Mutants that no checker reports, and why ----------===//
// SPDX-License-Identifier: MIT

#include "Survivors.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace netra::mutation {

const std::vector<Explanation> &explanations() {
  static const std::vector<Explanation> all = {
      {"grid_barrier", "wait",
       "is seen while `global_store_dword v[2:3], v0, off` is", 2,
       "The store is that of the last step, and behind its barrier nobody "
       "reads."},
      {"transpose_bytes", "definition", "the values of registers at the start",
       1,
       "The load gives one of four bytes that are put together; a word of "
       "which a byte is defined may be stored, since so are structures with "
       "padding."}};
  return all;
}

const Explanation *explanationOf(const std::string &subject,
                                 const MutantResult &result) {
  for (const Explanation &e : explanations())
    if (subject == e.subject &&
        StringRef(mutantKindName(result.mutant.kind)).starts_with(e.kind) &&
        StringRef(result.reason).contains(e.because))
      return &e;
  return nullptr;
}

} // namespace netra::mutation
