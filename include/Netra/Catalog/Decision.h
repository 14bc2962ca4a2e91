//===- Decision.h - Which plan a launch takes -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The guards of all plans of an engine, compiled into a table that a launch
// walks. A node asks for one dimension; its cases cover all values of 64 bits
// without a gap or an overlap, so that every serving point has one outcome: a
// plan, or the refusal of the launch.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_DECISION_H
#define NETRA_CATALOG_DECISION_H

#include "Netra/Catalog/Tactic.h"

#include <array>

namespace netra {

/// What a profile may guard, in the order in which a table asks.
inline constexpr llvm::StringRef guardNames[] = {
    "m", "batch", "sequence", "routed_rows", "tensor_parallel"};
inline constexpr size_t guardCount = std::size(guardNames);

/// A value for each dimension.
using ServingPoint = std::array<uint64_t, guardCount>;

/// "m 1..16, batch 64".
std::string toString(const GuardBox &box);

/// Parses "m=1..16:batch=1".
llvm::Expected<GuardBox> parseGuardBox(llvm::StringRef text);

bool contains(const GuardBox &box, const ServingPoint &point);

/// What follows for the values from `from` to the next case.
struct DecisionCase {
  enum class Kind : uint8_t { Refuse, Plan, Node };
  uint64_t from = 0;
  Kind kind = Kind::Refuse;
  uint64_t index = 0; // of the plan or of the node, else 0
  bool operator==(const DecisionCase &) const = default;
};

struct DecisionNode {
  size_t dimension = 0;            // index into guardNames
  std::vector<DecisionCase> cases; // rising from 0; at least one
  bool operator==(const DecisionNode &) const = default;
};

/// Starts at the first node. A node leads to later ones only, which ask for
/// later dimensions; no two are equal, and none but the first has just one
/// case.
struct DecisionTable {
  std::vector<DecisionNode> nodes;

  /// The plan of a point, or nothing when the launch is refused.
  std::optional<uint64_t> choose(const ServingPoint &point) const;
  bool operator==(const DecisionTable &) const = default;
};

/// One plan as the table sees it.
struct DecisionPlan {
  std::string name;
  int64_t priority = 0;
  GuardBox guards;
};

/// The table of `plans`: of those that admit a point, the one of the highest
/// priority. Fails, listing all that is wrong, one line each, when two of the
/// same priority admit a point for which no other has a higher one, when a plan
/// is never taken, or when a point inside a box of `domain` is refused.
llvm::Expected<DecisionTable>
compileDecisions(llvm::ArrayRef<DecisionPlan> plans,
                 llvm::ArrayRef<GuardBox> domain);

} // namespace netra

#endif // NETRA_CATALOG_DECISION_H
