//===- SelectionBenchmark.cpp - What choosing a kernel costs -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// On the project's own catalogue: reading it, and one choice for a product of
// the demo's size, with and without a tactic that matches.
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Catalog.h"

#include <benchmark/benchmark.h>

using namespace netra;

namespace {

Problem product(int64_t rows) {
  constexpr int64_t n = 5632, k = 2048;
  Problem problem;
  problem.family = problem.operation = "dense";
  problem.dimensions = {{"M", rows}, {"N", n}, {"K", k}};
  problem.operands = {{"x", ElementType::BF16, {rows, k}, "row_major"},
                      {"weight", ElementType::BF16, {n, k}, "row_major"},
                      {"result", ElementType::BF16, {rows, n}, "row_major"}};
  problem.attributes = {{"epilogue", std::string("none")},
                        {"accumulation", std::string("f32")}};
  return problem;
}

Catalog load() {
  return llvm::cantFail(Catalog::load(Catalog::findLibraryRoot(), "gfx950"));
}

void loadCatalog(benchmark::State &state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(load());
}
BENCHMARK(loadCatalog)->Unit(benchmark::kMillisecond);

/// One row has a kernel, 1000 have none.
void select(benchmark::State &state) {
  const Catalog catalog = load();
  const Problem problem = product(state.range(0));
  if (catalog.select(problem).winner.has_value() != (state.range(0) == 1))
    state.SkipWithError("expected a kernel for one row only");
  for (auto _ : state)
    benchmark::DoNotOptimize(catalog.select(problem));
}
BENCHMARK(select)->Arg(1)->Arg(1000)->Unit(benchmark::kMicrosecond);

} // namespace

BENCHMARK_MAIN();
