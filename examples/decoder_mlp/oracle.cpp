//===- oracle.cpp - 64-bit reference of the decoder MLP -------------------===//
// SPDX-License-Identifier: MIT
//
// Computes the example's block in double precision from the checkpoint and the
// inputs, rounding only where the operations say that a value is stored, and
// compares an engine's output with it. Shares no code with the compiler, the
// kernels or the simulator.
//
//   decoder-mlp-oracle bf16|fp8 OFFSET CHECKPOINT X RESIDUAL OUTPUT
//
// The norm multiplies with OFFSET + weight. Prints the largest error and its
// bound. Exit status: 0 within the bound, 1 outside it, 2 wrong usage or
// unreadable files.
//
//===----------------------------------------------------------------------===//

#include "../common/Reference.h"

using namespace reference;

namespace {

constexpr double epsilon = 1e-6;
const std::string layer = "model.layers.0.";

Vector expectedResult(bool fp8, double offset, const Checkpoint &checkpoint,
                      const Vector &x, const Vector &residual) {
  auto [intermediate, hidden] =
      checkpoint.matrix(layer + "mlp.gate_proj.weight");
  auto project = [&](const char *name, const Vector &x, size_t rows) {
    std::string key = layer + "mlp." + name + ".weight";
    if (!fp8)
      return projectBf16(checkpoint.find(key, rows * x.size() * 2), x, rows);
    return projectFp8(checkpoint.find(key, rows * x.size()),
                      checkpoint.find(key + "_scale_inv",
                                      rows / block * (x.size() / block) * 4),
                      quantize(x), rows);
  };
  Vector sum = add(x, residual);
  Vector weight = bf16Vector(
      checkpoint.find(layer + "post_attention_layernorm.weight", hidden * 2),
      hidden);
  Vector normed = roundBf16(rmsNorm(sum, weight, epsilon, offset));
  Vector gate = project("gate_proj", normed, intermediate);
  Vector up = project("up_proj", normed, intermediate);
  Vector inner(intermediate);
  for (size_t i = 0; i < intermediate; ++i)
    inner[i] = roundBf16(silu(gate[i]) * up[i]);
  return add(project("down_proj", inner, hidden), roundBf16(sum));
}

} // namespace

int main(int argc, char **argv) {
  std::string kind = argc == 7 ? argv[1] : "";
  if (kind != "bf16" && kind != "fp8") {
    std::fprintf(stderr, "usage: decoder-mlp-oracle bf16|fp8 OFFSET CHECKPOINT "
                         "X RESIDUAL OUTPUT\n");
    return 2;
  }
  try {
    bool fp8 = kind == "fp8";
    double offset = std::stod(argv[2]);
    Checkpoint checkpoint(argv[3]);
    size_t hidden = checkpoint.matrix(layer + "mlp.gate_proj.weight").second;
    std::vector<Vector> x = readRows(argv[4], hidden),
                        residual = readRows(argv[5], hidden), expected;
    for (size_t m = 0; m < x.size(); ++m)
      expected.push_back(
          expectedResult(fp8, offset, checkpoint, x[m], residual.at(m)));
    return compare(fp8, expected, readRows(argv[6], hidden));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "decoder-mlp-oracle: %s\n", error.what());
    return 2;
  }
}
