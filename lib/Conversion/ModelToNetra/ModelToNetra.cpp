//===- ModelToNetra.cpp - Graphs of operations from descriptions ----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Conversion/ModelToNetra.h"

#include "Builder.h"

using namespace mlir;
using namespace netra;
using namespace netra::importer;

namespace {

/// Builds the layers of a model, one after the other.
class Decoder {
public:
  Decoder(MLIRContext *context, const ModelDescription &model)
      : model(model), builder(context, model) {}

  OwningOpRef<ModuleOp> build() {
    addArguments();
    builder.enter("embed_tokens");
    Value hidden = embed();
    for (int64_t i = 0; i < model.layers; ++i)
      hidden = layer(i, hidden);
    builder.enter("norm");
    hidden = builder.norm(hidden, "norm");
    builder.enter("lm_head");
    return builder.finish(head(hidden));
  }

private:
  /// The states of one layer, in the order of arguments.
  struct LayerStates {
    Value keys, values, convolution, recurrent;
  };

  void addArguments() {
    Type i32 = builder.i32;
    tokens = builder.addInput("token_ids", builder.rows({}, i32));
    queryOffsets = builder.addInput("query_offsets",
                                    builder.fixed({model.stateSlots + 1}, i32));
    if (const auto &attention = model.attention) {
      positions = builder.addInput("positions", builder.rows({}, i32));
      cacheSlots = builder.addInput("cache_slots", builder.rows({}, i32));
      cacheOffsets = builder.addInput(
          "cache_offsets", builder.fixed({model.stateSlots + 1}, i32));
      cacheIndices = builder.addInput("cache_indices",
                                      builder.fixed({model.cacheSlots}, i32));
      cacheType = builder.fixed(
          {model.cacheSlots, attention->kvHeads, attention->headDim},
          attention->cacheType == ElementType::BF16 ? builder.bf16
                                                    : builder.f8);
    }
    if (model.gatedDeltaNet)
      stateIndices = builder.addInput("state_indices",
                                      builder.fixed({model.stateSlots}, i32));
    for (int64_t i = 0; i < model.layers; ++i)
      addStates(i);
  }

  void addStates(int64_t index) {
    LayerStates &states = layerStates.emplace_back();
    std::string suffix = "." + std::to_string(index);
    if (model.mixerOf(index) != Mixer::GatedDeltaNet) {
      states.keys = builder.addState("key_cache" + suffix, cacheType);
      states.values = builder.addState("value_cache" + suffix, cacheType);
      return;
    }
    const GatedDeltaNetModel &gdn = *model.gatedDeltaNet;
    states.convolution = builder.addState(
        "convolution" + suffix,
        builder.fixed({model.stateSlots, convolved(gdn), gdn.convolution - 1}));
    states.recurrent = builder.addState(
        "recurrent" + suffix,
        builder.fixed(
            {model.stateSlots, gdn.valueHeads, gdn.valueDim, gdn.keyDim},
            gdn.stateType == ElementType::F32 ? builder.f32 : builder.bf16));
  }

  /// Columns of query, key and value.
  static int64_t convolved(const GatedDeltaNetModel &gdn) {
    return 2 * gdn.keyHeads * gdn.keyDim + gdn.valueHeads * gdn.valueDim;
  }

  static Activation activation(llvm::StringRef name) {
    return *symbolizeActivation(name);
  }

  RankedTensorType tableType() {
    return builder.fixed({model.vocabulary, model.hidden});
  }

  Value embed() {
    return builder.embedding(
        tokens, builder.parameter("embed_tokens.weight", tableType()));
  }

  Value head(Value hidden) {
    Value table =
        model.tiedEmbeddings
            ? builder.parameter("embed_tokens.weight", tableType())
            : builder.topLevelParameter("lm_head.weight", tableType());
    Value logits =
        builder.product(hidden, table, builder.rows({model.vocabulary}));
    if (model.logitCap == 0)
      return logits;
    return builder
        .fallback({"vocabulary.logit_cap",
                   {{"logits", logits}},
                   {{"result", builder.rows({model.vocabulary})}},
                   {},
                   {builder.setting("cap", model.logitCap)}})
        .front();
  }

  Value layer(int64_t index, Value hidden) {
    std::string name = "layers." + std::to_string(index);
    builder.enter(name + ".input_layernorm");
    Value x = builder.norm(hidden, name + ".input_layernorm");
    Value mixed = model.mixerOf(index) == Mixer::GatedDeltaNet
                      ? gatedDeltaNet(name + ".linear_attn", index, x)
                      : attention(name + ".self_attn", index, x);
    StringRef before = ".post_attention_layernorm";
    if (model.sandwichNorms) {
      builder.enter(name + before);
      mixed = builder.norm(mixed, name + before);
      before = ".pre_feedforward_layernorm";
    }
    builder.enter(name + ".attention_residual");
    hidden = builder.add(hidden, mixed);
    builder.enter(name + before);
    x = builder.norm(hidden, name + before);
    Value out = model.feedForwardOf(index) == FeedForward::Dense
                    ? dense(name + ".mlp", x)
                    : experts(name + ".mlp", x);
    if (model.sandwichNorms) {
      builder.enter(name + ".post_feedforward_layernorm");
      out = builder.norm(out, name + ".post_feedforward_layernorm");
    }
    builder.enter(name + ".residual");
    return builder.add(hidden, out);
  }

  //===--------------------------------------------------------------------===//
  // Mixers
  //===--------------------------------------------------------------------===//

  void addRotary(SmallVectorImpl<NamedAttribute> &settings,
                 const RotaryModel &rotary) {
    settings.push_back(builder.setting("rotary_dims", rotary.dimensions));
    settings.push_back(builder.setting("rotary_theta", rotary.theta));
    if (rotary.scaling == "none")
      return;
    settings.push_back(builder.setting("rotary_scaling", rotary.scaling));
    settings.push_back(builder.setting("rotary_factor", rotary.factor));
    if (rotary.scaling != "llama3")
      return;
    settings.push_back(builder.setting("rotary_low_frequency_factor",
                                       rotary.lowFrequencyFactor));
    settings.push_back(builder.setting("rotary_high_frequency_factor",
                                       rotary.highFrequencyFactor));
    settings.push_back(
        builder.setting("rotary_original_positions", rotary.originalPositions));
  }

  Value attention(const std::string &name, int64_t index, Value x) {
    const AttentionModel &shape = *model.attention;
    bool isWindow = model.mixerOf(index) == Mixer::WindowAttention;
    int64_t queries = shape.heads * shape.headDim;
    int64_t keys = shape.kvHeads * shape.headDim;
    builder.enter(name + ".qkv_proj");
    Value qkv = builder.project(
        x,
        {{name + ".q_proj", shape.outputGate ? 2 * queries : queries},
         {name + ".k_proj", keys},
         {name + ".v_proj", keys}},
        name + ".qkv_proj", shape.inputBias);

    builder.enter(name + ".rotary");
    ModelBuilder::Fallback rotate{
        "attention.rotary_cache",
        {{"qkv", qkv}, {"positions", positions}, {"cache_slots", cacheSlots}},
        {{"query", builder.rows({queries})}}};
    if (shape.outputGate)
      rotate.outputs.push_back({"gate", builder.rows({queries})});
    if (shape.queryKeyNorm) {
      RankedTensorType type = builder.fixed({shape.headDim});
      rotate.inputs.push_back(
          {"query_norm", builder.parameter(name + ".q_norm.weight", type)});
      rotate.inputs.push_back(
          {"key_norm", builder.parameter(name + ".k_norm.weight", type)});
      rotate.settings.push_back(
          builder.setting("norm_epsilon", model.normEpsilon));
      rotate.settings.push_back(
          builder.setting("norm_weight_offset", model.normWeightOffset));
    }
    rotate.updated = {{"key_cache", layerStates[index].keys},
                      {"value_cache", layerStates[index].values}};
    rotate.settings.push_back(builder.setting("heads", shape.heads));
    addRotary(rotate.settings, isWindow && shape.windowRotary
                                   ? *shape.windowRotary
                                   : shape.rotary);
    SmallVector<Value> rotated = builder.fallback(std::move(rotate));

    builder.enter(name + ".attention");
    ModelBuilder::Fallback attend{
        "attention.paged",
        {{"query", rotated[0]},
         {"key_cache", builder.current(layerStates[index].keys)},
         {"value_cache", builder.current(layerStates[index].values)},
         {"query_offsets", queryOffsets},
         {"cache_offsets", cacheOffsets},
         {"cache_indices", cacheIndices}},
        {{"result", builder.rows({queries})}}};
    attend.settings = {builder.setting("heads", shape.heads),
                       builder.setting("scale", shape.scale)};
    if (shape.logitCap != 0)
      attend.settings.push_back(builder.setting("logit_cap", shape.logitCap));
    if (isWindow)
      attend.settings.push_back(builder.setting("window", shape.window));
    Value out = builder.fallback(std::move(attend)).front();
    if (shape.outputGate) {
      builder.enter(name + ".output_gate");
      out = builder.gated(rotated[1], out, Activation::Sigmoid);
    }
    builder.enter(name + ".o_proj");
    return builder.project(out, {{name + ".o_proj", model.hidden}},
                           name + ".o_proj", shape.outputBias);
  }

  Value gatedDeltaNet(const std::string &name, int64_t index, Value x) {
    const GatedDeltaNetModel &gdn = *model.gatedDeltaNet;
    int64_t conv = convolved(gdn);
    int64_t values = gdn.valueHeads * gdn.valueDim;
    RankedTensorType perHead = builder.rows({gdn.valueHeads}, builder.f32);
    std::string qkvzName = name + ".in_proj_qkvz",
                baName = name + ".in_proj_ba";
    SmallVector<ProjectionPart> qkvzParts = {{qkvzName, conv + values}};
    SmallVector<ProjectionPart> baParts = {{baName, 2 * gdn.valueHeads}};
    if (gdn.splitProjections) {
      qkvzParts = {{name + ".in_proj_qkv", conv},
                   {name + ".in_proj_z", values}};
      baParts = {{name + ".in_proj_b", gdn.valueHeads},
                 {name + ".in_proj_a", gdn.valueHeads}};
    }
    builder.enter(qkvzName);
    Value qkvz = builder.project(x, qkvzParts, qkvzName);
    builder.enter(baName);
    Value ba = builder.project(x, baParts, baName, /*bias=*/false,
                               /*keepBf16=*/true);
    NamedAttribute interleaved =
        builder.flag("interleaved", !gdn.splitProjections);

    builder.enter(name + ".conv1d");
    SmallVector<Value> convolvedAndZ = builder.fallback(
        {"gdn.causal_convolution",
         {{"qkvz", qkvz},
          {"weight",
           builder.parameter(name + ".conv1d.weight",
                             builder.fixed({conv, 1, gdn.convolution}))},
          {"state_indices", stateIndices}},
         {{"result", builder.rows({conv})}, {"z", builder.rows({values})}},
         {{"state", layerStates[index].convolution}},
         {interleaved, builder.setting("key_heads", gdn.keyHeads)}});

    builder.enter(name + ".gates");
    SmallVector<Value> gates = builder.fallback(
        {"gdn.gates",
         {{"ba", ba},
          {"a_log",
           builder.parameter(name + ".A_log",
                             builder.fixed({gdn.valueHeads}, builder.f32))},
          {"dt_bias", builder.parameter(name + ".dt_bias",
                                        builder.fixed({gdn.valueHeads}))}},
         {{"decay", perHead}, {"beta", perHead}},
         {},
         {interleaved, builder.setting("key_heads", gdn.keyHeads)}});

    builder.enter(name + ".recurrence");
    Value out = builder
                    .fallback({"gdn.recurrence",
                               {{"qkv", convolvedAndZ[0]},
                                {"decay", gates[0]},
                                {"beta", gates[1]},
                                {"state_indices", stateIndices},
                                {"query_offsets", queryOffsets}},
                               {{"result", builder.rows({values})}},
                               {{"state", layerStates[index].recurrent}},
                               {builder.setting("key_heads", gdn.keyHeads)}})
                    .front();

    builder.enter(name + ".norm");
    Value normed =
        builder.gatedNorm(out, convolvedAndZ[1], name + ".norm", gdn.valueDim);
    builder.enter(name + ".out_proj");
    return builder.project(normed, {{name + ".out_proj", model.hidden}},
                           name + ".out_proj");
  }

  //===--------------------------------------------------------------------===//
  // Feed-forward
  //===--------------------------------------------------------------------===//

  Value gatedProduct(const std::string &name, Value x, int64_t intermediate,
                     llvm::StringRef act) {
    builder.enter(name + ".gate_up_proj");
    Value gate = builder.project(x, {{name + ".gate_proj", intermediate}},
                                 name + ".gate_proj");
    Value up = builder.project(x, {{name + ".up_proj", intermediate}},
                               name + ".up_proj");
    return builder.gated(gate, up, activation(act));
  }

  Value dense(const std::string &name, Value x) {
    Value product = gatedProduct(name, x, model.dense->intermediate,
                                 model.dense->activation);
    builder.enter(name + ".down_proj");
    return builder.project(product, {{name + ".down_proj", model.hidden}},
                           name + ".down_proj");
  }

  Value experts(const std::string &name, Value x) {
    const ExpertsModel &shape = *model.experts;
    builder.enter(name + ".gate");
    Value logits = builder.project(x, {{name + ".gate", shape.count}},
                                   name + ".gate", /*bias=*/false,
                                   /*keepBf16=*/true);
    builder.enter(name + ".route");
    Value gate;
    if (shape.sharedGate)
      gate = builder.parameter(name + ".shared_expert_gate.weight",
                               builder.fixed({1, model.hidden}));
    RouteOp routed = builder.route(logits, gate ? x : Value(), gate);

    builder.enter(name + ".experts");
    std::string reason = whyNoExpertProducts();
    if (!reason.empty())
      return expertsFallback(name, x, routed, reason);
    // In this order, so that parameters stand as they are used.
    bool withShared = shape.sharedIntermediate != 0;
    ModelBuilder::ExpertWeight first =
        builder.expertWeight(gateUpOf(name), withShared);
    ModelBuilder::ExpertWeight second =
        builder.expertWeight(downOf(name), withShared);
    return builder.experts(x, routed, first, second,
                           activation(shape.activation));
  }

  ExpertProduct gateUpOf(const std::string &name) {
    return {name,
            "gate_up",
            "gate_up_proj",
            {"gate_proj", "up_proj"},
            2 * model.experts->intermediate,
            model.hidden};
  }
  ExpertProduct downOf(const std::string &name) {
    return {name,          "down",       "down_proj",
            {"down_proj"}, model.hidden, model.experts->intermediate};
  }

  /// Why the products of the experts are not netra.moe_gate_up and
  /// netra.moe_down_reduce; empty when they are.
  std::string whyNoExpertProducts() {
    const ExpertsModel &shape = *model.experts;
    auto text = [](int64_t number) { return std::to_string(number); };
    if (!model.fp8Block128)
      return "expected FP8 experts in blocks of 128x128, found bf16";
    if (shape.intermediate % 128 != 0 || model.hidden % 128 != 0)
      return "expected rows and columns of experts in multiples of 128, "
             "found " +
             text(shape.intermediate) + " and " + text(model.hidden);
    if (shape.sharedIntermediate &&
        shape.sharedIntermediate != shape.intermediate)
      return "expected a shared expert of " + text(shape.intermediate) +
             " rows like the others, found " + text(shape.sharedIntermediate);
    return "";
  }

  Value expertsFallback(const std::string &name, Value x, RouteOp routed,
                        const std::string &reason) {
    const ExpertsModel &shape = *model.experts;
    ModelBuilder::Fallback op{
        "moe.experts", {}, {{"result", builder.rows({model.hidden})}}};
    op.reason = reason;
    if (model.fp8Block128) {
      QuantizeBlocksOp q = builder.quantize(x);
      op.inputs = {{"x", q.getResult()}, {"x_scale", q.getResultScale()}};
    } else {
      op.inputs = {{"x", x}};
    }
    auto add = [&](StringRef label, ModelBuilder::ExpertWeight weight) {
      ModelBuilder::addExpertWeight(op, label, weight);
    };
    add("gate_up", builder.expertWeight(gateUpOf(name), false));
    add("down", builder.expertWeight(downOf(name), false));
    if (int64_t inner = shape.sharedIntermediate) {
      std::string expert = name + ".shared_expert.";
      add("shared_gate",
          builder.matrix(expert + "gate_proj.weight", inner, model.hidden));
      add("shared_up",
          builder.matrix(expert + "up_proj.weight", inner, model.hidden));
      add("shared_down",
          builder.matrix(expert + "down_proj.weight", model.hidden, inner));
    }
    op.inputs.push_back({"expert_ids", routed.getExpertIds()});
    op.inputs.push_back({"expert_weights", routed.getExpertWeights()});
    op.settings = {builder.setting("activation", shape.activation)};
    return builder.fallback(std::move(op)).front();
  }

  const ModelDescription &model;
  ModelBuilder builder;
  Value tokens, positions, cacheSlots, queryOffsets, cacheOffsets, cacheIndices,
      stateIndices;
  RankedTensorType cacheType;
  std::vector<LayerStates> layerStates;
};

} // namespace

OwningOpRef<ModuleOp> netra::importModel(MLIRContext *context,
                                         const ModelDescription &model) {
  context->loadDialect<func::FuncDialect, NetraDialect>();
  return Decoder(context, model).build();
}
