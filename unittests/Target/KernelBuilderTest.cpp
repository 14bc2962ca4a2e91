//===- KernelBuilderTest.cpp - Templates, goldens and locks ---------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/KernelBuilder.h"

#include "Netra/Target/Equivalence.h"
#include "TestGolden.h"

#include "gmock/gmock.h"

using namespace netra;
using namespace netra::test;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Json = nlohmann::json;

//===----------------------------------------------------------------------===//
// Goldens
//===----------------------------------------------------------------------===//

TEST(Golden, RecordSaysWhatTheBytesSay) {
  CodeObject object = copyObject();
  std::string text =
      writeGoldenRecord(object, object.kernels[0], "copy", "copy.hsaco");
  Json record = Json::parse(text);
  EXPECT_EQ(record["name"], "gfx950.copy");
  EXPECT_EQ(record["code"]["sha256"], object.sha256);
  EXPECT_EQ(record["code"]["text_sha256"], object.textSha256);
  EXPECT_EQ(record["code"]["kernarg_bytes"], 24);
  EXPECT_EQ(record["arguments"][1]["offset"], 8);
  EXPECT_EQ(record["arguments"][1]["bytes"], 4);
  EXPECT_EQ(record["arguments"][2]["access"], "write");
  EXPECT_EQ(record["launch"]["static_lds"], 256);
  // It is no record yet, and each open field is named.
  std::string fault = message(parseGolden(text, "copy.json"));
  for (const char *pointer :
       {"/family", "/operation", "/rank", "/summary", "/match/dimensions",
        "/match/operands", "/match/attributes", "/arguments/0/type",
        "/arguments/0/role", "/arguments/1/type", "/arguments/1/value",
        "/launch/grid/0", "/launch/block/2", "/launch/dynamic_lds",
        "/numerics/rounding", "/graph_capture", "/deterministic"})
    EXPECT_THAT(fault,
                HasSubstr(std::string("copy.json: ") + pointer +
                          ": expected a value, since the record is incomplete "
                          "without, found null"));
}

TEST(Golden, TakesTheBytesOfTheRecord) {
  GoldenLibrary library;
  Instance instance = library.instance();
  AssembledKernel kernel = llvm::cantFail(library.builder().build(instance));
  EXPECT_EQ(kernel.object.bytes, library.object.bytes);
  EXPECT_THAT(kernel.closure, SizeIs(0));
  EXPECT_EQ(kernel.source, "");
  EXPECT_THAT(message(library.builder("").build(instance)),
              HasSubstr("expected the folder with the golden code object "
                        "copy.hsaco (--golden-root), found none"));
}

/// Another object under the record's hash: what is wrong is named with both
/// sides, as if the record had been edited to fit.
TEST(Golden, WhatIsNotTheRecordIsRefused) {
  auto other = [](std::string from, std::string to) {
    TestLibrary library;
    std::string text = copyTemplate;
    text.replace(text.find(from), from.size(), to);
    library.write("kernels/gfx950/test/copy.s", text);
    return llvm::cantFail(library.assembler().assemble(copyInstance())).object;
  };
  GoldenLibrary library;

  // Wrong bytes.
  CodeObject wrong = other("vmcnt(0)", "vmcnt(1)");
  library.writeObject(wrong);
  EXPECT_THAT(message(library.build()),
              HasSubstr("expected SHA-256 " + library.object.sha256 +
                        ", found " + wrong.sha256));
  library.adopt(wrong);
  EXPECT_THAT(message(library.build()),
              HasSubstr("SHA-256 of .text: the record says " +
                        library.object.textSha256 + ", the code object says " +
                        wrong.textSha256));
  EXPECT_THAT(message(library.build()),
              HasSubstr("computational identity: the record says "));

  // Truncated.
  CodeObject cut = library.object;
  cut.bytes.resize(cut.bytes.size() - 8);
  library.writeObject(cut);
  EXPECT_THAT(message(library.build()),
              HasSubstr("expected " + std::to_string(wrong.bytes.size()) +
                        " bytes, found " + std::to_string(cut.bytes.size())));
  cut.sha256 = sha256Hex(cut.bytes);
  library.adopt(cut);
  EXPECT_THAT(message(library.build()), HasSubstr("copy.hsaco: code object: "));

  // Another target.
  CodeObject foreign = library.object;
  foreign.bytes[48] = 0x4c; // EF_AMDGPU_MACH_AMDGCN_GFX942
  foreign.sha256 = sha256Hex(foreign.bytes);
  library.adopt(foreign);
  EXPECT_THAT(message(library.build()),
              HasSubstr("expected the ELF flags of gfx950, the target of the "
                        "metadata, found those of gfx942"));
  for (size_t i = 0; i + 6 <= foreign.bytes.size(); ++i)
    if (std::equal(foreign.bytes.begin() + i, foreign.bytes.begin() + i + 6,
                   "gfx950"))
      foreign.bytes[i + 4] = '4', foreign.bytes[i + 5] = '2';
  foreign.sha256 = sha256Hex(foreign.bytes);
  library.adopt(foreign);
  EXPECT_THAT(message(library.build()),
              HasSubstr("target: the contract says amdgcn-amd-amdhsa--gfx950, "
                        "the code object says amdgcn-amd-amdhsa--gfx942"));
}

TEST(Golden, EveryFieldOfTheRecordIsHeldAgainstTheBytes) {
  struct Case {
    const char *pointer;
    Json value;
    const char *part;
  };
  const Case cases[] = {
      {"/code/symbol", "netra_other",
       "kernels: the contract says netra_other, the code object says "
       "netra_copy_n64"},
      {"/code/kernarg_bytes", 32,
       "kernarg bytes (metadata): the contract says 32, the code object says "
       "24"},
      {"/launch/static_lds", 128,
       "static LDS bytes (metadata): the contract says 128, the code object "
       "says 256"},
      {"/launch/block",
       {128, 1, 1},
       "maximum work-group: the contract says at least 128, the code object "
       "says 64"},
      {"/registers/vgprs", 3, "VGPRs (metadata): the contract says 3, the "},
      {"/registers/agprs", 4, "AGPRs (metadata): the contract says 4, the "},
      {"/registers/sgprs", 9, "SGPRs (metadata): the contract says 9, the "},
      {"/arguments/0/name", "y",
       "argument 0 (y) name: the contract says y, the code object says x"},
      {"/arguments/1/offset", 12,
       "argument 1 (n) offset: the contract says 12, the code object says 8"},
      {"/arguments/0/access", "readwrite",
       "argument 0 (x) access: the contract says readwrite, the code object "
       "says read"},
      {"/arguments/2/access", "read",
       "/arguments/2: expected access write or readwrite of result, found "
       "read"},
      {"/arguments/1",
       {{"name", "n"},
        {"kind", "value"},
        {"type", "i64"},
        {"value", "N"},
        {"offset", 8},
        {"bytes", 8}},
       "argument 1 (n) bytes: the contract says 8, the code object says 4"},
      {"/code/text_sha256", std::string(64, '0'),
       "SHA-256 of .text: the record says 0000"},
      {"/code/identity_sha256", std::string(64, '0'),
       "computational identity: the record says 0000"},
  };
  for (const Case &c : cases) {
    GoldenLibrary library;
    library.record[Json::json_pointer(c.pointer)] = c.value;
    EXPECT_THAT(message(library.build()), HasSubstr(c.part)) << c.pointer;
  }
  // One argument less, and one that is hidden.
  GoldenLibrary library;
  library.record["arguments"].erase(2);
  EXPECT_THAT(message(library.build()),
              HasSubstr("number of arguments: the contract says 2, the code "
                        "object says 3"));
  CodeObject hidden = copyObject();
  hidden.kernels[0].arguments[0].hidden = true;
  GoldenLibrary plain;
  EXPECT_THAT(compareWithInstance(hidden, plain.instance()),
              testing::ElementsAre(HasSubstr("the code object says hidden")));
}

/// What compilers leave out or say more generously is no difference.
TEST(Golden, OtherCompilersNeedNotSayAll) {
  GoldenLibrary library;
  Instance instance = library.instance();
  CodeObject object = library.object;
  object.kernels[0].maxWorkgroup = 1024;
  object.kernels[0].arguments[0].access = "";
  object.kernels[0].arguments[0].name = "X";
  object.kernels[0].descriptor.allocatedVgprs = 24;
  object.kernels.push_back(object.kernels[0]);
  object.kernels[1].symbol = "other";
  EXPECT_THAT(compareWithInstance(object, instance), SizeIs(0));
  object.kernels[0].requiredWorkgroup = {64, 2, 1};
  EXPECT_THAT(compareWithInstance(object, instance),
              testing::ElementsAre("required work-group, dimension 1: the "
                                   "contract says 1, the code object says 2"));
}

//===----------------------------------------------------------------------===//
// Hashes, locks and groups
//===----------------------------------------------------------------------===//

static AssembledKernel assemble(const TestLibrary &library,
                                const Instance &instance) {
  return llvm::cantFail(library.assembler().assemble(instance));
}

static std::string identity(const AssembledKernel &kernel) {
  return computationalIdentity(kernel.object, kernel.object.kernels.front());
}

TEST(Hashes, CommentsChangeSourcesAndNothingElse) {
  TestLibrary library;
  AssembledKernel before = assemble(library, copyInstance());
  for (const char *file : {"test/copy.s", "include/frame.inc"}) {
    std::string path = std::string("kernels/gfx950/") + file;
    library.write(path, library.read(path) + "// a remark\n");
    AssembledKernel after = assemble(library, copyInstance());
    EXPECT_NE(before.closureSha256, after.closureSha256) << file;
    EXPECT_EQ(identity(before), identity(after)) << file;
    EXPECT_EQ(before.object.textSha256, after.object.textSha256) << file;
  }
}

TEST(Hashes, SymbolsChangeNeitherTextNorIdentity) {
  TestLibrary library;
  Instance instance = copyInstance();
  AssembledKernel before = assemble(library, instance);
  for (const char *symbol :
       {"k", "a_name_of_quite_another_length_0123456789"}) {
    instance.symbol = symbol;
    AssembledKernel after = assemble(library, instance);
    EXPECT_EQ(before.object.textSha256, after.object.textSha256);
    EXPECT_EQ(identity(before), identity(after));
    EXPECT_EQ(before.closureSha256, after.closureSha256);
  }
}

TEST(Hashes, SourcesAreHashedWithoutAssembling) {
  TestLibrary library;
  EXPECT_EQ(llvm::cantFail(library.assembler().hashSources("test/copy.s")),
            assemble(library, copyInstance()).closureSha256);
  EXPECT_THAT(message(library.assembler().hashSources("test/none.s")),
              HasSubstr("include \"test/none.s\": expected a file of the "
                        "kernel folder, found none"));
  library.write("kernels/gfx950/test/circle.s",
                "  .include \"test/circle.s\"\n.include \"test/copy.s\"\n");
  EXPECT_EQ(message(library.assembler().hashSources("test/circle.s")), "");
  library.write("kernels/gfx950/test/out.s", ".include \"../x\"\n");
  EXPECT_THAT(message(library.assembler().hashSources("test/out.s")),
              HasSubstr("expected a plain path below the kernel folder"));
}

TEST(Hashes, LocksHoldTheMachineCode) {
  TestLibrary library;
  std::string text = assemble(library, copyInstance()).object.textSha256;
  auto fault = [&](const std::string &hash, int64_t n) {
    Json manifest = Json::parse(copyManifest);
    manifest["locks"] = {{{"dimensions", {{"M", 1}, {"N", 64}}},
                          {"constants", {{"ACTIVATION", 0}}},
                          {"text_sha256", hash}}};
    Tactic tactic =
        llvm::cantFail(parseTactic(manifest.dump(), "manifests/copy.json"));
    return message(library.assembler().assemble(
        llvm::cantFail(instantiate(tactic, copyProblem(n), {}))));
  };
  std::string zeros(64, '0');
  EXPECT_EQ(fault(text, 64), "");
  EXPECT_EQ(fault(zeros, 128), ""); // locks other constants
  EXPECT_THAT(fault(zeros, 64),
              HasSubstr("SHA-256 of .text: the lock in manifests/copy.json "
                        "says " +
                        zeros + ", the code object says " + text));
}

TEST(Groups, KernelsShareOneCodeObject) {
  TestLibrary library;
  // Each N has code of its own.
  std::string source = copyTemplate;
  source.insert(source.find("  s_waitcnt vmcnt"), "  s_nop NETRA_N / 64\n");
  library.write("kernels/gfx950/test/copy.s", source);
  std::vector<Instance> instances = {copyInstance(64), copyInstance(128)};
  instances[0].symbol = "second_by_name";
  instances[1].symbol = "first_by_name";
  AssembledKernel group =
      llvm::cantFail(library.assembler().assembleGroup(instances));
  ASSERT_THAT(group.object.kernels, SizeIs(2));
  // Text is in the order of the instances.
  EXPECT_LT(group.object.find("second_by_name")->codeOffset,
            group.object.find("first_by_name")->codeOffset);
  for (const Instance &instance : instances) {
    AssembledKernel alone = assemble(library, instance);
    EXPECT_EQ(computationalIdentity(group.object,
                                    *group.object.find(instance.symbol)),
              identity(alone));
    EXPECT_EQ(alone.closureSha256, group.closureSha256);
  }
  EXPECT_EQ(
      llvm::cantFail(library.assembler().assembleGroup(instances)).object.bytes,
      group.object.bytes);
  instances[1] = copyInstance(65);
  EXPECT_THAT(message(library.assembler().assembleGroup(instances)),
              HasSubstr("N must be a multiple of 64"));
  instances[1] = instances[0];
  EXPECT_THAT(message(library.assembler().assembleGroup(instances)),
              HasSubstr("duplicate symbol: second_by_name"));
}

TEST(Groups, EqualCodeIsThereOnce) {
  TestLibrary library;
  std::vector<Instance> instances = {copyInstance(64), copyInstance(128),
                                     copyInstance(192)};
  // Descriptors differ where kernels do.
  instances[1].sgprs = 40;
  AssembledKernel group =
      llvm::cantFail(library.assembler().assembleGroup(instances));
  ASSERT_THAT(group.object.kernels, SizeIs(3));
  EXPECT_NE(group.object.find(instances[0].symbol)->sgprs,
            group.object.find(instances[1].symbol)->sgprs);
  for (const Instance &instance : instances) {
    AssembledKernel alone = assemble(library, instance);
    EXPECT_EQ(group.object.textSha256, alone.object.textSha256);
    EXPECT_EQ(computationalIdentity(group.object,
                                    *group.object.find(instance.symbol)),
              identity(alone));
  }
}

TEST(KernelBuilder, BuildsAllAndReportsEach) {
  TestLibrary library;
  KernelBuilder builder =
      llvm::cantFail(KernelBuilder::create(library.path.string(), "gfx950"));
  std::vector<Instance> instances;
  for (int64_t n : {64, 65, 128, 192, 66, 256})
    instances.push_back(copyInstance(n));
  std::vector<const Instance *> pointers;
  for (const Instance &instance : instances)
    pointers.push_back(&instance);
  for (unsigned threads : {0u, 1u, 3u}) {
    std::vector<size_t> seen;
    auto results = builder.buildAll(
        pointers, threads, [&](size_t done, size_t total, llvm::StringRef) {
          seen.push_back(done);
          EXPECT_EQ(total, 6u);
        });
    EXPECT_EQ(seen, (std::vector<size_t>{1, 2, 3, 4, 5, 6}));
    for (size_t i = 0; i != results.size(); ++i) {
      bool good = i != 1 && i != 4;
      EXPECT_EQ(results[i].kernel.has_value(), good) << i;
      EXPECT_THAT(results[i].error,
                  good ? HasSubstr("") : HasSubstr("N must be a multiple"));
      if (good) {
        EXPECT_EQ(results[i].kernel->object.kernels[0].symbol,
                  instances[i].symbol);
      }
    }
  }
  EXPECT_THAT(message(KernelBuilder::create("/nonexistent", "gfx950")),
              HasSubstr("expected a folder kernels/gfx950"));
}
