//===- CodeObject.cpp - Loading HSA code objects -------------------------===//
// SPDX-License-Identifier: MIT

#include "CodeObjectImpl.h"
#include "TargetFlags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <tuple>

using namespace llvm;
using namespace llvm::object;
using support::endian::read16le;
using support::endian::read32le;
using support::endian::read64le;

namespace netra::sim {

namespace {

using Elf = ELF64LE;

uint64_t number(msgpack::DocNode node, uint64_t otherwise) {
  if (node.getKind() == msgpack::Type::UInt)
    return node.getUInt();
  if (node.getKind() == msgpack::Type::Int)
    return uint64_t(node.getInt());
  return otherwise;
}

std::string string(msgpack::DocNode node) {
  return node.isString() ? node.getString().str() : std::string();
}

/// A member of a map, or nil. (A default-constructed node has no kind and may
/// not be asked for it.)
msgpack::DocNode member(msgpack::DocNode node, StringRef key) {
  static msgpack::Document nothing;
  if (!node.isMap())
    return nothing.getNode();
  auto &map = node.getMap();
  auto it = map.find(key);
  return it == map.end() ? nothing.getNode() : it->second;
}

/// Whether each key of a map is a string; LLVM's document may not be asked to
/// read collections as keys.
bool hasNamedMembers(StringRef blob) {
  msgpack::Reader reader(blob);
  struct Level {
    uint64_t left; ///< objects, keys included
    bool isMap;
  };
  SmallVector<Level> levels;
  do {
    msgpack::Object object;
    auto isRead = reader.read(object);
    if (!isRead)
      consumeError(isRead.takeError());
    if (!isRead || !*isRead)
      return false;
    if (!levels.empty()) {
      Level &level = levels.back();
      if (level.isMap && level.left % 2 == 0 &&
          object.Kind != msgpack::Type::String)
        return false;
      --level.left;
    }
    if (object.Kind == msgpack::Type::Map)
      levels.push_back({2 * uint64_t(object.Length), true});
    else if (object.Kind == msgpack::Type::Array)
      levels.push_back({object.Length, false});
    while (!levels.empty() && levels.back().left == 0)
      levels.pop_back();
  } while (!levels.empty());
  return true;
}

Error malformed(StringRef name, const Twine &what) {
  return createStringError(name + ": " + what);
}

} // namespace

/// Fills a CodeObject::Impl from its bytes.
class CodeObjectLoader {
public:
  explicit CodeObjectLoader(CodeObject::Impl &impl) : impl(impl) {}

  Error run();

private:
  Error readHeader();
  Error readSegments();
  Error readSymbols();
  void readMetadata();
  void readMetadataDocument(StringRef blob);
  Error readDescriptor(Kernel &kernel);
  void readRelocations();
  /// `size` bytes at an address of the image, if the file holds them.
  std::optional<ArrayRef<uint8_t>> at(uint64_t address, uint64_t size) const;
  void warn(const Twine &what) { impl.warnings.push_back(what.str()); }

  CodeObject::Impl &impl;
  std::optional<ELFFile<Elf>> file;
  std::map<std::string, uint64_t> descriptors; ///< kernel name to address
};

std::optional<ArrayRef<uint8_t>> CodeObjectLoader::at(uint64_t address,
                                                      uint64_t size) const {
  for (const auto &segment : impl.segments)
    if (address >= segment.address &&
        address - segment.address <= segment.contents.size() &&
        size <= segment.contents.size() - (address - segment.address))
      return segment.contents.slice(address - segment.address, size);
  return std::nullopt;
}

Error CodeObjectLoader::readHeader() {
  StringRef data(reinterpret_cast<const char *>(impl.bytes.data()),
                 impl.bytes.size());
  if (data.starts_with("__CLANG_OFFLOAD_BUNDLE__") || data.starts_with("CCOB"))
    return malformed(impl.name, "an offload bundle, not a code object; "
                                "unbundle it with clang-offload-bundler");
  if (data.size() < sizeof(Elf::Ehdr) || !data.starts_with("\x7f"
                                                           "ELF"))
    return malformed(impl.name, "expected an ELF file, found " +
                                    Twine(data.size()) +
                                    " bytes without its magic number");
  if (uint8_t(data[4]) != ELF::ELFCLASS64 ||
      uint8_t(data[5]) != ELF::ELFDATA2LSB)
    return malformed(impl.name, "expected a 64-bit little-endian ELF");
  auto made = ELFFile<Elf>::create(data);
  if (!made)
    return malformed(impl.name, toString(made.takeError()));
  file = *made;
  const auto &header = file->getHeader();
  if (header.e_machine != ELF::EM_AMDGPU)
    return malformed(
        impl.name, formatv("expected machine {0} (AMDGPU), found {1}",
                           unsigned(ELF::EM_AMDGPU), unsigned(header.e_machine))
                       .str());
  if (header.e_ident[ELF::EI_OSABI] != ELF::ELFOSABI_AMDGPU_HSA)
    return malformed(impl.name, "expected the OS ABI of HSA, found " +
                                    Twine(header.e_ident[ELF::EI_OSABI]));
  if (header.e_type != ELF::ET_DYN)
    return malformed(
        impl.name, "expected a linked code object (ET_DYN), found ELF type " +
                       Twine(header.e_type) + "; link it with ld.lld -shared");
  if (std::string why = hsa::TargetFlags(header.e_flags).whyNotForDevice();
      !why.empty())
    return malformed(impl.name, why);
  impl.cpu = "gfx950";
  return Error::success();
}

Error CodeObjectLoader::readSegments() {
  auto headers = file->program_headers();
  if (!headers)
    return malformed(impl.name, toString(headers.takeError()));
  impl.imageBegin = ~uint64_t(0);
  for (const Elf::Phdr &header : *headers) {
    if (header.p_type != ELF::PT_LOAD)
      continue;
    if (header.p_offset > impl.bytes.size() ||
        header.p_filesz > impl.bytes.size() - header.p_offset ||
        header.p_memsz < header.p_filesz ||
        header.p_vaddr + header.p_memsz < header.p_vaddr)
      return malformed(impl.name,
                       "a loadable segment reaches past the end of the file "
                       "(truncated code object?)");
    ArrayRef<uint8_t> contents =
        ArrayRef<uint8_t>(impl.bytes).slice(header.p_offset, header.p_filesz);
    impl.segments.push_back({header.p_vaddr, header.p_memsz, contents});
    impl.imageBegin = std::min<uint64_t>(impl.imageBegin, header.p_vaddr);
    impl.imageEnd =
        std::max<uint64_t>(impl.imageEnd, header.p_vaddr + header.p_memsz);
    if (header.p_flags & ELF::PF_X)
      impl.text.push_back({header.p_vaddr, contents});
  }
  if (impl.segments.empty())
    return malformed(impl.name, "no loadable segments");
  if (impl.imageEnd - impl.imageBegin > (uint64_t(1) << 32))
    return malformed(impl.name, "the image spans more than 4 GiB");

  // Sections, where present, bound the text more tightly than segments.
  auto sections = file->sections();
  if (sections) {
    std::vector<TextRange> tight;
    for (const Elf::Shdr &section : *sections) {
      if (section.sh_type != ELF::SHT_PROGBITS ||
          !(section.sh_flags & ELF::SHF_EXECINSTR) || !section.sh_size)
        continue;
      if (auto bytes = at(section.sh_addr, section.sh_size))
        tight.push_back({section.sh_addr, *bytes});
    }
    if (!tight.empty())
      impl.text = std::move(tight);
  } else {
    warn("unreadable section table: " + toString(sections.takeError()));
  }
  return Error::success();
}

Error CodeObjectLoader::readSymbols() {
  auto sections = file->sections();
  if (!sections) {
    consumeError(sections.takeError());
    return malformed(impl.name, "no readable section table");
  }
  const Elf::Shdr *table = nullptr;
  for (const Elf::Shdr &section : *sections) {
    if (section.sh_type == ELF::SHT_SYMTAB)
      table = &section;
    if (section.sh_type == ELF::SHT_DYNSYM && !table)
      table = &section;
  }
  auto visit = [&](const Elf::Shdr &section) -> Error {
    auto symbols = file->symbols(&section);
    if (!symbols)
      return malformed(impl.name, toString(symbols.takeError()));
    auto names = file->getStringTableForSymtab(section);
    if (!names)
      return malformed(impl.name, toString(names.takeError()));
    for (const Elf::Sym &symbol : *symbols) {
      auto name = symbol.getName(*names);
      if (!name) {
        consumeError(name.takeError());
        continue;
      }
      if (symbol.getType() == ELF::STT_FUNC)
        impl.starts.push_back(symbol.st_value);
      if (symbol.st_shndx == ELF::SHN_UNDEF)
        continue;
      // Some tools leave the descriptor's symbol untyped.
      StringRef base = *name;
      if (base.consume_back(".kd") &&
          (symbol.st_size == 64 || symbol.st_size == 0))
        descriptors.emplace(base.str(), symbol.st_value);
      else if (symbol.getType() == ELF::STT_OBJECT)
        impl.variables.push_back(
            {name->str(), symbol.st_value, symbol.st_size});
    }
    return Error::success();
  };
  for (const Elf::Shdr &section : *sections)
    if (section.sh_type == ELF::SHT_SYMTAB ||
        section.sh_type == ELF::SHT_DYNSYM)
      if (Error error = visit(section))
        return error;
  // Variables of both tables, once each.
  std::sort(impl.variables.begin(), impl.variables.end(),
            [](const auto &a, const auto &b) {
              return std::tie(a.address, a.name) < std::tie(b.address, b.name);
            });
  impl.variables.erase(std::unique(impl.variables.begin(), impl.variables.end(),
                                   [](const auto &a, const auto &b) {
                                     return a.address == b.address &&
                                            a.name == b.name;
                                   }),
                       impl.variables.end());
  return Error::success();
}

void CodeObjectLoader::readMetadataDocument(StringRef blob) {
  msgpack::Document document;
  if (!hasNamedMembers(blob) || !document.readFromBlob(blob, /*Multi=*/false)) {
    warn("a metadata note is not valid MsgPack; it is ignored");
    return;
  }
  msgpack::DocNode kernels = member(document.getRoot(), "amdhsa.kernels");
  if (!kernels.isArray())
    return;
  for (msgpack::DocNode node : kernels.getArray()) {
    std::string symbol = string(member(node, ".symbol"));
    std::string name = symbol;
    if (StringRef(name).ends_with(".kd"))
      name.resize(name.size() - 3);
    if (name.empty())
      name = string(member(node, ".name"));
    if (name.empty()) {
      warn("a kernel in the metadata has no name; it is ignored");
      continue;
    }
    auto descriptor = descriptors.find(name);
    if (descriptor == descriptors.end()) {
      warn("kernel '" + name +
           "' of the metadata has no descriptor symbol; "
           "it is ignored");
      continue;
    }
    if (impl.kernelIndex.count(name)) {
      warn("kernel '" + name + "' is described twice; the first is used");
      continue;
    }
    Kernel kernel;
    kernel.name = name;
    kernel.descriptorAddress = descriptor->second;
    kernel.kernargSize = number(member(node, ".kernarg_segment_size"), 0);
    kernel.kernargAlign = number(member(node, ".kernarg_segment_align"), 8);
    kernel.groupSegment = number(member(node, ".group_segment_fixed_size"), 0);
    kernel.privateSegment =
        number(member(node, ".private_segment_fixed_size"), 0);
    kernel.maxWorkgroup =
        unsigned(number(member(node, ".max_flat_workgroup_size"), 1024));
    kernel.waveSize = unsigned(number(member(node, ".wavefront_size"), 64));
    msgpack::DocNode dynamicStack = member(node, ".uses_dynamic_stack");
    kernel.usesDynamicStack =
        dynamicStack.getKind() == msgpack::Type::Boolean &&
        dynamicStack.getBool();
    msgpack::DocNode required = member(node, ".reqd_workgroup_size");
    if (required.isArray() && required.getArray().size() == 3)
      for (unsigned d = 0; d < 3; ++d)
        kernel.requiredWorkgroup[d] =
            unsigned(number(required.getArray()[d], 0));
    msgpack::DocNode arguments = member(node, ".args");
    kernel.hasMetadata = arguments.isArray();
    if (arguments.isArray())
      for (msgpack::DocNode argument : arguments.getArray()) {
        KernelArgument a;
        a.name = string(member(argument, ".name"));
        a.kind = string(member(argument, ".value_kind"));
        a.offset = number(member(argument, ".offset"), 0);
        a.size = number(member(argument, ".size"), 0);
        if (a.offset > (1u << 20) || a.size > (1u << 20)) {
          warn("kernel '" + name + "': argument '" + a.name +
               "' has an absurd offset or size; it is ignored");
          continue;
        }
        kernel.arguments.push_back(std::move(a));
      }
    llvm::sort(kernel.arguments, [](const auto &a, const auto &b) {
      return std::tie(a.offset, a.size, a.name) <
             std::tie(b.offset, b.size, b.name);
    });
    impl.kernelIndex[name] = impl.kernels.size();
    // HIP looks kernels up by their name, which need not be the symbol's.
    std::string given = string(member(node, ".name"));
    if (!given.empty() && given != name && !descriptors.count(given) &&
        impl.kernelIndex.try_emplace(given, impl.kernels.size()).second)
      warn("kernel '" + given + "' has the symbol '" + name +
           "'; both names are taken");
    impl.kernels.push_back(std::move(kernel));
  }
}

void CodeObjectLoader::readMetadata() {
  auto visit = [&](auto notes, Error &error) {
    for (const auto &note : notes)
      if (note.getName() == "AMDGPU" &&
          note.getType() == ELF::NT_AMDGPU_METADATA)
        readMetadataDocument(note.getDescAsStringRef(4));
    if (error)
      warn("damaged notes: " + toString(std::move(error)));
  };
  bool any = false;
  if (auto headers = file->program_headers())
    for (const Elf::Phdr &header : *headers)
      if (header.p_type == ELF::PT_NOTE) {
        any = true;
        Error error = Error::success();
        visit(file->notes(header, error), error);
      }
  if (!any)
    if (auto sections = file->sections())
      for (const Elf::Shdr &section : *sections)
        if (section.sh_type == ELF::SHT_NOTE) {
          Error error = Error::success();
          visit(file->notes(section, error), error);
        }
}

Error CodeObjectLoader::readDescriptor(Kernel &kernel) {
  auto bytes = at(kernel.descriptorAddress, 64);
  if (!bytes)
    return malformed(impl.name, "the descriptor of kernel '" + kernel.name +
                                    "' lies outside the file");
  std::copy(bytes->begin(), bytes->end(), kernel.descriptor.begin());
  const uint8_t *d = kernel.descriptor.data();
  const uint64_t group = read32le(d), scratch = read32le(d + 4),
                 kernarg = read32le(d + 8);
  const uint32_t rsrc3 = read32le(d + 44), rsrc1 = read32le(d + 48);
  const unsigned properties = read16le(d + 56);
  kernel.entryAddress = kernel.descriptorAddress + read64le(d + 16);
  if (kernel.groupSegment && kernel.groupSegment != group)
    warn(formatv("kernel '{0}': metadata says {1} bytes of LDS, the "
                 "descriptor {2}; the larger is used",
                 kernel.name, kernel.groupSegment, group)
             .str());
  kernel.groupSegment = std::max(kernel.groupSegment, group);
  kernel.privateSegment = std::max(kernel.privateSegment, scratch);
  if (kernel.hasMetadata && kernel.kernargSize > kernarg)
    warn(formatv("kernel '{0}': metadata says {1} bytes of arguments, the "
                 "descriptor {2}; the larger is used",
                 kernel.name, kernel.kernargSize, kernarg)
             .str());
  kernel.kernargSize = std::max(kernel.kernargSize, kernarg);
  kernel.usesDynamicStack |= properties >> 11 & 1;
  if (properties >> 10 & 1)
    return malformed(impl.name, "kernel '" + kernel.name +
                                    "' wants wave32, which gfx950 lacks");
  if (kernel.waveSize != 64)
    warn(formatv("kernel '{0}': metadata says waves of {1}, the descriptor of "
                 "64, which is used",
                 kernel.name, kernel.waveSize)
             .str());
  kernel.waveSize = 64;
  const unsigned total = ((rsrc1 & 0x3f) + 1) * 8;
  const unsigned accumOffset = ((rsrc3 & 0x3f) + 1) * 4;
  kernel.vgprs = std::min(total, accumOffset);
  kernel.agprs = total > accumOffset ? total - accumOffset : 0;
  kernel.sgprs = unsigned(alignTo(((rsrc1 >> 6 & 0xf) + 1) * 8, 16));
  if (kernel.groupSegment > 160 * 1024)
    return malformed(impl.name,
                     formatv("kernel '{0}' wants {1} bytes of LDS; gfx950 has "
                             "163840",
                             kernel.name, kernel.groupSegment)
                         .str());
  impl.starts.push_back(kernel.entryAddress);
  return Error::success();
}

void CodeObjectLoader::readRelocations() {
  auto sections = file->sections();
  if (!sections) {
    consumeError(sections.takeError());
    return;
  }
  for (const Elf::Shdr &section : *sections) {
    if (section.sh_type != ELF::SHT_RELA)
      continue;
    auto relocations = file->relas(section);
    if (!relocations) {
      warn("unreadable relocations: " + toString(relocations.takeError()));
      continue;
    }
    auto symbolTable = file->getSection(section.sh_link);
    if (!symbolTable) {
      consumeError(symbolTable.takeError());
      continue;
    }
    for (const Elf::Rela &r : *relocations) {
      CodeObject::Impl::Relocation relocation;
      relocation.address = r.r_offset;
      relocation.type = r.getType(false);
      relocation.addend = r.r_addend;
      if (r.getSymbol(false)) {
        auto symbol = file->getRelocationSymbol(r, *symbolTable);
        if (!symbol || !*symbol) {
          if (!symbol)
            consumeError(symbol.takeError());
          warn("a relocation names no symbol; it is ignored");
          continue;
        }
        if ((*symbol)->st_shndx == ELF::SHN_UNDEF)
          warn("a relocation refers to an undefined symbol; it resolves to 0");
        relocation.symbolValue = (*symbol)->st_value;
      }
      impl.relocations.push_back(relocation);
    }
  }
}

Error CodeObjectLoader::run() {
  if (Error error = readHeader())
    return error;
  if (Error error = readSegments())
    return error;
  if (Error error = readSymbols())
    return error;
  readMetadata();
  // Kernels with a descriptor and no metadata run too.
  for (const auto &[name, address] : descriptors)
    if (!impl.kernelIndex.count(name)) {
      Kernel kernel;
      kernel.name = name;
      kernel.descriptorAddress = address;
      impl.kernelIndex[name] = impl.kernels.size();
      impl.kernels.push_back(std::move(kernel));
      warn("kernel '" + name + "' has no metadata; arguments are unknown");
    }
  for (Kernel &kernel : impl.kernels)
    if (Error error = readDescriptor(kernel))
      return error;
  readRelocations();
  return Error::success();
}

//===----------------------------------------------------------------------===//
// CodeObject
//===----------------------------------------------------------------------===//

CodeObject::CodeObject() : state(std::make_unique<Impl>()) {}
CodeObject::~CodeObject() = default;

Expected<std::shared_ptr<CodeObject>> CodeObject::load(ArrayRef<uint8_t> elf,
                                                       StringRef name) {
  std::shared_ptr<CodeObject> object(new CodeObject());
  Impl &impl = *object->state;
  impl.name = name.str();
  impl.bytes.assign(elf.begin(), elf.end());
  if (Error error = CodeObjectLoader(impl).run())
    return error;
  return object;
}

ArrayRef<Kernel> CodeObject::kernels() const { return state->kernels; }

const Kernel *CodeObject::findKernel(StringRef name) const {
  name.consume_back(".kd");
  auto it = state->kernelIndex.find(name);
  return it == state->kernelIndex.end() ? nullptr : &state->kernels[it->second];
}

StringRef CodeObject::target() const { return state->cpu; }
ArrayRef<std::string> CodeObject::warnings() const { return state->warnings; }
ArrayRef<CodeObject::Variable> CodeObject::variables() const {
  return state->variables;
}

Expected<std::shared_ptr<const Program>>
CodeObject::Impl::program(MatrixArithmetic arithmetic) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<const Program> &slot = programs[unsigned(arithmetic)];
  if (!slot) {
    auto made = Program::decode(text, starts, cpu, arithmetic);
    if (!made)
      return malformed(name, toString(made.takeError()));
    slot = *made;
  }
  return slot;
}

std::string CodeObject::Impl::sourceLine(uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex);
  StringRef data(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  auto file = ObjectFile::createObjectFile(MemoryBufferRef(data, name));
  if (!file) {
    consumeError(file.takeError());
    return {};
  }
  auto ignore = [](Error error) { consumeError(std::move(error)); };
  auto context = DWARFContext::create(
      **file, DWARFContext::ProcessDebugRelocations::Process, nullptr, "",
      ignore, ignore);
  auto line =
      context->getLineInfoForAddress({address, SectionedAddress::UndefSection});
  if (!line || line->Line == 0 || line->FileName == DILineInfo::BadString)
    return {};
  return line->FileName + ":" + std::to_string(line->Line);
}

Error CodeObject::disassemble(raw_ostream &os, const Kernel *kernel) const {
  auto program = state->program(MatrixArithmetic::Cdna3);
  if (!program)
    return program.takeError();
  std::map<uint64_t, std::string> labels;
  for (const Kernel &k : state->kernels)
    labels[k.entryAddress] = k.name;
  uint64_t from = 0, until = ~uint64_t(0);
  if (kernel) {
    from = kernel->entryAddress;
    auto next = labels.upper_bound(from);
    if (next != labels.end())
      until = next->first;
  }
  for (const InstructionInfo &info : (*program)->info) {
    if (info.pc < from || info.pc >= until || info.bytes == 0)
      continue;
    auto label = labels.find(info.pc);
    if (label != labels.end())
      os << label->second << ":\n";
    os << formatv("  {0,8:x-}  {1}", info.pc, info.text);
    if (!info.problem.empty())
      os << "    // " << info.problem;
    os << "\n";
  }
  return Error::success();
}

std::vector<CodeObject::Coverage> CodeObject::coverage() const {
  std::map<std::string, Coverage> byMnemonic;
  auto program = state->program(MatrixArithmetic::Cdna3);
  if (!program) {
    consumeError(program.takeError());
    return {};
  }
  const Program &p = **program;
  for (const InstructionInfo &info : p.info) {
    if (info.bytes == 0)
      continue;
    StringRef text = info.text;
    Coverage &entry = byMnemonic[text.split(' ').first.str()];
    entry.mnemonic = text.split(' ').first.str();
    ++entry.count;
    const Semantics *semantics = p.semantics[info.mnemonicId];
    if (!info.problem.empty()) {
      // Padding between functions is not code.
      if (entry.mnemonic == ".long" || entry.mnemonic == "s_code_end")
        continue;
      entry.level = Coverage::Unsupported;
      entry.note = info.problem;
    } else if (entry.level == Coverage::Exact && semantics &&
               semantics->fidelity == Fidelity::Bounded) {
      entry.level = Coverage::Bounded;
      entry.note = semantics->note;
    }
  }
  std::vector<Coverage> result;
  for (auto &[name, entry] : byMnemonic)
    result.push_back(std::move(entry));
  return result;
}

std::vector<KernelArgument> Kernel::explicitArguments() const {
  std::vector<KernelArgument> result;
  for (const KernelArgument &argument : arguments)
    if (!argument.isHidden())
      result.push_back(argument);
  return result;
}

} // namespace netra::sim
