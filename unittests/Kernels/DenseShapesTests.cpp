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
        // Enough work-groups for 256 compute units where there are enough rows;
        // four tiles of a gated product may leave an eighth of them without
        // one.
        const netra::Instance &instance = selection.winner->instance;
        if (shape.n >= (shape.fp8 || isGated(epilogue) ? 8192 : 4096)) {
          EXPECT_GE(instance.contract.grid[0].constant,
                    isGated(epilogue) ? 224u : 256u)
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
// The heads of the models
//===----------------------------------------------------------------------===//

/// At full size, 1 and 2.5 GB, of which pages that nobody writes take no
/// memory: they read as zeros. Rows here and there, and the last ones, have one
/// element.
TEST(DenseShapes, TheHeadsAtFullSize) {
  const int64_t n = 248320;
  for (auto [k, f32] : {std::pair(2048, false), {2048, true}, {5120, false}})
    for (int64_t m : {1, 3}) {
      DenseCase c{.m = m, .n = n, .k = k, .resultF32 = f32};
      llvm::Expected<Kernel> kernel =
          build(m == 1 ? "gfx950.dense_bf16_m1" : "gfx950.dense_bf16_m32",
                c.bf16Problem());
      ASSERT_TRUE(static_cast<bool>(kernel))
          << llvm::toString(kernel.takeError());
      std::vector<uint16_t> x(m * k);
      for (int64_t i = 0; i < m * k; ++i)
        x[i] = oracle::encodeBf16(1 + i / k);
      RunOptions options;
      options.checks = netra::sim::CheckMemory;
      std::map<uint64_t, Bytes> &weight = options.pieces["weight"];
      auto element = [&](int64_t row) -> double {
        return row % 37 == 0 || row + 40 > n ? 1 + row % 83 : 0;
      };
      for (int64_t row = 0; row < n; ++row)
        if (double value = element(row))
          weight[2 * (row * k + row * 29 % k)] =
              toBytes(std::vector<uint16_t>{oracle::encodeBf16(value)});
      llvm::Expected<Outcome> once = run(*kernel, {{"x", toBytes(x)}}, options);
      ASSERT_TRUE(static_cast<bool>(once)) << llvm::toString(once.takeError());
      EXPECT_EQ(once->findingsText(), "");
      std::vector<double> expected(m * n);
      for (int64_t i = 0; i < m * n; ++i)
        expected[i] = (1 + i / n) * element(i % n);
      EXPECT_TRUE(once->outputs["result"] == DenseFinish::bytes(expected, f32))
          << c;
    }
}

} // namespace
