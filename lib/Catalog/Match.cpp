//===- Match.cpp - Tactics held against problems --------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "InstanceBuilder.h"
#include "Names.h"
#include "Netra/Catalog/Catalog.h"
#include "Netra/Catalog/Decision.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace llvm;

namespace netra {

//===----------------------------------------------------------------------===//
// What a tactic takes, in words
//===----------------------------------------------------------------------===//

std::string Mismatch::str() const {
  return field + ": expected " + expected + ", found " + found;
}

bool DimensionMatch::accepts(int64_t value) const {
  if (!values.empty() && !is_contained(values, value))
    return false;
  return (!min || value >= *min) && (!max || value <= *max) &&
         (!multipleOf || value % *multipleOf == 0);
}

bool DimensionMatch::acceptsAll(int64_t least, int64_t greatest) const {
  if (least == greatest)
    return accepts(least);
  return values.empty() && multipleOf.value_or(1) == 1 && accepts(least) &&
         accepts(greatest);
}

std::string DimensionMatch::describe() const {
  std::vector<std::string> parts;
  if (values.size() == 1)
    parts.push_back(itostr(values.front()));
  else if (!values.empty())
    parts.push_back(
        "one of " +
        join(map_range(values, [](int64_t value) { return itostr(value); }),
             ", "));
  if (min && max && *min == *max)
    parts.push_back(itostr(*min));
  else if (min && max)
    parts.push_back(itostr(*min) + " to " + itostr(*max));
  else if (min)
    parts.push_back("at least " + itostr(*min));
  else if (max)
    parts.push_back("at most " + itostr(*max));
  if (multipleOf)
    parts.push_back("a multiple of " + itostr(*multipleOf));
  return parts.empty() ? "any value" : join(parts, " and ");
}

std::string AttributeMatch::describe() const {
  if (any)
    return "any value";
  if (min && max)
    return toString(AttributeValue(*min)) + " to " +
           toString(AttributeValue(*max));
  std::string list = join(
      map_range(values,
                [](const AttributeValue &value) { return toString(value); }),
      ", ");
  return values.size() == 1 ? list : "one of " + list;
}

static bool accepts(const AttributeMatch &match, const AttributeValue &value) {
  if (match.any)
    return true;
  if (match.min && match.max) {
    double number;
    if (const double *real = std::get_if<double>(&value))
      number = *real;
    else if (const int64_t *integer = std::get_if<int64_t>(&value))
      number = static_cast<double>(*integer);
    else
      return false;
    return number >= *match.min && number <= *match.max;
  }
  return any_of(match.values, [&](const AttributeValue &allowed) {
    return isIdentical(allowed, value);
  });
}

//===----------------------------------------------------------------------===//
// Exact matching
//===----------------------------------------------------------------------===//

static std::string typeList(const OperandMatch &match) {
  std::vector<StringRef> names;
  for (ElementType type : match.types)
    names.push_back(elementTypeName(type));
  return join(names, " or ");
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  return "[" +
         join(map_range(shape, [](int64_t extent) { return itostr(extent); }),
              ", ") +
         "]";
}

static void matchShape(const OperandMatch &match, const OperandSpec &operand,
                       const Problem &problem,
                       std::vector<Mismatch> &mismatches) {
  std::vector<int64_t> expected;
  for (const Expression &extent : *match.shape) {
    Expected<int64_t> value = extent.evaluate(problem.dimensions);
    if (!value) {
      mismatches.push_back({"operand " + operand.role + " shape",
                            extent.text().str(),
                            llvm::toString(value.takeError())});
      return;
    }
    expected.push_back(*value);
  }
  if (expected != operand.shape)
    mismatches.push_back({"operand " + operand.role + " shape",
                          shapeText(expected), shapeText(operand.shape)});
}

/// A dimension of which each launch has its own number.
static void matchVarying(const Tactic &tactic, const Problem &problem,
                         const std::string &name, const DimensionMatch &match,
                         const Affine &extent,
                         std::vector<Mismatch> &mismatches) {
  uint64_t least = extent.leastOver(problem.guards).value_or(0);
  uint64_t greatest = extent.greatestOver(problem.guards).value_or(0);
  std::string found = utostr(least) + " to " + utostr(greatest) +
                      " at launch (" + extent.str() + ")";
  if (!tactic.follows.count(name) && !tactic.masks.count(name))
    mismatches.push_back({"dimension " + name,
                          "one extent, as the tactic neither follows nor masks "
                          "it",
                          found});
  else if (!match.acceptsAll(int64_t(least), int64_t(greatest)))
    mismatches.push_back({"dimension " + name, match.describe(), found});
}

static void matchProblem(const Tactic &tactic, const Problem &problem,
                         const SelectOptions &options,
                         std::vector<Mismatch> &mismatches) {
  auto compare = [&](StringRef field, StringRef expected, StringRef found) {
    if (expected != found)
      mismatches.push_back({field.str(), expected.str(), found.str()});
  };
  compare("family", tactic.family, problem.family);
  compare("operation", tactic.operation, problem.operation);
  compare("target", tactic.target, options.target);
  // Without near misses, one difference is enough.
  auto isDecided = [&] {
    return options.nearestMisses == 0 && !mismatches.empty();
  };

  bool dimensionsKnown = true;
  for (const auto &[name, match] : tactic.dimensions) {
    auto found = problem.dimensions.find(name);
    if (found == problem.dimensions.end()) {
      mismatches.push_back({"dimension " + name, match.describe(), "absent"});
      dimensionsKnown = false;
    } else if (auto varies = problem.varying.find(name);
               varies != problem.varying.end()) {
      matchVarying(tactic, problem, name, match, varies->second, mismatches);
    } else if (!match.accepts(found->second)) {
      mismatches.push_back(
          {"dimension " + name, match.describe(), itostr(found->second)});
    }
  }
  for (const auto &[name, value] : problem.dimensions)
    if (!tactic.dimensions.count(name))
      mismatches.push_back({"dimension " + name, "absent", itostr(value)});
  if (isDecided())
    return;

  for (const auto &[role, match] : tactic.operands) {
    if (isDecided())
      return;
    const OperandSpec *operand = problem.find(role);
    if (!operand) {
      if (!match.optional)
        mismatches.push_back(
            {"operand " + role, typeList(match) + " operand", "absent"});
      continue;
    }
    if (!is_contained(match.types, operand->type))
      mismatches.push_back({"operand " + role + " type", typeList(match),
                            elementTypeName(operand->type).str()});
    if (!is_contained(match.layouts, operand->layout))
      mismatches.push_back({"operand " + role + " layout",
                            join(match.layouts, " or "), operand->layout});
    if (match.shape && dimensionsKnown)
      matchShape(match, *operand, problem, mismatches);
  }
  for (const OperandSpec &operand : problem.operands)
    if (!tactic.operands.count(operand.role))
      mismatches.push_back({"operand " + operand.role, "absent",
                            tensorName(operand.type, operand.shape)});
  if (isDecided())
    return;

  for (const auto &[name, match] : tactic.attributes) {
    auto found = problem.attributes.find(name);
    if (found == problem.attributes.end())
      mismatches.push_back({"attribute " + name, match.describe(), "absent"});
    else if (!accepts(match, found->second))
      mismatches.push_back(
          {"attribute " + name, match.describe(), toString(found->second)});
  }
  for (const auto &[name, value] : problem.attributes)
    if (!tactic.attributes.count(name))
      mismatches.push_back({"attribute " + name, "absent", toString(value)});
}

Cost estimateCost(const Instance &instance) {
  const Tactic &tactic = *instance.tactic;
  std::optional<uint64_t> bytes;
  if (tactic.costBytes) {
    Expected<int64_t> value = tactic.costBytes->evaluate(instance.constants);
    if (value)
      bytes = uint64_t(std::max<int64_t>(*value, 0));
    consumeError(value.takeError());
  }
  return estimateCost(instance.contract.problem, *findTarget(tactic.target),
                      bytes);
}

Candidate matchTactic(const Tactic &tactic, const Problem &problem,
                      const SelectOptions &options) {
  Candidate candidate;
  candidate.tactic = &tactic;
  matchProblem(tactic, problem, options, candidate.mismatches);
  if (tactic.maturity == Maturity::Rejected)
    candidate.mismatches.push_back(
        {"maturity", "verified or accepted", "rejected"});
  else if (tactic.maturity == Maturity::Experiment &&
           !options.allowExperimental)
    candidate.mismatches.push_back(
        {"maturity", "verified or accepted (or permission for experiments)",
         "experiment"});
  if (tactic.golden && !options.allowGolden)
    candidate.mismatches.push_back(
        {"golden code object", "a folder that has it (--golden-root)", "none"});
  if (!candidate.matches())
    return candidate;
  std::vector<Mismatch> faults;
  if (std::optional<Instance> instance =
          resolveOptions(tactic, problem, faults)) {
    candidate.instance = std::move(*instance);
    candidate.cost = estimateCost(candidate.instance);
  } else {
    candidate.mismatches = std::move(faults);
  }
  return candidate;
}

Expected<Instance> instantiate(const Tactic &tactic, const Problem &problem,
                               const std::map<std::string, int64_t> &options) {
  std::vector<Mismatch> mismatches;
  SelectOptions selectOptions;
  selectOptions.target = tactic.target;
  matchProblem(tactic, problem, selectOptions, mismatches);
  for (const auto &[name, choices] : tactic.options) {
    auto found = options.find(name);
    if (found == options.end())
      mismatches.push_back({"option " + name, "a value", "none"});
    else if (!is_contained(choices, found->second))
      mismatches.push_back({"option " + name,
                            "one of " + join(map_range(choices,
                                                       [](int64_t value) {
                                                         return itostr(value);
                                                       }),
                                             ", "),
                            itostr(found->second)});
  }
  for (const auto &[name, value] : options)
    if (none_of(tactic.options,
                [&](const auto &option) { return option.first == name; }))
      mismatches.push_back({"option " + name, "absent", itostr(value)});
  if (mismatches.empty()) {
    std::vector<int64_t> values;
    for (const auto &[name, choices] : tactic.options)
      values.push_back(options.at(name));
    Mismatch fault;
    if (std::optional<Instance> instance =
            buildInstance(tactic, problem, values, fault))
      return std::move(*instance);
    mismatches.push_back(std::move(fault));
  }
  std::vector<std::string> lines;
  for (const Mismatch &mismatch : mismatches)
    lines.push_back(mismatch.str());
  return createStringError("tactic " + tactic.name + ": " + join(lines, "; "));
}

} // namespace netra
