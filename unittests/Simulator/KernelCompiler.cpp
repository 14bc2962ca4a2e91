//===- KernelCompiler.cpp - Code objects made in the tests ---------------===//
// SPDX-License-Identifier: MIT

#include "KernelCompiler.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <map>

using namespace llvm;

namespace netra::sim::test {

static void command(const std::string &line) {
  if (std::system(line.c_str()) != 0)
    ADD_FAILURE() << "failed: " << line;
}

namespace {
/// A folder that vanishes with its contents.
struct TemporaryFolder {
  SmallString<128> path;
  TemporaryFolder() {
    if (sys::fs::createUniqueDirectory("netra-sim-test", path))
      ADD_FAILURE() << "cannot make a temporary folder";
  }
  ~TemporaryFolder() { sys::fs::remove_directories(path); }
  std::string file(StringRef name) const {
    SmallString<128> result = path;
    sys::path::append(result, name);
    return std::string(result);
  }
};
} // namespace

static void writeText(const std::string &path, const std::string &text) {
  std::error_code code;
  raw_fd_ostream os(path, code);
  os << text;
}

static std::vector<uint8_t> readBytes(const std::string &path) {
  auto buffer = MemoryBuffer::getFile(path, false, false);
  if (!buffer) {
    ADD_FAILURE() << "cannot read " << path;
    return {};
  }
  StringRef data = (*buffer)->getBuffer();
  return std::vector<uint8_t>(data.bytes_begin(), data.bytes_end());
}

bool isFullTest() {
  const char *value = std::getenv("NETRA_TEST_FULL");
  return value && StringRef(value) == "1";
}

/// Runs `tool`, with the source's and the result's path behind it.
static std::vector<uint8_t> translated(const std::string &tool,
                                       const std::string &source) {
  TemporaryFolder folder;
  writeText(folder.file("source"), source);
  command(tool + " " + folder.file("source") + " -o " + folder.file("result"));
  return readBytes(folder.file("result"));
}

static std::string asText(const std::vector<uint8_t> &bytes) {
  return std::string(bytes.begin(), bytes.end());
}

static const char clang[] =
    NETRA_TEST_CLANG " -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa "
                     "-mcpu=gfx950 -nogpulib -w ";
static const char mc[] =
    NETRA_TEST_LLVM_BIN "/llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx950 ";

std::vector<uint8_t> compileOpenCl(const std::string &source,
                                   const std::string &flags) {
  return translated(clang + flags, source);
}

std::string openClAssembly(const std::string &source,
                           const std::string &flags) {
  return asText(translated(clang + flags + " -S", source));
}

std::string expandAssembly(const std::string &source,
                           const std::string &includeFolder) {
  return asText(translated(mc + ("-filetype=asm -I " + includeFolder), source));
}

std::vector<uint8_t> assemble(const std::string &source) {
  TemporaryFolder folder;
  writeText(folder.file("k.s"), source);
  command(mc + ("-filetype=obj " + folder.file("k.s")) + " -o " +
          folder.file("k.o"));
  command(NETRA_TEST_LLD " -shared " + folder.file("k.o") + " -o " +
          folder.file("k.hsaco"));
  return readBytes(folder.file("k.hsaco"));
}

static std::shared_ptr<CodeObject> loaded(const std::vector<uint8_t> &bytes) {
  auto object = CodeObject::load(bytes, "test");
  if (!object) {
    ADD_FAILURE() << toString(object.takeError());
    return nullptr;
  }
  return *object;
}

std::shared_ptr<CodeObject> openCl(const std::string &source,
                                   const std::string &flags) {
  return loaded(compileOpenCl(source, flags));
}

std::shared_ptr<CodeObject> assembly(const std::string &source) {
  // Many tests run one text in several ways.
  static std::map<std::string, std::shared_ptr<CodeObject>> known;
  std::shared_ptr<CodeObject> &object = known[source];
  if (!object)
    object = loaded(assemble(source));
  return object;
}

std::string wrapKernel(const std::string &body, unsigned kernargBytes,
                       unsigned lds, unsigned vgprs, unsigned agprs,
                       unsigned scratch) {
  std::string text = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n"
                     ".amdhsa_code_object_version 5\n"
                     ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n" +
                     body + "\n  s_endpgm\n.size k, .-k\n";
  text += ".rodata\n.p2align 6\n.amdhsa_kernel k\n"
          "  .amdhsa_group_segment_fixed_size " +
          std::to_string(lds) + "\n  .amdhsa_private_segment_fixed_size " +
          std::to_string(scratch) + "\n  .amdhsa_kernarg_size " +
          std::to_string(kernargBytes) +
          "\n  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
          "  .amdhsa_system_sgpr_workgroup_id_x 1\n" +
          (scratch ? "  .amdhsa_enable_private_segment 1\n" : "") +
          "  .amdhsa_next_free_vgpr " + std::to_string(vgprs + agprs) +
          "\n  .amdhsa_next_free_sgpr 96\n  .amdhsa_accum_offset " +
          std::to_string(vgprs) +
          "\n.end_amdhsa_kernel\n"
          ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\n"
          "amdhsa.target: amdgcn-amd-amdhsa--gfx950\namdhsa.kernels:\n"
          "  - .name: k\n    .symbol: k.kd\n    .kernarg_segment_size: " +
          std::to_string(kernargBytes) +
          "\n    .group_segment_fixed_size: " + std::to_string(lds) +
          "\n    .private_segment_fixed_size: " + std::to_string(scratch) +
          "\n    .kernarg_segment_align: 8\n    .wavefront_size: 64\n"
          "    .sgpr_count: 96\n    .vgpr_count: " +
          std::to_string(vgprs + agprs) +
          "\n    .max_flat_workgroup_size: 1024\n    .args:\n";
  for (unsigned offset = 0; offset < kernargBytes; offset += 8)
    text += "      - {.name: p" + std::to_string(offset / 8) +
            ", .offset: " + std::to_string(offset) +
            ", .size: 8, .value_kind: global_buffer, "
            ".address_space: global}\n";
  return text + "...\n.end_amdgpu_metadata\n";
}

std::vector<std::string> run(Device &device,
                             const std::shared_ptr<CodeObject> &object,
                             const std::string &kernelName,
                             std::array<uint32_t, 3> grid,
                             std::array<uint32_t, 3> block,
                             const Arguments &arguments, uint32_t dynamicLds) {
  if (!object)
    return {"error: no code object"};
  const Kernel *kernel = object->findKernel(kernelName);
  if (!kernel)
    return {"error: no kernel " + kernelName};
  LaunchParams params;
  params.grid = grid;
  params.block = block;
  params.kernarg = arguments.bytes;
  params.dynamicLds = dynamicLds;
  auto result = device.launch(object, *kernel, params);
  if (!result)
    return {"error: " + toString(result.takeError())};
  std::vector<std::string> texts;
  for (const Finding &finding : result->findings)
    texts.push_back(finding.str());
  return texts;
}

} // namespace netra::sim::test
