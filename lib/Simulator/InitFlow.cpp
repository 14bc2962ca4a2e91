//===- InitFlow.cpp - Which bits of a result are defined -----------------===//
// SPDX-License-Identifier: MIT

#include "InitFlow.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace netra::sim {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

struct Row {
  const char *mnemonics; ///< separated by blanks
  Flow flow;
  const char *parts; ///< letters of Part
  unsigned words = 1;
  FlowRule::Scc scc = FlowRule::Kept;
  unsigned table = 0;
  Form form = Form::Whole;
};

constexpr auto Kept = FlowRule::Kept;
constexpr auto NonZero = FlowRule::NonZero;
constexpr auto Carry = FlowRule::Carry;

constexpr Row rows[] = {
    // Moves and logic, with their truth tables.
    {"v_mov_b32 v_accvgpr_read_b32 v_accvgpr_write_b32 v_accvgpr_mov_b32 "
     "s_mov_b32",
     Flow::Logic, "w", 1, Kept, 0xf0},
    {"v_mov_b64 s_mov_b64", Flow::Logic, "d", 2, Kept, 0xf0},
    {"v_not_b32", Flow::Logic, "w", 1, Kept, 0x0f},
    {"v_and_b32", Flow::Logic, "ww", 1, Kept, 0xc0},
    {"v_or_b32", Flow::Logic, "ww", 1, Kept, 0xfc},
    {"v_xor_b32", Flow::Logic, "ww", 1, Kept, 0x3c},
    {"v_xnor_b32", Flow::Logic, "ww", 1, Kept, 0xc3},
    {"v_and_or_b32", Flow::Logic, "www", 1, Kept, 0xea},
    {"v_or3_b32", Flow::Logic, "www", 1, Kept, 0xfe},
    {"v_bfi_b32", Flow::Logic, "www", 1, Kept, 0xca},
    {"v_bitop3_b32", Flow::Logic, "www"}, // these have their own tables
    {"v_bitop3_b16", Flow::Logic, "hhh", 1, Kept, 0, Form::Half},
    {"v_cndmask_b32", Flow::Logic, "wwm", 1, Kept, 0xd8},
    {"s_cselect_b32", Flow::Logic, "wwm", 1, Kept, 0xe4},
    {"s_cselect_b64", Flow::Logic, "ddm", 2, Kept, 0xe4},
    {"s_not_b32", Flow::Logic, "w", 1, NonZero, 0x0f},
    {"s_not_b64", Flow::Logic, "d", 2, NonZero, 0x0f},
    {"s_and_b32", Flow::Logic, "ww", 1, NonZero, 0xc0},
    {"s_and_b64", Flow::Logic, "dd", 2, NonZero, 0xc0},
    {"s_and_saveexec_b64", Flow::Logic, "dx", 2, NonZero, 0xc0},
    {"s_or_b32", Flow::Logic, "ww", 1, NonZero, 0xfc},
    {"s_or_b64", Flow::Logic, "dd", 2, NonZero, 0xfc},
    {"s_or_saveexec_b64", Flow::Logic, "dx", 2, NonZero, 0xfc},
    {"s_xor_b32", Flow::Logic, "ww", 1, NonZero, 0x3c},
    {"s_xor_b64", Flow::Logic, "dd", 2, NonZero, 0x3c},
    {"s_xor_saveexec_b64", Flow::Logic, "dx", 2, NonZero, 0x3c},
    {"s_xnor_b32", Flow::Logic, "ww", 1, NonZero, 0xc3},
    {"s_xnor_b64", Flow::Logic, "dd", 2, NonZero, 0xc3},
    {"s_xnor_saveexec_b64", Flow::Logic, "dx", 2, NonZero, 0xc3},
    {"s_nand_b32", Flow::Logic, "ww", 1, NonZero, 0x3f},
    {"s_nand_b64", Flow::Logic, "dd", 2, NonZero, 0x3f},
    {"s_nand_saveexec_b64", Flow::Logic, "dx", 2, NonZero, 0x3f},
    {"s_nor_b32", Flow::Logic, "ww", 1, NonZero, 0x03},
    {"s_nor_b64", Flow::Logic, "dd", 2, NonZero, 0x03},
    {"s_nor_saveexec_b64", Flow::Logic, "dx", 2, NonZero, 0x03},
    {"s_andn2_b32", Flow::Logic, "ww", 1, NonZero, 0x30},
    {"s_andn2_b64", Flow::Logic, "dd", 2, NonZero, 0x30},
    {"s_andn2_saveexec_b64", Flow::Logic, "dx", 2, NonZero, 0x30},
    {"s_orn2_b32", Flow::Logic, "ww", 1, NonZero, 0xf3},
    {"s_orn2_b64", Flow::Logic, "dd", 2, NonZero, 0xf3},
    {"s_orn2_saveexec_b64", Flow::Logic, "dx", 2, NonZero, 0xf3},
    {"s_andn1_saveexec_b64", Flow::Logic, "dx", 2, NonZero, 0x0c},
    {"s_orn1_saveexec_b64", Flow::Logic, "dx", 2, NonZero, 0xcf},
    {"v_bfrev_b32 s_brev_b32", Flow::Reverse, "w"},
    {"s_brev_b64", Flow::Reverse, "d", 2},

    // Shifts and fields.
    {"v_lshlrev_b32", Flow::ShiftLeftBy, "ww"},
    {"v_lshrrev_b32", Flow::ShiftRightBy, "ww"},
    {"v_ashrrev_i32", Flow::ShiftRightSignedBy, "ww"},
    {"v_lshlrev_b64", Flow::ShiftLeftBy, "wd", 2},
    {"v_lshrrev_b64", Flow::ShiftRightBy, "wd", 2},
    {"v_ashrrev_i64", Flow::ShiftRightSignedBy, "wd", 2},
    {"s_lshl_b32", Flow::ShiftLeft, "ww", 1, NonZero},
    {"s_lshr_b32", Flow::ShiftRight, "ww", 1, NonZero},
    {"s_ashr_i32", Flow::ShiftRightSigned, "ww", 1, NonZero},
    {"s_lshl_b64", Flow::ShiftLeft, "dw", 2, NonZero},
    {"s_lshr_b64", Flow::ShiftRight, "dw", 2, NonZero},
    {"s_ashr_i64", Flow::ShiftRightSigned, "dw", 2, NonZero},
    {"v_lshl_or_b32", Flow::ShiftLeftOr, "www"},
    {"v_alignbit_b32", Flow::AlignBits, "www"},
    {"v_alignbyte_b32", Flow::AlignBytes, "www"},
    {"v_perm_b32", Flow::Permute, "www"},
    {"v_bfe_u32", Flow::Field, "www"},
    {"v_bfe_i32", Flow::FieldSigned, "www"},
    {"s_bfe_u32", Flow::FieldPacked, "ww", 1, NonZero},
    {"s_bfe_i32", Flow::FieldPackedSigned, "ww", 1, NonZero},
    {"s_bfe_u64", Flow::FieldPacked, "dw", 2, NonZero},
    {"s_bfe_i64", Flow::FieldPackedSigned, "dw", 2, NonZero},
    {"s_sext_i32_i8", Flow::Extend8, "w"},
    {"s_sext_i32_i16", Flow::Extend16, "w"},
    {"v_lshlrev_b16", Flow::ShiftLeftBy, "hh", 1, Kept, 0, Form::Half},
    {"v_lshrrev_b16", Flow::ShiftRightBy, "hh", 1, Kept, 0, Form::Half},
    {"v_ashrrev_i16", Flow::ShiftRightSignedBy, "hh", 1, Kept, 0, Form::Half},
    {"v_pk_lshlrev_b16", Flow::ShiftLeftBy, "ww", 1, Kept, 0, Form::Halves},
    {"v_pk_lshrrev_b16", Flow::ShiftRightBy, "ww", 1, Kept, 0, Form::Halves},
    {"v_pk_ashrrev_i16", Flow::ShiftRightSignedBy, "ww", 1, Kept, 0,
     Form::Halves},
    {"s_bitset0_b32 s_bitset1_b32", Flow::SetBit, "5o"},
    {"s_bitset0_b64 s_bitset1_b64", Flow::SetBit, "6O", 2},
    {"v_bfm_b32 s_bfm_b32", Flow::All, "55"},
    {"s_bfm_b64", Flow::All, "66", 2},
    {"v_ffbl_b32 s_ff1_i32_b32", Flow::FirstLow, "w"},
    {"s_ff1_i32_b64", Flow::FirstLow, "d"},
    {"v_ffbh_u32 s_flbit_i32_b32", Flow::FirstHigh, "w"},
    {"s_flbit_i32_b64", Flow::FirstHigh, "d"},
    {"s_bitcmp0_b32 s_bitcmp1_b32", Flow::TestBit, "ww", 1, NonZero},
    {"s_bitcmp0_b64 s_bitcmp1_b64", Flow::TestBit, "dw", 2, NonZero},

    // Sums and products.
    {"v_add_u32 v_add_i32 v_add_co_u32", Flow::Add, "ww"},
    {"v_sub_u32 v_subrev_u32 v_sub_i32 v_sub_co_u32 v_subrev_co_u32 "
     "v_mul_lo_u32 s_mul_i32",
     Flow::Sum, "ww"},
    {"v_addc_co_u32", Flow::Add, "wwf"},
    {"v_subb_co_u32 v_subbrev_co_u32", Flow::Sum, "wwf"},
    {"v_add3_u32", Flow::Add, "www"},
    {"v_xad_u32", Flow::Sum, "www"},
    {"v_add_u16 v_add_i16", Flow::Add, "hh", 1, Kept, 0, Form::Half},
    {"v_sub_u16 v_subrev_u16 v_sub_i16 v_mul_lo_u16", Flow::Sum, "hh", 1, Kept,
     0, Form::Half},
    {"v_mad_legacy_u16 v_mad_legacy_i16 v_mad_u16 v_mad_i16", Flow::Sum, "hhh",
     1, Kept, 0, Form::Half},
    {"v_pk_add_u16 v_pk_add_i16", Flow::Add, "ww", 1, Kept, 0, Form::Halves},
    {"v_pk_sub_u16 v_pk_sub_i16 v_pk_mul_lo_u16", Flow::Sum, "ww", 1, Kept, 0,
     Form::Halves},
    {"v_pk_mad_u16 v_pk_mad_i16", Flow::Sum, "www", 1, Kept, 0, Form::Halves},
    {"v_mul_u32_u24 v_mul_i32_i24", Flow::Sum, "tt"},
    {"v_mad_u32_u24 v_mad_i32_i24", Flow::Sum, "ttw"},
    {"v_mad_u32_u16 v_mad_i32_i16", Flow::Sum, "hhw"},
    {"v_mad_u64_u32 v_mad_i64_i32", Flow::Sum, "wwd", 2},
    {"s_add_u32 s_add_i32", Flow::Add, "ww", 1, Carry},
    {"s_sub_u32 s_sub_i32", Flow::Sum, "ww", 1, Carry},
    {"s_addc_u32", Flow::Add, "wwf", 1, Carry},
    {"s_subb_u32", Flow::Sum, "wwf", 1, Carry},
    {"s_addk_i32", Flow::Add, "wo", 1, Carry},
    {"s_mulk_i32", Flow::Sum, "wo"},
    {"v_lshl_add_u32", Flow::ShiftLeftAdd, "www"},
    {"v_lshl_add_u64", Flow::ShiftLeftAdd, "dwd", 2},
    {"v_add_lshl_u32", Flow::AddShiftLeft, "www"},
    {"s_lshl1_add_u32 s_lshl2_add_u32 s_lshl3_add_u32 s_lshl4_add_u32",
     Flow::Sum, "ww", 1, Carry},
    {"v_bcnt_u32_b32 v_mbcnt_lo_u32_b32 v_mbcnt_hi_u32_b32", Flow::Accumulate,
     "ww"},
    {"v_sad_u8 v_sad_hi_u8 v_sad_u16 v_sad_u32 v_msad_u8 v_dot2_i32_i16 "
     "v_dot2_u32_u16 v_dot4_i32_i8 v_dot4_u32_u8 v_dot8_i32_i4 v_dot8_u32_u4",
     Flow::Accumulate, "www"},
    {"v_dot2c_i32_i16 v_dot4c_i32_i8 v_dot8c_i32_i4", Flow::Accumulate, "wwo"},
    {"v_lerp_u8", Flow::Bytes, "www"},

    // Parts of the sources.
    {"v_cvt_f32_ubyte0", Flow::All, "0"},
    {"v_cvt_f32_ubyte1", Flow::All, "1"},
    {"v_cvt_f32_ubyte2", Flow::All, "2"},
    {"v_cvt_f32_ubyte3", Flow::All, "3"},
    {"v_mul_hi_u32_u24 v_mul_hi_i32_i24", Flow::All, "tt"},
    {"v_cvt_f32_f16 v_cvt_f32_bf16", Flow::All, "h"},
    {"v_cvt_f32_fp8 v_cvt_f32_bf8", Flow::All, "b"},
    {"v_cvt_f16_f32", Flow::All, "w", 1, Kept, 0, Form::Half},
    {"v_cvt_u16_f16 v_cvt_i16_f16 v_cvt_f16_u16 v_cvt_f16_i16 "
     "v_cvt_norm_i16_f16 v_cvt_norm_u16_f16 v_rcp_f16 v_rsq_f16 v_sqrt_f16 "
     "v_log_f16 v_exp_f16 v_sin_f16 v_cos_f16 v_fract_f16 v_floor_f16 "
     "v_ceil_f16 v_trunc_f16 v_rndne_f16 v_frexp_mant_f16 v_frexp_exp_i16_f16",
     Flow::All, "h", 1, Kept, 0, Form::Half},
    {"v_add_f16 v_sub_f16 v_subrev_f16 v_mul_f16 v_min_f16 v_max_f16 "
     "v_ldexp_f16 v_min_u16 v_max_u16 v_min_i16 v_max_i16",
     Flow::All, "hh", 1, Kept, 0, Form::Half},
    {"v_fma_f16 v_mad_f16 v_div_fixup_f16 v_mad_legacy_f16 v_madak_f16 "
     "v_madmk_f16 v_fma_legacy_f16 "
     "v_div_fixup_legacy_f16 v_min3_f16 v_max3_f16 v_med3_f16 v_min3_u16 "
     "v_max3_u16 v_med3_u16 v_min3_i16 v_max3_i16 v_med3_i16",
     Flow::All, "hhh", 1, Kept, 0, Form::Half},
    {"v_mac_f16", Flow::All, "hhk", 1, Kept, 0, Form::Half},

    // Results in parts.
    {"v_cvt_pk_bf16_f32 v_cvt_pk_f16_f32 v_cvt_pkrtz_f16_f32 v_cvt_pk_i16_i32 "
     "v_cvt_pk_u16_u32 v_cvt_pknorm_i16_f32 v_cvt_pknorm_u16_f32",
     Flow::Pack, "ww"},
    {"v_cvt_pknorm_i16_f16 v_cvt_pknorm_u16_f16", Flow::Pack, "hh"},
    {"v_pack_b32_f16 s_pack_ll_b32_b16", Flow::Join, "hh"},
    {"s_pack_lh_b32_b16", Flow::Join, "hH"},
    {"s_pack_hh_b32_b16", Flow::Join, "HH"},
    {"v_cvt_pk_fp8_f32 v_cvt_pk_bf8_f32", Flow::PackBytes, "ww", 1, Kept, 0,
     Form::Merged},
    {"v_cvt_scalef32_pk_fp8_f32 v_cvt_scalef32_pk_bf8_f32", Flow::PackBytes,
     "www", 1, Kept, 0, Form::Merged},
    {"v_cvt_sr_f16_f32 v_cvt_sr_bf16_f32", Flow::All, "ww", 1, Kept, 0,
     Form::Half},
    {"v_cvt_sr_fp8_f32 v_cvt_sr_bf8_f32", Flow::All, "ww", 1, Kept, 0,
     Form::Byte},
    {"v_cvt_scalef32_sr_fp8_f32 v_cvt_scalef32_sr_bf8_f32", Flow::All, "www", 1,
     Kept, 0, Form::Byte},
    {"v_cvt_pk_f32_fp8 v_cvt_pk_f32_bf8", Flow::WidenBytes, "h", 2},
    {"v_cvt_pk_u8_f32", Flow::InsertByte, "www"},
    {"v_sat_pk_u8_i16", Flow::NarrowHalves, "w"},
    {"v_pk_add_f32 v_pk_mul_f32", Flow::All, "dd", 2, Kept, 0, Form::Pairs},
    {"v_pk_fma_f32", Flow::All, "ddd", 2, Kept, 0, Form::Pairs},
    {"v_pk_mov_b32", Flow::PairMove, "dd", 2},
    {"v_pk_add_f16 v_pk_mul_f16 v_pk_min_f16 v_pk_max_f16 v_pk_min_u16 "
     "v_pk_max_u16 v_pk_min_i16 v_pk_max_i16",
     Flow::All, "ww", 1, Kept, 0, Form::Halves},
    {"v_pk_fma_f16 v_pk_minimum3_f16 v_pk_maximum3_f16", Flow::All, "www", 1,
     Kept, 0, Form::Halves},
    {"v_pk_fmac_f16", Flow::All, "wwo", 1, Kept, 0, Form::Halves},
    {"v_fma_mix_f32 v_mad_mix_f32", Flow::Mixed, "www"},
    {"v_fma_mixlo_f16 v_mad_mixlo_f16", Flow::Mixed, "www", 1, Kept, 0,
     Form::Merged},
    {"v_fma_mixhi_f16 v_mad_mixhi_f16", Flow::Mixed, "www", 1, Kept, 0,
     Form::High},
};

StringMap<FlowRule> makeRules() {
  StringMap<FlowRule> rules;
  for (const Row &row : rows) {
    FlowRule rule;
    rule.flow = row.flow;
    rule.words = uint8_t(row.words);
    rule.scc = row.scc;
    rule.table = uint8_t(row.table);
    rule.form = row.form;
    for (unsigned k = 0; row.parts[k]; ++k)
      rule.parts[k] = Part(row.parts[k]);
    SmallVector<StringRef> names;
    SplitString(row.mnemonics, names);
    for (StringRef name : names)
      rules[name] = rule;
  }
  return rules;
}

} // namespace

FlowRule FlowRule::of(StringRef mnemonic) {
  static const StringMap<FlowRule> rules = makeRules();
  if (const auto found = rules.find(mnemonic); found != rules.end())
    return found->second;
  FlowRule rule;
  if (mnemonic.starts_with("v_cmp") &&
      (mnemonic.ends_with("_f16") || mnemonic.ends_with("_i16") ||
       mnemonic.ends_with("_u16"))) {
    rule.flow = Flow::All;
    rule.parts[0] = Part::Low;
    rule.parts[1] = mnemonic.contains("_class_") ? Part::Word : Part::Low;
  }
  return rule;
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static uint64_t maskOf(unsigned width) {
  return maskTrailingOnes<uint64_t>(width);
}

Bits Bits::field(unsigned at, unsigned width, bool isSigned) const {
  const uint64_t mask = maskOf(width);
  const uint64_t undefined = ~defined >> at & mask;
  Bits r{value >> at & mask, ~undefined,
         at % 8 ? undefined : computed >> at & mask, origin};
  if (!isSigned || !width)
    return r;
  // Copies of the sign, which may be unknown.
  if (undefined >> (width - 1) & 1) {
    r.defined &= mask;
    r.computed |= ~mask;
  } else if (r.value >> (width - 1) & 1)
    r.value |= ~mask;
  return r;
}

Bits Bits::shiftedLeft(unsigned by, unsigned width) const {
  const uint64_t mask = maskOf(width);
  const uint64_t undefined = ~defined << by & mask;
  return {value << by & mask, ~undefined,
          by % 8 ? undefined : computed << by & mask, origin};
}

Bits Bits::placed(unsigned at) const {
  return {value << at, ~(~defined << at), computed << at, origin};
}

Bits Bits::with(const Bits &other, uint64_t mask) const {
  return {(value & ~mask) | (other.value & mask),
          (defined & ~mask) | (other.defined & mask),
          (computed & ~mask) | (other.computed & mask),
          ~defined & ~mask ? origin : other.origin};
}

Bits Bits::spoilt(unsigned width) const {
  const uint64_t undefined = isKnown() ? 0 : maskOf(width);
  return {0, ~undefined, undefined, origin};
}

Origin Bits::originOf(const Bits *source, unsigned number) {
  for (; number > 1 && source->isKnown(); --number)
    ++source;
  return source->origin;
}

/// A bit that is a source's whatever the others are has not been computed.
static Bits logic(unsigned table, const Bits *source) {
  // What each source, and so the result, may be.
  uint64_t may[3][2], result[2] = {};
  // Where the result may be other than source k.
  uint64_t differs[3] = {};
  for (unsigned k = 0; k < 3; ++k) {
    may[k][0] = ~source[k].defined | ~source[k].value;
    may[k][1] = ~source[k].defined | source[k].value;
  }
  for (unsigned row = 0; row < 8; ++row) {
    const unsigned is[] = {row >> 2, row >> 1 & 1, row & 1};
    const unsigned becomes = table >> row & 1;
    const uint64_t here = may[0][is[0]] & may[1][is[1]] & may[2][is[2]];
    result[becomes] |= here;
    for (unsigned k = 0; k < 3; ++k)
      if (becomes != is[k])
        differs[k] |= here;
  }
  const uint64_t undefined = result[0] & result[1];
  Bits r{result[1] & ~undefined, ~undefined, 0};
  uint64_t rest = undefined;
  for (unsigned k = 0; k < 3; ++k) {
    const uint64_t same = rest & ~differs[k];
    if (!same)
      continue;
    if (rest == undefined)
      r.origin = source[k].origin;
    r.computed |= same & source[k].computed;
    rest &= ~same;
  }
  r.computed |= rest;
  if (rest)
    r.origin = Bits::originOf(source, 3);
  return r;
}

/// The sum of two values, either of which may be undefined in part.
static Bits added(const Bits &a, const Bits &b, unsigned width) {
  const uint64_t mask = maskOf(width);
  const uint64_t least[] = {a.value & a.defined, b.value & b.defined},
                 most[] = {(a.value | ~a.defined) & mask,
                           (b.value | ~b.defined) & mask};
  // Carries are between those of the least values and of the greatest.
  const uint64_t sums[] = {least[0] + least[1], most[0] + most[1]};
  const uint64_t undefined =
      ((sums[0] ^ sums[1]) | ~a.defined | ~b.defined) & mask;
  // What zero is added to, and nothing carried into, has only been moved.
  const uint64_t carried =
      (sums[0] ^ least[0] ^ least[1]) | (sums[1] ^ most[0] ^ most[1]);
  const Bits sources[] = {a, b, {}};
  return {sums[0] & mask, ~undefined,
          undefined & (logic(0x3c, sources).computed | carried),
          Bits::originOf(sources, 2)};
}

static Bits sum(const Bits &a, const Bits &b, const Bits &c, unsigned width) {
  uint64_t undefined = ~(a.defined & b.defined & c.defined);
  undefined = -(undefined & -undefined) & maskOf(width);
  const Bits sources[] = {a, b, c};
  return {a.value + b.value + c.value, ~undefined, undefined,
          Bits::originOf(sources, 3)};
}

static Bits permuted(uint64_t selector, const Bits &high, const Bits &low) {
  const Bits both = low.with(high.placed(32), ~maskOf(32));
  Bits r;
  for (unsigned byte = 0; byte < 4; ++byte, selector >>= 8) {
    const unsigned from = selector & 0xff;
    Bits part; // constants
    if (from < 8)
      part = (from < 4 ? low : high).field(8 * (from % 4), 8);
    else if (from < 12) // a sign
      part = both.field(16 * (from - 8) + 15, 1, true);
    else if (from > 12)
      part.value = 0xff;
    const uint64_t at = uint64_t(0xff) << (8 * byte);
    r = r.with(part.placed(8 * byte), at);
  }
  return r;
}

/// Whether the first bit that is set, from the lowest or the highest, is known.
static bool isFirstKnown(const Bits &a, bool isLow) {
  const uint64_t known = a.value & a.defined, undefined = ~a.defined;
  if (!undefined)
    return true;
  if (isLow)
    return known && (known & -known) < (undefined & -undefined);
  return known > undefined;
}

Bits combine(const FlowRule &rule, const Bits *source) {
  const Bits &a = source[0], &b = source[1], &c = source[2];
  const unsigned width = rule.width();
  // A shift by an unknown amount is not followed.
  bool isKnown = true;
  auto amount = [&](const Bits &by, unsigned limit) {
    isKnown &= !(~by.defined & (limit - 1));
    return unsigned(by.value & (limit - 1));
  };
  Bits r;
  switch (rule.flow) {
  case Flow::Logic:
    r = logic(rule.table, source);
    break;
  case Flow::Reverse: {
    const unsigned from = 64 - width;
    const uint64_t undefined = reverseBits(~a.defined) >> from;
    return {reverseBits(a.value) >> from, ~undefined, undefined, a.origin};
  }
  case Flow::ShiftLeft:
    r = a.shiftedLeft(amount(b, width), width);
    break;
  case Flow::ShiftLeftBy:
    r = b.shiftedLeft(amount(a, width), width);
    break;
  case Flow::ShiftRight:
    r = a.field(amount(b, width), width);
    break;
  case Flow::ShiftRightBy:
    r = b.field(amount(a, width), width);
    break;
  case Flow::ShiftRightSigned:
  case Flow::ShiftRightSignedBy: {
    const bool isBy = rule.flow == Flow::ShiftRightSignedBy;
    const unsigned by = amount(isBy ? a : b, width);
    r = (isBy ? b : a).field(by, width - by, true);
    break;
  }
  case Flow::ShiftLeftOr: {
    const Bits parts[] = {a.shiftedLeft(amount(b, 32), 32), c, {}};
    r = logic(0xfc, parts);
    break;
  }
  case Flow::ShiftLeftAdd:
    r = added(a.shiftedLeft(amount(b, rule.words == 2 ? 8 : 32), width), c,
              width);
    break;
  case Flow::AddShiftLeft:
    r = added(a, b, width).shiftedLeft(amount(c, width), width);
    break;
  case Flow::Add:
    r = added(added(a, b, width), c, width);
    break;
  case Flow::Sum:
    return sum(a, b, c, width);
  case Flow::Accumulate: {
    const bool hasThree = rule.parts[2] != Part::None;
    isKnown = a.isKnown() && (!hasThree || b.isKnown());
    r = sum({}, {}, hasThree ? c : b, width);
    break;
  }
  case Flow::Field:
  case Flow::FieldSigned: {
    const unsigned at = amount(b, 32), size = amount(c, 32);
    r = a.field(at, std::min(size, 32 - at), rule.flow == Flow::FieldSigned);
    break;
  }
  case Flow::FieldPacked:
  case Flow::FieldPackedSigned: {
    const unsigned at = amount(b, width), size = amount(b.field(16, 7), 128);
    r = a.field(at, std::min(size, width - at),
                rule.flow == Flow::FieldPackedSigned);
    break;
  }
  case Flow::Extend8:
    r = a.field(0, 8, true);
    break;
  case Flow::Extend16:
    r = a.field(0, 16, true);
    break;
  case Flow::TestBit:
    r = a.field(amount(b, width), 1);
    break;
  case Flow::SetBit:
    r = b.with({}, uint64_t(1) << amount(a, width));
    break;
  case Flow::FirstLow:
  case Flow::FirstHigh:
    isKnown = isFirstKnown(a, rule.flow == Flow::FirstLow);
    break;
  case Flow::AlignBits:
  case Flow::AlignBytes: {
    const unsigned by =
        rule.flow == Flow::AlignBits ? amount(c, 32) : 8 * amount(c, 4);
    if (!by) // all of b, at its place
      r = b;
    else
      r = b.with(a.placed(32), ~maskOf(32)).field(by, 32);
    break;
  }
  case Flow::Permute:
    isKnown = c.isKnown();
    r = permuted(c.value, a, b);
    break;
  case Flow::Join:
    r = a.with(b.placed(16), ~maskOf(16));
    break;
  case Flow::Pack:
    r = a.spoilt(16).with(b.spoilt(16).placed(16), ~maskOf(16));
    break;
  case Flow::PackBytes:
    isKnown = c.isKnown();
    r = a.spoilt(8).with(b.spoilt(8).placed(8), ~maskOf(8));
    break;
  case Flow::NarrowHalves:
    r = a.field(0, 16).spoilt(8).with(a.field(16, 16).spoilt(8).placed(8),
                                      ~maskOf(8));
    break;
  case Flow::WidenBytes:
    r = a.field(0, 8).spoilt(32).with(a.field(8, 8).spoilt(32).placed(32),
                                      ~maskOf(32));
    break;
  case Flow::Bytes:
    for (unsigned at = 0; at < width; at += 8) {
      const Bits parts[] = {a.field(at, 8), b.field(at, 8), c.field(at, 8)};
      const Bits all{0, parts[0].defined & parts[1].defined & parts[2].defined,
                     0, Bits::originOf(parts, 3)};
      r = r.with(all.spoilt(8).placed(at), maskOf(8) << at);
    }
    break;
  case Flow::InsertByte: {
    const unsigned at = 8 * amount(b, 4);
    r = c.with(a.spoilt(8).placed(at), maskOf(8) << at);
    break;
  }
  default:
    return Bits{0, a.defined & b.defined & c.defined, 0,
                Bits::originOf(source, 3)}
        .spoilt(width);
  }
  if (!isKnown)
    return Bits{0, 0, 0, Bits::originOf(source, 3)}.spoilt(width);
  // What lies above the result is zero.
  const uint64_t mask = maskOf(width);
  return {r.value & mask, r.defined | ~mask, r.computed & mask, r.origin};
}

} // namespace netra::sim
