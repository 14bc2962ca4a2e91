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

/// What the source of a kernel states of its contract besides dimensions, in
/// the order in which it does: "ARG_X", "GRID_Y", … without NETRA_.
std::vector<std::pair<std::string, uint64_t>>
launchDefinitions(const Contract &contract);

/// Where a generated source is not that of a kernel with this contract: in
/// dimensions, launch, places of arguments or constants that its schemes of
/// arithmetic name. A line each: "NETRA_M: expected 2, found 1".
std::vector<std::string> compareDefinitions(llvm::StringRef source,
                                            const Contract &contract);

/// The directives that every source begins with.
std::string targetDirectives(const TargetInfo &target);

/// The metadata note of a code object with these kernels. It is generated here
/// and nowhere else, so that a template cannot state its ABI a second time.
std::string metadataSource(llvm::ArrayRef<Instance> instances,
                           const TargetInfo &target);

} // namespace netra

#endif // NETRA_LIB_TARGET_INSTANCESOURCE_H
