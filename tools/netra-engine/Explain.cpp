//===- Explain.cpp - netra-engine explain ---------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "InputFile.h"

#include "Netra/Catalog/Cost.h"
#include "Netra/Target/Bundle.h"

#include <nlohmann/json.hpp>

#include <cstdio>

using namespace netra::tool;
using nlohmann::json;

namespace {

const json none;

const json &member(const json &object, const std::string &key) {
  auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() ? *found : none;
}

/// A value as text; strings without quotes.
std::string text(const json &value) {
  if (value.is_null())
    return "";
  if (value.is_string())
    return value.get<std::string>();
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// "1050624 bytes, 1048576 FLOP: 0.131328 us, bound by memory".
std::string costText(const json &described) {
  auto number = [&](const char *key) {
    const json &value = member(described, key);
    return value.is_number_unsigned() ? value.get<uint64_t>() : uint64_t(0);
  };
  netra::Cost cost;
  cost.bytes = number("bytes");
  cost.flop = number("flop");
  cost.picoseconds = number("picoseconds");
  cost.isBoundByMemory = text(member(described, "bound")) == "memory";
  return netra::toString(cost);
}

void printChoice(const json &choice) {
  std::printf("      why     %s\n", text(member(choice, "reason")).c_str());
  std::printf("      cost    %s\n", costText(member(choice, "cost")).c_str());
  if (const json &options = member(choice, "options");
      options.is_object() && !options.empty()) {
    std::string list;
    for (auto it = options.begin(); it != options.end(); ++it)
      list += (list.empty() ? "" : ", ") + it.key() + " = " + text(*it);
    std::printf("      options %s\n", list.c_str());
  }
  std::string numerics = text(member(choice, "error_bound"));
  if (!numerics.empty())
    std::printf("      bound   %s\n", numerics.c_str());
  for (const json &other : member(choice, "also_matches"))
    std::printf("      also    %s would match (%s)\n",
                text(member(other, "tactic")).c_str(),
                costText(member(other, "cost")).c_str());
  for (const json &miss : member(choice, "nearest_misses")) {
    std::string fields;
    for (const json &field : member(miss, "differs"))
      fields += (fields.empty() ? "" : "; ") + text(member(field, "field")) +
                ": expected " + text(member(field, "expected")) + ", found " +
                text(member(field, "found"));
    std::printf("      not     %s (%s)\n", text(member(miss, "tactic")).c_str(),
                fields.c_str());
  }
}

} // namespace

int netra::tool::explainMain(int argc, char **argv) {
  Arguments arguments("explain",
                      "Prints for each operation the tactic it was given and "
                      "why, what else would match, and the nearest misses with "
                      "the fields that differ; for each fallback its reason.",
                      "ENGINE");
  arguments.engine();
  arguments.flag("json", "print explain.json instead");
  std::string directory;
  if (std::optional<int> code = arguments.parseEngine(argc, argv, directory))
    return *code;

  // What explain.json says is worth what the engine is.
  if (llvm::Expected<netra::Engine> engine = netra::readBundle(directory);
      !engine)
    return fail(llvm::toString(engine.takeError()));
  std::string path = directory + "/explain.json";
  auto file = readInput(path);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  if (arguments.has("json")) {
    std::fwrite((*file)->getBufferStart(), 1, (*file)->getBufferSize(), stdout);
    return ExitSuccess;
  }
  json document =
      json::parse((*file)->getBufferStart(), (*file)->getBufferEnd(), nullptr,
                  /*allow_exceptions=*/false);
  if (document.is_discarded())
    return fail(path + ": expected JSON, found something else; netra-engine "
                       "validate says more");
  if (const json &format = member(document, "format");
      text(format) != "netra.explanation/2")
    return fail(path + ": expected format netra.explanation/2, found " +
                (format.is_null() ? "none" : format.dump()));
  const json &kernels = member(document, "kernels");
  for (const json &plan : member(document, "plans")) {
    std::printf("plan %s\n", text(member(plan, "name")).c_str());
    size_t index = 0;
    for (const json &step : member(plan, "steps")) {
      std::printf("  %3zu  %s  %s\n", index++,
                  text(member(step, "name")).c_str(),
                  text(member(step, "operation")).c_str());
      if (const json &reason = member(step, "fallback"); !reason.is_null()) {
        std::printf("      falls back: %s\n", text(reason).c_str());
        continue;
      }
      std::printf("      tactic  %s\n", text(member(step, "tactic")).c_str());
      printChoice(member(member(kernels, text(member(step, "contract"))),
                         text(member(step, "kernel"))));
    }
  }
  return ExitSuccess;
}
