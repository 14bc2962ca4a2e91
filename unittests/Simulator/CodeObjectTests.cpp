//===- CodeObjectTests.cpp - Loading and what must not load --------------===//
// SPDX-License-Identifier: MIT

#include "KernelCompiler.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <algorithm>

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

TEST(CodeObjects, RefusesFlagsThatMeanNothing) {
  auto bytes = compileOpenCl("kernel void k(global int *p) { *p = 1; }", "-O2");
  bytes[50] = 5; // the third byte of e_flags
  EXPECT_THAT(loadError(bytes), HasSubstr("the unknown bits 0x50000"));
}

TEST(CodeObjects, RefusesOtherModesOfTheTarget) {
  for (std::string mode : {"xnack+", "sramecc-", "sramecc-:xnack+"})
    EXPECT_THAT(
        loadError(compileOpenCl("kernel void k(global int *p) { *p = 1; }",
                                "-O2 -mcpu=gfx950:" + mode)),
        HasSubstr("built for gfx950:" + mode +
                  "; this device is gfx950:sramecc+:xnack-"));
}

TEST(CodeObjects, CodeForTheWholeFamilyRuns) {
  auto bytes =
      compileOpenCl("kernel void k(global int *p, int n) { *p = n * 3; }",
                    "-O2 -mcpu=gfx9-4-generic -mcode-object-version=6");
  auto object = CodeObject::load(bytes, "file");
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  Device device;
  const uint64_t result = upload(device, std::vector<uint32_t>(1, 0));
  EXPECT_THAT(run(device, *object, "k", {1, 1, 1}, {64, 1, 1},
                  Arguments().add(result).add(5)),
              testing::IsEmpty());
  EXPECT_EQ(download<uint32_t>(device, result, 1)[0], 15u);
}

TEST(CodeObjects, ScalarRegistersComeInSixteens) {
  std::string source = wrapKernel("");
  const std::string directive = "next_free_sgpr 96";
  source.replace(source.find(directive), directive.size(), "next_free_sgpr 34");
  // 34, and 6 for VCC and such.
  EXPECT_EQ(assembly(source)->findKernel("k")->sgprs, 48u);
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

TEST(CodeObjects, PrivateMemoryHasTheHardwaresLimit) {
  // 13 bits in units of 1 KiB for a wave of 64: 131,056 bytes per work-item.
  // The last dword is written and read back.
  const char *body = R"(
  v_mov_b32 v1, 0x1ff00
  v_mov_b32 v2, 7
  scratch_store_dword v1, v2, off offset:236
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  scratch_load_dword v3, v1, off offset:236
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_mov_b32 v4, 0
  global_store_dword v4, v3, s[4:5])";
  Device device;
  const uint64_t result = upload(device, std::vector<uint32_t>(1, 0));
  auto launch = [&](unsigned scratch) {
    return run(device, assembly(wrapKernel(body, 8, 0, 64, 0, scratch)), "k",
               {1, 1, 1}, {64, 1, 1}, Arguments().add(result));
  };
  EXPECT_THAT(launch(131056), testing::IsEmpty());
  EXPECT_EQ(download<uint32_t>(device, result, 1)[0], 7u);
  for (unsigned scratch : {131057u, 0x7fffffffu, 0xffffffffu})
    EXPECT_THAT(launch(scratch),
                testing::ElementsAre(
                    AllOf(HasSubstr("launch of k: " + std::to_string(scratch) +
                                    " bytes of private memory per work-item"),
                          HasSubstr("at most 131056"))));
}

/// Replaces the first occurrence of `from`, which must be there.
void patch(std::vector<uint8_t> &bytes, llvm::StringRef from,
           llvm::StringRef to) {
  auto at = std::search(bytes.begin(), bytes.end(), from.bytes_begin(),
                        from.bytes_end());
  ASSERT_NE(at, bytes.end());
  std::copy(to.begin(), to.end(), at);
}

TEST(CodeObjects, CollectionsAsKeysInTheMetadata) {
  // The key ".name" becomes an array of five numbers.
  auto bytes = assemble(wrapKernel(""));
  patch(bytes, "\xa5.name", "\x95.name");
  auto object = CodeObject::load(bytes, "file");
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  EXPECT_THAT((*object)->warnings(),
              testing::Contains(HasSubstr("not valid MsgPack")));
}

TEST(CodeObjects, ConstantCutOffByTheEndOfTheText) {
  // s_cselect_b32 with a constant that would follow.
  std::string source = wrapKernel("");
  source.insert(source.find(".rodata"), ".long 0x850380ff\n");
  auto object = assembly(source);
  ASSERT_TRUE(object);
  std::string listing;
  llvm::raw_string_ostream os(listing);
  EXPECT_EQ(llvm::toString(object->disassemble(os)), "");
  EXPECT_THAT(listing, HasSubstr(".long 0x850380ff"));
}

TEST(CodeObjects, HiddenArgumentOfNoDimension) {
  auto bytes = compileOpenCl("kernel void k(global int *p) {"
                             "  p[0] = __builtin_amdgcn_workgroup_size_x(); }",
                             "-O2");
  auto sizeSeen = [&]() -> std::string {
    auto object = CodeObject::load(bytes, "file");
    if (!object)
      return llvm::toString(object.takeError());
    Device device;
    const uint64_t p = upload(device, std::vector<int>(1, -1));
    auto texts =
        run(device, *object, "k", {1, 1, 1}, {64, 1, 1}, Arguments().add(p));
    return texts.empty() ? std::to_string(download<int>(device, p, 1)[0])
                         : texts[0];
  };
  EXPECT_EQ(sizeSeen(), "64");
  patch(bytes, "hidden_group_size_x", "hidden_group_size_~");
  EXPECT_EQ(sizeSeen(), "0"); // nobody fills it
}

TEST(CodeObjects, ExecutableSectionsFarApart) {
  // Two pieces of code, with 2 GiB between them.
  auto bytes = assemble(wrapKernel("") + ".section .far,\"ax\"\ns_endpgm\n");
  using Phdr = llvm::object::ELF64LE::Phdr;
  auto file = llvm::object::ELF64LEFile::create(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  ASSERT_TRUE(bool(file));
  auto &header = file->getHeader();
  bool isMoved = false;
  for (unsigned k = 0; k < header.e_shnum; ++k) {
    auto *section = reinterpret_cast<llvm::object::ELF64LE::Shdr *>(
        bytes.data() + header.e_shoff + k * header.e_shentsize);
    auto name = file->getSectionName(*section);
    if (!name || *name != ".far")
      continue;
    auto *segments = reinterpret_cast<Phdr *>(bytes.data() + header.e_phoff);
    // A segment of its own for it, in the place of one that nobody needs.
    for (unsigned p = 0; p < header.e_phnum; ++p)
      if (segments[p].p_type == llvm::ELF::PT_GNU_STACK) {
        segments[p].p_type = llvm::ELF::PT_LOAD;
        segments[p].p_flags = llvm::ELF::PF_X | llvm::ELF::PF_R;
        segments[p].p_offset = uint64_t(section->sh_offset);
        segments[p].p_vaddr = uint64_t(1) << 31;
        segments[p].p_filesz = 4;
        segments[p].p_memsz = 4;
        isMoved = true;
      }
    section->sh_addr = uint64_t(1) << 31;
  }
  ASSERT_TRUE(isMoved);
  auto object = CodeObject::load(bytes, "file");
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  std::string listing;
  llvm::raw_string_ostream os(listing);
  EXPECT_THAT(llvm::toString((*object)->disassemble(os)),
              HasSubstr("bytes of executable sections span"));
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
  // One element too far, from either end.
  for (auto [offset, text] : {std::pair(4, "the end of host range"),
                              std::pair(-4, "4 bytes before host range")}) {
    auto found = run(device, object, "k", {1, 1, 1}, {64, 1, 1},
                     Arguments().add(address + uint64_t(int64_t(offset))));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0], testing::AllOf(HasSubstr(text),
                                         HasSubstr("of 256 bytes at 0x")));
  }
  llvm::cantFail(device.unregisterHost(host.data()));
  EXPECT_FALSE(device.contains(address, 4));
}

} // namespace
