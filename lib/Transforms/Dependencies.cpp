//===- Dependencies.cpp - Which steps wait for which ----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Dependencies.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

using namespace netra;

std::vector<llvm::SmallVector<int64_t, 4>>
netra::computeDependencies(llvm::ArrayRef<StepAccesses> steps) {
  struct Seen {
    MemoryAccess access;
    unsigned step;
  };
  // What later steps can still depend on, by region. An access that a later
  // write covers altogether is dropped: whoever meets it meets the write too.
  llvm::DenseMap<uint64_t, std::vector<Seen>> seen;
  std::vector<llvm::BitVector> reachable(steps.size());
  std::vector<llvm::SmallVector<int64_t, 4>> result(steps.size());
  std::optional<unsigned> lastOpaque;

  for (auto [index, step] : llvm::enumerate(steps)) {
    llvm::BitVector direct(index);
    for (const MemoryAccess &access : step.accesses)
      for (const Seen &other : seen[access.region])
        if ((access.writes || other.access.writes) &&
            access.begin < other.access.end && other.access.begin < access.end)
          direct.set(other.step);
    if (step.isOpaque) {
      if (lastOpaque)
        direct.set(*lastOpaque);
      lastOpaque = index;
    }
    // From the latest on: what a chosen step waits for is implied.
    llvm::BitVector implied(index);
    for (int last = direct.find_last(); last >= 0;
         last = last == 0 ? -1 : direct.find_prev(last)) {
      if (implied.test(last))
        continue;
      result[index].push_back(last);
      implied.set(last);
      implied |= reachable[last];
    }
    std::reverse(result[index].begin(), result[index].end());
    implied.resize(index);
    reachable[index] = std::move(implied);

    for (const MemoryAccess &access : step.accesses) {
      if (access.begin == access.end)
        continue;
      std::vector<Seen> &known = seen[access.region];
      if (access.writes)
        llvm::erase_if(known, [&](const Seen &other) {
          return other.step != index && access.begin <= other.access.begin &&
                 other.access.end <= access.end;
        });
      known.push_back({access, unsigned(index)});
    }
  }
  return result;
}
