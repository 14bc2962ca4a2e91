//===- BundleTest.cpp - Writing and reading bundles -----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "../Catalog/SchemaValidator.h"
#include "TestLibrary.h"

#include "gmock/gmock.h"

#include <random>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace netra;
using namespace netra::test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

static Engine finalized() {
  TestEngine test = makeEngine();
  finalizeEngine(test.engine, test.files);
  return test.engine;
}

static std::vector<std::string> listFolder(const fs::path &folder) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Bundle, JsonRoundTrip) {
  Engine engine = finalized();
  std::string text = writeEngineJson(engine);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_THAT(text, HasSubstr("\n  \"format\": \"netra.engine/1\",\n"));
  Engine again = llvm::cantFail(readEngineJson(text));
  EXPECT_TRUE(again == engine);
  EXPECT_EQ(writeEngineJson(again), text);
}

TEST(Bundle, IdsFollowTheContents) {
  Engine engine = finalized();
  EXPECT_EQ(engine.id.substr(0, 3), "ne_");
  EXPECT_EQ(engine.weights.id.substr(0, 3), "nw_");
  TestEngine test = makeEngine();
  test.engine.plans[0].profile.priority = 4;
  finalizeEngine(test.engine, test.files);
  EXPECT_NE(test.engine.id, engine.id);
  EXPECT_EQ(test.engine.weights.id, engine.weights.id);
  test.engine.weights.entries[0].pack.sources[0].checkpoint = "other";
  finalizeEngine(test.engine, test.files);
  EXPECT_NE(test.engine.weights.id, engine.weights.id);
  test = makeEngine();
  test.files["contracts.json"] += " ";
  finalizeEngine(test.engine, test.files);
  EXPECT_NE(test.engine.id, engine.id);
}

TEST(Bundle, SchemaAndReaderAgree) {
  std::ifstream stream(std::string(NETRA_TEST_SOURCE_DIR) +
                       "/manifests/schemas/engine.schema.json");
  SchemaValidator schema(Json::parse(stream));
  Engine engine = finalized();
  engine.plans[0].steps[0].arguments[2] = EngineSlot::null();
  engine.weights.entries[0].pack.steps = {
      PackStep::makeReorder("v_major"), PackStep::makeRestore("v_major"),
      PackStep::makeReshape({8, 8}), PackStep::makeCast(ElementType::F32),
      PackStep::makeLayout("n16k16")};
  for (const char *guard : {"sequence", "routed_rows", "tensor_parallel"})
    engine.plans[0].profile.guards[guard] = {1, 4};
  EngineStep &step = engine.plans[0].steps[0];
  for (llvm::StringRef guard : guardNames)
    step.grid[0].terms[guard.str()] = 2;
  step.arguments.push_back(EngineSlot::value(ElementType::I32, 9));
  step.arguments.back().follows = Affine(1, {{"m", 2}});
  engine.codeObjects.push_back(engine.codeObjects[0]);
  engine.codeObjects[1].lockedBytes = 4096;
  Json document = Json::parse(writeEngineJson(engine));
  EXPECT_TRUE(schema.accepts(document));
  size_t accepted = 0, refused = 0;
  forEachMutation(document, [&](const Json &mutated, const std::string &what) {
    std::string fault = message(readEngineJson(mutated.dump()));
    ASSERT_EQ(fault.empty(), schema.accepts(mutated)) << what << "\n" << fault;
    ++(fault.empty() ? accepted : refused);
  });
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(refused, 1000u);
  EXPECT_THAT(schema.unknownKeywords, ElementsAre());
  EXPECT_THAT(schema.fieldsNeverRefused(), ElementsAre());
}

TEST(Bundle, ReaderReportsAllFaults) {
  Json document = Json::parse(writeEngineJson(finalized()));
  document["bindings"][0]["role"] = "both";
  document["plans"][0]["steps"][0].erase("grid");
  document["extra"] = 1;
  std::string text = message(readEngineJson(document.dump(), "engine.json"));
  EXPECT_THAT(text, HasSubstr("engine.json: /bindings/0/role: expected one of "
                              "\"input\", \"output\", \"state\""));
  EXPECT_THAT(text, HasSubstr("engine.json: /plans/0/steps/0: expected the key "
                              "\"grid\", found none"));
  EXPECT_THAT(text, HasSubstr("unknown key \"extra\""));
  document["format"] = "netra.engine/2";
  EXPECT_EQ(message(readEngineJson(document.dump(), "engine.json")),
            "engine.json: /format: expected one of \"netra.engine/1\", found "
            "the string \"netra.engine/2\"");
}

TEST(Bundle, AnyBytesAreSurvived) {
  std::string text = writeEngineJson(finalized());
  for (size_t length = 0; length + 1 < text.size(); length += 37)
    EXPECT_NE(message(readEngineJson(text.substr(0, length))), "");
  std::mt19937 random(19);
  for (int i = 0; i < 500; ++i) {
    std::string copy = text;
    for (int j = 1 + random() % 4; j > 0; --j)
      copy[random() % copy.size()] = char(random());
    auto engine = readEngineJson(copy);
    if (engine)
      verifyEngine(*engine);
    else
      llvm::consumeError(engine.takeError());
  }
}

TEST(Bundle, WritesACompleteFolder) {
  TemporaryFolder folder;
  TestEngine test = makeEngine();
  std::string place = (folder.path / "out").string();
  mode_t before = ::umask(0077);
  ASSERT_EQ(message(writeBundle(test.engine, test.files, place)), "");
  ::umask(before);
  EXPECT_THAT(listFolder(folder.path), ElementsAre("out"));
  EXPECT_THAT(listFolder(place),
              ElementsAre("code", "contracts.json", "engine.json",
                          "engine.mlir", "explain.json", "graph_recipe.json",
                          "layout_plan.json", "memory_plan.json", "source",
                          "validation.json"));
  EXPECT_TRUE(llvm::cantFail(readBundle(place)) == finalized());
  EXPECT_EQ(folder.read("out/engine.json"), writeEngineJson(finalized()));
  for (const auto &entry : fs::recursive_directory_iterator(place)) {
    struct stat status;
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, entry.is_directory() ? 0755u : 0644u)
        << entry.path();
  }
  EXPECT_THAT(llvm::cantFail(verifyBundle(place)), ElementsAre());
  EXPECT_THAT(llvm::cantFail(verifyBundle(place + "/")), ElementsAre());
}

TEST(Bundle, ReplacesAnEngineButNothingElse) {
  TemporaryFolder folder;
  TestEngine test = makeEngine();
  std::string place = (folder.path / "out").string();
  fs::create_directory(place);
  EXPECT_EQ(message(writeBundle(test.engine, test.files, place)), "");
  test.engine.name = "second";
  EXPECT_EQ(message(writeBundle(test.engine, test.files, place + "/")), "");
  EXPECT_EQ(llvm::cantFail(readBundle(place)).name, "second");
  // An engine that this version of the format cannot read is one, too.
  std::string other = folder.read("out/engine.json");
  other.replace(other.find("\"name\""), 6, "\"called\"");
  folder.write("out/engine.json", other);
  EXPECT_NE(message(readBundle(place).takeError()), "");
  EXPECT_EQ(message(writeBundle(test.engine, test.files, place)), "");
  EXPECT_EQ(llvm::cantFail(readBundle(place)).name, "second");

  folder.write("precious/file", "x");
  folder.write("file", "x");
  auto fault = [&](const std::string &name) {
    return message(
        writeBundle(test.engine, test.files, (folder.path / name).string()));
  };
  // Files beside an engine, or beside something that only looks like one.
  folder.write("out/source/notes.txt", "mine");
  EXPECT_THAT(fault("out"),
              HasSubstr("\"source/notes.txt\", which is no part"));
  EXPECT_EQ(folder.read("out/source/notes.txt"), "mine");
  fs::remove(folder.path / "out/source/notes.txt");
  for (const char *text :
       {"{}", R"({"format": "mine/1", "files": [{"path": "file"}]})"}) {
    folder.write("precious/engine.json", text);
    EXPECT_THAT(fault("precious"),
                HasSubstr("found a folder with other files"));
  }
  EXPECT_EQ(folder.read("precious/file"), "x");
  EXPECT_THAT(fault("file"), HasSubstr("found a file"));
  EXPECT_THAT(fault("absent/out"), HasSubstr("to be a folder"));
  EXPECT_THAT(fault("file/out"), HasSubstr("to be a folder"));
  EXPECT_THAT(fault("out/.."), HasSubstr("own folder name"));
  EXPECT_THAT(message(writeBundle(test.engine, test.files, "")),
              HasSubstr("expected the name of a folder"));
  fs::create_symlink(folder.path / "precious", folder.path / "link");
  EXPECT_THAT(fault("link"), HasSubstr("found a symbolic link"));
  EXPECT_THAT(listFolder(folder.path),
              ElementsAre("file", "link", "out", "precious"));
}

TEST(Bundle, ConcurrentRunsForOneFolderAllSucceed) {
  TemporaryFolder folder;
  TestEngine test = makeEngine();
  std::string place = (folder.path / "out").string();
  std::vector<std::string> messages(8);
  std::vector<std::thread> threads;
  for (std::string &result : messages)
    threads.emplace_back(
        [&] { result = message(writeBundle(test.engine, test.files, place)); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(messages, Each(""));
  EXPECT_THAT(listFolder(folder.path), ElementsAre("out"));
}

TEST(Bundle, TheRemainsOfAKilledRunGoWithTheNextOne) {
  TemporaryFolder folder;
  TestEngine test = makeEngine();
  folder.write(".out.netra-0123abcd/code/half", "x");
  folder.write(".other.netra-0123abcd/half", "x");
  std::string place = (folder.path / "out").string();
  EXPECT_EQ(message(writeBundle(test.engine, test.files, place)), "");
  EXPECT_THAT(listFolder(folder.path),
              ElementsAre(".other.netra-0123abcd", "out"));
}

TEST(Bundle, AFailedRunLeavesNothingBehind) {
  TemporaryFolder folder;
  TestEngine test = makeEngine();
  std::string place = (folder.path / "out").string();
  ASSERT_EQ(message(writeBundle(test.engine, test.files, place)), "");
  std::string before = folder.read("out/engine.json");
  // A file where a folder has to be: the write fails half way.
  BundleFiles files = test.files;
  files["source/a"] = "file";
  files["source/a/b"] = "needs a folder of the same name";
  EXPECT_NE(message(writeBundle(test.engine, files, place)), "");
  for (const char *path : {"../x", "/x", "a//b", "engine.json", "", "a\\b"}) {
    files = test.files;
    files[path] = "x";
    EXPECT_THAT(message(writeBundle(test.engine, files, place)),
                HasSubstr("relative path inside the bundle"));
  }
  EXPECT_EQ(folder.read("out/engine.json"), before);
  EXPECT_THAT(listFolder(folder.path), ElementsAre("out"));
  if (::geteuid() != 0) {
    fs::permissions(folder.path, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_THAT(message(writeBundle(test.engine, test.files, place)),
                HasSubstr("cannot be written"));
    fs::permissions(folder.path, fs::perms::owner_all);
  }
  EXPECT_THAT(message(writeBundle(test.engine, test.files, "/proc/netra")),
              HasSubstr("the engine cannot be written"));
}

TEST(Bundle, SameInputSameBytes) {
  TemporaryFolder left, right;
  TestEngine test = makeEngine();
  for (const TemporaryFolder *folder : {&left, &right})
    ASSERT_EQ(message(writeBundle(test.engine, test.files,
                                  (folder->path / "e").string())),
              "");
  for (const auto &entry : fs::recursive_directory_iterator(left.path)) {
    std::string name = fs::relative(entry.path(), left.path);
    if (!entry.is_regular_file())
      continue;
    EXPECT_EQ(left.read(name), right.read(name)) << name;
  }
}
