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

namespace netra::sim {
namespace NETRA_SIM_VARIANT {
namespace {

constexpr unsigned waveLanes = 64;
constexpr unsigned maxK = 128;
constexpr unsigned maxColumns = 32;
/// Exponent of a zero; the sum with any other stays below every real one.
constexpr int zeroExponent = -2000;
constexpr uint32_t canonicalNan = 0x7fc00000;

/// One operand of one block: element [k][index].
struct alignas(64) Plane {
  float value[maxK * maxColumns];
  int32_t exponent[maxK * maxColumns];
  bool special[maxColumns]; ///< the row or column holds infinity or NaN
  int maxExponent;          ///< over the nonzero finite elements
  int minExponent;
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

/// f32 bits of \p code in the lanes' element type; infinities and NaNs come
/// out as f32 specials.
template <MatrixElement Element> inline uint32_t widen(uint32_t code) {
  auto small = [](uint32_t sign, uint32_t magnitude, float scale) {
    return sign | asBits(asFloat(magnitude) * scale);
  };
  if constexpr (Element == MatrixElement::Fp8)
    return (code & 0x7f) == 0x7f
               ? canonicalNan
               : small((code & 0x80) << 24, (code & 0x7f) << 20, 0x1p120f);
  else if constexpr (Element == MatrixElement::Bf8)
    return (code & 0x7f) >= 0x7c
               ? ((code & 0x80) << 24) | 0x7f800000 | (code & 3) << 21
               : small((code & 0x80) << 24, (code & 0x7f) << 21, 0x1p112f);
  else if constexpr (Element == MatrixElement::Fp6)
    return small((code & 0x20) << 26, (code & 0x1f) << 20, 0x1p126f);
  else if constexpr (Element == MatrixElement::Bf6)
    return small((code & 0x20) << 26, (code & 0x1f) << 21, 0x1p124f);
  else if constexpr (Element == MatrixElement::Fp4)
    return small((code & 0x8) << 28, (code & 0x7) << 22, 0x1p126f);
  else if constexpr (Element == MatrixElement::F16)
    return f32FromF16(code & 0xffff);
  else if constexpr (Element == MatrixElement::Bf16)
    return code << 16;
  else
    return code;
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
  uint32_t specialLanes[waveLanes] = {};
  int32_t highLanes[waveLanes], lowLanes[waveLanes];
  for (unsigned lane = 0; lane < waveLanes; ++lane) {
    highLanes[lane] = zeroExponent;
    lowLanes[lane] = -zeroExponent;
  }
  for (unsigned item = 0; item < perLane; ++item) {
    const unsigned position = item * bits;
    const uint32_t *low = image + position / 32 * imageStride;
    const unsigned shift = position % 32;
    alignas(64) uint32_t value[waveLanes];
    alignas(64) int32_t exponent[waveLanes];
    if (shift + bits > 32) {
      const uint32_t *high = low + imageStride;
      for (unsigned lane = 0; lane < waveLanes; ++lane)
        value[lane] =
            ((low[lane] >> shift) | (high[lane] << (32 - shift))) & mask;
    } else {
      for (unsigned lane = 0; lane < waveLanes; ++lane)
        value[lane] = (low[lane] >> shift) & mask;
    }
    if constexpr (Element == MatrixElement::I8) {
      for (unsigned lane = 0; lane < waveLanes; ++lane)
        exponent[lane] = static_cast<int8_t>(value[lane]);
    } else {
      for (unsigned lane = 0; lane < waveLanes; ++lane) {
        uint32_t wide = widen<Element>(value[lane]);
        uint32_t field = (wide >> 23) & 0xff;
        bool special = field == 0xff;
        bool zero = (wide & 0x7fffffff) == 0;
        // Denormals of the narrow format keep the exponent of its smallest
        // normal number.
        int32_t e = static_cast<int32_t>(field) - 127;
        e = e < lowest ? lowest : e;
        e = zero || special ? zeroExponent : e;
        specialLanes[lane] |= special ? 1u : 0u;
        value[lane] = wide;
        exponent[lane] = e;
        highLanes[lane] = std::max(highLanes[lane], e);
        int32_t forLow = e == zeroExponent ? -zeroExponent : e;
        lowLanes[lane] = std::min(lowLanes[lane], forLow);
      }
    }
    for (unsigned group = 0; group < groups; ++group) {
      unsigned row = item / run * (k / 2) + group * run + item % run;
      unsigned from = size * (block + shape.blocks * group);
      if constexpr (Element != MatrixElement::I8)
        std::memcpy(plane.value + row * size, value + from, size * 4);
      std::memcpy(plane.exponent + row * size, exponent + from, size * 4);
    }
  }
  plane.maxExponent = zeroExponent;
  plane.minExponent = -zeroExponent;
  for (unsigned i = 0; i < size; ++i)
    plane.special[i] = false;
  for (unsigned group = 0; group < groups; ++group)
    for (unsigned i = 0; i < size; ++i) {
      unsigned lane = size * (block + shape.blocks * group) + i;
      plane.special[i] |= specialLanes[lane] != 0;
      plane.maxExponent = std::max(plane.maxExponent, highLanes[lane]);
      plane.minExponent = std::min(plane.minExponent, lowLanes[lane]);
    }
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
      MatrixPlace place = matrixInputPlace(shape, false, block, row, k);
      uint32_t bits = p.operands.index[place.lane] >> (set * setBits);
      unsigned index = (bits >> (2 * place.item)) & 3;
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

typedef float FloatLanes __attribute__((vector_size(32)));
typedef int32_t IntLanes __attribute__((vector_size(32)));

inline void raiseTo(IntLanes &value, const IntLanes &bound) {
  value = value > bound ? value : bound;
}

/// The largest exponent sum of \p Count products and their truncated sum in
/// units of 2^(exponent - 24), for eight columns.
template <unsigned Count, unsigned Step, bool Sparse, unsigned N>
inline void groupSum(const Problem &p, unsigned row, unsigned first,
                     unsigned column, IntLanes &exponent, IntLanes &sum) {
  const unsigned m = N;
  auto rowOfB = [&](unsigned k) {
    return (Sparse ? p.position[row][k] : k) * N + column;
  };
  IntLanes top = IntLanes{} + zeroExponent * 2;
  for (unsigned q = 0; q < Count; ++q) {
    unsigned k = first + q * Step;
    IntLanes b = *reinterpret_cast<const IntLanes *>(p.b.exponent + rowOfB(k));
    raiseTo(top, b + p.a.exponent[k * m + row]);
  }
  // Groups of zeros only, and exponents the loop does not hold, are clamped
  // here and dealt with by the caller.
  IntLanes clamped = top;
  raiseTo(clamped, IntLanes{} - 100);
  FloatLanes grid = (FloatLanes)((127 + 24 - clamped) << 23);
  IntLanes total = {};
  for (unsigned q = 0; q < Count; ++q) {
    unsigned k = first + q * Step;
    FloatLanes b = *reinterpret_cast<const FloatLanes *>(p.b.value + rowOfB(k));
    FloatLanes product = b * p.a.value[k * m + row];
    total += __builtin_convertvector(product * grid, IntLanes);
  }
  exponent = top;
  sum = total;
}

/// Joins the group sums of one row to its accumulators.
template <unsigned N, bool Halves>
inline void accumulate(const int32_t *__restrict sum,
                       const int32_t *__restrict exponent,
                       float *__restrict c) {
  for (unsigned j = 0; j < N; ++j) {
    int32_t ec = static_cast<int32_t>((asBits(c[j]) >> 23) & 0xff) - 127;
    ec = ec < -126 ? -126 : ec;
    int32_t e = exponent[j];
    int32_t joint = e > ec ? e : ec;
    // Both floors happen on exact doubles. An exponent far below the joint one
    // is clamped: the floor gives 0 or -1 either way.
    int32_t below = e - joint < -64 ? -64 : e - joint;
    double high = std::floor(
        static_cast<double>(sum[j]) *
        asDouble(static_cast<uint64_t>(static_cast<int64_t>(1023 + 7 + below))
                 << 52));
    double low = std::floor(
        static_cast<double>(c[j]) *
        asDouble(static_cast<uint64_t>(static_cast<int64_t>(1023 + 24 - joint))
                 << 52));
    if (Halves && joint - ec > 25)
      low = 0;
    double unit = asDouble(
        static_cast<uint64_t>(static_cast<int64_t>(1023 - 31 + joint)) << 52);
    c[j] = static_cast<float>((high + low * 128.0) * unit);
  }
}

template <unsigned N, bool Sparse, bool Halves, bool Scaled>
void cdna3Rows(Problem &p) {
  constexpr unsigned length = Halves ? 16 : 8;
  const unsigned stored = Sparse ? p.shape.k / 2 : p.shape.k;
  for (unsigned i = 0; i < N; ++i) {
    alignas(64) float c[N];
    std::memcpy(c, p.c[i], sizeof c);
    bool again = p.a.special[i] || (Scaled && p.badScale[0][i]);
    for (unsigned first = 0; first < stored && !again; first += length) {
      alignas(64) int32_t sum[N], exponent[N];
      IntLanes awkward = {};
      for (unsigned column = 0; column < N; column += 8) {
        IntLanes e, s;
        if constexpr (Halves) {
          IntLanes e1, s1;
          groupSum<8, 2, Sparse, N>(p, i, first, column, e, s);
          groupSum<8, 2, Sparse, N>(p, i, first + 1, column, e1, s1);
          IntLanes joint = e;
          raiseTo(joint, e1);
          IntLanes below = e - joint, below1 = e1 - joint;
          raiseTo(below, IntLanes{} - 31);
          raiseTo(below1, IntLanes{} - 31);
          s = (s >> -below) + (s1 >> -below1);
          e = joint;
        } else {
          groupSum<8, 1, Sparse, N>(p, i, first, column, e, s);
        }
        awkward |= (e < -100) & (e > zeroExponent / 2);
        if constexpr (Scaled) {
          IntLanes scale = *reinterpret_cast<const IntLanes *>(
              p.scaleB[first / 32] + column);
          e += scale + p.scaleA[first / 32][i];
        }
        *reinterpret_cast<IntLanes *>(sum + column) = s;
        *reinterpret_cast<IntLanes *>(exponent + column) = e;
      }
      uint32_t special = 0;
      for (unsigned j = 0; j < N; ++j)
        special |= (asBits(c[j]) & 0x7f800000) == 0x7f800000 ? 1u : 0u;
      for (unsigned lane = 0; lane < 8; ++lane)
        special |= static_cast<uint32_t>(awkward[lane]);
      again = special != 0;
      accumulate<N, Halves>(sum, exponent, c);
    }
    for (unsigned j = 0; j < N; ++j) {
      bool scalar = again || p.b.special[j] || (Scaled && p.badScale[1][j]);
      p.d[i][j] = scalar ? cdna3Element(p, i, j) : c[j];
    }
  }
}

template <unsigned N, bool Sparse> void sequentialRows(Problem &p) {
  const unsigned stored = Sparse ? p.shape.k / 2 : p.shape.k;
  for (unsigned i = 0; i < N; ++i) {
    alignas(64) float c[N];
    std::memcpy(c, p.c[i], sizeof c);
    const unsigned length = p.shape.scaled ? 32 : stored;
    for (unsigned first = 0; first < stored; first += length) {
      alignas(64) float sum[N];
      for (unsigned j = 0; j < N; ++j)
        sum[j] = p.shape.scaled ? 0.0f : c[j];
      for (unsigned k = first; k < first + length; ++k) {
        const float a = p.a.value[k * N + i];
        const float *b = p.b.value + (Sparse ? p.position[i][k] : k) * N;
        for (unsigned j = 0; j < N; ++j)
          sum[j] = __builtin_fmaf(a, b[j], sum[j]);
      }
      if (p.shape.scaled) {
        for (unsigned j = 0; j < N; ++j) {
          int e = p.scaleA[first / 32][i] + p.scaleB[first / 32][j];
          double unit = asDouble(static_cast<uint64_t>(1023 + e) << 52);
          c[j] = static_cast<float>(static_cast<double>(c[j]) +
                                    static_cast<double>(sum[j]) * unit);
        }
      } else {
        std::memcpy(c, sum, sizeof c);
      }
    }
    for (unsigned j = 0; j < N; ++j) {
      bool nan = std::isnan(c[j]) ||
                 (p.shape.scaled && (p.badScale[0][i] || p.badScale[1][j]));
      p.d[i][j] = nan ? asFloat(canonicalNan) : c[j];
    }
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

void integerBlock(Problem &p, unsigned block, uint32_t *result) {
  const MatrixShape &shape = p.shape;
  const MatrixOperands &o = p.operands;
  loadPlane(shape.a, shape, o, false, block, p.a);
  loadPlane(shape.b, shape, o, true, block, p.b);
  if (shape.sparse)
    loadIndices(p, block);
  const unsigned stored = shape.sparse ? shape.k / 2 : shape.k;
  const unsigned n = shape.n;
  forEachResultRow(shape, block, [&](unsigned i, unsigned item, unsigned lane) {
    int32_t sum[maxColumns] = {};
    for (unsigned k = 0; k < stored; ++k) {
      const int32_t a = p.a.exponent[k * n + i];
      const int32_t *b =
          p.b.exponent + (shape.sparse ? p.position[i][k] : k) * n;
      for (unsigned j = 0; j < n; ++j)
        sum[j] += a * b[j];
    }
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
