//===- AsmDirectives.h - Custom directives of assembly formats --*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The parse and print halves of the `custom<...>` directives that both files of
// operations use.
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

} // namespace netra

#endif // NETRA_LIB_IR_ASMDIRECTIVES_H
