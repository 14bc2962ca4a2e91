//===- RouteTesting.h - What the tests of routers share ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_ROUTETESTING_H
#define NETRA_UNITTESTS_KERNELS_ROUTETESTING_H

#include "Checks.h"
#include "OracleRoute.h"

namespace kernels {

inline std::ostream &operator<<(std::ostream &os, const RouteSpec &spec) {
  os << spec.m << " rows, " << spec.topK << " of " << spec.experts
     << (spec.sigmoid ? " sigmoid" : " softmax")
     << (spec.normalize ? " normalized" : "") << (spec.bias ? " bias" : "")
     << " shared " << spec.shared;
  if (spec.groups > 1)
    os << ", " << spec.topGroups << " of " << spec.groups << " groups";
  return os;
}

inline Buffers randomRoute(const RouteSpec &spec, uint64_t seed) {
  Random random(seed);
  Buffers inputs;
  if (spec.projected)
    inputs["weight"] = toBytes(
        random.bf16(spec.experts * spec.k, 1 / std::sqrt(double(spec.k))));
  else
    inputs["logits"] = toBytes(random.bf16(spec.m * spec.experts));
  if (spec.projected || spec.shared == "sigmoid")
    inputs["x"] = toBytes(random.bf16(spec.m * spec.k));
  if (spec.shared == "sigmoid")
    inputs["shared_gate"] =
        toBytes(random.bf16(spec.k, 1 / std::sqrt(double(spec.k))));
  if (spec.bias)
    inputs["correction_bias"] =
        toBytes(random.positive(spec.experts, -0.25, 0.25));
  return inputs;
}

/// Checks all rows. `logits` stands in for the operand of that name when the
/// projection is part of the kernel.
inline std::string checkRoutes(const RouteSpec &spec, const Buffers &inputs,
                               const Outcome &run, Bytes logits = {}) {
  auto ids = run.outputs.find("expert_ids");
  if (ids == run.outputs.end())
    return "no result";
  if (!spec.projected)
    logits = inputs.at("logits");
  auto decoded = [](const Bytes &bytes) {
    std::vector<double> values;
    for (uint16_t code : fromBytes<uint16_t>(bytes))
      values.push_back(oracle::decodeBf16(code));
    return values;
  };
  std::vector<double> all = decoded(logits), x, gate;
  if (spec.shared == "sigmoid") {
    x = decoded(inputs.at("x"));
    gate = decoded(inputs.at("shared_gate"));
  }
  std::vector<int32_t> found = fromBytes<int32_t>(ids->second);
  std::vector<float> weights =
      fromBytes<float>(run.outputs.at("expert_weights"));
  for (int64_t m = 0; m != spec.m; ++m) {
    oracle::RouteRow row;
    row.logits.assign(all.begin() + m * spec.experts,
                      all.begin() + (m + 1) * spec.experts);
    if (spec.bias)
      for (float bias : fromBytes<float>(inputs.at("correction_bias")))
        row.bias.push_back(bias);
    for (size_t k = 0; k != gate.size(); ++k) {
      double product = x[m * spec.k + k] * gate[k];
      row.gate += product;
      row.gateSize += std::fabs(product);
    }
    std::string text = oracle::checkRoute(spec, row, &found[m * spec.slots()],
                                          &weights[m * spec.slots()]);
    if (!text.empty())
      return "row " + std::to_string(m) + ", " + text;
  }
  return "";
}

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_ROUTETESTING_H
