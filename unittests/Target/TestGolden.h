//===- TestGolden.h - A golden made of our own kernel -----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_TARGET_TESTGOLDEN_H
#define NETRA_UNITTESTS_TARGET_TESTGOLDEN_H

#include "Netra/Target/KernelBuilder.h"

#include "TestLibrary.h"

namespace netra::test {

/// The copy kernel as somebody else would hand it over.
inline CodeObject copyObject() {
  TestLibrary library;
  return llvm::cantFail(library.assembler().assemble(copyInstance())).object;
}

/// A library with the copy kernel, its code object in the folder "golden", and
/// a complete record about it.
class GoldenLibrary : public TestLibrary {
public:
  GoldenLibrary() : object(copyObject()) {
    record = nlohmann::json::parse(writeGoldenRecord(
        object, object.kernels[0], "golden_copy", "copy.hsaco"));
    nlohmann::json manifest = nlohmann::json::parse(copyManifest);
    for (const char *key : {"family", "operation", "rank", "summary", "match",
                            "numerics", "graph_capture", "deterministic"})
      record[key] = manifest[key];
    for (size_t i = 0; i != 3; ++i)
      record["arguments"][i]["type"] = "i32";
    record["arguments"][0]["role"] = "x";
    record["arguments"][1]["value"] = "N";
    record["arguments"][2]["role"] = "result";
    record["launch"]["grid"] = manifest["launch"]["grid"];
    record["launch"]["block"] = manifest["launch"]["block"];
    record["launch"]["dynamic_lds"] = 0;
    writeObject(object);
  }

  void writeObject(const CodeObject &other) {
    write("golden/copy.hsaco",
          std::string(other.bytes.begin(), other.bytes.end()));
  }
  /// Writes other bytes and lets the record have their size and hash.
  void adopt(const CodeObject &other) {
    writeObject(other);
    record["code"]["bytes"] = other.bytes.size();
    record["code"]["sha256"] = other.sha256;
  }

  KernelBuilder builder(const std::string &folder = "golden") const {
    return llvm::cantFail(
        KernelBuilder::create(path.string(), "gfx950",
                              folder.empty() ? "" : (path / folder).string()));
  }
  /// The tactic lives as long as the library.
  Instance instance() {
    tactic = llvm::cantFail(parseGolden(record.dump(), "golden_copy.json"));
    return llvm::cantFail(instantiate(tactic, copyProblem(), {}));
  }
  llvm::Expected<AssembledKernel> build() {
    llvm::Expected<Tactic> parsed =
        parseGolden(record.dump(), "golden_copy.json");
    if (!parsed)
      return parsed.takeError();
    tactic = std::move(*parsed);
    llvm::Expected<Instance> made = instantiate(tactic, copyProblem(), {});
    if (!made)
      return made.takeError();
    return builder().build(*made);
  }

  CodeObject object;
  nlohmann::json record;

private:
  Tactic tactic;
};

} // namespace netra::test

#endif // NETRA_UNITTESTS_TARGET_TESTGOLDEN_H
