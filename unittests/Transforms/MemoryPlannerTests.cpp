//===- MemoryPlannerTests.cpp - Static placement of buffers ---------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Transforms/MemoryPlanner.h"

#include "llvm/Support/MathExtras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace netra;
using testing::HasSubstr;

namespace {

MemoryPlan plan(llvm::ArrayRef<BufferInterval> buffers,
                const MemoryPlannerOptions &options = {}) {
  llvm::Expected<MemoryPlan> result = planMemory(buffers, options);
  if (!result) {
    ADD_FAILURE() << llvm::toString(result.takeError());
    return {};
  }
  return *result;
}

std::string verify(llvm::ArrayRef<BufferInterval> buffers,
                   const MemoryPlan &plan) {
  return llvm::toString(verifyMemoryPlan(buffers, plan));
}

std::string failure(llvm::ArrayRef<BufferInterval> buffers,
                    const MemoryPlannerOptions &options = {}) {
  llvm::Expected<MemoryPlan> result = planMemory(buffers, options);
  return result ? "" : llvm::toString(result.takeError());
}

std::vector<BufferInterval> makeRandom(uint32_t seed, size_t count,
                                       uint32_t steps, uint32_t maxLife,
                                       uint64_t maxUnits,
                                       unsigned alignments = 1) {
  std::mt19937 random(seed);
  std::vector<BufferInterval> buffers;
  for (size_t i = 0; i < count; ++i) {
    BufferInterval b;
    b.firstUse = random() % steps;
    b.lastUse = std::min(steps - 1, b.firstUse + uint32_t(random() % maxLife));
    b.bytes = 256 * (1 + random() % maxUnits);
    b.alignment = uint64_t(256) << (random() % alignments);
    buffers.push_back(b);
  }
  return buffers;
}

/// The peak by its definition, one step at a time.
uint64_t slowPeak(llvm::ArrayRef<BufferInterval> buffers, uint32_t steps) {
  uint64_t peak = 0;
  for (uint32_t step = 0; step < steps; ++step) {
    uint64_t sum = 0;
    for (const BufferInterval &b : buffers)
      if (b.firstUse <= step && step <= b.lastUse)
        sum += b.bytes;
    peak = std::max(peak, sum);
  }
  return peak;
}

TEST(MemoryPlanner, NothingNeedsNothing) {
  MemoryPlan p = plan({});
  EXPECT_EQ(p.bytes, 0u);
  EXPECT_EQ(p.lowerBound, 0u);
  EXPECT_TRUE(p.offsets.empty());
}

TEST(MemoryPlanner, EmptyBuffersTakeNoSpace) {
  std::vector<BufferInterval> buffers = {{0, 16, 0, 5}, {300, 256, 1, 2}};
  MemoryPlan p = plan(buffers);
  EXPECT_EQ(p.bytes, 512u);
  EXPECT_EQ(verify(buffers, p), "");
}

TEST(MemoryPlanner, ReusesSpaceOfDeadBuffers) {
  std::vector<BufferInterval> buffers = {
      {1024, 256, 0, 1}, {512, 256, 1, 2}, {1024, 256, 2, 3}};
  MemoryPlan p = plan(buffers);
  EXPECT_EQ(p.bytes, 1536u);
  EXPECT_EQ(p.lowerBound, 1536u);
  EXPECT_EQ(p.offsets[0], p.offsets[2]);
  EXPECT_EQ(verify(buffers, p), "");
}

TEST(MemoryPlanner, PadsSmallBuffersToTheirNeighboursAlignment) {
  std::vector<BufferInterval> buffers = {{4, 256, 0, 1}, {4, 256, 0, 1}};
  MemoryPlan p = plan(buffers);
  EXPECT_EQ(p.bytes, 512u);
  EXPECT_EQ(p.lowerBound, 512u);
  EXPECT_EQ(verify(buffers, p), "");
}

TEST(MemoryPlanner, LowerBoundIsThePeakOfLiveness) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    auto buffers = makeRandom(seed, 60, 40, 12, 40);
    EXPECT_EQ(getMemoryLowerBound(buffers, 256), slowPeak(buffers, 40));
  }
}

// Random programs: plans are valid, close to the bound and the same every time.
TEST(MemoryPlanner, RandomSetsComeCloseToTheBound) {
  double sum = 0, worst = 0;
  unsigned sets = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    auto buffers = makeRandom(seed, 20 + seed, 30 + seed, 2 + seed % 19, 64);
    MemoryPlan p = plan(buffers);
    ASSERT_EQ(verify(buffers, p), "") << "seed " << seed;
    EXPECT_EQ(p.offsets, plan(buffers).offsets) << "seed " << seed;
    ASSERT_GE(p.bytes, p.lowerBound);
    double ratio = double(p.bytes) / double(p.lowerBound);
    worst = std::max(worst, ratio);
    sum += ratio;
    ++sets;
  }
  RecordProperty("worst_ratio_permille", int(worst * 1000));
  EXPECT_LE(worst, 1.10);
  EXPECT_LE(sum / sets, 1.03);
}

TEST(MemoryPlanner, MixedAlignmentsAreValid) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    auto buffers = makeRandom(1000 + seed, 80, 50, 10, 64, 5);
    EXPECT_EQ(verify(buffers, plan(buffers)), "") << "seed " << seed;
  }
}

// Shapes that defeat greedy placement by first use or by size alone.
TEST(MemoryPlanner, AdversarialSets) {
  std::vector<std::vector<BufferInterval>> sets;
  // A comb: long thin buffers start between short thick ones.
  std::vector<BufferInterval> comb;
  for (uint32_t i = 0; i < 24; ++i) {
    comb.push_back({256 * uint64_t(8 + i % 5), 256, 2 * i, 2 * i + 1});
    comb.push_back({256, 256, 2 * i + 1, 2 * i + 17});
  }
  sets.push_back(comb);
  // A staircase: sizes grow while lifetimes overlap by one step.
  std::vector<BufferInterval> stairs;
  for (uint32_t i = 0; i < 40; ++i)
    stairs.push_back({256 * uint64_t(i + 1), 256, i, i + 1});
  sets.push_back(stairs);
  // A pyramid and its mirror image nested in time.
  std::vector<BufferInterval> pyramid;
  for (uint32_t i = 0; i < 20; ++i) {
    pyramid.push_back({256 * uint64_t(i + 1), 256, i, 39 - i});
    pyramid.push_back({256 * uint64_t(20 - i), 256, 40 + i, 79 - i});
  }
  sets.push_back(pyramid);
  for (size_t i = 0; i < sets.size(); ++i) {
    MemoryPlan p = plan(sets[i]);
    EXPECT_EQ(verify(sets[i], p), "") << "set " << i;
    EXPECT_LE(double(p.bytes), 1.10 * double(p.lowerBound)) << "set " << i;
  }
}

// An exhaustive search over placement orders, written apart from the planner,
// agrees on small sets: lowest position of every order is tried.
uint64_t exhaustive(llvm::ArrayRef<BufferInterval> buffers) {
  std::vector<size_t> order(buffers.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  uint64_t best = ~uint64_t(0);
  do {
    std::vector<uint64_t> offsets(buffers.size());
    uint64_t high = 0;
    for (size_t n = 0; n < order.size(); ++n) {
      const BufferInterval &b = buffers[order[n]];
      for (uint64_t at = 0;; at += 256) {
        bool isFree = true;
        for (size_t m = 0; m < n && isFree; ++m) {
          const BufferInterval &o = buffers[order[m]];
          isFree = o.lastUse < b.firstUse || b.lastUse < o.firstUse ||
                   at + b.bytes <= offsets[order[m]] ||
                   offsets[order[m]] + o.bytes <= at;
        }
        if (isFree) {
          offsets[order[n]] = at;
          high = std::max(high, at + b.bytes);
          break;
        }
      }
    }
    best = std::min(best, high);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(MemoryPlanner, SmallSetsAreOptimal) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    auto buffers = makeRandom(5000 + seed, 7, 8, 6, 6);
    EXPECT_EQ(plan(buffers).bytes, exhaustive(buffers)) << "seed " << seed;
  }
}

TEST(MemoryPlanner, TenThousandBuffers) {
  auto buffers = makeRandom(7, 10000, 10000, 64, 1024);
  MemoryPlan p = plan(buffers);
  EXPECT_EQ(verify(buffers, p), "");
  EXPECT_LE(double(p.bytes), 1.10 * double(p.lowerBound));
}

TEST(MemoryPlanner, RefusesInvalidRequests) {
  EXPECT_THAT(
      failure({{{16, 48, 0, 1}}}),
      HasSubstr("alignment of buffer 0 to be a power of two, found 48"));
  EXPECT_THAT(failure({{{16, 16, 0, 1}, {16, 16, 3, 2}}}),
              HasSubstr("buffer 1 to end no earlier than it begins"));
  EXPECT_THAT(failure({{{16, 16, 0, 1}}}, {.alignment = 0}),
              HasSubstr("arena's alignment"));
  EXPECT_THAT(failure({{{~uint64_t(0) - 8, 256, 0, 1}}}),
              HasSubstr("fit 63 bits"));
  EXPECT_THAT(failure({{{uint64_t(1) << 62, 256, 0, 1},
                        {uint64_t(1) << 62, 256, 0, 1}}}),
              HasSubstr("buffer 1"));
}

// The verifier itself: each way of being wrong is found.
TEST(MemoryPlanVerifier, FindsEverySeededDefect) {
  std::vector<BufferInterval> buffers = {
      {512, 256, 0, 2}, {512, 256, 1, 3}, {256, 256, 3, 4}};
  MemoryPlan good = plan(buffers);
  ASSERT_EQ(verify(buffers, good), "");

  MemoryPlan bad = good;
  bad.offsets[1] = bad.offsets[0] + 256;
  bad.bytes = 4096;
  EXPECT_THAT(verify(buffers, bad), HasSubstr("overlaps"));

  bad = good;
  bad.offsets[0] += 128;
  EXPECT_THAT(verify(buffers, bad), HasSubstr("not aligned to 256"));

  bad = good;
  bad.bytes -= 256;
  EXPECT_THAT(verify(buffers, bad), HasSubstr("inside the arena"));

  bad = good;
  bad.offsets[2] = ~uint64_t(0) - 255;
  EXPECT_THAT(verify(buffers, bad), HasSubstr("inside the arena"));

  bad = good;
  bad.offsets.pop_back();
  EXPECT_THAT(verify(buffers, bad), HasSubstr("expected 3 offsets"));
}

// Moving any buffer of a tight random plan onto a contemporary is noticed.
TEST(MemoryPlanVerifier, FindsRandomOverlaps) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    auto buffers = makeRandom(9000 + seed, 40, 20, 8, 32);
    MemoryPlan p = plan(buffers);
    std::mt19937 random(seed);
    size_t victim = random() % buffers.size();
    for (size_t other = 0; other < buffers.size(); ++other) {
      if (other == victim ||
          buffers[other].lastUse < buffers[victim].firstUse ||
          buffers[victim].lastUse < buffers[other].firstUse)
        continue;
      MemoryPlan bad = p;
      bad.offsets[victim] = p.offsets[other];
      bad.bytes += buffers[victim].bytes;
      EXPECT_THAT(verify(buffers, bad), HasSubstr("overlaps"))
          << "seed " << seed;
      break;
    }
  }
}

} // namespace
