//===- DenseCases.h - Dense problems, their inputs and oracles --*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_DENSECASES_H
#define NETRA_UNITTESTS_KERNELS_DENSECASES_H

#include "Checks.h"

namespace kernels {

inline const char *const denseEpilogues[] = {
    "none",          "silu",           "sigmoid",
    "gelu_erf",      "gelu_tanh",      "gated_silu",
    "gated_sigmoid", "gated_gelu_erf", "gated_gelu_tanh"};

inline bool isGated(llvm::StringRef epilogue) {
  return epilogue.starts_with("gated_");
}

/// One dense product, in bf16 or in FP8 with block scales.
struct DenseCase {
  int64_t m, n, k;
  std::string epilogue = "none";
  bool bias = false, residual = false;
  Options options = {};
  bool groupMajor = false; ///< scales of x, FP8 only
  bool resultF32 = false;  ///< and residual and bias
  bool biasF32 = false;    ///< where the result is not

  int64_t width() const { return isGated(epilogue) ? n / 2 : n; }
  netra::Problem bf16Problem() const {
    return typed(denseBf16Problem(m, n, k, epilogue, bias, residual));
  }
  netra::Problem problem(bool fp8) const {
    return fp8 ? fp8Problem() : bf16Problem();
  }
  netra::Problem fp8Problem() const {
    netra::Problem problem =
        typed(denseFp8Problem(m, n, k, epilogue, bias, residual));
    if (groupMajor)
      for (netra::OperandSpec &operand : problem.operands)
        if (operand.role == "x_scale")
          operand.layout = "group_major";
    return problem;
  }
  netra::Problem typed(netra::Problem problem) const {
    for (netra::OperandSpec &operand : problem.operands)
      if (operand.role == "bias" ? resultF32 || biasF32
                                 : resultF32 && (operand.role == "residual" ||
                                                 operand.role == "result"))
        operand.type = netra::ElementType::F32;
    return problem;
  }
};

/// With f32 in every place where it may be: all epilogues with and without a
/// residual, and an f32 bias, an f32 result, or both; `rows` by turns.
inline std::vector<DenseCase> f32Cases(const std::vector<int64_t> &rows,
                                       int64_t n, int64_t k) {
  std::vector<DenseCase> cases;
  for (const char *epilogue : denseEpilogues)
    for (bool residual : {false, true})
      for (unsigned types = 0; types != 3; ++types)
        cases.push_back({.m = rows[cases.size() % rows.size()],
                         .n = n,
                         .k = k,
                         .epilogue = epilogue,
                         .bias = types != 1,
                         .residual = residual,
                         .groupMajor = cases.size() % 4 == 3,
                         .resultF32 = types != 0,
                         .biasF32 = true});
  return cases;
}

inline std::ostream &operator<<(std::ostream &os, const DenseCase &c) {
  os << c.m << "x" << c.n << "x" << c.k << " " << c.epilogue
     << (c.bias ? " bias" : "") << (c.residual ? " residual" : "")
     << (c.groupMajor ? " group major" : "")
     << (c.resultF32           ? " f32"
         : c.bias && c.biasF32 ? " f32 bias"
                               : "");
  for (const auto &[name, value] : c.options)
    os << " " << name << "=" << value;
  return os;
}

/// Bias and residual, and what the result must be once the sums are known.
struct DenseFinish {
  std::vector<double> bias, residual;

  /// Those of f32 have bits that bf16 has no place for.
  static std::vector<double> values(Random &random, size_t count, bool isF32) {
    std::vector<double> all;
    for (uint16_t code : random.bf16(count))
      all.push_back(oracle::decodeBf16(code));
    if (isF32)
      for (double &value : all)
        value = float(value) * 1.001f;
    return all;
  }
  static Bytes bytes(const std::vector<double> &values, bool isF32) {
    if (isF32)
      return toBytes(std::vector<float>(values.begin(), values.end()));
    std::vector<uint16_t> codes;
    for (double value : values)
      codes.push_back(oracle::encodeBf16(value));
    return toBytes(codes);
  }
  void randomize(const DenseCase &c, Random &random) {
    bias = values(random, c.n, c.resultF32 || c.biasF32);
    residual = values(random, c.m * c.width(), c.resultF32);
  }
  void addTo(Buffers &inputs, const DenseCase &c) const {
    if (c.bias)
      inputs["bias"] = bytes(bias, c.resultF32 || c.biasF32);
    if (c.residual)
      inputs["residual"] = bytes(residual, c.resultF32);
  }
  std::string check(const DenseCase &c, const Outcome &run,
                    const std::vector<oracle::Value> &sums) const {
    llvm::StringRef function = c.epilogue;
    oracle::Epilogue finish;
    finish.gated = function.consume_front("gated_");
    finish.function = function == "silu"        ? oracle::Function::Silu
                      : function == "sigmoid"   ? oracle::Function::Sigmoid
                      : function == "gelu_erf"  ? oracle::Function::GeluErf
                      : function == "gelu_tanh" ? oracle::Function::GeluTanh
                                                : oracle::Function::None;
    finish.bias = c.bias ? bias.data() : nullptr;
    finish.residual = c.residual ? residual.data() : nullptr;
    auto output = run.outputs.find("result");
    if (output == run.outputs.end())
      return "no result";
    auto check = c.resultF32 ? checkF32 : checkBf16;
    return check(output->second, oracle::finish(sums, c.m, c.n, finish));
  }
};

/// Inputs of a bf16 product.
struct DenseBf16Inputs : DenseFinish {
  std::vector<uint16_t> x, w;

  DenseBf16Inputs(const DenseCase &c, uint64_t seed) {
    Random random(seed);
    x = random.bf16(c.m * c.k);
    w = random.bf16(c.n * c.k, 1 / std::sqrt(double(c.k)));
    randomize(c, random);
  }
  Buffers buffers(const DenseCase &c) const {
    Buffers inputs{{"x", toBytes(x)}, {"weight", toBytes(w)}};
    addTo(inputs, c);
    return inputs;
  }
  /// One row goes through the vector unit, whose sums are trees; with more the
  /// bound is that of any order.
  std::string check(const DenseCase &c, const Outcome &run) const {
    return DenseFinish::check(c, run,
                              oracle::denseBf16(x.data(), w.data(), c.m, c.n,
                                                c.k, c.m == 1 ? 0 : c.k));
  }
};

/// Inputs of an FP8 product, the weights row-major, as the oracle wants them.
struct DenseFp8Inputs : DenseFinish {
  std::vector<uint8_t> x, w;
  std::vector<float> xScale, wScale;

  DenseFp8Inputs(const DenseCase &c, uint64_t seed) {
    Random random(seed);
    x = random.fp8(c.m * c.k, 60);
    w = random.fp8(c.n * c.k, 60);
    // Scales that differ from block to block, so that a wrong one shows.
    xScale = random.positive(c.m * (c.k / 128), 0.005, 0.03);
    wScale = random.positive((c.n + 127) / 128 * (c.k / 128), 0.0002, 0.001);
    randomize(c, random);
  }
  Buffers buffers(const DenseCase &c) const {
    Buffers inputs{{"x", x},
                   {"weight", oracle::packN16K16(w, c.n, c.k)},
                   {"x_scale", toBytes(xScale)},
                   {"weight_scale", toBytes(wScale)}};
    if (c.groupMajor)
      for (int64_t m = 0, at = 0; m < c.m; ++m)
        for (int64_t block = 0; block < c.k / 128; ++block, ++at)
          std::memcpy(&inputs["x_scale"][4 * (block * c.m + m)], &xScale[at],
                      4);
    addTo(inputs, c);
    return inputs;
  }
  std::string check(const DenseCase &c, const Outcome &run) const {
    return DenseFinish::check(c, run,
                              oracle::denseFp8(x.data(), w.data(),
                                               xScale.data(), wScale.data(),
                                               c.m, c.n, c.k));
  }
};

/// A dense product of a model, for any number of rows.
struct DenseShape {
  int64_t n, k;
  bool fp8;
  bool gated = false;

  netra::Problem problem(int64_t m, const std::string &epilogue,
                         bool residual = false) const {
    return fp8 ? denseFp8Problem(m, n, k, epilogue, false, residual)
               : denseBf16Problem(m, n, k, epilogue, false, residual);
  }
  std::string tactic(int64_t m) const {
    return fp8      ? m <= 16 ? "gfx950.dense_fp8_block128_m16"
                              : "gfx950.dense_fp8_block128_m32"
           : m == 1 ? "gfx950.dense_bf16_m1"
                    : "gfx950.dense_bf16_m32";
  }
  std::string name(int64_t m) const {
    return std::to_string(m) + "x" + std::to_string(n) + "x" +
           std::to_string(k) + (fp8 ? " fp8" : " bf16") +
           (gated ? " gated" : "");
  }
};

// hidden 2048: attention in and out, recurrent in, a and b, out as attention's,
// shared expert, router, LM head. hidden 5120: recurrent in, out, attention in,
// gate and up, down, a and b, LM head.
inline const DenseShape denseShapes[] = {
    {9216, 2048, true},        {2048, 4096, true},   {12288, 2048, true},
    {64, 2048, false},         {1024, 2048, true},   {1024, 2048, true, true},
    {2048, 512, true},         {256, 2048, false},   {248320, 2048, false},
    {16384, 5120, true},       {5120, 6144, true},   {14336, 5120, true},
    {34816, 5120, true, true}, {34816, 5120, true},  {5120, 17408, true},
    {96, 5120, false},         {248320, 5120, false}};

/// Counters of one run without checks, of a kernel changed by `mutations`.
/// Zeros will do: nothing a dense kernel does depends on the values.
inline netra::sim::Counters
denseCounters(const std::string &tactic, const netra::Problem &problem,
              const std::vector<Mutation> &mutations = {},
              const Options &options = {}) {
  Buffers inputs;
  for (const netra::OperandSpec &operand : problem.operands) {
    uint64_t bytes = netra::elementBytes(operand.type);
    for (int64_t extent : operand.shape)
      bytes *= extent;
    if (operand.role != "result")
      inputs[operand.role].resize(bytes);
  }
  llvm::Expected<Kernel> kernel = build(tactic, problem, options, mutations);
  if (!kernel) {
    ADD_FAILURE() << tactic << ": " << llvm::toString(kernel.takeError());
    return {};
  }
  EXPECT_EQ(kernel->object->kernels()[0].privateSegment, 0u) << tactic;
  RunOptions run;
  run.checks = 0;
  run.counters = true;
  llvm::Expected<Outcome> once = kernels::run(*kernel, inputs, run);
  if (!once) {
    ADD_FAILURE() << tactic << ": " << llvm::toString(once.takeError());
    return {};
  }
  return once->counters;
}

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_DENSECASES_H
