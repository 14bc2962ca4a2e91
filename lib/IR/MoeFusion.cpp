//===- MoeFusion.cpp - What routers and experts can take over -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "TensorType.h"

using namespace mlir;
using namespace netra;

/// Puts `fused`, made from `op`, where `rewriter` stands.
template <typename Op>
static Op insertFused(RewriterBase &rewriter, Op op, Op fused, Location loc) {
  fused->setLoc(loc);
  fused->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  copyDiscardableAttributes(op, fused);
  rewriter.insert(fused);
  return fused;
}

//===----------------------------------------------------------------------===//
// RouteOp
//===----------------------------------------------------------------------===//

LogicalResult RouteOp::canAbsorb(Operation *neighbour, std::string *reason) {
  auto dense = dyn_cast<DenseOp>(neighbour);
  if (!dense || !getLogits() || getLogits() != dense.getResult())
    return failure();
  if (!dense.getResult().hasOneUse())
    return refuse(reason, "the logits have other users");
  if (dense->getBlock() != (*this)->getBlock())
    return refuse(reason, "the two operations are in different blocks");
  if (dense.getBias() || dense.getResidual() ||
      !dense.getEpilogueOrNone().isNone())
    return refuse(reason, "the product has a bias or an epilogue");
  if (!tensorType(dense.getX()).getElementType().isBF16())
    return refuse(reason, "the product is not one of bf16");
  if (getX() && getX() != dense.getX())
    return refuse(reason, "the gate of the shared expert reads another x");
  return success();
}

/// `op` with the product that makes its logits; stands in no block.
static RouteOp withProduct(RouteOp op, DenseOp dense) {
  auto fused = cast<RouteOp>(op->clone());
  fused.getLogitsMutable().clear();
  fused.getXMutable().assign(dense.getX());
  fused.getWeightMutable().assign(dense.getWeight());
  return fused;
}

std::vector<Problem> RouteOp::getFusedProblems(Operation *neighbour) {
  return {takeProblem(withProduct(*this, cast<DenseOp>(neighbour)))};
}

FailureOr<Operation *> RouteOp::absorb(RewriterBase &rewriter,
                                       Operation *neighbour) {
  if (failed(canAbsorb(neighbour, nullptr)))
    return failure();
  auto dense = cast<DenseOp>(neighbour);
  rewriter.setInsertionPoint(*this);
  RouteOp fused = insertFused(rewriter, *this, withProduct(*this, dense),
                              fuseLocations(*this, dense));
  rewriter.replaceOp(*this, fused->getResults());
  rewriter.eraseOp(dense);
  return fused.getOperation();
}

//===----------------------------------------------------------------------===//
// MoeGateUpOp
//===----------------------------------------------------------------------===//

/// The operation that alone reads what `activation` makes, as a quantized x.
static MoeDownReduceOp getReader(MoeActivationOp activation) {
  if (!activation.getResult().hasOneUse() ||
      !activation.getResultScale().hasOneUse())
    return {};
  auto down = dyn_cast<MoeDownReduceOp>(*activation.getResult().user_begin());
  if (!down || down.getX() != activation.getResult() ||
      down.getXScale() != activation.getResultScale())
    return {};
  return down;
}

LogicalResult MoeGateUpOp::canAbsorb(Operation *neighbour,
                                     std::string *reason) {
  auto activation = dyn_cast<MoeActivationOp>(neighbour);
  if (!activation || activation.getX() != getResult())
    return failure();
  if (!getResult().hasOneUse())
    return refuse(reason, "the unfused result has other users");
  if (activation->getBlock() != (*this)->getBlock())
    return refuse(reason, "the two operations are in different blocks");
  if (!getReader(activation))
    return refuse(reason, "the activated value is not the x of one "
                          "netra.moe_down_reduce and nothing else");
  return success();
}

/// `op` with the activation behind it, at the insertion point if there is one.
static MoeGateUpOp withActivation(OpBuilder &builder, Location loc,
                                  MoeGateUpOp op, MoeActivationOp activation) {
  RankedTensorType quantized = tensorType(activation.getResult());
  return MoeGateUpOp::create(
      builder, loc,
      RankedTensorType::get(quantized.getShape(), builder.getBF16Type()),
      op.getX(), op.getWeight(), op.getXScale(), op.getWeightScale(),
      op.getExpertIds(), activation.getActivation());
}

/// `op` reading `x` in bf16; stands in no block.
static MoeDownReduceOp withX(MoeDownReduceOp op, Value x) {
  auto fused = cast<MoeDownReduceOp>(op->clone());
  fused.getXMutable().assign(x);
  fused.getXScaleMutable().clear();
  return fused;
}

std::vector<Problem> MoeGateUpOp::getFusedProblems(Operation *neighbour) {
  auto activation = cast<MoeActivationOp>(neighbour);
  OpBuilder builder(getContext());
  MoeGateUpOp fused = withActivation(builder, getLoc(), *this, activation);
  Problem down = takeProblem(withX(getReader(activation), fused.getResult()));
  return {takeProblem(fused), std::move(down)};
}

FailureOr<Operation *> MoeGateUpOp::absorb(RewriterBase &rewriter,
                                           Operation *neighbour) {
  if (failed(canAbsorb(neighbour, nullptr)))
    return failure();
  auto activation = cast<MoeActivationOp>(neighbour);
  MoeDownReduceOp down = getReader(activation);
  rewriter.setInsertionPoint(activation);
  MoeGateUpOp fused = withActivation(rewriter, fuseLocations(*this, activation),
                                     *this, activation);
  copyDiscardableAttributes(*this, fused);
  rewriter.setInsertionPoint(down);
  MoeDownReduceOp reader = insertFused(
      rewriter, down, withX(down, fused.getResult()), down.getLoc());
  rewriter.replaceOp(down, reader.getResult());
  rewriter.eraseOp(activation);
  rewriter.eraseOp(*this);
  return fused.getOperation();
}

//===----------------------------------------------------------------------===//
// MoeDownReduceOp
//===----------------------------------------------------------------------===//

LogicalResult MoeDownReduceOp::canAbsorb(Operation *neighbour,
                                         std::string *reason) {
  std::optional<EpilogueStep> step =
      getOnlyStep(getResult(), neighbour, reason);
  if (!step || step->kind != EpilogueStep::Kind::Residual)
    return failure();
  if (getResidual())
    return refuse(reason, "the sum already has a residual");
  return success();
}

/// `op` with a residual; stands in no block.
static MoeDownReduceOp withResidual(MoeDownReduceOp op, Value residual) {
  auto fused = cast<MoeDownReduceOp>(op->clone());
  fused.getResidualMutable().assign(residual);
  return fused;
}

std::vector<Problem> MoeDownReduceOp::getFusedProblems(Operation *neighbour) {
  return {
      takeProblem(withResidual(*this, getStep(getResult(), neighbour)->other))};
}

FailureOr<Operation *> MoeDownReduceOp::absorb(RewriterBase &rewriter,
                                               Operation *neighbour) {
  if (failed(canAbsorb(neighbour, nullptr)))
    return failure();
  Value residual = getStep(getResult(), neighbour)->other;
  rewriter.setInsertionPoint(neighbour);
  MoeDownReduceOp fused =
      insertFused(rewriter, *this, withResidual(*this, residual),
                  fuseLocations(*this, neighbour));
  rewriter.replaceOp(neighbour, fused.getResult());
  rewriter.eraseOp(*this);
  return fused.getOperation();
}
