//===- Survivors.cpp - Mutants that no checker reports, and why ----------===//
// SPDX-License-Identifier: MIT

#include "Survivors.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace netra::mutation {

/// Dropped zeros of sums that become halves.
static Explanation fourthHalf(const char *subject) {
  return {subject, "definition", "the values of registers at the start", 1,
          "The sum becomes the fourth of four halves that a lane stores; "
          "compilers convert and store vectors of three so."};
}

const std::vector<Explanation> &explanations() {
  static const std::vector<Explanation> all = {
      fourthHalf("gfx950.dense_fp8_block128_plain"),
      fourthHalf("gfx950.moe_down_reduce_bf16_plain"),
      fourthHalf("gfx950.moe_down_reduce_plain"),
      fourthHalf("gfx950.moe_gate_up_grouped_activated"),
      fourthHalf("gfx950.moe_gate_up_grouped_activated_group_major"),
      {"grid_barrier", "wait",
       "is seen while `global_store_dword v[2:3], v0, off` is", 2,
       "The store is that of the last step, and behind its barrier nobody "
       "reads."},
      {"wave_flags", "barrier",
       "`ds_cmpst_rtn_b32 v3, v2, v1, v1` and `ds_write_b64 v2, v[2:3]`", 1,
       "A wait for a flag races with nothing; a wave that looks at the flag "
       "before it is set is found by `init`, and in the four ways none does."}};
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
