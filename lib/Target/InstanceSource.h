//===- InstanceSource.h - Parts of generated sources ------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_INSTANCESOURCE_H
#define NETRA_LIB_TARGET_INSTANCESOURCE_H

#include "Netra/Catalog/TargetInfo.h"
#include "Netra/Target/Assembler.h"

namespace netra {

/// The directives that every source begins with.
std::string targetDirectives(const TargetInfo &target);

/// The metadata note of a code object with these kernels. It is generated here
/// and nowhere else, so that a template cannot state its ABI a second time.
std::string metadataSource(llvm::ArrayRef<Instance> instances,
                           const TargetInfo &target);

} // namespace netra

#endif // NETRA_LIB_TARGET_INSTANCESOURCE_H
