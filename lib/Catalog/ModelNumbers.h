//===- ModelNumbers.h - Ranges of the numbers of models ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CATALOG_MODELNUMBERS_H
#define NETRA_LIB_CATALOG_MODELNUMBERS_H

#include "Netra/Catalog/Json.h"
#include "Netra/Catalog/Model.h"

#include <optional>

namespace netra {

/// Of layers, which are each built by themselves.
constexpr int64_t maxLayers = 4096;

/// What a number may be, and how messages say it.
struct NumberRange {
  double min, max;
  const char *expected;
};

constexpr NumberRange anyNumber = {0, 1e30, "a number from 0 to 1e30"};
/// Added to a mean of squares in f32, where it must not vanish.
constexpr NumberRange epsilonRange = {
    1.2e-38, 1, "a number from 1.2e-38, the least that f32 holds, to 1"};
/// The base of rotary frequencies, which fall from 1 on.
constexpr NumberRange thetaRange = {1, 1e30, "a number from 1 to 1e30"};
constexpr NumberRange fractionRange = {1e-6, 1, "a number above 0, at most 1"};
constexpr NumberRange wholeRange = {
    1, 1, "1; models of this type rotate whole heads"};
constexpr NumberRange positiveRange = {1e-6, 1e30,
                                       "a positive number of at most 1e30"};

/// A number in `range`; reports any other value.
inline std::optional<double> readNumber(const json::Reader &reader,
                                        const NumberRange &range) {
  std::optional<double> value = reader.number();
  if (!value || (*value >= range.min && *value <= range.max))
    return value;
  reader.fail(range.expected);
  return std::nullopt;
}

} // namespace netra

#endif // NETRA_LIB_CATALOG_MODELNUMBERS_H
