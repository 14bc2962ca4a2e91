//===- Campaign.cpp - Mutants of one kernel, run and counted -------------===//
// SPDX-License-Identifier: MIT

#include "Campaign.h"
#include "WaitModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstdio>

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
  unchanged = subject.run(code.unchanged(), plainWay());
  faultText = unchanged.error;
  uint64_t longest = unchanged.instructions;
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
  if (faultText.empty())
    recordWaits();
}

void Campaign::recordWave(uint64_t group, unsigned wave) {
  std::string trace;
  raw_string_ostream to(trace);
  Way traced = plainWay();
  traced.traceTo = &to;
  traced.traceWorkgroup = group;
  traced.traceWave = wave;
  (void)subject.run(code.unchanged(), traced);
  const unsigned items = subject.itemsPerGroup - 64 * wave;
  waits->addTrace(trace,
                  items >= 64 ? ~uint64_t(0) : (uint64_t(1) << items) - 1);
}

/// Traces some waves of the unchanged kernel.
void Campaign::recordWaits() {
  waits = std::make_shared<WaitModel>(subject.wavesPerGroup() > 1,
                                      subject.groups() > 1);
  for (uint64_t group : {uint64_t(0), subject.groups() - 1}) {
    for (unsigned wave = 0; wave < subject.wavesPerGroup() && wave < 4; ++wave)
      recordWave(group, wave);
    if (subject.groups() == 1)
      break;
  }
  if (std::string text = waits->unchangedFault(); !text.empty())
    faultText = "the unchanged kernel depends on timing: " + text;
}

std::vector<Mutant> Campaign::mutants() const {
  return getText().mutants(getText().ldsBytes + subject.dynamicLds);
}

bool Campaign::isExecuted(size_t line) {
  auto [at, isNew] = executed.try_emplace(line, false);
  if (isNew && waits->executes(code.address(line)))
    at->second = true; // a wave that was traced does
  else if (isNew) {
    const std::string error =
        subject.run(code.with(line, "s_trap 2"), plainWay()).error;
    at->second = StringRef(error).contains("trap");
    // What a wave does that goes where none of those traced went belongs into
    // the record, too.
    unsigned id[3], wave;
    if (const size_t by = error.find("by work-group ");
        at->second && by != std::string::npos &&
        std::sscanf(error.c_str() + by, "by work-group (%u, %u, %u), wave %u",
                    &id[0], &id[1], &id[2], &wave) == 4)
      recordWave(id[0] + subject.grid[0] *
                             (id[1] + uint64_t(subject.grid[1]) * id[2]),
                 wave);
  }
  return at->second;
}

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
  // between two runs of the same: other memory is taken while another device
  // holds some.
  auto hasAddress = [&] {
    if (!isSame(*first, runWith(0)))
      return true;
    sim::Device holding;
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
    return subject.wavesPerGroup() > 1 ? "waves may pass each other" : "";
  case MutantKind::AddressFar:
  case MutantKind::AddressNext:
  case MutantKind::AccessWider: {
    if (mutant.surelyOutside)
      return "the offset is beyond the memory";
    if (StringRef(subject.run(object, plainWay()).error)
            .contains("memory fault"))
      return "the access leaves its memory";
    result.verdict = Verdict::OtherProgram;
    return "";
  }
  case MutantKind::InitDrop: {
    std::optional<RunOutcome> always = runOfAllPatterns(mutant);
    if (!always)
      return "the values of registers at the start matter";
    if (!always->sameValues(unchanged))
      result.verdict = Verdict::OtherProgram;
    return "";
  }
  }
  return "";
}

MutantResult Campaign::run(const Mutant &mutant) {
  MutantResult result;
  result.mutant = mutant;
  if (!isExecuted(mutant.line)) {
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
