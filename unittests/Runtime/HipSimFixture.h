//===- HipSimFixture.h - A kernel and buffers on the simulator --*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Written against HIP's own headers and linked with libnetra_hipsim as a HIP
// program is with libamdhip64.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_RUNTIME_HIPSIMFIXTURE_H
#define NETRA_UNITTESTS_RUNTIME_HIPSIMFIXTURE_H

#include "TinyEngine.h"

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <netra/hipsim.h>

#include <gtest/gtest.h>

#include <vector>

namespace netra::test {

#define EXPECT_HIP(call) EXPECT_EQ(call, hipSuccess) << netra_hipsim_message()
#define ASSERT_HIP(call) ASSERT_EQ(call, hipSuccess) << netra_hipsim_message()

/// out = a * b + c + k over tinyElements integers.
class HipSimTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_HIP(hipModuleLoadData(&module, tinyCode().data()));
    ASSERT_HIP(
        hipModuleGetFunction(&function, module, "netra_test_multiply_add"));
    for (uint32_t **buffer : {&a, &b, &c, &out})
      ASSERT_HIP(hipMalloc(reinterpret_cast<void **>(buffer), tinyBytes));
    fill(a, 3);
    fill(b, 5);
    fill(c, 7);
  }
  void TearDown() override {
    for (uint32_t *buffer : {a, b, c, out})
      EXPECT_HIP(hipFree(buffer));
    EXPECT_HIP(hipModuleUnload(module));
    EXPECT_EQ(netra_hipsim_set_option("check", "none"), 0);
  }

  static void fill(uint32_t *buffer, uint32_t value) {
    std::vector<uint32_t> values(tinyElements, value);
    ASSERT_HIP(
        hipMemcpy(buffer, values.data(), tinyBytes, hipMemcpyHostToDevice));
  }
  static std::vector<uint32_t> read(const uint32_t *buffer) {
    std::vector<uint32_t> values(tinyElements);
    EXPECT_HIP(
        hipMemcpy(values.data(), buffer, tinyBytes, hipMemcpyDeviceToHost));
    return values;
  }
  static std::vector<uint32_t> constant(uint32_t value) {
    return std::vector<uint32_t>(tinyElements, value);
  }

  /// Launches the kernel with 64 work-items a block.
  hipError_t launch(const uint32_t *x, const uint32_t *y, const uint32_t *z,
                    uint32_t *result, uint32_t k, hipStream_t stream = nullptr,
                    unsigned grid = tinyElements / 64) {
    void *parameters[] = {&x, &y, &z, &result, &k};
    return hipModuleLaunchKernel(function, grid, 1, 1, 64, 1, 1, 0, stream,
                                 parameters, nullptr);
  }

  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  uint32_t *a = nullptr, *b = nullptr, *c = nullptr, *out = nullptr;
};

} // namespace netra::test

#endif // NETRA_UNITTESTS_RUNTIME_HIPSIMFIXTURE_H
