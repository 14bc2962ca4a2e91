//===- AssemblyTextTests.cpp - The mutants and the rule for s_nop --------===//
// SPDX-License-Identifier: MIT

#include "AssemblyText.h"
#include "KernelCompiler.h"
#include "NopModel.h"
#include "PatchableObject.h"
#include "gtest/gtest.h"
#include <algorithm>

using namespace netra::mutation;

namespace {

const char sample[] = R"(	.text
k:
	s_load_dwordx2 s[4:5], s[0:1], 0x0      ; comment
	s_waitcnt lgkmcnt(0)
	global_load_dword v2, v1, s[4:5] offset:8
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_nop 1
	ds_write_b32 v1, v2
	s_barrier
	s_endpgm
	.amdhsa_kernel k
		.amdhsa_user_sgpr_count 2
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 10
		.amdhsa_accum_offset 8
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
)";

TEST(AssemblyText, FindsInstructionsAndResources) {
  AssemblyText text(sample);
  EXPECT_EQ(text.instructions.size(), 8u);
  EXPECT_EQ(text.vgprs, 8u);
  EXPECT_EQ(text.agprs, 2u);
  EXPECT_EQ(text.sgprs, 8u);
  EXPECT_EQ(text.initialSgprs, 3u);
}

TEST(AssemblyText, NamesRegisters) {
  std::vector<unsigned> registers;
  registersOf("v[2:3]", registers);
  registersOf("-|a7|", registers);
  registersOf("s[4:5] offset:8", registers);
  registersOf("off sc0", registers);
  EXPECT_EQ(registers, (std::vector<unsigned>{2, 3, FirstAgpr + 7,
                                              FirstSgpr + 4, FirstSgpr + 5}));
}

TEST(AssemblyText, MakesEachMutantOnce) {
  AssemblyText text(sample);
  auto mutants = text.mutants(256);
  auto has = [&](MutantKind kind, const char *replacement) {
    return std::count_if(mutants.begin(), mutants.end(), [&](const Mutant &m) {
      return m.kind == kind && m.replacement == replacement;
    });
  };
  EXPECT_EQ(has(MutantKind::WaitDelete, "s_nop 0"), 1);
  EXPECT_EQ(has(MutantKind::WaitDelete, "s_waitcnt lgkmcnt(0)"), 1);
  EXPECT_EQ(has(MutantKind::WaitWeaken, "s_waitcnt vmcnt(1) lgkmcnt(0)"), 1);
  EXPECT_EQ(has(MutantKind::WaitWeaken, "s_waitcnt lgkmcnt(1)"), 1);
  EXPECT_EQ(has(MutantKind::NopDelete, ""), 1);
  EXPECT_EQ(has(MutantKind::NopShorten, "s_nop 0"), 1);
  EXPECT_EQ(has(MutantKind::BarrierDelete, "s_nop 0"), 1);
  EXPECT_EQ(has(MutantKind::AddressFar,
                "global_load_dword v2, v1, s[4:5] offset:4092"),
            1);
  EXPECT_EQ(has(MutantKind::AddressNext,
                "global_load_dword v2, v1, s[4:5] offset:12"),
            1);
  EXPECT_EQ(has(MutantKind::AccessWider,
                "global_load_dwordx2 v[2:3], v1, s[4:5] offset:8"),
            1);
  EXPECT_EQ(has(MutantKind::AddressFar, "ds_write_b32 v1, v2 offset:65532"), 1);
  EXPECT_EQ(has(MutantKind::InitDrop, "s_nop 0"), 2);
}

// A copy that nobody calls, what it calls alone, and a function in a table.
TEST(AssemblyText, LeavesOutWhatTheKernelCannotReach) {
  auto function = [](const std::string &name, const std::string &body) {
    return "\t.type\t" + name + ",@function\n" + name + ": ; @" + name + "\n" +
           body + "\n.Lfunc_end_" + name + ":\n";
  };
  const AssemblyText text(
      function("k", "\ts_getpc_b64 s[4:5]\n"
                    "\ts_add_u32 s4, s4, near@rel32@lo+4\n\ts_barrier") +
      function("near", "\ts_nop 1 ; @function\n\ts_setpc_b64 s[30:31]") +
      function("pointed", "\ts_nop 2\n\ts_setpc_b64 s[30:31]") +
      function("copy", "\ts_add_u32 s4, s4, behind@rel32@lo+4\n\ts_nop 3") +
      function("behind", "\ts_nop 4\n\ts_setpc_b64 s[30:31]") +
      "table:\n\t.quad\tpointed\n\t.amdhsa_kernel k\n");
  std::string all;
  for (const Mutant &mutant : text.mutants(0))
    all += mutant.replacement + ";";
  EXPECT_EQ(all, "s_nop 0;;s_nop 0;;s_nop 1;");
  EXPECT_EQ(text.instructions.size(), 11u);
}

TEST(NopModel, KnowsThePairs) {
  const struct {
    const char *first, *second;
    unsigned states;
  } cases[] = {
      {"v_mov_b32_e32 v1, v2", "v_add_f32_dpp v3, v1, v3 row_ror:8", 2},
      {"v_mov_b32_e32 v1, v2", "v_add_f32_dpp v3, v3, v1 row_ror:8", 0},
      {"v_mov_b32_e32 v1, v2", "v_readlane_b32 s3, v1, 5", 1},
      {"v_mov_b32_e32 v1, v2", "v_permlane32_swap_b32_e32 v3, v1", 2},
      {"v_exp_f32_e32 v1, v2", "v_add_f32_e32 v3, v1, v1", 1},
      {"v_exp_f32_e32 v1, v2", "v_rcp_f32_e32 v3, v1", 0},
      {"v_cmp_eq_u32_e64 s[4:5], v1, v2", "v_readlane_b32 s3, v1, s4", 4},
      {"v_readfirstlane_b32 s4, v1", "global_load_dword v1, v2, s[4:5]", 5},
      {"v_cmp_eq_u32_e32 vcc, v1, v2", "v_cndmask_b32_e32 v1, v2, v3, vcc", 0},
      {"v_cmpx_eq_u32_e32 v1, v2", "v_readlane_b32 s3, v9, 5", 4},
      {"v_mfma_f32_16x16x32_bf16 a[0:3], v[0:3], v[4:7], 0",
       "v_accvgpr_read_b32 v9, a2", 8},
      {"v_mfma_f32_16x16x32_bf16 v[8:11], v[0:3], v[4:7], 0",
       "v_mfma_f32_16x16x32_f16 v[8:11], v[0:3], v[4:7], v[8:11]", 0},
      {"v_mfma_f32_16x16x32_bf16 v[8:11], v[0:3], v[4:7], 0",
       "v_mfma_f32_16x16x32_f16 v[8:11], v[8:11], v[4:7], v[8:11]", 20},
      {"v_mfma_f32_16x16x32_bf16 v[8:11], v[0:3], v[4:7], 0",
       "v_mfma_f32_16x16x32_f16 v[10:13], v[0:3], v[4:7], v[10:13]", 20},
      {"v_mfma_f32_4x4x4_16b_f16 v[8:11], v[0:1], v[4:5], 0",
       "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[0:1], v[4:5], v[8:11]", 20},
      {"v_mfma_f32_16x16x32_bf16 v[8:11], v[0:3], v[4:7], v[12:15]",
       "v_mov_b32_e32 v12, 0", 3},
      {"v_mfma_f32_16x16x32_bf16 v[8:11], v[0:3], v[4:7], v[12:15]",
       "v_mov_b32_e32 v0, 0", 0},
      {"v_mfma_f32_16x16x4_f32 v[8:11], v0, v4, v[12:15]",
       "v_mov_b32_e32 v12, 0", 0},
      {"v_mfma_f32_32x32x16_bf16 v[0:15], v[18:21], v[22:25], 0",
       "global_store_dword v[16:17], v0, off", 12},
      {"v_mfma_f32_32x32x4_2b_f16 v[0:31], v[32:33], v[34:35], 0",
       "v_mov_b32_e32 v1, v2", 20},
      {"v_mfma_f32_16x16x4_f32 v[8:11], v0, v4, 0", "ds_write_b32 v0, v8", 10},
      {"v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[0:7], v[12:19], 0",
       "v_mov_b32_e32 v1, v8", 12},
      {"v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[0:3], v[12:19], 0 cbsz:4",
       "v_mov_b32_e32 v1, v8", 12},
      {"v_mfma_f32_16x16x128_f8f6f4 v[8:11], v[0:3], v[12:15], 0 cbsz:4 blgp:2",
       "v_mov_b32_e32 v1, v8", 8},
      {"v_mfma_f64_16x16x4_f64 v[8:15], v[0:1], v[4:5], 0",
       "v_mov_b32_e32 v1, v8", 19},
      {"v_mfma_f64_4x4x4_4b_f64 v[8:9], v[0:1], v[4:5], 0",
       "ds_write_b32 v0, v8", 9},
      {"v_dot4c_i32_i8_e32 v1, v2, v3", "v_dot4c_i32_i8_e32 v1, v4, v5", 0},
      {"v_dot4c_i32_i8_e32 v1, v2, v3", "v_dot2c_f32_f16_e32 v1, v4, v5", 3},
      {"v_dot4c_i32_i8_e32 v1, v2, v3", "global_store_dword v4, v1, s[2:3]", 3},
      {"global_atomic_cmpswap_x2 v[0:1], v[4:7], off", "v_mov_b32_e32 v6, 0",
       2},
      {"global_store_dwordx4 v1, v[4:7], s[2:3]", "v_mov_b32_e32 v6, 0", 2},
      {"global_store_dwordx2 v1, v[4:5], s[2:3]", "v_mov_b32_e32 v5, 0", 0},
      {"s_mov_b32 m0, s1", "global_load_lds_dword v1, s[2:3]", 1},
      {"v_add_u32_e32 v1, v2, v3", "v_add_u32_e32 v4, v1, v1", 0}};
  for (const auto &c : cases)
    EXPECT_EQ(statesNeeded(c.first, c.second), c.states)
        << c.first << "; " << c.second;
}

TEST(NopModel, KnowsWhatOnlyTheCompilerAsksFor) {
  const struct {
    const char *first, *second;
    unsigned isa, compiler;
  } cases[] = {
      {"v_cmp_lt_u32_e32 vcc, v1, v2", "v_cndmask_b32_e32 v3, v4, v5, vcc", 0,
       2},
      {"v_add_co_u32_e32 v1, vcc, v2, v3",
       "v_addc_co_u32_e32 v4, vcc, v5, v6, vcc", 0, 2},
      {"v_readfirstlane_b32 s2, v1", "v_mov_b32_e32 v1, s2", 2, 2},
      {"v_cmp_lt_u32_e32 vcc, v1, v2", "v_mov_b32_e32 v1, v2", 0, 0},
      {"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] "
       "op_sel_hi:[1,0,1]",
       "v_pk_mul_f32 v[0:1], v[0:1], v[2:3]", 0, 1},
      {"v_dot2_f32_f16 v1, v2, v3, v1", "v_dot2_f32_f16 v1, v4, v5, v1", 0, 1},
      {"global_load_dword v2, v4, s[6:7]", "global_load_dword v3, v4, s[8:9]",
       0, 1},
      {"global_load_dword v2, v4, s[6:7]", "ds_read_b32 v3, v4", 0, 0},
      {"global_load_dword v2, v4, s[6:7]", "v_add_f32_dpp v3, v2, v3 row_ror:8",
       0, 2},
      {"s_load_dword s2, s[0:1], 0x0", "s_load_dword s0, s[4:5], 0x0", 0, 1}};
  for (const auto &c : cases) {
    EXPECT_EQ(statesNeeded(c.first, c.second), c.isa) << c.second;
    EXPECT_EQ(statesNeeded(c.first, c.second, Rules::Compiler), c.compiler)
        << c.second;
  }
}

TEST(NopModel, CountsWhatLiesBetween) {
  auto needsIt = [](std::vector<std::string> texts, size_t nop,
                    unsigned states) {
    std::vector<const std::string *> steps;
    for (const std::string &text : texts)
      steps.push_back(&text);
    return !tooClose(steps, nop, states).empty();
  };
  const std::string write = "v_mov_b32_e32 v1, v2",
                    dpp = "v_add_f32_dpp v3, v1, v3 row_ror:8",
                    other = "s_add_u32 s4, s4, 1";
  EXPECT_TRUE(needsIt({write, "s_nop 1", dpp}, 1, 0));
  EXPECT_TRUE(needsIt({write, "s_nop 1", dpp}, 1, 1));
  EXPECT_TRUE(needsIt({write, other, "s_nop 1", dpp}, 2, 0));
  EXPECT_FALSE(needsIt({write, other, "s_nop 1", dpp}, 2, 1));
  EXPECT_FALSE(needsIt({write, other, "s_nop 1", other, dpp}, 2, 0));
}

TEST(AssemblyText, PatternsTakeTheSamePlaceInEveryText) {
  const AssemblyText text(sample);
  const size_t line = text.instructions[6]; // the barrier
  for (uint32_t pattern : {0x3f4d5a61u, 0u, ~0u}) {
    const AssemblyText with = text.withPattern(pattern);
    EXPECT_EQ(with.lines[text.lineWithPattern(line)], "\ts_barrier");
    EXPECT_EQ(with.lines[text.lineWithPattern(1)], "k:");
    // vcc_lo, vcc_hi, m0, s3 to s7, v1 to v7, a0 and a1
    EXPECT_EQ(with.instructions.size(),
              text.instructions.size() + 17 + (pattern != 0x3f4d5a61u));
    EXPECT_EQ(with.vgprs, text.vgprs);
  }
}

// What a patch makes is what the assembler and the linker make of the text.
TEST(PatchableObject, PatchesAreWhatTheAssemblerMakes) {
  const AssemblyText text(netra::sim::test::wrapKernel(R"(
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_cbranch_execz .Lend
	global_load_dword v2, v0, s[4:5] offset:8
	v_mov_b32 v3, 0x12345678
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_nop 1
.Lend:
	s_barrier)"));
  PatchableObject object{text};
  ASSERT_EQ(object.fault(), "");
  ASSERT_EQ(text.instructions.size(), 9u);
  const struct {
    size_t instruction;
    const char *replacement, *filled;
  } cases[] = {{1, "s_waitcnt lgkmcnt(1)", ""},
               {3, "global_load_dword v2, v0, s[4:5] offset:12", ""},
               {3, "global_load_dwordx2 v[2:3], v0, s[4:5] offset:8", ""},
               {4, "s_nop 0", "\n\ts_nop 0"},
               {6, "s_nop 0", ""},
               {7, "s_nop 0", ""}};
  for (const auto &c : cases) {
    const size_t line = text.instructions[c.instruction];
    const std::vector<uint8_t> patched =
        object.patchedBytes(line, c.replacement);
    EXPECT_FALSE(patched.empty()) << c.replacement;
    EXPECT_EQ(patched, linkedBytes(text.with(line, std::string(c.replacement) +
                                                       c.filled),
                                   nullptr))
        << c.replacement;
  }
  // Nothing in the place of an instruction, or more than it holds, moves what
  // follows; a symbol is not known.
  const size_t nop = text.instructions[6];
  EXPECT_TRUE(object.patchedBytes(nop, "").empty());
  EXPECT_NE(object.with(nop, ""), nullptr);
  EXPECT_TRUE(object.patchedBytes(nop, "v_mov_b32 v3, 0x12345678").empty());
  EXPECT_TRUE(object.patchedBytes(nop, "s_branch .Lend").empty());
  EXPECT_NE(object.with(nop, "s_branch .Lend"), nullptr);
  EXPECT_EQ(object.with(nop, "s_nothing"), nullptr);
}

} // namespace
