//===- Linker.h - lld inside the process ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_LINKER_H
#define NETRA_LIB_TARGET_LINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace netra {

/// Links relocatable objects, whose sections keep their order, to a loadable
/// code object. Calls from several
/// threads run one after the other, because lld keeps global state.
llvm::Expected<std::vector<uint8_t>>
linkCodeObject(llvm::ArrayRef<llvm::StringRef> objects);

} // namespace netra

#endif // NETRA_LIB_TARGET_LINKER_H
