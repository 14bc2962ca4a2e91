//===- PlanNorm.cpp - Root-mean-square norms, whole and decomposed --------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "GraphReader.h"
#include "Planner.h"

#include <cmath>

using namespace mlir;
using namespace netra;
using namespace netra::importer;

namespace {

/// What a root-mean-square norm consists of.
struct Norm {
  Value x;
  Value weight; // null: all ones
  double weightOffset = 0.0;
  double epsilon = 0.0;
};

/// Matches x * rsqrt(mean(x^2) + epsilon). Conversions in between are passed
/// over: the netra operation computes in f32 whatever stands around it.
class NormalizedMatcher {
public:
  /// True when `value` is a normalised tensor. False with an empty
  /// `difference`: it is none. False with a difference: it nearly is one.
  bool match(Value value);

  Value x;
  double epsilon = 0.0;
  SmallVector<Operation *> parts;
  std::string difference;

private:
  template <typename... Parts> bool differ(const Parts &...parts) {
    difference = concat(parts...);
    return false;
  }
  bool matchStatistics(Value normalised, Value argument);
  bool matchMean(Value normalised, Value mean);
};

} // namespace

static std::string spellSource(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? concat("'", describe(op), "'")
            : std::string("a function argument");
}

bool NormalizedMatcher::match(Value value) {
  value = skipConversions(value);
  Operation *product = value.getDefiningOp();
  if (!product || product->getNumOperands() != 2)
    return false;
  StringRef name = product->getName().getStringRef();
  if (name == "torch.aten.mul.Tensor") {
    for (unsigned i : {0u, 1u}) {
      Operation *root = definedBy(skipConversions(product->getOperand(i)),
                                  "torch.aten.rsqrt");
      if (!root || root->getNumOperands() != 1)
        continue;
      parts.append({product, root});
      return matchStatistics(product->getOperand(1 - i), root->getOperand(0));
    }
    return false;
  }
  if (name == "torch.aten.div.Tensor") {
    Operation *root =
        definedBy(skipConversions(product->getOperand(1)), "torch.aten.sqrt");
    if (!root || root->getNumOperands() != 1)
      return false;
    parts.append({product, root});
    return matchStatistics(product->getOperand(0), root->getOperand(0));
  }
  return false;
}

bool NormalizedMatcher::matchStatistics(Value normalised, Value argument) {
  argument = skipConversions(argument);
  Operation *sum = argument.getDefiningOp();
  StringRef name = definingName(argument);
  if (!sum ||
      (name != "torch.aten.add.Scalar" && name != "torch.aten.add.Tensor") ||
      sum->getNumOperands() < 2)
    return differ("expected the root of mean + epsilon, found the root of ",
                  spellSource(argument));
  parts.push_back(sum);
  if (sum->getNumOperands() > 2 && !isNumber(sum->getOperand(2), 1.0))
    return differ("expected epsilon to be added with alpha 1");
  for (unsigned i : {1u, 0u}) {
    Value number = sum->getOperand(i);
    std::optional<double> constant = constantNumber(number);
    if (!constant)
      constant = splatLiteral(number);
    if (!constant)
      continue;
    epsilon = *constant;
    if (!(epsilon >= 0.0) || !std::isfinite(static_cast<float>(epsilon)))
      return differ("expected a finite epsilon of 0 or more, found ",
                    std::to_string(epsilon));
    return matchMean(normalised, sum->getOperand(1 - i));
  }
  return differ("expected a constant epsilon");
}

bool NormalizedMatcher::matchMean(Value normalised, Value mean) {
  mean = skipConversions(mean);
  Operation *op = definedBy(mean, "torch.aten.mean.dim");
  if (!op || op->getNumOperands() != 4)
    return differ("expected epsilon to be added to 'torch.aten.mean.dim', "
                  "found ",
                  spellSource(mean));
  parts.push_back(op);
  Value squared = skipConversions(op->getOperand(0));
  Operation *square = squared.getDefiningOp();
  StringRef name = definingName(squared);
  bool isPower =
      name == "torch.aten.pow.Tensor_Scalar" && square->getNumOperands() == 2;
  if (isPower)
    parts.push_back(square);
  RankedTensorType type = tensorTypeOf(op->getOperand(0));
  if (!type || type.getRank() == 0)
    return differ("expected a mean over a tensor of known rank");
  std::optional<SmallVector<int64_t>> dims = constantIntList(op->getOperand(1));
  if (!dims || dims->size() != 1 ||
      normalizeDimension(dims->front(), type.getRank()) != type.getRank() - 1)
    return differ("expected a mean over the last dimension, found ",
                  (dims ? spell(*dims) : std::string("no constant list")));
  if (constantBool(op->getOperand(2)) != true)
    return differ("expected a mean with keepdim = true");

  if (isPower && !isNumber(square->getOperand(1), 2.0))
    return differ("expected the mean of squares, found another power");
  bool isProduct = name == "torch.aten.mul.Tensor" &&
                   square->getNumOperands() == 2 &&
                   skipWidening(square->getOperand(0)) ==
                       skipWidening(square->getOperand(1));
  if (!isPower && !isProduct && name != "torch.aten.square")
    return differ("expected the mean of squares, found the mean of ",
                  spellSource(squared));
  parts.push_back(square);
  x = skipWidening(normalised);
  if (skipWidening(square->getOperand(0)) != x)
    return differ("expected the squared tensor and the normalised one to be "
                  "the same");
  return true;
}

/// Sees through `weight + 1` and conversions; null when `value` has not the
/// shape of a weight.
static Value readWeight(Value value, int64_t size, double &offset) {
  value = skipWidening(value);
  Operation *sum = value.getDefiningOp();
  StringRef name = definingName(value);
  if (sum && sum->getNumOperands() >= 2 &&
      (name == "torch.aten.add.Scalar" || name == "torch.aten.add.Tensor") &&
      (sum->getNumOperands() == 2 || isNumber(sum->getOperand(2), 1.0)))
    for (unsigned i : {1u, 0u}) {
      std::optional<double> constant = constantNumber(sum->getOperand(i));
      if (!constant)
        constant = splatLiteral(sum->getOperand(i));
      if (!constant || !std::isfinite(static_cast<float>(*constant)) ||
          !tensorTypeOf(sum->getOperand(1 - i)))
        continue;
      offset = *constant;
      value = skipWidening(sum->getOperand(1 - i));
      break;
    }
  RankedTensorType type = tensorTypeOf(value);
  bool fits = type && type.getRank() > 0 && type.hasStaticShape() &&
              type.getNumElements() == size && type.getShape().back() == size &&
              isComputeType(type.getElementType());
  return fits ? value : Value();
}

/// The plan for a norm; refused when its types are not those of the netra
/// operation.
static Outcome makeNorm(Value result, const Norm &norm) {
  RankedTensorType xType = tensorTypeOf(norm.x);
  RankedTensorType type = tensorTypeOf(result);
  if (!xType || !type || xType.getShape() != type.getShape() ||
      !isComputeType(xType.getElementType()) ||
      !isComputeType(type.getElementType()))
    return Outcome::refuse("expected operand and result of one shape with "
                           "bf16, f16 or f32 elements, found ",
                           spell(norm.x.getType()), " and ",
                           spell(result.getType()));
  std::optional<SmallVector<int64_t>> rows = rowsShape(xType);
  if (!rows || ShapedType::isDynamic(rows->back()))
    return Outcome::refuse("expected a known last size and at most one unknown "
                           "size, found ",
                           spell(xType.getShape()));
  SmallVector<Value> inputs{norm.x};
  if (norm.weight)
    inputs.push_back(norm.weight);
  return Plan{
      inputs, [=](Emitter &emitter) {
        Builder &builder = emitter.getBuilder();
        Value x = emitter.rows(norm.x);
        Value weight;
        if (norm.weight) {
          weight = emitter.shaped(norm.weight, {rows->back()});
        } else {
          Type element = xType.getElementType();
          weight = emitter.create<ConstantOp>(
              RankedTensorType::get({rows->back()}, element),
              DenseElementsAttr::get(
                  RankedTensorType::get({rows->back()}, element),
                  builder.getFloatAttr(element, 1.0)));
        }
        auto op = emitter.create<RMSNormOp>(
            RankedTensorType::get(*rows, type.getElementType()), Type(), Type(),
            Type(), x, weight, Value(),
            builder.getF32FloatAttr(static_cast<float>(norm.epsilon)),
            builder.getF32FloatAttr(static_cast<float>(norm.weightOffset)),
            BlockScaleAttr());
        emitter.define(result, op.getResult());
      }};
}

std::optional<Outcome> Planner::matchNorm(Operation *op) {
  constexpr StringRef name = "root-mean-square norm";
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return std::nullopt;
  Value result = op->getResult(0);
  Value product = result;
  if (isConversion(op)) {
    // Only a narrowing conversion ends a norm: behind a widening one lies a
    // value that was rounded, and that may have other uses.
    product = skipIdentities(op->getOperand(0));
    Type from = tensorTypeOf(product).getElementType();
    Type to = tensorTypeOf(result).getElementType();
    if (from == to || !isComputeType(from) || !isWidening(to, from))
      return std::nullopt;
  }
  Operation *root = product.getDefiningOp();
  StringRef rootName = definingName(product);
  if (!root || root->getNumOperands() != 2 ||
      (rootName != "torch.aten.mul.Tensor" &&
       rootName != "torch.aten.div.Tensor"))
    return std::nullopt;

  // Without a weight.
  {
    NormalizedMatcher matcher;
    if (matcher.match(product))
      return makeNorm(result, Norm{matcher.x, Value(), 0.0, matcher.epsilon});
    if (!matcher.difference.empty()) {
      recordNearMiss(matcher.parts, root, name, matcher.difference);
      return std::nullopt;
    }
  }
  if (rootName != "torch.aten.mul.Tensor")
    return std::nullopt;

  // With a weight, on either side.
  for (unsigned i : {0u, 1u}) {
    NormalizedMatcher matcher;
    bool matched = matcher.match(root->getOperand(i));
    if (!matched && matcher.difference.empty())
      continue;
    matcher.parts.push_back(root);
    if (!matched) {
      recordNearMiss(matcher.parts, root, name, matcher.difference);
      continue;
    }
    RankedTensorType type = tensorTypeOf(matcher.x);
    Norm norm{matcher.x, Value(), 0.0, matcher.epsilon};
    if (type && type.getRank() > 0)
      norm.weight = readWeight(root->getOperand(1 - i), type.getShape().back(),
                               norm.weightOffset);
    if (!norm.weight) {
      recordNearMiss(
          matcher.parts, root, name,
          concat("expected a weight as long as the last dimension of ",
                 spell(matcher.x.getType()), ", found ",
                 spell(root->getOperand(1 - i).getType())));
      continue;
    }
    Outcome outcome = makeNorm(result, norm);
    if (outcome.plan)
      return outcome;
    recordNearMiss(matcher.parts, root, name, outcome.reason);
  }
  return std::nullopt;
}

Outcome Planner::planWholeNorm(Operation *op) {
  if (op->getNumOperands() != 4)
    return Outcome::refuse("expected operands x, normalized_shape, weight, "
                           "epsilon");
  for (Value extra : op->getResults().drop_front())
    if (countUses(extra) != 0)
      return Outcome::refuse("expected the reciprocal root to be unused: "
                             "netra.rms_norm does not return it");
  Value x = op->getOperand(0), weight = op->getOperand(2);
  RankedTensorType type = tensorTypeOf(x);
  std::optional<SmallVector<int64_t>> shape =
      constantIntList(op->getOperand(1));
  if (!type || type.getRank() == 0 || !shape || shape->size() != 1 ||
      shape->front() != type.getShape().back())
    return Outcome::refuse(
        "expected normalized_shape to be the last size of ", spell(x.getType()),
        ", found ", (shape ? spell(*shape) : std::string("no constant list")));
  std::optional<double> epsilon = constantNumber(op->getOperand(3));
  if (!epsilon)
    return Outcome::refuse("expected a constant epsilon: what None stands for "
                           "differs between versions of torch");
  if (!(*epsilon >= 0.0) || !std::isfinite(static_cast<float>(*epsilon)))
    return Outcome::refuse("expected a finite epsilon of 0 or more");
  Norm norm{x, Value(), 0.0, *epsilon};
  if (!isConstantNone(weight)) {
    norm.weight = readWeight(weight, shape->front(), norm.weightOffset);
    if (!norm.weight)
      return Outcome::refuse("expected a weight of [",
                             std::to_string(shape->front()), "], found ",
                             spell(weight.getType()));
  }
  return makeNorm(op->getResult(0), norm);
}
