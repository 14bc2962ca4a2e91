//===- oracle.cpp - 64-bit reference of the decoder MLP -------------------===//
// SPDX-License-Identifier: MIT
//
// Computes the example's block in double precision from the checkpoint and the
// inputs, rounding only where the operations say that a value is stored, and
// compares an engine's output with it. Shares no code with the compiler, the
// kernels or the simulator.
//
//   decoder-mlp-oracle bf16|fp8 CHECKPOINT X RESIDUAL OUTPUT
//
// Prints the largest error and its bound. Exit status: 0 within the bound,
// 1 outside it, 2 wrong usage or unreadable files.
//
//===----------------------------------------------------------------------===//

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr size_t hidden = 2048, intermediate = 5632, block = 128;
constexpr double epsilon = 1e-6;

using Bytes = std::vector<unsigned char>;
using Vector = std::vector<double>;

Bytes readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read '" + path + "'");
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

double fromBf16(uint16_t code) {
  int sign = code >> 15, exponent = (code >> 7) & 0xFF, mantissa = code & 0x7F;
  if (exponent == 0xFF)
    return mantissa ? NAN : (sign ? -INFINITY : INFINITY);
  double magnitude = exponent == 0 ? std::ldexp(mantissa, -133)
                                   : std::ldexp(128 + mantissa, exponent - 134);
  return sign ? -magnitude : magnitude;
}

double fromE4m3(uint8_t code) {
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
double roundTo(double value, int mantissaBits, int minExponent) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int exponent = std::max(std::ilogb(value), minExponent);
  double ulp = std::ldexp(1.0, exponent - mantissaBits);
  return std::nearbyint(value / ulp) * ulp;
}

double roundBf16(double value) { return roundTo(value, 7, -126); }
double roundE4m3(double value) {
  return std::clamp(roundTo(value, 3, -6), -448.0, 448.0);
}

double ulpBf16(double value) {
  int exponent = value == 0 ? -126 : std::max(std::ilogb(value), -126);
  return std::ldexp(1.0, exponent - 7);
}

Vector bf16Vector(const unsigned char *data, size_t count) {
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

const std::string layer = "model.layers.0.";

Vector projectBf16(const Checkpoint &checkpoint, const char *name,
                   const Vector &x, size_t rows) {
  const unsigned char *data =
      checkpoint.find(layer + "mlp." + name + ".weight", rows * x.size() * 2);
  Vector result(rows);
  for (size_t n = 0; n < rows; ++n) {
    Vector row = bf16Vector(data + n * x.size() * 2, x.size());
    for (size_t k = 0; k < x.size(); ++k)
      result[n] += row[k] * x[k];
  }
  return result;
}

/// Quantises \p x per 128 elements and multiplies it with a block-scaled
/// weight, as the FP8 graph's linear operation is defined.
Vector projectFp8(const Checkpoint &checkpoint, const char *name,
                  const Vector &x, size_t rows) {
  std::string key = layer + "mlp." + name + ".weight";
  const size_t columns = x.size(), groups = columns / block;
  Vector quantised(columns), scale(groups);
  for (size_t g = 0; g < groups; ++g) {
    double largest = 1e-10;
    for (size_t k = g * block; k < (g + 1) * block; ++k)
      largest = std::max(largest, std::abs(x[k]));
    scale[g] = float(largest) * float(1.0 / 448.0);
    for (size_t k = g * block; k < (g + 1) * block; ++k)
      quantised[k] = roundE4m3(x[k] / scale[g]);
  }
  const unsigned char *data = checkpoint.find(key, rows * columns);
  const unsigned char *scaleData =
      checkpoint.find(key + "_scale_inv", rows / block * groups * 4);
  Vector result(rows);
  for (size_t n = 0; n < rows; ++n)
    for (size_t g = 0; g < groups; ++g) {
      float weightScale;
      std::memcpy(&weightScale, scaleData + 4 * (n / block * groups + g), 4);
      double dot = 0;
      for (size_t k = g * block; k < (g + 1) * block; ++k)
        dot += fromE4m3(data[n * columns + k]) * quantised[k];
      result[n] += weightScale * scale[g] * dot;
    }
  return result;
}

Vector reference(bool fp8, const Checkpoint &checkpoint, const Vector &x,
                 const Vector &residual) {
  const auto project = fp8 ? projectFp8 : projectBf16;
  Vector sum(hidden), normed(hidden);
  double squares = 0;
  for (size_t i = 0; i < hidden; ++i) {
    sum[i] = x[i] + residual[i];
    squares += sum[i] * sum[i];
  }
  double factor = 1 / std::sqrt(squares / hidden + epsilon);
  Vector weight = bf16Vector(
      checkpoint.find(layer + "post_attention_layernorm.weight", hidden * 2),
      hidden);
  for (size_t i = 0; i < hidden; ++i) {
    normed[i] = roundBf16(sum[i] * factor * weight[i]);
    sum[i] = roundBf16(sum[i]);
  }

  Vector gate = project(checkpoint, "gate_proj", normed, intermediate);
  Vector up = project(checkpoint, "up_proj", normed, intermediate);
  Vector inner(intermediate);
  for (size_t i = 0; i < intermediate; ++i) {
    inner[i] = roundBf16(gate[i] / (1 + std::exp(-gate[i])) * up[i]);
  }
  Vector result = project(checkpoint, "down_proj", inner, hidden);
  for (size_t i = 0; i < hidden; ++i)
    result[i] += sum[i];
  return result;
}

int compare(bool fp8, const Vector &expected, const Vector &found) {
  double worst = 0, error = 0, size = 0;
  size_t where = 0;
  for (size_t i = 0; i < hidden; ++i) {
    double difference = std::abs(found[i] - expected[i]);
    // A NaN compares with nothing, so that it must be looked for.
    double ulps =
        std::isnan(difference) ? INFINITY : difference / ulpBf16(expected[i]);
    if (ulps > worst) {
      worst = ulps;
      where = i;
    }
    error += difference * difference;
    size += expected[i] * expected[i];
  }
  double relative = std::sqrt(error / size);
  bool good = fp8 ? relative <= 1e-2 : worst <= 2;
  std::printf("largest error     %.2f bf16 ulp, at element %zu: %.6g, expected "
              "%.6g%s\n",
              worst, where, found[where], expected[where],
              fp8 ? "" : "; bound 2.00");
  std::printf("relative RMS      %.2e%s\n", relative,
              fp8 ? "; bound 1.00e-02" : "");
  std::printf("verdict           %s\n",
              good ? "within the bound" : "OUTSIDE THE BOUND");
  return good ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  std::string kind = argc == 6 ? argv[1] : "";
  if (kind != "bf16" && kind != "fp8") {
    std::fprintf(stderr, "usage: decoder-mlp-oracle bf16|fp8 CHECKPOINT X "
                         "RESIDUAL OUTPUT\n");
    return 2;
  }
  try {
    Vector tensors[3];
    for (int i = 0; i < 3; ++i) {
      Bytes bytes = readFile(argv[3 + i]);
      if (bytes.size() != hidden * 2)
        throw std::runtime_error("'" + std::string(argv[3 + i]) + "' holds " +
                                 std::to_string(bytes.size()) +
                                 " bytes, expected " +
                                 std::to_string(hidden * 2));
      tensors[i] = bf16Vector(bytes.data(), hidden);
    }
    bool fp8 = kind == "fp8";
    return compare(fp8,
                   reference(fp8, Checkpoint(argv[2]), tensors[0], tensors[1]),
                   tensors[2]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "decoder-mlp-oracle: %s\n", error.what());
    return 2;
  }
}
