//===- Reference.h - What the examples' oracles share -----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Number formats, checkpoints and the comparison of results, in double
// precision. Shares no code with the compiler, the kernels or the simulator.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_EXAMPLES_COMMON_REFERENCE_H
#define NETRA_EXAMPLES_COMMON_REFERENCE_H

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace reference {

constexpr size_t block = 128;

using Bytes = std::vector<unsigned char>;
using Vector = std::vector<double>;

inline Bytes readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read '" + path + "'");
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

inline double fromBf16(uint16_t code) {
  int sign = code >> 15, exponent = (code >> 7) & 0xFF, mantissa = code & 0x7F;
  if (exponent == 0xFF)
    return mantissa ? NAN : (sign ? -INFINITY : INFINITY);
  double magnitude = exponent == 0 ? std::ldexp(mantissa, -133)
                                   : std::ldexp(128 + mantissa, exponent - 134);
  return sign ? -magnitude : magnitude;
}

inline double fromE4m3(uint8_t code) {
  int sign = code >> 7, exponent = (code >> 3) & 0xF, mantissa = code & 7;
  if (exponent == 15 && mantissa == 7)
    return NAN;
  double magnitude = exponent == 0 ? std::ldexp(mantissa, -9)
                                   : std::ldexp(8 + mantissa, exponent - 10);
  return sign ? -magnitude : magnitude;
}

/// The nearest multiple of the unit in the last place of a format with
/// \p mantissaBits stored bits and smallest normal exponent \p minExponent;
/// ties go to even, as std::nearbyint does by default.
inline double roundTo(double value, int mantissaBits, int minExponent) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int exponent = std::max(std::ilogb(value), minExponent);
  double ulp = std::ldexp(1.0, exponent - mantissaBits);
  return std::nearbyint(value / ulp) * ulp;
}

inline double roundBf16(double value) { return roundTo(value, 7, -126); }
inline double roundE4m3(double value) {
  return std::clamp(roundTo(value, 3, -6), -448.0, 448.0);
}

inline double ulpBf16(double value) {
  int exponent = value == 0 ? -126 : std::max(std::ilogb(value), -126);
  return std::ldexp(1.0, exponent - 7);
}

inline Vector bf16Vector(const unsigned char *data, size_t count) {
  Vector values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = fromBf16(uint16_t(data[2 * i] | data[2 * i + 1] << 8));
  return values;
}

/// The tensors of a safetensors file.
class Checkpoint {
public:
  explicit Checkpoint(const std::string &path) : bytes(readFile(path)) {
    uint64_t size = 0;
    if (bytes.size() < 8)
      throw std::runtime_error("'" + path + "' is no safetensors file");
    std::memcpy(&size, bytes.data(), 8);
    if (size > bytes.size() - 8)
      throw std::runtime_error("'" + path + "' is truncated");
    header = nlohmann::json::parse(bytes.begin() + 8,
                                   bytes.begin() + 8 + std::ptrdiff_t(size));
    base = 8 + size;
  }

  /// Rows and columns of a matrix.
  std::pair<size_t, size_t> matrix(const std::string &name) const {
    const nlohmann::json &shape = header.at(name).at("shape");
    return {shape.at(0), shape.at(1)};
  }

  const unsigned char *find(const std::string &name, size_t size) const {
    const nlohmann::json &offsets = header.at(name).at("data_offsets");
    uint64_t from = offsets.at(0), to = offsets.at(1);
    if (to - from != size || base + to > bytes.size())
      throw std::runtime_error("tensor '" + name + "' has the wrong size");
    return bytes.data() + base + from;
  }

private:
  Bytes bytes;
  nlohmann::json header;
  uint64_t base = 0;
};

/// Root-mean-square normalisation; rounds nothing.
inline Vector rmsNorm(const Vector &x, const Vector &weight, double epsilon,
                      double weightOffset) {
  double squares = 0;
  for (double value : x)
    squares += value * value;
  double factor = 1 / std::sqrt(squares / double(x.size()) + epsilon);
  Vector result(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    result[i] = x[i] * factor * (weight[i] + weightOffset);
  return result;
}

inline double silu(double x) { return x / (1 + std::exp(-x)); }

/// The sum of two vectors, and every element of one rounded to bf16.
inline Vector add(Vector lhs, const Vector &rhs) {
  for (size_t i = 0; i < lhs.size(); ++i)
    lhs[i] += rhs[i];
  return lhs;
}
inline Vector roundBf16(Vector values) {
  for (double &value : values)
    value = roundBf16(value);
  return values;
}

/// FP8 values with one scale per 128 of them.
struct Quantized {
  Vector values;
  std::vector<float> scales;
};

inline Quantized quantize(const Vector &x) {
  Quantized result{Vector(x.size()), std::vector<float>(x.size() / block)};
  for (size_t g = 0; g < result.scales.size(); ++g) {
    double largest = 1e-10;
    for (size_t k = g * block; k < (g + 1) * block; ++k)
      largest = std::max(largest, std::abs(x[k]));
    result.scales[g] = float(largest) * float(1.0 / 448.0);
    for (size_t k = g * block; k < (g + 1) * block; ++k)
      result.values[k] = roundE4m3(x[k] / result.scales[g]);
  }
  return result;
}

/// Row-major FP8 `weight` of `rows` rows with a scale per 128 x 128, times `x`.
inline Vector projectFp8(const unsigned char *weight,
                         const unsigned char *weightScales, const Quantized &x,
                         size_t rows) {
  static const std::vector<double> decoded = [] {
    std::vector<double> values(256);
    for (int code = 0; code < 256; ++code)
      values[code] = fromE4m3(uint8_t(code));
    return values;
  }();
  const size_t columns = x.values.size(), groups = columns / block;
  Vector result(rows);
  for (size_t n = 0; n < rows; ++n)
    for (size_t g = 0; g < groups; ++g) {
      float weightScale;
      std::memcpy(&weightScale, weightScales + 4 * (n / block * groups + g), 4);
      double dot = 0;
      for (size_t k = g * block; k < (g + 1) * block; ++k)
        dot += decoded[weight[n * columns + k]] * x.values[k];
      result[n] += weightScale * x.scales[g] * dot;
    }
  return result;
}

/// Row-major bf16 `weight` of `rows` rows, times `x`.
inline Vector projectBf16(const unsigned char *weight, const Vector &x,
                          size_t rows) {
  Vector result(rows);
  for (size_t n = 0; n < rows; ++n) {
    Vector row = bf16Vector(weight + n * x.size() * 2, x.size());
    for (size_t k = 0; k < x.size(); ++k)
      result[n] += row[k] * x[k];
  }
  return result;
}

/// A bf16 file of rows of `columns` values.
inline std::vector<Vector> readRows(const std::string &path, size_t columns) {
  Bytes bytes = readFile(path);
  if (bytes.empty() || bytes.size() % (columns * 2) != 0)
    throw std::runtime_error(
        "'" + path + "' holds " + std::to_string(bytes.size()) +
        " bytes, expected rows of " + std::to_string(columns * 2));
  std::vector<Vector> rows;
  for (size_t at = 0; at < bytes.size(); at += columns * 2)
    rows.push_back(bf16Vector(bytes.data() + at, columns));
  return rows;
}

/// Prints the errors and says whether they are within the bound, row by row:
/// relative RMS 1e-2 with FP8 products, 2 bf16 ulp without. Returns an exit
/// status.
inline int compare(bool fp8, const std::vector<Vector> &expected,
                   const std::vector<Vector> &found) {
  if (expected.size() != found.size())
    throw std::runtime_error("the output has " + std::to_string(found.size()) +
                             " rows, expected " +
                             std::to_string(expected.size()));
  double worst = 0, relative = 0;
  size_t row = 0, where = 0;
  for (size_t m = 0; m < expected.size(); ++m) {
    double error = 0, size = 0;
    for (size_t i = 0; i < expected[m].size(); ++i) {
      double difference = std::abs(found[m][i] - expected[m][i]);
      // A NaN compares with nothing, so that it must be looked for.
      double ulps = std::isnan(difference)
                        ? INFINITY
                        : difference / ulpBf16(expected[m][i]);
      if (ulps > worst) {
        worst = ulps;
        row = m;
        where = i;
      }
      error += difference * difference;
      size += expected[m][i] * expected[m][i];
    }
    double one = std::sqrt(error / size);
    relative = std::isnan(one) ? INFINITY : std::max(relative, one);
  }
  bool good = fp8 ? relative <= 1e-2 : worst <= 2;
  std::printf("largest error     %.2f bf16 ulp, at element %zu of row %zu: "
              "%.6g, expected %.6g%s\n",
              worst, where, row, found[row][where], expected[row][where],
              fp8 ? "" : "; bound 2.00");
  std::printf("relative RMS      %.2e%s\n", relative,
              fp8 ? "; bound 1.00e-02" : "");
  std::printf("verdict           %s\n",
              good ? "within the bound" : "OUTSIDE THE BOUND");
  return good ? 0 : 1;
}

} // namespace reference

#endif // NETRA_EXAMPLES_COMMON_REFERENCE_H
