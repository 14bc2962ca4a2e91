//===- LaunchStateTests.cpp - State at the start of a wave, and memory ---===//
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

using LaunchState = Checkers;

/// A kernel whose descriptor has a directive more than that of wrapKernel.
std::string withDirective(const std::string &body,
                          const std::string &directive) {
  std::string source = wrapKernel(body);
  const std::string behind = "  .amdhsa_system_sgpr_workgroup_id_x 1\n";
  return source.insert(source.find(behind) + behind.size(),
                       "  " + directive + "\n");
}

TEST_F(LaunchState, WorkItemIdsAsTheDescriptorAsksForThem) {
  // v0 as it is, by the number of the item.
  const std::string body = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mbcnt_lo_u32_b32 v2, -1, 0
  v_mbcnt_hi_u32_b32 v2, -1, v2
  v_lshlrev_b32 v2, 2, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v0, s[6:7]
)";
  for (unsigned ids = 0; ids < 3; ++ids) {
    EXPECT_THAT(
        checkKernel(CheckMemory,
                    withDirective(body, ".amdhsa_system_vgpr_workitem_id " +
                                            std::to_string(ids)),
                    {8, 4, 2}),
        IsEmpty());
    for (unsigned item = 0; item < 64; ++item) {
      uint32_t expected = item % 8;
      if (ids >= 1)
        expected += item / 8 % 4 * 1024;
      if (ids >= 2)
        expected += item / 32 * 1024 * 1024;
      EXPECT_EQ(output[item], expected) << ids << " at " << item;
    }
  }
  EXPECT_THAT(
      checkKernel(CheckMemory,
                  withDirective(body, ".amdhsa_system_vgpr_workitem_id 3"),
                  {8, 4, 2}),
      testing::ElementsAre(HasSubstr("asks for work-item ids by the value 3")));
}

TEST_F(LaunchState, FreedMemoryIsNotUsedAgainSoon) {
  Device device;
  // The neighbours are free or not.
  const uint64_t first = *device.allocate(64, "first"),
                 second = *device.allocate(64, "second");
  llvm::cantFail(device.free(second));
  EXPECT_NE(*device.allocate(64, "third"), second);
  llvm::cantFail(device.free(first));
  for (unsigned k = 0; k < 1000; ++k) {
    const uint64_t other = *device.allocate(1 << 20, "other");
    EXPECT_NE(other, first);
    EXPECT_NE(other, second);
    EXPECT_FALSE(device.contains(first, 1));
    llvm::cantFail(device.free(other));
  }
}

TEST_F(LaunchState, AddressesOfFreedMemoryComeBackInTheEnd) {
  Device device;
  // Many more than the region holds at a time.
  const uint64_t bytes = uint64_t(1) << 36;
  DeviceOptions options;
  options.memoryLimit = bytes;
  device.setOptions(options);
  for (unsigned k = 0; k < 100; ++k) {
    auto address = device.allocate(bytes, "large");
    ASSERT_TRUE(bool(address)) << toString(address.takeError());
    llvm::cantFail(device.free(*address));
  }
}

TEST_F(LaunchState, WorkGroupsCountTowardsTheMemoryLimit) {
  // 64 lanes with 64 registers each and 4 KiB of private memory, and LDS.
  constexpr uint64_t lds = 8192, perWave = 64 * (64 * 4 + 4096);
  auto object = assembly(wrapKernel("  s_nop 0\n", 16, lds, 64, 0, 4096));
  ASSERT_TRUE(object);
  auto launched = [&](uint64_t limit, uint32_t waves) -> std::string {
    DeviceOptions options;
    options.memoryLimit = limit;
    options.threads = 2;
    Device device(options);
    auto findings = run(device, object, "k", {64, 1, 1}, {64 * waves, 1, 1},
                        Arguments().add(uint64_t(0)).add(uint64_t(0)));
    return findings.empty() ? "" : findings[0];
  };
  // The image, the arguments and the packets take less than 64 KiB.
  for (uint32_t waves : {1u, 4u}) {
    const uint64_t needed = waves * perWave + lds;
    EXPECT_EQ(launched(needed + 65536, waves), "");
    EXPECT_THAT(
        launched(needed, waves),
        AllOf(HasSubstr("launch of k: the memory limit leaves no room for a "
                        "work-group: " +
                        std::to_string(needed) +
                        " bytes for its registers, "
                        "LDS and private memory"),
              HasSubstr("limit " + std::to_string(needed))));
  }
  // Room for one of two threads, and what was taken is given back.
  DeviceOptions options;
  options.memoryLimit = perWave + lds + 65536;
  options.threads = 2;
  Device device(options);
  for (unsigned k = 0; k < 3; ++k)
    EXPECT_THAT(run(device, object, "k", {64, 1, 1}, {64, 1, 1},
                    Arguments().add(uint64_t(0)).add(uint64_t(0))),
                IsEmpty());
  auto rest = device.allocate(perWave + lds, "rest");
  EXPECT_TRUE(bool(rest)) << toString(rest.takeError());
}

TEST_F(LaunchState, WorkGroupsThatWaitForEachOtherNeedRoomForBoth) {
  // Work-group 0 waits for a flag that work-group 1 sets.
  auto object = assembly(wrapKernel(R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_cmp_eq_u32 s2, 0
  s_waitcnt lgkmcnt(0)
  s_cbranch_scc0 .Lset
.Lwait:
  global_load_dword v3, v1, s[4:5] sc0 sc1
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32 vcc, 1, v3
  s_cbranch_vccz .Lwait
  s_endpgm
.Lset:
  global_store_dword v1, v2, s[4:5] sc0 sc1
)",
                                    8));
  ASSERT_TRUE(object);
  const uint64_t perWave = 64 * 64 * 4;
  for (unsigned room : {1u, 2u}) {
    DeviceOptions options;
    options.threads = 1;
    options.patience = 100;
    options.instructionLimit = 1'000'000;
    Device device(options);
    const uint64_t flag = upload(device, std::vector<uint32_t>(1), "flag");
    // The image stays; the arguments and packets of a launch come and go.
    llvm::cantFail(device.loadData(object).takeError());
    options.memoryLimit = device.bytesInUse() + 1024 + room * perWave;
    device.setOptions(options);
    auto found =
        run(device, object, "k", {2, 1, 1}, {64, 1, 1}, Arguments().add(flag));
    if (room == 2) {
      EXPECT_THAT(found, IsEmpty());
      continue;
    }
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0], HasSubstr("waiting for something that never comes"));
  }
}

TEST_F(LaunchState, RegistersThatTheKernelDoesNotHave) {
  struct {
    const char *line;
    unsigned vgprs, agprs, sgprs; ///< of the descriptor
    const char *missing;          ///< nullptr: all are there
  } const lines[] = {
      {"v_mov_b32 v7, 5", 8, 0, 96, nullptr},
      {"v_mov_b32 v8, 5", 8, 0, 96, "v8 is not allocated"},
      {"v_mov_b32 v1, v40", 8, 0, 96, "v40 is not allocated"},
      {"v_add_f64 v[6:7], v[6:7], v[6:7]", 8, 0, 96, nullptr},
      {"v_add_f64 v[0:1], v[8:9], v[6:7]", 8, 0, 96, "gives it v0 to v7"},
      // Architectural registers end at accum_offset, all of them at a multiple
      // of 8.
      {"v_accvgpr_write_b32 a3, v11", 12, 0, 96, nullptr},
      {"v_mov_b32 v12, 5", 12, 0, 96, "gives it v0 to v11"},
      {"v_accvgpr_write_b32 a4, v11", 12, 0, 96, "gives it a0 to a3"},
      {"v_accvgpr_write_b32 a0, v1", 8, 0, 96, "gives it no a registers"},
      // 16 and 6 special ones make 32.
      {"s_mov_b32 s31, 0", 8, 0, 16, nullptr},
      {"s_mov_b32 s32, 0", 8, 0, 16,
       "s32 is not allocated: the descriptor of "
       "k gives it s0 to s31"},
      {"s_mov_b64 vcc, 0", 8, 0, 16, nullptr},
      {"s_set_gpr_idx_on s3, gpr_idx(SRC0)\n v_mov_b32 v1, v0", 8, 0, 96,
       nullptr},
      {"s_set_gpr_idx_on s4, gpr_idx(SRC0)\n v_mov_b32 v1, v1", 8, 0, 96,
       "v8 is not allocated"},
      {"s_branch .Lbehind\n v_mov_b32 v8, 5\n.Lbehind:", 8, 0, 96, nullptr},
      // s[25 + 7] is beyond 32 registers.
      {"s_mov_b32 m0, s3\n s_nop 0\n s_movrels_b32 s4, s24", 8, 0, 16, nullptr},
      {"s_mov_b32 m0, s3\n s_nop 0\n s_movrels_b32 s4, s25", 8, 0, 16,
       "s32 is not allocated: the descriptor of k gives it s0 to s31; raise "
       "its next_free_sgpr; M0 moves the index"},
      {"s_mov_b32 m0, s3\n s_nop 0\n s_movreld_b64 s[22:23], s[4:5]", 8, 0, 16,
       nullptr},
      {"s_mov_b32 m0, s3\n s_nop 0\n s_movreld_b64 s[24:25], s[4:5]", 8, 0, 16,
       "s32 is not allocated"},
      {"s_mov_b32 m0, s3\n s_nop 0\n s_movreld_b32 s25, s4", 8, 0, 16,
       "s32 is not allocated"},
  };
  for (const auto &line : lines) {
    std::string source =
        wrapKernel(std::string("  s_mov_b32 s3, 7\n  s_mov_b32 s4, 7\n  ") +
                       line.line + "\n  s_set_gpr_idx_off\n",
                   16, 0, line.vgprs, line.agprs);
    const std::string many = "next_free_sgpr 96";
    source.replace(source.find(many), many.size(),
                   "next_free_sgpr " + std::to_string(line.sgprs));
    for (unsigned checks : {0u, unsigned(CheckAll)}) {
      auto found = checkKernel(checks & ~CheckInit, source, {64, 1, 1});
      if (!line.missing) {
        EXPECT_THAT(found, IsEmpty()) << line.line;
        continue;
      }
      ASSERT_THAT(found, SizeIs(1)) << line.line;
      EXPECT_THAT(found[0],
                  AllOf(HasSubstr("error: "), HasSubstr(line.missing),
                        HasSubstr("in k at 0x"),
                        HasSubstr("by work-group (0, 0, 0), wave 0")));
    }
  }
}

TEST_F(LaunchState, ModesThatAreNotModelled) {
  for (auto [directive, text] :
       {std::pair(".amdhsa_exception_fp_ieee_div_zero 1",
                  "lets exceptions trap"),
        std::pair(".amdhsa_exception_int_div_zero 1", "lets exceptions trap"),
        std::pair(".amdhsa_tg_split 1", "spreads work-groups"),
        std::pair(".amdhsa_exception_fp_ieee_div_zero 0", ""),
        std::pair(".amdhsa_ieee_mode 0", "")}) {
    auto found = checkKernel(0, withDirective("", directive), {64, 1, 1});
    if (!*text) {
      EXPECT_THAT(found, IsEmpty()) << directive;
      continue;
    }
    EXPECT_THAT(found,
                testing::ElementsAre(AllOf(HasSubstr("unsupported: kernel k"),
                                           HasSubstr(text))));
  }
  EXPECT_THAT(check(0, "  s_mov_b32 s3, 4\n"
                       "  s_setreg_b32 hwreg(HW_REG_MODE, 12, 7), s3\n"),
              testing::ElementsAre(AllOf(HasSubstr("unsupported: "),
                                         HasSubstr("EXCP_EN"),
                                         HasSubstr("s_setreg_b32"))));
  EXPECT_THAT(check(0, "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 0\n"
                       "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf5\n"),
              IsEmpty());
}

TEST_F(LaunchState, MisalignedAtomicOnLds) {
  const auto body = [](const char *address, const char *atomic) {
    return std::string("  v_mov_b32 v2, ") + address +
           "\n  v_mov_b32 v4, 1\n  v_mov_b32 v5, 0\n  s_mov_b64 exec, 1\n  "
           "ds_write_b64 v5, v[4:5]\n  s_waitcnt lgkmcnt(0)\n  " +
           atomic + "\n  s_waitcnt lgkmcnt(0)\n";
  };
  const char word[] = "ds_add_u32 v2, v4", two[] = "ds_add_u64 v2, v[4:5]";
  EXPECT_THAT(check(CheckMemory, body("4", word), 64), IsEmpty());
  EXPECT_THAT(check(CheckMemory, body("8", two), 64), IsEmpty());
  for (auto [address, atomic, bytes] :
       {std::tuple("2", word, "4"), std::tuple("4", two, "8")}) {
    const std::string text = std::string("an atomic operation of ") + bytes +
                             " bytes on LDS is misaligned";
    EXPECT_THAT(
        check(CheckMemory, body(address, atomic), 64),
        testing::ElementsAre(AllOf(HasSubstr("memory: "), HasSubstr(text))));
    EXPECT_THAT(check(0, body(address, atomic), 64),
                testing::ElementsAre(
                    AllOf(HasSubstr("error: memory fault"), HasSubstr(text))));
  }
}

TEST_F(LaunchState, LdsReadsOfHalvesDoNotReadTheirDestination) {
  const auto body = [](const char *read) {
    return std::string(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  ds_write_b32 v1, v0
  )") + read +
           R"(
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[6:7]
)";
  };
  for (const char *name : {"ds_read_u16_d16", "ds_read_u16_d16_hi",
                           "ds_read_u8_d16", "ds_read_i8_d16_hi"}) {
    EXPECT_THAT(
        check(CheckInit, body((std::string(name) + " v2, v1").c_str()), 256),
        IsEmpty())
        << name;
    for (const char *operands : {" v2, v9", " v2, v2"})
      EXPECT_THAT(
          check(CheckInit, body((name + std::string(operands)).c_str()), 256),
          testing::Contains(HasSubstr("an address depends on v")))
          << name << operands;
  }
}

TEST_F(LaunchState, ValuesThatDependOnNothing) {
  struct {
    const char *line;
    bool isKnown;
  } const lines[] = {
      {"v_xor_b32 v2, v20, v20", true},
      {"v_xnor_b32 v2, v20, v20", true},
      {"v_sub_u32 v2, v20, v20", true},
      {"v_sub_u16 v2, v20, v20", true},
      {"v_pk_sub_i16 v2, v20, v20", true},
      {"s_xor_b64 s[20:21], s[20:21], s[20:21]\n v_mov_b32 v2, s20", true},
      {"s_sub_u32 s20, s20, s20\n v_mov_b32 v2, s20", true},
      {"v_xor_b32 v2, v20, v21", false},
      {"v_or_b32 v2, v20, v20", false},
      {"v_sub_f32 v2, v20, v20", false}, // a NaN stays one
      {"v_add_u32 v2, v20, v20", false},
      {"v_pk_sub_i16 v2, v20, v20 op_sel:[0,1] op_sel_hi:[1,0]", false},
      {"v_sub_u32_sdwa v2, v20, v20 dst_sel:DWORD dst_unused:UNUSED_PAD "
       "src0_sel:WORD_0 src1_sel:WORD_1",
       false},
      {"v_xor_b32_dpp v2, v20, v20 quad_perm:[1,0,3,2] row_mask:0xf "
       "bank_mask:0xf",
       false},
  };
  for (const auto &line : lines)
    EXPECT_THAT(check(CheckInit, std::string(R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  )") + line.line + "\n  global_store_dword v1, v2, s[6:7]\n"),
                SizeIs(!line.isKnown))
        << line.line;
}

} // namespace
