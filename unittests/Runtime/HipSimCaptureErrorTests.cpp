//===- HipSimCaptureErrorTests.cpp - What a capture does not allow --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "HipSimMisuse.h"

using namespace netra::test;

namespace {

/// One violation: what is done between begin and end, its code, and the code of
/// the end.
struct Violation {
  const char *name;
  std::function<hipError_t()> call;
  hipError_t expected, atEnd;
};

TEST_F(HipSimErrorTest, Captures) {
  hipStream_t stream, side, other;
  hipEvent_t event, outside;
  ASSERT_HIP(hipStreamCreate(&stream));
  ASSERT_HIP(hipStreamCreate(&side));
  ASSERT_HIP(hipStreamCreate(&other));
  ASSERT_HIP(hipEventCreate(&event));
  ASSERT_HIP(hipEventCreate(&outside));
  ASSERT_HIP(hipEventRecord(outside, side));
  hipGraph_t graph;
  void *place;
  char host[8] = {};
  auto fork = [&] {
    EXPECT_EQ(launch(a, b, c, out, 1, stream), hipSuccess);
    EXPECT_EQ(hipEventRecord(event, stream), hipSuccess);
    EXPECT_EQ(hipStreamWaitEvent(side, event, 0), hipSuccess);
    return launch(a, b, c, out, 1, side);
  };
  const Violation table[] = {
      {"nothing", [] { return hipSuccess; }, hipSuccess, hipSuccess},
      {"begin again",
       [&] {
         return hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
       },
       hipErrorIllegalState, hipSuccess},
      {"synchronize", [&] { return hipStreamSynchronize(stream); },
       hipErrorStreamCaptureUnsupported, hipErrorStreamCaptureInvalidated},
      {"query", [&] { return hipStreamQuery(stream); },
       hipErrorStreamCaptureUnsupported, hipErrorStreamCaptureInvalidated},
      {"synchronize the device", [&] { return hipDeviceSynchronize(); },
       hipErrorStreamCaptureUnsupported, hipErrorStreamCaptureInvalidated},
      {"allocate", [&] { return hipMalloc(&place, 16); },
       hipErrorStreamCaptureUnsupported, hipErrorStreamCaptureInvalidated},
      {"free", [&] { return hipFree(out); }, hipErrorStreamCaptureUnsupported,
       hipErrorStreamCaptureInvalidated},
      {"unload", [&] { return hipModuleUnload(module); },
       hipErrorStreamCaptureUnsupported, hipErrorStreamCaptureInvalidated},
      {"copy now", [&] { return hipMemcpy(host, a, 8, hipMemcpyDeviceToHost); },
       hipErrorStreamCaptureImplicit, hipErrorStreamCaptureInvalidated},
      {"memset now", [&] { return hipMemset(a, 0, 8); },
       hipErrorStreamCaptureImplicit, hipErrorStreamCaptureInvalidated},
      {"work on the default stream", [&] { return launch(a, b, c, out, 1); },
       hipErrorStreamCaptureImplicit, hipErrorStreamCaptureInvalidated},
      {"draw in the default stream",
       [&] {
         EXPECT_EQ(hipEventRecord(event, stream), hipSuccess);
         return hipStreamWaitEvent(nullptr, event, 0);
       },
       hipErrorStreamCaptureImplicit, hipErrorStreamCaptureInvalidated},
      {"callback",
       [&] {
         return hipStreamAddCallback(
             stream, [](hipStream_t, hipError_t, void *) {}, nullptr, 0);
       },
       hipErrorStreamCaptureUnsupported, hipErrorStreamCaptureInvalidated},
      {"wait for an event from outside",
       [&] { return hipStreamWaitEvent(stream, outside, 0); },
       hipErrorStreamCaptureIsolation, hipErrorStreamCaptureInvalidated},
      {"query an event of the capture",
       [&] {
         EXPECT_EQ(hipEventRecord(event, stream), hipSuccess);
         return hipEventQuery(event);
       },
       hipErrorCapturedEvent, hipSuccess},
      {"a fork that is not joined", fork, hipSuccess,
       hipErrorStreamCaptureUnjoined},
      {"end in another stream",
       [&] {
         EXPECT_EQ(fork(), hipSuccess);
         return hipStreamEndCapture(side, &graph);
       },
       hipErrorStreamCaptureUnmatched, hipErrorStreamCaptureUnjoined},
      {"end in another thread",
       [&] {
         hipError_t code = hipSuccess;
         std::thread([&] {
           code = hipStreamEndCapture(stream, &graph);
         }).join();
         return code;
       },
       hipErrorStreamCaptureWrongThread, hipSuccess},
      {"a launch that fails by itself",
       [&] { return launchShape(0, 1, 1, 64, 1, 1); }, hipErrorInvalidValue,
       hipSuccess},
  };
  for (const Violation &violation : table) {
    SCOPED_TRACE(violation.name);
    ASSERT_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    EXPECT_EQ(violation.call(), violation.expected) << netra_hipsim_message();
    hipStreamCaptureStatus status;
    ASSERT_HIP(hipStreamIsCapturing(stream, &status));
    EXPECT_EQ(status, violation.atEnd == hipErrorStreamCaptureInvalidated
                          ? hipStreamCaptureStatusInvalidated
                          : hipStreamCaptureStatusActive);
    graph = nullptr;
    EXPECT_EQ(hipStreamEndCapture(stream, &graph), violation.atEnd);
    EXPECT_EQ(graph != nullptr, violation.atEnd == hipSuccess);
    if (graph) {
      EXPECT_HIP(hipGraphDestroy(graph));
    }
  }

  // Two captures meet.
  ASSERT_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  ASSERT_HIP(hipStreamBeginCapture(other, hipStreamCaptureModeThreadLocal));
  ASSERT_HIP(hipEventRecord(event, stream));
  EXPECT_EQ(hipStreamWaitEvent(other, event, 0), hipErrorStreamCaptureMerge);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph),
            hipErrorStreamCaptureInvalidated);
  EXPECT_EQ(hipStreamEndCapture(other, &graph),
            hipErrorStreamCaptureInvalidated);

  check({
      {"capture the default stream",
       [&] {
         return hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal);
       },
       hipErrorStreamCaptureUnsupported, "default"},
      {"unknown mode",
       [&] { return hipStreamBeginCapture(stream, hipStreamCaptureMode(3)); },
       hipErrorInvalidValue, "found 3"},
      {"end what was not begun",
       [&] { return hipStreamEndCapture(stream, &graph); },
       hipErrorIllegalState, "not being captured"},
      {"no place for the graph",
       [&] { return hipStreamEndCapture(stream, nullptr); },
       hipErrorInvalidValue, "graph"},
      {"an event of a capture that ended",
       [&] { return hipStreamWaitEvent(stream, event, 0); },
       hipErrorCapturedEvent, "ended"},
  });

  // The mode of other threads' captures, and of the thread itself.
  hipError_t inOther = hipSuccess;
  auto allocate = [&] {
    void *memory = nullptr;
    inOther = hipMalloc(&memory, 16);
    if (memory)
      (void)hipFree(memory);
  };
  for (auto [mode, expected] :
       {std::pair(hipStreamCaptureModeGlobal, hipErrorStreamCaptureUnsupported),
        std::pair(hipStreamCaptureModeThreadLocal, hipSuccess),
        std::pair(hipStreamCaptureModeRelaxed, hipSuccess)}) {
    ASSERT_HIP(hipStreamBeginCapture(stream, mode));
    std::thread(allocate).join();
    EXPECT_EQ(inOther, expected) << mode;
    EXPECT_EQ(hipStreamEndCapture(stream, &graph),
              expected ? hipErrorStreamCaptureInvalidated : hipSuccess);
    if (!expected) {
      EXPECT_HIP(hipGraphDestroy(graph));
    }
  }
  ASSERT_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  ASSERT_HIP(hipThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, hipStreamCaptureModeGlobal);
  allocate();
  EXPECT_EQ(inOther, hipSuccess);
  ASSERT_HIP(hipThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, hipStreamCaptureModeRelaxed);
  ASSERT_HIP(hipStreamEndCapture(stream, &graph));
  ASSERT_HIP(hipGraphDestroy(graph));

  for (hipStream_t s : {stream, side, other})
    ASSERT_HIP(hipStreamDestroy(s));
  for (hipEvent_t e : {event, outside})
    ASSERT_HIP(hipEventDestroy(e));
}

} // namespace
