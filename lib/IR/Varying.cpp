//===- Varying.cpp - Problems of bounded profiles -------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/Varying.h"

using namespace mlir;
using namespace netra;

DictionaryAttr netra::varyingToAttr(MLIRContext *context,
                                    const Problem &problem) {
  Builder builder(context);
  SmallVector<NamedAttribute> dimensions, guards;
  for (const auto &[name, affine] : problem.varying) {
    SmallVector<NamedAttribute> terms = {builder.getNamedAttr(
        "constant", builder.getI64IntegerAttr(int64_t(affine.constant)))};
    for (const auto &[guard, factor] : affine.terms)
      terms.push_back(builder.getNamedAttr(
          guard, builder.getI64IntegerAttr(int64_t(factor))));
    dimensions.push_back(
        builder.getNamedAttr(name, builder.getDictionaryAttr(terms)));
  }
  for (const auto &[name, range] : problem.guards)
    guards.push_back(builder.getNamedAttr(
        name, GuardAttr::get(context, int64_t(range.min), int64_t(range.max))));
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("dimensions",
                            builder.getDictionaryAttr(dimensions)),
       builder.getNamedAttr("guards", builder.getDictionaryAttr(guards))});
}

LogicalResult netra::varyingFromAttr(Attribute attribute, Problem &problem) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  if (!dictionary || dictionary.size() != 2)
    return failure();
  auto dimensions = dictionary.getAs<DictionaryAttr>("dimensions");
  auto guards = dictionary.getAs<DictionaryAttr>("guards");
  if (!dimensions || dimensions.empty() || !guards)
    return failure();
  for (NamedAttribute entry : guards) {
    auto guard = dyn_cast<GuardAttr>(entry.getValue());
    if (!guard)
      return failure();
    problem.guards[entry.getName().str()] = {uint64_t(guard.getMin()),
                                             uint64_t(guard.getMax())};
  }
  for (NamedAttribute entry : dimensions) {
    auto terms = dyn_cast<DictionaryAttr>(entry.getValue());
    if (!terms || !terms.contains("constant"))
      return failure();
    Affine affine;
    for (NamedAttribute term : terms) {
      auto number = dyn_cast<IntegerAttr>(term.getValue());
      if (!number || !number.getType().isInteger(64) || number.getInt() < 0)
        return failure();
      if (term.getName() == "constant")
        affine.constant = uint64_t(number.getInt());
      else if (number.getInt() != 0 && guards.contains(term.getName()))
        affine.terms[term.getName().str()] = uint64_t(number.getInt());
      else
        return failure();
    }
    problem.varying[entry.getName().str()] = std::move(affine);
  }
  return success();
}

Problem netra::getProblem(TacticOpInterface op) {
  Problem problem = op.getProblem();
  // The dialect has verified the attribute.
  if (Attribute varying = op->getDiscardableAttr(kVaryingAttrName))
    (void)varyingFromAttr(varying, problem);
  return problem;
}
