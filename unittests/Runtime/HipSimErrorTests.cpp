//===- HipSimErrorTests.cpp - HIP's own code for each misuse --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "HipSimMisuse.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace netra::test;

// Functions of the library that these headers do not declare.
extern "C" hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t, unsigned,
                                                       unsigned, unsigned,
                                                       unsigned, unsigned,
                                                       unsigned, unsigned,
                                                       hipStream_t, void **);

namespace {

TEST_F(HipSimErrorTest, Launches) {
  uint32_t k = 1;
  void *parameters[] = {&a, &b, &c, &out, &k};
  void *withNull[] = {&a, &b, nullptr, &out, &k};
  size_t bytes = 36, tooFew = 24, tooMany = 4096;
  std::vector<uint8_t> buffer(4096);
  auto extra = [&](void *key, size_t &size) {
    void *list[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(), key, &size,
                    HIP_LAUNCH_PARAM_END};
    return hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr,
                                 nullptr, list);
  };
  auto launchOf = [&](hipFunction_t f, hipStream_t stream, void **arguments,
                      void **list) {
    return hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, stream, arguments,
                                 list);
  };
  auto unknownStream = reinterpret_cast<hipStream_t>(0x1234);
  auto unknownFunction = reinterpret_cast<hipFunction_t>(0x1234);
  check({
      {"null function",
       [&] { return launchOf(nullptr, nullptr, parameters, nullptr); },
       hipErrorInvalidHandle, "function"},
      {"unknown function",
       [&] { return launchOf(unknownFunction, nullptr, parameters, nullptr); },
       hipErrorInvalidHandle, "function"},
      {"unknown stream",
       [&] { return launchOf(function, unknownStream, parameters, nullptr); },
       hipErrorContextIsDestroyed, "stream"},
      {"no arguments",
       [&] { return launchOf(function, nullptr, nullptr, nullptr); },
       hipErrorInvalidValue, "takes 5 arguments"},
      {"a null argument",
       [&] { return launchOf(function, nullptr, withNull, nullptr); },
       hipErrorInvalidValue, "argument 2 (c)"},
      {"both forms of arguments",
       [&] { return launchOf(function, nullptr, parameters, withNull); },
       hipErrorInvalidValue, "both given"},
      {"unknown key", [&] { return extra(reinterpret_cast<void *>(7), bytes); },
       hipErrorInvalidValue, "the key 7"},
      {"buffer too small",
       [&] { return extra(HIP_LAUNCH_PARAM_BUFFER_SIZE, tooFew); },
       hipErrorInvalidValue, "24 bytes"},
      {"buffer too large",
       [&] { return extra(HIP_LAUNCH_PARAM_BUFFER_SIZE, tooMany); },
       hipErrorInvalidValue, "4096 bytes"},
      {"empty grid", [&] { return launchShape(0, 1, 1, 64, 1, 1); },
       hipErrorInvalidValue, "a grid of (0, 1, 1)"},
      {"grid too large", [&] { return launchShape(1, 65537, 1, 1, 1, 1); },
       hipErrorInvalidValue, "65536"},
      {"too many work-items",
       [&] { return launchShape(0x7fffffff, 1, 1, 64, 1, 1); },
       hipErrorInvalidConfiguration, "2^32"},
      {"empty block", [&] { return launchShape(1, 1, 1, 0, 1, 1); },
       hipErrorInvalidConfiguration, "1 to 1024"},
      {"block dimension too large",
       [&] { return launchShape(1, 1, 1, 2048, 1, 1); },
       hipErrorInvalidConfiguration, "1 to 1024"},
      {"block too large", [&] { return launchShape(1, 1, 1, 64, 64, 1); },
       hipErrorInvalidConfiguration, "at most 1024"},
      {"block too large for the kernel",
       [&] { return launchShape(1, 1, 1, 128, 1, 1); }, hipErrorLaunchFailure,
       "at most 64"},
      {"too much LDS", [&] { return launchShape(1, 1, 1, 64, 1, 1, 163841); },
       hipErrorInvalidValue, "163840"},
  });
}

TEST_F(HipSimErrorTest, CooperativeLaunches) {
  int value = 1;
  ASSERT_HIP(
      hipDeviceGetAttribute(&value, hipDeviceAttributeCooperativeLaunch, 0));
  EXPECT_EQ(value, 0);
  value = 1;
  ASSERT_HIP(hipDeviceGetAttribute(
      &value, hipDeviceAttributeCooperativeMultiDeviceLaunch, 0));
  EXPECT_EQ(value, 0);
  hipDeviceProp_t properties;
  ASSERT_HIP(hipGetDeviceProperties(&properties, 0));
  EXPECT_EQ(properties.cooperativeLaunch, 0);
  EXPECT_EQ(properties.cooperativeMultiDeviceLaunch, 0);
  check({
      {"hipLaunchCooperativeKernel",
       [&] {
         return hipLaunchCooperativeKernel(function, dim3(1), dim3(64), nullptr,
                                           0, nullptr);
       },
       hipErrorNotSupported, "hipLaunchCooperativeKernel: cooperative"},
      {"hipModuleLaunchCooperativeKernel",
       [&] {
         return hipModuleLaunchCooperativeKernel(function, 1, 1, 1, 64, 1, 1, 0,
                                                 nullptr, nullptr);
       },
       hipErrorNotSupported, "hipModuleLaunchCooperativeKernel: cooperative"},
      {"hipLaunchCooperativeKernelMultiDevice",
       [&] { return hipLaunchCooperativeKernelMultiDevice(nullptr, 1, 0); },
       hipErrorNotSupported,
       "hipLaunchCooperativeKernelMultiDevice: cooperative"},
      {"another function that is not there",
       [&] {
         hipArray *array;
         return hipArrayCreate(&array, nullptr);
       },
       hipErrorNotSupported, "hipArrayCreate: not supported"},
  });
}

TEST_F(HipSimErrorTest, Modules) {
  hipModule_t loaded, gone;
  hipFunction_t found;
  hipFunction_t ofGone;
  ASSERT_HIP(hipModuleLoadData(&gone, tinyCode().data()));
  ASSERT_HIP(hipModuleGetFunction(&ofGone, gone, "netra_test_multiply_add"));
  ASSERT_HIP(hipModuleUnload(gone));
  std::vector<uint8_t> wrong = tinyCode(), truncated = tinyCode();
  wrong[0x30] = 0x4c; // EF_AMDGPU_MACH of gfx942
  // Behind the image there is no memory, though its header speaks of some.
  const std::vector<uint8_t> &code = tinyCode();
  const size_t page = 4096, pages = (code.size() + page - 1) / page + 1;
  auto *memory =
      static_cast<uint8_t *>(mmap(nullptr, pages * page, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  uint8_t *guarded = memory + (pages - 1) * page - code.size();
  std::copy(code.begin(), code.end(), guarded);
  guarded[0x39] = 88; // 22,528 program headers more
  ASSERT_EQ(mprotect(memory + (pages - 1) * page, page, PROT_NONE), 0);
  TemporaryDirectory directory;
  auto write = [&](const char *name, size_t bytes) {
    std::string path = directory.file(name);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(truncated.data()),
               std::streamsize(bytes));
    return path;
  };
  std::string empty = write("empty", 0), half = write("half", 512);
  int blocks, value;
  check({
      {"wrong architecture",
       [&] { return hipModuleLoadData(&loaded, wrong.data()); },
       hipErrorNoBinaryForGpu, "not code for gfx950"},
      {"no code object",
       [&] {
         return hipModuleLoadData(&loaded, "this is no code object at all");
       },
       hipErrorInvalidImage, "neither a code object"},
      {"headers of what is not there",
       [&] { return hipModuleLoadData(&loaded, guarded); },
       hipErrorInvalidImage, "bytes that are not there"},
      {"no image", [&] { return hipModuleLoadData(&loaded, nullptr); },
       hipErrorInvalidValue, "image"},
      {"no place",
       [&] { return hipModuleLoadData(nullptr, tinyCode().data()); },
       hipErrorInvalidValue, "module"},
      {"no file", [&] { return hipModuleLoad(&loaded, "/no/such/file"); },
       hipErrorFileNotFound, "/no/such/file"},
      {"empty file", [&] { return hipModuleLoad(&loaded, empty.c_str()); },
       hipErrorInvalidImage, "neither a code object"},
      {"truncated file", [&] { return hipModuleLoad(&loaded, half.c_str()); },
       hipErrorInvalidImage, "half"},
      {"absent kernel",
       [&] { return hipModuleGetFunction(&found, module, "absent"); },
       hipErrorNotFound, "absent"},
      {"empty name", [&] { return hipModuleGetFunction(&found, module, ""); },
       hipErrorInvalidValue, "name"},
      {"null module",
       [&] { return hipModuleGetFunction(&found, nullptr, "x"); },
       hipErrorInvalidHandle, "module"},
      {"unloaded module",
       [&] { return hipModuleGetFunction(&found, gone, "x"); },
       hipErrorNotFound, "not loaded"},
      {"unloaded twice", [&] { return hipModuleUnload(gone); },
       hipErrorInvalidHandle, "not loaded"},
      {"function of an unloaded module",
       [&] {
         return hipModuleLaunchKernel(ofGone, 1, 1, 1, 64, 1, 1, 0, nullptr,
                                      nullptr, nullptr);
       },
       hipErrorInvalidHandle, "unloaded"},
      {"attribute of an unloaded function",
       [&] {
         return hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS,
                                    ofGone);
       },
       hipErrorInvalidDeviceFunction, "unloaded"},
      {"attribute of no function",
       [&] {
         return hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS,
                                    nullptr);
       },
       hipErrorInvalidValue, "function"},
      {"unknown attribute",
       [&] {
         return hipFuncGetAttribute(&value, hipFunction_attribute(77),
                                    function);
       },
       hipErrorInvalidValue, "77"},
      {"occupancy of too large a block",
       [&] {
         return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
             &blocks, function, 1025, 0);
       },
       hipErrorInvalidValue, "1025"},
      {"absent variable",
       [&] {
         hipDeviceptr_t pointer;
         size_t size;
         return hipModuleGetGlobal(&pointer, &size, module, "absent");
       },
       hipErrorNotFound, "absent"},
  });
}

TEST_F(HipSimErrorTest, Memory) {
  char host[64] = {};
  void *place, *freed, *inner = reinterpret_cast<char *>(a) + 4;
  ASSERT_HIP(hipMalloc(&freed, 256));
  ASSERT_HIP(hipFree(freed));
  size_t bytes;
  hipDeviceptr_t base;
  hipPointerAttribute_t attributes;
  hipStream_t unknown = reinterpret_cast<hipStream_t>(0x1234);
  check({
      {"no place", [&] { return hipMalloc(nullptr, 16); }, hipErrorInvalidValue,
       "null"},
      {"more than there is", [&] { return hipMalloc(&place, size_t(1) << 50); },
       hipErrorOutOfMemory, "memory"},
      {"free of host memory", [&] { return hipFree(host); },
       hipErrorInvalidValue, ""},
      {"free inside an allocation", [&] { return hipFree(inner); },
       hipErrorInvalidValue, ""},
      {"freed twice", [&] { return hipFree(freed); }, hipErrorInvalidValue, ""},
      {"copy to null",
       [&] { return hipMemcpy(nullptr, host, 8, hipMemcpyHostToDevice); },
       hipErrorInvalidValue, "destination"},
      {"copy from null",
       [&] { return hipMemcpy(a, nullptr, 8, hipMemcpyHostToDevice); },
       hipErrorInvalidValue, "source"},
      {"copy beyond the end",
       [&] { return hipMemcpy(host, a, tinyBytes + 1, hipMemcpyDeviceToHost); },
       hipErrorInvalidValue, "reaches beyond its allocation of 1024 bytes"},
      {"host memory called device memory",
       [&] { return hipMemcpy(host, host + 32, 8, hipMemcpyHostToDevice); },
       hipErrorInvalidValue, "destination"},
      {"device memory expected as source",
       [&] { return hipMemcpy(a, host, 8, hipMemcpyDeviceToDevice); },
       hipErrorInvalidValue, "source"},
      {"freed memory",
       [&] { return hipMemcpy(freed, host, 8, hipMemcpyHostToDevice); },
       hipErrorInvalidValue, "destination"},
      {"unknown kind", [&] { return hipMemcpy(a, host, 8, hipMemcpyKind(9)); },
       hipErrorInvalidMemcpyDirection, "9"},
      {"copy in an unknown stream",
       [&] {
         return hipMemcpyAsync(a, host, 8, hipMemcpyHostToDevice, unknown);
       },
       hipErrorContextIsDestroyed, "stream"},
      {"pitch smaller than a row",
       [&] {
         return hipMemcpy2D(a, 8, host, 16, 16, 2, hipMemcpyHostToDevice);
       },
       hipErrorInvalidPitchValue, "16 bytes"},
      {"rows beyond the end",
       [&] {
         return hipMemcpy2D(a, 512, host, 16, 16, 3, hipMemcpyHostToDevice);
       },
       hipErrorInvalidValue, "destination"},
      {"memset of host memory", [&] { return hipMemset(host, 0, 8); },
       hipErrorInvalidValue, "memset"},
      {"memset beyond the end", [&] { return hipMemset(a, 0, tinyBytes + 1); },
       hipErrorInvalidValue, "1025"},
      {"memset that overflows",
       [&] { return hipMemsetD32(a, 0, SIZE_MAX / 2); }, hipErrorInvalidValue,
       "memset"},
      {"memset in an unknown stream",
       [&] { return hipMemsetAsync(a, 0, 8, unknown); },
       hipErrorContextIsDestroyed, "stream"},
      {"host memory that is not HIP's", [&] { return hipHostFree(host); },
       hipErrorInvalidValue, ""},
      {"never registered", [&] { return hipHostUnregister(host); },
       hipErrorHostMemoryNotRegistered, ""},
      {"registered twice", [&] { return hipHostRegister(a, 16, 0); },
       hipErrorHostMemoryAlreadyRegistered, ""},
      {"exclusive flags",
       [&] {
         return hipHostMalloc(&place, 16,
                              hipHostMallocCoherent | hipHostMallocNonCoherent);
       },
       hipErrorInvalidValue, "exclude"},
      {"no device pointer",
       [&] { return hipHostGetDevicePointer(&place, host, 0); },
       hipErrorInvalidValue, ""},
      {"attributes of unknown memory",
       [&] { return hipPointerGetAttributes(&attributes, host); },
       hipErrorInvalidValue, ""},
      {"range of unknown memory",
       [&] { return hipMemGetAddressRange(&base, &bytes, host); },
       hipErrorInvalidDevicePointer, ""},
      {"unknown device", [&] { return hipSetDevice(1); }, hipErrorInvalidDevice,
       "device 1"},
      {"negative device", [&] { return hipDeviceGetName(host, 8, -1); },
       hipErrorInvalidDevice, "device -1"},
      {"unknown device attribute",
       [&] {
         int value;
         return hipDeviceGetAttribute(&value, hipDeviceAttribute_t(12345), 0);
       },
       hipErrorInvalidValue, "12345"},
  });
}

TEST_F(HipSimErrorTest, StreamsAndEvents) {
  hipStream_t stream, gone;
  hipEvent_t event, untimed, goneEvent;
  ASSERT_HIP(hipStreamCreate(&stream));
  ASSERT_HIP(hipEventCreate(&event));
  ASSERT_HIP(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
  // Last, so that nothing else gets their addresses.
  ASSERT_HIP(hipStreamCreate(&gone));
  ASSERT_HIP(hipStreamDestroy(gone));
  ASSERT_HIP(hipEventCreate(&goneEvent));
  ASSERT_HIP(hipEventDestroy(goneEvent));
  ASSERT_HIP(hipEventRecord(untimed, stream));
  float time;
  unsigned flags;
  int priority;
  check({
      {"no place", [&] { return hipStreamCreate(nullptr); },
       hipErrorInvalidValue, "stream"},
      {"unknown flags", [&] { return hipStreamCreateWithFlags(&gone, 6); },
       hipErrorInvalidValue, "found 6"},
      {"destroy the default stream", [&] { return hipStreamDestroy(nullptr); },
       hipErrorInvalidHandle, "default"},
      {"destroy the thread's stream",
       [&] { return hipStreamDestroy(hipStreamPerThread); },
       hipErrorInvalidHandle, "per-thread"},
      {"destroyed twice", [&] { return hipStreamDestroy(gone); },
       hipErrorContextIsDestroyed, "destroyed"},
      {"synchronize a destroyed stream",
       [&] { return hipStreamSynchronize(gone); }, hipErrorContextIsDestroyed,
       "stream"},
      {"query a destroyed stream", [&] { return hipStreamQuery(gone); },
       hipErrorContextIsDestroyed, "stream"},
      {"flags of a destroyed stream",
       [&] { return hipStreamGetFlags(gone, &flags); },
       hipErrorContextIsDestroyed, "stream"},
      {"priority of a destroyed stream",
       [&] { return hipStreamGetPriority(gone, &priority); },
       hipErrorContextIsDestroyed, "stream"},
      {"wait in a destroyed stream",
       [&] { return hipStreamWaitEvent(gone, event, 0); },
       hipErrorContextIsDestroyed, "stream"},
      {"wait for null", [&] { return hipStreamWaitEvent(stream, nullptr, 0); },
       hipErrorInvalidHandle, "event"},
      {"wait with flags", [&] { return hipStreamWaitEvent(stream, event, 4); },
       hipErrorInvalidValue, "found 4"},
      {"no host function",
       [&] { return hipLaunchHostFunc(stream, nullptr, nullptr); },
       hipErrorInvalidValue, "function"},
      {"no callback",
       [&] { return hipStreamAddCallback(stream, nullptr, nullptr, 0); },
       hipErrorInvalidValue, "callback"},
      {"unknown event flags",
       [&] { return hipEventCreateWithFlags(&goneEvent, 0x100); },
       hipErrorInvalidValue, "flags"},
      {"events between processes",
       [&] {
         return hipEventCreateWithFlags(&goneEvent, hipEventInterprocess |
                                                        hipEventDisableTiming);
       },
       hipErrorNotSupported, "hipEventInterprocess"},
      {"record null", [&] { return hipEventRecord(nullptr, stream); },
       hipErrorInvalidHandle, "event"},
      {"record a destroyed event",
       [&] { return hipEventRecord(goneEvent, stream); },
       hipErrorContextIsDestroyed, "event"},
      {"record in a destroyed stream",
       [&] { return hipEventRecord(event, gone); }, hipErrorContextIsDestroyed,
       "stream"},
      {"destroy null", [&] { return hipEventDestroy(nullptr); },
       hipErrorInvalidHandle, "event"},
      {"destroyed event", [&] { return hipEventDestroy(goneEvent); },
       hipErrorContextIsDestroyed, "event"},
      {"synchronize null", [&] { return hipEventSynchronize(nullptr); },
       hipErrorInvalidHandle, "event"},
      {"query null", [&] { return hipEventQuery(nullptr); },
       hipErrorInvalidHandle, "event"},
      {"time of an event never recorded",
       [&] { return hipEventElapsedTime(&time, event, event); },
       hipErrorInvalidHandle, "never recorded"},
      {"time without timing",
       [&] { return hipEventElapsedTime(&time, untimed, untimed); },
       hipErrorInvalidHandle, "without timing"},
      {"no place for the time",
       [&] { return hipEventElapsedTime(nullptr, event, event); },
       hipErrorInvalidValue, "time"},
  });
  ASSERT_HIP(hipEventSynchronize(event)); // never recorded: nothing to wait for
  ASSERT_HIP(hipStreamDestroy(stream));
  ASSERT_HIP(hipEventDestroy(event));
  ASSERT_HIP(hipEventDestroy(untimed));
}

/// A host function that waits would wait for itself: it is told so.
TEST_F(HipSimErrorTest, HostFunctionsMayNotWait) {
  static hipStream_t stream;
  static hipEvent_t event;
  static std::vector<hipError_t> codes;
  codes.clear();
  ASSERT_HIP(hipStreamCreate(&stream));
  ASSERT_HIP(hipEventCreate(&event));
  auto wait = [](void *memory) {
    char host[8];
    codes = {hipStreamSynchronize(stream),
             hipDeviceSynchronize(),
             hipEventSynchronize(event),
             hipMemcpy(host, memory, 8, hipMemcpyDeviceToHost),
             hipFree(memory),
             hipStreamDestroy(stream)};
  };
  ASSERT_HIP(hipLaunchHostFunc(stream, wait, a));
  ASSERT_HIP(hipEventRecord(event, stream));
  ASSERT_HIP(hipStreamSynchronize(stream));
  ASSERT_EQ(codes.size(), 6u);
  // The event may or may not be recorded yet when the function asks for it.
  EXPECT_TRUE(codes[2] == hipErrorNotSupported || codes[2] == hipSuccess);
  codes.erase(codes.begin() + 2);
  for (hipError_t code : codes)
    EXPECT_EQ(code, hipErrorNotSupported);
  ASSERT_HIP(hipStreamDestroy(stream));
  ASSERT_HIP(hipEventDestroy(event));
}

/// The address space of the process ends while a kernel wants registers.
TEST_F(HipSimErrorTest, HostMemoryRunsOut) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space of their own";
#endif
  ASSERT_HIP(launch(a, b, c, out, 1)); // what is needed once is there now
  ASSERT_HIP(hipDeviceSynchronize());
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  ASSERT_GT(pages, 0u);
  rlimit before, tight;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  tight = before;
  tight.rlim_cur = pages * size_t(sysconf(_SC_PAGESIZE));
  testing::internal::CaptureStderr();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  hipError_t launched = launch(a, b, c, out, 1);
  hipError_t finished = hipDeviceSynchronize();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(launched, hipSuccess);
  EXPECT_EQ(finished, hipErrorLaunchFailure);
  // One wave: 512 rows of 64 words.
  EXPECT_NE(text.find("the host cannot map 131072 bytes"), std::string::npos)
      << text;
  ASSERT_HIP(launch(a, b, c, out, 2));
  EXPECT_EQ(read(out), constant(3 * 5 + 7 + 2));
}

TEST_F(HipSimErrorTest, ErrorsAreOfTheThread) {
  EXPECT_EQ(hipSetDevice(7), hipErrorInvalidDevice);
  hipError_t inOther = hipErrorUnknown;
  std::thread([&] { inOther = hipGetLastError(); }).join();
  EXPECT_EQ(inOther, hipSuccess);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidDevice);
  EXPECT_HIP(hipSetDevice(0)); // success does not clear it
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

TEST_F(HipSimErrorTest, FaultsAreToldByWhateverWaitsForThem) {
  const auto faulty = [&](hipStream_t stream) {
    ASSERT_HIP(launch(nullptr, b, c, out, 1, stream));
  };
  hipStream_t stream;
  hipEvent_t event;
  ASSERT_HIP(hipEventCreate(&event));
  ASSERT_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  testing::internal::CaptureStderr();
  faulty(stream);
  ASSERT_HIP(hipEventRecord(event, stream));
  EXPECT_EQ(hipEventSynchronize(event), hipErrorIllegalAddress);
  EXPECT_EQ(hipGetLastError(), hipErrorIllegalAddress);
  EXPECT_EQ(hipEventSynchronize(event), hipSuccess); // told once

  faulty(stream);
  ASSERT_HIP(hipEventRecord(event, stream));
  hipError_t answer;
  while ((answer = hipEventQuery(event)) == hipErrorNotReady)
    std::this_thread::yield();
  EXPECT_EQ(answer, hipErrorIllegalAddress);

  faulty(stream);
  EXPECT_EQ(hipStreamDestroy(stream), hipErrorIllegalAddress);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
  testing::internal::GetCapturedStderr();
  // The stream is gone; its event is not.
  EXPECT_HIP(hipEventSynchronize(event));
  ASSERT_HIP(hipEventDestroy(event));
}

TEST_F(HipSimErrorTest, BundlesGiveTheExactTargetBeforeItsFamily) {
  // Entry: offset, size, length of the id, id.
  auto bundle = [](const std::vector<std::string> &targets, size_t good) {
    std::vector<uint8_t> code = tinyCode(), bytes;
    auto add = [&](const void *data, size_t size) {
      auto *from = static_cast<const uint8_t *>(data);
      bytes.insert(bytes.end(), from, from + size);
    };
    auto number = [&](uint64_t value) { add(&value, 8); };
    constexpr uint64_t start = 4096;
    add("__CLANG_OFFLOAD_BUNDLE__", 24);
    number(targets.size());
    for (size_t i = 0; i < targets.size(); ++i) {
      std::string id = "hipv4-amdgcn-amd-amdhsa--" + targets[i];
      // Any other entry is bytes of the bundle that are no code.
      number(i == good ? start : 0);
      number(i == good ? code.size() : 64);
      number(id.size());
      add(id.data(), id.size());
    }
    bytes.resize(start);
    add(code.data(), code.size());
    return bytes;
  };
  auto load = [](const std::vector<uint8_t> &bytes) {
    hipModule_t module = nullptr;
    hipError_t code = hipModuleLoadData(&module, bytes.data());
    if (code == hipSuccess)
      code = hipModuleUnload(module);
    return code;
  };
  EXPECT_EQ(load(bundle({"gfx942", "gfx950"}, 1)), hipSuccess);
  EXPECT_EQ(load(bundle({"gfx942", "gfx9-4-generic"}, 1)), hipSuccess);
  EXPECT_EQ(load(bundle({"gfx9-4-generic", "gfx950"}, 1)), hipSuccess);
  EXPECT_EQ(load(bundle({"gfx950", "gfx9-4-generic"}, 0)), hipSuccess);
  EXPECT_NE(load(bundle({"gfx9-4-generic", "gfx950"}, 0)), hipSuccess);
  EXPECT_EQ(load(bundle({"gfx942", "gfx1100"}, 0)), hipErrorNoBinaryForGpu);
}

TEST_F(HipSimErrorTest, CodeForOtherModesOfTheTarget) {
  // The device is gfx950:sramecc+:xnack-; flags of the ELF header, byte 49.
  for (auto [bits, isLoaded] :
       {std::pair(0x00, true), std::pair(0x05, true), std::pair(0x0e, true),
        std::pair(0x03, false), std::pair(0x0f, false), std::pair(0x08, false),
        std::pair(0x0a, false)}) {
    std::vector<uint8_t> code = tinyCode();
    code[49] = uint8_t((code[49] & 0xf0) | bits);
    hipModule_t other = nullptr;
    EXPECT_EQ(hipModuleLoadData(&other, code.data()),
              isLoaded ? hipSuccess : hipErrorNoBinaryForGpu)
        << bits;
    if (isLoaded) {
      EXPECT_HIP(hipModuleUnload(other));
    }
  }
}

TEST_F(HipSimErrorTest, ManagedAndAsynchronousMemory) {
  void *memory = nullptr;
  for (unsigned flags : {0u, 3u, 4u, 16u})
    EXPECT_EQ(hipMallocManaged(&memory, 64, flags), hipErrorInvalidValue);
  for (unsigned flags : {hipMemAttachGlobal, hipMemAttachHost}) {
    ASSERT_HIP(hipMallocManaged(&memory, 64, flags));
    ASSERT_HIP(hipFree(memory));
  }
  // The first free is still queued when the second comes.
  hipStream_t stream;
  ASSERT_HIP(hipStreamCreate(&stream));
  std::atomic<bool> mayGo{false};
  ASSERT_HIP(hipMallocAsync(&memory, 64, stream));
  ASSERT_HIP(hipLaunchHostFunc(
      stream,
      [](void *flag) {
        while (!*static_cast<std::atomic<bool> *>(flag))
          std::this_thread::yield();
      },
      &mayGo));
  ASSERT_HIP(hipFreeAsync(memory, stream));
  EXPECT_EQ(hipFreeAsync(memory, stream), hipErrorInvalidValue);
  mayGo = true;
  EXPECT_HIP(hipStreamSynchronize(stream));
  ASSERT_HIP(hipStreamDestroy(stream));
}

TEST_F(HipSimErrorTest, EveryErrorHasItsName) {
#define NAMED(code)                                                            \
  EXPECT_STREQ(hipGetErrorName(code), #code);                                  \
  EXPECT_GT(std::strlen(hipGetErrorString(code)), 5u) << #code
  NAMED(hipSuccess);
  NAMED(hipErrorInvalidValue);
  NAMED(hipErrorOutOfMemory);
  NAMED(hipErrorInvalidConfiguration);
  NAMED(hipErrorInvalidPitchValue);
  NAMED(hipErrorInvalidMemcpyDirection);
  NAMED(hipErrorNoDevice);
  NAMED(hipErrorNoBinaryForGpu);
  NAMED(hipErrorInvalidHandle);
  NAMED(hipErrorContextIsDestroyed);
  NAMED(hipErrorHostMemoryNotRegistered);
  NAMED(hipErrorNotSupported);
  NAMED(hipErrorStreamCaptureImplicit);
  NAMED(hipErrorGraphExecUpdateFailure);
  NAMED(hipErrorRuntimeOther);
#undef NAMED
  EXPECT_STREQ(hipGetErrorName(hipError_t(4711)), "hipErrorUnknown");
}

} // namespace
