//===- TargetInfo.cpp - Facts of the GPUs Netra compiles for --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace netra {

// Peaks of the MI350X: 8 TB/s; 2.3 PFLOP/s bf16 and 4.6 PFLOP/s FP8 dense,
// 144 TFLOP/s vector f32.
static constexpr TargetInfo targets[] = {
    {/*name=*/"gfx950", /*isaName=*/"amdgcn-amd-amdhsa--gfx950",
     /*waveSize=*/64, /*codeObjectVersion=*/5, /*computeUnits=*/256,
     /*maxWorkgroup=*/1024, /*maxGridYz=*/65535, /*maxLds=*/160 * 1024,
     /*maxVgprs=*/256, /*maxAgprs=*/256, /*maxSgprs=*/102,
     /*memoryBytesPerMicrosecond=*/8'000'000,
     /*bf16FlopPerMicrosecond=*/2'300'000'000,
     /*fp8FlopPerMicrosecond=*/4'600'000'000,
     /*f32FlopPerMicrosecond=*/144'000'000},
};

ArrayRef<TargetInfo> allTargets() { return targets; }

std::string listTargets() {
  return join(
      map_range(targets, [](const TargetInfo &info) { return info.name; }),
      ", ");
}

const TargetInfo *findTarget(StringRef name) {
  const TargetInfo *found = find_if(
      targets, [&](const TargetInfo &target) { return target.name == name; });
  return found == std::end(targets) ? nullptr : found;
}

} // namespace netra
