//===- SimulatorBenchmark.cpp - Speed of the simulator -------------------===//
// SPDX-License-Identifier: MIT
//
// Time per instruction of a wave, on one host thread. Each kernel is a loop
// over a body of equal instructions; "per_instruction" is what the project's
// targets are stated in. Names tell what differs from the default: `checked`
// runs all checkers, `sequential` the other arithmetic of matrix instructions,
// `flushing` a MODE that flushes f32 denormals, `spread` matrix operands that
// differ in each lane and are spread over eight binades. The rows `threads/N`
// run many work-groups on N host threads: their real times compare.
//
//===----------------------------------------------------------------------===//

#include "Netra/Simulator/Simulator.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <map>

using namespace llvm;
using namespace netra::sim;

namespace {

/// Assembles and loads a kernel `k`. `denormals`: the field of MODE for f32; 3
/// keeps them, as compilers and the project's kernels ask for, 0 flushes.
/// A kernel is made once; repetitions only run it.
std::shared_ptr<CodeObject> assemble(const std::string &body,
                                     unsigned denormals) {
  static std::map<std::pair<std::string, unsigned>, std::shared_ptr<CodeObject>>
      made;
  std::shared_ptr<CodeObject> &object = made[{body, denormals}];
  if (object)
    return object;
  SmallString<128> folder;
  if (sys::fs::createUniqueDirectory("netra-benchmark", folder))
    return nullptr;
  const std::string stem = std::string(folder) + "/k";
  {
    std::error_code code;
    raw_fd_ostream os(stem + ".s", code);
    os << ".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n"
          ".amdhsa_code_object_version 5\n.text\n.globl k\n.p2align 8\n"
          ".type k,@function\nk:\n"
       << body
       << "  s_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n"
          "  .amdhsa_kernarg_size 8\n"
          "  .amdhsa_group_segment_fixed_size 16384\n"
          "  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
          "  .amdhsa_next_free_vgpr 128\n  .amdhsa_next_free_sgpr 32\n"
          "  .amdhsa_accum_offset 128\n  .amdhsa_float_denorm_mode_32 "
       << denormals << "\n.end_amdhsa_kernel\n";
  }
  const std::string line = std::string(NETRA_TEST_LLVM_BIN) +
                           "/llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=gfx950 "
                           "-filetype=obj " +
                           stem + ".s -o " + stem +
                           ".o && " NETRA_TEST_LLD " -shared " + stem +
                           ".o -o " + stem + ".hsaco";
  if (std::system(line.c_str()) == 0)
    if (auto buffer = MemoryBuffer::getFile(stem + ".hsaco", false, false)) {
      StringRef data = (*buffer)->getBuffer();
      auto loaded = CodeObject::load(
          ArrayRef<uint8_t>(data.bytes_begin(), data.size()), "benchmark");
      if (loaded)
        object = *loaded;
      else
        errs() << toString(loaded.takeError()) << "\n";
    }
  sys::fs::remove_directories(folder);
  return object;
}

constexpr unsigned BodyLength = 32, Rounds = 2000;

std::string repeat(const std::string &line, unsigned times) {
  std::string text;
  for (unsigned i = 0; i < times; ++i)
    text += "  " + line + "\n";
  return text;
}

std::string loop(const std::string &prologue, const std::string &body) {
  return prologue + "  s_mov_b32 s20, " + std::to_string(Rounds) +
         "\n.Lloop:\n" + body +
         "  s_sub_u32 s20, s20, 1\n  s_cmp_lg_u32 s20, 0\n"
         "  s_cbranch_scc1 .Lloop\n";
}

const char initialise[] = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                          "  v_lshlrev_b32 v1, 4, v0\n"
                          "  v_mov_b32 v2, 1.0\n  v_mov_b32 v3, 0.5\n"
                          "  v_mov_b32 v4, 0\n  v_mov_b32 v5, 0\n"
                          "  v_mov_b32 v6, 0\n  v_mov_b32 v7, 0\n"
                          "  s_mov_b64 vcc, 0x55\n  s_mov_b32 s6, 0\n"
                          "  ds_write_b128 v1, v[4:7]\n"
                          "  s_waitcnt lgkmcnt(0)\n";

struct Setting {
  unsigned checks = 0;
  MfmaModel model = MfmaModel::Cdna3;
  unsigned denormals = 3;
  /// Bits that matrix operands keep of random ones, and those they get; they
  /// are 1.0 in single precision if there are none.
  uint32_t keptBits = 0, setBits = 0;
};

/// Fills v8 to v23 with a hash of lane and register.
std::string spreadOperands(const Setting &setting) {
  std::string text = "  s_mov_b32 s22, " + std::to_string(setting.keptBits) +
                     "\n  s_mov_b32 s23, " + std::to_string(setting.setBits) +
                     "\n";
  for (unsigned v = 8; v < 24; ++v) {
    const std::string r = "v" + std::to_string(v);
    text += "  s_mov_b32 s21, " + std::to_string(0x9e3779b1u * v) +
            "\n  v_mul_lo_u32 " + r + ", v0, s21\n  v_add_u32 " + r +
            ", s21, " + r + "\n";
    for (unsigned round = 0; round < 2; ++round)
      text += "  v_lshrrev_b32 v24, 15, " + r + "\n  v_xor_b32 " + r +
              ", v24, " + r + "\n  v_mul_lo_u32 " + r + ", " + r + ", s21\n";
    text += "  v_and_b32 " + r + ", s22, " + r + "\n  v_or_b32 " + r +
            ", s23, " + r + "\n";
  }
  return text;
}

/// Launches as often as `state` asks for; the one argument is `buffer`.
bool launchAll(benchmark::State &state, Device &device,
               const std::shared_ptr<CodeObject> &object, LaunchParams params,
               const uint64_t &buffer) {
  params.kernarg = ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(&buffer),
                                     sizeof(buffer));
  for (auto _ : state) {
    auto result = device.launch(object, object->kernels()[0], params);
    if (!result) {
      state.SkipWithError(toString(result.takeError()).c_str());
      return false;
    }
  }
  return true;
}

/// Runs `body`, lines of `count` instructions in all, Rounds times.
void measure(benchmark::State &state, const std::string &body, unsigned count,
             const Setting &setting) {
  std::string prologue = initialise;
  for (unsigned v = 8; v < 64; ++v)
    prologue += "  v_mov_b32 v" + std::to_string(v) + ", 1.0\n";
  if (setting.keptBits)
    prologue += spreadOperands(setting);
  auto object = assemble(loop(prologue, body), setting.denormals);
  if (!object) {
    state.SkipWithError("cannot make the kernel");
    return;
  }
  DeviceOptions options;
  options.threads = 1;
  options.checks = setting.checks;
  options.mfma = setting.model;
  options.reportLimit = 1;
  Device device(options);
  const uint64_t buffer = cantFail(device.allocate(65536));
  cantFail(device.fill(buffer, 0, 65536));
  LaunchParams params;
  params.block = {64, 1, 1};
  if (!launchAll(state, device, object, params, buffer))
    return;
  state.counters["per_instruction"] = benchmark::Counter(
      double(state.iterations()) * Rounds * count,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// 64 work-groups of 4 waves on some host threads.
void measureThreads(benchmark::State &state, unsigned threads) {
  auto object =
      assemble(loop(initialise, repeat("v_fma_f32 v4, v2, v3, v4", BodyLength)),
               Setting().denormals);
  if (!object) {
    state.SkipWithError("cannot make the kernel");
    return;
  }
  DeviceOptions options;
  options.threads = threads;
  Device device(options);
  const uint64_t buffer = cantFail(device.allocate(65536));
  LaunchParams params;
  params.grid = {64, 1, 1};
  params.block = {256, 1, 1};
  if (!launchAll(state, device, object, params, buffer))
    return;
  state.counters["instructions"] = benchmark::Counter(
      double(state.iterations()) * 64 * 4 * Rounds * BodyLength,
      benchmark::Counter::kIsRate);
}

struct Case {
  const char *name, *instruction;
} cases[] = {
    {"valu/v_fma_f32", "v_fma_f32 v4, v2, v3, v4"},
    {"valu/v_fmac_f32", "v_fmac_f32 v4, v2, v3"},
    {"valu/v_add_f32", "v_add_f32 v4, v2, v4"},
    {"valu/v_mul_f32", "v_mul_f32 v4, v2, v3"},
    {"valu/v_max_f32", "v_max_f32 v4, v2, v3"},
    {"valu/v_max3_f32", "v_max3_f32 v4, v2, v3, v5"},
    {"valu/v_med3_f32", "v_med3_f32 v4, v2, v3, v5"},
    {"valu/v_cndmask_b32", "v_cndmask_b32 v4, v2, v3, vcc"},
    {"valu/v_cmp_lt_f32", "v_cmp_lt_f32 vcc, v2, v3"},
    {"valu/v_cmp_lt_u32", "v_cmp_lt_u32 vcc, v2, v3"},
    {"valu/v_floor_f32", "v_floor_f32 v4, v2"},
    {"valu/v_cvt_i32_f32", "v_cvt_i32_f32 v4, v2"},
    {"valu/v_cvt_f32_i32", "v_cvt_f32_i32 v4, v1"},
    {"valu/v_cvt_f16_f32", "v_cvt_f16_f32 v4, v2"},
    {"valu/v_cvt_f32_f16", "v_cvt_f32_f16 v4, v2"},
    {"valu/v_cvt_pk_bf16_f32", "v_cvt_pk_bf16_f32 v4, v2, v3"},
    {"valu/v_cvt_pk_fp8_f32", "v_cvt_pk_fp8_f32 v4, v2, v3"},
    {"valu/v_cvt_pk_f32_fp8", "v_cvt_pk_f32_fp8 v[4:5], v2"},
    {"valu/v_exp_f32", "v_exp_f32 v4, v2"},
    {"valu/v_rcp_f32", "v_rcp_f32 v4, v2"},
    {"valu/v_pk_fma_f32", "v_pk_fma_f32 v[4:5], v[2:3], v[6:7], v[4:5]"},
    {"valu/v_pk_mul_f16", "v_pk_mul_f16 v4, v2, v3"},
    {"valu/v_mov_b32", "v_mov_b32 v4, v2"},
    {"valu/v_mov_b32_dpp", "v_mov_b32_dpp v4, v2 row_shr:1 row_mask:0xf "
                           "bank_mask:0xf bound_ctrl:1"},
    {"valu/v_add_u32_sgpr", "v_add_u32 v4, s4, v4"},
    {"valu/v_lshl_add_u64", "v_lshl_add_u64 v[4:5], v[2:3], 2, v[6:7]"},
    {"salu/s_add_u32", "s_add_u32 s6, s6, s4"},
    {"mfma/16x16x128_fp8",
     "v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[8:15], v[16:23], v[40:43]"},
    {"mfma/32x32x16_bf16",
     "v_mfma_f32_32x32x16_bf16 v[40:55], v[8:11], v[16:19], v[40:55]"},
    {"mfma/16x16x32_bf16",
     "v_mfma_f32_16x16x32_bf16 v[40:43], v[8:11], v[16:19], v[40:43]"},
    {"memory/global_load_dwordx4", "global_load_dwordx4 v[24:27], v1, s[4:5]"},
    {"memory/global_load_dword", "global_load_dword v24, v1, s[4:5]"},
    {"memory/global_store_dwordx4",
     "global_store_dwordx4 v1, v[24:27], s[4:5]"},
    {"lds/ds_read_b128", "ds_read_b128 v[24:27], v1"},
    {"lds/ds_write_b64", "ds_write_b64 v1, v[24:25]"},
};

/// A bit of everything that a kernel does between two barriers, with the waits
/// that it needs: the row that says what checkers cost a program.
struct MixedBody {
  std::string body;
  unsigned count = 0;
  void add(const char *line, unsigned times) {
    body += repeat(line, times);
    count += times;
  }
};
MixedBody mixedBody() {
  MixedBody p;
  p.add("global_load_dwordx4 v[24:27], v1, s[4:5]", 4);
  p.add("v_fma_f32 v4, v2, v3, v4", 16);
  p.add("s_waitcnt vmcnt(0)", 1);
  p.add("ds_write_b128 v1, v[24:27]", 2);
  p.add("s_waitcnt lgkmcnt(0)", 1);
  p.add("s_barrier", 1);
  p.add("ds_read_b128 v[28:31], v1", 4);
  p.add("v_add_f32 v5, v2, v5", 16);
  p.add("s_waitcnt lgkmcnt(0)", 1);
  p.add("v_mfma_f32_16x16x32_bf16 v[40:43], v[8:11], v[16:19], v[40:43]", 4);
  p.add("s_barrier", 1);
  return p;
}

void add(const std::string &name, const std::string &body, unsigned count,
         const Setting &setting) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State &s) {
    measure(s, body, count, setting);
  });
}

} // namespace

int main(int argc, char **argv) {
  for (const Case &c : cases) {
    const std::string name = c.name;
    const std::string body = repeat(c.instruction, BodyLength);
    add(name, body, BodyLength, {});
    add("checked/" + name, body, BodyLength, {CheckAll});
    if (StringRef(name).starts_with("mfma")) {
      add("sequential/" + name, body, BodyLength, {0, MfmaModel::Sequential});
      const bool isBf16 = StringRef(name).ends_with("bf16");
      Setting spread;
      spread.keptBits = isBf16 ? 0x83ff83ff : 0xbfbfbfbf;
      spread.setBits = isBf16 ? 0x3c003c00 : 0;
      add("spread/" + name, body, BodyLength, spread);
    }
    if (StringRef(name).starts_with("valu"))
      add("flushing/" + name, body, BodyLength, {0, MfmaModel::Cdna3, 0});
  }
  const MixedBody mixed = mixedBody();
  add("program/mixed", mixed.body, mixed.count, {});
  add("checked/program/mixed", mixed.body, mixed.count, {CheckAll});
  for (unsigned threads : {1u, 2u})
    benchmark::RegisterBenchmark(
        ("threads/" + std::to_string(threads)).c_str(),
        [threads](benchmark::State &s) { measureThreads(s, threads); })
        ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
