//===- KernelCheckerBenchmark.cpp - What checkers cost real kernels ------===//
// SPDX-License-Identifier: MIT
//
// Kernels of the catalogue in sizes of real models, cut to some milliseconds,
// on one host thread. See CheckerRatio.h.
//
//===----------------------------------------------------------------------===//

#include "CheckerRatio.h"
#include "MoeCases.h"

using namespace kernels;
using netra::ElementType;

namespace {

struct Subject {
  const char *name;
  netra::Problem problem;
} const subjects[] = {
    {"dense_fp8", denseFp8Problem(16, 1024, 4096)},
    {"moe_gate_up", gateUpProblem({1, 9, 9, 512, 2048})},
    {"rms_norm", rmsNormProblem(128, 4096, false, false)},
};

/// What an operand holds; the experts that are asked for are different ones.
Bytes contentsOf(const netra::OperandSpec &operand, Random &random) {
  size_t count = 1;
  for (int64_t extent : operand.shape)
    count *= size_t(extent);
  switch (operand.type) {
  case ElementType::F32:
    return toBytes(random.positive(count, 0.005, 0.03));
  case ElementType::BF16:
    return toBytes(random.bf16(count));
  case ElementType::I32: {
    std::vector<int32_t> numbers(count);
    for (size_t i = 0; i != count; ++i)
      numbers[i] = int32_t(i);
    return toBytes(numbers);
  }
  default: {
    // Many bytes, whose values do not matter.
    Bytes bytes = random.fp8(std::min<size_t>(count, 4096));
    for (size_t i = bytes.size(); i < count; ++i)
      bytes.push_back(bytes[i - 4096]);
    return bytes;
  }
  }
}

void measure(benchmark::State &state, const Subject &subject) {
  auto fails = [&](llvm::Error error) {
    state.SkipWithError(llvm::toString(std::move(error)).c_str());
  };
  netra::Selection selection = catalog().select(subject.problem);
  if (!selection.winner) {
    state.SkipWithError(selection.reason.c_str());
    return;
  }
  llvm::Expected<Kernel> kernel =
      build(selection.winner->tactic->name, subject.problem,
            selection.winner->instance.options);
  if (!kernel)
    return fails(kernel.takeError());
  Random random(1);
  Buffers inputs;
  for (const netra::Argument &argument : kernel->instance.contract.arguments)
    if (argument.kind == netra::ArgumentKind::Pointer &&
        argument.access != netra::Access::Write)
      inputs[argument.role] =
          contentsOf(*subject.problem.find(argument.role), random);
  RunOptions options;
  options.threads = 1;
  compareChecked(state, 1, [&](bool isChecked) {
    options.checks = isChecked ? unsigned(netra::sim::CheckAll) : 0u;
    llvm::Expected<Outcome> outcome = run(*kernel, inputs, options);
    if (!outcome)
      fails(outcome.takeError());
    else if (!outcome->findings.empty())
      state.SkipWithError(outcome->findingsText().c_str());
    else
      return true;
    return false;
  });
}

} // namespace

int main(int argc, char **argv) {
  for (const Subject &subject : subjects)
    benchmark::RegisterBenchmark(
        (std::string("ratio/kernels/") + subject.name).c_str(),
        [&subject](benchmark::State &s) { measure(s, subject); })
        ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
