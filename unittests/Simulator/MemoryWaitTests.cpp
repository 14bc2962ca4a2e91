//===- MemoryWaitTests.cpp - Waits between vector and scalar memory ------===//
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

using MemoryWaits = Checkers;

/// s[6:7], v[8:9] and the descriptor s[12:15] lead to p1; v2 is 0, v3 is 1, v6
/// 4 and v10 16 times the lane, s9 the first work-item of the wave.
const std::string setup = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1
  v_readfirstlane_b32 s9, v0
  v_and_b32 v0, 63, v0
  v_lshlrev_b32 v6, 2, v0
  v_lshlrev_b32 v10, 4, v0
  s_movk_i32 s20, 5
  s_mov_b32 m0, 0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v8, s6
  v_mov_b32 v9, s7
  s_mov_b32 s12, s6
  s_mov_b32 s13, s7
  s_movk_i32 s14, 0x400
  s_mov_b32 s15, 0x27000
)";
const std::string teardown = "\n.Lend:\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n";

const std::string load = "global_load_dword v4, v2, s[6:7]",
                  store = "global_store_dword v2, v3, s[6:7]",
                  atomic = "global_atomic_add v2, v3, s[6:7]",
                  scattered = "global_store_dword v10, v3, s[6:7]",
                  flatStore = "flat_store_dword v[8:9], v3",
                  flatLoad = "flat_load_dword v4, v[8:9]",
                  bufferStore = "buffer_store_dword v3, off, s[12:15], 0",
                  toLds = "global_load_lds_dword v2, s[6:7]",
                  scalarLoad = "s_load_dword s21, s[6:7], 0x0",
                  scalarStore = "s_store_dword s20, s[6:7], 0x0",
                  scalarAtomic = "s_atomic_add s20, s[6:7], 0x0",
                  scalarBufferLoad = "s_buffer_load_dword s21, s[12:15], 0x0",
                  vm = "s_waitcnt vmcnt(0)", lgkm = "s_waitcnt lgkmcnt(0)";

/// Pairs of which the second needs a wait, and what is said of both.
const struct {
  std::string first, second, wait, done, doing;
} pairs[] = {
    {store, scalarLoad, vm, "read", "writes"},
    {atomic, scalarLoad, vm, "read", "updates"},
    {flatStore, scalarLoad, vm, "read", "writes"},
    {bufferStore, scalarBufferLoad, vm, "read", "writes"},
    {store, scalarStore, vm, "written", "writes"},
    {load, scalarStore, vm, "written", "reads"},
    {load, scalarAtomic, vm, "updated", "reads"},
    {scalarLoad, store, lgkm, "written", "reads"},
    {scalarLoad, atomic, lgkm, "updated", "reads"},
    {scalarLoad, flatStore, lgkm, "written", "reads"},
    {scalarLoad, scalarStore, lgkm, "written", "reads"},
    {scalarStore, load, lgkm, "read", "writes"},
    {scalarStore, flatLoad, lgkm, "read", "writes"},
    {scalarStore, toLds, lgkm, "read", "writes"},
    {scalarStore, store, lgkm, "written", "writes"},
    {scalarStore, scalarLoad, lgkm, "read", "writes"},
    {scalarStore, scalarStore, lgkm, "written", "writes"},
    {scalarAtomic, load, lgkm, "read", "updates"},
};

TEST_F(MemoryWaits, OfOneWave) {
  for (const auto &[first, second, wait, done, doing] : pairs) {
    const auto findings = [&](const std::string &between) {
      return check(CheckWait,
                   setup + first + "\n" + between + "\n" + second + teardown,
                   256);
    };
    EXPECT_THAT(findings(wait), IsEmpty()) << first << "; " << second;
    // The other counter says nothing.
    for (const std::string &between : {std::string(), wait == vm ? lgkm : vm}) {
      auto missing = findings(between);
      ASSERT_THAT(missing, SizeIs(1)) << first << "; " << second;
      EXPECT_THAT(
          missing[0],
          AllOf(HasSubstr("wait: the 4 bytes at "),
                HasSubstr("in 'output' of 1024 bytes"),
                HasSubstr("are " + done + " while `" + first),
                HasSubstr("that " + doing + " them is outstanding; " + wait +
                          " before this instruction would suffice")))
          << first << "; " << second;
    }
  }
}

TEST_F(MemoryWaits, NoneAreNeeded) {
  const std::string next = "s_load_dword s21, s[6:7], 0x4",
                    storeNext = store + " offset:4",
                    arguments = "s_load_dwordx4 s[24:27], s[0:1], 0x0";
  const std::pair<std::string, std::string> without[] = {
      {store, load},
      {store, store},
      {load, scalarLoad},
      {scalarLoad, load},
      {scalarLoad, "s_load_dword s22, s[6:7], 0x0"},
      {atomic, scalarAtomic},
      {scalarAtomic, atomic},
      {scalarAtomic, scalarAtomic},
      // Other bytes, in between those that the lanes write, too.
      {store, next},
      {next, store},
      {scalarStore, load + " offset:4"},
      {scalarStore, storeNext},
      {scattered, next},
      {scattered, "s_load_dwordx2 s[22:23], s[6:7], 0x14"},
      {scattered, arguments},
      {flatStore, arguments},
  };
  for (const auto &[first, second] : without)
    EXPECT_THAT(check(CheckWait, setup + first + "\n" + second + teardown, 256),
                IsEmpty())
        << first << "; " << second;
  EXPECT_THAT(check(CheckWait, setup + scattered +
                                   "\n s_load_dwordx2 s[22:23], s[6:7], 0x1c" +
                                   teardown),
              SizeIs(1));
}

TEST_F(MemoryWaits, TheAdviceCountsWhatCameBehind) {
  const auto findings = [&](const std::string &wait) {
    return check(CheckWait, setup + store + "\n" + load + " offset:64\n" +
                                wait + "\n" + scalarLoad + teardown);
  };
  EXPECT_THAT(findings("s_waitcnt vmcnt(1)"), IsEmpty());
  EXPECT_THAT(
      findings("s_waitcnt vmcnt(2)"),
      testing::ElementsAre(HasSubstr("s_waitcnt vmcnt(1) before this")));
}

TEST_F(MemoryWaits, WhatTheCounterCannotHoldIsOver) {
  // A store to bytes 8 to 11 of each 16, then many to bytes 0 to 3.
  const auto findings = [&](unsigned others, const char *offset) {
    std::string body = setup + scattered + " offset:8\n";
    for (unsigned k = 0; k < others; ++k)
      body += scattered + "\n";
    return check(CheckWait,
                 body + "s_load_dword s21, s[6:7], " + offset + teardown);
  };
  for (unsigned others : {60, 62, 63, 200}) {
    EXPECT_THAT(findings(others, "0x18"), SizeIs(others < 63)) << others;
    EXPECT_THAT(findings(others, "0x14"), IsEmpty());
    EXPECT_THAT(findings(others, "0x10"), SizeIs(1));
  }
  EXPECT_THAT(findings(60, "0x18"),
              testing::ElementsAre(HasSubstr("s_waitcnt vmcnt(60) before")));
}

TEST_F(MemoryWaits, OfTwoWaves) {
  for (const auto &[first, second, wait, done, doing] : pairs) {
    // Wave 0 does the first, wave 1 the second; `between` stands in both. The
    // loads that follow must not make the advice weaker.
    const auto findings = [&](const std::string &own,
                              const std::string &between) {
      const std::string others = "\n" + load + " offset:64\n" + load +
                                 " offset:64\ns_branch .Lend\n.Lsecond:\n";
      return check(CheckWait,
                   setup + "s_cmp_lg_u32 s9, 0\ns_cbranch_scc1 .Lsecond\n" +
                       first + "\n" + own + "\n" + between + others + between +
                       "\ns_nop 0\n" + second + teardown,
                   256, 2);
    };
    EXPECT_THAT(findings(wait, "s_barrier"), IsEmpty())
        << first << "; " << second;
    auto missing = findings("", "s_barrier");
    ASSERT_THAT(missing, SizeIs(1)) << first << "; " << second;
    EXPECT_THAT(missing[0],
                AllOf(HasSubstr("are " + done + " while `" + first),
                      HasSubstr("of wave 0 that " + doing),
                      HasSubstr("outstanding; " + wait +
                                " in that wave before the barrier would")))
        << first << "; " << second;
    missing = findings("", "s_nop 0");
    ASSERT_THAT(missing, SizeIs(1)) << first << "; " << second;
    EXPECT_THAT(missing[0],
                AllOf(HasSubstr("in that wave and a barrier behind it"),
                      HasSubstr("there is no barrier between the two")))
        << first << "; " << second;
  }
}

TEST_F(MemoryWaits, ScalarStoresReadTheirDataLate) {
  const std::string pair = "s_store_dwordx2 s[20:21], s[6:7], 0x0",
                    buffer = "s_buffer_store_dword s20, s[12:15], 0x0",
                    swap = "s_atomic_cmpswap s[20:21], s[6:7], 0x0";
  const struct {
    std::string store, then;
    const char *name; ///< of the register that is overwritten, if one is
  } lines[] = {
      {scalarStore, "s_mov_b32 s20, 1", "s20"},
      {scalarStore, "s_addk_i32 s20, 1", "s20"},
      {scalarStore, "v_readfirstlane_b32 s20, v2", "s20"},
      {scalarStore, "s_load_dword s20, s[4:5], 0x80", "s20"},
      {pair, "s_mov_b32 s21, 1", "s21"},
      {buffer, "s_mov_b32 s20, 1", "s20"},
      {scalarAtomic, "s_mov_b32 s20, 1", "s20"},
      {swap, "s_mov_b32 s21, 1", "s21"},
      // Others, and reading them.
      {scalarStore, "s_mov_b32 s21, 1", nullptr},
      {scalarStore, "s_add_u32 s21, s20, s20", nullptr},
      {scalarStore, "s_store_dword s20, s[6:7], 0x80", nullptr},
      {scalarStore, "s_mov_b64 s[6:7], s[4:5]", nullptr},
      // Vector stores have read theirs.
      {store, "v_mov_b32 v3, 2", nullptr},
      {store, "v_cmpx_eq_u32 v3, v3", nullptr},
  };
  for (const auto &line : lines) {
    const auto findings = [&](const std::string &between) {
      return check(CheckWait, setup + "s_mov_b32 s21, 6\n" + line.store + "\n" +
                                  between + "\n" + line.then + teardown);
    };
    EXPECT_THAT(findings(vm + "\n" + lgkm), IsEmpty()) << line.store;
    auto missing = findings(vm);
    if (!line.name) {
      EXPECT_THAT(missing, IsEmpty()) << line.store << "; " << line.then;
      continue;
    }
    ASSERT_THAT(missing, SizeIs(1)) << line.store << "; " << line.then;
    EXPECT_THAT(missing[0],
                AllOf(HasSubstr("wait: " + std::string(line.name) +
                                " is overwritten while `" + line.store),
                      HasSubstr("that stores it is outstanding; " + lgkm +
                                " before this instruction would suffice")))
        << line.store << "; " << line.then;
  }
}

TEST_F(MemoryWaits, EndWithTheWorkgroup) {
  const auto body = setup + "s_cmp_lg_u32 s2, 0\ns_cbranch_scc1 .Lsecond\n" +
                    store + "\ns_endpgm\n.Lsecond:\n" + scalarLoad + teardown;
  EXPECT_THAT(checkKernel(CheckWait, wrapKernel(body), {64, 1, 1}, 2),
              IsEmpty());
}

TEST_F(MemoryWaits, OfLdsNameTheBarrierThatThereIs) {
  // Wave 0 writes what wave 1 reads; then wave 0 reads other bytes.
  const auto findings = [&](const std::string &between) {
    return check(CheckWait,
                 setup + "s_cmp_lg_u32 s9, 0\ns_cbranch_scc1 .Lsecond\n" +
                     "ds_write_b32 v6, v3\n" + between +
                     "\nds_read_b32 v4, v6 offset:256\ns_branch .Lend\n" +
                     ".Lsecond:\n" + between + "\ns_nop 0\nds_read_b32 v4, v6" +
                     teardown,
                 512, 2);
  };
  EXPECT_THAT(findings(lgkm + "\ns_barrier"), IsEmpty());
  EXPECT_THAT(findings("s_barrier"),
              testing::ElementsAre(
                  AllOf(HasSubstr("LDS bytes 0 to 3 are read while"),
                        HasSubstr("s_waitcnt lgkmcnt(0) in that wave before "
                                  "the barrier would suffice"))));
  EXPECT_THAT(
      findings("s_nop 0"),
      testing::ElementsAre(HasSubstr(
          "s_waitcnt lgkmcnt(1) in that wave and a barrier behind it would "
          "suffice; there is no barrier between the two")));
}

} // namespace
