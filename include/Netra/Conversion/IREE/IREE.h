//===- IREE.h - util, stream and flow as exports carry them ----*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
// The few forms of IREE's dialects that exported torch graphs contain.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CONVERSION_IREE_IREE_H
#define NETRA_CONVERSION_IREE_IREE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Netra/Conversion/IREE/FlowDialect.h.inc"
#include "Netra/Conversion/IREE/HALDialect.h.inc"
#include "Netra/Conversion/IREE/StreamDialect.h.inc"
#include "Netra/Conversion/IREE/UtilDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Netra/Conversion/IREE/StreamAttributes.h.inc"

#define GET_OP_CLASSES
#include "Netra/Conversion/IREE/IREEOps.h.inc"

#endif // NETRA_CONVERSION_IREE_IREE_H
