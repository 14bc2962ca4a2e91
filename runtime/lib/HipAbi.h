//===- HipAbi.h - HIP's binary interface, as far as it is used --*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The values and structure layouts of the HIP runtime that the engine runtime
// calls and the simulator exports. Written down here so that neither needs HIP
// installed to build; a unit test compares every value with HIP's own headers
// where they are installed. Handles are opaque pointers in HIP's ABI.
//
// Where HIP 5 differs from HIP 6 and 7, both forms stand here under different
// names: the two later versions give the changed functions new symbols.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_RUNTIME_HIPABI_H
#define NETRA_RUNTIME_HIPABI_H

#include <cstddef>
#include <cstdint>

namespace netra::hip {

enum Error : int {
  Success = 0,
  ErrorInvalidValue = 1,
  ErrorOutOfMemory = 2,
  ErrorNotInitialized = 3,
  ErrorDeinitialized = 4,
  ErrorProfilerDisabled = 5,
  ErrorProfilerNotInitialized = 6,
  ErrorProfilerAlreadyStarted = 7,
  ErrorProfilerAlreadyStopped = 8,
  ErrorInvalidConfiguration = 9,
  ErrorInvalidPitchValue = 12,
  ErrorInvalidSymbol = 13,
  ErrorInvalidDevicePointer = 17,
  ErrorInvalidMemcpyDirection = 21,
  ErrorInsufficientDriver = 35,
  ErrorMissingConfiguration = 52,
  ErrorPriorLaunchFailure = 53,
  ErrorInvalidDeviceFunction = 98,
  ErrorNoDevice = 100,
  ErrorInvalidDevice = 101,
  ErrorInvalidImage = 200,
  ErrorInvalidContext = 201,
  ErrorContextAlreadyCurrent = 202,
  ErrorMapFailed = 205,
  ErrorUnmapFailed = 206,
  ErrorArrayIsMapped = 207,
  ErrorAlreadyMapped = 208,
  ErrorNoBinaryForGpu = 209,
  ErrorAlreadyAcquired = 210,
  ErrorNotMapped = 211,
  ErrorNotMappedAsArray = 212,
  ErrorNotMappedAsPointer = 213,
  ErrorECCNotCorrectable = 214,
  ErrorUnsupportedLimit = 215,
  ErrorContextAlreadyInUse = 216,
  ErrorPeerAccessUnsupported = 217,
  ErrorInvalidKernelFile = 218,
  ErrorInvalidGraphicsContext = 219,
  ErrorInvalidSource = 300,
  ErrorFileNotFound = 301,
  ErrorSharedObjectSymbolNotFound = 302,
  ErrorSharedObjectInitFailed = 303,
  ErrorOperatingSystem = 304,
  ErrorInvalidHandle = 400,
  ErrorIllegalState = 401,
  ErrorNotFound = 500,
  ErrorNotReady = 600,
  ErrorIllegalAddress = 700,
  ErrorLaunchOutOfResources = 701,
  ErrorLaunchTimeOut = 702,
  ErrorPeerAccessAlreadyEnabled = 704,
  ErrorPeerAccessNotEnabled = 705,
  ErrorSetOnActiveProcess = 708,
  ErrorContextIsDestroyed = 709,
  ErrorAssert = 710,
  ErrorHostMemoryAlreadyRegistered = 712,
  ErrorHostMemoryNotRegistered = 713,
  ErrorLaunchFailure = 719,
  ErrorCooperativeLaunchTooLarge = 720,
  ErrorNotSupported = 801,
  ErrorStreamCaptureUnsupported = 900,
  ErrorStreamCaptureInvalidated = 901,
  ErrorStreamCaptureMerge = 902,
  ErrorStreamCaptureUnmatched = 903,
  ErrorStreamCaptureUnjoined = 904,
  ErrorStreamCaptureIsolation = 905,
  ErrorStreamCaptureImplicit = 906,
  ErrorCapturedEvent = 907,
  ErrorStreamCaptureWrongThread = 908,
  ErrorGraphExecUpdateFailure = 910,
  ErrorUnknown = 999,
  ErrorRuntimeMemory = 1052,
  ErrorRuntimeOther = 1053,
};

enum MemcpyKind : int {
  MemcpyHostToHost = 0,
  MemcpyHostToDevice = 1,
  MemcpyDeviceToHost = 2,
  MemcpyDeviceToDevice = 3,
  MemcpyDefault = 4,
};

enum StreamCaptureMode : int {
  StreamCaptureModeGlobal = 0,
  StreamCaptureModeThreadLocal = 1,
  StreamCaptureModeRelaxed = 2,
};

enum StreamCaptureStatus : int {
  StreamCaptureStatusNone = 0,
  StreamCaptureStatusActive = 1,
  StreamCaptureStatusInvalidated = 2,
};

constexpr unsigned StreamDefault = 0;
constexpr unsigned StreamNonBlocking = 1;
constexpr unsigned EventDefault = 0;
constexpr unsigned EventBlockingSync = 1;
constexpr unsigned EventDisableTiming = 2;
constexpr unsigned EventInterprocess = 4;
constexpr unsigned EventDisableSystemFence = 0x20000000; // since HIP 5.6
constexpr unsigned EventReleaseToDevice = 0x40000000;
constexpr unsigned EventReleaseToSystem = 0x80000000;

/// The `extra` array of hipModuleLaunchKernel is a list of these keys, each but
/// the last followed by its value.
constexpr uintptr_t LaunchParamBufferPointer = 1;
constexpr uintptr_t LaunchParamBufferSize = 2;
constexpr uintptr_t LaunchParamEnd = 3;

enum FunctionAttribute : int {
  FunctionMaxThreadsPerBlock = 0,
  FunctionSharedSizeBytes = 1,
  FunctionConstSizeBytes = 2,
  FunctionLocalSizeBytes = 3,
  FunctionNumRegs = 4,
  FunctionPtxVersion = 5,
  FunctionBinaryVersion = 6,
  FunctionCacheModeCA = 7,
  FunctionMaxDynamicSharedSizeBytes = 8,
  FunctionPreferredSharedMemoryCarveout = 9,
};

enum DeviceAttribute : int {
  DeviceAttributeCanMapHostMemory = 3,
  DeviceAttributeClockRate = 5,
  DeviceAttributeConcurrentKernels = 8,
  DeviceAttributeCooperativeLaunch = 10,
  DeviceAttributeCooperativeMultiDeviceLaunch = 11,
  DeviceAttributeIntegrated = 16,
  DeviceAttributeL2CacheSize = 19,
  DeviceAttributeComputeCapabilityMajor = 23,
  DeviceAttributeManagedMemory = 24,
  DeviceAttributeMaxBlockDimX = 26,
  DeviceAttributeMaxBlockDimY = 27,
  DeviceAttributeMaxBlockDimZ = 28,
  DeviceAttributeMaxGridDimX = 29,
  DeviceAttributeMaxGridDimY = 30,
  DeviceAttributeMaxGridDimZ = 31,
  DeviceAttributeMaxThreadsPerBlock = 56,
  DeviceAttributeMaxThreadsPerMultiProcessor = 57,
  DeviceAttributeMemoryBusWidth = 59,
  DeviceAttributeMemoryClockRate = 60,
  DeviceAttributeComputeCapabilityMinor = 61,
  DeviceAttributeMultiprocessorCount = 63,
  DeviceAttributePciBusId = 67,
  DeviceAttributePciDeviceId = 68,
  DeviceAttributePciDomainId = 69,
  DeviceAttributeMaxRegistersPerBlock = 71,
  DeviceAttributeMaxRegistersPerMultiprocessor = 72,
  DeviceAttributeMaxSharedMemoryPerBlock = 74,
  DeviceAttributeSharedMemPerMultiprocessor = 76,
  DeviceAttributeTotalConstantMemory = 83,
  DeviceAttributeTotalGlobalMem = 84,
  DeviceAttributeUnifiedAddressing = 85,
  DeviceAttributeWarpSize = 87,
  DeviceAttributeMaxSharedMemoryPerMultiprocessor = 10002,
  DeviceAttributePhysicalMultiProcessorCount = 10015,
};

enum MemoryType : int { MemoryTypeHost = 0, MemoryTypeDevice = 1 };
/// hipMemoryType since HIP 6.
enum MemoryType6 : int {
  MemoryType6Unregistered = 0,
  MemoryType6Host = 1,
  MemoryType6Device = 2,
};

/// hipPointerAttribute_t.
struct PointerAttribute {
  int memoryType; // MemoryType or MemoryType6
  int device;
  void *devicePointer;
  void *hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

struct Dim3 {
  uint32_t x, y, z;
};

enum GraphNodeType : int {
  GraphNodeTypeKernel = 1,
  GraphNodeTypeMemcpy = 2,
  GraphNodeTypeMemset = 3,
  GraphNodeTypeHost = 4,
  GraphNodeTypeGraph = 5,
  GraphNodeTypeEmpty = 6,
};

enum GraphExecUpdateResult : int {
  GraphExecUpdateSuccess = 0,
  GraphExecUpdateError = 1,
  GraphExecUpdateErrorTopologyChanged = 2,
  GraphExecUpdateErrorNodeTypeChanged = 3,
  GraphExecUpdateErrorFunctionChanged = 4,
  GraphExecUpdateErrorParametersChanged = 5,
  GraphExecUpdateErrorNotSupported = 6,
};

constexpr unsigned GraphInstantiateFlagAutoFreeOnLaunch = 1;

/// hipKernelNodeParams.
struct KernelNodeParams {
  Dim3 blockDim;
  void **extra;
  void *func;
  Dim3 gridDim;
  void **kernelParams;
  unsigned sharedMemBytes;
};

/// hipHostNodeParams.
struct HostNodeParams {
  void (*fn)(void *);
  void *userData;
};

/// hipMemsetParams of HIP 4 to 6.
struct MemsetParams {
  void *dst;
  unsigned elementSize;
  size_t height;
  size_t pitch;
  unsigned value;
  size_t width;
};

/// hipMemsetParams of HIP 7.
struct MemsetParams7 {
  void *dst;
  size_t pitch;
  unsigned value;
  unsigned elementSize;
  size_t width;
  size_t height;
};

struct PitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};

struct Extent {
  size_t width, height, depth;
};

struct Pos {
  size_t x, y, z;
};

/// hipMemcpy3DParms.
struct Memcpy3DParms {
  void *srcArray;
  Pos srcPos;
  PitchedPtr srcPtr;
  void *dstArray;
  Pos dstPos;
  PitchedPtr dstPtr;
  Extent extent;
  MemcpyKind kind;
};

/// hipDeviceProp_t of HIP 4 and 5 (symbol hipGetDeviceProperties).
struct DeviceProp5 {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  int memoryClockRate;
  int memoryBusWidth;
  size_t totalConstMem;
  int major;
  int minor;
  int multiProcessorCount;
  int l2CacheSize;
  int maxThreadsPerMultiProcessor;
  int computeMode;
  int clockInstructionRate;
  uint32_t arch;
  int concurrentKernels;
  int pciDomainID;
  int pciBusID;
  int pciDeviceID;
  size_t maxSharedMemoryPerMultiProcessor;
  int isMultiGpuBoard;
  int canMapHostMemory;
  int gcnArch;
  char gcnArchName[256];
  int integrated;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  int maxTexture1DLinear;
  int maxTexture1D;
  int maxTexture2D[2];
  int maxTexture3D[3];
  unsigned *hdpMemFlushCntl;
  unsigned *hdpRegFlushCntl;
  size_t memPitch;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int kernelExecTimeoutEnabled;
  int eccEnabled;
  int tccDriver;
  int cooperativeMultiDeviceUnmatched[4];
  int isLargeBar;
  int asicRevision;
  int managedMemory;
  int directManagedMemAccessFromHost;
  int concurrentManagedAccess;
  int pageableMemoryAccess;
  int pageableMemoryAccessUsesHostPageTables;
};

/// hipDeviceProp_tR0600 of HIP 6 and 7 (symbol hipGetDevicePropertiesR0600).
struct DeviceProp6 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int textureAndSurfaceLimits[40];
  size_t surfaceAlignment;
  int concurrentKernels;
  int eccEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int sparseHipArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingHipArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
  int reserved[63];
  int hipReserved[32];
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  uint32_t arch;
  unsigned *hdpMemFlushCntl;
  unsigned *hdpRegFlushCntl;
  int cooperativeMultiDeviceUnmatched[4];
  int isLargeBar;
  int asicRevision;
};

} // namespace netra::hip

#endif // NETRA_RUNTIME_HIPABI_H
