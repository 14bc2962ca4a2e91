//===- ModelManifest.cpp - Model manifests to descriptions and back -------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Model.h"

#include "ModelNumbers.h"
#include "Names.h"

#include "Netra/Catalog/Contract.h"
#include "Netra/Catalog/Json.h"
#include "Netra/Catalog/PackRecipe.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;
using netra::json::ObjectReader;
using netra::json::Reader;

namespace netra {

static constexpr StringRef mixerNames[] = {"attention", "window_attention",
                                           "gated_delta_net"};
static constexpr StringRef feedForwardNames[] = {"dense", "experts"};
static constexpr StringRef activationNames[] = {"silu", "gelu_erf",
                                                "gelu_tanh"};

StringRef mixerName(Mixer mixer) { return mixerNames[size_t(mixer)]; }
StringRef feedForwardName(FeedForward ff) {
  return feedForwardNames[size_t(ff)];
}

namespace {

/// Reads the members of an object. Printer has the same members, so that each
/// part of a description is spelled out once, in `mapFields`.
class Parser {
public:
  explicit Parser(const Reader &reader) : object(reader) {}
  void finish() { object.finish(); }

  void size(StringRef key, int64_t &value, int64_t min = 1,
            int64_t max = maxExtent) {
    if (std::optional<Reader> member = object.required(key))
      value = member->integer(min, max).value_or(value);
  }
  /// A size that is 0 when the key is absent.
  void optionalSize(StringRef key, int64_t &value) {
    if (std::optional<Reader> member = object.optional(key))
      value = member->integer(1, maxExtent).value_or(value);
  }
  void number(StringRef key, double &value, double fallback,
              const NumberRange &range = anyNumber) {
    value = fallback;
    if (std::optional<Reader> member = object.optional(key))
      value = readNumber(*member, range).value_or(fallback);
  }
  /// A number that is 0 when the key is absent, and only then.
  void optionalNumber(StringRef key, double &value) {
    number(key, value, 0, positiveRange);
  }
  void flag(StringRef key, bool &value, bool fallback) {
    value = fallback;
    if (std::optional<Reader> member = object.optional(key))
      value = member->boolean().value_or(fallback);
  }
  void text(StringRef key, std::string &value, StringRef fallback = {}) {
    value = fallback.str();
    if (std::optional<Reader> member = object.optional(key))
      value = member->string().value_or(value);
  }
  void choice(StringRef key, std::string &value, ArrayRef<StringRef> choices) {
    value = choices.front().str();
    if (std::optional<Reader> member = object.optional(key))
      value = member->choice(choices).value_or(value);
  }
  void type(StringRef key, ElementType &value, ArrayRef<StringRef> choices) {
    std::string name;
    choice(key, name, choices);
    value = *parseElementType(name);
  }
  void texts(StringRef key, std::vector<std::string> &values, size_t min) {
    std::optional<Reader> member =
        min ? object.required(key) : object.optional(key);
    if (!member)
      return;
    if (std::optional<std::vector<Reader>> items = member->array(min))
      for (const Reader &item : *items)
        if (std::optional<std::string> value = item.string())
          values.push_back(*value);
  }
  template <typename Enum>
  void kinds(StringRef key, std::vector<Enum> &values,
             ArrayRef<StringRef> names) {
    std::optional<Reader> member = object.required(key);
    if (!member)
      return;
    if (std::optional<std::vector<Reader>> items = member->array(1, 256))
      for (const Reader &item : *items)
        if (std::optional<std::string> value = item.choice(names))
          values.push_back(Enum(find(names, *value) - names.begin()));
  }
  template <typename T> void part(StringRef key, std::optional<T> &value) {
    if (std::optional<Reader> member = object.optional(key)) {
      Parser inner(*member);
      mapFields(inner, value.emplace());
      inner.finish();
    }
  }
  template <typename T> void requiredPart(StringRef key, T &value) {
    if (std::optional<Reader> member = object.required(key)) {
      Parser inner(*member);
      mapFields(inner, value);
      inner.finish();
    }
  }
  void format(StringRef value) {
    if (std::optional<Reader> member = object.required("format"))
      (void)member->choice({value});
  }
  void name(std::string &value) {
    std::optional<Reader> member = object.required("name");
    if (!member)
      return;
    if (std::optional<std::string> text = member->string()) {
      if (!isLowerName(*text))
        member->fail("a name of lower-case letters, digits and '_'");
      value = *text;
    }
  }

private:
  ObjectReader object;
};

/// Writes what Parser reads; members that have their default are left out.
class Printer {
public:
  void size(StringRef key, int64_t value, int64_t = 1, int64_t = maxExtent) {
    object[key.str()] = value;
  }
  void optionalSize(StringRef key, int64_t value) {
    if (value)
      object[key.str()] = value;
  }
  void number(StringRef key, double value, double fallback,
              const NumberRange & = anyNumber) {
    if (value != fallback)
      object[key.str()] = value;
  }
  void optionalNumber(StringRef key, double value) { number(key, value, 0); }
  void flag(StringRef key, bool value, bool fallback) {
    if (value != fallback)
      object[key.str()] = value;
  }
  void text(StringRef key, const std::string &value, StringRef fallback = {}) {
    if (value != fallback)
      object[key.str()] = value;
  }
  void choice(StringRef key, const std::string &value,
              ArrayRef<StringRef> choices) {
    text(key, value, choices.front());
  }
  void type(StringRef key, ElementType value, ArrayRef<StringRef> choices) {
    choice(key, elementTypeName(value).str(), choices);
  }
  void texts(StringRef key, const std::vector<std::string> &values, size_t) {
    if (!values.empty())
      object[key.str()] = values;
  }
  template <typename Enum>
  void kinds(StringRef key, const std::vector<Enum> &values,
             ArrayRef<StringRef> names) {
    for (Enum value : values)
      object[key.str()].push_back(names[size_t(value)].str());
  }
  template <typename T> void part(StringRef key, std::optional<T> &value) {
    if (value)
      requiredPart(key, *value);
  }
  template <typename T> void requiredPart(StringRef key, T &value) {
    Printer inner;
    mapFields(inner, value);
    object[key.str()] = inner.object;
  }
  void format(StringRef value) { object["format"] = value.str(); }
  void name(const std::string &value) { object["name"] = value; }

  nlohmann::json object = nlohmann::json::object();
};

template <typename IO> void mapFields(IO &io, RotaryModel &rotary) {
  io.size("dimensions", rotary.dimensions, 2);
  io.number("theta", rotary.theta, 10000, thetaRange);
  io.choice("scaling", rotary.scaling, {"none", "linear", "llama3"});
  io.optionalNumber("factor", rotary.factor);
  io.optionalNumber("low_frequency_factor", rotary.lowFrequencyFactor);
  io.optionalNumber("high_frequency_factor", rotary.highFrequencyFactor);
  io.optionalSize("original_positions", rotary.originalPositions);
}

template <typename IO> void mapFields(IO &io, AttentionModel &attention) {
  io.size("heads", attention.heads);
  io.size("kv_heads", attention.kvHeads);
  io.size("head_dim", attention.headDim);
  io.flag("query_key_norm", attention.queryKeyNorm, false);
  io.flag("output_gate", attention.outputGate, false);
  io.flag("input_bias", attention.inputBias, false);
  io.flag("output_bias", attention.outputBias, false);
  io.optionalNumber("scale", attention.scale);
  io.optionalNumber("logit_cap", attention.logitCap);
  io.requiredPart("rotary", attention.rotary);
  io.optionalSize("window", attention.window);
  io.part("window_rotary", attention.windowRotary);
  io.type("cache_type", attention.cacheType, {"bf16", "f8E4M3FN"});
}

template <typename IO> void mapFields(IO &io, GatedDeltaNetModel &gdn) {
  io.size("key_heads", gdn.keyHeads);
  io.size("value_heads", gdn.valueHeads);
  io.size("key_dim", gdn.keyDim);
  io.size("value_dim", gdn.valueDim);
  io.size("convolution", gdn.convolution, 2);
  io.type("state_type", gdn.stateType, {"f32", "bf16"});
  io.flag("split_projections", gdn.splitProjections, true);
}

template <typename IO> void mapFields(IO &io, DenseModel &dense) {
  io.size("intermediate", dense.intermediate);
  io.choice("activation", dense.activation, activationNames);
}

template <typename IO> void mapFields(IO &io, ExpertsModel &experts) {
  io.size("count", experts.count);
  io.size("top_k", experts.topK);
  io.size("intermediate", experts.intermediate);
  io.choice("activation", experts.activation, activationNames);
  io.optionalSize("shared_intermediate", experts.sharedIntermediate);
  io.flag("shared_gate", experts.sharedGate, false);
  io.flag("normalize_top_k", experts.normalizeTopK, true);
  io.flag("per_expert_tensors", experts.perExpertTensors, false);
}

template <typename IO> void mapFields(IO &io, ModelDescription &model) {
  io.format("netra.model/1");
  io.name(model.name);
  io.text("summary", model.summary);
  io.texts("sources", model.sources, 1);
  io.texts("profiles", model.profiles, 0);
  io.size("vocabulary", model.vocabulary);
  io.size("hidden", model.hidden);
  io.size("layers", model.layers, 1, maxLayers);
  io.kinds("mixers", model.mixers, mixerNames);
  io.kinds("feed_forwards", model.feedForwards, feedForwardNames);
  io.number("norm_epsilon", model.normEpsilon, 1e-6, epsilonRange);
  io.number("norm_weight_offset", model.normWeightOffset, 0);
  io.flag("sandwich_norms", model.sandwichNorms, false);
  io.number("embedding_scale", model.embeddingScale, 1, positiveRange);
  io.flag("tied_embeddings", model.tiedEmbeddings, false);
  io.optionalNumber("logit_cap", model.logitCap);
  io.part("attention", model.attention);
  io.part("gated_delta_net", model.gatedDeltaNet);
  io.part("dense", model.dense);
  io.part("experts", model.experts);
  io.flag("fp8_block128", model.fp8Block128, false);
  io.type("scale_type", model.scaleType, {"bf16", "f32"});
  io.optionalSize("state_slots", model.stateSlots);
  io.optionalSize("cache_slots", model.cacheSlots);
  io.text("checkpoint_prefix", model.checkpointPrefix, "model.");
}

/// Collects what is wrong with a description.
class Verifier {
public:
  Verifier(const ModelDescription &model, FieldName name)
      : model(model), name(name) {}

  std::vector<std::string> run() {
    if (model.normWeightOffset != 0 && model.normWeightOffset != 1)
      report("/norm_weight_offset", "0 or 1", text(model.normWeightOffset));
    // In the names of tensors it stands for numbers.
    if (StringRef(model.checkpointPrefix).contains("{}"))
      report("/checkpoint_prefix", "a prefix without \"{}\"",
             "\"" + model.checkpointPrefix + "\"");
    checkParts();
    if (model.attention)
      checkAttention(*model.attention);
    if (model.gatedDeltaNet)
      checkGatedDeltaNet(*model.gatedDeltaNet);
    if (model.experts)
      checkExperts(*model.experts);
    if (model.fp8Block128)
      checkBlocks();
    checkElements();
    return std::move(faults);
  }

private:
  void report(StringRef pointer, const Twine &expected, const Twine &found) {
    faults.push_back(
        (name(pointer) + ": expected " + expected + ", found " + found).str());
  }
  static std::string text(double number) {
    return toString(AttributeValue(number));
  }

  /// Each part is there exactly when a layer has it.
  void checkParts() {
    auto hasMixer = [&](Mixer mixer) {
      return is_contained(model.mixers, mixer);
    };
    auto hasForward = [&](FeedForward ff) {
      return is_contained(model.feedForwards, ff);
    };
    bool window = hasMixer(Mixer::WindowAttention);
    struct {
      StringRef pointer;
      bool present, used;
    } parts[] = {
        {"/attention", model.attention.has_value(),
         hasMixer(Mixer::Attention) || window},
        {"/gated_delta_net", model.gatedDeltaNet.has_value(),
         hasMixer(Mixer::GatedDeltaNet)},
        {"/dense", model.dense.has_value(), hasForward(FeedForward::Dense)},
        {"/experts", model.experts.has_value(),
         hasForward(FeedForward::Experts)},
    };
    for (const auto &part : parts)
      if (part.present != part.used)
        report(part.pointer,
               part.used ? "a part for the layers that use it"
                         : "no such part, because no layer uses it",
               part.used ? "none" : "one");
    if (model.attention && window != (model.attention->window != 0))
      report("/attention/window",
             window ? "the window of window_attention layers"
                    : "none, because no layer is window_attention",
             window ? "none" : Twine(model.attention->window).str());
    if (model.attention && !model.cacheSlots)
      report("/cache_slots", "the tokens that the KV cache holds", "none");
    if ((model.gatedDeltaNet || model.attention) && !model.stateSlots)
      report("/state_slots", "the sequences in flight", "none");
  }

  void checkRotary(const std::string &pointer, const RotaryModel &rotary,
                   int64_t headDim) {
    if (rotary.dimensions % 2 || rotary.dimensions < 2 ||
        rotary.dimensions > headDim)
      report(pointer + "/dimensions",
             "an even number of columns to rotate, at most " +
                 name("/attention/head_dim") + " (" + Twine(headDim) + ")",
             Twine(rotary.dimensions));
    bool linear = rotary.scaling == "linear",
         llama = rotary.scaling == "llama3";
    if ((rotary.factor > 0) != (linear || llama))
      report(pointer + "/factor",
             linear || llama ? "a positive factor" : "none without scaling",
             text(rotary.factor));
    constexpr StringRef none = "none without llama3 scaling";
    std::string low = pointer + "/low_frequency_factor";
    if ((rotary.lowFrequencyFactor > 0) != llama)
      report(low, llama ? "a positive factor" : none,
             text(rotary.lowFrequencyFactor));
    if (llama ? rotary.highFrequencyFactor <= rotary.lowFrequencyFactor
              : rotary.highFrequencyFactor != 0)
      report(pointer + "/high_frequency_factor",
             llama ? "more than " + name(low) + " (" +
                         text(rotary.lowFrequencyFactor) + ")"
                   : none.str(),
             text(rotary.highFrequencyFactor));
    if ((rotary.originalPositions > 0) != llama)
      report(pointer + "/original_positions",
             llama ? "the positions that llama3 scaling starts from" : none,
             Twine(rotary.originalPositions));
  }

  /// The value at `pointer` is one of several parts of equal size.
  void checkMultiple(StringRef pointer, int64_t value, StringRef ofPointer,
                     int64_t of) {
    if (of && value % of)
      report(pointer,
             "a multiple of " + name(ofPointer) + " (" + Twine(of) + ")",
             Twine(value));
  }

  void checkAttention(const AttentionModel &attention) {
    checkMultiple("/attention/heads", attention.heads, "/attention/kv_heads",
                  attention.kvHeads);
    if (!(attention.scale > 0))
      report("/attention/scale", "a positive factor", text(attention.scale));
    checkRotary("/attention/rotary", attention.rotary, attention.headDim);
    if (attention.windowRotary)
      checkRotary("/attention/window_rotary", *attention.windowRotary,
                  attention.headDim);
  }

  void checkGatedDeltaNet(const GatedDeltaNetModel &gdn) {
    checkMultiple("/gated_delta_net/value_heads", gdn.valueHeads,
                  "/gated_delta_net/key_heads", gdn.keyHeads);
  }

  void checkExperts(const ExpertsModel &experts) {
    if (experts.topK > experts.count)
      report("/experts/top_k",
             "at most " + name("/experts/count") + " (" + Twine(experts.count) +
                 ")",
             Twine(experts.topK));
    if (experts.perExpertTensors && experts.count > PackSource::mostInSeries)
      report("/experts/count",
             "at most " + Twine(PackSource::mostInSeries) +
                 " when the checkpoint has tensors of each expert",
             Twine(experts.count));
    if (experts.sharedGate && !experts.sharedIntermediate)
      report("/experts/shared_gate", "shared_intermediate beside it", "none");
  }

  /// Blocks of 128 columns cover rows whole, and scales of concatenated weights
  /// are those of the parts.
  void checkBlocks() {
    auto check = [&](StringRef pointer, int64_t value) {
      if (value % 128)
        report(pointer, "a multiple of 128 for FP8 in blocks of 128x128",
               Twine(value));
    };
    auto checkHeads = [&](StringRef pointer, int64_t dim,
                          StringRef headsPointer, int64_t heads) {
      if (heads * dim % 128)
        report(pointer,
               "a multiple of 128 for FP8 in blocks of 128x128 when times " +
                   name(headsPointer) + " (" + Twine(heads) + ")",
               Twine(dim) + ", which gives " + Twine(heads * dim));
    };
    check("/hidden", model.hidden);
    if (const auto &attention = model.attention) {
      checkHeads("/attention/head_dim", attention->headDim, "/attention/heads",
                 attention->heads);
      checkHeads("/attention/head_dim", attention->headDim,
                 "/attention/kv_heads", attention->kvHeads);
    }
    if (const auto &gdn = model.gatedDeltaNet) {
      checkHeads("/gated_delta_net/key_dim", gdn->keyDim,
                 "/gated_delta_net/key_heads", gdn->keyHeads);
      checkHeads("/gated_delta_net/value_dim", gdn->valueDim,
                 "/gated_delta_net/value_heads", gdn->valueHeads);
    }
    if (model.dense)
      check("/dense/intermediate", model.dense->intermediate);
    if (model.experts) {
      check("/experts/intermediate", model.experts->intermediate);
      check("/experts/shared_intermediate", model.experts->sharedIntermediate);
    }
  }

  /// Bytes of all layers together are counted in 63 bits.
  void checkElements() {
    constexpr double most = double(int64_t(1) << 44);
    auto check = [&](StringRef pointer, ArrayRef<double> extents) {
      double elements = 1;
      for (double extent : extents)
        elements *= extent;
      if (elements > most)
        report(pointer, "tensors of at most 2^44 elements",
               "one of " + join(map_range(extents, text), " x "));
    };
    double hidden = double(model.hidden), cached = double(model.cacheSlots),
           sequences = double(model.stateSlots);
    check("/vocabulary", {double(model.vocabulary), hidden});
    if (const auto &attention = model.attention) {
      double heads = double(attention->heads), dim = double(attention->headDim);
      check("/attention/heads", {4 * heads, dim, hidden});
      check("/cache_slots", {cached, double(attention->kvHeads), dim});
    }
    if (const auto &gdn = model.gatedDeltaNet) {
      double heads = double(gdn->valueHeads), keyDim = double(gdn->keyDim),
             valueDim = double(gdn->valueDim);
      check("/gated_delta_net/value_heads", {heads, 2 * valueDim, hidden});
      check("/gated_delta_net/key_heads",
            {double(gdn->keyHeads), 2 * keyDim, hidden});
      check("/state_slots", {sequences, heads, valueDim, keyDim});
      check("/gated_delta_net/convolution",
            {sequences, 2 * double(gdn->keyHeads) * keyDim + heads * valueDim,
             double(gdn->convolution)});
    }
    if (model.dense)
      check("/dense/intermediate",
            {2 * double(model.dense->intermediate), hidden});
    if (model.experts) {
      check("/experts/count",
            {double(model.experts->count) + 1,
             2 * double(model.experts->intermediate), hidden});
      check("/experts/shared_intermediate",
            {2 * double(model.experts->sharedIntermediate), hidden});
    }
  }

  const ModelDescription &model;
  FieldName name;
  std::vector<std::string> faults;
};

} // namespace

std::vector<std::string> verifyModel(const ModelDescription &model,
                                     FieldName name) {
  return Verifier(model, name).run();
}

std::vector<std::string> verifyModel(const ModelDescription &model) {
  return verifyModel(model, [](StringRef pointer) { return pointer.str(); });
}

Expected<ModelDescription> parseModel(StringRef text, StringRef path) {
  Expected<json::Value> document = json::parse(text, path);
  if (!document)
    return document.takeError();
  json::Diagnostics diagnostics(path);
  ModelDescription model;
  model.path = path.str();
  Parser parser(Reader(*document, "", diagnostics));
  mapFields(parser, model);
  parser.finish();
  if (diagnostics.empty() && model.attention && model.attention->scale == 0)
    model.attention->scale = 1 / std::sqrt(double(model.attention->headDim));
  if (Error error = diagnostics.takeError())
    return error;
  std::vector<std::string> faults = verifyModel(model);
  for (std::string &fault : faults)
    fault = path.str() + ": " + fault;
  if (!faults.empty())
    return createStringError(join(faults, "\n"));
  return model;
}

std::string printModel(const ModelDescription &model) {
  Printer printer;
  ModelDescription copy = model; // the maps take references
  mapFields(printer, copy);
  return json::print(printer.object, 2) + "\n";
}

} // namespace netra
