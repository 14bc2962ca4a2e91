//===- EquivalenceTest.cpp - Is it the same machine code? -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Equivalence.h"

#include "TestLibrary.h"

#include "gmock/gmock.h"

#include <functional>
#include <set>

using namespace netra;
using namespace netra::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

/// The copy kernel, made from an altered template under some symbol.
CodeObject makeCopy(const std::string &from = "", const std::string &to = "",
                    const std::string &symbol = "netra_copy_n64") {
  TestLibrary library;
  std::string text = copyTemplate;
  if (!from.empty()) {
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  library.write("kernels/gfx950/test/copy.s", text);
  Instance instance = copyInstance();
  instance.symbol = symbol;
  return llvm::cantFail(library.assembler().assemble(instance)).object;
}

Equivalence compare(const CodeObject &left, const CodeObject &right) {
  return llvm::cantFail(compareCode(left, right));
}

std::string identityOf(const CodeObject &object) {
  return computationalIdentity(object, object.kernels.front());
}

} // namespace

TEST(Equivalence, KernelsKnowTheirCode) {
  CodeObject object = makeCopy();
  const KernelMetadata &kernel = object.kernels.front();
  EXPECT_EQ(kernel.codeOffset, 0u);
  EXPECT_EQ(kernel.codeBytes, object.text.size());
  EXPECT_EQ(object.find("netra_copy_n64"), &kernel);
  EXPECT_EQ(object.find("netra_copy"), nullptr);
  EXPECT_THAT(object.otherText, SizeIs(0));
  EXPECT_THAT(object.data, SizeIs(0));
}

TEST(Equivalence, DisassemblesWhatWasAssembled) {
  CodeObject object = makeCopy();
  auto lines = llvm::cantFail(disassemble(object.text, object.isa));
  std::vector<std::string> texts;
  for (const DisassembledInstruction &line : lines)
    texts.push_back(line.text);
  EXPECT_THAT(texts,
              ElementsAre("s_load_dwordx2 s[2:3], s[0:1], 0x0",
                          "s_load_dwordx2 s[4:5], s[0:1], 0x10",
                          "v_lshlrev_b32_e32 v0, 2, v0", "s_waitcnt lgkmcnt(0)",
                          "global_load_dword v1, v0, s[2:3]",
                          "s_waitcnt vmcnt(0)",
                          "global_store_dword v0, v1, s[4:5]", "s_endpgm"));
  EXPECT_EQ(lines[2].address, 16u);
  // Five bytes that are no instruction.
  lines = llvm::cantFail(
      disassemble(std::vector<uint8_t>{0xff, 0xff, 0xff, 0xff, 7}, object.isa));
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0].text, ".long 0xffffffff");
  EXPECT_EQ(lines[1].text, ".long 0x00000007");
  EXPECT_THAT(message(disassemble(object.text, "amdgcn-amd-amdhsa--gfx1")),
              HasSubstr("expected a processor that LLVM knows, found"));
  EXPECT_THAT(message(disassemble(object.text, "")), HasSubstr("found \"\""));
}

TEST(Equivalence, CommentsAndSymbolsDoNotMatter) {
  CodeObject object = makeCopy();
  CodeObject comment = makeCopy("// copies", "// moves");
  CodeObject renamed = makeCopy("", "", "another_much_longer_symbol");
  EXPECT_NE(object.sha256, renamed.sha256);
  EXPECT_EQ(object.textSha256, renamed.textSha256);
  for (const CodeObject *other : {&comment, &renamed}) {
    EXPECT_TRUE(compare(object, *other).isEqual());
    EXPECT_EQ(identityOf(object), identityOf(*other));
  }
}

TEST(Equivalence, ArgumentNamesDoNotMatter) {
  CodeObject object = makeCopy(), other = object;
  other.kernels[0].arguments[0].name = "y";
  EXPECT_TRUE(compare(object, other).isEqual());
  EXPECT_EQ(identityOf(object), identityOf(other));
}

/// Any altered instruction changes code and identity.
TEST(Equivalence, EveryInstructionMatters) {
  CodeObject object = makeCopy();
  std::set<std::string> identities = {identityOf(object)};
  const std::pair<const char *, const char *> changes[] = {
      {"v_lshlrev_b32 v0, 2, v0", "v_lshlrev_b32 v0, 3, v0"},
      {"s_waitcnt lgkmcnt(0)", "s_waitcnt lgkmcnt(1)"},
      {"s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(1)"},
      {"global_load_dword v1, v0, s[2:3]",
       "global_load_dword v1, v0, s[2:3] offset:4"},
      {"global_store_dword v0, v1, s[4:5]",
       "global_store_dword v0, v1, s[4:5] nt"},
      {"  frame_end", "  s_nop 0\n  frame_end"},
      {"  s_waitcnt vmcnt(0)\n", ""},
  };
  for (const auto &[from, to] : changes) {
    CodeObject other = makeCopy(from, to);
    Equivalence result = compare(object, other);
    EXPECT_FALSE(result.isEqual()) << to;
    EXPECT_FALSE(result.kernels[0].sameCode()) << to;
    EXPECT_THAT(result.kernels[0].instructions, SizeIs(1)) << to;
    EXPECT_THAT(result.kernels[0].metadata, SizeIs(0)) << to;
    EXPECT_TRUE(identities.insert(identityOf(other)).second) << to;
  }
}

TEST(Equivalence, EveryBitOfTheCodeMatters) {
  CodeObject object = makeCopy();
  std::string identity = identityOf(object);
  for (size_t bit = 0; bit != object.text.size() * 8; ++bit) {
    CodeObject other = object;
    other.text[bit / 8] ^= uint8_t(1) << bit % 8;
    EXPECT_NE(identityOf(other), identity) << bit;
    EXPECT_FALSE(compare(object, other).isEqual()) << bit;
  }
}

TEST(Equivalence, EveryFieldMatters) {
  using Change = std::function<void(CodeObject &)>;
  const std::pair<Change, const char *> cases[] = {
      {[](CodeObject &o) { o.isa = "amdgcn-amd-amdhsa--gfx942"; }, "target"},
      {[](CodeObject &o) { o.codeObjectVersion = 6; }, "code object version"},
      {[](CodeObject &o) { o.kernels[0].waveSize = 32; }, "wave size"},
      {[](CodeObject &o) { o.kernels[0].kernargBytes = 32; }, "kernarg bytes"},
      {[](CodeObject &o) { o.kernels[0].kernargAlignment = 4; },
       "kernarg alignment"},
      {[](CodeObject &o) { o.kernels[0].staticLds = 0; }, "static LDS bytes"},
      {[](CodeObject &o) { o.kernels[0].privateBytes = 8; }, "private bytes"},
      {[](CodeObject &o) { o.kernels[0].dynamicStack = true; },
       "dynamic stack"},
      {[](CodeObject &o) { o.kernels[0].vgprs = 3; }, "VGPRs"},
      {[](CodeObject &o) { o.kernels[0].agprs = 3; }, "AGPRs"},
      {[](CodeObject &o) { o.kernels[0].sgprs = 3; }, "SGPRs"},
      {[](CodeObject &o) { o.kernels[0].maxWorkgroup = 128; },
       "maximum work-group"},
      {[](CodeObject &o) { o.kernels[0].requiredWorkgroup = {64, 1, 1}; },
       "required work-group"},
      {[](CodeObject &o) { o.kernels[0].arguments[0].offset = 8; },
       "argument 0"},
      {[](CodeObject &o) { o.kernels[0].arguments[1].bytes = 8; },
       "argument 1"},
      {[](CodeObject &o) { o.kernels[0].arguments[1].valueKind = "hidden_x"; },
       "argument 1"},
      {[](CodeObject &o) { o.kernels[0].arguments[2].access = "read"; },
       "argument 2"},
      {[](CodeObject &o) { o.kernels[0].descriptor.words[12] ^= 1 << 20; },
       "descriptor word 12"},
      {[](CodeObject &o) { o.otherText = {1, 2, 3, 4}; }, "other code"},
      {[](CodeObject &o) { o.data[".rodata"] = {1}; }, "data of .rodata"},
  };
  CodeObject object = makeCopy();
  for (const auto &[change, field] : cases) {
    CodeObject other = object;
    change(other);
    Equivalence result = compare(object, other);
    EXPECT_FALSE(result.isEqual()) << field;
    EXPECT_NE(identityOf(object), identityOf(other)) << field;
    ASSERT_THAT(result.kernels[0].metadata, SizeIs(1)) << field;
    EXPECT_EQ(result.kernels[0].metadata[0].field, field);
  }
  // Where the code lies in the file is no property of the kernel.
  CodeObject moved = object;
  moved.kernels[0].descriptor.words[4] += 256;
  EXPECT_EQ(identityOf(object), identityOf(moved));
}

TEST(Equivalence, DifferencesAreThePlacesThatDiffer) {
  CodeObject object = makeCopy();
  CodeObject other = makeCopy("v_lshlrev_b32 v0, 2, v0",
                              "s_nop 3\n  v_lshlrev_b32 v0, 2, v0\n  s_nop 4");
  Equivalence result = compare(object, other);
  const auto &places = result.kernels[0].instructions;
  ASSERT_THAT(places, SizeIs(2));
  EXPECT_THAT(places[0].left, SizeIs(0));
  EXPECT_THAT(places[0].right,
              ElementsAre(DisassembledInstruction{16, "s_nop 3"}));
  EXPECT_THAT(places[1].right,
              ElementsAre(DisassembledInstruction{24, "s_nop 4"}));
  // The other way around.
  result = compare(other, object);
  ASSERT_THAT(result.kernels[0].instructions, SizeIs(2));
  EXPECT_THAT(result.kernels[0].instructions[1].left,
              ElementsAre(DisassembledInstruction{24, "s_nop 4"}));
  EXPECT_THAT(result.kernels[0].instructions[1].right, SizeIs(0));
}

TEST(Equivalence, VeryDifferentCodeIsOnePlace) {
  std::string left, right;
  for (int i = 0; i < 600; ++i) {
    left += "s_mov_b32 s2, " + std::to_string(i % 60) + "\n";
    right += "s_mov_b32 s3, " + std::to_string(i % 60) + "\n";
  }
  Equivalence result = compare(makeCopy("  frame_end", left + "frame_end"),
                               makeCopy("  frame_end", right + "frame_end"));
  ASSERT_THAT(result.kernels[0].instructions, SizeIs(1));
  EXPECT_THAT(result.kernels[0].instructions[0].left, SizeIs(600));
}

TEST(Equivalence, KernelsFindTheirPartners) {
  std::vector<CodeObject> left = {makeCopy("", "", "a"), makeCopy("", "", "b"),
                                  makeCopy("vmcnt(0)", "vmcnt(1)", "c")};
  std::vector<CodeObject> right = {makeCopy("vmcnt(0)", "vmcnt(2)", "b"),
                                   makeCopy("", "", "d"),
                                   makeCopy("vmcnt(0)", "vmcnt(3)", "e")};
  Equivalence result = llvm::cantFail(compareCode(left, right));
  ASSERT_THAT(result.kernels, SizeIs(2));
  EXPECT_EQ(result.kernels[0].rightSymbol, "d"); // by identity
  EXPECT_TRUE(result.kernels[0].isEqual());
  EXPECT_EQ(result.kernels[1].rightSymbol, "b"); // by symbol
  EXPECT_FALSE(result.kernels[1].isEqual());
  EXPECT_THAT(result.onlyLeft, ElementsAre("c"));
  EXPECT_THAT(result.onlyRight, ElementsAre("e"));
  EXPECT_FALSE(result.isEqual());

  result = llvm::cantFail(compareCode(left, right, "a", "d"));
  EXPECT_TRUE(result.isEqual());
  EXPECT_THAT(message(compareCode(left, right, "x", "d")),
              HasSubstr("left side: expected a kernel \"x\", found a, b, c"));
  EXPECT_THAT(message(compareCode(left, right, "a", "a")),
              HasSubstr("right side: expected a kernel \"a\", found b, d, e"));
}

TEST(Equivalence, LoadsEnginesAndFiles) {
  TemporaryFolder folder;
  TestEngine test = makeEngine();
  std::string engine = (folder.path / "engine").string();
  ASSERT_EQ(message(writeBundle(test.engine, test.files, engine)), "");
  auto code = llvm::cantFail(loadCode(engine));
  ASSERT_THAT(code, SizeIs(1));
  std::string file = "engine/" + test.engine.codeObjects[0].path;
  auto same = llvm::cantFail(loadCode((folder.path / file).string()));
  EXPECT_TRUE(llvm::cantFail(compareCode(code, same)).isEqual());

  folder.write(file, folder.read(file) + "x");
  EXPECT_THAT(message(loadCode(engine)),
              HasSubstr("as engine.json says, found"));
  folder.write("text", "no code");
  EXPECT_THAT(message(loadCode((folder.path / "text").string())),
              HasSubstr("text: code object: expected an ELF file"));
  EXPECT_THAT(message(loadCode((folder.path / "none").string())),
              HasSubstr("none: expected a code object, found: No such file"));
  EXPECT_THAT(message(loadCode(folder.path.string())),
              HasSubstr("expected an engine"));
}
