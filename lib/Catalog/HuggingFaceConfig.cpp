//===- HuggingFaceConfig.cpp - config.json to model descriptions ----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The fields and their defaults are those of the configuration classes of
// Hugging Face's transformers library.
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Model.h"

#include "Netra/Catalog/Json.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;

namespace netra {
namespace {

constexpr int64_t maxExtent = int64_t(1) << 30;

/// What a family fixes without saying it in its configuration.
struct Family {
  StringRef modelType;
  bool queryKeyNorm = false;
  bool outputGate = false;
  /// Gated delta nets between the attention layers; split: see Model.h.
  bool linearLayers = false, splitProjections = false;
  bool experts = false, sharedExpert = false;
  double weightOffset = 0;
  /// Scaled embedding, GELU; behind the first one norms on both sides and
  /// windows; gemma2 caps logits.
  bool gemma = false, windows = false, gemma2 = false;
};

constexpr Family families[] = {
    {.modelType = "llama"},
    {.modelType = "qwen3", .queryKeyNorm = true},
    {.modelType = "qwen3_moe", .queryKeyNorm = true, .experts = true},
    {.modelType = "qwen3_next",
     .queryKeyNorm = true,
     .outputGate = true,
     .linearLayers = true,
     .experts = true,
     .sharedExpert = true,
     .weightOffset = 1},
    {.modelType = "qwen3_5_text",
     .queryKeyNorm = true,
     .outputGate = true,
     .linearLayers = true,
     .splitProjections = true,
     .weightOffset = 1},
    {.modelType = "qwen3_5_moe_text",
     .queryKeyNorm = true,
     .outputGate = true,
     .linearLayers = true,
     .splitProjections = true,
     .experts = true,
     .sharedExpert = true,
     .weightOffset = 1},
    {.modelType = "gemma", .weightOffset = 1, .gemma = true},
    {.modelType = "gemma2",
     .weightOffset = 1,
     .gemma = true,
     .windows = true,
     .gemma2 = true},
    {.modelType = "gemma3_text",
     .queryKeyNorm = true,
     .weightOffset = 1,
     .gemma = true,
     .windows = true},
};

/// Fields that do not change what the decoder computes for given token ids.
constexpr StringRef harmless[] = {
    "_attn_implementation_autoset",
    "_name_or_path",
    "architectures",
    "attn_implementation",
    "bos_token_id",
    "cache_implementation",
    "dtype",
    "eos_token_id",
    "initializer_range",
    "max_position_embeddings",
    "mlp_dropout",
    "model_type",
    "mtp_num_hidden_layers",
    "mtp_use_dedicated_embeddings",
    "output_router_logits",
    "pad_token_id",
    "pretraining_tp",
    "router_aux_loss_coef",
    "torch_dtype",
    "transformers_version",
    "use_cache",
};

/// Of the configuration around a text_config.
constexpr StringRef harmlessOutside[] = {
    "audio_config",          "boi_token_index",     "eoi_token_index",
    "image_token_id",        "image_token_index",   "language_model_only",
    "mm_tokens_per_image",   "text_config",         "tie_word_embeddings",
    "video_token_id",        "vision_config",       "vision_end_token_id",
    "vision_start_token_id", "quantization_config",
};

class ConfigReader {
public:
  ConfigReader(const Reader &root, ModelDescription &model,
               const HuggingFaceOptions &options)
      : model(model), options(options), root(root) {}

  void read() {
    const json::Value &document = root.get();
    if (!document.is_object() || !document.contains("text_config"))
      return readDecoder(root, {});
    ObjectReader outside(root);
    skip(outside, harmless);
    std::optional<Reader> inner = outside.required("text_config");
    skip(outside, harmlessOutside);
    outside.finish();
    model.checkpointPrefix = "model.language_model.";
    if (inner)
      readDecoder(*inner, outside.optional("quantization_config"));
    if (std::optional<Reader> tied = outside.optional("tie_word_embeddings"))
      model.tiedEmbeddings = tied->boolean().value_or(false);
  }

private:
  static void skip(ObjectReader &object, ArrayRef<StringRef> keys) {
    for (StringRef key : keys)
      (void)object.optional(key);
  }

  int64_t size(ObjectReader &object, StringRef key) {
    if (std::optional<Reader> member = object.required(key))
      return member->integer(1, maxExtent).value_or(1);
    return 1;
  }
  /// Also for null, as configurations spell "not set".
  std::optional<Reader> set(ObjectReader &object, StringRef key) {
    std::optional<Reader> member = object.optional(key);
    if (member && member->get().is_null())
      return std::nullopt;
    return member;
  }
  int64_t sizeOr(ObjectReader &object, StringRef key, int64_t fallback) {
    if (std::optional<Reader> member = set(object, key))
      return member->integer(1, maxExtent).value_or(fallback);
    return fallback;
  }
  double numberOr(ObjectReader &object, StringRef key, double fallback) {
    if (std::optional<Reader> member = set(object, key))
      return member->number().value_or(fallback);
    return fallback;
  }
  bool flagOr(ObjectReader &object, StringRef key, bool fallback) {
    if (std::optional<Reader> member = set(object, key))
      return member->boolean().value_or(fallback);
    return fallback;
  }
  /// A field that may only have the value `allowed`.
  void onlyFlag(ObjectReader &object, StringRef key, bool allowed) {
    if (std::optional<Reader> member = set(object, key))
      if (std::optional<bool> value = member->boolean();
          value && *value != allowed)
        member->fail(allowed ? "true; false is not supported"
                             : "false; true is not supported");
  }
  void onlyZero(ObjectReader &object, StringRef key) {
    if (std::optional<Reader> member = set(object, key))
      if (std::optional<double> value = member->number(); value && *value != 0)
        member->fail("0; other values are not supported");
  }

  void readDecoder(const Reader &reader, std::optional<Reader> quantization) {
    ObjectReader object(reader);
    std::optional<Reader> typeMember = object.required("model_type");
    if (!typeMember)
      return;
    std::optional<std::string> type = typeMember->string();
    if (!type)
      return;
    const Family *found = llvm::find_if(families, [&](const Family &family) {
      return family.modelType == *type;
    });
    if (found == std::end(families)) {
      std::vector<StringRef> names;
      for (const Family &known : families)
        names.push_back(known.modelType);
      typeMember->fail("one of " + join(names, ", "));
      return;
    }
    family = found;
    model.name = options.name.empty() ? *type : options.name;
    model.stateSlots = options.stateSlots;
    model.cacheSlots = options.cacheSlots;
    skip(object, harmless);

    model.vocabulary = size(object, "vocab_size");
    model.hidden = size(object, "hidden_size");
    model.layers = size(object, "num_hidden_layers");
    model.normEpsilon = numberOr(object, "rms_norm_eps", 1e-6);
    model.normWeightOffset = family->weightOffset;
    model.sandwichNorms = family->windows;
    model.tiedEmbeddings = flagOr(object, "tie_word_embeddings", family->gemma);
    onlyZero(object, "attention_dropout");
    if (family->gemma) {
      // Rounded to bf16 as the model does; see Builder.
      model.embeddingScale = std::sqrt(double(model.hidden));
      model.logitCap = numberOr(object, "final_logit_softcapping",
                                family->gemma2 ? 30.0 : 0.0);
    }
    readMixers(object);
    readAttention(object);
    if (family->linearLayers)
      readGatedDeltaNet(object);
    readFeedForward(object);
    if (!quantization)
      quantization = set(object, "quantization_config");
    else
      (void)object.optional("quantization_config");
    if (quantization && !quantization->get().is_null())
      readQuantization(*quantization);
    object.finish();
  }

  void readMixers(ObjectReader &object) {
    int64_t interval = 0;
    if (family->linearLayers)
      interval = sizeOr(object, "full_attention_interval", 4);
    if (family->windows && !family->gemma2)
      interval = sizeOr(object, "sliding_window_pattern", 6);
    else
      (void)object.optional("sliding_window_pattern");
    if (family->gemma2)
      interval = 2;
    Mixer other =
        family->linearLayers ? Mixer::GatedDeltaNet : Mixer::WindowAttention;
    std::optional<Reader> types = set(object, "layer_types");
    if (!types) {
      for (int64_t i = 0; i + 1 < interval && i < 4096; ++i)
        model.mixers.push_back(other);
      model.mixers.push_back(Mixer::Attention);
      return;
    }
    std::optional<std::vector<Reader>> items = types->array(1, 4096);
    if (!items)
      return;
    for (const Reader &item : *items) {
      std::optional<std::string> text =
          family->linearLayers
              ? item.choice({"full_attention", "linear_attention"})
          : family->windows
              ? item.choice({"full_attention", "sliding_attention"})
              : item.choice({"full_attention"});
      if (text)
        model.mixers.push_back(*text == "full_attention" ? Mixer::Attention
                                                         : other);
    }
    if (int64_t(items->size()) != model.layers)
      types->fail("one type per layer (" + Twine(model.layers) + ")");
    shorten(model.mixers);
  }

  /// The shortest list that gives the same layers when repeated.
  template <typename T> static void shorten(std::vector<T> &list) {
    for (size_t period = 1; period < list.size(); ++period) {
      bool repeats = true;
      for (size_t i = period; i < list.size(); ++i)
        repeats &= list[i] == list[i - period];
      if (repeats) {
        list.resize(period);
        return;
      }
    }
  }

  void readAttention(ObjectReader &object) {
    AttentionModel &attention = model.attention.emplace();
    attention.heads = size(object, "num_attention_heads");
    attention.kvHeads = sizeOr(object, "num_key_value_heads", attention.heads);
    attention.headDim =
        sizeOr(object, "head_dim", model.hidden / attention.heads);
    attention.queryKeyNorm = family->queryKeyNorm;
    attention.outputGate =
        flagOr(object, "attn_output_gate", family->outputGate);
    bool bias = flagOr(object, "attention_bias", false);
    attention.inputBias = bias;
    attention.outputBias = bias;
    attention.cacheType = options.cacheType;
    attention.scale = 1 / std::sqrt(numberOr(object, "query_pre_attn_scalar",
                                             double(attention.headDim)));
    attention.logitCap =
        numberOr(object, "attn_logit_softcapping", family->gemma2 ? 50.0 : 0.0);
    readRotary(object, attention);
    onlyFlag(object, "use_sliding_window", false);
    (void)object.optional("max_window_layers");
    std::optional<Reader> window = set(object, "sliding_window");
    if (window && is_contained(model.mixers, Mixer::WindowAttention))
      attention.window = window->integer(1, maxExtent).value_or(1);
  }

  void readRotary(ObjectReader &object, AttentionModel &attention) {
    RotaryModel &rotary = attention.rotary;
    double part = numberOr(object, "partial_rotary_factor",
                           family->linearLayers ? 0.25 : 1.0);
    rotary.theta = numberOr(object, "rope_theta", 10000);
    if (std::optional<Reader> member = set(object, "rope_parameters"))
      readRotaryParameters(*member, rotary, part);
    if (std::optional<Reader> member = set(object, "rope_scaling"))
      readRotaryParameters(*member, rotary, part);
    rotary.dimensions = int64_t(part * double(attention.headDim));
    if (family->windows && !family->gemma2) {
      RotaryModel local;
      local.dimensions = rotary.dimensions;
      local.theta = numberOr(object, "rope_local_base_freq", 10000);
      attention.windowRotary = local;
    }
  }

  void readRotaryParameters(const Reader &reader, RotaryModel &rotary,
                            double &part) {
    ObjectReader object(reader);
    std::string kind = "default";
    for (StringRef key : {"type", "rope_type"})
      if (std::optional<Reader> member = set(object, key))
        kind = member->choice({"default", "linear", "llama3"}).value_or(kind);
    rotary.theta = numberOr(object, "rope_theta", rotary.theta);
    part = numberOr(object, "partial_rotary_factor", part);
    // The three sections of multimodal positions rotate text tokens alike.
    skip(object, {"mrope_section", "mrope_interleaved"});
    if (kind != "default") {
      rotary.scaling = kind;
      if (std::optional<Reader> member = object.required("factor"))
        rotary.factor = member->number().value_or(1);
    }
    if (kind == "llama3") {
      if (std::optional<Reader> member = object.required("low_freq_factor"))
        rotary.lowFrequencyFactor = member->number().value_or(1);
      if (std::optional<Reader> member = object.required("high_freq_factor"))
        rotary.highFrequencyFactor = member->number().value_or(4);
      if (std::optional<Reader> member =
              object.required("original_max_position_embeddings"))
        rotary.originalPositions = member->integer(1, maxExtent).value_or(8192);
    }
    object.finish();
  }

  void readGatedDeltaNet(ObjectReader &object) {
    GatedDeltaNetModel &gdn = model.gatedDeltaNet.emplace();
    gdn.keyHeads = sizeOr(object, "linear_num_key_heads", 16);
    gdn.valueHeads = sizeOr(object, "linear_num_value_heads", 32);
    gdn.keyDim = sizeOr(object, "linear_key_head_dim", 128);
    gdn.valueDim = sizeOr(object, "linear_value_head_dim", 128);
    gdn.convolution = sizeOr(object, "linear_conv_kernel_dim", 4);
    gdn.splitProjections = family->splitProjections;
    gdn.stateType = options.stateType;
    if (std::optional<Reader> member = set(object, "mamba_ssm_dtype"))
      (void)member->choice({"float32", "bfloat16"});
    if (std::optional<Reader> member = set(object, "output_gate_type"))
      (void)member->choice({"silu", "swish"});
    if (!is_contained(model.mixers, Mixer::GatedDeltaNet))
      model.gatedDeltaNet.reset();
  }

  std::string activation(ObjectReader &object) {
    StringRef key = family->gemma ? "hidden_activation" : "hidden_act";
    std::optional<Reader> older;
    if (family->gemma)
      older = set(object, "hidden_act");
    std::string fallback = family->gemma ? "gelu_pytorch_tanh" : "silu";
    if (std::optional<Reader> member = set(object, key))
      fallback = member->choice({"silu", "gelu", "gelu_pytorch_tanh"})
                     .value_or(fallback);
    else if (older && !family->windows)
      // "gelu" has meant the other one as well, depending on who reads it.
      (void)older->choice({fallback});
    return StringSwitch<std::string>(fallback)
        .Case("gelu", "gelu_erf")
        .Case("gelu_pytorch_tanh", "gelu_tanh")
        .Default("silu");
  }

  void readFeedForward(ObjectReader &object) {
    std::string act = activation(object);
    onlyFlag(object, "mlp_bias", false);
    if (!family->experts) {
      model.feedForwards = {FeedForward::Dense};
      model.dense = DenseModel{size(object, "intermediate_size"), act};
      return;
    }
    ExpertsModel &experts = model.experts.emplace();
    experts.count = size(object, "num_experts");
    experts.topK = size(object, "num_experts_per_tok");
    experts.intermediate = size(object, "moe_intermediate_size");
    experts.activation = act;
    experts.normalizeTopK =
        flagOr(object, "norm_topk_prob", family->sharedExpert);
    if (family->sharedExpert) {
      experts.sharedIntermediate =
          size(object, "shared_expert_intermediate_size");
      experts.sharedGate = true;
    }
    // Layers without experts, and the width they have.
    int64_t step = sizeOr(object, "decoder_sparse_step", 1);
    std::set<int64_t> plain;
    if (std::optional<Reader> member = set(object, "mlp_only_layers"))
      if (std::optional<std::vector<Reader>> items = member->array())
        for (const Reader &item : *items)
          if (std::optional<int64_t> layer = item.integer(0, maxExtent))
            plain.insert(*layer);
    bool anyDense = false, anyExperts = false;
    for (int64_t i = 0; i < std::min<int64_t>(model.layers, 4096); ++i) {
      bool isDense = plain.count(i) || (i + 1) % step != 0;
      anyDense |= isDense;
      anyExperts |= !isDense;
      model.feedForwards.push_back(isDense ? FeedForward::Dense
                                           : FeedForward::Experts);
    }
    shorten(model.feedForwards);
    std::optional<Reader> width = set(object, "intermediate_size");
    if (anyDense && width)
      model.dense = DenseModel{width->integer(1, maxExtent).value_or(1), act};
    if (!anyExperts)
      model.experts.reset();
  }

  void readQuantization(const Reader &reader) {
    ObjectReader object(reader);
    if (std::optional<Reader> member = object.required("quant_method"))
      (void)member->choice({"fp8"});
    if (std::optional<Reader> member = set(object, "fmt"))
      (void)member->choice({"e4m3"});
    if (std::optional<Reader> member = object.required("activation_scheme"))
      (void)member->choice({"dynamic"});
    if (std::optional<Reader> member = object.required("weight_block_size"))
      if (std::optional<std::vector<Reader>> items = member->array(2, 2))
        for (const Reader &item : *items)
          if (item.integer().value_or(128) != 128)
            item.fail("128; other blocks are not supported");
    model.fp8Block128 = true;
    std::vector<std::string> kept;
    for (StringRef key : {"modules_to_not_convert", "ignored_layers"})
      if (std::optional<Reader> member = set(object, key))
        if (std::optional<std::vector<Reader>> items = member->array())
          for (const Reader &item : *items)
            if (std::optional<std::string> module = item.string()) {
              kept.push_back(*module);
              if (!staysUnquantized(*module))
                item.fail("a module that Netra keeps in bf16 (embedding, "
                          "head, norms, convolution, routers, the gates of "
                          "gated delta nets, vision and prediction heads)");
            }
    // What the builder keeps in bf16 must be bf16 in the checkpoint.
    auto needs = [&](StringRef suffix) {
      if (llvm::none_of(
              kept, [&](StringRef module) { return module.ends_with(suffix); }))
        reader.fail("modules_to_not_convert with a module \"…." + suffix +
                        "\", which Netra computes in bf16",
                    "none");
    };
    if (model.experts)
      needs("mlp.gate");
    if (model.experts && model.experts->sharedGate)
      needs("shared_expert_gate");
    if (model.gatedDeltaNet && !family->splitProjections)
      needs("in_proj_ba");
    if (model.gatedDeltaNet && family->splitProjections) {
      needs("in_proj_a");
      needs("in_proj_b");
    }
    object.finish();
  }

  static bool staysUnquantized(StringRef module) {
    for (StringRef part : {"visual", "vision", "mtp", "norm"})
      if (module.contains(part))
        return true;
    StringRef last = module.rsplit('.').second;
    if (last.empty())
      last = module;
    return is_contained({"lm_head", "embed_tokens", "gate",
                         "shared_expert_gate", "in_proj_ba", "in_proj_a",
                         "in_proj_b", "conv1d", "A_log", "dt_bias"},
                        last);
  }

  ModelDescription &model;
  const HuggingFaceOptions &options;
  Reader root;
  const Family *family = nullptr;
};

} // namespace

Expected<ModelDescription>
parseHuggingFaceConfig(StringRef text, StringRef path,
                       const HuggingFaceOptions &options) {
  Expected<json::Value> document = json::parse(text, path);
  if (!document)
    return document.takeError();
  json::Diagnostics diagnostics(path);
  ModelDescription model;
  model.path = path.str();
  ConfigReader(Reader(*document, "", diagnostics), model, options).read();
  if (Error error = diagnostics.takeError())
    return error;
  model.sources = {"a config.json of model type " + model.name};
  std::vector<std::string> faults = verifyModel(model);
  for (std::string &fault : faults)
    fault = path.str() + ": the model it describes: " + fault;
  if (!faults.empty())
    return createStringError(join(faults, "\n"));
  return model;
}

} // namespace netra
