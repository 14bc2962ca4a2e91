//===- TargetInfo.h - Facts of the GPUs Netra compiles for ------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_TARGETINFO_H
#define NETRA_CATALOG_TARGETINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace netra {

/// Limits and peaks of one target. Entries of a static table.
struct TargetInfo {
  llvm::StringRef name;    // "gfx950", also LLVM's -mcpu
  llvm::StringRef isaName; // "amdgcn-amd-amdhsa--gfx950"
  uint32_t waveSize;
  uint32_t codeObjectVersion;
  uint32_t computeUnits;
  uint32_t maxWorkgroup; // work-items
  uint32_t maxGridYz;    // work-groups of the second and the third axis
  uint64_t maxLds;       // bytes per work-group
  uint32_t maxVgprs;     // architectural, per lane
  uint32_t maxAgprs;
  uint32_t maxSgprs;
  uint64_t memoryBytesPerMicrosecond;
  uint64_t bf16FlopPerMicrosecond; // dense matrix, also f16
  uint64_t fp8FlopPerMicrosecond;
  uint64_t f32FlopPerMicrosecond; // vector
};

/// The entry of `name`, or null.
const TargetInfo *findTarget(llvm::StringRef name);

llvm::ArrayRef<TargetInfo> allTargets();

/// The names of all targets, for messages: "gfx950, ...".
std::string listTargets();

} // namespace netra

#endif // NETRA_CATALOG_TARGETINFO_H
