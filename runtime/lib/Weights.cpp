//===- Weights.cpp - The packed weights file ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Weights.h"
#include "Sha256.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace netra::rt;
using nlohmann::json;

namespace {

constexpr const char *formatName = "netra.weights/2";
constexpr const char *tensorName = "netra.weights";
constexpr const char *blocksName = "netra.blocks";
constexpr uint64_t blockBytes = uint64_t(4) << 20;
constexpr uint64_t maxHeaderBytes = uint64_t(1) << 20;

std::string stringOf(const json &object, const char *key) {
  if (!object.is_object())
    return "";
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : std::string();
}

} // namespace

WeightsFile::~WeightsFile() {
  if (mapping)
    munmap(mapping, mapped);
}

Status WeightsFile::open(const std::string &path,
                         const ManifestWeights &expected, bool checkHash) {
  auto bad = [&](std::string what) {
    return Status(NETRA_MANIFEST, cat(path, ": ", std::move(what)));
  };
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return {NETRA_IO, cat(path, ": cannot open: ", std::strerror(errno))};
  struct stat status;
  bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  uint64_t size = regular ? uint64_t(status.st_size) : 0;
  void *map =
      size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  int mapError = errno;
  ::close(fd);
  if (!regular)
    return {NETRA_IO, cat(path, ": expected a regular file")};
  if (size < 8)
    return bad(cat("expected a safetensors file, found ", size, " bytes"));
  if (map == MAP_FAILED)
    return {NETRA_IO, cat(path, ": cannot map: ", std::strerror(mapError))};
  mapping = map;
  mapped = size;

  const auto *bytes = static_cast<const uint8_t *>(mapping);
  uint64_t header = 0;
  for (int i = 7; i >= 0; --i)
    header = header << 8 | bytes[i];
  if (header > maxHeaderBytes || header > size - 8)
    return bad(cat("expected a safetensors header of at most ",
                   std::min(maxHeaderBytes, size - 8), " bytes, found ",
                   header));
  json document = json::parse(bytes + 8, bytes + 8 + header, nullptr,
                              /*allow_exceptions=*/false);
  if (!document.is_object())
    return bad("the safetensors header is not a JSON object");
  static const json none;
  auto member = [](const json &object, const char *key) -> const json & {
    auto found = object.is_object() ? object.find(key) : object.end();
    return found != object.end() ? *found : none;
  };
  const json &metadata = member(document, "__metadata__");
  if (std::string format = stringOf(metadata, "format"); format != formatName)
    return bad(cat("expected packed weights of format ", formatName, ", found ",
                   format.empty() ? "a file without that mark" : format,
                   "; pack a checkpoint with netra-engine pack-weights"));
  if (std::string id = stringOf(metadata, "weights_id"); id != expected.id)
    return bad(cat("expected weights ", expected.id, ", found ", id,
                   "; the file was packed for another engine"));
  uint64_t available = size - 8 - header;
  auto find = [&](const char *name, std::span<const uint8_t> &found) {
    const json &tensor = member(document, name);
    const json &offsets = member(tensor, "data_offsets");
    if (stringOf(tensor, "dtype") != "U8" || !offsets.is_array() ||
        offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned())
      return bad(cat("expected a U8 tensor ", name));
    uint64_t begin = offsets[0].get<uint64_t>();
    uint64_t end = offsets[1].get<uint64_t>();
    if (begin > end || end > available)
      return bad(cat("the tensor ", name, " occupies [", begin, ", ", end,
                     ") of ", available,
                     " bytes of data; the file is cut "
                     "off"));
    found = {bytes + 8 + header + begin, size_t(end - begin)};
    return Status::ok();
  };
  std::span<const uint8_t> digests;
  NETRA_RETURN_IF_FAILED(find(tensorName, data));
  NETRA_RETURN_IF_FAILED(find(blocksName, digests));
  if (data.size() != expected.bytes)
    return bad(cat("expected ", expected.bytes, " bytes of weights, found ",
                   data.size()));
  uint64_t blocks = data.size() / blockBytes + (data.size() % blockBytes != 0);
  if (digests.size() / 32 != blocks || digests.size() % 32 != 0)
    return bad(cat("expected ", blocks, " hashes of 32 bytes in ", blocksName,
                   ", found ", digests.size(), " bytes"));
  if (!checkHash)
    return Status::ok();
  std::string want = stringOf(metadata, "sha256");
  std::string have = Sha256::hash(digests.data(), digests.size());
  if (have != want)
    return bad(cat("expected hashes with SHA-256 ", want, ", found ", have,
                   "; the file is damaged"));
  return compareBlocks(path, expected, digests);
}

Status WeightsFile::compareBlocks(const std::string &path,
                                  const ManifestWeights &expected,
                                  std::span<const uint8_t> digests) const {
  // The first block that differs, so that the message does not depend on the
  // order in which the threads get on.
  const uint64_t blocks = digests.size() / 32;
  std::atomic<uint64_t> next{0}, damaged{blocks};
  auto blockOf = [&](uint64_t block) {
    uint64_t begin = block * blockBytes;
    return data.subspan(begin,
                        std::min<uint64_t>(blockBytes, data.size() - begin));
  };
  auto work = [&] {
    for (uint64_t block; (block = next++) < damaged.load();) {
      std::span<const uint8_t> bytes = blockOf(block);
      Sha256::Digest have = Sha256::digest(bytes.data(), bytes.size());
      if (std::equal(have.begin(), have.end(), &digests[32 * block]))
        continue;
      uint64_t first = damaged.load();
      while (block < first && !damaged.compare_exchange_weak(first, block))
        ;
    }
  };
  uint64_t threads =
      std::clamp<uint64_t>(std::thread::hardware_concurrency(), 1, 16);
  std::vector<std::thread> pool;
  try {
    while (pool.size() + 1 < std::min(threads, blocks))
      pool.emplace_back(work);
  } catch (const std::system_error &) {
    // Fewer threads do as well.
  }
  work();
  for (std::thread &thread : pool)
    thread.join();
  const uint64_t block = damaged.load();
  if (block == blocks)
    return Status::ok();
  std::span<const uint8_t> bytes = blockOf(block);
  uint64_t begin = block * blockBytes, end = begin + bytes.size();
  std::string names;
  for (const ManifestWeight &weight : expected.entries)
    if (weight.offset < end && weight.offset + weight.bytes > begin) {
      names += names.empty() ? " (in " : ", ";
      // A block may hold hundreds of small ones.
      if (names.size() > 200) {
        names += "…";
        break;
      }
      names += weight.name;
    }
  if (!names.empty())
    names += ")";
  return {NETRA_MANIFEST,
          cat(path, ": weights [", begin, ", ", end, ")", names,
              ": expected SHA-256 ",
              hexadecimal(digests.subspan(32 * block, 32)), ", found ",
              Sha256::hash(bytes.data(), bytes.size()),
              "; the file is damaged")};
}
