//===- PlanShape.cpp - Identities, views, transpositions, constants -------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "GraphReader.h"
#include "Planner.h"

#include "Netra/Conversion/IREE/IREE.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace netra;
using namespace netra::importer;

/// The plan that gives `source` the type of `result`, all elements in place.
static Plan planShare(Value result, Value source) {
  return Plan{{source},
              [=](Emitter &emitter) { emitter.share(result, source); }};
}

Outcome Planner::planIdentity(Operation *op) {
  if (!isIdentity(op))
    return Outcome::refuse("it changes the static type from ",
                           spell(op->getOperand(0).getType()), " to ",
                           spell(op->getResult(0).getType()),
                           ", or is not known to change nothing");
  return planShare(op->getResult(0), op->getOperand(0));
}

/// Why a tensor of one type cannot be seen as the other; empty if it can.
static std::string whyNotReshape(RankedTensorType from, RankedTensorType to) {
  if (!isNetraTensor(from) || !isNetraTensor(to))
    return "expected operand and result of known rank and element type";
  if (from.getElementType() != to.getElementType())
    return concat("expected one element type, found ", spell(from), " and ",
                  spell(to));
  if (from.getShape() == to.getShape())
    return {};
  unsigned fromDynamic = countDynamic(from.getShape());
  unsigned toDynamic = countDynamic(to.getShape());
  if (fromDynamic > 1 || toDynamic > 1)
    return concat("expected at most one unknown size on each side, found ",
                  spell(from.getShape()), " and ", spell(to.getShape()));
  if (fromDynamic != toDynamic)
    return concat("expected the unknown size of ", spell(from.getShape()),
                  " to be an unknown size of the result, found ",
                  spell(to.getShape()));
  if (fromDynamic == 0 && from.getNumElements() != to.getNumElements())
    return concat("expected as many elements as ", spell(from.getShape()),
                  " has, found ", spell(to.getShape()));
  return {};
}

Outcome Planner::planView(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumResults() != 1)
    return Outcome::refuse("expected a tensor operand and one result");
  Value source = op->getOperand(0);
  Value result = op->getResult(0);
  RankedTensorType from = tensorTypeOf(source);
  RankedTensorType to = tensorTypeOf(result);
  std::string reason = whyNotReshape(from, to);
  if (!reason.empty())
    return Outcome::refuse("it is not a reshape of one tensor into another: ",
                           reason);
  // Sizes that stand in the operation must be those of the result type.
  StringRef name = op->getName().getStringRef();
  if (op->getNumOperands() == 2 && name != "torch.aten.squeeze.dim") {
    if (auto sizes =
            op->getOperand(1).getDefiningOp<torch::PrimListConstructOp>();
        sizes &&
        sizes.getElements().size() == static_cast<size_t>(to.getRank())) {
      for (auto [element, size] :
           llvm::zip_equal(sizes.getElements(), to.getShape())) {
        std::optional<int64_t> constant = constantInt(element);
        if (constant && *constant >= 0 && !ShapedType::isDynamic(size) &&
            *constant != size)
          return Outcome::refuse("expected the sizes of the result type ",
                                 spell(to.getShape()), ", found a size of ",
                                 std::to_string(*constant));
      }
    }
  }
  return planShare(result, source);
}

/// The permutation that a transposing operation applies: dimension i of the
/// result is dimension permutation[i] of the operand.
static std::optional<SmallVector<int64_t>> readPermutation(Operation *op,
                                                           int64_t rank) {
  StringRef name = op->getName().getStringRef();
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(rank));
  if (name == "torch.aten.t" || name == "torch.aten.numpy_T") {
    if (rank > 2 && name == "torch.aten.t")
      return std::nullopt;
    std::reverse(permutation.begin(), permutation.end());
    return permutation;
  }
  if (name == "torch.aten.permute") {
    std::optional<SmallVector<int64_t>> dims =
        op->getNumOperands() == 2 ? constantIntList(op->getOperand(1))
                                  : std::nullopt;
    if (!dims || static_cast<int64_t>(dims->size()) != rank)
      return std::nullopt;
    SmallVector<bool> seen(rank, false);
    for (auto [i, dim] : llvm::enumerate(*dims)) {
      std::optional<int64_t> source = normalizeDimension(dim, rank);
      if (!source || std::exchange(seen[*source], true))
        return std::nullopt;
      permutation[i] = *source;
    }
    return permutation;
  }
  if (op->getNumOperands() != 3)
    return std::nullopt;
  std::optional<int64_t> first = constantInt(op->getOperand(1));
  std::optional<int64_t> second = constantInt(op->getOperand(2));
  if (!first || !second)
    return std::nullopt;
  first = normalizeDimension(*first, rank);
  second = normalizeDimension(*second, rank);
  if (!first || !second)
    return std::nullopt;
  std::swap(permutation[*first], permutation[*second]);
  return permutation;
}

Outcome Planner::planPermutation(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumResults() != 1)
    return Outcome::refuse("expected a tensor operand and one result");
  Value source = op->getOperand(0);
  Value result = op->getResult(0);
  RankedTensorType from = tensorTypeOf(source);
  RankedTensorType to = tensorTypeOf(result);
  if (!isNetraTensor(from) || !isNetraTensor(to))
    return Outcome::refuse(
        "expected operand and result of known rank and element type");
  std::optional<SmallVector<int64_t>> permutation =
      readPermutation(op, from.getRank());
  if (!permutation)
    return Outcome::refuse("expected constant dimensions of a tensor of rank ",
                           std::to_string(from.getRank()));
  SmallVector<int64_t> permuted;
  for (int64_t dim : *permutation)
    permuted.push_back(from.getDimSize(dim));
  if (to != from.clone(permuted))
    return Outcome::refuse("expected a result of sizes ", spell(permuted),
                           ", found ", spell(to.getShape()));

  // Dimensions of size 1 move freely: when the others keep their order, no
  // element moves.
  int64_t last = -1;
  bool inOrder = true;
  for (int64_t dim : *permutation) {
    if (from.getDimSize(dim) == 1)
      continue;
    inOrder &= dim > last;
    last = dim;
  }
  if (inOrder && whyNotReshape(from, to).empty())
    return planShare(result, source);
  return Plan{
      {source}, [=, order = *permutation](Emitter &emitter) {
        Value operand = emitter.full(source);
        emitter.define(
            result,
            emitter.create<TransposeOp>(
                to, operand, emitter.getBuilder().getDenseI64ArrayAttr(order)));
      }};
}

/// Why netra.cast does not compute a conversion as torch does; empty if it
/// does.
static std::string whyNotCast(Type from, Type to) {
  auto isInteger = [](Type type) { return isa<IntegerType>(type); };
  if (from.isInteger(1) || to.isInteger(1))
    return "conversions from and to bool are not part of the netra dialect";
  if (isInteger(from) && isInteger(to))
    return "conversions between integers are not part of the netra dialect";
  if (from.isUnsignedInteger() || to.isUnsignedInteger())
    return "unsigned integers are not part of the netra dialect";
  if (isa<Float8E4M3FNType, Float8E5M2Type>(to))
    return "torch does not saturate where netra.cast does; quantize with "
           "torch.netra.block_scaled_linear";
  return {};
}

Outcome Planner::planConversion(Operation *op) {
  if (!isConversion(op))
    return Outcome::refuse("expected a constant dtype that agrees with the "
                           "result type, and an operand of known type");
  if (std::optional<Outcome> norm = matchNorm(op))
    return std::move(*norm);
  if (std::optional<Outcome> activation = matchWidenedActivation(op))
    return std::move(*activation);
  Value source = op->getOperand(0);
  Value result = op->getResult(0);
  Type from = tensorTypeOf(source).getElementType();
  Type to = tensorTypeOf(result).getElementType();
  if (from == to)
    return planShare(result, source);
  if (!isNetraTensor(tensorTypeOf(source)) ||
      !isNetraTensor(tensorTypeOf(result)))
    return Outcome::refuse("no netra tensor holds ", spell(from), " or ",
                           spell(to));
  std::string reason = whyNotCast(from, to);
  if (!reason.empty())
    return Outcome::refuse("it converts ", spell(from), " to ", spell(to), ": ",
                           reason);
  return Plan{{source}, [=](Emitter &emitter) {
                emitter.define(result,
                               emitter.cast(emitter.computeForm(source), to));
              }};
}

/// `value` with the element type of a builtin tensor: signless where torch has
/// signed integers. Null when the attribute is of a kind that has no such form.
static ElementsAttr withElementType(ElementsAttr value, RankedTensorType type) {
  if (value.getShapedType() == type)
    return value;
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(value))
    return dense.bitcast(type.getElementType());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return {};
}

Outcome Planner::planLiteral(Operation *op) {
  auto literal = cast<torch::VTensorLiteralOp>(op);
  Value result = literal.getResult();
  RankedTensorType type = tensorTypeOf(result);
  if (!isNetraTensor(type) || !type.hasStaticShape())
    return Outcome::refuse("expected a literal of known sizes and of a type "
                           "that a netra tensor has, found ",
                           spell(result.getType()));
  ElementsAttr value = withElementType(literal.getValue(), type);
  if (!value)
    return Outcome::refuse("expected dense elements");
  return Plan{{}, [=](Emitter &emitter) {
                emitter.define(result, emitter.create<ConstantOp>(type, value));
              }};
}

Outcome Planner::planGlobalLoad(Operation *op) {
  auto load = cast<iree::GlobalLoadOp>(op);
  auto global = module.lookupSymbol<iree::GlobalOp>(load.getGlobalAttr());
  if (!global)
    return Outcome::refuse("no util.global of that name");
  Value result = load.getResult();
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!isNetraTensor(type) || !type.hasStaticShape() || type.getEncoding())
    return Outcome::refuse("expected a global of known sizes and of a type "
                           "that a netra tensor has, found ",
                           spell(result.getType()));
  if (global.getIsMutable())
    return Outcome::refuse("global @", global.getSymName().str(),
                           " is mutable: state between calls must be an "
                           "argument and a result of the function");
  std::optional<TypedAttr> value = global.getInitialValue();
  if (value && isa<iree::NamedParameterAttr>(*value))
    return Plan{{}, [=](Emitter &emitter) {
                  emitter.define(result, emitter.create<GetOp>(
                                             emitter.parameters.at(global)));
                }};
  ElementsAttr elements = value ? dyn_cast<ElementsAttr>(*value) : nullptr;
  elements = elements ? withElementType(elements, type) : nullptr;
  if (!elements)
    return Outcome::refuse("global @", global.getSymName().str(),
                           " has neither #stream.parameter.named nor dense "
                           "elements as its value");
  return Plan{{}, [=](Emitter &emitter) {
                emitter.define(result,
                               emitter.create<ConstantOp>(type, elements));
              }};
}

Outcome Planner::planBorder(Operation *op) {
  Value source = op->getOperand(0);
  Value result = op->getResult(0);
  RankedTensorType from = tensorTypeOf(source);
  if (!from || from != tensorTypeOf(result))
    return Outcome::refuse("expected the same known sizes and element type on "
                           "both sides, found ",
                           spell(source.getType()), " and ",
                           spell(result.getType()));
  return planShare(result, source);
}
