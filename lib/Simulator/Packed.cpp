//===- Packed.cpp - packed (VOP3P) arithmetic -----------------------------===//
// SPDX-License-Identifier: MIT
#include "FloatLanes.h"
#include "HalfOps.h"
#include "LaneAlu.h"
#include "VectorAlu.h"

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;

//===----------------------------------------------------------------------===//
// Pairs of f32
//===----------------------------------------------------------------------===//

/// op_sel names the dword of each source for the low result, op_sel_hi for the
/// high one.
template <unsigned N> void pairF32(const Instruction &I, Wave &w) {
  LaneVector result[2];
  for (unsigned h = 0; h < 2; ++h) {
    LaneVector t[N];
    const uint32_t *source[N];
    const unsigned sel = h ? I.opSelHi : I.opSel, neg = h ? I.negHi : I.negLo;
    for (unsigned k = 0; k < N; ++k) {
      source[k] = w.lanes(I.src(k), sel >> k & 1, t[k]);
      if (neg >> k & 1) {
        const uint32_t *from = source[k];
        eachLane(w.laneCount,
                 [&](unsigned l) { t[k].lane[l] = from[l] ^ 0x80000000; });
        source[k] = t[k].lane;
      }
    }
    runSingle(I.kernel, w, N, source, result[h].lane);
    if (I.clamp)
      finishLanes(I, w.laneCount, floatEnv(w, true), result[h]);
  }
  w.writeLanes(I.dst(), 0, result[0].lane);
  w.writeLanes(I.dst(), 1, result[1].lane);
}

void moveB32(const Instruction &I, Wave &w) {
  LaneVector t0, t1, high;
  const uint32_t *a = w.lanes(I.src(0), I.opSel & 1, t0);
  const uint32_t *b = w.lanes(I.src(1), I.opSel >> 1 & 1, t1);
  // The destination may hold the other source.
  eachLane(w.laneCount, [&](unsigned l) { high.lane[l] = b[l]; });
  w.writeLanes(I.dst(), 0, a);
  w.writeLanes(I.dst(), 1, high.lane);
}

//===----------------------------------------------------------------------===//
// Pairs of 16 bits
//===----------------------------------------------------------------------===//

/// Half \p h of source \p k in every lane.
void half(const Instruction &I, Wave &w, unsigned k, unsigned h, bool isFloat,
          LaneVector &out) {
  const uint32_t *from = w.lanes(I.src(k), 0, out);
  const unsigned sel = h ? I.opSelHi : I.opSel, neg = h ? I.negHi : I.negLo;
  const unsigned shift = sel >> k & 1 ? 16 : 0;
  const U flip = isFloat && (neg >> k & 1) ? 0x8000 : 0;
  eachLane(w.laneCount, [&](unsigned l) {
    out.lane[l] = (from[l] >> shift & 0xffff) ^ flip;
  });
}

template <unsigned N, bool Tied = false>
void pairF16(const Instruction &I, Wave &w) {
  LaneVector result[2];
  const FloatEnv env = floatEnv(w, false);
  const unsigned n = w.laneCount;
  for (unsigned h = 0; h < 2; ++h) {
    LaneVector t[N];
    for (unsigned k = 0; k < N; ++k) {
      if (Tied) {
        const uint32_t *d = w.row(I.dst().index);
        LaneVector s;
        const uint32_t *from = k == N - 1 ? d : w.lanes(I.src(k), 0, s);
        eachLane(n, [&](unsigned l) {
          t[k].lane[l] = from[l] >> (16 * h) & 0xffff;
        });
      } else {
        half(I, w, k, h, true, t[k]);
      }
      if (env.flushInputs)
        eachLane(n, [&](unsigned l) { t[k].lane[l] = flush16(t[k].lane[l]); });
    }
    I.kernel(t[0].lane, t[N > 1 ? 1 : 0].lane, t[N > 2 ? 2 : 0].lane,
             result[h].lane, n, w.mode);
    for (unsigned l = 0; I.clamp && l < n; ++l)
      result[h].lane[l] = finishF16(result[h].lane[l], I, env);
  }
  eachLane(n,
           [&](unsigned l) { result[0].lane[l] |= result[1].lane[l] << 16; });
  storeWord(w, I.dst(), 0, result[0].lane, writeMask(I, w));
}
template <typename Op> void addPairF16(SemanticsTable &t, const char *name) {
  t.add(name, pairF16<Op::sources>).kernel = halfKernel<Op>;
}

template <unsigned N> void pairInt(const Instruction &I, Wave &w) {
  LaneVector result[2];
  const unsigned n = w.laneCount;
  for (unsigned h = 0; h < 2; ++h) {
    LaneVector t[N];
    for (unsigned k = 0; k < N; ++k)
      half(I, w, k, h, false, t[k]);
    I.kernel(t[0].lane, t[1].lane, t[N - 1].lane, result[h].lane, n, w.mode);
  }
  eachLane(n, [&](unsigned l) {
    result[0].lane[l] = (result[0].lane[l] & 0xffff) | result[1].lane[l] << 16;
  });
  w.writeLanes(I.dst(), 0, result[0].lane);
}
/// A pair of 16-bit integers; \p F gets them extended to words.
template <unsigned N, bool Signed, typename F>
Semantics &addPair(SemanticsTable &t, const char *name, F) {
  constexpr auto one = [](auto... v) {
    return U(F{}(Signed ? int32_t(int16_t(v)) : int32_t(v)...));
  };
  Semantics &added = t.add(name, pairInt<N>);
  added.kernel = wordKernel<decltype(one), N>;
  return added;
}
/// The clamp bit saturates what \p F gives in 64 bits.
template <unsigned N, bool Signed, typename F>
void addSaturatingPair(SemanticsTable &t, const char *name, F) {
  constexpr auto one = [](auto... v) {
    const int64_t r = F{}(Signed ? int64_t(int16_t(v)) : int64_t(v)...);
    constexpr int64_t low = Signed ? INT16_MIN : 0;
    constexpr int64_t high = Signed ? INT16_MAX : 0xffff;
    return U(r < low ? low : r > high ? high : r);
  };
  // Without clamp only the low half counts, which words give as well.
  constexpr auto wrapping = [](auto... v) {
    return F{}(Signed ? U(int16_t(v)) : U(v)...);
  };
  Semantics &added = t.add(name, pairInt<N>);
  added.kernel = wordKernel<decltype(wrapping), N>;
  added.clampKernel = wordKernel<decltype(one), N>;
}

//===----------------------------------------------------------------------===//
// Mixed precision
//===----------------------------------------------------------------------===//

enum class Mix : uint8_t { Single, Low, High };

/// fma of f32 and f16 sources: op_sel_hi marks f16, op_sel its half.
template <Mix M> void mixed(const Instruction &I, Wave &w) {
  LaneVector t[3], result;
  const FloatEnv env = floatEnv(w, true), env16 = floatEnv(w, false);
  for (unsigned k = 0; k < 3; ++k) {
    const uint32_t *from = w.lanes(I.src(k), 0, t[k]);
    const bool isHalf = I.opSelHi >> k & 1;
    const unsigned shift = I.opSel >> k & 1 ? 16 : 0;
    const bool negate = I.negLo >> k & 1, absolute = I.negHi >> k & 1;
    eachLane(w.laneCount, [&](unsigned l) {
      U v = from[l];
      if (isHalf) {
        U b = v >> shift & 0xffff;
        v = f32FromF16(env16.flushInputs ? flush16(b) : b);
      }
      v = absolute ? v & 0x7fffffff : v;
      t[k].lane[l] = negate ? v ^ 0x80000000 : v;
    });
  }
  const uint32_t *source[] = {t[0].lane, t[1].lane, t[2].lane};
  runSingle(I.kernel, w, 3, source, result.lane);
  if constexpr (M == Mix::Single) {
    for (unsigned l = 0; I.clamp && l < w.laneCount; ++l)
      result.lane[l] = finishF32(result.lane[l], 0, true, env);
  } else {
    const uint32_t *old = w.row(I.dst().index);
    for (unsigned l = 0; l < w.laneCount; ++l) {
      U r = result.lane[l];
      r = isNan32(r) ? U(convertFloat(formatF32, formatF16, r))
                     : roundToF16(env16, double(asFloat(r)));
      r = I.clamp ? finishF16(r, I, env16) : r;
      result.lane[l] = M == Mix::Low ? (old[l] & 0xffff0000) | r
                                     : (old[l] & 0xffff) | r << 16;
    }
  }
  w.writeLanes(I.dst(), 0, result.lane);
}

} // namespace

void registerPacked(SemanticsTable &t) {
  t.add("v_pk_fma_f32", pairF32<3>).kernel = floatKernel<FusedMultiplyAdd, 3>;
  t.add("v_pk_mul_f32", pairF32<2>).kernel = floatKernel<Multiply, 2>;
  t.add("v_pk_add_f32", pairF32<2>).kernel = floatKernel<Add, 2>;
  t.add("v_pk_mov_b32", moveB32);

  addPairF16<HalfFma>(t, "v_pk_fma_f16");
  addPairF16<HalfAdd>(t, "v_pk_add_f16");
  addPairF16<HalfMul>(t, "v_pk_mul_f16");
  addPairF16<HalfMin>(t, "v_pk_min_f16");
  addPairF16<HalfMax>(t, "v_pk_max_f16");
  addPairF16<HalfPropagate3<false>>(t, "v_pk_minimum3_f16");
  addPairF16<HalfPropagate3<true>>(t, "v_pk_maximum3_f16");
  t.add("v_pk_fmac_f16", pairF16<3, true>).kernel = halfKernel<HalfFma>;

  constexpr auto mad = [](auto a, auto b, auto c) { return a * b + c; };
  constexpr auto add = [](auto a, auto b) { return a + b; };
  constexpr auto sub = [](auto a, auto b) { return a - b; };
  addSaturatingPair<3, true>(t, "v_pk_mad_i16", mad);
  addSaturatingPair<3, false>(t, "v_pk_mad_u16", mad);
  addSaturatingPair<2, false>(t, "v_pk_mul_lo_u16",
                              [](auto a, auto b) { return a * b; });
  addSaturatingPair<2, true>(t, "v_pk_add_i16", add);
  addSaturatingPair<2, true>(t, "v_pk_sub_i16", sub);
  addSaturatingPair<2, false>(t, "v_pk_add_u16", add);
  addSaturatingPair<2, false>(t, "v_pk_sub_u16", sub);
  addPair<2, false>(t, "v_pk_lshlrev_b16",
                    [](int32_t a, int32_t b) { return b << (a & 15); });
  constexpr auto right = [](int32_t a, int32_t b) { return b >> (a & 15); };
  addPair<2, false>(t, "v_pk_lshrrev_b16", right);
  addPair<2, true>(t, "v_pk_ashrrev_i16", right);
  constexpr auto max = [](int32_t a, int32_t b) { return a > b ? a : b; };
  constexpr auto min = [](int32_t a, int32_t b) { return a < b ? a : b; };
  addPair<2, true>(t, "v_pk_max_i16", max);
  addPair<2, true>(t, "v_pk_min_i16", min);
  addPair<2, false>(t, "v_pk_max_u16", max);
  addPair<2, false>(t, "v_pk_min_u16", min);

  for (const char *prefix : {"v_mad_mix", "v_fma_mix"}) {
    const std::string name = prefix;
    const char *twice = "rounded to f32 and then to f16";
    constexpr unsigned plain = unsigned(Encoding::Plain);
    for (Semantics *added : {&t.add(name + "_f32", mixed<Mix::Single>),
                             &t.add(name + "lo_f16", mixed<Mix::Low>, plain,
                                    Fidelity::Bounded, twice),
                             &t.add(name + "hi_f16", mixed<Mix::High>, plain,
                                    Fidelity::Bounded, twice)})
      added->kernel = floatKernel<FusedMultiplyAdd, 3>;
  }
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
