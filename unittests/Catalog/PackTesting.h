//===- PackTesting.h - What tests of layouts and recipes share --*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_CATALOG_PACKTESTING_H
#define NETRA_UNITTESTS_CATALOG_PACKTESTING_H

#include "../Messages.h"

#include "Netra/Catalog/Layout.h"

#include <random>
#include <string>
#include <vector>

namespace netra::test {

using Bytes = std::vector<uint8_t>;
using Shape = std::vector<int64_t>;

inline Bytes randomBytes(size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (uint8_t &byte : bytes)
    byte = random();
  return bytes;
}

inline Layout parse(llvm::StringRef spelling) {
  return llvm::cantFail(Layout::parse(spelling));
}

} // namespace netra::test

#endif // NETRA_UNITTESTS_CATALOG_PACKTESTING_H
