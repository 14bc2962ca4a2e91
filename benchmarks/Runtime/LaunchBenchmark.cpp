//===- LaunchBenchmark.cpp - What a launch costs the host -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// On a HIP library whose kernels take next to no time, so that what is measured
// is the runtime: choice of a plan, guard, lane, and two launches.
//
//===----------------------------------------------------------------------===//

#include "Sha256.h"
#include "TinyEngine.h"

#include <netra/engine.h>

#include <benchmark/benchmark.h>

#include <string>

using namespace netra::test;

namespace {

struct Ready {
  TemporaryDirectory directory;
  netra_engine *engine = nullptr;

  explicit Ready(uint32_t flags) {
    std::string bundle = directory.file("tiny.engine");
    std::string weights = directory.file("tiny.weights");
    writeTinyEngine(bundle);
    writeTinyWeights(bundle, weights);
    netra_engine_options options = NETRA_ENGINE_OPTIONS_INIT;
    options.flags = flags;
    options.hip_library = NETRA_FAKE_HIP;
    void *x = nullptr, *y = nullptr;
    bool good =
        !netra_engine_create(bundle.c_str(), &options, &engine, nullptr, 0) &&
        !netra_engine_load_weights(engine, weights.c_str()) &&
        !netra_device_malloc(engine, tinyBytes, &x) &&
        !netra_device_malloc(engine, tinyBytes, &y) &&
        !netra_engine_bind(engine, 0, x, tinyBytes) &&
        !netra_engine_bind(engine, 1, y, tinyBytes) &&
        !netra_engine_finalize(engine) &&
        !netra_engine_prepare(engine, 0, nullptr);
    if (!good)
      engine = nullptr;
  }
};

void launch(benchmark::State &state, uint32_t flags) {
  Ready ready(flags);
  if (!ready.engine)
    return state.SkipWithError("the engine cannot be set up");
  netra_shape shape = NETRA_SHAPE_INIT;
  for (auto _ : state)
    if (netra_engine_launch(ready.engine, NETRA_PROFILE_AUTO, &shape, nullptr))
      return state.SkipWithError(netra_engine_last_error(ready.engine));
  netra_engine_destroy(ready.engine);
}
BENCHMARK_CAPTURE(launch, direct, 0u);
BENCHMARK_CAPTURE(launch, graph, uint32_t(NETRA_ENGINE_GRAPH));

void verifyBundle(benchmark::State &state) {
  TemporaryDirectory directory;
  std::string bundle = directory.file("tiny.engine");
  writeTinyEngine(bundle);
  for (auto _ : state)
    if (netra_engine_verify(bundle.c_str(), nullptr, 0))
      return state.SkipWithError("the bundle is refused");
}
BENCHMARK(verifyBundle);

void sha256(benchmark::State &state) {
  netra::rt::Sha256::forcePortable(state.range(0) != 0);
  std::string data(16 << 20, 'x');
  for (auto _ : state)
    benchmark::DoNotOptimize(netra::rt::Sha256::hash(data));
  state.SetBytesProcessed(int64_t(state.iterations()) * int64_t(data.size()));
  netra::rt::Sha256::forcePortable(false);
}
BENCHMARK(sha256)->ArgName("portable")->Arg(0)->Arg(1);

} // namespace

BENCHMARK_MAIN();
