//===- InputFile.h - Files that tools read ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_COMMON_INPUTFILE_H
#define NETRA_TOOLS_COMMON_INPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace netra::tool {

/// Fails for a device, which may have no end, except /dev/null.
llvm::Error refuseDevice(llvm::StringRef path);

/// The contents of a file or pipe, or of stdin for "-". Folders are refused,
/// and devices, which may have no end. The error names the path, what was
/// expected and what was found.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readInput(llvm::StringRef path);

} // namespace netra::tool

#endif // NETRA_TOOLS_COMMON_INPUTFILE_H
