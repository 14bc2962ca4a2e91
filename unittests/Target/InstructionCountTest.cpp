//===- InstructionCountTest.cpp - What a launch issues --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/InstructionCount.h"

#include "TestLibrary.h"

#include "gtest/gtest.h"

using namespace netra;
using namespace netra::test;

namespace {

/// A library whose kernel is `body` and s_endpgm.
struct BodyLibrary : TestLibrary {
  explicit BodyLibrary(const std::string &body) {
    write("kernels/gfx950/test/copy.s",
          ".include \"include/frame.inc\"\n.macro netra_template name\n"
          "  frame_begin \\name\n" +
              body + "\n  frame_end \\name\n.endm\n");
  }
};

std::optional<uint64_t> countOf(const std::string &body) {
  BodyLibrary library(body);
  llvm::Expected<std::vector<uint8_t>> code =
      library.assembler().assembleCode(copyInstance());
  if (code)
    return countInstructions(*code, "amdgcn-amd-amdhsa--gfx950");
  ADD_FAILURE() << llvm::toString(code.takeError());
  return std::nullopt;
}

} // namespace

TEST(InstructionCount, LoopsCountAsOftenAsTheyRun) {
  struct Case {
    const char *body;
    uint64_t count; // with s_endpgm, counted by hand
  };
  const Case cases[] = {
      {"", 1},
      {"v_mov_b32 v0, 0\ns_nop 3\ns_waitcnt vmcnt(0)", 4},
      // 1 + 5 * 3 + 1
      {"s_mov_b32 s2, 5\n.Lloop:\ns_sub_u32 s2, s2, 1\ns_cmp_lg_u32 s2, 0\n"
       "s_cbranch_scc1 .Lloop",
       17},
      // 1 + 6 * 3 + 1: from -3 to 3
      {"s_movk_i32 s2, -3\n.Lloop:\ns_addk_i32 s2, 1\ns_cmpk_lt_i32 s2, 3\n"
       "s_cbranch_scc1 .Lloop",
       20},
      // as a number without sign, -3 is the greater: once
      {"s_movk_i32 s2, -3\n.Lloop:\ns_addk_i32 s2, 1\ns_cmp_lt_u32 s2, 3\n"
       "s_cbranch_scc1 .Lloop",
       5},
      // Outer 2 times: 1 + 2 * (1 + 3 * 4 + 3) + 1
      {"s_mov_b32 s2, 0\n.Louter:\ns_mov_b32 s3, 8\n.Linner:\n"
       "v_add_u32 v1, v0, v1\ns_lshr_b32 s3, s3, 1\ns_cmp_ge_u32 s3, 2\n"
       "s_cbranch_scc1 .Linner\ns_add_u32 s2, s2, 1\ns_cmp_eq_u32 s2, 2\n"
       "s_cbranch_scc0 .Louter",
       34},
      // Known to be skipped, known not to be, and always.
      {"s_mov_b32 s2, 1\ns_cmp_eq_u32 s2, 1\ns_cbranch_scc1 .Lskip\n"
       "s_nop 0\n.Lskip:",
       4},
      {"s_mov_b32 s2, 1\ns_cmp_eq_u32 s2, 2\ns_cbranch_scc1 .Lskip\n"
       "s_nop 0\n.Lskip:",
       5},
      {"s_branch .Lskip\ns_nop 0\ns_nop 0\n.Lskip:", 2},
  };
  for (const Case &c : cases)
    EXPECT_EQ(countOf(c.body), c.count) << c.body;
}

TEST(InstructionCount, BranchesThatNobodyKnowsAreNotTaken) {
  struct Case {
    const char *body;
    uint64_t count;
  };
  const Case cases[] = {
      {"s_load_dword s2, s[0:1], 0\ns_waitcnt lgkmcnt(0)\n"
       "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 .Lskip\ns_nop 0\n.Lskip:",
       6},
      // The count comes from memory.
      {"s_mov_b32 s2, 5\ns_load_dword s2, s[0:1], 0\n.Lloop:\n"
       "s_sub_u32 s2, s2, 1\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 .Lloop",
       6},
      // A pair is written, and a lane is read.
      {"s_mov_b32 s3, 5\ns_mov_b64 s[2:3], exec\n.Lloop:\n"
       "s_sub_u32 s3, s3, 1\ns_cmp_lg_u32 s3, 0\ns_cbranch_scc1 .Lloop",
       6},
      {"s_mov_b32 s3, 5\nv_readfirstlane_b32 s3, v0\n.Lloop:\n"
       "s_sub_u32 s3, s3, 1\ns_cmp_lg_u32 s3, 0\ns_cbranch_scc1 .Lloop",
       6},
      // What was compared is no longer what decides.
      {"s_mov_b32 s3, 5\ns_cmp_eq_u32 s3, 5\ns_and_b64 s[4:5], exec, vcc\n"
       "s_cbranch_scc1 .Lskip\ns_nop 0\n.Lskip:",
       6},
      {"s_cbranch_execz .Lskip\ns_nop 0\n.Lskip:", 3},
  };
  for (const Case &c : cases)
    EXPECT_EQ(countOf(c.body), c.count) << c.body;
}

TEST(InstructionCount, SomeProgramsCannotBeCounted) {
  EXPECT_EQ(countOf("s_setpc_b64 s[0:1]"), std::nullopt);
  EXPECT_EQ(countOf(".Lloop:\ns_branch .Lloop"), std::nullopt);
  EXPECT_EQ(countOf("s_branch 65500"), std::nullopt);
  EXPECT_EQ(countOf(".long 0xffffffff"), std::nullopt);
  const uint8_t nop[] = {0, 0, 0x80, 0xbf};
  EXPECT_EQ(countInstructions(nop, "amdgcn-amd-amdhsa--gfx950"), std::nullopt);
  EXPECT_EQ(countInstructions(nop, "amdgcn-amd-amdhsa--gfx1"), std::nullopt);
  const uint8_t end[] = {0, 0, 0x81, 0xbf};
  EXPECT_EQ(countInstructions(end, "amdgcn-amd-amdhsa--gfx950"), 1u);
}

TEST(InstructionCount, OfALaunchThatIsTimesItsWaves) {
  BodyLibrary library("s_nop 0");
  KernelBuilder builder =
      llvm::cantFail(KernelBuilder::create(library.path.string(), "gfx950"));
  AssembledInstructions counter(builder);
  EXPECT_EQ(counter.count(copyInstance(64)), 2u);
  EXPECT_EQ(counter.count(copyInstance(640)), 20u);
  BodyLibrary broken("no_such_instruction");
  KernelBuilder other =
      llvm::cantFail(KernelBuilder::create(broken.path.string(), "gfx950"));
  EXPECT_EQ(AssembledInstructions(other).count(copyInstance()), std::nullopt);
}
