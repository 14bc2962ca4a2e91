//===- Conversions.cpp - Conversions between number formats ---===//
// SPDX-License-Identifier: MIT

#include "Semantics.h"
#include "Wave.h"

namespace netra::sim::NETRA_SIM_VARIANT {

void registerConversions(SemanticsTable &table) {}

} // namespace netra::sim::NETRA_SIM_VARIANT
