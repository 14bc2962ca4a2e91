//===- DenseCountersTests.cpp - How dense products use memory -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The products of the models, from the schedules that are selected for them.
//
//===----------------------------------------------------------------------===//

#include "DenseCases.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

using namespace kernels;
using netra::sim::Counters;

namespace {

const char *const tiles = "include/dense_tiles.inc";

/// What is selected for a product of a model, over a few of its weight rows:
/// what a wave does and how many share a compute unit stays as it is.
struct Slice {
  DenseShape shape = {};
  int64_t m = 0;
  bool groupMajor = false; ///< scales of x
  bool resultF32 = false;
  bool bias = false, residual = false;
  std::string tactic = {};
  Options options = {};

  netra::Problem problem(const std::string &epilogue) const {
    return DenseCase{.m = m,
                     .n = shape.n,
                     .k = shape.k,
                     .epilogue = epilogue,
                     .bias = bias,
                     .residual = residual,
                     .groupMajor = groupMajor,
                     .resultF32 = resultF32}
        .problem(shape.fp8);
  }
  std::string epilogue() const { return shape.gated ? "gated_silu" : "none"; }
  std::string name() const {
    return shape.name(m) + (groupMajor ? " group-major" : "") +
           (bias ? " bias" : "") + (residual ? " residual" : "") +
           (resultF32 ? " f32" : "");
  }
  Counters counters(const std::vector<Mutation> &mutations = {}) const {
    return denseCounters(tactic, problem(epilogue()), mutations, options);
  }
};

bool isPossible(const Slice &slice) {
  llvm::Expected<netra::Instance> instance =
      instantiate(slice.tactic, slice.problem(slice.epilogue()), slice.options);
  if (instance)
    return true;
  llvm::consumeError(instance.takeError());
  return false;
}

/// The products of the models, those in FP8 also with weights in bf16, and
/// gated ones of sizes that no model gates.
std::vector<DenseShape> shapesInBothTypes() {
  std::vector<DenseShape> all(std::begin(denseShapes), std::end(denseShapes));
  all.push_back({5120, 17408, true, true});
  all.push_back({14336, 5120, true, true});
  for (const DenseShape &shape : denseShapes)
    if (shape.fp8) {
      all.push_back(shape);
      all.back().fp8 = false;
    }
  return all;
}

/// Of all products of the models, each schedule once; of `like` come types,
/// layouts and operands.
std::vector<Slice> slices(std::initializer_list<int64_t> rows,
                          const Slice &like = {}) {
  std::vector<Slice> all;
  for (int64_t m : rows)
    for (const DenseShape &shape : shapesInBothTypes()) {
      if (like.groupMajor && !shape.fp8)
        continue;
      Slice slice = like;
      slice.shape = shape;
      slice.m = m;
      netra::Selection selection =
          catalog().select(slice.problem(slice.epilogue()));
      if (!selection.winner) {
        ADD_FAILURE() << slice.name() << ": " << selection.reason;
        continue;
      }
      slice.tactic = selection.winner->tactic->name;
      slice.options = selection.winner->instance.options;
      slice.shape.n = 64;
      if (!isPossible(slice)) {
        // More tiles than so few rows are given. From 2 to 16 rows of x the
        // instructions are the same.
        slice.shape.n = 8192;
        if (shape.k > 2048 ? m != 2 : m != 16 && m != 32)
          continue;
      }
      if (llvm::none_of(all, [&](const Slice &other) {
            return std::tie(other.tactic, other.options, other.m, other.shape.k,
                            other.shape.gated) ==
                   std::tie(slice.tactic, slice.options, m, shape.k,
                            shape.gated);
          }))
        all.push_back(slice);
    }
  return all;
}

/// The template of a tactic, which must be put inline together with a changed
/// include, because it sets what that needs.
std::string templateOf(const std::string &tactic) {
  return catalog().findTactic(tactic)->templatePath;
}

/// What the loads of the weight ask for: what a kernel asks for, less what it
/// asks for when these loads are taken out of it.
struct WeightTraffic {
  int64_t requested, distinct, segments; ///< bytes, bytes, 128-byte segments

  bool isReadOnce() const { return requested * 100 <= distinct * 102; }
  bool fillsSegments() const { return 95 * 128 * segments <= 100 * distinct; }
};

WeightTraffic weightTraffic(const Slice &slice, const Counters &whole,
                            std::vector<Mutation> mutations = {}) {
  std::string file = templateOf(slice.tactic);
  mutations.push_back({file, "// Arithmetic.", "// The arithmetic."});
  const char *load = "global_load_dwordx4 v[dt_a";
  if (file == "dense/bf16_gemv.s")
    load = "global_load_dwordx4 v[gemv_r";
  else
    file = tiles;
  mutations.push_back({file, load, "s_nop 0 //", 0});
  Counters rest = slice.counters(mutations);
  return {int64_t(whole.globalLoadBytes - rest.globalLoadBytes),
          int64_t(whole.globalDistinctReadBytes - rest.globalDistinctReadBytes),
          int64_t(whole.segments128 - rest.segments128)};
}

void expectWithinLimits(const Slice &slice) {
  Counters counters = slice.counters();
  SCOPED_TRACE(slice.name() + "\n" + counters.text());
  WeightTraffic weight = weightTraffic(slice, counters);
  EXPECT_EQ(weight.distinct,
            slice.shape.n * slice.shape.k * (slice.shape.fp8 ? 1 : 2));
  EXPECT_TRUE(weight.isReadOnce()) << weight.requested;
  EXPECT_TRUE(weight.fillsSegments()) << weight.segments;
  EXPECT_GE(counters.firstWaitBytesPerCu, 64u * 1024);
  // Arguments, then the data in at most two turns; one up to K = 4096, unless
  // waves are few (group-major) or more tiles share the registers (gated). Two
  // activation tiles do so, too, which takes a turn more; with K = 17408 it is
  // two if they are gated, three of bf16.
  bool isOneTurn = slice.shape.k <= 2048 + (slice.groupMajor ? 0 : 2048) &&
                   !slice.shape.gated;
  unsigned more = 0;
  if (slice.m > 16)
    more = slice.shape.k < 17408 ? 1
           : !slice.shape.fp8    ? 3
           : slice.shape.gated   ? 2
                                 : 1;
  EXPECT_LE(counters.maxRoundTrips, (isOneTurn ? 2u : 3u) + more);
  EXPECT_LE(counters.ldsConflictCycles * 50, counters.ldsAccesses);
}

TEST(DenseCounters, WeightsAreReadOnceInWholeSegmentsWithManyLoadsInFlight) {
  for (const Slice &slice : slices({1, 2, 4, 8, 12, 16, 32}))
    expectWithinLimits(slice);
}

TEST(DenseCounters, LikewiseWithGroupMajorScales) {
  for (const Slice &slice : slices({1, 2, 12, 16}, {.groupMajor = true}))
    expectWithinLimits(slice);
}

// What is stored is four bytes instead of two, and nothing is packed.
TEST(DenseCounters, LikewiseWithF32Results) {
  for (const Slice &slice : slices({1, 2, 8, 16}, {.resultF32 = true})) {
    expectWithinLimits(slice);
    Slice bf16 = slice;
    bf16.resultF32 = false;
    EXPECT_LE(vectorInstructions(slice.counters()),
              vectorInstructions(bf16.counters()))
        << slice.name();
  }
}

// They may not take the registers of what is in flight.
TEST(DenseCounters, LikewiseWithABiasAndAResidual) {
  for (const Slice &like :
       {Slice{.residual = true}, Slice{.bias = true, .residual = true}})
    for (const Slice &slice : slices({1, 2, 4, 8, 12, 16}, like))
      expectWithinLimits(slice);
}

TEST(DenseCounters, LikewiseWithThoseInF32AndGroupMajorScales) {
  for (bool groupMajor : {false, true})
    for (const Slice &slice : slices({1, 16}, {.groupMajor = groupMajor,
                                               .resultF32 = true,
                                               .bias = true,
                                               .residual = true}))
      expectWithinLimits(slice);
}

TEST(DenseCountersNegative, OneBlockLessInFlightIsATurnMore) {
  // What a residual would cost that had registers of its own.
  Slice down{.shape = {32, 17408, true}, .m = 16, .residual = true};
  down.tactic = down.shape.tactic(down.m);
  EXPECT_EQ(down.counters().maxRoundTrips, 3u);
  down.options = {{"DEPTH", 8}};
  EXPECT_EQ(down.counters().maxRoundTrips, 4u);
}

Slice smallSlice(int64_t m, int64_t k, bool fp8) {
  DenseShape shape{256, k, fp8};
  return {.shape = shape, .m = m, .tactic = shape.tactic(m)};
}

WeightTraffic changedTraffic(const Slice &slice,
                             const std::vector<Mutation> &mutations) {
  return weightTraffic(slice, slice.counters(mutations), mutations);
}

TEST(DenseCountersNegative, HalfSegmentsAndSecondReadsAreNoticed) {
  // The map from lanes to addresses that v_mfma_f32_16x16x32_bf16 suggests:
  // sixteen rows, half a segment of each.
  const char *const mfma = "dense/bf16_mfma.s";
  const std::vector<Mutation> halves = {
      {mfma, "v_and_b32 v[V_T0], 7,", "v_and_b32 v[V_T0], 15,"},
      {mfma, "v_lshl_add_u32 v[V_WOFF], v[V_T0], 6", "s_nop 0 //"},
      {mfma, "v_add_u32 v[V_WOFF2], DT_TILE_BYTES / 2,",
       "v_add_u32 v[V_WOFF2], 64,"}};
  for (int64_t m : {2, 16, 32}) {
    Slice bf16 = smallSlice(m, 2048, false);
    WeightTraffic traffic = changedTraffic(bf16, halves);
    EXPECT_EQ(traffic.distinct, 2 * bf16.shape.n * bf16.shape.k);
    EXPECT_TRUE(traffic.isReadOnce());
    EXPECT_FALSE(traffic.fillsSegments()) << m;
  }
  // The first half of each block twice.
  for (int64_t m : {1, 32}) {
    WeightTraffic traffic = changedTraffic(
        smallSlice(m, 2048, true),
        {{"dense/fp8_block128.s", "// The stream.", "// Stream."},
         {tiles, "+DT_HALF_STRIDE nt", " nt"}});
    EXPECT_FALSE(traffic.isReadOnce()) << m;
  }
}

//===----------------------------------------------------------------------===//
// Vector instructions
//===----------------------------------------------------------------------===//

/// Of the plain loops that the catalogue has for a product, the fewest.
uint64_t plainInstructions(const netra::Problem &problem) {
  uint64_t fewest = 0;
  for (const netra::Tactic &tactic : catalog().tactics()) {
    if (tactic.family != "dense" ||
        tactic.maturity != netra::Maturity::Experiment)
      continue;
    llvm::Expected<netra::Instance> instance =
        instantiate(tactic.name, problem);
    if (!instance) {
      llvm::consumeError(instance.takeError());
      continue;
    }
    uint64_t count = vectorInstructions(denseCounters(tactic.name, problem));
    EXPECT_GT(count, 0u);
    if (fewest == 0 || count < fewest)
      fewest = count;
  }
  return fewest;
}

/// Vector instructions, of memory and of matrices included, by those of the
/// best plain loop with the same epilogue. That has arguments where it wants
/// them.
double shareOfPlain(const Slice &slice,
                    const std::vector<Mutation> &mutations = {}) {
  // Each row of the weight costs the loop the same.
  Slice loop{.shape = slice.shape, .m = slice.m};
  loop.shape.n = slice.shape.gated ? 32 : 16;
  double plain = double(plainInstructions(loop.problem(loop.epilogue()))) *
                 double(slice.shape.n) / double(loop.shape.n);
  EXPECT_GT(plain, 0) << "no plain loop for " << slice.name();
  return double(vectorInstructions(slice.counters(mutations))) / plain;
}

TEST(DenseCounters, HalfTheVectorInstructionsOfThePlainLoop) {
  for (const Slice &slice : slices({1, 2, 4, 8, 12, 16}))
    if (slice.shape.fp8 || !slice.shape.gated) { // no bf16 loop is gated
      EXPECT_LE(shareOfPlain(slice), 0.5) << slice.name();
    }
}

// With group-major scales of more than one row, each block has a load of its
// own for them. The loop has row-major ones.
TEST(DenseCounters, LikewiseHalfWithGroupMajorScales) {
  for (const Slice &slice : slices({1, 2, 12, 16}, {.groupMajor = true})) {
    // Gated and with K = 17408 it cannot have four tiles, for the sake of
    // turns, which leaves it at 0.501 of fewer than 16 rows.
    bool isTight = slice.shape.gated && slice.shape.k == 17408;
    EXPECT_LE(shareOfPlain(slice), isTight ? 0.502 : 0.5) << slice.name();
  }
}

TEST(DenseCountersNegative, MoreVectorInstructionsAreNoticed) {
  // A scale more for each block, and loads that are not shared.
  Slice fp8 = smallSlice(16, 4096, true);
  EXPECT_LE(shareOfPlain(fp8), 0.5);
  const char *const dense = "dense/fp8_block128.s";
  EXPECT_GT(
      shareOfPlain(fp8, {{dense, "      blk_scales \\c ",
                          "      blk_scales \\c\n      blk_scales \\c "}}),
      0.5);
  fp8.options = {{"TILES", 1}};
  fp8.shape.n = 48;
  EXPECT_GT(shareOfPlain(fp8), 0.5);
}

} // namespace
