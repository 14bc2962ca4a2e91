//===- DeviceApi.cpp - HIP: errors, versions, the device ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include <cstdio>
#include <cstring>

using namespace netra;
using namespace netra::hipsim;

namespace {

constexpr const char *deviceName = "Netra simulator of AMD Instinct MI350X";
constexpr const char *architectureName = "gfx950:sramecc+:xnack-";
// The version whose headers and structures this library speaks, with the
// changed functions of HIP 6 and 7 beside it.
constexpr int hipVersion = 50221153;

// What the device says of itself. Clocks and sizes are those of the MI350X.
constexpr int waveSize = 64;
constexpr int computeUnits = 256;
constexpr int maxThreads = 1024;
constexpr int maxThreadsPerUnit = 2048;
constexpr int ldsBytes = 163840;
constexpr int registersPerUnit = 131072;
constexpr int clockKhz = 2200000, memoryClockKhz = 2000000;
constexpr int memoryBusBits = 8192;
constexpr int l2Bytes = 4 << 20;
constexpr uint64_t defaultMemory = uint64_t(288) << 30;
constexpr int gridX = 2147483647, gridYZ = 65536;

uint64_t totalMemory() {
  uint64_t limit = Runtime::get().getDevice().memoryLimit();
  return limit ? limit : defaultMemory;
}

template <typename Properties> void fillCommon(Properties &p) {
  std::snprintf(p.name, sizeof(p.name), "%s", deviceName);
  std::snprintf(p.gcnArchName, sizeof(p.gcnArchName), "%s", architectureName);
  p.totalGlobalMem = totalMemory();
  p.sharedMemPerBlock = ldsBytes;
  p.regsPerBlock = registersPerUnit;
  p.warpSize = waveSize;
  p.maxThreadsPerBlock = maxThreads;
  for (int &extent : p.maxThreadsDim)
    extent = maxThreads;
  p.maxGridSize[0] = gridX;
  p.maxGridSize[1] = p.maxGridSize[2] = gridYZ;
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
  p.maxSharedMemoryPerMultiProcessor = ldsBytes;
  p.canMapHostMemory = 1;
  p.managedMemory = 1;
  p.memPitch = 2147483647;
  p.textureAlignment = p.texturePitchAlignment = 256;
}

int badDevice(int device) {
  return finish(hip::ErrorInvalidDevice,
                "device " + std::to_string(device) +
                    " does not exist; the simulator has device 0");
}

} // namespace

NETRA_HIP_EXPORT const char *hipGetErrorName(int code) {
  return errorName(code);
}
NETRA_HIP_EXPORT const char *hipGetErrorString(int code) {
  return errorText(code);
}
NETRA_HIP_EXPORT int hipDrvGetErrorName(int code, const char **name) {
  if (!name)
    return finish(hip::ErrorInvalidValue);
  *name = errorName(code);
  return 0;
}
NETRA_HIP_EXPORT int hipDrvGetErrorString(int code, const char **text) {
  if (!text)
    return finish(hip::ErrorInvalidValue);
  *text = errorText(code);
  return 0;
}
NETRA_HIP_EXPORT int hipGetLastError() { return takeLastError(); }
NETRA_HIP_EXPORT int hipPeekAtLastError() { return peekLastError(); }

NETRA_HIP_EXPORT int hipInit(unsigned flags) {
  Runtime::get();
  return finish(flags ? int(hip::ErrorInvalidValue) : 0);
}

NETRA_HIP_EXPORT int hipRuntimeGetVersion(int *version) {
  if (!version)
    return finish(hip::ErrorInvalidValue);
  *version = hipVersion;
  return 0;
}
NETRA_HIP_EXPORT int hipDriverGetVersion(int *version) {
  return hipRuntimeGetVersion(version);
}

NETRA_HIP_EXPORT int hipGetDeviceCount(int *count) {
  if (!count)
    return finish(hip::ErrorInvalidValue);
  Runtime::get();
  *count = 1;
  return 0;
}

NETRA_HIP_EXPORT int hipGetDevice(int *device) {
  if (!device)
    return finish(hip::ErrorInvalidValue);
  *device = 0;
  return 0;
}

NETRA_HIP_EXPORT int hipSetDevice(int device) {
  return device == 0 ? 0 : badDevice(device);
}

NETRA_HIP_EXPORT int hipDeviceGet(int *device, int ordinal) {
  if (!device)
    return finish(hip::ErrorInvalidValue);
  if (ordinal)
    return badDevice(ordinal);
  *device = 0;
  return 0;
}

NETRA_HIP_EXPORT int hipDeviceGetName(char *name, int length, int device) {
  if (!name || length <= 0)
    return finish(hip::ErrorInvalidValue);
  if (device)
    return badDevice(device);
  std::snprintf(name, size_t(length), "%s", deviceName);
  return 0;
}

NETRA_HIP_EXPORT int hipDeviceTotalMem(size_t *bytes, int device) {
  if (!bytes)
    return finish(hip::ErrorInvalidValue);
  if (device)
    return badDevice(device);
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
  if (!major || !minor)
    return finish(hip::ErrorInvalidValue);
  if (device)
    return badDevice(device);
  *major = 9;
  *minor = 5;
  return 0;
}

NETRA_HIP_EXPORT int hipGetDeviceProperties(hip::DeviceProp5 *properties,
                                            int device) {
  if (!properties)
    return finish(hip::ErrorInvalidValue);
  if (device)
    return badDevice(device);
  std::memset(properties, 0, sizeof(*properties));
  fillCommon(*properties);
  properties->gcnArch = 950;
  return 0;
}

NETRA_HIP_EXPORT int hipGetDevicePropertiesR0600(hip::DeviceProp6 *properties,
                                                 int device) {
  if (!properties)
    return finish(hip::ErrorInvalidValue);
  if (device)
    return badDevice(device);
  std::memset(properties, 0, sizeof(*properties));
  fillCommon(*properties);
  properties->regsPerMultiprocessor = registersPerUnit;
  properties->sharedMemPerMultiprocessor = ldsBytes;
  properties->sharedMemPerBlockOptin = ldsBytes;
  properties->unifiedAddressing = 1;
  properties->asyncEngineCount = 1;
  properties->hostRegisterSupported = 1;
  return 0;
}

NETRA_HIP_EXPORT int hipDeviceGetAttribute(int *value, int attribute,
                                           int device) {
  if (!value)
    return finish(hip::ErrorInvalidValue);
  if (device)
    return badDevice(device);
  switch (attribute) {
  case hip::DeviceAttributeCanMapHostMemory:
  case hip::DeviceAttributeConcurrentKernels:
  case hip::DeviceAttributeManagedMemory:
  case hip::DeviceAttributeUnifiedAddressing:
    *value = 1;
    return 0;
  case hip::DeviceAttributeCooperativeLaunch:
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
    *value = maxThreads;
    return 0;
  case hip::DeviceAttributeMaxGridDimX:
    *value = gridX;
    return 0;
  case hip::DeviceAttributeMaxGridDimY:
  case hip::DeviceAttributeMaxGridDimZ:
    *value = gridYZ;
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
    *value = ldsBytes;
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
  if (int code = runtime.forbidWhileCapturing())
    return finish(code);
  return finish(runtime.synchronizeAll());
}

NETRA_HIP_EXPORT int hipDeviceReset() { return hipDeviceSynchronize(); }
