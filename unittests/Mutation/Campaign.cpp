//===- Campaign.cpp - Mutants of one kernel, run and counted -------------===//
// SPDX-License-Identifier: MIT

#include "Campaign.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"
#include <sys/mman.h>

using namespace llvm;

namespace netra::mutation {

constexpr unsigned numWays = 4;

const char *verdictName(Verdict verdict) {
  static const char *const names[] = {
      "not assembled", "not executed", "equivalent", "other program",
      "reported",      "stopped",      "survived"};
  return names[unsigned(verdict)];
}

Way Campaign::way(unsigned number) const {
  Way way;
  way.options.checks = sim::CheckAll;
  way.options.threads = 1;
  way.options.seed = number;
  way.options.instructionLimit = limit;
  // Some programs have work-groups that wait for later ones. What one does
  // between two instructions of another shows when they take turns often.
  way.options.patience = number < 2 ? 2048 : number == 2 ? 4 : 28;
  way.options.stopAtFinding = true;
  if (number == 1) {
    way.options.schedule = sim::Schedule::ToBarrier;
    way.options.order = sim::WorkgroupOrder::Reverse;
  } else if (number > 1) {
    way.options.schedule = sim::Schedule::Random;
    way.options.order = sim::WorkgroupOrder::Random;
  }
  return way;
}

/// Without checkers.
Way Campaign::plainWay() const {
  Way plain = way(0);
  plain.options.checks = 0;
  return plain;
}

Campaign::Campaign(Subject s)
    : subject(std::move(s)), code(AssemblyText(subject.assembly)) {
  faultText = code.fault();
  if (!faultText.empty())
    return;
  limit = 50'000'000;
  Way recorded = plainWay();
  recorded.observer = &recording;
  unchanged = subject.run(code.unchanged(), recorded);
  faultText = unchanged.error;
  longest = unchanged.instructions;
  for (unsigned k = 0; k < numWays && faultText.empty(); ++k) {
    RunOutcome outcome = subject.run(code.unchanged(), way(k));
    longest = std::max(longest, outcome.instructions);
    faultText = outcome.error;
    if (!outcome.findings.empty())
      faultText = outcome.findings[0].str();
    else if (faultText.empty() && !outcome.sameValues(unchanged))
      faultText = "way " + std::to_string(k) + " gives other values";
  }
  // Mutants may loop longer than the kernel does, but not for ever.
  limit = 100'000 + 4 * longest;
  sharing = std::make_unique<SharingModel>(recording);
  waits = std::make_unique<WaitModel>(recording, *sharing);
  if (std::string text = waits->unchangedFault();
      faultText.empty() && !text.empty())
    faultText = "the unchanged kernel depends on timing: " + text;
}

std::vector<Mutant> Campaign::mutants() const {
  return getText().mutants(getText().ldsBytes + subject.dynamicLds);
}

/// The accesses of a mutant that nothing orders; "" when there are none.
std::string Campaign::raceOf(const std::shared_ptr<sim::CodeObject> &object,
                             std::string &error) const {
  Recording ofMutant;
  ofMutant.limit = 2 * longest;
  Way recorded = plainWay();
  recorded.observer = &ofMutant;
  error = subject.run(object, recorded).error;
  return SharingModel(ofMutant).race();
}

namespace {
/// Takes addresses, so that memory of the next device lies elsewhere: both
/// halves of its addresses differ.
class HeldAddresses {
public:
  HeldAddresses()
      : memory(mmap(nullptr, bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~HeldAddresses() {
    if (memory != MAP_FAILED)
      munmap(memory, bytes);
  }

private:
  static constexpr size_t bytes = (size_t(5) << 32) + 0x1234000;
  void *memory;
};
} // namespace

/// The mutant with every register that the launch does not set holding the same
/// at the start, for several values; what it gives for the first of them, or
/// nothing if values differ.
std::optional<RunOutcome> Campaign::runOfAllPatterns(const Mutant &mutant) {
  std::optional<RunOutcome> first;
  auto isSame = [](const RunOutcome &a, const RunOutcome &b) {
    return a.error == b.error && a.outputs == b.outputs;
  };
  auto runWith = [&](size_t pattern) {
    auto object = withPatterns[pattern]->with(
        getText().lineWithPattern(mutant.line), mutant.replacement);
    return object ? subject.run(object, plainWay()) : RunOutcome();
  };
  // A result that holds an address, which is the older value then, differs
  // between two runs of the same, where it lies elsewhere.
  auto hasAddress = [&] {
    if (!isSame(*first, runWith(0)))
      return true;
    const HeldAddresses held;
    return !isSame(*first, runWith(0));
  };
  // Numbers of both signs, small and large, as integers and floats.
  static const uint32_t patterns[] = {0x3f4d5a61, 0xc1c70203, 0, ~0u};
  for (size_t k = 0; k < std::size(patterns); ++k) {
    if (k == withPatterns.size()) {
      withPatterns.push_back(std::make_shared<PatchableObject>(
          getText().withPattern(patterns[k])));
      EXPECT_EQ(withPatterns[k]->fault(), "") << subject.name;
    }
    RunOutcome outcome = runWith(k);
    if (!first)
      first = std::move(outcome);
    else if (!isSame(*first, outcome) &&
             (!first->error.empty() || !outcome.error.empty() || !hasAddress()))
      return std::nullopt;
  }
  return first;
}

std::string
Campaign::whyItMatters(const Mutant &mutant,
                       const std::shared_ptr<sim::CodeObject> &object,
                       MutantResult &result) {
  switch (mutant.kind) {
  case MutantKind::WaitDelete:
  case MutantKind::WaitWeaken:
    return waits->canChange(code.address(mutant.line), mutant.counters);
  case MutantKind::NopDelete:
  case MutantKind::NopShorten: {
    const std::string &now = mutant.replacement;
    unsigned states = 0;
    if (!now.empty() &&
        !StringRef(now).split(' ').second.getAsInteger(0, states))
      ++states;
    const uint64_t pc = code.address(mutant.line);
    const std::string why = waits->nopCanChange(pc, states);
    if (!subject.isCompiled || !why.empty())
      return why;
    // The compiler asks for more than the ISA only where a carry is read.
    return waits->nopCanChange(pc, states, Rules::Compiler).empty()
               ? "the compiler asked for the wait states"
               : "";
  }
  case MutantKind::BarrierDelete:
    return sharing->barrierCanChange(code.address(mutant.line));
  case MutantKind::AddressFar:
  case MutantKind::AddressNext:
  case MutantKind::AccessWider: {
    if (!recording.executesOnLanes(code.address(mutant.line)))
      return "";
    if (mutant.surelyOutside)
      return "the offset is beyond the memory";
    std::string error;
    const std::string race = raceOf(object, error);
    if (StringRef(error).contains("memory fault"))
      return "the access leaves its memory";
    if (race.empty())
      result.verdict = Verdict::OtherProgram;
    return race;
  }
  case MutantKind::InitDrop: {
    std::optional<RunOutcome> always = runOfAllPatterns(mutant);
    if (!always)
      return "the values of registers at the start matter";
    if (always->sameValues(unchanged))
      return "";
    std::string error, race = raceOf(object, error);
    if (race.empty())
      result.verdict = Verdict::OtherProgram;
    return race;
  }
  }
  return "";
}

MutantResult Campaign::run(const Mutant &mutant) {
  MutantResult result;
  result.mutant = mutant;
  if (!recording.executes(code.address(mutant.line))) {
    result.verdict = Verdict::NotExecuted;
    return result;
  }
  auto object = code.with(mutant.line, mutant.replacement);
  if (!object) {
    result.verdict = Verdict::NotAssembled;
    return result;
  }
  result.verdict = Verdict::Equivalent;
  result.reason = whyItMatters(mutant, object, result);
  bool isReported = false, isStopped = false;
  for (unsigned k = 0; k < numWays && !isReported; ++k) {
    RunOutcome outcome = subject.run(object, way(k));
    // A run that ends at its first finding has no result.
    result.wrongResult |=
        outcome.findings.empty() && !outcome.sameValues(unchanged);
    if (!outcome.findings.empty()) {
      isReported = true;
      result.report = outcome.findings[0].str();
    } else if (StringRef(outcome.error).contains("reported before that")) {
      isReported = true;
      result.report = outcome.error;
    } else if (!outcome.error.empty()) {
      isStopped = true;
      if (result.report.empty())
        result.report = outcome.error;
    }
    // One way says all about a mutant that matters to nobody.
    if (result.reason.empty())
      break;
  }
  result.isDetected = isReported || isStopped;
  if (!result.reason.empty())
    result.verdict = isReported  ? Verdict::Reported
                     : isStopped ? Verdict::Stopped
                                 : Verdict::Survived;
  else
    // An undefined value may be used and not change anything; reports of that
    // are no mistakes.
    result.needlessReport = isReported &&
                            result.verdict == Verdict::Equivalent &&
                            mutant.kind != MutantKind::InitDrop;
  return result;
}

void Tally::add(const MutantResult &result) {
  if (result.verdict == Verdict::NotAssembled)
    return;
  const unsigned kind = unsigned(result.mutant.kind);
  ++made[kind];
  switch (result.verdict) {
  case Verdict::NotExecuted:
    ++notExecuted;
    return;
  case Verdict::Equivalent:
    ++equivalent;
    return;
  case Verdict::OtherProgram:
    ++other;
    otherDetected += result.isDetected;
    otherWrong += !result.isDetected && result.wrongResult;
    return;
  default:
    break;
  }
  ++canChange[kind];
  reported[kind] += result.verdict == Verdict::Reported;
  stopped += result.verdict == Verdict::Stopped;
}

Tally &Tally::operator+=(const Tally &more) {
  for (unsigned k = 0; k < NumMutantKinds; ++k) {
    made[k] += more.made[k];
    canChange[k] += more.canChange[k];
    reported[k] += more.reported[k];
  }
  notExecuted += more.notExecuted;
  equivalent += more.equivalent;
  other += more.other;
  otherDetected += more.otherDetected;
  otherWrong += more.otherWrong;
  stopped += more.stopped;
  return *this;
}

unsigned
Tally::total(const std::array<unsigned, NumMutantKinds> &counts) const {
  unsigned sum = 0;
  for (unsigned n : counts)
    sum += n;
  return sum;
}

} // namespace netra::mutation
