//===- CodeObjectTests.cpp - Loading and what must not load --------------===//
// SPDX-License-Identifier: MIT

#include "KernelCompiler.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace netra::sim;
using namespace netra::sim::test;
using testing::HasSubstr;

namespace {

std::string loadError(const std::vector<uint8_t> &bytes) {
  auto object = CodeObject::load(bytes, "file");
  return object ? "" : llvm::toString(object.takeError());
}

TEST(CodeObjects, ReadsKernelsAndArguments) {
  auto object = openCl(R"(
kernel void k(global float *p, int n, global const float *q) {
  p[n] = q[n];
})",
                       "-O2");
  ASSERT_TRUE(object);
  const Kernel *kernel = object->findKernel("k");
  ASSERT_NE(kernel, nullptr);
  auto arguments = kernel->explicitArguments();
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(arguments[0].offset, 0u);
  EXPECT_EQ(arguments[1].offset, 8u);
  EXPECT_EQ(arguments[1].size, 4u);
  EXPECT_EQ(arguments[2].offset, 16u);
  EXPECT_TRUE(arguments[0].isPointer());
  EXPECT_FALSE(arguments[1].isPointer());
  EXPECT_EQ(kernel->waveSize, 64u);
  EXPECT_EQ(object->target(), "gfx950");
  EXPECT_EQ(object->findKernel("nothing"), nullptr);
}

TEST(CodeObjects, RefusesWhatIsNotOne) {
  EXPECT_THAT(loadError({}), HasSubstr("expected an ELF file"));
  EXPECT_THAT(loadError({'h', 'e', 'l', 'l', 'o'}),
              HasSubstr("expected an ELF file"));
  std::vector<uint8_t> header(64, 0);
  header[0] = 0x7f;
  header[1] = 'E';
  header[2] = 'L';
  header[3] = 'F';
  EXPECT_THAT(loadError(header), HasSubstr("64-bit little-endian"));
  header[4] = 2;
  header[5] = 1;
  EXPECT_THAT(loadError(header), HasSubstr("expected machine"));
}

TEST(CodeObjects, RefusesOtherTargets) {
  auto bytes = compileOpenCl("kernel void k(global int *p) { *p = 1; }",
                             "-O2 -mcpu=gfx942");
  EXPECT_THAT(loadError(bytes), HasSubstr("built for another target"));
}

TEST(CodeObjects, TruncatedFilesGiveErrors) {
  const auto bytes =
      compileOpenCl("kernel void k(global int *p) { *p = 1; }", "-O2");
  for (size_t length = 0; length < bytes.size(); length += 7) {
    std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + long(length));
    auto object = CodeObject::load(cut, "file");
    if (object) // enough is left
      (void)(*object)->coverage();
    else
      EXPECT_NE(llvm::toString(object.takeError()), "");
  }
}

TEST(CodeObjects, AlteredFilesDoNotCrash) {
  const auto bytes = compileOpenCl(R"(
kernel void k(global int *p, int n) {
  for (int i = 0; i < n; ++i) p[i] += i;
})",
                                   "-O2");
  uint32_t seed = 1;
  auto next = [&] { return seed = seed * 1664525u + 1013904223u, seed >> 8; };
  DeviceOptions options;
  options.instructionLimit = 1000;
  options.threads = 1;
  Device device(options);
  const uint64_t p = *device.allocate(4096);
  for (unsigned round = 0; round < 500; ++round) {
    auto altered = bytes;
    for (unsigned k = 0; k < 1 + round % 4; ++k)
      altered[next() % altered.size()] = uint8_t(next());
    auto object = CodeObject::load(altered, "file");
    if (!object) {
      llvm::consumeError(object.takeError());
      continue;
    }
    if (!(*object)->kernels().empty())
      (void)run(device, *object, (*object)->kernels()[0].name, {1, 1, 1},
                {64, 1, 1}, Arguments().add(p).add(5));
    device.unloadData(**object);
  }
}

TEST(DeviceMemory, AllocatesFreesAndChecks) {
  DeviceOptions options;
  options.memoryLimit = 1 << 20;
  Device device(options);
  auto a = device.allocate(1000, "a");
  ASSERT_TRUE(bool(a));
  EXPECT_TRUE(device.contains(*a, 1000));
  EXPECT_FALSE(device.contains(*a, 1001));
  EXPECT_FALSE(device.contains(*a + 1000, 1));
  EXPECT_EQ(device.hostPointer(*a + 990, 11), nullptr);
  auto big = device.allocate(1 << 20, "big");
  EXPECT_THAT(llvm::toString(big.takeError()), HasSubstr("limit exceeded"));
  llvm::cantFail(device.free(*a));
  EXPECT_FALSE(device.contains(*a, 1));
  EXPECT_THAT(llvm::toString(device.free(*a)), HasSubstr("no live allocation"));
  EXPECT_THAT(llvm::toString(device.copyIn(*a, &options, 4)),
              HasSubstr("not inside one live allocation"));
  EXPECT_EQ(device.bytesInUse(), 0u);
}

TEST(DeviceMemory, HostMemoryByRegistration) {
  Device device;
  std::vector<uint32_t> host(64, 7);
  auto object = openCl("kernel void k(global int *p) { "
                       "p[__builtin_amdgcn_workitem_id_x()]++; }");
  const uint64_t address = reinterpret_cast<uint64_t>(host.data());
  EXPECT_THAT(run(device, object, "k", {1, 1, 1}, {64, 1, 1},
                  Arguments().add(address))[0],
              HasSubstr("memory fault"));
  llvm::cantFail(device.registerHost(host.data(), 256));
  EXPECT_TRUE(
      run(device, object, "k", {1, 1, 1}, {64, 1, 1}, Arguments().add(address))
          .empty());
  EXPECT_EQ(host[63], 8u);
  llvm::cantFail(device.unregisterHost(host.data()));
  EXPECT_FALSE(device.contains(address, 4));
}

} // namespace
