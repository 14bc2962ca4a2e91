//===- ModelTests.cpp - The rules for waits and barriers -----------------===//
// SPDX-License-Identifier: MIT

#include "WaitModel.h"
#include "gtest/gtest.h"

using namespace netra;
using namespace netra::mutation;

namespace {

/// Records what it is told that waves executed. An instruction's address is the
/// number of its text, and lane l of v1 holds 4 l.
class Execution {
public:
  Execution() : scalars(128), vectors(size_t(256) * 64) {
    for (unsigned lane = 0; lane < 64; ++lane)
      vector(1, lane) = 4 * lane;
  }
  uint32_t &vector(unsigned number, unsigned lane) {
    return vectors[size_t(64) * number + lane];
  }
  void run(unsigned wave, const std::vector<std::string> &texts,
           uint64_t group = 0) {
    for (const std::string &text : texts) {
      sim::WaveStep step;
      step.workgroup = group;
      step.wave = wave;
      step.pc = at(text);
      step.text = text;
      step.exec = exec;
      step.scalars = scalars;
      step.vectors = vectors;
      recording.step(step);
    }
  }
  uint64_t at(const std::string &text) {
    return places.try_emplace(text, 4 * places.size()).first->second;
  }
  const Access &last(uint64_t group = 0, unsigned wave = 0) const {
    return recording.groups[group].waves[wave].accesses.back();
  }

  std::vector<uint32_t> scalars, vectors;
  uint64_t exec = ~uint64_t(0);
  Recording recording;

private:
  std::map<std::string, uint64_t> places;
};

/// "": the result does not depend on timing.
std::string withWait(Execution &e, const std::string &wait,
                     WaitCounters counters) {
  const SharingModel sharing(e.recording);
  const WaitModel model(e.recording, sharing);
  EXPECT_EQ(model.unchangedFault(), "");
  return model.canChange(e.at(wait), counters);
}
std::string withoutBarrier(Execution &e, const std::string &barrier) {
  return SharingModel(e.recording).barrierCanChange(e.at(barrier));
}
std::string raceOf(const Execution &e) {
  return SharingModel(e.recording).race();
}

std::string bytes(const Access &access) {
  std::string text = access.isUnknown ? "?" : "";
  for (const ByteRange &range : access.ranges)
    text += (text.empty() ? "" : " ") + std::to_string(range.begin) + "-" +
            std::to_string(range.end);
  return text;
}

TEST(Recording, AddsUpAddresses) {
  Execution e;
  e.scalars[4] = 1000;
  e.scalars[6] = 64;
  e.scalars[124] = 7;
  e.vector(2, 0) = 0x20;
  e.vector(2, 1) = 0x10;
  e.vector(2, 2) = 0x30;
  e.vector(3, 1) = 0x10000; // the aperture of LDS
  e.vector(3, 2) = 0x20000; // and of private memory
  const struct {
    const char *text;
    uint64_t exec;
    const char *bytes;
  } cases[] = {
      {"ds_read_b32 v9, v1 offset:8", ~uint64_t(0), "8-264"},
      {"ds_write_b128 v1, v[4:7]", 1, "0-16"},
      {"ds_write_b8_d16_hi v1, v4 offset:1", 3, "1-2 5-6"},
      {"ds_read2_b32 v[4:5], v1 offset1:3", 1, "0-4 12-16"},
      {"ds_read2st64_b64 v[4:7], v1 offset0:1 offset1:2", 1,
       "512-520 1024-1032"},
      {"ds_add_rtn_u32 v4, v1, v5", 2, "4-8"},
      {"ds_pk_add_f16 v1, v5", 2, "4-8"},
      {"ds_read_b64_tr_b16 v[4:5], v1", 1, "0-8"},
      {"ds_append v4", 1, "?"},
      {"global_load_dwordx2 v[4:5], v1, s[4:5] offset:16", 3, "1016-1028"},
      {"global_load_dword v4, v1, s[4:5] offset:-16", 1, "984-988"},
      {"global_load_ubyte_d16_hi v4, v1, s[4:5]", 2, "1004-1005"},
      {"global_store_short v[2:3], v4, off", 1, "32-34"},
      {"global_atomic_add v4, v1, v5, s[4:5] sc0", 1, "1000-1004"},
      {"global_atomic_add_f64 v1, v[6:7], s[4:5]", 1, "1000-1008"},
      {"global_load_lds_dword v1, s[4:5]", 1, "1000-1004"},
      {"flat_load_dword v4, v[2:3]", 1, "32-36"},
      {"buffer_load_dword v4, v1, s[8:11], 0 offen", 1, "?"},
      {"s_load_dwordx4 s[8:11], s[4:5], 0x10", 0, "1016-1032"},
      {"s_load_dword s8, s[4:5], s6 offset:0x8", 1, "1072-1076"},
      {"s_buffer_load_dword s8, s[8:11], 0x0", 1, "?"}};
  for (const auto &c : cases) {
    e.exec = c.exec;
    e.run(0, {c.text});
    EXPECT_EQ(bytes(e.last()), c.bytes) << c.text;
  }
  // A lane of a flat access is where its address says.
  e.exec = 7;
  e.run(0, {"flat_store_dword v[2:3], v4"});
  const auto &all = e.recording.groups[0].waves[0].accesses;
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(bytes(all[all.size() - 3]), "32-36");
  EXPECT_EQ(all[all.size() - 3].space, Space::Memory);
  EXPECT_EQ(bytes(all[all.size() - 2]), "16-20");
  EXPECT_EQ(all[all.size() - 2].space, Space::Lds);
  EXPECT_EQ(all.back().space, Space::Private);
  // What touches nothing, or on no lane.
  const size_t before = all.size();
  e.run(0, {"ds_bpermute_b32 v4, v1, v5", "ds_swizzle_b32 v4, v5 offset:4",
            "scratch_load_dword v4, v1, off", "s_memtime s[8:9]",
            "v_mov_b32 v1, v2"});
  e.exec = 0;
  e.run(0, {"ds_write_b64 v1, v[4:5]"});
  EXPECT_EQ(e.recording.groups[0].waves[0].accesses.size(), before);
  EXPECT_FALSE(e.recording.executesOnLanes(e.at("ds_write_b64 v1, v[4:5]")));
  EXPECT_TRUE(e.recording.executesOnLanes(e.at("ds_append v4")));
}

TEST(Recording, KnowsWhatConflicts) {
  EXPECT_FALSE(conflict(Use::Read, Use::Read));
  EXPECT_FALSE(conflict(Use::Sync, Use::Sync));
  EXPECT_TRUE(conflict(Use::Read, Use::Sync));
  EXPECT_TRUE(conflict(Use::Write, Use::Sync));
  EXPECT_TRUE(conflict(Use::Write, Use::Write));
  EXPECT_TRUE(meet({{0, 4}, {8, 12}}, {{4, 6}, {11, 20}}));
  EXPECT_FALSE(meet({{0, 4}, {8, 12}}, {{4, 8}, {12, 20}}));
}

const std::vector<std::string> loads = {
    "s_load_dwordx2 s[4:5], s[0:1], 0x0",
    "s_waitcnt lgkmcnt(0)",
    "global_load_dword v2, v1, s[4:5]",
    "global_load_dword v3, v1, s[4:5] offset:4",
    "s_waitcnt vmcnt(1)",
    "v_add_u32_e32 v4, v2, v2",
    "s_waitcnt vmcnt(0)",
    "v_add_u32_e32 v4, v4, v3"};

TEST(WaitModel, FollowsTheCounters) {
  Execution e;
  e.run(0, loads);
  EXPECT_NE(withWait(e, "s_waitcnt lgkmcnt(0)", {-1, -1}), "");
  EXPECT_NE(withWait(e, "s_waitcnt lgkmcnt(0)", {-1, 1}), "");
  EXPECT_NE(withWait(e, "s_waitcnt vmcnt(1)", {2, -1}), "");
  EXPECT_EQ(withWait(e, "s_waitcnt vmcnt(1)", {1, -1}), "");
  EXPECT_EQ(withWait(e, "s_waitcnt vmcnt(1)", {0, -1}), "");
  EXPECT_NE(withWait(e, "s_waitcnt vmcnt(0)", {1, -1}), "");
  // Lanes that a load does not deliver do not depend on it.
  Execution noLane;
  noLane.exec = 0;
  noLane.run(0, loads);
  EXPECT_EQ(withWait(noLane, "s_waitcnt vmcnt(0)", {1, -1}), "");
}

TEST(WaitModel, LooksAtEveryWaveOfEveryGroup) {
  for (const auto &[group, wave] : {std::pair{1u, 0u}, {0u, 1u}}) {
    Execution e;
    e.run(0, {"s_waitcnt vmcnt(0)", "s_endpgm"});
    e.run(wave, loads, group);
    EXPECT_NE(withWait(e, "s_waitcnt vmcnt(0)", {1, -1}), "");
  }
}

TEST(WaitModel, KeepsALoadThatANewerOneHidesOnSomeLanesOnly) {
  Execution e;
  e.run(0, {"global_load_dword v2, v1, s[4:5]"});
  e.exec = 1;
  e.run(0, {"global_load_dword v2, v1, s[4:5]"});
  e.exec = 2;
  e.run(0, {"s_waitcnt vmcnt(0)", "v_add_u32_e32 v4, v2, v2"});
  EXPECT_NE(withWait(e, "s_waitcnt vmcnt(0)", {-1, -1}), "");
  // The one on the first lane may be outstanding as the second lane adds.
  EXPECT_EQ(withWait(e, "s_waitcnt vmcnt(0)", {1, -1}), "");
}

TEST(WaitModel, FlatLoadsNeedTheCounterOfTheirLanes) {
  const std::string wait = "s_waitcnt vmcnt(0) lgkmcnt(0)";
  for (bool isLds : {false, true}) {
    Execution e;
    e.exec = 1;
    e.vector(3, 0) = isLds ? 0x10000 : 0;
    e.run(0, {"flat_load_dword v4, v[2:3]", wait, "v_mov_b32 v5, v4"});
    EXPECT_EQ(withWait(e, wait, {-1, 0}) == "", isLds);
    EXPECT_EQ(withWait(e, wait, {0, -1}) == "", !isLds);
    EXPECT_NE(withWait(e, wait, {1, 1}), "");
  }
}

// The first wave writes, passes a barrier, waits at a second one; the second
// wave reads what it was behind the first, or behind the second.
TEST(WaitModel, LdsWritesMatterToThoseThatReadThem) {
  const std::string wait = "s_waitcnt lgkmcnt(0)";
  for (bool isEarly : {false, true})
    for (const char *read :
         {"ds_read_b32 v4, v1", "ds_write_b32 v1, v4 offset:4",
          "ds_read_b32 v4, v1 offset:256", "ds_add_u32 v1, v4"}) {
      Execution e;
      e.run(0, {"ds_write_b32 v1, v2", wait, "s_barrier",
                "s_waitcnt lgkmcnt(0) vmcnt(0)", "s_barrier"});
      if (isEarly)
        e.run(1, {"s_barrier", read, "s_barrier"});
      else
        e.run(1, {"s_barrier", "s_barrier", read});
      const bool isOther = std::string(read).find("256") != std::string::npos;
      EXPECT_EQ(withWait(e, wait, {-1, -1}) != "", isEarly && !isOther) << read;
      EXPECT_EQ(withWait(e, wait, {-1, 1}) != "", isEarly && !isOther) << read;
      EXPECT_EQ(withWait(e, wait, {-1, 0}), "");
    }
  // No wait ever comes.
  Execution e;
  e.run(0, {"ds_write_b32 v1, v2", wait, "s_barrier", "s_barrier"});
  e.run(1, {"s_barrier", "s_barrier", "ds_read_b32 v4, v1"});
  EXPECT_NE(withWait(e, wait, {-1, -1}), "");
  // Atomic operations come in any order.
  Execution atomics;
  atomics.run(0, {"ds_add_u32 v1, v2", wait, "s_barrier"});
  atomics.run(1, {"s_barrier", "ds_add_u32 v1, v2"});
  EXPECT_EQ(withWait(atomics, wait, {-1, -1}), "");
}

// A store before a release matters where other work-groups look.
TEST(WaitModel, StoresMatterToGroupsThatReadThem) {
  const std::string wait = "s_waitcnt vmcnt(0)";
  for (bool isRead : {false, true}) {
    Execution e;
    e.run(0, {"global_store_dword v1, v2, s[4:5]", wait,
              "global_store_dword v1, v2, s[4:5] offset:1024 sc1"});
    e.run(0,
          {"global_load_dword v3, v1, s[4:5] offset:1024 sc1",
           isRead ? "global_load_dword v3, v1, s[4:5]"
                  : "global_load_dword v3, v1, s[4:5] offset:2048",
           "s_waitcnt vmcnt(0) lgkmcnt(0)"},
          1);
    EXPECT_EQ(withWait(e, wait, {-1, -1}) != "", isRead);
  }
}

// Vector and scalar memory know no common order.
TEST(WaitModel, VectorAndScalarAccessesOfTheSameBytesNeedWaits) {
  const std::string vm = "s_waitcnt vmcnt(0)", lgkm = "s_waitcnt lgkmcnt(0)",
                    store = "global_store_dword v1, v2, s[4:5]",
                    atomic = "global_atomic_add v1, v2, s[4:5]",
                    load = "global_load_dword v6, v1, s[4:5]",
                    scalar = "s_load_dword s20, s[4:5], 0x10";
  const struct {
    std::string first, wait, second;
    bool matters;
  } cases[] = {
      {store, vm, scalar, true},
      {atomic, vm, scalar, true},
      {scalar, lgkm, store, true},
      {scalar, lgkm, atomic, true},
      {"flat_store_dword v[8:9], v2", vm, "s_load_dword s20, s[4:5], 0x0",
       true},
      // Both read, or other bytes.
      {load, vm, scalar, false},
      {scalar, lgkm, load, false},
      {store, vm, "s_load_dword s20, s[4:5], 0x100", false},
      // Vector accesses are in order.
      {store, vm, load, false},
      {store, vm, store, false},
  };
  for (const auto &c : cases)
    for (bool isOther : {false, true}) {
      Execution e;
      e.scalars[4] = 1000;
      for (unsigned lane = 0; lane < 64; ++lane)
        e.vector(8, lane) = 1000;
      e.run(0, {c.first, c.wait});
      // The same wave does the second, or another one behind a barrier.
      e.run(0, {"s_barrier"});
      if (isOther)
        e.run(1, {"s_barrier", "s_nop 0"});
      e.run(isOther, {c.second});
      e.run(0, {"s_waitcnt vmcnt(0) lgkmcnt(0)"});
      EXPECT_EQ(withWait(e, c.wait, {-1, -1}) != "", c.matters)
          << c.first << "; " << c.second << " " << isOther;
      EXPECT_EQ(withWait(e, c.wait, {0, 0}), "");
    }
  // What 63 later ones push out of the counter is over.
  for (unsigned later : {61u, 63u}) {
    Execution e;
    e.scalars[4] = 1000;
    e.run(0, {store, vm});
    for (unsigned k = 0; k < later; ++k)
      e.run(0, {load + " offset:2048"});
    e.run(0, {scalar});
    EXPECT_EQ(withWait(e, vm, {-1, -1}) != "", later < 63);
  }
}

TEST(SharingModel, BarriersMatterToWavesThatShareBytes) {
  const struct {
    const char *first, *second;
    bool matters;
  } cases[] = {
      {"ds_write_b32 v1, v2", "ds_read_b32 v3, v1", true},
      {"ds_read_b32 v3, v1", "ds_write_b32 v1, v2", true},
      {"ds_write_b32 v1, v2", "ds_write_b32 v1, v2 offset:4", true},
      {"ds_write_b32 v1, v2", "ds_read_b32 v3, v1 offset:256", false},
      {"ds_read_b32 v3, v1 offset:4", "ds_read_b32 v3, v1", false},
      {"ds_add_u32 v1, v2", "ds_add_u32 v1, v2 offset:4", false},
      {"ds_add_u32 v1, v2", "ds_read_b32 v3, v1", true},
      {"ds_append v4", "ds_read_b32 v3, v1", true},
      {"global_load_lds_dword v1, s[4:5]", "ds_read_b32 v3, v1", true},
      {"global_store_dword v1, v2, s[4:5]", "global_load_dword v3, v1, s[4:5]",
       true},
      {"global_store_dword v1, v2, s[4:5]", "ds_read_b32 v3, v1", false},
      {"global_store_dword v1, v2, s[4:5]", "s_load_dword s8, s[4:5], 0x10",
       true},
  };
  for (const auto &c : cases) {
    Execution e;
    e.run(0, {c.first, "s_barrier", "s_nop 0"});
    e.run(1, {"s_nop 0", "s_barrier", c.second});
    EXPECT_EQ(withoutBarrier(e, "s_barrier") != "", c.matters)
        << c.first << "; " << c.second;
    // What a wave does by itself is in order.
    Execution alone;
    alone.run(0, {c.first, "s_barrier", c.second});
    alone.run(1, {"s_barrier"});
    EXPECT_EQ(withoutBarrier(alone, "s_barrier"), "")
        << c.first << "; " << c.second;
    // One of two barriers in a row is as good.
    Execution twice;
    twice.run(0, {c.first, "s_barrier", "s_barrier ; second"});
    twice.run(1, {"s_barrier", "s_barrier ; second", c.second});
    EXPECT_EQ(withoutBarrier(twice, "s_barrier"), "");
    // In one interval it is a race, unless waves tell each other more.
    Execution race;
    race.run(0, {c.first});
    race.run(1, {c.second});
    const std::string both = std::string(c.first) + c.second;
    const bool isOpen = both.find("ds_add") != std::string::npos ||
                        both.find("append") != std::string::npos ||
                        both.find("_lds_") != std::string::npos;
    EXPECT_EQ(raceOf(race) != "", c.matters && !isOpen)
        << c.first << "; " << c.second;
  }
}

TEST(SharingModel, WavesOfABranchMeetAtTheirBarriers) {
  // Each side of a branch has its own; one that is left out meets nobody.
  Execution e;
  e.run(0, {"s_barrier ; gate"});
  e.run(1, {"s_barrier ; up"});
  EXPECT_NE(withoutBarrier(e, "s_barrier ; gate"), "");
  EXPECT_EQ(withoutBarrier(e, "s_barrier ; none"), "");
}

TEST(SharingModel, BarriersPassOnWhatOtherGroupsSee) {
  for (const char *store : {"global_store_dword v1, v2, s[4:5]",
                            "global_store_dword v1, v2, s[4:5] offset:2048"}) {
    Execution e;
    e.run(0, {store, "s_waitcnt vmcnt(0)", "s_barrier"});
    e.run(1, {"s_barrier", "global_atomic_add v1, v2, s[4:5] offset:1024"});
    e.run(0,
          {"global_load_dword v3, v1, s[4:5] offset:1024 sc1",
           "s_barrier ; reader", "s_nop 0"},
          1);
    e.run(1, {"s_barrier ; reader", "global_load_dword v3, v1, s[4:5]"}, 1);
    const bool isRead = std::string(store).find("2048") == std::string::npos;
    EXPECT_EQ(withoutBarrier(e, "s_barrier") != "", isRead);
    EXPECT_EQ(withoutBarrier(e, "s_barrier ; reader") != "", isRead);
  }
}

TEST(SharingModel, GroupsWithoutSignalsRace) {
  for (bool isSame : {false, true}) {
    Execution e;
    e.run(0, {"global_store_dword v1, v2, s[4:5]"});
    e.run(0,
          {isSame ? "global_load_dword v3, v1, s[4:5] offset:4"
                  : "global_load_dword v3, v1, s[4:5] offset:256"},
          1);
    EXPECT_EQ(raceOf(e) != "", isSame);
  }
}

} // namespace
