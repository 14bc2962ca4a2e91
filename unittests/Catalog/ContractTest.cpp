//===- ContractTest.cpp - Problems, contracts and their identity ----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Contract.h"

#include "../Messages.h"
#include "TestTactic.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>

using namespace netra;
using test::message;
using testing::HasSubstr;
using testing::StartsWith;

static Contract testContract() {
  static const Tactic tactic =
      llvm::cantFail(parseTactic(test::tacticText, "test.json"));
  return llvm::cantFail(instantiate(tactic, test::testProblem(),
                                    {{"WAVES", 4}, {"DEPTH", 2}}))
      .contract;
}

TEST(Contract, RoundTrip) {
  Contract contract = testContract();
  EXPECT_THAT(contract.id(), StartsWith("nk_"));
  EXPECT_EQ(contract.id().size(), 27u);
  Contract again = llvm::cantFail(Contract::fromJson(contract.toJson()));
  EXPECT_TRUE(again == contract);
  EXPECT_EQ(again.toJson(), contract.toJson());
  EXPECT_EQ(again.id(), contract.id());
  Problem problem =
      llvm::cantFail(Problem::fromJson(contract.problem.toJson()));
  EXPECT_TRUE(problem == contract.problem);
}

TEST(Contract, CanonicalFormIsSortedJson) {
  Contract contract = testContract();
  contract.numerics.rounding = "a \"quote\", a \\, a\ttab, \x7f and \u00e9";
  contract.problem.attributes["number"] = -0.0;
  contract.problem.attributes["flag"] = true;
  contract.problem.attributes["low"] = std::numeric_limits<int64_t>::min();
  contract.arguments.front().bits = UINT64_MAX;
  // A library of its own reads it, sorts the keys and prints it.
  for (const std::string &text :
       {contract.toJson(), contract.problem.toJson()}) {
    nlohmann::json document = nlohmann::json::parse(text);
    EXPECT_EQ(document.dump(), text);
  }
  nlohmann::json document = nlohmann::json::parse(contract.toJson());
  EXPECT_EQ(document["numerics"]["rounding"], contract.numerics.rounding);
  EXPECT_EQ(document["problem"]["attributes"]["number"]["f64"],
            "0x8000000000000000");
  EXPECT_EQ(document["arguments"][0]["bits"], UINT64_MAX);
}

TEST(Problem, OrderOfOperandsHasNoMeaning) {
  Problem problem = testContract().problem;
  ASSERT_GE(problem.operands.size(), 2u);
  Problem other = problem;
  std::reverse(other.operands.begin(), other.operands.end());
  EXPECT_TRUE(problem == other);
  other.operands.front().layout = "n16k16";
  EXPECT_FALSE(problem == other);
  other = problem;
  other.attributes["zero"] = 0.0;
  problem.attributes["zero"] = -0.0;
  EXPECT_FALSE(problem == other);
}

// ContractPropertyTest.cpp has what the id depends on.
TEST(Contract, CanonicalForm) {
  // The canonical form is a function of the contents, known to other readers:
  // this is what a contract of one argument and no operand looks like.
  Contract small;
  small.target = "gfx950";
  small.problem.family = "f";
  small.problem.operation = "o";
  small.problem.attributes["eps"] = 1.0;
  small.arguments.push_back({"n",
                             ArgumentKind::Value,
                             ElementType::I32,
                             Access::Value,
                             "",
                             0,
                             4,
                             0,
                             7,
                             {}});
  EXPECT_EQ(
      small.toJson(),
      R"({"arguments":[{"access":"value","bits":7,"bytes":4,"kind":"value",)"
      R"("name":"n","offset":0,"operand_offset":0,"role":"","type":"i32"}],)"
      R"("block":[1,1,1],"deterministic":true,"dynamic_lds":0,)"
      R"("format":"netra.contract/1","graph_capture":true,"grid":[1,1,1],)"
      R"("kernarg_bytes":0,"numerics":{"accumulation":"",)"
      R"("reduction_order":"","rounding":""},"problem":{"attributes":)"
      R"({"eps":{"f64":"0x3ff0000000000000"}},"dimensions":{},"family":"f",)"
      R"("operands":[],"operation":"o"},"static_lds":0,"target":"gfx950",)"
      R"("wave_size":64,"workspace":{"alignment":256,"bytes":0}})");
}

TEST(Contract, Sha256IsTheStandardOne) {
  EXPECT_EQ(sha256Hex(llvm::StringRef("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Problem, VerifyListsEveryFault) {
  Problem problem = test::testProblem();
  EXPECT_EQ(llvm::toString(problem.verify()), "");
  problem.family = "Dense";
  problem.operation = "";
  problem.dimensions["k"] = 1;
  problem.dimensions["M"] = -1;
  problem.operands.push_back(problem.operands[0]);
  problem.operands[1].layout = "n16k17";
  problem.operands[2].shape = {-4};
  problem.attributes["Bad"] = true;
  problem.attributes["text"] = std::string("\xff");
  std::string text = llvm::toString(problem.verify());
  for (const char *part :
       {"family", "operation", "dimension \"k\"", "dimension M",
        "operand x: expected each role once", "n16k17", "operand bias",
        "attribute \"Bad\"", "attribute text: expected UTF-8"})
    EXPECT_THAT(text, HasSubstr(part));
  problem = test::testProblem();
  problem.operands[1].layout = "n16k16";
  problem.operands[1].shape = {17, 16};
  EXPECT_THAT(llvm::toString(problem.verify()), HasSubstr("multiples of 16"));
}

TEST(Contract, ReadsStrictly) {
  std::string text = testContract().toJson();
  EXPECT_THAT(message(Contract::fromJson("")), HasSubstr("expected JSON"));
  EXPECT_THAT(message(Contract::fromJson("{}")),
              HasSubstr("expected the key \"format\""));
  nlohmann::json document = nlohmann::json::parse(text);
  auto expect = [&](auto change, const char *part) {
    nlohmann::json copy = document;
    change(copy);
    EXPECT_THAT(message(Contract::fromJson(copy.dump())), HasSubstr(part));
  };
  expect([](auto &d) { d["more"] = 1; }, "unknown key \"more\"");
  expect([](auto &d) { d["grid"][0] = 0; }, "/grid/0");
  expect([](auto &d) { d["block"] = {1, 2}; }, "an array of 3");
  expect([](auto &d) { d["arguments"][0]["kind"] = "float"; },
         "/arguments/0/kind");
  expect([](auto &d) { d["problem"]["attributes"]["epsilon"] = 1e-6; },
         "/problem/attributes/epsilon");
  expect([](auto &d) { d["problem"]["operands"][0]["layout"] = "zz"; },
         "expected one of");
  expect([](auto &d) { d["format"] = "netra.contract/2"; }, "/format");
}

TEST(Contract, AnyBytesAreSurvived) {
  std::string text = testContract().toJson();
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(message(Contract::fromJson(text.substr(0, length))), "");
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    std::string copy = text;
    for (int j = 1 + random() % 4; j > 0; --j)
      copy[random() % copy.size()] = char(random());
    llvm::consumeError(Contract::fromJson(copy).takeError());
  }
}
