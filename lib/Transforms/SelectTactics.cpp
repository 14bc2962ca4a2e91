//===- SelectTactics.cpp - Choose one exact kernel for every operation ----===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CatalogAccess.h"
#include "Varying.h"

#include "Netra/IR/Varying.h"
#include "Netra/Transforms/Passes.h"

#include <limits>

using namespace mlir;

namespace netra {
#define GEN_PASS_DEF_NETRASELECTTACTICS
#include "Netra/Transforms/Passes.h.inc"
} // namespace netra

using namespace netra;

namespace {

std::string describe(const Candidate &miss) {
  std::string text = miss.tactic->name + " differs in ";
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      miss.mismatches, stream,
      [&](const Mismatch &mismatch) { stream << mismatch.str(); }, "; ");
  return text;
}

TacticAttr makeTactic(MLIRContext *context, const Instance &instance) {
  Builder builder(context);
  SmallVector<NamedAttribute> options;
  for (const auto &[name, value] : instance.options)
    options.push_back(
        builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
  return TacticAttr::get(context, builder.getStringAttr(instance.tactic->name),
                         builder.getDictionaryAttr(options),
                         builder.getStringAttr(instance.contract.id()));
}

class SelectTacticsPass
    : public netra::impl::NetraSelectTacticsBase<SelectTacticsPass> {
public:
  using NetraSelectTacticsBase::NetraSelectTacticsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    catalog = &getAnalysis<SharedCatalog>();
    if (failed(catalog->load(module, libraryRoot, target, goldenRoot)))
      return signalPassFailure();
    tacticName =
        StringAttr::get(&getContext(), NetraDialect::getTacticAttrName());
    // What explains an engine selects again as it was done here.
    StringRef byRank = NetraDialect::getSelectedByRankAttrName();
    if (countInstructions)
      module->removeDiscardableAttr(byRank);
    else
      module->setDiscardableAttr(byRank, UnitAttr::get(&getContext()));
    bool ok = true;
    for (auto func : module.getOps<func::FuncOp>())
      ok &= succeeded(annotateVarying(func));
    if (!ok)
      return signalPassFailure();
    for (auto func : module.getOps<func::FuncOp>())
      for (Block &block : func.getBody())
        for (Operation &op : llvm::make_early_inc_range(block))
          ok &= succeeded(visit(&op));
    catalog = nullptr;
    choices.clear();
    if (!ok)
      signalPassFailure();
  }

private:
  LogicalResult visit(Operation *op) {
    if (auto tacticOp = dyn_cast<TacticOpInterface>(op))
      return choose(tacticOp);
    // Of what an importer could not say with operations.
    if (auto fallback = dyn_cast<FallbackOp>(op)) {
      op->emitRemark() << "fallback: " << fallback.getOpName() << ": "
                       << fallback.getReason();
      return success();
    }
    // Parameters, views, constants and the terminator need no kernel; anything
    // foreign has to be converted before.
    if (isa<NetraDialect>(op->getDialect()) ||
        op->hasTrait<OpTrait::IsTerminator>())
      return success();
    return op->emitError()
           << "expected an operation of the netra dialect, found "
           << op->getName() << "; convert the module first";
  }

  LogicalResult choose(TacticOpInterface op) {
    SmallVector<std::pair<StringRef, Value>> inputs, results;
    op.getRoles(inputs, results);
    for (auto *roles : {&inputs, &results})
      for (auto [role, value] : *roles)
        if (!cast<RankedTensorType>(value.getType()).hasStaticShape())
          return op->emitError()
                 << "expected static shapes, found " << value.getType()
                 << " for " << role << "; run netra-apply-profile first";

    Choice &choice = choices[getOperationKey(op)];
    if (!choice.selection) {
      SelectOptions options;
      options.target = target;
      options.allowExperimental = allowExperimental;
      options.allowGolden = !goldenRoot.empty();
      if (countInstructions)
        options.counter = catalog->getCounter(goldenRoot);
      // Near misses are for those who read them.
      options.nearestMisses = 0;
      Problem problem = getProblem(op);
      choice.selection = &catalog->select(problem, options);
      if (!choice.selection->winner || explain || explainAll) {
        options.nearestMisses = explainAll
                                    ? std::numeric_limits<unsigned>::max()
                                    : SelectOptions().nearestMisses;
        choice.selection = &catalog->select(problem, options);
      }
      if (choice.selection->winner) {
        const Instance &instance = choice.selection->winner->instance;
        choice.tactic = makeTactic(op.getContext(), instance);
        op->setDiscardableAttr(tacticName, choice.tactic);
        catalog->addInstance(op, instance);
      }
    }
    const Selection &selection = *choice.selection;
    if (!selection.winner) {
      // Attributes that are not the operation's own are not in its key.
      bool isPlain = op->getDiscardableAttrDictionary().empty();
      if (!isPlain || !choice.fallback)
        choice.fallback = describeFallback(op, selection, inputs, results);
      replaceByFallback(op, selection, *choice.fallback, inputs, results);
      if (!isPlain)
        choice.fallback.reset();
      return success();
    }
    const Instance &instance = selection.winner->instance;
    if (instance.tactic->golden)
      if (llvm::Error error =
              readGoldenFile(*instance.tactic, goldenRoot).takeError())
        return emitErrors(op, std::move(error));
    TacticAttr tactic = choice.tactic;
    op->setDiscardableAttr(tacticName, tactic);
    if (!explain && !explainAll)
      return success();
    InFlightDiagnostic remark = op->emitRemark()
                                << "tactic " << instance.tactic->name;
    for (const auto &[name, value] : instance.options)
      remark << " " << name << "=" << value;
    remark << ", contract " << tactic.getContract().getValue() << ": "
           << selection.reason;
    remark.report();
    op->emitRemark() << "cost: " << toString(selection.winner->cost);
    for (const Candidate &other : selection.runnersUp)
      op->emitRemark() << "also matches: " << other.tactic->name << ", "
                       << toString(other.cost);
    for (const Candidate &miss : selection.nearest)
      op->emitRemark() << (explainAll ? "does not match: " : "nearest miss: ")
                       << describe(miss);
    return success();
  }

  static Attribute makeSetting(Builder &builder, const AttributeValue &value) {
    if (const bool *flag = std::get_if<bool>(&value))
      return builder.getBoolAttr(*flag);
    if (const int64_t *number = std::get_if<int64_t>(&value))
      return builder.getI64IntegerAttr(*number);
    if (const double *number = std::get_if<double>(&value))
      return builder.getF64FloatAttr(*number);
    return builder.getStringAttr(std::get<std::string>(value));
  }

  /// What a fallback says besides its operands, equal for equal operations.
  struct Fallback {
    std::string reason;
    StringAttr family;
    ArrayAttr operandNames, resultNames;
    DictionaryAttr settings;
  };

  static Fallback
  describeFallback(TacticOpInterface op, const Selection &selection,
                   ArrayRef<std::pair<StringRef, Value>> inputs,
                   ArrayRef<std::pair<StringRef, Value>> results) {
    Builder builder(op.getContext());
    Fallback fallback;
    fallback.reason = selection.reason;
    // An engine is the same whatever is told while it is made.
    ArrayRef<Candidate> nearest = selection.nearest;
    for (const Candidate &miss :
         nearest.take_front(SelectOptions().nearestMisses))
      if (fallback.reason.find(miss.tactic->name) == std::string::npos)
        fallback.reason += "; then " + describe(miss);
    fallback.operandNames = builder.getStrArrayAttr(
        SmallVector<StringRef>(llvm::make_first_range(inputs)));
    fallback.resultNames = builder.getStrArrayAttr(
        SmallVector<StringRef>(llvm::make_first_range(results)));
    // The framework needs what the operation says besides its operands.
    Problem problem = op.getProblem();
    fallback.family = builder.getStringAttr(problem.family);
    SmallVector<NamedAttribute> settings;
    for (const auto &[key, value] : problem.attributes)
      settings.push_back(
          builder.getNamedAttr(key, makeSetting(builder, value)));
    // Numbers that neither a shape nor an attribute of the problem says.
    for (NamedAttribute attribute : op->getAttrs())
      if (auto number = dyn_cast<IntegerAttr>(attribute.getValue());
          number && number.getType().isInteger(64) &&
          !problem.attributes.count(attribute.getName().str()))
        settings.push_back(attribute);
    if (!settings.empty())
      fallback.settings = builder.getDictionaryAttr(settings);
    return fallback;
  }

  void replaceByFallback(TacticOpInterface op, const Selection &selection,
                         const Fallback &description,
                         ArrayRef<std::pair<StringRef, Value>> inputs,
                         ArrayRef<std::pair<StringRef, Value>> results) {
    if (explainAll)
      for (const Candidate &miss : selection.nearest)
        op->emitRemark() << "does not match: " << describe(miss);
    SmallVector<Value> operands(llvm::make_second_range(inputs));
    SmallVector<Type> types;
    for (auto [role, value] : results)
      types.push_back(value.getType());
    OpBuilder builder(op);
    auto fallback = FallbackOp::create(builder, op.getLoc(), types,
                                       op->getName().getStringRef(), operands,
                                       description.reason);
    fallback.setOperandNamesAttr(description.operandNames);
    fallback.setResultNamesAttr(description.resultNames);
    fallback.setFamilyAttr(description.family);
    if (description.settings)
      fallback.setSettingsAttr(description.settings);
    op->emitRemark() << "fallback: " << description.reason;
    for (auto [result, output] :
         llvm::zip_equal(results, fallback.getOutputs())) {
      Value value = result.second;
      value.replaceAllUsesWith(output);
    }
    op->erase();
  }

  struct Choice {
    const Selection *selection = nullptr;
    TacticAttr tactic;
    std::optional<Fallback> fallback;
  };

  SharedCatalog *catalog = nullptr;
  StringAttr tacticName;
  OperationKeyMap<Choice> choices;
};

} // namespace
