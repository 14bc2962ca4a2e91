//===- CatalogTest.cpp - Loading the catalogue and selection --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TestTactic.h"

#include "Netra/Catalog/Deployment.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace netra;
using namespace netra::test;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {
/// A library root in a temporary folder.
class CatalogTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "netra-catalog-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root = pattern;
    write("kernels/gfx950/dense/test.s", "// nothing\n");
    fs::create_directories(root / "manifests/gfx950/tactics");
    fs::create_directories(root / "manifests/gfx950/profiles");
    write("manifests/gfx950/numerics.json", schemesText);
  }
  void TearDown() override { fs::remove_all(root); }

  void write(const std::string &path, const std::string &text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }

  /// Adds the test tactic with changes.
  void addTactic(const std::string &name,
                 const std::map<std::string, nlohmann::json> &changes = {}) {
    nlohmann::json document = testTacticJson();
    document["name"] = "gfx950." + name;
    for (const auto &[pointer, value] : changes)
      document[nlohmann::json::json_pointer(pointer)] = value;
    write("manifests/gfx950/tactics/" + name + ".json", document.dump(2));
  }

  std::string fault() {
    auto catalog = Catalog::load(root.string(), "gfx950");
    return catalog ? "" : llvm::toString(catalog.takeError());
  }
  Catalog load() {
    return llvm::cantFail(Catalog::load(root.string(), "gfx950"));
  }

  fs::path root;
};
} // namespace

/// A golden is a tactic whose code is there already.
TEST_F(CatalogTest, GoldensStandBesideTactics) {
  addTactic("b");
  nlohmann::json golden = nlohmann::json::parse(goldenText);
  golden["name"] = "gfx950.a";
  write("manifests/gfx950/goldens/a.json", golden.dump(2));
  {
    Catalog catalog = load();
    ASSERT_EQ(catalog.tactics().size(), 2u);
    EXPECT_EQ(catalog.findTactic("gfx950.a")->manifestPath,
              "manifests/gfx950/goldens/a.json");
    SelectOptions options;
    Selection selection = catalog.select(testProblem(), options);
    EXPECT_EQ(selection.winner->tactic->name, "gfx950.b");
    ASSERT_EQ(selection.nearest.size(), 1u);
    EXPECT_EQ(selection.nearest[0].mismatches[0].field, "golden code object");
    // With them it comes first: equal maturity, cost and rank, then the name.
    options.allowGolden = true;
    selection = catalog.select(testProblem(), options);
    EXPECT_EQ(selection.winner->tactic->name, "gfx950.a");
    EXPECT_EQ(selection.reason, "its name comes before gfx950.b");
  }
  addTactic("a");
  EXPECT_THAT(fault(), HasSubstr("/name: expected a name of its own, found "
                                 "that of manifests/gfx950/"));
}

TEST_F(CatalogTest, DeploymentsNeedNotBeThere) {
  EXPECT_TRUE(llvm::cantFail(loadDeployments(root.string(), "gfx950")).empty());
  write("manifests/gfx950/deployments/d.json", "{}");
  llvm::Expected<std::vector<Deployment>> deployments =
      loadDeployments(root.string(), "gfx950");
  EXPECT_THAT(llvm::toString(deployments.takeError()),
              HasSubstr("manifests/gfx950/deployments/d.json: /: expected the "
                        "key \"artifacts\", found none"));
}

/// Only the bytes of the record are taken.
TEST_F(CatalogTest, GoldenFilesAreHeldAgainstTheirRecord) {
  nlohmann::json document = nlohmann::json::parse(goldenText);
  std::string bytes = "some bytes";
  document["code"]["bytes"] = bytes.size();
  document["code"]["sha256"] = sha256Hex(llvm::StringRef(bytes));
  Tactic tactic = llvm::cantFail(parseGolden(document.dump(), "g.json"));
  auto fault = [&](const std::string &folder) {
    return llvm::toString(readGoldenFile(tactic, folder).takeError());
  };
  write("golden/dense/test.hsaco", bytes);
  std::string folder = (root / "golden").string();
  EXPECT_EQ(llvm::cantFail(readGoldenFile(tactic, folder)).size(),
            bytes.size());
  EXPECT_THAT(fault(""), HasSubstr("(--golden-root), found none"));
  EXPECT_THAT(fault(root.string()),
              HasSubstr("expected a readable file, found: No such file"));
  write("golden/dense/test.hsaco", "some byte");
  EXPECT_THAT(fault(folder), HasSubstr("expected 10 bytes, found 9"));
  write("golden/dense/test.hsaco", "some bytez");
  EXPECT_THAT(fault(folder),
              HasSubstr("expected SHA-256 " +
                        sha256Hex(llvm::StringRef(bytes)) + ", found " +
                        sha256Hex(llvm::StringRef("some bytez"))));
}

TEST_F(CatalogTest, LoadsSortedAndIndexed) {
  addTactic("b");
  addTactic("a");
  addTactic("c", {{"/family", "elementwise"}, {"/operation", "add"}});
  write("manifests/gfx950/tactics/readme.txt", "not a manifest");
  Catalog catalog = load();
  ASSERT_EQ(catalog.tactics().size(), 3u);
  EXPECT_EQ(catalog.tactics()[0].name, "gfx950.a");
  EXPECT_EQ(catalog.tactics()[0].manifestPath,
            "manifests/gfx950/tactics/a.json");
  EXPECT_EQ(catalog.tacticsFor("dense", "dense").size(), 2u);
  EXPECT_EQ(catalog.tacticsFor("elementwise", "add").size(), 1u);
  EXPECT_TRUE(catalog.tacticsFor("norm", "rms_norm").empty());
  const Tactic *tactic = catalog.findTactic("gfx950.b");
  ASSERT_NE(tactic, nullptr);
  EXPECT_EQ(catalog.findTactic("gfx950.d"), nullptr);
  // Pointers survive a move.
  Catalog moved = std::move(catalog);
  EXPECT_EQ(moved.findTactic("gfx950.b"), tactic);
}

TEST_F(CatalogTest, AllFaultsOfAllFilesAreReportedTogether) {
  addTactic("a", {{"/rank", "x"}});
  addTactic("b", {{"/template", "dense/absent.s"}});
  addTactic("c");
  addTactic("d", {{"/name", "gfx950.c"}});
  write("manifests/gfx950/tactics/e.json", "{");
  write("manifests/gfx950/tactics/f.json", std::string("\0\x01\xff", 3));
  write("manifests/gfx950/profiles/p.json", "{}");
  std::string text = fault();
  for (const char *part :
       {"manifests/gfx950/tactics/a.json: /rank: expected",
        "manifests/gfx950/tactics/b.json: /template: expected a file of "
        "kernels/gfx950, found no \"dense/absent.s\" there",
        "manifests/gfx950/tactics/d.json: /name: expected \"gfx950.d\" as the "
        "file's name says, found \"gfx950.c\"",
        "manifests/gfx950/tactics/e.json: expected JSON",
        "manifests/gfx950/tactics/f.json: expected JSON",
        "manifests/gfx950/profiles/p.json: /: expected the key \"format\""})
    EXPECT_THAT(text, HasSubstr(part));
  // Where the library lies is said once, at the end.
  const std::string where = "\nin the library " + root.string();
  EXPECT_EQ(text.find(root.string()), text.size() - root.string().size());
  EXPECT_THAT(text, testing::EndsWith(where));
}

/// What a tactic names, the file has: as this kind, with these parameters.
TEST_F(CatalogTest, SchemesAreThoseOfTheFile) {
  struct Case {
    const char *key, *value, *fault;
  };
  const Case cases[] = {
      {"reduction_order", "test.v2(CHUNKS, WAVES)",
       "/numerics/reduction_order: expected one of the schemes of "
       "numerics.json (test.v1(CHUNKS, WAVES), theirs), found "
       "\"test.v2(CHUNKS, WAVES)\""},
      {"reduction_order", "once",
       "/numerics/reduction_order: expected one of the schemes of "
       "numerics.json (test.v1(CHUNKS, WAVES), theirs), found \"once\""},
      {"reduction_order", "test.v1",
       "/numerics/reduction_order: expected test.v1(CHUNKS, WAVES), found "
       "\"test.v1\""},
      {"reduction_order", "test.v1(WAVES, CHUNKS)",
       "/numerics/reduction_order: expected test.v1(CHUNKS, WAVES), found "
       "\"test.v1(WAVES, CHUNKS)\""},
      {"reduction_order", "theirs(WAVES)",
       "/numerics/reduction_order: expected theirs, found \"theirs(WAVES)\""},
      {"rounding", "twice",
       "/numerics/rounding: expected one of the schemes of numerics.json "
       "(once), found \"twice\""},
  };
  for (const Case &c : cases) {
    addTactic("a", {{std::string("/numerics/") + c.key, c.value}});
    EXPECT_THAT(fault(), HasSubstr("manifests/gfx950/tactics/a.json: " +
                                   std::string(c.fault) + "\n"))
        << c.value;
  }
  addTactic("a");
  {
    Catalog catalog = load();
    ASSERT_EQ(catalog.schemes().schemes.size(), 3u);
    EXPECT_EQ(catalog.schemes().schemes[0].spelling(),
              "test.v1(CHUNKS, WAVES)");
    EXPECT_EQ(catalog.schemes().schemes[1].spelling(), "theirs");
  }
  write("manifests/gfx950/numerics.json", "{}");
  EXPECT_THAT(fault(), HasSubstr("manifests/gfx950/numerics.json: /: expected "
                                 "the key \"format\""));
  fs::remove(root / "manifests/gfx950/numerics.json");
  EXPECT_THAT(fault(), HasSubstr("manifests/gfx950/numerics.json: expected a "
                                 "readable file"));
}

TEST_F(CatalogTest, MissingFoldersAndTargets) {
  fs::remove_all(root / "manifests/gfx950/profiles");
  EXPECT_THAT(fault(), HasSubstr("expected the folder"));
  auto catalog = Catalog::load(root.string(), "gfx9000");
  EXPECT_THAT(llvm::toString(catalog.takeError()),
              HasSubstr("expected one of gfx950"));
}

TEST_F(CatalogTest, SelectionIsATotalOrder) {
  addTactic("verified_cheap", {{"/cost/bytes", 1000}, {"/rank", 900}});
  addTactic("verified_b", {{"/rank", 5}});
  addTactic("verified_a", {{"/rank", 5}});
  addTactic("verified_low", {{"/rank", 4}});
  addTactic("accepted", {{"/maturity", "accepted"},
                         {"/evidence/0/kind", "device"},
                         {"/rank", 1000},
                         {"/cost/bytes", 100000000}});
  addTactic("experiment", {{"/maturity", "experiment"}, {"/rank", 0}});
  addTactic("rejected", {{"/maturity", "rejected"}, {"/rank", 0}});
  addTactic("other_n", {{"/match/dimensions/N", 4096}});
  addTactic("other_nk",
            {{"/match/dimensions/N", 4096}, {"/match/dimensions/K", 4096}});
  Catalog catalog = load();
  Selection selection = catalog.select(testProblem());
  ASSERT_TRUE(selection.winner);
  EXPECT_EQ(selection.winner->tactic->name, "gfx950.accepted");
  EXPECT_EQ(selection.reason, "accepted comes before gfx950.verified_cheap, "
                              "which is verified");
  std::vector<std::string> order, near;
  for (const Candidate &candidate : selection.runnersUp)
    order.push_back(candidate.tactic->name);
  for (const Candidate &candidate : selection.nearest)
    near.push_back(candidate.tactic->name);
  EXPECT_THAT(order, ElementsAre("gfx950.verified_cheap", "gfx950.verified_low",
                                 "gfx950.verified_a", "gfx950.verified_b"));
  EXPECT_THAT(near, ElementsAre("gfx950.experiment", "gfx950.other_n",
                                "gfx950.rejected"));
  SelectOptions options;
  options.allowExperimental = true;
  options.nearestMisses = 1;
  selection = catalog.select(testProblem(), options);
  EXPECT_EQ(selection.runnersUp.back().tactic->name, "gfx950.experiment");
  EXPECT_EQ(selection.nearest.size(), 1u);
}

TEST_F(CatalogTest, SelectionSaysWhy) {
  addTactic("b", {{"/rank", 7}});
  addTactic("c", {{"/rank", 8}});
  EXPECT_EQ(load().select(testProblem()).reason,
            "rank 7 comes before rank 8 of gfx950.c");
  addTactic("a", {{"/rank", 7}});
  EXPECT_EQ(load().select(testProblem()).reason,
            "its name comes before gfx950.b");
  addTactic("d", {{"/cost/bytes", 8000}});
  EXPECT_EQ(load().select(testProblem()).reason,
            "estimated 0.001000 us against 0.008192 us of gfx950.a");
  Problem problem = testProblem(64, 500);
  Selection selection = load().select(problem);
  EXPECT_FALSE(selection.winner);
  EXPECT_EQ(selection.reason,
            "none of 4 tactics matches; nearest gfx950.a differs in dimension "
            "K: expected a multiple of 64, found 500");
  problem.operation = "sparse";
  EXPECT_EQ(load().select(problem).reason,
            "no tactic of gfx950 computes dense.sparse");
  fs::remove_all(root / "manifests/gfx950/tactics");
  fs::create_directories(root / "manifests/gfx950/tactics");
  addTactic("only");
  EXPECT_EQ(load().select(testProblem()).reason,
            "the only one of 1 that matches");
}

namespace {
/// Counts as it is told, by name.
struct ToldCounts : InstructionCounter {
  std::map<std::string, uint64_t> counts;
  mutable std::vector<std::string> asked;
  std::optional<uint64_t> count(const Instance &instance) const override {
    asked.push_back(instance.tactic->name);
    auto known = counts.find(instance.tactic->name);
    return known == counts.end() ? std::nullopt : std::optional(known->second);
  }
};
} // namespace

TEST_F(CatalogTest, InstructionsBreakTiesOfEstimatedTime) {
  addTactic("low_rank", {{"/rank", 1}});
  addTactic("short", {{"/rank", 9}});
  addTactic("slow", {{"/rank", 0}, {"/cost/bytes", 100000000}});
  addTactic("experiment", {{"/maturity", "experiment"}, {"/rank", 0}});
  Catalog catalog = load();
  ToldCounts counter;
  counter.counts = {{"gfx950.low_rank", 700},
                    {"gfx950.short", 650},
                    {"gfx950.slow", 1},
                    {"gfx950.experiment", 1}};
  SelectOptions options;
  options.allowExperimental = true;
  options.counter = &counter;
  Selection selection = catalog.select(testProblem(), options);
  ASSERT_TRUE(selection.winner);
  EXPECT_EQ(selection.winner->tactic->name, "gfx950.short");
  EXPECT_EQ(selection.winner->cost.instructions, 650u);
  EXPECT_EQ(selection.reason, "650 instructions against 700 of gfx950.low_rank "
                              "in the same estimated time");
  // Only what is tied is counted.
  EXPECT_THAT(counter.asked,
              testing::UnorderedElementsAre("gfx950.low_rank", "gfx950.short"));
  EXPECT_EQ(selection.runnersUp[1].tactic->name, "gfx950.slow");
  EXPECT_FALSE(selection.runnersUp[1].cost.instructions);

  // Equal counts leave it to rank, and so does one that is not known.
  counter.counts["gfx950.short"] = 700;
  EXPECT_EQ(catalog.select(testProblem(), options).reason,
            "rank 1 comes before rank 9 of gfx950.short");
  counter.counts.erase("gfx950.low_rank");
  selection = catalog.select(testProblem(), options);
  EXPECT_EQ(selection.winner->tactic->name, "gfx950.low_rank");
  EXPECT_FALSE(selection.winner->cost.instructions);
}

TEST(LibraryRoot, OptionThenEnvironmentThenBuiltIn) {
  ::setenv("NETRA_LIBRARY_ROOT", "/somewhere", 1);
  EXPECT_EQ(Catalog::findLibraryRoot("/here"), "/here");
  EXPECT_EQ(Catalog::findLibraryRoot(), "/somewhere");
  ::setenv("NETRA_LIBRARY_ROOT", "", 1);
  EXPECT_NE(Catalog::findLibraryRoot(), "");
  ::unsetenv("NETRA_LIBRARY_ROOT");
  EXPECT_NE(Catalog::findLibraryRoot(), "");
}

/// A scheme that no tactic names is one that nobody looks after.
TEST(ShippedCatalog, TacticsNameEveryScheme) {
  Catalog catalog =
      llvm::cantFail(Catalog::load(NETRA_TEST_SOURCE_DIR, "gfx950"));
  std::set<std::string> named;
  for (const Tactic &tactic : catalog.tactics()) {
    named.insert("reduction_order " + tactic.reductionOrder.id);
    named.insert("rounding " + tactic.rounding.id);
  }
  for (const SchemeDefinition &scheme : catalog.schemes().schemes)
    EXPECT_TRUE(
        named.count(schemeKindName(scheme.kind).str() + " " + scheme.id()))
        << scheme.id();
}

TEST(ShippedCatalog, LoadsWithAllProfiles) {
  auto catalog = Catalog::load(NETRA_TEST_SOURCE_DIR, "gfx950");
  ASSERT_TRUE(bool(catalog)) << llvm::toString(catalog.takeError());
  EXPECT_EQ(catalog->profiles().size(), 13u);
  const ServingProfile *profile = catalog->findProfile("decode_m1");
  ASSERT_NE(profile, nullptr);
  EXPECT_EQ(profile->guards.at("batch"), (GuardRange{1, 64}));
  profile = catalog->findProfile("verify_m12_b64_routes768");
  ASSERT_NE(profile, nullptr);
  EXPECT_EQ(profile->guards.at("routed_rows"), (GuardRange{768, 768}));
  // Equal priorities of overlapping profiles would leave the choice open.
  std::set<int64_t> priorities;
  for (const ServingProfile &each : catalog->profiles())
    EXPECT_TRUE(priorities.insert(each.priority).second) << each.name;
}
