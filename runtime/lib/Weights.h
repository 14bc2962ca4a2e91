//===- Weights.h - The packed weights file ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A packed weights file is a safetensors file with one U8 tensor
// "netra.weights" that is copied to the device as it is, and metadata that ties
// it to an engine:
//
//   {"__metadata__": {"format": "netra.weights/1", "weights_id": "nw_…",
//                     "sha256": "… of the tensor's bytes"},
//    "netra.weights": {"dtype": "U8", "shape": [N], "data_offsets": [0, N]}}
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
  /// that its bytes are the ones that were packed.
  Status open(const std::string &path, const ManifestWeights &expected,
              bool checkHash);

  std::span<const uint8_t> getData() const { return data; }

private:
  void *mapping = nullptr;
  size_t mapped = 0;
  std::span<const uint8_t> data;
};

} // namespace netra::rt

#endif // NETRA_RUNTIME_WEIGHTS_H
