//===- Survivors.cpp - Mutants that no checker reports, and why ----------===//
// SPDX-License-Identifier: MIT

#include "Survivors.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace netra::mutation {

static const std::vector<Explanation> &explanations() {
  static const std::vector<Explanation> all = {
      {"gfx950.dense_bf16_m32", MutantKind::NopShorten, "s_nop 7",
       "the states are those that a sum needs which is used at once; here the "
       "branch and the address of the LDS slot come first"},
      {"gfx950.dense_fp8_block128_m32", MutantKind::NopShorten, "s_nop 11",
       "the states are those of a single product; here the product of the "
       "other 16 rows lies in between and counts as one"}};
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
