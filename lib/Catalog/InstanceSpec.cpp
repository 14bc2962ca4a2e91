//===- InstanceSpec.cpp - Instances named by what is open -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Catalog.h"
#include "Netra/Catalog/Vocabulary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace netra {

namespace {
/// Completes a spec to a problem, from what the tactic takes.
class SpecResolver {
public:
  SpecResolver(const Tactic &tactic, const InstanceSpec &spec)
      : tactic(tactic), spec(spec) {}

  Expected<Problem> run() {
    problem.family = tactic.family;
    problem.operation = tactic.operation;
    addDimensions();
    addAttributes();
    for (const auto &[role, match] : tactic.operands)
      addOperand(role, match);
    for (const auto &[role, operand] : spec.operands)
      if (!tactic.operands.count(role))
        fail("operand " + role, "an operand of the tactic");
    if (faults.empty())
      if (Error error = problem.verify())
        faults.push_back(llvm::toString(std::move(error)));
    if (!faults.empty())
      return createStringError("tactic " + tactic.name + ": " +
                               join(faults, "; "));
    return std::move(problem);
  }

private:
  void fail(const Twine &field, const Twine &expected) {
    faults.push_back((field + ": expected " + expected).str());
  }

  void addDimensions() {
    problem.dimensions = spec.dimensions;
    for (const auto &[name, match] : tactic.dimensions) {
      if (problem.dimensions.count(name))
        continue;
      if (match.values.size() == 1)
        problem.dimensions[name] = match.values.front();
      else if (match.min && match.max && *match.min == *match.max)
        problem.dimensions[name] = *match.min;
      else
        fail("dimension " + name, match.describe() + ", found none");
    }
  }

  void addAttributes() {
    problem.attributes = spec.attributes;
    // JSON does not tell 1 from 1.0; the vocabulary does.
    for (auto &[name, value] : problem.attributes) {
      const AttributeDefinition *definition = findAttribute(name);
      const int64_t *integer = std::get_if<int64_t>(&value);
      if (integer && definition &&
          definition->kind == AttributeDefinition::Kind::Number)
        value = static_cast<double>(*integer);
    }
    for (const auto &[name, match] : tactic.attributes) {
      if (problem.attributes.count(name))
        continue;
      if (match.values.size() == 1)
        problem.attributes[name] = match.values.front();
      else
        fail("attribute " + name, match.describe() + ", found none");
    }
  }

  void addOperand(const std::string &role, const OperandMatch &match) {
    auto found = spec.operands.find(role);
    if (found == spec.operands.end() && match.optional)
      return;
    InstanceSpec::Operand given;
    if (found != spec.operands.end())
      given = found->second;
    OperandSpec operand;
    operand.role = role;
    if (given.type)
      operand.type = *given.type;
    else if (match.types.size() == 1)
      operand.type = match.types.front();
    else
      fail("operand " + role + " type",
           "one of several to be named, found none");
    if (given.layout)
      operand.layout = *given.layout;
    else if (match.layouts.size() == 1)
      operand.layout = match.layouts.front();
    else
      fail("operand " + role + " layout",
           "one of several to be named, found none");
    if (given.shape) {
      operand.shape = *given.shape;
    } else if (match.shape) {
      for (const Expression &extent : *match.shape) {
        Expected<int64_t> value = extent.evaluate(problem.dimensions);
        if (value)
          operand.shape.push_back(*value);
        else
          fail("operand " + role + " shape",
               extent.text() + ", found " + llvm::toString(value.takeError()));
      }
    } else {
      fail("operand " + role + " shape",
           "a shape, which the tactic leaves open, found none");
    }
    problem.operands.push_back(std::move(operand));
  }

  const Tactic &tactic;
  const InstanceSpec &spec;
  Problem problem;
  std::vector<std::string> faults;
};
} // namespace

Expected<Instance> instantiate(const Tactic &tactic, const InstanceSpec &spec) {
  Expected<Problem> problem = SpecResolver(tactic, spec).run();
  if (!problem)
    return problem.takeError();
  if (spec.options)
    return instantiate(tactic, *problem, *spec.options);
  SelectOptions options;
  options.target = tactic.target;
  options.allowExperimental = true;
  options.allowGolden = true;
  Candidate candidate = matchTactic(tactic, *problem, options);
  if (candidate.matches())
    return std::move(candidate.instance);
  std::vector<std::string> lines;
  for (const Mismatch &mismatch : candidate.mismatches)
    lines.push_back(mismatch.str());
  return createStringError("tactic " + tactic.name + ": " + join(lines, "; "));
}

} // namespace netra
