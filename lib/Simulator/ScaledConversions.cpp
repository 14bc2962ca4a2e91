//===- ScaledConversions.cpp - v_cvt_scalef32_* ---------------------------===//
// SPDX-License-Identifier: MIT
//
// Conversions between f32, f16, bf16 and the 8-, 6- and 4-bit formats with a
// power-of-two scale, the exponent field of an f32 source. Narrowing divides by
// the scale, widening multiplies. FP6 and FP4 results saturate; 8-bit results
// follow FP16_OVFL.
//
//===----------------------------------------------------------------------===//
#include "LaneAlu.h"
#include "VectorAlu.h"

#include <string>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;

enum class Type : uint8_t { F32, F16, Bf16, Fp8, Bf8, Fp6, Bf6, Fp4 };

constexpr const FloatFormat &formatOf(Type type) {
  switch (type) {
  case Type::F32:
    return formatF32;
  case Type::F16:
    return formatF16;
  case Type::Bf16:
    return formatBf16;
  case Type::Fp8:
    return formatFp8;
  case Type::Bf8:
    return formatBf8;
  case Type::Fp6:
    return formatFp6;
  case Type::Bf6:
    return formatBf6;
  case Type::Fp4:
    return formatFp4;
  }
  return formatF32;
}
constexpr unsigned bitsOf(Type type) { return formatOf(type).width(); }

U nextRandom(U x) { return x << 1 ^ (x >> 31 ? 197u : 0u); }

/// The scale as a power of two; a NaN scale makes every result NaN.
struct Scale {
  int shift;
  bool nan;
};
Scale scaleOf(U bits) {
  const unsigned field = bits >> 23 & 0xff;
  return {int(field) - 127, field == 0xff};
}

template <Type From> U flushSource(const FloatEnv &env, U bits) {
  if (From == Type::F32 && env.flushInputs)
    return flush32(bits);
  return bits;
}

template <Type From, Type To>
U narrow(const FloatEnv &env, U bits, Scale scale, bool stochastic, U random) {
  constexpr bool eight = To == Type::Fp8 || To == Type::Bf8;
  const FloatFormat &to = formatOf(To);
  if (scale.nan)
    return eight ? U(to.infinity() | to.mantissaMask()) : U(to.maxFinite());
  const bool saturate = !eight || env.fp16Overflow;
  const OverflowRule rule =
      saturate ? OverflowRule::Saturate : OverflowRule::Ieee;
  bits = flushSource<From>(env, bits);
  return U(stochastic
               ? convertFloatStochastic(formatOf(From), to, bits, -scale.shift,
                                        random, rule, saturate)
               : convertFloatScaled(formatOf(From), to, bits, -scale.shift,
                                    RoundingMode::NearestEven, rule, saturate));
}
template <Type From, Type To> U widen(U code, Scale scale) {
  const FloatFormat &to = formatOf(To);
  if (scale.nan)
    return U(to.quietNan());
  return U(convertFloatScaled(formatOf(From), to, code, scale.shift));
}

void keepRest(const Instruction &I, Wave &w, const uint32_t *value,
              unsigned shift, U field) {
  const uint32_t *old = w.row(I.dst().index);
  LaneVector merged;
  eachLane(w.laneCount, [&](unsigned l) {
    merged.lane[l] = (old[l] & ~(field << shift)) | (value[l] & field) << shift;
  });
  storeWord(w, I.dst(), 0, merged.lane, w.activeMask());
}

/// Two values to two codes: from S0 and S1 (f32) or the halves of S0; the
/// scale is the next source.
template <Type From, Type To> void narrowPair(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result;
  const FloatEnv env = floatEnv(w, true);
  constexpr bool single = From == Type::F32;
  const uint32_t *a =
      fetch(I, w, 0, 0, single ? SourceType::F32 : SourceType::Int, t0);
  const uint32_t *b = single ? fetch(I, w, 1, 0, SourceType::F32, t1) : a;
  const uint32_t *s = fetch(I, w, single ? 2 : 1, 0, SourceType::Int, t2);
  constexpr unsigned bits = bitsOf(To);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const U x = single ? a[l] : a[l] & 0xffff, y = single ? b[l] : a[l] >> 16;
    const Scale scale = scaleOf(s[l]);
    result.lane[l] = narrow<From, To>(env, x, scale, false, 0) |
                     narrow<From, To>(env, y, scale, false, 0) << bits;
  }
  if (bits == 8)
    keepRest(I, w, result.lane, I.opSel & 8 ? 16 : 0, 0xffff);
  else
    keepRest(I, w, result.lane, 8 * (I.opSel >> 2 & 3), 0xff);
}

/// One value, stochastically, to the byte that op_sel names.
template <Type From, Type To> void narrowRandom(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, result;
  const FloatEnv env = floatEnv(w, true);
  const uint32_t *a = fetch(I, w, 0, 0,
                            From == Type::F32   ? SourceType::F32
                            : From == Type::F16 ? SourceType::F16
                                                : SourceType::Int16,
                            t0);
  const uint32_t *r = fetch(I, w, 1, 0, SourceType::Int, t1);
  const uint32_t *s = fetch(I, w, 2, 0, SourceType::Int, t2);
  for (unsigned l = 0; l < w.laneCount; ++l)
    result.lane[l] = narrow<From, To>(env, a[l], scaleOf(s[l]), true, r[l]);
  keepRest(I, w, result.lane, 8 * (I.opSel >> 2 & 3), 0xff);
}

/// Two values to FP4, each with a random number of its own.
template <Type From> void narrowRandomPair(const Instruction &I, Wave &w) {
  LaneVector t0, t1, t2, t3, result;
  const FloatEnv env = floatEnv(w, true);
  constexpr bool single = From == Type::F32;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int, t0);
  const uint32_t *b = single ? fetch(I, w, 0, 1, SourceType::Int, t1) : a;
  const uint32_t *r = fetch(I, w, 1, 0, SourceType::Int, t2);
  const uint32_t *s = fetch(I, w, 2, 0, SourceType::Int, t3);
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const U x = single ? a[l] : a[l] & 0xffff, y = single ? b[l] : a[l] >> 16;
    const Scale scale = scaleOf(s[l]);
    result.lane[l] =
        narrow<From, Type::Fp4>(env, x, scale, true, r[l]) |
        narrow<From, Type::Fp4>(env, y, scale, true, nextRandom(r[l])) << 4;
  }
  keepRest(I, w, result.lane, 8 * (I.opSel >> 2 & 3), 0xff);
}

/// One 8-bit code to f32 or to the half of f16 that op_sel names.
template <Type From, Type To> void widenOne(const Instruction &I, Wave &w) {
  LaneVector t0, t1, result;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int, t0);
  const uint32_t *s = fetch(I, w, 1, 0, SourceType::Int, t1);
  const unsigned shift = 8 * (I.opSel & 3);
  for (unsigned l = 0; l < w.laneCount; ++l)
    result.lane[l] = widen<From, To>(a[l] >> shift & 0xff, scaleOf(s[l]));
  if (To == Type::F32)
    storeWord(w, I.dst(), 0, result.lane, w.activeMask());
  else
    keepRest(I, w, result.lane, I.opSel & 8 ? 16 : 0, 0xffff);
}

/// Two codes, from the word or byte that op_sel names, to a pair.
template <Type From, Type To> void widenPair(const Instruction &I, Wave &w) {
  LaneVector t0, t1, low, high;
  const uint32_t *a = fetch(I, w, 0, 0, SourceType::Int, t0);
  const uint32_t *s = fetch(I, w, 1, 0, SourceType::Int, t1);
  constexpr unsigned bits = bitsOf(From);
  const unsigned shift = bits == 8 ? 16 * (I.opSel & 1) : 8 * (I.opSel & 3);
  constexpr U mask = (1u << bits) - 1;
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const Scale scale = scaleOf(s[l]);
    low.lane[l] = widen<From, To>(a[l] >> shift & mask, scale);
    high.lane[l] = widen<From, To>(a[l] >> (shift + bits) & mask, scale);
  }
  if (To == Type::F32) {
    storeWord(w, I.dst(), 0, low.lane, w.activeMask());
    storeWord(w, I.dst(), 1, high.lane, w.activeMask());
  } else {
    eachLane(w.laneCount,
             [&](unsigned l) { low.lane[l] |= high.lane[l] << 16; });
    storeWord(w, I.dst(), 0, low.lane, w.activeMask());
  }
}

/// 32 six-bit codes in six registers.
struct Codes {
  U word[6] = {};
  void put(unsigned k, U code) {
    const unsigned at = k * 6;
    word[at / 32] |= code << at % 32;
    if (at % 32 > 26)
      word[at / 32 + 1] |= code >> (32 - at % 32);
  }
  U get(unsigned k) const {
    const unsigned at = k * 6;
    U value = word[at / 32] >> at % 32;
    if (at % 32 > 26)
      value |= word[at / 32 + 1] << (32 - at % 32);
    return value & 0x3f;
  }
};

/// How the sources of a 32-element conversion lie.
enum class Layout : uint8_t { OneSource, Interleaved, Random };

template <Type From, Type To, Layout L>
void narrow32(const Instruction &I, Wave &w) {
  const FloatEnv env = floatEnv(w, true);
  constexpr bool single = From == Type::F32;
  const unsigned last = L == Layout::OneSource ? 1 : 2;
  const unsigned n = w.laneCount;
  LaneVector t0, t1;
  const uint32_t *s = fetch(I, w, last, 0, SourceType::Int, t0);
  const uint32_t *r =
      L == Layout::Random ? fetch(I, w, 1, 0, SourceType::Int, t1) : s;
  LaneVector result[6];
  for (unsigned l = 0; l < n; ++l) {
    const Scale scale = scaleOf(s[l]);
    U random = r[l];
    Codes codes;
    for (unsigned k = 0; k < 32; ++k) {
      U bits;
      if (L == Layout::Interleaved)
        bits = w.row(I.src(k & 1).index + k / 2)[l];
      else if (single)
        bits = w.row(I.src(0).index + k)[l];
      else
        bits = w.row(I.src(0).index + k / 2)[l] >> (16 * (k & 1)) & 0xffff;
      codes.put(
          k, narrow<From, To>(env, bits, scale, L == Layout::Random, random));
      random = nextRandom(random);
    }
    for (unsigned k = 0; k < 6; ++k)
      result[k].lane[l] = codes.word[k];
  }
  for (unsigned k = 0; k < 6; ++k)
    storeWord(w, I.dst(), k, result[k].lane, w.activeMask());
}

template <Type From, Type To> void widen32(const Instruction &I, Wave &w) {
  LaneVector t;
  const uint32_t *s = fetch(I, w, 1, 0, SourceType::Int, t);
  constexpr unsigned words = To == Type::F32 ? 32 : 16;
  LaneVector result[words];
  for (unsigned l = 0; l < w.laneCount; ++l) {
    const Scale scale = scaleOf(s[l]);
    Codes codes;
    for (unsigned k = 0; k < 6; ++k)
      codes.word[k] = w.row(I.src(0).index + k)[l];
    for (unsigned k = 0; k < 32; ++k) {
      const U value = widen<From, To>(codes.get(k), scale);
      if (To == Type::F32)
        result[k % words].lane[l] = value;
      else if (k & 1)
        result[k / 2 % words].lane[l] |= value << 16;
      else
        result[k / 2 % words].lane[l] = value;
    }
  }
  for (unsigned k = 0; k < words; ++k)
    storeWord(w, I.dst(), k, result[k].lane, w.activeMask());
}

constexpr const char *randomNote =
    "one of the two neighbours, chosen with the probability of the discarded "
    "part";

template <Type From, Type To>
void addEight(SemanticsTable &t, const std::string &from,
              const std::string &to) {
  t.add("v_cvt_scalef32_pk_" + to + "_" + from, narrowPair<From, To>);
  t.add("v_cvt_scalef32_sr_" + to + "_" + from, narrowRandom<From, To>,
        unsigned(Encoding::Plain), Fidelity::Bounded, randomNote);
  t.add("v_cvt_scalef32_pk_" + from + "_" + to, widenPair<To, From>);
  if constexpr (From != Type::Bf16)
    t.add("v_cvt_scalef32_" + from + "_" + to, widenOne<To, From>);
}
template <Type From> void addFour(SemanticsTable &t, const std::string &from) {
  t.add("v_cvt_scalef32_pk_fp4_" + from, narrowPair<From, Type::Fp4>);
  t.add("v_cvt_scalef32_sr_pk_fp4_" + from, narrowRandomPair<From>,
        unsigned(Encoding::Plain), Fidelity::Bounded, randomNote);
  t.add("v_cvt_scalef32_pk_" + from + "_fp4", widenPair<Type::Fp4, From>);
}
template <Type From, Type To>
void addSix(SemanticsTable &t, const std::string &from, const std::string &to) {
  if constexpr (From == Type::F32)
    t.add("v_cvt_scalef32_2xpk16_" + to + "_f32",
          narrow32<From, To, Layout::Interleaved>);
  else
    t.add("v_cvt_scalef32_pk32_" + to + "_" + from,
          narrow32<From, To, Layout::OneSource>);
  t.add("v_cvt_scalef32_sr_pk32_" + to + "_" + from,
        narrow32<From, To, Layout::Random>, unsigned(Encoding::Plain),
        Fidelity::Bounded, randomNote);
  t.add("v_cvt_scalef32_pk32_" + from + "_" + to, widen32<To, From>);
}
template <Type From> void addAll(SemanticsTable &t, const std::string &from) {
  addEight<From, Type::Fp8>(t, from, "fp8");
  addEight<From, Type::Bf8>(t, from, "bf8");
  addSix<From, Type::Fp6>(t, from, "fp6");
  addSix<From, Type::Bf6>(t, from, "bf6");
  addFour<From>(t, from);
}

} // namespace

void registerScaledConversions(SemanticsTable &t) {
  addAll<Type::F32>(t, "f32");
  addAll<Type::F16>(t, "f16");
  addAll<Type::Bf16>(t, "bf16");
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
