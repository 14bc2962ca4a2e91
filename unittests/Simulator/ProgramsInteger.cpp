//===- ProgramsInteger.cpp - Integer, 64-bit and bit-field programs ------===//
// SPDX-License-Identifier: MIT

#include "Programs.h"
#include "gtest/gtest.h"
#include <algorithm>

namespace netra::sim::test {

static Program wideIntegers() {
  return {"wide_integers", R"(
kernel void wide_integers(global const ulong *a, global ulong *p,
                          global long *q) {
  int i = LID;
  ulong x = a[i], y = a[(i + 1) & 63];
  p[i] = (x * y) ^ (x >> (y & 63)) ^ (x << (i & 63)) ^ (x / (y | 1));
  long s = (long)x, t = (long)(y | 1) >> (i & 31);
  q[i] = s % t + (s >> (i & 63)) + (s < t ? -s : t) + (long)(int)x * (int)y;
}
)",
          [] {
            auto a = Noise(1).all<uint64_t>(64);
            std::vector<uint64_t> p;
            std::vector<int64_t> q;
            for (unsigned i = 0; i < 64; ++i) {
              const uint64_t x = a[i], y = a[(i + 1) & 63];
              p.push_back((x * y) ^ (x >> (y & 63)) ^ (x << (i & 63)) ^
                          (x / (y | 1)));
              const int64_t s = int64_t(x), t = int64_t(y | 1) >> (i & 31);
              q.push_back(
                  int64_t(uint64_t(s % t) + uint64_t(s >> (i & 63)) +
                          (s < t ? 0 - x : uint64_t(t)) +
                          uint64_t(int64_t(int32_t(x)) * int64_t(int32_t(y)))));
            }
            return ProgramCase(1, 64).in(a).out(p).out(q);
          }};
}

static Program bigNumbers() {
  return {"big_numbers", R"(
kernel void big_numbers(global const uint *a, global uint *out) {
  // The square of a 256-bit number, by columns with carries.
  uint x[8], r[16];
  for (int k = 0; k < 8; ++k) x[k] = a[LID * 8 + k];
  for (int k = 0; k < 16; ++k) r[k] = 0;
  for (int i = 0; i < 8; ++i) {
    ulong carry = 0;
    for (int j = 0; j < 8; ++j) {
      carry += (ulong)x[i] * x[j] + r[i + j];
      r[i + j] = (uint)carry;
      carry >>= 32;
    }
    r[i + 8] = (uint)carry;
  }
  for (int k = 0; k < 16; ++k) out[LID * 16 + k] = r[k];
}
)",
          [] {
            auto a = Noise(2).all<uint32_t>(64 * 8);
            std::fill(a.begin(), a.begin() + 8, ~0u);
            std::vector<uint32_t> out;
            for (int lane = 0; lane < 64; ++lane) {
              unsigned __int128 column = 0;
              for (int k = 0; k < 16; ++k) {
                for (int i = std::max(0, k - 7); i <= std::min(k, 7); ++i)
                  column += uint64_t(a[lane * 8 + i]) * a[lane * 8 + k - i];
                out.push_back(uint32_t(column));
                column >>= 32;
              }
            }
            return ProgramCase(1, 64).in(a).out(out);
          }};
}

static Program bitFields() {
  return {"bit_fields", R"(
struct fields { uint a : 5, b : 11, c : 3; int d : 7; uint e : 6; };
kernel void bit_fields(global const uint *in, global uint *out,
                       global int *counts) {
  uint v = in[LID];
  struct fields f = *(struct fields *)&v;
  f.a += 3;
  f.b ^= f.a;
  f.c = f.d;
  f.d = f.d - f.e;
  out[LID] = *(uint *)&f;
  counts[LID] = __builtin_popcount(v) + 100 * __builtin_clz(v | 1) +
                10000 * __builtin_ctz(v | 0x80000000u) + f.d +
                (int)(__builtin_bitreverse32(v) % 97) +
                (int)(__builtin_bswap32(v) % 89) +
                (int)(__builtin_rotateleft32(v, LID) % 83) +
                __builtin_clzl((ulong)v << (LID & 31) | 1);
}
)",
          [] {
            auto in = Noise(3).all<uint32_t>(64);
            std::vector<uint32_t> out;
            std::vector<int32_t> counts;
            for (uint32_t lane = 0; lane < 64; ++lane) {
              const uint32_t v = in[lane];
              uint32_t a = v & 31, b = v >> 5 & 2047;
              const uint32_t e = v >> 26;
              const int32_t old = int32_t(v << 6) >> 25; // bits 19 to 25
              a = (a + 3) & 31;
              b ^= a;
              const uint32_t c = uint32_t(old) & 7,
                             d = uint32_t(old - int32_t(e)) & 127;
              out.push_back(a | b << 5 | c << 16 | d << 19 | e << 26);
              int ones = 0, high = 31, low = 0;
              uint32_t reversed = 0, swapped = 0;
              for (int k = 0; k < 32; ++k) {
                ones += v >> k & 1;
                reversed |= (v >> k & 1) << (31 - k);
              }
              for (int k = 0; k < 4; ++k)
                swapped |= (v >> 8 * k & 255) << (24 - 8 * k);
              while (high > 0 && !(v >> high & 1))
                --high;
              while (low < 31 && !(v >> low & 1))
                ++low;
              const uint32_t turn = lane & 31,
                             rotated = turn ? v << turn | v >> (32 - turn) : v;
              const uint64_t wide = uint64_t(v) << (lane & 31) | 1;
              int top = 63;
              while (!(wide >> top & 1))
                --top;
              counts.push_back(ones + 100 * (31 - high) + 10000 * low +
                               (int32_t(d << 25) >> 25) + int(reversed % 97) +
                               int(swapped % 89) + int(rotated % 83) + 63 -
                               top);
            }
            return ProgramCase(1, 64).in(in).out(out).out(counts);
          }};
}

static Program saturation() {
  return {"saturation", R"(
typedef short short2v __attribute__((ext_vector_type(2)));
typedef ushort ushort2v __attribute__((ext_vector_type(2)));
kernel void saturation(global const int *a, global int *out) {
  int x = a[LID], y = a[64 + LID];
  out[LID] = __builtin_elementwise_add_sat(x, y);
  out[64 + LID] = __builtin_elementwise_sub_sat(x, y);
  out[128 + LID] = __builtin_elementwise_sub_sat((uint)x, (uint)y);
  out[192 + LID] = __builtin_elementwise_add_sat((uint)x, (uint)y);
  short2v p = __builtin_astype(x, short2v), q = __builtin_astype(y, short2v);
  out[256 + LID] =
      __builtin_astype(__builtin_elementwise_add_sat(p, q), int);
  out[320 + LID] = __builtin_astype(
      __builtin_elementwise_sub_sat(__builtin_astype(p, ushort2v),
                                    __builtin_astype(q, ushort2v)), int);
  out[384 + LID] = __builtin_astype(__builtin_elementwise_min(p, q) * q, int);
  out[448 + LID] = x < -100000 ? -100000 : x > 100000 ? 100000 : x;
}
)",
          [] {
            auto a = Noise(4).all<int32_t>(128);
            a[0] = a[64] = INT32_MIN;
            a[1] = a[65] = INT32_MAX;
            a[2] = INT32_MIN;
            a[66] = INT32_MAX;
            auto clamp = [](int64_t v, int64_t low, int64_t high) {
              return std::min(std::max(v, low), high);
            };
            std::vector<int32_t> out(512);
            for (int i = 0; i < 64; ++i) {
              const int64_t x = a[i], y = a[64 + i], ux = uint32_t(a[i]),
                            uy = uint32_t(a[64 + i]);
              out[i] = int32_t(clamp(x + y, INT32_MIN, INT32_MAX));
              out[64 + i] = int32_t(clamp(x - y, INT32_MIN, INT32_MAX));
              out[128 + i] = int32_t(clamp(ux - uy, 0, UINT32_MAX));
              out[192 + i] = int32_t(clamp(ux + uy, 0, UINT32_MAX));
              uint32_t halves[3] = {};
              for (int h = 0; h < 32; h += 16) {
                const int64_t p = int16_t(x >> h), q = int16_t(y >> h);
                const int64_t results[3] = {
                    clamp(p + q, -32768, 32767),
                    clamp((p & 0xffff) - (q & 0xffff), 0, 65535),
                    std::min(p, q) * q};
                for (int k = 0; k < 3; ++k)
                  halves[k] |= (uint32_t(results[k]) & 0xffff) << h;
              }
              for (int k = 0; k < 3; ++k)
                out[256 + 64 * k + i] = int32_t(halves[k]);
              out[448 + i] = int32_t(clamp(x, -100000, 100000));
            }
            return ProgramCase(1, 64).in(a).out(out);
          }};
}

static const uint32_t shaConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// SHA-256 of a message of fewer than 56 bytes, as the standard writes it.
static std::array<uint32_t, 8> sha256(const std::string &message) {
  uint8_t block[64] = {};
  std::memcpy(block, message.data(), message.size());
  block[message.size()] = 0x80;
  block[62] = uint8_t(message.size() * 8 >> 8);
  block[63] = uint8_t(message.size() * 8);
  auto rotate = [](uint32_t x, int n) { return x >> n | x << (32 - n); };
  uint32_t w[64];
  for (int t = 0; t < 16; ++t)
    w[t] = uint32_t(block[4 * t]) << 24 | uint32_t(block[4 * t + 1]) << 16 |
           uint32_t(block[4 * t + 2]) << 8 | block[4 * t + 3];
  for (int t = 16; t < 64; ++t)
    w[t] = w[t - 16] + w[t - 7] +
           (rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3) +
           (rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10);
  std::array<uint32_t, 8> h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint32_t, 8> v = h;
  for (int t = 0; t < 64; ++t) {
    const uint32_t t1 =
        v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
        ((v[4] & v[5]) ^ (~v[4] & v[6])) + shaConstants[t] + w[t];
    const uint32_t t2 =
        (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
        ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    v = {t1 + t2, v[0], v[1], v[2], v[3] + t1, v[4], v[5], v[6]};
  }
  for (int k = 0; k < 8; ++k)
    h[k] += v[k];
  return h;
}

static Program sha() {
  std::string constants = "constant uint sha_k[64] = {";
  for (uint32_t k : shaConstants)
    constants += std::to_string(k) + "u,";
  return {"sha256", constants + R"(};
#define ROTATE(x, n) ((x) >> (n) | (x) << (32 - (n)))
kernel void sha256(global const uchar *text, global uint *out, int length) {
  // Each lane hashes `length` bytes of its own.
  global const uchar *mine = text + LID * length;
  uint w[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int t = 0; t < 16; ++t) {
    w[t] = 0;
    for (int b = 0; b < 4; ++b) {
      int at = 4 * t + b;
      uint byte = at < length ? mine[at] : at == length ? 0x80 : 0;
      w[t] = w[t] << 8 | byte;
    }
  }
  w[15] = length * 8;
  uint a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6],
       hh = h[7];
  for (int t = 0; t < 64; ++t) {
    if (t >= 16) {
      uint x = w[(t + 1) & 15], y = w[(t + 14) & 15];
      w[t & 15] += w[(t + 9) & 15] + (ROTATE(x, 7) ^ ROTATE(x, 18) ^ x >> 3) +
                   (ROTATE(y, 17) ^ ROTATE(y, 19) ^ y >> 10);
    }
    uint t1 = hh + (ROTATE(e, 6) ^ ROTATE(e, 11) ^ ROTATE(e, 25)) +
              (g ^ (e & (f ^ g))) + sha_k[t] + w[t & 15];
    uint t2 = (ROTATE(a, 2) ^ ROTATE(a, 13) ^ ROTATE(a, 22)) +
              ((a & b) | (c & (a | b)));
    hh = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
  }
  out[LID * 8 + 0] = h[0] + a;
  out[LID * 8 + 1] = h[1] + b;
  out[LID * 8 + 2] = h[2] + c;
  out[LID * 8 + 3] = h[3] + d;
  out[LID * 8 + 4] = h[4] + e;
  out[LID * 8 + 5] = h[5] + f;
  out[LID * 8 + 6] = h[6] + g;
  out[LID * 8 + 7] = h[7] + hh;
}
)",
          [] {
            // The first message's digest is the standard's example, so that
            // the host's code is checked as well.
            const int length = 3;
            std::string text = "abc";
            auto rest = Noise(5).all<uint8_t>(63 * length);
            text.append(rest.begin(), rest.end());
            std::vector<uint32_t> out;
            for (int lane = 0; lane < 64; ++lane)
              for (uint32_t word : sha256(text.substr(lane * length, length)))
                out.push_back(word);
            EXPECT_EQ(out[0], 0xba7816bfu);
            EXPECT_EQ(out[7], 0xf20015adu);
            return ProgramCase(1, 64)
                .in(std::vector<uint8_t>(text.begin(), text.end()))
                .out(out)
                .value(length);
          }};
}

static Program crc() {
  return {"crc", R"(
kernel void crc(global const uchar *a, global uint *out, int n) {
  // A table in LDS, made by the work-group.
  local uint table[256];
  uint c = LID;
  for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
  table[LID] = c;
  BARRIER;
  uint r = ~0u;
  for (int i = 0; i < n; ++i) r = table[(r ^ a[LID * n + i]) & 255] ^ r >> 8;
  out[LID] = ~r;
}
)",
          [] {
            const int n = 9;
            auto a = Noise(6).all<uint8_t>(256 * n);
            std::memcpy(a.data(), "123456789", 9);
            std::vector<uint32_t> out;
            for (int lane = 0; lane < 256; ++lane) {
              uint32_t r = ~0u;
              for (int bit = 0; bit < 8 * n; ++bit) {
                const uint32_t in = a[lane * n + bit / 8] >> bit % 8 & 1;
                r = (r >> 1) ^ ((r ^ in) & 1 ? 0xedb88320u : 0);
              }
              out.push_back(~r);
            }
            EXPECT_EQ(out[0], 0xcbf43926u); // the check value of CRC-32
            return ProgramCase(1, 256).in(a).out(out).value(n);
          }};
}

static Program life() {
  return {"life", R"(
kernel void life(global const uint *in, global uint *out, int steps) {
  // 64 rows of 64 cells, a row in each lane as bits, on a torus.
  local ulong rows[64];
  ulong r = (ulong)in[2 * LID + 1] << 32 | in[2 * LID];
  for (int s = 0; s < steps; ++s) {
    rows[LID] = r;
    BARRIER;
    ulong a = rows[(LID + 63) & 63], c = rows[(LID + 1) & 63];
    BARRIER;
    ulong one = 0, two = 0, four = 0;
    ulong near[8] = {a, c, a << 1 | a >> 63, a >> 1 | a << 63,
                     c << 1 | c >> 63, c >> 1 | c << 63,
                     r << 1 | r >> 63, r >> 1 | r << 63};
    for (int k = 0; k < 8; ++k) {
      ulong carry = one & near[k];
      one ^= near[k];
      four |= two & carry;
      two ^= carry;
    }
    r = two & ~four & (one | r);
  }
  out[2 * LID] = (uint)r;
  out[2 * LID + 1] = (uint)(r >> 32);
}
)",
          [] {
            auto start = Noise(7).all<uint64_t>(64), rows = start;
            for (int s = 0; s < 5; ++s) {
              std::vector<uint64_t> next(64, 0);
              for (int y = 0; y < 64; ++y)
                for (int x = 0; x < 64; ++x) {
                  int near = 0;
                  for (int v = -1; v <= 1; ++v)
                    for (int u = -1; u <= 1; ++u)
                      if (u || v)
                        near += rows[(y + v) & 63] >> ((x + u) & 63) & 1;
                  if (near == 3 || (near == 2 && (rows[y] >> x & 1)))
                    next[y] |= uint64_t(1) << x;
                }
              rows = next;
            }
            return ProgramCase(1, 64).in(start).out(rows).value(5);
          }};
}

static Program shortestPaths() {
  return {"shortest_paths", R"(
kernel void shortest_paths(global const ushort *length, global ushort *out) {
  // Floyd and Warshall over 16 places, a pair in each lane of four waves.
  local ushort d[256];
  int i = LID / 16, j = LID % 16;
  d[LID] = length[LID];
  BARRIER;
  for (int k = 0; k < 16; ++k) {
    uint around = (uint)d[i * 16 + k] + d[k * 16 + j];
    BARRIER;
    if (around < d[LID]) d[LID] = around;
    BARRIER;
  }
  out[LID] = d[LID];
}
)",
          [] {
            auto length = Noise(8).range<uint16_t>(256, 1, 60000);
            for (int i = 0; i < 16; ++i)
              length[i * 17] = 0;
            // Bellman and Ford on the host.
            std::vector<uint16_t> out = length;
            for (int round = 0; round < 16; ++round)
              for (int i = 0; i < 16; ++i)
                for (int j = 0; j < 16; ++j)
                  for (int k = 0; k < 16; ++k)
                    out[i * 16 + j] = uint16_t(std::min<uint32_t>(
                        out[i * 16 + j],
                        uint32_t(out[i * 16 + k]) + length[k * 16 + j]));
            return ProgramCase(1, 256).in(length).out(out);
          }};
}

static Program philox() {
  return {
      "philox", R"(
kernel void philox(global uint *out, uint key0, uint key1) {
  uint x[4] = {LID, GRP, 0x9e3779b9u, 7};
  for (int round = 0; round < 10; ++round) {
    ulong p = (ulong)x[0] * 0xd2511f53u, q = (ulong)x[2] * 0xcd9e8d57u;
    uint y[4] = {(uint)(q >> 32) ^ x[1] ^ key0, (uint)q,
                 (uint)(p >> 32) ^ x[3] ^ key1, (uint)p};
    for (int k = 0; k < 4; ++k) x[k] = y[k];
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  for (int k = 0; k < 4; ++k) out[(GRP * 64 + LID) * 4 + k] = x[k];
}
)",
      [] {
        std::vector<uint32_t> out;
        for (uint32_t i = 0; i < 128; ++i) {
          std::array<uint32_t, 4> x = {i % 64, i / 64, 0x9e3779b9u, 7};
          for (uint32_t r = 0; r < 10; ++r) {
            const uint64_t p = uint64_t(x[0]) * 0xd2511f53u,
                           q = uint64_t(x[2]) * 0xcd9e8d57u;
            x = {uint32_t(q >> 32) ^ x[1] ^ (5 + r * 0x9e3779b9u), uint32_t(q),
                 uint32_t(p >> 32) ^ x[3] ^ (6 + r * 0xbb67ae85u), uint32_t(p)};
          }
          out.insert(out.end(), x.begin(), x.end());
        }
        return ProgramCase(2, 64).out(out).value(5u).value(6u);
      }};
}

Theme integerPrograms() {
  return {"integer",
          "",
          {wideIntegers(), bigNumbers(), bitFields(), saturation(), sha(),
           crc(), life(), shortestPaths(), philox()}};
}

} // namespace netra::sim::test
