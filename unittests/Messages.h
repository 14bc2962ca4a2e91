//===- Messages.h - What failures say ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_MESSAGES_H
#define NETRA_UNITTESTS_MESSAGES_H

#include "llvm/Support/Error.h"

#include <string>

namespace netra::test {

/// The text of an error; empty for success.
template <typename T> std::string message(llvm::Expected<T> value) {
  return value ? "" : llvm::toString(value.takeError());
}
inline std::string message(llvm::Error error) {
  return llvm::toString(std::move(error));
}

} // namespace netra::test

#endif // NETRA_UNITTESTS_MESSAGES_H
