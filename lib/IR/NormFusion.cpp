//===- NormFusion.cpp - What norms can take over --------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Norms of rows differ in what they compute and in nothing that matters here:
// a sum in front of them, a quantization behind them.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "TensorType.h"

using namespace mlir;
using namespace netra;

namespace {

/// What fusing changes in a norm. `sum` and `residual` are those of a norm of
/// rows.
struct NormParts {
  Value x, residual;
  BlockScaleAttr quantize;
  Type result, resultScale, sum, rounded;
};

Type typeOf(Value value) { return value ? value.getType() : Type(); }

} // namespace

//===----------------------------------------------------------------------===//
// What differs between norms
//===----------------------------------------------------------------------===//

static RMSNormOp make(OpBuilder &builder, Location loc, RMSNormOp op,
                      const NormParts &parts) {
  return RMSNormOp::create(builder, loc, parts.result, parts.resultScale,
                           parts.sum, parts.rounded, parts.x, op.getWeight(),
                           parts.residual, op.getEpsilonAttr(),
                           op.getWeightOffsetAttr(), parts.quantize);
}

static LayerNormOp make(OpBuilder &builder, Location loc, LayerNormOp op,
                        const NormParts &parts) {
  return LayerNormOp::create(builder, loc, parts.result, parts.resultScale,
                             parts.sum, parts.rounded, parts.x, op.getWeight(),
                             op.getBias(), parts.residual, op.getEpsilonAttr(),
                             op.getWeightOffsetAttr(), parts.quantize);
}

static GatedRMSNormOp make(OpBuilder &builder, Location loc, GatedRMSNormOp op,
                           const NormParts &parts) {
  return GatedRMSNormOp::create(
      builder, loc, parts.result, parts.resultScale, parts.rounded, parts.x,
      op.getGate(), op.getWeight(), op.getActivationAttr(), op.getEpsilonAttr(),
      op.getWeightOffsetAttr(), parts.quantize);
}

template <typename Norm> static Value getResidual(Norm op) {
  return op.getResidual();
}
static Value getResidual(GatedRMSNormOp) { return {}; }

template <typename Norm> static Value getSum(Norm op) { return op.getSum(); }
static Value getSum(GatedRMSNormOp) { return {}; }

/// Operands that do not change with x.
static SmallVector<Value> getWeights(RMSNormOp op) { return {op.getWeight()}; }
static SmallVector<Value> getWeights(LayerNormOp op) {
  SmallVector<Value> weights = {op.getWeight()};
  if (op.getBias())
    weights.push_back(op.getBias());
  return weights;
}

//===----------------------------------------------------------------------===//
// A sum in front
//===----------------------------------------------------------------------===//

/// The step that the definition of `x` is, when it adds something to its first
/// operand.
static std::optional<EpilogueStep> getPrecedingSum(Value x,
                                                   Operation *neighbour) {
  auto epilogue = dyn_cast_or_null<EpilogueOpInterface>(neighbour);
  if (!epilogue || x.getDefiningOp() != neighbour ||
      neighbour->getNumResults() != 1)
    return std::nullopt;
  std::optional<EpilogueStep> step =
      epilogue.getEpilogueStep(neighbour->getOpOperand(0));
  if (!step || step->kind != EpilogueStep::Kind::Residual)
    return std::nullopt;
  return step;
}

/// True when `value` is there before `op`, or can be brought there.
static bool isAvailableBefore(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->getBlock() != op->getBlock() ||
      (definition->getNumOperands() == 0 && isMemoryEffectFree(definition)))
    return true;
  // Last, for it may number the block anew.
  return definition->isBeforeInBlock(op);
}

template <typename Norm>
static LogicalResult canAbsorbSum(Norm op, const EpilogueStep &step,
                                  Operation *neighbour, std::string *reason) {
  if (op.getResidual())
    return refuse(reason, "the normalisation already has a residual");
  if (neighbour->getBlock() != op->getBlock())
    return refuse(reason, "the two operations are in different blocks");
  if (step.other.getType() != op.getX().getType())
    return refuse(reason, "the addends differ in type");
  for (Value weight : getWeights(op))
    if (!isAvailableBefore(weight, neighbour))
      return refuse(reason, "the weight is computed after the addition");
  return success();
}

/// Whether a sum in front of `op` is still to be taken over.
template <typename Norm> static bool hasSumInFront(Norm op) {
  Operation *definition = op.getX().getDefiningOp();
  std::optional<EpilogueStep> step = getPrecedingSum(op.getX(), definition);
  return step && succeeded(canAbsorbSum(op, *step, definition, nullptr));
}
static bool hasSumInFront(GatedRMSNormOp) { return false; }

//===----------------------------------------------------------------------===//
// A quantization behind
//===----------------------------------------------------------------------===//

template <typename Norm>
static LogicalResult canAbsorbQuantization(Norm op, Operation *neighbour,
                                           std::string *reason) {
  std::optional<EpilogueStep> step = getStep(op.getResult(), neighbour);
  if (!step || step->kind != EpilogueStep::Kind::Quantize)
    return failure();
  if (neighbour->getBlock() != op->getBlock())
    return refuse(reason, "the two operations are in different blocks");
  if (op.getQuantizeAttr())
    return refuse(reason, "the result is already quantized");
  // Or the kernel that has all of it could not be told from the one that lacks
  // the sum.
  if (!op.getResult().hasOneUse() && hasSumInFront(op))
    return refuse(reason, "the addition in front is taken over first");
  return success();
}

template <typename Norm>
static NormParts getParts(Norm op, Operation *neighbour) {
  NormParts parts{op.getX(),
                  getResidual(op),
                  op.getQuantizeAttr(),
                  typeOf(op.getResult()),
                  typeOf(op.getResultScale()),
                  typeOf(getSum(op)),
                  typeOf(op.getRounded())};
  if (std::optional<EpilogueStep> step =
          getPrecedingSum(op.getX(), neighbour)) {
    Value sum = neighbour->getResult(0);
    parts.x = neighbour->getOperand(0);
    parts.residual = step->other;
    if (!sum.hasOneUse() || parts.rounded)
      parts.sum = sum.getType();
    return parts;
  }
  parts.quantize = getStep(op.getResult(), neighbour)->blockScale;
  parts.result = neighbour->getResult(0).getType();
  parts.resultScale = neighbour->getResult(1).getType();
  if (!op.getResult().hasOneUse()) {
    parts.rounded = op.getResult().getType();
    if (parts.residual)
      parts.sum = op.getX().getType();
  }
  return parts;
}

/// Builds the fused operation in front of `op`, and replaces `neighbour`, the
/// user that quantizes the result.
template <typename Norm>
static Norm absorbQuantization(RewriterBase &rewriter, Norm op,
                               Operation *neighbour) {
  NormParts parts = getParts(op, neighbour);
  // Other results of this operation may be used before the quantization.
  rewriter.setInsertionPoint(op);
  Norm fused = make(rewriter, fuseLocations(op, neighbour), op, parts);
  copyDiscardableAttributes(op, fused);
  rewriter.replaceOp(neighbour, {fused.getResult(), fused.getResultScale()});
  if (fused.getRounded())
    rewriter.replaceAllUsesWith(op.getResult(), fused.getRounded());
  if (Value sum = getSum(op))
    rewriter.replaceAllUsesWith(sum, getSum(fused));
  rewriter.eraseOp(op);
  return fused;
}

//===----------------------------------------------------------------------===//
// Norms of rows
//===----------------------------------------------------------------------===//

template <typename Norm>
static LogicalResult canAbsorbNeighbour(Norm op, Operation *neighbour,
                                        std::string *reason) {
  if (std::optional<EpilogueStep> step = getPrecedingSum(op.getX(), neighbour))
    return canAbsorbSum(op, *step, neighbour, reason);
  return canAbsorbQuantization(op, neighbour, reason);
}

/// Whether `op` is one of the operations from `first` to `last`, which come in
/// this order. They are few, and asking a block for its order, which fusions
/// change all the time, would number all of it.
static bool isBetween(Operation *op, Operation *first, Operation *last) {
  for (Operation *it = first; it != last; it = it->getNextNode())
    if (it == op)
      return true;
  return op == last;
}

template <typename Norm>
static FailureOr<Operation *> absorbNeighbour(RewriterBase &rewriter, Norm op,
                                              Operation *neighbour) {
  if (failed(op.canAbsorb(neighbour, nullptr)))
    return failure();
  if (!getPrecedingSum(op.getX(), neighbour))
    return absorbQuantization(rewriter, op, neighbour).getOperation();

  // Other users of the sum may stand between the two, so that the fused
  // operation takes the place of the addition.
  rewriter.setInsertionPoint(neighbour);
  for (Value weight : getWeights(op)) {
    Operation *definition = weight.getDefiningOp();
    if (definition && isBetween(definition, neighbour, op))
      rewriter.moveOpBefore(definition, neighbour);
  }
  NormParts parts = getParts(op, neighbour);
  Norm fused = make(rewriter, fuseLocations(op, neighbour), op, parts);
  copyDiscardableAttributes(op, fused);
  rewriter.replaceAllUsesWith(op.getResult(), fused.getResult());
  if (op.getResultScale())
    rewriter.replaceAllUsesWith(op.getResultScale(), fused.getResultScale());
  if (op.getRounded())
    rewriter.replaceAllUsesWith(op.getRounded(), fused.getRounded());
  rewriter.eraseOp(op);
  if (fused.getSum())
    rewriter.replaceAllUsesWith(neighbour->getResult(0), fused.getSum());
  rewriter.eraseOp(neighbour);
  return fused.getOperation();
}

template <typename Norm>
static std::vector<Problem> getProblems(Norm op, Operation *neighbour) {
  OpBuilder builder(op.getContext());
  return {takeProblem(make(builder, op.getLoc(), op, getParts(op, neighbour)))};
}

LogicalResult RMSNormOp::canAbsorb(Operation *neighbour, std::string *reason) {
  return canAbsorbNeighbour(*this, neighbour, reason);
}

std::vector<Problem> RMSNormOp::getFusedProblems(Operation *neighbour) {
  // All tactics have every form but the one with the rounded value.
  if (!getParts(*this, neighbour).rounded)
    return {};
  return getProblems(*this, neighbour);
}

FailureOr<Operation *> RMSNormOp::absorb(RewriterBase &rewriter,
                                         Operation *neighbour) {
  return absorbNeighbour(rewriter, *this, neighbour);
}

LogicalResult LayerNormOp::canAbsorb(Operation *neighbour,
                                     std::string *reason) {
  return canAbsorbNeighbour(*this, neighbour, reason);
}

std::vector<Problem> LayerNormOp::getFusedProblems(Operation *neighbour) {
  return getProblems(*this, neighbour);
}

FailureOr<Operation *> LayerNormOp::absorb(RewriterBase &rewriter,
                                           Operation *neighbour) {
  return absorbNeighbour(rewriter, *this, neighbour);
}

//===----------------------------------------------------------------------===//
// GatedRMSNormOp
//===----------------------------------------------------------------------===//

LogicalResult GatedRMSNormOp::canAbsorb(Operation *neighbour,
                                        std::string *reason) {
  return canAbsorbQuantization(*this, neighbour, reason);
}

std::vector<Problem> GatedRMSNormOp::getFusedProblems(Operation *neighbour) {
  return getProblems(*this, neighbour);
}

FailureOr<Operation *> GatedRMSNormOp::absorb(RewriterBase &rewriter,
                                              Operation *neighbour) {
  if (failed(canAbsorb(neighbour, nullptr)))
    return failure();
  return absorbQuantization(rewriter, *this, neighbour).getOperation();
}
