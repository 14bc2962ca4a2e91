//===- PlannerBenchmark.cpp - Placing the buffers of a schedule -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Random lifetimes of at most 64 steps and sizes of at most 256 KiB. "ratio" is
// the size of the plan over the lower bound of liveness.
//
//===----------------------------------------------------------------------===//

#include "Netra/Transforms/MemoryPlanner.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

using namespace netra;

namespace {

void place(benchmark::State &state) {
  const uint32_t steps = uint32_t(state.range(0));
  std::mt19937 random(7);
  std::vector<BufferInterval> buffers(steps);
  for (BufferInterval &buffer : buffers) {
    buffer.firstUse = random() % steps;
    buffer.lastUse =
        std::min(steps - 1, buffer.firstUse + uint32_t(random() % 64));
    buffer.bytes = 256 * (1 + random() % 1024);
    buffer.alignment = 256;
  }
  for (auto _ : state) {
    MemoryPlan plan = llvm::cantFail(planMemory(buffers));
    state.counters["ratio"] = double(plan.bytes) / double(plan.lowerBound);
  }
}
BENCHMARK(place)->Arg(100)->Arg(1000)->Arg(10000)->Unit(
    benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
