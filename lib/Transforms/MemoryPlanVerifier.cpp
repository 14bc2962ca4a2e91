//===- MemoryPlanVerifier.cpp - Check a plan from first principles --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Written apart from the planner on purpose: it trusts nothing the planner
// computed but the offsets and the size.
//
//===----------------------------------------------------------------------===//

#include "Netra/Transforms/MemoryPlanner.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace netra;

static std::string describe(size_t index, const BufferInterval &buffer,
                            uint64_t offset) {
  return llvm::formatv("buffer {0} at [{1}, {2}) during steps {3}..{4}", index,
                       offset, offset + buffer.bytes, buffer.firstUse,
                       buffer.lastUse)
      .str();
}

llvm::Error netra::verifyMemoryPlan(llvm::ArrayRef<BufferInterval> buffers,
                                    const MemoryPlan &plan) {
  if (plan.offsets.size() != buffers.size())
    return llvm::createStringError(llvm::formatv(
        "memory plan: expected {0} offsets, one for each buffer, found {1}",
        buffers.size(), plan.offsets.size()));

  for (size_t i = 0; i < buffers.size(); ++i) {
    uint64_t offset = plan.offsets[i];
    uint64_t alignment = buffers[i].alignment;
    if (alignment == 0 || offset % alignment != 0)
      return llvm::createStringError(
          llvm::formatv("memory plan: {0} is not aligned to {1} bytes",
                        describe(i, buffers[i], offset), alignment));
    uint64_t end = 0;
    if (__builtin_add_overflow(offset, buffers[i].bytes, &end) ||
        end > plan.bytes)
      return llvm::createStringError(llvm::formatv(
          "memory plan: {0} does not lie inside the arena of {1} bytes",
          describe(i, buffers[i], offset), plan.bytes));
  }

  // Walks through time with the live buffers ordered by address. A buffer that
  // enters can only collide with its neighbours, because those inside do not
  // collide with one another.
  std::vector<size_t> byStart(buffers.size()), byEnd(buffers.size());
  std::iota(byStart.begin(), byStart.end(), size_t(0));
  byEnd = byStart;
  std::sort(byStart.begin(), byStart.end(), [&](size_t a, size_t b) {
    return std::pair(buffers[a].firstUse, a) <
           std::pair(buffers[b].firstUse, b);
  });
  std::sort(byEnd.begin(), byEnd.end(), [&](size_t a, size_t b) {
    return std::pair(buffers[a].lastUse, a) < std::pair(buffers[b].lastUse, b);
  });

  std::map<uint64_t, size_t> live;
  size_t leaving = 0;
  for (size_t i : byStart) {
    for (; leaving < byEnd.size() &&
           buffers[byEnd[leaving]].lastUse < buffers[i].firstUse;
         ++leaving) {
      size_t gone = byEnd[leaving];
      auto it = live.find(plan.offsets[gone]);
      if (it != live.end() && it->second == gone)
        live.erase(it);
    }
    if (buffers[i].bytes == 0)
      continue;
    uint64_t begin = plan.offsets[i], end = begin + buffers[i].bytes;
    auto after = live.lower_bound(begin);
    std::optional<size_t> other;
    if (after != live.end() && after->first < end)
      other = after->second;
    if (after != live.begin()) {
      auto before = std::prev(after);
      if (before->first + buffers[before->second].bytes > begin)
        other = before->second;
    }
    if (other)
      return llvm::createStringError(
          llvm::formatv("memory plan: {0} overlaps {1}",
                        describe(*other, buffers[*other], plan.offsets[*other]),
                        describe(i, buffers[i], begin)));
    live.emplace(begin, i);
  }
  return llvm::Error::success();
}
