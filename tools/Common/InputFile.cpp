//===- InputFile.cpp - Files that tools read ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "InputFile.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;
namespace fs = llvm::sys::fs;

Expected<std::unique_ptr<MemoryBuffer>> netra::tool::readInput(StringRef path) {
  fs::file_status status;
  if (path != "-" && !fs::status(path, status)) {
    bool isDevice = status.type() == fs::file_type::character_file ||
                    status.type() == fs::file_type::block_file;
    if (fs::is_directory(status) || (isDevice && path != "/dev/null"))
      return createStringError(path + ": expected a file, found a " +
                               (isDevice ? "device" : "folder"));
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      path == "-" ? MemoryBuffer::getSTDIN()
                  : MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/true);
  if (!buffer)
    return createStringError(buffer.getError(),
                             path + ": expected a readable file, found: " +
                                 buffer.getError().message());
  return std::move(*buffer);
}
