//===- HuggingFaceFieldsTest.cpp - Each field of each family --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// The importer itself says which fields it knows at a place, so that one that
// is added there is tested here.
//
//===----------------------------------------------------------------------===//

#include "../Messages.h"

#include "Netra/Catalog/Model.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include <regex>
#include <set>

using namespace netra;
using namespace netra::test;
using Json = nlohmann::json;
using testing::HasSubstr;

namespace {

/// An object of a configuration that is accepted.
struct Place {
  std::string family;
  std::string pointer; // of the object
  Json config;
};

std::vector<Place> places() {
  std::vector<Place> result;
  for (const char *type :
       {"llama", "qwen3", "qwen3_moe", "qwen3_next", "qwen3_5_text",
        "qwen3_5_moe_text", "gemma", "gemma2", "gemma3_text"})
    result.push_back({type, "", {{"model_type", type}}});
  const Json kinds[] = {{{"rope_type", "default"}},
                        {{"rope_type", "linear"}, {"factor", 2}},
                        {{"rope_type", "llama3"},
                         {"factor", 8},
                         {"low_freq_factor", 1},
                         {"high_freq_factor", 1e6},
                         {"original_max_position_embeddings", 8192}}};
  for (const char *type : {"llama", "qwen3_5_text"})
    for (const char *key : {"rope_scaling", "rope_parameters"})
      for (const Json &kind : kinds)
        result.push_back({type,
                          std::string("/") + key,
                          {{"model_type", type}, {key, kind}}});
  Json gemma = {
      {"model_type", "gemma3_text"},
      {"rope_parameters",
       {{"full_attention", kinds[1]}, {"sliding_attention", kinds[0]}}}};
  for (const char *pointer :
       {"/rope_parameters", "/rope_parameters/full_attention",
        "/rope_parameters/sliding_attention"})
    result.push_back({"gemma3_text", pointer, gemma});
  Json quantized = {{"model_type", "qwen3"},
                    {"quantization_config",
                     {{"quant_method", "fp8"},
                      {"activation_scheme", "dynamic"},
                      {"weight_block_size", {128, 128}}}}};
  result.push_back({"qwen3", "/quantization_config", quantized});
  for (const auto &[outer, inner] :
       {std::pair("qwen3_5", "qwen3_5_text"),
        std::pair("qwen3_5_moe", "qwen3_5_moe_text"),
        std::pair("gemma3", "gemma3_text")})
    for (const char *pointer : {"", "/text_config"})
      result.push_back(
          {inner,
           pointer,
           {{"model_type", outer}, {"text_config", {{"model_type", inner}}}}});
  return result;
}

Json::json_pointer memberOf(const Place &place, const std::string &key) {
  return Json::json_pointer(place.pointer + "/" + key);
}

/// The keys that an object may have, as the message about another tells.
std::vector<std::string> knownKeys(const Place &place) {
  Json config = place.config;
  config[memberOf(place, "netra")] = 1;
  const std::string text =
      message(parseHuggingFaceConfig(config.dump(), "config.json"));
  const std::string begin = place.pointer + "/netra: expected only the keys ";
  EXPECT_THAT(text, HasSubstr(begin));
  const std::string list = text.substr(std::min(text.find(begin), text.size()));
  std::vector<std::string> keys;
  const std::regex quoted("\"([^\"]*)\"");
  for (std::sregex_iterator it(list.begin(), list.end(), quoted), end;
       it != end && (*it)[1] != "netra"; ++it)
    keys.push_back((*it)[1]);
  return keys;
}

/// Says nothing about what the decoder computes for given token ids, in
/// whichever family: how the model was trained and is to be sampled, files,
/// and the parts that are not the decoder.
bool isFree(const Place &place, const std::string &key) {
  static const std::set<std::string> anywhere = {
      "_attn_implementation_autoset", "_name_or_path", "attn_implementation",
      "bos_token_id", "cache_implementation", "eos_token_id",
      "initializer_range",
      // Bounds what may be asked; the cache has a size of its own.
      "max_position_embeddings", "mlp_dropout", "mtp_num_hidden_layers",
      "mtp_use_dedicated_embeddings", "output_router_logits", "pad_token_id",
      // Cuts products into parts, whose sum is the same.
      "pretraining_tp", "router_aux_loss_coef", "transformers_version",
      "use_cache"};
  static const std::set<std::string> around = {
      "audio_config",        "boi_token_index",      "eoi_token_index",
      "image_token_id",      "image_token_index",    "language_model_only",
      "mm_tokens_per_image", "video_token_id",       "vision_config",
      "vision_end_token_id", "vision_start_token_id"};
  // Text has the same position in all three sections.
  static const std::set<std::string> rotation = {"mrope_interleaved",
                                                 "mrope_section"};
  if (place.pointer.find("rope_") != std::string::npos)
    return rotation.count(key) != 0;
  if (anywhere.count(key))
    return true;
  return place.pointer.empty() && place.config.contains("text_config") &&
         around.count(key);
}

/// Has several values that are accepted and give one model.
bool mayBeWithoutEffect(const Place &place, const std::string &key) {
  const bool isQwen = place.family.find("qwen") == 0;
  // The switch that would give these a meaning has to be off.
  if (key == "sliding_window" || key == "max_window_layers")
    return isQwen;
  // Left over in files of Gemma, whose classes read hidden_activation.
  if (key == "hidden_act")
    return !isQwen && place.family != "llama";
  // Of layers without experts, of which these configurations have none.
  if (key == "intermediate_size")
    return place.family == "qwen3_moe" || place.family == "qwen3_next" ||
           place.family == "qwen3_5_moe_text";
  // Two names of one function; two spellings of what is kept anyway.
  return key == "output_gate_type" || key == "modules_to_not_convert" ||
         key == "ignored_layers";
}

std::string describe(const Place &place, const std::string &key) {
  return place.config.dump() + " " + place.pointer + "/" + key;
}

} // namespace

TEST(HuggingFaceFields, AllPlacesAreReached) {
  std::set<std::string> keys;
  for (const Place &place : places()) {
    EXPECT_EQ(message(parseHuggingFaceConfig(place.config.dump(), "c")), "");
    for (const std::string &key : knownKeys(place))
      keys.insert(key);
  }
  for (const char *key :
       {"hidden_size", "rope_local_base_freq", "linear_conv_kernel_dim",
        "low_freq_factor", "weight_block_size", "full_attention",
        "partial_rotary_factor", "num_experts", "text_config", "mrope_section",
        "query_pre_attn_scalar", "mlp_only_layers"})
    EXPECT_TRUE(keys.count(key)) << key;
}

TEST(HuggingFaceFields, ValuesThatNobodyKnowsAreRefused) {
  for (const Place &place : places())
    for (const std::string &key : knownKeys(place)) {
      if (isFree(place, key))
        continue;
      for (const Json &value :
           {Json("netra"), Json(-7), Json{{"netra", 1}}, Json::array({"netra"}),
            Json::array({{{"netra", 1}}})}) {
        Json config = place.config;
        config[memberOf(place, key)] = value;
        EXPECT_THAT(message(parseHuggingFaceConfig(config.dump(), "c")),
                    HasSubstr(place.pointer + "/" + key))
            << describe(place, key) << " = " << value;
      }
    }
}

TEST(HuggingFaceFields, WhatIsAcceptedHasAnEffect) {
  std::vector<Json> values = {true, false};
  for (double number : {0.25, 0.5})
    values.push_back(number);
  for (int number : {1, 2, 3, 4, 8, 16, 32, 64, 100, 128, 256, 512, 1024})
    values.push_back(number);
  for (const char *text :
       {"silu", "swish", "gelu", "gelu_pytorch_tanh", "float32", "bfloat16",
        "float16", "default", "linear", "llama3", "yarn", "fp8", "e4m3",
        "dynamic"})
    values.push_back(text);
  for (const Json &list : {Json::array(), Json::array({0}), Json::array({1, 0}),
                           Json::array({128, 128}), Json::array({64, 64}),
                           Json::array({"lm_head"}), Json::array({"norm"})})
    values.push_back(list);
  size_t effective = 0;
  for (const Place &place : places())
    for (const std::string &key : knownKeys(place)) {
      if (isFree(place, key))
        continue;
      size_t accepted = 0;
      std::set<std::string> models;
      for (const Json &value : values) {
        Json config = place.config;
        config[memberOf(place, key)] = value;
        llvm::Expected<ModelDescription> model =
            parseHuggingFaceConfig(config.dump(), "c");
        if (model) {
          ++accepted;
          models.insert(printModel(*model));
        }
        llvm::consumeError(model.takeError());
      }
      if (accepted < 2)
        continue;
      // Not all that may be so is: some have one value only.
      EXPECT_EQ(models.size() == 1, mayBeWithoutEffect(place, key))
          << describe(place, key) << ": " << accepted << " values, "
          << models.size() << " models";
      effective += models.size() > 1;
    }
  EXPECT_GT(effective, 200u);
}
