//===- ProgramsLane.cpp - Lane crossing, buffers, packed conversions -----===//
// SPDX-License-Identifier: MIT

#include "Programs.h"
#include <algorithm>
#include <bit>
#include <numeric>

namespace netra::sim::test {

static Program permutes() {
  return {"permutes", R"(
kernel void permutes(global const int *a, global int *out) {
  int v = a[LID];
  out[LID] = __builtin_amdgcn_ds_permute((LID * 5 + 3) * 4, v);
  out[64 + LID] = __builtin_amdgcn_ds_bpermute((LID * 7 + 1) * 4, v);
  out[128 + LID] = __builtin_amdgcn_ds_swizzle(v, 0x041f); // xor 1
  out[192 + LID] = __builtin_amdgcn_ds_swizzle(v, 0x801b); // quad reversed
  out[256 + LID] = __builtin_amdgcn_ds_swizzle(v, 0xc0a0); // rotated by 5
}
)",
          [] {
            auto a = Noise(1).all<int32_t>(64);
            std::vector<int32_t> out(320);
            for (int i = 0; i < 64; ++i) {
              out[(i * 5 + 3) % 64] = a[i];
              out[64 + i] = a[(i * 7 + 1) % 64];
              out[128 + i] = a[i ^ 1];
              out[192 + i] = a[i ^ 3];
              out[256 + i] = a[(i & 32) | ((i + 5) & 31)];
            }
            return ProgramCase(1, 64).in(a).out(out);
          }};
}

static Program dppScan() {
  return {"dpp_scan", R"(
kernel void dpp_scan(global const int *a, global int *out) {
  // The inclusive sum over a row of 16, then rows joined by broadcasts.
  int v = a[LID], s = v;
  s += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, false);
  s += __builtin_amdgcn_update_dpp(0, v, 0x112, 0xf, 0xf, false);
  s += __builtin_amdgcn_update_dpp(0, v, 0x113, 0xf, 0xf, false);
  s += __builtin_amdgcn_update_dpp(0, s, 0x114, 0xf, 0xe, false);
  s += __builtin_amdgcn_update_dpp(0, s, 0x118, 0xf, 0xc, false);
  s += __builtin_amdgcn_update_dpp(0, s, 0x142, 0xa, 0xf, false);
  s += __builtin_amdgcn_update_dpp(0, s, 0x143, 0xc, 0xf, false);
  out[LID] = s;
  // Quad permutation, row mirror, half mirror, row rotation.
  out[64 + LID] = __builtin_amdgcn_mov_dpp(v, 0x4e, 0xf, 0xf, true) ^
                  __builtin_amdgcn_mov_dpp(v, 0x140, 0xf, 0xf, true) * 3;
  out[128 + LID] = __builtin_amdgcn_mov_dpp(v, 0x141, 0xf, 0xf, true) -
                   __builtin_amdgcn_mov_dpp(v, 0x123, 0xf, 0xf, true);
}
)",
          [] {
            auto a = Noise(2).range<int32_t>(64, -9999, 9999);
            std::vector<int32_t> out(192);
            std::partial_sum(a.begin(), a.end(), out.begin());
            for (int i = 0; i < 64; ++i) {
              const int row = i & ~15;
              out[64 + i] = a[i ^ 2] ^ a[row + 15 - i % 16] * 3;
              out[128 + i] = a[i ^ 7] - a[row + (i + 13) % 16];
            }
            return ProgramCase(1, 64).in(a).out(out);
          }};
}

static Program laneReads() {
  return {"lane_reads", R"(
kernel void lane_reads(global const int *a, global int *out) {
  int v = a[LID], sum = 0;
  for (int k = 0; k < 64; k += 9)
    sum += __builtin_amdgcn_readlane(v, k) * (k + 1);
  int first = __builtin_amdgcn_readfirstlane(v), third = -1;
  if (LID % 3 == 2) third = __builtin_amdgcn_readfirstlane(v);
  out[LID] = sum + first + third;
  // A loop over the distinct values of the wave.
  int key = v & 7, count = 0;
  for (ulong left = ~0ul; left;) {
    int leader = __builtin_amdgcn_readlane(key, __builtin_ctzll(left));
    ulong same = __builtin_amdgcn_ballot_w64(key == leader);
    if (key == leader) count = __builtin_popcountll(same);
    left &= ~same;
  }
  out[64 + LID] = count;
}
)",
          [] {
            auto a = Noise(3).range<int32_t>(64, -500, 500);
            std::vector<int32_t> out(128);
            int sum = 0;
            for (int k = 0; k < 64; k += 9)
              sum += a[k] * (k + 1);
            for (int i = 0; i < 64; ++i) {
              out[i] = sum + a[0] + (i % 3 == 2 ? a[2] : -1);
              out[64 + i] =
                  int32_t(std::count_if(a.begin(), a.end(), [&](int32_t v) {
                    return (v & 7) == (a[i] & 7);
                  }));
            }
            return ProgramCase(1, 64).in(a).out(out);
          }};
}

static Program laneSwaps() {
  return {"lane_swaps", R"(
typedef uint uint2v __attribute__((ext_vector_type(2)));
kernel void lane_swaps(global const uint *a, global uint *out) {
  uint x = a[LID], y = a[64 + LID];
  uint2v p = __builtin_amdgcn_permlane32_swap(x, y, false, false);
  uint2v q = __builtin_amdgcn_permlane16_swap(x, y, false, false);
  out[LID] = p.x;
  out[64 + LID] = p.y;
  out[128 + LID] = q.x;
  out[192 + LID] = q.y;
}
)",
          [] {
            auto a = Noise(4).all<uint32_t>(128);
            std::vector<uint32_t> out(256);
            for (int i = 0; i < 64; ++i) {
              // The upper half of the first and the lower one of the second
              // change places; the same for odd and even rows of 16.
              out[i] = i < 32 ? a[i] : a[64 + i - 32];
              out[64 + i] = i < 32 ? a[i + 32] : a[64 + i];
              out[128 + i] = i & 16 ? a[64 + i - 16] : a[i];
              out[192 + i] = i & 16 ? a[64 + i] : a[i + 16];
            }
            return ProgramCase(1, 64).in(a).out(out);
          }};
}

static Program byteOperations() {
  return {"byte_operations", R"(
kernel void byte_operations(global const uint *a, global uint *out) {
  uint x = a[LID], y = a[64 + LID], z = a[128 + LID];
  out[LID] = __builtin_amdgcn_perm(x, y, 0x0c030005);
  out[64 + LID] = __builtin_amdgcn_alignbyte(x, y, 3);
  out[128 + LID] = __builtin_amdgcn_alignbit(x, y, LID);
  out[192 + LID] = __builtin_amdgcn_sad_u8(x, y, z);
  out[256 + LID] = __builtin_amdgcn_ubfe(x, LID & 31, 9) ^
                   (uint)__builtin_amdgcn_sbfe((int)y, 7, LID & 15);
  out[320 + LID] = __builtin_amdgcn_lerp(x, y, 0x01000101);
  out[384 + LID] = (uint)__builtin_amdgcn_sdot4((int)x, (int)y, (int)z, false);
  out[448 + LID] = __builtin_amdgcn_udot4(x, y, z, true);
}
)",
          [] {
            auto a = Noise(5).all<uint32_t>(192);
            std::vector<uint32_t> out(512);
            for (uint32_t i = 0; i < 64; ++i) {
              const uint32_t x = a[i], y = a[64 + i], z = a[128 + i];
              const uint64_t both = uint64_t(x) << 32 | y;
              auto byte = [](uint64_t v, int k) {
                return uint32_t(v >> 8 * k & 255);
              };
              out[i] = byte(both, 5) | byte(both, 0) << 8 | byte(both, 3) << 16;
              out[64 + i] = uint32_t(both >> 24);
              out[128 + i] = uint32_t(both >> (i & 31));
              uint32_t sad = z, lerp = 0;
              int64_t dot = int32_t(z);
              uint64_t plain = z;
              for (int k = 0; k < 4; ++k) {
                const int32_t p = int32_t(byte(x, k)), q = int32_t(byte(y, k));
                sad += uint32_t(std::abs(p - q));
                lerp |= uint32_t((p + q + (k != 2)) / 2) << 8 * k;
                dot += int64_t(int8_t(p)) * int8_t(q);
                plain += uint64_t(p) * uint64_t(q);
              }
              out[192 + i] = sad;
              const uint32_t width = i & 15;
              const int32_t field =
                  width ? int32_t(y << (32 - 7 - width)) >> (32 - width) : 0;
              out[256 + i] = (x >> (i & 31) & 511) ^ uint32_t(field);
              out[320 + i] = lerp;
              out[384 + i] = uint32_t(dot);
              out[448 + i] = uint32_t(std::min<uint64_t>(plain, UINT32_MAX));
            }
            return ProgramCase(1, 64).in(a).out(out);
          }};
}

static Program buffers() {
  return {"buffers", R"(
typedef uint uint4v __attribute__((ext_vector_type(4)));
kernel void buffers(global const uint *a, global uint *out) {
  // Descriptors whose size stops before the memory does.
  __amdgpu_buffer_rsrc_t from = __builtin_amdgcn_make_buffer_rsrc(
                             (global void *)a, 0, 1000, 0x27000),
                         to = __builtin_amdgcn_make_buffer_rsrc(
                             (global void *)out, 0, 2000, 0x27000);
  int at = GRP * 64 + LID;
  uint v = __builtin_amdgcn_raw_buffer_load_b32(from, at * 4, 64, 0);
  uint4v w = __builtin_amdgcn_raw_buffer_load_b128(from, LID * 16, 0, 0);
  ushort h = __builtin_amdgcn_raw_buffer_load_b16(from, at * 2, 10, 0);
  __builtin_amdgcn_raw_buffer_store_b32(v + w.x + w.y * 3 + w.z + w.w + h, to,
                                        at * 4, 1200, 0);
}
)",
          [] {
            auto a = Noise(6).all<uint32_t>(400);
            // Loads beyond the size give zero, stores beyond it do nothing.
            auto word = [&](uint32_t byte) {
              return byte + 4 <= 1000 ? a[byte / 4] : 0u;
            };
            std::vector<uint32_t> before(700, 77), out = before;
            for (uint32_t i = 0; i < 256; ++i) {
              const uint32_t lane = i % 64, half = i * 2 + 10;
              uint32_t v = word(i * 4 + 64);
              const uint32_t factors[] = {1, 3, 1, 1};
              for (uint32_t k = 0; k < 4; ++k)
                v += word(lane * 16 + 4 * k) * factors[k];
              v += half + 2 <= 1000 ? a[half / 4] >> half % 4 * 8 & 0xffff : 0;
              if (i * 4 + 1200 + 4 <= 2000)
                out[300 + i] = v;
            }
            return ProgramCase(4, 64).in(a).inout(before, out);
          }};
}

static Program packedSingles() {
  return {"packed_singles", R"(
typedef float float2v __attribute__((ext_vector_type(2)));
kernel void packed_singles(global const float2v *a, global float2v *out) {
  float2v x = a[LID], y = a[64 + LID];
  float2v s = x + y, p = x * y.yx, f = __builtin_elementwise_fma(x, y, s);
  for (int k = 0; k < 3; ++k) f = __builtin_elementwise_fma(f, (float2v)0.5f, p);
  out[LID] = s;
  out[64 + LID] = f;
}
)",
          [] {
            auto a = Noise(7).range<float>(256, -64, 64);
            std::vector<float> out(256);
            for (int lane = 0; lane < 64; ++lane)
              for (int k = 0; k < 2; ++k) {
                const int i = 2 * lane + k;
                const double x = double(a[i]), y = double(a[128 + i]),
                             p = x * double(a[128 + (i ^ 1)]);
                double f = x * y + x + y;
                for (int step = 0; step < 3; ++step)
                  f = f * 0.5 + p;
                out[i] = float(x + y);
                out[128 + i] = float(f);
              }
            return ProgramCase(1, 64).in(a).out(out);
          }};
}

static Program smallFloats() {
  return {
      "small_floats", R"(
typedef float float2v __attribute__((ext_vector_type(2)));
kernel void small_floats(global const float *a, global uint *codes,
                         global float *back) {
  // Quantizes to FP8 and BF8 with saturation by hand, and back.
  float x = __builtin_amdgcn_fmed3f(a[2 * LID], -448.0f, 448.0f),
        y = __builtin_amdgcn_fmed3f(a[2 * LID + 1], -448.0f, 448.0f);
  int c = __builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0, false);
  c = __builtin_amdgcn_cvt_pk_bf8_f32(x, y, c, true);
  codes[LID] = c;
  float2v p = __builtin_amdgcn_cvt_pk_f32_fp8(c, false),
          q = __builtin_amdgcn_cvt_pk_f32_bf8(c, true);
  back[4 * LID] = p.x;
  back[4 * LID + 1] = p.y;
  back[4 * LID + 2] = q.x + __builtin_amdgcn_cvt_f32_fp8(c, 0);
  back[4 * LID + 3] = q.y - __builtin_amdgcn_cvt_f32_bf8(c, 3);
}
)",
      [] {
        Noise noise(8);
        auto a = noise.range<float>(128, -32000, 32000, 1 / 64.0);
        for (int i = 0; i < 64; ++i)
          a[i] = std::ldexp(a[i], -i / 4);
        a[64] = 1e9f;
        a[65] = -449;
        a[66] = 0;
        // Nearest by trying all codes; ties to the even code.
        auto value = [](int code, int mantissa) {
          const int exponent = (code & 127) >> mantissa,
                    rest = code & ((1 << mantissa) - 1),
                    bias = mantissa == 3 ? 7 : 15;
          const double size = exponent ? std::ldexp(rest + (1 << mantissa),
                                                    exponent - bias - mantissa)
                                       : std::ldexp(rest, 1 - bias - mantissa);
          return code & 128 ? -size : size;
        };
        auto nearest = [&](double v, int mantissa) {
          int best = 0;
          for (int code = 0; code < (mantissa == 3 ? 127 : 124); ++code) {
            const double d = std::fabs(value(code, mantissa) - std::fabs(v)),
                         e = std::fabs(value(best, mantissa) - std::fabs(v));
            if (d < e || (d == e && !(code & 1)))
              best = code;
          }
          return best | (std::signbit(v) ? 128 : 0);
        };
        std::vector<uint32_t> codes;
        std::vector<float> back;
        for (int i = 0; i < 64; ++i) {
          int c[4];
          for (int k = 0; k < 4; ++k)
            c[k] = nearest(
                std::min(448.0, std::max(-448.0, double(a[2 * i + k % 2]))),
                k < 2 ? 3 : 2);
          codes.push_back(uint32_t(c[0] | c[1] << 8 | c[2] << 16) |
                          uint32_t(c[3]) << 24);
          back.push_back(float(value(c[0], 3)));
          back.push_back(float(value(c[1], 3)));
          back.push_back(float(value(c[2], 2) + value(c[0], 3)));
          back.push_back(0);
        }
        return ProgramCase(1, 64).in(a).out(codes).out(back);
      }};
}

static Program directToLds() {
  return {"direct_to_lds", R"(
kernel void direct_to_lds(global const uint *a, global uint *out) {
  local uint s[256];
  int wave = LID / 64, lane = LID % 64;
  // A load writes the lanes' words one after the other.
  __builtin_amdgcn_global_load_lds(a + GRP * 256 + wave * 64 + (lane ^ 5),
                                   s + wave * 64, 4, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  BARRIER;
  out[GRP * 256 + LID] = s[255 - LID] + s[LID];
}
)",
          [] {
            auto a = Noise(9).all<uint32_t>(512);
            std::vector<uint32_t> out(512);
            for (int i = 0; i < 512; ++i)
              out[i] = a[i / 256 * 256 + ((255 - i % 256) ^ 5)] + a[i ^ 5];
            return ProgramCase(2, 256).in(a).out(out);
          }};
}

static Program transposingRead() {
  return {"transposing_read", R"(
typedef short short4v __attribute__((ext_vector_type(4)));
kernel void transposing_read(global const short4v *a, global short4v *out) {
  local short4v s[64];
  s[LID] = a[LID];
  BARRIER;
  out[LID] = __builtin_amdgcn_ds_read_tr16_b64_v4i16(s + LID);
}
)",
          [] {
            auto a = Noise(10).all<uint16_t>(256);
            std::vector<uint16_t> out(256);
            // Of each 16 lanes' tile of 4 rows, lane c takes column c.
            for (int lane = 0; lane < 64; ++lane)
              for (int row = 0; row < 4; ++row)
                out[lane * 4 + row] = a[lane / 16 * 64 + row * 16 + lane % 16];
            return ProgramCase(1, 64).in(a).out(out);
          }};
}

Theme lanePrograms() {
  return {"lane",
          "",
          {permutes(), dppScan(), laneReads(), laneSwaps(), byteOperations(),
           buffers(), packedSingles(), smallFloats(), directToLds(),
           transposingRead()}};
}

} // namespace netra::sim::test
