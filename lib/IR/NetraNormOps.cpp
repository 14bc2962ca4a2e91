//===- NetraNormOps.cpp - Norms beside the RMS norm -----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "AsmDirectives.h"
#include "Tactics.h"
#include "Verification.h"

#include "Netra/IR/NetraOps.h"

using namespace mlir;
using namespace netra;

//===----------------------------------------------------------------------===//
// Assembly directives
//===----------------------------------------------------------------------===//

using OptionalOperand = std::optional<OpAsmParser::UnresolvedOperand>;

static ParseResult
parseLayerNormTypes(OpAsmParser &parser, OptionalOperand &bias,
                    OptionalOperand &residual, BlockScaleAttr quantize, Type &x,
                    Type &weight, Type &biasType, Type &residualType,
                    Type &result, Type &resultScale, Type &sum, Type &rounded) {
  SmallVector<Type *> operands = {&x, &weight};
  if (bias)
    operands.push_back(&biasType);
  if (residual)
    operands.push_back(&residualType);
  return parseNormTypes(parser, operands, residual.has_value(),
                        static_cast<bool>(quantize), result, resultScale, sum,
                        rounded);
}

static void printLayerNormTypes(OpAsmPrinter &printer, Operation *op, Value,
                                Value, BlockScaleAttr, Type, Type, Type, Type,
                                Type, Type, Type, Type) {
  printer.printFunctionalType(op);
}

static ParseResult parseGatedNormTypes(OpAsmParser &parser,
                                       BlockScaleAttr quantize, Type &x,
                                       Type &gate, Type &weight, Type &result,
                                       Type &resultScale, Type &rounded) {
  SmallVector<Type *> results = {&result};
  if (quantize)
    results.append({&resultScale, &rounded});
  return parseFunctionTypes(parser, {&x, &gate, &weight}, results,
                            quantize ? 2 : 1);
}

static void printGatedNormTypes(OpAsmPrinter &printer, Operation *op,
                                BlockScaleAttr, Type, Type, Type, Type, Type,
                                Type) {
  printer.printFunctionalType(op);
}

#define GET_OP_CLASSES
#include "Netra/IR/NetraNormOps.cpp.inc"

//===----------------------------------------------------------------------===//
// LayerNormOp
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  if (failed(verifyRowNorm(*this)))
    return failure();
  if (!getBias())
    return success();
  RankedTensorType weight = tensorType(getWeight()),
                   bias = tensorType(getBias());
  if (!isRowMajor(bias) || !agree(bias.getShape(), weight.getShape()) ||
      bias.getElementType() != weight.getElementType())
    return emitOpError("C1: 'bias' must be [N] and row-major, with the "
                       "element type of 'weight', ")
           << weight << ", found " << bias;
  return success();
}

Problem LayerNormOp::getProblem() {
  Problem problem = makeProblem(*this, "norm", "layer_norm");
  problem.dimensions["M"] = tensorType(getX()).getDimSize(0);
  problem.dimensions["N"] = tensorType(getX()).getDimSize(1);
  addNormAttributes(problem, getEpsilon(), getWeightOffset(),
                    getQuantizeAttr());
  return problem;
}

void LayerNormOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(inputs, "weight", getWeight());
  addRole(inputs, "bias", getBias());
  addRole(inputs, "residual", getResidual());
  addRole(results, "result", getResult());
  addRole(results, "result_scale", getResultScale());
  addRole(results, "sum", getSum());
  addRole(results, "rounded", getRounded());
}

InPlace LayerNormOp::getInPlaceCandidates() {
  if (!getSum())
    return {};
  return getSumInPlace(getSum(), *getResidualMutable().begin(), getXMutable());
}

//===----------------------------------------------------------------------===//
// GatedRMSNormOp
//===----------------------------------------------------------------------===//

void GatedRMSNormOp::build(OpBuilder &builder, OperationState &state, Value x,
                           Value gate, Value weight, Activation activation,
                           FloatAttr epsilon) {
  build(builder, state, x.getType(), Type(), Type(), x, gate, weight,
        ActivationAttr::get(builder.getContext(), activation), epsilon,
        builder.getF32FloatAttr(0.0f), BlockScaleAttr());
}

LogicalResult GatedRMSNormOp::verify() {
  RankedTensorType x = tensorType(getX()), weight = tensorType(getWeight());
  if (x.getRank() != 2 || getGate().getType() != x)
    return emitOpError("C1: 'x' and 'gate' must have rank 2 and the same type, "
                       "found ")
           << x << " and " << getGate().getType();
  int64_t columns = x.getDimSize(1);
  int64_t width = weight.getRank() == 1 ? weight.getDimSize(0) : 0;
  if (!isRowMajor(weight) || width == 0 ||
      (!ShapedType::isDynamic(width) && !ShapedType::isDynamic(columns) &&
       columns % width != 0))
    return emitOpError("C2: 'weight' must be [N] and row-major, and N divide "
                       "the columns of 'x', ")
           << x << ", found " << weight;
  if (getActivation() != Activation::SiLU &&
      getActivation() != Activation::Sigmoid)
    return emitOpError("C3: the activation must be silu or sigmoid, found ")
           << stringifyActivation(getActivation());
  if (failed(verifyNormNumbers(*this, "C4", getEpsilonAttr(),
                               getWeightOffsetAttr())) ||
      failed(verifyShape(*this, "C5", "result", getResult(), x.getShape())) ||
      failed(verifyQuantizedResult(*this, "C6", "C7", getResult(),
                                   getResultScale(), getQuantizeAttr())))
    return failure();
  return verifyRounded(*this, "C8", getRounded(), x, getQuantizeAttr());
}

Problem GatedRMSNormOp::getProblem() {
  Problem problem = makeProblem(*this, "norm", "gated_rms_norm");
  int64_t columns = tensorType(getX()).getDimSize(1);
  int64_t width = tensorType(getWeight()).getDimSize(0);
  problem.dimensions["M"] = tensorType(getX()).getDimSize(0);
  problem.dimensions["H"] = ShapedType::isDynamic(width)
                                ? ShapedType::kDynamic
                                : divided(columns, width);
  problem.dimensions["N"] = width;
  problem.attributes["activation"] = stringifyActivation(getActivation()).str();
  addNormAttributes(problem, getEpsilon(), getWeightOffset(),
                    getQuantizeAttr());
  return problem;
}

void GatedRMSNormOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(inputs, "gate", getGate());
  addRole(inputs, "weight", getWeight());
  addRole(results, "result", getResult());
  addRole(results, "result_scale", getResultScale());
  addRole(results, "rounded", getRounded());
}

InPlace GatedRMSNormOp::getInPlaceCandidates() {
  // An element needs all of its head of x, but only itself of the gate.
  Value elementwise = getQuantizeAttr() ? getRounded() : getResult();
  if (!elementwise || elementwise.getType() != getGate().getType())
    return {};
  return {{cast<OpResult>(elementwise).getResultNumber(),
           getGateMutable().getOperandNumber()}};
}
