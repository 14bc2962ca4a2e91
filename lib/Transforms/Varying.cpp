//===- Varying.cpp - What follows a bounded profile -----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The tensors of a bounded profile have the greatest extents; a launch uses the
// front of them. So only an outermost extent may vary, and the rows in use are
// always the first bytes of a row-major buffer.
//
// No operation is known here. What its results and its problem follow is found
// by asking it for other serving points: its verifier refuses types that do not
// belong together. An extent that varies is a multiple of one dimension of the
// serving point, so that all extents, and with them the dimensions of problems,
// which are products of extents, are polynomials without negative coefficients.
// Such a polynomial is convex along each dimension: one that takes three values
// of a line takes them all.
//
//===----------------------------------------------------------------------===//

#include "Varying.h"

#include "CatalogAccess.h"

#include "Netra/IR/EngineDecisions.h"
#include "Netra/IR/Varying.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace netra;

namespace {

/// The outermost extent of a value: its dimension, and what it follows.
struct Extent {
  unsigned dim = 0;
  Affine affine;
  bool operator==(const Extent &) const = default;
};

/// The number of the outermost extent that is not 1, or none.
std::optional<unsigned> getOutermost(RankedTensorType type) {
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (extent != 1)
      return dim;
  return std::nullopt;
}

class Annotator {
public:
  Annotator(func::FuncOp func, GuardBox all)
      : func(func), all(std::move(all)) {}

  LogicalResult run() {
    if (failed(readArguments()))
      return failure();
    if (guards.empty())
      return success();
    choosePoints();
    LogicalResult result = success();
    for (Operation &op : func.getBody().front().without_terminator())
      if (failed(visit(&op)))
        result = failure();
    return result;
  }

private:
  LogicalResult readArguments() {
    for (BlockArgument argument : func.getArguments()) {
      auto dims = func.getArgAttrOfType<ArrayAttr>(
          argument.getArgNumber(), NetraDialect::getDimsAttrName());
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!dims || !type || !type.hasStaticShape())
        continue;
      for (auto [dim, name] : llvm::enumerate(dims.getAsRange<StringAttr>())) {
        int64_t number;
        if (!name.getValue().getAsInteger(10, number))
          continue;
        auto guard = all.find(name.str());
        if (guard == all.end() || guard->second.isExact() ||
            guard->second.min == 0 ||
            guard->second.max != uint64_t(type.getDimSize(dim)) ||
            getOutermost(type) != dim)
          return func.emitError()
                 << "argument #" << argument.getArgNumber() << ": dimension "
                 << dim << " is bound to " << name
                 << ", but is not the outermost extent with the greatest of a "
                    "range from 1 on that the profile admits; run "
                    "netra-apply-profile again";
        guards[name.str()] = guard->second;
        extents[argument] = {unsigned(dim), Affine(0, {{name.str(), 1}})};
      }
    }
    return success();
  }

  /// A point is a box of exact guards. The first is the greatest one; then each
  /// dimension at its least and in its middle, then all at their least.
  void choosePoints() {
    GuardBox greatest, least;
    for (const auto &[name, range] : guards) {
      greatest[name] = {range.max, range.max};
      least[name] = {range.min, range.min};
    }
    points = {greatest};
    for (const auto &[name, range] : guards)
      for (uint64_t value :
           {range.min, range.min + (range.max - range.min) / 2}) {
        points.push_back(greatest);
        points.back()[name] = {value, value};
      }
    points.push_back(least);
  }

  static int64_t at(const Affine &affine, const GuardBox &point) {
    return int64_t(affine.leastOver(point).value_or(0));
  }

  static Type typeAt(Type type, const std::optional<Extent> &extent,
                     const GuardBox &point) {
    if (!extent)
      return type;
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape[extent->dim] = at(extent->affine, point);
    return RankedTensorType::get(shape, tensor.getElementType(),
                                 tensor.getEncoding());
  }

  /// What the results of `op` may follow, by what its operands do.
  std::vector<std::optional<Extent>> getCandidates(Operation *op,
                                                   OpResult result) {
    std::vector<std::optional<Extent>> candidates = {std::nullopt};
    auto type = dyn_cast<RankedTensorType>(result.getType());
    std::optional<unsigned> dim = type ? getOutermost(type) : std::nullopt;
    if (!dim)
      return candidates;
    uint64_t size = uint64_t(type.getDimSize(*dim));
    for (Value operand : op->getOperands()) {
      auto known = extents.find(operand);
      if (known == extents.end())
        continue;
      const Affine &affine = known->second.affine;
      uint64_t operandSize = uint64_t(at(affine, points.front()));
      const auto &[guard, factor] = *affine.terms.begin();
      // A view has the elements of what it views, in other rows.
      uint64_t scaled = factor * size;
      if (size != operandSize &&
          (!isa<ViewLikeOpInterface>(op) || scaled % operandSize != 0))
        continue;
      Extent extent{*dim, Affine(0, {{guard, scaled / operandSize}})};
      if (!llvm::is_contained(candidates, std::optional(extent)))
        candidates.push_back(extent);
    }
    return candidates;
  }

  /// Asks `op` with the types of `point`; gives its problem, if it has one.
  FailureOr<std::optional<Problem>>
  probe(Operation *op, ArrayRef<std::optional<Extent>> results,
        const GuardBox &point) {
    OpBuilder builder(op);
    IRMapping mapping;
    SmallVector<Operation *> placeholders;
    for (Value operand : op->getOperands()) {
      auto known = extents.find(operand);
      if (known == extents.end() || mapping.contains(operand))
        continue;
      placeholders.push_back(UnrealizedConversionCastOp::create(
          builder, op->getLoc(),
          typeAt(operand.getType(), known->second, point), ValueRange()));
      mapping.map(operand, placeholders.back()->getResult(0));
    }
    Operation *clone = builder.clone(*op, mapping);
    clone->removeDiscardableAttr(kVaryingAttrName);
    clone->removeDiscardableAttr(NetraDialect::getTacticAttrName());
    clone->removeDiscardableAttr(NetraDialect::getPlaceAttrName());
    for (auto [result, extent] : llvm::zip_equal(clone->getResults(), results))
      result.setType(typeAt(result.getType(), extent, point));
    FailureOr<std::optional<Problem>> answer = failure();
    if (isValid(clone)) {
      answer = std::optional<Problem>();
      if (auto tacticOp = dyn_cast<TacticOpInterface>(clone))
        *answer = tacticOp.getProblem();
    }
    clone->erase();
    for (Operation *placeholder : placeholders)
      placeholder->erase();
    return answer;
  }

  LogicalResult visit(Operation *op) {
    op->removeDiscardableAttr(kVaryingAttrName);
    if (llvm::none_of(op->getOperands(),
                      [&](Value operand) { return extents.contains(operand); }))
      return success();
    std::vector<std::vector<std::optional<Extent>>> candidates;
    uint64_t combinations = 1;
    for (OpResult result : op->getResults()) {
      candidates.push_back(getCandidates(op, result));
      combinations =
          std::min<uint64_t>(4096, combinations * candidates.back().size());
    }
    // The combination that the operation takes at every point.
    std::vector<std::optional<Extent>> found;
    std::vector<Problem> problems;
    unsigned count = 0;
    for (uint64_t i = 0; i < combinations; ++i) {
      std::vector<std::optional<Extent>> results;
      uint64_t rest = i;
      for (const auto &choices : candidates) {
        results.push_back(choices[rest % choices.size()]);
        rest /= choices.size();
      }
      std::vector<Problem> answers;
      bool isTaken = llvm::all_of(points, [&](const GuardBox &point) {
        FailureOr<std::optional<Problem>> answer = probe(op, results, point);
        if (succeeded(answer) && *answer)
          answers.push_back(std::move(**answer));
        return succeeded(answer);
      });
      if (!isTaken)
        continue;
      ++count;
      found = std::move(results);
      problems = std::move(answers);
    }
    if (count != 1)
      return op->emitError()
             << "cannot tell what the outermost extents of the results follow "
                "of "
             << toString(guards) << ": the operation takes "
             << (count == 0 ? "no way" : "several ways")
             << "; use a profile with exact guards";
    for (auto [result, extent] : llvm::zip_equal(op->getResults(), found))
      if (extent)
        extents[result] = *extent;
    if (problems.empty())
      return success();
    return annotate(op, problems);
  }

  /// What the dimensions of the problem follow, from its answers at all points.
  LogicalResult annotate(Operation *op, ArrayRef<Problem> problems) {
    Problem varying;
    const Problem &greatest = problems.front();
    for (const Problem &problem : problems) {
      Problem same = problem;
      same.dimensions = greatest.dimensions;
      for (auto [operand, other] : llvm::zip(same.operands, greatest.operands))
        operand.shape = other.shape;
      if (!(same == greatest))
        return op->emitError() << "what it computes is another problem for "
                                  "other values of "
                               << toString(guards);
    }
    for (const auto &[name, size] : greatest.dimensions) {
      Affine affine;
      int64_t constant = size;
      size_t next = 1;
      for (const auto &[guard, range] : guards) {
        int64_t width = int64_t(range.max - range.min);
        int64_t rise = size - problems[next].dimensions.at(name);
        if (rise != 0)
          affine.terms[guard] = uint64_t(rise / width);
        constant -= rise / width * int64_t(range.max);
        next += 2;
      }
      affine.constant = uint64_t(constant);
      bool fits = constant >= 0;
      for (auto [problem, point] : llvm::zip_equal(problems, points))
        fits &= at(affine, point) == problem.dimensions.at(name);
      if (!fits)
        return op->emitError()
               << "dimension " << name
               << " of its problem is no constant and multiples of "
               << toString(guards);
      if (affine.isConstant())
        continue;
      for (const auto &[guard, factor] : affine.terms)
        varying.guards[guard] = guards.at(guard);
      varying.varying[name] = std::move(affine);
    }
    if (!varying.varying.empty())
      op->setDiscardableAttr(kVaryingAttrName,
                             varyingToAttr(op->getContext(), varying));
    return success();
  }

  func::FuncOp func;
  GuardBox all, guards; // of the profile; those that an argument follows
  std::vector<GuardBox> points;
  DenseMap<Value, Extent> extents;
};

} // namespace

LogicalResult netra::annotateVarying(func::FuncOp func) {
  auto symbol = func->getAttrOfType<FlatSymbolRefAttr>(
      NetraDialect::getProfileAttrName());
  if (!symbol || !func.getBody().hasOneBlock())
    return success();
  auto profile = SymbolTable::lookupNearestSymbolFrom<ProfileOp>(func, symbol);
  if (!profile)
    return success();
  return Annotator(func, getGuards(profile)).run();
}
