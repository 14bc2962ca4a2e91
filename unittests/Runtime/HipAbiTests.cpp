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

namespace abi = netra::hip;

#define SAME(name) static_assert(int(abi::name) == int(hip##name), "hip" #name)

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

static_assert(int(abi::DeviceAttributePciDomainId) ==
              int(hipDeviceAttributePciDomainID));
static_assert(int(abi::FunctionMaxThreadsPerBlock) ==
              int(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(int(abi::FunctionSharedSizeBytes) ==
              int(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
static_assert(int(abi::FunctionNumRegs) == int(HIP_FUNC_ATTRIBUTE_NUM_REGS));
static_assert(int(abi::FunctionPreferredSharedMemoryCarveout) ==
              int(HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT));

#if HIP_VERSION_MAJOR < 6
static_assert(sizeof(abi::DeviceProp5) == sizeof(hipDeviceProp_t));
static_assert(offsetof(abi::DeviceProp5, gcnArchName) ==
              offsetof(hipDeviceProp_t, gcnArchName));
static_assert(offsetof(abi::DeviceProp5, warpSize) ==
              offsetof(hipDeviceProp_t, warpSize));
static_assert(offsetof(abi::DeviceProp5, managedMemory) ==
              offsetof(hipDeviceProp_t, managedMemory));
static_assert(int(abi::MemoryTypeHost) == int(hipMemoryTypeHost));
static_assert(int(abi::MemoryTypeDevice) == int(hipMemoryTypeDevice));
#else
static_assert(sizeof(abi::DeviceProp6) == sizeof(hipDeviceProp_t));
static_assert(offsetof(abi::DeviceProp6, gcnArchName) ==
              offsetof(hipDeviceProp_t, gcnArchName));
static_assert(offsetof(abi::DeviceProp6, warpSize) ==
              offsetof(hipDeviceProp_t, warpSize));
#endif
static_assert(sizeof(abi::PointerAttribute) == sizeof(hipPointerAttribute_t));

TEST(HipAbiTest, LaunchParameters) {
  EXPECT_EQ(reinterpret_cast<void *>(abi::LaunchParamBufferPointer),
            HIP_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(reinterpret_cast<void *>(abi::LaunchParamBufferSize),
            HIP_LAUNCH_PARAM_BUFFER_SIZE);
  EXPECT_EQ(reinterpret_cast<void *>(abi::LaunchParamEnd),
            HIP_LAUNCH_PARAM_END);
}
