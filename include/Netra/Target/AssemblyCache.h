//===- AssemblyCache.h - Code objects kept between runs ---------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A folder of code objects by a hash over everything that they are made from:
// the generated source, the bytes of every file that it includes, the target
// and the assembler. Paths, times and users do not enter.
//
// Any number of processes may use a folder at the same time, and files in it
// may be deleted at any time: an entry is written beside its place and moved
// there, and one that is read is held against its own hash.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TARGET_ASSEMBLYCACHE_H
#define NETRA_TARGET_ASSEMBLYCACHE_H

#include "Netra/Target/Assembler.h"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace netra {

/// Functions may be called from several threads. None of them fails: what
/// cannot be read is assembled, and what cannot be written is assembled again
/// the next time.
class AssemblyCache {
public:
  /// The folder need not be there yet; it is made with the first entry.
  explicit AssemblyCache(llvm::StringRef folder);

  /// Closure and code object of the entry of `key`. Its files are taken from
  /// `includes`, which `key` covers. An entry that is damaged or cannot be read
  /// counts as none.
  std::optional<AssembledKernel> find(llvm::StringRef key,
                                      llvm::ArrayRef<SourceFile> includes);

  /// Puts a kernel there, in the place of a damaged entry, an empty folder or
  /// anything else that is no folder.
  void insert(llvm::StringRef key, const AssembledKernel &kernel);

  struct Note {
    bool isWarning = false; // or else a remark
    std::string text;
  };
  /// What there is to tell since the last call: about each entry that could not
  /// be used what was wrong and what has become of it, a warning if it is still
  /// there and a remark otherwise; and a warning, once, that the folder cannot
  /// be used.
  std::vector<Note> takeNotes();

  /// How often `find` has found something, and how often not.
  size_t getHits() const { return hits; }
  size_t getMisses() const { return misses; }
  const std::string &getFolder() const { return folder; }

private:
  std::string pathOf(llvm::StringRef key) const;
  /// Notes what is wrong with an entry until `insert` says how that ended.
  void refuse(llvm::StringRef key, const llvm::Twine &why);
  /// Tells what was noted; false if nothing was.
  bool settle(llvm::StringRef key, bool isWarning, const llvm::Twine &outcome);
  void warnOnce(const llvm::Twine &text);
  /// With the mutex held.
  void tell(bool isWarning, const llvm::Twine &text);

  std::string folder;
  std::atomic<size_t> hits = 0, misses = 0;
  std::mutex mutex;
  std::map<std::string, std::string> refused; // why, by key
  bool hasWarned = false;
  std::vector<Note> notes;
};

} // namespace netra

#endif // NETRA_TARGET_ASSEMBLYCACHE_H
