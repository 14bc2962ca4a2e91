//===- Bundle.cpp - Reading an engine bundle ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "Sha256.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace netra::rt;

namespace {

/// Far above any real engine description, far below what would hurt.
constexpr uint64_t maxManifestBytes = uint64_t(256) << 20;

class Descriptor {
public:
  explicit Descriptor(const std::string &path)
      : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  const int fd;
};

Status systemError(const std::string &path, const char *what) {
  return {NETRA_IO, cat(path, ": cannot ", what, ": ", std::strerror(errno))};
}

} // namespace

Status netra::rt::readFile(const std::string &path, uint64_t limit,
                           std::vector<uint8_t> &contents) {
  Descriptor file(path);
  if (file.fd < 0)
    return systemError(path, "open");
  struct stat status;
  if (fstat(file.fd, &status))
    return systemError(path, "stat");
  if (!S_ISREG(status.st_mode))
    return {NETRA_IO, cat(path, ": expected a regular file")};
  if (uint64_t(status.st_size) > limit)
    return {NETRA_MANIFEST, cat(path, ": expected at most ", limit,
                                " bytes, found ", status.st_size)};
  contents.resize(size_t(status.st_size));
  size_t done = 0;
  while (done < contents.size()) {
    ssize_t got =
        ::read(file.fd, contents.data() + done, contents.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return systemError(path, "read");
    if (got == 0)
      return {NETRA_IO, cat(path, ": the file shrank while it was read")};
    done += size_t(got);
  }
  return Status::ok();
}

Status netra::rt::readBundle(const std::string &directory, Bundle &bundle) {
  std::string prefix = directory;
  if (prefix.empty() || prefix.back() != '/')
    prefix += '/';

  std::vector<uint8_t> text;
  NETRA_RETURN_IF_FAILED(
      readFile(prefix + "engine.json", maxManifestBytes, text));
  NETRA_RETURN_IF_FAILED(
      parseManifest({reinterpret_cast<const char *>(text.data()), text.size()},
                    bundle.manifest));
  NETRA_RETURN_IF_FAILED(verifyManifest(bundle.manifest));

  // Code is kept in memory, so that what is loaded is what was verified.
  const Manifest &manifest = bundle.manifest;
  bundle.code.resize(manifest.codeObjects.size());
  for (const ManifestFile &file : manifest.files) {
    std::vector<uint8_t> contents;
    NETRA_RETURN_IF_FAILED(readFile(prefix + file.path, file.bytes, contents));
    if (contents.size() != file.bytes)
      return {NETRA_MANIFEST, cat(file.path, ": expected ", file.bytes,
                                  " bytes, found ", contents.size())};
    std::string hash = Sha256::hash(contents.data(), contents.size());
    if (hash != file.sha256)
      return {NETRA_MANIFEST, cat(file.path, ": expected SHA-256 ", file.sha256,
                                  ", found ", hash)};
    for (size_t i = 0; i < manifest.codeObjects.size(); ++i)
      if (manifest.codeObjects[i].path == file.path)
        bundle.code[i] = contents;
  }
  for (size_t i = 0; i < manifest.codeObjects.size(); ++i) {
    CodeObjectFacts facts;
    NETRA_RETURN_IF_FAILED(
        readCodeObject(bundle.code[i], manifest.codeObjects[i].path, facts));
    NETRA_RETURN_IF_FAILED(
        verifyCodeObject(manifest, manifest.codeObjects[i], facts));
  }
  return Status::ok();
}
