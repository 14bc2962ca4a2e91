//===- NetraPlanningOps.cpp - Verifiers of fallbacks, profiles and arenas -===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/NetraOps.h"

#include "Fallback.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace netra;

void FallbackOp::build(OpBuilder &builder, OperationState &state,
                       TypeRange outputs, StringRef operation,
                       ValueRange inputs, StringRef reason) {
  build(builder, state, outputs, builder.getStringAttr(operation), inputs,
        builder.getStringAttr(reason), ArrayAttr(), ArrayAttr(),
        DenseI64ArrayAttr(), DictionaryAttr(), StringAttr());
}

std::optional<unsigned> FallbackOp::getUpdatedOperand(unsigned number) {
  std::optional<ArrayRef<int64_t>> updates = getUpdates();
  if (!updates || (*updates)[number] < 0)
    return std::nullopt;
  return unsigned((*updates)[number]);
}

LogicalResult netra::verifyFallbackUpdates(Operation *op, StringRef constraint,
                                           DenseI64ArrayAttr updates,
                                           ArrayRef<Type> inputs,
                                           ArrayRef<Type> outputs) {
  if (!updates)
    return success();
  if (size_t(updates.size()) != outputs.size())
    return op->emitOpError()
           << constraint << ": 'updates' must hold " << outputs.size()
           << " numbers, found " << updates.size();
  llvm::SmallDenseSet<int64_t> seen;
  for (auto [number, operand] : llvm::enumerate(updates.asArrayRef())) {
    if (operand == -1)
      continue;
    if (operand < -1 || operand >= int64_t(inputs.size()))
      return op->emitOpError()
             << constraint
             << ": 'updates' must hold -1 or numbers of operands, found "
             << operand;
    if (!seen.insert(operand).second)
      return op->emitOpError() << constraint << ": operand #" << operand
                               << " is updated by two results";
    if (outputs[number] != inputs[operand])
      return op->emitOpError()
             << constraint << ": result #" << number << " must have the type "
             << inputs[operand] << " of operand #" << operand
             << ", which it updates, found " << outputs[number];
  }
  return success();
}

LogicalResult netra::verifyFallbackSettings(Operation *op, StringRef constraint,
                                            DictionaryAttr settings) {
  for (NamedAttribute setting :
       settings ? settings.getValue() : ArrayRef<NamedAttribute>()) {
    Attribute value = setting.getValue();
    auto number = dyn_cast<TypedAttr>(value);
    if (!isa<BoolAttr, StringAttr>(value) &&
        !(isa<IntegerAttr>(value) && number.getType().isInteger(64)) &&
        !(isa<FloatAttr>(value) && number.getType().isF64()))
      return op->emitOpError()
             << constraint << ": setting '" << setting.getName().getValue()
             << "' must be a boolean, a 64-bit integer, an f64 or a string, "
                "found "
             << value;
  }
  return success();
}

LogicalResult netra::verifyFallbackNames(Operation *op, StringRef constraint,
                                         StringRef attribute, ArrayAttr names,
                                         size_t expected) {
  if (!names)
    return success();
  llvm::StringSet<> seen;
  for (StringAttr name : names.getAsRange<StringAttr>())
    if (name.empty() || !seen.insert(name.getValue()).second)
      return op->emitOpError()
             << constraint << ": '" << attribute
             << "' must hold distinct names that are not empty, found " << name;
  if (names.size() != expected)
    return op->emitOpError()
           << constraint << ": '" << attribute << "' must hold " << expected
           << " names, found " << names.size();
  return success();
}

LogicalResult FallbackOp::verify() {
  if (getOpName().empty() || getReason().empty() ||
      getFamily().value_or("family").empty())
    return emitOpError("C1: the operation and the reason must not be empty, "
                       "nor a family");
  if (failed(verifyFallbackNames(*this, "C2", "operand_names",
                                 getOperandNamesAttr(), getInputs().size())) ||
      failed(verifyFallbackNames(*this, "C2", "result_names",
                                 getResultNamesAttr(), getOutputs().size())) ||
      failed(verifyFallbackUpdates(*this, "C3", getUpdatesAttr(),
                                   SmallVector<Type>(getInputs().getTypes()),
                                   SmallVector<Type>(getOutputs().getTypes()))))
    return failure();
  return verifyFallbackSettings(*this, "C4", getSettingsAttr());
}

LogicalResult ProfileOp::verify() {
  std::pair<StringRef, GuardAttr> positive[] = {
      {"m", getMAttr()},
      {"batch", getBatchAttr()},
      {"routed_rows", getRoutedRowsAttr()},
      {"tensor_parallel", getTensorParallelAttr()}};
  for (auto [name, guard] : positive)
    if (guard && guard.getMin() < 1)
      return emitOpError("C1: '")
             << name << "' must start at 1 or above, found " << guard;
  return success();
}

LogicalResult ArenaOp::verify() {
  int64_t bytes = getBytesAttr().getInt();
  int64_t lowerBound = getLowerBoundAttr().getInt();
  int64_t alignment = getAlignmentAttr().getInt();
  if (lowerBound < 0 || lowerBound > bytes)
    return emitOpError(
               "C1: sizes must not be negative and the lower bound must "
               "not exceed the size, found ")
           << lowerBound << " and " << bytes;
  if (alignment < 1 || !llvm::isPowerOf2_64(alignment))
    return emitOpError("C2: the alignment must be a power of two, found ")
           << alignment;
  return success();
}

LogicalResult ArenaOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  Operation *function =
      symbolTable.lookupNearestSymbolFrom(*this, getFunctionAttr());
  if (!isa_and_present<FunctionOpInterface>(function))
    return emitOpError("C3: ") << getFunctionAttr() << " is not a function";
  for (ArenaOp other : (*this)->getBlock()->getOps<ArenaOp>()) {
    if (other == *this)
      break;
    if (other.getFunctionAttr() == getFunctionAttr())
      return emitOpError("C3: ")
             << getFunctionAttr() << " already has an arena";
  }
  return success();
}
