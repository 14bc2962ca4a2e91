//===- ScalarMemory.cpp - s_load, s_buffer_load, s_store, s_atomic -------===//
// SPDX-License-Identifier: MIT

#include "VectorAccess.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

namespace {

/// Offset of operand 2 (constant or register) plus the immediate.
uint64_t offsetOf(const Instruction &inst, const Wave &w) {
  const Operand &offset = inst.ops[2];
  if (offset.isConstant())
    return offset.value + uint64_t(inst.imm);
  return uint64_t(w.scalar32(offset)) + uint64_t(inst.imm);
}

bool invalid(const Instruction &inst, Wave &w, uint64_t address, unsigned bytes,
             AccessKind kind) {
  const DeviceMemory &memory = *w.context->memory;
  if (memory.resolve(address, bytes))
    return false;
  Monitor *monitor = w.context->monitor;
  const std::string what = memory.describe(address, bytes);
  if (!monitor ||
      !monitor->invalidAccess(inst, w, -1, address, bytes, kind, what))
    raise(w, FaultKind::Memory,
          formatv("scalar {0} of {1} bytes at {2:x}: {3}",
                  kind == AccessKind::Load ? "load" : "write", bytes, address,
                  what)
              .str());
  return true;
}

template <unsigned Words> void load(const Instruction &inst, Wave &w) {
  // The hardware ignores the two lowest bits of address parts.
  const uint64_t address =
      ((w.scalar64(inst.ops[1]) & ~uint64_t(3)) + offsetOf(inst, w)) &
      ~uint64_t(3);
  uint32_t value[Words] = {};
  if (!invalid(inst, w, address, Words * 4, AccessKind::Load)) {
    if (Monitor *monitor = w.context->monitor)
      monitor->scalarAccess(inst, w, address, Words * 4, AccessKind::Load);
    std::memcpy(value, reinterpret_cast<const void *>(address), Words * 4);
  }
  for (unsigned k = 0; k < Words; ++k)
    w.setScalar32(inst.ops[0], value[k], k);
}

template <unsigned Words> void bufferLoad(const Instruction &inst, Wave &w) {
  const Operand &rsrc = inst.ops[1];
  const uint64_t base =
      w.scalar32(rsrc, 0) | uint64_t(w.scalar32(rsrc, 1) & 0xffff) << 32;
  const uint32_t stride = w.scalar32(rsrc, 1) >> 16 & 0x3fff;
  const uint64_t records = w.scalar32(rsrc, 2);
  const uint64_t limit = stride ? records * stride : records;
  const uint64_t offset = offsetOf(inst, w) & ~uint64_t(3);
  // Each dword is checked against the descriptor by itself; those outside
  // give zero.
  uint32_t value[Words] = {};
  for (unsigned k = 0; k < Words; ++k) {
    const uint64_t at = offset + k * 4;
    if (at + 4 > limit)
      continue;
    const uint64_t address = (base & ~uint64_t(3)) + at;
    if (invalid(inst, w, address, 4, AccessKind::Load))
      continue;
    if (Monitor *monitor = w.context->monitor)
      monitor->scalarAccess(inst, w, address, 4, AccessKind::Load);
    std::memcpy(&value[k], reinterpret_cast<const void *>(address), 4);
  }
  for (unsigned k = 0; k < Words; ++k)
    w.setScalar32(inst.ops[0], value[k], k);
}

template <unsigned Words> void store(const Instruction &inst, Wave &w) {
  const uint64_t address =
      ((w.scalar64(inst.ops[1]) & ~uint64_t(3)) + offsetOf(inst, w)) &
      ~uint64_t(3);
  if (invalid(inst, w, address, Words * 4, AccessKind::Store))
    return;
  if (Monitor *monitor = w.context->monitor)
    monitor->scalarAccess(inst, w, address, Words * 4, AccessKind::Store);
  for (unsigned k = 0; k < Words; ++k) {
    const uint32_t value = w.scalar32(inst.ops[0], k);
    std::memcpy(reinterpret_cast<void *>(address + k * 4), &value, 4);
  }
}

template <AtomicOp Op, unsigned Words>
void atomic(const Instruction &inst, Wave &w) {
  constexpr unsigned bytes = Words * 4;
  const uint64_t address =
      ((w.scalar64(inst.ops[1]) & ~uint64_t(3)) + offsetOf(inst, w)) &
      ~uint64_t(3);
  if (invalid(inst, w, address, bytes, AccessKind::Atomic))
    return;
  if (address % bytes) {
    raise(w, FaultKind::Memory,
          formatv("scalar atomic at misaligned address {0:x}", address).str());
    return;
  }
  if (Monitor *monitor = w.context->monitor)
    monitor->scalarAccess(inst, w, address, bytes, AccessKind::Atomic);
  void *p = reinterpret_cast<void *>(address);
  uint64_t old;
  if constexpr (Words == 1)
    old = atomic32(Op, p, w.scalar32(inst.ops[0], 0),
                   Op == AtomicOp::CmpSwap ? w.scalar32(inst.ops[0], 1) : 0);
  else
    old = atomic64(Op, p, w.scalar64(inst.ops[0]),
                   Op == AtomicOp::CmpSwap
                       ? w.scalar32(inst.ops[0], 2) |
                             uint64_t(w.scalar32(inst.ops[0], 3)) << 32
                       : 0);
  if (!inst.isReturning)
    return;
  w.setScalar32(inst.ops[0], uint32_t(old), 0);
  if constexpr (Words == 2)
    w.setScalar32(inst.ops[0], uint32_t(old >> 32), 1);
}

template <AtomicOp Op>
void addAtomic(SemanticsTable &table, const std::string &name) {
  table.add("s_atomic_" + name, atomic<Op, 1>);
  table.add("s_atomic_" + name + "_x2", atomic<Op, 2>);
}

} // namespace

void registerScalarMemory(SemanticsTable &table) {
  table.add("s_load_dword", load<1>);
  table.add("s_load_dwordx2", load<2>);
  table.add("s_load_dwordx4", load<4>);
  table.add("s_load_dwordx8", load<8>);
  table.add("s_load_dwordx16", load<16>);
  table.add("s_buffer_load_dword", bufferLoad<1>);
  table.add("s_buffer_load_dwordx2", bufferLoad<2>);
  table.add("s_buffer_load_dwordx4", bufferLoad<4>);
  table.add("s_buffer_load_dwordx8", bufferLoad<8>);
  table.add("s_buffer_load_dwordx16", bufferLoad<16>);
  table.add("s_store_dword", store<1>);
  table.add("s_store_dwordx2", store<2>);
  table.add("s_store_dwordx4", store<4>);
  addAtomic<AtomicOp::Swap>(table, "swap");
  addAtomic<AtomicOp::CmpSwap>(table, "cmpswap");
  addAtomic<AtomicOp::Add>(table, "add");
  addAtomic<AtomicOp::Sub>(table, "sub");
  addAtomic<AtomicOp::SMin>(table, "smin");
  addAtomic<AtomicOp::UMin>(table, "umin");
  addAtomic<AtomicOp::SMax>(table, "smax");
  addAtomic<AtomicOp::UMax>(table, "umax");
  addAtomic<AtomicOp::And>(table, "and");
  addAtomic<AtomicOp::Or>(table, "or");
  addAtomic<AtomicOp::Xor>(table, "xor");
  addAtomic<AtomicOp::Inc>(table, "inc");
  addAtomic<AtomicOp::Dec>(table, "dec");
}

} // namespace netra::sim
