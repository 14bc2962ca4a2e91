//===- ProgramsMatrix.cpp - Products with matrix instructions ------------===//
// SPDX-License-Identifier: MIT
//
// Small integers in every format: all sums are exact in any order, so that the
// bits are the host's whatever the arithmetic model.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

namespace netra::sim::test {

namespace {

/// Codes of small integers in a format, from tables that the formats define.
struct Format {
  std::vector<double> values;
  std::vector<uint32_t> codes;
  unsigned bits;
};

Format integersByFloat(unsigned bits, unsigned mantissa, int bias) {
  // Normal numbers: sign, exponent + bias, mantissa without its leading one.
  Format format{{}, {}, bits};
  for (int v = -4; v <= 4; ++v) {
    uint32_t code = 0;
    if (v) {
      const unsigned size = unsigned(v < 0 ? -v : v);
      unsigned exponent = 31 - unsigned(__builtin_clz(size));
      const unsigned rest = size - (1u << exponent);
      code = (exponent + unsigned(bias)) << mantissa |
             (mantissa >= exponent ? rest << (mantissa - exponent) : 0);
      if (v < 0)
        code |= 1u << (bits - 1);
      if (mantissa < exponent && rest)
        continue;
    }
    format.values.push_back(v);
    format.codes.push_back(code);
  }
  return format;
}

Format bf16() { return integersByFloat(16, 7, 127); }
Format f16() { return integersByFloat(16, 10, 15); }
Format f32() { return integersByFloat(32, 23, 127); }
Format fp8() { return integersByFloat(8, 3, 7); }
Format bf8() { return integersByFloat(8, 2, 15); }
Format fp4() { return integersByFloat(4, 1, 1); }
Format fp6() { return integersByFloat(6, 3, 1); }
Format i8() {
  Format format{{}, {}, 8};
  for (int v = -128; v < 128; v += 5) {
    format.values.push_back(v);
    format.codes.push_back(uint32_t(v) & 0xff);
  }
  return format;
}

/// A rows x depth matrix: values and packed codes, row by row.
struct Coded {
  std::vector<double> values;
  std::vector<uint32_t> words;
};
Coded coded(Noise &noise, const Format &format, size_t count) {
  Coded result;
  result.words.assign((count * format.bits + 31) / 32, 0);
  for (size_t i = 0; i < count; ++i) {
    const size_t k = noise.bits() % format.codes.size(), at = i * format.bits;
    result.values.push_back(format.values[k]);
    const uint64_t code = uint64_t(format.codes[k]) << at % 32;
    result.words[at / 32] |= uint32_t(code);
    if (code >> 32)
      result.words[at / 32 + 1] |= uint32_t(code >> 32);
  }
  return result;
}

/// C = A * transpose(B), both with rows of `depth`.
template <typename T>
std::vector<T> product(const std::vector<double> &a,
                       const std::vector<double> &b, int depth) {
  const int rows = int(a.size()) / depth, columns = int(b.size()) / depth;
  std::vector<T> c;
  for (int m = 0; m < rows; ++m)
    for (int n = 0; n < columns; ++n) {
      double sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += a[m * depth + k] * b[n * depth + k];
      c.push_back(T(sum));
    }
  return c;
}

template <typename T>
ProgramCase gemmCase(const Format &left, const Format &right, int rows,
                     int columns, int depth, uint32_t groups, uint32_t items,
                     uint32_t seed) {
  Noise noise(seed);
  Coded a = coded(noise, left, rows * depth),
        b = coded(noise, right, columns * depth);
  return ProgramCase(groups, items)
      .in(a.words)
      .in(b.words)
      .out(product<T>(a.values, b.values, depth));
}

/// A kernel of one wave per 16x16 or 32x32 tile of a 2x2 grid of tiles:
/// `vector` words of each operand per lane, `step` elements of K.
std::string tileKernel(const std::string &name, int size, int words, int depth,
                       int step, const std::string &operand,
                       const std::string &accumulator,
                       const std::string &element, const std::string &call) {
  const std::string n = std::to_string(size);
  std::string text =
      "kernel void " + name + "(global const uint *a, global const uint *b, " +
      "global " + element + " *c) {\n  int r = LID % " + n + ", g = LID / " +
      n + ", m0 = GRP / 2 * " + n + ", n0 = GRP % 2 * " + n + ";\n  " +
      accumulator + " acc = 0;\n  for (int k = 0; k < " +
      std::to_string(depth / step) + "; ++k) {\n    union { uint w[" +
      std::to_string(words) + "]; " + operand +
      " v; } x, y;\n    for (int i = 0; i < " + std::to_string(words) +
      "; ++i) {\n";
  const std::string rowWords =
      std::to_string(words * (64 / size) * (depth / step));
  const std::string at = " * " + rowWords + " + (k * " +
                         std::to_string(64 / size) + " + g) * " +
                         std::to_string(words) + " + i];\n";
  text += "      x.w[i] = a[(m0 + r)" + at + "      y.w[i] = b[(n0 + r)" + at +
          "    }\n    acc = " + call + ";\n  }\n";
  if (size == 16)
    text += "  for (int i = 0; i < 4; ++i)\n"
            "    c[(m0 + 4 * g + i) * 32 + n0 + r] = acc[i];\n}\n";
  else
    text += "  for (int i = 0; i < 16; ++i)\n"
            "    c[(m0 + i / 4 * 8 + 4 * g + i % 4) * 64 + n0 + r] = "
            "acc[i];\n}\n";
  return text;
}

/// One matrix instruction as a product of 2x2 tiles.
template <typename T>
Program tiles(const std::string &name, const Format &format, int size,
              int words, int depth, int step, const std::string &operand,
              const std::string &call) {
  const bool isInteger = std::is_same_v<T, int32_t>;
  const std::string accumulator =
      std::string(isInteger ? "i32x" : "f32x") + (size == 16 ? "4" : "16");
  return {name,
          tileKernel(name, size, words, depth, step, operand, accumulator,
                     isInteger ? "int" : "float",
                     "__builtin_amdgcn_mfma_" + call),
          [=] {
            return gemmCase<T>(format, format, 2 * size, 2 * size, depth, 4, 64,
                               uint32_t(name.size() * 31 + depth));
          }};
}

} // namespace

static Program doubles() {
  return {"gemm_f64", R"(
kernel void gemm_f64(global const double *a, global const double *b,
                     global double *c) {
  int r = LID % 16, g = LID / 16;
  f64x4 acc = {0, 0, 0, 0};
  for (int k = 0; k < 32; k += 4)
    acc = __builtin_amdgcn_mfma_f64_16x16x4f64(
        a[r * 32 + k + g], b[r * 32 + k + g], acc, 0, 0, 0);
  // Rows of the double form are 4 apart.
  for (int i = 0; i < 4; ++i) c[(4 * i + g) * 16 + r] = acc[i];
}
)",
          [] {
            Noise noise(64);
            auto a = noise.range<double>(16 * 32, -5000, 5000, 0.125),
                 b = noise.range<double>(16 * 32, -5000, 5000, 0.125);
            return ProgramCase(1, 64).in(a).in(b).out(
                product<double>(a, b, 32));
          }};
}

static Program scaledFp8() {
  // Each 32 values of a row share a power of two.
  return {
      "gemm_fp8_scaled", R"(
kernel void gemm_fp8_scaled(global const uint *a, global const uint *b,
                            global const uchar *as, global const uchar *bs,
                            global float *c) {
  int r = LID % 16, g = LID / 16;
  f32x4 acc = {0, 0, 0, 0};
  for (int k = 0; k < 2; ++k) {
    union { uint w[8]; i32x8 v; } x, y;
    for (int i = 0; i < 8; ++i) {
      // A lane holds two runs of 16 values, 64 values apart.
      int at = r * 64 + k * 32 + i / 4 * 16 + g * 4 + i % 4;
      x.w[i] = a[at];
      y.w[i] = b[at];
    }
    acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
        x.v, y.v, acc, 0, 0, 0, as[r * 8 + k * 4 + g], 0,
        bs[r * 8 + k * 4 + g]);
  }
  for (int i = 0; i < 4; ++i) c[(4 * g + i) * 16 + r] = acc[i];
}
)",
      [] {
        Noise noise(128);
        Coded a = coded(noise, fp8(), 16 * 256),
              b = coded(noise, fp8(), 16 * 256);
        auto as = noise.range<uint8_t>(16 * 8, 125, 129),
             bs = noise.range<uint8_t>(16 * 8, 126, 128);
        auto scaled = [](std::vector<double> v, const std::vector<uint8_t> &s) {
          for (size_t i = 0; i < v.size(); ++i)
            v[i] = std::ldexp(v[i], s[i / 32] - 127);
          return v;
        };
        return ProgramCase(1, 64).in(a.words).in(b.words).in(as).in(bs).out(
            product<float>(scaled(a.values, as), scaled(b.values, bs), 256));
      }};
}

static Program mixedFormats() {
  // FP4 times FP6, with one scale that halves everything.
  return {"gemm_fp4_fp6", R"(
kernel void gemm_fp4_fp6(global const uint *a, global const uint *b,
                         global float *c) {
  int r = LID % 32, g = LID / 32;
  f32x16 acc = 0;
  for (int k = 0; k < 2; ++k) {
    union { uint w[8]; i32x8 v; } x = {{0}}, y = {{0}};
    for (int i = 0; i < 4; ++i) x.w[i] = a[r * 16 + k * 8 + g * 4 + i];
    for (int i = 0; i < 6; ++i) y.w[i] = b[r * 24 + k * 12 + g * 6 + i];
    acc = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
        x.v, y.v, acc, 4, 2, 0, 126, 0, 127);
  }
  for (int i = 0; i < 16; ++i)
    c[(i / 4 * 8 + 4 * g + i % 4) * 32 + r] = acc[i];
}
)",
          [] {
            Noise noise(46);
            Coded a = coded(noise, fp4(), 32 * 128),
                  b = coded(noise, fp6(), 32 * 128);
            auto c = product<float>(a.values, b.values, 128);
            for (float &v : c)
              v *= 0.5f;
            return ProgramCase(1, 64).in(a.words).in(b.words).out(c);
          }};
}

static Program stagedGemm() {
  // 64x64x96 in four waves, both operands through two LDS buffers.
  return {"gemm_staged", R"(
kernel void gemm_staged(global const ushort *a, global const ushort *b,
                        global float *c) {
  local ushort s[2][2][64][40];
  int lane = LID % 64, wave = LID / 64, r = lane % 16, g = lane / 16;
  f32x4 acc[4];
  for (int n = 0; n < 4; ++n) acc[n] = (f32x4){0, 0, 0, 0};
  for (int k = 0; k < 3; ++k) {
    for (int i = LID; i < 2048; i += 256) {
      s[k & 1][0][i / 32][i % 32] = a[i / 32 * 96 + k * 32 + i % 32];
      s[k & 1][1][i / 32][i % 32] = b[i / 32 * 96 + k * 32 + i % 32];
    }
    BARRIER;
    f16x8 x = *(local f16x8 *)&s[k & 1][0][wave * 16 + r][8 * g];
    for (int n = 0; n < 4; ++n)
      acc[n] = __builtin_amdgcn_mfma_f32_16x16x32_f16(
          x, *(local f16x8 *)&s[k & 1][1][n * 16 + r][8 * g], acc[n], 0, 0, 0);
  }
  for (int n = 0; n < 4; ++n)
    for (int i = 0; i < 4; ++i)
      c[(wave * 16 + 4 * g + i) * 64 + n * 16 + r] = acc[n][i];
}
)",
          [] { return gemmCase<float>(f16(), f16(), 64, 64, 96, 1, 256, 96); }};
}

static Program sparse() {
  // Two of each four values of A are kept; an index says which.
  return {
      "gemm_sparse", R"(
kernel void gemm_sparse(global const uint *a, global const uint *index,
                        global const uint *b, global float *c) {
  int r = LID % 16, g = LID / 16;
  union { uint w[4]; bf16x8 v; } x;
  union { uint w[8]; bf16x16 v; } y;
  for (int i = 0; i < 4; ++i) x.w[i] = a[r * 16 + g * 4 + i];
  for (int i = 0; i < 8; ++i)
    y.w[i] = b[r * 32 + i / 4 * 16 + g * 4 + i % 4];
  f32x4 acc = {1, 2, 3, 4};
  acc = __builtin_amdgcn_smfmac_f32_16x16x64_bf16(x.v, y.v, acc, index[LID], 0,
                                                  0);
  for (int i = 0; i < 4; ++i) c[(4 * g + i) * 16 + r] = acc[i];
}
)",
      [] {
        Noise noise(24);
        Coded kept = coded(noise, bf16(), 16 * 32),
              b = coded(noise, bf16(), 16 * 64);
        std::vector<uint32_t> index(64, 0);
        std::vector<double> dense(16 * 64, 0);
        // Lane 16 g + r holds 8 kept values: 4 groups of 4 places.
        for (int r = 0; r < 16; ++r)
          for (int g = 0; g < 4; ++g)
            for (int q = 0; q < 4; ++q) {
              const int first = noise.between(0, 2),
                        second = noise.between(first + 1, 3);
              index[16 * g + r] |= uint32_t(first | second << 2) << 4 * q;
              const int from = r * 32 + g * 8 + 2 * q,
                        to = r * 64 + g * 16 + 4 * q;
              dense[to + first] = kept.values[from];
              dense[to + second] = kept.values[from + 1];
            }
        auto c = product<float>(dense, b.values, 64);
        for (int i = 0; i < 256; ++i)
          c[i] += float(i / 16 % 4 + 1);
        return ProgramCase(1, 64).in(kept.words).in(index).in(b.words).out(c);
      }};
}

static Program attention() {
  // Q K^T, a row maximum across lanes, a 0/1 mask of the maxima, times V.
  return {"attention", R"(
kernel void attention(global const uint *q, global const uint *k,
                      global const uint *v, global float *out) {
  local ushort p[16][40];
  int r = LID % 16, g = LID / 16;
  for (int i = LID; i < 640; i += 64) p[i / 40][i % 40] = 0;
  BARRIER;
  union { uint w[4]; bf16x8 v; } x, y;
  for (int i = 0; i < 4; ++i) {
    x.w[i] = q[r * 16 + g * 4 + i];
    y.w[i] = k[r * 16 + g * 4 + i];
  }
  f32x4 s = {0, 0, 0, 0};
  s = __builtin_amdgcn_mfma_f32_16x16x32_bf16(x.v, y.v, s, 0, 0, 0);
  for (int i = 0; i < 4; ++i) {
    float m = s[i];
    for (int d = 1; d < 16; d <<= 1) {
      int other = __builtin_amdgcn_ds_bpermute(
          ((LID ^ d) & 63) * 4, __builtin_astype(m, int));
      float o = __builtin_astype(other, float);
      m = o > m ? o : m;
    }
    p[4 * g + i][r] = s[i] == m ? 0x3f80 : 0;
  }
  BARRIER;
  for (int i = 0; i < 4; ++i) {
    x.w[i] = *(local uint *)&p[r][8 * g + 2 * i];
    y.w[i] = v[r * 16 + g * 4 + i];
  }
  f32x4 o = {0, 0, 0, 0};
  o = __builtin_amdgcn_mfma_f32_16x16x32_bf16(x.v, y.v, o, 0, 0, 0);
  for (int i = 0; i < 4; ++i) out[(4 * g + i) * 16 + r] = o[i];
}
)",
          [] {
            Noise noise(88);
            Coded q = coded(noise, bf16(), 16 * 32),
                  k = coded(noise, bf16(), 16 * 32),
                  v = coded(noise, bf16(), 16 * 32);
            auto s = product<double>(q.values, k.values, 32);
            std::vector<double> p(16 * 32, 0);
            for (int row = 0; row < 16; ++row) {
              double m = -1e9;
              for (int c = 0; c < 16; ++c)
                m = std::fmax(m, s[row * 16 + c]);
              for (int c = 0; c < 16; ++c)
                p[row * 32 + c] = s[row * 16 + c] == m;
            }
            return ProgramCase(1, 64).in(q.words).in(k.words).in(v.words).out(
                product<float>(p, v.values, 32));
          }};
}

Theme matrixPrograms() {
  return {"matrix",
          R"(
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef __bf16 bf16x16 __attribute__((ext_vector_type(16)));
typedef half f16x8 __attribute__((ext_vector_type(8)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef double f64x4 __attribute__((ext_vector_type(4)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef int i32x16 __attribute__((ext_vector_type(16)));
)",
          {tiles<float>("gemm_bf16_16", bf16(), 16, 4, 64, 32, "bf16x8",
                        "f32_16x16x32_bf16(x.v, y.v, acc, 0, 0, 0)"),
           tiles<float>("gemm_bf16_32", bf16(), 32, 4, 32, 16, "bf16x8",
                        "f32_32x32x16_bf16(x.v, y.v, acc, 0, 0, 0)"),
           tiles<float>("gemm_f16_32", f16(), 32, 4, 32, 16, "f16x8",
                        "f32_32x32x16_f16(x.v, y.v, acc, 0, 0, 0)"),
           tiles<float>("gemm_f32_16", f32(), 16, 1, 16, 4, "float",
                        "f32_16x16x4f32(x.v, y.v, acc, 0, 0, 0)"),
           tiles<int32_t>("gemm_i8_16", i8(), 16, 4, 128, 64, "i32x4",
                          "i32_16x16x64_i8(x.v, y.v, acc, 0, 0, 0)"),
           tiles<int32_t>("gemm_i8_32", i8(), 32, 4, 64, 32, "i32x4",
                          "i32_32x32x32_i8(x.v, y.v, acc, 0, 0, 0)"),
           tiles<float>("gemm_fp8_16", fp8(), 16, 2, 64, 32, "long",
                        "f32_16x16x32_fp8_fp8(x.v, y.v, acc, 0, 0, 0)"),
           tiles<float>("gemm_bf8_32", bf8(), 32, 2, 32, 16, "long",
                        "f32_32x32x16_bf8_bf8(x.v, y.v, acc, 0, 0, 0)"),
           doubles(), scaledFp8(), mixedFormats(), stagedGemm(), sparse(),
           attention()}};
}

} // namespace netra::sim::test
