//===- TorchToNetra.cpp - The import pass ---------------------------------===//
//
// SPDX-License-Identifier: MIT
//
// Three steps. Planning walks each function backwards from what it returns, so
// that the last operation of a pattern claims the ones before it and what
// nobody needs is never looked at. Reporting then lists every needed operation
// without a plan. Only when the module is known to convert is it changed: netra
// operations are built forwards, and the torch operations erased.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "GraphReader.h"
#include "Planner.h"
#include "SymbolicDims.h"

#include "Netra/Conversion/IREE/IREE.h"
#include "Netra/Conversion/Passes.h"
#include "Netra/IR/NetraOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace netra;
using namespace netra::importer;

namespace netra {
#define GEN_PASS_DEF_CONVERTTORCHTONETRA
#include "Netra/Conversion/Passes.h.inc"
} // namespace netra

namespace {

/// What is to be done with one function.
struct FunctionPlan {
  func::FuncOp function;
  llvm::DenseMap<Operation *, Plan> plans;
  /// Needed operations without a plan and why they have none; from the last to
  /// the first.
  llvm::MapVector<Operation *, std::string> refused;
  /// Operations that stay without being reported: constants and lists that
  /// refused operations use, and what is of the netra dialect already.
  llvm::DenseSet<Operation *> operandOnly;
  /// What is wrong with the function as a whole, by location.
  SmallVector<std::pair<Location, std::string>> faults;
  /// Nothing of the function can be converted.
  bool isUntouched = false;

  bool stays(Operation *op) const {
    return refused.contains(op) || operandOnly.contains(op);
  }
};

class ConvertTorchToNetra
    : public netra::impl::ConvertTorchToNetraBase<ConvertTorchToNetra> {
public:
  using ConvertTorchToNetraBase::ConvertTorchToNetraBase;

  void runOnOperation() override;

private:
  LogicalResult readDimNames();
  /// Makes sure that a key of the checkpoint means one tensor.
  LogicalResult checkParameterKeys();
  FunctionPlan planFunction(func::FuncOp function, bool isCalled);
  /// Reports everything that is not converted; true when there is nothing.
  bool report(ArrayRef<FunctionPlan> plans);
  void createParameters(ArrayRef<FunctionPlan> plans);
  void convertFunction(const FunctionPlan &plan);
  void eraseUnused();

  llvm::StringMap<std::string> dimNames;
  llvm::DenseMap<Operation *, ParameterOp> parameters;
};

} // namespace

static bool isTorchType(Type type) {
  return isa<torch::TorchDialect>(type.getDialect());
}

/// The type that takes the place of a torch type in a function's signature;
/// null when there is none.
static RankedTensorType signatureType(Type type) {
  RankedTensorType tensor = torch::getBuiltinTensorType(type);
  return isNetraTensor(tensor) ? tensor : RankedTensorType();
}

/// True when a function belongs to a torch graph.
static bool isTorchFunction(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  if (llvm::any_of(type.getInputs(), isTorchType) ||
      llvm::any_of(type.getResults(), isTorchType))
    return true;
  WalkResult result = function.walk([](Operation *op) {
    return isa_and_nonnull<torch::TorchDialect, torch::TorchConversionDialect,
                           iree::UtilDialect>(op->getDialect())
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

LogicalResult ConvertTorchToNetra::readDimNames() {
  dimNames.clear();
  for (const std::string &entry : dims) {
    auto [symbol, name] = StringRef(entry).split('=');
    if (symbol.empty() || name.empty())
      return getOperation().emitError("option dims: expected SYMBOL=NAME, "
                                      "found '")
             << entry << "'";
    dimNames[symbol] = name.str();
  }
  return success();
}

LogicalResult ConvertTorchToNetra::checkParameterKeys() {
  llvm::DenseMap<StringAttr, iree::GlobalOp> byKey;
  LogicalResult result = success();
  for (auto global : getOperation().getOps<iree::GlobalOp>()) {
    auto parameter = dyn_cast_or_null<iree::NamedParameterAttr>(
        global.getInitialValueAttr());
    if (!parameter)
      continue;
    if (parameter.getKey().getValue().empty()) {
      result = global.emitError("expected the key of a parameter, found an "
                                "empty string");
      continue;
    }
    auto [entry, inserted] = byKey.try_emplace(parameter.getKey(), global);
    if (inserted)
      continue;
    auto other =
        cast<iree::NamedParameterAttr>(entry->second.getInitialValueAttr());
    if (other.getScope() == parameter.getScope())
      continue;
    InFlightDiagnostic diagnostic =
        global.emitError("parameter key ")
        << parameter.getKey()
        << " is used in two scopes, but a checkpoint holds one tensor of a "
           "name; rename one of them";
    diagnostic.attachNote(entry->second.getLoc()) << "also used here";
    result = failure();
  }
  return result;
}

FunctionPlan ConvertTorchToNetra::planFunction(func::FuncOp function,
                                               bool isCalled) {
  FunctionPlan plan;
  plan.function = function;
  if (isCalled) {
    plan.isUntouched = true;
    plan.faults.emplace_back(
        function.getLoc(),
        concat("@", function.getSymName(),
               " is called by another function: expected one function per "
               "graph; inline it"));
    return plan;
  }
  if (function.isExternal())
    return plan;
  if (!function.getBody().hasOneBlock()) {
    plan.isUntouched = true;
    plan.faults.emplace_back(function.getLoc(),
                             "expected a body of one block: branches are not "
                             "part of a graph that can be compiled");
    return plan;
  }

  Planner planner(getOperation());
  Block &block = function.getBody().front();
  llvm::DenseSet<Value> needed;
  auto need = [&](Operation *op) {
    // Nested operations may use values from outside.
    op->walk([&](Operation *nested) {
      needed.insert(nested->operand_begin(), nested->operand_end());
    });
  };
  for (Operation &op : llvm::reverse(block)) {
    if (&op == block.getTerminator()) {
      need(&op);
      continue;
    }
    bool isNeeded =
        hasEffect(&op) || llvm::any_of(op.getResults(), [&](Value result) {
          return needed.contains(result);
        });
    if (isStatement(&op) || !isNeeded)
      continue;
    if (isOperandOnly(&op) || isa<NetraDialect>(op.getDialect())) {
      plan.operandOnly.insert(&op);
      need(&op);
      continue;
    }
    Outcome outcome = planner.plan(&op);
    if (outcome.plan) {
      needed.insert(outcome.plan->inputs.begin(), outcome.plan->inputs.end());
      plan.plans.try_emplace(&op, std::move(*outcome.plan));
      continue;
    }
    plan.refused.insert({&op, std::move(outcome.reason)});
    need(&op);
  }
  for (auto &[op, reason] : plan.refused)
    if (StringRef nearMiss = planner.nearMiss(op); !nearMiss.empty())
      reason += concat("; ", nearMiss);

  // Arguments and results of types without a tensor form, where no operation
  // that is reported anyway explains them.
  auto isReported = [&](Operation *op) { return plan.refused.contains(op); };
  for (BlockArgument argument : block.getArguments())
    if (isTorchType(argument.getType()) && !signatureType(argument.getType()) &&
        llvm::none_of(argument.getUsers(), isReported))
      plan.faults.emplace_back(
          argument.getLoc(),
          concat("argument ", argument.getArgNumber(), " of @",
                 function.getSymName(), " is a ", spell(argument.getType()),
                 ": expected a tensor of known rank, of a type that a netra "
                 "tensor has"));
  Operation *terminator = block.getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
    if (isTorchType(value.getType()) && !signatureType(value.getType()) &&
        !isReported(value.getDefiningOp()))
      plan.faults.emplace_back(
          terminator->getLoc(),
          concat("result ", i, " of @", function.getSymName(), " is a ",
                 spell(value.getType()),
                 ": expected a tensor of known rank, of a type that a netra "
                 "tensor has"));
  return plan;
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

bool ConvertTorchToNetra::report(ArrayRef<FunctionPlan> plans) {
  auto emit = [&](Location loc) {
    return partial ? emitRemark(loc) : emitError(loc);
  };
  std::map<std::string, unsigned> counts;
  bool clean = true;
  unsigned total = 0;
  for (const FunctionPlan &plan : plans) {
    for (const auto &[loc, text] : plan.faults) {
      emit(loc) << text;
      clean = false;
    }
    for (const auto &[op, reason] : llvm::reverse(plan.refused)) {
      emit(op->getLoc()) << "'" << describe(op)
                         << "' is not converted: " << reason;
      ++counts[describe(op)];
      ++total;
      clean = false;
    }
  }
  // Programs that are not functions of the func dialect.
  for (auto function : getOperation().getOps<iree::FuncOp>()) {
    bool isTorch = llvm::any_of(function.getArgumentTypes(), isTorchType);
    function.walk([&](Operation *op) {
      isTorch |= isa_and_nonnull<torch::TorchDialect>(op->getDialect());
    });
    if (!isTorch)
      continue;
    emit(function.getLoc()) << "util.func @" << function.getSymName()
                            << " is not converted: expected the torch graph "
                               "in a func.func";
    clean = false;
  }
  if (total != 0) {
    InFlightDiagnostic summary = emitRemark(getOperation().getLoc());
    summary << "not converted: " << total
            << (total == 1 ? " operation" : " operations");
    const char *separator = ": ";
    for (const auto &[name, count] : counts) {
      summary << separator << name << " (" << count << ")";
      separator = ", ";
    }
  }
  return clean;
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

void ConvertTorchToNetra::createParameters(ArrayRef<FunctionPlan> plans) {
  // A global that some other code still loads keeps its name.
  llvm::DenseSet<StringAttr> loaded, kept;
  getOperation().walk([&](iree::GlobalLoadOp load) {
    StringAttr name = load.getGlobalAttr().getAttr();
    for (const FunctionPlan &plan : plans) {
      if (plan.function != load->getParentOp())
        continue;
      if (plan.plans.contains(load))
        loaded.insert(name);
      else if (plan.stays(load))
        kept.insert(name);
      return;
    }
    kept.insert(name);
  });

  SymbolTable symbols(getOperation());
  OpBuilder builder(&getContext());
  for (auto global :
       llvm::make_early_inc_range(getOperation().getOps<iree::GlobalOp>())) {
    auto parameter = dyn_cast_or_null<iree::NamedParameterAttr>(
        global.getInitialValueAttr());
    auto type = dyn_cast<RankedTensorType>(global.getType());
    bool wanted =
        loaded.contains(global.getSymNameAttr()) || !global.isPrivate();
    if (!parameter || global.getIsMutable() || !wanted ||
        !isNetraTensor(type) || !type.hasStaticShape() || type.getEncoding())
      continue;
    builder.setInsertionPoint(global);
    auto made =
        ParameterOp::create(builder, global.getLoc(), global.getSymName(), type,
                            parameter.getKey().getValue());
    // The loads of the converted functions find the parameter by the global.
    parameters[global] = made;
    if (kept.contains(global.getSymNameAttr())) {
      made->remove();
      symbols.insert(made, Block::iterator(global));
    }
  }
}

void ConvertTorchToNetra::convertFunction(const FunctionPlan &plan) {
  if (plan.isUntouched)
    return;
  func::FuncOp function = plan.function;
  MLIRContext *context = &getContext();
  auto convertTypes = [](TypeRange types) {
    return llvm::map_to_vector(types, [](Type type) -> Type {
      RankedTensorType tensor = signatureType(type);
      return tensor ? tensor : type;
    });
  };
  for (NamedAttribute attribute :
       llvm::to_vector(function->getDiscardableAttrs()))
    if (attribute.getName().getValue().starts_with("torch."))
      function->removeDiscardableAttr(attribute.getName());
  FunctionType type = function.getFunctionType();
  if (function.isExternal()) {
    function.setFunctionType(
        FunctionType::get(context, convertTypes(type.getInputs()),
                          convertTypes(type.getResults())));
    return;
  }

  Emitter emitter(context);
  emitter.parameters = parameters;
  DenseMap<Value, SmallVector<std::string>> dims =
      readSymbolicDims(function, dimNames);

  // New arguments stand beside the old ones until these have no use.
  Block &block = function.getBody().front();
  SmallVector<BlockArgument> oldArguments(block.getArguments());
  llvm::BitVector replaced(2 * oldArguments.size());
  for (BlockArgument argument : oldArguments) {
    unsigned number = argument.getArgNumber();
    RankedTensorType tensor = signatureType(argument.getType());
    if (!tensor)
      continue;
    BlockArgument made =
        block.insertArgument(number + 1, tensor, argument.getLoc());
    emitter.define(argument, made);
    replaced.set(number);
  }

  SmallVector<Operation *> ops =
      llvm::map_to_vector(block, [](Operation &op) { return &op; });
  Operation *terminator = block.getTerminator();
  for (Operation *op : ops) {
    emitter.moveTo(op);
    if (auto found = plan.plans.find(op); found != plan.plans.end()) {
      found->second.emit(emitter);
    } else if (op == terminator) {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(signatureType(operand.get().getType())
                        ? emitter.full(operand.get())
                        : emitter.original(operand.get()));
    } else if (plan.stays(op)) {
      op->walk([&](Operation *nested) {
        for (OpOperand &operand : nested->getOpOperands())
          operand.set(emitter.original(operand.get()));
      });
    }
  }
  for (Operation *op : llvm::reverse(ops))
    if (op != terminator && !plan.stays(op))
      op->erase();

  // The old arguments' statements are erased; name their sizes on the new ones.
  for (auto [i, argument] : llvm::enumerate(oldArguments)) {
    for (NamedAttribute attribute : llvm::to_vector(
             mlir::function_interface_impl::getArgAttrs(function, i)))
      if (attribute.getName().getValue().starts_with("torch."))
        function.removeArgAttr(i, attribute.getName());
    RankedTensorType tensor = signatureType(argument.getType());
    auto found = dims.find(argument);
    if (!tensor || tensor.hasStaticShape() || found == dims.end() ||
        static_cast<int64_t>(found->second.size()) != tensor.getRank())
      continue;
    // The type is right where it knows a size; a statement that gives a number
    // for an unknown one contradicts it and is worth nothing.
    bool agrees = true;
    SmallVector<StringRef> names(found->second.begin(), found->second.end());
    SmallVector<std::string> sizes;
    sizes.reserve(names.size());
    for (auto [name, size] : llvm::zip_equal(names, tensor.getShape())) {
      if (ShapedType::isDynamic(size)) {
        agrees &= !name.contains('?') && !llvm::isDigit(name.front()) &&
                  name.front() != '-';
        continue;
      }
      sizes.push_back(std::to_string(size));
      name = sizes.back();
    }
    if (agrees)
      function.setArgAttr(i, NetraDialect::getDimsAttrName(),
                          Builder(context).getStrArrayAttr(names));
  }
  replaced.resize(block.getNumArguments());
  block.eraseArguments(replaced);
  function.setFunctionType(FunctionType::get(context, block.getArgumentTypes(),
                                             terminator->getOperandTypes()));
}

void ConvertTorchToNetra::eraseUnused() {
  ModuleOp module = getOperation();
  // Functions first: their bodies may hold the last use of a global.
  for (auto function :
       llvm::make_early_inc_range(module.getOps<iree::FuncOp>()))
    if (function.isPrivate() &&
        SymbolTable::symbolKnownUseEmpty(function, module))
      function.erase();
  // A parameter may have taken a global's name over; only loads count.
  llvm::DenseSet<StringAttr> loaded;
  module.walk([&](iree::GlobalLoadOp load) {
    loaded.insert(load.getGlobalAttr().getAttr());
  });
  for (auto global :
       llvm::make_early_inc_range(module.getOps<iree::GlobalOp>()))
    if (!loaded.contains(global.getSymNameAttr()))
      global.erase();
}

void ConvertTorchToNetra::runOnOperation() {
  parameters.clear();
  if (failed(readDimNames()) || failed(checkParameterKeys()))
    return signalPassFailure();
  llvm::DenseSet<StringAttr> called;
  getOperation().walk([&](func::CallOp call) {
    called.insert(call.getCalleeAttr().getAttr());
  });
  SmallVector<FunctionPlan> plans;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (isTorchFunction(function))
      plans.push_back(
          planFunction(function, called.contains(function.getSymNameAttr())));
  if (!report(plans) && !partial)
    return signalPassFailure();
  createParameters(plans);
  for (const FunctionPlan &plan : plans)
    convertFunction(plan);
  eraseUnused();
}
