//===- Model.h - Descriptions of language models ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What distinguishes one decoder-only language model from another, as typed
// values: its layers, their sizes, options and names in the checkpoint. A
// description comes from a manifest (manifests/<target>/models/*.json) or from
// the config.json of a Hugging Face checkpoint; importModel
// (Netra/Conversion/ModelToNetra.h) builds the graph of operations from it.
//
// Plain values; const access from several threads is safe.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_CATALOG_MODEL_H
#define NETRA_CATALOG_MODEL_H

#include "Netra/Catalog/ElementType.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace netra {

/// No model needs more, and products of two extents stay inside 63 bits.
constexpr int64_t maxExtent = int64_t(1) << 30;

/// What mixes the tokens of a sequence in one layer.
enum class Mixer : uint8_t { Attention, WindowAttention, GatedDeltaNet };
/// What follows it.
enum class FeedForward : uint8_t { Dense, Experts };

llvm::StringRef mixerName(Mixer mixer);          // "attention", …
llvm::StringRef feedForwardName(FeedForward ff); // "dense" | "experts"

/// Rotary position embedding. `scaling` is "none", "linear" (factor) or
/// "llama3" (all four numbers); the other numbers are 0 then.
struct RotaryModel {
  int64_t dimensions = 0; // rotated, from the front of a head; even
  double theta = 10000;
  std::string scaling = "none";
  double factor = 0, lowFrequencyFactor = 0, highFrequencyFactor = 0;
  int64_t originalPositions = 0;

  bool operator==(const RotaryModel &) const = default;
};

struct AttentionModel {
  int64_t heads = 0, kvHeads = 0, headDim = 0;
  /// RMSNorm of each head's query and key before rotation.
  bool queryKeyNorm = false;
  /// The query projection has a second half: out * sigmoid(gate).
  bool outputGate = false;
  bool inputBias = false, outputBias = false;
  /// Factor of the dot products; 1/sqrt(headDim) in most models.
  double scale = 0;
  /// cap * tanh(x / cap) of the dot products; 0 for none.
  double logitCap = 0;
  RotaryModel rotary;
  /// Of layers with window attention: tokens visible, the token's own included.
  int64_t window = 0;
  std::optional<RotaryModel> windowRotary;
  ElementType cacheType = ElementType::BF16;

  bool operator==(const AttentionModel &) const = default;
};

struct GatedDeltaNetModel {
  int64_t keyHeads = 0, valueHeads = 0, keyDim = 0, valueDim = 0;
  /// Taps of the causal convolution.
  int64_t convolution = 4;
  ElementType stateType = ElementType::F32;
  /// True: in_proj_qkv, in_proj_z, in_proj_b, in_proj_a, each concatenated head
  /// by head. False: in_proj_qkvz and in_proj_ba, interleaved by key head.
  bool splitProjections = true;

  bool operator==(const GatedDeltaNetModel &) const = default;
};

struct DenseModel {
  int64_t intermediate = 0;
  std::string activation = "silu"; // "silu" | "gelu_erf" | "gelu_tanh"

  bool operator==(const DenseModel &) const = default;
};

struct ExpertsModel {
  int64_t count = 0, topK = 0, intermediate = 0;
  std::string activation = "silu";
  /// Rows of the gate of the expert that sees every token; 0 without one.
  int64_t sharedIntermediate = 0;
  /// Its output is scaled by the sigmoid of a dot product.
  bool sharedGate = false;
  /// The weights of the experts chosen sum to 1.
  bool normalizeTopK = true;
  /// True: the checkpoint has experts.N.gate_proj.weight, up_proj and down_proj
  /// of each. False: experts.gate_up_proj and experts.down_proj of all.
  bool perExpertTensors = false;

  bool operator==(const ExpertsModel &) const = default;
};

struct ModelDescription {
  std::string name;
  std::string summary;
  /// Where the numbers come from, a sentence each.
  std::vector<std::string> sources;
  /// Serving profiles it is meant for; may be empty.
  std::vector<std::string> profiles;

  int64_t vocabulary = 0, hidden = 0, layers = 0;
  /// The kinds of the layers, repeated until there are `layers` of them.
  std::vector<Mixer> mixers;
  std::vector<FeedForward> feedForwards;

  double normEpsilon = 1e-6;
  /// Added to the weights of the norms of the residual stream: 0 or 1.
  double normWeightOffset = 0;
  /// Norms behind mixer and feed-forward as well as in front of them.
  bool sandwichNorms = false;

  /// The embedding's rows are multiplied by this, rounded to bf16.
  double embeddingScale = 1;
  bool tiedEmbeddings = false;
  double logitCap = 0;

  std::optional<AttentionModel> attention;
  std::optional<GatedDeltaNetModel> gatedDeltaNet;
  std::optional<DenseModel> dense;
  std::optional<ExpertsModel> experts;

  /// FP8 E4M3 weights in blocks of 128x128, activations quantized per 1x128 on
  /// the way; otherwise everything is bf16.
  bool fp8Block128 = false;
  /// Element type of the checkpoint's weight scales.
  ElementType scaleType = ElementType::BF16;

  /// Sequences with a recurrent state, and tokens the KV cache holds.
  int64_t stateSlots = 0, cacheSlots = 0;

  /// Of the tensors of the decoder in the checkpoint, e.g. "model.".
  std::string checkpointPrefix = "model.";

  /// Path it was read from, for messages.
  std::string path;

  Mixer mixerOf(int64_t layer) const {
    return mixers[size_t(layer) % mixers.size()];
  }
  FeedForward feedForwardOf(int64_t layer) const {
    return feedForwards[size_t(layer) % feedForwards.size()];
  }
};

/// Parses and checks a model manifest (format netra.model/1). Every fault is
/// reported: `path`, JSON pointer, expected, found.
llvm::Expected<ModelDescription> parseModel(llvm::StringRef text,
                                            llvm::StringRef path);

/// Reports each profile of the model that the library's target does not have.
llvm::Error checkProfiles(const ModelDescription &model,
                          llvm::StringRef libraryRoot, llvm::StringRef target);

/// The manifest of a description; parseModel reads the same value back.
std::string printModel(const ModelDescription &model);

/// What a config.json does not say.
struct HuggingFaceOptions {
  /// Name of the model; by default made from the model type.
  std::string name;
  /// Sequences in flight and tokens in the KV cache, from 1 to maxExtent.
  int64_t stateSlots = 64;
  int64_t cacheSlots = 65536;
  ElementType cacheType = ElementType::BF16;
  /// Of recurrent states; by default as the configuration says, f32 where it
  /// says nothing.
  std::optional<ElementType> stateType = std::nullopt;
  /// See ExpertsModel; by default as published checkpoints of the family are.
  std::optional<bool> perExpertTensors = std::nullopt;
};

/// Reads the config.json of a checkpoint of the families llama, qwen3,
/// qwen3_moe, qwen3_next, qwen3_5, qwen3_5_moe, gemma, gemma2 and gemma3, or of
/// the multimodal model around one of them, whose decoder is taken. A field
/// whose value Netra does not implement, a field it does not know and which may
/// change what the model computes, and one that says what another contradicts
/// is reported by name; nothing is ignored in silence.
llvm::Expected<ModelDescription>
parseHuggingFaceConfig(llvm::StringRef text, llvm::StringRef path,
                       const HuggingFaceOptions &options = {});

/// What is wrong with a description (sizes that do not fit each other, missing
/// parts), as "pointer: expected …, found …" with the pointers of a manifest;
/// empty when it can be built.
std::vector<std::string> verifyModel(const ModelDescription &model);

/// What the user calls the field that has this pointer in a manifest.
using FieldName = llvm::function_ref<std::string(llvm::StringRef pointer)>;

/// The same about a description that does not come from a manifest.
std::vector<std::string> verifyModel(const ModelDescription &model,
                                     FieldName name);

} // namespace netra

#endif // NETRA_CATALOG_MODEL_H
