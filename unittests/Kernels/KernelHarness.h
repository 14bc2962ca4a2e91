//===- KernelHarness.h - Runs tactics on the simulator ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// tactic + problem + inputs → instance → code object → simulator → outputs,
// findings, counters. Every buffer is an allocation of exactly its size, so
// that the memory checker sees the first byte outside; outputs start as NaN of
// every type (all bits one), so that an element never written cannot pass.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_KERNELHARNESS_H
#define NETRA_UNITTESTS_KERNELS_KERNELHARNESS_H

#include "Netra/Catalog/Catalog.h"
#include "Netra/Simulator/Simulator.h"
#include "Netra/Target/Assembler.h"

#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <map>
#include <string>
#include <vector>

namespace kernels {

using Bytes = std::vector<uint8_t>;
using Buffers = std::map<std::string, Bytes>; // by role
using Options = std::map<std::string, int64_t>;

template <typename T> Bytes toBytes(const std::vector<T> &values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <typename T> std::vector<T> fromBytes(const Bytes &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty())
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// A textual change of one kernel source file: `from` must occur, and its
/// occurrence number `occurrence` (0: all) becomes `to`.
struct Mutation {
  std::string file; ///< relative to kernels/gfx950
  std::string from, to;
  unsigned occurrence = 1;
};

/// How to run.
struct RunOptions {
  unsigned checks = netra::sim::CheckAll;
  netra::sim::WorkgroupOrder order = netra::sim::WorkgroupOrder::Forward;
  netra::sim::Schedule schedule = netra::sim::Schedule::RoundRobin;
  netra::sim::MfmaModel mfma = netra::sim::MfmaModel::Cdna3;
  bool counters = false;
  uint64_t seed = 7;
  unsigned threads = 0;
  uint64_t instructionLimit = uint64_t(1) << 32;
  uint64_t patience = netra::sim::DeviceOptions().patience;
  bool stopAtFinding = false;
  netra::sim::StepObserver *observer = nullptr;
  /// Inputs of which only pieces are given: role → offset → bytes. The rest has
  /// never been written, and takes no memory.
  std::map<std::string, std::map<uint64_t, Bytes>> pieces = {};
  /// Results that take over the memory of an input: result role → input role.
  std::map<std::string, std::string> inPlace = {};
  /// Where dimensions vary, the serving point of the launch; without one, the
  /// greatest.
  std::optional<std::map<std::string, uint64_t>> point = std::nullopt;
};

/// What came out.
struct Outcome {
  Buffers outputs;
  std::vector<netra::sim::Finding> findings;
  netra::sim::Counters counters;
  uint64_t instructions = 0; ///< executed, by all waves

  bool found(netra::sim::Check check) const;
  std::string findingsText() const;
};

/// A kernel ready to run: the instance and its code object.
struct Kernel {
  netra::Instance instance;
  std::shared_ptr<netra::sim::CodeObject> object;
};

/// The catalogue and the assembler of the source tree, loaded once.
const netra::Catalog &catalog();
const netra::Assembler &assembler();
/// Text of a file below kernels/gfx950; empty when there is none.
std::string kernelSource(const std::string &file);

/// The instance of a tactic for a problem. Options that `options` names are
/// taken from it; the others are the first combination that fits.
llvm::Expected<netra::Instance> instantiate(const std::string &tactic,
                                            const netra::Problem &problem,
                                            const Options &options = {});

/// Instance, assembled; with mutations, the changed files are put inline.
llvm::Expected<Kernel> build(const std::string &tactic,
                             const netra::Problem &problem,
                             const Options &options = {},
                             const std::vector<Mutation> &mutations = {});

/// Runs on fresh device memory. Errors are faults of the run itself.
llvm::Expected<Outcome> run(const Kernel &kernel, const Buffers &inputs,
                            const RunOptions &options = {});

/// Runs with a result in the place of an input of the same type and shape and
/// expects the bits of a run with separate buffers.
void expectSameInPlace(const std::string &tactic, const netra::Problem &problem,
                       const Buffers &inputs, const std::string &result,
                       const std::string &input);

/// build + run three times forward, then in reverse and random order of
/// work-groups and with the other schedules of waves; expects no findings and
/// the same bits every time. Returns the first run with counters.
Outcome runEverywhere(const std::string &tactic, const netra::Problem &problem,
                      const Buffers &inputs, const Options &options = {});

/// build + run, once, of a kernel changed by `mutations`. An error is a failure
/// of the test and gives an outcome without outputs.
Outcome runOnce(const std::string &tactic, const netra::Problem &problem,
                const Buffers &inputs, const RunOptions &options,
                const std::vector<Mutation> &mutations = {});

/// Counters of one run without checkers.
netra::sim::Counters countersOf(const std::string &tactic,
                                const netra::Problem &problem,
                                const Buffers &inputs,
                                const std::vector<Mutation> &mutations = {});

/// Instructions that vectors pass through: arithmetic, memory and LDS.
uint64_t vectorInstructions(const netra::sim::Counters &counters);

/// Problems in the vocabulary of the catalogue.
netra::Problem denseBf16Problem(int64_t m, int64_t n, int64_t k,
                                const std::string &epilogue = "none",
                                bool bias = false, bool residual = false);
netra::Problem denseFp8Problem(int64_t m, int64_t n, int64_t k,
                               const std::string &epilogue = "none",
                               bool bias = false, bool residual = false);
netra::Problem rmsNormProblem(int64_t m, int64_t n, bool residual,
                              bool quantized, double epsilon = 1e-6,
                              double weightOffset = 0);
netra::Problem gatedProblem(int64_t m, int64_t n, const std::string &activation,
                            bool packed, bool quantized,
                            const std::string &activationRounding = "none",
                            bool groupMajor = false, bool rounded = false);
netra::Problem quantizeProblem(int64_t m, int64_t k, bool groupMajor = false);

//===----------------------------------------------------------------------===//
// Inputs: reproducible from a seed
//===----------------------------------------------------------------------===//

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t bits();
  double uniform(); ///< [0, 1)
  double normal();  ///< mean 0, deviation 1, within +-6
  std::vector<uint16_t> bf16(size_t count, double deviation = 1);
  std::vector<uint8_t> fp8(size_t count, double deviation = 1);
  std::vector<float> positive(size_t count, double low, double high);

private:
  uint64_t state;
};

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_KERNELHARNESS_H
