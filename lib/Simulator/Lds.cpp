//===- Lds.cpp - ds_* instructions ---------------------------------------===//
// SPDX-License-Identifier: MIT

#include "VectorAccess.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;

namespace netra::sim {

unsigned swizzleSource(uint32_t pattern, unsigned lane) {
  const unsigned half = lane & ~31u, at = lane & 31;
  if (pattern >= 0xe000) { // FFT: bits reversed, but for masked ones
    const unsigned mask = pattern & 31;
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 5; ++bit)
      reversed |= (at >> bit & 1) << (4 - bit);
    return half | reversed >> __builtin_popcount(mask) | (at & mask);
  }
  if (pattern >= 0xc000) { // rotation within 32 lanes; masked bits stay
    const unsigned mask = pattern & 31, by = pattern >> 5 & 31,
                   turned = pattern & 0x400 ? at - by : at + by;
    return half | (at & mask) | (turned & ~mask & 31);
  }
  if (pattern & 0x8000) // quad permutation
    return (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
  // and, or, xor masks within 32 lanes
  const unsigned andMask = pattern & 31, orMask = pattern >> 5 & 31,
                 xorMask = pattern >> 10 & 31;
  return half | (((at & andMask) | orMask) ^ xorMask);
}

namespace {

/// Checks LDS addresses. Out of range, the hardware reads zero and drops
/// writes; the memory checker reports it.
void resolve(const Instruction &inst, Wave &w, const uint32_t *address,
             LaneAccess &access, unsigned bytes, AccessKind kind) {
  const WaveContext &context = *w.context;
  access.active = w.activeMask();
  access.valid = access.active;
  const uint64_t base = reinterpret_cast<uint64_t>(context.lds);
  uint32_t highest = 0;
  auto locate = [&](unsigned l) {
    access.host[l] = base + address[l];
    highest = std::max(highest, address[l]);
  };
  if (access.active == w.allLanes()) {
    const unsigned count = w.laneCount;
    for (unsigned l = 0; l < count; ++l)
      locate(l);
  } else {
    forEachLane(access.active, locate);
  }
  if (__builtin_expect(uint64_t(highest) + bytes > context.ldsBytes, 0))
    forEachLane(access.active, [&](unsigned l) {
      if (uint64_t(address[l]) + bytes <= context.ldsBytes)
        return;
      access.valid &= ~(uint64_t(1) << l);
      if (context.monitor)
        context.monitor->invalidAccess(
            inst, w, int(l), address[l], bytes, kind,
            formatv("LDS address {0} is outside the {1} bytes of the "
                    "work-group",
                    address[l], context.ldsBytes)
                .str());
    });
  if (kind == AccessKind::Atomic)
    forEachLane(access.valid, [&](unsigned l) {
      if (address[l] % bytes == 0)
        return;
      access.valid &= ~(uint64_t(1) << l);
      const std::string what =
          formatv("an atomic operation of {0} bytes on LDS is misaligned",
                  bytes)
              .str();
      if (!context.monitor ||
          !context.monitor->invalidAccess(inst, w, int(l), address[l], bytes,
                                          kind, what))
        raise(w, FaultKind::Memory,
              formatv("LDS address {0}: {1}", address[l], what).str());
    });
  if (context.monitor)
    context.monitor->ldsAccess(inst, w, address, access.valid, bytes, kind);
}

NETRA_SIM_INLINE void addresses(const Wave &w, const Operand &op,
                                uint32_t offset, uint32_t *address) {
  const uint32_t *row = w.row(op.index);
  for (unsigned l = 0; l < w.laneCount; ++l)
    address[l] = row[l] + offset;
}

template <Element E> void read(const Instruction &inst, Wave &w) {
  uint32_t address[MaxLanes];
  LaneAccess access;
  addresses(w, inst.ops[1], uint32_t(inst.imm), address);
  resolve(inst, w, address, access, bytesOf(E), AccessKind::Load);
  loadElements<E>(w, inst.ops[0].index, access);
}

template <Element E> void write(const Instruction &inst, Wave &w) {
  uint32_t address[MaxLanes];
  LaneAccess access;
  addresses(w, inst.ops[0], uint32_t(inst.imm), address);
  resolve(inst, w, address, access, bytesOf(E), AccessKind::Store);
  storeElements<E>(w, inst.ops[1], access);
}

/// Two elements at offsets in units of the element, times 64 for the st64
/// forms.
template <Element E, unsigned Scale>
void read2(const Instruction &inst, Wave &w) {
  constexpr unsigned bytes = bytesOf(E), words = bytes / 4;
  uint32_t first[MaxLanes], second[MaxLanes];
  LaneAccess a, b;
  addresses(w, inst.ops[1], inst.offset0 * bytes * Scale, first);
  addresses(w, inst.ops[1], inst.offset1 * bytes * Scale, second);
  resolve(inst, w, first, a, bytes, AccessKind::Load);
  resolve(inst, w, second, b, bytes, AccessKind::Load);
  // The address register may be among the destinations; addresses are known.
  loadElements<E>(w, inst.ops[0].index, a);
  loadElements<E>(w, inst.ops[0].index + words, b);
}

template <Element E, unsigned Scale>
void write2(const Instruction &inst, Wave &w) {
  constexpr unsigned bytes = bytesOf(E);
  uint32_t first[MaxLanes], second[MaxLanes];
  LaneAccess a, b;
  addresses(w, inst.ops[0], inst.offset0 * bytes * Scale, first);
  addresses(w, inst.ops[0], inst.offset1 * bytes * Scale, second);
  resolve(inst, w, first, a, bytes, AccessKind::Store);
  resolve(inst, w, second, b, bytes, AccessKind::Store);
  storeElements<E>(w, inst.ops[1], a);
  storeElements<E>(w, inst.ops[2], b);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

template <unsigned Words>
__attribute__((noinline)) void perform(const Instruction &inst, Wave &w,
                                       AtomicOp op) {
  const unsigned v = inst.numDst;
  uint32_t address[MaxLanes];
  LaneAccess access;
  addresses(w, inst.ops[v], uint32_t(inst.imm), address);
  resolve(inst, w, address, access, Words * 4, AccessKind::Atomic);
  const bool isSwap = op == AtomicOp::CmpSwap || op == AtomicOp::CmpSwapFloat;
  const bool hasTwo =
      isSwap || op == AtomicOp::MaskedOr || op == AtomicOp::Wrap;
  const AtomicDenormals denormals = AtomicDenormals::ofLds(w.mode);
  const unsigned first = inst.ops[v + 1].index;
  const unsigned second = hasTwo ? inst.ops[v + 2].index : 0u;
  alignas(64) uint64_t old[MaxLanes] = {};
  auto fetch = [&](unsigned row, unsigned l) {
    uint64_t value = w.row(row)[l];
    if constexpr (Words == 2)
      value |= uint64_t(w.row(row + 1)[l]) << 32;
    return value;
  };
  forEachLane(access.valid, [&](unsigned l) {
    void *p = reinterpret_cast<void *>(access.host[l]);
    uint64_t data = fetch(first, l), other = hasTwo ? fetch(second, l) : 0;
    // ds_cmpst has the comparand first and the new value second.
    if (isSwap)
      std::swap(data, other);
    uint64_t value = 0;
    std::memcpy(&value, p, Words * 4);
    old[l] = value;
    if constexpr (Words == 1)
      value = applyAtomic32(op, uint32_t(value), uint32_t(data),
                            uint32_t(other), denormals);
    else
      value = applyAtomic64(op, value, data, other, denormals);
    std::memcpy(p, &value, Words * 4);
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
template <AtomicOp Op, unsigned Words>
void atomic(const Instruction &inst, Wave &w) {
  perform<Words>(inst, w, Op);
}

/// ds_wrxchg2: two exchanges, at offsets as those of ds_read2. A lane reads
/// both places before it writes either.
template <Element E, unsigned Scale>
void exchange2(const Instruction &inst, Wave &w) {
  constexpr unsigned bytes = bytesOf(E), words = bytes / 4;
  const unsigned offsets[2] = {inst.offset0 * bytes * Scale,
                               inst.offset1 * bytes * Scale};
  uint32_t address[2][MaxLanes];
  LaneAccess access[2];
  uint32_t old[2 * words][MaxLanes] = {};
  for (unsigned k = 0; k < 2; ++k) {
    addresses(w, inst.ops[1], offsets[k], address[k]);
    resolve(inst, w, address[k], access[k], bytes, AccessKind::Atomic);
  }
  auto each = [&](unsigned l, auto &&function) {
    for (unsigned k = 0; k < 2; ++k)
      for (unsigned word = 0; access[k].valid >> l & 1 && word < words; ++word)
        function(reinterpret_cast<void *>(access[k].host[l] + 4 * word),
                 k * words + word, inst.ops[2 + k].index + word);
  };
  forEachLane(access[0].active, [&](unsigned l) {
    each(l, [&](void *p, unsigned place, unsigned) {
      std::memcpy(&old[place][l], p, 4);
    });
    each(l, [&](void *p, unsigned, unsigned row) {
      std::memcpy(p, &w.row(row)[l], 4);
    });
  });
  for (unsigned place = 0; place < 2 * words; ++place)
    forEachLane(access[0].active, [&](unsigned l) {
      w.row(inst.ops[0].index + place)[l] = old[place][l];
    });
}

/// ds_condxchg32: two dwords of an aligned pair, each exchanged where the
/// lane's data have the highest bit set, which is not stored.
void conditionalExchange(const Instruction &inst, Wave &w) {
  uint32_t address[MaxLanes];
  LaneAccess access;
  addresses(w, inst.ops[1], uint32_t(inst.imm), address);
  for (unsigned l = 0; l < w.laneCount; ++l)
    address[l] &= 0xfff8;
  resolve(inst, w, address, access, 8, AccessKind::Atomic);
  const unsigned dst = inst.ops[0].index, data = inst.ops[2].index;
  uint32_t old[2][MaxLanes] = {};
  forEachLane(access.valid, [&](unsigned l) {
    for (unsigned k = 0; k < 2; ++k) {
      uint8_t *p = reinterpret_cast<uint8_t *>(access.host[l]) + 4 * k;
      std::memcpy(&old[k][l], p, 4);
      const uint32_t value = w.row(data + k)[l];
      const uint32_t stored = value & 0x7fffffff;
      if (value >> 31)
        std::memcpy(p, &stored, 4);
    }
  });
  forEachLane(access.active, [&](unsigned l) {
    w.row(dst)[l] = old[0][l];
    w.row(dst + 1)[l] = old[1][l];
  });
}

/// ds_append / ds_consume: one counter per wave's access.
template <bool Append> void appendConsume(const Instruction &inst, Wave &w) {
  const uint64_t active = w.activeMask();
  const uint32_t count = uint32_t(__builtin_popcountll(active));
  const uint32_t address = (w.m0() >> 16) + uint32_t(inst.imm);
  if (address % 4) {
    raise(w, FaultKind::Memory, "ds_append needs a 4-byte aligned address");
    return;
  }
  uint32_t old = 0;
  WaveContext &context = *w.context;
  if (uint64_t(address) + 4 <= context.ldsBytes) {
    uint32_t one[MaxLanes] = {address};
    if (context.monitor)
      context.monitor->ldsAccess(inst, w, one, 1, 4, AccessKind::Atomic);
    std::memcpy(&old, context.lds + address, 4);
    const uint32_t value = Append ? old + count : old - count;
    std::memcpy(context.lds + address, &value, 4);
  } else if (context.monitor)
    context.monitor->invalidAccess(inst, w, -1, address, 4, AccessKind::Atomic,
                                   "outside the LDS of the work-group");
  forEachLane(active, [&](unsigned l) { w.row(inst.ops[0].index)[l] = old; });
}

//===----------------------------------------------------------------------===//
// Addresses by thread id
//===----------------------------------------------------------------------===//

void readAddTid(const Instruction &inst, Wave &w) {
  uint32_t address[MaxLanes];
  for (unsigned l = 0; l < w.laneCount; ++l)
    address[l] = (w.m0() & 0xffff) + uint32_t(inst.imm) + l * 4;
  LaneAccess access;
  resolve(inst, w, address, access, 4, AccessKind::Load);
  loadElements<Element::B32>(w, inst.ops[0].index, access);
}

void writeAddTid(const Instruction &inst, Wave &w) {
  uint32_t address[MaxLanes];
  for (unsigned l = 0; l < w.laneCount; ++l)
    address[l] = (w.m0() & 0xffff) + uint32_t(inst.imm) + l * 4;
  LaneAccess access;
  resolve(inst, w, address, access, 4, AccessKind::Store);
  storeElements<Element::B32>(w, inst.ops[0], access);
}

//===----------------------------------------------------------------------===//
// Lane permutations through the LDS hardware
//===----------------------------------------------------------------------===//

/// Forward: each active lane sends to the lane that its address names; a later
/// lane wins.
void permute(const Instruction &inst, Wave &w) {
  const uint32_t *address = w.row(inst.ops[1].index),
                 *data = w.row(inst.ops[2].index);
  uint32_t result[MaxLanes] = {};
  const uint64_t active = w.activeMask();
  forEachLane(active, [&](unsigned l) {
    result[(address[l] + uint32_t(inst.imm)) / 4 % w.laneCount] = data[l];
  });
  uint32_t *out = w.row(inst.ops[0].index);
  forEachLane(active, [&](unsigned l) { out[l] = result[l]; });
}

/// Backward: each active lane fetches from the lane that its address names;
/// inactive sources give zero.
void bpermute(const Instruction &inst, Wave &w) {
  const uint32_t *address = w.row(inst.ops[1].index),
                 *data = w.row(inst.ops[2].index);
  uint32_t result[MaxLanes] = {};
  const uint64_t active = w.activeMask();
  forEachLane(active, [&](unsigned l) {
    const unsigned from = (address[l] + uint32_t(inst.imm)) / 4 % w.laneCount;
    result[l] = active >> from & 1 ? data[from] : 0;
  });
  uint32_t *out = w.row(inst.ops[0].index);
  forEachLane(active, [&](unsigned l) { out[l] = result[l]; });
}

void swizzle(const Instruction &inst, Wave &w) {
  const uint32_t *data = w.row(inst.ops[1].index);
  const uint64_t active = w.activeMask();
  uint32_t result[MaxLanes] = {};
  forEachLane(active, [&](unsigned l) {
    const unsigned from = swizzleSource(uint32_t(inst.imm) & 0xffff, l);
    result[l] = active >> from & 1 ? data[from] : 0;
  });
  uint32_t *out = w.row(inst.ops[0].index);
  forEachLane(active, [&](unsigned l) { out[l] = result[l]; });
}

/// Transposing reads. Groups of 16 lanes each fetch a tile of 16 columns, W
/// rows, where W elements are what one lane fetches: 16 / W lanes in a row hold
/// a row of the tile. Afterwards lane c of the group holds column c.
template <unsigned Bits, unsigned Bytes>
void readTransposed(const Instruction &inst, Wave &w) {
  constexpr unsigned perLane = Bytes * 8 / Bits, lanesPerRow = 16 / perLane;
  if (!w.allActive()) {
    w.fail("a transposing LDS read needs EXEC all ones");
    return;
  }
  uint32_t address[MaxLanes];
  LaneAccess access;
  addresses(w, inst.ops[1], uint32_t(inst.imm), address);
  resolve(inst, w, address, access, Bytes, AccessKind::Load);
  unsigned __int128 data[MaxLanes] = {};
  forEachLane(access.valid, [&](unsigned l) {
    std::memcpy(&data[l], reinterpret_cast<const void *>(access.host[l]),
                Bytes);
  });
  constexpr unsigned mask = (1u << Bits) - 1;
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const unsigned group = l & ~15u, column = l & 15;
    unsigned __int128 result = 0;
    for (unsigned row = 0; row < perLane; ++row) {
      const unsigned from = group + row * lanesPerRow + column / perLane;
      const unsigned element =
          unsigned(data[from] >> (column % perLane * Bits)) & mask;
      result |= static_cast<unsigned __int128>(element) << (row * Bits);
    }
    for (unsigned k = 0; k < Bytes / 4; ++k)
      w.row(inst.ops[0].index + k)[l] = uint32_t(result >> (32 * k));
  }
}

template <AtomicOp Op>
void addAtomic(SemanticsTable &table, const std::string &stem,
               const std::string &suffix32, const std::string &suffix64) {
  table.add("ds_" + stem + "_" + suffix32, atomic<Op, 1>);
  table.add("ds_" + stem + "_rtn_" + suffix32, atomic<Op, 1>);
  table.add("ds_" + stem + "_" + suffix64, atomic<Op, 2>);
  table.add("ds_" + stem + "_rtn_" + suffix64, atomic<Op, 2>);
}

} // namespace

void registerLds(SemanticsTable &table) {
  table.add("ds_read_u8", read<Element::U8>);
  table.add("ds_read_i8", read<Element::I8>);
  table.add("ds_read_u16", read<Element::U16>);
  table.add("ds_read_i16", read<Element::I16>);
  table.add("ds_read_u8_d16", read<Element::D16U8>);
  table.add("ds_read_u8_d16_hi", read<Element::D16U8Hi>);
  table.add("ds_read_i8_d16", read<Element::D16I8>);
  table.add("ds_read_i8_d16_hi", read<Element::D16I8Hi>);
  table.add("ds_read_u16_d16", read<Element::D16>);
  table.add("ds_read_u16_d16_hi", read<Element::D16Hi>);
  table.add("ds_read_b32", read<Element::B32>);
  table.add("ds_read_b64", read<Element::B64>);
  table.add("ds_read_b96", read<Element::B96>);
  table.add("ds_read_b128", read<Element::B128>);
  table.add("ds_write_b8", write<Element::U8>);
  table.add("ds_write_b16", write<Element::U16>);
  table.add("ds_write_b8_d16_hi", write<Element::D16U8Hi>);
  table.add("ds_write_b16_d16_hi", write<Element::D16Hi>);
  table.add("ds_write_b32", write<Element::B32>);
  table.add("ds_write_b64", write<Element::B64>);
  table.add("ds_write_b96", write<Element::B96>);
  table.add("ds_write_b128", write<Element::B128>);
  table.add("ds_read2_b32", read2<Element::B32, 1>);
  table.add("ds_read2_b64", read2<Element::B64, 1>);
  table.add("ds_read2st64_b32", read2<Element::B32, 64>);
  table.add("ds_read2st64_b64", read2<Element::B64, 64>);
  table.add("ds_write2_b32", write2<Element::B32, 1>);
  table.add("ds_write2_b64", write2<Element::B64, 1>);
  table.add("ds_write2st64_b32", write2<Element::B32, 64>);
  table.add("ds_write2st64_b64", write2<Element::B64, 64>);

  addAtomic<AtomicOp::Add>(table, "add", "u32", "u64");
  addAtomic<AtomicOp::Sub>(table, "sub", "u32", "u64");
  addAtomic<AtomicOp::ReverseSub>(table, "rsub", "u32", "u64");
  addAtomic<AtomicOp::Inc>(table, "inc", "u32", "u64");
  addAtomic<AtomicOp::Dec>(table, "dec", "u32", "u64");
  addAtomic<AtomicOp::SMin>(table, "min", "i32", "i64");
  addAtomic<AtomicOp::SMax>(table, "max", "i32", "i64");
  addAtomic<AtomicOp::UMin>(table, "min", "u32", "u64");
  addAtomic<AtomicOp::UMax>(table, "max", "u32", "u64");
  addAtomic<AtomicOp::And>(table, "and", "b32", "b64");
  addAtomic<AtomicOp::Or>(table, "or", "b32", "b64");
  addAtomic<AtomicOp::Xor>(table, "xor", "b32", "b64");
  addAtomic<AtomicOp::MaskedOr>(table, "mskor", "b32", "b64");
  addAtomic<AtomicOp::CmpSwap>(table, "cmpst", "b32", "b64");
  addAtomic<AtomicOp::CmpSwapFloat>(table, "cmpst", "f32", "f64");
  table.add("ds_wrap_rtn_b32", atomic<AtomicOp::Wrap, 1>);
  table.add("ds_wrxchg2_rtn_b32", exchange2<Element::B32, 1>);
  table.add("ds_wrxchg2_rtn_b64", exchange2<Element::B64, 1>);
  table.add("ds_wrxchg2st64_rtn_b32", exchange2<Element::B32, 64>);
  table.add("ds_wrxchg2st64_rtn_b64", exchange2<Element::B64, 64>);
  table.add("ds_condxchg32_rtn_b64", conditionalExchange);
  table.add("ds_wrxchg_rtn_b32", atomic<AtomicOp::Swap, 1>);
  table.add("ds_wrxchg_rtn_b64", atomic<AtomicOp::Swap, 2>);
  for (const char *form : {"ds_min_f32", "ds_min_rtn_f32"})
    table.add(form, atomic<AtomicOp::MinF32, 1>);
  for (const char *form : {"ds_max_f32", "ds_max_rtn_f32"})
    table.add(form, atomic<AtomicOp::MaxF32, 1>);
  for (const char *form : {"ds_min_f64", "ds_min_rtn_f64"})
    table.add(form, atomic<AtomicOp::MinF64, 2>);
  for (const char *form : {"ds_max_f64", "ds_max_rtn_f64"})
    table.add(form, atomic<AtomicOp::MaxF64, 2>);
  for (const char *form : {"ds_add_f32", "ds_add_rtn_f32"})
    table.add(form, atomic<AtomicOp::AddF32, 1>);
  for (const char *form : {"ds_add_f64", "ds_add_rtn_f64"})
    table.add(form, atomic<AtomicOp::AddF64, 2>);
  for (const char *form : {"ds_pk_add_f16", "ds_pk_add_rtn_f16"})
    table.add(form, atomic<AtomicOp::PkAddF16, 1>);
  for (const char *form : {"ds_pk_add_bf16", "ds_pk_add_rtn_bf16"})
    table.add(form, atomic<AtomicOp::PkAddBf16, 1>);

  table.add("ds_read_b64_tr_b16", readTransposed<16, 8>);
  table.add("ds_read_b64_tr_b8", readTransposed<8, 8>);
  table.add("ds_read_b64_tr_b4", readTransposed<4, 8>);
  table.add("ds_read_b96_tr_b6", readTransposed<6, 12>);
  table.add("ds_append", appendConsume<true>);
  table.add("ds_consume", appendConsume<false>);
  table.add("ds_read_addtid_b32", readAddTid);
  table.add("ds_write_addtid_b32", writeAddTid);
  table.add("ds_permute_b32", permute);
  table.add("ds_bpermute_b32", bpermute);
  table.add("ds_swizzle_b32", swizzle);
}

} // namespace netra::sim
