//===- WaitRuleTests.cpp - One test for each rule of `wait` --------------===//
// SPDX-License-Identifier: MIT

#include "CheckerFixture.h"
#include "gmock/gmock.h"

using namespace netra::sim;
using namespace netra::sim::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class WaitRules : public Checkers {
protected:
  /// s[4:5] leads to p0, s[6:7] and v[8:9] to p1, v[10:11] to LDS; v2 is 4
  /// times the lane, s9 the first work-item of the wave.
  std::vector<std::string> find(const std::string &body, unsigned waves = 1) {
    return check(CheckWait, R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_readfirstlane_b32 s9, v0
  v_and_b32 v2, 63, v0
  v_lshlrev_b32 v2, 2, v2
  v_mov_b32 v3, 1
  s_mov_b32 m0, 0
  v_mov_b32 v10, v2
  v_mov_b32 v11, 0x10000
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v8, s6
  v_mov_b32 v9, s7
)" + body + "\n.Lend:\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n",
                 1024, waves);
  }
  /// Wave 0 does `first`, wave 1 `second` behind a barrier.
  std::vector<std::string> apart(const std::string &first,
                                 const std::string &second) {
    return find("s_cmp_lg_u32 s9, 0\ns_cbranch_scc1 .Lsecond\n" + first +
                    "\ns_barrier\ns_branch .Lend\n.Lsecond:\ns_barrier\n" +
                    second,
                2);
  }
};

TEST_F(WaitRules, FlatNeedsTheCountersThatDeliverItsLanes) {
  const std::string memory = "flat_load_dword v4, v[8:9]\n",
                    lds = "flat_load_dword v4, v[10:11]\n",
                    // The first lane in LDS, the others in memory.
      both = "s_mov_b64 vcc, 1\n"
             "v_cndmask_b32 v8, v8, v10, vcc\n"
             "v_cndmask_b32 v9, v9, v11, vcc\n" +
             memory,
                    vm = "s_waitcnt vmcnt(0)\n",
                    lgkm = "s_waitcnt lgkmcnt(0)\n";
  const struct {
    std::string load, wait;
    const char *advice; ///< nullptr: none
  } lines[] = {
      {memory, vm, nullptr},
      {memory, lgkm, "; s_waitcnt vmcnt(0) before"},
      {memory + "flat_load_dword v5, v[8:9]\n",
       "s_waitcnt vmcnt(1) lgkmcnt(0)\n", "; s_waitcnt vmcnt(0) before"},
      {lds, lgkm, nullptr},
      {lds, vm, "; s_waitcnt lgkmcnt(0) before"},
      {lds + "flat_load_dword v5, v[10:11]\n",
       "s_waitcnt vmcnt(0) lgkmcnt(1)\n", "; s_waitcnt lgkmcnt(0) before"},
      {both, vm + lgkm, nullptr},
      {both, vm, "; s_waitcnt vmcnt(0) lgkmcnt(0) before"},
      {both, lgkm, "; s_waitcnt vmcnt(0) lgkmcnt(0) before"},
      // Flat loads follow each other in no order.
      {memory, "flat_load_dword v4, v[8:9]\n" + vm,
       "; s_waitcnt vmcnt(0) before"},
  };
  for (const auto &line : lines) {
    auto found = find(line.load + line.wait + "v_mov_b32 v6, v4");
    if (line.advice)
      EXPECT_THAT(found, ElementsAre(HasSubstr(line.advice)))
          << line.load << line.wait;
    else
      EXPECT_THAT(found, IsEmpty()) << line.load << line.wait;
  }
}

TEST_F(WaitRules, FlatStoresOfMemoryCountByThemselves) {
  std::string loads;
  for (unsigned k = 0; k < 70; ++k)
    loads += "global_load_dword v5, v2, s[4:5]\n";
  EXPECT_THAT(
      find(loads + "s_waitcnt vmcnt(0)\nflat_store_dword v[8:9], v3\n"
                   "s_load_dword s20, s[6:7], 0x0"),
      ElementsAre(HasSubstr("are read while `flat_store_dword v[8:9], v3`")));
}

TEST_F(WaitRules, LanesThatALoadDoesNotDeliverAreFree) {
  const std::string load = "s_mov_b64 exec, -2\n"
                           "global_load_dword v4, v2, s[4:5]\n"
                           "s_mov_b64 exec, 1\n";
  for (const char *free :
       {"v_mov_b32 v5, v4", "v_mov_b32 v4, v2",
        "v_mov_b32_dpp v5, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"})
    EXPECT_THAT(find(load + free), IsEmpty()) << free;
  // Some instructions read the others, too.
  EXPECT_THAT(find(load + "v_readlane_b32 s20, v4, 5"),
              ElementsAre(HasSubstr("v4 is read while")));
}

TEST_F(WaitRules, LoadsOfOneOrderMayFollowEachOther) {
  const std::string vector = "global_load_dword v4, v2, s[4:5]\n",
                    half = "global_load_short_d16_hi v4, v2, s[4:5]\n",
                    lds = "ds_read_b32 v4, v2\n",
                    halfLds = "ds_read_u16_d16 v4, v2\n",
                    alu = "v_mov_b32 v4, 0\n";
  for (const auto &[first, second] :
       {std::pair{vector, vector}, {vector, half}, {lds, lds}, {lds, halfLds}})
    EXPECT_THAT(find(first + second), IsEmpty()) << first << second;
  for (const auto &[first, second] :
       {std::pair{vector, lds}, {lds, vector}, {vector, alu}, {lds, alu}})
    EXPECT_THAT(find(first + second),
                ElementsAre(HasSubstr("v4 is overwritten while")))
        << first << second;
}

TEST_F(WaitRules, LgkmcntHoldsNoMoreThan15) {
  std::string reads;
  for (unsigned k = 0; k < 20; ++k)
    reads += "ds_read_b32 v" + std::to_string(20 + k) + ", v2\n";
  EXPECT_THAT(find(reads + "s_waitcnt lgkmcnt(15)\nv_mov_b32 v4, v24"),
              IsEmpty());
  EXPECT_THAT(find(reads + "s_waitcnt lgkmcnt(15)\nv_mov_b32 v4, v25"),
              ElementsAre(HasSubstr("s_waitcnt lgkmcnt(14) before")));
}

TEST_F(WaitRules, LdsKeepsItsOrder) {
  const std::string write = "ds_write_b32 v2, v3\n";
  // Another wave writes what is being written, or a wave reads what it wrote
  // itself while others have writes outstanding.
  EXPECT_THAT(apart(write, write), IsEmpty());
  EXPECT_THAT(
      find("v_lshlrev_b32 v2, 2, v0\n" + write + write + "ds_read_b32 v4, v2",
           2),
      IsEmpty());
  // Flat stores are waited for, and then over.
  EXPECT_THAT(apart("flat_store_dword v[10:11], v3\n"
                    "s_waitcnt vmcnt(0) lgkmcnt(0)",
                    "ds_read_b32 v4, v2"),
              IsEmpty());
}

TEST_F(WaitRules, WhatIsOutstandingIsNotForgottenBehindManyWrites) {
  EXPECT_THAT(find("global_load_lds_dword v2, s[4:5]\n"
                   "s_movk_i32 s20, 0x1388\n.Lloop:\n"
                   "ds_write_b32 v2, v3 offset:512\n"
                   "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\n"
                   "s_cbranch_scc1 .Lloop\nds_read_b32 v4, v2"),
              ElementsAre(HasSubstr("LDS bytes 0 to 3 are read while "
                                    "`global_load_lds_dword")));
}

} // namespace
