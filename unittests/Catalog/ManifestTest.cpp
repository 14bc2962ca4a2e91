//===- ManifestTest.cpp - Tactic and profile manifests --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SchemaValidator.h"
#include "TestTactic.h"

#include "Netra/Catalog/Model.h"
#include "Netra/Catalog/Vocabulary.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <fstream>
#include <random>

using namespace netra;
using namespace netra::test;
using testing::HasSubstr;

template <typename T> static std::string message(llvm::Expected<T> value) {
  return value ? "" : llvm::toString(value.takeError());
}

static std::string tacticFault(const Json &document) {
  return message(parseTactic(document.dump(), "t.json"));
}

static const char *const profileText = R"({
  "format": "netra.profile/1", "name": "decode_m1", "summary": "one token",
  "m": 1, "batch": [1, 64], "sequence": [0, 1048576], "routed_rows": 768,
  "tensor_parallel": [1, 8], "priority": 30})";

static Json readJson(const std::string &path) {
  std::ifstream stream(path);
  EXPECT_TRUE(stream.good()) << path;
  return Json::parse(stream);
}

static Json readSchema(const std::string &name) {
  return readJson(std::string(NETRA_TEST_SOURCE_DIR) + "/manifests/schemas/" +
                  name + ".schema.json");
}

TEST(Manifest, TacticValues) {
  Tactic tactic = llvm::cantFail(parseTactic(tacticText, "t.json"));
  EXPECT_EQ(tactic.name, "gfx950.test_dense");
  EXPECT_EQ(tactic.maturity, Maturity::Verified);
  EXPECT_EQ(tactic.rank, 100);
  ASSERT_EQ(tactic.options.size(), 2u);
  EXPECT_EQ(tactic.options[0].first, "WAVES"); // as written, not sorted
  EXPECT_EQ(tactic.options[1].second, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(tactic.operands.at("bias").layouts,
            (std::vector<std::string>{"row_major"}));
  EXPECT_TRUE(tactic.operands.at("bias").optional);
  EXPECT_EQ(tactic.arguments.size(), 9u);
  EXPECT_EQ(tactic.workspaceAlignment, 256u);
  EXPECT_EQ(tactic.errorBound, "1 ulp");
}

TEST(Manifest, ProfileValues) {
  ServingProfile profile = llvm::cantFail(parseProfile(profileText, "p.json"));
  EXPECT_EQ(profile.name, "decode_m1");
  EXPECT_EQ(profile.priority, 30);
  EXPECT_EQ(profile.guards.at("m"), (GuardRange{1, 1}));
  EXPECT_TRUE(profile.guards.at("m").isExact());
  EXPECT_EQ(profile.guards.at("batch"), (GuardRange{1, 64}));
  EXPECT_EQ(profile.guards.at("routed_rows"), (GuardRange{768, 768}));
  EXPECT_FALSE(profile.guards.at("batch").contains(65));
}

TEST(Manifest, EachFaultIsNamedWithFilePointerExpectedAndFound) {
  struct Case {
    const char *pointer;
    Json value;
    const char *part;
  };
  const Case cases[] = {
      {"/format", "netra.tactic/2", "/format: expected one of"},
      {"/name", "test_dense", "/name: expected a name <target>."},
      {"/name", "gfx942.test", "starts with \"gfx950.\""},
      {"/target", "gfx90a", "/target: expected a known target (gfx950)"},
      {"/family", "Dense", "/family: expected a name of lower-case"},
      {"/maturity", "good", "/maturity: expected one of \"rejected\""},
      {"/rank", -1, "/rank: expected an integer from 0"},
      {"/summary", "", "/summary: expected a string that is not empty"},
      {"/template", "../x.s", "/template: expected a relative path"},
      {"/template", "/etc/x.s", "/template: expected a relative path"},
      {"/template", "dense/x.inc", "/template: expected a relative path"},
      {"/symbol", "a b", "/symbol: expected a symbol"},
      {"/symbol", "n{P}",
       "/symbol: expected names of dimensions, options, "
       "constants and attributes, found the unknown name "
       "\"P\""},
      {"/match/dimensions/M", "one",
       "/match/dimensions/M: expected an integer"},
      {"/match/dimensions/M", {{"min", 5}, {"max", 4}}, "found 5 and 4"},
      {"/match/dimensions/m", 1,
       "/match/dimensions/m: expected a dimension "
       "name of upper-case"},
      {"/match/dimensions/GRID_X", 1, "the reserved name \"GRID_X\""},
      {"/match/operands/X",
       {{"type", "bf16"}},
       "/match/operands/X: expected a "
       "role"},
      {"/match/operands/x/type", "bf17",
       "/match/operands/x/type: expected one "
       "of \"bf16\""},
      {"/match/operands/x/layout", "n9k9",
       "/match/operands/x/layout: expected "
       "a layout"},
      {"/match/operands/x/shape/0", "WAVES", "names of dimensions only"},
      {"/match/attributes/epilogue", Json::array(), "an array of at least 1"},
      {"/match/attributes/epsilon", {{"any", false}}, "expected true"},
      {"/match/attributes/accumulation/0", -1e300,
       "/match/attributes/accumulation/0: expected one of f32, found"},
      {"/match/attributes/epilogue/0", "relu",
       "/match/attributes/epilogue/0: expected one of none, silu"},
      {"/match/attributes/epsilon",
       {{"min", 0}, {"max", 3}},
       "/match/attributes/epsilon/max: expected a number from 0"},
      {"/match/attributes/scale",
       {{"any", true}},
       "expected an attribute that operations have (accumulation, "},
      {"/match/attributes/x_block_scale", Json::array({"1x0:f32"}),
       "expected a block scale like 1x128:f32"},
      {"/match/attributes/permutation", Json::array({"0,0"}),
       "expected a permutation like 1,0"},
      {"/match/attributes/weight_offset",
       {{"min", 2}, {"max", 1}},
       "\"min\" of at "
       "most \"max\""},
      {"/options/WAVES", {4, 4}, "/options/WAVES/1: expected each choice once"},
      {"/options/K", {1}, "/options/K: expected a name that no dimension has"},
      {"/constants/WAVES", 1,
       "/constants/WAVES: expected a name that no "
       "dimension or option has"},
      {"/requires/0", "K %",
       "/requires/0: expected an expression, found "
       "expression \"K %\", column 4"},
      {"/requires/0", "P == 1", "the unknown name \"P\""},
      {"/constants/ROWS", "TILES",
       "/constants/ROWS: expected constants that "
       "do not depend on themselves"},
      {"/constants/EPILOGUE/values",
       {{"none", 0}},
       "a value for epilogue = "
       "\"silu\""},
      {"/constants/EPILOGUE/values/gelu", 2,
       "only values that \"match\" "
       "lists"},
      {"/constants/EPILOGUE/attribute", "epsilon",
       "whose values \"match\" "
       "lists"},
      {"/constants/HAS_BIAS/present", "skip",
       "/constants/HAS_BIAS/present: "
       "expected a role of \"match\""},
      {"/constants/EPSILON/f32", "eps", "expected an attribute of \"match\""},
      {"/constants/FP8/values", {{"bf16", 0}}, "a value for type f8E4M3FN"},
      {"/constants/FP8/values/f32", 3, "only types that \"match\" lists"},
      {"/constants/ROWS", {{"what", 1}}, "an object with one of \"attribute\""},
      {"/arguments/0/role", "y", "/arguments/0/role: expected a role"},
      {"/arguments/0/access", "value", "/arguments/0/access: expected one of"},
      {"/arguments/1/name", "x", "each argument name once"},
      {"/arguments/4/type", "bf16", "/arguments/4/type: expected one of"},
      {"/arguments/4/type", "f32", "{\"f32\": ATTRIBUTE} for type f32"},
      {"/arguments/6/type", "i32", "an integer for type i32"},
      {"/arguments/4/value", "P", "the unknown name \"P\""},
      {"/arguments/4/offset", 4, "unknown key \"offset\""},
      {"/launch/grid", {1, 1}, "/launch/grid: expected an array of 3"},
      {"/launch/block/0", 1.5,
       "/launch/block/0: expected an integer or an "
       "expression"},
      {"/workspace/alignment", 3,
       "/workspace/alignment: expected a power of "
       "two"},
      {"/registers/vgprs", nullptr, "/registers/vgprs: expected"},
      {"/numerics/rounding", 7, "/numerics/rounding: expected a string"},
      {"/graph_capture", "yes", "/graph_capture: expected true or false"},
      {"/evidence", Json::array(),
       "evidence of kind \"simulated\" or \"device\" for a verified"},
      {"/evidence/0/kind", "assembled", "for a verified tactic, found none"},
      {"/evidence/0/kind", "dreamt", "/evidence/0/kind: expected one of"},
      {"/maturity", "accepted", "evidence of kind \"device\" for an accepted"},
  };
  for (const Case &c : cases) {
    Json document = testTacticJson();
    document[Json::json_pointer(c.pointer)] = c.value;
    std::string text = tacticFault(document);
    EXPECT_THAT(text, HasSubstr(c.part)) << c.pointer << " = " << c.value;
    EXPECT_THAT(text, HasSubstr("t.json: ")) << c.pointer;
  }
  EXPECT_THAT(message(parseProfile("[]", "p.json")),
              HasSubstr("p.json: /: expected an object, found an array of 0"));
  Json profile = Json::parse(profileText);
  profile["batch"] = {64, 1};
  profile["name"] = "Decode";
  profile["m"] = -1;
  std::string text = message(parseProfile(profile.dump(), "p.json"));
  EXPECT_THAT(text, HasSubstr("/batch: expected a range [MIN, MAX]"));
  EXPECT_THAT(text, HasSubstr("/name: expected a name"));
  EXPECT_THAT(text, HasSubstr("/m: expected an integer from 0"));
}

TEST(Manifest, AllFaultsAreReportedTogether) {
  Json document = testTacticJson();
  document["rank"] = "high";
  document["launch"]["grid"][0] = "N /";
  document["arguments"][0].erase("role");
  document["extra"] = 1;
  std::string text = tacticFault(document);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
}

/// What a reader checks and a schema cannot say.
static bool isSemantic(const std::string &text) {
  for (const char *part :
       {"unknown name", "expected an expression", "expected a layout",
        "names of dimensions", "a role of \"match\"", "an attribute of",
        "a value for", "expected a permutation", "only values that",
        "only types that", "that starts with", "a name that no",
        "depend on themselves", "evidence for a verified", "evidence of kind",
        "\"min\" of at most", "each argument name once", "an integer for type",
        "ATTRIBUTE} for type", "whose values \"match\"", "[MIN, MAX] with",
        // of models: sizes that do not fit each other
        "a part for the layers that use it", "no such part, because",
        "the window of window_attention", "because no layer is window",
        "expected the tokens that", "expected the sequences", "a multiple of",
        "expected an even number", "a positive factor", "none without scaling",
        "llama3 scaling", "low_frequency_factor <", "at most count",
        "shared_intermediate beside", "at most 4096", "expected 0 or 1"})
    if (text.find(part) != std::string::npos)
      return true;
  return false;
}

template <typename Parse>
static void compareWithSchema(SchemaValidator &schema, const Json &document,
                              Parse parse, size_t &accepted, size_t &refused) {
  EXPECT_EQ(parse(document), "");
  EXPECT_TRUE(schema.accepts(document));
  forEachMutation(document, [&](const Json &mutated, const std::string &what) {
    std::string text = parse(mutated);
    bool bySchema = schema.accepts(mutated);
    if (text.empty()) {
      EXPECT_TRUE(bySchema)
          << "the schema refuses, the reader accepts: " << what;
      ++accepted;
      return;
    }
    ++refused;
    EXPECT_TRUE(!bySchema || isSemantic(text))
        << "the schema accepts, the reader refuses: " << what << "\n"
        << text;
  });
  EXPECT_TRUE(schema.unknownKeywords.empty())
      << testing::PrintToString(schema.unknownKeywords);
}

TEST(Manifest, SchemaAndReaderAgreeOnTactics) {
  SchemaValidator schema(readSchema("tactic"));
  size_t accepted = 0, refused = 0;
  compareWithSchema(schema, testTacticJson(), tacticFault, accepted, refused);
  EXPECT_GT(accepted, 50u);
  EXPECT_GT(refused, 1000u);
}

/// Mutations do not try every value; the lists must be equal.
TEST(Manifest, SchemaAndVocabularyListTheSameAttributes) {
  Json schema = readSchema("tactic");
  const Json &properties = schema.at(
      "/properties/match/properties/attributes/properties"_json_pointer);
  ASSERT_EQ(properties.size(), allAttributes().size());
  for (const AttributeDefinition &attribute : allAttributes()) {
    SCOPED_TRACE(attribute.name.str());
    ASSERT_TRUE(properties.contains(attribute.name.str()));
    std::string reference = properties.at(attribute.name.str()).at("$ref");
    const Json &items = schema.at(Json::json_pointer(reference.substr(1)))
                            .at("/anyOf/0/items"_json_pointer);
    if (attribute.kind == AttributeDefinition::Kind::Choice) {
      Json choices = Json::array();
      for (llvm::StringRef choice : attribute.choices)
        choices.push_back(choice.str());
      EXPECT_EQ(items.at("enum"), choices);
    } else if (attribute.kind == AttributeDefinition::Kind::Number) {
      EXPECT_EQ(items.at("minimum"), attribute.min);
      EXPECT_EQ(items.at("maximum"), attribute.max);
    }
  }
}

TEST(Manifest, SchemaAndReaderAgreeOnProfiles) {
  SchemaValidator schema(readSchema("profile"));
  size_t accepted = 0, refused = 0;
  compareWithSchema(
      schema, Json::parse(profileText),
      [](const Json &document) {
        return message(parseProfile(document.dump(), "p.json"));
      },
      accepted, refused);
  EXPECT_GT(accepted, 10u);
  EXPECT_GT(refused, 50u);
}

TEST(Manifest, SchemaAndReaderAgreeOnModels) {
  SchemaValidator schema(readSchema("model"));
  size_t accepted = 0, refused = 0;
  for (const char *name : {"tiny_qwen3_5_moe", "tiny_llama", "tiny_gemma2"})
    compareWithSchema(
        schema,
        readJson(std::string(NETRA_TEST_SOURCE_DIR) +
                 "/manifests/gfx950/models/" + name + ".json"),
        [](const Json &document) {
          return message(parseModel(document.dump(), "m.json"));
        },
        accepted, refused);
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(refused, 500u);
}

TEST(Manifest, AnyBytesAreSurvived) {
  std::string text = tacticText;
  for (size_t length = 0; length < text.size(); length += 7)
    EXPECT_NE(message(parseTactic(text.substr(0, length), "t.json")), "");
  std::mt19937 random(13);
  for (int i = 0; i < 1000; ++i) {
    std::string copy = text;
    for (int j = 1 + random() % 6; j > 0; --j)
      copy[random() % copy.size()] = char(random());
    llvm::consumeError(parseTactic(copy, "t.json").takeError());
  }
}
