//===- RouterProblems.h - Problems of routers -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_ROUTERPROBLEMS_H
#define NETRA_UNITTESTS_KERNELS_ROUTERPROBLEMS_H

#include "Netra/Catalog/Contract.h"

namespace kernels {

/// What a router is to do. `k` is the width of x: needed with a projection or
/// a sigmoid shared expert.
struct RouteSpec {
  int64_t m = 1, experts = 256, topK = 8, k = 0;
  int64_t groups = 1, topGroups = 1;
  bool sigmoid = false, normalize = true, bias = false;
  std::string shared = "none";
  double scale = 1;
  bool projected = false;

  int64_t slots() const { return topK + (shared != "none"); }

  netra::Problem problem() const {
    using netra::ElementType;
    netra::Problem problem;
    problem.family = "router";
    problem.operation = "route";
    problem.dimensions = {
        {"M", m},       {"E", experts},     {"S", slots()},
        {"TOPK", topK}, {"GROUPS", groups}, {"TOPGROUPS", topGroups},
        {"K", k}};
    if (projected)
      problem.operands.push_back({"weight", ElementType::BF16, {experts, k}});
    else
      problem.operands.push_back({"logits", ElementType::BF16, {m, experts}});
    if (projected || shared == "sigmoid")
      problem.operands.push_back({"x", ElementType::BF16, {m, k}});
    if (shared == "sigmoid")
      problem.operands.push_back({"shared_gate", ElementType::BF16, {1, k}});
    if (bias)
      problem.operands.push_back(
          {"correction_bias", ElementType::F32, {experts}});
    problem.operands.push_back({"expert_ids", ElementType::I32, {m, slots()}});
    problem.operands.push_back(
        {"expert_weights", ElementType::F32, {m, slots()}});
    problem.attributes["scoring"] =
        std::string(sigmoid ? "sigmoid" : "softmax");
    problem.attributes["normalize"] = std::string(normalize ? "sum" : "none");
    problem.attributes["shared_expert"] = shared;
    problem.attributes["routed_scale"] = scale;
    problem.attributes["accumulation"] = std::string("f32");
    return problem;
  }
};

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_ROUTERPROBLEMS_H
