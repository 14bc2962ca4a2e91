//===- MatrixPlanes.cpp - registers to planes -----------------------------===//
// SPDX-License-Identifier: MIT
#include "MatrixPlanes.h"
#include "MatrixVectors.h"

#include <algorithm>
#include <cstring>

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

/// The lane whose registers feed lane \p lane, by the broadcast controls.
unsigned sourceLane(const MatrixShape &shape, const MatrixOperands &operands,
                    bool operandB, unsigned lane) {
  if (shape.chosenFormats || shape.sparse || shape.doubleResult())
    return lane;
  if (!operandB) {
    if (operands.cbsz == 0)
      return lane;
    unsigned size = waveLanes >> operands.cbsz;
    return lane % size + size * operands.abid;
  }
  switch (operands.blgp) {
  case 1:
    return lane % 32;
  case 2:
    return lane % 32 + 32;
  case 3:
    return (lane + 16) % 64;
  case 4:
  case 5:
  case 6:
  case 7:
    return lane % 16 + 16 * (operands.blgp - 4);
  default:
    return lane;
  }
}

bool permutesLanes(const MatrixShape &shape, const MatrixOperands &operands,
                   bool operandB) {
  if (shape.chosenFormats || shape.sparse || shape.doubleResult())
    return false;
  return (operandB ? operands.blgp : operands.cbsz) != 0;
}

/// f32 bits of eight codes; infinities and NaNs come out as f32 specials. The
/// magnitude is placed as an f32 with the wrong bias, which a multiplication
/// puts right for normal and denormal numbers alike.
template <MatrixElement Element>
inline void widen(const WordLanes &code, WordLanes &bits) {
  auto place = [&](uint32_t signBit, unsigned signShift, unsigned shift,
                   float scale) {
    FloatLanes magnitude = (FloatLanes)((code & (signBit - 1)) << shift);
    bits = (WordLanes)(magnitude * scale) | ((code & signBit) << signShift);
  };
  if constexpr (Element == MatrixElement::Fp8) {
    place(0x80, 24, 20, 0x1p120f);
    bits |= (WordLanes)((code & 0x7f) == 0x7f) & canonicalNan;
  } else if constexpr (Element == MatrixElement::Bf8) {
    place(0x80, 24, 21, 0x1p112f);
    bits |= (WordLanes)((IntLanes)(code & 0x7f) >= 0x7c) & 0x7f800000;
  } else if constexpr (Element == MatrixElement::Fp6) {
    place(0x20, 26, 20, 0x1p126f);
  } else if constexpr (Element == MatrixElement::Bf6) {
    place(0x20, 26, 21, 0x1p124f);
  } else if constexpr (Element == MatrixElement::Fp4) {
    place(0x8, 28, 22, 0x1p126f);
  } else if constexpr (Element == MatrixElement::F16) {
    place(0x8000, 16, 13, 0x1p112f);
    bits |= (WordLanes)((IntLanes)(code & 0x7fff) >= 0x7c00) & 0x7f800000;
  } else if constexpr (Element == MatrixElement::Bf16) {
    bits = code << 16;
  } else {
    bits = code;
  }
}

/// Exponent of the smallest normal number.
constexpr int minimumExponent(MatrixElement element) {
  switch (element) {
  case MatrixElement::Fp8:
    return -6;
  case MatrixElement::Bf8:
  case MatrixElement::F16:
    return -14;
  case MatrixElement::Fp6:
  case MatrixElement::Fp4:
    return 0;
  case MatrixElement::Bf6:
    return -2;
  default:
    return -126;
  }
}

/// Stores \p count lanes of a vector from \p first on; nearly always all.
template <typename T, typename V>
inline void put(T *to, const V &vector, unsigned first, unsigned count) {
  if (__builtin_expect(count == sizeof(V) / sizeof(T), 1)) {
    std::memcpy(to, &vector, sizeof(V));
    return;
  }
  T lane[sizeof(V) / sizeof(T)]; // so that the vector itself needs no address
  std::memcpy(lane, &vector, sizeof(V));
  std::memcpy(to, lane + first, count * sizeof(T));
}

template <MatrixElement Element, bool Exponents>
void loadPlane(const MatrixShape &shape, const MatrixOperands &operands,
               bool operandB, unsigned block, Plane &plane) {
  constexpr unsigned bits =
      Element == MatrixElement::F16 || Element == MatrixElement::Bf16  ? 16
      : Element == MatrixElement::F32                                  ? 32
      : Element == MatrixElement::Fp6 || Element == MatrixElement::Bf6 ? 6
      : Element == MatrixElement::Fp4                                  ? 4
                                                                       : 8;
  const unsigned size = operandB ? shape.n : shape.m;
  const unsigned k = shape.sparse && !operandB ? shape.k / 2 : shape.k;
  const unsigned perLane = k * size * shape.blocks / waveLanes;
  const unsigned registers = std::max(1u, perLane * bits / 32);
  const unsigned stride = operands.registerStride;
  const uint32_t *image = operandB ? operands.b : operands.a;
  alignas(64) uint32_t permuted[8 * waveLanes];
  unsigned imageStride = stride;
  if (permutesLanes(shape, operands, operandB)) {
    for (unsigned r = 0; r < registers; ++r)
      for (unsigned lane = 0; lane < waveLanes; ++lane)
        permuted[r * waveLanes + lane] =
            image[r * stride + sourceLane(shape, operands, operandB, lane)];
    image = permuted;
    imageStride = waveLanes;
  }

  const bool twoRuns = registers == 8;
  const unsigned run = twoRuns ? perLane / 2 : perLane;
  const unsigned groups = waveLanes / (size * shape.blocks);
  constexpr uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  constexpr int lowest = minimumExponent(Element);
  constexpr unsigned width = 8;
  for (unsigned i = 0; i < size; ++i)
    plane.special[i] = false;
  IntLanes high = IntLanes{} + zeroExponent;
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned part = 0; part < size; part += width) {
      // Blocks of four lanes share a vector with their neighbours, whose
      // values are stored past the row and overwritten by the next one.
      const unsigned lane = size * (block + shape.blocks * group) + part;
      const unsigned from = lane > waveLanes - width ? waveLanes - width : lane;
      WordLanes special = {};
      unsigned position = 0; // of the item, in bits
      for (unsigned at = 0; at < perLane; ++at, position += bits) {
        const unsigned row = group * run + (at < run ? at : k / 2 + at - run);
        const unsigned shift = position % 32;
        const uint32_t *low = image + position / 32 * imageStride + from;
        WordLanes code, next;
        std::memcpy(&code, low, sizeof code);
        code >>= shift;
        if (shift + bits > 32) {
          std::memcpy(&next, low + imageStride, sizeof next);
          code |= next << (32 - shift);
        }
        code &= mask;
        const unsigned to = row * size + part;
        WordLanes wide = {};
        IntLanes exponent = {};
        if constexpr (Element == MatrixElement::I8) {
          wide = (WordLanes)((IntLanes)(code << 24) >> 24);
        } else {
          widen<Element>(code, wide);
          WordLanes magnitude = wide & 0x7fffffff;
          WordLanes infinite = (WordLanes)((IntLanes)magnitude >= 0x7f800000);
          special |= infinite;
          if constexpr (Exponents) {
            // Denormals of the narrow format keep the exponent of its smallest
            // normal number.
            exponent = (IntLanes)(magnitude >> 23) - 127;
            raiseTo(exponent, IntLanes{} + lowest);
            WordLanes none = infinite | (WordLanes)(magnitude == 0);
            exponent = (IntLanes)(((WordLanes)exponent & ~none) |
                                  (none & uint32_t(zeroExponent)));
            raiseTo(high, exponent);
          }
        }
        const unsigned first = lane - from, count = std::min(size, width);
        put(plane.value + to, wide, first, count);
        if constexpr (Exponents) {
          if (operandB) {
            const ShortLanes narrow =
                __builtin_convertvector(exponent, ShortLanes);
            put(plane.exponentB + to, narrow, first, count);
          } else {
            const WordLanes word = (WordLanes)exponent;
            const WordLanes twice = (word & 0xffff) | word << 16;
            put(plane.exponentA + to, twice, first, count);
          }
        }
      }
      for (unsigned q = 0; q < width && part + q < size; ++q)
        plane.special[part + q] |= special[lane - from + q] != 0;
    }
  plane.maxExponent = zeroExponent;
  for (unsigned q = 0; q < width; ++q)
    plane.maxExponent = std::max(plane.maxExponent, int(high[q]));
}

template <bool Exponents>
void loadPlane(MatrixElement element, const MatrixShape &shape,
               const MatrixOperands &operands, bool operandB, unsigned block,
               Plane &plane) {
  switch (element) {
#define CASE(NAME)                                                             \
  case MatrixElement::NAME:                                                    \
    return loadPlane<MatrixElement::NAME, Exponents>(shape, operands,          \
                                                     operandB, block, plane);
    CASE(F16)
    CASE(Bf16)
    CASE(Fp8)
    CASE(Bf8)
    CASE(Fp6)
    CASE(Bf6)
    CASE(Fp4)
#undef CASE
  case MatrixElement::F32:
    return loadPlane<MatrixElement::F32, false>(shape, operands, operandB,
                                                block, plane);
  case MatrixElement::I8:
    return loadPlane<MatrixElement::I8, false>(shape, operands, operandB, block,
                                               plane);
  case MatrixElement::F64:
    return;
  }
}

/// Which k each stored element of the sparse operand stands for.
void loadIndices(Problem &p, unsigned block) {
  const MatrixShape &shape = p.shape;
  const unsigned stored = shape.k / 2;
  const unsigned perLane = stored * shape.m / waveLanes;
  // An index pair is two 2-bit fields per two stored elements, so a lane needs
  // 2 * perLane bits; smaller shapes keep several sets in one register.
  const unsigned setBits = 2 * perLane;
  const unsigned sets = 32 / setBits;
  unsigned set = 0;
  if (sets > 1 && (p.operands.cbsz & 3) == 0)
    set = p.operands.abid % sets;
  for (unsigned row = 0; row < shape.m; ++row)
    for (unsigned k = 0; k < stored; ++k) {
      const unsigned lane = row + shape.m * (k / perLane);
      const uint32_t bits = p.operands.index[lane] >> (set * setBits);
      const unsigned index = (bits >> (2 * (k % perLane))) & 3;
      p.position[row][k] = static_cast<uint8_t>(k / 2 * 4 + index);
    }
}

void loadScales(Problem &p) {
  const MatrixShape &shape = p.shape;
  const unsigned perRow = shape.k / 32;
  for (unsigned side = 0; side < 2; ++side) {
    const uint32_t *image = side ? p.operands.scaleB : p.operands.scaleA;
    unsigned byte = side ? p.operands.scaleByteB : p.operands.scaleByteA;
    auto &scale = side ? p.scaleB : p.scaleA;
    for (unsigned i = 0; i < maxColumns; ++i)
      p.badScale[side][i] = false;
    for (unsigned part = 0; part < perRow; ++part)
      for (unsigned i = 0; i < shape.m; ++i) {
        uint32_t code = (image[i + shape.m * part] >> (8 * byte)) & 0xff;
        scale[part][i] = static_cast<int>(code) - 127;
        p.badScale[side][i] |= code == 0xff;
      }
  }
}

} // namespace

void loadProblem(Problem &p, unsigned block) {
  const MatrixShape &shape = p.shape;
  const MatrixOperands &o = p.operands;
  if (o.model == MatrixModel::Cdna3) {
    loadPlane<true>(shape.a, shape, o, false, block, p.a);
    loadPlane<true>(shape.b, shape, o, true, block, p.b);
  } else {
    loadPlane<false>(shape.a, shape, o, false, block, p.a);
    loadPlane<false>(shape.b, shape, o, true, block, p.b);
  }
  if (shape.sparse)
    loadIndices(p, block);
  if (shape.scaled)
    loadScales(p);
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
