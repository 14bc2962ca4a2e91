//===- ProgramsChains.cpp - One result straight into the next ------------===//
// SPDX-License-Identifier: MIT
//
// Instructions that use each other's results as soon as the compiler lets them:
// dot products, matrix instructions of several kinds on one accumulator,
// results that fill a register in parts. All numbers are small integers, so
// that the bits are the host's whatever the arithmetic model.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

namespace netra::sim::test {

namespace {

/// Codes of 0 to 4 in a format, and the bit of its sign.
struct SmallCodes {
  uint32_t codes[5], sign;
  uint32_t operator()(int value) const {
    return codes[value < 0 ? -value : value] | (value < 0 ? sign : 0);
  }
};
constexpr SmallCodes F16 = {{0, 0x3c00, 0x4000, 0x4200, 0x4400}, 0x8000};
constexpr SmallCodes Bf16 = {{0, 0x3f80, 0x4000, 0x4040, 0x4080}, 0x8000};
constexpr SmallCodes Fp8 = {{0, 0x38, 0x40, 0x44, 0x48}, 0x80};
constexpr SmallCodes Fp4 = {{0, 2, 4, 5, 6}, 8};

std::vector<uint16_t> coded(const SmallCodes &format,
                            const std::vector<int> &values) {
  std::vector<uint16_t> codes;
  for (int value : values)
    codes.push_back(uint16_t(format(value)));
  return codes;
}

Program dotChains() {
  return {"dot_chains", R"(
kernel void dot_chains(global const f16x2 *h, global const int *w,
                       global float *sums, global int *bytes,
                       global uint *nibbles, global float *tile) {
  float s = 1;
  int q = 7;
  uint u = 5;
  for (int k = 0; k < 8; ++k)
    s = __builtin_amdgcn_fdot2(h[LID + k], h[LID + 2 * k + 1], s, 0);
  for (int k = 0; k < 8; ++k)
    q = __builtin_amdgcn_sdot4(w[LID + k], w[LID + 2 * k + 1], q, 0);
  for (int k = 0; k < 4; ++k)
    u = __builtin_amdgcn_udot8(w[LID + k], w[LID + k + 9], u, 0);
  sums[LID] = s;
  bytes[LID] = q;
  nibbles[LID] = u;
  s = __builtin_amdgcn_fdot2(h[LID], h[LID + 1], s, 0);
  f32x4 acc = {1, 2, 3, 4};
  acc = __builtin_amdgcn_mfma_f32_16x16x4f32(s, 1.0f, acc, 0, 0, 0);
  for (int i = 0; i < 4; ++i)
    tile[(4 * (LID / 16) + i) * 16 + LID % 16] = acc[i];
}
)",
          [] {
            Noise noise(31);
            const auto h = noise.range<int>(2 * 80, -4, 4);
            const auto w = noise.all<uint32_t>(80);
            std::vector<float> sums(64), tile(256);
            std::vector<int32_t> bytes(64);
            std::vector<uint32_t> nibbles(64);
            int last[64];
            for (int i = 0; i < 64; ++i) {
              auto dot = [&](int a, int b) {
                return h[2 * a] * h[2 * b] + h[2 * a + 1] * h[2 * b + 1];
              };
              int s = 1;
              uint32_t q = 7, u = 5;
              for (int k = 0; k < 8; ++k)
                s += dot(i + k, i + 2 * k + 1);
              for (int k = 0; k < 8; ++k)
                for (int byte = 0; byte < 32; byte += 8)
                  q += uint32_t(int8_t(w[i + k] >> byte) *
                                int8_t(w[i + 2 * k + 1] >> byte));
              for (int k = 0; k < 4; ++k)
                for (int bit = 0; bit < 32; bit += 4)
                  u += (w[i + k] >> bit & 15) * (w[i + k + 9] >> bit & 15);
              sums[i] = float(s);
              bytes[i] = int32_t(q);
              nibbles[i] = u;
              last[i] = s + dot(i, i + 1);
            }
            // Lane 16 k + m gives A[m][k]; B is 1.
            for (int m = 0; m < 16; ++m)
              for (int n = 0; n < 16; ++n)
                tile[m * 16 + n] = float(m % 4 + 1 + last[m] + last[16 + m] +
                                         last[32 + m] + last[48 + m]);
            return ProgramCase(1, 64)
                .in(coded(F16, h))
                .in(w)
                .out(sums)
                .out(bytes)
                .out(nibbles)
                .out(tile);
          }};
}

Program sharedAccumulator() {
  // Formats and numbers of passes change from one instruction to the next.
  return {"shared_accumulator", R"(
kernel void shared_accumulator(global const f16x8 *a, global const f16x8 *b,
                               global const bf16x8 *c, global const bf16x8 *d,
                               global const float *e, global float *out,
                               global float *small) {
  int r = LID % 16, g = LID / 16;
  f16x8 x = a[r * 4 + g], y = b[r * 4 + g];
  bf16x8 z = c[r * 4 + g], w = d[r * 4 + g];
  f32x4 acc = {1, 2, 3, 4};
  acc = __builtin_amdgcn_mfma_f32_16x16x32_f16(x, y, acc, 0, 0, 0);
  acc = __builtin_amdgcn_mfma_f32_16x16x32_bf16(z, w, acc, 0, 0, 0);
  acc = __builtin_amdgcn_mfma_f32_16x16x4f32(e[LID], 1.0f, acc, 0, 0, 0);
  acc = __builtin_amdgcn_mfma_f32_16x16x32_f16(x, y, acc, 0, 0, 0);
  i32x8 eight = 0x38383838, four = 0x22222222;
  acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(eight, eight, acc, 0,
                                                         0, 0, 127, 0, 127);
  acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(four, four, acc, 4, 4,
                                                         0, 127, 0, 127);
  acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(eight, eight, acc, 0,
                                                         0, 0, 127, 0, 127);
  for (int i = 0; i < 4; ++i) out[(4 * g + i) * 16 + r] = acc[i];
  // Sixteen products of 4x4 matrices; A and B are ones.
  f16x4 one = 1;
  f32x4 t = {e[LID], 2, 3, 4};
  t = __builtin_amdgcn_mfma_f32_4x4x1f32(1.0f, 1.0f, t, 0, 0, 0);
  t = __builtin_amdgcn_mfma_f32_4x4x4f16(one, one, t, 0, 0, 0);
  t = __builtin_amdgcn_mfma_f32_4x4x1f32(1.0f, 1.0f, t, 0, 0, 0);
  for (int i = 0; i < 4; ++i) small[LID * 4 + i] = t[i];
}
)",
          [] {
            Noise noise(32);
            const auto a = noise.range<int>(512, -4, 4),
                       b = noise.range<int>(512, -4, 4),
                       c = noise.range<int>(512, -4, 4),
                       d = noise.range<int>(512, -4, 4);
            const auto e = noise.range<float>(64, -4, 4);
            std::vector<float> out(256), small(256);
            for (int m = 0; m < 16; ++m)
              for (int n = 0; n < 16; ++n) {
                double sum = m % 4 + 1 + 3 * 128;
                for (int k = 0; k < 32; ++k)
                  sum += 2 * a[m * 32 + k] * b[n * 32 + k] +
                         c[m * 32 + k] * d[n * 32 + k];
                for (int k = 0; k < 4; ++k)
                  sum += double(e[16 * k + m]);
                out[m * 16 + n] = float(sum);
              }
            for (int lane = 0; lane < 64; ++lane)
              for (int i = 0; i < 4; ++i)
                small[lane * 4 + i] = (i ? float(i + 1) : e[lane]) + 1 + 4 + 1;
            return ProgramCase(1, 64)
                .in(coded(F16, a))
                .in(coded(F16, b))
                .in(coded(Bf16, c))
                .in(coded(Bf16, d))
                .in(e)
                .out(out)
                .out(small);
          }};
}

Program reusedAccumulator() {
  // What was SrcC is overwritten while the product is under way. A and B are
  // ones, so that each result is its SrcC plus the depth.
  return {"reused_accumulator", R"(
kernel void reused_accumulator(global const f32x4 *a, global const f32x16 *b,
                               global const f64x4 *c, global f32x4 *x,
                               global f32x16 *y, global f64x4 *z,
                               global f32x4 *w) {
  f32x4 s = a[LID];
  f32x4 p = __builtin_amdgcn_mfma_f32_16x16x4f32(1.0f, 1.0f, s, 0, 0, 0);
  s = s * 2.0f + 1.0f;
  x[LID] = s + p;
  f32x16 t = b[LID];
  f32x16 q = __builtin_amdgcn_mfma_f32_32x32x2f32(1.0f, 1.0f, t, 0, 0, 0);
  t = t * 2.0f + 1.0f;
  y[LID] = t + q;
  f64x4 d = c[LID];
  f64x4 e = __builtin_amdgcn_mfma_f64_16x16x4f64(1.0, 1.0, d, 0, 0, 0);
  e = __builtin_amdgcn_mfma_f64_16x16x4f64(1.0, 1.0, e, 0, 0, 0);
  d = d * 2.0 + 1.0;
  z[LID] = d + e;
  f16x8 one = 1;
  f32x4 u = a[LID];
  f32x4 v = __builtin_amdgcn_mfma_f32_16x16x32_f16(one, one, u, 0, 0, 0);
  u = u * 2.0f + 1.0f;
  w[LID] = u + v;
}
)",
          [] {
            Noise noise(33);
            const auto a = noise.range<float>(256, -50, 50),
                       b = noise.range<float>(1024, -50, 50);
            const auto c = noise.range<double>(256, -50, 50);
            auto expected = [](auto values, int depth) {
              for (auto &value : values)
                value = value * 3 + 1 + depth;
              return values;
            };
            return ProgramCase(1, 64)
                .in(a)
                .in(b)
                .in(c)
                .out(expected(a, 4))
                .out(expected(b, 2))
                .out(expected(c, 8))
                .out(expected(a, 32));
          }};
}

Program registerParts() {
  // Halves and bytes of one register, each kept by the next. Rounding at random
  // changes no number that the format holds.
  return {"register_parts", R"(
kernel void register_parts(global const f32x4 *in, global uint *packed,
                           global uint *random, global uint *nibbles,
                           global uint *halves) {
  f32x4 x = in[LID];
  int p = __builtin_amdgcn_cvt_pk_fp8_f32(x[0], x[1], 0, 0);
  p = __builtin_amdgcn_cvt_pk_fp8_f32(x[2], x[3], p, 1);
  packed[LID] = p + 1;
  int q = __builtin_amdgcn_cvt_sr_fp8_f32(x[0], LID * 77777, 0, 0);
  q = __builtin_amdgcn_cvt_sr_fp8_f32(x[1], LID * 77777, q, 1);
  q = __builtin_amdgcn_cvt_sr_fp8_f32(x[2], LID * 77777, q, 2);
  q = __builtin_amdgcn_cvt_sr_fp8_f32(x[3], LID * 77777, q, 3);
  random[LID] = q + 1;
  uint n = 0;
  n = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(n, x[0], x[1], 1.0f, 0);
  n = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(n, x[1], x[2], 1.0f, 1);
  n = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(n, x[2], x[3], 1.0f, 2);
  n = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(n, x[3], x[0], 1.0f, 3);
  nibbles[LID] = n + 1;
  f16x2 h = 0;
  h = __builtin_amdgcn_cvt_scalef32_f16_fp8(h, p, 1.0f, 3, 0);
  h = __builtin_amdgcn_cvt_scalef32_f16_fp8(h, p, 1.0f, 1, 1);
  halves[LID] = __builtin_astype(h, uint) + 1;
}
)",
          [] {
            Noise noise(34);
            const auto x = noise.range<int>(256, -4, 4);
            std::vector<uint32_t> bytes(64), nibbles(64), halves(64);
            for (int i = 0; i < 64; ++i) {
              const int *v = &x[4 * i];
              for (int k = 0; k < 4; ++k) {
                bytes[i] |= Fp8(v[k]) << 8 * k;
                nibbles[i] |= (Fp4(v[k]) | Fp4(v[(k + 1) % 4]) << 4) << 8 * k;
              }
              halves[i] = (F16(v[3]) | F16(v[1]) << 16) + 1;
              ++bytes[i];
              ++nibbles[i];
            }
            return ProgramCase(1, 64)
                .in(std::vector<float>(x.begin(), x.end()))
                .out(bytes)
                .out(bytes)
                .out(nibbles)
                .out(halves);
          }};
}

Program wideExchanges() {
  // Each lane tries its own place; what it offered is overwritten at once.
  return {"wide_exchanges", R"(
kernel void wide_exchanges(global ulong *place, global ulong *seen) {
  ulong expected = 5, offered = (ulong)LID << 32 | 9;
  __scoped_atomic_compare_exchange_n(&place[LID], &expected, offered, 0,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                     __MEMORY_SCOPE_DEVICE);
  offered = offered * 3 + 1;
  __scoped_atomic_compare_exchange_n(&place[64 + LID], &offered, expected, 0,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                     __MEMORY_SCOPE_DEVICE);
  seen[LID] = expected + offered;
}
)",
          [] {
            std::vector<uint64_t> place(128), after, seen(64);
            for (uint64_t i = 0; i < 64; ++i) {
              place[i] = i % 3 ? 5 : i;
              place[64 + i] = i % 2 ? (i << 32 | 9) * 3 + 1 : i + 100;
            }
            after = place;
            for (uint64_t i = 0; i < 64; ++i) {
              if (place[i] == 5)
                after[i] = i << 32 | 9;
              if (i % 2)
                after[64 + i] = place[i];
              seen[i] = place[i] + place[64 + i];
            }
            return ProgramCase(1, 64).inout(place, after).out(seen);
          }};
}

} // namespace

Theme chainPrograms() {
  return {"chains",
          R"(
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef half f16x2 __attribute__((ext_vector_type(2)));
typedef half f16x4 __attribute__((ext_vector_type(4)));
typedef half f16x8 __attribute__((ext_vector_type(8)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef double f64x4 __attribute__((ext_vector_type(4)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
)",
          {dotChains(), sharedAccumulator(), reusedAccumulator(),
           registerParts(), wideExchanges()}};
}

} // namespace netra::sim::test
