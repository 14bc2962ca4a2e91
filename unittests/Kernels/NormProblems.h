//===- NormProblems.h - Problems of normalisations --------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_NORMPROBLEMS_H
#define NETRA_UNITTESTS_KERNELS_NORMPROBLEMS_H

#include "KernelHarness.h"

#include "llvm/ADT/STLExtras.h"

namespace kernels {

/// Which of its forms a normalisation has.
struct NormForm {
  bool residual = false, quantized = false;
  bool weightF32 = false;
  bool rounded = false;    ///< the bf16 values beside the FP8 result
  bool groupMajor = false; ///< scales
  bool bias = false;       ///< layer norm only
};

/// The forms that rmsNormProblem does not have.
inline netra::Problem withForm(netra::Problem problem, const NormForm &form) {
  auto operand = [&](llvm::StringRef role) -> netra::OperandSpec & {
    return *llvm::find_if(problem.operands, [&](const auto &operand) {
      return operand.role == role;
    });
  };
  if (form.weightF32)
    operand("weight").type = netra::ElementType::F32;
  if (form.groupMajor)
    operand("result_scale").layout = "group_major";
  if (form.rounded)
    problem.operands.push_back(
        {"rounded", netra::ElementType::BF16, operand("result").shape});
  if (form.bias)
    problem.operands.push_back(
        {"bias", operand("weight").type, operand("weight").shape});
  return problem;
}

/// y = norm(x per head) * (w + offset) * act(gate).
inline netra::Problem
gatedRmsNormProblem(int64_t m, int64_t heads, int64_t n, const NormForm &form,
                    double weightOffset = 0,
                    const std::string &activation = "silu",
                    double epsilon = 1e-6) {
  using netra::ElementType;
  netra::Problem problem;
  problem.family = "norm";
  problem.operation = "gated_rms_norm";
  problem.dimensions = {{"M", m}, {"H", heads}, {"N", n}};
  int64_t width = heads * n;
  problem.operands.push_back({"x", ElementType::BF16, {m, width}});
  problem.operands.push_back({"gate", ElementType::BF16, {m, width}});
  problem.operands.push_back({"weight", ElementType::BF16, {n}});
  problem.operands.push_back(
      {"result",
       form.quantized ? ElementType::F8E4M3FN : ElementType::BF16,
       {m, width}});
  if (form.quantized) {
    problem.operands.push_back(
        {"result_scale", ElementType::F32, {m, width / 128}});
    problem.attributes["result_block_scale"] = std::string("1x128:f32");
  }
  problem.attributes["epsilon"] = epsilon;
  problem.attributes["weight_offset"] = weightOffset;
  problem.attributes["activation"] = activation;
  problem.attributes["accumulation"] = std::string("f32");
  return withForm(std::move(problem), form);
}

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_NORMPROBLEMS_H
