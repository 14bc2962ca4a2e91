//===- netra-translate.cpp - Models to engines and back -------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
//   netra-translate --netra-to-engine FILE.mlir -o DIR [--profile=NAME,…]
//   netra-translate --netra-to-asm FILE.mlir [-o DIR]  [--profile=NAME,…]
//   netra-translate --engine-to-netra DIR [-o FILE]
//   netra-translate --build-deployment FILE.json -o DIR
//   netra-translate --list-tactics[=json [--hashes]] [--filter=KEY=PATTERN,...]
//   netra-translate --list-profiles
//
// The input is a module with an engine, or, with --profile, a netra or torch
// module that is compiled first. Exit status: 0 when it worked, 1 when it did
// not, 2 when the command line makes no sense.
//
//===----------------------------------------------------------------------===//

#include "BuildDeployment.h"
#include "Cache.h"
#include "Diagnostics.h"
#include "InputFile.h"
#include "Interrupts.h"
#include "Listing.h"
#include "Number.h"
#include "OutputFile.h"
#include "Progress.h"

#include "Netra/Catalog/Model.h"
#include "Netra/Catalog/TargetInfo.h"
#include "Netra/Conversion/ModelToNetra.h"
#include "Netra/Conversion/Passes.h"
#include "Netra/IR/NetraOps.h"
#include "Netra/Target/EngineTranslation.h"
#include "Netra/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace netra;
namespace cl = llvm::cl;

namespace {

enum class Action {
  ToEngine,
  ToAssembly,
  FromEngine,
  ImportModel,
  ImportHuggingFace
};

constexpr int kSuccess = 0, kFailure = 1, kUsage = 2;

cl::OptionCategory category("Translation options");

cl::list<Action>
    actions(cl::desc("What to do:"),
            cl::values(clEnumValN(Action::ToEngine, "netra-to-engine",
                                  "Write an engine bundle"),
                       clEnumValN(Action::ToAssembly, "netra-to-asm",
                                  "Write the assembly source of each kernel"),
                       clEnumValN(Action::FromEngine, "engine-to-netra",
                                  "Read an engine bundle back as a module"),
                       clEnumValN(Action::ImportModel, "import-model",
                                  "Write the module of a model manifest"),
                       clEnumValN(Action::ImportHuggingFace, "import-hf-config",
                                  "Write the module of a Hugging Face "
                                  "config.json")),
            cl::cat(category));
cl::opt<std::string> listTacticsFormat(
    "list-tactics", cl::ValueOptional, cl::value_desc("text|json"),
    cl::desc("List the tactics of the target"), cl::cat(category));
cl::opt<bool> listProfilesFlag("list-profiles",
                               cl::desc("List the serving profiles"),
                               cl::cat(category));
cl::list<std::string> filterOption(
    "filter", cl::CommaSeparated, cl::value_desc("key=pattern"),
    cl::desc("With --list-tactics: only those that fit all patterns; keys are "
             "name, family, operation, maturity, evidence"),
    cl::cat(category));
cl::opt<bool> hashesFlag("hashes",
                         cl::desc("With --list-tactics=json: hashes of the "
                                  "sources, and of the machine code of "
                                  "instances that evidence and deployments "
                                  "name"),
                         cl::cat(category));
cl::opt<std::string> deploymentOption(
    "build-deployment", cl::value_desc("file"),
    cl::desc("Build the code objects of a deployment manifest"),
    cl::cat(category));
cl::opt<std::string> goldenRootOption(
    "golden-root", cl::value_desc("folder"),
    cl::desc("Folder of golden code objects; without it none is considered"),
    cl::cat(category));
cl::opt<std::string> goldenCodeOption(
    "golden-code", cl::init("embed"), cl::value_desc("embed|lock"),
    cl::desc("With --golden-root: whether the engine holds the bytes of golden "
             "code objects, or only their hashes"),
    cl::cat(category));
cl::opt<std::string> cacheDirOption(
    "cache-dir", cl::value_desc("folder"),
    cl::desc("Folder that keeps assembled kernels between runs (default: "
             "NETRA_CACHE_DIR; neither, or empty: no cache)"),
    cl::cat(category));
cl::list<std::string> inputs(cl::Positional, cl::desc("<input>"),
                             cl::cat(category));
cl::opt<std::string>
    outputOption("o", cl::value_desc("path"),
                 cl::desc("The engine directory (--netra-to-engine), a folder "
                          "that gets one SYMBOL.s per kernel (--netra-to-asm; "
                          "stdout without -o), or a file (the others; stdout "
                          "without -o)"),
                 cl::cat(category));
cl::list<std::string>
    profilesOption("profile", cl::CommaSeparated, cl::value_desc("names"),
                   cl::desc("Compile the input for these serving "
                            "profiles first"),
                   cl::cat(category));
cl::list<std::string>
    domainOption("domain", cl::CommaSeparated, cl::value_desc("boxes"),
                 cl::desc("With --profile: serving points that the engine must "
                          "serve without a gap, each like m=1..16:batch=1"),
                 cl::cat(category));
cl::opt<std::string> targetOption("target", cl::init("gfx950"),
                                  cl::desc("GPU to compile for"),
                                  cl::cat(category));
cl::opt<std::string> libraryRootOption("library-root", cl::value_desc("folder"),
                                       cl::desc("Folder with kernels/ and "
                                                "manifests/"),
                                       cl::cat(category));
cl::opt<std::string>
    engineNameOption("name",
                     cl::desc("Name of the engine when the input "
                              "is compiled"),
                     cl::cat(category));
cl::opt<bool> allowExperimentalOption("allow-experimental",
                                      cl::desc("Consider tactics of maturity "
                                               "`experiment`"),
                                      cl::cat(category));
cl::opt<std::string> explainOption(
    "explain", cl::ValueOptional, cl::value_desc("all"),
    cl::desc("Say for each operation why its tactic was chosen, and the "
             "nearest that do not match, or all of them"),
    cl::cat(category));
// Numbers are read as text, so that what is none is answered with the range.
cl::opt<std::string>
    stateSlotsOption("state-slots", cl::value_desc("number"),
                     cl::desc("Sequences in flight (--import-hf-config; 64)"),
                     cl::cat(category));
cl::opt<std::string> cacheSlotsOption(
    "cache-slots", cl::value_desc("number"),
    cl::desc("Tokens in the KV cache (--import-hf-config; 65536)"),
    cl::cat(category));
cl::opt<std::string>
    cacheTypeOption("cache-type", cl::init("bf16"),
                    cl::value_desc("bf16|f8E4M3FN"),
                    cl::desc("Elements of the KV cache (--import-hf-config)"),
                    cl::cat(category));
cl::opt<std::string> stateTypeOption(
    "state-type", cl::init("f32"), cl::value_desc("f32|bf16"),
    cl::desc("Elements of recurrent states; without it those of the "
             "configuration (--import-hf-config)"),
    cl::cat(category));
cl::opt<std::string> expertTensorsOption(
    "expert-tensors", cl::init("published"),
    cl::value_desc("published|stacked|per-expert"),
    cl::desc("How the checkpoint holds experts: as published ones of the "
             "family, one tensor of all, or one of each (--import-hf-config)"),
    cl::cat(category));
cl::opt<std::string> jobsOption("jobs", cl::value_desc("number"),
                                cl::desc("Kernels assembled at the same time; "
                                         "0: one on each core"),
                                cl::cat(category));
cl::opt<bool> verboseOption("verbose",
                            cl::desc("A line on stderr for each phase"),
                            cl::cat(category));
cl::opt<bool> timingOption("timing", cl::desc("Print the time of each phase"),
                           cl::cat(category));

// What is asked for, as a set; the actions come first.
constexpr unsigned kToEngine = 1u << unsigned(Action::ToEngine),
                   kToAssembly = 1u << unsigned(Action::ToAssembly),
                   kFromEngine = 1u << unsigned(Action::FromEngine),
                   kImportModel = 1u << unsigned(Action::ImportModel),
                   kImportHuggingFace = 1u
                                        << unsigned(Action::ImportHuggingFace),
                   kListTactics = 1u << 5, kListProfiles = 1u << 6,
                   kBuildDeployment = 1u << 7;
constexpr unsigned kCompiles = kToEngine | kToAssembly;

/// What each option has a meaning for. The others have one everywhere.
const struct {
  const cl::Option &option;
  unsigned users;
} applicability[] = {
    {filterOption, kListTactics},
    {hashesFlag, kListTactics},
    {goldenRootOption, kCompiles | kBuildDeployment},
    {goldenCodeOption, kToEngine},
    {outputOption, kCompiles | kFromEngine | kImportModel | kImportHuggingFace |
                       kBuildDeployment},
    {profilesOption, kCompiles},
    {domainOption, kCompiles},
    {engineNameOption, kCompiles | kImportHuggingFace},
    {allowExperimentalOption, kCompiles},
    {explainOption, kCompiles},
    {stateSlotsOption, kImportHuggingFace},
    {cacheSlotsOption, kImportHuggingFace},
    {cacheTypeOption, kImportHuggingFace},
    {stateTypeOption, kImportHuggingFace},
    {expertTensorsOption, kImportHuggingFace},
};

/// As it is typed.
std::string spell(const cl::Option &option) {
  return (option.ArgStr.size() == 1 ? "-" : "--") + option.ArgStr.str();
}

/// An option that was given and has no meaning for `wanted`, or null.
const cl::Option *findUseless(unsigned wanted) {
  for (const auto &[option, users] : applicability)
    if (option.getNumOccurrences() && !(users & wanted))
      return &option;
  return nullptr;
}

std::string usersOf(const cl::Option &option) {
  constexpr const char *names[] = {"--netra-to-engine",  "--netra-to-asm",
                                   "--engine-to-netra",  "--import-model",
                                   "--import-hf-config", "--list-tactics",
                                   "--list-profiles",    "--build-deployment"};
  std::string text;
  for (const auto &[known, users] : applicability)
    for (unsigned i = 0; &known == &option && i != std::size(names); ++i)
      if (users >> i & 1)
        text += (text.empty() ? "" : ", ") + std::string(names[i]);
  return text;
}

/// What the command line says. Linking resets LLVM's command line options, so
/// that they cannot be read afterwards.
struct Settings {
  std::string output, target, libraryRoot, goldenRoot, cacheDir, engineName;
  std::vector<std::string> profiles, domain;
  bool lockGoldens, allowExperimental, explain, explainAll, verbose;
  HuggingFaceOptions huggingFace;
  unsigned jobs = 0;
};

Settings readSettings() {
  std::optional<std::string> cacheDir =
      llvm::sys::Process::GetEnv("NETRA_CACHE_DIR");
  HuggingFaceOptions huggingFace;
  huggingFace.name = engineNameOption;
  huggingFace.cacheType =
      parseElementType(cacheTypeOption).value_or(ElementType::BF16);
  if (stateTypeOption.getNumOccurrences())
    huggingFace.stateType = parseElementType(stateTypeOption);
  if (expertTensorsOption != "published")
    huggingFace.perExpertTensors = expertTensorsOption == "per-expert";
  return {
      outputOption,
      targetOption,
      libraryRootOption,
      goldenRootOption,
      cacheDirOption.getNumOccurrences() ? cacheDirOption.getValue()
                                         : cacheDir.value_or(""),
      engineNameOption,
      std::vector<std::string>(profilesOption.begin(), profilesOption.end()),
      std::vector<std::string>(domainOption.begin(), domainOption.end()),
      goldenCodeOption == "lock",
      allowExperimentalOption,
      explainOption.getNumOccurrences() != 0,
      explainOption == "all",
      verboseOption,
      std::move(huggingFace)};
}

/// Reads the numbers that are given.
llvm::Error readNumbers(Settings &settings) {
  auto read = [](const cl::opt<std::string> &option, uint64_t least,
                 uint64_t most, auto &number) -> llvm::Error {
    if (!option.getNumOccurrences())
      return llvm::Error::success();
    llvm::Expected<uint64_t> value =
        tool::parseNumber(option.getValue(), least, most);
    if (!value)
      return llvm::createStringError(spell(option) + ": " +
                                     llvm::toString(value.takeError()));
    number = *value;
    return llvm::Error::success();
  };
  if (llvm::Error error = read(jobsOption, 0, 1024, settings.jobs))
    return error;
  if (llvm::Error error =
          read(stateSlotsOption, 1, maxExtent, settings.huggingFace.stateSlots))
    return error;
  return read(cacheSlotsOption, 1, maxExtent, settings.huggingFace.cacheSlots);
}

/// Whether engines and models may have this name; it never is a path.
bool isName(StringRef name) {
  return !name.empty() && llvm::isAlpha(name.front()) &&
         llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.';
         });
}

int fail(const llvm::Twine &message) {
  llvm::errs() << "netra-translate: error: " << message << "\n";
  return kFailure;
}

int failUsage(const llvm::Twine &message) {
  llvm::errs() << "netra-translate: " << message
               << "; see netra-translate --help\n";
  return kUsage;
}

} // namespace

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// Whether some operation of `module` belongs to what models are exported in.
static bool needsImport(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        StringRef dialect = op->getName().getDialectNamespace();
        return dialect == "torch" || dialect == "torch_c" || dialect == "util"
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Compiles `module` down to an engine when it is not one yet.
static LogicalResult compile(ModuleOp module, const Settings &settings,
                             Progress &progress) {
  if (!module.getOps<EngineOp>().empty())
    return settings.profiles.empty()
               ? success()
               : module.emitError() << "--profile is for modules that are "
                                       "still to be compiled, but this one "
                                       "holds an engine";
  if (settings.profiles.empty())
    return module.emitError()
           << "expected a module with a netra.engine; name the serving "
              "profiles to compile it for with --profile";
  if (needsImport(module)) {
    progress.begin("import");
    PassManager manager(module.getContext());
    manager.addPass(createConvertTorchToNetra());
    if (failed(manager.run(module)))
      return failure();
  }
  progress.begin("compile");
  EnginePipelineOptions options;
  for (const std::string &name : settings.profiles)
    options.profiles.push_back(name);
  for (const std::string &box : settings.domain)
    options.domain.push_back(box);
  options.target = settings.target;
  options.libraryRoot = settings.libraryRoot;
  options.goldenRoot = settings.goldenRoot;
  options.allowExperimental = settings.allowExperimental;
  options.explain = settings.explain;
  options.explainAll = settings.explainAll;
  options.name = settings.engineName;
  return compileToEngine(module, options);
}

/// An option that was given and that says something about a part which `model`
/// does not have, with the reason; null when there is none.
static std::pair<const cl::Option *, StringRef>
findUseless(const ModelDescription &model) {
  const struct {
    const cl::Option &option;
    bool isUsed;
    StringRef reason;
  } uses[] = {
      {expertTensorsOption, model.experts.has_value(), "has experts"},
      {stateTypeOption, model.gatedDeltaNet.has_value(),
       "has a recurrent state"},
      {cacheTypeOption, model.attention.has_value(), "has a KV cache"},
      {cacheSlotsOption, model.attention.has_value(), "has a KV cache"},
  };
  for (const auto &[option, isUsed, reason] : uses)
    if (option.getNumOccurrences() && !isUsed)
      return {&option, reason};
  return {nullptr, ""};
}

/// Reads the module of a model manifest, or of a config.json with
/// `huggingFace`.
static int importDescription(MLIRContext &context, StringRef path,
                             StringRef text, const Settings &settings,
                             bool huggingFace, OwningOpRef<ModuleOp> &module) {
  llvm::Expected<ModelDescription> model =
      huggingFace ? parseHuggingFaceConfig(text, path, settings.huggingFace)
                  : parseModel(text, path);
  llvm::Error error =
      model ? checkProfiles(*model,
                            Catalog::findLibraryRoot(settings.libraryRoot),
                            settings.target)
            : model.takeError();
  if (error)
    return fail(llvm::toString(std::move(error)));
  // A pipe has no name of its own.
  StringRef stem = llvm::sys::path::stem(path);
  if (!huggingFace && path.ends_with(".json") && stem != model->name)
    llvm::errs() << "netra-translate: warning: " << path
                 << ": /name: expected \"" << stem
                 << "\" as the file's name says, found \"" << model->name
                 << "\"\n";
  if (huggingFace)
    if (auto [option, reason] = findUseless(*model); option)
      return failUsage("--" + option->ArgStr +
                       " has no meaning here: no layer of the model in " +
                       path + " " + reason);
  module = importModel(&context, *model);
  return kSuccess;
}

static int readModule(MLIRContext &context, llvm::SourceMgr &sources,
                      StringRef path, Action action, const Settings &settings,
                      OwningOpRef<ModuleOp> &module) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> file =
      tool::readInput(path);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  bool huggingFace = action == Action::ImportHuggingFace;
  bool isNamedModel = huggingFace || action == Action::ImportModel;
  if (isNamedModel || path.ends_with(".json")) {
    int status = importDescription(context, path, (*file)->getBuffer(),
                                   settings, huggingFace, module);
    if (status && !isNamedModel)
      llvm::errs() << "netra-translate: note: a .json input is read as a model "
                      "manifest; a config.json of Hugging Face goes through "
                      "--import-hf-config first\n";
    return status;
  }
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  return module ? kSuccess : kFailure;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

static int writeText(StringRef path, StringRef text) {
  if (llvm::Error error = tool::writeOutput(path.empty() ? "-" : path, text))
    return fail(llvm::toString(std::move(error)));
  return kSuccess;
}

/// Fails when there is an engine in or above a folder: one with more files than
/// it lists is none.
static llvm::Error checkOutsideOfEngines(StringRef folder, StringRef output,
                                         StringRef what) {
  SmallString<256> above(folder);
  llvm::sys::fs::make_absolute(above);
  llvm::sys::path::remove_dots(above, /*remove_dot_dot=*/true);
  for (StringRef parent = above; !parent.empty();
       parent = llvm::sys::path::parent_path(parent)) {
    SmallString<256> engine(parent);
    llvm::sys::path::append(engine, "engine.json");
    if (llvm::sys::fs::exists(engine))
      return llvm::createStringError(
          output + ": expected a folder outside of engines, found " + engine +
          "; choose another folder for the " + what);
  }
  return llvm::Error::success();
}

/// Writes one file per kernel below `-o`, or all of them to stdout. A folder
/// that this run has created goes again when it fails.
static int writeSources(const std::vector<KernelSource> &sources,
                        const std::string &output) {
  if (output.empty() || output == "-") {
    std::string all;
    for (const KernelSource &source : sources)
      all += source.text;
    return writeText("-", all);
  }
  bool existed = llvm::sys::fs::exists(output);
  if (existed && !llvm::sys::fs::is_directory(output))
    return fail(output + ": expected a folder, found a file");
  if (llvm::Error error = checkOutsideOfEngines(output, output, "sources"))
    return fail(llvm::toString(std::move(error)));
  if (std::error_code code = llvm::sys::fs::create_directories(output))
    return fail(output + ": " + code.message());
  for (const KernelSource &source : sources) {
    SmallString<256> path(output);
    llvm::sys::path::append(path, source.symbol + ".s");
    if (int status = writeText(path, source.text)) {
      if (!existed)
        llvm::sys::fs::remove_directories(output);
      return status;
    }
  }
  return kSuccess;
}

/// Fails early, before minutes of work, when the bundle could not be written.
static LogicalResult checkBundlePath(const std::string &output) {
  if (llvm::sys::fs::exists(output) && !llvm::sys::fs::is_directory(output)) {
    fail(output + ": expected a folder for the engine, found a file");
    return failure();
  }
  SmallString<256> folder(output);
  llvm::sys::fs::make_absolute(folder);
  llvm::sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  if (llvm::Error error = checkOutsideOfEngines(
          llvm::sys::path::parent_path(folder), output, "engine")) {
    fail(llvm::toString(std::move(error)));
    return failure();
  }
  return success();
}

/// Says at the end what remarks have said one by one on the way.
static void reportFallbacks(ModuleOp module, const std::string &output) {
  size_t launches = 0, fallbacks = 0;
  module.walk([&](Operation *op) {
    launches += isa<LaunchOp>(op);
    fallbacks += isa<FallbackStepOp>(op);
  });
  if (fallbacks)
    llvm::errs() << "netra-translate: warning: " << fallbacks << " of "
                 << launches + fallbacks
                 << " steps have no kernel and are left to the framework; "
                    "'netra-engine explain "
                 << output << "' says why\n";
}

static int writeModule(ModuleOp module, const Settings &settings,
                       Progress &progress, bool locations) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Locations of imported models name their parts, and steps are named by them.
  module.print(stream, OpPrintingFlags().enableDebugInfo(locations));
  stream << "\n";
  progress.finish();
  return writeText(settings.output, text);
}

static int translate(Action action, const std::string &input,
                     const Settings &settings, Progress &progress) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, NetraDialect>();
  registerImportDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  Diagnostics diagnostics(sources, &context, input);

  const bool writesFile = action == Action::FromEngine ||
                          action == Action::ImportModel ||
                          action == Action::ImportHuggingFace;
  if (writesFile && !settings.output.empty() && settings.output != "-")
    if (std::string why = tool::whyNotApart(settings.output, {input});
        !why.empty())
      return fail("cannot write " + settings.output + ": " + why +
                  "; name another file with -o");
  if (action == Action::FromEngine) {
    progress.begin("read engine");
    FailureOr<OwningOpRef<ModuleOp>> module =
        translateFromBundle(&context, input);
    return failed(module)
               ? kFailure
               : writeModule(**module, settings, progress, /*locations=*/false);
  }
  if (action == Action::ImportModel || action == Action::ImportHuggingFace) {
    progress.begin("import");
    OwningOpRef<ModuleOp> module;
    int status = readModule(context, sources, input, action, settings, module);
    return status ? status
                  : writeModule(*module, settings, progress,
                                /*locations=*/true);
  }

  if (action == Action::ToEngine && failed(checkBundlePath(settings.output)))
    return kFailure;
  progress.begin("parse");
  OwningOpRef<ModuleOp> module;
  if (int status =
          readModule(context, sources, input, action, settings, module))
    return status;
  if (failed(compile(*module, settings, progress)))
    return kFailure;

  TranslationOptions options;
  options.libraryRoot = Catalog::findLibraryRoot(settings.libraryRoot);
  options.goldenRoot = settings.goldenRoot;
  options.lockGoldens = settings.lockGoldens;
  options.allowExperimental = settings.allowExperimental;
  options.threads = settings.jobs;
  options.progress = [&](size_t done, size_t total, StringRef symbol) {
    progress.advance(done, total, symbol);
  };
  if (action == Action::ToAssembly) {
    progress.begin("generate sources");
    FailureOr<std::vector<KernelSource>> kernels =
        translateToAssembly(*module, options);
    if (failed(kernels))
      return kFailure;
    progress.finish();
    return writeSources(*kernels, settings.output);
  }
  progress.begin("assemble");
  Cache cache(settings.cacheDir, settings.verbose);
  options.cache = cache.get();
  FailureOr<EngineBundle> bundle = translateToBundle(*module, options);
  cache.report();
  if (failed(bundle))
    return kFailure;
  progress.begin("write");
  if (llvm::Error error =
          writeBundle(bundle->engine, bundle->files, settings.output))
    return fail(llvm::toString(std::move(error)));
  progress.finish();
  reportFallbacks(*module, settings.output);
  return kSuccess;
}

static int list(const Settings &settings) {
  bool wantsTactics = listTacticsFormat.getNumOccurrences() != 0;
  bool wantsJson = listTacticsFormat == "json";
  if (wantsTactics && !wantsJson && !listTacticsFormat.empty() &&
      listTacticsFormat != "text")
    return failUsage("expected --list-tactics=text or --list-tactics=json, "
                     "found '" +
                     listTacticsFormat + "'");
  if (hashesFlag && !(wantsTactics && wantsJson))
    return failUsage("--hashes is for --list-tactics=json");
  llvm::Expected<Catalog> catalog = Catalog::load(
      Catalog::findLibraryRoot(settings.libraryRoot), settings.target);
  if (!catalog)
    return fail(llvm::toString(catalog.takeError()));
  llvm::Expected<std::vector<const Tactic *>> tactics =
      filterTactics(*catalog, filterOption);
  if (!tactics)
    return failUsage(llvm::toString(tactics.takeError()));
  TacticHashes hashes;
  if (hashesFlag) {
    Cache cache(settings.cacheDir, settings.verbose);
    llvm::Expected<TacticHashes> computed =
        hashTactics(*catalog, *tactics, settings.jobs, cache.get());
    cache.report();
    if (!computed)
      return fail(llvm::toString(computed.takeError()));
    hashes = std::move(*computed);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (wantsTactics)
    listTactics(*catalog, *tactics, wantsJson, hashes, stream);
  else
    listProfiles(*catalog, stream);
  return writeText("-", text);
}

int main(int argc, char **argv) {
  netra::tool::treatFileSizeLimitAsError();
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) {
    os << "netra-translate " << NETRA_VERSION << "\n";
  });
  // With a stream for errors the parser returns instead of exiting with 1.
  std::string errors;
  llvm::raw_string_ostream errorStream(errors);
  if (!cl::ParseCommandLineOptions(argc, argv,
                                   "Translates models to engines, and back\n",
                                   &errorStream)) {
    llvm::errs() << errors;
    return kUsage;
  }
  Settings settings = readSettings();
  if (!findTarget(settings.target))
    return failUsage("--target: expected " + listTargets() + ", found '" +
                     settings.target + "'");

  if (llvm::Error error = readNumbers(settings))
    return failUsage(llvm::toString(std::move(error)));
  bool lists = listTacticsFormat.getNumOccurrences() != 0 || listProfilesFlag;
  bool builds = deploymentOption.getNumOccurrences() != 0;
  if (actions.size() + (lists ? 1 : 0) + (builds ? 1 : 0) != 1)
    return failUsage("expected one of --netra-to-engine, --netra-to-asm, "
                     "--engine-to-netra, --import-model, --import-hf-config, "
                     "--list-tactics, --list-profiles, --build-deployment");
  if (listTacticsFormat.getNumOccurrences() && listProfilesFlag)
    return failUsage("expected --list-tactics or --list-profiles, found both");
  if (const cl::Option *option = findUseless(
          builds  ? kBuildDeployment
          : lists ? (listProfilesFlag ? kListProfiles : kListTactics)
                  : 1u << unsigned(actions.front())))
    return failUsage(spell(*option) + " has no meaning here: it is for " +
                     usersOf(*option));
  if (outputOption.getNumOccurrences() && settings.output.empty())
    return failUsage("-o: expected a file or a folder, found an empty word");
  if (settings.output == "-" && (builds || actions.front() == Action::ToEngine))
    return failUsage("-o: expected a folder, found '-'; several files cannot "
                     "go to the standard output");
  if (llvm::Error error = checkGoldenRoot(settings.goldenRoot))
    return failUsage("--golden-root: " + llvm::toString(std::move(error)));
  for (auto [option, choices] :
       {std::pair(&goldenCodeOption, StringRef("embed|lock")),
        std::pair(&cacheTypeOption, StringRef("bf16|f8E4M3FN")),
        std::pair(&stateTypeOption, StringRef("f32|bf16")),
        std::pair(&expertTensorsOption,
                  StringRef("published|stacked|per-expert"))}) {
    SmallVector<StringRef> allowed;
    choices.split(allowed, '|');
    if (!llvm::is_contained(allowed, option->getValue()))
      return failUsage("--" + option->ArgStr + ": expected " + choices +
                       ", found '" + option->getValue() + "'");
  }
  if (engineNameOption.getNumOccurrences() && !isName(settings.engineName))
    return failUsage("--name: expected letters, digits, '_', '-' and '.', the "
                     "first a letter, found '" +
                     settings.engineName + "'");
  if (!explainOption.empty() && explainOption != "all")
    return failUsage("expected --explain or --explain=all, found '" +
                     explainOption + "'");
  if (goldenCodeOption.getNumOccurrences() && settings.goldenRoot.empty())
    return failUsage("--golden-code is for --golden-root");
  if (!domainOption.empty() && profilesOption.empty())
    return failUsage("--domain is for --profile");
  // Before the first thread; what is half written goes with the process.
  tool::cleanUpOnInterrupt(abandonStaging);
  if (builds) {
    if (!inputs.empty())
      return failUsage("--build-deployment names its input itself, found '" +
                       inputs.front() + "' besides");
    if (settings.output.empty())
      return failUsage("expected -o DIR for the deployment");
    Progress progress(verboseOption, timingOption);
    llvm::Error error = buildDeployment(
        {deploymentOption.getValue(), settings.output, settings.target,
         settings.libraryRoot, settings.goldenRoot, settings.cacheDir,
         settings.jobs, settings.verbose},
        progress);
    return error ? fail(llvm::toString(std::move(error))) : kSuccess;
  }
  if (lists) {
    if (!inputs.empty())
      return failUsage("a listing takes no input, found '" + inputs.front() +
                       "'");
    return list(settings);
  }
  if (inputs.size() != 1)
    return failUsage(inputs.empty() ? "expected an input, found none"
                                    : "expected one input, found several");
  if (actions.front() == Action::ToEngine && settings.output.empty())
    return failUsage("expected -o DIR for the engine");
  Progress progress(verboseOption, timingOption);
  return translate(actions.front(), inputs.front(), settings, progress);
}
