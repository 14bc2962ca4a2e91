//===- DenseShapesTests.cpp - The dense products of the models ------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Which tactic is selected for each product of the models at each row count,
// and what its instance looks like. How it uses memory: DenseCountersTests.cpp.
//
//===----------------------------------------------------------------------===//

#include "DenseCases.h"

#include <cstdlib>

using namespace kernels;

namespace {

TEST(DenseShapes, ExactlyTheIntendedTacticMatches) {
  for (const DenseShape &shape : denseShapes)
    for (int64_t m = 1; m <= 32; ++m)
      for (llvm::StringRef epilogue : denseEpilogues) {
        if (m % 16 > 1 && epilogue != "none" && epilogue != "gated_silu")
          continue; // seen at 1, 16, 17 and 32 rows
        netra::Selection selection =
            catalog().select(shape.problem(m, epilogue.str(), m % 2));
        ASSERT_TRUE(selection.winner.has_value())
            << shape.name(m) << " " << epilogue.str() << ": "
            << selection.reason;
        EXPECT_EQ(selection.winner->tactic->name, shape.tactic(m))
            << shape.name(m);
        // Few outputs without anything added have a tactic of the router's,
        // too.
        bool fitsRouter =
            !shape.fp8 && shape.n <= 512 && epilogue == "none" && m % 2 == 0;
        EXPECT_EQ(selection.runnersUp.size(), fitsRouter ? 1u : 0u)
            << shape.name(m);
        // Enough work-groups for 256 compute units where there are enough rows.
        const netra::Instance &instance = selection.winner->instance;
        if (shape.n >= (shape.fp8 || isGated(epilogue) ? 8192 : 4096)) {
          EXPECT_GE(instance.contract.grid[0].constant, 256u)
              << instance.symbol;
        }
      }
}

TEST(DenseShapes, EachSizeAssembles) {
  for (const DenseShape &shape : denseShapes)
    for (int64_t m : {1, 12, 32}) {
      netra::Problem problem =
          shape.problem(m, shape.gated ? "gated_silu" : "none", m == 12);
      llvm::Expected<Kernel> kernel = build(shape.tactic(m), problem);
      EXPECT_TRUE(static_cast<bool>(kernel))
          << shape.name(m) << ": " << llvm::toString(kernel.takeError());
    }
}

//===----------------------------------------------------------------------===//
// Weights above 2 GiB
//===----------------------------------------------------------------------===//

TEST(DenseShapes, TheLastTilesOfALargeWeight) {
  // 248,320 x 5120 in bf16 is 2.5 GB; a minute, hence only when asked for.
  if (!std::getenv("NETRA_TEST_FULL"))
    GTEST_SKIP() << "set NETRA_TEST_FULL to run a product of 2.5 GB";
  const int64_t n = 248320, k = 5120;
  for (int64_t m : {1, 3}) {
    netra::Problem problem = denseBf16Problem(m, n, k);
    llvm::Expected<Kernel> kernel = build(
        m == 1 ? "gfx950.dense_bf16_m1" : "gfx950.dense_bf16_m32", problem);
    ASSERT_TRUE(static_cast<bool>(kernel))
        << llvm::toString(kernel.takeError());
    // Row r of the weight is r mod 251 at k = r mod K and zero elsewhere.
    std::vector<uint16_t> x(m * k, oracle::encodeBf16(1)), w(n * k);
    for (int64_t r = 0; r < n; ++r)
      w[r * k + r % k] = oracle::encodeBf16(r % 251);
    RunOptions options;
    options.checks = netra::sim::CheckMemory;
    llvm::Expected<Outcome> once =
        run(*kernel, {{"x", toBytes(x)}, {"weight", toBytes(w)}}, options);
    ASSERT_TRUE(static_cast<bool>(once)) << llvm::toString(once.takeError());
    EXPECT_EQ(once->findingsText(), "");
    std::vector<uint16_t> y = fromBytes<uint16_t>(once->outputs["result"]);
    uint64_t wrong = 0;
    for (int64_t i = 0; i < m * n; ++i)
      wrong += y[i] != oracle::encodeBf16(i % n % 251);
    EXPECT_EQ(wrong, 0u);
  }
}

} // namespace
