//===- AssemblerTest.cpp - From instances to code objects -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TestLibrary.h"

#include "gmock/gmock.h"

#include <clocale>
#include <thread>

using namespace netra;
using namespace netra::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

TEST(Assembler, SourceIsWhatTheContractSays) {
  TestLibrary library;
  std::string source = library.assembler().instanceSource(copyInstance(128));
  for (const char *line :
       {"// Netra instance of test/copy.s\n",
        ".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n",
        ".amdhsa_code_object_version 5\n", ".set NETRA_N, 128\n",
        ".set NETRA_ARG_X, 0\n", ".set NETRA_ARG_N, 8\n",
        ".set NETRA_ARG_RESULT, 16\n", ".set NETRA_KERNARG_BYTES, 24\n",
        ".set NETRA_GRID_X, 2\n", ".set NETRA_BLOCK_X, 64\n",
        ".set NETRA_STATIC_LDS, 256\n", ".set NETRA_VGPRS, 2\n",
        ".include \"test/copy.s\"\n", "netra_template netra_copy_n128\n",
        "        .value_kind: by_value\n", "        .access: write_only\n"})
    EXPECT_THAT(source, HasSubstr(line));
  EXPECT_THAT(source, Not(HasSubstr(library.path.string())));
}

TEST(Assembler, CodeObjectKeepsTheContract) {
  TestLibrary library;
  Instance instance = copyInstance();
  AssembledKernel kernel =
      llvm::cantFail(library.assembler().assemble(instance));
  ASSERT_EQ(kernel.closure.size(), 2u);
  EXPECT_EQ(kernel.closure[0].path, "test/copy.s");
  EXPECT_EQ(kernel.closure[1].path, "include/frame.inc");
  EXPECT_EQ(kernel.closure[1].text, frameInclude);
  EXPECT_EQ(kernel.closure[1].sha256, sha256Hex(llvm::StringRef(frameInclude)));
  const CodeObject &object = kernel.object;
  EXPECT_EQ(object.isa, "amdgcn-amd-amdhsa--gfx950");
  EXPECT_EQ(object.codeObjectVersion, 5u);
  EXPECT_EQ(object.textSha256, sha256Hex(object.text));
  ASSERT_EQ(object.kernels.size(), 1u);
  const KernelMetadata &metadata = object.kernels[0];
  EXPECT_EQ(metadata.symbol, "netra_copy_n64");
  EXPECT_EQ(metadata.kernargBytes, 24u);
  EXPECT_EQ(metadata.staticLds, 256u);
  EXPECT_EQ(metadata.waveSize, 64u);
  EXPECT_EQ(metadata.maxWorkgroup, 64u);
  ASSERT_EQ(metadata.arguments.size(), 3u);
  EXPECT_EQ(metadata.arguments[1].offset, 8u);
  EXPECT_EQ(metadata.arguments[1].bytes, 4u);
  EXPECT_EQ(metadata.arguments[1].kind, ArgumentKind::Value);
  EXPECT_EQ(metadata.arguments[2].access, "write");
  EXPECT_EQ(metadata.descriptor.allocatedVgprs, 8u);
}

TEST(Assembler, BytesDependOnNothingElse) {
  TestLibrary first, second;
  fs::path before = fs::current_path();
  auto bytes = [](const TestLibrary &library) {
    return llvm::cantFail(library.assembler().assemble(copyInstance()))
        .object.bytes;
  };
  std::vector<uint8_t> expected = bytes(first);
  std::setlocale(LC_ALL, "C.UTF-8");
  ::setenv("TZ", "Pacific/Auckland", 1);
  ::setenv("SOURCE_DATE_EPOCH", "12345", 1);
  fs::current_path(second.path);
  EXPECT_EQ(bytes(second), expected);
  fs::current_path(before);
  std::setlocale(LC_ALL, "C");
  ::unsetenv("TZ");
  ::unsetenv("SOURCE_DATE_EPOCH");
  llvm::StringRef text(reinterpret_cast<const char *>(expected.data()),
                       expected.size());
  for (const char *part :
       {"copy.s", "netra-target", "netra-link", "kernel.o", "/tmp", "NETRA_"})
    EXPECT_FALSE(text.contains(part)) << part;
  // Comments are part of the sources' hash, not of the machine code.
  second.write("kernels/gfx950/test/copy.s",
               std::string("// another comment\n") + copyTemplate);
  AssembledKernel other =
      llvm::cantFail(second.assembler().assemble(copyInstance()));
  EXPECT_EQ(other.object.bytes, expected);
  EXPECT_NE(
      other.closureSha256,
      llvm::cantFail(first.assembler().assemble(copyInstance())).closureSha256);
}

TEST(Assembler, LeavesNoTemporaryFiles) {
  TemporaryFolder temporary;
  TestLibrary library;
  ::setenv("TMPDIR", temporary.path.c_str(), 1);
  EXPECT_EQ(message(library.assembler().assemble(copyInstance())), "");
  EXPECT_TRUE(fs::is_empty(temporary.path));
  ::setenv("TMPDIR", "/nonexistent/folder", 1);
  EXPECT_THAT(message(library.assembler().assemble(copyInstance())),
              HasSubstr("temporary folder"));
  ::unsetenv("TMPDIR");
}

TEST(Assembler, WorksFromManyThreads) {
  TestLibrary library;
  Assembler assembler = library.assembler();
  std::vector<std::string> hashes(8), expected(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      hashes[i] = llvm::cantFail(assembler.assemble(copyInstance(64 * (i + 1))))
                      .object.sha256;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int i = 0; i < 8; ++i)
    expected[i] = llvm::cantFail(assembler.assemble(copyInstance(64 * (i + 1))))
                      .object.sha256;
  EXPECT_EQ(hashes, expected);
}

TEST(Assembler, GuardsSpeakUp) {
  TestLibrary library;
  std::string text = message(library.assembler().assemble(copyInstance(65)));
  EXPECT_THAT(text, HasSubstr("tactic gfx950.copy: assembly of "
                              "netra_copy_n65.s failed"));
  EXPECT_THAT(text, HasSubstr("test/copy.s:4:3: error: N must be a multiple of "
                              "64"));
}

TEST(Assembler, FaultsOfATemplateAreLocated) {
  TestLibrary library;
  auto fault = [&](const std::string &from, const std::string &to) {
    std::string text = copyTemplate;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    library.write("kernels/gfx950/test/copy.s",
                  text.replace(at, from.size(), to));
    return message(library.assembler().assemble(copyInstance()));
  };
  EXPECT_THAT(fault("v_lshlrev_b32", "v_lshlrev_b33"),
              HasSubstr("invalid instruction"));
  EXPECT_THAT(fault("v_lshlrev_b32", "v_lshlrev_b33"),
              HasSubstr("while in macro instantiation"));
  EXPECT_THAT(fault("frame_end", "s_branch nowhere\nframe_end"),
              HasSubstr("undefined label 'nowhere'"));
  EXPECT_THAT(
      fault("frame_end", "s_add_u32 s2, s2, nowhere@rel32@lo+4\nframe_end"),
      HasSubstr("linking of netra_copy_n64.s failed: "));
  EXPECT_THAT(
      fault("frame_end", "s_add_u32 s2, s2, nowhere@rel32@lo+4\nframe_end"),
      HasSubstr("undefined symbol: nowhere"));
  EXPECT_THAT(fault("frame_end \\name", ""), HasSubstr("netra_copy_n64.kd"));
  EXPECT_THAT(fault("netra_template", "netra_other"), HasSubstr("error"));
  EXPECT_THAT(fault("include/frame.inc", "include/absent.inc"),
              HasSubstr("include \"include/absent.inc\": expected a file of "
                        "the kernel folder, found none"));
  EXPECT_THAT(fault("include/frame.inc", "../../outside.inc"),
              HasSubstr("expected a plain path below the kernel folder"));
  EXPECT_THAT(fault("include/frame.inc", "/etc/passwd"),
              HasSubstr("expected a plain path below the kernel folder"));
  EXPECT_THAT(fault("include/frame.inc", "test/copy.s"),
              HasSubstr("does a file include itself?"));
  library.write("outside.inc", frameInclude);
  fs::create_symlink(library.path / "outside.inc",
                     library.path / "kernels/gfx950/include/link.inc");
  EXPECT_THAT(fault("include/frame.inc", "include/link.inc"),
              HasSubstr("found a link out of it"));
}

TEST(Assembler, EveryDifferenceFromTheContractIsNamed) {
  TestLibrary library;
  struct Case {
    const char *from, *to, *part;
  };
  const Case cases[] = {
      {"group_segment_fixed_size NETRA_STATIC_LDS",
       "group_segment_fixed_size 512",
       "static LDS bytes (descriptor): the contract says 256, the code object "
       "says 512"},
      {"amdhsa_kernarg_size NETRA_KERNARG_BYTES", "amdhsa_kernarg_size 16",
       "kernarg bytes (descriptor): the contract says 24, the code object says "
       "16"},
      {"private_segment_fixed_size 0", "private_segment_fixed_size 64",
       "private bytes (descriptor): the contract says 0, the code object says "
       "64"},
      {"* 4 + NETRA_AGPRS", "* 4 + 16",
       "allocated VGPRs (descriptor): the contract says 8, the code object "
       "says 24"},
  };
  for (const Case &c : cases) {
    std::string text = frameInclude;
    size_t at = text.find(c.from);
    ASSERT_NE(at, std::string::npos);
    library.write("kernels/gfx950/include/frame.inc",
                  text.replace(at, strlen(c.from), c.to));
    std::string fault = message(library.assembler().assemble(copyInstance()));
    EXPECT_THAT(fault, HasSubstr("breaks its contract"));
    EXPECT_THAT(fault, HasSubstr(c.part));
  }
}

TEST(Assembler, ComparisonSeesEveryField) {
  TestLibrary library;
  CodeObject object =
      llvm::cantFail(library.assembler().assemble(copyInstance())).object;
  using Change = std::function<void(CodeObject &)>;
  const std::pair<Change, const char *> cases[] = {
      {[](CodeObject &o) { o.isa = "amdgcn-amd-amdhsa--gfx942"; }, "target:"},
      {[](CodeObject &o) { o.codeObjectVersion = 6; }, "code object version"},
      {[](CodeObject &o) { o.kernels.clear(); }, "kernels:"},
      {[](CodeObject &o) { o.kernels.push_back(o.kernels[0]); }, "kernels:"},
      {[](CodeObject &o) { o.kernels[0].symbol = "x"; }, "kernels:"},
      {[](CodeObject &o) { o.kernels[0].waveSize = 32; }, "wave size (meta"},
      {[](CodeObject &o) { o.kernels[0].descriptor.waveSize = 32; },
       "wave size (desc"},
      {[](CodeObject &o) { o.kernels[0].kernargBytes = 32; },
       "kernarg bytes (meta"},
      {[](CodeObject &o) { o.kernels[0].staticLds = 0; }, "static LDS"},
      {[](CodeObject &o) { o.kernels[0].privateBytes = 8; }, "private bytes"},
      {[](CodeObject &o) { o.kernels[0].dynamicStack = true; },
       "dynamic stack"},
      {[](CodeObject &o) { o.kernels[0].maxWorkgroup = 128; },
       "maximum work-group"},
      {[](CodeObject &o) { o.kernels[0].vgprs = 3; }, "VGPRs (meta"},
      {[](CodeObject &o) { o.kernels[0].agprs = 3; }, "AGPRs (meta"},
      {[](CodeObject &o) { o.kernels[0].sgprs = 3; }, "SGPRs (meta"},
      {[](CodeObject &o) { o.kernels[0].descriptor.allocatedSgprs = 7; },
       "allocated SGPRs"},
      {[](CodeObject &o) { o.kernels[0].arguments.pop_back(); },
       "number of arguments"},
      {[](CodeObject &o) { o.kernels[0].arguments[0].name = "y"; },
       "argument 0 (x) name"},
      {[](CodeObject &o) { o.kernels[0].arguments[0].offset = 8; },
       "argument 0 (x) offset"},
      {[](CodeObject &o) { o.kernels[0].arguments[1].bytes = 8; },
       "argument 1 (n) bytes"},
      {[](CodeObject &o) {
         o.kernels[0].arguments[1].kind = ArgumentKind::Pointer;
       },
       "argument 1 (n) kind"},
      {[](CodeObject &o) { o.kernels[0].arguments[1].hidden = true; },
       "argument 1 (n) kind"},
      {[](CodeObject &o) { o.kernels[0].arguments[2].access = "read"; },
       "argument 2 (result) access"},
  };
  EXPECT_THAT(compareWithInstance(object, copyInstance()), ElementsAre());
  for (const auto &[change, part] : cases) {
    CodeObject copy = object;
    change(copy);
    EXPECT_THAT(compareWithInstance(copy, copyInstance()),
                ElementsAre(HasSubstr(part)))
        << part;
  }
}

TEST(Assembler, CreateRefuses) {
  EXPECT_THAT(message(Assembler::create("/nonexistent", "gfx950")),
              HasSubstr("expected a folder kernels/gfx950"));
  EXPECT_THAT(message(Assembler::create(NETRA_TEST_SOURCE_DIR, "gfx9")),
              HasSubstr("expected a known target"));
}

TEST(Assembler, AnySourceIsSurvived) {
  TestLibrary library;
  Assembler assembler = library.assembler();
  std::string source = assembler.instanceSource(copyInstance());
  for (const std::string &text :
       {std::string(), std::string("\0\xff", 2), std::string("\n"),
        source.substr(0, source.size() / 2),
        source.substr(0, source.find("---")), std::string(".rept 3\n"),
        std::string(".macro a\na\n.endm\na\n")})
    EXPECT_NE(message(assembler.assembleSource(text, "x.s")), "");
}
