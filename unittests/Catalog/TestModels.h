//===- TestModels.h - The models of the library -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_CATALOG_TESTMODELS_H
#define NETRA_UNITTESTS_CATALOG_TESTMODELS_H

#include "Netra/Catalog/Model.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace netra::test {

inline std::filesystem::path modelFolder() {
  return std::filesystem::path(NETRA_TEST_SOURCE_DIR) /
         "manifests/gfx950/models";
}

inline std::string readText(const std::filesystem::path &path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline ModelDescription loadModel(const std::string &name) {
  return llvm::cantFail(
      parseModel(readText(modelFolder() / (name + ".json")), name));
}

} // namespace netra::test

#endif // NETRA_UNITTESTS_CATALOG_TESTMODELS_H
