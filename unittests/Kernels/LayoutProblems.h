//===- LayoutProblems.h - Problems of layout conversions --------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_LAYOUTPROBLEMS_H
#define NETRA_UNITTESTS_KERNELS_LAYOUTPROBLEMS_H

#include "Netra/Catalog/Contract.h"

namespace kernels {

/// A conversion of f32 from one layout to another.
inline netra::Problem convertProblem(const std::vector<int64_t> &shape,
                                     const std::string &from,
                                     const std::string &to) {
  netra::Problem problem;
  problem.family = "layout";
  problem.operation = "layout_convert";
  size_t rank = shape.size();
  int64_t matrices = 1;
  for (size_t i = 0; i + 2 < rank; ++i)
    matrices *= shape[i];
  problem.dimensions = {
      {"B", matrices}, {"M", shape[rank - 2]}, {"N", shape[rank - 1]}};
  problem.operands.push_back({"x", netra::ElementType::F32, shape, from});
  problem.operands.push_back({"result", netra::ElementType::F32, shape, to});
  return problem;
}

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_LAYOUTPROBLEMS_H
