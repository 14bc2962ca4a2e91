//===- OutputFile.h - Files that tools write --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_COMMON_OUTPUTFILE_H
#define NETRA_TOOLS_COMMON_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace netra::tool {

/// Why \p path cannot be written by renaming a finished file onto it: empty
/// when nothing is there yet or a regular file is, else what was found instead.
std::string whyNotReplaceable(llvm::StringRef path);

/// Why \p output must not be written: it is one of \p inputs, files or folders
/// that are being read, under whatever name, or lies in one of the folders.
/// Empty when it may. Neither has to exist.
std::string whyNotApart(llvm::StringRef output,
                        llvm::ArrayRef<std::string> inputs);

/// Writes \p bytes to \p path, or to stdout for "-". A regular file is replaced
/// when all of it is on disk and stays as it is otherwise, behind a symbolic
/// link too; a device or a pipe is written to. The error names the path and the
/// reason.
llvm::Error writeOutput(llvm::StringRef path, llvm::StringRef bytes);

} // namespace netra::tool

#endif // NETRA_TOOLS_COMMON_OUTPUTFILE_H
