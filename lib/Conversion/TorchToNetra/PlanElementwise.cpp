//===- PlanElementwise.cpp - Activations, sums, products element by element
//===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "GraphReader.h"
#include "Planner.h"

using namespace mlir;
using namespace netra;
using namespace netra::importer;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

std::optional<ActivationMatch> netra::importer::matchActivation(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getNumOperands() == 0)
    return std::nullopt;
  StringRef name = op->getName().getStringRef();
  Value x = op->getOperand(0);
  if (name == "torch.aten.silu")
    return ActivationMatch{x, Activation::SiLU};
  if (name == "torch.aten.sigmoid")
    return ActivationMatch{x, Activation::Sigmoid};
  if (name == "torch.aten.gelu" && op->getNumOperands() == 2) {
    std::optional<StringRef> approximate = constantStr(op->getOperand(1));
    if (approximate == StringRef("none"))
      return ActivationMatch{x, Activation::GELUErf};
    if (approximate == StringRef("tanh"))
      return ActivationMatch{x, Activation::GELUTanh};
  }
  // x * sigmoid(x)
  if (name == "torch.aten.mul.Tensor" && op->getNumOperands() == 2)
    for (unsigned i : {0u, 1u}) {
      Operation *sigmoid =
          definedBy(skipIdentities(op->getOperand(i)), "torch.aten.sigmoid");
      Value other = op->getOperand(1 - i);
      if (sigmoid && sigmoid->getNumOperands() == 1 &&
          skipIdentities(sigmoid->getOperand(0)) == skipIdentities(other) &&
          tensorTypeOf(other) == tensorTypeOf(value))
        return ActivationMatch{other, Activation::SiLU};
    }
  return std::nullopt;
}

static ActivationAttr getActivationAttr(Emitter &emitter, Activation kind) {
  return ActivationAttr::get(emitter.getBuilder().getContext(), kind);
}

Outcome Planner::makeActivation(Value result, ActivationMatch match) {
  RankedTensorType type = tensorTypeOf(result);
  if (!type || type != tensorTypeOf(match.x) ||
      !isComputeType(type.getElementType()))
    return Outcome::refuse("expected operand and result of one type with bf16, "
                           "f16 or f32 elements, found ",
                           spell(match.x.getType()), " and ",
                           spell(result.getType()));
  return Plan{{match.x}, [=](Emitter &emitter) {
                Value x = emitter.computeForm(match.x);
                emitter.define(result,
                               emitter.create<ActivationOp>(
                                   x.getType(), x,
                                   getActivationAttr(emitter, match.kind)));
              }};
}

Outcome Planner::planActivation(Operation *op) {
  if (op->getNumResults() != 1)
    return Outcome::refuse("expected one result");
  std::optional<ActivationMatch> match = matchActivation(op->getResult(0));
  if (!match)
    return Outcome::refuse(
        "expected a constant approximation \"none\" or \"tanh\"");
  return makeActivation(op->getResult(0), *match);
}

std::optional<Outcome> Planner::matchWidenedActivation(Operation *conversion) {
  Value result = conversion->getResult(0);
  Value activated = skipIdentities(conversion->getOperand(0));
  std::optional<ActivationMatch> match = matchActivation(activated);
  if (!match)
    return std::nullopt;
  match->x = skipWidening(match->x);
  Type narrow = tensorTypeOf(result).getElementType();
  if (!isComputeType(narrow) || countUses(activated) != 1 ||
      tensorTypeOf(match->x) != tensorTypeOf(result) ||
      !isWidening(narrow, tensorTypeOf(activated).getElementType()))
    return std::nullopt;
  return makeActivation(result, *match);
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// Plans netra.add or netra.mul, with the smaller operand repeated along
/// leading dimensions.
template <typename OpT> static Outcome planBinary(Operation *op) {
  if (op->getNumOperands() < 2 || op->getNumResults() != 1)
    return Outcome::refuse("expected two tensor operands and one result");
  Value result = op->getResult(0);
  Value large = op->getOperand(0);
  Value small = op->getOperand(1);
  RankedTensorType type = tensorTypeOf(result);
  if (!type || !tensorTypeOf(large) || !tensorTypeOf(small))
    return Outcome::refuse(
        "expected operands and result of known rank and element type");
  Type element = type.getElementType();
  for (Value operand : {large, small}) {
    Type from = tensorTypeOf(operand).getElementType();
    if (!isComputeType(element) || !isComputeType(from))
      return Outcome::refuse("expected elements of type bf16, f16 or f32, "
                             "found ",
                             spell(operand.getType()), " and a result ",
                             spell(result.getType()));
    if (!isWidening(from, element))
      return Outcome::refuse("expected operands that the result type can hold, "
                             "found ",
                             spell(operand.getType()), " for a result ",
                             spell(result.getType()));
  }
  if (tensorTypeOf(large).getShape() != type.getShape())
    std::swap(large, small);
  ArrayRef<int64_t> shape = type.getShape();
  ArrayRef<int64_t> smallShape = tensorTypeOf(small).getShape();
  ArrayRef<int64_t> repeated = dropLeadingOnes(smallShape);
  if (tensorTypeOf(large).getShape() != shape ||
      repeated.size() > shape.size() ||
      shape.take_back(repeated.size()) != repeated)
    return Outcome::refuse(
        "expected operands of one shape, or one repeated along leading "
        "dimensions only, found ",
        spell(tensorTypeOf(op->getOperand(0)).getShape()), " and ",
        spell(tensorTypeOf(op->getOperand(1)).getShape()));
  // A bias stays a vector even where one row would do: the matrix product
  // recognises it so. Otherwise equal elements take equal shapes.
  bool isVector = smallShape.size() == 1 && shape.size() > 1;
  bool sameElements = !isVector && dropLeadingOnes(shape) == repeated;
  if (smallShape != shape && countDynamic(smallShape) > 1 &&
      (sameElements || smallShape != repeated))
    return Outcome::refuse("expected at most one unknown size, found ",
                           spell(smallShape));
  return Plan{{large, small}, [=](Emitter &emitter) {
                Value lhs, rhs;
                if (sameElements || repeated.size() <= 1)
                  lhs = emitter.computeForm(large);
                else
                  lhs = emitter.full(large);
                auto lhsType = cast<RankedTensorType>(lhs.getType());
                if (sameElements)
                  rhs = emitter.shaped(small, lhsType.getShape());
                else if (isVector)
                  rhs = emitter.full(small);
                else
                  rhs = emitter.shaped(small, repeated);
                lhs = emitter.cast(lhs, element);
                rhs = emitter.cast(rhs, element);
                emitter.define(result,
                               emitter.create<OpT>(lhs.getType(), lhs, rhs));
              }};
}

Outcome Planner::planAdd(Operation *op) {
  if (op->getNumOperands() == 3 && !isNumber(op->getOperand(2), 1.0))
    return Outcome::refuse("expected alpha to be the constant 1");
  return planBinary<AddOp>(op);
}

Outcome Planner::planMul(Operation *op) {
  if (std::optional<Outcome> norm = matchNorm(op))
    return std::move(*norm);
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return Outcome::refuse("expected two tensor operands and one result");
  Value result = op->getResult(0);
  if (std::optional<ActivationMatch> silu = matchActivation(result))
    return makeActivation(result, *silu);

  // activation(gate) * up, where nothing else needs the activated gate. A gate
  // of sigmoid is left to fusion: it is no feed-forward's, and its activation
  // may serve several products.
  RankedTensorType type = tensorTypeOf(result);
  for (unsigned i : {0u, 1u}) {
    Value activated = op->getOperand(i);
    Value up = op->getOperand(1 - i);
    std::optional<ActivationMatch> match =
        matchActivation(skipIdentities(activated));
    if (!match || match->kind == Activation::Sigmoid ||
        countUses(activated) != 1 || !type || !rowsShape(type) ||
        !isComputeType(type.getElementType()) ||
        tensorTypeOf(match->x) != type || tensorTypeOf(up) != type)
      continue;
    return Plan{{match->x, up}, [=](Emitter &emitter) {
                  Value gate = emitter.rows(match->x);
                  Value value = emitter.rows(up);
                  auto gated = emitter.create<GatedOp>(
                      gate.getType(), gate, value,
                      getActivationAttr(emitter, match->kind).getValue());
                  emitter.define(result, gated.getResult());
                }};
  }
  return planBinary<MulOp>(op);
}

Outcome Planner::planScalar(Operation *op) {
  StringRef name = op->getName().getStringRef();
  double neutral =
      name == "torch.aten.add.Scalar" || name == "torch.aten.sub.Scalar" ? 0.0
                                                                         : 1.0;
  if (op->getNumOperands() < 2 || op->getNumResults() != 1 ||
      !isNumber(op->getOperand(1), neutral))
    return Outcome::refuse("expected the constant ",
                           std::string(neutral == 0.0 ? "0" : "1"),
                           ", which changes nothing; no netra operation "
                           "combines a tensor with another number");
  Value source = op->getOperand(0);
  Value result = op->getResult(0);
  RankedTensorType type = tensorTypeOf(source);
  if (!isNetraTensor(type) || type != tensorTypeOf(result))
    return Outcome::refuse("expected operand and result of one type, found ",
                           spell(source.getType()), " and ",
                           spell(result.getType()));
  return Plan{{source},
              [=](Emitter &emitter) { emitter.share(result, source); }};
}
