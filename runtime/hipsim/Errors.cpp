//===- Errors.cpp - HIP's errors, and the last one of each thread ---------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "State.h"

using namespace netra;
using namespace netra::hipsim;

namespace {
thread_local int lastError = 0;
thread_local std::string message;

struct ErrorEntry {
  int code;
  const char *name, *text;
};
constexpr ErrorEntry errorEntries[] = {
    {hip::Success, "hipSuccess", "no error"},
    {hip::ErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hip::ErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hip::ErrorNotInitialized, "hipErrorNotInitialized",
     "initialization error"},
    {hip::ErrorDeinitialized, "hipErrorDeinitialized", "driver shutting down"},
    {hip::ErrorProfilerDisabled, "hipErrorProfilerDisabled",
     "profiler disabled while using external profiling tool"},
    {hip::ErrorProfilerNotInitialized, "hipErrorProfilerNotInitialized",
     "profiler is not initialized"},
    {hip::ErrorProfilerAlreadyStarted, "hipErrorProfilerAlreadyStarted",
     "profiler already started"},
    {hip::ErrorProfilerAlreadyStopped, "hipErrorProfilerAlreadyStopped",
     "profiler already stopped"},
    {hip::ErrorInvalidConfiguration, "hipErrorInvalidConfiguration",
     "invalid configuration argument"},
    {hip::ErrorInvalidPitchValue, "hipErrorInvalidPitchValue",
     "invalid pitch argument"},
    {hip::ErrorInvalidSymbol, "hipErrorInvalidSymbol", "invalid device symbol"},
    {hip::ErrorInvalidDevicePointer, "hipErrorInvalidDevicePointer",
     "invalid device pointer"},
    {hip::ErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {hip::ErrorInsufficientDriver, "hipErrorInsufficientDriver",
     "driver version is insufficient for runtime version"},
    {hip::ErrorMissingConfiguration, "hipErrorMissingConfiguration",
     "__global__ function call is not configured"},
    {hip::ErrorPriorLaunchFailure, "hipErrorPriorLaunchFailure",
     "unspecified launch failure in prior launch"},
    {hip::ErrorInvalidDeviceFunction, "hipErrorInvalidDeviceFunction",
     "invalid device function"},
    {hip::ErrorNoDevice, "hipErrorNoDevice",
     "no ROCm-capable device is detected"},
    {hip::ErrorInvalidDevice, "hipErrorInvalidDevice",
     "invalid device ordinal"},
    {hip::ErrorInvalidImage, "hipErrorInvalidImage",
     "device kernel image is invalid"},
    {hip::ErrorInvalidContext, "hipErrorInvalidContext",
     "invalid device context"},
    {hip::ErrorContextAlreadyCurrent, "hipErrorContextAlreadyCurrent",
     "context is already current context"},
    {hip::ErrorMapFailed, "hipErrorMapFailed",
     "mapping of buffer object failed"},
    {hip::ErrorUnmapFailed, "hipErrorUnmapFailed",
     "unmapping of buffer object failed"},
    {hip::ErrorArrayIsMapped, "hipErrorArrayIsMapped", "array is mapped"},
    {hip::ErrorAlreadyMapped, "hipErrorAlreadyMapped",
     "resource already mapped"},
    {hip::ErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu",
     "no kernel image is available for execution on the device"},
    {hip::ErrorAlreadyAcquired, "hipErrorAlreadyAcquired",
     "resource already acquired"},
    {hip::ErrorNotMapped, "hipErrorNotMapped", "resource not mapped"},
    {hip::ErrorNotMappedAsArray, "hipErrorNotMappedAsArray",
     "resource not mapped as array"},
    {hip::ErrorNotMappedAsPointer, "hipErrorNotMappedAsPointer",
     "resource not mapped as pointer"},
    {hip::ErrorECCNotCorrectable, "hipErrorECCNotCorrectable",
     "uncorrectable ECC error encountered"},
    {hip::ErrorUnsupportedLimit, "hipErrorUnsupportedLimit",
     "limit is not supported on this architecture"},
    {hip::ErrorContextAlreadyInUse, "hipErrorContextAlreadyInUse",
     "exclusive-thread device already in use by a different thread"},
    {hip::ErrorPeerAccessUnsupported, "hipErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {hip::ErrorInvalidKernelFile, "hipErrorInvalidKernelFile",
     "invalid kernel file"},
    {hip::ErrorInvalidGraphicsContext, "hipErrorInvalidGraphicsContext",
     "invalid OpenGL or DirectX context"},
    {hip::ErrorInvalidSource, "hipErrorInvalidSource",
     "device kernel image is invalid"},
    {hip::ErrorFileNotFound, "hipErrorFileNotFound", "file not found"},
    {hip::ErrorSharedObjectSymbolNotFound, "hipErrorSharedObjectSymbolNotFound",
     "shared object symbol not found"},
    {hip::ErrorSharedObjectInitFailed, "hipErrorSharedObjectInitFailed",
     "shared object initialization failed"},
    {hip::ErrorOperatingSystem, "hipErrorOperatingSystem",
     "OS call failed or operation not supported on this OS"},
    {hip::ErrorInvalidHandle, "hipErrorInvalidHandle",
     "invalid resource handle"},
    {hip::ErrorIllegalState, "hipErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {hip::ErrorNotFound, "hipErrorNotFound", "named symbol not found"},
    {hip::ErrorNotReady, "hipErrorNotReady", "device not ready"},
    {hip::ErrorIllegalAddress, "hipErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {hip::ErrorLaunchOutOfResources, "hipErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {hip::ErrorLaunchTimeOut, "hipErrorLaunchTimeOut",
     "the launch timed out and was terminated"},
    {hip::ErrorPeerAccessAlreadyEnabled, "hipErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {hip::ErrorPeerAccessNotEnabled, "hipErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {hip::ErrorSetOnActiveProcess, "hipErrorSetOnActiveProcess",
     "cannot set while device is active in this process"},
    {hip::ErrorContextIsDestroyed, "hipErrorContextIsDestroyed",
     "context is destroyed"},
    {hip::ErrorAssert, "hipErrorAssert", "device-side assert triggered"},
    {hip::ErrorHostMemoryAlreadyRegistered,
     "hipErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {hip::ErrorHostMemoryNotRegistered, "hipErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {hip::ErrorLaunchFailure, "hipErrorLaunchFailure",
     "unspecified launch failure"},
    {hip::ErrorCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {hip::ErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    {hip::ErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {hip::ErrorStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {hip::ErrorStreamCaptureMerge, "hipErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {hip::ErrorStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {hip::ErrorStreamCaptureUnjoined, "hipErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {hip::ErrorStreamCaptureIsolation, "hipErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {hip::ErrorStreamCaptureImplicit, "hipErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking "
     "stream"},
    {hip::ErrorCapturedEvent, "hipErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {hip::ErrorStreamCaptureWrongThread, "hipErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another "
     "thread"},
    {hip::ErrorGraphExecUpdateFailure, "hipErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which "
     "violated constraints specific to instantiated graph update"},
    {hip::ErrorUnknown, "hipErrorUnknown", "unknown error"},
    {hip::ErrorRuntimeMemory, "hipErrorRuntimeMemory",
     "runtime memory call returned error"},
    {hip::ErrorRuntimeOther, "hipErrorRuntimeOther",
     "runtime call other than memory returned error"},
};

const ErrorEntry *findError(int code) {
  for (const ErrorEntry &entry : errorEntries)
    if (entry.code == code)
      return &entry;
  return nullptr;
}
} // namespace

const char *hipsim::errorName(int code) {
  const ErrorEntry *entry = findError(code);
  return entry ? entry->name : "hipErrorUnknown";
}

const char *hipsim::errorText(int code) {
  const ErrorEntry *entry = findError(code);
  return entry ? entry->text : "unknown error";
}

int hipsim::finish(int code, std::string text) {
  // That something is not ready yet is an answer, no error.
  if (!code || code == hip::ErrorNotReady)
    return code;
  lastError = code;
  message = std::move(text);
  return code;
}

int hipsim::finish(int code) { return finish(code, errorText(code)); }

int hipsim::takeLastError() {
  int code = lastError;
  lastError = 0;
  return code;
}

int hipsim::peekLastError() { return lastError; }
const std::string &hipsim::lastMessage() { return message; }
