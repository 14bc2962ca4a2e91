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

/// What races in a kernel does so in memory of the host, which is no race of
/// host threads while there is one.
class Races : public Checkers {
protected:
  Races() { threads = 1; }
  /// Two work-groups, the first before the second.
  std::vector<std::string> groups(const std::string &body) {
    return checkKernel(CheckRace, wrapKernel(body), {64, 1, 1}, 2);
  }
};

constexpr WorkgroupOrder orders[] = {WorkgroupOrder::Forward,
                                     WorkgroupOrder::Reverse};

/// Work-group 0 does `publish`; work-group 1 does `read` once the first dword
/// of p1 is 1. Both begin with `setup`; v2 is 0 and v3 is 1.
std::string handshake(const std::string &setup, const std::string &publish,
                      const std::string &read) {
  return R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1
  )" + setup +
         R"(
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lreader
  )" + publish +
         R"(
  s_endpgm
.Lreader:
  global_load_dword v4, v2, s[6:7] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v4
  s_cmp_lg_u32 s8, 1
  s_cbranch_scc1 .Lreader
  )" + read +
         R"(
  s_waitcnt vmcnt(0) lgkmcnt(0)
)";
}

const std::string waitVm = "s_waitcnt vmcnt(0)\n";
constexpr char release[] = "\n  global_store_dword v2, v3, s[6:7] sc0 sc1\n  ";

TEST_F(Races, RaceInLds) {
  const auto body = [](const char *barrier) {
    return std::string(R"(
  v_lshlrev_b32 v2, 2, v0
  ds_write_b32 v2, v0
  s_waitcnt lgkmcnt(0)
  )") + barrier +
           R"(
  v_xor_b32 v3, 0x100, v2
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
)";
  };
  EXPECT_THAT(check(CheckRace, body("s_barrier"), 512, 2), IsEmpty());
  auto findings = check(CheckRace, body(""), 512, 2);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], AllOf(HasSubstr("race: wave"),
                                 HasSubstr("in the same barrier interval")));
}

TEST_F(Races, AtomicsInLdsRaceWithPlainAccessesOnly) {
  // Both waves update the same counters, then do `after`. LDS serves atomic
  // operations one by one; nothing orders what is not atomic with them.
  const auto findings = [&](const std::string &after) {
    return check(CheckRace | CheckWait, R"(
  v_and_b32 v2, 63, v0
  v_lshlrev_b32 v2, 2, v2
  v_mov_b32 v3, 1
  ds_add_u32 v2, v3
  s_waitcnt lgkmcnt(0)
)" + after + "\n  s_waitcnt lgkmcnt(0)\n",
                 512, 2);
  };
  EXPECT_THAT(findings(""), IsEmpty());
  EXPECT_THAT(findings("  ds_add_rtn_u32 v4, v2, v3\n"), IsEmpty());
  for (const std::string access :
       {"  ds_write_b32 v2, v3\n", "  ds_read_b32 v4, v2\n"}) {
    EXPECT_THAT(findings("  s_barrier\n  v_lshlrev_b32 v2, 2, v0\n" + access),
                IsEmpty())
        << access;
    auto races = findings(access);
    ASSERT_THAT(races, SizeIs(1)) << access;
    EXPECT_THAT(races[0], AllOf(HasSubstr("race: wave"),
                                HasSubstr("by `ds_add_u32 v2, v3`")))
        << access;
  }
  // A wave that wrote before the atomic operations of the other.
  EXPECT_THAT(check(CheckRace, R"(
  v_and_b32 v2, 63, v0
  v_lshlrev_b32 v2, 2, v2
  v_mov_b32 v3, 1
  v_readfirstlane_b32 s8, v0
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc0 .Lsecond
  ds_write_b32 v2, v3
  s_endpgm
.Lsecond:
  ds_add_u32 v2, v3
)",
                    512, 2),
              SizeIs(1));
}

// One access may touch a part of what another touches, and the four dwords
// between two multiples of 16 are kept together only as long as they are alike.
TEST_F(Races, RacesOfPartsOfAQuad) {
  const auto findings = [&](const std::string &first,
                            const std::string &second) {
    return check(CheckRace, R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32 v2, 63, v0
  v_lshlrev_b32 v2, 4, v2
  v_readfirstlane_b32 s8, v0
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc0 .Lsecond
  )" + first + R"(
  s_endpgm
.Lsecond:
  )" + second + "\n",
                 1024, 2);
  };
  struct Line {
    const char *first, *second, *bytes; ///< nullptr: no race
  } lines[] = {
      {"ds_write_b128 v2, v[4:7]", "ds_read_b32 v8, v2 offset:8", "8 to 11"},
      {"ds_write_b32 v2, v4 offset:8", "ds_read_b128 v[4:7], v2", "8 to 11"},
      {"ds_write_b32 v2, v4 offset:8", "ds_read_b64 v[4:5], v2", nullptr},
      {"ds_write_b64 v2, v[4:5]", "ds_write_b64 v2, v[4:5] offset:8", nullptr},
      {"ds_read_b64 v[4:5], v2", "ds_write_b64 v2, v[4:5] offset:4", "4 to 7"},
      {"ds_write_b8 v2, v4 offset:5", "ds_read_u8 v4, v2 offset:6", nullptr},
      {"ds_write_b8 v2, v4 offset:5", "ds_read_u16 v4, v2 offset:4", "4 to 7"},
      {"ds_read_b128 v[4:7], v2", "ds_read_b32 v4, v2", nullptr},
      {"ds_write_b32 v2, v4\n  ds_write_b32 v2, v4 offset:4",
       "ds_read_b64 v[4:5], v2 offset:8", nullptr},
      {"ds_write_b32 v2, v4\n  ds_write_b32 v2, v4 offset:4",
       "ds_read_b64 v[4:5], v2 offset:4", "LDS bytes 4 to 7"},
      // A plain store behind an atomic operation of the same wave.
      {"ds_add_u32 v2, v4\n  ds_add_u32 v2, v4",
       "s_nop 0\n  s_nop 0\n  s_nop 0\n  ds_add_u32 v2, v4", nullptr},
      {"ds_add_u32 v2, v4\n  ds_write_b32 v2, v4",
       "s_nop 0\n  s_nop 0\n  s_nop 0\n  ds_add_u32 v2, v4",
       "by `ds_write_b32 v2, v4`"},
      {"global_store_dwordx4 v2, v[4:7], s[6:7]",
       "global_load_dword v4, v2, s[6:7] offset:12",
       "by `global_store_dwordx4"},
      {"global_store_dword v2, v4, s[6:7] offset:4",
       "global_load_dwordx2 v[4:5], v2, s[6:7] offset:8", nullptr},
      {"global_store_dword v2, v4, s[6:7] offset:4",
       "global_load_dwordx4 v[4:7], v2, s[6:7]", "by `global_store_dword v2"},
      {"global_load_dword v4, v2, s[6:7]",
       "global_store_dwordx3 v2, v[4:6], s[6:7] offset:4", nullptr},
      {"global_load_dword v4, v2, s[6:7] offset:8",
       "global_store_dwordx3 v2, v[4:6], s[6:7]", "by `global_load_dword v4"},
      {"global_store_byte v2, v4, s[6:7]",
       "global_load_ubyte v4, v2, s[6:7] offset:1", nullptr},
      {"global_store_dword v2, v4, s[6:7]\n"
       "  global_store_dword v2, v4, s[6:7] offset:4",
       "global_load_dword v4, v2, s[6:7] offset:4", "s[6:7] offset:4` (at"},
      // The same wave as before, but other bytes.
      {"global_load_dword v4, v2, s[6:7]\n"
       "  global_load_dword v5, v2, s[6:7] offset:4",
       "s_nop 0\n  s_nop 0\n  s_nop 0\n"
       "  global_store_dword v2, v6, s[6:7] offset:4",
       "by `global_load_dword v5"},
      {"ds_read_b32 v4, v2\n  ds_read_b32 v5, v2 offset:4",
       "s_nop 0\n  s_nop 0\n  s_nop 0\n  ds_write_b32 v2, v6 offset:4",
       "by `ds_read_b32 v5"},
  };
  for (const Line &line : lines) {
    auto races = findings(line.first, line.second);
    if (!line.bytes) {
      EXPECT_THAT(races, IsEmpty()) << line.first << "; " << line.second;
      continue;
    }
    ASSERT_THAT(races, SizeIs(1)) << line.first << "; " << line.second;
    EXPECT_THAT(races[0], HasSubstr(line.bytes))
        << line.first << "; " << line.second;
  }
}

TEST_F(Races, RaceInGlobalMemory) {
  const auto body = [](const char *lane) {
    return std::string("  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  ") + lane +
           R"(
  v_lshlrev_b32 v2, 2, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v0, s[6:7]
)";
  };
  EXPECT_THAT(check(CheckRace, body("v_mov_b32 v1, v0"), 0, 2), IsEmpty());
  auto findings = check(CheckRace, body("v_and_b32 v1, 63, v0"), 0, 2);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0], HasSubstr("which another wave writes"));
}

TEST_F(Races, WaitBehindAReleasePublishesNothing) {
  // Work-group 0 writes a value and then a flag, for which work-group 1 waits.
  // A wait behind the flag comes too late, however early it is done.
  const auto body = [](const std::string &before, const std::string &after) {
    return handshake("s_mov_b64 exec, 1",
                     "global_store_dword v2, v3, s[6:7] offset:64\n  " +
                         before + release + after,
                     "buffer_inv sc1\n"
                     "  global_load_dword v5, v2, s[6:7] offset:64");
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
      // A load releases nothing, whatever it bypasses.
      {"",
       "s_waitcnt vmcnt(0)\n global_load_dword v9, v2, s[4:5] sc1\n "
       "s_waitcnt vmcnt(0)",
       true},
      // Too weak: the store itself may be the one that is outstanding.
      {"s_waitcnt vmcnt(1)", "", true},
      {"global_store_dword v2, v3, s[6:7] offset:64\n  s_waitcnt vmcnt(1)", "",
       true},
      // The one behind it may be.
      {"global_store_dword v2, v3, s[6:7] offset:128\n  s_waitcnt vmcnt(1)", "",
       false},
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

TEST_F(Races, WhatIsPublishedLaterIsNotKnown) {
  // Work-group 0 writes a value, tells work-group 1, and publishes it when that
  // has answered; work-group 1 reads it much later, and may look again before.
  const auto body = [](const std::string &again) {
    const auto until = [](const char *label, const char *flag) {
      return std::string(label) + ":\n  global_load_dword v4, v2, s[6:7] " +
             flag + R"( sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v4
  s_cmp_lg_u32 s8, 1
  s_cbranch_scc1 )" +
             label + "\n";
    };
    const std::string set = "  global_store_dword v2, v3, s[6:7] ";
    return R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_mov_b64 exec, 1
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lreader
)" + set + "offset:64\n" +
           set + "sc0 sc1\n" + until(".Lanswer", "offset:4") + set +
           "offset:8 sc0 sc1\n  s_endpgm\n.Lreader:\n" + until(".Ltold", "") +
           set + R"(offset:4 sc0 sc1
  s_mov_b32 s9, 0x8000
.Llater:
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 .Llater
)" + again +
           "  global_load_dword v5, v2, s[6:7] offset:64\n" + waitVm;
  };
  for (WorkgroupOrder each : orders) {
    order = each;
    for (const char *again : {"  buffer_inv sc1\n", "  s_dcache_inv\n"})
      EXPECT_THAT(groups(body(again)), IsEmpty()) << again;
    auto found = groups(body(""));
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0], HasSubstr("race: reads the 4 bytes"));
  }
}

TEST_F(Races, AWriteThatIsRepeatedIsOutstandingAgain) {
  // Work-group 0 writes, waits, writes again and sets a flag without a wait.
  const auto body = [](const char *first, const char *again, const char *read) {
    return handshake("s_mov_b64 exec, 1",
                     std::string(first) + "\n  s_waitcnt vmcnt(0)\n  " + again +
                         release,
                     std::string("buffer_inv sc1\n  ") + read);
  };
  const char dword[] = "global_store_dword v2, v3, s[6:7] offset:64",
             next[] = "global_store_dword v2, v3, s[6:7] offset:68",
             both[] = "global_store_dwordx2 v2, v[2:3], s[6:7] offset:64",
             readDword[] = "global_load_dword v5, v2, s[6:7] offset:64",
             readNext[] = "global_load_dword v5, v2, s[6:7] offset:68",
             readBoth[] = "global_load_dwordx2 v[6:7], v2, s[6:7] offset:64";
  struct {
    const char *first, *again, *read;
    bool isRace;
  } const lines[] = {
      {dword, "", readDword, false},
      {dword, dword, readDword, true},
      {both, both, readDword, true},
      {both, dword, readDword, true},
      {dword, both, readDword, true},
      {dword, next, readNext, true},
      {both, next, readBoth, true},
      // What was not written again is over.
      {dword, next, readDword, false},
      {both, next, readDword, false},
      {both, dword, readNext, false},
  };
  for (const auto &line : lines)
    for (WorkgroupOrder each : orders) {
      order = each;
      EXPECT_THAT(
          checkKernel(CheckRace,
                      wrapKernel(body(line.first, line.again, line.read)),
                      {64, 1, 1}, 2),
          SizeIs(line.isRace))
          << line.first << "; " << line.again << "; " << line.read;
    }
}

TEST_F(Races, OneWaveReleasesWhatAnotherWaitedFor) {
  // Both waves of work-group 0 write; the first releases behind a barrier.
  const auto body = [](const std::string &wait,
                       const std::string &behind = "") {
    return handshake(
        "v_lshlrev_b32 v6, 2, v0\n  v_readfirstlane_b32 s9, v0",
        "global_store_dword v6, v3, s[6:7] offset:128\n  " + wait +
            "\n  s_barrier\n  s_cmp_lg_u32 s9, 0\n  s_cbranch_scc1 .Lend\n" +
            behind + release + "\n.Lend:",
        "global_load_dword v5, v6, s[6:7] offset:128");
  };
  EXPECT_THAT(checkKernel(CheckRace, wrapKernel(body("s_waitcnt vmcnt(0)")),
                          {128, 1, 1}, 2),
              IsEmpty());
  EXPECT_THAT(checkKernel(CheckRace, wrapKernel(body("")), {128, 1, 1}, 2),
              SizeIs(1));
  // The first waits behind the barrier, for all of its own or for less.
  const std::string loads = "global_load_dword v9, v2, s[4:5]\n"
                            "global_load_dword v10, v2, s[4:5]\n";
  EXPECT_THAT(checkKernel(CheckRace, wrapKernel(body("", loads + waitVm)),
                          {128, 1, 1}, 2),
              IsEmpty());
  EXPECT_THAT(checkKernel(CheckRace,
                          wrapKernel(body("", loads + "s_waitcnt vmcnt(1)\n")),
                          {128, 1, 1}, 2),
              SizeIs(1));
}

TEST_F(Races, ReleaseThatDoesNotWaitOrdersNothing) {
  // Work-group 0 writes a value and then a flag, which work-group 1 waits for.
  const auto findings = [](const char *wait) {
    DeviceOptions options;
    options.checks = CheckRace;
    options.instructionLimit = 1'000'000;
    Device device(options);
    const uint64_t p = upload(device, std::vector<uint32_t>(64, 0), "shared");
    const std::string body =
        handshake("s_mov_b64 exec, 1",
                  std::string("global_store_dword v2, v3, s[6:7] offset:64\n") +
                      wait + "\n  global_atomic_add v2, v3, s[6:7] sc1",
                  "global_load_dword v5, v2, s[6:7] offset:64");
    return run(device, assembly(wrapKernel(body)), "k", {2, 1, 1}, {64, 1, 1},
               Arguments().add(p).add(p));
  };
  EXPECT_THAT(findings("s_waitcnt vmcnt(0)"), IsEmpty());
  auto unordered = findings("");
  ASSERT_THAT(unordered, SizeIs(1));
  EXPECT_THAT(unordered[0],
              AllOf(HasSubstr("race: "), HasSubstr("work-group 0 writes by "
                                                   "`global_store_dword")));
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
      {load, atomic, true},        {load, scalarAtomic, true},
      {atomic, load, true},        {scalarAtomic, load, true},
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

TEST_F(Races, AnAtomicOperationDoesNotOrderAPlainReadOfItsWord) {
  // All work-groups count in p0; what they read depends on who counted before.
  // The tickets and arrivals begin at 49.
  const std::string count = "global_atomic_add v2, v3, s[6:7]\n" + waitVm,
                    done = "global_atomic_add v2, v3, s[6:7] offset:64\n",
                    ticket = "global_atomic_add v5, v2, v3, s[6:7] offset:64 "
                             "sc0\n" +
                             waitVm + "v_readfirstlane_b32 s8, v5\n",
                    read = "global_load_dword v4, v2, s[6:7]\n" + waitVm,
                    arrive = done + waitVm + R"(.Lwait:
  global_load_dword v5, v2, s[6:7] offset:64 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v5
  s_cmp_lg_u32 s8, 55
  s_cbranch_scc1 .Lwait
)",
                    isLast = "s_cmp_lg_u32 s8, 54\ns_cbranch_scc1 .Lend\n";
  const struct {
    std::string body;
    bool isRace;
  } lines[] = {
      {count + read, true},
      {count + read + done, true},
      {count + "s_load_dword s9, s[6:7], 0x0\n", true},
      {"s_atomic_add s3, s[6:7], 0x0\ns_waitcnt lgkmcnt(0)\n" + read, true},
      {count, false},
      {count + "global_load_dword v4, v2, s[6:7] sc1\n" + waitVm, false},
      {count + arrive + read, false},
      {count + ticket + isLast + read, false},
  };
  for (const auto &line : lines)
    for (WorkgroupOrder each : orders) {
      order = each;
      auto findings = checkKernel(CheckRace, wrapKernel(R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  s_mov_b64 exec, 1
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1
  s_mov_b32 s3, 1
  s_waitcnt lgkmcnt(0)
)" + line.body + ".Lend:\n  s_waitcnt lgkmcnt(0)\n"),
                                  {64, 1, 1}, 6);
      if (!line.isRace) {
        EXPECT_THAT(findings, IsEmpty()) << line.body;
        continue;
      }
      ASSERT_THAT(findings, SizeIs(1)) << line.body;
      EXPECT_THAT(findings[0], AllOf(HasSubstr("race: updates the 4 bytes"),
                                     HasSubstr("reads by `")))
          << line.body;
    }
}

TEST_F(Races, APlainWriteOfAWordThatOthersUpdate) {
  // Work-group 0 sets the word at 64 of p1 by a plain store, and all count in
  // it. The flag is the first dword of p1.
  const std::string setup = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_mov_b64 exec, 1
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1
  v_mov_b32 v5, 0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lother
)",
                    set = "global_store_dword v2, v5, s[6:7] offset:64\n" +
                          waitVm,
                    setWide =
                        "v_mov_b32 v4, 0\n"
                        "global_store_dwordx2 v2, v[4:5], s[6:7] offset:64\n" +
                        waitVm,
                    count = "global_atomic_add v2, v3, s[6:7] offset:64\n",
                    publish = release + std::string("\n"), until = R"(.Lwait:
  global_load_dword v4, v2, s[6:7] sc0 sc1
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v4
  s_cmp_lg_u32 s8, 1
  s_cbranch_scc1 .Lwait
)";
  const struct {
    std::string first, others;
    bool isRace;
  } lines[] = {
      {set, count, true},
      {set + count, count, true},
      {setWide + count, count, true},
      {set + count + count, count + count, true},
      {set + "s_barrier\n" + count, count, true},
      {set + publish, count, true},
      {set + publish + count, count, true},
      {set, "s_atomic_add s3, s[6:7], 0x40\n", true},
      {set, "global_store_dword v2, v3, s[6:7] offset:64 sc0 sc1\n", true},
      // Others wait, so that it comes first.
      {set + publish, until + count, false},
      {set + publish + count, until + count, false},
      {set + publish + count + waitVm + count, until + count, false},
      {setWide + publish + count, until + count + count, false},
      {set + publish, until + "s_atomic_add s3, s[6:7], 0x40\n", false},
      // Nobody sets it, or nobody counts.
      {count, count, false},
      {set, "", false},
      {set + count, "", false},
  };
  for (const auto &line : lines)
    for (WorkgroupOrder each :
         {WorkgroupOrder::Forward, WorkgroupOrder::Reverse,
          WorkgroupOrder::Random})
      for (Schedule way :
           {Schedule::RoundRobin, Schedule::ToBarrier, Schedule::Random}) {
        order = each;
        schedule = way;
        auto findings = checkKernel(
            CheckRace,
            wrapKernel(setup + line.first +
                       "s_branch .Lend\n.Lother:\ns_mov_b32 s3, 1\n" +
                       line.others + ".Lend:\n" + waitVm +
                       "s_waitcnt lgkmcnt(0)\n"),
            {64, 1, 1}, 5);
        if (!line.isRace) {
          EXPECT_THAT(findings, IsEmpty())
              << line.first << "; " << line.others << int(each) << int(way);
          continue;
        }
        EXPECT_THAT(findings, testing::Contains(HasSubstr("race: ")))
            << line.first << "; " << line.others << int(each) << int(way);
      }
}

TEST_F(Races, AnUpdateBehindAReadIsOrderedByTheReadersRelease) {
  // Work-group 0 reads, work-group 1 updates.
  const std::string read =
                        "global_load_dword v5, v2, s[6:7] offset:64\n" + waitVm,
                    update = "global_atomic_add v2, v3, s[6:7] offset:64",
                    again = update + "\n" + waitVm;
  EXPECT_THAT(groups(handshake("", read + release, update)), IsEmpty());
  // The release comes before the read.
  EXPECT_THAT(groups(handshake("", release + read, update)), SizeIs(1));
  // The reader's own update comes in between.
  EXPECT_THAT(groups(handshake("", read + again + release, update)), IsEmpty());
  EXPECT_THAT(groups(handshake("", release + read + again, update)), IsEmpty());
  // What changed the word since was compared with the read then.
  const std::string first = handshake("", read + again, "");
  EXPECT_THAT(groups(std::string(first).replace(
                  first.find(".Lreader:\n"), std::string::npos,
                  ".Lreader:\n  " + update + "\n")),
              IsEmpty());
  // It releases, but nobody waits for that.
  const std::string apart = handshake("", read + release, "");
  EXPECT_THAT(
      groups(std::string(apart).replace(apart.find(".Lreader:\n"), 10,
                                        ".Lreader:\n  " + update + "\n")),
      SizeIs(1));
}

TEST_F(Races, ScalarStoreIsPublishedWhenItWasWaitedFor) {
  const auto body = [](const std::string &wait) {
    return handshake("s_mov_b64 exec, 1\n  s_movk_i32 s20, 5",
                     "s_store_dword s20, s[6:7], 0x40\n  " + wait +
                         "\n  s_dcache_wb\n  s_waitcnt vmcnt(0)" + release,
                     "s_dcache_inv\n  s_load_dword s8, s[6:7], 0x40");
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
      {others, "in that wave before the barrier"},
      {othersLoad, "in that wave before the barrier"},
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
    EXPECT_THAT(
        found[0],
        AllOf(HasSubstr("wait: LDS bytes 0 to 3 are written while "
                        "`global_load_lds_dword"),
              HasSubstr(std::string("s_waitcnt vmcnt(0) ") + line.place)));
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
