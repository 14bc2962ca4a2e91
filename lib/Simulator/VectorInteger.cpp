//===- VectorInteger.cpp - integer and bit instructions of the VALU -------===//
// SPDX-License-Identifier: MIT
#include "LaneAlu.h"
#include "LaneVectors.h"
#include "VectorAlu.h"

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;

U saturateAdd(U a, U b) { return a + b < a ? ~0u : a + b; }
U saturateSub(U a, U b) { return a < b ? 0u : a - b; }
U saturateSigned(int64_t value) {
  return value > INT32_MAX   ? U(INT32_MAX)
         : value < INT32_MIN ? U(INT32_MIN)
                             : U(value);
}
U saturateUnsigned(uint64_t value) { return value > ~0u ? ~0u : U(value); }
U saturate16(int64_t value, bool isSigned) {
  int64_t low = isSigned ? INT16_MIN : 0, high = isSigned ? INT16_MAX : 0xffff;
  return U(value > high ? high : value < low ? low : value);
}
int32_t s16(U v) { return int16_t(v); }
int32_t s24(U v) { return int32_t(v << 8) >> 8; }
U u24(U v) { return v & 0xffffff; }

U leadingZeros(U v) { return v ? U(__builtin_clz(v)) : ~0u; }
U trailingZeros(U v) { return v ? U(__builtin_ctz(v)) : ~0u; }
U reverse(U v) {
  v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
  v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
  v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(v);
}
U bits(U v) {
  v = v - (v >> 1 & 0x55555555);
  v = (v & 0x33333333) + (v >> 2 & 0x33333333);
  v = (v + (v >> 4)) & 0x0f0f0f0f;
  return v * 0x01010101 >> 24;
}
U permuteByte(uint64_t data, U sel) {
  sel &= 0xff;
  if (sel >= 13)
    return 0xff;
  if (sel == 12)
    return 0;
  if (sel >= 8) // the sign of one of the words' bytes 1, 3, 5, 7
    return data >> ((sel - 8) * 16 + 15) & 1 ? 0xff : 0;
  return U(data >> (sel * 8)) & 0xff;
}
U absdiff(U a, U b) { return a > b ? a - b : b - a; }
U sadBytes(U a, U b, U c, bool masked) {
  for (unsigned i = 0; i < 32; i += 8) {
    U y = b >> i & 0xff;
    if (!masked || y)
      c += absdiff(a >> i & 0xff, y);
  }
  return c;
}
U saturateByte(int32_t v, int32_t low, int32_t high) {
  return U(v < low ? low : v > high ? high : v) & 0xff;
}

//===----------------------------------------------------------------------===//
// Carries
//===----------------------------------------------------------------------===//

/// \p F(a, b, carry-in) gives the 33-bit sum, or difference whose bit 32 is the
/// borrow. The carry goes to dst(1).
template <auto F, bool TakesCarry>
void carrying(const Instruction &I, Wave &w) {
  LaneVector t0, t1, in, result, out;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::Int, t1);
  Wave::spread(TakesCarry ? w.scalar64(I.src(2)) : 0, in.lane);
  const bool clamp = I.clamp;
  eachLane(w.laneCount, [&](unsigned l) {
    uint64_t sum = F(a[l], b[l], in.lane[l] & 1);
    U carry = U(sum >> 32) & 1;
    out.lane[l] = carry;
    result.lane[l] = U(sum);
  });
  if (clamp) {
    // A sum that carries is at most all ones; a difference that borrows, 0.
    const U limit = F(1, 0, 0) == F(0, 1, 0) ? ~0u : 0u;
    eachLane(w.laneCount, [&](unsigned l) {
      if (out.lane[l])
        result.lane[l] = limit;
    });
  }
  const uint64_t mask = writeMask(I, w);
  storeResult(I, w, result.lane, mask);
  storeCondition(w, I.dst(1), out.lane, mask);
}

constexpr auto addCarry = [](U a, U b, U c) { return uint64_t(a) + b + c; };
constexpr auto subCarry = [](U a, U b, U c) { return uint64_t(a) - b - c; };
constexpr auto subrevCarry = [](U a, U b, U c) { return uint64_t(b) - a - c; };

//===----------------------------------------------------------------------===//
// 64-bit results
//===----------------------------------------------------------------------===//

struct Wide {
  LaneVector low, high;
  const uint32_t *l, *h;
};

void fetchWide(const Instruction &I, Wave &w, unsigned k, Wide &wide) {
  wide.l = fetch(I, w, k, 0, SourceType::Int, wide.low);
  wide.h = fetch(I, w, k, 1, SourceType::Int, wide.high);
}
uint64_t at(const Wide &wide, unsigned l) {
  return wide.l[l] | uint64_t(wide.h[l]) << 32;
}

void storeWide(const Instruction &I, Wave &w, const Wide &wide) {
  const uint64_t mask = writeMask(I, w);
  storeWord(w, I.dst(), 0, wide.low.lane, mask);
  storeWord(w, I.dst(), 1, wide.high.lane, mask);
}

constexpr auto shiftLeft = [](uint64_t v, U by) { return v << by; };
constexpr auto shiftRight = [](uint64_t v, U by) { return v >> by; };
constexpr auto shiftArithmetic = [](uint64_t v, U by) {
  return uint64_t(int64_t(v) >> by);
};

/// D.64 = shift of S1.64 by S0.32.
template <auto F> void shift64(const Instruction &I, Wave &w) {
  LaneVector t;
  Wide value, result;
  const uint32_t *amount = fetch(I, w, 0, 0, SourceType::Int, t);
  fetchWide(I, w, 1, value);
  eachLane(w.laneCount, [&](unsigned l) {
    uint64_t r = F(at(value, l), amount[l] & 63);
    result.low.lane[l] = U(r);
    result.high.lane[l] = U(r >> 32);
  });
  storeWide(I, w, result);
}

/// D.64 = (S0.64 << S1[2:0]) + S2.64.
void lshlAdd64(const Instruction &I, Wave &w) {
  LaneVector t;
  Wide value, addend, result;
  fetchWide(I, w, 0, value);
  const uint32_t *amount = fetch(I, w, 1, 0, SourceType::Int, t);
  fetchWide(I, w, 2, addend);
  const uint32_t *low = value.l, *high = value.h, *addLow = addend.l,
                 *addHigh = addend.h;
  eachLane(w.laneCount, [&](unsigned l) {
    const U shift = amount[l] & 7, sum = (low[l] << shift) + addLow[l];
    result.low.lane[l] = sum;
    result.high.lane[l] = (high[l] << shift | low[l] >> 1 >> (31 - shift)) +
                          addHigh[l] + (sum < addLow[l] ? 1 : 0);
  });
  storeWide(I, w, result);
}

/// {carry, D.64} = S0.32 * S1.32 + S2.64.
template <bool Signed> void mad64(const Instruction &I, Wave &w) {
  LaneVector t0, t1, carry;
  Wide addend, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::Int, t1);
  fetchWide(I, w, 2, addend);
  const bool clamp = I.clamp;
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const uint64_t c = at(addend, l);
    uint64_t r;
    U out;
    if constexpr (Signed) {
      const int64_t product = int64_t(int32_t(a[l])) * int32_t(b[l]);
      const __int128 sum = __int128(product) + int64_t(c);
      r = uint64_t(sum);
      out = U(uint64_t(sum >> 64)) & 1;
      if (clamp)
        r = sum > INT64_MAX   ? uint64_t(INT64_MAX)
            : sum < INT64_MIN ? uint64_t(INT64_MIN)
                              : r;
    } else {
      const uint64_t product = uint64_t(a[l]) * b[l];
      r = product + c;
      out = r < c;
      if (clamp && out)
        r = ~0ull;
    }
    result.low.lane[l] = U(r);
    result.high.lane[l] = U(r >> 32);
    carry.lane[l] = out;
  }
  const uint64_t mask = writeMask(I, w);
  storeWide(I, w, result);
  storeCondition(w, I.dst(1), carry.lane, mask);
}

/// Four sums of byte differences at the byte offsets of S0.64.
template <bool Masked, bool Words> void quadSad(const Instruction &I, Wave &w) {
  Wide data;
  LaneVector t;
  LaneVector acc[4], result[4];
  fetchWide(I, w, 0, data);
  const uint32_t *reference = fetch(I, w, 1, 0, SourceType::Int, t);
  constexpr unsigned words = Words ? 4 : 2;
  const uint32_t *c[4];
  for (unsigned k = 0; k < words; ++k)
    c[k] = fetch(I, w, 2, k, SourceType::Int, acc[k]);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    U out[4];
    for (unsigned k = 0; k < 4; ++k) {
      U from = U(at(data, l) >> (8 * k));
      U add = Words ? c[k % words][l] : c[k / 2][l] >> (16 * (k & 1)) & 0xffff;
      out[k] = sadBytes(from, reference[l], add, Masked);
      if (I.clamp && !Words && out[k] > 0xffff)
        out[k] = 0xffff;
    }
    for (unsigned k = 0; k < words; ++k)
      result[k].lane[l] =
          Words ? out[k]
                : (out[2 * k % 4] & 0xffff) | out[(2 * k + 1) % 4] << 16;
  }
  const uint64_t mask = writeMask(I, w);
  for (unsigned k = 0; k < words; ++k)
    storeWord(w, I.dst(), k, result[k].lane, mask);
}

//===----------------------------------------------------------------------===//
// The odd ones
//===----------------------------------------------------------------------===//

/// The bit of each lane of a vector that begins with lane \p first of a block.
NETRA_SIM_INLINE void laneBits(unsigned first, Words &bits) {
  for (unsigned l = 0; l < VectorLanes; ++l)
    bits[l] = 1u << (first + l);
}
NETRA_SIM_INLINE void select(const uint32_t *a, const uint32_t *b,
                             uint64_t condition, uint32_t *out, unsigned n) {
  for (; n; n -= BlockLanes) {
    const Words bits = Words{} + uint32_t(condition);
    eachVector([&](unsigned p) {
      const unsigned l = p * VectorLanes;
      Words place;
      laneBits(l, place);
      store(out + l,
            (bits & place) == place ? load<Words>(b + l) : load<Words>(a + l));
    });
    a += BlockLanes;
    b += BlockLanes;
    out += BlockLanes;
    condition >>= BlockLanes;
  }
}
void conditional(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F32, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::F32, t1);
  select(a, b, w.scalar64(I.src(2)), result.lane, w.laneCount);
  storeResult(I, w, result.lane, writeMask(I, w));
}
void conditionalBare(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const bool all = w.allActive();
  select(w.lanes(I.src(0), 0, t0), w.lanes(I.src(1), 0, t1),
         w.scalar64(I.src(2)), all ? w.row(I.dst().index) : result.lane,
         w.laneCount);
  if (!all)
    w.writeLanes(I.dst(), 0, result.lane);
}
/// The commonest of those: vector registers only, all lanes active.
void conditionalRegisters(const Instruction &I, Wave &w) {
  if (__builtin_expect(!w.allActive(), 0))
    return conditionalBare(I, w);
  const uint64_t condition = w.scalarFile[I.ops[3].index] |
                             uint64_t(w.scalarFile[I.ops[3].index + 1]) << 32;
  select(w.row(I.ops[1].index), w.row(I.ops[2].index), condition,
         w.row(I.ops[0].index), w.laneCount);
}
Handler bindConditional(const Instruction &I, const char *&) {
  if (!isBare(I))
    return conditional;
  return I.src(0).isVector() && I.src(1).isVector() && I.src(2).isScalar()
             ? conditionalRegisters
             : conditionalBare;
}

void bitop3(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result;
  const uint32_t *a = w.lanes(I.src(0), 0, t0), *b = w.lanes(I.src(1), 0, t1),
                 *c = w.lanes(I.src(2), 0, t2);
  const unsigned table = I.bitop3;
  // One mask per row of the truth table {a, b, c}.
  U row[8];
  for (unsigned k = 0; k < 8; ++k)
    row[k] = 0u - (table >> k & 1);
  eachLane(w.laneCount, [&](unsigned l) {
    U x = a[l], y = b[l], z = c[l];
    U whenY0 = (~z & row[0]) | (z & row[1]),
      whenY1 = (~z & row[2]) | (z & row[3]);
    U high0 = (~z & row[4]) | (z & row[5]),
      high1 = (~z & row[6]) | (z & row[7]);
    U low = (~y & whenY0) | (y & whenY1), high = (~y & high0) | (y & high1);
    result.lane[l] = (~x & low) | (x & high);
  });
  storeResult(I, w, result.lane, writeMask(I, w));
}

void bitop3Half(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int16, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::Int16, t1);
  const uint32_t *c = fetch(I, w, 2, 0, SourceType::Int16, t2);
  const unsigned table = I.bitop3;
  eachLane(w.laneCount, [&](unsigned l) {
    U r = 0;
    for (unsigned k = 0; k < 8; ++k)
      if (table >> k & 1)
        r |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) &
             (k & 1 ? c[l] : ~c[l]);
    result.lane[l] = r & 0xffff;
  });
  storeResult16(I, w, result.lane, writeMask(I, w), false);
}

void swap(const Instruction &I, Wave &w) {
  uint32_t *a = w.row(I.ops[0].index), *b = w.row(I.ops[1].index);
  const uint32_t *m = w.execLanes();
  eachLane(w.laneCount, [&](unsigned l) {
    U x = a[l], y = b[l];
    a[l] = (y & m[l]) | (x & ~m[l]);
    b[l] = (x & m[l]) | (y & ~m[l]);
  });
}

template <unsigned Half> void maskedCount(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::Int, t1);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const uint64_t below = (uint64_t(1) << l) - 1;
    result.lane[l] = bits(a[l] & U(below >> (32 * Half))) + b[l];
  }
  storeResult(I, w, result.lane, writeMask(I, w));
}

void move64(const Instruction &I, Wave &w) {
  Wide value;
  fetchWide(I, w, 0, value);
  const uint64_t mask = writeMask(I, w);
  LaneVector high = {};
  eachLane(w.laneCount, [&](unsigned l) { high.lane[l] = value.h[l]; });
  // The source may overlap the destination.
  storeWord(w, I.dst(), 0, value.l, mask);
  storeWord(w, I.dst(), 1, high.lane, mask);
}

void nothing(const Instruction &, Wave &) {}

/// D.32 = S0.16 * S1.16 + S2.32.
template <bool Signed> void mad16(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int16, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::Int16, t1);
  const uint32_t *c = fetch(I, w, 2, 0, SourceType::Int, t2);
  const bool clamp = I.clamp;
  eachLane(w.laneCount, [&](unsigned l) {
    if constexpr (Signed) {
      int64_t sum = int64_t(s16(a[l])) * s16(b[l]) + int32_t(c[l]);
      result.lane[l] = clamp ? saturateSigned(sum) : U(sum);
    } else {
      uint64_t sum = uint64_t(a[l]) * b[l] + c[l];
      result.lane[l] = clamp ? saturateUnsigned(sum) : U(sum);
    }
  });
  storeResult(I, w, result.lane, writeMask(I, w));
}

void pack16(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F16, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::F16, t1);
  eachLane(w.laneCount,
           [&](unsigned l) { result.lane[l] = a[l] | b[l] << 16; });
  storeResult(I, w, result.lane, writeMask(I, w));
}

/// Two arithmetic shifts, each saturated to a byte.
template <int32_t Low, int32_t High>
void shiftPack(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result;
  const uint32_t *a = w.lanes(I.src(0), 0, t0), *b = w.lanes(I.src(1), 0, t1),
                 *c = w.lanes(I.src(2), 0, t2);
  eachLane(w.laneCount, [&](unsigned l) {
    result.lane[l] = saturateByte(int32_t(a[l]) >> (c[l] & 31), Low, High) |
                     saturateByte(int32_t(b[l]) >> (c[l] & 31), Low, High) << 8;
  });
  storeResult16(I, w, result.lane, writeMask(I, w), true);
}

/// Integer dot products: D = S2 + sum of Count products of Bits-wide fields.
template <unsigned Bits, bool Signed, bool Accumulates>
void dotInt(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result;
  const uint32_t *a = w.lanes(I.src(0), 0, t0), *b = w.lanes(I.src(1), 0, t1);
  const uint32_t *c =
      Accumulates ? w.row(I.dst().index) : w.lanes(I.src(2), 0, t2);
  const bool clamp = I.clamp;
  eachLane(w.laneCount, [&](unsigned l) {
    int64_t sum = Signed ? int64_t(int32_t(c[l])) : int64_t(c[l]);
    for (unsigned i = 0; i < 32; i += Bits) {
      if constexpr (Signed)
        sum += int64_t(int32_t(a[l] << (32 - Bits - i)) >> (32 - Bits)) *
               (int32_t(b[l] << (32 - Bits - i)) >> (32 - Bits));
      else
        sum += int64_t(a[l] >> i & ((1u << Bits) - 1)) *
               (b[l] >> i & ((1u << Bits) - 1));
    }
    if (clamp)
      result.lane[l] =
          Signed ? saturateSigned(sum) : saturateUnsigned(uint64_t(sum));
    else
      result.lane[l] = U(sum);
  });
  storeResult(I, w, result.lane, writeMask(I, w));
}

} // namespace

void registerVectorInteger(SemanticsTable &t) {
  addInt<1>(t, "v_mov_b32", [](U a) { return a; });
  addInt<1>(t, "v_not_b32", [](U a) { return ~a; });
  addInt<1>(t, "v_bfrev_b32", [](U a) { return reverse(a); });
  addInt<1>(t, "v_ffbh_u32", [](U a) { return leadingZeros(a); });
  addInt<1>(t, "v_ffbl_b32", [](U a) { return trailingZeros(a); });
  addInt<1>(t, "v_ffbh_i32", [](U a) {
    U folded = a ^ U(int32_t(a) >> 31);
    return folded ? U(__builtin_clz(folded)) : ~0u;
  });
  addInt<1>(t, "v_prng_b32",
            [](U a) { return a << 1 ^ (a >> 31 ? 197u : 0u); });
  for (const char *name :
       {"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"})
    addInt<1>(t, name, [](U a) { return a; });
  t.add("v_nop", nothing, AllEncodings);
  t.add("v_clrexcp", nothing);
  t.add("v_mov_b64", move64,
        unsigned(Encoding::Plain) | unsigned(Encoding::Dpp));
  t.add("v_swap_b32", swap);

  addInt<2>(
      t, "v_add_u32", [](U a, U b) { return a + b; },
      [](U a, U b) { return saturateAdd(a, b); });
  addInt<2>(
      t, "v_sub_u32", [](U a, U b) { return a - b; },
      [](U a, U b) { return saturateSub(a, b); });
  addInt<2>(
      t, "v_subrev_u32", [](U a, U b) { return b - a; },
      [](U a, U b) { return saturateSub(b, a); });
  addInt<2>(
      t, "v_add_i32", [](U a, U b) { return a + b; },
      [](U a, U b) {
        return saturateSigned(int64_t(int32_t(a)) + int32_t(b));
      });
  addInt<2>(
      t, "v_sub_i32", [](U a, U b) { return a - b; },
      [](U a, U b) {
        return saturateSigned(int64_t(int32_t(a)) - int32_t(b));
      });
  addInt<2>(t, "v_and_b32", [](U a, U b) { return a & b; });
  addInt<2>(t, "v_or_b32", [](U a, U b) { return a | b; });
  addInt<2>(t, "v_xor_b32", [](U a, U b) { return a ^ b; });
  addInt<2>(t, "v_xnor_b32", [](U a, U b) { return ~(a ^ b); });
  addInt<2>(t, "v_lshlrev_b32", [](U a, U b) { return b << (a & 31); });
  addInt<2>(t, "v_lshrrev_b32", [](U a, U b) { return b >> (a & 31); });
  addInt<2>(t, "v_ashrrev_i32",
            [](U a, U b) { return U(int32_t(b) >> (a & 31)); });
  addInt<2>(t, "v_min_u32", [](U a, U b) { return a < b ? a : b; });
  addInt<2>(t, "v_max_u32", [](U a, U b) { return a > b ? a : b; });
  addInt<2>(t, "v_min_i32",
            [](U a, U b) { return int32_t(a) < int32_t(b) ? a : b; });
  addInt<2>(t, "v_max_i32",
            [](U a, U b) { return int32_t(a) > int32_t(b) ? a : b; });
  addInt<2>(t, "v_mul_lo_u32", [](U a, U b) { return a * b; });
  addInt<2>(t, "v_mul_hi_u32",
            [](U a, U b) { return U(uint64_t(a) * b >> 32); });
  addInt<2>(t, "v_mul_hi_i32", [](U a, U b) {
    return U(uint64_t(int64_t(int32_t(a)) * int32_t(b)) >> 32);
  });
  addInt<2>(
      t, "v_mul_u32_u24", [](U a, U b) { return u24(a) * u24(b); },
      [](U a, U b) { return saturateUnsigned(uint64_t(u24(a)) * u24(b)); });
  addInt<2>(
      t, "v_mul_i32_i24", [](U a, U b) { return U(s24(a)) * U(s24(b)); },
      [](U a, U b) { return saturateSigned(int64_t(s24(a)) * s24(b)); });
  addInt<2>(t, "v_mul_hi_u32_u24",
            [](U a, U b) { return U(uint64_t(u24(a)) * u24(b) >> 32); });
  addInt<2>(t, "v_mul_hi_i32_i24", [](U a, U b) {
    return U(uint64_t(int64_t(s24(a)) * s24(b)) >> 32);
  });
  addInt<2>(t, "v_bfm_b32",
            [](U a, U b) { return (((1u << (a & 31)) - 1) << (b & 31)); });
  addInt<2>(t, "v_bcnt_u32_b32", [](U a, U b) { return bits(a) + b; });
  addInt<2>(t, "v_cvt_pk_u16_u32", [](U a, U b) {
    return (a > 0xffff ? 0xffffu : a) | (b > 0xffff ? 0xffffu : b) << 16;
  });
  addInt<2>(t, "v_cvt_pk_i16_i32", [](U a, U b) {
    return (saturate16(int32_t(a), true) & 0xffff) |
           saturate16(int32_t(b), true) << 16;
  });
  t.add("v_mbcnt_lo_u32_b32", maskedCount<0>, AllEncodings);
  t.add("v_mbcnt_hi_u32_b32", maskedCount<1>, AllEncodings);
  t.addBinder("v_cndmask_b32", bindConditional);

  addInt<3>(t, "v_add3_u32", [](U a, U b, U c) { return a + b + c; });
  addInt<3>(t, "v_lshl_add_u32",
            [](U a, U b, U c) { return (a << (b & 31)) + c; });
  addInt<3>(t, "v_add_lshl_u32",
            [](U a, U b, U c) { return (a + b) << (c & 31); });
  addInt<3>(t, "v_lshl_or_b32",
            [](U a, U b, U c) { return a << (b & 31) | c; });
  addInt<3>(t, "v_and_or_b32", [](U a, U b, U c) { return (a & b) | c; });
  addInt<3>(t, "v_or3_b32", [](U a, U b, U c) { return a | b | c; });
  addInt<3>(t, "v_xad_u32", [](U a, U b, U c) { return (a ^ b) + c; });
  addInt<3>(t, "v_bfi_b32", [](U a, U b, U c) { return (a & b) | (~a & c); });
  addInt<3>(t, "v_bfe_u32", [](U a, U b, U c) {
    return a >> (b & 31) & ((1u << (c & 31)) - 1);
  });
  addInt<3>(t, "v_bfe_i32", [](U a, U b, U c) {
    U width = c & 31;
    U field = U(int32_t(a) >> (b & 31));
    return width ? U(int32_t(field << (32 - width)) >> (32 - width)) : 0u;
  });
  addInt<3>(t, "v_alignbit_b32", [](U a, U b, U c) {
    return U((uint64_t(a) << 32 | b) >> (c & 31));
  });
  addInt<3>(t, "v_alignbyte_b32", [](U a, U b, U c) {
    return U((uint64_t(a) << 32 | b) >> (8 * (c & 3)));
  });
  addInt<3>(t, "v_perm_b32", [](U a, U b, U c) {
    uint64_t data = uint64_t(a) << 32 | b;
    return permuteByte(data, c) | permuteByte(data, c >> 8) << 8 |
           permuteByte(data, c >> 16) << 16 | permuteByte(data, c >> 24) << 24;
  });
  addInt<3>(
      t, "v_mad_u32_u24", [](U a, U b, U c) { return u24(a) * u24(b) + c; },
      [](U a, U b, U c) {
        return saturateUnsigned(uint64_t(u24(a)) * u24(b) + c);
      });
  addInt<3>(
      t, "v_mad_i32_i24",
      [](U a, U b, U c) { return U(s24(a)) * U(s24(b)) + c; },
      [](U a, U b, U c) {
        return saturateSigned(int64_t(s24(a)) * s24(b) + int32_t(c));
      });
  addInt<3>(t, "v_min3_u32", [](U a, U b, U c) {
    U d = a < b ? a : b;
    return d < c ? d : c;
  });
  addInt<3>(t, "v_max3_u32", [](U a, U b, U c) {
    U d = a > b ? a : b;
    return d > c ? d : c;
  });
  addInt<3>(t, "v_min3_i32", [](U a, U b, U c) {
    int32_t d = int32_t(a) < int32_t(b) ? int32_t(a) : int32_t(b);
    return U(d < int32_t(c) ? d : int32_t(c));
  });
  addInt<3>(t, "v_max3_i32", [](U a, U b, U c) {
    int32_t d = int32_t(a) > int32_t(b) ? int32_t(a) : int32_t(b);
    return U(d > int32_t(c) ? d : int32_t(c));
  });
  addInt<3>(t, "v_med3_u32", [](U a, U b, U c) {
    U low = a < b ? a : b, high = a < b ? b : a;
    U cut = c < high ? c : high;
    return cut > low ? cut : low;
  });
  addInt<3>(t, "v_med3_i32", [](U a, U b, U c) {
    int32_t x = int32_t(a), y = int32_t(b), z = int32_t(c);
    int32_t low = x < y ? x : y, high = x < y ? y : x;
    int32_t cut = z < high ? z : high;
    return U(cut > low ? cut : low);
  });
  addInt<3>(
      t, "v_sad_u8", [](U a, U b, U c) { return sadBytes(a, b, c, false); },
      [](U a, U b, U c) {
        return saturateUnsigned(uint64_t(sadBytes(a, b, 0, false)) + c);
      });
  addInt<3>(
      t, "v_sad_hi_u8",
      [](U a, U b, U c) { return (sadBytes(a, b, 0, false) << 16) + c; },
      [](U a, U b, U c) {
        return saturateUnsigned((uint64_t(sadBytes(a, b, 0, false)) << 16) + c);
      });
  addInt<3>(
      t, "v_msad_u8", [](U a, U b, U c) { return sadBytes(a, b, c, true); },
      [](U a, U b, U c) {
        return saturateUnsigned(uint64_t(sadBytes(a, b, 0, true)) + c);
      });
  addInt<3>(
      t, "v_sad_u16",
      [](U a, U b, U c) {
        return absdiff(a & 0xffff, b & 0xffff) + absdiff(a >> 16, b >> 16) + c;
      },
      [](U a, U b, U c) {
        return saturateUnsigned(uint64_t(c) + absdiff(a & 0xffff, b & 0xffff) +
                                absdiff(a >> 16, b >> 16));
      });
  addInt<3>(
      t, "v_sad_u32", [](U a, U b, U c) { return absdiff(a, b) + c; },
      [](U a, U b, U c) {
        return saturateUnsigned(uint64_t(absdiff(a, b)) + c);
      });
  addInt<3>(t, "v_lerp_u8", [](U a, U b, U c) {
    U r = 0;
    for (unsigned i = 0; i < 32; i += 8)
      r |= ((a >> i & 0xff) + (b >> i & 0xff) + (c >> i & 1)) >> 1 << i;
    return r;
  });
  t.add("v_bitop3_b32", bitop3);
  t.add("v_bitop3_b16", bitop3Half);

  t.add("v_add_co_u32", carrying<addCarry, false>, AllEncodings);
  t.add("v_sub_co_u32", carrying<subCarry, false>, AllEncodings);
  t.add("v_subrev_co_u32", carrying<subrevCarry, false>, AllEncodings);
  t.add("v_addc_co_u32", carrying<addCarry, true>, AllEncodings);
  t.add("v_subb_co_u32", carrying<subCarry, true>, AllEncodings);
  t.add("v_subbrev_co_u32", carrying<subrevCarry, true>, AllEncodings);

  t.add("v_lshlrev_b64", shift64<shiftLeft>);
  t.add("v_lshrrev_b64", shift64<shiftRight>);
  t.add("v_ashrrev_i64", shift64<shiftArithmetic>);
  t.add("v_lshl_add_u64", lshlAdd64);
  t.add("v_mad_u64_u32", mad64<false>);
  t.add("v_mad_i64_i32", mad64<true>);
  t.add("v_qsad_pk_u16_u8", quadSad<false, false>);
  t.add("v_mqsad_pk_u16_u8", quadSad<true, false>);
  t.add("v_mqsad_u32_u8", quadSad<true, true>);

  t.add("v_dot2_i32_i16", dotInt<16, true, false>);
  t.add("v_dot2_u32_u16", dotInt<16, false, false>);
  t.add("v_dot4_i32_i8", dotInt<8, true, false>);
  t.add("v_dot4_u32_u8", dotInt<8, false, false>);
  t.add("v_dot8_i32_i4", dotInt<4, true, false>);
  t.add("v_dot8_u32_u4", dotInt<4, false, false>);
  t.add("v_dot2c_i32_i16", dotInt<16, true, true>);
  t.add("v_dot4c_i32_i8", dotInt<8, true, true>);
  t.add("v_dot8c_i32_i4", dotInt<4, true, true>);

  addInt16<2>(
      t, "v_add_u16", [](U a, U b) { return a + b; },
      [](U a, U b) { return saturate16(int64_t(a) + b, false); });
  addInt16<2>(
      t, "v_sub_u16", [](U a, U b) { return a - b; },
      [](U a, U b) { return saturate16(int64_t(a) - b, false); });
  addInt16<2>(
      t, "v_subrev_u16", [](U a, U b) { return b - a; },
      [](U a, U b) { return saturate16(int64_t(b) - a, false); });
  addInt16<2>(
      t, "v_add_i16", [](U a, U b) { return a + b; },
      [](U a, U b) { return saturate16(s16(a) + s16(b), true); });
  addInt16<2>(
      t, "v_sub_i16", [](U a, U b) { return a - b; },
      [](U a, U b) { return saturate16(s16(a) - s16(b), true); });
  addInt16<2>(
      t, "v_mul_lo_u16", [](U a, U b) { return a * b; },
      [](U a, U b) { return saturate16(int64_t(a) * b, false); });
  addInt16<2>(t, "v_lshlrev_b16", [](U a, U b) { return b << (a & 15); });
  addInt16<2>(t, "v_lshrrev_b16", [](U a, U b) { return b >> (a & 15); });
  addInt16<2>(t, "v_ashrrev_i16",
              [](U a, U b) { return U(s16(b) >> (a & 15)); });
  addInt16<2>(t, "v_min_u16", [](U a, U b) { return a < b ? a : b; });
  addInt16<2>(t, "v_max_u16", [](U a, U b) { return a > b ? a : b; });
  addInt16<2>(t, "v_min_i16", [](U a, U b) { return s16(a) < s16(b) ? a : b; });
  addInt16<2>(t, "v_max_i16", [](U a, U b) { return s16(a) > s16(b) ? a : b; });
  addInt16<3, true>(
      t, "v_mad_u16", [](U a, U b, U c) { return a * b + c; },
      [](U a, U b, U c) { return saturate16(int64_t(a) * b + c, false); });
  addInt16<3, true>(
      t, "v_mad_i16", [](U a, U b, U c) { return a * b + c; },
      [](U a, U b, U c) {
        return saturate16(int64_t(s16(a)) * s16(b) + s16(c), true);
      });
  addInt16<3>(
      t, "v_mad_legacy_u16", [](U a, U b, U c) { return a * b + c; },
      [](U a, U b, U c) { return saturate16(int64_t(a) * b + c, false); });
  addInt16<3>(
      t, "v_mad_legacy_i16", [](U a, U b, U c) { return a * b + c; },
      [](U a, U b, U c) {
        return saturate16(int64_t(s16(a)) * s16(b) + s16(c), true);
      });
  addInt16<3>(t, "v_min3_u16", [](U a, U b, U c) {
    U d = a < b ? a : b;
    return d < c ? d : c;
  });
  addInt16<3>(t, "v_max3_u16", [](U a, U b, U c) {
    U d = a > b ? a : b;
    return d > c ? d : c;
  });
  addInt16<3>(t, "v_min3_i16", [](U a, U b, U c) {
    U d = s16(a) < s16(b) ? a : b;
    return s16(d) < s16(c) ? d : c;
  });
  addInt16<3>(t, "v_max3_i16", [](U a, U b, U c) {
    U d = s16(a) > s16(b) ? a : b;
    return s16(d) > s16(c) ? d : c;
  });
  addInt16<3>(t, "v_med3_u16", [](U a, U b, U c) {
    U low = a < b ? a : b, high = a < b ? b : a, cut = c < high ? c : high;
    return cut > low ? cut : low;
  });
  addInt16<3>(t, "v_med3_i16", [](U a, U b, U c) {
    int32_t x = s16(a), y = s16(b), z = s16(c);
    int32_t low = x < y ? x : y, high = x < y ? y : x;
    int32_t cut = z < high ? z : high;
    return U(cut > low ? cut : low);
  });
  addInt<1>(t, "v_sat_pk_u8_i16", [](U a) {
    return saturateByte(int16_t(a), 0, 255) |
           saturateByte(int16_t(a >> 16), 0, 255) << 8;
  });
  t.add("v_mad_u32_u16", mad16<false>);
  t.add("v_mad_i32_i16", mad16<true>);
  t.add("v_pack_b32_f16", pack16);
  t.add("v_ashr_pk_i8_i32", shiftPack<-128, 127>);
  t.add("v_ashr_pk_u8_i32", shiftPack<0, 255>);
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
