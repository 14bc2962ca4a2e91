//===- EvidenceLog.h - Which code the tests have run ------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// While the log is open, the harness writes into it what it runs with checkers:
// the tactic, the machine code and the test. Deliberately wrong copies of a
// kernel do not count.
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_KERNELS_EVIDENCELOG_H
#define NETRA_UNITTESTS_KERNELS_EVIDENCELOG_H

#include "KernelHarness.h"

#include <set>

namespace kernels {

class EvidenceLog {
public:
  struct Runs {
    /// Suite, without what an instantiation puts in front → its tests.
    std::map<std::string, std::set<const testing::TestInfo *>> tests;
    /// The first instance of each choice of options, with its identity.
    std::map<Options, std::pair<netra::Instance, std::string>> kernels;
  };

  /// Null until `open`.
  static EvidenceLog *get();
  static void open();

  void built(const Kernel &kernel, const netra::CodeObject &object);
  void ran(const Kernel &kernel);
  /// By tactic.
  const std::map<std::string, Runs> &all() const { return runs; }

private:
  std::map<std::weak_ptr<netra::sim::CodeObject>, std::string,
           std::owner_less<>>
      identities;
  std::map<std::string, Runs> runs;
};

/// "MoeDown" of "Sizes/MoeDown".
std::string suiteName(const std::string &name);

} // namespace kernels

#endif // NETRA_UNITTESTS_KERNELS_EVIDENCELOG_H
