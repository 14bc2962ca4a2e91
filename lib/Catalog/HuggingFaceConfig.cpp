//===- HuggingFaceConfig.cpp - config.json to model descriptions ----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The fields are those of the configuration classes of Hugging Face's
// transformers library; HuggingFaceFamilies.cpp has their defaults.
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Model.h"

#include "HuggingFaceFamilies.h"
#include "ModelNumbers.h"
#include "Names.h"

#include "Netra/Catalog/Json.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <set>

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;

namespace netra {
namespace {

/// Fields that do not change what the decoder computes for given token ids.
constexpr StringRef harmless[] = {
    "_attn_implementation_autoset",
    "_name_or_path",
    "attn_implementation",
    "bos_token_id",
    "cache_implementation",
    "eos_token_id",
    "initializer_range",
    "max_position_embeddings",
    "mlp_dropout",
    "mtp_num_hidden_layers",
    "mtp_use_dedicated_embeddings",
    "output_router_logits",
    "pad_token_id",
    "pretraining_tp",
    "router_aux_loss_coef",
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
    std::optional<Reader> inner = outside.required("text_config");
    std::optional<Reader> tied = outside.optional("tie_word_embeddings");
    std::optional<Reader> type = outside.required("model_type");
    std::optional<Reader> architectures = set(outside, "architectures");
    readElementType(outside);
    skip(outside, harmless);
    skip(outside, harmlessOutside);
    if (inner)
      readDecoder(*inner, outside.optional("quantization_config"));
    if (tied)
      model.tiedEmbeddings = tied->boolean().value_or(false);
    if (family) {
      model.checkpointPrefix = family->outerPrefix.str();
      readArchitectures(architectures, family->outerArchitecture);
      std::optional<std::string> text = type ? type->string() : std::nullopt;
      if (text && *text != family->outerType)
        type->fail(family->outerType.empty()
                       ? "no model around one of type " + family->modelType
                       : "the model type \"" + family->outerType +
                             "\" around a text_config of type " +
                             family->modelType);
    }
    outside.finish();
  }

private:
  static void skip(ObjectReader &object, ArrayRef<StringRef> keys) {
    for (StringRef key : keys)
      (void)object.optional(key);
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
  double numberOr(ObjectReader &object, StringRef key, double fallback,
                  const NumberRange &range) {
    if (std::optional<Reader> member = set(object, key))
      return readNumber(*member, range).value_or(fallback);
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

  /// Everything that is not FP8 is computed, and read, in bf16.
  void readElementType(ObjectReader &object) {
    for (StringRef key : {"torch_dtype", "dtype"})
      if (std::optional<Reader> member = set(object, key))
        (void)member->choice({"bfloat16"});
  }

  /// The class that computes the model must be that of its type.
  void readArchitectures(const std::optional<Reader> &member,
                         StringRef expected) {
    if (!member)
      return;
    if (std::optional<std::vector<Reader>> items = member->array())
      for (const Reader &item : *items)
        if (std::optional<std::string> text = item.string();
            text && *text != expected)
          item.fail("the architecture \"" + expected + "\" of model type " +
                    family->modelType);
  }

  void readDecoder(const Reader &reader, std::optional<Reader> quantization) {
    ObjectReader object(reader);
    std::optional<Reader> typeMember = object.required("model_type");
    if (!typeMember)
      return;
    std::optional<std::string> type = typeMember->string();
    if (!type)
      return;
    ArrayRef<HuggingFaceFamily> families = huggingFaceFamilies();
    const HuggingFaceFamily *found =
        llvm::find_if(families, [&](const HuggingFaceFamily &candidate) {
          return candidate.modelType == *type;
        });
    if (found == families.end()) {
      std::vector<StringRef> names;
      for (const HuggingFaceFamily &known : families)
        names.push_back(known.modelType);
      typeMember->fail("one of " + join(names, ", "));
      return;
    }
    family = found;
    const HuggingFaceDefaults &defaults = family->defaults;
    model.sources = {"a config.json of model type " + *type};
    model.name = options.name.empty() ? *type : options.name;
    model.stateSlots = options.stateSlots;
    model.cacheSlots = options.cacheSlots;
    skip(object, harmless);
    readElementType(object);
    readArchitectures(set(object, "architectures"), family->architecture);

    model.vocabulary = sizeOr(object, "vocab_size", defaults.vocabulary);
    model.hidden = sizeOr(object, "hidden_size", defaults.hidden);
    model.layers = sizeOr(object, "num_hidden_layers", defaults.layers);
    model.normEpsilon = numberOr(object, "rms_norm_eps", 1e-6, epsilonRange);
    model.normWeightOffset = family->weightOffset;
    model.sandwichNorms = family->windows;
    model.tiedEmbeddings = flagOr(object, "tie_word_embeddings", family->gemma);
    onlyZero(object, "attention_dropout");
    if (family->gemma) {
      // Rounded to bf16 as the model does; see Builder.
      model.embeddingScale = std::sqrt(double(model.hidden));
      onlyFlag(object, "use_bidirectional_attention", false);
    }
    if (family->windows)
      model.logitCap =
          capOr(object, "final_logit_softcapping", defaults.logitCap);
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
    if (model.experts) {
      model.experts->perExpertTensors |= model.fp8Block128;
      if (options.perExpertTensors)
        model.experts->perExpertTensors = *options.perExpertTensors;
    }
    object.finish();
  }

  void readMixers(ObjectReader &object) {
    int64_t interval = 0;
    if (family->linearLayers)
      interval = sizeOr(object, "full_attention_interval", 4);
    if (family->windows)
      interval = family->defaults.windowInterval;
    if (family->windowRotary)
      for (StringRef key :
           {"sliding_window_pattern", "_sliding_window_pattern"})
        interval = sizeOr(object, key, interval);
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

  /// Caps of logits: null, which is no cap, is not the same as no member.
  double capOr(ObjectReader &object, StringRef key, double fallback) {
    std::optional<Reader> member = object.optional(key);
    if (!member)
      return fallback;
    if (member->get().is_null())
      return 0;
    return readNumber(*member, divisorRange).value_or(fallback);
  }

  void readAttention(ObjectReader &object) {
    const HuggingFaceDefaults &defaults = family->defaults;
    AttentionModel &attention = model.attention.emplace();
    attention.heads = sizeOr(object, "num_attention_heads", defaults.heads);
    // Null means as many as heads, whatever the default.
    attention.kvHeads = attention.heads;
    if (std::optional<Reader> member = object.optional("num_key_value_heads")) {
      if (!member->get().is_null())
        attention.kvHeads =
            member->integer(1, maxExtent).value_or(attention.heads);
    } else if (defaults.kvHeads) {
      attention.kvHeads = defaults.kvHeads;
    }
    attention.headDim = sizeOr(
        object, "head_dim",
        defaults.headDim ? defaults.headDim : model.hidden / attention.heads);
    attention.queryKeyNorm = family->queryKeyNorm;
    if (family->outputGate)
      attention.outputGate = flagOr(object, "attn_output_gate", true);
    bool bias = flagOr(object, "attention_bias", false);
    attention.inputBias = bias;
    attention.outputBias = bias;
    attention.cacheType = options.cacheType;
    double scalar = double(attention.headDim);
    if (family->windows) {
      scalar = numberOr(object, "query_pre_attn_scalar", defaults.queryScalar,
                        divisorRange);
      attention.logitCap =
          capOr(object, "attn_logit_softcapping", defaults.attentionCap);
    }
    attention.scale = 1 / std::sqrt(scalar);
    readRotary(object, attention);
    readWindow(object, attention);
  }

  void readWindow(ObjectReader &object, AttentionModel &attention) {
    onlyFlag(object, "use_sliding_window", false);
    (void)object.optional("max_window_layers");
    int64_t window = sizeOr(object, "sliding_window", family->defaults.window);
    if (!family->windows)
      return;
    // Published beside the other, which is the one that is read.
    if (std::optional<Reader> member = set(object, "sliding_window_size"))
      if (std::optional<int64_t> size = member->integer();
          size && *size != window)
        member->fail("the sliding_window, " + Twine(window));
    if (is_contained(model.mixers, Mixer::WindowAttention))
      attention.window = window;
  }

  void readRotary(ObjectReader &object, AttentionModel &attention) {
    const HuggingFaceDefaults &defaults = family->defaults;
    RotaryModel &rotary = attention.rotary;
    double part = numberOr(object, "partial_rotary_factor",
                           family->linearLayers ? 0.25 : 1.0, fractionRange);
    rotary.theta = numberOr(object, "rope_theta", defaults.theta, thetaRange);
    RotaryModel local;
    local.theta = defaults.windowTheta;
    if (family->windowRotary)
      local.theta =
          numberOr(object, "rope_local_base_freq", local.theta, thetaRange);
    if (std::optional<Reader> member = set(object, "rope_parameters")) {
      if (family->windowRotary && member->get().is_object() &&
          member->get().contains("full_attention")) {
        // By kind of layer.
        ObjectReader kinds(*member);
        if (std::optional<Reader> kind = kinds.required("full_attention"))
          readRotaryParameters(*kind, rotary, part);
        if (std::optional<Reader> kind = kinds.required("sliding_attention"))
          readRotaryParameters(*kind, local, part);
        kinds.finish();
      } else {
        readRotaryParameters(*member, rotary, part);
      }
    }
    if (std::optional<Reader> member = set(object, "rope_scaling"))
      readRotaryParameters(*member, rotary, part);
    rotary.dimensions = int64_t(part * double(attention.headDim));
    if (family->windowRotary) {
      local.dimensions = rotary.dimensions;
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
    rotary.theta = numberOr(object, "rope_theta", rotary.theta, thetaRange);
    part = numberOr(object, "partial_rotary_factor", part, fractionRange);
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
    // One tap needs no state.
    if (std::optional<Reader> member = set(object, "linear_conv_kernel_dim"))
      gdn.convolution = member->integer(2, maxExtent).value_or(4);
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
    std::string name = family->gemma ? "gelu_pytorch_tanh" : "silu";
    StringRef key = family->gemma ? "hidden_activation" : "hidden_act";
    // The classes of these models read the other key; this one is left over in
    // published files, with a function that is not computed.
    if (family->gemma)
      if (std::optional<Reader> older = set(object, "hidden_act"))
        (void)older->choice({"gelu", "gelu_pytorch_tanh"});
    if (std::optional<Reader> member = set(object, key))
      name =
          member->choice({"silu", "gelu", "gelu_pytorch_tanh"}).value_or(name);
    return StringSwitch<std::string>(name)
        .Case("gelu", "gelu_erf")
        .Case("gelu_pytorch_tanh", "gelu_tanh")
        .Default("silu");
  }

  void readFeedForward(ObjectReader &object) {
    std::string act = activation(object);
    onlyFlag(object, "mlp_bias", false);
    const HuggingFaceDefaults &defaults = family->defaults;
    int64_t width = sizeOr(object, "intermediate_size", defaults.intermediate);
    if (!family->experts) {
      model.feedForwards = {FeedForward::Dense};
      model.dense = DenseModel{width, act};
      return;
    }
    ExpertsModel &experts = model.experts.emplace();
    experts.count = sizeOr(object, "num_experts", defaults.experts);
    experts.topK = sizeOr(object, "num_experts_per_tok", defaults.topK);
    experts.intermediate =
        sizeOr(object, "moe_intermediate_size", defaults.expertIntermediate);
    experts.activation = act;
    experts.perExpertTensors = family->perExpertTensors;
    experts.normalizeTopK =
        flagOr(object, "norm_topk_prob", family->sharedExpert);
    if (family->sharedExpert) {
      experts.sharedIntermediate =
          sizeOr(object, "shared_expert_intermediate_size",
                 defaults.sharedIntermediate);
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
    if (anyDense && width)
      model.dense = DenseModel{width, act};
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
  const HuggingFaceFamily *family = nullptr;
};

} // namespace

Expected<ModelDescription>
parseHuggingFaceConfig(StringRef text, StringRef path,
                       const HuggingFaceOptions &options) {
  Expected<json::Value> document = json::parse(text, path);
  if (!document)
    return document.takeError();
  if (!options.name.empty() && !isLowerName(options.name))
    return createStringError(
        "the name of the model: expected lower-case letters, digits and '_', "
        "the first a letter, found \"" +
        options.name + "\"");
  json::Diagnostics diagnostics(path);
  ModelDescription model;
  model.path = path.str();
  ConfigReader(Reader(*document, "", diagnostics), model, options).read();
  if (Error error = diagnostics.takeError())
    return error;
  std::vector<std::string> faults = verifyModel(model);
  for (std::string &fault : faults)
    fault = path.str() + ": the model it describes: " + fault;
  if (!faults.empty())
    return createStringError(join(faults, "\n"));
  return model;
}

} // namespace netra
