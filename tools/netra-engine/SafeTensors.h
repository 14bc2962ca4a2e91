//===- SafeTensors.h - Reading checkpoints ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_ENGINE_SAFETENSORS_H
#define NETRA_TOOLS_ENGINE_SAFETENSORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace netra::tool {

/// A tensor of a checkpoint. `dtype` is spelled as in engines ("bf16"), or as
/// in the file when engines have no such type.
struct CheckpointTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  llvm::ArrayRef<uint8_t> data;
  std::string file;
};

/// The tensors of any number of safetensors files, mapped. Not changed after
/// being filled.
class Checkpoint {
public:
  /// Adds a file, or every *.safetensors of a directory in the order of their
  /// names. Fails on malformed files, and on a name that occurs twice.
  llvm::Error add(const std::string &path);

  const CheckpointTensor *find(const std::string &name) const;
  size_t size() const { return tensors.size(); }

private:
  llvm::Error addFile(const std::string &path);

  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  std::map<std::string, CheckpointTensor> tensors;
};

} // namespace netra::tool

#endif // NETRA_TOOLS_ENGINE_SAFETENSORS_H
