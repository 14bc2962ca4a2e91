//===- HipSimStressTests.cpp - Many threads at once -----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What these compute is exact; built with ThreadSanitizer, they also say
// whether the library is free of data races.
//
//===----------------------------------------------------------------------===//

#include "HipSimFixture.h"

#include <atomic>
#include <thread>

using namespace netra::test;

namespace {

constexpr int numThreads = 8;

/// The kernel's function, for one value of each operand.
uint32_t step(uint32_t x, uint32_t y, uint32_t z, uint32_t k) {
  return x * y + z + k;
}

class HipSimStressTest : public HipSimTest {
protected:
  template <typename Work> static void inThreads(Work work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < numThreads; ++i)
      threads.emplace_back([&, i] { work(i); });
    for (std::thread &thread : threads)
      thread.join();
  }
};

/// Every thread has streams, events, buffers and a graph of its own, and all
/// use one function.
TEST_F(HipSimStressTest, ThreadsWithStreamsEventsAndGraphs) {
  std::atomic<int> failures{0};
  inThreads([&](int thread) {
    auto check = [&](hipError_t code) { failures += code != hipSuccess; };
    const uint32_t seed = uint32_t(thread) * 17 + 1;
    uint32_t *x, *y;
    hipStream_t first, second;
    hipEvent_t event, back;
    check(hipMalloc(reinterpret_cast<void **>(&x), tinyBytes));
    check(hipMalloc(reinterpret_cast<void **>(&y), tinyBytes));
    check(hipStreamCreateWithFlags(&first, thread % 2 ? hipStreamNonBlocking
                                                      : hipStreamDefault));
    check(hipStreamCreate(&second));
    check(hipEventCreate(&event));
    check(hipEventCreate(&back));
    hipGraph_t graph;
    hipGraphExec_t executable;
    check(hipStreamBeginCapture(first, hipStreamCaptureModeThreadLocal));
    check(launch(y, b, c, x, 1, first));
    check(hipEventRecord(event, first));
    check(hipStreamWaitEvent(second, event, 0));
    check(launch(x, b, c, y, 2, second));
    check(hipEventRecord(back, second));
    check(hipStreamWaitEvent(first, back, 0));
    check(hipStreamEndCapture(first, &graph));
    check(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));

    std::vector<uint32_t> values(tinyElements, seed), result(tinyElements);
    uint32_t expected = seed;
    check(hipMemcpyAsync(y, values.data(), tinyBytes, hipMemcpyHostToDevice,
                         first));
    for (int round = 0; round < 6; ++round) {
      check(hipGraphLaunch(executable, first));
      expected = step(step(expected, 5, 7, 1), 5, 7, 2);
      check(hipEventRecord(event, first));
      check(hipStreamWaitEvent(second, event, 0));
      check(launch(y, b, c, y, uint32_t(round), second));
      expected = step(expected, 5, 7, uint32_t(round));
      check(hipEventRecord(back, second));
      check(hipStreamWaitEvent(first, back, 0));
      hipError_t query = hipEventQuery(back);
      failures += query != hipSuccess && query != hipErrorNotReady;
    }
    check(hipMemcpyAsync(result.data(), y, tinyBytes, hipMemcpyDeviceToHost,
                         first));
    check(hipStreamSynchronize(first));
    failures += result != constant(expected);
    check(hipStreamSynchronize(hipStreamPerThread));
    check(hipGraphExecDestroy(executable));
    check(hipGraphDestroy(graph));
    check(hipEventDestroy(event));
    check(hipEventDestroy(back));
    check(hipStreamDestroy(first));
    check(hipStreamDestroy(second));
    check(hipFree(x));
    check(hipFree(y));
  });
  EXPECT_EQ(failures, 0);
  EXPECT_HIP(hipDeviceSynchronize());
}

/// Threads hand one buffer around with events, whose owner is another thread.
TEST_F(HipSimStressTest, ThreadsShareStreams) {
  constexpr int rounds = 10;
  hipStream_t shared;
  ASSERT_HIP(hipStreamCreate(&shared));
  ASSERT_HIP(hipMemset(out, 0, tinyBytes));
  std::atomic<int> failures{0};
  // out = out * 1 + 0 + 1, from every thread: the order does not matter.
  uint32_t *one, *zero;
  ASSERT_HIP(hipMalloc(reinterpret_cast<void **>(&one), tinyBytes));
  ASSERT_HIP(hipMalloc(reinterpret_cast<void **>(&zero), tinyBytes));
  ASSERT_HIP(hipMemsetD32(one, 1, tinyElements));
  ASSERT_HIP(hipMemset(zero, 0, tinyBytes));
  inThreads([&](int) {
    for (int i = 0; i < rounds; ++i) {
      failures += launch(out, one, zero, out, 1, shared) != hipSuccess;
      if (i % 4 == 3)
        failures += hipStreamSynchronize(shared) != hipSuccess;
    }
  });
  ASSERT_HIP(hipStreamSynchronize(shared));
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(read(out), constant(numThreads * rounds));
  ASSERT_HIP(hipFree(one));
  ASSERT_HIP(hipFree(zero));
  ASSERT_HIP(hipStreamDestroy(shared));
}

/// Objects come and go while others use the library, and options change.
TEST_F(HipSimStressTest, HandlesComeAndGo) {
  std::atomic<int> failures{0};
  inThreads([&](int thread) {
    auto check = [&](hipError_t code) { failures += code != hipSuccess; };
    for (int round = 0; round < 8; ++round) {
      hipModule_t own;
      hipFunction_t ownFunction;
      hipGraph_t graph;
      hipGraphNode_t node;
      void *memory, *pinned;
      check(hipModuleLoadData(&own, tinyCode().data()));
      check(hipModuleGetFunction(&ownFunction, own, "netra_test_multiply_add"));
      check(hipMalloc(&memory, tinyBytes));
      check(hipHostMalloc(&pinned, tinyBytes, 0));
      check(hipGraphCreate(&graph, 0));
      check(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
      uint32_t k = 1;
      void *parameters[] = {&a, &b, &c, &memory, &k};
      check(hipModuleLaunchKernel(ownFunction, tinyElements / 64, 1, 1, 64, 1,
                                  1, 0, hipStreamPerThread, parameters,
                                  nullptr));
      check(hipMemcpyAsync(pinned, memory, tinyBytes, hipMemcpyDeviceToHost,
                           hipStreamPerThread));
      if (thread == 0)
        failures +=
            netra_hipsim_set_option("schedule", round % 2 ? "round-robin"
                                                          : "to-barrier") != 0;
      check(hipStreamSynchronize(hipStreamPerThread));
      failures += *static_cast<uint32_t *>(pinned) != 3 * 5 + 7 + 1;
      failures += hipSetDevice(1) != hipErrorInvalidDevice;
      failures += hipGetLastError() != hipErrorInvalidDevice;
      check(hipGraphDestroy(graph));
      check(hipHostFree(pinned));
      check(hipFree(memory));
      check(hipModuleUnload(own));
    }
  });
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(netra_hipsim_set_option("schedule", "round-robin"), 0);
}

} // namespace
