//===- HipAbiTests.cpp - HipAbi.h against HIP's own headers ---------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Built where HIP's headers are installed. Compiling is the test.
//
//===----------------------------------------------------------------------===//

#include "HipAbi.h"

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <gtest/gtest.h>

namespace sim = netra::hip;

#define SAME(name) static_assert(int(sim::name) == int(hip##name), "hip" #name)

SAME(Success);
SAME(ErrorInvalidValue);
SAME(ErrorOutOfMemory);
SAME(ErrorNotInitialized);
SAME(ErrorDeinitialized);
SAME(ErrorInvalidConfiguration);
SAME(ErrorInvalidSymbol);
SAME(ErrorInvalidDevicePointer);
SAME(ErrorInvalidMemcpyDirection);
SAME(ErrorInvalidDeviceFunction);
SAME(ErrorNoDevice);
SAME(ErrorInvalidDevice);
SAME(ErrorInvalidImage);
SAME(ErrorInvalidContext);
SAME(ErrorNoBinaryForGpu);
SAME(ErrorInvalidKernelFile);
SAME(ErrorFileNotFound);
SAME(ErrorOperatingSystem);
SAME(ErrorInvalidHandle);
SAME(ErrorIllegalState);
SAME(ErrorNotFound);
SAME(ErrorNotReady);
SAME(ErrorIllegalAddress);
SAME(ErrorLaunchOutOfResources);
SAME(ErrorLaunchTimeOut);
SAME(ErrorLaunchFailure);
SAME(ErrorCooperativeLaunchTooLarge);
SAME(ErrorNotSupported);
SAME(ErrorStreamCaptureUnsupported);
SAME(ErrorStreamCaptureInvalidated);
SAME(ErrorStreamCaptureMerge);
SAME(ErrorStreamCaptureUnmatched);
SAME(ErrorStreamCaptureUnjoined);
SAME(ErrorStreamCaptureIsolation);
SAME(ErrorStreamCaptureImplicit);
SAME(ErrorCapturedEvent);
SAME(ErrorStreamCaptureWrongThread);
SAME(ErrorGraphExecUpdateFailure);
SAME(ErrorUnknown);
SAME(MemcpyHostToHost);
SAME(MemcpyHostToDevice);
SAME(MemcpyDeviceToHost);
SAME(MemcpyDeviceToDevice);
SAME(MemcpyDefault);
SAME(StreamCaptureModeGlobal);
SAME(StreamCaptureModeThreadLocal);
SAME(StreamCaptureModeRelaxed);
SAME(StreamCaptureStatusNone);
SAME(StreamCaptureStatusActive);
SAME(StreamCaptureStatusInvalidated);
SAME(StreamDefault);
SAME(StreamNonBlocking);
SAME(EventDefault);
SAME(EventBlockingSync);
SAME(EventDisableTiming);
SAME(DeviceAttributeCanMapHostMemory);
SAME(DeviceAttributeClockRate);
SAME(DeviceAttributeConcurrentKernels);
SAME(DeviceAttributeCooperativeLaunch);
SAME(DeviceAttributeIntegrated);
SAME(DeviceAttributeL2CacheSize);
SAME(DeviceAttributeComputeCapabilityMajor);
SAME(DeviceAttributeManagedMemory);
SAME(DeviceAttributeMaxBlockDimX);
SAME(DeviceAttributeMaxBlockDimY);
SAME(DeviceAttributeMaxBlockDimZ);
SAME(DeviceAttributeMaxGridDimX);
SAME(DeviceAttributeMaxGridDimY);
SAME(DeviceAttributeMaxGridDimZ);
SAME(DeviceAttributeMaxThreadsPerBlock);
SAME(DeviceAttributeMaxThreadsPerMultiProcessor);
SAME(DeviceAttributeMemoryBusWidth);
SAME(DeviceAttributeMemoryClockRate);
SAME(DeviceAttributeComputeCapabilityMinor);
SAME(DeviceAttributeMultiprocessorCount);
SAME(DeviceAttributePciBusId);
SAME(DeviceAttributePciDeviceId);
SAME(DeviceAttributeMaxRegistersPerBlock);
SAME(DeviceAttributeMaxRegistersPerMultiprocessor);
SAME(DeviceAttributeMaxSharedMemoryPerBlock);
SAME(DeviceAttributeSharedMemPerMultiprocessor);
SAME(DeviceAttributeTotalConstantMemory);
SAME(DeviceAttributeTotalGlobalMem);
SAME(DeviceAttributeUnifiedAddressing);
SAME(DeviceAttributeWarpSize);
SAME(DeviceAttributeMaxSharedMemoryPerMultiprocessor);
SAME(DeviceAttributePhysicalMultiProcessorCount);

static_assert(int(sim::DeviceAttributePciDomainId) ==
              int(hipDeviceAttributePciDomainID));
static_assert(int(sim::FunctionMaxThreadsPerBlock) ==
              int(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(int(sim::FunctionSharedSizeBytes) ==
              int(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
static_assert(int(sim::FunctionNumRegs) == int(HIP_FUNC_ATTRIBUTE_NUM_REGS));
static_assert(int(sim::FunctionPreferredSharedMemoryCarveout) ==
              int(HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT));

#if HIP_VERSION_MAJOR < 6
static_assert(sizeof(sim::DeviceProp5) == sizeof(hipDeviceProp_t));
static_assert(offsetof(sim::DeviceProp5, gcnArchName) ==
              offsetof(hipDeviceProp_t, gcnArchName));
static_assert(offsetof(sim::DeviceProp5, warpSize) ==
              offsetof(hipDeviceProp_t, warpSize));
static_assert(offsetof(sim::DeviceProp5, managedMemory) ==
              offsetof(hipDeviceProp_t, managedMemory));
static_assert(int(sim::MemoryTypeHost) == int(hipMemoryTypeHost));
static_assert(int(sim::MemoryTypeDevice) == int(hipMemoryTypeDevice));
#else
static_assert(sizeof(sim::DeviceProp6) == sizeof(hipDeviceProp_t));
static_assert(offsetof(sim::DeviceProp6, gcnArchName) ==
              offsetof(hipDeviceProp_t, gcnArchName));
static_assert(offsetof(sim::DeviceProp6, warpSize) ==
              offsetof(hipDeviceProp_t, warpSize));
#endif
static_assert(sizeof(sim::PointerAttribute) == sizeof(hipPointerAttribute_t));

TEST(HipAbiTest, LaunchParameters) {
  EXPECT_EQ(reinterpret_cast<void *>(sim::LaunchParamBufferPointer),
            HIP_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(reinterpret_cast<void *>(sim::LaunchParamBufferSize),
            HIP_LAUNCH_PARAM_BUFFER_SIZE);
  EXPECT_EQ(reinterpret_cast<void *>(sim::LaunchParamEnd),
            HIP_LAUNCH_PARAM_END);
}
