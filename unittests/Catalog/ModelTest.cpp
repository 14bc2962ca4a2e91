//===- ModelTest.cpp - Model descriptions ---------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Catalog/Model.h"
#include "Netra/Catalog/Catalog.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace netra;
using Json = nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

template <typename T> std::string message(llvm::Expected<T> result) {
  return result ? "" : llvm::toString(result.takeError());
}

std::string readText(const fs::path &path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> manifests() {
  std::vector<fs::path> paths;
  for (const auto &entry : fs::directory_iterator(
           fs::path(NETRA_TEST_SOURCE_DIR) / "manifests/gfx950/models"))
    paths.push_back(entry.path());
  return paths;
}

ModelDescription load(const std::string &name) {
  fs::path path = fs::path(NETRA_TEST_SOURCE_DIR) / "manifests/gfx950/models" /
                  (name + ".json");
  return llvm::cantFail(parseModel(readText(path), name));
}

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
  return Json::parse(R"({
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
      "modules_to_not_convert": ["lm_head",
        "model.language_model.layers.0.mlp.gate",
        "model.language_model.layers.0.mlp.shared_expert_gate",
        "model.language_model.layers.0.linear_attn.in_proj_a",
        "model.language_model.layers.0.linear_attn.in_proj_b",
        "model.visual.blocks.0.attn.qkv"]}
  })");
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

TEST(Model, EveryManifestIsReadAndPrintedAlike) {
  Catalog catalog =
      llvm::cantFail(Catalog::load(NETRA_TEST_SOURCE_DIR, "gfx950"));
  EXPECT_GE(manifests().size(), 8u);
  for (const fs::path &path : manifests()) {
    SCOPED_TRACE(path.string());
    llvm::Expected<ModelDescription> model =
        parseModel(readText(path), path.string());
    ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
    EXPECT_EQ(model->name, path.stem().string());
    std::string text = printModel(*model);
    EXPECT_EQ(printModel(llvm::cantFail(parseModel(text, "again"))), text);
    for (const std::string &profile : model->profiles)
      EXPECT_TRUE(catalog.findProfile(profile)) << profile;
  }
}

TEST(Model, ProfilesAreThoseOfTheTarget) {
  ModelDescription model = load("tiny_llama");
  model.path = "m.json";
  EXPECT_EQ(
      llvm::toString(checkProfiles(model, NETRA_TEST_SOURCE_DIR, "gfx950")),
      "");
  model.profiles = {"decode_m1", "decode_m2", "verify_m8/../verify_m8", ""};
  EXPECT_THAT(
      llvm::toString(checkProfiles(model, NETRA_TEST_SOURCE_DIR, "gfx950")),
      testing::AllOf(
          HasSubstr("m.json: /profiles/1: expected one of the profiles of "
                    "gfx950 (decode_m1, "),
          HasSubstr("found \"decode_m2\""), HasSubstr("/profiles/2: "),
          HasSubstr("/profiles/3: "), testing::Not(HasSubstr("/profiles/0"))));
}

/// Numbers with which nothing could be computed.
TEST(Model, NumbersHaveRanges) {
  Json manifest = Json::parse(printModel(load("tiny_qwen3_5_moe")));
  for (const auto &[pointer, value, expected] :
       {std::tuple("/norm_epsilon", 0.0, "a number from 1.2e-38"),
        std::tuple("/norm_epsilon", 1e-300, "a number from 1.2e-38"),
        std::tuple("/norm_epsilon", 2.0, "a number from 1.2e-38"),
        std::tuple("/attention/rotary/theta", 0.0, "a number from 1 to 1e30"),
        std::tuple("/attention/rotary/theta", 0.5, "a number from 1 to 1e30"),
        std::tuple("/embedding_scale", -1.0, "a number from 0 to 1e30")}) {
    Json changed = manifest;
    changed[Json::json_pointer(pointer)] = value;
    EXPECT_THAT(message(parseModel(changed.dump(), "m.json")),
                HasSubstr(std::string(pointer) + ": expected " + expected));
  }
  manifest["experts"]["count"] = 65537;
  EXPECT_THAT(message(parseModel(manifest.dump(), "m.json")),
              HasSubstr("/experts/count: expected at most 65536 with "
                        "per_expert_tensors, found 65537"));
}

TEST(Model, TheNumbersOfThePublishedModels) {
  ModelDescription model = load("qwen3_6_35b_a3b_fp8");
  int attention = 0;
  for (int64_t i = 0; i < model.layers; ++i)
    attention += model.mixerOf(i) == Mixer::Attention;
  EXPECT_EQ(attention, 10);
  // The widths of the fused projections that serving uses.
  const AttentionModel &a = *model.attention;
  EXPECT_EQ((2 * a.heads + 2 * a.kvHeads) * a.headDim, 9216);
  const GatedDeltaNetModel &g = *model.gatedDeltaNet;
  EXPECT_EQ(2 * (g.keyHeads * g.keyDim + g.valueHeads * g.valueDim), 12288);
  ModelDescription dense = load("qwen3_6_27b_fp8");
  EXPECT_EQ((2 * dense.attention->heads + 2 * dense.attention->kvHeads) *
                dense.attention->headDim,
            14336);
  EXPECT_EQ(2 * (dense.gatedDeltaNet->keyHeads * 128 +
                 dense.gatedDeltaNet->valueHeads * 128),
            16384);
}

TEST(HuggingFace, GivesTheManifestsOfTheSameModels) {
  HuggingFaceOptions options;
  options.cacheType = ElementType::F8E4M3FN;
  options.stateType = ElementType::BF16;
  options.cacheSlots = 1048576;
  EXPECT_EQ(numbersOf(llvm::cantFail(parseHuggingFaceConfig(
                qwen35Moe().dump(), "config.json", options))),
            numbersOf(load("qwen3_6_35b_a3b_fp8")));
  options = {};
  options.cacheSlots = 131072;
  EXPECT_EQ(numbersOf(llvm::cantFail(parseHuggingFaceConfig(
                llama31().dump(), "config.json", options))),
            numbersOf(load("llama3_1_8b")));
  EXPECT_EQ(numbersOf(llvm::cantFail(
                parseHuggingFaceConfig(gemma2().dump(), "config.json"))),
            numbersOf(load("gemma2_9b")));
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
  struct {
    const char *pointer;
    Json value;
    const char *expected;
  } cases[] = {
      {"/model_type", "mamba2", "/model_type: expected one of llama, qwen3"},
      {"/hidden_act", "relu", "/hidden_act: expected one of"},
      {"/mlp_bias", true, "/mlp_bias: expected false; true is not supported"},
      {"/attention_dropout", 0.1, "/attention_dropout: expected 0"},
      {"/rope_scaling/rope_type", "yarn", "/rope_scaling/rope_type: expected"},
      {"/rope_scaling/attention_factor", 2, "the unknown key"},
      {"/hidden_size", 0, "/hidden_size: expected"},
      {"/num_key_value_heads", 5, "/attention/heads: expected a multiple of"},
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
      {"/partial_rotary_factor", 2,
       "/partial_rotary_factor: expected a number "
       "above 0, at most 1"},
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
  for (const auto &c : cases) {
    Json config = llama31();
    config[Json::json_pointer(c.pointer)] = c.value;
    EXPECT_THAT(fault(config), HasSubstr(c.expected)) << c.pointer;
  }
  Json config = gemma2();
  config["sliding_window_size"] = 2048;
  EXPECT_THAT(fault(config), HasSubstr("/sliding_window_size: expected the "
                                       "sliding_window, 4096, found"));
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

  // What Netra computes in bf16 must be so in the checkpoint, and the reverse.
  config = qwen35Moe();
  Json &kept = config["quantization_config"]["modules_to_not_convert"];
  kept.erase(1);
  EXPECT_THAT(fault(config), HasSubstr("mlp.gate"));
  kept.push_back("model.language_model.layers.0.mlp.gate");
  kept.push_back("model.language_model.layers.3.self_attn.q_proj");
  EXPECT_THAT(fault(config), HasSubstr("a module that Netra keeps in bf16"));
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
