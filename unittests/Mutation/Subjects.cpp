//===- Subjects.cpp - What the mutation tests run ------------------------===//
// SPDX-License-Identifier: MIT

#include "Subjects.h"
#include "DenseCases.h"
#include "KernelHarness.h"
#include "LayoutProblems.h"
#include "MoeCases.h"
#include "NormProblems.h"
#include "Programs.h"
#include "RouterProblems.h"
#include "VocabularyProblems.h"

using namespace llvm;

namespace netra::mutation {

std::vector<SubjectMaker> programSubjects() {
  std::vector<SubjectMaker> all;
  for (const sim::test::Theme &theme : sim::test::themes())
    for (const sim::test::Program &program : theme.programs)
      all.push_back(
          {program.name, [&theme, &program] {
             Subject subject;
             subject.name = program.name;
             subject.isCompiled = true;
             subject.assembly = sim::test::openClAssembly(
                 sim::test::themeSource(theme, {&program}), "-fwrapv -O2");
             auto launch =
                 std::make_shared<sim::test::ProgramCase>(program.make());
             subject.dynamicLds = launch->dynamicLds;
             subject.run = [launch, name = program.name](
                               const std::shared_ptr<sim::CodeObject> &object,
                               const Way &way) {
               sim::LaunchParams base;
               base.observer = way.observer;
               sim::test::ProgramRun done = sim::test::runProgram(
                   object, name, *launch, way.options, base);
               return RunOutcome{std::move(done.error),
                                 std::move(done.findings),
                                 std::move(done.outputs), done.instructions};
             };
             return subject;
           }});
  return all;
}

namespace {
/// A tactic, a small problem, and inputs with a seed of their own.
struct TacticCase {
  std::string tactic;
  Problem problem;
  std::string size = {}; ///< what a further instance of the tactic is called by
  /// Of the grouped down projection: for each wave, how many rows have the
  /// experts that it takes; see routedTo.
  std::vector<std::vector<unsigned>> units = {};

  std::string name() const { return size.empty() ? tactic : tactic + size; }
};
} // namespace

static kernels::Buffers randomInputs(const Problem &problem) {
  kernels::Random random(20);
  kernels::Buffers inputs;
  for (const OperandSpec &operand : problem.operands) {
    size_t count = 1;
    for (int64_t extent : operand.shape)
      count *= size_t(extent);
    StringRef role = operand.role;
    if (role.starts_with("result") || role == "sum" || role == "rounded" ||
        role == "value" ||
        (problem.family == "router" && role.starts_with("expert_")))
      continue;
    // Rows that ask for the first few, for a part of the weight, and for all.
    if (operand.role == "top_k" || operand.role == "top_p") {
      std::vector<int32_t> few(count);
      std::vector<float> part(count, 2);
      for (size_t row = 0; row < count; ++row) {
        few[row] = row % 3 == 0 ? 40 : 0;
        part[row] = row % 3 == 2 ? 2 : 0.5f;
      }
      inputs[operand.role] = operand.role == "top_k" ? kernels::toBytes(few)
                                                     : kernels::toBytes(part);
      continue;
    }
    switch (operand.type) {
    case ElementType::BF16:
      inputs[operand.role] = kernels::toBytes(random.bf16(count));
      break;
    case ElementType::F8E4M3FN:
      inputs[operand.role] = random.fp8(count);
      break;
    case ElementType::I32: {
      // Ids of experts, and one that is none.
      auto experts = problem.dimensions.find("E");
      uint64_t ids =
          experts == problem.dimensions.end() ? 4 : experts->second + 1;
      std::vector<int32_t> values(count);
      for (int32_t &value : values)
        value = int32_t(random.bits() % ids);
      inputs[operand.role] = kernels::toBytes(values);
      break;
    }
    case ElementType::I64: {
      std::vector<int64_t> values(count);
      for (int64_t &value : values)
        value = int64_t(random.bits());
      inputs[operand.role] = kernels::toBytes(values);
      break;
    }
    default:
      inputs[operand.role] = kernels::toBytes(random.positive(count, 1, 2));
      break;
    }
  }
  return inputs;
}

/// Ids of experts with which the first waves of a grouped down projection take
/// units of so many rows: a row (token and slot) of the wave is the first of
/// each, others are rows behind that which are no unit's first. Rows that are
/// left have no expert.
static kernels::Bytes routedTo(const std::vector<std::vector<unsigned>> &units,
                               const Problem &problem) {
  constexpr size_t waves = 8;
  const size_t rows = problem.dimensions.at("M") * problem.dimensions.at("S");
  const auto none = int32_t(problem.dimensions.at("E"));
  std::vector<std::vector<size_t>> own(waves);
  for (size_t row = 0; row < rows; ++row)
    own[(row % 64 + rows * waves - row / 64 * 5) % waves].push_back(row);
  std::vector<int32_t> ids(rows, none);
  int32_t id = 0;
  for (size_t wave = 0; wave < units.size(); ++wave)
    for (size_t i = 0; i < units[wave].size(); ++i)
      ids.at(own[wave].at(i)) = id++;
  for (size_t wave = 0; wave < units.size(); ++wave)
    for (size_t i = 0; i < units[wave].size(); ++i) {
      size_t row = own[wave][i];
      id = ids[row];
      for (unsigned more = units[wave][i] - 1; more != 0; --more) {
        while (ids.at(row) != none)
          ++row;
        ids[row] = id;
      }
    }
  return kernels::toBytes(ids);
}

static Problem layerNorm(const kernels::NormForm &form) {
  Problem problem = kernels::withForm(
      kernels::rmsNormProblem(2, 1280, form.residual, form.quantized), form);
  problem.operation = "layer_norm";
  return problem;
}

std::vector<SubjectMaker> projectSubjects() {
  const std::vector<TacticCase> cases = {
      {"gfx950.dense_bf16_m1",
       kernels::denseBf16Problem(1, 32, 1024, "gated_silu", true)},
      {"gfx950.dense_bf16_m1_plain", kernels::denseBf16Problem(1, 16, 512)},
      {"gfx950.dense_bf16_m32",
       kernels::denseBf16Problem(5, 32, 1024, "gated_gelu_tanh", true, true)},
      {"gfx950.dense_bf16_m32_plain", kernels::denseBf16Problem(2, 16, 512)},
      {"gfx950.dense_fp8_block128_m16",
       kernels::denseFp8Problem(5, 32, 1792, "silu", true, true)},
      {"gfx950.dense_fp8_block128_m32",
       kernels::denseFp8Problem(18, 16, 1792, "sigmoid", true, true)},
      {"gfx950.dense_fp8_block128_m16_group_major",
       kernels::DenseCase{.m = 5, .n = 32, .k = 1792, .groupMajor = true}
           .fp8Problem()},
      {"gfx950.dense_fp8_block128_m32_group_major",
       kernels::DenseCase{.m = 18, .n = 16, .k = 1792, .groupMajor = true}
           .fp8Problem()},
      // Results, residuals and biases of f32.
      {"gfx950.dense_bf16_m1",
       kernels::DenseCase{.m = 1,
                          .n = 32,
                          .k = 1024,
                          .epilogue = "gated_silu",
                          .bias = true,
                          .residual = true,
                          .biasF32 = true}
           .bf16Problem(),
       " (f32 bias)"},
      {"gfx950.dense_bf16_m1",
       kernels::DenseCase{.m = 1,
                          .n = 32,
                          .k = 1024,
                          .bias = true,
                          .residual = true,
                          .resultF32 = true}
           .bf16Problem(),
       " (f32)"},
      {"gfx950.dense_bf16_m32",
       kernels::DenseCase{.m = 18,
                          .n = 32,
                          .k = 1024,
                          .epilogue = "gated_silu",
                          .bias = true,
                          .residual = true,
                          .resultF32 = true}
           .bf16Problem(),
       " (f32)"},
      {"gfx950.dense_fp8_block128_m16",
       kernels::DenseCase{.m = 5,
                          .n = 32,
                          .k = 1792,
                          .bias = true,
                          .residual = true,
                          .resultF32 = true}
           .fp8Problem(),
       " (f32)"},
      // Tiles of eight weight rows, and gate and up rows in one tile of FP8.
      {"gfx950.dense_bf16_m32",
       kernels::denseBf16Problem(11, 16, 12800, "silu", true, true),
       " (eight rows)"},
      {"gfx950.dense_bf16_m32",
       kernels::denseBf16Problem(16, 16, 9600, "gated_silu", true, true),
       " (eight rows, gated)"},
      {"gfx950.dense_fp8_block128_m16",
       kernels::denseFp8Problem(5, 64, 1792, "gated_silu", true, true),
       " (gated)"},
      {"gfx950.dense_fp8_block128_m16_group_major",
       kernels::DenseCase{.m = 5,
                          .n = 64,
                          .k = 1792,
                          .epilogue = "gated_gelu_tanh",
                          .groupMajor = true}
           .fp8Problem(),
       " (gated)"},
      {"gfx950.dense_fp8_block128_plain", kernels::denseFp8Problem(2, 16, 256)},
      {"gfx950.gated_bf16",
       kernels::gatedProblem(2, 640, "silu", false, false)},
      {"gfx950.gated_bf16_quantized",
       kernels::gatedProblem(2, 640, "gelu_erf", false, true)},
      {"gfx950.gated_bf16_packed",
       kernels::gatedProblem(2, 640, "gelu_tanh", true, false)},
      {"gfx950.gated_bf16_packed_quantized",
       kernels::gatedProblem(2, 640, "silu", true, true)},
      {"gfx950.gated_bf16_packed_quantized_group_major",
       kernels::gatedProblem(2, 640, "silu", true, true, "bf16", true, true)},
      {"gfx950.gated_bf16_quantized_group_major",
       kernels::gatedProblem(2, 640, "gelu_erf", false, true, "none", true)},
      {"gfx950.silu_mul_group_quant_n17408_store_bf16",
       kernels::gatedProblem(1, 17408, "silu", true, true, "bf16", true, true)},
      {"gfx950.silu_mul_group_quant_n17408_prequant_only",
       kernels::gatedProblem(1, 17408, "silu", true, true, "bf16", true)},
      {"gfx950.argmax", kernels::argmaxProblem(2, 8200, false)},
      {"gfx950.embedding_bf16", kernels::embeddingProblem(3, 3, 640, 2)},
      {"gfx950.sample", kernels::sampleProblem(3, 1032, false)},
      {"gfx950.layout_convert_f32_transpose",
       kernels::convertProblem({2, 70, 40}, "row_major", "group_major")},
      {"gfx950.layout_convert_f32_restore",
       kernels::convertProblem({2, 70, 40}, "group_major", "row_major")},
      {"gfx950.moe_activation",
       kernels::moeActivationProblem(1, 2, 640, "silu")},
      {"gfx950.moe_activation",
       kernels::moeActivationProblem(1, 1, 384, "gelu_erf"), " (gelu)"},
      {"gfx950.moe_activation_group_major",
       kernels::moeActivationProblem(2, 2, 640, "silu", true)},
      {"gfx950.moe_down_reduce",
       kernels::downReduceProblem({2, 3, 3, 128, 512, "none", false, true})},
      {"gfx950.moe_down_reduce_bf16",
       kernels::downReduceProblem({2, 3, 3, 128, 512, "none", true})},
      {"gfx950.moe_down_reduce_bf16_plain",
       kernels::downReduceProblem({1, 3, 2, 128, 256, "none", true})},
      {"gfx950.moe_down_reduce_group_major",
       kernels::downReduceProblem(
           {2, 3, 3, 128, 384, "none", false, false, true})},
      // A round with as many units as registers have places, and in each pass
      // every unit that can have rows there.
      {"gfx950.moe_down_reduce_grouped_group_major",
       kernels::downReduceProblem(
           {6, 20, 3, 128, 384, "none", false, false, true}),
       "",
       {{2, 1, 1}, {3, 3, 1}, {2}, {1}}},
      {"gfx950.moe_down_reduce_grouped",
       kernels::downReduceProblem({6, 20, 3, 128, 256, "none", false, true}),
       "",
       {{2, 1, 1}, {3, 3, 1}, {2}, {1}}},
      {"gfx950.moe_down_reduce_grouped_bf16",
       kernels::downReduceProblem({16, 6, 1, 128, 128, "none", true, true}),
       "",
       {{9, 1}, {1, 1}}},
      // Waves with several experts, and several waves that scale.
      {"gfx950.moe_down_reduce_grouped",
       kernels::downReduceProblem({12, 40, 4, 128, 256, "none", false, true}),
       " (40 experts)",
       {{1, 1, 1, 1, 1, 1}, {8, 1, 1, 1, 1, 1}, {12, 5, 1, 1, 1, 1}}},
      {"gfx950.moe_down_reduce_grouped_bf16",
       kernels::downReduceProblem({12, 50, 8, 128, 256, "none", true, true}),
       " (50 experts)",
       {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
        {8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
        {12, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
        {12, 12, 1, 1, 1, 1, 1, 1, 1, 1}}},
      {"gfx950.moe_down_reduce_plain",
       kernels::downReduceProblem({1, 3, 2, 128, 256})},
      {"gfx950.moe_gate_up", kernels::gateUpProblem({1, 2, 4, 128, 768})},
      {"gfx950.moe_gate_up_activated",
       kernels::gateUpProblem({1, 2, 4, 256, 768, "silu"})},
      {"gfx950.moe_gate_up_activated_group_major",
       kernels::gateUpProblem({2, 2, 3, 256, 384, "silu", false, false, true})},
      {"gfx950.moe_gate_up_group_major",
       kernels::gateUpProblem({2, 3, 2, 128, 384, "none", false, false, true})},
      {"gfx950.moe_gate_up_grouped_activated_group_major",
       kernels::gateUpProblem({6, 3, 3, 256, 384, "silu", false, false, true})},
      {"gfx950.moe_gate_up_grouped_group_major",
       kernels::gateUpProblem({6, 4, 3, 128, 384, "none", false, false, true})},
      {"gfx950.moe_gate_up_grouped",
       kernels::gateUpProblem({6, 4, 3, 128, 384})},
      {"gfx950.moe_gate_up_grouped_activated",
       kernels::gateUpProblem({6, 3, 3, 256, 384, "silu"})},
      {"gfx950.moe_gate_up_plain", kernels::gateUpProblem({1, 3, 2, 128, 256})},
      {"gfx950.quantize_blocks_bf16", kernels::quantizeProblem(2, 640)},
      {"gfx950.quantize_blocks_bf16_group_major",
       kernels::quantizeProblem(2, 640, true)},
      {"gfx950.rms_norm_bf16", kernels::rmsNormProblem(2, 1280, true, false)},
      {"gfx950.rms_norm_bf16_quantized",
       kernels::rmsNormProblem(2, 1280, true, true)},
      {"gfx950.rms_norm_bf16_quantized_group_major",
       kernels::withForm(
           kernels::rmsNormProblem(2, 1280, true, true),
           {.weightF32 = true, .rounded = true, .groupMajor = true})},
      {"gfx950.add_rms_norm_group_quant_n5120",
       kernels::withForm(kernels::rmsNormProblem(2, 5120, true, true, 1e-6, 1),
                         {.rounded = true, .groupMajor = true})},
      {"gfx950.layer_norm_bf16", layerNorm({.residual = true, .bias = true})},
      {"gfx950.layer_norm_bf16_quantized", layerNorm({.quantized = true})},
      {"gfx950.layer_norm_bf16_quantized_group_major",
       layerNorm({.quantized = true, .groupMajor = true})},
      {"gfx950.gated_rms_norm_bf16",
       kernels::gatedRmsNormProblem(2, 3, 128, {})},
      {"gfx950.gated_rms_norm_bf16_quantized",
       kernels::gatedRmsNormProblem(2, 3, 128, {.quantized = true})},
      {"gfx950.gated_rms_norm_bf16_quantized_group_major",
       kernels::gatedRmsNormProblem(
           2, 3, 128,
           {.quantized = true, .rounded = true, .groupMajor = true})},
      {"gfx950.gated_rms_norm_rows_bf16",
       kernels::gatedRmsNormProblem(2, 2, 1280, {.weightF32 = true}, 1)},
      {"gfx950.gated_rms_norm_rows_bf16_quantized",
       kernels::gatedRmsNormProblem(2, 2, 1280, {.quantized = true})},
      {"gfx950.gated_rms_norm_rows_bf16_quantized_group_major",
       kernels::gatedRmsNormProblem(
           2, 2, 1280,
           {.quantized = true, .rounded = true, .groupMajor = true})},
      {"gfx950.gated_rms_norm_group_quant_d128",
       kernels::gatedRmsNormProblem(
           1, 48, 128,
           {.quantized = true, .rounded = true, .groupMajor = true})},
      {"gfx950.router_projection", kernels::denseBf16Problem(2, 4, 512)},
      {"gfx950.route_logits", kernels::RouteSpec{.m = 2,
                                                 .experts = 60,
                                                 .topK = 2,
                                                 .k = 512,
                                                 .groups = 4,
                                                 .topGroups = 2,
                                                 .sigmoid = true,
                                                 .bias = true,
                                                 .shared = "sigmoid"}
                                  .problem()},
      {"gfx950.route_projected", kernels::RouteSpec{.m = 1,
                                                    .experts = 60,
                                                    .topK = 2,
                                                    .k = 512,
                                                    .shared = "sigmoid",
                                                    .projected = true}
                                     .problem()},
      // Which of their code runs depends on how many experts there are.
      {"gfx950.router_projection", kernels::denseBf16Problem(2, 256, 2048),
       " (256 experts)"},
      {"gfx950.route_logits",
       kernels::RouteSpec{.m = 2,
                          .k = 2048,
                          .groups = 8,
                          .topGroups = 4,
                          .sigmoid = true,
                          .bias = true,
                          .shared = "sigmoid"}
           .problem(),
       " (256 experts in groups)"},
      {"gfx950.route_logits",
       kernels::RouteSpec{
           .m = 2, .experts = 60, .topK = 2, .groups = 4, .topGroups = 2}
           .problem(),
       " (softmax in groups)"},
      {"gfx950.route_logits",
       kernels::RouteSpec{.m = 2, .k = 2048, .shared = "sigmoid"}.problem(),
       " (256 experts)"},
      {"gfx950.route_projected",
       kernels::RouteSpec{
           .m = 1, .k = 2048, .shared = "sigmoid", .projected = true}
           .problem(),
       " (256 experts)"}};
  std::vector<SubjectMaker> all;
  for (const TacticCase &c : cases)
    all.push_back(
        {c.name(),
         [c] {
           Subject subject;
           subject.name = c.name();
           Expected<Instance> instance =
               kernels::instantiate(c.tactic, c.problem);
           if (!instance) {
             ADD_FAILURE() << toString(instance.takeError());
             return subject;
           }
           subject.assembly = sim::test::expandAssembly(
               kernels::assembler().instanceSource(*instance),
               std::string(NETRA_TEST_SOURCE_DIR) + "/kernels/gfx950");
           const Contract &contract = instance->contract;
           subject.dynamicLds = unsigned(contract.dynamicLds);
           auto shared = std::make_shared<Instance>(std::move(*instance));
           auto inputs =
               std::make_shared<kernels::Buffers>(randomInputs(c.problem));
           if (!c.units.empty())
             (*inputs)["expert_ids"] = routedTo(c.units, c.problem);
           subject.run =
               [shared, inputs](const std::shared_ptr<sim::CodeObject> &object,
                                const Way &way) {
                 kernels::RunOptions options;
                 options.checks = way.options.checks;
                 options.order = way.options.order;
                 options.schedule = way.options.schedule;
                 options.seed = way.options.seed;
                 options.threads = way.options.threads;
                 options.counters = way.options.counters;
                 options.instructionLimit = way.options.instructionLimit;
                 options.patience = way.options.patience;
                 options.stopAtFinding = way.options.stopAtFinding;
                 options.observer = way.observer;
                 auto done = kernels::run({*shared, object}, *inputs, options);
                 RunOutcome outcome;
                 if (!done) {
                   outcome.error = toString(done.takeError());
                   return outcome;
                 }
                 outcome.findings = std::move(done->findings);
                 outcome.instructions = done->instructions;
                 for (auto &[role, bytes] : done->outputs)
                   outcome.outputs.push_back(std::move(bytes));
                 return outcome;
               };
           return subject;
         },
         !c.units.empty()});
  return all;
}

} // namespace netra::mutation
