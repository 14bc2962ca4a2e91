//===- PackWeights.cpp - netra-engine pack-weights ------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "OutputFile.h"
#include "SafeTensors.h"

#include "Netra/Target/Bundle.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace netra;
using namespace netra::tool;

namespace {

/// The data section starts here, so that it can be mapped page by page.
constexpr uint64_t dataStart = 4096;

/// A file that appears under its name only when it is complete.
class OutputFile {
public:
  ~OutputFile() {
    if (mapping)
      munmap(mapping, size);
    if (fd >= 0) {
      ::close(fd);
      ::unlink(temporary.c_str());
    }
  }

  llvm::Error open(const std::string &target, uint64_t bytes) {
    path = target;
    size = bytes;
    if (std::string why = whyNotReplaceable(path); !why.empty())
      return llvm::createStringError("cannot write " + path + ": " + why);
    temporary = target + ".XXXXXX";
    fd = ::mkstemp(temporary.data());
    if (fd < 0)
      return failed("cannot create");
    // Allocated now: a full disk is an error here, not a fault while writing.
    if (int code = posix_fallocate(fd, 0, off_t(size))) {
      errno = code;
      return failed("cannot reserve " + std::to_string(size) + " bytes for");
    }
    void *memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
      return failed("cannot map");
    mapping = memory;
    return llvm::Error::success();
  }

  llvm::MutableArrayRef<uint8_t> bytes() {
    return {static_cast<uint8_t *>(mapping), size_t(size)};
  }

  llvm::Error commit() {
    if (msync(mapping, size, MS_SYNC) || ::fchmod(fd, 0644) || ::fsync(fd) ||
        ::rename(temporary.c_str(), path.c_str()))
      return failed("cannot finish");
    ::close(fd);
    fd = -1;
    return llvm::Error::success();
  }

private:
  llvm::Error failed(const std::string &what) {
    return llvm::createStringError(what + " " + path + ": " +
                                   std::strerror(errno));
  }

  std::string path, temporary;
  uint64_t size = 0;
  int fd = -1;
  void *mapping = nullptr;
};

/// A line on stderr that is rewritten, when there is a terminal to see it.
class ProgressLine {
public:
  explicit ProgressLine(uint64_t total)
      : total(total), shown(isatty(STDERR_FILENO)) {}
  ~ProgressLine() {
    if (shown)
      std::fprintf(stderr, "\r\033[K");
  }
  void advance(uint64_t bytes, const std::string &what) {
    std::lock_guard<std::mutex> guard(mutex);
    done += bytes;
    if (shown)
      std::fprintf(stderr, "\r\033[K[%3u %%] %s of %s  %s",
                   unsigned(total ? done * 100 / total : 100),
                   byteCount(done).c_str(), byteCount(total).c_str(),
                   what.c_str());
  }

private:
  std::mutex mutex;
  uint64_t done = 0;
  const uint64_t total;
  const bool shown;
};

/// Everything in which the checkpoint does not fit the engine, a line each.
std::vector<std::string> compare(const Engine &engine,
                                 const Checkpoint &checkpoint) {
  std::vector<std::string> problems;
  for (const EngineWeight &weight : engine.weights.entries) {
    llvm::Expected<PackRecipe::Result> result = weight.pack.verify();
    if (!result) {
      problems.push_back("weight " + weight.name + ": " +
                         llvm::toString(result.takeError()));
    } else if (result->bytes != weight.bytes || result->type != weight.type ||
               result->shape != weight.shape) {
      problems.push_back("weight " + weight.name + ": its recipe makes " +
                         tensorName(result->type, result->shape) +
                         ", the engine expects " +
                         tensorName(weight.type, weight.shape));
    }
    if (weight.offset > engine.weights.bytes ||
        weight.bytes > engine.weights.bytes - weight.offset)
      problems.push_back("weight " + weight.name +
                         ": lies outside the engine's weights");
    for (const PackSource &source : weight.pack.sources) {
      const CheckpointTensor *tensor = checkpoint.find(source.checkpoint);
      std::string where =
          "tensor " + source.checkpoint + " (for weight " + weight.name + ")";
      if (!tensor) {
        problems.push_back(where + ": not in the checkpoint");
        continue;
      }
      std::string found = tensor->dtype;
      if (std::optional<ElementType> type = parseElementType(tensor->dtype))
        found = tensorName(*type, tensor->shape);
      if (found != tensorName(source.type, source.shape)) {
        problems.push_back(where + ": expected " +
                           tensorName(source.type, source.shape) + ", found " +
                           found + " in " + tensor->file);
        continue;
      }
      llvm::Expected<uint64_t> bytes = tensorBytes(source.type, source.shape);
      if (!bytes)
        problems.push_back(where + ": " + llvm::toString(bytes.takeError()));
      else if (*bytes != tensor->data.size())
        problems.push_back(where + ": expected " + std::to_string(*bytes) +
                           " bytes of data, found " +
                           std::to_string(tensor->data.size()));
    }
  }
  return problems;
}

llvm::Error packAll(const Engine &engine, const Checkpoint &checkpoint,
                    llvm::MutableArrayRef<uint8_t> data, unsigned threads) {
  ProgressLine progress(engine.weights.bytes);
  const auto &entries = engine.weights.entries;
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::string firstError;
  auto work = [&] {
    for (size_t i; (i = next++) < entries.size();) {
      const EngineWeight &weight = entries[i];
      std::vector<llvm::ArrayRef<uint8_t>> sources;
      for (const PackSource &source : weight.pack.sources)
        sources.push_back(checkpoint.find(source.checkpoint)->data);
      if (llvm::Error error = weight.pack.execute(
              sources, data.slice(weight.offset, weight.bytes))) {
        std::lock_guard<std::mutex> guard(mutex);
        if (firstError.empty())
          firstError =
              "weight " + weight.name + ": " + llvm::toString(std::move(error));
        else
          llvm::consumeError(std::move(error));
        continue;
      }
      progress.advance(weight.bytes, weight.name);
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < threads; ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  if (!firstError.empty())
    return llvm::createStringError(firstError);
  return llvm::Error::success();
}

} // namespace

int netra::tool::packWeightsMain(int argc, char **argv) {
  Arguments arguments(
      "pack-weights",
      "Brings the tensors of a checkpoint into the layouts of an engine's "
      "kernels and\nwrites them as one file, which the runtime maps and copies "
      "to the device as it is.\nThe file appears only when it is complete.",
      "");
  arguments.value("engine", "DIR", "the engine");
  arguments.list("checkpoint", "FILE|DIR",
                 "safetensors file, or a directory of them");
  arguments.value("output", "FILE", "the packed weights; also -o FILE");
  arguments.value("threads", "N", "threads to pack with (one per core)");
  if (std::optional<int> code = arguments.parse(argc, argv))
    return *code;
  for (const char *needed : {"engine", "checkpoint", "output"})
    if (!arguments.has(needed))
      return fail(std::string("pack-weights: --") + needed + " is missing",
                  ExitUsage);
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  if (arguments.has("threads")) {
    std::optional<uint64_t> number = parseNumber(arguments.get("threads"));
    if (!number || *number < 1 || *number > 1024)
      return fail("pack-weights: --threads: expected 1 to 1024", ExitUsage);
    threads = unsigned(*number);
  }

  llvm::Expected<Engine> engine = readBundle(arguments.get("engine"));
  if (!engine)
    return fail(llvm::toString(engine.takeError()));
  if (!engine->weights.bytes)
    return fail("the engine has no weights");
  Checkpoint checkpoint;
  for (const std::string &path : arguments.all("checkpoint"))
    if (llvm::Error error = checkpoint.add(path))
      return fail(llvm::toString(std::move(error)));
  std::vector<std::string> problems = compare(*engine, checkpoint);
  if (!problems.empty()) {
    for (const std::string &problem : problems)
      std::fprintf(stderr, "%s\n", problem.c_str());
    return fail("the checkpoint does not fit the engine: " +
                std::to_string(problems.size()) +
                (problems.size() == 1 ? " problem" : " problems"));
  }

  uint64_t bytes = engine->weights.bytes;
  if (bytes > uint64_t(INT64_MAX) - dataStart)
    return fail("the engine's weights do not fit a file");
  OutputFile output;
  if (llvm::Error error =
          output.open(arguments.get("output"), dataStart + bytes))
    return fail(llvm::toString(std::move(error)));
  llvm::MutableArrayRef<uint8_t> data = output.bytes().drop_front(dataStart);
  if (llvm::Error error = packAll(*engine, checkpoint, data, threads))
    return fail(llvm::toString(std::move(error)));

  std::string hash = llvm::toHex(llvm::SHA256::hash(data), /*LowerCase=*/true);
  std::string count = std::to_string(bytes);
  std::string header = R"({"__metadata__":{"format":"netra.weights/1",)"
                       R"("sha256":")" +
                       hash + R"(","weights_id":")" + engine->weights.id +
                       R"("},"netra.weights":{)"
                       R"("data_offsets":[0,)" +
                       count + R"(],"dtype":"U8","shape":[)" + count + "]}}";
  // safetensors allows a header to be padded with spaces.
  header.resize(dataStart - 8, ' ');
  llvm::support::endian::write64le(output.bytes().data(), header.size());
  std::memcpy(output.bytes().data() + 8, header.data(), header.size());
  if (llvm::Error error = output.commit())
    return fail(llvm::toString(std::move(error)));
  std::printf("packed %zu weights, %s, into %s\n",
              engine->weights.entries.size(), byteCount(bytes).c_str(),
              arguments.get("output").c_str());
  return ExitSuccess;
}
