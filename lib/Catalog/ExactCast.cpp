//===- ExactCast.cpp - Casts that lose nothing ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "ExactCast.h"

#include "llvm/ADT/bit.h"

#include <cstring>

using namespace llvm;

namespace netra {

bool isExactCast(ElementType from, ElementType to) {
  if (from == to)
    return true;
  switch (from) {
  case ElementType::BF16:
  case ElementType::F16:
    return to == ElementType::F32 || to == ElementType::F64;
  case ElementType::F32:
    return to == ElementType::F64;
  default:
    return false;
  }
}

template <typename T> static T load(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T> static void store(uint8_t *to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

// Everything goes by way of the bits of an f32, which holds all narrower types.

static uint32_t widenHalf(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 31, mantissa = half & 1023;
  if (exponent == 31) // infinity and NaN
    return sign | 0x7f800000 | (mantissa << 13);
  if (exponent != 0)
    return sign | ((exponent + 112) << 23) | (mantissa << 13);
  // Zero and subnormals: mantissa * 2^-24 is exact in f32.
  return sign | bit_cast<uint32_t>(static_cast<float>(mantissa) * 0x1p-24f);
}

/// Inverts `widenHalf`; anything for what is none of its results.
static uint16_t narrowToHalf(uint32_t bits) {
  uint16_t sign = (bits >> 16) & 0x8000;
  uint32_t exponent = (bits >> 23) & 255, mantissa = bits & 0x7fffff;
  if (exponent == 255)
    return sign | 0x7c00 | (mantissa >> 13);
  if (exponent > 142)
    return sign;
  if (exponent > 112)
    return sign | ((exponent - 112) << 10) | (mantissa >> 13);
  return sign |
         static_cast<uint16_t>(bit_cast<float>(bits & 0x7fffffff) * 0x1p24f);
}

static uint64_t widenFloat(uint32_t bits) {
  if ((bits & 0x7f800000) == 0x7f800000) // a conversion would quiet a NaN
    return uint64_t(bits & 0x80000000) << 32 | 0x7ff0000000000000 |
           uint64_t(bits & 0x7fffff) << 29;
  return bit_cast<uint64_t>(static_cast<double>(bit_cast<float>(bits)));
}

/// Inverts `widenFloat`; anything for what is none of its results.
static uint32_t narrowToFloat(uint64_t bits) {
  if ((bits & 0x7ff0000000000000) == 0x7ff0000000000000)
    return uint32_t(bits >> 32 & 0x80000000) | 0x7f800000 |
           uint32_t(bits >> 29 & 0x7fffff);
  // Beyond the range of f32 the conversion would not be defined.
  double value = bit_cast<double>(bits);
  if (!(value >= -0x1.fffffep127 && value <= 0x1.fffffep127))
    return 0;
  return bit_cast<uint32_t>(static_cast<float>(value));
}

static uint32_t loadAsFloat(ElementType type, const uint8_t *from) {
  switch (type) {
  case ElementType::BF16:
    return uint32_t(load<uint16_t>(from)) << 16;
  case ElementType::F16:
    return widenHalf(load<uint16_t>(from));
  default:
    return load<uint32_t>(from);
  }
}

void widenElements(ElementType from, ElementType to, uint64_t count,
                   const uint8_t *source, uint8_t *destination) {
  if (from == to) {
    if (count)
      std::memcpy(destination, source, count * elementBytes(from));
    return;
  }
  if (from == ElementType::BF16 && to == ElementType::F32) {
    // The one that matters for speed.
    for (uint64_t i = 0; i != count; ++i)
      store(destination + 4 * i, uint32_t(load<uint16_t>(source + 2 * i))
                                     << 16);
    return;
  }
  unsigned size = elementBytes(from);
  for (uint64_t i = 0; i != count; ++i) {
    uint32_t bits = loadAsFloat(from, source + size * i);
    if (to == ElementType::F32)
      store(destination + 4 * i, bits);
    else
      store(destination + 8 * i, widenFloat(bits));
  }
}

uint64_t narrowElements(ElementType from, ElementType to, uint64_t count,
                        const uint8_t *source, uint8_t *destination) {
  if (from == to) {
    widenElements(from, to, count, source, destination);
    return count;
  }
  unsigned wide = elementBytes(from), narrow = elementBytes(to);
  for (uint64_t i = 0; i != count; ++i) {
    const uint8_t *original = source + wide * i;
    uint8_t *result = destination + narrow * i;
    uint32_t bits = from == ElementType::F64
                        ? narrowToFloat(load<uint64_t>(original))
                        : load<uint32_t>(original);
    if (to == ElementType::F32)
      store(result, bits);
    else if (to == ElementType::BF16)
      store(result, uint16_t(bits >> 16));
    else
      store(result, narrowToHalf(bits));
    uint8_t again[8];
    widenElements(to, from, 1, result, again);
    if (std::memcmp(again, original, wide) != 0)
      return i;
  }
  return count;
}

} // namespace netra
