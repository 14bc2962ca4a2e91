//===- ContractVerifierTest.cpp - Contracts that nothing could keep -------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/ContractVerifier.h"

#include "Netra/Catalog/Catalog.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace netra;
using testing::HasSubstr;

namespace {

constexpr double epsilon = 1e-6f; // as f32 has it

const char *const normText = R"json({
  "format": "netra.tactic/1", "name": "gfx950.test_norm", "target": "gfx950",
  "family": "norm", "operation": "layer_norm", "maturity": "experiment",
  "rank": 1, "summary": "a norm for tests", "template": "norm/test.s",
  "symbol": "netra_test_n{N}",
  "match": {
    "dimensions": {"M": {"min": 1}, "N": {"multiple_of": 64}},
    "operands": {
      "x": {"type": "bf16"}, "weight": {"type": "bf16"},
      "bias": {"type": "bf16"}, "result": {"type": "bf16"}
    },
    "attributes": {
      "accumulation": ["f32"], "epsilon": {"any": true},
      "weight_offset": {"any": true}
    }
  },
  "arguments": [
    {"name": "x", "kind": "pointer", "role": "x", "access": "read"},
    {"name": "weight", "kind": "pointer", "role": "weight", "access": "read"},
    {"name": "second_half", "kind": "pointer", "role": "x", "access": "read", "operand_offset": "M * N"},
    {"name": "bias", "kind": "pointer", "role": "bias", "access": "read"},
    {"name": "rows", "kind": "value", "type": "i32", "value": "M"},
    {"name": "result", "kind": "pointer", "role": "result", "access": "write"},
    {"name": "epsilon", "kind": "value", "type": "f32", "value": {"f32": "epsilon"}},
    {"name": "scale", "kind": "value", "type": "f64", "value": {"f64": "weight_offset"}},
    {"name": "scratch", "kind": "pointer", "role": "workspace", "access": "readwrite"}
  ],
  "launch": {"grid": ["M", 1, 1], "block": [256, 1, 1], "static_lds": 64},
  "workspace": {"bytes": "4 * M"},
  "registers": {"vgprs": 16, "agprs": 0, "sgprs": 16},
  "numerics": {"accumulation": "f32", "rounding": "once", "reduction_order": "test.v1(N)"},
  "graph_capture": true, "deterministic": true, "evidence": []
})json";

Contract soundContract() {
  static const Tactic tactic =
      llvm::cantFail(parseTactic(normText, "test.json"));
  Problem problem;
  problem.family = "norm";
  problem.operation = "layer_norm";
  problem.dimensions = {{"M", 2}, {"N", 64}};
  problem.operands = {{"x", ElementType::BF16, {2, 64}, "row_major"},
                      {"weight", ElementType::BF16, {64}, "row_major"},
                      {"bias", ElementType::BF16, {64}, "row_major"},
                      {"result", ElementType::BF16, {2, 64}, "row_major"}};
  problem.attributes = {{"accumulation", std::string("f32")},
                        {"epsilon", epsilon},
                        {"weight_offset", 1.0}};
  return llvm::cantFail(instantiate(tactic, problem, {})).contract;
}

OperandSpec &operand(Contract &contract, size_t number) {
  return contract.problem.operands[number];
}

/// Another operand, and an argument for it.
void addOperand(Contract &contract, const OperandSpec &spec) {
  contract.problem.operands.push_back(spec);
  Argument argument = contract.arguments[0];
  argument.name = argument.role = spec.role;
  argument.type = spec.type;
  argument.access = Access::ReadWrite;
  argument.offset = contract.kernargBytes;
  contract.kernargBytes += 8;
  contract.arguments.push_back(argument);
}

Argument &find(Contract &contract, const std::string &name) {
  for (Argument &argument : contract.arguments)
    if (argument.name == name)
      return argument;
  ADD_FAILURE() << name;
  return contract.arguments.front();
}

struct Case {
  const char *name;
  void (*damage)(Contract &);
  /// One of the faults that are found.
  std::string fault;
};

// M = 2, N = 64; operands x, weight, bias, result; arguments x, weight,
// second_half, bias, rows, result, epsilon, scale, scratch.
const Case cases[] = {
    {"Target", [](Contract &c) { c.target = "gfx1"; },
     "target: expected one of gfx950, found gfx1"},
    {"WaveSize", [](Contract &c) { c.waveSize = 32; },
     "wave_size: expected 64, as gfx950 has, found 32"},
    {"BlockOfTooMany", [](Contract &c) { c.block = {1024, 2, 1}; },
     "block: expected 1 to 1024 work-items, found 1024 x 2 x 1"},
    {"BlockBeyond64Bits",
     [](Contract &c) { c.block = {1u << 31, 1u << 31, 1u << 31}; },
     "block: expected 1 to 1024 work-items, found 2147483648 x 2147483648 x "
     "2147483648"},
    {"BlockOfNone", [](Contract &c) { c.block[1] = 0; },
     "block: expected 1 to 1024 work-items, found 256 x 0 x 1"},
    {"GridOfTooManyRows", [](Contract &c) { c.grid[1] = 65536; },
     "grid: axis y: expected 1 to 65535 work-groups, found that 65536 is "
     "65536"},
    {"GridOfTooManyItems", [](Contract &c) { c.grid[0] = 1u << 24; },
     "grid: axis x: expected 1 to 16777215 work-groups, found that 16777216 "
     "is 16777216"},
    {"GridThatEnds", [](Contract &c) { c.grid[2] = 0; },
     "grid: axis z: expected 1 to 65535 work-groups, found that 0 is 0"},
    {"StaticLds", [](Contract &c) { c.staticLds = 163841; },
     "LDS: expected at most 163840 bytes, found 163841 static and 0 dynamic"},
    {"DynamicLds",
     [](Contract &c) {
       c.staticLds = 163840;
       c.dynamicLds = UINT64_MAX;
     },
     "LDS: expected at most 163840 bytes, found 163840 static and "
     "18446744073709551615 dynamic"},
    {"SameName", [](Contract &c) { find(c, "weight").name = "x"; },
     "argument x: expected each name once, found it twice"},
    {"BytesOfAPointer", [](Contract &c) { find(c, "x").bytes = 4; },
     "argument x: expected 8 bytes for a pointer, found 4"},
    {"BytesOfAValue", [](Contract &c) { find(c, "rows").bytes = 8; },
     "argument rows: expected 4 bytes for i32, found 8"},
    {"AccessOfAPointer",
     [](Contract &c) { find(c, "x").access = Access::Value; },
     "argument x: expected access read, write or readwrite of a pointer, "
     "found value"},
    {"AccessOfAValue",
     [](Contract &c) { find(c, "rows").access = Access::Read; },
     "argument rows: expected access value of a value, found read"},
    {"AccessOfAResult",
     [](Contract &c) { find(c, "result").access = Access::Read; },
     "argument result: expected access write or readwrite of result, found "
     "read"},
    {"Misaligned", [](Contract &c) { find(c, "weight").offset = 12; },
     "argument weight: expected an offset that is a multiple of 8, found 12"},
    {"Overlapping", [](Contract &c) { find(c, "weight").offset = 0; },
     "argument weight: expected an offset of at least 8, the end of x, found "
     "0"},
    {"BeyondTheEnd", [](Contract &c) { c.kernargBytes = 8; },
     "argument weight: expected an offset inside the 8 bytes of kernel "
     "arguments, found 8"},
    {"AtTheEndOf64Bits",
     [](Contract &c) { find(c, "x").offset = UINT64_MAX - 7; },
     "argument weight: expected an offset of at least 18446744073709551615, "
     "the end of x, found 8"},
    {"UnknownRole", [](Contract &c) { find(c, "x").role = "nope"; },
     "argument x: expected the role of an operand: x, weight, bias, result, "
     "or workspace, found \"nope\""},
    {"RoleOfAValue", [](Contract &c) { find(c, "rows").role = "x"; },
     "argument rows: expected no role of a value, found \"x\""},
    {"TypeOfAPointer",
     [](Contract &c) { find(c, "x").type = ElementType::F16; },
     "argument x: expected type bf16 of x, found f16"},
    {"TypeOfTheWorkspace",
     [](Contract &c) { find(c, "scratch").type = ElementType::F32; },
     "argument scratch: expected type u8 of workspace, found f32"},
    {"OffsetInAnOperand", [](Contract &c) { find(c, "x").operandOffset = 256; },
     "argument x: expected an operand offset inside the 256 bytes of x, found "
     "256"},
    {"OffsetOfAValue", [](Contract &c) { find(c, "rows").operandOffset = 8; },
     "argument rows: expected no operand offset of a value, found 8"},
    {"ValueOfAPointer", [](Contract &c) { find(c, "x").bits = 7; },
     "argument x: expected no value of a pointer, found 7"},
    {"ValueTooWide",
     [](Contract &c) { find(c, "rows").bits = uint64_t(1) << 32; },
     "argument rows: expected a value of 32 bits, found 4294967296"},
    {"WorkspaceAlignment", [](Contract &c) { c.workspaceAlignment = 48; },
     "workspace: expected an alignment that is a power of two, found 48"},
    {"WorkspaceOfNobody",
     [](Contract &c) {
       c.arguments.pop_back();
       c.workspaceBytes = 512;
     },
     "workspace: expected an argument for its 512 bytes, found none"},
    {"EpsilonBetweenTwoNumbers",
     [](Contract &c) {
       c.problem.attributes["epsilon"] = std::nextafter(epsilon, 1.0);
     },
     "attribute epsilon: expected a number that f32 holds, such as "
     "9.999999974752427e-07, found 9.99999997475243e-07"},
    {"EpsilonNegative",
     [](Contract &c) { c.problem.attributes["epsilon"] = -1.0; },
     "attribute epsilon: expected a number from 0.0 to 1.0, found -1.0"},
    {"EpsilonNoNumber",
     [](Contract &c) { c.problem.attributes["epsilon"] = std::string("x"); },
     "attribute epsilon: expected a number from 0.0 to 1.0, found x"},
    {"UnknownAccumulation",
     [](Contract &c) {
       c.problem.attributes["accumulation"] = std::string("x");
     },
     "attribute accumulation: expected one of f32, found x"},
    {"UnknownOperation", [](Contract &c) { c.problem.operation = "norm"; },
     "operation: expected one of elementwise.activation, elementwise.add, "},
    {"OperationOfAnotherFamily",
     [](Contract &c) { c.problem.family = "dense"; },
     "layout.transpose, found dense.layer_norm"},
    {"AnotherOperation", [](Contract &c) { c.problem.operation = "rms_norm"; },
     "operand bias: expected only those of netra.rms_norm (x, weight, "},
    {"DimensionMissing", [](Contract &c) { c.problem.dimensions.erase("M"); },
     "dimension M: expected an extent, as netra.layer_norm has, found none"},
    {"DimensionBesides", [](Contract &c) { c.problem.dimensions["K"] = 1; },
     "dimension K: expected only those of netra.layer_norm (M, N), found 1"},
    {"DimensionOfOtherRows", [](Contract &c) { c.problem.dimensions["M"] = 3; },
     "operand x: expected shape [M, N], [3, 64], found [2, 64]"},
    {"DimensionOfOtherColumns",
     [](Contract &c) { c.problem.dimensions["N"] = 128; },
     "operand weight: expected shape [N], [128], found [64]"},
    {"ShapeOfAResult", [](Contract &c) { operand(c, 3).shape = {64, 2}; },
     "operand result: expected shape [M, N], [2, 64], found [64, 2]"},
    {"RankOfAResult", [](Contract &c) { operand(c, 3).shape = {1, 2, 64}; },
     "operand result: expected shape [M, N], [2, 64], found [1, 2, 64]"},
    {"AttributeMissing",
     [](Contract &c) { c.problem.attributes.erase("epsilon"); },
     "attribute epsilon: expected a value, as netra.layer_norm has, found "
     "none"},
    {"AttributeBesides",
     [](Contract &c) {
       c.problem.attributes["activation"] = std::string("silu");
     },
     "attribute activation: expected only those of netra.layer_norm (epsilon, "
     "weight_offset, accumulation, result_block_scale), found silu"},
    {"AttributeOfNobody",
     [](Contract &c) { c.problem.attributes["exact"] = true; },
     "attribute exact: expected only those of netra.layer_norm"},
    {"OperandMissing",
     [](Contract &c) { c.problem.operands.erase(c.problem.operands.begin()); },
     "operand x: expected a tensor, as netra.layer_norm has, found none"},
    {"OperandBesides",
     [](Contract &c) {
       addOperand(c, {"gate", ElementType::BF16, {2, 64}, "row_major"});
     },
     "operand gate: expected only those of netra.layer_norm (x, weight, bias, "
     "residual, result, result_scale, sum, rounded), found 2x64xbf16"},
    {"OperandOfNoArgument",
     [](Contract &c) {
       c.problem.operands.push_back(
           {"residual", ElementType::BF16, {2, 64}, "row_major"});
     },
     "operand residual: expected an argument that points to it, found none"},
    {"SumWithoutResidual",
     [](Contract &c) {
       addOperand(c, {"sum", ElementType::BF16, {2, 64}, "row_major"});
     },
     "problem: expected HAS_SUM <= HAS_RESIDUAL, as netra.layer_norm has it, "
     "found HAS_RESIDUAL = 0, HAS_SUM = 1"},
    {"ScaleWithoutMeaning",
     [](Contract &c) {
       addOperand(c, {"result_scale", ElementType::F32, {2, 1}, "row_major"});
     },
     "operand result_scale: expected none without result_block_scale, found "
     "one"},
    {"MeaningWithoutScale",
     [](Contract &c) {
       c.problem.attributes["result_block_scale"] = std::string("1x64:f32");
     },
     "operand result_scale: expected a scale, which result_block_scale "
     "describes, found none"},
    {"ScaleOfOtherBlocks",
     [](Contract &c) {
       c.problem.attributes["result_block_scale"] = std::string("1x32:f32");
       addOperand(c, {"result_scale", ElementType::F32, {2, 1}, "row_major"});
     },
     "operand result_scale: expected [2, 2] of f32 for 1x32:f32 blocks of "
     "result, found [2, 1] of f32"},
    {"ScaleOfAnotherType",
     [](Contract &c) {
       c.problem.attributes["result_block_scale"] = std::string("1x64:f32");
       addOperand(c, {"result_scale", ElementType::BF16, {2, 1}, "row_major"});
     },
     "operand result_scale: expected [2, 1] of f32 for 1x64:f32 blocks of "
     "result, found [2, 1] of bf16"},
    {"AccessOfAnInput",
     [](Contract &c) { find(c, "x").access = Access::Write; },
     "argument x: expected access read or readwrite of x, found write"},
    {"SumsOfNoType", [](Contract &c) { c.numerics.accumulation = "float"; },
     "numerics accumulation: expected an element type, or \"none\" without "
     "sums, found \"float\""},
    {"SumsOfAnotherType", [](Contract &c) { c.numerics.accumulation = "bf16"; },
     "numerics accumulation: expected f32, as the problem says, found bf16"},
    {"RoundingOfNoScheme", [](Contract &c) { c.numerics.rounding = "Once"; },
     "numerics rounding: expected a scheme, id or id(NAME=1, NAME=2), found "
     "\"Once\""},
    {"OrderWithoutValues",
     [](Contract &c) { c.numerics.reductionOrder = "test.v1(N)"; },
     "numerics reduction_order: expected a scheme, id or id(NAME=1, NAME=2), "
     "found \"test.v1(N)\""},
    {"GraphOfManyGrids",
     [](Contract &c) {
       c.problem.varying["M"] = Affine(0, {{"m", 1}});
       c.problem.guards["m"] = {1, 2};
     },
     "graph_capture: expected false, since each launch has a grid or values "
     "of its own, found true"},
};

void PrintTo(const Case &c, std::ostream *os) { *os << c.name; }

class ContractFault : public testing::TestWithParam<Case> {};

} // namespace

TEST(ContractVerifier, SoundContract) {
  EXPECT_EQ(llvm::toString(verifyContract(soundContract())), "");
}

TEST_P(ContractFault, IsRefusedWithBothValues) {
  Contract contract = soundContract();
  GetParam().damage(contract);
  EXPECT_THAT(llvm::toString(verifyContract(contract)),
              HasSubstr(GetParam().fault));
}

INSTANTIATE_TEST_SUITE_P(Contract, ContractFault, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case> &info) {
                           return std::string(info.param.name);
                         });

TEST(ContractVerifier, SaysAllThatIsWrong) {
  Contract contract = soundContract();
  contract.waveSize = 32;
  contract.arguments[1].offset = 0;
  contract.problem.attributes["epsilon"] = 0.1;
  std::string text = llvm::toString(verifyContract(contract));
  for (const char *part :
       {"wave_size: ", "\nargument weight: ", "\nattribute epsilon: "})
    EXPECT_THAT(text, HasSubstr(part));
}
