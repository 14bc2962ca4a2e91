//===- MoeCases.h - Problems, inputs, oracles of experts --------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The oracle computes in doubles from row-major weights; only the experts that
// somebody asks for have any. All other bytes of the weights that a kernel gets
// are NaN codes, so that reading another expert shows.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_MOECASES_H
#define NETRA_UNITTESTS_KERNELS_MOECASES_H

#include "Checks.h"

#include <set>

namespace kernels {

/// N rows of weights and K columns per expert; S slots per token.
struct MoeShape {
  int64_t m, e, s, n, k;
  std::string activation = "none"; // gate_up
  bool bf16 = false;               // down_reduce: x is bf16
  bool residual = false;           // down_reduce
  bool groupMajor = false;         // scales of x, block after block

  int64_t blocks() const { return k / 128; }
};

inline std::ostream &operator<<(std::ostream &os, const MoeShape &c) {
  return os << "m" << c.m << " e" << c.e << " s" << c.s << " n" << c.n << " k"
            << c.k << " " << c.activation << (c.bf16 ? " bf16" : "")
            << (c.residual ? " residual" : "")
            << (c.groupMajor ? " group major" : "");
}

inline netra::Problem moeProblem(const MoeShape &c,
                                 const std::string &operation) {
  using netra::ElementType;
  netra::Problem problem;
  problem.family = "moe";
  problem.operation = operation;
  problem.dimensions = {
      {"M", c.m}, {"E", c.e}, {"S", c.s}, {"N", c.n}, {"K", c.k}};
  problem.operands.push_back(
      {"weight", ElementType::F8E4M3FN, {c.e, c.n, c.k}, "n16k16"});
  problem.operands.push_back(
      {"weight_scale", ElementType::F32, {c.e, c.n / 128, c.blocks()}});
  problem.operands.push_back({"expert_ids", ElementType::I32, {c.m, c.s}});
  problem.attributes["accumulation"] = std::string("f32");
  problem.attributes["x_block_scale"] = std::string("1x128:f32");
  problem.attributes["weight_block_scale"] = std::string("128x128:f32");
  return problem;
}

inline netra::Problem gateUpProblem(const MoeShape &c) {
  using netra::ElementType;
  netra::Problem problem = moeProblem(c, "gate_up");
  problem.operands.push_back({"x", ElementType::F8E4M3FN, {c.m, c.k}});
  problem.operands.push_back({"x_scale",
                              ElementType::F32,
                              {c.m, c.blocks()},
                              c.groupMajor ? "group_major" : "row_major"});
  if (c.activation == "none")
    problem.operands.push_back({"result", ElementType::F32, {c.m, c.s, c.n}});
  else
    problem.operands.push_back(
        {"result", ElementType::BF16, {c.m, c.s, c.n / 2}});
  problem.attributes["activation"] = c.activation;
  return problem;
}

inline netra::Problem downReduceProblem(const MoeShape &c) {
  using netra::ElementType;
  netra::Problem problem = moeProblem(c, "down_reduce");
  problem.operands.push_back(
      {"x",
       c.bf16 ? ElementType::BF16 : ElementType::F8E4M3FN,
       {c.m, c.s, c.k}});
  if (!c.bf16)
    problem.operands.push_back({"x_scale",
                                ElementType::F32,
                                {c.m, c.s, c.blocks()},
                                c.groupMajor ? "group_major" : "row_major"});
  problem.operands.push_back({"expert_weights", ElementType::F32, {c.m, c.s}});
  if (c.residual)
    problem.operands.push_back({"residual", ElementType::BF16, {c.m, c.n}});
  problem.operands.push_back({"result", ElementType::BF16, {c.m, c.n}});
  return problem;
}

inline netra::Problem moeActivationProblem(int64_t m, int64_t s, int64_t n,
                                           const std::string &activation,
                                           bool groupMajor = false) {
  using netra::ElementType;
  netra::Problem problem;
  problem.family = "moe";
  problem.operation = "activation";
  problem.dimensions = {{"M", m}, {"S", s}, {"N", n}};
  problem.operands.push_back({"x", ElementType::F32, {m, s, 2 * n}});
  problem.operands.push_back({"result", ElementType::F8E4M3FN, {m, s, n}});
  problem.operands.push_back({"result_scale",
                              ElementType::F32,
                              {m, s, n / 128},
                              groupMajor ? "group_major" : "row_major"});
  problem.attributes["activation"] = activation;
  problem.attributes["result_block_scale"] = std::string("1x128:f32");
  return problem;
}

/// Scales [M, S, G] of which each token's are transposed, row after row.
inline Bytes slotMajorScales(const Bytes &groupMajor, int64_t m, int64_t s) {
  Bytes rows;
  size_t token = groupMajor.size() / m;
  for (int64_t i = 0; i < m; ++i) {
    auto begin = groupMajor.begin() + i * token;
    Bytes one = rowMajorScales(Bytes(begin, begin + token), s);
    rows.insert(rows.end(), one.begin(), one.end());
  }
  return rows;
}

/// Distinct ids per token, the last expert in the last slot (as the shared
/// one).
inline std::vector<int32_t> routes(Random &random, int64_t m, int64_t e,
                                   int64_t s) {
  std::vector<int32_t> ids;
  for (int64_t token = 0; token != m; ++token) {
    std::set<int32_t> taken = {int32_t(e - 1)};
    for (int64_t slot = 0; slot + 1 < s; ++slot) {
      int32_t id = int32_t(random.bits() % uint64_t(e));
      while (int64_t(taken.size()) < e && !taken.insert(id).second)
        id = (id + 1) % int32_t(e);
      ids.push_back(id);
    }
    ids.push_back(int32_t(e - 1));
  }
  return ids;
}

/// FP8 weights between 0.25 and 240, many per random number.
inline std::vector<uint8_t> expertRows(Random &random, int64_t count) {
  std::vector<uint8_t> codes(count);
  uint64_t bits = 0;
  for (int64_t i = 0; i < count; ++i, bits >>= 8) {
    if (i % 8 == 0)
      bits = random.bits();
    codes[i] = uint8_t((bits & 0x80) | (0x30 + (bits & 0x3f)));
  }
  return codes;
}

/// The weights [E, N, K] of the experts in use, and all scales.
struct ExpertWeights {
  int64_t e = 0, n = 0, k = 0;
  std::map<int64_t, std::vector<uint8_t>> rows;
  std::vector<float> scale;

  ExpertWeights() = default;
  ExpertWeights(Random &random, int64_t e, int64_t n, int64_t k,
                const std::vector<int32_t> &ids)
      : e(e), n(n), k(k) {
    for (int32_t id : ids)
      if (id >= 0 && id < e && !rows.count(id))
        rows[id] = expertRows(random, n * k);
    scale = random.positive(e * (n / 128) * (k / 128), 0.0002, 0.001);
  }
  Bytes packed() const {
    Bytes bytes(e * n * k, 0x7f);
    for (const auto &[id, weight] : rows) {
      Bytes one = oracle::packN16K16(weight, n, k);
      std::copy(one.begin(), one.end(), bytes.begin() + id * n * k);
    }
    return bytes;
  }
  /// Row `row` of expert `id` times x: the value, and the sum of magnitudes.
  std::pair<double, double> dot(int64_t id, int64_t row, const uint8_t *x,
                                const float *xScale) const {
    static const std::vector<double> table = [] {
      std::vector<double> values(256);
      for (int code = 0; code < 256; ++code)
        values[code] = oracle::decodeFp8(static_cast<uint8_t>(code));
      return values;
    }();
    const uint8_t *w = rows.at(id).data() + row * k;
    const float *ws = scale.data() + (id * (n / 128) + row / 128) * (k / 128);
    double sum = 0, magnitude = 0;
    for (int64_t block = 0; block < k / 128; ++block) {
      double part = 0, absolute = 0;
      for (int64_t i = block * 128; i < block * 128 + 128; ++i) {
        double product = table[x[i]] * table[w[i]];
        part += product;
        absolute += std::fabs(product);
      }
      double both = static_cast<double>(xScale[block]) * ws[block];
      sum += both * part;
      magnitude += std::fabs(both) * absolute;
    }
    return {sum, magnitude};
  }
};

/// The gated activation; the native SiLU of the experts is zero where the
/// sigmoid is below the normal range.
inline oracle::Value moeActivated(const std::string &activation,
                                  oracle::Value gate, oracle::Value up) {
  oracle::Value h =
      oracle::apply(activation == "silu" ? oracle::Function::Silu
                                         : oracle::Function::GeluTanh,
                    gate);
  h.radius += std::fabs(gate.value) * 0x1p-125;
  return h * up;
}

struct GateUpInputs {
  std::vector<uint8_t> x;
  std::vector<float> xScale;
  std::vector<int32_t> ids;
  ExpertWeights weight;

  GateUpInputs(const MoeShape &c, uint64_t seed,
               std::vector<int32_t> given = {})
      : ids(std::move(given)) {
    Random random(seed);
    if (ids.empty())
      ids = routes(random, c.m, c.e, c.s);
    x = random.fp8(c.m * c.k, 60);
    xScale = random.positive(c.m * c.blocks(), 0.005, 0.03);
    weight = ExpertWeights(random, c.e, c.n, c.k, ids);
  }
  Buffers buffers(bool groupMajor = false) const {
    Bytes scales = toBytes(xScale);
    if (groupMajor) // rows and blocks change places
      scales = rowMajorScales(scales, weight.k / 128);
    return {{"x", x},
            {"x_scale", scales},
            {"weight", weight.packed()},
            {"weight_scale", toBytes(weight.scale)},
            {"expert_ids", toBytes(ids)}};
  }
  /// The sums [M, S, N].
  std::vector<oracle::Value> sums(const MoeShape &c) const {
    std::vector<oracle::Value> values(c.m * c.s * c.n);
    for (int64_t row = 0; row < c.m * c.s; ++row)
      for (int64_t n = 0; n < c.n && weight.rows.count(ids[row]); ++n) {
        int64_t token = row / c.s;
        auto [sum, magnitude] = weight.dot(ids[row], n, x.data() + token * c.k,
                                           xScale.data() + token * c.blocks());
        values[row * c.n + n] = {
            sum,
            (64.0 + c.blocks()) * 4 * oracle::f32Unit * magnitude + 0x1p-126};
      }
    return values;
  }
  std::string check(const MoeShape &c, const Outcome &run) const {
    auto output = run.outputs.find("result");
    if (output == run.outputs.end())
      return "no result";
    std::vector<oracle::Value> values = sums(c);
    if (c.activation != "none") {
      std::vector<oracle::Value> h;
      for (int64_t row = 0; row < c.m * c.s; ++row)
        for (int64_t i = 0; i < c.n / 2; ++i)
          h.push_back(moeActivated(c.activation, values[row * c.n + i],
                                   values[row * c.n + c.n / 2 + i]));
      return checkBf16(output->second, h);
    }
    std::vector<float> found = fromBytes<float>(output->second);
    if (found.size() != values.size())
      return "wrong size";
    for (size_t i = 0; i != found.size(); ++i)
      if (std::isnan(values[i].value) ? !std::isnan(found[i])
          : std::isinf(values[i].value)
              ? found[i] != values[i].value
              : !(std::fabs(found[i] - values[i].value) <= values[i].radius))
        return "element " + std::to_string(i) + ": expected " +
               std::to_string(values[i].value) + ", found " +
               std::to_string(found[i]);
    return "";
  }
};

struct DownInputs {
  std::vector<uint8_t> x;
  std::vector<float> xScale;
  std::vector<uint16_t> xBf16, residual;
  std::vector<float> route;
  std::vector<int32_t> ids;
  ExpertWeights weight;

  DownInputs(const MoeShape &c, uint64_t seed, std::vector<int32_t> given = {})
      : ids(std::move(given)) {
    Random random(seed);
    if (ids.empty())
      ids = routes(random, c.m, c.e, c.s);
    if (c.bf16)
      setBf16(random.bf16(c.m * c.s * c.k, 3));
    else {
      x = random.fp8(c.m * c.s * c.k, 60);
      xScale = random.positive(c.m * c.s * c.blocks(), 0.005, 0.03);
    }
    route = random.positive(c.m * c.s, 0.02, 0.4);
    residual = random.bf16(c.m * c.n);
    weight = ExpertWeights(random, c.e, c.n, c.k, ids);
  }
  void setBf16(std::vector<uint16_t> values) {
    xBf16 = std::move(values);
    std::vector<double> decoded;
    for (uint16_t code : xBf16)
      decoded.push_back(oracle::decodeBf16(code));
    oracle::Quantized quantized = oracle::quantizeBlocks(decoded);
    x = quantized.codes;
    xScale = quantized.scales;
  }
  Buffers buffers(const MoeShape &c) const {
    Buffers inputs = {{"x", c.bf16 ? toBytes(xBf16) : x},
                      {"weight", weight.packed()},
                      {"weight_scale", toBytes(weight.scale)},
                      {"expert_weights", toBytes(route)},
                      {"expert_ids", toBytes(ids)}};
    if (!c.bf16)
      inputs["x_scale"] = c.groupMajor ? groupMajorScales(c) : toBytes(xScale);
    if (c.residual)
      inputs["residual"] = toBytes(residual);
    return inputs;
  }
  /// Each token's scales, [S, K / 128], transposed.
  Bytes groupMajorScales(const MoeShape &c) const {
    std::vector<float> scales;
    for (int64_t token = 0; token < c.m; ++token)
      for (int64_t block = 0; block < c.blocks(); ++block)
        for (int64_t slot = 0; slot < c.s; ++slot)
          scales.push_back(xScale[(token * c.s + slot) * c.blocks() + block]);
    return toBytes(scales);
  }
  std::string check(const MoeShape &c, const Outcome &run) const {
    auto output = run.outputs.find("result");
    if (output == run.outputs.end())
      return "no result";
    std::vector<oracle::Value> values(c.m * c.n);
    for (int64_t token = 0; token < c.m; ++token)
      for (int64_t n = 0; n < c.n; ++n) {
        double sum = 0, magnitude = 0;
        for (int64_t slot = 0; slot < c.s; ++slot) {
          int64_t row = token * c.s + slot;
          if (!weight.rows.count(ids[row]))
            continue;
          auto [part, absolute] = weight.dot(ids[row], n, x.data() + row * c.k,
                                             xScale.data() + row * c.blocks());
          sum += route[row] * part;
          magnitude += std::fabs(route[row]) * absolute;
        }
        oracle::Value value = {sum, (64.0 + c.s * c.blocks()) * 4 *
                                            oracle::f32Unit * magnitude +
                                        0x1p-126};
        if (c.residual)
          value = value + oracle::Value{
                              oracle::decodeBf16(residual[token * c.n + n]), 0};
        values[token * c.n + n] = value;
      }
    return checkBf16(output->second, values);
  }
};

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_MOECASES_H
