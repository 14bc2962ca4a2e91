//===- PromotionTest.cpp - Moving a tactic's maturity ---------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Promotion.h"

#include "Netra/Target/Equivalence.h"
#include "TestGolden.h"

#include "gmock/gmock.h"

using namespace netra;
using namespace netra::test;
using testing::HasSubstr;
using Json = nlohmann::json;

namespace {

class PromotionTest : public testing::Test {
protected:
  void SetUp() override {
    manifest = copyManifest;
    replace("\"verified\"", "\"experiment\"");
    replace(R"([{"kind": "simulated", "what": "unit tests"}])", "[]");
    identity = computationalIdentity(library.object, library.object.kernels[0]);
  }

  void replace(const std::string &from, const std::string &to) {
    size_t at = manifest.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    manifest.replace(at, from.size(), to);
  }

  Json record(const std::string &kind) const {
    return {{"kind", kind},
            {"what", "copies of every size"},
            {"tests", {{{"name", "Copy"}, {"cases", 5}, {"failed", 0}}}},
            {"kernels",
             {{{"dimensions", {{"N", 64}}},
               {"attributes", {{"activation", "none"}}},
               {"operands",
                {{"x", {{"shape", {64}}}}, {"result", {{"shape", {64}}}}}},
               {"identity_sha256", identity}}}}};
  }

  llvm::Expected<std::string> move(Maturity level,
                                   const std::optional<Json> &evidence) {
    std::optional<NamedText> text;
    if (evidence)
      text = NamedText{Json({{"format", "netra.evidence/1"},
                             {"tactic", tactic},
                             {"evidence", *evidence}})
                           .dump(2),
                       "e.json"};
    return promote({manifest, file}, level, text, library.builder());
  }

  /// Puts a record into the manifest by hand.
  void have(const Json &evidence) {
    replace("\"evidence\": [", "\"evidence\": [" + evidence.dump());
  }

  GoldenLibrary library;
  std::string manifest, identity, tactic = "gfx950.copy", file = "copy.json";
};

} // namespace

TEST_F(PromotionTest, EvidenceMovesMaturityAndNothingElse) {
  std::string text =
      llvm::cantFail(move(Maturity::Verified, record("simulated")));
  // The text before and after what has been changed is the same.
  std::string expected = manifest;
  size_t at = expected.find("\"experiment\"");
  expected.replace(at, 12, "\"verified\"");
  at = expected.find("\"evidence\": []");
  std::string added = text.substr(at + 13, text.size() - expected.size() + 1);
  expected.replace(at + 12, 2, "[" + added);
  EXPECT_EQ(text, expected);
  Tactic promoted = llvm::cantFail(parseTactic(text, "copy.json"));
  EXPECT_EQ(promoted.maturity, Maturity::Verified);
  ASSERT_EQ(promoted.evidence.size(), 1u);
  EXPECT_EQ(promoted.evidence[0].tests[0].cases, 5u);
  EXPECT_EQ(promoted.evidence[0].kernels[0].identitySha256, identity);

  // And on, beside the first record.
  manifest = text;
  text = llvm::cantFail(move(Maturity::Accepted, record("device")));
  promoted = llvm::cantFail(parseTactic(text, "copy.json"));
  EXPECT_EQ(promoted.maturity, Maturity::Accepted);
  ASSERT_EQ(promoted.evidence.size(), 2u);
  EXPECT_EQ(promoted.evidence[0].kind, "simulated");
}

TEST_F(PromotionTest, EvidenceThatIsThereCounts) {
  have(record("device"));
  EXPECT_THAT(llvm::cantFail(move(Maturity::Verified, std::nullopt)),
              HasSubstr("\"maturity\": \"verified\""));
  EXPECT_THAT(llvm::cantFail(move(Maturity::Accepted, std::nullopt)),
              HasSubstr("\"maturity\": \"accepted\""));
}

/// A run in the simulator never makes a tactic accepted, and an assembled one
/// shows nothing of results.
TEST_F(PromotionTest, KindsDoNotConvert) {
  EXPECT_THAT(message(move(Maturity::Accepted, record("simulated"))),
              HasSubstr("e.json: simulated \"copies of every size\": expected "
                        "kind device, found simulated"));
  EXPECT_THAT(message(move(Maturity::Verified, record("assembled"))),
              HasSubstr("expected kind simulated or device, found assembled"));
  EXPECT_THAT(message(move(Maturity::Verified, std::nullopt)),
              HasSubstr("no evidence counts: there is none"));
  have(record("simulated"));
  EXPECT_THAT(
      message(move(Maturity::Accepted, std::nullopt)),
      HasSubstr("not promoted to accepted, because no evidence counts:\n"
                "  simulated \"copies of every size\": expected kind "
                "device, found simulated"));
}

TEST_F(PromotionTest, EvidenceOfOtherCodeDoesNotCount) {
  Json stale = record("simulated");
  stale["kernels"][0]["identity_sha256"] = std::string(64, '0');
  EXPECT_THAT(message(move(Maturity::Verified, stale)),
              HasSubstr("kernel netra_copy_n64: expected computational "
                        "identity " +
                        identity + " of the code of today, found 0000"));
  // The code moves on, the record stays.
  have(record("simulated"));
  EXPECT_EQ(message(move(Maturity::Verified, std::nullopt)), "");
  std::string source = copyTemplate;
  source.replace(source.find("vmcnt(0)"), 8, "vmcnt(1)");
  library.write("kernels/gfx950/test/copy.s", source);
  EXPECT_THAT(message(move(Maturity::Verified, std::nullopt)),
              HasSubstr("expected computational identity"));
  // A comment does not.
  library.write("kernels/gfx950/test/copy.s",
                std::string(copyTemplate) + "// more\n");
  EXPECT_EQ(message(move(Maturity::Verified, std::nullopt)), "");
}

TEST_F(PromotionTest, EvidenceMustSayWhatItSaw) {
  Json vague = {{"kind", "device"}, {"what", "somebody ran it"}};
  EXPECT_THAT(message(move(Maturity::Accepted, vague)),
              HasSubstr("expected the tests that were run, found none"));
  vague["tests"] = record("device")["tests"];
  EXPECT_THAT(message(move(Maturity::Accepted, vague)),
              HasSubstr("expected the kernels it was gathered on, found none"));
  Json failed = record("device");
  failed["tests"][0]["failed"] = 2;
  EXPECT_THAT(message(move(Maturity::Accepted, failed)),
              HasSubstr("expected no failed test, found 2 of 5 in Copy"));
  Json other = record("device");
  other["kernels"][0]["dimensions"] = Json::object();
  EXPECT_THAT(message(move(Maturity::Accepted, other)),
              HasSubstr("dimension N: expected at least 1, found none"));
  other["kind"] = "dreamt";
  EXPECT_THAT(message(move(Maturity::Accepted, other)),
              HasSubstr("e.json: /evidence/kind: expected one of"));
  tactic = "gfx950.move";
  EXPECT_THAT(message(move(Maturity::Accepted, record("device"))),
              HasSubstr("e.json: /tactic: expected gfx950.copy, found "
                        "gfx950.move"));
}

TEST_F(PromotionTest, MaturityOnlyRises) {
  have(record("device"));
  replace("\"experiment\"", "\"accepted\"");
  EXPECT_THAT(message(move(Maturity::Verified, std::nullopt)),
              HasSubstr("expected a maturity below verified, found accepted"));
  EXPECT_THAT(message(move(Maturity::Accepted, std::nullopt)),
              HasSubstr("expected a maturity below accepted, found accepted"));
  replace("\"accepted\"", "\"rejected\"");
  EXPECT_THAT(message(move(Maturity::Accepted, std::nullopt)),
              HasSubstr("what is rejected is not promoted"));
  manifest = "{";
  EXPECT_THAT(message(move(Maturity::Accepted, std::nullopt)),
              HasSubstr("copy.json: expected JSON"));
}

TEST_F(PromotionTest, AManifestIsNamedLikeItsFile) {
  file = "paste.json";
  EXPECT_THAT(message(move(Maturity::Verified, record("simulated"))),
              HasSubstr("paste.json: tactic gfx950.copy: /name: expected "
                        "\"gfx950.paste\" as the file's name says"));
}

TEST_F(PromotionTest, GoldensAreTheirRecord) {
  tactic = "gfx950.golden_copy";
  file = "golden_copy.json";
  manifest = library.record.dump(2);
  EXPECT_THAT(llvm::cantFail(move(Maturity::Accepted, record("device"))),
              HasSubstr("\"maturity\": \"accepted\""));
  identity = std::string(64, '0');
  EXPECT_THAT(message(move(Maturity::Accepted, record("device"))),
              HasSubstr("expected computational identity " +
                        std::string(library.record["code"]["identity_sha256"]) +
                        " of the code, found 0000"));
}

/// Keys in strings, nested keys and odd spacing do not mislead the editor.
TEST_F(PromotionTest, EditsOnlyTheOutermostKeys) {
  replace("\"copies\"", R"("a \"maturity\": \"experiment\", \\")");
  replace("\"maturity\": \"experiment\"", "\"maturity\"\n :\t\"experiment\"");
  replace("\"evidence\": []", "\"evidence\" : [ \n ]");
  std::string text =
      llvm::cantFail(move(Maturity::Verified, record("simulated")));
  EXPECT_THAT(text, HasSubstr("\"maturity\"\n :\t\"verified\""));
  EXPECT_THAT(text, HasSubstr(R"("a \"maturity\": \"experiment\", \\")"));
}

/// Everything but the evidence of the record's kind stays as it was written.
TEST_F(PromotionTest, RecordsTakeThePlaceOfOlderOnes) {
  Json device = record("device"), simulated = record("simulated");
  have(device);
  std::string text = llvm::cantFail(replaceEvidence(
      {manifest, "copy.json"}, json::Value::parse(simulated.dump())));
  EXPECT_EQ(Json::parse(text)["evidence"], Json::array({device, simulated}));
  EXPECT_EQ(text.substr(0, text.find("\"evidence\"")),
            manifest.substr(0, manifest.find("\"evidence\"")));
  simulated["what"] = "other copies";
  text = llvm::cantFail(replaceEvidence({text, "copy.json"},
                                        json::Value::parse(simulated.dump())));
  EXPECT_EQ(Json::parse(text)["evidence"], Json::array({device, simulated}));
  // Twice the same is the same text.
  EXPECT_EQ(llvm::cantFail(replaceEvidence(
                {text, "copy.json"}, json::Value::parse(simulated.dump()))),
            text);
  simulated["kind"] = "dreamt";
  EXPECT_THAT(
      llvm::toString(replaceEvidence({text, "copy.json"},
                                     json::Value::parse(simulated.dump()))
                         .takeError()),
      HasSubstr("/evidence/2/kind: expected one of"));
}

/// What is written of an instance names that instance.
TEST_F(PromotionTest, KernelsAreNamedByWhatIsOpen) {
  Tactic parsed = llvm::cantFail(parseTactic(manifest, "copy.json"));
  have(record("simulated"));
  Tactic full = llvm::cantFail(parseTactic(manifest, "copy.json"));
  Instance instance =
      llvm::cantFail(instantiate(parsed, full.evidence[0].kernels[0].instance));
  Json kernel = Json::parse(describeKernel(instance, identity).dump());
  EXPECT_EQ(kernel, record("simulated")["kernels"][0]);
}
