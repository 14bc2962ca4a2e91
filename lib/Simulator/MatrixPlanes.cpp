//===- MatrixPlanes.cpp - registers to planes -----------------------------===//
// SPDX-License-Identifier: MIT
#include "MatrixPlanes.h"
#include "MatrixVectors.h"

#include <algorithm>
#include <bit>
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

/// The format of an element that is a float.
constexpr FloatFormat formatOf(MatrixElement element) {
  switch (element) {
  case MatrixElement::F16:
    return formatF16;
  case MatrixElement::Bf16:
    return formatBf16;
  case MatrixElement::Fp8:
    return formatFp8;
  case MatrixElement::Bf8:
    return formatBf8;
  case MatrixElement::Fp6:
    return formatFp6;
  case MatrixElement::Bf6:
    return formatBf6;
  case MatrixElement::Fp4:
    return formatFp4;
  default:
    return formatF32;
  }
}

/// The f32 of a code that stands at the upper end of a word or a vector of
/// them. The magnitude is placed as an f32 with the wrong bias, which a
/// multiplication puts right for normal and denormal numbers alike; infinities
/// and NaNs come out as large numbers.
template <MatrixElement Element> struct Widening {
  static constexpr FloatFormat format = formatOf(Element);
  static constexpr unsigned magnitude = format.width() - 1;
  static constexpr int shift = 8 - int(format.exponentBits);
  static constexpr auto mask =
      int32_t(1u << 31 | ((1u << magnitude) - 1) << (23 - format.mantissaBits));
  static constexpr float scale =
      std::bit_cast<float>(uint32_t(254 - format.bias) << 23);
};
template <MatrixElement Element>
inline void widen(const WordLanes &code, WordLanes &bits) {
  using W = Widening<Element>;
  if constexpr (W::shift == 0)
    bits = code;
  else
    bits = (WordLanes)((FloatLanes)((IntLanes)code >> W::shift & W::mask) *
                       W::scale);
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

/// Where the elements of an operand lie in its registers, lane permutations
/// undone.
struct Image {
  Image(const MatrixShape &shape, const MatrixOperands &operands, bool operandB,
        unsigned block, unsigned bits)
      : size(operandB ? shape.n : shape.m),
        k(shape.sparse && !operandB ? shape.k / 2 : shape.k),
        perLane(k * size * shape.blocks / waveLanes),
        groups(waveLanes / (size * shape.blocks)), blocks(shape.blocks),
        block(block), words(operandB ? operands.b : operands.a),
        stride(operands.registerStride) {
    const unsigned registers = std::max(1u, perLane * bits / 32);
    run = registers == 8 ? perLane / 2 : perLane;
    if (!permutesLanes(shape, operands, operandB))
      return;
    for (unsigned r = 0; r < registers; ++r)
      for (unsigned lane = 0; lane < waveLanes; ++lane)
        permuted[r * waveLanes + lane] =
            words[r * stride + sourceLane(shape, operands, operandB, lane)];
    words = permuted;
    stride = waveLanes;
  }

  const unsigned size, k, perLane, groups, blocks, block;
  const uint32_t *words;
  unsigned stride, run;

  /// Calls \p body for each eight rows or columns of each group of lanes with
  /// the group, the first row, the first lane of a vector that holds them, and
  /// their number. Blocks of four lanes share a vector with their neighbours.
  template <typename Body> void eachPart(Body body) const {
    constexpr unsigned width = 8;
    for (unsigned group = 0; group < groups; ++group)
      for (unsigned part = 0; part < size; part += width) {
        const unsigned lane = size * (block + blocks * group) + part;
        body(group, part, lane, std::min(lane, waveLanes - width));
      }
  }
  /// The k of item \p at of the lanes of a group.
  unsigned rowOf(unsigned group, unsigned at) const {
    return group * run + (at < run ? at : k / 2 + at - run);
  }

private:
  alignas(64) uint32_t permuted[8 * waveLanes];
};

/// Brings the codes of an operand into bytes.
template <unsigned Bits> void loadCodes(const Image &image, Plane &plane) {
  constexpr uint32_t mask = (1u << Bits) - 1;
  const unsigned size = image.size, count = std::min(size, 8u);
  image.eachPart([&](unsigned group, unsigned part, unsigned lane,
                     unsigned from) {
    if (Bits == 8 && size >= 8) {
      for (unsigned at = 0; at < image.perLane; at += 4) {
        ByteRow word;
        std::memcpy(&word, image.words + at / 4 * image.stride + from,
                    sizeof word);
        word = __builtin_shufflevector(
            word, word, 0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25,
            29, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
        uint64_t row[4];
        std::memcpy(row, &word, sizeof row);
        uint8_t *to = plane.code + image.rowOf(group, at) * size + part;
        for (unsigned q = 0; q < 4; ++q)
          std::memcpy(to + q * size, &row[q], 8);
      }
      return;
    }
    for (unsigned at = 0; at < image.perLane; ++at) {
      const unsigned position = at * Bits, shift = position % 32;
      const uint32_t *low = image.words + position / 32 * image.stride + from;
      WordLanes code, next;
      std::memcpy(&code, low, sizeof code);
      code >>= shift;
      if (shift + Bits > 32) {
        std::memcpy(&next, low + image.stride, sizeof next);
        code |= next << (32 - shift);
      }
      code &= mask;
      put(plane.code + image.rowOf(group, at) * size + part,
          __builtin_convertvector(code, ByteLanes), lane - from, count);
    }
  });
}

/// The groups of a plane as integers: their least exponents and spreads, and
/// the elements in pairs.
template <MatrixElement Element, unsigned N>
void loadPairs(unsigned k, Plane &plane) {
  constexpr FloatFormat format = formatOf(Element);
  // A significand shifted by the spread stays below 2^15.
  constexpr int widest = 14 - int(format.mantissaBits);
  for (unsigned group = 0; group < k / pairedLength; ++group) {
    const unsigned first = group * pairedLength * N;
    for (unsigned i = 0; i < N; i += 16) {
      ByteHalf top = ByteHalf{} + int8_t(nearZero);
      UnsignedByteHalf low = UnsignedByteHalf{} + uint8_t(255);
      for (unsigned q = 0; q < pairedLength; ++q) {
        ByteHalf e;
        std::memcpy(&e, plane.nearExponent + first + q * N + i, sizeof e);
        raiseTo<ByteHalf>(top, e);
        // Zeros wrap to the largest value.
        lowerTo<UnsignedByteHalf>(low,
                                  (UnsignedByteHalf)e - uint8_t(nearZero + 1));
      }
      const ByteHalf none = top == int8_t(nearZero);
      const ByteHalf least = ((ByteHalf)low + int8_t(nearZero + 1)) & ~none;
      ByteHalf spread = (top - least) & ~none;
      spread = spread > int8_t(widest) ? ByteHalf{} + tooWide : spread;
      std::memcpy(plane.spread[group] + i, &spread, sizeof spread);
      const ShortRow wide = __builtin_convertvector(least, ShortRow);
      std::memcpy(plane.least[group] + i, &wide, sizeof wide);
    }
    for (unsigned i = 0; i < N; i += 8) {
      ShortLanes least;
      std::memcpy(&least, plane.least[group] + i, sizeof least);
      const FloatLanes unit =
          (FloatLanes)((127 + int(format.mantissaBits) - plane.maxExponent -
                        __builtin_convertvector(least, IntLanes))
                       << 23);
      for (unsigned q = 0; q < pairedLength; q += 2) {
        FloatLanes even, odd;
        std::memcpy(&even, plane.value + first + q * N + i, sizeof even);
        std::memcpy(&odd, plane.value + first + (q + 1) * N + i, sizeof odd);
        const auto low = (WordLanes) __builtin_convertvector(even * unit,
                                                             IntLanes),
                   high = (WordLanes) __builtin_convertvector(odd * unit,
                                                              IntLanes);
        const WordLanes both = (low & 0xffff) | high << 16;
        std::memcpy(plane.pair + first / 2 + q / 2 * N + i, &both, sizeof both);
      }
    }
  }
}

/// Infinities and NaNs of a plane of codes.
template <MatrixElement Element>
void loadSpecials(unsigned count, unsigned n, Plane &plane) {
  constexpr FloatFormat format = formatOf(Element);
  constexpr uint8_t magnitude = uint8_t(format.signBit() - 1);
  constexpr uint8_t last = uint8_t(format.maxFinite());
  ByteRow any = {};
  for (unsigned at = 0; at < count; at += sizeof any) {
    ByteRow code;
    std::memcpy(&code, plane.code + at, sizeof code);
    any |= (ByteRow)((code & magnitude) > last);
  }
  uint64_t part[sizeof any / 8];
  std::memcpy(part, &any, sizeof part);
  if (!(part[0] | part[1] | part[2] | part[3]))
    return;
  for (unsigned at = 0; at < count; ++at) {
    const unsigned code = plane.code[at];
    if ((code & magnitude) <= last)
      continue;
    plane.special[at % n] = true;
    plane.value[at] = asFloat(uint32_t(convertFloat(format, formatF32, code)));
  }
}

/// Floats of at most 8 bits.
template <MatrixElement Element, bool Exponents>
void loadNarrow(const Image &image, bool sparse, Plane &plane) {
  constexpr FloatFormat format = formatOf(Element);
  constexpr unsigned bits = format.width();
  loadCodes<bits>(image, plane);
  const unsigned count = image.k * image.size;
  using W = Widening<Element>;
  for (unsigned at = 0; at < count; ++at) {
    const auto code = int32_t(uint32_t(plane.code[at]) << (32 - bits));
    plane.value[at] =
        std::bit_cast<float>(code >> W::shift & W::mask) * W::scale;
  }
  if constexpr (format.specials != SpecialValues::FiniteOnly)
    loadSpecials<Element>(count, image.size, plane);
  if constexpr (Exponents) {
    constexpr int greatest = int(format.maxFinite() >> format.mantissaBits);
    constexpr uint8_t magnitude = uint8_t(format.signBit() - 1);
    plane.maxExponent = greatest - format.bias;
    plane.isRaised = false;
    for (unsigned at = 0; at < count; at += sizeof(ByteRow)) {
      ByteRow code;
      std::memcpy(&code, plane.code + at, sizeof code);
      code &= magnitude;
      // Denormals keep the exponent of the smallest normal number.
      ByteRow e = code >> uint8_t(format.mantissaBits);
      raiseTo<ByteRow>(e, ByteRow{} + uint8_t(1));
      const ByteRow none = (ByteRow)(code == 0);
      e = ((e - uint8_t(greatest)) & ~none) | (none & uint8_t(nearZero));
      std::memcpy(plane.nearExponent + at, &e, sizeof e);
    }
    if (!sparse)
      image.size == 16 ? loadPairs<Element, 16>(image.k, plane)
                       : loadPairs<Element, 32>(image.k, plane);
    for (unsigned at = 0; sparse && at < count; ++at) {
      const int e = plane.nearExponent[at];
      plane.exponent[at] =
          int16_t(e == nearZero ? zeroExponent : e + plane.maxExponent);
    }
  }
}

/// Floats of 16 and 32 bits.
template <MatrixElement Element, bool Exponents>
void loadWide(const Image &image, Plane &plane) {
  constexpr FloatFormat format = formatOf(Element);
  constexpr unsigned bits = format.width();
  constexpr int lowest = 1 - format.bias;
  const unsigned size = image.size, count = std::min(size, 8u);
  IntLanes high = IntLanes{} + zeroExponent;
  image.eachPart([&](unsigned group, unsigned part, unsigned lane,
                     unsigned from) {
    WordLanes special = {};
    auto item = [&](unsigned at, const WordLanes &code) {
      const unsigned to = image.rowOf(group, at) * size + part;
      WordLanes wide;
      widen<Element>(code, wide);
      WordLanes magnitude = code & 0x7fffffff;
      const auto infinite =
          (WordLanes)((IntLanes)magnitude >=
                      int32_t(format.infinity() << (32 - bits)));
      if constexpr (format.exponentBits != 8)
        wide |= infinite & 0x7f800000;
      special |= infinite;
      put(plane.value + to, wide, lane - from, count);
      if constexpr (Exponents) {
        // Denormals of the narrow format keep the exponent of its smallest
        // normal number.
        magnitude = wide & 0x7fffffff;
        IntLanes exponent = (IntLanes)(magnitude >> 23) - 127;
        raiseTo<IntLanes>(exponent, IntLanes{} + lowest);
        const WordLanes none = infinite | (WordLanes)(magnitude == 0);
        exponent = (IntLanes)(((WordLanes)exponent & ~none) |
                              (none & uint32_t(zeroExponent)));
        raiseTo<IntLanes>(high, exponent);
        put(plane.exponent + to, __builtin_convertvector(exponent, ShortLanes),
            lane - from, count);
      }
    };
    constexpr unsigned perWord = 32 / bits;
    for (unsigned at = 0; at < image.perLane; at += perWord) {
      WordLanes word;
      std::memcpy(&word, image.words + at / perWord * image.stride + from,
                  sizeof word);
      if constexpr (perWord == 1) {
        item(at, word);
      } else {
        item(at, word << 16);
        if (at + 1 < image.perLane)
          item(at + 1, word & 0xffff0000);
      }
    }
    for (unsigned q = 0; q < count; ++q)
      plane.special[part + q] |= special[lane - from + q] != 0;
  });
  if constexpr (!Exponents)
    return;
  plane.maxExponent = zeroExponent;
  for (unsigned q = 0; q < 8; ++q)
    plane.maxExponent = std::max(plane.maxExponent, int(high[q]));
  const auto base = int16_t(plane.maxExponent);
  ShortRow raised = {};
  for (unsigned at = 0; at < image.k * size; at += 16) {
    ShortRow e;
    std::memcpy(&e, plane.exponent + at, sizeof e);
    const ShortRow none = e == int16_t(zeroExponent);
    e -= base;
    raised |= (e < int16_t(nearLeast)) & ~none;
    raiseTo<ShortRow>(e, ShortRow{} + int16_t(nearLeast));
    e = (e & ~none) | (none & int16_t(nearZero));
    const ByteHalf near = __builtin_convertvector(e, ByteHalf);
    std::memcpy(plane.nearExponent + at, &near, sizeof near);
  }
  plane.isRaised = false;
  for (unsigned q = 0; q < 16; ++q)
    plane.isRaised |= raised[q] != 0;
}

void loadIntegers(const Image &image, Plane &plane) {
  loadCodes<8>(image, plane);
  for (unsigned at = 0; at < image.k * image.size; ++at)
    plane.integer[at] = int8_t(plane.code[at]);
}

template <bool Exponents>
void loadPlane(MatrixElement element, const MatrixShape &shape,
               const MatrixOperands &operands, bool operandB, unsigned block,
               Plane &plane) {
  if (element == MatrixElement::F64)
    return;
  const Image image(shape, operands, operandB, block, bitWidth(element));
  std::fill_n(plane.special, image.size, false);
  plane.isNarrow = bitWidth(element) <= 8;
  switch (element) {
#define CASE(NAME)                                                             \
  case MatrixElement::NAME:                                                    \
    return loadNarrow<MatrixElement::NAME, Exponents>(image, shape.sparse,     \
                                                      plane);
    CASE(Fp8)
    CASE(Bf8)
    CASE(Fp6)
    CASE(Bf6)
    CASE(Fp4)
#undef CASE
  case MatrixElement::F16:
    return loadWide<MatrixElement::F16, Exponents>(image, plane);
  case MatrixElement::Bf16:
    return loadWide<MatrixElement::Bf16, Exponents>(image, plane);
  case MatrixElement::F32:
    return loadWide<MatrixElement::F32, false>(image, plane);
  case MatrixElement::I8:
    return loadIntegers(image, plane);
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

unsigned fractionBits(MatrixElement element) {
  return formatOf(element).mantissaBits;
}

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
