//===- Bundle.cpp - Reading an engine bundle ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "Sha256.h"

#include <cerrno>
#include <cstdlib>
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

/// Reads a file that has to be the one of a size and hash. Messages call it
/// `name`.
static Status readHashed(const std::string &path, const std::string &name,
                         uint64_t bytes, const std::string &sha256,
                         std::vector<uint8_t> &contents) {
  NETRA_RETURN_IF_FAILED(readFile(path, bytes, contents));
  if (contents.size() != bytes)
    return {NETRA_MANIFEST,
            cat(name, ": expected ", bytes, " bytes, found ", contents.size())};
  std::string hash = Sha256::hash(contents.data(), contents.size());
  if (hash != sha256)
    return {NETRA_MANIFEST,
            cat(name, ": expected SHA-256 ", sha256, ", found ", hash)};
  return Status::ok();
}

/// `folder` with a slash at its end.
static std::string asPrefix(std::string folder) {
  if (folder.empty() || folder.back() != '/')
    folder += '/';
  return folder;
}

Status netra::rt::readBundle(const std::string &directory,
                             const char *goldenRoot, bool needsCode,
                             Bundle &bundle) {
  const std::string prefix = asPrefix(directory);
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
    NETRA_RETURN_IF_FAILED(readHashed(prefix + file.path, file.path, file.bytes,
                                      file.sha256, contents));
    for (size_t i = 0; i < manifest.codeObjects.size(); ++i)
      if (const ManifestCodeObject &object = manifest.codeObjects[i];
          !object.isLocked && object.path == file.path)
        bundle.code[i] = contents;
  }
  if (!goldenRoot)
    goldenRoot = std::getenv("NETRA_GOLDEN_ROOT");
  const bool hasRoot = goldenRoot && *goldenRoot;
  for (size_t i = 0; i < manifest.codeObjects.size(); ++i) {
    const ManifestCodeObject &object = manifest.codeObjects[i];
    if (object.isLocked && !hasRoot) {
      if (needsCode)
        return {NETRA_IO,
                cat("code object ", object.name,
                    ": expected its bytes, SHA-256 ", object.sha256,
                    ", which the engine only locks; name the folder that has ",
                    object.path,
                    " (options.golden_root, NETRA_GOLDEN_ROOT, or "
                    "--golden-root of netra-engine)")};
      continue;
    }
    if (object.isLocked) {
      const std::string path = asPrefix(goldenRoot) + object.path;
      NETRA_RETURN_IF_FAILED(readHashed(path, path, object.lockedBytes,
                                        object.sha256, bundle.code[i]));
    }
    CodeObjectFacts facts;
    NETRA_RETURN_IF_FAILED(readCodeObject(bundle.code[i], object.path, facts));
    NETRA_RETURN_IF_FAILED(verifyCodeObject(manifest, object, facts));
  }
  return Status::ok();
}
