//===- OperationsTest.cpp - Problems against their operations -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Operations.h"
#include "Netra/Catalog/Catalog.h"
#include "Netra/Catalog/Vocabulary.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace netra;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {
Problem routeProblem() {
  Problem problem;
  problem.family = "router";
  problem.operation = "route";
  problem.dimensions = {{"M", 2},      {"E", 256},       {"S", 9}, {"TOPK", 8},
                        {"GROUPS", 8}, {"TOPGROUPS", 4}, {"K", 64}};
  problem.operands = {
      {"logits", ElementType::BF16, {2, 256}, "row_major"},
      {"x", ElementType::BF16, {2, 64}, "row_major"},
      {"shared_gate", ElementType::BF16, {1, 64}, "row_major"},
      {"expert_ids", ElementType::I32, {2, 9}, "row_major"},
      {"expert_weights", ElementType::F32, {2, 9}, "row_major"}};
  problem.attributes = {{"scoring", std::string("softmax")},
                        {"normalize", std::string("sum")},
                        {"shared_expert", std::string("sigmoid")},
                        {"routed_scale", 1.0},
                        {"accumulation", std::string("f32")}};
  return problem;
}

Problem denseProblem(const char *epilogue, int64_t columns) {
  Problem problem;
  problem.family = problem.operation = "dense";
  problem.dimensions = {{"M", 2}, {"N", 256}, {"K", 128}};
  problem.operands = {
      {"x", ElementType::F8E4M3FN, {2, 128}, "row_major"},
      {"weight", ElementType::F8E4M3FN, {256, 128}, "row_major"},
      {"x_scale", ElementType::F32, {2, 1}, "row_major"},
      {"weight_scale", ElementType::F32, {2, 1}, "row_major"},
      {"bias", ElementType::BF16, {256}, "row_major"},
      {"result", ElementType::BF16, {2, columns}, "row_major"}};
  problem.attributes = {{"epilogue", std::string(epilogue)},
                        {"accumulation", std::string("f32")},
                        {"x_block_scale", std::string("1x128:f32")},
                        {"weight_block_scale", std::string("128x128:f32")}};
  return problem;
}

Problem rowsProblem(std::vector<int64_t> shape, int64_t rows, int64_t columns) {
  Problem problem;
  problem.family = "elementwise";
  problem.operation = "cast";
  problem.dimensions = {{"M", rows}, {"N", columns}};
  problem.operands = {{"x", ElementType::F32, shape, "row_major"},
                      {"result", ElementType::BF16, shape, "row_major"}};
  return problem;
}

Problem convertProblem(std::vector<int64_t> shape,
                       std::map<std::string, int64_t> dimensions) {
  Problem problem;
  problem.family = "layout";
  problem.operation = "layout_convert";
  problem.dimensions = std::move(dimensions);
  problem.operands = {{"x", ElementType::F32, shape, "row_major"},
                      {"result", ElementType::F32, shape, "row_major"}};
  return problem;
}
} // namespace

TEST(Operations, RoutesFitTogether) {
  EXPECT_THAT(verifyOperation(routeProblem()), IsEmpty());
  struct Case {
    void (*damage)(Problem &);
    const char *fault;
  };
  const Case cases[] = {
      {[](Problem &p) { p.dimensions["TOPK"] = 9; },
       "problem: expected S == TOPK + SHARED, as netra.route has it, found S = "
       "9, SHARED = 1, TOPK = 9"},
      {[](Problem &p) { p.dimensions["GROUPS"] = 3; },
       "problem: expected TOPGROUPS <= GROUPS, as netra.route has it, found "
       "GROUPS = 3, TOPGROUPS = 4"},
      {[](Problem &p) { p.dimensions["GROUPS"] = 5; },
       "problem: expected E % GROUPS == 0, as netra.route has it, found E = "
       "256, GROUPS = 5"},
      {[](Problem &p) { p.dimensions["TOPGROUPS"] = 0; },
       "problem: expected 1 <= TOPGROUPS, as netra.route has it, found "
       "TOPGROUPS = 0"},
      {[](Problem &p) { p.attributes["shared_expert"] = std::string("one"); },
       "problem: expected HAS_SHARED_GATE == GATED, as netra.route has it, "
       "found GATED = 0, HAS_SHARED_GATE = 1"},
      {[](Problem &p) { p.dimensions["E"] = 128; },
       "operand logits: expected shape [M, E], [2, 128], found [2, 256]"},
      {[](Problem &p) { p.operands.erase(p.operands.begin()); },
       "problem: expected HAS_LOGITS + HAS_WEIGHT == 1, as netra.route has it, "
       "found HAS_LOGITS = 0, HAS_WEIGHT = 0"},
      // The gate needs x, and K is that of x.
      {[](Problem &p) { p.operands.erase(p.operands.begin() + 1); },
       "problem: expected HAS_X == 1 || K == 0, as netra.route has it, found "
       "HAS_X = 0, K = 64"},
  };
  for (const Case &c : cases) {
    Problem problem = routeProblem();
    c.damage(problem);
    EXPECT_THAT(verifyOperation(problem), testing::Contains(c.fault));
  }
}

TEST(Operations, GatedProductsHaveHalfOfTheColumns) {
  EXPECT_THAT(verifyOperation(denseProblem("none", 256)), IsEmpty());
  EXPECT_THAT(verifyOperation(denseProblem("gated_silu", 128)), IsEmpty());
  EXPECT_THAT(verifyOperation(denseProblem("silu", 128)),
              ElementsAre("operand result: expected shape [M, N / PARTS], [2, "
                          "256], found [2, 128]"));
  EXPECT_THAT(verifyOperation(denseProblem("gated_gelu_tanh", 256)),
              ElementsAre("operand result: expected shape [M, N / PARTS], [2, "
                          "128], found [2, 256]"));
  Problem half = denseProblem("none", 256);
  half.attributes.erase("x_block_scale");
  EXPECT_THAT(verifyOperation(half),
              ElementsAre("operand x_scale: expected none without "
                          "x_block_scale, found one"));
  half.operands.erase(half.operands.begin() + 2);
  EXPECT_THAT(verifyOperation(half),
              ElementsAre("problem: expected HAS_X_SCALE == HAS_WEIGHT_SCALE, "
                          "as netra.dense has it, found HAS_WEIGHT_SCALE = 1, "
                          "HAS_X_SCALE = 0"));
}

/// Elementwise operations see rows of any rank, conversions matrices.
TEST(Operations, LeadingExtentsMayBeSeveral) {
  EXPECT_THAT(verifyOperation(rowsProblem({2, 3, 8}, 6, 8)), IsEmpty());
  EXPECT_THAT(verifyOperation(rowsProblem({8}, 1, 8)), IsEmpty());
  EXPECT_THAT(verifyOperation(rowsProblem({}, 1, 1)), IsEmpty());
  EXPECT_THAT(verifyOperation(rowsProblem({2, 3, 8}, 3, 16)),
              ElementsAre("operand x: expected rows and columns [M, N], [3, "
                          "16], found [2, 3, 8]",
                          "operand result: expected rows and columns [M, N], "
                          "[3, 16], found [2, 3, 8]"));
  EXPECT_THAT(verifyOperation(convertProblem(
                  {4, 3, 16, 32}, {{"B", 12}, {"M", 16}, {"N", 32}})),
              IsEmpty());
  EXPECT_THAT(
      verifyOperation(convertProblem({32}, {{"B", 1}, {"M", 1}, {"N", 32}})),
      IsEmpty());
  EXPECT_EQ(verifyOperation(
                convertProblem({4, 16, 32}, {{"B", 1}, {"M", 64}, {"N", 32}}))
                .size(),
            2u);
}

/// Extents whose products do not fit 64 bits are none of an expression's.
TEST(Operations, ProductsThatOverflowAreFaults) {
  Problem problem;
  problem.family = "norm";
  problem.operation = "gated_rms_norm";
  int64_t large = int64_t(1) << 40;
  problem.dimensions = {{"M", 1}, {"H", large}, {"N", large}};
  for (const char *role : {"x", "gate", "result"})
    problem.operands.push_back(
        {role, ElementType::BF16, {1, large}, "row_major"});
  problem.operands.push_back(
      {"weight", ElementType::BF16, {large}, "row_major"});
  problem.attributes = {{"epsilon", 0.0},
                        {"weight_offset", 0.0},
                        {"activation", std::string("silu")},
                        {"accumulation", std::string("f32")}};
  std::vector<std::string> faults = verifyOperation(problem);
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_THAT(faults[0],
              testing::StartsWith("operand x: expected a value of H * N, "));
  EXPECT_THAT(faults[0], testing::HasSubstr("the result does not fit 64 bits"));
}

/// What manifests wait for, operations have.
TEST(Operations, ShippedTacticsAreOfThem) {
  Catalog catalog =
      llvm::cantFail(Catalog::load(NETRA_TEST_SOURCE_DIR, "gfx950"));
  for (const Tactic &tactic : catalog.tactics()) {
    const OperationDefinition *operation =
        findOperation(tactic.family, tactic.operation);
    ASSERT_TRUE(operation) << tactic.name;
    std::set<std::string> dimensions(operation->dimensions.begin(),
                                     operation->dimensions.end());
    for (const auto &[name, match] : tactic.dimensions)
      EXPECT_EQ(dimensions.erase(name), 1u) << tactic.name << " " << name;
    EXPECT_THAT(dimensions, IsEmpty()) << tactic.name;
    std::map<std::string, bool> roles;
    for (const OperandDefinition &operand : operation->operands)
      roles[operand.role] = operand.isOptional;
    for (const auto &[role, match] : tactic.operands) {
      ASSERT_TRUE(roles.count(role)) << tactic.name << " " << role;
      EXPECT_TRUE(roles.at(role) || !match.optional)
          << tactic.name << " " << role;
      roles.erase(role);
    }
    for (const auto &[role, isOptional] : roles)
      EXPECT_TRUE(isOptional) << tactic.name << " " << role;
    for (const std::string &name : operation->attributes)
      EXPECT_TRUE(tactic.attributes.count(name)) << tactic.name << " " << name;
    for (const auto &[name, match] : tactic.attributes)
      EXPECT_TRUE(llvm::is_contained(operation->attributes, name) ||
                  llvm::is_contained(operation->optionalAttributes, name))
          << tactic.name << " " << name;
  }
}

/// The table uses only attributes that the vocabulary has.
TEST(Operations, DefinitionsAreWhole) {
  for (const OperationDefinition &operation : allOperations()) {
    for (const auto *names :
         {&operation.attributes, &operation.optionalAttributes})
      for (const std::string &name : *names)
        EXPECT_TRUE(findAttribute(name)) << operation.name << " " << name;
    for (const OperandDefinition &operand : operation.operands)
      if (!operand.scales.empty()) {
        EXPECT_TRUE(
            llvm::is_contained(operation.attributes, operand.blockScale) ||
            llvm::is_contained(operation.optionalAttributes,
                               operand.blockScale))
            << operation.name << " " << operand.role;
        EXPECT_TRUE(llvm::any_of(operation.operands,
                                 [&](const OperandDefinition &other) {
                                   return other.role == operand.scales;
                                 }))
            << operation.name << " " << operand.role;
      }
    EXPECT_TRUE(llvm::any_of(
        operation.operands,
        [](const OperandDefinition &operand) { return operand.isResult; }))
        << operation.name;
  }
}
