//===- KernelFileSystem.cpp - What templates may include ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "KernelFileSystem.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace netra {

/// A file that includes itself would go on until memory ends.
static constexpr unsigned maxOpened = 1000;

KernelFileSystem::KernelFileSystem(StringRef root) : root(root) {
  SmallString<256> real;
  if (!fs::real_path(root, real))
    realRoot = std::string(real);
}

ErrorOr<std::unique_ptr<vfs::File>>
KernelFileSystem::openFileForRead(const Twine &path) {
  std::string name = path.str();
  if (++opened > maxOpened)
    return refuse(name, "more than " + utostr(maxOpened) +
                            " includes; does a file include itself?");
  const SourceFile *file = load(name);
  if (!file)
    return std::make_error_code(std::errc::no_such_file_or_directory);
  if (inClosure.insert(name).second)
    closure.push_back(*file);
  return memory.openFileForRead("/" + name);
}

ErrorOr<vfs::Status> KernelFileSystem::status(const Twine &path) {
  std::string name = path.str();
  if (!load(name))
    return std::make_error_code(std::errc::no_such_file_or_directory);
  return memory.status("/" + name);
}

vfs::directory_iterator KernelFileSystem::dir_begin(const Twine &,
                                                    std::error_code &error) {
  error = std::make_error_code(std::errc::not_supported);
  return {};
}

std::error_code KernelFileSystem::setCurrentWorkingDirectory(const Twine &) {
  return std::make_error_code(std::errc::not_supported);
}

ErrorOr<std::string> KernelFileSystem::getCurrentWorkingDirectory() const {
  return std::string("/");
}

std::error_code KernelFileSystem::refuse(const std::string &name,
                                         const Twine &reason) {
  refusals.push_back(("include \"" + name + "\": " + reason).str());
  return std::make_error_code(std::errc::permission_denied);
}

const SourceFile *KernelFileSystem::load(const std::string &name) {
  if (auto found = known.find(name); found != known.end())
    return &found->second;
  SmallVector<StringRef> parts;
  StringRef(name).split(parts, '/');
  if (name.empty() || is_contained(parts, "..") || is_contained(parts, ".") ||
      is_contained(parts, "")) {
    refuse(name, "expected a plain path below the kernel folder");
    return nullptr;
  }
  SmallString<256> path(root), real;
  sys::path::append(path, name);
  if (fs::real_path(path, real)) {
    refuse(name, "expected a file of the kernel folder, found none");
    return nullptr;
  }
  // A link must not lead out of the kernel folder either.
  StringRef inside = real;
  if (!inside.consume_front(realRoot) || !inside.starts_with("/")) {
    refuse(name, "expected a file of the kernel folder, found a link out of "
                 "it");
    return nullptr;
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    refuse(name,
           "expected a readable file, found: " + buffer.getError().message());
    return nullptr;
  }
  std::string text = (*buffer)->getBuffer().str();
  std::string hash = sha256Hex(StringRef(text));
  SourceFile &file = known[name];
  file = {name, std::move(text), std::move(hash)};
  // Of a map that nothing is taken from, so the text stays where it is.
  memory.addFileNoOwn("/" + name, 0, MemoryBufferRef(file.text, file.path));
  return &file;
}

void KernelFileSystem::collect(const std::string &path,
                               std::vector<SourceFile> &found) {
  if (any_of(found, [&](const SourceFile &file) { return file.path == path; }))
    return;
  const SourceFile *file = load(path);
  if (!file)
    return;
  found.push_back(*file);
  findIncludes(file->text, found);
}

void KernelFileSystem::findIncludes(StringRef text,
                                    std::vector<SourceFile> &found) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    line = line.trim();
    if (line.consume_front(".include"))
      collect(line.split('"').second.split('"').first.str(), found);
  }
}

} // namespace netra
