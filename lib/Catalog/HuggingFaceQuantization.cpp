//===- HuggingFaceQuantization.cpp - FP8 in a config.json -----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "HuggingFaceQuantization.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace netra::config {
namespace {

/// A module that stays in bf16: "model.layers.3.mlp.gate" of one layer, or a
/// name like "mlp.gate" of all whose names end so.
struct KeptModule {
  explicit KeptModule(StringRef text) : name(text) {
    size_t found = text.starts_with("layers.") ? 0 : text.find(".layers.");
    if (found == StringRef::npos)
      return;
    auto [index, inner] =
        text.substr(text.find("layers.", found)).split('.').second.split('.');
    uint64_t number;
    if (index.getAsInteger(10, number))
      return;
    layer = number;
    name = inner;
  }

  bool covers(int64_t index, StringRef module) const {
    return layer ? *layer == uint64_t(index) && name == module
                 : module.ends_with(name);
  }

  std::optional<uint64_t> layer;
  StringRef name;
};

/// Whether no layer of the decoder has the module.
bool isOutside(StringRef module) {
  return llvm::any_of(ArrayRef<StringRef>{"visual", "vision", "mtp"},
                      [&](StringRef part) { return module.contains(part); });
}

bool staysUnquantized(StringRef module) {
  if (module.contains("norm"))
    return true;
  StringRef last = module.rsplit('.').second;
  if (last.empty())
    last = module;
  return is_contained({"lm_head", "embed_tokens", "gate", "shared_expert_gate",
                       "in_proj_ba", "in_proj_a", "in_proj_b", "conv1d",
                       "A_log", "dt_bias"},
                      last);
}

void readKeptModules(const Reader &list, const ModelDescription &model) {
  std::optional<std::vector<Reader>> items = list.array();
  if (!items)
    return;
  std::vector<std::string> texts;
  for (const Reader &item : *items) {
    std::optional<std::string> module = item.string();
    if (!module || isOutside(*module))
      continue;
    if (!staysUnquantized(*module))
      item.fail("a module that Netra keeps in bf16 (embedding, head, norms, "
                "convolution, routers, the gates of gated delta nets, vision "
                "and prediction heads), because its other products are FP8 in "
                "every layer");
    else if (KeptModule kept(*module);
             kept.layer && *kept.layer >= uint64_t(model.layers))
      item.fail("a module of the layers 0 to " + Twine(model.layers - 1));
    texts.push_back(*module);
  }
  std::vector<KeptModule> kept(texts.begin(), texts.end());
  if (model.mixers.empty() || model.feedForwards.empty())
    return; // which has been reported

  // What the builder keeps in bf16 must be bf16 in the checkpoint.
  auto needs = [&](StringRef module, function_ref<bool(int64_t)> isIn) {
    int64_t wanted = 0;
    std::vector<int64_t> missing;
    for (int64_t i = 0; i < model.layers; ++i) {
      if (!isIn(i))
        continue;
      ++wanted;
      if (none_of(kept, [&](const KeptModule &entry) {
            return entry.covers(i, module);
          }))
        missing.push_back(i);
    }
    if (missing.empty())
      return;
    bool isNone = int64_t(missing.size()) == wanted;
    list.fail("\"" + module +
                  "\" of every layer that has it, which Netra computes in bf16",
              isNone ? std::string("none of them")
                     : "all but " + utostr(missing.size()) + " of " +
                           utostr(uint64_t(wanted)) +
                           ", the first of them \"layers." +
                           utostr(uint64_t(missing.front())) + "." +
                           module.str() + "\"");
  };
  auto hasExperts = [&](int64_t layer) {
    return model.feedForwardOf(layer) == FeedForward::Experts;
  };
  auto hasNet = [&](int64_t layer) {
    return model.mixerOf(layer) == Mixer::GatedDeltaNet;
  };
  needs("mlp.gate", hasExperts);
  if (model.experts && model.experts->sharedGate)
    needs("mlp.shared_expert_gate", hasExperts);
  if (!model.gatedDeltaNet)
    return;
  if (model.gatedDeltaNet->splitProjections) {
    needs("linear_attn.in_proj_a", hasNet);
    needs("linear_attn.in_proj_b", hasNet);
  } else {
    needs("linear_attn.in_proj_ba", hasNet);
  }
}

} // namespace

void readQuantization(const Reader &reader, ModelDescription &model) {
  ObjectReader object(reader);
  if (!object.isValid())
    return;
  // Which other fields there are depends on the method.
  std::optional<Reader> method = object.required("quant_method");
  if (!method || !method->choice({"fp8"}))
    return;
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
  // Two names of one list.
  std::optional<Reader> kept = set(object, "modules_to_not_convert"),
                        ignored = set(object, "ignored_layers");
  if (kept && ignored)
    expectSame(*kept, *ignored);
  if (!kept)
    kept = ignored;
  static const json::Value none = json::Value::array();
  readKeptModules(kept ? *kept
                       : Reader(none,
                                json::childPointer(reader.getPointer(),
                                                   "modules_to_not_convert"),
                                reader.getDiagnostics()),
                  model);
  object.finish();
}

} // namespace netra::config
