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

} // namespace netra

#endif // NETRA_LIB_TARGET_BUNDLEREPORTS_H
