//===- FakeHip.cpp - A HIP library for tests ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "FakeHip.h"
#include "HipAbi.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace hip = netra::hip;

namespace {

using Task = std::function<void()>;

std::mutex mutex; // everything below
std::map<std::string, int> calls;
std::string failing;
int failAt = -1;
bool hasFailed = false;
std::set<void *> live;
std::string architecture = "gfx950:sramecc+:xnack-";
int waveSize = 64;
int failCode = hip::ErrorUnknown;
std::map<void *, std::vector<Task>> capturing; // by stream

/// True when this call has to fail. Every function starts with it.
bool fails(const char *function) {
  int index = calls[function]++;
  if (failing != function || failAt-- != 0)
    return false;
  (void)index;
  hasFailed = true;
  failing.clear();
  return true;
}

void *make() {
  void *object = std::malloc(64);
  live.insert(object);
  return object;
}

int drop(void *object) {
  if (!live.erase(object))
    return hip::ErrorInvalidHandle;
  std::free(object);
  return 0;
}

/// out = a * b + c + k over 32-bit integers: the test kernel, on the host.
struct MultiplyAdd {
  const uint32_t *a, *b, *c;
  uint32_t *out;
  uint32_t k;
};

std::map<void *, std::vector<Task>> graphs;

} // namespace

#define FAKE(name)                                                             \
  std::lock_guard<std::mutex> guard(mutex);                                    \
  if (fails(#name))                                                            \
  return failCode

extern "C" {

void fakeHipFail(const char *function, int nth) {
  std::lock_guard<std::mutex> guard(mutex);
  failing = function ? function : "";
  failAt = nth;
  hasFailed = false;
}
int fakeHipHasFailed() {
  std::lock_guard<std::mutex> guard(mutex);
  return hasFailed;
}
int fakeHipLive() {
  std::lock_guard<std::mutex> guard(mutex);
  return int(live.size());
}
int fakeHipCalls(const char *function) {
  std::lock_guard<std::mutex> guard(mutex);
  return calls[function];
}
void fakeHipDevice(const char *name, int wave) {
  std::lock_guard<std::mutex> guard(mutex);
  architecture = name;
  waveSize = wave;
}

void fakeHipFailCode(int code) {
  std::lock_guard<std::mutex> guard(mutex);
  failCode = code;
}

const char *hipGetErrorName(int code) {
  return code == hip::ErrorUnknown    ? "hipErrorUnknown"
         : code == hip::ErrorNoDevice ? "hipErrorNoDevice"
                                      : "hipErrorOther";
}
// HIP 5 gives the name again.
const char *hipGetErrorString(int code) {
  return code == hip::ErrorUnknown ? "told to fail" : hipGetErrorName(code);
}

int hipGetDeviceCount(int *count) {
  FAKE(hipGetDeviceCount);
  *count = 2;
  return 0;
}
static thread_local int current = 0;
int hipGetDevice(int *device) {
  FAKE(hipGetDevice);
  *device = current;
  return 0;
}
int hipSetDevice(int device) {
  FAKE(hipSetDevice);
  current = device;
  return 0;
}
int hipRuntimeGetVersion(int *version) {
  FAKE(hipRuntimeGetVersion);
  *version = 50200000;
  return 0;
}
int hipGetDeviceProperties(hip::DeviceProp5 *properties, int) {
  FAKE(hipGetDeviceProperties);
  *properties = {};
  std::strcpy(properties->name, "fake");
  std::strncpy(properties->gcnArchName, architecture.c_str(), 255);
  properties->warpSize = waveSize;
  return 0;
}

int hipModuleLoadData(void **module, const void *) {
  FAKE(hipModuleLoadData);
  *module = make();
  return 0;
}
int hipModuleUnload(void *module) {
  FAKE(hipModuleUnload);
  return drop(module);
}
int hipModuleGetFunction(void **function, void *module, const char *) {
  FAKE(hipModuleGetFunction);
  *function = module;
  return 0;
}

int hipModuleLaunchKernel(void *, unsigned gridX, unsigned, unsigned,
                          unsigned blockX, unsigned, unsigned, unsigned,
                          void *stream, void **, void **extra) {
  FAKE(hipModuleLaunchKernel);
  MultiplyAdd arguments;
  std::memcpy(&arguments, extra[1], 36);
  size_t count = size_t(gridX) * blockX;
  Task task = [arguments, count] {
    for (size_t i = 0; i < count; ++i)
      arguments.out[i] =
          arguments.a[i] * arguments.b[i] + arguments.c[i] + arguments.k;
  };
  if (auto found = capturing.find(stream); found != capturing.end())
    found->second.push_back(task);
  else
    task();
  return 0;
}

int hipMalloc(void **pointer, size_t bytes) {
  FAKE(hipMalloc);
  *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*pointer, 0xcc, bytes);
  live.insert(*pointer);
  return 0;
}
int hipFree(void *pointer) {
  FAKE(hipFree);
  return pointer ? drop(pointer) : 0;
}
int hipMemcpy(void *to, const void *from, size_t bytes, int) {
  FAKE(hipMemcpy);
  std::memcpy(to, from, bytes);
  return 0;
}
int hipMemset(void *pointer, int value, size_t bytes) {
  FAKE(hipMemset);
  std::memset(pointer, value, bytes);
  return 0;
}

int hipStreamCreateWithFlags(void **stream, unsigned) {
  FAKE(hipStreamCreateWithFlags);
  *stream = make();
  return 0;
}
int hipStreamDestroy(void *stream) {
  FAKE(hipStreamDestroy);
  return drop(stream);
}
int hipStreamSynchronize(void *) {
  FAKE(hipStreamSynchronize);
  return 0;
}
int hipStreamWaitEvent(void *, void *, unsigned) {
  FAKE(hipStreamWaitEvent);
  return 0;
}
int hipDeviceSynchronize() {
  FAKE(hipDeviceSynchronize);
  return 0;
}
int hipEventCreateWithFlags(void **event, unsigned) {
  FAKE(hipEventCreateWithFlags);
  *event = make();
  return 0;
}
int hipEventRecord(void *, void *) {
  FAKE(hipEventRecord);
  return 0;
}
int hipEventDestroy(void *event) {
  FAKE(hipEventDestroy);
  return drop(event);
}

int hipStreamBeginCapture(void *stream, int) {
  FAKE(hipStreamBeginCapture);
  if (!stream || capturing.count(stream))
    return hip::ErrorStreamCaptureUnsupported;
  capturing[stream] = {};
  return 0;
}
int hipStreamEndCapture(void *stream, void **graph) {
  std::lock_guard<std::mutex> guard(mutex);
  // A capture ends even when ending it fails.
  std::vector<Task> tasks = std::move(capturing[stream]);
  capturing.erase(stream);
  if (fails("hipStreamEndCapture"))
    return hip::ErrorUnknown;
  *graph = make();
  graphs[*graph] = std::move(tasks);
  return 0;
}
int hipGraphInstantiate(void **executable, void *graph, void **, char *,
                        size_t) {
  FAKE(hipGraphInstantiate);
  *executable = make();
  graphs[*executable] = graphs[graph];
  return 0;
}
int hipGraphLaunch(void *executable, void *) {
  FAKE(hipGraphLaunch);
  for (const Task &task : graphs[executable])
    task();
  return 0;
}
int hipGraphExecDestroy(void *executable) {
  FAKE(hipGraphExecDestroy);
  graphs.erase(executable);
  return drop(executable);
}
int hipGraphDestroy(void *graph) {
  FAKE(hipGraphDestroy);
  graphs.erase(graph);
  return drop(graph);
}

} // extern "C"
