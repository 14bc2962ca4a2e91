//===- ProgramTests.cpp - Compiled kernels against the host --------------===//
// SPDX-License-Identifier: MIT
//
// Kernels in OpenCL C, compiled at several levels of optimisation, with all
// checkers on: results must agree with the host's and nothing may be reported.
//
//===----------------------------------------------------------------------===//

#include "KernelCompiler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>
#include <numeric>

using namespace netra::sim;
using namespace netra::sim::test;
using testing::IsEmpty;

namespace {

const char prelude[] = R"(
#define LID ((int)__builtin_amdgcn_workitem_id_x())
#define GRP ((int)__builtin_amdgcn_workgroup_id_x())
#define BARRIER                                                                \
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                       \
  __builtin_amdgcn_s_barrier();                                                \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned char uchar;
typedef unsigned short ushort;
)";

/// Optimisation level.
class Compiled : public testing::TestWithParam<const char *> {
protected:
  Compiled() {
    DeviceOptions options;
    options.checks = CheckAll;
    device = std::make_unique<Device>(options);
  }
  std::shared_ptr<CodeObject> compile(const std::string &source) {
    return openCl(prelude + source, GetParam());
  }
  std::unique_ptr<Device> device;
};

uint32_t noise(uint32_t &state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

std::vector<float> randomFloats(size_t count, uint32_t seed) {
  std::vector<float> values(count);
  for (float &v : values)
    v = float(int(noise(seed) % 2001) - 1000) / 256.0f;
  return values;
}

TEST_P(Compiled, VectorAdd) {
  auto object = compile(R"(
kernel void add(global const float *a, global const float *b, global float *c,
                int n) {
  int i = GRP * 256 + LID;
  if (i < n) c[i] = a[i] + b[i];
})");
  const size_t n = 1000;
  auto a = randomFloats(n, 1), b = randomFloats(n, 2);
  const uint64_t da = upload(*device, a), db = upload(*device, b),
                 dc = *device->allocate(n * 4, "c");
  EXPECT_THAT(run(*device, object, "add", {4, 1, 1}, {256, 1, 1},
                  Arguments().add(da).add(db).add(dc).add(int(n))),
              IsEmpty());
  auto c = download<float>(*device, dc, n);
  for (size_t i = 0; i < n; ++i)
    ASSERT_EQ(c[i], a[i] + b[i]) << i;
}

TEST_P(Compiled, LdsReduction) {
  auto object = compile(R"(
kernel void reduce(global const float *a, global float *out) {
  local float s[256];
  s[LID] = a[GRP * 256 + LID];
  BARRIER;
  for (int k = 128; k > 0; k >>= 1) {
    if (LID < k) s[LID] += s[LID + k];
    BARRIER;
  }
  if (LID == 0) out[GRP] = s[0];
})");
  const size_t groups = 7;
  auto a = randomFloats(groups * 256, 3);
  const uint64_t da = upload(*device, a),
                 dOut = *device->allocate(groups * 4, "out");
  EXPECT_THAT(run(*device, object, "reduce", {uint32_t(groups), 1, 1},
                  {256, 1, 1}, Arguments().add(da).add(dOut)),
              IsEmpty());
  auto out = download<float>(*device, dOut, groups);
  for (size_t g = 0; g < groups; ++g) {
    std::vector<float> s(a.begin() + g * 256, a.begin() + (g + 1) * 256);
    for (int k = 128; k > 0; k >>= 1)
      for (int t = 0; t < k; ++t)
        s[t] += s[t + k];
    EXPECT_EQ(out[g], s[0]) << g;
  }
}

TEST_P(Compiled, GemmWithMatrixInstructions) {
  // 64x64x64 in tiles of 16x16, small integers: every arithmetic agrees.
  auto object = compile(R"(
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
kernel void gemm(global const ushort *a, global const ushort *b,
                 global float *c) {
  int tileM = GRP / 4, tileN = GRP % 4, lane = LID;
  int r = lane % 16, g = lane / 16;
  f32x4 acc = {0, 0, 0, 0};
  for (int k = 0; k < 64; k += 32) {
    union { bf16x8 v; ushort u[8]; } x, y;
    for (int i = 0; i < 8; ++i) {
      x.u[i] = a[(tileM * 16 + r) * 64 + k + 8 * g + i];
      y.u[i] = b[(tileN * 16 + r) * 64 + k + 8 * g + i];
    }
    acc = __builtin_amdgcn_mfma_f32_16x16x32_bf16(x.v, y.v, acc, 0, 0, 0);
  }
  for (int i = 0; i < 4; ++i)
    c[(tileM * 16 + 4 * g + i) * 64 + tileN * 16 + r] = acc[i];
})");
  uint32_t seed = 5;
  std::vector<uint16_t> a(64 * 64), b(64 * 64);
  std::vector<float> fa(a.size()), fb(b.size());
  auto fill = [&](std::vector<uint16_t> &bits, std::vector<float> &values) {
    for (size_t i = 0; i < bits.size(); ++i) {
      values[i] = float(int(noise(seed) % 15) - 7);
      uint32_t word;
      std::memcpy(&word, &values[i], 4);
      bits[i] = uint16_t(word >> 16);
    }
  };
  fill(a, fa);
  fill(b, fb);
  const uint64_t da = upload(*device, a), db = upload(*device, b),
                 dc = *device->allocate(64 * 64 * 4, "c");
  EXPECT_THAT(run(*device, object, "gemm", {16, 1, 1}, {64, 1, 1},
                  Arguments().add(da).add(db).add(dc)),
              IsEmpty());
  auto c = download<float>(*device, dc, 64 * 64);
  for (int m = 0; m < 64; ++m)
    for (int n = 0; n < 64; ++n) {
      double sum = 0;
      for (int k = 0; k < 64; ++k)
        sum += double(fa[m * 64 + k]) * double(fb[n * 64 + k]);
      ASSERT_EQ(double(c[m * 64 + n]), sum) << m << " " << n;
    }
}

TEST_P(Compiled, DivergentLoops) {
  auto object = compile(R"(
kernel void collatz(global const uint *a, global uint *out) {
  int i = GRP * 64 + LID;
  uint x = a[i], n = 0;
  while (x != 1) {
    if (x & 1) x = 3 * x + 1; else x >>= 1;
    if (++n == 500) break;
  }
  out[i] = n;
})");
  std::vector<uint32_t> a(256);
  std::iota(a.begin(), a.end(), 1);
  const uint64_t da = upload(*device, a), dOut = *device->allocate(1024, "out");
  EXPECT_THAT(run(*device, object, "collatz", {4, 1, 1}, {64, 1, 1},
                  Arguments().add(da).add(dOut)),
              IsEmpty());
  auto out = download<uint32_t>(*device, dOut, 256);
  for (size_t i = 0; i < 256; ++i) {
    uint32_t x = a[i], n = 0;
    while (x != 1) {
      x = x & 1 ? 3 * x + 1 : x >> 1;
      if (++n == 500)
        break;
    }
    EXPECT_EQ(out[i], n) << i;
  }
}

TEST_P(Compiled, HistogramWithAtomics) {
  auto object = compile(R"(
kernel void histogram(global const uchar *a, global uint *bins, int n) {
  local uint h[64];
  if (LID < 64) h[LID] = 0;
  BARRIER;
  for (int i = GRP * 256 + LID; i < n; i += 1024)
    __atomic_fetch_add(&h[a[i] & 63], 1u, __ATOMIC_RELAXED);
  BARRIER;
  if (LID < 64) __atomic_fetch_add(&bins[LID], h[LID], __ATOMIC_RELAXED);
})");
  uint32_t seed = 9;
  std::vector<uint8_t> a(5000);
  for (uint8_t &v : a)
    v = uint8_t(noise(seed));
  std::vector<uint32_t> bins(64, 0), expected(64, 0);
  for (uint8_t v : a)
    ++expected[v & 63];
  const uint64_t da = upload(*device, a), dBins = upload(*device, bins);
  EXPECT_THAT(run(*device, object, "histogram", {4, 1, 1}, {256, 1, 1},
                  Arguments().add(da).add(dBins).add(int(a.size()))),
              IsEmpty());
  EXPECT_EQ(download<uint32_t>(*device, dBins, 64), expected);
}

TEST_P(Compiled, PrivateArraysAndCalls) {
  auto object = compile(R"(
__attribute__((noinline)) int mix(int *p, int n, int k) {
  int s = 0;
  for (int i = 0; i < n; ++i) s = s * 31 + p[(i * k) % n];
  return s;
}
kernel void work(global const int *a, global int *out) {
  int data[17];
  int i = GRP * 64 + LID;
  for (int k = 0; k < 17; ++k) data[k] = a[(i + k) % 128] ^ k;
  data[a[i] & 15] += 1000;
  out[i] = mix(data, 17, (LID & 7) + 1);
})");
  uint32_t seed = 4;
  std::vector<int32_t> a(128);
  for (int32_t &v : a)
    v = int32_t(noise(seed));
  const uint64_t da = upload(*device, a), dOut = *device->allocate(512, "out");
  EXPECT_THAT(run(*device, object, "work", {2, 1, 1}, {64, 1, 1},
                  Arguments().add(da).add(dOut)),
              IsEmpty());
  auto out = download<int32_t>(*device, dOut, 128);
  for (int i = 0; i < 128; ++i) {
    int32_t data[17];
    for (int k = 0; k < 17; ++k)
      data[k] = a[(i + k) % 128] ^ k;
    data[a[i] & 15] += 1000;
    uint32_t s = 0;
    const int stride = (i & 7) + 1;
    for (int k = 0; k < 17; ++k)
      s = s * 31 + uint32_t(data[(k * stride) % 17]);
    EXPECT_EQ(uint32_t(out[i]), s) << i;
  }
}

TEST_P(Compiled, WideIntegersAndDoubles) {
  auto object = compile(R"(
kernel void wide(global const ulong *a, global ulong *p, global double *d) {
  int i = LID;
  ulong x = a[i], y = a[(i + 1) & 63];
  p[i] = (x * y) ^ (x >> (y & 63)) ^ (x << (i & 63)) ^ (x / (y | 1));
  double f = (double)(long)x;
  d[i] = f * 0.5 + (double)y / (1.0 + (double)i);
})");
  std::vector<uint64_t> a(64);
  uint32_t seed = 77;
  for (uint64_t &v : a)
    v = uint64_t(noise(seed)) << 40 ^ uint64_t(noise(seed)) << 16 ^ noise(seed);
  const uint64_t da = upload(*device, a), dp = *device->allocate(512, "p"),
                 dd = *device->allocate(512, "d");
  EXPECT_THAT(run(*device, object, "wide", {1, 1, 1}, {64, 1, 1},
                  Arguments().add(da).add(dp).add(dd)),
              IsEmpty());
  auto p = download<uint64_t>(*device, dp, 64);
  auto d = download<double>(*device, dd, 64);
  for (unsigned i = 0; i < 64; ++i) {
    const uint64_t x = a[i], y = a[(i + 1) & 63];
    EXPECT_EQ(p[i], (x * y) ^ (x >> (y & 63)) ^ (x << (i & 63)) ^ (x / (y | 1)))
        << i;
    // The compiler may fuse the product and the sum.
    const double f = double(int64_t(x)),
                 quotient = double(y) / (1.0 + double(i));
    EXPECT_TRUE(d[i] == f * 0.5 + quotient ||
                d[i] == std::fma(f, 0.5, quotient))
        << i;
  }
}

TEST_P(Compiled, HiddenArguments) {
  auto object = compile(R"(
kernel void sizes(global uint *out) {
  int i = GRP * (int)__builtin_amdgcn_workgroup_size_x() + LID;
  out[i] = __builtin_amdgcn_workgroup_size_x() * 1000 +
           __builtin_amdgcn_grid_size_x();
})");
  const uint64_t dOut = *device->allocate(96 * 3 * 4, "out");
  EXPECT_THAT(run(*device, object, "sizes", {3, 1, 1}, {96, 1, 1},
                  Arguments().add(dOut)),
              IsEmpty());
  for (uint32_t v : download<uint32_t>(*device, dOut, 96 * 3))
    EXPECT_EQ(v, 96u * 1000 + 288);
}

TEST_P(Compiled, HandShakeBetweenWorkgroups) {
  // Work-group n waits for n + 1: only works when all of them make progress.
  auto object = compile(R"(
kernel void chain(global uint *flags, global uint *out, uint groups) {
  if (LID == 0) {
    uint g = GRP;
    if (g + 1 < groups)
      while (__atomic_load_n(&flags[g + 1], __ATOMIC_ACQUIRE) == 0) ;
    out[g] = g + 1 < groups ? out[g + 1] + 1 : 1;
    __atomic_store_n(&flags[g], 1u, __ATOMIC_RELEASE);
  }
})");
  const uint32_t groups = 20;
  const uint64_t dFlags = upload(*device, std::vector<uint32_t>(groups, 0)),
                 dOut = upload(*device, std::vector<uint32_t>(groups, 0));
  EXPECT_THAT(run(*device, object, "chain", {groups, 1, 1}, {64, 1, 1},
                  Arguments().add(dFlags).add(dOut).add(groups)),
              IsEmpty());
  auto out = download<uint32_t>(*device, dOut, groups);
  for (uint32_t g = 0; g < groups; ++g)
    EXPECT_EQ(out[g], groups - g);
}

INSTANTIATE_TEST_SUITE_P(Levels, Compiled, testing::Values("-O0", "-O2", "-O3"),
                         [](const auto &info) {
                           return std::string(info.param).substr(1);
                         });

} // namespace
