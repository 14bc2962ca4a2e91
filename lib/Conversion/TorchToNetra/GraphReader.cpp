//===- GraphReader.cpp - Reading a torch graph ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "GraphReader.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace netra;
using namespace netra::importer;

std::string netra::importer::describe(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  if (auto custom = dyn_cast<torch::OperatorOp>(op))
    text += concat(" \"", custom.getName(), "\"");
  return text;
}

StringRef netra::importer::definingName(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op->getName().getStringRef() : StringRef();
}

RankedTensorType netra::importer::tensorTypeOf(Value value) {
  if (auto builtin = dyn_cast<RankedTensorType>(value.getType()))
    return builtin;
  return torch::getBuiltinTensorType(value.getType());
}

bool netra::importer::isNetraTensor(RankedTensorType type) {
  if (!type)
    return false;
  Type element = type.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()) ||
           element.isSignlessInteger(1);
  return isa<BFloat16Type, Float16Type, Float32Type, Float64Type,
             Float8E4M3FNType, Float8E5M2Type>(element);
}

bool netra::importer::isComputeType(Type element) {
  return element && isa<BFloat16Type, Float16Type, Float32Type>(element);
}

bool netra::importer::isWidening(Type from, Type to) {
  return from == to ||
         (isa<BFloat16Type, Float16Type>(from) && isa<Float32Type>(to));
}

std::string netra::importer::spell(Type type) {
  if (!type)
    return "an unknown type";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string netra::importer::spell(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(shape)) {
    text += i ? "," : "";
    text += ShapedType::isDynamic(size) ? "?" : std::to_string(size);
  }
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::optional<int64_t> netra::importer::constantInt(Value value) {
  if (auto constant = value.getDefiningOp<torch::ConstantIntOp>())
    return constant.getValueAttr().getInt();
  return std::nullopt;
}

std::optional<double> netra::importer::constantNumber(Value value) {
  if (auto constant = value.getDefiningOp<torch::ConstantFloatOp>())
    return constant.getValue().convertToDouble();
  if (std::optional<int64_t> integer = constantInt(value))
    return static_cast<double>(*integer);
  return std::nullopt;
}

std::optional<bool> netra::importer::constantBool(Value value) {
  if (auto constant = value.getDefiningOp<torch::ConstantBoolOp>())
    return constant.getValue();
  return std::nullopt;
}

std::optional<StringRef> netra::importer::constantStr(Value value) {
  if (auto constant = value.getDefiningOp<torch::ConstantStrOp>())
    return constant.getValue();
  return std::nullopt;
}

bool netra::importer::isConstantNone(Value value) {
  return value.getDefiningOp<torch::ConstantNoneOp>() != nullptr;
}

std::optional<SmallVector<int64_t>>
netra::importer::constantIntList(Value value) {
  auto list = value.getDefiningOp<torch::PrimListConstructOp>();
  if (!list)
    return std::nullopt;
  SmallVector<int64_t> elements;
  for (Value element : list.getElements()) {
    std::optional<int64_t> number = constantInt(element);
    if (!number)
      return std::nullopt;
    elements.push_back(*number);
  }
  return elements;
}

std::optional<double> netra::importer::splatLiteral(Value value) {
  auto literal =
      skipConversions(value).getDefiningOp<torch::VTensorLiteralOp>();
  if (!literal)
    return std::nullopt;
  auto dense = dyn_cast<DenseElementsAttr>(literal.getValue());
  if (!dense || !dense.isSplat())
    return std::nullopt;
  if (isa<FloatType>(dense.getElementType())) {
    APFloat number = dense.getSplatValue<APFloat>();
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return number.convertToDouble();
  }
  if (auto integer = dyn_cast<IntegerType>(dense.getElementType());
      integer && integer.getWidth() <= 64 && !integer.isUnsigned())
    return static_cast<double>(dense.getSplatValue<APInt>().getSExtValue());
  return std::nullopt;
}

bool netra::importer::isNumber(Value value, double expected) {
  if (std::optional<double> number = constantNumber(value))
    return *number == expected;
  if (std::optional<double> number = splatLiteral(value))
    return *number == expected;
  return false;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

std::optional<int64_t> netra::importer::normalizeDimension(int64_t dimension,
                                                           int64_t rank) {
  if (dimension < -rank || dimension >= rank)
    return std::nullopt;
  return dimension < 0 ? dimension + rank : dimension;
}

unsigned netra::importer::countDynamic(ArrayRef<int64_t> shape) {
  return llvm::count_if(shape, ShapedType::isDynamic);
}

std::optional<SmallVector<int64_t>>
netra::importer::rowsShape(RankedTensorType type) {
  if (!type || type.getRank() == 0)
    return std::nullopt;
  if (type.getRank() == 2)
    return SmallVector<int64_t>(type.getShape());
  if (countDynamic(type.getShape()) > 1)
    return std::nullopt;
  int64_t rows = 1;
  for (int64_t size : type.getShape().drop_back()) {
    if (ShapedType::isDynamic(size)) {
      rows = ShapedType::kDynamic;
      break;
    }
    rows *= size;
  }
  return SmallVector<int64_t>{rows, type.getShape().back()};
}

ArrayRef<int64_t> netra::importer::dropLeadingOnes(ArrayRef<int64_t> shape) {
  return shape.drop_while([](int64_t size) { return size == 1; });
}

//===----------------------------------------------------------------------===//
// Walking back through the graph
//===----------------------------------------------------------------------===//

bool netra::importer::isIdentity(Operation *op) {
  // Value semantics make copies and aliases alike; memory formats are no part
  // of a value.
  static const llvm::StringSet<> names = {
      "torch.aten.detach",          "torch.aten.detach_copy",
      "torch.aten.clone",           "torch.aten.contiguous",
      "torch.aten.alias",           "torch.aten.alias_copy",
      "torch.aten.lift_fresh_copy", "torch.tensor_static_info_cast"};
  if (!op || op->getNumOperands() == 0 || op->getNumResults() != 1)
    return false;
  StringRef name = op->getName().getStringRef();
  bool dropout = name == "torch.aten.dropout" && op->getNumOperands() == 3 &&
                 constantBool(op->getOperand(2)) == false;
  if (!dropout && !names.contains(name))
    return false;
  RankedTensorType type = tensorTypeOf(op->getOperand(0));
  return type && type == tensorTypeOf(op->getResult(0));
}

/// The element type that a torch dtype code stands for; null for codes that
/// have none here.
static Type elementTypeOfCode(MLIRContext *context, int64_t code) {
  Builder builder(context);
  switch (code) {
  case 0:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case 1:
    return builder.getIntegerType(8);
  case 2:
    return builder.getIntegerType(16);
  case 3:
    return builder.getIntegerType(32);
  case 4:
    return builder.getIntegerType(64);
  case 5:
    return builder.getF16Type();
  case 6:
    return builder.getF32Type();
  case 7:
    return builder.getF64Type();
  case 11:
    return builder.getI1Type();
  case 15:
    return builder.getBF16Type();
  case 23:
    return Float8E5M2Type::get(context);
  case 24:
    return Float8E4M3FNType::get(context);
  default:
    return {};
  }
}

bool netra::importer::isConversion(Operation *op) {
  if (!op || op->getNumOperands() == 0 || op->getNumResults() != 1)
    return false;
  StringRef name = op->getName().getStringRef();
  if (name != "torch.prims.convert_element_type" &&
      name != "torch.aten.to.dtype" && name != "torch.aten.to.dtype_layout" &&
      name != "torch.aten._to_copy")
    return false;
  RankedTensorType from = tensorTypeOf(op->getOperand(0));
  RankedTensorType to = tensorTypeOf(op->getResult(0));
  if (!from || !to || from.getShape() != to.getShape())
    return false;
  // The dtype must be the one the result has; `None` keeps the operand's.
  Value dtype = op->getNumOperands() > 1 ? op->getOperand(1) : Value();
  if (!dtype || isConstantNone(dtype))
    return from == to;
  std::optional<int64_t> code = constantInt(dtype);
  return code &&
         elementTypeOfCode(op->getContext(), *code) == to.getElementType();
}

Value netra::importer::skipIdentities(Value value) {
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (!isIdentity(op) &&
        !(isConversion(op) &&
          tensorTypeOf(op->getOperand(0)) == tensorTypeOf(value)))
      return value;
    value = op->getOperand(0);
  }
}

static Value skipConversionsIf(Value value,
                               function_ref<bool(Type, Type)> accept) {
  for (;;) {
    value = skipIdentities(value);
    Operation *op = value.getDefiningOp();
    if (!isConversion(op))
      return value;
    Type from = tensorTypeOf(op->getOperand(0)).getElementType();
    Type to = tensorTypeOf(value).getElementType();
    if (!isComputeType(from) || !isComputeType(to) || !accept(from, to))
      return value;
    value = op->getOperand(0);
  }
}

Value netra::importer::skipWidening(Value value) {
  return skipConversionsIf(value, isWidening);
}

Value netra::importer::skipConversions(Value value) {
  return skipConversionsIf(value, [](Type, Type) { return true; });
}

Operation *netra::importer::definedBy(Value value, StringRef name) {
  Operation *op = value.getDefiningOp();
  return op && op->getName().getStringRef() == name ? op : nullptr;
}

unsigned netra::importer::countUses(Value value) {
  return llvm::count_if(value.getUsers(), [](Operation *user) {
    return !isa<torch::BindSymbolicShapeOp>(user);
  });
}
