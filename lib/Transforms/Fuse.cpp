//===- Fuse.cpp - Merge operations that one kernel can compute ------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CatalogAccess.h"
#include "Parameters.h"

#include "Netra/IR/NetraOps.h"
#include "Netra/IR/Varying.h"
#include "Netra/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "netra-fuse"

using namespace mlir;

namespace netra {
#define GEN_PASS_DEF_NETRAFUSE
#include "Netra/Transforms/Passes.h.inc"
} // namespace netra

using namespace netra;

namespace {

/// What of `op` the operations around it can see: what it is, and who reads its
/// results.
void addSurroundings(OperationKey &key, Operation *op) {
  llvm::append_range(key, getOperationKey(op));
  for (OpOperand &use : op->getUses()) {
    llvm::append_range(key, getOperationKey(use.getOwner()));
    uintptr_t numbers = uintptr_t(use.getOperandNumber()) << 16 |
                        cast<OpResult>(use.get()).getResultNumber();
    key.push_back(reinterpret_cast<const void *>(numbers));
  }
}

class FusePass : public netra::impl::NetraFuseBase<FusePass> {
public:
  using NetraFuseBase::NetraFuseBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!target.empty()) {
      catalog = &getAnalysis<SharedCatalog>();
      if (failed(catalog->load(module, libraryRoot, target, goldenRoot)))
        return signalPassFailure();
    }
    for (auto func : module.getOps<func::FuncOp>())
      for (Block &block : func.getBody())
        if (failed(runOnBlock(block)))
          return signalPassFailure();
    catalog = nullptr;
    worthwhile.clear();
    eraseDeadOps(module);
    cleanParameters(module);
  }

private:
  /// Visits operations from the last to the first, so that the later of two
  /// competing operations takes over a neighbour first: a norm its residual
  /// addition before the product in front of it, a gated activation its
  /// quantization before it is taken over itself.
  LogicalResult runOnBlock(Block &block) {
    IRRewriter rewriter(&getContext());
    bool changed = true;
    while (changed) {
      changed = false;
      for (Operation *op = block.empty() ? nullptr : &block.back(); op;) {
        FailureOr<Operation *> fused = fuseOne(rewriter, op);
        if (failed(fused))
          return failure();
        if (*fused) {
          // The result may be able to take over more.
          op = *fused;
          changed = true;
        } else {
          op = op->getPrevNode();
        }
      }
    }
    return success();
  }

  /// The operation that replaced `op` and a neighbour, or null.
  FailureOr<Operation *> fuseOne(IRRewriter &rewriter, Operation *op) {
    auto fusion = dyn_cast<FusionOpInterface>(op);
    if (!fusion)
      return static_cast<Operation *>(nullptr);
    for (Operation *neighbour : getAbsorbable(fusion)) {
      if (catalog && !isWorthwhile(fusion, neighbour)) {
        LLVM_DEBUG(llvm::dbgs()
                   << op->getName() << " does not take over "
                   << neighbour->getName()
                   << ": no tactic computes both, or not as fast\n");
        continue;
      }
      rewriter.setInsertionPoint(op);
      return fusion.absorb(rewriter, neighbour);
    }
    return static_cast<Operation *>(nullptr);
  }

  /// What `fusion` can take over: users of its results in program order, then
  /// definitions of its operands.
  static SmallVector<Operation *> getAbsorbable(FusionOpInterface fusion) {
    Operation *op = fusion;
    SmallVector<Operation *> result;
    SmallPtrSet<Operation *, 8> seen;
    auto consider = [&](Operation *neighbour) {
      // A fusion across blocks would move work.
      if (!seen.insert(neighbour).second ||
          neighbour->getBlock() != op->getBlock())
        return;
      std::string reason, *asked = nullptr;
      LLVM_DEBUG(asked = &reason);
      if (succeeded(fusion.canAbsorb(neighbour, asked)))
        result.push_back(neighbour);
      else
        LLVM_DEBUG(if (!reason.empty()) llvm::dbgs()
                   << op->getName() << " does not take over "
                   << neighbour->getName() << ": " << reason << "\n");
    };
    for (Operation *user : op->getUsers())
      consider(user);
    llvm::sort(result, [](Operation *a, Operation *b) {
      return a != b && a->isBeforeInBlock(b);
    });
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp())
        consider(definition);
    return result;
  }

  /// Whether the catalogue can compute what `fusion` and `neighbour` become,
  /// and no slower by its estimates than both on their own; looked up once for
  /// equal surroundings.
  bool isWorthwhile(FusionOpInterface fusion, Operation *neighbour) {
    OperationKey key;
    addSurroundings(key, fusion);
    addSurroundings(key, neighbour);
    auto [entry, isNew] = worthwhile.try_emplace(std::move(key));
    if (isNew)
      entry->second = compareTimes(fusion, neighbour);
    return entry->second;
  }

  bool compareTimes(FusionOpInterface fusion, Operation *neighbour) {
    std::optional<uint64_t> together = 0, apart = 0;
    auto add = [&](std::optional<uint64_t> &sum, const Problem &problem) {
      std::optional<uint64_t> time = sum ? estimate(problem) : std::nullopt;
      sum = time ? std::optional(llvm::SaturatingAdd(*sum, *time)) : time;
    };
    std::vector<Problem> problems = fusion.getFusedProblems(neighbour);
    for (const Problem &problem : problems)
      add(together, problem);
    // A third operation that changes with them was there before as well.
    if (problems.size() != 1)
      return together.has_value();
    for (Operation *op : {fusion.getOperation(), neighbour})
      if (auto tacticOp = dyn_cast<TacticOpInterface>(op))
        add(apart, getProblem(tacticOp));
    // What cannot be computed apart is no choice.
    return together && (!apart || *together <= *apart);
  }

  /// The picoseconds that the catalogue needs for `problem` when its weight is
  /// stored as a tactic wants it, for which packing will see later; nothing
  /// when it cannot compute it. Anything else would have to be converted at run
  /// time, by a kernel that may be missing.
  std::optional<uint64_t> estimate(const Problem &problem) {
    if (std::optional<uint64_t> time = select(problem))
      return time;
    for (const Tactic *tactic :
         (*catalog)->tacticsFor(problem.family, problem.operation))
      if (std::optional<uint64_t> time =
              select(withWeightFor(*tactic, problem)))
        return time;
    return std::nullopt;
  }

  /// `problem` with the weight in the layout that `tactic` asks for, where it
  /// does not take that which is there.
  static Problem withWeightFor(const Tactic &tactic, Problem problem) {
    auto match = tactic.operands.find("weight");
    for (OperandSpec &operand : problem.operands)
      if (operand.role == "weight" && match != tactic.operands.end() &&
          !match->second.layouts.empty() &&
          !llvm::is_contained(match->second.layouts, operand.layout))
        operand.layout = match->second.layouts.front();
    return problem;
  }

  std::optional<uint64_t> select(const Problem &problem) {
    SelectOptions options;
    options.target = target;
    options.allowExperimental = allowExperimental;
    options.allowGolden = !goldenRoot.empty();
    options.nearestMisses = 0;
    const Selection &selection = catalog->select(problem, options);
    if (!selection.winner)
      return std::nullopt;
    return selection.winner->cost.picoseconds;
  }

  SharedCatalog *catalog = nullptr;
  /// Answers of isWorthwhile.
  OperationKeyMap<bool> worthwhile;
};

} // namespace
