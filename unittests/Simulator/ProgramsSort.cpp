//===- ProgramsSort.cpp - Sorts, searches, transposes --------------------===//
// SPDX-License-Identifier: MIT

#include "Programs.h"
#include <algorithm>

namespace netra::sim::test {

static Program transpose() {
  return {"transpose", R"(
kernel void transpose(global const float *a, global float *out, int rows,
                      int columns) {
  local float tile[32][33];
  int across = columns / 32, x0 = GRP % across * 32, y0 = GRP / across * 32;
  int x = LID % 32, y = LID / 32;
  for (int k = 0; k < 32; k += 8)
    tile[y + k][x] = a[(y0 + y + k) * columns + x0 + x];
  BARRIER;
  for (int k = 0; k < 32; k += 8)
    out[(x0 + y + k) * rows + y0 + x] = tile[x][y + k];
}
)",
          [] {
            auto a = Noise(1).range<float>(64 * 96, -5000, 5000);
            std::vector<float> out(a.size());
            for (int y = 0; y < 64; ++y)
              for (int x = 0; x < 96; ++x)
                out[x * 64 + y] = a[y * 96 + x];
            return ProgramCase(6, 256).in(a).out(out).value(64).value(96);
          }};
}

static Program transposeBytes() {
  return {"transpose_bytes", R"(
kernel void transpose_bytes(global const uint *a, global uint *out) {
  // 64x64 bytes as words; LDS in bytes, swizzled instead of padded.
  local uchar tile[64 * 64];
  for (int i = LID; i < 1024; i += 64) {
    uint word = a[i];
    int y = i / 16, x = i % 16 * 4;
    for (int b = 0; b < 4; ++b)
      tile[y * 64 + ((x + b) ^ (y & 60))] = word >> 8 * b;
  }
  BARRIER;
  for (int i = LID; i < 1024; i += 64) {
    int y = i / 16, x = i % 16 * 4;
    uint word = 0;
    for (int b = 0; b < 4; ++b)
      word |= (uint)tile[(x + b) * 64 + (y ^ ((x + b) & 60))] << 8 * b;
    out[i] = word;
  }
}
)",
          [] {
            auto a = Noise(2).all<uint8_t>(64 * 64);
            std::vector<uint8_t> out(a.size());
            for (int y = 0; y < 64; ++y)
              for (int x = 0; x < 64; ++x)
                out[x * 64 + y] = a[y * 64 + x];
            return ProgramCase(1, 64).in(a).out(out);
          }};
}

static Program bitonicSort() {
  return {"bitonic_sort", R"(
kernel void bitonic_sort(global int *data) {
  local int s[256];
  global int *mine = data + GRP * 256;
  s[LID] = mine[LID];
  s[LID + 128] = mine[LID + 128];
  for (int size = 2; size <= 256; size <<= 1)
    for (int k = size >> 1; k > 0; k >>= 1) {
      BARRIER;
      int i = 2 * LID - (LID & (k - 1)), j = i + k;
      int up = (i & size) == 0, x = s[i], y = s[j];
      if ((x > y) == up) {
        s[i] = y;
        s[j] = x;
      }
    }
  BARRIER;
  mine[LID] = s[LID];
  mine[LID + 128] = s[LID + 128];
}
)",
          [] {
            auto a = Noise(3).all<int32_t>(512), sorted = a;
            std::sort(sorted.begin(), sorted.begin() + 256);
            std::sort(sorted.begin() + 256, sorted.end());
            return ProgramCase(2, 128).inout(a, sorted);
          }};
}

static Program radixSort() {
  return {"radix_sort", R"(
kernel void radix_sort(global const uint *a, global uint *out) {
  // One wave, 64 keys, a bit at a time; ranks come from ballots.
  local uint s[64];
  uint key = a[LID];
  for (int b = 0; b < 32; ++b) {
    int bit = key >> b & 1;
    ulong ones = __builtin_amdgcn_ballot_w64(bit), mask = bit ? ones : ~ones;
    int rank = __builtin_amdgcn_mbcnt_hi(
        (uint)(mask >> 32), __builtin_amdgcn_mbcnt_lo((uint)mask, 0));
    if (bit) rank += __builtin_popcountll(~ones);
    s[rank] = key;
    BARRIER;
    key = s[LID];
    BARRIER;
  }
  out[LID] = key;
}
)",
          [] {
            auto a = Noise(4).all<uint32_t>(64), sorted = a;
            std::sort(sorted.begin(), sorted.end());
            return ProgramCase(1, 64).in(a).out(sorted);
          }};
}

static Program countingSort() {
  return {"counting_sort", R"(
kernel void counting_sort(global const uchar *a, global uchar *out) {
  local uint count[256], start[256];
  count[LID] = 0;
  BARRIER;
  for (int i = LID; i < 2048; i += 256)
    __atomic_fetch_add(&count[a[i]], 1u, __ATOMIC_RELAXED);
  BARRIER;
  uint before = 0;
  for (int i = 0; i < LID; ++i) before += count[i];
  for (uint k = 0; k < count[LID]; ++k) out[before + k] = LID;
}
)",
          [] {
            auto a = Noise(5).all<uint8_t>(2048), sorted = a;
            std::sort(sorted.begin(), sorted.end());
            return ProgramCase(1, 256).in(a).out(sorted);
          }};
}

static Program rankSort() {
  return {"rank_sort", R"(
kernel void rank_sort(global const float *a, global float *out,
                      global ushort *place) {
  int i = GRP * 64 + LID, rank = 0;
  float v = a[i];
  for (int j = 0; j < 192; ++j)
    rank += a[j] < v || (a[j] == v && j < i);
  out[rank] = v;
  place[i] = rank;
}
)",
          [] {
            auto a = Noise(6).range<float>(192, -40, 40, 0.5);
            std::vector<uint16_t> order(192), place(192);
            for (uint16_t i = 0; i < 192; ++i)
              order[i] = i;
            std::sort(order.begin(), order.end(), [&](int x, int y) {
              return a[x] < a[y] || (a[x] == a[y] && x < y);
            });
            std::vector<float> sorted;
            for (uint16_t i = 0; i < 192; ++i) {
              sorted.push_back(a[order[i]]);
              place[order[i]] = i;
            }
            return ProgramCase(3, 64).in(a).out(sorted).out(place);
          }};
}

static Program quickSort() {
  return {"quick_sort", R"(
kernel void quick_sort(global const int *a, global int *out) {
  // Each lane sorts 24 values in private memory, with its own stack.
  int v[24];
  uchar stack[64];
  int top = 0;
  for (int i = 0; i < 24; ++i) v[i] = a[(GRP * 64 + LID) * 24 + i];
  stack[top++] = 0;
  stack[top++] = 23;
  while (top) {
    int high = stack[--top], low = stack[--top], i = low, j = high;
    int pivot = v[(low + high) / 2];
    while (i <= j) {
      while (v[i] < pivot) ++i;
      while (v[j] > pivot) --j;
      if (i <= j) {
        int t = v[i];
        v[i++] = v[j];
        v[j--] = t;
      }
    }
    if (low < j) { stack[top++] = low; stack[top++] = j; }
    if (i < high) { stack[top++] = i; stack[top++] = high; }
  }
  for (int i = 0; i < 24; ++i) out[(GRP * 64 + LID) * 24 + i] = v[i];
}
)",
          [] {
            auto a = Noise(7).range<int32_t>(64 * 24, -99, 99), sorted = a;
            for (int lane = 0; lane < 64; ++lane)
              std::sort(sorted.begin() + lane * 24,
                        sorted.begin() + lane * 24 + 24);
            return ProgramCase(1, 64).in(a).out(sorted);
          }};
}

static Program binarySearch() {
  return {"binary_search", R"(
kernel void binary_search(global const ulong *sorted, global const ulong *keys,
                          global int *place, int n) {
  int i = GRP * 64 + LID;
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < keys[i]) low = middle + 1; else high = middle;
  }
  place[i] = low;
}
)",
          [] {
            Noise noise(8);
            auto sorted = noise.all<uint64_t>(777),
                 keys = noise.all<uint64_t>(128);
            std::sort(sorted.begin(), sorted.end());
            keys[3] = sorted[100];
            keys[4] = ~uint64_t(0);
            std::vector<int32_t> place;
            for (uint64_t key : keys)
              place.push_back(
                  int32_t(std::lower_bound(sorted.begin(), sorted.end(), key) -
                          sorted.begin()));
            return ProgramCase(2, 64).in(sorted).in(keys).out(place).value(777);
          }};
}

static Program mergePaths() {
  return {"merge_paths", R"(
kernel void merge_paths(global const int *a, global const int *b,
                        global int *out, int n) {
  // Each lane finds where its 8 outputs begin on the diagonal and merges.
  int from = (GRP * 64 + LID) * 8, low = from > n ? from - n : 0,
      high = from < n ? from : n;
  while (low < high) {
    int i = (low + high) / 2;
    if (a[i] <= b[from - 1 - i]) low = i + 1; else high = i;
  }
  int i = low, j = from - low;
  for (int k = 0; k < 8; ++k)
    out[from + k] = j >= n || (i < n && a[i] <= b[j]) ? a[i++] : b[j++];
}
)",
          [] {
            Noise noise(9);
            auto a = noise.range<int32_t>(512, -300, 300),
                 b = noise.range<int32_t>(512, -300, 300);
            std::sort(a.begin(), a.end());
            std::sort(b.begin(), b.end());
            std::vector<int32_t> out(1024);
            std::merge(a.begin(), a.end(), b.begin(), b.end(), out.begin());
            return ProgramCase(2, 64).in(a).in(b).out(out).value(512);
          }};
}

Theme sortPrograms() {
  return {"sort",
          "",
          {transpose(), transposeBytes(), bitonicSort(), radixSort(),
           countingSort(), rankSort(), quickSort(), binarySearch(),
           mergePaths()}};
}

} // namespace netra::sim::test
