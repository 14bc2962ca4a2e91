//===- RefusalTests.cpp - Bundles and weights that must be refused --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Manifest.h"
#include "Sha256.h"

#include "llvm/Support/FileSystem.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <functional>

using namespace netra::test;
using nlohmann::json;

namespace {

/// A copy of the tiny bundle to damage.
class Damaged {
public:
  Damaged() : text(readText(tinyBundle() + "/engine.json")) {
    document = json::parse(text);
    for (const json &file : document["files"]) {
      std::string path = file["path"];
      llvm::sys::fs::create_directories(
          directory.file(path.substr(0, path.find_last_of("/") + 1)));
      writeText(directory.file(path), readText(tinyBundle() + "/" + path));
    }
    writeText(directory.file("engine.json"), text);
  }

  /// Writes the changed document with a fresh id.
  void commit() {
    writeText(directory.file("engine.json"),
              withFreshId(document.dump(2) + "\n"));
  }

  /// Verifies the changed document with a fresh id, without the disk.
  netra_status verifyDocument() {
    netra::rt::Manifest manifest;
    netra::rt::Status status = netra::rt::parseManifest(
        withFreshId(document.dump(2) + "\n"), manifest);
    if (!status.failed())
      status = netra::rt::verifyManifest(manifest);
    message = status.getMessage();
    return status.getCode();
  }

  netra_status verify() {
    char error[4096] = "";
    netra_status status =
        netra_engine_verify(directory.path().c_str(), error, sizeof(error));
    message = error;
    return status;
  }

  TemporaryDirectory directory;
  std::string text, message;
  json document;
};

TEST(RefusalTest, TheBundleItselfIsAccepted) {
  Damaged bundle;
  EXPECT_EQ(bundle.verify(), NETRA_OK) << bundle.message;
  bundle.commit();
  EXPECT_EQ(bundle.verify(), NETRA_OK) << bundle.message;
}

/// Code that the engine only locks is read elsewhere, hashed, and held against
/// the description like any other.
TEST(LockedCodeTest, IsTheOneOfItsHashOrRefused) {
  Damaged bundle;
  json &object = bundle.document["code_objects"][0];
  const std::string path = object["path"], sha256 = object["sha256"];
  const std::string bytes = readText(bundle.directory.file(path));
  llvm::sys::fs::remove(bundle.directory.file(path));
  json &files = bundle.document["files"];
  for (size_t i = 0; i < files.size(); ++i)
    if (files[i]["path"] == path)
      files.erase(i--);
  object.erase("path");
  object["locked"] = {{"file", "theirs/tiny.hsaco"}, {"bytes", bytes.size()}};
  bundle.commit();
  EXPECT_EQ(bundle.verify(), NETRA_OK) << bundle.message;

  TemporaryDirectory golden;
  llvm::sys::fs::create_directories(golden.file("theirs"));
  const std::string root = golden.path(),
                    file = golden.file("theirs/tiny.hsaco");
  auto attempt = [&](const char *folder, netra_status expected,
                     const std::string &text) {
    netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
    options.hip_library = NETRA_FAKE_HIP;
    options.golden_root = folder;
    netra_engine *engine = nullptr;
    char error[2048] = "";
    EXPECT_EQ(netra_engine_create(bundle.directory.path().c_str(), &options,
                                  &engine, error, sizeof(error)),
              expected)
        << error;
    EXPECT_NE(std::string(error).find(text), std::string::npos) << error;
    netra_engine_destroy(engine);
  };
  attempt(nullptr, NETRA_IO,
          "expected its bytes, SHA-256 " + sha256 +
              ", which the engine only locks; name the folder that has "
              "theirs/tiny.hsaco");
  attempt(root.c_str(), NETRA_IO, "theirs/tiny.hsaco: cannot open");
  writeText(file, bytes);
  attempt(root.c_str(), NETRA_OK, "");
  std::string wrong = bytes;
  wrong[wrong.size() / 2] ^= 1;
  writeText(file, wrong);
  attempt(root.c_str(), NETRA_MANIFEST,
          "theirs/tiny.hsaco: expected SHA-256 " + sha256 + ", found ");
  writeText(file, bytes.substr(1));
  attempt(root.c_str(), NETRA_MANIFEST,
          "expected " + std::to_string(bytes.size()) + " bytes, found " +
              std::to_string(bytes.size() - 1));
  writeText(file, bytes + "x");
  attempt(root.c_str(), NETRA_MANIFEST, "expected at most ");

  // The environment names the folder for programs that do not know of it.
  setenv("NETRA_GOLDEN_ROOT", root.c_str(), 1);
  attempt(nullptr, NETRA_MANIFEST, "expected at most ");
  EXPECT_EQ(bundle.verify(), NETRA_MANIFEST);
  attempt("", NETRA_IO, "which the engine only locks");
  writeText(file, bytes);
  attempt(nullptr, NETRA_OK, "");
  EXPECT_EQ(bundle.verify(), NETRA_OK) << bundle.message;
  // Another description than that of the code.
  object["kernels"][0]["vgprs"] = 77;
  bundle.commit();
  EXPECT_EQ(bundle.verify(), NETRA_MANIFEST);
  EXPECT_NE(bundle.message.find("VGPRs: engine.json states 77"),
            std::string::npos)
      << bundle.message;
  unsetenv("NETRA_GOLDEN_ROOT");

  auto refuses = [&](const std::string &text) {
    EXPECT_EQ(bundle.verifyDocument(), NETRA_MANIFEST);
    EXPECT_NE(bundle.message.find(text), std::string::npos) << bundle.message;
  };
  for (const char *outside : {"../tiny.hsaco", "/tiny.hsaco", "a//b"}) {
    object["locked"]["file"] = outside;
    refuses("is not a path below a folder");
  }
  object["locked"]["bytes"] = 0;
  refuses("/locked/bytes: expected 1 to");
  object["locked"] = {{"file", "x"}, {"bytes", 1}, {"more", 1}};
  refuses("unknown key \"more\"");
  object["locked"].erase("more");
  object["path"] = path;
  refuses("unknown key \"path\"");
}

TEST(RefusalTest, EveryFileTruncatedAlteredOrMissing) {
  Damaged bundle;
  std::vector<std::string> paths = {"engine.json"};
  for (const json &file : bundle.document["files"])
    paths.push_back(file["path"]);
  ASSERT_GE(paths.size(), 3u);
  for (const std::string &path : paths) {
    std::string whole = readText(bundle.directory.file(path));
    auto refuses = [&](const std::string &contents, const std::string &what) {
      writeText(bundle.directory.file(path), contents);
      netra_status status = bundle.verify();
      EXPECT_EQ(status, NETRA_MANIFEST) << path << " " << what;
      EXPECT_NE(bundle.message.find(path), std::string::npos) << bundle.message;
    };
    size_t step = std::max<size_t>(whole.size() / 61, 1);
    for (size_t length = 0; length < whole.size(); length += step)
      refuses(whole.substr(0, length), "cut to " + std::to_string(length));
    for (size_t at = 0; at < whole.size(); at += step) {
      std::string changed = whole;
      changed[at] = char(changed[at] ^ 0x10);
      refuses(changed, "changed at " + std::to_string(at));
    }
    refuses(whole + " ", "longer");
    llvm::sys::fs::remove(bundle.directory.file(path));
    EXPECT_EQ(bundle.verify(), NETRA_IO) << path;
    llvm::sys::fs::create_directory(bundle.directory.file(path));
    EXPECT_EQ(bundle.verify(), NETRA_IO) << path << " is a directory";
    llvm::sys::fs::remove(bundle.directory.file(path));
    writeText(bundle.directory.file(path), whole);
    EXPECT_EQ(bundle.verify(), NETRA_OK) << bundle.message;
  }
}

TEST(RefusalTest, GarbageInPlaceOfTheDescription) {
  Damaged bundle;
  for (std::string contents :
       {std::string(), std::string("\0\1\2\3", 4), std::string("{}"),
        std::string("[]"), std::string("null"), std::string("{\"format\": 1}"),
        std::string(1 << 20, '['), std::string("{\"format\": \"x\""),
        std::string("\xff\xfe"),
        std::string("{\"format\":\"netra.engine/2\"}")}) {
    writeText(bundle.directory.file("engine.json"), contents);
    EXPECT_EQ(bundle.verify(), NETRA_MANIFEST) << contents.substr(0, 40);
    EXPECT_NE(bundle.message.find("engine.json"), std::string::npos);
  }
}

/// Calls `visit` with the pointer of every value of a document.
void forEachValue(
    const json &value, const json::json_pointer &at,
    const std::function<void(const json::json_pointer &)> &visit) {
  if (!at.empty())
    visit(at);
  if (value.is_object())
    for (auto it = value.begin(); it != value.end(); ++it)
      forEachValue(*it, at / it.key(), visit);
  else if (value.is_array())
    for (size_t i = 0; i < value.size(); ++i)
      forEachValue(value[i], at / i, visit);
}

TEST(RefusalTest, EveryFieldWrongInTurn) {
  Damaged bundle;
  const json original = bundle.document;
  const json wrong[] = {nullptr,
                        -1,
                        1.5,
                        true,
                        "",
                        "no such thing",
                        uint64_t(1) << 63,
                        UINT64_MAX,
                        json::array(),
                        json::object(),
                        json::array({json::object()})};
  size_t refused = 0;
  forEachValue(
      original, json::json_pointer(), [&](const json::json_pointer &at) {
        // How weights are packed is the packer's business, and the id is made
        // anew.
        std::string path = at.to_string();
        if (path.find("/pack") != std::string::npos || path == "/id")
          return;
        // Attributes are named by the operation and may be of any kind; only an
        // output in place has `updates`.
        bool isAttribute = path.find("/attributes/") != std::string::npos &&
                           at.back() != "f64";
        bool isFree = isAttribute || at.back() == "attributes";
        for (const json &value : wrong) {
          if (isAttribute)
            break;
          bundle.document = original;
          json &target = bundle.document[at];
          bool sameType =
              (target.is_string() && value.is_string()) ||
              (target.is_number() && value.is_number_integer()) ||
              (target.is_structured() && target.type() == value.type());
          target = value;
          netra_status status = bundle.verifyDocument();
          // A wrong type is always refused; a value of the right type may be as
          // good as the one that stood there.
          if (!sameType) {
            EXPECT_EQ(status, NETRA_MANIFEST) << path << " = " << value;
          }
          if (status) {
            ++refused;
            EXPECT_FALSE(bundle.message.empty());
          }
        }
        // Missing: every key is needed.
        if (!std::isdigit(at.back()[0]) && !isAttribute &&
            at.back() != "updates" &&
            path.find("/guards/") == std::string::npos) {
          bundle.document = original;
          json &parent = bundle.document[at.parent_pointer()];
          parent.erase(at.back());
          EXPECT_EQ(bundle.verifyDocument(), NETRA_MANIFEST)
              << path << " missing";
          EXPECT_NE(bundle.message.find(at.back()), std::string::npos)
              << bundle.message;
        }
        // Unknown keys.
        if (original[at].is_object() && !isFree &&
            path.find("/guards") == std::string::npos) {
          bundle.document = original;
          bundle.document[at]["surprise"] = 1;
          EXPECT_EQ(bundle.verifyDocument(), NETRA_MANIFEST)
              << path << " with a key more";
          EXPECT_NE(bundle.message.find("surprise"), std::string::npos);
        }
      });
  EXPECT_GT(refused, 1000u);
}

TEST(RefusalTest, SeededDefects) {
  const uint64_t big = UINT64_MAX - 8;
  const char *first = "/plans/0/steps/0";
  auto at = [&](const char *rest) { return std::string(first) + rest; };
  auto fallback = [](const char *rest) {
    return std::string("/plans/1/steps/1") + rest;
  };
  struct Entry {
    std::string pointer;
    json value;
    netra_status status;
    std::string text;
  };
  const json null = {{"kind", "null"}};
  auto slot = [](const char *kind, uint64_t index, uint64_t offset,
                 uint64_t bytes) {
    return json{
        {"kind", kind}, {"index", index}, {"offset", offset}, {"bytes", bytes}};
  };
  auto arena = [](uint64_t offset, uint64_t bytes) {
    return json{{"kind", "arena"}, {"offset", offset}, {"bytes", bytes}};
  };
  auto value = [](const char *type, uint64_t bits) {
    return json{{"kind", "value"}, {"type", type}, {"bits", bits}};
  };
  auto affine = [](const char *dimension, uint64_t factor,
                   uint64_t constant = 0) {
    json result = {{"constant", constant}};
    if (*dimension)
      result[dimension] = factor;
    return result;
  };
  const Entry entries[] = {
      {"/format", "netra.engine/2", NETRA_MANIFEST, "netra.engine/1"},
      {"/target/architecture", "gfx942", NETRA_UNSUPPORTED_TARGET, "gfx942"},
      {"/target/wave_size", 32, NETRA_UNSUPPORTED_TARGET, "wave_size"},
      {"/target/code_object_version", 3, NETRA_UNSUPPORTED_TARGET, "found 3"},
      {"/target/code_object_version", 6, NETRA_MANIFEST, "code object version"},
      {"/files/0/path", "../code.hsaco", NETRA_MANIFEST, "inside the bundle"},
      {"/files/0/path", "/etc/passwd", NETRA_MANIFEST, "inside the bundle"},
      {"/files/0/path", "a//b", NETRA_MANIFEST, "inside the bundle"},
      {"/files/0/path", "zzz", NETRA_MANIFEST, "ascending"},
      {"/files/0/bytes", 1, NETRA_MANIFEST, "bytes"},
      {"/files/0/sha256", std::string(64, '0'), NETRA_MANIFEST, "SHA-256"},
      {"/code_objects/0/path", "missing.hsaco", NETRA_MANIFEST,
       "not among the files"},
      {"/code_objects/0/path", "explain.json", NETRA_MANIFEST, "SHA-256"},
      {"/code_objects/0/text_sha256", std::string(64, 'a'), NETRA_MANIFEST,
       ".text"},
      {"/code_objects/0/kernels/0/symbol", "other", NETRA_MANIFEST,
       "no kernel other"},
      {"/code_objects/0/kernels/0/kernarg_bytes", 48, NETRA_MANIFEST,
       "kernel argument bytes"},
      {"/code_objects/0/kernels/0/kernarg_bytes", 16, NETRA_MANIFEST,
       "ends beyond"},
      {"/code_objects/0/kernels/0/static_lds", 64, NETRA_MANIFEST,
       "static LDS"},
      {"/code_objects/0/kernels/0/vgprs", 9, NETRA_MANIFEST, "VGPRs"},
      {"/code_objects/0/kernels/0/agprs", 4, NETRA_MANIFEST, "AGPRs"},
      {"/code_objects/0/kernels/0/sgprs", 25, NETRA_MANIFEST, "SGPRs"},
      {"/code_objects/0/kernels/0/max_workgroup", 128, NETRA_MANIFEST,
       "maximum work-group"},
      {"/code_objects/0/kernels/0/arguments/1/offset", 12, NETRA_MANIFEST,
       "multiple of 8"},
      {"/code_objects/0/kernels/0/arguments/1/offset", 0, NETRA_MANIFEST,
       "overlaps"},
      {"/code_objects/0/kernels/0/arguments/1/offset", big, NETRA_MANIFEST, ""},
      {"/code_objects/0/kernels/0/arguments/4/offset", 36, NETRA_MANIFEST,
       "offset"},
      {"/code_objects/0/kernels/0/arguments/0/bytes", 4, NETRA_MANIFEST,
       "expected 8 bytes"},
      {"/code_objects/0/kernels/0/arguments/4/bytes", 8, NETRA_MANIFEST,
       "expected 4 bytes"},
      {"/code_objects/0/kernels/0/arguments/4/type", "i64", NETRA_MANIFEST,
       "expected 8 bytes"},
      {"/code_objects/0/kernels/0/arguments/4/type", "f32", NETRA_MANIFEST,
       "expected a value of type f32"},
      {"/code_objects/0/kernels/0/arguments/0/kind", "value", NETRA_MANIFEST,
       ""},
      {"/code_objects/0/kernels/0/arguments/0/access", "value", NETRA_MANIFEST,
       "access"},
      {"/code_objects/0/kernels/0/arguments/0/access", "write", NETRA_MANIFEST,
       "writes input x"},
      {"/code_objects/0/kernels/0/arguments/1/access", "readwrite",
       NETRA_MANIFEST, "writes weight w"},
      {"/code_objects/0/kernels/0/arguments/3/access", "read", NETRA_MANIFEST,
       "no step writes output y"},
      {"/code_objects/0/kernels/0/arguments/0/type", "f32", NETRA_MANIFEST,
       "the kernel expects f32"},
      {"/bindings/0/bytes", tinyBytes - 4, NETRA_MANIFEST, "expected 1024"},
      {"/bindings/0/shape", {1, tinyElements + 1}, NETRA_MANIFEST, "bytes"},
      {"/bindings/0/shape",
       {1u << 31, 1u << 31, 1u << 31},
       NETRA_MANIFEST,
       "overflows"},
      {"/bindings/0/type", "bf16", NETRA_MANIFEST, "bytes"},
      {"/bindings/0/name", "y", NETRA_MANIFEST, "two bindings"},
      {"/bindings/0/index", 1, NETRA_MANIFEST, "gap"},
      {"/bindings/1/role", "input", NETRA_MANIFEST, "role and index"},
      {"/weights/alignment", 48, NETRA_MANIFEST, "power of two"},
      {"/weights/alignment", 512, NETRA_MANIFEST, "multiple of the alignment"},
      {"/weights/bytes", 1024, NETRA_MANIFEST, "outside"},
      {"/weights/entries/0/offset", 512, NETRA_MANIFEST, "outside"},
      {"/weights/entries/0/offset", uint64_t(0) - 256, NETRA_MANIFEST,
       "outside"},
      {"/weights/entries/0/bytes", 512, NETRA_MANIFEST, "expected 1024"},
      {"/weights/id", "nw_xyz", NETRA_MANIFEST, "nw_"},
      {"/plans", json::array(), NETRA_MANIFEST, "at least one plan"},
      {"/plans/1/name", "m1", NETRA_MANIFEST, "two plans"},
      {"/plans/0/steps", json::array(), NETRA_MANIFEST, "at least one step"},
      {"/plans/0/profile/guards/m", {2, 1}, NETRA_MANIFEST, "min <= max"},
      {"/plans/0/profile/guards/m", {1}, NETRA_MANIFEST, "min, max"},
      {"/plans/0/profile/guards/height",
       {1, 1},
       NETRA_MANIFEST,
       "cannot check"},
      {"/plans/0/bindings", {0, 1, 2}, NETRA_MANIFEST, "no binding 2"},
      {"/plans/0/bindings", {0, 0}, NETRA_MANIFEST, "listed twice"},
      {"/plans/0/bindings", {0}, NETRA_MANIFEST, "not among those"},
      {"/plans/0/arena/bytes", 1024, NETRA_MANIFEST, "the arena"},
      {"/plans/0/arena/bytes", UINT64_MAX, NETRA_MANIFEST, "overflows"},
      {"/plans/0/arena/bytes", 1536 + 256, NETRA_MANIFEST,
       "plan m1: expected an arena of 1536 bytes, as the steps use 1536 and "
       "the alignment is 256, found 1792"},
      {"/plans/1/arena/bytes", 1536 + 256, NETRA_MANIFEST,
       "plan m4: expected an arena of 1536 bytes"},
      {"/plans/0/arena/alignment", 1024, NETRA_MANIFEST,
       "expected an arena of 2048 bytes, as the steps use 1536"},
      {"/plans/0/arena/alignment", 3, NETRA_MANIFEST, "power of two"},
      {at("/code_object"), 1, NETRA_MANIFEST, "no code object 1"},
      {at("/kernel"), 1, NETRA_MANIFEST, "no kernel 1"},
      {at("/grid/0"), 0, NETRA_MANIFEST, "expected 1 to"},
      {at("/grid/0"), uint64_t(1) << 32, NETRA_MANIFEST, "expected 1 to"},
      {at("/grid/0"), (uint64_t(1) << 32) - 1, NETRA_MANIFEST, "32 bits"},
      {at("/grid"), {1, 1}, NETRA_MANIFEST, "3 numbers"},
      {at("/grid/1"), 65536, NETRA_MANIFEST, "at most 65535"},
      {at("/grid/0"), affine("", 0), NETRA_MANIFEST, "factor of a dimension"},
      {at("/grid/0"), affine("heads", 1), NETRA_MANIFEST, "unknown key"},
      {at("/grid/0"), affine("batch", 0), NETRA_MANIFEST, "expected 1 to"},
      {at("/grid/0"), affine("sequence", 1), NETRA_MANIFEST, "is 0 at the"},
      {at("/grid/0"), affine("sequence", 2, 1), NETRA_MANIFEST, "64 bits"},
      {at("/grid/0"), affine("batch", 1 << 26), NETRA_MANIFEST, "32 bits"},
      {at("/grid/1"), affine("batch", 1024), NETRA_MANIFEST, "at most 65535"},
      {at("/arguments/4/follows"), affine("batch", 1), NETRA_MANIFEST,
       "exceeds its greatest value, 3"},
      {at("/arguments/4/follows"), 1, NETRA_MANIFEST, "factor of a dimension"},
      {at("/arguments/0/follows"), affine("batch", 1), NETRA_MANIFEST,
       "unknown key"},
      {at("/block/0"), 128, NETRA_MANIFEST, "maximum is 64"},
      {at("/block/1"), 2, NETRA_MANIFEST, "maximum is 64"},
      {at("/block/0"), 2048, NETRA_MANIFEST, "1024"},
      {at("/dynamic_lds"), 163841, NETRA_MANIFEST, "LDS"},
      {at("/after"), {0}, NETRA_MANIFEST, "earlier steps"},
      {"/plans/0/steps/1/after", {0, 0}, NETRA_MANIFEST, "ascending"},
      {at("/arguments"), json::array(), NETRA_MANIFEST, "takes 5 arguments"},
      {at("/arguments/0"), slot("binding", 2, 0, 4), NETRA_MANIFEST,
       "binding 2"},
      {at("/arguments/0"), slot("binding", 0, 4, tinyBytes), NETRA_MANIFEST,
       "outside"},
      {at("/arguments/0"), slot("binding", 0, big, 16), NETRA_MANIFEST,
       "outside"},
      {at("/arguments/0"), slot("binding", 0, 2, 4), NETRA_MANIFEST,
       "multiple of the size"},
      {at("/arguments/0"), slot("weight", 1, 0, 4), NETRA_MANIFEST,
       "no weight 1"},
      {at("/arguments/0"), slot("weight", 0, 4, tinyBytes), NETRA_MANIFEST,
       "outside"},
      {at("/arguments/0"), value("i32", 1), NETRA_MANIFEST, "pointer"},
      {at("/arguments/3"), arena(big, 16), NETRA_MANIFEST, "outside"},
      {at("/arguments/3"), arena(516, tinyBytes), NETRA_MANIFEST, "outside"},
      {at("/arguments/3"), slot("binding", 0, 0, tinyBytes), NETRA_MANIFEST,
       "writes input"},
      {at("/arguments/3"), slot("weight", 0, 0, tinyBytes), NETRA_MANIFEST,
       "writes weight"},
      {at("/arguments/4"), null, NETRA_MANIFEST, "expected a value"},
      {at("/arguments/4"), value("i64", 1), NETRA_MANIFEST, "of type i32"},
      {at("/arguments/4"), value("i32", uint64_t(1) << 32), NETRA_MANIFEST,
       "does not fit"},
      {fallback("/outputs/0/slot"), value("i32", 0), NETRA_MANIFEST,
       "expected memory"},
      {fallback("/inputs/0/slot"), null, NETRA_MANIFEST, "expected memory"},
      {fallback("/inputs/0/slot"), arena(big, tinyBytes), NETRA_MANIFEST,
       "outside"},
      {fallback("/inputs/0/slot"), arena(512, 4), NETRA_MANIFEST,
       "expected 1024 bytes"},
      {fallback("/inputs/0/type"), "i31", NETRA_MANIFEST, "element type"},
      {fallback("/inputs/0/type"), "i64", NETRA_MANIFEST,
       "expected 2048 bytes"},
      {fallback("/inputs/0/shape"), {1, -1}, NETRA_MANIFEST, "unsigned"},
      {fallback("/inputs/0/layout"), "", NETRA_MANIFEST, "/layout"},
      {fallback("/inputs/0/name"), "", NETRA_MANIFEST, "/name"},
      {fallback("/inputs/0/updates"), -1, NETRA_MANIFEST, "/updates"},
      {fallback("/inputs/0/updates"), 0, NETRA_MANIFEST, "only an output"},
      {fallback("/inputs/0/extra"), 1, NETRA_MANIFEST, "unknown key"},
      {fallback("/outputs/0/updates"), 1, NETRA_MANIFEST,
       "updates input 1 of 1"},
      {fallback("/outputs/0/slot"), arena(0, tinyBytes), NETRA_MANIFEST,
       "memory of input x, which it updates"},
      {fallback("/family"), 1, NETRA_MANIFEST, "/family"},
      {fallback("/reason"), "", NETRA_MANIFEST, "/reason"},
      {fallback("/attributes"), json::array(), NETRA_MANIFEST, "an object"},
      {fallback("/attributes/axis"), 0.5, NETRA_MANIFEST, "64-bit integer"},
      {fallback("/attributes/axis"), uint64_t(1) << 63, NETRA_MANIFEST,
       "64-bit integer"},
      {fallback("/attributes/center/f64"), "0x12", NETRA_MANIFEST,
       "16 lower-case"},
      {fallback("/attributes/center/f32"), 1, NETRA_MANIFEST, "unknown key"},
      {"/decisions/otherwise", "launch", NETRA_MANIFEST, "\"refuse\""},
      {"/decisions/domain", 1, NETRA_MANIFEST, "an array"},
      {"/decisions/domain/0", {{"rows", {1, 1}}}, NETRA_MANIFEST, "guard"},
      {"/decisions/nodes", json::array(), NETRA_MANIFEST, "at least one node"},
      {"/decisions/nodes/0/dimension", "rows", NETRA_MANIFEST, "one of"},
      {"/decisions/nodes/0/cases", json::array(), NETRA_MANIFEST, "from 0 on"},
      {"/decisions/nodes/0/cases/0/from", 1, NETRA_MANIFEST, "from 0 on"},
      {"/decisions/nodes/0/cases/1/from", 0, NETRA_MANIFEST, "more than 0"},
      {"/decisions/nodes/0/cases/0/take", "guess", NETRA_MANIFEST, "one of"},
      {"/decisions/nodes/0/cases/0/index", 0, NETRA_MANIFEST, "unknown key"},
      {"/decisions/nodes/1/cases/1/index", 2, NETRA_MANIFEST, "no plan 2"},
      // A table that goes round in circles would never end.
      {"/decisions/nodes/0/cases/1/index", 0, NETRA_MANIFEST,
       "asks for a later dimension"},
      {"/decisions/nodes/0/cases/1/index", 9, NETRA_MANIFEST,
       "asks for a later dimension"},
      {"/decisions/nodes/1/dimension", "m", NETRA_MANIFEST,
       "asks for a later dimension"},
  };
  Damaged bundle;
  const json original = bundle.document;
  for (const Entry &entry : entries) {
    bundle.document = original;
    bundle.document[json::json_pointer(entry.pointer)] = entry.value;
    bundle.commit();
    EXPECT_EQ(bundle.verify(), entry.status)
        << entry.pointer << " = " << entry.value << ": " << bundle.message;
    EXPECT_NE(bundle.message.find(entry.text), std::string::npos)
        << entry.pointer << " = " << entry.value << ": " << bundle.message;
  }
  EXPECT_GE(std::size(entries), 60u);
}

/// An arena is as large as the steps of its own plan use.
TEST(RefusalTest, NotPlansOfUnequalArenas) {
  Damaged bundle;
  json &plan = bundle.document["plans"][1];
  for (json &step : plan["steps"])
    for (const char *key : {"arguments", "inputs", "outputs"})
      if (step.contains(key))
        for (json &entry : step[key])
          if (json &slot = entry.contains("slot") ? entry["slot"] : entry;
              slot["kind"] == "arena")
            slot["offset"] = 256;
  plan["arena"]["bytes"] = 256 + tinyBytes;
  bundle.commit();
  EXPECT_EQ(bundle.verify(), NETRA_OK) << bundle.message;
}

TEST(RefusalTest, RepeatedKeysAndForeignIds) {
  Damaged bundle;
  std::string twice = bundle.text;
  twice.insert(twice.find("\"format\""), "\"name\": \"evil\", ");
  writeText(bundle.directory.file("engine.json"), withFreshId(twice));
  EXPECT_EQ(bundle.verify(), NETRA_MANIFEST);
  EXPECT_NE(bundle.message.find("twice"), std::string::npos) << bundle.message;

  std::string changed = bundle.text;
  changed.replace(changed.find("\"priority\": 30"), 14, "\"priority\": 31");
  writeText(bundle.directory.file("engine.json"), changed);
  EXPECT_EQ(bundle.verify(), NETRA_MANIFEST);
  EXPECT_NE(bundle.message.find("hash to ne_"), std::string::npos)
      << bundle.message;
}

/// Kernels of several contracts may be one machine code, which is one file.
TEST(RefusalTest, NotAFileOfSeveralCodeObjects) {
  Damaged bundle;
  json again = bundle.document["code_objects"][0];
  again["name"] = "again";
  bundle.document["code_objects"].push_back(again);
  bundle.commit();
  EXPECT_EQ(bundle.verify(), NETRA_OK) << bundle.message;
  bundle.document["code_objects"][1]["sha256"] = std::string(64, '0');
  bundle.commit();
  EXPECT_EQ(bundle.verify(), NETRA_MANIFEST);
  EXPECT_NE(bundle.message.find("its SHA-256 differs"), std::string::npos)
      << bundle.message;
}

/// A table may be well-formed and yet not be that of the guards.
TEST(RefusalTest, ATableThatTakesAPlanWhoseGuardsDoNotAdmitTheLaunch) {
  Damaged bundle;
  json &cases = bundle.document["decisions"]["nodes"][0]["cases"];
  ASSERT_EQ(cases.back()["take"], "refuse");
  cases.erase(cases.size() - 1); // m4 for everything from 4 on
  bundle.commit();
  netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
  options.hip_library = NETRA_FAKE_HIP;
  netra_engine *engine = nullptr;
  char error[1024] = "";
  ASSERT_EQ(netra_engine_create(bundle.directory.path().c_str(), &options,
                                &engine, error, sizeof(error)),
            NETRA_OK)
      << error;
  netra_shape shape = NETRA_SHAPE_INIT;
  uint32_t profile = 99;
  EXPECT_OK(engine, netra_engine_select_profile(engine, &shape, &profile));
  shape.m = 5;
  EXPECT_FAILS(engine, netra_engine_select_profile(engine, &shape, &profile),
               NETRA_UNSUPPORTED_PROFILE, "plan m4 needs");
  EXPECT_EQ(netra_engine_destroy(engine), NETRA_OK);
}

/// Code that carries its right hashes but is not what engine.json describes.
TEST(RefusalTest, AForeignCodeObject) {
  for (unsigned kind = 0; kind < 4; ++kind) {
    Damaged bundle;
    std::string path = bundle.document["code_objects"][0]["path"];
    std::string code = readText(bundle.directory.file(path));
    const char *expected = "";
    if (kind == 0) {
      code[0x30] = 0x4c; // e_flags: gfx942
      expected = "gfx942";
    } else if (kind == 3) {
      code[0x31] = 0x07; // e_flags: with xnack
      expected = "expected the ELF flags of gfx950, the target of the "
                 "metadata, found those of gfx950:xnack+";
    } else if (kind == 1) {
      bundle.document["code_objects"][0]["kernels"][0]["symbol"] = "absent";
      expected = "there is no kernel absent";
    } else {
      code = std::string(code.size(), 'x');
      expected = "ELF";
    }
    writeText(bundle.directory.file(path), code);
    std::string hash = netra::rt::Sha256::hash(code);
    bundle.document["code_objects"][0]["sha256"] = hash;
    for (json &file : bundle.document["files"])
      if (file["path"] == path)
        file["sha256"] = hash;
    bundle.commit();
    EXPECT_NE(bundle.verify(), NETRA_OK);
    EXPECT_NE(bundle.message.find(expected), std::string::npos)
        << bundle.message;
  }
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

TEST(WeightsTest, WrongFilesAreRefused) {
  TemporaryDirectory directory;
  std::string path = directory.file("w");
  std::string good = readText(tinyWeightsFile());
  netra_engine *e = create(NETRA_FAKE_HIP);
  ASSERT_TRUE(e);
  auto refuses = [&](std::string contents, netra_status status,
                     const std::string &text) {
    writeText(path, contents);
    EXPECT_FAILS(e, netra_engine_load_weights(e, path.c_str()), status, text);
  };
  auto replaced = [&](const std::string &from, const std::string &to) {
    std::string changed = good;
    size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    EXPECT_EQ(from.size(), to.size());
    return changed.replace(at, to.size(), to);
  };
  EXPECT_FAILS(e, netra_engine_load_weights(e, "/no/such/file"), NETRA_IO,
               "/no/such/file");
  EXPECT_FAILS(e, netra_engine_load_weights(e, "/"), NETRA_IO, "regular");
  refuses("", NETRA_MANIFEST, "found 0 bytes");
  refuses("short", NETRA_MANIFEST, "found 5 bytes");
  refuses(std::string(16, '\xff'), NETRA_MANIFEST, "header");
  refuses(std::string("\4\0\0\0\0\0\0\0nope", 12), NETRA_MANIFEST,
          "not a JSON object");
  refuses(std::string("\2\0\0\0\0\0\0\0{}", 10), NETRA_MANIFEST,
          "pack-weights");
  refuses(replaced("netra.weights/2", "netra.weights/1"), NETRA_MANIFEST,
          "format netra.weights/2, found netra.weights/1");
  // Another engine's, by both ids.
  std::string id = good.substr(good.find("nw_"), 27);
  refuses(replaced("\"weights_id\":\"nw_", "\"weights_id\":\"xx_"),
          NETRA_MANIFEST,
          "expected weights " + id + ", found xx_" + id.substr(3) +
              "; the file was packed for another engine");
  refuses(replaced("[0,1280]", "[4,1280]"), NETRA_MANIFEST, "expected 1280");
  refuses(replaced("[0,1280]", "[0,9999]"), NETRA_MANIFEST, "cut off");
  refuses(replaced("[0,1280]", "[0,1280 "), NETRA_MANIFEST, "");
  refuses(replaced("\"U8\",\"shape\":[1280]", "\"I8\",\"shape\":[1280]"),
          NETRA_MANIFEST, "U8 tensor netra.weights");
  refuses(replaced("\"netra.blocks", "\"netra.Blocks"), NETRA_MANIFEST,
          "U8 tensor netra.blocks");
  refuses(replaced("[1280,1312]", "[1281,1312]"), NETRA_MANIFEST,
          "expected 1 hashes of 32 bytes in netra.blocks, found 31 bytes");
  refuses(replaced("[1280,1312]", "[1280,1280]"), NETRA_MANIFEST,
          "found 0 bytes");
  refuses(good.substr(0, good.size() - 1), NETRA_MANIFEST, "cut off");
  std::string damaged = good;
  damaged.back() = char(damaged.back() ^ 1);
  refuses(damaged, NETRA_MANIFEST, "expected hashes with SHA-256");
  damaged = good;
  damaged[4096 + 700] = char(damaged[4096 + 700] ^ 1);
  refuses(damaged, NETRA_MANIFEST,
          "weights [0, 1280) (in w): expected SHA-256 ");
  refuses(damaged, NETRA_MANIFEST, "the file is damaged");
  for (size_t length = 0; length < 4096; length += 13) {
    writeText(path, good.substr(0, length));
    EXPECT_NE(netra_engine_load_weights(e, path.c_str()), NETRA_OK) << length;
  }
  EXPECT_OK(e, netra_engine_load_weights(e, tinyWeightsFile().c_str()));
  EXPECT_EQ(netra_engine_destroy(e), NETRA_OK);

  // Trusted: the hash is not computed, all else still is.
  e = create(NETRA_FAKE_HIP, NETRA_ENGINE_TRUST_WEIGHTS);
  writeText(path, damaged);
  EXPECT_OK(e, netra_engine_load_weights(e, path.c_str()));
  refuses(replaced("\"weights_id\":\"nw_", "\"weights_id\":\"xx_"),
          NETRA_MANIFEST, "another engine");
  EXPECT_EQ(netra_engine_destroy(e), NETRA_OK);
}

} // namespace
