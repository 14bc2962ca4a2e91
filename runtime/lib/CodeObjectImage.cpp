//===- CodeObjectImage.cpp - What a loader sees in a code object ----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CodeObjectImage.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace netra::hsa {

static_assert(sizeof(Segment) == 56 && sizeof(Section) == 64 &&
                  sizeof(Symbol) == 24 &&
                  std::endian::native == std::endian::little,
              "the tables of an ELF file are read as they are");

namespace {

constexpr uint32_t segmentLoad = 1, segmentDynamic = 2, segmentNote = 4;
constexpr uint32_t mayExecute = 1, mayWrite = 2; // flags of segments
constexpr uint32_t sectionNull = 0, sectionProgram = 1, sectionSymbols = 2,
                   sectionStrings = 3, sectionRela = 4, sectionHash = 5,
                   sectionDynamic = 6, sectionNote = 7, sectionNoBits = 8,
                   sectionRel = 9, sectionDynamicSymbols = 11,
                   sectionGnuHash = 0x6ffffff6;
constexpr uint64_t flagAllocate = 2, flagInstructions = 4; // of sections
constexpr uint16_t undefinedSection = 0, firstReservedSection = 0xff00;
constexpr uint64_t headerBytes = 64, pageBytes = 4096;
constexpr uint32_t metadataNote = 32;

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

/// "bytes 0x100 to 0x140": the end is the first byte behind.
std::string range(uint64_t begin, uint64_t size) {
  return hex(begin) + " to " +
         (size <= UINT64_MAX - begin ? hex(begin + size) : "beyond 64 bits");
}

/// Whether `size` from `begin` lie within `outerSize` from `outer`.
bool isInside(uint64_t begin, uint64_t size, uint64_t outer,
              uint64_t outerSize) {
  return begin >= outer && begin - outer <= outerSize &&
         size <= outerSize - (begin - outer);
}

template <typename T> T load(std::span<const uint8_t> from, uint64_t offset) {
  T value;
  std::memcpy(&value, from.data() + offset, sizeof(value));
  return value;
}

} // namespace

bool Section::isLoaded() const {
  return (flags & flagAllocate) && type != sectionNull && size != 0;
}

bool Section::hasBytes() const {
  return type != sectionNull && type != sectionNoBits;
}

bool Section::isForTheLoader() const {
  return type == sectionNote || type == sectionDynamicSymbols ||
         type == sectionStrings || type == sectionHash ||
         type == sectionGnuHash || type == sectionDynamic;
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

std::optional<std::span<const uint8_t>> Image::slice(uint64_t offset,
                                                     uint64_t size) const {
  if (!isInside(offset, size, 0, bytes.size()))
    return std::nullopt;
  return bytes.subspan(offset, size);
}

std::optional<std::span<const uint8_t>>
Image::contents(const Section &section) const {
  if (!section.hasBytes())
    return std::span<const uint8_t>();
  return slice(section.offset, section.size);
}

std::optional<std::string_view> Image::stringAt(std::span<const uint8_t> table,
                                                uint64_t offset) {
  if (offset >= table.size())
    return std::nullopt;
  const char *begin = reinterpret_cast<const char *>(table.data()) + offset;
  size_t left = table.size() - offset;
  size_t length = strnlen(begin, left);
  if (length == left)
    return std::nullopt;
  return std::string_view(begin, length);
}

std::string Image::nameForMessages(const Section &section) const {
  std::string_view name = nameOf(section);
  return name.empty() ? "section " + std::to_string(&section - sections.data())
                      : "section " + std::string(name);
}

std::string Image::getTarget() const { return flags.getTarget(); }

std::string Image::checkTarget(std::string_view isa) const {
  size_t begin = isa.rfind("--");
  std::string named(begin == std::string_view::npos ? isa
                                                    : isa.substr(begin + 2));
  std::string processor = flags.getProcessor(), found = flags.getTarget();
  size_t modes = std::min(named.find(':'), named.size());
  // Two names of one processor, neither of which is known, may differ.
  if (!TargetFlags::isKnown(named.substr(0, modes)) &&
      !TargetFlags::isKnown(processor))
    found.replace(0, processor.size(), named, 0, modes);
  if (found == named)
    return {};
  return "expected the ELF flags of " + named +
         ", the target of the metadata, found those of " + found;
}

const Symbol *Image::findSymbol(std::string_view name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &symbols[found->second];
}

std::optional<uint64_t> Image::findSize(std::string_view name,
                                        uint64_t value) const {
  for (const Section &section : sections) {
    if (section.type != sectionSymbols || section.link >= sections.size())
      continue;
    auto table = contents(section), strings = contents(sections[section.link]);
    if (!table || !strings)
      continue;
    for (uint64_t i = 0; i != table->size() / sizeof(Symbol); ++i) {
      auto symbol = load<Symbol>(*table, i * sizeof(Symbol));
      if (symbol.value == value && stringAt(*strings, symbol.name) == name)
        return symbol.size;
    }
  }
  return std::nullopt;
}

std::optional<std::span<const uint8_t>> Image::at(uint64_t address,
                                                  uint64_t size) const {
  for (const Segment &segment : loaded)
    if (isInside(address, size, segment.address, segment.fileBytes))
      return slice(segment.offset + (address - segment.address), size);
  return std::nullopt;
}

std::optional<std::span<const uint8_t>>
Image::findDescriptor(std::string_view name, std::string &fault) const {
  auto fail = [&](const std::string &what) {
    fault = "kernel descriptor " + std::string(name) + ": " + what;
    return std::nullopt;
  };
  const Symbol *symbol = findSymbol(name);
  if (!symbol)
    return fail("expected a dynamic symbol of this name, found none");
  constexpr unsigned object = 1;
  if ((symbol->info & 15) != object || symbol->size != descriptorBytes)
    return fail("expected an object of 64 bytes, found symbol type " +
                std::to_string(symbol->info & 15) + " of " +
                std::to_string(symbol->size) + " bytes");
  auto descriptor = at(symbol->value, descriptorBytes);
  if (!descriptor)
    return fail("expected it inside a loaded segment, found address " +
                hex(symbol->value));
  for (uint64_t address : relocated)
    if (address + 8 > symbol->value && address < symbol->value + 64)
      return fail("expected bytes that stay as they are, found a relocation "
                  "at address " +
                  hex(address));
  return descriptor;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

std::string Image::open(std::span<const uint8_t> from) {
  *this = Image();
  bytes = from;
  std::string fault = readHeader();
  auto then = [&](auto step) {
    if (fault.empty())
      fault = step();
  };
  then([&] { return readTables(); });
  then([&] { return checkSegments(); });
  then([&] { return checkSections(); });
  then([&] { return checkText(); });
  then([&] { return checkGaps(); });
  then([&] { return readSymbols(); });
  then([&] { return checkDynamic(); });
  then([&] { return checkRelocations(); });
  then([&] { return readNotes(); });
  return fault;
}

std::string Image::readHeader() {
  constexpr uint8_t magic[] = {0x7f, 'E', 'L', 'F'};
  constexpr uint16_t machineAmdgpu = 224, linked = 3;
  constexpr uint8_t wide = 2, little = 1, abiHsa = 64;
  if (bytes.size() < headerBytes ||
      std::memcmp(bytes.data(), magic, sizeof(magic)) != 0)
    return "expected an ELF file, found none";
  if (bytes[4] != wide || bytes[5] != little)
    return "expected a 64-bit little-endian ELF file";
  if (auto machine = load<uint16_t>(bytes, 18); machine != machineAmdgpu)
    return "expected ELF machine 224 (AMDGPU), found " +
           std::to_string(machine);
  if (bytes[7] != abiHsa)
    return "expected ELF OS ABI 64 (AMDGPU HSA), found " +
           std::to_string(bytes[7]);
  if (auto type = load<uint16_t>(bytes, 16); type != linked)
    return "expected a linked code object (ELF type 3), found ELF type " +
           std::to_string(type);
  // ABI version 2 is code object version 4, and so on.
  version = bytes[8] + 2u;
  if (version < 4 || version > 6)
    return "expected code object version 4 to 6, found ABI version " +
           std::to_string(bytes[8]);
  segmentTable = load<uint64_t>(bytes, 32);
  sectionTable = load<uint64_t>(bytes, 40);
  flags = TargetFlags(load<uint32_t>(bytes, 48));
  if (uint32_t unknown = flags.getUnknown())
    return "expected ELF flags that name a target, found the unknown bits " +
           hex(unknown);
  segmentCount = load<uint16_t>(bytes, 56);
  sectionCount = load<uint16_t>(bytes, 60);
  nameTable = load<uint16_t>(bytes, 62);
  if (auto size = load<uint16_t>(bytes, 54); size != sizeof(Segment))
    return "expected program headers of 56 bytes, found " +
           std::to_string(size);
  if (auto size = load<uint16_t>(bytes, 58); size != sizeof(Section))
    return "expected section headers of 64 bytes, found " +
           std::to_string(size);
  return {};
}

std::string Image::readTables() {
  auto readAll = [&](auto &to, uint64_t table, uint64_t count,
                     const char *what) -> std::string {
    using Entry = typename std::decay_t<decltype(to)>::value_type;
    if (count == 0)
      return std::string("expected ") + what + ", found none";
    if (!isInside(table, count * sizeof(Entry), 0, bytes.size()))
      return std::string("expected the ") + std::to_string(count) + " " + what +
             " inside the file's " + std::to_string(bytes.size()) +
             " bytes, found them at " + range(table, count * sizeof(Entry));
    to.resize(count);
    std::memcpy(to.data(), bytes.data() + table, count * sizeof(Entry));
    return {};
  };
  std::string fault =
      readAll(segments, segmentTable, segmentCount, "program headers");
  if (fault.empty())
    fault = readAll(sections, sectionTable, sectionCount, "section headers");
  if (!fault.empty())
    return fault;
  for (size_t i = 0; i != sections.size(); ++i)
    if (sections[i].hasBytes() && !contents(sections[i]))
      return "section " + std::to_string(i) +
             ": expected it inside the file's " + std::to_string(bytes.size()) +
             " bytes, found it at " +
             range(sections[i].offset, sections[i].size);
  if (nameTable >= sections.size() ||
      sections[nameTable].type != sectionStrings)
    return "expected a table of section names, found none";
  for (size_t i = 0; i != sections.size(); ++i)
    if (!stringAt(*contents(sections[nameTable]), sections[i].name))
      return "section " + std::to_string(i) +
             ": expected a name inside the table of names, found offset " +
             std::to_string(sections[i].name);
  for (const Segment &segment : segments)
    if (segment.type == segmentLoad)
      loaded.push_back(segment);
  return {};
}

/// Segments lie in the file, where they can be mapped, one behind the other.
std::string Image::checkSegments() const {
  if (loaded.empty())
    return "expected segments to load, found none";
  uint64_t end = 0;
  for (size_t i = 0; i != loaded.size(); ++i) {
    const Segment &segment = loaded[i];
    std::string where = "loaded segment " + std::to_string(i) + ": ";
    if (!slice(segment.offset, segment.fileBytes))
      return where + "expected it inside the file's " +
             std::to_string(bytes.size()) + " bytes, found it at " +
             range(segment.offset, segment.fileBytes);
    if (segment.memoryBytes < segment.fileBytes)
      return where + "expected at least its " +
             std::to_string(segment.fileBytes) +
             " bytes of the file in memory, found " +
             std::to_string(segment.memoryBytes);
    if (segment.memoryBytes > UINT64_MAX - segment.address)
      return where + "expected addresses of 64 bits, found " +
             range(segment.address, segment.memoryBytes);
    uint64_t alignment = std::max(segment.alignment, pageBytes);
    if (!std::has_single_bit(alignment))
      return where + "expected an alignment that is a power of two, found " +
             std::to_string(alignment);
    if ((segment.offset - segment.address) % alignment != 0)
      return where +
             "expected address and offset in the file to be equal modulo " +
             std::to_string(alignment) + ", found " + hex(segment.address) +
             " and " + hex(segment.offset);
    if (segment.address < end)
      return where +
             "expected it behind the segment before it, which ends at "
             "address " +
             hex(end) + ", found address " + hex(segment.address);
    end = segment.address + segment.memoryBytes;
  }
  return {};
}

/// What sections say is what segments load.
std::string Image::checkSections() {
  for (const Section &section : sections) {
    if (!section.isLoaded())
      continue;
    std::string where = nameForMessages(section) + ": ";
    auto home =
        std::find_if(loaded.begin(), loaded.end(), [&](const Segment &segment) {
          return isInside(section.address, section.size, segment.address,
                          segment.memoryBytes);
        });
    if (home == loaded.end())
      return where + "expected it inside a loaded segment, found it at " +
             "addresses " + range(section.address, section.size);
    uint64_t offset = section.address - home->address;
    if (!section.hasBytes()) {
      if (offset < home->fileBytes)
        return where +
               "expected it behind the bytes that its segment has in "
               "the file, found it at address " +
               hex(section.address);
      continue;
    }
    if (!isInside(offset, section.size, 0, home->fileBytes))
      return where +
             "expected all of it in the file's part of its segment, "
             "which ends at address " +
             hex(home->address + home->fileBytes) + ", found addresses " +
             range(section.address, section.size);
    if (section.offset != home->offset + offset)
      return where + "expected it at offset " + hex(home->offset + offset) +
             " of the file, from where its segment is loaded, found " +
             hex(section.offset);
  }
  return {};
}

/// Only .text can be executed, and only as what the file holds.
std::string Image::checkText() {
  size_t found = 0;
  for (size_t i = 0; i != sections.size(); ++i) {
    const Section &section = sections[i];
    bool isText = nameOf(section) == ".text" && section.isLoaded() &&
                  section.type == sectionProgram;
    if (isText) {
      text = i;
      ++found;
    } else if (section.isLoaded() && (section.flags & flagInstructions)) {
      return nameForMessages(section) +
             ": expected instructions in section .text only";
    }
  }
  if (found != 1)
    return "expected one section .text, found " +
           (found ? std::to_string(found) : std::string("none"));
  size_t executable = 0;
  for (const Segment &segment : loaded) {
    if (!(segment.flags & mayExecute))
      continue;
    ++executable;
    const Section &code = sections[text];
    if (segment.flags & mayWrite)
      return "executable segment: expected one that cannot be written";
    if (segment.address != code.address || segment.fileBytes != code.size ||
        segment.memoryBytes != code.size)
      return "executable segment: expected section .text and nothing else, "
             "at addresses " +
             range(code.address, code.size) + ", found " +
             range(segment.address, segment.memoryBytes);
  }
  if (executable != 1)
    return "expected one executable segment, found " +
           std::to_string(executable);
  return {};
}

/// Bytes that are loaded and belong to no section are zero.
std::string Image::checkGaps() const {
  std::vector<std::pair<uint64_t, uint64_t>> known = {
      {0, headerBytes},
      {segmentTable, segmentTable + segmentCount * sizeof(Segment)}};
  for (const Section &section : sections)
    if (section.isLoaded() && section.hasBytes())
      known.push_back({section.offset, section.offset + section.size});
  std::sort(known.begin(), known.end());
  for (const Segment &segment : loaded) {
    uint64_t at = segment.offset, end = at + segment.fileBytes;
    auto next = known.begin();
    while (at != end) {
      while (next != known.end() && next->second <= at)
        ++next;
      uint64_t stop = next == known.end() ? end : std::min(end, next->first);
      for (; at < stop; ++at)
        if (bytes[at] != 0)
          return "expected zeros between sections, found byte " +
                 hex(bytes[at]) + " at offset " + hex(at) +
                 ", which is loaded and in no section";
      if (next != known.end())
        at = std::max(at, std::min(end, next->second));
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

std::string Image::readSymbols() {
  size_t tables = 0;
  for (size_t i = 0; i != sections.size(); ++i)
    if (sections[i].type == sectionDynamicSymbols) {
      symbolTable = i;
      ++tables;
    }
  if (tables != 1)
    return "expected one dynamic symbol table, found " + std::to_string(tables);
  const Section &table = sections[symbolTable];
  std::string where = nameForMessages(table) + ": ";
  if (!table.isLoaded() || table.entryBytes != sizeof(Symbol) ||
      table.size % sizeof(Symbol) != 0)
    return where + "expected loaded entries of 24 bytes, found " +
           std::to_string(table.size) + " bytes in entries of " +
           std::to_string(table.entryBytes);
  if (table.link >= sections.size() ||
      sections[table.link].type != sectionStrings ||
      !sections[table.link].isLoaded())
    return where + "expected a loaded table of its names, found none";
  std::span<const uint8_t> strings = *contents(sections[table.link]);
  symbols.resize(table.size / sizeof(Symbol));
  std::memcpy(symbols.data(), contents(table)->data(), table.size);
  for (size_t i = 0; i != symbols.size(); ++i) {
    const Symbol &symbol = symbols[i];
    std::optional<std::string_view> name = stringAt(strings, symbol.name);
    if (!name)
      return where + "symbol " + std::to_string(i) +
             ": expected a name inside " +
             nameForMessages(sections[table.link]) + ", found offset " +
             std::to_string(symbol.name);
    bool isLocal = symbol.info >> 4 == 0;
    if (isLocal || symbol.section == undefinedSection ||
        symbol.section >= firstReservedSection)
      continue;
    if (symbol.section >= sections.size() ||
        !isInside(symbol.value, symbol.size, sections[symbol.section].address,
                  sections[symbol.section].size))
      return where + "symbol " + std::string(*name) +
             ": expected it inside its section, found addresses " +
             range(symbol.value, symbol.size);
    if (!byName.try_emplace(*name, i).second)
      return where + "expected each symbol once, found " + std::string(*name) +
             " again";
  }
  for (const Section &section : sections) {
    if (section.type != sectionHash && section.type != sectionGnuHash)
      continue;
    std::string fault = section.type == sectionHash ? checkHash(section)
                                                    : checkGnuHash(section);
    if (!fault.empty())
      return nameForMessages(section) + ": " + fault;
  }
  return {};
}

/// Each symbol is found by its name in the table of System V.
std::string Image::checkHash(const Section &section) const {
  std::span<const uint8_t> data = *contents(section);
  auto word = [&](uint64_t index) { return load<uint32_t>(data, index * 4); };
  uint64_t buckets = data.size() < 8 ? 0 : word(0);
  uint64_t chains = data.size() < 8 ? 0 : word(1);
  if (buckets == 0 || chains != symbols.size() ||
      data.size() != 4 * (2 + buckets + chains))
    return "expected buckets and " + std::to_string(symbols.size()) +
           " symbols, found " + std::to_string(buckets) + " and " +
           std::to_string(chains) + " in " + std::to_string(data.size()) +
           " bytes";
  for (const auto &[name, index] : byName) {
    uint32_t hash = 0;
    for (char c : name) {
      hash = (hash << 4) + static_cast<uint8_t>(c);
      uint32_t high = hash & 0xf0000000;
      hash = (hash ^ (high >> 24)) & ~high;
    }
    uint64_t found = word(2 + hash % buckets), steps = 0;
    while (found != index && found != 0 && found < chains && steps++ < chains)
      found = word(2 + buckets + found);
    if (found != index)
      return "expected it to lead to symbol " + std::string(name) +
             ", which it does not";
  }
  return {};
}

/// Each symbol is found by its name in the table of GNU.
std::string Image::checkGnuHash(const Section &section) const {
  std::span<const uint8_t> data = *contents(section);
  if (data.size() < 16)
    return "expected at least 16 bytes, found " + std::to_string(data.size());
  auto word = [&](uint64_t index) { return load<uint32_t>(data, index * 4); };
  uint64_t buckets = word(0), first = word(1), filters = word(2);
  uint32_t shift = word(3);
  uint64_t bucketsAt = 4 + 2 * filters, chainsAt = bucketsAt + buckets;
  if (buckets == 0 || filters == 0 || shift > 31 || first > symbols.size() ||
      data.size() != 4 * (chainsAt + (symbols.size() - first)))
    return "expected buckets, filters and the symbols from one on in its " +
           std::to_string(data.size()) + " bytes, found " +
           std::to_string(buckets) + ", " + std::to_string(filters) + " and " +
           std::to_string(first) + " of " + std::to_string(symbols.size());
  for (const auto &[name, index] : byName) {
    uint32_t hash = 5381;
    for (char c : name)
      hash = hash * 33 + static_cast<uint8_t>(c);
    auto filter = load<uint64_t>(data, 16 + 8 * ((hash / 64) % filters));
    bool mayBeThere =
        ((filter >> (hash % 64)) & (filter >> ((hash >> shift) % 64)) & 1) != 0;
    uint64_t at = word(bucketsAt + hash % buckets);
    bool found = false;
    for (; mayBeThere && !found && at >= first && at < symbols.size(); ++at) {
      uint32_t chain = word(chainsAt + (at - first));
      found = at == index && ((chain ^ hash) >> 1) == 0;
      if (chain & 1)
        break;
    }
    if (!found)
      return "expected it to lead to symbol " + std::string(name) +
             ", which it does not";
  }
  return {};
}

/// The dynamic section names the tables that the section headers name.
std::string Image::checkDynamic() const {
  const Section *dynamic = nullptr;
  for (const Section &section : sections)
    if (section.type == sectionDynamic && section.isLoaded())
      dynamic = &section;
  const Segment *segment = nullptr;
  for (const Segment &candidate : segments)
    if (candidate.type == segmentDynamic)
      segment = &candidate;
  if (!dynamic || !segment)
    return "expected a dynamic section and a segment with it, found none";
  if (segment->offset != dynamic->offset ||
      segment->address != dynamic->address ||
      segment->fileBytes != dynamic->size)
    return "dynamic segment: expected the dynamic section at offset " +
           hex(dynamic->offset) + ", found offset " + hex(segment->offset);
  struct Tag {
    uint64_t tag;
    const char *name;
    uint32_t type; // of the section it names, or 0 for the names of symbols
    bool isSize;
    bool isRequired;
    bool isFound = false;
  };
  Tag tags[] = {{6, "DT_SYMTAB", sectionDynamicSymbols, false, true},
                {5, "DT_STRTAB", 0, false, true},
                {10, "DT_STRSZ", 0, true, true},
                {4, "DT_HASH", sectionHash, false, false},
                {0x6ffffef5, "DT_GNU_HASH", sectionGnuHash, false, false},
                {7, "DT_RELA", sectionRela, false, false},
                {8, "DT_RELASZ", sectionRela, true, false},
                {17, "DT_REL", sectionRel, false, false}};
  std::span<const uint8_t> data = *contents(*dynamic);
  bool ends = false;
  for (uint64_t i = 0; !ends && i != data.size() / 16; ++i) {
    auto number = load<uint64_t>(data, 16 * i);
    auto value = load<uint64_t>(data, 16 * i + 8);
    ends = number == 0;
    for (Tag &tag : tags) {
      if (tag.tag != number)
        continue;
      const Section *named = nullptr;
      if (tag.type == 0)
        named = &sections[sections[symbolTable].link];
      for (const Section &section : sections)
        if (tag.type != 0 && section.type == tag.type && section.isLoaded())
          named = &section;
      uint64_t expected = !named       ? 0
                          : tag.isSize ? named->size
                                       : named->address;
      if (value != expected)
        return std::string("dynamic section: expected ") + tag.name + " " +
               hex(expected) + " as the section headers say, found " +
               hex(value);
      tag.isFound = true;
    }
  }
  if (!ends)
    return "dynamic section: expected an entry that ends it, found none";
  for (const Tag &tag : tags)
    if (tag.isRequired && !tag.isFound)
      return std::string("dynamic section: expected ") + tag.name +
             ", found none";
  return {};
}

/// A loader leaves code as it is.
std::string Image::checkRelocations() {
  for (const Section &section : sections) {
    if (section.type != sectionRela && section.type != sectionRel)
      continue;
    uint64_t entry = section.type == sectionRela ? 24 : 16;
    std::span<const uint8_t> data = *contents(section);
    for (uint64_t i = 0; i != data.size() / entry; ++i) {
      auto address = load<uint64_t>(data, i * entry);
      if (!at(address, 8))
        return nameForMessages(section) +
               ": expected relocations of loaded bytes, found address " +
               hex(address);
      if (address + 8 > getText().address &&
          address < getText().address + getText().size)
        return nameForMessages(section) +
               ": expected code that stays as it is, found a relocation at "
               "address " +
               hex(address) + " of .text";
      relocated.push_back(address);
    }
  }
  return {};
}

std::string Image::readNotes() {
  size_t found = 0;
  for (const Segment &segment : segments) {
    if (segment.type != segmentNote)
      continue;
    auto data = slice(segment.offset, segment.fileBytes);
    if (!data)
      return "notes: expected them inside the file's " +
             std::to_string(bytes.size()) + " bytes, found them at " +
             range(segment.offset, segment.fileBytes);
    constexpr uint64_t noteHeader = 12;
    uint64_t at = 0;
    while (at < data->size()) {
      if (data->size() - at < noteHeader)
        return "notes: expected whole notes, found one that is cut off";
      auto nameBytes = load<uint32_t>(*data, at);
      auto valueBytes = load<uint32_t>(*data, at + 4);
      auto type = load<uint32_t>(*data, at + 8);
      at += noteHeader;
      uint64_t padded = (uint64_t(nameBytes) + 3) & ~uint64_t(3);
      if (!isInside(padded, valueBytes, 0, data->size() - at))
        return "notes: expected whole notes, found one that is cut off";
      constexpr std::string_view owner("AMDGPU", 7);
      if (type == metadataNote && nameBytes == owner.size() &&
          std::memcmp(data->data() + at, owner.data(), owner.size()) == 0) {
        metadata = data->subspan(at + padded, valueBytes);
        ++found;
      }
      at += padded;
      at += std::min((uint64_t(valueBytes) + 3) & ~uint64_t(3),
                     data->size() - at);
    }
  }
  if (found != 1)
    return "expected an AMDGPU metadata note, found " +
           (found ? std::to_string(found) : std::string("none"));
  return {};
}

} // namespace netra::hsa
