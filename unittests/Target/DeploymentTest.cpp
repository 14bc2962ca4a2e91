//===- DeploymentTest.cpp - Building deployments --------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Deployment.h"

#include "Netra/Target/Equivalence.h"
#include "TestGolden.h"

#include "gmock/gmock.h"

using namespace netra;
using namespace netra::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A library with tactic and golden, and a deployment of them.
class DeploymentTest : public testing::Test {
protected:
  void SetUp() override {
    library.write("manifests/gfx950/tactics/copy.json", copyManifest);
    library.write("manifests/gfx950/numerics.json", copySchemes);
    library.write("manifests/gfx950/goldens/golden_copy.json",
                  library.record.dump(2));
    fs::create_directories(library.path / "manifests/gfx950/profiles");
    Json member = {{"tactic", "gfx950.copy"},
                   {"dimensions", {{"N", 64}}},
                   {"attributes", {{"activation", "none"}}},
                   {"operands",
                    {{"x", {{"shape", {64}}}}, {"result", {{"shape", {64}}}}}}};
    Json other = member;
    other["symbol"] = "old_copy";
    other["dimensions"]["N"] = 128;
    Json golden = member;
    golden["tactic"] = "gfx950.golden_copy";
    manifest = {
        {"format", "netra.deployment/1"},
        {"name", "test"},
        {"target", "gfx950"},
        {"summary", "for tests"},
        {"artifacts",
         {{{"name", "one"}, {"members", {member}}, {"text_sha256", text()}},
          {{"name", "two"},
           {"members", {other, member}},
           {"text_sha256", nullptr}},
          {{"name", "theirs"},
           {"members", {golden}},
           {"text_sha256", text()}}}}};
  }

  std::string text() const { return library.object.textSha256; }

  llvm::Expected<BuiltDeployment> build(unsigned threads = 2) {
    Catalog catalog =
        llvm::cantFail(Catalog::load(library.path.string(), "gfx950"));
    auto deployment = parseDeployment(manifest.dump(), "d.json");
    if (!deployment)
      return deployment.takeError();
    return buildDeployment(*deployment, catalog, library.builder(), threads,
                           [&](size_t done, size_t total, llvm::StringRef) {
                             progress.emplace_back(done, total);
                           });
  }

  GoldenLibrary library;
  Json manifest;
  std::vector<std::pair<size_t, size_t>> progress;
};

} // namespace

TEST_F(DeploymentTest, BuildsEveryArtifact) {
  BuiltDeployment built = llvm::cantFail(build());
  EXPECT_THAT(progress, ElementsAre(Pair(1, 3), Pair(2, 3), Pair(3, 3)));
  EXPECT_THAT(built.files, SizeIs(4));
  Json report = Json::parse(built.files.at("deployment.json"));
  EXPECT_EQ(report["format"], "netra.deployed/1");
  const Json &artifacts = report["artifacts"];
  ASSERT_THAT(artifacts, SizeIs(3));
  EXPECT_EQ(artifacts[0]["kernels"][0]["symbol"], "netra_copy_n64");
  EXPECT_EQ(artifacts[0]["locked"], true);
  EXPECT_EQ(artifacts[1]["kernels"][0]["symbol"], "old_copy");
  EXPECT_EQ(artifacts[1]["kernels"][1]["symbol"], "netra_copy_n64");
  EXPECT_EQ(artifacts[1]["kernels"][0]["grid"], Json({2, 1, 1}));
  EXPECT_EQ(artifacts[2]["sha256"], library.object.sha256);
  EXPECT_EQ(artifacts[0]["kernels"][0]["identity_sha256"],
            artifacts[2]["kernels"][0]["identity_sha256"]);
  for (const Json &artifact : artifacts)
    EXPECT_EQ(artifact["sha256"], sha256Hex(llvm::StringRef(built.files.at(
                                      artifact["path"].get<std::string>()))));
  ASSERT_THAT(built.unlocked, SizeIs(1));
  EXPECT_EQ(built.unlocked[0].first, "two");
  EXPECT_EQ(artifacts[1]["text_sha256"], built.unlocked[0].second);
  // The number of threads does not matter.
  EXPECT_EQ(llvm::cantFail(build(1)).files, built.files);
}

TEST_F(DeploymentTest, EveryFaultIsNamed) {
  std::string zeros(64, '0');
  manifest["artifacts"][0]["text_sha256"] = zeros;
  manifest["artifacts"][1]["members"][0]["definitions"] = {{"N", 256},
                                                           {"Q", 1}};
  manifest["artifacts"][2]["members"][0]["symbol"] = "their_copy";
  std::string fault = message(build());
  for (const std::string &part :
       {"d.json: artifact one: SHA-256 of .text: the lock says " + zeros +
            ", the code object says " + text(),
        std::string("d.json: artifact two: tactic gfx950.copy: expected N = "
                    "256 as the deployment defines, found 128"),
        std::string("expected Q = 1 as the deployment defines, found no such "
                    "constant"),
        std::string("d.json: artifact theirs: tactic gfx950.golden_copy: "
                    "expected the symbol netra_copy_n64 of the golden code "
                    "object, found that their_copy is asked for")})
    EXPECT_THAT(fault, HasSubstr(part));
}

TEST_F(DeploymentTest, FaultsOfMembersAreNamed) {
  Json &members = manifest["artifacts"][1]["members"];
  members[0]["symbol"] = "netra_copy_n64";
  EXPECT_THAT(message(build()), HasSubstr("artifact two: expected each symbol "
                                          "once, found netra_copy_n64 twice"));
  members[0]["tactic"] = "gfx950.golden_copy";
  EXPECT_THAT(message(build()),
              HasSubstr("expected golden code to be the only member, found 2"));
  members[0]["tactic"] = "gfx950.none";
  EXPECT_THAT(message(build()),
              HasSubstr("artifact two: expected a tactic of the catalogue of "
                        "gfx950, found \"gfx950.none\""));
  members[1]["dimensions"] = Json::object();
  EXPECT_THAT(message(build()),
              HasSubstr("artifact two: tactic gfx950.copy: dimension N: "
                        "expected at least 1, found none"));
  members[1]["dimensions"] = {{"N", 65}};
  members.erase(0);
  EXPECT_THAT(message(build()), HasSubstr("N must be a multiple of 64"));
}

TEST_F(DeploymentTest, IsWrittenInOneStep) {
  BuiltDeployment built = llvm::cantFail(build());
  std::string folder = (library.path / "out").string();
  ASSERT_EQ(message(writeDeployment(built.files, folder)), "");
  EXPECT_EQ(library.read("out/one.hsaco"), built.files.at("one.hsaco"));
  EXPECT_EQ(message(writeDeployment(built.files, folder)), ""); // replaced
  library.write("other/precious", "x");
  EXPECT_THAT(
      message(writeDeployment(built.files, (library.path / "other").string())),
      HasSubstr("expected a deployment and nothing else, an empty folder or "
                "nothing"));
  EXPECT_EQ(library.read("other/precious"), "x");
}
