//===- DecisionTest.cpp - Decision tables against brute force -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Decision.h"
#include "Netra/Catalog/Catalog.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>

using namespace netra;
using testing::HasSubstr;

namespace {

constexpr uint64_t huge = UINT64_MAX;

std::string failure(std::vector<DecisionPlan> plans,
                    std::vector<GuardBox> domain = {}) {
  llvm::Expected<DecisionTable> table = compileDecisions(plans, domain);
  return table ? "" : llvm::toString(table.takeError());
}

DecisionTable compile(std::vector<DecisionPlan> plans,
                      std::vector<GuardBox> domain = {}) {
  return llvm::cantFail(compileDecisions(plans, domain));
}

/// Nodes as the header promises them.
void checkForm(const DecisionTable &table, size_t plans) {
  ASSERT_FALSE(table.nodes.empty());
  for (size_t i = 0; i != table.nodes.size(); ++i) {
    const DecisionNode &node = table.nodes[i];
    ASSERT_LT(node.dimension, guardCount);
    ASSERT_GE(node.cases.size(), i ? 2u : 1u);
    EXPECT_EQ(node.cases[0].from, 0u);
    for (size_t j = 0; j != i; ++j)
      EXPECT_FALSE(table.nodes[j] == node) << j << " and " << i;
    for (size_t c = 0; c != node.cases.size(); ++c) {
      const DecisionCase &next = node.cases[c];
      if (c) {
        EXPECT_GT(next.from, node.cases[c - 1].from);
      }
      if (next.kind == DecisionCase::Kind::Plan) {
        EXPECT_LT(next.index, plans);
      } else if (next.kind == DecisionCase::Kind::Node) {
        ASSERT_GT(next.index, i);
        ASSERT_LT(next.index, table.nodes.size());
        EXPECT_GT(table.nodes[next.index].dimension, node.dimension);
      } else {
        EXPECT_EQ(next.index, 0u);
      }
    }
  }
}

/// All plans of the highest priority among those that admit the point, found
/// without a table.
std::vector<uint64_t> best(const std::vector<DecisionPlan> &plans,
                           const ServingPoint &point) {
  std::vector<uint64_t> result;
  for (size_t i = 0; i != plans.size(); ++i) {
    bool admits = true;
    for (size_t d = 0; d != guardCount; ++d)
      if (auto guard = plans[i].guards.find(guardNames[d].str());
          guard != plans[i].guards.end())
        admits &=
            point[d] >= guard->second.min && point[d] <= guard->second.max;
    if (!admits)
      continue;
    if (!result.empty() && plans[i].priority > plans[result[0]].priority)
      result.clear();
    if (result.empty() || plans[i].priority == plans[result[0]].priority)
      result.push_back(i);
  }
  return result;
}

TEST(DecisionTest, RandomGuardsAgreeWithBruteForce) {
  // Few values per dimension, so that all points can be tried.
  constexpr uint64_t extent = 4;
  std::mt19937_64 random(20240611);
  auto below = [&](uint64_t limit) { return random() % limit; };
  unsigned accepted = 0, ambiguous = 0, unused = 0, gaps = 0;
  for (unsigned round = 0; round != 500; ++round) {
    std::vector<DecisionPlan> plans(1 + below(6));
    for (size_t i = 0; i != plans.size(); ++i) {
      plans[i].name = "p" + std::to_string(i);
      plans[i].priority = int64_t(below(round % 2 ? 3 : 50)) - 1;
      for (llvm::StringRef name : guardNames) {
        uint64_t a = below(extent), b = below(extent);
        if (below(2))
          plans[i].guards[name.str()] = {std::min(a, b), std::max(a, b)};
      }
    }
    GuardBox domain;
    for (llvm::StringRef name : guardNames) {
      uint64_t a = below(extent), b = below(extent);
      domain[name.str()] = {std::min(a, b), std::max(a, b)};
    }
    bool twice = false, gap = false;
    std::set<uint64_t> chosen;
    std::vector<std::pair<ServingPoint, std::vector<uint64_t>>> expected;
    // One value more, which only absent guards admit.
    constexpr uint64_t values = extent + 1;
    for (uint64_t code = 0; code != values * values * values * values * values;
         ++code) {
      ServingPoint point;
      uint64_t rest = code;
      for (uint64_t &value : point) {
        value = rest % values;
        rest /= values;
      }
      std::vector<uint64_t> wanted = best(plans, point);
      twice |= wanted.size() > 1;
      bool inside = true;
      for (size_t d = 0; d != guardCount; ++d)
        inside &= domain[guardNames[d].str()].contains(point[d]);
      gap |= inside && wanted.empty();
      chosen.insert(wanted.begin(), wanted.end());
      expected.emplace_back(point, std::move(wanted));
    }
    bool hasUnused = chosen.size() != plans.size();
    auto table = compileDecisions(plans, {});
    ASSERT_EQ(bool(table), !twice && !hasUnused) << round;
    if (!table) {
      std::string text = llvm::toString(table.takeError());
      EXPECT_EQ(llvm::StringRef(text).contains("both of priority"), twice);
      if (!twice) {
        EXPECT_THAT(text, HasSubstr("what no plan of a higher priority does"));
      }
      (twice ? ambiguous : unused) += 1;
      continue;
    }
    ++accepted;
    checkForm(*table, plans.size());
    for (const auto &[point, wanted] : expected) {
      std::optional<uint64_t> found = table->choose(point);
      ASSERT_EQ(found.has_value(), !wanted.empty())
          << testing::PrintToString(point);
      if (found) {
        ASSERT_EQ(*found, wanted[0]) << testing::PrintToString(point);
      }
    }
    std::string text = failure(plans, {domain});
    EXPECT_EQ(llvm::StringRef(text).contains("found none that admits"), gap)
        << text;
    gaps += gap;
  }
  // The generator reaches every outcome often enough to mean something.
  EXPECT_GT(accepted, 50u);
  EXPECT_GT(ambiguous, 50u);
  EXPECT_GT(unused, 15u);
  EXPECT_GT(gaps, 15u);
}

TEST(DecisionTest, ThePointOfARefusalIsAdmittedByBoth) {
  std::string text =
      failure({{"a", 7, {{"m", {1, 8}}, {"batch", {4, 64}}}},
               {"b", 7, {{"m", {8, 16}}, {"sequence", {10, 20}}}}});
  EXPECT_EQ(text, "expected one plan for each serving point, found that a and "
                  "b, both of priority 7, admit m=8, batch=4, sequence=10; "
                  "give one of them a higher priority or other guards");
  // A plan above both settles it where they meet.
  EXPECT_EQ(failure({{"a", 7, {{"m", {1, 8}}}},
                     {"b", 7, {{"m", {8, 16}}}},
                     {"c", 8, {{"m", {8, 8}}}}}),
            "");
}

TEST(DecisionTest, APlanThatIsNeverTakenIsRefused) {
  EXPECT_EQ(failure({{"low", 1, {{"m", {1, 4}}}},
                     {"left", 2, {{"m", {0, 2}}}},
                     {"right", 3, {{"m", {3, huge}}}},
                     {"apart", 4, {{"m", {9, 9}}}}}),
            "expected guards that admit what no plan of a higher priority "
            "does, found that everything of low goes to left, right");
  EXPECT_THAT(failure({{"none", 1, {{"m", {5, 4}}}}}),
              HasSubstr("found that nothing meets the guards of none"));
}

TEST(DecisionTest, TheDomainMustBeServed) {
  std::vector<DecisionPlan> plans = {
      {"one", 1, {{"m", {1, 1}}, {"batch", {1, 64}}}},
      {"some", 1, {{"m", {2, 8}}, {"batch", {1, 32}}}}};
  EXPECT_EQ(failure(plans, {{{"m", {1, 8}}, {"batch", {1, 32}}}}), "");
  EXPECT_EQ(failure(plans, {{{"m", {1, 8}}, {"batch", {1, 33}}}}),
            "expected a plan for all of the domain (m 1..8, batch 1..33), "
            "found none that admits m=2, batch=33");
  EXPECT_THAT(failure(plans, {{{"m", {1, 1}}}}), HasSubstr("m=1, batch=0"));
  // A dimension that nobody bounds has any value, and is not told; one that
  // the domain alone bounds is.
  EXPECT_EQ(failure(plans, {{{"m", {9, 9}},
                             {"batch", {1, 1}},
                             {"tensor_parallel", {2, 4}}}}),
            "expected a plan for all of the domain (m 9, batch 1, "
            "tensor_parallel 2..4), found none that admits m=9, batch=1, "
            "tensor_parallel=2");
  // Where nobody bounds any, all points are alike.
  EXPECT_THAT(failure({{"a", 7, {}}, {"b", 7, {}}}),
              HasSubstr("found that a and b, both of priority 7, admit any; "));
  EXPECT_THAT(failure(plans, {{}}), HasSubstr("(any)"));
}

TEST(DecisionTest, EndsOfTheRange) {
  DecisionTable table = compile({{"zero", 1, {{"m", {0, 0}}}},
                                 {"top", 1, {{"m", {huge, huge}}}},
                                 {"half", 1, {{"m", {5, huge - 1}}}}});
  EXPECT_EQ(table.choose({0, 9, 9, 9, 9}), 0u);
  EXPECT_EQ(table.choose({huge, huge, 0, 0, 0}), 1u);
  EXPECT_EQ(table.choose({huge - 1, 0, 0, 0, 0}), 2u);
  EXPECT_EQ(table.choose({4, 0, 0, 0, 0}), std::nullopt);
  // One plan for everything is one node with one case.
  DecisionTable any = compile({{"any", 1, {{"m", {0, huge}}}}}, {{}});
  ASSERT_EQ(any.nodes.size(), 1u);
  EXPECT_EQ(any.nodes[0].cases.size(), 1u);
  EXPECT_EQ(any.choose({huge, 0, 3, 0, 0}), 0u);
  EXPECT_EQ(DecisionTable().choose({1, 1, 1, 1, 1}), std::nullopt);
}

TEST(DecisionTest, TheProfilesOfTheCatalogueShareOneTable) {
  Catalog catalog =
      llvm::cantFail(Catalog::load(Catalog::findLibraryRoot(), "gfx950"));
  std::vector<DecisionPlan> plans;
  for (const ServingProfile &profile : catalog.profiles())
    plans.push_back({profile.name, profile.priority, profile.guards});
  ASSERT_GE(plans.size(), 13u);
  DecisionTable table = compile(plans);
  checkForm(table, plans.size());
  auto choose = [&](ServingPoint point) -> std::string {
    std::optional<uint64_t> found = table.choose(point);
    return found ? plans[*found].name : "";
  };
  EXPECT_EQ(choose({1, 64, 1048576, 8, 1}), "decode_m1");
  EXPECT_EQ(choose({1, 65, 0, 8, 1}), "");
  EXPECT_EQ(choose({16, 16, 32768, 0, 1}), "decode_m16_b16");
  EXPECT_EQ(choose({16, 16, 32769, 0, 1}), "verify_m16");
  EXPECT_EQ(choose({12, 64, 5, 768, 1}), "verify_m12_b64_routes768");
  EXPECT_EQ(choose({12, 64, 5, 769, 1}), "verify_m12");
  EXPECT_EQ(choose({12, 1, 5, 768, 1}), "verify_m12_b1");
  EXPECT_EQ(choose({8, 128, 0, 0, 1}), "verify_m8");
  EXPECT_EQ(choose({8, 129, 0, 0, 1}), "verify_m8_b129_192");
  EXPECT_EQ(choose({3840, 15, 0, 0, 1}), "prefill_m3840_b15");
  EXPECT_EQ(choose({2, 1, 0, 0, 1}), "");
}

TEST(DecisionTest, HostileGuardsEnd) {
  std::vector<DecisionPlan> plans;
  std::mt19937_64 random(7);
  for (uint64_t i = 0; i != 60; ++i) {
    DecisionPlan plan{"p" + std::to_string(i), int64_t(i), {}};
    for (llvm::StringRef name : guardNames) {
      uint64_t min = random() % 1000;
      plan.guards[name.str()] = {min, min + random() % 1000};
    }
    plans.push_back(std::move(plan));
  }
  EXPECT_THAT(failure(plans), HasSubstr("into at most 8192 parts, found more"));
}

TEST(DecisionTest, BoxesInWords) {
  GuardBox box = llvm::cantFail(parseGuardBox("m=1..16:batch=4"));
  EXPECT_EQ(box, (GuardBox{{"m", {1, 16}}, {"batch", {4, 4}}}));
  EXPECT_EQ(toString(box), "m 1..16, batch 4");
  EXPECT_TRUE(contains(box, {16, 4, 9, 9, 9}));
  EXPECT_FALSE(contains(box, {17, 4, 9, 9, 9}));
  auto fault = [](llvm::StringRef text) {
    llvm::Expected<GuardBox> box = parseGuardBox(text);
    return box ? "" : llvm::toString(box.takeError());
  };
  EXPECT_THAT(fault(""), HasSubstr("expected guards like m=1..16:batch=1 on"));
  EXPECT_THAT(fault("rows=1"), HasSubstr("found \"rows=1\""));
  for (const char *value : {"", "x", "2..1", "1..", "..2", "-1", "1...2"})
    EXPECT_THAT(fault(std::string("m=") + value),
                HasSubstr("expected a value or a range MIN..MAX of m, found"))
        << value;
  EXPECT_THAT(fault("m=1:m=2"), HasSubstr("found m twice"));
}

} // namespace
