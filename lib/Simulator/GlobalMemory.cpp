//===- GlobalMemory.cpp - global_*, flat_* and scratch_* -----------------===//
// SPDX-License-Identifier: MIT

#include "VectorAccess.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

namespace {

enum class Segment : uint8_t { Global, Flat, Scratch };

/// Fills access.address from a vector address and an optional scalar base.
void globalAddresses(const Instruction &inst, Wave &w, const Operand &vector,
                     const Operand *scalar, LaneAccess &access) {
  access.active = w.activeMask();
  const uint64_t offset = uint64_t(inst.imm);
  const unsigned count = w.laneCount;
  if (scalar && scalar->kind != OperandKind::None) {
    const uint64_t base = w.scalar64(*scalar) + offset;
    const uint32_t *low = w.row(vector.index);
    for (unsigned l = 0; l < count; ++l)
      access.address[l] = base + low[l];
    return;
  }
  const uint32_t *low = w.row(vector.index), *high = w.row(vector.index + 1);
  for (unsigned l = 0; l < count; ++l)
    access.address[l] = (uint64_t(high[l]) << 32 | low[l]) + offset;
}

/// Checks offsets into the lanes' private segments.
void resolveScratch(const Instruction &inst, Wave &w, uint64_t mask,
                    LaneAccess &access, unsigned bytes, AccessKind kind) {
  const WaveContext &context = *w.context;
  uint32_t offsets[MaxLanes];
  uint64_t good = 0;
  forEachLane(mask, [&](unsigned l) {
    const uint64_t offset = access.address[l];
    offsets[l] = uint32_t(offset);
    if (offset + bytes > context.scratchBytes || offset + bytes < offset) {
      invalidLane(inst, w, l, offset, bytes, kind,
                  formatv("offset {0} is outside the private segment of {1} "
                          "bytes",
                          offset, context.scratchBytes)
                      .str());
      return;
    }
    good |= uint64_t(1) << l;
    access.host[l] = reinterpret_cast<uint64_t>(
        context.scratch + uint64_t(l) * context.scratchBytes + offset);
  });
  access.valid |= good;
  if (context.monitor)
    context.monitor->scratchAccess(inst, w, offsets, good, bytes, kind);
}

/// Flat addresses: each lane goes to LDS, its private segment or memory.
void resolveFlat(const Instruction &inst, Wave &w, LaneAccess &access,
                 unsigned bytes, AccessKind kind) {
  uint64_t shared = 0, priv = 0;
  forEachLane(access.active, [&](unsigned l) {
    const uint32_t high = uint32_t(access.address[l] >> 32);
    shared |= uint64_t(high == SharedApertureHigh) << l;
    priv |= uint64_t(high == PrivateApertureHigh) << l;
  });
  if (!(shared | priv)) {
    resolveGlobal(inst, w, access, bytes, kind);
    return;
  }
  LaneAccess global = access;
  global.active = access.active & ~(shared | priv);
  resolveGlobal(inst, w, global, bytes, kind);
  access.valid = global.valid;
  forEachLane(global.valid,
              [&](unsigned l) { access.host[l] = global.host[l]; });
  if (shared) {
    const WaveContext &context = *w.context;
    uint32_t offsets[MaxLanes];
    uint64_t good = 0;
    forEachLane(shared, [&](unsigned l) {
      const uint32_t offset = uint32_t(access.address[l]);
      offsets[l] = offset;
      if (uint64_t(offset) + bytes > context.ldsBytes) {
        invalidLane(inst, w, l, offset, bytes, kind,
                    formatv("LDS address {0} is outside the {1} bytes of the "
                            "work-group",
                            offset, context.ldsBytes)
                        .str());
        return;
      }
      good |= uint64_t(1) << l;
      access.host[l] = reinterpret_cast<uint64_t>(context.lds + offset);
    });
    access.valid |= good;
    if (context.monitor)
      context.monitor->ldsAccess(inst, w, offsets, good, bytes, kind);
  }
  if (priv) {
    forEachLane(priv, [&](unsigned l) { access.address[l] &= 0xffffffffu; });
    resolveScratch(inst, w, priv, access, bytes, kind);
  }
}

/// Addresses and checks of one instruction. `v` and `s` are the positions of
/// the vector and scalar address among the operands.
template <Segment S>
NETRA_SIM_INLINE void prepare(const Instruction &inst, Wave &w, unsigned v,
                              unsigned s, LaneAccess &access, unsigned bytes,
                              AccessKind kind) {
  if constexpr (S == Segment::Global) {
    globalAddresses(inst, w, inst.ops[v], &inst.ops[s], access);
    resolveGlobal(inst, w, access, bytes, kind);
  } else if constexpr (S == Segment::Flat) {
    globalAddresses(inst, w, inst.ops[v], nullptr, access);
    resolveFlat(inst, w, access, bytes, kind);
  } else {
    access.active = w.activeMask();
    access.valid = 0;
    const Operand &vector = inst.ops[v], &scalar = inst.ops[s];
    const uint32_t base =
        scalar.kind == OperandKind::None ? 0 : w.scalar32(scalar);
    forEachLane(access.active, [&](unsigned l) {
      const uint32_t offset =
          vector.kind == OperandKind::None ? 0 : w.row(vector.index)[l];
      access.address[l] = uint32_t(base + offset + uint32_t(inst.imm));
    });
    resolveScratch(inst, w, access.active, access, bytes, kind);
  }
}

template <Segment S, Element E> void load(const Instruction &inst, Wave &w) {
  LaneAccess access;
  prepare<S>(inst, w, 1, 2, access, bytesOf(E), AccessKind::Load);
  loadElements<E>(w, inst.ops[0].index, access);
}

template <Segment S, Element E> void store(const Instruction &inst, Wave &w) {
  LaneAccess access;
  prepare<S>(inst, w, 0, 2, access, bytesOf(E), AccessKind::Store);
  storeElements<E>(w, inst.ops[1], access);
}

template <Segment S, unsigned Words>
__attribute__((noinline)) void perform(const Instruction &inst, Wave &w,
                                       AtomicOp op) {
  LaneAccess access;
  const unsigned v = inst.numDst;
  prepare<S>(inst, w, v, v + 2, access, Words * 4, AccessKind::Atomic);
  const unsigned data = inst.ops[v + 1].index;
  // All lanes read their data before any result is written: the old values may
  // replace them.
  alignas(64) uint64_t old[MaxLanes] = {};
  const AtomicDenormals ofLds = AtomicDenormals::ofLds(w.mode), ofCache;
  forEachLane(access.valid, [&](unsigned l) {
    void *p = reinterpret_cast<void *>(access.host[l]);
    const AtomicDenormals &denormals =
        S == Segment::Flat &&
                uint32_t(access.address[l] >> 32) == SharedApertureHigh
            ? ofLds
            : ofCache;
    if constexpr (Words == 1) {
      const uint32_t value = w.row(data)[l];
      const uint32_t compare = op == AtomicOp::CmpSwap ? w.row(data + 1)[l] : 0;
      old[l] = atomic32(op, p, value, compare, denormals);
    } else {
      const uint64_t value = w.row(data)[l] | uint64_t(w.row(data + 1)[l])
                                                  << 32;
      const uint64_t compare =
          op == AtomicOp::CmpSwap
              ? w.row(data + 2)[l] | uint64_t(w.row(data + 3)[l]) << 32
              : 0;
      old[l] = atomic64(op, p, value, compare, denormals);
    }
  });
  if (!inst.isReturning)
    return;
  const unsigned dst = inst.ops[0].index;
  forEachLane(access.active, [&](unsigned l) {
    w.row(dst)[l] = uint32_t(old[l]);
    if constexpr (Words == 2)
      w.row(dst + 1)[l] = uint32_t(old[l] >> 32);
  });
}
template <Segment S, AtomicOp Op, unsigned Words>
void atomic(const Instruction &inst, Wave &w) {
  perform<S, Words>(inst, w, Op);
}

/// global_load_lds_*, scratch_load_lds_*.
template <Segment S, Element E> void loadLds(const Instruction &inst, Wave &w) {
  LaneAccess access;
  prepare<S>(inst, w, 0, 1, access, bytesOf(E), AccessKind::Load);
  loadToLds<E>(inst, w, access, access.active);
}

template <Segment S>
void addLoadsAndStores(SemanticsTable &table, const std::string &prefix) {
  table.add(prefix + "_load_ubyte", load<S, Element::U8>);
  table.add(prefix + "_load_sbyte", load<S, Element::I8>);
  table.add(prefix + "_load_ushort", load<S, Element::U16>);
  table.add(prefix + "_load_sshort", load<S, Element::I16>);
  table.add(prefix + "_load_ubyte_d16", load<S, Element::D16U8>);
  table.add(prefix + "_load_ubyte_d16_hi", load<S, Element::D16U8Hi>);
  table.add(prefix + "_load_sbyte_d16", load<S, Element::D16I8>);
  table.add(prefix + "_load_sbyte_d16_hi", load<S, Element::D16I8Hi>);
  table.add(prefix + "_load_short_d16", load<S, Element::D16>);
  table.add(prefix + "_load_short_d16_hi", load<S, Element::D16Hi>);
  table.add(prefix + "_load_dword", load<S, Element::B32>);
  table.add(prefix + "_load_dwordx2", load<S, Element::B64>);
  table.add(prefix + "_load_dwordx3", load<S, Element::B96>);
  table.add(prefix + "_load_dwordx4", load<S, Element::B128>);
  if constexpr (S != Segment::Flat) {
    table.add(prefix + "_load_lds_ubyte", loadLds<S, Element::U8>);
    table.add(prefix + "_load_lds_sbyte", loadLds<S, Element::I8>);
    table.add(prefix + "_load_lds_ushort", loadLds<S, Element::U16>);
    table.add(prefix + "_load_lds_sshort", loadLds<S, Element::I16>);
    table.add(prefix + "_load_lds_dword", loadLds<S, Element::B32>);
  }
  table.add(prefix + "_store_byte", store<S, Element::U8>);
  table.add(prefix + "_store_byte_d16_hi", store<S, Element::D16U8Hi>);
  table.add(prefix + "_store_short", store<S, Element::U16>);
  table.add(prefix + "_store_short_d16_hi", store<S, Element::D16Hi>);
  table.add(prefix + "_store_dword", store<S, Element::B32>);
  table.add(prefix + "_store_dwordx2", store<S, Element::B64>);
  table.add(prefix + "_store_dwordx3", store<S, Element::B96>);
  table.add(prefix + "_store_dwordx4", store<S, Element::B128>);
}

template <Segment S, AtomicOp Op>
void addAtomic(SemanticsTable &table, const std::string &name) {
  table.add(name, atomic<S, Op, 1>);
  table.add(name + "_x2", atomic<S, Op, 2>);
}

template <Segment S>
void addAtomics(SemanticsTable &table, const std::string &segment) {
  const std::string prefix = segment + "_atomic_";
  addAtomic<S, AtomicOp::Swap>(table, prefix + "swap");
  addAtomic<S, AtomicOp::CmpSwap>(table, prefix + "cmpswap");
  addAtomic<S, AtomicOp::Add>(table, prefix + "add");
  addAtomic<S, AtomicOp::Sub>(table, prefix + "sub");
  addAtomic<S, AtomicOp::SMin>(table, prefix + "smin");
  addAtomic<S, AtomicOp::UMin>(table, prefix + "umin");
  addAtomic<S, AtomicOp::SMax>(table, prefix + "smax");
  addAtomic<S, AtomicOp::UMax>(table, prefix + "umax");
  addAtomic<S, AtomicOp::And>(table, prefix + "and");
  addAtomic<S, AtomicOp::Or>(table, prefix + "or");
  addAtomic<S, AtomicOp::Xor>(table, prefix + "xor");
  addAtomic<S, AtomicOp::Inc>(table, prefix + "inc");
  addAtomic<S, AtomicOp::Dec>(table, prefix + "dec");
  table.add(prefix + "add_f32", atomic<S, AtomicOp::AddF32, 1>);
  table.add(prefix + "pk_add_f16", atomic<S, AtomicOp::PkAddF16, 1>);
  table.add(prefix + "pk_add_bf16", atomic<S, AtomicOp::PkAddBf16, 1>);
  table.add(prefix + "add_f64", atomic<S, AtomicOp::AddF64, 2>);
  table.add(prefix + "min_f64", atomic<S, AtomicOp::MinF64, 2>);
  table.add(prefix + "max_f64", atomic<S, AtomicOp::MaxF64, 2>);
}

} // namespace

void registerGlobalMemory(SemanticsTable &table) {
  addLoadsAndStores<Segment::Global>(table, "global");
  addLoadsAndStores<Segment::Flat>(table, "flat");
  addLoadsAndStores<Segment::Scratch>(table, "scratch");
  addAtomics<Segment::Global>(table, "global");
  addAtomics<Segment::Flat>(table, "flat");
  table.add("global_load_lds_dwordx3", loadLds<Segment::Global, Element::B96>);
  table.add("global_load_lds_dwordx4", loadLds<Segment::Global, Element::B128>);
}

} // namespace netra::sim
