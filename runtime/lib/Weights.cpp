//===- Weights.cpp - The packed weights file ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Weights.h"
#include "Sha256.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace netra::rt;
using nlohmann::json;

namespace {

constexpr const char *tensorName = "netra.weights";
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
  if (std::string format = stringOf(metadata, "format");
      format != "netra.weights/1")
    return bad(cat("expected packed weights of format netra.weights/1, found ",
                   format.empty() ? "a file without that mark" : format,
                   "; pack a checkpoint with netra-engine pack-weights"));
  if (std::string id = stringOf(metadata, "weights_id"); id != expected.id)
    return bad(cat("expected weights ", expected.id, ", found ", id,
                   "; the file was packed for another engine"));
  const json &tensor = member(document, tensorName);
  const json &offsets = member(tensor, "data_offsets");
  if (stringOf(tensor, "dtype") != "U8" || !offsets.is_array() ||
      offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    return bad(cat("expected a U8 tensor ", tensorName));
  uint64_t begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
  uint64_t available = size - 8 - header;
  if (begin > end || end > available)
    return bad(cat("the tensor occupies [", begin, ", ", end, ") of ",
                   available, " bytes of data; the file is cut off"));
  if (end - begin != expected.bytes)
    return bad(cat("expected ", expected.bytes, " bytes of weights, found ",
                   end - begin));
  data = {bytes + 8 + header + begin, size_t(end - begin)};
  if (checkHash) {
    madvise(mapping, mapped, MADV_SEQUENTIAL);
    std::string want = stringOf(metadata, "sha256");
    std::string have = Sha256::hash(data.data(), data.size());
    if (have != want)
      return bad(cat("expected weights with SHA-256 ", want, ", found ", have,
                     "; the file is damaged"));
  }
  return Status::ok();
}
