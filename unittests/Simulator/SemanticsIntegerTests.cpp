//===- SemanticsIntegerTests.cpp - integer instructions -------------------===//
// SPDX-License-Identifier: MIT
#include "LaneTable.h"

#include <bitset>

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

using U = uint64_t;
using I = int64_t;

I s32(U v) { return int32_t(uint32_t(v)); }
I s16(U v) { return int16_t(uint16_t(v)); }
I s8(U v) { return int8_t(uint8_t(v)); }
I s24(U v) { return I(v << 40) >> 40; }
U u24(U v) { return v & 0xffffff; }
U clampTo(__int128 v, __int128 low, __int128 high) {
  return U(v < low ? low : v > high ? high : v);
}
U clampU32(__int128 v) { return clampTo(v, 0, 0xffffffff); }
U clampI32(__int128 v) { return clampTo(v, INT32_MIN, INT32_MAX); }
U sad(U a, U b, bool masked) {
  U sum = 0;
  for (int i = 0; i < 4; ++i) {
    I x = I(a >> 8 * i & 255), y = I(b >> 8 * i & 255);
    if (!masked || y)
      sum += U(x > y ? x - y : y - x);
  }
  return sum;
}

TEST(SemanticsInteger, OneSource) {
  runTable({{"v_mov_b32 v0, v1", 1, [](U a, U, U, U) { return a; }},
            {"v_not_b32 v0, v1", 1, [](U a, U, U, U) { return ~a; }},
            {"v_bfrev_b32 v0, v1", 1,
             [](U a, U, U, U) {
               U r = 0;
               for (int i = 0; i < 32; ++i)
                 r |= (a >> i & 1) << (31 - i);
               return r;
             }},
            {"v_ffbh_u32 v0, v1", 1,
             [](U a, U, U, U) {
               for (int i = 0; i < 32; ++i)
                 if (a >> (31 - i) & 1)
                   return U(i);
               return ~U(0);
             }},
            {"v_ffbl_b32 v0, v1", 1,
             [](U a, U, U, U) {
               for (int i = 0; i < 32; ++i)
                 if (a >> i & 1)
                   return U(i);
               return ~U(0);
             }},
            {"v_ffbh_i32 v0, v1", 1,
             [](U a, U, U, U) {
               for (int i = 1; i < 32; ++i)
                 if ((a >> (31 - i) & 1) != (a >> 31 & 1))
                   return U(i);
               return ~U(0);
             }},
            {"v_prng_b32 v0, v1", 1,
             [](U a, U, U, U) { return a << 1 ^ (a >> 31 & 1 ? 197 : 0); }},
            {"v_sat_pk_u8_i16 v0, v1", 1,
             [](U a, U, U, U) {
               return clampTo(s16(a), 0, 255) | clampTo(s16(a >> 16), 0, 255)
                                                    << 8;
             }},
            {"v_accvgpr_write_b32 a7, v1\n v_accvgpr_read_b32 v0, a7", 1,
             [](U, U, U, U old) { return old; }}},
           integerEdges());
}

TEST(SemanticsInteger, TwoSources) {
  runTable(
      {{"v_add_u32 v0, v1, v2", 2, [](U a, U b, U, U) { return a + b; }},
       {"v_add_u32_e64 v0, v1, v2 clamp", 2,
        [](U a, U b, U, U) { return clampU32(__int128(a) + b); }},
       {"v_sub_u32 v0, v1, v2", 2, [](U a, U b, U, U) { return a - b; }},
       {"v_sub_u32_e64 v0, v1, v2 clamp", 2,
        [](U a, U b, U, U) { return clampU32(__int128(a) - __int128(b)); }},
       {"v_subrev_u32 v0, v1, v2", 2, [](U a, U b, U, U) { return b - a; }},
       {"v_subrev_u32_e64 v0, v1, v2 clamp", 2,
        [](U a, U b, U, U) { return clampU32(__int128(b) - __int128(a)); }},
       {"v_add_i32 v0, v1, v2", 2, [](U a, U b, U, U) { return a + b; }},
       {"v_add_i32 v0, v1, v2 clamp", 2,
        [](U a, U b, U, U) { return clampI32(s32(a) + s32(b)); }},
       {"v_sub_i32 v0, v1, v2 clamp", 2,
        [](U a, U b, U, U) { return clampI32(s32(a) - s32(b)); }},
       {"v_and_b32 v0, v1, v2", 2, [](U a, U b, U, U) { return a & b; }},
       {"v_or_b32 v0, v1, v2", 2, [](U a, U b, U, U) { return a | b; }},
       {"v_xor_b32 v0, v1, v2", 2, [](U a, U b, U, U) { return a ^ b; }},
       {"v_xnor_b32 v0, v1, v2", 2, [](U a, U b, U, U) { return ~(a ^ b); }},
       {"v_lshlrev_b32 v0, v1, v2", 2,
        [](U a, U b, U, U) { return b << a % 32; }},
       {"v_lshrrev_b32 v0, v1, v2", 2,
        [](U a, U b, U, U) { return b >> a % 32; }},
       {"v_ashrrev_i32 v0, v1, v2", 2,
        [](U a, U b, U, U) { return U(s32(b) >> a % 32); }},
       {"v_min_u32 v0, v1, v2", 2,
        [](U a, U b, U, U) { return std::min(a, b); }},
       {"v_max_u32 v0, v1, v2", 2,
        [](U a, U b, U, U) { return std::max(a, b); }},
       {"v_min_i32 v0, v1, v2", 2,
        [](U a, U b, U, U) { return U(std::min(s32(a), s32(b))); }},
       {"v_max_i32 v0, v1, v2", 2,
        [](U a, U b, U, U) { return U(std::max(s32(a), s32(b))); }},
       {"v_mul_lo_u32 v0, v1, v2", 2, [](U a, U b, U, U) { return a * b; }},
       {"v_mul_hi_u32 v0, v1, v2", 2,
        [](U a, U b, U, U) { return a * b >> 32; }},
       {"v_mul_hi_i32 v0, v1, v2", 2,
        [](U a, U b, U, U) { return U(s32(a) * s32(b)) >> 32; }},
       {"v_mul_u32_u24 v0, v1, v2", 2,
        [](U a, U b, U, U) { return u24(a) * u24(b); }},
       {"v_mul_i32_i24 v0, v1, v2", 2,
        [](U a, U b, U, U) { return U(s24(a) * s24(b)); }},
       {"v_mul_hi_u32_u24 v0, v1, v2", 2,
        [](U a, U b, U, U) { return u24(a) * u24(b) >> 32; }},
       {"v_mul_hi_i32_i24 v0, v1, v2", 2,
        [](U a, U b, U, U) { return U(s24(a) * s24(b)) >> 32; }},
       {"v_bfm_b32 v0, v1, v2", 2,
        [](U a, U b, U, U) { return ((1ull << a % 32) - 1) << b % 32; }},
       {"v_bcnt_u32_b32 v0, v1, v2", 2,
        [](U a, U b, U, U) { return std::bitset<32>(a).count() + b; }},
       {"v_cvt_pk_u16_u32 v0, v1, v2", 2,
        [](U a, U b, U, U) {
          return std::min<U>(a, 0xffff) | std::min<U>(b, 0xffff) << 16;
        }},
       {"v_cvt_pk_i16_i32 v0, v1, v2", 2,
        [](U a, U b, U, U) {
          return (clampTo(s32(a), -32768, 32767) & 0xffff) |
                 clampTo(s32(b), -32768, 32767) << 16;
        }}},
      integerEdges());
}

TEST(SemanticsInteger, ThreeSources) {
  runTable(
      {{"v_add3_u32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return a + b + c; }},
       {"v_lshl_add_u32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return (a << b % 32) + c; }},
       {"v_add_lshl_u32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return (a + b) << c % 32; }},
       {"v_lshl_or_b32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return a << b % 32 | c; }},
       {"v_and_or_b32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return (a & b) | c; }},
       {"v_or3_b32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return a | b | c; }},
       {"v_xad_u32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return (a ^ b) + c; }},
       {"v_bfi_b32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return (a & b) | (~a & c); }},
       {"v_bfe_u32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return a >> b % 32 & ((1ull << c % 32) - 1); }},
       {"v_bfe_i32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) {
          U width = c % 32;
          if (!width)
            return U(0);
          U field = U(s32(a) >> b % 32) & ((1ull << width) - 1);
          return field >> (width - 1) & 1 ? field | ~U(0) << width : field;
        }},
       {"v_alignbit_b32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return (a << 32 | b) >> c % 32; }},
       {"v_alignbyte_b32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return (a << 32 | b) >> 8 * (c % 4); }},
       {"v_perm_b32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) {
          U data = a << 32 | b, r = 0;
          for (int i = 0; i < 4; ++i) {
            U sel = c >> 8 * i & 255, byte;
            if (sel > 12)
              byte = 255;
            else if (sel == 12)
              byte = 0;
            else if (sel >= 8)
              byte = data >> (16 * (sel - 8) + 15) & 1 ? 255 : 0;
            else
              byte = data >> 8 * sel & 255;
            r |= byte << 8 * i;
          }
          return r;
        }},
       {"v_mad_u32_u24 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return u24(a) * u24(b) + c; }},
       {"v_mad_u32_u24 v0, v1, v2, v3 clamp", 3,
        [](U a, U b, U c, U) {
          return clampU32(__int128(u24(a)) * u24(b) + c);
        }},
       {"v_mad_i32_i24 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return U(s24(a) * s24(b)) + c; }},
       {"v_mad_i32_i24 v0, v1, v2, v3 clamp", 3,
        [](U a, U b, U c, U) {
          return clampI32(__int128(s24(a)) * s24(b) + s32(c));
        }},
       {"v_min3_u32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return std::min({a, b, c}); }},
       {"v_max3_i32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return U(std::max({s32(a), s32(b), s32(c)})); }},
       {"v_min3_i32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return U(std::min({s32(a), s32(b), s32(c)})); }},
       {"v_max3_u32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return std::max({a, b, c}); }},
       {"v_med3_u32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) {
          U v[3] = {a, b, c};
          std::sort(v, v + 3);
          return v[1];
        }},
       {"v_med3_i32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) {
          I v[3] = {s32(a), s32(b), s32(c)};
          std::sort(v, v + 3);
          return U(v[1]);
        }},
       {"v_sad_u8 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return sad(a, b, false) + c; }},
       {"v_msad_u8 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return sad(a, b, true) + c; }},
       {"v_sad_hi_u8 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return (sad(a, b, false) << 16) + c; }},
       {"v_sad_u16 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) {
          auto d = [](U x, U y) { return x > y ? x - y : y - x; };
          return d(a & 0xffff, b & 0xffff) + d(a >> 16, b >> 16) + c;
        }},
       {"v_sad_u32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return (a > b ? a - b : b - a) + c; }},
       {"v_lerp_u8 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) {
          U r = 0;
          for (int i = 0; i < 32; i += 8)
            r |= ((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) / 2 << i;
          return r;
        }},
       {"v_bitop3_b32 v0, v1, v2, v3 bitop3:0x96", 3,
        [](U a, U b, U c, U) { return a ^ b ^ c; }},
       {"v_bitop3_b32 v0, v1, v2, v3 bitop3:0xca", 3,
        [](U a, U b, U c, U) { return (a & b) | (~a & c); }},
       {"v_bitop3_b32 v0, v1, v2, v3 bitop3:0x35", 3,
        [](U a, U b, U c, U) {
          U r = 0;
          for (int i = 0; i < 32; ++i)
            r |=
                U(0x35 >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) &
                  1)
                << i;
          return r;
        }},
       {"v_mad_u32_u16 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) { return (a & 0xffff) * (b & 0xffff) + c; }},
       {"v_mad_i32_i16 v0, v1, v2, v3 op_sel:[1,0,0,0]", 3,
        [](U a, U b, U c, U) { return U(s16(a >> 16) * s16(b)) + c; }},
       {"v_dot2_i32_i16 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) {
          return U(s16(a) * s16(b) + s16(a >> 16) * s16(b >> 16)) + c;
        }},
       {"v_dot4_i32_i8 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) {
          I sum = 0;
          for (int i = 0; i < 32; i += 8)
            sum += s8(a >> i) * s8(b >> i);
          return U(sum) + c;
        }},
       {"v_dot4_u32_u8 v0, v1, v2, v3 clamp", 3,
        [](U a, U b, U c, U) {
          U sum = c;
          for (int i = 0; i < 32; i += 8)
            sum += (a >> i & 255) * (b >> i & 255);
          return clampU32(sum);
        }},
       {"v_dot8_i32_i4 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) {
          I sum = 0;
          auto nibble = [](U v, int i) { return I(v >> i << 60) >> 60; };
          for (int i = 0; i < 32; i += 4)
            sum += nibble(a, i) * nibble(b, i);
          return U(sum) + c;
        }},
       {"v_dot4c_i32_i8 v0, v1, v2", 2,
        [](U a, U b, U, U old) {
          I sum = 0;
          for (int i = 0; i < 32; i += 8)
            sum += s8(a >> i) * s8(b >> i);
          return U(sum) + old;
        }},
       {"v_ashr_pk_i8_i32 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U old) {
          return (clampTo(s32(a) >> c % 32, -128, 127) & 255) |
                 (clampTo(s32(b) >> c % 32, -128, 127) & 255) << 8 |
                 (old & 0xffff0000);
        }}},
      integerEdges());
}

TEST(SemanticsInteger, SixteenBits) {
  runTable(
      {{"v_add_u16 v0, v1, v2", 2,
        [](U a, U b, U, U) { return (a + b) & 0xffff; }},
       {"v_add_u16_e64 v0, v1, v2 clamp", 2,
        [](U a, U b, U, U) {
          return clampTo(I(a & 0xffff) + I(b & 0xffff), 0, 0xffff);
        }},
       {"v_sub_u16 v0, v1, v2", 2,
        [](U a, U b, U, U) { return (a - b) & 0xffff; }},
       {"v_add_i16 v0, v1, v2 clamp", 2,
        [](U a, U b, U, U) {
          return clampTo(s16(a) + s16(b), -32768, 32767) & 0xffff;
        }},
       {"v_add_i16 v0, v1, v2 op_sel:[1,0,1]", 2,
        [](U a, U b, U, U old) {
          return (old & 0xffff) | (((a >> 16) + b) & 0xffff) << 16;
        }},
       {"v_mul_lo_u16 v0, v1, v2", 2,
        [](U a, U b, U, U) { return a * b & 0xffff; }},
       {"v_lshlrev_b16 v0, v1, v2", 2,
        [](U a, U b, U, U) { return b << a % 16 & 0xffff; }},
       {"v_ashrrev_i16 v0, v1, v2", 2,
        [](U a, U b, U, U) { return U(s16(b) >> a % 16) & 0xffff; }},
       {"v_min_i16 v0, v1, v2", 2,
        [](U a, U b, U, U) { return U(std::min(s16(a), s16(b))) & 0xffff; }},
       {"v_max_u16 v0, v1, v2", 2,
        [](U a, U b, U, U) { return std::max(a & 0xffff, b & 0xffff); }},
       {"v_mad_u16 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U old) {
          return ((a * b + c) & 0xffff) | (old & 0xffff0000);
        }},
       {"v_med3_i16 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) {
          I v[3] = {s16(a), s16(b), s16(c)};
          std::sort(v, v + 3);
          return U(v[1]) & 0xffff;
        }},
       {"v_pack_b32_f16 v0, v1, v2 op_sel:[0,1,0]", 2,
        [](U a, U b, U, U) { return (a & 0xffff) | (b >> 16) << 16; }},
       {"v_pk_add_u16 v0, v1, v2", 2,
        [](U a, U b, U, U) {
          return ((a + b) & 0xffff) | (((a >> 16) + (b >> 16)) & 0xffff) << 16;
        }},
       {"v_pk_add_i16 v0, v1, v2 op_sel:[1,0] op_sel_hi:[0,1] clamp", 2,
        [](U a, U b, U, U) {
          return (clampTo(s16(a >> 16) + s16(b), -32768, 32767) & 0xffff) |
                 (clampTo(s16(a) + s16(b >> 16), -32768, 32767) & 0xffff) << 16;
        }},
       {"v_pk_mul_lo_u16 v0, v1, v2", 2,
        [](U a, U b, U, U) {
          return (a * b & 0xffff) | ((a >> 16) * (b >> 16) & 0xffff) << 16;
        }},
       {"v_pk_mad_i16 v0, v1, v2, v3", 3,
        [](U a, U b, U c, U) {
          return ((a * b + c) & 0xffff) |
                 (((a >> 16) * (b >> 16) + (c >> 16)) & 0xffff) << 16;
        }},
       {"v_pk_lshlrev_b16 v0, v1, v2", 2,
        [](U a, U b, U, U) {
          return ((b & 0xffff) << a % 16 & 0xffff) |
                 ((b >> 16) << (a >> 16) % 16 & 0xffff) << 16;
        }},
       {"v_pk_ashrrev_i16 v0, v1, v2", 2,
        [](U a, U b, U, U) {
          return (U(s16(b) >> a % 16) & 0xffff) |
                 (U(s16(b >> 16) >> (a >> 16) % 16) & 0xffff) << 16;
        }},
       {"v_pk_max_i16 v0, v1, v2", 2,
        [](U a, U b, U, U) {
          return (U(std::max(s16(a), s16(b))) & 0xffff) |
                 (U(std::max(s16(a >> 16), s16(b >> 16))) & 0xffff) << 16;
        }}},
      integerEdges());
}

TEST(SemanticsInteger, SixtyFourBits) {
  std::vector<uint64_t> edges = {0,
                                 1,
                                 5,
                                 63,
                                 64,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 0x100000000,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xffffffffffffffff,
                                 0xdeadbeef12345678};
  runTable({{"v_lshl_add_u64 v[0:1], v[2:3], v4, v[6:7]", 3,
             [](U a, U b, U c, U) { return (a << b % 8) + c; }, 2},
            {"v_mov_b64 v[0:1], v[2:3]", 1, [](U a, U, U, U) { return a; }, 2}},
           edges, {2, 1, 2});
  runTable({{"v_lshlrev_b64 v[0:1], v2, v[4:5]", 2,
             [](U a, U b, U, U) { return b << a % 64; }, 2},
            {"v_lshrrev_b64 v[0:1], v2, v[4:5]", 2,
             [](U a, U b, U, U) { return b >> a % 64; }, 2},
            {"v_ashrrev_i64 v[0:1], v2, v[4:5]", 2,
             [](U a, U b, U, U) { return U(I(b) >> a % 64); }, 2}},
           edges, {1, 2, 1});
  runTable({{"v_mad_u64_u32 v[0:1], vcc, v2, v4, v[6:7]", 3,
             [](U a, U b, U c, U) {
               return (a & 0xffffffff) * (b & 0xffffffff) + c;
             },
             2},
            {"v_mad_i64_i32 v[0:1], vcc, v2, v4, v[6:7]", 3,
             [](U a, U b, U c, U) { return U(s32(a) * s32(b)) + c; }, 2}},
           edges, {1, 1, 2});
}

TEST(SemanticsInteger, CarriesGoToTheNamedRegister) {
  struct Line {
    const char *text;
    std::function<I(I a, I b, I carry)> exact;
    bool inverse; ///< the carry is a borrow
  };
  const Line lines[] = {
      {"v_add_co_u32 v0, vcc, v1, v2", [](I a, I b, I) { return a + b; },
       false},
      {"v_add_co_u32_e64 v0, s[10:11], v1, v2",
       [](I a, I b, I) { return a + b; }, false},
      {"v_sub_co_u32 v0, vcc, v1, v2", [](I a, I b, I) { return a - b; }, true},
      {"v_subrev_co_u32 v0, vcc, v1, v2", [](I a, I b, I) { return b - a; },
       true},
      {"v_addc_co_u32 v0, vcc, v1, v2, vcc",
       [](I a, I b, I c) { return a + b + c; }, false},
      {"v_subb_co_u32 v0, vcc, v1, v2, vcc",
       [](I a, I b, I c) { return a - b - c; }, true},
      {"v_subbrev_co_u32 v0, vcc, v1, v2, vcc",
       [](I a, I b, I c) { return b - a - c; }, true},
      {"v_addc_co_u32_e64 v0, s[10:11], v1, v2, s[12:13]",
       [](I a, I b, I c) { return a + b + c; }, false},
  };
  const auto &edges = integerEdges();
  for (const Line &line : lines) {
    SCOPED_TRACE(line.text);
    Sequence sequence({line.text});
    ASSERT_EQ(sequence.problem(0), "");
    bool toScalars =
        std::string(line.text).find("s[10:11]") != std::string::npos;
    Machine m;
    const uint64_t exec = 0xf0ffffff7ffffff5, carry = 0x123456789abcdef3;
    for (size_t i = 0; i < edges.size(); ++i) {
      m.wave.setExec(exec);
      m.wave.setVcc(carry);
      m.wave.setPair(12, carry);
      for (unsigned l = 0; l < 64; ++l) {
        m.v(1, l) = uint32_t(edges[i]);
        m.v(2, l) = uint32_t(edges[(l + i) % edges.size()]);
      }
      m.run(sequence[0]);
      uint64_t mask = 0;
      for (unsigned l = 0; l < 64; ++l) {
        if (!(exec >> l & 1))
          continue;
        I sum = line.exact(I(edges[i]), I(edges[(l + i) % edges.size()]),
                           carry >> l & 1);
        ASSERT_EQ(m.v(0, l), uint32_t(sum));
        mask |= U(line.inverse ? sum < 0 : sum > 0xffffffff) << l;
      }
      ASSERT_EQ(toScalars ? m.wave.pair(10) : m.wave.vcc(), mask);
    }
  }
}

TEST(SemanticsInteger, CountsOfMasksStopAtTheLane) {
  Sequence s({"v_mbcnt_lo_u32_b32 v0, s4, v1", "v_mbcnt_hi_u32_b32 v0, s4, v1",
              "v_mbcnt_lo_u32_b32 v0, -1, 0"});
  Machine m;
  m.s(4) = 0xdeadbeef;
  for (unsigned l = 0; l < 64; ++l)
    m.v(1, l) = 100 + l;
  m.run(s[0]);
  for (unsigned l = 0; l < 64; ++l) {
    U below = l >= 32 ? 0xffffffff : (1ull << l) - 1;
    EXPECT_EQ(m.v(0, l), 100 + l + std::bitset<32>(0xdeadbeef & below).count());
  }
  m.run(s[1]);
  for (unsigned l = 0; l < 64; ++l) {
    U below = l < 32 ? 0 : (1ull << (l - 32)) - 1;
    EXPECT_EQ(m.v(0, l), 100 + l + std::bitset<32>(0xdeadbeef & below).count());
  }
  m.run(s[2]);
  for (unsigned l = 0; l < 64; ++l)
    EXPECT_EQ(m.v(0, l), std::min(l, 32u));
}

// The driver must be able to fail.
TEST(SemanticsInteger, NegativeControl) {
  Machine m;
  Sequence s({"v_lshlrev_b32 v0, v1, v2"});
  m.v(1, 0) = 33;
  m.v(2, 0) = 1;
  m.run(s[0]);
  EXPECT_NE(m.v(0, 0), 0u) << "shift counts are taken modulo 32";
  EXPECT_EQ(m.v(0, 0), 2u);
}

} // namespace
