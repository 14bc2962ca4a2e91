//===- Checks.h - Outputs against oracles -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Each check returns "" or the first differences, so that a test can expect
// agreement and a negative control can expect its absence.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_CHECKS_H
#define NETRA_UNITTESTS_KERNELS_CHECKS_H

#include "KernelHarness.h"
#include "Oracle.h"

namespace kernels {

/// `compare` of each of the values of type T with what is expected of it.
template <typename T, typename Compare>
std::string checkEach(const Bytes &output,
                      const std::vector<oracle::Value> &expected,
                      Compare compare) {
  std::vector<T> values = fromBytes<T>(output);
  if (values.size() != expected.size())
    return "expected " + std::to_string(expected.size()) + " values, found " +
           std::to_string(values.size());
  std::string text;
  size_t wrong = 0;
  for (size_t i = 0; i != values.size(); ++i) {
    std::string difference = compare(values[i], expected[i]);
    if (difference.empty())
      continue;
    if (++wrong <= 3)
      text += "element " + std::to_string(i) + ": " + difference + "\n";
  }
  if (wrong)
    text += std::to_string(wrong) + " of " + std::to_string(values.size()) +
            " elements are wrong\n";
  return text;
}

inline std::string checkBf16(const Bytes &output,
                             const std::vector<oracle::Value> &expected) {
  return checkEach<uint16_t>(output, expected,
                             [](uint16_t actual, oracle::Value value) {
                               return oracle::compareBf16(actual, value);
                             });
}

inline std::string checkF32(const Bytes &output,
                            const std::vector<oracle::Value> &expected) {
  return checkEach<float>(output, expected, oracle::compareF32);
}

/// Scales within 1 f32 ulp and at most 0.1 % of codes off by one, none by more,
/// against the quantization of `values`.
inline std::string checkQuantized(const Bytes &codeBytes,
                                  const Bytes &scaleBytes,
                                  const std::vector<double> &values,
                                  float reciprocal = float(1.0 / 448.0)) {
  oracle::Quantized expected = oracle::quantizeBlocks(values, reciprocal);
  std::vector<float> scales = fromBytes<float>(scaleBytes);
  if (codeBytes.size() != expected.codes.size() ||
      scales.size() != expected.scales.size())
    return "wrong sizes";
  for (size_t i = 0; i != scales.size(); ++i)
    if (std::isnan(scales[i]) ||
        std::abs(oracle::ordinalF32(scales[i]) -
                 oracle::ordinalF32(expected.scales[i])) > 1)
      return "scale " + std::to_string(i) + ": expected " +
             std::to_string(expected.scales[i]) + ", found " +
             std::to_string(scales[i]);
  size_t off = 0;
  for (size_t i = 0; i != codeBytes.size(); ++i) {
    uint8_t found = codeBytes[i], wanted = expected.codes[i];
    if (oracle::isNanFp8(found) || oracle::isNanFp8(wanted)) {
      if (oracle::isNanFp8(found) != oracle::isNanFp8(wanted))
        return "code " + std::to_string(i) + ": expected " +
               std::to_string(wanted) + ", found " + std::to_string(found);
      continue;
    }
    int distance =
        std::abs(oracle::ordinalFp8(found) - oracle::ordinalFp8(wanted));
    if (distance > 1)
      return "code " + std::to_string(i) + ": expected " +
             std::to_string(wanted) + ", found " + std::to_string(found);
    off += distance;
  }
  if (off * 1000 > codeBytes.size())
    return std::to_string(off) + " of " + std::to_string(codeBytes.size()) +
           " codes are off by one";
  return "";
}

/// Scales in the order of rows, from those stored group by group.
inline Bytes rowMajorScales(const Bytes &groupMajor, int64_t rows) {
  std::vector<float> stored = fromBytes<float>(groupMajor),
                     scales(stored.size());
  size_t groups = stored.size() / rows;
  for (size_t i = 0; i != stored.size(); ++i)
    scales[i % rows * groups + i / rows] = stored[i];
  return toBytes(scales);
}

/// The quantized form of a bf16 result that is itself only known within a
/// radius: every code times its scale must be within half a step of FP8 of the
/// value, and the scale must be that of a maximum within the radius. NaN is a
/// NaN code and has no part in the maximum; an infinite value makes the scale
/// infinite and every code of its group NaN.
inline std::string
checkQuantizedWithin(const Bytes &codeBytes, const Bytes &scaleBytes,
                     const std::vector<oracle::Value> &expected) {
  std::vector<float> scales = fromBytes<float>(scaleBytes);
  if (codeBytes.size() != expected.size() ||
      scales.size() * 128 != expected.size())
    return "wrong sizes";
  for (size_t group = 0; group != scales.size(); ++group) {
    double low = 0, high = 0;
    bool isInfinite = false;
    for (size_t i = group * 128; i != group * 128 + 128; ++i) {
      isInfinite |= std::isinf(expected[i].value);
      if (std::isnan(expected[i].value))
        continue;
      double size = std::fabs(expected[i].value),
             slack = size * 0x1p-7 + expected[i].radius;
      low = std::max(low, size - slack);
      high = std::max(high, size + slack);
    }
    double scale = scales[group];
    if (isInfinite ? scale != HUGE_VAL
                   : !(scale >= std::max(low, 1e-10) / 448 * (1 - 1e-6) &&
                       scale <= std::max(high, 1e-10) / 448 * (1 + 1e-6)))
      return "scale " + std::to_string(group) + ": expected about " +
             std::to_string(high / 448) + ", found " + std::to_string(scale);
    for (size_t i = group * 128; i != group * 128 + 128; ++i) {
      if (isInfinite || std::isnan(expected[i].value)) {
        if (!oracle::isNanFp8(codeBytes[i]))
          return "element " + std::to_string(i) +
                 ": expected NaN, found code " + std::to_string(codeBytes[i]);
        continue;
      }
      double found = oracle::decodeFp8(codeBytes[i]) * scale;
      double size = std::fabs(expected[i].value);
      double slack = expected[i].radius + size * 0x1p-7 +              // bf16
                     std::max(size * 0x1p-4, scale * 0x1p-10) * 1.001; // FP8
      if (!(std::fabs(found - expected[i].value) <= slack))
        return "element " + std::to_string(i) + ": expected " +
               std::to_string(expected[i].value) + ", found " +
               std::to_string(found);
    }
  }
  return "";
}

/// Expects two problems to have one code object: what differs between them
/// reaches the kernel by its arguments and launch only.
inline void expectOneCodeObject(const std::string &tactic,
                                const netra::Problem &first,
                                const netra::Problem &second) {
  std::vector<std::vector<uint8_t>> objects;
  std::vector<std::string> symbols;
  for (const netra::Problem *problem : {&first, &second}) {
    llvm::Expected<netra::Instance> instance = instantiate(tactic, *problem);
    ASSERT_TRUE(bool(instance)) << llvm::toString(instance.takeError());
    symbols.push_back(instance->symbol);
    llvm::Expected<netra::AssembledKernel> assembled =
        assembler().assemble(*instance);
    ASSERT_TRUE(bool(assembled)) << llvm::toString(assembled.takeError());
    objects.emplace_back(assembled->object.bytes.begin(),
                         assembled->object.bytes.end());
  }
  EXPECT_EQ(symbols[0], symbols[1]);
  EXPECT_TRUE(objects[0] == objects[1])
      << tactic << ": the bytes of the code objects differ";
}

/// A value argument that the caller of a contract's kernel chooses.
inline void setArgument(Kernel &kernel, llvm::StringRef name, uint64_t bits) {
  for (netra::Argument &argument : kernel.instance.contract.arguments)
    if (argument.name == name) {
      argument.bits = bits;
      return;
    }
  ADD_FAILURE() << "no argument " << name.str();
}

/// The size of an operand whose caller has it otherwise than the problem says.
inline void setShape(Kernel &kernel, llvm::StringRef role,
                     std::vector<int64_t> shape) {
  for (netra::OperandSpec &operand : kernel.instance.contract.problem.operands)
    if (operand.role == role) {
      operand.shape = std::move(shape);
      return;
    }
  ADD_FAILURE() << "no operand " << role.str();
}

/// Rows of `width` bytes, `stride` bytes apart. Nothing is written between
/// them, so that whoever uses it is found out.
inline std::map<uint64_t, Bytes> apart(const Bytes &rows, uint64_t width,
                                       uint64_t stride) {
  std::map<uint64_t, Bytes> pieces;
  for (uint64_t row = 0; row * width < rows.size(); ++row)
    pieces[row * stride] =
        Bytes(rows.begin() + row * width, rows.begin() + (row + 1) * width);
  return pieces;
}

/// The reverse for a result; between the rows must be what was there before.
inline Bytes together(const Bytes &padded, uint64_t width, uint64_t stride) {
  Bytes rows;
  for (uint64_t at = 0; at < padded.size(); ++at)
    if (at % stride < width)
      rows.push_back(padded[at]);
    else if (padded[at] != 0xff) {
      ADD_FAILURE() << "byte " << at << ", between rows, was written";
      break;
    }
  return rows;
}

/// Wave instructions after which a wrong kernel is taken to loop: 18 times what
/// the longest right one among its likes executes, and some seconds.
inline constexpr uint64_t MostOfWrongKernel = uint64_t(1) << 24;

/// Runs a deliberately wrong kernel. Returns what was noticed: "assembly",
/// "fault" (so a kernel that loops for ever), the names of the checkers that
/// spoke, and whatever `check` says of the outputs; empty when nothing noticed
/// anything.
template <typename Check>
std::string noticed(const std::string &tactic, const netra::Problem &problem,
                    const Buffers &inputs, const Options &options,
                    const std::vector<Mutation> &mutations, Check check,
                    unsigned checks = netra::sim::CheckAll) {
  llvm::Expected<Kernel> kernel = build(tactic, problem, options, mutations);
  if (!kernel)
    return "assembly: " + llvm::toString(kernel.takeError());
  RunOptions runOptions;
  runOptions.checks = checks;
  runOptions.instructionLimit = MostOfWrongKernel;
  llvm::Expected<Outcome> once = run(*kernel, inputs, runOptions);
  if (!once)
    return "fault: " + llvm::toString(once.takeError());
  std::string text;
  for (const netra::sim::Finding &finding : once->findings)
    text += netra::sim::checkName(finding.check).str() + ": " +
            finding.instruction + "\n";
  std::string difference = check(*once);
  if (!difference.empty())
    text += "values: " + difference;
  return text;
}

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_CHECKS_H
