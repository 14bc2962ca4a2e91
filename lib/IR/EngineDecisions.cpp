//===- EngineDecisions.cpp - The decision table of an engine --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/EngineDecisions.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace netra;

GuardBox netra::getGuards(ProfileOp profile) {
  std::pair<StringRef, GuardAttr> guards[] = {
      {"m", profile.getMAttr()},
      {"batch", profile.getBatchAttr()},
      {"sequence", profile.getSequenceAttr()},
      {"routed_rows", profile.getRoutedRowsAttr()},
      {"tensor_parallel", profile.getTensorParallelAttr()}};
  GuardBox box;
  for (auto [name, guard] : guards)
    if (guard)
      box[name.str()] = {uint64_t(guard.getMin()), uint64_t(guard.getMax())};
  return box;
}

llvm::Expected<std::vector<GuardBox>> netra::domainFromAttr(ArrayAttr domain) {
  std::vector<GuardBox> boxes;
  if (!domain)
    return boxes;
  for (Attribute attribute : domain) {
    auto dictionary = dyn_cast<DictionaryAttr>(attribute);
    if (!dictionary)
      return llvm::createStringError(
          "a box of 'domain' must be a dictionary of guards");
    GuardBox &box = boxes.emplace_back();
    for (NamedAttribute entry : dictionary) {
      auto guard = dyn_cast<GuardAttr>(entry.getValue());
      StringRef name = entry.getName().getValue();
      if (!guard || !llvm::is_contained(guardNames, name))
        return llvm::createStringError(
            "a box of 'domain' must hold guards on " +
            llvm::join(ArrayRef(guardNames), ", ") + ", found '" + name + "'");
      box[name.str()] = {uint64_t(guard.getMin()), uint64_t(guard.getMax())};
    }
  }
  return boxes;
}

ArrayAttr netra::domainToAttr(MLIRContext *context,
                              llvm::ArrayRef<GuardBox> domain) {
  Builder builder(context);
  constexpr uint64_t limit = std::numeric_limits<int64_t>::max();
  SmallVector<Attribute> boxes;
  for (const GuardBox &box : domain) {
    SmallVector<NamedAttribute> guards;
    for (const auto &[name, range] : box)
      guards.push_back(builder.getNamedAttr(
          name, GuardAttr::get(context, int64_t(std::min(range.min, limit)),
                               int64_t(std::min(range.max, limit)))));
    boxes.push_back(builder.getDictionaryAttr(guards));
  }
  return builder.getArrayAttr(boxes);
}

llvm::Expected<DecisionTable> netra::compileDecisions(EngineOp engine) {
  std::vector<DecisionPlan> plans;
  for (auto plan : engine.getBody().getOps<PlanOp>()) {
    auto profile = SymbolTable::lookupNearestSymbolFrom<ProfileOp>(
        engine->getParentOp(), plan.getProfileAttr());
    if (!profile)
      return llvm::createStringError("@" + plan.getProfile() +
                                     " is not a profile beside the engine");
    plans.push_back({plan.getSymName().str(), int64_t(profile.getPriority()),
                     getGuards(profile)});
  }
  auto domain = domainFromAttr(engine.getDomainAttr());
  if (!domain)
    return domain.takeError();
  return compileDecisions(plans, *domain);
}

/// `from` of the cases of a node, and what they take.
static std::pair<DenseI64ArrayAttr, ArrayAttr>
getCases(EngineOp engine, const DecisionNode &node) {
  Builder builder(engine.getContext());
  SmallVector<PlanOp> plans(engine.getBody().getOps<PlanOp>());
  SmallVector<int64_t> from;
  SmallVector<Attribute> take;
  for (const DecisionCase &next : node.cases) {
    from.push_back(int64_t(next.from));
    switch (next.kind) {
    case DecisionCase::Kind::Refuse:
      take.push_back(builder.getUnitAttr());
      break;
    case DecisionCase::Kind::Plan:
      take.push_back(
          FlatSymbolRefAttr::get(plans[next.index].getSymNameAttr()));
      break;
    case DecisionCase::Kind::Node:
      take.push_back(builder.getI64IntegerAttr(int64_t(next.index)));
      break;
    }
  }
  return {builder.getDenseI64ArrayAttr(from), builder.getArrayAttr(take)};
}

void netra::addDecisions(OpBuilder &builder, EngineOp engine,
                         const DecisionTable &table) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&engine.getBody().front());
  for (const DecisionNode &node : table.nodes) {
    auto [from, take] = getCases(engine, node);
    DecisionOp::create(builder, engine.getLoc(),
                       builder.getStringAttr(guardNames[node.dimension]), from,
                       take);
  }
}

LogicalResult
EngineOp::verifySymbolUses(SymbolTableCollection & /*symbolTable*/) {
  SmallVector<DecisionOp> found(getBody().getOps<DecisionOp>());
  if (found.empty())
    return success();
  llvm::Expected<DecisionTable> table = compileDecisions(*this);
  if (!table)
    return emitOpError("C4: ") << llvm::toString(table.takeError());
  for (auto [number, decision] : llvm::enumerate(found)) {
    if (number >= table->nodes.size())
      return decision.emitOpError("breaks C4 of 'netra.engine': expected ")
             << table->nodes.size() << " decisions, found " << found.size();
    const DecisionNode &node = table->nodes[number];
    auto [from, take] = getCases(*this, node);
    if (decision.getDimension() != guardNames[node.dimension] ||
        decision.getFromAttr() != from || decision.getTakeAttr() != take)
      return decision.emitOpError("breaks C4 of 'netra.engine': expected \"")
             << guardNames[node.dimension] << "\" from(" << from << ") take("
             << take << ") after the profiles of the plans";
  }
  if (found.size() < table->nodes.size())
    return emitOpError("C4: expected ")
           << table->nodes.size() << " decisions, found " << found.size();
  return success();
}

LogicalResult DecisionOp::verify() {
  if (!llvm::is_contained(guardNames, getDimension()))
    return emitOpError("C1: the dimension must be one of ")
           << llvm::join(ArrayRef(guardNames), ", ") << ", found "
           << getDimensionAttr();
  ArrayRef<int64_t> from = getFrom();
  bool rises = !from.empty() && from.front() == 0;
  for (size_t i = 1; i < from.size(); ++i)
    rises &= uint64_t(from[i - 1]) < uint64_t(from[i]);
  if (!rises || getTake().size() != from.size())
    return emitOpError("C2: 'from' must start with 0 and rise, with an entry "
                       "of 'take' for each, found ")
           << getFromAttr() << " and " << getTakeAttr();
  for (Attribute entry : getTake()) {
    auto number = dyn_cast<IntegerAttr>(entry);
    if (!isa<FlatSymbolRefAttr, UnitAttr>(entry) &&
        !(number && number.getType().isInteger(64)))
      return emitOpError("C3: an entry of 'take' must be a plan, a 64-bit "
                         "integer or unit, found ")
             << entry;
  }
  return success();
}
