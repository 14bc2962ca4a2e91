//===- BufferMemory.cpp - buffer_* instructions --------------------------===//
// SPDX-License-Identifier: MIT
//
// Operands: data, vector address (index and/or offset), descriptor, scalar
// offset. Loads to LDS have no data operand.
//
//===----------------------------------------------------------------------===//

#include "VectorAccess.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

namespace {

struct Descriptor {
  uint64_t base = 0;
  uint32_t stride = 0, records = 0;
  bool isSwizzled = false, addsThreadId = false;
  unsigned indexStride = 8, elementSize = 4;
};

Descriptor readDescriptor(const Operand &op, const Wave &w) {
  const uint32_t w0 = w.scalar32(op, 0), w1 = w.scalar32(op, 1),
                 w2 = w.scalar32(op, 2), w3 = w.scalar32(op, 3);
  Descriptor d;
  d.base = w0 | uint64_t(w1 & 0xffff) << 32;
  d.stride = w1 >> 16 & 0x3fff;
  d.isSwizzled = w1 >> 31;
  d.records = w2;
  d.addsThreadId = w3 >> 23 & 1;
  // With thread ids the data format bits extend the stride.
  if (d.addsThreadId)
    d.stride |= (w3 >> 15 & 0xf) << 14;
  d.indexStride = 8u << (w3 >> 21 & 3);
  return d;
}

/// Addresses of the active lanes; lanes out of the descriptor's range are left
/// out of access.active and collected in `outOfRange`. For raw buffers,
/// `inRange[l]` counts the dwords of a wide access that are inside.
struct BufferAccess : LaneAccess {
  uint64_t outOfRange = 0;
  uint64_t partial = 0; ///< lanes with only the first dwords in range
  uint8_t words[MaxLanes];
};

bool locate(const Instruction &inst, Wave &w, unsigned vector,
            BufferAccess &access, unsigned bytes) {
  const Operand &vaddr = inst.ops[vector], &rsrc = inst.ops[vector + 1],
                &soffset = inst.ops[vector + 2];
  const Descriptor d = readDescriptor(rsrc, w);
  if (d.isSwizzled && d.stride) {
    w.fail("buffer descriptor with swizzled addressing is not modelled");
    return false;
  }
  const uint32_t scalar = w.scalar32(soffset);
  const uint64_t active = w.activeMask();
  access.active = access.valid = 0;
  forEachLane(active, [&](unsigned l) {
    uint64_t index = 0, offset = uint64_t(inst.imm);
    unsigned row = vaddr.index;
    if (inst.idxen)
      index = w.row(row++)[l];
    if (inst.offen)
      offset += w.row(row)[l];
    if (d.addsThreadId)
      index += l;
    const uint64_t relative = index * d.stride + offset;
    bool inside;
    unsigned words = (bytes + 3) / 4;
    if (inst.idxen && d.stride)
      inside = index < d.records;
    else {
      // Raw: each dword is checked by itself.
      const uint64_t end = relative + scalar;
      inside = end + std::min(bytes, 4u) <= d.records;
      if (inside && end + bytes > d.records)
        words = unsigned((d.records - end) / 4);
    }
    if (!inside) {
      access.outOfRange |= uint64_t(1) << l;
      return;
    }
    access.words[l] = uint8_t(words);
    if (words * 4 < bytes)
      access.partial |= uint64_t(1) << l;
    access.active |= uint64_t(1) << l;
    access.address[l] = (d.base + scalar + relative) & 0xffffffffffffull;
  });
  return true;
}

/// Lanes whose wide access is only partly in range, dword by dword.
template <typename Function>
void eachPartialWord(const Instruction &inst, Wave &w, BufferAccess &access,
                     AccessKind kind, Function &&function) {
  forEachLane(access.partial, [&](unsigned l) {
    for (unsigned k = 0; k < access.words[l]; ++k) {
      LaneAccess one;
      one.active = uint64_t(1) << l;
      one.address[l] = access.address[l] + k * 4;
      resolveGlobal(inst, w, one, 4, kind);
      if (one.valid)
        function(l, k, reinterpret_cast<void *>(one.host[l]));
    }
  });
}

template <Element E> void load(const Instruction &inst, Wave &w) {
  constexpr unsigned bytes = bytesOf(E);
  BufferAccess access;
  if (!locate(inst, w, 1, access, bytes))
    return;
  const uint64_t whole = access.active & ~access.partial;
  const uint64_t outside = access.outOfRange | access.partial;
  access.active = whole;
  resolveGlobal(inst, w, access, bytes, AccessKind::Load);
  // Out of range reads zero.
  const uint64_t valid = access.valid;
  access.active = whole | outside;
  if constexpr (bytes > 4) {
    uint32_t partial[MaxLanes][4] = {};
    eachPartialWord(inst, w, access, AccessKind::Load,
                    [&](unsigned l, unsigned k, void *p) {
                      std::memcpy(&partial[l][k], p, 4);
                    });
    access.valid = valid;
    loadElements<E>(w, inst.ops[0].index, access);
    forEachLane(access.partial, [&](unsigned l) {
      for (unsigned k = 0; k < bytes / 4; ++k)
        w.row(inst.ops[0].index + k)[l] = partial[l][k];
    });
  } else if constexpr (E == Element::D16 || E == Element::D16Hi ||
                       E == Element::D16U8 || E == Element::D16U8Hi ||
                       E == Element::D16I8 || E == Element::D16I8Hi) {
    // Only the addressed half becomes zero.
    static const uint32_t zero = 0;
    forEachLane(access.active & ~valid, [&](unsigned l) {
      access.host[l] = reinterpret_cast<uint64_t>(&zero);
    });
    access.valid = access.active;
    loadElements<E>(w, inst.ops[0].index, access);
  } else {
    access.valid = valid;
    loadElements<E>(w, inst.ops[0].index, access);
  }
}

template <Element E> void store(const Instruction &inst, Wave &w) {
  constexpr unsigned bytes = bytesOf(E);
  BufferAccess access;
  if (!locate(inst, w, 1, access, bytes))
    return;
  access.active &= ~access.partial;
  resolveGlobal(inst, w, access, bytes, AccessKind::Store);
  storeElements<E>(w, inst.ops[0], access);
  if constexpr (bytes > 4)
    eachPartialWord(inst, w, access, AccessKind::Store,
                    [&](unsigned l, unsigned k, void *p) {
                      std::memcpy(p, &w.row(inst.ops[0].index + k)[l], 4);
                    });
}

template <unsigned Words>
__attribute__((noinline)) void perform(const Instruction &inst, Wave &w,
                                       AtomicOp op) {
  BufferAccess access;
  if (!locate(inst, w, 1, access, Words * 4))
    return;
  access.active &= ~access.partial;
  const uint64_t zero = access.outOfRange | access.partial;
  resolveGlobal(inst, w, access, Words * 4, AccessKind::Atomic);
  const unsigned data = inst.ops[0].index;
  alignas(64) uint64_t old[MaxLanes] = {};
  forEachLane(access.valid, [&](unsigned l) {
    void *p = reinterpret_cast<void *>(access.host[l]);
    if constexpr (Words == 1)
      old[l] = atomic32(op, p, w.row(data)[l],
                        op == AtomicOp::CmpSwap ? w.row(data + 1)[l] : 0);
    else
      old[l] =
          atomic64(op, p, w.row(data)[l] | uint64_t(w.row(data + 1)[l]) << 32,
                   op == AtomicOp::CmpSwap
                       ? w.row(data + 2)[l] | uint64_t(w.row(data + 3)[l]) << 32
                       : 0);
  });
  if (!inst.isReturning)
    return;
  forEachLane(access.active | zero, [&](unsigned l) {
    w.row(data)[l] = uint32_t(old[l]);
    if constexpr (Words == 2)
      w.row(data + 1)[l] = uint32_t(old[l] >> 32);
  });
}
template <AtomicOp Op, unsigned Words>
void atomic(const Instruction &inst, Wave &w) {
  perform<Words>(inst, w, Op);
}

/// buffer_load_* … lds.
template <Element E> void loadLds(const Instruction &inst, Wave &w) {
  constexpr unsigned bytes = bytesOf(E);
  BufferAccess access;
  if (!locate(inst, w, 0, access, bytes))
    return;
  const uint64_t zero = access.outOfRange | access.partial;
  access.active &= ~access.partial;
  resolveGlobal(inst, w, access, bytes, AccessKind::Load);
  WaveContext &context = *w.context;
  constexpr unsigned stride = bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
  constexpr unsigned written = bytes < 4 ? 4 : bytes;
  const uint32_t base = (w.m0() & 0x3ffff) + uint32_t(inst.imm);
  uint32_t target[MaxLanes];
  uint64_t good = 0;
  forEachLane(access.active | zero, [&](unsigned l) {
    target[l] = base + l * stride;
    if (uint64_t(target[l]) + written > context.ldsBytes) {
      invalidLane(inst, w, l, target[l], written, AccessKind::Store,
                  formatv("LDS address {0} is outside the {1} bytes of the "
                          "work-group",
                          target[l], context.ldsBytes)
                      .str());
      return;
    }
    good |= uint64_t(1) << l;
  });
  if (context.monitor)
    context.monitor->ldsDirect(inst, w, target, good, written);
  forEachLane(good, [&](unsigned l) {
    uint8_t value[16] = {};
    if (access.valid >> l & 1)
      std::memcpy(value, reinterpret_cast<const void *>(access.host[l]), bytes);
    if constexpr (E == Element::I8 || E == Element::I16) {
      const int32_t extended = E == Element::I8
                                   ? int32_t(int8_t(value[0]))
                                   : int32_t(int16_t(value[0] | value[1] << 8));
      std::memcpy(value, &extended, 4);
    }
    std::memcpy(context.lds + target[l], value, written);
  });
}

template <Element E> Handler bindLoad(const Instruction &inst, const char *&) {
  return inst.lds ? loadLds<E> : load<E>;
}

template <AtomicOp Op>
void addAtomic(SemanticsTable &table, const std::string &name) {
  table.add("buffer_atomic_" + name, atomic<Op, 1>);
  table.add("buffer_atomic_" + name + "_x2", atomic<Op, 2>);
}

template <Element E>
void addLoad(SemanticsTable &table, const std::string &name) {
  table.addBinder("buffer_load_" + name, bindLoad<E>,
                  unsigned(Encoding::Plain));
}

} // namespace

void registerBufferMemory(SemanticsTable &table) {
  addLoad<Element::U8>(table, "ubyte");
  addLoad<Element::I8>(table, "sbyte");
  addLoad<Element::U16>(table, "ushort");
  addLoad<Element::I16>(table, "sshort");
  addLoad<Element::B32>(table, "dword");
  addLoad<Element::B64>(table, "dwordx2");
  addLoad<Element::B96>(table, "dwordx3");
  addLoad<Element::B128>(table, "dwordx4");
  table.add("buffer_load_ubyte_d16", load<Element::D16U8>);
  table.add("buffer_load_ubyte_d16_hi", load<Element::D16U8Hi>);
  table.add("buffer_load_sbyte_d16", load<Element::D16I8>);
  table.add("buffer_load_sbyte_d16_hi", load<Element::D16I8Hi>);
  table.add("buffer_load_short_d16", load<Element::D16>);
  table.add("buffer_load_short_d16_hi", load<Element::D16Hi>);
  table.add("buffer_store_byte", store<Element::U8>);
  table.add("buffer_store_byte_d16_hi", store<Element::D16U8Hi>);
  table.add("buffer_store_short", store<Element::U16>);
  table.add("buffer_store_short_d16_hi", store<Element::D16Hi>);
  table.add("buffer_store_dword", store<Element::B32>);
  table.add("buffer_store_dwordx2", store<Element::B64>);
  table.add("buffer_store_dwordx3", store<Element::B96>);
  table.add("buffer_store_dwordx4", store<Element::B128>);
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
  table.add("buffer_atomic_add_f32", atomic<AtomicOp::AddF32, 1>);
  table.add("buffer_atomic_pk_add_f16", atomic<AtomicOp::PkAddF16, 1>);
  table.add("buffer_atomic_pk_add_bf16", atomic<AtomicOp::PkAddBf16, 1>);
  table.add("buffer_atomic_add_f64", atomic<AtomicOp::AddF64, 2>);
  table.add("buffer_atomic_min_f64", atomic<AtomicOp::MinF64, 2>);
  table.add("buffer_atomic_max_f64", atomic<AtomicOp::MaxF64, 2>);
}

} // namespace netra::sim
