//===- OracleRoute.h - Expert selection in 64 bits --------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Routing from its definition, in doubles: sort, do not search. A selection
// that hangs on a difference smaller than f32 scores resolve is left open: the
// ids must then be distinct and in range, and the weights be those of the ids.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_ORACLEROUTE_H
#define NETRA_UNITTESTS_KERNELS_ORACLEROUTE_H

#include "Oracle.h"
#include "RouterProblems.h"

#include <numeric>
#include <sstream>

namespace oracle {

/// One row to route; `gate` is x . shared_gate, `gateSize` the sum of the
/// absolute values that it adds.
struct RouteRow {
  std::vector<double> logits;
  std::vector<double> bias; // empty, or one per expert
  double gate = 0, gateSize = 0;
};

/// A score and how far the kernel's f32 may be from it.
struct Score {
  double value, tolerance;
  bool operator>(const Score &other) const {
    // NaN is larger than every number.
    if (std::isnan(value) || std::isnan(other.value))
      return std::isnan(value) && !std::isnan(other.value);
    return value > other.value;
  }
  bool isClose(const Score &other) const {
    return value != other.value &&
           std::fabs(value - other.value) <= tolerance + other.tolerance;
  }
};

/// The `count` best of `scores`, best first, ties to the lower index. Scores of
/// -inf that the caller put in are never asked for. `open` becomes true when
/// the outcome hangs on a difference within the tolerances.
inline std::vector<int> best(const std::vector<Score> &scores, int count,
                             bool &open) {
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return scores[a] > scores[b] || (!(scores[b] > scores[a]) && a < b);
  });
  for (int i = 0; i < count; ++i)
    for (size_t j = i + 1; j < order.size(); ++j)
      open |= scores[order[i]].isClose(scores[order[j]]);
  order.resize(count);
  return order;
}

/// NaN when there is one.
inline double largestLogit(const RouteRow &row) {
  double largest = row.logits[0];
  for (double logit : row.logits)
    largest = std::isnan(logit) || logit > largest ? logit : largest;
  return largest;
}

inline std::vector<int> routeRow(const kernels::RouteSpec &spec,
                                 const RouteRow &row, bool &open) {
  // The terms of a group's rank; softmax times one number.
  double largest = largestLogit(row);
  std::vector<Score> parts;
  for (int64_t e = 0; e != spec.experts; ++e) {
    double logit = row.logits[e];
    if (!spec.sigmoid) {
      double distance = largest - logit, score = std::exp(-distance);
      parts.push_back({score, score * (distance + 8) * 4 * f32Unit + 0x1p-149});
      continue;
    }
    double score = sigmoid(logit);
    double tolerance =
        score * (4 + std::max(-logit, 0.0)) * 2 * f32Unit + 0x1p-149;
    if (!row.bias.empty()) {
      score += row.bias[e];
      tolerance += std::fabs(score) * f32Unit;
    }
    parts.push_back({score, tolerance});
  }
  // Both scores keep the order of the logits, so without a bias those rank.
  std::vector<Score> scores = parts;
  if (row.bias.empty())
    for (int64_t e = 0; e != spec.experts; ++e)
      scores[e] = {row.logits[e], 0};
  if (spec.topGroups < spec.groups) {
    int64_t size = spec.experts / spec.groups;
    std::vector<Score> groups;
    for (int64_t g = 0; g != spec.groups; ++g) {
      std::vector<Score> members(parts.begin() + g * size,
                                 parts.begin() + (g + 1) * size);
      bool ignored = false; // either of two close scores gives a close sum
      std::vector<int> two = best(members, 2, ignored);
      const Score &a = members[two[0]], &b = members[two[1]];
      groups.push_back(
          {a.value + b.value,
           a.tolerance + b.tolerance + std::fabs(a.value + b.value) * f32Unit});
    }
    std::vector<bool> stays(spec.groups, false);
    for (int g : best(groups, int(spec.topGroups), open))
      stays[g] = true;
    for (int64_t e = 0; e != spec.experts; ++e)
      if (!stays[e / size])
        scores[e] = {-std::numeric_limits<double>::infinity(), 0};
  }
  return best(scores, int(spec.topK), open);
}

/// Checks the ids and weights of one row.
inline std::string checkRoute(const kernels::RouteSpec &spec,
                              const RouteRow &row, const int32_t *ids,
                              const float *weights) {
  bool open = false;
  std::vector<int> expected = routeRow(spec, row, open);
  std::vector<bool> seen(spec.experts, false);
  for (int64_t s = 0; s != spec.topK; ++s) {
    if (ids[s] < 0 || ids[s] >= spec.experts || seen[ids[s]])
      return "slot " + std::to_string(s) + ": id " + std::to_string(ids[s]) +
             " is out of range or there twice\n";
    seen[ids[s]] = true;
    if (!open && ids[s] != expected[s])
      return "slot " + std::to_string(s) + ": expected expert " +
             std::to_string(expected[s]) + ", found " + std::to_string(ids[s]) +
             "\n";
  }
  double largest = largestLogit(row);
  auto raw = [&](double logit) {
    return spec.sigmoid ? sigmoid(logit) : std::exp(logit - largest);
  };
  double sum = spec.normalize && spec.sigmoid ? 1e-20 : 0;
  if (spec.normalize)
    for (int64_t s = 0; s != spec.topK; ++s)
      sum += raw(row.logits[ids[s]]);
  else if (!spec.sigmoid)
    for (double logit : row.logits)
      sum += raw(logit);
  else
    sum = 1;
  auto differs = [&](int64_t slot, double wanted, double relative,
                     double absolute) {
    double found = weights[slot];
    if (std::isnan(wanted) ? std::isnan(found)
                           : std::fabs(found - wanted) <=
                                 std::fabs(wanted) * relative + absolute)
      return std::string();
    std::ostringstream text;
    text << "slot " << slot << ": expected weight " << wanted << " within "
         << std::fabs(wanted) * relative + absolute << ", found " << found
         << "\n";
    return text.str();
  };
  for (int64_t s = 0; s != spec.topK; ++s) {
    double logit = row.logits[ids[s]];
    double distance = spec.sigmoid ? std::max(-logit, 0.0) : largest - logit;
    if (!std::isfinite(distance))
      distance = 0;
    // Scores are f32: those below 2^-149 vanish, before they are divided.
    std::string text = differs(
        s, spec.scale * raw(logit) / sum, (distance + 16) * 0x1p-22,
        std::fabs(spec.scale) * 0x1p-148 / std::min(sum, 1.0) + 0x1p-149);
    if (!text.empty())
      return text;
  }
  if (spec.shared == "none")
    return "";
  if (ids[spec.topK] != spec.experts)
    return "the shared expert has id " + std::to_string(ids[spec.topK]) + "\n";
  if (spec.shared == "one")
    return differs(spec.topK, 1, 0, 0);
  return differs(spec.topK, sigmoid(row.gate),
                 (16 + std::max(-row.gate, 0.0)) * 0x1p-22 +
                     row.gateSize * 0x1p-19,
                 0x1p-149);
}

} // namespace oracle

#endif // NETRA_UNITTESTS_KERNELS_ORACLEROUTE_H
