//===- NetraMoeOps.cpp - Routers and experts: verifiers and problems ------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Tactics.h"
#include "Verification.h"

#include "Netra/IR/NetraOps.h"

using namespace mlir;
using namespace netra;

/// Rows and columns of the blocks that scales of these operations stand for.
static constexpr int64_t block = 128;

//===----------------------------------------------------------------------===//
// Assembly directives
//===----------------------------------------------------------------------===//

/// `%x_scale, %weight_scale`, or the latter alone.
static ParseResult
parseOptionalScale(OpAsmParser &parser,
                   std::optional<OpAsmParser::UnresolvedOperand> &xScale,
                   OpAsmParser::UnresolvedOperand &weightScale) {
  if (parser.parseOperand(weightScale))
    return failure();
  if (failed(parser.parseOptionalComma()))
    return success();
  xScale = weightScale;
  return parser.parseOperand(weightScale);
}

static void printOptionalScale(OpAsmPrinter &printer, Operation *, Value xScale,
                               Value weightScale) {
  if (xScale)
    printer << xScale << ", ";
  printer << weightScale;
}

#define GET_OP_CLASSES
#include "Netra/IR/NetraMoeOps.cpp.inc"

//===----------------------------------------------------------------------===//
// RouteOp
//===----------------------------------------------------------------------===//

int64_t RouteOp::getNumExperts() {
  return getLogits() ? tensorType(getLogits()).getDimSize(1)
                     : tensorType(getWeight()).getDimSize(0);
}

int64_t RouteOp::getNumSlots() {
  return getTopKAttr().getInt() +
         (getSharedExpert() == SharedExpert::None ? 0 : 1);
}

/// C1 to C4: operands.
static LogicalResult verifyRouteOperands(RouteOp op) {
  bool shared = static_cast<bool>(op.getSharedGate());
  if (op.getLogits()
          ? op.getWeight() || static_cast<bool>(op.getX()) != shared ||
                tensorType(op.getLogits()).getRank() != 2
          : !op.getWeight() || !op.getX())
    return op.emitOpError(
               "C1: expected 'logits' of rank 2, with 'x' only for a "
               "'shared_gate', or 'x' and 'weight', found ")
           << op->getOperandTypes();
  if (op.getX()) {
    RankedTensorType x = tensorType(op.getX());
    if (x.getRank() != 2 ||
        (op.getLogits() &&
         !agree(x.getDimSize(0), tensorType(op.getLogits()).getDimSize(0))))
      return op.emitOpError("C2: 'x' must be [M, K], found ") << x;
    if (op.getWeight()) {
      RankedTensorType weight = tensorType(op.getWeight());
      if (weight.getRank() != 2 ||
          !agree(weight.getDimSize(1), x.getDimSize(1)))
        return op.emitOpError("C2: 'weight' must be [E, K] for 'x' of ")
               << x << ", found " << weight;
    }
  }
  if (shared != (op.getSharedExpert() == SharedExpert::Sigmoid))
    return op.emitOpError("C3: 'shared_gate' must be present exactly when "
                          "'shared_expert' is sigmoid, found ")
           << stringifySharedExpert(op.getSharedExpert())
           << (shared ? " with" : " without") << " 'shared_gate'";
  if (shared && failed(verifyShape(op, "C3", "shared_gate", op.getSharedGate(),
                                   {1, tensorType(op.getX()).getDimSize(1)})))
    return failure();
  if (!op.getCorrectionBias())
    return success();
  RankedTensorType bias = tensorType(op.getCorrectionBias());
  if (!isRowMajor(bias) || !agree(bias.getShape(), op.getNumExperts()))
    return op.emitOpError("C4: 'correction_bias' must be row-major with shape ")
           << shapeText(op.getNumExperts()) << ", found " << bias;
  return success();
}

LogicalResult RouteOp::verify() {
  if (failed(verifyRouteOperands(*this)))
    return failure();
  int64_t experts = getNumExperts(), groups = getGroupsAttr().getInt();
  int64_t topGroups = getTopGroupsAttr().getInt();
  int64_t topK = getTopKAttr().getInt();
  bool isKnown = !ShapedType::isDynamic(experts);
  if (groups < 1 || topGroups < 1 || topGroups > groups || topK < 1 ||
      (isKnown &&
       (experts % groups != 0 || topK > experts / groups * topGroups)))
    return emitOpError("C5: 'groups' must divide the experts, 'top_groups' be "
                       "1 to 'groups' and 'top_k' 1 to the experts of "
                       "'top_groups' groups, found ")
           << shapeText(experts) << " experts, groups " << groups
           << ", top_groups " << topGroups << " and top_k " << topK;
  int64_t rows = tensorType(getLogits() ? getLogits() : getX()).getDimSize(0);
  if (failed(verifyShape(*this, "C6", "expert_ids", getExpertIds(),
                         {rows, getNumSlots()})) ||
      failed(verifyShape(*this, "C6", "expert_weights", getExpertWeights(),
                         {rows, getNumSlots()})))
    return failure();
  if (!getRoutedScale().isFinite())
    return emitOpError("C7: 'routed_scale' must be finite, found ")
           << getRoutedScaleAttr();
  return success();
}

Problem RouteOp::getProblem() {
  Problem problem = makeProblem(*this, "router", "route");
  problem.dimensions["M"] = tensorType(getExpertIds()).getDimSize(0);
  problem.dimensions["E"] = getNumExperts();
  problem.dimensions["S"] = getNumSlots();
  problem.dimensions["TOPK"] = getTopKAttr().getInt();
  problem.dimensions["GROUPS"] = getGroupsAttr().getInt();
  problem.dimensions["TOPGROUPS"] = getTopGroupsAttr().getInt();
  problem.dimensions["K"] = getX() ? tensorType(getX()).getDimSize(1) : 0;
  problem.attributes["scoring"] = stringifyScoring(getScoring()).str();
  problem.attributes["normalize"] =
      std::string(getNormalize() ? "sum" : "none");
  problem.attributes["shared_expert"] =
      stringifySharedExpert(getSharedExpert()).str();
  problem.attributes["routed_scale"] = problemNumber(getRoutedScale());
  problem.attributes["accumulation"] = std::string("f32");
  return problem;
}

void RouteOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "logits", getLogits());
  addRole(inputs, "x", getX());
  addRole(inputs, "weight", getWeight());
  addRole(inputs, "shared_gate", getSharedGate());
  addRole(inputs, "correction_bias", getCorrectionBias());
  addRole(results, "expert_ids", getExpertIds());
  addRole(results, "expert_weights", getExpertWeights());
}

//===----------------------------------------------------------------------===//
// What the products of experts share
//===----------------------------------------------------------------------===//

/// Whether whole blocks make up `extent`.
static bool isWholeBlocks(int64_t extent) {
  return ShapedType::isDynamic(extent) || extent % block == 0;
}

/// C1: `x` has `xRank` dimensions, and the columns of a weight of experts.
static LogicalResult verifyExpertProduct(Operation *op, RankedTensorType x,
                                         int64_t xRank,
                                         RankedTensorType weight) {
  if (x.getRank() != xRank || weight.getRank() != 3 ||
      !agree(x.getShape().back(), weight.getDimSize(2)) ||
      !isWholeBlocks(weight.getDimSize(1)) ||
      !isWholeBlocks(weight.getDimSize(2)))
    return op->emitOpError("C1: 'x' must be ")
           << (xRank == 2 ? "[M, K]" : "[M, S, K]")
           << " and 'weight' [E, N, K], where " << block
           << " divides N and K, found " << x << " and " << weight;
  return success();
}

/// C2: one scale for each block of a weight of experts.
static LogicalResult verifyWeightScale(Operation *op, Value scale,
                                       RankedTensorType weight) {
  return verifyShape(op, "C2", "weight_scale", scale,
                     {weight.getDimSize(0),
                      divided(weight.getDimSize(1), block),
                      divided(weight.getDimSize(2), block)});
}

/// The shape of the scales of rows: one for each block of the last dimension.
static SmallVector<int64_t> getRowScaleShape(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = divided(shape.back(), block);
  return shape;
}

static void addProductAttributes(Problem &problem, MLIRContext *context) {
  problem.attributes["accumulation"] = std::string("f32");
  problem.attributes["x_block_scale"] =
      BlockScaleAttr::get1x128(context).getSpelling();
  problem.attributes["weight_block_scale"] =
      BlockScaleAttr::get128x128(context).getSpelling();
}

//===----------------------------------------------------------------------===//
// MoeGateUpOp
//===----------------------------------------------------------------------===//

LogicalResult MoeGateUpOp::verify() {
  RankedTensorType x = tensorType(getX()), weight = tensorType(getWeight());
  RankedTensorType ids = tensorType(getExpertIds());
  if (failed(verifyExpertProduct(*this, x, 2, weight)) ||
      failed(verifyShape(*this, "C2", "x_scale", getXScale(),
                         getRowScaleShape(x))) ||
      failed(verifyWeightScale(*this, getWeightScale(), weight)))
    return failure();
  if (ids.getRank() != 2 || !agree(ids.getDimSize(0), x.getDimSize(0)))
    return emitOpError("C3: 'expert_ids' must be [M, S] for 'x' of ")
           << x << ", found " << ids;
  bool activated = getActivation() != Activation::None;
  int64_t columns = weight.getDimSize(1);
  int64_t expected[] = {x.getDimSize(0), ids.getDimSize(1),
                        activated ? divided(columns, 2) : columns};
  RankedTensorType result = tensorType(getResult());
  if (!agree(result.getShape(), expected) ||
      !(activated ? result.getElementType().isBF16()
                  : result.getElementType().isF32()))
    return emitOpError("C4: 'result' must have shape ")
           << shapeText(expected) << " and element type "
           << (activated ? "bf16 with" : "f32 without")
           << " an activation, found " << result;
  return success();
}

Problem MoeGateUpOp::getProblem() {
  Problem problem = makeProblem(*this, "moe", "gate_up");
  problem.dimensions["M"] = tensorType(getX()).getDimSize(0);
  problem.dimensions["E"] = tensorType(getWeight()).getDimSize(0);
  problem.dimensions["S"] = tensorType(getExpertIds()).getDimSize(1);
  problem.dimensions["N"] = tensorType(getWeight()).getDimSize(1);
  problem.dimensions["K"] = tensorType(getX()).getDimSize(1);
  problem.attributes["activation"] = stringifyActivation(getActivation()).str();
  addProductAttributes(problem, getContext());
  return problem;
}

void MoeGateUpOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(inputs, "weight", getWeight());
  addRole(inputs, "x_scale", getXScale());
  addRole(inputs, "weight_scale", getWeightScale());
  addRole(inputs, "expert_ids", getExpertIds());
  addRole(results, "result", getResult());
}

//===----------------------------------------------------------------------===//
// MoeActivationOp
//===----------------------------------------------------------------------===//

LogicalResult MoeActivationOp::verify() {
  RankedTensorType x = tensorType(getX());
  if (x.getRank() != 3 || (!ShapedType::isDynamic(x.getDimSize(2)) &&
                           x.getDimSize(2) % (2 * block) != 0))
    return emitOpError("C1: 'x' must be [M, S, 2N], where ")
           << block << " divides N, found " << x;
  if (getActivation() == Activation::None)
    return emitOpError("C2: the activation must not be none");
  int64_t columns = divided(x.getDimSize(2), 2);
  int64_t expected[] = {x.getDimSize(0), x.getDimSize(1), columns};
  int64_t scales[] = {x.getDimSize(0), x.getDimSize(1),
                      divided(columns, block)};
  if (failed(verifyShape(*this, "C3", "result", getResult(), expected)))
    return failure();
  return verifyShape(*this, "C4", "result_scale", getResultScale(), scales);
}

Problem MoeActivationOp::getProblem() {
  Problem problem = makeProblem(*this, "moe", "activation");
  problem.dimensions["M"] = tensorType(getResult()).getDimSize(0);
  problem.dimensions["S"] = tensorType(getResult()).getDimSize(1);
  problem.dimensions["N"] = tensorType(getResult()).getDimSize(2);
  problem.attributes["activation"] = stringifyActivation(getActivation()).str();
  problem.attributes["result_block_scale"] =
      BlockScaleAttr::get1x128(getContext()).getSpelling();
  return problem;
}

void MoeActivationOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(results, "result", getResult());
  addRole(results, "result_scale", getResultScale());
}

//===----------------------------------------------------------------------===//
// MoeDownReduceOp
//===----------------------------------------------------------------------===//

LogicalResult MoeDownReduceOp::verify() {
  RankedTensorType x = tensorType(getX()), weight = tensorType(getWeight());
  if (failed(verifyExpertProduct(*this, x, 3, weight)))
    return failure();
  bool isFp8 = isa<Float8E4M3FNType>(x.getElementType());
  if (isFp8 != static_cast<bool>(getXScale()))
    return emitOpError("C2: 'x_scale' must be present exactly when 'x' is "
                       "f8E4M3FN, found 'x' of type ")
           << x << (getXScale() ? " with" : " without") << " 'x_scale'";
  if (isFp8 && failed(verifyShape(*this, "C2", "x_scale", getXScale(),
                                  getRowScaleShape(x))))
    return failure();
  ArrayRef<int64_t> slots = x.getShape().drop_back();
  int64_t expected[] = {x.getDimSize(0), weight.getDimSize(1)};
  if (failed(verifyWeightScale(*this, getWeightScale(), weight)) ||
      failed(verifyShape(*this, "C3", "expert_ids", getExpertIds(), slots)) ||
      failed(verifyShape(*this, "C3", "expert_weights", getExpertWeights(),
                         slots)) ||
      failed(verifyShape(*this, "C4", "result", getResult(), expected)))
    return failure();
  return getResidual() ? verifyShape(*this, "C5", "residual", getResidual(),
                                     tensorType(getResult()).getShape())
                       : success();
}

Problem MoeDownReduceOp::getProblem() {
  Problem problem = makeProblem(*this, "moe", "down_reduce");
  problem.dimensions["M"] = tensorType(getX()).getDimSize(0);
  problem.dimensions["E"] = tensorType(getWeight()).getDimSize(0);
  problem.dimensions["S"] = tensorType(getX()).getDimSize(1);
  problem.dimensions["N"] = tensorType(getWeight()).getDimSize(1);
  problem.dimensions["K"] = tensorType(getX()).getDimSize(2);
  addProductAttributes(problem, getContext());
  return problem;
}

void MoeDownReduceOp::getRoles(Roles &inputs, Roles &results) {
  addRole(inputs, "x", getX());
  addRole(inputs, "weight", getWeight());
  addRole(inputs, "x_scale", getXScale());
  addRole(inputs, "weight_scale", getWeightScale());
  addRole(inputs, "expert_weights", getExpertWeights());
  addRole(inputs, "expert_ids", getExpertIds());
  addRole(inputs, "residual", getResidual());
  addRole(results, "result", getResult());
}

InPlace MoeDownReduceOp::getInPlaceCandidates() {
  if (!getResidual() || getResidual().getType() != getResult().getType())
    return {};
  return {{0, getResidualMutable().begin()->getOperandNumber()}};
}
