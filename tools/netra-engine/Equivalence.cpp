//===- Equivalence.cpp - netra-engine equivalence -------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "InputFile.h"

#include "Netra/Catalog/Json.h"
#include "Netra/Target/Equivalence.h"

#include <cinttypes>
#include <cstdio>

using namespace netra;
using namespace netra::tool;

namespace {

nlohmann::json
describe(const std::vector<DisassembledInstruction> &instructions) {
  nlohmann::json result = nlohmann::json::array();
  for (const DisassembledInstruction &instruction : instructions)
    result.push_back(
        {{"address", instruction.address}, {"text", instruction.text}});
  return result;
}

/// How many instructions have no partner on the other side.
size_t countDiffering(const KernelComparison &comparison, bool left) {
  size_t count = 0;
  for (const InstructionDifference &difference : comparison.instructions)
    count += (left ? difference.left : difference.right).size();
  return count;
}

void printJson(const Equivalence &result, size_t limit) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const KernelComparison &comparison : result.kernels) {
    nlohmann::json metadata = nlohmann::json::array(),
                   instructions = nlohmann::json::array();
    for (const FieldDifference &field : comparison.metadata)
      metadata.push_back({{"field", field.field},
                          {"left", field.left},
                          {"right", field.right}});
    for (const InstructionDifference &difference : comparison.instructions)
      if (instructions.size() < limit)
        instructions.push_back({{"left", describe(difference.left)},
                                {"right", describe(difference.right)}});
    kernels.push_back({{"left", comparison.leftSymbol},
                       {"right", comparison.rightSymbol},
                       {"equal", comparison.isEqual()},
                       {"code",
                        {{"equal", comparison.sameCode()},
                         {"left_sha256", comparison.leftCodeSha256},
                         {"right_sha256", comparison.rightCodeSha256}}},
                       {"metadata", std::move(metadata)},
                       {"instructions",
                        {{"left", comparison.leftInstructions},
                         {"right", comparison.rightInstructions},
                         {"left_differing", countDiffering(comparison, true)},
                         {"right_differing", countDiffering(comparison, false)},
                         {"places", comparison.instructions.size()},
                         {"first", std::move(instructions)}}}});
  }
  std::printf("%s\n", json::print({{"format", "netra.equivalence/1"},
                                   {"equal", result.isEqual()},
                                   {"kernels", std::move(kernels)},
                                   {"only_left", result.onlyLeft},
                                   {"only_right", result.onlyRight}},
                                  /*indent=*/2)
                          .c_str());
}

void printSide(char mark,
               const std::vector<DisassembledInstruction> &instructions,
               size_t limit) {
  for (size_t i = 0; i != instructions.size(); ++i) {
    if (i == limit) {
      std::printf("  %c ... %zu more\n", mark, instructions.size() - limit);
      return;
    }
    std::printf("  %c 0x%05" PRIx64 "  %s\n", mark, instructions[i].address,
                instructions[i].text.c_str());
  }
}

void printText(const Equivalence &result, size_t limit) {
  size_t equal = 0;
  for (const KernelComparison &comparison : result.kernels) {
    if (comparison.isEqual()) {
      ++equal;
      continue;
    }
    std::printf("kernel %s", comparison.leftSymbol.c_str());
    if (comparison.leftSymbol != comparison.rightSymbol)
      std::printf(" and %s", comparison.rightSymbol.c_str());
    std::printf(": machine code %s, metadata %s\n",
                comparison.sameCode() ? "equal" : "differs",
                comparison.metadata.empty() ? "equal" : "differs");
    for (const FieldDifference &field : comparison.metadata)
      std::printf("  %s: left %s, right %s\n", field.field.c_str(),
                  field.left.c_str(), field.right.c_str());
    if (comparison.sameCode())
      continue;
    std::printf("  instructions: %zu of %zu on the left and %zu of %zu on the "
                "right differ, in %zu places\n",
                countDiffering(comparison, true), comparison.leftInstructions,
                countDiffering(comparison, false), comparison.rightInstructions,
                comparison.instructions.size());
    for (size_t i = 0; i != comparison.instructions.size(); ++i) {
      if (i == limit) {
        std::printf("  ... %zu more places\n",
                    comparison.instructions.size() - limit);
        break;
      }
      printSide('-', comparison.instructions[i].left, limit);
      printSide('+', comparison.instructions[i].right, limit);
    }
  }
  for (const std::string &symbol : result.onlyLeft)
    std::printf("kernel %s: only on the left\n", symbol.c_str());
  for (const std::string &symbol : result.onlyRight)
    std::printf("kernel %s: only on the right\n", symbol.c_str());
  std::printf("%s: %zu of %zu pairs of kernels are equal",
              result.isEqual() ? "equal" : "different", equal,
              result.kernels.size());
  if (size_t alone = result.onlyLeft.size() + result.onlyRight.size())
    std::printf(", %zu have no partner", alone);
  std::printf("\n");
}

} // namespace

int netra::tool::equivalenceMain(int argc, char **argv) {
  Arguments arguments(
      "equivalence",
      "Compares the machine code and the metadata of the kernels of two "
      "engines "
      "or code objects. Names of symbols, arguments and files do not matter; "
      "of "
      "engines only the code is compared, not what is launched.\nExit codes: 0 "
      "equal, 1 different, 2 wrong usage or unreadable input.",
      "LEFT RIGHT");
  arguments.value("kernel", "SYMBOL[,SYMBOL]",
                  "only this kernel, or this one of LEFT and that of RIGHT");
  arguments.goldenRoot("the folder of the code that engines only lock");
  arguments.value("limit", "N", "differences shown (8)");
  arguments.flag("json", "as JSON");
  if (std::optional<int> code = arguments.parse(argc, argv))
    return *code;
  if (arguments.rest().size() != 2)
    return fail("equivalence: expected two engines or code objects, found " +
                    std::to_string(arguments.rest().size()),
                ExitUsage);
  uint64_t limit = 8;
  if (arguments.has("limit")) {
    llvm::Expected<uint64_t> number = arguments.number("limit", 0, UINT32_MAX);
    if (!number)
      return fail("equivalence: " + llvm::toString(number.takeError()),
                  ExitUsage);
    limit = *number;
  }
  std::string symbols = arguments.get("kernel");
  auto [leftSymbol, rightSymbol] = llvm::StringRef(symbols).split(',');
  if (!llvm::StringRef(symbols).contains(','))
    rightSymbol = leftSymbol;
  std::vector<CodeObject> sides[2];
  for (size_t i = 0; i != 2; ++i) {
    if (llvm::Error error = refuseDevice(arguments.rest()[i]))
      return fail(llvm::toString(std::move(error)), ExitUsage);
    llvm::Expected<std::vector<CodeObject>> code =
        loadCode(arguments.rest()[i], arguments.get("golden-root"));
    if (!code)
      return fail(llvm::toString(code.takeError()), ExitUsage);
    sides[i] = std::move(*code);
  }
  llvm::Expected<Equivalence> result =
      compareCode(sides[0], sides[1], leftSymbol, rightSymbol);
  if (!result)
    return fail(llvm::toString(result.takeError()), ExitUsage);
  if (arguments.has("json"))
    printJson(*result, limit);
  else
    printText(*result, limit);
  return result->isEqual() ? ExitSuccess : ExitFailure;
}
