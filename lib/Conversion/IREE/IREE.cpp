//===- IREE.cpp - util, stream and flow as exports carry them -------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Conversion/IREE/IREE.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace netra::iree;

#include "Netra/Conversion/IREE/FlowDialect.cpp.inc"
#include "Netra/Conversion/IREE/HALDialect.cpp.inc"
#include "Netra/Conversion/IREE/StreamDialect.cpp.inc"
#include "Netra/Conversion/IREE/UtilDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Netra/Conversion/IREE/StreamAttributes.cpp.inc"

void UtilDialect::initialize() {
  addOperations<GlobalOp, GlobalLoadOp, FuncOp, ReturnOp, CallOp>();
  allowUnknownOperations();
}

void StreamDialect::initialize() { addAttributes<NamedParameterAttr>(); }

void FlowDialect::initialize() {
  addOperations<TensorTransferOp, TensorBarrierOp>();
  allowUnknownOperations();
}

void HALDialect::initialize() {}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Parses `<"scope"::"key">`, `<"key">`, either followed by `, {config}`.
Attribute NamedParameterAttr::parse(AsmParser &parser, Type type) {
  std::string first, second;
  StringAttr scope;
  DictionaryAttr config;
  if (parser.parseLess() || parser.parseString(&first))
    return {};
  MLIRContext *context = parser.getContext();
  StringAttr key = StringAttr::get(context, first);
  if (succeeded(parser.parseOptionalColon())) {
    if (parser.parseColon() || parser.parseString(&second))
      return {};
    scope = key;
    key = StringAttr::get(context, second);
  }
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(config))
    return {};
  if (parser.parseGreater())
    return {};
  if (!type)
    type = NoneType::get(context);
  return NamedParameterAttr::get(context, type, scope, key, config);
}

void NamedParameterAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (getScope()) {
    printer.printAttributeWithoutType(getScope());
    printer << "::";
  }
  printer.printAttributeWithoutType(getKey());
  if (getConfig())
    printer << ", " << getConfig();
  printer << '>';
}

Attribute HALDialect::parseAttribute(DialectAsmParser &parser,
                                     Type type) const {
  // Kept letter for letter: nothing here reads a device name.
  llvm::StringRef text = parser.getFullSymbolSpec();
  // Everything must be consumed, or the caller takes the rest for an error.
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return {};
  if (succeeded(parser.parseOptionalLess())) {
    auto parseOne = [&]() -> ParseResult {
      Attribute ignored;
      return parser.parseAttribute(ignored);
    };
    if (parser.parseCommaSeparatedList(parseOne) || parser.parseGreater())
      return {};
  }
  return OpaqueAttr::get(StringAttr::get(getContext(), getNamespace()), text,
                         type ? type : NoneType::get(getContext()));
}

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

static ParseResult parseVisibility(OpAsmParser &parser,
                                   StringAttr &visibility) {
  llvm::StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword, {"public", "private"})) &&
      keyword == "private")
    visibility = parser.getBuilder().getStringAttr(keyword);
  return success();
}

static void printVisibility(OpAsmPrinter &printer, Operation *,
                            StringAttr visibility) {
  if (visibility)
    printer << visibility.getValue();
}

/// `: type`, `= value : type`, or `: type = value`.
static ParseResult parseTypeOrValue(OpAsmParser &parser, TypeAttr &type,
                                    TypedAttr &value) {
  if (succeeded(parser.parseOptionalColon())) {
    Type parsed;
    if (parser.parseType(parsed))
      return failure();
    type = TypeAttr::get(parsed);
    if (failed(parser.parseOptionalEqual()))
      return success();
  } else if (parser.parseEqual()) {
    return failure();
  }
  SMLoc loc = parser.getCurrentLocation();
  Attribute attribute;
  if (parser.parseAttribute(attribute, type ? type.getValue() : Type()))
    return failure();
  value = dyn_cast<TypedAttr>(attribute);
  if (!value || isa<NoneType>(value.getType()))
    return parser.emitError(loc, "expected an initial value with a type");
  if (type && value.getType() != type.getValue())
    return parser.emitError(loc, "expected an initial value of type ")
           << type.getValue() << ", found " << value.getType();
  type = TypeAttr::get(value.getType());
  return success();
}

static void printTypeOrValue(OpAsmPrinter &printer, Operation *, TypeAttr type,
                             TypedAttr value) {
  if (value) {
    printer << "= ";
    printer.printAttribute(value);
    return;
  }
  printer << ": ";
  printer.printType(type.getValue());
}

LogicalResult GlobalLoadOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto global =
      tables.lookupNearestSymbolFrom<GlobalOp>(*this, getGlobalAttr());
  if (!global)
    return emitOpError("expected the name of a util.global, found ")
           << getGlobalAttr();
  if (global.getType() != getResult().getType())
    return emitOpError("expected the type of ")
           << getGlobalAttr() << ", " << global.getType() << ", found "
           << getResult().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, llvm::ArrayRef<Type> arguments,
                      llvm::ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

#define GET_OP_CLASSES
#include "Netra/Conversion/IREE/IREEOps.cpp.inc"
