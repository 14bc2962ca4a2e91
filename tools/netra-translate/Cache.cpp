//===- Cache.cpp - The assembly cache of a run ----------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Cache.h"

#include "llvm/Support/raw_ostream.h"

using namespace netra;

Cache::Cache(llvm::StringRef folder, bool verbose) : verbose(verbose) {
  if (!folder.empty())
    cache = std::make_shared<AssemblyCache>(folder);
}

void Cache::report() {
  if (!cache)
    return;
  for (const AssemblyCache::Note &note : cache->takeNotes())
    llvm::errs() << "netra-translate: "
                 << (note.isWarning ? "warning: " : "remark: ") << note.text
                 << "\n";
  if (verbose)
    llvm::errs() << "              " << cache->getHits() << " of "
                 << cache->getHits() + cache->getMisses()
                 << " code objects came out of " << cache->getFolder() << "\n";
}
