//===- OutputFile.cpp - Files that tools write ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
namespace fs = llvm::sys::fs;

std::string netra::tool::whyNotReplaceable(StringRef path) {
  fs::file_status status;
  // What cannot be looked at is left to the attempt to write it.
  if (fs::status(path, status) || !fs::exists(status) ||
      fs::is_regular_file(status))
    return "";
  return std::string("expected the name of a regular file, found a ") +
         (fs::is_directory(status) ? "folder" : "special file");
}

static Error cannotWrite(StringRef path, std::error_code code) {
  return createStringError(code,
                           "cannot write " + path + ": " + code.message());
}

/// A stream that is destroyed with an error pending ends the process.
static Error writeTo(raw_fd_ostream &out, StringRef path, StringRef bytes) {
  out << bytes;
  out.flush();
  if (!out.has_error())
    return Error::success();
  const std::error_code code = out.error();
  out.clear_error();
  return cannotWrite(path, code);
}

Error netra::tool::writeOutput(StringRef path, StringRef bytes) {
  if (path == "-")
    return writeTo(outs(), "the standard output", bytes);
  if (!whyNotReplaceable(path).empty()) {
    std::error_code code;
    raw_fd_ostream out(path, code);
    return code ? cannotWrite(path, code) : writeTo(out, path, bytes);
  }
  Expected<fs::TempFile> temporary = fs::TempFile::create(path + ".%%%%%%");
  if (!temporary)
    return cannotWrite(path, errorToErrorCode(temporary.takeError()));
  Error error = Error::success();
  {
    raw_fd_ostream out(temporary->FD, /*shouldClose=*/false);
    error = writeTo(out, path, bytes);
  }
  if (error)
    return joinErrors(std::move(error), temporary->discard());
  if (Error failed = temporary->keep(path))
    return cannotWrite(path, errorToErrorCode(std::move(failed)));
  return Error::success();
}
