//===- Listing.cpp - What the catalogue offers ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Listing.h"

#include "llvm/Support/FormatVariadic.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace netra;
using nlohmann::json;

static void listTacticsAsText(const Catalog &catalog, llvm::raw_ostream &out) {
  size_t nameWidth = 4, operationWidth = 9;
  for (const Tactic &tactic : catalog.tactics()) {
    nameWidth = std::max(nameWidth, tactic.name.size());
    operationWidth = std::max(operationWidth, tactic.operation.size());
  }
  auto line = [&](llvm::StringRef name, llvm::StringRef operation,
                  llvm::StringRef maturity, llvm::StringRef rank,
                  llvm::StringRef summary) {
    out << llvm::left_justify(name, nameWidth) << "  "
        << llvm::left_justify(operation, operationWidth) << "  "
        << llvm::left_justify(maturity, 10) << "  "
        << llvm::right_justify(rank, 4) << "  " << summary << "\n";
  };
  line("name", "operation", "maturity", "rank", "summary");
  for (const Tactic &tactic : catalog.tactics())
    line(tactic.name, tactic.operation, maturityName(tactic.maturity),
         std::to_string(tactic.rank), tactic.summary);
}

static void listTacticsAsJson(const Catalog &catalog, llvm::raw_ostream &out) {
  json tactics = json::array();
  for (const Tactic &tactic : catalog.tactics()) {
    json options = json::object(), dimensions = json::object(),
         operands = json::object(), attributes = json::object(),
         evidence = json::array();
    for (const auto &[name, values] : tactic.options)
      options[name] = values;
    for (const auto &[name, match] : tactic.dimensions)
      dimensions[name] = match.describe();
    for (const auto &[role, match] : tactic.operands) {
      json types = json::array();
      for (ElementType type : match.types)
        types.push_back(elementTypeName(type).str());
      operands[role] = {{"types", types},
                        {"layouts", match.layouts},
                        {"optional", match.optional}};
    }
    for (const auto &[name, match] : tactic.attributes)
      attributes[name] = match.describe();
    for (const Evidence &item : tactic.evidence)
      evidence.push_back({{"kind", item.kind}, {"what", item.what}});
    tactics.push_back({{"name", tactic.name},
                       {"family", tactic.family},
                       {"operation", tactic.operation},
                       {"maturity", maturityName(tactic.maturity).str()},
                       {"rank", tactic.rank},
                       {"summary", tactic.summary},
                       {"template", tactic.templatePath},
                       {"dimensions", dimensions},
                       {"operands", operands},
                       {"attributes", attributes},
                       {"options", options},
                       {"evidence", evidence}});
  }
  json document = {{"format", "netra.tactics/1"},
                   {"target", catalog.getTarget().str()},
                   {"tactics", tactics}};
  out << document.dump(2, ' ', false, json::error_handler_t::replace) << "\n";
}

void netra::listTactics(const Catalog &catalog, bool json,
                        llvm::raw_ostream &out) {
  if (json)
    listTacticsAsJson(catalog, out);
  else
    listTacticsAsText(catalog, out);
}

void netra::listProfiles(const Catalog &catalog, llvm::raw_ostream &out) {
  size_t width = 4;
  for (const ServingProfile &profile : catalog.profiles())
    width = std::max(width, profile.name.size());
  for (const ServingProfile &profile : catalog.profiles()) {
    out << llvm::left_justify(profile.name, width);
    for (const auto &[name, guard] : profile.guards) {
      out << "  " << name << "=" << guard.min;
      if (!guard.isExact())
        out << ".." << guard.max;
    }
    out << "  priority=" << profile.priority << "\n";
  }
}
