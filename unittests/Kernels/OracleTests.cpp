//===- OracleTests.cpp - The oracles' own conversions ---------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "Netra/Catalog/Layout.h"

using namespace kernels;

TEST(OracleFormats, Bf16RoundTripsAndRounds) {
  for (unsigned code = 0; code < 0x10000; ++code) {
    double value = oracle::decodeBf16(code);
    if (std::isnan(value))
      EXPECT_TRUE(oracle::isNanBf16(oracle::encodeBf16(value)));
    else
      EXPECT_EQ(oracle::encodeBf16(value), code);
  }
  EXPECT_EQ(oracle::encodeBf16(1.0 + 0x1p-8), 0x3f80);           // tie to even
  EXPECT_EQ(oracle::encodeBf16(1.0 + 3 * 0x1p-8), 0x3f82);       // tie to even
  EXPECT_EQ(oracle::encodeBf16(1.0 + 0x1p-8 + 0x1p-30), 0x3f81); // above
  EXPECT_EQ(oracle::encodeBf16(2 - 0x1p-9), 0x4000);             // carries
  EXPECT_EQ(oracle::encodeBf16(3.4e38), 0x7f80);                 // overflows
  EXPECT_EQ(oracle::encodeBf16(0x1p-134), 0);                    // tie to even
  EXPECT_EQ(oracle::encodeBf16(0x1.8p-134), 1);
}

TEST(OracleFormats, Fp8RoundTripsAndSaturates) {
  for (unsigned code = 0; code < 0x100; ++code) {
    double value = oracle::decodeFp8(code);
    if (std::isnan(value))
      EXPECT_TRUE(oracle::isNanFp8(oracle::encodeFp8(value)));
    else
      EXPECT_EQ(oracle::encodeFp8(value), code);
  }
  EXPECT_EQ(oracle::decodeFp8(0x7e), 448);
  EXPECT_EQ(oracle::decodeFp8(0x01), 0x1p-9);
  EXPECT_EQ(oracle::encodeFp8(1e9), 0x7e);
  EXPECT_EQ(oracle::encodeFp8(17), 0x58); // between 16 and 18: even
}

TEST(OracleFormats, PackingIsTheCataloguesLayout) {
  const int64_t n = 48, k = 64;
  std::vector<uint8_t> source(n * k);
  Random random(1);
  for (uint8_t &byte : source)
    byte = static_cast<uint8_t>(random.bits());
  llvm::Expected<netra::Layout> layout = netra::Layout::parse("n16k16");
  ASSERT_TRUE(static_cast<bool>(layout));
  std::vector<uint8_t> packed(source.size());
  ASSERT_FALSE(layout->pack({n, k}, 1, source, packed));
  EXPECT_EQ(oracle::packN16K16(source, n, k), packed);
}
