//===- SharingModel.cpp - Which bytes do waves share? --------------------===//
// SPDX-License-Identifier: MIT

#include "SharingModel.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace netra::mutation {

SharingModel::SharingModel(const Recording &recording) : recording(recording) {
  if (recording.groups.size() < 2)
    return;
  // What each group does to memory, by use.
  std::vector<Item> items;
  bool hasUnknown = false, hasWrite = false;
  for (const auto &[number, group] : enumerate(recording.groups)) {
    std::map<std::pair<Use, unsigned>, std::vector<ByteRange>> ranges;
    for (const WaveHistory &wave : group.waves)
      for (const Access &access : wave.accesses) {
        if (access.space != Space::Memory)
          continue;
        hasUnknown |= access.isUnknown;
        hasWrite |= access.use != Use::Read;
        auto &list = ranges[{access.use, access.operation}];
        list.insert(list.end(), access.ranges.begin(), access.ranges.end());
      }
    for (auto &[key, list] : ranges) {
      normalize(list);
      for (const ByteRange &range : list)
        items.push_back({range, unsigned(number), key.first, key.second});
    }
  }
  sharesEverything = hasUnknown && hasWrite;
  visitConflicts(items, [&](const Item &a, const Item &b) {
    shared.push_back({std::max(a.range.begin, b.range.begin),
                      std::min(a.range.end, b.range.end)});
    if (sharedBy.empty())
      sharedBy = describe(a.operation, b.operation) + " of two work-groups";
    return true;
  });
  normalize(shared);
}

std::string SharingModel::describe(unsigned first, unsigned second) const {
  return "`" + recording.operations[first].text + "` and `" +
         recording.operations[second].text + "`";
}

void SharingModel::addItems(const Access &access, unsigned owner,
                            std::vector<Item> &items) {
  if (access.isUnknown)
    items.push_back({{0, ~uint64_t(0)}, owner, access.use, access.operation});
  for (const ByteRange &range : access.ranges)
    items.push_back({range, owner, access.use, access.operation});
}

/// Calls `visit` for conflicting items of different owners, until it says no.
void SharingModel::visitConflicts(std::vector<Item> &items,
                                  const Visitor &visit) {
  if (all_of(items, [](const Item &i) { return i.use == Use::Read; }))
    return;
  std::sort(items.begin(), items.end());
  // Of items that differ in the instruction only, one is enough.
  items.erase(std::unique(items.begin(), items.end(),
                          [](const Item &a, const Item &b) {
                            return !(a < b) && !(b < a);
                          }),
              items.end());
  std::vector<const Item *> reads, others; // that may reach further
  for (const Item &item : items) {
    const bool isRead = item.use == Use::Read;
    for (auto *open : {&others, isRead ? nullptr : &reads}) {
      if (!open)
        continue;
      llvm::erase_if(*open, [&](const Item *other) {
        return other->range.end <= item.range.begin;
      });
      for (const Item *other : *open)
        if (other->owner != item.owner && conflict(other->use, item.use) &&
            !visit(*other, item))
          return;
    }
    (isRead ? reads : others).push_back(&item);
  }
}

bool SharingModel::isSharedByGroups(const Access &access) const {
  if (access.space != Space::Memory || recording.groups.size() < 2)
    return false;
  return sharesEverything || (access.isUnknown && !shared.empty()) ||
         meet(access.ranges, shared);
}

bool SharingModel::isUsedByOthers(
    uint64_t group, unsigned wave, const Access &access, uint64_t first,
    uint64_t last, function_ref<bool(const Access &)> counts) const {
  const GroupHistory &history = recording.groups[group];
  for (unsigned other = 0; other < history.waves.size(); ++other) {
    if (other == wave)
      continue;
    const auto &accesses = history.waves[other].accesses;
    auto at = partition_point(
        accesses, [&](const Access &a) { return a.interval < first; });
    for (; at != accesses.end() && at->interval <= last; ++at)
      if (at->space == access.space && conflict(at->use, access.use) &&
          counts(*at) &&
          (at->isUnknown || access.isUnknown ||
           meet(at->ranges, access.ranges)))
        return true;
  }
  return false;
}

/// Whether waves depend on their order in one interval.
std::string SharingModel::intervalCanChange(const OfWaves &accesses) const {
  for (Space space : {Space::Lds, Space::Memory}) {
    std::vector<Item> items;
    for (const auto &[wave, access] : accesses)
      if (access->space == space)
        addItems(*access, wave, items);
    std::string found;
    visitConflicts(items, [&](const Item &a, const Item &b) {
      found =
          describe(a.operation, b.operation) + " of two waves are in no order";
      return false;
    });
    if (!found.empty())
      return found;
  }
  for (const auto &[speaker, message] : accesses) {
    const Operation &op = recording.operations[message->operation];
    if (message->space != Space::Memory || (!op.publishes && !op.acquires))
      continue;
    for (const auto &[wave, access] : accesses)
      if (wave != speaker && access->use != Use::Sync &&
          isSharedByGroups(*access))
        return describe(message->operation, access->operation) +
               " of two waves are in no order for other work-groups";
  }
  return "";
}

std::string SharingModel::barrierCanChange(uint64_t pc) const {
  for (const GroupHistory &group : recording.groups) {
    // By interval in the program without it: what is done in those that were
    // more than one.
    std::map<unsigned, OfWaves> merged;
    std::vector<std::vector<unsigned>> intervals; // by wave and old interval
    bool isMissed = false, isPassed = false;
    for (const WaveHistory &wave : group.waves) {
      unsigned left = 0;
      std::vector<unsigned> now = {0};
      for (unsigned barrier : wave.barriers) {
        const bool isIt = recording.operations[barrier].pc == pc;
        if (isIt)
          merged[left];
        left += !isIt;
        now.push_back(left);
      }
      isPassed |= left != wave.barriers.size();
      intervals.push_back(std::move(now));
    }
    if (!isPassed)
      continue;
    // As many barriers fewer for all that had as many.
    for (size_t a = 0; a < group.waves.size(); ++a)
      isMissed |= intervals[a].back() + group.waves[0].barriers.size() !=
                  intervals[0].back() + group.waves[a].barriers.size();
    if (isMissed)
      return "waves of a work-group come to different numbers of barriers";
    for (const auto &[number, wave] : enumerate(group.waves))
      for (const Access &access : wave.accesses)
        if (auto at = merged.find(intervals[number][access.interval]);
            at != merged.end())
          at->second.push_back({unsigned(number), &access});
    for (const auto &[interval, accesses] : merged)
      if (std::string why = intervalCanChange(accesses); !why.empty())
        return why;
  }
  return "";
}

std::string SharingModel::race() const {
  for (const GroupHistory &group : recording.groups) {
    std::map<unsigned, OfWaves> all;
    for (const auto &[number, wave] : enumerate(group.waves))
      for (const Access &access : wave.accesses) {
        // Flags, or a buffer whose bytes are not known.
        if (access.use == Use::Sync || access.isUnknown)
          return "";
        all[access.interval].push_back({unsigned(number), &access});
      }
    for (const auto &[interval, accesses] : all)
      if (std::string why = intervalCanChange(accesses); !why.empty())
        return why;
  }
  return sharedBy.empty() ? "" : sharedBy + " are in no order";
}

} // namespace netra::mutation
