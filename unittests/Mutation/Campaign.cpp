//===- Campaign.cpp - Mutants of one kernel, run and counted -------------===//
// SPDX-License-Identifier: MIT

#include "Campaign.h"
#include "WaitModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

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
  if (number == 1) {
    way.options.schedule = sim::Schedule::ToBarrier;
    way.options.order = sim::WorkgroupOrder::Reverse;
  } else if (number > 1) {
    way.options.schedule = sim::Schedule::Random;
    way.options.order = sim::WorkgroupOrder::Random;
  }
  return way;
}

RunOutcome Campaign::runText(const std::string &assembly, const Way &way,
                             bool &isAssembled) const {
  auto object = assembled(assembly);
  isAssembled = object != nullptr;
  return object ? subject.run(object, way) : RunOutcome();
}

Campaign::Campaign(Subject s) : subject(std::move(s)), text(subject.assembly) {
  limit = 50'000'000;
  subject.assembly = text.with(text.lines.size(), "");
  auto object = assembled(subject.assembly, &faultText);
  if (!object)
    return;
  // How long it runs, without checkers.
  Way plain = way(0);
  plain.options.checks = 0;
  unchanged = subject.run(object, plain);
  faultText = unchanged.error;
  for (unsigned k = 0; k < numWays && faultText.empty(); ++k) {
    RunOutcome outcome = subject.run(object, way(k));
    faultText = outcome.error;
    if (!outcome.findings.empty())
      faultText = outcome.findings[0].str();
    else if (faultText.empty() && !outcome.sameValues(unchanged))
      faultText = "way " + std::to_string(k) + " gives other values";
  }
  if (faultText.empty())
    recordWaits();
}

/// Traces some waves of the unchanged kernel, and finds out the address of each
/// line.
void Campaign::recordWaits() {
  auto object = assembled(subject.assembly);
  // The instructions of both lists come in the same order; padding between
  // functions is s_nop.
  std::string listing;
  raw_string_ostream os(listing);
  if (Error error = object->disassemble(os)) {
    faultText = toString(std::move(error));
    return;
  }
  size_t next = 0;
  SmallVector<StringRef> listed;
  StringRef(listing).split(listed, '\n', -1, false);
  for (StringRef entry : listed) {
    auto [place, body] = entry.trim().split("  ");
    uint64_t pc = 0;
    if (entry.ends_with(":") || place.getAsInteger(16, pc) ||
        next == text.instructions.size())
      continue;
    const size_t line = text.instructions[next];
    const std::string expected =
        InstructionText::parse(text.lines[line]).mnemonic;
    const StringRef found = body.trim().split(' ').first;
    if (found != expected && found == "s_nop")
      continue;
    pcOfLine[line] = pc;
    ++next;
    // Suffixes of encodings may be left out by authors.
    if (!found.starts_with(expected) &&
        !StringRef(expected).starts_with(found)) {
      faultText = "line " + std::to_string(line) + ": expected " + expected +
                  ", found " + found.str();
      return;
    }
  }
  waits = std::make_shared<WaitModel>(subject.wavesPerGroup() > 1,
                                      subject.groups > 1);
  uint64_t longest = 0;
  for (uint64_t group : {uint64_t(0), subject.groups - 1}) {
    for (unsigned wave = 0; wave < subject.wavesPerGroup() && wave < 4;
         ++wave) {
      std::string trace;
      raw_string_ostream to(trace);
      Way traced = way(0);
      traced.options.checks = 0;
      traced.traceTo = &to;
      traced.traceWorkgroup = group;
      traced.traceWave = wave;
      (void)subject.run(object, traced);
      const unsigned items = subject.itemsPerGroup - 64 * wave;
      longest = std::max<uint64_t>(
          longest,
          waits->addTrace(trace, items >= 64 ? ~uint64_t(0)
                                             : (uint64_t(1) << items) - 1));
    }
    if (subject.groups == 1)
      break;
  }
  if (std::string text = waits->unchangedFault(); !text.empty())
    faultText = "the unchanged kernel depends on timing: " + text;
  // Mutants may loop longer than the kernel does, but not for ever.
  limit = 100'000 + 4 * longest * subject.wavesPerGroup() * subject.groups;
}

std::vector<Mutant> Campaign::mutants() const {
  return text.mutants(text.ldsBytes + subject.dynamicLds);
}

bool Campaign::isExecuted(size_t line) {
  auto [at, isNew] = executed.try_emplace(line, false);
  if (isNew) {
    Way plain = way(0);
    plain.options.checks = 0;
    bool isAssembled;
    RunOutcome outcome =
        runText(text.with(line, "s_trap 2"), plain, isAssembled);
    at->second = StringRef(outcome.error).contains("trap");
  }
  return at->second;
}

std::string Campaign::whyItMatters(const Mutant &mutant, MutantResult &result) {
  bool isAssembled;
  Way plain = way(0);
  plain.options.checks = 0;
  switch (mutant.kind) {
  case MutantKind::WaitDelete:
  case MutantKind::WaitWeaken:
    return waits->canChange(pcOfLine[mutant.line], mutant.counters);
  case MutantKind::NopDelete:
  case MutantKind::NopShorten: {
    if (subject.isCompiled)
      return "the compiler asked for the wait states";
    const std::string &now = mutant.replacement;
    unsigned states = 0;
    if (!now.empty() &&
        !StringRef(now).split(' ').second.getAsInteger(0, states))
      ++states;
    return waits->nopCanChange(pcOfLine[mutant.line], states);
  }
  case MutantKind::BarrierDelete:
    return subject.wavesPerGroup() > 1 ? "waves may pass each other" : "";
  case MutantKind::AddressFar:
  case MutantKind::AddressNext:
  case MutantKind::AccessWider: {
    if (mutant.surelyOutside)
      return "the offset is beyond the memory";
    RunOutcome outcome =
        runText(text.with(mutant.line, mutant.replacement), plain, isAssembled);
    if (StringRef(outcome.error).contains("memory fault"))
      return "the access leaves its memory";
    result.verdict = Verdict::OtherProgram;
    return "";
  }
  case MutantKind::InitDrop: {
    // Numbers of both signs, small and large, as integers and floats.
    RunOutcome first;
    for (uint32_t pattern : {0x3f4d5a61u, 0xc1c70203u, 0u, ~0u}) {
      RunOutcome outcome =
          runText(text.withPattern(mutant.line, mutant.replacement, pattern),
                  plain, isAssembled);
      if (pattern == 0x3f4d5a61u)
        first = std::move(outcome);
      else if (first.error != outcome.error || first.outputs != outcome.outputs)
        return "the values of registers at the start matter";
    }
    if (!first.sameValues(unchanged))
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
  auto object = assembled(text.with(mutant.line, mutant.replacement));
  if (!object) {
    result.verdict = Verdict::NotAssembled;
    return result;
  }
  result.verdict = Verdict::Equivalent;
  result.reason = whyItMatters(mutant, result);
  bool isReported = false, isStopped = false;
  for (unsigned k = 0; k < numWays && !isReported; ++k) {
    RunOutcome outcome = subject.run(object, way(k));
    result.wrongResult |= !outcome.sameValues(unchanged);
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
  wrong[kind] += result.wrongResult;
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
    wrong[k] += more.wrong[k];
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
