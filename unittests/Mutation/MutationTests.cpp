//===- MutationTests.cpp - Do the checkers report broken kernels? --------===//
// SPDX-License-Identifier: MIT
//
// Mutates every kernel of the project and every compiled program, one line at a
// time, and demands that at least 95 % of the mutants that can change a result
// are reported, that every survivor is explained, and that no unchanged kernel
// is reported. With NETRA_TEST_FULL=1 all mutants of all kernels; otherwise a
// fixed sample. The table lies in mutation.md of the build folder afterwards.
//
//===----------------------------------------------------------------------===//

#include "Campaign.h"
#include "KernelCompiler.h"
#include "KernelHarness.h"
#include "Survivors.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>
#include <set>
#include <thread>

using namespace llvm;
using namespace netra::mutation;

namespace {

/// Columns of the table: kinds that belong together.
struct Column {
  const char *name;
  std::vector<MutantKind> kinds;
};
const std::vector<Column> &columns() {
  static const std::vector<Column> all = {
      {"wait", {MutantKind::WaitDelete, MutantKind::WaitWeaken}},
      {"nop", {MutantKind::NopDelete, MutantKind::NopShorten}},
      {"barrier", {MutantKind::BarrierDelete}},
      {"address",
       {MutantKind::AddressFar, MutantKind::AddressNext,
        MutantKind::AccessWider}},
      {"definition", {MutantKind::InitDrop}}};
  return all;
}

std::string cell(const Tally &tally, const Column &column) {
  unsigned made = 0, can = 0, reported = 0;
  for (MutantKind kind : column.kinds) {
    made += tally.made[unsigned(kind)];
    can += tally.canChange[unsigned(kind)];
    reported += tally.reported[unsigned(kind)];
  }
  return made ? formatv("{0} / {1} of {2}", reported, can, made).str() : "–";
}

class Report {
public:
  void add(const std::string &subject, const Tally &tally) {
    rows += row(subject, tally);
    all += tally;
  }
  void addSurvivor(const std::string &subject, const MutantResult &result,
                   const std::string &line, const Explanation *explanation) {
    ++survivorCount;
    if (explanation) {
      ++explained[explanation];
      return;
    }
    survivors +=
        formatv("| {0} | {1} of `{2}` | 1 | {3}; **not explained** |\n",
                subject, mutantKindName(result.mutant.kind),
                StringRef(line).split(';').first.trim(), result.reason)
            .str();
  }
  /// How many survivors an explanation explains.
  unsigned explainedBy(const Explanation &explanation) const {
    auto at = explained.find(&explanation);
    return at == explained.end() ? 0 : at->second;
  }

  /// `seconds` of one processor are what all took.
  std::string text(bool isFull, double seconds) {
    const unsigned can = all.total(all.canChange),
                   reported = all.total(all.reported);
    std::string head, line;
    for (const Column &column : columns()) {
      head += std::string(" | ") + column.name;
      line += "---|";
    }
    const char *only = std::getenv("NETRA_MUTATION_SUBJECTS");
    const std::string scope =
        only      ? std::string(", with NETRA_MUTATION_SUBJECTS=") + only +
                        ": it holds these kernels only"
        : !isFull ? " (this one is of a sample)"
                  : "";
    return formatv(introduction, scope, std::ceil(seconds / 60),
                   all.total(all.made) - all.notExecuted, can, reported,
                   can ? double(reported) / can : 1.0, all.stopped,
                   can ? double(reported + all.stopped) / can : 1.0,
                   survivorCount, all.equivalent, all.other, all.otherDetected,
                   all.otherWrong,
                   all.other - all.otherDetected - all.otherWrong)
               .str() +
           "| kernel" + head +
           " | reported | stopped | survived | equivalent | other program | "
           "not "
           "executed |\n|---|" +
           line + "---|---|---|---|---|---|\n" + rows + row("**all**", all) +
           "\n## Survivors\n\n" + (survivorCount ? survivorTable() : "None.\n");
  }

  Tally all;
  unsigned survivorCount = 0;

private:
  static std::string row(const std::string &subject, const Tally &tally) {
    const unsigned can = tally.total(tally.canChange),
                   reported = tally.total(tally.reported);
    std::string text = "| " + subject;
    for (const Column &column : columns())
      text += " | " + cell(tally, column);
    return text + formatv(" | {0} | {1} | {2} | {3} | {4} | {5} |\n", reported,
                          tally.stopped, can - reported - tally.stopped,
                          tally.equivalent, tally.other, tally.notExecuted)
                      .str();
  }

  std::string survivorTable() const {
    std::string table = "| kernel | mutants | how many | why nobody reports "
                        "them |\n|---|---|---|---|\n" +
                        survivors;
    for (const Explanation &e : explanations())
      if (unsigned count = explainedBy(e))
        table += formatv("| {0} | {1} | {2} | {3} |\n", e.subject, e.kind,
                         count, e.why)
                     .str();
    return table;
  }

  static const char introduction[];
  std::string rows, survivors;
  std::map<const Explanation *, unsigned> explained;
};

const char Report::introduction[] =
    R"(# Mutation of kernels

Do the checkers find broken kernels? Each kernel of the project (an instance of every tactic) and each compiled program
of `unittests/Simulator/Programs*.cpp` (by clang at -O2) is changed in one line of its assembly at a time:

| mutant | change |
|---|---|
| wait | a counter of an `s_waitcnt` is not waited for, or may be one higher |
| nop | an `s_nop` vanishes, or waits one state less |
| barrier | an `s_barrier` becomes an `s_nop` |
| address | the offset of an access is as large as can be, or larger by the size of the access; or the access is wider |
| definition | a move or a load that defines a register vanishes |

A mutant runs with all checkers in four ways (round robin with work-groups forward, to-barrier in reverse, twice at
random) until one of them reports, which ends it; numbers are compared with the unchanged kernel's. A run is an error
when it takes four times the instructions of the longest of the unchanged kernel's, and 100,000 more. No unchanged
kernel is reported in any of the ways.

Whether a mutant can change a result under some legal timing is decided without asking the checkers, from what every wave
of the unchanged kernel executed: its instructions, their lanes, and the bytes they touched
(`unittests/Mutation/Recording.h`).

- A *wait* can when an instruction names a register that a load still outstanding delivers; another wave may access what
  an LDS write of this one changes, behind a barrier that the write may outlast; or a store to bytes in which work-groups
  conflict is outstanding when the wave publishes something to them (`WaitModel.h`).
- A *nop* of the project's kernels, where macros carry them, can when two instructions come closer than the ISA allows
  (`NopModel.h`). One of a compiled program can, since the compiler puts them where hardware does not interlock; except
  where it only keeps a VALU write of an SGPR or VCC away from its use as a carry or as the mask of `v_cndmask`, for which
  the ISA asks no wait states.
- A *barrier* can when two waves touch the same bytes in the intervals that it separates, and one of them writes; or when
  waves then come to different numbers of barriers (`SharingModel.h`).
- An *address* can when the access leaves its memory (the run without checkers is a memory fault, or the offset alone is
  beyond all of LDS or scratch), or when waves of the mutant touch the same bytes in no order.
- A dropped *definition* can when runs differ in which all registers that the launch does not set start with one of four
  patterns, and two runs with the same pattern do not; or when waves of the mutant touch the same bytes in no order.

What is left is *equivalent*, or it is *another program*: well-defined under every timing, with other numbers (an access
elsewhere in the same buffer, an older value in a register). No checker can know which program was meant; those are
found by comparing numbers, or by nobody where the numbers are the same.

Made by `NETRA_TEST_FULL=1 build/release/unittests/MutationTests && cp build/release/mutation.md docs/mutation.md`{0};
`./dev test --full` makes the table as well. It takes {1:F0} minutes of one processor; kernels share the cores there are.
`build/release/mutants.tsv` then lists every mutant with what became of it.

## Result

{2} mutants are executed, and {3} of them can change a result. Checkers report {4} ({5:P2}); {6} more end in an error
that the unchanged kernel does not have, such as the instruction limit: {7:P2} are found. {8} survive, see
below. {9} are equivalent; the only reports of those are of undefined values that are used and change nothing. {10} are
other programs: checkers or errors give away {11}, the numbers {12} more, and {13} give the same numbers.

A cell reads *reported / can change a result of made*.

)";

void writeFile(const char *path, const std::string &text) {
  std::error_code code;
  raw_fd_ostream os(path, code);
  os << text;
  os.close();
  EXPECT_FALSE(code || os.has_error()) << path;
}

std::vector<SubjectMaker> chosenSubjects(bool isFull) {
  std::vector<SubjectMaker> project = projectSubjects(),
                            programs = programSubjects();
  for (size_t i = 0; i < programs.size(); ++i)
    if (isFull || i % 8 == 3)
      project.push_back(programs[i]);
  // To look at some kernels alone.
  const char *only = std::getenv("NETRA_MUTATION_SUBJECTS");
  if (only)
    llvm::erase_if(project, [&](const SubjectMaker &maker) {
      return !StringRef(maker.name).contains(only);
    });
  return project;
}

/// Everything about one subject.
struct SubjectResult {
  std::string fault;
  Tally tally;
  std::vector<std::pair<MutantResult, std::string>> mutants; ///< with the line
  double seconds = 0; ///< of one processor
};

SubjectResult runSubject(const SubjectMaker &maker, bool isFull) {
  constexpr size_t sampleSize = 6;
  SubjectResult all;
  Campaign campaign(maker.make());
  all.fault = campaign.fault();
  if (!all.fault.empty())
    return all;
  std::vector<Mutant> mutants = campaign.mutants();
  if (!isFull && mutants.size() > sampleSize) {
    std::mt19937 random(7);
    for (size_t i = 0; i < sampleSize; ++i)
      std::swap(mutants[i], mutants[i + random() % (mutants.size() - i)]);
    mutants.resize(sampleSize);
  }
  for (const Mutant &mutant : mutants) {
    MutantResult result = campaign.run(mutant);
    all.tally.add(result);
    all.mutants.push_back(
        {std::move(result), campaign.getText().lines[mutant.line]});
  }
  return all;
}

/// Processor time of the calling thread, in which a subject does all it does.
double threadSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// Subjects share nothing; each core takes the next.
std::vector<SubjectResult> runAll(const std::vector<SubjectMaker> &makers,
                                  bool isFull) {
  std::vector<SubjectResult> results(makers.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next++) < makers.size();) {
      const double start = threadSeconds();
      results[i] = runSubject(makers[i], isFull);
      results[i].seconds = threadSeconds() - start;
      // In full it takes long.
      std::printf("%s: %zu mutants, %.1f s\n", makers[i].name.c_str(),
                  results[i].mutants.size(), results[i].seconds);
      std::fflush(stdout);
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned k = 1; k < std::thread::hardware_concurrency(); ++k)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
  return results;
}

TEST(Mutation, CheckersReportWhatCanChangeAResult) {
  const bool isFull = netra::sim::test::isFullTest();
  const std::vector<SubjectMaker> makers = chosenSubjects(isFull);
  const std::vector<SubjectResult> results = runAll(makers, isFull);
  Report report;
  std::string list;
  double seconds = 0;
  for (size_t i = 0; i < makers.size(); ++i) {
    const std::string &name = makers[i].name;
    const SubjectResult &subject = results[i];
    EXPECT_EQ(subject.fault, "") << name;
    if (makers[i].runsEveryLine) {
      EXPECT_EQ(subject.tally.notExecuted, 0u)
          << name << ": lines that no wave executes; see mutants.tsv";
    }
    for (const auto &[result, line] : subject.mutants) {
      list += formatv("{0}\t{1}\t{2}\t{3}\t{4}\t{5}\n", name,
                      mutantKindName(result.mutant.kind),
                      verdictName(result.verdict), StringRef(line).trim(),
                      result.mutant.replacement,
                      StringRef(result.report).split('\n').first)
                  .str();
      EXPECT_FALSE(result.needlessReport)
          << name << ": " << mutantKindName(result.mutant.kind) << " of `"
          << line << "`: nothing can change, but: " << result.report;
      if (result.verdict != Verdict::Survived)
        continue;
      const Explanation *why = explanationOf(name, result);
      report.addSurvivor(name, result, line, why);
      EXPECT_NE(why, nullptr)
          << name << ": " << mutantKindName(result.mutant.kind) << " of `"
          << line << "` (line " << result.mutant.line + 1
          << ") survives: " << result.reason;
    }
    report.add(name, subject.tally);
    seconds += subject.seconds;
    // An explanation is of what was looked at, and nothing that came later.
    for (const Explanation &e : explanations())
      if (isFull && name == e.subject) {
        EXPECT_EQ(report.explainedBy(e), e.count)
            << name << ": " << e.kind << ": " << e.why;
      }
  }
  writeFile(NETRA_TEST_BINARY_DIR "/mutation.md", report.text(isFull, seconds));
  writeFile(NETRA_TEST_BINARY_DIR "/mutants.tsv", list);
  const unsigned can = report.all.total(report.all.canChange),
                 found =
                     report.all.total(report.all.reported) + report.all.stopped;
  EXPECT_GT(can, 0u);
  EXPECT_GE(found * 100, can * 95) << found << " of " << can << " are found";
}

TEST(Mutation, TakesEveryTacticOfTheProject) {
  std::set<std::string> taken;
  for (const SubjectMaker &maker : projectSubjects())
    taken.insert(maker.name);
  for (const netra::Tactic &tactic : kernels::catalog().tactics())
    EXPECT_TRUE(taken.count(tactic.name)) << tactic.name;
}

} // namespace
