//===- Cache.h - The assembly cache of a run --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_TRANSLATE_CACHE_H
#define NETRA_TOOLS_TRANSLATE_CACHE_H

#include "Netra/Target/AssemblyCache.h"

#include <memory>

namespace netra {

/// The cache that the command line names, if it names one.
class Cache {
public:
  /// Empty: none.
  Cache(llvm::StringRef folder, bool verbose);

  std::shared_ptr<AssemblyCache> get() const { return cache; }

  /// Says on stderr what the cache has to tell, and when verbose how much came
  /// out of it.
  void report();

private:
  std::shared_ptr<AssemblyCache> cache;
  bool verbose;
};

} // namespace netra

#endif // NETRA_TOOLS_TRANSLATE_CACHE_H
