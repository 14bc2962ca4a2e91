//===- SeededDefects.h - Damaging an engine ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A clean engine is damaged in one way, and verifyBundle, which is what
// `netra-engine validate` asks first, has to name it. Where a hash would give
// the damage away, hashes are made to fit it, so that the check of what the
// engine means has to find it.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_TARGET_SEEDEDDEFECTS_H
#define NETRA_UNITTESTS_TARGET_SEEDEDDEFECTS_H

#include "TestLibrary.h"

#include "gmock/gmock.h"

#include <functional>
#include <variant>

namespace netra::test {

using Json = nlohmann::json;

/// An engine on disk.
struct Disk {
  const TemporaryFolder &folder;

  std::filesystem::path at(const std::string &name) const {
    return folder.path / "engine" / name;
  }
  std::string read(const std::string &name) const {
    return folder.read("engine/" + name);
  }
  void write(const std::string &name, const std::string &text) const {
    folder.write("engine/" + name, text);
  }
};

/// Before the hashes are computed; after, when only the id of the engine is
/// computed again; as JSON; or on disk.
using Damage =
    std::variant<std::function<void(TestEngine &)>,
                 std::function<void(Engine &)>, std::function<void(Json &)>,
                 std::function<void(Disk &)>>;

struct Defect {
  const char *name;
  Damage damage;
  /// Part of a finding.
  std::string finding;
};

inline void PrintTo(const Defect &defect, std::ostream *os) {
  *os << defect.name;
}

inline void seal(Engine &engine) {
  engine.id.clear();
  engine.id =
      "ne_" + sha256Hex(llvm::StringRef(writeEngineJson(engine))).substr(0, 24);
}

/// What is found in the engine after `damage`.
inline std::vector<std::string> findAfter(const Damage *damage) {
  TemporaryFolder folder;
  Disk disk{folder};
  TestEngine test = makeEngine();
  auto apply = [&](auto &to) {
    using Function = std::function<void(std::decay_t<decltype(to)> &)>;
    if (damage)
      if (const Function *change = std::get_if<Function>(damage))
        (*change)(to);
  };
  apply(test);
  finalizeEngine(test.engine, test.files);
  apply(test.engine);
  seal(test.engine);
  std::string text = writeEngineJson(test.engine);
  Json document = Json::parse(text);
  Json before = document;
  apply(document);
  disk.write("engine.json", document == before ? text : document.dump(2));
  for (const auto &[name, contents] : test.files)
    disk.write(name, contents);
  apply(disk);
  std::vector<std::string> lines;
  auto findings = verifyBundle(disk.at("").string());
  if (!findings)
    return {llvm::toString(findings.takeError())};
  for (const BundleFinding &finding : *findings)
    lines.push_back(finding.str());
  return lines;
}

/// The library that the test engine was made with.
struct CopyLibrary : TestLibrary {
  CopyLibrary() {
    write("manifests/gfx950/tactics/copy.json", copyManifest);
    for (const char *name : {"copy_large", "copy_other"})
      write(std::string("manifests/gfx950/tactics/") + name + ".json",
            copyManifestOf(name));
    Json schemes = Json::parse(copySchemes);
    Json other = schemes["schemes"][0];
    other["name"] = "other";
    schemes["schemes"].push_back(other);
    write("manifests/gfx950/numerics.json", schemes.dump());
    std::filesystem::create_directories(path / "manifests/gfx950/profiles");
  }
};

/// Another hexadecimal digit.
inline void flip(std::string &digits, size_t at) {
  digits[at] = digits[at] == '0' ? '1' : '0';
}

inline EngineStep &step(Engine &engine, size_t i) {
  return engine.plans[0].steps[i];
}
inline EngineStep &step(TestEngine &test, size_t i) {
  return step(test.engine, i);
}
inline EngineKernel &kernel(Engine &engine) {
  return engine.codeObjects[0].kernels[0];
}

/// Gives the code object other bytes, and the engine their hashes.
inline void setCode(TestEngine &test, const std::string &bytes,
                    const std::string &textSha256) {
  EngineCodeObject &object = test.engine.codeObjects[0];
  test.files.erase(object.path);
  object.textSha256 = textSha256;
  object.sha256 = sha256Hex(llvm::StringRef(bytes));
  object.path = "code/" + textSha256.substr(0, 16) + ".hsaco";
  test.files[object.path] = bytes;
}

/// Lets the bundle lock its code, golden from now on, instead of holding it.
inline void lockCode(TestEngine &test) {
  EngineCodeObject &object = test.engine.codeObjects[0];
  object.lockedBytes = test.files.at(object.path).size();
  test.files.erase(object.path);
  object.path = "theirs/copy.hsaco";
  for (auto file = test.files.begin(); file != test.files.end();)
    file = llvm::StringRef(file->first).starts_with("source/")
               ? test.files.erase(file)
               : std::next(file);
  auto edit = [&](const char *name, auto change) {
    Json document = Json::parse(test.files.at(name));
    change(document);
    test.files.at(name) = document.dump(2) + "\n";
  };
  edit("explain.json", [](Json &document) {
    document["selection"]["allow_golden"] = true;
    for (Json &kernels : document["kernels"])
      for (Json &kernel : kernels)
        kernel["code"] = "golden";
  });
  edit("validation.json", [&](Json &document) {
    Json &entry = document["kernels"][0];
    for (const char *key :
         {"assembled", "source_sha256", "source_closure_sha256"})
      entry.erase(key);
    entry["golden_file"] = object.path;
    entry["golden_sha256"] = object.sha256;
    entry["matches_golden_record"] = "passed";
  });
}

/// The code object of sources that have `to` instead of `from`.
inline auto recode(const char *from, const char *to) {
  return [=](TestEngine &test) {
    TestLibrary library;
    bool isThere = false;
    auto replace = [&](std::string text) {
      size_t at = text.find(from);
      isThere |= at != std::string::npos;
      return at == std::string::npos ? text
                                     : text.replace(at, strlen(from), to);
    };
    library.write("kernels/gfx950/test/copy.s", replace(copyTemplate));
    library.write("kernels/gfx950/include/frame.inc", replace(frameInclude));
    Assembler assembler = library.assembler();
    CodeObject object =
        llvm::cantFail(
            assembler.assembleSource(
                replace(assembler.instanceSource(copyInstance())), "x.s"))
            .object;
    EXPECT_TRUE(isThere) << from;
    setCode(test, std::string(object.bytes.begin(), object.bytes.end()),
            object.textSha256);
  };
}

/// The code object with other bytes of the same number.
inline auto patchCode(const std::string &from, const std::string &to) {
  return [=](TestEngine &test) {
    const EngineCodeObject &object = test.engine.codeObjects[0];
    std::string bytes = test.files.at(object.path);
    size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    ASSERT_EQ(from.size(), to.size());
    setCode(test, bytes.replace(at, from.size(), to), object.textSha256);
  };
}

/// Another contract, with the id that it has.
inline auto editContract(std::function<void(Json &)> edit) {
  return [=](TestEngine &test) {
    std::string &text = test.files.at("contracts.json");
    Json document = Json::parse(text);
    Json contract = document["contracts"].begin().value();
    edit(contract);
    std::string id = llvm::cantFail(Contract::fromJson(contract.dump())).id();
    document["contracts"] = {{id, contract}};
    text = document.dump();
    for (EngineStep &step : test.engine.plans[0].steps)
      if (step.kind == EngineStep::Kind::Launch)
        step.contract = id;
  };
}

/// Another member of a report.
inline auto editReport(const std::string &name,
                       std::function<void(Json &)> edit) {
  return [=](TestEngine &test) {
    std::string &text = test.files.at(name);
    Json document = Json::parse(text);
    edit(document);
    text = document.dump(2) + "\n";
  };
}

class SeededDefect : public testing::TestWithParam<Defect> {
protected:
  void check() {
    EXPECT_THAT(findAfter(&GetParam().damage),
                testing::Contains(testing::HasSubstr(GetParam().finding)));
  }
};

} // namespace netra::test

/// Tests for the defects that the function DEFECTS gives.
#define NETRA_SEED(FIXTURE, GROUP, DEFECTS)                                    \
  INSTANTIATE_TEST_SUITE_P(GROUP, FIXTURE, testing::ValuesIn(DEFECTS()),       \
                           [](const testing::TestParamInfo<Defect> &info) {    \
                             return std::string(info.param.name);              \
                           })

#endif // NETRA_UNITTESTS_TARGET_SEEDEDDEFECTS_H
