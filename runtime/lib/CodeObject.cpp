//===- CodeObject.cpp - What a code object says about itself --------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CodeObject.h"
#include "MsgPack.h"
#include "Sha256.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <elf.h>

using namespace netra::rt;

namespace {

constexpr uint16_t machineAmdgpu = 224;
constexpr uint8_t osAbiAmdgpuHsa = 64;
constexpr uint32_t noteAmdgpuMetadata = 32;
constexpr uint64_t descriptorBytes = 64;

struct MachName {
  uint32_t mach;
  const char *name;
};
// EF_AMDGPU_MACH_AMDGCN_* of the targets that Netra knows or that are likely to
// be confused with them.
constexpr MachName machNames[] = {
    {0x2f, "gfx906"},  {0x30, "gfx908"},  {0x3f, "gfx90a"},  {0x4c, "gfx942"},
    {0x4f, "gfx950"},  {0x36, "gfx1030"}, {0x41, "gfx1100"}, {0x46, "gfx1101"},
    {0x47, "gfx1102"}, {0x43, "gfx1150"}, {0x4a, "gfx1151"}, {0x48, "gfx1200"},
    {0x4e, "gfx1201"}};

std::string machName(uint32_t mach) {
  for (const MachName &entry : machNames)
    if (entry.mach == mach)
      return entry.name;
  char text[24];
  std::snprintf(text, sizeof(text), "mach 0x%x", mach);
  return text;
}

class Parser {
public:
  Parser(std::span<const uint8_t> bytes, const std::string &where)
      : bytes(bytes), where(where) {}

  Status run(CodeObjectFacts &facts) {
    NETRA_RETURN_IF_FAILED(header(facts));
    NETRA_RETURN_IF_FAILED(sections(facts));
    NETRA_RETURN_IF_FAILED(metadata(facts));
    return descriptors(facts);
  }

private:
  Status bad(std::string what) const {
    return {NETRA_MANIFEST, cat(where, ": ", std::move(what))};
  }

  template <typename T> bool read(uint64_t offset, T &out) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
      return false;
    std::memcpy(&out, bytes.data() + offset, sizeof(T));
    return true;
  }

  std::optional<std::span<const uint8_t>> slice(uint64_t offset,
                                                uint64_t size) const {
    if (offset > bytes.size() || bytes.size() - offset < size)
      return std::nullopt;
    return bytes.subspan(offset, size);
  }

  /// The NUL-terminated string at `offset` of a string table.
  static std::optional<std::string_view>
  stringAt(std::span<const uint8_t> table, uint64_t offset) {
    if (offset >= table.size())
      return std::nullopt;
    const char *begin = reinterpret_cast<const char *>(table.data()) + offset;
    size_t left = table.size() - offset;
    size_t length = strnlen(begin, left);
    if (length == left)
      return std::nullopt;
    return std::string_view(begin, length);
  }

  Status header(CodeObjectFacts &facts) {
    if (!read(0, elf) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0)
      return bad("expected an ELF code object");
    if (elf.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf.e_ident[EI_DATA] != ELFDATA2LSB || elf.e_machine != machineAmdgpu ||
        elf.e_ident[EI_OSABI] != osAbiAmdgpuHsa)
      return bad(cat("expected a 64-bit AMDGPU HSA object (machine 224, OS ABI "
                     "64), found machine ",
                     elf.e_machine, ", OS ABI ", elf.e_ident[EI_OSABI]));
    if (elf.e_type != ET_DYN)
      return bad(cat("expected a linked shared object (type 3), found type ",
                     elf.e_type));
    // ABI version 2 is code object version 4, and so on.
    facts.version = uint64_t(elf.e_ident[EI_ABIVERSION]) + 2;
    if (facts.version < 4 || facts.version > 6)
      return bad(
          cat("expected code object version 4, 5 or 6, found ABI version ",
              elf.e_ident[EI_ABIVERSION]));
    facts.architecture = machName(elf.e_flags & 0xff);
    return Status::ok();
  }

  Status sections(CodeObjectFacts &facts) {
    if (elf.e_shentsize != sizeof(Elf64_Shdr) || !elf.e_shnum)
      return bad("expected section headers");
    headers.resize(elf.e_shnum);
    for (unsigned i = 0; i < elf.e_shnum; ++i)
      if (elf.e_shoff > UINT64_MAX - uint64_t(i) * sizeof(Elf64_Shdr) ||
          !read(elf.e_shoff + uint64_t(i) * sizeof(Elf64_Shdr), headers[i]))
        return bad("the section headers reach beyond the end of the file");
    if (elf.e_shstrndx >= headers.size())
      return bad("the section name table does not exist");
    const Elf64_Shdr &nameHeader = headers[elf.e_shstrndx];
    auto names = slice(nameHeader.sh_offset, nameHeader.sh_size);
    if (!names)
      return bad("the section name table reaches beyond the end of the file");

    bool haveText = false;
    for (const Elf64_Shdr &section : headers) {
      if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL)
        continue;
      auto contents = slice(section.sh_offset, section.sh_size);
      if (!contents)
        return bad("a section reaches beyond the end of the file");
      auto name = stringAt(*names, section.sh_name);
      if (name == ".text" && !haveText) {
        haveText = true;
        text = section;
        facts.textSha256 = Sha256::hash(contents->data(), contents->size());
      }
      if (section.sh_type == SHT_NOTE)
        NETRA_RETURN_IF_FAILED(notes(*contents));
      if (section.sh_type == SHT_DYNSYM ||
          (section.sh_type == SHT_SYMTAB && symbols.empty()))
        NETRA_RETURN_IF_FAILED(symbolTable(section, *contents));
    }
    if (!haveText)
      return bad("expected a .text section");
    return Status::ok();
  }

  Status notes(std::span<const uint8_t> contents) {
    uint64_t at = 0;
    while (at < contents.size()) {
      Elf64_Nhdr note;
      if (contents.size() - at < sizeof(note))
        return bad("a note is cut off");
      std::memcpy(&note, contents.data() + at, sizeof(note));
      at += sizeof(note);
      uint64_t nameSize = (uint64_t(note.n_namesz) + 3) & ~uint64_t(3);
      uint64_t descriptionSize = (uint64_t(note.n_descsz) + 3) & ~uint64_t(3);
      if (nameSize > contents.size() - at ||
          note.n_descsz > contents.size() - at - nameSize)
        return bad("a note is cut off");
      bool isAmdgpu = note.n_namesz == 7 &&
                      std::memcmp(contents.data() + at, "AMDGPU", 7) == 0;
      at += nameSize;
      if (isAmdgpu && note.n_type == noteAmdgpuMetadata && metadataNote.empty())
        metadataNote = contents.subspan(at, note.n_descsz);
      at += std::min(descriptionSize, contents.size() - at);
    }
    return Status::ok();
  }

  Status symbolTable(const Elf64_Shdr &section,
                     std::span<const uint8_t> contents) {
    if (section.sh_link >= headers.size())
      return bad("a symbol table names no string table");
    auto strings = slice(headers[section.sh_link].sh_offset,
                         headers[section.sh_link].sh_size);
    if (!strings)
      return bad("a string table reaches beyond the end of the file");
    symbols.clear();
    for (uint64_t at = 0; contents.size() - at >= sizeof(Elf64_Sym);
         at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, contents.data() + at, sizeof(symbol));
      auto name = stringAt(*strings, symbol.st_name);
      if (!name)
        return bad("a symbol name reaches beyond its string table");
      symbols.push_back({*name, symbol});
    }
    return Status::ok();
  }

  Status metadata(CodeObjectFacts &facts) {
    if (metadataNote.empty())
      return bad("expected an AMDGPU metadata note");
    std::optional<MsgPack> root = MsgPack::parse(metadataNote);
    const MsgPack *kernels = root ? root->find("amdhsa.kernels") : nullptr;
    if (!kernels || kernels->kind != MsgPack::Kind::Array)
      return bad("the metadata note does not hold a list amdhsa.kernels");
    for (const MsgPack &entry : kernels->elements) {
      KernelFacts kernel;
      auto text = [&](std::string_view key) {
        return std::string(entry.getString(key).value_or(""));
      };
      auto number = [&](std::string_view key) {
        return entry.getUnsigned(key).value_or(0);
      };
      kernel.name = text(".name");
      kernel.symbol = text(".symbol");
      if (kernel.name.empty() || kernel.symbol.empty())
        return bad("a kernel in the metadata has no .name or no .symbol");
      kernel.kernargBytes = number(".kernarg_segment_size");
      kernel.staticLds = number(".group_segment_fixed_size");
      kernel.privateBytes = number(".private_segment_fixed_size");
      // .vgpr_count counts both kinds where there are accumulation registers.
      kernel.vgprs = number(".vgpr_count");
      kernel.agprs = number(".agpr_count");
      kernel.vgprs -= std::min(kernel.vgprs, kernel.agprs);
      kernel.sgprs = number(".sgpr_count");
      kernel.maxWorkgroup = number(".max_flat_workgroup_size");
      kernel.waveSize = number(".wavefront_size");
      if (const MsgPack *required = entry.find(".reqd_workgroup_size");
          required && required->elements.size() == 3)
        kernel.requiredWorkgroup = {required->elements[0].number,
                                    required->elements[1].number,
                                    required->elements[2].number};
      if (const MsgPack *arguments = entry.find(".args")) {
        if (arguments->kind != MsgPack::Kind::Array)
          return bad(cat("kernel ", kernel.name, ": .args is not a list"));
        for (const MsgPack &record : arguments->elements) {
          ArgumentFacts argument;
          argument.name = record.getString(".name").value_or("");
          argument.valueKind = record.getString(".value_kind").value_or("");
          auto offset = record.getUnsigned(".offset");
          auto size = record.getUnsigned(".size");
          if (!offset || !size || argument.valueKind.empty())
            return bad(cat("kernel ", kernel.name,
                           ": an argument lacks .offset, .size or "
                           ".value_kind"));
          argument.offset = *offset;
          argument.size = *size;
          kernel.arguments.push_back(std::move(argument));
        }
      }
      if (facts.find(kernel.name))
        return bad(
            cat("the metadata describes kernel ", kernel.name, " twice"));
      facts.kernels.push_back(std::move(kernel));
    }
    return Status::ok();
  }

  /// The dispatcher reads the descriptor, not the metadata: what both say must
  /// agree.
  Status descriptors(const CodeObjectFacts &facts) {
    for (const KernelFacts &kernel : facts.kernels) {
      const Elf64_Sym *symbol = nullptr;
      for (const auto &[name, candidate] : symbols)
        if (name == kernel.symbol)
          symbol = &candidate;
      if (!symbol)
        return bad(cat("there is no symbol ", kernel.symbol, " for kernel ",
                       kernel.name));
      std::optional<std::span<const uint8_t>> descriptor;
      for (const Elf64_Shdr &section : headers)
        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
            (section.sh_flags & SHF_ALLOC) &&
            symbol->st_value >= section.sh_addr &&
            symbol->st_value - section.sh_addr <= section.sh_size &&
            section.sh_size - (symbol->st_value - section.sh_addr) >=
                descriptorBytes)
          descriptor =
              slice(section.sh_offset + (symbol->st_value - section.sh_addr),
                    descriptorBytes);
      if (!descriptor)
        return bad(cat("the descriptor of kernel ", kernel.name,
                       " lies outside every section"));
      uint32_t lds, scratch, kernarg;
      int64_t entry;
      std::memcpy(&lds, descriptor->data(), 4);
      std::memcpy(&scratch, descriptor->data() + 4, 4);
      std::memcpy(&kernarg, descriptor->data() + 8, 4);
      std::memcpy(&entry, descriptor->data() + 16, 8);
      if (lds != kernel.staticLds || scratch != kernel.privateBytes ||
          kernarg != kernel.kernargBytes)
        return bad(cat("kernel ", kernel.name, ": the descriptor states LDS ",
                       lds, ", private ", scratch, ", kernel arguments ",
                       kernarg, " bytes, the metadata ", kernel.staticLds, ", ",
                       kernel.privateBytes, ", ", kernel.kernargBytes));
      uint64_t start = symbol->st_value + uint64_t(entry);
      if (start < text.sh_addr || start - text.sh_addr >= text.sh_size)
        return bad(cat("kernel ", kernel.name, " starts outside .text"));
    }
    return Status::ok();
  }

  std::span<const uint8_t> bytes;
  const std::string &where;
  Elf64_Ehdr elf = {};
  Elf64_Shdr text = {};
  std::vector<Elf64_Shdr> headers;
  std::vector<std::pair<std::string_view, Elf64_Sym>> symbols;
  std::span<const uint8_t> metadataNote;
};

} // namespace

const KernelFacts *CodeObjectFacts::find(std::string_view name) const {
  for (const KernelFacts &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

Status netra::rt::readCodeObject(std::span<const uint8_t> bytes,
                                 const std::string &where,
                                 CodeObjectFacts &facts) {
  return Parser(bytes, where).run(facts);
}
