//===- MatrixArithmeticTests.cpp - matrix instructions by definition ------===//
// SPDX-License-Identifier: MIT
//
// Register images are filled by layout formulas written here from the ISA's
// tables; results are compared with a plain matrix product in 64-bit integers,
// and with a second implementation of the arithmetic model in exact integers.
//
//===----------------------------------------------------------------------===//
#include "MatrixFormats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#if defined(__x86_64__)
namespace netra::sim::avx2 {
void executeMatrix(const MatrixShape &shape, const MatrixOperands &operands);
}
#endif

using namespace netra::sim;
using namespace netra::sim::test;

namespace {

/// Runs the instruction, and compares all variants that this host can run.
void execute(const MatrixShape &shape, const MatrixOperands &operands) {
#if defined(__x86_64__)
  const size_t words = matrixResultRegisters(shape) * 64;
  std::vector<uint32_t> other(words);
  const bool canRun =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (canRun) {
    MatrixOperands apart = operands;
    apart.d = other.data();
    avx2::executeMatrix(shape, apart);
  }
#endif
  baseline::executeMatrix(shape, operands);
#if defined(__x86_64__)
  if (canRun) {
    EXPECT_TRUE(std::equal(other.begin(), other.end(), operands.d));
  }
#endif
}

//===----------------------------------------------------------------------===//
// Register images, from the ISA's layout tables
//===----------------------------------------------------------------------===//

struct Image {
  std::vector<uint32_t> words = std::vector<uint32_t>(64 * 32);
  void put(unsigned lane, unsigned item, unsigned bits, uint64_t value) {
    for (unsigned i = 0; i < bits; ++i) {
      unsigned at = item * bits + i;
      uint32_t &word = words[at / 32 * 64 + lane];
      word = (word & ~(1u << at % 32)) | uint32_t(value >> i & 1) << at % 32;
    }
  }
  uint64_t get(unsigned lane, unsigned item, unsigned bits) const {
    uint64_t value = 0;
    for (unsigned i = 0; i < bits; ++i) {
      unsigned at = item * bits + i;
      value |= uint64_t(words[at / 32 * 64 + lane] >> at % 32 & 1) << i;
    }
    return value;
  }
};

/// Whether the operand's K comes in two runs: 8-bit f8f6f4, and the dense side
/// of the large sparse shapes.
bool twoRuns(const MatrixShape &s, bool operandB) {
  if (s.chosenFormats)
    return bitWidth(operandB ? s.b : s.a) == 8;
  if (!s.sparse || !operandB)
    return false;
  unsigned size = bitWidth(s.b);
  return s.k * s.n / 64 * size == 256;
}
void place(const MatrixShape &s, bool operandB, unsigned block, unsigned index,
           unsigned k, unsigned &lane, unsigned &item) {
  unsigned size = operandB ? s.n : s.m;
  unsigned total = s.sparse && !operandB ? s.k / 2 : s.k;
  unsigned perLane = total / (64 / (size * s.blocks));
  if (twoRuns(s, operandB)) {
    unsigned run = perLane / 2, half = k >= total / 2;
    unsigned rest = k - half * (total / 2);
    lane = index + size * (rest / run);
    item = half * run + rest % run;
    return;
  }
  lane = index + size * (block + s.blocks * (k / perLane));
  item = k % perLane;
}
void placeResult(const MatrixShape &s, unsigned block, unsigned i, unsigned j,
                 unsigned &lane, unsigned &item) {
  if (s.m == 4) { // one block after the other along the lanes
    lane = s.doubleResult() ? j + 4 * (i + 4 * block) : j + 4 * block;
    item = s.doubleResult() ? 0 : i;
  } else if (s.doubleResult()) {
    lane = j + 16 * (i % 4);
    item = i / 4;
  } else if (s.m == 16) {
    lane = j + 16 * (i / 4);
    item = i % 4 + 4 * block;
  } else {
    lane = j + 32 * (i / 4 % 2);
    item = i % 4 + 4 * (i / 8) + 16 * block;
  }
}

const char *const all[] = {
    "v_mfma_f32_32x32x1_2b_f32",
    "v_mfma_f32_16x16x1_4b_f32",
    "v_mfma_f32_4x4x1_16b_f32",
    "v_mfma_f32_32x32x2_f32",
    "v_mfma_f32_16x16x4_f32",
    "v_mfma_f32_32x32x4_2b_f16",
    "v_mfma_f32_16x16x4_4b_f16",
    "v_mfma_f32_4x4x4_16b_f16",
    "v_mfma_f32_32x32x8_f16",
    "v_mfma_f32_16x16x16_f16",
    "v_mfma_f32_16x16x32_f16",
    "v_mfma_f32_32x32x16_f16",
    "v_mfma_f32_32x32x4_2b_bf16",
    "v_mfma_f32_16x16x4_4b_bf16",
    "v_mfma_f32_4x4x4_16b_bf16",
    "v_mfma_f32_32x32x8_bf16",
    "v_mfma_f32_16x16x16_bf16",
    "v_mfma_f32_16x16x32_bf16",
    "v_mfma_f32_32x32x16_bf16",
    "v_mfma_i32_32x32x4_2b_i8",
    "v_mfma_i32_16x16x4_4b_i8",
    "v_mfma_i32_4x4x4_16b_i8",
    "v_mfma_i32_32x32x16_i8",
    "v_mfma_i32_16x16x32_i8",
    "v_mfma_i32_16x16x64_i8",
    "v_mfma_i32_32x32x32_i8",
    "v_mfma_f64_16x16x4_f64",
    "v_mfma_f64_4x4x4_4b_f64",
    "v_mfma_f32_16x16x32_fp8_fp8",
    "v_mfma_f32_16x16x32_fp8_bf8",
    "v_mfma_f32_16x16x32_bf8_fp8",
    "v_mfma_f32_16x16x32_bf8_bf8",
    "v_mfma_f32_32x32x16_fp8_fp8",
    "v_mfma_f32_32x32x16_fp8_bf8",
    "v_mfma_f32_32x32x16_bf8_fp8",
    "v_mfma_f32_32x32x16_bf8_bf8",
    "v_mfma_f32_16x16x128_f8f6f4",
    "v_mfma_f32_32x32x64_f8f6f4",
    "v_mfma_scale_f32_16x16x128_f8f6f4",
    "v_mfma_scale_f32_32x32x64_f8f6f4",
    "v_smfmac_f32_16x16x32_f16",
    "v_smfmac_f32_32x32x16_f16",
    "v_smfmac_f32_16x16x64_f16",
    "v_smfmac_f32_32x32x32_f16",
    "v_smfmac_f32_16x16x32_bf16",
    "v_smfmac_f32_32x32x16_bf16",
    "v_smfmac_f32_16x16x64_bf16",
    "v_smfmac_f32_32x32x32_bf16",
    "v_smfmac_i32_16x16x64_i8",
    "v_smfmac_i32_32x32x32_i8",
    "v_smfmac_i32_16x16x128_i8",
    "v_smfmac_i32_32x32x64_i8",
    "v_smfmac_f32_16x16x64_fp8_fp8",
    "v_smfmac_f32_16x16x64_fp8_bf8",
    "v_smfmac_f32_16x16x64_bf8_fp8",
    "v_smfmac_f32_16x16x64_bf8_bf8",
    "v_smfmac_f32_32x32x32_fp8_fp8",
    "v_smfmac_f32_32x32x32_fp8_bf8",
    "v_smfmac_f32_32x32x32_bf8_fp8",
    "v_smfmac_f32_32x32x32_bf8_bf8",
    "v_smfmac_f32_16x16x128_fp8_fp8",
    "v_smfmac_f32_16x16x128_fp8_bf8",
    "v_smfmac_f32_16x16x128_bf8_fp8",
    "v_smfmac_f32_16x16x128_bf8_bf8",
    "v_smfmac_f32_32x32x64_fp8_fp8",
    "v_smfmac_f32_32x32x64_fp8_bf8",
    "v_smfmac_f32_32x32x64_bf8_fp8",
    "v_smfmac_f32_32x32x64_bf8_bf8",
};

using Execute = void (*)(const MatrixShape &, const MatrixOperands &);

/// One instruction with its operands as matrices of codes.
struct Case {
  MatrixShape shape;
  std::vector<uint64_t> a, b; ///< [block][index][k], A of sparse: stored half
  std::vector<uint64_t> c;    ///< [block][i][j], bits
  std::vector<unsigned> position;  ///< sparse: [row][stored k] -> k
  std::vector<int> scaleA, scaleB; ///< E8M0 codes, [index][block of 32]
  MatrixOperands operands;
  Image ia, ib, ic, id, index, sa, sb;

  explicit Case(const MatrixShape &s) : shape(s) {
    unsigned stored = s.sparse ? s.k / 2 : s.k;
    a.resize(s.blocks * s.m * stored);
    b.resize(s.blocks * s.n * s.k);
    c.resize(s.blocks * s.m * s.n);
  }
  unsigned stored() const { return shape.sparse ? shape.k / 2 : shape.k; }
  uint64_t &at(std::vector<uint64_t> &v, unsigned block, unsigned i,
               unsigned k) {
    unsigned length = &v == &a ? stored() : &v == &b ? shape.k : shape.n;
    return v[(block * shape.m + i) * length + k];
  }

  void fill(const std::function<uint64_t(MatrixElement, int)> &element,
            const std::function<uint64_t()> &accumulator,
            std::mt19937 &random) {
    for (uint64_t &v : a)
      v = element(shape.a, 0);
    for (uint64_t &v : b)
      v = element(shape.b, 1);
    for (uint64_t &v : c)
      v = accumulator();
    if (shape.sparse) {
      position.resize(shape.m * stored());
      for (unsigned i = 0; i < shape.m; ++i)
        for (unsigned q = 0; q < stored() / 2; ++q) {
          unsigned x = random() % 3, y = x + 1 + random() % (3 - x);
          position[i * stored() + 2 * q] = 4 * q + x;
          position[i * stored() + 2 * q + 1] = 4 * q + y;
        }
    }
    if (shape.scaled)
      for (auto *scale : {&scaleA, &scaleB}) {
        scale->resize(shape.m * shape.k / 32);
        for (int &s : *scale)
          s = 127 + int(random() % 7) - 3;
      }
  }

  void pack(unsigned set = 0) {
    const MatrixShape &s = shape;
    unsigned lane, item;
    for (unsigned block = 0; block < s.blocks; ++block) {
      for (unsigned i = 0; i < s.m; ++i)
        for (unsigned k = 0; k < stored(); ++k) {
          place(s, false, block, i, k, lane, item);
          ia.put(lane, item, bitWidth(s.a), at(a, block, i, k));
          if (s.sparse) {
            unsigned perLane = stored() * s.m / 64;
            index.put(lane, set * perLane + item, 2,
                      position[i * stored() + k] % 4);
          }
        }
      for (unsigned j = 0; j < s.n; ++j)
        for (unsigned k = 0; k < s.k; ++k) {
          place(s, true, block, j, k, lane, item);
          ib.put(lane, item, bitWidth(s.b), at(b, block, j, k));
        }
      for (unsigned i = 0; i < s.m; ++i)
        for (unsigned j = 0; j < s.n; ++j) {
          placeResult(s, block, i, j, lane, item);
          ic.put(lane, item, s.doubleResult() ? 64 : 32, at(c, block, i, j));
        }
    }
    if (s.scaled)
      for (unsigned i = 0; i < s.m; ++i)
        for (unsigned part = 0; part < s.k / 32; ++part) {
          // Byte 2 of A's register and byte 1 of B's.
          sa.put(i + s.m * part, 2, 8, uint64_t(scaleA[i * s.k / 32 + part]));
          sb.put(i + s.m * part, 1, 8, uint64_t(scaleB[i * s.k / 32 + part]));
        }
    operands.a = ia.words.data();
    operands.b = ib.words.data();
    operands.c = ic.words.data();
    operands.index = index.words.data();
    if (s.scaled) {
      operands.scaleA = sa.words.data();
      operands.scaleB = sb.words.data();
      operands.scaleByteA = 2;
      operands.scaleByteB = 1;
    }
  }
  void run(MatrixModel model) {
    operands.model = model;
    operands.d = id.words.data();
    execute(shape, operands);
  }
  uint64_t result(unsigned block, unsigned i, unsigned j) const {
    unsigned lane, item;
    placeResult(shape, block, i, j, lane, item);
    return id.get(lane, item, shape.doubleResult() ? 64 : 32);
  }
  /// The k that stored element \p k of row \p i multiplies.
  unsigned partner(unsigned i, unsigned k) const {
    return shape.sparse ? position[i * stored() + k] : k;
  }
};

/// Every shape, f8f6f4 in every pair of formats.
void forEachShape(const std::function<void(const std::string &,
                                           const MatrixShape &)> &visit) {
  for (const char *name : all) {
    std::optional<MatrixShape> shape = matrixShapeOf(name);
    ASSERT_TRUE(shape) << name;
    if (!shape->chosenFormats) {
      visit(name, *shape);
      continue;
    }
    for (unsigned a = 0; a < 5; ++a)
      for (unsigned b = 0; b < 5; ++b) {
        MatrixShape chosen = *shape;
        chosen.a = *matrixFormatOf(a);
        chosen.b = *matrixFormatOf(b);
        visit(std::string(name) + " cbsz:" + std::to_string(a) +
                  " blgp:" + std::to_string(b),
              chosen);
      }
  }
}

TEST(MatrixArithmetic, SmallIntegersAgreeBitwiseForEveryInstruction) {
  forEachShape([](const std::string &name, const MatrixShape &shape) {
    std::mt19937 random(std::hash<std::string>()(name) & 0xffff);
    Case t(shape);
    // Values of A and B differ, so that swapped or transposed operands show.
    std::vector<std::vector<int>> values(2);
    t.fill(
        [&](MatrixElement e, int side) {
          int v = side ? int(random() % 5) - 1 : int(random() % 4) - 2;
          return codeOf(e, v);
        },
        [&]() -> uint64_t {
          int v = int(random() % 2001) - 1000;
          if (shape.doubleResult())
            return std::bit_cast<uint64_t>(double(v));
          if (shape.integerResult())
            return uint32_t(v);
          return std::bit_cast<uint32_t>(float(v));
        },
        random);
    t.pack();
    for (MatrixModel model : {MatrixModel::Cdna3, MatrixModel::Sequential}) {
      t.run(model);
      for (unsigned block = 0; block < shape.blocks; ++block)
        for (unsigned i = 0; i < shape.m; ++i)
          for (unsigned j = 0; j < shape.n; ++j) {
            auto plain = [&](MatrixElement e, uint64_t code) -> int64_t {
              if (e == MatrixElement::F64)
                return int64_t(std::bit_cast<double>(code));
              return int64_t(numberOf(e, code).value());
            };
            double expected =
                shape.doubleResult()
                    ? std::bit_cast<double>(t.at(t.c, block, i, j))
                : shape.integerResult()
                    ? double(int32_t(t.at(t.c, block, i, j)))
                    : double(std::bit_cast<float>(
                          uint32_t(t.at(t.c, block, i, j))));
            for (unsigned k = 0; k < t.stored(); ++k) {
              unsigned kb = t.partner(i, k);
              double product = double(plain(shape.a, t.at(t.a, block, i, k)) *
                                      plain(shape.b, t.at(t.b, block, j, kb)));
              if (shape.scaled)
                product = std::ldexp(
                    product, t.scaleA[i * shape.k / 32 + kb / 32] +
                                 t.scaleB[j * shape.k / 32 + kb / 32] - 254);
              expected += product;
            }
            uint64_t bits = shape.doubleResult()
                                ? std::bit_cast<uint64_t>(expected)
                            : shape.integerResult()
                                ? uint32_t(int32_t(expected))
                                : std::bit_cast<uint32_t>(float(expected));
            ASSERT_EQ(t.result(block, i, j), bits)
                << name << " model " << int(model) << " block " << block
                << " row " << i << " column " << j;
          }
    }
  });
}

//===----------------------------------------------------------------------===//
// The CDNA3 model in exact integers
//===----------------------------------------------------------------------===//

using Int = __int128;

Int floorShift(Int value, int right) {
  if (right <= 0)
    return value << -right;
  if (right > 120)
    return value < 0 ? -1 : 0;
  return value >> right;
}
Int truncShift(Int value, int right) {
  return value < 0 ? -floorShift(-value, right) : floorShift(value, right);
}
/// value * 2^exponent to f32, nearest even.
float roundToSingle(Int value, int exponent) {
  bool negative = value < 0;
  Int magnitude = negative ? -value : value;
  if (magnitude == 0)
    return 0.0f;
  int length = 0;
  while (magnitude >> length)
    ++length;
  int last = std::max(exponent + length - 24, -149);
  int drop = last - exponent;
  Int kept;
  if (drop <= 0) {
    kept = magnitude << -drop;
  } else {
    kept = floorShift(magnitude, drop);
    Int rest = magnitude - (drop > 120 ? Int(0) : kept << drop);
    Int half = drop > 120 ? Int(1) << 120 : Int(1) << (drop - 1);
    if (rest > half || (rest == half && (kept & 1)))
      ++kept;
  }
  double result = std::ldexp(double(kept), last);
  return float(negative ? -result : result);
}

float cdna3ByDefinition(Case &t, unsigned i, unsigned j) {
  const MatrixShape &s = t.shape;
  bool wide = bitWidth(s.a) == 16;
  unsigned length = wide ? 8 : 16, parts = wide ? 1 : 2;
  float c = std::bit_cast<float>(uint32_t(t.at(t.c, 0, i, j)));
  constexpr int none = -100000;
  for (unsigned first = 0; first < t.stored(); first += length) {
    Int sum[2] = {0, 0};
    int top[2] = {none, none};
    for (int pass = 0; pass < 2; ++pass)
      for (unsigned q = 0; q < length && first + q < t.stored(); ++q) {
        unsigned k = first + q, part = q % parts;
        Number x = numberOf(s.a, t.at(t.a, 0, i, k));
        Number y = numberOf(s.b, t.at(t.b, 0, j, t.partner(i, k)));
        if (!x.significand || !y.significand)
          continue;
        int e = x.exponent + y.exponent;
        if (pass == 0)
          top[part] = std::max(top[part], e);
        else // units of 2^(top - 24)
          sum[part] += truncShift(Int(x.significand) * y.significand,
                                  int(x.mantissaBits + y.mantissaBits) - 24 +
                                      top[part] - e);
      }
    int e = std::max(top[0], top[1]);
    Int total = 0;
    for (unsigned part = 0; part < parts; ++part)
      if (top[part] != none)
        total += floorShift(sum[part], e - top[part]);
    if (e != none && s.scaled) {
      unsigned kb = t.partner(i, first);
      e += t.scaleA[i * s.k / 32 + kb / 32] + t.scaleB[j * s.k / 32 + kb / 32] -
           254;
    }
    uint32_t bits = std::bit_cast<uint32_t>(c);
    int ec = std::max(int(bits >> 23 & 0xff), 1) - 127;
    Int sc = (bits & 0x7fffff) | (bits & 0x7f800000 ? 0x800000 : 0);
    if (bits >> 31)
      sc = -sc;
    int joint = std::max(e, ec);
    // Units of 2^(joint - 31).
    Int high = e == none ? Int(0) : floorShift(total, joint - e - 7);
    Int low = floorShift(sc, joint - ec - 1) << 7;
    if (!wide && joint - ec > 25)
      low = 0;
    c = roundToSingle(high + low, joint - 31);
  }
  return c;
}

TEST(MatrixArithmetic, Cdna3ModelMatchesExactIntegerModel) {
  unsigned compared = 0, inexact = 0;
  forEachShape([&](const std::string &name, const MatrixShape &shape) {
    if (bitWidth(shape.a) > 16 || shape.integerResult() || shape.blocks > 1)
      return;
    for (unsigned spread : {2u, 9u, 13u, 30u}) {
      std::mt19937 random(spread + unsigned(std::hash<std::string>()(name)));
      Case t(shape);
      t.fill(
          [&](MatrixElement e, int) -> uint64_t {
            FormatLayout f = layoutOf(e);
            unsigned mantissa = random() % (1u << f.mantissaBits);
            int top = f.bias + 3, exponent = top - int(random() % spread);
            exponent = std::clamp(exponent, 0, (1 << f.exponentBits) - 2);
            unsigned sign = random() & 1;
            return sign << (f.exponentBits + f.mantissaBits) |
                   unsigned(exponent) << f.mantissaBits | mantissa;
          },
          [&]() -> uint64_t {
            float v = std::ldexp(float(int32_t(random())) * 0x1p-31f,
                                 int(random() % 40) - 20);
            return std::bit_cast<uint32_t>(v);
          },
          random);
      t.pack();
      t.run(MatrixModel::Cdna3);
      for (unsigned i = 0; i < shape.m; ++i)
        for (unsigned j = 0; j < shape.n; ++j) {
          float expected = cdna3ByDefinition(t, i, j);
          ASSERT_EQ(t.result(0, i, j), std::bit_cast<uint32_t>(expected))
              << name << " spread " << spread << " row " << i << " column "
              << j;
          double exact = std::bit_cast<float>(uint32_t(t.at(t.c, 0, i, j)));
          double size = std::fabs(exact);
          for (unsigned k = 0; k < t.stored(); ++k) {
            unsigned kb = t.partner(i, k);
            Number x = numberOf(shape.a, t.at(t.a, 0, i, k));
            Number y = numberOf(shape.b, t.at(t.b, 0, j, kb));
            double p = x.value() * y.value();
            // The grid follows exponents, which denormals overstate.
            double weight =
                p == 0 ? 0
                       : std::max(std::fabs(p),
                                  std::ldexp(1.0, x.exponent + y.exponent));
            if (shape.scaled) {
              int by = t.scaleA[i * shape.k / 32 + kb / 32] +
                       t.scaleB[j * shape.k / 32 + kb / 32] - 254;
              p = std::ldexp(p, by);
              weight = std::ldexp(weight, by);
            }
            exact += p;
            size += weight;
          }
          ++compared;
          inexact += double(expected) != exact;
          // Each group drops less than 10 units of 2^-24 of its largest term
          // and rounds the sum once.
          double bound = size * 0x1p-23 * (2 + t.stored() / 4.0) + 0x1p-140;
          ASSERT_LE(std::fabs(double(expected) - exact), bound) << name;
        }
    }
  });
  EXPECT_GT(compared, 50000u);
  EXPECT_GT(inexact, compared / 10) << "the data never needs rounding";
}

TEST(MatrixArithmetic, SequentialModelIsAChainOfFusedMultiplyAdds) {
  forEachShape([&](const std::string &name, const MatrixShape &shape) {
    if (bitWidth(shape.a) > 32 || shape.integerResult() || shape.blocks > 1 ||
        shape.scaled)
      return;
    std::mt19937 random(5);
    Case t(shape);
    t.fill(
        [&](MatrixElement e, int) -> uint64_t {
          if (e == MatrixElement::F32)
            return std::bit_cast<uint32_t>(float(int32_t(random())) * 0x1p-31f);
          FormatLayout f = layoutOf(e);
          unsigned all = (1u << f.exponentBits) - 2;
          unsigned exponent =
              std::min(all, unsigned(f.bias - int(random() % 3)));
          return (random() & 1) << (f.exponentBits + f.mantissaBits) |
                 exponent << f.mantissaBits | random() % (1u << f.mantissaBits);
        },
        [&]() -> uint64_t {
          return std::bit_cast<uint32_t>(float(int32_t(random())) * 0x1p-31f);
        },
        random);
    t.pack();
    t.run(MatrixModel::Sequential);
    for (unsigned i = 0; i < shape.m; ++i)
      for (unsigned j = 0; j < shape.n; ++j) {
        float sum = std::bit_cast<float>(uint32_t(t.at(t.c, 0, i, j)));
        for (unsigned k = 0; k < t.stored(); ++k)
          sum = std::fma(
              float(numberOf(shape.a, t.at(t.a, 0, i, k)).value()),
              float(
                  numberOf(shape.b, t.at(t.b, 0, j, t.partner(i, k))).value()),
              sum);
        ASSERT_EQ(t.result(0, i, j), std::bit_cast<uint32_t>(sum)) << name;
      }
  });
}

Case ones(const char *name, uint64_t a, uint64_t b, float c) {
  Case t(*matrixShapeOf(name));
  std::mt19937 random(1);
  t.fill([&](MatrixElement, int side) { return side ? b : a; },
         [&]() -> uint64_t { return std::bit_cast<uint32_t>(c); }, random);
  return t;
}

TEST(MatrixArithmetic, InfinitiesAndNansReachOnlyTheirRowsAndColumns) {
  for (MatrixModel model : {MatrixModel::Cdna3, MatrixModel::Sequential}) {
    Case t = ones("v_mfma_f32_16x16x32_bf16", 0x3f80, 0x3f80, 1.0f);
    t.at(t.a, 0, 3, 7) = 0x7f80; // +inf in row 3
    t.at(t.b, 0, 5, 9) = 0xff80; // -inf in column 5
    t.at(t.a, 0, 8, 0) = 0x7fc1; // NaN in row 8
    t.at(t.c, 0, 10, 11) = 0xff800000;
    t.pack();
    t.run(model);
    for (unsigned i = 0; i < 16; ++i)
      for (unsigned j = 0; j < 16; ++j) {
        float got = std::bit_cast<float>(uint32_t(t.result(0, i, j)));
        if (i == 8 || (i == 3 && j == 5)) {
          EXPECT_EQ(t.result(0, i, j), 0x7fc00000u) << i << " " << j;
        } else if (i == 3) {
          EXPECT_EQ(got, INFINITY);
        } else if (j == 5 || (i == 10 && j == 11)) {
          EXPECT_EQ(got, -INFINITY);
        } else {
          EXPECT_EQ(got, 33.0f);
        }
      }
  }
}

TEST(MatrixArithmetic, TinyAndHugeExponentsTakeTheSlowPathExactly) {
  // 2^-100 * 2^-100 is lost against nothing: the sum is far below f32.
  for (auto [a, b] : {std::pair<uint64_t, uint64_t>{0x0d80, 0x0d80},
                      {0x0001, 0x3f80},    // bf16 denormals count
                      {0x7f00, 0x3f80},    // 2^127
                      {0x7f00, 0x4000}}) { // overflows
    Case t = ones("v_mfma_f32_32x32x16_bf16", a, b, 0.0f);
    t.pack();
    t.run(MatrixModel::Cdna3);
    double product = numberOf(MatrixElement::Bf16, a).value() *
                     numberOf(MatrixElement::Bf16, b).value();
    float expected = float(product * 16);
    EXPECT_EQ(std::bit_cast<float>(uint32_t(t.result(0, 0, 0))), expected);
    t.operands.saturate = true;
    t.run(MatrixModel::Cdna3);
    if (std::isinf(expected)) {
      EXPECT_EQ(t.result(0, 0, 0), 0x7f7fffffu);
    }
  }
}

TEST(MatrixArithmetic, IntegersWrapUnlessClamped) {
  Case t(*matrixShapeOf("v_mfma_i32_16x16x32_i8"));
  std::mt19937 random(1);
  t.fill([&](MatrixElement, int) -> uint64_t { return 0x7f; },
         [&]() -> uint64_t { return 0x7fffffff; }, random);
  t.pack();
  t.run(MatrixModel::Cdna3);
  EXPECT_EQ(t.result(0, 2, 3), uint32_t(0x7fffffff + 127u * 127 * 32));
  t.operands.saturate = true;
  t.run(MatrixModel::Cdna3);
  EXPECT_EQ(t.result(0, 2, 3), 0x7fffffffu);
}

TEST(MatrixArithmetic, BroadcastControlsPickTheSourceLanes) {
  std::mt19937 random(3);
  Case t(*matrixShapeOf("v_mfma_f32_32x32x1_2b_f32"));
  t.fill([&](MatrixElement e, int) { return codeOf(e, int(random() % 16)); },
         [&]() -> uint64_t { return 0; }, random);
  t.pack();
  t.operands.cbsz = 1;
  t.operands.abid = 1;
  t.operands.blgp = 3;
  t.run(MatrixModel::Cdna3);
  for (unsigned block = 0; block < 2; ++block)
    for (unsigned i = 0; i < 32; ++i)
      for (unsigned j = 0; j < 32; ++j) {
        // A always from lanes 32..63; B rotated by 16 lanes.
        unsigned lane = (j + 32 * block + 16) % 64;
        float a = std::bit_cast<float>(t.ia.words[32 + i]);
        float b = std::bit_cast<float>(t.ib.words[lane]);
        ASSERT_EQ(std::bit_cast<float>(uint32_t(t.result(block, i, j))), a * b);
      }
}

TEST(MatrixArithmetic, DoubleNegationsComeFromBlgp) {
  std::mt19937 random(9);
  for (unsigned blgp = 0; blgp < 8; ++blgp) {
    Case t(*matrixShapeOf("v_mfma_f64_16x16x4_f64"));
    t.fill(
        [&](MatrixElement e, int) { return codeOf(e, int(random() % 9) - 4); },
        [&] { return std::bit_cast<uint64_t>(double(random() % 100)); },
        random);
    t.pack();
    t.operands.blgp = blgp;
    t.run(MatrixModel::Cdna3);
    double sum =
        std::bit_cast<double>(t.at(t.c, 0, 6, 13)) * (blgp & 4 ? -1 : 1);
    for (unsigned k = 0; k < 4; ++k)
      sum += std::bit_cast<double>(t.at(t.a, 0, 6, k)) *
             std::bit_cast<double>(t.at(t.b, 0, 13, k)) * (blgp & 1 ? -1 : 1) *
             (blgp & 2 ? -1 : 1);
    EXPECT_EQ(std::bit_cast<double>(t.result(0, 6, 13)), sum) << blgp;
  }
}

TEST(MatrixArithmetic, ANanScaleMakesItsRowNan) {
  std::mt19937 random(2);
  Case t(*matrixShapeOf("v_mfma_scale_f32_16x16x128_f8f6f4"));
  t.fill([&](MatrixElement e, int) { return codeOf(e, 1); },
         [&]() -> uint64_t { return 0; }, random);
  t.scaleA[4 * 4 + 2] = 0xff;
  t.pack();
  for (MatrixModel model : {MatrixModel::Cdna3, MatrixModel::Sequential}) {
    t.run(model);
    for (unsigned j = 0; j < 16; ++j) {
      EXPECT_EQ(t.result(0, 4, j), 0x7fc00000u);
      EXPECT_TRUE(
          std::isfinite(std::bit_cast<float>(uint32_t(t.result(0, 5, j)))));
    }
  }
}

TEST(MatrixArithmetic, SparseIndexSetsAreSelectedByAbid) {
  for (auto [name, sets] :
       {std::pair<const char *, unsigned>{"v_smfmac_f32_16x16x32_f16", 4},
        {"v_smfmac_f32_16x16x64_f16", 2},
        {"v_smfmac_i32_16x16x64_i8", 2}})
    for (unsigned set = 0; set < sets; ++set) {
      std::mt19937 random(set);
      Case t(*matrixShapeOf(name));
      t.fill([&](MatrixElement e, int) { return codeOf(e, int(random() % 4)); },
             [&]() -> uint64_t { return 0; }, random);
      t.pack(set);
      t.operands.abid = set;
      t.run(MatrixModel::Cdna3);
      int64_t sum = 0;
      for (unsigned k = 0; k < t.stored(); ++k)
        sum += int64_t(
            numberOf(t.shape.a, t.at(t.a, 0, 1, k)).value() *
            numberOf(t.shape.b, t.at(t.b, 0, 2, t.partner(1, k))).value());
      uint64_t expected = t.shape.integerResult()
                              ? uint32_t(sum)
                              : std::bit_cast<uint32_t>(float(sum));
      EXPECT_EQ(t.result(0, 1, 2), expected) << name << " set " << set;
    }
}

TEST(MatrixArithmetic, ResultsMayOverlapTheirInputs) {
  Case t = ones("v_mfma_f32_16x16x32_bf16", 0x3f80, 0x4000, 3.0f);
  t.pack();
  t.run(MatrixModel::Cdna3);
  Image expected = t.id;
  Image shared = t.ia;
  t.operands.a = shared.words.data();
  t.operands.d = shared.words.data();
  execute(t.shape, t.operands);
  EXPECT_TRUE(std::equal(shared.words.begin(), shared.words.begin() + 256,
                         expected.words.begin()));
}

TEST(MatrixArithmetic, OtherMnemonicsAreNone) {
  for (const char *name :
       {"", "v_mfma_", "v_mfma_f32_16x16x8_xf32", "v_mfma_f32_16x16x32_bf16x",
        "v_mfma_f32_16x32x8_f16", "v_mfma_i32_16x16x32_f16", "v_add_f32",
        "v_mfma_f32_32x32x16_fp8", "v_smfmac_f32_16x16x16_f16"})
    EXPECT_FALSE(matrixShapeOf(name)) << name;
}

} // namespace
