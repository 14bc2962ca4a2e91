//===- AsmDirectives.h - Custom directives of assembly formats --*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The parse and print halves of the `custom<...>` directives that several files
// of operations use.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_IR_ASMDIRECTIVES_H
#define NETRA_LIB_IR_ASMDIRECTIVES_H

#include "Netra/IR/NetraAttributes.h"

#include "mlir/IR/OpImplementation.h"

namespace netra {

/// custom<PackBody>($pack): `concat 0 [@a, @b] then layout n16k16`.
inline mlir::ParseResult parsePackBody(mlir::OpAsmParser &parser,
                                       PackAttr &pack) {
  pack = PackAttr::parseBody(parser);
  return mlir::success(static_cast<bool>(pack));
}

inline void printPackBody(mlir::OpAsmPrinter &printer, mlir::Operation *,
                          PackAttr pack) {
  pack.printBody(printer);
}

/// Reads `(types) -> types` and hands them out. All of `operands` have a type;
/// of `results`, those after the first `least` may have none.
inline mlir::ParseResult
parseFunctionTypes(mlir::OpAsmParser &parser,
                   llvm::ArrayRef<mlir::Type *> operands,
                   llvm::ArrayRef<mlir::Type *> results, size_t least) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  mlir::FunctionType type;
  if (parser.parseType(type))
    return mlir::failure();
  if (type.getNumInputs() != operands.size())
    return parser.emitError(loc)
           << "expected " << operands.size() << " operand types, found "
           << type.getNumInputs();
  if (type.getNumResults() < least || type.getNumResults() > results.size())
    return parser.emitError(loc)
           << "expected " << least << " to " << results.size()
           << " result types, found " << type.getNumResults();
  for (auto [index, input] : llvm::enumerate(type.getInputs()))
    *operands[index] = input;
  for (auto [index, result] : llvm::enumerate(type.getResults()))
    *results[index] = result;
  return mlir::success();
}

/// The results of a norm of rows in the order in which they are written. A
/// value beside the result is the sum, if there can be one, before it is the
/// rounded value: the constraints leave no choice.
inline mlir::ParseResult
parseNormTypes(mlir::OpAsmParser &parser, llvm::ArrayRef<mlir::Type *> operands,
               bool hasResidual, bool quantized, mlir::Type &result,
               mlir::Type &resultScale, mlir::Type &sum, mlir::Type &rounded) {
  llvm::SmallVector<mlir::Type *> results = {&result};
  if (quantized)
    results.push_back(&resultScale);
  size_t least = results.size();
  if (hasResidual || !quantized)
    results.push_back(&sum);
  if (quantized)
    results.push_back(&rounded);
  return parseFunctionTypes(parser, operands, results, least);
}

} // namespace netra

#endif // NETRA_LIB_IR_ASMDIRECTIVES_H
