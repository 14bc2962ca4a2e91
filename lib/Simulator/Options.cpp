//===- Options.cpp - Names of checkers -----------------------------------===//
// SPDX-License-Identifier: MIT

#include "Netra/Simulator/Simulator.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace netra::sim {

namespace {
struct CheckEntry {
  Check check;
  StringRef name;
};
constexpr CheckEntry checkEntries[] = {
    {CheckMemory, "memory"}, {CheckInit, "init"}, {CheckWait, "wait"},
    {CheckHazard, "hazard"}, {CheckRace, "race"}, {CheckBarrier, "barrier"}};
} // namespace

StringRef checkName(Check check) {
  for (const CheckEntry &entry : checkEntries)
    if (entry.check == check)
      return entry.name;
  return "unknown";
}

Expected<unsigned> parseChecks(StringRef text) {
  if (text == "all")
    return CheckAll;
  if (text == "none" || text.empty())
    return 0u;
  SmallVector<StringRef> names;
  text.split(names, ',');
  unsigned checks = 0;
  for (StringRef name : names) {
    unsigned bit = 0;
    for (const CheckEntry &entry : checkEntries)
      if (entry.name == name.trim())
        bit = entry.check;
    if (!bit)
      return createStringError(
          "unknown checker '" + name.trim() +
          "': expected all, none, or a list of memory, init, wait, hazard, "
          "race, barrier");
    checks |= bit;
  }
  return checks;
}

} // namespace netra::sim
