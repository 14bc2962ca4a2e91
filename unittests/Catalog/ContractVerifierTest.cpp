//===- ContractVerifierTest.cpp - Contracts that nothing could keep -------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/ContractVerifier.h"

#include "TestTactic.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace netra;
using testing::HasSubstr;

namespace {

constexpr double epsilon = 1e-6f; // as f32 has it

Contract soundContract() {
  static const Tactic tactic =
      llvm::cantFail(parseTactic(test::tacticText, "test.json"));
  Problem problem = test::testProblem();
  problem.attributes["epsilon"] = epsilon;
  return llvm::cantFail(
             instantiate(tactic, problem, {{"WAVES", 4}, {"DEPTH", 2}}))
      .contract;
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

// M = 2, N = 64, K = 512; arguments x, weight, second_half, bias, rows, result,
// epsilon, scale, scratch.
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
    {"OffsetInAnOperand",
     [](Contract &c) { find(c, "x").operandOffset = 2048; },
     "argument x: expected an operand offset inside the 2048 bytes of x, found "
     "2048"},
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
    {"UnknownEpilogue",
     [](Contract &c) { c.problem.attributes["epilogue"] = std::string("x"); },
     "attribute epilogue: expected one of none, silu, "},
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
