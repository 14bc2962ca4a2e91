//===- BundleDirectory.cpp - Bundles on disk ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BundleFiles.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <sys/file.h>
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

static Expected<int> createFile(const std::string &where) {
  int descriptor =
      ::open(where.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return failWithErrno("cannot be created", where);
  return descriptor;
}

/// Writes, syncs and closes a file that was created. The mode is set after
/// creation, because open() subtracts the umask.
static Error fillFile(int descriptor, const std::string &where,
                      StringRef contents) {
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

static Error writeFile(const std::string &where, StringRef contents) {
  Expected<int> descriptor = createFile(where);
  if (!descriptor)
    return descriptor.takeError();
  return fillFile(*descriptor, where, contents);
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

/// An existing destination must be a folder that is empty or holds what is
/// written there and nothing else: no file that a user may want to keep is ever
/// replaced.
static Error checkDestination(const std::string &destination,
                              const FolderKind &kind, bool &exists) {
  fs::file_status status;
  std::error_code error = fs::status(destination, status, /*follow=*/false);
  exists = fs::exists(status);
  if (error == std::errc::no_such_file_or_directory)
    return Error::success();
  if (error)
    return createStringError(error, destination + ": " + error.message());
  if (!fs::is_directory(status))
    return createStringError(
        destination + ": expected a folder or nothing, found a " +
        (status.type() == fs::file_type::symlink_file ? "symbolic link"
                                                      : "file") +
        "; choose another place for the " + kind.name);
  auto refuse = [&](const Twine &found) {
    return createStringError(
        destination + ": expected " + kind.withArticle +
        " and nothing else, an empty folder or nothing, found a folder with " +
        found + "; it is left as it is");
  };
  fs::directory_iterator first(destination, error), end;
  if (error)
    return createStringError(error, destination + ": " + error.message());
  if (first == end)
    return Error::success();
  Expected<std::vector<std::string>> files = kind.listFiles(destination);
  if (!files) {
    consumeError(files.takeError());
    return refuse("other files and no " + kind.marker + " of " +
                  kind.withArticle);
  }
  StringSet<> known;
  known.insert(kind.marker);
  for (const std::string &file : *files)
    for (StringRef at = file; !at.empty(); at = path::parent_path(at))
      known.insert(at);
  for (fs::recursive_directory_iterator it(destination, error,
                                           /*follow_symlinks=*/false),
       last;
       it != last && !error; it.increment(error)) {
    StringRef name = StringRef(it->path()).drop_front(destination.size() + 1);
    if (!known.contains(name))
      return refuse("\"" + name + "\", which is no part of the " + kind.name +
                    " there");
  }
  if (error)
    return createStringError(error, destination + ": " + error.message());
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Staging
//===----------------------------------------------------------------------===//

namespace {

/// The folder in which an engine is put together. It goes with this object,
/// with the process when abandonStaging is called, and by the next run for the
/// same destination otherwise: its owner holds a lock that ends with it.
class Staging {
public:
  ~Staging() {
    std::lock_guard<std::mutex> guard(mutex);
    if (!folder.empty())
      fs::remove_directories(folder);
    active.erase(folder);
    if (lock >= 0)
      ::close(lock);
  }

  Error create(StringRef parent, StringRef name) {
    std::string prefix = ("." + name + ".netra-").str();
    removeStale(parent, prefix);
    // Another run may take a folder that is not locked yet for a stale one.
    constexpr unsigned attempts = 64;
    for (unsigned attempt = 1; attempt <= attempts; ++attempt) {
      SmallString<256> unique;
      fs::createUniquePath(parent + "/" + prefix + "%%%%%%%%", unique,
                           /*MakeAbsolute=*/false);
      std::lock_guard<std::mutex> guard(mutex);
      folder = std::string(unique);
      if (::mkdir(folder.c_str(), 0755) != 0) {
        Error error = failWithErrno("cannot be created", folder);
        folder.clear();
        return error;
      }
      active.insert(folder);
      lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0 &&
          ::fchmod(lock, 0755) == 0 && fs::is_directory(folder))
        return Error::success();
      if (lock >= 0)
        ::close(lock);
      lock = -1;
      active.erase(folder);
    }
    folder.clear();
    return createStringError(parent + ": no folder could be locked in " +
                             Twine(attempts) + " attempts");
  }

  Error addFolder(const std::string &name) {
    std::lock_guard<std::mutex> guard(mutex);
    return makeDirectory(folder + "/" + name);
  }
  Error addFile(const std::string &name, StringRef contents) {
    std::lock_guard<std::mutex> guard(mutex);
    return writeFile(folder + "/" + name, contents);
  }

  const std::string &getFolder() const { return folder; }
  /// It has become the engine. The mutex is held.
  void release() {
    active.erase(folder);
    folder.clear();
  }

  /// Held while anything is written below a staging folder or moved.
  static std::mutex mutex;
  /// Folders, and files that are on their way by themselves.
  static std::set<std::string> active;

private:
  /// Folders of runs that were killed: nobody holds their lock.
  static void removeStale(StringRef parent, StringRef prefix) {
    std::error_code error;
    for (fs::directory_iterator it(parent, error), end; it != end && !error;
         it.increment(error)) {
      if (!path::filename(it->path()).starts_with(prefix))
        continue;
      int descriptor = ::open(it->path().c_str(),
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (descriptor < 0)
        continue;
      if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        fs::remove_directories(it->path());
      ::close(descriptor);
    }
  }

  std::string folder;
  int lock = -1;
};

std::mutex Staging::mutex;
std::set<std::string> Staging::active;

} // namespace

void abandonStaging() {
  Staging::mutex.lock(); // for good: nothing may be written from here on
  for (const std::string &path : Staging::active)
    fs::is_directory(path) ? fs::remove_directories(path) : fs::remove(path);
}

/// Moves a complete engine from `staging` to `destination`, which `exists` or
/// not.
static Error moveIntoPlace(Staging &staging, const std::string &destination,
                           const FolderKind &kind, bool exists) {
  const std::string cannotMove =
      ("the " + kind.name + " cannot be moved into place").str();
  std::lock_guard<std::mutex> guard(Staging::mutex);
  const std::string temporary = staging.getFolder();
  if (!exists) {
    if (::rename(temporary.c_str(), destination.c_str()) == 0) {
      staging.release();
      return Error::success();
    }
    // Another run may have put an engine there in the meantime.
    if (errno != EEXIST && errno != ENOTEMPTY)
      return failWithErrno(cannotMove, destination);
    if (Error error = checkDestination(destination, kind, exists))
      return error;
  }
  // Readers see the old engine or the new one, never a mixture. After the
  // exchange the temporary name holds the old engine, and cleaning up ends it.
  if (exchangeFolders(temporary, destination))
    return Error::success();
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
    return failWithErrno(cannotMove, destination);
  // Without exchange there is a moment without an engine; on failure the old
  // one goes back.
  std::string old = temporary + ".old";
  if (::rename(destination.c_str(), old.c_str()) != 0)
    return failWithErrno(
        ("the old " + kind.name + " cannot be moved away").str(), destination);
  if (::rename(temporary.c_str(), destination.c_str()) != 0) {
    Error error = failWithErrno(cannotMove, destination);
    ::rename(old.c_str(), destination.c_str());
    return error;
  }
  staging.release();
  fs::remove_directories(old);
  return Error::success();
}

/// Reads no more of engine.json than the list, so that an engine of another
/// version of the format is an engine as well.
static Expected<std::vector<std::string>> listEngineFiles(StringRef folder) {
  SmallString<256> where(folder);
  path::append(where, engineFileName);
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(where);
  if (!buffer)
    return createStringError(buffer.getError(), "cannot be read");
  Expected<llvm::json::Value> document =
      llvm::json::parse((*buffer)->getBuffer());
  if (!document)
    return document.takeError();
  const llvm::json::Object *engine = document->getAsObject();
  const llvm::json::Array *list = engine ? engine->getArray("files") : nullptr;
  if (!list ||
      !engine->getString("format").value_or("").starts_with("netra.engine/"))
    return createStringError("is not the engine.json of an engine");
  std::vector<std::string> files;
  for (const llvm::json::Value &entry : *list)
    if (const llvm::json::Object *file = entry.getAsObject())
      if (std::optional<StringRef> name = file->getString("path"))
        files.push_back(name->str());
  return files;
}

Error writeBundle(const Engine &engine, const BundleFiles &files,
                  StringRef directory) {
  for (const auto &[file, contents] : files)
    if (!isBundlePath(file) || file == engineFileName)
      return createStringError("bundle file \"" + file +
                               "\": expected a relative path inside the "
                               "bundle other than engine.json");
  Engine final = engine;
  finalizeEngine(final, files);
  BundleFiles all = files;
  all[engineFileName.str()] = writeEngineJson(final);
  return replaceFolder(
      all, directory, {"an engine", "engine", engineFileName, listEngineFiles});
}

Error replaceFolder(const BundleFiles &files, StringRef directory,
                    const FolderKind &kind) {
  SmallString<256> absolute(directory);
  path::remove_dots(absolute, /*remove_dot_dot=*/false);
  while (absolute.size() > 1 && path::is_separator(absolute.back()))
    absolute.pop_back();
  if (absolute.empty())
    return createStringError("expected the name of a folder for the " +
                             kind.name);
  if (std::error_code error = fs::make_absolute(absolute))
    return createStringError(error, directory + ": " + error.message());
  std::string destination(absolute);
  StringRef last = path::filename(destination);
  if (last == ".." || last == "/" || last == ".")
    return createStringError(destination +
                             ": expected a path that ends with the " +
                             kind.name + "'s own folder name");
  std::string parent = path::parent_path(destination).str();
  if (!fs::is_directory(parent))
    return createStringError(destination + ": expected its parent \"" + parent +
                             "\" to be a folder");
  bool exists = false;
  if (Error error = checkDestination(destination, kind, exists))
    return error;

  // Beside the destination, so that renaming stays on one file system.
  Staging staging;
  if (Error error = staging.create(parent, last))
    return createStringError(
        destination + ": the " + kind.name +
        " cannot be written: " + toString(std::move(error)));

  std::set<std::string> folders;
  for (const auto &[file, contents] : files)
    for (StringRef folder = path::parent_path(file); !folder.empty();
         folder = path::parent_path(folder))
      folders.insert(folder.str());
  for (const std::string &folder : folders) // parents sort before children
    if (Error error = staging.addFolder(folder))
      return error;
  for (const auto &[file, contents] : files)
    if (Error error = staging.addFile(file, contents))
      return error;
  for (const std::string &folder : folders)
    if (Error error = syncDirectory(staging.getFolder() + "/" + folder))
      return error;
  if (Error error = syncDirectory(staging.getFolder()))
    return error;
  if (Error error = moveIntoPlace(staging, destination, kind, exists))
    return error;
  return syncDirectory(parent);
}

Error replaceFile(const std::string &where, StringRef contents) {
  SmallString<256> unique;
  fs::createUniquePath(path::parent_path(where) + "/." + path::filename(where) +
                           ".netra-%%%%%%%%",
                       unique, /*MakeAbsolute=*/false);
  std::string temporary(unique);
  Expected<int> descriptor = [&] {
    std::lock_guard<std::mutex> guard(Staging::mutex);
    Expected<int> created = createFile(temporary);
    if (created)
      Staging::active.insert(temporary);
    return created;
  }();
  if (!descriptor)
    return descriptor.takeError();
  // Not under the mutex: syncing takes long, and what is written to a file
  // that has been removed meanwhile goes with it.
  Error error = fillFile(*descriptor, temporary, contents);
  std::lock_guard<std::mutex> guard(Staging::mutex);
  if (!error && ::rename(temporary.c_str(), where.c_str()) != 0)
    error = failWithErrno("cannot be moved into place", where);
  if (error)
    fs::remove(temporary);
  Staging::active.erase(temporary);
  return error;
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
