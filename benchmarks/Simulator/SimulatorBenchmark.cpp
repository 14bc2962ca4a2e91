//===- SimulatorBenchmark.cpp - Speed of the simulator -------------------===//
// SPDX-License-Identifier: MIT
//
// Time per instruction of a wave, on one host thread. Each kernel is a loop
// over a body of equal instructions; "per_instruction" is what the project's
// targets are stated in. Names tell what differs from the default: `checked`
// runs all checkers, `sequential` the other arithmetic of matrix instructions,
// `flushing` a MODE that flushes f32 denormals, `spread` matrix operands that
// differ in each lane and are spread over eight binades. Lanes access memory 16
// bytes apart, which leaves gaps if they access less; `dense` ones follow each
// other, `scattered` ones lie anywhere in 16 KiB. Flat and scalar loads come
// with the wait that each needs. A row whose kernel a checker reports is an
// error.
//
// For the rows `ratio/` see CheckerRatio.h. The rows `threads/N` run many
// work-groups on N host threads: their real times compare.
//
//===----------------------------------------------------------------------===//

#include "CheckerRatio.h"
#include "Netra/Simulator/Simulator.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
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

/// Writes all of the LDS.
std::string fillLds() {
  std::string text;
  for (unsigned at = 0; at < 16384; at += 1024)
    text += "  ds_write_b128 v1, v[4:7] offset:" + std::to_string(at) + "\n";
  return text + "  s_waitcnt lgkmcnt(0)\n";
}

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
                          "  s_waitcnt lgkmcnt(0)\n";

/// Addresses for accesses: v64 lanes 4 bytes apart, v65 2, v66 1, v67 anywhere
/// in 16 KiB, v[68:69] as a flat address with lanes 16 bytes apart, v[70:71]
/// with lanes 4 bytes apart; s[8:11] describes the buffer.
const char addresses[] =
    "  v_lshlrev_b32 v64, 2, v0\n  v_lshlrev_b32 v65, 1, v0\n"
    "  v_mov_b32 v66, v0\n  s_mov_b32 s21, 0x9e3779b1\n"
    "  v_mul_lo_u32 v67, v0, s21\n  v_lshrrev_b32 v67, 18, v67\n"
    "  v_and_b32 v67, 0x3ffc, v67\n"
    "  v_mov_b32 v69, s5\n  v_add_co_u32 v68, vcc, s4, v1\n"
    "  v_addc_co_u32 v69, vcc, 0, v69, vcc\n"
    "  v_mov_b32 v71, s5\n  v_add_co_u32 v70, vcc, s4, v64\n"
    "  v_addc_co_u32 v71, vcc, 0, v71, vcc\n"
    "  s_mov_b64 vcc, 0x55\n  s_mov_b32 m0, 0\n"
    "  s_mov_b32 s8, s4\n  s_mov_b32 s9, s5\n"
    "  s_mov_b32 s10, 0x10000\n  s_mov_b32 s11, 0x27000\n";

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

/// Launches once; false, and an error in `state`, if that fails. The one
/// argument is `buffer`.
bool launchOnce(benchmark::State &state, Device &device,
                const std::shared_ptr<CodeObject> &object, LaunchParams params,
                const uint64_t &buffer) {
  params.kernarg = ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(&buffer),
                                     sizeof(buffer));
  auto result = device.launch(object, object->kernels()[0], params);
  if (!result) {
    state.SkipWithError(toString(result.takeError()).c_str());
    return false;
  }
  // Reports take their time: a loop that has some measures them.
  if (!result->findings.empty()) {
    state.SkipWithError(result->findings.front().message.c_str());
    return false;
  }
  return true;
}

/// What a loop repeats, and in how many waves of a work-group.
struct Body {
  std::string text;
  unsigned count = 0; ///< of instructions
  unsigned waves = 1;
  /// In front of the loop, instead of what fills LDS for one wave.
  std::string setup = fillLds() + addresses;

  void add(const char *line, unsigned times) {
    text += repeat(line, times);
    count += times;
  }
  double instructions() const { return double(Rounds) * count * waves; }
};

/// `body`, Rounds times, on a device of its own and one host thread.
class Loop {
public:
  Loop(const Body &body, const Setting &setting)
      : device(optionsOf(setting)), waves(body.waves) {
    std::string prologue = initialise;
    for (unsigned v = 8; v < 64; ++v)
      prologue += "  v_mov_b32 v" + std::to_string(v) + ", 1.0\n";
    prologue += body.setup;
    if (setting.keptBits)
      prologue += spreadOperands(setting);
    object = assemble(loop(prologue, body.text), setting.denormals);
    buffer = cantFail(device.allocate(65536));
    cantFail(device.fill(buffer, 0, 65536));
  }
  bool launch(benchmark::State &state) {
    if (!object) {
      state.SkipWithError("cannot make the kernel");
      return false;
    }
    LaunchParams params;
    params.block = {64 * waves, 1, 1};
    return launchOnce(state, device, object, params, buffer);
  }

private:
  static DeviceOptions optionsOf(const Setting &setting) {
    DeviceOptions options;
    options.threads = 1;
    options.checks = setting.checks;
    options.mfma = setting.model;
    options.reportLimit = 1;
    return options;
  }

  Device device;
  const unsigned waves;
  std::shared_ptr<CodeObject> object;
  uint64_t buffer = 0;
};

void measure(benchmark::State &state, const Body &body,
             const Setting &setting) {
  Loop loop(body, setting);
  for (auto _ : state)
    if (!loop.launch(state))
      return;
  state.counters["per_instruction"] = benchmark::Counter(
      double(state.iterations()) * body.instructions(),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void compare(benchmark::State &state, const Body &body) {
  Loop plain(body, {}), checked(body, {CheckAll});
  compareChecked(state, body.instructions(), [&](bool isChecked) {
    return (isChecked ? checked : plain).launch(state);
  });
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
  for (auto _ : state)
    if (!launchOnce(state, device, object, params, buffer))
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
    {"memory/global_load_dword_dense", "global_load_dword v24, v64, s[4:5]"},
    {"memory/global_load_ushort_dense", "global_load_ushort v24, v65, s[4:5]"},
    {"memory/global_load_ubyte_dense", "global_load_ubyte v24, v66, s[4:5]"},
    {"memory/global_load_dword_scattered",
     "global_load_dword v24, v67, s[4:5]"},
    {"memory/global_load_dwordx2", "global_load_dwordx2 v[24:25], v1, s[4:5]"},
    {"memory/global_load_dwordx3", "global_load_dwordx3 v[24:26], v1, s[4:5]"},
    {"memory/global_load_lds_dword", "global_load_lds_dword v64, s[4:5]"},
    {"memory/global_load_lds_dwordx4", "global_load_lds_dwordx4 v1, s[4:5]"},
    {"memory/global_store_dword_dense", "global_store_dword v64, v24, s[4:5]"},
    {"memory/global_store_dword", "global_store_dword v1, v24, s[4:5]"},
    {"memory/global_store_short_dense", "global_store_short v65, v24, s[4:5]"},
    {"memory/global_store_dword_scattered",
     "global_store_dword v67, v24, s[4:5]"},
    {"memory/global_atomic_add_dense", "global_atomic_add v64, v24, s[4:5]"},
    {"memory/global_atomic_add_scattered",
     "global_atomic_add v67, v24, s[4:5]"},
    {"memory/flat_load_dwordx4",
     "flat_load_dwordx4 v[24:27], v[68:69]\n  s_waitcnt vmcnt(0) lgkmcnt(0)"},
    {"memory/flat_load_dword_dense",
     "flat_load_dword v24, v[70:71]\n  s_waitcnt vmcnt(0) lgkmcnt(0)"},
    {"memory/buffer_load_dwordx4",
     "buffer_load_dwordx4 v[24:27], v1, s[8:11], 0 offen"},
    {"memory/buffer_load_dword_dense",
     "buffer_load_dword v24, v64, s[8:11], 0 offen"},
    {"memory/buffer_store_dwordx4",
     "buffer_store_dwordx4 v[24:27], v1, s[8:11], 0 offen"},
    {"memory/s_load_dwordx8",
     "s_load_dwordx8 s[24:31], s[4:5], 0x40\n  s_waitcnt lgkmcnt(0)"},
    {"lds/ds_read_b128", "ds_read_b128 v[24:27], v1"},
    {"lds/ds_read_b64", "ds_read_b64 v[24:25], v1"},
    {"lds/ds_read_b32_dense", "ds_read_b32 v24, v64"},
    {"lds/ds_read_u16_dense", "ds_read_u16 v24, v65"},
    {"lds/ds_read_u8_dense", "ds_read_u8 v24, v66"},
    {"lds/ds_read_b32_scattered", "ds_read_b32 v24, v67"},
    {"lds/ds_read2_b32", "ds_read2_b32 v[24:25], v64 offset1:64"},
    {"lds/ds_write_b64", "ds_write_b64 v1, v[24:25]"},
    {"lds/ds_write_b128", "ds_write_b128 v1, v[24:27]"},
    {"lds/ds_write_b32_dense", "ds_write_b32 v64, v24"},
    {"lds/ds_write_b16_dense", "ds_write_b16 v65, v24"},
    {"lds/ds_write_b32_scattered", "ds_write_b32 v67, v24"},
    {"lds/ds_add_u32_dense", "ds_add_u32 v64, v24"},
    {"lds/ds_add_u32_scattered", "ds_add_u32 v67, v24"},
};

/// A bit of everything that a kernel does between two barriers, with the waits
/// that it needs: the row that says what checkers cost a program.
Body mixedBody() {
  Body p;
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

/// Four waves that wait for each other by a counter in LDS (at byte 8,192), of
/// which each then reads what the next one left. Two buffers (from byte 0 and
/// from 4,096) take turns: who has arrived again has read the other one.
Body flagBody() {
  Body p;
  p.waves = 4;
  p.setup = "  v_mov_b32 v64, 0\n  v_mov_b32 v65, 1\n"
            "  v_add_u32 v66, 64, v0\n  v_and_b32 v66, 0xff, v66\n"
            "  v_lshlrev_b32 v66, 4, v66\n  s_mov_b32 s21, 0\n"
            "  v_cmp_eq_u32 vcc, 0, v0\n  s_and_b64 exec, exec, vcc\n"
            "  ds_write_b32 v64, v64 offset:8192\n  s_mov_b64 exec, -1\n"
            "  s_waitcnt lgkmcnt(0)\n  s_barrier\n";
  p.add("v_xor_b32 v1, 0x1000, v1", 1);
  p.add("v_xor_b32 v66, 0x1000, v66", 1);
  p.add("v_fma_f32 v4, v2, v3, v4", 16);
  p.add("ds_write_b128 v1, v[24:27]", 2);
  p.add("s_waitcnt lgkmcnt(0)", 1);
  p.add("s_mov_b64 exec, 1", 1);
  p.add("ds_add_u32 v64, v65 offset:8192", 1);
  p.add("s_mov_b64 exec, -1", 1);
  p.add("s_add_u32 s21, s21, 4", 1);
  p.text += ".Lwait:\n";
  p.add("ds_read_b32 v67, v64 offset:8192", 1);
  p.add("s_waitcnt lgkmcnt(0)", 1);
  p.add("v_readfirstlane_b32 s22, v67", 1);
  p.add("s_cmp_lt_u32 s22, s21", 1);
  p.add("s_cbranch_scc1 .Lwait", 1);
  p.add("ds_read_b128 v[28:31], v66", 4);
  p.add("v_add_f32 v5, v2, v5", 16);
  p.add("s_waitcnt lgkmcnt(0)", 1);
  p.add("v_mfma_f32_16x16x32_bf16 v[40:43], v[8:11], v[16:19], v[40:43]", 4);
  return p;
}

void add(const std::string &name, const Body &body, const Setting &setting) {
  benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State &s) { measure(s, body, setting); });
}

void addRatio(const std::string &name, const Body &body) {
  benchmark::RegisterBenchmark(("ratio/" + name).c_str(),
                               [=](benchmark::State &s) { compare(s, body); })
      ->UseRealTime();
}

} // namespace

int main(int argc, char **argv) {
  for (const Case &c : cases) {
    const std::string name = c.name;
    Body body;
    body.add(c.instruction, BodyLength);
    add(name, body, {});
    add("checked/" + name, body, {CheckAll});
    addRatio(name, body);
    if (StringRef(name).starts_with("mfma")) {
      add("sequential/" + name, body, {0, MfmaModel::Sequential});
      const bool isBf16 = StringRef(name).ends_with("bf16");
      Setting spread;
      spread.keptBits = isBf16 ? 0x83ff83ff : 0xbfbfbfbf;
      spread.setBits = isBf16 ? 0x3c003c00 : 0;
      add("spread/" + name, body, spread);
    }
    if (StringRef(name).starts_with("valu"))
      add("flushing/" + name, body, {0, MfmaModel::Cdna3, 0});
  }
  for (const auto &[name, body] : {std::pair("program/mixed", mixedBody()),
                                   std::pair("program/flags", flagBody())}) {
    add(name, body, {});
    add(std::string("checked/") + name, body, {CheckAll});
    addRatio(name, body);
  }
  for (unsigned threads : {1u, 2u})
    benchmark::RegisterBenchmark(
        ("threads/" + std::to_string(threads)).c_str(),
        [threads](benchmark::State &s) { measureThreads(s, threads); })
        ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
