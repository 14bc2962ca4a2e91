//===- Control.cpp - Branches, barriers, modes and waits -----------------===//
// SPDX-License-Identifier: MIT

#include "Execution.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

namespace {

void nothing(const Instruction &, Wave &) {}

void endProgram(const Instruction &, Wave &w) { w.state = WaveStatus::Ended; }

void barrier(const Instruction &, Wave &w) { w.state = WaveStatus::AtBarrier; }

void trap(const Instruction &inst, Wave &w) {
  raise(w, FaultKind::Trap, formatv("trap {0}", inst.imm & 0xff).str());
}

void setHalt(const Instruction &inst, Wave &w) {
  if (inst.imm & 1)
    raise(w, FaultKind::Trap, "the wave halts itself");
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

void branch(const Instruction &inst, Wave &w) { w.nextPc = uint32_t(inst.imm); }

template <bool (*Condition)(const Wave &)>
void branchIf(const Instruction &inst, Wave &w) {
  if (Condition(w))
    w.nextPc = uint32_t(inst.imm);
}

bool scc0(const Wave &w) { return !w.scc; }
bool scc1(const Wave &w) { return w.scc; }
bool vccZero(const Wave &w) { return w.vcc() == 0; }
bool vccNonZero(const Wave &w) { return w.vcc() != 0; }
bool execZero(const Wave &w) { return w.exec() == 0; }
bool execNonZero(const Wave &w) { return w.exec() != 0; }

/// Device address of the instruction after this one.
uint64_t returnAddress(const Wave &w) {
  const LaunchState &launch = *w.context->launch;
  const InstructionInfo &info = launch.program->info[w.pc];
  return info.pc + info.bytes + launch.loadBias;
}

void jump(Wave &w, uint64_t address) {
  const LaunchState &launch = *w.context->launch;
  const uint32_t index = launch.program->indexAt(address - launch.loadBias);
  if (index == Program::NoIndex) {
    raise(w, FaultKind::Memory,
          formatv("jump to {0:x}, where this code object has no instruction",
                  address)
              .str());
    return;
  }
  w.nextPc = index;
}

void getPc(const Instruction &inst, Wave &w) {
  w.setScalar64(inst.dst(), returnAddress(w));
}

void setPc(const Instruction &inst, Wave &w) {
  jump(w, w.scalar64(inst.ops[0]));
}

void swapPc(const Instruction &inst, Wave &w) {
  const uint64_t target = w.scalar64(inst.src(0));
  w.setScalar64(inst.dst(), returnAddress(w));
  jump(w, target);
}

void call(const Instruction &inst, Wave &w) {
  w.setScalar64(inst.dst(), returnAddress(w));
  w.nextPc = uint32_t(inst.imm);
}

//===----------------------------------------------------------------------===//
// Hardware registers
//===----------------------------------------------------------------------===//

enum HardwareRegister : unsigned {
  HwMode = 1,
  HwStatus = 2,
  HwTrapStatus = 3,
  HwId = 4,
  HwGprAlloc = 5,
  HwLdsAlloc = 6,
  HwIbStatus = 7,
  HwShMemBases = 15,
  HwXccId = 20
};

struct Field {
  unsigned id, offset, width;
  uint32_t mask() const {
    return width >= 32 ? ~0u : ((1u << width) - 1) << offset;
  }
};

Field fieldOf(int64_t immediate) {
  const unsigned raw = unsigned(immediate) & 0xffff;
  return {raw & 0x3f, raw >> 6 & 0x1f, (raw >> 11 & 0x1f) + 1};
}

bool readHardware(Wave &w, unsigned id, uint32_t &value) {
  const WaveContext &context = *w.context;
  switch (id) {
  case HwMode:
    value = w.mode;
    return true;
  case HwStatus:
    value = w.status_ | (w.scc ? 1u : 0u) | (w.exec() == 0 ? 1u << 9 : 0u) |
            (w.vcc() == 0 ? 1u << 10 : 0u) | 1u << 16;
    return true;
  case HwTrapStatus:
    value = 0;
    return true;
  case HwId: // a plausible place: wave slot and SIMD
    value = (context.index & 0xf) | (context.index & 3) << 4;
    return true;
  case HwGprAlloc:
    value = context.launch->kernel->vgprs / 8 << 8;
    return true;
  case HwLdsAlloc:
    value = (context.ldsBytes + 511) / 512 << 12;
    return true;
  case HwIbStatus:
    value = 0;
    return true;
  case HwShMemBases:
    value = PrivateApertureHigh >> 16 | (SharedApertureHigh >> 16) << 16;
    return true;
  case HwXccId:
    value = 0;
    return true;
  default:
    w.fail(formatv("hardware register {0} is not modelled", id).str());
    return false;
  }
}

void getReg(const Instruction &inst, Wave &w) {
  const Field field = fieldOf(inst.imm);
  uint32_t value = 0;
  if (readHardware(w, field.id, value))
    w.setScalar32(inst.dst(), (value & field.mask()) >> field.offset);
}

void setReg(const Instruction &inst, Wave &w) {
  const Field field = fieldOf(inst.imm);
  const uint32_t value = w.scalar32(inst.ops[0]);
  if (field.id == HwMode) {
    w.mode =
        (w.mode & ~field.mask()) | ((value << field.offset) & field.mask());
    return;
  }
  if (field.id == HwTrapStatus)
    return; // exceptions do not trap here; clearing them changes nothing
  w.fail(
      formatv("writing hardware register {0} is not modelled", field.id).str());
}

//===----------------------------------------------------------------------===//
// Register indexing and vector skip
//===----------------------------------------------------------------------===//

void gprIndexOn(const Instruction &inst, Wave &w) {
  const uint32_t index = w.scalar32(inst.ops[0]) & 0xff;
  w.scalarFile[M0] =
      (w.scalarFile[M0] & ~0xf0ffu) | index | (uint32_t(inst.imm) & 0xf) << 12;
  w.mode |= ModeGprIndex;
}

void gprIndexOff(const Instruction &, Wave &w) { w.mode &= ~ModeGprIndex; }

void gprIndexMode(const Instruction &inst, Wave &w) {
  w.scalarFile[M0] = (w.scalarFile[M0] & ~0xf000u) | (uint32_t(inst.imm) & 0xf)
                                                         << 12;
}

void gprIndexIdx(const Instruction &inst, Wave &w) {
  w.scalarFile[M0] =
      (w.scalarFile[M0] & ~0xffu) | (w.scalar32(inst.ops[0]) & 0xff);
}

void setVskip(const Instruction &inst, Wave &w) {
  const uint32_t bit = w.scalar32(inst.ops[1]) & 31;
  if (w.scalar32(inst.ops[0]) >> bit & 1)
    w.mode |= ModeVskip;
  else
    w.mode &= ~uint32_t(ModeVskip);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

void memTime(const Instruction &inst, Wave &w) {
  // A clock that advances with the instructions of the launch's host time;
  // programs may only rely on it never going back.
  const auto elapsed =
      std::chrono::steady_clock::now() - w.context->launch->start;
  const uint64_t ns = uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
  w.setScalar64(inst.dst(), ns * 2 + 1);
}

void memRealTime(const Instruction &inst, Wave &w) {
  // 100 MHz.
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const uint64_t ns = uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  w.setScalar64(inst.dst(), ns / 10);
}

} // namespace

void registerControl(SemanticsTable &table) {
  for (const char *name :
       {"s_nop", "s_sleep", "s_setprio", "s_waitcnt", "s_icache_inv",
        "s_incperflevel", "s_decperflevel", "s_ttracedata", "s_dcache_inv",
        "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol", "buffer_inv",
        "buffer_wbl2", "buffer_wbinvl1", "buffer_wbinvl1_vol", "s_wakeup",
        "ds_nop", "s_setkill"})
    table.add(name, nothing);
  table.add("s_endpgm", endProgram);
  table.add("s_endpgm_saved", endProgram);
  table.add("s_endpgm_ordered_ps_done", endProgram);
  table.add("s_barrier", barrier);
  table.add("s_trap", trap);
  table.add("s_sethalt", setHalt);
  table.add("s_branch", branch);
  table.add("s_cbranch_scc0", branchIf<scc0>);
  table.add("s_cbranch_scc1", branchIf<scc1>);
  table.add("s_cbranch_vccz", branchIf<vccZero>);
  table.add("s_cbranch_vccnz", branchIf<vccNonZero>);
  table.add("s_cbranch_execz", branchIf<execZero>);
  table.add("s_cbranch_execnz", branchIf<execNonZero>);
  table.add("s_getpc_b64", getPc);
  table.add("s_setpc_b64", setPc);
  table.add("s_swappc_b64", swapPc);
  table.add("s_call_b64", call);
  table.add("s_getreg_b32", getReg);
  table.add("s_setreg_b32", setReg);
  table.add("s_setreg_imm32_b32", setReg);
  table.add("s_set_gpr_idx_on", gprIndexOn);
  table.add("s_set_gpr_idx_off", gprIndexOff);
  table.add("s_set_gpr_idx_mode", gprIndexMode);
  table.add("s_set_gpr_idx_idx", gprIndexIdx);
  table.add("s_setvskip", setVskip);
  table.add("s_memtime", memTime, unsigned(Encoding::Plain), Fidelity::Bounded,
            "host time; monotonic only");
  table.add("s_memrealtime", memRealTime, unsigned(Encoding::Plain),
            Fidelity::Bounded, "host time; monotonic only");
}

} // namespace netra::sim
