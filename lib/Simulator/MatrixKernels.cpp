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
#include <type_traits>
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

inline IntLanes widenBytes(const int8_t *from) {
#if defined(__AVX2__)
  return (IntLanes)_mm256_cvtepi8_epi32(
      _mm_loadl_epi64(reinterpret_cast<const __m128i *>(from)));
#else
  return __builtin_convertvector(loadLanes<SignedByteLanes>(from), IntLanes);
#endif
}
inline IntLanes widen(const int8_t *from) { return widenBytes(from); }
inline IntLanes widen(const int16_t *from) { return widenShorts(from); }

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

/// value >> places, where 31 places stand for more.
inline void shiftDown(IntLanes &value, const IntLanes &places) {
#if defined(__AVX2__)
  value = (IntLanes)_mm256_srav_epi32((__m256i)value, (__m256i)places);
#else
  IntLanes least = places;
  lowerTo<IntLanes>(least, IntLanes{} + 31);
  value = value >> least;
#endif
}

/// value << places, where any number of places may be asked of zero.
inline void shiftUp(IntLanes &value, const IntLanes &places) {
#if defined(__AVX2__)
  value = (IntLanes)_mm256_sllv_epi32((__m256i)value, (__m256i)places);
#else
  IntLanes least = places;
  lowerTo<IntLanes>(least, IntLanes{} + 31);
  value = (IntLanes)((WordLanes)value << (WordLanes)least);
#endif
}

/// Floors a sum in units of its own exponent to those of a larger one.
inline void align(IntLanes &sum, const IntLanes &joint,
                  const IntLanes &exponent) {
  shiftDown(sum, joint - exponent);
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
constexpr int noExponent = -98;
/// Exponents of a square less a base, which is that of A and B in bytes and
/// zero in others.
template <typename T> struct alignas(64) Exponents {
  T of[side][side];
};

/// The largest exponent sum of eight products, of each element of a square.
/// Rows with sums beyond what the loops hold are marked in \p again.
template <unsigned N, bool Sparse>
void groupExponents(const Problem &p, unsigned row, unsigned column,
                    unsigned first, unsigned step, Exponents<int16_t> &to,
                    bool *again) {
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

inline ByteHalf lowerHalf(const SignedByteRow &v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                 13, 14, 15);
}
inline ByteHalf upperHalf(const SignedByteRow &v) {
  return __builtin_shufflevector(v, v, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                 26, 27, 28, 29, 30, 31);
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

/// The same from the planes of bytes, for pairs of rows.
template <unsigned N>
inline void nearTops(const Problem &p, unsigned row, unsigned column,
                     unsigned first, unsigned step,
                     SignedByteRow (&top)[side / 2]) {
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
}

/// groupExponents for dense instructions. False where the planes of bytes do
/// not say.
template <unsigned N>
inline bool nearExponents(const Problem &p, unsigned row, unsigned column,
                          unsigned first, Exponents<int16_t> &to) {
  const int base = p.a.maxExponent + p.b.maxExponent;
  SignedByteRow top[side / 2];
  nearTops<N>(p, row, column, first, 1, top);
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
    const ShortRow e = __builtin_convertvector(
        r % 2 ? upperHalf(top[r / 2]) : lowerHalf(top[r / 2]), ShortRow);
    const ShortRow near = e > int16_t(nearZero)
                              ? e + int16_t(base)
                              : ShortRow{} + int16_t(noExponent);
    std::memcpy(to.of[r], &near, sizeof near);
  }
  return true;
}

/// The exponents of a group of narrow formats: of its even products, of the odd
/// ones, and the larger of both. The loops hold all sums of two of them.
template <unsigned N>
inline void narrowExponents(const Problem &p, unsigned row, unsigned column,
                            unsigned first, Exponents<int8_t> (&to)[3]) {
  const SignedByteRow missing =
      SignedByteRow{} +
      int8_t(noExponent - (p.a.maxExponent + p.b.maxExponent));
  SignedByteRow top[2][side / 2];
  nearTops<N>(p, row, column, first, 2, top[0]);
  nearTops<N>(p, row, column, first + 1, 2, top[1]);
  for (unsigned r = 0; r < side / 2; ++r) {
    SignedByteRow even = top[0][r], odd = top[1][r];
    even = even > int8_t(nearZero) ? even : missing;
    odd = odd > int8_t(nearZero) ? odd : missing;
    const SignedByteRow joint = even > odd ? even : odd;
    std::memcpy(to[0].of[2 * r], &even, sizeof even);
    std::memcpy(to[1].of[2 * r], &odd, sizeof odd);
    std::memcpy(to[2].of[2 * r], &joint, sizeof joint);
  }
}

/// Adds the truncated sums of eight products in units of 2^(exponent - 24), for
/// \p Rows rows and sixteen columns.
template <unsigned N, bool Sparse, unsigned Rows>
inline void truncatedSum(const Problem &p, unsigned row, unsigned column,
                         unsigned first, unsigned step,
                         const IntLanes (&exponent)[Rows][2],
                         IntLanes (&sum)[Rows][2]) {
  FloatLanes grid[Rows][2];
  for (unsigned r = 0; r < Rows; ++r)
    for (unsigned h = 0; h < 2; ++h)
      grid[r][h] = (FloatLanes)((127 + 24 - exponent[r][h]) << 23);
  const float *a = p.a.value + first * N + row;
  const float *b = p.b.value + first * N + column;
#pragma GCC unroll 2
  for (unsigned q = 0; q < 8; ++q, a += step * N, b += step * N) {
    if (Sparse)
      b = p.b.value + placeInB<N, Sparse>(p, row, first + q * step, column);
    for (unsigned h = 0; h < 2; ++h) {
      const auto columns = loadLanes<FloatLanes>(b + 8 * h);
      // Only lanes that the caller replaces can wrap.
      for (unsigned r = 0; r < Rows; ++r)
        sum[r][h] = (IntLanes)((WordLanes)sum[r][h] +
                               (WordLanes) __builtin_convertvector(
                                   columns * a[r] * grid[r][h], IntLanes));
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
/// are exact: in the integers of Plane::pair, then shifted by \p up.
template <unsigned N, unsigned Rows>
inline void exactSum(const Problem &p, unsigned row, unsigned column,
                     unsigned first, const IntLanes (&up)[Rows][2],
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
  for (unsigned r = 0; r < Rows; ++r)
    for (unsigned h = 0; h < 2; ++h)
      shiftUp(sum[r][h], up[r][h]);
}

inline void floorLanes(FloatLanes &x) {
#if defined(__AVX2__)
  x = (FloatLanes)_mm256_floor_ps((__m256)x);
#else
  for (unsigned lane = 0; lane < 8; ++lane)
    x[lane] = __builtin_floorf(x[lane]);
#endif
}

/// An accumulator in units of the grid: floored, to -1 when it is negative and
/// below the grid. With \p Halves (8-bit units) it is dropped there.
template <bool Halves> inline void toGrid(FloatLanes &c) {
  const IntLanes magnitude = (IntLanes)c & 0x7fffffff;
  floorLanes(c);
  if (Halves)
    c = (FloatLanes)((IntLanes)c & (magnitude >= int32_t(asBits(0.5f))));
}

/// Joins the group sums of eight columns, in units of 2^(exponent - 24), to
/// their accumulators.
///
/// Both are brought to integers whose sum the conversion to f32 rounds. Their
/// unit is that of the sum, 2^(exponent - 24), unless the accumulator has an
/// exponent larger by more than `headroom`: with it an accumulator is below
/// 2^30, and a sum is anyway. In the larger units the sum loses bits. Of those
/// the first two behind the group's 31 fractional bits count, and a bit that
/// says whether there are any will do: the total keeps 26 bits at least, since
/// a sum, at most 57 * 2^24, has been halved while the accumulator is 2^29 or
/// more.
template <bool Halves>
inline void accumulate(const IntLanes &sum, const IntLanes &exponent,
                       FloatLanes &c) {
  constexpr int headroom = 5;
  // Exponents with the bias of f32, and headroom added.
  const IntLanes grid = exponent + (127 + headroom);
  IntLanes unit = (IntLanes)((WordLanes)c << 1 >> 24);
  raiseTo<IntLanes>(unit, grid);
  const IntLanes lift = unit - grid;
  const IntLanes scale = ((127 + 24 + 127 + headroom) - unit) << 23;
  FloatLanes low = c * (FloatLanes)scale;
  toGrid<Halves>(low);
  IntLanes total = __builtin_convertvector(low, IntLanes);
  IntLanes lost = lift - 2;
  raiseTo<IntLanes>(lost, IntLanes{});
  IntLanes kept = sum;
  shiftDown(kept, lost);
  const IntLanes sticky = lift - lost;
  IntLanes lifted = kept >> sticky;
  lifted |= ((lifted << sticky) != kept) & 1;
  total += lifted;
  c = __builtin_convertvector(total, FloatLanes) *
      (FloatLanes)((254 << 23) - scale);
}

/// Finds accumulators beyond what the loops hold: tiny, infinite or NaN.
struct AwkwardLanes {
  IntLanes most = {};
  WordLanes least = WordLanes{} + ~0u; ///< less 1, so that zeros are largest

  void look(const FloatLanes &c) {
    const IntLanes magnitude = (IntLanes)c & 0x7fffffff;
    raiseTo<IntLanes>(most, magnitude);
    lowerTo<WordLanes>(least, (WordLanes)magnitude - 1);
  }
  bool any() const {
    return anyLane((most >= 0x7f800000) |
                   (IntLanes)(least < leastAccumulator - 1));
  }
};

template <unsigned N, bool Sparse, bool Halves, bool Scaled>
void cdna3Rows(Problem &p) {
  constexpr unsigned parts = Halves ? 2 : 1, length = 8 * parts;
  // Rows that share the loads of B.
  constexpr bool paired = Halves && !Sparse;
  constexpr unsigned rows = Sparse ? 1 : 2;
  const unsigned stored = Sparse ? p.shape.k / 2 : p.shape.k;
  const int base = paired ? p.a.maxExponent + p.b.maxExponent : 0;
  // Fractional bits of the products that the planes of pairs hold.
  const int fractions =
      paired ? int(fractionBits(p.shape.a)) + int(fractionBits(p.shape.b)) : 0;
  bool again[maxColumns];
  for (unsigned i = 0; i < N; ++i)
    again[i] = p.a.special[i] || (Scaled && p.badScale[0][i]);
  for (unsigned row = 0; row < N; row += side)
    for (unsigned column = 0; column < N; column += side) {
      Exponents<std::conditional_t<paired, int8_t, int16_t>>
          e[maxK / length][paired ? 3 : parts];
      bool anyWide[maxK / length];
      for (unsigned group = 0; group < stored / length; ++group) {
        const unsigned first = group * length;
        if constexpr (paired) {
          narrowExponents<N>(p, row, column, first, e[group]);
          const bool *wide = p.b.isWide[group] + column;
          anyWide[group] = std::find(wide, wide + side, true) != wide + side;
        } else {
          for (unsigned part = 0; part < parts; ++part) {
            if (!Sparse &&
                nearExponents<N>(p, row, column, first, e[group][part]))
              continue;
            fillExponents(p);
            groupExponents<N, Sparse>(p, row, column, first + part, parts,
                                      e[group][part], again);
          }
        }
      }
      for (unsigned r = 0; r < side; r += rows) {
        FloatLanes c[rows][2];
        AwkwardLanes awkward[rows];
        IntLanes outside[rows] = {};
        for (unsigned s = 0; s < rows; ++s)
          for (unsigned h = 0; h < 2; ++h) {
            c[s][h] = loadLanes<FloatLanes>(p.c[row + r + s] + column + 8 * h);
            awkward[s].look(c[s][h]);
          }
        for (unsigned group = 0; group < stored / length; ++group) {
          const unsigned first = group * length;
          auto exponents = [&](unsigned part, IntLanes(&to)[rows][2]) {
            for (unsigned s = 0; s < rows; ++s)
              for (unsigned h = 0; h < 2; ++h)
                to[s][h] = widen(e[group][part].of[r + s] + 8 * h) + base;
          };
          IntLanes sum[rows][2] = {}, joint[rows][2];
          bool isExact = false;
          if constexpr (paired) {
            // How far the units of the planes of pairs lie above the grid.
            IntLanes up[rows][2], below = {};
            exponents(2, joint);
            for (unsigned s = 0; s < rows; ++s)
              for (unsigned h = 0; h < 2; ++h) {
                up[s][h] =
                    loadLanes<IntLanes>(p.b.least[group] + column + 8 * h) +
                    (p.a.least[group][row + r + s] + base + 24 - fractions) -
                    joint[s][h];
                below |= up[s][h];
              }
            const bool *wide = p.a.isWide[group] + row + r;
            isExact = !(anyWide[group] | wide[0] | wide[1]) &&
                      !anyLane(below & INT32_MIN);
            if (isExact)
              exactSum<N>(p, row + r, column, first, up, sum);
          }
          if (!isExact) {
            if constexpr (paired)
              fillValues(p);
            IntLanes own[rows][2];
            exponents(0, own);
            truncatedSum<N, Sparse>(p, row + r, column, first, parts, own, sum);
            if constexpr (Halves) {
              IntLanes other[rows][2], odd[rows][2] = {};
              exponents(1, other);
              truncatedSum<N, Sparse>(p, row + r, column, first + 1, parts,
                                      other, odd);
              for (unsigned s = 0; s < rows; ++s)
                for (unsigned h = 0; h < 2; ++h) {
                  joint[s][h] = own[s][h];
                  raiseTo<IntLanes>(joint[s][h], other[s][h]);
                  align(sum[s][h], joint[s][h], own[s][h]);
                  align(odd[s][h], joint[s][h], other[s][h]);
                  // In words, because lanes that are replaced wrap.
                  sum[s][h] =
                      (IntLanes)((WordLanes)sum[s][h] + (WordLanes)odd[s][h]);
                }
            } else {
              std::memcpy(joint, own, sizeof joint);
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
                outside[s] |= ((exponent < leastExponent) |
                               (exponent > greatestExponent)) &
                              real;
                lowerTo<IntLanes>(exponent, IntLanes{} + greatestExponent);
                raiseTo<IntLanes>(exponent, IntLanes{} + noExponent);
                exponent = (exponent & real) | (~real & noExponent);
              }
              accumulate<Halves>(sum[s][h], exponent, c[s][h]);
            }
        }
        for (unsigned s = 0; s < rows; ++s) {
          again[row + r + s] |=
              awkward[s].any() || (Scaled && anyLane(outside[s]));
          for (unsigned h = 0; h < 2; ++h)
            std::memcpy(p.d[row + r + s] + column + 8 * h, &c[s][h],
                        sizeof c[s][h]);
        }
      }
    }
  bool anyColumn = false;
  for (unsigned j = 0; j < N; ++j)
    anyColumn |= p.b.special[j] || (Scaled && p.badScale[1][j]);
  for (unsigned i = 0; i < N; ++i)
    for (unsigned j = 0; (again[i] || anyColumn) && j < N; ++j)
      if (again[i] || p.b.special[j] || (Scaled && p.badScale[1][j])) {
        fillValues(p);
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
        const float *a = p.a.value + first * N + i;
        const float *b = p.b.value + first * N + column;
        for (unsigned k = first; k < first + length; ++k, a += N, b += N) {
          if (Sparse)
            b = p.b.value + p.position[i][k] * N + column;
          const auto b0 = loadLanes<FloatLanes>(b),
                     b1 = loadLanes<FloatLanes>(b + 8);
          for (unsigned r = 0; r < rows; ++r) {
            fuse(sum[r][0], a[r], b0);
            fuse(sum[r][1], a[r], b1);
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
  fillValues(p);
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

void floatBlock(Problem &p, unsigned block, uint32_t *result,
                unsigned resultStride) {
  const MatrixShape &shape = p.shape;
  const MatrixOperands &o = p.operands;
  loadProblem(p, block);
  forEachResultRow(shape, block, [&](unsigned i, unsigned item, unsigned lane) {
    p.d[i] = reinterpret_cast<float *>(result + item * resultStride + lane);
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
  if (!o.saturate)
    return;
  fillValues(p);
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.n; ++j) {
      float special;
      bool infinite = std::isinf(p.d[i][j]) && specialResult(p, i, j, special);
      p.d[i][j] = clampOverflow(p.d[i][j], infinite);
    }
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
  if (shape.blocks == 1 && !shape.doubleResult() && !shape.integerResult()) {
    // Every input is read before the first result is written.
    Problem problem(shape, operands);
    return floatBlock(problem, 0, operands.d, operands.registerStride);
  }
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
        floatBlock(problem, block, result, waveLanes);
    }
  }
  const unsigned registers = matrixResultRegisters(shape);
  for (unsigned r = 0; r < registers; ++r)
    std::memcpy(operands.d + r * operands.registerStride,
                result + r * waveLanes, waveLanes * 4);
}

} // namespace NETRA_SIM_VARIANT
} // namespace netra::sim
