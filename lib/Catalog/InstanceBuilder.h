//===- InstanceBuilder.h - From a tactic and a problem to a kernel -*- C++ -*-//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CATALOG_INSTANCEBUILDER_H
#define NETRA_LIB_CATALOG_INSTANCEBUILDER_H

#include "Netra/Catalog/Catalog.h"

#include <optional>
#include <vector>

namespace netra {

/// The instance with these values of the tactic's options, or nothing and
/// `fault`. What the tactic matches must hold already.
std::optional<Instance> buildInstance(const Tactic &tactic,
                                      const Problem &problem,
                                      llvm::ArrayRef<int64_t> options,
                                      Mismatch &fault);

/// Tries option combinations in order and gives the first that works. On
/// failure `faults` has the distinct reasons, the first three of them.
std::optional<Instance> resolveOptions(const Tactic &tactic,
                                       const Problem &problem,
                                       std::vector<Mismatch> &faults);

} // namespace netra

#endif // NETRA_LIB_CATALOG_INSTANCEBUILDER_H
