//===- Dependencies.h - Which steps wait for which --------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TRANSFORMS_DEPENDENCIES_H
#define NETRA_LIB_TRANSFORMS_DEPENDENCIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace netra {

/// Bytes that a step touches. Accesses of different `region`s never meet.
struct MemoryAccess {
  uint64_t region = 0;
  uint64_t begin = 0, end = 0;
  bool writes = false;
};

/// What one step of a schedule touches.
struct StepAccesses {
  llvm::SmallVector<MemoryAccess, 8> accesses;
  /// Steps with effects that are not known keep their order among themselves.
  bool isOpaque = false;
};

/// For each step the earlier steps it waits for, rising: read after write,
/// write after read and write after write on overlapping bytes. A dependency
/// that others imply is left out.
std::vector<llvm::SmallVector<int64_t, 4>>
computeDependencies(llvm::ArrayRef<StepAccesses> steps);

} // namespace netra

#endif // NETRA_LIB_TRANSFORMS_DEPENDENCIES_H
