//===- Subjects.h - What the mutation tests run -----------------*- C++ -*-===//
// SPDX-License-Identifier: MIT

#ifndef NETRA_UNITTESTS_MUTATION_SUBJECTS_H
#define NETRA_UNITTESTS_MUTATION_SUBJECTS_H

#include "Netra/Simulator/Simulator.h"
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace netra::mutation {

/// How to run.
struct Way {
  sim::DeviceOptions options;
  sim::StepObserver *observer = nullptr;
};

struct RunOutcome {
  std::string error; ///< of the launch
  std::vector<sim::Finding> findings;
  std::vector<std::vector<uint8_t>> outputs;
  uint64_t instructions = 0; ///< executed, by all waves

  bool sameValues(const RunOutcome &other) const {
    return error.empty() && other.error.empty() && outputs == other.outputs;
  }
};

/// A kernel with a launch, by the text of its assembly.
struct Subject {
  std::string name;
  std::string assembly;
  unsigned dynamicLds = 0;
  bool isCompiled = false; ///< not written by hand
  std::function<RunOutcome(const std::shared_ptr<sim::CodeObject> &,
                           const Way &)>
      run;
};

/// A subject made when its turn comes.
struct SubjectMaker {
  std::string name;
  std::function<Subject()> make;
  bool runsEveryLine = false; ///< its inputs are made so that it does
};

/// An instance of every tactic of the project.
std::vector<SubjectMaker> projectSubjects();
/// The programs that clang compiles, at -O2.
std::vector<SubjectMaker> programSubjects();

} // namespace netra::mutation

#endif // NETRA_UNITTESTS_MUTATION_SUBJECTS_H
