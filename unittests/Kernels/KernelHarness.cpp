//===- KernelHarness.cpp - Runs tactics on the simulator ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

#include "EvidenceLog.h"
#include "OracleFormats.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace netra;

namespace kernels {

static const char *const libraryRoot = NETRA_TEST_SOURCE_DIR;

const Catalog &catalog() {
  static const Catalog loaded = [] {
    Expected<Catalog> result = Catalog::load(libraryRoot, "gfx950");
    if (!result)
      report_fatal_error(result.takeError());
    return std::move(*result);
  }();
  return loaded;
}

const Assembler &assembler() {
  static const Assembler created = [] {
    Expected<Assembler> result = Assembler::create(libraryRoot, "gfx950");
    if (!result)
      report_fatal_error(result.takeError());
    return std::move(*result);
  }();
  return created;
}

std::string kernelSource(const std::string &file) {
  auto buffer = MemoryBuffer::getFile(std::string(libraryRoot) +
                                      "/kernels/gfx950/" + file);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

bool Outcome::found(sim::Check check) const {
  return any_of(findings, [&](const sim::Finding &finding) {
    return finding.check == check;
  });
}

std::string Outcome::findingsText() const {
  std::string text;
  for (const sim::Finding &finding : findings)
    text += finding.str() + "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

Expected<Instance> instantiate(const std::string &tactic,
                               const Problem &problem, const Options &options) {
  const Tactic *found = catalog().findTactic(tactic);
  if (!found)
    return createStringError("no tactic " + tactic);
  if (options.empty()) {
    Candidate candidate =
        matchTactic(*found, problem, {.allowExperimental = true});
    if (candidate.matches())
      return std::move(candidate.instance);
    std::string text = tactic;
    for (const Mismatch &mismatch : candidate.mismatches)
      text += "; " + mismatch.str();
    return createStringError(text);
  }
  // Walk the combinations that agree with `options`, in manifest order.
  std::vector<size_t> choice(found->options.size(), 0);
  std::string last = "no combination of options";
  while (true) {
    Options combination;
    bool agrees = true;
    for (size_t i = 0; i != choice.size(); ++i) {
      const auto &[name, values] = found->options[i];
      combination[name] = values[choice[i]];
      auto fixed = options.find(name);
      agrees &= fixed == options.end() || fixed->second == values[choice[i]];
    }
    if (agrees) {
      Expected<Instance> instance =
          netra::instantiate(*found, problem, combination);
      if (instance)
        return instance;
      last = toString(instance.takeError());
    }
    size_t i = choice.size();
    while (i != 0 && ++choice[i - 1] == found->options[i - 1].second.size())
      choice[--i] = 0;
    if (i == 0)
      return createStringError(tactic + ": " + last);
  }
}

/// Replaces occurrence number `occurrence` (from 1; 0: all) of `from`.
static Error replace(std::string &text, const Mutation &mutation) {
  unsigned seen = 0;
  for (size_t at = text.find(mutation.from); at != std::string::npos;
       at = text.find(mutation.from, at)) {
    ++seen;
    if (mutation.occurrence == 0 || mutation.occurrence == seen) {
      text.replace(at, mutation.from.size(), mutation.to);
      at += mutation.to.size();
      if (mutation.occurrence == seen)
        return Error::success();
    } else {
      at += mutation.from.size();
    }
  }
  if (mutation.occurrence == 0 && seen)
    return Error::success();
  return createStringError("\"" + mutation.from + "\" is not in " +
                           mutation.file);
}

/// Puts the changed text of each mutated file in the place of its first
/// .include; later includes of the same file meet its include guard.
static Expected<std::string> mutate(std::string source,
                                    const std::vector<Mutation> &mutations) {
  std::map<std::string, std::string> changed;
  std::vector<std::string> order;
  for (const Mutation &mutation : mutations) {
    auto [at, inserted] =
        changed.try_emplace(mutation.file, kernelSource(mutation.file));
    if (inserted)
      order.push_back(mutation.file);
    if (Error error = replace(at->second, mutation))
      return error;
  }
  // The template comes first: it includes the others.
  llvm::sort(order, [](const std::string &a, const std::string &b) {
    bool first = StringRef(a).ends_with(".s");
    bool second = StringRef(b).ends_with(".s");
    return first != second ? first : a < b;
  });
  for (const std::string &file : order) {
    std::string include = ".include \"" + file + "\"";
    size_t at = source.find(include);
    if (at == std::string::npos) {
      // Included by the template: put the changed file before everything.
      size_t line = source.find(".include ");
      source.insert(line, changed[file] + "\n");
    } else {
      source.replace(at, include.size(), changed[file] + "\n");
    }
  }
  return source;
}

Expected<Kernel> build(const std::string &tactic, const Problem &problem,
                       const Options &options,
                       const std::vector<Mutation> &mutations) {
  // Whoever builds a wrong kernel takes an error for its being noticed. That it
  // was never made is a fault of the test.
  auto unmade = [&](Error error) {
    std::string text = toString(std::move(error));
    if (!mutations.empty())
      ADD_FAILURE() << tactic << " was not changed: " << text;
    return createStringError(text);
  };
  Expected<Instance> instance = instantiate(tactic, problem, options);
  if (!instance)
    return unmade(instance.takeError());
  Kernel kernel;
  kernel.instance = std::move(*instance);
  Expected<AssembledKernel> assembled = [&]() -> Expected<AssembledKernel> {
    if (mutations.empty())
      return assembler().assemble(kernel.instance);
    Expected<std::string> source =
        mutate(assembler().instanceSource(kernel.instance), mutations);
    if (!source)
      return unmade(source.takeError());
    return assembler().assembleSource(*source, "mutated.s");
  }();
  if (!assembled)
    return unmade(assembled.takeError());
  Expected<std::shared_ptr<sim::CodeObject>> object =
      sim::CodeObject::load(assembled->object.bytes);
  if (!object)
    return unmade(object.takeError());
  kernel.object = *object;
  if (EvidenceLog *log = EvidenceLog::get(); log && mutations.empty())
    log->built(kernel, assembled->object);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Expected<Outcome> run(const Kernel &kernel, const Buffers &inputs,
                      const RunOptions &options) {
  sim::DeviceOptions deviceOptions;
  deviceOptions.checks = options.checks;
  deviceOptions.mfma = options.mfma;
  deviceOptions.schedule = options.schedule;
  deviceOptions.order = options.order;
  deviceOptions.counters = options.counters;
  deviceOptions.seed = options.seed;
  deviceOptions.threads = options.threads;
  deviceOptions.instructionLimit = options.instructionLimit;
  deviceOptions.patience = options.patience;
  deviceOptions.stopAtFinding = options.stopAtFinding;
  sim::Device device(deviceOptions);

  const Contract &contract = kernel.instance.contract;
  // One point is a box whose ends meet.
  GuardBox point;
  for (const auto &[name, range] : contract.problem.guards) {
    uint64_t value = options.point ? options.point->at(name) : range.max;
    point[name] = {value, value};
  }
  std::map<std::string, uint64_t> addresses, sizes;
  std::vector<uint8_t> kernarg(contract.kernargBytes, 0);
  for (const Argument &argument : contract.arguments) {
    uint64_t bits =
        argument.follows ? *argument.follows->leastOver(point) : argument.bits;
    if (argument.kind == ArgumentKind::Pointer) {
      auto taken = options.inPlace.find(argument.role);
      if (taken != options.inPlace.end()) {
        // Inputs precede results in every argument list.
        if (!addresses.count(taken->second))
          return createStringError("no argument " + taken->second + " before " +
                                   argument.role);
        addresses[argument.role] = addresses[taken->second];
        sizes[argument.role] = sizes[taken->second];
      }
      if (!addresses.count(argument.role)) {
        const OperandSpec *operand = contract.problem.find(argument.role);
        if (!operand)
          return createStringError("no operand " + argument.role);
        uint64_t bytes = elementBytes(operand->type);
        for (int64_t extent : operand->shape)
          bytes *= extent;
        Expected<uint64_t> address = device.allocate(bytes, argument.role);
        if (!address)
          return address.takeError();
        addresses[argument.role] = *address;
        sizes[argument.role] = bytes;
        auto input = inputs.find(argument.role);
        if (input != inputs.end()) {
          if (input->second.size() != bytes)
            return createStringError("input " + argument.role +
                                     " has the wrong size");
          if (Error error =
                  device.copyIn(*address, input->second.data(), bytes))
            return error;
        } else if (auto given = options.pieces.find(argument.role);
                   given != options.pieces.end()) {
          for (const auto &[offset, piece] : given->second)
            if (Error error = device.copyIn(*address + offset, piece.data(),
                                            piece.size()))
              return error;
        } else if (argument.access != Access::Write) {
          return createStringError("no input for " + argument.role);
        } else {
          std::memset(device.hostPointer(*address, bytes), 0xff, bytes);
        }
      }
      bits = addresses[argument.role] + argument.operandOffset;
    }
    std::memcpy(kernarg.data() + argument.offset, &bits, argument.bytes);
  }

  sim::LaunchParams params;
  for (size_t i = 0; i != 3; ++i)
    params.grid[i] = uint32_t(*contract.grid[i].leastOver(point));
  params.block = contract.block;
  params.dynamicLds = static_cast<uint32_t>(contract.dynamicLds);
  params.kernarg = kernarg;
  params.observer = options.observer;
  if (kernel.object->kernels().size() != 1)
    return createStringError("the code object must hold one kernel");
  Expected<sim::LaunchResult> result =
      device.launch(kernel.object, kernel.object->kernels()[0], params);
  if (!result)
    return result.takeError();
  if (EvidenceLog *log = EvidenceLog::get(); log && options.checks != 0)
    log->ran(kernel);

  Outcome done;
  done.findings = std::move(result->findings);
  done.instructions = result->instructions;
  if (result->counters)
    done.counters = std::move(*result->counters);
  for (const Argument &argument : contract.arguments)
    if (argument.access == Access::Write) {
      Bytes &bytes = done.outputs[argument.role];
      bytes.resize(sizes[argument.role]);
      if (Error error = device.copyOut(bytes.data(), addresses[argument.role],
                                       bytes.size()))
        return error;
    }
  return done;
}

void expectSameInPlace(const std::string &tactic, const Problem &problem,
                       const Buffers &inputs, const std::string &result,
                       const std::string &input) {
  Expected<Kernel> kernel = build(tactic, problem);
  if (!kernel) {
    ADD_FAILURE() << toString(kernel.takeError());
    return;
  }
  Expected<Outcome> apart = run(*kernel, inputs);
  RunOptions options;
  options.inPlace[result] = input;
  Expected<Outcome> together = run(*kernel, inputs, options);
  if (!apart || !together) {
    ADD_FAILURE() << toString(apart.takeError())
                  << toString(together.takeError());
    return;
  }
  EXPECT_TRUE(together->findings.empty()) << together->findingsText();
  EXPECT_TRUE(apart->outputs == together->outputs)
      << tactic << ": " << result << " in the place of " << input;
}

Outcome runEverywhere(const std::string &tactic, const Problem &problem,
                      const Buffers &inputs, const Options &options) {
  Expected<Kernel> kernel = build(tactic, problem, options);
  if (!kernel) {
    ADD_FAILURE() << toString(kernel.takeError());
    return {};
  }
  std::vector<RunOptions> ways(5);
  ways[0].counters = true;
  ways[1].checks = 0;
  ways[2].order = sim::WorkgroupOrder::Reverse;
  ways[2].schedule = sim::Schedule::ToBarrier;
  ways[3].order = sim::WorkgroupOrder::Random;
  ways[3].schedule = sim::Schedule::Random;
  Outcome first;
  for (size_t i = 0; i != ways.size(); ++i) {
    Expected<Outcome> once = run(*kernel, inputs, ways[i]);
    if (!once) {
      ADD_FAILURE() << toString(once.takeError());
      return {};
    }
    EXPECT_TRUE(once->findings.empty()) << once->findingsText();
    if (i == 0)
      first = std::move(*once);
    else
      EXPECT_EQ(first.outputs == once->outputs, true)
          << kernel->instance.symbol << ": run " << i << " differs from run 0";
  }
  return first;
}

Outcome runOnce(const std::string &tactic, const Problem &problem,
                const Buffers &inputs, const RunOptions &options,
                const std::vector<Mutation> &mutations) {
  Expected<Kernel> kernel = build(tactic, problem, {}, mutations);
  if (!kernel) {
    ADD_FAILURE() << tactic << ": " << toString(kernel.takeError());
    return {};
  }
  Expected<Outcome> once = run(*kernel, inputs, options);
  if (!once) {
    ADD_FAILURE() << tactic << ": " << toString(once.takeError());
    return {};
  }
  return std::move(*once);
}

sim::Counters countersOf(const std::string &tactic, const Problem &problem,
                         const Buffers &inputs,
                         const std::vector<Mutation> &mutations) {
  RunOptions options;
  options.checks = 0;
  options.counters = true;
  return runOnce(tactic, problem, inputs, options, mutations).counters;
}

uint64_t vectorInstructions(const sim::Counters &counters) {
  uint64_t sum = 0;
  for (const auto &[name, count] : counters.byMnemonic)
    for (const char *prefix : {"v_", "global_", "buffer_", "ds_"})
      if (StringRef(name).starts_with(prefix))
        sum += count;
  return sum;
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

static Problem denseProblem(int64_t m, int64_t n, const std::string &epilogue,
                            bool bias, bool residual) {
  Problem problem;
  problem.family = problem.operation = "dense";
  int64_t width = StringRef(epilogue).starts_with("gated_") ? n / 2 : n;
  if (bias)
    problem.operands.push_back({"bias", ElementType::BF16, {n}});
  if (residual)
    problem.operands.push_back({"residual", ElementType::BF16, {m, width}});
  problem.operands.push_back({"result", ElementType::BF16, {m, width}});
  problem.attributes["epilogue"] = epilogue;
  problem.attributes["accumulation"] = std::string("f32");
  return problem;
}

Problem denseBf16Problem(int64_t m, int64_t n, int64_t k,
                         const std::string &epilogue, bool bias,
                         bool residual) {
  Problem problem = denseProblem(m, n, epilogue, bias, residual);
  problem.dimensions = {{"M", m}, {"N", n}, {"K", k}};
  problem.operands.push_back({"x", ElementType::BF16, {m, k}});
  problem.operands.push_back({"weight", ElementType::BF16, {n, k}});
  return problem;
}

Problem denseFp8Problem(int64_t m, int64_t n, int64_t k,
                        const std::string &epilogue, bool bias, bool residual) {
  Problem problem = denseProblem(m, n, epilogue, bias, residual);
  problem.dimensions = {{"M", m}, {"N", n}, {"K", k}};
  problem.operands.push_back({"x", ElementType::F8E4M3FN, {m, k}});
  problem.operands.push_back(
      {"weight", ElementType::F8E4M3FN, {n, k}, "n16k16"});
  problem.operands.push_back({"x_scale", ElementType::F32, {m, k / 128}});
  problem.operands.push_back(
      {"weight_scale", ElementType::F32, {(n + 127) / 128, k / 128}});
  problem.attributes["x_block_scale"] = std::string("1x128:f32");
  problem.attributes["weight_block_scale"] = std::string("128x128:f32");
  return problem;
}

Problem rmsNormProblem(int64_t m, int64_t n, bool residual, bool quantized,
                       double epsilon, double weightOffset) {
  Problem problem;
  problem.family = "norm";
  problem.operation = "rms_norm";
  problem.dimensions = {{"M", m}, {"N", n}};
  problem.operands.push_back({"x", ElementType::BF16, {m, n}});
  problem.operands.push_back({"weight", ElementType::BF16, {n}});
  if (residual) {
    problem.operands.push_back({"residual", ElementType::BF16, {m, n}});
    problem.operands.push_back({"sum", ElementType::BF16, {m, n}});
  }
  problem.operands.push_back(
      {"result",
       quantized ? ElementType::F8E4M3FN : ElementType::BF16,
       {m, n}});
  if (quantized)
    problem.operands.push_back(
        {"result_scale", ElementType::F32, {m, n / 128}});
  if (quantized)
    problem.attributes["result_block_scale"] = std::string("1x128:f32");
  problem.attributes["epsilon"] = epsilon;
  problem.attributes["weight_offset"] = weightOffset;
  problem.attributes["accumulation"] = std::string("f32");
  return problem;
}

Problem gatedProblem(int64_t m, int64_t n, const std::string &activation,
                     bool packed, bool quantized,
                     const std::string &activationRounding, bool groupMajor,
                     bool rounded) {
  Problem problem;
  problem.family = "activation";
  problem.operation = "gated";
  problem.dimensions = {{"M", m}, {"N", n}};
  if (packed) {
    problem.operands.push_back({"packed", ElementType::BF16, {m, 2 * n}});
  } else {
    problem.operands.push_back({"gate", ElementType::BF16, {m, n}});
    problem.operands.push_back({"up", ElementType::BF16, {m, n}});
  }
  problem.operands.push_back(
      {"result",
       quantized ? ElementType::F8E4M3FN : ElementType::BF16,
       {m, n}});
  if (quantized)
    problem.operands.push_back({"result_scale",
                                ElementType::F32,
                                {m, n / 128},
                                groupMajor ? "group_major" : "row_major"});
  if (rounded)
    problem.operands.push_back({"rounded", ElementType::BF16, {m, n}});
  if (quantized)
    problem.attributes["result_block_scale"] = std::string("1x128:f32");
  problem.attributes["activation"] = activation;
  problem.attributes["activation_rounding"] = activationRounding;
  return problem;
}

Problem quantizeProblem(int64_t m, int64_t k, bool groupMajor) {
  Problem problem;
  problem.family = "quantize";
  problem.operation = "quantize_blocks";
  problem.dimensions = {{"M", m}, {"K", k}};
  problem.operands.push_back({"x", ElementType::BF16, {m, k}});
  problem.operands.push_back({"result", ElementType::F8E4M3FN, {m, k}});
  problem.operands.push_back({"result_scale",
                              ElementType::F32,
                              {m, k / 128},
                              groupMajor ? "group_major" : "row_major"});
  problem.attributes["result_block_scale"] = std::string("1x128:f32");
  return problem;
}

//===----------------------------------------------------------------------===//
// Random
//===----------------------------------------------------------------------===//

uint64_t Random::bits() {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::normal() {
  double sum = -6;
  for (int i = 0; i < 12; ++i)
    sum += uniform();
  return sum;
}

std::vector<uint16_t> Random::bf16(size_t count, double deviation) {
  std::vector<uint16_t> values(count);
  for (uint16_t &value : values)
    value = oracle::encodeBf16(normal() * deviation);
  return values;
}

std::vector<uint8_t> Random::fp8(size_t count, double deviation) {
  std::vector<uint8_t> values(count);
  for (uint8_t &value : values)
    value = oracle::encodeFp8(normal() * deviation);
  return values;
}

std::vector<float> Random::positive(size_t count, double low, double high) {
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>(low + (high - low) * uniform());
  return values;
}

} // namespace kernels
