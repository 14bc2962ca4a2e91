//===- CodeObjectImageTest.cpp - Sections are what a loader sees ----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// What is hashed are sections, what runs are segments and the symbols of the
// dynamic table. Each case makes the two differ in one place, found with LLVM's
// description of ELF.
//
//===----------------------------------------------------------------------===//

#include "TestLibrary.h"

#include "llvm/BinaryFormat/ELF.h"

#include "gmock/gmock.h"

using namespace netra;
using namespace netra::test;
using testing::HasSubstr;
namespace elf = llvm::ELF;

namespace {

/// A sound code object and its tables, to be changed in place.
class Editor {
public:
  Editor() {
    TestLibrary library;
    bytes = llvm::cantFail(library.assembler().assemble(copyInstance()))
                .object.bytes;
  }

  template <typename T> T *at(uint64_t offset) {
    return reinterpret_cast<T *>(bytes.data() + offset);
  }
  elf::Elf64_Ehdr &header() { return *at<elf::Elf64_Ehdr>(0); }
  /// The nth segment of a kind.
  elf::Elf64_Phdr &segment(uint32_t type, unsigned n = 0) {
    for (unsigned i = 0; i != header().e_phnum; ++i) {
      auto &entry = at<elf::Elf64_Phdr>(header().e_phoff)[i];
      if (entry.p_type == type && n-- == 0)
        return entry;
    }
    abort();
  }
  /// The segment with the code.
  elf::Elf64_Phdr &code() {
    elf::Elf64_Phdr &found = segment(elf::PT_LOAD, 1);
    EXPECT_TRUE(found.p_flags & elf::PF_X);
    return found;
  }
  elf::Elf64_Shdr &section(llvm::StringRef name) {
    auto *sections = at<elf::Elf64_Shdr>(header().e_shoff);
    const char *names = at<char>(sections[header().e_shstrndx].sh_offset);
    for (unsigned i = 0; i != header().e_shnum; ++i)
      if (names + sections[i].sh_name == name)
        return sections[i];
    abort();
  }
  /// A symbol of the table for the loader.
  elf::Elf64_Sym &symbol(llvm::StringRef name) {
    elf::Elf64_Shdr &table = section(".dynsym");
    const char *names = at<char>(section(".dynstr").sh_offset);
    for (uint64_t i = 0; i != table.sh_size / sizeof(elf::Elf64_Sym); ++i) {
      auto &entry = at<elf::Elf64_Sym>(table.sh_offset)[i];
      if (names + entry.st_name == name)
        return entry;
    }
    abort();
  }
  elf::Elf64_Dyn &dynamic(int64_t tag) {
    auto *entry = at<elf::Elf64_Dyn>(section(".dynamic").sh_offset);
    while (entry->d_tag != tag)
      ++entry;
    return *entry;
  }
  /// Turns the comment into relocations of one address.
  void relocate(uint64_t address) {
    elf::Elf64_Shdr &comment = section(".comment");
    ASSERT_GE(comment.sh_size, 24u);
    comment.sh_type = elf::SHT_RELA;
    memcpy(at<char>(comment.sh_offset), &address, sizeof(address));
  }

  std::vector<uint8_t> bytes;
};

constexpr llvm::StringRef kernel = "netra_copy_n64";
constexpr llvm::StringRef descriptor = "netra_copy_n64.kd";

struct Damage {
  const char *name;
  void (*damage)(Editor &);
  const char *message;
};

void PrintTo(const Damage &damage, std::ostream *os) { *os << damage.name; }

const Damage damages[] = {
    {"MoreProgramHeadersThanBytes",
     [](Editor &e) { e.header().e_phnum |= 88 << 8; },
     "program headers inside the file's"},
    {"ProgramHeadersElsewhere",
     [](Editor &e) { e.header().e_phoff = uint64_t(1) << 60; },
     "program headers inside the file's"},
    {"ProgramHeadersOfAnotherSize", [](Editor &e) { --e.header().e_phentsize; },
     "expected program headers of 56 bytes, found 55"},
    {"NoProgramHeaders", [](Editor &e) { e.header().e_phnum = 0; },
     "expected program headers, found none"},
    {"SectionHeadersElsewhere",
     [](Editor &e) { e.header().e_shoff = UINT64_MAX - 63; },
     "section headers inside the file's"},
    {"NothingToLoad",
     [](Editor &e) {
       for (unsigned i = 0; i != 3; ++i)
         e.segment(elf::PT_LOAD).p_type = elf::PT_NULL;
     },
     "expected segments to load, found none"},
    {"SegmentOutside", [](Editor &e) { e.code().p_offset = uint64_t(1) << 40; },
     "loaded segment 1: expected it inside the file's"},
    {"SegmentWithoutEnd", [](Editor &e) { e.code().p_filesz = UINT64_MAX; },
     "loaded segment 1: expected it inside the file's"},
    {"SegmentSmallerInMemory", [](Editor &e) { e.code().p_memsz -= 4; },
     "loaded segment 1: expected at least its"},
    {"SegmentBeyondAllAddresses",
     [](Editor &e) { e.segment(elf::PT_LOAD, 2).p_memsz = UINT64_MAX - 4096; },
     "loaded segment 2: expected addresses of 64 bits"},
    {"SegmentNotCongruent", [](Editor &e) { e.code().p_vaddr += 256; },
     "loaded segment 1: expected address and offset in the file to be equal "
     "modulo 4096"},
    {"AlignmentNoPowerOfTwo", [](Editor &e) { e.code().p_align = 6000; },
     "loaded segment 1: expected an alignment that is a power of two"},
    {"SegmentsOverlap",
     [](Editor &e) { e.segment(elf::PT_LOAD).p_memsz += 8192; },
     "loaded segment 1: expected it behind the segment before it"},
    // What is hashed stays, what is loaded begins with s_endpgm.
    {"CodeElsewhere",
     [](Editor &e) {
       uint64_t offset = e.code().p_offset, size = e.code().p_filesz;
       std::vector<uint8_t> other(e.bytes.begin() + offset,
                                  e.bytes.begin() + offset + size);
       const uint32_t end = 0xbf810000;
       memcpy(other.data(), &end, sizeof(end));
       while (e.bytes.size() % 4096 != offset % 4096)
         e.bytes.push_back(0);
       e.code().p_offset = e.bytes.size();
       e.bytes.insert(e.bytes.end(), other.begin(), other.end());
     },
     "section .text: expected it at offset"},
    {"DataElsewhere", [](Editor &e) { e.section(".rodata").sh_offset += 64; },
     "section .rodata: expected it at offset"},
    {"SectionInNoSegment",
     [](Editor &e) { e.section(".rodata").sh_addr = 1 << 20; },
     "section .rodata: expected it inside a loaded segment"},
    {"SectionBeyondTheFilesPart",
     [](Editor &e) { e.segment(elf::PT_LOAD).p_filesz -= 16; },
     "section .rodata: expected all of it in the file's part of its segment"},
    {"MoreThanTheCodeIsExecutable", [](Editor &e) { e.code().p_memsz += 64; },
     "executable segment: expected section .text and nothing else"},
    {"DataAreExecutable",
     [](Editor &e) { e.segment(elf::PT_LOAD).p_flags |= elf::PF_X; },
     "executable segment: expected section .text and nothing else"},
    {"NothingIsExecutable",
     [](Editor &e) { e.code().p_flags &= ~uint32_t(elf::PF_X); },
     "expected one executable segment, found 0"},
    {"CodeCanBeWritten", [](Editor &e) { e.code().p_flags |= elf::PF_W; },
     "expected one that cannot be written"},
    {"TwoSectionsOfInstructions",
     [](Editor &e) { e.section(".rodata").sh_flags |= elf::SHF_EXECINSTR; },
     "section .rodata: expected instructions in section .text only"},
    {"BytesInNoSection",
     [](Editor &e) {
       uint64_t before = e.section(".rodata").sh_offset - 1;
       ASSERT_GT(before,
                 e.section(".dynstr").sh_offset + e.section(".dynstr").sh_size);
       e.bytes[before] = 7;
     },
     "expected zeros between sections, found byte 0x7"},
    {"DescriptorElsewhere",
     [](Editor &e) { e.symbol(descriptor).st_value += 64; },
     "symbol netra_copy_n64.kd: expected it inside its section"},
    {"DescriptorOfAnotherSize",
     [](Editor &e) { e.symbol(descriptor).st_size = 60; },
     "kernel descriptor netra_copy_n64.kd: expected an object of 64 bytes"},
    {"DescriptorIsAFunction",
     [](Editor &e) {
       e.symbol(descriptor).setBindingAndType(elf::STB_GLOBAL, elf::STT_FUNC);
     },
     "expected an object of 64 bytes, found symbol type 2"},
    {"SymbolTwice",
     [](Editor &e) { e.symbol(kernel).st_name = e.symbol(descriptor).st_name; },
     "expected each symbol once, found netra_copy_n64.kd again"},
    {"SymbolWithoutEnd", [](Editor &e) { e.symbol(kernel).st_name = 1 << 30; },
     ".dynsym: symbol "},
    {"SymbolUnderAnotherName",
     [](Editor &e) {
       ++*e.at<char>(e.section(".dynstr").sh_offset + e.symbol(kernel).st_name +
                     2);
     },
     "hash: expected it to lead to symbol"},
    {"HashEmpty",
     [](Editor &e) {
       // buckets, symbols, then the buckets
       auto *words = e.at<uint32_t>(e.section(".hash").sh_offset);
       for (uint32_t i = 0; i != words[0]; ++i)
         words[2 + i] = 0;
     },
     "section .hash: expected it to lead to symbol"},
    {"HashInACircle",
     [](Editor &e) {
       auto *words = e.at<uint32_t>(e.section(".hash").sh_offset);
       for (uint32_t i = 0; i != words[0] + words[1]; ++i)
         words[2 + i] = 1;
     },
     "section .hash: expected it to lead to symbol"},
    {"HashWithoutBuckets",
     [](Editor &e) { *e.at<uint32_t>(e.section(".hash").sh_offset) = 0; },
     "section .hash: expected buckets and 3 symbols, found 0"},
    {"FilterEmpty",
     [](Editor &e) {
       *e.at<uint64_t>(e.section(".gnu.hash").sh_offset + 16) = 0;
     },
     "section .gnu.hash: expected it to lead to symbol"},
    {"GnuHashWithoutBuckets",
     [](Editor &e) { *e.at<uint32_t>(e.section(".gnu.hash").sh_offset) = 0; },
     "section .gnu.hash: expected buckets, filters and the symbols"},
    {"AnotherSymbolTable",
     [](Editor &e) { e.dynamic(elf::DT_SYMTAB).d_un.d_ptr += 24; },
     "dynamic section: expected DT_SYMTAB"},
    {"ShorterNames", [](Editor &e) { --e.dynamic(elf::DT_STRSZ).d_un.d_val; },
     "dynamic section: expected DT_STRSZ"},
    {"NamesUnknown",
     [](Editor &e) { e.dynamic(elf::DT_STRTAB).d_tag = elf::DT_DEBUG; },
     "dynamic section: expected DT_STRTAB, found none"},
    {"AnotherDynamicSection",
     [](Editor &e) { e.segment(elf::PT_DYNAMIC).p_offset += 16; },
     "dynamic segment: expected the dynamic section at offset"},
    {"NotesElsewhere",
     [](Editor &e) { e.segment(elf::PT_NOTE).p_offset = 1 << 30; },
     "notes: expected them inside the file's"},
    {"NotesNotForTheLoader",
     [](Editor &e) { e.segment(elf::PT_NOTE).p_type = elf::PT_NULL; },
     "expected an AMDGPU metadata note, found none"},
    {"NoteCutOff", [](Editor &e) { e.segment(elf::PT_NOTE).p_filesz -= 8; },
     "notes: expected whole notes, found one that is cut off"},
    {"CodeIsRelocated",
     [](Editor &e) { e.relocate(e.section(".text").sh_addr + 8); },
     "expected code that stays as it is, found a relocation"},
    {"DescriptorIsRelocated",
     [](Editor &e) { e.relocate(e.section(".rodata").sh_addr + 16); },
     "expected bytes that stay as they are, found a relocation"},
    {"NothingIsRelocated", [](Editor &e) { e.relocate(uint64_t(1) << 40); },
     "expected relocations of loaded bytes, found address 0x10000000000"},
    {"FlagsOfAnotherTarget",
     [](Editor &e) {
       e.header().e_flags =
           (e.header().e_flags & ~0xffu) | elf::EF_AMDGPU_MACH_AMDGCN_GFX942;
     },
     "expected the ELF flags of gfx950, the target of the metadata, found "
     "those of gfx942"},
    {"FlagsOfAnotherTargetForSeveral",
     [](Editor &e) {
       e.header().e_flags |= elf::EF_AMDGPU_MACH_AMDGCN_GFX9_4_GENERIC;
     },
     "found those of gfx9-4-generic"},
    {"FlagsOfAMachineWithoutName",
     [](Editor &e) {
       e.header().e_flags = (e.header().e_flags & ~0xffu) | 0x60;
     },
     "found those of machine 0x60"},
    {"FlagsWithReplay",
     [](Editor &e) {
       e.header().e_flags |= elf::EF_AMDGPU_FEATURE_XNACK_ON_V4;
     },
     "expected the ELF flags of gfx950, the target of the metadata, found "
     "those of gfx950:xnack+"},
    {"FlagsWithoutReplay",
     [](Editor &e) { e.header().e_flags ^= elf::EF_AMDGPU_FEATURE_XNACK_V4; },
     "found those of gfx950:xnack-"},
    {"FlagsWithEcc",
     [](Editor &e) {
       e.header().e_flags |= elf::EF_AMDGPU_FEATURE_SRAMECC_ON_V4;
     },
     "found those of gfx950:sramecc+"},
    {"FlagsWithoutEcc",
     [](Editor &e) { e.header().e_flags ^= elf::EF_AMDGPU_FEATURE_SRAMECC_V4; },
     "found those of gfx950:sramecc-"},
    {"FlagsOfBothModes",
     [](Editor &e) {
       e.header().e_flags ^=
           elf::EF_AMDGPU_FEATURE_SRAMECC_V4 | elf::EF_AMDGPU_FEATURE_XNACK_V4;
     },
     "found those of gfx950:sramecc-:xnack-"},
    {"UnknownFlags", [](Editor &e) { e.header().e_flags |= 0x50000; },
     "expected ELF flags that name a target, found the unknown bits 0x50000"},
    {"FlagsWithTheVersionOfAnother",
     [](Editor &e) { e.header().e_flags |= 1u << 24; },
     "found the unknown bits 0x1000000"},
};

class CodeObjectImage : public testing::TestWithParam<Damage> {};

} // namespace

TEST_P(CodeObjectImage, IsRefused) {
  Editor editor;
  ASSERT_EQ(llvm::toString(readCodeObject(editor.bytes).takeError()), "");
  GetParam().damage(editor);
  EXPECT_THAT(llvm::toString(readCodeObject(editor.bytes).takeError()),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Damage, CodeObjectImage, testing::ValuesIn(damages),
                         [](const testing::TestParamInfo<Damage> &info) {
                           return std::string(info.param.name);
                         });

TEST(CodeObjectTarget, FlagsWithoutWordOfModesAreAccepted) {
  Editor editor;
  editor.header().e_flags = elf::EF_AMDGPU_MACH_AMDGCN_GFX950;
  EXPECT_EQ(llvm::toString(readCodeObject(editor.bytes).takeError()), "");
}
