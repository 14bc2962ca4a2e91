//===- VectorCompare.cpp - v_cmp and v_cmpx -------------------------------===//
// SPDX-License-Identifier: MIT
#include "LaneAlu.h"
#include "LaneVectors.h"
#include "VectorAlu.h"

#include <string>
#include <type_traits>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;
using UL = uint64_t;

/// Lanes by the relation of their two operands; what is left is greater.
struct Relation {
  UL less = 0, equal = 0, unordered = 0;
};

/// What a comparison asks for, with the hardware's numbers; WritesExec is
/// v_cmpx.
enum Wanted : unsigned {
  Less = 1,
  Equal = 2,
  Greater = 4,
  Unordered = 8,
  WritesExec = 16
};

/// The bits of lanes that are switched off become 0. v_cmpx writes EXEC too.
void finish(const Instruction &I, Wave &w, UL mask, bool writesExec) {
  mask &= writeMask(I, w);
  w.setScalar64(I.dst(), mask);
  if (writesExec)
    w.setExec(mask);
}

void conclude(const Instruction &I, Wave &w, const Relation &r,
              unsigned wanted) {
  UL mask = 0;
  if (wanted & Less)
    mask |= r.less;
  if (wanted & Equal)
    mask |= r.equal;
  if (wanted & Greater)
    mask |= ~(r.less | r.equal | r.unordered);
  if (wanted & Unordered)
    mask |= r.unordered;
  finish(I, w, mask, wanted & WritesExec);
}

/// Relation of signed words after \p flip has been applied to both: flipping
/// the sign bit orders unsigned ones.
__attribute__((noinline)) Relation relateWords(unsigned n, const uint32_t *a,
                                               const uint32_t *b, U flip) {
  Relation r;
  for (unsigned l = 0; l < n; l += VectorLanes) {
    const Ints x = (Ints)(load<Words>(a + l) ^ flip),
               y = (Ints)(load<Words>(b + l) ^ flip);
    r.less |= signBits(x < y) << l;
    r.equal |= signBits(x == y) << l;
  }
  return r;
}

__attribute__((noinline)) Relation relateFloats(unsigned n, const uint32_t *a,
                                                const uint32_t *b) {
  Relation r;
  for (unsigned l = 0; l < n; l += VectorLanes) {
    const Floats x = load<Floats>(a + l), y = load<Floats>(b + l);
    r.less |= signBits(x < y) << l;
    r.equal |= signBits(x == y) << l;
    r.unordered |= signBits((x != x) | (y != y)) << l;
  }
  return r;
}

/// Halves are compared as integers, with both zeros, and denormals that MODE
/// flushes, at 0.
__attribute__((noinline)) Relation relateHalves(unsigned n, const uint32_t *a,
                                                const uint32_t *b, bool flush) {
  LaneVector key[2];
  UL unordered = 0;
  const U least = flush ? 0x400 : 0;
  for (unsigned k = 0; k < 2; ++k) {
    const uint32_t *from = k ? b : a;
    for (unsigned l = 0; l < n; l += VectorLanes) {
      const Words bits = load<Words>(from + l);
      const Ints magnitude = (Ints)(bits & 0x7fff);
      unordered |= signBits(magnitude > 0x7c00) << l;
      const Ints kept = magnitude & (magnitude >= int32_t(least));
      const Ints negative = -(Ints)(bits >> 15 & 1);
      store(key[k].lane + l, (kept ^ negative) - negative);
    }
  }
  Relation r = relateWords(n, key[0].lane, key[1].lane, 0);
  r.less &= ~unordered;
  r.equal &= ~unordered;
  r.unordered = unordered;
  return r;
}

enum class Kind : uint8_t { I32, U32, I16, U16, I64, U64, F32, F16, F64 };

template <Kind K>
constexpr SourceType sourceType =
    K == Kind::F32                     ? SourceType::F32
    : K == Kind::F16                   ? SourceType::F16
    : K == Kind::I16 || K == Kind::U16 ? SourceType::Int16
                                       : SourceType::Int;

template <Kind K>
__attribute__((noinline)) Relation relate(const Instruction &I, Wave &w) {
  LaneVector t[4];
  const unsigned n = w.laneCount;
  const uint32_t *a = fetch(I, w, 0, 0, sourceType<K>, t[0]);
  const uint32_t *b = fetch(I, w, 1, 0, sourceType<K>, t[1]);
  if constexpr (K == Kind::I32 || K == Kind::U16) {
    return relateWords(n, a, b, 0);
  } else if constexpr (K == Kind::U32) {
    return relateWords(n, a, b, 0x80000000);
  } else if constexpr (K == Kind::I16) {
    return relateWords(n, a, b, 0x8000);
  } else if constexpr (K == Kind::F16) {
    return relateHalves(n, a, b, floatEnv(w, false).flushInputs);
  } else if constexpr (K == Kind::F32) {
    if (floatEnv(w, true).flushInputs) {
      a = flushLanes(n, a, t[2]);
      b = flushLanes(n, b, t[3]);
    }
    return relateFloats(n, a, b);
  } else if constexpr (K == Kind::F64) {
    const uint32_t *ah = fetch(I, w, 0, 1, SourceType::F64High, t[2]);
    const uint32_t *bh = fetch(I, w, 1, 1, SourceType::F64High, t[3]);
    const bool flush = floatEnv(w, false).flushInputs;
    Relation r;
    for (unsigned l = 0; l < n; ++l) {
      const UL x = a[l] | UL(ah[l]) << 32, y = b[l] | UL(bh[l]) << 32;
      const double p = asDouble(flush ? flush64(x) : x),
                   q = asDouble(flush ? flush64(y) : y);
      r.less |= UL(p < q) << l;
      r.equal |= UL(p == q) << l;
      r.unordered |= UL(p != p || q != q) << l;
    }
    return r;
  } else {
    const uint32_t *ah = fetch(I, w, 0, 1, SourceType::Int, t[2]);
    const uint32_t *bh = fetch(I, w, 1, 1, SourceType::Int, t[3]);
    const Relation low = relateWords(n, a, b, 0x80000000);
    const Relation high = relateWords(n, ah, bh, K == Kind::I64 ? 0 : 1u << 31);
    return {high.less | (high.equal & low.less), high.equal & low.equal, 0};
  }
}

template <Kind K, unsigned Mask> void compare(const Instruction &I, Wave &w) {
  conclude(I, w, relate<K>(I, w), Mask);
}

/// Lanes that answer to what is wanted.
template <unsigned Mask, typename V>
NETRA_SIM_INLINE Ints answers(const V &x, const V &y) {
  if constexpr (Mask & Unordered)
    return ~answers<~Mask & 15>(x, y);
  else if constexpr (Mask == 0)
    return Ints{};
  else if constexpr (Mask == Less)
    return x < y;
  else if constexpr (Mask == Equal)
    return x == y;
  else if constexpr (Mask == (Less | Equal))
    return x <= y;
  else if constexpr (Mask == Greater)
    return x > y;
  else if constexpr (Mask == (Greater | Equal))
    return x >= y;
  else if constexpr (Mask == (Less | Greater))
    return (x < y) | (x > y);
  else
    return (x == x) & (y == y);
}

/// Comparisons of 32-bit registers as they are.
template <Kind K, unsigned Mask>
void compareBare(const Instruction &I, Wave &w) {
  using V = std::conditional_t<K == Kind::F32, Floats,
                               std::conditional_t<K == Kind::I32, Ints, Words>>;
  if (K == Kind::F32 && __builtin_expect(floatEnv(w, true).flushInputs, 0))
    return compare<K, Mask>(I, w);
  LaneVector t[2];
  const uint32_t *a = w.lanes(I.src(0), 0, t[0]);
  const uint32_t *b = w.lanes(I.src(1), 0, t[1]);
  UL mask = 0;
  for (unsigned base = 0; base < w.laneCount; base += BlockLanes) {
    uint32_t block = 0;
    eachVector([&](unsigned p) {
      const unsigned l = p * VectorLanes;
      block |= uint32_t(signBits(answers<Mask & 15>(load<V>(a + base + l),
                                                    load<V>(b + base + l))))
               << l;
    });
    mask |= UL(block) << base;
  }
  mask &= w.activeMask();
  w.setScalar64(I.dst(), mask);
  if constexpr (Mask & WritesExec)
    w.setExec(mask);
}

template <Kind K, unsigned Mask>
Handler bindCompare(const Instruction &I, const char *&) {
  if constexpr (K == Kind::I32 || K == Kind::U32 || K == Kind::F32)
    if (isBare(I))
      return compareBare<K, Mask>;
  return compare<K, Mask>;
}

/// Bits of the class mask.
NETRA_SIM_INLINE unsigned classOf(UL bits, unsigned exponentBits,
                                  unsigned mantissaBits) {
  const UL mantissa = bits & ((UL(1) << mantissaBits) - 1);
  const UL exponent = bits >> mantissaBits & ((UL(1) << exponentBits) - 1);
  const bool negative = bits >> (exponentBits + mantissaBits) & 1;
  if (exponent == (UL(1) << exponentBits) - 1) {
    if (mantissa)
      return mantissa >> (mantissaBits - 1) ? 1 : 0;
    return negative ? 2 : 9;
  }
  if (exponent)
    return negative ? 3 : 8;
  if (mantissa)
    return negative ? 4 : 7;
  return negative ? 5 : 6;
}

template <Kind K>
__attribute__((noinline)) void classify(const Instruction &I, Wave &w,
                                        bool writesExec) {
  LaneVector t[3];
  constexpr bool wide = K == Kind::F64;
  const uint32_t *a =
      fetch(I, w, 0, 0, wide ? SourceType::Int : sourceType<K>, t[0]);
  const uint32_t *ah = wide ? fetch(I, w, 0, 1, SourceType::F64High, t[1]) : a;
  const uint32_t *mask = fetch(I, w, 1, 0, SourceType::Int, t[2]);
  UL result = 0;
  for (unsigned l = 0; l < w.laneCount; ++l) {
    unsigned cls = K == Kind::F32   ? classOf(a[l], 8, 23)
                   : K == Kind::F16 ? classOf(a[l], 5, 10)
                                    : classOf(a[l] | UL(ah[l]) << 32, 11, 52);
    result |= UL(mask[l] >> cls & 1) << l;
  }
  finish(I, w, result, writesExec);
}
template <Kind K, bool Exec> void compareClass(const Instruction &I, Wave &w) {
  classify<K>(I, w, Exec);
}

constexpr unsigned Encodings =
    unsigned(Encoding::Plain) | unsigned(Encoding::Sdwa);

/// The comparisons by what they ask for, from Less up.
constexpr const char *integerNames[] = {"f",  "lt", "eq", "le",
                                        "gt", "ne", "ge", "t"};
constexpr const char *floatNames[] = {"f",   "lt",  "eq",  "le",  "gt",  "lg",
                                      "ge",  "o",   "u",   "nge", "nlg", "ngt",
                                      "nle", "neq", "nlt", "tru"};

template <Kind K, unsigned... Mask>
void addKind(SemanticsTable &t, const char *const *names, const char *type,
             std::integer_sequence<unsigned, Mask...>) {
  static constexpr Binder plain[] = {bindCompare<K, Mask>...};
  static constexpr Binder exec[] = {bindCompare<K, Mask | WritesExec>...};
  for (unsigned k = 0; k < sizeof...(Mask); ++k) {
    const std::string tail = std::string(names[k]) + "_" + type;
    t.addBinder("v_cmp_" + tail, plain[k], Encodings);
    t.addBinder("v_cmpx_" + tail, exec[k], Encodings);
  }
}
template <Kind K> void addIntegers(SemanticsTable &t, const char *type) {
  addKind<K>(t, integerNames, type, std::make_integer_sequence<unsigned, 8>());
}
template <Kind K> void addFloats(SemanticsTable &t, const char *type) {
  addKind<K>(t, floatNames, type, std::make_integer_sequence<unsigned, 16>());
  const std::string tail = std::string("class_") + type;
  t.add("v_cmp_" + tail, compareClass<K, false>, Encodings);
  t.add("v_cmpx_" + tail, compareClass<K, true>, Encodings);
}

} // namespace

void registerCompare(SemanticsTable &t) {
  addIntegers<Kind::I32>(t, "i32");
  addIntegers<Kind::U32>(t, "u32");
  addIntegers<Kind::I16>(t, "i16");
  addIntegers<Kind::U16>(t, "u16");
  addIntegers<Kind::I64>(t, "i64");
  addIntegers<Kind::U64>(t, "u64");
  addFloats<Kind::F32>(t, "f32");
  addFloats<Kind::F16>(t, "f16");
  addFloats<Kind::F64>(t, "f64");
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
