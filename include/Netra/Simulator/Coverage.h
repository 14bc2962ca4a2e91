//===- Coverage.h - All instructions of the target --------------*- C++ -*-===//
// SPDX-License-Identifier: MIT

#ifndef NETRA_SIMULATOR_COVERAGE_H
#define NETRA_SIMULATOR_COVERAGE_H

#include "Netra/Simulator/Simulator.h"

namespace netra::sim {

/// What is known of each instruction of gfx950, sorted by mnemonic: those that
/// are modelled, and those that are refused. Encodings make no difference, and
/// `count` is 0.
llvm::Expected<std::vector<CodeObject::Coverage>> knownCoverage();

} // namespace netra::sim

#endif // NETRA_SIMULATOR_COVERAGE_H
