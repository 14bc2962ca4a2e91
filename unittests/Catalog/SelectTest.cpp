//===- SelectTest.cpp - Matching and instances ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TestTactic.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <functional>

using namespace netra;
using namespace netra::test;
using testing::ElementsAre;
using testing::HasSubstr;

static Tactic parse(const nlohmann::json &document) {
  return llvm::cantFail(parseTactic(document.dump(), "t.json"));
}

static const Tactic &testTactic() {
  static const Tactic tactic =
      llvm::cantFail(parseTactic(tacticText, "t.json"));
  return tactic;
}

static std::vector<std::string> mismatches(const Problem &problem,
                                           const Tactic &tactic = testTactic(),
                                           SelectOptions options = {}) {
  std::vector<std::string> lines;
  for (const Mismatch &mismatch :
       matchTactic(tactic, problem, options).mismatches)
    lines.push_back(mismatch.str());
  return lines;
}

TEST(Match, InstanceHasEverything) {
  Candidate candidate = matchTactic(testTactic(), testProblem());
  ASSERT_TRUE(candidate.matches());
  const Instance &instance = candidate.instance;
  EXPECT_EQ(instance.options.at("WAVES"), 4);
  EXPECT_EQ(instance.options.at("DEPTH"), 2);
  EXPECT_EQ(instance.symbol, "netra_test_n64_k512_w4_silu_b1");
  std::map<std::string, int64_t> constants = {
      {"M", 2},        {"N", 64},       {"K", 512},    {"WAVES", 4},
      {"DEPTH", 2},    {"EPILOGUE", 1}, {"FP8", 0},    {"CHUNKS", 2},
      {"HAS_BIAS", 1}, {"ROWS", 8},     {"TILES", 16}, {"EPSILON", 897988541}};
  EXPECT_EQ(instance.constants, constants);
  EXPECT_EQ(instance.vgprs, 18u);
  const Contract &contract = instance.contract;
  EXPECT_THAT(contract.grid, ElementsAre(8u, 2u, 1u));
  EXPECT_THAT(contract.block, ElementsAre(256u, 1u, 1u));
  EXPECT_EQ(contract.staticLds, 128u);
  EXPECT_EQ(contract.workspaceBytes, 512u);
  // Natural alignment in order: 4 pointers, i32, pad, pointer, f32, pad, f64,
  // pointer.
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const Argument &argument : contract.arguments)
    places.emplace_back(argument.offset, argument.bytes);
  using Place = std::pair<uint64_t, uint64_t>;
  EXPECT_THAT(places, ElementsAre(Place(0, 8), Place(8, 8), Place(16, 8),
                                  Place(24, 8), Place(32, 4), Place(40, 8),
                                  Place(48, 4), Place(56, 8), Place(64, 8)));
  EXPECT_EQ(contract.kernargBytes, 72u);
  EXPECT_EQ(contract.arguments[2].operandOffset, 64u / 2 * 512);
  EXPECT_EQ(contract.arguments[4].bits, 2u);
  EXPECT_EQ(contract.arguments[6].bits, 0x358637bdu);
  EXPECT_EQ(contract.arguments[7].bits, 0x3ff0000000000000u);
  EXPECT_EQ(contract.arguments[8].type, ElementType::U8);
  EXPECT_EQ(candidate.cost.bytes, 2u * 64 * 512);
  // Products and their sum, the bias, and three of silu.
  EXPECT_EQ(candidate.cost.flop, 2u * 64 * (2 * 512 + 1 + 3));
  EXPECT_EQ(candidate.cost.picoseconds, 8192u); // 65,536 bytes at 8 TB/s
}

TEST(Match, ArgumentsOfAbsentOperandsVanish) {
  Problem problem = testProblem();
  problem.operands.erase(problem.operands.begin() + 2);
  Candidate candidate = matchTactic(testTactic(), problem);
  ASSERT_TRUE(candidate.matches());
  EXPECT_EQ(candidate.instance.contract.arguments.size(), 8u);
  EXPECT_EQ(candidate.instance.contract.kernargBytes, 64u);
  EXPECT_EQ(candidate.instance.constants.at("HAS_BIAS"), 0);
  EXPECT_EQ(candidate.instance.symbol, "netra_test_n64_k512_w4_silu_b0");
}

TEST(Match, EveryMismatchIsRecorded) {
  struct Case {
    std::function<void(Problem &)> change;
    const char *line;
  };
  const Case cases[] = {
      {[](Problem &p) { p.family = "norm"; },
       "family: expected dense, found norm"},
      {[](Problem &p) { p.operation = "sparse"; },
       "operation: expected dense, found sparse"},
      {[](Problem &p) { p.dimensions["M"] = 5; },
       "dimension M: expected 1 to 4, found 5"},
      {[](Problem &p) { p.dimensions["N"] = 4; },
       "dimension N: expected at least 8 and a multiple of 8, found 4"},
      {[](Problem &p) { p.dimensions.erase("K"); },
       "dimension K: expected a multiple of 64, found absent"},
      {[](Problem &p) { p.dimensions["B"] = 2; },
       "dimension B: expected absent, found 2"},
      {[](Problem &p) { p.operands[0].type = ElementType::F16; },
       "operand x type: expected bf16, found f16"},
      {[](Problem &p) { p.operands[1].type = ElementType::F32; },
       "operand weight type: expected bf16 or f8E4M3FN, found f32"},
      {[](Problem &p) { p.operands[1].layout = "group_major"; },
       "operand weight layout: expected row_major or n16k16, found "
       "group_major"},
      {[](Problem &p) { p.operands[0].shape = {2, 511}; },
       "operand x shape: expected [2, 512], found [2, 511]"},
      {[](Problem &p) { p.operands.pop_back(); },
       "operand result: expected bf16 operand, found absent"},
      {[](Problem &p) {
         p.operands.push_back({"residual", ElementType::BF16, {2, 64}});
       },
       "operand residual: expected absent, found 2x64xbf16"},
      {[](Problem &p) { p.attributes["epilogue"] = std::string("gelu"); },
       "attribute epilogue: expected one of none, silu, found gelu"},
      {[](Problem &p) { p.attributes["accumulation"] = std::string("f64"); },
       "attribute accumulation: expected f32, found f64"},
      {[](Problem &p) { p.attributes.erase("epsilon"); },
       "attribute epsilon: expected any value, found absent"},
      {[](Problem &p) { p.attributes["weight_offset"] = 4.0; },
       "attribute weight_offset: expected 0.5 to 2.0, found 4.0"},
      {[](Problem &p) { p.attributes["weight_offset"] = true; },
       "attribute weight_offset: expected 0.5 to 2.0, found true"},
      {[](Problem &p) { p.attributes["extra"] = int64_t(3); },
       "attribute extra: expected absent, found 3"},
  };
  for (const Case &c : cases) {
    Problem problem = testProblem();
    c.change(problem);
    EXPECT_THAT(mismatches(problem), testing::Contains(std::string(c.line)));
  }
  Problem problem = testProblem();
  EXPECT_THAT(mismatches(problem), ElementsAre());
  problem.attributes["epilogue"] = std::string("gelu");
  problem.operands[0].type = ElementType::F16;
  EXPECT_EQ(mismatches(problem).size(), 2u);
}

TEST(Match, Maturity) {
  for (auto [name, byDefault, whenAllowed] :
       {std::tuple("accepted", true, true), std::tuple("verified", true, true),
        std::tuple("experiment", false, true),
        std::tuple("rejected", false, false)}) {
    nlohmann::json document = testTacticJson();
    document["maturity"] = name;
    document["evidence"][0]["kind"] = "device";
    Tactic tactic = parse(document);
    SelectOptions allow;
    allow.allowExperimental = true;
    EXPECT_EQ(mismatches(testProblem(), tactic).empty(), byDefault) << name;
    EXPECT_EQ(mismatches(testProblem(), tactic, allow).empty(), whenAllowed)
        << name;
  }
  SelectOptions other;
  other.target = "gfx1100";
  EXPECT_THAT(mismatches(testProblem(), testTactic(), other),
              ElementsAre("target: expected gfx950, found gfx1100"));
}

TEST(Match, OptionsAreTheFirstCombinationThatWorks) {
  auto options = [&](int64_t k) {
    Candidate candidate = matchTactic(testTactic(), testProblem(64, k));
    EXPECT_TRUE(candidate.matches());
    return std::pair(candidate.instance.options["WAVES"],
                     candidate.instance.options["DEPTH"]);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(options(512), Pair(4, 2));
  EXPECT_EQ(options(256), Pair(4, 1)); // the last option varies fastest
  EXPECT_EQ(options(128), Pair(2, 1));
  EXPECT_EQ(options(192), Pair(1, 2));
  EXPECT_EQ(options(64), Pair(1, 1));
  nlohmann::json document = testTacticJson();
  document["requires"].push_back("K == 0");
  EXPECT_THAT(mismatches(testProblem(), parse(document))[0],
              HasSubstr("requirement: expected"));
}

TEST(Match, InstancesThatCannotBeLaunchedDoNotMatch) {
  struct Case {
    const char *pointer;
    nlohmann::json value;
    const char *part;
  };
  const Case cases[] = {
      {"/launch/grid/0", "N / 7", "launch grid x: expected N / 7, found"},
      {"/launch/grid/1", "M - 2", "launch grid y: expected 1 to"},
      {"/launch/grid/0", "4294967296", "launch grid x: expected 1 to"},
      {"/launch/block/0", 2048, "launch block x: expected 1 to 1024"},
      {"/launch/block/1", 17, "launch block: expected at most 1024 work-items"},
      {"/launch/static_lds", 163841, "launch static LDS: expected 0 to 163840"},
      {"/launch/dynamic_lds", 163840, "launch dynamic LDS: expected 0 to"},
      {"/launch/static_lds", "0 - M", "launch static LDS: expected"},
      {"/workspace/bytes", "0 - M", "workspace: expected"},
      {"/registers/vgprs", 257, "registers vgprs: expected 1 to 256"},
      {"/registers/agprs", 300, "registers agprs: expected 0 to 256"},
      {"/registers/sgprs", 103, "registers sgprs: expected 1 to 102"},
      {"/constants/ROWS", "N / 7", "constant ROWS: expected N / 7"},
      {"/arguments/2/operand_offset", "2 * N * K",
       "argument second_half operand offset: expected less than 65536"},
      {"/arguments/4/value", "2147483648 * M",
       "argument rows: expected a value of type i32, found 4294967296"},
      {"/symbol", "n{weight_offset}", "symbol: expected letters"},
  };
  for (const Case &c : cases) {
    nlohmann::json document = testTacticJson();
    document[nlohmann::json::json_pointer(c.pointer)] = c.value;
    std::vector<std::string> lines = mismatches(testProblem(), parse(document));
    ASSERT_FALSE(lines.empty()) << c.pointer;
    EXPECT_THAT(lines[0], HasSubstr(c.part)) << c.pointer;
  }
}

TEST(Match, InstantiateTakesExactlyTheRecordedOptions) {
  auto fault = [](const std::map<std::string, int64_t> &options,
                  const Problem &problem = testProblem()) {
    auto instance = instantiate(testTactic(), problem, options);
    return instance ? "" : llvm::toString(instance.takeError());
  };
  EXPECT_EQ(fault({{"WAVES", 2}, {"DEPTH", 1}}), "");
  EXPECT_THAT(fault({{"WAVES", 2}}),
              HasSubstr("option DEPTH: expected a value, found none"));
  EXPECT_THAT(fault({{"WAVES", 3}, {"DEPTH", 1}}),
              HasSubstr("option WAVES: expected one of 4, 2, 1, found 3"));
  EXPECT_THAT(fault({{"WAVES", 2}, {"DEPTH", 1}, {"X", 1}}),
              HasSubstr("option X: expected absent, found 1"));
  EXPECT_THAT(fault({{"WAVES", 4}, {"DEPTH", 2}}, testProblem(64, 256)),
              HasSubstr("requirement: expected DEPTH <= K / (64 * WAVES), "
                        "found false for DEPTH = 2, K = 256, WAVES = 4"));
  Instance instance = llvm::cantFail(
      instantiate(testTactic(), testProblem(), {{"WAVES", 4}, {"DEPTH", 2}}));
  EXPECT_EQ(instance.contract.id(),
            matchTactic(testTactic(), testProblem()).instance.contract.id());
}

// Of two orders of the same sums, only the values of the scheme's parameters
// may tell.
TEST(Match, ContractsTellOrdersOfSumsApart) {
  auto contractOf = [](const char *order, int64_t depth) {
    nlohmann::json document = nlohmann::json::parse(tacticText);
    document["/numerics/reduction_order"_json_pointer] = order;
    return llvm::cantFail(instantiate(parse(document), testProblem(),
                                      {{"WAVES", 2}, {"DEPTH", depth}}))
        .contract;
  };
  Contract shallow = contractOf("test.v1(CHUNKS, DEPTH)", 1);
  Contract deep = contractOf("test.v1(CHUNKS, DEPTH)", 2);
  EXPECT_EQ(shallow.numerics.reductionOrder, "test.v1(CHUNKS=4, DEPTH=1)");
  EXPECT_EQ(deep.numerics.reductionOrder, "test.v1(CHUNKS=4, DEPTH=2)");
  EXPECT_NE(shallow.id(), deep.id());
  EXPECT_EQ(contractOf("test.v1(CHUNKS)", 1).id(),
            contractOf("test.v1(CHUNKS)", 2).id());
}
