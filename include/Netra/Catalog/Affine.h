//===- Affine.h - Numbers that follow a serving point -----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a launch of a bounded profile computes from the dimensions of its
// serving point: a constant and multiples of them. Nothing is negative, so that
// the ends of the guards give the least and the greatest value.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_AFFINE_H
#define NETRA_CATALOG_AFFINE_H

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace netra {

/// An inclusive range of a serving parameter.
struct GuardRange {
  uint64_t min = 0, max = 0;
  bool contains(uint64_t value) const { return value >= min && value <= max; }
  bool isExact() const { return min == max; }
  bool operator==(const GuardRange &) const = default;
};

/// Guards by dimension; one that is not named may have any value.
using GuardBox = std::map<std::string, GuardRange>;

struct Affine {
  uint64_t constant = 0;
  std::map<std::string, uint64_t> terms; // by dimension; none is 0

  // A constant is the common case and reads as the number it is.
  Affine(uint64_t constant = 0, std::map<std::string, uint64_t> terms = {})
      : constant(constant), terms(std::move(terms)) {}

  bool isConstant() const { return terms.empty(); }

  /// The ends of its values over `guards`; nothing when 64 bits do not hold one
  /// or a dimension has no guard.
  std::optional<uint64_t> leastOver(const GuardBox &guards) const;
  std::optional<uint64_t> greatestOver(const GuardBox &guards) const;

  /// "4 * m + 2"
  std::string str() const;

  friend bool operator==(const Affine &, const Affine &) = default;
};

using AffineExtents = std::array<Affine, 3>;

/// Why a grid that follows `grid` over all of `guards` could not be launched
/// with `block`: "axis y: 4 * m is 70000 at m = 17500, …"; empty when it can.
/// `maxGridYz` limits the work-groups of the second and third axis.
std::string findUnlaunchable(const AffineExtents &grid,
                             const std::array<uint64_t, 3> &block,
                             const GuardBox &guards, uint64_t maxGridYz);

} // namespace netra

#endif // NETRA_CATALOG_AFFINE_H
