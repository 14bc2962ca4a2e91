//===- NetraOps.h - Operations of the netra dialect -------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// All operations, model level and engine level. Including this file is enough
// to use the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRAOPS_H
#define NETRA_IR_NETRAOPS_H

#include "Netra/IR/NetraAttributes.h"
#include "Netra/IR/NetraDialect.h"
#include "Netra/IR/NetraInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#define GET_OP_CLASSES
#include "Netra/IR/NetraOps.h.inc"

#define GET_OP_CLASSES
#include "Netra/IR/NetraNormOps.h.inc"

#define GET_OP_CLASSES
#include "Netra/IR/NetraMoeOps.h.inc"

#define GET_OP_CLASSES
#include "Netra/IR/NetraVocabularyOps.h.inc"

#define GET_OP_CLASSES
#include "Netra/IR/NetraEngineOps.h.inc"

#endif // NETRA_IR_NETRAOPS_H
