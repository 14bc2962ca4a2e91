//===- MatrixKernels.cpp - the arithmetic of matrix instructions ----------===//
// SPDX-License-Identifier: MIT
//
// The loops over planes. A row of the result that meets infinities, NaNs or
// exponents beyond what the loops hold exactly is done again by the definition
// of the model.
//
//===----------------------------------------------------------------------===//
#include "MatrixPlanes.h"
#include "MatrixVectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

//===----------------------------------------------------------------------===//
// The CDNA3 model
//===----------------------------------------------------------------------===//

/// The exponents of group sums that the loops hold, and the least magnitude of
/// an accumulator but zero: no step then leaves the range of normal floats.
constexpr int leastExponent = -60, greatestExponent = 60;
constexpr uint32_t leastAccumulator = (127 - 91) << 23;

template <typename V, typename T>
__attribute__((always_inline)) inline V loadLanes(const T *from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline IntLanes widenShorts(const int16_t *from) {
#if defined(__AVX2__)
  return (IntLanes)_mm256_cvtepi16_epi32(
      _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
#else
  return __builtin_convertvector(loadLanes<ShortLanes>(from), IntLanes);
#endif
}

/// Whether any lane of a comparison's result is set.
inline bool anyLane(const IntLanes &mask) {
#if defined(__AVX2__)
  return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
  uint64_t part[4];
  std::memcpy(part, &mask, sizeof part);
  return (part[0] | part[1] | part[2] | part[3]) != 0;
#endif
}

/// A sum in units of its own exponent, floored to those of a larger one. In
/// words, because lanes that are replaced wrap.
inline WordLanes align(const IntLanes &sum, const IntLanes &joint,
                       const int16_t *exponent) {
  IntLanes below = joint - widenShorts(exponent);
  lowerTo<IntLanes>(below, IntLanes{} + 31);
  return (WordLanes)(sum >> below);
}

/// Where in B the term \p k of row \p row finds its columns.
template <unsigned N, bool Sparse>
inline unsigned placeInB(const Problem &p, unsigned row, unsigned k,
                         unsigned column) {
  return (Sparse ? p.position[row][k] : k) * N + column;
}

/// A square of the result whose groups are worked on together.
constexpr unsigned side = 16;
/// Stands for groups of zeros, and for those beyond leastExponent, which are
/// done again: it is below the exponent of every accumulator.
constexpr int noExponent = -100;
struct alignas(64) Exponents {
  int16_t of[side][side];
};

/// The largest exponent sum of eight products, of each element of a square.
/// Rows with sums beyond what the loops hold are marked in \p again.
template <unsigned N, bool Sparse>
void groupExponents(const Problem &p, unsigned row, unsigned column,
                    unsigned first, unsigned step, Exponents &to, bool *again) {
  for (unsigned r = 0; r < side; ++r) {
    ShortRow top = ShortRow{} + int16_t(zeroExponent * 2);
    for (unsigned q = 0; q < 8; ++q) {
      const unsigned k = first + q * step;
      const int16_t a = p.a.exponent[k * N + row + r];
      raiseTo<ShortRow>(
          top, loadLanes<ShortRow>(p.b.exponent +
                                   placeInB<N, Sparse>(p, row + r, k, column)) +
                   a);
    }
    const ShortRow real = top > int16_t(zeroExponent / 2);
    const ShortRow outside = ((top < int16_t(leastExponent)) & real) |
                             (top > int16_t(greatestExponent));
    again[row + r] |= anyLane((IntLanes)outside);
    top = (top & real) | (~real & int16_t(noExponent));
    std::memcpy(to.of[r], &top, sizeof top);
  }
}

/// Two of sixteen bytes, each in sixteen columns.
inline void spreadBytes(SignedByteRow &rows, const int8_t *from,
                        unsigned pair) {
#if defined(__AVX2__)
  const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
  const auto place = char(2 * pair);
  rows = (SignedByteRow)_mm256_shuffle_epi8(
      _mm256_broadcastsi128_si256(both),
      _mm256_setr_m128i(_mm_set1_epi8(place), _mm_set1_epi8(char(place + 1))));
#else
  int8_t lane[2 * side];
  std::memset(lane, from[2 * pair], side);
  std::memset(lane + side, from[2 * pair + 1], side);
  std::memcpy(&rows, lane, sizeof rows);
#endif
}

/// The same from the planes of bytes; dense only. False where they do not say.
template <unsigned N>
inline bool nearExponents(const Problem &p, unsigned row, unsigned column,
                          unsigned first, unsigned step, Exponents &to) {
  const int base = p.a.maxExponent + p.b.maxExponent;
  SignedByteRow top[side / 2];
  for (SignedByteRow &t : top)
    t = SignedByteRow{} + int8_t(2 * nearZero);
  const int8_t *a = p.a.nearExponent + first * N + row;
  const int8_t *b = p.b.nearExponent + first * N + column;
#pragma GCC unroll 1
  for (unsigned q = 0; q < 8; ++q, a += step * N, b += step * N) {
    const auto columns = loadLanes<ByteHalf>(b);
    const SignedByteRow twice = __builtin_shufflevector(
        columns, columns, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#pragma GCC unroll 8
    for (unsigned r = 0; r < side / 2; ++r) {
      SignedByteRow sum;
      spreadBytes(sum, a, r);
      sum += twice;
      raiseTo<SignedByteRow>(top[r], sum);
    }
  }
  // The largest is real unless one that was raised may hide it, and the loops
  // hold it if it is not too small.
  const int least =
      std::max(p.a.isRaised || p.b.isRaised ? nearLeast : nearZero,
               leastExponent - 1 - base);
  SignedByteRow doubtful = {};
  for (unsigned r = 0; r < side / 2; ++r)
    doubtful |= (top[r] <= int8_t(std::clamp(least, -128, 127))) &
                (top[r] > int8_t(nearZero));
  if (base > greatestExponent || anyLane((IntLanes)doubtful))
    return false;
  for (unsigned r = 0; r < side; ++r) {
    ByteHalf part;
    std::memcpy(&part, reinterpret_cast<const int8_t *>(top) + r * side,
                sizeof part);
    ShortRow e = __builtin_convertvector(part, ShortRow);
    const ShortRow real = e > int16_t(nearZero);
    e = ((e + int16_t(base)) & real) | (~real & int16_t(noExponent));
    std::memcpy(to.of[r], &e, sizeof e);
  }
  return true;
}

/// Adds the truncated sums of eight products in units of 2^(exponent - 24), for
/// \p Rows rows and sixteen columns.
template <unsigned N, bool Sparse, unsigned Rows>
inline void truncatedSum(const Problem &p, unsigned row, unsigned column,
                         unsigned first, unsigned step,
                         const int16_t (*exponent)[side],
                         IntLanes (&sum)[Rows][2]) {
  FloatLanes grid[Rows][2];
  for (unsigned r = 0; r < Rows; ++r)
    for (unsigned h = 0; h < 2; ++h)
      grid[r][h] =
          (FloatLanes)((127 + 24 - widenShorts(exponent[r] + 8 * h)) << 23);
  const float *valueA = p.a.value + first * N + row;
#pragma GCC unroll 1
  for (unsigned q = 0; q < 8; ++q, valueA += step * N) {
    const float *b =
        p.b.value + placeInB<N, Sparse>(p, row, first + q * step, column);
    for (unsigned h = 0; h < 2; ++h) {
      const auto columns = loadLanes<FloatLanes>(b + 8 * h);
      // Only lanes that the caller replaces can wrap.
      for (unsigned r = 0; r < Rows; ++r)
        sum[r][h] = (IntLanes)((WordLanes)sum[r][h] +
                               (WordLanes) __builtin_convertvector(
                                   columns * valueA[r] * grid[r][h], IntLanes));
    }
  }
}

/// sum += the products of the pairs of 16-bit integers in the words of a and b.
inline void addPairs(IntLanes &sum, uint32_t a, const IntLanes &b) {
#if defined(__AVX2__)
  sum += (IntLanes)_mm256_madd_epi16(_mm256_set1_epi32(int32_t(a)), (__m256i)b);
#else
  const IntLanes low = (IntLanes)((WordLanes)b << 16) >> 16, high = b >> 16;
  sum += low * int32_t(int16_t(a)) + high * (int32_t(a) >> 16);
#endif
}

/// Sums of sixteen products none of which reaches below the grid, so that they
/// are exact: in the integers of Plane::pair, then in units of
/// 2^(exponent - 24). \p fractions: fractional bits of a product.
template <unsigned N, unsigned Rows>
inline void exactSum(const Problem &p, unsigned row, unsigned column,
                     unsigned first, int fractions,
                     const IntLanes (&exponent)[Rows][2],
                     IntLanes (&sum)[Rows][2]) {
  const uint32_t *a = p.a.pair + first / 2 * N + row;
  const uint32_t *b = p.b.pair + first / 2 * N + column;
#pragma GCC unroll 2
  for (unsigned q = 0; q < pairedLength / 2; ++q, a += N, b += N)
    for (unsigned h = 0; h < 2; ++h) {
      const auto columns = loadLanes<IntLanes>(b + 8 * h);
      for (unsigned r = 0; r < Rows; ++r)
        addPairs(sum[r][h], a[r], columns);
    }
  const unsigned group = first / pairedLength;
  const int base = p.a.maxExponent + p.b.maxExponent + 24 - fractions;
  for (unsigned r = 0; r < Rows; ++r)
    for (unsigned h = 0; h < 2; ++h) {
      IntLanes up = widenShorts(p.b.least[group] + column + 8 * h) +
                    (p.a.least[group][row + r] + base) - exponent[r][h];
      lowerTo<IntLanes>(up, IntLanes{} + 31); // sums of zeros only
      sum[r][h] = (IntLanes)((WordLanes)sum[r][h] << (WordLanes)up);
    }
}

/// Joins the group sums of eight columns to their accumulators. With \p Halves
/// (8-bit units) an accumulator below the grid is dropped; otherwise it is
/// floored, to -1 when it is negative.
template <bool Halves>
inline void accumulate(const IntLanes &sum, const IntLanes &exponent,
                       FloatLanes &c) {
  // Exponents in the place that they have in a float.
  const IntLanes own = (exponent + 127) << 23;
  IntLanes joint = (IntLanes)c & 0x7f800000;
  raiseTo<IntLanes>(joint, own);
  // The accumulator in units of 2^(joint - 24), the sum in finer ones.
  const FloatLanes shifted =
      c * (FloatLanes)(((127u + 24 + 127) << 23) - (WordLanes)joint);
#if defined(__AVX2__)
  FloatLanes low = (FloatLanes)_mm256_floor_ps((__m256)shifted);
#else
  IntLanes whole = __builtin_convertvector(shifted, IntLanes);
  whole += __builtin_convertvector(whole, FloatLanes) > shifted;
  FloatLanes low = __builtin_convertvector(whole, FloatLanes);
#endif
  if (Halves) {
    const WordLanes magnitude = (WordLanes)shifted & 0x7fffffff;
    low = (FloatLanes)((WordLanes)low &
                       (WordLanes)((FloatLanes)magnitude >= 0.5f));
  }
  IntLanes below = joint - own, fine = below;
  lowerTo<IntLanes>(fine, IntLanes{} + (7 << 23));
  below = ((IntLanes)((WordLanes)below >> 23)) - 7;
  raiseTo<IntLanes>(below, IntLanes{});
  lowerTo<IntLanes>(below, IntLanes{} + 31);
  const IntLanes kept = sum >> below;
  const FloatLanes unit = (FloatLanes)((127 << 23) - fine);
  // The sum has up to 31 bits; its two parts are exact as floats, and so is
  // what rounding the first addition leaves together with the lesser one.
  const FloatLanes upper =
                       __builtin_convertvector(kept & ~0xff, FloatLanes) * unit,
                   rest =
                       __builtin_convertvector(kept & 0xff, FloatLanes) * unit;
  const FloatLanes rounded = low + upper, part = rounded - low;
  const FloatLanes error = (low - (rounded - part)) + (upper - part);
  c = (rounded + (error + rest)) * (FloatLanes)((WordLanes)joint - (24u << 23));
}

/// Marks accumulators beyond what the loops hold: tiny, infinite or NaN.
inline bool isAwkward(const FloatLanes &c) {
  const WordLanes magnitude = (WordLanes)c & 0x7fffffff;
  return anyLane((IntLanes)(((WordLanes)(magnitude < leastAccumulator) &
                             (WordLanes)(magnitude != 0)) |
                            (WordLanes)(magnitude >= 0x7f800000)));
}

template <unsigned N, bool Sparse, bool Halves, bool Scaled>
void cdna3Rows(Problem &p) {
  constexpr unsigned parts = Halves ? 2 : 1, length = 8 * parts;
  // Rows that share the loads of B.
  constexpr unsigned rows = Sparse ? 1 : 2;
  constexpr bool paired = Halves && !Sparse;
  const unsigned stored = Sparse ? p.shape.k / 2 : p.shape.k;
  // Which products the planes of pairs hold, and with how many fractional bits.
  const int fractions =
      paired ? int(fractionBits(p.shape.a)) + int(fractionBits(p.shape.b)) : 0;
  bool again[maxColumns];
  for (unsigned i = 0; i < N; ++i) {
    again[i] = p.a.special[i] || (Scaled && p.badScale[0][i]);
    for (unsigned j = 0; j < N; j += 8) {
      const auto c = loadLanes<FloatLanes>(p.c[i] + j);
      again[i] |= isAwkward(c);
      std::memcpy(p.d[i] + j, &c, sizeof c);
    }
  }
  for (unsigned row = 0; row < N; row += side)
    for (unsigned column = 0; column < N; column += side)
      for (unsigned first = 0; first < stored; first += length) {
        Exponents e[parts];
        for (unsigned part = 0; part < parts; ++part)
          if (Sparse ||
              !nearExponents<N>(p, row, column, first + part, parts, e[part]))
            groupExponents<N, Sparse>(p, row, column, first + part, parts,
                                      e[part], again);
        // The most that a row may spread for its sums to be exact.
        int room = -1;
        if constexpr (paired) {
          const int8_t *spread = p.b.spread[first / pairedLength] + column;
          room = 24 - fractions - *std::max_element(spread, spread + side);
        }
        for (unsigned r = 0; r < side; r += rows) {
          IntLanes sum[rows][2] = {}, joint[rows][2];
          for (unsigned s = 0; s < rows; ++s)
            for (unsigned h = 0; h < 2; ++h) {
              joint[s][h] = widenShorts(e[0].of[r + s] + 8 * h);
              if constexpr (Halves)
                raiseTo<IntLanes>(joint[s][h],
                                  widenShorts(e[1].of[r + s] + 8 * h));
            }
          bool isExact = false;
          if constexpr (paired) {
            const int8_t *spread = p.a.spread[first / pairedLength] + row + r;
            isExact = spread[0] <= room && spread[1] <= room;
          }
          if (isExact) {
            exactSum<N>(p, row + r, column, first, fractions, joint, sum);
          } else {
            truncatedSum<N, Sparse>(p, row + r, column, first, parts,
                                    e[0].of + r, sum);
            if constexpr (Halves) {
              IntLanes odd[rows][2] = {};
              truncatedSum<N, Sparse>(p, row + r, column, first + 1, parts,
                                      e[1].of + r, odd);
              for (unsigned s = 0; s < rows; ++s)
                for (unsigned h = 0; h < 2; ++h)
                  sum[s][h] = (IntLanes)(align(sum[s][h], joint[s][h],
                                               e[0].of[r + s] + 8 * h) +
                                         align(odd[s][h], joint[s][h],
                                               e[1].of[r + s] + 8 * h));
            }
          }
          for (unsigned s = 0; s < rows; ++s)
            for (unsigned h = 0; h < 2; ++h) {
              IntLanes exponent = joint[s][h];
              if constexpr (Scaled) {
                const IntLanes real = exponent > noExponent;
                exponent +=
                    loadLanes<IntLanes>(p.scaleB[first / 32] + column + 8 * h) +
                    p.scaleA[first / 32][row + r + s];
                again[row + r + s] |= anyLane(((exponent < leastExponent) |
                                               (exponent > greatestExponent)) &
                                              real);
                lowerTo<IntLanes>(exponent, IntLanes{} + greatestExponent);
                raiseTo<IntLanes>(exponent, IntLanes{} + noExponent);
                exponent = (exponent & real) | (~real & noExponent);
              }
              float *to = p.d[row + r + s] + column + 8 * h;
              auto c = loadLanes<FloatLanes>(to);
              accumulate<Halves>(sum[s][h], exponent, c);
              std::memcpy(to, &c, sizeof c);
            }
        }
      }
  bool anyColumn = false;
  for (unsigned j = 0; j < N; ++j)
    anyColumn |= p.b.special[j] || (Scaled && p.badScale[1][j]);
  for (unsigned i = 0; i < N; ++i) {
    // What has become infinite or NaN has stayed so.
    IntLanes special = {};
    for (unsigned j = 0; j < N; j += 8)
      special |= (loadLanes<IntLanes>(p.d[i] + j) & 0x7f800000) == 0x7f800000;
    again[i] |= anyLane(special);
    for (unsigned j = 0; (again[i] || anyColumn) && j < N; ++j)
      if (again[i] || p.b.special[j] || (Scaled && p.badScale[1][j]))
        p.d[i][j] = cdna3Element(p, i, j);
  }
}

//===----------------------------------------------------------------------===//
// The sequential model
//===----------------------------------------------------------------------===//

/// sum = a * b + sum, rounded once.
inline void fuse(FloatLanes &sum, float a, const FloatLanes &b) {
#if defined(__FMA__)
  const __m256 wide = {a, a, a, a, a, a, a, a};
  sum = (FloatLanes)_mm256_fmadd_ps(wide, (__m256)b, (__m256)sum);
#else
  for (unsigned lane = 0; lane < 8; ++lane)
    sum[lane] = __builtin_fmaf(a, b[lane], sum[lane]);
#endif
}

template <unsigned N, bool Sparse> void sequentialRows(Problem &p) {
  const unsigned stored = Sparse ? p.shape.k / 2 : p.shape.k;
  const bool scaled = p.shape.scaled;
  const unsigned length = scaled ? 32 : stored;
  // Each row is a chain of dependent operations; eight of them side by side
  // keep the multipliers busy.
  constexpr unsigned rows = Sparse ? 1 : 4;
  for (unsigned i = 0; i < N; i += rows) {
    for (unsigned column = 0; column < N; column += 16) {
      FloatLanes c[rows][2];
      for (unsigned r = 0; r < rows; ++r)
        for (unsigned h = 0; h < 2; ++h)
          c[r][h] = loadLanes<FloatLanes>(p.c[i + r] + column + 8 * h);
      for (unsigned first = 0; first < stored; first += length) {
        FloatLanes sum[rows][2];
        for (unsigned r = 0; r < rows; ++r)
          for (unsigned h = 0; h < 2; ++h)
            sum[r][h] = scaled ? FloatLanes{} : c[r][h];
        for (unsigned k = first; k < first + length; ++k) {
          const float *b =
              p.b.value + (Sparse ? p.position[i][k] : k) * N + column;
          const auto b0 = loadLanes<FloatLanes>(b),
                     b1 = loadLanes<FloatLanes>(b + 8);
          for (unsigned r = 0; r < rows; ++r) {
            const float a = p.a.value[k * N + i + r];
            fuse(sum[r][0], a, b0);
            fuse(sum[r][1], a, b1);
          }
        }
        for (unsigned r = 0; r < rows; ++r)
          for (unsigned h = 0; h < 2; ++h) {
            if (!scaled) {
              c[r][h] = sum[r][h];
              continue;
            }
            for (unsigned q = 0; q < 8; ++q) {
              int e = p.scaleA[first / 32][i + r] +
                      p.scaleB[first / 32][column + 8 * h + q];
              double unit = asDouble(static_cast<uint64_t>(1023 + e) << 52);
              c[r][h][q] =
                  static_cast<float>(static_cast<double>(c[r][h][q]) +
                                     static_cast<double>(sum[r][h][q]) * unit);
            }
          }
      }
      for (unsigned r = 0; r < rows; ++r)
        for (unsigned h = 0; h < 2; ++h) {
          // Every NaN is the canonical one.
          WordLanes bits = (WordLanes)c[r][h];
          WordLanes nan = (WordLanes)((bits & 0x7fffffff) > 0x7f800000);
          bits = (bits & ~nan) | (nan & canonicalNan);
          std::memcpy(p.d[i + r] + column + 8 * h, &bits, sizeof bits);
        }
    }
    for (unsigned r = 0; scaled && r < rows; ++r)
      for (unsigned j = 0; j < N; ++j)
        if (p.badScale[0][i + r] || p.badScale[1][j])
          p.d[i + r][j] = asFloat(canonicalNan);
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Visits the rows of one block's result: row, register, first lane. The places
/// of matrixResultPlace, without its divisions.
template <typename Visit>
void forEachResultRow(const MatrixShape &shape, unsigned block, Visit visit) {
  constexpr unsigned height = 4;
  const unsigned blocksPerItem =
      std::max(1u, 64 * height / (shape.n * shape.m));
  const unsigned rowsPerItem = 64 / blocksPerItem / shape.n;
  const unsigned groups = shape.m / (height * rowsPerItem);
  const unsigned firstItem = height * groups * (block / blocksPerItem);
  const unsigned firstLane = shape.n * rowsPerItem * (block % blocksPerItem);
  unsigned row = 0;
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned r = 0; r < rowsPerItem; ++r)
      for (unsigned q = 0; q < height; ++q)
        visit(row++, firstItem + height * group + q, firstLane + shape.n * r);
}

/// One row of \p n results; the lengths are told so that no loop is called.
inline void copyRow(void *to, const void *from, unsigned n) {
  if (n == 16)
    std::memcpy(to, from, 64);
  else if (n == 32)
    std::memcpy(to, from, 128);
  else
    std::memcpy(to, from, 16);
}

float clampOverflow(float value, bool hadInfinity) {
  if (std::isinf(value) && !hadInfinity)
    return std::copysign(asFloat(0x7f7fffff), value);
  return value;
}

void eachElement(Problem &p,
                 float (*element)(const Problem &, unsigned, unsigned)) {
  for (unsigned i = 0; i < p.shape.m; ++i)
    for (unsigned j = 0; j < p.shape.n; ++j)
      p.d[i][j] = element(p, i, j);
}

template <unsigned N> void floatRows(Problem &p, bool sequential) {
  const MatrixShape &shape = p.shape;
  if (sequential)
    return shape.sparse ? sequentialRows<N, true>(p)
                        : sequentialRows<N, false>(p);
  const bool halves = bitWidth(shape.a) != 16;
  const unsigned stored = shape.sparse ? shape.k / 2 : shape.k;
  // The loops hold products below 2^126 and take whole groups.
  if (p.a.maxExponent + p.b.maxExponent > 124 ||
      stored % (halves ? 16 : 8) != 0)
    eachElement(p, cdna3Element);
  else if (shape.sparse)
    halves ? cdna3Rows<N, true, true, false>(p)
           : cdna3Rows<N, true, false, false>(p);
  else if (shape.scaled)
    cdna3Rows<N, false, true, true>(p);
  else
    halves ? cdna3Rows<N, false, true, false>(p)
           : cdna3Rows<N, false, false, false>(p);
}

void floatBlock(Problem &p, unsigned block, uint32_t *result) {
  const MatrixShape &shape = p.shape;
  const MatrixOperands &o = p.operands;
  loadProblem(p, block);
  forEachResultRow(shape, block, [&](unsigned i, unsigned item, unsigned lane) {
    if (o.c)
      copyRow(p.c[i], o.c + item * o.registerStride + lane, shape.n);
    else
      std::fill_n(p.c[i], shape.n, asFloat(static_cast<uint32_t>(o.cConstant)));
  });

  const bool chain = shape.a == MatrixElement::F32;
  if (chain && o.flushInputs)
    for (Plane *plane : {&p.a, &p.b})
      for (unsigned at = 0; at < shape.k * shape.m; ++at)
        if (std::fabs(plane->value[at]) < 0x1p-126f)
          plane->value[at] = std::copysign(0.0f, plane->value[at]);

  const bool sequential = chain || o.model == MatrixModel::Sequential;
  if (shape.n == 16)
    floatRows<16>(p, sequential);
  else if (shape.n == 32)
    floatRows<32>(p, sequential);
  else
    eachElement(p, sequential ? sequentialElement : cdna3Element);
  if (o.saturate)
    for (unsigned i = 0; i < shape.m; ++i)
      for (unsigned j = 0; j < shape.n; ++j) {
        float special;
        bool infinite =
            std::isinf(p.d[i][j]) && specialResult(p, i, j, special);
        p.d[i][j] = clampOverflow(p.d[i][j], infinite);
      }
  forEachResultRow(shape, block, [&](unsigned i, unsigned item, unsigned lane) {
    copyRow(result + item * waveLanes + lane, p.d[i], shape.n);
  });
}

/// One row of exact products of integers.
template <unsigned N>
void integerRow(const Problem &p, unsigned i, int32_t *out) {
  const bool sparse = p.shape.sparse;
  const unsigned stored = sparse ? p.shape.k / 2 : p.shape.k;
  constexpr unsigned vectors = (N + 7) / 8;
  IntLanes sum[vectors] = {};
  for (unsigned k = 0; k < stored; ++k) {
    const int32_t *b = p.b.integer + (sparse ? p.position[i][k] : k) * N;
    for (unsigned v = 0; v < vectors; ++v) {
      IntLanes row;
      std::memcpy(&row, b + 8 * v, sizeof row);
      sum[v] += row * p.a.integer[k * N + i];
    }
  }
  std::memcpy(out, sum, N * 4);
}

void integerBlock(Problem &p, unsigned block, uint32_t *result) {
  const MatrixShape &shape = p.shape;
  const MatrixOperands &o = p.operands;
  loadProblem(p, block);
  const unsigned n = shape.n;
  forEachResultRow(shape, block, [&](unsigned i, unsigned item, unsigned lane) {
    int32_t sum[maxColumns];
    if (n == 32)
      integerRow<32>(p, i, sum);
    else if (n == 16)
      integerRow<16>(p, i, sum);
    else
      integerRow<4>(p, i, sum);
    for (unsigned j = 0; j < n; ++j) {
      int64_t c = static_cast<int32_t>(
          o.c ? o.c[item * o.registerStride + lane + j] : o.cConstant);
      int64_t total = c + sum[j];
      if (o.saturate)
        total = std::clamp<int64_t>(total, INT32_MIN, INT32_MAX);
      result[item * waveLanes + lane + j] = static_cast<uint32_t>(total);
    }
  });
}

void doubleBlock(const MatrixShape &shape, const MatrixOperands &o,
                 unsigned block, uint32_t *result) {
  auto load = [&](const uint32_t *image, MatrixPlace place, bool negate) {
    const uint32_t *low =
        image + place.item * 2 * o.registerStride + place.lane;
    uint64_t bits = low[0] | uint64_t(low[o.registerStride]) << 32;
    return asDouble(bits ^ (negate ? 1ull << 63 : 0));
  };
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j) {
      MatrixPlace place = matrixResultPlace(shape, block, i, j);
      bool negateC = o.blgp & 4;
      double sum = o.c ? load(o.c, place, negateC)
                       : asDouble(o.cConstant ^ (negateC ? 1ull << 63 : 0));
      for (unsigned k = 0; k < shape.k; ++k)
        sum = std::fma(
            load(o.a, matrixInputPlace(shape, false, block, i, k), o.blgp & 1),
            load(o.b, matrixInputPlace(shape, true, block, j, k), o.blgp & 2),
            sum);
      uint64_t bits = std::isnan(sum) ? 0x7ff8000000000000 : asBits(sum);
      uint32_t *low = result + place.item * 2 * waveLanes + place.lane;
      low[0] = static_cast<uint32_t>(bits);
      low[waveLanes] = static_cast<uint32_t>(bits >> 32);
    }
}

} // namespace

void executeMatrix(const MatrixShape &shape, const MatrixOperands &operands) {
  // The result is kept apart until every input has been read.
  alignas(64) uint32_t result[32 * waveLanes];
  if (shape.doubleResult()) {
    for (unsigned block = 0; block < shape.blocks; ++block)
      doubleBlock(shape, operands, block, result);
  } else {
    Problem problem(shape, operands);
    for (unsigned block = 0; block < shape.blocks; ++block) {
      if (shape.integerResult())
        integerBlock(problem, block, result);
      else
        floatBlock(problem, block, result);
    }
  }
  const unsigned registers = matrixResultRegisters(shape);
  for (unsigned r = 0; r < registers; ++r)
    std::memcpy(operands.d + r * operands.registerStride,
                result + r * waveLanes, waveLanes * 4);
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
