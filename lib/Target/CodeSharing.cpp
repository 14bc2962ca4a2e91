//===- CodeSharing.cpp - Equal machine code in one code object ------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CodeSharing.h"

#include "Netra/Target/Equivalence.h"

#include "llvm/Support/Error.h"

using namespace llvm;

namespace netra {

namespace {
/// Kernels with equal machine code, by symbol.
using Alike = std::map<std::string, std::vector<SharingKernel>>;
} // namespace

/// Whether each kernel is in `shared` what it was alone.
static Error checkIdentities(const CodeObject &shared, const Alike &alike) {
  for (const auto &[symbol, kernels] : alike) {
    const CodeObject &alone = kernels.front().assembled->object;
    const KernelMetadata *found = shared.find(symbol);
    std::string expected = computationalIdentity(alone, *alone.find(symbol));
    std::string identity = found ? computationalIdentity(shared, *found)
                                 : std::string("no such kernel");
    if (shared.textSha256 != alone.textSha256 || identity != expected)
      return createStringError("kernel " + symbol + ": expected .text " +
                               alone.textSha256 +
                               " and computational identity " + expected +
                               " in the code object that it shares, found " +
                               shared.textSha256 + " and " + identity);
  }
  return Error::success();
}

Error shareCode(ArrayRef<SharingKernel> kernels, const Assembler &assembler) {
  std::map<std::string, Alike> byText;
  for (const SharingKernel &kernel : kernels)
    if (const CodeObject &object = kernel.assembled->object;
        !kernel.instance->tactic->golden && object.data.empty())
      byText[object.textSha256][kernel.instance->symbol].push_back(kernel);
  for (const auto &[text, alike] : byText) {
    if (alike.size() < 2)
      continue;
    std::vector<Instance> instances;
    for (const auto &[symbol, same] : alike)
      instances.push_back(*same.front().instance);
    Expected<AssembledKernel> shared = assembler.assembleGroup(instances);
    if (!shared)
      return shared.takeError();
    if (Error error = checkIdentities(shared->object, alike))
      return error;
    for (const auto &[symbol, same] : alike)
      for (const SharingKernel &kernel : same)
        kernel.assembled->object = shared->object;
  }
  return Error::success();
}

} // namespace netra
