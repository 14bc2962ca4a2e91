//===- VectorAlu.cpp - registers the vector ALU ---------------------------===//
// SPDX-License-Identifier: MIT
#include "VectorAlu.h"

namespace netra::sim::NETRA_SIM_VARIANT {

void registerVectorAlu(SemanticsTable &table) {
  registerVectorInteger(table);
  registerVectorFloat(table);
  registerVectorDouble(table);
  registerVectorHalf(table);
  registerTranscendental(table);
  registerCompare(table);
  registerPacked(table);
}

} // namespace netra::sim::NETRA_SIM_VARIANT
