//===- ScalarAlu.cpp - scalar ALU instructions ----------------------------===//
// SPDX-License-Identifier: MIT
#include "Semantics.h"
#include "Wave.h"

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;
using UL = uint64_t;

/// Scalar operations of one word (U) or two (UL).
template <typename T>
NETRA_SIM_INLINE T read(const Wave &w, const Operand &op) {
  if constexpr (sizeof(T) == 8)
    return w.scalar64(op);
  else
    return w.scalar32(op);
}
template <typename T>
NETRA_SIM_INLINE void write(Wave &w, const Operand &op, T value) {
  if constexpr (sizeof(T) == 8)
    w.setScalar64(op, value);
  else
    w.setScalar32(op, value);
}

/// What an instruction does to SCC.
enum class Scc : uint8_t { Keep, NonZero };

template <typename F, typename T, Scc S>
void unary(const Instruction &I, Wave &w) {
  auto r = F{}(read<T>(w, I.src(0)));
  write<decltype(r)>(w, I.dst(), r);
  if constexpr (S == Scc::NonZero)
    w.scc = r != 0;
}
template <typename T, Scc S, typename F>
void addUnary(SemanticsTable &t, const char *name, F) {
  t.add(name, unary<F, T, S>);
}

template <typename F, typename T, Scc S>
void binary(const Instruction &I, Wave &w) {
  T r = F{}(read<T>(w, I.src(0)), read<T>(w, I.src(1)));
  write<T>(w, I.dst(), r);
  if constexpr (S == Scc::NonZero)
    w.scc = r != 0;
}
template <typename T, Scc S, typename F>
void addBinary(SemanticsTable &t, const char *name, F) {
  t.add(name, binary<F, T, S>);
}
/// The 32- and the 64-bit form of one bitwise operation.
template <typename F>
void addBitwise(SemanticsTable &t, const std::string &name, F) {
  t.add(name + "_b32", binary<F, U, Scc::NonZero>);
  t.add(name + "_b64", binary<F, UL, Scc::NonZero>);
}

/// \p F gives the value and SCC.
struct Flagged {
  U value;
  bool scc;
};
template <typename F> void flagged(const Instruction &I, Wave &w) {
  Flagged r = F{}(w.scalar32(I.src(0)), w.scalar32(I.src(1)), w.scc);
  w.setScalar32(I.dst(), r.value);
  w.scc = r.scc;
}
template <typename F> void addFlagged(SemanticsTable &t, const char *name, F) {
  t.add(name, flagged<F>);
}

/// A shift whose amount is one word.
template <typename F, typename T> void shift(const Instruction &I, Wave &w) {
  T r = F{}(read<T>(w, I.src(0)), w.scalar32(I.src(1)));
  write<T>(w, I.dst(), r);
  w.scc = r != 0;
}
template <typename T, typename F>
void addShift(SemanticsTable &t, const char *name, F) {
  t.add(name, shift<F, T>);
}

template <typename F, typename T> void compare(const Instruction &I, Wave &w) {
  w.scc = F{}(read<T>(w, I.ops[0]), read<T>(w, I.ops[1]));
}
template <typename T, typename F>
void addCompare(SemanticsTable &t, const std::string &name, F) {
  t.add(name, compare<F, T>);
}

/// The 16-bit immediate of a SOPK instruction: an operand if the decoder made
/// it one, the immediate field otherwise.
U immediate16(const Instruction &I, const Wave &w) {
  for (unsigned k = I.numOps; k-- > 0;)
    if (I.ops[k].isConstant())
      return U(I.ops[k].value);
  return U(I.imm);
}
template <typename F, bool Signed>
void compareImmediate(const Instruction &I, Wave &w) {
  U k = immediate16(I, w);
  k = Signed ? U(int32_t(int16_t(k))) : k & 0xffff;
  w.scc = F{}(w.scalar32(I.ops[0]), k);
}
template <bool Signed, typename F>
void addCompareImmediate(SemanticsTable &t, const std::string &name, F) {
  t.add(name, compareImmediate<F, Signed>);
}

template <typename F> void saveExec(const Instruction &I, Wave &w) {
  const UL old = w.exec(), value = F{}(w.scalar64(I.src(0)), old);
  w.setExec(value);
  w.setScalar64(I.dst(), old);
  w.scc = value != 0;
}
template <typename F> void addSaveExec(SemanticsTable &t, const char *name, F) {
  t.add(name, saveExec<F>);
}
/// The result goes to both EXEC and the destination.
template <typename F> void writeExec(const Instruction &I, Wave &w) {
  const UL value = F{}(w.scalar64(I.src(0)), w.exec());
  w.setExec(value);
  w.setScalar64(I.dst(), value);
  w.scc = value != 0;
}

template <typename T> T wholeQuads(T v) {
  v |= v >> 1 & T(0x7777777777777777);
  v |= v >> 2 & T(0x3333333333333333);
  v &= T(0x1111111111111111);
  return v * 15;
}
template <typename T> T quadMask(T v) {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 2; ++i)
    r |= T((v >> (4 * i) & 15) != 0) << i;
  return r;
}
template <typename T> T reverseBits(T v) {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i)
    r |= (v >> i & 1) << (sizeof(T) * 8 - 1 - i);
  return r;
}
U onesOf(UL v) { return U(__builtin_popcountll(v)); }
U firstOne(UL v) { return v ? U(__builtin_ctzll(v)) : ~0u; }
U leading(UL v, unsigned bits) {
  return v ? U(__builtin_clzll(v)) - (64 - bits) : ~0u;
}
/// Bits of one field, zero- or sign-extended; a width beyond the value's end
/// takes what there is.
template <typename T, bool Signed> T extract(T v, U spec) {
  constexpr unsigned bits = sizeof(T) * 8;
  const unsigned offset = spec & (bits - 1), width = spec >> 16 & 0x7f;
  if (width == 0)
    return 0;
  using S = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  T field = Signed ? T(S(v) >> offset) : v >> offset;
  if (width >= bits)
    return field;
  field <<= bits - width;
  return Signed ? T(S(field) >> (bits - width)) : field >> (bits - width);
}
template <typename T, bool Signed>
void fieldExtract(const Instruction &I, Wave &w) {
  T r = extract<T, Signed>(read<T>(w, I.src(0)), w.scalar32(I.src(1)));
  write<T>(w, I.dst(), r);
  w.scc = r != 0;
}

template <typename T> void select(const Instruction &I, Wave &w) {
  write<T>(w, I.dst(), read<T>(w, I.src(w.scc ? 0 : 1)));
}
template <typename T> void conditionalMove(const Instruction &I, Wave &w) {
  if (w.scc)
    write<T>(w, I.dst(), read<T>(w, I.src(0)));
}
template <typename T, bool Set> void bitSet(const Instruction &I, Wave &w) {
  const T bit = T(1) << (w.scalar32(I.src(0)) & (sizeof(T) * 8 - 1));
  T old = read<T>(w, I.dst());
  write<T>(w, I.dst(), Set ? old | bit : old & ~bit);
}
template <typename T, bool One> void bitCompare(const Instruction &I, Wave &w) {
  const unsigned at = w.scalar32(I.ops[1]) & (sizeof(T) * 8 - 1);
  w.scc = ((read<T>(w, I.ops[0]) >> at & 1) != 0) == One;
}
template <typename T> void bitMask(const Instruction &I, Wave &w) {
  constexpr unsigned m = sizeof(T) * 8 - 1;
  const unsigned width = w.scalar32(I.src(0)) & m,
                 offset = w.scalar32(I.src(1)) & m;
  write<T>(w, I.dst(), ((T(1) << width) - 1) << offset);
}

/// s_movrels and s_movreld: M0 is added to one register number.
template <typename T, bool Source>
void relativeMove(const Instruction &I, Wave &w) {
  Operand from = I.ops[1], to = I.ops[0];
  Operand &moved = Source ? from : to;
  const unsigned index = moved.index + w.m0();
  if (moved.index > 101 || w.m0() > 101 || index + sizeof(T) / 4 - 1 > 101)
    return w.fail("M0 moves the register number out of s0..s101");
  moved.index = uint16_t(index);
  write<T>(w, to, read<T>(w, from));
}

void moveImmediate(const Instruction &I, Wave &w) {
  w.setScalar32(I.dst(), U(int32_t(int16_t(immediate16(I, w)))));
}
void conditionalMoveImmediate(const Instruction &I, Wave &w) {
  if (w.scc)
    moveImmediate(I, w);
}
void addImmediate(const Instruction &I, Wave &w) {
  const int32_t old = int32_t(w.scalar32(I.dst()));
  const int32_t k = int16_t(immediate16(I, w));
  int32_t sum;
  w.scc = __builtin_add_overflow(old, k, &sum);
  w.setScalar32(I.dst(), U(sum));
}
void multiplyImmediate(const Instruction &I, Wave &w) {
  w.setScalar32(I.dst(),
                w.scalar32(I.dst()) * U(int32_t(int16_t(immediate16(I, w)))));
}

/// Of two equal values the minimum is the second, the maximum the first.
template <typename T, bool Less> Flagged extremum(U a, U b) {
  const bool first = Less ? T(a) < T(b) : T(a) >= T(b);
  return {first ? a : b, first};
}
Flagged shiftAdd(U a, U b, unsigned by) {
  const UL sum = (UL(a) << by) + b;
  return {U(sum), sum > ~0u};
}

/// The six comparisons of one type, under the names the ISA gives them.
template <typename T, typename Word, typename Add>
void addComparisons(const char *type, bool longNames, Add add) {
  const std::string suffix = std::string("_") + type;
  add("eq" + suffix, [](Word a, Word b) { return a == b; });
  add("lg" + suffix, [](Word a, Word b) { return a != b; });
  if (!longNames)
    return;
  add("gt" + suffix, [](Word a, Word b) { return T(a) > T(b); });
  add("ge" + suffix, [](Word a, Word b) { return T(a) >= T(b); });
  add("lt" + suffix, [](Word a, Word b) { return T(a) < T(b); });
  add("le" + suffix, [](Word a, Word b) { return T(a) <= T(b); });
}

} // namespace

void registerScalarAlu(SemanticsTable &t) {
  constexpr auto keep = Scc::Keep;
  constexpr auto nonZero = Scc::NonZero;
  addUnary<U, keep>(t, "s_mov_b32", [](U a) { return a; });
  addUnary<UL, keep>(t, "s_mov_b64", [](UL a) { return a; });
  addUnary<U, nonZero>(t, "s_not_b32", [](U a) { return ~a; });
  addUnary<UL, nonZero>(t, "s_not_b64", [](UL a) { return ~a; });
  addUnary<U, nonZero>(t, "s_wqm_b32", [](U a) { return wholeQuads(a); });
  addUnary<UL, nonZero>(t, "s_wqm_b64", [](UL a) { return wholeQuads(a); });
  addUnary<U, nonZero>(t, "s_quadmask_b32", [](U a) { return quadMask(a); });
  addUnary<UL, nonZero>(t, "s_quadmask_b64", [](UL a) { return quadMask(a); });
  addUnary<U, keep>(t, "s_brev_b32", [](U a) { return reverseBits(a); });
  addUnary<UL, keep>(t, "s_brev_b64", [](UL a) { return reverseBits(a); });
  addUnary<U, nonZero>(t, "s_bcnt0_i32_b32", [](U a) { return onesOf(U(~a)); });
  addUnary<UL, nonZero>(t, "s_bcnt0_i32_b64", [](UL a) { return onesOf(~a); });
  addUnary<U, nonZero>(t, "s_bcnt1_i32_b32", [](U a) { return onesOf(a); });
  addUnary<UL, nonZero>(t, "s_bcnt1_i32_b64", [](UL a) { return onesOf(a); });
  addUnary<U, keep>(t, "s_ff0_i32_b32", [](U a) { return firstOne(U(~a)); });
  addUnary<UL, keep>(t, "s_ff0_i32_b64", [](UL a) { return firstOne(~a); });
  addUnary<U, keep>(t, "s_ff1_i32_b32", [](U a) { return firstOne(a); });
  addUnary<UL, keep>(t, "s_ff1_i32_b64", [](UL a) { return firstOne(a); });
  addUnary<U, keep>(t, "s_flbit_i32_b32", [](U a) { return leading(a, 32); });
  addUnary<UL, keep>(t, "s_flbit_i32_b64", [](UL a) { return leading(a, 64); });
  addUnary<U, keep>(t, "s_flbit_i32",
                    [](U a) { return leading(a ^ U(int32_t(a) >> 31), 32); });
  addUnary<UL, keep>(t, "s_flbit_i32_i64", [](UL a) {
    return leading(a ^ UL(int64_t(a) >> 63), 64);
  });
  addUnary<U, keep>(t, "s_sext_i32_i8",
                    [](U a) { return U(int32_t(int8_t(a))); });
  addUnary<U, keep>(t, "s_sext_i32_i16",
                    [](U a) { return U(int32_t(int16_t(a))); });
  addUnary<U, nonZero>(t, "s_abs_i32",
                       [](U a) { return int32_t(a) < 0 ? 0 - a : a; });
  addUnary<U, keep>(t, "s_bitreplicate_b64_b32", [](U a) {
    UL r = 0;
    for (unsigned i = 0; i < 32; ++i)
      r |= UL(a >> i & 1) * 3 << (2 * i);
    return r;
  });

  addBitwise(t, "s_and", [](auto a, auto b) { return a & b; });
  addBitwise(t, "s_or", [](auto a, auto b) { return a | b; });
  addBitwise(t, "s_xor", [](auto a, auto b) { return a ^ b; });
  addBitwise(t, "s_andn2", [](auto a, auto b) { return a & ~b; });
  addBitwise(t, "s_orn2", [](auto a, auto b) { return a | ~b; });
  addBitwise(t, "s_nand", [](auto a, auto b) { return ~(a & b); });
  addBitwise(t, "s_nor", [](auto a, auto b) { return ~(a | b); });
  addBitwise(t, "s_xnor", [](auto a, auto b) { return ~(a ^ b); });

  addShift<U>(t, "s_lshl_b32", [](U a, U b) { return a << (b & 31); });
  addShift<UL>(t, "s_lshl_b64", [](UL a, U b) { return a << (b & 63); });
  addShift<U>(t, "s_lshr_b32", [](U a, U b) { return a >> (b & 31); });
  addShift<UL>(t, "s_lshr_b64", [](UL a, U b) { return a >> (b & 63); });
  addShift<U>(t, "s_ashr_i32",
              [](U a, U b) { return U(int32_t(a) >> (b & 31)); });
  addShift<UL>(t, "s_ashr_i64",
               [](UL a, U b) { return UL(int64_t(a) >> (b & 63)); });
  t.add("s_bfm_b32", bitMask<U>);
  t.add("s_bfm_b64", bitMask<UL>);
  t.add("s_bfe_u32", fieldExtract<U, false>);
  t.add("s_bfe_i32", fieldExtract<U, true>);
  t.add("s_bfe_u64", fieldExtract<UL, false>);
  t.add("s_bfe_i64", fieldExtract<UL, true>);

  addBinary<U, keep>(t, "s_mul_i32", [](U a, U b) { return a * b; });
  addBinary<U, keep>(t, "s_mul_hi_u32",
                     [](U a, U b) { return U(UL(a) * b >> 32); });
  addBinary<U, keep>(t, "s_mul_hi_i32", [](U a, U b) {
    return U(UL(int64_t(int32_t(a)) * int32_t(b)) >> 32);
  });
  addBinary<U, keep>(t, "s_pack_ll_b32_b16",
                     [](U a, U b) { return (a & 0xffff) | b << 16; });
  addBinary<U, keep>(t, "s_pack_lh_b32_b16",
                     [](U a, U b) { return (a & 0xffff) | (b & 0xffff0000); });
  addBinary<U, keep>(t, "s_pack_hh_b32_b16",
                     [](U a, U b) { return a >> 16 | (b & 0xffff0000); });
  addBinary<U, nonZero>(t, "s_absdiff_i32", [](U a, U b) {
    U d = a - b;
    return int32_t(d) < 0 ? 0 - d : d;
  });

  addFlagged(t, "s_add_u32",
             [](U a, U b, bool) { return Flagged{a + b, a + b < a}; });
  addFlagged(t, "s_sub_u32",
             [](U a, U b, bool) { return Flagged{a - b, b > a}; });
  addFlagged(t, "s_add_i32", [](U a, U b, bool) {
    int32_t r;
    bool over = __builtin_add_overflow(int32_t(a), int32_t(b), &r);
    return Flagged{U(r), over};
  });
  addFlagged(t, "s_sub_i32", [](U a, U b, bool) {
    int32_t r;
    bool over = __builtin_sub_overflow(int32_t(a), int32_t(b), &r);
    return Flagged{U(r), over};
  });
  addFlagged(t, "s_addc_u32", [](U a, U b, bool c) {
    const UL sum = UL(a) + b + c;
    return Flagged{U(sum), sum > ~0u};
  });
  addFlagged(t, "s_subb_u32", [](U a, U b, bool c) {
    return Flagged{a - b - c, UL(b) + c > a};
  });
  addFlagged(t, "s_min_i32",
             [](U a, U b, bool) { return extremum<int32_t, true>(a, b); });
  addFlagged(t, "s_min_u32",
             [](U a, U b, bool) { return extremum<U, true>(a, b); });
  addFlagged(t, "s_max_i32",
             [](U a, U b, bool) { return extremum<int32_t, false>(a, b); });
  addFlagged(t, "s_max_u32",
             [](U a, U b, bool) { return extremum<U, false>(a, b); });
  addFlagged(t, "s_lshl1_add_u32",
             [](U a, U b, bool) { return shiftAdd(a, b, 1); });
  addFlagged(t, "s_lshl2_add_u32",
             [](U a, U b, bool) { return shiftAdd(a, b, 2); });
  addFlagged(t, "s_lshl3_add_u32",
             [](U a, U b, bool) { return shiftAdd(a, b, 3); });
  addFlagged(t, "s_lshl4_add_u32",
             [](U a, U b, bool) { return shiftAdd(a, b, 4); });

  t.add("s_cselect_b32", select<U>);
  t.add("s_cselect_b64", select<UL>);
  t.add("s_cmov_b32", conditionalMove<U>);
  t.add("s_cmov_b64", conditionalMove<UL>);
  t.add("s_bitset0_b32", bitSet<U, false>);
  t.add("s_bitset1_b32", bitSet<U, true>);
  t.add("s_bitset0_b64", bitSet<UL, false>);
  t.add("s_bitset1_b64", bitSet<UL, true>);
  t.add("s_bitcmp0_b32", bitCompare<U, false>);
  t.add("s_bitcmp1_b32", bitCompare<U, true>);
  t.add("s_bitcmp0_b64", bitCompare<UL, false>);
  t.add("s_bitcmp1_b64", bitCompare<UL, true>);
  t.add("s_movrels_b32", relativeMove<U, true>);
  t.add("s_movrels_b64", relativeMove<UL, true>);
  t.add("s_movreld_b32", relativeMove<U, false>);
  t.add("s_movreld_b64", relativeMove<UL, false>);

  t.add("s_movk_i32", moveImmediate);
  t.add("s_cmovk_i32", conditionalMoveImmediate);
  t.add("s_addk_i32", addImmediate);
  t.add("s_mulk_i32", multiplyImmediate);

  auto compare32 = [&](const std::string &name, auto f) {
    addCompare<U>(t, "s_cmp_" + name, f);
  };
  addComparisons<U, U>("u32", true, compare32);
  addComparisons<int32_t, U>("i32", true, compare32);
  addComparisons<UL, UL>("u64", false, [&](const std::string &name, auto f) {
    addCompare<UL>(t, "s_cmp_" + name, f);
  });
  addComparisons<U, U>("u32", true, [&](const std::string &name, auto f) {
    addCompareImmediate<false>(t, "s_cmpk_" + name, f);
  });
  addComparisons<int32_t, U>("i32", true, [&](const std::string &name, auto f) {
    addCompareImmediate<true>(t, "s_cmpk_" + name, f);
  });

  addSaveExec(t, "s_and_saveexec_b64", [](UL a, UL e) { return a & e; });
  addSaveExec(t, "s_or_saveexec_b64", [](UL a, UL e) { return a | e; });
  addSaveExec(t, "s_xor_saveexec_b64", [](UL a, UL e) { return a ^ e; });
  addSaveExec(t, "s_andn2_saveexec_b64", [](UL a, UL e) { return a & ~e; });
  addSaveExec(t, "s_orn2_saveexec_b64", [](UL a, UL e) { return a | ~e; });
  addSaveExec(t, "s_nand_saveexec_b64", [](UL a, UL e) { return ~(a & e); });
  addSaveExec(t, "s_nor_saveexec_b64", [](UL a, UL e) { return ~(a | e); });
  addSaveExec(t, "s_xnor_saveexec_b64", [](UL a, UL e) { return ~(a ^ e); });
  addSaveExec(t, "s_andn1_saveexec_b64", [](UL a, UL e) { return ~a & e; });
  addSaveExec(t, "s_orn1_saveexec_b64", [](UL a, UL e) { return ~a | e; });
  constexpr auto n1 = [](UL a, UL e) { return ~a & e; };
  constexpr auto n2 = [](UL a, UL e) { return a & ~e; };
  t.add("s_andn1_wrexec_b64", writeExec<decltype(n1)>);
  t.add("s_andn2_wrexec_b64", writeExec<decltype(n2)>);
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
