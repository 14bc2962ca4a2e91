//===- Survivors.cpp - Mutants that no checker reports, and why ----------===//
// SPDX-License-Identifier: MIT

#include "Survivors.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace netra::mutation {

/// Dropped zeros of sums in the upper words of pairs.
static Explanation upperSums(const char *subject, unsigned count) {
  return {subject, "definition", "the values of registers at the start", count,
          "The sum is the upper word of a pair of packed arithmetic, and the "
          "upper half of what is stored; an upper element that was never "
          "written may be, since compilers convert and store three values as "
          "two pairs."};
}

const std::vector<Explanation> &explanations() {
  static const std::vector<Explanation> all = {
      upperSums("gfx950.dense_fp8_block128_plain", 2),
      upperSums("gfx950.moe_down_reduce_bf16_plain", 2),
      upperSums("gfx950.moe_down_reduce_grouped", 3),
      upperSums("gfx950.moe_down_reduce_grouped (40 experts)", 1),
      upperSums("gfx950.moe_down_reduce_grouped_group_major", 3),
      upperSums("gfx950.moe_down_reduce_plain", 2),
      {"grid_barrier", "wait",
       "is seen while `global_store_dword v[2:3], v0, off` is", 2,
       "The store is that of the last step, and behind its barrier nobody "
       "reads."}};
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
