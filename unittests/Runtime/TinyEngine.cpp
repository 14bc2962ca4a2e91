//===- TinyEngine.cpp - A small engine for tests --------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TinyEngine.h"
#include "Sha256.h"

#include "Netra/Target/Assembler.h"
#include "Netra/Target/Bundle.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SHA256.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace netra;
using namespace netra::test;

static const char kernelSource[] = R"(
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.amdhsa_code_object_version 5
.text
.globl netra_test_multiply_add
.p2align 8
.type netra_test_multiply_add,@function
netra_test_multiply_add:
  s_load_dwordx8 s[8:15], s[0:1], 0x0
  s_load_dword s16, s[0:1], 0x20
  s_lshl_b32 s17, s2, 6
  v_add_u32 v0, s17, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[8:9]
  global_load_dword v3, v1, s[10:11]
  global_load_dword v4, v1, s[12:13]
  s_waitcnt vmcnt(0)
  v_mul_lo_u32 v2, v2, v3
  v_add3_u32 v2, v2, v4, s16
  global_store_dword v1, v2, s[14:15]
  s_endpgm
.size netra_test_multiply_add, . - netra_test_multiply_add
.rodata
.p2align 6
.amdhsa_kernel netra_test_multiply_add
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_vgpr_workitem_id 0
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 24
  .amdhsa_accum_offset 8
  .amdhsa_kernarg_size 40
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: netra_test_multiply_add
    .symbol: netra_test_multiply_add.kd
    .kernarg_segment_size: 40
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .vgpr_count: 8
    .agpr_count: 0
    .sgpr_count: 24
    .max_flat_workgroup_size: 64
    .args:
      - {.name: a, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: b, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: c, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: out, .offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: k, .offset: 32, .size: 4, .value_kind: by_value}
...
.end_amdgpu_metadata
)";

[[noreturn]] static void die(const std::string &what) {
  std::fprintf(stderr, "test set-up: %s\n", what.c_str());
  std::abort();
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = NETRA_TEST_BINARY_DIR "/runtime-test-XXXXXX";
  if (!mkdtemp(pattern.data()))
    die("mkdtemp " + pattern);
  directory = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  llvm::sys::fs::remove_directories(directory);
}

static const AssembledKernel &assembled() {
  static const AssembledKernel kernel = [] {
    llvm::Expected<Assembler> assembler =
        Assembler::create(NETRA_TEST_SOURCE_DIR, "gfx950");
    if (!assembler)
      die(llvm::toString(assembler.takeError()));
    llvm::Expected<AssembledKernel> result =
        assembler->assembleSource(kernelSource, "tiny.s");
    if (!result)
      die(llvm::toString(result.takeError()));
    return std::move(*result);
  }();
  return kernel;
}

const std::vector<uint8_t> &test::tinyCode() {
  return assembled().object.bytes;
}

void test::writeTinyEngine(const std::string &directory) {
  const CodeObject &object = assembled().object;
  Engine engine;
  engine.name = "tiny";
  engine.codeObjectVersion = object.codeObjectVersion;

  EngineKernel kernel;
  kernel.symbol = "netra_test_multiply_add";
  kernel.kernargBytes = 40;
  kernel.vgprs = 8;
  kernel.sgprs = 24;
  kernel.maxWorkgroup = 64;
  uint64_t offset = 0;
  for (const char *name : {"a", "b", "c", "out"}) {
    kernel.arguments.push_back({name, offset, 8, ArgumentKind::Pointer,
                                ElementType::I32,
                                name[0] == 'o' ? Access::Write : Access::Read});
    offset += 8;
  }
  kernel.arguments.push_back(
      {"k", 32, 4, ArgumentKind::Value, ElementType::I32, Access::Value});
  std::string path = "code/" + object.textSha256.substr(0, 16) + ".hsaco";
  engine.codeObjects.push_back(
      {"k0", path, object.sha256, object.textSha256, {kernel}});

  std::vector<int64_t> shape = {1, tinyElements};
  engine.bindings = {{"x", BindingRole::Input, 0, ElementType::I32, shape,
                      "row_major", tinyBytes},
                     {"y", BindingRole::Output, 0, ElementType::I32, shape,
                      "row_major", tinyBytes}};
  EngineWeight weight;
  weight.name = "w";
  weight.offset = 256;
  weight.bytes = tinyBytes;
  weight.type = ElementType::I32;
  weight.shape = {tinyElements};
  weight.pack.sources = {{"model.w", ElementType::I32, {tinyElements}}};
  engine.weights.bytes = 256 + tinyBytes;
  engine.weights.entries = {weight};

  auto x = EngineSlot::binding(0, 0, tinyBytes);
  auto y = EngineSlot::binding(1, 0, tinyBytes);
  auto w = EngineSlot::weight(0, 0, tinyBytes);
  auto t = EngineSlot::arena(512, tinyBytes);
  auto launch = [&](const char *name, EngineSlot a, EngineSlot b, EngineSlot c,
                    EngineSlot out, uint32_t k, std::vector<uint64_t> after) {
    EngineStep step;
    step.name = name;
    step.operation = "test.multiply_add";
    step.tactic = "gfx950.test";
    step.contract = "nk_000000000000000000000000";
    step.grid = {tinyElements / 64, 1, 1};
    step.block = {64, 1, 1};
    step.arguments = {a, b, c, out, EngineSlot::value(ElementType::I32, k)};
    step.after = std::move(after);
    return step;
  };
  EnginePlan m1;
  m1.name = "m1";
  m1.profile = {"m1", 30, {{"m", {1, 1}}, {"batch", {1, 64}}}};
  m1.bindings = {0, 1};
  m1.arenaBytes = 512 + tinyBytes;
  m1.steps = {launch("first", x, w, x, t, 3, {}),
              launch("second", t, t, w, y, tinyK, {0})};
  EnginePlan m4 = m1;
  m4.name = "m4";
  m4.profile = {"m4", 10, {{"m", {4, 4}}}};
  EngineStep reflect;
  reflect.kind = EngineStep::Kind::Fallback;
  reflect.name = "reflect";
  reflect.operation = "test.reflect";
  reflect.family = "pointwise";
  reflect.reason = "no tactic reflects";
  reflect.attributes = {{"axis", int64_t(-1)},
                        {"center", 0.1},
                        {"exact", true},
                        {"mode", std::string("wrap")}};
  reflect.inputs = {{"x", ElementType::I32, shape, "row_major", t, {}}};
  reflect.outputs = {{"result", ElementType::I32, shape, "row_major", t, 0}};
  reflect.after = {0};
  m4.steps.insert(m4.steps.begin() + 1, reflect);
  m4.steps.back().after = {1};
  engine.plans = {m1, m4};
  llvm::Expected<DecisionTable> decisions = decidePlans(engine);
  if (!decisions)
    die(llvm::toString(decisions.takeError()));
  engine.decisions = std::move(*decisions);

  BundleFiles files;
  files[path] = std::string(object.bytes.begin(), object.bytes.end());
  files["explain.json"] = "{}\n";
  if (llvm::Error error = writeBundle(engine, files, directory))
    die(llvm::toString(std::move(error)));
}

std::vector<uint32_t> test::tinyWeights() {
  std::vector<uint32_t> weights(tinyElements);
  for (uint32_t i = 0; i < tinyElements; ++i)
    weights[i] = i * 2654435761u >> 7;
  return weights;
}

void test::writeTinyWeights(const std::string &bundle,
                            const std::string &path) {
  llvm::Expected<Engine> engine = readBundle(bundle);
  if (!engine)
    die(llvm::toString(engine.takeError()));
  std::string data(256 + tinyBytes, '\0');
  std::vector<uint32_t> weights = tinyWeights();
  std::memcpy(data.data() + 256, weights.data(), tinyBytes);
  // One block; the test of the tool's writer has more of them.
  rt::Sha256::Digest digest = rt::Sha256::digest(data.data(), data.size());
  std::string blocks(digest.begin(), digest.end());
  std::string bytes = std::to_string(data.size());
  std::string header =
      R"({"__metadata__":{"format":"netra.weights/2","sha256":")" +
      rt::Sha256::hash(blocks) + R"(","weights_id":")" + engine->weights.id +
      R"("},"netra.blocks":{"data_offsets":[)" + bytes + "," +
      std::to_string(data.size() + 32) +
      R"(],"dtype":"U8","shape":[1,32]},"netra.weights":{"data_offsets":[0,)" +
      bytes + R"(],"dtype":"U8","shape":[)" + bytes + "]}}";
  header.resize(4096 - 8, ' ');
  uint64_t size = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &size, 8);
  writeText(path, text + header + data + blocks);
}

std::vector<uint32_t> test::tinyExpected(const std::vector<uint32_t> &x,
                                         bool reflect) {
  std::vector<uint32_t> w = tinyWeights(), y(tinyElements);
  for (uint32_t i = 0; i < tinyElements; ++i) {
    uint32_t t = x[i] * w[i] + x[i] + 3;
    if (reflect)
      t = 1 - t;
    y[i] = t * t + w[i] + tinyK;
  }
  return y;
}

std::string test::readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void test::writeText(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string test::withFreshId(const std::string &text) {
  size_t at = text.find("\"id\": \"ne_");
  if (at == std::string::npos)
    return text;
  std::string blank = text.substr(0, at) + "\"id\": \"\"" +
                      text.substr(at + sizeof("\"id\": \"ne_") - 1 + 24 + 1);
  // LLVM's implementation, so that the runtime's own is not its own judge.
  llvm::SHA256 sha;
  sha.update(blank);
  std::string hex;
  for (uint8_t byte : sha.final()) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    hex += digits;
  }
  return text.substr(0, at) + "\"id\": \"ne_" + hex.substr(0, 24) +
         text.substr(at + sizeof("\"id\": \"ne_") - 1 + 24);
}
