//===- ModelTest.cpp - Model descriptions ---------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "../Messages.h"
#include "TestModels.h"

#include "Netra/Catalog/Catalog.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

using namespace netra;
using namespace netra::test;
using Json = nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> manifests() {
  std::vector<fs::path> paths;
  for (const auto &entry : fs::directory_iterator(modelFolder()))
    paths.push_back(entry.path());
  return paths;
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
  ModelDescription model = loadModel("tiny_llama");
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
  Json manifest = Json::parse(printModel(loadModel("tiny_qwen3_5_moe")));
  constexpr const char *positive = "a positive number of at most 1e30";
  for (const auto &[pointer, value, expected] :
       {std::tuple("/norm_epsilon", 0.0, "a number from 1.2e-38"),
        std::tuple("/norm_epsilon", 1e-300, "a number from 1.2e-38"),
        std::tuple("/norm_epsilon", 2.0, "a number from 1.2e-38"),
        std::tuple("/attention/rotary/theta", 0.0, "a number from 1 to 1e30"),
        std::tuple("/attention/rotary/theta", 0.5, "a number from 1 to 1e30"),
        std::tuple("/norm_weight_offset", -1.0, "a number from 0 to 1e30"),
        std::tuple("/embedding_scale", -1.0, positive),
        // What is not there is left out, and not 0.
        std::tuple("/embedding_scale", 0.0, positive),
        std::tuple("/logit_cap", 0.0, positive),
        std::tuple("/attention/scale", 0.0, positive),
        std::tuple("/attention/logit_cap", 0.0, positive),
        std::tuple("/attention/rotary/factor", 0.0, positive),
        std::tuple("/attention/rotary/low_frequency_factor", 0.0, positive),
        std::tuple("/attention/rotary/high_frequency_factor", 0.0, positive)}) {
    Json changed = manifest;
    changed[Json::json_pointer(pointer)] = value;
    EXPECT_THAT(message(parseModel(changed.dump(), "m.json")),
                HasSubstr(std::string(pointer) + ": expected " + expected));
  }
  Json prefix = manifest;
  prefix["checkpoint_prefix"] = "model.{}.";
  EXPECT_THAT(message(parseModel(prefix.dump(), "m.json")),
              HasSubstr("/checkpoint_prefix: expected a prefix without \"{}\", "
                        "found \"model.{}.\""));
  Json layers = manifest;
  layers["layers"] = 4097;
  EXPECT_THAT(message(parseModel(layers.dump(), "m.json")),
              HasSubstr("/layers: expected an integer from 1 to 4096, found "
                        "the number 4097"));
  manifest["experts"]["count"] = 65537;
  EXPECT_THAT(message(parseModel(manifest.dump(), "m.json")),
              HasSubstr("/experts/count: expected at most 65536 when the "
                        "checkpoint has tensors of each expert, found 65537"));
}

TEST(Model, TheNumbersOfThePublishedModels) {
  ModelDescription model = loadModel("qwen3_6_35b_a3b_fp8");
  int attention = 0;
  for (int64_t i = 0; i < model.layers; ++i)
    attention += model.mixerOf(i) == Mixer::Attention;
  EXPECT_EQ(attention, 10);
  // The widths of the fused projections that serving uses.
  const AttentionModel &a = *model.attention;
  EXPECT_EQ((2 * a.heads + 2 * a.kvHeads) * a.headDim, 9216);
  const GatedDeltaNetModel &g = *model.gatedDeltaNet;
  EXPECT_EQ(2 * (g.keyHeads * g.keyDim + g.valueHeads * g.valueDim), 12288);
  ModelDescription dense = loadModel("qwen3_6_27b_fp8");
  EXPECT_EQ((2 * dense.attention->heads + 2 * dense.attention->kvHeads) *
                dense.attention->headDim,
            14336);
  EXPECT_EQ(2 * (dense.gatedDeltaNet->keyHeads * 128 +
                 dense.gatedDeltaNet->valueHeads * 128),
            16384);
}
