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
#include "HuggingFaceFields.h"
#include "HuggingFaceQuantization.h"
#include "HuggingFaceRotary.h"
#include "Names.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <set>

using namespace llvm;
using namespace netra::config;

namespace netra {

void config::expectSame(const Reader &first, const Reader &second) {
  const json::Value &one = first.get(), &other = second.get();
  if (one == other)
    return;
  if (!one.is_object() || !other.is_object()) {
    // Long values are not spelled out.
    second.fail("the same as " + first.getPointer() + ", which is " +
                json::describe(one));
    return;
  }
  ObjectReader left(first), right(second);
  for (const auto &[key, member] : left.members())
    if (std::optional<Reader> twin = right.optional(key))
      expectSame(member, *twin);
    else
      second.fail("the key \"" + key + "\" of " + first.getPointer(), "none");
  for (const auto &[key, member] : right.members())
    if (!one.contains(key))
      first.fail("the key \"" + key + "\" of " + second.getPointer(), "none");
}

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
    tied.sayFlag(outside, "tie_word_embeddings");
    std::optional<Reader> type = outside.required("model_type");
    std::optional<Reader> architectures = set(outside, "architectures");
    readElementType(outside);
    skip(outside, harmless);
    skip(outside, harmlessOutside);
    if (inner)
      readDecoder(*inner, set(outside, "quantization_config"));
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

  /// What verifyModel is to call the field with this pointer in a manifest.
  std::string nameOf(StringRef pointer) const {
    if (auto found = names.find(pointer.str()); found != names.end())
      return found->second;
    return pointer.str();
  }

private:
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

    nameFields(reader);
    model.vocabulary = sizeOr(object, "vocab_size", defaults.vocabulary);
    model.hidden = sizeOr(object, "hidden_size", defaults.hidden);
    model.layers =
        sizeOr(object, "num_hidden_layers", defaults.layers, maxLayers);
    model.normEpsilon = numberOr(object, "rms_norm_eps", 1e-6, epsilonRange);
    model.normWeightOffset = family->weightOffset;
    model.sandwichNorms = family->windows;
    tied.sayFlag(object, "tie_word_embeddings");
    model.tiedEmbeddings =
        tied.getPointer().empty() ? family->gemma : tied.get();
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
    std::optional<Reader> inner = set(object, "quantization_config");
    if (quantization && inner)
      expectSame(*quantization, *inner);
    if (!quantization)
      quantization = inner;
    if (quantization)
      readQuantization(*quantization, model);
    if (model.experts) {
      model.experts->perExpertTensors |= model.fp8Block128;
      if (options.perExpertTensors)
        model.experts->perExpertTensors = *options.perExpertTensors;
    }
    object.finish();
  }

  /// Of the fields that verifyModel may report.
  void nameFields(const Reader &reader) {
    constexpr std::pair<StringRef, StringRef> fields[] = {
        {"/attention/head_dim", "head_dim"},
        {"/attention/heads", "num_attention_heads"},
        {"/attention/kv_heads", "num_key_value_heads"},
        {"/attention/rotary/dimensions", "head_dim"},
        {"/attention/window", "sliding_window"},
        {"/attention/window_rotary/dimensions", "head_dim"},
        {"/dense/intermediate", "intermediate_size"},
        {"/experts/count", "num_experts"},
        {"/experts/intermediate", "moe_intermediate_size"},
        {"/experts/shared_intermediate", "shared_expert_intermediate_size"},
        {"/experts/top_k", "num_experts_per_tok"},
        {"/gated_delta_net/convolution", "linear_conv_kernel_dim"},
        {"/gated_delta_net/key_dim", "linear_key_head_dim"},
        {"/gated_delta_net/key_heads", "linear_num_key_heads"},
        {"/gated_delta_net/value_dim", "linear_value_head_dim"},
        {"/gated_delta_net/value_heads", "linear_num_value_heads"},
        {"/hidden", "hidden_size"},
        {"/vocabulary", "vocab_size"},
    };
    for (auto [pointer, key] : fields)
      names[pointer.str()] =
          json::childPointer(reader.getPointer(), key) +
          (reader.get().contains(key.str()) ? "" : " (left out)");
    names["/cache_slots"] = "the number of cached tokens";
    names["/state_slots"] = "the number of sequences";
  }

  void readMixers(ObjectReader &object) {
    Agreed<int64_t> interval(
        family->linearLayers ? 4 : family->defaults.windowInterval);
    if (family->linearLayers)
      interval.saySize(object, "full_attention_interval");
    if (family->windowRotary)
      for (StringRef key :
           {"sliding_window_pattern", "_sliding_window_pattern"})
        interval.saySize(object, key);
    Mixer other =
        family->linearLayers ? Mixer::GatedDeltaNet : Mixer::WindowAttention;
    auto byInterval = [&](int64_t layer) {
      return interval.get() && (layer + 1) % interval.get() != 0
                 ? other
                 : Mixer::Attention;
    };
    std::optional<Reader> types = set(object, "layer_types");
    if (!types) {
      for (int64_t i = 0; i < model.layers; ++i)
        model.mixers.push_back(byInterval(i));
      return shorten(model.mixers);
    }
    std::optional<std::vector<Reader>> items = types->array(1, maxLayers);
    if (!items)
      return;
    for (const Reader &item : *items) {
      std::optional<std::string> text =
          family->linearLayers
              ? item.choice({"full_attention", "linear_attention"})
          : family->windows
              ? item.choice({"full_attention", "sliding_attention"})
              : item.choice({"full_attention"});
      if (!text)
        continue;
      Mixer mixer = *text == "full_attention" ? Mixer::Attention : other;
      // A list without an interval may be any; with one, both say the same.
      if (!interval.getPointer().empty() &&
          mixer != byInterval(int64_t(model.mixers.size())))
        item.fail(Twine(mixer != Mixer::Attention ? "\"full_attention\""
                        : family->linearLayers    ? "\"linear_attention\""
                                                  : "\"sliding_attention\"") +
                  ", as " + interval.getPointer() + " (" +
                  Twine(interval.get()) + ") says");
      model.mixers.push_back(mixer);
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
    return readNumber(*member, positiveRange).value_or(fallback);
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
    attention.headDim = defaults.headDim;
    bool isShare = !attention.headDim && !set(object, "head_dim");
    if (!attention.headDim)
      attention.headDim = std::max<int64_t>(model.hidden / attention.heads, 1);
    attention.headDim = sizeOr(object, "head_dim", attention.headDim);
    if ((isShare || family->headsDivideHidden) &&
        model.hidden % attention.heads)
      reportField("/hidden",
                  "a multiple of " + nameOf("/attention/heads") + " (" +
                      Twine(attention.heads) + ")",
                  Twine(model.hidden));
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
                        positiveRange);
      attention.logitCap =
          capOr(object, "attn_logit_softcapping", defaults.attentionCap);
    }
    attention.scale = 1 / std::sqrt(scalar);
    readRotary(object, *family, attention, names);
    readWindow(object, attention);
    // Beside gated delta nets alone.
    if (llvm::all_of(model.mixers,
                     [](Mixer mixer) { return mixer == Mixer::GatedDeltaNet; }))
      model.attention.reset();
  }

  void reportField(StringRef pointer, const Twine &expected,
                   const Twine &found) {
    root.getDiagnostics().report(nameOf(pointer), expected, found);
  }

  void readWindow(ObjectReader &object, AttentionModel &attention) {
    onlyFlag(object, "use_sliding_window", false);
    std::optional<Reader> member = object.optional("sliding_window");
    bool isNull = member && member->get().is_null();
    if (!family->windows && !family->windowSwitch) {
      if (member && !isNull)
        member->fail("null, because no layer of model type " +
                     family->modelType + " has a window");
      return;
    }
    Agreed<int64_t> window(family->defaults.window);
    window.saySize(object, "sliding_window");
    if (!family->windows) {
      // Both mean nothing while the switch is off.
      if (std::optional<Reader> layers = set(object, "max_window_layers"))
        (void)layers->integer(0, maxLayers);
      return;
    }
    // Published beside the other, which is the one that is read.
    window.saySize(object, "sliding_window_size");
    if (!is_contained(model.mixers, Mixer::WindowAttention))
      return;
    if (isNull)
      member->fail("the window of the layers that have one");
    attention.window = window.get();
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
    if (std::optional<Reader> member = set(object, "mamba_ssm_dtype"))
      if (member->choice({"float32", "bfloat16"}) == "bfloat16")
        gdn.stateType = ElementType::BF16;
    gdn.stateType = options.stateType.value_or(gdn.stateType);
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
    // Families whose layers are all alike state it, empty.
    if (!family->experts || family->onlyExperts)
      if (std::optional<Reader> member = set(object, "mlp_only_layers"))
        (void)member->array(0, 0);
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
    if (family->sharedExpert) {
      experts.sharedIntermediate =
          sizeOr(object, "shared_expert_intermediate_size",
                 defaults.sharedIntermediate);
      experts.sharedGate = true;
    }
    if (family->onlyExperts) {
      onlyFlag(object, "norm_topk_prob", true);
      if (std::optional<Reader> member = set(object, "decoder_sparse_step"))
        if (member->integer(1, maxExtent).value_or(1) != 1)
          member->fail("1, because every layer of model type " +
                       family->modelType + " has experts");
      model.feedForwards = {FeedForward::Experts};
      return;
    }
    experts.normalizeTopK =
        flagOr(object, "norm_topk_prob", family->sharedExpert);
    // Layers without experts, and the width they have.
    int64_t step = sizeOr(object, "decoder_sparse_step", 1);
    std::set<int64_t> plain;
    if (std::optional<Reader> member = set(object, "mlp_only_layers"))
      if (std::optional<std::vector<Reader>> items = member->array())
        for (const Reader &item : *items)
          if (std::optional<int64_t> layer = item.integer(0, model.layers - 1))
            plain.insert(*layer);
    bool anyDense = false, anyExperts = false;
    for (int64_t i = 0; i < model.layers; ++i) {
      bool isDense = plain.count(i) || (i + 1) % step != 0;
      anyDense |= isDense;
      anyExperts |= !isDense;
      model.feedForwards.push_back(isDense ? FeedForward::Dense
                                           : FeedForward::Experts);
    }
    shorten(model.feedForwards);
    if (anyDense)
      model.dense = DenseModel{width, act};
    if (!anyExperts)
      model.experts.reset();
  }

  ModelDescription &model;
  const HuggingFaceOptions &options;
  Reader root;
  const HuggingFaceFamily *family = nullptr;
  Agreed<bool> tied{false};
  FieldNames names;
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
  ConfigReader reader(Reader(*document, "", diagnostics), model, options);
  reader.read();
  if (Error error = diagnostics.takeError())
    return error;
  std::vector<std::string> faults = verifyModel(
      model, [&](StringRef pointer) { return reader.nameOf(pointer); });
  for (std::string &fault : faults)
    fault = path.str() + ": " + fault;
  if (!faults.empty())
    return createStringError(join(faults, "\n"));
  return model;
}

} // namespace netra
