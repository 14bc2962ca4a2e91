//===- Matrix.cpp - Matrix instructions ---===//
// SPDX-License-Identifier: MIT

#include "Semantics.h"
#include "Wave.h"

namespace netra::sim::NETRA_SIM_VARIANT {

void registerMatrix(SemanticsTable &table, MatrixArithmetic arithmetic) {}

} // namespace netra::sim::NETRA_SIM_VARIANT
