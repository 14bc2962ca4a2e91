//===- EvidenceTests.cpp - What was simulated is the code of today --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The manifest of a verified tactic names the machine code that its tests ran.
// The test below fails as soon as templates or manifests give other code. With
// NETRA_RECORD_EVIDENCE=1 the tests of a tactic, when all of them pass, write
// its record: which suites ran, and the code they ran, one instance of each
// choice of options.
//
//===----------------------------------------------------------------------===//

#include "EvidenceLog.h"

#include "Netra/Target/Promotion.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace kernels;
using llvm::StringRef;

namespace {

const netra::Evidence *simulatedEvidence(const netra::Tactic &tactic) {
  for (const netra::Evidence &evidence : tactic.evidence)
    if (evidence.kind == "simulated")
      return &evidence;
  return nullptr;
}

/// Suites of which the filter of the command line leaves out a test.
std::set<std::string> incompleteSuites() {
  std::set<std::string> names;
  const testing::UnitTest &all = *testing::UnitTest::GetInstance();
  for (int i = 0; i != all.total_test_suite_count(); ++i) {
    const testing::TestSuite &suite = *all.GetTestSuite(i);
    if (suite.test_to_run_count() != suite.total_test_count())
      names.insert(suiteName(suite.name()));
  }
  return names;
}

/// The record of what ran, or null when a test failed or too little ran.
netra::json::Value makeRecord(const netra::Tactic &tactic,
                              const netra::Evidence &before,
                              const EvidenceLog::Runs &runs,
                              const std::set<std::string> &incomplete) {
  for (const netra::Evidence::Tests &tests : before.tests)
    if (incomplete.count(tests.name))
      return nullptr;
  netra::json::Value record = {{"kind", "simulated"}, {"what", before.what}};
  for (const auto &[suite, tests] : runs.tests) {
    if (incomplete.count(suite))
      return nullptr;
    for (const testing::TestInfo *test : tests)
      if (test->result()->Failed())
        return nullptr;
    record["tests"].push_back(
        {{"name", suite}, {"cases", tests.size()}, {"failed", 0}});
  }
  for (const auto &[options, kernel] : runs.kernels)
    record["kernels"].push_back(
        netra::describeKernel(kernel.first, kernel.second));
  return record;
}

llvm::Error writeRecord(const netra::Tactic &tactic,
                        const netra::json::Value &record) {
  std::string path = NETRA_TEST_SOURCE_DIR "/" + tactic.manifestPath;
  auto before = llvm::MemoryBuffer::getFile(path);
  if (!before)
    return llvm::createStringError(before.getError(), path);
  llvm::Expected<std::string> after = netra::replaceEvidence(
      {(*before)->getBuffer().str(), tactic.manifestPath}, record);
  if (!after)
    return after.takeError();
  if (*after == (*before)->getBuffer())
    return llvm::Error::success();
  std::error_code error;
  llvm::raw_fd_ostream(path, error) << *after;
  if (error)
    return llvm::createStringError(error, path);
  llvm::outs() << tactic.manifestPath << ": recorded\n";
  return llvm::Error::success();
}

class Recorder : public testing::Environment {
public:
  void SetUp() override { EvidenceLog::open(); }

  void TearDown() override {
    std::set<std::string> incomplete = incompleteSuites();
    for (const auto &[name, runs] : EvidenceLog::get()->all()) {
      const netra::Tactic &tactic = *catalog().findTactic(name);
      const netra::Evidence *before = simulatedEvidence(tactic);
      // A record begins with a sentence that somebody writes.
      if (!before)
        continue;
      netra::json::Value record = makeRecord(tactic, *before, runs, incomplete);
      if (record.is_null())
        llvm::outs() << name << ": not recorded, because a test of it failed "
                     << "or did not run\n";
      else if (llvm::Error error = writeRecord(tactic, record))
        ADD_FAILURE() << llvm::toString(std::move(error));
    }
  }
};

const bool isRecording = std::getenv("NETRA_RECORD_EVIDENCE") != nullptr;
[[maybe_unused]] const testing::Environment *const recorder =
    isRecording ? testing::AddGlobalTestEnvironment(new Recorder) : nullptr;

/// What to type when the record of `tactic` is of other code.
std::string howToRecord(const netra::Evidence *evidence) {
  std::vector<std::string> suites;
  if (evidence)
    for (const netra::Evidence::Tests &tests : evidence->tests)
      suites.push_back("*" + tests.name + ".*");
  return "\nOnce its tests pass, NETRA_RECORD_EVIDENCE=1 "
         "build/release/unittests/KernelsTests" +
         (suites.empty()
              ? std::string()
              : " --gtest_filter='" + llvm::join(suites, ":") + "'") +
         " records what they ran.";
}

TEST(Evidence, IsOfTheCodeOfToday) {
  if (isRecording)
    GTEST_SKIP() << "records are being written";
  auto builder = netra::KernelBuilder::create(NETRA_TEST_SOURCE_DIR, "gfx950");
  ASSERT_TRUE(static_cast<bool>(builder))
      << llvm::toString(builder.takeError());
  size_t verified = 0;
  for (const netra::Tactic &tactic : catalog().tactics()) {
    if (tactic.maturity < netra::Maturity::Verified)
      continue;
    ++verified;
    const netra::Evidence *evidence = simulatedEvidence(tactic);
    std::string reason =
        evidence ? netra::whyEvidenceDoesNotCount(
                       *evidence, tactic, netra::Maturity::Verified, *builder)
                 : "expected evidence of kind simulated, found none";
    EXPECT_EQ(reason, "") << tactic.manifestPath << howToRecord(evidence);
  }
  EXPECT_GT(verified, 30u);
}

/// Records of tests that do not exist any more show nothing.
TEST(Evidence, IsOfTestsThatExist) {
  std::map<std::string, int> sizes;
  const testing::UnitTest &all = *testing::UnitTest::GetInstance();
  for (int i = 0; i != all.total_test_suite_count(); ++i)
    sizes[suiteName(all.GetTestSuite(i)->name())] +=
        all.GetTestSuite(i)->total_test_count();
  for (const netra::Tactic &tactic : catalog().tactics()) {
    if (const netra::Evidence *evidence = simulatedEvidence(tactic)) {
      for (const netra::Evidence::Tests &tests : evidence->tests)
        EXPECT_GE(sizes[tests.name], static_cast<int>(tests.cases))
            << tactic.manifestPath << ": " << tests.name
            << howToRecord(evidence);
    }
  }
}

} // namespace
