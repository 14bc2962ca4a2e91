//===- Assembler.cpp - From tactic instances to code objects --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Assembler.h"

#include "InstanceSource.h"
#include "Linker.h"
#include "Netra/Catalog/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/TargetParser/Triple.h"

#include <functional>
#include <mutex>

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace netra {

namespace {
/// What `.include` may see: files below the kernel folder, by relative path.
/// Each file is read once and recorded, so that what was assembled and what is
/// recorded cannot differ.
class KernelFileSystem : public vfs::FileSystem {
public:
  explicit KernelFileSystem(StringRef root) : root(root) {
    SmallString<256> real;
    if (!fs::real_path(root, real))
      realRoot = std::string(real);
  }

  ErrorOr<std::unique_ptr<vfs::File>>
  openFileForRead(const Twine &path) override {
    std::string name = path.str();
    // A file that includes itself would go on until memory ends.
    if (++opened > maxOpened)
      return refuse(name, "more than " + utostr(maxOpened) +
                              " includes; does a file include itself?");
    if (!load(name))
      return std::make_error_code(std::errc::no_such_file_or_directory);
    return memory.openFileForRead("/" + name);
  }

  ErrorOr<vfs::Status> status(const Twine &path) override {
    std::string name = path.str();
    if (!load(name))
      return std::make_error_code(std::errc::no_such_file_or_directory);
    return memory.status("/" + name);
  }

  vfs::directory_iterator dir_begin(const Twine &,
                                    std::error_code &error) override {
    error = std::make_error_code(std::errc::not_supported);
    return {};
  }
  std::error_code setCurrentWorkingDirectory(const Twine &) override {
    return std::make_error_code(std::errc::not_supported);
  }
  ErrorOr<std::string> getCurrentWorkingDirectory() const override {
    return std::string("/");
  }

  std::vector<SourceFile> closure;
  std::vector<std::string> refusals;

private:
  static constexpr unsigned maxOpened = 1000;

  std::error_code refuse(const std::string &name, const Twine &reason) {
    refusals.push_back(("include \"" + name + "\": " + reason).str());
    return std::make_error_code(std::errc::permission_denied);
  }

  bool load(const std::string &name) {
    if (known.count(name))
      return true;
    SmallVector<StringRef> parts;
    StringRef(name).split(parts, '/');
    if (name.empty() || is_contained(parts, "..") || is_contained(parts, ".") ||
        is_contained(parts, "")) {
      refuse(name, "expected a plain path below the kernel folder");
      return false;
    }
    SmallString<256> path(root), real;
    sys::path::append(path, name);
    if (fs::real_path(path, real)) {
      refuse(name, "expected a file of the kernel folder, found none");
      return false;
    }
    // A link must not lead out of the kernel folder either.
    StringRef inside = real;
    if (!inside.consume_front(realRoot) || !inside.starts_with("/")) {
      refuse(name, "expected a file of the kernel folder, found a link out "
                   "of it");
      return false;
    }
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
        MemoryBuffer::getFile(path, /*IsText=*/false,
                              /*RequiresNullTerminator=*/false);
    if (!buffer) {
      refuse(name,
             "expected a readable file, found: " + buffer.getError().message());
      return false;
    }
    std::string text = (*buffer)->getBuffer().str();
    memory.addFile("/" + name, 0, MemoryBuffer::getMemBufferCopy(text, name));
    closure.push_back({name, text, sha256Hex(StringRef(text))});
    known.insert(name);
    return true;
  }

  std::string root, realRoot;
  vfs::InMemoryFileSystem memory;
  std::set<std::string> known;
  unsigned opened = 0;
};

/// Diagnostics of one assembly as lines "file:line:column: error: text".
struct DiagnosticCollector {
  std::vector<std::string> lines;
  bool hasError = false;

  void add(const SMDiagnostic &diagnostic) {
    StringRef kind = "note";
    if (diagnostic.getKind() == SourceMgr::DK_Error)
      kind = "error";
    else if (diagnostic.getKind() == SourceMgr::DK_Warning)
      kind = "warning";
    hasError |= kind == "error";
    // Enough to see what is wrong; one mistake in a macro repeats itself.
    if (lines.size() == 40)
      lines.push_back("(more diagnostics left out)");
    if (lines.size() > 40)
      return;
    std::string line = diagnostic.getFilename().str();
    if (diagnostic.getLineNo() > 0)
      line += ":" + itostr(diagnostic.getLineNo());
    if (diagnostic.getColumnNo() >= 0)
      line += ":" + itostr(diagnostic.getColumnNo() + 1);
    lines.push_back(line + ": " + kind.str() + ": " +
                    diagnostic.getMessage().str());
  }

  static void handle(const SMDiagnostic &diagnostic, void *self) {
    static_cast<DiagnosticCollector *>(self)->add(diagnostic);
  }
};
} // namespace

static void initializeTargets() {
  static std::once_flag flag;
  std::call_once(flag, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
  });
}

/// Assembles `source` to a relocatable object.
static Error assembleObject(StringRef source, StringRef name,
                            const TargetInfo &info,
                            IntrusiveRefCntPtr<KernelFileSystem> files,
                            SmallVectorImpl<char> &objectBytes) {
  initializeTargets();
  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError("LLVM has no AMDGPU target: " + message);
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> asmInfo(
      target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, info.name, /*Features=*/""));
  if (!registers || !asmInfo || !instructions || !subtarget)
    return createStringError("LLVM's AMDGPU target has no assembler");

  DiagnosticCollector diagnostics;
  SourceMgr sources;
  sources.setVirtualFileSystem(files);
  sources.setDiagHandler(DiagnosticCollector::handle, &diagnostics);
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(source, name),
                             SMLoc());
  MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(),
                    &sources, &options);
  context.setDiagnosticHandler(
      [&](const SMDiagnostic &diagnostic, bool, const SourceMgr &,
          std::vector<const MDNode *> &) { diagnostics.add(diagnostic); });
  std::unique_ptr<MCObjectFileInfo> objectInfo(
      target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(objectInfo.get());
  // Nothing of the machine may enter the object.
  context.setCompilationDir("");

  raw_svector_ostream stream(objectBytes);
  std::unique_ptr<MCCodeEmitter> emitter(
      target->createMCCodeEmitter(*instructions, context));
  std::unique_ptr<MCAsmBackend> backend(
      target->createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<MCStreamer> streamer(target->createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::move(emitter), *subtarget));
  std::unique_ptr<MCAsmParser> parser(
      createMCAsmParser(sources, context, *streamer, *asmInfo));
  std::unique_ptr<MCTargetAsmParser> targetParser(
      target->createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*targetParser);
  bool failed = parser->Run(/*NoInitialTextSection=*/false);
  if (!failed && !diagnostics.hasError && !context.hadError() &&
      files->refusals.empty())
    return Error::success();
  std::vector<std::string> lines = files->refusals;
  llvm::append_range(lines, diagnostics.lines);
  if (lines.empty())
    lines.push_back("the assembler failed without a diagnostic");
  return createStringError("assembly of " + name + " failed:\n  " +
                           join(lines, "\n  "));
}

Expected<Assembler> Assembler::create(StringRef libraryRoot, StringRef target) {
  const TargetInfo *info = findTarget(target);
  if (!info)
    return createStringError("target \"" + target +
                             "\": expected a known target");
  SmallString<256> root(libraryRoot);
  sys::path::append(root, "kernels", target);
  if (!fs::is_directory(root))
    return createStringError("library root \"" + libraryRoot +
                             "\": expected a folder kernels/" + target +
                             " in it, found none");
  // The working directory may change later.
  if (std::error_code error = fs::make_absolute(root))
    return createStringError(error, "library root \"" + libraryRoot +
                                        "\": " + error.message());
  Assembler assembler;
  assembler.kernelRoot = std::string(root);
  assembler.target = target.str();
  return assembler;
}

static std::string hashClosure(ArrayRef<SourceFile> closure) {
  std::string identity;
  for (const SourceFile &file : closure)
    identity += file.path + '\0' + file.sha256 + '\n';
  return sha256Hex(StringRef(identity));
}

namespace {
/// A source on its way to become part of a code object.
struct NamedSource {
  std::string text, name;
};
} // namespace

/// Assembles each source on its own and links the objects in their order.
/// `name` is that of the whole in diagnostics.
static Expected<AssembledKernel> assembleAndLink(ArrayRef<NamedSource> sources,
                                                 StringRef name,
                                                 StringRef kernelRoot,
                                                 const TargetInfo &info) {
  AssembledKernel kernel;
  std::vector<SmallVector<char, 0>> objects(sources.size());
  std::set<std::string> known;
  for (size_t i = 0; i != sources.size(); ++i) {
    auto files = makeIntrusiveRefCnt<KernelFileSystem>(kernelRoot);
    if (Error error = assembleObject(sources[i].text, sources[i].name, info,
                                     files, objects[i]))
      return error;
    kernel.source += sources[i].text;
    for (SourceFile &file : files->closure)
      if (known.insert(file.path).second)
        kernel.closure.push_back(std::move(file));
  }
  std::vector<StringRef> views;
  for (const SmallVector<char, 0> &object : objects)
    views.emplace_back(object.data(), object.size());
  Expected<std::vector<uint8_t>> linked = linkCodeObject(views);
  if (!linked)
    return createStringError("linking of " + name +
                             " failed: " + llvm::toString(linked.takeError()));
  Expected<CodeObject> codeObject = readCodeObject(std::move(*linked));
  if (!codeObject)
    return createStringError(name + ": " +
                             llvm::toString(codeObject.takeError()));
  kernel.object = std::move(*codeObject);
  kernel.closureSha256 = hashClosure(kernel.closure);
  return kernel;
}

Expected<AssembledKernel> Assembler::assembleSource(StringRef source,
                                                    StringRef name) const {
  return assembleAndLink(NamedSource{source.str(), name.str()}, name,
                         kernelRoot, *findTarget(target));
}

/// The error of a kernel that is not what its contract says.
static Error checkContract(const CodeObject &object, const Instance &instance,
                           size_t kernels) {
  std::vector<std::string> differences =
      compareWithInstance(object, instance, kernels);
  if (differences.empty())
    return Error::success();
  return createStringError(
      "tactic " + instance.tactic->name + ", kernel " + instance.symbol +
      ": the code object breaks its contract:\n  " + join(differences, "\n  "));
}

Expected<AssembledKernel>
Assembler::assembleGroup(ArrayRef<Instance> instances) const {
  const TargetInfo &info = *findTarget(target);
  std::vector<NamedSource> sources;
  for (const Instance &instance : instances)
    sources.push_back({codeSource(instance), instance.symbol + ".s"});
  sources.push_back(
      {targetDirectives(info) + metadataSource(instances, info), "metadata.s"});
  Expected<AssembledKernel> kernel =
      assembleAndLink(sources, "code object", kernelRoot, info);
  if (!kernel)
    return kernel.takeError();
  for (const Instance &instance : instances)
    if (Error error = checkContract(kernel->object, instance, instances.size()))
      return error;
  return kernel;
}

Expected<std::string> Assembler::hashSources(StringRef templatePath) const {
  auto files = makeIntrusiveRefCnt<KernelFileSystem>(kernelRoot);
  // What a file includes comes right after it, as when it is assembled.
  std::set<std::string> visited;
  std::function<void(const std::string &)> visit =
      [&](const std::string &path) {
        if (!visited.insert(path).second || !files->status(path))
          return;
        std::string text = files->closure.back().text;
        SmallVector<StringRef> lines;
        StringRef(text).split(lines, '\n');
        for (StringRef line : lines) {
          line = line.trim();
          if (line.consume_front(".include"))
            visit(line.split('"').second.split('"').first.str());
        }
      };
  visit(templatePath.str());
  if (!files->refusals.empty())
    return createStringError(templatePath + ": " + join(files->refusals, "; "));
  return hashClosure(files->closure);
}

Expected<AssembledKernel> Assembler::assemble(const Instance &instance) const {
  if (instance.tactic->target != target)
    return createStringError("tactic " + instance.tactic->name +
                             ": expected target " + target + ", found " +
                             instance.tactic->target);
  Expected<AssembledKernel> kernel =
      assembleSource(instanceSource(instance), instance.symbol + ".s");
  if (!kernel)
    return createStringError("tactic " + instance.tactic->name + ": " +
                             llvm::toString(kernel.takeError()));
  if (Error error = checkContract(kernel->object, instance, /*kernels=*/1))
    return error;
  return kernel;
}

} // namespace netra
