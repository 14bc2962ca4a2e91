//===- HuggingFaceFamilies.h - What families of models fix ------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What a configuration of Hugging Face does not say because the classes of its
// model type do: their names, the structure of a layer, and the defaults of
// fields, which a saved configuration leaves out.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_CATALOG_HUGGINGFACEFAMILIES_H
#define NETRA_LIB_CATALOG_HUGGINGFACEFAMILIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace netra {

/// Of fields that a configuration may leave out.
struct HuggingFaceDefaults {
  int64_t vocabulary = 0, hidden = 0, layers = 0;
  /// Zero key and value heads: as many as heads. A head of zero columns:
  /// hidden / heads.
  int64_t heads = 0, kvHeads = 0, headDim = 0;
  int64_t intermediate = 0;
  double theta = 10000;
  /// Share of a head's columns that is rotated.
  double rotated = 1;
  /// Of layers with window attention.
  int64_t window = 0, windowInterval = 0;
  double windowTheta = 10000;
  /// The dot products are divided by its root; zero for headDim.
  double queryScalar = 0;
  double attentionCap = 0, logitCap = 0;
  int64_t experts = 0, topK = 0, expertIntermediate = 0, sharedIntermediate = 0;
};

struct HuggingFaceFamily {
  llvm::StringRef modelType, architecture;
  /// Of the multimodal model that may stand around it, and the prefix that the
  /// tensors of the decoder have there.
  llvm::StringRef outerType = {}, outerArchitecture = {}, outerPrefix = {};

  /// The class refuses a hidden_size that is no multiple of the heads.
  bool headsDivideHidden = false;
  bool queryKeyNorm = false;
  bool outputGate = false;
  /// Gated delta nets between the attention layers; split: see Model.h.
  bool linearLayers = false, splitProjections = false;
  bool experts = false, sharedExpert = false;
  /// The class knows no layers without experts, and its routers always
  /// normalize.
  bool onlyExperts = false;
  /// Checkpoints in bf16 hold each expert by itself; those in FP8 always do.
  bool perExpertTensors = false;
  double weightOffset = 0;
  /// Scaled embedding, GELU, tied embeddings.
  bool gemma = false;
  /// Norms on both sides and layers with windows; with a rotation of their own.
  bool windows = false, windowRotary = false;
  /// Layers have windows only when use_sliding_window says so.
  bool windowSwitch = false;

  HuggingFaceDefaults defaults = {};
};

llvm::ArrayRef<HuggingFaceFamily> huggingFaceFamilies();

} // namespace netra

#endif // NETRA_LIB_CATALOG_HUGGINGFACEFAMILIES_H
