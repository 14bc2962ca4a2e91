//===- ScalarAlu.cpp - Scalar integer and logic semantics ---===//
// SPDX-License-Identifier: MIT

#include "Semantics.h"
#include "Wave.h"

namespace netra::sim::NETRA_SIM_VARIANT {

void registerScalarAlu(SemanticsTable &table) {}

} // namespace netra::sim::NETRA_SIM_VARIANT
