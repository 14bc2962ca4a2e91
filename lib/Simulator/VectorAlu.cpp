//===- VectorAlu.cpp - Vector integer and floating-point semantics ---===//
// SPDX-License-Identifier: MIT

#include "Semantics.h"
#include "Wave.h"

namespace netra::sim::NETRA_SIM_VARIANT {

void registerVectorAlu(SemanticsTable &table) {}

} // namespace netra::sim::NETRA_SIM_VARIANT
