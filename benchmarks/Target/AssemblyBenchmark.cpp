//===- AssemblyBenchmark.cpp - What making code objects costs -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Forty kernels of the project's own catalogue, made from seven templates, are
// assembled, linked and held against their contracts on two threads: without a
// cache, into an empty one, and out of a full one. Real time counts.
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Catalog.h"
#include "Netra/Target/AssemblyCache.h"
#include "Netra/Target/KernelBuilder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <benchmark/benchmark.h>

using namespace netra;
namespace fs = llvm::sys::fs;

namespace {

constexpr unsigned threads = 2;
const llvm::ExitOnError valueOf("assembly-benchmark: ");

const Catalog &catalog() {
  static const Catalog catalog =
      valueOf(Catalog::load(Catalog::findLibraryRoot(), "gfx950"));
  return catalog;
}

using Shapes = std::map<std::string, std::vector<int64_t>>;

Instance makeInstance(const std::string &tactic,
                      std::map<std::string, int64_t> dimensions,
                      std::map<std::string, AttributeValue> attributes,
                      const Shapes &shapes) {
  InstanceSpec spec;
  spec.dimensions = std::move(dimensions);
  spec.attributes = std::move(attributes);
  const Tactic *found = catalog().findTactic("gfx950." + tactic);
  if (!found)
    valueOf(llvm::createStringError("expected tactic " + tactic));
  for (const auto &[role, shape] : shapes)
    spec.operands[role].shape = shape;
  // Of several types and layouts the first will do.
  for (const auto &[role, match] : found->operands) {
    if (match.optional)
      continue;
    if (!match.types.empty())
      spec.operands[role].type = match.types.front();
    if (!match.layouts.empty())
      spec.operands[role].layout = match.layouts.front();
  }
  return valueOf(instantiate(*found, spec));
}

const std::vector<Instance> &instances() {
  static const std::vector<Instance> all = [] {
    std::vector<Instance> result;
    constexpr int64_t k = 2048;
    for (int64_t n : {1024, 2048, 3072, 4096}) {
      auto product = [&](const char *tactic, int64_t m, const char *epilogue) {
        int64_t columns = epilogue == std::string("gated_silu") ? n / 2 : n;
        result.push_back(makeInstance(
            tactic, {{"M", m}, {"N", n}, {"K", k}},
            {{"epilogue", std::string(epilogue)}},
            {{"x", {m, k}}, {"weight", {n, k}}, {"result", {m, columns}}}));
      };
      product("dense_bf16_m1", 1, "none");
      product("dense_bf16_m1", 1, "gated_silu");
      product("dense_bf16_m1_plain", 1, "none");
      product("dense_fp8_block128_m16", 16, "none");
      product("dense_fp8_block128_m16", 16, "gated_silu");
      product("dense_fp8_block128_plain", 16, "none");
      for (const char *tactic : {"gated_bf16", "gated_bf16_quantized"})
        result.push_back(makeInstance(
            tactic, {{"M", 16}, {"N", n}},
            {{"activation", std::string("silu")},
             {"activation_rounding", std::string("none")}},
            {{"gate", {16, n}}, {"up", {16, n}}, {"result", {16, n}}}));
      result.push_back(makeInstance("quantize_blocks_bf16",
                                    {{"M", 16}, {"K", n}}, {},
                                    {{"x", {16, n}}, {"result", {16, n}}}));
      result.push_back(
          makeInstance("rms_norm_bf16", {{"M", 16}, {"N", n}},
                       {{"epsilon", 1e-6}, {"weight_offset", 0.0}},
                       {{"x", {16, n}}, {"weight", {n}}, {"result", {16, n}}}));
    }
    return result;
  }();
  return all;
}

/// Builds all kernels once. Ends the benchmark when one cannot be built.
void buildAll(benchmark::State &state, std::shared_ptr<AssemblyCache> cache) {
  KernelBuilder builder = valueOf(KernelBuilder::create(
      catalog().getLibraryRoot(), "gfx950", /*goldenRoot=*/"", cache));
  std::vector<const Instance *> pointers;
  for (const Instance &instance : instances())
    pointers.push_back(&instance);
  for (const KernelBuilder::Result &result :
       builder.buildAll(pointers, threads))
    if (!result.kernel)
      state.SkipWithError(result.error.c_str());
  if (cache)
    for (const AssemblyCache::Note &note : cache->takeNotes())
      state.SkipWithError(note.text.c_str());
  state.counters["kernels"] = double(pointers.size());
}

void assemble(benchmark::State &state) {
  instances();
  for (auto _ : state)
    buildAll(state, nullptr);
}
BENCHMARK(assemble)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A folder for a cache, for as long as this object lives.
class Folder {
public:
  Folder() {
    if (fs::createUniqueDirectory("netra-assembly-benchmark", path))
      std::abort();
  }
  ~Folder() { fs::remove_directories(path); }
  llvm::SmallString<128> path;
};

void assembleIntoCache(benchmark::State &state) {
  instances();
  for (auto _ : state) {
    state.PauseTiming();
    auto folder = std::make_unique<Folder>();
    state.ResumeTiming();
    buildAll(state, std::make_shared<AssemblyCache>(folder->path));
    state.PauseTiming();
    folder.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(assembleIntoCache)->Unit(benchmark::kMillisecond)->UseRealTime();

void takeFromCache(benchmark::State &state) {
  Folder folder;
  buildAll(state, std::make_shared<AssemblyCache>(folder.path));
  for (auto _ : state) {
    auto cache = std::make_shared<AssemblyCache>(folder.path);
    buildAll(state, cache);
    if (cache->getMisses())
      state.SkipWithError("expected every kernel in the cache");
  }
}
BENCHMARK(takeFromCache)->Unit(benchmark::kMillisecond)->UseRealTime();

} // namespace

BENCHMARK_MAIN();
