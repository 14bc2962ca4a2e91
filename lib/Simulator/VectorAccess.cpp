//===- VectorAccess.cpp - Address checks and atomic arithmetic -----------===//
// SPDX-License-Identifier: MIT

#include "VectorAccess.h"
#include "FloatFormats.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace netra::sim {

void invalidLane(const Instruction &inst, Wave &w, unsigned lane,
                 uint64_t address, unsigned bytes, AccessKind kind,
                 const std::string &what) {
  if (w.state == WaveStatus::Failed)
    return;
  Monitor *monitor = w.context->monitor;
  if (monitor &&
      monitor->invalidAccess(inst, w, int(lane), address, bytes, kind, what))
    return;
  raise(w, FaultKind::Memory,
        formatv("{0} of {1} bytes at {2:x} by lane {3}: {4}",
                kind == AccessKind::Load ? "load" : "write", bytes, address,
                lane, what)
            .str());
}

void resolveGlobal(const Instruction &inst, Wave &w, LaneAccess &access,
                   unsigned bytes, AccessKind kind) {
  access.valid = access.active;
  if (!access.active)
    return;
  const DeviceMemory &memory = *w.context->memory;
  const unsigned first = unsigned(__builtin_ctzll(access.active));
  const AllocationRecord *record = memory.resolve(access.address[first], bytes);
  bool all = false;
  if (record) {
    // Usually every lane is in the allocation of the first.
    const uint64_t begin = record->begin,
                   room = record->end - record->begin - bytes;
    // A distance from the beginning that is too large, or negative, shows in
    // the sign of one of the two terms.
    uint64_t outside = 0;
    auto note = [&](unsigned l) {
      const uint64_t distance = access.address[l] - begin;
      outside |= distance | (room - distance);
    };
    if (access.active == w.allLanes()) {
      const unsigned count = w.laneCount;
      for (unsigned l = 0; l < count; ++l)
        note(l);
    } else {
      forEachLane(access.active, note);
    }
    all = !(outside >> 63);
  }
  if (!all)
    forEachLane(access.active, [&](unsigned l) {
      if (memory.resolve(access.address[l], bytes))
        return;
      access.valid &= ~(uint64_t(1) << l);
      invalidLane(inst, w, l, access.address[l], bytes, kind,
                  memory.describe(access.address[l], bytes));
    });
  if (kind == AccessKind::Atomic)
    forEachLane(access.valid, [&](unsigned l) {
      if (access.address[l] % bytes == 0)
        return;
      access.valid &= ~(uint64_t(1) << l);
      invalidLane(inst, w, l, access.address[l], bytes, kind,
                  formatv("an atomic needs an address that is a multiple of "
                          "{0}",
                          bytes)
                      .str());
    });
  std::memcpy(access.host, access.address, sizeof(access.host));
  if (Monitor *monitor = w.context->monitor)
    monitor->globalAccess(inst, w, access.address, access.valid, bytes, kind,
                          all ? record : nullptr);
}

uint64_t placeInLds(const Instruction &inst, Wave &w, uint64_t mask,
                    unsigned bytes, uint32_t *target) {
  WaveContext &context = *w.context;
  const unsigned stride = bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
  const uint32_t base = (w.m0() & 0x3ffff) + uint32_t(inst.imm);
  uint64_t good = 0;
  forEachLane(mask, [&](unsigned l) {
    target[l] = base + l * stride;
    if (uint64_t(target[l]) + bytes > context.ldsBytes) {
      invalidLane(inst, w, l, target[l], bytes, AccessKind::Store,
                  formatv("LDS address {0} is outside the {1} bytes of the "
                          "work-group",
                          target[l], context.ldsBytes)
                      .str());
      return;
    }
    good |= uint64_t(1) << l;
  });
  if (context.monitor)
    context.monitor->ldsDirect(inst, w, target, good, bytes);
  return good;
}

//===----------------------------------------------------------------------===//
// Atomic arithmetic
//===----------------------------------------------------------------------===//

// Of two sources that are both NaN the first wins, which is the location's old
// value.

template <typename Bits>
static Bits quieted(const FloatFormat &format, Bits bits) {
  return bits | Bits(1) << (format.mantissaBits - 1);
}
template <typename Bits>
static bool isNan(const FloatFormat &format, Bits bits) {
  return (bits & (format.signBit() - 1)) > format.infinity();
}
template <typename Bits>
static bool isSignalling(const FloatFormat &format, Bits bits) {
  return isNan(format, bits) && quieted(format, bits) != bits;
}
template <typename Bits>
static Bits flushed(const FloatFormat &format, Bits bits, bool flush) {
  const Bits sign = Bits(format.signBit());
  return flush && (bits & ~sign) <= format.mantissaMask() ? bits & sign : bits;
}
/// Numbers in ascending order; -0 is below +0.
template <typename Bits>
static bool isLess(const FloatFormat &format, Bits a, Bits b) {
  const Bits sign = Bits(format.signBit());
  auto key = [&](Bits v) {
    return v & sign ? Bits(~v) & (sign | (sign - 1)) : v | sign;
  };
  return key(a) < key(b);
}

/// A sum, rounded to nearest even. \p sum adds two numbers of the format.
template <typename Bits, typename Sum>
static Bits addFloats(const FloatFormat &format, Bits old, Bits data,
                      bool flushInputs, bool flushResult, Sum sum) {
  if (isNan(format, old))
    return quieted(format, old);
  if (isNan(format, data))
    return quieted(format, data);
  const Bits result = sum(flushed(format, old, flushInputs),
                          flushed(format, data, flushInputs));
  if (isNan(format, result)) // infinities of opposite signs
    return Bits(format.quietNan());
  return flushed(format, result, flushResult);
}

static uint32_t addSingles(uint32_t a, uint32_t b) {
  return asBits(asFloat(a) + asFloat(b));
}
// A float has more than twice the digits of a half or bfloat and two: rounding
// a sum to it first changes nothing.
static uint32_t addHalves(uint32_t a, uint32_t b) {
  return f16FromF32(addSingles(f32FromF16(a), f32FromF16(b)));
}
static uint32_t addBfloats(uint32_t a, uint32_t b) {
  return bf16FromF32(addSingles(f32FromBf16(a), f32FromBf16(b)));
}
static uint64_t addDoubles(uint64_t a, uint64_t b) {
  return asBits(asDouble(a) + asDouble(b));
}

/// Minimum and maximum: a signalling NaN wins, quieted; a quiet one gives way.
/// Denormals are flushed for the comparison only.
template <typename Bits>
static Bits chooseFloat(const FloatFormat &format, Bits old, Bits data,
                        bool flush, bool wantMax) {
  if (isSignalling(format, old))
    return quieted(format, old);
  if (isSignalling(format, data))
    return quieted(format, data);
  if (isNan(format, old))
    return data;
  if (isNan(format, data))
    return old;
  const Bits x = flushed(format, old, flush), y = flushed(format, data, flush);
  return (wantMax ? isLess(format, x, y) : isLess(format, y, x)) ? data : old;
}

template <typename Bits>
static Bits swapIfEqual(const FloatFormat &format, Bits old, Bits data,
                        Bits compare, bool flush) {
  const Bits x = flushed(format, old, flush),
             y = flushed(format, compare, flush);
  const Bits magnitude = Bits(format.signBit()) - 1;
  const bool isEqual = !isNan(format, x) && !isNan(format, y) &&
                       (x == y || !((x | y) & magnitude));
  return flushed(format, isEqual ? data : old, flush);
}

template <typename U, typename S>
static U applyInteger(AtomicOp op, U old, U data, U second) {
  switch (op) {
  case AtomicOp::Swap:
    return data;
  case AtomicOp::CmpSwap:
    return old == second ? data : old;
  case AtomicOp::Add:
    return old + data;
  case AtomicOp::Sub:
    return old - data;
  case AtomicOp::ReverseSub:
    return data - old;
  case AtomicOp::SMin:
    return S(data) < S(old) ? data : old;
  case AtomicOp::UMin:
    return data < old ? data : old;
  case AtomicOp::SMax:
    return S(data) > S(old) ? data : old;
  case AtomicOp::UMax:
    return data > old ? data : old;
  case AtomicOp::And:
    return old & data;
  case AtomicOp::Or:
    return old | data;
  case AtomicOp::Xor:
    return old ^ data;
  case AtomicOp::Inc:
    return old >= data ? U(0) : U(old + 1);
  case AtomicOp::Dec:
    return old == 0 || old > data ? data : U(old - 1);
  case AtomicOp::MaskedOr: // data is the mask
    return (old & ~data) | second;
  case AtomicOp::Wrap:
    return old >= data ? old - data : old + second;
  default:
    return old;
  }
}

uint32_t applyAtomic32(AtomicOp op, uint32_t old, uint32_t data,
                       uint32_t second, const AtomicDenormals &denormals) {
  auto halves = [&](const FloatFormat &format, auto sum) {
    uint32_t result = 0;
    for (unsigned k = 0; k < 32; k += 16)
      result |= addFloats<uint32_t>(format, old >> k & 0xffff,
                                    data >> k & 0xffff, denormals.flushOther,
                                    denormals.flushHalfResult, sum)
                << k;
    return result;
  };
  switch (op) {
  case AtomicOp::AddF32:
    return addFloats(formatF32, old, data, denormals.flushSingle,
                     denormals.flushSingleResult, addSingles);
  case AtomicOp::MinF32:
  case AtomicOp::MaxF32:
    return chooseFloat(formatF32, old, data, denormals.flushSingle,
                       op == AtomicOp::MaxF32);
  case AtomicOp::CmpSwapFloat:
    return swapIfEqual(formatF32, old, data, second, denormals.flushSingle);
  case AtomicOp::PkAddF16:
    return halves(formatF16, addHalves);
  case AtomicOp::PkAddBf16:
    return halves(formatBf16, addBfloats);
  default:
    return applyInteger<uint32_t, int32_t>(op, old, data, second);
  }
}

uint64_t applyAtomic64(AtomicOp op, uint64_t old, uint64_t data,
                       uint64_t second, const AtomicDenormals &denormals) {
  switch (op) {
  case AtomicOp::AddF64: // never flushes
    return addFloats(formatF64, old, data, false, false, addDoubles);
  case AtomicOp::MinF64:
  case AtomicOp::MaxF64:
    return chooseFloat(formatF64, old, data, denormals.flushOther,
                       op == AtomicOp::MaxF64);
  case AtomicOp::CmpSwapFloat:
    return swapIfEqual(formatF64, old, data, second, denormals.flushOther);
  default:
    return applyInteger<uint64_t, int64_t>(op, old, data, second);
  }
}

uint32_t atomic32(AtomicOp op, void *p, uint32_t data, uint32_t second,
                  const AtomicDenormals &denormals) {
  uint32_t *word = static_cast<uint32_t *>(p);
  uint32_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(
      word, &old, applyAtomic32(op, old, data, second, denormals), true,
      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    ;
  return old;
}

uint64_t atomic64(AtomicOp op, void *p, uint64_t data, uint64_t second,
                  const AtomicDenormals &denormals) {
  uint64_t *word = static_cast<uint64_t *>(p);
  uint64_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(
      word, &old, applyAtomic64(op, old, data, second, denormals), true,
      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    ;
  return old;
}

} // namespace netra::sim
