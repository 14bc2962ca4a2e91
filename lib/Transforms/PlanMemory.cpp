//===- PlanMemory.cpp - Give every intermediate value its place -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CatalogAccess.h"
#include "Storage.h"

#include "Netra/Transforms/MemoryPlanner.h"
#include "Netra/Transforms/Passes.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace netra {
#define GEN_PASS_DEF_NETRAPLANMEMORY
#include "Netra/Transforms/Passes.h.inc"
} // namespace netra

using namespace netra;

namespace {

/// One piece of memory that the plan has to provide or to name: a buffer of the
/// arena, an output or a state.
struct Buffer {
  int64_t bytes = 0;
  uint32_t firstUse = 0, lastUse = 0;
  /// Binding that it is part of; empty for the arena.
  std::string binding;
};

/// Plans one function.
class FunctionPlanner {
public:
  FunctionPlanner(func::FuncOp func, SharedCatalog &catalog)
      : func(func), catalog(catalog) {}

  FailureOr<ArenaOp> run(uint64_t stepLimit) {
    if (!func.getBody().hasOneBlock())
      return func.emitError() << "expected one block";
    if (failed(checkNames()))
      return failure();
    collectSteps();
    bool ok = true;
    for (auto [index, op] : llvm::enumerate(steps))
      ok &= succeeded(addStep(op, index));
    ok = ok && succeeded(bindResults()) && succeeded(checkStates());
    if (!ok)
      return failure();
    return place(stepLimit);
  }

private:
  LogicalResult checkNames() {
    llvm::StringSet<> names;
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (std::string name = getArgumentName(func, i);
          !names.insert(name).second)
        return func.emitError() << "argument #" << i << ": expected a name of "
                                << "its own, found \"" << name << "\" again";
    for (unsigned i = 0; i < func.getNumResults(); ++i) {
      // A state is one binding, argument and result.
      if (!getResultState(func, i).empty())
        continue;
      if (std::string name = getResultName(func, i); !names.insert(name).second)
        return func.emitError() << "result #" << i << ": expected a name of "
                                << "its own, found \"" << name << "\" again";
    }
    return success();
  }

  void collectSteps() {
    for (Operation &op : func.getBody().front()) {
      if (isStep(&op)) {
        stepIndex[&op] = steps.size();
        steps.push_back(&op);
      }
    }
    // Users of a view are users of what it views.
    for (Operation *op : steps)
      for (Value operand : op->getOperands()) {
        Value storage = getStorage(operand);
        lastRead[storage] = std::max(lastRead.lookup(storage), stepIndex[op]);
      }
  }

  /// The buffer of a step's result, or null for arguments and weights.
  Buffer *findBuffer(Value storage) {
    auto it = bufferOf.find(storage);
    return it == bufferOf.end() ? nullptr : &buffers[it->second];
  }

  LogicalResult addStep(Operation *op, uint32_t index) {
    for (OpOperand &operand : op->getOpOperands())
      if (failed(checkReadable(operand)))
        return failure();
    const Instance *instance = nullptr;
    if (isa<TacticOpInterface>(op)) {
      FailureOr<const Instance *> found = catalog.getInstance(op);
      if (failed(found))
        return failure();
      instance = *found;
    }
    for (OpResult result : op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      std::optional<int64_t> bytes = getTensorBytes(type);
      if (!bytes)
        return op->emitError()
               << "expected a tensor of known size, found " << type
               << " for result #" << result.getResultNumber();
      uint32_t last = std::max(lastRead.lookup(result), index);
      SmallVector<unsigned> candidates;
      bool inPlace = instance && updates(*instance, op, result);
      if (inPlace)
        for (auto [resultNumber, operandNumber] :
             cast<TacticOpInterface>(op).getInPlaceCandidates())
          if (resultNumber == result.getResultNumber())
            candidates.push_back(operandNumber);
      if (auto fallback = dyn_cast<FallbackOp>(op))
        if (std::optional<unsigned> operand =
                fallback.getUpdatedOperand(result.getResultNumber())) {
          inPlace = true;
          candidates.push_back(*operand);
        }
      if (inPlace) {
        if (failed(takeOver(op, index, result, last, candidates)))
          return failure();
        continue;
      }
      bufferOf[result] = buffers.size();
      buffers.push_back({*bytes, index, last, ""});
    }
    if (instance && instance->contract.workspaceBytes != 0) {
      if (instance->contract.workspaceBytes >
          uint64_t(std::numeric_limits<int64_t>::max()))
        return op->emitError() << "the workspace of tactic "
                               << instance->tactic->name << " is too large";
      workspaceOf[op] = buffers.size();
      buffers.push_back(
          {int64_t(instance->contract.workspaceBytes), index, index, ""});
    }
    return success();
  }

  LogicalResult checkReadable(OpOperand &operand) {
    Value storage = getStorage(operand.get());
    Operation *definition = storage.getDefiningOp();
    if (!definition || isa<GetOp>(definition) || isStep(definition))
      return success();
    InFlightDiagnostic diag =
        operand.getOwner()->emitError()
        << "operand #" << operand.getOperandNumber()
        << ": expected an argument, a parameter or the result of a kernel or "
           "fallback, found the result of "
        << definition->getName();
    if (definition->hasTrait<OpTrait::ConstantLike>())
      diag << "; an engine takes tensors from its bindings and its weights "
              "only, so make it a netra.parameter";
    return diag;
  }

  /// Whether the kernel of `op` reads what is in the memory of `result`.
  static bool updates(const Instance &instance, Operation *op,
                      OpResult result) {
    SmallVector<std::pair<StringRef, Value>> inputs, results;
    cast<TacticOpInterface>(op).getRoles(inputs, results);
    for (auto [role, value] : results)
      if (value == result)
        for (const Argument &argument : instance.contract.arguments)
          if (argument.role == role && argument.access == Access::ReadWrite)
            return true;
    return false;
  }

  /// Gives `result` the memory of the operand that the operation updates, the
  /// first of `candidates` for which that is sound.
  LogicalResult takeOver(Operation *op, uint32_t index, OpResult result,
                         uint32_t last, ArrayRef<unsigned> candidates) {
    auto fail = [&](const Twine &why) {
      return op->emitError()
             << "result #" << result.getResultNumber()
             << " is updated in place, which cannot be proven sound: " << why;
    };
    std::string why = "no operand of the operation may be overwritten by it";
    for (unsigned operandNumber : candidates) {
      Value operand = op->getOperand(operandNumber);
      Value storage = getStorage(operand);
      std::string name = "operand #" + std::to_string(operandNumber);
      if (operand.getType() != result.getType()) {
        why = name + " has another type";
        continue;
      }
      if (lastRead.lookup(storage) > index) {
        why = name + " is read again afterwards";
        continue;
      }
      // Read through another operand of the same kernel at the same time.
      if (llvm::count_if(op->getOperands(), [&](Value other) {
            return getStorage(other) == storage;
          }) != 1) {
        why = name + " is read through another operand too";
        continue;
      }
      if (auto argument = dyn_cast<BlockArgument>(storage)) {
        StringRef state = getArgumentState(func, argument.getArgNumber());
        if (state.empty()) {
          why = name + " is an input, which belongs to the caller";
          continue;
        }
        bufferOf[result] = buffers.size();
        std::optional<int64_t> bytes =
            getTensorBytes(cast<RankedTensorType>(result.getType()));
        buffers.push_back({bytes.value_or(0), index, last, state.str()});
        overwrites[result] = operandNumber;
        return success();
      }
      Buffer *buffer = findBuffer(storage);
      if (!buffer) {
        why = name + " is a weight";
        continue;
      }
      buffer->lastUse = std::max(buffer->lastUse, last);
      bufferOf[result] = bufferOf[storage];
      overwrites[result] = operandNumber;
      return success();
    }
    return fail(why);
  }

  /// Results of the function are bindings.
  LogicalResult bindResults() {
    func::ReturnOp terminator = getReturn(func);
    for (OpOperand &operand : terminator->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      Value storage = getStorage(operand.get());
      std::string name = getResultName(func, index);
      StringRef state = getResultState(func, index);
      auto fail = [&](const Twine &why) {
        return terminator.emitError()
               << "result #" << index << " (\"" << name << "\"): " << why;
      };
      Buffer *buffer = findBuffer(storage);
      if (!state.empty()) {
        // A state that is returned as it came was not touched at all.
        if (auto argument = dyn_cast<BlockArgument>(storage);
            argument &&
            getArgumentState(func, argument.getArgNumber()) == state)
          continue;
        if (!buffer || buffer->binding != state)
          return fail("expected an update in place of state \"" + state +
                      "\", found a value computed elsewhere");
        continue;
      }
      if (isa<BlockArgument>(storage))
        return fail("expected a computed value, found an argument itself; a "
                    "result cannot share the caller's memory");
      if (!buffer)
        return fail("expected a computed value, found the result of " +
                    storage.getDefiningOp()->getName().getStringRef());
      if (!buffer->binding.empty())
        return fail("expected a value of its own, found that it is \"" +
                    buffer->binding + "\" already");
      buffer->binding = name;
    }
    return success();
  }

  /// A state that a kernel has updated must be returned, or the next launch
  /// would see what the function does not say.
  LogicalResult checkStates() {
    llvm::StringSet<> returned;
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      returned.insert(getResultName(func, i));
    for (const Buffer &buffer : buffers)
      if (!buffer.binding.empty() && !returned.contains(buffer.binding))
        return func.emitError()
               << "state \"" << buffer.binding
               << "\" is updated in place, but is no result of the function";
    return success();
  }

  FailureOr<ArenaOp> place(uint64_t stepLimit) {
    std::vector<BufferInterval> intervals;
    std::vector<unsigned> planned;
    for (auto [i, buffer] : llvm::enumerate(buffers))
      if (buffer.binding.empty()) {
        intervals.push_back({uint64_t(buffer.bytes), uint64_t(kBufferAlignment),
                             buffer.firstUse, buffer.lastUse});
        planned.push_back(i);
      }
    MemoryPlannerOptions options;
    options.alignment = kBufferAlignment;
    options.stepLimit = stepLimit;
    llvm::Expected<MemoryPlan> plan = planMemory(intervals, options);
    if (!plan)
      return emitErrors(func, plan.takeError());
    if (llvm::Error error = verifyMemoryPlan(intervals, *plan))
      return emitErrors(func, std::move(error));

    std::vector<uint64_t> offsets(buffers.size(), 0);
    for (auto [i, offset] : llvm::zip_equal(planned, plan->offsets))
      offsets[i] = offset;
    annotate(offsets);

    OpBuilder builder(func);
    auto arena =
        ArenaOp::create(builder, func.getLoc(), func.getName(), plan->bytes,
                        plan->lowerBound, uint64_t(kBufferAlignment));
    return arena;
  }

  void annotate(ArrayRef<uint64_t> offsets) {
    MLIRContext *context = func.getContext();
    auto makePlace = [&](unsigned buffer, int64_t bytes, int64_t overwritten) {
      const Buffer &b = buffers[buffer];
      if (b.binding.empty())
        return PlaceAttr::get(context, PlaceKind::Arena, FlatSymbolRefAttr(),
                              int64_t(offsets[buffer]), bytes, overwritten);
      return PlaceAttr::get(context, PlaceKind::Binding,
                            FlatSymbolRefAttr::get(context, b.binding), 0,
                            bytes, overwritten);
    };
    auto placeName = StringAttr::get(context, NetraDialect::getPlaceAttrName());
    auto workspaceName = StringAttr::get(context, kWorkspaceAttrName);
    for (Operation *op : steps) {
      SmallVector<Attribute> places;
      for (OpResult result : op->getResults()) {
        auto it = overwrites.find(result);
        int64_t bytes =
            *getTensorBytes(cast<RankedTensorType>(result.getType()));
        places.push_back(makePlace(bufferOf[result], bytes,
                                   it == overwrites.end() ? -1 : it->second));
      }
      op->setDiscardableAttr(placeName, ArrayAttr::get(context, places));
      if (op->getDiscardableAttr(workspaceName))
        op->removeDiscardableAttr(workspaceName);
      if (auto it = workspaceOf.find(op); it != workspaceOf.end())
        op->setDiscardableAttr(
            workspaceName,
            makePlace(it->second, buffers[it->second].bytes, -1));
    }
  }

  func::FuncOp func;
  SharedCatalog &catalog;
  SmallVector<Operation *> steps;
  DenseMap<Operation *, uint32_t> stepIndex;
  /// Last step that reads a storage.
  DenseMap<Value, uint32_t> lastRead;
  std::vector<Buffer> buffers;
  DenseMap<Value, unsigned> bufferOf;
  DenseMap<Value, int64_t> overwrites;
  DenseMap<Operation *, unsigned> workspaceOf;
};

class PlanMemoryPass : public netra::impl::NetraPlanMemoryBase<PlanMemoryPass> {
public:
  using NetraPlanMemoryBase::NetraPlanMemoryBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto &catalog = getAnalysis<SharedCatalog>();
    if (failed(catalog.load(module, libraryRoot, target)))
      return signalPassFailure();
    // Of an earlier plan.
    for (auto arena : llvm::make_early_inc_range(module.getOps<ArenaOp>()))
      arena.erase();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    bool ok = true;
    for (func::FuncOp func : functions)
      if (!func.isDeclaration())
        ok &= succeeded(FunctionPlanner(func, catalog).run(stepLimit));
    if (!ok)
      signalPassFailure();
  }
};

} // namespace
