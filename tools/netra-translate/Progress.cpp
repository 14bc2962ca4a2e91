//===- Progress.cpp - Phases and their times on stderr --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace netra;

Progress::Progress(bool verbose, bool timing)
    : isTerminal(llvm::sys::Process::StandardErrIsDisplayed()),
      verbose(verbose), timing(timing), start(Clock::now()), phaseStart(start) {
}

Progress::~Progress() {
  if (isTerminal && !verbose && !current.empty())
    rewriteLine("");
}

void Progress::rewriteLine(llvm::StringRef text) {
  // Carriage return, then clear to the end of the line.
  llvm::errs() << "\r\x1b[K" << text;
  llvm::errs().flush();
}

void Progress::endPhase() {
  if (current.empty())
    return;
  double milliseconds =
      std::chrono::duration<double, std::milli>(Clock::now() - phaseStart)
          .count();
  phases.push_back({current, milliseconds});
  if (verbose)
    llvm::errs() << llvm::format("%9.1f ms  ", milliseconds) << current << "\n";
  else if (isTerminal)
    rewriteLine("");
  current.clear();
}

void Progress::begin(llvm::StringRef phase) {
  endPhase();
  current = phase.str();
  phaseStart = Clock::now();
  if (isTerminal && !verbose)
    rewriteLine(current);
}

void Progress::advance(size_t done, size_t total, llvm::StringRef what) {
  if (verbose)
    llvm::errs() << "              " << done << "/" << total << " " << what
                 << "\n";
  else if (isTerminal)
    rewriteLine((current + " " + llvm::Twine(done) + "/" + llvm::Twine(total) +
                 " " + what)
                    .str());
}

void Progress::finish() {
  endPhase();
  if (!timing)
    return;
  double total =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  for (const Phase &phase : phases)
    llvm::errs() << llvm::format("%9.1f ms %5.1f %%  ", phase.milliseconds,
                                 100 * phase.milliseconds / total)
                 << phase.name << "\n";
  llvm::errs() << llvm::format("%9.1f ms          in all\n", total);
}
