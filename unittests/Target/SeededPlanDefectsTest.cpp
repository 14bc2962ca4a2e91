//===- SeededPlanDefectsTest.cpp - Defects of plans and reports -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SeededDefects.h"

using namespace netra;
using namespace netra::test;

namespace {

std::vector<Defect> plans() {
  return {
      {"None", [](Engine &e) { e.plans.clear(); },
       "expected at least one plan"},
      {"NameTwice", [](Engine &e) { e.plans.push_back(e.plans[0]); },
       "/plans/1/name"},
      {"NeverChosen",
       [](Engine &e) {
         e.plans.push_back(e.plans[0]);
         e.plans[1].name = e.plans[1].profile.name = "less";
         e.plans[1].profile.priority = 2;
         e.plans[1].profile.guards["batch"] = {2, 64};
       },
       "/decisions: expected guards that admit what no plan of a higher "
       "priority does, found that everything of less goes to decode"},
      {"NoGuards", [](Engine &e) { e.plans[0].profile.guards.clear(); },
       "expected at least one guard"},
      {"GuardForNothing",
       [](Engine &e) { e.plans[0].profile.guards["batch"] = {5, 4}; },
       "/plans/0/profile/guards/batch: expected a range that holds"},
      {"ArenaAlignment", [](Engine &e) { e.plans[0].arenaAlignment = 3; },
       "/arena/alignment"},
      {"ArenaLargerThanThePlanNeeds",
       [](TestEngine &t) {
         t.engine.plans[0].arenaBytes = 1 << 20;
         for (auto &[name, text] : deriveReports(t.engine, {}))
           t.files[name] = text;
       },
       "/plans/0/arena/bytes: expected 512, as the steps use 512 and the "
       "alignment is 256, found 1048576"},
      {"ArenaTooSmall", [](Engine &e) { e.plans[0].arenaBytes = 500; },
       "inside the 500 bytes of the arena"},
      {"BindingUnknown", [](Engine &e) { e.plans[0].bindings.push_back(9); },
       "/plans/0/bindings/3: expected a binding below 3"},
      {"BindingTwice", [](Engine &e) { e.plans[0].bindings.push_back(0); },
       "/plans/0/bindings/3: expected each binding once"},
      {"BindingNotOfThePlan", [](Engine &e) { e.plans[0].bindings = {1, 2}; },
       "/plans/0/steps/0/arguments/0/index: expected a binding of the plan"},
      {"NoSteps", [](Engine &e) { e.plans[0].steps.clear(); },
       "at least one step"},
      {"AfterItself", [](Engine &e) { step(e, 3).after = {3}; },
       "/steps/3/after/0"},
      {"AfterNoStep", [](Engine &e) { step(e, 3).after = {7}; },
       "/steps/3/after/0"},
      {"AfterOutOfOrder", [](Engine &e) { step(e, 2).after = {1, 0}; },
       "/steps/2/after/1"},
      {"ReadBeforeWritten", [](Engine &e) { step(e, 2).after = {0}; },
       "expected step 1 (second) before this one"},
      {"WrittenBeforeRead", [](Engine &e) { step(e, 3).after = {}; },
       "expected step 2 (middle) before this one"},
      {"WrittenAtTheSameTime",
       [](Engine &e) { step(e, 1).arguments[2].offset = 128; },
       "/steps/1/after: expected step 0 (first) before this one"},
      {"UsedBeforeItIsDefined",
       [](Engine &e) { step(e, 1).arguments[2].bytes = 128; },
       "byte 384 of the arena is not written"},
      {"StepsExchanged",
       [](Engine &e) {
         std::swap(step(e, 0), step(e, 2));
         step(e, 0).after = {};
         step(e, 2).after = {0, 1};
       },
       "/steps/0: expected earlier steps to write all of"},
      {"OutputNotWritten",
       [](Engine &e) { step(e, 3).arguments[2] = EngineSlot::null(); },
       "expected a step that writes output y, found none"},
      {"OutputPartlyWritten",
       [](Engine &e) { step(e, 3).arguments[2].bytes = 252; },
       "expected steps that write all of output y, found that byte 252 is not "
       "written"},
  };
}

std::vector<Defect> launches() {
  return {
      {"CodeObjectUnknown", [](Engine &e) { step(e, 0).codeObject = 4; },
       "/steps/0/code_object"},
      {"KernelUnknown", [](Engine &e) { step(e, 0).kernel = 4; },
       "/steps/0/kernel"},
      {"GridTooLarge", [](Engine &e) { step(e, 0).grid[0] = UINT32_MAX; },
       "/steps/0/grid: axis x: expected 1 to 67108863 work-groups"},
      {"GridNotOfTheContract", [](Engine &e) { step(e, 0).grid[0] = 2; },
       "/steps/0/grid/0: expected 1 as the contract says, found 2"},
      {"GridOfManyRows",
       [](Engine &e) { step(e, 0).grid[1] = Affine(0, {{"batch", 1024}}); },
       "/steps/0/grid: axis y: expected 1 to 65535 work-groups, found that "
       "1024 * batch is 65536 at batch = 64"},
      {"GridOfNoGuard",
       [](Engine &e) { step(e, 0).grid[0] = Affine(1, {{"sequence", 1}}); },
       "is more than 64 bits hold at sequence = any value"},
      {"GridFollowsByItself",
       [](Engine &e) { step(e, 0).grid[0] = Affine(0, {{"m", 1}}); },
       "/steps/0/grid/0: expected 1 as the contract says, found m"},
      {"ValueAboveTheGreatest",
       [](Engine &e) {
         step(e, 0).arguments[1].follows = Affine(0, {{"batch", 2}});
       },
       "/arguments/1/follows: expected 2 * batch to be at most 64 for m 1, "
       "batch 1..64, found 128"},
      {"ValueFollowsByItself",
       [](Engine &e) {
         step(e, 0).arguments[1].follows = Affine(0, {{"batch", 1}});
       },
       "/arguments/1/follows: expected one value for all launches as the "
       "contract says, found batch"},
      {"BlockTooLarge", [](Engine &e) { step(e, 0).block[1] = 2; },
       "/steps/0/block: expected at most 64 work-items, found 128"},
      {"BlockNotOfTheContract", [](Engine &e) { step(e, 0).block[0] = 32; },
       "/steps/0/block/0: expected 64 as the contract says, found 32"},
      {"LdsTooLarge", [](Engine &e) { step(e, 0).dynamicLds = 163840; },
       "/steps/0/dynamic_lds: expected at most"},
      {"LdsNotOfTheContract", [](Engine &e) { step(e, 0).dynamicLds = 64; },
       "/steps/0/dynamic_lds: expected 0 as the contract says, found 64"},
      {"Tactic", [](Engine &e) { step(e, 0).tactic = "gfx950.other"; },
       "validation.json: netra_copy_n64: tactic: expected gfx950.other"},
      {"ContractUnknown", [](Engine &e) { flip(step(e, 0).contract, 5); },
       "/plans/0/steps/0/contract: expected a contract of contracts.json"},
      {"TooFewArguments", [](Engine &e) { step(e, 0).arguments.pop_back(); },
       "/steps/0/arguments: expected 3 for netra_copy_n64, found 2"},
      {"NullForAValue",
       [](Engine &e) { step(e, 0).arguments[1] = EngineSlot::null(); },
       "/steps/0/arguments/1: expected a value"},
      {"ValueOfAnotherType",
       [](Engine &e) {
         step(e, 0).arguments[1] = EngineSlot::value(ElementType::F32, 0);
       },
       "/steps/0/arguments/1/type"},
      {"ValueTooLarge",
       [](Engine &e) { step(e, 0).arguments[1].bits = uint64_t(1) << 32; },
       "/steps/0/arguments/1/bits: expected a value of 4 bytes"},
      {"ValueNotOfTheContract",
       [](Engine &e) { step(e, 0).arguments[1].bits = 63; },
       "/plans/0/steps/0/arguments/1/bits: expected 64"},
      {"ValueForAPointer",
       [](Engine &e) {
         step(e, 0).arguments[0] = EngineSlot::value(ElementType::I32, 0);
       },
       "/steps/0/arguments/0: expected a pointer"},
      {"NullForAPointer",
       [](Engine &e) { step(e, 0).arguments[0] = EngineSlot::null(); },
       "the 256 bytes of x, found 0"},
      {"BindingUnknown", [](Engine &e) { step(e, 0).arguments[0].index = 8; },
       "/steps/0/arguments/0/index: expected a binding of the plan"},
      {"WeightUnknown", [](Engine &e) { step(e, 1).arguments[0].index = 8; },
       "/steps/1/arguments/0/index: expected a weight below 2"},
      {"WritesAnInput",
       [](Engine &e) {
         step(e, 3).arguments[2] = EngineSlot::binding(0, 0, 256);
       },
       "expected no writing to input x"},
      {"WritesAWeight",
       [](Engine &e) {
         step(e, 1).arguments[2] = EngineSlot::weight(0, 0, 256);
       },
       "expected no writing to weight w"},
      {"RangeTooLong", [](Engine &e) { step(e, 0).arguments[0].bytes = 257; },
       "inside the 256 bytes of binding x"},
      {"RangeTooShort", [](Engine &e) { step(e, 0).arguments[0].bytes = 128; },
       "/plans/0/steps/0/arguments/0/bytes: expected the 256 bytes of x, found "
       "128"},
      {"RangeOfMoreThanTheOperand",
       [](Engine &e) { step(e, 0).arguments[2].bytes = 512; },
       "/plans/0/steps/0/arguments/2/bytes: expected the 256 bytes of result, "
       "found 512"},
      {"OffsetOverflow",
       [](Engine &e) { step(e, 0).arguments[0].offset = UINT64_MAX; },
       "bytes of binding x"},
      {"OffsetInAWeight", [](Engine &e) { step(e, 1).arguments[0].offset = 4; },
       "inside the 256 bytes of weight w"},
      {"OffsetInTheArena",
       [](Engine &e) { step(e, 1).arguments[2].offset = 260; },
       "expected [260, +256) inside the 512 bytes of the arena"},
      {"Misaligned",
       [](Engine &e) {
         step(e, 0).arguments[0].offset = 2;
         step(e, 0).arguments[0].bytes = 100;
       },
       "expected a multiple of the size of i32, found 2"},
      {"PartlyInPlace",
       [](Engine &e) {
         step(e, 3).arguments[0] = EngineSlot::binding(1, 4, 252);
       },
       "found an overlap of x in binding y and result in binding y"},
  };
}

std::vector<Defect> fallbacks() {
  return {
      {"WithoutResult",
       [](Engine &e) { step(e, 2).outputs[0].slot = EngineSlot::null(); },
       "/steps/2/outputs/0/slot: expected memory"},
      {"ValueForMemory",
       [](Engine &e) {
         step(e, 2).inputs[0].slot = EngineSlot::value(ElementType::I32, 1);
       },
       "/steps/2/inputs/0/slot: expected memory"},
      {"ReadsTooFar", [](Engine &e) { step(e, 2).inputs[0].slot.offset = 400; },
       "/steps/2/inputs/0/slot/offset"},
      {"WritesAnInput",
       [](Engine &e) {
         step(e, 2).outputs[0].slot = EngineSlot::binding(0, 0, 256);
       },
       "expected no writing to input x"},
      {"WithoutOperation", [](Engine &e) { step(e, 2).operation.clear(); },
       "/plans/0/steps/2/operation: expected"},
      {"WithoutReason", [](Engine &e) { step(e, 2).reason.clear(); },
       "/plans/0/steps/2/reason: expected"},
      {"WithoutFamily",
       [](Json &j) { j["plans"][0]["steps"][2].erase("family"); },
       "/plans/0/steps/2: expected the key \"family\""},
      {"WithoutAttributes",
       [](Json &j) { j["plans"][0]["steps"][2].erase("attributes"); },
       "/plans/0/steps/2: expected the key \"attributes\""},
      {"AttributeOfNoKind",
       [](Json &j) {
         j["plans"][0]["steps"][2]["attributes"]["mode"] = Json::array();
       },
       "/plans/0/steps/2/attributes/mode: expected"},
      {"AttributeInDecimals",
       [](Json &j) { j["plans"][0]["steps"][2]["attributes"]["scale"] = 0.5; },
       "/plans/0/steps/2/attributes/scale: expected"},
      {"AttributeOfTooFewBits",
       [](Json &j) {
         j["plans"][0]["steps"][2]["attributes"]["scale"]["f64"] = "0x12";
       },
       "/plans/0/steps/2/attributes/scale: expected"},
      {"OperandWithoutName",
       [](Engine &e) { step(e, 2).inputs[1].name.clear(); },
       "/plans/0/steps/2/inputs/1/name: expected"},
      {"OperandNameTwice", [](Engine &e) { step(e, 2).inputs[1].name = "lhs"; },
       "/plans/0/steps/2/inputs/1/name: expected a name of its own"},
      {"OperandWithoutSlot",
       [](Json &j) { j["plans"][0]["steps"][2]["inputs"][0].erase("slot"); },
       "/plans/0/steps/2/inputs/0: expected the key \"slot\""},
      {"OperandOfNoType",
       [](Json &j) { j["plans"][0]["steps"][2]["inputs"][0]["type"] = "i7"; },
       "/plans/0/steps/2/inputs/0/type: expected"},
      {"OperandOfAnotherSize",
       [](Engine &e) { step(e, 2).inputs[0].shape = {32}; },
       "/plans/0/steps/2/inputs/0/slot/bytes: expected 128 for"},
      {"OperandOfAnotherType",
       [](Engine &e) { step(e, 2).inputs[2].type = ElementType::F32; },
       "/plans/0/steps/2/inputs/2/type: expected i32 as s holds, found f32"},
      {"OperandInAnotherLayout",
       [](Engine &e) {
         step(e, 2).inputs[0].slot = EngineSlot::weight(0, 0, 256);
         step(e, 2).inputs[0].shape = {8, 8};
         step(e, 2).inputs[0].layout = "group_major";
       },
       "/plans/0/steps/2/inputs/0/layout: expected row_major, in which w lies"},
      {"OperandInNoLayout",
       [](Engine &e) { step(e, 2).inputs[0].layout = "upside_down"; },
       "/plans/0/steps/2/inputs/0/layout"},
      {"OperandMisaligned",
       [](Engine &e) {
         step(e, 2).inputs[0].shape = {32};
         step(e, 2).inputs[0].slot = EngineSlot::arena(2, 128);
       },
       "/plans/0/steps/2/inputs/0/slot/offset: expected a multiple of"},
      {"UpdatesNothing", [](Engine &e) { step(e, 2).outputs[0].updates = 3; },
       "/plans/0/steps/2/outputs/0/updates: expected an input below 3"},
      {"UpdatesOtherMemory",
       [](Engine &e) { step(e, 2).outputs[0].updates = 0; },
       "/plans/0/steps/2/outputs/0: expected the type, layout and memory of "
       "lhs, which it updates"},
      {"InputUpdates", [](Engine &e) { step(e, 2).inputs[0].updates = 1; },
       "/plans/0/steps/2/inputs/0/updates: expected that only outputs update"},
      {"UpdatesTwice",
       [](Engine &e) {
         step(e, 2).outputs.push_back(step(e, 2).outputs[0]);
         step(e, 2).outputs[1].name = "again";
       },
       "/plans/0/steps/2/outputs/1/updates: expected each input once"},
      {"UpdatesWithoutSayingSo",
       [](Engine &e) { step(e, 2).outputs[0].updates.reset(); },
       "/plans/0/steps/2: expected arguments that are apart where one is "
       "written, found an overlap of input state in binding s and output "
       "result in binding s"},
  };
}

std::vector<Defect> decisions() {
  return {
      {"Missing", [](Json &j) { j.erase("decisions"); },
       "expected the key \"decisions\""},
      {"Ambiguous",
       [](Engine &e) {
         e.plans.push_back(e.plans[0]);
         e.plans[1].name = e.plans[1].profile.name = "other";
         e.plans[1].profile.guards = {{"m", {1, 4}}, {"batch", {64, 70}}};
       },
       "/decisions: expected one plan for each serving point, found that "
       "decode and other, both of priority 3, admit m=1, batch=64"},
      {"PlanNotInTheTable",
       [](Engine &e) {
         e.plans.push_back(e.plans[0]);
         e.plans[1].name = e.plans[1].profile.name = "other";
         e.plans[1].profile.guards["m"] = {2, 2};
       },
       "/decisions/nodes/0: expected m 0:refuse 1:node 2 2:node 1 3:refuse"},
      {"DomainNotServed",
       [](Engine &e) { e.domain = {{{"m", {1, 1}}, {"batch", {1, 65}}}}; },
       "/decisions: expected a plan for all of the domain (m 1, batch 1..65), "
       "found none that admits m=1, batch=65"},
      {"DomainOfNothingKnown",
       [](Json &j) { j["decisions"]["domain"][0]["rows"] = {1, 1}; },
       "/decisions/domain/0/rows: expected one of the guards"},
      {"OtherwiseLaunch",
       [](Json &j) { j["decisions"]["otherwise"] = "launch"; },
       "/decisions/otherwise: expected"},
      {"CutMoved", [](Engine &e) { e.decisions.nodes[1].cases[2].from = 66; },
       "/decisions/nodes/1: expected batch 0:refuse 1:plan 0 65:refuse as the "
       "guards say, found batch 0:refuse 1:plan 0 66:refuse"},
      {"CaseForgotten",
       [](Engine &e) { e.decisions.nodes[1].cases.pop_back(); },
       "/decisions/nodes/1: expected batch"},
      {"NodeForgotten", [](Engine &e) { e.decisions.nodes.pop_back(); },
       "/decisions/nodes/1: expected 2 nodes as the guards say, found 1"},
      {"NodeTooMany",
       [](Engine &e) { e.decisions.nodes.push_back(e.decisions.nodes[1]); },
       "/decisions/nodes/2: expected 2 nodes as the guards say, found 3"},
      {"OtherDimension", [](Engine &e) { e.decisions.nodes[1].dimension = 2; },
       "/decisions/nodes/1: expected batch"},
      {"DimensionUnknown",
       [](Json &j) { j["decisions"]["nodes"][0]["dimension"] = "rows"; },
       "/decisions/nodes/0/dimension: expected"},
      {"OutcomeUnknown",
       [](Json &j) {
         j["decisions"]["nodes"][0]["cases"][0]["take"] = "guess";
       },
       "/decisions/nodes/0/cases/0/take: expected"},
      {"RefusalWithAnIndex",
       [](Json &j) { j["decisions"]["nodes"][0]["cases"][0]["index"] = 0; },
       "the unknown key \"index\""},
  };
}

std::vector<Defect> contracts() {
  return {
      {"Missing", [](TestEngine &t) { t.files.erase("contracts.json"); },
       "contracts.json: expected the contracts of the launches"},
      {"NoObject", [](TestEngine &t) { t.files["contracts.json"] = "[]"; },
       "contracts.json: /: expected an object"},
      {"Altered",
       [](TestEngine &t) {
         std::string &text = t.files["contracts.json"];
         size_t at = text.find("\"wave_size\": 64");
         ASSERT_NE(at, std::string::npos);
         text.replace(at, 15, "\"wave_size\": 32");
       },
       "contracts.json: expected id nk_"},
      {"WaveSize", editContract([](Json &c) { c["wave_size"] = 32; }),
       "/contract (wave size): expected 32 as the contract says, found 64"},
      {"Target", editContract([](Json &c) { c["target"] = "gfx942"; }),
       "/plans/0/steps/0/contract: expected a contract for gfx950, found one "
       "for gfx942"},
      {"Grid", editContract([](Json &c) { c["grid"] = {2, 1, 1}; }),
       "/steps/0/grid/0: expected 2 as the contract says, found 1"},
      {"OtherGuards", editContract([](Json &c) {
         c["problem"]["guards"] = {{"batch", {2, 64}}};
         c["problem"]["varying"]["N"] = {{"constant", 0}, {"batch", 1}};
       }),
       "/steps/0/contract: expected a contract for all that plan decode admits "
       "(m 1, batch 1..64), found one for batch 2..64"},
      {"KernargBytes", editContract([](Json &c) { c["kernarg_bytes"] = 32; }),
       "/kernel (kernarg bytes): expected 32 as the contract says, found 24"},
      {"StaticLds", editContract([](Json &c) { c["static_lds"] = 512; }),
       "/kernel (static LDS): expected 512 as the contract says, found 256"},
      {"NumberOfArguments",
       editContract([](Json &c) { c["arguments"].erase(2); }),
       "/kernel (arguments): expected 2 as the contract says, found 3"},
      {"ArgumentAccess",
       editContract([](Json &c) { c["arguments"][0]["access"] = "readwrite"; }),
       "expected argument x as the contract describes it"},
      {"LargerOperand", editContract([](Json &c) {
         for (Json &operand : c["problem"]["operands"])
           operand["shape"] = {128};
       }),
       "expected the 512 bytes of x, found 256"},
      {"OtherLayout",
       [](TestEngine &t) {
         t.engine.bindings[0].shape = {8, 8};
         editContract([](Json &c) {
           for (Json &operand : c["problem"]["operands"]) {
             operand["shape"] = {8, 8};
             operand["layout"] = "group_major";
           }
         })(t);
       },
       "/plans/0/steps/0/arguments/0: expected layout group_major of x as the "
       "contract says, found that x has layout row_major"},
  };
}

std::vector<Defect> reports() {
  return {
      {"MemoryPlan",
       editReport("memory_plan.json",
                  [](Json &r) { r["plans"][0]["arena_bytes"] = 256; }),
       "expected '\"arena_bytes\": 512,' as engine.json gives, found "
       "'\"arena_bytes\": 256,'"},
      {"LayoutPlan",
       editReport("layout_plan.json",
                  [](Json &r) { r["bindings"][0]["layout"] = "n16k16"; }),
       "expected '\"layout\": \"row_major\",' as engine.json gives, found "
       "'\"layout\": \"n16k16\",'"},
      {"GraphRecipe",
       editReport("graph_recipe.json",
                  [](Json &r) { r["plans"][0]["nodes"][3]["after"] = {0}; }),
       "graph_recipe.json: line "},
      {"GraphRecipeOfAnotherContract",
       [](TestEngine &t) {
         t.engine.plans[0].steps.erase(t.engine.plans[0].steps.begin() + 2);
         step(t, 2).after = {};
         step(t, 2).arguments[0] = EngineSlot::binding(0, 0, 256);
         for (auto &[name, text] : deriveReports(t.engine, {}))
           t.files[name] = text;
         editContract([](Json &c) { c["graph_capture"] = false; })(t);
       },
       "expected '\"capturable\": false,' as engine.json gives, found "
       "'\"capturable\": true,'"},
      {"ValidationFormat",
       editReport("validation.json",
                  [](Json &r) { r["format"] = "netra.validation/9"; }),
       "validation.json: /format: expected"},
      {"ValidationNoJson",
       [](TestEngine &t) { t.files["validation.json"] = "{"; },
       "validation.json: expected JSON"},
      {"ValidationOnADevice",
       editReport("validation.json", [](Json &r) { r["device"] = "passed"; }),
       "validation.json: /device: expected"},
      {"ValidationWithoutAKernel",
       editReport("validation.json",
                  [](Json &r) { r["kernels"] = Json::array(); }),
       "validation.json: expected an entry of kernel netra_copy_n64"},
      {"ValidationOfAnotherKernel",
       editReport("validation.json",
                  [](Json &r) {
                    r["kernels"].push_back(r["kernels"][0]);
                    r["kernels"][1]["symbol"] = "other";
                  }),
       "validation.json: expected kernels of the engine with their contracts, "
       "found other with nk_"},
      {"ValidationOfOtherCode",
       editReport("validation.json",
                  [](Json &r) {
                    r["kernels"][0]["identity_sha256"] = std::string(64, '0');
                  }),
       "validation.json: netra_copy_n64: identity_sha256: expected"},
      {"ValidationOfAnotherContract",
       editReport("validation.json",
                  [](Json &r) { r["kernels"][0]["contract"] = "nk_0"; }),
       "with their contracts, found netra_copy_n64 with nk_0"},
      {"ExplanationNoJson",
       [](TestEngine &t) { t.files["explain.json"] = "garbage"; },
       "explain.json: expected JSON"},
      {"ExplanationEmpty",
       [](TestEngine &t) { t.files["explain.json"] = "{}\n"; },
       "explain.json: selection: expected what it was allowed and from what it "
       "chose, found none"},
      {"ExplanationOfAnotherStep",
       editReport("explain.json",
                  [](Json &r) { r["plans"][0]["steps"][0]["name"] = "zzz"; }),
       "expected '\"name\": \"first\",' as engine.json gives, found "
       "'\"name\": \"zzz\",'"},
      {"ExplanationOfAnotherTactic",
       editReport("explain.json",
                  [](Json &r) {
                    for (Json &kernels : r["kernels"])
                      kernels["netra_copy_n64"]["tactic"] = "gfx950.paste";
                  }),
       "as engine.json gives, found '\"tactic\": \"gfx950.paste\"'"},
      {"ExplanationWithoutKernels",
       editReport("explain.json",
                  [](Json &r) { r["kernels"] = Json::object(); }),
       "explain.json: netra_copy_n64: reason: expected a text, found none"},
      {"ExplanationOfMoreKernels",
       editReport("explain.json",
                  [](Json &r) { r["kernels"]["nk_0"]["x"] = Json::object(); }),
       "explain.json: line "},
      {"ExplanationOfAKernelWithMore",
       editReport("explain.json",
                  [](Json &r) {
                    for (Json &kernels : r["kernels"])
                      kernels["netra_copy_n64"]["why"] = "so";
                  }),
       "explain.json: netra_copy_n64: expected what selection says of a "
       "kernel, found the key \"why\""},
      {"ExplanationWithoutMisses",
       editReport("explain.json",
                  [](Json &r) {
                    for (Json &kernels : r["kernels"])
                      kernels["netra_copy_n64"].erase("nearest_misses");
                  }),
       "netra_copy_n64: nearest_misses: expected a list, found none"},
      {"ExplanationWithMore",
       editReport("explain.json", [](Json &r) { r["more"] = 1; }),
       "explain.json: line "},
      {"ValidationOfAnotherMaturity",
       editReport("validation.json",
                  [](Json &r) { r["kernels"][0]["maturity"] = "accepted"; }),
       "netra_copy_n64: maturity: expected verified, found accepted"},
      {"ValidationOfNoEvidence",
       editReport("validation.json",
                  [](Json &r) { r["kernels"][0]["evidence"] = "much"; }),
       "netra_copy_n64: evidence: expected a list"},
      {"ValidationOfUnknownEvidence",
       editReport(
           "validation.json",
           [](Json &r) { r["kernels"][0]["evidence"][0]["kind"] = "hearsay"; }),
       "netra_copy_n64: evidence: expected a list"},
      {"ValidationNotAssembled",
       editReport("validation.json",
                  [](Json &r) { r["kernels"][0]["assembled"] = "failed"; }),
       "netra_copy_n64: assembled: expected passed, found failed"},
      {"ValidationOfOtherSources",
       editReport("validation.json",
                  [](Json &r) {
                    r["kernels"][0]["source_closure_sha256"] =
                        std::string(64, '0');
                  }),
       "netra_copy_n64: source_closure_sha256: expected"},
      {"ValidationOfAnotherSource",
       editReport("validation.json",
                  [](Json &r) {
                    r["kernels"][0]["source_sha256"] = std::string(64, '0');
                  }),
       "netra_copy_n64: source_sha256: expected"},
      {"ValidationOfAGolden",
       editReport("validation.json",
                  [](Json &r) {
                    r["kernels"][0]["golden_sha256"] = std::string(64, '0');
                  }),
       "netra_copy_n64: golden_sha256: expected only what is checked of a "
       "template"},
      {"ValidationInconsistent",
       editReport("validation.json",
                  [](Json &r) { r["engine_is_consistent"] = "failed"; }),
       "validation.json: /engine_is_consistent: expected"},
      {"ValidationTwice",
       editReport("validation.json",
                  [](Json &r) { r["kernels"].push_back(r["kernels"][0]); }),
       "validation.json: expected one entry for each kernel, found two of "
       "netra_copy_n64 with nk_"},
      {"ValidationWithMore",
       editReport("validation.json", [](Json &r) { r["more"] = 1; }),
       "validation.json: /more: expected only the keys"},
      {"ValidationWithoutAName",
       editReport("validation.json",
                  [](Json &r) { r["kernels"][0]["symbol"] = 5; }),
       "validation.json: /kernels/0/symbol: expected a string"},
      {"ValidationFailed",
       editReport("validation.json",
                  [](Json &r) {
                    r["kernels"][0]["metadata_matches_contract"] = "failed";
                  }),
       "netra_copy_n64: metadata_matches_contract: expected passed, found "
       "failed"},
  };
}

class PlanDefect : public SeededDefect {};

} // namespace

TEST_P(PlanDefect, IsFound) { check(); }

NETRA_SEED(PlanDefect, Plan, plans);
NETRA_SEED(PlanDefect, Launch, launches);
NETRA_SEED(PlanDefect, Fallback, fallbacks);
NETRA_SEED(PlanDefect, Decision, decisions);
NETRA_SEED(PlanDefect, Contract, contracts);
NETRA_SEED(PlanDefect, Report, reports);
