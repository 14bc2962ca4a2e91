//===- VocabularyProblems.h - Problems of the vocabulary --------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_VOCABULARYPROBLEMS_H
#define NETRA_UNITTESTS_KERNELS_VOCABULARYPROBLEMS_H

#include "KernelHarness.h"

namespace kernels {

inline netra::Problem embeddingProblem(int64_t m, int64_t v, int64_t n,
                                       double scale = 1) {
  netra::Problem problem;
  problem.family = "vocabulary";
  problem.operation = "embedding";
  problem.dimensions = {{"M", m}, {"V", v}, {"N", n}};
  problem.operands = {{"ids", netra::ElementType::I32, {m}},
                      {"table", netra::ElementType::BF16, {v, n}},
                      {"result", netra::ElementType::BF16, {m, n}}};
  problem.attributes["scale"] = scale;
  return problem;
}

inline netra::Problem argmaxProblem(int64_t m, int64_t v, bool f32,
                                    bool value = true) {
  netra::Problem problem;
  problem.family = "vocabulary";
  problem.operation = "argmax";
  problem.dimensions = {{"M", m}, {"V", v}};
  problem.operands = {{"logits",
                       f32 ? netra::ElementType::F32 : netra::ElementType::BF16,
                       {m, v}},
                      {"result", netra::ElementType::I32, {m}}};
  if (value)
    problem.operands.push_back({"value", netra::ElementType::F32, {m}});
  return problem;
}

inline netra::Problem sampleProblem(int64_t m, int64_t v, bool f32) {
  netra::Problem problem;
  problem.family = "vocabulary";
  problem.operation = "sample";
  problem.dimensions = {{"M", m}, {"V", v}};
  problem.operands = {{"logits",
                       f32 ? netra::ElementType::F32 : netra::ElementType::BF16,
                       {m, v}},
                      {"temperature", netra::ElementType::F32, {m}},
                      {"top_k", netra::ElementType::I32, {m}},
                      {"top_p", netra::ElementType::F32, {m}},
                      {"seed", netra::ElementType::I64, {m}},
                      {"offset", netra::ElementType::I64, {m}},
                      {"result", netra::ElementType::I32, {m}}};
  return problem;
}

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_VOCABULARYPROBLEMS_H
