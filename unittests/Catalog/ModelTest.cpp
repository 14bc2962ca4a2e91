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
    "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 4096,
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

  Json next = qwen35Moe()["text_config"];
  next["model_type"] = "qwen3_next";
  model = llvm::cantFail(parseHuggingFaceConfig(next.dump(), "config.json"));
  EXPECT_FALSE(model.gatedDeltaNet->splitProjections);
  EXPECT_FALSE(model.fp8Block128);
  EXPECT_EQ(model.checkpointPrefix, "model.");

  Json gemma = gemma2();
  gemma["model_type"] = "gemma";
  for (const char *key :
       {"sliding_window", "query_pre_attn_scalar", "attn_logit_softcapping",
        "final_logit_softcapping", "hidden_activation"})
    gemma.erase(key);
  gemma["hidden_act"] = "gelu_pytorch_tanh";
  model = llvm::cantFail(parseHuggingFaceConfig(gemma.dump(), "config.json"));
  EXPECT_EQ(model.mixers, (std::vector<Mixer>{Mixer::Attention}));
  EXPECT_FALSE(model.sandwichNorms);
  EXPECT_TRUE(model.tiedEmbeddings);
  EXPECT_EQ(model.normWeightOffset, 1);
  EXPECT_EQ(model.embeddingScale, std::sqrt(3584.0));
  EXPECT_EQ(model.attention->scale, 1 / 16.0);
  EXPECT_EQ(model.dense->activation, "gelu_tanh");
  EXPECT_EQ(model.logitCap, 0);
  // What "gelu" is depends on who reads it.
  gemma["hidden_act"] = "gelu";
  EXPECT_THAT(fault(gemma), HasSubstr("/hidden_act: expected one of "
                                      "\"gelu_pytorch_tanh\""));
  gemma["hidden_activation"] = "gelu_pytorch_tanh";
  EXPECT_EQ(fault(gemma), "");

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
  Json config = llama31();
  config.erase("intermediate_size");
  EXPECT_THAT(fault(config), HasSubstr("the key \"intermediate_size\""));

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
