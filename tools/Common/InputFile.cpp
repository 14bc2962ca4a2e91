//===- InputFile.cpp - Files that tools read ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "InputFile.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;
namespace fs = llvm::sys::fs;

Error netra::tool::refuseDevice(StringRef path) {
  fs::file_status status;
  // What is not there, or not to be read, is told by whoever opens it.
  if (path == "/dev/null" || fs::status(path, status) ||
      (status.type() != fs::file_type::character_file &&
       status.type() != fs::file_type::block_file))
    return Error::success();
  return createStringError(path + ": expected a file, found a device");
}

Expected<std::unique_ptr<MemoryBuffer>> netra::tool::readInput(StringRef path) {
  if (path != "-") {
    if (fs::is_directory(path))
      return createStringError(path + ": expected a file, found a folder");
    if (Error error = refuseDevice(path))
      return error;
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
