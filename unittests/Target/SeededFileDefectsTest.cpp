//===- SeededFileDefectsTest.cpp - Defects of files and descriptions ------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "SeededDefects.h"

using namespace netra;
using namespace netra::test;
namespace fs = std::filesystem;

namespace {

std::vector<Defect> filesOnDisk() {
  return {
      {"FolderEmpty",
       [](Disk &d) {
         fs::remove_all(d.at(""));
         fs::create_directory(d.at(""));
       },
       "engine.json: expected a readable file"},
      {"EngineMissing", [](Disk &d) { fs::remove(d.at("engine.json")); },
       "engine.json: expected a readable file"},
      {"EngineEmpty", [](Disk &d) { d.write("engine.json", ""); },
       "engine.json: expected JSON"},
      {"EngineTruncated",
       [](Disk &d) {
         d.write("engine.json", d.read("engine.json").substr(0, 1000));
       },
       "engine.json: expected JSON"},
      {"EngineIsAFolder",
       [](Disk &d) {
         fs::remove(d.at("engine.json"));
         fs::create_directory(d.at("engine.json"));
       },
       "engine.json: expected a readable file, found: a folder"},
      {"ReportIsAPipe",
       [](Disk &d) {
         fs::remove(d.at("explain.json"));
         ASSERT_EQ(mkfifo(d.at("explain.json").c_str(), 0600), 0);
       },
       "explain.json: expected a readable file, found: a device, pipe or "
       "socket"},
      {"EngineWithAnotherEnd",
       [](Disk &d) { d.write("engine.json", d.read("engine.json") + "\n"); },
       "canonical spelling"},
      {"EngineWithAnotherName",
       [](Disk &d) {
         std::string text = d.read("engine.json");
         size_t at = text.find("\"name\": \"copy\"");
         ASSERT_NE(at, std::string::npos);
         d.write("engine.json", text.replace(at, 14, "\"name\": \"cope\""));
       },
       "/id: expected ne_"},
      {"ContractsMissing", [](Disk &d) { fs::remove(d.at("contracts.json")); },
       "contracts.json: expected a readable file"},
      {"ContractsTruncated",
       [](Disk &d) { fs::resize_file(d.at("contracts.json"), 100); },
       "contracts.json: expected "},
      {"SourceAltered",
       [](Disk &d) {
         std::string text = d.read("source/netra_copy_n64.s");
         text[10] ^= 1;
         d.write("source/netra_copy_n64.s", text);
       },
       "source/netra_copy_n64.s: expected SHA-256"},
      {"ReportLonger",
       [](Disk &d) {
         d.write("memory_plan.json", d.read("memory_plan.json") + " ");
       },
       "memory_plan.json: expected "},
      {"CodeFolderMissing", [](Disk &d) { fs::remove_all(d.at("code")); },
       ".hsaco: expected a readable file"},
      {"FileBesides", [](Disk &d) { d.write("code/more.hsaco", "x"); },
       "code/more.hsaco: expected only files that engine.json lists"},
      {"FolderBesides",
       [](Disk &d) { fs::create_directory(d.at("code/more")); },
       "code/more: expected only folders with files that engine.json lists"},
      {"LinkBesides",
       [](Disk &d) { fs::create_symlink("engine.json", d.at("link")); },
       "link: expected only files that engine.json lists"},
      {"FileReplacedByALink",
       [](Disk &d) {
         d.folder.write("outside.json", d.read("contracts.json"));
         fs::remove(d.at("contracts.json"));
         fs::create_symlink(d.folder.path / "outside.json",
                            d.at("contracts.json"));
       },
       "contracts.json: expected a readable file, found: a link"},
  };
}

std::vector<Defect> engineJson() {
  return {
      {"FormatOfTheFuture", [](Json &j) { j["format"] = "netra.engine/2"; },
       "/format: expected one of \"netra.engine/1\""},
      {"KeyMissing", [](Json &j) { j["plans"][0].erase("arena"); },
       "/plans/0: expected the key \"arena\", found none"},
      {"KeyUnknown", [](Json &j) { j["bindings"][0]["stride"] = 4; },
       "/bindings/0/stride: expected only the keys"},
      {"TextForANumber",
       [](Json &j) { j["plans"][0]["arena"]["bytes"] = "512"; },
       "/plans/0/arena/bytes: expected"},
      {"NegativeSize", [](Json &j) { j["weights"]["bytes"] = -1; },
       "/weights/bytes: expected"},
      {"FractionalOffset",
       [](Json &j) { j["weights"]["entries"][0]["offset"] = 256.5; },
       "/weights/entries/0/offset: expected"},
      {"NameEmpty", [](Json &j) { j["name"] = ""; }, "/name: expected"},
      {"NameWithNul",
       [](Json &j) { j["plans"][0]["steps"][0]["name"] = std::string(1, 0); },
       "/plans/0/steps/0/name: expected a string that is not empty and has no "
       "control characters"},
      {"NameForTerminals",
       [](Json &j) { j["bindings"][0]["name"] = "\x1b[31m"; },
       "/bindings/0/name: expected a string"},
      {"NameWithAHiddenControlCharacter",
       [](Json &j) {
         j["bindings"][0]["name"] = "a\xc2\x9b"
                                    "1m";
       },
       "/bindings/0/name: expected a string"},
      {"RoleUnknown", [](Json &j) { j["bindings"][0]["role"] = "both"; },
       "/bindings/0/role: expected one of"},
      {"TypeUnknown", [](Json &j) { j["bindings"][0]["type"] = "i4"; },
       "/bindings/0/type: expected one of"},
      {"StepKindUnknown",
       [](Json &j) { j["plans"][0]["steps"][0]["kind"] = "copy"; },
       "/plans/0/steps/0/kind: expected one of"},
      {"SlotKindUnknown",
       [](Json &j) {
         j["plans"][0]["steps"][0]["arguments"][0]["kind"] = "stack";
       },
       "/plans/0/steps/0/arguments/0/kind: expected one of"},
      {"HashTooShort", [](Json &j) { j["files"][0]["sha256"] = "00"; },
       "/files/0/sha256: expected"},
      {"ContractIdMalformed",
       [](Json &j) { j["plans"][0]["steps"][0]["contract"] = "nk_XYZ"; },
       "/plans/0/steps/0/contract: expected"},
      {"GridZero", [](Json &j) { j["plans"][0]["steps"][0]["grid"][1] = 0; },
       "/plans/0/steps/0/grid/1"},
      {"GridOfTwo", [](Json &j) { j["plans"][0]["steps"][0]["grid"].erase(2); },
       "/plans/0/steps/0/grid: expected"},
      {"GuardUnknown",
       [](Json &j) { j["plans"][0]["profile"]["guards"]["heads"] = {1, 1}; },
       "/plans/0/profile/guards/heads"},
      {"GuardOfOne",
       [](Json &j) { j["plans"][0]["profile"]["guards"]["m"] = {1}; },
       "/plans/0/profile/guards/m: expected"},
      {"StepOfThePackUnknown",
       [](Json &j) {
         j["weights"]["entries"][0]["pack"]["steps"].push_back({{"rotate", 1}});
       },
       "/weights/entries/0/pack/steps/0"},
  };
}

/// An engine that locks its code and is damaged besides.
auto lockedAnd(std::function<void(TestEngine &)> damage) {
  return [=](TestEngine &test) {
    lockCode(test);
    damage(test);
  };
}

std::vector<Defect> lockedCode() {
  return {
      {"OutsideOfAnyFolder", lockedAnd([](TestEngine &t) {
         t.engine.codeObjects[0].path = "../x.hsaco";
       }),
       "/code_objects/0/locked/file: expected a relative path without \"..\", "
       "found \"../x.hsaco\""},
      {"OfAnotherFile", lockedAnd([](TestEngine &t) {
         t.engine.codeObjects[0].path = "x.hsaco";
       }),
       "netra_copy_n64: golden_file: expected x.hsaco, found "
       "theirs/copy.hsaco"},
      {"OfAnotherHash", lockedAnd([](TestEngine &t) {
         flip(t.engine.codeObjects[0].sha256, 0);
       }),
       "netra_copy_n64: golden_sha256: expected"},
      {"OfATemplate",
       lockedAnd(editReport("explain.json",
                            [](Json &r) {
                              for (Json &kernels : r["kernels"])
                                kernels["netra_copy_n64"]["code"] = "template";
                            })),
       "netra_copy_n64: expected golden code, since engine.json only locks it"},
      {"OfNoIdentity",
       lockedAnd(editReport(
           "validation.json",
           [](Json &r) { r["kernels"][0]["identity_sha256"] = "none"; })),
       "netra_copy_n64: identity_sha256: expected a SHA-256, found none"},
      {"HeldBesides", lockedAnd([](TestEngine &t) {
         t.files[t.engine.codeObjects[0].path] = "x";
       }),
       "theirs/copy.hsaco: expected a file that an engine is made of"},
      {"WithAPath",
       [](Json &j) {
         j["code_objects"][0]["locked"] = {{"file", "x"}, {"bytes", 1}};
       },
       "/code_objects/0/path: expected only the keys"},
      {"WithoutBytes",
       [](Json &j) {
         j["code_objects"][0].erase("path");
         j["code_objects"][0]["locked"] = {{"file", "x"}, {"bytes", 0}};
       },
       "/code_objects/0/locked/bytes: expected an integer of at least 1"},
  };
}

std::vector<Defect> targetAndFiles() {
  return {
      {"Architecture", [](Engine &e) { e.architecture = "gfx9"; },
       "/target/architecture"},
      {"WaveSize", [](Engine &e) { e.waveSize = 32; }, "/target/wave_size"},
      {"CodeObjectVersion", [](Engine &e) { e.codeObjectVersion = 4; },
       "/target/code_object_version"},
      {"PathOutside", [](Engine &e) { e.files[0].path = "../x"; },
       "/files/0/path: expected a relative path"},
      {"PathOfTheEngineItself",
       [](Engine &e) { e.files[0].path = "engine.json"; },
       "/files/0/path: expected a relative path"},
      {"FilesOutOfOrder", [](Engine &e) { std::swap(e.files[0], e.files[1]); },
       "ascending order"},
      {"FileTwice",
       [](Engine &e) { e.files.insert(e.files.begin(), e.files[0]); },
       "ascending order"},
      {"FileSize", [](Engine &e) { ++e.files[0].bytes; }, ".hsaco: expected "},
      {"FileHash", [](Engine &e) { flip(e.files[1].sha256, 0); },
       "contracts.json: expected SHA-256"},
      {"FileWithoutPurpose",
       [](TestEngine &t) { t.files["notes.txt"] = "mine"; },
       "notes.txt: expected a file that an engine is made of"},
      {"ModuleMissing", [](TestEngine &t) { t.files.erase("engine.mlir"); },
       "engine.mlir: expected it among the files of engine.json, found none"},
      {"ReportMissing",
       [](TestEngine &t) { t.files.erase("memory_plan.json"); },
       "memory_plan.json: expected it among the files of engine.json"},
      {"SourceMissing",
       [](TestEngine &t) { t.files.erase("source/netra_copy_n64.s"); },
       "source/netra_copy_n64.s: expected the source of kernel "
       "netra_copy_n64"},
      {"IncludeMissing",
       [](TestEngine &t) { t.files.erase("source/include/frame.inc"); },
       "source/netra_copy_n64.s: include \"include/frame.inc\": expected a "
       "file"},
      {"IncludeEmpty",
       [](TestEngine &t) { t.files.at("source/include/frame.inc").clear(); },
       "netra_copy_n64: source_closure_sha256: expected"},
      {"TemplateAltered",
       [](TestEngine &t) { t.files.at("source/test/copy.s") += "// more\n"; },
       "netra_copy_n64: source_closure_sha256: expected"},
      {"SourceEmpty",
       [](TestEngine &t) { t.files.at("source/netra_copy_n64.s").clear(); },
       "netra_copy_n64: source_closure_sha256: expected"},
      {"SourceAltered",
       [](TestEngine &t) {
         t.files.at("source/netra_copy_n64.s") += "// more\n";
       },
       "netra_copy_n64: source_sha256: expected"},
      {"SourceBesides",
       [](TestEngine &t) { t.files["source/more.s"] = "s_endpgm\n"; },
       "source/more.s: expected sources that a kernel is made of"},
      {"CodeWithoutDescription",
       [](TestEngine &t) {
         t.files["code/more.hsaco"] = t.files.at(t.engine.codeObjects[0].path);
       },
       "code/more.hsaco: expected a file that an engine is made of or a code "
       "object that engine.json describes"},
      {"Id",
       [](Json &j) {
         std::string id = j["id"];
         flip(id, 5);
         j["id"] = id;
       },
       "/id: expected ne_"},
  };
}

std::vector<Defect> codeObjects() {
  return {
      {"NameTwice",
       [](Engine &e) { e.codeObjects.push_back(e.codeObjects[0]); },
       "/code_objects/1/name"},
      {"PathWithTwoHashes",
       [](Engine &e) {
         e.codeObjects.push_back(e.codeObjects[0]);
         flip(e.codeObjects[1].sha256, 0);
       },
       "/code_objects/1/path: expected one hash for one file"},
      {"PathNotListed",
       [](Engine &e) { e.codeObjects[0].path = "code/x.hsaco"; },
       "/code_objects/0/path: expected one of the files"},
      {"PathNotThatOfTheText",
       [](TestEngine &t) {
         std::string &path = t.engine.codeObjects[0].path;
         t.files["code/x.hsaco"] = t.files.at(path);
         t.files.erase(path);
         path = "code/x.hsaco";
       },
       "after the hash of .text, found \"code/x.hsaco\""},
      {"CodeInTwoFiles",
       [](TestEngine &t) {
         // As if the kernel for 128 had been assembled on its own.
         TestLibrary library;
         AssembledKernel other =
             llvm::cantFail(library.assembler().assemble(copyInstance(128)));
         Engine &e = t.engine;
         ASSERT_EQ(other.object.textSha256, e.codeObjects[0].textSha256);
         EngineCodeObject object = e.codeObjects[0];
         object.name = "k1";
         object.sha256 = other.object.sha256;
         object.path = object.path.substr(0, object.path.size() - 6) + "-" +
                       object.sha256.substr(0, 16) + ".hsaco";
         object.kernels[0].symbol = "netra_copy_n128";
         t.files[object.path] =
             std::string(other.object.bytes.begin(), other.object.bytes.end());
         t.files["source/netra_copy_n128.s"] = other.source;
         e.codeObjects.push_back(object);
       },
       "/code_objects/1/path: expected code/"},
      {"CodeWithAKernelThatNobodyDescribes",
       [](TestEngine &t) {
         TestLibrary library;
         AssembledKernel both =
             llvm::cantFail(library.assembler().assembleGroup(
                 {copyInstance(64), copyInstance(128)}));
         setCode(
             t, std::string(both.object.bytes.begin(), both.object.bytes.end()),
             both.object.textSha256);
       },
       ".hsaco: expected only kernels that engine.json describes, found "
       "netra_copy_n128"},
      {"Sha256", [](Engine &e) { flip(e.codeObjects[0].sha256, 0); },
       "/code_objects/0/sha256"},
      {"TextSha256", [](Engine &e) { flip(e.codeObjects[0].textSha256, 0); },
       "/code_objects/0/text_sha256"},
      {"NoKernels", [](Engine &e) { e.codeObjects[0].kernels.clear(); },
       "expected at least one kernel"},
      {"SymbolTwice",
       [](Engine &e) { e.codeObjects[0].kernels.push_back(kernel(e)); },
       "/code_objects/0/kernels/1/symbol"},
      {"SymbolUnknown", [](Engine &e) { kernel(e).symbol = "x"; },
       "/kernels/0/symbol: expected a kernel of the code object"},
      {"KernargBytes", [](Engine &e) { kernel(e).kernargBytes = 32; },
       "/kernarg_bytes"},
      {"KernargBytesTooFew", [](Engine &e) { kernel(e).kernargBytes = 16; },
       "arguments/2/offset: expected it inside the 16 bytes"},
      {"StaticLds", [](Engine &e) { kernel(e).staticLds = 128; },
       "/static_lds"},
      {"StaticLdsTooLarge", [](Engine &e) { kernel(e).staticLds = 200000; },
       "/static_lds: expected at most"},
      {"Vgprs", [](Engine &e) { kernel(e).vgprs = 3; }, "/vgprs"},
      {"Agprs", [](Engine &e) { kernel(e).agprs = 3; }, "/agprs"},
      {"Sgprs", [](Engine &e) { kernel(e).sgprs = 3; }, "/sgprs"},
      {"MaxWorkgroup", [](Engine &e) { kernel(e).maxWorkgroup = 128; },
       "/max_workgroup"},
      {"ArgumentMissing", [](Engine &e) { kernel(e).arguments.pop_back(); },
       "3 arguments"},
      {"ArgumentNameTwice",
       [](Engine &e) { kernel(e).arguments[1].name = "x"; },
       "arguments/1/name: expected each name once"},
      {"ArgumentName", [](Engine &e) { kernel(e).arguments[0].name = "a"; },
       "/arguments/0/name: expected x as the code object says"},
      {"ArgumentOffset",
       [](Engine &e) {
         kernel(e).arguments[2].offset = 24;
         kernel(e).kernargBytes = 32;
       },
       "/arguments/2/offset: expected 16 as the code object says"},
      {"ArgumentMisaligned",
       [](Engine &e) { kernel(e).arguments[2].offset = 12; },
       "arguments/2/offset: expected a multiple of 8"},
      {"ArgumentsOverlap", [](Engine &e) { kernel(e).arguments[2].offset = 8; },
       "arguments/2/offset: expected at least 12"},
      {"ArgumentBytes", [](Engine &e) { kernel(e).arguments[0].bytes = 4; },
       "arguments/0/bytes: expected 8, found 4"},
      {"ArgumentKind",
       [](Engine &e) { kernel(e).arguments[0].kind = ArgumentKind::Value; },
       "/arguments/0/kind: expected pointer as the code object says"},
      {"PointerWithoutAccess",
       [](Engine &e) { kernel(e).arguments[0].access = Access::Value; },
       "arguments/0/access: expected read, write or readwrite"},
      {"ValueWithAccess",
       [](Engine &e) { kernel(e).arguments[1].access = Access::Read; },
       "arguments/1/access"},
      {"ArgumentAccess",
       [](Engine &e) { kernel(e).arguments[2].access = Access::ReadWrite; },
       "/arguments/2/access: expected write as the code object says"},
      {"ArgumentType",
       [](Engine &e) { kernel(e).arguments[0].type = ElementType::U32; },
       "expected argument x as the contract describes it"},
      {"NoCodeObject",
       [](TestEngine &t) {
         setCode(t, "no code object", t.engine.codeObjects[0].textSha256);
       },
       "expected an ELF file"},
      {"CodeObjectTruncated",
       [](TestEngine &t) {
         const EngineCodeObject &object = t.engine.codeObjects[0];
         std::string bytes = t.files.at(object.path);
         setCode(t, bytes.substr(0, bytes.size() / 2), object.textSha256);
       },
       ".hsaco: code object: "},
      {"CodeForAnotherTarget", patchCode("hsa--gfx950", "hsa--gfx942"),
       "expected the ELF flags of gfx942, the target of the metadata, found "
       "those of gfx950"},
      {"CodeOfAnotherVersion",
       [](TestEngine &t) {
         const EngineCodeObject &object = t.engine.codeObjects[0];
         std::string bytes = t.files.at(object.path);
         bytes[8] = 4; // the ABI version of code object version 6
         setCode(t, bytes, object.textSha256);
       },
       "expected code object version 5, found 6"},
      {"CodeWithOtherInstructions",
       recode("  s_waitcnt vmcnt(0)\n", "  s_nop 0\n  s_waitcnt vmcnt(0)\n"),
       "validation.json: netra_copy_n64: text_sha256: expected"},
      {"CodeForWavesOf32", recode(".wavefront_size: 64", ".wavefront_size: 32"),
       "/kernels/0: expected wave size (metadata) 64"},
      {"CodeWithPrivateMemory",
       recode("amdhsa_private_segment_fixed_size 0",
              "amdhsa_private_segment_fixed_size 64"),
       "/kernels/0: expected private bytes (descriptor) 0, found that the code "
       "object says 64"},
      {"CodeWithPrivateMemoryInItsMetadata",
       recode(".private_segment_fixed_size: 0",
              ".private_segment_fixed_size: 64"),
       "/kernels/0: expected private bytes (metadata) 0"},
      {"CodeWithOtherLds",
       recode("amdhsa_group_segment_fixed_size NETRA_STATIC_LDS",
              "amdhsa_group_segment_fixed_size 512"),
       "/static_lds: expected 512 as the code object says, found 256"},
      {"CodeWithOtherArguments",
       recode("amdhsa_kernarg_size NETRA_KERNARG_BYTES",
              "amdhsa_kernarg_size 16"),
       "/kernels/0: expected kernarg bytes (descriptor) 24, found that the "
       "code object says 16"},
      {"CodeWithTooFewRegisters", recode(".vgpr_count: 2", ".vgpr_count: 64"),
       "/kernels/0: expected at least 64 VGPRs in the descriptor, found 8"},
      {"CodeWithHiddenArguments",
       recode("value_kind: by_value", "value_kind: hidden_block_count_x"),
       "/kernels/0: expected arguments that a launch gives, found that "
       "argument 1 is hidden_block_count_x"},
  };
}

std::vector<Defect> bindingsAndWeights() {
  return {
      {"BindingNameTwice", [](Engine &e) { e.bindings[1].name = "x"; },
       "/bindings/1/name"},
      {"BindingBytes", [](Engine &e) { e.bindings[0].bytes = 128; },
       "/bindings/0/bytes: expected 256 for 64xi32, found 128"},
      {"BindingShapeNegative", [](Engine &e) { e.bindings[0].shape = {-1}; },
       "/bindings/0/shape"},
      {"BindingShapeTooLarge",
       [](Engine &e) { e.bindings[0].shape = {INT64_MAX, INT64_MAX}; },
       "/bindings/0/shape"},
      {"BindingLayoutUnknown", [](Engine &e) { e.bindings[0].layout = "zz"; },
       "/bindings/0/layout"},
      {"BindingLayoutOfOtherShapes",
       [](Engine &e) { e.bindings[0].layout = "n16k16"; }, "/bindings/0/shape"},
      {"BindingIndexGap", [](Engine &e) { e.bindings[0].index = 1; },
       "without a gap"},
      {"BindingIndexTwice",
       [](Engine &e) { e.bindings[2].role = BindingRole::Output; },
       "/bindings/2/index"},
      {"BindingType", [](Engine &e) { e.bindings[0].type = ElementType::F32; },
       "expected elements of type i32, found a buffer of f32"},
      {"InputIsAnOutput",
       [](Engine &e) { std::swap(e.bindings[0].role, e.bindings[1].role); },
       "expected no writing to input y"},
      {"WeightAlignment", [](Engine &e) { e.weights.alignment = 48; },
       "/weights/alignment"},
      {"WeightsId", [](Engine &e) { flip(e.weights.id, 5); },
       "/weights/id: expected nw_"},
      {"WeightNameTwice",
       [](TestEngine &t) { t.engine.weights.entries[1].name = "w"; },
       "/weights/entries/1/name"},
      {"WeightMisaligned",
       [](TestEngine &t) { t.engine.weights.entries[0].offset = 128; },
       "expected a multiple of the alignment 256, found 128"},
      {"WeightsTooSmall", [](TestEngine &t) { t.engine.weights.bytes = 700; },
       "inside the 700 bytes of weights"},
      {"WeightsTooLarge", [](TestEngine &t) { ++t.engine.weights.bytes; },
       "/weights/bytes: expected 768, the end of the last weight up to a "
       "multiple of the alignment, found 769"},
      {"WeightOverflow",
       [](TestEngine &t) {
         t.engine.weights.entries[1].offset = UINT64_MAX - 255;
       },
       "bytes of weights"},
      {"WeightsOverlap",
       [](TestEngine &t) { t.engine.weights.entries[1].offset = 256; },
       "the end of w, found 256"},
      {"WeightBytes",
       [](TestEngine &t) { t.engine.weights.entries[0].bytes = 128; },
       "/weights/entries/0/bytes: expected 256 for 64xi32, found 128"},
      {"WeightType",
       [](TestEngine &t) {
         t.engine.weights.entries[0].type = ElementType::U32;
       },
       "expected elements of type i32, found a buffer of u32"},
      {"RecipeWithoutSources",
       [](TestEngine &t) { t.engine.weights.entries[0].pack.sources.clear(); },
       "/weights/entries/0/pack: pack recipe: expected at least one source"},
      {"RecipeForAnotherShape",
       [](TestEngine &t) {
         t.engine.weights.entries[0].pack.sources[0].shape = {63};
       },
       "/pack: expected a recipe for 64xi32, found one for 63xi32"},
      {"RecipeForAnotherType",
       [](TestEngine &t) {
         t.engine.weights.entries[0].pack.sources[0].type = ElementType::F32;
       },
       "/pack: expected a recipe for 64xi32, found one for 64xf32"},
      {"RecipeForAnotherLayout",
       [](TestEngine &t) {
         EngineWeight &weight = t.engine.weights.entries[0];
         weight.shape = {8, 8};
         weight.pack.sources[0].shape = {8, 8};
         weight.pack.steps = {PackStep::makeLayout("group_major")};
       },
       "/weights/entries/0/pack: expected layout row_major at the end, found "
       "group_major"},
      {"RecipeWithAnImpossibleStep",
       [](TestEngine &t) {
         t.engine.weights.entries[0].pack.steps = {
             PackStep::makeReshape({7, 9})};
       },
       "/weights/entries/0/pack"},
  };
}

class FileDefect : public SeededDefect {};

} // namespace

TEST(CleanEngine, NothingIsFound) {
  EXPECT_THAT(findAfter(nullptr), testing::ElementsAre());
}

TEST_P(FileDefect, IsFound) { check(); }

NETRA_SEED(FileDefect, Disk, filesOnDisk);
NETRA_SEED(FileDefect, EngineJson, engineJson);
NETRA_SEED(FileDefect, Target, targetAndFiles);
NETRA_SEED(FileDefect, Code, codeObjects);
NETRA_SEED(FileDefect, LockedCode, lockedCode);
NETRA_SEED(FileDefect, Buffer, bindingsAndWeights);
