//===- Campaign.h - Mutants of one kernel, run and counted ------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// What counts, by kind of mutant; no rule asks a checker:
//
//  executed   a wave of the unchanged kernel executes the line.
//  wait       can change a result when WaitModel says so.
//  nop        one of an author can when NopModel says so. Every executed one
//             of a compiler can, which puts it where hardware does not
//             interlock, except where NopModel finds only the carry or mask
//             that the ISA asks nothing for and the compiler does.
//  barrier    can when SharingModel says so.
//  address    can when the access leaves its memory: the run without any
//             checker ends in a memory fault, or the new offset alone is beyond
//             all of LDS or scratch and a lane executes it; or when waves touch
//             the same bytes in no order, says SharingModel of the mutant.
//             Otherwise it is another program on the same data ("other
//             program").
//  definition can when a register holds what nobody wrote and that matters:
//             runs differ in which all registers that the launch does not set
//             start with one of four patterns. If all agree and the result is
//             not the unchanged kernel's, the register held an older value, and
//             the mutant is another program as well, unless its waves touch the
//             same bytes in no order; so it is when two runs of the same
//             disagree, since the older value is then an address.
//
// A mutant is reported when a checker speaks in one of the ways of running, and
// stopped when the launch ends in an error that the unchanged kernel does not
// have in the same way (the instruction limit, a deadlock). Both find it.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_MUTATION_CAMPAIGN_H
#define NETRA_UNITTESTS_MUTATION_CAMPAIGN_H

#include "PatchableObject.h"
#include "Subjects.h"
#include "WaitModel.h"
#include <array>
#include <optional>

namespace netra::mutation {

enum class Verdict {
  NotAssembled,
  NotExecuted,
  Equivalent,   ///< no legal timing changes a result
  OtherProgram, ///< well-defined, with other results
  Reported,     ///< can change a result, and a checker said so
  Stopped,      ///< can change a result, and the launch ended in an error
  Survived      ///< can change a result, and nobody spoke
};

const char *verdictName(Verdict verdict);

struct MutantResult {
  Mutant mutant;
  Verdict verdict = Verdict::Equivalent;
  std::string reason;          ///< why it can change a result
  std::string report;          ///< the first finding
  bool wrongResult = false;    ///< of a run without findings
  bool isDetected = false;     ///< reported or stopped, whatever the verdict
  bool needlessReport = false; ///< reported though equivalent
};

class Campaign {
public:
  /// Runs the unchanged kernel in all ways; see `fault`.
  explicit Campaign(Subject subject);

  /// What makes the subject unusable: a report, an error or a disagreement of
  /// the unchanged kernel. "" otherwise.
  const std::string &fault() const { return faultText; }
  const Subject &getSubject() const { return subject; }
  const AssemblyText &getText() const { return code.getText(); }

  std::vector<Mutant> mutants() const;
  MutantResult run(const Mutant &mutant);

private:
  Way way(unsigned number) const;
  Way plainWay() const;
  std::string raceOf(const std::shared_ptr<sim::CodeObject> &object,
                     std::string &error) const;
  std::optional<RunOutcome> runOfAllPatterns(const Mutant &mutant);
  std::string whyItMatters(const Mutant &mutant,
                           const std::shared_ptr<sim::CodeObject> &object,
                           MutantResult &result);

  Subject subject;
  PatchableObject code;
  /// By pattern: the same with registers that hold it at the start.
  std::vector<std::shared_ptr<PatchableObject>> withPatterns;
  std::string faultText;
  RunOutcome unchanged;
  uint64_t limit = 0, longest = 0; ///< instructions of a run
  Recording recording;             ///< of the unchanged kernel
  std::unique_ptr<SharingModel> sharing;
  std::unique_ptr<WaitModel> waits;
};

/// Sums over the mutants of a kernel.
struct Tally {
  std::array<unsigned, NumMutantKinds> made = {}, canChange = {}, reported = {};
  unsigned notExecuted = 0, equivalent = 0, stopped = 0;
  /// Other programs, and those of them that a checker or an error, or else the
  /// numbers alone, give away.
  unsigned other = 0, otherDetected = 0, otherWrong = 0;

  void add(const MutantResult &result);
  Tally &operator+=(const Tally &other);
  unsigned total(const std::array<unsigned, NumMutantKinds> &counts) const;
};

} // namespace netra::mutation

#endif // NETRA_UNITTESTS_MUTATION_CAMPAIGN_H
