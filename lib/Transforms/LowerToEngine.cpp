//===- LowerToEngine.cpp - From planned functions to an engine ------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CatalogAccess.h"
#include "Dependencies.h"
#include "Storage.h"

#include "Netra/IR/ContractConversion.h"
#include "Netra/IR/EngineDecisions.h"
#include "Netra/Transforms/Passes.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace netra {
#define GEN_PASS_DEF_NETRALOWERTOENGINE
#include "Netra/Transforms/Passes.h.inc"
} // namespace netra

using namespace netra;

namespace {

using Roles = SmallVector<std::pair<StringRef, Value>>;

/// A name that `taken` does not hold yet, and then does.
std::string makeUnique(llvm::StringSet<> &taken, const Twine &wanted) {
  std::string name = wanted.str();
  if (taken.insert(name).second)
    return name;
  std::string base = std::move(name);
  for (unsigned i = 1;; ++i)
    if (name = (Twine(base) + "." + Twine(i)).str(); taken.insert(name).second)
      return name;
}

/// The recipe of `parameter` from tensors of the checkpoint alone. Recipes over
/// recipes are flattened where one list of steps can say the same.
FailureOr<PackAttr> resolvePack(SymbolTable &symbols, ParameterOp parameter) {
  MLIRContext *context = parameter.getContext();
  PackAttr pack = parameter.getPackAttr();
  if (!pack) {
    Attribute source = PackSourceAttr::get(
        context, parameter.getCheckpointAttr(), parameter.getTensorType());
    return PackAttr::get(context, {source}, 0, {});
  }
  if (!pack.isSymbolic())
    return pack;
  SmallVector<Attribute> sources, steps;
  int64_t axis = pack.getAxis();
  bool isAlone = pack.getSources().size() == 1;
  for (auto [index, source] : llvm::enumerate(pack.getSources())) {
    auto symbol = cast<FlatSymbolRefAttr>(source);
    auto inner = symbols.lookup<ParameterOp>(symbol.getValue());
    if (!inner)
      return parameter.emitError()
             << "recipe of @" << parameter.getSymName() << ": expected "
             << symbol << " to be a parameter";
    FailureOr<PackAttr> resolved = resolvePack(symbols, inner);
    if (failed(resolved))
      return failure();
    bool isConcat = resolved->getSources().size() > 1;
    // Casts work on each element, so that those that all sources share may as
    // well follow the concatenation.
    bool commutes =
        llvm::all_of(resolved->getSteps(), llvm::IsaPred<TypeAttr>) &&
        (index == 0 || llvm::equal(resolved->getSteps(), steps));
    if (!isAlone && (!commutes || (isConcat && resolved->getAxis() != axis)))
      return parameter.emitError()
             << "recipe of @" << parameter.getSymName()
             << ": expected sources that are cast alike and concatenated along "
                "axis "
             << axis << " only, found @" << inner.getSymName();
    if (isAlone)
      axis = resolved->getAxis();
    if (index == 0)
      llvm::append_range(steps, resolved->getSteps());
    llvm::append_range(sources, resolved->getSources());
  }
  llvm::append_range(steps, pack.getSteps());
  for (Attribute step : ArrayRef<Attribute>(steps).drop_back(!steps.empty()))
    if (isa<LayoutAttr>(step))
      return parameter.emitError()
             << "recipe of @" << parameter.getSymName()
             << ": cannot go on from a source that is stored in " << step;
  return PackAttr::get(context, sources, axis, steps);
}

/// Bits of a by-value argument as the attribute that holds them.
FailureOr<ArgAttr> makeValue(Operation *op, const Argument &argument) {
  Builder builder(op->getContext());
  switch (argument.type) {
  case ElementType::I32:
  case ElementType::U32:
    return ArgAttr::getValue(builder.getIntegerAttr(
        builder.getI32Type(), llvm::APInt(32, uint32_t(argument.bits))));
  case ElementType::I64:
  case ElementType::U64:
    return ArgAttr::getValue(builder.getIntegerAttr(
        builder.getI64Type(), llvm::APInt(64, argument.bits)));
  case ElementType::F32:
    return ArgAttr::getValue(builder.getFloatAttr(
        builder.getF32Type(),
        llvm::APFloat(llvm::APFloat::IEEEsingle(),
                      llvm::APInt(32, uint32_t(argument.bits)))));
  case ElementType::F64:
    return ArgAttr::getValue(builder.getFloatAttr(
        builder.getF64Type(), llvm::APFloat(llvm::APFloat::IEEEdouble(),
                                            llvm::APInt(64, argument.bits))));
  default:
    return op->emitError() << "kernel argument \"" << argument.name
                           << "\": expected an i32, i64, f32 or f64, found "
                           << elementTypeName(argument.type);
  }
}

/// Builds one engine from all planned functions of a module.
class EngineBuilder {
public:
  EngineBuilder(ModuleOp module, SharedCatalog &catalog)
      : module(module), catalog(catalog), symbols(module),
        builder(module.getContext()),
        noSteps(builder.getDenseI64ArrayAttr({})) {}

  LogicalResult run(StringRef engineName, StringRef target,
                    ArrayRef<std::string> domain) {
    for (auto arena : module.getOps<ArenaOp>())
      arenas[arena.getFunction()] = arena;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (failed(checkFunction(func)))
        return failure();
      functions.push_back(func);
    }
    if (functions.empty())
      return module.emitError()
             << "expected at least one planned function, found none";

    builder.setInsertionPointToEnd(module.getBody());
    engine = EngineOp::create(builder, module.getLoc(), chooseName(engineName),
                              TargetAttr::get(module.getContext(), target));
    if (engine.getBody().empty())
      engine.getBody().emplaceBlock();

    for (func::FuncOp func : functions)
      if (failed(declareBindings(func)))
        return failure();
    if (failed(declareWeights()))
      return failure();
    for (func::FuncOp func : functions)
      if (failed(addPlan(func)))
        return failure();
    emit();
    if (failed(decide(domain)))
      return failure();
    return eraseModelLevel();
  }

private:
  struct Binding {
    BindingKind kind;
    RankedTensorType type;
  };
  struct Weight {
    std::string name;
    int64_t offset, bytes;
    RankedTensorType type;
    PackAttr pack;
    Location location;
  };
  struct Plan {
    func::FuncOp func;
    std::string name;
    SmallVector<Attribute> bindings;
    Block steps;
  };
  /// A kernel, and what all launches of it say.
  struct Kernel {
    std::string codeObject;
    std::string symbol;
    TacticAttr tactic;
    SymbolRefAttr reference;
    DenseI64ArrayAttr grid, block;
    IntegerAttr staticLds, dynamicLds;
    StringAttr operation;
  };

  LogicalResult checkFunction(func::FuncOp func) {
    if (func.isDeclaration() || !func.getBody().hasOneBlock())
      return func.emitError() << "expected a function of one block";
    auto profile = func->getAttrOfType<FlatSymbolRefAttr>(
        NetraDialect::getProfileAttrName());
    if (!profile || !symbols.lookup<ProfileOp>(profile.getValue()))
      return func.emitError() << "expected a function specialised for a "
                                 "profile; run netra-apply-profile first";
    if (!arenas.count(func.getName()))
      return func.emitError() << "expected a netra.arena of the function; run "
                                 "netra-plan-memory first";
    return success();
  }

  StringRef getProfileName(func::FuncOp func) {
    return func
        ->getAttrOfType<FlatSymbolRefAttr>(NetraDialect::getProfileAttrName())
        .getValue();
  }

  /// Name of the function before it was specialised.
  StringRef getBaseName(func::FuncOp func) {
    StringRef name = func.getName();
    if (name.consume_back(getProfileName(func)))
      name.consume_back(".");
    return name.empty() ? func.getName() : name;
  }

  std::string chooseName(StringRef wanted) {
    std::string name = wanted.str();
    if (name.empty() && module.getSymName())
      name = module.getSymName()->str();
    if (name.empty())
      name = getBaseName(functions.front()).str();
    // The functions go, so that only profiles can hold the name.
    llvm::StringSet<> taken;
    for (auto profile : module.getOps<ProfileOp>())
      taken.insert(profile.getSymName());
    return makeUnique(taken, name);
  }

  bool hasOneBaseName() {
    return llvm::all_of(functions, [&](func::FuncOp func) {
      return getBaseName(func) == getBaseName(functions.front());
    });
  }

  //===--- Bindings and weights -------------------------------------------===//

  LogicalResult declareBindings(func::FuncOp func) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i) {
      bool isState = !getArgumentState(func, i).empty();
      if (failed(
              declareBinding(func, getArgumentName(func, i),
                             isState ? BindingKind::State : BindingKind::Input,
                             func.getArgumentTypes()[i])))
        return failure();
    }
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (getResultState(func, i).empty() &&
          failed(declareBinding(func, getResultName(func, i),
                                BindingKind::Output, func.getResultTypes()[i])))
        return failure();
    return success();
  }

  LogicalResult declareBinding(func::FuncOp func, const std::string &name,
                               BindingKind kind, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !getTensorBytes(tensor))
      return func.emitError()
             << "binding \"" << name
             << "\": expected a tensor of known size, found " << type;
    std::string symbol = name;
    auto isSame = [&](const std::string &candidate) {
      auto it = bindings.find(candidate);
      return it == bindings.end() ||
             (it->second.kind == kind && it->second.type == tensor);
    };
    if (!isSame(symbol))
      symbol = (Twine(name) + "." + getProfileName(func)).str();
    for (unsigned i = 1; !isSame(symbol) || taken.contains(symbol); ++i) {
      if (bindings.contains(symbol) && isSame(symbol))
        break;
      symbol = (Twine(name) + "." + Twine(i)).str();
    }
    bindings.insert({symbol, Binding{kind, tensor}});
    taken.insert(symbol);
    bindingOf[func][name] = symbol;
    return success();
  }

  LogicalResult declareWeights() {
    DenseSet<StringRef> used;
    for (func::FuncOp func : functions)
      func.walk([&](GetOp get) { used.insert(get.getParameter()); });
    int64_t end = 0;
    for (auto parameter : module.getOps<ParameterOp>()) {
      if (!used.contains(parameter.getSymName()))
        continue;
      FailureOr<PackAttr> pack = resolvePack(symbols, parameter);
      if (failed(pack))
        return failure();
      RankedTensorType type = parameter.getTensorType();
      std::optional<int64_t> bytes = getTensorBytes(type);
      if (!bytes || *bytes > std::numeric_limits<int64_t>::max() - end -
                                 2 * kBufferAlignment)
        return parameter.emitError()
               << "expected all weights together to fit 63 bits";
      int64_t offset = llvm::alignTo(end, kBufferAlignment);
      weights.push_back({parameter.getSymName().str(), offset, *bytes, type,
                         *pack, parameter.getLoc()});
      weightOf[weights.back().name] = weights.size() - 1;
      end = offset + *bytes;
    }
    weightBytes = llvm::alignTo(end, kBufferAlignment);
    return success();
  }

  //===--- Plans ----------------------------------------------------------===//

  /// Where the bytes of `value` are. A weight is where it is for every plan.
  FailureOr<ArgAttr> getSlot(Operation *op, Value value) {
    auto get = value.getDefiningOp<GetOp>();
    ArgAttr &slot =
        get ? weightSlots[get.getParameterAttr()] : valueSlots[value];
    if (!slot) {
      FailureOr<ArgAttr> made = makeSlot(op, value, 0);
      if (failed(made))
        return failure();
      slot = *made;
    }
    return slot;
  }

  /// Where the bytes of `value` are, from byte `offset` of it on.
  FailureOr<ArgAttr> makeSlot(Operation *op, Value value, int64_t offset) {
    MLIRContext *context = op->getContext();
    std::optional<int64_t> size =
        getTensorBytes(cast<RankedTensorType>(value.getType()));
    if (!size || offset < 0 || offset > *size)
      return op->emitError()
             << "expected offset " << offset
             << " to lie inside a tensor of type " << value.getType();
    auto func = op->getParentOfType<func::FuncOp>();
    Value storage = getStorage(value);
    if (auto argument = dyn_cast<BlockArgument>(storage))
      return ArgAttr::getBinding(
          context,
          bindingOf[func][getArgumentName(func, argument.getArgNumber())],
          offset, *size - offset);
    if (auto get = storage.getDefiningOp<GetOp>())
      return ArgAttr::getWeight(context, get.getParameter(), offset,
                                *size - offset);
    Operation *definition = storage.getDefiningOp();
    auto places =
        definition->getAttrOfType<ArrayAttr>(NetraDialect::getPlaceAttrName());
    if (!places)
      return definition->emitError()
             << "expected a place for each result; run netra-plan-memory first";
    auto place =
        cast<PlaceAttr>(places[cast<OpResult>(storage).getResultNumber()]);
    if (place.getKind() == PlaceKind::Arena)
      return ArgAttr::getArena(context, place.getOffset() + offset,
                               *size - offset);
    auto &names = bindingOf[func];
    auto name = names.find(place.getSymbol().getValue());
    if (place.getKind() != PlaceKind::Binding || name == names.end())
      return definition->emitError()
             << "expected a place in the arena or in a binding of the "
                "function, found "
             << place;
    return ArgAttr::getBinding(context, name->second,
                               place.getOffset() + offset, *size - offset);
  }

  uint64_t getRegion(ArgAttr slot) {
    Attribute symbol =
        slot.getKind() == SlotKind::Arena ? Attribute() : slot.getSymbol();
    return regions
        .try_emplace({unsigned(slot.getKind()), symbol}, regions.size())
        .first->second;
  }

  void addAccess(StepAccesses &step, ArgAttr slot, bool writes) {
    step.accesses.push_back({getRegion(slot), uint64_t(slot.getOffset()),
                             uint64_t(slot.getOffset() + slot.getBytes()),
                             writes});
  }

  LogicalResult addPlan(func::FuncOp func) {
    auto plan = std::make_unique<Plan>();
    plan->func = func;
    plan->name =
        hasOneBaseName() ? getProfileName(func).str() : func.getName().str();
    plan->name = makeUnique(taken, plan->name);
    llvm::StringSet<> listed;
    auto list = [&](const std::string &local) {
      StringRef symbol = bindingOf[func][local];
      if (listed.insert(symbol).second)
        plan->bindings.push_back(
            FlatSymbolRefAttr::get(module.getContext(), symbol));
    };
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      list(getArgumentName(func, i));
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      list(getResultName(func, i));

    builder.setInsertionPointToEnd(&plan->steps);
    std::vector<StepAccesses> accesses;
    stepNames.clear();
    valueSlots.clear();
    baseName = getBaseName(func);
    for (Operation &op : func.getBody().front()) {
      if (!isStep(&op))
        continue;
      accesses.emplace_back();
      if (failed(isa<FallbackOp>(op)
                     ? addFallback(cast<FallbackOp>(op), accesses.back())
                     : addLaunch(&op, accesses.back())))
        return failure();
    }
    auto after = computeDependencies(accesses);
    for (auto [op, dependencies] : llvm::zip_equal(plan->steps, after)) {
      auto attribute = builder.getDenseI64ArrayAttr(dependencies);
      if (auto launch = dyn_cast<LaunchOp>(op))
        launch.setAfterAttr(attribute);
      else
        cast<FallbackStepOp>(op).setAfterAttr(attribute);
    }
    plans.push_back(std::move(plan));
    return success();
  }

  LogicalResult addLaunch(Operation *op, StepAccesses &step) {
    FailureOr<const Instance *> found = catalog.getInstance(op);
    if (failed(found))
      return failure();
    const Instance &instance = **found;
    const Contract &contract = instance.contract;
    Roles roles, results;
    cast<TacticOpInterface>(op).getRoles(roles, results);
    llvm::append_range(roles, results);

    SmallVector<Attribute> arguments;
    for (const Argument &argument : contract.arguments) {
      FailureOr<ArgAttr> slot = makeArgument(op, argument, roles);
      if (failed(slot))
        return failure();
      arguments.push_back(*slot);
      if (slot->isPointer()) {
        if (slot->getKind() == SlotKind::Weight &&
            argument.access != Access::Read)
          return op->emitError() << "kernel argument \"" << argument.name
                                 << "\" would write to a weight";
        addAccess(step, *slot, argument.access != Access::Read);
      }
    }

    const Kernel &kernel = getKernel(op, instance);
    LaunchOp::create(builder, op->getLoc(), kernel.reference, kernel.grid,
                     kernel.block, kernel.staticLds, kernel.dynamicLds,
                     builder.getArrayAttr(arguments), noSteps,
                     kernel.tactic.getContract(), kernel.tactic.getName(),
                     kernel.operation, builder.getStringAttr(getStepName(op)));
    return success();
  }

  FailureOr<ArgAttr> makeArgument(Operation *op, const Argument &argument,
                                  const Roles &roles) {
    if (argument.kind == ArgumentKind::Value)
      return makeValue(op, argument);
    if (argument.role == "workspace") {
      auto place = op->getAttrOfType<PlaceAttr>(kWorkspaceAttrName);
      if (!place)
        return op->emitError()
               << "expected a place for the workspace; run netra-plan-memory "
                  "first";
      return ArgAttr::fromPlace(place);
    }
    auto value = llvm::find_if(
        roles, [&](const auto &entry) { return entry.first == argument.role; });
    if (value == roles.end())
      return ArgAttr::getNull(op->getContext());
    if (argument.operandOffset != 0)
      return makeSlot(op, value->second, int64_t(argument.operandOffset));
    return getSlot(op, value->second);
  }

  LogicalResult addFallback(FallbackOp op, StepAccesses &step) {
    step.isOpaque = true;
    SmallVector<Attribute> inputs, outputs, types;
    for (Value value : op.getInputs()) {
      FailureOr<ArgAttr> slot = getSlot(op, value);
      if (failed(slot))
        return failure();
      inputs.push_back(*slot);
      types.push_back(TypeAttr::get(value.getType()));
      addAccess(step, *slot, /*writes=*/false);
    }
    for (Value value : op.getOutputs()) {
      FailureOr<ArgAttr> slot = getSlot(op, value);
      if (failed(slot))
        return failure();
      outputs.push_back(*slot);
      types.push_back(TypeAttr::get(value.getType()));
      addAccess(step, *slot, /*writes=*/true);
    }
    FallbackStepOp::create(
        builder, op.getLoc(), op.getOpNameAttr(), op.getReasonAttr(),
        builder.getArrayAttr(inputs), builder.getArrayAttr(outputs),
        builder.getArrayAttr(types), noSteps,
        builder.getStringAttr(getStepName(op)), op.getOperandNamesAttr(),
        op.getResultNamesAttr(), op.getUpdatesAttr(), op.getSettingsAttr(),
        op.getFamilyAttr());
    return success();
  }

  /// The part of the model that `op` belongs to, which fusing others into it
  /// does not change: the first name of its location is that of the operation
  /// that took the others over. Without one the weight tells.
  StringRef getPartName(Operation *op) {
    // The functions share their locations.
    auto [known, isNew] = locationNames.try_emplace(op->getLoc());
    if (isNew)
      known->second = op->getLoc()->findInstanceOf<NameLoc>();
    if (known->second)
      return known->second.getName();
    for (Value operand : op->getOperands())
      if (auto get = operand.getDefiningOp<GetOp>()) {
        StringRef name = get.getParameter();
        name.consume_back(".weight");
        return name;
      }
    return "";
  }

  /// "decoder/layers.0.mlp.down_proj/dense": the function, the part of the
  /// model and the operation.
  std::string getStepName(Operation *op) {
    StringRef operation = op->getName().stripDialect();
    if (auto fallback = dyn_cast<FallbackOp>(op))
      operation =
          fallback.getOpName().substr(fallback.getOpName().rfind('.') + 1);
    SmallString<64> name = baseName;
    for (StringRef part : {getPartName(op), operation})
      if (!part.empty()) {
        name += '/';
        name += part;
      }
    return makeUnique(stepNames, name);
  }

  const Kernel &getKernel(Operation *op, const Instance &instance) {
    auto tactic =
        op->getAttrOfType<TacticAttr>(NetraDialect::getTacticAttrName());
    auto [it, isNew] = kernels.insert({tactic, Kernel()});
    Kernel &kernel = it->second;
    if (!isNew)
      return kernel;
    const Contract &contract = instance.contract;
    auto extents = [&](const std::array<uint32_t, 3> &values) {
      return builder.getDenseI64ArrayAttr(
          SmallVector<int64_t>(values.begin(), values.end()));
    };
    kernel.codeObject = makeUnique(taken, "k" + Twine(kernels.size() - 1));
    kernel.symbol = instance.symbol;
    kernel.tactic = tactic;
    kernel.reference = SymbolRefAttr::get(
        builder.getStringAttr(kernel.codeObject),
        FlatSymbolRefAttr::get(module.getContext(), kernel.symbol));
    kernel.grid = extents(contract.greatestGrid());
    kernel.block = extents(contract.block);
    kernel.staticLds = builder.getI64IntegerAttr(contract.staticLds);
    kernel.dynamicLds = builder.getI64IntegerAttr(contract.dynamicLds);
    kernel.operation = builder.getStringAttr(op->getName().getStringRef());
    contracts.insert({tactic.getContract().str(), contract});
    return kernel;
  }

  //===--- Output ---------------------------------------------------------===//

  void emit() {
    Location location = engine.getLoc();
    Block &body = engine.getBody().front();
    auto toEnd = [&](Block &block) { builder.setInsertionPointToEnd(&block); };
    auto bodyOf = [](Region &region) -> Block & {
      if (region.empty())
        region.emplaceBlock();
      return region.front();
    };

    toEnd(body);
    for (const auto &[id, contract] : contracts)
      ContractOp::create(builder, location, builder.getStringAttr(id),
                         contractToAttr(module.getContext(), contract));
    for (const auto &[tactic, kernel] : kernels) {
      toEnd(body);
      auto object = CodeObjectOp::create(builder, location, kernel.codeObject);
      toEnd(bodyOf(object.getBody()));
      KernelOp::create(builder, location, builder.getStringAttr(kernel.symbol),
                       kernel.tactic);
    }
    toEnd(body);
    int64_t indices[3] = {0, 0, 0};
    for (BindingKind kind :
         {BindingKind::Input, BindingKind::Output, BindingKind::State})
      for (const auto &[name, binding] : bindings)
        if (binding.kind == kind)
          BindingOp::create(builder, location, name, kind,
                            indices[unsigned(kind)]++, binding.type);
    if (!weights.empty()) {
      auto op =
          WeightsOp::create(builder, location, weightBytes, kBufferAlignment);
      toEnd(bodyOf(op.getBody()));
      for (const Weight &weight : weights)
        WeightOp::create(builder, weight.location, weight.name, weight.offset,
                         weight.bytes, weight.type, weight.pack);
    }
    for (const std::unique_ptr<Plan> &plan : plans) {
      toEnd(body);
      ArenaOp arena = arenas.lookup(plan->func.getName());
      auto op = PlanOp::create(builder, plan->func.getLoc(), plan->name,
                               getProfileName(plan->func), arena.getBytes(),
                               arena.getAlignment(),
                               builder.getArrayAttr(plan->bindings));
      Block &steps = bodyOf(op.getBody());
      steps.getOperations().splice(steps.end(), plan->steps.getOperations());
    }
  }

  /// The table that chooses the plan of a launch.
  LogicalResult decide(ArrayRef<std::string> domain) {
    std::vector<GuardBox> boxes;
    for (const std::string &text : domain) {
      llvm::Expected<GuardBox> box = parseGuardBox(text);
      if (!box)
        return emitErrors(module, box.takeError());
      boxes.push_back(std::move(*box));
    }
    if (!boxes.empty())
      engine.setDomainAttr(domainToAttr(module.getContext(), boxes));
    llvm::Expected<DecisionTable> table = compileDecisions(engine);
    if (!table)
      return emitErrors(module, table.takeError());
    addDecisions(builder, engine, *table);
    return success();
  }

  /// The engine says everything now; functions go before what they refer to.
  LogicalResult eraseModelLevel() {
    for (func::FuncOp func : functions)
      func.erase();
    for (auto &[function, arena] : arenas)
      arena.erase();
    for (auto parameter :
         llvm::make_early_inc_range(module.getOps<ParameterOp>()))
      parameter.erase();
    return success();
  }

  ModuleOp module;
  SharedCatalog &catalog;
  SymbolTable symbols;
  OpBuilder builder;
  EngineOp engine;
  SmallVector<func::FuncOp> functions;
  /// By function.
  llvm::MapVector<StringRef, ArenaOp> arenas;
  llvm::StringSet<> taken;
  llvm::MapVector<std::string, Binding, std::map<std::string, unsigned>>
      bindings;
  DenseMap<Operation *, llvm::StringMap<std::string>> bindingOf;
  SmallVector<Weight> weights;
  llvm::StringMap<unsigned> weightOf;
  int64_t weightBytes = 0;
  llvm::MapVector<Attribute, Kernel> kernels;
  llvm::MapVector<std::string, Contract, std::map<std::string, unsigned>>
      contracts;
  std::vector<std::unique_ptr<Plan>> plans;
  DenseMap<std::pair<unsigned, Attribute>, uint64_t> regions;
  DenseMap<Attribute, ArgAttr> weightSlots;
  DenseI64ArrayAttr noSteps;

  // Of the function whose plan is being made.
  StringRef baseName;
  llvm::StringSet<> stepNames;
  /// The first name of each location, if it has one.
  DenseMap<Attribute, NameLoc> locationNames;
  DenseMap<Value, ArgAttr> valueSlots;
};

class LowerToEnginePass
    : public netra::impl::NetraLowerToEngineBase<LowerToEnginePass> {
public:
  using NetraLowerToEngineBase::NetraLowerToEngineBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto &catalog = getAnalysis<SharedCatalog>();
    if (failed(catalog.load(module, libraryRoot, target)) ||
        failed(EngineBuilder(module, catalog).run(engineName, target, domain)))
      signalPassFailure();
  }
};

} // namespace
