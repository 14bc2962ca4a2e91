//===- PatchableObject.cpp - A code object with one line replaced --------===//
// SPDX-License-Identifier: MIT

#include "PatchableObject.h"
#include "KernelHarness.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace netra::mutation {

std::vector<uint8_t> linkedBytes(const std::string &text, std::string *why) {
  auto kernel = kernels::assembler().assembleSource(text, "mutant.s");
  if (kernel)
    return std::move(kernel->object.bytes);
  std::string reason = toString(kernel.takeError());
  if (why)
    *why = std::move(reason);
  return {};
}

static std::shared_ptr<sim::CodeObject>
loaded(const std::vector<uint8_t> &bytes, std::string *why = nullptr) {
  if (bytes.empty())
    return nullptr;
  auto object = sim::CodeObject::load(bytes, "mutant");
  if (object)
    return *object;
  std::string reason = toString(object.takeError());
  if (why)
    *why = std::move(reason);
  return nullptr;
}

namespace {
struct CodeSection {
  uint64_t address = 0;
  size_t offset = 0, size = 0; ///< in the file
};
} // namespace

/// The sections of a linked code object that hold instructions.
static std::vector<CodeSection>
codeSections(const std::vector<uint8_t> &bytes) {
  std::vector<CodeSection> found;
  const StringRef image(reinterpret_cast<const char *>(bytes.data()),
                        bytes.size());
  auto file = object::ObjectFile::createELFObjectFile({image, "mutant"});
  if (!file) {
    consumeError(file.takeError());
    return found;
  }
  for (const object::SectionRef &section : (*file)->sections()) {
    if (!section.isText())
      continue;
    auto contents = section.getContents();
    if (!contents) {
      consumeError(contents.takeError());
      continue;
    }
    found.push_back({section.getAddress(),
                     size_t(contents->data() - image.data()),
                     contents->size()});
  }
  return found;
}

PatchableObject::PatchableObject(AssemblyText given) : text(std::move(given)) {
  bytes = linkedBytes(text.with(text.lines.size(), ""), &faultText);
  object = loaded(bytes, &faultText);
  if (object)
    findPlaces();
}

/// Finds out where the instruction of each line is.
void PatchableObject::findPlaces() {
  std::string listing;
  raw_string_ostream os(listing);
  if (Error error = object->disassemble(os)) {
    faultText = toString(std::move(error));
    return;
  }
  const std::vector<CodeSection> sections = codeSections(bytes);
  // The instructions of both lists come in the same order; padding between
  // functions is s_nop.
  size_t next = 0;
  Place *last = nullptr;
  SmallVector<StringRef> listed;
  StringRef(listing).split(listed, '\n', -1, false);
  for (StringRef entry : listed) {
    auto [place, body] = entry.trim().split("  ");
    uint64_t pc = 0;
    if (entry.ends_with(":") || place.getAsInteger(16, pc))
      continue;
    if (last && pc > last->address)
      last->size = std::min<size_t>(last->size, pc - last->address);
    last = nullptr;
    if (next == text.instructions.size())
      continue;
    const size_t line = text.instructions[next];
    const std::string expected =
        InstructionText::parse(text.lines[line]).mnemonic;
    const StringRef found = body.trim().split(' ').first;
    if (found != expected && found == "s_nop")
      continue;
    // Suffixes of encodings may be left out by authors.
    if (!found.starts_with(expected) &&
        !StringRef(expected).starts_with(found)) {
      faultText = "line " + std::to_string(line) + ": expected " + expected +
                  ", found " + found.str();
      return;
    }
    last = &places[line];
    last->address = pc;
    for (const CodeSection &section : sections)
      if (pc >= section.address && pc < section.address + section.size) {
        last->offset = section.offset + size_t(pc - section.address);
        last->size = section.offset + section.size - last->offset;
      }
    ++next;
  }
  if (next != text.instructions.size())
    faultText = "line " + std::to_string(text.instructions[next]) +
                ": its instruction is not in the code object";
}

/// The bytes of an instruction alone; empty when it has none without its
/// surroundings.
const std::vector<uint8_t> &
PatchableObject::encoding(const std::string &instruction) {
  auto [at, isNew] = encodings.try_emplace(instruction);
  // Nothing leaves nothing, and symbols are not known here.
  if (!isNew || instruction.empty() ||
      StringRef(instruction).find_first_of("@$") != StringRef::npos ||
      StringRef(instruction).contains(".L"))
    return at->second;
  auto alone = kernels::assembler().assembleSource(
      ".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n"
      ".amdhsa_code_object_version 5\n.text\n\t" +
          instruction +
          "\n.amdgpu_metadata\n---\namdhsa.version: [1, 2]\n"
          "amdhsa.target: amdgcn-amd-amdhsa--gfx950\namdhsa.kernels: []\n"
          "...\n.end_amdgpu_metadata\n",
      "instruction.s");
  if (alone)
    at->second = std::move(alone->object.text);
  else
    consumeError(alone.takeError());
  return at->second;
}

std::vector<uint8_t>
PatchableObject::patchedBytes(size_t line, const std::string &replacement) {
  static const uint8_t nop[4] = {0, 0, 0x80, 0xbf}; // s_nop 0
  const auto place = places.find(line);
  const std::vector<uint8_t> &code = encoding(replacement);
  if (place == places.end() || code.empty() || code.size() > place->second.size)
    return {};
  std::vector<uint8_t> patched = bytes;
  for (size_t k = 0; k < place->second.size; ++k)
    patched[place->second.offset + k] =
        k < code.size() ? code[k] : nop[k % sizeof(nop)];
  return patched;
}

std::shared_ptr<sim::CodeObject>
PatchableObject::with(size_t line, const std::string &replacement) {
  const std::vector<uint8_t> patched = patchedBytes(line, replacement);
  return loaded(patched.empty()
                    ? linkedBytes(text.with(line, replacement), nullptr)
                    : patched);
}

} // namespace netra::mutation
