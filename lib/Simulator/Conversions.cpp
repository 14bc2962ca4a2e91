//===- Conversions.cpp - conversions between number types -----------------===//
// SPDX-License-Identifier: MIT
#include "FloatOps.h"
#include "LaneAlu.h"
#include "LaneVectors.h"
#include "VectorAlu.h"

#include <bit>
#include <cmath>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;
using UL = uint64_t;

//===----------------------------------------------------------------------===//
// Integers and f32
//===----------------------------------------------------------------------===//

/// Truncates and saturates; NaN gives 0.
template <typename Real> NETRA_SIM_INLINE U toSigned(Real x) {
  return x >= Real(2147483648.0)    ? 0x7fffffffu
         : x <= Real(-2147483648.0) ? 0x80000000u
         : x == x                   ? U(int32_t(x))
                                    : 0u;
}
template <typename Real> NETRA_SIM_INLINE U toUnsigned(Real x) {
  return x >= Real(4294967296.0) ? 0xffffffffu
         : x > Real(0)           ? U(int64_t(x))
                                 : 0u;
}

/// One f32 source, a 32-bit integer result.
template <typename F> void fromSingle(SemanticsTable &t, const char *name, F) {
  constexpr auto word = [](U a) { return U(F{}(asFloat(a))); };
  t.addBinder(name, bindLanes<Domain::FromSingle, 1>).kernel =
      wordKernel<decltype(word), 1>;
}
#if defined(__AVX2__)
/// toSigned of whole vectors. The host gives -2^31 for what does not fit.
void signedKernel(const uint32_t *a, const uint32_t *, const uint32_t *,
                  uint32_t *out, unsigned n, uint32_t) {
  for (unsigned l = 0; l < n; l += VectorLanes) {
    const Floats x = load<Floats>(a + l);
    Ints r = (Ints)_mm256_cvttps_epi32((__m256)x);
    r = (r ^ (x >= 0x1p31f)) & (x == x);
    store(out + l, r);
  }
}
#endif
/// One integer source, an f32 result, with one rounding.
template <typename F> void toSingle(SemanticsTable &t, const char *name, F) {
  constexpr auto word = [](U a) { return asBits(F{}(a)); };
  t.addBinder(name, bindLanes<Domain::ToSingle, 1>).kernel =
      wordKernel<decltype(word), 1>;
}

//===----------------------------------------------------------------------===//
// f16 and f32
//===----------------------------------------------------------------------===//

NETRA_SIM_INLINE U narrowToF16(const FloatEnv &env, U bits) {
  U r;
  if (env.rounding == RoundingMode::NearestEven && !env.fp16Overflow)
    r = f16FromF32(bits);
  else
    r = U(convertFloat(formatF32, formatF16, bits, env.rounding,
                       env.fp16Overflow ? OverflowRule::Saturate
                                        : OverflowRule::Ieee));
  return env.flushResults ? flush16(r) : r;
}

/// f32 to f16 and back where MODE asks for nothing else than nearest even.
NETRA_SIM_INLINE void narrowLanes(unsigned n, const uint32_t *from,
                                  uint32_t *to) {
#if NETRA_SIM_HALF_VECTORS
  for (unsigned l = 0; l < n; l += VectorLanes)
    store(to + l, narrowToHalves(load<Floats>(from + l)));
#else
  eachLane(n, [&](unsigned l) { to[l] = f16FromF32(from[l]); });
#endif
}
NETRA_SIM_INLINE void widenLanes(unsigned n, const uint32_t *from,
                                 uint32_t *to) {
#if NETRA_SIM_HALF_VECTORS
  for (unsigned l = 0; l < n; l += VectorLanes)
    store(to + l, widenHalves(from + l));
#else
  eachLane(n, [&](unsigned l) { to[l] = f32FromF16(from[l]); });
#endif
}

/// A frame for conversions of one word of a register: where MODE has the bits
/// \p Mask as in \p Plain and all lanes are active, \p Convert does all.
template <void General(const Instruction &, Wave &),
          void Convert(unsigned, const uint32_t *, uint32_t *), uint32_t Mask,
          uint32_t Plain>
void plainConversion(const Instruction &I, Wave &w) {
  LaneVector t;
  if ((w.mode & Mask) != Plain || !w.allActive())
    return General(I, w);
  Convert(w.laneCount, w.lanes(I.src(0), 0, t), w.row(I.dst().index));
}

void cvtF16F32(const Instruction &I, Wave &w) {
  LaneVector t, result;
  const FloatEnv env = floatEnv(w, false);
  const unsigned n = w.laneCount;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F32, t);
  if (floatEnv(w, true).flushInputs)
    a = flushLanes(n, a, t);
  if (env.rounding == RoundingMode::NearestEven && !env.fp16Overflow &&
      !env.flushResults)
    narrowLanes(n, a, result.lane);
  else
    for (unsigned l = 0; l < n; ++l)
      result.lane[l] = narrowToF16(env, a[l]);
  for (unsigned l = 0; (I.clamp || I.omod) && l < n; ++l)
    result.lane[l] = finishF16(result.lane[l], I, env);
  storeResult16(I, w, result.lane, writeMask(I, w), false);
}

Handler bindF16F32(const Instruction &I, const char *&) {
  constexpr uint32_t keepInputs = 1u << ModeDenorm32Shift,
                     keepResults = 2u << ModeDenorm64Shift,
                     round = 3u << ModeRound64Shift;
  return isBare(I) ? plainConversion<cvtF16F32, narrowLanes,
                                     keepInputs | keepResults | round |
                                         ModeFp16Overflow,
                                     keepInputs | keepResults>
                   : cvtF16F32;
}

void cvtF32F16(const Instruction &I, Wave &w) {
  LaneVector t, result;
  const FloatEnv env = floatEnv(w, true);
  const bool flush = floatEnv(w, false).flushInputs;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F16, t);
  if (flush) {
    eachLane(w.laneCount, [&](unsigned l) { t.lane[l] = flush16(a[l]); });
    a = t.lane;
  }
  widenLanes(w.laneCount, a, result.lane);
  for (unsigned l = 0; (I.clamp || I.omod) && l < w.laneCount; ++l)
    result.lane[l] = finishF32(result.lane[l], I.omod, I.clamp, env);
  storeResult(I, w, result.lane, writeMask(I, w));
}

void widenLowHalves(unsigned n, const uint32_t *from, uint32_t *to) {
#if NETRA_SIM_HALF_VECTORS
  for (unsigned l = 0; l < n; l += VectorLanes) {
    const auto half = (__m256i)(load<Words>(from + l) & 0xffff);
    store(to + l,
          _mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(half),
                                           _mm256_extracti128_si256(half, 1))));
  }
#else
  LaneVector half;
  eachLane(n, [&](unsigned l) { half.lane[l] = from[l] & 0xffff; });
  widenLanes(n, half.lane, to);
#endif
}
Handler bindF32F16(const Instruction &I, const char *&) {
  constexpr uint32_t keepInputs = 1u << ModeDenorm64Shift;
  return isBare(I) ? plainConversion<cvtF32F16, widenLowHalves, keepInputs,
                                     keepInputs>
                   : cvtF32F16;
}

void cvtF32Bf16(const Instruction &I, Wave &w) {
  LaneVector t, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F16, t);
  eachLane(w.laneCount, [&](unsigned l) { result.lane[l] = a[l] << 16; });
  const FloatEnv env = floatEnv(w, true);
  for (unsigned l = 0; (I.clamp || I.omod) && l < w.laneCount; ++l)
    result.lane[l] = finishF32(result.lane[l], I.omod, I.clamp, env);
  storeResult(I, w, result.lane, writeMask(I, w));
}

/// Packs two f32 to 16 bits each; \p F takes MODE and one of them.
template <typename F>
void packKernel(const uint32_t *a, const uint32_t *b, const uint32_t *,
                uint32_t *out, unsigned n, uint32_t mode) {
  const FloatEnv env32 = floatEnv(mode, true), env16 = floatEnv(mode, false);
  eachLane(n, [&](unsigned l) {
    out[l] = F{}(env32, env16, a[l]) | F{}(env32, env16, b[l]) << 16;
  });
}
template <typename F>
void addPack(SemanticsTable &t, const char *name, unsigned encodings,
             Fidelity fidelity = Fidelity::Exact, const char *note = "") {
  t.addBinder(name, bindLanes<Domain::FromSingle, 2>, encodings, fidelity, note)
      .kernel = packKernel<F>;
}
struct ToBf16 {
  U operator()(const FloatEnv &env32, const FloatEnv &, U x) const {
    const U r = bf16FromF32(x), least = env32.flushResults ? 0x80 : 0;
    return (r & 0x7fff) < least ? r & 0x8000 : r;
  }
};
/// The same in vectors, up to the first block with a NaN.
void packBf16(const uint32_t *a, const uint32_t *b, const uint32_t *c,
              uint32_t *out, unsigned n, uint32_t mode) {
  if (floatEnv(mode, true).flushResults)
    return packKernel<ToBf16>(a, b, c, out, n, mode);
  auto rounded = [](const Words &v) { return v + 0x7fff + (v >> 16 & 1); };
  for (; n; n -= BlockLanes) {
    Words r[BlockVectors];
    Ints nan = {};
    eachVector([&](unsigned p) {
      const unsigned l = p * VectorLanes;
      const Words x = load<Words>(a + l), y = load<Words>(b + l);
      nan |= unordered((Floats)x, (Floats)y);
      r[p] = rounded(x) >> 16 | (rounded(y) & 0xffff0000);
    });
    if (__builtin_expect(anySet(nan), 0))
      return packKernel<ToBf16>(a, b, c, out, n, mode);
    eachVector([&](unsigned p) { store(out + p * VectorLanes, r[p]); });
    a += BlockLanes;
    b += BlockLanes;
    out += BlockLanes;
  }
}
template <RoundingMode Mode> struct ToF16 {
  U operator()(const FloatEnv &, const FloatEnv &env16, U x) const {
    FloatEnv env = env16;
    env.rounding = Mode;
    return narrowToF16(env, x);
  }
};
struct ToSnorm {
  U operator()(const FloatEnv &, const FloatEnv &, U x) const {
    float v = asFloat(x);
    v = v >= 1 ? 1 : v <= -1 ? -1 : v == v ? v : 0;
    return U(int32_t(roundEven(double(v) * 32767))) & 0xffff;
  }
};
struct ToUnorm {
  U operator()(const FloatEnv &, const FloatEnv &, U x) const {
    float v = asFloat(x);
    v = v >= 1 ? 1 : v > 0 ? v : 0;
    return U(int32_t(roundEven(double(v) * 65535))) & 0xffff;
  }
};
/// The same from two f16 sources.
template <typename F> void packHalves(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F16, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::F16, t1);
  const FloatEnv env = floatEnv(w, true);
  for (unsigned l = 0; l < w.laneCount; ++l)
    result.lane[l] =
        F{}(env, env, f32FromF16(a[l])) | F{}(env, env, f32FromF16(b[l])) << 16;
  storeResult(I, w, result.lane, writeMask(I, w));
}

/// f16 source, 16-bit integer result, and back.
template <typename F> void fromF16(const Instruction &I, Wave &w) {
  LaneVector t, result;
  const bool flush = floatEnv(w, false).flushInputs;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F16, t);
  for (unsigned l = 0; l < w.laneCount; ++l)
    result.lane[l] =
        F{}(asFloat(f32FromF16(flush ? flush16(a[l]) : a[l]))) & 0xffff;
  storeResult16(I, w, result.lane, writeMask(I, w), false);
}
template <bool Signed> void toF16(const Instruction &I, Wave &w) {
  LaneVector t, result;
  const FloatEnv env = floatEnv(w, false);
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int16, t);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const float v = Signed ? float(int16_t(a[l])) : float(a[l]);
    result.lane[l] = finishF16(narrowToF16(env, asBits(v)), I, env);
  }
  storeResult16(I, w, result.lane, writeMask(I, w), false);
}

//===----------------------------------------------------------------------===//
// FP8 and BF8
//===----------------------------------------------------------------------===//

template <bool Bf8> constexpr const FloatFormat &format8() {
  return Bf8 ? formatBf8 : formatFp8;
}

/// Nearest even, in the manner of f16FromF32, in place; \p over is what becomes
/// of infinity and of values beyond the format. In vectors, with comparisons of
/// signed numbers, which is what hosts have.
template <bool Bf8>
NETRA_SIM_INLINE void narrowTo8(Words &v, const Words &over) {
  constexpr U shift = Bf8 ? 21 : 20, bias = Bf8 ? 112 : 120;
  constexpr int last = Bf8 ? 0x7b : 0x7e;
  // A float whose last place is the least denormal of the format.
  constexpr float grid = Bf8 ? 0x1p7f : 0x1p14f;
  constexpr auto gridBits = std::bit_cast<U>(grid);
  const Words sign = v >> 24 & 0x80, magnitude = v & 0x7fffffff;
  const Words normal = (magnitude - ((bias << 23) - ((1u << (shift - 1)) - 1)) +
                        (magnitude >> shift & 1)) >>
                       shift;
  const Words denormal = (Words)((Floats)magnitude + grid) - gridBits;
  Words r = (Ints)magnitude < int((bias + 1) << 23) ? denormal : normal;
  r = (Ints)r > last ? over : r;
  r = (Ints)magnitude > 0x7f800000 ? Words{} + 0x7f : r;
  v = r | sign;
}
/// The same of numbers that the format reaches.
template <bool Bf8> NETRA_SIM_INLINE Words finiteTo8(const Words &magnitude) {
  constexpr U shift = Bf8 ? 21 : 20, bias = Bf8 ? 112 : 120;
  constexpr float grid = Bf8 ? 0x1p7f : 0x1p14f;
  constexpr auto gridBits = std::bit_cast<U>(grid);
  const Words normal = (magnitude - ((bias << 23) - ((1u << (shift - 1)) - 1)) +
                        (magnitude >> shift & 1)) >>
                       shift;
  const Words denormal = (Words)((Floats)magnitude + grid) - gridBits;
  return (Ints)magnitude < int((bias + 1) << 23) ? denormal : normal;
}
/// A block of numbers of which some are beyond the format.
template <bool Bf8>
__attribute__((noinline)) void blockTo8(const uint32_t *a, const uint32_t *b,
                                        Words (&r)[BlockVectors],
                                        bool saturate) {
  const Words over =
      Words{} + (Bf8 ? (saturate ? 0x7b : 0x7c) : (saturate ? 0x7e : 0x7f));
  eachVector([&](unsigned p) {
    const unsigned l = p * VectorLanes;
    Words low = load<Words>(a + l), high = load<Words>(b + l);
    narrowTo8<Bf8>(low, over);
    narrowTo8<Bf8>(high, over);
    r[p] = low | high << 8;
  });
}
/// Two numbers of each lane, to the low half of \p out; its high one is that of
/// \p old. \p out may be one of the sources.
template <bool Bf8>
__attribute__((noinline)) void pairTo8(const uint32_t *a, const uint32_t *b,
                                       const uint32_t *old, uint32_t *out,
                                       unsigned n, bool saturate) {
  constexpr auto greatest = int32_t(Bf8 ? 0x47600000 : 0x43e00000);
  for (; n; n -= BlockLanes) {
    Words r[BlockVectors];
    Ints beyond = {};
    eachVector([&](unsigned p) {
      const unsigned l = p * VectorLanes;
      const Words x = load<Words>(a + l), y = load<Words>(b + l),
                  low = x & 0x7fffffff, high = y & 0x7fffffff;
      beyond |= ((Ints)low > greatest) | ((Ints)high > greatest);
      r[p] = finiteTo8<Bf8>(low) | finiteTo8<Bf8>(high) << 8 | (x ^ low) >> 24 |
             (y ^ high) >> 16;
    });
    if (__builtin_expect(anySet(beyond), 0))
      blockTo8<Bf8>(a, b, r, saturate);
    eachVector([&](unsigned p) {
      const unsigned l = p * VectorLanes;
      store(out + l, r[p] | (load<Words>(old + l) & 0xffff0000));
    });
    a += BlockLanes;
    b += BlockLanes;
    old += BlockLanes;
    out += BlockLanes;
  }
}

template <bool Bf8> void cvtPk8(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const unsigned n = w.laneCount;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F32, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::F32, t1);
  const FloatEnv env = floatEnv(w, true);
  if (env.flushInputs) {
    a = flushLanes(n, a, t0);
    b = flushLanes(n, b, t1);
  }
  uint32_t *d = w.row(I.dst().index);
  const bool isDirect = !(I.opSel & 8) && w.allActive();
  pairTo8<Bf8>(a, b, d, isDirect ? d : result.lane, n, env.fp16Overflow);
  if (!isDirect)
    storeResult16(I, w, result.lane, writeMask(I, w), true);
}

/// Puts \p value into the field that op_sel selects, keeping the rest.
void storeField(const Instruction &I, Wave &w, const uint32_t *value,
                unsigned shift, U field) {
  const uint32_t *old = w.row(I.dst().index);
  LaneVector merged;
  eachLane(w.laneCount, [&](unsigned l) {
    merged.lane[l] = (old[l] & ~(field << shift)) | (value[l] & field) << shift;
  });
  storeWord(w, I.dst(), 0, merged.lane, writeMask(I, w));
}

template <bool Bf8> void cvtSr8(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F32, t0);
  const uint32_t *r = fetch(I, w, 1, 0, SourceType::Int, t1);
  const FloatEnv env = floatEnv(w, true);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const U x = env.flushInputs ? flush32(a[l]) : a[l];
    result.lane[l] = U(convertFloatStochastic(
        formatF32, format8<Bf8>(), x, 0, r[l],
        env.fp16Overflow ? OverflowRule::Saturate : OverflowRule::Ieee,
        env.fp16Overflow));
  }
  storeField(I, w, result.lane, 8 * (I.opSel >> 2 & 3), 0xff);
}

template <bool Bf16> void cvtSr16(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F32, t0);
  const uint32_t *r = fetch(I, w, 1, 0, SourceType::Int, t1);
  const FloatEnv env = floatEnv(w, true);
  const FloatFormat &format = Bf16 ? formatBf16 : formatF16;
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const U x = env.flushInputs ? flush32(a[l]) : a[l];
    result.lane[l] = U(convertFloatStochastic(formatF32, format, x, 0, r[l],
                                              env.fp16Overflow && !Bf16
                                                  ? OverflowRule::Saturate
                                                  : OverflowRule::Ieee));
  }
  storeField(I, w, result.lane, I.opSel & 8 ? 16 : 0, 0xffff);
}

/// The byte of an 8-bit source: SDWA has already selected it, op_sel names it.
unsigned sourceByte(const Instruction &I) {
  return I.encoding == Encoding::Plain ? I.opSel & 3 : 0;
}
template <bool Bf8> void cvtF32From8(const Instruction &I, Wave &w) {
  LaneVector t, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int, t);
  const unsigned shift = 8 * sourceByte(I);
  const uint32_t *table = f32TableOf(format8<Bf8>());
  for (unsigned l = 0; l < w.laneCount; ++l)
    result.lane[l] = table[a[l] >> shift & 0xff];
  const FloatEnv env = floatEnv(w, true);
  for (unsigned l = 0; (I.clamp || I.omod) && l < w.laneCount; ++l)
    result.lane[l] = finishF32(result.lane[l], I.omod, I.clamp, env);
  storeWord(w, I.dst(), 0, result.lane, writeMask(I, w));
}
/// The two bytes at \p shift of each lane as f32; a result may take the place
/// of the source.
template <bool Bf8>
void widenFrom8(unsigned n, const uint32_t *a, unsigned shift, uint32_t *low,
                uint32_t *high) {
  constexpr FloatFormat format = Bf8 ? formatBf8 : formatFp8;
  // Placed as an f32 with the wrong bias, which a multiplication puts right for
  // denormals too.
  constexpr auto scale = std::bit_cast<float>(U(254 - format.bias) << 23);
  constexpr int down = 8 - int(format.exponentBits);
  constexpr auto mask = int32_t(1u << 31 | 0x7fu << (23 - format.mantissaBits));
  constexpr auto last = int32_t(format.maxFinite() << 24 | 0xffffff);
  auto widened = [](const Words &v) {
    return (Words)((Floats)((Ints)v >> down & mask) * scale);
  };
  for (unsigned base = 0; base < n; base += BlockLanes) {
    Words first[BlockVectors], second[BlockVectors];
    Ints special = {};
    eachVector([&](unsigned p) {
      const Words v = load<Words>(a + base + p * VectorLanes),
                  x = v >> shift << 24, y = v << (16 - shift);
      special |=
          ((Ints)(x & 0x7fffffff) > last) | ((Ints)(y & 0x7fffffff) > last);
      first[p] = widened(x);
      second[p] = widened(y);
    });
    if (__builtin_expect(anySet(special), 0)) { // infinities and NaNs
      const uint32_t *table = f32TableOf(format8<Bf8>());
      for (unsigned l = base; l < base + BlockLanes; ++l) {
        const U v = a[l];
        low[l] = table[v >> shift & 0xff];
        high[l] = table[v >> (shift + 8) & 0xff];
      }
      continue;
    }
    eachVector([&](unsigned p) {
      store(low + base + p * VectorLanes, first[p]);
      store(high + base + p * VectorLanes, second[p]);
    });
  }
}
template <bool Bf8> void cvtPkF32From8(const Instruction &I, Wave &w) {
  LaneVector t, low, high;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int, t);
  const unsigned shift = 16 * (sourceByte(I) & 1), n = w.laneCount;
  const UL mask = writeMask(I, w);
  if (mask == w.allLanes())
    return widenFrom8<Bf8>(n, a, shift, w.row(I.dst().index),
                           w.row(I.dst().index + 1u));
  widenFrom8<Bf8>(n, a, shift, low.lane, high.lane);
  storeWord(w, I.dst(), 0, low.lane, mask);
  storeWord(w, I.dst(), 1, high.lane, mask);
}

/// \p x as an integer of 0 to 255, the nearest of these where it is beyond;
/// 0 for a NaN.
U roundToByte(RoundingMode mode, float x) {
  if (!(x > 0))
    return 0;
  if (x >= 255)
    return 255;
  switch (mode) {
  case RoundingMode::NearestEven:
    return U(roundEven(x));
  case RoundingMode::TowardPositive:
    return U(__builtin_ceilf(x));
  default:
    return U(x);
  }
}

/// A byte by its number, S1, becomes S0 as an integer; the others come from
/// source 2 or stay.
template <bool Accumulates> void cvtPkU8(const Instruction &I, Wave &w) {
  const FloatEnv env = floatEnv(w, true);
  LaneVector t0, t1, t2, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F32, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::Int, t1);
  const uint32_t *c = Accumulates ? w.row(I.dst().index)
                                  : fetch(I, w, 2, 0, SourceType::Int, t2);
  eachLane(w.laneCount, [&](unsigned l) {
    const U v = roundToByte(env.rounding, asFloat(a[l]));
    const U shift = 8 * (b[l] & 3);
    result.lane[l] = (c[l] & ~(0xffu << shift)) | v << shift;
  });
  storeResult(I, w, result.lane, writeMask(I, w));
}

//===----------------------------------------------------------------------===//
// f64
//===----------------------------------------------------------------------===//

template <typename F> void fromF64(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int, t0);
  const uint32_t *b = fetch(I, w, 0, 1, SourceType::F64High, t1);
  const FloatEnv env = floatEnv(w, false);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    UL x = a[l] | UL(b[l]) << 32;
    result.lane[l] = F{}(env, env.flushInputs ? flush64(x) : x);
  }
  const FloatEnv env32 = floatEnv(w, true);
  for (unsigned l = 0; (I.clamp || I.omod) && l < w.laneCount; ++l)
    result.lane[l] = finishF32(result.lane[l], I.omod, I.clamp, env32);
  storeResult(I, w, result.lane, writeMask(I, w));
}
template <typename F> void toF64(const Instruction &I, Wave &w) {
  LaneVector t, low, high;
  const uint32_t *a = fetch(I, w, 0, 0, F::source, t);
  const FloatEnv env = floatEnv(w, true);
  const FloatEnv env64 = floatEnv(w, false);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    UL r = finishF64(F{}(env, a[l]), I, env64);
    low.lane[l] = U(r);
    high.lane[l] = U(r >> 32);
  }
  const UL mask = writeMask(I, w);
  storeWord(w, I.dst(), 0, low.lane, mask);
  storeWord(w, I.dst(), 1, high.lane, mask);
}
struct F64FromI32 {
  static constexpr SourceType source = SourceType::Int;
  UL operator()(const FloatEnv &, U v) const {
    return asBits(double(int32_t(v)));
  }
};
struct F64FromU32 {
  static constexpr SourceType source = SourceType::Int;
  UL operator()(const FloatEnv &, U v) const { return asBits(double(v)); }
};
struct F64FromF32 {
  static constexpr SourceType source = SourceType::F32;
  UL operator()(const FloatEnv &env, U v) const {
    return convertFloat(formatF32, formatF64, env.flushInputs ? flush32(v) : v);
  }
};

} // namespace

void registerConversions(SemanticsTable &t) {
#if defined(__AVX2__)
  t.addBinder("v_cvt_i32_f32", bindLanes<Domain::FromSingle, 1>).kernel =
      signedKernel;
#else
  fromSingle(t, "v_cvt_i32_f32", [](float x) { return toSigned(x); });
#endif
  fromSingle(t, "v_cvt_u32_f32", [](float x) { return toUnsigned(x); });
  fromSingle(t, "v_cvt_flr_i32_f32",
             [](float x) { return toSigned(__builtin_floorf(x)); });
  fromSingle(t, "v_cvt_rpi_i32_f32", [](float x) {
    return toSigned(__builtin_floor(double(x) + 0.5));
  });
  toSingle(t, "v_cvt_f32_i32", [](U v) { return float(int32_t(v)); });
  toSingle(t, "v_cvt_f32_u32", [](U v) { return float(double(v)); });
  toSingle(t, "v_cvt_f32_ubyte0", [](U v) { return float(int32_t(v & 0xff)); });
  toSingle(t, "v_cvt_f32_ubyte1",
           [](U v) { return float(int32_t(v >> 8 & 0xff)); });
  toSingle(t, "v_cvt_f32_ubyte2",
           [](U v) { return float(int32_t(v >> 16 & 0xff)); });
  toSingle(t, "v_cvt_f32_ubyte3", [](U v) { return float(int32_t(v >> 24)); });
  toSingle(t, "v_cvt_off_f32_i4",
           [](U v) { return float(int32_t(v << 28) >> 28) / 16; });

  t.addBinder("v_cvt_f16_f32", bindF16F32);
  t.addBinder("v_cvt_f32_f16", bindF32F16);
  t.add("v_cvt_f32_bf16", cvtF32Bf16, AllEncodings);
  constexpr unsigned plain = unsigned(Encoding::Plain);
  t.addBinder("v_cvt_pk_bf16_f32", bindLanes<Domain::FromSingle, 2>, plain)
      .kernel = packBf16;
  addPack<ToF16<RoundingMode::NearestEven>>(t, "v_cvt_pk_f16_f32", plain);
  addPack<ToF16<RoundingMode::TowardZero>>(t, "v_cvt_pkrtz_f16_f32",
                                           AllEncodings);
  const char *norm = "scaled value rounded to nearest even; the ISA does not "
                     "name the rounding";
  addPack<ToSnorm>(t, "v_cvt_pknorm_i16_f32", plain, Fidelity::Bounded, norm);
  addPack<ToUnorm>(t, "v_cvt_pknorm_u16_f32", plain, Fidelity::Bounded, norm);
  t.add("v_cvt_pknorm_i16_f16", packHalves<ToSnorm>, unsigned(Encoding::Plain),
        Fidelity::Bounded, norm);
  t.add("v_cvt_pknorm_u16_f16", packHalves<ToUnorm>, unsigned(Encoding::Plain),
        Fidelity::Bounded, norm);
  constexpr auto snorm16 = [](float v) {
    return ToSnorm{}(FloatEnv{}, FloatEnv{}, asBits(v));
  };
  constexpr auto unorm16 = [](float v) {
    return ToUnorm{}(FloatEnv{}, FloatEnv{}, asBits(v));
  };
  t.add("v_cvt_norm_i16_f16", fromF16<decltype(snorm16)>, AllEncodings,
        Fidelity::Bounded, norm);
  t.add("v_cvt_norm_u16_f16", fromF16<decltype(unorm16)>, AllEncodings,
        Fidelity::Bounded, norm);
  constexpr auto i16 = [](float v) {
    return v >= 32767 ? 0x7fffu : v <= -32768 ? 0x8000u : toSigned(v);
  };
  constexpr auto u16 = [](float v) {
    return v >= 65535 ? 0xffffu : toUnsigned(v);
  };
  t.add("v_cvt_i16_f16", fromF16<decltype(i16)>, AllEncodings);
  t.add("v_cvt_u16_f16", fromF16<decltype(u16)>, AllEncodings);
  t.add("v_cvt_f16_i16", toF16<true>, AllEncodings);
  t.add("v_cvt_f16_u16", toF16<false>, AllEncodings);

  t.add("v_cvt_pk_fp8_f32", cvtPk8<false>);
  t.add("v_cvt_pk_bf8_f32", cvtPk8<true>);
  const char *random = "one of the two neighbours, chosen with the probability "
                       "of the discarded part";
  t.add("v_cvt_sr_fp8_f32", cvtSr8<false>, unsigned(Encoding::Plain),
        Fidelity::Bounded, random);
  t.add("v_cvt_sr_bf8_f32", cvtSr8<true>, unsigned(Encoding::Plain),
        Fidelity::Bounded, random);
  t.add("v_cvt_sr_f16_f32", cvtSr16<false>, unsigned(Encoding::Plain),
        Fidelity::Bounded, random);
  t.add("v_cvt_sr_bf16_f32", cvtSr16<true>, unsigned(Encoding::Plain),
        Fidelity::Bounded, random);
  t.add("v_cvt_f32_fp8", cvtF32From8<false>, AllEncodings);
  t.add("v_cvt_f32_bf8", cvtF32From8<true>, AllEncodings);
  t.add("v_cvt_pk_f32_fp8", cvtPkF32From8<false>, AllEncodings);
  t.add("v_cvt_pk_f32_bf8", cvtPkF32From8<true>, AllEncodings);
  const char *rounds = "fractions are rounded as MODE says; the ISA does not "
                       "name it, and if it truncates, this is 1 more at most";
  t.add("v_cvt_pk_u8_f32", cvtPkU8<false>, unsigned(Encoding::Plain),
        Fidelity::Bounded, rounds);
  t.add("v_cvt_pkaccum_u8_f32", cvtPkU8<true>, unsigned(Encoding::Plain),
        Fidelity::Bounded, rounds);

  auto from64 = [&](const char *name, auto f) {
    t.add(name, fromF64<decltype(f)>,
          unsigned(Encoding::Plain) | unsigned(Encoding::Dpp));
  };
  from64("v_cvt_i32_f64",
         [](const FloatEnv &, UL x) { return toSigned(asDouble(x)); });
  from64("v_cvt_u32_f64",
         [](const FloatEnv &, UL x) { return toUnsigned(asDouble(x)); });
  from64("v_cvt_f32_f64", [](const FloatEnv &env, UL x) {
    return U(convertFloat(formatF64, formatF32, x, env.rounding));
  });
  const unsigned noSdwa = unsigned(Encoding::Plain) | unsigned(Encoding::Dpp);
  t.add("v_cvt_f64_i32", toF64<F64FromI32>, noSdwa);
  t.add("v_cvt_f64_u32", toF64<F64FromU32>, noSdwa);
  t.add("v_cvt_f64_f32", toF64<F64FromF32>, noSdwa);
  registerScaledConversions(t);
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
