//===- AssemblyCache.cpp - Code objects kept between runs -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// An entry is a file KEY.code:
//
//   netra.assembled/1 <SHA-256 of all that follows this line>
//   key KEY
//   file <path below the kernel folder>      one line each, the closure
//   code
//   <bytes of the code object>
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/AssemblyCache.h"

#include "BundleFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace netra {

static constexpr StringRef magic = "netra.assembled/1 ";

AssemblyCache::AssemblyCache(StringRef folder) {
  SmallString<256> absolute(folder);
  // The working directory may change later. If there is none, the first access
  // says so.
  (void)fs::make_absolute(absolute);
  this->folder = std::string(absolute);
}

std::string AssemblyCache::pathOf(StringRef key) const {
  SmallString<256> path(folder);
  sys::path::append(path, key + ".code");
  return std::string(path);
}

void AssemblyCache::refuse(StringRef key, const Twine &why) {
  std::lock_guard<std::mutex> lock(mutex);
  refused[key.str()] = why.str();
}

bool AssemblyCache::settle(StringRef key, bool isWarning,
                           const Twine &outcome) {
  std::lock_guard<std::mutex> lock(mutex);
  auto entry = refused.find(key.str());
  if (entry == refused.end())
    return false;
  tell(isWarning, "entry " + key + " " + entry->second + "; " + outcome);
  refused.erase(entry);
  return true;
}

void AssemblyCache::tell(bool isWarning, const Twine &text) {
  notes.push_back(
      {isWarning, ("assembly cache " + folder + ": " + text).str()});
}

void AssemblyCache::warnOnce(const Twine &text) {
  std::lock_guard<std::mutex> lock(mutex);
  if (hasWarned)
    return;
  hasWarned = true;
  tell(/*isWarning=*/true, text);
}

std::vector<AssemblyCache::Note> AssemblyCache::takeNotes() {
  std::lock_guard<std::mutex> lock(mutex);
  // Of kernels that did not come to be put there.
  for (const auto &[key, why] : std::exchange(refused, {}))
    tell(/*isWarning=*/false, "entry " + key + " " + why + "; not used");
  return std::exchange(notes, {});
}

/// Takes an entry apart. Fails with what is wrong with it.
static Expected<AssembledKernel> readEntry(StringRef text, StringRef key,
                                           ArrayRef<SourceFile> includes) {
  if (!text.consume_front(magic))
    return createStringError("expected it to begin with \"" + magic + "\"");
  auto [stated, body] = text.split('\n');
  if (std::string hash = sha256Hex(body); hash != stated)
    return createStringError("expected contents with SHA-256 " + stated +
                             ", found " + hash);
  if (!body.consume_front("key ") || !body.consume_front(key) ||
      !body.consume_front("\n"))
    return createStringError("expected the entry of this key, found that of " +
                             body.take_until([](char c) { return c == '\n'; }));
  AssembledKernel kernel;
  while (body.consume_front("file ")) {
    auto [path, rest] = body.split('\n');
    StringRef wanted = path;
    const SourceFile *found = find_if(
        includes, [&](const SourceFile &file) { return file.path == wanted; });
    if (found == includes.end())
      return createStringError("expected files that the source includes, "
                               "found " +
                               wanted);
    kernel.closure.push_back(*found);
    body = rest;
  }
  if (!body.consume_front("code\n"))
    return createStringError("expected a code object after the files");
  Expected<CodeObject> object = readCodeObject(
      std::vector<uint8_t>(body.bytes_begin(), body.bytes_end()));
  if (!object)
    return object.takeError();
  kernel.object = std::move(*object);
  return kernel;
}

std::optional<AssembledKernel>
AssemblyCache::find(StringRef key, ArrayRef<SourceFile> includes) {
  std::string path = pathOf(key);
  auto miss = [&] {
    ++misses;
    return std::nullopt;
  };
  auto damaged = [&](const Twine &what) {
    refuse(key, "is damaged: " + what);
    return miss();
  };
  auto unreadable = [&](std::error_code error) {
    // Deleted meanwhile is as good as never there.
    if (error != std::errc::no_such_file_or_directory)
      refuse(key, "cannot be read: " + error.message());
    return miss();
  };
  fs::file_status status;
  if (std::error_code error = fs::status(path, status, /*follow=*/false)) {
    // It is the folder that says so.
    if (error != std::errc::no_such_file_or_directory)
      warnOnce("cannot be read: " + error.message() +
               "; kernels are assembled without it");
    return miss();
  }
  if (std::error_code error = fs::status(path, status))
    return unreadable(error);
  if (!fs::is_regular_file(status))
    return damaged(fs::is_directory(status) ? "expected a file, found a folder"
                                            : "expected a file");
  // Volatile: read and not mapped, since somebody may cut it short meanwhile.
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
      /*IsVolatile=*/true);
  if (!buffer)
    return unreadable(buffer.getError());
  Expected<AssembledKernel> kernel =
      readEntry((*buffer)->getBuffer(), key, includes);
  if (!kernel)
    return damaged(llvm::toString(kernel.takeError()));
  ++hits;
  return std::move(*kernel);
}

void AssemblyCache::insert(StringRef key, const AssembledKernel &kernel) {
  std::string body = ("key " + key + "\n").str();
  for (const SourceFile &file : kernel.closure)
    body += "file " + file.path + "\n";
  body += "code\n";
  body.append(kernel.object.bytes.begin(), kernel.object.bytes.end());
  std::string entry = (magic + sha256Hex(StringRef(body)) + "\n").str() + body;
  if (std::error_code error = fs::create_directories(folder)) {
    warnOnce("expected a folder or a place for one: " + error.message() +
             "; kernels are assembled without it");
    return;
  }
  std::string path = pathOf(key);
  // A file cannot be moved to where a folder is. This removes nothing but an
  // empty one, whoever else is at work there.
  (void)::rmdir(path.c_str());
  Error error = replaceFile(path, entry);
  if (!error) {
    (void)settle(key, /*isWarning=*/false, "assembled again and replaced");
    return;
  }
  std::string why = llvm::toString(std::move(error));
  if (!settle(key, /*isWarning=*/true,
              "assembled again, but not replaced: " + why + "; remove it"))
    warnOnce("cannot be written: " + why + "; what is assembled is not kept");
}

} // namespace netra
