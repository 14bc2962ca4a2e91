//===- ControlTests.cpp - branches, modes and hardware registers ----------===//
// SPDX-License-Identifier: MIT
//
// Instructions whose effect is on which instruction comes next, or on how later
// ones work: whole kernels, each of which leaves a word per lane.
//
//===----------------------------------------------------------------------===//

#include "KernelCompiler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace netra::sim;
using namespace netra::sim::test;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class Control : public testing::Test {
protected:
  /// Runs a body that leaves its result in v1; `texts` are findings and errors.
  std::vector<uint32_t> results(const std::string &body, unsigned waves = 1) {
    Device device{DeviceOptions()};
    const uint64_t out = *device.allocate(4096, "output");
    texts = run(device,
                assembly(wrapKernel("  s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                    "  v_mov_b32 v1, 0\n"
                                    "  s_waitcnt lgkmcnt(0)\n" +
                                        body +
                                        "\n  v_lshlrev_b32 v2, 2, v0\n"
                                        "  global_store_dword v2, v1, s[4:5]",
                                    8, 2048, 64, 8, 64)),
                "k", {1, 1, 1}, {64 * waves, 1, 1}, Arguments().add(out));
    return download<uint32_t>(device, out, 64 * waves);
  }
  /// The same for a body whose result is s20.
  uint32_t result(const std::string &body, unsigned waves = 1) {
    const auto words = results(body + "\n  v_mov_b32 v1, s20\n", waves);
    EXPECT_THAT(texts, IsEmpty());
    return words.back();
  }
  std::vector<std::string> texts;
};

TEST_F(Control, BranchesFollowTheirCondition) {
  struct Row {
    const char *setup, *branch;
    bool taken;
  };
  const Row rows[] = {
      {"s_nop 0", "s_branch", true},
      {"s_cmp_eq_u32 0, 0", "s_cbranch_scc1", true},
      {"s_cmp_eq_u32 0, 0", "s_cbranch_scc0", false},
      {"s_cmp_eq_u32 0, 1", "s_cbranch_scc1", false},
      {"s_cmp_eq_u32 0, 1", "s_cbranch_scc0", true},
      {"s_mov_b64 vcc, 0", "s_cbranch_vccz", true},
      {"s_mov_b64 vcc, 0", "s_cbranch_vccnz", false},
      {"s_mov_b64 vcc, 1", "s_cbranch_vccz", false},
      {"s_mov_b64 vcc, 1", "s_cbranch_vccnz", true},
      {"s_mov_b64 s[30:31], exec\n  s_mov_b64 exec, 0", "s_cbranch_execz",
       true},
      {"s_mov_b64 s[30:31], exec\n  s_mov_b64 exec, 0", "s_cbranch_execnz",
       false},
      {"s_mov_b64 s[30:31], exec", "s_cbranch_execz", false},
      {"s_mov_b64 s[30:31], exec", "s_cbranch_execnz", true},
      // Nobody sets the debugger's conditions, STATUS 20 and 21.
      {"s_nop 0", "s_cbranch_cdbgsys", false},
      {"s_nop 0", "s_cbranch_cdbguser", false},
      {"s_nop 0", "s_cbranch_cdbgsys_or_user", false},
      {"s_nop 0", "s_cbranch_cdbgsys_and_user", false},
  };
  for (const Row &row : rows) {
    SCOPED_TRACE(std::string(row.setup) + "; " + row.branch);
    const std::string restore =
        std::string(row.setup).find("exec") != std::string::npos
            ? "  s_mov_b64 exec, s[30:31]\n"
            : "";
    EXPECT_EQ(result(std::string("  s_mov_b32 s20, 1\n  ") + row.setup +
                     "\n  " + row.branch +
                     " .Lover\n  s_mov_b32 s20, 2\n.Lover:\n" + restore),
              row.taken ? 1u : 2u);
  }
}

TEST_F(Control, ProbesChangeNothing) {
  EXPECT_EQ(result("  s_mov_b32 s20, 7\n"
                   "  s_atc_probe 1, s[4:5], 0x10\n"
                   "  s_mov_b64 s[8:9], s[4:5]\n"
                   "  s_mov_b32 s10, 64\n"
                   "  s_mov_b32 s11, 0x20000\n"
                   "  s_atc_probe_buffer 1, s[8:11], 0x10\n"
                   "  s_getreg_b32 s21, hwreg(HW_REG_STATUS, 20, 2)\n"
                   "  s_add_u32 s20, s20, s21\n"),
            7u);
}

TEST_F(Control, BranchesToNowhereAreFaultsWhereTheyAreTaken) {
  const std::string computed = "s_mov_b64 s[30:31], 0x1000\n  ";
  const struct {
    std::string line;
    const char *error; ///< nullptr: none
  } lines[] = {
      {"s_branch 0x4000", "this leads to"},
      {"s_branch 0xc000", "this leads to"},
      {"s_call_b64 s[30:31], 0x4000", "this leads to"},
      {"s_cmp_eq_u32 0, 0\n  s_cbranch_scc1 0x4000", "this leads to"},
      {"s_cmp_eq_u32 0, 1\n  s_cbranch_scc1 0x4000", nullptr},
      {"s_mov_b64 s[44:45], exec\n  s_cbranch_i_fork s[44:45], 0x4000",
       "this leads to"},
      {"s_mov_b64 s[44:45], 0\n  s_cbranch_i_fork s[44:45], 0x4000", nullptr},
      {computed + "s_setpc_b64 s[30:31]", "this leads to 0x1000, where"},
      {computed + "s_swappc_b64 s[32:33], s[30:31]", "this leads to 0x1000"},
      {"s_branch .Llast", "execution ran past the end of the code"},
  };
  for (const auto &line : lines) {
    Device device{DeviceOptions()};
    const uint64_t out = *device.allocate(4096, "output");
    texts = run(device,
                assembly(wrapKernel("  " + line.line +
                                    "\n  s_endpgm\n.subsection 1\n"
                                    ".Llast:\n  s_nop 0\n.subsection 0\n")),
                "k", {1, 1, 1}, {64, 1, 1}, Arguments().add(out).add(out));
    if (!line.error) {
      EXPECT_THAT(texts, IsEmpty()) << line.line;
      continue;
    }
    EXPECT_THAT(texts,
                testing::ElementsAre(testing::AllOf(
                    HasSubstr("error: memory fault: "), HasSubstr(line.error),
                    HasSubstr("work-group (0, 0, 0)"))))
        << line.line;
  }
}

TEST_F(Control, CallsAndComputedJumps) {
  EXPECT_EQ(result(R"(
  s_mov_b32 s20, 0
  s_call_b64 s[30:31], .Lf
  s_getpc_b64 s[34:35]
.Lbase:
  s_add_u32 s34, s34, .Lf-.Lbase
  s_addc_u32 s35, s35, 0
  s_swappc_b64 s[30:31], s[34:35]
  s_branch .Lend
.Lf:
  s_add_u32 s20, s20, 5
  s_setpc_b64 s[30:31]
.Lend:
)"),
            10u);
}

TEST_F(Control, SkippedVectorInstructions) {
  const auto words = results(R"(
  v_mov_b32 v1, 1
  s_setvskip -1, 3
  v_mov_b32 v1, 2
  s_mov_b32 s20, 7
  s_setvskip 0, 0
  s_nop 2
  v_add_u32 v1, s20, v1
)");
  EXPECT_THAT(texts, IsEmpty());
  EXPECT_EQ(words[5], 8u);
}

TEST_F(Control, IndexedRegisters) {
  // Sources, then the destination, then by M0 of the program's own making.
  const auto words = results(R"(
  v_mov_b32 v20, 20
  v_mov_b32 v21, 21
  v_mov_b32 v22, 22
  v_mov_b32 v30, 300
  v_mov_b32 v31, 310
  s_mov_b32 s20, 2
  s_set_gpr_idx_on s20, gpr_idx(SRC0)
  v_mov_b32 v10, v20
  s_set_gpr_idx_idx s20
  v_add_u32 v11, v20, v30
  s_set_gpr_idx_mode gpr_idx(SRC1)
  s_mov_b32 s21, 1
  s_set_gpr_idx_idx s21
  v_add_u32 v12, v20, v30
  s_set_gpr_idx_mode gpr_idx(DST)
  v_mov_b32 v40, v22
  s_set_gpr_idx_off
  v_mov_b32 v13, v20
  v_add_u32 v1, v10, v11
  v_add_u32 v1, v1, v12
  v_add_u32 v1, v1, v13
  v_add_u32 v1, v1, v41
)");
  EXPECT_THAT(texts, IsEmpty());
  EXPECT_EQ(words[9], 22u + (22 + 300) + (20 + 310) + 20 + 22);
}

TEST_F(Control, ForksRunTheSmallerSideFirst) {
  // Each side leaves the time at which it ran.
  for (const char *form : {"by offset", "by address"}) {
    const bool byOffset = std::string(form) == "by offset";
    const auto words = results(std::string(R"(
  s_mov_b32 s40, 0
  s_mov_b32 s42, 0
  v_cmp_gt_u32 vcc, 20, v0
  s_mov_b64 s[44:45], vcc
  s_nop 0
)") + (byOffset ? "  s_cbranch_i_fork s[44:45], .Lpass\n" : R"(
  s_getpc_b64 s[46:47]
.Lbase:
  s_add_u32 s46, s46, .Lpass-.Lbase
  s_addc_u32 s47, s47, 0
  s_cbranch_g_fork s[44:45], s[46:47]
)") + R"(
  s_add_u32 s40, s40, 1
  v_mov_b32 v1, s40
  v_add_u32 v1, 100, v1
  s_branch .Ljoin
.Lpass:
  s_add_u32 s40, s40, 1
  v_mov_b32 v1, s40
.Ljoin:
  s_cbranch_join s42
  s_mov_b64 exec, -1
)");
    EXPECT_THAT(texts, IsEmpty()) << form;
    for (unsigned l = 0; l < 64; ++l)
      ASSERT_EQ(words[l], l < 20 ? 1u : 102u) << form << " lane " << l;
  }
}

TEST_F(Control, ForksOfOneSideAreBranches) {
  const auto words = results(R"(
  s_mov_b32 s42, 0
  s_mov_b64 s[44:45], exec
  s_cbranch_i_fork s[44:45], .Lpass
  v_mov_b32 v1, 1
.Lpass:
  v_add_u32 v1, 2, v1
  s_cbranch_join s42
  s_mov_b64 s[44:45], 0
  s_cbranch_i_fork s[44:45], .Lother
  v_add_u32 v1, 4, v1
.Lother:
  s_cbranch_join s42
)");
  EXPECT_THAT(texts, IsEmpty());
  EXPECT_EQ(words[63], 6u);
}

TEST_F(Control, Messages) {
  EXPECT_EQ(result("  s_mov_b32 s20, 3\n  s_mov_b32 m0, 0\n  s_nop 0\n"
                   "  s_sendmsg sendmsg(MSG_INTERRUPT)\n"),
            3u);
  results("  s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)\n");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_THAT(texts[0], HasSubstr("message 3 is not for compute waves"));
  results("  s_sendmsghalt sendmsg(MSG_INTERRUPT)\n");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_THAT(texts[0], HasSubstr("halts itself"));
}

TEST_F(Control, HardwareRegisters) {
  // MODE: rounding toward zero for f32 only, then back, by parts.
  EXPECT_EQ(result(R"(
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3
  s_nop 1
  s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 4)
)"),
            3u);
  const auto words = results(R"(
  s_mov_b32 s21, 2
  s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s21
  v_mov_b32 v3, 1.0
  v_mov_b32 v4, 0x30000000
  v_add_f32 v1, v3, v4
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
  v_add_f32 v5, v3, v4
  v_sub_u32 v1, v5, v1
)");
  EXPECT_THAT(texts, IsEmpty());
  EXPECT_EQ(words[0], 1u) << "up, less down";

  EXPECT_EQ(result("  s_setprio 2\n  s_mov_b64 vcc, 0\n  s_cmp_eq_u32 0, 0\n"
                   "  s_getreg_b32 s20, hwreg(HW_REG_STATUS)\n"),
            1u | 2u << 3 | 1u << 10 | 1u << 16 | 1u << 28);
  EXPECT_EQ(result("  s_getreg_b32 s20, hwreg(HW_REG_STATUS, 11, 1)\n", 2), 1u);
  // 72 VGPRs: 64 and 8 for accumulation; 2,048 bytes of LDS, two granules.
  EXPECT_EQ(result("  s_getreg_b32 s20, hwreg(HW_REG_GPR_ALLOC, 0, 24)\n"),
            17u << 6 | 16u << 12);
  EXPECT_EQ(result("  s_getreg_b32 s20, hwreg(HW_REG_LDS_ALLOC)\n"), 10u << 12);
  EXPECT_EQ(result("  s_getreg_b32 s20, hwreg(HW_REG_IB_STS)\n"), 0u);
  EXPECT_EQ(result("  s_getreg_b32 s20, hwreg(HW_REG_XCC_ID)\n"), 0u);
  EXPECT_EQ(result("  s_getreg_b32 s20, hwreg(HW_REG_HW_ID)\n", 4),
            3u | 3 << 4);
  // Exceptions may be cleared, and nothing else of TRAPSTS is ever set.
  EXPECT_EQ(result("  s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 9), 0\n"
                   "  s_nop 1\n"
                   "  s_getreg_b32 s20, hwreg(HW_REG_TRAPSTS, 9, 23)\n"),
            0u);
  for (const char *refused :
       {"s_getreg_b32 s20, hwreg(HW_REG_TRAPSTS)",
        "s_getreg_b32 s20, hwreg(HW_REG_TBA_LO)",
        "s_getreg_b32 s20, hwreg(HW_REG_SQ_PERF_SNAPSHOT_DATA)",
        "s_setreg_b32 hwreg(HW_REG_TRAPSTS), s2",
        "s_setreg_b32 hwreg(HW_REG_LDS_ALLOC), s2"}) {
    results(std::string("  ") + refused + "\n");
    ASSERT_EQ(texts.size(), 1u) << refused;
    EXPECT_THAT(texts[0], HasSubstr("error: unsupported")) << refused;
  }
}

TEST_F(Control, WavesMeetAtBarriers) {
  // Wave 0 writes what wave 1 reads behind the barrier, and sleeps before.
  const auto words = results(R"(
  v_lshlrev_b32 v3, 2, v0
  v_add_u32 v4, 1000, v0
  s_sleep 1
  ds_write_b32 v3, v4
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32 v3, 0x100, v3
  ds_read_b32 v1, v3
  s_waitcnt lgkmcnt(0)
)",
                             2);
  EXPECT_THAT(texts, IsEmpty());
  for (unsigned i = 0; i < 128; ++i)
    ASSERT_EQ(words[i], 1000 + (i ^ 64));
}

TEST_F(Control, ObserversSeeWhatAWaveIsAboutToDo) {
  struct Observer : StepObserver {
    void step(const WaveStep &step) override {
      ++steps;
      waves |= 1u << (2 * step.workgroup + step.wave);
      if (step.text == "v_mov_b32_e32 v3, s9") {
        ++moves;
        // Before it: what was there, where it comes from, and for whom.
        isRight &= step.scalars[9] == 77 && step.scalars[126] == 5 &&
                   step.exec == 5 && step.lanes == 64 &&
                   step.vectors[3 * 64 + 2] == 2 && step.vectors.size() >= 1024;
        pc = step.pc;
      }
    }
    uint64_t steps = 0, moves = 0, pc = 0;
    unsigned waves = 0;
    bool isRight = true;
  } observer;
  auto object = assembly(wrapKernel("  v_and_b32 v3, 63, v0\n"
                                    "  s_mov_b32 s9, 77\n"
                                    "  s_mov_b64 exec, 5\n"
                                    "  v_mov_b32 v3, s9\n",
                                    0, 0, 16));
  ASSERT_TRUE(object);
  const Kernel &kernel = object->kernels()[0];
  for (Schedule schedule :
       {Schedule::RoundRobin, Schedule::Random, Schedule::ToBarrier}) {
    observer = Observer();
    DeviceOptions options;
    options.schedule = schedule;
    Device device{options};
    LaunchParams params;
    params.grid = {2, 1, 1};
    params.block = {128, 1, 1};
    params.observer = &observer;
    auto result = device.launch(object, kernel, params);
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    EXPECT_EQ(observer.steps, result->instructions);
    EXPECT_EQ(observer.moves, 4u);
    EXPECT_EQ(observer.waves, 15u);
    EXPECT_TRUE(observer.isRight);
    EXPECT_GT(observer.pc, kernel.entryAddress);
  }
}

TEST_F(Control, TrapsAndHaltsEndTheRun) {
  results("  s_trap 2\n");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_THAT(texts[0], HasSubstr("trap 2"));
  results("  s_sethalt 1\n");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_THAT(texts[0], HasSubstr("halts itself"));
}

TEST_F(Control, TimeDoesNotGoBack) {
  EXPECT_EQ(result(R"(
  s_memtime s[20:21]
  s_memrealtime s[22:23]
  s_waitcnt lgkmcnt(0)
  s_memtime s[24:25]
  s_memrealtime s[26:27]
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v4, s20
  v_mov_b32 v5, s21
  v_mov_b32 v6, s22
  v_mov_b32 v7, s23
  v_cmp_ge_u64 vcc, s[24:25], v[4:5]
  v_cmp_ge_u64 s[28:29], s[26:27], v[6:7]
  s_and_b64 vcc, vcc, s[28:29]
  s_cselect_b32 s20, 1, 0
)"),
            1u);
}

} // namespace
