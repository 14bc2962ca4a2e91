//===- ExplanationDefectsTest.cpp - Reports that say something else -------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// One field of explain.json or validation.json is edited, with hashes that fit.
// Either the bundle contradicts itself, or the catalogue says something else.
//
//===----------------------------------------------------------------------===//

#include "SeededDefects.h"

#include "Netra/Target/TacticVerifier.h"

using namespace netra;
using namespace netra::test;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// What an edit may change.
struct Reports {
  Json explanation, validation;

  Json &selection() { return explanation["selection"]; }
  /// The only kernel.
  Json &chosen() { return *explanation["kernels"].begin()->begin(); }
  Json &validated() { return validation["kernels"][0]; }
};

struct Found {
  std::vector<std::string> byBundle, byCatalog, notCompared;
};

Found findAfterEdit(const std::function<void(Reports &)> &edit,
                    const TestLibrary &library) {
  TestEngine test = makeEngine();
  Reports reports = {Json::parse(test.files.at("explain.json")),
                     Json::parse(test.files.at("validation.json"))};
  edit(reports);
  test.files.at("explain.json") = reports.explanation.dump(2) + "\n";
  test.files.at("validation.json") = reports.validation.dump(2) + "\n";
  TemporaryFolder folder;
  std::string directory = (folder.path / "engine").string();
  EXPECT_EQ(message(writeBundle(test.engine, test.files, directory)), "");
  Found found;
  for (const BundleFinding &finding : llvm::cantFail(verifyBundle(directory)))
    found.byBundle.push_back(finding.str());
  if (!found.byBundle.empty())
    return found;
  TacticFindings tactics =
      llvm::cantFail(verifyTactics(directory, library.path.string()));
  for (const BundleFinding &finding : tactics.findings)
    found.byCatalog.push_back(finding.str());
  found.notCompared = tactics.notCompared;
  return found;
}

struct Edit {
  const char *name;
  std::function<void(Reports &)> edit;
  std::string finding;
};
void PrintTo(const Edit &edit, std::ostream *os) { *os << edit.name; }

class BundleReport : public testing::TestWithParam<Edit> {};
class CatalogReport : public testing::TestWithParam<Edit> {};

/// All of `found` has to be about one thing.
void setMaturity(Reports &reports, const char *maturity) {
  reports.chosen()["maturity"] = maturity;
  reports.validated()["maturity"] = maturity;
}

/// What needs no catalogue.
const Edit byBundle[] = {
    {"MaturityUnknown", [](Reports &r) { setMaturity(r, "proven"); },
     "explain.json: netra_copy_n64: maturity: expected verified or accepted, "
     "found \"proven\""},
    {"MaturityRejected", [](Reports &r) { setMaturity(r, "rejected"); },
     "netra_copy_n64: maturity: expected verified or accepted, found "
     "\"rejected\""},
    {"MaturityThatWasNotAllowed",
     [](Reports &r) { setMaturity(r, "experiment"); },
     "netra_copy_n64: maturity: expected verified or accepted, found "
     "\"experiment\""},
    {"MaturityAboveTheEvidence", [](Reports &r) { setMaturity(r, "accepted"); },
     "validation.json: netra_copy_n64: evidence: expected a record of kind "
     "device for an accepted tactic, found none"},
    {"MaturityThatDecides", [](Reports &r) { setMaturity(r, "accepted"); },
     "netra_copy_n64: reason: expected \"accepted comes before "
     "gfx950.copy_other, which is verified\", found \"rank 1"},
    {"EvidenceBelowTheMaturity",
     [](Reports &r) { r.validated()["evidence"][0]["kind"] = "assembled"; },
     "netra_copy_n64: evidence: expected a record of kind simulated or device "
     "for a verified tactic, found none"},
    {"EvidenceNone",
     [](Reports &r) { r.validated()["evidence"] = Json::array(); },
     "netra_copy_n64: evidence: expected a record of kind simulated or "},
    {"CodeUnknown", [](Reports &r) { r.chosen()["code"] = "copied"; },
     "netra_copy_n64: code: expected golden or template, found \"copied\""},
    {"CodeThatWasNotAllowed", [](Reports &r) { r.chosen()["code"] = "golden"; },
     "netra_copy_n64: code: expected a template, as selection was not allowed "
     "golden code, found \"golden\""},
    {"ErrorBoundMissing", [](Reports &r) { r.chosen().erase("error_bound"); },
     "netra_copy_n64: error_bound: expected a text, found none"},
    {"OptionsMissing", [](Reports &r) { r.chosen().erase("options"); },
     "netra_copy_n64: options: expected the options of the tactic, found none"},
    {"RankMissing", [](Reports &r) { r.chosen().erase("rank"); },
     "netra_copy_n64: rank: expected an integer, found none"},
    {"RankThatDecides", [](Reports &r) { r.chosen()["rank"] = 3; },
     "netra_copy_n64: also_matches/0: expected what comes after gfx950.copy in "
     "the order of selection, found \"gfx950.copy_other\""},
    {"CostMissing", [](Reports &r) { r.chosen().erase("cost"); },
     "netra_copy_n64: cost: expected bytes, FLOP and time, found none"},
    {"CostBytes", [](Reports &r) { r.chosen()["cost"]["bytes"] = 8; },
     "netra_copy_n64: cost/bytes: expected 512, found 8"},
    {"CostFlop", [](Reports &r) { r.chosen()["cost"]["flop"] = 64; },
     "netra_copy_n64: cost/flop: expected 0, found 64"},
    {"CostTime", [](Reports &r) { r.chosen()["cost"]["picoseconds"] = 1; },
     "netra_copy_n64: cost/picoseconds: expected 64, found 1"},
    {"CostBound",
     [](Reports &r) { r.chosen()["cost"]["bound"] = "arithmetic"; },
     "netra_copy_n64: cost/bound: expected \"memory\", found \"arithmetic\""},
    {"CostOfNobody", [](Reports &r) { r.chosen()["cost"]["bytes_of"] = "me"; },
     "netra_copy_n64: cost/bytes_of: expected contract or tactic, found "
     "\"me\""},
    {"CostWithMore", [](Reports &r) { r.chosen()["cost"]["watts"] = 1; },
     "netra_copy_n64: cost: expected only what a cost has, found \"watts\""},
    {"InstructionsThatNobodyCounted",
     [](Reports &r) { r.chosen()["cost"]["instructions"] = 9; },
     "netra_copy_n64: cost/instructions: expected none, as selection did not "
     "count them, found 9"},
    {"ReasonOther", [](Reports &r) { r.chosen()["reason"] = "it is the best"; },
     "netra_copy_n64: reason: expected \"rank 1 comes before rank 2 of "
     "gfx950.copy_other\", found \"it is the best\""},
    {"ChosenByNobody", [](Reports &r) { r.chosen()["chosen_by"] = "chance"; },
     "netra_copy_n64: chosen_by: expected selection or module, found "
     "\"chance\""},
    {"ChosenByTheModule",
     [](Reports &r) { r.chosen()["chosen_by"] = "module"; },
     "netra_copy_n64: reason: expected \"named by the module; selection would "
     "try other options first\", found \"rank 1"},
    {"AlsoMatchesItself",
     [](Reports &r) {
       r.chosen()["also_matches"][0]["tactic"] = "gfx950.copy";
     },
     "netra_copy_n64: also_matches/0/tactic: expected a tactic of "
     "elementwise.activation that selection chose from, each once, found "
     "\"gfx950.copy\""},
    {"AlsoMatchesAStranger",
     [](Reports &r) {
       r.chosen()["also_matches"][0]["tactic"] = "gfx950.paste";
     },
     "also_matches/0/tactic: expected a tactic of elementwise.activation"},
    {"AlsoMatchesByAnotherRank",
     [](Reports &r) { r.chosen()["also_matches"][0]["rank"] = 3; },
     "reason: expected \"rank 1 comes before rank 3 of gfx950.copy_other\""},
    {"AlsoMatchesByMaturity",
     [](Reports &r) { r.chosen()["also_matches"][0]["maturity"] = "accepted"; },
     "also_matches/0: expected what comes after gfx950.copy in the order"},
    {"AlsoMatchesAtAnotherCost",
     [](Reports &r) { r.chosen()["also_matches"][0]["cost"]["flop"] = 1; },
     "netra_copy_n64: also_matches/0: cost/flop: expected 0, found 1"},
    {"AlsoMatchesNothing",
     [](Reports &r) {
       r.chosen()["also_matches"] = Json::array();
       r.chosen()["reason"] = "the only one of 3 that matches";
     },
     "netra_copy_n64: nearest_misses: expected 2 of the 3 tactics of "
     "elementwise.activation, found 1"},
    {"AlsoMatchesWithMore",
     [](Reports &r) { r.chosen()["also_matches"][0]["options"] = 1; },
     "also_matches/0: expected only where the tactic stands, found "
     "\"options\""},
    {"AlsoMatchesOutOfOrder",
     [](Reports &r) {
       Json other = r.chosen()["also_matches"][0];
       other["tactic"] = "gfx950.copy_large";
       other["rank"] = 1;
       r.chosen()["also_matches"].push_back(other);
       r.chosen()["nearest_misses"] = Json::array();
     },
     "netra_copy_n64: also_matches/1: expected the order of selection, "
     "gfx950.copy_large before gfx950.copy_other"},
    {"NearestMissMissing",
     [](Reports &r) { r.chosen()["nearest_misses"] = Json::array(); },
     "netra_copy_n64: nearest_misses: expected 1 of the 3 tactics of "
     "elementwise.activation, found 0"},
    {"NearestMissIsTheWinner",
     [](Reports &r) {
       r.chosen()["nearest_misses"][0]["tactic"] = "gfx950.copy";
     },
     "netra_copy_n64: nearest_misses/0/tactic: expected a tactic of "},
    {"NearestMissThatDoesNotDiffer",
     [](Reports &r) {
       r.chosen()["nearest_misses"][0]["differs"] = Json::array();
     },
     "netra_copy_n64: nearest_misses/0/differs: expected fields"},
    {"NearestMissInNothing",
     [](Reports &r) {
       r.chosen()["nearest_misses"][0]["differs"][0]["found"] = "at least 1024";
     },
     "netra_copy_n64: nearest_misses/0/differs: expected fields"},
    {"SelectionMissing", [](Reports &r) { r.explanation.erase("selection"); },
     "explain.json: selection: expected what it was allowed and from what it "
     "chose, found none"},
    {"SelectionWithoutAFlag",
     [](Reports &r) { r.selection().erase("allow_golden"); },
     "explain.json: selection: allow_golden: expected true or false, found "
     "none"},
    {"SelectionWithMore", [](Reports &r) { r.selection()["mood"] = "good"; },
     "explain.json: selection: expected what it was allowed and from what it "
     "chose, found \"mood\""},
    {"SelectionFromNothing",
     [](Reports &r) { r.selection()["tactics"] = Json::object(); },
     "explain.json: selection: tactics: expected "
     "[\"elementwise.activation\"], found []"},
    {"SelectionFromNoHash",
     [](Reports &r) {
       r.selection()["tactics"]["elementwise.activation"]["gfx950.copy"] = "x";
     },
     "explain.json: selection: gfx950.copy: expected a SHA-256, found \"x\""},
};

/// What only the catalogue tells.
const Edit byCatalog[] = {
    {"Summary", [](Reports &r) { r.chosen()["summary"] = "copies well"; },
     "explain.json: netra_copy_n64: summary: expected \"copies\" as the "
     "catalogue gives for tactic gfx950.copy, found \"copies well\""},
    {"ErrorBound", [](Reports &r) { r.chosen()["error_bound"] = "exact"; },
     "explain.json: netra_copy_n64: error_bound: expected \"\" as the "
     "catalogue gives for tactic gfx950.copy, found \"exact\""},
    {"Maturity",
     [](Reports &r) {
       setMaturity(r, "accepted");
       r.validated()["evidence"][0]["kind"] = "device";
       r.chosen()["reason"] =
           "accepted comes before gfx950.copy_other, which is verified";
     },
     "explain.json: netra_copy_n64: maturity: expected \"verified\" as the "
     "catalogue gives for tactic gfx950.copy, found \"accepted\""},
    {"Rank",
     [](Reports &r) {
       r.chosen()["rank"] = -7;
       r.chosen()["reason"] =
           "rank -7 comes before rank 2 of gfx950.copy_other";
     },
     "explain.json: netra_copy_n64: rank: expected 1 as the catalogue gives"},
    {"EvidenceKind",
     [](Reports &r) { r.validated()["evidence"][0]["kind"] = "device"; },
     "validation.json: netra_copy_n64: evidence/0/kind: expected "
     "\"simulated\" as the catalogue gives for tactic gfx950.copy, found "
     "\"device\""},
    {"EvidenceWhat",
     [](Reports &r) { r.validated()["evidence"][0]["what"] = "all there is"; },
     "validation.json: netra_copy_n64: evidence/0/what: expected \"unit "
     "tests\" as the catalogue gives"},
    {"EvidenceMore",
     [](Reports &r) {
       r.validated()["evidence"].push_back(
           {{"kind", "device"}, {"what", "ran"}});
     },
     "validation.json: netra_copy_n64: evidence/1: expected nothing as the "
     "catalogue gives"},
    {"BytesOfTheTactic",
     [](Reports &r) {
       for (Json *cost :
            {&r.chosen()["cost"], &r.chosen()["also_matches"][0]["cost"]}) {
         (*cost)["bytes_of"] = "tactic";
         (*cost)["bytes"] = 800;
         (*cost)["picoseconds"] = 100;
       }
     },
     "explain.json: netra_copy_n64: cost/bytes: expected 512 as the catalogue "
     "gives for tactic gfx950.copy, found 800"},
    {"AlsoMatchesByAnotherRank",
     [](Reports &r) {
       r.chosen()["also_matches"][0]["rank"] = 5;
       r.chosen()["reason"] = "rank 1 comes before rank 5 of gfx950.copy_other";
     },
     "explain.json: netra_copy_n64: also_matches/0/rank: expected 2 as the "
     "catalogue gives"},
    {"AlsoMatchesNothing",
     [](Reports &r) {
       Json miss = r.chosen()["nearest_misses"][0];
       miss["tactic"] = "gfx950.copy_other";
       r.chosen()["nearest_misses"].push_back(miss);
       r.chosen()["also_matches"] = Json::array();
       r.chosen()["reason"] = "the only one of 3 that matches";
     },
     "explain.json: netra_copy_n64: also_matches/0: expected {"},
    {"NearestMissField",
     [](Reports &r) {
       r.chosen()["nearest_misses"][0]["differs"][0]["expected"] = "32";
     },
     "explain.json: netra_copy_n64: nearest_misses/0/differs/0/expected: "
     "expected \"at least 1024\" as the catalogue gives"},
    {"ChosenByTheModule",
     [](Reports &r) {
       r.chosen()["chosen_by"] = "module";
       r.chosen()["reason"] =
           "named by the module; selection would try other options first";
     },
     "explain.json: netra_copy_n64: chosen_by: expected \"selection\" as the "
     "catalogue gives"},
    {"Reason",
     [](Reports &r) {
       r.chosen()["also_matches"][0]["rank"] = 9;
       r.chosen()["reason"] = "rank 1 comes before rank 9 of gfx950.copy_other";
     },
     "explain.json: netra_copy_n64: reason: expected \"rank 1 comes before "
     "rank 2 of gfx950.copy_other\" as the catalogue gives"},
    {"GoldensAllowed", [](Reports &r) { r.selection()["allow_golden"] = true; },
     "explain.json: selection: allow_golden: expected false, as none of the "
     "tactics is golden code, found true"},
    {"Options", [](Reports &r) { r.chosen()["options"]["WAVES"] = 4; },
     "tactic gfx950.copy: option WAVES: expected absent, found 4"},
};

std::string nameOf(const testing::TestParamInfo<Edit> &info) {
  return info.param.name;
}

} // namespace

TEST(Reports, SoundOnesAreLeftAlone) {
  Found found = findAfterEdit([](Reports &) {}, CopyLibrary());
  EXPECT_THAT(found.byBundle, IsEmpty());
  EXPECT_THAT(found.byCatalog, IsEmpty());
  EXPECT_THAT(found.notCompared, IsEmpty());
}

TEST_P(BundleReport, ContradictsTheBundle) {
  EXPECT_THAT(findAfterEdit(GetParam().edit, CopyLibrary()).byBundle,
              Contains(HasSubstr(GetParam().finding)));
}
INSTANTIATE_TEST_SUITE_P(Reports, BundleReport, testing::ValuesIn(byBundle),
                         nameOf);

TEST_P(CatalogReport, ContradictsTheCatalogue) {
  Found found = findAfterEdit(GetParam().edit, CopyLibrary());
  EXPECT_THAT(found.byBundle, IsEmpty());
  EXPECT_THAT(found.byCatalog, Contains(HasSubstr(GetParam().finding)));
}
INSTANTIATE_TEST_SUITE_P(Reports, CatalogReport, testing::ValuesIn(byCatalog),
                         nameOf);

/// A catalogue of another time is no fault of the engine, and said to be one.
TEST(Reports, OnlyTheSameManifestsAreCompared) {
  auto find = [](const TestLibrary &library) {
    Found found = findAfterEdit([](Reports &) {}, library);
    EXPECT_THAT(found.byBundle, IsEmpty());
    EXPECT_THAT(found.byCatalog, IsEmpty());
    return found.notCompared;
  };
  const std::string selection =
      "the selection for elementwise.activation, which has other tactics in "
      "the catalogue";
  CopyLibrary more;
  more.write("manifests/gfx950/tactics/copy_more.json",
             copyManifestOf("copy_more"));
  EXPECT_THAT(find(more), ElementsAre(selection));
  CopyLibrary fewer;
  std::filesystem::remove(fewer.path /
                          "manifests/gfx950/tactics/copy_large.json");
  EXPECT_THAT(find(fewer), ElementsAre(selection));
  CopyLibrary promoted;
  Json manifest = Json::parse(copyManifest);
  manifest["maturity"] = "accepted";
  manifest["evidence"][0]["kind"] = "device";
  promoted.write("manifests/gfx950/tactics/copy.json", manifest.dump());
  EXPECT_THAT(find(promoted),
              ElementsAre("what is said of tactic gfx950.copy, which has "
                          "another manifest in the catalogue"));
}

/// One fault is one finding: what a file says besides is still looked at.
TEST(Reports, OneFaultIsOneFinding) {
  CopyLibrary library;
  auto find = [&](const std::function<void(Reports &)> &edit) {
    return findAfterEdit(edit, library).byBundle;
  };
  EXPECT_THAT(find([](Reports &r) { r.validation["device"] = "passed"; }),
              ElementsAre(HasSubstr("validation.json: /device: expected")));
  EXPECT_THAT(find([](Reports &r) { r.validation["device"] = 7; }),
              ElementsAre(HasSubstr("validation.json: /device: expected")));
  EXPECT_THAT(find([](Reports &r) { r.validation.erase("simulated"); }),
              ElementsAre(HasSubstr("expected the key \"simulated\"")));
  EXPECT_THAT(find([](Reports &r) { r.validation["kernels"] = "none"; }),
              ElementsAre(HasSubstr("validation.json: /kernels: expected")));
  EXPECT_THAT(
      find([](Reports &r) { r.validated()["contract"] = 1; }),
      ElementsAre(HasSubstr("validation.json: /kernels/0/contract: expected")));
  EXPECT_THAT(find([](Reports &r) {
                r.validation["device"] = "passed";
                r.validated()["source_sha256"] = "none";
              }),
              ElementsAre(HasSubstr("/device: expected"),
                          HasSubstr("source_sha256: expected")));
  EXPECT_THAT(find([](Reports &r) { r.chosen()["cost"]["flop"] = 1; }),
              ElementsAre(HasSubstr("cost/flop: expected 0, found 1")));
}
