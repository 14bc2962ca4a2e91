//===- Options.cpp - Options as text -------------------------------------===//
// SPDX-License-Identifier: MIT

#include "Netra/Simulator/Numbers.h"
#include "Netra/Simulator/Simulator.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>
#include <limits>

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
  if (text == "none")
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

static Error wrong(const Twine &expected, StringRef found) {
  return createStringError("expected " + expected + ", found \"" + found +
                           "\"");
}

/// Takes "random" and "random:SEED".
static bool parseRandom(StringRef text, uint64_t &seed) {
  if (!text.consume_front("random"))
    return false;
  std::optional<uint64_t> value = 0;
  if (!text.empty())
    value = text.consume_front(":") ? parseNumber(text) : std::nullopt;
  seed = value.value_or(seed);
  return value.has_value();
}

Error parseMfmaModel(StringRef text, DeviceOptions &options) {
  if (text == "cdna3")
    options.mfma = MfmaModel::Cdna3;
  else if (text == "sequential")
    options.mfma = MfmaModel::Sequential;
  else
    return wrong("cdna3 or sequential", text);
  return Error::success();
}

Error parseSchedule(StringRef text, DeviceOptions &options) {
  if (text == "round-robin")
    options.schedule = Schedule::RoundRobin;
  else if (text == "to-barrier")
    options.schedule = Schedule::ToBarrier;
  else if (parseRandom(text, options.seed))
    options.schedule = Schedule::Random;
  else
    return wrong("round-robin, to-barrier, random or random:SEED, a number "
                 "below 2^64",
                 text);
  return Error::success();
}

Error parseWorkgroupOrder(StringRef text, DeviceOptions &options) {
  if (text == "forward")
    options.order = WorkgroupOrder::Forward;
  else if (text == "reverse")
    options.order = WorkgroupOrder::Reverse;
  else if (parseRandom(text, options.orderSeed))
    options.order = WorkgroupOrder::Random;
  else
    return wrong("forward, reverse, random or random:SEED, a number below "
                 "2^64",
                 text);
  return Error::success();
}

Error parseTimeout(StringRef text, DeviceOptions &options) {
  double seconds;
  // A year is more than anyone waits, and fits every clock.
  constexpr double most = 365 * 86400;
  if (text.getAsDouble(seconds) || !std::isfinite(seconds) || seconds < 0 ||
      seconds > most)
    return wrong("seconds, at most a year of them, or 0 for no limit", text);
  options.timeout = seconds;
  return Error::success();
}

Error parseThreads(StringRef text, DeviceOptions &options) {
  std::optional<uint64_t> threads = parseNumber(text, /*most=*/1024);
  if (!threads)
    return wrong("a number of threads up to 1024, or 0 for one per core", text);
  options.threads = unsigned(*threads);
  return Error::success();
}

Error parseByteCount(StringRef text, uint64_t &bytes) {
  StringRef digits = text;
  unsigned shift = 0;
  if (digits.consume_back_insensitive("g"))
    shift = 30;
  else if (digits.consume_back_insensitive("m"))
    shift = 20;
  else if (digits.consume_back_insensitive("k"))
    shift = 10;
  std::optional<uint64_t> value =
      parseNumber(digits, std::numeric_limits<uint64_t>::max() >> shift);
  if (!value)
    return wrong("a number of bytes below 2^64, with K, M or G for powers of "
                 "1024",
                 text);
  bytes = *value << shift;
  return Error::success();
}

} // namespace netra::sim
