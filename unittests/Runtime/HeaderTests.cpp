//===- HeaderTests.cpp - engine.h in C99, HipAbi.h against HIP ------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

extern "C" int netra_header_test(void);

TEST(HeaderTest, WorksFromC99) { EXPECT_EQ(netra_header_test(), 0); }
