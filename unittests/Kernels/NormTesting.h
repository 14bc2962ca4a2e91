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

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_NORMTESTING_H
