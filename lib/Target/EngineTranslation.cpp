//===- EngineTranslation.cpp - Engine IR to bundle ------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/EngineTranslation.h"
#include "CodeSharing.h"
#include "EngineTranslationImpl.h"

#include "Netra/Catalog/TargetInfo.h"
#include "Netra/IR/ContractConversion.h"
#include "Netra/IR/EngineDecisions.h"
#include "Netra/Target/InstructionCount.h"

#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace netra;

//===----------------------------------------------------------------------===//
// From operations to kernels
//===----------------------------------------------------------------------===//

static LogicalResult emitLines(Operation *op, const std::string &text) {
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  InFlightDiagnostic diag =
      op->emitError() << (lines.empty() ? "unknown error" : lines.front());
  for (StringRef line : ArrayRef<StringRef>(lines).drop_front(!lines.empty()))
    diag.attachNote() << line;
  return diag;
}

FailureOr<EngineOp> netra::findEngine(ModuleOp module) {
  auto engines = llvm::to_vector(module.getOps<EngineOp>());
  if (engines.size() != 1)
    return module.emitError()
           << "expected one netra.engine, found " << engines.size()
           << (engines.empty() ? "; compile the module first, see "
                                 "--netra-engine-pipeline"
                               : "");
  return engines.front();
}

FailureOr<Contract> netra::getContract(KernelOp kernel) {
  auto engine = kernel->getParentOfType<EngineOp>();
  StringRef id = kernel.getTactic().getContract().getValue();
  ContractOp op = engine.lookupContract(id);
  if (!op)
    return kernel.emitError() << "expected the engine to have contract @" << id;
  llvm::Expected<const KnownContract &> known =
      lookupContract(op.getDefinition());
  if (!known)
    return emitLines(op, llvm::toString(known.takeError()));
  return known->contract;
}

static FailureOr<std::vector<TranslatedKernel>>
collectKernels(EngineOp engine, const Catalog &catalog) {
  std::vector<TranslatedKernel> kernels;
  for (auto object : engine.getBody().getOps<CodeObjectOp>())
    for (auto kernel : object.getBody().getOps<KernelOp>()) {
      FailureOr<Contract> contract = getContract(kernel);
      if (failed(contract))
        return failure();
      TacticAttr attribute = kernel.getTactic();
      const Tactic *tactic = catalog.findTactic(attribute.getName().getValue());
      if (!tactic)
        return kernel.emitError() << "the catalogue of " << catalog.getTarget()
                                  << " has no tactic " << attribute.getName();
      if (tactic->maturity == Maturity::Rejected)
        return kernel.emitError()
               << "expected a tactic that may be taken, found "
               << attribute.getName()
               << ", which is rejected; name another or let selection choose";
      std::map<std::string, int64_t> options;
      for (NamedAttribute option : attribute.getOptions())
        options[option.getName().str()] =
            cast<IntegerAttr>(option.getValue()).getInt();
      llvm::Expected<Instance> instance =
          instantiate(*tactic, contract->problem, options);
      if (!instance)
        return emitLines(kernel, llvm::toString(instance.takeError()));
      if (std::string id = instance->contract.id();
          id != attribute.getContract().getValue())
        return kernel.emitError()
               << "expected contract " << attribute.getContract()
               << ", found that tactic " << tactic->name
               << " of this catalogue gives " << id
               << "; compile the module with this catalogue";
      if (instance->symbol != kernel.getSymName())
        return kernel.emitError()
               << "expected the symbol " << instance->symbol << " of tactic "
               << tactic->name << ", found " << kernel.getSymName();
      kernels.push_back({kernel, std::move(*instance), std::nullopt});
    }
  return kernels;
}

namespace {

/// What a translation starts from.
struct TranslationInput {
  EngineOp engine;
  Catalog catalog;
  std::vector<TranslatedKernel> kernels; // of tactics of the catalogue
  KernelBuilder builder;
};

} // namespace

static FailureOr<TranslationInput>
readInput(ModuleOp module, const TranslationOptions &options) {
  FailureOr<EngineOp> engine = findEngine(module);
  if (failed(engine))
    return failure();
  StringRef architecture = engine->getTarget().getArchitecture();
  llvm::Expected<Catalog> catalog =
      Catalog::load(options.libraryRoot, architecture);
  if (!catalog)
    return emitLines(*engine, llvm::toString(catalog.takeError()));
  FailureOr<std::vector<TranslatedKernel>> kernels =
      collectKernels(*engine, *catalog);
  if (failed(kernels))
    return failure();
  llvm::Expected<KernelBuilder> builder = KernelBuilder::create(
      options.libraryRoot, architecture, options.goldenRoot, options.cache);
  if (!builder)
    return emitLines(*engine, llvm::toString(builder.takeError()));
  return TranslationInput{*engine, std::move(*catalog), std::move(*kernels),
                          std::move(*builder)};
}

/// Sources and reports go by symbol, so one symbol is one machine code:
/// `haveOneCode` says whether two kernels of one symbol have. Calls `visit` for
/// the first kernel of each symbol.
static LogicalResult checkSymbols(
    llvm::ArrayRef<TranslatedKernel> kernels,
    llvm::function_ref<bool(const TranslatedKernel &, const TranslatedKernel &)>
        haveOneCode,
    llvm::function_ref<void(const TranslatedKernel &)> visit =
        [](const TranslatedKernel &) {}) {
  llvm::StringMap<const TranslatedKernel *> bySymbol;
  for (const TranslatedKernel &kernel : kernels) {
    const Instance &instance = kernel.instance;
    auto [known, isNew] = bySymbol.try_emplace(instance.symbol, &kernel);
    if (isNew)
      visit(kernel);
    if (isNew || haveOneCode(*known->second, kernel))
      continue;
    const Instance &other = known->second->instance;
    InFlightDiagnostic diag = kernel.op->emitError();
    diag << "expected one machine code for symbol " << instance.symbol
         << " of tactic " << instance.tactic->name << ", found two, for";
    for (const auto &[name, value] : instance.constants)
      if (auto found = other.constants.find(name);
          found != other.constants.end() && found->second != value)
        diag << " " << name << "=" << found->second << " and " << value << ",";
    return diag << " which \"symbol\" of " << instance.tactic->manifestPath
                << " must tell apart";
  }
  return success();
}

FailureOr<std::vector<KernelSource>>
netra::translateToAssembly(ModuleOp module, const TranslationOptions &options) {
  FailureOr<TranslationInput> input = readInput(module, options);
  if (failed(input))
    return failure();
  const Assembler &assembler = input->builder.getAssembler();
  // A source that does not assemble is shown as well, and is like no other.
  auto code = [&](const TranslatedKernel &kernel) {
    llvm::Expected<std::vector<uint8_t>> bytes =
        assembler.assembleCode(kernel.instance);
    if (bytes)
      return std::string(bytes->begin(), bytes->end());
    llvm::consumeError(bytes.takeError());
    return assembler.instanceSource(kernel.instance);
  };
  auto haveOneCode = [&](const TranslatedKernel &lhs,
                         const TranslatedKernel &rhs) {
    return lhs.instance.tactic->golden || rhs.instance.tactic->golden
               ? lhs.instance.tactic == rhs.instance.tactic
               : code(lhs) == code(rhs);
  };
  std::vector<KernelSource> sources;
  auto addSource = [&](const TranslatedKernel &kernel) {
    const std::optional<GoldenCode> &golden = kernel.instance.tactic->golden;
    sources.push_back({kernel.instance.symbol,
                       golden ? "// " + kernel.instance.symbol +
                                    " is golden code: " + golden->file +
                                    ", SHA-256 " + golden->sha256 + "\n"
                              : assembler.instanceSource(kernel.instance)});
  };
  if (failed(checkSymbols(input->kernels, haveOneCode, addSource)))
    return failure();
  return sources;
}

/// Makes the code of all kernels, several at a time. Errors are emitted in the
/// order of the kernels.
static LogicalResult buildKernels(std::vector<TranslatedKernel> &kernels,
                                  const KernelBuilder &builder,
                                  const TranslationOptions &options) {
  std::vector<const Instance *> instances;
  for (const TranslatedKernel &kernel : kernels)
    instances.push_back(&kernel.instance);
  std::vector<KernelBuilder::Result> results =
      builder.buildAll(instances, options.threads, options.progress);
  LogicalResult status = success();
  for (auto [kernel, result] : llvm::zip_equal(kernels, results)) {
    if (!result.kernel)
      status = emitLines(kernel.op, result.error);
    kernel.assembled = std::move(result.kernel);
  }
  return status;
}

//===----------------------------------------------------------------------===//
// The description of an engine
//===----------------------------------------------------------------------===//

namespace {

/// Turns the operations of one engine into the values of Bundle.h.
class Describer {
public:
  explicit Describer(EngineOp engine) : op(engine) {}

  FailureOr<Engine> run() {
    result.name = op.getSymName().str();
    result.architecture = op.getTarget().getArchitecture().str();
    const TargetInfo *info = findTarget(result.architecture);
    if (!info)
      return op.emitError() << "unknown target " << result.architecture;
    result.waveSize = info->waveSize;
    result.codeObjectVersion = info->codeObjectVersion;
    if (failed(describeCodeObjects()) || failed(describeBindings()) ||
        failed(describeWeights()))
      return failure();
    for (auto plan : op.getBody().getOps<PlanOp>())
      if (failed(describePlan(plan)))
        return failure();
    llvm::Expected<std::vector<GuardBox>> domain =
        domainFromAttr(op.getDomainAttr());
    if (!domain)
      return op.emitError() << llvm::toString(domain.takeError());
    result.domain = std::move(*domain);
    llvm::Expected<DecisionTable> decisions = decidePlans(result);
    if (!decisions)
      return emitLines(op, llvm::toString(decisions.takeError()));
    result.decisions = std::move(*decisions);
    return std::move(result);
  }

private:
  LogicalResult describeCodeObjects() {
    for (auto object : op.getBody().getOps<CodeObjectOp>()) {
      EngineCodeObject entry;
      entry.name = object.getSymName().str();
      entry.textSha256 = object.getTextSha256().value_or("").str();
      for (auto kernel : object.getBody().getOps<KernelOp>()) {
        FailureOr<Contract> contract = getContract(kernel);
        if (failed(contract))
          return failure();
        kernelIndex[SymbolRefAttr::get(object.getSymNameAttr(),
                                       FlatSymbolRefAttr::get(kernel))] = {
            result.codeObjects.size(), entry.kernels.size()};
        EngineKernel description;
        description.symbol = kernel.getSymName().str();
        description.kernargBytes = contract->kernargBytes;
        description.staticLds = contract->staticLds;
        if (!contract->problem.varying.empty())
          varying[{result.codeObjects.size(), entry.kernels.size()}] =
              *contract;
        for (const Argument &argument : contract->arguments)
          description.arguments.push_back({argument.name, argument.offset,
                                           argument.bytes, argument.kind,
                                           argument.type, argument.access});
        entry.kernels.push_back(std::move(description));
      }
      result.codeObjects.push_back(std::move(entry));
    }
    return success();
  }

  /// Type, shape, layout and size of a tensor.
  template <typename T>
  LogicalResult describeType(Operation *at, RankedTensorType type, T &entry,
                             uint64_t &size) {
    std::optional<ElementType> element = getElementType(type.getElementType());
    std::optional<int64_t> bytes = getTensorBytes(type);
    if (!element || !bytes)
      return at->emitError()
             << "expected a tensor of known size, found " << type;
    entry.type = *element;
    entry.shape.assign(type.getShape().begin(), type.getShape().end());
    entry.layout = getLayoutSpelling(type);
    size = uint64_t(*bytes);
    return success();
  }

  LogicalResult describeBindings() {
    for (auto binding : op.getBody().getOps<BindingOp>()) {
      EngineBinding entry;
      entry.name = binding.getSymName().str();
      switch (binding.getKind()) {
      case BindingKind::Input:
        entry.role = BindingRole::Input;
        break;
      case BindingKind::Output:
        entry.role = BindingRole::Output;
        break;
      case BindingKind::State:
        entry.role = BindingRole::State;
        break;
      }
      entry.index = uint64_t(binding.getIndex());
      if (failed(describeType(binding, binding.getTensorType(), entry,
                              entry.bytes)))
        return failure();
      bindingIndex[entry.name] = result.bindings.size();
      result.bindings.push_back(std::move(entry));
    }
    return success();
  }

  LogicalResult describeWeights() {
    WeightsOp weights = op.getWeights();
    if (!weights)
      return success();
    result.weights.bytes = uint64_t(weights.getBytes());
    result.weights.alignment = uint64_t(weights.getAlignment());
    for (auto weight : weights.getBody().getOps<WeightOp>()) {
      EngineWeight entry;
      entry.name = weight.getSymName().str();
      entry.offset = uint64_t(weight.getOffset());
      if (failed(describeType(weight, weight.getTensorType(), entry,
                              entry.bytes)) ||
          failed(describePack(weight, weight.getPack(), entry.pack)))
        return failure();
      weightIndex[entry.name] = result.weights.entries.size();
      result.weights.entries.push_back(std::move(entry));
    }
    return success();
  }

  LogicalResult describePack(Operation *at, PackAttr pack, PackRecipe &recipe) {
    recipe.concatAxis = pack.getAxis();
    for (Attribute attribute : pack.getSources()) {
      auto source = dyn_cast<PackSourceAttr>(attribute);
      std::optional<ElementType> element =
          source ? getElementType(source.getType().getElementType())
                 : std::nullopt;
      if (!element)
        return at->emitError()
               << "expected a tensor of the checkpoint, found " << attribute;
      recipe.sources.push_back(
          {source.getCheckpoint().str(), *element,
           std::vector<int64_t>(source.getType().getShape())});
    }
    for (Attribute step : pack.getSteps()) {
      if (auto layout = dyn_cast<LayoutAttr>(step)) {
        recipe.steps.push_back(PackStep::makeLayout(layout.getSpelling()));
        continue;
      }
      if (auto reorder = dyn_cast<PackReorderAttr>(step)) {
        std::string layout = reorder.getLayout().getSpelling();
        recipe.steps.push_back(reorder.getInverse()
                                   ? PackStep::makeRestore(layout)
                                   : PackStep::makeReorder(layout));
        continue;
      }
      if (auto shape = dyn_cast<DenseI64ArrayAttr>(step)) {
        recipe.steps.push_back(PackStep::makeReshape(shape.asArrayRef().vec()));
        continue;
      }
      std::optional<ElementType> element =
          getElementType(cast<TypeAttr>(step).getValue());
      if (!element)
        return at->emitError() << "expected an element type, found " << step;
      recipe.steps.push_back(PackStep::makeCast(*element));
    }
    return success();
  }

  LogicalResult describePlan(PlanOp plan) {
    EnginePlan entry;
    entry.name = plan.getSymName().str();
    entry.arenaBytes = uint64_t(plan.getArena());
    entry.arenaAlignment = uint64_t(plan.getAlignment());
    auto profile = SymbolTable::lookupNearestSymbolFrom<ProfileOp>(
        op->getParentOp(), plan.getProfileAttr());
    if (!profile)
      return plan.emitError() << "expected " << plan.getProfileAttr()
                              << " to be a profile beside the engine";
    entry.profile = {profile.getSymName().str(), int64_t(profile.getPriority()),
                     getGuards(profile)};

    if (std::optional<ArrayAttr> bindings = plan.getBindings())
      for (auto symbol : bindings->getAsRange<FlatSymbolRefAttr>())
        entry.bindings.push_back(bindingIndex.lookup(symbol.getValue()));
    else
      for (size_t i = 0; i < result.bindings.size(); ++i)
        entry.bindings.push_back(i);

    entry.steps.reserve(plan.getBody().front().getOperations().size());
    for (Operation &step : plan.getBody().front()) {
      LogicalResult status = success();
      if (auto launch = dyn_cast<LaunchOp>(step))
        status = describeLaunch(launch, entry.steps.emplace_back());
      else
        status = describeFallback(cast<FallbackStepOp>(step),
                                  entry.steps.emplace_back());
      if (failed(status))
        return failure();
    }
    result.plans.push_back(std::move(entry));
    return success();
  }

  LogicalResult describeLaunch(LaunchOp launch, EngineStep &step) {
    step.kind = EngineStep::Kind::Launch;
    step.name = launch.getName().str();
    step.operation = launch.getOpName().str();
    step.tactic = launch.getTactic().str();
    step.contract = launch.getContract().str();
    step.after.assign(launch.getAfter().begin(), launch.getAfter().end());
    auto kernel = kernelIndex.find(launch.getKernelAttr());
    if (kernel == kernelIndex.end())
      return launch.emitError()
             << "expected " << launch.getKernel() << " to be a kernel";
    std::tie(step.codeObject, step.kernel) = kernel->second;
    for (unsigned i = 0; i < 3; ++i) {
      step.grid[i] = uint64_t(launch.getGrid()[i]);
      step.block[i] = uint64_t(launch.getBlock()[i]);
    }
    // A launch states the greatest of what its contract makes of the serving
    // point.
    auto varies = varying.find(kernel->second);
    const Contract *contract =
        varies == varying.end() ? nullptr : &varies->second;
    if (contract) {
      std::array<uint32_t, 3> greatest = contract->greatestGrid();
      if (!llvm::equal(launch.getGrid(), greatest))
        return launch.emitError()
               << "expected the greatest grid of contract "
               << launch.getContractAttr() << ", " << greatest[0] << ", "
               << greatest[1] << ", " << greatest[2];
      step.grid = contract->grid;
    }
    step.dynamicLds = uint64_t(launch.getDynamicLds());
    const auto &expected =
        result.codeObjects[step.codeObject].kernels[step.kernel].arguments;
    if (launch.getArgs().size() != expected.size())
      return launch.emitError()
             << "expected " << expected.size() << " arguments of "
             << launch.getKernel() << ", found " << launch.getArgs().size();
    for (auto [attribute, argument] :
         llvm::zip_equal(launch.getArgs().getAsRange<ArgAttr>(), expected)) {
      EngineSlot slot = describeSlot(attribute);
      // The contract knows whether 32 bits are signed; the builtin type of a
      // number in IR does not say.
      if (slot.kind == EngineSlot::Kind::Value) {
        slot.type = argument.type;
        if (contract)
          slot.follows = contract->arguments[step.arguments.size()].follows;
      }
      step.arguments.push_back(std::move(slot));
    }
    return success();
  }

  LogicalResult describeFallback(FallbackStepOp fallback, EngineStep &step) {
    step.kind = EngineStep::Kind::Fallback;
    step.name = fallback.getName().str();
    step.operation = fallback.getOpName().str();
    step.reason = fallback.getReason().str();
    step.after.assign(fallback.getAfter().begin(), fallback.getAfter().end());
    step.family = fallback.getFamily().value_or("").str();
    if (DictionaryAttr settings = fallback.getSettingsAttr())
      for (NamedAttribute setting : settings)
        step.attributes[setting.getName().str()] =
            describeSetting(setting.getValue());
    auto types = fallback.getTypes().getAsRange<TypeAttr>().begin();
    auto describe = [&](ArrayAttr slots, ArrayAttr names, StringRef kind,
                        std::vector<EngineOperand> &operands) {
      for (auto [index, slot] : llvm::enumerate(slots.getAsRange<ArgAttr>())) {
        EngineOperand operand;
        operand.name = names ? cast<StringAttr>(names[index]).str()
                             : (kind + Twine(index)).str();
        operand.slot = describeSlot(slot);
        auto type = cast<RankedTensorType>((*types++).getValue());
        if (failed(describeType(fallback, type, operand, operand.slot.bytes)))
          return failure();
        operands.push_back(std::move(operand));
      }
      return success();
    };
    if (failed(describe(fallback.getInputs(), fallback.getOperandNamesAttr(),
                        "input", step.inputs)) ||
        failed(describe(fallback.getOutputs(), fallback.getResultNamesAttr(),
                        "output", step.outputs)))
      return failure();
    for (auto [output, input] :
         llvm::enumerate(fallback.getUpdates().value_or(ArrayRef<int64_t>())))
      if (input >= 0)
        step.outputs[output].updates = uint64_t(input);
    return success();
  }

  static AttributeValue describeSetting(Attribute value) {
    if (auto flag = dyn_cast<BoolAttr>(value))
      return flag.getValue();
    if (auto number = dyn_cast<IntegerAttr>(value))
      return number.getInt();
    if (auto number = dyn_cast<FloatAttr>(value))
      return number.getValueAsDouble();
    return cast<StringAttr>(value).str();
  }

  EngineSlot describeSlot(ArgAttr slot) {
    uint64_t offset = uint64_t(slot.getOffset());
    uint64_t bytes = uint64_t(slot.getBytes());
    switch (slot.getKind()) {
    case SlotKind::Binding:
      return EngineSlot::binding(
          bindingIndex.lookup(slot.getSymbol().getValue()), offset, bytes);
    case SlotKind::Weight:
      return EngineSlot::weight(weightIndex.lookup(slot.getSymbol().getValue()),
                                offset, bytes);
    case SlotKind::Arena:
      return EngineSlot::arena(offset, bytes);
    case SlotKind::Value:
      return EngineSlot::value(
          getElementType(slot.getValue().getType()).value_or(ElementType::I32),
          slot.getBits());
    case SlotKind::Null:
      return EngineSlot::null();
    }
    return EngineSlot::null();
  }

  EngineOp op;
  Engine result;
  DenseMap<Attribute, std::pair<uint64_t, uint64_t>> kernelIndex;
  /// By kernel index: the contracts of kernels whose launches follow the
  /// serving point.
  std::map<std::pair<uint64_t, uint64_t>, Contract> varying;
  llvm::StringMap<uint64_t> bindingIndex, weightIndex;
};

} // namespace

FailureOr<Engine> netra::describeEngine(ModuleOp module) {
  FailureOr<EngineOp> engine = findEngine(module);
  if (failed(engine))
    return failure();
  return Describer(*engine).run();
}

//===----------------------------------------------------------------------===//
// The bundle
//===----------------------------------------------------------------------===//

std::string netra::printEngineModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << "\n";
  return text;
}

/// Adds what the assembled kernels know to the description, and their files;
/// golden code with `lockGoldens` by its hash alone.
static LogicalResult addCode(EngineBundle &bundle,
                             std::vector<TranslatedKernel> &kernels,
                             bool lockGoldens) {
  std::map<std::pair<StringRef, StringRef>, const TranslatedKernel *> bySymbol;
  for (TranslatedKernel &kernel : kernels)
    bySymbol[{kernel.op->getParentOfType<CodeObjectOp>().getSymName(),
              kernel.op.getSymName()}] = &kernel;

  for (EngineCodeObject &object : bundle.engine.codeObjects) {
    for (EngineKernel &description : object.kernels) {
      const TranslatedKernel &kernel =
          *bySymbol.at({object.name, description.symbol});
      const CodeObject &code = kernel.assembled->object;
      object.sha256 = code.sha256;
      object.textSha256 = code.textSha256;
      const std::optional<GoldenCode> &golden = kernel.instance.tactic->golden;
      const bool isLocked = golden && lockGoldens;
      StringRef text = StringRef(code.textSha256).take_front(16);
      object.path = ("code/" + text + ".hsaco").str();
      if (isLocked) {
        object.path = golden->file;
        object.lockedBytes = golden->bytes;
      } else {
        std::string bytes(code.bytes.begin(), code.bytes.end());
        auto [file, isNew] = bundle.files.insert({object.path, bytes});
        // Golden code that is equal to other code and keeps its bytes.
        if (!isNew && file->second != bytes) {
          object.path = ("code/" + text + "-" +
                         StringRef(code.sha256).take_front(16) + ".hsaco")
                            .str();
          bundle.files.insert({object.path, bytes});
        }
      }
      const KernelMetadata *metadata = code.find(description.symbol);
      if (!metadata)
        return kernel.op->emitError()
               << "the code object has no kernel of this name";
      description.vgprs = metadata->vgprs;
      description.agprs = metadata->agprs;
      description.sgprs = metadata->sgprs;
      description.maxWorkgroup = metadata->maxWorkgroup;
      if (golden)
        continue; // there is no source
      bundle.files[("source/" + Twine(description.symbol) + ".s").str()] =
          kernel.assembled->source;
      for (const SourceFile &source : kernel.assembled->closure)
        bundle.files[("source/" + Twine(source.path)).str()] = source.text;
    }
  }
  return success();
}

/// Refuses symbols without a name, the module's among them: they have no
/// spelling, so that engine.mlir could not be read back.
static LogicalResult checkSymbolNames(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    auto name = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (!name || !name.empty())
      return WalkResult::advance();
    op->emitError()
        << "expected a name that is not empty, found @\"\"; give it "
           "one"
        << (isa<ModuleOp>(op) ? " or leave it out" : "");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

FailureOr<EngineBundle>
netra::translateToBundle(ModuleOp module, const TranslationOptions &options) {
  if (failed(checkSymbolNames(module)))
    return failure();
  FailureOr<TranslationInput> input = readInput(module, options);
  if (failed(input))
    return failure();
  EngineOp engine = input->engine;
  const KernelBuilder &builder = input->builder;
  std::vector<TranslatedKernel> &kernels = input->kernels;
  auto haveOneCode = [](const TranslatedKernel &lhs,
                        const TranslatedKernel &rhs) {
    const CodeObject &left = lhs.assembled->object;
    const CodeObject &right = rhs.assembled->object;
    // The bytes around golden code are somebody else's.
    return lhs.instance.tactic->golden || rhs.instance.tactic->golden
               ? left.textSha256 == right.textSha256
               : left.sha256 == right.sha256;
  };
  if (failed(buildKernels(kernels, builder, options)) ||
      failed(checkSymbols(kernels, haveOneCode)))
    return failure();
  std::vector<SharingKernel> sharing;
  for (TranslatedKernel &kernel : kernels)
    sharing.push_back({&kernel.instance, &*kernel.assembled});
  if (llvm::Error error = shareCode(sharing, builder.getAssembler()))
    return emitLines(engine, llvm::toString(std::move(error)));

  for (const TranslatedKernel &kernel : kernels) {
    auto object = kernel.op->getParentOfType<CodeObjectOp>();
    StringRef hash = kernel.assembled->object.textSha256;
    if (std::optional<StringRef> known = object.getTextSha256();
        known && *known != hash)
      return object.emitError()
             << "expected machine code with the hash " << *known
             << ", found that "
             << (kernel.instance.tactic->golden ? "the golden code object has "
                                                : "the templates give ")
             << hash << "; compile the module with these templates";
    object.setTextSha256(hash);
  }

  EngineBundle bundle;
  FailureOr<Engine> description = Describer(engine).run();
  if (failed(description))
    return failure();
  bundle.engine = std::move(*description);
  if (failed(addCode(bundle, kernels, options.lockGoldens)))
    return failure();
  bundle.files["engine.mlir"] = printEngineModule(module);
  AssembledInstructions counter(builder);
  bool byRank = module->hasAttr(NetraDialect::getSelectedByRankAttrName());
  addReports(bundle.files, bundle.engine, kernels, input->catalog, options,
             builder.getAssembler(), byRank ? nullptr : &counter);

  std::vector<BundleFinding> findings = verifyEngine(bundle.engine);
  for (const BundleFinding &finding : findings)
    engine.emitError() << "the engine is inconsistent: " << finding.str();
  if (!findings.empty())
    return failure();
  return bundle;
}
