//===- MatrixPlanes.cpp - registers to planes -----------------------------===//
// SPDX-License-Identifier: MIT
#include "MatrixPlanes.h"
#include "MatrixVectors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace netra::sim {

/// CASE(NAME) for each float of at most 8 bits.
#define NETRA_NARROW_ELEMENTS(CASE)                                            \
  CASE(Fp8) CASE(Bf8) CASE(Fp6) CASE(Bf6) CASE(Fp4)
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
/// them, whatever is below it. The magnitude is placed as an f32 with the wrong
/// bias, which a multiplication puts right for normal and denormal numbers
/// alike; infinities and NaNs come out as large numbers.
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
    bits = code & uint32_t(W::mask);
  else
    bits = (WordLanes)((FloatLanes)((IntLanes)code >> W::shift & W::mask) *
                       W::scale);
}

/// Whether a vector of 32 bytes has any bit set.
template <typename V> inline bool anySet(const V &v) {
  uint64_t part[4];
  std::memcpy(part, &v, sizeof part);
  return (part[0] | part[1] | part[2] | part[3]) != 0;
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
  /// Calls \p body for the words of all lanes, eight together, with where they
  /// lie, the place in a plane of their first item, and how many lanes of the
  /// vector come before those of this block. A word holds \p Items.
  template <unsigned Items, typename Body> void eachWord(Body body) const {
    eachPart([&](unsigned group, unsigned part, unsigned lane, unsigned from) {
      const uint32_t *word = words + from;
      for (unsigned begin = 0; begin < perLane; begin += run) {
        unsigned place = rowOf(group, begin) * size + part;
        for (unsigned at = begin; at < begin + run; at += Items) {
          body(word, place, lane - from);
          place += Items * size;
          word += stride;
        }
      }
    });
  }
  /// The k of item \p at of the lanes of a group.
  unsigned rowOf(unsigned group, unsigned at) const {
    return group * run + (at < run ? at : k / 2 + at - run);
  }

private:
  alignas(64) uint32_t permuted[8 * waveLanes];
};

/// The bytes of eight words, those of equal significance together.
inline void loadBytes(ByteRow &bytes, const uint32_t *from) {
  std::memcpy(&bytes, from, sizeof bytes);
  bytes = __builtin_shufflevector(bytes, bytes, 0, 4, 8, 12, 16, 20, 24, 28, 1,
                                  5, 9, 13, 17, 21, 25, 29, 2, 6, 10, 14, 18,
                                  22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
}

/// loadCodes for bytes of at least sixteen rows or columns.
void loadByteCodes(const Image &image, Plane &plane) {
  const unsigned size = image.size;
  auto put = [&](uint8_t *to, const ByteRow &rows) {
    const uint8_t *from = reinterpret_cast<const uint8_t *>(&rows);
    std::memcpy(to, from, 16);
    std::memcpy(to + size, from + 16, 16);
  };
  for (unsigned group = 0; group < image.groups; ++group)
    for (unsigned part = 0; part < size; part += 16) {
      const uint32_t *from =
          image.words + size * (image.block + image.blocks * group) + part;
      for (unsigned at = 0; at < image.perLane; at += 4, from += image.stride) {
        ByteRow left, right;
        loadBytes(left, from);
        loadBytes(right, from + 8);
        uint8_t *to = plane.code + image.rowOf(group, at) * size + part;
        put(to, __builtin_shufflevector(left, right, 0, 1, 2, 3, 4, 5, 6, 7, 32,
                                        33, 34, 35, 36, 37, 38, 39, 8, 9, 10,
                                        11, 12, 13, 14, 15, 40, 41, 42, 43, 44,
                                        45, 46, 47));
        put(to + 2 * size, __builtin_shufflevector(
                               left, right, 16, 17, 18, 19, 20, 21, 22, 23, 48,
                               49, 50, 51, 52, 53, 54, 55, 24, 25, 26, 27, 28,
                               29, 30, 31, 56, 57, 58, 59, 60, 61, 62, 63));
      }
    }
}

/// Brings the codes of an operand into bytes.
template <unsigned Bits> void loadCodes(const Image &image, Plane &plane) {
  constexpr uint32_t mask = (1u << Bits) - 1;
  const unsigned size = image.size, count = std::min(size, 8u);
  if (Bits == 8 && size >= 16)
    return loadByteCodes(image, plane);
  image.eachPart([&](unsigned group, unsigned part, unsigned lane,
                     unsigned from) {
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

/// The halves of a vector in each other's place.
inline ByteRow swapHalves(const ByteRow &v) {
  return __builtin_shufflevector(v, v, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                 26, 27, 28, 29, 30, 31, 0, 1, 2, 3, 4, 5, 6, 7,
                                 8, 9, 10, 11, 12, 13, 14, 15);
}

/// Sixteen columns of two rows of a plane of bytes.
template <unsigned N, typename T>
inline void loadTwoRows(ByteRow &rows, const T *from) {
  if (N == 16) {
    std::memcpy(&rows, from, sizeof rows);
    return;
  }
  UnsignedByteHalf low, high;
  std::memcpy(&low, from, sizeof low);
  std::memcpy(&high, from + N, sizeof high);
  rows = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                 23, 24, 25, 26, 27, 28, 29, 30, 31);
}
template <unsigned N, typename T>
inline void storeTwoRows(T *to, const ByteRow &rows) {
  const auto *from = reinterpret_cast<const uint8_t *>(&rows);
  std::memcpy(to, from, 16);
  std::memcpy(to + N, from + 16, 16);
}

/// Two rows of sixteen codes as 16-bit integers in units of an exponent that
/// lies below each by \p shift, less the format's fractional bits; one row in
/// the lower halves of \p to, one in the upper. Bits above the sixteenth are
/// lost.
template <MatrixElement Element>
inline void shiftPairs(const ByteRow &code, const ByteRow &shift,
                       uint32_t *to) {
  constexpr FloatFormat format = formatOf(Element);
  constexpr auto sign = uint8_t(format.signBit());
  constexpr auto fraction = uint8_t((1u << format.mantissaBits) - 1);
  const ByteRow magnitude = code & uint8_t(sign - 1);
  const ByteRow negative = (ByteRow)((code & sign) == sign);
  ByteRow significand =
      (magnitude & fraction) |
      ((ByteRow)((SignedByteRow)magnitude > int8_t(fraction)) &
       uint8_t(fraction + 1));
  significand = (significand ^ negative) - negative;
#if defined(__AVX2__)
  // Columns 0 to 7 of both rows in one half, so that unpacking keeps order.
  const __m256i s = _mm256_permute4x64_epi64((__m256i)significand, 0xd8),
                t = _mm256_permute4x64_epi64((__m256i)shift, 0xd8),
                extension = _mm256_cmpgt_epi8(_mm256_setzero_si256(), s);
  constexpr long long powers = static_cast<long long>(0x8040201008040201);
  const __m256i low = _mm256_shuffle_epi8(
                    _mm256_setr_epi64x(powers, 0, powers, 0), t),
                high = _mm256_shuffle_epi8(
                    _mm256_setr_epi64x(0, powers, 0, powers), t);
  const __m256i first = _mm256_mullo_epi16(_mm256_unpacklo_epi8(s, extension),
                                           _mm256_unpacklo_epi8(low, high)),
                second = _mm256_mullo_epi16(_mm256_unpackhi_epi8(s, extension),
                                            _mm256_unpackhi_epi8(low, high));
  const __m256i left = _mm256_unpacklo_epi16(first, second),
                right = _mm256_unpackhi_epi16(first, second);
  auto *vector = reinterpret_cast<__m256i *>(to);
  _mm256_storeu_si256(vector, _mm256_permute2x128_si256(left, right, 0x20));
  _mm256_storeu_si256(vector + 1, _mm256_permute2x128_si256(left, right, 0x31));
#else
  for (unsigned i = 0; i < 16; ++i) {
    auto shifted = [&](unsigned at) {
      return uint32_t(int8_t(significand[at])) << (shift[at] & 15) & 0xffff;
    };
    to[i] = shifted(i) | shifted(i + 16) << 16;
  }
#endif
}

/// Exponents of a plane of codes, and its groups as integers.
template <MatrixElement Element, unsigned N>
void loadGroups(unsigned k, Plane &plane) {
  constexpr FloatFormat format = formatOf(Element);
  constexpr auto greatest = uint8_t(format.maxFinite() >> format.mantissaBits);
  constexpr auto magnitude = uint8_t(format.signBit() - 1);
  // A significand shifted by the spread stays below 2^15.
  constexpr int widest = 14 - int(format.mantissaBits);
  for (unsigned group = 0; group < k / pairedLength; ++group)
    for (unsigned i = 0; i < N; i += 16) {
      const unsigned first = group * pairedLength * N + i;
      ByteRow most = {}, least = ByteRow{} + uint8_t(255);
      for (unsigned at = first; at < first + pairedLength * N; at += 2 * N) {
        ByteRow code;
        loadTwoRows<N>(code, plane.code + at);
        code &= magnitude;
        // Denormals keep the exponent of the smallest normal number.
        ByteRow e = code >> uint8_t(format.mantissaBits);
        raiseTo<ByteRow>(e, ByteRow{} + uint8_t(1));
        const ByteRow none = (ByteRow)(code == 0);
        raiseTo<ByteRow>(most, e & ~none);
        lowerTo<ByteRow>(least, e | none);
        e = ((e - greatest) & ~none) | (none & uint8_t(nearZero));
        storeTwoRows<N>(plane.nearExponent + at, e);
      }
      raiseTo<ByteRow>(most, swapHalves(most));
      lowerTo<ByteRow>(least, swapHalves(least));
      // Where all are zero, most is too, and the least does not matter.
      const ByteRow isWide = (ByteRow)(most > least + uint8_t(widest)) & 1;
      std::memcpy(plane.isWide[group] + i, &isWide, 16);
      least -= greatest;
      int8_t lane[sizeof least];
      std::memcpy(lane, &least, sizeof lane);
      for (unsigned l = 0; l < 16; ++l)
        plane.least[group][i + l] = lane[l];
      for (unsigned at = first; at < first + pairedLength * N; at += 2 * N) {
        ByteRow code, e;
        loadTwoRows<N>(code, plane.code + at);
        loadTwoRows<N>(e, plane.nearExponent + at);
        shiftPairs<Element>(code, e - least, plane.pair + (at - i) / 2 + i);
      }
    }
}

/// Marks the rows or columns of a plane of codes that hold infinities or NaNs.
template <MatrixElement Element>
void loadSpecials(unsigned count, unsigned n, Plane &plane) {
  constexpr FloatFormat format = formatOf(Element);
  constexpr uint8_t magnitude = uint8_t(format.signBit() - 1);
  constexpr uint8_t last = uint8_t(format.maxFinite());
  ByteRow top = {};
  for (unsigned at = 0; at < count; at += sizeof top) {
    ByteRow code;
    std::memcpy(&code, plane.code + at, sizeof code);
    raiseTo<ByteRow>(top, code & magnitude);
  }
  if (anySet((ByteRow)(top > last)))
    for (unsigned at = 0; at < count; ++at)
      plane.special[at % n] |= (plane.code[at] & magnitude) > last;
}

/// The values of a plane of codes.
template <MatrixElement Element>
void loadValues(unsigned count, unsigned n, Plane &plane) {
  constexpr FloatFormat format = formatOf(Element);
  constexpr unsigned bits = format.width();
  using W = Widening<Element>;
  for (unsigned at = 0; at < count; ++at) {
    const auto code = int32_t(uint32_t(plane.code[at]) << (32 - bits));
    plane.value[at] =
        std::bit_cast<float>(code >> W::shift & W::mask) * W::scale;
  }
  if constexpr (format.specials != SpecialValues::FiniteOnly) {
    constexpr unsigned magnitude = format.signBit() - 1;
    for (unsigned i = 0; i < n; ++i)
      for (unsigned at = i; plane.special[i] && at < count; at += n)
        if ((plane.code[at] & magnitude) > format.maxFinite())
          plane.value[at] = asFloat(
              uint32_t(convertFloat(format, formatF32, plane.code[at])));
  }
}

/// The exponents of 16-bit floats, from the register words, which hold two of
/// one row or column each.
template <MatrixElement Element>
void loadNearExponents(const Image &image, Plane &plane) {
  constexpr FloatFormat format = formatOf(Element);
  constexpr auto last = int16_t(format.infinity() - 1);
  const unsigned size = image.size;
  ShortRow high = {}, infinite = {}, raised = {};
  image.eachWord<2>([&](const uint32_t *from, unsigned, unsigned) {
    ShortRow word;
    std::memcpy(&word, from, sizeof word);
    word &= 0x7fff;
    const ShortRow beyond = word > last;
    infinite |= beyond;
    raiseTo<ShortRow>(high, word & ~beyond);
  });
  int16_t lane[16];
  std::memcpy(lane, &high, sizeof lane);
  const int top = *std::max_element(lane, lane + 16);
  plane.minExponent = 1 - format.bias;
  plane.maxExponent =
      top == 0 ? zeroExponent
               : std::max(top >> format.mantissaBits, 1) - format.bias;
  const auto base = int16_t(top == 0 ? 0 : plane.maxExponent + format.bias);
  image.eachWord<2>([&](const uint32_t *from, unsigned place, unsigned first) {
    ShortRow word;
    std::memcpy(&word, from, sizeof word);
    word &= 0x7fff;
    const ShortRow none = (word == 0) | (word > last);
    ShortRow e = word >> int16_t(format.mantissaBits);
    raiseTo<ShortRow>(e, ShortRow{} + int16_t(1));
    e -= base;
    raised |= (e < int16_t(nearLeast)) & ~none;
    raiseTo<ShortRow>(e, ShortRow{} + int16_t(nearLeast));
    const ByteRow byte = (ByteRow)((e & ~none) | (none & int16_t(nearZero)));
    QuadRow rows = (QuadRow)__builtin_shufflevector(
        byte, byte, 0, 4, 8, 12, 16, 20, 24, 28, 2, 6, 10, 14, 18, 22, 26, 30,
        0, 4, 8, 12, 16, 20, 24, 28, 2, 6, 10, 14, 18, 22, 26, 30);
    int8_t *to = plane.nearExponent + place;
    if (__builtin_expect(size >= 8, 1)) {
      const uint64_t even = rows[0], odd = rows[1];
      std::memcpy(to, &even, 8);
      std::memcpy(to + size, &odd, 8);
    } else {
      const uint64_t even = rows[0] >> 8 * first, odd = rows[1] >> 8 * first;
      std::memcpy(to, &even, 4);
      std::memcpy(to + size, &odd, 4);
    }
  });
  plane.isRaised = anySet(raised);
  if (anySet(infinite))
    for (unsigned at = 0; at < image.k * size; ++at)
      plane.special[at % size] |= !std::isfinite(plane.value[at]);
}

/// The values of floats that lie in whole numbers in a word.
template <MatrixElement Element>
void loadWordValues(const Image &image, Plane &plane) {
  constexpr FloatFormat format = formatOf(Element);
  constexpr unsigned bits = format.width();
  const unsigned size = image.size, count = std::min(size, 8u);
  image.eachWord<32 / bits>(
      [&](const uint32_t *from, unsigned place, unsigned first) {
        WordLanes word;
        std::memcpy(&word, from, sizeof word);
        for (unsigned begin = 0; begin < 32; begin += bits) {
          const WordLanes code = word << (32 - bits - begin);
          WordLanes wide;
          widen<Element>(code, wide);
          if constexpr (Element == MatrixElement::F16)
            wide |= (WordLanes)((IntLanes)(code & 0x7fffffff) >=
                                int32_t(format.infinity() << (32 - bits))) &
                    0x7f800000;
          put(plane.value + place + begin / bits * size, wide, first, count);
        }
      });
  plane.hasValues = true;
}

/// The same for at most 8 bits, if there are no infinities and NaNs.
template <MatrixElement Element>
bool loadFiniteValues(const Image &image, Plane &plane) {
  constexpr FloatFormat format = formatOf(Element);
  if constexpr (format.specials != SpecialValues::FiniteOnly) {
    ByteRow top = {};
    image.eachWord<32 / format.width()>(
        [&](const uint32_t *from, unsigned, unsigned) {
          ByteRow code;
          std::memcpy(&code, from, sizeof code);
          raiseTo<ByteRow>(top, code & uint8_t(format.signBit() - 1));
        });
    if (anySet((ByteRow)(top > uint8_t(format.maxFinite()))))
      return false;
  }
  loadWordValues<Element>(image, plane);
  return true;
}

/// Floats of at most 8 bits. Their values are left to fillValues where they are
/// not the first thing needed.
template <MatrixElement Element, bool Exponents>
void loadNarrow(const Image &image, bool sparse, Plane &plane) {
  constexpr FloatFormat format = formatOf(Element);
  if constexpr (!Exponents && 32 % format.width() == 0)
    if (loadFiniteValues<Element>(image, plane))
      return;
  plane.hasValues = false;
  loadCodes<format.width()>(image, plane);
  const unsigned count = image.k * image.size;
  if constexpr (format.specials != SpecialValues::FiniteOnly)
    loadSpecials<Element>(count, image.size, plane);
  if constexpr (Exponents) {
    constexpr int greatest = int(format.maxFinite() >> format.mantissaBits);
    plane.maxExponent = greatest - format.bias;
    plane.minExponent = 1 - format.bias;
    plane.isRaised = false;
    if (!sparse)
      image.size == 16 ? loadGroups<Element, 16>(image.k, plane)
                       : loadGroups<Element, 32>(image.k, plane);
  }
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
  switch (element) {
#define CASE(NAME)                                                             \
  case MatrixElement::NAME:                                                    \
    return loadNarrow<MatrixElement::NAME, Exponents>(image, shape.sparse,     \
                                                      plane);
    NETRA_NARROW_ELEMENTS(CASE)
#undef CASE
  case MatrixElement::F16:
    loadWordValues<MatrixElement::F16>(image, plane);
    if constexpr (Exponents)
      loadNearExponents<MatrixElement::F16>(image, plane);
    return;
  case MatrixElement::Bf16:
    loadWordValues<MatrixElement::Bf16>(image, plane);
    if constexpr (Exponents)
      loadNearExponents<MatrixElement::Bf16>(image, plane);
    return;
  case MatrixElement::F32:
    return loadWordValues<MatrixElement::F32>(image, plane);
  case MatrixElement::I8:
    return loadIntegers(image, plane);
  case MatrixElement::F64:
    return;
  }
}

void loadNarrowValues(MatrixElement element, unsigned count, unsigned n,
                      Plane &plane) {
  switch (element) {
#define CASE(NAME)                                                             \
  case MatrixElement::NAME:                                                    \
    return loadValues<MatrixElement::NAME>(count, n, plane);
    NETRA_NARROW_ELEMENTS(CASE)
#undef CASE
  default:
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

void fillValues(Problem &p) {
  const MatrixShape &shape = p.shape;
  auto fill = [](MatrixElement element, unsigned k, unsigned n, Plane &plane) {
    if (!plane.hasValues)
      loadNarrowValues(element, k * n, n, plane);
    plane.hasValues = true;
  };
  fill(shape.a, shape.sparse ? shape.k / 2 : shape.k, shape.m, p.a);
  fill(shape.b, shape.k, shape.n, p.b);
}

void fillExponents(Problem &p) {
  fillValues(p);
  auto fill = [](unsigned count, Plane &plane) {
    for (unsigned at = 0; !plane.hasExponents && at < count; ++at) {
      const uint32_t magnitude = asBits(plane.value[at]) & 0x7fffffff;
      const bool none = magnitude == 0 || magnitude >= 0x7f800000;
      plane.exponent[at] = int16_t(none ? zeroExponent : plane.exponentOf(at));
    }
    plane.hasExponents = true;
  };
  const MatrixShape &shape = p.shape;
  fill((shape.sparse ? shape.k / 2 : shape.k) * shape.m, p.a);
  fill(shape.k * shape.n, p.b);
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
  p.a.hasExponents = p.b.hasExponents = false;
  if (o.model == MatrixModel::Sequential || shape.sparse)
    fillValues(p);
  if (shape.sparse)
    loadIndices(p, block);
  if (shape.scaled)
    loadScales(p);
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
