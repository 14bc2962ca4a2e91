//===- CodeObjectImage.h - What a loader sees in a code object --*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// A loader maps segments and looks symbols up in the dynamic symbol table; it
// asks no section what it holds. Whoever hashes sections therefore says
// something about what runs only when the two agree, which `open` makes sure
// of. The runtime and the compiler share this file; it needs the standard
// library only.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_RUNTIME_CODEOBJECTIMAGE_H
#define NETRA_RUNTIME_CODEOBJECTIMAGE_H

#include "TargetFlags.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace netra::hsa {

struct Segment {
  uint32_t type, flags;
  uint64_t offset, address, physicalAddress, fileBytes, memoryBytes, alignment;
};

struct Section {
  uint32_t name, type;
  uint64_t flags, address, offset, size;
  uint32_t link, info;
  uint64_t alignment, entryBytes;

  bool isLoaded() const; // part of the image in memory
  bool hasBytes() const; // in the file
  /// Bytes that a loader reads for itself: symbols, their names and hashes,
  /// notes, the dynamic section.
  bool isForTheLoader() const;
};

struct Symbol {
  uint32_t name;
  uint8_t info, other;
  uint16_t section;
  uint64_t value, size;
};

inline constexpr uint64_t descriptorBytes = 64;

/// A view of a linked AMDGPU code object: 64-bit, little-endian. Any bytes may
/// be opened.
class Image {
public:
  /// What is wrong with it, as a sentence; empty when nothing is. The bytes
  /// must outlive the view. Nothing else may be called after a failure.
  std::string open(std::span<const uint8_t> bytes);

  /// What the flags of the file say: "gfx950", "gfx950:xnack+";
  /// "machine 0x4b" when it is not known by name.
  std::string getTarget() const;
  /// Why it cannot be code for `isa`, the target that its metadata names; empty
  /// when it can.
  std::string checkTarget(std::string_view isa) const;
  unsigned getVersion() const { return version; } // of the ABI, 4 to 6

  const std::vector<Section> &getSections() const { return sections; }
  std::string_view nameOf(const Section &section) const {
    return *stringAt(*contents(sections[nameTable]), section.name);
  }
  const Section &getText() const { return sections[text]; }
  std::span<const uint8_t> getTextBytes() const { return *contents(getText()); }

  /// The description of the AMDGPU metadata note.
  std::span<const uint8_t> getMetadata() const { return metadata; }

  /// The entry of the dynamic symbol table, which has each name once.
  const Symbol *findSymbol(std::string_view name) const;

  /// A symbol of the other table, by name and value: it may know a size.
  std::optional<uint64_t> findSize(std::string_view name, uint64_t value) const;

  /// The 64 bytes of a kernel descriptor; `fault` says why there are none.
  std::optional<std::span<const uint8_t>>
  findDescriptor(std::string_view symbol, std::string &fault) const;

  /// The bytes that the file gives to an address range, if all of them.
  std::optional<std::span<const uint8_t>> at(uint64_t address,
                                             uint64_t size) const;

private:
  std::optional<std::span<const uint8_t>> slice(uint64_t offset,
                                                uint64_t size) const;
  std::optional<std::span<const uint8_t>>
  contents(const Section &section) const;
  static std::optional<std::string_view>
  stringAt(std::span<const uint8_t> table, uint64_t offset);
  std::string nameForMessages(const Section &section) const;

  std::string readHeader();
  std::string readTables();
  std::string checkSegments() const;
  std::string checkSections();
  std::string checkText();
  std::string checkGaps() const;
  std::string readSymbols();
  std::string checkDynamic() const;
  std::string checkHash(const Section &section) const;
  std::string checkGnuHash(const Section &section) const;
  std::string checkRelocations();
  std::string readNotes();

  std::span<const uint8_t> bytes;
  uint64_t segmentTable = 0, sectionTable = 0;
  uint16_t segmentCount = 0, sectionCount = 0, nameTable = 0;
  TargetFlags flags{0};
  unsigned version = 0;
  std::vector<Segment> segments, loaded;
  std::vector<Section> sections;
  size_t text = 0, symbolTable = 0;
  std::vector<Symbol> symbols;
  std::unordered_map<std::string_view, size_t> byName;
  std::vector<uint64_t> relocated; // addresses that a loader changes
  std::span<const uint8_t> metadata;
};

} // namespace netra::hsa

#endif // NETRA_RUNTIME_CODEOBJECTIMAGE_H
