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
#if defined(__FMA__)
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

/// The lower or upper eight of sixteen columns.
template <unsigned Half>
__attribute__((always_inline)) inline IntLanes widenHalf(const ShortRow &row) {
  constexpr int at = 8 * Half;
  const ShortLanes part = __builtin_shufflevector(
      row, row, at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6, at + 7);
  return __builtin_convertvector(part, IntLanes);
}

/// For each of \p Rows rows and sixteen columns the largest exponent sum of
/// eight products and their truncated sum in units of 2^(exponent - 24).
template <unsigned Step, bool Sparse, unsigned Rows>
inline void groupSum(const Problem &p, unsigned row, unsigned first,
                     unsigned column, ShortRow (&exponent)[Rows],
                     IntLanes (&sum)[Rows][2]) {
  const unsigned n = p.shape.n;
  const unsigned step = Step * n;
  auto placeInB = [&](unsigned q) {
    return (Sparse ? p.position[row][first + q * Step] : first + q * Step) * n +
           column;
  };
  for (unsigned r = 0; r < Rows; ++r)
    exponent[r] = ShortRow{} + int16_t(zeroExponent * 2);
  const uint32_t *exponentA = p.a.exponentA + first * n + row;
  // Not unrolled: the addresses alone would not fit in the host's registers.
#pragma GCC unroll 1
  for (unsigned q = 0; q < 8; ++q, exponentA += step) {
    const auto b = loadLanes<ShortRow>(p.b.exponentB + placeInB(q));
    for (unsigned r = 0; r < Rows; ++r) {
      const IntLanes a = IntLanes{} + int32_t(exponentA[r]);
      raiseTo<ShortRow>(exponent[r], b + (ShortRow)a);
    }
  }
  // Groups of zeros only, and exponents the loop does not hold, are clamped
  // here and dealt with by the caller.
  FloatLanes grid[Rows][2];
  for (unsigned r = 0; r < Rows; ++r) {
    IntLanes clamped[2] = {widenHalf<0>(exponent[r]),
                           widenHalf<1>(exponent[r])};
    for (unsigned h = 0; h < 2; ++h) {
      raiseTo<IntLanes>(clamped[h], IntLanes{} - 100);
      grid[r][h] = (FloatLanes)((127 + 24 - clamped[h]) << 23);
      sum[r][h] = IntLanes{};
    }
  }
  const float *valueA = p.a.value + first * n + row;
#pragma GCC unroll 1
  for (unsigned q = 0; q < 8; ++q, valueA += step) {
    const float *b = p.b.value + placeInB(q);
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

/// Joins the group sums of eight columns to their accumulators. With \p Halves
/// (8-bit units) an accumulator below the grid is dropped; otherwise it is
/// floored, to -1 when it is negative.
template <bool Halves>
inline void accumulate(const IntLanes &sum, const IntLanes &exponent,
                       FloatLanes &c) {
  IntLanes joint = (IntLanes)((WordLanes)c >> 23 & 0xff) - 127;
  raiseTo<IntLanes>(joint, exponent);
  raiseTo<IntLanes>(joint, IntLanes{} - 100); // zeros only
  // The accumulator in units of 2^(joint - 24), the sum in finer ones.
  const FloatLanes shifted = c * (FloatLanes)((127 + 24 - joint) << 23);
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
  IntLanes power = exponent - joint + 7; // at most 7
  IntLanes right = -power;
  raiseTo<IntLanes>(right, IntLanes{});
  lowerTo<IntLanes>(right, IntLanes{} + 31);
  const IntLanes high = sum >> right;
  raiseTo<IntLanes>(power, IntLanes{});
  const WordLanes fineBits = (WordLanes)(power + (1023 - 7)) << 20;
  auto exact = [](const IntHalf &h, const FloatHalf &l, const WordHalf &f) {
    const DoubleLanes fine =
        (DoubleLanes)(__builtin_convertvector(f, LongLanes) << 32);
    return __builtin_convertvector(__builtin_convertvector(h, DoubleLanes) *
                                           fine +
                                       __builtin_convertvector(l, DoubleLanes),
                                   FloatHalf);
  };
  const FloatHalf lower = exact(
                      __builtin_shufflevector(high, high, 0, 1, 2, 3),
                      __builtin_shufflevector(low, low, 0, 1, 2, 3),
                      __builtin_shufflevector(fineBits, fineBits, 0, 1, 2, 3)),
                  upper = exact(
                      __builtin_shufflevector(high, high, 4, 5, 6, 7),
                      __builtin_shufflevector(low, low, 4, 5, 6, 7),
                      __builtin_shufflevector(fineBits, fineBits, 4, 5, 6, 7));
  const FloatLanes total =
      __builtin_shufflevector(lower, upper, 0, 1, 2, 3, 4, 5, 6, 7);
  c = total * (FloatLanes)((127 - 24 + joint) << 23);
}

/// Marks accumulators beyond what the loops hold: tiny, infinite or NaN.
inline void markAwkward(const FloatLanes &c, IntLanes &awkward) {
  const WordLanes magnitude = (WordLanes)c & 0x7fffffff;
  awkward |=
      ((IntLanes)(magnitude < leastAccumulator) & (IntLanes)(magnitude != 0)) |
      (IntLanes)(magnitude >= 0x7f800000);
}

template <bool Sparse, bool Halves, bool Scaled> void cdna3Rows(Problem &p) {
  constexpr unsigned length = Halves ? 16 : 8;
  // Rows that share the loads of B.
  constexpr unsigned rows = Sparse ? 1 : 2;
  const unsigned n = p.shape.n;
  const unsigned stored = Sparse ? p.shape.k / 2 : p.shape.k;
  bool anyColumn = false;
  for (unsigned j = 0; j < n; ++j)
    anyColumn |= p.b.special[j] || (Scaled && p.badScale[1][j]);
  for (unsigned i = 0; i < n; i += rows) {
    IntLanes awkward[rows] = {};
    for (unsigned column = 0; column < n; column += 16) {
      FloatLanes c[rows][2];
      ShortRow outside[rows] = {};
      for (unsigned r = 0; r < rows; ++r)
        for (unsigned h = 0; h < 2; ++h) {
          c[r][h] = loadLanes<FloatLanes>(p.c[i + r] + column + 8 * h);
          markAwkward(c[r][h], awkward[r]);
        }
      for (unsigned first = 0; first < stored; first += length) {
        ShortRow e[rows];
        IntLanes s[rows][2];
        groupSum<Halves ? 2 : 1, Sparse, rows>(p, i, first, column, e, s);
        if constexpr (Halves) {
          ShortRow e1[rows];
          IntLanes s1[rows][2];
          groupSum<2, Sparse, rows>(p, i, first + 1, column, e1, s1);
          for (unsigned r = 0; r < rows; ++r) {
            ShortRow joint = e[r];
            raiseTo<ShortRow>(joint, e1[r]);
            ShortRow below = joint - e[r], below1 = joint - e1[r];
            lowerTo<ShortRow>(below, ShortRow{} + 31);
            lowerTo<ShortRow>(below1, ShortRow{} + 31);
            // Words, because lanes that are replaced wrap.
            s[r][0] = (IntLanes)((WordLanes)(s[r][0] >> widenHalf<0>(below)) +
                                 (WordLanes)(s1[r][0] >> widenHalf<0>(below1)));
            s[r][1] = (IntLanes)((WordLanes)(s[r][1] >> widenHalf<1>(below)) +
                                 (WordLanes)(s1[r][1] >> widenHalf<1>(below1)));
            e[r] = joint;
          }
        }
        for (unsigned r = 0; r < rows; ++r) {
          const ShortRow real = e[r] > int16_t(zeroExponent / 2);
          outside[r] |= ((e[r] < int16_t(leastExponent)) & real) |
                        (e[r] > int16_t(greatestExponent));
          IntLanes exponent[2] = {widenHalf<0>(e[r]), widenHalf<1>(e[r])};
          for (unsigned h = 0; h < 2; ++h) {
            if constexpr (Scaled) {
              const IntLanes some = exponent[h] > zeroExponent / 2;
              exponent[h] +=
                  loadLanes<IntLanes>(p.scaleB[first / 32] + column + 8 * h) +
                  p.scaleA[first / 32][i + r];
              awkward[r] |= ((exponent[h] < leastExponent) & some) |
                            (exponent[h] > greatestExponent);
            }
            accumulate<Halves>(s[r][h], exponent[h], c[r][h]);
          }
        }
      }
      for (unsigned r = 0; r < rows; ++r) {
        awkward[r] |= widenHalf<0>(outside[r]) | widenHalf<1>(outside[r]);
        for (unsigned h = 0; h < 2; ++h) {
          // What has become infinite or NaN has stayed so.
          awkward[r] |=
              (IntLanes)(((WordLanes)c[r][h] & 0x7f800000) == 0x7f800000);
          std::memcpy(p.d[i + r] + column + 8 * h, &c[r][h], sizeof c[r][h]);
        }
      }
    }
    for (unsigned r = 0; r < rows; ++r) {
      int32_t again = p.a.special[i + r] || (Scaled && p.badScale[0][i + r]);
      for (unsigned lane = 0; lane < 8; ++lane)
        again |= awkward[r][lane];
      for (unsigned j = 0; (again || anyColumn) && j < n; ++j)
        if (again || p.b.special[j] || (Scaled && p.badScale[1][j]))
          p.d[i + r][j] = cdna3Element(p, i + r, j);
    }
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

template <bool Sparse> void sequentialRows(Problem &p) {
  const unsigned n = p.shape.n;
  const unsigned stored = Sparse ? p.shape.k / 2 : p.shape.k;
  const bool scaled = p.shape.scaled;
  const unsigned length = scaled ? 32 : stored;
  // Each row is a chain of dependent operations; eight of them side by side
  // keep the multipliers busy.
  constexpr unsigned rows = Sparse ? 1 : 4;
  for (unsigned i = 0; i < n; i += rows) {
    for (unsigned column = 0; column < n; column += 16) {
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
              p.b.value + (Sparse ? p.position[i][k] : k) * n + column;
          const auto b0 = loadLanes<FloatLanes>(b),
                     b1 = loadLanes<FloatLanes>(b + 8);
          for (unsigned r = 0; r < rows; ++r) {
            const float a = p.a.value[k * n + i + r];
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
      for (unsigned j = 0; j < n; ++j)
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

void floatBlock(Problem &p, unsigned block, uint32_t *result) {
  const MatrixShape &shape = p.shape;
  const MatrixOperands &o = p.operands;
  loadProblem(p, block);
  forEachResultRow(shape, block, [&](unsigned i, unsigned item, unsigned lane) {
    if (o.c)
      std::memcpy(p.c[i], o.c + item * o.registerStride + lane, shape.n * 4);
    else
      std::fill_n(p.c[i], shape.n, asFloat(static_cast<uint32_t>(o.cConstant)));
  });

  const bool chain = shape.a == MatrixElement::F32;
  if (chain && o.flushInputs)
    for (Plane *plane : {&p.a, &p.b})
      for (unsigned at = 0; at < shape.k * shape.m; ++at)
        if (std::fabs(plane->value[at]) < 0x1p-126f)
          plane->value[at] = std::copysign(0.0f, plane->value[at]);

  const bool vector = shape.n >= 16;
  if (chain || o.model == MatrixModel::Sequential) {
    if (!vector)
      eachElement(p, sequentialElement);
    else
      shape.sparse ? sequentialRows<true>(p) : sequentialRows<false>(p);
  } else {
    const bool halves = bitWidth(shape.a) != 16;
    const unsigned stored = shape.sparse ? shape.k / 2 : shape.k;
    // The loops hold products below 2^126 and take whole groups.
    const bool fits = p.a.maxExponent + p.b.maxExponent <= 124 &&
                      stored % (halves ? 16 : 8) == 0;
    if (!vector || !fits)
      eachElement(p, cdna3Element);
    else if (shape.sparse)
      halves ? cdna3Rows<true, true, false>(p)
             : cdna3Rows<true, false, false>(p);
    else if (shape.scaled)
      cdna3Rows<false, true, true>(p);
    else
      halves ? cdna3Rows<false, true, false>(p)
             : cdna3Rows<false, false, false>(p);
  }
  if (o.saturate)
    for (unsigned i = 0; i < shape.m; ++i)
      for (unsigned j = 0; j < shape.n; ++j) {
        float special;
        bool infinite =
            std::isinf(p.d[i][j]) && specialResult(p, i, j, special);
        p.d[i][j] = clampOverflow(p.d[i][j], infinite);
      }
  forEachResultRow(shape, block, [&](unsigned i, unsigned item, unsigned lane) {
    std::memcpy(result + item * waveLanes + lane, p.d[i], shape.n * 4);
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
