//===- MatrixKernels.cpp - the arithmetic of matrix instructions ----------===//
// SPDX-License-Identifier: MIT
//
// Operands are brought into planes of exact significands and exponents, row k
// after row k, so that the loops over the columns of the result vectorise. A
// row of the result that meets infinities, NaNs or exponents beyond what the
// single-precision loops hold exactly is done again by the scalar definition
// of the model.
//
//===----------------------------------------------------------------------===//
#include "FloatFormats.h"
#include "MatrixArithmetic.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#if defined(__FMA__)
#include <immintrin.h>
#endif

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

constexpr unsigned waveLanes = 64;
constexpr unsigned maxK = 128;
constexpr unsigned maxColumns = 32;
/// Exponent of a zero; the sum with any other stays below every real one.
constexpr int zeroExponent = -2000;
constexpr uint32_t canonicalNan = 0x7fc00000;

typedef float FloatLanes __attribute__((vector_size(32)));
typedef int32_t IntLanes __attribute__((vector_size(32)));
typedef uint32_t WordLanes __attribute__((vector_size(32)));
typedef int32_t IntHalf __attribute__((vector_size(16)));
typedef int64_t LongLanes __attribute__((vector_size(32)));
typedef double DoubleLanes __attribute__((vector_size(32)));
typedef float FloatHalf __attribute__((vector_size(16)));

// By reference: passing vectors by value has no stable ABI without AVX.
inline void raiseTo(IntLanes &value, const IntLanes &bound) {
  value = value > bound ? value : bound;
}
inline void lowerTo(IntLanes &value, const IntLanes &bound) {
  value = value < bound ? value : bound;
}

/// One operand of one block: element [k][index].
struct alignas(64) Plane {
  float value[maxK * maxColumns];
  int32_t exponent[maxK * maxColumns];
  bool special[maxColumns]; ///< the row or column holds infinity or NaN
  int maxExponent;          ///< over the nonzero finite elements
};

struct Problem {
  Problem(const MatrixShape &shape, const MatrixOperands &operands)
      : shape(shape), operands(operands) {}
  const MatrixShape &shape;
  const MatrixOperands &operands;
  Plane a, b;
  /// Sparse: for each row, which k each stored element stands for.
  uint8_t position[maxColumns][maxK];
  int scaleA[4][maxColumns], scaleB[4][maxColumns]; ///< unbiased exponents
  bool badScale[2][maxColumns];
  alignas(64) float c[maxColumns][maxColumns];
  alignas(64) float d[maxColumns][maxColumns];
};

//===----------------------------------------------------------------------===//
// Registers to planes
//===----------------------------------------------------------------------===//

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
    bits |= (WordLanes)((code & 0x7f) >= 0x7c) & 0x7f800000;
  } else if constexpr (Element == MatrixElement::Fp6) {
    place(0x20, 26, 20, 0x1p126f);
  } else if constexpr (Element == MatrixElement::Bf6) {
    place(0x20, 26, 21, 0x1p124f);
  } else if constexpr (Element == MatrixElement::Fp4) {
    place(0x8, 28, 22, 0x1p126f);
  } else if constexpr (Element == MatrixElement::F16) {
    place(0x8000, 16, 13, 0x1p112f);
    bits |= (WordLanes)((code & 0x7fff) >= 0x7c00) & 0x7f800000;
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

/// Reads one block of one operand. Integers go to Plane::exponent as they are.
template <MatrixElement Element>
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
      for (unsigned item = 0; item < perLane; ++item) {
        const unsigned row = item / run * (k / 2) + group * run + item % run;
        const unsigned position = item * bits, shift = position % 32;
        const uint32_t *low = image + position / 32 * imageStride + from;
        WordLanes code, next;
        std::memcpy(&code, low, sizeof code);
        code >>= shift;
        if (shift + bits > 32) {
          std::memcpy(&next, low + imageStride, sizeof next);
          code |= next << (32 - shift);
        }
        code &= mask;
        int32_t *exponentTo = plane.exponent + row * size + part;
        float *valueTo = plane.value + row * size + part;
        IntLanes exponent;
        WordLanes wide = {};
        if constexpr (Element == MatrixElement::I8) {
          exponent = (IntLanes)(code << 24) >> 24;
        } else {
          widen<Element>(code, wide);
          WordLanes magnitude = wide & 0x7fffffff;
          WordLanes infinite = (WordLanes)(magnitude >= 0x7f800000);
          special |= infinite;
          // Denormals of the narrow format keep the exponent of its smallest
          // normal number.
          exponent = (IntLanes)(magnitude >> 23) - 127;
          raiseTo(exponent, IntLanes{} + lowest);
          WordLanes none = infinite | (WordLanes)(magnitude == 0);
          exponent = (IntLanes)(((WordLanes)exponent & ~none) |
                                (none & uint32_t(zeroExponent)));
          raiseTo(high, exponent);
        }
        if (size >= width) {
          std::memcpy(exponentTo, &exponent, sizeof exponent);
          std::memcpy(valueTo, &wide, sizeof wide);
        } else {
          std::memcpy(exponentTo, (const int32_t *)&exponent + (lane - from),
                      size * 4);
          std::memcpy(valueTo, (const uint32_t *)&wide + (lane - from),
                      size * 4);
        }
      }
      for (unsigned q = 0; q < width && part + q < size; ++q)
        plane.special[part + q] |= special[lane - from + q] != 0;
    }
  plane.maxExponent = zeroExponent;
  for (unsigned q = 0; q < width; ++q)
    plane.maxExponent = std::max(plane.maxExponent, int(high[q]));
}

void loadPlane(MatrixElement element, const MatrixShape &shape,
               const MatrixOperands &operands, bool operandB, unsigned block,
               Plane &plane) {
  switch (element) {
#define CASE(NAME)                                                             \
  case MatrixElement::NAME:                                                    \
    return loadPlane<MatrixElement::NAME>(shape, operands, operandB, block,    \
                                          plane);
    CASE(F32)
    CASE(F16)
    CASE(Bf16)
    CASE(I8)
    CASE(Fp8)
    CASE(Bf8)
    CASE(Fp6)
    CASE(Bf6)
    CASE(Fp4)
#undef CASE
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

//===----------------------------------------------------------------------===//
// The scalar definition
//===----------------------------------------------------------------------===//

struct Element {
  float value;
  int exponent;
};

inline Element elementA(const Problem &p, unsigned i, unsigned k) {
  unsigned at = k * p.shape.m + i;
  return {p.a.value[at], p.a.exponent[at]};
}
inline Element elementB(const Problem &p, unsigned i, unsigned k, unsigned j) {
  unsigned row = p.shape.sparse ? p.position[i][k] : k;
  unsigned at = row * p.shape.n + j;
  return {p.b.value[at], p.b.exponent[at]};
}

/// Whether the result is decided by infinities and NaNs alone.
bool specialResult(const Problem &p, unsigned i, unsigned j, float &result) {
  const unsigned stored = p.shape.sparse ? p.shape.k / 2 : p.shape.k;
  float c = p.c[i][j];
  bool plus = false, minus = false, nan = std::isnan(c);
  auto infinite = [&](bool negative) { (negative ? minus : plus) = true; };
  if (std::isinf(c))
    infinite(std::signbit(c));
  if (p.shape.scaled && (p.badScale[0][i] || p.badScale[1][j]))
    nan = true;
  for (unsigned k = 0; k < stored && !nan; ++k) {
    float a = elementA(p, i, k).value, b = elementB(p, i, k, j).value;
    if (std::isfinite(a) && std::isfinite(b))
      continue;
    if (std::isnan(a) || std::isnan(b) || a == 0 || b == 0)
      nan = true;
    else
      infinite(std::signbit(a) != std::signbit(b));
  }
  if (nan || (plus && minus)) {
    result = asFloat(canonicalNan);
    return true;
  }
  if (plus || minus) {
    result = minus ? -INFINITY : INFINITY;
    return true;
  }
  return false;
}

/// floor(value * 2^shift) for a value that fits.
inline double floorAt(double value, int shift) {
  return std::floor(std::ldexp(value, shift));
}

/// One element of the CDNA3 model, by its definition.
float cdna3Element(const Problem &p, unsigned i, unsigned j) {
  float result;
  if (specialResult(p, i, j, result))
    return result;
  const bool wide = bitWidth(p.shape.a) == 16;
  const unsigned length = wide ? 8 : 16;
  const unsigned parts = wide ? 1 : 2;
  const unsigned stored = p.shape.sparse ? p.shape.k / 2 : p.shape.k;
  float c = p.c[i][j];
  for (unsigned first = 0; first < stored; first += length) {
    double sum[2] = {0, 0};
    int top[2] = {zeroExponent, zeroExponent};
    bool overflow[2] = {false, false};
    for (unsigned part = 0; part < parts; ++part) {
      for (unsigned k = first + part; k < std::min(first + length, stored);
           k += parts) {
        Element a = elementA(p, i, k), b = elementB(p, i, k, j);
        if (a.value != 0 && b.value != 0)
          top[part] = std::max(top[part], a.exponent + b.exponent);
      }
      if (top[part] == zeroExponent)
        continue;
      for (unsigned k = first + part; k < std::min(first + length, stored);
           k += parts) {
        Element a = elementA(p, i, k), b = elementB(p, i, k, j);
        double product =
            static_cast<double>(a.value) * static_cast<double>(b.value);
        // A product beyond the range of f32 counts as infinite.
        if (std::fabs(product) >= 0x1p128)
          overflow[product < 0] = true;
        sum[part] += std::trunc(std::ldexp(product, 24 - top[part]));
      }
    }
    if (overflow[0] || overflow[1]) {
      c = overflow[0] && overflow[1] ? asFloat(canonicalNan)
          : overflow[1]              ? -INFINITY
                                     : INFINITY;
      break;
    }
    int e = std::max(top[0], top[1]);
    double total = 0; // in units of 2^(e - 24)
    if (e != zeroExponent)
      for (unsigned part = 0; part < parts; ++part)
        if (top[part] != zeroExponent)
          total += floorAt(sum[part], top[part] - e);
    if (e != zeroExponent && p.shape.scaled)
      e += p.scaleA[first / 32][i] + p.scaleB[first / 32][j];
    int ec = static_cast<int>((asBits(c) >> 23) & 0xff) - 127;
    ec = std::max(ec, -126);
    int joint = std::max(e, ec);
    double high = e == zeroExponent ? 0 : floorAt(total, e - 24 + 31 - joint);
    // Eight-bit units drop an accumulator that lies below the grid; the others
    // floor it, to -1 when it is negative.
    double low = !wide && joint - ec > 25 ? 0 : floorAt(c, 24 - joint);
    c = static_cast<float>(std::ldexp(high + low * 128, joint - 31));
    if (std::isinf(c))
      break;
  }
  return c;
}

float sequentialElement(const Problem &p, unsigned i, unsigned j) {
  const unsigned stored = p.shape.sparse ? p.shape.k / 2 : p.shape.k;
  const unsigned length = p.shape.scaled ? 32 : stored;
  float c = p.c[i][j];
  if (p.shape.scaled && (p.badScale[0][i] || p.badScale[1][j]))
    return asFloat(canonicalNan);
  for (unsigned first = 0; first < stored; first += length) {
    float sum = p.shape.scaled ? 0.0f : c;
    for (unsigned k = first; k < first + length; ++k)
      sum = std::fma(elementA(p, i, k).value, elementB(p, i, k, j).value, sum);
    if (p.shape.scaled)
      sum = static_cast<float>(
          static_cast<double>(c) +
          std::ldexp(static_cast<double>(sum),
                     p.scaleA[first / 32][i] + p.scaleB[first / 32][j]));
    c = sum;
  }
  return std::isnan(c) ? asFloat(canonicalNan) : c;
}

//===----------------------------------------------------------------------===//
// The vector loops
//===----------------------------------------------------------------------===//

/// Rows of the result that are computed together, sharing the loads of B.
template <bool Sparse> constexpr unsigned rowsTogether = Sparse ? 1 : 2;

/// For each of \p Rows rows the largest exponent sum of eight products and
/// their truncated sum in units of 2^(exponent - 24), for eight columns.
template <unsigned Step, bool Sparse, unsigned N, unsigned Rows>
inline void groupSum(const Problem &p, unsigned row, unsigned first,
                     unsigned column, IntLanes (&exponent)[Rows],
                     IntLanes (&sum)[Rows]) {
  auto rowOfB = [&](unsigned k) {
    return (Sparse ? p.position[row][k] : k) * N + column;
  };
  for (unsigned r = 0; r < Rows; ++r)
    exponent[r] = IntLanes{} + zeroExponent * 2;
  for (unsigned q = 0; q < 8; ++q) {
    const unsigned k = first + q * Step;
    const IntLanes b =
        *reinterpret_cast<const IntLanes *>(p.b.exponent + rowOfB(k));
    for (unsigned r = 0; r < Rows; ++r)
      raiseTo(exponent[r], b + p.a.exponent[k * N + row + r]);
  }
  // Groups of zeros only, and exponents the loop does not hold, are clamped
  // here and dealt with by the caller.
  FloatLanes grid[Rows];
  for (unsigned r = 0; r < Rows; ++r) {
    IntLanes clamped = exponent[r];
    raiseTo(clamped, IntLanes{} - 100);
    grid[r] = (FloatLanes)((127 + 24 - clamped) << 23);
    sum[r] = IntLanes{};
  }
  for (unsigned q = 0; q < 8; ++q) {
    const unsigned k = first + q * Step;
    const FloatLanes b =
        *reinterpret_cast<const FloatLanes *>(p.b.value + rowOfB(k));
    for (unsigned r = 0; r < Rows; ++r)
      sum[r] += __builtin_convertvector(
          b * p.a.value[k * N + row + r] * grid[r], IntLanes);
  }
}

/// Joins the group sums of eight columns to their accumulators.
template <bool Halves>
inline void accumulate(const IntLanes &sum, const IntLanes &exponent,
                       FloatLanes &c) {
  const WordLanes bits = (WordLanes)c;
  IntLanes field = (IntLanes)(bits >> 23 & 0xff);
  const IntLanes implicit = (IntLanes)(field != 0) & 0x800000;
  raiseTo(field, IntLanes{} + 1);
  const IntLanes ec = field - 127;
  IntLanes significand = (IntLanes)(bits & 0x7fffff) | implicit;
  const IntLanes negative = (IntLanes)bits >> 31;
  significand = (significand ^ negative) - negative;
  IntLanes joint = ec;
  raiseTo(joint, exponent);
  // The accumulator in units of 2^(joint - 24), the sum in finer ones; both
  // floors are arithmetic shifts.
  IntLanes drop = joint - ec;
  if (Halves)
    significand &= drop <= 25;
  lowerTo(drop, IntLanes{} + 31);
  const IntLanes low = significand * 2 >> drop;
  IntLanes power = exponent - joint + 7; // at most 7
  IntLanes right = -power;
  raiseTo(right, IntLanes{});
  lowerTo(right, IntLanes{} + 31);
  const IntLanes high = sum >> right;
  raiseTo(power, IntLanes{});
  float out[8];
  for (unsigned half = 0; half < 2; ++half) {
    IntHalf h, l, p, j;
    std::memcpy(&h, (const int32_t *)&high + 4 * half, sizeof h);
    std::memcpy(&l, (const int32_t *)&low + 4 * half, sizeof l);
    std::memcpy(&p, (const int32_t *)&power + 4 * half, sizeof p);
    std::memcpy(&j, (const int32_t *)&joint + 4 * half, sizeof j);
    const DoubleLanes fine =
        (DoubleLanes)((__builtin_convertvector(p, LongLanes) + (1023 - 7))
                      << 52);
    const DoubleLanes unit =
        (DoubleLanes)((__builtin_convertvector(j, LongLanes) + (1023 - 24))
                      << 52);
    const DoubleLanes total = (__builtin_convertvector(h, DoubleLanes) * fine +
                               __builtin_convertvector(l, DoubleLanes)) *
                              unit;
    const FloatHalf rounded = __builtin_convertvector(total, FloatHalf);
    std::memcpy(out + 4 * half, &rounded, sizeof rounded);
  }
  std::memcpy(&c, out, sizeof c);
}

template <unsigned N, bool Sparse, bool Halves, bool Scaled>
void cdna3Rows(Problem &p) {
  constexpr unsigned length = Halves ? 16 : 8;
  constexpr unsigned rows = rowsTogether<Sparse>;
  const unsigned stored = Sparse ? p.shape.k / 2 : p.shape.k;
  for (unsigned i = 0; i < N; i += rows) {
    IntLanes awkward[rows] = {};
    for (unsigned column = 0; column < N; column += 8) {
      FloatLanes c[rows];
      for (unsigned r = 0; r < rows; ++r)
        std::memcpy(&c[r], p.c[i + r] + column, sizeof c[r]);
      for (unsigned first = 0; first < stored; first += length) {
        IntLanes e[rows], s[rows];
        groupSum<Halves ? 2 : 1, Sparse, N, rows>(p, i, first, column, e, s);
        if constexpr (Halves) {
          IntLanes e1[rows], s1[rows];
          groupSum<2, Sparse, N, rows>(p, i, first + 1, column, e1, s1);
          for (unsigned r = 0; r < rows; ++r) {
            IntLanes joint = e[r];
            raiseTo(joint, e1[r]);
            IntLanes below = joint - e[r], below1 = joint - e1[r];
            lowerTo(below, IntLanes{} + 31);
            lowerTo(below1, IntLanes{} + 31);
            s[r] = (s[r] >> below) + (s1[r] >> below1);
            e[r] = joint;
          }
        }
        IntLanes scale = {};
        if constexpr (Scaled)
          std::memcpy(&scale, p.scaleB[first / 32] + column, sizeof scale);
        for (unsigned r = 0; r < rows; ++r) {
          awkward[r] |= (e[r] < -100) & (e[r] > zeroExponent / 2);
          awkward[r] |=
              (IntLanes)(((WordLanes)c[r] & 0x7f800000) == 0x7f800000);
          if constexpr (Scaled)
            e[r] += scale + p.scaleA[first / 32][i + r];
          accumulate<Halves>(s[r], e[r], c[r]);
        }
      }
      for (unsigned r = 0; r < rows; ++r)
        std::memcpy(p.d[i + r] + column, &c[r], sizeof c[r]);
    }
    for (unsigned r = 0; r < rows; ++r) {
      int32_t again = p.a.special[i + r] || (Scaled && p.badScale[0][i + r]);
      for (unsigned lane = 0; lane < 8; ++lane)
        again |= awkward[r][lane];
      for (unsigned j = 0; j < N; ++j)
        if (again || p.b.special[j] || (Scaled && p.badScale[1][j]))
          p.d[i + r][j] = cdna3Element(p, i + r, j);
    }
  }
}

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
  // Each row is a chain of dependent operations; four of them side by side
  // keep the multipliers busy.
  constexpr unsigned rows = Sparse ? 1 : 4;
  for (unsigned i = 0; i < N; i += rows) {
    for (unsigned column = 0; column < N; column += 8) {
      FloatLanes c[rows];
      for (unsigned r = 0; r < rows; ++r)
        std::memcpy(&c[r], p.c[i + r] + column, sizeof c[r]);
      for (unsigned first = 0; first < stored; first += length) {
        FloatLanes sum[rows];
        for (unsigned r = 0; r < rows; ++r)
          sum[r] = scaled ? FloatLanes{} : c[r];
        for (unsigned k = first; k < first + length; ++k) {
          const FloatLanes b = *reinterpret_cast<const FloatLanes *>(
              p.b.value + (Sparse ? p.position[i][k] : k) * N + column);
          for (unsigned r = 0; r < rows; ++r)
            fuse(sum[r], p.a.value[k * N + i + r], b);
        }
        for (unsigned r = 0; r < rows; ++r) {
          if (!scaled) {
            c[r] = sum[r];
            continue;
          }
          for (unsigned q = 0; q < 8; ++q) {
            int e =
                p.scaleA[first / 32][i + r] + p.scaleB[first / 32][column + q];
            double unit = asDouble(static_cast<uint64_t>(1023 + e) << 52);
            c[r][q] = static_cast<float>(static_cast<double>(c[r][q]) +
                                         static_cast<double>(sum[r][q]) * unit);
          }
        }
      }
      for (unsigned r = 0; r < rows; ++r) {
        // Every NaN is the canonical one.
        WordLanes bits = (WordLanes)c[r];
        WordLanes nan = (WordLanes)((bits & 0x7fffffff) > 0x7f800000);
        bits = (bits & ~nan) | (nan & canonicalNan);
        std::memcpy(p.d[i + r] + column, &bits, sizeof bits);
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

/// Reads or writes the accumulator of one block, row by row of registers.
template <typename Visit>
void forEachResultRow(const MatrixShape &shape, unsigned block, Visit visit) {
  for (unsigned i = 0; i < shape.m; ++i) {
    MatrixPlace place = matrixResultPlace(shape, block, i, 0);
    visit(i, place.item, place.lane);
  }
}

float clampOverflow(float value, bool hadInfinity) {
  if (std::isinf(value) && !hadInfinity)
    return std::copysign(asFloat(0x7f7fffff), value);
  return value;
}

void floatBlock(Problem &p, unsigned block, uint32_t *result) {
  const MatrixShape &shape = p.shape;
  const MatrixOperands &o = p.operands;
  loadPlane(shape.a, shape, o, false, block, p.a);
  loadPlane(shape.b, shape, o, true, block, p.b);
  if (shape.sparse)
    loadIndices(p, block);
  if (shape.scaled)
    loadScales(p);
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
      for (unsigned i = 0; i < shape.m; ++i)
        for (unsigned j = 0; j < shape.n; ++j)
          p.d[i][j] = sequentialElement(p, i, j);
    else if (shape.n == 16)
      shape.sparse ? sequentialRows<16, true>(p) : sequentialRows<16, false>(p);
    else
      shape.sparse ? sequentialRows<32, true>(p) : sequentialRows<32, false>(p);
  } else {
    const bool halves = bitWidth(shape.a) != 16;
    const unsigned stored = shape.sparse ? shape.k / 2 : shape.k;
    // The loops hold products below 2^126 and take whole groups.
    const bool fits = p.a.maxExponent + p.b.maxExponent <= 124 &&
                      stored % (halves ? 16 : 8) == 0;
    if (!vector || !fits) {
      for (unsigned i = 0; i < shape.m; ++i)
        for (unsigned j = 0; j < shape.n; ++j)
          p.d[i][j] = cdna3Element(p, i, j);
    } else if (shape.n == 16) {
      if (shape.sparse)
        halves ? cdna3Rows<16, true, true, false>(p)
               : cdna3Rows<16, true, false, false>(p);
      else if (shape.scaled)
        cdna3Rows<16, false, true, true>(p);
      else
        halves ? cdna3Rows<16, false, true, false>(p)
               : cdna3Rows<16, false, false, false>(p);
    } else {
      if (shape.sparse)
        halves ? cdna3Rows<32, true, true, false>(p)
               : cdna3Rows<32, true, false, false>(p);
      else if (shape.scaled)
        cdna3Rows<32, false, true, true>(p);
      else
        halves ? cdna3Rows<32, false, true, false>(p)
               : cdna3Rows<32, false, false, false>(p);
    }
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
    const int32_t *b = p.b.exponent + (sparse ? p.position[i][k] : k) * N;
    for (unsigned v = 0; v < vectors; ++v) {
      IntLanes row;
      std::memcpy(&row, b + 8 * v, sizeof row);
      sum[v] += row * p.a.exponent[k * N + i];
    }
  }
  std::memcpy(out, sum, N * 4);
}

void integerBlock(Problem &p, unsigned block, uint32_t *result) {
  const MatrixShape &shape = p.shape;
  const MatrixOperands &o = p.operands;
  loadPlane(shape.a, shape, o, false, block, p.a);
  loadPlane(shape.b, shape, o, true, block, p.b);
  if (shape.sparse)
    loadIndices(p, block);
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
