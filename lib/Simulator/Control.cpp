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

void halt(Wave &w) { raise(w, FaultKind::Trap, "the wave halts itself"); }

void setHalt(const Instruction &inst, Wave &w) {
  if (inst.imm & 1)
    halt(w);
}

void setPriority(const Instruction &inst, Wave &w) {
  w.priority = uint32_t(inst.imm) & 3;
}

/// Of the messages a wave can send, compute has the interrupt: the host wakes
/// up, which nobody here waits for. The others belong to graphics stages, to
/// the trap handler or to the debugger.
template <bool Halts> void sendMessage(const Instruction &inst, Wave &w) {
  constexpr unsigned interrupt = 1;
  if ((inst.imm & 0xf) != interrupt) {
    w.fail(formatv("message {0} is not for compute waves; only the interrupt, "
                   "{1}, is modelled",
                   inst.imm & 0xf, interrupt)
               .str());
    return;
  }
  if (Halts)
    halt(w);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

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
          formatv(
              "this leads to {0:x}, where the code object has no instruction; "
              "expected the address of one",
              address)
              .str());
    return;
  }
  w.nextPc = index;
}

/// Device address of an instruction.
uint64_t addressOf(const Wave &w, uint32_t index) {
  const LaunchState &launch = *w.context->launch;
  return launch.program->info[index].pc + launch.loadBias;
}

/// Device address to which a branch leads.
uint64_t targetOf(const Instruction &inst, const Wave &w) {
  if (!Program::isNoIndex(inst.imm))
    return addressOf(w, uint32_t(inst.imm));
  return Program::addressIn(inst.imm) + w.context->launch->loadBias;
}

void branch(const Instruction &inst, Wave &w) {
  if (__builtin_expect(Program::isNoIndex(inst.imm), 0))
    jump(w, targetOf(inst, w));
  else
    w.nextPc = uint32_t(inst.imm);
}

template <bool (*Condition)(const Wave &)>
void branchIf(const Instruction &inst, Wave &w) {
  if (Condition(w))
    branch(inst, w);
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
  branch(inst, w);
}

//===----------------------------------------------------------------------===//
// Forks: both sides of a branch, the one with fewer lanes first
//===----------------------------------------------------------------------===//

/// The control stack lies in SGPRs, four for each entry: EXEC, then the
/// address.
unsigned stackPointer(const Wave &w) { return w.mode >> ModeStackShift; }
void setStackPointer(Wave &w, unsigned pointer) {
  w.mode = (w.mode & ((1u << ModeStackShift) - 1)) | pointer << ModeStackShift;
}

void fork(Wave &w, uint64_t mask, uint64_t target) {
  const uint64_t exec = w.exec(), pass = mask & exec, fail = ~mask & exec;
  if (pass == exec)
    return jump(w, target);
  if (fail == exec)
    return;
  const unsigned pointer = stackPointer(w);
  if (pointer > 5) {
    raise(w, FaultKind::Limit,
          "a fork with all six entries of the control "
          "stack in use");
    return;
  }
  const bool failFirst =
      __builtin_popcountll(fail) < __builtin_popcountll(pass);
  w.setPair(pointer * 4, failFirst ? pass : fail);
  w.setPair(pointer * 4 + 2, failFirst ? target : addressOf(w, w.nextPc));
  setStackPointer(w, pointer + 1);
  w.setExec(failFirst ? fail : pass);
  if (!failFirst)
    jump(w, target);
}

void forkTo(const Instruction &inst, Wave &w) {
  fork(w, w.scalar64(inst.ops[0]), w.scalar64(inst.ops[1]));
}
void forkBy(const Instruction &inst, Wave &w) {
  fork(w, w.scalar64(inst.ops[0]), targetOf(inst, w));
}
void join(const Instruction &inst, Wave &w) {
  const unsigned pointer = stackPointer(w);
  if (pointer == (w.scalar32(inst.ops[0]) & 7))
    return; // both sides have come
  if (!pointer) {
    raise(w, FaultKind::Limit, "a join with an empty control stack");
    return;
  }
  setStackPointer(w, pointer - 1);
  w.setExec(w.pair((pointer - 1) * 4));
  jump(w, w.pair((pointer - 1) * 4 + 2));
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

bool readHardware(Wave &w, const Field &field, uint32_t &value) {
  const WaveContext &context = *w.context;
  const Kernel &kernel = *context.launch->kernel;
  switch (field.id) {
  case HwMode:
    value = w.mode;
    return true;
  case HwStatus:
    value = (w.scc ? 1u : 0u) | w.priority << 3 |
            (w.exec() == 0 ? 1u << 9 : 0u) | (w.vcc() == 0 ? 1u << 10 : 0u) |
            (context.group->waves.size() > 1 ? 1u << 11 : 0u) | 1u << 16 |
            (context.scratchBytes ? 1u << 28 : 0u);
    return true;
  case HwTrapStatus:
    // Exceptions are not recorded; no other field is ever set here.
    if (field.mask() & 0x1ff) {
      w.fail("the exceptions in TRAPSTS are not modelled");
      return false;
    }
    value = 0;
    return true;
  case HwId: // wave slot and SIMD; all else is place 0
    value = (context.index & 0xf) | (context.index & 3) << 4;
    return true;
  case HwGprAlloc: { // sizes and offsets in fours; the bases are 0
    const unsigned arch = (kernel.vgprs + 7) / 8 * 2,
                   all = (kernel.vgprs + kernel.agprs + 7) / 8 * 2;
    if (field.mask() >> 24) {
      w.fail("the number of SGPRs in GPR_ALLOC is not modelled");
      return false;
    }
    value = (all ? all - 1 : 0) << 6 | arch << 12;
    return true;
  }
  case HwLdsAlloc: // in 64 dwords; allocated by 1,280 bytes
    value = (context.ldsBytes + 1279) / 1280 * 5 << 12;
    return true;
  case HwIbStatus: // nothing is ever outstanding
    value = 0;
    return true;
  case HwShMemBases:
    value = PrivateApertureHigh >> 16 | (SharedApertureHigh >> 16) << 16;
    return true;
  case HwXccId:
    value = 0;
    return true;
  default:
    w.fail(formatv("hardware register {0} is not modelled", field.id).str());
    return false;
  }
}

void getReg(const Instruction &inst, Wave &w) {
  const Field field = fieldOf(inst.imm);
  uint32_t value = 0;
  if (readHardware(w, field, value))
    w.setScalar32(inst.dst(), (value & field.mask()) >> field.offset);
}

void setReg(const Instruction &inst, Wave &w) {
  const Field field = fieldOf(inst.imm);
  const uint32_t value = w.scalar32(inst.ops[0]);
  if (field.id == HwMode) {
    // EXCP_EN, bits 12 to 20.
    if (value << field.offset & field.mask() & 0x1ff000) {
      w.fail("exceptions that trap (EXCP_EN of MODE) are not modelled");
      return;
    }
    w.mode =
        (w.mode & ~field.mask()) | ((value << field.offset) & field.mask());
    return;
  }
  if (field.id == HwStatus)
    return; // read only but for the trap handler
  if (field.id == HwTrapStatus && !(field.mask() & ~0x1ffu))
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
       {"s_nop", "s_sleep", "s_waitcnt", "s_icache_inv", "s_incperflevel",
        "s_decperflevel", "s_ttracedata", "s_dcache_inv", "s_dcache_wb",
        "s_dcache_inv_vol", "s_dcache_wb_vol", "buffer_inv", "buffer_wbl2",
        "buffer_wbinvl1", "buffer_wbinvl1_vol", "s_wakeup", "ds_nop",
        "s_setkill",
        // Bring a line into the scalar cache, or ask for its translation.
        "s_atc_probe", "s_atc_probe_buffer",
        // COND_DBG_SYS and COND_DBG_USER of STATUS are 0 without a debugger.
        "s_cbranch_cdbgsys", "s_cbranch_cdbguser", "s_cbranch_cdbgsys_or_user",
        "s_cbranch_cdbgsys_and_user"})
    table.add(name, nothing);
  table.add("s_endpgm", endProgram);
  table.add("s_endpgm_saved", endProgram);
  table.add("s_endpgm_ordered_ps_done", endProgram);
  table.add("s_barrier", barrier);
  table.add("s_trap", trap);
  table.add("s_sethalt", setHalt);
  table.add("s_setprio", setPriority);
  table.add("s_sendmsg", sendMessage<false>);
  table.add("s_sendmsghalt", sendMessage<true>);
  table.add("s_cbranch_g_fork", forkTo);
  table.add("s_cbranch_i_fork", forkBy);
  table.add("s_cbranch_join", join);
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
