//===- BundleVerifier.cpp - Is a bundle on disk sound? --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "BundleContents.h"
#include "BundleFiles.h"
#include "BundleReports.h"

#include "Netra/Catalog/Catalog.h"
#include "Netra/Catalog/ContractVerifier.h"
#include "Netra/Catalog/Json.h"
#include "Netra/Catalog/Operations.h"
#include "Netra/Catalog/TargetInfo.h"
#include "Netra/Target/CodeObject.h"
#include "Netra/Target/Equivalence.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <map>
#include <set>

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace netra {

namespace {
class BundleVerifier {
public:
  BundleVerifier(StringRef directory, StringRef goldenRoot)
      : directory(directory), goldenRoot(goldenRoot) {}

  Expected<std::vector<BundleFinding>> run() {
    if (!fs::is_directory(directory))
      return createStringError(directory + ": expected an engine (a folder "
                                           "with engine.json)");
    Expected<std::unique_ptr<MemoryBuffer>> text = open(engineFileName);
    if (!text) {
      report(engineFileName, "expected a readable file, found: " +
                                 llvm::toString(text.takeError()));
      return std::move(findings);
    }
    Expected<Engine> read =
        readEngineJson((*text)->getBuffer(), engineFileName);
    if (!read) {
      reportLines(engineFileName, "", read.takeError());
      return std::move(findings);
    }
    engine = std::move(*read);
    // What is written is canonical, so that equal engines have equal bytes.
    if (writeEngineJson(engine) != (*text)->getBuffer())
      report(engineFileName,
             "expected the canonical spelling (sorted keys, two "
             "spaces, one newline at the end)");
    if (std::string id = computeEngineId(engine); id != engine.id)
      report("/id",
             "expected " + id + " as the contents say, found " + engine.id);
    std::vector<BundleFinding> own = verifyEngine(engine);
    bool isSound = own.empty();
    llvm::append_range(findings, own);
    checkListedFiles();
    checkUnlistedFiles();
    for (size_t i = 0; i != engine.codeObjects.size(); ++i)
      checkCodeObject(i);
    checkSharing();
    checkContracts();
    if (isSound)
      checkReports();
    return std::move(findings);
  }

private:
  void report(const Twine &where, const Twine &message) {
    findings.push_back({where.str(), message.str()});
  }

  /// A finding for each line of an error, which may name the file itself.
  void reportLines(StringRef file, StringRef prefix, Error error) {
    std::string message = llvm::toString(std::move(error));
    SmallVector<StringRef> lines;
    StringRef(message).split(lines, '\n');
    for (StringRef line : lines) {
      if (line.consume_front(file))
        line.consume_front(": ");
      report(file, prefix + line);
    }
  }

  /// The contents of a file, or in words what is there instead.
  Expected<std::unique_ptr<MemoryBuffer>> open(StringRef file) {
    SmallString<256> path(directory);
    sys::path::append(path, file);
    fs::file_status status;
    if (std::error_code error = fs::status(path, status, /*follow=*/false))
      return createStringError(error.message());
    switch (status.type()) {
    case fs::file_type::regular_file:
      break;
    case fs::file_type::directory_file:
      return createStringError("a folder");
    case fs::file_type::symlink_file:
      // It would let a bundle change without its bytes changing.
      return createStringError("a link");
    default:
      return createStringError("a device, pipe or socket");
    }
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
        MemoryBuffer::getFile(path, /*IsText=*/false,
                              /*RequiresNullTerminator=*/false);
    if (!buffer)
      return createStringError(buffer.getError().message());
    return std::move(*buffer);
  }

  /// Of a file whose absence has been reported.
  std::unique_ptr<MemoryBuffer> openReported(StringRef file) {
    Expected<std::unique_ptr<MemoryBuffer>> buffer = open(file);
    if (buffer)
      return std::move(*buffer);
    consumeError(buffer.takeError());
    return nullptr;
  }

  /// The files of every engine beside engine.json.
  static constexpr StringRef namedFiles[] = {
      "contracts.json",    "engine.mlir",      "explain.json",
      "graph_recipe.json", "layout_plan.json", "memory_plan.json",
      "validation.json"};

  /// Whether an engine has such a file.
  bool hasPurpose(StringRef path) const {
    return is_contained(namedFiles, path) || path.starts_with("source/") ||
           any_of(engine.codeObjects, [&](const EngineCodeObject &object) {
             return !object.isLocked() && object.path == path;
           });
  }

  void checkListedFiles() {
    for (StringRef name : namedFiles)
      if (none_of(engine.files,
                  [&](const EngineFile &file) { return file.path == name; }))
        report(name, "expected it among the files of engine.json, found none");
    for (const EngineFile &file : engine.files) {
      if (!isBundlePath(file.path))
        continue; // reported already; do not look outside the bundle
      if (!hasPurpose(file.path))
        report(file.path,
               "expected a file that an engine is made of or a code object "
               "that engine.json describes, found neither");
      Expected<std::unique_ptr<MemoryBuffer>> buffer = open(file.path);
      if (!buffer) {
        report(file.path, "expected a readable file, found: " +
                              llvm::toString(buffer.takeError()));
        continue;
      }
      StringRef contents = (*buffer)->getBuffer();
      if (contents.size() != file.bytes)
        report(file.path, "expected " + Twine(file.bytes) + " bytes, found " +
                              Twine(contents.size()));
      else if (std::string hash = sha256Hex(contents); hash != file.sha256)
        report(file.path,
               "expected SHA-256 " + file.sha256 + ", found " + hash);
    }
  }

  void checkUnlistedFiles() {
    std::set<std::string> listed = {engineFileName.str()}, unlisted, folders;
    for (const EngineFile &file : engine.files)
      for (StringRef at = file.path; !at.empty();
           at = sys::path::parent_path(at))
        (at == file.path ? listed : folders).insert(at.str());
    std::error_code error;
    for (fs::recursive_directory_iterator
             it(directory, error, /*follow_symlinks=*/false),
         end;
         it != end && !error; it.increment(error)) {
      StringRef path = it->path();
      path.consume_front(directory);
      path = path.ltrim('/');
      if (it->type() == fs::file_type::directory_file) {
        if (!folders.count(path.str()) &&
            fs::directory_iterator(it->path(), error) ==
                fs::directory_iterator())
          report(path, "expected only folders with files that engine.json "
                       "lists, found an empty one");
        continue;
      }
      if (!listed.count(path.str()))
        unlisted.insert(path.str());
    }
    if (error)
      report(engineFileName, "the bundle cannot be listed: " + error.message());
    for (const std::string &path : unlisted)
      report(path, "expected only files that engine.json lists, found this one "
                   "besides");
  }

  /// The tactic of the launches of a code object.
  std::string findTactic(size_t object) const {
    for (const EnginePlan &plan : engine.plans)
      for (const EngineStep &step : plan.steps)
        if (step.kind == EngineStep::Kind::Launch && step.codeObject == object)
          return step.tactic;
    return "of no launch";
  }

  void checkCodeObject(size_t index) {
    const EngineCodeObject &object = engine.codeObjects[index];
    const std::string where = ("/code_objects/" + Twine(index)).str();
    if (!isBundlePath(object.path))
      return;
    std::vector<uint8_t> bytes;
    if (object.isLocked()) {
      if (goldenRoot.empty())
        return;
      Tactic record; // as far as the engine states it
      record.name = findTactic(index);
      record.golden.emplace();
      record.golden->file = object.path;
      record.golden->bytes = *object.lockedBytes;
      record.golden->sha256 = object.sha256;
      Expected<std::vector<uint8_t>> found = readGoldenFile(record, goldenRoot);
      if (!found) {
        report(where + "/locked", llvm::toString(found.takeError()));
        return;
      }
      bytes = std::move(*found);
    } else {
      std::unique_ptr<MemoryBuffer> buffer = openReported(object.path);
      if (!buffer)
        return; // reported with the files, or as a path that is not listed
      bytes.assign(buffer->getBuffer().bytes_begin(),
                   buffer->getBuffer().bytes_end());
    }
    Expected<CodeObject> code = readCodeObject(std::move(bytes));
    if (!code) {
      report(object.path, llvm::toString(code.takeError()));
      return;
    }
    if (code->data.empty())
      for (const KernelMetadata &kernel : code->kernels)
        symbolsHeld[index].push_back(kernel.symbol);
    auto compare = [&](const Twine &at, const Twine &said, const Twine &found) {
      std::string left = said.str(), right = found.str();
      if (left != right)
        report(where + at, "expected " + right +
                               " as the code object says, "
                               "found " +
                               left);
    };
    compare("/sha256", object.sha256, code->sha256);
    compare("/text_sha256", object.textSha256, code->textSha256);
    if (const TargetInfo *target = findTarget(engine.architecture))
      if (code->isa != target->isaName)
        report(object.path,
               "expected target " + target->isaName + ", found " + code->isa);
    if (code->codeObjectVersion != engine.codeObjectVersion)
      report(object.path, "expected code object version " +
                              Twine(engine.codeObjectVersion) + ", found " +
                              Twine(code->codeObjectVersion));
    for (size_t i = 0; i != object.kernels.size(); ++i) {
      const EngineKernel &kernel = object.kernels[i];
      std::string at = ("/kernels/" + Twine(i)).str();
      auto found = find_if(code->kernels, [&](const KernelMetadata &metadata) {
        return metadata.symbol == kernel.symbol;
      });
      if (found == code->kernels.end()) {
        report(where + at + "/symbol",
               "expected a kernel of the code object, found \"" +
                   kernel.symbol + "\"");
        continue;
      }
      compareKernel(kernel, *found, at, compare);
      checkPromises(*found, where + at);
      identities[{index, kernel.symbol}] = computationalIdentity(*code, *found);
    }
  }

  /// Of code that is assembled, since golden code keeps its bytes and what they
  /// hold besides.
  bool isAssembled(const EngineCodeObject &object) const {
    return all_of(object.kernels, [&](const EngineKernel &kernel) {
      return any_of(engine.files, [&](const EngineFile &file) {
        return file.path == "source/" + kernel.symbol + ".s";
      });
    });
  }

  /// Equal machine code is there once, with the symbols of all of its kernels
  /// and no others.
  void checkSharing() {
    std::map<std::string, size_t> byText;
    std::map<std::string, std::set<std::string>> described; // by path
    for (const EngineCodeObject &object : engine.codeObjects)
      for (const EngineKernel &kernel : object.kernels)
        described[object.path].insert(kernel.symbol);
    for (const auto &[index, held] : symbolsHeld) {
      const EngineCodeObject &object = engine.codeObjects[index];
      if (object.isLocked() || !isAssembled(object))
        continue;
      const std::string where = ("/code_objects/" + Twine(index)).str();
      auto [first, isNew] = byText.insert({object.textSha256, index});
      if (const std::string &path = engine.codeObjects[first->second].path;
          path != object.path)
        report(where + "/path", "expected " + path +
                                    ", which has the same machine code, found "
                                    "another file, " +
                                    object.path);
      for (const std::string &symbol : held)
        if (!described[object.path].count(symbol))
          report(object.path, "expected only kernels that engine.json "
                              "describes, found " +
                                  symbol);
    }
  }

  /// What a kernel needs besides that which engine.json can say.
  void checkPromises(const KernelMetadata &kernel, const std::string &where) {
    const KernelDescriptor &descriptor = kernel.descriptor;
    auto expect = [&](const Twine &what, uint64_t expected, uint64_t found) {
      if (expected != found)
        report(where, "expected " + what + " " + Twine(expected) +
                          ", found that the code object says " + Twine(found));
    };
    expect("wave size (metadata)", engine.waveSize, kernel.waveSize);
    expect("wave size (descriptor)", engine.waveSize, descriptor.waveSize);
    expect("private bytes (metadata)", 0, kernel.privateBytes);
    expect("private bytes (descriptor)", 0, descriptor.privateBytes);
    expect("dynamic stack", 0, kernel.dynamicStack || descriptor.dynamicStack);
    // Some compilers leave it open.
    if (descriptor.kernargBytes)
      expect("kernarg bytes (descriptor)", kernel.kernargBytes,
             descriptor.kernargBytes);
    // Accumulation registers come after the others.
    uint64_t needed = kernel.agprs
                          ? uint64_t(descriptor.accumOffset) + kernel.agprs
                          : uint64_t(kernel.vgprs);
    if (descriptor.allocatedVgprs < needed)
      report(where, "expected at least " + Twine(needed) +
                        " VGPRs in the descriptor, found " +
                        Twine(descriptor.allocatedVgprs));
    for (size_t i = 0; i != kernel.arguments.size(); ++i)
      if (kernel.arguments[i].hidden)
        report(where, "expected arguments that a launch gives, found that "
                      "argument " +
                          Twine(i) + " is " + kernel.arguments[i].valueKind);
  }

  template <typename Compare>
  void compareKernel(const EngineKernel &kernel, const KernelMetadata &found,
                     const std::string &at, Compare compare) {
    compare(at + "/kernarg_bytes", Twine(kernel.kernargBytes),
            Twine(found.kernargBytes));
    compare(at + "/static_lds", Twine(kernel.staticLds),
            Twine(found.staticLds));
    compare(at + "/static_lds", Twine(kernel.staticLds),
            Twine(found.descriptor.staticLds));
    compare(at + "/vgprs", Twine(kernel.vgprs), Twine(found.vgprs));
    compare(at + "/agprs", Twine(kernel.agprs), Twine(found.agprs));
    compare(at + "/sgprs", Twine(kernel.sgprs), Twine(found.sgprs));
    compare(at + "/max_workgroup", Twine(kernel.maxWorkgroup),
            Twine(found.maxWorkgroup));
    std::vector<const KernelArgument *> arguments;
    for (const KernelArgument &argument : found.arguments)
      if (!argument.hidden)
        arguments.push_back(&argument);
    compare(at + "/arguments", Twine(kernel.arguments.size()) + " arguments",
            Twine(arguments.size()) + " arguments");
    for (size_t i = 0, e = std::min(arguments.size(), kernel.arguments.size());
         i != e; ++i) {
      const EngineKernelArgument &said = kernel.arguments[i];
      const KernelArgument &argument = *arguments[i];
      std::string below = (at + "/arguments/" + Twine(i)).str();
      compare(below + "/name", said.name, argumentName(argument, i));
      compare(below + "/offset", Twine(said.offset), Twine(argument.offset));
      compare(below + "/bytes", Twine(said.bytes), Twine(argument.bytes));
      compare(below + "/kind", argumentKindName(said.kind),
              argumentKindName(argument.kind));
      if (!argument.access.empty() && said.kind == ArgumentKind::Pointer)
        compare(below + "/access", accessName(said.access), argument.access);
    }
  }

  //===--------------------------------------------------------------------===//
  // contracts.json
  //===--------------------------------------------------------------------===//

  static constexpr StringRef contractsFile = "contracts.json";

  /// Launches against their contracts: what was promised is what is launched.
  void checkContracts() {
    bool launches = any_of(engine.plans, [](const EnginePlan &plan) {
      return any_of(plan.steps, [](const EngineStep &step) {
        return step.kind == EngineStep::Kind::Launch;
      });
    });
    std::unique_ptr<MemoryBuffer> buffer = openReported(contractsFile);
    if (!buffer) {
      if (launches)
        report(contractsFile, "expected the contracts of the launches, found "
                              "no such file");
      return;
    }
    if (!readContracts(buffer->getBuffer(), contracts))
      return;
    for (const auto &[id, contract] : contracts)
      if (!contract.graphCapture)
        notCapturable.insert(id);
    for (size_t p = 0; p != engine.plans.size(); ++p)
      for (size_t s = 0; s != engine.plans[p].steps.size(); ++s) {
        const EngineStep &step = engine.plans[p].steps[s];
        if (step.kind != EngineStep::Kind::Launch)
          continue;
        std::string where = ("/plans/" + Twine(p) + "/steps/" + Twine(s)).str();
        auto found = contracts.find(step.contract);
        if (found == contracts.end())
          report(where + "/contract", "expected a contract of " +
                                          contractsFile + ", found " +
                                          step.contract);
        else
          checkLaunch(engine.plans[p], step, found->second, where);
      }
  }

  bool readContracts(StringRef text, std::map<std::string, Contract> &to) {
    Expected<json::Value> document = json::parse(text, contractsFile);
    if (!document) {
      report(contractsFile, llvm::toString(document.takeError()));
      return false;
    }
    json::Diagnostics diagnostics(contractsFile);
    json::ObjectReader object(json::Reader(*document, "", diagnostics));
    if (std::optional<json::Reader> member = object.required("format"))
      (void)member->choice({"netra.contracts/1"});
    if (std::optional<json::Reader> member = object.required("contracts"))
      for (auto &[id, value] : json::ObjectReader(*member).members()) {
        Expected<Contract> contract =
            Contract::fromJson(json::print(nlohmann::json(value.get()), -1));
        if (!contract)
          reportLines(contractsFile, id + ": ", contract.takeError());
        else if (contract->id() != id)
          report(contractsFile, "expected id " + contract->id() +
                                    " as the contents say, found " + id);
        else {
          if (Error error = verifyContract(*contract))
            reportLines(contractsFile, id + ": ", std::move(error));
          to.emplace(id, std::move(*contract));
        }
      }
    object.finish();
    for (const std::string &line : diagnostics.getLines())
      report(contractsFile, StringRef(line).split(": ").second);
    return diagnostics.empty();
  }

  void checkLaunch(const EnginePlan &plan, const EngineStep &step,
                   const Contract &contract, const std::string &where) {
    auto compare = [&](const Twine &at, uint64_t said, uint64_t promised) {
      if (said != promised)
        report(where + at, "expected " + Twine(promised) +
                               " as the contract says, found " + Twine(said));
    };
    // The kernel is proven for the guards of its contract, and for no others.
    for (const auto &[name, range] : contract.problem.guards) {
      auto guard = plan.profile.guards.find(name);
      if (guard == plan.profile.guards.end() || guard->second.min < range.min ||
          guard->second.max > range.max)
        report(where + "/contract",
               "expected a contract for all that plan " + plan.name +
                   " admits (" + toString(plan.profile.guards) +
                   "), found one for " + toString(contract.problem.guards));
    }
    for (size_t d = 0; d != 3; ++d) {
      if (step.grid[d] != contract.grid[d])
        report(where + "/grid/" + Twine(d),
               "expected " + contract.grid[d].str() +
                   " as the contract says, found " + step.grid[d].str());
      compare("/block/" + Twine(d), step.block[d], contract.block[d]);
    }
    compare("/dynamic_lds", step.dynamicLds, contract.dynamicLds);
    if (const OperationDefinition *operation =
            findOperation(contract.problem.family, contract.problem.operation);
        operation && operation->name != step.operation)
      report(where + "/operation", "expected " + operation->name +
                                       " as the contract says, found " +
                                       step.operation);
    compare("/contract (wave size)", engine.waveSize, contract.waveSize);
    if (contract.target != engine.architecture)
      report(where + "/contract", "expected a contract for " +
                                      engine.architecture + ", found one for " +
                                      contract.target);
    if (step.codeObject >= engine.codeObjects.size() ||
        step.kernel >= engine.codeObjects[step.codeObject].kernels.size())
      return; // reported already
    const EngineKernel &kernel =
        engine.codeObjects[step.codeObject].kernels[step.kernel];
    compare("/kernel (kernarg bytes)", kernel.kernargBytes,
            contract.kernargBytes);
    compare("/kernel (static LDS)", kernel.staticLds, contract.staticLds);
    compare("/kernel (arguments)", kernel.arguments.size(),
            contract.arguments.size());
    if (kernel.arguments.size() != contract.arguments.size() ||
        step.arguments.size() != contract.arguments.size())
      return;
    for (size_t i = 0; i != contract.arguments.size(); ++i)
      checkArgument(step.arguments[i], kernel.arguments[i],
                    contract.arguments[i], contract,
                    (where + "/arguments/" + Twine(i)).str());
  }

  void checkArgument(const EngineSlot &slot, const EngineKernelArgument &said,
                     const Argument &promised, const Contract &contract,
                     const std::string &where) {
    using Kind = EngineSlot::Kind;
    if (said.name != promised.name || said.offset != promised.offset ||
        said.bytes != promised.bytes || said.kind != promised.kind ||
        said.type != promised.type || said.access != promised.access)
      report(where, "expected argument " + promised.name +
                        " as the contract describes it, found " + said.name +
                        " with another offset, size, kind, type or access");
    if (promised.kind == ArgumentKind::Value) {
      if (slot.kind == Kind::Value && slot.bits != promised.bits)
        report(where + "/bits", "expected " + Twine(promised.bits) +
                                    " as the contract says, found " +
                                    Twine(slot.bits));
      auto spell = [](const std::optional<Affine> &follows) {
        return follows ? follows->str() : "one value for all launches";
      };
      if (slot.kind == Kind::Value && slot.follows != promised.follows)
        report(where + "/follows", "expected " + spell(promised.follows) +
                                       " as the contract says, found " +
                                       spell(slot.follows));
      return;
    }
    uint64_t needed = contract.workspaceBytes;
    if (promised.role != "workspace") {
      const OperandSpec *operand = contract.problem.find(promised.role);
      if (operand && promised.operandOffset == 0)
        checkLayout(slot, *operand, where);
      Expected<uint64_t> bytes =
          operand ? tensorBytes(operand->type, operand->shape)
                  : Expected<uint64_t>(0);
      if (!bytes) {
        consumeError(bytes.takeError());
        return;
      }
      needed = *bytes - std::min(*bytes, promised.operandOffset);
    }
    if (slot.kind == Kind::Null
            ? needed != 0
            : slot.kind != Kind::Value && slot.bytes != needed)
      report(where + "/bytes",
             "expected the " + Twine(needed) + " bytes of " + promised.role +
                 ", found " + Twine(slot.kind == Kind::Null ? 0 : slot.bytes));
  }

  /// A whole buffer that is read as the tensor it holds is read in the order
  /// in which its elements lie.
  void checkLayout(const EngineSlot &slot, const OperandSpec &operand,
                   const std::string &where) {
    // Some layouts keep the order of row_major and only say more.
    auto keepsOrder = [&](StringRef spelling) {
      Expected<Layout> layout = Layout::parse(spelling);
      Error error = layout ? layout->verify(operand.shape) : layout.takeError();
      bool isLegal = !error;
      consumeError(std::move(error));
      return isLegal && layout->map(operand.shape).isIdentity();
    };
    auto compare = [&](const auto &buffer) {
      if (slot.offset == 0 && buffer.shape == operand.shape &&
          buffer.layout != operand.layout &&
          !(keepsOrder(buffer.layout) && keepsOrder(operand.layout)))
        report(where, "expected layout " + operand.layout + " of " +
                          operand.role + " as the contract says, found that " +
                          buffer.name + " has layout " + buffer.layout);
    };
    if (slot.kind == EngineSlot::Kind::Binding &&
        slot.index < engine.bindings.size())
      compare(engine.bindings[slot.index]);
    else if (slot.kind == EngineSlot::Kind::Weight &&
             slot.index < engine.weights.entries.size())
      compare(engine.weights.entries[slot.index]);
  }

  //===--------------------------------------------------------------------===//
  // Reports
  //===--------------------------------------------------------------------===//

  /// The text of a listed file, or none; that it is missing has been said.
  std::optional<std::string> readListed(StringRef name) {
    if (none_of(engine.files,
                [&](const EngineFile &file) { return file.path == name; }))
      return std::nullopt;
    std::unique_ptr<MemoryBuffer> buffer = openReported(name);
    if (!buffer)
      return std::nullopt;
    return buffer->getBuffer().str();
  }

  /// Reports that follow from the description say what it says.
  void checkReports() {
    for (const auto &[name, expected] : deriveReports(engine, notCapturable)) {
      std::optional<std::string> found = readListed(name);
      if (!found || *found == expected)
        continue;
      report(name, describeDifference(expected, *found));
    }
    auto tell = [&](const Twine &where, const Twine &message) {
      report(where, message);
    };
    Explanation explanation;
    if (std::optional<std::string> text = readListed("explain.json"))
      explanation = checkExplanation(*text, engine, contracts, tell);
    checkDefinitions(directory, engine, contracts, tell);
    if (std::optional<std::string> text = readListed("validation.json"))
      if (std::optional<StatedSourcesBySymbol> stated =
              checkValidation(*text, engine, explanation, identities, tell))
        checkSources(directory, engine, *stated, tell);
  }

  StringRef directory, goldenRoot;
  Engine engine;
  /// Of the machine code, by code object and symbol.
  std::map<std::pair<size_t, std::string>, std::string> identities;
  /// Of code objects without data of their own, by number.
  std::map<size_t, std::vector<std::string>> symbolsHeld;
  std::map<std::string, Contract> contracts; // by id
  std::set<std::string> notCapturable;       // ids of contracts
  std::vector<BundleFinding> findings;
};
} // namespace

Expected<std::vector<BundleFinding>> verifyBundle(StringRef directory,
                                                  StringRef goldenRoot) {
  // Without a trailing slash, so that relative names can be cut off.
  while (directory.size() > 1 && directory.ends_with("/"))
    directory = directory.drop_back();
  return BundleVerifier(directory, goldenRoot).run();
}

} // namespace netra
