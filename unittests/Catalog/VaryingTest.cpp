//===- VaryingTest.cpp - Kernels whose launches follow a serving point ----===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TestTactic.h"

#include "gmock/gmock.h"

using namespace netra;
using namespace netra::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

const nlohmann::json rows = nlohmann::json::array({"M"});

Tactic parse(const nlohmann::json &document) {
  return llvm::cantFail(parseTactic(document.dump(), "t.json"));
}

/// The problem of the tests with M from 1 to its 2.
Problem varyingProblem(uint64_t least = 1) {
  Problem problem = testProblem();
  problem.varying["M"] = Affine(0, {{"m", 1}});
  problem.guards["m"] = {least, uint64_t(problem.dimensions.at("M"))};
  return problem;
}

/// A tactic with changes, one key of the document each, and nothing that
/// varies.
Tactic tacticWith(
    const std::vector<std::pair<const char *, nlohmann::json>> &changes) {
  nlohmann::json document = testTacticJson();
  document.erase("follows");
  document.erase("masks");
  document["arguments"][4].erase("follows");
  for (const auto &[pointer, value] : changes)
    document[nlohmann::json::json_pointer(pointer)] = value;
  return parse(document);
}

std::vector<std::string> mismatches(const Tactic &tactic,
                                    const Problem &problem) {
  std::vector<std::string> lines;
  for (const Mismatch &mismatch : matchTactic(tactic, problem).mismatches)
    lines.push_back(mismatch.str());
  return lines;
}

} // namespace

TEST(Affine, EndsAreThoseOfTheGuards) {
  GuardBox guards = {{"m", {2, 5}}, {"batch", {0, 7}}};
  Affine affine(3, {{"batch", 10}, {"m", 2}});
  EXPECT_EQ(affine.str(), "10 * batch + 2 * m + 3");
  EXPECT_EQ(Affine(0, {{"m", 1}}).str(), "m");
  EXPECT_EQ(Affine(0).str(), "0");
  // All points, one by one.
  uint64_t least = UINT64_MAX, greatest = 0;
  for (uint64_t m = 2; m <= 5; ++m)
    for (uint64_t batch = 0; batch <= 7; ++batch) {
      least = std::min(least, 3 + 10 * batch + 2 * m);
      greatest = std::max(greatest, 3 + 10 * batch + 2 * m);
    }
  EXPECT_EQ(affine.leastOver(guards), least);
  EXPECT_EQ(affine.greatestOver(guards), greatest);
  affine.terms["sequence"] = 1;
  EXPECT_EQ(affine.leastOver(guards), std::nullopt);
  guards["sequence"] = {0, UINT64_MAX};
  EXPECT_EQ(affine.leastOver(guards), 7u);
  EXPECT_EQ(affine.greatestOver(guards), std::nullopt);
}

TEST(Affine, WhatCannotBeLaunchedIsNamedWithItsPoint) {
  auto fault = [](const AffineExtents &grid, GuardRange m,
                  std::array<uint64_t, 3> block = {64, 1, 1}) {
    return findUnlaunchable(grid, block, {{"m", m}}, 65535);
  };
  Affine m(0, {{"m", 1}}), fours(0, {{"m", 4}});
  EXPECT_EQ(fault({m, 1, 1}, {1, 67108863}), "");
  EXPECT_EQ(fault({m, 1, 1}, {1, 67108864}),
            "axis x: expected 1 to 67108863 work-groups, found that m is "
            "67108864 at m = 67108864");
  EXPECT_EQ(fault({m, 1, 1}, {0, 3}),
            "axis x: expected 1 to 67108863 work-groups, found that m is 0 at "
            "m = 0");
  EXPECT_EQ(fault({Affine(1, {{"m", 1}}), 1, 1}, {0, 3}), "");
  EXPECT_EQ(fault({1, fours, 1}, {1, 16383}), "");
  EXPECT_EQ(
      fault({1, fours, 1}, {1, 16384}),
      "axis y: expected 1 to 65535 work-groups, found that 4 * m is 65536 "
      "at m = 16384");
  EXPECT_EQ(fault({1, 1, m}, {1, 65536}).substr(0, 6), "axis z");
  EXPECT_THAT(fault({1, fours, 1}, {1, uint64_t(1) << 62}),
              HasSubstr("4 * m is more than 64 bits hold at m = 461168601842738"
                        "7904"));
  EXPECT_THAT(fault({0, 1, 1}, {1, 2}), HasSubstr("found that 0 is 0"));
}

TEST(Expression, LinearFormsAgreeWithNumbersAtEveryPoint) {
  struct Case {
    const char *text;
    bool isLinear;
  };
  const Case cases[] = {
      {"M", true},
      {"3 * M + 4 * B - 2 * M", true},
      {"(M + B) * K", true},
      {"K * (M - 1) - M * K", true}, // what varies cancels out
      {"ceildiv(M * K, 4)", true},
      {"floordiv(M * K + 3, 8)", true},
      {"M * K / 8", true},
      {"-M + B", true},
      {"ceildiv(K, 3) * M", true},
      {"(K == 8) * M + (K != 8 && M > 2)", true},
      {"M * 0 * B", true},
      {"M * B", false},
      {"ceildiv(M, 2)", false},
      {"M / 3", false},
      {"K / M", false},
      {"min(M, B)", false},
      {"M == 4", false},
      {"M % 2", false},
      {"!M", false},
  };
  for (const Case &c : cases) {
    Expression expression = llvm::cantFail(Expression::parse(c.text));
    auto form = expression.evaluateLinear(
        [](llvm::StringRef name) -> llvm::Expected<Expression::Linear> {
          if (name == "K")
            return Expression::Linear{8, {}};
          return Expression::Linear{0, {{name.str(), 1}}};
        });
    ASSERT_EQ(static_cast<bool>(form), c.isLinear) << c.text;
    if (!form) {
      EXPECT_THAT(llvm::toString(form.takeError()),
                  HasSubstr("no sum of a constant and whole multiples"));
      continue;
    }
    for (int64_t m = 0; m != 6; ++m)
      for (int64_t b = 0; b != 6; ++b) {
        int64_t value = form->constant;
        for (const auto &[name, factor] : form->terms)
          value += factor * (name == "M" ? m : b);
        EXPECT_EQ(value, llvm::cantFail(expression.evaluate(
                             {{"M", m}, {"B", b}, {"K", 8}})))
            << c.text;
      }
  }
  auto overflow =
      llvm::cantFail(Expression::parse("9223372036854775807 * (M + 2)"))
          .evaluateLinear([](llvm::StringRef) {
            return Expression::Linear{0, {{"M", 1}}};
          });
  EXPECT_THAT(llvm::toString(overflow.takeError()), HasSubstr("64 bits"));
}

TEST(Varying, OneExtentIsNotARange) {
  EXPECT_THAT(
      mismatches(tacticWith({}), varyingProblem()),
      ElementsAre("dimension M: expected one extent, as the tactic neither "
                  "follows nor masks it, found 1 to 2 at launch (m)"));
}

TEST(Varying, TheGridFollows) {
  Tactic tactic = tacticWith({{"/follows", rows}});
  Candidate candidate = matchTactic(tactic, varyingProblem());
  ASSERT_THAT(mismatches(tactic, varyingProblem()), ElementsAre());
  const Contract &contract = candidate.instance.contract;
  Affine m(0, {{"m", 1}});
  EXPECT_THAT(contract.grid, ElementsAre(8u, m, 1u));
  EXPECT_EQ(contract.greatestGrid(), (std::array<uint32_t, 3>{8, 2, 1}));
  EXPECT_FALSE(contract.graphCapture);
  // An argument that does not follow keeps the greatest, as a stride does.
  EXPECT_EQ(contract.arguments[4].bits, 2u);
  EXPECT_FALSE(contract.arguments[4].follows);
  Contract again = llvm::cantFail(Contract::fromJson(contract.toJson()));
  EXPECT_TRUE(again == contract);
  EXPECT_NE(contract.id(),
            matchTactic(tactic, testProblem()).instance.contract.id());
  // Without guards nothing follows.
  EXPECT_THAT(matchTactic(tactic, testProblem()).instance.contract.grid,
              ElementsAre(8u, 2u, 1u));
}

TEST(Varying, ArgumentsFollow) {
  Tactic tactic = tacticWith({{"/masks", rows},
                              {"/arguments/4/value", "3 * M + 1"},
                              {"/arguments/4/follows", true}});
  Candidate candidate = matchTactic(tactic, varyingProblem());
  ASSERT_THAT(mismatches(tactic, varyingProblem()), ElementsAre());
  const Contract &contract = candidate.instance.contract;
  EXPECT_THAT(contract.grid, ElementsAre(8u, 2u, 1u)); // the full one
  EXPECT_EQ(contract.arguments[4].bits, 7u);
  EXPECT_EQ(contract.arguments[4].follows, Affine(1, {{"m", 3}}));
  EXPECT_TRUE(llvm::cantFail(Contract::fromJson(contract.toJson())) ==
              contract);
}

TEST(Varying, WhatCannotFollowIsRefused) {
  struct Case {
    std::vector<std::pair<const char *, nlohmann::json>> changes;
    const char *part;
    uint64_t least = 1;
  };
  const Case cases[] = {
      {{{"/follows", rows}, {"/launch/grid/1", 1}},
       "launch grid: expected what follows m, as dimension M does, found "
       "constants"},
      {{{"/masks", rows}},
       "arguments: expected what follows m, as dimension M does, found "
       "constants"},
      {{{"/follows", rows}, {"/launch/grid/1", "ceildiv(M, 2)"}},
       "launch grid y: expected what follows m 1..2, found expression "
       "\"ceildiv(M, 2)\", column 1: the result is no sum"},
      // Through a constant as well.
      {{{"/follows", rows},
        {"/constants/HALF", "ceildiv(M, 2)"},
        {"/launch/grid/1", "M * HALF"}},
       "launch grid y: expected what follows m 1..2"},
      {{{"/follows", rows}, {"/launch/grid/1", "3 - M"}},
       "launch grid y: expected a sum of what is not negative"},
      {{{"/follows", rows}, {"/match/dimensions/M/min", 0}},
       "axis y: expected 1 to 65535 work-groups, found that m is 0 at m = 0",
       0},
      {{{"/follows", rows}, {"/match/dimensions/M", {{"min", 2}}}},
       "dimension M: expected at least 2, found 1 to 2 at launch (m)"},
      {{{"/follows", rows}, {"/match/dimensions/M", {1, 2}}},
       "dimension M: expected one of 1, 2, found 1 to 2"},
      {{{"/follows", rows}, {"/match/dimensions/M/multiple_of", 2}},
       "dimension M: expected 1 to 4 and a multiple of 2, found 1 to 2"},
  };
  for (const Case &c : cases) {
    std::vector<std::string> lines =
        mismatches(tacticWith(c.changes), varyingProblem(c.least));
    ASSERT_FALSE(lines.empty()) << c.part;
    EXPECT_THAT(lines[0], HasSubstr(c.part));
  }
}

TEST(Varying, ProblemsAndContractsAreChecked) {
  Contract contract = matchTactic(tacticWith({{"/masks", rows},
                                              {"/arguments/4/follows", true}}),
                                  varyingProblem())
                          .instance.contract;
  nlohmann::json good = nlohmann::json::parse(contract.toJson());
  struct Case {
    const char *pointer;
    nlohmann::json value;
    const char *part;
  };
  nlohmann::json m = {{"constant", 0}, {"m", 1}};
  const Case cases[] = {
      {"/problem/varying/M", 2, "varying M: expected what follows a guard"},
      {"/problem/varying/M/m", 2, "up to the extent of a dimension"},
      {"/problem/varying/M/m", 0, "/problem/varying/M/m: expected"},
      {"/problem/varying/M/heads", 1, "unknown key \"heads\""},
      {"/problem/varying/X", m, "varying X: expected"},
      {"/problem/guards/m", {2, 2}, "guard m: expected a range of several"},
      {"/problem/guards/m", {1}, "/problem/guards/m: expected an array of 2"},
      {"/problem/guards/batch", {1, 4}, "guard batch: expected"},
      {"/problem/guards/heads", {1, 4}, "one of the guards m, batch"},
      {"/grid/0", {{"constant", 0}, {"batch", 1}}, "grid: axis x: expected"},
      {"/grid/0", {{"constant", 1}}, "/grid/0: expected a number, or a factor"},
      {"/grid/0", {{"constant", 4294967295}, {"m", 1}}, "grid: axis x"},
      {"/arguments/4/follows", 2, "/arguments/4/follows: expected an object"},
      {"/arguments/4/bits", 3, "argument rows: expected a value whose bits"},
      {"/arguments/4/kind", "pointer", "argument rows: expected a value whose"},
  };
  for (const Case &c : cases) {
    nlohmann::json document = good;
    document[nlohmann::json::json_pointer(c.pointer)] = c.value;
    auto read = Contract::fromJson(document.dump());
    ASSERT_FALSE(static_cast<bool>(read)) << c.pointer;
    EXPECT_THAT(llvm::toString(read.takeError()), HasSubstr(c.part))
        << c.pointer;
  }
}
