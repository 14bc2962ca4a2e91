//===- Number.cpp - Numbers on command lines ------------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Number.h"

#include "Netra/Simulator/Numbers.h"

using namespace llvm;

Expected<uint64_t> netra::tool::parseNumber(StringRef text, uint64_t least,
                                            uint64_t most) {
  std::optional<uint64_t> number = sim::parseNumber(text, most);
  if (!number || *number < least)
    return createStringError("expected a number from " + Twine(least) + " to " +
                             Twine(most) + ", found \"" + text + "\"");
  return *number;
}
