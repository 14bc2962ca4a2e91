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

/// The allocation that holds the bytes; nullptr, and a report, if none does.
const AllocationRecord *resolve(const Instruction &inst, Wave &w,
                                uint64_t address, unsigned bytes,
                                AccessKind kind) {
  const DeviceMemory &memory = *w.context->memory;
  if (const AllocationRecord *record = memory.resolve(address, bytes))
    return record;
  Monitor *monitor = w.context->monitor;
  const std::string what = memory.describe(address, bytes);
  if (!monitor ||
      !monitor->invalidAccess(inst, w, -1, address, bytes, kind, what))
    raise(w, FaultKind::Memory,
          formatv("scalar {0} of {1} bytes at {2:x}: {3}",
                  kind == AccessKind::Load ? "load" : "write", bytes, address,
                  what)
              .str());
  return nullptr;
}

/// The address of a scalar access and how many dwords of it may be done, each
/// by itself: through a descriptor those beyond its end are left out.
struct Target {
  uint64_t address = 0;
  uint64_t limit = ~uint64_t(0); ///< bytes from `address` on
  bool has(unsigned word) const { return word * 4 + 4 <= limit; }
};

template <bool Buffer> Target locate(const Instruction &inst, const Wave &w) {
  const Operand &from = inst.ops[1];
  const uint64_t offset = offsetOf(inst, w);
  // The hardware ignores the two lowest bits of address parts.
  if (!Buffer)
    return {((w.scalar64(from) & ~uint64_t(3)) + offset) & ~uint64_t(3)};
  const uint64_t base =
      w.scalar32(from, 0) | uint64_t(w.scalar32(from, 1) & 0xffff) << 32;
  const uint64_t stride = w.scalar32(from, 1) >> 16 & 0x3fff,
                 records = w.scalar32(from, 2);
  const uint64_t bytes = stride ? records * stride : records,
                 at = offset & ~uint64_t(3);
  return {(base & ~uint64_t(3)) + at, at < bytes ? bytes - at : 0};
}

/// The dwords of an access that may be done: through a descriptor each is
/// looked at by itself.
template <bool Buffer, unsigned Words, typename Function>
void access(const Instruction &inst, Wave &w, AccessKind kind,
            Function &&function) {
  const Target target = locate<Buffer>(inst, w);
  constexpr unsigned step = Buffer ? 1 : Words;
  for (unsigned k = 0; k < Words; k += step) {
    const uint64_t address = target.address + k * 4;
    if (Buffer && !target.has(k))
      continue;
    const AllocationRecord *record = resolve(inst, w, address, step * 4, kind);
    if (!record)
      continue;
    if (Monitor *monitor = w.context->monitor)
      monitor->scalarAccess(inst, w, address, step * 4, kind, *record);
    for (unsigned word = k; word < k + step; ++word)
      function(reinterpret_cast<void *>(target.address + word * 4), word);
  }
}

template <bool Buffer, unsigned Words>
void load(const Instruction &inst, Wave &w) {
  uint32_t value[Words] = {};
  access<Buffer, Words>(
      inst, w, AccessKind::Load,
      [&](const void *p, unsigned k) { std::memcpy(&value[k], p, 4); });
  for (unsigned k = 0; k < Words; ++k)
    w.setScalar32(inst.ops[0], value[k], k);
}

template <bool Buffer, unsigned Words>
void store(const Instruction &inst, Wave &w) {
  access<Buffer, Words>(inst, w, AccessKind::Store, [&](void *p, unsigned k) {
    const uint32_t value = w.scalar32(inst.ops[0], k);
    std::memcpy(p, &value, 4);
  });
}

template <bool Buffer, AtomicOp Op, unsigned Words>
void atomic(const Instruction &inst, Wave &w) {
  constexpr unsigned bytes = Words * 4;
  const Target target = locate<Buffer>(inst, w);
  uint64_t old = 0;
  if (target.has(Words - 1)) { // beyond a descriptor's end nothing happens
    const AllocationRecord *record =
        resolve(inst, w, target.address, bytes, AccessKind::Atomic);
    if (!record)
      return;
    if (target.address % bytes) {
      raise(w, FaultKind::Memory,
            formatv("scalar atomic at misaligned address {0:x}", target.address)
                .str());
      return;
    }
    if (Monitor *monitor = w.context->monitor)
      monitor->scalarAccess(inst, w, target.address, bytes, AccessKind::Atomic,
                            *record);
    void *p = reinterpret_cast<void *>(target.address);
    if constexpr (Words == 1)
      old = atomic32(Op, p, w.scalar32(inst.ops[0], 0),
                     Op == AtomicOp::CmpSwap ? w.scalar32(inst.ops[0], 1) : 0);
    else
      old = atomic64(Op, p, w.scalar64(inst.ops[0]),
                     Op == AtomicOp::CmpSwap
                         ? w.scalar32(inst.ops[0], 2) |
                               uint64_t(w.scalar32(inst.ops[0], 3)) << 32
                         : 0);
  }
  if (!inst.isReturning)
    return;
  w.setScalar32(inst.ops[0], uint32_t(old), 0);
  if constexpr (Words == 2)
    w.setScalar32(inst.ops[0], uint32_t(old >> 32), 1);
}

template <bool Buffer>
void addAccesses(SemanticsTable &table, const std::string &prefix) {
  table.add(prefix + "load_dword", load<Buffer, 1>);
  table.add(prefix + "load_dwordx2", load<Buffer, 2>);
  table.add(prefix + "load_dwordx4", load<Buffer, 4>);
  table.add(prefix + "load_dwordx8", load<Buffer, 8>);
  table.add(prefix + "load_dwordx16", load<Buffer, 16>);
  table.add(prefix + "store_dword", store<Buffer, 1>);
  table.add(prefix + "store_dwordx2", store<Buffer, 2>);
  table.add(prefix + "store_dwordx4", store<Buffer, 4>);
}

template <AtomicOp Op>
void addAtomic(SemanticsTable &table, const std::string &name) {
  table.add("s_atomic_" + name, atomic<false, Op, 1>);
  table.add("s_atomic_" + name + "_x2", atomic<false, Op, 2>);
  table.add("s_buffer_atomic_" + name, atomic<true, Op, 1>);
  table.add("s_buffer_atomic_" + name + "_x2", atomic<true, Op, 2>);
}

} // namespace

void registerScalarMemory(SemanticsTable &table) {
  addAccesses<false>(table, "s_");
  addAccesses<true>(table, "s_buffer_");
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
