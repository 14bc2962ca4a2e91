//===- oracle.cpp - 64-bit reference of the MoE block ---------------------===//
// SPDX-License-Identifier: MIT
//
// Computes the example's block in double precision from the checkpoint and the
// inputs, rounding only where the operations say that a value is stored, and
// compares an engine's output with it. Shares no code with the compiler, the
// kernels or the simulator.
//
//   moe-block-oracle CHECKPOINT X RESIDUAL OUTPUT
//
// Prints the experts, the largest error and its bound. Exit status: 0 within
// the bound, 1 outside it, 2 wrong usage or unreadable files.
//
//===----------------------------------------------------------------------===//

#include "../common/Reference.h"

#include <numeric>

using namespace reference;

namespace {

constexpr size_t hidden = 2048, intermediate = 512, experts = 256, topK = 8;
constexpr double epsilon = 1e-6;
const std::string layer = "model.layers.0.";

struct TooClose : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Expert {
  size_t id;
  double weight;
};

/// The eight best of softmax(logits), renormalised; ties to the lower id.
std::vector<Expert> route(const Vector &logits) {
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  // Logits are stored as bf16, and a sum in another order may round to the
  // other neighbour: a choice that hangs on that proves nothing.
  double margin = logits[order[topK - 1]] - logits[order[topK]];
  if (margin < 3 * ulpBf16(logits[order[topK]]))
    throw TooClose("the eighth and the ninth expert are too close to tell "
                   "apart; take another seed for this row of the inputs");
  std::vector<Expert> chosen;
  double total = 0;
  for (size_t i = 0; i < topK; ++i) {
    chosen.push_back({order[i], std::exp(logits[order[i]] - logits[order[0]])});
    total += chosen.back().weight;
  }
  for (Expert &expert : chosen)
    expert.weight /= total;
  return chosen;
}

/// One expert's product with `x`: gate rows, then up rows, then down.
Vector feedForward(const unsigned char *gateUp,
                   const unsigned char *gateUpScale, const unsigned char *down,
                   const unsigned char *downScale, const Quantized &x) {
  Vector both = projectFp8(gateUp, gateUpScale, x, 2 * intermediate);
  Vector inner(intermediate);
  for (size_t i = 0; i < intermediate; ++i)
    inner[i] = roundBf16(silu(both[i]) * both[intermediate + i]);
  return projectFp8(down, downScale, quantize(inner), hidden);
}

Vector expectedResult(const Checkpoint &checkpoint, const Vector &x,
                      const Vector &residual) {
  Vector sum = add(x, residual);
  Vector normWeight = bf16Vector(
      checkpoint.find(layer + "post_attention_layernorm.weight", hidden * 2),
      hidden);
  Vector normed = roundBf16(rmsNorm(sum, normWeight, epsilon, 1));
  const std::string mlp = layer + "mlp.";
  Vector logits = roundBf16(
      projectBf16(checkpoint.find(mlp + "gate.weight", experts * hidden * 2),
                  normed, experts));
  double shared = projectBf16(
      checkpoint.find(mlp + "shared_expert_gate.weight", hidden * 2), normed,
      1)[0];

  constexpr size_t gateUpBytes = 2 * intermediate * hidden,
                   downBytes = hidden * intermediate,
                   gateUpScales = gateUpBytes / block / block * 4,
                   downScales = downBytes / block / block * 4;
  auto weight = [&](const std::string &name, size_t bytes, size_t stack = 1) {
    return checkpoint.find(mlp + name, bytes * stack);
  };
  const unsigned char *gateUp =
      weight("experts.gate_up_proj", gateUpBytes, experts);
  const unsigned char *gateUpScale =
      weight("experts.gate_up_proj_scale_inv", gateUpScales, experts);
  const unsigned char *down = weight("experts.down_proj", downBytes, experts);
  const unsigned char *downScale =
      weight("experts.down_proj_scale_inv", downScales, experts);

  Quantized quantized = quantize(normed);
  Vector result = roundBf16(sum);
  auto accumulate = [&](double factor, const Vector &values) {
    for (size_t i = 0; i < hidden; ++i)
      result[i] += factor * values[i];
  };
  std::printf("experts          ");
  for (const Expert &expert : route(logits)) {
    std::printf(" %zu (%.3f)", expert.id, expert.weight);
    accumulate(expert.weight,
               feedForward(gateUp + expert.id * gateUpBytes,
                           gateUpScale + expert.id * gateUpScales,
                           down + expert.id * downBytes,
                           downScale + expert.id * downScales, quantized));
  }
  double factor = 1 / (1 + std::exp(-shared));
  std::printf(", shared (%.3f)\n", factor);
  // The shared expert's gate and up are two tensors.
  auto join = [&](const char *suffix, size_t bytes) {
    const unsigned char *gate =
        weight(std::string("shared_expert.gate_proj.weight") + suffix, bytes);
    const unsigned char *up =
        weight(std::string("shared_expert.up_proj.weight") + suffix, bytes);
    Bytes both(gate, gate + bytes);
    both.insert(both.end(), up, up + bytes);
    return both;
  };
  Bytes sharedGateUp = join("", gateUpBytes / 2),
        sharedScale = join("_scale_inv", gateUpScales / 2);
  accumulate(factor,
             feedForward(
                 sharedGateUp.data(), sharedScale.data(),
                 weight("shared_expert.down_proj.weight", downBytes),
                 weight("shared_expert.down_proj.weight_scale_inv", downScales),
                 quantized));
  return result;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr,
                 "usage: moe-block-oracle CHECKPOINT X RESIDUAL OUTPUT\n");
    return 2;
  }
  try {
    Checkpoint checkpoint(argv[1]);
    std::vector<Vector> x = readRows(argv[2], hidden),
                        residual = readRows(argv[3], hidden), expected;
    for (size_t m = 0; m < x.size(); ++m)
      try {
        expected.push_back(expectedResult(checkpoint, x[m], residual.at(m)));
      } catch (const TooClose &error) {
        throw std::runtime_error("row " + std::to_string(m) + ": " +
                                 error.what());
      }
    return compare(/*fp8=*/true, expected, readRows(argv[4], hidden));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "moe-block-oracle: %s\n", error.what());
    return 2;
  }
}
