//===- CodeObject.cpp - What an AMDGPU code object says of itself ---------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/CodeObject.h"

#include "MsgPack.h"
#include "Netra/Catalog/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace llvm;

namespace netra {

//===----------------------------------------------------------------------===//
// ELF
//===----------------------------------------------------------------------===//

namespace {
/// A view of a 64-bit little-endian ELF file. Every access is checked, so that
/// any bytes may be looked at.
class ElfView {
public:
  explicit ElfView(ArrayRef<uint8_t> bytes) : bytes(bytes) {}

  template <typename T> bool read(uint64_t offset, T &value) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
      return false;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return true;
  }

  std::optional<StringRef> slice(uint64_t offset, uint64_t length) const {
    if (offset > bytes.size() || bytes.size() - offset < length)
      return std::nullopt;
    return toStringRef(bytes.slice(offset, length));
  }

  Error open() {
    if (!read(0, header) || std::memcmp(header.e_ident,
                                        "\x7f"
                                        "ELF",
                                        4) != 0)
      return createStringError("expected an ELF file, found none");
    if (header.e_ident[ELF::EI_CLASS] != ELF::ELFCLASS64 ||
        header.e_ident[ELF::EI_DATA] != ELF::ELFDATA2LSB)
      return createStringError("expected a 64-bit little-endian ELF file");
    if (header.e_machine != ELF::EM_AMDGPU)
      return createStringError("expected ELF machine 224 (AMDGPU), found " +
                               Twine(header.e_machine));
    if (header.e_ident[ELF::EI_OSABI] != ELF::ELFOSABI_AMDGPU_HSA)
      return createStringError("expected ELF OS ABI 64 (AMDGPU HSA), found " +
                               Twine(unsigned(header.e_ident[ELF::EI_OSABI])));
    if (header.e_type != ELF::ET_DYN)
      return createStringError(
          "expected a linked code object (ELF type 3), found ELF type " +
          Twine(header.e_type));
    for (unsigned i = 0; i != header.e_shnum; ++i) {
      ELF::Elf64_Shdr section;
      if (!read(header.e_shoff + uint64_t(i) * sizeof(section), section))
        return createStringError("section header " + Twine(i) +
                                 ": expected it inside the file");
      sections.push_back(section);
    }
    return Error::success();
  }

  std::optional<StringRef> contents(const ELF::Elf64_Shdr &section) const {
    if (section.sh_type == ELF::SHT_NOBITS)
      return StringRef();
    return slice(section.sh_offset, section.sh_size);
  }

  static std::optional<StringRef> stringAt(StringRef table, uint64_t offset) {
    if (offset >= table.size())
      return std::nullopt;
    StringRef rest = table.drop_front(offset);
    size_t end = rest.find('\0');
    if (end == StringRef::npos)
      return std::nullopt;
    return rest.take_front(end);
  }

  const ELF::Elf64_Shdr *findSection(StringRef name) const {
    if (header.e_shstrndx >= sections.size())
      return nullptr;
    std::optional<StringRef> names = contents(sections[header.e_shstrndx]);
    if (!names)
      return nullptr;
    for (const ELF::Elf64_Shdr &section : sections)
      if (stringAt(*names, section.sh_name) == name)
        return &section;
    return nullptr;
  }

  /// File offset of `length` bytes at the symbol, looked for in the dynamic
  /// symbol table first, as the loader does.
  std::optional<uint64_t> findSymbol(StringRef name, uint64_t length) const {
    for (uint32_t type : {ELF::SHT_DYNSYM, ELF::SHT_SYMTAB})
      for (const ELF::Elf64_Shdr &table : sections) {
        if (table.sh_type != type || table.sh_link >= sections.size())
          continue;
        std::optional<StringRef> names = contents(sections[table.sh_link]);
        if (!names)
          continue;
        for (uint64_t i = 0; i != table.sh_size / sizeof(ELF::Elf64_Sym); ++i) {
          ELF::Elf64_Sym symbol;
          if (!read(table.sh_offset + i * sizeof(symbol), symbol))
            break;
          if (stringAt(*names, symbol.st_name) != name ||
              symbol.st_shndx >= sections.size())
            continue;
          const ELF::Elf64_Shdr &section = sections[symbol.st_shndx];
          if (symbol.st_value < section.sh_addr)
            continue;
          uint64_t inside = symbol.st_value - section.sh_addr;
          if (inside > section.sh_size || section.sh_size - inside < length)
            continue;
          return section.sh_offset + inside;
        }
      }
    return std::nullopt;
  }

  /// Descriptor of the note (owner, type), from the note sections.
  std::optional<StringRef> findNote(StringRef owner, uint32_t type) const {
    for (const ELF::Elf64_Shdr &section : sections) {
      if (section.sh_type != ELF::SHT_NOTE)
        continue;
      std::optional<StringRef> data = contents(section);
      if (!data)
        continue;
      uint64_t at = 0;
      while (data->size() - at >= 12) {
        uint32_t nameSize, size, noteType;
        std::memcpy(&nameSize, data->data() + at, 4);
        std::memcpy(&size, data->data() + at + 4, 4);
        std::memcpy(&noteType, data->data() + at + 8, 4);
        at += 12;
        uint64_t begin = at + alignTo(uint64_t(nameSize), 4);
        uint64_t next = begin + alignTo(uint64_t(size), 4);
        if (begin + size > data->size())
          break;
        StringRef name = data->substr(at, nameSize).rtrim('\0');
        if (name == owner && noteType == type)
          return data->substr(begin, size);
        if (next > data->size())
          break;
        at = next;
      }
    }
    return std::nullopt;
  }

  ELF::Elf64_Ehdr header;
  std::vector<ELF::Elf64_Shdr> sections;

private:
  ArrayRef<uint8_t> bytes;
};

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

/// Takes fields out of a metadata map and remembers the first fault.
class FieldReader {
public:
  FieldReader(const msgpack::Value &map, std::string where)
      : map(map), where(std::move(where)) {}

  StringRef string(StringRef key, bool required = true) {
    const msgpack::Value *value = find(key, required);
    if (!value)
      return {};
    if (value->kind == msgpack::Value::Kind::String)
      return value->text;
    fail(key, "a string");
    return {};
  }

  uint64_t number(StringRef key, uint64_t max, bool required = true) {
    const msgpack::Value *value = find(key, required);
    if (!value)
      return 0;
    std::optional<uint64_t> number = value->asUnsigned();
    if (number && *number <= max)
      return *number;
    fail(key, ("an integer of at most " + Twine(max)).str());
    return 0;
  }

  bool boolean(StringRef key) {
    const msgpack::Value *value = find(key, false);
    if (!value)
      return false;
    if (value->kind == msgpack::Value::Kind::Boolean)
      return value->bits != 0;
    fail(key, "a boolean");
    return false;
  }

  std::string fault;

private:
  const msgpack::Value *find(StringRef key, bool required) {
    const msgpack::Value *value = map.find(key);
    if (!value && required)
      fail(key, "a value");
    return value;
  }
  void fail(StringRef key, StringRef expected) {
    if (fault.empty())
      fault = (where + ": expected " + expected + " of key " + key).str();
  }

  const msgpack::Value &map;
  std::string where;
};
} // namespace

static Expected<KernelArgument> readArgument(const msgpack::Value &value,
                                             const std::string &where) {
  FieldReader fields(value, where);
  KernelArgument argument;
  argument.name = fields.string(".name", /*required=*/false).str();
  argument.offset = fields.number(".offset", UINT32_MAX);
  argument.bytes = fields.number(".size", UINT32_MAX);
  StringRef kind = fields.string(".value_kind");
  argument.kind = kind == "by_value" || kind.starts_with("hidden_")
                      ? ArgumentKind::Value
                      : ArgumentKind::Pointer;
  argument.hidden = kind.starts_with("hidden_");
  argument.access =
      StringSwitch<std::string>(fields.string(".access", /*required=*/false))
          .Case("read_only", "read")
          .Case("write_only", "write")
          .Case("read_write", "readwrite")
          .Default("");
  if (!fields.fault.empty())
    return createStringError(fields.fault);
  return argument;
}

static Expected<KernelDescriptor> readDescriptor(const ElfView &elf,
                                                 StringRef symbol) {
  std::optional<uint64_t> offset = elf.findSymbol(symbol, 64);
  if (!offset)
    return createStringError("kernel descriptor: expected a symbol " + symbol +
                             " of 64 bytes, found none");
  uint32_t words[16];
  if (!elf.read(*offset, words))
    return createStringError("kernel descriptor " + symbol +
                             ": expected it inside the file");
  KernelDescriptor descriptor;
  descriptor.staticLds = words[0];
  descriptor.privateBytes = words[1];
  descriptor.kernargBytes = words[2];
  uint32_t rsrc3 = words[11], rsrc1 = words[12], properties = words[14];
  bool wave32 = (properties >> 10) & 1;
  descriptor.waveSize = wave32 ? 32 : 64;
  descriptor.dynamicStack = (properties >> 11) & 1;
  // Granules of gfx90a and later: 8 VGPRs, 8 SGPRs; accumulation registers
  // start at a multiple of 4.
  descriptor.allocatedVgprs = ((rsrc1 & 63) + 1) * 8;
  descriptor.allocatedSgprs = (((rsrc1 >> 6) & 15) + 1) * 8;
  descriptor.accumOffset = ((rsrc3 & 63) + 1) * 4;
  return descriptor;
}

static Expected<KernelMetadata>
readKernel(const ElfView &elf, const msgpack::Value &value, size_t index) {
  std::string where = ("kernel " + Twine(index)).str();
  FieldReader fields(value, where);
  KernelMetadata kernel;
  StringRef name = fields.string(".name");
  StringRef symbol = fields.string(".symbol");
  kernel.kernargBytes = fields.number(".kernarg_segment_size", UINT32_MAX);
  kernel.kernargAlignment = fields.number(".kernarg_segment_align", UINT32_MAX);
  kernel.waveSize = fields.number(".wavefront_size", 64);
  kernel.staticLds = fields.number(".group_segment_fixed_size", UINT32_MAX);
  kernel.privateBytes =
      fields.number(".private_segment_fixed_size", UINT32_MAX);
  kernel.dynamicStack = fields.boolean(".uses_dynamic_stack");
  kernel.agprs = fields.number(".agpr_count", 512, /*required=*/false);
  uint32_t vgprs = fields.number(".vgpr_count", 1024);
  kernel.sgprs = fields.number(".sgpr_count", 1024);
  kernel.maxWorkgroup = fields.number(".max_flat_workgroup_size", 65536);
  if (!fields.fault.empty())
    return createStringError(fields.fault);
  // .vgpr_count counts both kinds when there are accumulation registers.
  kernel.vgprs = vgprs >= kernel.agprs ? vgprs - kernel.agprs : 0;
  kernel.symbol = symbol.str();
  if (!StringRef(kernel.symbol).ends_with(".kd"))
    return createStringError(where +
                             ": expected a symbol that ends with "
                             "\".kd\", found \"" +
                             symbol + "\"");
  kernel.symbol.resize(kernel.symbol.size() - 3);
  if (name != kernel.symbol)
    return createStringError(where + ": expected .name \"" + kernel.symbol +
                             "\" as its symbol says, found \"" + name + "\"");
  if (const msgpack::Value *list = value.find(".args")) {
    if (list->kind != msgpack::Value::Kind::Array)
      return createStringError(where + ": expected an array of key .args");
    for (size_t i = 0; i != list->elements.size(); ++i) {
      Expected<KernelArgument> argument = readArgument(
          list->elements[i], (where + " argument " + Twine(i)).str());
      if (!argument)
        return argument.takeError();
      kernel.arguments.push_back(std::move(*argument));
    }
  }
  Expected<KernelDescriptor> descriptor = readDescriptor(elf, symbol);
  if (!descriptor)
    return descriptor.takeError();
  kernel.descriptor = *descriptor;
  return kernel;
}

Expected<CodeObject> readCodeObject(std::vector<uint8_t> bytes) {
  CodeObject object;
  object.bytes = std::move(bytes);
  ElfView elf(object.bytes);
  auto fail = [](const Twine &message) {
    return createStringError("code object: " + message);
  };
  if (Error error = elf.open())
    return fail(llvm::toString(std::move(error)));
  switch (elf.header.e_ident[ELF::EI_ABIVERSION]) {
  case ELF::ELFABIVERSION_AMDGPU_HSA_V4:
    object.codeObjectVersion = 4;
    break;
  case ELF::ELFABIVERSION_AMDGPU_HSA_V5:
    object.codeObjectVersion = 5;
    break;
  case ELF::ELFABIVERSION_AMDGPU_HSA_V6:
    object.codeObjectVersion = 6;
    break;
  default:
    return fail("expected code object version 4 to 6, found ABI version " +
                Twine(unsigned(elf.header.e_ident[ELF::EI_ABIVERSION])));
  }
  const ELF::Elf64_Shdr *text = elf.findSection(".text");
  std::optional<StringRef> code =
      text ? elf.contents(*text) : std::optional<StringRef>();
  if (!code)
    return fail("expected a section .text, found none");
  object.text.assign(code->bytes_begin(), code->bytes_end());

  std::optional<StringRef> note =
      elf.findNote("AMDGPU", ELF::NT_AMDGPU_METADATA);
  if (!note)
    return fail("expected an AMDGPU metadata note, found none");
  Expected<msgpack::Value> document = msgpack::read(*note);
  if (!document)
    return fail("metadata: " + llvm::toString(document.takeError()));
  const msgpack::Value *isa = document->find("amdhsa.target");
  if (!isa || isa->kind != msgpack::Value::Kind::String)
    return fail("metadata: expected a string of key amdhsa.target");
  object.isa = isa->text.str();
  const msgpack::Value *kernels = document->find("amdhsa.kernels");
  if (!kernels || kernels->kind != msgpack::Value::Kind::Array)
    return fail("metadata: expected an array of key amdhsa.kernels");
  for (size_t i = 0; i != kernels->elements.size(); ++i) {
    Expected<KernelMetadata> kernel = readKernel(elf, kernels->elements[i], i);
    if (!kernel)
      return fail("metadata: " + llvm::toString(kernel.takeError()));
    object.kernels.push_back(std::move(*kernel));
  }
  llvm::sort(object.kernels,
             [](const KernelMetadata &lhs, const KernelMetadata &rhs) {
               return lhs.symbol < rhs.symbol;
             });
  object.sha256 = sha256Hex(object.bytes);
  object.textSha256 = sha256Hex(object.text);
  return object;
}

//===----------------------------------------------------------------------===//
// Comparison with the contract
//===----------------------------------------------------------------------===//

std::vector<std::string> compareWithInstance(const CodeObject &object,
                                             const Instance &instance) {
  std::vector<std::string> differences;
  auto differ = [&](const Twine &what, const Twine &contract,
                    const Twine &found) {
    differences.push_back((what + ": the contract says " + contract +
                           ", the code object says " + found)
                              .str());
  };
  auto compare = [&](const Twine &what, uint64_t contract, uint64_t found) {
    if (contract != found)
      differ(what, Twine(contract), Twine(found));
  };
  const Contract &contract = instance.contract;
  const TargetInfo &target = *findTarget(contract.target);
  if (object.isa != target.isaName)
    differ("target", target.isaName, object.isa);
  compare("code object version", target.codeObjectVersion,
          object.codeObjectVersion);
  if (object.kernels.size() != 1 ||
      object.kernels.front().symbol != instance.symbol) {
    std::vector<std::string> symbols;
    for (const KernelMetadata &kernel : object.kernels)
      symbols.push_back(kernel.symbol);
    differ("kernels", "one, " + instance.symbol,
           symbols.empty() ? "none" : join(symbols, ", "));
    return differences;
  }
  const KernelMetadata &kernel = object.kernels.front();
  const KernelDescriptor &descriptor = kernel.descriptor;
  uint64_t workItems = 1;
  for (uint32_t extent : contract.block)
    workItems *= extent;
  compare("wave size (metadata)", contract.waveSize, kernel.waveSize);
  compare("wave size (descriptor)", contract.waveSize, descriptor.waveSize);
  compare("kernarg bytes (metadata)", contract.kernargBytes,
          kernel.kernargBytes);
  compare("kernarg bytes (descriptor)", contract.kernargBytes,
          descriptor.kernargBytes);
  compare("static LDS bytes (metadata)", contract.staticLds, kernel.staticLds);
  compare("static LDS bytes (descriptor)", contract.staticLds,
          descriptor.staticLds);
  compare("private bytes (metadata)", 0, kernel.privateBytes);
  compare("private bytes (descriptor)", 0, descriptor.privateBytes);
  compare("dynamic stack", 0, kernel.dynamicStack || descriptor.dynamicStack);
  compare("maximum work-group", workItems, kernel.maxWorkgroup);
  // Accumulation registers start at a multiple of four.
  uint64_t vgprs = instance.agprs ? alignTo(uint64_t(instance.vgprs), 4)
                                  : uint64_t(instance.vgprs);
  compare("VGPRs (metadata)", vgprs, kernel.vgprs);
  compare("AGPRs (metadata)", instance.agprs, kernel.agprs);
  compare("SGPRs (metadata)", instance.sgprs, kernel.sgprs);
  compare("allocated VGPRs (descriptor)", alignTo(vgprs + instance.agprs, 8),
          descriptor.allocatedVgprs);
  if (instance.agprs)
    compare("first accumulation register (descriptor)", vgprs,
            descriptor.accumOffset);
  if (descriptor.allocatedSgprs < instance.sgprs)
    differ("allocated SGPRs (descriptor)", "at least " + Twine(instance.sgprs),
           Twine(descriptor.allocatedSgprs));
  compare("number of arguments", contract.arguments.size(),
          kernel.arguments.size());
  for (size_t i = 0,
              e = std::min(contract.arguments.size(), kernel.arguments.size());
       i != e; ++i) {
    const Argument &expected = contract.arguments[i];
    const KernelArgument &found = kernel.arguments[i];
    std::string what =
        ("argument " + Twine(i) + " (" + expected.name + ")").str();
    if (expected.name != found.name)
      differ(what + " name", expected.name, found.name);
    compare(what + " offset", expected.offset, found.offset);
    compare(what + " bytes", expected.bytes, found.bytes);
    if (expected.kind != found.kind || found.hidden)
      differ(what + " kind", argumentKindName(expected.kind),
             found.hidden ? "hidden" : argumentKindName(found.kind));
    if (expected.kind == ArgumentKind::Pointer &&
        found.access != accessName(expected.access))
      differ(what + " access", accessName(expected.access),
             found.access.empty() ? "nothing" : found.access);
  }
  return differences;
}

} // namespace netra
