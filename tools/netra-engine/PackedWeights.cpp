//===- PackedWeights.cpp - Writing and checking packed weights ------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "PackedWeights.h"

#include "PackJournal.h"
#include "Parallel.h"

#include "Netra/Catalog/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <atomic>
#include <cstring>
#include <optional>

using namespace netra;
using namespace netra::tool;
using rt::Sha256;
using Json = nlohmann::json;

static constexpr const char *formatName = "netra.weights/2";
static constexpr const char *weightsName = "netra.weights";
static constexpr const char *blocksName = "netra.blocks";

uint64_t netra::tool::packedBlockCount(uint64_t bytes) {
  return bytes / packedBlockBytes + (bytes % packedBlockBytes != 0);
}

static uint64_t blockSize(uint64_t bytes, uint64_t block) {
  return std::min(packedBlockBytes, bytes - block * packedBlockBytes);
}

std::string netra::tool::makePackedHeader(const EngineWeights &weights,
                                          llvm::ArrayRef<Digest> digests) {
  const uint64_t end = weights.bytes + digests.size() * sizeof(Digest);
  const Json header = {
      {"__metadata__",
       {{"format", formatName},
        {"weights_id", weights.id},
        {"sha256",
         Sha256::hash(digests.data(), digests.size() * sizeof(Digest))}}},
      {weightsName,
       {{"dtype", "U8"},
        {"shape", Json::array({weights.bytes})},
        {"data_offsets", Json::array({0, weights.bytes})}}},
      {blocksName,
       {{"dtype", "U8"},
        {"shape", Json::array({digests.size(), sizeof(Digest)})},
        {"data_offsets", Json::array({weights.bytes, end})}}}};
  std::string text = header.dump();
  // safetensors allows a header to be padded with spaces.
  text.resize(packedDataStart - 8, ' ');
  std::string size(8, '\0');
  llvm::support::endian::write64le(size.data(), text.size());
  return size + text;
}

std::string netra::tool::weightsInBlock(const EngineWeights &weights,
                                        uint64_t block) {
  uint64_t begin = block * packedBlockBytes;
  uint64_t end = begin + blockSize(weights.bytes, block);
  std::string names;
  for (const EngineWeight &weight : weights.entries) {
    if (weight.offset >= end || weight.offset + weight.bytes <= begin)
      continue;
    if (names.size() > 200)
      return names + ", …";
    names += (names.empty() ? "" : ", ") + weight.name;
  }
  return names.empty() ? "no weight" : names;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

llvm::Error
SourceReader::read(uint64_t from,
                   llvm::MutableArrayRef<uint8_t> destination) const {
  if (tensors.size() == 1)
    return tensors.front()->read(from, destination);
  while (!destination.empty()) {
    const uint64_t size = tensors.front()->bytes, begin = from % size;
    const uint64_t part = std::min<uint64_t>(destination.size(), size - begin);
    if (llvm::Error error =
            tensors[from / size]->read(begin, destination.take_front(part)))
      return error;
    destination = destination.drop_front(part);
    from += part;
  }
  return llvm::Error::success();
}

/// The module that holds a tensor of this name, as the beginning of the names
/// beside it: of a series that of the series.
static llvm::StringRef moduleOf(llvm::StringRef name) {
  name = name.split("{}").first;
  return name.take_front(name.rfind('.') + 1);
}

std::vector<const CheckpointTensor *>
WeightPacker::findTensors(const PackSource &source, const std::string &weight,
                          const Checkpoint &checkpoint,
                          std::vector<std::string> &problems, size_t &unseen) {
  std::vector<const CheckpointTensor *> tensors;
  std::vector<std::string> missing;
  auto where = [&](const std::string &name) {
    return "tensor " + name + " (for weight " + weight + "): ";
  };
  for (int64_t i = 0; i < source.getCount(); ++i) {
    const PackSource expected = source.getTensor(i);
    const CheckpointTensor *tensor = checkpoint.find(expected.checkpoint);
    if (!tensor) {
      missing.push_back(expected.checkpoint);
      continue;
    }
    if (tensor->type != expected.type || tensor->shape != expected.shape) {
      std::string found = tensor->type
                              ? tensorName(*tensor->type, tensor->shape)
                              : "dtype " + tensor->dtype;
      problems.push_back(where(expected.checkpoint) + "expected " +
                         tensorName(expected.type, expected.shape) +
                         ", found " + found + " in " + tensor->file->getPath());
    }
    tensors.push_back(tensor);
  }
  // A checkpoint of more experts is that of another model.
  if (source.isSeries()) {
    const std::string next = source.getTensor(source.getCount()).checkpoint;
    if (const CheckpointTensor *more = checkpoint.find(next))
      problems.push_back(where(next) + "expected a series that ends with " +
                         std::to_string(source.getCount() - 1) +
                         ", found one more in " + more->file->getPath());
  }
  // They may be in what could not be read, of which has been told.
  if (!checkpoint.getProblems().empty()) {
    unseen += missing.size();
    return tensors;
  }
  // A series that is not there at all is one fault, however long it is. What
  // is beside it tells when the checkpoint has the other form.
  if (tensors.empty() && !missing.empty()) {
    std::string beside =
        llvm::join(checkpoint.findBeside(moduleOf(source.checkpoint)), ", ");
    problems.push_back(where(source.checkpoint) +
                       (source.isSeries()
                            ? "none of 0 to " +
                                  std::to_string(source.getCount() - 1) +
                                  " is in the checkpoint"
                            : "not in the checkpoint") +
                       (beside.empty() ? "" : ", which has " + beside));
    return tensors;
  }
  for (const std::string &name : missing)
    problems.push_back(where(name) + "not in the checkpoint");
  return tensors;
}

WeightPacker::WeightPacker(const EngineWeights &weights,
                           const Checkpoint &checkpoint,
                           std::vector<std::string> &problems)
    : weights(weights), fingerprint(checkpoint.getFingerprint()) {
  llvm::append_range(problems, checkpoint.getProblems());
  size_t unseen = 0;
  for (const EngineWeight &weight : weights.entries) {
    auto problem = [&](const std::string &what) {
      problems.push_back("weight " + weight.name + ": " + what);
    };
    llvm::Expected<Packer> packer = Packer::create(weight.pack);
    if (!packer) {
      problem(llvm::toString(packer.takeError()));
    } else if (const PackRecipe::Result &result = packer->getResult();
               result.bytes != weight.bytes || result.type != weight.type ||
               result.shape != weight.shape) {
      problem("its recipe makes " + tensorName(result.type, result.shape) +
              ", the engine expects " + tensorName(weight.type, weight.shape));
    }
    if (weight.offset > weights.bytes ||
        weight.bytes > weights.bytes - weight.offset)
      problem("lies outside the engine's weights");
    std::vector<const ByteReader *> sources;
    for (const PackSource &source : weight.pack.sources)
      if (PackSource::whyNotNamed(source.checkpoint, source.shape).empty())
        sources.push_back(&readers.emplace_back(
            findTensors(source, weight.name, checkpoint, problems, unseen)));
    if (packer && problems.empty())
      entries.push_back({&weight, std::move(*packer), std::move(sources)});
    else
      llvm::consumeError(packer.takeError());
  }
  if (unseen)
    problems.push_back(std::to_string(unseen) +
                       " of the engine's tensors cannot be found in what "
                       "could be read of the checkpoint");
  llvm::sort(entries, [](const Entry &lhs, const Entry &rhs) {
    return lhs.weight->offset < rhs.weight->offset;
  });
  for (size_t i = 1; i < entries.size(); ++i)
    if (const EngineWeight &before = *entries[i - 1].weight;
        entries[i].weight->offset < before.offset + before.bytes)
      problems.push_back("weight " + entries[i].weight->name + ": overlaps " +
                         before.name);
}

llvm::Error
WeightPacker::makeBlock(uint64_t block,
                        llvm::MutableArrayRef<uint8_t> bytes) const {
  const uint64_t begin = block * packedBlockBytes, end = begin + bytes.size();
  // The first weight that ends behind the beginning of the block.
  auto entry = llvm::partition_point(entries, [&](const Entry &candidate) {
    return candidate.weight->offset + candidate.weight->bytes <= begin;
  });
  uint64_t at = begin;
  for (; entry != entries.end() && entry->weight->offset < end; ++entry) {
    const EngineWeight &weight = *entry->weight;
    uint64_t from = std::max(weight.offset, begin);
    uint64_t to = std::min(weight.offset + weight.bytes, end);
    if (from >= to)
      continue;
    std::memset(bytes.data() + (at - begin), 0, from - at);
    if (llvm::Error error =
            entry->packer.pack(entry->sources, from - weight.offset,
                               bytes.slice(from - begin, to - from)))
      return llvm::createStringError("weight " + weight.name + ": " +
                                     llvm::toString(std::move(error)));
    at = to;
  }
  std::memset(bytes.data() + (at - begin), 0, end - at);
  return llvm::Error::success();
}

llvm::Expected<PackOutcome>
WeightPacker::write(const std::string &path, const PackOptions &options) const {
  PartialFile partial;
  if (llvm::Error error = partial.open(
          path, {weights.id, fingerprint, weights.bytes}, options.restart))
    return error;
  PackOutcome outcome;
  std::vector<uint64_t> present, missing;
  for (auto [block, digest] : llvm::enumerate(partial.getDone()))
    if (digest)
      present.push_back(block);
  // The hashes go into the finished file: they must be those of its bytes.
  std::atomic<uint64_t> damaged = 0;
  auto confirmOne = [&](uint64_t i) -> llvm::Error {
    llvm::Expected<bool> same =
        partial.confirm(present[i], blockSize(weights.bytes, present[i]));
    if (!same)
      return same.takeError();
    damaged += !*same;
    return llvm::Error::success();
  };
  if (llvm::Error error =
          parallelFor(present.size(), options.threads, confirmOne))
    return error;
  outcome.damagedBlocks = damaged;
  for (auto [block, digest] : llvm::enumerate(partial.getDone()))
    if (digest)
      outcome.resumedBytes += blockSize(weights.bytes, block);
    else
      missing.push_back(block);
  {
    Progress progress(weights.bytes, outcome.resumedBytes, options.progress);
    auto packOne = [&](uint64_t i) -> llvm::Error {
      const uint64_t block = missing[i], size = blockSize(weights.bytes, block);
      std::unique_ptr<uint8_t[]> buffer(new uint8_t[size]);
      llvm::MutableArrayRef<uint8_t> bytes(buffer.get(), size);
      if (llvm::Error error = makeBlock(block, bytes))
        return error;
      if (llvm::Error error = partial.add(
              block, bytes, Sha256::digest(bytes.data(), bytes.size()),
              options.blocksPerFlush))
        return error;
      progress.advance(size, weightsInBlock(weights, block));
      return llvm::Error::success();
    };
    if (llvm::Error error =
            parallelFor(missing.size(), options.threads, packOne))
      return error;
  }
  if (llvm::Error error = partial.finish(weights))
    return error;
  return outcome;
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

llvm::Error PackedFile::open(const std::string &path,
                             const EngineWeights &weights) {
  auto bad = [&](const llvm::Twine &what) {
    return llvm::createStringError(path + ": " + what);
  };
  if (llvm::Error error = file.open(path))
    return error;
  uint8_t prefix[8];
  if (file.size() < sizeof(prefix))
    return bad("expected packed weights, found " + llvm::Twine(file.size()) +
               " bytes");
  if (llvm::Error error = file.read(0, prefix))
    return error;
  uint64_t header = llvm::support::endian::read64le(prefix);
  if (header > std::min<uint64_t>(file.size() - 8, 1 << 20))
    return bad("expected packed weights, found a header of " +
               llvm::Twine(header) + " bytes");
  std::string text(header, '\0');
  if (llvm::Error error =
          file.read(8, {reinterpret_cast<uint8_t *>(text.data()), text.size()}))
    return error;
  llvm::Expected<Json> document = json::parseSorted(text, path + ", header");
  if (!document)
    return document.takeError();
  auto metadata = [&](const char *key) -> std::string {
    const Json *object = &*document;
    for (const char *name : {"__metadata__", key}) {
      auto found = object->is_object() ? object->find(name) : object->end();
      if (found == object->end())
        return "";
      object = &*found;
    }
    return object->is_string() ? object->get<std::string>() : "";
  };
  if (metadata("format") != formatName)
    return bad(llvm::Twine("expected packed weights of format ") + formatName +
               ", found " +
               (metadata("format").empty() ? "a file without that mark"
                                           : metadata("format")) +
               "; pack the checkpoint again");
  if (metadata("weights_id") != weights.id)
    return bad("expected weights " + weights.id + ", found " +
               metadata("weights_id") +
               "; the file was packed for another "
               "engine");
  // All there is to know: what a run for these weights would have written.
  dataBegin = 8 + header;
  digests.resize(packedBlockCount(weights.bytes));
  uint64_t size = dataBegin + weights.bytes + digests.size() * sizeof(Digest);
  if (file.size() != size)
    return bad("expected " + llvm::Twine(size) + " bytes, found " +
               llvm::Twine(file.size()));
  if (llvm::Error error =
          file.read(dataBegin + weights.bytes,
                    {reinterpret_cast<uint8_t *>(digests.data()),
                     digests.size() * sizeof(Digest)}))
    return error;
  std::string expected = makePackedHeader(weights, digests);
  if (llvm::StringRef(expected).drop_front(8) != text)
    return bad("the hashes are not those that the header was made for; the "
               "file is damaged");
  return llvm::Error::success();
}

std::vector<std::string>
PackedFile::checkBlocks(const EngineWeights &weights,
                        const PackOptions &options) const {
  std::vector<std::string> found(digests.size());
  Progress progress(weights.bytes, 0, options.progress);
  llvm::Error error = parallelFor(
      digests.size(), options.threads, [&](uint64_t block) -> llvm::Error {
        uint64_t size = blockSize(weights.bytes, block);
        std::unique_ptr<uint8_t[]> buffer(new uint8_t[size]);
        if (llvm::Error failed = file.read(dataBegin + block * packedBlockBytes,
                                           {buffer.get(), size}))
          return failed;
        Digest have = Sha256::digest(buffer.get(), size);
        if (have != digests[block])
          found[block] = file.getPath() + ": block " + std::to_string(block) +
                         " (" + weightsInBlock(weights, block) +
                         "): expected SHA-256 " +
                         llvm::toHex(digests[block], /*LowerCase=*/true) +
                         ", found " + llvm::toHex(have, /*LowerCase=*/true);
        progress.advance(size, "comparing hashes");
        return llvm::Error::success();
      });
  llvm::erase_if(found, [](const std::string &line) { return line.empty(); });
  if (error)
    found.push_back(llvm::toString(std::move(error)));
  return found;
}

PackedFile::WeightReader
PackedFile::getReader(const EngineWeight &weight) const {
  WeightReader reader;
  reader.file = &file;
  reader.begin = dataBegin + weight.offset;
  return reader;
}

std::vector<std::string>
WeightPacker::verify(const std::string &path,
                     const PackOptions &options) const {
  PackedFile packed;
  if (llvm::Error error = packed.open(path, weights))
    return {llvm::toString(std::move(error))};
  std::vector<std::string> found = packed.checkBlocks(weights, options);

  struct Task {
    const Entry *entry;
    size_t source;
    uint64_t begin, bytes;
  };
  std::vector<Task> tasks;
  uint64_t total = 0;
  for (const Entry &entry : entries)
    for (size_t source = 0; source != entry.sources.size(); ++source) {
      uint64_t bytes = entry.packer.getSourceBytes(source);
      total += bytes;
      for (uint64_t at = 0; at < bytes; at += packedBlockBytes)
        tasks.push_back(
            {&entry, source, at, std::min(packedBlockBytes, bytes - at)});
    }
  std::vector<std::string> differences(tasks.size());
  Progress progress(total, 0, options.progress);
  llvm::Error error = parallelFor(
      tasks.size(), options.threads, [&](uint64_t i) -> llvm::Error {
        const Task &task = tasks[i];
        const PackSource &source =
            task.entry->weight->pack.sources[task.source];
        std::unique_ptr<uint8_t[]> have(new uint8_t[task.bytes]);
        std::unique_ptr<uint8_t[]> want(new uint8_t[task.bytes]);
        if (llvm::Error failed = task.entry->sources[task.source]->read(
                task.begin, {want.get(), task.bytes}))
          return failed;
        PackedFile::WeightReader reader = packed.getReader(*task.entry->weight);
        std::string where = "weight " + task.entry->weight->name +
                            ", from tensor " + source.checkpoint + ": ";
        if (llvm::Error failed = task.entry->packer.unpack(
                reader, task.source, task.begin, {have.get(), task.bytes})) {
          differences[i] = where + llvm::toString(std::move(failed));
        } else if (std::memcmp(have.get(), want.get(), task.bytes)) {
          uint64_t at =
              std::mismatch(have.get(), have.get() + task.bytes, want.get())
                  .first -
              have.get();
          unsigned size = elementBytes(source.type);
          uint64_t element = at / size * size;
          const uint64_t one = task.entry->packer.getSourceBytes(task.source) /
                               uint64_t(source.getCount());
          where =
              "weight " + task.entry->weight->name + ", from tensor " +
              source.getTensor(int64_t((task.begin + at) / one)).checkpoint +
              ": ";
          auto hex = [&](const uint8_t *bytes) {
            return llvm::toHex(llvm::ArrayRef(bytes + element, size),
                               /*LowerCase=*/true);
          };
          differences[i] = where + "element " +
                           std::to_string((task.begin + element) % one / size) +
                           ": expected the bytes " + hex(want.get()) +
                           " of the checkpoint, found " + hex(have.get());
        }
        progress.advance(task.bytes, source.checkpoint);
        return llvm::Error::success();
      });
  // The first difference of each tensor tells enough.
  for (size_t i = 0; i != tasks.size(); ++i) {
    if (differences[i].empty())
      continue;
    found.push_back(differences[i]);
    while (i + 1 != tasks.size() && tasks[i + 1].entry == tasks[i].entry &&
           tasks[i + 1].source == tasks[i].source)
      ++i;
  }
  if (error)
    found.push_back(llvm::toString(std::move(error)));
  return found;
}
