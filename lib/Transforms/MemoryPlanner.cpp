//===- MemoryPlanner.cpp - Static placement of buffers in one arena -------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Three stages, each of which starts from the best plan so far and stops as
// soon as the lower bound is reached:
//   1. best-fit under several fixed orders;
//   2. best-fit under orders in which the buffers at the top of the best plan
//      are moved to the front, repeated;
//   3. branch and bound over plans built from low to high addresses. Any plan
//      can be built so (sort its buffers by offset), hence an exhausted search
//      proves the best plan optimal.
// The stages after the first share one limit on work.
//
//===----------------------------------------------------------------------===//

#include "Netra/Transforms/MemoryPlanner.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

using namespace netra;

namespace {

constexpr uint64_t kNoPlan = std::numeric_limits<uint64_t>::max();

/// A placed buffer, flat for the linear scans of best-fit.
struct Placed {
  uint64_t begin, end;
  uint32_t firstUse, lastUse;
};

/// Best-fit placement under a given order: each buffer goes to the smallest
/// gap between its contemporaries that holds it, the lowest one on ties, and
/// above them when none does. Returns the high-water mark.
///
/// Time is cut into slices about as long as a buffer lives, so that a buffer
/// meets the buffers of its own slices only.
class BestFit {
public:
  BestFit(llvm::ArrayRef<BufferInterval> buffers) : buffers(buffers) {
    uint64_t lifetimes = 0;
    for (const BufferInterval &buffer : buffers) {
      lifetimes += uint64_t(buffer.lastUse) - buffer.firstUse + 1;
      origin = std::min(origin, buffer.firstUse);
      end = std::max(end, buffer.lastUse);
    }
    width = std::max<uint64_t>(1, lifetimes / buffers.size());
    slices.resize((end - origin) / width + 1);
  }

  uint64_t run(llvm::ArrayRef<uint32_t> order, std::vector<uint64_t> &offsets,
               uint64_t &work) {
    for (std::vector<Placed> &slice : slices)
      slice.clear();
    offsets.assign(buffers.size(), 0);
    uint64_t highWater = 0;
    for (uint32_t index : order) {
      const BufferInterval &buffer = buffers[index];
      uint64_t offset = findOffset(buffer, work);
      offsets[index] = offset;
      uint64_t end = offset + buffer.bytes;
      highWater = std::max(highWater, end);
      Placed entry{offset, end, buffer.firstUse, buffer.lastUse};
      for (uint64_t i = sliceOf(buffer.firstUse); i <= sliceOf(buffer.lastUse);
           ++i)
        slices[i].insert(std::upper_bound(slices[i].begin(), slices[i].end(),
                                          offset,
                                          [](uint64_t value, const Placed &p) {
                                            return value < p.begin;
                                          }),
                         entry);
    }
    return highWater;
  }

private:
  uint64_t sliceOf(uint32_t step) const { return (step - origin) / width; }

  uint64_t findOffset(const BufferInterval &buffer, uint64_t &work) {
    uint64_t first = sliceOf(buffer.firstUse), last = sliceOf(buffer.lastUse);
    llvm::ArrayRef<Placed> candidates = slices[first];
    if (first != last) {
      // What lives in several slices counts where the buffer meets it first.
      merged.clear();
      for (uint64_t i = first; i <= last; ++i)
        for (const Placed &p : slices[i])
          if (i == first || sliceOf(p.firstUse) == i)
            merged.push_back(p);
      std::sort(
          merged.begin(), merged.end(), [](const Placed &a, const Placed &b) {
            return std::tuple(a.begin, a.end) < std::tuple(b.begin, b.end);
          });
      candidates = merged;
    }
    work += candidates.size() + 1;
    uint64_t top = 0, best = 0, bestGap = kNoPlan;
    for (const Placed &p : candidates) {
      if (p.firstUse > buffer.lastUse || p.lastUse < buffer.firstUse)
        continue;
      if (p.begin > top) {
        uint64_t start = llvm::alignTo(top, buffer.alignment);
        uint64_t gap = p.begin - top;
        if (start + buffer.bytes <= p.begin && gap < bestGap) {
          bestGap = gap;
          best = start;
        }
      }
      top = std::max(top, p.end);
    }
    return bestGap != kNoPlan ? best : llvm::alignTo(top, buffer.alignment);
  }

  llvm::ArrayRef<BufferInterval> buffers;
  uint32_t origin = std::numeric_limits<uint32_t>::max(), end = 0;
  uint64_t width = 1;
  /// What is placed and alive in each slice of time, by address.
  std::vector<std::vector<Placed>> slices;
  std::vector<Placed> merged;
};

/// Branch and bound. Time is cut into sections in which the set of live
/// buffers does not change; `floors` holds for each section the first address
/// above everything placed there. Buffers are placed in ascending order of
/// offset, each at the lowest address above the floors of its sections.
class BranchAndBound {
public:
  BranchAndBound(llvm::ArrayRef<BufferInterval> buffers, uint64_t lowerBound,
                 uint64_t limit)
      : buffers(buffers), lowerBound(lowerBound), limit(limit) {
    std::vector<uint32_t> starts;
    for (const BufferInterval &b : buffers)
      starts.push_back(b.firstUse);
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    // Only steps at which a buffer starts can hold a maximum of liveness, so
    // they suffice as sections.
    for (const BufferInterval &b : buffers) {
      auto first = std::lower_bound(starts.begin(), starts.end(), b.firstUse);
      auto last = std::upper_bound(starts.begin(), starts.end(), b.lastUse);
      spans.push_back(
          {uint32_t(first - starts.begin()), uint32_t(last - starts.begin())});
    }
    floors.assign(starts.size(), 0);
    remaining.assign(starts.size(), 0);
    for (size_t i = 0; i < buffers.size(); ++i)
      for (uint32_t s = spans[i].first; s < spans[i].second; ++s)
        remaining[s] += buffers[i].bytes;
    preference.resize(buffers.size());
    std::iota(preference.begin(), preference.end(), 0u);
    std::sort(preference.begin(), preference.end(),
              [&](uint32_t a, uint32_t b) {
                return std::tuple(-weight(a), a) < std::tuple(-weight(b), b);
              });
    isPlaced.resize(buffers.size());
    offsets.assign(buffers.size(), 0);
  }

  /// Looks for plans below `best`; true when one was found. `best` and
  /// `bestOffsets` hold it then.
  bool run(uint64_t &best, std::vector<uint64_t> &bestOffsets) {
    uint64_t before = best;
    search(0, 0, 0, best, bestOffsets);
    return best < before;
  }

private:
  struct Undo {
    uint32_t section;
    uint64_t floor;
  };

  long double weight(uint32_t i) const {
    return static_cast<long double>(buffers[i].bytes) *
           (spans[i].second - spans[i].first);
  }

  void search(size_t depth, uint64_t lastOffset, uint64_t highWater,
              uint64_t &best, std::vector<uint64_t> &bestOffsets) {
    if (depth == buffers.size()) {
      best = highWater;
      bestOffsets = offsets;
      return;
    }
    // In a plan sorted by offset where nothing can sink further, every buffer
    // lies on the floor it finds, and no floor is below the offset before it.
    // A start at or above the end that some other buffer could have right now
    // is dominated: that other buffer could sink there.
    std::vector<std::pair<uint64_t, uint32_t>> candidates;
    uint64_t smallestEnd = kNoPlan;
    for (uint32_t index : preference) {
      if (isPlaced[index])
        continue;
      work += 1 + spans[index].second - spans[index].first;
      uint64_t floor = 0;
      for (uint32_t s = spans[index].first; s < spans[index].second; ++s)
        floor = std::max(floor, floors[s]);
      uint64_t offset = llvm::alignTo(floor, buffers[index].alignment);
      if (offset + buffers[index].bytes >= best)
        return;
      smallestEnd = std::min(smallestEnd, offset + buffers[index].bytes);
      if (offset >= lastOffset)
        candidates.push_back({offset, index});
    }
    for (auto [offset, index] : candidates) {
      if (work > limit || best <= lowerBound)
        return;
      if (offset < smallestEnd)
        place(depth, index, offset, highWater, best, bestOffsets);
    }
  }

  void place(size_t depth, uint32_t index, uint64_t offset, uint64_t highWater,
             uint64_t &best, std::vector<uint64_t> &bestOffsets) {
    uint64_t end = offset + buffers[index].bytes;
    llvm::SmallVector<Undo, 16> undo;
    bool feasible = end < best;
    for (uint32_t s = spans[index].first; s < spans[index].second; ++s) {
      undo.push_back({s, floors[s]});
      floors[s] = end;
      remaining[s] -= buffers[index].bytes;
      feasible &= end + remaining[s] < best;
    }
    if (feasible) {
      isPlaced.set(index);
      offsets[index] = offset;
      search(depth + 1, offset, std::max(highWater, end), best, bestOffsets);
      isPlaced.reset(index);
    }
    for (const Undo &u : undo) {
      floors[u.section] = u.floor;
      remaining[u.section] += buffers[index].bytes;
    }
  }

  llvm::ArrayRef<BufferInterval> buffers;
  uint64_t lowerBound;
  uint64_t limit, work = 0;
  std::vector<std::pair<uint32_t, uint32_t>> spans;
  std::vector<uint64_t> floors, remaining, offsets;
  std::vector<uint32_t> preference;
  llvm::BitVector isPlaced;
};

/// The largest sum of sizes alive at one step, each size rounded up to
/// `granule` but for the largest rounding, since the topmost buffer needs none.
uint64_t getPeak(llvm::ArrayRef<BufferInterval> buffers, uint64_t granule) {
  struct Event {
    uint64_t step;
    bool enters;
    uint32_t index;
  };
  std::vector<Event> events;
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].bytes == 0)
      continue;
    events.push_back({buffers[i].firstUse, true, i});
    events.push_back({uint64_t(buffers[i].lastUse) + 1, false, i});
  }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::tuple(a.step, a.enters, a.index) <
           std::tuple(b.step, b.enters, b.index);
  });
  uint64_t sum = 0, peak = 0;
  std::map<uint64_t, uint64_t> paddings;
  for (const Event &event : events) {
    uint64_t bytes = buffers[event.index].bytes;
    uint64_t rounded = llvm::alignTo(bytes, granule);
    if (event.enters) {
      sum += rounded;
      ++paddings[rounded - bytes];
      peak = std::max(peak, sum - paddings.rbegin()->first);
    } else {
      sum -= rounded;
      auto it = paddings.find(rounded - bytes);
      if (--it->second == 0)
        paddings.erase(it);
    }
  }
  return peak;
}

llvm::Error checkBuffers(llvm::ArrayRef<BufferInterval> buffers,
                         uint64_t arenaAlignment) {
  if (!llvm::isPowerOf2_64(arenaAlignment))
    return llvm::createStringError(llvm::formatv(
        "memory planner: expected the arena's alignment to be a power of two, "
        "found {0}",
        arenaAlignment));
  // With every rounded size added up below 2^63 no sum below can overflow.
  uint64_t total = arenaAlignment;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const BufferInterval &b = buffers[i];
    if (!llvm::isPowerOf2_64(b.alignment))
      return llvm::createStringError(llvm::formatv(
          "memory planner: expected the alignment of buffer {0} to be a power "
          "of two, found {1}",
          i, b.alignment));
    if (b.lastUse < b.firstUse)
      return llvm::createStringError(llvm::formatv(
          "memory planner: expected buffer {0} to end no earlier than it "
          "begins, found steps {1}..{2}",
          i, b.firstUse, b.lastUse));
    uint64_t padded = 0;
    if (__builtin_add_overflow(b.bytes, b.alignment, &padded) ||
        __builtin_add_overflow(total, padded, &total) ||
        total > uint64_t(std::numeric_limits<int64_t>::max()))
      return llvm::createStringError(llvm::formatv(
          "memory planner: expected all sizes together to fit 63 bits, found "
          "that buffer {0} of {1} bytes exceeds them",
          i, b.bytes));
  }
  return llvm::Error::success();
}

} // namespace

uint64_t netra::getMemoryLowerBound(llvm::ArrayRef<BufferInterval> buffers,
                                    uint64_t alignment) {
  uint64_t granule = alignment;
  for (const BufferInterval &b : buffers)
    granule = std::min(granule, b.alignment);
  return llvm::alignTo(getPeak(buffers, granule), alignment);
}

llvm::Expected<MemoryPlan>
netra::planMemory(llvm::ArrayRef<BufferInterval> buffers,
                  const MemoryPlannerOptions &options) {
  if (llvm::Error error = checkBuffers(buffers, options.alignment))
    return error;

  MemoryPlan plan;
  plan.lowerBound = getMemoryLowerBound(buffers, options.alignment);
  plan.offsets.assign(buffers.size(), 0);

  // Empty buffers lie at 0 and take part in nothing.
  std::vector<uint32_t> original;
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].bytes != 0)
      original.push_back(i);
  if (original.empty()) {
    plan.strategy = "empty";
    return plan;
  }
  std::vector<BufferInterval> active;
  for (uint32_t i : original)
    active.push_back(buffers[i]);
  const size_t count = active.size();

  uint64_t best = kNoPlan;
  std::vector<uint64_t> bestOffsets, offsets;
  std::vector<uint32_t> bestOrder;
  auto reached = [&] {
    return best != kNoPlan &&
           llvm::alignTo(best, options.alignment) <= plan.lowerBound;
  };
  BestFit bestFit(active);
  uint64_t work = 0;
  auto attempt = [&](llvm::ArrayRef<uint32_t> order, llvm::StringRef name) {
    uint64_t highWater = bestFit.run(order, offsets, work);
    if (highWater >= best)
      return false;
    best = highWater;
    bestOffsets = offsets;
    bestOrder.assign(order.begin(), order.end());
    plan.strategy = name.str();
    return true;
  };

  // Stage 1. Keys are compared in descending order; ties keep program order.
  using Key = std::function<long double(const BufferInterval &)>;
  auto length = [](const BufferInterval &b) -> long double {
    return static_cast<long double>(b.lastUse) - b.firstUse + 1;
  };
  const std::pair<llvm::StringRef, Key> orders[] = {
      {"best-fit by size",
       [](const BufferInterval &b) -> long double { return b.bytes; }},
      {"best-fit by area",
       [&](const BufferInterval &b) { return b.bytes * length(b); }},
      {"best-fit by lifetime", length},
      {"best-fit by first use",
       [](const BufferInterval &b) -> long double {
         return -static_cast<long double>(b.firstUse);
       }},
      {"best-fit by last use",
       [](const BufferInterval &b) -> long double { return b.lastUse; }},
  };
  std::vector<uint32_t> order(count);
  for (const auto &[name, key] : orders) {
    if (reached())
      break;
    std::iota(order.begin(), order.end(), 0u);
    std::vector<long double> keys;
    for (const BufferInterval &b : active)
      keys.push_back(key(b));
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(keys[a], active[a].bytes, b) >
             std::tuple(keys[b], active[b].bytes, a);
    });
    attempt(order, name);
  }

  // Stage 2: half of the work allowed.
  uint64_t base = work;
  order = bestOrder;
  std::vector<uint64_t> current = bestOffsets;
  for (unsigned round = 0;
       !reached() && work - base < options.stepLimit / 2 && round < 4 * count;
       ++round) {
    uint64_t highWater = 0;
    for (size_t i = 0; i < count; ++i)
      highWater = std::max(highWater, current[i] + active[i].bytes);
    std::vector<uint32_t> next, rest;
    for (uint32_t i : order)
      (current[i] + active[i].bytes == highWater ? next : rest).push_back(i);
    next.insert(next.end(), rest.begin(), rest.end());
    order = std::move(next);
    attempt(order, "best-fit, topmost buffers first");
    current = offsets;
  }

  // Stage 3. Recursion is as deep as there are buffers, hence the bound.
  constexpr size_t kMaxBranchAndBound = 1000;
  if (!reached() && options.stepLimit != 0 && count <= kMaxBranchAndBound) {
    BranchAndBound search(active, plan.lowerBound, options.stepLimit / 2);
    if (search.run(best, bestOffsets))
      plan.strategy = "branch and bound";
  }

  plan.bytes = llvm::alignTo(best, options.alignment);
  for (size_t i = 0; i < count; ++i)
    plan.offsets[original[i]] = bestOffsets[i];
  return plan;
}
