//===- NetraTactics.cpp - What operations ask of a tactic -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The `TacticOpInterface` of each operation. Roles, dimensions and attributes
// are the vocabulary of the catalogue, documented in docs/dialect-rationale.md.
//
//===----------------------------------------------------------------------===//

#include "Tactics.h"

#include "Netra/IR/NetraOps.h"

using namespace mlir;
using namespace netra;

void netra::addRole(Roles &roles, StringRef role, Value value) {
  if (value)
    roles.emplace_back(role, value);
}

Problem netra::makeProblem(TacticOpInterface op, StringRef family,
                           StringRef operation) {
  Problem problem;
  problem.family = family.str();
  problem.operation = operation.str();
  SmallVector<std::pair<StringRef, Value>> inputs, results;
  op.getRoles(inputs, results);
  llvm::append_range(inputs, results);
  for (auto [role, value] : inputs) {
    RankedTensorType type = tensorType(value);
    OperandSpec operand;
    operand.role = role.str();
    // A type outside the catalogue fits no tactic whatever stands here, because
    // operations that can have tactics take only types of the catalogue.
    operand.type =
        getElementType(type.getElementType()).value_or(ElementType::U8);
    operand.shape.assign(type.getShape().begin(), type.getShape().end());
    operand.layout = getLayoutSpelling(type);
    problem.operands.push_back(std::move(operand));
  }
  return problem;
}

double netra::problemNumber(const llvm::APFloat &number) {
  return static_cast<double>(number.convertToFloat());
}

void netra::addNormAttributes(Problem &problem, const llvm::APFloat &epsilon,
                              const llvm::APFloat &weightOffset,
                              BlockScaleAttr quantize) {
  problem.attributes["epsilon"] = problemNumber(epsilon);
  problem.attributes["weight_offset"] = problemNumber(weightOffset);
  problem.attributes["accumulation"] = std::string("f32");
  if (quantize)
    problem.attributes["result_block_scale"] = quantize.getSpelling();
}

InPlace netra::getSumInPlace(Value sum, OpOperand &residual, OpOperand &x) {
  unsigned number = cast<OpResult>(sum).getResultNumber();
  return {{number, residual.getOperandNumber()},
          {number, x.getOperandNumber()}};
}

static int64_t productOf(ArrayRef<int64_t> shape) {
  return llvm::is_contained(shape, ShapedType::kDynamic)
             ? ShapedType::kDynamic
             : ShapedType::getNumElements(shape);
}

/// Rows and columns of a tensor seen as a matrix of rows.
static void addRowDimensions(Problem &problem, RankedTensorType type) {
  problem.dimensions["M"] =
      productOf(type.getShape().drop_back(type.getRank() ? 1 : 0));
  problem.dimensions["N"] = type.getRank() ? type.getShape().back() : 1;
}

static std::string activationName(Activation activation) {
  return stringifyActivation(activation).str();
}

//===----------------------------------------------------------------------===//
// DenseOp
//===----------------------------------------------------------------------===//

Problem DenseOp::getProblem() {
  Problem problem = makeProblem(*this, "dense", "dense");
  problem.dimensions["M"] = tensorType(getX()).getDimSize(0);
  problem.dimensions["N"] = tensorType(getWeight()).getDimSize(0);
  problem.dimensions["K"] = tensorType(getX()).getDimSize(1);
  problem.attributes["epilogue"] = getEpilogueOrNone().getSpelling();
  problem.attributes["accumulation"] = std::string("f32");
  if (getXBlockScaleAttr()) {
    problem.attributes["x_block_scale"] = getXBlockScaleAttr().getSpelling();
    problem.attributes["weight_block_scale"] =
        getWeightBlockScaleAttr().getSpelling();
  }
  return problem;
}

void DenseOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(inputs, "weight", getWeight());
  addRole(inputs, "x_scale", getXScale());
  addRole(inputs, "weight_scale", getWeightScale());
  addRole(inputs, "bias", getBias());
  addRole(inputs, "residual", getResidual());
  addRole(results, "result", getResult());
}

InPlace DenseOp::getInPlaceCandidates() {
  if (!getResidual() || getResidual().getType() != getResult().getType())
    return {};
  return {{0, getResidualMutable().begin()->getOperandNumber()}};
}

//===----------------------------------------------------------------------===//
// RMSNormOp
//===----------------------------------------------------------------------===//

Problem RMSNormOp::getProblem() {
  Problem problem = makeProblem(*this, "norm", "rms_norm");
  problem.dimensions["M"] = tensorType(getX()).getDimSize(0);
  problem.dimensions["N"] = tensorType(getX()).getDimSize(1);
  addNormAttributes(problem, getEpsilon(), getWeightOffset(),
                    getQuantizeAttr());
  return problem;
}

void RMSNormOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(inputs, "weight", getWeight());
  addRole(inputs, "residual", getResidual());
  addRole(results, "result", getResult());
  addRole(results, "result_scale", getResultScale());
  addRole(results, "sum", getSum());
  addRole(results, "rounded", getRounded());
}

InPlace RMSNormOp::getInPlaceCandidates() {
  if (!getSum())
    return {};
  return getSumInPlace(getSum(), *getResidualMutable().begin(), getXMutable());
}

//===----------------------------------------------------------------------===//
// GatedOp and QuantizeBlocksOp
//===----------------------------------------------------------------------===//

Problem GatedOp::getProblem() {
  Problem problem = makeProblem(*this, "activation", "gated");
  problem.dimensions["M"] = tensorType(getResult()).getDimSize(0);
  problem.dimensions["N"] = tensorType(getResult()).getDimSize(1);
  problem.attributes["activation"] = activationName(getActivation());
  problem.attributes["activation_rounding"] =
      std::string(getRoundActivation() ? "bf16" : "none");
  if (getQuantizeAttr())
    problem.attributes["result_block_scale"] = getQuantizeAttr().getSpelling();
  return problem;
}

void GatedOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, isPacked() ? "packed" : "gate", getGate());
  addRole(inputs, "up", getUp());
  addRole(results, "result", getResult());
  addRole(results, "result_scale", getResultScale());
  addRole(results, "rounded", getRounded());
}

InPlace GatedOp::getInPlaceCandidates() {
  // A quantized element depends on the others of its block.
  Value elementwise = getQuantizeAttr() ? getRounded() : getResult();
  if (isPacked() || !elementwise ||
      elementwise.getType() != getGate().getType())
    return {};
  unsigned number = cast<OpResult>(elementwise).getResultNumber();
  return {{number, 0}, {number, 1}};
}

Problem QuantizeBlocksOp::getProblem() {
  Problem problem = makeProblem(*this, "quantize", "quantize_blocks");
  problem.dimensions["M"] = tensorType(getX()).getDimSize(0);
  problem.dimensions["K"] = tensorType(getX()).getDimSize(1);
  problem.attributes["result_block_scale"] = getScale().getSpelling();
  return problem;
}

void QuantizeBlocksOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(results, "result", getResult());
  addRole(results, "result_scale", getResultScale());
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

Problem ActivationOp::getProblem() {
  Problem problem = makeProblem(*this, "elementwise", "activation");
  addRowDimensions(problem, tensorType(getX()));
  problem.attributes["activation"] = activationName(getActivation());
  return problem;
}

void ActivationOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(results, "result", getResult());
}

InPlace ActivationOp::getInPlaceCandidates() { return {{0, 0}}; }

static InPlace getBinaryInPlaceCandidates(Value lhs, Value rhs) {
  InPlace pairs = {{0, 0}};
  if (lhs.getType() == rhs.getType())
    pairs.emplace_back(0, 1);
  return pairs;
}

Problem AddOp::getProblem() {
  Problem problem = makeProblem(*this, "elementwise", "add");
  addRowDimensions(problem, tensorType(getLhs()));
  return problem;
}

void AddOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "lhs", getLhs());
  addRole(inputs, "rhs", getRhs());
  addRole(results, "result", getResult());
}

InPlace AddOp::getInPlaceCandidates() {
  return getBinaryInPlaceCandidates(getLhs(), getRhs());
}

Problem MulOp::getProblem() {
  Problem problem = makeProblem(*this, "elementwise", "mul");
  addRowDimensions(problem, tensorType(getLhs()));
  return problem;
}

void MulOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "lhs", getLhs());
  addRole(inputs, "rhs", getRhs());
  addRole(results, "result", getResult());
}

InPlace MulOp::getInPlaceCandidates() {
  return getBinaryInPlaceCandidates(getLhs(), getRhs());
}

Problem CastOp::getProblem() {
  Problem problem = makeProblem(*this, "elementwise", "cast");
  addRowDimensions(problem, tensorType(getX()));
  return problem;
}

void CastOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(results, "result", getResult());
}

InPlace CastOp::getInPlaceCandidates() {
  // Elements of another size would be written over ones not yet read.
  Type from = tensorType(getX()).getElementType();
  Type to = tensorType(getResult()).getElementType();
  if (from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth())
    return {};
  return {{0, 0}};
}

//===----------------------------------------------------------------------===//
// TransposeOp and LayoutConvertOp
//===----------------------------------------------------------------------===//

Problem TransposeOp::getProblem() {
  Problem problem = makeProblem(*this, "layout", "transpose");
  addRowDimensions(problem, tensorType(getX()));
  std::string permutation;
  llvm::raw_string_ostream os(permutation);
  llvm::interleave(getPermutation(), os, ",");
  problem.attributes["permutation"] = permutation;
  return problem;
}

void TransposeOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(results, "result", getResult());
}

Problem LayoutConvertOp::getProblem() {
  Problem problem = makeProblem(*this, "layout", "layout_convert");
  // Layouts are of the last two dimensions, for each index of the others.
  ArrayRef<int64_t> shape = tensorType(getX()).getShape();
  ArrayRef<int64_t> matrix = shape.take_back(2);
  problem.dimensions["B"] = productOf(shape.drop_back(matrix.size()));
  problem.dimensions["M"] = matrix.size() == 2 ? matrix.front() : 1;
  problem.dimensions["N"] = matrix.empty() ? 1 : matrix.back();
  return problem;
}

void LayoutConvertOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(results, "result", getResult());
}
