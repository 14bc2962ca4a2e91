//===- PlanProduct.cpp - Matrix products ----------------------------------===//
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
// Weights
//===----------------------------------------------------------------------===//

/// The [N, K] weight of a product, as netra.dense takes it.
struct Planner::Weight {
  Value source;
  /// Element types that the weight is converted to, one after the other.
  SmallVector<Type> conversions;
  /// `source` is [K, N] and must be transposed.
  bool transpose = false;

  Type elementType() const {
    return conversions.empty() ? tensorTypeOf(source).getElementType()
                               : conversions.back();
  }
  int64_t outputs() const {
    return tensorTypeOf(source).getDimSize(transpose ? 1 : 0);
  }
  int64_t inputs() const {
    return tensorTypeOf(source).getDimSize(transpose ? 0 : 1);
  }
  Value emit(Emitter &emitter) const {
    Value weight = emitter.full(source);
    for (Type element : conversions)
      weight = emitter.cast(weight, element);
    if (!transpose)
      return weight;
    auto type = cast<RankedTensorType>(weight.getType());
    return emitter.create<TransposeOp>(
        type.clone({type.getDimSize(1), type.getDimSize(0)}), weight,
        emitter.getBuilder().getDenseI64ArrayAttr({1, 0}));
  }
};

/// True when `op` exchanges the two dimensions of a matrix.
static bool isMatrixTranspose(Operation *op) {
  if (!op || op->getNumOperands() == 0)
    return false;
  RankedTensorType type = tensorTypeOf(op->getOperand(0));
  if (!type || type.getRank() != 2)
    return false;
  StringRef name = op->getName().getStringRef();
  if (name == "torch.aten.t" || name == "torch.aten.numpy_T")
    return true;
  if (name == "torch.aten.permute" && op->getNumOperands() == 2) {
    std::optional<SmallVector<int64_t>> dims =
        constantIntList(op->getOperand(1));
    return dims && dims->size() == 2 &&
           normalizeDimension((*dims)[0], 2) == 1 &&
           normalizeDimension((*dims)[1], 2) == 0;
  }
  if (name != "torch.aten.transpose.int" || op->getNumOperands() != 3)
    return false;
  std::optional<int64_t> first = constantInt(op->getOperand(1));
  std::optional<int64_t> second = constantInt(op->getOperand(2));
  if (!first || !second)
    return false;
  first = normalizeDimension(*first, 2);
  second = normalizeDimension(*second, 2);
  return first && second && *first != *second;
}

/// The weight behind the right operand of mm. A transposition there undoes the
/// one that netra.dense implies; conversions commute with it.
Planner::Weight Planner::findWeight(Value rhs) {
  SmallVector<Type> conversions;
  for (Value value = rhs;;) {
    value = skipIdentities(value);
    Operation *op = value.getDefiningOp();
    if (isMatrixTranspose(op)) {
      std::reverse(conversions.begin(), conversions.end());
      return Weight{op->getOperand(0), conversions, /*transpose=*/false};
    }
    if (!isConversion(op))
      return Weight{rhs, {}, /*transpose=*/true};
    Type to = tensorTypeOf(value).getElementType();
    Type from = tensorTypeOf(op->getOperand(0)).getElementType();
    if (!isComputeType(to) || !isComputeType(from))
      return Weight{rhs, {}, /*transpose=*/true};
    conversions.push_back(to);
    value = op->getOperand(0);
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// True for [N], or [1, ..., 1, N].
static bool isVectorOf(RankedTensorType type, int64_t size) {
  return type && type.getRank() > 0 && type.hasStaticShape() &&
         type.getNumElements() == size && type.getShape().back() == size;
}

Outcome Planner::makeDense(Value result, Value x, Weight weight, Value bias,
                           Value residual) {
  RankedTensorType xType = tensorTypeOf(x);
  RankedTensorType type = tensorTypeOf(result);
  Type element = type ? type.getElementType() : Type();
  if (!xType || !isComputeType(element) || xType.getElementType() != element ||
      weight.elementType() != element)
    return Outcome::refuse("expected operands and result of one element type, "
                           "bf16, f16 or f32, found ",
                           spell(x.getType()), ", weight elements of ",
                           spell(weight.elementType()), ", result ",
                           spell(result.getType()));
  std::optional<SmallVector<int64_t>> xRows = rowsShape(xType);
  std::optional<SmallVector<int64_t>> rows = rowsShape(type);
  if (!xRows || !rows)
    return Outcome::refuse("expected at most one unknown size in what is "
                           "collapsed to rows, found ",
                           spell(xType.getShape()), " and a result ",
                           spell(type.getShape()));
  if ((*xRows)[1] != weight.inputs())
    return Outcome::refuse(
        "expected the last size of ", spell(xType.getShape()),
        " to be that of the [N, K] weight [", std::to_string(weight.outputs()),
        ",", std::to_string(weight.inputs()), "]");
  SmallVector<int64_t> expected{(*xRows)[0], weight.outputs()};
  if (*rows != expected)
    return Outcome::refuse("expected a result of ", spell(expected),
                           " as rows, found ", spell(type.getShape()));

  SmallVector<Value> inputs{x, weight.source};
  for (Value operand : {bias, residual}) {
    if (!operand)
      continue;
    inputs.push_back(operand);
    RankedTensorType operandType = tensorTypeOf(operand);
    bool fits = operandType && operandType.getElementType() == element &&
                (operand == bias ? isVectorOf(operandType, expected[1])
                                 : operandType.getShape() == type.getShape());
    if (!fits)
      return Outcome::refuse(
          "expected ",
          std::string(operand == bias ? "a bias of [" : "a summand of ["),
          (operand == bias ? "" : "M,"), "N] = ",
          (operand == bias ? spell({expected[1]}) : spell(type.getShape())),
          " and ", spell(element), ", found ", spell(operand.getType()));
  }

  return Plan{inputs, [=](Emitter &emitter) {
                Value xValue = emitter.rows(x);
                Value weightValue = weight.emit(emitter);
                Value biasValue, residualValue;
                if (bias)
                  biasValue = emitter.shaped(bias, {expected[1]});
                if (residual)
                  residualValue = emitter.rows(residual);
                auto dense = emitter.create<DenseOp>(
                    RankedTensorType::get(expected, element), xValue,
                    weightValue, Value(), Value(), biasValue, residualValue,
                    BlockScaleAttr(), BlockScaleAttr(), EpilogueAttr());
                emitter.define(result, dense.getResult());
              }};
}

Outcome Planner::planProduct(Operation *op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return Outcome::refuse("expected two tensor operands and one result");
  Value lhs = op->getOperand(0);
  Value rhs = op->getOperand(1);
  RankedTensorType lhsType = tensorTypeOf(lhs);
  RankedTensorType rhsType = tensorTypeOf(rhs);
  if (!lhsType || !rhsType)
    return Outcome::refuse("expected operands of known rank and element type");
  if (rhsType.getRank() != 2)
    return Outcome::refuse("expected a right operand of rank 2, the weight, "
                           "found rank ",
                           std::to_string(rhsType.getRank()),
                           ": no netra operation multiplies matrix by matrix "
                           "of a batch");
  return makeDense(op->getResult(0), lhs, findWeight(rhs), Value(), Value());
}

Outcome Planner::planLinear(Operation *op) {
  if (op->getNumOperands() < 2 || op->getNumResults() != 1)
    return Outcome::refuse("expected tensor, weight, bias and one result");
  RankedTensorType weight = tensorTypeOf(op->getOperand(1));
  if (!weight || weight.getRank() != 2)
    return Outcome::refuse("expected a weight of rank 2, found ",
                           spell(op->getOperand(1).getType()));
  Value bias = op->getNumOperands() > 2 ? op->getOperand(2) : Value();
  if (bias && isConstantNone(bias))
    bias = Value();
  return makeDense(op->getResult(0), op->getOperand(0),
                   Weight{op->getOperand(1), {}, /*transpose=*/false}, bias,
                   Value());
}

Outcome Planner::planAddmm(Operation *op) {
  if (op->getNumOperands() != 5 || op->getNumResults() != 1)
    return Outcome::refuse("expected summand, two matrices, beta and alpha");
  if (!isNumber(op->getOperand(3), 1.0) || !isNumber(op->getOperand(4), 1.0))
    return Outcome::refuse("expected beta and alpha to be the constant 1");
  Value summand = op->getOperand(0);
  RankedTensorType summandType = tensorTypeOf(summand);
  RankedTensorType rhs = tensorTypeOf(op->getOperand(2));
  if (!rhs || rhs.getRank() != 2 || !summandType)
    return Outcome::refuse("expected operands of known rank and element type, "
                           "the right matrix of rank 2");
  bool isBias = isVectorOf(summandType, rhs.getDimSize(1));
  return makeDense(op->getResult(0), op->getOperand(1),
                   findWeight(op->getOperand(2)), isBias ? summand : Value(),
                   isBias ? Value() : summand);
}

//===----------------------------------------------------------------------===//
// Custom operators
//===----------------------------------------------------------------------===//

Outcome Planner::planOperator(Operation *op) {
  StringRef name = cast<torch::OperatorOp>(op).getName();
  name.consume_back(".default");
  if (name != "torch.netra.block_scaled_linear")
    return Outcome::refuse(name.contains("scaled_dot_product")
                               ? "no netra operation computes attention"
                               : "no netra operation is known under this name");
  if (op->getNumOperands() != 3 || op->getNumResults() != 1)
    return Outcome::refuse("expected operands x, weight, weight_scale and one "
                           "result");
  Value x = op->getOperand(0), weight = op->getOperand(1);
  Value scale = op->getOperand(2), result = op->getResult(0);
  RankedTensorType xType = tensorTypeOf(x), weightType = tensorTypeOf(weight);
  RankedTensorType scaleType = tensorTypeOf(scale);
  RankedTensorType type = tensorTypeOf(result);
  if (!xType || !weightType || !scaleType || !type)
    return Outcome::refuse(
        "expected operands and result of known rank and element type");
  if (!isComputeType(xType.getElementType()) ||
      xType.getElementType() != type.getElementType())
    return Outcome::refuse("expected x and result of one element type, bf16, "
                           "f16 or f32, found ",
                           spell(x.getType()), " and ",
                           spell(result.getType()));
  if (weightType.getRank() != 2 || !weightType.hasStaticShape() ||
      !isa<Float8E4M3FNType>(weightType.getElementType()))
    return Outcome::refuse("expected a weight [N, K] of f8E4M3FN, found ",
                           spell(weight.getType()));
  int64_t outputs = weightType.getDimSize(0), inputs = weightType.getDimSize(1);
  SmallVector<int64_t> scaleShape{llvm::divideCeilSigned(outputs, 128),
                                  llvm::divideCeilSigned(inputs, 128)};
  if (scaleType.getShape() != ArrayRef(scaleShape) ||
      !scaleType.getElementType().isF32())
    return Outcome::refuse("expected a weight_scale ", spell(scaleShape),
                           " of f32, one number per 128x128 weights, found ",
                           spell(scale.getType()));
  std::optional<SmallVector<int64_t>> xRows = rowsShape(xType);
  std::optional<SmallVector<int64_t>> rows = rowsShape(type);
  if (!xRows || !rows || (*xRows)[1] != inputs || inputs % 128 != 0 ||
      *rows != SmallVector<int64_t>{(*xRows)[0], outputs})
    return Outcome::refuse(
        "expected x [M, K] and result [M, N] for a weight ",
        spell(weightType.getShape()), " with K a multiple of 128, found ",
        spell(xType.getShape()), " and ", spell(type.getShape()));
  return Plan{
      {x, weight, scale}, [=](Emitter &emitter) {
        MLIRContext *context = emitter.getBuilder().getContext();
        auto perRow = BlockScaleAttr::get1x128(context);
        auto perSquare = BlockScaleAttr::get128x128(context);
        Value weightValue = emitter.full(weight);
        Value scaleValue = emitter.full(scale);
        QuantizeBlocksOp quantized = emitter.quantize(emitter.rows(x), perRow);
        auto dense = emitter.create<DenseOp>(
            RankedTensorType::get(*rows, type.getElementType()),
            quantized.getResult(), weightValue, quantized.getResultScale(),
            scaleValue, Value(), Value(), perRow, perSquare, EpilogueAttr());
        emitter.define(result, dense.getResult());
      }};
}
