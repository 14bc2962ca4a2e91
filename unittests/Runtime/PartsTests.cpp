//===- PartsTests.cpp - Tests of the runtime's readers --------------------===//
//
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//

#include "CodeObject.h"
#include "MsgPack.h"
#include "Sha256.h"
#include "TinyEngine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace netra::rt;
using namespace netra::test;

namespace {

/// FIPS 180-4 / NIST CAVP examples, with both implementations.
class Sha256Test : public testing::TestWithParam<bool> {
protected:
  void SetUp() override { Sha256::forcePortable(GetParam()); }
  void TearDown() override { Sha256::forcePortable(false); }
};

TEST_P(Sha256Test, KnownAnswers) {
  EXPECT_EQ(Sha256::hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934c"
                              "a495991b7852b855");
  EXPECT_EQ(Sha256::hash("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a"
            "9cb410ff61f20015ad");
  EXPECT_EQ(
      Sha256::hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      Sha256::hash("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijkl"
                   "mnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopq"
                   "rstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(Sha256::hash(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // NIST SHA256ShortMsg, 8 and 512 bits.
  EXPECT_EQ(Sha256::hash("\xd3"),
            "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5"
            "c2328ebc6f2ba9802c1");
}

TEST_P(Sha256Test, PiecesMakeTheWhole) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += char(i * 7);
  std::string whole = Sha256::hash(text);
  for (size_t piece : {1, 3, 55, 56, 63, 64, 65, 128, 299}) {
    Sha256 sha;
    for (size_t at = 0; at < text.size(); at += piece)
      sha.update(std::string_view(text).substr(at, piece));
    EXPECT_EQ(sha.finish(), whole) << piece;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Sha256Test, testing::Bool());

std::span<const uint8_t> bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

TEST(MsgPackTest, ReadsEveryKind) {
  // {"a": [1, -2, 300, true, nil, "xy"], "b": {}}
  std::string text("\x82\xa1"
                   "a\x96\x01\xfe\xcd\x01\x2c\xc3\xc0\xa2xy\xa1"
                   "b\x80",
                   17);
  auto value = MsgPack::parse(bytesOf(text));
  ASSERT_TRUE(value);
  const MsgPack *list = value->find("a");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->elements.size(), 6u);
  EXPECT_EQ(list->elements[0].number, 1u);
  EXPECT_EQ(int64_t(list->elements[1].number), -2);
  EXPECT_EQ(list->elements[2].number, 300u);
  EXPECT_EQ(list->elements[3].kind, MsgPack::Kind::Boolean);
  EXPECT_EQ(list->elements[4].kind, MsgPack::Kind::Nil);
  EXPECT_EQ(list->elements[5].text, "xy");
  EXPECT_TRUE(value->find("b"));
  EXPECT_FALSE(value->find("c"));
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(MsgPack::parse(bytesOf(text.substr(0, length)))) << length;
}

TEST(MsgPackTest, RefusesWhatItCannotBound) {
  // A map of 2^32-1 entries; nesting without end; an unknown type.
  EXPECT_FALSE(MsgPack::parse(bytesOf(std::string("\xdf\xff\xff\xff\xff", 5))));
  EXPECT_FALSE(MsgPack::parse(bytesOf(std::string(100000, '\x91'))));
  EXPECT_FALSE(MsgPack::parse(bytesOf("\xc1")));
}

TEST(CodeObjectTest, ReadsTheTestKernel) {
  CodeObjectFacts facts;
  Status status = readCodeObject(tinyCode(), "tiny", facts);
  ASSERT_FALSE(status.failed()) << status.getMessage();
  EXPECT_EQ(facts.architecture, "gfx950");
  EXPECT_EQ(facts.version, 5u);
  ASSERT_EQ(facts.kernels.size(), 1u);
  const KernelFacts &kernel = facts.kernels.front();
  EXPECT_EQ(kernel.name, "netra_test_multiply_add");
  EXPECT_EQ(kernel.kernargBytes, 40u);
  EXPECT_EQ(kernel.waveSize, 64u);
  EXPECT_EQ(kernel.maxWorkgroup, 64u);
  EXPECT_EQ(kernel.vgprs, 8u);
  ASSERT_EQ(kernel.arguments.size(), 5u);
  EXPECT_EQ(kernel.arguments[4].offset, 32u);
  EXPECT_EQ(kernel.arguments[4].size, 4u);
  EXPECT_EQ(kernel.arguments[4].valueKind, "by_value");
}

TEST(CodeObjectTest, EveryTruncationIsAnErrorOrComplete) {
  const std::vector<uint8_t> &code = tinyCode();
  for (size_t length = 0; length < code.size(); ++length) {
    // A copy, so that a sanitizer sees a read beyond the end.
    std::vector<uint8_t> cut(code.begin(), code.begin() + ptrdiff_t(length));
    CodeObjectFacts facts;
    Status status = readCodeObject(cut, "cut", facts);
    EXPECT_TRUE(status.failed()) << length;
    EXPECT_EQ(status.getCode(), NETRA_MANIFEST);
  }
}

/// Sections must be what a loader sees; TargetTests has each way to differ.
TEST(CodeObjectTest, WhatIsLoadedIsWhatIsHashed) {
  auto refusal = [](auto change) {
    std::vector<uint8_t> code = tinyCode();
    change(code);
    CodeObjectFacts facts;
    return readCodeObject(code, "changed", facts).getMessage();
  };
  EXPECT_NE(refusal([](auto &code) {
              code[57] = 88;
            }).find("program headers inside the file's"),
            std::string::npos);
  EXPECT_NE(refusal([](auto &code) {
              code[48] = 0x4c;
            }).find("found those of gfx942"),
            std::string::npos);
  // The executable segment begins with other code, behind everything else.
  EXPECT_NE(refusal([](auto &code) {
              uint64_t table, offset, size;
              std::memcpy(&table, &code[32], 8);
              uint8_t *entry = &code[table];
              while (entry[0] != 1 || !(entry[4] & 1))
                entry += 56;
              std::memcpy(&offset, entry + 8, 8);
              std::memcpy(&size, entry + 32, 8);
              uint64_t moved =
                  (code.size() + 4095) / 4096 * 4096 + offset % 4096;
              std::memcpy(entry + 8, &moved, 8);
              code.resize(moved + size);
            }).find("section .text: expected it at offset"),
            std::string::npos);
}

TEST(CodeObjectTest, AnyChangedBytesAreRead) {
  std::mt19937 generator(1);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> code = tinyCode();
    for (unsigned n = 1 + generator() % 4; n; --n)
      code[generator() % code.size()] = uint8_t(generator());
    CodeObjectFacts facts;
    Status status = readCodeObject(code, "changed", facts);
    if (status.failed()) {
      EXPECT_FALSE(status.getMessage().empty());
    }
  }
}

} // namespace
