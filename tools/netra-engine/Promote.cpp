//===- Promote.cpp - netra-engine promote and record-golden ---------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "InputFile.h"
#include "OutputFile.h"

#include "Netra/Catalog/Catalog.h"
#include "Netra/Target/Equivalence.h"
#include "Netra/Target/Promotion.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstdio>

using namespace netra;
using namespace netra::tool;

static llvm::Expected<NamedText> readFile(const std::string &path) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = readInput(path);
  if (!buffer)
    return buffer.takeError();
  return NamedText{(*buffer)->getBuffer().str(), path};
}

int netra::tool::promoteMain(int argc, char **argv) {
  Arguments arguments(
      "promote",
      "Moves the maturity of a tactic or golden when the evidence is there: "
      "verified needs a simulated or device record, accepted a device record, "
      "gathered on the machine code that the manifest gives today. Nothing "
      "else of the manifest changes.",
      "MANIFEST");
  arguments.value("to", "verified|accepted", "the maturity to reach");
  arguments.value("evidence", "FILE",
                  "a record of format netra.evidence/1, which is added");
  arguments.value("library-root", "DIR", "folder with kernels/ and manifests/");
  arguments.value("target", "NAME", "the target of the tactic (gfx950)");
  if (std::optional<int> code = arguments.parse(argc, argv))
    return *code;
  if (arguments.rest().size() != 1)
    return fail("promote: expected one manifest, found " +
                    std::to_string(arguments.rest().size()),
                ExitUsage);
  std::optional<Maturity> level = parseMaturity(arguments.get("to"));
  if (!level || *level < Maturity::Verified)
    return fail("promote: --to: expected verified or accepted, found \"" +
                    arguments.get("to") + '"',
                ExitUsage);
  const std::string &path = arguments.rest().front();
  llvm::Expected<NamedText> manifest = readFile(path);
  if (!manifest)
    return fail(llvm::toString(manifest.takeError()));
  std::optional<NamedText> evidence;
  if (arguments.has("evidence")) {
    llvm::Expected<NamedText> text = readFile(arguments.get("evidence"));
    if (!text)
      return fail(llvm::toString(text.takeError()));
    evidence = std::move(*text);
  }
  const std::string root =
      Catalog::findLibraryRoot(arguments.get("library-root"));
  // The code of today is assembled from there: a manifest elsewhere would be
  // promoted on the evidence of other kernels.
  if (whyNotApart(path, {root}).empty())
    return fail(path + ": expected a manifest of the library " + root +
                ", which --library-root names; found one outside of it");
  llvm::Expected<KernelBuilder> builder =
      KernelBuilder::create(root, arguments.get("target", "gfx950"));
  if (!builder)
    return fail(llvm::toString(builder.takeError()));
  llvm::Expected<std::string> text =
      promote(*manifest, *level, evidence, *builder);
  if (!text)
    return fail(llvm::toString(text.takeError()));
  if (llvm::Error error = writeOutput(path, *text))
    return fail(llvm::toString(std::move(error)));
  std::printf("%s: %s\n", path.c_str(), maturityName(*level).str().c_str());
  return ExitSuccess;
}

int netra::tool::recordGoldenMain(int argc, char **argv) {
  Arguments arguments(
      "record-golden",
      "Writes a golden record about one kernel of a code object. What bytes do "
      "not say is null in it; fill that in and put the record into "
      "manifests/<target>/goldens/.",
      "FILE");
  arguments.value("kernel", "SYMBOL", "which one, when there are several");
  arguments.value("name", "NAME",
                  "name of the record without target, that of its file "
                  "(from -o, or the symbol)");
  arguments.value(
      "file", "PATH",
      "where the code object lies below the golden root (its name)");
  arguments.value("output", "FILE", "the record; -o FILE (standard output)");
  if (std::optional<int> code = arguments.parse(argc, argv))
    return *code;
  if (arguments.rest().size() != 1)
    return fail("record-golden: expected one code object, found " +
                    std::to_string(arguments.rest().size()),
                ExitUsage);
  const std::string &path = arguments.rest().front();
  if (llvm::Error error = refuseDevice(path))
    return fail(llvm::toString(std::move(error)));
  llvm::Expected<CodeObject> object = readCodeObjectFile(path);
  if (!object)
    return fail(llvm::toString(object.takeError()));
  std::string symbols;
  for (const KernelMetadata &kernel : object->kernels)
    symbols += (symbols.empty() ? "" : ", ") + kernel.symbol;
  std::string symbol = arguments.get("kernel");
  if (symbol.empty() && object->kernels.size() == 1)
    symbol = object->kernels.front().symbol;
  const KernelMetadata *kernel = object->find(symbol);
  if (!kernel)
    return fail(path + ": expected " +
                (symbol.empty() ? "one kernel, or --kernel with one of them"
                                : "a kernel \"" + symbol + '"') +
                ", found " + (symbols.empty() ? "none" : symbols));
  std::string output = arguments.get("output", "-");
  std::string name = arguments.get("name");
  if (name.empty())
    name = output == "-" ? symbol : llvm::sys::path::stem(output).str();
  std::string file =
      arguments.get("file", llvm::sys::path::filename(path).str());
  if (std::string why = whyNotApart(output, {path}); !why.empty())
    return fail("cannot write " + output + ": " + why);
  if (llvm::Error error =
          writeOutput(output, writeGoldenRecord(*object, *kernel, name, file)))
    return fail(llvm::toString(std::move(error)));
  return ExitSuccess;
}
