//===- CatalogAccess.cpp - The catalogue as passes see it -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CatalogAccess.h"

#include "Netra/IR/Varying.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace netra;

LogicalResult netra::emitErrors(Operation *op, llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  InFlightDiagnostic diag =
      op->emitError() << (lines.empty() ? "unknown error" : lines.front());
  for (StringRef line : ArrayRef<StringRef>(lines).drop_front(!lines.empty()))
    diag.attachNote() << line;
  return diag;
}

LogicalResult SharedCatalog::load(Operation *op, StringRef libraryRoot,
                                  StringRef wanted, StringRef goldenRoot) {
  if (llvm::Error error = checkGoldenRoot(goldenRoot))
    return op->emitError("golden-root: ") << llvm::toString(std::move(error));
  std::string found = Catalog::findLibraryRoot(libraryRoot);
  if (catalog && root == found && target == wanted)
    return success();
  selections.clear();
  instances.clear();
  counter.reset();
  builder.reset();
  catalog.reset();
  llvm::Expected<Catalog> loaded = Catalog::load(found, wanted);
  if (!loaded)
    return emitErrors(op, loaded.takeError());
  catalog.emplace(std::move(*loaded));
  root = std::move(found);
  target = wanted.str();
  return success();
}

bool SharedCatalog::Question::operator==(const Question &other) const {
  return options == other.options && problem == other.problem;
}

size_t SharedCatalog::Hash::operator()(const Question &question) const {
  const Problem &problem = question.problem;
  llvm::hash_code hash = llvm::hash_combine(problem.family, problem.operation,
                                            question.options.nearestMisses);
  for (const auto &[name, value] : problem.dimensions)
    hash = llvm::hash_combine(hash, name, value);
  // The order of the operands has no meaning.
  size_t operands = 0;
  for (const OperandSpec &operand : problem.operands)
    operands += llvm::hash_combine(operand.role, unsigned(operand.type),
                                   operand.layout);
  return llvm::hash_combine(hash, operands);
}

const Selection &SharedCatalog::select(const Problem &problem,
                                       const SelectOptions &options) {
  auto [entry, isNew] = selections.try_emplace(Question{problem, options});
  if (!isNew)
    return entry->second;
  if (llvm::Error error = problem.verify())
    entry->second.reason = llvm::toString(std::move(error));
  else
    entry->second = catalog->select(problem, options);
  return entry->second;
}

const InstructionCounter *SharedCatalog::getCounter(StringRef goldenRoot) {
  if (counter)
    return &*counter;
  llvm::Expected<KernelBuilder> made =
      KernelBuilder::create(root, target, goldenRoot);
  if (!made) {
    // Rank decides then; whoever needs the kernels is told what is missing.
    llvm::consumeError(made.takeError());
    return nullptr;
  }
  builder.emplace(std::move(*made));
  return &counter.emplace(*builder);
}

/// The instance that `op` names, made anew and held against the id it names.
static FailureOr<Instance> makeInstance(Operation *op, const Catalog &catalog) {
  auto attribute =
      op->getAttrOfType<TacticAttr>(NetraDialect::getTacticAttrName());
  auto tacticOp = dyn_cast<TacticOpInterface>(op);
  if (!attribute || !tacticOp)
    return op->emitError()
           << "expected a tactic; run netra-select-tactics first";
  const Tactic *tactic = catalog.findTactic(attribute.getName().getValue());
  if (!tactic)
    return op->emitError() << "the catalogue has no tactic \""
                           << attribute.getName().getValue() << "\"";
  std::map<std::string, int64_t> options;
  for (NamedAttribute option : attribute.getOptions())
    options[option.getName().str()] =
        cast<IntegerAttr>(option.getValue()).getInt();
  llvm::Expected<Instance> instance =
      instantiate(*tactic, getProblem(tacticOp), options);
  if (!instance)
    return emitErrors(op, instance.takeError());
  std::string id = instance->contract.id();
  if (id != attribute.getContract().getValue())
    return op->emitError() << "expected contract "
                           << attribute.getContract().getValue()
                           << ", found that the operation and tactic "
                           << tactic->name << " give " << id
                           << "; select tactics again";
  return std::move(*instance);
}

OperationKey netra::getOperationKey(Operation *op) {
  OperationKey key = {op->getName().getAsOpaquePointer()};
  if (int bytes = op->getPropertiesStorageSize()) {
    auto *words = op->getPropertiesStorage().as<const void *const *>();
    key.append(words, words + bytes / sizeof(void *));
  }
  for (Type type : op->getOperandTypes())
    key.push_back(type.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    key.push_back(type.getAsOpaquePointer());
  if (Attribute varying = op->getDiscardableAttr(kVaryingAttrName))
    key.push_back(varying.getAsOpaquePointer());
  return key;
}

/// The key of what an operation and its tactic make.
static OperationKey getInstanceKey(Operation *op) {
  OperationKey key = getOperationKey(op);
  key.push_back(
      op->getAttr(NetraDialect::getTacticAttrName()).getAsOpaquePointer());
  return key;
}

FailureOr<const Instance *> SharedCatalog::getInstance(Operation *op) {
  OperationKey key = getInstanceKey(op);
  auto known = instances.find(key);
  if (known == instances.end()) {
    FailureOr<Instance> made = makeInstance(op, *catalog);
    if (failed(made))
      return failure();
    known = instances.emplace(std::move(key), std::move(*made)).first;
  }
  return &known->second;
}

void SharedCatalog::addInstance(Operation *op, const Instance &instance) {
  instances.emplace(getInstanceKey(op), instance);
}

bool netra::isStep(Operation *op) {
  return isa<TacticOpInterface, FallbackOp>(op);
}

bool netra::isValid(Operation *op) {
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  return succeeded(verify(op, /*verifyRecursively=*/false));
}
