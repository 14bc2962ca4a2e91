//===- SafeTensors.h - Reading checkpoints ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_ENGINE_SAFETENSORS_H
#define NETRA_TOOLS_ENGINE_SAFETENSORS_H

#include "Netra/Catalog/ElementMap.h"
#include "Netra/Catalog/ElementType.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace netra::tool {

/// An open file. Bytes are read, not mapped: a file that is cut off meanwhile
/// is then an error, and memory holds only what was asked for.
class InputFile {
public:
  InputFile() = default;
  InputFile(InputFile &&other) noexcept;
  ~InputFile();

  llvm::Error open(const std::string &path);
  const std::string &getPath() const { return path; }
  uint64_t size() const { return bytes; }
  /// Changes with each change of the file's contents, as far as size and time
  /// tell.
  std::string getStamp() const;

  /// Safe to call from several threads.
  llvm::Error read(uint64_t begin,
                   llvm::MutableArrayRef<uint8_t> destination) const;

private:
  std::string path;
  int fd = -1;
  uint64_t bytes = 0;
  int64_t seconds = 0, nanoseconds = 0;
};

/// A tensor of a checkpoint.
class CheckpointTensor final : public ByteReader {
public:
  std::string dtype; // as in the file: "BF16"
  /// None when engines have no such type.
  std::optional<ElementType> type;
  std::vector<int64_t> shape;
  const InputFile *file = nullptr;
  uint64_t begin = 0, bytes = 0; // in the file

  llvm::Error read(uint64_t from,
                   llvm::MutableArrayRef<uint8_t> destination) const override {
    return file->read(begin + from, destination);
  }
};

/// The tensors of any number of safetensors files. Not changed after being
/// filled; then safe to use from several threads.
class Checkpoint {
public:
  /// Adds one of
  ///   - a safetensors file,
  ///   - an index of shards (NAME.safetensors.index.json) with the shards that
  ///     it names, which lie beside it,
  ///   - a directory: its index if there is one, else each *.safetensors in it,
  ///     in the order of their names.
  /// What is wrong with the files is added to the problems; the rest is read.
  void add(const std::string &path);

  /// A sentence for each malformed file, malformed or repeated tensor, and
  /// tensor that is not where an index says.
  llvm::ArrayRef<std::string> getProblems() const { return problems; }

  /// The files that have been read, indexes of shards among them.
  llvm::ArrayRef<std::string> getPaths() const { return paths; }

  const CheckpointTensor *find(const std::string &name) const;
  /// The first names that begin with `prefix`, and an ellipsis when there are
  /// more; for messages.
  std::vector<std::string> findBeside(llvm::StringRef prefix) const;
  size_t size() const { return tensors.size(); }

  /// 64 hexadecimal digits that change with the files' names (without folders),
  /// sizes, times and headers.
  std::string getFingerprint() const;

private:
  /// Fills `names`, if given, with those of the file's tensors.
  void addFile(const std::string &path, std::vector<std::string> *names);
  void addIndex(const std::string &path);
  void problem(const std::string &where, const std::string &what) {
    problems.push_back(where + ": " + what);
  }

  std::deque<InputFile> files; // tensors point to them
  std::map<std::string, CheckpointTensor> tensors;
  std::map<std::string, std::string> stamps; // by the file's name
  std::vector<std::string> problems, paths;
};

} // namespace netra::tool

#endif // NETRA_TOOLS_ENGINE_SAFETENSORS_H
