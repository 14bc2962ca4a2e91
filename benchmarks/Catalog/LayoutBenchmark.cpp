//===- LayoutBenchmark.cpp - Packing against copying ----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Bytes packed per second, and the same for memcpy of the same buffers in the
// same run, which nothing that reads and writes every byte can exceed by much.
// The counter `of_memcpy` is their ratio. On one thread; weights are packed in
// blocks, so that threads add up until memory is the limit.
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/PackRecipe.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>

using namespace netra;

namespace {

/// Bytes per second of copying 64 MiB, the best of several, measured once.
double memcpyRate() {
  static const double rate = [] {
    std::vector<uint8_t> from(64 << 20, 1), to(from.size(), 2);
    double best = 0;
    for (int round = 0; round < 8; ++round) {
      auto start = std::chrono::steady_clock::now();
      std::memcpy(to.data(), from.data(), from.size());
      benchmark::DoNotOptimize(to.data());
      benchmark::ClobberMemory();
      std::chrono::duration<double> took =
          std::chrono::steady_clock::now() - start;
      best = std::max(best, double(from.size()) / took.count());
    }
    return best;
  }();
  return rate;
}

/// A recipe over one matrix, of 64 MiB where it is read.
void pack(benchmark::State &state, ElementType type,
          std::vector<PackStep> steps) {
  constexpr int64_t columns = 2048;
  const int64_t rows = (int64_t(64) << 20) / columns / elementBytes(type);
  PackRecipe recipe;
  recipe.sources = {{"w", type, {rows, columns}}};
  recipe.steps = std::move(steps);
  Packer packer = llvm::cantFail(Packer::create(std::move(recipe)));
  std::vector<uint8_t> from(packer.getSourceBytes(0), 1);
  std::vector<uint8_t> to(packer.getResult().bytes, 2);
  MemoryReader reader(from);
  // As pack-weights does it.
  constexpr uint64_t block = uint64_t(4) << 20;
  for (auto _ : state) {
    for (uint64_t at = 0; at < to.size(); at += block)
      llvm::cantFail(packer.pack({&reader}, at,
                                 llvm::MutableArrayRef(to).slice(at, block)));
    benchmark::ClobberMemory();
  }
  // A cast writes more than it reads.
  double bytes = double(from.size() + to.size()) / 2;
  state.SetBytesProcessed(int64_t(bytes * double(state.iterations())));
  state.counters["of_memcpy"] =
      benchmark::Counter(bytes * double(state.iterations()) / memcpyRate(),
                         benchmark::Counter::kIsRate);
}

void unpack(benchmark::State &state) {
  PackRecipe recipe;
  recipe.sources = {{"w", ElementType::F8E4M3FN, {32768, 2048}}};
  recipe.steps = {PackStep::makeLayout("n16k16")};
  Packer packer = llvm::cantFail(Packer::create(std::move(recipe)));
  std::vector<uint8_t> from(packer.getResult().bytes, 1), to(from.size(), 2);
  MemoryReader reader(from);
  constexpr uint64_t block = uint64_t(4) << 20;
  for (auto _ : state) {
    for (uint64_t at = 0; at < to.size(); at += block)
      llvm::cantFail(packer.unpack(reader, 0, at,
                                   llvm::MutableArrayRef(to).slice(at, block)));
    benchmark::ClobberMemory();
  }
  double bytes = double(to.size()) * double(state.iterations());
  state.SetBytesProcessed(int64_t(bytes));
  state.counters["of_memcpy"] =
      benchmark::Counter(bytes / memcpyRate(), benchmark::Counter::kIsRate);
}

using Steps = std::vector<PackStep>;

BENCHMARK_CAPTURE(pack, row_major, ElementType::F8E4M3FN, Steps())
    ->UseRealTime();
BENCHMARK_CAPTURE(pack, n16k16_f8, ElementType::F8E4M3FN,
                  Steps{PackStep::makeLayout("n16k16")})
    ->UseRealTime();
BENCHMARK_CAPTURE(pack, n16k16_bf16, ElementType::BF16,
                  Steps{PackStep::makeLayout("n16k16")})
    ->UseRealTime();
BENCHMARK_CAPTURE(pack, transposed_f8, ElementType::F8E4M3FN,
                  Steps{PackStep::makeLayout("group_major")})
    ->UseRealTime();
BENCHMARK_CAPTURE(pack, transposed_bf16, ElementType::BF16,
                  Steps{PackStep::makeLayout("group_major")})
    ->UseRealTime();
BENCHMARK_CAPTURE(pack, transposed_f32, ElementType::F32,
                  Steps{PackStep::makeLayout("group_major")})
    ->UseRealTime();
BENCHMARK_CAPTURE(
    pack, qkvz_restored_n16k16_f8, ElementType::F8E4M3FN,
    Steps{PackStep::makeRestore("interleaved_rows<16,512,512,512,512>"),
          PackStep::makeLayout("n16k16")})
    ->UseRealTime();
BENCHMARK_CAPTURE(pack, widened_bf16_f32, ElementType::BF16,
                  Steps{PackStep::makeCast(ElementType::F32)})
    ->UseRealTime();
BENCHMARK(unpack)->UseRealTime();

} // namespace

BENCHMARK_MAIN();
