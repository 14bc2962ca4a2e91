//===- matmul.cpp - A product of matrices, and its errors -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The module comes from memory, the arguments as one buffer, and the program
// asks for occupancy and handles errors as programs do. Small integers, so that
// sums of floats are exact.
//
//===----------------------------------------------------------------------===//

#include "program.h"

#include <fstream>
#include <iterator>

namespace {

/// As kernels.cl has it.
struct Product {
  const float *a, *b;
  float *c;
  unsigned m, n, k;
};

/// A call that must fail, with this code, which must be the last error.
int expectError(const char *what, hipError_t found, hipError_t expected) {
  const hipError_t last = hipGetLastError();
  if (found == expected && last == expected)
    return 0;
  std::printf("%s: expected %s, found %s, and %s as the last error\n", what,
              hipGetErrorName(expected), hipGetErrorName(found),
              hipGetErrorName(last));
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  Program program(argc, argv);
  std::ifstream file(program.codeObject, std::ios::binary);
  std::vector<char> image((std::istreambuf_iterator<char>(file)),
                          std::istreambuf_iterator<char>());
  hipModule_t module;
  hipFunction_t multiply;
  CHECK(hipModuleLoadData(&module, image.data()));
  CHECK(hipModuleGetFunction(&multiply, module, "multiply"));

  // What the device can hold of it.
  int lds = 0, threads = 0, blocks = 0, most = 0;
  CHECK(hipFuncGetAttribute(&lds, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                            multiply));
  CHECK(hipFuncGetAttribute(&threads, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                            multiply));
  CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, multiply,
                                                           256, 0));
  CHECK(hipDeviceGetAttribute(&most, hipDeviceAttributeMaxSharedMemoryPerBlock,
                              0));
  std::printf("%d bytes of LDS, blocks of %d, %d of them on a unit\n", lds,
              threads, blocks);
  int failed =
      lds != 2 * 16 * 16 * 4 || threads != 256 || blocks < 1 || blocks > 8;

  constexpr unsigned m = 70, n = 45, k = 33, tile = 16;
  std::vector<float> a(m * k), b(k * n), found(m * n), expected(m * n);
  for (unsigned i = 0; i < a.size(); ++i)
    a[i] = float(i * 5 % 13) - 6;
  for (unsigned i = 0; i < b.size(); ++i)
    b[i] = float(i * 3 % 11) - 5;
  for (unsigned row = 0; row < m; ++row)
    for (unsigned column = 0; column < n; ++column) {
      long sum = 0;
      for (unsigned i = 0; i < k; ++i)
        sum += long(a[row * k + i]) * long(b[i * n + column]);
      expected[row * n + column] = float(sum);
    }
  auto *deviceA = allocate<float>(a.size()),
       *deviceB = allocate<float>(b.size()),
       *deviceC = allocate<float>(found.size());
  CHECK(hipMemcpyHtoD(deviceA, a.data(), a.size() * sizeof(float)));
  CHECK(hipMemcpyHtoD(deviceB, b.data(), b.size() * sizeof(float)));

  Product product = {deviceA, deviceB, deviceC,
                     m,       n,       program.isBroken ? k - 1 : k};
  size_t bytes = sizeof(product);
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &product,
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  auto launch = [&](unsigned block, unsigned dynamicLds, hipStream_t stream) {
    return hipModuleLaunchKernel(multiply, (n + tile - 1) / tile,
                                 (m + tile - 1) / tile, 1, block, block, 1,
                                 dynamicLds, stream, nullptr, extra);
  };
  failed |= expectError("a block of 4096", launch(64, 0, nullptr),
                        hipErrorInvalidConfiguration);
  failed |= expectError("too much LDS", launch(tile, unsigned(most), nullptr),
                        hipErrorInvalidValue);
  hipFunction_t absent;
  failed |= expectError("no such kernel",
                        hipModuleGetFunction(&absent, module, "divide"),
                        hipErrorNotFound);
  failed |= expectError("a copy beyond the end",
                        hipMemcpy(found.data(), deviceC,
                                  found.size() * sizeof(float) + 4,
                                  hipMemcpyDeviceToHost),
                        hipErrorInvalidValue);
  // None of which does any harm.
  CHECK(launch(tile, 0, nullptr));
  CHECK(hipMemcpyDtoH(found.data(), deviceC, found.size() * sizeof(float)));
  CHECK(hipDeviceSynchronize());
  failed |= compare(found, expected);

  for (float *pointer : {deviceA, deviceB, deviceC})
    CHECK(hipFree(pointer));
  CHECK(hipModuleUnload(module));
  return failed;
}
