//===- ExtentsTests.cpp - Kernels of bounded profiles ---------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A tactic that "follows" or "masks" a dimension says that code made for many
// rows computes fewer, when the grid or an argument says so. That the machine
// code is the same whatever the number of rows is shown for all of them, and
// what launches write for some of each kind.
//
//===----------------------------------------------------------------------===//

#include "NormProblems.h"

#include "Netra/Target/Equivalence.h"

using namespace kernels;
using netra::Affine;
using netra::ElementType;
using netra::OperandSpec;
using netra::Problem;

namespace {

/// The problem of `instance` with another M, which leads what has it.
Problem withRows(const netra::Instance &instance, int64_t rows) {
  Problem problem = instance.contract.problem;
  int64_t before = problem.dimensions.at("M");
  problem.dimensions["M"] = rows;
  const netra::Tactic &tactic = *instance.tactic;
  for (OperandSpec &operand : problem.operands) {
    const auto &shape = tactic.operands.at(operand.role).shape;
    if (!operand.shape.empty() && operand.shape[0] == before &&
        (!shape || shape->front().text() == "M"))
      operand.shape[0] = rows;
  }
  return problem;
}

TEST(Extents, RowsAreNotInTheMachineCode) {
  size_t followers = 0, maskers = 0;
  for (const netra::Tactic &tactic : catalog().tactics()) {
    if (tactic.follows.empty() && tactic.masks.empty())
      continue;
    (tactic.follows.empty() ? maskers : followers) += 1;
    ASSERT_FALSE(tactic.evidence.empty()) << tactic.name;
    ASSERT_EQ(tactic.follows.size() + tactic.masks.size(), 1u) << tactic.name;
    ASSERT_FALSE(tactic.evidence.front().kernels.empty()) << tactic.name;
    for (const auto &kernel : tactic.evidence.front().kernels) {
      auto instance = netra::instantiate(tactic, kernel.instance);
      ASSERT_TRUE(static_cast<bool>(instance))
          << llvm::toString(instance.takeError());
      ASSERT_NE(instance->contract.problem.dimensions.at("M"), 37);
      auto other = netra::instantiate(tactic, withRows(*instance, 37),
                                      instance->options);
      ASSERT_TRUE(static_cast<bool>(other))
          << llvm::toString(other.takeError());
      auto assembled = assembler().assemble(*other);
      ASSERT_TRUE(static_cast<bool>(assembled))
          << llvm::toString(assembled.takeError());
      // Evidence is of the code of today; another test says so.
      EXPECT_EQ(netra::computationalIdentity(assembled->object,
                                             assembled->object.kernels[0]),
                kernel.identitySha256)
          << tactic.name;
    }
  }
  EXPECT_GE(followers, 17u);
  EXPECT_GE(maskers, 2u);
}

struct Case {
  const char *tactic;
  Problem problem; // of the greatest number of rows
};

std::vector<Case> cases() {
  NormForm plain, quantized, groupMajor;
  quantized.quantized = true;
  groupMajor.quantized = groupMajor.groupMajor = groupMajor.rounded = true;
  return {{"gfx950.rms_norm_bf16", rmsNormProblem(9, 512, true, false)},
          {"gfx950.quantize_blocks_bf16", quantizeProblem(9, 640)},
          {"gfx950.quantize_blocks_bf16_group_major",
           quantizeProblem(9, 640, /*groupMajor=*/true)},
          {"gfx950.gated_bf16_packed_quantized",
           gatedProblem(9, 1152, "silu", /*packed=*/true, /*quantized=*/true)},
          // Rows of 5 heads, 4 to a wave: a wave has heads of two tokens.
          {"gfx950.gated_rms_norm_bf16", gatedRmsNormProblem(9, 5, 128, plain)},
          {"gfx950.gated_rms_norm_bf16_quantized",
           gatedRmsNormProblem(9, 5, 128, quantized)},
          {"gfx950.gated_rms_norm_rows_bf16",
           gatedRmsNormProblem(9, 3, 1280, plain)},
          {"gfx950.gated_rms_norm_rows_bf16_quantized_group_major",
           gatedRmsNormProblem(9, 3, 1280, groupMajor)}};
}

Buffers randomInputs(const Problem &problem) {
  Random random(53);
  Buffers inputs;
  for (const OperandSpec &operand : problem.operands) {
    size_t count = 1;
    for (int64_t extent : operand.shape)
      count *= size_t(extent);
    if (operand.type == ElementType::BF16 && operand.role != "result" &&
        operand.role != "sum" && operand.role != "rounded")
      inputs[operand.role] = toBytes(random.bf16(count));
  }
  return inputs;
}

/// Whether element `index` of `operand` belongs to the first `rows` rows.
bool isInFront(const OperandSpec &operand, size_t index, int64_t rows) {
  size_t all = size_t(operand.shape[0]), columns = size_t(operand.shape[1]);
  return (operand.layout == "group_major" ? index % all : index / columns) <
         size_t(rows);
}

/// Each launch writes the rows it has, with the bits of a launch of all rows,
/// and no others: buffers hold the greatest number, and what lies behind them
/// is watched.
TEST(Extents, ALaunchWritesItsRows) {
  for (const Case &c : cases()) {
    Buffers inputs = randomInputs(c.problem);
    Outcome all = runOnce(c.tactic, c.problem, inputs, {});
    Problem varying = c.problem;
    varying.varying["M"] = Affine(0, {{"m", 1}});
    varying.guards["m"] = {1, 9};
    auto kernel = build(c.tactic, varying);
    ASSERT_TRUE(static_cast<bool>(kernel))
        << llvm::toString(kernel.takeError());
    bool follows = !kernel->instance.tactic->follows.empty();
    EXPECT_EQ(kernel->instance.contract.grid[0].isConstant(), !follows);
    EXPECT_FALSE(kernel->instance.contract.graphCapture);
    for (int64_t rows : {1, 2, 5, 8, 9}) {
      RunOptions options;
      options.point = {{"m", uint64_t(rows)}};
      auto done = run(*kernel, inputs, options);
      ASSERT_TRUE(static_cast<bool>(done)) << llvm::toString(done.takeError());
      EXPECT_EQ(done->findingsText(), "") << c.tactic;
      ASSERT_FALSE(done->outputs.empty());
      for (const auto &[role, bytes] : done->outputs) {
        const OperandSpec &operand = *c.problem.find(role);
        size_t size = netra::elementBytes(operand.type), wrong = 0;
        ASSERT_EQ(bytes.size(), all.outputs.at(role).size());
        for (size_t i = 0; i != bytes.size(); ++i) {
          uint8_t expected = isInFront(operand, i / size, rows)
                                 ? all.outputs.at(role)[i]
                                 : 0xff; // as before the launch
          wrong += bytes[i] != expected;
        }
        EXPECT_EQ(wrong, 0u)
            << c.tactic << ", " << role << ", " << rows << " rows";
      }
    }
  }
}

/// The other way round: without the argument, a kernel that masks writes all.
TEST(Extents, MasksNeedTheArgument) {
  Case c = cases()[4];
  Problem varying = c.problem;
  varying.varying["M"] = Affine(0, {{"m", 1}});
  varying.guards["m"] = {1, 9};
  auto kernel = build(c.tactic, varying);
  ASSERT_TRUE(static_cast<bool>(kernel)) << llvm::toString(kernel.takeError());
  for (netra::Argument &argument : kernel->instance.contract.arguments)
    argument.follows.reset();
  Buffers inputs = randomInputs(c.problem);
  RunOptions options;
  options.point = {{"m", 2}};
  auto done = run(*kernel, inputs, options);
  ASSERT_TRUE(static_cast<bool>(done)) << llvm::toString(done.takeError());
  EXPECT_EQ(done->outputs, runOnce(c.tactic, c.problem, inputs, {}).outputs);
}

} // namespace
