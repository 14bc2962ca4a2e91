//===- CheckerTests.cpp - Each checker finds its fault, and only that ----===//
// SPDX-License-Identifier: MIT

#include "CheckerFixture.h"
#include "gmock/gmock.h"

using namespace netra::sim;
using namespace netra::sim::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

/// Loads the pointers, then v1 = p0[lane], p1[lane] = v1 + 1. `{}` marks are
/// replaced to weaken it.
std::string copyKernel(const std::string &afterScalar = "s_waitcnt lgkmcnt(0)",
                       const std::string &afterLoad = "s_waitcnt vmcnt(0)",
                       const std::string &address = "v0") {
  return "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
         "  v_lshlrev_b32 v2, 2, " +
         address + "\n  " + afterScalar +
         "\n  global_load_dword v1, v2, s[4:5]\n  " + afterLoad +
         "\n  v_add_u32 v1, 1, v1\n"
         "  global_store_dword v2, v1, s[6:7]\n";
}

constexpr unsigned Usual = CheckMemory | CheckInit | CheckWait;

TEST_F(Checkers, MovedScalarRegistersNeverWritten) {
  // s[10 + M0] is written, or read.
  const auto body = [](const char *index, const char *move, const char *read) {
    return std::string("  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                       "  v_lshlrev_b32 v1, 2, v0\n"
                       "  s_mov_b64 s[8:9], 7\n  s_mov_b32 m0, ") +
           index + "\n  s_nop 0\n  " + move + "\n  v_mov_b32 v2, " + read +
           "\n  s_waitcnt lgkmcnt(0)\n"
           "  global_store_dword v1, v2, s[6:7]\n";
  };
  const auto destination = [&](const char *index, const char *read) {
    return check(CheckInit,
                 body(index, "s_movreld_b64 s[10:11], s[8:9]", read));
  };
  EXPECT_THAT(destination("2", "s12"), IsEmpty());
  EXPECT_EQ(output[7], 7u);
  EXPECT_THAT(destination("2", "s13"), IsEmpty());
  for (const char *other : {"s10", "s11", "s14"}) {
    auto findings = destination("2", other);
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_THAT(findings[0],
                HasSubstr(std::string(other) + ", which was never written"));
  }
  const auto source = [&](const char *index, const char *from) {
    return check(CheckInit,
                 body(index,
                      ("s_movrels_b32 s20, " + std::string(from)).c_str(),
                      "s20"));
  };
  // From a register that was never written, and from one that was.
  EXPECT_THAT(source("1", "s7"), IsEmpty());
  EXPECT_EQ(output[7], 7u);
  auto findings = source("2", "s8");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], HasSubstr("s10, which was never written"));
  EXPECT_THAT(source("0", "s10"), SizeIs(1));
  EXPECT_THAT(source("4", "s4"), IsEmpty()); // s8
}

TEST_F(Checkers, CleanKernelIsSilent) {
  EXPECT_THAT(check(Usual, copyKernel()), IsEmpty());
  EXPECT_EQ(output[5], 5u * 3 + 2);
}

TEST_F(Checkers, MissingVmcnt) {
  auto findings = check(CheckWait, copyKernel("s_waitcnt lgkmcnt(0)", ""));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0],
              AllOf(HasSubstr("wait: v1 is read while `global_load_dword"),
                    HasSubstr("s_waitcnt vmcnt(0) before this"),
                    HasSubstr("v_add_u32_e32 v1, 1, v1")));
}

TEST_F(Checkers, TooWeakVmcnt) {
  EXPECT_THAT(check(CheckWait,
                    copyKernel("s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(1)")),
              SizeIs(1));
}

TEST_F(Checkers, VmcntCountsLaterLoadsAndStores) {
  const std::string body = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v2, s[4:5]
  global_load_dword v3, v2, s[4:5]
  s_waitcnt vmcnt(1)
  v_add_u32 v1, 1, v1
  global_store_dword v2, v1, s[6:7]
  s_waitcnt vmcnt(1)
  v_add_u32 v3, 1, v3
)";
  EXPECT_THAT(check(Usual, body), IsEmpty());
}

TEST_F(Checkers, MissingScalarWait) {
  auto findings = check(CheckWait, copyKernel(""));
  ASSERT_THAT(findings, testing::Not(IsEmpty()));
  EXPECT_THAT(findings[0], AllOf(HasSubstr("s4 is read"),
                                 HasSubstr("s_waitcnt lgkmcnt(0)")));
}

TEST_F(Checkers, ScalarLoadsNeedZero) {
  // One of two scalar loads may be the one that is back.
  auto findings = check(CheckWait, R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dwordx2 s[6:7], s[0:1], 0x8
  s_waitcnt lgkmcnt(1)
  s_mov_b32 s8, s4
)");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], HasSubstr("s_waitcnt lgkmcnt(0)"));
}

TEST_F(Checkers, OverwritingAPendingLoad) {
  auto findings = check(CheckWait, R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v2, s[4:5]
  v_mov_b32 v1, 0
)");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], HasSubstr("v1 is overwritten while"));
}

TEST_F(Checkers, LdsWriteNotWaitedForBeforeBarrier) {
  const auto body = [](const char *wait) {
    return std::string(R"(
  v_lshlrev_b32 v2, 2, v0
  ds_write_b32 v2, v0
  )") + wait +
           R"(
  s_barrier
  v_xor_b32 v3, 0x100, v2
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
)";
  };
  EXPECT_THAT(check(CheckWait, body("s_waitcnt lgkmcnt(0)"), 512, 2),
              IsEmpty());
  auto findings = check(CheckWait, body(""), 512, 2);
  ASSERT_THAT(findings, testing::Not(IsEmpty()));
  EXPECT_THAT(findings[0], HasSubstr("ds_write_b32 v2, v0"));
}

// What M0 selects counts, not what the instruction names.
TEST_F(Checkers, IndexedRegistersNeverWritten) {
  const auto body = [](const char *index, const char *which, const char *move,
                       const char *stored) {
    return std::string(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v4, v0
  s_mov_b32 s8, )") +
           index + "\n  s_set_gpr_idx_on s8, gpr_idx(" + which + ")\n  " +
           move +
           "\n  s_set_gpr_idx_off\n  s_waitcnt lgkmcnt(0)\n"
           "  global_store_dword v1, " +
           stored + ", s[6:7]\n";
  };
  const auto source = [&](const char *index) {
    return check(CheckInit, body(index, "SRC0", "v_mov_b32 v2, v4", "v2"));
  };
  EXPECT_THAT(source("0"), IsEmpty());
  EXPECT_EQ(output[7], 7u);
  auto findings = source("1");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], HasSubstr("v5, which was never written"));
  const auto destination = [&](const char *index) {
    return check(CheckInit, body(index, "DST", "v_mov_b32 v5, v0", "v6"));
  };
  EXPECT_THAT(destination("1"), IsEmpty());
  EXPECT_EQ(output[7], 7u);
  EXPECT_THAT(destination("0"), SizeIs(1));
}

TEST_F(Checkers, LdsWriteNotWaitedForBeforeAtomicsOfOthers) {
  const auto body = [](const char *first, const char *wait) {
    return "  v_lshlrev_b32 v2, 2, v0\n  " + std::string(first) +
           " v2, v0\n  " + wait +
           "\n  s_barrier\n  v_xor_b32 v3, 0x100, v2\n"
           "  ds_add_u32 v3, v0\n  s_waitcnt lgkmcnt(0)\n";
  };
  EXPECT_THAT(
      check(CheckWait, body("ds_write_b32", "s_waitcnt lgkmcnt(0)"), 512, 2),
      IsEmpty());
  // Atomics may come in any order.
  EXPECT_THAT(check(CheckWait, body("ds_add_u32", ""), 512, 2), IsEmpty());
  auto findings = check(CheckWait, body("ds_write_b32", ""), 512, 2);
  ASSERT_THAT(findings, testing::Not(IsEmpty()));
  EXPECT_THAT(findings[0], HasSubstr("ds_write_b32 v2, v0"));
}

TEST_F(Checkers, LoadToLdsNotWaitedFor) {
  const auto body = [](const char *wait) {
    return std::string(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_mov_b32 m0, 0
  s_waitcnt lgkmcnt(0)
  global_load_lds_dword v2, s[4:5]
  )") + wait +
           R"(
  ds_read_b32 v4, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v4, s[6:7]
)";
  };
  EXPECT_THAT(check(Usual, body("s_waitcnt vmcnt(0)"), 256), IsEmpty());
  EXPECT_EQ(output[7], 7u * 3 + 1);
  auto findings = check(CheckWait, body(""), 256);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0],
              AllOf(HasSubstr("global_load_lds_dword"), HasSubstr("vmcnt(0)")));
}

TEST_F(Checkers, OutOfBounds) {
  // Lane 63 of the last wave reads past the 1024 bytes.
  auto findings = check(CheckMemory, R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 4, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v2, s[4:5] offset:16
  s_waitcnt vmcnt(0)
)");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0],
              AllOf(HasSubstr("memory: load of 4 bytes"),
                    HasSubstr("0 bytes after the end of 'input' of 1024"),
                    HasSubstr("lane 63")));
}

TEST_F(Checkers, OutOfBoundsWithoutCheckerIsAFault) {
  auto findings = check(0, R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 20, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v2, s[4:5]
)");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], HasSubstr("error: memory fault: load of 4 bytes"));
}

TEST_F(Checkers, UseAfterFree) {
  DeviceOptions options;
  options.checks = CheckMemory;
  Device device(options);
  const uint64_t p0 = upload(device, std::vector<uint32_t>(64, 1), "gone"),
                 p1 = *device.allocate(256, "output");
  llvm::cantFail(device.free(p0));
  auto findings = run(device, assembly(wrapKernel(copyKernel())), "k",
                      {1, 1, 1}, {64, 1, 1}, Arguments().add(p0).add(p1));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], AllOf(HasSubstr("memory freed before"),
                                 HasSubstr("'gone'"), HasSubstr("64 times")));
}

TEST_F(Checkers, LdsOutOfBounds) {
  auto findings = check(CheckMemory, R"(
  v_lshlrev_b32 v2, 2, v0
  ds_read_b32 v1, v2 offset:4
  s_waitcnt lgkmcnt(0)
)",
                        256);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], HasSubstr("LDS address 256 is outside the 256"));
}

TEST_F(Checkers, UninitialisedRegisterStored) {
  auto findings = check(CheckInit, R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  v_add_u32 v1, v9, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v1, s[6:7]
)");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0],
              AllOf(HasSubstr("init: a value stored to memory depends on v9"),
                    HasSubstr("first read by `v_add_u32_e32 v1, v9, v2`")));
}

TEST_F(Checkers, UninitialisedThroughASwap) {
  // v1 has the value of half the lanes from v9, and v2 the other way round.
  for (const char *swap : {"v_permlane32_swap_b32", "v_permlane16_swap_b32"})
    for (const char *stored : {"v1", "v2"}) {
      auto body = [&](const char *source) {
        return std::string("  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                           "  v_lshlrev_b32 v3, 2, v0\n"
                           "  v_mov_b32 v1, ") +
               source + "\n  v_mov_b32 v2, v0\n  s_nop 1\n  " + swap +
               " v1, v2\n  s_waitcnt lgkmcnt(0)\n"
               "  global_store_dword v3, " +
               stored + ", s[6:7]\n";
      };
      EXPECT_THAT(check(CheckInit, body("v9")),
                  ElementsAre(HasSubstr("depends on v9")))
          << swap << " " << stored;
      EXPECT_THAT(check(CheckInit, body("v0")), IsEmpty());
    }
}

TEST_F(Checkers, UninitialisedInLanesThatDppKeeps) {
  auto body = [](const char *masks) {
    return std::string("  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                       "  v_lshlrev_b32 v3, 2, v0\n"
                       "  v_mov_b32 v2, v0\n  s_nop 1\n"
                       "  v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] ") +
           masks +
           "\n  s_waitcnt lgkmcnt(0)\n"
           "  global_store_dword v3, v1, s[6:7]\n";
  };
  EXPECT_THAT(check(CheckInit, body("row_mask:0xf bank_mask:0xf")), IsEmpty());
  for (const char *masks :
       {"row_mask:0x7 bank_mask:0xf", "row_mask:0xf bank_mask:0xc"})
    EXPECT_THAT(check(CheckInit, body(masks)),
                ElementsAre(HasSubstr("depends on v1")));
}

TEST_F(Checkers, UninitialisedAddressAndBranch) {
  auto address =
      check(CheckInit | CheckMemory,
            copyKernel("s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)", "v7"));
  EXPECT_THAT(address,
              testing::Contains(HasSubstr("an address depends on v7")));
  auto branch = check(CheckInit, R"(
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 .Lend
  s_nop 0
.Lend:
)");
  ASSERT_THAT(branch, SizeIs(1));
  EXPECT_THAT(branch[0], HasSubstr("a branch depends on s20"));
}

// Vector instructions that write EXEC, and LDS addresses that are M0.
TEST_F(Checkers, UninitialisedExecAndM0) {
  const struct {
    const char *define, *use, *report;
  } cases[] = {
      {"v_mov_b32 v9, 1", "v_cmpx_eq_u32_e32 vcc, v9, v0",
       "EXEC depends on v9"},
      {"v_mov_b32 v9, 1", "v_cmpx_eq_u32_e64 s[8:9], v9, v0",
       "EXEC depends on v9"},
      {"v_mov_b32 v9, 1", "v_cmpx_lt_f32_e64 s[8:9], v0, v9",
       "EXEC depends on v9"},
      {"v_mov_b32 v9, 1", "v_cmpx_class_f32_e64 s[8:9], v9, v0",
       "EXEC depends on v9"},
      {"v_mov_b32 v9, 1", "v_readfirstlane_b32 exec_lo, v9",
       "EXEC depends on v9"},
      {"s_mov_b32 m0, 0", "ds_write_addtid_b32 v0", "an address depends on m0"},
      {"s_mov_b32 m0, 0", "ds_read_addtid_b32 v1", "an address depends on m0"},
      {"v_mov_b32 v9, 0\n  ds_write_b32 v9, v9\n  s_mov_b32 m0, 0\n"
       "  s_waitcnt lgkmcnt(0)",
       "ds_append v1", "an address depends on m0"},
  };
  for (const auto &c : cases) {
    const std::string body = std::string("  ") + c.use + "\n";
    auto findings = check(CheckInit, body, 256);
    ASSERT_THAT(findings, SizeIs(1)) << c.use;
    EXPECT_THAT(findings[0], HasSubstr(c.report)) << c.use;
    EXPECT_THAT(check(CheckInit,
                      std::string("  ") + c.define + "\n  s_nop 4\n" + body,
                      256),
                IsEmpty())
        << c.use;
  }
}

// Scalar instructions that change a part of a register, or add to it.
TEST_F(Checkers, UninitialisedScalarThatIsChanged) {
  for (const char *change : {"s_bitset0_b32 s9, 3", "s_bitset1_b32 s9, 3",
                             "s_addk_i32 s9, 0x10", "s_mulk_i32 s9, 0x10"}) {
    const std::string body =
        std::string(change) + "\n  s_and_b32 exec_lo, s9, 1\n";
    auto findings = check(CheckInit, body);
    ASSERT_THAT(findings, SizeIs(1)) << change;
    EXPECT_THAT(findings[0],
                HasSubstr("EXEC depends on s9, which was never written"))
        << change;
    EXPECT_THAT(check(CheckInit, "  s_mov_b32 s9, 0\n  " + body), IsEmpty())
        << change;
  }
}

TEST_F(Checkers, UninitialisedLds) {
  auto findings = check(CheckInit, R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  ds_read_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v1, s[6:7]
)",
                        256);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], HasSubstr("LDS byte"));
}

TEST_F(Checkers, UninitialisedValueInAnAtomicOperationOfLds) {
  // The mask decides what is added; nobody reads the sum.
  const auto body = [](const char *mask) {
    return std::string("  ") + mask + R"(
  v_lshlrev_b32 v2, 3, v0
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  ds_write_b64 v2, v[4:5]
  s_waitcnt lgkmcnt(0)
  v_cndmask_b32 v6, 1, 2, s[20:21]
  v_mov_b32 v7, 0
  ds_add_u64 v2, v[6:7]
  s_waitcnt lgkmcnt(0)
)";
  };
  EXPECT_THAT(check(CheckInit, body("s_mov_b64 s[20:21], 5"), 512), IsEmpty());
  auto findings = check(CheckInit, body(""), 512);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], AllOf(HasSubstr("an atomic operation depends on s2"),
                                 HasSubstr("v_cndmask_b32")));
}

TEST_F(Checkers, UninitialisedMemory) {
  // p1 was never written before it is read.
  auto findings = check(CheckInit, R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v2, s[6:7]
  s_waitcnt vmcnt(0)
  global_store_dword v2, v1, s[6:7]
)");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], HasSubstr("'output'"));
}

/// Bytes 0 and 4 to 7 of eight are written to LDS; bytes 1 to 3 are padding.
std::string paddedLds(const std::string &rest) {
  return R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 3, v0
  v_mov_b32 v3, 7
  ds_write_b8 v2, v3
  ds_write_b32 v2, v3 offset:4
  ds_read_b64 v[4:5], v2
  s_waitcnt lgkmcnt(0)
)" + rest;
}

TEST_F(Checkers, PaddingMayBeCopiedButNotUsed) {
  // Copied through registers and LDS to memory, and the field read from there.
  EXPECT_THAT(check(Usual,
                    paddedLds("  v_mov_b32 v6, v4\n  v_mov_b32 v7, v5\n"
                              "  ds_write_b64 v2, v[6:7] offset:512\n"
                              "  ds_read_b64 v[8:9], v2 offset:512\n"
                              "  s_waitcnt lgkmcnt(0)\n"
                              "  global_store_dwordx2 v2, v[8:9], s[6:7]\n"
                              "  s_waitcnt vmcnt(0)\n"
                              "  global_load_ubyte v10, v2, s[6:7]\n"
                              "  s_waitcnt vmcnt(0)\n"
                              "  v_add_u32 v10, v10, v9\n"
                              "  global_store_dword v2, v10, s[6:7]\n"),
                    1024),
              IsEmpty());
  EXPECT_EQ(output[0], 14u);
  // Fields taken out of the word.
  for (const char *use :
       {"v_and_b32 v4, 0xff, v4", "v_bfe_u32 v4, v4, 0, 8",
        "v_lshlrev_b32 v4, 24, v4", "v_cvt_f32_ubyte0 v4, v4",
        "v_or_b32 v4, 0xffffff00, v4",
        "v_add_u32_sdwa v4, v4, v5 dst_sel:DWORD src0_sel:BYTE_0 "
        "src1_sel:DWORD"})
    EXPECT_THAT(check(Usual,
                      paddedLds(std::string("  ") + use +
                                "\n  s_nop 1\n"
                                "  global_store_dword v2, v4, s[6:7]\n"),
                      1024),
                IsEmpty())
        << use;
  // The padding itself.
  for (const char *use :
       {"v_add_u32 v4, 0x100, v4", "v_lshrrev_b32 v4, 8, v4",
        "v_bfe_u32 v4, v4, 1, 8", "v_cvt_f32_ubyte1 v4, v4",
        "v_and_b32 v4, 0xff00, v4\n  v_add_u32 v4, 0x1234, v4",
        "v_sub_u32_sdwa v4, v4, v5 dst_sel:DWORD src0_sel:WORD_0 "
        "src1_sel:DWORD"}) {
    auto findings = check(CheckInit,
                          paddedLds(std::string("  ") + use +
                                    "\n  v_add_u32 v4, 1, v4\n"
                                    "  global_store_dword v2, v4, s[6:7]\n"),
                          1024);
    ASSERT_THAT(findings, SizeIs(1)) << use;
    EXPECT_THAT(findings[0], HasSubstr("LDS byte")) << use;
  }
  // Parts that are stored by themselves, and words without a defined byte.
  for (const char *part : {"byte", "short"})
    EXPECT_THAT(check(CheckInit,
                      paddedLds(std::string("  global_store_") + part +
                                " v2, v4, s[6:7]\n"),
                      1024),
                IsEmpty());
  EXPECT_THAT(check(CheckInit,
                    paddedLds("  v_lshlrev_b32 v6, 2, v0\n"
                              "  ds_read_b32 v4, v6 offset:512\n"
                              "  s_waitcnt lgkmcnt(0)\n"
                              "  global_store_dword v6, v4, s[6:7]\n"),
                    2048),
              SizeIs(1));
}

TEST_F(Checkers, UnsupportedInstructionIsAnError) {
  auto findings = check(0, "  s_rfe_b64 s[0:1]\n");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0],
              AllOf(HasSubstr("error: unsupported: "), HasSubstr("s_rfe_b64"),
                    HasSubstr("work-group (0, 0, 0)")));
}

//===----------------------------------------------------------------------===//
// barrier
//===----------------------------------------------------------------------===//

TEST_F(Checkers, BarrierThatAWaveMisses) {
  const std::string body = R"(
  v_cmp_gt_u32 vcc, 64, v0
  s_cbranch_vccz .Lend
  s_barrier
.Lend:
)";
  EXPECT_THAT(check(CheckBarrier, body, 0, 1), IsEmpty());
  auto findings = check(CheckBarrier, body, 0, 2);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], AllOf(HasSubstr("barrier: 1 of 2 waves"),
                                 HasSubstr("s_barrier")));
}

TEST_F(Checkers, TransposingLdsRead) {
  // Writes 4 rows of 16 halves per group of 16 lanes and reads columns.
  auto findings = check(CheckMemory | CheckWait, R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 3, v0
  v_mul_u32_u24 v3, 4, v0
  v_add_u32 v4, 1, v3
  v_lshl_or_b32 v4, v4, 16, v3
  v_add_u32 v5, 0x20002, v4
  ds_write_b64 v2, v[4:5]
  s_waitcnt lgkmcnt(0)
  ds_read_b64_tr_b16 v[6:7], v2
  s_waitcnt lgkmcnt(0)
  global_store_dwordx2 v2, v[6:7], s[6:7]
)",
                        512);
  EXPECT_THAT(findings, IsEmpty());
  // Half h of the group's tile holds its own number; rows are 16 wide.
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned row = 0; row < 4; ++row) {
      const unsigned half =
          output[lane * 2 + row / 2] >> (row % 2 * 16) & 0xffff;
      EXPECT_EQ(half, lane / 16 * 64 + row * 16 + lane % 16)
          << lane << " " << row;
    }
}

} // namespace
