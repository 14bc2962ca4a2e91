//===- BundleVerifierTest.cpp - Engines on disk ---------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SeededDefects.h"

#include "gmock/gmock.h"

using namespace netra;
using namespace netra::test;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

static std::vector<std::string>
lines(const std::vector<BundleFinding> &findings) {
  std::vector<std::string> result;
  for (const BundleFinding &finding : findings)
    result.push_back(finding.str());
  return result;
}

static Engine finalized() {
  TestEngine test = makeEngine();
  finalizeEngine(test.engine, test.files);
  return test.engine;
}

TEST(EngineVerifier, ACleanEngineHasNoFindings) {
  EXPECT_THAT(lines(verifyEngine(finalized())), ElementsAre());
  EXPECT_THAT(lines(verifyEngine(makeEngine().engine)), ElementsAre());
}

/// What is written could not be read back, or would reach terminals.
TEST(EngineVerifier, TextsArePlain) {
  auto check = [](const char *text) {
    Engine engine = makeEngine().engine;
    engine.plans[0].steps[0].name = text;
    return lines(verifyEngine(engine));
  };
  EXPECT_THAT(check("decoder/größe λ 层"), ElementsAre());
  for (const char *text :
       {"\xff", "a\nb", "\x1b[31m", "\x7f", "\xc2\x85", "\xc3", "\xed\xa0\x80"})
    EXPECT_THAT(check(text),
                ElementsAre(HasSubstr("/plans/0/steps/0/name: expected UTF-8 "
                                      "without control characters, found \"")))
        << text;
  EXPECT_THAT(check("\x1b[31m"), ElementsAre(HasSubstr("\"\\1B[31m\"")));
  EXPECT_THAT(check(""),
              ElementsAre("/plans/0/steps/0/name: expected a text that is not "
                          "empty, found \"\""));
  Engine engine = makeEngine().engine;
  for (auto set : {+[](Engine &e) { e.name.clear(); },
                   +[](Engine &e) { e.bindings[0].name.clear(); },
                   +[](Engine &e) { e.weights.entries[0].name.clear(); },
                   +[](Engine &e) { e.plans[0].profile.name.clear(); },
                   +[](Engine &e) { e.plans[0].steps[0].tactic.clear(); }}) {
    Engine unnamed = engine;
    set(unnamed);
    EXPECT_THAT(lines(verifyEngine(unnamed)),
                Contains(HasSubstr("expected a text that is not empty")));
  }
  engine.name = engine.bindings[0].name = engine.weights.entries[0].name =
      engine.plans[0].profile.name = "\t";
  for (const char *where : {"/name", "/bindings/0/name",
                            "/weights/entries/0/name", "/plans/0/profile/name"})
    EXPECT_THAT(lines(verifyEngine(engine)),
                Contains(std::string(where) +
                         ": expected UTF-8 without control characters, found "
                         "\"\\09\""));
}

namespace {
/// A bundle on disk that a test damages.
class BundleVerifier : public testing::Test {
protected:
  void SetUp() override {
    TestEngine test = makeEngine();
    ASSERT_EQ(message(writeBundle(test.engine, test.files, place())), "");
  }
  std::string place() const { return (folder.path / "engine").string(); }
  std::string read(const std::string &name) const {
    return folder.read("engine/" + name);
  }
  void write(const std::string &name, const std::string &text) const {
    folder.write("engine/" + name, text);
  }
  std::vector<std::string> findings() const {
    return lines(llvm::cantFail(verifyBundle(place())));
  }
  TemporaryFolder folder;
};
} // namespace

TEST_F(BundleVerifier, CleanBundle) { EXPECT_THAT(findings(), ElementsAre()); }

TEST_F(BundleVerifier, EveryFileAlteredTruncatedOrMissing) {
  for (const auto &entry : fs::recursive_directory_iterator(place())) {
    if (!entry.is_regular_file())
      continue;
    std::string name = fs::relative(entry.path(), place());
    std::string text = read(name);
    for (size_t at : {size_t(0), text.size() / 2, text.size() - 1}) {
      std::string changed = text;
      changed[at] ^= 1;
      write(name, changed);
      EXPECT_FALSE(findings().empty()) << name << " byte " << at;
      write(name, text.substr(0, at));
      EXPECT_FALSE(findings().empty()) << name << " cut at " << at;
    }
    fs::remove(entry.path());
    EXPECT_FALSE(findings().empty()) << name << " removed";
    write(name, text);
    ASSERT_THAT(findings(), ElementsAre());
  }
}

/// What a bundle only locks is looked at where it is, if that is known.
TEST(LockedCode, IsHeldAgainstItsFolder) {
  TemporaryFolder folder;
  TestEngine test = makeEngine();
  const std::string code = test.files.at(test.engine.codeObjects[0].path);
  lockCode(test);
  const std::string place = (folder.path / "engine").string();
  ASSERT_EQ(message(writeBundle(test.engine, test.files, place)), "");
  EXPECT_FALSE(fs::exists(place + "/code"));
  auto find = [&](const std::string &root) {
    return lines(llvm::cantFail(verifyBundle(place, root)));
  };
  EXPECT_THAT(find(""), ElementsAre());
  EXPECT_THAT(message(loadCode(place)),
              HasSubstr("expected the bytes of code object k0, SHA-256 " +
                        test.engine.codeObjects[0].sha256 +
                        ", which the engine only locks; name the folder that "
                        "has theirs/copy.hsaco with --golden-root"));

  const std::string root = (folder.path / "golden").string();
  EXPECT_THAT(find(root),
              ElementsAre(HasSubstr(
                  "/code_objects/0/locked: tactic gfx950.copy: golden code "
                  "object " +
                  root +
                  "/theirs/copy.hsaco: expected a "
                  "readable file, found: No such")));
  folder.write("golden/theirs/copy.hsaco", code);
  EXPECT_THAT(find(root), ElementsAre());
  EXPECT_EQ(llvm::cantFail(loadCode(place, root)).size(), 1u);
  std::string wrong = code;
  wrong[wrong.size() / 2] ^= 1;
  folder.write("golden/theirs/copy.hsaco", wrong);
  EXPECT_THAT(find(root), ElementsAre(HasSubstr(
                              "expected SHA-256 " +
                              sha256Hex(llvm::StringRef(code)) + ", found ")));
  folder.write("golden/theirs/copy.hsaco", code + "x");
  EXPECT_THAT(find(root),
              ElementsAre(HasSubstr("expected " + std::to_string(code.size()) +
                                    " bytes, found " +
                                    std::to_string(code.size() + 1))));

  // The right bytes, and another description of them.
  folder.write("golden/theirs/copy.hsaco", code);
  const uint64_t vgprs = test.engine.codeObjects[0].kernels[0].vgprs++;
  ASSERT_EQ(message(writeBundle(test.engine, test.files, place)), "");
  EXPECT_THAT(find(""), ElementsAre());
  EXPECT_THAT(
      find(root),
      ElementsAre(HasSubstr(
          "/code_objects/0/kernels/0/vgprs: expected " + std::to_string(vgprs) +
          " as the code object says, found " + std::to_string(vgprs + 1))));
}

TEST_F(BundleVerifier, FilesOnDisk) {
  write("extra/notes.txt", "x");
  EXPECT_THAT(findings(),
              ElementsAre(HasSubstr("extra/notes.txt: expected only files")));
  fs::remove_all(place() + "/extra");
  std::string text = read("contracts.json");
  write("outside.json", text);
  fs::rename(place() + "/outside.json", folder.path / "outside.json");
  fs::remove(place() + "/contracts.json");
  fs::create_symlink(folder.path / "outside.json", place() + "/contracts.json");
  EXPECT_THAT(findings(), Contains(HasSubstr("contracts.json: expected a "
                                             "readable file")));
  EXPECT_THAT(message(verifyBundle(folder.path.string() + "/absent")),
              HasSubstr("expected an engine"));
}

TEST_F(BundleVerifier, EngineJsonItself) {
  std::string text = read("engine.json");
  write("engine.json", text + "\n");
  EXPECT_THAT(findings(), Contains(HasSubstr("canonical spelling")));
  std::string other = text;
  size_t at = other.find("\"ne_") + 5;
  other[at] = other[at] == '0' ? '1' : '0';
  write("engine.json", other);
  EXPECT_THAT(findings(), Contains(HasSubstr("/id: expected ne_")));
  write("engine.json", "");
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("expected JSON")));
  fs::remove(place() + "/engine.json");
  EXPECT_THAT(findings(), ElementsAre(HasSubstr("expected a readable file")));
}
