//===- TorchDialect.cpp - The thin torch dialect --------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Conversion/Torch/Torch.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace netra::torch;

#include "Netra/Conversion/Torch/TorchConversionDialect.cpp.inc"
#include "Netra/Conversion/Torch/TorchDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "Netra/Conversion/Torch/TorchTypes.cpp.inc"

void TorchDialect::initialize() {
  addOperations<ConstantBoolOp, ConstantDeviceOp, ConstantFloatOp,
                ConstantIntOp, ConstantNoneOp, ConstantNumberOp, ConstantStrOp,
                VTensorLiteralOp, TensorLiteralOp, PrimListConstructOp,
                OperatorOp, SymbolicIntOp, BindSymbolicShapeOp,
                OverwriteTensorContentsOp, CopyToValueTensorOp,
                CopyToNonValueTensorOp, TensorStaticInfoCastOp, DerefineOp,
                RuntimeAssertOp>();
  registerTypes();
  // torch has thousands of operations, nearly all of one spelling; those
  // without a definition are read and printed by the hooks below.
  allowUnknownOperations();
}

void TorchDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "Netra/Conversion/Torch/TorchTypes.cpp.inc"
      >();
}

void TorchConversionDialect::initialize() {
  addOperations<FromBuiltinTensorOp, ToBuiltinTensorOp>();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// The keywords of types without parameters.
static constexpr llvm::StringLiteral kSimpleKinds[] = {
    "int",       "float",    "bool",     "none",        "str",    "Device",
    "Generator", "number",   "any",      "qint8",       "quint8", "qint16",
    "qint32",    "quint4x2", "quint2x4", "LinearParams"};

// The keywords of containers, with the number of elements each must have
// (0: any number).
static constexpr std::pair<llvm::StringLiteral, unsigned> kContainerKinds[] = {
    {"list", 1}, {"optional", 1}, {"dict", 2}, {"tuple", 0}, {"union", 0}};

// Deeper nesting than this is no program's: the parser refuses it instead of
// using up the stack.
static constexpr unsigned kMaxTypeDepth = 64;

static Type parseTorchType(AsmParser &parser, unsigned depth);

/// Parses what follows `vtensor` or `tensor`: nothing, or
/// `<` (`*` | `[` sizes `]`) `,` (`unk` | type) (`,` sparsity)? `>`.
template <typename TensorT> static Type parseTensorType(AsmParser &parser) {
  MLIRContext *context = parser.getContext();
  SmallVector<int64_t> sizes;
  bool hasSizes = false;
  Type dtype;
  Attribute sparsity;
  if (failed(parser.parseOptionalLess()))
    return TensorT::get(context, hasSizes, sizes, dtype, sparsity);

  if (failed(parser.parseOptionalStar())) {
    hasSizes = true;
    auto parseSize = [&]() -> ParseResult {
      if (succeeded(parser.parseOptionalQuestion())) {
        sizes.push_back(TensorT::kUnknownSize);
        return success();
      }
      SMLoc loc = parser.getCurrentLocation();
      int64_t size = 0;
      OptionalParseResult result = parser.parseOptionalInteger(size);
      if (!result.has_value())
        return parser.emitError(loc, "expected a size or `?`");
      if (failed(*result))
        return failure();
      if (size < 0)
        return parser.emitError(loc, "expected a size of 0 or more, found ")
               << size;
      sizes.push_back(size);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize,
                                       " in the sizes of a torch tensor"))
      return {};
  }
  if (parser.parseComma())
    return {};
  if (failed(parser.parseOptionalKeyword("unk")) && parser.parseType(dtype))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(sparsity))
    return {};
  if (parser.parseGreater())
    return {};
  return TensorT::get(context, hasSizes, sizes, dtype, sparsity);
}

/// Parses a torch type without its prefix; null, with a diagnostic, when there
/// is none.
static Type parseTorchType(AsmParser &parser, unsigned depth) {
  MLIRContext *context = parser.getContext();
  SMLoc loc = parser.getCurrentLocation();
  if (depth > kMaxTypeDepth) {
    parser.emitError(loc, "torch type is nested more than ")
        << kMaxTypeDepth << " deep";
    return {};
  }
  // A keyword decides first: `tensor`, `tuple` and `none` are builtin types to
  // MLIR but torch types here.
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword))) {
    // Inside a container, `!torch.int` may stand where `int` would do.
    Type type;
    if (depth != 0 && succeeded(parser.parseType(type)))
      return type;
    if (depth == 0)
      parser.emitError(loc, "expected the name of a torch type");
    return {};
  }
  if (keyword == "vtensor")
    return parseTensorType<VTensorType>(parser);
  if (keyword == "tensor")
    return parseTensorType<MutableTensorType>(parser);
  for (StringRef kind : kSimpleKinds)
    if (keyword == kind)
      return SimpleType::get(context, kind);
  for (auto [kind, arity] : kContainerKinds) {
    if (keyword != kind)
      continue;
    SmallVector<Type> elements;
    auto parseElement = [&]() -> ParseResult {
      elements.push_back(parseTorchType(parser, depth + 1));
      return success(static_cast<bool>(elements.back()));
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                       parseElement))
      return {};
    if (arity != 0 && elements.size() != arity) {
      parser.emitError(loc, "expected ")
          << arity << (arity == 1 ? " type" : " types") << " inside `" << kind
          << "`, found " << elements.size();
      return {};
    }
    return ContainerType::get(context, kind, elements);
  }
  parser.emitError(loc, "unknown torch type `") << keyword << "`";
  return {};
}

template <typename TensorT>
static void printTensorType(TensorT type, AsmPrinter &printer) {
  if (!type.getHasSizes() && !type.getDtype())
    return;
  printer << '<';
  if (type.getHasSizes()) {
    printer << '[';
    llvm::interleave(
        type.getSizes(), printer.getStream(),
        [&](int64_t size) {
          if (size == TensorT::kUnknownSize)
            printer << '?';
          else
            printer << size;
        },
        ",");
    printer << ']';
  } else {
    printer << '*';
  }
  printer << ',';
  if (Type dtype = type.getDtype())
    printer.printType(dtype);
  else
    printer << "unk";
  if (Attribute sparsity = type.getSparsity()) {
    printer << ',';
    printer.printAttribute(sparsity);
  }
  printer << '>';
}

static void printTorchType(Type type, AsmPrinter &printer) {
  llvm::TypeSwitch<Type>(type)
      .Case<VTensorType>([&](auto tensor) {
        printer << "vtensor";
        printTensorType(tensor, printer);
      })
      .Case<MutableTensorType>([&](auto tensor) {
        printer << "tensor";
        printTensorType(tensor, printer);
      })
      .Case<SimpleType>([&](auto simple) { printer << simple.getKind(); })
      .Case<ContainerType>([&](auto container) {
        printer << container.getKind() << '<';
        llvm::interleave(
            container.getElements(), printer.getStream(),
            [&](Type element) { printTorchType(element, printer); }, ", ");
        printer << '>';
      })
      .Default([&](Type other) { printer.printType(other); });
}

Type TorchDialect::parseType(DialectAsmParser &parser) const {
  return parseTorchType(parser, 0);
}

void TorchDialect::printType(Type type, DialectAsmPrinter &printer) const {
  printTorchType(type, printer);
}

bool netra::torch::isSimpleType(Type type, StringRef kind) {
  auto simple = dyn_cast<SimpleType>(type);
  return simple && simple.getKind() == kind;
}

bool netra::torch::isContainerType(Type type, StringRef kind) {
  auto container = dyn_cast<ContainerType>(type);
  return container && container.getKind() == kind;
}

Type netra::torch::getMutableForm(Type type) {
  auto tensor = dyn_cast<VTensorType>(type);
  return tensor
             ? MutableTensorType::get(type.getContext(), tensor.getHasSizes(),
                                      tensor.getSizes(), tensor.getDtype(),
                                      tensor.getSparsity())
             : type;
}

Type netra::torch::getValueForm(Type type) {
  auto tensor = dyn_cast<MutableTensorType>(type);
  return tensor ? VTensorType::get(type.getContext(), tensor.getHasSizes(),
                                   tensor.getSizes(), tensor.getDtype(),
                                   tensor.getSparsity())
                : type;
}

RankedTensorType netra::torch::getBuiltinTensorType(Type torchType) {
  auto tensor = dyn_cast<VTensorType>(torchType);
  if (!tensor || !tensor.isFullySpecified() || tensor.getSparsity())
    return {};
  Type element = tensor.getDtype();
  if (auto integer = dyn_cast<IntegerType>(element);
      integer && integer.isSigned())
    element = IntegerType::get(torchType.getContext(), integer.getWidth());
  if (!RankedTensorType::isValidElementType(element))
    return {};
  SmallVector<int64_t> shape(tensor.getSizes());
  for (int64_t &size : shape)
    if (size == VTensorType::kUnknownSize)
      size = ShapedType::kDynamic;
  return RankedTensorType::get(shape, element);
}

//===----------------------------------------------------------------------===//
// Operations without a definition
//===----------------------------------------------------------------------===//

/// True when the text at `loc` is the result list of the next operation,
/// `%a, %b:2 =`, and not a list of operands. An operation without operands and
/// without results ends where nothing but its text can tell.
static bool startsNextOperation(SMLoc loc) {
  // Source buffers end with a null character, at which every loop stops.
  const char *text = loc.getPointer();
  auto skipSpaces = [&] {
    while (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r')
      ++text;
  };
  while (*text == '%') {
    ++text;
    while (llvm::isAlnum(*text) || (*text && StringRef("_$.-").contains(*text)))
      ++text;
    skipSpaces();
    if (*text == ':' && llvm::isDigit(text[1]))
      for (++text; llvm::isDigit(*text);)
        ++text;
    skipSpaces();
    if (*text != ',')
      break;
    ++text;
    skipSpaces();
  }
  return *text == '=';
}

/// Parses `%a, %b {attributes} : T, T -> T, T`. Operand types are absent when
/// there are no operands, the arrow when there are no results; results may
/// stand in parentheses.
static ParseResult parseDefaultForm(OpAsmParser &parser,
                                    OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> operandTypes;
  if (startsNextOperation(loc))
    return success();
  if (parser.parseOperandList(operands) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  if (!operands.empty() && parser.parseColonTypeList(operandTypes))
    return failure();
  if (operandTypes.size() != operands.size())
    return parser.emitError(loc, "`")
           << result.name << "` has " << operands.size() << " operands but "
           << operandTypes.size() << " operand types";
  if (succeeded(parser.parseOptionalArrow())) {
    if (succeeded(parser.parseOptionalLParen())) {
      if (failed(parser.parseOptionalRParen()) &&
          (parser.parseTypeList(result.types) || parser.parseRParen()))
        return failure();
    } else if (parser.parseTypeList(result.types)) {
      return failure();
    }
  }
  return parser.resolveOperands(operands, operandTypes, loc, result.operands);
}

static void printDefaultForm(Operation *op, OpAsmPrinter &printer) {
  if (op->getNumOperands() != 0) {
    printer << ' ';
    printer.printOperands(op->getOperands());
  }
  printer.printOptionalAttrDict(op->getAttrs());
  if (op->getNumOperands() != 0) {
    printer << " : ";
    llvm::interleaveComma(op->getOperandTypes(), printer,
                          [&](Type type) { printer.printType(type); });
  }
  if (op->getNumResults() != 0) {
    printer << " -> ";
    llvm::interleaveComma(op->getResultTypes(), printer,
                          [&](Type type) { printer.printType(type); });
  }
}

std::optional<Dialect::ParseOpHook>
TorchDialect::getParseOperationHook(StringRef opName) const {
  return ParseOpHook(parseDefaultForm);
}

llvm::unique_function<void(Operation *, OpAsmPrinter &)>
TorchDialect::getOperationPrinter(Operation *op) const {
  // Regions and successors have no place in the default form; the generic form
  // holds them.
  if (op->getNumRegions() != 0 || op->getNumSuccessors() != 0)
    return nullptr;
  return printDefaultForm;
}
