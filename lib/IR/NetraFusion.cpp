//===- NetraFusion.cpp - What operations can take over --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// `EpilogueOpInterface` says what step an operation is for a producer, and
// `FusionOpInterface` whether a producer can carry it out. A producer looks at
// the step only, never at the operation it comes from.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "TensorType.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace netra;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::optional<EpilogueStep> ActivationOp::getEpilogueStep(OpOperand &main) {
  EpilogueStep step{EpilogueStep::Kind::Activation};
  step.activation = getActivation();
  return step;
}

/// A sum or product seen from one of its operands; `repeated` is the kind of
/// step when the other operand lacks leading dimensions.
static std::optional<EpilogueStep>
getBinaryStep(Operation *op, OpOperand &main, EpilogueStep::Kind same,
              std::optional<EpilogueStep::Kind> repeated) {
  Value other = op->getOperand(1 - main.getOperandNumber());
  if (other == main.get())
    return std::nullopt;
  EpilogueStep step{same};
  step.other = other;
  if (other.getType() == main.get().getType())
    return step;
  if (main.getOperandNumber() != 0 || !repeated ||
      tensorType(other).getRank() >= tensorType(main.get()).getRank())
    return std::nullopt;
  step.kind = *repeated;
  return step;
}

std::optional<EpilogueStep> AddOp::getEpilogueStep(OpOperand &main) {
  return getBinaryStep(*this, main, EpilogueStep::Kind::Residual,
                       EpilogueStep::Kind::Bias);
}

std::optional<EpilogueStep> MulOp::getEpilogueStep(OpOperand &main) {
  return getBinaryStep(*this, main, EpilogueStep::Kind::Multiply, std::nullopt);
}

std::optional<EpilogueStep> GatedOp::getEpilogueStep(OpOperand &main) {
  // A product whose columns are `up` is taken over together with the gate's.
  // With a quantized result, rows must be complete before they are rounded, and
  // a product does not round the activation by itself.
  if (main.getOperandNumber() != 0 || getQuantizeAttr() ||
      getRoundActivation() || getUp() == getGate())
    return std::nullopt;
  EpilogueStep step{EpilogueStep::Kind::Gated};
  step.activation = getActivation();
  step.other = getUp();
  return step;
}

std::optional<EpilogueStep> QuantizeBlocksOp::getEpilogueStep(OpOperand &main) {
  EpilogueStep step{EpilogueStep::Kind::Quantize};
  step.blockScale = getScale();
  return step;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

LogicalResult netra::refuse(std::string *reason, const Twine &why) {
  if (reason)
    *reason = why.str();
  return failure();
}

std::optional<EpilogueStep> netra::getStep(Value value, Operation *consumer) {
  auto epilogue = dyn_cast<EpilogueOpInterface>(consumer);
  OpOperand *use = nullptr;
  for (OpOperand &operand : consumer->getOpOperands())
    if (operand.get() == value)
      use = &operand;
  return epilogue && use ? epilogue.getEpilogueStep(*use) : std::nullopt;
}

std::optional<EpilogueStep> netra::getOnlyStep(Value value, Operation *consumer,
                                               std::string *reason) {
  std::optional<EpilogueStep> step = getStep(value, consumer);
  if (!step)
    return std::nullopt;
  if (!value.hasOneUse()) {
    (void)refuse(reason, "the unfused result has other users");
    return std::nullopt;
  }
  if (value.getParentBlock() != consumer->getBlock()) {
    (void)refuse(reason, "the two operations are in different blocks");
    return std::nullopt;
  }
  return step;
}

void netra::copyDiscardableAttributes(Operation *from, Operation *to) {
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    if (attribute.getName() != NetraDialect::getTacticAttrName() &&
        attribute.getName() != NetraDialect::getPlaceAttrName())
      to->setDiscardableAttr(attribute.getName(), attribute.getValue());
}

Location netra::fuseLocations(Operation *first, Operation *second) {
  return FusedLoc::get(first->getContext(),
                       {first->getLoc(), second->getLoc()});
}

Problem netra::takeProblem(TacticOpInterface op) {
  Problem problem = op.getProblem();
  op->erase();
  return problem;
}

//===----------------------------------------------------------------------===//
// DenseOp
//===----------------------------------------------------------------------===//

/// The parameter that `value`, the result of a netra.get, is read from.
static ParameterOp getParameter(Value value) {
  auto get = value.getDefiningOp<GetOp>();
  return SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
      get, get.getParameterAttr());
}

static bool isParameter(Value value) {
  return value && value.getDefiningOp<GetOp>();
}

/// Whether the rows of two parameters can follow each other in one.
static LogicalResult canConcatenate(Value first, Value second, StringRef what,
                                    std::string *reason) {
  if (!isParameter(first) || !isParameter(second))
    return refuse(reason, "the " + what + " of a product is not a parameter");
  RankedTensorType aType = tensorType(first), bType = tensorType(second);
  if (aType != bType || !isRowMajor(aType))
    return refuse(reason, "the " + what +
                              "s of the two products differ in type or are not "
                              "row-major");
  return success();
}

/// The other product of a gated pair.
static DenseOp getSibling(const EpilogueStep &step) {
  return step.other ? step.other.getDefiningOp<DenseOp>() : DenseOp();
}

static LogicalResult canAbsorbGated(DenseOp op, const EpilogueStep &step,
                                    std::string *reason) {
  if (!op.getEpilogueOrNone().isNone() || op.getResidual())
    return refuse(reason, "the gate's product already has an epilogue");
  // [gate | up] in one product: rows, scales and bias already lie so.
  if (!step.other)
    return success();

  DenseOp up = getSibling(step);
  if (!up)
    return refuse(reason, "the other factor is not a product");
  if (!up.getEpilogueOrNone().isNone() || up.getResidual())
    return refuse(reason, "the other product already has an epilogue");
  if (!up.getResult().hasOneUse())
    return refuse(reason, "the other product has other users");
  if (up.getX() != op.getX() || up.getXScale() != op.getXScale() ||
      up.getXBlockScaleAttr() != op.getXBlockScaleAttr() ||
      up.getWeightBlockScaleAttr() != op.getWeightBlockScaleAttr())
    return refuse(reason, "the two products do not have the same x");
  if (static_cast<bool>(up.getBias()) != static_cast<bool>(op.getBias()))
    return refuse(reason, "only one of the two products has a bias");
  if (failed(canConcatenate(op.getWeight(), up.getWeight(), "weight", reason)))
    return failure();
  if (op.getBias() &&
      failed(canConcatenate(op.getBias(), up.getBias(), "bias", reason)))
    return failure();
  if (!op.getWeightScale())
    return success();
  int64_t rows = tensorType(op.getWeight()).getDimSize(0);
  int64_t block = op.getWeightBlockScaleAttr().getBlock()[0];
  if (rows % block != 0)
    return refuse(reason, "blocks of " + Twine(block) +
                              " rows would lie across the border between the " +
                              Twine(rows) + " gate rows and the up rows");
  return canConcatenate(op.getWeightScale(), up.getWeightScale(),
                        "weight scale", reason);
}

LogicalResult DenseOp::canAbsorb(Operation *neighbour, std::string *reason) {
  std::optional<EpilogueStep> step =
      getOnlyStep(getResult(), neighbour, reason);
  if (!step)
    return failure();
  RankedTensorType type = tensorType(getResult());
  switch (step->kind) {
  case EpilogueStep::Kind::Bias: {
    RankedTensorType bias = tensorType(step->other);
    if (getBias() || !getEpilogueOrNone().isNone() || getResidual())
      return refuse(reason, "a bias must come first, but the product already "
                            "has a bias, an activation or a residual");
    if (bias.getRank() != 1 || !isRowMajor(bias))
      return refuse(reason, "the addend is not one row-major value per column");
    return success();
  }
  case EpilogueStep::Kind::Activation: {
    if (!getEpilogueOrNone().isNone() || getResidual())
      return refuse(reason, "the product already has an activation or a "
                            "residual");
    // An activation that gates another value is worth more as that.
    auto gate = dyn_cast<FusionOpInterface>(neighbour);
    if (gate && llvm::any_of(neighbour->getUsers(), [&](Operation *user) {
          return succeeded(gate.canAbsorb(user, nullptr));
        }))
      return refuse(reason, "the activation gates another value");
    return success();
  }
  case EpilogueStep::Kind::Residual:
    if (getResidual())
      return refuse(reason, "the product already has a residual");
    if (step->other.getType() != type)
      return refuse(reason, "the addend has another type than the product");
    return success();
  case EpilogueStep::Kind::Gated:
    return canAbsorbGated(*this, *step, reason);
  case EpilogueStep::Kind::Multiply:
  case EpilogueStep::Kind::Quantize:
    return failure();
  }
  return failure();
}

/// "mlp.gate_up_proj.weight" for "mlp.gate_proj.weight" and
/// "mlp.up_proj.weight": words that both begin or end with stand once.
static std::string joinNames(StringRef a, StringRef b) {
  const StringRef separators = "._/";
  size_t limit = std::min(a.size(), b.size());
  size_t front = 0, back = 0, tail = 0;
  for (size_t i = 0; i < limit && a[i] == b[i]; ++i)
    if (separators.contains(a[i]))
      front = i + 1;
  while (front + back < limit &&
         a[a.size() - 1 - back] == b[b.size() - 1 - back])
    if (separators.contains(a[a.size() - ++back]))
      tail = back;
  return (a.drop_back(tail) + "_" + b.drop_front(front)).str();
}

/// A `netra.get` of the parameter whose rows are those of two others, made when
/// there is none yet.
static Value concatenate(RewriterBase &rewriter, Location loc, Value first,
                         Value second) {
  ParameterOp a = getParameter(first), b = getParameter(second);
  Attribute sources[] = {FlatSymbolRefAttr::get(a.getSymNameAttr()),
                         FlatSymbolRefAttr::get(b.getSymNameAttr())};
  auto pack = PackAttr::get(rewriter.getContext(), sources, 0, {});

  Operation *table = SymbolTable::getNearestSymbolTable(a->getParentOp());
  for (auto existing : table->getRegion(0).getOps<ParameterOp>())
    if (existing.getPackAttr() == pack)
      return GetOp::create(rewriter, loc, existing);

  SmallVector<int64_t> shape(a.getTensorType().getShape());
  shape[0] += b.getTensorType().getDimSize(0);
  std::string base = joinNames(a.getSymName(), b.getSymName());
  std::string name = base;
  for (unsigned suffix = 1; SymbolTable::lookupSymbolIn(table, name); ++suffix)
    name = base + "_" + std::to_string(suffix);

  ParameterOp packed;
  {
    OpBuilder::InsertionGuard guard(rewriter);
    // Behind both sources, so that parameters stay together and in order.
    rewriter.setInsertionPointAfter(
        a->getBlock() == b->getBlock() && a->isBeforeInBlock(b) ? b : a);
    packed = ParameterOp::create(
        rewriter,
        FusedLoc::get(rewriter.getContext(), {a.getLoc(), b.getLoc()}), name,
        RankedTensorType::get(shape, a.getTensorType().getElementType()), pack);
  }
  return GetOp::create(rewriter, loc, packed);
}

FailureOr<Operation *> DenseOp::absorb(RewriterBase &rewriter,
                                       Operation *neighbour) {
  std::optional<EpilogueStep> step =
      getOnlyStep(getResult(), neighbour, nullptr);
  if (!step || failed(canAbsorb(neighbour, nullptr)))
    return failure();

  Location loc = fuseLocations(*this, neighbour);
  rewriter.setInsertionPoint(neighbour);
  Value weight = getWeight(), weightScale = getWeightScale();
  Value bias = getBias(), residual = getResidual();
  EpilogueAttr epilogue = getEpilogueAttr();
  DenseOp sibling;
  switch (step->kind) {
  case EpilogueStep::Kind::Bias:
    bias = step->other;
    break;
  case EpilogueStep::Kind::Activation:
    epilogue = EpilogueAttr::get(getContext(), step->activation, false);
    break;
  case EpilogueStep::Kind::Residual:
    residual = step->other;
    break;
  case EpilogueStep::Kind::Gated:
    epilogue = EpilogueAttr::get(getContext(), step->activation, true);
    sibling = getSibling(*step);
    if (!sibling)
      break;
    weight = concatenate(rewriter, loc, weight, sibling.getWeight());
    if (weightScale)
      weightScale =
          concatenate(rewriter, loc, weightScale, sibling.getWeightScale());
    if (bias)
      bias = concatenate(rewriter, loc, bias, sibling.getBias());
    break;
  case EpilogueStep::Kind::Multiply:
  case EpilogueStep::Kind::Quantize:
    return failure();
  }

  auto fused = DenseOp::create(rewriter, loc, neighbour->getResult(0).getType(),
                               getX(), weight, getXScale(), weightScale, bias,
                               residual, getXBlockScaleAttr(),
                               getWeightBlockScaleAttr(), epilogue);
  copyDiscardableAttributes(*this, fused);
  rewriter.replaceOp(neighbour, fused.getResult());
  if (sibling)
    rewriter.eraseOp(sibling);
  rewriter.eraseOp(*this);
  return fused.getOperation();
}

//===----------------------------------------------------------------------===//
// GatedOp
//===----------------------------------------------------------------------===//

LogicalResult GatedOp::canAbsorb(Operation *neighbour, std::string *reason) {
  std::optional<EpilogueStep> step =
      getOnlyStep(getResult(), neighbour, reason);
  if (!step || step->kind != EpilogueStep::Kind::Quantize)
    return failure();
  if (getQuantizeAttr())
    return refuse(reason, "the result is already quantized");
  // Then a product, which cannot quantize, would have to leave both alone.
  auto gate = dyn_cast_or_null<FusionOpInterface>(getGate().getDefiningOp());
  if (gate && succeeded(gate.canAbsorb(*this, nullptr)))
    return refuse(reason, "the product of the gate takes over the activation");
  return success();
}

FailureOr<Operation *> GatedOp::absorb(RewriterBase &rewriter,
                                       Operation *neighbour) {
  if (failed(canAbsorb(neighbour, nullptr)))
    return failure();
  std::optional<EpilogueStep> step =
      getOnlyStep(getResult(), neighbour, nullptr);
  rewriter.setInsertionPoint(neighbour);
  auto fused = GatedOp::create(rewriter, fuseLocations(*this, neighbour),
                               neighbour->getResult(0).getType(),
                               neighbour->getResult(1).getType(), Type(),
                               getGate(), getUp(), getActivation(),
                               step->blockScale, getRoundActivation());
  copyDiscardableAttributes(*this, fused);
  rewriter.replaceOp(neighbour, {fused.getResult(), fused.getResultScale()});
  rewriter.eraseOp(*this);
  return fused.getOperation();
}

//===----------------------------------------------------------------------===//
// ActivationOp
//===----------------------------------------------------------------------===//

LogicalResult ActivationOp::canAbsorb(Operation *neighbour,
                                      std::string *reason) {
  std::optional<EpilogueStep> step =
      getOnlyStep(getResult(), neighbour, reason);
  if (!step || step->kind != EpilogueStep::Kind::Multiply)
    return failure();
  if (tensorType(getX()).getRank() != 2)
    return refuse(reason, "the activation is not of a matrix");
  return success();
}

FailureOr<Operation *> ActivationOp::absorb(RewriterBase &rewriter,
                                            Operation *neighbour) {
  if (failed(canAbsorb(neighbour, nullptr)))
    return failure();
  std::optional<EpilogueStep> step =
      getOnlyStep(getResult(), neighbour, nullptr);
  rewriter.setInsertionPoint(neighbour);
  auto fused = GatedOp::create(rewriter, fuseLocations(*this, neighbour),
                               neighbour->getResult(0).getType(), getX(),
                               step->other, getActivation());
  copyDiscardableAttributes(*this, fused);
  rewriter.replaceOp(neighbour, fused.getResult());
  rewriter.eraseOp(*this);
  return fused.getOperation();
}
