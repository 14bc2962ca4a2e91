//===- VectorCompare.cpp - v_cmp and v_cmpx -------------------------------===//
// SPDX-License-Identifier: MIT
#include "FloatOps.h"
#include "LaneAlu.h"
#include "VectorAlu.h"

#include <string>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

using U = uint32_t;
using UL = uint64_t;

/// Gathers bit 0 of every lane; eight at a time by a multiplication.
NETRA_SIM_INLINE UL gatherBits(const uint8_t *flag, unsigned n) {
  UL mask = 0;
  for (unsigned l = 0; l < n; l += 8) {
    UL bytes;
    std::memcpy(&bytes, flag + l, 8);
    mask |= (bytes * 0x0102040810204080ull >> 56) << l;
  }
  return mask;
}

/// The bits of lanes that are switched off become 0. v_cmpx writes EXEC too.
template <bool WritesExec>
NETRA_SIM_INLINE void finish(const Instruction &I, Wave &w,
                             const uint8_t *flag) {
  const UL mask = gatherBits(flag, w.laneCount) & writeMask(I, w);
  w.setScalar64(I.dst(), mask);
  if (WritesExec)
    w.setExec(mask);
}

struct alignas(64) Flags {
  uint8_t lane[MaxLanes];
};

enum class Kind : uint8_t { I32, U32, I16, U16, I64, U64, F32, F16, F64 };

template <Kind K>
constexpr bool isWide = K == Kind::I64 || K == Kind::U64 || K == Kind::F64;

/// Decodes one value of kind \p K to something that compares.
template <Kind K> NETRA_SIM_INLINE auto decode(U low, U high, bool flush) {
  if constexpr (K == Kind::I32)
    return int32_t(low);
  else if constexpr (K == Kind::U32)
    return low;
  else if constexpr (K == Kind::I16)
    return int32_t(int16_t(low));
  else if constexpr (K == Kind::U16)
    return low & 0xffff;
  else if constexpr (K == Kind::I64)
    return int64_t(low | UL(high) << 32);
  else if constexpr (K == Kind::U64)
    return low | UL(high) << 32;
  else if constexpr (K == Kind::F32)
    return asFloat(flush ? flush32(low) : low);
  else if constexpr (K == Kind::F16)
    return asFloat(f32FromF16(flush ? flush16(low) : low));
  else
    return asDouble(flush ? flush64(low | UL(high) << 32)
                          : low | UL(high) << 32);
}

template <Kind K>
constexpr SourceType sourceType =
    K == Kind::F32                     ? SourceType::F32
    : K == Kind::F16                   ? SourceType::F16
    : K == Kind::I16 || K == Kind::U16 ? SourceType::Int16
                                       : SourceType::Int;

template <typename F, Kind K, bool WritesExec>
void compare(const Instruction &I, Wave &w) {
  LaneVector t[4];
  constexpr SourceType type = sourceType<K>;
  constexpr SourceType high = K == Kind::F64 ? SourceType::F64High : type;
  const uint32_t *a, *b, *ah, *bh;
  if (!isWide<K> && type == SourceType::Int && isBare(I)) {
    a = ah = w.lanes(I.src(0), 0, t[0]);
    b = bh = w.lanes(I.src(1), 0, t[1]);
  } else {
    a = fetch(I, w, 0, 0, isWide<K> ? SourceType::Int : type, t[0]);
    b = fetch(I, w, 1, 0, isWide<K> ? SourceType::Int : type, t[1]);
    ah = isWide<K> ? fetch(I, w, 0, 1, high, t[2]) : a;
    bh = isWide<K> ? fetch(I, w, 1, 1, high, t[3]) : b;
  }
  Flags flags;
  const bool flush = floatEnv(w, K == Kind::F32).flushInputs;
  auto run = [&](bool f) {
    eachLane(w.laneCount, [&](unsigned l) {
      flags.lane[l] =
          F{}(decode<K>(a[l], ah[l], f), decode<K>(b[l], bh[l], f)) ? 1 : 0;
    });
  };
  if (flush)
    run(true);
  else
    run(false);
  finish<WritesExec>(I, w, flags.lane);
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

template <Kind K, bool WritesExec>
void compareClass(const Instruction &I, Wave &w) {
  LaneVector t[3];
  const uint32_t *a =
      fetch(I, w, 0, 0, isWide<K> ? SourceType::Int : sourceType<K>, t[0]);
  const uint32_t *ah =
      isWide<K> ? fetch(I, w, 0, 1, SourceType::F64High, t[1]) : a;
  const uint32_t *mask = fetch(I, w, 1, 0, SourceType::Int, t[2]);
  Flags flags;
  for (unsigned l = 0; l < w.laneCount; ++l) {
    unsigned cls = K == Kind::F32   ? classOf(a[l], 8, 23)
                   : K == Kind::F16 ? classOf(a[l], 5, 10)
                                    : classOf(a[l] | UL(ah[l]) << 32, 11, 52);
    flags.lane[l] = mask[l] >> cls & 1;
  }
  finish<WritesExec>(I, w, flags.lane);
}

constexpr unsigned Encodings =
    unsigned(Encoding::Plain) | unsigned(Encoding::Sdwa);

template <Kind K, typename F>
void addOne(SemanticsTable &t, const char *condition, const char *type, F) {
  const std::string tail = std::string(condition) + "_" + type;
  t.add("v_cmp_" + tail, compare<F, K, false>, Encodings);
  t.add("v_cmpx_" + tail, compare<F, K, true>, Encodings);
}

template <Kind K> void addIntegers(SemanticsTable &t, const char *type) {
  addOne<K>(t, "f", type, [](auto, auto) { return false; });
  addOne<K>(t, "lt", type, [](auto a, auto b) { return a < b; });
  addOne<K>(t, "eq", type, [](auto a, auto b) { return a == b; });
  addOne<K>(t, "le", type, [](auto a, auto b) { return a <= b; });
  addOne<K>(t, "gt", type, [](auto a, auto b) { return a > b; });
  addOne<K>(t, "ne", type, [](auto a, auto b) { return a != b; });
  addOne<K>(t, "ge", type, [](auto a, auto b) { return a >= b; });
  addOne<K>(t, "t", type, [](auto, auto) { return true; });
}

template <Kind K> void addFloats(SemanticsTable &t, const char *type) {
  addOne<K>(t, "f", type, [](auto, auto) { return false; });
  addOne<K>(t, "lt", type, [](auto a, auto b) { return a < b; });
  addOne<K>(t, "eq", type, [](auto a, auto b) { return a == b; });
  addOne<K>(t, "le", type, [](auto a, auto b) { return a <= b; });
  addOne<K>(t, "gt", type, [](auto a, auto b) { return a > b; });
  addOne<K>(t, "lg", type, [](auto a, auto b) { return a < b || a > b; });
  addOne<K>(t, "ge", type, [](auto a, auto b) { return a >= b; });
  addOne<K>(t, "o", type, [](auto a, auto b) { return a == a && b == b; });
  addOne<K>(t, "u", type, [](auto a, auto b) { return a != a || b != b; });
  addOne<K>(t, "nge", type, [](auto a, auto b) { return !(a >= b); });
  addOne<K>(t, "nlg", type, [](auto a, auto b) { return !(a < b || a > b); });
  addOne<K>(t, "ngt", type, [](auto a, auto b) { return !(a > b); });
  addOne<K>(t, "nle", type, [](auto a, auto b) { return !(a <= b); });
  addOne<K>(t, "neq", type, [](auto a, auto b) { return !(a == b); });
  addOne<K>(t, "nlt", type, [](auto a, auto b) { return !(a < b); });
  addOne<K>(t, "tru", type, [](auto, auto) { return true; });
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
