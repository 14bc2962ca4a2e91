//===- HuggingFaceTest.cpp - Configurations of checkpoints ----------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "../Messages.h"
#include "FaultTable.h"
#include "TestModels.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include <cmath>

using namespace netra;
using namespace netra::test;
using Json = nlohmann::json;
using testing::HasSubstr;

namespace {

/// The manifest without what a config.json does not say.
Json numbersOf(const ModelDescription &model) {
  Json json = Json::parse(printModel(model));
  for (const char *key : {"name", "summary", "sources", "profiles"})
    json.erase(key);
  return json;
}

/// What Hugging Face's classes save for the text model of
/// qwen3_6_35b_a3b_fp8, the multimodal wrapper around it included.
Json qwen35Moe() {
  Json config = Json::parse(R"({
    "architectures": ["Qwen3_5MoeForConditionalGeneration"],
    "model_type": "qwen3_5_moe", "tie_word_embeddings": false,
    "image_token_id": 1, "vision_config": {"depth": 27},
    "text_config": {
      "model_type": "qwen3_5_moe_text", "vocab_size": 248320,
      "hidden_size": 2048, "num_hidden_layers": 40, "rms_norm_eps": 1e-06,
      "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256,
      "attn_output_gate": true, "attention_bias": false,
      "attention_dropout": 0.0, "hidden_act": "silu",
      "full_attention_interval": 4,
      "rope_parameters": {"rope_type": "default", "rope_theta": 10000000,
        "partial_rotary_factor": 0.25, "mrope_section": [11, 11, 10],
        "mrope_interleaved": true},
      "linear_num_key_heads": 16, "linear_num_value_heads": 32,
      "linear_key_head_dim": 128, "linear_value_head_dim": 128,
      "linear_conv_kernel_dim": 4, "num_experts": 256,
      "num_experts_per_tok": 8, "moe_intermediate_size": 512,
      "shared_expert_intermediate_size": 512, "initializer_range": 0.02,
      "max_position_embeddings": 262144, "use_cache": true,
      "mtp_num_hidden_layers": 1, "router_aux_loss_coef": 0.001,
      "output_router_logits": false, "eos_token_id": 2, "dtype": "bfloat16"
    },
    "quantization_config": {"quant_method": "fp8", "fmt": "e4m3",
      "activation_scheme": "dynamic", "weight_block_size": [128, 128],
      "modules_to_not_convert": ["lm_head", "model.visual.blocks.0.attn.qkv",
        "mtp.layers.0.mlp.gate"]}
  })");
  Json &kept = config["quantization_config"]["modules_to_not_convert"];
  for (int layer = 0; layer < 40; ++layer) {
    std::string prefix =
        "model.language_model.layers." + std::to_string(layer) + ".";
    for (const char *module :
         {"mlp.gate", "mlp.shared_expert_gate", "input_layernorm"})
      kept.push_back(prefix + module);
    if (layer % 4 != 3)
      for (const char *module : {"in_proj_a", "in_proj_b"})
        kept.push_back(prefix + "linear_attn." + module);
  }
  return config;
}

Json llama31() {
  return Json::parse(R"({
    "model_type": "llama", "vocab_size": 128256, "hidden_size": 4096,
    "intermediate_size": 14336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0, "hidden_act": "silu", "mlp_bias": false,
    "attention_bias": false, "attention_dropout": 0.0, "pretraining_tp": 1,
    "tie_word_embeddings": false, "torch_dtype": "bfloat16",
    "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0,
      "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
      "rope_type": "llama3"}
  })");
}

Json gemma2() {
  return Json::parse(R"({
    "model_type": "gemma2", "vocab_size": 256000, "hidden_size": 3584,
    "intermediate_size": 14336, "num_hidden_layers": 42,
    "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256,
    "rms_norm_eps": 1e-06, "rope_theta": 10000.0,
    "hidden_act": "gelu_pytorch_tanh", "use_bidirectional_attention": null,
    "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 4096,
    "sliding_window_size": 4096,
    "query_pre_attn_scalar": 256, "attn_logit_softcapping": 50.0,
    "final_logit_softcapping": 30.0, "attention_bias": false
  })");
}

std::string fault(const Json &config) {
  return message(parseHuggingFaceConfig(config.dump(), "config.json"));
}

} // namespace

TEST(HuggingFace, GivesTheManifestsOfTheSameModels) {
  HuggingFaceOptions options;
  options.cacheType = ElementType::F8E4M3FN;
  options.stateType = ElementType::BF16;
  options.cacheSlots = 1048576;
  EXPECT_EQ(numbersOf(llvm::cantFail(parseHuggingFaceConfig(
                qwen35Moe().dump(), "config.json", options))),
            numbersOf(loadModel("qwen3_6_35b_a3b_fp8")));
  options = {};
  options.cacheSlots = 131072;
  EXPECT_EQ(numbersOf(llvm::cantFail(parseHuggingFaceConfig(
                llama31().dump(), "config.json", options))),
            numbersOf(loadModel("llama3_1_8b")));
  EXPECT_EQ(numbersOf(llvm::cantFail(
                parseHuggingFaceConfig(gemma2().dump(), "config.json"))),
            numbersOf(loadModel("gemma2_9b")));
}

TEST(HuggingFace, OtherFamilies) {
  Json moe = llama31();
  moe["model_type"] = "qwen3_moe";
  moe.erase("rope_scaling");
  moe.erase("mlp_bias");
  moe.update({{"head_dim", 128},
              {"num_experts", 128},
              {"num_experts_per_tok", 8},
              {"moe_intermediate_size", 768},
              {"norm_topk_prob", true},
              {"decoder_sparse_step", 1},
              {"mlp_only_layers", {0, 1}},
              {"use_sliding_window", false},
              {"sliding_window", nullptr}});
  ModelDescription model =
      llvm::cantFail(parseHuggingFaceConfig(moe.dump(), "config.json"));
  EXPECT_TRUE(model.attention->queryKeyNorm);
  EXPECT_EQ(model.feedForwardOf(1), FeedForward::Dense);
  EXPECT_EQ(model.feedForwardOf(2), FeedForward::Experts);
  EXPECT_EQ(model.dense->intermediate, 14336);
  EXPECT_EQ(model.experts->sharedIntermediate, 0);
  EXPECT_TRUE(model.experts->perExpertTensors);

  Json next = qwen35Moe()["text_config"];
  next["model_type"] = "qwen3_next";
  next["decoder_sparse_step"] = 1;
  model = llvm::cantFail(parseHuggingFaceConfig(next.dump(), "config.json"));
  EXPECT_FALSE(model.gatedDeltaNet->splitProjections);
  EXPECT_FALSE(model.fp8Block128);
  EXPECT_EQ(model.checkpointPrefix, "model.");
  EXPECT_TRUE(model.experts->perExpertTensors);

  Json gemma = gemma2();
  gemma["model_type"] = "gemma";
  for (const char *key : {"sliding_window", "sliding_window_size",
                          "query_pre_attn_scalar", "attn_logit_softcapping",
                          "final_logit_softcapping", "hidden_activation"})
    gemma.erase(key);
  model = llvm::cantFail(parseHuggingFaceConfig(gemma.dump(), "config.json"));
  EXPECT_EQ(model.mixers, (std::vector<Mixer>{Mixer::Attention}));
  EXPECT_FALSE(model.sandwichNorms);
  EXPECT_TRUE(model.tiedEmbeddings);
  EXPECT_EQ(model.normWeightOffset, 1);
  EXPECT_EQ(model.embeddingScale, std::sqrt(3584.0));
  EXPECT_EQ(model.attention->scale, 1 / 16.0);
  EXPECT_EQ(model.dense->activation, "gelu_tanh");
  EXPECT_EQ(model.logitCap, 0);
  // The classes of Gemma read hidden_activation, and nothing else.
  gemma["hidden_act"] = "gelu";
  model = llvm::cantFail(parseHuggingFaceConfig(gemma.dump(), "config.json"));
  EXPECT_EQ(model.dense->activation, "gelu_tanh");
  gemma["hidden_activation"] = "gelu";
  model = llvm::cantFail(parseHuggingFaceConfig(gemma.dump(), "config.json"));
  EXPECT_EQ(model.dense->activation, "gelu_erf");
  gemma["hidden_act"] = "relu";
  EXPECT_THAT(fault(gemma), HasSubstr("/hidden_act: expected one of \"gelu\""));

  Json gemma3 = gemma2();
  gemma3["model_type"] = "gemma3_text";
  for (const char *key : {"attn_logit_softcapping", "final_logit_softcapping"})
    gemma3[key] = nullptr;
  gemma3["rope_local_base_freq"] = 10000;
  gemma3["rope_theta"] = 1000000;
  gemma3["sliding_window_pattern"] = 6;
  gemma3["rope_scaling"] = {{"factor", 8.0}, {"rope_type", "linear"}};
  model = llvm::cantFail(parseHuggingFaceConfig(gemma3.dump(), "config.json"));
  EXPECT_EQ(model.mixers.size(), 6u);
  EXPECT_EQ(model.mixerOf(5), Mixer::Attention);
  EXPECT_EQ(model.attention->rotary.scaling, "linear");
  EXPECT_EQ(model.attention->windowRotary->theta, 10000);
  EXPECT_EQ(model.logitCap, 0);
}

/// Saved configurations leave out what their class says. The numbers are those
/// of transformers' configuration classes.
TEST(HuggingFace, WhatIsLeftOutIsAsTheClassSays) {
  struct {
    const char *type;
    int64_t vocabulary, hidden, layers, heads, kvHeads, headDim, rows;
    double theta, scale;
  } cases[] = {
      {"llama", 32000, 4096, 32, 32, 32, 128, 11008, 1e4, 128},
      {"qwen3", 151936, 4096, 32, 32, 32, 128, 22016, 1e4, 128},
      {"qwen3_moe", 151936, 2048, 24, 32, 4, 64, 768, 1e4, 64},
      {"qwen3_next", 151936, 2048, 48, 16, 2, 256, 512, 1e4, 256},
      {"qwen3_5_text", 248320, 4096, 32, 16, 4, 256, 12288, 1e4, 256},
      {"qwen3_5_moe_text", 248320, 2048, 40, 16, 2, 256, 512, 1e4, 256},
      {"gemma", 256000, 3072, 28, 16, 16, 256, 24576, 1e4, 256},
      {"gemma2", 256000, 2304, 26, 8, 4, 256, 9216, 1e4, 256},
      {"gemma3_text", 262208, 2304, 26, 8, 4, 256, 9216, 1e6, 256},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(c.type);
    ModelDescription model = llvm::cantFail(parseHuggingFaceConfig(
        Json{{"model_type", c.type}}.dump(), "config.json"));
    EXPECT_EQ(model.vocabulary, c.vocabulary);
    EXPECT_EQ(model.hidden, c.hidden);
    EXPECT_EQ(model.layers, c.layers);
    EXPECT_EQ(model.attention->heads, c.heads);
    EXPECT_EQ(model.attention->kvHeads, c.kvHeads);
    EXPECT_EQ(model.attention->headDim, c.headDim);
    EXPECT_EQ(model.experts ? model.experts->intermediate
                            : model.dense->intermediate,
              c.rows);
    EXPECT_EQ(model.attention->rotary.theta, c.theta);
    EXPECT_EQ(model.attention->scale, 1 / std::sqrt(c.scale));
    EXPECT_EQ(model.normEpsilon, 1e-6);
  }

  // The decoder of Gemma-3-4b as it is published.
  Json config = Json::parse(R"({
    "architectures": ["Gemma3ForConditionalGeneration"],
    "model_type": "gemma3", "torch_dtype": "bfloat16",
    "boi_token_index": 255999, "eoi_token_index": 256000,
    "eos_token_id": [1, 106], "image_token_index": 262144,
    "initializer_range": 0.02, "mm_tokens_per_image": 256,
    "text_config": {
      "hidden_size": 2560, "intermediate_size": 10240,
      "model_type": "gemma3_text", "num_hidden_layers": 34,
      "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
      "sliding_window": 1024},
    "vision_config": {"hidden_size": 1152}
  })");
  ModelDescription model =
      llvm::cantFail(parseHuggingFaceConfig(config.dump(), "config.json"));
  EXPECT_EQ(model.checkpointPrefix, "language_model.model.");
  EXPECT_EQ(model.vocabulary, 262208);
  EXPECT_EQ(model.attention->heads, 8);
  EXPECT_EQ(model.attention->rotary.theta, 1e6);
  EXPECT_EQ(model.attention->rotary.factor, 8);
  EXPECT_EQ(model.attention->windowRotary->theta, 1e4);
  EXPECT_EQ(model.attention->windowRotary->scaling, "none");
  EXPECT_EQ(model.attention->window, 1024);
  EXPECT_TRUE(model.tiedEmbeddings);
  // The rotation by kind of layer, as newer versions save it.
  config["text_config"].erase("rope_scaling");
  config["text_config"]["rope_parameters"] = {
      {"full_attention",
       {{"rope_type", "linear"}, {"factor", 8.0}, {"rope_theta", 1e6}}},
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 10000}}}};
  EXPECT_EQ(numbersOf(llvm::cantFail(
                parseHuggingFaceConfig(config.dump(), "config.json"))),
            numbersOf(model));

  // Null is not the same as left out.
  Json gemma = {{"model_type", "gemma2"},
                {"attn_logit_softcapping", nullptr},
                {"final_logit_softcapping", nullptr},
                {"num_key_value_heads", nullptr}};
  model = llvm::cantFail(parseHuggingFaceConfig(gemma.dump(), "config.json"));
  EXPECT_EQ(model.attention->logitCap, 0);
  EXPECT_EQ(model.logitCap, 0);
  EXPECT_EQ(model.attention->kvHeads, 8);
}

TEST(HuggingFace, HowTheCheckpointHoldsExperts) {
  HuggingFaceOptions options;
  auto perExpert = [&](const Json &config) {
    return llvm::cantFail(
               parseHuggingFaceConfig(config.dump(), "config.json", options))
        .experts->perExpertTensors;
  };
  Json config = qwen35Moe();
  EXPECT_TRUE(perExpert(config));
  config.erase("quantization_config");
  EXPECT_FALSE(perExpert(config));
  EXPECT_TRUE(perExpert({{"model_type", "qwen3_moe"}}));
  options.perExpertTensors = true;
  EXPECT_TRUE(perExpert(config));
  options.perExpertTensors = false;
  EXPECT_FALSE(perExpert(qwen35Moe()));
}

TEST(HuggingFace, SaysWhichFieldIsNotSupported) {
  const Fault faults[] = {
      {"/model_type", "mamba2", "/model_type: expected one of llama, qwen3"},
      {"/hidden_act", "relu", "/hidden_act: expected one of"},
      {"/mlp_bias", true, "/mlp_bias: expected false; true is not supported"},
      {"/attention_dropout", 0.1, "/attention_dropout: expected 0"},
      {"/rope_scaling/rope_type", "yarn", "/rope_scaling/rope_type: expected"},
      {"/rope_scaling/attention_factor", 2, "the unknown key"},
      {"/hidden_size", 0, "/hidden_size: expected"},
      {"/num_key_value_heads", 5,
       "/num_attention_heads: expected a multiple of /num_key_value_heads (5), "
       "found 32"},
      {"/novel_feature", 1, "/novel_feature: expected only the keys"},
      {"/torch_dtype", "float16",
       "/torch_dtype: expected one of \"bfloat16\", found the string "
       "\"float16\""},
      {"/dtype", "float32", "/dtype: expected one of \"bfloat16\""},
      {"/rms_norm_eps", -1, "/rms_norm_eps: expected a number from 1.2e-38"},
      {"/rms_norm_eps", 0, "/rms_norm_eps: expected a number from 1.2e-38"},
      {"/rms_norm_eps", 1e-300, "the least that f32 holds, to 1, found"},
      {"/rope_theta", 0, "/rope_theta: expected a number from 1 to 1e30"},
      {"/rope_theta", -1, "/rope_theta: expected a number from 1 to 1e30"},
      {"/partial_rotary_factor", 0.5,
       "/partial_rotary_factor: expected 1; models of this type rotate whole "
       "heads, found the number 0.5"},
      {"/rope_scaling/partial_rotary_factor", 0.5,
       "/rope_scaling/partial_rotary_factor: expected 1; models of this type "
       "rotate whole heads"},
      {"/sliding_window", 4096,
       "/sliding_window: expected null, because no layer of model type llama "
       "has a window, found the number 4096"},
      {"/max_window_layers", 28, "/max_window_layers: expected only the keys"},
      {"/architectures", Json::array({"Qwen3ForCausalLM"}),
       "/architectures/0: expected the architecture \"LlamaForCausalLM\" of "
       "model type llama, found the string \"Qwen3ForCausalLM\""},
      {"/attn_output_gate", true, "/attn_output_gate: expected only the keys"},
      {"/query_pre_attn_scalar", 64, "/query_pre_attn_scalar: expected only"},
      {"/layer_types", Json::array({"linear_attention"}),
       "/layer_types/0: expected one of"},
      {"/quantization_config",
       {{"quant_method", "awq"}},
       "/quantization_config/quant_method: expected one of"},
  };
  expectFaults(llama31(), faults, "config.json", fault);
  // One fault is one message, whatever a field of it belongs to.
  for (const char *kind : {"type", "rope_type"}) {
    Json config = llama31();
    config["rope_scaling"] = {{kind, "yarn"},
                              {"factor", 4.0},
                              {"beta_fast", 32},
                              {"original_max_position_embeddings", 8192}};
    EXPECT_EQ(fault(config),
              "config.json: /rope_scaling/" + std::string(kind) +
                  ": expected one of \"default\", \"linear\", \"llama3\", "
                  "found the string \"yarn\"");
  }
  Json config = llama31();
  config["quantization_config"] = {{"quant_method", "awq"}, {"bits", 4}};
  EXPECT_EQ(fault(config),
            "config.json: /quantization_config/quant_method: expected one of "
            "\"fp8\", found the string \"awq\"");
  config = gemma2();
  config["sliding_window_size"] = 2048;
  EXPECT_THAT(fault(config),
              HasSubstr("/sliding_window_size: expected the number 4096, as "
                        "/sliding_window says, found the number 2048"));
  config = gemma2();
  config["query_pre_attn_scalar"] = 0;
  EXPECT_THAT(fault(config), HasSubstr("/query_pre_attn_scalar: expected a "
                                       "positive number"));
  config["use_bidirectional_attention"] = true;
  EXPECT_THAT(fault(config), HasSubstr("/use_bidirectional_attention: "
                                       "expected false"));
  config = qwen35Moe();
  config["model_type"] = "qwen3_5";
  config["architectures"] = {"Qwen3_5ForConditionalGeneration"};
  EXPECT_THAT(fault(config),
              testing::AllOf(
                  HasSubstr("/model_type: expected the model type "
                            "\"qwen3_5_moe\" around a text_config of type "
                            "qwen3_5_moe_text, found the string \"qwen3_5\""),
                  HasSubstr("/architectures/0: expected the architecture "
                            "\"Qwen3_5MoeForConditionalGeneration\"")));
  config = qwen35Moe();
  config["text_config"]["linear_conv_kernel_dim"] = 1;
  EXPECT_THAT(fault(config),
              HasSubstr("/linear_conv_kernel_dim: expected an integer from 2"));
  config = {{"model_type", "llava"}, {"text_config", llama31()}};
  EXPECT_THAT(fault(config), HasSubstr("/model_type: expected no model around "
                                       "one of type llama"));
  for (const char *name : {"../x", "a/b", "Name", "1st", "a b", "\xff"}) {
    HuggingFaceOptions options;
    options.name = name;
    EXPECT_THAT(message(parseHuggingFaceConfig(llama31().dump(), "config.json",
                                               options)),
                HasSubstr("the name of the model: expected lower-case "))
        << name;
  }
}

/// What several fields say must be the same; a second that repeats the first is
/// no fault.
TEST(HuggingFace, FieldsDoNotContradictEachOther) {
  auto llama = [](const Json &fields) {
    Json config = llama31();
    config.merge_patch(fields);
    return fault(config);
  };
  EXPECT_EQ(llama({{"rope_scaling", {{"rope_theta", 500000}}}}), "");
  EXPECT_THAT(llama({{"rope_scaling", {{"rope_theta", 10000}}}}),
              HasSubstr("/rope_scaling/rope_theta: expected the number "
                        "500000.0, as /rope_theta says, found the number "
                        "10000"));
  EXPECT_THAT(fault({{"model_type", "qwen3_5_text"},
                     {"partial_rotary_factor", 0.5},
                     {"rope_parameters", {{"partial_rotary_factor", 0.25}}}}),
              HasSubstr("/rope_parameters/partial_rotary_factor: expected the "
                        "number 0.5, as /partial_rotary_factor says, found "
                        "the number 0.25"));
  EXPECT_EQ(llama({{"rope_scaling", {{"type", "llama3"}}}}), "");
  EXPECT_THAT(llama({{"rope_scaling", {{"type", "linear"}}}}),
              HasSubstr("/rope_scaling/rope_type: expected the string "
                        "\"linear\", as /rope_scaling/type says, found the "
                        "string \"llama3\""));
  // The same rotation in the old and the new place, and another.
  Json scaling = llama31()["rope_scaling"];
  EXPECT_EQ(llama({{"rope_parameters", scaling}}), "");
  EXPECT_THAT(llama({{"rope_parameters", {{"rope_theta", 500000}}}}),
              HasSubstr("/rope_scaling/rope_type: expected no rope_type, "
                        "which means \"default\", as /rope_parameters says, "
                        "found the string \"llama3\""));
  for (const auto &[key, value] :
       {std::pair("factor", 4.0), std::pair("low_freq_factor", 2.0),
        std::pair("high_freq_factor", 8.0),
        std::pair("original_max_position_embeddings", 4096.0)}) {
    Json other = scaling;
    other[key] = int(value);
    EXPECT_THAT(llama({{"rope_parameters", other}}),
                HasSubstr(std::string("/rope_scaling/") + key +
                          ": expected the number " +
                          std::to_string(int(value)) +
                          ", as /rope_parameters/" + key + " says, found "))
        << key;
  }

  // By kind of layer: the one without windows is meant.
  Json gemma = {{"model_type", "gemma3_text"},
                {"rope_theta", 1e6},
                {"rope_local_base_freq", 20000},
                {"rope_parameters",
                 {{"full_attention", {{"rope_theta", 1000000}}},
                  {"sliding_attention", {{"rope_theta", 20000}}}}}};
  EXPECT_EQ(fault(gemma), "");
  gemma["rope_parameters"]["sliding_attention"]["rope_theta"] = 10000;
  EXPECT_THAT(fault(gemma),
              HasSubstr("/rope_parameters/sliding_attention/rope_theta: "
                        "expected the number 20000, as /rope_local_base_freq "
                        "says, found the number 10000"));

  // Around a text_config.
  Json outer = qwen35Moe();
  outer["text_config"]["tie_word_embeddings"] = false;
  outer["text_config"]["quantization_config"] = outer["quantization_config"];
  EXPECT_EQ(fault(outer), "");
  outer["text_config"]["tie_word_embeddings"] = true;
  outer["text_config"]["quantization_config"]["weight_block_size"] = {64, 64};
  outer["text_config"]["quantization_config"].erase("fmt");
  outer["text_config"]["quantization_config"]["ignored_layers"] = Json::array();
  EXPECT_THAT(
      fault(outer),
      testing::AllOf(
          HasSubstr("/text_config/tie_word_embeddings: expected false, as "
                    "/tie_word_embeddings says, found true"),
          HasSubstr("/text_config/quantization_config/weight_block_size: "
                    "expected the same as "
                    "/quantization_config/weight_block_size, which is "),
          HasSubstr("/text_config/quantization_config: expected the key "
                    "\"fmt\" of /quantization_config, found none"),
          HasSubstr("/quantization_config: expected the key "
                    "\"ignored_layers\" of /text_config/quantization_config, "
                    "found none")));
  // One inside alone is the one.
  outer = qwen35Moe();
  outer["text_config"]["quantization_config"] = outer["quantization_config"];
  outer["quantization_config"] = nullptr;
  EXPECT_TRUE(
      llvm::cantFail(parseHuggingFaceConfig(outer.dump(), "config.json"))
          .fp8Block128);
  outer["text_config"]["quantization_config"]["ignored_layers"] = {"lm_head"};
  EXPECT_THAT(fault(outer),
              HasSubstr("/text_config/quantization_config/ignored_layers: "
                        "expected the same as /text_config/"
                        "quantization_config/modules_to_not_convert, which is "
                        "an array of 183, found an array of 1"));

  // Which layers are of which kind.
  Json types = qwen35Moe();
  Json &list = types["text_config"]["layer_types"];
  for (int layer = 0; layer < 40; ++layer)
    list.push_back(layer % 4 == 3 ? "full_attention" : "linear_attention");
  EXPECT_EQ(fault(types), "");
  list[4] = "full_attention";
  list[7] = "linear_attention";
  EXPECT_THAT(
      fault(types),
      testing::AllOf(
          HasSubstr("/text_config/layer_types/4: expected "
                    "\"linear_attention\", as "
                    "/text_config/full_attention_interval (4) says, found "
                    "the string \"full_attention\""),
          HasSubstr("/text_config/layer_types/7: expected "
                    "\"full_attention\", as ")));
  gemma = {{"model_type", "gemma3_text"},
           {"sliding_window_pattern", 6},
           {"_sliding_window_pattern", 4}};
  EXPECT_THAT(fault(gemma),
              HasSubstr("/_sliding_window_pattern: expected the number 6, as "
                        "/sliding_window_pattern says, found the number 4"));
}

/// Numbers that are fine alone and do not fit each other.
TEST(HuggingFace, SizesFitEachOther) {
  struct {
    Json config, fields;
    const char *expected;
  } cases[] = {
      {llama31(),
       {{"hidden_size", 7}},
       "/hidden_size: expected a multiple of /num_attention_heads (32), "
       "found 7"},
      {llama31(),
       {{"hidden_size", 7}, {"head_dim", 128}},
       "/hidden_size: expected a multiple of /num_attention_heads (32), "
       "found 7"},
      {{{"model_type", "qwen3_moe"}},
       {{"hidden_size", 2049}},
       "/hidden_size: expected a multiple of /num_attention_heads (left out) "
       "(32), found 2049"},
      {{{"model_type", "gemma2"}},
       {{"hidden_size", 2303}},
       "/hidden_size: expected a multiple of /num_attention_heads (left out) "
       "(8), found 2303"},
      {llama31(),
       {{"head_dim", 65}},
       "/head_dim: expected an even number of columns to rotate, at most "
       "/head_dim (65), found 65"},
      {{{"model_type", "qwen3_5_text"}},
       {{"head_dim", 128}, {"partial_rotary_factor", 0.26}},
       "/partial_rotary_factor: expected an even number of columns to rotate, "
       "at most /head_dim (128), found 33"},
      {{{"model_type", "qwen3_5_text"}},
       {{"head_dim", 128}, {"partial_rotary_factor", 0.001}},
       "/partial_rotary_factor: expected an even number of columns to rotate, "
       "at most /head_dim (128), found 0"},
      {llama31(),
       {{"rope_scaling", {{"high_freq_factor", 1}}}},
       "/rope_scaling/high_freq_factor: expected more than "
       "/rope_scaling/low_freq_factor (1"},
      {llama31(),
       {{"rope_scaling", {{"factor", 0.5}}}},
       "/rope_scaling/factor: expected a number from 1 to 1e30"},
      {llama31(),
       {{"rope_scaling", {{"low_freq_factor", 0}}}},
       "/rope_scaling/low_freq_factor: expected a positive number"},
      {llama31(),
       {{"num_hidden_layers", 5000}},
       "/num_hidden_layers: expected an integer from 1 to 4096"},
      {llama31(),
       {{"vocab_size", 1 << 30}, {"hidden_size", 1 << 20}},
       "/vocab_size: expected tensors of at most 2^44 elements, found one of "},
      {{{"model_type", "qwen3"}},
       {{"num_attention_heads", 1 << 30},
        {"num_key_value_heads", 1 << 30},
        {"head_dim", 1 << 30}},
       "/num_attention_heads: expected tensors of at most 2^44 elements"},
      {llama31(),
       {{"intermediate_size", 1 << 30}, {"hidden_size", 1 << 20}},
       "/intermediate_size: expected tensors of at most 2^44 elements"},
      {{{"model_type", "qwen3"}},
       {{"max_window_layers", "all"}},
       "/max_window_layers: expected an integer from 0"},
      {gemma2(),
       {{"layer_types", Json::array({"sliding_attention"})}},
       "/layer_types: expected one type per layer (42)"},
      {{{"model_type", "qwen3_moe"}},
       {{"mlp_only_layers", {0, 24}}},
       "/mlp_only_layers/1: expected an integer from 0 to 23, found the "
       "number 24"},
      {{{"model_type", "qwen3_moe"}},
       {{"mlp_only_layers", {-1}}},
       "/mlp_only_layers/0: expected an integer from 0 to 23"},
      {{{"model_type", "qwen3_moe"}},
       {{"num_experts_per_tok", 129}},
       "/num_experts_per_tok: expected at most /num_experts (left out) (128), "
       "found 129"},
      {{{"model_type", "qwen3_moe"}},
       {{"num_experts", 65537}},
       "/num_experts: expected at most 65536 when the checkpoint has tensors "
       "of each expert, found 65537"},
      {{{"model_type", "qwen3_5_moe_text"}},
       {{"mlp_only_layers", {0}}},
       "/mlp_only_layers: expected an array of 0"},
      {{{"model_type", "qwen3_5_moe_text"}},
       {{"decoder_sparse_step", 2}},
       "/decoder_sparse_step: expected 1, because every layer of model type "
       "qwen3_5_moe_text has experts, found the number 2"},
      {{{"model_type", "qwen3_5_moe_text"}},
       {{"norm_topk_prob", false}},
       "/norm_topk_prob: expected true; false is not supported"},
      {{{"model_type", "qwen3_5_text"}},
       {{"mlp_only_layers", {0}}},
       "/mlp_only_layers: expected an array of 0"},
      {{{"model_type", "qwen3_5_text"}},
       {{"linear_num_value_heads", 33}},
       "/linear_num_value_heads: expected a multiple of /linear_num_key_heads "
       "(left out) (16), found 33"},
      {{{"model_type", "qwen3_5_text"}},
       {{"linear_conv_kernel_dim", 1 << 30}},
       "/linear_conv_kernel_dim: expected tensors of at most 2^44 elements"},
      {{{"model_type", "qwen3_5_text"}},
       {{"linear_value_head_dim", 1 << 27}},
       "the number of sequences: expected tensors of at most 2^44 elements"},
  };
  for (const auto &c : cases) {
    Json config = c.config;
    config.merge_patch(c.fields);
    EXPECT_THAT(fault(config), HasSubstr(c.expected)) << c.fields;
  }
  // merge_patch takes null for "remove".
  Json config = gemma2();
  config["sliding_window"] = nullptr;
  EXPECT_THAT(fault(config), HasSubstr("/sliding_window: expected the window "
                                       "of the layers that have one, found "
                                       "null"));
  // Where no multiple is needed.
  config = {{"model_type", "qwen3"},
            {"hidden_size", 5120},
            {"num_attention_heads", 24},
            {"num_key_value_heads", 4}};
  EXPECT_EQ(fault(config), "");
  // Fewer layers than make up an interval: none with attention, and no part
  // for it.
  config = {{"model_type", "qwen3_5_text"}, {"num_hidden_layers", 3}};
  ModelDescription model =
      llvm::cantFail(parseHuggingFaceConfig(config.dump(), "config.json"));
  EXPECT_FALSE(model.attention);
  EXPECT_EQ(model.mixers, (std::vector<Mixer>{Mixer::GatedDeltaNet}));

  // Blocks of 128.
  for (const auto &[key, value, expected] : {
           std::tuple("hidden_size", 2000, "found 2000"),
           std::tuple("head_dim", 36,
                      "when times /text_config/num_attention_heads (16), "
                      "found 36, which gives 576"),
           std::tuple("head_dim", 40,
                      "when times /text_config/num_key_value_heads (2), "
                      "found 40, which gives 80"),
           std::tuple("linear_key_head_dim", 20,
                      "when times /text_config/linear_num_key_heads (16), "
                      "found 20, which gives 320"),
           std::tuple("linear_value_head_dim", 2,
                      "when times /text_config/linear_num_value_heads (32), "
                      "found 2, which gives 64"),
           std::tuple("moe_intermediate_size", 500, "found 500"),
           std::tuple("shared_expert_intermediate_size", 5, "found 5"),
       }) {
    Json config = qwen35Moe();
    config["text_config"]["rope_parameters"]["partial_rotary_factor"] = 0.5;
    config["text_config"][key] = value;
    EXPECT_THAT(fault(config),
                testing::AllOf(HasSubstr("/text_config/" + std::string(key) +
                                         ": expected a multiple of 128 for "
                                         "FP8 in blocks of 128x128"),
                               HasSubstr(expected)));
    config.erase("quantization_config");
    EXPECT_EQ(fault(config), "") << key;
  }
}

TEST(HuggingFace, DenseModelsMayListNoLayersWithoutExperts) {
  Json config = {{"model_type", "qwen3_5_text"}};
  ModelDescription without =
      llvm::cantFail(parseHuggingFaceConfig(config.dump(), "config.json"));
  config["mlp_only_layers"] = Json::array();
  ModelDescription with =
      llvm::cantFail(parseHuggingFaceConfig(config.dump(), "config.json"));
  EXPECT_EQ(with.feedForwards, without.feedForwards);
  EXPECT_EQ(with.feedForwardOf(0), FeedForward::Dense);
  EXPECT_FALSE(with.experts.has_value());
}

TEST(HuggingFace, StatesAreOfTheTypeThatIsAskedFor) {
  HuggingFaceOptions options;
  auto stateType = [&](const Json &config) {
    return llvm::cantFail(
               parseHuggingFaceConfig(config.dump(), "config.json", options))
        .gatedDeltaNet->stateType;
  };
  Json config = {{"model_type", "qwen3_5_text"}};
  EXPECT_EQ(stateType(config), ElementType::F32);
  config["mamba_ssm_dtype"] = "bfloat16";
  EXPECT_EQ(stateType(config), ElementType::BF16);
  options.stateType = ElementType::F32;
  EXPECT_EQ(stateType(config), ElementType::F32);
  config["mamba_ssm_dtype"] = "float32";
  options.stateType = ElementType::BF16;
  EXPECT_EQ(stateType(config), ElementType::BF16);
}

/// What Netra computes in bf16 must be so in the checkpoint, and the reverse,
/// in every layer.
TEST(HuggingFace, ModulesOutsideOfTheQuantization) {
  const std::string pointer =
      "/quantization_config/modules_to_not_convert: expected ";
  Json config = qwen35Moe();
  auto without = [&](const std::string &part) {
    Json changed = config;
    Json &list = changed["quantization_config"]["modules_to_not_convert"];
    Json rest = Json::array();
    for (const Json &module : list)
      if (module.get<std::string>().find(part) == std::string::npos)
        rest.push_back(module);
    EXPECT_LT(rest.size(), list.size()) << part;
    list = rest;
    return changed;
  };
  for (const auto &[module, layers] :
       {std::pair("mlp.gate", 40), std::pair("mlp.shared_expert_gate", 40),
        std::pair("linear_attn.in_proj_a", 30),
        std::pair("linear_attn.in_proj_b", 30)}) {
    std::string name = module;
    std::string text = pointer + "\"" + name +
                       "\" of every layer that has it, which Netra computes "
                       "in bf16, found ";
    EXPECT_THAT(fault(without("layers.6." + name)),
                HasSubstr(text + "all but 1 of " + std::to_string(layers) +
                          ", the first of them \"layers.6." + name + "\""));
    EXPECT_THAT(fault(without("." + name)), HasSubstr(text + "none of them"));
    // Named without a layer, it is that of all.
    Json all = without("." + name);
    all["quantization_config"]["modules_to_not_convert"].push_back(name);
    EXPECT_EQ(fault(all), "") << name;
  }
  // A layer whose number begins alike is another.
  EXPECT_THAT(fault(without("layers.1.mlp.gate")),
              HasSubstr("\"layers.1.mlp.gate\""));
  config["quantization_config"].erase("modules_to_not_convert");
  EXPECT_THAT(fault(config), HasSubstr(pointer + "\"mlp.gate\" of every"));

  Json other = qwen35Moe();
  Json &kept = other["quantization_config"]["modules_to_not_convert"];
  kept.push_back("model.language_model.layers.3.self_attn.q_proj");
  EXPECT_THAT(fault(other),
              testing::AllOf(HasSubstr("/modules_to_not_convert/183: expected "
                                       "a module that Netra keeps in bf16"),
                             HasSubstr("because its other products are FP8 in "
                                       "every layer, found the string \"model."
                                       "language_model.layers.3.self_attn."
                                       "q_proj\"")));
  kept.back() = "model.language_model.layers.40.mlp.gate";
  EXPECT_THAT(fault(other),
              HasSubstr("/modules_to_not_convert/183: expected a module of the "
                        "layers 0 to 39, found the string"));
}

TEST(HuggingFace, AnyBytesAreSurvived) {
  std::string text = qwen35Moe().dump();
  unsigned refused = 0;
  for (size_t i = 0; i < text.size(); i += 3) {
    std::string cut = text.substr(0, i), changed = text;
    changed[i] = char(changed[i] ^ 0x15);
    refused += !message(parseHuggingFaceConfig(cut, "c")).empty();
    refused += !message(parseHuggingFaceConfig(changed, "c")).empty();
  }
  EXPECT_GT(refused, text.size() / 3);
}
