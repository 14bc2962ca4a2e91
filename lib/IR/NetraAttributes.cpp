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

/// One word of those of an enumeration, which are `expected`.
template <typename Enum>
static ParseResult
parseWord(AsmParser &parser, Enum &value, StringRef expected,
          llvm::function_ref<std::optional<Enum>(StringRef)> symbolize) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<Enum> parsed = symbolize(name);
  if (!parsed)
    return parser.emitError(loc)
           << "expected " << expected << ", found '" << name << "'";
  value = *parsed;
  return success();
}

/// `custom<ActivationWord>`, and the last word of an epilogue.
static ParseResult parseActivationWord(AsmParser &parser,
                                       Activation &activation) {
  return parseWord<Activation>(
      parser, activation, "none, silu, sigmoid, gelu_erf or gelu_tanh",
      [](StringRef name) { return symbolizeActivation(name); });
}

static void printActivationWord(AsmPrinter &printer, Activation activation) {
  printer << stringifyActivation(activation);
}

static ParseResult parseScoringWord(AsmParser &parser, Scoring &scoring) {
  return parseWord<Scoring>(
      parser, scoring, "softmax or sigmoid",
      [](StringRef name) { return symbolizeScoring(name); });
}

static void printScoringWord(AsmPrinter &printer, Scoring scoring) {
  printer << stringifyScoring(scoring);
}

static ParseResult parseSharedExpertWord(AsmParser &parser,
                                         SharedExpert &shared) {
  return parseWord<SharedExpert>(
      parser, shared, "none, one or sigmoid",
      [](StringRef name) { return symbolizeSharedExpert(name); });
}

static void printSharedExpertWord(AsmPrinter &printer, SharedExpert shared) {
  printer << stringifySharedExpert(shared);
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
  return emitError() << "target C1: unknown target '" << architecture
                     << "', expected one of " << listTargets();
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
