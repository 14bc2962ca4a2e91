//===- Assembler.cpp - From tactic instances to code objects --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/Assembler.h"

#include "InstanceSource.h"
#include "KernelFileSystem.h"
#include "Linker.h"
#include "MachineTarget.h"
#include "Netra/Catalog/TargetInfo.h"
#include "Netra/Target/AssemblyCache.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include "llvm-c/Core.h"

#include <set>

using namespace llvm;
namespace fs = llvm::sys::fs;

namespace netra {

namespace {
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

/// Assembles `source` to a relocatable object.
static Error assembleObject(StringRef source, StringRef name,
                            const TargetInfo &info,
                            IntrusiveRefCntPtr<KernelFileSystem> files,
                            SmallVectorImpl<char> &objectBytes) {
  Expected<std::unique_ptr<MachineTarget>> made =
      MachineTarget::create(info.name);
  if (!made)
    return made.takeError();
  auto &[triple, options, target, registers, asmInfo, instructions, subtarget] =
      **made;

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

Expected<Assembler> Assembler::create(StringRef libraryRoot, StringRef target,
                                      std::shared_ptr<AssemblyCache> cache) {
  SmallString<256> root(libraryRoot);
  sys::path::append(root, "kernels", target);
  if (findTarget(target) && !fs::is_directory(root))
    return createStringError("library root \"" + libraryRoot +
                             "\": expected a folder kernels/" + target +
                             " in it, found none");
  Expected<Assembler> assembler = forFolder(root, target);
  if (assembler)
    assembler->cache = std::move(cache);
  return assembler;
}

Expected<Assembler> Assembler::forFolder(StringRef folder, StringRef target) {
  if (!findTarget(target))
    return createStringError("target \"" + target +
                             "\": expected a known target");
  // The working directory may change later.
  SmallString<256> root(folder);
  if (std::error_code error = fs::make_absolute(root))
    return createStringError(error, folder + ": " + error.message());
  Assembler assembler;
  assembler.kernelRoot = std::string(root);
  assembler.target = target.str();
  return assembler;
}

std::string hashClosure(ArrayRef<SourceFile> closure) {
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
static Expected<AssembledKernel>
assembleAndLink(ArrayRef<NamedSource> sources, StringRef name,
                IntrusiveRefCntPtr<KernelFileSystem> files,
                const TargetInfo &info) {
  AssembledKernel kernel;
  std::vector<SmallVector<char, 0>> objects(sources.size());
  for (size_t i = 0; i != sources.size(); ++i) {
    files->beginSource();
    if (Error error = assembleObject(sources[i].text, sources[i].name, info,
                                     files, objects[i]))
      return error;
    kernel.source += sources[i].text;
  }
  kernel.closure = files->getClosure();
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

/// Everything that the bytes of a code object depend on. Whoever changes what
/// is done with a source in this file or in Linker.cpp gives `format` a new
/// number, so that code objects made before are not taken for new ones.
static std::string computeCacheKey(const TargetInfo &info,
                                   ArrayRef<NamedSource> sources,
                                   ArrayRef<SourceFile> includes) {
  constexpr unsigned format = 2;
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch); // of the library that is loaded
  std::string identity =
      ("netra.assembly/" + Twine(format) + "\nassembler " + Twine(major) + "." +
       Twine(minor) + "." + Twine(patch) +
       "\nlinker " LLVM_VERSION_STRING "\ntarget " + info.name + "\n")
          .str();
  for (const NamedSource &source : sources)
    identity += ("source " + source.name + " " +
                 sha256Hex(StringRef(source.text)) + "\n");
  for (const SourceFile &file : includes)
    identity += "file " + file.path + " " + file.sha256 + "\n";
  return sha256Hex(StringRef(identity));
}

/// As assembleAndLink, from the cache if there is one that has it. What `check`
/// refuses is not put there.
static Expected<AssembledKernel>
assembleChecked(ArrayRef<NamedSource> sources, StringRef name,
                StringRef kernelRoot, const TargetInfo &info,
                AssemblyCache *cache,
                function_ref<Error(const CodeObject &)> check) {
  auto files = makeIntrusiveRefCnt<KernelFileSystem>(kernelRoot);
  std::vector<SourceFile> includes;
  std::string key;
  if (cache) {
    for (const NamedSource &source : sources)
      files->findIncludes(source.text, includes);
    // An include that is not there may stand under a condition that does not
    // hold. The assembler finds out; a key cannot be given.
    if (files->refusals.empty())
      key = computeCacheKey(info, sources, includes);
    files->refusals.clear();
  }
  if (!key.empty())
    if (std::optional<AssembledKernel> kernel = cache->find(key, includes)) {
      for (const NamedSource &source : sources)
        kernel->source += source.text;
      kernel->closureSha256 = hashClosure(kernel->closure);
      if (Error error = check(kernel->object))
        return error;
      return std::move(*kernel);
    }
  Expected<AssembledKernel> kernel =
      assembleAndLink(sources, name, files, info);
  if (!kernel)
    return kernel;
  if (Error error = check(kernel->object))
    return error;
  // A file whose name a macro has made up, or that `.incbin` has read, is not
  // among those that the key covers.
  bool isCovered = all_of(kernel->closure, [&](const SourceFile &file) {
    return any_of(includes, [&](const SourceFile &include) {
      return include.path == file.path;
    });
  });
  if (!key.empty() && isCovered)
    cache->insert(key, *kernel);
  return kernel;
}

Expected<AssembledKernel> Assembler::assembleSource(StringRef source,
                                                    StringRef name) const {
  return assembleAndLink(NamedSource{source.str(), name.str()}, name,
                         makeIntrusiveRefCnt<KernelFileSystem>(kernelRoot),
                         *findTarget(target));
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

Expected<std::vector<uint8_t>>
Assembler::assembleCode(const Instance &instance) const {
  SmallVector<char, 0> bytes;
  std::string name = instance.symbol + ".s";
  auto files = makeIntrusiveRefCnt<KernelFileSystem>(kernelRoot);
  files->beginSource();
  if (Error error = assembleObject(codeSource(instance), name,
                                   *findTarget(target), files, bytes))
    return error;
  Expected<std::unique_ptr<object::ObjectFile>> object =
      object::ObjectFile::createELFObjectFile(
          MemoryBufferRef(StringRef(bytes.data(), bytes.size()), name));
  if (!object)
    return object.takeError();
  for (object::ELFSymbolRef symbol : (*object)->symbols()) {
    Expected<StringRef> found = symbol.getName();
    Expected<object::section_iterator> section = symbol.getSection();
    Expected<uint64_t> value = symbol.getValue();
    bool isKernel = found && *found == instance.symbol && section && value &&
                    *section != (*object)->section_end();
    uint64_t begin = isKernel ? *value : 0;
    consumeError(found.takeError());
    consumeError(value.takeError());
    if (!section) {
      consumeError(section.takeError());
      continue;
    }
    if (!isKernel)
      continue;
    Expected<StringRef> contents = (*section)->getContents();
    if (!contents)
      return contents.takeError();
    StringRef code = contents->substr(begin, symbol.getSize());
    return std::vector<uint8_t>(code.bytes_begin(), code.bytes_end());
  }
  return createStringError(name + ": expected the symbol " + instance.symbol +
                           ", found none");
}

Expected<AssembledKernel>
Assembler::assembleGroup(ArrayRef<Instance> instances) const {
  const TargetInfo &info = *findTarget(target);
  std::vector<NamedSource> sources;
  for (const Instance &instance : instances)
    sources.push_back({codeSource(instance), instance.symbol + ".s"});
  sources.push_back(
      {targetDirectives(info) + metadataSource(instances, info), "metadata.s"});
  return assembleChecked(
      sources, "code object", kernelRoot, info, cache.get(),
      [&](const CodeObject &object) -> Error {
        for (const Instance &instance : instances)
          if (Error error = checkContract(object, instance, instances.size()))
            return error;
        return Error::success();
      });
}

Expected<std::string> Assembler::hashSources(StringRef templatePath) const {
  KernelFileSystem files(kernelRoot);
  std::vector<SourceFile> found;
  files.collect(templatePath.str(), found);
  if (!files.refusals.empty())
    return createStringError(templatePath + ": " + join(files.refusals, "; "));
  return hashClosure(found);
}

Expected<AssembledKernel> Assembler::assemble(const Instance &instance) const {
  if (instance.tactic->target != target)
    return createStringError("tactic " + instance.tactic->name +
                             ": expected target " + target + ", found " +
                             instance.tactic->target);
  bool isChecked = false;
  std::string name = instance.symbol + ".s";
  Expected<AssembledKernel> kernel = assembleChecked(
      NamedSource{instanceSource(instance), name}, name, kernelRoot,
      *findTarget(target), cache.get(), [&](const CodeObject &object) {
        isChecked = true;
        return checkContract(object, instance, /*kernels=*/1);
      });
  // A broken contract names its tactic itself.
  if (!kernel && !isChecked)
    return createStringError("tactic " + instance.tactic->name + ": " +
                             llvm::toString(kernel.takeError()));
  return kernel;
}

} // namespace netra
