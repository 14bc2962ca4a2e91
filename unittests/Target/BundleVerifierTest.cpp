//===- BundleVerifierTest.cpp - Seeded defects of engines -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TestLibrary.h"

#include "gmock/gmock.h"

#include <functional>

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

TEST(EngineVerifier, FindsEverySeededDefect) {
  struct Case {
    std::function<void(Engine &)> seed;
    const char *finding;
  };
  auto &&step = [](Engine &e, size_t i) -> EngineStep & {
    return e.plans[0].steps[i];
  };
  auto &&kernel = [](Engine &e) -> EngineKernel & {
    return e.codeObjects[0].kernels[0];
  };
  const Case cases[] = {
      {[](Engine &e) { e.architecture = "gfx9"; }, "/target/architecture"},
      {[](Engine &e) { e.waveSize = 32; }, "/target/wave_size"},
      {[](Engine &e) { e.codeObjectVersion = 4; },
       "/target/code_object_version"},
      {[](Engine &e) { e.files[0].path = "../x"; }, "/files/0/path"},
      {[](Engine &e) { std::swap(e.files[0], e.files[1]); }, "ascending order"},
      {[](Engine &e) { e.codeObjects.push_back(e.codeObjects[0]); },
       "/code_objects/1/name"},
      {[](Engine &e) { e.codeObjects.push_back(e.codeObjects[0]); },
       "/code_objects/1/path"},
      {[](Engine &e) { e.codeObjects[0].path = "code/x.hsaco"; },
       "/code_objects/0/path: expected one of the files"},
      {[](Engine &e) { e.codeObjects[0].sha256[0] ^= 1; },
       "/code_objects/0/sha256"},
      {[](Engine &e) { e.codeObjects[0].kernels.clear(); },
       "expected at least one kernel"},
      {[&](Engine &e) { e.codeObjects[0].kernels.push_back(kernel(e)); },
       "/code_objects/0/kernels/1/symbol"},
      {[&](Engine &e) { kernel(e).arguments[1].name = "x"; },
       "arguments/1/name"},
      {[&](Engine &e) { kernel(e).arguments[0].bytes = 4; },
       "arguments/0/bytes: expected 8, found 4"},
      {[&](Engine &e) { kernel(e).arguments[0].access = Access::Value; },
       "arguments/0/access"},
      {[&](Engine &e) { kernel(e).arguments[1].access = Access::Read; },
       "arguments/1/access"},
      {[&](Engine &e) { kernel(e).arguments[2].offset = 12; },
       "arguments/2/offset: expected a multiple of 8"},
      {[&](Engine &e) { kernel(e).arguments[2].offset = 8; },
       "arguments/2/offset: expected at least 12"},
      {[&](Engine &e) { kernel(e).kernargBytes = 16; },
       "arguments/2/offset: expected it inside the 16 bytes"},
      {[&](Engine &e) { kernel(e).staticLds = 200000; }, "static_lds"},
      {[](Engine &e) { e.bindings[1].name = "x"; }, "/bindings/1/name"},
      {[](Engine &e) { e.bindings[0].bytes = 128; },
       "/bindings/0/bytes: expected 256 for 64xi32, found 128"},
      {[](Engine &e) { e.bindings[0].shape = {-1}; }, "/bindings/0/shape"},
      {[](Engine &e) { e.bindings[0].layout = "zz"; }, "/bindings/0/layout"},
      {[](Engine &e) { e.bindings[0].index = 1; }, "without a gap"},
      {[](Engine &e) { e.bindings[2].role = BindingRole::Output; },
       "/bindings/2/index"},
      {[](Engine &e) { e.weights.alignment = 48; }, "/weights/alignment"},
      {[](Engine &e) { e.weights.id[5] ^= 1; }, "/weights/id"},
      {[](Engine &e) { e.weights.entries[1].name = "w"; },
       "/weights/entries/1/name"},
      {[](Engine &e) { e.weights.entries[0].offset = 128; },
       "expected a multiple of the alignment 256, found 128"},
      {[](Engine &e) { e.weights.bytes = 700; },
       "inside the 700 bytes of weights"},
      {[](Engine &e) { e.weights.entries[1].offset = UINT64_MAX - 255; },
       "bytes of weights"},
      {[](Engine &e) { e.weights.entries[1].offset = 256; },
       "the end of w, found 256"},
      {[](Engine &e) { e.weights.entries[0].pack.sources.clear(); },
       "/weights/entries/0/pack: pack recipe: expected at least one source"},
      {[](Engine &e) { e.weights.entries[0].pack.sources[0].shape = {63}; },
       "/pack: expected a recipe for 64xi32, found one for 63xi32"},
      {[](Engine &e) {
         e.weights.entries[0].pack.steps = {PackStep::makeLayout("n16k16")};
       },
       "/weights/entries/0/pack"},
      {[](Engine &e) { e.plans.clear(); }, "expected at least one plan"},
      {[](Engine &e) { e.plans.push_back(e.plans[0]); }, "/plans/1/name"},
      {[](Engine &e) { e.plans[0].profile.guards.clear(); },
       "expected at least one guard"},
      {[](Engine &e) { e.plans[0].profile.guards["batch"] = {5, 4}; },
       "/plans/0/profile/guards/batch"},
      {[](Engine &e) { e.plans[0].profile.guards["heads"] = {1, 1}; },
       "/plans/0/profile/guards/heads"},
      {[](Engine &e) { e.plans[0].arenaAlignment = 3; }, "/arena/alignment"},
      {[](Engine &e) { e.plans[0].bindings.push_back(9); },
       "/plans/0/bindings/3: expected a binding below 3"},
      {[](Engine &e) { e.plans[0].bindings.push_back(0); },
       "/plans/0/bindings/3: expected each binding once"},
      {[](Engine &e) { e.plans[0].steps.clear(); }, "at least one step"},
      {[&](Engine &e) { step(e, 3).after = {3}; }, "/steps/3/after/0"},
      {[&](Engine &e) { step(e, 3).after = {7}; }, "/steps/3/after/0"},
      {[&](Engine &e) { step(e, 2).after = {1, 0}; }, "/steps/2/after/1"},
      {[&](Engine &e) { step(e, 0).codeObject = 4; }, "/steps/0/code_object"},
      {[&](Engine &e) { step(e, 0).kernel = 4; }, "/steps/0/kernel"},
      {[&](Engine &e) { step(e, 0).grid[0] = 0; }, "/steps/0/grid/0"},
      {[&](Engine &e) { step(e, 0).grid[0] = UINT32_MAX; }, "/steps/0/grid/0"},
      {[&](Engine &e) { step(e, 0).block[1] = 2; }, "/steps/0/block"},
      {[&](Engine &e) { step(e, 0).dynamicLds = 163840; },
       "/steps/0/dynamic_lds"},
      {[&](Engine &e) { step(e, 0).arguments.pop_back(); },
       "/steps/0/arguments: expected 3 for netra_copy_n64, found 2"},
      {[&](Engine &e) { step(e, 0).arguments[1] = EngineSlot::null(); },
       "/steps/0/arguments/1: expected a value"},
      {[&](Engine &e) {
         step(e, 0).arguments[1] = EngineSlot::value(ElementType::F32, 0);
       },
       "/steps/0/arguments/1/type"},
      {[&](Engine &e) { step(e, 0).arguments[1].bits = uint64_t(1) << 32; },
       "/steps/0/arguments/1/bits"},
      {[&](Engine &e) {
         step(e, 0).arguments[0] = EngineSlot::value(ElementType::I32, 0);
       },
       "/steps/0/arguments/0: expected a pointer"},
      {[&](Engine &e) { step(e, 0).arguments[0].index = 8; },
       "/steps/0/arguments/0/index: expected a binding of the plan"},
      {[&](Engine &e) { step(e, 1).arguments[0].index = 8; },
       "/steps/1/arguments/0/index: expected a weight below 2"},
      {[&](Engine &e) {
         step(e, 3).arguments[2] = EngineSlot::binding(0, 0, 256);
       },
       "expected no writing to input x"},
      {[&](Engine &e) {
         step(e, 1).arguments[2] = EngineSlot::weight(0, 0, 256);
       },
       "expected no writing to weight w"},
      {[&](Engine &e) { step(e, 0).arguments[0].bytes = 257; },
       "inside the 256 bytes of binding x"},
      {[&](Engine &e) { step(e, 0).arguments[0].offset = UINT64_MAX; },
       "bytes of binding x"},
      {[&](Engine &e) { step(e, 1).arguments[0].offset = 4; },
       "inside the 256 bytes of weight w"},
      {[&](Engine &e) { e.plans[0].arenaBytes = 500; },
       "inside the 500 bytes of the arena"},
      {[&](Engine &e) {
         step(e, 0).arguments[0].offset = 2;
         step(e, 0).arguments[0].bytes = 100;
       },
       "expected a multiple of the size of i32, found 2"},
      {[](Engine &e) { e.bindings[0].type = ElementType::F32; },
       "expected elements of type i32, found a buffer of f32"},
      {[&](Engine &e) { step(e, 2).after = {0}; },
       "expected step 1 (second) before this one"},
      {[&](Engine &e) {
         step(e, 1).arguments[2].offset = 128; // overlaps step 0, unordered
       },
       "/steps/1/after: expected step 0 (first) before this one"},
      {[&](Engine &e) { step(e, 1).arguments[2].bytes = 128; },
       "byte 384 of the arena is not written"},
      {[&](Engine &e) { step(e, 3).after = {}; },
       "expected step 2 (middle) before this one"},
      {[&](Engine &e) {
         step(e, 3).arguments[0] = EngineSlot::binding(1, 4, 252);
       },
       "found an overlap of x in binding y and result in binding y"},
      {[&](Engine &e) { step(e, 3).arguments[2] = EngineSlot::null(); },
       "expected a step that writes output y, found none"},
      {[&](Engine &e) { step(e, 2).outputs[0] = EngineSlot::null(); },
       "/steps/2/outputs/0: expected memory"},
      {[&](Engine &e) { step(e, 2).inputs[0].offset = 400; },
       "/steps/2/inputs/0/offset"},
      {[&](Engine &e) {
         step(e, 2).outputs[0] = EngineSlot::binding(0, 0, 256);
       },
       "expected no writing to input x"},
  };
  for (const Case &c : cases) {
    Engine engine = finalized();
    c.seed(engine);
    EXPECT_THAT(lines(verifyEngine(engine)), Contains(HasSubstr(c.finding)))
        << c.finding;
  }
}

namespace {
/// A bundle on disk that a test damages.
class BundleVerifier : public testing::Test {
protected:
  void SetUp() override {
    TestEngine test = makeEngine();
    ASSERT_EQ(message(writeBundle(test.engine, test.files, place())), "");
    code = test.engine.codeObjects[0].path;
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
  /// Writes the engine again with changes to it and its files, all hashes
  /// right.
  void rewrite(std::function<void(TestEngine &)> change) {
    TestEngine test = makeEngine();
    change(test);
    ASSERT_EQ(message(writeBundle(test.engine, test.files, place())), "");
  }

  TemporaryFolder folder;
  std::string code;
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

TEST_F(BundleVerifier, CodeObjectsAgainstTheirDescription) {
  using Change = std::function<void(EngineKernel &)>;
  const std::pair<Change, const char *> cases[] = {
      {[](EngineKernel &k) { k.symbol = "x"; }, "/kernels/0/symbol"},
      {[](EngineKernel &k) { k.kernargBytes = 32; }, "/kernarg_bytes"},
      {[](EngineKernel &k) { k.staticLds = 128; }, "/static_lds"},
      {[](EngineKernel &k) { k.vgprs = 3; }, "/vgprs"},
      {[](EngineKernel &k) { k.agprs = 3; }, "/agprs"},
      {[](EngineKernel &k) { k.sgprs = 3; }, "/sgprs"},
      {[](EngineKernel &k) { k.maxWorkgroup = 128; }, "/max_workgroup"},
      {[](EngineKernel &k) { k.arguments.pop_back(); }, "3 arguments"},
      {[](EngineKernel &k) { k.arguments[0].name = "a"; }, "/arguments/0/name"},
      {[](EngineKernel &k) {
         k.arguments[2].offset = 24;
         k.kernargBytes = 32;
       },
       "/arguments/2/offset"},
      {[](EngineKernel &k) { k.arguments[1].bytes = 8; }, "/arguments/1/bytes"},
      {[](EngineKernel &k) { k.arguments[0].kind = ArgumentKind::Value; },
       "/arguments/0/kind"},
      {[](EngineKernel &k) { k.arguments[2].access = Access::ReadWrite; },
       "/arguments/2/access"},
  };
  for (const auto &[change, part] : cases) {
    rewrite([&](TestEngine &test) {
      change(test.engine.codeObjects[0].kernels[0]);
    });
    EXPECT_THAT(findings(), Contains(HasSubstr(part))) << part;
  }
  rewrite(
      [&](TestEngine &test) { test.engine.codeObjects[0].textSha256[0] ^= 1; });
  EXPECT_THAT(findings(), Contains(HasSubstr("/code_objects/0/text_sha256")));
  rewrite([&](TestEngine &test) {
    test.files[code] = "no code object";
    test.engine.codeObjects[0].sha256 =
        sha256Hex(llvm::StringRef("no code object"));
  });
  EXPECT_THAT(findings(), Contains(HasSubstr("expected an ELF file")));
}

TEST_F(BundleVerifier, LaunchesAgainstTheirContracts) {
  using Change = std::function<void(TestEngine &)>;
  auto step = [](TestEngine &test) -> EngineStep & {
    return test.engine.plans[0].steps[0];
  };
  const std::pair<Change, const char *> cases[] = {
      {[](TestEngine &t) { t.files.erase("contracts.json"); },
       "contracts.json: expected the contracts of the launches"},
      {[](TestEngine &t) { t.files["contracts.json"] = "[]"; },
       "contracts.json: /: expected an object"},
      {[](TestEngine &t) {
         std::string &text = t.files["contracts.json"];
         size_t at = text.find("\"wave_size\": 64");
         text.replace(at, 15, "\"wave_size\": 32");
       },
       "contracts.json: expected id nk_"},
      {[&](TestEngine &t) { step(t).contract[5] ^= 1; },
       "/plans/0/steps/0/contract: expected a contract of contracts.json"},
      {[&](TestEngine &t) { step(t).grid[0] = 2; },
       "/plans/0/steps/0/grid/0: expected 1 as the contract says, found 2"},
      {[&](TestEngine &t) { step(t).block[0] = 32; },
       "/plans/0/steps/0/block/0"},
      {[&](TestEngine &t) { step(t).dynamicLds = 64; },
       "/plans/0/steps/0/dynamic_lds"},
      {[&](TestEngine &t) { step(t).arguments[1].bits = 63; },
       "/plans/0/steps/0/arguments/1/bits: expected 64"},
      {[&](TestEngine &t) { step(t).arguments[0].bytes = 128; },
       "/plans/0/steps/0/arguments/0/bytes: expected at least the 256 bytes of "
       "x, found 128"},
      {[&](TestEngine &t) { step(t).arguments[0] = EngineSlot::null(); },
       "the 256 bytes of x, found 0"},
      {[&](TestEngine &t) {
         t.engine.codeObjects[0].kernels[0].arguments[0].type =
             ElementType::U32;
       },
       "expected argument x as the contract describes it"},
  };
  for (const auto &[change, part] : cases) {
    rewrite(change);
    EXPECT_THAT(findings(), Contains(HasSubstr(part))) << part;
  }
}
