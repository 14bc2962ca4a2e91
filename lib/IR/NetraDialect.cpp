//===- NetraDialect.cpp - The netra dialect -------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/NetraDialect.h"

#include "ContractTable.h"
#include "Netra/IR/Varying.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace netra;

#include "Netra/IR/NetraDialect.cpp.inc"

void NetraDialect::initialize() {
  addInterfaces<ContractTable>();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "Netra/IR/NetraOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Netra/IR/NetraNormOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Netra/IR/NetraMoeOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Netra/IR/NetraVocabularyOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Netra/IR/NetraEngineOps.cpp.inc"
      >();
}

Operation *NetraDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

static LogicalResult verifyProfileReference(Operation *op, Attribute value) {
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError("'netra.profile' is an attribute of functions");
  auto symbol = dyn_cast<FlatSymbolRefAttr>(value);
  if (!symbol)
    return op->emitOpError("'netra.profile' must be a symbol, but is ")
           << value;
  if (!SymbolTable::lookupNearestSymbolFrom<ProfileOp>(op, symbol))
    return op->emitOpError("'netra.profile' names ")
           << symbol << ", which is not a 'netra.profile'";
  return success();
}

static LogicalResult verifyTactic(Operation *op, Attribute value) {
  if (!isa<TacticAttr>(value))
    return op->emitOpError("'netra.tactic' must be a #netra.tactic, but is ")
           << value;
  if (!isa<TacticOpInterface>(op))
    return op->emitOpError(
        "'netra.tactic' is an attribute of operations that a tactic can "
        "implement");
  return success();
}

static LogicalResult verifyPlaces(Operation *op, Attribute value) {
  auto places = dyn_cast<ArrayAttr>(value);
  if (!places)
    return op->emitOpError("'netra.place' must be an array, but is ") << value;
  if (places.size() != op->getNumResults())
    return op->emitOpError("'netra.place' must have one place per result: "
                           "expected ")
           << op->getNumResults() << ", found " << places.size();
  for (auto [index, element] : llvm::enumerate(places)) {
    auto place = dyn_cast<PlaceAttr>(element);
    if (!place)
      return op->emitOpError("'netra.place' must hold #netra.place, but "
                             "element ")
             << index << " is " << element;
    auto type = dyn_cast<RankedTensorType>(op->getResult(index).getType());
    std::optional<int64_t> bytes =
        type ? getTensorBytes(type) : std::optional<int64_t>();
    if (bytes && *bytes != place.getBytes())
      return op->emitOpError("'netra.place' of result ")
             << index << ": expected " << *bytes << " bytes for " << type
             << ", found " << place.getBytes();
    std::optional<unsigned> operand = place.getOverwrittenOperand();
    if (operand && *operand >= op->getNumOperands())
      return op->emitOpError("'netra.place' of result ")
             << index << " overwrites operand " << *operand
             << ", but there are only " << op->getNumOperands();
  }
  return success();
}

static LogicalResult verifyVarying(Operation *op, Attribute value) {
  Problem problem;
  if (isa<TacticOpInterface>(op) && succeeded(varyingFromAttr(value, problem)))
    return success();
  return op->emitOpError(
             "'netra.varying' must tell of an operation that a tactic can "
             "implement which 'dimensions' follow which 'guards', but is ")
         << value;
}

LogicalResult NetraDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == getProfileAttrName())
    return verifyProfileReference(op, attribute.getValue());
  if (name == getTacticAttrName())
    return verifyTactic(op, attribute.getValue());
  if (name == getPlaceAttrName())
    return verifyPlaces(op, attribute.getValue());
  if (name == kVaryingAttrName)
    return verifyVarying(op, attribute.getValue());
  if (name == getSelectedByRankAttrName()) {
    if (isa<ModuleOp>(op) && isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitOpError("'netra.selected_by_rank' is an attribute of "
                           "modules, without a value");
  }
  return op->emitOpError("unknown attribute '")
         << name
         << "': operations may have 'netra.profile', 'netra.tactic', "
            "'netra.place', 'netra.varying' and 'netra.selected_by_rank'";
}

/// Checks 'netra.name' and 'netra.state', which arguments and results share.
static LogicalResult verifyBindingAttribute(Operation *op, StringRef where,
                                            unsigned index,
                                            NamedAttribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  if (!text || text.empty())
    return op->emitOpError()
           << "'" << attribute.getName().strref() << "' of " << where << " "
           << index << " must be a string that is not empty, but is "
           << attribute.getValue();
  return success();
}

static LogicalResult verifyDims(Operation *op, unsigned index,
                                Attribute value) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto type =
      function ? dyn_cast<RankedTensorType>(function.getArgumentTypes()[index])
               : RankedTensorType();
  if (!type)
    return op->emitOpError("'netra.dims' of argument ")
           << index << " is an attribute of tensors";
  auto dims = dyn_cast<ArrayAttr>(value);
  if (!dims || !llvm::all_of(dims, llvm::IsaPred<StringAttr>))
    return op->emitOpError("'netra.dims' of argument ")
           << index << " must be an array of strings, but is " << value;
  if (static_cast<int64_t>(dims.size()) != type.getRank())
    return op->emitOpError("'netra.dims' of argument ")
           << index << " must name each dimension: expected " << type.getRank()
           << ", found " << dims.size();
  for (auto [dim, element] : llvm::enumerate(dims.getAsRange<StringAttr>())) {
    int64_t extent = 0;
    bool isNumber = !element.getValue().getAsInteger(10, extent);
    bool isName = !element.empty() &&
                  !llvm::isDigit(element.getValue().front()) &&
                  element.getValue().front() != '-';
    if (!isNumber && !isName)
      return op->emitOpError("'netra.dims' of argument ")
             << index << " must hold names and numbers, but element " << dim
             << " is " << element;
    if (isNumber && extent != type.getDimSize(dim))
      return op->emitOpError("'netra.dims' of argument ")
             << index << " says that dimension " << dim << " is " << extent
             << ", but the type is " << type;
  }
  return success();
}

LogicalResult NetraDialect::verifyRegionArgAttribute(Operation *op,
                                                     unsigned regionIndex,
                                                     unsigned argIndex,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == getDimsAttrName())
    return verifyDims(op, argIndex, attribute.getValue());
  if (name == getNameAttrName() || name == getStateAttrName())
    return verifyBindingAttribute(op, "argument", argIndex, attribute);
  return op->emitOpError("unknown attribute '")
         << name << "' of argument " << argIndex
         << ": arguments may have 'netra.dims', 'netra.name' and "
            "'netra.state'";
}

LogicalResult
NetraDialect::verifyRegionResultAttribute(Operation *op, unsigned regionIndex,
                                          unsigned resultIndex,
                                          NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == getNameAttrName() || name == getStateAttrName())
    return verifyBindingAttribute(op, "result", resultIndex, attribute);
  return op->emitOpError("unknown attribute '")
         << name << "' of result " << resultIndex
         << ": results may have 'netra.name' and 'netra.state'";
}
