//===- SafeTensors.cpp - Reading checkpoints ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SafeTensors.h"

#include "Sha256.h"

#include "Netra/Catalog/ElementType.h"
#include "Netra/Catalog/Json.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

using namespace netra;
using namespace netra::tool;
using rt::Sha256;
using Json = nlohmann::json;

//===----------------------------------------------------------------------===//
// InputFile
//===----------------------------------------------------------------------===//

InputFile::InputFile(InputFile &&other) noexcept
    : path(std::move(other.path)), fd(std::exchange(other.fd, -1)),
      bytes(other.bytes), seconds(other.seconds),
      nanoseconds(other.nanoseconds) {}

InputFile::~InputFile() {
  if (fd >= 0)
    ::close(fd);
}

llvm::Error InputFile::open(const std::string &file) {
  path = file;
  // A pipe would let open wait for a writer.
  fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (fd < 0 || ::fstat(fd, &status))
    return llvm::createStringError(path +
                                   ": cannot open: " + std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return llvm::createStringError(path + ": expected a regular file");
  bytes = uint64_t(status.st_size);
  seconds = status.st_mtim.tv_sec;
  nanoseconds = status.st_mtim.tv_nsec;
  return llvm::Error::success();
}

std::string InputFile::getStamp() const {
  return std::to_string(bytes) + " " + std::to_string(seconds) + " " +
         std::to_string(nanoseconds);
}

llvm::Error InputFile::read(uint64_t begin,
                            llvm::MutableArrayRef<uint8_t> destination) const {
  while (!destination.empty()) {
    ssize_t got =
        ::pread(fd, destination.data(), destination.size(), off_t(begin));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return llvm::createStringError(path +
                                     ": cannot read: " + std::strerror(errno));
    if (got == 0)
      return llvm::createStringError(
          path + ": expected " + std::to_string(bytes) +
          " bytes as when it was opened, found the end at " +
          std::to_string(begin));
    begin += uint64_t(got);
    destination = destination.drop_front(size_t(got));
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Checkpoint
//===----------------------------------------------------------------------===//

static std::optional<ElementType> findType(const std::string &dtype) {
  static const std::map<std::string, ElementType> types = {
      {"BF16", ElementType::BF16},
      {"F16", ElementType::F16},
      {"F32", ElementType::F32},
      {"F64", ElementType::F64},
      {"F8_E4M3", ElementType::F8E4M3FN},
      {"F8_E5M2", ElementType::F8E5M2},
      {"I8", ElementType::I8},
      {"U8", ElementType::U8},
      {"I16", ElementType::I16},
      {"U16", ElementType::U16},
      {"I32", ElementType::I32},
      {"U32", ElementType::U32},
      {"I64", ElementType::I64},
      {"U64", ElementType::U64}};
  auto found = types.find(dtype);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

/// Why the entry describes no tensor in `available` bytes of data; empty, with
/// `tensor` filled but for its file, when it does.
static std::string readEntry(const Json &entry, uint64_t available,
                             CheckpointTensor &tensor) {
  static const Json none;
  auto member = [&](const char *key) -> const Json & {
    auto found = entry.is_object() ? entry.find(key) : entry.end();
    return entry.is_object() && found != entry.end() ? *found : none;
  };
  const Json &dtype = member("dtype"), &shape = member("shape"),
             &offsets = member("data_offsets");
  if (!dtype.is_string() || !shape.is_array() || !offsets.is_array() ||
      offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    return "expected dtype, shape and data_offsets";
  tensor.dtype = dtype.get<std::string>();
  tensor.type = findType(tensor.dtype);
  for (const Json &extent : shape) {
    if (!extent.is_number_unsigned() ||
        extent.get<uint64_t>() > uint64_t(INT64_MAX))
      return "expected extents that are not negative";
    tensor.shape.push_back(extent.get<int64_t>());
  }
  uint64_t begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
  if (begin > end || end > available)
    return "its data [" + std::to_string(begin) + ", " + std::to_string(end) +
           ") lies outside the " + std::to_string(available) +
           " bytes of data; the file may be cut off";
  tensor.begin = begin;
  tensor.bytes = end - begin;
  // The size of an element of another type is not known here.
  if (tensor.type) {
    llvm::Expected<uint64_t> bytes = tensorBytes(*tensor.type, tensor.shape);
    if (!bytes)
      return llvm::toString(bytes.takeError());
    if (*bytes != tensor.bytes)
      return "expected " + std::to_string(*bytes) + " bytes of data for " +
             tensorName(*tensor.type, tensor.shape) + ", found " +
             std::to_string(tensor.bytes);
  }
  return "";
}

void Checkpoint::addFile(const std::string &path,
                         std::vector<std::string> *names) {
  // The format's own limit.
  constexpr uint64_t maxHeaderBytes = 100000000;
  paths.push_back(path);
  InputFile opened;
  if (llvm::Error error = opened.open(path)) {
    problems.push_back(llvm::toString(std::move(error)));
    return;
  }
  if (opened.size() < 8)
    return problem(path, "expected a safetensors file, found " +
                             std::to_string(opened.size()) + " bytes");
  uint8_t prefix[8];
  if (llvm::Error error = opened.read(0, prefix)) {
    problems.push_back(llvm::toString(std::move(error)));
    return;
  }
  uint64_t header = llvm::support::endian::read64le(prefix);
  if (header > opened.size() - 8 || header > maxHeaderBytes)
    return problem(
        path, "expected a safetensors header of at most " +
                  std::to_string(std::min(opened.size() - 8, maxHeaderBytes)) +
                  " bytes, found " + std::to_string(header) +
                  "; the file is cut off or is none");
  std::string text(header, '\0');
  if (llvm::Error error = opened.read(
          8, {reinterpret_cast<uint8_t *>(text.data()), text.size()})) {
    problems.push_back(llvm::toString(std::move(error)));
    return;
  }
  llvm::Expected<Json> document = json::parseSorted(text, path + ", header");
  if (!document) {
    problems.push_back(llvm::toString(document.takeError()));
    return;
  }
  if (!document->is_object())
    return problem(path, "the header is not a JSON object");
  files.push_back(std::move(opened));
  const InputFile &file = files.back();
  stamps[llvm::sys::path::filename(path).str()] +=
      file.getStamp() + " " + Sha256::hash(text) + "\n";
  const uint64_t dataBegin = 8 + header;

  struct Range {
    uint64_t begin, end;
    const std::string *name;
  };
  std::vector<Range> ranges;
  const size_t problemsBefore = problems.size();
  for (auto it = document->begin(); it != document->end(); ++it) {
    if (it.key() == "__metadata__") {
      if (!it->is_object() || !llvm::all_of(*it, [](const Json &value) {
            return value.is_string();
          }))
        problem(path, "__metadata__: expected an object of strings");
      continue;
    }
    std::string where = path + ", tensor " + it.key();
    CheckpointTensor tensor;
    if (std::string why = readEntry(*it, file.size() - dataBegin, tensor);
        !why.empty()) {
      problem(where, why);
      continue;
    }
    if (tensor.bytes)
      ranges.push_back({tensor.begin, tensor.begin + tensor.bytes, &it.key()});
    tensor.begin += dataBegin;
    tensor.file = &file;
    if (names)
      names->push_back(it.key());
    auto [place, fresh] = tensors.emplace(it.key(), std::move(tensor));
    if (!fresh)
      problem(where, "is also in " + place->second.file->getPath());
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return std::tie(a.begin, a.end, *a.name) <
           std::tie(b.begin, b.end, *b.name);
  });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].begin < ranges[i - 1].end)
      problem(path, "the data of " + *ranges[i].name + " overlaps that of " +
                        *ranges[i - 1].name);
  // A tensor that was refused has a reason of its own.
  if (const uint64_t end = ranges.empty() ? 0 : ranges.back().end;
      problems.size() == problemsBefore && end != file.size() - dataBegin)
    problem(path, "expected " + std::to_string(end) +
                      " bytes of data, as many as its tensors have, found " +
                      std::to_string(file.size() - dataBegin));
}

void Checkpoint::addIndex(const std::string &path) {
  constexpr uint64_t maxIndexBytes = 1000000000;
  paths.push_back(path);
  InputFile file;
  std::string text;
  llvm::Error error = file.open(path);
  if (!error && file.size() > maxIndexBytes)
    error = llvm::createStringError(
        path + ": expected at most " + std::to_string(maxIndexBytes) +
        " bytes, found " + std::to_string(file.size()));
  if (!error) {
    text.resize(file.size());
    error =
        file.read(0, {reinterpret_cast<uint8_t *>(text.data()), text.size()});
  }
  if (error) {
    problems.push_back(llvm::toString(std::move(error)));
    return;
  }
  llvm::Expected<Json> document = json::parseSorted(text, path);
  if (!document) {
    problems.push_back(llvm::toString(document.takeError()));
    return;
  }
  auto map =
      document->is_object() ? document->find("weight_map") : document->end();
  if (!document->is_object() || map == document->end() || !map->is_object())
    return problem(path, "expected an object with an object weight_map, which "
                         "gives the file of each tensor");
  stamps[llvm::sys::path::filename(path).str()] += Sha256::hash(text) + "\n";

  std::map<std::string, std::vector<std::string>> tensorsOf; // by shard
  for (auto it = map->begin(); it != map->end(); ++it) {
    std::string shard = it->is_string() ? it->get<std::string>() : "";
    if (shard.empty() || shard == "." || shard == ".." ||
        shard.find('/') != std::string::npos)
      problem(path,
              "tensor " + it.key() +
                  ": expected the name of a file beside the index, "
                  "found " +
                  it->dump(-1, ' ', false, Json::error_handler_t::replace));
    else
      tensorsOf[shard].push_back(it.key());
  }
  for (const auto &[shard, expected] : tensorsOf) {
    llvm::SmallString<256> shardPath(path);
    llvm::sys::path::remove_filename(shardPath);
    llvm::sys::path::append(shardPath, shard);
    std::vector<std::string> found;
    size_t before = problems.size();
    addFile(shardPath.str().str(), &found);
    std::set<std::string> names(found.begin(), found.end());
    // What an unreadable shard lacks has been said.
    if (problems.size() == before || !names.empty())
      for (const std::string &name : expected)
        if (!names.erase(name))
          problem(path, "tensor " + name + ": expected in " + shard +
                            ", which does not hold it");
  }
}

void Checkpoint::add(const std::string &path) {
  llvm::StringRef name(path);
  if (!llvm::sys::fs::is_directory(path))
    return name.ends_with(".index.json") ? addIndex(path)
                                         : addFile(path, nullptr);
  std::vector<std::string> names, indexes;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(path, error), end;
       it != end && !error; it.increment(error)) {
    llvm::StringRef entry(it->path());
    if (entry.ends_with(".safetensors"))
      names.push_back(it->path());
    else if (entry.ends_with(".safetensors.index.json"))
      indexes.push_back(it->path());
  }
  if (error)
    return problem(path, error.message());
  if (indexes.size() > 1)
    return problem(path, "holds " + std::to_string(indexes.size()) +
                             " indexes of shards; name one of them");
  if (!indexes.empty())
    return addIndex(indexes.front());
  if (names.empty())
    return problem(path, "holds no *.safetensors file");
  std::sort(names.begin(), names.end());
  for (const std::string &file : names)
    addFile(file, nullptr);
}

const CheckpointTensor *Checkpoint::find(const std::string &name) const {
  auto found = tensors.find(name);
  return found != tensors.end() ? &found->second : nullptr;
}

std::vector<std::string> Checkpoint::findBeside(llvm::StringRef prefix) const {
  constexpr size_t most = 3;
  std::vector<std::string> names;
  for (auto it = tensors.lower_bound(prefix.str());
       !prefix.empty() && it != tensors.end() &&
       llvm::StringRef(it->first).starts_with(prefix);
       ++it) {
    if (names.size() == most) {
      names.push_back("…");
      break;
    }
    names.push_back(it->first);
  }
  return names;
}

std::string Checkpoint::getFingerprint() const {
  std::string text;
  for (const auto &[name, stamp] : stamps)
    text += name + "\n" + stamp;
  return Sha256::hash(text);
}
