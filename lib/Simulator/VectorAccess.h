//===- VectorAccess.h - Memory accesses of a wave's lanes -------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// What global, flat, scratch, buffer and LDS instructions share: the element
// kinds of loads and stores, atomic operations, and the check of a wave's
// addresses against the allocations.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_SIMULATOR_VECTORACCESS_H
#define NETRA_LIB_SIMULATOR_VECTORACCESS_H

#include "Execution.h"
#include "Monitor.h"
#include <cstring>

namespace netra::sim {

enum class Element : uint8_t {
  U8,
  I8,
  U16,
  I16,
  D16U8,
  D16U8Hi,
  D16I8,
  D16I8Hi,
  D16,
  D16Hi,
  B32,
  B64,
  B96,
  B128
};

constexpr unsigned bytesOf(Element e) {
  switch (e) {
  case Element::U8:
  case Element::I8:
  case Element::D16U8:
  case Element::D16U8Hi:
  case Element::D16I8:
  case Element::D16I8Hi:
    return 1;
  case Element::U16:
  case Element::I16:
  case Element::D16:
  case Element::D16Hi:
    return 2;
  case Element::B32:
    return 4;
  case Element::B64:
    return 8;
  case Element::B96:
    return 12;
  case Element::B128:
    return 16;
  }
  return 0;
}

enum class Space : uint8_t { Global, Lds, Scratch };

/// Addresses of one access by lane, and where they lead on the host. Only the
/// lanes of `valid` may be touched.
struct LaneAccess {
  alignas(64) uint64_t address[MaxLanes]; ///< as the program sees them
  alignas(64) uint64_t host[MaxLanes];    ///< host pointers
  uint64_t active = 0;                    ///< lanes that take part
  uint64_t valid = 0;                     ///< active and inside an allocation
};

template <typename Function>
NETRA_SIM_INLINE void forEachLane(uint64_t mask, Function &&function) {
  for (; mask; mask &= mask - 1)
    function(unsigned(__builtin_ctzll(mask)));
}

/// Checks global addresses; sets host and valid, reports invalid lanes.
void resolveGlobal(const Instruction &inst, Wave &w, LaneAccess &access,
                   unsigned bytes, AccessKind kind);

/// Reports one invalid lane of any space: a finding, or the end of the run.
void invalidLane(const Instruction &inst, Wave &w, unsigned lane,
                 uint64_t address, unsigned bytes, AccessKind kind,
                 const std::string &what);

/// Four dwords, for transposing between lanes' memory and rows.
typedef uint32_t Dwords4 __attribute__((vector_size(16)));

/// Transposes four vectors of four dwords in place.
NETRA_SIM_INLINE void transpose4(Dwords4 &a, Dwords4 &b, Dwords4 &c,
                                 Dwords4 &d) {
  const Dwords4 ab01 = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                ab23 = __builtin_shufflevector(a, b, 2, 6, 3, 7),
                cd01 = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                cd23 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ab01, cd01, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab01, cd01, 2, 3, 6, 7);
  c = __builtin_shufflevector(ab23, cd23, 0, 1, 4, 5);
  d = __builtin_shufflevector(ab23, cd23, 2, 3, 6, 7);
}

/// Loads `words` dwords, or a smaller element, of every active lane into rows
/// dst..; invalid lanes get zero. D16 forms clear the other half of the
/// register: so does hardware with ECC, which this target always has.
template <Element E>
NETRA_SIM_INLINE void loadElements(Wave &w, unsigned dst,
                                   const LaneAccess &access) {
  uint32_t *out = w.row(dst);
  const unsigned stride = w.laneCount;
  auto one = [&](unsigned l) {
    const void *p = reinterpret_cast<const void *>(access.host[l]);
    if constexpr (E == Element::B32)
      std::memcpy(&out[l], p, 4);
    else if constexpr (E == Element::B64 || E == Element::B96 ||
                       E == Element::B128) {
      constexpr unsigned words = bytesOf(E) / 4;
      uint32_t value[words];
      std::memcpy(value, p, bytesOf(E));
      for (unsigned k = 0; k < words; ++k)
        out[k * stride + l] = value[k];
    } else if constexpr (bytesOf(E) == 1) {
      uint8_t byte;
      std::memcpy(&byte, p, 1);
      const uint32_t sign = uint32_t(int32_t(int8_t(byte)));
      if constexpr (E == Element::U8 || E == Element::D16U8)
        out[l] = byte;
      else if constexpr (E == Element::I8)
        out[l] = sign;
      else if constexpr (E == Element::D16U8Hi)
        out[l] = uint32_t(byte) << 16;
      else if constexpr (E == Element::D16I8)
        out[l] = sign & 0xffffu;
      else
        out[l] = sign << 16;
    } else {
      uint16_t half;
      std::memcpy(&half, p, 2);
      if constexpr (E == Element::U16 || E == Element::D16)
        out[l] = half;
      else if constexpr (E == Element::I16)
        out[l] = uint32_t(int32_t(int16_t(half)));
      else
        out[l] = uint32_t(half) << 16;
    }
  };
  if (access.valid == w.allLanes()) {
    if constexpr (E == Element::B128) {
      for (unsigned l = 0; l < stride; l += 4) {
        Dwords4 v[4];
        for (unsigned k = 0; k < 4; ++k)
          std::memcpy(&v[k], reinterpret_cast<const void *>(access.host[l + k]),
                      16);
        transpose4(v[0], v[1], v[2], v[3]);
        for (unsigned k = 0; k < 4; ++k)
          std::memcpy(&out[k * stride + l], &v[k], 16);
      }
      return;
    }
    for (unsigned l = 0; l < stride; ++l)
      one(l);
    return;
  }
  forEachLane(access.valid, one);
  if (const uint64_t invalid = access.active & ~access.valid)
    forEachLane(invalid, [&](unsigned l) {
      constexpr unsigned words = bytesOf(E) > 4 ? bytesOf(E) / 4 : 1;
      for (unsigned k = 0; k < words; ++k)
        out[k * stride + l] = 0;
    });
}

template <Element E>
NETRA_SIM_INLINE void storeElements(Wave &w, const Operand &data,
                                    const LaneAccess &access) {
  const uint32_t *in = w.row(data.index);
  const unsigned stride = w.laneCount;
  auto one = [&](unsigned l) {
    void *p = reinterpret_cast<void *>(access.host[l]);
    if constexpr (E == Element::B32)
      std::memcpy(p, &in[l], 4);
    else if constexpr (bytesOf(E) > 4) {
      constexpr unsigned words = bytesOf(E) / 4;
      uint32_t value[words];
      for (unsigned k = 0; k < words; ++k)
        value[k] = in[k * stride + l];
      std::memcpy(p, value, bytesOf(E));
    } else {
      const bool high = E == Element::D16Hi || E == Element::D16U8Hi;
      const uint32_t value = high ? in[l] >> 16 : in[l];
      std::memcpy(p, &value, bytesOf(E)); // little-endian host
    }
  };
  if (access.valid != w.allLanes()) {
    forEachLane(access.valid, one);
    return;
  }
  if constexpr (E == Element::B128) {
    // Lanes may write the same place; the later one wins, as one by one.
    for (unsigned l = 0; l < stride; l += 4) {
      Dwords4 v[4];
      for (unsigned k = 0; k < 4; ++k)
        std::memcpy(&v[k], &in[k * stride + l], 16);
      transpose4(v[0], v[1], v[2], v[3]);
      for (unsigned k = 0; k < 4; ++k)
        std::memcpy(reinterpret_cast<void *>(access.host[l + k]), &v[k], 16);
    }
    return;
  }
  for (unsigned l = 0; l < stride; ++l)
    one(l);
}

/// Where the lanes of `mask` put what they load straight to LDS: M0 plus the
/// offset plus the lane's place, which is 4 bytes apart, 8 or 16 as the element
/// needs. Lanes that would leave the work-group's LDS are dropped and reported.
uint64_t placeInLds(const Instruction &inst, Wave &w, uint64_t mask,
                    unsigned bytes, uint32_t *target);

/// Loads straight to LDS for `mask`, a part of which `access` has found valid;
/// the rest gets zero.
template <Element E>
void loadToLds(const Instruction &inst, Wave &w, const LaneAccess &access,
               uint64_t mask) {
  constexpr unsigned bytes = bytesOf(E), written = bytes < 4 ? 4 : bytes;
  uint32_t target[MaxLanes];
  const uint64_t good = placeInLds(inst, w, mask, written, target);
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
    std::memcpy(w.context->lds + target[l], value, written);
  });
}

/// The lane that ds_swizzle_b32 with this pattern fetches from.
unsigned swizzleSource(uint32_t pattern, unsigned lane);

//===----------------------------------------------------------------------===//
// Atomic operations
//===----------------------------------------------------------------------===//

enum class AtomicOp : uint8_t {
  Swap,
  CmpSwap,
  CmpSwapFloat, ///< compared as numbers
  Wrap,         ///< ring buffers: minus the data, or plus the other operand
  Add,
  Sub,
  ReverseSub,
  SMin,
  UMin,
  SMax,
  UMax,
  And,
  Or,
  Xor,
  Inc,
  Dec,
  MaskedOr,
  AddF32,
  AddF64,
  MinF32,
  MaxF32,
  MinF64,
  MaxF64,
  PkAddF16,
  PkAddBf16
};

/// Which denormals an atomic operation on floats takes for zero. The L2 cache
/// has rules of its own for each operation; the LDS follows MODE.
struct AtomicDenormals {
  bool flushSingle = true;        ///< f32 operands
  bool flushSingleResult = false; ///< f32 sums
  bool flushOther = false;        ///< f16, bf16 and f64 operands
  bool flushHalfResult = false;   ///< f16 and bf16 sums

  static AtomicDenormals ofLds(uint32_t mode) {
    return {!(mode >> ModeDenorm32Shift & 1), !(mode >> ModeDenorm32Shift & 2),
            !(mode >> ModeDenorm64Shift & 1), !(mode >> ModeDenorm64Shift & 2)};
  }
};

/// The new value of a location; `second` is what CmpSwap compares with, the
/// bits that MaskedOr sets, what Wrap adds.
uint32_t applyAtomic32(AtomicOp op, uint32_t old, uint32_t data,
                       uint32_t second, const AtomicDenormals &denormals);
uint64_t applyAtomic64(AtomicOp op, uint64_t old, uint64_t data,
                       uint64_t second, const AtomicDenormals &denormals);

/// Performs the operation on memory that other host threads may touch;
/// returns the old value. The pointer is aligned.
uint32_t atomic32(AtomicOp op, void *p, uint32_t data, uint32_t second,
                  const AtomicDenormals &denormals = {});
uint64_t atomic64(AtomicOp op, void *p, uint64_t data, uint64_t second,
                  const AtomicDenormals &denormals = {});

} // namespace netra::sim

#endif // NETRA_LIB_SIMULATOR_VECTORACCESS_H
