//===- Survivors.cpp - Mutants that no checker reports, and why ----------===//
// SPDX-License-Identifier: MIT

#include "Survivors.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace netra::mutation {

static const char oneWave[] = "What is written in front of the barrier is read "
                              "behind it by the wave that "
                              "wrote it only: ";

const std::vector<Explanation> &explanations() {
  static const auto all = [] {
    std::vector<Explanation> list = {
        {"ring", "wait",
         "is seen while `global_store_dword v0, v1, s[14:15]` is", 2,
         "The store is that of `out`, which no other work-group reads: that it "
         "arrives after the consumer has freed the slot changes nothing, since "
         "the slot itself has been read before."},
        {"private_arrays", "wait", "while `flat_load_dword", 2,
         "The load goes to LDS in no lane, so that vmcnt alone "
         "tells when it is over; the rule asks for both counters."},
        {"shortest_paths", "address", "the offset is beyond", 1,
         "In this step no path gets shorter: the instruction is executed, by "
         "no lane."},
        {"grid_barrier", "wait",
         "is seen while `global_store_dword v[2:3], v0, off` is", 2,
         "The store is that of the last step, and behind its barrier nobody "
         "reads."},
        {"transpose_bytes", "definition",
         "the values of registers at the start", 1,
         "The load gives one of four bytes that are put together; a word of "
         "which a byte is defined may be stored, since so are structures with "
         "padding."}};
    // Of a barrier, and of the wait for LDS writes in front of it.
    const struct {
      const char *subject;
      unsigned barriers, waits;
      const char *why;
    } ofOneWave[] = {
        {"lds_reduction", 7, 14,
         "of 256 partial sums, the first wave adds up the last 64 alone."},
        {"softmax", 12, 24,
         "of 128 partial results, the first wave joins the last 64 alone."},
        {"bitonic_sort", 33, 66,
         "at distances below 128 a wave compares elements of its own half."},
        {"shortest_paths", 22, 12,
         "no path through k makes one from or to k shorter, so that row k is "
         "not written in step k; and the row that all read next was not "
         "written in this step."},
        {"summed_area", 1, 0,
         "the lower half of a wave writes, the upper half reads."},
        {"inclusive_scan", 1, 2, "each lane reads its own sum."},
        {"exclusive_scan_dynamic", 1, 2, "each lane reads its own two sums."}};
    for (const auto &e : ofOneWave) {
      const std::string why = std::string(oneWave) + e.why;
      if (e.barriers)
        list.push_back({e.subject, "barrier", "", e.barriers, why});
      if (e.waits)
        list.push_back({e.subject, "wait",
                        "`s_barrier` is passed while `ds_write", e.waits, why});
    }
    return list;
  }();
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
