//===- PackJournal.cpp - A packed file in the making ----------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "PackJournal.h"

#include "OutputFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace netra;
using namespace netra::tool;
using rt::Sha256;

static llvm::Error writeAt(int fd, uint64_t at, llvm::ArrayRef<uint8_t> bytes,
                           const std::string &path) {
  while (!bytes.empty()) {
    ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), off_t(at));
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return llvm::createStringError("cannot write " + path + ": " +
                                     std::strerror(put ? errno : ENOSPC));
    at += uint64_t(put);
    bytes = bytes.drop_front(size_t(put));
  }
  return llvm::Error::success();
}

static llvm::ArrayRef<uint8_t> bytesOf(llvm::StringRef text) {
  return {text.bytes_begin(), text.bytes_end()};
}

static std::string firstLine(const PartialFile::Identity &identity) {
  return "netra.pack-journal/1 weights=" + identity.weightsId +
         " checkpoint=" + identity.checkpoint +
         " bytes=" + std::to_string(identity.bytes) + "\n";
}

PartialFile::~PartialFile() {
  if (journalFd >= 0) {
    // What was packed before an error is worth keeping.
    llvm::consumeError(flush());
    ::close(journalFd);
  }
  if (fd >= 0)
    ::close(fd);
}

llvm::Error PartialFile::failed(const std::string &what,
                                const std::string &path) const {
  return llvm::createStringError(what + " " + path + ": " +
                                 std::strerror(errno));
}

/// Opens the partial file, of which one process at a time may be the owner.
llvm::Error PartialFile::lock() {
  // Another process may finish, and rename the file away, in between.
  for (int attempt = 0; attempt < 100; ++attempt) {
    fd = ::open(partial.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                0644);
    if (fd < 0)
      return failed("cannot create", partial);
    struct stat ours, named;
    if (::fstat(fd, &ours) || !S_ISREG(ours.st_mode))
      return llvm::createStringError("cannot write " + partial +
                                     ": expected a regular file");
    if (::flock(fd, LOCK_EX | LOCK_NB))
      return llvm::createStringError("cannot write " + partial +
                                     ": another pack-weights is writing it");
    if (::stat(partial.c_str(), &named) == 0 && named.st_ino == ours.st_ino &&
        named.st_dev == ours.st_dev)
      return llvm::Error::success();
    ::close(fd);
    fd = -1;
  }
  return llvm::createStringError("cannot write " + partial +
                                 ": other processes keep replacing it");
}

llvm::Error PartialFile::readJournal(const Identity &identity) {
  auto buffer = llvm::MemoryBuffer::getFile(journal, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::Error::success();
  llvm::StringRef text = (*buffer)->getBuffer();
  std::string expected = firstLine(identity);
  if (!text.consume_front(expected)) {
    // Without a whole first line nothing can have been promised.
    if (!text.contains('\n'))
      return llvm::Error::success();
    auto trimmed = [](llvm::StringRef line) { return line.split('\n').first; };
    return llvm::createStringError(
        "cannot continue " + partial +
        ": the interrupted run was for other weights or another checkpoint; "
        "expected \"" +
        trimmed(expected) + "\", found \"" + trimmed(text) +
        "\"; --restart discards it");
  }
  struct stat status;
  if (::fstat(fd, &status) || uint64_t(status.st_size) != fileBytes)
    return llvm::Error::success();
  while (text.contains('\n')) {
    auto [line, rest] = text.split('\n');
    auto [number, hex] = line.split(' ');
    uint64_t block;
    std::string digest;
    if (number.getAsInteger(10, block) || block >= done.size() ||
        hex.size() != 64 || !llvm::tryGetFromHex(hex, digest))
      break;
    done[block].emplace();
    std::copy(digest.begin(), digest.end(), done[block]->begin());
    text = rest;
  }
  return llvm::Error::success();
}

llvm::Error PartialFile::beginAnew(const Identity &identity) {
  // In this order a journal never speaks of another partial file.
  if (::unlink(journal.c_str()) && errno != ENOENT)
    return failed("cannot remove", journal);
  if (::ftruncate(fd, 0))
    return failed("cannot empty", partial);
  // Reserved now: a full disk is found before the work is done.
  if (int code = ::posix_fallocate(fd, 0, off_t(fileBytes))) {
    errno = code;
    llvm::Error error = failed(
        "cannot reserve " + std::to_string(fileBytes) + " bytes for", partial);
    ::unlink(partial.c_str());
    return error;
  }
  journalFd = ::open(journal.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (journalFd < 0)
    return failed("cannot create", journal);
  return writeAt(journalFd, 0, bytesOf(firstLine(identity)), journal);
}

llvm::Error PartialFile::open(const std::string &path, const Identity &identity,
                              bool restart) {
  target = path;
  partial = partialOf(path);
  journal = journalOf(path);
  if (std::string why = whyNotReplaceable(target); !why.empty())
    return llvm::createStringError("cannot write " + target + ": " + why);
  uint64_t blocks = packedBlockCount(identity.bytes);
  if (identity.bytes > uint64_t(INT64_MAX) / 2)
    return llvm::createStringError("the engine's weights do not fit a file");
  fileBytes = packedDataStart + identity.bytes + blocks * sizeof(Digest);
  done.assign(blocks, std::nullopt);
  if (llvm::Error error = lock())
    return error;
  if (!restart)
    if (llvm::Error error = readJournal(identity))
      return error;
  bool anything = llvm::any_of(
      done, [](const std::optional<Digest> &digest) { return digest; });
  if (!anything)
    return beginAnew(identity);
  // A torn last line would spoil the next one: written again as a whole.
  std::string lines = firstLine(identity);
  for (uint64_t block = 0; block < blocks; ++block)
    if (done[block])
      lines += std::to_string(block) + " " +
               llvm::toHex(*done[block], /*LowerCase=*/true) + "\n";
  if (llvm::Error error = writeOutput(journal, lines))
    return error;
  journalFd = ::open(journal.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  return journalFd < 0 ? failed("cannot open", journal)
                       : llvm::Error::success();
}

llvm::Expected<bool> PartialFile::confirm(uint64_t block, uint64_t bytes) {
  std::unique_ptr<uint8_t[]> buffer(new uint8_t[bytes]);
  for (uint64_t at = 0; at < bytes;) {
    ssize_t got =
        ::pread(fd, buffer.get() + at, bytes - at,
                off_t(packedDataStart + block * packedBlockBytes + at));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return failed("cannot read", partial);
    at += uint64_t(got);
  }
  const bool same = Sha256::digest(buffer.get(), bytes) == *done[block];
  if (!same)
    done[block].reset();
  return same;
}

llvm::Error PartialFile::add(uint64_t block, llvm::ArrayRef<uint8_t> bytes,
                             const Digest &digest, unsigned blocksPerFlush) {
  if (llvm::Error error = writeAt(
          fd, packedDataStart + block * packedBlockBytes, bytes, partial))
    return error;
  std::lock_guard<std::mutex> guard(mutex);
  done[block] = digest;
  pending += std::to_string(block) + " " +
             llvm::toHex(digest, /*LowerCase=*/true) + "\n";
  return ++pendingBlocks >= blocksPerFlush ? flush() : llvm::Error::success();
}

llvm::Error PartialFile::flush() {
  if (pending.empty())
    return llvm::Error::success();
  if (::fdatasync(fd))
    return failed("cannot write", partial);
  // Appends; the offset does not matter.
  if (llvm::Error error = writeAt(journalFd, 0, bytesOf(pending), journal))
    return error;
  pending.clear();
  pendingBlocks = 0;
  return llvm::Error::success();
}

llvm::Error PartialFile::finish(const EngineWeights &weights) {
  std::vector<Digest> digests;
  for (const std::optional<Digest> &digest : done)
    digests.push_back(*digest);
  llvm::ArrayRef<uint8_t> table(
      reinterpret_cast<const uint8_t *>(digests.data()),
      digests.size() * sizeof(Digest));
  if (llvm::Error error = flush())
    return error;
  if (llvm::Error error =
          writeAt(fd, packedDataStart + weights.bytes, table, partial))
    return error;
  if (llvm::Error error =
          writeAt(fd, 0, bytesOf(makePackedHeader(weights, digests)), partial))
    return error;
  if (::fchmod(fd, 0644) || ::fsync(fd) ||
      ::rename(partial.c_str(), target.c_str()))
    return failed("cannot finish", target);
  ::close(std::exchange(journalFd, -1));
  ::unlink(journal.c_str());
  // The name, too, is to survive a power failure.
  llvm::StringRef folder = llvm::sys::path::parent_path(target);
  int folderFd = ::open(folder.empty() ? "." : folder.str().c_str(),
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folderFd >= 0) {
    ::fsync(folderFd);
    ::close(folderFd);
  }
  return llvm::Error::success();
}
