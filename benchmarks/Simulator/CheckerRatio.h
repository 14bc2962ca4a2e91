//===- CheckerRatio.h - What checkers cost ----------------------*- C++ -*-===//
// SPDX-License-Identifier: MIT
//
// Rows named `ratio/` run one kernel without and with all checkers in turn and
// compare the host's processor times: "ratio" is required to be at most
// MostRatio, and a row that misses that says so.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_BENCHMARKS_SIMULATOR_CHECKERRATIO_H
#define NETRA_BENCHMARKS_SIMULATOR_CHECKERRATIO_H

#include <algorithm>
#include <benchmark/benchmark.h>
#include <ctime>

/// What all checkers may cost at most.
constexpr double MostRatio = 6;

/// Processor time of this process, in seconds.
inline double processorTime() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Calls run(isChecked), which returns false after an error, and fills in the
/// row; its times are divided by \p count. What else the host does lengthens
/// some runs; the shortest ones compare.
template <typename Run>
void compareChecked(benchmark::State &state, double count, Run &&run) {
  double shortest[2] = {1e30, 1e30};
  for (auto _ : state)
    for (unsigned isChecked = 0; isChecked < 2; ++isChecked) {
      const double from = processorTime();
      if (!run(isChecked != 0))
        return;
      shortest[isChecked] =
          std::min(shortest[isChecked], processorTime() - from);
    }
  const double ratio = shortest[1] / shortest[0];
  state.counters["plain"] = shortest[0] / count;
  state.counters["checked"] = shortest[1] / count;
  state.counters["ratio"] = ratio;
  state.SetLabel(ratio <= MostRatio ? "within the requirement"
                                    : "MISSES the requirement");
}

#endif // NETRA_BENCHMARKS_SIMULATOR_CHECKERRATIO_H
