//===- EvidenceLog.cpp - Which code the tests have run --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "EvidenceLog.h"

#include "Netra/Target/Equivalence.h"

namespace kernels {

static std::unique_ptr<EvidenceLog> theLog;

EvidenceLog *EvidenceLog::get() { return theLog.get(); }

void EvidenceLog::open() { theLog = std::make_unique<EvidenceLog>(); }

std::string suiteName(const std::string &name) {
  return name.substr(name.find('/') + 1); // npos + 1 is 0
}

void EvidenceLog::built(const Kernel &kernel, const netra::CodeObject &object) {
  identities[kernel.object] = netra::computationalIdentity(
      object, *object.find(kernel.instance.symbol));
}

void EvidenceLog::ran(const Kernel &kernel) {
  auto identity = identities.find(kernel.object);
  const testing::TestInfo *test =
      testing::UnitTest::GetInstance()->current_test_info();
  if (identity == identities.end() || !test)
    return;
  Runs &of = runs[kernel.instance.tactic->name];
  of.tests[suiteName(test->test_suite_name())].insert(test);
  of.kernels.try_emplace(kernel.instance.options, kernel.instance,
                         identity->second);
}

} // namespace kernels
