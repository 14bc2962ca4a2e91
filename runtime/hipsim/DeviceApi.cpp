//===- DeviceApi.cpp - HIP: errors, versions, the device ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include <cstdio>
#include <cstring>

using namespace netra;
using namespace netra::hipsim;

namespace {

constexpr const char *deviceName = "Netra simulator of AMD Instinct MI350X";
constexpr const char *architectureName = "gfx950:sramecc+:xnack-";

// What the device says of itself. Clocks and sizes are those of the MI350X.
constexpr int waveSize = 64;
constexpr int computeUnits = 256;
constexpr int maxThreadsPerUnit = 2048;
constexpr int registersPerUnit = 131072;
constexpr int clockKhz = 2200000, memoryClockKhz = 2000000;
constexpr int memoryBusBits = 8192;
constexpr int l2Bytes = 4 << 20;
constexpr uint64_t defaultMemory = uint64_t(288) << 30;

uint64_t totalMemory() {
  uint64_t limit = Runtime::get().getDevice().memoryLimit();
  return limit ? limit : defaultMemory;
}

template <typename Properties> void fillCommon(Properties &p) {
  std::snprintf(p.name, sizeof(p.name), "%s", deviceName);
  std::snprintf(p.gcnArchName, sizeof(p.gcnArchName), "%s", architectureName);
  p.totalGlobalMem = totalMemory();
  p.sharedMemPerBlock = LdsLimit;
  p.regsPerBlock = registersPerUnit;
  p.warpSize = waveSize;
  p.maxThreadsPerBlock = int(MaxBlockItems);
  for (int &extent : p.maxThreadsDim)
    extent = int(MaxBlockItems);
  p.maxGridSize[0] = int(MaxGridX);
  p.maxGridSize[1] = p.maxGridSize[2] = int(MaxGridYZ);
  p.clockRate = clockKhz;
  p.memoryClockRate = memoryClockKhz;
  p.memoryBusWidth = memoryBusBits;
  p.totalConstMem = 2147483647;
  p.major = 9;
  p.minor = 5;
  p.multiProcessorCount = computeUnits;
  p.l2CacheSize = l2Bytes;
  p.maxThreadsPerMultiProcessor = maxThreadsPerUnit;
  p.clockInstructionRate = 100000;
  p.arch = 0x1ffff; // everything but dynamic parallelism is there
  p.arch &= ~(1u << 16);
  p.concurrentKernels = 1;
  p.maxSharedMemoryPerMultiProcessor = LdsLimit;
  p.canMapHostMemory = 1;
  p.managedMemory = 1;
  p.memPitch = 2147483647;
  p.textureAlignment = p.texturePitchAlignment = 256;
}

} // namespace

NETRA_HIP_EXPORT const char *hipGetErrorName(int code) {
  return errorName(code);
}
NETRA_HIP_EXPORT const char *hipGetErrorString(int code) {
  return errorText(code);
}
NETRA_HIP_EXPORT int hipDrvGetErrorName(int code, const char **name) {
  if (int code = checkGiven(name, "place for the name"))
    return code;
  *name = errorName(code);
  return 0;
}
NETRA_HIP_EXPORT int hipDrvGetErrorString(int code, const char **text) {
  if (int code = checkGiven(text, "place for the text"))
    return code;
  *text = errorText(code);
  return 0;
}
NETRA_HIP_EXPORT int hipGetLastError() { return takeLastError(); }
NETRA_HIP_EXPORT int hipExtGetLastError() { return takeLastError(); }
NETRA_HIP_EXPORT int hipPeekAtLastError() { return peekLastError(); }

NETRA_HIP_EXPORT int hipInit(unsigned flags) {
  Runtime::get();
  if (!flags)
    return 0;
  return finish(hip::ErrorInvalidValue,
                "expected 0 for the flags, found " + std::to_string(flags));
}

NETRA_HIP_EXPORT int hipRuntimeGetVersion(int *version) {
  if (int code = checkGiven(version, "place for the version"))
    return code;
  // A release of the version that the program was built for.
  *version = hipMajor() >= 7 ? 70000000 : hipMajor() == 6 ? 60400000 : 50221153;
  return 0;
}
NETRA_HIP_EXPORT int hipDriverGetVersion(int *version) {
  return hipRuntimeGetVersion(version);
}

NETRA_HIP_EXPORT int hipGetDeviceCount(int *count) {
  if (int code = checkGiven(count, "place for the count"))
    return code;
  Runtime::get();
  *count = 1;
  return 0;
}

NETRA_HIP_EXPORT int hipGetDevice(int *device) {
  if (int code = checkGiven(device, "place for the device"))
    return code;
  *device = 0;
  return 0;
}

NETRA_HIP_EXPORT int hipSetDevice(int device) { return checkDevice(device); }

NETRA_HIP_EXPORT int hipDeviceGet(int *device, int ordinal) {
  if (int code = checkGiven(device, "place for the device"))
    return code;
  if (int code = checkDevice(ordinal))
    return code;
  *device = 0;
  return 0;
}

NETRA_HIP_EXPORT int hipDeviceGetName(char *name, int length, int device) {
  if (int code = checkGiven(name, "place for the name"))
    return code;
  if (length <= 0)
    return finish(hip::ErrorInvalidValue, "the place for the name is empty");
  if (int code = checkDevice(device))
    return code;
  std::snprintf(name, size_t(length), "%s", deviceName);
  return 0;
}

NETRA_HIP_EXPORT int hipDeviceTotalMem(size_t *bytes, int device) {
  if (int code = checkGiven(bytes, "place for the size"))
    return code;
  if (int code = checkDevice(device))
    return code;
  *bytes = totalMemory();
  return 0;
}

NETRA_HIP_EXPORT int hipMemGetInfo(size_t *free, size_t *total) {
  uint64_t all = totalMemory();
  uint64_t used = Runtime::get().getDevice().bytesInUse();
  if (free)
    *free = all > used ? all - used : 0;
  if (total)
    *total = all;
  return 0;
}

NETRA_HIP_EXPORT int hipDeviceComputeCapability(int *major, int *minor,
                                                int device) {
  if (int code = checkGiven(major, "place for the major number"))
    return code;
  if (int code = checkGiven(minor, "place for the minor number"))
    return code;
  if (int code = checkDevice(device))
    return code;
  *major = 9;
  *minor = 5;
  return 0;
}

NETRA_HIP_EXPORT int hipGetDeviceProperties(hip::DeviceProp5 *properties,
                                            int device) {
  if (int code = checkGiven(properties, "place for the properties"))
    return code;
  if (int code = checkDevice(device))
    return code;
  std::memset(properties, 0, sizeof(*properties));
  fillCommon(*properties);
  properties->gcnArch = 950;
  return 0;
}

NETRA_HIP_EXPORT int hipGetDevicePropertiesR0600(hip::DeviceProp6 *properties,
                                                 int device) {
  if (int code = checkGiven(properties, "place for the properties"))
    return code;
  if (int code = checkDevice(device))
    return code;
  std::memset(properties, 0, sizeof(*properties));
  fillCommon(*properties);
  properties->regsPerMultiprocessor = registersPerUnit;
  properties->sharedMemPerMultiprocessor = LdsLimit;
  properties->sharedMemPerBlockOptin = LdsLimit;
  properties->unifiedAddressing = 1;
  properties->asyncEngineCount = 1;
  properties->hostRegisterSupported = 1;
  return 0;
}

NETRA_HIP_EXPORT int hipDeviceGetAttribute(int *value, int attribute,
                                           int device) {
  if (int code = checkGiven(value, "place for the value"))
    return code;
  if (int code = checkDevice(device))
    return code;
  switch (attribute) {
  case hip::DeviceAttributeCanMapHostMemory:
  case hip::DeviceAttributeConcurrentKernels:
  case hip::DeviceAttributeManagedMemory:
  case hip::DeviceAttributeUnifiedAddressing:
    *value = 1;
    return 0;
  case hip::DeviceAttributeCooperativeLaunch:
  case hip::DeviceAttributeCooperativeMultiDeviceLaunch:
  case hip::DeviceAttributeIntegrated:
  case hip::DeviceAttributePciBusId:
  case hip::DeviceAttributePciDeviceId:
  case hip::DeviceAttributePciDomainId:
    *value = 0;
    return 0;
  case hip::DeviceAttributeClockRate:
    *value = clockKhz;
    return 0;
  case hip::DeviceAttributeMemoryClockRate:
    *value = memoryClockKhz;
    return 0;
  case hip::DeviceAttributeMemoryBusWidth:
    *value = memoryBusBits;
    return 0;
  case hip::DeviceAttributeL2CacheSize:
    *value = l2Bytes;
    return 0;
  case hip::DeviceAttributeComputeCapabilityMajor:
    *value = 9;
    return 0;
  case hip::DeviceAttributeComputeCapabilityMinor:
    *value = 5;
    return 0;
  case hip::DeviceAttributeMaxBlockDimX:
  case hip::DeviceAttributeMaxBlockDimY:
  case hip::DeviceAttributeMaxBlockDimZ:
  case hip::DeviceAttributeMaxThreadsPerBlock:
    *value = int(MaxBlockItems);
    return 0;
  case hip::DeviceAttributeMaxGridDimX:
    *value = int(MaxGridX);
    return 0;
  case hip::DeviceAttributeMaxGridDimY:
  case hip::DeviceAttributeMaxGridDimZ:
    *value = int(MaxGridYZ);
    return 0;
  case hip::DeviceAttributeMaxThreadsPerMultiProcessor:
    *value = maxThreadsPerUnit;
    return 0;
  case hip::DeviceAttributeMultiprocessorCount:
  case hip::DeviceAttributePhysicalMultiProcessorCount:
    *value = computeUnits;
    return 0;
  case hip::DeviceAttributeMaxRegistersPerBlock:
  case hip::DeviceAttributeMaxRegistersPerMultiprocessor:
    *value = registersPerUnit;
    return 0;
  case hip::DeviceAttributeMaxSharedMemoryPerBlock:
  case hip::DeviceAttributeSharedMemPerMultiprocessor:
  case hip::DeviceAttributeMaxSharedMemoryPerMultiprocessor:
    *value = int(LdsLimit);
    return 0;
  case hip::DeviceAttributeTotalConstantMemory:
  case hip::DeviceAttributeTotalGlobalMem:
    *value = 2147483647; // what fits the result
    return 0;
  case hip::DeviceAttributeWarpSize:
    *value = waveSize;
    return 0;
  default:
    return finish(hip::ErrorInvalidValue, "device attribute " +
                                              std::to_string(attribute) +
                                              " is not known to the simulator");
  }
}

NETRA_HIP_EXPORT int hipDeviceSynchronize() {
  Runtime &runtime = Runtime::get();
  if (int code = checkMayWait())
    return code;
  return finish(runtime.synchronizeAll(),
                "work of a stream failed; the report on stderr says what it "
                "was");
}

NETRA_HIP_EXPORT int hipDeviceReset() { return hipDeviceSynchronize(); }
