//===- CodeSharing.h - Equal machine code in one code object ----*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_CODESHARING_H
#define NETRA_LIB_TARGET_CODESHARING_H

#include "Netra/Target/Assembler.h"

namespace netra {

/// A kernel of an engine and what it was assembled to.
struct SharingKernel {
  const Instance *instance;
  AssembledKernel *assembled;
};

/// Gives kernels with equal `.text` one code object that has all of their
/// symbols, each with its own descriptor and metadata, and the machine code
/// once. Golden code keeps its bytes, and code with data of its own is left
/// alone. Kernels of one symbol have been made to equal bytes.
llvm::Error shareCode(llvm::ArrayRef<SharingKernel> kernels,
                      const Assembler &assembler);

} // namespace netra

#endif // NETRA_LIB_TARGET_CODESHARING_H
