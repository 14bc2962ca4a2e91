//===- AssignLayouts.cpp - Layouts that the best tactics want -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The layouts of a block are chosen together. Operations are visited in order;
// what is open between two of them is how the values that are still read are
// stored, and of all ways to get there the cheapest one is kept. This is exact
// as long as at most `kMaxWays` ways are open at once.
//
//===----------------------------------------------------------------------===//

#include "CatalogAccess.h"
#include "Parameters.h"
#include "Varying.h"

#include "Netra/Catalog/Layout.h"
#include "Netra/IR/Varying.h"
#include "Netra/Transforms/Passes.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace netra {
#define GEN_PASS_DEF_NETRAASSIGNLAYOUTS
#include "Netra/Transforms/Passes.h.inc"
} // namespace netra

using namespace netra;

namespace {

constexpr size_t kMaxWays = 256;

using Roles = SmallVector<std::pair<StringRef, Value>>;

bool isWeight(Value value) {
  return isa_and_nonnull<GetOp>(value.getDefiningOp());
}

/// What a way costs, in the order of selection; summed over operations.
struct Cost {
  /// Operations, twice, and conversions that no kernel computes.
  uint64_t missing = 0;
  /// Steps of maturity below the highest one.
  uint64_t immaturity = 0;
  /// Of kernels, and of what conversions move.
  uint64_t picoseconds = 0;
  uint64_t rank = 0;

  auto operator<=>(const Cost &) const = default;
  Cost &operator+=(const Cost &other) {
    missing += other.missing;
    immaturity += other.immaturity;
    picoseconds = llvm::SaturatingAdd(picoseconds, other.picoseconds);
    rank += other.rank;
    return *this;
  }
};

/// Layouts by role in which an operation can be computed.
struct Alternative {
  std::map<StringRef, StringRef> layouts;
  Cost cost;
  StringRef tactic;
  /// Operands that have to be stored differently than they are.
  unsigned changes = 0;
};

/// How a value is stored that is still read, when that is not as its type says
/// or not in one layout only.
struct Stored {
  Value value;
  /// As it is computed, then as it has been converted to.
  SmallVector<StringRef, 2> layouts;

  bool operator==(const Stored &) const = default;
};

/// One way to store everything up to some operation.
struct Way {
  SmallVector<Stored, 4> values;
  Cost cost;
  /// Index of the last choice of `choices`, or -1.
  int choice = -1;
};

/// One operation's part of a way.
struct Choice {
  Operation *op;
  const Alternative *alternative;
  int before;
};

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
    catalog = &getAnalysis<SharedCatalog>();
    if (failed(catalog->load(module, libraryRoot, target, goldenRoot)))
      return signalPassFailure();
    for (auto func : module.getOps<func::FuncOp>())
      if (failed(annotateVarying(func)))
        return signalPassFailure();
    selectOptions.target = target;
    selectOptions.allowExperimental = allowExperimental;
    selectOptions.allowGolden = !goldenRoot.empty();
    selectOptions.nearestMisses = 0;
    PackedParameters packedParameters(module);
    parameters = &packedParameters;
    DenseSet<StringAttr> packed;
    for (auto parameter : module.getOps<ParameterOp>())
      if (parameter.getPackAttr())
        packed.insert(parameter.getSymNameAttr());

    for (auto func : module.getOps<func::FuncOp>())
      for (Block &block : func.getBody())
        if (failed(assign(block)))
          return signalPassFailure();
    eraseDeadOps(module);
    cleanParameters(module);
    restoreNames(module, packed);
    catalog = nullptr;
    parameters = nullptr;
    alternatives.clear();
    conversions.clear();
    spellings.clear();
    texts.clear();
  }

private:
  //===--- What an operation can have -------------------------------------===//

  /// The layouts in which a tactic computes `op`, best one first; of those that
  /// differ in weights only, which packing stores in any layout, the best one.
  /// Equal operations have the same.
  const std::vector<Alternative> &getAlternatives(TacticOpInterface op) {
    OperationKey key = getOperationKey(op);
    for (Value operand : op->getOperands())
      key.push_back(isWeight(operand) ? &alternatives : nullptr);
    auto [entry, isNew] = alternatives.try_emplace(std::move(key));
    std::vector<Alternative> &result = entry->second;
    if (!isNew)
      return result;
    Problem current = getProblem(op);
    std::vector<Problem> wanted = {current};
    for (const Tactic *tactic :
         (*catalog)->tacticsFor(current.family, current.operation))
      addLayoutsOf(*tactic, current, wanted);
    for (const Problem &problem : wanted) {
      // A conversion is what it says.
      if (isa<LayoutConvertOp>(op.getOperation()) && !(problem == current))
        continue;
      const Selection &selection = catalog->select(problem, selectOptions);
      Alternative alternative;
      if (selection.winner) {
        const Tactic &tactic = *selection.winner->tactic;
        alternative.tactic = tactic.name;
        alternative.cost.immaturity =
            unsigned(Maturity::Accepted) - unsigned(tactic.maturity);
        alternative.cost.picoseconds = selection.winner->cost.picoseconds;
        alternative.cost.rank = uint64_t(tactic.rank);
      } else if (problem == current) {
        // What nothing can compute may stay as it is; selection says why.
        alternative.cost.missing = 2;
      } else {
        continue;
      }
      for (const OperandSpec &operand : problem.operands) {
        const OperandSpec *now = current.find(operand.role);
        alternative.layouts[keep(operand.role)] = keep(operand.layout);
        alternative.changes += operand.layout != now->layout;
      }
      if (alternative.changes == 0 || isLegal(op, alternative))
        result.push_back(std::move(alternative));
    }
    llvm::sort(result, [](const Alternative &a, const Alternative &b) {
      return std::tie(a.cost, a.tactic, a.changes, a.layouts) <
             std::tie(b.cost, b.tactic, b.changes, b.layouts);
    });
    Roles roles = getAllRoles(op);
    std::vector<Alternative> best;
    for (Alternative &alternative : result)
      if (llvm::none_of(best, [&](const Alternative &better) {
            return llvm::all_of(roles, [&](const auto &entry) {
              auto [role, value] = entry;
              return isWeight(value) ||
                     alternative.layouts.at(role) == better.layouts.at(role);
            });
          }))
        best.push_back(std::move(alternative));
    result = std::move(best);
    return result;
  }

  /// What is to be computed if `tactic` had its way with the layouts; each of
  /// the ways, when it takes several layouts of an operand.
  static void addLayoutsOf(const Tactic &tactic, const Problem &current,
                           std::vector<Problem> &wanted) {
    // More than any tactic has.
    constexpr size_t limit = 64;
    std::vector<Problem> made = {current};
    for (auto [index, operand] : llvm::enumerate(current.operands)) {
      auto match = tactic.operands.find(operand.role);
      if (match == tactic.operands.end())
        continue;
      const std::vector<std::string> &layouts = match->second.layouts;
      if (layouts.size() == 1) {
        for (Problem &problem : made)
          problem.operands[index].layout = layouts.front();
        continue;
      }
      std::vector<Problem> next;
      for (const Problem &problem : made)
        for (const std::string &layout : layouts) {
          next.push_back(problem);
          next.back().operands[index].layout = layout;
        }
      if (!next.empty() && next.size() <= limit)
        made = std::move(next);
    }
    for (Problem &problem : made)
      if (!llvm::is_contained(wanted, problem))
        wanted.push_back(std::move(problem));
  }

  /// Whether the verifier of `op` would accept it with these layouts.
  static bool isLegal(TacticOpInterface op, const Alternative &alternative) {
    Roles roles = getAllRoles(op);
    SmallVector<Type> before;
    for (auto [role, value] : roles)
      before.push_back(value.getType());
    bool isKnown = true;
    for (auto [role, value] : roles) {
      Type type = withSpelling(cast<RankedTensorType>(value.getType()),
                               alternative.layouts.at(role));
      isKnown &= bool(type);
      if (type)
        value.setType(type);
    }
    // One value may have two roles, but not two layouts.
    bool isLegal = isKnown &&
                   llvm::all_of(roles,
                                [&](const auto &entry) {
                                  auto type = cast<RankedTensorType>(
                                      entry.second.getType());
                                  return getLayoutSpelling(type) ==
                                         alternative.layouts.at(entry.first);
                                }) &&
                   isValid(op);
    for (auto [entry, type] : llvm::zip_equal(roles, before))
      entry.second.setType(type);
    return isLegal;
  }

  static Roles getAllRoles(TacticOpInterface op) {
    Roles inputs, results;
    op.getRoles(inputs, results);
    llvm::append_range(inputs, results);
    return inputs;
  }

  /// Moving a tensor from one layout to another at run time.
  Cost getConversion(Value value, StringRef from, StringRef to) {
    auto type = cast<RankedTensorType>(value.getType());
    auto [entry, isNew] =
        conversions.try_emplace({type.getAsOpaquePointer(), from, to});
    if (!isNew)
      return entry->second;
    Cost &cost = entry->second;
    // Read and written once, and one more launch on the way.
    constexpr uint64_t launchPicoseconds = 1'000'000;
    const TargetInfo *info = findTarget(target);
    std::optional<int64_t> bytes = getTensorBytes(type);
    if (info && bytes && info->memoryBytesPerMicrosecond != 0)
      cost.picoseconds =
          launchPicoseconds +
          2 * uint64_t(*bytes) * 1'000'000 / info->memoryBytesPerMicrosecond;
    // What the conversion would ask of a tactic.
    RankedTensorType source = withSpelling(type, from);
    RankedTensorType result = withSpelling(type, to);
    cost.missing = 1;
    if (!source || !result)
      return cost;
    value.setType(source);
    OpBuilder builder(value.getContext());
    auto convert =
        LayoutConvertOp::create(builder, value.getLoc(), result, value);
    if (catalog->select(convert.getProblem(), selectOptions).winner)
      cost.missing = 0;
    convert->erase();
    value.setType(type);
    return cost;
  }

  //===--- The cheapest way -----------------------------------------------===//

  LogicalResult assign(Block &block) {
    std::vector<Way> ways(1);
    std::vector<Choice> choices;
    DenseMap<Value, Operation *> lastUser;
    for (Operation &op : block)
      for (Value operand : op.getOperands())
        lastUser[operand] = &op;

    for (Operation &op : block) {
      auto tacticOp = dyn_cast<TacticOpInterface>(op);
      std::vector<Way> next;
      if (tacticOp) {
        Roles roles = getAllRoles(tacticOp);
        for (auto [role, value] : roles)
          if (!cast<RankedTensorType>(value.getType()).hasStaticShape())
            return op.emitError()
                   << "expected static shapes, found " << value.getType()
                   << " for " << role << "; run netra-apply-profile first";
        const std::vector<Alternative> &all = getAlternatives(tacticOp);
        auto extend = [&](Way &way, const Alternative &alternative) {
          way.cost += alternative.cost;
          // What is stored as its type says, and stays so, is not open.
          if (alternative.changes != 0 || !way.values.empty()) {
            for (auto [role, value] : roles)
              if (value.getDefiningOp() == &op)
                define(way, value, alternative.layouts.at(role));
              else
                read(way, value, alternative.layouts.at(role));
          }
          if (alternative.changes != 0 || all.size() > 1) {
            choices.push_back({&op, &alternative, way.choice});
            way.choice = int(choices.size()) - 1;
          }
        };
        if (all.size() == 1) {
          next = std::move(ways);
          for (Way &way : next)
            extend(way, all.front());
        } else {
          for (const Way &way : ways)
            for (const Alternative &alternative : all)
              extend(next.emplace_back(way), alternative);
        }
      } else {
        // Anything else reads values as they are.
        next = std::move(ways);
        for (Way &way : next)
          for (Value operand : op.getOperands())
            if (isa<RankedTensorType>(operand.getType()))
              read(way, operand, layoutOf(operand));
      }
      // Values of other blocks are none of this one's.
      for (Way &way : next)
        for (Value result : op.getResults())
          if (isa<RankedTensorType>(result.getType()) &&
              result.isUsedOutsideOfBlock(&block))
            read(way, result, layoutOf(result));
      for (Way &way : next)
        llvm::erase_if(way.values, [&](const Stored &stored) {
          auto last = lastUser.find(stored.value);
          return last == lastUser.end() || last->second == &op;
        });
      ways = keepBest(std::move(next));
    }

    DenseMap<Operation *, const Alternative *> chosen;
    for (int i = ways.front().choice; i >= 0; i = choices[i].before)
      chosen[choices[i].op] = choices[i].alternative;
    return apply(block, chosen);
  }

  /// The result `value` is computed in `layout`.
  void define(Way &way, Value value, StringRef layout) {
    if (layout != layoutOf(value))
      way.values.push_back({value, {layout}});
  }

  /// `value` is read in `layout`: converted, unless it is there.
  void read(Way &way, Value value, StringRef layout) {
    if (isWeight(value))
      return; // a step of its recipe
    Stored *stored = llvm::find_if(
        way.values, [&](const Stored &s) { return s.value == value; });
    if (stored == way.values.end()) {
      if (layout == layoutOf(value))
        return;
      way.values.push_back({value, {layoutOf(value)}});
      stored = &way.values.back();
    }
    if (llvm::is_contained(stored->layouts, layout))
      return;
    way.cost += getConversion(value, stored->layouts.front(), layout);
    stored->layouts.push_back(layout);
  }

  /// Of ways that leave the same open, the first one of the cheapest; of all,
  /// the `kMaxWays` cheapest ones.
  static std::vector<Way> keepBest(std::vector<Way> ways) {
    if (ways.size() == 1)
      return ways;
    std::vector<Way> result;
    for (Way &way : ways) {
      auto same = llvm::find_if(
          result, [&](const Way &other) { return other.values == way.values; });
      if (same == result.end())
        result.push_back(std::move(way));
      else if (way.cost < same->cost)
        *same = std::move(way);
    }
    if (result.size() > kMaxWays) {
      std::vector<size_t> order(result.size());
      std::iota(order.begin(), order.end(), size_t(0));
      llvm::sort(order, [&](size_t a, size_t b) {
        return std::tie(result[a].cost, a) < std::tie(result[b].cost, b);
      });
      order.resize(kMaxWays);
      llvm::sort(order);
      std::vector<Way> best;
      for (size_t index : order)
        best.push_back(std::move(result[index]));
      return best;
    }
    return result;
  }

  //===--- Its operations -------------------------------------------------===//

  LogicalResult
  apply(Block &block,
        const DenseMap<Operation *, const Alternative *> &chosen) {
    // Types of results before they were given another layout.
    DenseMap<Value, Type> before;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      const Alternative *alternative = chosen.lookup(&op);
      auto tacticOp = dyn_cast<TacticOpInterface>(op);
      if (!alternative) {
        for (Value operand : SmallVector<Value>(op.getOperands()))
          if (Type type = before.lookup(operand))
            readIn(&op, operand, cast<RankedTensorType>(type));
      } else {
        for (auto [role, value] : getAllRoles(tacticOp)) {
          auto now = cast<RankedTensorType>(value.getType());
          StringRef layout = alternative->layouts.at(role);
          if (layout == layoutOf(value))
            continue;
          RankedTensorType type = withSpelling(now, layout);
          if (!type)
            return op.emitError() << "a tactic asks for the unknown layout \""
                                  << layout << "\" for " << role;
          if (value.getDefiningOp() != &op) {
            readIn(&op, value, type);
            continue;
          }
          before[value] = now;
          value.setType(type);
        }
      }
      for (Value result : op.getResults())
        if (Type type = before.lookup(result);
            type && result.isUsedOutsideOfBlock(&block))
          restoreOutside(result, cast<RankedTensorType>(type), block);
    }
    return success();
  }

  /// Makes `op` read `value` as `type`, which differs in its layout.
  void readIn(Operation *op, Value value, RankedTensorType type) {
    if (value.getType() == type)
      return;
    auto replace = [&](Value by) { op->replaceUsesOfWith(value, by); };
    OpBuilder builder(op);
    if (auto get = value.getDefiningOp<GetOp>()) {
      ParameterOp parameter = parameters->lookup(get.getParameter());
      builder.setInsertionPoint(get);
      return replace(
          GetOp::create(builder, get.getLoc(),
                        parameters->getOrCreateInLayout(parameter, type)));
    }
    if (auto convert = value.getDefiningOp<LayoutConvertOp>();
        convert && convert.getX().getType() == type)
      return replace(convert.getX());
    // One conversion serves every user that wants it.
    for (Operation *user : value.getUsers())
      if (auto convert = dyn_cast<LayoutConvertOp>(user);
          convert && convert.getType() == type &&
          convert->getBlock() == op->getBlock() && convert->isBeforeInBlock(op))
        return replace(convert.getResult());
    replace(LayoutConvertOp::create(builder, op->getLoc(), type, value));
  }

  /// Other blocks go on reading `value` as it was.
  static void restoreOutside(Value value, RankedTensorType type, Block &block) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfter(value.getDefiningOp());
    auto convert =
        LayoutConvertOp::create(builder, value.getLoc(), type, value);
    value.replaceUsesWithIf(convert.getResult(), [&](OpOperand &use) {
      return use.getOwner()->getBlock() != &block;
    });
  }

  /// A packed parameter in one layout only takes over the name of the recipe it
  /// was derived from: @gate_up rather than @gate_up.n16k16.
  void restoreNames(ModuleOp module, const DenseSet<StringAttr> &packed) {
    SymbolTable table(module);
    for (auto parameter :
         llvm::make_early_inc_range(module.getOps<ParameterOp>())) {
      if (!parameter.getPackAttr())
        continue;
      auto base = StringAttr::get(module.getContext(),
                                  parameter.getSymName().rsplit('.').first);
      if (packed.contains(base) && !table.lookup(base))
        (void)table.rename(parameter, base);
    }
  }

  /// The spelling of the layout in which `value`, a tensor, is now.
  StringRef layoutOf(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!type.getEncoding())
      return "row_major";
    StringRef &spelling = spellings[type.getEncoding()];
    if (spelling.empty())
      spelling = keep(getLayoutSpelling(type));
    return spelling;
  }

  /// `text` as long as the pass runs.
  StringRef keep(StringRef text) { return texts.insert(text).first->getKey(); }

  SharedCatalog *catalog = nullptr;
  PackedParameters *parameters = nullptr;
  SelectOptions selectOptions;
  OperationKeyMap<std::vector<Alternative>> alternatives;
  /// By type, and layouts from and to.
  std::map<std::tuple<const void *, StringRef, StringRef>, Cost> conversions;
  llvm::StringSet<> texts;
  DenseMap<Attribute, StringRef> spellings;
};

} // namespace
