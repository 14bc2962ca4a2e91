//===- NetraDialect.h - The netra dialect -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_IR_NETRADIALECT_H
#define NETRA_IR_NETRADIALECT_H

#include "mlir/IR/Dialect.h"

#include "Netra/IR/NetraDialect.h.inc"

#endif // NETRA_IR_NETRADIALECT_H
