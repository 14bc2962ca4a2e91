//===- VectorAccess.cpp - Address checks and atomic arithmetic -----------===//
// SPDX-License-Identifier: MIT

#include "VectorAccess.h"
#include "llvm/ADT/bit.h"
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
    monitor->globalAccess(inst, w, access.address, access.valid, bytes, kind);
}

//===----------------------------------------------------------------------===//
// Atomic arithmetic
//===----------------------------------------------------------------------===//

static float halfToFloat(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000) << 16, exponent = h >> 10 & 31,
                 fraction = h & 0x3ff;
  if (exponent == 31)
    return bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {
    const float magnitude = std::ldexp(float(fraction), -24);
    return sign ? -magnitude : magnitude;
  }
  return bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

/// Rounds a double, exact for sums of two halves, to half precision.
static uint16_t doubleToHalf(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return uint16_t(sign | 0x7e00);
  if (magnitude >= 65520.0)
    return uint16_t(sign | 0x7c00);
  int exponent = magnitude == 0 ? -14 : std::ilogb(magnitude);
  exponent = std::max(exponent, -14);
  // Units in the last place of this binade; nearbyint rounds to even.
  const double units = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  uint32_t bits = uint32_t(units);
  if (units >= 1024)
    bits += uint32_t(exponent + 14) << 10; // the leading one adds the last step
  return uint16_t(sign | bits);
}

static float bf16ToFloat(uint16_t b) {
  return bit_cast<float>(uint32_t(b) << 16);
}

static uint16_t doubleToBf16(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return uint16_t(sign | 0x7fc0);
  const double magnitude = std::fabs(value);
  if (std::isinf(value))
    return uint16_t(sign | 0x7f80);
  int exponent = magnitude == 0 ? -126 : std::ilogb(magnitude);
  exponent = std::max(exponent, -126);
  const double units = std::nearbyint(std::ldexp(magnitude, 7 - exponent));
  uint32_t bits = uint32_t(units);
  if (units >= 128)
    bits += uint32_t(exponent + 126) << 7;
  return uint16_t(sign | std::min<uint32_t>(bits, 0x7f80));
}

template <typename T, typename Bits>
static Bits minMax(Bits a, Bits b, bool wantMax) {
  const T x = bit_cast<T>(a), y = bit_cast<T>(b);
  if (std::isnan(x))
    return b;
  if (std::isnan(y))
    return a;
  if (x == y) // orders the zeros
    return wantMax ? (std::signbit(x) ? b : a) : (std::signbit(x) ? a : b);
  return (x < y) != wantMax ? a : b;
}

template <typename U, typename S>
static U applyInteger(AtomicOp op, U old, U data, U compare) {
  switch (op) {
  case AtomicOp::Swap:
    return data;
  case AtomicOp::CmpSwap:
    return old == compare ? data : old;
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
  case AtomicOp::MaskedOr: // data is the mask, compare the bits to set
    return (old & ~data) | compare;
  default:
    return old;
  }
}

uint32_t applyAtomic32(AtomicOp op, uint32_t old, uint32_t data,
                       uint32_t compare) {
  switch (op) {
  case AtomicOp::AddF32:
    return bit_cast<uint32_t>(bit_cast<float>(old) + bit_cast<float>(data));
  case AtomicOp::MinF32:
    return minMax<float>(old, data, false);
  case AtomicOp::MaxF32:
    return minMax<float>(old, data, true);
  case AtomicOp::PkAddF16: {
    uint32_t result = 0;
    for (unsigned k = 0; k < 32; k += 16)
      result |= uint32_t(doubleToHalf(double(halfToFloat(uint16_t(old >> k))) +
                                      double(halfToFloat(uint16_t(data >> k)))))
                << k;
    return result;
  }
  case AtomicOp::PkAddBf16: {
    uint32_t result = 0;
    for (unsigned k = 0; k < 32; k += 16) {
      // The sum of two bfloats need not fit a double: far apart exponents.
      // Then the smaller only matters as a sticky bit, which the double keeps
      // unless it is below 2^-53 of the larger, where rounding to 8 bits
      // cannot see it except at an exact tie; bf16 operands have none there.
      const double sum = double(bf16ToFloat(uint16_t(old >> k))) +
                         double(bf16ToFloat(uint16_t(data >> k)));
      result |= uint32_t(doubleToBf16(sum)) << k;
    }
    return result;
  }
  default:
    return applyInteger<uint32_t, int32_t>(op, old, data, compare);
  }
}

uint64_t applyAtomic64(AtomicOp op, uint64_t old, uint64_t data,
                       uint64_t compare) {
  switch (op) {
  case AtomicOp::AddF64:
    return bit_cast<uint64_t>(bit_cast<double>(old) + bit_cast<double>(data));
  case AtomicOp::MinF64:
    return minMax<double>(old, data, false);
  case AtomicOp::MaxF64:
    return minMax<double>(old, data, true);
  default:
    return applyInteger<uint64_t, int64_t>(op, old, data, compare);
  }
}

uint32_t atomic32(AtomicOp op, void *p, uint32_t data, uint32_t compare) {
  uint32_t *word = static_cast<uint32_t *>(p);
  uint32_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &old,
                                      applyAtomic32(op, old, data, compare),
                                      true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    ;
  return old;
}

uint64_t atomic64(AtomicOp op, void *p, uint64_t data, uint64_t compare) {
  uint64_t *word = static_cast<uint64_t *>(p);
  uint64_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &old,
                                      applyAtomic64(op, old, data, compare),
                                      true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    ;
  return old;
}

} // namespace netra::sim
