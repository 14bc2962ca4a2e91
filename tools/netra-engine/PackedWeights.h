//===- PackedWeights.h - Writing and checking packed weights ----*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The format is described in docs/engine-format.md; the runtime has a reader of
// its own.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_ENGINE_PACKEDWEIGHTS_H
#define NETRA_TOOLS_ENGINE_PACKEDWEIGHTS_H

#include "SafeTensors.h"
#include "Sha256.h"

#include "Netra/Catalog/PackRecipe.h"
#include "Netra/Target/Bundle.h"

#include <deque>
#include <memory>

namespace netra::tool {

using Digest = rt::Sha256::Digest;

/// The data section starts here, so that it can be mapped page by page.
constexpr uint64_t packedDataStart = 4096;
/// The bytes that one hash covers.
constexpr uint64_t packedBlockBytes = uint64_t(4) << 20;

/// How many hashes there are for `bytes` of weights.
uint64_t packedBlockCount(uint64_t bytes);

/// The first `packedDataStart` bytes of a packed file.
std::string makePackedHeader(const EngineWeights &weights,
                             llvm::ArrayRef<Digest> digests);

/// The weights that lie in the block, for messages; shortened when many.
std::string weightsInBlock(const EngineWeights &weights, uint64_t block);

struct PackOptions {
  unsigned threads = 1;
  bool restart = false;  // discard what an interrupted run has left
  bool progress = false; // show it where there is no terminal, too
  // Blocks between two waits for the disk: what an interruption costs at most.
  unsigned blocksPerFlush = 32;
};

struct PackOutcome {
  uint64_t resumedBytes = 0;  // that an earlier run had packed
  uint64_t damagedBlocks = 0; // of that run, packed again
};

/// The tensors that a source of a recipe stands for, one behind the other.
class SourceReader final : public ByteReader {
public:
  explicit SourceReader(std::vector<const CheckpointTensor *> tensors)
      : tensors(std::move(tensors)) {}

  llvm::Error read(uint64_t from,
                   llvm::MutableArrayRef<uint8_t> destination) const override;

private:
  std::vector<const CheckpointTensor *> tensors; // of one size
};

/// What an engine wants of a checkpoint, ready to be packed piece by piece. The
/// engine and the checkpoint must outlive it.
class WeightPacker {
public:
  /// Appends a sentence to `problems` for everything in which the checkpoint
  /// does not fit the engine.
  WeightPacker(const EngineWeights &weights, const Checkpoint &checkpoint,
               std::vector<std::string> &problems);

  /// Makes the bytes of a block; what no weight covers is 0.
  llvm::Error makeBlock(uint64_t block,
                        llvm::MutableArrayRef<uint8_t> bytes) const;

  /// Packs into `path`, which appears when it is complete. Until then there are
  /// `path`.partial and a journal of the blocks that are safely in it; a run
  /// that finds them goes on from there, unless they are for other weights or
  /// another checkpoint.
  llvm::Expected<PackOutcome> write(const std::string &path,
                                    const PackOptions &options) const;

  /// Compares the packed file with engine and checkpoint: ids, hashes, and each
  /// tensor of the checkpoint with what unpacking gives. A sentence for each
  /// difference.
  std::vector<std::string> verify(const std::string &path,
                                  const PackOptions &options) const;

private:
  struct Entry {
    const EngineWeight *weight;
    Packer packer;
    std::vector<const ByteReader *> sources;
  };

  /// The tensors of `source`; a sentence is appended to `problems` for each
  /// that is another than expected. Those not found are missing from the result
  /// and counted in `unseen` where the checkpoint could not be read whole.
  static std::vector<const CheckpointTensor *>
  findTensors(const PackSource &source, const std::string &weight,
              const Checkpoint &checkpoint, std::vector<std::string> &problems,
              size_t &unseen);

  const EngineWeights &weights;
  std::string fingerprint;          // of the checkpoint
  std::deque<SourceReader> readers; // entries point to them
  std::vector<Entry> entries;       // by offset
};

/// A packed file, open.
class PackedFile {
public:
  /// Opens the file and checks that it is for these weights, and complete.
  llvm::Error open(const std::string &path, const EngineWeights &weights);

  /// Compares every block with its hash; a sentence for each that differs.
  std::vector<std::string> checkBlocks(const EngineWeights &weights,
                                       const PackOptions &options) const;

  /// The bytes of a weight.
  struct WeightReader final : ByteReader {
    const InputFile *file = nullptr;
    uint64_t begin = 0;
    llvm::Error
    read(uint64_t from,
         llvm::MutableArrayRef<uint8_t> destination) const override {
      return file->read(begin + from, destination);
    }
  };
  WeightReader getReader(const EngineWeight &weight) const;

private:
  InputFile file;
  uint64_t dataBegin = 0;
  std::vector<Digest> digests;
};

} // namespace netra::tool

#endif // NETRA_TOOLS_ENGINE_PACKEDWEIGHTS_H
