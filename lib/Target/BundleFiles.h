//===- BundleFiles.h - Shared parts of the bundle code ----------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_BUNDLEFILES_H
#define NETRA_LIB_TARGET_BUNDLEFILES_H

#include "Netra/Target/Bundle.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace netra {

inline constexpr llvm::StringRef engineFileName = "engine.json";

std::string computeWeightsId(const EngineWeights &weights);
std::string computeEngineId(const Engine &engine);

/// True for a path that stays inside a bundle and is spelled in one way only:
/// relative, forward slashes, printable, no empty part, no ".", "..", '\'.
inline bool isBundlePath(llvm::StringRef path) {
  if (path.size() > 4096)
    return false;
  while (true) {
    auto [part, rest] = path.split('/');
    if (part.empty() || part == "." || part == "..")
      return false;
    for (char c : part)
      if (c == '\\' || !llvm::isPrint(c))
        return false;
    if (part.size() == path.size())
      return true;
    path = rest;
  }
}

/// True for text that files, drawings and terminals show as it is: UTF-8
/// without control characters.
bool isPlainText(llvm::StringRef text);

/// What names and other texts of an engine are: plain and, but for a few, not
/// empty.
inline bool isEngineText(llvm::StringRef text, bool mayBeEmpty = false) {
  return (mayBeEmpty || !text.empty()) && isPlainText(text);
}

/// Reports each name and other text of an engine that is empty or not plain.
void checkTexts(const Engine &engine, std::vector<BundleFinding> &findings);

/// What a folder that is written in one step holds.
struct FolderKind {
  llvm::StringRef withArticle; // "an engine"
  llvm::StringRef name;        // "engine"
  llvm::StringRef marker;      // the file that tells what is in the folder
  /// The other files that such a folder says it has.
  llvm::function_ref<llvm::Expected<std::vector<std::string>>(llvm::StringRef)>
      listFiles;
};

/// Writes `files`, the marker among them, beside `directory` and moves the
/// whole into place. Fails, leaving everything as it was, when something else
/// than nothing, an empty folder or a folder of this kind and nothing besides
/// is there.
llvm::Error replaceFolder(const BundleFiles &files, llvm::StringRef directory,
                          const FolderKind &kind);

/// Writes and syncs a file beside `where` and moves it there, in the place of
/// any other. Readers see the old file, the new one or none, and never a part;
/// a failed run leaves nothing behind, nor one that `abandonStaging` ends.
llvm::Error replaceFile(const std::string &where, llvm::StringRef contents);

} // namespace netra

#endif // NETRA_LIB_TARGET_BUNDLEFILES_H
