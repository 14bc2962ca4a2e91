//===- Progress.h - Phases and their times on stderr ------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_TOOLS_TRANSLATE_PROGRESS_H
#define NETRA_TOOLS_TRANSLATE_PROGRESS_H

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <string>
#include <vector>

namespace netra {

/// Tells on stderr what the tool is doing: the running phase on one line that
/// is rewritten when stderr is a terminal, one line per phase when `verbose`,
/// and a table of times at the end when `timing`. Says nothing otherwise, so
/// that logs hold errors only. Used by one thread at a time.
class Progress {
public:
  Progress(bool verbose, bool timing);
  ~Progress();

  /// Ends the running phase, if any, and begins the next.
  void begin(llvm::StringRef phase);
  /// How far the running phase is.
  void advance(size_t done, size_t total, llvm::StringRef what);
  /// Ends the running phase and, when asked for, prints the table of times.
  void finish();

private:
  using Clock = std::chrono::steady_clock;
  struct Phase {
    std::string name;
    double milliseconds;
  };

  void endPhase();
  void rewriteLine(llvm::StringRef text);

  bool isTerminal, verbose, timing;
  std::string current;
  Clock::time_point start, phaseStart;
  std::vector<Phase> phases;
};

} // namespace netra

#endif // NETRA_TOOLS_TRANSLATE_PROGRESS_H
