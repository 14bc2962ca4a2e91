//===- TestLibrary.h - A library root with one small kernel -----*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_TARGET_TESTLIBRARY_H
#define NETRA_UNITTESTS_TARGET_TESTLIBRARY_H

#include "../Messages.h"

#include "Netra/Catalog/Catalog.h"
#include "Netra/Target/Assembler.h"
#include "Netra/Target/Bundle.h"
#include "Netra/Target/Equivalence.h"

#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace netra::test {

/// A folder that is removed at the end.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = testing::TempDir() + "netra-target-XXXXXX";
    if (!mkdtemp(pattern.data()))
      std::abort();
    path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  void write(const std::string &name, const std::string &text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
  }
  std::string read(const std::string &name) const {
    std::ifstream stream(path / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::filesystem::path path;
};

/// A template that copies one dword of x to result, which is no activation.
inline const char *const copyTemplate = R"(// copies x to result
.include "include/frame.inc"
.if NETRA_N % 64
  .error "N must be a multiple of 64"
.endif
.macro netra_template name
  frame_begin \name
  s_load_dwordx2 s[2:3], s[0:1], NETRA_ARG_X
  s_load_dwordx2 s[4:5], s[0:1], NETRA_ARG_RESULT
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[2:3]
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[4:5]
  frame_end \name
.endm
)";

inline const char *const frameInclude = R"(// begins and ends a kernel
.macro frame_begin name
  .text
  .globl \name
  .p2align 8
  .type \name,@function
\name:
.endm
.macro frame_end name
  s_endpgm
.Lend_\name:
  .size \name, .Lend_\name - \name
  .section .rodata,"a",@progbits
  .p2align 6
  .amdhsa_kernel \name
    .amdhsa_group_segment_fixed_size NETRA_STATIC_LDS
    .amdhsa_private_segment_fixed_size 0
    .amdhsa_kernarg_size NETRA_KERNARG_BYTES
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_accum_offset ((NETRA_VGPRS + 3) / 4) * 4
    .amdhsa_next_free_vgpr ((NETRA_VGPRS + 3) / 4) * 4 + NETRA_AGPRS
    .amdhsa_next_free_sgpr NETRA_SGPRS
  .end_amdhsa_kernel
  .text
.endm
)";

inline const char *const copyManifest = R"json({
  "format": "netra.tactic/1", "name": "gfx950.copy", "target": "gfx950",
  "family": "elementwise", "operation": "activation", "maturity": "verified", "rank": 1,
  "summary": "copies", "template": "test/copy.s", "symbol": "netra_copy_n{N}",
  "match": {
    "dimensions": {"M": 1, "N": {"min": 1}},
    "operands": {"x": {"type": "i32"}, "result": {"type": "i32"}},
    "attributes": {"activation": ["none", "silu"]}
  },
  "constants": {"ACTIVATION": {"attribute": "activation", "values": {"none": 0, "silu": 1}}},
  "arguments": [
    {"name": "x", "kind": "pointer", "role": "x", "access": "read"},
    {"name": "n", "kind": "value", "type": "i32", "value": "N"},
    {"name": "result", "kind": "pointer", "role": "result", "access": "write"}
  ],
  "launch": {"grid": ["ceildiv(N, 64)", 1, 1], "block": [64, 1, 1], "static_lds": 256},
  "registers": {"vgprs": 2, "agprs": 0, "sgprs": 8},
  "numerics": {"accumulation": "none", "rounding": "none", "reduction_order": "none"},
  "graph_capture": true, "deterministic": true,
  "evidence": [{"kind": "simulated", "what": "unit tests"}]
})json";

/// The manifests of what computes the same: one that comes later, and one that
/// does not match.
inline std::string copyManifestOf(const char *name) {
  auto document = nlohmann::json::parse(copyManifest);
  document["name"] = std::string("gfx950.") + name;
  document["symbol"] = std::string("netra_") + name + "_n{N}";
  document["rank"] = 2;
  if (name == std::string("copy_large"))
    document["match"]["dimensions"]["N"]["min"] = 1024;
  return document.dump();
}

inline const char *const copySchemes = R"json({
  "format": "netra.numerics/1",
  "schemes": [
    {"kind": "reduction_order", "name": "none", "parameters": [], "text": "no sum"},
    {"kind": "rounding", "name": "none", "parameters": [], "text": "nowhere"}
  ]
})json";

/// A complete library root with the copy kernel.
class TestLibrary : public TemporaryFolder {
public:
  TestLibrary() {
    write("kernels/gfx950/test/copy.s", copyTemplate);
    write("kernels/gfx950/include/frame.inc", frameInclude);
  }

  Assembler assembler() const {
    return llvm::cantFail(Assembler::create(path.string(), "gfx950"));
  }
};

inline Problem copyProblem(int64_t n = 64) {
  Problem problem;
  problem.family = "elementwise";
  problem.operation = "activation";
  problem.dimensions = {{"M", 1}, {"N", n}};
  problem.operands = {{"x", ElementType::I32, {n}, "row_major"},
                      {"result", ElementType::I32, {n}, "row_major"}};
  problem.attributes = {{"activation", std::string("none")}};
  return problem;
}

inline const Tactic &copyTactic() {
  static const Tactic tactic =
      llvm::cantFail(parseTactic(copyManifest, "copy.json"));
  return tactic;
}

inline Instance copyInstance(int64_t n = 64) {
  return llvm::cantFail(instantiate(copyTactic(), copyProblem(n), {}));
}

/// A clean and complete engine of launches and a fallback: input → arena →
/// output, a weight on the side.
struct TestEngine {
  Engine engine;
  BundleFiles files;
};

inline TestEngine makeEngine() {
  static const AssembledKernel kernel = [] {
    TestLibrary library;
    return llvm::cantFail(library.assembler().assemble(copyInstance()));
  }();
  TestEngine result;
  Contract contract = copyInstance().contract;
  Engine &engine = result.engine;
  engine.name = "copy";
  const KernelMetadata &metadata = kernel.object.kernels.front();
  EngineKernel description;
  description.symbol = metadata.symbol;
  description.kernargBytes = contract.kernargBytes;
  description.staticLds = contract.staticLds;
  description.vgprs = metadata.vgprs;
  description.agprs = metadata.agprs;
  description.sgprs = metadata.sgprs;
  description.maxWorkgroup = metadata.maxWorkgroup;
  for (const Argument &argument : contract.arguments)
    description.arguments.push_back({argument.name, argument.offset,
                                     argument.bytes, argument.kind,
                                     argument.type, argument.access});
  std::string path =
      "code/" + kernel.object.textSha256.substr(0, 16) + ".hsaco";
  engine.codeObjects = {{"k0",
                         path,
                         kernel.object.sha256,
                         kernel.object.textSha256,
                         {description}}};
  engine.bindings = {
      {"x", BindingRole::Input, 0, ElementType::I32, {64}, "row_major", 256},
      {"y", BindingRole::Output, 0, ElementType::I32, {64}, "row_major", 256},
      {"s", BindingRole::State, 0, ElementType::I32, {64}, "row_major", 256}};
  PackRecipe pack;
  pack.sources = {{"model.w", ElementType::I32, {64}}};
  engine.weights.bytes = 768;
  engine.weights.entries = {
      {"w", 256, 256, ElementType::I32, {64}, "row_major", pack},
      {"v", 512, 256, ElementType::I32, {64}, "row_major", pack}};
  EnginePlan plan;
  plan.name = "decode";
  plan.profile = {"decode", 3, {{"m", {1, 1}}, {"batch", {1, 64}}}};
  plan.bindings = {0, 1, 2};
  plan.arenaBytes = 512;
  auto launch = [&](std::string name, EngineSlot from, EngineSlot to,
                    std::vector<uint64_t> after) {
    EngineStep step;
    step.name = std::move(name);
    step.operation = "netra.activation";
    step.tactic = "gfx950.copy";
    step.contract = contract.id();
    step.grid = {1, 1, 1};
    step.block = {64, 1, 1};
    step.after = std::move(after);
    step.arguments = {from, EngineSlot::value(ElementType::I32, 64), to};
    plan.steps.push_back(std::move(step));
  };
  launch("first", EngineSlot::binding(0, 0, 256), EngineSlot::arena(0, 256),
         {});
  launch("second", EngineSlot::weight(0, 0, 256), EngineSlot::arena(256, 256),
         {});
  EngineStep fallback;
  fallback.kind = EngineStep::Kind::Fallback;
  fallback.name = "middle";
  fallback.operation = "framework.add";
  fallback.family = "pointwise";
  fallback.reason = "no tactic";
  fallback.attributes = {{"scale", -0.0},
                         {"steps", int64_t(-3)},
                         {"exact", false},
                         {"mode", std::string("wrap")}};
  auto operand = [](std::string name, EngineSlot slot) {
    return EngineOperand{name, ElementType::I32, {64}, "row_major", slot, {}};
  };
  fallback.inputs = {operand("lhs", EngineSlot::arena(0, 256)),
                     operand("rhs", EngineSlot::arena(256, 256)),
                     operand("state", EngineSlot::binding(2, 0, 256))};
  fallback.outputs = {operand("result", EngineSlot::binding(2, 0, 256))};
  fallback.outputs[0].updates = 2;
  fallback.after = {0, 1};
  plan.steps.push_back(fallback);
  launch("last", EngineSlot::binding(2, 0, 256), EngineSlot::binding(1, 0, 256),
         {2});
  engine.plans = {plan};
  engine.decisions = llvm::cantFail(decidePlans(engine));
  result.files[path] =
      std::string(kernel.object.bytes.begin(), kernel.object.bytes.end());
  result.files["source/" + metadata.symbol + ".s"] = kernel.source;
  result.files["contracts.json"] =
      nlohmann::json(
          {{"format", "netra.contracts/1"},
           {"contracts",
            {{contract.id(), nlohmann::json::parse(contract.toJson())}}}})
          .dump(2) +
      "\n";
  for (const SourceFile &file : kernel.closure)
    result.files["source/" + file.path] = file.text;
  for (auto &[name, text] : deriveReports(engine, {}))
    result.files[name] = text;
  // What the description cannot tell; nobody here reads modules.
  result.files["engine.mlir"] = "module {}\n";
  using Json = nlohmann::json;
  Json steps = Json::array();
  for (const EngineStep &step : engine.plans[0].steps)
    if (step.kind == EngineStep::Kind::Launch)
      steps.push_back({{"name", step.name},
                       {"operation", step.operation},
                       {"kernel", metadata.symbol},
                       {"contract", step.contract},
                       {"tactic", step.tactic}});
    else
      steps.push_back({{"name", step.name},
                       {"operation", step.operation},
                       {"fallback", step.reason}});
  // Each of 64 numbers is read and written: 512 bytes at 8 TB/s.
  Json cost = {{"bytes", 512},
               {"bytes_of", "contract"},
               {"flop", 0},
               {"picoseconds", 64},
               {"bound", "memory"}};
  Json chosen = {
      {"tactic", "gfx950.copy"},
      {"summary", "copies"},
      {"maturity", "verified"},
      {"rank", 1},
      {"code", "template"},
      {"options", Json::object()},
      {"error_bound", ""},
      {"contract", contract.id()},
      {"symbol", metadata.symbol},
      {"chosen_by", "selection"},
      {"cost", cost},
      {"reason", "rank 1 comes before rank 2 of gfx950.copy_other"},
      {"also_matches", Json::array({{{"tactic", "gfx950.copy_other"},
                                     {"maturity", "verified"},
                                     {"rank", 2},
                                     {"cost", cost}}})},
      {"nearest_misses",
       Json::array({{{"tactic", "gfx950.copy_large"},
                     {"differs", Json::array({{{"field", "dimension N"},
                                               {"expected", "at least 1024"},
                                               {"found", "64"}}})}}})}};
  Json explanation = {{"format", "netra.explanation/2"},
                      {"selection",
                       {{"allow_experimental", false},
                        {"allow_golden", false},
                        {"count_instructions", false}}}};
  // A tactic is its manifest and its template with what that includes.
  auto hash = [&](const std::string &manifest) {
    return sha256Hex(llvm::StringRef(sha256Hex(llvm::StringRef(manifest)) +
                                     "\n" + kernel.closureSha256 + "\n"));
  };
  explanation["selection"]["tactics"]["elementwise.activation"] = {
      {"gfx950.copy", hash(copyManifest)},
      {"gfx950.copy_large", hash(copyManifestOf("copy_large"))},
      {"gfx950.copy_other", hash(copyManifestOf("copy_other"))}};
  explanation["plans"].push_back({{"name", "decode"}, {"steps", steps}});
  explanation["kernels"][contract.id()][metadata.symbol] = chosen;
  result.files["explain.json"] = explanation.dump(2) + "\n";
  Json validated = {
      {"symbol", metadata.symbol},
      {"tactic", "gfx950.copy"},
      {"contract", contract.id()},
      {"maturity", "verified"},
      {"evidence",
       Json::array({Json{{"kind", "simulated"}, {"what", "unit tests"}}})},
      {"metadata_matches_contract", "passed"},
      {"assembled", "passed"},
      {"source_sha256", sha256Hex(llvm::StringRef(kernel.source))},
      {"source_closure_sha256", kernel.closureSha256},
      {"text_sha256", kernel.object.textSha256},
      {"identity_sha256", computationalIdentity(kernel.object, metadata)}};
  Json validation = {{"format", "netra.validation/1"},
                     {"engine_is_consistent", "passed"},
                     {"simulated", "not_run"},
                     {"device", "not_run"},
                     {"kernels", Json::array({validated})}};
  result.files["validation.json"] = validation.dump(2) + "\n";
  return result;
}

} // namespace netra::test

#endif // NETRA_UNITTESTS_TARGET_TESTLIBRARY_H
