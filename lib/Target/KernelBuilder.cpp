//===- KernelBuilder.cpp - The machine code of instances ------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Netra/Target/KernelBuilder.h"

#include "Netra/Catalog/Catalog.h"
#include "Netra/Target/Equivalence.h"

#include "llvm/ADT/StringExtras.h"

#include <atomic>
#include <mutex>
#include <thread>

using namespace llvm;

namespace netra {

void forEachInParallel(size_t count, unsigned threads,
                       function_ref<void(size_t)> work) {
  std::atomic<size_t> next = 0;
  auto run = [&] {
    for (size_t i; (i = next.fetch_add(1)) < count;)
      work(i);
  };
  size_t wanted =
      threads ? threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (size_t i = 1; i < std::min(wanted, count); ++i)
    others.emplace_back(run);
  run();
  for (std::thread &thread : others)
    thread.join();
}

Expected<KernelBuilder>
KernelBuilder::create(StringRef libraryRoot, StringRef target,
                      StringRef goldenRoot,
                      std::shared_ptr<AssemblyCache> cache) {
  Expected<Assembler> assembler =
      Assembler::create(libraryRoot, target, std::move(cache));
  if (!assembler)
    return assembler.takeError();
  return KernelBuilder(std::move(*assembler), goldenRoot);
}

Expected<AssembledKernel> KernelBuilder::build(const Instance &instance) const {
  return instance.tactic->golden ? takeGolden(instance)
                                 : assembler.assemble(instance);
}

Expected<AssembledKernel>
KernelBuilder::takeGolden(const Instance &instance) const {
  const Tactic &tactic = *instance.tactic;
  const GoldenCode &golden = *tactic.golden;
  Expected<std::vector<uint8_t>> bytes = readGoldenFile(tactic, goldenRoot);
  if (!bytes)
    return bytes.takeError();
  auto fail = [&](const Twine &what) {
    return createStringError("tactic " + tactic.name + ": golden code object " +
                             golden.file + ": " + what);
  };
  Expected<CodeObject> object = readCodeObject(std::move(*bytes));
  if (!object)
    return fail(llvm::toString(object.takeError()));
  std::vector<std::string> differences = compareWithInstance(*object, instance);
  auto compare = [&](const Twine &what, StringRef recorded, StringRef found) {
    if (recorded != found)
      differences.push_back((what + ": the record says " + recorded +
                             ", the code object says " + found)
                                .str());
  };
  compare("SHA-256 of .text", golden.textSha256, object->textSha256);
  if (const KernelMetadata *kernel = object->find(instance.symbol))
    compare("computational identity", golden.identitySha256,
            computationalIdentity(*object, *kernel));
  if (!differences.empty())
    return fail("it is not what its record says:\n  " +
                join(differences, "\n  "));
  AssembledKernel kernel;
  kernel.object = std::move(*object);
  return kernel;
}

std::vector<KernelBuilder::Result>
KernelBuilder::buildAll(ArrayRef<const Instance *> instances, unsigned threads,
                        const AssemblyProgress &progress) const {
  std::vector<Result> results(instances.size());
  size_t done = 0;
  std::mutex mutex;
  forEachInParallel(instances.size(), threads, [&](size_t i) {
    Expected<AssembledKernel> kernel = build(*instances[i]);
    if (kernel)
      results[i].kernel = std::move(*kernel);
    else
      results[i].error = llvm::toString(kernel.takeError());
    if (progress) {
      std::lock_guard<std::mutex> lock(mutex);
      progress(++done, instances.size(), instances[i]->symbol);
    }
  });
  return results;
}

} // namespace netra
