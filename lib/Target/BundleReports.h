//===- BundleReports.h - Reports as text ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_LIB_TARGET_BUNDLEREPORTS_H
#define NETRA_LIB_TARGET_BUNDLEREPORTS_H

#include "Netra/Target/Bundle.h"

#include <nlohmann/json.hpp>

#include <string>

namespace netra {

/// Keys sorted, two-space indented, a newline at the end. Text that is no UTF-8
/// is replaced rather than thrown about.
std::string printReport(const nlohmann::json &value);

/// What explain.json says of the steps of the plans.
nlohmann::json describeSteps(const Engine &engine);

/// A line in which two texts differ.
struct LineDifference {
  unsigned line = 0; // from 1
  llvm::StringRef expected, found;
};

/// The first line that differs; nothing when at most the newline at the end
/// does. The lines refer to the texts.
std::optional<LineDifference> findDifference(llvm::StringRef expected,
                                             llvm::StringRef found);

/// The first line in which a report differs from what engine.json gives; empty
/// when there is none.
std::string describeDifference(llvm::StringRef expected, llvm::StringRef found);

} // namespace netra

#endif // NETRA_LIB_TARGET_BUNDLEREPORTS_H
