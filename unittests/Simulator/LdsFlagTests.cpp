//===- LdsFlagTests.cpp - What is a wait for a flag in LDS ---------------===//
// SPDX-License-Identifier: MIT
//
// Hand-shakes written by hand, each of which differs in one thing from one that
// orders two waves.
//
//===----------------------------------------------------------------------===//

#include "CheckerFixture.h"
#include "gmock/gmock.h"

using namespace netra::sim;
using namespace netra::sim::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class LdsFlags : public Checkers {
protected:
  LdsFlags() { threads = 1; }
  /// Wave 0 does `publish`; wave 1 does `poll`, the waiting, and `read`. The
  /// flag is the dword at 0, data lie behind it. v3 is 1 and v6 4 times the
  /// lane; v2, v9 to v13, v40 and s11 to s13 are 0; v[20:21] is the flat
  /// address of the flag, v[22:23] that of the dword at 512. `.Lreturn` returns
  /// to s[20:21].
  std::vector<std::string> find(const std::string &publish,
                                const std::string &poll,
                                const std::string &read,
                                unsigned checks = CheckRace | CheckWait) {
    std::string zeros;
    for (const char *name : {"2", "9", "10", "11", "12", "13", "20", "40"})
      zeros += std::string("  v_mov_b32 v") + name + ", 0\n";
    for (const char *name : {"11", "12", "13"})
      zeros += std::string("  s_mov_b32 s") + name + ", 0\n";
    const std::string body = zeros + R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v3, 1
  v_mov_b32 v21, 0x10000
  v_mov_b32 v22, 0x200
  v_mov_b32 v23, v21
  v_readfirstlane_b32 s9, v0
  v_and_b32 v6, 63, v0
  v_lshlrev_b32 v6, 2, v6
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Lreader
  ds_write_b32 v2, v2
  ds_write_b32 v2, v2 offset:4
  s_waitcnt lgkmcnt(0)
  s_barrier
  )" + publish + R"(
  s_endpgm
.Lreturn:
  s_setpc_b64 s[20:21]
.Lreader:
  s_barrier
  )" + poll + "\n  " + read +
                             R"(
  s_waitcnt vmcnt(0) lgkmcnt(0)
)";
    return checkKernel(checks, wrapKernel(body, 16, 1024, 64, 8, 64),
                       {128, 1, 1});
  }
  /// The same in several ways; `finding` is in the reports of each, nullptr if
  /// there are none.
  void expect(const char *finding, const std::string &publish,
              const std::string &poll, const std::string &read) {
    for (const FairWay &way : fairWays) {
      schedule = way.schedule;
      seed = way.seed;
      auto found = find(publish, poll, read);
      SCOPED_TRACE(publish + "; " + poll + "; " + read + " seed " +
                   std::to_string(way.seed));
      if (finding)
        EXPECT_THAT(found, testing::Contains(HasSubstr(finding)));
      else
        EXPECT_THAT(found, IsEmpty());
    }
  }
};

std::string loop(const std::string &read) {
  return ".Lwait:\n  " + read + R"(
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s10, v7
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc1 .Lwait
)";
}

const std::string data = "ds_write_b32 v6, v3 offset:256\n",
                  wait = "s_waitcnt lgkmcnt(0)\n",
                  flag = "ds_write_b32 v2, v3\n",
                  read = "ds_read_b32 v8, v6 offset:256\n",
                  poll = loop("ds_read_b32 v7, v2");

/// Around a loop.
const std::string again = "s_add_u32 s11, s11, 1\n  s_cmp_lg_u32 s11, 3\n"
                          "  s_cbranch_scc1 .Lagain\n";

/// A loop that reads the flag (v7 and s10), does `body`, counts (s11 and v11)
/// and goes on by `end`: until it has counted to `limit`, if there is no other.
std::string counted(const std::string &body, const std::string &limit,
                    const std::string &end = "") {
  return ".Lwait:\n  ds_read_b32 v7, v2\n  s_waitcnt lgkmcnt(0)\n"
         "  v_readfirstlane_b32 s10, v7\n  s_add_u32 s11, s11, 1\n"
         "  v_add_u32 v11, 1, v11\n  " +
         body +
         (end.empty()
              ? "  s_cmp_lg_u32 s11, " + limit + "\n  s_cbranch_scc1 .Lwait\n"
              : "  " + end);
}

/// A read of the flag, or a loop that waits for it, at v9, which `address`
/// computes.
std::string at(const std::string &address, bool isLoop = false) {
  const std::string read = "ds_read_b32 v7, v9";
  return address + "\n  " + (isLoop ? loop(read) : read);
}

/// Lets wave 0 do its part.
const std::string pause = ".rept 60\n  s_nop 0\n  .endr\n";

TEST_F(LdsFlags, OrderWhatComesBeforeAndBehindThem) {
  const struct {
    std::string publish, poll, read;
    const char *finding; ///< nullptr: none
  } lines[] = {
      {data + wait + flag, poll, read, nullptr},
      {data + wait + "ds_add_u32 v2, v3\n", poll, read, nullptr},
      {data + wait + "ds_or_b32 v2, v3\n", loop("ds_or_rtn_b32 v7, v2, v2"),
       read, nullptr},
      // By atomic operations that change nothing, or nothing more.
      {data + wait + flag, loop("ds_add_rtn_u32 v7, v2, v2"), read, nullptr},
      {data + wait + flag, loop("ds_xor_rtn_b32 v7, v2, v2"), read, nullptr},
      {data + wait + flag, loop("ds_cmpst_rtn_b32 v7, v2, v3, v3"), read,
       nullptr},
      {data + wait + flag, loop("ds_wrxchg_rtn_b32 v7, v2, v2"), read, nullptr},
      // By those that do.
      {data + wait + flag, loop("ds_add_rtn_u32 v7, v2, v3"), "", "race: wave"},
      {data + wait + flag, loop("ds_max_rtn_u32 v7, v2, v3"), "", "race: wave"},
      {data + wait + flag,
       loop("v_add_u32 v9, 1, v7\n  ds_cmpst_rtn_b32 v7, v2, v7, v9"), "",
       "race: wave"},
      {data + wait + flag, loop("ds_wrxchg_rtn_b32 v7, v2, v7"), "",
       "race: wave"},
      {data + wait + flag,
       loop("ds_read_b64 v[10:11], v2\n  s_waitcnt lgkmcnt(0)\n  v_or_b32 v7, "
            "v10, v11"),
       read, nullptr},
      // What was read or written before may be written behind the flag.
      {read + wait + flag, poll, data, nullptr},
      {data + wait + flag, poll, data, nullptr},
      // LDS keeps the order of a wave's own, loads straight to it do not.
      {data + flag, poll, read, nullptr},
      {"s_movk_i32 m0, 0x100\n  s_waitcnt lgkmcnt(0)\n"
       "  global_load_lds_dword v2, s[4:5]\n" +
           flag,
       poll, read, "wait: LDS bytes 256 to 259 are read while"},
      {"s_movk_i32 m0, 0x100\n  s_waitcnt lgkmcnt(0)\n"
       "  global_load_lds_dword v2, s[4:5]\n  s_waitcnt vmcnt(0)\n" +
           flag,
       poll, read, nullptr},
      // Behind the flag nothing is ordered.
      {data + flag + data + wait, poll, read, "race: wave"},
      {flag + data + "ds_read_b32 v14, v2\n" + wait, pause + poll, read,
       "race: wave"},
      {flag + data + wait, poll, read, "race: wave"},
      {flag + read + wait, poll, data, "race: wave"},
      {flag + data + wait, poll, data, "race: wave"},
      // Another flag.
      {data + wait + "ds_write_b32 v2, v3 offset:4\n" + flag, poll, read,
       nullptr},
      {"ds_write_b32 v2, v3 offset:4\n" + wait + data + wait + flag,
       loop("ds_read_b32 v7, v2 offset:4"), read, "race: wave"},
      // Nobody waits.
      {data + wait + flag, "ds_read_b32 v7, v2\n" + wait, "", "race: wave"},
      {data + wait + flag, "", read, "race: wave"},
      // Where the loop reads depends on the turn; or it ends by itself.
      {data + wait + flag,
       ".Lwait:\n  v_add_u32 v9, 4, v9\n  v_and_b32 v9, 0, v9\n"
       "  ds_read_b32 v7, v9\n  s_waitcnt lgkmcnt(0)\n"
       "  v_readfirstlane_b32 s10, v7\n  s_cmp_eq_u32 s10, 0\n"
       "  s_cbranch_scc1 .Lwait\n",
       "", "race: wave"},
      {data + wait + flag,
       "s_mov_b32 s11, 0\n.Lwait:\n  ds_read_b32 v7, v2\n"
       "  s_waitcnt lgkmcnt(0)\n  v_readfirstlane_b32 s10, v7\n"
       "  s_add_u32 s11, s11, 1\n  s_cmp_lg_u32 s11, 9\n"
       "  s_cbranch_scc1 .Lwait\n",
       "", "race: wave"},
      // A turn of the loop writes, or waits at a barrier.
      {data + wait + flag,
       loop("ds_write_b32 v2, v2 offset:8\n  ds_read_b32 v7, v2"), "",
       "race: wave"},
      {data + wait + flag,
       loop("global_store_dword v2, v2, s[6:7]\n  ds_read_b32 v7, v2"), "",
       "race: wave"},
  };
  for (const auto &line : lines)
    expect(line.finding, line.publish, line.poll, line.read);
}

// What the wave learns by a wait lets it read what lies behind the flag. What
// is no wait races with the setting of the flag.
TEST_F(LdsFlags, LoopsThatWaitAndThatDoNot) {
  const struct {
    bool waits;
    std::string poll;
  } lines[] = {
      // Flat addresses, which may be of LDS.
      {true, loop("flat_load_dword v7, v[20:21]\n  s_waitcnt vmcnt(0)")},
      {true, loop("flat_atomic_or v7, v[20:21], v2 sc0\n  s_waitcnt vmcnt(0)")},
      {true,
       loop("flat_atomic_add v7, v[20:21], v2 sc0\n  s_waitcnt vmcnt(0)")},
      {true,
       loop("flat_atomic_swap v7, v[20:21], v2 sc0\n  s_waitcnt vmcnt(0)")},
      {false,
       loop("flat_atomic_add v7, v[20:21], v3 sc0\n  s_waitcnt vmcnt(0)")},
      // Atomic operations that repeat without change, and that do not.
      {true, loop("ds_and_rtn_b32 v7, v2, v3")},
      {true, loop("ds_sub_rtn_u32 v7, v2, v2")},
      {false, loop("ds_sub_rtn_u32 v7, v2, v3")},
      {false, loop("ds_xor_rtn_b32 v7, v2, v3")},
      {false, loop("v_add_u32 v9, 2, v9\n  ds_or_rtn_b32 v7, v2, v9")},
      // What stands in front is no part of the loop.
      {true, "v_add_u32 v9, v9, v9\n" + loop("ds_read_b32 v7, v9")},
      {true, loop("ds_read_b32 v7, v9\n  v_and_b32 v9, 0, v3")},
      // Others see what a turn does, or it leads elsewhere.
      {false, loop("flat_atomic_or v[22:23], v2\n  ds_read_b32 v7, v2")},
      {false, loop("global_atomic_add v2, v2, s[6:7]\n  ds_read_b32 v7, v2")},
      {false, loop("ds_read_b32 v7, v2\n  s_barrier")},
      {false, loop("s_call_b64 s[20:21], .Lreturn\n  ds_read_b32 v7, v2")},
      // Nobody sees private memory, caches and exchanges of lanes.
      {true, loop("scratch_store_dword off, v3, off\n  ds_read_b32 v7, v2")},
      {true, loop("buffer_wbl2 sc1\n  buffer_inv sc1\n  s_dcache_inv\n"
                  "  s_dcache_wb\n  ds_read_b32 v7, v2")},
      {true, loop("ds_swizzle_b32 v14, v3 offset:swizzle(BROADCAST,32,0)\n"
                  "  ds_bpermute_b32 v14, v2, v3\n"
                  "  ds_permute_b32 v14, v6, v3\n  ds_read_b32 v7, v2")},
      // Other reads, in the loop and in one around it.
      {true, loop("ds_read_b32 v9, v2 offset:512\n  ds_read_b32 v7, v2")},
      {true,
       ".Lagain:\n" +
           loop("scratch_load_dword v14, off, off\n  ds_read_b32 v7, v2") +
           "ds_read_b32 v9, v2 offset:512\n" + again},
      {true, ".Lagain:\n" + poll +
                 "global_load_dword v9, v2, s[4:5]\n  s_waitcnt vmcnt(0)\n" +
                 again},
      // The address goes through copies, lanes of registers and back.
      {true, loop("v_mov_b32 v9, v10\n  v_mov_b32 v10, v9\n"
                  "  ds_read_b32 v7, v10")},
      {true, loop("v_mov_b64 v[10:11], v[12:13]\n"
                  "  v_mov_b64 v[12:13], v[10:11]\n  ds_read_b32 v7, v12")},
      {true, loop("s_mov_b32 s11, s12\n  s_mov_b32 s12, s11\n"
                  "  v_mov_b32 v9, s12\n  ds_read_b32 v7, v9")},
      {true, loop("s_mov_b64 s[14:15], s[12:13]\n"
                  "  s_mov_b64 s[12:13], s[14:15]\n"
                  "  v_mov_b32 v9, s12\n  ds_read_b32 v7, v9")},
      {true, loop("v_accvgpr_write_b32 a0, v9\n  s_nop 1\n"
                  "  v_accvgpr_read_b32 v9, a0\n  s_nop 1\n"
                  "  ds_read_b32 v7, v9")},
      {true, loop("v_readfirstlane_b32 s12, v9\n  v_mov_b32 v9, s12\n"
                  "  ds_read_b32 v7, v9")},
      {true, loop("v_readlane_b32 s12, v40, 3\n  v_writelane_b32 v40, s12, 3\n"
                  "  v_writelane_b32 v40, s10, 4\n  v_mov_b32 v9, s12\n"
                  "  ds_read_b32 v7, v9")},
      {false, loop("s_add_u32 s11, s11, 1\n  v_readlane_b32 s12, v40, s11\n"
                   "  v_mov_b32 v9, s12\n  ds_read_b32 v7, v9")},
      {false, loop("v_mov_b32_dpp v9, v9 row_shl:1 row_mask:0xf "
                   "bank_mask:0xf\n  ds_read_b32 v7, v9")},
      // The value decides about something, but not about leaving: the loop
      // counts, or ends by what no branch on the value sets.
      {false, counted("s_cmp_eq_u32 s10, 0\n  s_cbranch_scc1 .Lskip\n"
                      "  s_nop 0\n.Lskip:\n",
                      "9")},
      {false, counted("s_cmp_eq_u32 s11, 3\n  s_cbranch_scc1 .Lskip\n"
                      "  s_movk_i32 s12, 9\n.Lskip:\n",
                      "s12")},
      {false, counted("v_cmp_ne_u32 vcc, 0, v7\n"
                      "  s_and_saveexec_b64 s[14:15], vcc\n  v_mov_b32 v9, v3\n"
                      "  s_or_b64 exec, exec, s[14:15]\n",
                      "9",
                      "v_cmp_ne_u32 vcc, 9, v11\n"
                      "  s_and_b64 exec, exec, vcc\n"
                      "  s_cbranch_execnz .Lwait\n")},
      // The value decides by what a branch on it sets, or by EXEC.
      {true, counted("s_mov_b32 s12, 1\n  s_cmp_lg_u32 s10, 0\n"
                     "  s_cbranch_scc1 .Lskip\n  s_mov_b32 s12, 0\n.Lskip:\n"
                     "  s_cmp_eq_u32 s12, 0\n",
                     "", "s_cbranch_scc1 .Lwait\n")},
      {true, counted("v_cmp_eq_u32 vcc, 0, v7\n"
                     "  s_and_saveexec_b64 s[14:15], vcc\n"
                     "  s_and_saveexec_b64 s[16:17], -1\n",
                     "", "s_cbranch_execnz .Lwait\n  s_mov_b64 exec, -1\n")},
      {true, counted("v_cmp_eq_u32 vcc, 0, v7\n"
                     "  s_and_saveexec_b64 s[14:15], vcc\n"
                     "  s_and_saveexec_b64 s[16:17], -1\n"
                     "  s_or_b64 exec, exec, s[16:17]\n",
                     "", "s_cbranch_execnz .Lwait\n  s_mov_b64 exec, -1\n")},
      {true, counted("v_cmp_ne_u32 vcc, 0, v7\n"
                     "  s_and_saveexec_b64 s[14:15], vcc\n"
                     "  s_not_b64 s[16:17], exec\n  s_mov_b64 exec, -1\n"
                     "  s_cmp_lg_u64 s[16:17], 0\n",
                     "", "s_cbranch_scc1 .Lwait\n")},
      // Longer than anything that waits.
      {true, loop(".rept 480\n  s_nop 0\n  .endr\n  ds_read_b32 v7, v2")},
      {false, loop(".rept 520\n  s_nop 0\n  .endr\n  ds_read_b32 v7, v2")},
  };
  for (const auto &line : lines)
    expect(line.waits ? nullptr : "race: wave", data + wait + flag, line.poll,
           line.waits ? read : "");
}

TEST_F(LdsFlags, TheFirstTurnMayStandInFrontOfTheLoop) {
  const std::string branch = R"(
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s10, v7
  s_cmp_lg_u32 s10, 0
  s_cbranch_scc1 .Lset
)";
  const std::string plain = "ds_read_b32 v7, v2\n",
                    two = "ds_read2_b32 v[14:15], v2 offset0:0 offset1:",
                    move = "\n  s_waitcnt lgkmcnt(0)\n  v_mov_b32 v7, v14",
                    second = "\n  s_waitcnt lgkmcnt(0)\n  v_mov_b32 v7, v15",
                    wide = "v_lshrrev_b64 v[14:15], 4, v[12:13]\n  ";
  const struct {
    bool isTurn;
    std::string turn, poll;
  } lines[] = {
      {true, plain + branch, poll},
      // Of another address, without deciding, or with more in between.
      {false, "ds_read_b32 v7, v2 offset:256\n" + branch, poll},
      {true, two + "1" + move + branch, loop(two + "1" + move)},
      {false, two + "1" + move + branch, loop(two + "64" + move)},
      {false, plain + wait, poll},
      {false, "ds_read_u8 v7, v2\n" + branch, poll},
      {false, pause + plain + branch + plain + wait + branch, ""},
      {false, plain + branch + "  global_store_dword v2, v2, s[6:7]\n", poll},
      {true, plain + branch + "  .rept 100\n  s_nop 0\n  .endr\n", poll},
      {false, plain + branch + "  .rept 130\n  s_nop 0\n  .endr\n", poll},
      {false, two + "0" + second + branch,
       loop("ds_read2_b32 v[14:15], v2 offset0:64 offset1:0" + second)},
      // Addresses that are computed alike, or otherwise.
      {true, at("v_and_b32 v9, 4, v3") + branch,
       at("v_and_b32 v9, 4, v3", true)},
      {false, at("v_and_b32 v9, 4, v3") + branch,
       at("v_and_b32 v9, 2, v3", true)},
      {false, at("v_and_b32 v9, 0, v3") + branch,
       at("v_mul_u32_u24 v9, 0, v3", true)},
      {false, at("v_sub_u32 v9, 0, v2") + branch,
       at("v_sub_u32 v9, v2, 0", true)},
      {false, at("v_and_b32 v9, v2, v3") + branch,
       at("v_and_b32 v9, v2, v6", true)},
      {true, at(wide + "v_mov_b32 v9, v14") + branch,
       at(wide + "v_mov_b32 v9, v14", true)},
      {false, at(wide + "v_mov_b32 v9, v14") + branch,
       at(wide + "v_mov_b32 v9, v15", true)},
      {false,
       at(wide + "v_mov_b64 v[16:17], v[14:15]\n  v_mov_b32 v9, v16") + branch,
       at(wide + "v_mov_b64 v[16:17], v[14:15]\n  v_mov_b32 v9, v17", true)},
  };
  for (const auto &line : lines)
    expect(line.isTurn ? nullptr : "race: wave", data + wait + flag,
           line.turn + line.poll + ".Lset:", read);
}

TEST_F(LdsFlags, AReadThatACompareAndSwapChecksRacesWithNothing) {
  const std::string update = data + wait + "ds_add_u32 v2, v3\n",
                    old =
                        "ds_read_b32 v8, v2\n" + wait + "v_add_u32 v9, 1, v8\n",
                    flat = "flat_load_dword v9, v[20:21]\n"
                           "  s_waitcnt vmcnt(0) lgkmcnt(0)\n";
  expect(nullptr, update, old + "ds_cmpst_rtn_b32 v7, v2, v8, v9\n", "");
  expect("race: wave", update, old + "ds_cmpst_rtn_b32 v7, v2, v3, v9\n", "");
  expect("race: wave", update,
         old + "ds_cmpst_rtn_b32 v7, v2, v8, v9 offset:512\n", "");
  expect("race: wave", update, old + "ds_add_rtn_u32 v7, v2, v8\n", "");
  // What reads and writes races.
  expect("race: wave", "ds_write_b32 v2, v3 offset:4\n",
         "ds_add_rtn_u64 v[14:15], v2, v[12:13]\n" + wait +
             "ds_cmpst_rtn_b32 v7, v2, v14, v9\n",
         "");
  // Flat ones compare what stands behind what they write.
  expect(
      nullptr, update,
      flat +
          "v_mov_b32 v8, 3\n  flat_atomic_cmpswap v7, v[20:21], v[8:9] sc0\n",
      "");
  expect("race: wave", update,
         flat + "v_mov_b32 v8, v9\n  v_mov_b32 v9, 3\n"
                "  flat_atomic_cmpswap v7, v[20:21], v[8:9] sc0\n",
         "");
  // The wave learns nothing by it.
  expect("LDS bytes 256", update,
         pause + old + "ds_cmpst_rtn_b32 v7, v2, v8, v9\n", read);
}

TEST_F(LdsFlags, AnAtomicOperationThatDecidesABranchLearns) {
  const std::string arrive = pause + "ds_add_rtn_u32 v7, v2, v3\n" + wait,
                    branch = "v_readfirstlane_b32 s10, v7\n"
                             "  s_cmp_eq_u32 s10, 0\n  s_cbranch_scc1 .Lend\n",
                    lanes = "v_cmp_lt_u32 vcc, 63, v7\n"
                            "  s_and_saveexec_b64 s[12:13], vcc\n";
  const struct {
    const char *finding;
    std::string poll, end;
  } lines[] = {
      {nullptr, arrive + branch, ".Lend:\n"},
      {nullptr, arrive + lanes, ""},
      {nullptr, arrive + "ds_write_b32 v2, v3 offset:512\n" + branch,
       ".Lend:\n"},
      {"race: wave", arrive + "v_add_u32 v9, v7, v7\n", ""},
      {"race: wave", arrive + "s_cmp_eq_u32 s11, 1\n  s_cbranch_scc1 .Lend\n",
       ".Lend:\n"},
      {"race: wave", "ds_add_u32 v2, v3\n" + wait, ""},
  };
  for (const auto &line : lines)
    expect(line.finding, data + wait + "ds_add_u32 v2, v3\n" + wait, line.poll,
           read + wait + line.end);
}

TEST_F(LdsFlags, BytesAreToldApart) {
  const std::string byte = loop("ds_read_u8 v7, v2"),
                    next = loop("ds_read_u8 v7, v2 offset:1");
  // What was written again since is not known again; the rest is.
  const std::string again =
      data + flag + "ds_write_b8 v6, v3 offset:257\n" + wait;
  expect(nullptr, again, poll, "ds_read_u8 v8, v6 offset:256\n");
  expect("race: wave", again, poll, "ds_read_u8 v8, v6 offset:257\n");
  expect("race: wave", again, poll, read);
  // A flag beside the flag.
  const std::string two =
      "ds_write_b8 v2, v3\n  " + data + "ds_write_b8 v2, v3 offset:1\n" + wait;
  expect("race: wave", two, byte, read);
  expect(nullptr, two, next, read);
  expect("race: wave", flag + data + "ds_add_u32 v2, v3 offset:4\n" + wait,
         poll, read);
  // No access but those of a byte.
  const std::string own = "ds_write_b8 v6, v3 offset:256\n" + flag;
  expect(nullptr, own, "ds_write_b8 v6, v3 offset:257\n" + poll, "");
  expect("race: wave", own, "ds_write_b8 v6, v3 offset:256\n" + poll, "");
}

TEST_F(LdsFlags, AWaveLearnsNothingByItsOwnFlag) {
  const std::string store = "global_store_dword v6, v3, s[6:7]\n",
                    load = "global_load_dword v8, v6, s[6:7]\n";
  expect(nullptr, store + "s_waitcnt vmcnt(0)\n" + flag, poll, load);
  expect("race: reads", store + "s_nop 0\n",
         ".rept 40\n  s_nop 0\n  .endr\n  ds_write_b32 v2, v3 offset:8\n" +
             loop("ds_read_b32 v7, v2 offset:8"),
         load);
}

// A wave that does not get a lock tells nothing by it.
TEST_F(LdsFlags, ALockThatWasNotTakenTellsNothing) {
  // Wave 1 has the lock, and takes it again before wave 0 can.
  const std::string take = "ds_cmpst_rtn_b32 v7, v2, v2, v3\n";
  schedule = Schedule::RoundRobin;
  auto found =
      find("s_nop 0\n  s_nop 0\n  " + data + pause + ".Llock:\n  " + take +
               wait + "v_readfirstlane_b32 s10, v7\n  s_cmp_lg_u32 s10, 0\n" +
               pause + "s_cbranch_scc1 .Llock\n",
           "ds_write_b32 v2, v3\n  " + wait + pause + pause +
               "ds_write_b32 v2, v2\n  " + take + wait +
               "v_readfirstlane_b32 s10, v7\n  s_cmp_lg_u32 s10, 0\n"
               "  s_cbranch_scc1 .Lend\n",
           read + wait + ".Lend:\n", CheckRace);
  EXPECT_THAT(found, testing::Contains(HasSubstr("LDS bytes 256")));
}

TEST_F(LdsFlags, ReportsNameBothAccesses) {
  auto found = find(flag + data + wait, poll + "s_sleep 9\n", read, CheckRace);
  ASSERT_THAT(found, testing::SizeIs(1));
  EXPECT_THAT(found[0],
              testing::AnyOf(
                  AllOf(HasSubstr("wave 1 reads LDS bytes 256 to 259, which "
                                  "wave 0 writes in the same barrier interval "
                                  "by `ds_write_b32 v6, v3 offset:256`"),
                        HasSubstr("lane 0")),
                  HasSubstr("wave 0 writes LDS bytes 256 to 259, which wave 1 "
                            "reads in the same barrier interval by "
                            "`ds_read_b32 v8, v6 offset:256`")));
}

TEST_F(LdsFlags, ReportsNameTheLaneAndTheWord) {
  // Of lanes that lie together, and of those that lie apart.
  for (const char *scale : {"0", "1"}) {
    schedule = Schedule::RoundRobin;
    const bool isApart = *scale == '1';
    auto found = find(
        flag + "ds_write_b8 v2, v3 offset:" + (isApart ? "297" : "277") + "\n",
        poll + pause + "v_lshlrev_b32 v14, " + scale + ", v6\n",
        "ds_read_b32 v8, v14 offset:256\n", CheckRace);
    ASSERT_THAT(found, testing::SizeIs(1));
    EXPECT_THAT(found[0],
                AllOf(HasSubstr(isApart ? "wave 1 reads LDS bytes 296 to 299"
                                        : "wave 1 reads LDS bytes 276 to 279"),
                      HasSubstr("lane 5")));
  }
}

} // namespace
