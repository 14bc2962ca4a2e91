//===- ProgramsScan.cpp - Reductions, scans, histograms ------------------===//
// SPDX-License-Identifier: MIT

#include "Programs.h"
#include <algorithm>
#include <numeric>

namespace netra::sim::test {

static Program vectorAdd() {
  return {"vector_add", R"(
kernel void vector_add(global const float *a, global const float *b,
                       global float *c, int n) {
  int i = GRP * 256 + LID;
  if (i < n) c[i] = a[i] + b[i];
}
)",
          [] {
            Noise noise(1);
            auto a = noise.range<float>(1000, -1000, 1000, 1 / 256.0),
                 b = noise.range<float>(1000, -1000, 1000, 1 / 256.0);
            std::vector<float> c(1000);
            for (size_t i = 0; i < c.size(); ++i)
              c[i] = a[i] + b[i];
            return ProgramCase(4, 256).in(a).in(b).out(c).value(1000);
          }};
}

static Program ldsReduction() {
  return {"lds_reduction", R"(
kernel void lds_reduction(global const float *a, global float *out) {
  local float s[256];
  s[LID] = a[GRP * 256 + LID];
  BARRIER;
  for (int k = 128; k > 0; k >>= 1) {
    if (LID < k) s[LID] += s[LID + k];
    BARRIER;
  }
  if (LID == 0) out[GRP] = s[0];
}
)",
          [] {
            // Multiples of 1/256 below 2^8: every order of sums is exact.
            auto a = Noise(2).range<float>(7 * 256, -1000, 1000, 1 / 256.0);
            std::vector<float> sums;
            for (size_t g = 0; g < 7; ++g)
              sums.push_back(float(std::accumulate(
                  a.begin() + g * 256, a.begin() + (g + 1) * 256, 0.0)));
            return ProgramCase(7, 256).in(a).out(sums);
          }};
}

static Program waveReduction() {
  return {"wave_reduction", R"(
kernel void wave_reduction(global const int *a, global int *out, int n) {
  // Grid-stride sum, then a butterfly over the wave, then one atomic.
  int sum = 0;
  for (int i = GRP * 128 + LID; i < n; i += 3 * 128) sum += a[i] * (i % 7);
  for (int k = 1; k < 64; k <<= 1)
    sum += __builtin_amdgcn_ds_bpermute(((LID ^ k) & 63) * 4, sum);
  if ((LID & 63) == 0) __atomic_fetch_add(out, sum, __ATOMIC_RELAXED);
}
)",
          [] {
            auto a = Noise(3).range<int32_t>(1500, -100000, 100000);
            int64_t sum = 5;
            for (size_t i = 0; i < a.size(); ++i)
              sum += int64_t(a[i]) * int64_t(i % 7);
            return ProgramCase(3, 128)
                .in(a)
                .inout(std::vector<int32_t>{5}, {int32_t(sum)})
                .value(1500);
          }};
}

static Program inclusiveScan() {
  return {"inclusive_scan", R"(
kernel void inclusive_scan(global const uint *a, global uint *out) {
  local uint s[2][256];
  int from = 0;
  s[0][LID] = a[GRP * 256 + LID];
  BARRIER;
  for (int k = 1; k < 256; k <<= 1) {
    s[1 - from][LID] = LID >= k ? s[from][LID] + s[from][LID - k]
                                : s[from][LID];
    from = 1 - from;
    BARRIER;
  }
  out[GRP * 256 + LID] = s[from][LID];
}
)",
          [] {
            auto a = Noise(4).all<uint32_t>(512);
            std::vector<uint32_t> sums(512);
            for (size_t i = 0; i < 512; ++i)
              sums[i] = a[i] + (i % 256 ? sums[i - 1] : 0);
            return ProgramCase(2, 256).in(a).out(sums);
          }};
}

static Program exclusiveScanDynamic() {
  return {"exclusive_scan_dynamic", R"(
kernel void exclusive_scan_dynamic(global const uint *a, global uint *out,
                                   local uint *s) {
  // Up-sweep and down-sweep over twice as many values as work-items.
  int n = 2 * (int)__builtin_amdgcn_workgroup_size_x();
  s[2 * LID] = a[2 * LID];
  s[2 * LID + 1] = a[2 * LID + 1];
  int step = 1;
  for (int d = n >> 1; d > 0; d >>= 1) {
    BARRIER;
    if (LID < d)
      s[step * (2 * LID + 2) - 1] += s[step * (2 * LID + 1) - 1];
    step *= 2;
  }
  if (LID == 0) s[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    step >>= 1;
    BARRIER;
    if (LID < d) {
      int i = step * (2 * LID + 1) - 1, j = step * (2 * LID + 2) - 1;
      uint t = s[i];
      s[i] = s[j];
      s[j] += t;
    }
  }
  BARRIER;
  out[2 * LID] = s[2 * LID];
  out[2 * LID + 1] = s[2 * LID + 1];
}
)",
          [] {
            auto a = Noise(5).all<uint32_t>(256);
            std::vector<uint32_t> sums(256, 0);
            for (size_t i = 1; i < 256; ++i)
              sums[i] = sums[i - 1] + a[i - 1];
            return ProgramCase(1, 128, 1024).in(a).out(sums).value(0u);
          }};
}

static Program histogram() {
  return {"histogram", R"(
kernel void histogram(global const uchar *a, global uint *bins, int n) {
  local uint h[64];
  if (LID < 64) h[LID] = 0;
  BARRIER;
  for (int i = GRP * 256 + LID; i < n; i += 1024)
    __atomic_fetch_add(&h[a[i] & 63], 1u, __ATOMIC_RELAXED);
  BARRIER;
  if (LID < 64) __atomic_fetch_add(&bins[LID], h[LID], __ATOMIC_RELAXED);
}
)",
          [] {
            auto a = Noise(6).all<uint8_t>(5000);
            std::vector<uint32_t> bins(64, 0);
            for (uint8_t v : a)
              ++bins[v & 63];
            return ProgramCase(4, 256)
                .in(a)
                .inout(std::vector<uint32_t>(64, 0), bins)
                .value(5000);
          }};
}

static Program atomicExtremes() {
  return {"atomic_extremes", R"(
kernel void atomic_extremes(global const int *a, global int *smallest,
                            global uint *mask, global ulong *best) {
  int i = GRP * 64 + LID;
  __atomic_fetch_min(smallest, a[i], __ATOMIC_RELAXED);
  __atomic_fetch_or(&mask[0], 1u << (a[i] & 31), __ATOMIC_RELAXED);
  __atomic_fetch_and(&mask[1], ~(1u << (a[i] >> 5 & 31)), __ATOMIC_RELAXED);
  __atomic_fetch_xor(&mask[2], (uint)a[i], __ATOMIC_RELAXED);
  // Largest value, and the largest place among equals.
  ulong key = (ulong)((uint)a[i] ^ 0x80000000u) << 32 | (uint)i;
  __atomic_fetch_max(best, key, __ATOMIC_RELAXED);
}
)",
          [] {
            auto a = Noise(7).range<int32_t>(320, -900000, 900000);
            a[77] = a[200] = 900001;
            std::vector<uint32_t> mask = {0, ~0u, 0};
            for (int32_t v : a) {
              mask[0] |= 1u << (v & 31);
              mask[1] &= ~(1u << (v >> 5 & 31));
              mask[2] ^= uint32_t(v);
            }
            const uint64_t best = uint64_t(900001u ^ 0x80000000u) << 32 | 200;
            return ProgramCase(5, 64)
                .in(a)
                .inout(std::vector<int32_t>{0},
                       {std::min(0, *std::min_element(a.begin(), a.end()))})
                .inout(std::vector<uint32_t>{0, ~0u, 0}, mask)
                .inout(std::vector<uint64_t>{0}, {best});
          }};
}

static Program atomicFloats() {
  return {"atomic_floats", R"(
kernel void atomic_floats(global const float *a, global float *sum,
                          global double *wide, global uint *tickets) {
  local float part;
  if (LID == 0) part = 0;
  BARRIER;
  float v = a[GRP * 128 + LID];
  // A compare-and-swap loop on LDS, hardware adds on memory.
  local uint *bits = (local uint *)&part;
  uint old = 0, wanted;
  do {
    wanted = __builtin_astype(__builtin_astype(old, float) + v, uint);
  } while (!__atomic_compare_exchange_n(bits, &old, wanted, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  BARRIER;
  if (LID == 0) {
    __builtin_amdgcn_global_atomic_fadd_f32(sum, part);
    __builtin_amdgcn_global_atomic_fadd_f64(wide, (double)part * 0.5);
    tickets[1 + __atomic_fetch_add(tickets, 1u, __ATOMIC_RELAXED)] = 1;
  }
}
)",
          [] {
            auto a = Noise(8).range<float>(4 * 128, -500, 500, 0.25);
            const double sum = std::accumulate(a.begin(), a.end(), 0.0);
            return ProgramCase(4, 128)
                .in(a)
                .inout(std::vector<float>{0}, {float(sum)})
                .inout(std::vector<double>{1}, {1 + sum / 2})
                .inout(std::vector<uint32_t>{0, 0, 0, 0, 0}, {4, 1, 1, 1, 1});
          }};
}

static Program compaction() {
  return {"compaction", R"(
kernel void compaction(global const int *a, global int *out, global int *count,
                       int n) {
  // Keeps the odd values in order, a wave after the other.
  int kept = 0;
  for (int base = 0; base < n; base += 64) {
    int i = base + LID;
    int v = i < n ? a[i] : 0;
    int keep = v & 1;
    ulong votes = __builtin_amdgcn_ballot_w64(keep);
    int before = __builtin_amdgcn_mbcnt_hi(
        (uint)(votes >> 32), __builtin_amdgcn_mbcnt_lo((uint)votes, 0));
    if (keep) out[kept + before] = v;
    kept += __builtin_popcountll(votes);
  }
  if (LID == 0) *count = kept;
}
)",
          [] {
            auto a = Noise(9).range<int32_t>(500, -1000, 1000);
            std::vector<int32_t> kept;
            for (int32_t v : a)
              if (v & 1)
                kept.push_back(v);
            const int32_t count = int32_t(kept.size());
            return ProgramCase(1, 64)
                .in(a)
                .out(kept)
                .out(std::vector<int32_t>{count})
                .value(500);
          }};
}

static Program prefixDifference() {
  return {"summed_area", R"(
kernel void summed_area(global const ushort *a, global uint *out) {
  // A 32x32 table: rows in registers of one lane each, columns through LDS.
  local uint s[32][33];
  if (LID < 32) {
    uint sum = 0;
    for (int x = 0; x < 32; ++x) {
      sum += a[LID * 32 + x];
      s[LID][x] = sum;
    }
  }
  BARRIER;
  if (LID >= 32 && LID < 64) {
    int x = LID - 32;
    uint sum = 0;
    for (int y = 0; y < 32; ++y) {
      sum += s[y][x];
      out[y * 32 + x] = sum;
    }
  }
}
)",
          [] {
            auto a = Noise(10).all<uint16_t>(32 * 32);
            std::vector<uint32_t> sums(32 * 32);
            for (int y = 0; y < 32; ++y)
              for (int x = 0; x < 32; ++x) {
                uint32_t sum = 0;
                for (int v = 0; v <= y; ++v)
                  for (int u = 0; u <= x; ++u)
                    sum += a[v * 32 + u];
                sums[y * 32 + x] = sum;
              }
            return ProgramCase(1, 128).in(a).out(sums);
          }};
}

Theme scanPrograms() {
  return {"scan",
          "",
          {vectorAdd(), ldsReduction(), waveReduction(), inclusiveScan(),
           exclusiveScanDynamic(), histogram(), atomicExtremes(),
           atomicFloats(), compaction(), prefixDifference()}};
}

} // namespace netra::sim::test
