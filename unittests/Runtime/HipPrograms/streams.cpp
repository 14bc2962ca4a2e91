//===- streams.cpp - A sum of vectors in two streams ----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Chunks are loaded and added in one stream and summed up in another, which
// waits for each chunk by an event. All values are small integers, so that sums
// of floats are exact.
//
//===----------------------------------------------------------------------===//

#include "program.h"

#include <numeric>

int main(int argc, char **argv) {
  Program program(argc, argv);
  constexpr unsigned chunks = 4, elements = 5000, block = 256;
  constexpr unsigned blocks = (elements + block - 1) / block;
  constexpr float scale = 3;

  hipModule_t module;
  hipFunction_t add, sum;
  CHECK(hipModuleLoad(&module, program.codeObject));
  CHECK(hipModuleGetFunction(&add, module, "scale_add"));
  CHECK(hipModuleGetFunction(&sum, module, "block_sum"));
  hipStream_t adding, summing;
  CHECK(hipStreamCreateWithFlags(&adding, hipStreamNonBlocking));
  CHECK(hipStreamCreateWithFlags(&summing, hipStreamNonBlocking));
  hipEvent_t start, stop;
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));

  // Pinned memory, as asynchronous copies want it.
  float *x, *y, *sums;
  const size_t bytes = chunks * elements * sizeof(float);
  CHECK(hipHostMalloc(reinterpret_cast<void **>(&x), bytes, 0));
  CHECK(hipHostMalloc(reinterpret_cast<void **>(&y), bytes, 0));
  CHECK(hipHostMalloc(reinterpret_cast<void **>(&sums),
                      chunks * blocks * sizeof(float), 0));
  for (unsigned i = 0; i < chunks * elements; ++i) {
    x[i] = float(i % 17);
    y[i] = float(i * 7 % 23) - 11;
  }
  auto *deviceX = allocate<float>(chunks * elements);
  auto *deviceY = allocate<float>(chunks * elements);
  auto *deviceZ = allocate<float>(chunks * elements);
  auto *deviceSums = allocate<float>(chunks * blocks);

  CHECK(hipEventRecord(start, adding));
  hipEvent_t added[chunks];
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    const size_t at = size_t(chunk) * elements;
    const size_t part = elements * sizeof(float);
    CHECK(hipEventCreateWithFlags(&added[chunk], hipEventDisableTiming));
    CHECK(hipMemcpyAsync(deviceX + at, x + at, part, hipMemcpyHostToDevice,
                         adding));
    CHECK(hipMemcpyAsync(deviceY + at, y + at, part, hipMemcpyHostToDevice,
                         adding));
    const float *left = deviceX + at, *right = deviceY + at;
    float *result = deviceZ + at, factor = program.isBroken ? 2 : scale;
    unsigned count = elements;
    void *arguments[] = {&left, &right, &result, &factor, &count};
    CHECK(hipModuleLaunchKernel(add, blocks, 1, 1, block, 1, 1, 0, adding,
                                arguments, nullptr));
    CHECK(hipEventRecord(added[chunk], adding));

    CHECK(hipStreamWaitEvent(summing, added[chunk], 0));
    float *partial = deviceSums + chunk * blocks;
    void *sumArguments[] = {&result, &partial, &count};
    CHECK(hipModuleLaunchKernel(sum, blocks, 1, 1, block, 1, 1, 0, summing,
                                sumArguments, nullptr));
  }
  CHECK(hipMemcpyAsync(sums, deviceSums, chunks * blocks * sizeof(float),
                       hipMemcpyDeviceToHost, summing));
  CHECK(hipEventRecord(stop, summing));
  CHECK(hipEventSynchronize(stop));
  float milliseconds = -1;
  CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  std::printf("%u chunks in %.3f ms\n", chunks, double(milliseconds));

  std::vector<float> expected(chunks * blocks, 0),
      found(sums, sums + chunks * blocks);
  for (unsigned i = 0; i < chunks * elements; ++i)
    expected[i / elements * blocks + i % elements / block] +=
        scale * x[i] + y[i];
  int failed = compare(found, expected) | !(milliseconds >= 0);
  const float total = std::accumulate(found.begin(), found.end(), 0.0f);
  std::printf("the sum is %.0f\n", double(total));

  for (hipEvent_t event : added)
    CHECK(hipEventDestroy(event));
  CHECK(hipEventDestroy(start));
  CHECK(hipEventDestroy(stop));
  CHECK(hipStreamDestroy(adding));
  CHECK(hipStreamDestroy(summing));
  for (float *pointer : {deviceX, deviceY, deviceZ, deviceSums})
    CHECK(hipFree(pointer));
  for (float *pointer : {x, y, sums})
    CHECK(hipHostFree(pointer));
  CHECK(hipModuleUnload(module));
  return failed;
}
