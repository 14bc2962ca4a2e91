//===- Affine.cpp - Numbers that follow a serving point -------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Affine.h"

#include "llvm/ADT/Twine.h"

#include <limits>

using namespace llvm;

namespace netra {

static std::optional<uint64_t> valueAt(const Affine &affine,
                                       const GuardBox &guards,
                                       uint64_t GuardRange::*end) {
  uint64_t sum = affine.constant;
  for (const auto &[name, factor] : affine.terms) {
    auto guard = guards.find(name);
    uint64_t product;
    if (guard == guards.end() ||
        __builtin_mul_overflow(factor, guard->second.*end, &product) ||
        __builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

std::optional<uint64_t> Affine::leastOver(const GuardBox &guards) const {
  return valueAt(*this, guards, &GuardRange::min);
}

std::optional<uint64_t> Affine::greatestOver(const GuardBox &guards) const {
  return valueAt(*this, guards, &GuardRange::max);
}

std::string Affine::str() const {
  std::string text;
  for (const auto &[name, factor] : terms) {
    text += text.empty() ? "" : " + ";
    text += factor == 1 ? name : std::to_string(factor) + " * " + name;
  }
  if (constant != 0 || text.empty())
    text += (text.empty() ? "" : " + ") + std::to_string(constant);
  return text;
}

/// "at m = 17500, batch = 3" of the dimensions that `affine` follows.
static std::string pointText(const Affine &affine, const GuardBox &guards,
                             uint64_t GuardRange::*end) {
  std::string text;
  for (const auto &[name, factor] : affine.terms) {
    auto guard = guards.find(name);
    text += (text.empty() ? " at " : ", ") + name + " = " +
            (guard == guards.end() ? "any value"
                                   : std::to_string(guard->second.*end));
  }
  return text;
}

std::string findUnlaunchable(const AffineExtents &grid,
                             const std::array<uint64_t, 3> &block,
                             const GuardBox &guards, uint64_t maxGridYz) {
  for (size_t d = 0; d != 3; ++d) {
    // The dispatch packet counts the work-items of an axis in 32 bits.
    uint64_t limit =
        std::numeric_limits<uint32_t>::max() / std::max<uint64_t>(block[d], 1);
    if (d != 0)
      limit = std::min(limit, maxGridYz);
    auto explain = [&](std::optional<uint64_t> value,
                       uint64_t GuardRange::*end) {
      return ("axis " + Twine("xyz"[d]) + ": expected 1 to " + Twine(limit) +
              " work-groups, found that " + grid[d].str() + " is " +
              (value ? Twine(*value) : Twine("more than 64 bits hold")) +
              pointText(grid[d], guards, end))
          .str();
    };
    std::optional<uint64_t> least = grid[d].leastOver(guards);
    if (least && *least == 0)
      return explain(least, &GuardRange::min);
    std::optional<uint64_t> greatest = grid[d].greatestOver(guards);
    if (!greatest || *greatest > limit)
      return explain(greatest, &GuardRange::max);
  }
  return "";
}

} // namespace netra
