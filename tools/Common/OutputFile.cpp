//===- OutputFile.cpp - Files that tools write ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
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

/// The path without links and dots, as far as it exists.
static SmallString<256> realPath(StringRef path) {
  SmallString<256> real, rest(path);
  fs::make_absolute(rest);
  StringRef existing = rest;
  while (fs::real_path(existing, real) && sys::path::has_parent_path(existing))
    existing = sys::path::parent_path(existing);
  sys::path::append(real, StringRef(rest).drop_front(existing.size()));
  sys::path::remove_dots(real, /*remove_dot_dot=*/true);
  return real;
}

std::string netra::tool::whyNotApart(StringRef output,
                                     ArrayRef<std::string> inputs) {
  const SmallString<256> target = realPath(output);
  for (const std::string &input : inputs) {
    bool same = false;
    // Two names of one file need not look alike.
    if (!fs::equivalent(output, input, same) && same)
      return "it is " + input + ", which is being read";
    const SmallString<256> source = realPath(input);
    if (target == source)
      return "it is " + input + ", which is being read";
    if (fs::is_directory(input) && target.starts_with(source) &&
        sys::path::is_separator(target[source.size()]))
      return "it lies in " + input + ", which is being read";
  }
  return "";
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
  // Renaming onto a link would replace the link.
  SmallString<256> place(path);
  if (fs::is_symlink_file(path))
    place = realPath(path);
  Expected<fs::TempFile> temporary = fs::TempFile::create(place + ".%%%%%%");
  if (!temporary)
    return cannotWrite(path, errorToErrorCode(temporary.takeError()));
  Error error = Error::success();
  {
    raw_fd_ostream out(temporary->FD, /*shouldClose=*/false);
    error = writeTo(out, path, bytes);
  }
  if (error)
    return joinErrors(std::move(error), temporary->discard());
  if (Error failed = temporary->keep(place))
    return cannotWrite(path, errorToErrorCode(std::move(failed)));
  return Error::success();
}
