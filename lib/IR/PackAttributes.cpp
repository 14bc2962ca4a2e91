//===- PackAttributes.cpp - Attributes of packing recipes -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/NetraAttributes.h"

#include "Netra/Catalog/Layout.h"
#include "Netra/Catalog/PackRecipe.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace netra;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static void printIntegers(AsmPrinter &printer, ArrayRef<int64_t> values) {
  llvm::interleaveComma(values, printer.getStream());
}

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
  if (std::string why = PackSource::whyNotNamed(checkpoint, type.getShape());
      !why.empty())
    return emitError() << "pack_source C3: " << why;
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
  if (getAxis() >= first.getRank() && sourceTypes.size() > 1)
    return emitError() << "axis " << getAxis() << " is not one of " << first;
  SmallVector<size_t> ranks;
  for (RankedTensorType type : sourceTypes)
    ranks.push_back(type.getRank());
  std::optional<size_t> rank = concatenationRank(ranks, getAxis());
  std::vector<int64_t> shape(first.getShape());
  for (auto [index, type] : llvm::enumerate(sourceTypes)) {
    if (!isRowMajor(type) || !type.hasStaticShape())
      return emitError() << "source " << index
                         << " must be static and row-major, found " << type;
    if (index == 0) {
      if (rank)
        shape = mergeLeading(shape, *rank);
      continue;
    }
    if (type.getElementType() != first.getElementType() ||
        (!rank && type.getRank() != first.getRank()))
      return emitError() << "source " << index << " is " << type
                         << ", which cannot be concatenated with " << first;
    // Another source has another rank and will be refused in its turn.
    if (!rank)
      continue;
    std::vector<int64_t> extents = mergeLeading(type.getShape(), *rank);
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
