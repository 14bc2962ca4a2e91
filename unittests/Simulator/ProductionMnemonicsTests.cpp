//===- ProductionMnemonicsTests.cpp - every mnemonic has a test -----------===//
// SPDX-License-Identifier: MIT
//
// The instructions of ProductionMnemonics.txt must be modelled, and each must
// be run by a test of this program, or be named in a test of another one where
// this one's harness cannot run it.
//
//===----------------------------------------------------------------------===//
#include "InstructionHarness.h"
#include "Netra/Simulator/Coverage.h"

#include <fstream>
#include <map>
#include <sstream>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

std::string textOf(const char *name) {
  std::ifstream in(std::string(NETRA_TEST_SOURCE_DIR "/unittests/Simulator/") +
                   name);
  EXPECT_TRUE(in) << name;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> productionMnemonics() {
  std::istringstream text(textOf("ProductionMnemonics.txt"));
  std::vector<std::string> names;
  for (std::string line; std::getline(text, line);)
    if (!line.empty() && line[0] != '#')
      names.push_back(line);
  return names;
}

/// Whether `text` has `name` as a word.
bool names(const std::string &text, const std::string &name) {
  auto isWord = [](char c) { return std::isalnum(uint8_t(c)) || c == '_'; };
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) {
    const size_t end = at + name.size();
    if ((at == 0 || !isWord(text[at - 1])) &&
        (end == text.size() || !isWord(text[end])))
      return true;
  }
  return false;
}

/// Tests that need more than one instruction, or no instruction's encoding.
const struct {
  const char *prefix, *file, *why;
} elsewhere[] = {
    {"v_mfma_", "MatrixArithmeticTests.cpp", "tested by shape"},
    {"v_smfmac_", "MatrixArithmeticTests.cpp", "tested by shape"},
    {"s_barrier", "ControlTests.cpp", "needs a work-group"},
    {"s_branch", "ControlTests.cpp", "needs a program"},
    {"s_cbranch_", "ControlTests.cpp", "needs a program"},
    {"s_endpgm", "KernelCompiler.cpp", "ends every kernel of the tests"},
    {"s_nop", "CheckerTests.cpp", "a wait state, and nothing else"},
    {"s_set_gpr_idx_", "ControlTests.cpp", "changes those that follow"},
    {"s_setprio", "ControlTests.cpp", "shows in STATUS"},
    {"s_setreg_", "ControlTests.cpp", "changes those that follow"},
    {"s_getreg_", "ControlTests.cpp", "needs a work-group"},
    {"s_setvskip", "ControlTests.cpp", "changes those that follow"},
    {"s_sleep", "ControlTests.cpp", "delays only"},
    {"s_waitcnt", "CheckerTests.cpp", "delays only"},
    {"s_getpc_", "ControlTests.cpp", "needs a program"},
    {"s_setpc_", "ControlTests.cpp", "needs a program"},
    {"s_swappc_", "ControlTests.cpp", "needs a program"},
    {"s_memtime", "ControlTests.cpp", "needs a launch"},
    {"s_memrealtime", "ControlTests.cpp", "needs a launch"},
};

bool isTestedElsewhere(const std::string &name) {
  for (const auto &place : elsewhere)
    if (name.rfind(place.prefix, 0) == 0)
      return names(textOf(place.file), name);
  return false;
}

TEST(ProductionMnemonics, AllAreModelled) {
  const std::vector<std::string> list = productionMnemonics();
  EXPECT_GT(list.size(), 200u);
  for (const std::string &name : list) {
    const auto coverage = mnemonicCoverage(name);
    ASSERT_TRUE(coverage);
    EXPECT_NE(coverage->level, CodeObject::Coverage::Unsupported) << name;
  }
  EXPECT_EQ(mnemonicCoverage("v_no_such_instruction")->level,
            CodeObject::Coverage::Unsupported);
}

TEST(ProductionMnemonics, AreAmongAllOfTheTarget) {
  auto known = knownCoverage();
  ASSERT_TRUE(bool(known)) << llvm::toString(known.takeError());
  std::map<std::string, CodeObject::Coverage::Level> levels;
  for (const CodeObject::Coverage &entry : *known) {
    EXPECT_TRUE(levels.emplace(entry.mnemonic, entry.level).second)
        << entry.mnemonic << " twice";
    EXPECT_EQ(entry.count, 0u);
  }
  for (const std::string &name : productionMnemonics()) {
    llvm::StringRef base = name;
    for (const char *encoding : {"_e32", "_e64", "_dpp", "_sdwa"})
      base.consume_back(encoding);
    EXPECT_TRUE(levels.count(base.str())) << name;
  }
  // Refused, of the family, and of another family.
  EXPECT_EQ(levels.at("s_scratch_load_dwordx4"),
            CodeObject::Coverage::Unsupported);
  EXPECT_EQ(levels.at("v_screen_partition_4se_b32"),
            CodeObject::Coverage::Unsupported);
  EXPECT_EQ(levels.at("v_mfma_f64_16x16x4_f64"), CodeObject::Coverage::Exact);
  EXPECT_FALSE(levels.count("v_add_nc_u32"));
  EXPECT_FALSE(levels.count("s_rfe_i64"));
  EXPECT_FALSE(levels.count("s_cbranch_cdbguser_pad_s_nop"));
}

TEST(ProductionMnemonics, NamesAreFoundAsWords) {
  EXPECT_TRUE(names("x s_nop 0", "s_nop"));
  EXPECT_FALSE(names("s_nop_more", "s_nop"));
  EXPECT_FALSE(names("ds_nop", "s_nop"));
  EXPECT_FALSE(isTestedElsewhere("v_mfma_f32_1x1x1_f32"));
}

/// When all tests of this program have run.
class EveryMnemonicIsTested : public testing::Environment {
  void TearDown() override {
    const testing::UnitTest &all = *testing::UnitTest::GetInstance();
    if (all.test_to_run_count() != all.total_test_count())
      return; // a selection proves nothing
    for (const std::string &name : productionMnemonics())
      EXPECT_TRUE(testedMnemonics().count(name) || isTestedElsewhere(name))
          << "no test runs " << name
          << "; add a row to a table of the Semantics tests";
  }
};
[[maybe_unused]] const testing::Environment *const environment =
    testing::AddGlobalTestEnvironment(new EveryMnemonicIsTested);

} // namespace
