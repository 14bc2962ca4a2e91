//===- CrossLane.cpp - Semantics that move data across lanes ---===//
// SPDX-License-Identifier: MIT

#include "Semantics.h"
#include "Wave.h"

namespace netra::sim::NETRA_SIM_VARIANT {

void registerCrossLane(SemanticsTable &table) {}

} // namespace netra::sim::NETRA_SIM_VARIANT
