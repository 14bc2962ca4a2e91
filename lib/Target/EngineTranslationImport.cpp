//===- EngineTranslationImport.cpp - A bundle back to engine IR -----------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// engine.mlir of a bundle is the module the bundle was written from. It is read
// back only when every file has the hash that engine.json states, and when
// describing the module again gives engine.json, so that neither can say
// anything else than the other.
//
//===----------------------------------------------------------------------===//

#include "EngineTranslationImpl.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace netra;

/// Clears what a module does not determine: files, ids, and what is known of
/// code objects only after they are assembled.
static Engine reduce(Engine engine) {
  engine.id.clear();
  engine.files.clear();
  engine.weights.id.clear();
  for (EngineCodeObject &object : engine.codeObjects) {
    object.path.clear();
    object.sha256.clear();
    for (EngineKernel &kernel : object.kernels)
      kernel.vgprs = kernel.agprs = kernel.sgprs = kernel.maxWorkgroup = 0;
  }
  return engine;
}

/// The first line in which two texts differ.
static std::string findDifference(StringRef expected, StringRef found) {
  SmallVector<StringRef> left, right;
  expected.split(left, '\n');
  found.split(right, '\n');
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i)
    if (left[i] != right[i])
      return ("engine.mlir says '" + left[i].trim() + "', engine.json says '" +
              right[i].trim() + "'")
          .str();
  return "one of them ends early";
}

FailureOr<OwningOpRef<ModuleOp>>
netra::translateFromBundle(MLIRContext *context, StringRef directory) {
  Location location = UnknownLoc::get(context);
  auto fail = [&](const Twine &message) {
    return emitError(location) << directory << ": " << message;
  };
  llvm::Expected<std::vector<BundleFinding>> findings = verifyBundle(directory);
  if (!findings)
    return fail(llvm::toString(findings.takeError()));
  for (const BundleFinding &finding : *findings)
    (void)fail(finding.str());
  if (!findings->empty())
    return failure();
  llvm::Expected<Engine> engine = readBundle(directory);
  if (!engine)
    return fail(llvm::toString(engine.takeError()));

  SmallString<256> path(directory);
  llvm::sys::path::append(path, "engine.mlir");
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return fail("engine.mlir: " + buffer.getError().message());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      (*buffer)->getBuffer(), ParserConfig(context), path);
  if (!module)
    return fail("engine.mlir: expected a module of the netra dialect");

  FailureOr<Engine> described = describeEngine(*module);
  if (failed(described))
    return failure();
  Engine expected = reduce(std::move(*described));
  Engine found = reduce(std::move(*engine));
  if (!(expected == found))
    return fail(
        "engine.mlir and engine.json disagree: " +
        findDifference(writeEngineJson(expected), writeEngineJson(found)));
  return module;
}
