//===- HipSimTests.cpp - HIP's interface over the simulator ---------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What works. Errors are in HipSimErrorTests.cpp, explicit graphs in
// HipSimGraphTests.cpp.
//
//===----------------------------------------------------------------------===//

#include "HipSimFixture.h"

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

using namespace netra::test;

namespace {

TEST_F(HipSimTest, SaysWhatItIs) {
  int count = 0;
  ASSERT_HIP(hipGetDeviceCount(&count));
  EXPECT_EQ(count, 1);
  hipDeviceProp_t properties;
  ASSERT_HIP(hipGetDeviceProperties(&properties, 0));
  EXPECT_EQ(std::string(properties.gcnArchName).substr(0, 6), "gfx950");
  EXPECT_NE(std::string(properties.name).find("simulator"), std::string::npos);
  EXPECT_EQ(properties.warpSize, 64);
  EXPECT_EQ(properties.sharedMemPerBlock, 163840u);
  int value = 0;
  ASSERT_HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
  EXPECT_EQ(value, 64);
  EXPECT_EQ(hipSetDevice(1), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_STREQ(hipGetErrorName(hipErrorIllegalAddress),
               "hipErrorIllegalAddress");
}

TEST_F(HipSimTest, LaunchesWithParametersAndWithABuffer) {
  ASSERT_HIP(launch(a, b, c, out, 11));
  EXPECT_EQ(read(out), constant(3 * 5 + 7 + 11));
  struct {
    const uint32_t *x, *y, *z;
    uint32_t *result;
    uint32_t k;
  } arguments = {a, b, c, out, 100};
  size_t size = 36;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments,
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  ASSERT_HIP(hipModuleLaunchKernel(function, tinyElements / 64, 1, 1, 64, 1, 1,
                                   0, nullptr, nullptr, extra));
  EXPECT_EQ(read(out), constant(122));
}

TEST_F(HipSimTest, StreamsRunInOrder) {
  hipStream_t stream;
  ASSERT_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  ASSERT_HIP(hipMemsetAsync(out, 0, tinyBytes, stream));
  // out = out * b + c + 1, ten times.
  uint32_t expected = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_HIP(launch(out, b, c, out, 1, stream));
    expected = expected * 5 + 7 + 1;
  }
  ASSERT_HIP(hipStreamSynchronize(stream));
  EXPECT_EQ(read(out), constant(expected));
  ASSERT_HIP(hipStreamDestroy(stream));
}

TEST_F(HipSimTest, StreamsAreAsynchronousAndEventsOrderThem) {
  hipStream_t first, second;
  hipEvent_t event, end;
  ASSERT_HIP(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  ASSERT_HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  ASSERT_HIP(hipEventCreate(&event));
  ASSERT_HIP(hipEventCreate(&end));
  static std::atomic<bool> open;
  open = false;
  ASSERT_HIP(hipLaunchHostFunc(
      first,
      [](void *) {
        while (!open)
          std::this_thread::yield();
      },
      nullptr));
  ASSERT_HIP(launch(a, b, c, out, 1, first));
  ASSERT_HIP(hipEventRecord(event, first));
  ASSERT_HIP(hipStreamWaitEvent(second, event, 0));
  ASSERT_HIP(launch(out, b, c, out, 2, second));
  ASSERT_HIP(hipEventRecord(end, second));
  EXPECT_EQ(hipEventQuery(event), hipErrorNotReady);
  EXPECT_EQ(hipStreamQuery(second), hipErrorNotReady);
  (void)hipGetLastError();
  open = true;
  ASSERT_HIP(hipEventSynchronize(end));
  float milliseconds = -1;
  ASSERT_HIP(hipEventElapsedTime(&milliseconds, event, end));
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(read(out), constant((3 * 5 + 7 + 1) * 5 + 7 + 2));
  ASSERT_HIP(hipStreamDestroy(first));
  ASSERT_HIP(hipStreamDestroy(second));
  ASSERT_HIP(hipEventDestroy(event));
  ASSERT_HIP(hipEventDestroy(end));
}

TEST_F(HipSimTest, TheDefaultStreamWaitsForBlockingStreams) {
  hipStream_t stream;
  ASSERT_HIP(hipStreamCreate(&stream));
  for (int i = 0; i < 20; ++i) {
    ASSERT_HIP(hipMemset(out, 0, tinyBytes));
    ASSERT_HIP(launch(a, b, c, out, 1, stream));
    ASSERT_HIP(launch(out, b, c, out, 2)); // default stream
    ASSERT_HIP(launch(out, b, c, out, 3, stream));
    ASSERT_HIP(hipStreamSynchronize(stream));
    ASSERT_EQ(read(out), constant(((23 * 5) + 9) * 5 + 10));
  }
  ASSERT_HIP(hipStreamDestroy(stream));
}

TEST_F(HipSimTest, StagedCopiesMayBeReused) {
  hipStream_t stream;
  ASSERT_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  std::vector<uint32_t> values(tinyElements, 42);
  ASSERT_HIP(hipMemcpyAsync(a, values.data(), tinyBytes, hipMemcpyHostToDevice,
                            stream));
  std::fill(values.begin(), values.end(), 0);
  ASSERT_HIP(launch(a, b, c, out, 0, stream));
  ASSERT_HIP(hipMemcpyAsync(values.data(), out, tinyBytes,
                            hipMemcpyDeviceToHost, stream));
  ASSERT_HIP(hipStreamSynchronize(stream));
  EXPECT_EQ(values, constant(42 * 5 + 7));
  ASSERT_HIP(hipStreamDestroy(stream));
}

TEST_F(HipSimTest, CapturedGraphsReplay) {
  hipStream_t stream, side;
  hipEvent_t fork, join;
  ASSERT_HIP(hipStreamCreate(&stream));
  ASSERT_HIP(hipStreamCreate(&side));
  ASSERT_HIP(hipEventCreate(&fork));
  ASSERT_HIP(hipEventCreate(&join));
  uint32_t *t;
  ASSERT_HIP(hipMalloc(reinterpret_cast<void **>(&t), tinyBytes));

  ASSERT_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  hipStreamCaptureStatus status;
  ASSERT_HIP(hipStreamIsCapturing(stream, &status));
  EXPECT_EQ(status, hipStreamCaptureStatusActive);
  ASSERT_HIP(launch(a, b, c, t, 1, stream));
  ASSERT_HIP(hipEventRecord(fork, stream));
  ASSERT_HIP(hipStreamWaitEvent(side, fork, 0));
  ASSERT_HIP(launch(t, b, c, out, 2, side));
  ASSERT_HIP(hipEventRecord(join, side));
  ASSERT_HIP(hipStreamWaitEvent(stream, join, 0));
  hipGraph_t graph;
  ASSERT_HIP(hipStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  ASSERT_HIP(hipGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 2u);
  hipGraphExec_t executable;
  ASSERT_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  ASSERT_HIP(hipGraphDestroy(graph));

  for (uint32_t value : {3u, 8u}) {
    fill(a, value);
    ASSERT_HIP(hipGraphLaunch(executable, stream));
    ASSERT_HIP(hipStreamSynchronize(stream));
    EXPECT_EQ(read(out), constant((value * 5 + 7 + 1) * 5 + 7 + 2));
  }
  ASSERT_HIP(hipGraphExecDestroy(executable));
  EXPECT_EQ(hipGraphLaunch(executable, stream), hipErrorInvalidValue);
  ASSERT_HIP(hipFree(t));
  for (hipStream_t s : {stream, side})
    ASSERT_HIP(hipStreamDestroy(s));
  for (hipEvent_t e : {fork, join})
    ASSERT_HIP(hipEventDestroy(e));
}

TEST_F(HipSimTest, CaptureViolations) {
  hipStream_t stream, side;
  hipEvent_t event;
  hipGraph_t graph;
  ASSERT_HIP(hipStreamCreate(&stream));
  ASSERT_HIP(hipStreamCreate(&side));
  ASSERT_HIP(hipEventCreate(&event));
  EXPECT_EQ(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal),
            hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorIllegalState);
  auto begin = [&] {
    ASSERT_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  };
  begin();
  EXPECT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal),
            hipErrorIllegalState);
  EXPECT_EQ(hipStreamSynchronize(stream), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph),
            hipErrorStreamCaptureInvalidated);
  begin();
  void *memory;
  EXPECT_EQ(hipMalloc(&memory, 16), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph),
            hipErrorStreamCaptureInvalidated);
  begin(); // a fork that is not joined
  ASSERT_HIP(launch(a, b, c, out, 1, stream));
  ASSERT_HIP(hipEventRecord(event, stream));
  ASSERT_HIP(hipStreamWaitEvent(side, event, 0));
  ASSERT_HIP(launch(a, b, c, out, 1, side));
  EXPECT_EQ(hipStreamEndCapture(side, &graph), hipErrorStreamCaptureUnmatched);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureUnjoined);
  EXPECT_EQ(hipEventSynchronize(event), hipErrorCapturedEvent);
  begin(); // an event from outside
  ASSERT_HIP(hipEventRecord(event, side));
  EXPECT_EQ(hipStreamWaitEvent(stream, event, 0),
            hipErrorStreamCaptureIsolation);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph),
            hipErrorStreamCaptureInvalidated);
  // And usable again.
  begin();
  ASSERT_HIP(hipStreamEndCapture(stream, &graph));
  ASSERT_HIP(hipGraphDestroy(graph));
  ASSERT_HIP(hipStreamDestroy(stream));
  ASSERT_HIP(hipStreamDestroy(side));
  ASSERT_HIP(hipEventDestroy(event));
}

TEST_F(HipSimTest, FindingsAppearAtSynchronisation) {
  ASSERT_EQ(netra_hipsim_set_option("check", "all"), 0)
      << netra_hipsim_message();
  netra_hipsim_clear();
  hipStream_t stream;
  ASSERT_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  ASSERT_HIP(launch(a, b, c, out, 1, stream));
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_EQ(netra_hipsim_finding_count(), 0u);

  // One work-group too many reads and writes beyond the buffers.
  testing::internal::CaptureStderr();
  ASSERT_HIP(launch(a, b, c, out, 1, stream, tinyElements / 64 + 1));
  EXPECT_EQ(hipStreamSynchronize(stream), hipErrorIllegalAddress);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("netra_test_multiply_add"), std::string::npos) << text;
  EXPECT_GT(netra_hipsim_finding_count(), 0u);
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess); // told once

  // Never written memory.
  uint32_t *raw;
  ASSERT_HIP(hipMalloc(reinterpret_cast<void **>(&raw), tinyBytes));
  testing::internal::CaptureStderr();
  ASSERT_HIP(launch(raw, b, c, out, 1, stream));
  EXPECT_EQ(hipStreamSynchronize(stream), hipErrorLaunchFailure);
  testing::internal::GetCapturedStderr();
  ASSERT_HIP(hipFree(raw));
  ASSERT_HIP(hipStreamDestroy(stream));
}

TEST_F(HipSimTest, RecordsLaunchesWithCounters) {
  netra_hipsim_set_option("record", "on");
  netra_hipsim_set_option("counters", "on");
  netra_hipsim_clear();
  ASSERT_HIP(launch(a, b, c, out, 1));
  ASSERT_HIP(hipDeviceSynchronize());
  std::string text(netra_hipsim_launches(nullptr, 0) + 1, '\0');
  text.resize(netra_hipsim_launches(text.data(), text.size()));
  EXPECT_NE(text.find("\"kernel\": \"netra_test_multiply_add\""),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("counters"), std::string::npos) << text;
  char small[8] = "xxxxxxx";
  EXPECT_EQ(netra_hipsim_launches(small, sizeof(small)), text.size());
  EXPECT_EQ(std::strlen(small), 7u);
  netra_hipsim_set_option("record", "off");
  netra_hipsim_set_option("counters", "off");
  netra_hipsim_clear();
}

TEST_F(HipSimTest, OptionsAreChecked) {
  EXPECT_NE(netra_hipsim_set_option("check", "everything"), 0);
  EXPECT_NE(netra_hipsim_set_option("mfma", "guess"), 0);
  EXPECT_NE(std::string(netra_hipsim_message()).find("cdna3"),
            std::string::npos);
  EXPECT_NE(netra_hipsim_set_option("no such", "1"), 0);
  EXPECT_EQ(netra_hipsim_set_option("schedule", "random:7"), 0);
  EXPECT_EQ(netra_hipsim_set_option("schedule", "round-robin"), 0);
  EXPECT_EQ(netra_hipsim_set_option(nullptr, "1"), int(hipErrorInvalidValue));
  for (auto [option, expected, bad] :
       {std::array{"instruction_limit",
                   "a number of instructions below 2^64, or 0 for no limit",
                   "18446744073709551616"},
        std::array{"report_limit", "a number of reports up to 1000000",
                   "1000001"}})
    for (std::string value : {"x", "", "-1", "010", bad}) {
      EXPECT_NE(netra_hipsim_set_option(option, value.c_str()), 0) << value;
      EXPECT_EQ(netra_hipsim_message(), std::string("option ") + option +
                                            ": expected " + expected +
                                            ", found \"" + value + '"');
    }
  EXPECT_EQ(netra_hipsim_set_option("report_limit", "1000000"), 0);
  EXPECT_EQ(netra_hipsim_set_option("report_limit", "20"), 0);
  EXPECT_EQ(netra_hipsim_set_option("instruction_limit", "0"), 0);
}

TEST_F(HipSimTest, HostMemory) {
  void *pinned;
  ASSERT_HIP(hipHostMalloc(&pinned, tinyBytes, 0));
  auto *values = static_cast<uint32_t *>(pinned);
  for (uint32_t i = 0; i < tinyElements; ++i)
    values[i] = i;
  void *device;
  ASSERT_HIP(hipHostGetDevicePointer(&device, pinned, 0));
  ASSERT_HIP(launch(static_cast<uint32_t *>(device), b, c, out, 0));
  std::vector<uint32_t> result = read(out);
  for (uint32_t i = 0; i < tinyElements; ++i)
    ASSERT_EQ(result[i], i * 5 + 7);
  hipPointerAttribute_t attributes;
  ASSERT_HIP(hipPointerGetAttributes(&attributes, pinned));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeHost);
  ASSERT_HIP(hipPointerGetAttributes(&attributes, out));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeDevice);
  ASSERT_HIP(hipHostFree(pinned));
  EXPECT_EQ(hipHostFree(pinned), hipErrorInvalidValue);
}

TEST_F(HipSimTest, FunctionsAndOccupancy) {
  int value = 0;
  ASSERT_HIP(hipFuncGetAttribute(
      &value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  EXPECT_EQ(value, 64);
  int blocks = 0;
  ASSERT_HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, function, 64, 0));
  EXPECT_GT(blocks, 0);
}

} // namespace
