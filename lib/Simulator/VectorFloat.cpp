//===- VectorFloat.cpp - single-precision instructions --------------------===//
// SPDX-License-Identifier: MIT
//
// Arithmetic is the host's IEEE arithmetic in the rounding mode of MODE, with
// denormals flushed in bits where MODE says so. NaN results do not depend on
// the host: the first NaN among the sources, quiet, or 0x7fc00000 when an
// operation without NaN sources is invalid.
//
//===----------------------------------------------------------------------===//
#include "FloatLanes.h"
#include "FloatOps.h"
#include "LaneAlu.h"
#include "VectorAlu.h"

#include <cmath>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;

struct Subtract {
  Floats operator()(const Floats &a, const Floats &b) const { return a - b; }
};
struct SubtractReversed {
  Floats operator()(const Floats &a, const Floats &b) const { return b - a; }
};

/// \p F takes and gives vectors of floats.
template <unsigned N, typename F>
void add(SemanticsTable &t, const char *name, F) {
  t.addBinder(name, bindLanes<Domain::Single, N>).kernel = floatKernel<F, N>;
}
/// \p F takes and gives bits.
template <unsigned N, typename F>
void addBits(SemanticsTable &t, const char *name, F) {
  t.addBinder(name, bindLanes<Domain::Single, N>).kernel =
      floatBitsKernel<F, N>;
}

//===----------------------------------------------------------------------===//
// Minimum, maximum, median
//===----------------------------------------------------------------------===//

/// Of two vectors without NaNs; -0 is below +0. The order of bits as integers
/// is that of numbers but for two negative ones.
template <bool Max> NETRA_SIM_INLINE void choose(Words &a, const Words &b) {
#if defined(__AVX2__)
  // Of two zeros the host takes the second one.
  const __m256 x = (__m256)a, y = (__m256)b;
  a = (Words)(Max ? _mm256_and_ps(_mm256_max_ps(x, y), _mm256_max_ps(y, x))
                  : _mm256_or_ps(_mm256_min_ps(x, y), _mm256_min_ps(y, x)));
#else
  const Ints less = ((Ints)a < (Ints)b) ^ ((Ints)(a & b) >> 31);
  const Words lower = (Words)less;
  a = ((Max ? b : a) & lower) | ((Max ? a : b) & ~lower);
#endif
}

/// By the host's comparisons, for which the two zeros are the same number.
template <bool Max>
NETRA_SIM_INLINE Floats chooseNumber(const Floats &a, const Floats &b) {
#if defined(__AVX2__)
  return (Floats)(Max ? _mm256_max_ps((__m256)a, (__m256)b)
                      : _mm256_min_ps((__m256)a, (__m256)b));
#else
  return Max ? (a > b ? a : b) : (a < b ? a : b);
#endif
}

/// What `three` gives unless that is a zero: operations that have it take less
/// time where they need to look at zeros once only.
template <typename Op>
concept HasNumbers = requires(Floats v) { Op::ofNumbers(v, v, v); };

struct Minimum {
  static NETRA_SIM_INLINE void two(Words &a, const Words &b) {
    choose<false>(a, b);
  }
  static NETRA_SIM_INLINE void three(Words &a, const Words &b, const Words &c) {
    choose<false>(a, b);
    choose<false>(a, c);
  }
  static U settle(bool ieee, U a, U b) { return Single::min(ieee, a, b); }
  static U settle(bool ieee, U a, U b, U c) {
    return Single::min(ieee, Single::min(ieee, a, b), c);
  }
};
struct Maximum {
  static NETRA_SIM_INLINE void two(Words &a, const Words &b) {
    choose<true>(a, b);
  }
  static NETRA_SIM_INLINE void three(Words &a, const Words &b, const Words &c) {
    choose<true>(a, b);
    choose<true>(a, c);
  }
  static U settle(bool ieee, U a, U b) { return Single::max(ieee, a, b); }
  static U settle(bool ieee, U a, U b, U c) {
    return Single::max(ieee, Single::max(ieee, a, b), c);
  }
};
struct Median {
  static NETRA_SIM_INLINE void three(Words &a, const Words &b, const Words &c) {
    Words low = a, high = a;
    choose<false>(low, b);
    choose<true>(high, b);
    choose<false>(high, c);
    choose<true>(low, high);
    a = low;
  }
  static NETRA_SIM_INLINE Floats ofNumbers(const Floats &a, const Floats &b,
                                           const Floats &c) {
    const Floats low = chooseNumber<false>(a, b),
                 high = chooseNumber<true>(a, b);
    return chooseNumber<true>(low, chooseNumber<false>(high, c));
  }
  static U settle(bool ieee, U a, U b, U c) {
    return Single::median(ieee, a, b, c);
  }
};
template <bool WantMax> struct Propagating {
  static NETRA_SIM_INLINE void three(Words &a, const Words &b, const Words &c) {
    choose<WantMax>(a, b);
    choose<WantMax>(a, c);
  }
  static U settle(bool, U a, U b, U c) {
    return Single::propagate(WantMax, Single::propagate(WantMax, a, b), c);
  }
};

/// The lanes from the first block with a NaN on, one by one.
template <typename Op, unsigned N>
__attribute__((noinline, cold)) void
choiceRest(const uint32_t *a, const uint32_t *b, const uint32_t *c,
           uint32_t *out, unsigned n, uint32_t mode) {
  const Flushes flushes(mode);
  const bool ieee = mode & ModeIeee;
  auto in = [&](U bits) { return clearDenormal(bits, flushes.inputs); };
  for (unsigned l = 0; l < n; ++l) {
    U picked;
    if constexpr (N == 2)
      picked = Op::settle(ieee, in(a[l]), in(b[l]));
    else
      picked = Op::settle(ieee, in(a[l]), in(b[l]), in(c[l]));
    out[l] = clearDenormal(picked, flushes.results);
  }
}

/// A block without NaNs. It stands by itself so that the loop which needs it
/// now and then keeps its vectors in registers.
template <typename Op, bool Flush>
__attribute__((noinline)) void
choiceBlock(const uint32_t *a, const uint32_t *b, const uint32_t *c,
            Words (&r)[BlockVectors], const Flushes &flushes) {
  const Words inputs = Words{} + flushes.inputs,
              results = Words{} + flushes.results;
  eachVector([&](unsigned p) {
    const unsigned l = p * VectorLanes;
    r[p] = (Words)source<Flush>(a + l, inputs);
    Op::three(r[p], (Words)source<Flush>(b + l, inputs),
              (Words)source<Flush>(c + l, inputs));
    if constexpr (Flush)
      clearDenormals(r[p], results);
  });
}

template <typename Op, unsigned N, bool Flush>
NETRA_SIM_INLINE void choiceLoop(const uint32_t *a, const uint32_t *b,
                                 const uint32_t *c, uint32_t *out, unsigned n,
                                 uint32_t mode) {
  const Flushes flushes(mode);
  const Words inputs = Words{} + flushes.inputs,
              results = Words{} + flushes.results;
  for (; n; n -= BlockLanes) {
    Words r[BlockVectors];
    Ints nan = {}, zero = {};
    auto get = [&](const uint32_t *from) {
      return source<Flush>(from, inputs);
    };
    eachVector([&](unsigned p) {
      const unsigned l = p * VectorLanes;
      const Floats x = get(a + l), y = get(b + l);
      nan |= unordered(x, y);
      r[p] = (Words)x;
      if constexpr (N == 2) {
        Op::two(r[p], (Words)y);
      } else {
        const Floats z = get(c + l);
        nan |= unordered(z, z);
        if constexpr (HasNumbers<Op>) {
          const Floats number = Op::ofNumbers(x, y, z);
          zero |= number == 0;
          r[p] = (Words)number;
        } else {
          Op::three(r[p], (Words)y, (Words)z);
        }
      }
      if constexpr (Flush)
        clearDenormals(r[p], results);
    });
    if (__builtin_expect(anySet(nan | zero), 0)) {
      if (anySet(nan))
        return choiceRest<Op, N>(a, b, c, out, n, mode);
      if constexpr (HasNumbers<Op>)
        choiceBlock<Op, Flush>(a, b, c, r, flushes);
    }
    eachVector([&](unsigned p) { store(out + p * VectorLanes, r[p]); });
    a += BlockLanes;
    b += BlockLanes;
    c += BlockLanes;
    out += BlockLanes;
  }
}
template <typename Op, unsigned N>
void choiceKernel(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                  uint32_t *out, unsigned n, uint32_t mode) {
  constexpr uint32_t keep = 3u << ModeDenorm32Shift;
  if (__builtin_expect((mode & keep) != keep, 0))
    return choiceLoop<Op, N, true>(a, b, c, out, n, mode);
  choiceLoop<Op, N, false>(a, b, c, out, n, mode);
}
template <typename Op, unsigned N>
void addChoice(SemanticsTable &t, const char *name) {
  t.addBinder(name, bindLanes<Domain::Single, N>).kernel = choiceKernel<Op, N>;
}

//===----------------------------------------------------------------------===//
// Rounding to integers
//===----------------------------------------------------------------------===//

/// With the host's numbers.
enum class Rounding { Even = 0, Down = 1, Up = 2, ToZero = 3 };

template <Rounding Mode> struct Round {
  NETRA_SIM_INLINE Floats operator()(const Floats &x) const {
#if defined(__AVX2__)
    return (Floats)_mm256_round_ps((__m256)x, int(Mode) | _MM_FROUND_NO_EXC);
#else
    Floats r;
    for (unsigned l = 0; l < VectorLanes; ++l)
      r[l] = Mode == Rounding::Even   ? roundEven(x[l])
             : Mode == Rounding::Down ? std::floor(x[l])
             : Mode == Rounding::Up   ? std::ceil(x[l])
                                      : std::trunc(x[l]);
    return r;
#endif
  }
};
struct Fraction {
  NETRA_SIM_INLINE Floats operator()(const Floats &x) const {
    // x - floor(x) rounds to 1 for tiny negative x; the result stays below 1.
    const Floats r = x - Round<Rounding::Down>{}(x);
    constexpr float last = 0x1.fffffep-1f;
    return r > last ? Floats{} + last : r;
  }
};

//===----------------------------------------------------------------------===//
// Division support and the like
//===----------------------------------------------------------------------===//

struct Division {
  U value;
  bool scaled;
};

/// The exponent field.
int exponentOf(U bits) { return int(bits >> 23 & 0xff); }
bool isDenormal(U bits) {
  return exponentOf(bits) == 0 && (bits & 0x7fffff) != 0;
}
U scale(U bits, int by) {
  return U(convertFloatScaled(formatF32, formatF32, bits, by));
}

/// v_div_scale: \p a is the numerator \p n or the denominator \p d, scaled so
/// that the Newton iterations neither overflow nor lose bits.
Division divScale(U a, U d, U n) {
  if ((n & 0x7fffffff) == 0 || (d & 0x7fffffff) == 0)
    return {DefaultNan32, false};
  const double quotient = std::fabs(double(asFloat(n)) / double(asFloat(d)));
  const double reciprocal = std::fabs(1.0 / double(asFloat(d)));
  const bool quotientDenormal = quotient > 0 && quotient < 0x1p-126;
  // The reciprocal of the denominator is compared in single precision's range.
  const bool reciprocalDenormal = reciprocal > 0 && reciprocal < 0x1p-126;
  if (exponentOf(n) - exponentOf(d) >= 96) {
    return {a == d ? scale(a, 64) : a, true};
  }
  if (isDenormal(d))
    return {scale(a, 64), false};
  // A denominator so large that its reciprocal is denormal is made smaller
  // alone; v_div_fmas takes that back.
  if (reciprocalDenormal && quotientDenormal)
    return {a == d ? scale(a, -64) : a, true};
  if (reciprocalDenormal)
    return {scale(a, -64), false};
  if (quotientDenormal)
    return {a == n ? scale(a, 64) : a, true};
  if (exponentOf(n) <= 23)
    return {scale(a, 64), false};
  return {a, false};
}

void divScaleF32(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result, scaled;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F32, t0);
  const uint32_t *d = fetch(I, w, 1, 0, SourceType::F32, t1);
  const uint32_t *n = fetch(I, w, 2, 0, SourceType::F32, t2);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    Division r = divScale(a[l], d[l], n[l]);
    result.lane[l] = r.value;
    scaled.lane[l] = r.scaled;
  }
  const uint64_t mask = w.activeMask();
  storeWord(w, I.dst(), 0, result.lane, mask);
  storeCondition(w, I.dst(1), scaled.lane, mask);
}

/// fma; in the lanes that VCC marks it undoes the scaling of v_div_scale, by
/// 2^64 for quotients that were made small and 2^-64 for those made large, with
/// one rounding for both.
void divFmasF32(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result;
  const FloatEnv env = floatEnv(w, true);
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F32, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::F32, t1);
  const uint32_t *c = fetch(I, w, 2, 0, SourceType::F32, t2);
  const uint32_t *source[] = {a, b, c};
  runSingle(floatKernel<FusedMultiplyAdd, 3>, w, 3, source, result.lane);
  const uint64_t vcc = w.vcc();
  for (unsigned l = 0; l < w.laneCount; ++l) {
    U r = result.lane[l];
    if ((vcc >> l & 1) && !isNan32(r)) {
      const double sum = stickyFma(double(asFloat(a[l])), double(asFloat(b[l])),
                                   double(asFloat(c[l])));
      r = U(convertFloatScaled(formatF64, formatF32, asBits(sum),
                               exponentOf(c[l]) > 127 ? 64 : -64,
                               env.rounding));
      if (env.flushResults)
        r = flush32(r);
    }
    result.lane[l] = finishF32(r, I.omod, I.clamp, env);
  }
  storeResult(I, w, result.lane, w.activeMask());
}

U divFixup(U quotient, U d, U n) {
  const U sign = (d ^ n) & 0x80000000;
  const U absD = d & 0x7fffffff, absN = n & 0x7fffffff;
  if (isNan32(n))
    return n | 0x00400000;
  if (isNan32(d))
    return d | 0x00400000;
  if ((absD == 0 && absN == 0) || (absD == 0x7f800000 && absN == 0x7f800000))
    return 0xffc00000;
  if (absD == 0 || absN == 0x7f800000)
    return sign | 0x7f800000;
  if (absD == 0x7f800000 || absN == 0)
    return sign;
  if (exponentOf(n) - exponentOf(d) < -150)
    return sign; // the quotient underflows
  // Finite operands: an iteration that ended in NaN has overflowed.
  return sign | (isNan32(quotient) ? 0x7f800000 : quotient & 0x7fffffff);
}

/// Multiplication by the DX9 rule: zero times anything is +0.
U mulLegacy(U a, U b) {
  if ((a & 0x7fffffff) == 0 || (b & 0x7fffffff) == 0)
    return 0;
  if (isNan32(a))
    return a | 0x00400000;
  if (isNan32(b))
    return b | 0x00400000;
  return asBits(asFloat(a) * asFloat(b));
}

/// The face of a cube that a direction points at: the axis of its largest
/// coordinate, z before y before x, and whether that one is negative.
struct CubeFace {
  unsigned axis;
  bool negative;
};
CubeFace cubeFace(U x, U y, U z) {
  const float ax = std::fabs(asFloat(x)), ay = std::fabs(asFloat(y)),
              az = std::fabs(asFloat(z));
  const unsigned axis = az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
  return {axis, asFloat(axis == 2 ? z : axis == 1 ? y : x) < 0.0f};
}
U cubeId(U x, U y, U z) {
  const CubeFace face = cubeFace(x, y, z);
  return asBits(float(2 * face.axis + face.negative));
}
U cubeS(U x, U y, U z) {
  const CubeFace face = cubeFace(x, y, z);
  const U turn = 0x80000000;
  if (face.axis == 2)
    return face.negative ? x ^ turn : x;
  if (face.axis == 1)
    return x;
  return face.negative ? z : z ^ turn;
}
U cubeT(U x, U y, U z) {
  const CubeFace face = cubeFace(x, y, z);
  if (face.axis == 1)
    return face.negative ? z ^ 0x80000000 : z;
  return y ^ 0x80000000;
}
U cubeMajor(U x, U y, U z) {
  const unsigned axis = cubeFace(x, y, z).axis;
  const U major = axis == 2 ? z : axis == 1 ? y : x;
  return isNan32(major) ? major | 0x00400000 : asBits(asFloat(major) * 2.0f);
}

U frexpExponent(U bits) {
  const U magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x7f800000 || magnitude == 0)
    return 0;
  if (magnitude < 0x00800000)
    return U(31 - __builtin_clz(magnitude) - 149 + 1);
  return U(exponentOf(bits) - 126);
}
U frexpMantissa(U bits) {
  const U magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x7f800000)
    return isNan32(bits) ? bits | 0x00400000 : bits;
  if (magnitude == 0)
    return bits;
  int e = int(frexpExponent(bits));
  return scale(bits, -e);
}

void frexpExpF32(const Instruction &I, Wave &w) {
  LaneVector t, result;
  const bool flush = floatEnv(w, true).flushInputs;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F32, t);
  for (unsigned l = 0; l < w.laneCount; ++l)
    result.lane[l] = frexpExponent(flush ? flush32(a[l]) : a[l]);
  storeResult(I, w, result.lane, writeMask(I, w));
}

void ldexpF32(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const FloatEnv env = floatEnv(w, true);
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::F32, t0);
  const uint32_t *b = fetch(I, w, 1, 0, SourceType::Int, t1);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    U x = env.flushInputs ? flush32(a[l]) : a[l];
    int by = int32_t(b[l]);
    by = by > 1000 ? 1000 : by < -1000 ? -1000 : by;
    U r = U(convertFloatScaled(formatF32, formatF32, x, by, env.rounding));
    if (env.flushResults)
      r = flush32(r);
    result.lane[l] = finishF32(r, I.omod, I.clamp, env);
  }
  storeResult(I, w, result.lane, writeMask(I, w));
}

/// f32 dot product of two pairs of 16-bit floats. Denormals are flushed
/// whatever MODE says, and each step rounds to nearest.
template <bool Bf16, bool Accumulates>
void dot2F32(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result;
  const uint32_t *a = w.lanes(I.src(0), 0, t0), *b = w.lanes(I.src(1), 0, t1);
  const uint32_t *c =
      Accumulates ? w.row(I.dst().index) : w.lanes(I.src(2), 0, t2);
  auto widen = [](U half) {
    return Bf16 ? flush32(half << 16) : f32FromF16(flush16(half));
  };
  const FloatEnv env = floatEnv(w, true);
  const bool packed = !Accumulates;
  for (unsigned l = 0; l < w.laneCount; ++l) {
    U x[2], y[2];
    for (unsigned h = 0; h < 2; ++h) {
      // op_sel and op_sel_hi name the half that each product takes.
      const unsigned sel = h ? I.opSelHi : I.opSel;
      const unsigned xh = packed ? sel & 1 : h, yh = packed ? sel >> 1 & 1 : h;
      x[h] = widen(a[l] >> (16 * xh) & 0xffff);
      y[h] = widen(b[l] >> (16 * yh) & 0xffff);
      if (packed) {
        const unsigned neg = h ? I.negHi : I.negLo;
        x[h] ^= (neg & 1) << 31;
        y[h] ^= (neg >> 1 & 1) << 31;
      }
    }
    U z = flush32(c[l]);
    if (packed)
      z = (I.negHi & 4 ? z & 0x7fffffff : z) ^ (I.negLo & 4 ? 0x80000000 : 0);
    float sum;
    if constexpr (Bf16) {
      float product = asFloat(x[0]) * asFloat(y[0]);
      sum = __builtin_fmaf(asFloat(x[1]), asFloat(y[1]), product);
      sum += asFloat(z);
    } else {
      sum = __builtin_fmaf(asFloat(x[0]), asFloat(y[0]), asFloat(z));
      sum = __builtin_fmaf(asFloat(x[1]), asFloat(y[1]), sum);
    }
    U r = flush32(asBits(sum));
    if (isNan32(r))
      r = DefaultNan32;
    result.lane[l] = finishF32(r, 0, I.clamp, env);
  }
  storeResult(I, w, result.lane, writeMask(I, w));
}

} // namespace

void registerVectorFloat(SemanticsTable &t) {
  add<2>(t, "v_add_f32", Add{});
  add<2>(t, "v_sub_f32", Subtract{});
  add<2>(t, "v_subrev_f32", SubtractReversed{});
  add<2>(t, "v_mul_f32", Multiply{});
  constexpr FusedMultiplyAdd fma;
  // The assembly order of v_fmamk is already S0, K, S1.
  for (const char *name : {"v_fma_f32", "v_fmaak_f32", "v_fmamk_f32"})
    add<3>(t, name, fma);
  t.addBinder("v_fmac_f32", bindLanes<Domain::Single, 3, true>).kernel =
      floatKernel<FusedMultiplyAdd, 3>;
  addBits<2>(t, "v_mul_legacy_f32", [](U a, U b) { return mulLegacy(a, b); });
  addChoice<Minimum, 2>(t, "v_min_f32");
  addChoice<Maximum, 2>(t, "v_max_f32");
  addChoice<Minimum, 3>(t, "v_min3_f32");
  addChoice<Maximum, 3>(t, "v_max3_f32");
  addChoice<Median, 3>(t, "v_med3_f32");
  addChoice<Propagating<false>, 3>(t, "v_minimum3_f32");
  addChoice<Propagating<true>, 3>(t, "v_maximum3_f32");
  add<1>(t, "v_trunc_f32", Round<Rounding::ToZero>{});
  add<1>(t, "v_ceil_f32", Round<Rounding::Up>{});
  add<1>(t, "v_floor_f32", Round<Rounding::Down>{});
  add<1>(t, "v_rndne_f32", Round<Rounding::Even>{});
  add<1>(t, "v_fract_f32", Fraction{});
  addBits<1>(t, "v_frexp_mant_f32", [](U a) { return frexpMantissa(a); });
  t.add("v_frexp_exp_i32_f32", frexpExpF32, AllEncodings);
  t.add("v_ldexp_f32", ldexpF32);
  t.add("v_div_scale_f32", divScaleF32, unsigned(Encoding::Plain),
        Fidelity::Bounded,
        "where the ISA's pseudo-code contradicts itself, scaled so that the "
        "division sequence gives the correctly rounded quotient");
  t.add("v_div_fmas_f32", divFmasF32);
  addBits<3>(t, "v_div_fixup_f32",
             [](U a, U b, U c) { return divFixup(a, b, c); });
  addBits<3>(t, "v_cubeid_f32", [](U x, U y, U z) { return cubeId(x, y, z); });
  addBits<3>(t, "v_cubesc_f32", [](U x, U y, U z) { return cubeS(x, y, z); });
  addBits<3>(t, "v_cubetc_f32", [](U x, U y, U z) { return cubeT(x, y, z); });
  addBits<3>(t, "v_cubema_f32",
             [](U x, U y, U z) { return cubeMajor(x, y, z); });
  const char *dotNote = "products and sums rounded one after the other; the "
                        "ISA does not fix the hardware's intermediate rounding";
  t.add("v_dot2_f32_f16", dot2F32<false, false>, unsigned(Encoding::Plain),
        Fidelity::Bounded, dotNote);
  t.add("v_dot2_f32_bf16", dot2F32<true, false>, unsigned(Encoding::Plain),
        Fidelity::Bounded, dotNote);
  t.add("v_dot2c_f32_f16", dot2F32<false, true>,
        unsigned(Encoding::Plain) | unsigned(Encoding::Dpp), Fidelity::Bounded,
        dotNote);
  t.add("v_dot2c_f32_bf16", dot2F32<true, true>,
        unsigned(Encoding::Plain) | unsigned(Encoding::Dpp), Fidelity::Bounded,
        dotNote);
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
