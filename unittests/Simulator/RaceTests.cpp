//===- RaceTests.cpp - What orders accesses, and what does not -----------===//
// SPDX-License-Identifier: MIT

#include "CheckerFixture.h"
#include "gmock/gmock.h"

using namespace netra::sim;
using namespace netra::sim::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

using Races = Checkers;

constexpr WorkgroupOrder orders[] = {WorkgroupOrder::Forward,
                                     WorkgroupOrder::Reverse};

TEST_F(Races, WaitBehindAReleasePublishesNothing) {
  // Work-group 0 writes a value and then a flag, for which work-group 1 waits.
  // A wait behind the flag comes too late, however early it is done.
  const auto body = [](const char *before, const char *after) {
    return std::string(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_mov_b64 exec, 1
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lreader
  global_store_dword v2, v3, s[6:7] offset:64
  )") + before +
           R"(
  global_store_dword v2, v3, s[6:7] sc0 sc1
  )" + after +
           R"(
  s_endpgm
.Lreader:
  global_load_dword v4, v2, s[6:7] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v4
  s_cmp_lg_u32 s8, 1
  s_cbranch_scc1 .Lreader
  buffer_inv sc1
  global_load_dword v5, v2, s[6:7] offset:64
  s_waitcnt vmcnt(0)
)";
  };
  struct {
    const char *before, *after;
    bool isRace;
  } const lines[] = {
      {"s_waitcnt vmcnt(0)", "", false},
      {"", "", true},
      {"", "s_waitcnt vmcnt(0)", true},
      // The loads that follow do not hide it.
      {"",
       "s_waitcnt vmcnt(0)\n global_load_dword v9, v2, s[4:5]\n "
       "s_waitcnt vmcnt(0)",
       true},
      // Too weak: the store itself may be the one that is outstanding.
      {"s_waitcnt vmcnt(1)", "", true},
  };
  for (const auto &line : lines)
    for (WorkgroupOrder each : orders) {
      order = each;
      auto findings = checkKernel(
          CheckRace, wrapKernel(body(line.before, line.after)), {64, 1, 1}, 2);
      if (!line.isRace) {
        EXPECT_THAT(findings, IsEmpty());
        continue;
      }
      ASSERT_THAT(findings, SizeIs(1)) << line.before << "; " << line.after;
      EXPECT_THAT(findings[0],
                  AllOf(HasSubstr("race: reads the 4 bytes"),
                        HasSubstr("(in 'output' of 1024 bytes"),
                        HasSubstr("at byte 64"),
                        HasSubstr("work-group 0 writes by "
                                  "`global_store_dword v2, v3, s[6:7] "
                                  "offset:64`")));
    }
}

TEST_F(Races, OneWaveReleasesWhatAnotherWaitedFor) {
  // Both waves of work-group 0 write; the first releases behind a barrier.
  const auto body = [](const char *wait) {
    return std::string(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1
  v_lshlrev_b32 v6, 2, v0
  v_readfirstlane_b32 s9, v0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lreader
  global_store_dword v6, v3, s[6:7] offset:128
  )") + wait +
           R"(
  s_barrier
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lend
  global_store_dword v2, v3, s[6:7] sc0 sc1
  s_endpgm
.Lreader:
  global_load_dword v4, v2, s[6:7] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v4
  s_cmp_lg_u32 s8, 1
  s_cbranch_scc1 .Lreader
  global_load_dword v5, v6, s[6:7] offset:128
  s_waitcnt vmcnt(0)
.Lend:
)";
  };
  EXPECT_THAT(checkKernel(CheckRace, wrapKernel(body("s_waitcnt vmcnt(0)")),
                          {128, 1, 1}, 2),
              IsEmpty());
  EXPECT_THAT(checkKernel(CheckRace, wrapKernel(body("")), {128, 1, 1}, 2),
              SizeIs(1));
}

TEST_F(Races, ScalarMemoryTakesPart) {
  // Who takes .Lother does `second`, all others `first`.
  const auto body =
      [](const char *condition, const char *first, const char *second) {
        return std::string(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1
  s_movk_i32 s20, 5
  v_readfirstlane_b32 s9, v0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 )") +
               condition + R"(, 0
  s_cbranch_scc1 .Lother
  )" + first + R"(
  s_branch .Lend
.Lother:
  )" + second + R"(
.Lend:
  s_waitcnt vmcnt(0) lgkmcnt(0)
)";
      };
  const char load[] = "s_load_dword s20, s[6:7], 0x0",
             store[] = "global_store_dword v2, v3, s[6:7]",
             scalarStore[] = "s_store_dword s20, s[6:7], 0x0",
             elsewhere[] = "s_load_dword s20, s[6:7], 0x4",
             atomic[] = "global_atomic_add v2, v3, s[6:7]",
             scalarAtomic[] = "s_atomic_add s20, s[6:7], 0x0";
  struct {
    const char *first, *second;
    bool isRace;
  } const lines[] = {
      {load, store, true},         {store, load, true},
      {load, scalarStore, true},   {scalarStore, scalarStore, true},
      {scalarStore, load, true},   {load, load, false},
      {elsewhere, store, false},   {scalarAtomic, atomic, false},
      {scalarAtomic, store, true}, {scalarAtomic, scalarAtomic, false},
  };
  for (const auto &line : lines)
    for (WorkgroupOrder each : orders) {
      order = each;
      // Two waves of a work-group, and two work-groups.
      auto waves = checkKernel(CheckRace,
                               wrapKernel(body("s9", line.first, line.second)),
                               {128, 1, 1}),
           groups = checkKernel(CheckRace,
                                wrapKernel(body("s2", line.first, line.second)),
                                {64, 1, 1}, 2);
      EXPECT_THAT(waves, SizeIs(line.isRace))
          << line.first << "; " << line.second;
      EXPECT_THAT(groups, SizeIs(line.isRace))
          << line.first << "; " << line.second;
      if (line.isRace && !waves.empty()) {
        EXPECT_THAT(waves[0], AllOf(HasSubstr("race: "),
                                    HasSubstr("which another wave")));
      }
    }
}

TEST_F(Races, ScalarStoreIsPublishedWhenItWasWaitedFor) {
  const auto body = [](const char *wait) {
    return std::string(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_mov_b64 exec, 1
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1
  s_movk_i32 s20, 5
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lreader
  s_store_dword s20, s[6:7], 0x40
  )") + wait +
           R"(
  s_dcache_wb
  s_waitcnt vmcnt(0)
  global_store_dword v2, v3, s[6:7] sc0 sc1
  s_endpgm
.Lreader:
  global_load_dword v4, v2, s[6:7] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v4
  s_cmp_lg_u32 s8, 1
  s_cbranch_scc1 .Lreader
  s_dcache_inv
  s_load_dword s8, s[6:7], 0x40
  s_waitcnt lgkmcnt(0)
)";
  };
  EXPECT_THAT(checkKernel(CheckRace, wrapKernel(body("s_waitcnt lgkmcnt(0)")),
                          {64, 1, 1}, 2),
              IsEmpty());
  EXPECT_THAT(checkKernel(CheckRace, wrapKernel(body("")), {64, 1, 1}, 2),
              SizeIs(1));
}

TEST_F(Races, LoadStraightToLdsIsOvertakenByAWrite) {
  // In wave 0 a load to the first bytes of LDS, then `rest`.
  const auto body = [](const char *wait, const char *rest) {
    return std::string(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_readfirstlane_b32 s9, v0
  v_and_b32 v3, 63, v0
  v_lshlrev_b32 v2, 2, v3
  s_mov_b32 m0, 0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lsecond
  global_load_lds_dword v2, s[4:5]
  )") + wait +
           "\n" + rest + R"(
  s_waitcnt vmcnt(0) lgkmcnt(0)
)";
  };
  const char own[] = "ds_write_b32 v2, v3\n.Lsecond:",
             others[] = "s_barrier\n s_branch .Lend\n.Lsecond:\n s_barrier\n "
                        "ds_write_b32 v2, v3\n.Lend:",
             ownLoad[] = "global_load_lds_dword v2, s[4:5]\n.Lsecond:",
             othersLoad[] =
                 "s_barrier\n s_branch .Lend\n.Lsecond:\n s_barrier\n "
                 "global_load_lds_dword v2, s[4:5]\n.Lend:",
             elsewhere[] = "ds_write_b32 v2, v3 offset:256\n.Lsecond:";
  struct {
    const char *rest, *place; ///< nullptr: nothing to report
  } const lines[] = {
      {own, "before this instruction"},
      {others, "before the barrier"},
      {othersLoad, "before the barrier"},
      {ownLoad, nullptr},
      {elsewhere, nullptr},
  };
  for (const auto &line : lines) {
    EXPECT_THAT(check(CheckWait, body("s_waitcnt vmcnt(0)", line.rest), 512, 2),
                IsEmpty())
        << line.rest;
    auto found = check(CheckWait, body("", line.rest), 512, 2);
    if (!line.place) {
      EXPECT_THAT(found, IsEmpty()) << line.rest;
      continue;
    }
    ASSERT_THAT(found, SizeIs(1)) << line.rest;
    EXPECT_THAT(found[0],
                AllOf(HasSubstr("wait: LDS bytes 0 to 3 are written while "
                                "`global_load_lds_dword"),
                      HasSubstr("s_waitcnt vmcnt(0) in that wave"),
                      HasSubstr(line.place)));
  }
}

TEST_F(Races, LdsServesAReadBeforeALaterWrite) {
  // The read of the first wave may be outstanding when the second writes.
  EXPECT_THAT(check(CheckWait | CheckRace, R"(
  v_lshlrev_b32 v2, 2, v0
  v_xor_b32 v3, 0x100, v2
  ds_write_b32 v2, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v4, v3
  s_barrier
  ds_write_b32 v2, v2
  s_waitcnt lgkmcnt(0)
)",
                    512, 2),
              IsEmpty());
}

TEST_F(Races, CountersHoldNoMoreThanTheirFields) {
  const auto body = [](const char *wait, unsigned used) {
    std::string text = "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                       "  v_lshlrev_b32 v2, 2, v0\n  s_waitcnt lgkmcnt(0)\n";
    for (unsigned k = 0; k < 70; ++k)
      text +=
          "  global_load_dword v" + std::to_string(10 + k) + ", v2, s[4:5]\n";
    text += std::string("  ") + wait + "\n  v_mov_b32 v1, v" +
            std::to_string(10 + used) + "\n  s_waitcnt vmcnt(0)\n";
    return wrapKernel(text, 16, 0, 128);
  };
  // 70 loads cannot be outstanding; the wait for 63 says so.
  const char most[] = "s_waitcnt vmcnt(63)";
  EXPECT_THAT(checkKernel(CheckWait, body(most, 6), {64, 1, 1}), IsEmpty());
  EXPECT_THAT(checkKernel(CheckWait, body(most, 7), {64, 1, 1}),
              testing::ElementsAre(HasSubstr("s_waitcnt vmcnt(62) before")));
  EXPECT_THAT(checkKernel(CheckWait, body("", 0), {64, 1, 1}),
              testing::ElementsAre(HasSubstr("s_waitcnt vmcnt(62) before")));
  EXPECT_THAT(checkKernel(CheckWait, body("", 10), {64, 1, 1}),
              testing::ElementsAre(HasSubstr("s_waitcnt vmcnt(59) before")));
  std::string reads = "  v_lshlrev_b32 v2, 2, v0\n";
  for (unsigned k = 0; k < 20; ++k)
    reads += "  ds_read_b32 v" + std::to_string(10 + k) + ", v2\n";
  EXPECT_THAT(check(CheckWait, reads + "  v_mov_b32 v1, v10\n", 256),
              testing::ElementsAre(HasSubstr("s_waitcnt lgkmcnt(14) before")));
}

} // namespace
