//===- Oracle.h - What the kernels must compute, in 64 bits -----*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The operations in double precision, each value with a bound on how far f32
// arithmetic in any order of the stated depth may stray from it.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_ORACLE_H
#define NETRA_UNITTESTS_KERNELS_ORACLE_H

#include "OracleFormats.h"

#include <algorithm>
#include <string>
#include <vector>

namespace oracle {

constexpr double f32Unit = 0x1p-24;

/// A value and the radius inside which the kernel's f32 value must lie.
struct Value {
  double value = 0;
  double radius = 0;
};

inline Value rounded(double value, double radius) {
  // One f32 rounding, or a flush of a denormal.
  return {value, radius + std::fabs(value) * f32Unit + 0x1p-126};
}
inline Value operator+(Value a, Value b) {
  return rounded(a.value + b.value, a.radius + b.radius);
}
inline Value operator*(Value a, Value b) {
  return rounded(a.value * b.value, std::fabs(a.value) * b.radius +
                                        std::fabs(b.value) * a.radius +
                                        a.radius * b.radius);
}

enum class Function { None, Silu, Sigmoid, GeluErf, GeluTanh };

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

inline double apply(Function function, double x) {
  switch (function) {
  case Function::None:
    return x;
  case Function::Silu:
    return x * sigmoid(x);
  case Function::Sigmoid:
    return sigmoid(x);
  case Function::GeluErf:
    return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
  case Function::GeluTanh: {
    // 1 + tanh(u) = 2 sigmoid(2 u), which does not cancel for u << 0.
    double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return x * sigmoid(2 * u);
  }
  }
  return x;
}

/// The derivatives of all functions lie in [-0.13, 1.13]; the kernels' own
/// relative error (argument of the exponential rounded to f32, polynomial of
/// erfc) is below 4e-5, a hundredth of a bf16 ulp.
inline Value apply(Function function, Value x) {
  double y = apply(function, x.value);
  if (function == Function::None)
    return x;
  return {y, 1.13 * x.radius + 4e-5 * std::fabs(y) + 0x1p-133};
}

/// What the dense kernels do after the accumulation.
struct Epilogue {
  Function function = Function::None;
  bool gated = false;
  const double *bias = nullptr;     // [N]
  const double *residual = nullptr; // [M, width]
};

/// `sums` is [M, N]; the result [M, N], or [M, N / 2] when gated.
inline std::vector<Value> finish(const std::vector<Value> &sums, int64_t m,
                                 int64_t n, const Epilogue &epilogue) {
  int64_t width = epilogue.gated ? n / 2 : n;
  std::vector<Value> result(m * width);
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < width; ++column) {
      auto biased = [&](int64_t index) {
        Value sum = sums[row * n + index];
        if (epilogue.bias)
          sum = sum + Value{epilogue.bias[index], 0};
        return sum;
      };
      Value y = apply(epilogue.function, biased(column));
      if (epilogue.gated)
        y = y * biased(n / 2 + column);
      if (epilogue.residual)
        y = y + Value{epilogue.residual[row * width + column], 0};
      result[row * width + column] = y;
    }
  return result;
}

/// bf16 operands. A work-item's chain has K / 64 products at most, lanes and
/// waves add 22 more. With `roundings` the sum is made in another way, each
/// value going through at most so many.
inline std::vector<Value> denseBf16(const uint16_t *x, const uint16_t *w,
                                    int64_t m, int64_t n, int64_t k,
                                    int64_t roundings = 0) {
  double factor = roundings ? double(roundings) : (k / 64.0 + 22) * 2;
  std::vector<double> activation(m * k), row(k);
  for (int64_t i = 0; i < m * k; ++i)
    activation[i] = decodeBf16(x[i]);
  std::vector<Value> sums(m * n);
  for (int64_t column = 0; column < n; ++column) {
    for (int64_t i = 0; i < k; ++i)
      row[i] = decodeBf16(w[column * k + i]);
    for (int64_t line = 0; line < m; ++line) {
      double sum = 0, magnitude = 0;
      for (int64_t i = 0; i < k; ++i) {
        double product = activation[line * k + i] * row[i];
        sum += product;
        magnitude += std::fabs(product);
      }
      sums[line * n + column] = {sum,
                                 factor * f32Unit * magnitude + k * 0x1p-126};
    }
  }
  return sums;
}

/// FP8 operands, `w` row-major [N, K]. The matrix core truncates products to 24
/// bits below the largest of a group, hence the wider radius.
inline std::vector<Value> denseFp8(const uint8_t *x, const uint8_t *w,
                                   const float *xScale, const float *wScale,
                                   int64_t m, int64_t n, int64_t k) {
  double table[256];
  for (int code = 0; code < 256; ++code)
    table[code] = decodeFp8(static_cast<uint8_t>(code));
  int64_t blocks = k / 128;
  std::vector<Value> sums(m * n);
  for (int64_t column = 0; column < n; ++column)
    for (int64_t line = 0; line < m; ++line) {
      double sum = 0, magnitude = 0;
      for (int64_t block = 0; block < blocks; ++block) {
        double dot = 0, absolute = 0;
        for (int64_t i = block * 128; i < block * 128 + 128; ++i) {
          double product = table[x[line * k + i]] * table[w[column * k + i]];
          dot += product;
          absolute += std::fabs(product);
        }
        double scale = static_cast<double>(xScale[line * blocks + block]) *
                       wScale[(column / 128) * blocks + block];
        sum += scale * dot;
        magnitude += std::fabs(scale) * absolute;
      }
      sums[line * n + column] = {
          sum, (64.0 + blocks) * 4 * f32Unit * magnitude + 0x1p-126};
    }
  return sums;
}

/// Row-major bytes [N, K] into the layout n16k16, element by element from its
/// definition: tiles of 16 rows, in each the columns in runs of 16.
inline std::vector<uint8_t> packN16K16(const std::vector<uint8_t> &source,
                                       int64_t n, int64_t k) {
  std::vector<uint8_t> packed(source.size());
  size_t at = 0;
  for (int64_t tile = 0; tile < n; tile += 16)
    for (int64_t run = 0; run < k; run += 16)
      for (int64_t row = tile; row < tile + 16; ++row)
        for (int64_t column = run; column < run + 16; ++column)
          packed[at++] = source[row * k + column];
  return packed;
}

struct Norm {
  std::vector<Value> result;
  std::vector<Value> sum; // only with a residual
};

inline Norm rmsNorm(const uint16_t *x, const uint16_t *residual,
                    const std::vector<double> &weight, int64_t m, int64_t n,
                    double epsilon, double weightOffset) {
  Norm norm;
  norm.result.resize(m * n);
  if (residual)
    norm.sum.resize(m * n);
  std::vector<double> s(n);
  for (int64_t row = 0; row < m; ++row) {
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) {
      s[i] = decodeBf16(x[row * n + i]);
      if (residual) {
        s[i] += decodeBf16(residual[row * n + i]);
        norm.sum[row * n + i] = rounded(s[i], 0);
        s[i] = static_cast<float>(s[i]); // the kernel's s is an f32
      }
      squares += s[i] * s[i];
    }
    double scale = 1 / std::sqrt(squares / n + epsilon);
    for (int64_t i = 0; i < n; ++i) {
      double y = s[i] * scale * (weight[i] + weightOffset);
      // Sum of squares: at most 64 steps deep; then a handful of roundings.
      norm.result[row * n + i] = {y, std::fabs(y) * 64 * f32Unit + 0x1p-133};
    }
  }
  return norm;
}

/// Rounded to bf16; the radius reaches the roundings of all values within it.
inline Value roundedToBf16(Value x) {
  auto round = [](double y) { return decodeBf16(encodeBf16(y)); };
  double y = round(x.value);
  return {y, std::max(round(x.value + x.radius) - y,
                      y - round(x.value - x.radius))};
}

inline std::vector<Value> gated(Function function, const uint16_t *gate,
                                const uint16_t *up, int64_t m, int64_t n,
                                int64_t rowStride,
                                bool roundActivation = false) {
  std::vector<Value> result(m * n);
  for (int64_t row = 0; row < m; ++row)
    for (int64_t i = 0; i < n; ++i) {
      Value a =
          apply(function, Value{decodeBf16(gate[row * rowStride + i]), 0});
      if (roundActivation)
        a = roundedToBf16(a);
      result[row * n + i] = a * Value{decodeBf16(up[row * rowStride + i]), 0};
    }
  return result;
}

/// One scale per 128 columns, from exact inputs.
struct Quantized {
  std::vector<float> scales;
  std::vector<uint8_t> codes;
};

inline Quantized quantizeBlocks(const std::vector<double> &values,
                                float reciprocal = static_cast<float>(1.0 /
                                                                      448.0)) {
  Quantized quantized;
  for (size_t begin = 0; begin < values.size(); begin += 128) {
    double amax = 0;
    for (size_t i = begin; i < begin + 128; ++i)
      if (!std::isnan(values[i]))
        amax = std::max(amax, std::fabs(values[i]));
    float clamped = std::max(static_cast<float>(amax), 1e-10f);
    float scale = clamped * reciprocal;
    quantized.scales.push_back(scale);
    for (size_t i = begin; i < begin + 128; ++i)
      quantized.codes.push_back(
          std::isinf(scale)
              ? uint8_t(0x7f)
              : encodeFp8(values[i] / static_cast<double>(scale)));
  }
  return quantized;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Empty when `actual` is the oracle's value within its radius, one rounding to
/// bf16 and `ulps` further bf16 ulps; otherwise what is wrong.
inline std::string compareBf16(uint16_t actual, Value expected, int ulps = 1) {
  double found = decodeBf16(actual);
  if (std::isnan(expected.value))
    return std::isnan(found) ? ""
                             : "expected NaN, found " + std::to_string(found);
  if (std::isnan(found))
    return "expected " + std::to_string(expected.value) + ", found NaN";
  if (std::isinf(expected.value)) // by no rounding, and with an infinite radius
    return found == expected.value
               ? ""
               : "expected " + std::to_string(expected.value) + ", found " +
                     std::to_string(found);
  int low = ordinalBf16(encodeBf16(expected.value - expected.radius)) - ulps;
  int high = ordinalBf16(encodeBf16(expected.value + expected.radius)) + ulps;
  int at = ordinalBf16(actual);
  if (at >= low && at <= high)
    return "";
  char text[128];
  std::snprintf(text, sizeof(text),
                "expected %.9g +- %.3g, found %.9g (%d bf16 steps outside)",
                expected.value, expected.radius, found,
                at < low ? low - at : at - high);
  return text;
}

/// Empty when `actual` lies within the radius of the oracle's value: nothing is
/// rounded beyond the arithmetic that the radius is for.
inline std::string compareF32(float actual, Value expected) {
  double value = expected.value;
  if (std::isnan(value) ? std::isnan(actual)
      : std::isinf(value)
          ? actual == value
          : std::fabs(double(actual) - value) <= expected.radius)
    return "";
  char text[96];
  std::snprintf(text, sizeof(text), "expected %.12g +- %.3g, found %.12g",
                value, expected.radius, double(actual));
  return text;
}

} // namespace oracle

#endif // NETRA_UNITTESTS_KERNELS_ORACLE_H
