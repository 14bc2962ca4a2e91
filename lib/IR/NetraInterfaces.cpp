//===- NetraInterfaces.cpp - Interfaces of netra operations ---------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/IR/NetraInterfaces.h"

#include "Netra/IR/NetraInterfaces.cpp.inc"
