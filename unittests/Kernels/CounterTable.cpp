//===- CounterTable.cpp - What each tactic costs, as a table --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Runs an instance of every tactic on the simulator and compares its counters
// with the table of docs/kernels.md, so that a kernel that begins to load more,
// wait more or spill is noticed. With NETRA_UPDATE_COUNTERS=1 the table is
// written instead of compared.
//
//===----------------------------------------------------------------------===//

#include "DenseCases.h"
#include "LayoutProblems.h"
#include "MoeCases.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <set>

using namespace kernels;
using llvm::formatv;
using llvm::StringRef;

namespace {

constexpr StringRef pagePath = NETRA_TEST_SOURCE_DIR "/docs/kernels.md";

/// A row: a tactic and a problem of a model's size, or a slice of it where the
/// whole would take the simulator long.
struct Row {
  std::string tactic;
  netra::Problem problem;
};

/// A problem of a tactic whose open operands all have the shape [M, N], or
/// [M, K] without an N; of several types the first is taken.
Row row(const std::string &name, std::map<std::string, int64_t> dimensions,
        std::map<std::string, netra::AttributeValue> attributes,
        const std::vector<std::string> &optionalRoles = {}) {
  const netra::Tactic *tactic = catalog().findTactic(name);
  if (!tactic) {
    ADD_FAILURE() << "no tactic " << name;
    return {name, {}};
  }
  netra::InstanceSpec spec;
  spec.dimensions = std::move(dimensions);
  spec.attributes = std::move(attributes);
  for (const auto &[role, match] : tactic->operands) {
    if (match.optional && !llvm::is_contained(optionalRoles, role))
      continue;
    netra::InstanceSpec::Operand &operand = spec.operands[role];
    operand.type = match.types.front();
    if (!match.shape)
      operand.shape = {spec.dimensions.at("M"), spec.dimensions.count("N")
                                                    ? spec.dimensions.at("N")
                                                    : spec.dimensions.at("K")};
  }
  llvm::Expected<netra::Instance> instance = netra::instantiate(*tactic, spec);
  if (!instance) {
    ADD_FAILURE() << llvm::toString(instance.takeError());
    return {name, {}};
  }
  return {name, instance->contract.problem};
}

/// Columns of a head.
netra::Problem f32Logits(int64_t m) {
  return DenseCase{.m = m, .n = 8192, .k = 2048, .resultF32 = true}
      .bf16Problem();
}

/// With a residual.
DenseCase added(int64_t m, int64_t n, int64_t k) {
  return {.m = m, .n = n, .k = k, .residual = true};
}

std::vector<Row> makeRows() {
  using Text = std::string;
  using Attributes = std::map<std::string, netra::AttributeValue>;
  const Attributes silu = {{"activation", Text("silu")},
                           {"activation_rounding", Text("none")}};
  const Attributes norm = {{"epsilon", 1e-6}, {"weight_offset", 1.0}};
  Attributes gatedNorm = norm;
  gatedNorm["weight_offset"] = 0.0;
  gatedNorm["activation"] = Text("silu");
  const Attributes routing = {{"scoring", Text("softmax")},
                              {"normalize", Text("sum")},
                              {"shared_expert", Text("sigmoid")},
                              {"routed_scale", 1.0}};
  const std::map<std::string, int64_t> routed = {
      {"M", 1},      {"E", 256},       {"S", 9},   {"TOPK", 8},
      {"GROUPS", 1}, {"TOPGROUPS", 1}, {"K", 2048}};
  std::vector<Row> rows = {
      {"gfx950.dense_bf16_m1", denseBf16Problem(1, 4096, 2048)},
      {"gfx950.dense_bf16_m1", f32Logits(1)},
      {"gfx950.dense_bf16_m1_plain", denseBf16Problem(1, 1024, 2048)},
      {"gfx950.dense_bf16_m32", denseBf16Problem(2, 4096, 2048)},
      {"gfx950.dense_bf16_m32", denseBf16Problem(16, 4096, 2048)},
      {"gfx950.dense_bf16_m32", f32Logits(16)},
      {"gfx950.dense_bf16_m32_plain", denseBf16Problem(2, 128, 2048)},
      {"gfx950.dense_bf16_m32_plain", denseBf16Problem(16, 128, 2048)},
      {"gfx950.dense_fp8_block128_m16", denseFp8Problem(1, 4096, 2048)},
      {"gfx950.dense_fp8_block128_m16", denseFp8Problem(16, 4096, 2048)},
      {"gfx950.dense_fp8_block128_m16",
       denseFp8Problem(1, 4096, 2048, "gated_silu")},
      {"gfx950.dense_fp8_block128_m32", denseFp8Problem(32, 4096, 2048)},
      // Down and out projections, with the residual that follows them.
      {"gfx950.dense_bf16_m1", added(1, 320, 17408).bf16Problem()},
      {"gfx950.dense_bf16_m1", added(1, 2048, 4096).bf16Problem()},
      {"gfx950.dense_bf16_m32", added(16, 320, 17408).bf16Problem()},
      {"gfx950.dense_bf16_m32", added(16, 2048, 4096).bf16Problem()},
      {"gfx950.dense_fp8_block128_m16", added(1, 320, 17408).fp8Problem()},
      {"gfx950.dense_fp8_block128_m16", added(16, 320, 17408).fp8Problem()},
      {"gfx950.dense_fp8_block128_m16", added(16, 2048, 4096).fp8Problem()},
      {"gfx950.dense_fp8_block128_m16_group_major",
       DenseCase{.m = 4, .n = 4096, .k = 2048, .groupMajor = true}
           .fp8Problem()},
      {"gfx950.dense_fp8_block128_m16_group_major",
       DenseCase{.m = 8, .n = 4096, .k = 2048, .groupMajor = true}
           .fp8Problem()},
      {"gfx950.dense_fp8_block128_m16_group_major",
       DenseCase{.m = 16, .n = 4096, .k = 2048, .groupMajor = true}
           .fp8Problem()},
      {"gfx950.dense_fp8_block128_m32_group_major",
       DenseCase{.m = 32, .n = 4096, .k = 2048, .groupMajor = true}
           .fp8Problem()},
      {"gfx950.dense_fp8_block128_plain", denseFp8Problem(16, 1024, 2048)},
      {"gfx950.dense_fp8_block128_plain",
       denseFp8Problem(1, 1024, 2048, "gated_silu")},
      {"gfx950.router_projection", denseBf16Problem(16, 256, 2048)},
      row("gfx950.route_logits", routed, routing, {"x", "shared_gate"}),
      row("gfx950.route_projected", routed, routing, {"shared_gate"}),
      // A real layer has 257 experts; those that nobody asks for cost nothing.
      {"gfx950.moe_gate_up", gateUpProblem({1, 33, 9, 1024, 2048})},
      {"gfx950.moe_gate_up_plain", gateUpProblem({1, 33, 9, 1024, 2048})},
      {"gfx950.moe_gate_up_activated",
       gateUpProblem({1, 33, 9, 1024, 2048, "silu"})},
      {"gfx950.moe_gate_up_grouped", gateUpProblem({8, 33, 9, 1024, 2048})},
      {"gfx950.moe_gate_up_grouped_activated",
       gateUpProblem({8, 33, 9, 1024, 2048, "silu"})},
      {"gfx950.moe_gate_up_group_major",
       gateUpProblem({8, 33, 9, 128, 2048, "none", false, false, true})},
      {"gfx950.moe_gate_up_activated_group_major",
       gateUpProblem({8, 33, 9, 256, 2048, "silu", false, false, true})},
      {"gfx950.moe_gate_up_grouped_group_major",
       gateUpProblem({8, 33, 9, 128, 2048, "none", false, false, true})},
      {"gfx950.moe_gate_up_grouped_activated_group_major",
       gateUpProblem({8, 33, 9, 256, 2048, "silu", false, false, true})},
      {"gfx950.moe_activation", moeActivationProblem(1, 9, 512, "silu")},
      {"gfx950.moe_activation_group_major",
       moeActivationProblem(8, 9, 512, "silu", true)},
      {"gfx950.moe_down_reduce", downReduceProblem({1, 33, 9, 2048, 512})},
      {"gfx950.moe_down_reduce_group_major",
       downReduceProblem({1, 33, 9, 2048, 512, "none", false, false, true})},
      {"gfx950.moe_down_reduce_plain",
       downReduceProblem({1, 33, 9, 2048, 512})},
      {"gfx950.moe_down_reduce_bf16",
       downReduceProblem({1, 33, 9, 2048, 512, "none", true, true})},
      {"gfx950.moe_down_reduce_bf16_plain",
       downReduceProblem({1, 33, 9, 2048, 512, "none", true})},
      {"gfx950.moe_down_reduce_grouped",
       downReduceProblem({8, 33, 9, 2048, 512})},
      {"gfx950.moe_down_reduce_grouped_group_major",
       downReduceProblem({8, 33, 9, 2048, 512, "none", false, false, true})},
      {"gfx950.moe_down_reduce_grouped_bf16",
       downReduceProblem({8, 33, 9, 2048, 512, "none", true, true})},
  };
  auto add = [&](const char *name, std::map<std::string, int64_t> dimensions,
                 const Attributes &attributes,
                 const std::vector<std::string> &optionalRoles = {}) {
    rows.push_back(row(name, std::move(dimensions), attributes, optionalRoles));
  };
  add("gfx950.rms_norm_bf16", {{"M", 16}, {"N", 2048}}, norm,
      {"residual", "sum"});
  for (int64_t width : {2048, 5120, 17408})
    add("gfx950.rms_norm_bf16_quantized", {{"M", 16}, {"N", width}}, norm,
        {"residual", "sum"});
  add("gfx950.rms_norm_bf16_quantized_group_major", {{"M", 16}, {"N", 5120}},
      norm, {"residual", "sum", "rounded"});
  add("gfx950.add_rms_norm_group_quant_n5120", {{"M", 16}, {"N", 5120}}, norm);
  for (const char *name :
       {"gfx950.layer_norm_bf16", "gfx950.layer_norm_bf16_quantized",
        "gfx950.layer_norm_bf16_quantized_group_major"})
    add(name, {{"M", 16}, {"N", 2048}}, norm, {"bias"});
  for (const char *name :
       {"gfx950.gated_rms_norm_bf16", "gfx950.gated_rms_norm_bf16_quantized",
        "gfx950.gated_rms_norm_bf16_quantized_group_major"})
    add(name, {{"M", 16}, {"H", 32}, {"N", 128}}, gatedNorm);
  for (const char *name :
       {"gfx950.gated_rms_norm_rows_bf16",
        "gfx950.gated_rms_norm_rows_bf16_quantized",
        "gfx950.gated_rms_norm_rows_bf16_quantized_group_major"})
    add(name, {{"M", 16}, {"H", 2}, {"N", 2048}}, gatedNorm);
  add("gfx950.gated_rms_norm_group_quant_d128",
      {{"M", 16}, {"H", 48}, {"N", 128}}, gatedNorm);
  for (const char *name :
       {"gfx950.gated_bf16", "gfx950.gated_bf16_quantized",
        "gfx950.gated_bf16_quantized_group_major", "gfx950.gated_bf16_packed",
        "gfx950.gated_bf16_packed_quantized",
        "gfx950.gated_bf16_packed_quantized_group_major"})
    add(name, {{"M", 16}, {"N", 5632}}, silu);
  for (const char *name : {"gfx950.silu_mul_group_quant_n17408_store_bf16",
                           "gfx950.silu_mul_group_quant_n17408_prequant_only"})
    add(name, {{"M", 16}, {"N", 17408}}, {{"activation", Text("silu")}});
  for (const char *name : {"gfx950.quantize_blocks_bf16",
                           "gfx950.quantize_blocks_bf16_group_major"})
    add(name, {{"M", 16}, {"K", 2048}}, {});
  rows.push_back({"gfx950.layout_convert_f32_transpose",
                  convertProblem({256, 136}, "row_major", "group_major")});
  rows.push_back({"gfx950.layout_convert_f32_restore",
                  convertProblem({256, 136}, "group_major", "row_major")});
  add("gfx950.embedding_bf16", {{"M", 16}, {"V", 4096}, {"N", 2048}},
      {{"scale", 1.0}});
  add("gfx950.argmax", {{"M", 1}, {"V", 248320}}, {});
  add("gfx950.sample", {{"M", 1}, {"V", 8192}}, {});
  return rows;
}

/// Inputs that no kernel has a reason to treat specially: normal numbers,
/// positive scales, ids that exist.
Buffers plausibleInputs(const Kernel &kernel) {
  const netra::Problem &problem = kernel.instance.contract.problem;
  Random random(11);
  Buffers inputs;
  for (const netra::Argument &argument : kernel.instance.contract.arguments) {
    if (argument.kind != netra::ArgumentKind::Pointer ||
        argument.access == netra::Access::Write)
      continue;
    const netra::OperandSpec *operand = problem.find(argument.role);
    if (!operand)
      continue;
    size_t count = 1;
    for (int64_t extent : operand->shape)
      count *= static_cast<size_t>(extent);
    // Of a large weight, the first values come again and again.
    size_t drawn = std::min<size_t>(count, 1 << 16);
    Bytes &bytes = inputs[argument.role];
    switch (operand->type) {
    case netra::ElementType::BF16:
      bytes = toBytes(random.bf16(drawn));
      break;
    case netra::ElementType::F8E4M3FN:
      bytes = random.fp8(drawn);
      break;
    case netra::ElementType::F32:
      bytes = toBytes(random.positive(drawn, 0.25, 0.75));
      break;
    case netra::ElementType::I32: {
      // Ids: within the experts or the vocabulary, different within a row.
      auto limit =
          problem.dimensions.find(problem.dimensions.count("E") ? "E" : "V");
      int64_t ids = limit == problem.dimensions.end() ? 64 : limit->second;
      std::vector<int32_t> values(count);
      for (size_t i = 0; i != count; ++i)
        values[i] = static_cast<int32_t>((i * 29 + 5) % ids);
      bytes = toBytes(values);
      break;
    }
    default:
      bytes.assign(count * netra::elementBytes(operand->type), 0);
    }
    size_t pattern = bytes.size();
    bytes.resize(count * netra::elementBytes(operand->type));
    for (size_t at = pattern; at < bytes.size(); at += pattern)
      std::copy_n(bytes.begin(), std::min(pattern, bytes.size() - at),
                  bytes.begin() + at);
  }
  return inputs;
}

std::string ratio(double value, double by) {
  return by == 0 ? "–" : formatv("{0:f3}", value / by).str();
}

/// "M=16 N=2048 silu +residual": sizes, choices, and which operands there are
/// that another problem of the tactic may not have, or have of another type.
std::string describe(const netra::Tactic &tactic,
                     const netra::Problem &problem) {
  std::string text;
  for (const auto &[name, value] : problem.dimensions)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  for (const auto &[name, value] : problem.attributes)
    if (const std::string *choice = std::get_if<std::string>(&value))
      if (*choice != "f32" && *choice != "none" &&
          !StringRef(name).ends_with("_block_scale"))
        text += " " + *choice;
  for (const auto &[role, match] : tactic.operands)
    if (const netra::OperandSpec *operand = problem.find(role)) {
      if (match.optional)
        text += " +" + role;
      if (operand->type != match.types.front())
        text += " " + role + "=" + netra::elementTypeName(operand->type).str();
    }
  return text;
}

/// What asks for the weights (and biases) of norms, which all rows share; of
/// other tactics nothing.
std::vector<Mutation> withoutSharedWeights(const netra::Tactic &tactic) {
  if (tactic.family != "norm")
    return {};
  if (StringRef(kernelSource(tactic.templatePath))
          .contains("include/gated_norm.inc"))
    return {{"include/gated_norm.inc", "netra_load_vector_run V_W",
             "// netra_load_vector_run V_W"}};
  return {
      {"include/norm.inc", "norm_load_weight V_W", "// norm_load_weight"},
      {"include/norm.inc", "norm_load_weight V_BIAS", "// norm_load_weight"}};
}

std::string format(const Row &row) {
  const netra::Tactic *tactic = catalog().findTactic(row.tactic);
  if (!tactic) {
    ADD_FAILURE() << "no tactic " << row.tactic;
    return "";
  }
  llvm::Expected<Kernel> kernel = build(row.tactic, row.problem);
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    return "";
  }
  RunOptions options;
  options.checks = 0;
  options.counters = true;
  Buffers inputs = plausibleInputs(*kernel);
  llvm::Expected<Outcome> outcome = run(*kernel, inputs, options);
  if (!outcome) {
    ADD_FAILURE() << row.tactic << ": " << llvm::toString(outcome.takeError());
    return "";
  }
  const netra::sim::Counters &n = outcome->counters;
  auto ofClass = [&](const char *name) {
    auto found = n.byClass.find(name);
    return found == n.byClass.end() ? 0 : found->second;
  };
  // Where vectors have ids of experts, the first wait is for those.
  uint64_t inFlight = StringRef(row.tactic).contains("grouped")
                          ? n.bytesInFlightPerCu
                          : n.firstWaitBytesPerCu;
  // Where the launch is smaller than the device, of 256 compute units.
  double ofLaunch = inFlight / double(n.workgroupsPerCu) *
                    std::min<double>(n.workgroupsPerCu, n.workgroups / 256.0);
  std::string activations = "–";
  if (auto mutations = withoutSharedWeights(*tactic); !mutations.empty()) {
    netra::sim::Counters without =
        countersOf(row.tactic, row.problem, inputs, mutations);
    activations =
        ratio(without.globalLoadBytes, without.globalDistinctReadBytes);
  }
  uint64_t vector = ofClass("valu") + ofClass("transcendental");
  EXPECT_LE(n.ldsConflictCycles * 50, n.ldsAccesses) << row.tactic;

  return formatv(
             "| `{0}` | {1} | {2} x {3} | {4:f2} | {5} | {6} | {7} | {8} | "
             "{9:f1} | {10:f1} | {11} | {12} | {13} | {14} |\n",
             StringRef(row.tactic).split('.').second,
             describe(*tactic, row.problem), n.workgroups, n.wavesPerWorkgroup,
             (n.globalDistinctReadBytes + n.globalDistinctWrittenBytes) /
                 1024.0,
             ratio(n.globalLoadBytes, n.globalDistinctReadBytes), activations,
             ratio(n.globalStoreBytes, n.globalDistinctWrittenBytes),
             ratio(n.globalLoadBytes + n.globalStoreBytes, 64.0 * n.segments64),
             inFlight / 1024.0, ofLaunch / 1024.0, n.maxRoundTrips,
             ratio(vector, n.globalDistinctReadBytes / 64.0), n.vgprs + n.agprs,
             n.workgroupsPerCu * n.wavesPerWorkgroup)
      .str();
}

std::string makeTable() {
  std::string table =
      "| tactic | problem | work-groups x waves | KiB moved | loads / distinct "
      "| of these, a norm's activations | stores / distinct | use of 64-byte "
      "segments | KiB in flight per CU | in this launch | round trips | vector "
      "instructions per 64 B | VGPRs | waves per CU |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Row &row : makeRows())
    table += format(row);
  return table;
}

TEST(CounterTable, EveryTacticHasARow) {
  std::set<std::string> seen;
  for (const Row &row : makeRows())
    seen.insert(row.tactic);
  for (const netra::Tactic &tactic : catalog().tactics())
    EXPECT_TRUE(seen.count(tactic.name) || tactic.golden)
        << tactic.name << ": add a row to CounterTable.cpp";
}

/// What each number of tokens of a layer of 257 experts, nine each, asks of the
/// down projection; the numbers that have the same stand together.
std::string makeRoundTrips() {
  auto range = [](std::pair<int64_t, int64_t> r) {
    return std::to_string(r.first) +
           (r.first == r.second ? "" : " to " + std::to_string(r.second));
  };
  struct Line {
    std::pair<int64_t, int64_t> tokens, experts, fp8, bf16;
  };
  std::vector<Line> lines;
  for (int64_t m = 2; m <= 32; ++m) {
    Line line = {{m, m}, {INT64_MAX, 0}, {INT64_MAX, 0}, {INT64_MAX, 0}};
    auto widen = [](std::pair<int64_t, int64_t> &r, int64_t value) {
      r = {std::min(r.first, value), std::max(r.second, value)};
    };
    for (bool bf16 : {false, true}) {
      MoeShape c{m, 257, 9, 128, 512, "none", bf16};
      llvm::Expected<Kernel> kernel =
          build(bf16 ? "gfx950.moe_down_reduce_grouped_bf16"
                     : "gfx950.moe_down_reduce_grouped",
                downReduceProblem(c));
      if (!kernel) {
        ADD_FAILURE() << llvm::toString(kernel.takeError());
        return "";
      }
      Buffers inputs = plausibleInputs(*kernel);
      for (uint64_t seed : {1, 5, 6}) {
        Random random(seed);
        std::vector<int32_t> ids = routes(random, m, c.e, c.s);
        widen(line.experts, std::set(ids.begin(), ids.end()).size());
        inputs["expert_ids"] = toBytes(ids);
        RunOptions options;
        options.checks = 0;
        options.counters = true;
        llvm::Expected<Outcome> outcome = run(*kernel, inputs, options);
        if (!outcome) {
          ADD_FAILURE() << llvm::toString(outcome.takeError());
          return "";
        }
        // Those for arguments and for ids come before.
        widen(bf16 ? line.bf16 : line.fp8, outcome->counters.maxRoundTrips - 2);
      }
    }
    if (!lines.empty() && lines.back().fp8 == line.fp8 &&
        lines.back().bf16 == line.bf16) {
      lines.back().tokens.second = m;
      widen(lines.back().experts, line.experts.first);
      widen(lines.back().experts, line.experts.second);
    } else {
      lines.push_back(line);
    }
  }
  std::string table = "| tokens | experts chosen | round trips, FP8 | round "
                      "trips, bf16 |\n|---|---|---|---|\n";
  for (const Line &line : lines)
    table += "| " + range(line.tokens) + " | " + range(line.experts) + " | " +
             range(line.fp8) + " | " + range(line.bf16) + " |\n";
  return table;
}

/// Compares a table with the one between the marks of this name, or writes it.
void expectOnPage(const std::string &name, const std::string &table) {
  const std::string beginMark = "<!-- " + name + ": begin -->\n",
                    endMark = "<!-- " + name + ": end -->";
  auto page = llvm::MemoryBuffer::getFile(pagePath);
  ASSERT_TRUE(static_cast<bool>(page)) << pagePath.str();
  StringRef text = (*page)->getBuffer();
  size_t begin = text.find(beginMark), end = text.find(endMark);
  ASSERT_TRUE(begin != StringRef::npos && end != StringRef::npos)
      << pagePath.str() << ": expected the marks " << beginMark << endMark;
  begin += beginMark.size();
  if (std::getenv("NETRA_UPDATE_COUNTERS")) {
    std::string changed =
        text.take_front(begin).str() + table + text.substr(end).str();
    std::error_code error;
    llvm::raw_fd_ostream(pagePath, error) << changed;
    ASSERT_FALSE(error) << error.message();
    return;
  }
  llvm::SmallVector<StringRef> expected, found;
  text.slice(begin, end).split(expected, '\n');
  StringRef(table).split(found, '\n');
  std::string differences;
  for (StringRef line : found)
    if (!llvm::is_contained(expected, line))
      differences += "found    " + line.str() + "\n";
  for (StringRef line : expected)
    if (!llvm::is_contained(found, line))
      differences += "expected " + line.str() + "\n";
  EXPECT_TRUE(text.slice(begin, end) == table)
      << pagePath.str() << ": the counters changed:\n"
      << differences
      << "If that is meant, NETRA_UPDATE_COUNTERS=1 KernelsTests "
         "--gtest_filter='CounterTable.*' writes the page.";
}

TEST(CounterTable, IsThatOfThePage) { expectOnPage("counters", makeTable()); }

TEST(CounterTable, RoundTripsAreThoseOfThePage) {
  expectOnPage("round trips", makeRoundTrips());
}

} // namespace
