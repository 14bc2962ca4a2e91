//===- Decision.cpp - Which plan a launch takes ---------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Decision.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace llvm;

namespace netra {

static constexpr uint64_t maxValue = std::numeric_limits<uint64_t>::max();

static GuardRange rangeOf(const GuardBox &box, size_t dimension) {
  auto guard = box.find(guardNames[dimension].str());
  return guard == box.end() ? GuardRange{0, maxValue} : guard->second;
}

std::string toString(const GuardBox &box) {
  std::string text;
  for (StringRef name : guardNames)
    if (auto guard = box.find(name.str()); guard != box.end()) {
      const GuardRange &range = guard->second;
      text += (text.empty() ? "" : ", ") + name.str() + " " +
              utostr(range.min) +
              (range.isExact() ? "" : ".." + utostr(range.max));
    }
  return text.empty() ? "any" : text;
}

Expected<GuardBox> parseGuardBox(StringRef text) {
  auto fail = [&](const Twine &why) {
    return createStringError("\"" + text + "\": " + why);
  };
  GuardBox box;
  SmallVector<StringRef> parts;
  text.split(parts, ':');
  for (StringRef part : parts) {
    auto [name, value] = part.split('=');
    if (!is_contained(guardNames, name))
      return fail("expected guards like m=1..16:batch=1 on " +
                  join(ArrayRef(guardNames), ", ") + ", found \"" + part +
                  "\"");
    auto [first, last] = value.split("..");
    GuardRange range;
    if (first.getAsInteger(10, range.min) ||
        (value.contains("..") ? last : first).getAsInteger(10, range.max) ||
        range.min > range.max)
      return fail("expected a value or a range MIN..MAX of " + name +
                  ", found \"" + value + "\"");
    if (!box.insert({name.str(), range}).second)
      return fail("expected each dimension once, found " + name + " twice");
  }
  return box;
}

bool contains(const GuardBox &box, const ServingPoint &point) {
  for (size_t d = 0; d != guardCount; ++d)
    if (!rangeOf(box, d).contains(point[d]))
      return false;
  return true;
}

static bool overlaps(const GuardBox &lhs, const GuardBox &rhs) {
  for (size_t d = 0; d != guardCount; ++d) {
    GuardRange left = rangeOf(lhs, d), right = rangeOf(rhs, d);
    if (left.min > right.max || right.min > left.max)
      return false;
  }
  return true;
}

std::optional<uint64_t> DecisionTable::choose(const ServingPoint &point) const {
  const DecisionNode *node = nodes.empty() ? nullptr : &nodes.front();
  while (node) {
    uint64_t value = point[node->dimension];
    const DecisionCase &found = *std::prev(
        upper_bound(node->cases, value, [](uint64_t value, const auto &next) {
          return value < next.from;
        }));
    if (found.kind == DecisionCase::Kind::Plan)
      return found.index;
    node =
        found.kind == DecisionCase::Kind::Node ? &nodes[found.index] : nullptr;
  }
  return std::nullopt;
}

namespace {

class Compiler {
public:
  Compiler(ArrayRef<DecisionPlan> plans, ArrayRef<GuardBox> domain)
      : plans(plans), domain(domain) {
    for (const DecisionPlan &plan : plans)
      for (size_t d = 0; d != guardCount; ++d)
        ranges.push_back(rangeOf(plan.guards, d));
  }

  Expected<DecisionTable> run() {
    Plans ranked(plans.size());
    for (size_t i = 0; i != plans.size(); ++i)
      ranked[i] = i;
    llvm::sort(ranked, [&](size_t lhs, size_t rhs) {
      return plans[lhs].priority != plans[rhs].priority
                 ? plans[lhs].priority > plans[rhs].priority
                 : lhs < rhs;
    });
    build(0, ranked);
    if (memo.size() > maxStates)
      return createStringError("expected guards that divide the serving points "
                               "into at most " +
                               Twine(maxStates) + " parts, found more");
    checkTaken();
    // A node was made after those it leads to.
    DecisionTable table{{nodes.rbegin(), nodes.rend()}};
    for (DecisionNode &node : table.nodes)
      for (DecisionCase &next : node.cases)
        if (next.kind == DecisionCase::Kind::Node)
          next.index = nodes.size() - 1 - next.index;
    for (const GuardBox &box : domain)
      checkDomain(table, box);
    if (!faults.empty())
      return createStringError(join(faults, "\n"));
    return table;
  }

private:
  /// Indices of plans, the preferred first.
  using Plans = std::vector<size_t>;

  /// More than engines have, by far; a table of hostile guards could be of any
  /// size.
  static constexpr size_t maxStates = 8192;

  /// The outcome for all points whose dimensions before `d` are admitted by
  /// `candidates` and by no other plan.
  DecisionCase build(size_t d, const Plans &candidates) {
    if (candidates.empty() || memo.size() > maxStates)
      return {};
    if (d == guardCount) {
      size_t first = candidates.front();
      taken.insert(first);
      if (candidates.size() > 1 &&
          plans[candidates[1]].priority == plans[first].priority)
        reportBoth(first, candidates[1]);
      return {0, DecisionCase::Kind::Plan, first};
    }
    auto known = memo.find({d, candidates});
    if (known != memo.end())
      return known->second;

    std::set<uint64_t> cuts = {0};
    for (size_t plan : candidates) {
      GuardRange range = ranges[plan * guardCount + d];
      cuts.insert(range.min);
      if (range.max != maxValue)
        cuts.insert(range.max + 1);
    }
    DecisionNode node;
    node.dimension = d;
    for (uint64_t from : cuts) {
      Plans inside;
      for (size_t plan : candidates)
        if (ranges[plan * guardCount + d].contains(from))
          inside.push_back(plan);
      point[d] = from;
      DecisionCase next = build(d + 1, inside);
      next.from = from;
      if (!node.cases.empty() && node.cases.back().kind == next.kind &&
          node.cases.back().index == next.index)
        continue;
      node.cases.push_back(next);
    }
    // The first node is there also when it has nothing to ask.
    DecisionCase result = d != 0 && node.cases.size() == 1
                              ? node.cases.front()
                              : DecisionCase{0, DecisionCase::Kind::Node,
                                             intern(std::move(node))};
    memo.insert({{d, candidates}, result});
    return result;
  }

  uint64_t intern(DecisionNode node) {
    auto same = llvm::find(nodes, node);
    if (same != nodes.end())
      return uint64_t(same - nodes.begin());
    nodes.push_back(std::move(node));
    return nodes.size() - 1;
  }

  void reportBoth(size_t lhs, size_t rhs) {
    both.insert(lhs);
    both.insert(rhs);
    if (bothPairs.insert({lhs, rhs}).second)
      faults.push_back(
          ("expected one plan for each serving point, found that " +
           plans[lhs].name + " and " + plans[rhs].name + ", both of priority " +
           Twine(plans[lhs].priority) + ", admit " + describePoint({}) +
           "; give one of them a higher priority or other guards")
              .str());
  }

  void checkTaken() {
    for (size_t i = 0; i != plans.size(); ++i) {
      if (taken.count(i) || both.count(i))
        continue;
      std::string others;
      for (const DecisionPlan &other : plans)
        if (other.priority > plans[i].priority &&
            overlaps(other.guards, plans[i].guards))
          others += (others.empty() ? "" : ", ") + other.name;
      faults.push_back(
          "expected guards that admit what no plan of a higher priority does, "
          "found that " +
          (others.empty()
               ? "nothing meets the guards of " + plans[i].name
               : "everything of " + plans[i].name + " goes to " + others));
    }
  }

  void checkDomain(const DecisionTable &table, const GuardBox &box) {
    for (size_t d = 0; d != guardCount; ++d)
      point[d] = rangeOf(box, d).min;
    std::set<uint64_t> covered;
    if (findRefused(table, 0, box, covered))
      faults.push_back("expected a plan for all of the domain (" +
                       toString(box) + "), found none that admits " +
                       describePoint(box));
  }

  /// "m=1, batch=64": of the dimensions that a plan or the box bounds. The
  /// others may have any value; the one in `point` means nothing.
  std::string describePoint(const GuardBox &box) const {
    std::string text;
    for (size_t d = 0; d != guardCount; ++d) {
      std::string name = guardNames[d].str();
      if (box.count(name) || any_of(plans, [&](const DecisionPlan &plan) {
            return plan.guards.count(name) != 0;
          }))
        text += (text.empty() ? "" : ", ") + name + "=" + utostr(point[d]);
    }
    return text.empty() ? "any" : text;
  }

  /// Sets `point` to one of the box that is refused, from this node on.
  bool findRefused(const DecisionTable &table, uint64_t index,
                   const GuardBox &box, std::set<uint64_t> &covered) {
    if (covered.count(index))
      return false;
    const DecisionNode &node = table.nodes[index];
    GuardRange range = rangeOf(box, node.dimension);
    for (size_t i = 0; i != node.cases.size(); ++i) {
      const DecisionCase &next = node.cases[i];
      bool isBelow =
          i + 1 != node.cases.size() && node.cases[i + 1].from <= range.min;
      if (isBelow || next.from > range.max)
        continue;
      point[node.dimension] = std::max(next.from, range.min);
      if (next.kind == DecisionCase::Kind::Refuse ||
          (next.kind == DecisionCase::Kind::Node &&
           findRefused(table, next.index, box, covered)))
        return true;
    }
    point[node.dimension] = range.min;
    covered.insert(index);
    return false;
  }

  ArrayRef<DecisionPlan> plans;
  ArrayRef<GuardBox> domain;
  std::vector<GuardRange> ranges;  // by plan and dimension
  std::vector<DecisionNode> nodes; // those that a node leads to before it
  std::map<std::pair<size_t, Plans>, DecisionCase> memo;
  ServingPoint point = {};
  std::set<size_t> taken, both;
  std::set<std::pair<size_t, size_t>> bothPairs;
  std::vector<std::string> faults;
};

} // namespace

Expected<DecisionTable> compileDecisions(ArrayRef<DecisionPlan> plans,
                                         ArrayRef<GuardBox> domain) {
  return Compiler(plans, domain).run();
}

} // namespace netra
