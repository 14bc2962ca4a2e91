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
SAME(ErrorProfilerDisabled);
SAME(ErrorProfilerNotInitialized);
SAME(ErrorProfilerAlreadyStarted);
SAME(ErrorProfilerAlreadyStopped);
SAME(ErrorInvalidConfiguration);
SAME(ErrorInvalidPitchValue);
SAME(ErrorInvalidSymbol);
SAME(ErrorInvalidDevicePointer);
SAME(ErrorInvalidMemcpyDirection);
SAME(ErrorInsufficientDriver);
SAME(ErrorMissingConfiguration);
SAME(ErrorPriorLaunchFailure);
SAME(ErrorInvalidDeviceFunction);
SAME(ErrorNoDevice);
SAME(ErrorInvalidDevice);
SAME(ErrorInvalidImage);
SAME(ErrorInvalidContext);
SAME(ErrorContextAlreadyCurrent);
SAME(ErrorMapFailed);
SAME(ErrorUnmapFailed);
SAME(ErrorArrayIsMapped);
SAME(ErrorAlreadyMapped);
SAME(ErrorNoBinaryForGpu);
SAME(ErrorAlreadyAcquired);
SAME(ErrorNotMapped);
SAME(ErrorNotMappedAsArray);
SAME(ErrorNotMappedAsPointer);
SAME(ErrorECCNotCorrectable);
SAME(ErrorUnsupportedLimit);
SAME(ErrorContextAlreadyInUse);
SAME(ErrorPeerAccessUnsupported);
SAME(ErrorInvalidKernelFile);
SAME(ErrorInvalidGraphicsContext);
SAME(ErrorInvalidSource);
SAME(ErrorFileNotFound);
SAME(ErrorSharedObjectSymbolNotFound);
SAME(ErrorSharedObjectInitFailed);
SAME(ErrorOperatingSystem);
SAME(ErrorInvalidHandle);
SAME(ErrorIllegalState);
SAME(ErrorNotFound);
SAME(ErrorNotReady);
SAME(ErrorIllegalAddress);
SAME(ErrorLaunchOutOfResources);
SAME(ErrorLaunchTimeOut);
SAME(ErrorPeerAccessAlreadyEnabled);
SAME(ErrorPeerAccessNotEnabled);
SAME(ErrorSetOnActiveProcess);
SAME(ErrorContextIsDestroyed);
SAME(ErrorAssert);
SAME(ErrorHostMemoryAlreadyRegistered);
SAME(ErrorHostMemoryNotRegistered);
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
SAME(ErrorRuntimeMemory);
SAME(ErrorRuntimeOther);
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
SAME(EventInterprocess);
SAME(GraphNodeTypeKernel);
SAME(GraphNodeTypeMemcpy);
SAME(GraphNodeTypeMemset);
SAME(GraphNodeTypeHost);
SAME(GraphNodeTypeGraph);
SAME(GraphNodeTypeEmpty);
SAME(GraphExecUpdateSuccess);
SAME(GraphExecUpdateError);
SAME(GraphExecUpdateErrorTopologyChanged);
SAME(GraphExecUpdateErrorNodeTypeChanged);
SAME(GraphExecUpdateErrorFunctionChanged);
SAME(GraphExecUpdateErrorParametersChanged);
SAME(GraphExecUpdateErrorNotSupported);
SAME(GraphInstantiateFlagAutoFreeOnLaunch);
SAME(DeviceAttributeCanMapHostMemory);
SAME(DeviceAttributeClockRate);
SAME(DeviceAttributeConcurrentKernels);
SAME(DeviceAttributeCooperativeLaunch);
SAME(DeviceAttributeCooperativeMultiDeviceLaunch);
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
static_assert(sim::EventReleaseToDevice == hipEventReleaseToDevice);
static_assert(sim::EventReleaseToSystem == hipEventReleaseToSystem);

// Structures that travel through pointers: every member at its place.
#define SAME_MEMBER(mine, theirs, member)                                      \
  static_assert(offsetof(sim::mine, member) == offsetof(theirs, member) &&     \
                    sizeof(sim::mine::member) == sizeof(theirs::member),       \
                #theirs "::" #member)
#define SAME_SIZE(mine, theirs)                                                \
  static_assert(sizeof(sim::mine) == sizeof(theirs), #theirs)

SAME_SIZE(KernelNodeParams, hipKernelNodeParams);
SAME_MEMBER(KernelNodeParams, hipKernelNodeParams, blockDim);
SAME_MEMBER(KernelNodeParams, hipKernelNodeParams, extra);
SAME_MEMBER(KernelNodeParams, hipKernelNodeParams, func);
SAME_MEMBER(KernelNodeParams, hipKernelNodeParams, gridDim);
SAME_MEMBER(KernelNodeParams, hipKernelNodeParams, kernelParams);
SAME_MEMBER(KernelNodeParams, hipKernelNodeParams, sharedMemBytes);
SAME_SIZE(HostNodeParams, hipHostNodeParams);
SAME_MEMBER(HostNodeParams, hipHostNodeParams, fn);
SAME_MEMBER(HostNodeParams, hipHostNodeParams, userData);
#if HIP_VERSION_MAJOR < 7
#define NETRA_MEMSET_PARAMS MemsetParams
#else
#define NETRA_MEMSET_PARAMS MemsetParams7
#endif
SAME_SIZE(NETRA_MEMSET_PARAMS, hipMemsetParams);
SAME_MEMBER(NETRA_MEMSET_PARAMS, hipMemsetParams, dst);
SAME_MEMBER(NETRA_MEMSET_PARAMS, hipMemsetParams, elementSize);
SAME_MEMBER(NETRA_MEMSET_PARAMS, hipMemsetParams, height);
SAME_MEMBER(NETRA_MEMSET_PARAMS, hipMemsetParams, pitch);
SAME_MEMBER(NETRA_MEMSET_PARAMS, hipMemsetParams, value);
SAME_MEMBER(NETRA_MEMSET_PARAMS, hipMemsetParams, width);
SAME_SIZE(PitchedPtr, hipPitchedPtr);
SAME_MEMBER(PitchedPtr, hipPitchedPtr, ptr);
SAME_MEMBER(PitchedPtr, hipPitchedPtr, pitch);
SAME_MEMBER(PitchedPtr, hipPitchedPtr, xsize);
SAME_MEMBER(PitchedPtr, hipPitchedPtr, ysize);
SAME_SIZE(Extent, hipExtent);
SAME_SIZE(Pos, hipPos);
SAME_SIZE(Memcpy3DParms, hipMemcpy3DParms);
SAME_MEMBER(Memcpy3DParms, hipMemcpy3DParms, srcArray);
SAME_MEMBER(Memcpy3DParms, hipMemcpy3DParms, srcPos);
SAME_MEMBER(Memcpy3DParms, hipMemcpy3DParms, srcPtr);
SAME_MEMBER(Memcpy3DParms, hipMemcpy3DParms, dstArray);
SAME_MEMBER(Memcpy3DParms, hipMemcpy3DParms, dstPos);
SAME_MEMBER(Memcpy3DParms, hipMemcpy3DParms, dstPtr);
SAME_MEMBER(Memcpy3DParms, hipMemcpy3DParms, extent);
SAME_MEMBER(Memcpy3DParms, hipMemcpy3DParms, kind);

TEST(HipAbiTest, LaunchParameters) {
  EXPECT_EQ(reinterpret_cast<void *>(sim::LaunchParamBufferPointer),
            HIP_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(reinterpret_cast<void *>(sim::LaunchParamBufferSize),
            HIP_LAUNCH_PARAM_BUFFER_SIZE);
  EXPECT_EQ(reinterpret_cast<void *>(sim::LaunchParamEnd),
            HIP_LAUNCH_PARAM_END);
}
