//===- InitFlowTests.cpp - Which bits of a result are defined ------------===//
// SPDX-License-Identifier: MIT
//
// The rules of the `init` checker against the instructions themselves: bits of
// the sources that are undefined are filled at random, a lane each. Result bits
// that a rule calls defined must be the same in all lanes, and for rules that
// are exact the others must not be.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Simulator/InitFlow.h"
#include "InstructionHarness.h"
#include <random>

namespace netra::sim::test {
namespace {

struct Case {
  /// Sources are v[2:3], v[4:5], v[6:7] or s[2:3], s[4:5]; a flag is VCC, or
  /// SCC. The result is v[20:21], or s[20:21].
  const char *text;
  bool isExact = true;
};

constexpr Case cases[] = {
    {"v_mov_b32 v20, v2"},
    {"v_mov_b64 v[20:21], v[2:3]"},
    {"v_not_b32 v20, v2"},
    {"v_and_b32 v20, v2, v4"},
    {"v_or_b32 v20, v2, v4"},
    {"v_xor_b32 v20, v2, v4"},
    {"v_xnor_b32 v20, v2, v4"},
    {"v_and_or_b32 v20, v2, v4, v6"},
    {"v_or3_b32 v20, v2, v4, v6"},
    {"v_bfi_b32 v20, v2, v4, v6"},
    {"v_cndmask_b32 v20, v2, v4, vcc"},
    {"s_mov_b32 s20, s2"},
    {"s_mov_b64 s[20:21], s[2:3]"},
    {"s_cselect_b32 s20, s2, s4"},
    {"s_cselect_b64 s[20:21], s[2:3], s[4:5]"},
    {"s_not_b32 s20, s2"},
    {"s_not_b64 s[20:21], s[2:3]"},
    {"s_and_b32 s20, s2, s4"},
    {"s_and_b64 s[20:21], s[2:3], s[4:5]"},
    {"s_or_b32 s20, s2, s4"},
    {"s_or_b64 s[20:21], s[2:3], s[4:5]"},
    {"s_xor_b32 s20, s2, s4"},
    {"s_xor_b64 s[20:21], s[2:3], s[4:5]"},
    {"s_xnor_b32 s20, s2, s4"},
    {"s_xnor_b64 s[20:21], s[2:3], s[4:5]"},
    {"s_nand_b32 s20, s2, s4"},
    {"s_nand_b64 s[20:21], s[2:3], s[4:5]"},
    {"s_nor_b32 s20, s2, s4"},
    {"s_nor_b64 s[20:21], s[2:3], s[4:5]"},
    {"s_andn2_b32 s20, s2, s4"},
    {"s_andn2_b64 s[20:21], s[2:3], s[4:5]"},
    {"s_orn2_b32 s20, s2, s4"},
    {"s_orn2_b64 s[20:21], s[2:3], s[4:5]"},
    {"v_bfrev_b32 v20, v2"},
    {"s_brev_b32 s20, s2"},
    {"s_brev_b64 s[20:21], s[2:3]"},
    {"v_lshlrev_b32 v20, v2, v4"},
    {"v_lshrrev_b32 v20, v2, v4"},
    {"v_ashrrev_i32 v20, v2, v4"},
    {"v_lshlrev_b64 v[20:21], v2, v[4:5]"},
    {"v_lshrrev_b64 v[20:21], v2, v[4:5]"},
    {"v_ashrrev_i64 v[20:21], v2, v[4:5]"},
    {"s_lshl_b32 s20, s2, s4"},
    {"s_lshr_b32 s20, s2, s4"},
    {"s_ashr_i32 s20, s2, s4"},
    {"s_lshl_b64 s[20:21], s[2:3], s4"},
    {"s_lshr_b64 s[20:21], s[2:3], s4"},
    {"s_ashr_i64 s[20:21], s[2:3], s4"},
    {"v_lshl_or_b32 v20, v2, v4, v6"},
    {"v_alignbit_b32 v20, v2, v4, v6"},
    {"v_alignbyte_b32 v20, v2, v4, v6"},
    {"v_perm_b32 v20, v2, v4, v6"},
    {"v_bfe_u32 v20, v2, v4, v6"},
    {"v_bfe_i32 v20, v2, v4, v6"},
    {"s_bfe_u32 s20, s2, s4"},
    {"s_bfe_i32 s20, s2, s4"},
    {"s_bfe_u64 s[20:21], s[2:3], s4"},
    {"s_bfe_i64 s[20:21], s[2:3], s4"},
    {"s_sext_i32_i8 s20, s2"},
    {"s_sext_i32_i16 s20, s2"},
    {"s_pack_ll_b32_b16 s20, s2, s4"},
    {"s_pack_lh_b32_b16 s20, s2, s4"},
    {"s_pack_hh_b32_b16 s20, s2, s4"},
    {"v_lshlrev_b16 v20, v2, v4"},
    {"v_lshrrev_b16 v20, v2, v4"},
    {"v_ashrrev_i16 v20, v2, v4"},
    // Of these a bit may come out the same by chance.
    {"v_add_u32 v20, v2, v4", false},
    {"v_sub_u32 v20, v2, v4", false},
    {"v_subrev_u32 v20, v2, v4", false},
    {"v_add_i32 v20, v2, v4", false},
    {"v_sub_i32 v20, v2, v4", false},
    {"v_mul_lo_u32 v20, v2, v4", false},
    {"v_add_co_u32 v20, vcc, v2, v4", false},
    {"v_sub_co_u32 v20, vcc, v2, v4", false},
    {"v_subrev_co_u32 v20, vcc, v2, v4", false},
    {"v_addc_co_u32 v20, vcc, v2, v4, vcc", false},
    {"v_subb_co_u32 v20, vcc, v2, v4, vcc", false},
    {"v_subbrev_co_u32 v20, vcc, v2, v4, vcc", false},
    {"v_add3_u32 v20, v2, v4, v6", false},
    {"v_xad_u32 v20, v2, v4, v6", false},
    {"v_mul_u32_u24 v20, v2, v4", false},
    {"v_mul_i32_i24 v20, v2, v4", false},
    {"v_mul_hi_u32_u24 v20, v2, v4", false},
    {"v_mul_hi_i32_i24 v20, v2, v4", false},
    {"v_mad_u32_u24 v20, v2, v4, v6", false},
    {"v_mad_i32_i24 v20, v2, v4, v6", false},
    {"v_mad_u32_u16 v20, v2, v4, v6", false},
    {"v_mad_i32_i16 v20, v2, v4, v6", false},
    {"v_mad_u64_u32 v[20:21], s[30:31], v2, v4, v[6:7]", false},
    {"v_mad_i64_i32 v[20:21], s[30:31], v2, v4, v[6:7]", false},
    {"v_lshl_add_u32 v20, v2, v4, v6", false},
    {"v_add_lshl_u32 v20, v2, v4, v6", false},
    {"v_lshl_add_u64 v[20:21], v[2:3], v4, v[6:7]", false},
    {"s_add_u32 s20, s2, s4", false},
    {"s_sub_u32 s20, s2, s4", false},
    {"s_add_i32 s20, s2, s4", false},
    {"s_sub_i32 s20, s2, s4", false},
    {"s_addc_u32 s20, s2, s4", false},
    {"s_subb_u32 s20, s2, s4", false},
    {"s_mul_i32 s20, s2, s4", false},
    {"s_lshl1_add_u32 s20, s2, s4", false},
    {"s_lshl4_add_u32 s20, s2, s4", false},
    {"v_cvt_f32_ubyte0 v20, v2", false},
    {"v_cvt_f32_ubyte3 v20, v2", false},
    {"v_add_u16 v20, v2, v4", false},
    {"v_mul_lo_u16 v20, v2, v4", false},
    {"v_sub_u16 v20, v2, v4", false},
    {"v_subrev_u16 v20, v2, v4", false},
    {"v_add_i16 v20, v2, v4", false},
    {"v_sub_i16 v20, v2, v4", false},
    {"v_mad_legacy_u16 v20, v2, v4, v6", false},
    {"v_mad_legacy_i16 v20, v2, v4, v6", false},
    {"v_bfm_b32 v20, v2, v4", false},
    {"s_bfm_b32 s20, s2, s4", false},
    {"s_bfm_b64 s[20:21], s2, s4", false},
    {"v_ffbl_b32 v20, v2", false},
    {"v_ffbh_u32 v20, v2", false},
    {"s_ff1_i32_b32 s20, s2", false},
    {"s_ff1_i32_b64 s20, s[2:3]", false},
    {"s_flbit_i32_b32 s20, s2", false},
    {"s_flbit_i32_b64 s20, s[2:3]", false},
    {"v_bcnt_u32_b32 v20, v2, v4", false},
    {"v_sad_u8 v20, v2, v4, v6", false},
    {"v_sad_hi_u8 v20, v2, v4, v6", false},
    {"v_sad_u16 v20, v2, v4, v6", false},
    {"v_sad_u32 v20, v2, v4, v6", false},
    {"v_msad_u8 v20, v2, v4, v6", false},
    {"v_dot2_i32_i16 v20, v2, v4, v6", false},
    {"v_dot4_u32_u8 v20, v2, v4, v6", false},
    {"v_dot8_i32_i4 v20, v2, v4, v6", false},
    {"v_lerp_u8 v20, v2, v4, v6", false},
    {"v_sat_pk_u8_i16 v20, v2", false},
    {"v_cvt_pk_u8_f32 v20, v2, v4, v6", false},
    {"v_cvt_pk_u16_u32 v20, v2, v4", false},
    {"v_cvt_f16_f32 v20, v2", false},
    {"v_max3_i16 v20, v2, v4, v6", false},
    {"v_cvt_f32_f16 v20, v2", false},
};

/// The part of a source that a rule names.
Bits partOf(Part part, Bits source) {
  switch (part) {
  case Part::None:
    return {};
  case Part::Pair:
    return source;
  case Part::Low:
    return source.field(0, 16);
  case Part::High:
    return source.field(16, 16);
  case Part::Low24:
    return source.field(0, 24);
  case Part::Low5:
    return source.field(0, 5);
  case Part::Low6:
    return source.field(0, 6);
  case Part::Flag:
    return source.field(0, 1);
  case Part::Mask:
    return source.field(0, 1, true);
  case Part::Word:
    return source.field(0, 32);
  default:
    return source.field(8 * (unsigned(part) - unsigned(Part::Byte0)), 8);
  }
}

uint64_t maskOfWidth(unsigned width) { return ~uint64_t(0) >> (64 - width); }

TEST(InitFlow, RulesAgreeWithTheInstructions) {
  std::mt19937_64 random(20);
  for (const Case &c : cases) {
    SCOPED_TRACE(c.text);
    const std::string text = c.text, mnemonic = text.substr(0, text.find(' '));
    const FlowRule rule = FlowRule::of(mnemonic);
    ASSERT_NE(rule.flow, Flow::None);
    Sequence sequence({text});
    ASSERT_TRUE(sequence.problem(0).empty()) << sequence.problem(0);
    const bool isScalar = text[0] == 's';
    Machine machine;
    machine.wave.setExec(~uint64_t(0));
    machine.wave.mode = PlainMode;
    for (unsigned trial = 0; trial < 200; ++trial) {
      Bits sources[3];
      for (Bits &source : sources) {
        source.value = random();
        if (trial & 1) // amounts and selectors
          source.value &= 0x0f3f0f3f0f3f0f3full;
        switch (random() % 4) {
        case 0:
          source.defined = random() | random();
          break;
        case 1:
          source.defined = random() & 1 ? 0xffffffffull << 32 : 0xffffffffu;
          break;
        case 2:
          source.defined = ~(uint64_t(0xff) << 8 * (random() % 8));
          break;
        }
      }
      Bits parts[3];
      for (unsigned k = 0; k < 3; ++k)
        parts[k] = partOf(rule.parts[k], sources[k]);
      const Bits expected = combine(rule, parts);
      // The result for 64 ways to fill what is undefined.
      uint64_t results[64], fills[3][64], flags = 0;
      for (unsigned lane = 0; lane < 64; ++lane) {
        for (unsigned k = 0; k < 3; ++k)
          fills[k][lane] = (sources[k].value & sources[k].defined) |
                           (random() & ~sources[k].defined);
        flags |= (fills[2][lane] & 1) << lane;
      }
      machine.wave.setVcc(flags);
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned k = 0; k < 3; ++k) {
          machine.v(2 + 2 * k, lane) = uint32_t(fills[k][lane]);
          machine.v(3 + 2 * k, lane) = uint32_t(fills[k][lane] >> 32);
        }
      if (!isScalar)
        machine.run(sequence[0]);
      for (unsigned lane = 0; lane < 64; ++lane) {
        uint32_t low = machine.v(20, lane), high = machine.v(21, lane);
        if (isScalar) {
          for (unsigned k = 0; k < 3; ++k) {
            machine.s(2 + 2 * k) = uint32_t(fills[k][lane]);
            machine.s(3 + 2 * k) = uint32_t(fills[k][lane] >> 32);
          }
          machine.wave.scc = fills[2][lane] & 1;
          machine.run(sequence[0]);
          low = machine.s(20);
          high = machine.s(21);
        }
        results[lane] = low | (rule.words == 2 ? uint64_t(high) << 32 : 0);
      }
      uint64_t varies = 0;
      for (uint64_t result : results)
        varies |= result ^ results[0];
      EXPECT_EQ(varies & expected.defined, 0u)
          << std::hex << "defined " << expected.defined << " varies " << varies;
      // A shift by an unknown amount is not followed.
      const bool isFollowed = rule.flow == Flow::Logic ||
                              (expected.defined & maskOfWidth(rule.width()));
      if (c.isExact && isFollowed) {
        EXPECT_EQ(varies, ~expected.defined) << std::hex;
        EXPECT_EQ(results[0] & expected.defined,
                  expected.value & expected.defined)
            << std::hex;
      }
      EXPECT_EQ(expected.computed & expected.defined, 0u);
      if (testing::Test::HasFailure())
        break;
    }
  }
}

} // namespace
} // namespace netra::sim::test
