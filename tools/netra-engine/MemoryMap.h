//===- MemoryMap.h - Plans of an engine's arena as text and drawing -------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_NETRA_ENGINE_MEMORYMAP_H
#define NETRA_TOOLS_NETRA_ENGINE_MEMORYMAP_H

#include "Netra/Target/Bundle.h"

#include <string>

namespace netra::tool {

/// The arena of a plan: its size, and each value with a character per step.
std::string describeMemory(const Engine &engine, const EnginePlan &plan);

/// The same as an SVG drawing: steps across, addresses up, a rectangle per
/// value from the step that writes it to the last one that reads it.
std::string drawMemory(const Engine &engine, const EnginePlan &plan);

} // namespace netra::tool

#endif // NETRA_TOOLS_NETRA_ENGINE_MEMORYMAP_H
