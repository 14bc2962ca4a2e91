//===- ContractDefectsTest.cpp - Contracts that claim something else ------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A contract is edited and its id made to fit wherever it stands, as somebody
// would who edits engine.mlir. Then either the bundle contradicts itself, or
// the catalogue knows that the tactic makes no such contract.
//
//===----------------------------------------------------------------------===//

#include "SeededDefects.h"

#include "Netra/Target/TacticVerifier.h"

using namespace netra;
using namespace netra::test;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// The contract of the test engine, and the engine with another one.
Json soundContract() { return Json::parse(copyInstance().contract.toJson()); }

struct Found {
  std::vector<std::string> byBundle, byCatalog, notCompared;
};

/// Lets an explanation say what a contract of this problem costs.
void setCosts(std::string &text, const Problem &problem) {
  Cost cost = estimateCost(problem, *findTarget("gfx950"));
  Json document = Json::parse(text);
  auto set = [&](Json &stated) {
    stated["bytes"] = cost.bytes;
    stated["flop"] = cost.flop;
    stated["picoseconds"] = cost.picoseconds;
    stated["bound"] = cost.isBoundByMemory ? "memory" : "arithmetic";
  };
  for (Json &kernels : document["kernels"])
    for (Json &kernel : kernels) {
      set(kernel["cost"]);
      for (Json &other : kernel["also_matches"])
        set(other["cost"]);
    }
  text = document.dump(2) + "\n";
}

/// What is found in an engine that states `contract` everywhere. A contract
/// that cannot be read keeps its id.
Found findIn(const Json &contract, const TestLibrary &library) {
  TestEngine test = makeEngine();
  std::string before = copyInstance().contract.id(), after = before;
  llvm::Expected<Contract> read = Contract::fromJson(contract.dump());
  if (read)
    after = read->id();
  Json document = {{"format", "netra.contracts/1"},
                   {"contracts", {{after, contract}}}};
  test.files.at("contracts.json") = document.dump(2) + "\n";
  std::set<std::string> notCapturable;
  if (contract.at("graph_capture") == Json(false))
    notCapturable.insert(after);
  for (EngineStep &step : test.engine.plans[0].steps)
    if (step.kind == EngineStep::Kind::Launch)
      step.contract = after;
  for (auto &[name, text] : test.files)
    for (size_t at = 0; (at = text.find(before, at)) != std::string::npos;
         at += after.size())
      text.replace(at, before.size(), after);
  for (auto &[name, text] : deriveReports(test.engine, notCapturable))
    test.files.at(name) = text;
  if (read)
    setCosts(test.files.at("explain.json"), read->problem);
  else
    llvm::consumeError(read.takeError());
  finalizeEngine(test.engine, test.files);
  TemporaryFolder folder;
  folder.write("engine/engine.json", writeEngineJson(test.engine));
  for (const auto &[name, contents] : test.files)
    folder.write("engine/" + name, contents);
  std::string directory = (folder.path / "engine").string();
  Found found;
  for (const BundleFinding &finding : llvm::cantFail(verifyBundle(directory)))
    found.byBundle.push_back(finding.str());
  if (!found.byBundle.empty())
    return found;
  llvm::Expected<TacticFindings> tactics =
      verifyTactics(directory, library.path.string());
  if (!tactics) {
    found.byCatalog.push_back(llvm::toString(tactics.takeError()));
    return found;
  }
  for (const BundleFinding &finding : tactics->findings)
    found.byCatalog.push_back(finding.str());
  found.notCompared = tactics->notCompared;
  return found;
}

struct Claim {
  const char *name;
  void (*edit)(Json &contract);
  std::string finding;
};
void PrintTo(const Claim &claim, std::ostream *os) { *os << claim.name; }

class BundleClaim : public testing::TestWithParam<Claim> {};
class CatalogClaim : public testing::TestWithParam<Claim> {};

void setShapes(Json &contract, std::vector<int64_t> shape) {
  for (Json &operand : contract["problem"]["operands"])
    operand["shape"] = shape;
}

/// What the engine's own files contradict.
const Claim byBundle[] = {
    {"Operation",
     [](Json &c) {
       c["problem"]["operation"] = "cast";
       c["problem"]["attributes"] = Json::object();
     },
     "/plans/0/steps/0/operation: expected netra.cast as the contract says, "
     "found netra.activation"},
    {"OperationOfNobody", [](Json &c) { c["problem"]["operation"] = "copy"; },
     "operation: expected one of elementwise.activation, "},
    {"Attribute", [](Json &c) { c["problem"]["attributes"]["exact"] = true; },
     "attribute exact: expected only those of netra.activation (activation)"},
    {"Rows", [](Json &c) { c["problem"]["dimensions"]["M"] = 2; },
     "operand x: expected rows and columns [M, N], [2, 64], found [64]"},
    {"RowsAndShapes",
     [](Json &c) {
       c["problem"]["dimensions"]["M"] = 2;
       setShapes(c, {2, 64});
     },
     "/plans/0/steps/0/arguments/0/bytes: expected the 512 bytes of x, found "
     "256"},
    // As many bytes, but another matrix.
    {"RowsInsteadOfColumns",
     [](Json &c) {
       c["problem"]["dimensions"] = {{"M", 2}, {"N", 32}};
       setShapes(c, {2, 32});
     },
     "source/netra_copy_n64.s: NETRA_N: expected 32, found 64, for contract "
     "nk_"},
    {"FewerBytes",
     [](Json &c) {
       c["problem"]["dimensions"]["N"] = 32;
       setShapes(c, {32});
     },
     "/plans/0/steps/0/arguments/0/bytes: expected the 128 bytes of x, found "
     "256"},
    {"TypeOfNoBuffer",
     [](Json &c) {
       for (Json &operand : c["problem"]["operands"])
         operand["type"] = "f32";
       for (size_t i : {0, 2})
         c["arguments"][i]["type"] = "f32";
     },
     "expected argument x as the contract describes it"},
    {"ConstantOfAScheme",
     [](Json &c) { c["numerics"]["reduction_order"] = "none(N=32)"; },
     "source/netra_copy_n64.s: NETRA_N: expected 32, found 64, for contract "},
    {"ConstantOfNobody",
     [](Json &c) { c["numerics"]["rounding"] = "none(Q=1)"; },
     "source/netra_copy_n64.s: NETRA_Q: expected 1, found none, for contract "},
    {"Accumulation", [](Json &c) { c["numerics"]["accumulation"] = "float"; },
     "numerics accumulation: expected an element type, or \"none\""},
    {"Workspace", [](Json &c) { c["workspace"]["bytes"] = 512; },
     "workspace: expected an argument for its 512 bytes, found none"},
    {"GiganticDimension",
     [](Json &c) { c["problem"]["dimensions"]["M"] = INT64_MAX; },
     "problem: dimension M: expected at most 281474976710656, found "
     "9223372036854775807"},
    {"GiganticShape",
     [](Json &c) {
       c["problem"]["dimensions"]["M"] = int64_t(1) << 48;
       setShapes(c, {int64_t(1) << 48, int64_t(1) << 20});
     },
     "shape 281474976710656x1048576: expected fewer than 2^63 elements"},
    {"GiganticBytes",
     [](Json &c) {
       c["problem"]["dimensions"]["M"] = int64_t(1) << 48;
       setShapes(c, {int64_t(1) << 48, int64_t(1) << 14});
     },
     "expected fewer than 2^63 bytes"},
    {"GiganticGrid", [](Json &c) { c["grid"][0] = UINT32_MAX; },
     "grid: axis x: expected 1 to 67108863 work-groups"},
    {"GiganticGuard",
     [](Json &c) {
       c["problem"]["guards"]["batch"] = {1, UINT64_MAX};
       c["problem"]["varying"]["N"] = {{"constant", 0}, {"batch", 2}};
     },
     "problem: varying N: expected what follows a guard up to the extent of a "
     "dimension, found 2 * batch"},
};

/// What only the tactic tells.
const Claim byCatalog[] = {
    {"ValueOfAnAttribute",
     [](Json &c) { c["problem"]["attributes"]["activation"] = "silu"; },
     ": expected '.set NETRA_ACTIVATION, 1' as contract "
     "nk_"},
    {"ValueOutsideOfTheMatch",
     [](Json &c) { c["problem"]["attributes"]["activation"] = "sigmoid"; },
     "tactic gfx950.copy: attribute activation: expected one of none, silu, "
     "found sigmoid"},
    {"Deterministic", [](Json &c) { c["deterministic"] = false; },
     ": /deterministic: expected true as tactic gfx950.copy says, found false"},
    {"GraphCapture", [](Json &c) { c["graph_capture"] = false; },
     ": /graph_capture: expected true as tactic gfx950.copy says, found false"},
    {"UnknownScheme", [](Json &c) { c["numerics"]["rounding"] = "once"; },
     ": /numerics/rounding: expected one of the schemes of numerics.json "
     "(none), found \"once\""},
    {"SchemeOfAnotherKind",
     [](Json &c) { c["numerics"]["rounding"] = "other"; },
     ": /numerics/rounding: expected one of the schemes of numerics.json "
     "(none), found \"other\""},
    {"ParametersOfAScheme",
     [](Json &c) { c["numerics"]["reduction_order"] = "other(N=64)"; },
     ": /numerics/reduction_order: expected other, found \"other(N=64)\""},
    {"AnotherScheme",
     [](Json &c) { c["numerics"]["reduction_order"] = "other"; },
     ": /numerics/reduction_order: expected \"none\" as tactic gfx950.copy "
     "says, found \"other\""},
    {"Accumulation", [](Json &c) { c["numerics"]["accumulation"] = "f32"; },
     ": /numerics/accumulation: expected \"none\" as tactic gfx950.copy says, "
     "found \"f32\""},
    {"WorkspaceAlignment", [](Json &c) { c["workspace"]["alignment"] = 512; },
     ": /workspace/alignment: expected 256 as tactic gfx950.copy says, found "
     "512"},
};

/// Other values that a field could have.
std::vector<Json> others(const std::string &key, const Json &value) {
  static const std::map<std::string, std::vector<Json>> spellings = {
      {"access", {"read", "write", "readwrite", "value"}},
      {"kind", {"pointer", "value"}},
      {"type", {"i32", "f32", "u8", "bf16"}},
      {"layout", {"group_major", "n16k16"}},
      {"role", {"x", "result", "workspace", ""}},
      {"operation", {"cast", "add", "rms_norm"}},
      {"family", {"moe", "norm"}},
      {"activation", {"none", "silu", "gelu_erf"}},
      {"accumulation", {"none", "f32"}},
      {"target", {"gfx942"}},
  };
  std::vector<Json> values;
  if (value.is_boolean())
    values = {!value.get<bool>(), 1};
  else if (value.is_number())
    values = {value.get<int64_t>() + 1,
              value.get<int64_t>() + 64,
              value.get<int64_t>() * 2,
              0,
              -1,
              INT64_MAX,
              UINT64_MAX};
  else if (value.is_string()) {
    values = {value.get<std::string>() + "x", "none", "other", 1};
    if (auto known = spellings.find(key); known != spellings.end())
      values.insert(values.end(), known->second.begin(), known->second.end());
  }
  llvm::erase(values, value);
  return values;
}

} // namespace

TEST(ContractClaims, SoundOnesAreLeftAlone) {
  Found found = findIn(soundContract(), CopyLibrary());
  EXPECT_THAT(found.byBundle, IsEmpty());
  EXPECT_THAT(found.byCatalog, IsEmpty());
  EXPECT_THAT(found.notCompared, IsEmpty());
}

TEST_P(BundleClaim, ContradictsTheBundle) {
  Json contract = soundContract();
  GetParam().edit(contract);
  EXPECT_THAT(findIn(contract, CopyLibrary()).byBundle,
              Contains(HasSubstr(GetParam().finding)));
}
INSTANTIATE_TEST_SUITE_P(Contract, BundleClaim, testing::ValuesIn(byBundle),
                         [](const testing::TestParamInfo<Claim> &info) {
                           return std::string(info.param.name);
                         });

TEST_P(CatalogClaim, ContradictsTheTactic) {
  Json contract = soundContract();
  GetParam().edit(contract);
  Found found = findIn(contract, CopyLibrary());
  EXPECT_THAT(found.byBundle, IsEmpty());
  EXPECT_THAT(found.byCatalog, Contains(HasSubstr(GetParam().finding)));
}
INSTANTIATE_TEST_SUITE_P(Contract, CatalogClaim, testing::ValuesIn(byCatalog),
                         [](const testing::TestParamInfo<Claim> &info) {
                           return std::string(info.param.name);
                         });

/// There is no field whose value nobody looks at.
TEST(ContractClaims, EveryFieldIsHeldAgainstSomething) {
  CopyLibrary library;
  Json sound = soundContract();
  size_t count = 0;
  const Json fields = sound.flatten();
  for (const auto &[pointer, value] : fields.items()) {
    if (value.is_structured() || value.is_null())
      continue; // an empty object or list
    Json::json_pointer place(pointer);
    for (const Json &other : others(place.back(), value)) {
      Json contract = sound;
      contract[place] = other;
      Found found = findIn(contract, library);
      EXPECT_FALSE(found.byBundle.empty() && found.byCatalog.empty())
          << pointer << ": nobody minds " << other << " instead of " << value;
      ++count;
    }
  }
  EXPECT_GT(count, 250u);
}

TEST(ContractClaims, OnlyTheSameTacticIsCompared) {
  Json edited = soundContract();
  edited["deterministic"] = false;
  auto find = [&](const TestLibrary &library) {
    Found found = findIn(edited, library);
    EXPECT_THAT(found.byBundle, IsEmpty());
    EXPECT_THAT(found.byCatalog, IsEmpty());
    return found.notCompared;
  };
  CopyLibrary library;
  library.write("kernels/gfx950/include/frame.inc",
                std::string(frameInclude) + "// of another time\n");
  EXPECT_THAT(find(library),
              testing::ElementsAre("tactic gfx950.copy, which is another "
                                   "template in the catalogue"));
  std::filesystem::remove(library.path / "manifests/gfx950/tactics/copy.json");
  EXPECT_THAT(find(library),
              testing::ElementsAre("tactic gfx950.copy, which is not in the "
                                   "catalogue"));
  // The schemes are those of all engines.
  edited["numerics"]["rounding"] = "once";
  EXPECT_THAT(findIn(edited, library).byCatalog,
              Contains(HasSubstr("found \"once\"")));
  edited["numerics"]["rounding"] = "none";
  TestLibrary empty;
  EXPECT_THAT(find(empty),
              testing::ElementsAre("any tactic, since there is no catalogue of "
                                   "gfx950 in " +
                                   empty.path.string()));
  library.write("manifests/gfx950/numerics.json", "{}");
  EXPECT_THAT(findIn(edited, library).byCatalog,
              testing::ElementsAre(HasSubstr(
                  "manifests/gfx950/numerics.json: /: expected the key")));
}
