//===- ManifestTest.cpp - Tactic and profile manifests --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "../Messages.h"
#include "FaultTable.h"
#include "SchemaValidator.h"
#include "TestTactic.h"

#include "Netra/Catalog/Deployment.h"
#include "Netra/Catalog/Model.h"
#include "Netra/Catalog/Vocabulary.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <fstream>
#include <random>

using namespace netra;
using namespace netra::test;
using testing::HasSubstr;

static std::string tacticFault(const Json &document) {
  return message(parseTactic(document.dump(), "t.json"));
}

static const char *const profileText = R"({
  "format": "netra.profile/1", "name": "decode_m1", "summary": "one token",
  "m": 1, "batch": [1, 64], "sequence": [0, 1048576], "routed_rows": 768,
  "tensor_parallel": [1, 8], "priority": 30})";

static const char *const deploymentText = R"({
  "format": "netra.deployment/1", "name": "test", "target": "gfx950",
  "summary": "for tests",
  "artifacts": [
    {"name": "first", "members": [
      {"tactic": "gfx950.test_dense", "symbol": "old_name",
       "dimensions": {"M": 1}, "attributes": {"epilogue": "silu"},
       "operands": {"bias": {"shape": [64], "type": "bf16"}},
       "options": {"WAVES": 4}, "definitions": {"ROWS": 8}}],
     "text_sha256":
       "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"},
    {"name": "second", "members": [{"tactic": "gfx950.test_dense"}],
     "text_sha256": null}]})";

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
  const Fault faults[] = {
      {"/format", "netra.tactic/2", "/format: expected one of"},
      {"/name", "test_dense", "/name: expected a name <target>."},
      {"/name", "gfx942.test", "starts with \"gfx950.\""},
      {"/target", "gfx90a", "/target: expected a known target (gfx950)"},
      {"/arguments/8/role", "x",
       "/workspace: expected an argument with the role \"workspace\", found "
       "none"},
      {"/family", "dence", "/family: expected one of \"activation\", "},
      {"/operation", "rms_norm",
       "/operation: expected one of \"dense\", found the string \"rms_norm\""},
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
      {"/match/attributes/colour",
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
      {"/requires/0", "1 / 0", "/requires/0: expected an expression with a "},
      {"/follows/0", "WAVES", "/follows/0: expected a dimension of \"match\""},
      {"/follows/1", "M", "/follows/1: expected each dimension once"},
      {"/masks/0", "M",
       "/masks/0: expected each dimension once, in \"follows\""},
      {"/masks", Json::array(), "/masks: expected an array of at least 1"},
      {"/arguments/4/follows", 1, "/arguments/4/follows: expected true or"},
      {"/arguments/4/value",
       {{"present", "bias"}},
       "/arguments/4/value: expected an expression for an argument that"},
      {"/constants/ROWS", "9223372036854775807 * 2",
       "/constants/ROWS: expected an expression with a value"},
      {"/launch/grid/0", "0", "/launch/grid/0: expected a value of at least 1"},
      {"/launch/block/0", -64, "/launch/block/0: expected"},
      {"/launch/static_lds", "0 - 4",
       "/launch/static_lds: expected a value of at least 0"},
      {"/registers/vgprs", "3 - 4",
       "/registers/vgprs: expected a value of at least 0"},
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
      {"/numerics/accumulation", "f17",
       "/numerics/accumulation: expected an element type, or \"none\" without "
       "sums, found \"f17\""},
      {"/numerics/accumulation", "u64",
       "/numerics/accumulation: expected the accumulation that \"match\" "
       "takes, \"f32\", found \"u64\""},
      {"/numerics/rounding", 7, "/numerics/rounding: expected a string"},
      {"/numerics/rounding", "once, at the store", "expected a scheme"},
      {"/numerics/reduction_order", "", "expected a scheme"},
      {"/numerics/reduction_order", "test.v1()", "expected a scheme"},
      {"/numerics/reduction_order", "test.v1(WAVES", "expected a scheme"},
      {"/numerics/reduction_order", "test.v1(WAVES,DEPTH)",
       "expected a scheme"},
      {"/numerics/reduction_order", "test.v1(WAVES) twice",
       "expected a scheme"},
      {"/numerics/reduction_order", "test.v1(VEC)",
       "/numerics/reduction_order: expected names of dimensions, options and "
       "constants, found the unknown name \"VEC\""},
      {"/numerics/reduction_order", "test.v1(WAVES, WAVES)",
       "expected each name once, found \"WAVES\" twice"},
      {"/graph_capture", "yes", "/graph_capture: expected true or false"},
      {"/evidence", Json::array(),
       "evidence of kind \"simulated\" or \"device\" for a verified"},
      {"/evidence/0/kind", "assembled", "for a verified tactic, found none"},
      {"/evidence/0/kind", "dreamt", "/evidence/0/kind: expected one of"},
      {"/evidence/0/tests/0/failed", 1,
       "/evidence: expected evidence of kind \"simulated\" or \"device\" for a "
       "verified tactic, found none; of \"unit tests\": expected no failed "
       "test, found 1 of 7 in TestDense"},
      {"/maturity", "accepted", "evidence of kind \"device\" for an accepted"},
      {"/evidence/0/tests", Json::array(),
       "/evidence/0/tests: expected an array of at least 1"},
      {"/evidence/0/tests/0/cases", 0,
       "/evidence/0/tests/0/cases: expected an integer of at least 1"},
      {"/evidence/0/tests/0/failed", 1000000000,
       "/evidence/0/tests/0/failed: expected at most "},
      {"/evidence/0/kernels/0/identity_sha256", "00FF",
       "/evidence/0/kernels/0/identity_sha256: expected a SHA-256 of 64"},
      {"/evidence/0/kernels/0/dimensions/m", 1,
       "/evidence/0/kernels/0/dimensions/m: expected a name of upper-case"},
      {"/evidence/0/kernels/0/operands/bias/type", "bf17",
       "/evidence/0/kernels/0/operands/bias/type: expected one of"},
      {"/evidence/0/kernels/0/operands/bias/layout", "n9k9",
       "/evidence/0/kernels/0/operands/bias/layout: expected a layout"},
      {"/evidence/0/kernels/0/attributes/Epsilon", 1,
       "/evidence/0/kernels/0/attributes/Epsilon: expected a name of lower"},
      {"/locks/0/text_sha256", "ab",
       "/locks/0/text_sha256: expected a SHA-256"},
      {"/locks/0/options",
       {{"WAVES", 4}},
       "/locks/0: expected each of the tactic's options (DEPTH, WAVES), found "
       "WAVES"},
      {"/locks/0/constants/OTHER", 1,
       "/locks/0: expected each of the tactic's constants"},
      {"/locks/1", Json::parse(tacticText)["locks"][0],
       "/locks/1: expected each choice of constants once"},
      {"/code", Json::object(), "unknown key \"code\""},
  };
  expectFaults(Json::parse(tacticText), faults, "t.json", tacticFault);
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
        "the number of cases", "\"min\" of at most", "each argument name once",
        "an integer for type", "ATTRIBUTE} for type", "whose values \"match\"",
        "[MIN, MAX] with", "each of the tactic's", "bytes for",
        "expected an offset", "a dimension of \"match\"", "each dimension once",
        "an argument that follows", "each artifact name once",
        "which match says of operand", "access write or readwrite of",
        "the accumulation that", "each operand once", "each name once",
        "an argument with the role",
        // of operations, which the dialect has
        "/family: expected one of", "/operation: expected one of",
        // of models: sizes that do not fit each other
        "a part for the layers that use it", "no such part, because",
        "the window of window_attention", "because no layer is window",
        "expected the tokens that", "expected the sequences", "a multiple of",
        "expected an even number", "a positive factor", "none without scaling",
        "llama3 scaling", "expected more than", "at most /experts/count",
        "shared_intermediate beside", "at most 4096", "expected 0 or 1",
        "at most 65536 when", "at most 2^44"})
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
  compareWithSchema(schema, Json::parse(tacticText), tacticFault, accepted,
                    refused);
  EXPECT_GT(accepted, 50u);
  EXPECT_GT(refused, 1000u);
  // What no single tactic has: every attribute, limits of each.
  Json other = Json::parse(tacticText);
  for (const char *key : {"locks", "cost", "options", "requires", "workspace"})
    other.erase(key);
  other["maturity"] = "experiment";
  other["evidence"] = Json::array();
  other["symbol"] = "netra_test";
  other["constants"] = {{"COUNT", {{"f32", "epsilon"}}}};
  other["numerics"]["reduction_order"] = "test.v1(COUNT)";
  other["arguments"] = Json::array();
  other["launch"] = {{"grid", {1, 1, 1}},
                     {"block", {64, 1, 1}},
                     {"static_lds", 0},
                     {"dynamic_lds", 0}};
  other["registers"] = {{"vgprs", 8}, {"agprs", 0}, {"sgprs", 8}};
  for (const AttributeDefinition &attribute : allAttributes())
    other["match"]["attributes"][attribute.name.str()] = {{"any", true}};
  other["match"]["attributes"]["epsilon"] = {{"min", 0.25}, {"max", 0.5}};
  compareWithSchema(schema, other, tacticFault, accepted, refused);
  EXPECT_THAT(schema.fieldsNeverRefused(), testing::IsEmpty());
}

TEST(Manifest, SchemaAndReaderAgreeOnGoldens) {
  SchemaValidator schema(readSchema("golden"));
  schema.addSchema("tactic.schema.json", readSchema("tactic"));
  size_t accepted = 0, refused = 0;
  compareWithSchema(
      schema, Json::parse(goldenText),
      [](const Json &document) {
        return message(parseGolden(document.dump(), "g.json"));
      },
      accepted, refused);
  EXPECT_GT(accepted, 50u);
  EXPECT_GT(refused, 1000u);
  EXPECT_THAT(schema.fieldsNeverRefused(), testing::IsEmpty());
}

TEST(Manifest, SchemaAndReaderAgreeOnDeployments) {
  SchemaValidator schema(readSchema("deployment"));
  schema.addSchema("tactic.schema.json", readSchema("tactic"));
  size_t accepted = 0, refused = 0;
  compareWithSchema(
      schema, Json::parse(deploymentText),
      [](const Json &document) {
        return message(parseDeployment(document.dump(), "d.json"));
      },
      accepted, refused);
  EXPECT_GT(accepted, 20u);
  EXPECT_GT(refused, 200u);
  EXPECT_THAT(schema.fieldsNeverRefused(), testing::IsEmpty());
}

static std::string schemesFault(const Json &document) {
  return message(parseSchemes(document.dump(), "n.json"));
}

TEST(Manifest, SchemaAndReaderAgreeOnSchemes) {
  SchemaValidator schema(readSchema("numerics"));
  size_t accepted = 0, refused = 0;
  compareWithSchema(schema, Json::parse(schemesText), schemesFault, accepted,
                    refused);
  EXPECT_GT(accepted, 10u);
  EXPECT_GT(refused, 100u);
  EXPECT_THAT(schema.fieldsNeverRefused(), testing::IsEmpty());
}

TEST(Manifest, FaultsOfSchemesAreNamed) {
  const Fault faults[] = {
      {"/format", "netra.numerics/2", "/format: expected one of"},
      {"/schemes/0/kind", "order", "/schemes/0/kind: expected one of"},
      {"/schemes/0/name", "Test.v1", "/schemes/0/name: expected names of"},
      {"/schemes/0/name", "test..v1", "/schemes/0/name: expected names of"},
      {"/schemes/0/version", 0,
       "/schemes/0/version: expected an integer from 1"},
      {"/schemes/0/parameters/0", "chunks",
       "/schemes/0/parameters/0: expected a name of upper-case"},
      {"/schemes/0/parameters/0", "WAVES",
       "/schemes/0/parameters/1: expected each name once, found \"WAVES\" "
       "twice"},
      {"/schemes/0/text", "", "/schemes/0/text: expected a string that is not"},
      {"/schemes/3", Json::parse(schemesText)["schemes"][0],
       "/schemes/3: expected each scheme once, found \"test.v1\" twice"},
  };
  expectFaults(Json::parse(schemesText), faults, "n.json", schemesFault);
  // One id may be an order and a rounding.
  Json document = Json::parse(schemesText);
  document["schemes"][2]["name"] = "theirs";
  EXPECT_EQ(schemesFault(document), "");
}

/// Contracts have the values of the parameters.
TEST(Manifest, SchemesOfContracts) {
  SchemeTable table = llvm::cantFail(parseSchemes(schemesText, "n.json"));
  auto expected = [&](llvm::StringRef spelling) {
    return table.expectedFor(SchemeDefinition::Kind::ReductionOrder, spelling);
  };
  EXPECT_EQ(expected("test.v1(CHUNKS=2, WAVES=-4)"), "");
  EXPECT_EQ(expected("theirs"), "");
  EXPECT_EQ(expected("test.v1(CHUNKS=2)"), "test.v1(CHUNKS, WAVES)");
  EXPECT_EQ(expected("test.v1"), "test.v1(CHUNKS, WAVES)");
  EXPECT_THAT(expected("once"), HasSubstr("test.v1(CHUNKS, WAVES), theirs"));
  std::optional<SchemeInstance> instance = parseSchemeInstance("a.b.v1(N=3)");
  ASSERT_TRUE(instance);
  EXPECT_EQ(instance->id, "a.b.v1");
  EXPECT_EQ(instance->values,
            (std::vector<std::pair<std::string, int64_t>>{{"N", 3}}));
  for (const char *spelling :
       {"", "A", "a(", "a()", "a(N)", "a(N=)", "a(n=1)", "a(N=01)", "a(N=+1)",
        "a(N=1,M=2)", "a(N=1) ", "a(N=9223372036854775808)", "a..b", ".a"})
    EXPECT_FALSE(parseSchemeInstance(spelling)) << spelling;
}

TEST(Manifest, SchemaAndReaderAgreeOnEvidence) {
  SchemaValidator schema(readSchema("evidence"));
  schema.addSchema("tactic.schema.json", readSchema("tactic"));
  Json document = {{"format", "netra.evidence/1"},
                   {"tactic", "gfx950.test_dense"},
                   {"evidence", testTacticJson()["evidence"][0]}};
  size_t accepted = 0, refused = 0;
  compareWithSchema(
      schema, document,
      [](const Json &value) {
        return message(parseEvidence(value.dump(), "e.json"));
      },
      accepted, refused);
  EXPECT_GT(accepted, 20u);
  EXPECT_GT(refused, 200u);
  EXPECT_THAT(schema.fieldsNeverRefused(), testing::IsEmpty());
}

TEST(Manifest, GoldenValues) {
  Tactic tactic = llvm::cantFail(parseGolden(goldenText, "g.json"));
  ASSERT_TRUE(tactic.golden);
  EXPECT_EQ(tactic.templatePath, "");
  EXPECT_EQ(tactic.symbol, "somebody_else");
  EXPECT_EQ(tactic.golden->file, "dense/test.hsaco");
  EXPECT_EQ(tactic.golden->bytes, 4096u);
  EXPECT_EQ(tactic.golden->sha256.substr(0, 4), "0011");
  EXPECT_EQ(tactic.golden->textSha256.substr(0, 4), "1111");
  EXPECT_EQ(tactic.golden->identitySha256.substr(0, 4), "2211");
  EXPECT_EQ(tactic.arguments[1].offset, 16u);
}

/// Places in the kernel arguments are what the bytes have, not what follows.
TEST(Manifest, GoldenContractsKeepTheirOffsets) {
  Tactic tactic = llvm::cantFail(parseGolden(goldenText, "g.json"));
  Instance instance = llvm::cantFail(instantiate(tactic, testProblem(), {}));
  EXPECT_EQ(instance.symbol, "somebody_else");
  EXPECT_EQ(instance.contract.kernargBytes, 64u);
  std::vector<uint64_t> offsets;
  for (const Argument &argument : instance.contract.arguments)
    offsets.push_back(argument.offset);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{8, 16, 24, 32, 40, 48}));
  // The record says of which type a pointer is.
  Problem problem = testProblem();
  problem.operands[1].type = ElementType::F16;
  EXPECT_THAT(message(instantiate(tactic, problem, {})),
              HasSubstr("argument weight type: expected bf16, found f16"));
}

/// A record that speaks against itself fits no problem and would be passed over
/// in silence.
TEST(Manifest, ArgumentsOfGoldensAreThoseOfTheirOperands) {
  auto fault = [](auto change) {
    Json document = Json::parse(goldenText);
    change(document["arguments"]);
    return message(parseGolden(document.dump(), "g.json"));
  };
  EXPECT_EQ(fault([](Json &) {}), "");
  EXPECT_THAT(fault([](Json &j) { j[0]["type"] = "f32"; }),
              HasSubstr("/arguments/0: expected type bf16, which match says of "
                        "operand x, found f32"));
  EXPECT_THAT(fault([](Json &j) { j[1]["type"] = "u8"; }),
              HasSubstr("/arguments/1: expected type bf16 or f16, which match "
                        "says of operand weight, found u8"));
  EXPECT_THAT(fault([](Json &j) { std::swap(j[0]["role"], j[3]["role"]); }),
              HasSubstr("/arguments/0: expected access write or readwrite of "
                        "result, found read"));
  EXPECT_THAT(fault([](Json &j) { j[0]["role"] = "result"; }),
              HasSubstr("/arguments/3: expected each operand once, or from "
                        "different offsets, found result in x and result"));
  // Two parts of one tensor.
  EXPECT_EQ(fault([](Json &j) { j[0]["role"] = "weight"; }), "");
}

TEST(Manifest, GoldensTakePartOnlyWhenThereAreAny) {
  Tactic tactic = llvm::cantFail(parseGolden(goldenText, "g.json"));
  Candidate candidate = matchTactic(tactic, testProblem());
  ASSERT_EQ(candidate.mismatches.size(), 1u);
  EXPECT_EQ(candidate.mismatches[0].str(),
            "golden code object: expected a folder that has it "
            "(--golden-root), found none");
  SelectOptions options;
  options.allowGolden = true;
  EXPECT_TRUE(matchTactic(tactic, testProblem(), options).matches());
}

TEST(Manifest, FaultsOfGoldensAreNamed) {
  const Fault faults[] = {
      {"/format", "netra.tactic/1",
       "/format: expected one of \"netra.golden/1\""},
      {"/family", nullptr,
       "/family: expected a value, since the record is incomplete without, "
       "found null"},
      {"/launch/grid/1", nullptr, "/launch/grid/1: expected a value"},
      {"/template", "x.s", "unknown key \"template\""},
      {"/options", Json::object(), "unknown key \"options\""},
      {"/locks", Json::array(), "unknown key \"locks\""},
      {"/code/file", "../x", "/code/file: expected a relative path"},
      {"/code/bytes", 0, "/code/bytes: expected an integer from 1"},
      {"/code/sha256", "xyz", "/code/sha256: expected a SHA-256"},
      {"/code/text_sha256", 1, "/code/text_sha256: expected a string"},
      {"/code/symbol", "a b", "/code/symbol: expected a symbol"},
      {"/code/kernarg_bytes", 48,
       "/arguments/5/offset: expected an offset inside the 48 bytes"},
      {"/arguments/0/offset", 4,
       "/arguments/0/offset: expected an offset that is a multiple of 8"},
      {"/arguments/1/offset", 8,
       "/arguments/1/offset: expected an offset of at least 16"},
      {"/arguments/2/bytes", 8,
       "/arguments/2/bytes: expected 4 bytes for i32, found 8"},
      {"/arguments/0/bytes", 4,
       "/arguments/0/bytes: expected 8 bytes for a pointer, found 4"},
      {"/match/operands/weight/optional", true,
       "/arguments/1/role: expected a role of an operand that is not optional"},
  };
  expectFaults(Json::parse(goldenText), faults, "g.json",
               [](const Json &document) {
                 return message(parseGolden(document.dump(), "g.json"));
               });
}

/// The code of a golden is known without making it.
TEST(Manifest, EvidenceOfAGoldenIsOfItsCode) {
  Json record = Json::parse(goldenText);
  const std::string identity = record["code"]["identity_sha256"];
  const std::string other = std::string(64, '0');
  auto fault = [&](const std::string &seen) {
    record["evidence"][0]["kernels"] = {{{"identity_sha256", seen}}};
    return message(parseGolden(record.dump(), "g.json"));
  };
  EXPECT_EQ(fault(identity), "");
  EXPECT_THAT(fault(other),
              HasSubstr("/evidence: expected evidence of kind \"simulated\" or "
                        "\"device\" for a verified tactic, found none; of "
                        "\"unit tests\": expected computational identity " +
                        identity + " of the code, found " + other));
  // One record that counts is enough.
  record["evidence"].push_back({{"kind", "device"}, {"what", "ran"}});
  EXPECT_EQ(fault(other), "");
  record["evidence"].erase(1);
  record["maturity"] = "experiment";
  EXPECT_EQ(fault(other), "");
}

TEST(Manifest, DeploymentValuesAndFaults) {
  Deployment deployment =
      llvm::cantFail(parseDeployment(deploymentText, "d.json"));
  EXPECT_EQ(deployment.name, "test");
  ASSERT_EQ(deployment.artifacts.size(), 2u);
  EXPECT_TRUE(deployment.artifacts[0].textSha256);
  EXPECT_FALSE(deployment.artifacts[1].textSha256);
  EXPECT_EQ(deployment.artifacts[0].members[0].symbol, "old_name");
  EXPECT_EQ(deployment.artifacts[0].members[0].definitions.at("ROWS"), 8);
  Json document = Json::parse(deploymentText);
  document["artifacts"][1]["name"] = "first";
  document["artifacts"][0].erase("text_sha256");
  document["artifacts"][0]["members"][0]["tactic"] = "test_dense";
  document["target"] = "gfx1";
  std::string text = message(parseDeployment(document.dump(), "d.json"));
  EXPECT_THAT(text, HasSubstr("/artifacts/1/name: expected each artifact"));
  EXPECT_THAT(text,
              HasSubstr("/artifacts/0: expected the key \"text_sha256\""));
  EXPECT_THAT(text, HasSubstr("/members/0/tactic: expected a name <target>."));
  EXPECT_THAT(text, HasSubstr("/target: expected a known target (gfx950)"));
}

/// What a tactic takes one thing of need not be named; the rest must be.
TEST(Manifest, InstancesByWhatIsOpen) {
  Tactic tactic = llvm::cantFail(parseTactic(tacticText, "t.json"));
  const InstanceSpec &spec = tactic.evidence[0].kernels[0].instance;
  Instance instance = llvm::cantFail(instantiate(tactic, spec));
  EXPECT_TRUE(instance.contract.problem == testProblem());
  EXPECT_EQ(instance.constants, tactic.locks[0].constants);

  InstanceSpec open = spec;
  open.options.reset();
  EXPECT_EQ(llvm::cantFail(instantiate(tactic, open)).options,
            (std::map<std::string, int64_t>{{"WAVES", 4}, {"DEPTH", 2}}));
  open.options = {{"WAVES", 4}};
  EXPECT_THAT(message(instantiate(tactic, open)),
              HasSubstr("option DEPTH: expected a value, found none"));
  open = InstanceSpec();
  std::string text = message(instantiate(tactic, open));
  for (const char *part :
       {"dimension K: expected a multiple of 64, found none",
        "attribute epilogue: expected one of none, silu, found none",
        "operand weight type: expected one of several to be named",
        "operand weight layout: expected one of several to be named",
        "operand result shape: expected a shape"})
    EXPECT_THAT(text, HasSubstr(part));
  open = spec;
  open.operands["skip"] = {};
  EXPECT_THAT(message(instantiate(tactic, open)),
              HasSubstr("operand skip: expected an operand of the tactic"));
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
  EXPECT_THAT(schema.fieldsNeverRefused(), testing::IsEmpty());
}

TEST(Manifest, SchemaAndReaderAgreeOnModels) {
  SchemaValidator schema(readSchema("model"));
  size_t accepted = 0, refused = 0;
  for (const auto &[name, more] : std::map<std::string, Json>{
           {"tiny_qwen3_5_moe",
            {{"scale_type", "f32"},
             {"gated_delta_net", {{"split_projections", false}}},
             {"experts", {{"activation", "silu"}, {"normalize_top_k", true}}}}},
           {"tiny_llama",
            {{"attention", {{"input_bias", true}, {"output_bias", true}}}}},
           {"tiny_gemma2",
            {{"attention", {{"window_rotary", {{"dimensions", 64}}}}}}}}) {
    Json model = readJson(std::string(NETRA_TEST_SOURCE_DIR) +
                          "/manifests/gfx950/models/" + name + ".json");
    model.merge_patch(more);
    compareWithSchema(
        schema, model,
        [](const Json &document) {
          return message(parseModel(document.dump(), "m.json"));
        },
        accepted, refused);
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(refused, 500u);
  EXPECT_THAT(schema.fieldsNeverRefused(), testing::IsEmpty());
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
