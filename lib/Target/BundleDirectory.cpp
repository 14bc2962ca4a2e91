//===- BundleDirectory.cpp - Bundles on disk ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BundleFiles.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace netra {

static Error failWithErrno(StringRef what, StringRef where) {
  int code = errno;
  return createStringError(std::error_code(code, std::generic_category()),
                           where + ": " + what + ": " + sys::StrError(code));
}

/// Writes and syncs one file. The mode is set after creation, because open()
/// subtracts the umask.
static Error writeFile(const std::string &where, StringRef contents) {
  int descriptor =
      ::open(where.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return failWithErrno("cannot be created", where);
  llvm::scope_exit closer([&] { ::close(descriptor); });
  StringRef rest = contents;
  while (!rest.empty()) {
    ssize_t written = ::write(descriptor, rest.data(), rest.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failWithErrno("cannot be written", where);
    rest = rest.drop_front(static_cast<size_t>(written));
  }
  if (::fchmod(descriptor, 0644) != 0 || ::fsync(descriptor) != 0)
    return failWithErrno("cannot be synced", where);
  return Error::success();
}

static Error makeDirectory(const std::string &where) {
  if (::mkdir(where.c_str(), 0755) != 0)
    return failWithErrno("cannot be created", where);
  if (::chmod(where.c_str(), 0755) != 0)
    return failWithErrno("its mode cannot be set", where);
  return Error::success();
}

static Error syncDirectory(const std::string &where) {
  int descriptor = ::open(where.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return failWithErrno("cannot be opened", where);
  int result = ::fsync(descriptor);
  int code = errno;
  ::close(descriptor);
  errno = code;
  // Some file systems cannot sync folders; the files themselves are safe.
  if (result != 0 && code != EINVAL)
    return failWithErrno("cannot be synced", where);
  return Error::success();
}

/// Exchanges two folders in one step. False when the file system cannot.
static bool exchangeFolders(const std::string &left, const std::string &right) {
#ifdef SYS_renameat2
  constexpr unsigned renameExchange = 2;
  return ::syscall(SYS_renameat2, AT_FDCWD, left.c_str(), AT_FDCWD,
                   right.c_str(), renameExchange) == 0;
#else
  errno = ENOSYS;
  return false;
#endif
}

/// An existing destination must be a folder that is empty or holds an engine:
/// nothing else is ever replaced.
static Error checkDestination(const std::string &destination, bool &exists) {
  fs::file_status status;
  std::error_code error = fs::status(destination, status, /*follow=*/false);
  exists = fs::exists(status);
  if (error == std::errc::no_such_file_or_directory)
    return Error::success();
  if (error)
    return createStringError(error, destination + ": " + error.message());
  if (!fs::is_directory(status))
    return createStringError(destination +
                             ": expected a folder or nothing, found a file; "
                             "choose another place for the engine");
  SmallString<256> engine(destination);
  path::append(engine, engineFileName);
  if (fs::is_regular_file(engine))
    return Error::success();
  fs::directory_iterator first(destination, error), end;
  if (error)
    return createStringError(error, destination + ": " + error.message());
  if (first != end)
    return createStringError(
        destination + ": expected an engine (a folder with engine.json), an "
                      "empty folder or nothing, found a folder with other "
                      "files; it is left as it is");
  return Error::success();
}

Error writeBundle(const Engine &engine, const BundleFiles &files,
                  StringRef directory) {
  SmallString<256> absolute(directory);
  path::remove_dots(absolute, /*remove_dot_dot=*/false);
  while (absolute.size() > 1 && path::is_separator(absolute.back()))
    absolute.pop_back();
  if (absolute.empty())
    return createStringError("expected the name of a folder for the engine");
  if (std::error_code error = fs::make_absolute(absolute))
    return createStringError(error, directory + ": " + error.message());
  std::string destination(absolute);
  StringRef last = path::filename(destination);
  if (last == ".." || last == "/" || last == ".")
    return createStringError(destination +
                             ": expected a path that ends with the engine's "
                             "own folder name");
  std::string parent = path::parent_path(destination).str();
  if (!fs::is_directory(parent))
    return createStringError(destination + ": expected its parent \"" + parent +
                             "\" to be a folder");
  bool exists = false;
  if (Error error = checkDestination(destination, exists))
    return error;

  for (const auto &[file, contents] : files)
    if (!isBundlePath(file) || file == engineFileName)
      return createStringError("bundle file \"" + file +
                               "\": expected a relative path inside the "
                               "bundle other than engine.json");
  Engine final = engine;
  finalizeEngine(final, files);

  // Beside the destination, so that renaming stays on one file system.
  SmallString<256> staging;
  fs::createUniquePath(parent + "/." + last + ".netra-%%%%%%%%", staging,
                       /*MakeAbsolute=*/false);
  std::string temporary(staging);
  if (Error error = makeDirectory(temporary))
    return createStringError(destination + ": the engine cannot be written: " +
                             toString(std::move(error)));
  llvm::scope_exit cleanUp([&] { fs::remove_directories(temporary); });

  std::set<std::string> folders;
  for (const auto &[file, contents] : files)
    for (StringRef folder = path::parent_path(file); !folder.empty();
         folder = path::parent_path(folder))
      folders.insert(folder.str());
  for (const std::string &folder : folders) // parents sort before children
    if (Error error = makeDirectory(temporary + "/" + folder))
      return error;
  for (const auto &[file, contents] : files)
    if (Error error = writeFile(temporary + "/" + file, contents))
      return error;
  if (Error error = writeFile(temporary + "/" + engineFileName.str(),
                              writeEngineJson(final)))
    return error;
  for (const std::string &folder : folders)
    if (Error error = syncDirectory(temporary + "/" + folder))
      return error;
  if (Error error = syncDirectory(temporary))
    return error;

  if (!exists) {
    if (::rename(temporary.c_str(), destination.c_str()) != 0)
      return failWithErrno("the engine cannot be moved into place",
                           destination);
    cleanUp.release();
    return syncDirectory(parent);
  }
  // Readers see the old engine or the new one, never a mixture. After the
  // exchange the temporary name holds the old engine, and cleaning up ends it.
  if (exchangeFolders(temporary, destination))
    return syncDirectory(parent);
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
    return failWithErrno("the engine cannot be moved into place", destination);
  // Without exchange there is a moment without an engine; on failure the old
  // one goes back.
  std::string old = temporary + ".old";
  if (::rename(destination.c_str(), old.c_str()) != 0)
    return failWithErrno("the old engine cannot be moved away", destination);
  if (::rename(temporary.c_str(), destination.c_str()) != 0) {
    Error error =
        failWithErrno("the engine cannot be moved into place", destination);
    ::rename(old.c_str(), destination.c_str());
    return error;
  }
  cleanUp.release();
  fs::remove_directories(old);
  return syncDirectory(parent);
}

Expected<Engine> readBundle(StringRef directory) {
  SmallString<256> file(directory);
  path::append(file, engineFileName);
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(
        buffer.getError(),
        directory +
            ": expected an engine (a folder with engine.json), found: " +
            buffer.getError().message());
  return readEngineJson((*buffer)->getBuffer(), engineFileName);
}

} // namespace netra
