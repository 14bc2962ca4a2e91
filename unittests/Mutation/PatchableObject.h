//===- PatchableObject.h - A code object with one line replaced -*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Most of the time that a mutant takes is the assembler's and the linker's. A
// mutant whose instruction takes no more bytes than the one it stands for is
// the linked code object of the unchanged text with those bytes replaced.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_MUTATION_PATCHABLEOBJECT_H
#define NETRA_UNITTESTS_MUTATION_PATCHABLEOBJECT_H

#include "AssemblyText.h"
#include "Netra/Simulator/Simulator.h"
#include <map>
#include <memory>

namespace netra::mutation {

/// The bytes of the linked code object of a text; empty when it does not
/// assemble, for the reason that `why` then holds.
std::vector<uint8_t> linkedBytes(const std::string &text, std::string *why);

class PatchableObject {
public:
  /// Assembles the text; see `fault`.
  explicit PatchableObject(AssemblyText text);

  /// "", or why there is no object, or why its instructions are not those of
  /// the text.
  const std::string &fault() const { return faultText; }
  const AssemblyText &getText() const { return text; }
  /// The unchanged one.
  const std::shared_ptr<sim::CodeObject> &unchanged() const { return object; }

  /// The address of the instruction in a line of the text.
  uint64_t address(size_t line) const { return places.at(line).address; }

  /// The code object of the text with a line replaced, by patching where that
  /// is possible; an s_nop fills up what a shorter instruction leaves. nullptr
  /// when it does not assemble.
  std::shared_ptr<sim::CodeObject> with(size_t line,
                                        const std::string &replacement);
  /// The bytes of the same; empty when patching is not possible.
  std::vector<uint8_t> patchedBytes(size_t line,
                                    const std::string &replacement);

private:
  struct Place {
    uint64_t address = 0;
    size_t offset = 0, size = 0; ///< in `bytes`
  };
  void findPlaces();
  const std::vector<uint8_t> &encoding(const std::string &instruction);

  AssemblyText text;
  std::vector<uint8_t> bytes;
  std::shared_ptr<sim::CodeObject> object;
  std::string faultText;
  std::map<size_t, Place> places;
  std::map<std::string, std::vector<uint8_t>> encodings;
};

} // namespace netra::mutation

#endif // NETRA_UNITTESTS_MUTATION_PATCHABLEOBJECT_H
