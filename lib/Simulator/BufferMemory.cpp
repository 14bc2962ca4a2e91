//===- BufferMemory.cpp - buffer_* instructions --------------------------===//
// SPDX-License-Identifier: MIT
//
// Those whose opcode says what is accessed; the ones with formats are in
// BufferFormats.cpp.
//
//===----------------------------------------------------------------------===//

#include "BufferAccess.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace netra::sim {

BufferDescriptor::BufferDescriptor(const Operand &op, const Wave &w) {
  const uint32_t w0 = w.scalar32(op, 0), w1 = w.scalar32(op, 1),
                 w2 = w.scalar32(op, 2), w3 = w.scalar32(op, 3);
  base = w0 | uint64_t(w1 & 0xffff) << 32;
  stride = w1 >> 16 & 0x3fff;
  isSwizzled = w1 >> 31;
  records = w2;
  for (unsigned k = 0; k < 4; ++k)
    select[k] = w3 >> (3 * k) & 7;
  numberFormat = w3 >> 12 & 7;
  dataFormat = w3 >> 15 & 0xf;
  indexStride = 8u << (w3 >> 21 & 3);
  addsThreadId = w3 >> 23 & 1;
}

/// The descriptor has no size field for the elements between which swizzling
/// switches to the next index: they are dwords.
constexpr unsigned SwizzledElement = 4;

/// What of a descriptor and an instruction the ISA does not define.
static const char *undefinedUse(const Instruction &inst,
                                const BufferDescriptor &d, unsigned bytes) {
  if (d.addsThreadId && inst.idxen)
    return "a buffer descriptor with ADD_TID and an index from a VGPR has no "
           "defined range check";
  if (!d.isSwizzled)
    return nullptr;
  if (!d.addsThreadId && !(inst.idxen && d.stride))
    return "a swizzled buffer descriptor without index or stride has no "
           "defined range check";
  if (bytes > SwizzledElement)
    return "an access through a swizzled buffer descriptor may not be wider "
           "than its elements, which are 4 bytes on this target";
  if (d.stride % SwizzledElement)
    return "the stride of a swizzled buffer descriptor must be a multiple of "
           "its elements, which are 4 bytes on this target";
  return nullptr;
}

bool locateBuffer(const Instruction &inst, Wave &w, unsigned vector,
                  BufferAccess &access, unsigned bytes, BufferFormatUse use) {
  const Operand &vaddr = inst.ops[vector], &soffset = inst.ops[vector + 2];
  BufferDescriptor d(inst.ops[vector + 1], w);
  const uint64_t active = w.activeMask();
  access.active = access.valid = 0;
  // With thread ids the format bits extend the stride, unless they are needed.
  if (d.addsThreadId && use == BufferFormatUse::None) {
    d.stride |= uint32_t(d.dataFormat) << 14;
  } else if (d.dataFormat == 0) {
    access.outOfRange = active;
    if (Monitor *monitor = w.context->monitor; monitor && active)
      monitor->invalidAccess(
          inst, w, -1, d.base, bytes, AccessKind::Load,
          "the descriptor's data format is 0, INVALID: the buffer counts as "
          "unbound, loads give zero and stores do nothing");
    return true;
  }
  if (const char *why = undefinedUse(inst, d, bytes)) {
    w.fail(why);
    return false;
  }
  const uint32_t scalar = w.scalar32(soffset);
  bool isSplit = false;
  forEachLane(active, [&](unsigned l) {
    uint64_t index = 0, offset = uint64_t(inst.imm);
    unsigned row = vaddr.index;
    if (inst.idxen)
      index = w.row(row++)[l];
    if (inst.offen)
      offset += w.row(row)[l];
    if (d.addsThreadId)
      index += l;
    uint64_t relative = index * d.stride + offset;
    bool inside = true; // scratch: AddTID without an index is not checked
    unsigned words = (bytes + 3) / 4;
    if (inst.idxen && d.stride)
      inside = index < d.records;
    else if (!d.addsThreadId) {
      // Raw: each dword is checked by itself, a format as a whole.
      const uint64_t end = relative + scalar;
      const bool isWhole = use != BufferFormatUse::None;
      inside = end + (isWhole ? bytes : std::min(bytes, 4u)) <= d.records;
      if (inside && end + bytes > d.records)
        words = unsigned((d.records - end) / 4);
    }
    if (d.isSwizzled) {
      const uint64_t within = offset % SwizzledElement;
      isSplit |= within + bytes > SwizzledElement;
      relative = (index / d.indexStride * d.stride + (offset - within)) *
                     d.indexStride +
                 index % d.indexStride * SwizzledElement + within;
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
  if (isSplit)
    w.fail("an access through a swizzled buffer descriptor may not straddle "
           "its elements, which are 4 bytes on this target");
  return !isSplit;
}

namespace {

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
  if (!locateBuffer(inst, w, 1, access, bytes))
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
  } else {
    access.valid = valid;
    loadElements<E>(w, inst.ops[0].index, access);
  }
}

template <Element E> void store(const Instruction &inst, Wave &w) {
  constexpr unsigned bytes = bytesOf(E);
  BufferAccess access;
  if (!locateBuffer(inst, w, 1, access, bytes))
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
  if (!locateBuffer(inst, w, 1, access, Words * 4))
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
  if (!locateBuffer(inst, w, 0, access, bytes))
    return;
  // Out of range delivers zero.
  const uint64_t delivering = access.active | access.outOfRange;
  access.active &= ~access.partial;
  resolveGlobal(inst, w, access, bytes, AccessKind::Load);
  loadToLds<E>(inst, w, access, delivering);
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
  registerBufferFormats(table);
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
