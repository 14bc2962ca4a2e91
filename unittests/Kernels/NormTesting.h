//===- NormTesting.h - What the tests of norms share ------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_NORMTESTING_H
#define NETRA_UNITTESTS_KERNELS_NORMTESTING_H

#include "Checks.h"
#include "NormProblems.h"

namespace kernels {

inline Bytes randomWeight(Random &random, int64_t n, bool isF32) {
  std::vector<uint16_t> codes = random.bf16(n);
  if (!isF32)
    return toBytes(codes);
  std::vector<float> values;
  for (uint16_t code : codes) // with bits that bf16 does not have
    values.push_back(static_cast<float>(oracle::decodeBf16(code)) * 1.0001f);
  return toBytes(values);
}

inline std::vector<double> weightValues(const Bytes &bytes, bool isF32) {
  std::vector<double> values;
  if (isF32)
    for (float value : fromBytes<float>(bytes))
      values.push_back(value);
  else
    for (uint16_t code : fromBytes<uint16_t>(bytes))
      values.push_back(oracle::decodeBf16(code));
  return values;
}

/// The result in whatever form it has. Where the bf16 values are stored, the
/// codes must be their quantization to the letter.
inline std::string checkNormResult(const NormForm &form, int64_t rows,
                                   const Outcome &run,
                                   const std::vector<oracle::Value> &expected) {
  auto result = run.outputs.find("result");
  if (result == run.outputs.end())
    return "no result";
  if (!form.quantized)
    return checkBf16(result->second, expected);
  Bytes scales = run.outputs.at("result_scale");
  if (form.groupMajor)
    scales = rowMajorScales(scales, rows);
  std::string text = checkQuantizedWithin(result->second, scales, expected);
  if (!form.rounded)
    return text;
  const Bytes &rounded = run.outputs.at("rounded");
  text += checkBf16(rounded, expected);
  std::vector<double> values;
  for (uint16_t code : fromBytes<uint16_t>(rounded))
    values.push_back(oracle::decodeBf16(code));
  return text + checkQuantized(result->second, scales, values);
}

/// The widths of rows that normalisations must serve.
inline std::vector<int64_t> normWidths() {
  std::vector<int64_t> widths{128};
  for (int64_t n = 1024; n <= 8192; n += 256)
    widths.push_back(n);
  widths.push_back(17408);
  return widths;
}

/// Expects the catalogue to prefer `winner` to `contract`, a tactic of the same
/// problem with given arguments; the winner has fewer instructions and bytes to
/// load, and with the options `same`, which give both one order of summation,
/// the same bits.
inline void expectContractLoses(const std::string &contract,
                                const std::string &winner,
                                const netra::Problem &problem,
                                const Buffers &inputs,
                                const Options &same = {}) {
  netra::Selection selection = catalog().select(problem);
  ASSERT_TRUE(selection.winner.has_value()) << selection.reason;
  EXPECT_EQ(selection.winner->tactic->name, winner);
  ASSERT_EQ(selection.runnersUp.size(), 1u);
  EXPECT_EQ(selection.runnersUp[0].tactic->name, contract);
  EXPECT_LT(selection.winner->tactic->rank,
            selection.runnersUp[0].tactic->rank);
  RunOptions options;
  options.checks = 0;
  options.counters = true;
  Outcome ours = runOnce(winner, problem, inputs, options);
  Outcome theirs = runOnce(contract, problem, inputs, options);
  llvm::Expected<Kernel> kernel = build(winner, problem, same);
  ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
  llvm::Expected<Outcome> equal = run(*kernel, inputs, options);
  ASSERT_TRUE(bool(equal)) << llvm::toString(equal.takeError());
  EXPECT_TRUE(equal->outputs == theirs.outputs);
  EXPECT_LE(ours.counters.instructions, theirs.counters.instructions);
  EXPECT_LT(ours.counters.globalLoadBytes, theirs.counters.globalLoadBytes);
}

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_NORMTESTING_H
