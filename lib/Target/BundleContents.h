//===- BundleContents.h - Files of a bundle against each other --*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_BUNDLECONTENTS_H
#define NETRA_LIB_TARGET_BUNDLECONTENTS_H

#include "Netra/Target/Bundle.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace netra {

using ReportFinding = llvm::function_ref<void(const llvm::Twine &where,
                                              const llvm::Twine &message)>;

/// A kernel as reports name it: by contract and symbol.
using KernelKey = std::pair<std::string, std::string>;

/// What the steps say of a kernel.
struct LaunchedKernel {
  size_t object = 0;
  std::set<std::string> tactics; // one, in a sound engine
};

/// Reports what keeps a file from being read, without the name of the file.
void reportUnread(llvm::StringRef file, llvm::Error error,
                  ReportFinding report);

/// The text of a member of an object, or nothing.
template <typename Json>
std::optional<std::string> getText(const Json &object, const char *key) {
  auto found = object.find(key);
  if (found == object.end() || !found->is_string())
    return std::nullopt;
  return found->template get<std::string>();
}

/// The kernels that steps of the engine launch.
std::map<KernelKey, LaunchedKernel> findLaunchedKernels(const Engine &engine);

/// What explain.json says of a kernel that other files say, too.
struct ExplainedKernel {
  std::string maturity;
  bool isGolden = false;
};
using Explanation = std::map<KernelKey, ExplainedKernel>;

/// Holds explain.json against the steps and kernels of a sound engine and their
/// contracts, by id, and what it says of selection against itself.
Explanation checkExplanation(llvm::StringRef text, const Engine &engine,
                             const std::map<std::string, Contract> &contracts,
                             ReportFinding report);

/// What validation.json states of the sources of a kernel: the SHA-256 of the
/// generated one and of all that it includes.
struct StatedSources {
  std::string source, closure;
};
/// Kernels of several contracts may be one symbol.
using StatedSourcesBySymbol = std::map<std::string, std::vector<StatedSources>>;

/// Holds validation.json against the kernels of a sound engine. `identities`
/// are those of the code, by code object and symbol. Gives what is stated of
/// sources, or nothing when that cannot be read.
std::optional<StatedSourcesBySymbol> checkValidation(
    llvm::StringRef text, const Engine &engine, const Explanation &explanation,
    const std::map<std::pair<size_t, std::string>, std::string> &identities,
    ReportFinding report);

/// Holds the files below source/ against what is stated of them: each file is
/// part of a kernel.
void checkSources(llvm::StringRef directory, const Engine &engine,
                  const StatedSourcesBySymbol &stated, ReportFinding report);

/// Holds the source of each kernel against the contracts that it is launched
/// for, by id. Kernels of several contracts may be one machine code, of which
/// the source is that of one of them.
void checkDefinitions(llvm::StringRef directory, const Engine &engine,
                      const std::map<std::string, Contract> &contracts,
                      ReportFinding report);

} // namespace netra

#endif // NETRA_LIB_TARGET_BUNDLECONTENTS_H
