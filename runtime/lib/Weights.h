//===- Weights.h - The packed weights file ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A packed weights file is a safetensors file with a U8 tensor "netra.weights"
// that is copied to the device as it is, a U8 tensor "netra.blocks" with the
// SHA-256 of each 4 MiB of it (the last block may be shorter), so that all can
// be compared at the same time, and metadata that ties it to an engine:
//
//   {"__metadata__": {"format": "netra.weights/2", "weights_id": "nw_…",
//                     "sha256": "… of the bytes of netra.blocks"},
//    "netra.weights": {"dtype": "U8", "shape": [N], "data_offsets": [0, N]},
//    "netra.blocks": {"dtype": "U8", "shape": [B, 32],
//                     "data_offsets": [N, N + 32 * B]}}
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_RUNTIME_WEIGHTS_H
#define NETRA_RUNTIME_WEIGHTS_H

#include "Manifest.h"

#include <span>

namespace netra::rt {

/// A packed weights file mapped into memory for reading.
class WeightsFile {
public:
  WeightsFile() = default;
  ~WeightsFile();
  WeightsFile(const WeightsFile &) = delete;
  WeightsFile &operator=(const WeightsFile &) = delete;

  /// Maps the file and checks that it is for `expected`; with `checkHash` also
  /// that its bytes are the ones that were packed, on all processors.
  Status open(const std::string &path, const ManifestWeights &expected,
              bool checkHash);

  std::span<const uint8_t> getData() const { return data; }

private:
  Status compareBlocks(const std::string &path, const ManifestWeights &expected,
                       std::span<const uint8_t> digests) const;

  void *mapping = nullptr;
  size_t mapped = 0;
  std::span<const uint8_t> data;
};

} // namespace netra::rt

#endif // NETRA_RUNTIME_WEIGHTS_H
