//===- KernelFileSystem.h - What templates may include ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_KERNELFILESYSTEM_H
#define NETRA_LIB_TARGET_KERNELFILESYSTEM_H

#include "Netra/Target/Assembler.h"

#include "llvm/Support/VirtualFileSystem.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace netra {

/// What `.include` may see: files below the kernel folder, by relative path.
/// Each file is read once and kept, so that what is hashed, what is assembled
/// and what is recorded cannot differ. Used by one thread.
class KernelFileSystem : public llvm::vfs::FileSystem {
public:
  explicit KernelFileSystem(llvm::StringRef root);

  /// Another source is about to be assembled: files opened count from here.
  void beginSource() { opened = 0; }

  /// The files that were opened, in order of first opening.
  const std::vector<SourceFile> &getClosure() const { return closure; }

  /// Adds the file `path` and what it includes to `found`, each file once and
  /// each right before what it includes; comments and conditions do not matter.
  void collect(const std::string &path, std::vector<SourceFile> &found);
  /// As `collect`, for what `text` includes.
  void findIncludes(llvm::StringRef text, std::vector<SourceFile> &found);

  /// Why files could not be seen.
  std::vector<std::string> refusals;

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &path) override;
  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &path) override;
  llvm::vfs::directory_iterator dir_begin(const llvm::Twine &path,
                                          std::error_code &error) override;
  std::error_code setCurrentWorkingDirectory(const llvm::Twine &path) override;
  llvm::ErrorOr<std::string> getCurrentWorkingDirectory() const override;

private:
  std::error_code refuse(const std::string &name, const llvm::Twine &reason);
  /// The file, or null when it cannot be seen.
  const SourceFile *load(const std::string &name);

  std::string root, realRoot;
  llvm::vfs::InMemoryFileSystem memory;
  std::map<std::string, SourceFile> known;
  std::vector<SourceFile> closure;
  std::set<std::string> inClosure;
  unsigned opened = 0;
};

} // namespace netra

#endif // NETRA_LIB_TARGET_KERNELFILESYSTEM_H
