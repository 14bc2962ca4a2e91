//===- Cost.h - What operations move and compute ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The roofline estimate of a problem. Integers, so that it is the same on every
// machine. What is counted as FLOP follows from the definition of the operation
// and not from a kernel: docs/catalogue.md says how.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_COST_H
#define NETRA_CATALOG_COST_H

#include "Netra/Catalog/Contract.h"
#include "Netra/Catalog/TargetInfo.h"

#include <optional>
#include <string>

namespace netra {

struct Cost {
  uint64_t bytes = 0;
  uint64_t flop = 0;
  /// The longer of the two times at the peaks of the target.
  uint64_t picoseconds = 0;
  /// Whether moving the bytes takes that time, or else the arithmetic.
  bool isBoundByMemory = true;
  /// Instructions of a launch, where they were asked for to decide between
  /// equal times.
  std::optional<uint64_t> instructions;

  bool operator==(const Cost &) const = default;
};

/// The bytes of each operand of `problem` once; of a table or of experts those
/// that a launch can ask for at most.
uint64_t countBytes(const Problem &problem);

/// Additions, multiplications, divisions and elementary functions of `problem`,
/// one each.
uint64_t countFlop(const Problem &problem);

/// `bytes` is what a tactic moves that moves other than countBytes.
Cost estimateCost(const Problem &problem, const TargetInfo &target,
                  std::optional<uint64_t> bytes = std::nullopt);

/// "0.131072 us": all of them.
std::string spellTime(uint64_t picoseconds);

/// "1050624 bytes, 1048576 FLOP: 0.131328 us, bound by memory".
std::string toString(const Cost &cost);

} // namespace netra

#endif // NETRA_CATALOG_COST_H
