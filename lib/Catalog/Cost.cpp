//===- Cost.cpp - What operations move and compute ------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Cost.h"

#include "Netra/Catalog/Operations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace llvm;

namespace netra {

//===----------------------------------------------------------------------===//
// Names that expressions of operations use
//===----------------------------------------------------------------------===//

/// One FLOP each: silu is x / (1 + exp(-x)), sigmoid 1 / (1 + exp(-x)),
/// gelu_erf 0.5 * x * (1 + erf(x * c)) and gelu_tanh
/// 0.5 * x * (1 + tanh(c * (x + d * x * x * x))).
static int64_t activationFlop(StringRef name) {
  name.consume_front("gated_");
  return StringSwitch<int64_t>(name)
      .Case("silu", 3)
      .Case("sigmoid", 3)
      .Case("gelu_erf", 5)
      .Case("gelu_tanh", 9)
      .Default(0);
}

static std::string textOf(const Problem &problem, StringRef attribute) {
  auto found = problem.attributes.find(attribute.str());
  return found == problem.attributes.end() ? "" : toString(found->second);
}

/// 1 when the attribute is there and is another number.
static int64_t isOther(const Problem &problem, StringRef attribute,
                       double neutral) {
  auto found = problem.attributes.find(attribute.str());
  if (found == problem.attributes.end())
    return 0;
  if (const auto *number = std::get_if<int64_t>(&found->second))
    return double(*number) != neutral;
  const auto *number = std::get_if<double>(&found->second);
  return number && *number != neutral;
}

/// Dimensions, derived names, HAS_ROLE, COLUMNS_ROLE (the last extent),
/// ELEMENTS_ROLE, and what attributes have to do with arithmetic.
static std::map<std::string, int64_t>
collectNames(const OperationDefinition &definition, const Problem &problem) {
  std::map<std::string, int64_t> names = problem.dimensions;
  for (const OperationDefinition::Derived &derived : definition.derived)
    names[derived.name] =
        is_contained(derived.values, textOf(problem, derived.attribute))
            ? derived.inside
            : derived.outside;
  for (const OperandDefinition &operand : definition.operands) {
    const OperandSpec *found = problem.find(operand.role);
    std::string role = StringRef(operand.role).upper();
    names["HAS_" + role] = found != nullptr;
    names["COLUMNS_" + role] =
        found && !found->shape.empty() ? found->shape.back() : 0;
    Expected<uint64_t> elements =
        found ? elementCount(found->shape) : Expected<uint64_t>(0);
    names["ELEMENTS_" + role] =
        elements ? int64_t(std::min<uint64_t>(*elements, INT64_MAX))
                 : INT64_MAX;
    consumeError(elements.takeError());
  }
  names["ACTIVATION"] = activationFlop(textOf(problem, "activation")) +
                        activationFlop(textOf(problem, "epilogue"));
  names["SOFTMAX"] = textOf(problem, "scoring") == "softmax";
  names["NORMALIZED"] = textOf(problem, "normalize") == "sum";
  names["OFFSET"] = isOther(problem, "weight_offset", 0);
  names["SCALED"] =
      isOther(problem, "scale", 1) || isOther(problem, "routed_scale", 1);
  return names;
}

/// Saturates: what 63 bits do not count takes forever.
static uint64_t evaluateCount(const Expression &expression,
                              const std::map<std::string, int64_t> &names) {
  Expected<int64_t> value = expression.evaluate(names);
  if (value)
    return uint64_t(std::max<int64_t>(*value, 0));
  consumeError(value.takeError());
  return std::numeric_limits<uint64_t>::max();
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

uint64_t countBytes(const Problem &problem) {
  const OperationDefinition *definition =
      findOperation(problem.family, problem.operation);
  std::map<std::string, int64_t> names;
  if (definition)
    names = collectNames(*definition, problem);
  uint64_t sum = 0;
  for (const OperandSpec &operand : problem.operands) {
    std::vector<int64_t> shape = operand.shape;
    const OperandDefinition *defined =
        definition ? definition->find(operand.role) : nullptr;
    // The scale of what is touched in part is touched in the same part.
    if (defined && !defined->scales.empty())
      defined = definition->find(defined->scales);
    if (defined && defined->touched && !shape.empty())
      shape.front() = int64_t(std::min<uint64_t>(
          uint64_t(shape.front()), evaluateCount(*defined->touched, names)));
    Expected<uint64_t> bytes = tensorBytes(operand.type, shape);
    sum = SaturatingAdd(sum,
                        bytes ? *bytes : std::numeric_limits<uint64_t>::max());
    consumeError(bytes.takeError());
  }
  return sum;
}

uint64_t countFlop(const Problem &problem) {
  const OperationDefinition *definition =
      findOperation(problem.family, problem.operation);
  return definition ? evaluateCount(definition->flop,
                                    collectNames(*definition, problem))
                    : 0;
}

/// The peak of the units that do the arithmetic: those for matrices, at the
/// widest type that they multiply, or the vector units.
static uint64_t findPeak(const Problem &problem, const TargetInfo &target) {
  const OperationDefinition *definition =
      findOperation(problem.family, problem.operation);
  uint64_t peak = 0;
  if (definition)
    for (const std::string &role : definition->factors) {
      const OperandSpec *operand = problem.find(role);
      if (!operand)
        return target.f32FlopPerMicrosecond;
      uint64_t own = operand->type == ElementType::F8E4M3FN ||
                             operand->type == ElementType::F8E5M2
                         ? target.fp8FlopPerMicrosecond
                     : operand->type == ElementType::BF16 ||
                             operand->type == ElementType::F16
                         ? target.bf16FlopPerMicrosecond
                         : target.f32FlopPerMicrosecond;
      peak = peak ? std::min(peak, own) : own;
    }
  return peak ? peak : target.f32FlopPerMicrosecond;
}

static uint64_t picosecondsFor(uint64_t amount, uint64_t perMicrosecond) {
  auto time = static_cast<unsigned __int128>(amount) * 1000000 / perMicrosecond;
  return time > std::numeric_limits<uint64_t>::max()
             ? std::numeric_limits<uint64_t>::max()
             : static_cast<uint64_t>(time);
}

Cost estimateCost(const Problem &problem, const TargetInfo &target,
                  std::optional<uint64_t> bytes) {
  Cost cost;
  cost.bytes = bytes ? *bytes : countBytes(problem);
  cost.flop = countFlop(problem);
  uint64_t moving =
      picosecondsFor(cost.bytes, target.memoryBytesPerMicrosecond);
  uint64_t computing = picosecondsFor(cost.flop, findPeak(problem, target));
  cost.isBoundByMemory = moving >= computing;
  cost.picoseconds = std::max(moving, computing);
  return cost;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string spellTime(uint64_t picoseconds) {
  // By integer arithmetic, so that the text is the same on every machine.
  std::string fraction = utostr(picoseconds % 1000000);
  return utostr(picoseconds / 1000000) + "." +
         std::string(6 - fraction.size(), '0') + fraction + " us";
}

std::string toString(const Cost &cost) {
  return utostr(cost.bytes) + " bytes, " + utostr(cost.flop) +
         " FLOP: " + spellTime(cost.picoseconds) + ", bound by " +
         (cost.isBoundByMemory ? "memory" : "arithmetic");
}

} // namespace netra
