//===- CodeObjectTest.cpp - Reading code objects --------------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "TestLibrary.h"

#include "gmock/gmock.h"

#include <random>

using namespace netra;
using namespace netra::test;
using testing::HasSubstr;

static const std::vector<uint8_t> &sample() {
  static const std::vector<uint8_t> bytes = [] {
    TestLibrary library;
    return llvm::cantFail(library.assembler().assemble(copyInstance()))
        .object.bytes;
  }();
  return bytes;
}

TEST(CodeObject, RefusesOtherFiles) {
  EXPECT_THAT(message(readCodeObject({})), HasSubstr("expected an ELF file"));
  EXPECT_THAT(message(readCodeObject({1, 2, 3})), HasSubstr("an ELF file"));
  auto changed = [](size_t at, uint8_t value) {
    std::vector<uint8_t> bytes = sample();
    bytes[at] = value;
    return message(readCodeObject(bytes));
  };
  EXPECT_EQ(message(readCodeObject(sample())), "");
  EXPECT_THAT(changed(4, 1), HasSubstr("64-bit little-endian"));
  EXPECT_THAT(changed(18, 62), HasSubstr("machine 224 (AMDGPU), found 62"));
  EXPECT_THAT(changed(7, 0), HasSubstr("OS ABI 64"));
  EXPECT_THAT(changed(8, 9), HasSubstr("found ABI version 9"));
  EXPECT_THAT(changed(16, 1), HasSubstr("linked code object"));
}

TEST(CodeObject, EveryTruncationIsRefused) {
  for (size_t length = 0; length < sample().size(); ++length) {
    std::vector<uint8_t> bytes(sample().begin(), sample().begin() + length);
    ASSERT_NE(message(readCodeObject(bytes)), "") << length;
  }
}

TEST(CodeObject, AnyBytesAreSurvived) {
  std::mt19937 random(17);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> bytes = sample();
    for (int j = 1 + random() % 8; j > 0; --j)
      bytes[random() % bytes.size()] = random();
    llvm::consumeError(readCodeObject(std::move(bytes)).takeError());
  }
  // Noise behind a true header reaches the section and note readers.
  for (int i = 0; i < 5000; ++i) {
    std::vector<uint8_t> bytes(64 + random() % 1024);
    for (uint8_t &byte : bytes)
      byte = random();
    std::copy(sample().begin(), sample().begin() + 64, bytes.begin());
    bytes[40] = random() % bytes.size(); // section headers somewhere inside
    bytes[41] = random() % 4;
    std::fill(bytes.begin() + 42, bytes.begin() + 48, 0);
    llvm::consumeError(readCodeObject(std::move(bytes)).takeError());
  }
}
