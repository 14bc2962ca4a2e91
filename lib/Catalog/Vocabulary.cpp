//===- Vocabulary.cpp - Attributes of problems ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Vocabulary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace llvm;

namespace netra {

using Kind = AttributeDefinition::Kind;

static constexpr StringRef accumulations[] = {"f32"};
static constexpr StringRef activations[] = {"none", "silu", "sigmoid",
                                            "gelu_erf", "gelu_tanh"};
static constexpr StringRef epilogues[] = {
    "none",          "silu",           "sigmoid",
    "gelu_erf",      "gelu_tanh",      "gated_silu",
    "gated_sigmoid", "gated_gelu_erf", "gated_gelu_tanh"};
static constexpr StringRef roundings[] = {"none", "bf16"};
static constexpr StringRef scorings[] = {"softmax", "sigmoid"};
static constexpr StringRef normalizations[] = {"none", "sum"};
static constexpr StringRef sharedExperts[] = {"none", "one", "sigmoid"};
static constexpr double largest = std::numeric_limits<float>::max();

static constexpr AttributeDefinition definitions[] = {
    {"accumulation", Kind::Choice, accumulations},
    {"activation", Kind::Choice, activations},
    {"activation_rounding", Kind::Choice, roundings},
    {"epilogue", Kind::Choice, epilogues},
    {"epsilon", Kind::Number, {}, 0, 1},
    {"normalize", Kind::Choice, normalizations},
    {"permutation", Kind::Permutation},
    {"result_block_scale", Kind::BlockScale},
    {"routed_scale", Kind::Number, {}, -largest, largest},
    {"scale", Kind::Number, {}, -largest, largest},
    {"scoring", Kind::Choice, scorings},
    {"shared_expert", Kind::Choice, sharedExperts},
    {"weight_block_scale", Kind::BlockScale},
    {"weight_offset", Kind::Number, {}, -largest, largest},
    {"x_block_scale", Kind::BlockScale},
};

ArrayRef<AttributeDefinition> allAttributes() { return definitions; }

const AttributeDefinition *findAttribute(StringRef name) {
  const AttributeDefinition *found =
      llvm::find_if(definitions, [&](const AttributeDefinition &definition) {
        return definition.name == name;
      });
  return found == std::end(definitions) ? nullptr : found;
}

/// Decimal digits without a sign or a leading zero, few enough for 63 bits.
static bool isPositive(StringRef text) {
  return !text.empty() && text.size() <= 18 && text.front() != '0' &&
         llvm::all_of(text, llvm::isDigit);
}

static bool isBlockScale(StringRef text) {
  auto [block, type] = text.split(':');
  auto [rows, columns] = block.split('x');
  return isPositive(rows) && isPositive(columns) &&
         (type == "f32" || type == "bf16");
}

static bool isPermutation(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  SmallVector<bool> seen(parts.size(), false);
  for (StringRef part : parts) {
    size_t dimension;
    if (part.getAsInteger(10, dimension) || dimension >= parts.size() ||
        seen[dimension] || part != std::to_string(dimension))
      return false;
    seen[dimension] = true;
  }
  return true;
}

bool AttributeDefinition::accepts(const AttributeValue &value) const {
  if (kind == Kind::Number) {
    double number;
    if (const double *real = std::get_if<double>(&value))
      number = *real;
    else if (const int64_t *integer = std::get_if<int64_t>(&value))
      number = double(*integer);
    else
      return false;
    return number >= min && number <= max;
  }
  const std::string *text = std::get_if<std::string>(&value);
  if (!text)
    return false;
  switch (kind) {
  case Kind::Choice:
    return llvm::is_contained(choices, *text);
  case Kind::BlockScale:
    return isBlockScale(*text);
  case Kind::Permutation:
    return isPermutation(*text);
  case Kind::Number:
    break;
  }
  return false;
}

std::string AttributeDefinition::describe() const {
  switch (kind) {
  case Kind::Choice:
    return "one of " + llvm::join(choices, ", ");
  case Kind::Number:
    return min == -largest
               ? "a number that f32 holds"
               : "a number from " + toString(min) + " to " + toString(max);
  case Kind::BlockScale:
    return "a block scale like 1x128:f32";
  case Kind::Permutation:
    return "a permutation like 1,0";
  }
  return "";
}

} // namespace netra
