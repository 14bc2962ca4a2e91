//===- PackJournal.h - A packed file in the making --------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// While weights are packed, FILE.partial holds the blocks that are done, and
// FILE.partial.journal says which these are. The journal is text: a line that
// tells for what the blocks are, then a line "NUMBER SHA-256" for each. A line
// is written after the block it names is on disk, so that whatever ends the
// process, or the machine, a journal never promises too much. A last line that
// is cut off does not count.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_ENGINE_PACKJOURNAL_H
#define NETRA_TOOLS_ENGINE_PACKJOURNAL_H

#include "PackedWeights.h"

#include <mutex>
#include <optional>

namespace netra::tool {

class PartialFile {
public:
  /// What the blocks are made for and from.
  struct Identity {
    std::string weightsId, checkpoint;
    uint64_t bytes = 0; // of weights
  };

  PartialFile() = default;
  PartialFile(const PartialFile &) = delete;
  PartialFile &operator=(const PartialFile &) = delete;
  ~PartialFile();

  /// Opens what an earlier run for `target` has left, or begins anew. Fails
  /// when that run is still going, or was for something else and `restart` is
  /// false.
  llvm::Error open(const std::string &target, const Identity &identity,
                   bool restart);

  /// Where the unfinished form of `target` lies, and the list of what is done.
  static std::string partialOf(const std::string &target) {
    return target + ".partial";
  }
  static std::string journalOf(const std::string &target) {
    return partialOf(target) + ".journal";
  }

  /// Forgets that a block is done if its bytes are not those that were hashed.
  /// True if they are. Safe to call from several threads, for different blocks.
  llvm::Expected<bool> confirm(uint64_t block, uint64_t bytes);

  /// The hash of each block that is done.
  const std::vector<std::optional<Digest>> &getDone() const { return done; }

  /// Takes a block over; waits for the disk when `blocksPerFlush` have come
  /// since the last time. Safe to call from several threads.
  llvm::Error add(uint64_t block, llvm::ArrayRef<uint8_t> bytes,
                  const Digest &digest, unsigned blocksPerFlush);

  /// Gives the file its header, hashes and name, and removes the journal. All
  /// blocks have been added.
  llvm::Error finish(const EngineWeights &weights);

private:
  llvm::Error failed(const std::string &what, const std::string &path) const;
  llvm::Error lock();
  llvm::Error readJournal(const Identity &identity);
  llvm::Error beginAnew(const Identity &identity);
  llvm::Error flush();

  std::string target, partial, journal;
  int fd = -1, journalFd = -1;
  uint64_t fileBytes = 0;
  std::vector<std::optional<Digest>> done;
  std::mutex mutex;
  std::string pending; // lines for blocks that may not be on disk yet
  unsigned pendingBlocks = 0;
};

} // namespace netra::tool

#endif // NETRA_TOOLS_ENGINE_PACKJOURNAL_H
