//===- CatalogAccess.cpp - The catalogue as passes see it -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CatalogAccess.h"

#include "Netra/IR/NetraOps.h"

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

FailureOr<Catalog> netra::loadCatalog(Operation *op, StringRef libraryRoot,
                                      StringRef target) {
  std::string root = Catalog::findLibraryRoot(libraryRoot);
  llvm::Expected<Catalog> catalog = Catalog::load(root, target);
  if (!catalog)
    return emitErrors(op, catalog.takeError());
  return std::move(*catalog);
}

Problem netra::inLayoutsOf(const Tactic &tactic, const Problem &problem,
                           StringRef role) {
  Problem result = problem;
  for (OperandSpec &operand : result.operands) {
    if (!role.empty() && operand.role != role)
      continue;
    auto match = tactic.operands.find(operand.role);
    if (match == tactic.operands.end() || match->second.layouts.empty() ||
        llvm::is_contained(match->second.layouts, operand.layout))
      continue;
    operand.layout = match->second.layouts.front();
  }
  return result;
}

FailureOr<Instance> netra::getInstance(Operation *op, const Catalog &catalog) {
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
      instantiate(*tactic, tacticOp.getProblem(), options);
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
  OperationKey key = {op->getName().getAsOpaquePointer(),
                      op->getPropertiesAsAttribute().getAsOpaquePointer()};
  for (Type type : op->getOperandTypes())
    key.push_back(type.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    key.push_back(type.getAsOpaquePointer());
  return key;
}

FailureOr<const Instance *> InstanceMemo::get(Operation *op) {
  OperationKey key = getOperationKey(op);
  key.push_back(
      op->getAttr(NetraDialect::getTacticAttrName()).getAsOpaquePointer());
  std::unique_ptr<Instance> &instance = known[key];
  if (!instance) {
    FailureOr<Instance> found = getInstance(op, catalog);
    if (failed(found))
      return failure();
    instance = std::make_unique<Instance>(std::move(*found));
  }
  return instance.get();
}

bool netra::isStep(Operation *op) {
  return isa<TacticOpInterface, FallbackOp>(op);
}

bool netra::isValid(Operation *op) {
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  return succeeded(verify(op, /*verifyRecursively=*/false));
}
