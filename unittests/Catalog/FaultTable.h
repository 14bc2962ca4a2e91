//===- FaultTable.h - Documents with one fault each -------------*- C++ -*-===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#ifndef NETRA_UNITTESTS_CATALOG_FAULTTABLE_H
#define NETRA_UNITTESTS_CATALOG_FAULTTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include <string>

namespace netra::test {

/// A value that does not belong where it is put, and what the message about it
/// contains.
struct Fault {
  const char *pointer;
  nlohmann::json value;
  const char *part;
};

/// Puts each fault into a copy of `good` and compares what `read` says about
/// the copy, which begins with `file`.
inline void
expectFaults(const nlohmann::json &good, llvm::ArrayRef<Fault> faults,
             const std::string &file,
             llvm::function_ref<std::string(const nlohmann::json &)> read) {
  EXPECT_EQ(read(good), "");
  for (const Fault &fault : faults) {
    nlohmann::json document = good;
    document[nlohmann::json::json_pointer(fault.pointer)] = fault.value;
    EXPECT_THAT(read(document), testing::AllOf(testing::StartsWith(file + ": "),
                                               testing::HasSubstr(fault.part)))
        << fault.pointer << " = " << fault.value;
  }
}

} // namespace netra::test

#endif // NETRA_UNITTESTS_CATALOG_FAULTTABLE_H
