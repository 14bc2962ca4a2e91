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
