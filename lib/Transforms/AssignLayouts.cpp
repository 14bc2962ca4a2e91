//===- AssignLayouts.cpp - Layouts that the best tactics want -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CatalogAccess.h"
#include "Parameters.h"

#include "Netra/Catalog/Layout.h"
#include "Netra/Transforms/Passes.h"

using namespace mlir;

namespace netra {
#define GEN_PASS_DEF_NETRAASSIGNLAYOUTS
#include "Netra/Transforms/Passes.h.inc"
} // namespace netra

using namespace netra;

namespace {

using Roles = SmallVector<std::pair<StringRef, Value>>;

/// Layouts by role in which a tactic could compute an operation.
struct Choice {
  Problem problem;
  const Tactic *tactic = nullptr;
  uint64_t picoseconds = 0;
  /// Operands that have to be stored differently than they are.
  unsigned changes = 0;
};

/// The order of selection, with the cost of conversions counted in.
bool isBetter(const Choice &a, const Choice &b) {
  auto key = [](const Choice &c) {
    return std::tuple(-int(c.tactic->maturity), c.picoseconds, c.tactic->rank,
                      StringRef(c.tactic->name), c.changes);
  };
  return key(a) < key(b);
}

bool isWeight(Value value) {
  return isa_and_nonnull<GetOp>(value.getDefiningOp());
}

RankedTensorType withSpelling(RankedTensorType type, StringRef spelling) {
  llvm::Expected<Layout> layout = Layout::parse(spelling);
  if (!layout) {
    llvm::consumeError(layout.takeError());
    return {};
  }
  return withLayout(type, LayoutAttr::get(type.getContext(), layout->getName(),
                                          layout->getParameters()));
}

class AssignLayoutsPass
    : public netra::impl::NetraAssignLayoutsBase<AssignLayoutsPass> {
public:
  using NetraAssignLayoutsBase::NetraAssignLayoutsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Catalog> loaded = loadCatalog(module, libraryRoot, target);
    if (failed(loaded))
      return signalPassFailure();
    catalog = &*loaded;
    selectOptions.target = target;
    selectOptions.allowExperimental = allowExperimental;
    selectOptions.allowGolden = !goldenRoot.empty();
    selectOptions.nearestMisses = 0;
    SymbolTable table(module);
    symbols = &table;
    DenseSet<StringAttr> packed;
    for (auto parameter : module.getOps<ParameterOp>())
      if (parameter.getPackAttr())
        packed.insert(parameter.getSymNameAttr());

    for (auto func : module.getOps<func::FuncOp>())
      for (Block &block : func.getBody())
        for (Operation &op : llvm::make_early_inc_range(block))
          if (auto tacticOp = dyn_cast<TacticOpInterface>(op))
            if (failed(assign(tacticOp)))
              return signalPassFailure();
    eraseDeadOps(module);
    cleanParameters(module);
    restoreNames(module, packed);
    catalog = nullptr;
    symbols = nullptr;
    wishes.clear();
  }

private:
  /// Memory traffic of converting a tensor at run time, as time.
  uint64_t conversionCost(RankedTensorType type) const {
    const TargetInfo *info = findTarget(target);
    std::optional<int64_t> bytes = getTensorBytes(type);
    if (!info || !bytes || info->memoryBytesPerMicrosecond == 0)
      return 0;
    // Read and written once, and one more launch on the way.
    constexpr uint64_t launchPicoseconds = 1'000'000;
    return launchPicoseconds +
           2 * uint64_t(*bytes) * 1'000'000 / info->memoryBytesPerMicrosecond;
  }

  std::optional<Choice> evaluate(const Problem &problem, const Problem &current,
                                 const Roles &inputs,
                                 const Roles &results) const {
    // A tactic may want a layout that this shape cannot have.
    if (llvm::Error error = problem.verify()) {
      llvm::consumeError(std::move(error));
      return std::nullopt;
    }
    Selection selection = catalog->select(problem, selectOptions);
    if (!selection.winner)
      return std::nullopt;
    Choice choice{problem, selection.winner->tactic,
                  selection.winner->cost.picoseconds, 0};
    for (const Roles *roles : {&inputs, &results})
      for (auto [role, value] : *roles) {
        const OperandSpec *wanted = problem.find(role);
        const OperandSpec *found = current.find(role);
        if (!wanted || !found || wanted->layout == found->layout)
          continue;
        ++choice.changes;
        if (!isWeight(value))
          choice.picoseconds +=
              conversionCost(cast<RankedTensorType>(value.getType()));
      }
    return choice;
  }

  LogicalResult assign(TacticOpInterface op) {
    Roles inputs, results;
    op.getRoles(inputs, results);
    for (const Roles *roles : {&inputs, &results})
      for (auto [role, value] : *roles)
        if (!cast<RankedTensorType>(value.getType()).hasStaticShape())
          return op->emitError()
                 << "expected static shapes, found " << value.getType()
                 << " for " << role << "; run netra-apply-profile first";

    // Equal operations want the same, as far as the same operands are weights.
    OperationKey key = getOperationKey(op);
    for (auto [role, value] : inputs)
      key.push_back(isWeight(value) ? this : nullptr);
    auto [entry, isNew] = wishes.try_emplace(key);
    if (isNew)
      entry->second = findWishes(op.getProblem(), inputs, results);
    const Wishes &wanted = entry->second;
    for (auto [role, value] : inputs)
      if (auto layout = wanted.find(role.str()); layout != wanted.end())
        if (failed(storeInput(op, role, value, layout->second)))
          return failure();
    for (auto [role, value] : results)
      if (auto layout = wanted.find(role.str()); layout != wanted.end())
        storeResult(op, value, layout->second);
    return success();
  }

  /// Layouts by role, where the best tactic wants another one.
  using Wishes = std::map<std::string, std::string>;

  Wishes findWishes(const Problem &current, const Roles &inputs,
                    const Roles &results) const {
    std::optional<Choice> best = evaluate(current, current, inputs, results);
    for (const Tactic *tactic :
         catalog->tacticsFor(current.family, current.operation)) {
      // What is to be computed if this tactic had its way with the layouts.
      Problem wanted = inLayoutsOf(*tactic, current);
      if (wanted == current)
        continue;
      std::optional<Choice> choice = evaluate(wanted, current, inputs, results);
      if (choice && (!best || isBetter(*choice, *best)))
        best = choice;
    }
    // What nothing can compute stays as it is; selection says why.
    Wishes wishes;
    if (best)
      for (const OperandSpec &operand : best->problem.operands)
        if (operand.layout != current.find(operand.role)->layout)
          wishes[operand.role] = operand.layout;
    return wishes;
  }

  /// Makes `op` read its operand of `role` in another layout.
  LogicalResult storeInput(Operation *op, StringRef role, Value value,
                           StringRef layout) {
    auto type = withSpelling(cast<RankedTensorType>(value.getType()), layout);
    if (!type)
      return op->emitError() << "a tactic asks for the unknown layout \""
                             << layout << "\" for " << role;
    auto replace = [&](Value by) {
      for (OpOperand &operand : op->getOpOperands())
        if (operand.get() == value)
          operand.set(by);
    };
    OpBuilder builder(op);
    if (auto get = value.getDefiningOp<GetOp>()) {
      auto parameter = symbols->lookup<ParameterOp>(get.getParameter());
      builder.setInsertionPoint(get);
      replace(GetOp::create(builder, get.getLoc(),
                            getOrCreateInLayout(*symbols, parameter, type)));
      return success();
    }
    if (auto convert = value.getDefiningOp<LayoutConvertOp>();
        convert && convert.getX().getType() == type) {
      replace(convert.getX());
      return success();
    }
    if (producesInLayout(value, layout)) {
      Type before = value.getType();
      value.setType(type);
      if (isValid(value.getDefiningOp()) && isValid(op))
        return success();
      value.setType(before);
    }
    // One conversion serves every user that wants it.
    for (Operation *user : value.getUsers())
      if (auto convert = dyn_cast<LayoutConvertOp>(user);
          convert && convert.getType() == type &&
          convert->getBlock() == op->getBlock() &&
          convert->isBeforeInBlock(op)) {
        replace(convert.getResult());
        return success();
      }
    replace(LayoutConvertOp::create(builder, op->getLoc(), type, value));
    return success();
  }

  /// Whether the operation that defines `value`, which has no other use, has a
  /// tactic that writes it in `layout`.
  bool producesInLayout(Value value, StringRef layout) const {
    auto producer = value.getDefiningOp<TacticOpInterface>();
    if (!producer || !value.hasOneUse() ||
        isa<LayoutConvertOp>(producer.getOperation()))
      return false;
    Roles inputs, results;
    producer.getRoles(inputs, results);
    Problem problem = producer.getProblem();
    for (auto [role, result] : results)
      if (result == value)
        for (OperandSpec &operand : problem.operands)
          if (operand.role == role)
            operand.layout = layout.str();
    return catalog->select(problem, selectOptions).winner.has_value();
  }

  /// Makes `op` write a result in another layout and converts it back for the
  /// users, each of which may undo that when its turn comes.
  void storeResult(Operation *op, Value value, StringRef layout) {
    auto before = cast<RankedTensorType>(value.getType());
    auto type = withSpelling(before, layout);
    if (!type)
      return;
    value.setType(type);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto convert =
        LayoutConvertOp::create(builder, op->getLoc(), before, value);
    value.replaceAllUsesExcept(convert.getResult(), convert);
  }

  /// A packed parameter in one layout only takes over the name of the recipe it
  /// was derived from: @gate_up rather than @gate_up.n16k16.
  void restoreNames(ModuleOp module, const DenseSet<StringAttr> &packed) {
    SymbolTable table(module);
    for (auto parameter :
         llvm::make_early_inc_range(module.getOps<ParameterOp>())) {
      auto base = StringAttr::get(module.getContext(),
                                  parameter.getSymName().rsplit('.').first);
      if (parameter.getPackAttr() && packed.contains(base) &&
          !table.lookup(base))
        (void)table.rename(parameter, base);
    }
  }

  const Catalog *catalog = nullptr;
  SymbolTable *symbols = nullptr;
  SelectOptions selectOptions;
  std::map<OperationKey, Wishes> wishes;
};

} // namespace
