//===- ContractVerifier.h - Can a contract be kept? -------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_CONTRACTVERIFIER_H
#define NETRA_CATALOG_CONTRACTVERIFIER_H

#include "Netra/Catalog/Contract.h"

namespace netra {

/// Holds a contract that has been read against the limits of its target and
/// against itself: launch and memory, arguments and the operands they belong
/// to, attributes and the values that kernels can have. The message has a line
/// for each fault, with what was expected and what was found.
llvm::Error verifyContract(const Contract &contract);

} // namespace netra

#endif // NETRA_CATALOG_CONTRACTVERIFIER_H
