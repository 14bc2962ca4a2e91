//===- EngineTexts.cpp - The texts of an engine can be shown --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BundleFiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace netra {

bool isPlainText(StringRef text) {
  if (!llvm::json::isUTF8(text))
    return false;
  for (size_t i = 0; i != text.size(); ++i) {
    auto byte = static_cast<uint8_t>(text[i]);
    if (byte < 0x20 || byte == 0x7f)
      return false;
    // U+0080 to U+009F are control characters, too.
    if (byte == 0xc2 && i + 1 != text.size() &&
        static_cast<uint8_t>(text[i + 1]) < 0xa0)
      return false;
  }
  return true;
}

void checkTexts(const Engine &engine, std::vector<BundleFinding> &findings) {
  auto check = [&](const Twine &where, StringRef text,
                   bool mayBeEmpty = false) {
    if (isEngineText(text, mayBeEmpty))
      return;
    if (text.empty()) {
      findings.push_back(
          {where.str(), "expected a text that is not empty, found \"\""});
      return;
    }
    std::string shown;
    raw_string_ostream os(shown);
    printEscapedString(text, os);
    findings.push_back({where.str(), "expected UTF-8 without control "
                                     "characters, found \"" +
                                         shown + "\""});
  };
  check("/name", engine.name);
  for (size_t i = 0; i != engine.codeObjects.size(); ++i) {
    const EngineCodeObject &object = engine.codeObjects[i];
    std::string where = ("/code_objects/" + Twine(i)).str();
    check(where + "/name", object.name);
    for (const EngineKernel &kernel : object.kernels) {
      check(where + "/kernels/symbol", kernel.symbol);
      for (const EngineKernelArgument &argument : kernel.arguments)
        check(where + "/kernels/arguments/name", argument.name);
    }
  }
  for (size_t i = 0; i != engine.bindings.size(); ++i)
    check("/bindings/" + Twine(i) + "/name", engine.bindings[i].name);
  for (size_t i = 0; i != engine.weights.entries.size(); ++i) {
    const EngineWeight &weight = engine.weights.entries[i];
    std::string where = ("/weights/entries/" + Twine(i)).str();
    check(where + "/name", weight.name);
    for (const PackSource &source : weight.pack.sources)
      check(where + "/pack/sources/name", source.checkpoint);
  }
  for (size_t p = 0; p != engine.plans.size(); ++p) {
    const EnginePlan &plan = engine.plans[p];
    check("/plans/" + Twine(p) + "/name", plan.name);
    check("/plans/" + Twine(p) + "/profile/name", plan.profile.name);
    for (size_t s = 0; s != plan.steps.size(); ++s) {
      const EngineStep &step = plan.steps[s];
      std::string where = ("/plans/" + Twine(p) + "/steps/" + Twine(s)).str();
      check(where + "/name", step.name);
      check(where + "/operation", step.operation);
      bool isLaunch = step.kind == EngineStep::Kind::Launch;
      check(where + "/tactic", step.tactic, /*mayBeEmpty=*/!isLaunch);
      check(where + "/reason", step.reason, /*mayBeEmpty=*/isLaunch);
      check(where + "/family", step.family, /*mayBeEmpty=*/true);
      for (const auto &[name, value] : step.attributes) {
        check(where + "/attributes", name);
        if (const auto *text = std::get_if<std::string>(&value))
          check(where + "/attributes", *text, /*mayBeEmpty=*/true);
      }
      for (const auto *operands : {&step.inputs, &step.outputs})
        for (const EngineOperand &operand : *operands)
          check(where + (operands == &step.inputs ? "/inputs/name"
                                                  : "/outputs/name"),
                operand.name);
    }
  }
}

} // namespace netra
