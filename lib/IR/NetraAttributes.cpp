//===- NetraAttributes.cpp - Attributes of the netra dialect --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/NetraAttributes.h"

#include "Netra/Catalog/Layout.h"
#include "Netra/Catalog/TargetInfo.h"
#include "Netra/IR/NetraDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace netra;

/// `custom<Keyword>` of attribute formats: a bare word.
static ParseResult parseKeyword(AsmParser &parser, std::string &keyword) {
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  keyword = word.str();
  return success();
}

static void printKeyword(AsmPrinter &printer, StringRef keyword) {
  printer << keyword;
}

/// `custom<ActivationWord>`, and the last word of an epilogue.
static ParseResult parseActivationWord(AsmParser &parser,
                                       Activation &activation) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<Activation> parsed = symbolizeActivation(name);
  if (!parsed)
    return parser.emitError(loc)
           << "expected none, silu, sigmoid, gelu_erf or gelu_tanh, found '"
           << name << "'";
  activation = *parsed;
  return success();
}

static void printActivationWord(AsmPrinter &printer, Activation activation) {
  printer << stringifyActivation(activation);
}

#include "Netra/IR/NetraEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Netra/IR/NetraAttributes.cpp.inc"

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

void NetraDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Netra/IR/NetraAttributes.cpp.inc"
      >();
}

Attribute NetraDialect::parseAttribute(DialectAsmParser &parser,
                                       Type type) const {
  // The body of a guard is read as text, because MLIR's lexer takes `1.` of
  // `1..64` for a float. The caller moves on behind the attribute by itself.
  StringRef body = parser.getFullSymbolSpec();
  if (body.consume_front("guard<"))
    return GuardAttr::parseSpelling(
        getContext(), body.take_until([](char c) { return c == '>'; }),
        [&] { return parser.emitError(parser.getNameLoc()); });

  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  Attribute attribute;
  OptionalParseResult result =
      generatedAttributeParser(parser, &mnemonic, type, attribute);
  if (result.has_value())
    return attribute;
  parser.emitError(loc) << "unknown attribute '" << mnemonic
                        << "' of dialect 'netra'";
  return {};
}

void NetraDialect::printAttribute(Attribute attribute,
                                  DialectAsmPrinter &printer) const {
  if (auto guard = dyn_cast<GuardAttr>(attribute)) {
    printer << "guard<" << guard.getSpelling() << ">";
    return;
  }
  (void)generatedAttributePrinter(attribute, printer);
}

/// Emits what is wrong with a byte range, if anything.
static LogicalResult verifyRange(EmitError emitError, StringRef what,
                                 int64_t offset, int64_t bytes) {
  int64_t end;
  if (offset < 0 || bytes < 0 || llvm::AddOverflow(offset, bytes, end))
    return emitError() << what
                       << " C2: offset and size must not be negative and their "
                          "sum must fit 63 bits, found "
                       << offset << " and " << bytes;
  return success();
}

static void printIntegers(AsmPrinter &printer, ArrayRef<int64_t> values) {
  llvm::interleaveComma(values, printer.getStream());
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  SmallVector<int64_t> parameters;
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseInteger(parameters.emplace_back()))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(loc, parser.getContext(), name,
                                       ArrayRef<int64_t>(parameters));
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName();
  for (int64_t parameter : getParameters())
    printer << ", " << parameter;
  printer << ">";
}

LogicalResult LayoutAttr::verify(EmitError emitError, StringRef name,
                                 ArrayRef<int64_t> parameters) {
  llvm::Expected<Layout> layout = Layout::get(name, parameters);
  if (!layout)
    return emitError() << "layout C1: " << llvm::toString(layout.takeError());
  return success();
}

std::string LayoutAttr::getSpelling() const {
  // The registry has accepted name and parameters when this was made.
  return llvm::cantFail(Layout::get(getName(), getParameters())).str();
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         EmitError emitError) const {
  if (ShapedType::isDynamicShape(shape))
    return success();
  Layout layout = llvm::cantFail(Layout::get(getName(), getParameters()));
  if (llvm::Error error = layout.verify(shape))
    return emitError() << "layout C2: " << llvm::toString(std::move(error));
  return success();
}

//===----------------------------------------------------------------------===//
// BlockScaleAttr
//===----------------------------------------------------------------------===//

LogicalResult BlockScaleAttr::verify(EmitError emitError,
                                     ArrayRef<int64_t> block, Type scale) {
  if (block.size() != 2 || block[0] <= 0 || block[1] <= 0) {
    InFlightDiagnostic diagnostic =
        emitError() << "block_scale C1: 'block' must have two positive "
                       "extents, found [";
    llvm::interleaveComma(block, diagnostic);
    return diagnostic << "]";
  }
  if (!scale.isF32() && !scale.isBF16())
    return emitError() << "block_scale C2: 'scale' must be f32 or bf16, found "
                       << scale;
  return success();
}

BlockScaleAttr BlockScaleAttr::get1x128(MLIRContext *context) {
  return get(context, {1, 128}, Float32Type::get(context));
}

BlockScaleAttr BlockScaleAttr::get128x128(MLIRContext *context) {
  return get(context, {128, 128}, Float32Type::get(context));
}

SmallVector<int64_t, 2>
BlockScaleAttr::getScaleShape(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t, 2> result;
  for (auto [extent, block] : llvm::zip(shape, getBlock()))
    result.push_back(ShapedType::isDynamic(extent)
                         ? ShapedType::kDynamic
                         : llvm::divideCeilSigned(extent, block));
  return result;
}

std::string BlockScaleAttr::getSpelling() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << getBlock()[0] << "x" << getBlock()[1] << ":" << getScale();
  return text;
}

//===----------------------------------------------------------------------===//
// EpilogueAttr
//===----------------------------------------------------------------------===//

Attribute EpilogueAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  EpilogueAttr attribute = parseBody(parser);
  if (!attribute || parser.parseGreater())
    return {};
  return attribute;
}

void EpilogueAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printBody(printer);
  printer << ">";
}

EpilogueAttr EpilogueAttr::parseBody(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  bool gated = succeeded(parser.parseOptionalKeyword("gated"));
  Activation activation;
  if (parseActivationWord(parser, activation))
    return {};
  return parser.getChecked<EpilogueAttr>(loc, parser.getContext(), activation,
                                         gated);
}

void EpilogueAttr::printBody(AsmPrinter &printer) const {
  printer << (getGated() ? "gated " : "")
          << stringifyActivation(getActivation());
}

LogicalResult EpilogueAttr::verify(EmitError emitError, Activation activation,
                                   bool gated) {
  if (gated && activation == Activation::None)
    return emitError() << "epilogue C1: a gated epilogue must have an "
                          "activation other than none";
  return success();
}

std::string EpilogueAttr::getSpelling() const {
  return (getGated() ? "gated_" : "") +
         stringifyActivation(getActivation()).str();
}

//===----------------------------------------------------------------------===//
// GuardAttr
//===----------------------------------------------------------------------===//

LogicalResult GuardAttr::verify(EmitError emitError, int64_t min, int64_t max) {
  if (min < 0 || max < min)
    return emitError() << "guard C1: bounds must not be negative and the lower "
                          "one must not exceed the upper one, found "
                       << min << ".." << max;
  return success();
}

std::string GuardAttr::getSpelling() const {
  std::string text = std::to_string(getMin());
  if (!isExact())
    text += ".." + std::to_string(getMax());
  return text;
}

GuardAttr GuardAttr::parseSpelling(MLIRContext *context, StringRef text,
                                   EmitError emitError) {
  StringRef lower = text, upper = text;
  if (text.contains(".."))
    std::tie(lower, upper) = text.split("..");
  int64_t min, max;
  if (lower.trim().getAsInteger(10, min) ||
      upper.trim().getAsInteger(10, max)) {
    emitError() << "expected a guard such as 1 or 1..64, found '" << text
                << "'";
    return {};
  }
  return getChecked(emitError, context, min, max);
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

LogicalResult TargetAttr::verify(EmitError emitError, StringRef architecture) {
  if (findTarget(architecture))
    return success();
  InFlightDiagnostic diagnostic = emitError()
                                  << "target C1: unknown target '"
                                  << architecture << "', expected one of ";
  llvm::interleaveComma(allTargets(), diagnostic, [&](const TargetInfo &info) {
    diagnostic << info.name;
  });
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// PackSourceAttr and PackAttr
//===----------------------------------------------------------------------===//

/// `"name" : type`
static PackSourceAttr parsePackSource(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  RankedTensorType type;
  if (parser.parseString(&name) || parser.parseColonType(type))
    return {};
  return parser.getChecked<PackSourceAttr>(
      loc, parser.getContext(), parser.getBuilder().getStringAttr(name), type);
}

Attribute PackSourceAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  PackSourceAttr source = parsePackSource(parser);
  if (!source || parser.parseGreater())
    return {};
  return source;
}

void PackSourceAttr::print(AsmPrinter &printer) const {
  printer << "<" << getCheckpoint() << " : " << getType() << ">";
}

LogicalResult PackSourceAttr::verify(EmitError emitError, StringAttr checkpoint,
                                     RankedTensorType type) {
  if (checkpoint.empty())
    return emitError() << "pack_source C1: the name must not be empty";
  if (!isRowMajor(type) || !getTensorBytes(type))
    return emitError() << "pack_source C2: expected a static row-major tensor "
                          "of stored elements, found "
                       << type;
  return success();
}

static Attribute parsePackOperand(AsmParser &parser) {
  StringAttr symbol;
  if (succeeded(parser.parseOptionalSymbolName(symbol)))
    return FlatSymbolRefAttr::get(symbol);
  return parsePackSource(parser);
}

/// `name` or `name<1, 2>`
static LayoutAttr parseLayoutWord(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  SmallVector<int64_t> parameters;
  if (parser.parseKeyword(&name))
    return {};
  if (succeeded(parser.parseOptionalLess())) {
    if (parser.parseCommaSeparatedList([&]() -> ParseResult {
          return parser.parseInteger(parameters.emplace_back());
        }) ||
        parser.parseGreater())
      return {};
  }
  return parser.getChecked<LayoutAttr>(loc, parser.getContext(), name,
                                       ArrayRef<int64_t>(parameters));
}

static void printLayoutWord(AsmPrinter &printer, LayoutAttr layout) {
  printer << layout.getName();
  if (layout.getParameters().empty())
    return;
  printer << "<";
  printIntegers(printer, layout.getParameters());
  printer << ">";
}

static Attribute parsePackStep(AsmParser &parser) {
  if (succeeded(parser.parseOptionalKeyword("cast"))) {
    Type type;
    if (parser.parseType(type))
      return {};
    return TypeAttr::get(type);
  }
  if (succeeded(parser.parseOptionalKeyword("reshape"))) {
    SmallVector<int64_t> shape;
    if (parser.parseCommaSeparatedList(
            AsmParser::Delimiter::Square, [&]() -> ParseResult {
              return parser.parseInteger(shape.emplace_back());
            }))
      return {};
    return DenseI64ArrayAttr::get(parser.getContext(), shape);
  }
  bool restore = succeeded(parser.parseOptionalKeyword("restore"));
  if (restore || succeeded(parser.parseOptionalKeyword("reorder"))) {
    LayoutAttr layout = parseLayoutWord(parser);
    if (!layout)
      return {};
    return PackReorderAttr::get(parser.getContext(), layout, restore);
  }
  if (parser.parseKeyword("layout", ", 'cast', 'reshape', 'reorder' or "
                                    "'restore'"))
    return {};
  return parseLayoutWord(parser);
}

PackAttr PackAttr::parseBody(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Attribute> sources, steps;
  int64_t axis = 0;
  auto parseSource = [&]() -> ParseResult {
    sources.push_back(parsePackOperand(parser));
    return success(static_cast<bool>(sources.back()));
  };
  if (succeeded(parser.parseOptionalKeyword("concat"))) {
    if (parser.parseInteger(axis) ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       parseSource))
      return {};
  } else if (parseSource()) {
    return {};
  }
  while (succeeded(parser.parseOptionalKeyword("then"))) {
    steps.push_back(parsePackStep(parser));
    if (!steps.back())
      return {};
  }
  return parser.getChecked<PackAttr>(loc, parser.getContext(),
                                     ArrayRef<Attribute>(sources), axis,
                                     ArrayRef<Attribute>(steps));
}

void PackAttr::printBody(AsmPrinter &printer) const {
  auto printSource = [&](Attribute source) {
    if (auto tensor = dyn_cast<PackSourceAttr>(source))
      printer << tensor.getCheckpoint() << " : " << tensor.getType();
    else
      printer << source;
  };
  if (getSources().size() == 1) {
    printSource(getSources().front());
  } else {
    printer << "concat " << getAxis() << " [";
    llvm::interleaveComma(getSources(), printer, printSource);
    printer << "]";
  }
  for (Attribute step : getSteps()) {
    if (auto layout = dyn_cast<LayoutAttr>(step)) {
      printer << " then layout ";
      printLayoutWord(printer, layout);
    } else if (auto reorder = dyn_cast<PackReorderAttr>(step)) {
      printer << (reorder.getInverse() ? " then restore " : " then reorder ");
      printLayoutWord(printer, reorder.getLayout());
    } else if (auto shape = dyn_cast<DenseI64ArrayAttr>(step)) {
      printer << " then reshape [";
      printIntegers(printer, shape.asArrayRef());
      printer << "]";
    } else {
      printer << " then cast " << cast<TypeAttr>(step).getValue();
    }
  }
}

Attribute PackAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  PackAttr pack = parseBody(parser);
  if (!pack || parser.parseGreater())
    return {};
  return pack;
}

void PackAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printBody(printer);
  printer << ">";
}

LogicalResult PackAttr::verify(EmitError emitError, ArrayRef<Attribute> sources,
                               int64_t axis, ArrayRef<Attribute> steps) {
  if (sources.empty() || axis < 0 || (sources.size() == 1 && axis != 0))
    return emitError() << "pack C1: expected at least one source and an axis "
                          "that is not negative (0 for one source), found "
                       << sources.size() << " and axis " << axis;
  if (!llvm::all_of(sources, llvm::IsaPred<FlatSymbolRefAttr>) &&
      !llvm::all_of(sources, llvm::IsaPred<PackSourceAttr>))
    return emitError() << "pack C2: sources must be all symbols or all tensors "
                          "of a checkpoint";
  for (auto [index, step] : llvm::enumerate(steps)) {
    if (!isa<TypeAttr, LayoutAttr, PackReorderAttr, DenseI64ArrayAttr>(step))
      return emitError() << "pack C3: a step must be a type, a shape, a "
                            "reordering or a layout, found "
                         << step;
    if (isa<LayoutAttr>(step) && index + 1 != steps.size())
      return emitError() << "pack C3: a layout must be the last step, found "
                         << step << " as step " << index;
  }
  return success();
}

bool PackAttr::isSymbolic() const {
  return isa<FlatSymbolRefAttr>(getSources().front());
}

PackAttr PackAttr::append(Attribute step) const {
  SmallVector<Attribute> steps(getSteps());
  steps.push_back(step);
  return get(getContext(), getSources(), getAxis(), steps);
}

/// True when each value of `from` is a value of `to`.
static bool isExactCast(Type from, Type to) {
  if (from == to)
    return true;
  if (from.isBF16() || from.isF16())
    return to.isF32() || to.isF64();
  return from.isF32() && to.isF64();
}

FailureOr<RankedTensorType>
PackAttr::getResultType(ArrayRef<RankedTensorType> sourceTypes,
                        EmitError emitError) const {
  RankedTensorType first = sourceTypes.front();
  SmallVector<int64_t> shape(first.getShape());
  if (getAxis() >= first.getRank() && sourceTypes.size() > 1)
    return emitError() << "axis " << getAxis() << " is not one of " << first;
  for (auto [index, type] : llvm::enumerate(sourceTypes)) {
    if (!isRowMajor(type) || !type.hasStaticShape())
      return emitError() << "source " << index
                         << " must be static and row-major, found " << type;
    if (index == 0)
      continue;
    SmallVector<int64_t> extents(type.getShape());
    if (type.getElementType() != first.getElementType() ||
        extents.size() != shape.size())
      return emitError() << "source " << index << " is " << type
                         << ", which cannot be concatenated with " << first;
    int64_t &extent = shape[getAxis()];
    if (llvm::AddOverflow(extent, extents[getAxis()], extent))
      return emitError() << "the concatenation is too large";
    extents[getAxis()] = extent;
    if (extents != shape)
      return emitError() << "source " << index << " is " << type
                         << ", which differs from " << first
                         << " in another extent than that of axis "
                         << getAxis();
  }

  Type element = first.getElementType();
  Attribute encoding;
  for (Attribute step : getSteps()) {
    if (auto layout = dyn_cast<LayoutAttr>(step)) {
      if (!layout.isRowMajor())
        encoding = layout;
      continue;
    }
    if (auto reorder = dyn_cast<PackReorderAttr>(step)) {
      if (failed(reorder.getLayout().verifyEncoding(shape, element, emitError)))
        return failure();
      continue;
    }
    if (auto extents = dyn_cast<DenseI64ArrayAttr>(step)) {
      llvm::Expected<uint64_t> before = elementCount(shape);
      llvm::Expected<uint64_t> after = elementCount(extents.asArrayRef());
      if (!before || !after)
        return emitError() << llvm::toString(
                   llvm::joinErrors(before.takeError(), after.takeError()));
      if (*before != *after)
        return emitError() << "expected a shape of " << *before
                           << " elements, found one of " << *after;
      shape.assign(extents.asArrayRef().begin(), extents.asArrayRef().end());
      continue;
    }
    Type to = cast<TypeAttr>(step).getValue();
    if (!isExactCast(element, to))
      return emitError() << "elements of type " << element
                         << " cannot be cast exactly to " << to;
    element = to;
  }
  RankedTensorType result =
      RankedTensorType::getChecked(emitError, shape, element, encoding);
  if (!result)
    return failure();
  return result;
}

//===----------------------------------------------------------------------===//
// TacticAttr
//===----------------------------------------------------------------------===//

Attribute TacticAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  Builder &builder = parser.getBuilder();
  std::string name, contract;
  NamedAttrList options;
  if (parser.parseLess() || parser.parseString(&name) || parser.parseComma())
    return {};
  if (succeeded(parser.parseOptionalKeyword("options"))) {
    auto parseOption = [&]() -> ParseResult {
      SMLoc keyLoc = parser.getCurrentLocation();
      std::string key;
      int64_t value;
      if (parser.parseKeywordOrString(&key) || parser.parseEqual() ||
          parser.parseInteger(value))
        return failure();
      if (options.get(key))
        return parser.emitError(keyLoc)
               << "option '" << key << "' is given twice";
      options.append(key, builder.getI64IntegerAttr(value));
      return success();
    };
    if (parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                       parseOption) ||
        parser.parseComma())
      return {};
  }
  if (parser.parseKeyword("contract") || parser.parseEqual() ||
      parser.parseString(&contract) || parser.parseGreater())
    return {};
  return parser.getChecked<TacticAttr>(
      loc, parser.getContext(), builder.getStringAttr(name),
      options.getDictionary(parser.getContext()),
      builder.getStringAttr(contract));
}

void TacticAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName();
  if (!getOptions().empty()) {
    printer << ", options = {";
    llvm::interleaveComma(
        getOptions(), printer, [&](const NamedAttribute &option) {
          printer.printKeywordOrString(option.getName());
          printer << " = " << cast<IntegerAttr>(option.getValue()).getValue();
        });
    printer << "}";
  }
  printer << ", contract = " << getContract() << ">";
}

LogicalResult TacticAttr::verify(EmitError emitError, StringAttr name,
                                 DictionaryAttr options, StringAttr contract) {
  if (name.empty())
    return emitError() << "tactic C1: the name must not be empty";
  for (NamedAttribute option : options) {
    auto value = dyn_cast<IntegerAttr>(option.getValue());
    if (!value || !value.getType().isSignlessInteger(64))
      return emitError() << "tactic C2: option '" << option.getName().strref()
                         << "' must be a 64-bit integer, found "
                         << option.getValue();
  }
  if (!isContractId(contract))
    return emitError() << "tactic C3: the contract must be nk_ and 24 "
                          "lower-case hexadecimal digits, found "
                       << contract;
  return success();
}

//===----------------------------------------------------------------------===//
// PlaceAttr and ArgAttr
//===----------------------------------------------------------------------===//

Attribute PlaceAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  StringAttr symbol;
  int64_t offset, bytes, overwrites = -1;
  if (parser.parseLess())
    return {};
  SMLoc kindLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<PlaceKind> kind = symbolizePlaceKind(keyword);
  if (!kind) {
    parser.emitError(kindLoc)
        << "expected arena, binding or weight, found '" << keyword << "'";
    return {};
  }
  if (*kind != PlaceKind::Arena && parser.parseSymbolName(symbol))
    return {};
  if (parser.parseComma() || parser.parseInteger(offset) ||
      parser.parseComma() || parser.parseInteger(bytes))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    SMLoc operandLoc = parser.getCurrentLocation();
    if (parser.parseKeyword("overwrites") || parser.parseEqual() ||
        parser.parseInteger(overwrites))
      return {};
    if (overwrites < 0) {
      parser.emitError(operandLoc) << "place C3: 'overwrites' must be the "
                                      "number of an operand, found "
                                   << overwrites;
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PlaceAttr>(loc, parser.getContext(), *kind,
                                      symbol ? FlatSymbolRefAttr::get(symbol)
                                             : FlatSymbolRefAttr(),
                                      offset, bytes, overwrites);
}

void PlaceAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyPlaceKind(getKind());
  if (getSymbol())
    printer << " " << getSymbol();
  printer << ", " << getOffset() << ", " << getBytes();
  if (std::optional<unsigned> operand = getOverwrittenOperand())
    printer << ", overwrites = " << *operand;
  printer << ">";
}

LogicalResult PlaceAttr::verify(EmitError emitError, PlaceKind kind,
                                FlatSymbolRefAttr symbol, int64_t offset,
                                int64_t bytes, int64_t overwrites) {
  if ((kind == PlaceKind::Arena) == static_cast<bool>(symbol))
    return emitError() << "place C1: a binding or weight must have a symbol, "
                          "and the arena none";
  if (failed(verifyRange(emitError, "place", offset, bytes)))
    return failure();
  if (overwrites < -1)
    return emitError() << "place C3: 'overwrites' must be the number of an "
                          "operand, found "
                       << overwrites;
  return success();
}

Attribute ArgAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  StringAttr symbol;
  int64_t offset = 0, bytes = 0;
  TypedAttr value;
  SlotKind kind = SlotKind::Value;
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword(
          &keyword, {"binding", "weight", "arena", "null"}))) {
    kind = *symbolizeSlotKind(keyword);
    bool named = kind == SlotKind::Binding || kind == SlotKind::Weight;
    if (named && parser.parseSymbolName(symbol))
      return {};
    if (kind != SlotKind::Null &&
        (parser.parseComma() || parser.parseInteger(offset) ||
         parser.parseComma() || parser.parseInteger(bytes)))
      return {};
  } else {
    Type type;
    SMLoc valueLoc;
    Attribute attribute;
    if (parser.parseType(type) || parser.parseComma() ||
        parser.getCurrentLocation(&valueLoc) ||
        parser.parseAttribute(attribute, type))
      return {};
    value = dyn_cast<TypedAttr>(attribute);
    if (!value) {
      parser.emitError(valueLoc) << "expected a number, found " << attribute;
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ArgAttr>(loc, parser.getContext(), kind,
                                    symbol ? FlatSymbolRefAttr::get(symbol)
                                           : FlatSymbolRefAttr(),
                                    offset, bytes, value);
}

void ArgAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getKind() == SlotKind::Value) {
    printer << getValue().getType() << ", ";
    printer.printAttributeWithoutType(getValue());
  } else {
    printer << stringifySlotKind(getKind());
    if (getSymbol())
      printer << " " << getSymbol();
    if (getKind() != SlotKind::Null)
      printer << ", " << getOffset() << ", " << getBytes();
  }
  printer << ">";
}

LogicalResult ArgAttr::verify(EmitError emitError, SlotKind kind,
                              FlatSymbolRefAttr symbol, int64_t offset,
                              int64_t bytes, TypedAttr value) {
  bool named = kind == SlotKind::Binding || kind == SlotKind::Weight;
  if (named != static_cast<bool>(symbol))
    return emitError() << "arg C1: a binding or weight must have a symbol, and "
                          "everything else none";
  if (failed(verifyRange(emitError, "arg", offset, bytes)))
    return failure();
  if ((kind == SlotKind::Value) != static_cast<bool>(value))
    return emitError() << "arg C3: a number, and nothing else, must have a "
                          "value";
  if (!value)
    return success();
  Type type = value.getType();
  bool isNumber = isa<IntegerAttr, FloatAttr>(value);
  if (!isNumber || !(type.isSignlessInteger(32) || type.isSignlessInteger(64) ||
                     type.isF32() || type.isF64()))
    return emitError() << "arg C3: a number must be an i32, i64, f32 or f64, "
                          "found "
                       << type;
  return success();
}

ArgAttr ArgAttr::getBinding(MLIRContext *context, StringRef symbol,
                            int64_t offset, int64_t bytes) {
  return get(context, SlotKind::Binding,
             FlatSymbolRefAttr::get(context, symbol), offset, bytes, {});
}

ArgAttr ArgAttr::getWeight(MLIRContext *context, StringRef symbol,
                           int64_t offset, int64_t bytes) {
  return get(context, SlotKind::Weight, FlatSymbolRefAttr::get(context, symbol),
             offset, bytes, {});
}

ArgAttr ArgAttr::getArena(MLIRContext *context, int64_t offset, int64_t bytes) {
  return get(context, SlotKind::Arena, {}, offset, bytes, {});
}

ArgAttr ArgAttr::getValue(TypedAttr value) {
  return get(value.getContext(), SlotKind::Value, {}, 0, 0, value);
}

ArgAttr ArgAttr::getNull(MLIRContext *context) {
  return get(context, SlotKind::Null, {}, 0, 0, {});
}

ArgAttr ArgAttr::fromPlace(PlaceAttr place) {
  SlotKind kind = place.getKind() == PlaceKind::Arena     ? SlotKind::Arena
                  : place.getKind() == PlaceKind::Binding ? SlotKind::Binding
                                                          : SlotKind::Weight;
  return get(place.getContext(), kind, place.getSymbol(), place.getOffset(),
             place.getBytes(), {});
}

uint64_t ArgAttr::getBits() const {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(getValue()))
    return integer.getValue().getZExtValue();
  if (auto number = dyn_cast_or_null<FloatAttr>(getValue()))
    return number.getValue().bitcastToAPInt().getZExtValue();
  return 0;
}
