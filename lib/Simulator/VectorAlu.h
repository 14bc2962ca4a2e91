//===- VectorAlu.h - parts of the vector ALU --------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
#ifndef NETRA_LIB_SIMULATOR_VECTORALU_H
#define NETRA_LIB_SIMULATOR_VECTORALU_H

#include "Semantics.h"

namespace netra::sim::NETRA_SIM_VARIANT {

void registerVectorInteger(SemanticsTable &table);
void registerVectorFloat(SemanticsTable &table);
void registerVectorDouble(SemanticsTable &table);
void registerVectorHalf(SemanticsTable &table);
void registerTranscendental(SemanticsTable &table);
void registerCompare(SemanticsTable &table);
void registerPacked(SemanticsTable &table);
void registerScaledConversions(SemanticsTable &table);

} // namespace netra::sim::NETRA_SIM_VARIANT

#endif // NETRA_LIB_SIMULATOR_VECTORALU_H
